//! Logs to summary records: one for each direction that has samples.
//!
//! | log | record |
//! |---|---|
//! | bw | `samples.bytes_per_sec`; a sample is whole KiB per second, cut |
//! | iops | `samples.iops`; whole, cut |
//! | lat, slat, clat | `lat_ns`, `slat_ns`, `clat_ns` with smallest, largest, mean, deviation and count |
//! | clat_hist | `clat_ns.bins`, summed over the rows |
//!
//! Mean and deviation are of the samples as logged, each counting the same: one for each I/O, or one for each window
//! with `log_avg_msec`. They are no figures of the run, and stand where fio's own sample statistics stand.
//!
//! Latencies are in microseconds up to 2.21 and in nanoseconds from 2.99 on, and nothing in the file tells which. Where
//! the version is not known, both readings are given, a factor of thousand apart (`unit-guessed`).

use super::entry::Entry;
use super::fio_json::bucket_middle;
use super::machine::{Decoder, cut};
use crate::block::fio_log::{Buckets, DIRECTIONS, FioLog, Layout, LogKind, Sums};
use crate::diagnostic::{Code, Diagnostic};
use crate::era::Version;
use crate::interval::{Interval, Possible};
use crate::reading::Reading;
use crate::record::{Latency, Measurement, Samples, Scope, ScopeKind, Spread};
use crate::source::Log;
use crate::unit::{Nanos, Quantity};

/// The first version that logs nanoseconds.
const NANOSECONDS: Version = Version::release(2, 99, 0);

/// The share of a number that computing it here may lose.
const LOST: f64 = 1e-9;

/// The unit of a logged latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyUnit {
    /// Up to 2.21.
    Microseconds,
    /// From 2.99 on.
    Nanoseconds,
    /// The version is not known.
    Either,
}

impl LatencyUnit {
    /// The unit that a version logs.
    pub fn of(version: Option<Version>) -> Self {
        match version {
            None => Self::Either,
            Some(version) if version < NANOSECONDS => Self::Microseconds,
            Some(_) => Self::Nanoseconds,
        }
    }
}

/// The entries of a log of this kind, and what is odd about it beyond them.
pub fn entries(
    log: &Log<'_>,
    block: &FioLog<'_>,
    version: Option<Version>,
) -> (Vec<Entry>, Vec<Diagnostic>) {
    let named = LogKind::of_name(log.name());
    let is_histogram = matches!(block.layout, Layout::Histogram(_));
    // a histogram is told by its columns; nothing else is
    let kind = match named {
        Some((kind, _)) if (kind == LogKind::Histogram) == is_histogram => kind,
        None if is_histogram => LogKind::Histogram,
        _ => {
            let samples: u64 = block.sums.iter().map(|sums| sums.count).sum();
            return (Vec::new(), vec![no_kind(block, samples)]);
        }
    };
    let job = named.map(|(_, job)| job).filter(|job| !job.is_empty());
    let entries = (0..DIRECTIONS.len())
        .filter(|&side| block.has(side))
        .map(|side| {
            let mut decoder = Decoder::new(log);
            let measurement = measurement(&mut decoder, block, side, kind, version);
            Entry {
                span: block.span,
                scope: Scope {
                    job: job.map(Into::into),
                    ..Scope::of(ScopeKind::Job)
                },
                direction: DIRECTIONS[side],
                measurement,
                errors: Vec::new(),
                warnings: decoder.problems,
                workload: None,
                machine: None,
                details: None,
                run: 0,
            }
        })
        .collect();
    (entries, Vec::new())
}

fn no_kind(block: &FioLog<'_>, samples: u64) -> Diagnostic {
    Diagnostic::warning(
        Code::LOG_KIND,
        Some(block.span),
        format!(
            "{samples} samples of a fio log, but of what? Expected a name as fio gives it, such as job_bw.1.log (bw, iops, lat, slat, clat, clat_hist)"
        ),
    )
}

fn measurement(
    decoder: &mut Decoder<'_, '_>,
    block: &FioLog<'_>,
    side: usize,
    kind: LogKind,
    version: Option<Version>,
) -> Measurement {
    let sums = &block.sums[side];
    let mut measurement = Measurement::default();
    let unit = LatencyUnit::of(version);
    match kind {
        LogKind::Bandwidth => {
            measurement.samples = Some(Box::new(Samples {
                bytes_per_sec: Some(cut_spread(decoder, sums, 1024)),
                iops: None,
            }));
        }
        LogKind::Iops => {
            measurement.samples = Some(Box::new(Samples {
                bytes_per_sec: None,
                iops: Some(cut_spread(decoder, sums, 1)),
            }));
        }
        LogKind::Latency => measurement.lat_ns = latency(decoder, block, sums, unit),
        LogKind::SubmissionLatency => measurement.slat_ns = latency(decoder, block, sums, unit),
        LogKind::CompletionLatency => measurement.clat_ns = latency(decoder, block, sums, unit),
        LogKind::Histogram => {
            if let Layout::Histogram(buckets) = block.layout {
                measurement.clat_ns = Some(Box::new(histogram(&block.buckets[side], buckets)));
            }
        }
    }
    measurement
}

/// Statistics of samples that were cut to whole steps: each may be almost a step larger.
fn cut_spread<Q: Quantity>(decoder: &mut Decoder<'_, '_>, sums: &Sums<'_>, step: u64) -> Spread<Q> {
    let (mean, stddev, wide) = (sums.mean(), sums.stddev(), step as f64);
    let mut end = |text: &str| -> Option<Reading<Q>> {
        if step == 1 {
            return decoder.cut_rate(Some(text));
        }
        Some(Reading::of(cut(text, step)?, decoder.figure(text)))
    };
    // what is cut off changes a deviation by no more than its own largest deviation, half a step times sqrt(n / (n - 1))
    let n = sums.count as f64;
    let slack = if sums.count > 1 {
        0.5 * wide * (n / (n - 1.0)).sqrt()
    } else {
        0.0
    };
    Spread {
        min: end(sums.min),
        max: end(sums.max),
        mean: computed(mean * wide, (mean + 1.0) * wide),
        stddev: computed(stddev * wide - slack, stddev * wide + slack),
        count: Some(sums.count),
        per: None,
    }
}

/// A latency of samples; of both units where the version is not known.
fn latency(
    decoder: &mut Decoder<'_, '_>,
    block: &FioLog<'_>,
    sums: &Sums<'_>,
    unit: LatencyUnit,
) -> Option<Box<Latency>> {
    let scales: &[f64] = match unit {
        LatencyUnit::Microseconds => &[1e3],
        LatencyUnit::Nanoseconds => &[1.0],
        LatencyUnit::Either => &[1.0, 1e3],
    };
    if unit == LatencyUnit::Either {
        decoder.problems.push(Diagnostic::warning(
            Code::UNIT_GUESSED,
            Some(block.span),
            "a log holds microseconds up to fio 2.21 and nanoseconds from 2.99 on, and no version is known; both are possible",
        ));
    }
    let printed = |decoder: &Decoder<'_, '_>, text: &str| -> Option<Reading<Nanos>> {
        let value: u64 = text.parse().ok()?;
        let exact = |&scale: &f64| Interval::from_f64(value as f64 * scale, value as f64 * scale);
        let possible = Possible::union(scales.iter().filter_map(exact))?;
        Some(Reading::of(possible, decoder.figure(text)))
    };
    // of several parts the widest counts as the first; equally wide, the order of units stays
    let lost = sums.mean().max(sums.stddev()) * scales[scales.len() - 1] * LOST;
    let made = |value: f64| -> Option<Reading<Nanos>> {
        let around = |&scale: &f64| {
            // wider by more than doubles lose, so that all figures name the same unit first
            let lost = if scale == scales[0] {
                lost * 1.01
            } else {
                lost
            };
            Interval::from_f64((value * scale - lost).max(0.0), value * scale + lost)
        };
        Possible::union(scales.iter().filter_map(around)).map(Reading::unprinted)
    };
    Some(Box::new(Latency {
        min: printed(decoder, sums.min),
        max: printed(decoder, sums.max),
        mean: made(sums.mean()),
        stddev: made(sums.stddev()),
        samples: Some(sums.count),
        ..Latency::default()
    }))
}

fn histogram(counts: &[u64], buckets: Buckets) -> Latency {
    let each = if buckets.nanoseconds { 1 } else { 1000 };
    let bins: Vec<(u64, u64)> = counts
        .iter()
        .enumerate()
        .filter(|&(_, &count)| count > 0)
        .filter_map(|(bucket, &count)| {
            Some((middle(bucket as u64, buckets.coarseness)? * each, count))
        })
        .collect();
    Latency {
        samples: Some(
            bins.iter()
                .fold(0, |sum: u64, &(_, count)| sum.saturating_add(count)),
        ),
        bins,
        ..Latency::default()
    }
}

/// The middle of a bucket that joins `2^coarseness` of fio's.
fn middle(bucket: u64, coarseness: u32) -> Option<u64> {
    if coarseness == 0 {
        return bucket_middle(bucket);
    }
    let first = bucket << coarseness;
    let last = first + (1 << coarseness) - 1;
    Some(bucket_middle(first)?.midpoint(bucket_middle(last)?))
}

/// A number that was computed here, from `lo` to `hi`, widened by what rounding may lose.
fn computed<Q: Quantity>(lo: f64, hi: f64) -> Option<Reading<Q>> {
    interval(lo, hi).map(|interval| Reading::unprinted(interval.into()))
}

fn interval<Q: Quantity>(lo: f64, hi: f64) -> Option<Interval<Q>> {
    Interval::from_f64((lo - lo.abs() * LOST).max(0.0), hi + hi.abs() * LOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::fio_log;
    use crate::record::Direction;

    fn read(name: &str, text: &str, version: Option<Version>) -> (Vec<Entry>, Vec<Diagnostic>) {
        let log = Log::from_bytes(name, text.as_bytes()).unwrap();
        let block = fio_log::read(&log, &mut log.segments()).expect("a log");
        entries(&log, &block, version)
    }

    const NEW: Option<Version> = Some(Version::release(3, 33, 0));
    const OLD: Option<Version> = Some(Version::release(2, 14, 0));

    fn ends<Q: Quantity>(reading: &Option<Reading<Q>>) -> (f64, f64) {
        let reading = reading.as_ref().expect("a reading");
        (reading.lo().to_f64(), reading.hi().to_f64())
    }

    #[test]
    fn bandwidth_is_in_cut_kib() {
        let (entries, diagnostics) = read(
            "logs_bw.1.log",
            "100, 10, 0, 0\n200, 20, 0, 0\n300, 5, 1, 0\n",
            None,
        );
        assert!(diagnostics.is_empty());
        let directions: Vec<_> = entries.iter().map(|entry| entry.direction).collect();
        assert_eq!(directions, [Direction::Read, Direction::Write]);
        assert_eq!(entries[0].scope.job.as_deref(), Some("logs"));
        let spread = entries[0]
            .measurement
            .samples
            .as_ref()
            .unwrap()
            .bytes_per_sec
            .as_ref()
            .unwrap();
        assert_eq!(ends(&spread.min), (10240.0, 11263.0));
        assert_eq!(ends(&spread.max), (20480.0, 21503.0));
        let (lo, hi) = ends(&spread.mean);
        assert!(lo <= 15360.0 && hi >= 16384.0 && hi - lo < 1025.0);
        assert_eq!(spread.count, Some(2));
        assert_eq!(entries[0].measurement.bytes_per_sec, None);
    }

    #[test]
    fn latencies_need_the_version() {
        let text = "0, 4, 0, 4096\n0, 6, 0, 4096\n0, 8, 0, 4096\n";
        for (version, scale) in [(OLD, 1000.0), (NEW, 1.0)] {
            let (entries, _) = read("x_clat.1.log", text, version);
            let clat = entries[0].measurement.clat_ns.as_ref().unwrap();
            assert_eq!(ends(&clat.min), (4.0 * scale, 4.0 * scale));
            let (lo, hi) = ends(&clat.stddev);
            assert!(lo <= 2.0 * scale && hi >= 2.0 * scale && hi - lo < 1e-3);
            assert_eq!(clat.samples, Some(3));
            assert!(entries[0].warnings.is_empty());
        }
        let (entries, _) = read("x_slat.1.log", text, None);
        let slat = entries[0].measurement.slat_ns.as_ref().unwrap();
        let parts = slat.max.as_ref().unwrap().possible().parts().to_vec();
        assert_eq!(
            parts.iter().map(|part| part.lo().get()).collect::<Vec<_>>(),
            [8.0, 8000.0]
        );
        assert_eq!(entries[0].warnings[0].code, Code::UNIT_GUESSED);
    }

    #[test]
    fn window_maxima_are_the_largest() {
        let (entries, _) = read(
            "x_lat.1.log",
            "200, 5847, 20053463, 1, 0, 0\n400, 5680, 20841979, 1, 0, 0\n",
            NEW,
        );
        let lat = entries[0].measurement.lat_ns.as_ref().unwrap();
        assert_eq!(ends(&lat.max), (20_841_979.0, 20_841_979.0));
        assert_eq!(lat.max.as_ref().unwrap().printed()[0].text, "20841979");
        assert_eq!(ends(&lat.min), (5680.0, 5680.0));
    }

    #[test]
    fn histograms_add_up_their_rows() {
        let mut row = vec!["0"; 1856];
        row[127] = "2";
        row[128] = "3";
        let row = row.join(", ");
        let (entries, _) = read(
            "x_clat_hist.1.log",
            &format!("100, 1, 4096, {row}\n200, 1, 4096, {row}\n"),
            None,
        );
        let clat = entries[0].measurement.clat_ns.as_ref().unwrap();
        assert_eq!(
            (clat.samples, &clat.bins[..]),
            (Some(10), &[(127, 4), (129, 6)][..])
        );
        assert!(entries[0].warnings.is_empty());
    }

    #[test]
    fn the_kind_is_never_guessed() {
        let text = "0, 4, 0, 4096\n0, 6, 0, 4096\n0, 8, 0, 4096\n";
        for name in ["x.log", "x_clat_hist.1.log"] {
            let (entries, diagnostics) = read(name, text, NEW);
            assert!(entries.is_empty());
            assert_eq!(diagnostics[0].code, Code::LOG_KIND);
            assert!(diagnostics[0].message.starts_with("3 samples"));
        }
    }
}
