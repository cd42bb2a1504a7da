//! fio's terse output, version 3: a line of fields joined by semicolons per entry.
//!
//! Latencies are in microseconds, rates in KiB/s. The fields of the disk, which are the whole
//! machine's, are left out, as with fio's `disk_util=0`.
//!
//! A run that was cut short has an error in each of its lines, so that none is taken for a
//! result of the whole test; that of a signal also has fio's own line above.

use std::fmt::Write;

use super::json::aggregate_share;
use super::text::class_shares;
use crate::hist::{DEFAULT_PERCENTILES, Stat};
use crate::outcome::{Entry, FioOutcome, groups, sample_stats};
use crate::plan::fio::FioPlan;

/// Places for percentiles in a line.
const PERCENTILES: usize = 20;

/// The report on a fio test.
pub fn fio(plan: &FioPlan, outcome: &FioOutcome) -> String {
    let mut text = String::new();
    if let Some(signal) = outcome.signal {
        let _ = write!(text, "\nfio: terminating on signal {signal}\n");
    }
    for group in groups(plan, outcome) {
        for entry in &group.entries {
            text += &line(group.number, entry);
            text.push('\n');
        }
    }
    text
}

fn line(group: u32, entry: &Entry<'_>) -> String {
    let name = field(&entry.job.name);
    let error = entry.error();
    let code = error.as_ref().map_or(0, |error| error.code);
    let mut text = format!(
        "3;fio-replay-{};{name};{group};{code}",
        env!("CARGO_PKG_VERSION")
    );
    direction(&mut text, entry, 0);
    direction(&mut text, entry, 1);
    let usage = entry.usage.unwrap_or_default();
    let _ = write!(
        text,
        ";{:.6}%;{:.6}%;{};{};{}",
        entry.cpu_share(usage.user_ns),
        entry.cpu_share(usage.system_ns),
        usage.switches,
        usage.major_faults,
        usage.minor_faults
    );
    let ios = entry.flows[0].ios + entry.flows[1].ios;
    for &count in &entry.depths {
        let share = if count == 0 || ios == 0 {
            0.0
        } else {
            (count as f64 * 100.0 / ios as f64).max(0.1)
        };
        let _ = write!(text, ";{share:.1}%");
    }
    // Version 3 has no classes of nanoseconds.
    for share in &class_shares(entry)[10..] {
        let _ = write!(text, ";{share:.2}%");
    }
    if let Some(error) = error {
        let _ = write!(text, ";{code};{}", field(&error.sentence()));
    }
    text
}

/// A text as one field: a semicolon or a line end in it would shift every field behind it.
fn field(text: &str) -> String {
    text.chars()
        .map(|c| if c == ';' || c.is_control() { '_' } else { c })
        .collect()
}

fn direction(text: &mut String, entry: &Entry<'_>, index: usize) {
    let flow = &entry.flows[index];
    let figures = entry.figures(index);
    let _ = match figures {
        Some(figures) => write!(
            text,
            ";{};{};{};{}",
            figures.bytes >> 10,
            figures.bytes_per_sec >> 10,
            figures.iops as u64,
            figures.runtime_ms
        ),
        None => write!(text, ";0;0;0;0"),
    };
    latency(text, &flow.slat);
    latency(text, &flow.clat);
    let values = flow.clat_histogram.percentiles(&DEFAULT_PERCENTILES);
    let mut places = DEFAULT_PERCENTILES.iter().zip(&values);
    for _ in 0..PERCENTILES {
        let _ = match places.next() {
            Some((percentile, value)) => write!(text, ";{percentile:.6}%={}", value / 1000),
            None => write!(text, ";0%=0"),
        };
    }
    latency(text, &flow.lat);
    let samples = figures.and_then(|figures| Some((figures, sample_stats(entry, index)?.0)));
    let _ = match samples {
        Some((figures, rates)) => write!(
            text,
            ";{};{};{:.6}%;{:.6};{:.6}",
            rates.min as u64,
            rates.max as u64,
            aggregate_share(&rates, figures.bytes_per_sec),
            rates.mean,
            rates.stddev
        ),
        None => write!(text, ";0;0;0.000000%;0.000000;0.000000"),
    };
}

/// Minimum, maximum, mean and deviation, in microseconds.
fn latency(text: &mut String, stat: &Stat) {
    let _ = write!(
        text,
        ";{};{};{:.6};{:.6}",
        stat.min() / 1000,
        stat.max() / 1000,
        stat.mean() / 1000.0,
        stat.stddev() / 1000.0
    );
}
