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

mod complete;
mod log;
mod pace;
mod pass;
mod steady;
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
use log::Recorder;
pub use log::{Averaged, Logged, LoggedIo};
use pace::Pacer;
use steady::Settling;
pub use tally::{DEPTH_LEVELS, Failure, Flow, JobOutcome, Sample, SyncFlow};
use tally::{Run, batch_level};

/// Windows of a series at most: 5.7 days of them at fio's 500 ms.
const MOST_SAMPLES: usize = 1_000_000;

/// Why a pass ended.
enum PassEnd {
    /// The reads that check what was written follow.
    Written {
        last: bool,
    },
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
    /// Bytes that earlier, short transfers have not moved.
    left: u32,
    /// Number of the file.
    file: u32,
    kind: SlotKind,
}

impl Slot {
    /// Whether this result is all that was asked for and nothing but counting is left to do.
    #[inline(always)]
    fn is_whole(&self, result: i32) -> bool {
        self.left == result as u32 && matches!(self.kind, SlotKind::Read | SlotKind::Write)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SlotKind {
    #[default]
    Read,
    Write,
    /// A read that checks what was written.
    Check,
    Sync,
}

impl SlotKind {
    /// Number of the flow that counts it.
    #[inline(always)]
    fn way(self) -> usize {
        usize::from(self == SlotKind::Write)
    }
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
    /// Blocks that were made checkable.
    sealed: u64,
    /// Whose time it is: of reads, of writes.
    phase: [bool; 2],
    phase_start: Stamp,
    /// Where the line of the rate begins: the window's start, and what the checks took behind it.
    rate_start: Stamp,
    pacer: Option<Box<Pacer>>,
    settling: Option<Settling>,
    log: Option<Box<Recorder>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    ops: Vec<Op>,
    done: Vec<Done>,
    under_way: u32,
    /// The content of a write is made between its start and its issue, which takes time.
    stamps_issue: bool,
    now: Stamp,
    /// Start of the measured window.
    start: Stamp,
    /// When to stop issuing.
    deadline: Stamp,
    /// End of the ramp, until it is over.
    ramp_end: Option<Stamp>,
    /// Length of the windows of the series, ns.
    sample_ns: u64,
    sample_end: Stamp,
    /// When the sample or the ramp ends, whichever is first.
    look_at: Stamp,
    /// What had been counted when the last window of the series ended.
    sampled: Sample,
    /// I/Os, bytes and bytes written before the window: in the ramp.
    ramped: [u64; 3],
    reported: [u64; 3],
    charged: Charged,
    batch_stamps: bool,
    usage: Option<Usage>,
    usage_start: Stamp,
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
            sealed: 0,
            phase: writing_phase(job),
            phase_start: 0,
            rate_start: 0,
            pacer: Pacer::new(job).map(Box::new),
            settling: job.steady.map(Settling::new),
            log: None,
            slots: vec![Slot::default(); depth],
            // The last is taken first; slot 0 first looks natural in traces.
            free: (0..job.depth).rev().collect(),
            ops: Vec::with_capacity(depth),
            done: Vec::with_capacity(2 * depth),
            under_way: 0,
            stamps_issue: job.pattern.writes
                && (job.content == Content::Scrambled || job.verify.is_some()),
            now: 0,
            start: 0,
            deadline: Stamp::MAX,
            ramp_end: None,
            sample_ns: u64::from(job.logs.series_ms()) * 1_000_000,
            sample_end: 0,
            look_at: 0,
            sampled: Sample::default(),
            ramped: [0; 3],
            reported: [0; 3],
            charged: Charged::Thread,
            batch_stamps: false,
            usage: None,
            usage_start: 0,
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

    /// Says that I/Os that go together share their start stamp: the last one that was taken.
    pub fn stamping_batches(self, batch_stamps: bool) -> Self {
        Worker {
            batch_stamps,
            ..self
        }
    }

    /// Keeps fio's logs, up to so many lines of each.
    pub fn logging(self, most: usize) -> Self {
        let log = Recorder::new(self.job.logs.asked(), most, !E::SYNCHRONOUS);
        let sample_ns = u64::from(self.job.logs.asked().series_ms()) * 1_000_000;
        Worker {
            log: log.map(Box::new),
            sample_ns,
            ..self
        }
    }

    /// The start stamp of the next I/O.
    #[inline(always)]
    fn stamp(&self) -> Stamp {
        if self.batch_stamps {
            self.now
        } else {
            self.clock.now()
        }
    }

    /// Runs the job to its end.
    pub fn run(mut self) -> JobOutcome {
        self.begin_usage();
        self.now = self.clock.now();
        self.begin_window();
        if self.job.ramp_ns > 0 {
            self.ramp_end = Some(self.start + self.job.ramp_ns);
            self.deadline = self.deadline.saturating_add(self.job.ramp_ns);
            self.look_at = self.look_at.min(self.start + self.job.ramp_ns);
        }
        if let Err(failure) = self.passes() {
            self.outcome.failure = Some(failure);
            self.control.stop(Stop::Failed);
            self.drain();
        } else if self.job.exit_all {
            self.control.stop(Stop::Finished);
        }
        // Data that end within the ramp are all reported, as in fio; what a signal cut short there is
        // the warm-up, and no result.
        let cut_short = self.control.stopped().is_some_and(Stop::cuts_short);
        if cut_short && self.outcome.failure.is_none() && self.ramp_end.is_some() {
            self.end_ramp();
        }
        self.now = self.clock.now();
        self.outcome.window_ns = self.now.saturating_sub(self.start);
        self.end_phase([false; 2]);
        if self.outcome.io_phase_ns == 0 {
            self.outcome.io_phase_ns = self.outcome.windows_ns[1];
        }
        let used = self.usage.zip(self.charged.usage());
        self.outcome.cpu_ns = self.clock.now().saturating_sub(self.usage_start);
        self.outcome.usage = used.map(|(before, after)| {
            let used = after.since(before);
            match self.charged {
                Charged::Thread => used.within(self.outcome.cpu_ns),
                Charged::Process | Charged::Unknown => used,
            }
        });
        self.outcome.issued = self.issued();
        if let Some(settling) = &self.settling {
            self.outcome.steady_after_ns = settling.attained_ns();
            self.outcome.remarks.push(match settling.attained_ns() {
                Some(ns) => format!(
                    "{}: the rate was steady after {:.1} s",
                    self.job.name,
                    ns as f64 / 1e9
                ),
                None => format!(
                    "{}: the rate was not steady when the job ended",
                    self.job.name
                ),
            });
        }
        for flow in &mut self.outcome.flows {
            flow.settle(!E::SYNCHRONOUS);
        }
        self.outcome.corrected = self.pacer.take().and_then(|pacer| pacer.into_corrected());
        let window_ns = self.outcome.window_ns;
        let log = self.log.take();
        self.outcome.logged = log.map(|log| Box::new(log.finish(window_ns)));
        self.report_progress();
        self.outcome.setup = self.engine.setup();
        // Outside the window: the last close. A failed detach leaves nothing to save.
        let _ = self.engine.detach();
        self.media.close();
        self.outcome
    }

    /// CPU time counts from here on. Shares are of the time between the two looks, which take
    /// longer than a short window.
    fn begin_usage(&mut self) {
        self.usage_start = self.clock.now();
        self.usage = self.charged.usage();
    }

    fn begin_window(&mut self) {
        self.start = self.now;
        (self.phase_start, self.rate_start) = (self.now, self.now);
        self.begin_sample();
        self.deadline = match self.job.runtime_ns {
            Some(runtime) => self.start.saturating_add(runtime),
            None => Stamp::MAX,
        };
    }

    fn passes(&mut self) -> Result<(), Failure> {
        self.open()?;
        loop {
            self.outcome.passes += 1;
            let mut end = self.pass()?;
            let checked = match end {
                PassEnd::Written { last } => {
                    self.end_writes(last)?;
                    end = self.pass()?;
                    self.now = self.clock.now();
                    self.rate_start += self.now.saturating_sub(self.phase_start);
                    self.end_phase(writing_phase(self.job));
                    true
                }
                _ => false,
            };
            let more = matches!(end, PassEnd::Exhausted) && self.script.next_pass();
            match (more, checked) {
                (true, true) => {
                    self.outcome.io_phase_ns = 0;
                    self.close_written()?;
                }
                (true, false) => self.close_synced()?,
                (false, true) => return Ok(()),
                (false, false) => return self.sync_at_end(),
            }
            self.open()?;
        }
    }

    /// The pass is written and is read back from here on, by files that are opened anew, which
    /// drops their cache as any opening does. What is synced at the end is synced before.
    fn end_writes(&mut self, last: bool) -> Result<(), Failure> {
        self.end_io_phase();
        if last && self.syncs_at_end() {
            self.final_sync()?;
        } else if !last {
            self.close_synced()?;
        }
        self.now = self.clock.now();
        self.end_phase([true, false]);
        if last {
            self.close_written()?;
            // A sync at this close is in the time of neither, as in fio.
            self.phase_start = self.clock.now();
        }
        self.open()?;
        self.now = self.clock.now();
        Ok(())
    }

    /// Closes files between two passes.
    fn close_synced(&mut self) -> Result<(), Failure> {
        self.close_written()?;
        // fio reopens a file that is closed already to sync it once more, for either option.
        if self.syncs_at_end() {
            self.open()?;
            self.final_sync()?;
            self.close()?;
        }
        Ok(())
    }

    fn close_written(&mut self) -> Result<(), Failure> {
        if self.job.syncs.on_close && self.job.pattern.writes {
            self.final_sync()?;
        }
        self.close()
    }

    fn syncs_at_end(&self) -> bool {
        let syncs = self.job.syncs;
        (syncs.end_fsync || syncs.on_close) && self.job.pattern.writes
    }

    /// The sync behind the last write.
    fn sync_at_end(&mut self) -> Result<(), Failure> {
        self.end_io_phase();
        if self.syncs_at_end() {
            self.final_sync()?;
        }
        Ok(())
    }

    fn end_io_phase(&mut self) {
        self.now = self.clock.now();
        let phase = self.now.saturating_sub(self.phase_start);
        self.outcome.io_phase_ns = self.outcome.windows_ns[1] + phase;
    }

    /// Gives the time since the last change to the directions whose it was.
    fn end_phase(&mut self, next: [bool; 2]) {
        let phase = self.now.saturating_sub(self.phase_start);
        for (window, on) in self.outcome.windows_ns.iter_mut().zip(self.phase) {
            *window += if on { phase } else { 0 };
        }
        (self.phase, self.phase_start) = (next, self.now);
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

    #[cold]
    fn end_sample(&mut self) {
        let so_far = Sample::of(&self.outcome.flows, self.now.saturating_sub(self.start));
        if self.outcome.samples.len() < MOST_SAMPLES {
            self.outcome.samples.push(so_far.since(&self.sampled));
        }
        if let Some(settling) = &mut self.settling {
            let counted = [so_far.bytes, so_far.ios].map(|both| both[0] + both[1]);
            if settling.observe(so_far.end_ns, counted) {
                self.deadline = self.now;
            }
        }
        self.sampled = so_far;
        self.begin_sample();
        self.report_progress();
    }

    fn begin_sample(&mut self) {
        // On a grid, so that a late end of one window does not move the next.
        let whole = self.now.saturating_sub(self.start) / self.sample_ns;
        self.sample_end = self.start + (whole + 1) * self.sample_ns;
        self.look_at = self.sample_end.min(self.ramp_end.unwrap_or(Stamp::MAX));
    }

    /// I/Os, bytes and bytes written, ramp included.
    fn issued(&self) -> [u64; 3] {
        let [reads, writes] = &self.outcome.flows;
        let counted = [
            reads.ios + writes.ios,
            reads.bytes + writes.bytes,
            writes.bytes,
        ];
        [0, 1, 2].map(|kind| self.ramped[kind] + counted[kind])
    }

    fn report_progress(&mut self) {
        let issued = self.issued();
        let new = [0, 1, 2].map(|kind| issued[kind] - self.reported[kind]);
        self.control.progress(new);
        self.reported = issued;
    }

    /// The ramp is over: what was counted so far is forgotten, the window starts now.
    #[cold]
    fn end_ramp(&mut self) {
        self.ramp_end = None;
        self.ramped = self.issued();
        self.outcome = JobOutcome {
            samples: std::mem::take(&mut self.outcome.samples),
            passes: self.outcome.passes,
            wraps: self.outcome.wraps,
            checked: self.outcome.checked,
            ..JobOutcome::default()
        };
        self.outcome.samples.clear();
        self.sampled = Sample::default();
        self.begin_usage();
        self.begin_window();
        if let Some(pacer) = &mut self.pacer {
            pacer.begin();
        }
        self.settling = self.job.steady.map(Settling::new);
        if let Some(log) = &mut self.log {
            log.forget();
        }
    }
}

/// Whose time it is while a job writes: that of both directions, but for a job that only writes
/// and reads back later.
fn writing_phase(job: &JobPlan) -> [bool; 2] {
    let verify = job.verify.as_ref();
    let later = verify.is_some_and(|verify| verify.read_back && verify.backlog == 0);
    [job.pattern.reads || !later, true]
}

#[cfg(test)]
mod tests;
