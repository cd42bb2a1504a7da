//! One pass over the regions: keep the queue full, wait where a rate or a pause asks for it.

use super::*;

impl<E: Engine, C: Clock, M: Media> Worker<'_, E, C, M> {
    pub(super) fn pass(&mut self) -> Result<PassEnd, Failure> {
        let plain = self.script.is_plain()
            && self.pacer.is_none()
            && self.log.is_none()
            && self.check.is_none()
            && !self.job.content.renews()
            && self.job.batch.low == 0;
        if plain {
            self.pass_of::<true>()
        } else {
            self.pass_of::<false>()
        }
    }

    /// The pass; `PLAIN` leaves out all that a job of one kind of I/O as fast as can be never asks.
    fn pass_of<const PLAIN: bool>(&mut self) -> Result<PassEnd, Failure> {
        let batch = self.job.batch;
        let chunk = match batch.submit {
            0 => self.engine.chunk(),
            submit => submit as usize,
        };
        let mut end = None;
        loop {
            let mut more = false;
            while end.is_none() && !self.free.is_empty() {
                if self.over() {
                    end = Some(PassEnd::OutOfTime);
                    break;
                }
                if PLAIN && self.script.has_room() {
                    let (offset, bytes) = self.script.next_plain();
                    self.prepare::<PLAIN>(0, self.job.pattern.writes, false, offset, bytes);
                } else {
                    end = self.step()?;
                }
                // The last chunk goes with the call that waits.
                if self.ops.len() >= chunk && !self.free.is_empty() {
                    more = true;
                    break;
                }
            }
            if self.ops.is_empty() && self.under_way == 0 {
                return Ok(end.unwrap_or(PassEnd::Complete));
            }
            let full = self.free.is_empty();
            let wait = match more {
                true => 0,
                false => batch.complete.clamp(1, self.under_way),
            };
            self.hand_over::<PLAIN>(wait)?;
            if !PLAIN && full && batch.low > 0 {
                while self.under_way > batch.low {
                    self.hand_over::<PLAIN>(batch.complete.clamp(1, self.under_way))?;
                }
            }
        }
    }

    /// One step of any job; says whether the pass ends with it.
    fn step(&mut self) -> Result<Option<PassEnd>, Failure> {
        match self.script.next() {
            Step::Io {
                file,
                write,
                check,
                offset,
                bytes,
            } => {
                if check != self.checking {
                    // A block is read back when it is written, and written over when it is
                    // read back.
                    self.quiesce()?;
                    self.checking = check;
                }
                if self.pacer.is_some() && !check {
                    self.await_turn(write, bytes)?;
                    // What would be due after the end does not go.
                    if self.over() {
                        return Ok(Some(PassEnd::OutOfTime));
                    }
                }
                self.prepare::<false>(file, write, check, offset, bytes);
            }
            Step::Turn { write } => {
                let write = self.take_turn(write)?;
                if self.over() {
                    return Ok(Some(PassEnd::OutOfTime));
                }
                self.script.go(write);
            }
            Step::Sync {
                file,
                kind: kind @ (SyncKind::Full | SyncKind::Data),
            } if self.job.syncs.queued => self.prepare_sync(file, kind),
            Step::Sync { file, kind } => self.sync(file, kind)?,
            Step::Exhausted if self.job.endless() => {
                self.script.wrap();
                self.outcome.wraps += 1;
                if self.job.invalidate {
                    self.hand_over::<false>(0)?;
                    self.invalidate()?;
                }
                self.now = self.clock.now();
            }
            Step::Written { last } => return Ok(Some(PassEnd::Written { last })),
            Step::Exhausted => return Ok(Some(PassEnd::Exhausted)),
            Step::Complete => return Ok(Some(PassEnd::Complete)),
        }
        Ok(None)
    }

    /// Hands over what is on the list and waits until nothing is under way.
    fn quiesce(&mut self) -> Result<(), Failure> {
        self.hand_over::<false>(0)?;
        while self.under_way > 0 {
            self.hand_over::<false>(1)?;
        }
        Ok(())
    }

    /// Waits until the job's rate permits the next I/O.
    #[cold]
    fn await_turn(&mut self, write: bool, bytes: u32) -> Result<(), Failure> {
        let due = match &mut self.pacer {
            Some(pacer) => pacer.due(self.rate_start, write, bytes),
            None => return Ok(()),
        };
        self.await_due(due)
    }

    /// Waits until the rate of a direction permits an I/O; says which direction that is where
    /// `write` was drawn.
    #[cold]
    fn take_turn(&mut self, write: bool) -> Result<bool, Failure> {
        let (write, due) = match &self.pacer {
            Some(pacer) => pacer.choose(self.rate_start, write, self.clock.now()),
            None => return Ok(write),
        };
        self.await_due(due)?;
        Ok(write)
    }

    fn await_due(&mut self, due: Stamp) -> Result<(), Failure> {
        if due > self.clock.now() {
            self.quiesce()?;
            self.sleep_until(due);
        }
        Ok(())
    }

    /// Sleeps until then, or until the job is over.
    fn sleep_until(&mut self, due: Stamp) {
        /// How long a stop may go unnoticed, ns.
        const SLICE: u64 = 50_000_000;
        loop {
            self.now = self.clock.now();
            let left = due.min(self.deadline).saturating_sub(self.now);
            if left == 0 || self.control.stopped().is_some() {
                return;
            }
            self.clock.sleep(left.min(SLICE));
        }
    }

    /// The pause after so many I/Os, if it is due.
    #[cold]
    pub(super) fn think(&mut self) -> Result<(), Failure> {
        let Some(pause) = self.pacer.as_mut().and_then(|pacer| pacer.pause()) else {
            return Ok(());
        };
        self.quiesce()?;
        let begun = self.clock.now();
        while self.clock.now() < (begun + pause.spin_ns).min(self.deadline) {
            std::hint::spin_loop();
        }
        self.sleep_until(begun + pause.ns);
        Ok(())
    }

    /// Chooses a slot for an I/O and puts it on the list.
    #[inline(always)]
    fn prepare<const PLAIN: bool>(
        &mut self,
        file: u32,
        write: bool,
        check: bool,
        offset: u64,
        bytes: u32,
    ) {
        let slot = self.free.pop().expect("a slot is free");
        if !PLAIN && write && self.check.is_none() && self.job.content.renews() {
            let buffer = &mut self.engine.buffer(slot)[..bytes as usize];
            self.job.content.renew(buffer, &mut self.source);
        }
        let start = self.stamp();
        self.now = start;
        if write && self.stamps_issue {
            self.mark(slot, offset, bytes);
        }
        if !PLAIN && let Some(pacer) = &mut self.pacer {
            pacer.goes(slot);
        }
        let (kind, action) = match (write, check) {
            (true, _) => (SlotKind::Write, Action::Write),
            (false, false) => (SlotKind::Read, Action::Read),
            (false, true) => (SlotKind::Check, Action::Read),
        };
        self.slots[slot as usize] = Slot {
            start,
            issue: start,
            offset,
            bytes,
            left: bytes,
            file,
            kind,
        };
        self.put(Op {
            slot,
            action,
            file,
            offset,
            bytes,
        });
    }

    /// Makes a block unlike any other, or one that can be checked.
    #[inline]
    fn mark(&mut self, slot: u32, offset: u64, bytes: u32) {
        let buffer = &mut self.engine.buffer(slot)[..bytes as usize];
        match &self.check {
            Some(check) => {
                let writer = verify::Writer {
                    thread: (self.job.clone + 1) as u16,
                    number: self.sealed as u16,
                    stamp: self.now,
                };
                self.sealed += 1;
                if !matches!(check, Check::Pattern(_)) {
                    self.job.content.renew(buffer, &mut self.source);
                }
                verify::seal(check, buffer, offset, writer);
            }
            None => content::scramble(buffer, offset, self.now),
        }
    }

    fn prepare_sync(&mut self, file: u32, kind: SyncKind) {
        let slot = self.free.pop().expect("a slot is free");
        let start = self.clock.now();
        self.now = start;
        let action = match kind {
            SyncKind::Data => Action::Fdatasync,
            _ => Action::Fsync,
        };
        let kind = SlotKind::Sync;
        self.slots[slot as usize] = Slot {
            start,
            issue: start,
            file,
            kind,
            ..Slot::default()
        };
        self.put(Op {
            slot,
            action,
            file,
            offset: 0,
            bytes: 0,
        });
    }

    #[inline(always)]
    fn put(&mut self, op: Op) {
        self.ops.push(op);
        self.under_way += 1;
        self.outcome.depths[(self.under_way.ilog2() as usize).min(DEPTH_LEVELS - 1)] += 1;
    }

    /// A blocking sync: what was chosen before it is handed over first, the queue is not
    /// drained.
    fn sync(&mut self, file: u32, kind: SyncKind) -> Result<(), Failure> {
        self.hand_over::<false>(0)?;
        let before = self.clock.now();
        let synced = self.media.sync(file, kind);
        self.now = self.clock.now();
        synced.map_err(|error| Failure::of(&error, "a periodic sync failed"))?;
        self.count_sync(self.now.saturating_sub(before));
        Ok(())
    }

    pub(super) fn count_sync(&mut self, ns: u64) {
        self.outcome.syncs.count += 1;
        self.outcome.syncs.lat.add(ns);
        self.outcome.syncs.histogram.add(ns);
    }

    /// Hands over what is on the list, waits for `wait` completions, and counts them.
    #[inline(always)]
    pub(super) fn hand_over<const PLAIN: bool>(&mut self, wait: u32) -> Result<(), Failure> {
        if self.ops.is_empty() && wait == 0 {
            return Ok(());
        }
        // Choosing a read takes no time worth a stamp: the last start is the issue.
        if self.stamps_issue {
            self.now = self.clock.now();
        }
        for op in &self.ops {
            self.slots[op.slot as usize].issue = self.now;
        }
        let turned = self.engine.turn(&self.ops, wait, &mut self.done);
        self.now = self.clock.now();
        turned.map_err(|error| Failure::of(&error, "the engine failed"))?;
        self.outcome.submits[batch_level(self.ops.len())] += 1;
        self.ops.clear();
        if !self.done.is_empty() {
            self.outcome.completes[batch_level(self.done.len())] += 1;
            self.count_done::<PLAIN>()?;
        }
        Ok(())
    }
}
