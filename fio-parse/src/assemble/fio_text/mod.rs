//! A job section to measurements: one a direction.
//!
//! What a section says of all directions together (processor use, queue depths, the latency distribution, goals)
//! is carried by each. What is known to be printed wrongly, and what becomes of it:
//!
//! | versions | figure | is | here |
//! |---|---|---|---|
//! | to 1.25.1 | `bw=` | bytes per millisecond under `KiB/s` | read so, `label-wrong` |
//! | all with `kb_base=1000` | sample lines in `kB/s`, `MiB/s` | KiB/s, 1000 KiB/s | read so, `label-wrong` |
//! | 2.17 to 2.21 | `per=` | too small by 1024 | left out, `figure-wrong` |
//! | 2.17 on | second bandwidth of `steadystate` | KiB/s printed as if kB/s | left out, `figure-wrong` |
//! | 3.27 to 3.38 | figures of the `mixed` line | zeros | left out, `figure-wrong` |
//! | all | percentiles at the end of the histogram | that or more | `saturated` |
//!
//! | module | what it decodes |
//! |---|---|
//! | `line` | direction lines, and their figures against each other |
//! | `latency` | latency lines and percentiles |
//! | `samples` | sample lines |
//! | `tail` | the rest |

mod latency;
mod line;
mod samples;
mod tail;
pub(super) use tail::target;
#[cfg(test)]
mod tests;

use super::fio_pair;
use crate::block::fio_text::latency::Kind;
use crate::block::fio_text::share::percent;
use crate::block::fio_text::{FioJob, Looks, Part};
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Look};
use crate::record::{Direction, Ios, JobError, Measurement, PriorityLatency, Samples};
use crate::source::Span;
use crate::unit::Bytes;
use crate::workload::{Job, Workload, WrittenAs};

/// One direction of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobMeasurement {
    /// Which way bytes went.
    pub direction: Direction,
    /// Where its direction line stands.
    pub span: Span,
    /// The readings.
    pub measurement: Measurement,
    /// What is odd about them.
    pub warnings: Vec<Diagnostic>,
}

/// The size of the blocks of each direction, where all of a direction have one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockSizes {
    /// Of reads.
    pub read: Option<Bytes>,
    /// Of writes.
    pub write: Option<Bytes>,
    /// Of trims.
    pub trim: Option<Bytes>,
}

impl BlockSizes {
    /// The size for one direction; none for directions mixed.
    pub fn of(&self, direction: Direction) -> Option<Bytes> {
        match direction {
            Direction::Read => self.read,
            Direction::Write => self.write,
            Direction::Trim => self.trim,
            Direction::Mixed => None,
        }
    }
}

impl From<&Job> for BlockSizes {
    /// What a job's options say; nothing where they ask for several sizes.
    fn from(job: &Job) -> Self {
        let several = [
            "bsrange",
            "blocksize_range",
            "bssplit",
            "bs_unaligned",
            "blocksize_unaligned",
            "verify",
            "bs_is_seq_rand",
        ];
        if job
            .other
            .iter()
            .any(|(name, _)| several.contains(&name.as_str()))
        {
            return Self::default();
        }
        Self {
            read: job.block_bytes,
            write: job.write_block_bytes.or(job.block_bytes),
            trim: job
                .trim_block_bytes
                .or(job.write_block_bytes)
                .or(job.block_bytes),
        }
    }
}

impl BlockSizes {
    /// What a workload says of the blocks of one section; nothing where it is not clear which job that is.
    pub fn for_section(workload: &Workload, section: &FioJob<'_>) -> Self {
        if !workload.missing.is_empty() {
            return Self::default();
        }
        match (workload.jobs(), &section.head) {
            ([job], _) => job.into(),
            (jobs, Some(head)) if head.jobs == Some(1) => jobs
                .iter()
                .find(|job| job.name == head.name)
                .map_or_else(Self::default, Self::from),
            _ => Self::default(),
        }
    }
}

/// The options of `workload` that change how fio prints: `kb_base` and `significant_figures`.
///
/// Where the whole of a workload is known and says nothing, they are fio's defaults.
pub fn printing(workload: &Workload) -> (Option<u16>, Option<u8>) {
    let jobs = workload.jobs();
    let option = |name: &str| {
        let mut values = jobs
            .iter()
            .flat_map(|job| &job.other)
            .filter(|(key, _)| key == name);
        values.next().map(|(_, value)| value.trim())
    };
    let whole = !jobs.is_empty()
        && workload.missing.is_empty()
        && matches!(
            workload.written_as,
            WrittenAs::FioCommand | WrittenAs::FioJobFile | WrittenAs::FioJson
        );
    let kb_base = match option("kb_base") {
        Some("1000") => Some(1000),
        Some("1024") => Some(1024),
        None if whole => Some(1024),
        _ => None,
    };
    (
        kb_base,
        option("significant_figures").and_then(|value| value.parse().ok()),
    )
}

/// The era narrowed by what the lines of a section look like.
pub fn era_of(looks: &Looks, era: Era) -> Era {
    let seen = [
        (looks.legacy, Look::Legacy),
        (looks.modern, Look::Modern),
        (looks.nanoseconds, Look::ModernNanoseconds),
        (
            looks.no_sample_count && looks.modern,
            Look::ModernMicroseconds,
        ),
        (looks.issued_rwt && looks.modern, Look::IssuedRwt),
        (looks.issued_rwts, Look::IssuedRwts),
        (looks.zone_resets, Look::ZoneResets),
    ];
    seen.into_iter()
        .filter(|(seen, _)| *seen)
        .fold(era, |era, (_, look)| era.seen(look))
}

/// The errors that a section reports; a job with errors is no result.
pub fn errors(job: &FioJob<'_>) -> Vec<JobError> {
    let head = job
        .head
        .as_ref()
        .filter(|head| head.error.is_some_and(|error| error != 0));
    let head = head.map(|head| {
        let text = head.error_text.unwrap_or("");
        // "file:io_u.c:1876, func=io_u error, error=No space left on device"
        let words = text
            .rfind("error=")
            .map_or(text, |at| &text[at + "error=".len()..]);
        JobError {
            code: head.error,
            text: words.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    });
    let went_on = job.errors.as_ref().map(|errors| JobError {
        code: Some(errors.first),
        text: match errors.total {
            0 | 1 => errors.text.to_owned(),
            total => format!("{} (the first of {total} errors)", errors.text),
        },
    });
    let went_on = went_on.filter(|_| job.errors.as_ref().is_some_and(|errors| errors.total > 0));
    head.into_iter().chain(went_on).collect()
}

/// The measurements of a section that a fio of `era` printed, in the order of its direction lines; takes them out of it.
///
/// `blocks` are the sizes that the workload asked for; they only serve to hold figures against each other.
/// Parts without a direction line give none: see [`attach`].
pub fn measurements(job: &mut FioJob<'_>, era: Era, blocks: BlockSizes) -> Vec<JobMeasurement> {
    let era = era_of(&job.looks, era);
    // only figures of direction lines can contradict each other, so they settle the era
    let settled = fio_pair::settled(era, |era| lines(job, era, blocks), |one| &mut one.warnings);
    let (mut measured, era) = (settled.results, settled.era);
    let mut shared = Vec::new();
    let mut common = tail::Common::take(job, &era, &mut shared);
    let last = measured.len().wrapping_sub(1);
    let parts = job.parts.iter_mut().filter(|part| part.line.is_some());
    for (index, (one, part)) in measured.iter_mut().zip(parts).enumerate() {
        // each direction carries a copy, and the last one the first copy
        let copy = match index == last {
            true => std::mem::take(&mut common),
            false => common.clone(),
        };
        copy.give(&mut one.measurement);
        fill(part, &era, &mut one.measurement, &mut one.warnings);
        one.warnings.extend(shared.iter().cloned());
        one.warnings.extend(settled.note.clone());
    }
    measured
}

/// The direction lines.
fn lines(job: &FioJob<'_>, era: Era, blocks: BlockSizes) -> Vec<JobMeasurement> {
    let failed = job.errors.is_some()
        || job
            .head
            .as_ref()
            .is_some_and(|head| head.error.is_some_and(|e| e != 0));
    let lines = || job.parts.iter().filter_map(|part| part.line.as_ref());
    let mut measured = Vec::with_capacity(lines().count());
    for text in lines() {
        measured.push(JobMeasurement {
            direction: text.direction,
            span: text.span,
            measurement: Measurement::default(),
            warnings: Vec::new(),
        });
        let Some(JobMeasurement {
            measurement,
            warnings,
            ..
        }) = measured.last_mut()
        else {
            continue;
        };
        line::read(text, era, measurement, warnings);
        measurement.ios = ios(job, text.direction);
        let whole = !failed
            && measurement
                .ios
                .is_none_or(|ios| ios.short == 0 && ios.dropped == 0);
        let block = blocks.of(text.direction).filter(|_| whole);
        line::check(text, measurement, block, warnings);
    }
    measured
}

/// Puts what loose lines say into the measurement of a direction above them, where it says nothing itself.
///
/// Annotated reports stand so: a line of the report, a paragraph about it, the next line. `nearest` tells that the
/// direction is the one right above, which latencies and samples belong to; the rest belongs to all directions.
pub fn attach(
    loose: &FioJob<'_>,
    era: Era,
    direction: Direction,
    nearest: bool,
    into: &mut Measurement,
    warnings: &mut Vec<Diagnostic>,
) {
    let era = era_of(&loose.looks, era);
    let mut loose = loose.clone();
    let mut found = Measurement::default();
    tail::Common::take(&mut loose, &era, warnings).give(&mut found);
    for part in loose.parts.iter_mut().filter(|_| nearest) {
        fill(part, &era, &mut found, warnings);
    }
    found.ios = ios(&loose, direction);
    macro_rules! take {
        ($($field:ident),*) => { $(if into.$field.is_none() { into.$field = found.$field; })* };
    }
    take!(
        cpu,
        depths,
        latency_target,
        steady_state,
        sync_lat_ns,
        samples,
        ios
    );
    if into.lat_distribution.is_empty() {
        into.lat_distribution = found.lat_distribution;
    }
    let latencies = [
        (&mut into.slat_ns, found.slat_ns),
        (&mut into.clat_ns, found.clat_ns),
        (&mut into.lat_ns, found.lat_ns),
    ];
    for (into, found) in latencies {
        match (into, found) {
            (into @ None, found) => *into = found,
            (Some(into), Some(found)) if into.percentiles.is_empty() => {
                into.percentiles = found.percentiles
            }
            _ => {}
        }
    }
}

/// What stands below a direction line.
fn fill(part: &mut Part<'_>, era: &Era, into: &mut Measurement, warnings: &mut Vec<Diagnostic>) {
    into.slat_ns = latency::read(&mut part.slat, era, warnings);
    into.clat_ns = latency::read(&mut part.clat, era, warnings);
    into.lat_ns = latency::read(&mut part.lat, era, warnings);
    for priority in &mut part.priorities {
        let read = latency::read(&mut priority.text, era, warnings);
        let percent = priority.share.and_then(|share| percent(&share));
        let at = into
            .priorities
            .iter()
            .position(|p| p.priority == priority.name)
            .unwrap_or_else(|| {
                into.priorities.push(PriorityLatency {
                    priority: priority.name.to_owned(),
                    ..PriorityLatency::default()
                });
                into.priorities.len() - 1
            });
        let entry = &mut into.priorities[at];
        entry.percent = entry.percent.take().or(percent);
        match priority.kind {
            Kind::Clat => entry.clat_ns = read.map(|latency| *latency),
            _ => entry.lat_ns = read.map(|latency| *latency),
        }
    }
    let decimal = part.line.as_ref().is_some_and(line::is_decimal);
    let bytes_per_sec = part
        .bw
        .as_ref()
        .map(|line| samples::bandwidth(line, era, decimal, warnings));
    let iops = part.iops.as_ref().map(samples::iops);
    if bytes_per_sec.is_some() || iops.is_some() {
        into.samples = Some(Box::new(Samples {
            bytes_per_sec,
            iops,
        }));
    }
}

/// The counts of one direction.
fn ios(job: &FioJob<'_>, direction: Direction) -> Option<Ios> {
    let issued = job.issued.as_ref()?;
    // unified directions are counted as reads; with `both`, beside them
    let pick = |counts: &[u64]| match direction {
        Direction::Read => counts.first().copied(),
        Direction::Write => counts.get(1).copied(),
        Direction::Trim => counts.get(2).copied(),
        Direction::Mixed => counts.iter().take(3).copied().reduce(u64::saturating_add),
    };
    Some(Ios {
        total: pick(&issued.total)?,
        short: pick(&issued.short).unwrap_or(0),
        dropped: pick(&issued.dropped).unwrap_or(0),
    })
}

/// A warning that a figure is known to be wrong.
fn wrong(span: Span, message: String) -> Diagnostic {
    Diagnostic::warning(Code::FIGURE_WRONG, Some(span), message)
}
