//! One pass over the regions: keep the queue full, wait where a rate or a pause asks for it.

use super::*;

impl<E: Engine, C: Clock, M: Media> Worker<'_, E, C, M> {
    pub(super) fn pass(&mut self) -> Result<PassEnd, Failure> {
        let batch = self.job.batch;
        let chunk = match batch.submit {
            0 => self.engine.chunk(),
            submit => submit as usize,
        };
        let mut end = None;
        loop {
            while end.is_none() && !self.free.is_empty() {
                if self.over() {
                    end = Some(PassEnd::OutOfTime);
                    break;
                }
                match self.script.next() {
                    Step::Io {
                        file,
                        write,
                        check,
                        offset,
                        bytes,
                    } => {
                        if check != self.checking {
                            // A block is read back when it is written, and written over when
                            // it is read back.
                            self.quiesce()?;
                            self.checking = check;
                        }
                        if self.pacer.is_some() && !check {
                            self.await_turn(write, bytes)?;
                        }
                        self.prepare(file, write, check, offset, bytes);
                    }
                    Step::Turn { write } => {
                        let write = self.take_turn(write)?;
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
                            self.hand_over(0)?;
                            self.invalidate()?;
                        }
                        self.now = self.clock.now();
                    }
                    Step::Exhausted => end = Some(PassEnd::Exhausted),
                    Step::Complete => end = Some(PassEnd::Complete),
                }
                // The last chunk goes with the call that waits.
                if self.ops.len() >= chunk && !self.free.is_empty() {
                    self.hand_over(0)?;
                }
            }
            if self.ops.is_empty() && self.under_way == 0 {
                return Ok(end.unwrap_or(PassEnd::Complete));
            }
            let full = self.free.is_empty();
            self.hand_over(batch.complete.clamp(1, self.under_way))?;
            if full && batch.low > 0 {
                while self.under_way > batch.low {
                    self.hand_over(batch.complete.clamp(1, self.under_way))?;
                }
            }
        }
    }

    /// Hands over what is on the list and waits until nothing is under way.
    fn quiesce(&mut self) -> Result<(), Failure> {
        self.hand_over(0)?;
        while self.under_way > 0 {
            self.hand_over(1)?;
        }
        Ok(())
    }

    /// Waits until the job's rate permits the next I/O.
    #[cold]
    fn await_turn(&mut self, write: bool, bytes: u32) -> Result<(), Failure> {
        let due = match &mut self.pacer {
            Some(pacer) => pacer.due(self.start, write, bytes),
            None => return Ok(()),
        };
        self.await_due(due)
    }

    /// Waits until the rate of a direction permits an I/O; says which direction that is where
    /// `write` was drawn.
    #[cold]
    fn take_turn(&mut self, write: bool) -> Result<bool, Failure> {
        let (write, due) = match &self.pacer {
            Some(pacer) => pacer.choose(self.start, write, self.clock.now()),
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
    fn prepare(&mut self, file: u32, write: bool, check: bool, offset: u64, bytes: u32) {
        let slot = self.free.pop().expect("a slot is free");
        if write && self.job.content.renews() {
            let buffer = &mut self.engine.buffer(slot)[..bytes as usize];
            self.job.content.renew(buffer, &mut self.source);
        }
        let start = self.stamp();
        self.now = start;
        if write && let Some(check) = &self.check {
            let number = self.issued()[0];
            let buffer = &mut self.engine.buffer(slot)[..bytes as usize];
            verify::seal(check, buffer, offset, number);
        } else if write && self.job.content == Content::Scrambled {
            content::scramble(
                &mut self.engine.buffer(slot)[..bytes as usize],
                offset,
                start,
            );
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.goes(slot);
        }
        let kind = if write {
            SlotKind::Write
        } else {
            SlotKind::Read
        };
        self.slots[slot as usize] = Slot {
            start,
            issue: start,
            offset,
            bytes,
            file,
            moved: 0,
            kind,
            check,
        };
        let action = if write { Action::Write } else { Action::Read };
        self.put(Op {
            slot,
            action,
            file,
            offset,
            bytes,
        });
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
        self.hand_over(0)?;
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
    pub(super) fn hand_over(&mut self, wait: u32) -> Result<(), Failure> {
        if self.ops.is_empty() && wait == 0 {
            return Ok(());
        }
        // Scrambling or sealing took time since the last stamp; choosing a read did not.
        if self.job.pattern.writes
            && (self.job.content == Content::Scrambled || self.check.is_some())
        {
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
            self.count_done()?;
        }
        Ok(())
    }
}
