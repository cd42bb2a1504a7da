//! JSON documents to entries: one for each direction of each job that moved bytes.
//!
//! | key | unit |
//! |---|---|
//! | `io_bytes` | bytes where `io_kbytes` stands beside it (2.21 on), else KiB, cut (to 2.20) |
//! | `bw_bytes`, `bw` | bytes per second, cut to whole ones by fio itself; KiB per second, cut |
//! | `iops` | `%f` or `%.2f`; to 2.2.5 whole and cut |
//! | `runtime` | milliseconds |
//! | `slat`, `clat`, `lat` | microseconds; with `_ns` nanoseconds |
//! | `bw_min` and so on | KiB per second, over samples |
//!
//! Which unit `io_bytes` has is told by the other keys first and by the version second. Where neither does, both are
//! possible, and a `unit-guessed` warning says so.
//!
//! A job that failed keeps its error. If it moved nothing it still gives an entry for each direction that it was to
//! move bytes in, as far as its options tell; otherwise the failure is a diagnostic of its own.

mod common;
mod latency;
mod options;
mod series;

pub(super) use latency::bucket_middle;
pub use options::better;
pub use series::supersedes;

use super::entry::Entry;
use super::machine::{Decoder, count, cut, is_zero};
use super::{fio_check, fio_disks};
use crate::block::fio_json::{Document, Job, Side, Timestamp, unescaped};
use crate::diagnostic::{Code, Diagnostic};
use crate::era::Version;
use crate::figure::decimal::Decimal;
use crate::interval::Possible;
use crate::reading::Reading;
use crate::record::{
    Cpu, Details, Direction, Ios, JobError, Label, LabelSource, Measurement, Scope, ScopeKind,
};
use crate::source::Log;
use crate::unit::{Bytes, BytesPerSec, Iops};
use crate::workload::{Pattern, Workload};
use std::sync::Arc;

/// The first version with `io_kbytes` and `io_bytes` in bytes.
const EXACT_BYTES: Version = Version::release(2, 21, 0);
/// The first version whose `iops` have decimals.
const REAL_IOPS: Version = Version::release(2, 2, 6);
/// Up to before this version `bw_agg` is the mean.
const PERCENT_AGG: Version = Version::release(2, 1, 8);

/// What computing with doubles may lose, in bytes per second.
const ROUNDING: f64 = 0.01;

/// The version that a document states.
pub fn version(document: &Document<'_>) -> Option<Version> {
    Version::read(document.version?).map(|(version, _)| version)
}

/// The entries of a document in order, and what is odd about it beyond them.
pub fn entries(log: &Log<'_>, document: &Document<'_>) -> (Vec<Entry>, Vec<Diagnostic>) {
    let mut entries = Vec::new();
    let mut diagnostics = Vec::new();
    let version = version(document);
    let (mut last, mut workload): (Option<&Job<'_>>, Option<Arc<Workload>>) = (None, None);
    let of_client = document.is_of_client();
    let servers = document.servers();
    let printed = match document.timestamp {
        Some(Timestamp::Milliseconds(text)) => count(Some(text)),
        Some(Timestamp::Seconds(text)) => count(Some(text)).and_then(|at| at.checked_mul(1000)),
        None => None,
    };
    for job in &document.jobs {
        let name = unescaped(job.name.unwrap_or_default());
        let all_clients = of_client && job.is_sum();
        let host = job.host.filter(|_| !all_clients);
        let run = match host {
            Some(_) => servers[&(job.host, job.port)],
            None => servers.len() as u32,
        };
        // clones of one job follow each other and have the same options
        let clone = last.filter(|other| (other.name, &other.options) == (job.name, &job.options));
        if clone.is_none() {
            workload = options::workload(&name, &document.globals, &job.options).map(Arc::new);
        }
        last = Some(job);
        let workload = workload.clone().filter(|_| !all_clients);
        let scope = Scope {
            kind: match (all_clients, host) {
                (true, _) => ScopeKind::AllClients,
                (false, Some(_)) => ScopeKind::Client,
                (false, None) => ScopeKind::Job,
            },
            group: count(job.group).and_then(|group| u32::try_from(group).ok()),
            job: (!all_clients).then(|| name.as_ref().into()),
            jobs: None,
            host: host.map(|host| unescaped(host).as_ref().into()),
        };
        let machine = host.map(|host| Label {
            text: unescaped(host).into(),
            full: None,
            span: Some(log.span_of(host)),
            by: LabelSource::Hostname,
            ambiguous: false,
        });
        let details = Details {
            printed_unix_ms: printed,
            started_unix_ms: count(job.start),
            ..Details::default()
        };
        let details = details.boxed();
        let errors = errors(job);
        let before = entries.len();
        // a job that ran and moved nothing has a result: none a second
        let sides = match job.sides.is_empty() && errors.is_empty() {
            true => &job.idle,
            false => &job.sides,
        };
        for (direction, side) in sides {
            let mut decoder = Decoder::new(log);
            let measurement = measurement(&mut decoder, version, job, side, all_clients);
            let cut = match (side.complete, job.complete) {
                (false, _) => Some(
                    "the report is cut off inside of this direction; figures behind the cut are missing",
                ),
                (true, false) => Some(
                    "the report is cut off inside of this job; what stood behind the cut is missing",
                ),
                (true, true) => None,
            };
            if let Some(cut) = cut {
                decoder
                    .problems
                    .push(Diagnostic::warning(Code::INCOMPLETE, Some(job.span), cut));
            }
            entries.push(Entry {
                span: job.span,
                scope: scope.clone(),
                direction: *direction,
                measurement,
                errors: errors.clone(),
                warnings: decoder.problems,
                workload: workload.clone(),
                machine: machine.clone(),
                details: details.clone(),
                run,
            });
        }
        if entries.len() == before && !errors.is_empty() {
            let meant = workload.as_deref().map(directions).unwrap_or_default();
            for &direction in meant {
                entries.push(Entry {
                    span: job.span,
                    scope: scope.clone(),
                    direction,
                    measurement: nothing_moved(&mut Decoder::new(log), job, direction),
                    errors: errors.clone(),
                    warnings: Vec::new(),
                    workload: workload.clone(),
                    machine: machine.clone(),
                    details: details.clone(),
                    run,
                });
            }
            let code = errors[0].code.unwrap_or_default();
            diagnostics.push(Diagnostic::warning(
                Code::JOB_FAILED,
                Some(job.error.map_or(job.span, |error| log.span_of(error))),
                format!(
                    "job {:?} ended with error {code} before it moved a byte; it has no result",
                    scope.job.as_deref().unwrap_or_default()
                ),
            ));
        }
        place_sync(log, job, &mut entries[before..]);
    }
    let disks = fio_disks::of_document(log, &document.disks);
    if let Some(first) = entries.first_mut().filter(|_| !disks.is_empty()) {
        first.details.get_or_insert_default().disks = disks;
    }
    (entries, diagnostics)
}

/// The directions that a job was to move bytes in.
fn directions(workload: &Workload) -> &'static [Direction] {
    // fio reads where nothing else is said
    let pattern = workload
        .jobs()
        .first()
        .and_then(|job| job.pattern)
        .unwrap_or(Pattern::Read);
    match (pattern.reads(), pattern.writes()) {
        (true, true) => &[Direction::Read, Direction::Write],
        (true, false) => &[Direction::Read],
        (false, true) if matches!(pattern, Pattern::TrimWrite | Pattern::RandTrimWrite) => {
            &[Direction::Write, Direction::Trim]
        }
        (false, true) => &[Direction::Write],
        (false, false) => &[Direction::Trim],
    }
}

/// The zero of a failed job.
fn nothing_moved(
    decoder: &mut Decoder<'_, '_>,
    job: &Job<'_>,
    direction: Direction,
) -> Measurement {
    Measurement {
        bytes: decoder.exact(job.unmoved[direction as usize], 1.0),
        ..Measurement::default()
    }
}

fn errors(job: &Job<'_>) -> Vec<JobError> {
    let code = |figure: Option<&str>| figure?.parse::<i64>().ok().filter(|&code| code != 0);
    let mut errors = Vec::new();
    if let Some(code) = code(job.error) {
        errors.push(JobError {
            code: Some(code),
            text: format!("errno {code}"),
        });
    }
    if let Some(total) = code(job.total_errors) {
        errors.push(JobError {
            code: code(job.first_error),
            text: format!("{total} errors in all"),
        });
    }
    errors
}

fn measurement(
    decoder: &mut Decoder<'_, '_>,
    version: Option<Version>,
    job: &Job<'_>,
    side: &Side<'_>,
    all_clients: bool,
) -> Measurement {
    let total = count(side.total_ios);
    let mut measurement = Measurement {
        bytes: bytes(decoder, version, side),
        bytes_per_sec: bandwidth(decoder, side, all_clients),
        iops: iops(decoder, version, side),
        runtime_ns: decoder.exact(side.runtime.filter(|_| !is_zero(side.runtime)), 1e6),
        slat_ns: latency::latency(decoder, &side.slat).map(Box::new),
        clat_ns: latency::latency(decoder, &side.clat).map(Box::new),
        lat_ns: latency::latency(decoder, &side.lat).map(Box::new),
        priorities: latency::priorities(decoder, &side.priorities),
        ios: total.map(|total| Ios {
            total,
            short: count(side.short_ios).unwrap_or(0),
            dropped: count(side.drop_ios).unwrap_or(0),
        }),
        cpu: cpu(decoder, job),
        steady_state: latency::steady_state(job),
        ..Measurement::default()
    };
    (measurement.depths, measurement.lat_distribution) = common::tables(decoder, job);
    measurement.latency_target = common::target(decoder, version, job);
    let percent = version.is_none_or(|version| version >= PERCENT_AGG);
    let per = side.bw_agg.filter(|_| percent);
    measurement.samples = latency::samples(decoder, side, per).map(Box::new);
    // clients are summed up by other rules than jobs
    if !all_clients {
        let warning = fio_check::rate(&measurement, ROUNDING, job.span);
        decoder.problems.extend(warning);
        decoder.problems.extend(fio_check::counted(&measurement));
    }
    measurement
}

/// `io_bytes` in the unit that its version gave it.
fn bytes(
    decoder: &mut Decoder<'_, '_>,
    version: Option<Version>,
    side: &Side<'_>,
) -> Option<Reading<Bytes>> {
    let text = side.io_bytes?;
    let modern_keys = side.io_kbytes.is_some()
        || side.bw_bytes.is_some()
        || [&side.clat, &side.lat, &side.slat]
            .iter()
            .any(|latency| latency.nanoseconds);
    match version {
        _ if modern_keys => decoder.exact(Some(text), 1.0),
        Some(version) if version >= EXACT_BYTES => decoder.exact(Some(text), 1.0),
        Some(version) if version < EXACT_BYTES && version.commits == 0 => {
            decoder.cut(Some(text), 1024)
        }
        _ => {
            let exact = decoder.exact::<Bytes>(Some(text), 1.0)?;
            let kib: Possible<Bytes> = cut(text, 1024)?;
            let figure = decoder.figure(text);
            decoder.problems.push(Diagnostic::warning(
                Code::UNIT_GUESSED,
                Some(figure.span),
                "io_bytes is in KiB up to fio 2.20 and in bytes from 2.21 on, and no version is stated; both are possible",
            ));
            Some(Reading::of(exact.possible().or(kib), figure))
        }
    }
}

/// `bw_bytes`, else `bw`.
fn bandwidth(
    decoder: &mut Decoder<'_, '_>,
    side: &Side<'_>,
    all_clients: bool,
) -> Option<Reading<BytesPerSec>> {
    let Some(text) = side.bw_bytes else {
        return decoder.cut(side.bw, 1024);
    };
    let exact = decoder.exact::<BytesPerSec>(Some(text), 1.0)?;
    // summed over clients each is cut on its own
    if let Some(bw) = side.bw.filter(|_| !all_clients)
        && let Some(rough) = cut::<BytesPerSec>(bw, 1024)
        && rough.meet(&exact.possible()).is_none()
    {
        let span = decoder.figure(bw).span;
        decoder.problems.push(Diagnostic::warning(
            Code::DISAGREE,
            Some(span),
            format!("bw is {bw} KiB/s and bw_bytes {text} B/s, which is another rate; bw_bytes was taken"),
        ));
    }
    Some(exact)
}

fn iops(
    decoder: &mut Decoder<'_, '_>,
    version: Option<Version>,
    side: &Side<'_>,
) -> Option<Reading<Iops>> {
    let text = side.iops?;
    if text.contains('.') {
        return decoder.rounded(Some(text), 1.0);
    }
    match version {
        Some(version) if version < REAL_IOPS => decoder.cut_rate(Some(text)),
        // other tools print 250.000000 as 250
        Some(_) => decoder.rounded(Some(text), 1.0),
        None => {
            let cut = decoder.cut_rate::<Iops>(Some(text))?;
            let rounded = decoder.read::<Iops>(Some(text), Decimal::Rounded, 1.0)?;
            let either = cut.possible().or(rounded.possible());
            Some(Reading::of(either, decoder.figure(text)))
        }
    }
}

fn cpu(decoder: &mut Decoder<'_, '_>, job: &Job<'_>) -> Option<Box<Cpu>> {
    let cpu = Cpu {
        user_percent: decoder.rounded(job.user_cpu, 1.0),
        system_percent: decoder.rounded(job.system_cpu, 1.0),
        context_switches: count(job.context_switches),
        major_faults: count(job.major_faults),
        minor_faults: count(job.minor_faults),
    };
    (cpu != Cpu::default()).then(|| Box::new(cpu))
}

/// Puts the latency of syncs where the writes are; a job without writes keeps it with what it has.
fn place_sync(log: &Log<'_>, job: &Job<'_>, entries: &mut [Entry]) {
    let Some(sync) = &job.sync else { return };
    let index = entries
        .iter()
        .position(|entry| entry.direction == Direction::Write)
        .unwrap_or(0);
    let Some(entry) = entries.get_mut(index) else {
        return;
    };
    let mut decoder = Decoder::new(log);
    let Some(mut latency) = latency::latency(&mut decoder, &sync.0) else {
        return;
    };
    // the count of syncs stands beside the latency where N is not printed yet
    latency.samples = latency
        .samples
        .or(count(sync.1))
        .filter(|&samples| samples > 0);
    entry.measurement.sync_lat_ns = Some(Box::new(latency));
    entry.warnings.append(&mut decoder.problems);
}

#[cfg(test)]
mod tests;
