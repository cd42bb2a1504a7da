//! fio's normal output, in the form it has since 3.0, over an outcome.
//!
//! Numbers go through fio's own printer, so what reads fio's output reads this. Disk
//! statistics, which are the whole machine's, are left out. After each group come lines of our own: the rate while writing, the
//! flush, and both together.

use std::fmt::Write;
use std::time::SystemTime;

use super::date::date;
use super::{binary_bytes, binary_rate, count, decimal_bytes, decimal_rate, write_and_flush};
use crate::hist::{CLASS_BOUNDS, CLASSES, DEFAULT_PERCENTILES, Histogram, Stat};
use crate::outcome::{Entry, FioOutcome, Group, GroupFigures, groups, sample_stats};
use crate::plan::fio::FioPlan;
use crate::plan::job::{JobPlan, Sizes};
use crate::plan::note::plain_text as escaped;
use crate::worker::DEPTH_LEVELS;

/// The report on a fio test.
pub fn fio(plan: &FioPlan, outcome: &FioOutcome) -> String {
    let mut text = header(plan);
    text.push('\n');
    let groups = groups(plan, outcome);
    for group in &groups {
        for entry in &group.entries {
            block(&mut text, group.number, entry, outcome.ended);
        }
    }
    for group in &groups {
        status(&mut text, group);
    }
    text
}

/// The job header lines and what is started.
fn header(plan: &FioPlan) -> String {
    let mut text = String::new();
    for (index, job) in plan.jobs.iter().enumerate() {
        if job.clone == 0 {
            // In bytes, for fio's printer rounds what it scales, and this is read back.
            let bounds = |sizes: &Sizes| format!("{}B-{}B", sizes.smallest(), sizes.largest());
            let [read, write] = [0, 1].map(|way| bounds(&job.sizes[way]));
            let _ = writeln!(
                text,
                "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, (T) {read}, ioengine={}, iodepth={}",
                escaped(&job.name),
                job.group,
                job.pattern.name(),
                job.asked_engine,
                job.asked_depth
            );
        } else if job.clone == 1 && index > 0 {
            text += "...\n";
        }
    }
    let _ = writeln!(text, "fio-replay-{}", env!("CARGO_PKG_VERSION"));
    let threads = plan.jobs.len();
    let _ = writeln!(
        text,
        "Starting {threads} thread{}",
        if threads == 1 { "" } else { "s" }
    );
    text
}

fn bare_size(bytes: u32) -> String {
    binary_bytes(u64::from(bytes))
}

/// One job block.
fn block(text: &mut String, group: u32, entry: &Entry<'_>, ended: SystemTime) {
    let job = entry.job;
    let error = entry.error().map_or_else(
        || "err= 0".to_owned(),
        |failure| {
            let words = std::io::Error::from_raw_os_error(failure.code).to_string();
            let words = words
                .split(" (os error")
                .next()
                .unwrap_or_default()
                .to_owned();
            format!(
                "err={:2} (file:replay, func={}, error={words})",
                failure.code,
                escaped(&failure.what)
            )
        },
    );
    let (name, pid) = (escaped(&job.name), std::process::id());
    let _ = writeln!(
        text,
        "{name}: (groupid={group}, jobs={}): {error}: pid={pid}: {}",
        entry.jobs,
        date(ended)
    );
    for (index, direction) in ["read", "write"].into_iter().enumerate() {
        flow(text, entry, index, direction);
    }
    class_lines(text, entry);
    if entry.syncs.count > 0 {
        text.push_str("  fsync/fdatasync/sync_file_range:\n");
        latency_line(text, "    sync", &entry.syncs.lat);
        percentile_lines(text, "sync", &entry.syncs.histogram);
    }
    if let Some(usage) = &entry.usage {
        let _ = writeln!(
            text,
            "  cpu          : usr={:3.2}%, sys={:3.2}%, ctx={}, majf={}, minf={}",
            entry.cpu_share(usage.user_ns),
            entry.cpu_share(usage.system_ns),
            usage.switches,
            usage.major_faults,
            usage.minor_faults
        );
    }
    // Like fio: the share is of I/Os without syncs, so that syncs may make it exceed 100 %.
    let ios = entry.flows[0].ios + entry.flows[1].ios;
    shares(
        text,
        "  IO depths    : ",
        ["1", "2", "4", "8", "16", "32", ">=64"],
        &entry.depths,
        ios,
    );
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    shares(
        text,
        "     submit    : ",
        batches,
        &entry.submits,
        entry.submits.iter().sum(),
    );
    shares(
        text,
        "     complete  : ",
        batches,
        &entry.completes,
        entry.completes.iter().sum(),
    );
    let [reads, writes] = &entry.flows;
    let _ = writeln!(
        text,
        "     issued rwts: total={},{},0,{} short={},{},0,0 dropped=0,0,0,0",
        reads.ios, writes.ios, entry.syncs.count, reads.short, writes.short
    );
    let _ = writeln!(
        text,
        "     latency   : target=0, window=0, percentile=100.00%, depth={}",
        job.asked_depth
    );
}

/// The lines of one direction.
fn flow(text: &mut String, entry: &Entry<'_>, index: usize, direction: &str) {
    let Some(figures) = entry.figures(index) else {
        return;
    };
    let flow = &entry.flows[index];
    let _ = writeln!(
        text,
        "  {direction}: IOPS={}, BW={} ({})({}/{}msec)",
        count(figures.iops as u64),
        binary_rate(figures.bytes_per_sec),
        decimal_rate(figures.bytes_per_sec),
        binary_bytes(figures.bytes),
        figures.runtime_ms
    );
    latency_line(text, "    slat", &flow.slat);
    latency_line(text, "    clat", &flow.clat);
    latency_line(text, "     lat", &flow.lat);
    percentile_lines(text, "clat", &flow.clat_histogram);
    if let Some((mut rates, iops)) = sample_stats(entry, index) {
        let agg = figures.bytes_per_sec as f64 / 1024.0;
        let per = if agg > 0.0 {
            (rates.mean * 100.0 / agg).min(100.0)
        } else {
            0.0
        };
        let unit = if rates.mean > 1024.0 * 1024.0 {
            for value in [
                &mut rates.min,
                &mut rates.max,
                &mut rates.mean,
                &mut rates.stddev,
            ] {
                *value /= 1024.0;
            }
            "MiB"
        } else {
            "KiB"
        };
        let _ = writeln!(
            text,
            "   bw ({unit:>5}/s): min={:5}, max={:5}, per={per:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}",
            rates.min as u64, rates.max as u64, rates.mean, rates.stddev, rates.count
        );
        let _ = writeln!(
            text,
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
            iops.min as u64, iops.max as u64, iops.mean, iops.stddev, iops.count
        );
    }
}

/// A `min, max, avg, stdev` line, scaled to nsec, usec or msec by fio's rule.
fn latency_line(text: &mut String, title: &str, stat: &Stat) {
    if stat.count() == 0 {
        return;
    }
    let (mut min, mut max, mut mean, mut stddev) =
        (stat.min(), stat.max(), stat.mean(), stat.stddev());
    let mut unit = "nsec";
    for larger in ["usec", "msec"] {
        if !(min > 2000 && max > 99_999 && stddev > 1000.0) {
            break;
        }
        (min, max, mean, stddev) = (min / 1000, max / 1000, mean / 1000.0, stddev / 1000.0);
        unit = larger;
    }
    let _ = writeln!(
        text,
        "{title} ({unit}): min={}, max={}, avg={mean:5.2}, stdev={stddev:5.2}",
        six(min),
        six(max)
    );
}

/// Latency bounds are printed six characters wide.
fn six(value: u64) -> String {
    let printer = fio_parse::figure::fio::FioPrinter {
        width: 6,
        ..super::MODERN
    };
    fio_parse::figure::fio::print(value, printer, false, "")
}

/// The percentile table: values in the unit that the smallest and largest allow, rounded up.
fn percentile_lines(text: &mut String, title: &str, histogram: &Histogram) {
    let mut values = histogram.percentiles(&DEFAULT_PERCENTILES);
    let (Some(&smallest), Some(&largest)) = (values.first(), values.last()) else {
        return;
    };
    let (unit, divide) = if smallest > 2_000_000 && largest > 99_999_999 {
        ("msec", 1_000_000)
    } else if smallest > 2000 && largest > 99_999 {
        ("usec", 1000)
    } else {
        ("nsec", 1)
    };
    values
        .iter_mut()
        .for_each(|value| *value = value.div_ceil(divide));
    let width = values
        .iter()
        .map(|value| value.to_string().len())
        .max()
        .unwrap_or(0)
        .max(5);
    let _ = writeln!(text, "    {title} percentiles ({unit}):");
    // 80 columns less the margin; an item is `99.99th=[`, the value, `], `.
    let per_line = (73 / (width + 12)).max(1);
    let items: Vec<String> = DEFAULT_PERCENTILES
        .iter()
        .zip(&values)
        .map(|(percentile, value)| format!("{percentile:5.2}th=[{value:width$}]"))
        .collect();
    let lines = items
        .chunks(per_line)
        .map(|line| format!("     | {}", line.join(", ")));
    let _ = writeln!(text, "{}", lines.collect::<Vec<_>>().join(",\n"));
}

/// The coarse distribution of all completion latencies, in the units that occur.
fn class_lines(text: &mut String, entry: &Entry<'_>) {
    /// Most classes on a line.
    const PER_LINE: usize = 5;
    let shares = class_shares(entry);
    for (unit, classes) in ["nsec", "usec", "msec"]
        .into_iter()
        .zip([0..10, 10..20, 20..32])
    {
        let items: Vec<String> = shares[classes.clone()]
            .iter()
            .enumerate()
            .filter(|(_, share)| **share > 0.0)
            .map(|(index, share)| format!("{}={share:3.2}%", class_name(index)))
            .collect();
        for line in items.chunks(PER_LINE) {
            let _ = writeln!(text, "  lat ({unit})   : {}", line.join(", "));
        }
    }
}

/// Shares of the latency classes of reads and writes together, per cent. fio never rounds
/// one down to nothing: what is not zero is at least 0.01.
pub(super) fn class_shares(entry: &Entry<'_>) -> [f64; CLASSES] {
    let mut counts = [0u64; CLASSES];
    for flow in &entry.flows {
        for (sum, count) in counts.iter_mut().zip(flow.clat_histogram.classes()) {
            *sum += count;
        }
    }
    let all = counts.iter().sum::<u64>().max(1) as f64;
    counts.map(|count| {
        if count == 0 {
            0.0
        } else {
            (count as f64 * 100.0 / all).max(0.01)
        }
    })
}

/// What fio calls the class with this number in its unit: the upper bound.
pub(super) fn class_name(index: usize) -> String {
    match CLASS_BOUNDS.get(index) {
        Some(bound) => bound.to_string(),
        None if index == CLASS_BOUNDS.len() => "2000".to_owned(),
        None => ">=2000".to_owned(),
    }
}

/// A line of shares; one that is not zero shows at least 0.1 %.
fn shares(
    text: &mut String,
    title: &str,
    names: [&str; DEPTH_LEVELS],
    counts: &[u64; DEPTH_LEVELS],
    total: u64,
) {
    let shares = names.iter().zip(counts).map(|(name, &count)| {
        let share = if total == 0 {
            0.0
        } else {
            count as f64 * 100.0 / total as f64
        };
        let share = if count > 0 { share.max(0.1) } else { 0.0 };
        format!("{name}={share:3.1}%")
    });
    let _ = writeln!(text, "{title}{}", shares.collect::<Vec<_>>().join(", "));
}

/// The status lines of a group, and our own about writing and flushing.
fn status(text: &mut String, group: &Group<'_>) {
    let _ = writeln!(text, "\nRun status group {} (all jobs):", group.number);
    for (index, title) in ["   READ", "  WRITE"].into_iter().enumerate() {
        let Some(GroupFigures {
            all,
            rates: (slowest, fastest),
            runtimes_ms: (shortest, longest),
        }) = group.figures(index)
        else {
            continue;
        };
        let _ = writeln!(
            text,
            "{title}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={shortest}-{longest}msec",
            binary_rate(all.bytes_per_sec),
            decimal_rate(all.bytes_per_sec),
            binary_rate(slowest),
            binary_rate(fastest),
            decimal_rate(slowest),
            decimal_rate(fastest),
            binary_bytes(all.bytes),
            decimal_bytes(all.bytes),
        );
    }
    let writing: Vec<&Entry<'_>> = group
        .entries
        .iter()
        .filter(|entry| entry.flows[1].ios > 0)
        .collect();
    for entry in writing {
        let name = escaped(&entry.job.name);
        let _ = writeln!(text, "\n{name}, writing and flushing apart:");
        text.push_str(&write_and_flush(
            entry.flows[1].bytes,
            entry.io_phase_ns,
            entry.flush_ns,
            entry.flush_inside,
            entry.flush_of_ramp,
        ));
    }
}

/// In one line what a job does, for plans.
pub fn job_line(job: &JobPlan) -> String {
    let mut text = format!("{} {}", escaped(&job.name), job.pattern.name());
    let bounds = |sizes: &Sizes| match (sizes.smallest(), sizes.largest()) {
        (low, high) if low == high => bare_size(low),
        (low, high) => format!("{} to {}", bare_size(low), bare_size(high)),
    };
    let [read, write] = &job.sizes;
    let _ = if job.pattern.mixed() && read != write {
        write!(
            text,
            " in blocks of {} (reads) and {} (writes)",
            bounds(read),
            bounds(write)
        )
    } else {
        write!(
            text,
            " in blocks of {}",
            bounds(if job.pattern.reads { read } else { write })
        )
    };
    if job.pattern.mixed() {
        let _ = write!(text, ", {} % reads", job.mix_read);
    }
    let _ = write!(text, ", engine {}, depth {}", job.engine.name(), job.depth);
    for (on, word) in [
        (job.direct, "direct"),
        (job.sync, "O_SYNC"),
        (job.dsync, "O_DSYNC"),
        (job.syncs.end_fsync, "end_fsync"),
        (job.syncs.on_close, "fsync_on_close"),
    ] {
        if on {
            let _ = write!(text, ", {word}");
        }
    }
    for (every, word) in [
        (job.syncs.fsync_every, "fsync"),
        (job.syncs.fdatasync_every, "fdatasync"),
    ] {
        if every > 0 {
            let _ = write!(text, ", {word} after every {every} writes");
        }
    }
    if job.loops > 1 {
        let _ = write!(text, ", {} passes", job.loops);
    }
    text
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
