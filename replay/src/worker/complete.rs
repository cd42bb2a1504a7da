//! Completions: what came back is counted, compared, or sent out again.

use super::*;
use crate::plan::job::EngineKind;

impl<E: Engine, C: Clock, M: Media> Worker<'_, E, C, M> {
    /// Counts what is complete.
    #[inline(always)]
    pub(super) fn count_done<const PLAIN: bool>(&mut self) -> Result<(), Failure> {
        if let [Done { slot, result }] = self.done[..]
            && self.slots[slot as usize].is_whole(result)
        {
            let data = &self.slots[slot as usize];
            self.outcome.flows[data.kind.way()].count_one(data, self.now, !E::SYNCHRONOUS);
            self.free.push(slot);
            self.under_way -= 1;
            if !PLAIN && let Some(pacer) = &mut self.pacer {
                pacer.came(slot, data.kind == SlotKind::Write, self.now);
            }
            if !PLAIN && let Some(log) = &mut self.log {
                log.take(data, self.start, self.now);
            }
        } else {
            self.count_several::<PLAIN>()?;
        }
        self.done.clear();
        if self.now >= self.look_at {
            self.look();
        }
        if !PLAIN && self.pacer.as_ref().is_some_and(|pacer| pacer.pause_due()) {
            self.think()?;
        }
        Ok(())
    }

    /// A window of the series, or the ramp, is over.
    #[cold]
    fn look(&mut self) {
        if self.now >= self.sample_end {
            self.end_sample();
        }
        if self.ramp_end.is_some_and(|end| self.now >= end) {
            self.end_ramp();
        }
    }

    #[inline(always)]
    fn count_several<const PLAIN: bool>(&mut self) -> Result<(), Failure> {
        let mut run = match self.done.first() {
            Some(first) => Run::of(&self.slots[first.slot as usize]),
            None => return Ok(()),
        };
        for index in 0..self.done.len() {
            let Done { slot, result } = self.done[index];
            // By reference: a copy of what was just stored in parts would wait for the stores.
            let data = &self.slots[slot as usize];
            if !data.is_whole(result) {
                self.count_run(&run);
                self.unusual(index)?;
                run = Run::of(&self.slots[slot as usize]);
                continue;
            }
            if !run.fits(data) {
                let next = Run::of(data);
                self.count_run(&run);
                run = next;
            }
            run.add(&self.slots[slot as usize]);
            self.free.push(slot);
            if !PLAIN && let Some(pacer) = &mut self.pacer {
                pacer.came(slot, run.kind == SlotKind::Write, self.now);
            }
            if !PLAIN && let Some(log) = &mut self.log {
                log.take(&self.slots[slot as usize], self.start, self.now);
            }
        }
        self.count_run(&run);
        Ok(())
    }

    #[inline(always)]
    fn count_run(&mut self, run: &Run) {
        if run.ios() > 0 {
            self.under_way -= run.ios() as u32;
            // A run of syncs stays empty: they are not counted here.
            self.outcome.flows[run.kind.way()].count(run, self.now, !E::SYNCHRONOUS);
        }
    }

    /// A completion that is an error, a sync, a part of an I/O, or to be checked.
    #[cold]
    fn unusual(&mut self, index: usize) -> Result<(), Failure> {
        let Done { slot, result } = self.done[index];
        let data = self.slots[slot as usize];
        if result < 0 {
            self.under_way -= 1;
            self.forget_rest(index + 1);
            let (verb, offset) = (action_word(data.kind), data.offset);
            let what = match data.kind {
                SlotKind::Sync => "a periodic sync failed".to_owned(),
                _ => format!("{verb} of {} bytes at offset {offset} failed", data.bytes),
            };
            return Err(self.refused(-result, what));
        }
        if data.kind == SlotKind::Sync {
            self.under_way -= 1;
            self.free.push(slot);
            self.count_sync(self.now.saturating_sub(data.start));
            return Ok(());
        }
        if (result as u32) < data.left {
            return self.again(slot, result as u32, index);
        }
        self.under_way -= 1;
        if data.kind == SlotKind::Check {
            self.compare(slot, index)?;
        }
        self.free.push(slot);
        // Neither rates nor pauses are asked of the reads that check.
        if data.kind != SlotKind::Check
            && let Some(pacer) = &mut self.pacer
        {
            pacer.came(slot, data.kind == SlotKind::Write, self.now);
        }
        if let Some(log) = &mut self.log {
            log.take(&data, self.start, self.now);
        }
        self.outcome.flows[data.kind.way()].count_one(&data, self.now, !E::SYNCHRONOUS);
        Ok(())
    }

    /// Compares a block that was read back with what was written.
    fn compare(&mut self, slot: u32, index: usize) -> Result<(), Failure> {
        let data = self.slots[slot as usize];
        let kept = |check: &&Check| **check != Check::Null && self.job.engine != EngineKind::Null;
        let Some(check) = self.check.as_ref().filter(kept) else {
            return Ok(());
        };
        let buffer = &self.engine.buffer(slot)[..data.bytes as usize];
        if let Err(what) = verify::check(check, buffer, data.offset) {
            self.forget_rest(index + 1);
            // What fio reports for it.
            return Err(Failure {
                code: libc::EILSEQ,
                what: format!("verify: {what}"),
            });
        }
        self.outcome.checked += 1;
        Ok(())
    }

    /// A failure of an operation; EINVAL under O_DIRECT has one usual cause.
    #[cold]
    fn refused(&self, code: i32, mut what: String) -> Failure {
        if code == libc::EINVAL && self.job.direct {
            what += ": the storage refuses O_DIRECT with this block and offset, it may need a larger alignment";
        }
        Failure { code, what }
    }

    /// The rest of a short transfer goes out again, in the same slot and under the same
    /// stamps. Its content is that of the block's front, which no figure depends on.
    #[cold]
    fn again(&mut self, slot: u32, moved: u32, index: usize) -> Result<(), Failure> {
        let data = &mut self.slots[slot as usize];
        let write = data.kind == SlotKind::Write;
        data.left -= moved;
        let offset = data.offset + u64::from(data.bytes - data.left);
        // The rest would come from the buffer's front, and a check would find that.
        if moved == 0 || self.check.is_some() {
            self.under_way -= 1;
            let what = if write {
                format!("a write at offset {} moved nothing", data.offset)
            } else {
                format!("the file ended at offset {offset}, before its planned size")
            };
            self.forget_rest(index + 1);
            return Err(Failure {
                code: libc::EIO,
                what,
            });
        }
        let action = if write { Action::Write } else { Action::Read };
        let op = Op {
            slot,
            action,
            file: data.file,
            offset,
            bytes: data.left,
        };
        self.outcome.flows[usize::from(write)].short += 1;
        self.ops.push(op);
        Ok(())
    }

    /// After a failure: the completions that were collected with it count as seen.
    pub(super) fn forget_rest(&mut self, from: usize) {
        self.under_way -= (self.done.len() - from) as u32;
        self.done.clear();
    }

    /// Waits for everything under way, after a failure, without counting it.
    pub(super) fn drain(&mut self) {
        self.under_way -= self.ops.len() as u32;
        self.ops.clear();
        while self.under_way > 0 {
            self.done.clear();
            if self.engine.turn(&[], 1, &mut self.done).is_err() || self.done.is_empty() {
                return;
            }
            self.under_way -= (self.done.len() as u32).min(self.under_way);
        }
    }
}

fn action_word(kind: SlotKind) -> &'static str {
    match kind {
        SlotKind::Read | SlotKind::Check => "a read",
        SlotKind::Write => "a write",
        SlotKind::Sync => "a sync",
    }
}
