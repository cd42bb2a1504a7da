//! What a job counts while it runs.

use std::io;

use super::{Logged, Slot, SlotKind};
use crate::clock::{Stamp, Usage};
use crate::control::Stop;
use crate::hist::{Histogram, Stat};

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
    /// Latencies of I/Os that were handed over with the stamp of their start: their `slat` is
    /// zero, and `clat` and `lat` are the same. [`Flow::settle`] gives them to the three others.
    pub(super) prompt: Stat,
}

impl Flow {
    /// Counts one I/O that was complete at `now`; the same as a run of one, for less.
    #[inline(always)]
    pub(super) fn count_one(&mut self, slot: &Slot, now: Stamp, has_slat: bool) {
        self.ios += 1;
        self.bytes += u64::from(slot.bytes);
        let clat = now.saturating_sub(slot.issue);
        self.clat_histogram.add(clat);
        let slat = slot.issue.saturating_sub(slot.start);
        if slat == 0 {
            return self.prompt.add(clat);
        }
        self.clat.add(clat);
        self.lat.add(slat + clat);
        if has_slat {
            self.slat.add(slat);
        }
    }

    /// Gives the latencies of prompt I/Os to the statistics they belong to.
    pub(super) fn settle(&mut self, has_slat: bool) {
        let prompt = std::mem::take(&mut self.prompt);
        self.clat.merge(&prompt);
        self.lat.merge(&prompt);
        if has_slat && prompt.count() > 0 {
            self.slat.add_many(0, prompt.count());
        }
    }

    /// Counts the I/Os of a run that were complete at `now`.
    #[inline(always)]
    pub(super) fn count(&mut self, run: &Run, now: Stamp, has_slat: bool) {
        let ios = run.slat.count();
        let clat = now.saturating_sub(run.issue);
        self.ios += ios;
        self.bytes += run.bytes;
        self.clat.add_many(clat, ios);
        self.clat_histogram.add_many(clat, ios);
        if has_slat {
            self.slat.merge(&run.slat);
        }
        self.lat.merge(&run.slat.longer_by(clat));
    }

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

/// I/Os of one direction that were handed over together and were complete together: all
/// have the same completion latency, and `lat` is that and their `slat`. On a fast device
/// most I/Os come so, and only `slat` is left to be counted one by one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) kind: SlotKind,
    issue: Stamp,
    bytes: u64,
    slat: Stat,
}

impl Run {
    /// A run of I/Os such as this one, which is not counted yet.
    #[inline(always)]
    pub(super) fn of(slot: &Slot) -> Self {
        Run {
            kind: slot.kind,
            issue: slot.issue,
            bytes: 0,
            slat: Stat::EMPTY,
        }
    }

    /// How many I/Os it has.
    #[inline(always)]
    pub(super) fn ios(&self) -> u64 {
        self.slat.count()
    }

    #[inline(always)]
    pub(super) fn fits(&self, slot: &Slot) -> bool {
        slot.issue == self.issue && slot.kind == self.kind
    }

    #[inline(always)]
    pub(super) fn add(&mut self, slot: &Slot) {
        self.bytes += u64::from(slot.bytes);
        self.slat.add(slot.issue.saturating_sub(slot.start));
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

impl Sample {
    /// All that was counted so far, at the time `end_ns`.
    pub(super) fn of(flows: &[Flow; 2], end_ns: u64) -> Sample {
        let both = |count: fn(&Flow) -> u64| [count(&flows[0]), count(&flows[1])];
        Sample {
            end_ns,
            bytes: both(|flow| flow.bytes),
            ios: both(|flow| flow.ios),
        }
    }

    /// What was counted since `before`.
    pub(super) fn since(&self, before: &Sample) -> Sample {
        let less = |now: [u64; 2], then: [u64; 2]| [now[0] - then[0], now[1] - then[1]];
        Sample {
            end_ns: self.end_ns,
            bytes: less(self.bytes, before.bytes),
            ios: less(self.ios, before.ios),
        }
    }

    /// Adds what was counted in the next window.
    pub fn merge(&mut self, next: &Sample) {
        self.end_ns = next.end_ns;
        for way in 0..2 {
            self.bytes[way] += next.bytes[way];
            self.ios[way] += next.ios[way];
        }
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
    /// The parts of it that reads and writes are measured over, ns: all of it, but where what was
    /// written is read back afterwards.
    pub windows_ns: [u64; 2],
    /// The writes' part of it before the final sync, ns.
    pub io_phase_ns: u64,
    /// Time in final syncs (`end_fsync`, `fsync_on_close`) inside the window, ns.
    pub final_sync_ns: u64,
    /// Number of final syncs.
    pub final_syncs: u64,
    /// CPU time and faults inside the window, where they can be told from other jobs'.
    pub usage: Option<Usage>,
    /// Time over which that was counted, ns.
    pub cpu_ns: u64,
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
    /// Latencies of reads and writes from when they were due, under a rate.
    pub corrected: Option<Box<[Histogram; 2]>>,
    /// When the rate was steady, ns since the start, if that was looked for and found.
    pub steady_after_ns: Option<u64>,
    /// The series.
    pub samples: Vec<Sample>,
    /// What was logged, if that was asked for.
    pub logged: Option<Box<Logged>>,
    /// Everything ever issued, ramp included: I/Os, bytes, bytes written.
    pub issued: [u64; 3],
    /// Blocks that were read back and found to be what was written.
    pub checked: u64,
    /// How the engine was set up.
    pub setup: Option<String>,
    /// Why it ended early, if it did.
    pub stopped: Option<Stop>,
    /// What went wrong, if something did.
    pub failure: Option<Failure>,
    /// Things asked of the system that it did not grant.
    pub remarks: Vec<String>,
}

/// fio's classes of batch sizes: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
#[inline(always)]
pub(super) fn batch_level(count: usize) -> usize {
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
mod tests {
    use super::*;

    #[test]
    fn prompt_ios_are_in_all_statistics_and_a_run_counts_as_its_ios_one_by_one() {
        let slot = |start, issue| Slot {
            start,
            issue,
            bytes: 4096,
            ..Slot::default()
        };
        let slots = [slot(100, 100), slot(90, 100), slot(60, 100)];
        for has_slat in [true, false] {
            let mut single = Flow::default();
            let mut together = Flow::default();
            let mut run = Run::of(&slots[0]);
            for slot in &slots {
                single.count_one(slot, 150, has_slat);
                run.add(slot);
            }
            together.count(&run, 150, has_slat);
            // slat 0, 10, 40; clat 50 each; lat 50, 60, 90.
            for flow in [&mut single, &mut together] {
                flow.settle(has_slat);
                assert_eq!((flow.ios, flow.bytes), (3, 3 * 4096));
                let slat = if has_slat {
                    (3, 50, 0, 40)
                } else {
                    (0, 0, 0, 0)
                };
                let figures = |stat: &Stat| (stat.count(), stat.sum(), stat.min(), stat.max());
                assert_eq!(figures(&flow.slat), slat);
                assert_eq!(figures(&flow.clat), (3, 150, 50, 50));
                assert_eq!(figures(&flow.lat), (3, 200, 50, 90));
                assert_eq!(flow.clat_histogram.total(), 3);
            }
            assert_eq!(single.lat, together.lat);
            assert_eq!(single.slat, together.slat);
        }
    }
}
