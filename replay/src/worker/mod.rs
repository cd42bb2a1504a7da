//! One job's loop: keep the queue full, stamp each I/O, count.
//!
//! What the clock covers is what fio's covers: opening the file, dropping its cache,
//! the I/O, periodic syncs, wraps, closing and reopening between passes, and `end_fsync`.
//! The layout before and the last close after it are outside.
//!
//! Stamps of an I/O: *start* when it is chosen (a refill of its buffer is before, the
//! scramble after), *issue* when it is handed over, *done* when its completion is seen.
//! `slat` is issue - start, `clat` done - issue, `lat` done - start. The issue stamp is taken
//! right before the call that hands an I/O over, because the same call may wait for others:
//! so `clat` holds the time that the kernel takes to accept the I/O, which fio counts as
//! `slat`. `lat` is the same quantity in both. A synchronous engine has no `slat`.
//!
//! Inside the window nothing is allocated, locked or logged.

mod pace;
mod tally;

use std::fs::File;
use std::sync::Arc;

use crate::clock::{Clock, Stamp, Usage};
use crate::content::{self, Content};
use crate::control::{Control, Stop};
use crate::engine::{Action, Done, Engine, Op};
use crate::media::Media;
use crate::plan::job::{Check, JobPlan};
use crate::script::{Script, Step, SyncKind};
use crate::verify;
use pace::Pacer;
use tally::batch_level;
pub use tally::{DEPTH_LEVELS, Failure, Flow, JobOutcome, SAMPLE_NS, Sample, SyncFlow};

/// Why a pass ended.
enum PassEnd {
    Exhausted,
    Complete,
    OutOfTime,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    start: Stamp,
    issue: Stamp,
    offset: u64,
    bytes: u32,
    /// Number of the file.
    file: u32,
    /// Bytes of the operation that earlier, short transfers moved.
    moved: u32,
    kind: SlotKind,
    /// The read checks what was written.
    check: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum SlotKind {
    #[default]
    Read,
    Write,
    Sync,
}

/// Whose CPU time is the job's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charged {
    /// Its own thread's: it does all the work there.
    Thread,
    /// The whole process's: it is the only job.
    Process,
    /// Part of the work is done by threads that cannot be told from other jobs'.
    Unknown,
}

impl Charged {
    fn usage(self) -> Option<Usage> {
        match self {
            Charged::Thread => Some(Usage::of_this_thread()),
            Charged::Process => Some(Usage::of_this_process()),
            Charged::Unknown => None,
        }
    }
}

/// A job that is ready to run.
pub struct Worker<'a, E, C, M> {
    job: &'a JobPlan,
    engine: E,
    clock: &'a C,
    media: M,
    control: &'a Control,
    script: Script,
    source: content::Source,
    check: Option<Check>,
    /// The I/Os under way read back what was written.
    checking: bool,
    pacer: Option<Box<Pacer>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    ops: Vec<Op>,
    done: Vec<Done>,
    under_way: u32,
    now: Stamp,
    /// Start of the measured window.
    start: Stamp,
    /// When to stop issuing.
    deadline: Stamp,
    /// End of the ramp, until it is over.
    ramp_end: Option<Stamp>,
    sample_start: Stamp,
    sample: Sample,
    reported: [u64; 3],
    charged: Charged,
    usage: Option<Usage>,
    outcome: JobOutcome,
}

impl<'a, E: Engine, C: Clock, M: Media> Worker<'a, E, C, M> {
    /// Prepares a job: buffers get their content, everything is allocated. `engine` must
    /// have a slot for each of `job.depth`.
    pub fn new(
        job: &'a JobPlan,
        mut engine: E,
        clock: &'a C,
        media: M,
        control: &'a Control,
    ) -> Self {
        let depth = job.depth as usize;
        let mut source = content::Source::new(job.seed ^ 0xC0FF_EE00_0000_0000);
        if job.pattern.writes {
            for slot in 0..job.depth {
                job.content.prepare(engine.buffer(slot), &mut source);
            }
        }
        Worker {
            script: Script::new(job),
            source,
            check: job.verify.as_ref().map(|verify| verify.check.clone()),
            checking: false,
            pacer: Pacer::new(job).map(Box::new),
            slots: vec![Slot::default(); depth],
            // The last is taken first; slot 0 first looks natural in traces.
            free: (0..job.depth).rev().collect(),
            ops: Vec::with_capacity(depth),
            done: Vec::with_capacity(2 * depth),
            under_way: 0,
            now: 0,
            start: 0,
            deadline: Stamp::MAX,
            ramp_end: None,
            sample_start: 0,
            sample: Sample::default(),
            reported: [0; 3],
            charged: Charged::Thread,
            usage: None,
            outcome: JobOutcome {
                samples: Vec::with_capacity(4096),
                ..JobOutcome::default()
            },
            job,
            engine,
            clock,
            media,
            control,
        }
    }

    /// Says whose CPU time is the job's; its own thread's unless told.
    pub fn charging(self, charged: Charged) -> Self {
        Worker { charged, ..self }
    }

    /// Runs the job to its end.
    pub fn run(mut self) -> JobOutcome {
        self.usage = self.charged.usage();
        self.now = self.clock.now();
        self.begin_window();
        if self.job.ramp_ns > 0 {
            self.ramp_end = Some(self.start + self.job.ramp_ns);
            self.deadline = self.deadline.saturating_add(self.job.ramp_ns);
        }
        if let Err(failure) = self.passes() {
            self.outcome.failure = Some(failure);
            self.control.stop(Stop::Failed);
            self.drain();
        } else if self.job.exit_all {
            self.control.stop(Stop::Finished);
        }
        self.outcome.window_ns = self.clock.now().saturating_sub(self.start);
        if self.outcome.io_phase_ns == 0 {
            self.outcome.io_phase_ns = self.outcome.window_ns;
        }
        self.outcome.usage = self
            .usage
            .zip(self.charged.usage())
            .map(|(before, after)| after.since(before));
        self.report_progress();
        self.outcome.setup = self.engine.setup();
        // Outside the window: the last close. A failed detach leaves nothing to save.
        let _ = self.engine.detach();
        self.media.close();
        self.outcome
    }

    fn begin_window(&mut self) {
        self.start = self.now;
        self.sample_start = self.now;
        self.deadline = match self.job.runtime_ns {
            Some(runtime) => self.start.saturating_add(runtime),
            None => Stamp::MAX,
        };
    }

    fn passes(&mut self) -> Result<(), Failure> {
        self.open()?;
        loop {
            self.outcome.passes += 1;
            let end = self.pass()?;
            let more = matches!(end, PassEnd::Exhausted) && self.script.next_pass();
            if !more {
                break;
            }
            if self.job.syncs.on_close && self.job.pattern.writes {
                self.final_sync()?;
            }
            self.close()?;
            if self.job.syncs.end_fsync && self.job.pattern.writes {
                self.open()?;
                self.final_sync()?;
                self.close()?;
            }
            self.open()?;
        }
        self.now = self.clock.now();
        self.outcome.io_phase_ns = self.now.saturating_sub(self.start);
        let syncs = self.job.syncs;
        if (syncs.end_fsync || syncs.on_close) && self.job.pattern.writes {
            self.final_sync()?;
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), Failure> {
        let files: Vec<Arc<File>> = self
            .media
            .open()
            .map_err(|error| Failure::of(&error, "cannot open the test file"))?;
        if self.job.invalidate {
            self.invalidate()?;
        }
        if let Some(random) = self.job.hint {
            let hinted = self.media.hint(random);
            hinted.map_err(|error| {
                Failure::of(&error, "cannot tell the kernel the order of offsets")
            })?;
        }
        let attached = self.engine.attach(&files);
        attached.map_err(|error| Failure::of(&error, "the engine cannot use the test file"))
    }

    fn close(&mut self) -> Result<(), Failure> {
        let detached = self.engine.detach();
        self.media.close();
        detached.map_err(|error| Failure::of(&error, "the engine cannot let go of the test file"))
    }

    fn invalidate(&mut self) -> Result<(), Failure> {
        let dropped = self.media.invalidate();
        dropped.map_err(|error| Failure::of(&error, "cannot drop the test file from the cache"))
    }

    fn final_sync(&mut self) -> Result<(), Failure> {
        for file in 0..self.job.files.len() as u32 {
            let before = self.clock.now();
            let synced = self.media.sync(file, SyncKind::Full);
            self.now = self.clock.now();
            self.outcome.final_sync_ns += self.now.saturating_sub(before);
            self.outcome.final_syncs += 1;
            synced.map_err(|error| Failure::of(&error, "the final fsync failed"))?;
        }
        Ok(())
    }

    /// Whether to issue no more, with the time of the last stamp.
    #[inline(always)]
    fn over(&mut self) -> bool {
        if self.now >= self.deadline {
            return true;
        }
        if let Some(stop) = self.control.stopped() {
            self.outcome.stopped = Some(stop);
            return true;
        }
        false
    }

    fn pass(&mut self) -> Result<PassEnd, Failure> {
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
    fn think(&mut self) -> Result<(), Failure> {
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
        let start = self.clock.now();
        self.now = start;
        if write && let Some(check) = &self.check {
            let number = self.outcome.issued[0];
            let buffer = &mut self.engine.buffer(slot)[..bytes as usize];
            verify::seal(check, buffer, offset, number);
        } else if write && self.job.content == Content::Scrambled {
            content::scramble(
                &mut self.engine.buffer(slot)[..bytes as usize],
                offset,
                start,
            );
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

    fn count_sync(&mut self, ns: u64) {
        self.outcome.syncs.count += 1;
        self.outcome.syncs.lat.add(ns);
        self.outcome.syncs.histogram.add(ns);
    }

    /// Hands over what is on the list, waits for `wait` completions, and counts them.
    #[inline(always)]
    fn hand_over(&mut self, wait: u32) -> Result<(), Failure> {
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

    fn count_done(&mut self) -> Result<(), Failure> {
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
    fn forget_rest(&mut self, from: usize) {
        self.under_way -= (self.done.len() - from) as u32;
        self.done.clear();
    }

    /// Waits for everything under way, after a failure, without counting it.
    fn drain(&mut self) {
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

    #[cold]
    fn end_sample(&mut self) {
        self.sample.end_ns = self.now.saturating_sub(self.start);
        if self.outcome.samples.len() < self.outcome.samples.capacity() {
            self.outcome.samples.push(self.sample);
        }
        self.sample = Sample::default();
        self.sample_start = self.now;
        self.report_progress();
    }

    fn report_progress(&mut self) {
        let issued = self.outcome.issued;
        let new = [0, 1, 2].map(|kind| issued[kind] - self.reported[kind]);
        self.control.progress(new);
        self.reported = issued;
    }

    /// The ramp is over: what was counted so far is forgotten, the window starts now.
    #[cold]
    fn end_ramp(&mut self) {
        self.ramp_end = None;
        self.outcome = JobOutcome {
            samples: std::mem::take(&mut self.outcome.samples),
            issued: self.outcome.issued,
            passes: self.outcome.passes,
            wraps: self.outcome.wraps,
            checked: self.outcome.checked,
            ..JobOutcome::default()
        };
        self.outcome.samples.clear();
        self.sample = Sample::default();
        self.usage = self.charged.usage();
        self.begin_window();
        if let Some(pacer) = &mut self.pacer {
            pacer.begin();
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

#[cfg(test)]
mod tests;
