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

use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::clock::{Clock, Stamp, Usage};
use crate::content::{self, Content};
use crate::control::{Control, Stop};
use crate::engine::{Action, Done, Engine, Op};
use crate::hist::{Histogram, Stat};
use crate::media::Media;
use crate::offsets::Rng;
use crate::plan::job::JobPlan;
use crate::script::{Script, Step, SyncKind};

/// Length of the windows of the bandwidth and IOPS series, ns; fio's default.
pub const SAMPLE_NS: u64 = 500_000_000;

/// What one direction of a job did.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// I/Os issued in the measured window.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that moved less than asked; their rest was issued again.
    pub short: u64,
    /// Submission latency; empty for synchronous engines.
    pub slat: Stat,
    /// Completion latency.
    pub clat: Stat,
    /// Total latency.
    pub lat: Stat,
    /// Distribution of the completion latency.
    pub clat_histogram: Histogram,
}

impl Flow {
    /// Adds what another job did.
    pub fn merge(&mut self, other: &Flow) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.short += other.short;
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        self.clat_histogram.merge(&other.clat_histogram);
    }
}

/// What the periodic syncs did.
#[derive(Debug, Clone, Default)]
pub struct SyncFlow {
    /// How many there were: fsync and fdatasync.
    pub count: u64,
    /// Their latency.
    pub lat: Stat,
    /// Its distribution.
    pub histogram: Histogram,
}

/// One window of the series: when it ended, since the start, and what was completed in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// End of the window, ns since the start of the measured window.
    pub end_ns: u64,
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Reads and writes.
    pub ios: [u64; 2],
}

/// A failed operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The error number.
    pub code: i32,
    /// What failed, in a sentence without the error's own words.
    pub what: String,
}

impl Failure {
    /// The failure behind an error.
    pub fn of(error: &io::Error, what: impl Into<String>) -> Self {
        // An error that is not the kernel's (a swapped file, a full ring) brings own words.
        match error.raw_os_error() {
            Some(code) => Failure {
                code,
                what: what.into(),
            },
            None => Failure {
                code: libc::EIO,
                what: format!("{}: {error}", what.into()),
            },
        }
    }

    /// The sentence with the error's words.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.what, io::Error::from_raw_os_error(self.code))
    }
}

/// How many levels fio's depth distributions have: 1, 2, 4, 8, 16, 32, 64 and more.
pub const DEPTH_LEVELS: usize = 7;

/// Everything a job measured, raw.
#[derive(Debug, Clone, Default)]
pub struct JobOutcome {
    /// Reads and writes.
    pub flows: [Flow; 2],
    /// Periodic syncs.
    pub syncs: SyncFlow,
    /// The measured window, ns.
    pub window_ns: u64,
    /// The part of it before the final sync, ns.
    pub io_phase_ns: u64,
    /// Time in final syncs (`end_fsync`, `fsync_on_close`) inside the window, ns.
    pub final_sync_ns: u64,
    /// Number of final syncs.
    pub final_syncs: u64,
    /// CPU time and faults inside the window, where they can be told from other jobs'.
    pub usage: Option<Usage>,
    /// In-flight I/Os when one was issued: 1, 2-3, 4-7, ... 64 and more.
    pub depths: [u64; DEPTH_LEVELS],
    /// I/Os per hand-over: none, 1-4, 5-8, 9-16, 17-32, 33-64, more.
    pub submits: [u64; DEPTH_LEVELS],
    /// Completions per collection, in the same classes.
    pub completes: [u64; DEPTH_LEVELS],
    /// Wraps of a `time_based` run.
    pub wraps: u64,
    /// Passes begun.
    pub passes: u64,
    /// The series.
    pub samples: Vec<Sample>,
    /// Everything ever issued, ramp included: I/Os and bytes.
    pub issued: [u64; 2],
    /// How the engine was set up.
    pub setup: Option<String>,
    /// Why it ended early, if it did.
    pub stopped: Option<Stop>,
    /// What went wrong, if something did.
    pub failure: Option<Failure>,
}

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
    /// Bytes of the operation that earlier, short transfers moved.
    moved: u32,
    kind: SlotKind,
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
    content_rng: Rng,
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
    reported: (u64, u64),
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
        let mut content_rng = Rng::new(job.seed ^ 0xC0FF_EE00_0000_0000);
        if job.pattern.writes {
            for slot in 0..job.depth {
                job.content.prepare(engine.buffer(slot), &mut content_rng);
            }
        }
        Worker {
            script: Script::new(job),
            content_rng,
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
            sample: Sample {
                end_ns: 0,
                bytes: [0; 2],
                ios: [0; 2],
            },
            reported: (0, 0),
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
        if self.job.hint {
            let hinted = self.media.hint(self.job.pattern.random);
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
        let before = self.clock.now();
        let synced = self.media.sync(SyncKind::Full);
        self.now = self.clock.now();
        self.outcome.final_sync_ns += self.now.saturating_sub(before);
        self.outcome.final_syncs += 1;
        synced.map_err(|error| Failure::of(&error, "the final fsync failed"))
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
        let chunk = self.engine.chunk();
        let mut end = None;
        loop {
            while end.is_none() && !self.free.is_empty() {
                if self.over() {
                    end = Some(PassEnd::OutOfTime);
                    break;
                }
                match self.script.next() {
                    Step::Io {
                        write,
                        offset,
                        bytes,
                    } => self.prepare(write, offset, bytes),
                    Step::Sync(kind) if self.job.syncs.queued => self.prepare_sync(kind),
                    Step::Sync(kind) => self.sync(kind)?,
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
            self.hand_over(1)?;
        }
    }

    /// Chooses a slot for an I/O and puts it on the list.
    #[inline(always)]
    fn prepare(&mut self, write: bool, offset: u64, bytes: u32) {
        let slot = self.free.pop().expect("a slot is free");
        if write && self.job.content == Content::Refilled {
            content::fill(
                &mut self.engine.buffer(slot)[..bytes as usize],
                &mut self.content_rng,
            );
        }
        let start = self.clock.now();
        self.now = start;
        if write && self.job.content == Content::Scrambled {
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
            moved: 0,
            kind,
        };
        let action = if write { Action::Write } else { Action::Read };
        self.put(Op {
            slot,
            action,
            file: 0,
            offset,
            bytes,
        });
    }

    fn prepare_sync(&mut self, kind: SyncKind) {
        let slot = self.free.pop().expect("a slot is free");
        let start = self.clock.now();
        self.now = start;
        let action = match kind {
            SyncKind::Full => Action::Fsync,
            SyncKind::Data => Action::Fdatasync,
        };
        let kind = SlotKind::Sync;
        self.slots[slot as usize] = Slot {
            start,
            issue: start,
            offset: 0,
            bytes: 0,
            moved: 0,
            kind,
        };
        self.put(Op {
            slot,
            action,
            file: 0,
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
    fn sync(&mut self, kind: SyncKind) -> Result<(), Failure> {
        self.hand_over(0)?;
        let before = self.clock.now();
        let synced = self.media.sync(kind);
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
        // Scrambling took time since the last stamp; choosing a read did not.
        if self.job.pattern.writes && self.job.content == Content::Scrambled {
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
            self.free.push(slot);
            self.sample.bytes[write] += u64::from(data.bytes);
            self.sample.ios[write] += 1;
            self.outcome.issued[0] += 1;
            self.outcome.issued[1] += u64::from(data.bytes);
            let flow = &mut self.outcome.flows[write];
            flow.ios += 1;
            flow.bytes += u64::from(data.bytes);
            let clat = self.now.saturating_sub(data.issue);
            flow.clat.add(clat);
            flow.clat_histogram.add(clat);
            flow.lat.add(self.now.saturating_sub(data.start));
            if !E::SYNCHRONOUS {
                flow.slat.add(data.issue.saturating_sub(data.start));
            }
        }
        self.done.clear();
        if self.now - self.sample_start >= SAMPLE_NS {
            self.end_sample();
        }
        if self.ramp_end.is_some_and(|end| self.now >= end) {
            self.end_ramp();
        }
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
        if moved == data.moved {
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
        let action = if write { Action::Write } else { Action::Read };
        let (offset, bytes) = (data.offset + u64::from(moved), data.bytes - moved);
        self.outcome.flows[usize::from(write)].short += 1;
        self.ops.push(Op {
            slot,
            action,
            file: 0,
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
        self.sample = Sample {
            end_ns: 0,
            bytes: [0; 2],
            ios: [0; 2],
        };
        self.sample_start = self.now;
        self.report_progress();
    }

    fn report_progress(&mut self) {
        let [ios, bytes] = self.outcome.issued;
        self.control
            .progress(bytes - self.reported.0, ios - self.reported.1);
        self.reported = (bytes, ios);
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
            ..JobOutcome::default()
        };
        self.outcome.samples.clear();
        self.sample = Sample {
            end_ns: 0,
            bytes: [0; 2],
            ios: [0; 2],
        };
        self.usage = self.charged.usage();
        self.begin_window();
    }
}

fn action_word(kind: SlotKind) -> &'static str {
    match kind {
        SlotKind::Read => "a read",
        SlotKind::Write => "a write",
        SlotKind::Sync => "a sync",
    }
}

/// fio's classes of batch sizes: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
#[inline(always)]
fn batch_level(count: usize) -> usize {
    match count {
        0 => 0,
        1..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
