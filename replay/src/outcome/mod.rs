//! What a run measured: raw counters, merged once when all threads have ended.
//!
//! [`FioOutcome`] and [`DdOutcome`] are raw. [`groups`] sums jobs up the way fio does, and
//! both the records ([`records`]) and the text report are made from that, so they cannot
//! disagree.

pub mod records;

use std::time::SystemTime;

use crate::clock::Usage;
use crate::control::Stop;
use crate::dd::Blocks;
pub use crate::dd::DdOutcome;
use crate::hist::Histogram;
use crate::plan::fio::FioPlan;
use crate::plan::job::JobPlan;
use crate::worker::{DEPTH_LEVELS, Failure, Flow, JobOutcome, Sample, SyncFlow};

/// What a test measured.
#[derive(Debug)]
pub enum Outcome {
    /// fio jobs.
    Fio(FioOutcome),
    /// One dd.
    Dd(DdOutcome),
}

impl Outcome {
    /// The first thing that went wrong.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Outcome::Fio(outcome) => outcome.failure.as_ref().or_else(|| {
                outcome
                    .jobs
                    .iter()
                    .flatten()
                    .find_map(|job| job.failure.as_ref())
            }),
            Outcome::Dd(outcome) => outcome.failure.as_ref(),
        }
    }

    /// Whether any I/O was measured; none is while files are prepared.
    pub fn measured(&self) -> bool {
        match self {
            Outcome::Fio(outcome) => outcome
                .jobs
                .iter()
                .flatten()
                .any(|job| job.flows.iter().any(|flow| flow.ios > 0)),
            Outcome::Dd(outcome) => outcome.read != Blocks::default(),
        }
    }

    /// Bytes per second of the whole test: what was moved over the longest window.
    pub fn bytes_per_sec(&self) -> f64 {
        let (bytes, ns) = match self {
            Outcome::Fio(outcome) => {
                let jobs = || outcome.jobs.iter().flatten();
                let bytes = jobs()
                    .map(|job| job.flows[0].bytes + job.flows[1].bytes)
                    .sum();
                (bytes, jobs().map(|job| job.window_ns).max().unwrap_or(0))
            }
            Outcome::Dd(outcome) => (outcome.bytes, outcome.window_ns),
        };
        bytes as f64 * 1e9 / ns.max(1) as f64
    }

    /// Why it ended early.
    pub fn stopped(&self) -> Option<Stop> {
        match self {
            Outcome::Fio(outcome) => outcome.stopped,
            Outcome::Dd(outcome) => outcome.stopped,
        }
    }
}

/// What fio jobs measured.
#[derive(Debug)]
pub struct FioOutcome {
    /// Per job of the plan; none for jobs that were not started.
    pub jobs: Vec<Option<JobOutcome>>,
    /// Time of the layout, ns.
    pub layout_ns: u64,
    /// Per file of the plan: the flush after the last stage, where the original has none, ns.
    pub flush_after_ns: Vec<Option<u64>>,
    /// When it ended.
    pub ended: SystemTime,
    /// From the end of the layout to the end of the last stage, ns: what fio calls elapsed.
    pub elapsed_ns: u64,
    /// Why it ended early.
    pub stopped: Option<Stop>,
    /// The signal that ended it.
    pub signal: Option<u8>,
    /// What went wrong outside of the jobs.
    pub failure: Option<Failure>,
}

impl FioOutcome {
    /// Nothing measured yet.
    pub fn new(plan: &FioPlan) -> Self {
        FioOutcome {
            jobs: plan.jobs.iter().map(|_| None).collect(),
            layout_ns: 0,
            flush_after_ns: vec![None; plan.files.len()],
            ended: SystemTime::UNIX_EPOCH,
            elapsed_ns: 0,
            stopped: None,
            signal: None,
            failure: None,
        }
    }
}

/// What fio prints one block for: a job, or all jobs of a group with `group_reporting`.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The job, or the first of them.
    pub job: &'a JobPlan,
    /// How many jobs it sums up.
    pub jobs: u32,
    /// Reads and writes.
    pub flows: [Flow; 2],
    /// Periodic syncs.
    pub syncs: SyncFlow,
    /// The longest window of its jobs, ns.
    pub window_ns: u64,
    /// The longest of its jobs' windows of reads and of writes, ns; jobs that did none of them
    /// do not count.
    pub windows_ns: [u64; 2],
    /// The longest window of writes without the final sync, ns.
    pub io_phase_ns: u64,
    /// The flush, ns: inside the window if the job has one at its end, else after it.
    pub flush_ns: Option<u64>,
    /// The flush is inside the window.
    pub flush_inside: bool,
    /// The flush is also that of what was written in the ramp, whose bytes count nowhere: it is
    /// no figure of the bytes of the window.
    pub flush_of_ramp: bool,
    /// Sum of the jobs' windows, ns.
    pub thread_ns: u64,
    /// Sum of the times over which the CPU time was counted, ns: what its shares are of.
    pub cpu_ns: u64,
    /// CPU time and faults, if known of all its jobs.
    pub usage: Option<Usage>,
    /// Depth classes, as [`JobOutcome::depths`].
    pub depths: [u64; DEPTH_LEVELS],
    /// Hand-over classes.
    pub submits: [u64; DEPTH_LEVELS],
    /// Collection classes.
    pub completes: [u64; DEPTH_LEVELS],
    /// The jobs' series.
    pub samples: Vec<&'a [Sample]>,
    /// Latencies of reads and writes from when they were due, if all its jobs had a rate.
    pub corrected: Option<Box<[Histogram; 2]>>,
    /// First failure.
    pub failure: Option<&'a Failure>,
    /// What cut the run short.
    pub cut_short: Option<Stop>,
    /// Final syncs.
    pub final_syncs: u64,
    /// How its engine was set up.
    pub setup: Option<&'a str>,
}

/// Figures of one direction of an entry or a group, as fio computes them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os.
    pub ios: u64,
    /// The window in whole milliseconds, rounded up, at least 1.
    pub runtime_ms: u64,
    /// Bytes per second: `bytes * 1000 / runtime_ms`, rounded down.
    pub bytes_per_sec: u64,
    /// I/Os per second: `ios * 1000 / runtime_ms`.
    pub iops: f64,
}

/// fio's run time of a window: whole milliseconds, rounded up, at least one.
pub fn runtime_ms(window_ns: u64) -> u64 {
    window_ns.div_ceil(1_000_000).max(1)
}

/// `bytes * 1000 / ms` without overflow, as fio's integer division has it.
pub fn rate(bytes: u64, ms: u64) -> u64 {
    (u128::from(bytes) * 1000 / u128::from(ms.max(1))) as u64
}

impl Figures {
    fn of(bytes: u64, ios: u64, runtime_ms: u64) -> Self {
        Figures {
            bytes,
            ios,
            runtime_ms,
            bytes_per_sec: rate(bytes, runtime_ms),
            iops: ios as f64 * 1000.0 / runtime_ms as f64,
        }
    }
}

impl<'a> Entry<'a> {
    fn new(job: &'a JobPlan, outcome: &'a JobOutcome, flush_after_ns: Option<u64>) -> Self {
        let inside = job.pattern.writes && (job.syncs.end_fsync || job.syncs.on_close);
        let of = |way: usize| match outcome.flows[way].ios {
            0 => 0,
            _ => outcome.windows_ns[way],
        };
        let windows_ns = [of(0), of(1)];
        Entry {
            job,
            jobs: 1,
            flows: outcome.flows.clone(),
            syncs: outcome.syncs.clone(),
            window_ns: outcome.window_ns,
            windows_ns,
            io_phase_ns: windows_ns[1].min(outcome.io_phase_ns),
            flush_ns: if inside {
                Some(windows_ns[1].saturating_sub(outcome.io_phase_ns))
            } else {
                flush_after_ns
            },
            flush_inside: inside,
            flush_of_ramp: outcome.issued[2] > outcome.flows[1].bytes,
            thread_ns: outcome.window_ns,
            cpu_ns: outcome.cpu_ns,
            usage: outcome.usage,
            depths: outcome.depths,
            submits: outcome.submits,
            completes: outcome.completes,
            samples: vec![&outcome.samples],
            corrected: outcome.corrected.clone(),
            failure: outcome.failure.as_ref(),
            cut_short: None,
            final_syncs: outcome.final_syncs,
            setup: outcome.setup.as_deref(),
        }
    }

    fn add(&mut self, other: Entry<'a>) {
        self.jobs += other.jobs;
        if self.flows[1].ios == 0 {
            // What only reads has no flush, wherever that would be.
            self.flush_inside = other.flush_inside;
        }
        for (ours, theirs) in self.flows.iter_mut().zip(&other.flows) {
            ours.merge(theirs);
        }
        self.flush_of_ramp |= other.flush_of_ramp;
        self.syncs.count += other.syncs.count;
        self.syncs.lat.merge(&other.syncs.lat);
        self.syncs.histogram.merge(&other.syncs.histogram);
        self.window_ns = self.window_ns.max(other.window_ns);
        for (ours, theirs) in self.windows_ns.iter_mut().zip(other.windows_ns) {
            *ours = (*ours).max(theirs);
        }
        self.io_phase_ns = self.io_phase_ns.max(other.io_phase_ns);
        self.flush_ns = if self.flush_inside {
            // Jobs run side by side: the flush ends when the last one ends.
            Some(self.windows_ns[1] - self.io_phase_ns)
        } else {
            // Files are flushed one after the other after the run.
            match (self.flush_ns, other.flush_ns) {
                (Some(ours), Some(theirs)) if self.job.files != other.job.files => {
                    Some(ours + theirs)
                }
                (ours, theirs) => ours.or(theirs),
            }
        };
        self.thread_ns += other.thread_ns;
        self.cpu_ns += other.cpu_ns;
        self.usage = self.usage.zip(other.usage).map(|(mut sum, more)| {
            sum += more;
            sum
        });
        for level in 0..DEPTH_LEVELS {
            self.depths[level] += other.depths[level];
            self.submits[level] += other.submits[level];
            self.completes[level] += other.completes[level];
        }
        self.samples.extend(other.samples);
        self.corrected = self
            .corrected
            .take()
            .zip(other.corrected)
            .map(|(mut sum, more)| {
                sum.iter_mut()
                    .zip(more.iter())
                    .for_each(|(sum, more)| sum.merge(more));
                sum
            });
        self.failure = self.failure.or(other.failure);
        self.final_syncs += other.final_syncs;
    }

    /// What kept it from being a result of the whole test: its own failure, or what cut the run
    /// short, so that no form takes a part for the whole.
    pub fn error(&self) -> Option<Failure> {
        let cut_short = self.cut_short.map(|stop| Failure {
            code: stop.code(),
            what: stop.words().to_owned(),
        });
        self.failure.cloned().or(cut_short)
    }

    /// CPU time as a share of the time of its threads, per cent.
    pub fn cpu_share(&self, ns: u64) -> f64 {
        ns as f64 * 100.0 / self.cpu_ns.max(1) as f64
    }

    /// The figures of one direction (0 reads, 1 writes), if anything was moved.
    pub fn figures(&self, direction: usize) -> Option<Figures> {
        let flow = &self.flows[direction];
        (flow.ios > 0)
            .then(|| Figures::of(flow.bytes, flow.ios, runtime_ms(self.windows_ns[direction])))
    }
}

/// A report group: what fio prints one status line per direction for.
#[derive(Debug)]
pub struct Group<'a> {
    /// Its number.
    pub number: u32,
    /// Its entries in order.
    pub entries: Vec<Entry<'a>>,
}

/// Group figures of one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupFigures {
    /// Sums over the longest run time.
    pub all: Figures,
    /// Slowest and fastest entry, bytes per second.
    pub rates: (u64, u64),
    /// Shortest and longest run time of the entries, ms.
    pub runtimes_ms: (u64, u64),
}

impl Group<'_> {
    /// The figures of one direction (0 reads, 1 writes), if anything was moved: bytes are
    /// summed, the time is the longest, so a straggler lowers the rate.
    pub fn figures(&self, direction: usize) -> Option<GroupFigures> {
        let parts: Vec<Figures> = self
            .entries
            .iter()
            .filter_map(|entry| entry.figures(direction))
            .collect();
        let longest = parts.iter().map(|part| part.runtime_ms).max()?;
        let bytes = parts.iter().map(|part| part.bytes).sum();
        let ios = parts.iter().map(|part| part.ios).sum();
        let rates = parts.iter().map(|part| part.bytes_per_sec);
        Some(GroupFigures {
            all: Figures::of(bytes, ios, longest),
            rates: (rates.clone().min().unwrap_or(0), rates.max().unwrap_or(0)),
            runtimes_ms: (
                parts
                    .iter()
                    .map(|part| part.runtime_ms)
                    .min()
                    .unwrap_or(longest),
                longest,
            ),
        })
    }
}

/// The rate of each second of an entry, bytes per second, its jobs added up; the last part of
/// a second is left out.
pub fn per_second(entry: &Entry<'_>, direction: usize) -> Vec<u64> {
    const SECOND_NS: u64 = 1_000_000_000;
    let mut sums: Vec<f64> = Vec::new();
    for series in &entry.samples {
        let (mut bytes, mut start_ns, mut second) = (0, 0, 0);
        for sample in *series {
            bytes += sample.bytes[direction];
            // A window may end a little late, never early.
            if sample.end_ns < (second as u64 + 1) * SECOND_NS {
                continue;
            }
            let rate = bytes as f64 * 1e9 / (sample.end_ns - start_ns).max(1) as f64;
            if sums.len() <= second {
                sums.push(0.0);
            }
            sums[second] += rate;
            (bytes, start_ns, second) = (0, sample.end_ns, second + 1);
        }
    }
    sums.into_iter().map(|rate| rate.round() as u64).collect()
}

/// A series in windows of so many milliseconds: each ends with the first of the series' own that
/// ends at its line of the grid or later. What is behind the last whole one is left out.
pub fn joined(samples: &[Sample], ms: u32) -> Vec<Sample> {
    let each = u64::from(ms.max(1)) * 1_000_000;
    let mut windows = Vec::new();
    let (mut sum, mut line) = (Sample::default(), each);
    for sample in samples {
        sum.merge(sample);
        if sample.end_ns >= line {
            windows.push(std::mem::take(&mut sum));
            line = (sample.end_ns / each + 1) * each;
        }
    }
    windows
}

/// Sums the jobs up into fio's groups and entries. Jobs that were not started are left out.
pub fn groups<'a>(plan: &'a FioPlan, outcome: &'a FioOutcome) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let run = || plan.jobs.iter().zip(&outcome.jobs);
    let last = run().filter(|(_, result)| result.is_some());
    let last = last.map(|(job, _)| job.stage).max();
    for (job, result) in run() {
        let Some(result) = result else { continue };
        // Files are flushed one after the other, and after the last stage only: of an earlier
        // one the flush would take what later ones left of it.
        let flushes = job
            .files
            .iter()
            .filter(|_| Some(job.stage) == last)
            .filter_map(|&file| outcome.flush_after_ns[file]);
        let flush = flushes.fold(None, |sum, ns| Some(sum.unwrap_or(0) + ns));
        let mut entry = Entry::new(job, result, flush);
        entry.cut_short = outcome.stopped;
        match groups.last_mut() {
            Some(group) if group.number == job.group => match group.entries.last_mut() {
                Some(last) if job.group_reporting && last.job.group_reporting => last.add(entry),
                _ => group.entries.push(entry),
            },
            _ => groups.push(Group {
                number: job.group,
                entries: vec![entry],
            }),
        }
    }
    groups
}

/// Statistics over the windows of a direction, 500 ms where nothing else is asked for: of the
/// rate in KiB/s and of IOPS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleStats {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation.
    pub stddev: f64,
    /// How many.
    pub count: u64,
}

impl SampleStats {
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let stddev = if count > 1 {
            (squares / (count - 1) as f64).sqrt()
        } else {
            0.0
        };
        Some(SampleStats {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(0.0, f64::max),
            mean,
            stddev,
            count: count as u64,
        })
    }
}

/// Statistics of an entry's series for one direction: (KiB/s, IOPS). Like fio since 3.13 it
/// adds the statistics of the jobs it sums up.
pub fn sample_stats(entry: &Entry<'_>, direction: usize) -> Option<(SampleStats, SampleStats)> {
    let mut sum: Option<(SampleStats, SampleStats)> = None;
    let logs = entry.job.logs;
    for series in &entry.samples {
        let rates = values(series, logs.rate_window_ms(), |sample, ms| {
            sample.bytes[direction] as f64 * 1000.0 / ms / 1024.0
        });
        let iops = values(series, logs.iops_window_ms(), |sample, ms| {
            sample.ios[direction] as f64 * 1000.0 / ms
        });
        let (Some(rates), Some(iops)) = (SampleStats::of(&rates), SampleStats::of(&iops)) else {
            continue;
        };
        sum = Some(match sum {
            None => (rates, iops),
            Some((all_rates, all_iops)) => (added(all_rates, rates), added(all_iops, iops)),
        });
    }
    sum
}

/// Values over windows of so many milliseconds, whole numbers as in fio. A window without any
/// I/O of the direction is no sample, as in fio.
fn values(series: &[Sample], ms: u32, value: impl Fn(&Sample, f64) -> f64) -> Vec<f64> {
    let mut start_ns = 0;
    let windows = joined(series, ms).into_iter().map(|sample| {
        let ms = runtime_ms(sample.end_ns - start_ns) as f64;
        start_ns = sample.end_ns;
        value(&sample, ms)
    });
    windows
        .filter(|&value| value > 0.0)
        .map(f64::floor)
        .collect()
}

fn added(a: SampleStats, b: SampleStats) -> SampleStats {
    SampleStats {
        min: a.min + b.min,
        max: a.max + b.max,
        mean: a.mean + b.mean,
        stddev: a.stddev + b.stddev,
        count: a.count + b.count,
    }
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
