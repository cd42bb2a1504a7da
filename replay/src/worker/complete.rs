//! Completions: what came back is counted, compared, or sent out again.

use super::*;

impl<E: Engine, C: Clock, M: Media> Worker<'_, E, C, M> {
    pub(super) fn count_done(&mut self) -> Result<(), Failure> {
        for index in 0..self.done.len() {
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
            let write = match data.kind {
                SlotKind::Read => 0,
                SlotKind::Write => 1,
                SlotKind::Sync => {
                    self.under_way -= 1;
                    self.free.push(slot);
                    self.count_sync(self.now.saturating_sub(data.start));
                    continue;
                }
            };
            let moved = data.moved + result as u32;
            if moved < data.bytes {
                self.again(slot, moved, index)?;
                continue;
            }
            self.under_way -= 1;
            if data.check {
                self.compare(slot, index)?;
            }
            self.free.push(slot);
            if let Some(pacer) = &mut self.pacer {
                pacer.completed();
            }
            self.sample.bytes[write] += u64::from(data.bytes);
            self.sample.ios[write] += 1;
            self.outcome.issued[0] += 1;
            self.outcome.issued[1] += u64::from(data.bytes);
            self.outcome.issued[2] += u64::from(data.bytes) * write as u64;
            let flow = &mut self.outcome.flows[write];
            flow.ios += 1;
            flow.bytes += u64::from(data.bytes);
            let clat = self.now.saturating_sub(data.issue);
            flow.clat.add(clat);
            flow.clat_histogram.add(clat);
            let lat = self.now.saturating_sub(data.start);
            flow.lat.add(lat);
            self.sample.latency_ns[1][write] += clat;
            self.sample.latency_ns[2][write] += lat;
            if !E::SYNCHRONOUS {
                let slat = data.issue.saturating_sub(data.start);
                flow.slat.add(slat);
                self.sample.latency_ns[0][write] += slat;
            }
        }
        self.done.clear();
        if self.now - self.sample_start >= SAMPLE_NS {
            self.end_sample();
        }
        if self.ramp_end.is_some_and(|end| self.now >= end) {
            self.end_ramp();
        }
        if self.pacer.as_ref().is_some_and(|pacer| pacer.pause_due()) {
            self.think()?;
        }
        Ok(())
    }

    /// Compares a block that was read back with what was written.
    fn compare(&mut self, slot: u32, index: usize) -> Result<(), Failure> {
        let data = self.slots[slot as usize];
        let Some(check) = &self.check else {
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
        // The rest would come from the buffer's front, and a check would find that.
        if moved == data.moved || self.check.is_some() {
            self.under_way -= 1;
            let what = if write {
                format!("a write at offset {} moved nothing", data.offset)
            } else {
                format!(
                    "the file ended at offset {}, before its planned size",
                    data.offset + u64::from(moved)
                )
            };
            self.forget_rest(index + 1);
            return Err(Failure {
                code: libc::EIO,
                what,
            });
        }
        data.moved = moved;
        let (action, file) = (if write { Action::Write } else { Action::Read }, data.file);
        let (offset, bytes) = (data.offset + u64::from(moved), data.bytes - moved);
        self.outcome.flows[usize::from(write)].short += 1;
        self.ops.push(Op {
            slot,
            action,
            file,
            offset,
            bytes,
        });
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
        SlotKind::Read => "a read",
        SlotKind::Write => "a write",
        SlotKind::Sync => "a sync",
    }
}
