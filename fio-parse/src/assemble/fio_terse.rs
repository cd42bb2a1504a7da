//! Terse lines to entries: one for each direction that moved bytes.
//!
//! | field | unit |
//! |---|---|
//! | io | KiB, cut: 22904 stands for 22904 to 22904.999 KiB |
//! | bw | KiB per second, cut; up to 2.0.7 bytes per millisecond, cut, that is 1000 bytes per second |
//! | iops | whole, cut |
//! | slat, clat, lat | microseconds; from 2.99 on cut from nanoseconds |
//! | bw samples | KiB per second |
//!
//! Format 2 states no version. Lines of 1.x are told by their length, and a third direction comes with 2.0.10 only; a
//! line of format 2 with two long sides may be of 2.0.7 or of 2.0.9, and its rate is then both (`unit-guessed`).
//!
//! Two options change what fields mean, and the line does not show them; the workload around it may ([`Around`]).
//! With `unified_rw_reporting=1` the read side holds the sum of all directions (up to 3.26; later lines are shorter).
//! With `lat_percentiles=1` (3.1 on) the percentiles are those of total latency. Where that can't be told and the two
//! differ, percentiles are taken for completion latency, fio's default, with a note.

mod series;

pub use series::{rows_of_a_report, supersedes};

use super::entry::Entry;
use super::fio_check;
use super::machine::{Decoder, count, cut, is_zero};
use crate::block::fio_terse::{Form, Row, Side};
use crate::diagnostic::{Code, Diagnostic};
use crate::era::Version;
use crate::figure::decimal::Decimal;
use crate::reading::Reading;
use crate::record::{
    Cpu, Direction, JobError, Latency, Measurement, Percentile, Samples, Scope, ScopeKind, Spread,
};
use crate::source::{Log, Span};
use crate::unit::{BytesPerSec, Nanos};
use crate::workload::Workload;

/// The first version whose bandwidth is in KiB per second.
const KIB_RATES: Version = Version::release(2, 0, 8);
/// The first version whose percentiles may be those of total latency.
const TOTAL_PERCENTILES: Version = Version::release(3, 1, 0);
/// The first version that measures nanoseconds.
const NANOSECONDS: Version = Version::release(2, 99, 0);
/// What computing with doubles may lose, in bytes per second.
const ROUNDING: f64 = 0.01;

/// What the log tells around a line about things that the line does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// The version of fio.
    pub version: Option<Version>,
    /// Whether the read side holds the sum of all directions.
    pub unified: bool,
    /// Whether percentiles are those of total latency, if the options are known.
    pub total_percentiles: Option<bool>,
}

impl Around {
    /// What a version and a workload tell.
    pub fn of(version: Option<Version>, workload: Option<&Workload>) -> Self {
        let jobs = workload.map_or(&[][..], Workload::jobs);
        let any = |name: &str, values: &[&str]| {
            let mut options = jobs.iter().flat_map(|job| &job.other);
            options.any(|(option, value)| option == name && values.contains(&value.as_str()))
        };
        Self {
            version,
            unified: any("unified_rw_reporting", &["1", "mixed"]),
            total_percentiles: (!jobs.is_empty()).then(|| any("lat_percentiles", &["1"])),
        }
    }
}

/// The version that a line states.
pub fn version(row: &Row<'_>) -> Option<Version> {
    let text = row.fio?;
    let found = if text.starts_with("fio") {
        Version::read(text)
    } else {
        Version::read(&format!("fio-{text}"))
    };
    found.map(|(version, _)| version)
}

/// The entries of a line in order, and what is odd about it beyond them.
pub fn entries(log: &Log<'_>, row: &Row<'_>, around: Around) -> (Vec<Entry>, Vec<Diagnostic>) {
    let version = version(row).or(around.version);
    // fio gives this name to the sum over clients
    let all_clients = row.name == "All clients";
    let scope = Scope {
        kind: if all_clients {
            ScopeKind::AllClients
        } else {
            ScopeKind::Job
        },
        group: row.group.parse().ok(),
        job: (!all_clients).then(|| row.name.into()),
        jobs: None,
        host: None,
    };
    let errors = errors(row);
    let mut entries = Vec::new();
    for &(direction, ref side) in &row.sides {
        let direction = match direction {
            Direction::Read if around.unified && row.sides.len() == 2 => Direction::Mixed,
            direction => direction,
        };
        if !side.moved_bytes() {
            continue;
        }
        let mut decoder = Decoder::new(log);
        let units = Units::of(row, side, version);
        let mut measurement = measurement(&mut decoder, row, side, units);
        if version.is_none_or(|version| version >= TOTAL_PERCENTILES) {
            decide_percentiles(&mut measurement, around, row.span, &mut decoder.problems);
        }
        if !all_clients {
            let warning = fio_check::rate(&measurement, ROUNDING, row.span);
            decoder.problems.extend(warning);
        }
        entries.push(Entry {
            span: row.span,
            scope: scope.clone(),
            direction,
            measurement,
            errors: errors.clone(),
            warnings: decoder.problems,
            workload: None,
            machine: None,
        });
    }
    let failed = entries.is_empty() && !errors.is_empty();
    let diagnostics = failed.then(|| {
        Diagnostic::warning(
            Code::JOB_FAILED,
            Some(log.span_of(row.error)),
            format!(
                "job {:?} ended with error {} before it moved a byte; it has no result",
                row.name, row.error
            ),
        )
    });
    (entries, diagnostics.into_iter().collect())
}

fn errors(row: &Row<'_>) -> Vec<JobError> {
    let code = |text: &str| text.parse::<i64>().ok().filter(|&code| code != 0);
    let mut errors = Vec::new();
    if let Some(code) = code(row.error) {
        errors.push(JobError {
            code: Some(code),
            text: format!("errno {code}"),
        });
    }
    if let Some([total, first]) = row.errors
        && let Some(total) = code(total)
    {
        errors.push(JobError {
            code: code(first),
            text: format!("{total} errors in all"),
        });
    }
    errors
}

/// What the fields of a side are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Units {
    /// Bytes per second of one step of the rate; `None` where it may be 1000 or 1024.
    rate: Option<u64>,
    /// Whether whole microseconds were cut from nanoseconds, or may have been.
    latency_cut: bool,
}

impl Units {
    fn of(row: &Row<'_>, side: &Side<'_>, version: Option<Version>) -> Self {
        if matches!(side.form, Form::Oldest | Form::Old) {
            return Self {
                rate: Some(1000),
                latency_cut: false,
            };
        }
        let rate = match version {
            _ if row.sides.len() > 2 => Some(1024),
            Some(version) if version < KIB_RATES => Some(1000),
            Some(_) => Some(1024),
            None => None,
        };
        Self {
            rate,
            latency_cut: version.is_none_or(|version| version >= NANOSECONDS),
        }
    }
}

fn measurement(
    decoder: &mut Decoder<'_, '_>,
    row: &Row<'_>,
    side: &Side<'_>,
    units: Units,
) -> Measurement {
    let runtime = Some(side.runtime).filter(|&runtime| !is_zero(Some(runtime)));
    let cpu = row.cpu.map(|[user, system, switches, major, minor]| {
        Box::new(Cpu {
            user_percent: decoder.rounded(Some(user), 1.0),
            system_percent: decoder.rounded(Some(system), 1.0),
            context_switches: count(Some(switches)),
            major_faults: count(Some(major)),
            minor_faults: count(Some(minor)),
        })
    });
    let clat = latency(decoder, side.clat, units).map(|mut clat| {
        clat.percentiles = percentiles(decoder, side, units);
        Box::new(clat)
    });
    Measurement {
        bytes: decoder.cut(Some(side.io), 1024),
        bytes_per_sec: rate(decoder, side, units),
        iops: decoder.cut_rate(side.iops),
        runtime_ns: decoder.exact(runtime, 1e6),
        slat_ns: latency(decoder, side.slat, units).map(Box::new),
        clat_ns: clat,
        lat_ns: side
            .lat
            .and_then(|lat| latency(decoder, lat, units))
            .map(Box::new),
        samples: samples(decoder, side),
        cpu,
        ..Measurement::default()
    }
}

/// Moves percentiles to total latency where they belong there, and says so where nobody knows.
fn decide_percentiles(
    measurement: &mut Measurement,
    around: Around,
    span: Span,
    problems: &mut Vec<Diagnostic>,
) {
    let (Some(clat), Some(lat)) = (&mut measurement.clat_ns, &mut measurement.lat_ns) else {
        return;
    };
    match around.total_percentiles {
        Some(true) => lat.percentiles = std::mem::take(&mut clat.percentiles),
        Some(false) => {}
        // without a submission phase both are the same but for the clock's overhead
        None if measurement.slat_ns.is_none() || clat.percentiles.is_empty() => {}
        None => problems.push(Diagnostic::note(
            Code::PERCENTILES_OF,
            Some(span),
            "percentiles are taken for those of completion latency; with lat_percentiles=1 they are those of total latency, which a terse line does not show",
        )),
    }
}

fn rate(
    decoder: &mut Decoder<'_, '_>,
    side: &Side<'_>,
    units: Units,
) -> Option<Reading<BytesPerSec>> {
    let Some(step) = units.rate else {
        let either = cut::<BytesPerSec>(side.bw, 1024)?.or(cut(side.bw, 1000)?);
        let figure = decoder.figure(side.bw);
        decoder.problems.push(Diagnostic::warning(
            Code::UNIT_GUESSED,
            Some(figure.span),
            "the rate is in kB/s up to fio 2.0.7 and in KiB/s from 2.0.8 on, and no version is stated; both are possible",
        ));
        return Some(Reading::of(either, figure));
    };
    decoder.cut(Some(side.bw), step)
}

/// A latency; engines without a phase print zeros for it.
fn latency(
    decoder: &mut Decoder<'_, '_>,
    [min, max, mean, stddev]: [&str; 4],
    units: Units,
) -> Option<Latency> {
    if is_zero(Some(max)) && is_zero(Some(mean)) {
        return None;
    }
    Some(Latency {
        min: microseconds(decoder, min, units),
        max: microseconds(decoder, max, units),
        mean: decoder.rounded(Some(mean), 1e3),
        stddev: decoder.rounded(Some(stddev), 1e3),
        ..Latency::default()
    })
}

fn microseconds(decoder: &mut Decoder<'_, '_>, text: &str, units: Units) -> Option<Reading<Nanos>> {
    if units.latency_cut {
        decoder.cut(Some(text), 1000)
    } else {
        decoder.exact(Some(text), 1e3)
    }
}

fn percentiles(decoder: &mut Decoder<'_, '_>, side: &Side<'_>, units: Units) -> Vec<Percentile> {
    side.percentiles
        .iter()
        .filter_map(|field| {
            let (p, value) = field.split_once("%=")?;
            Some(Percentile {
                p: p.parse().ok().filter(|&p| p > 0.0 && p <= 100.0)?,
                reading: microseconds(decoder, value, units)?,
            })
        })
        .collect()
}

fn samples(decoder: &mut Decoder<'_, '_>, side: &Side<'_>) -> Option<Box<Samples>> {
    let [min, max, share, mean, stddev] = side.bw_samples;
    let none = |max: &str, mean: &str| is_zero(Some(max)) && is_zero(Some(mean));
    let bytes_per_sec = (!none(max, mean)).then(|| Spread {
        min: decoder.exact(Some(min), 1024.0),
        max: decoder.exact(Some(max), 1024.0),
        mean: decoder.rounded(Some(mean), 1024.0),
        stddev: decoder.rounded(Some(stddev), 1024.0),
        count: count(side.bw_count),
        per: decoder.read(Some(share), Decimal::Rounded, 1.0),
    });
    let iops = side
        .iops_samples
        .filter(|[_, max, mean, ..]| !none(max, mean))
        .map(|[min, max, mean, stddev, samples]| Spread {
            min: decoder.exact(Some(min), 1.0),
            max: decoder.exact(Some(max), 1.0),
            mean: decoder.rounded(Some(mean), 1.0),
            stddev: decoder.rounded(Some(stddev), 1.0),
            count: count(Some(samples)),
            per: None,
        });
    (bytes_per_sec.is_some() || iops.is_some()).then(|| {
        Box::new(Samples {
            bytes_per_sec,
            iops,
        })
    })
}

#[cfg(test)]
mod tests;
