//! fio's JSON and JSON+ in the form of 3.x, so that what reads fio's files reads these.
//!
//! JSON+ adds the histogram's bins. What fio prints from facts that are not kept (disk
//! statistics, trims) is there with zeros or empty, for its readers look for the keys.

use std::fmt::Write;

use super::date::{date, unix_ms};
use super::job::asked as options_asked;
use super::text::{class_name, class_shares};
use crate::hist::{DEFAULT_PERCENTILES, Histogram, Stat};
use crate::outcome::{Entry, FioOutcome, SampleStats, groups, sample_stats};
use crate::plan::fio::FioPlan;
use crate::worker::DEPTH_LEVELS;

/// A JSON value whose keys keep their order.
#[derive(Debug, Clone, PartialEq)]
enum Json {
    Whole(u64),
    /// Six decimals, as fio prints them.
    Real(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    /// JSON already.
    Ready(String),
}

/// An object from names and values.
fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.map(|(name, value)| (name.to_owned(), value)).into())
}

impl Json {
    fn push(&mut self, name: &str, value: Json) {
        if let Json::Object(fields) = self {
            fields.push((name.to_owned(), value));
        }
    }

    /// In fio's layout: two blanks a level, a blank before each colon.
    fn print(&self, text: &mut String, level: usize) {
        let items = |text: &mut String,
                     brackets: [char; 2],
                     count: usize,
                     item: &mut dyn FnMut(&mut String, usize)| {
            text.push(brackets[0]);
            for index in 0..count {
                let comma = if index > 0 { "," } else { "" };
                let _ = write!(text, "{comma}\n{:width$}", "", width = 2 * (level + 1));
                item(text, index);
            }
            let _ = write!(text, "\n{:width$}{}", "", brackets[1], width = 2 * level);
        };
        match self {
            Json::Whole(number) => {
                let _ = write!(text, "{number}");
            }
            Json::Real(number) => {
                let _ = write!(text, "{number:.6}");
            }
            Json::Text(value) => quote(text, value),
            Json::Ready(value) => text.push_str(value),
            Json::List(list) => items(text, ['[', ']'], list.len(), &mut |text, index| {
                list[index].print(text, level + 1);
            }),
            Json::Object(fields) => items(text, ['{', '}'], fields.len(), &mut |text, index| {
                quote(text, &fields[index].0);
                text.push_str(" : ");
                fields[index].1.print(text, level + 1);
            }),
        }
    }
}

fn quote(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

/// The report on a fio test; with `bins` it is JSON+. `own` is what fio's form has no place for, a
/// JSON object in one line, under a key that fio's readers pass over.
pub fn fio(plan: &FioPlan, outcome: &FioOutcome, bins: bool, own: Option<String>) -> String {
    let groups = groups(plan, outcome);
    let entries = groups
        .iter()
        .flat_map(|group| group.entries.iter().map(|entry| (group.number, entry)));
    // fio has one time for all jobs: that of the whole run, whole milliseconds, in seconds that
    // were begun.
    let elapsed_s = (outcome.elapsed_ns / 1_000_000).div_ceil(1000).max(1);
    let jobs = entries
        .map(|(group, entry)| job(plan, group, entry, elapsed_s, bins))
        .collect();
    let ms = unix_ms(outcome.ended);
    let mut report = object([
        (
            "fio version",
            Json::Text(format!("fio-replay-{}", env!("CARGO_PKG_VERSION"))),
        ),
        ("timestamp", Json::Whole(ms / 1000)),
        ("timestamp_ms", Json::Whole(ms)),
        ("time", Json::Text(date(outcome.ended))),
        ("jobs", Json::List(jobs)),
        ("disk_util", Json::List(Vec::new())),
    ]);
    if let Some(own) = own {
        report.push("fio-replay", Json::Ready(own));
    }
    let mut text = String::new();
    report.print(&mut text, 0);
    text.push('\n');
    text
}

fn job(plan: &FioPlan, group: u32, entry: &Entry<'_>, elapsed_s: u64, bins: bool) -> Json {
    let mut asked = object([("name", Json::Text(entry.job.name.clone()))]);
    for (name, value) in options_asked(plan, entry.job) {
        asked.push(name, Json::Text(value));
    }
    let mut job = object([
        ("jobname", Json::Text(entry.job.name.clone())),
        ("groupid", Json::Whole(group.into())),
        (
            "error",
            Json::Whole(
                entry
                    .error()
                    .map_or(0, |error| error.code.unsigned_abs().into()),
            ),
        ),
        ("eta", Json::Whole(0)),
        ("elapsed", Json::Whole(elapsed_s)),
        ("job options", asked),
        ("read", direction(entry, Some(0), bins)),
        ("write", direction(entry, Some(1), bins)),
        ("trim", direction(entry, None, bins)),
    ]);
    let mut sync = object([("total_ios", Json::Whole(entry.syncs.count))]);
    sync.push(
        "lat_ns",
        latency(&entry.syncs.lat, Some(&entry.syncs.histogram), bins),
    );
    job.push("sync", sync);
    job.push(
        "job_runtime",
        Json::Whole(entry.thread_ns.div_ceil(1_000_000)),
    );
    if let Some(usage) = entry.usage {
        let share = |ns: u64| Json::Real(entry.cpu_share(ns));
        job.push("usr_cpu", share(usage.user_ns));
        job.push("sys_cpu", share(usage.system_ns));
        job.push("ctx", Json::Whole(usage.switches));
        job.push("majf", Json::Whole(usage.major_faults));
        job.push("minf", Json::Whole(usage.minor_faults));
    }
    let ios = entry.flows[0].ios + entry.flows[1].ios;
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    job.push("iodepth_level", shares(depths, &entry.depths, ios));
    job.push(
        "iodepth_submit",
        shares(batches, &entry.submits, entry.submits.iter().sum()),
    );
    job.push(
        "iodepth_complete",
        shares(batches, &entry.completes, entry.completes.iter().sum()),
    );
    let classes = class_shares(entry);
    for (name, range) in [
        ("latency_ns", 0..10),
        ("latency_us", 10..20),
        ("latency_ms", 20..32),
    ] {
        let shares = classes[range].iter().enumerate();
        job.push(
            name,
            Json::Object(
                shares
                    .map(|(index, &share)| (class_name(index), Json::Real(share)))
                    .collect(),
            ),
        );
    }
    for (name, value) in [
        ("latency_depth", entry.job.asked_depth),
        ("latency_target", 0),
    ] {
        job.push(name, Json::Whole(value.into()));
    }
    job.push("latency_percentile", Json::Real(100.0));
    job.push("latency_window", Json::Whole(0));
    job
}

fn shares(names: [&str; DEPTH_LEVELS], counts: &[u64; DEPTH_LEVELS], all: u64) -> Json {
    let share = |count: u64| match (count, all) {
        (0, _) | (_, 0) => 0.0,
        // As in the text: what is not zero shows.
        (count, all) => (count as f64 * 100.0 / all as f64).max(0.1),
    };
    let pairs = names.iter().zip(counts);
    Json::Object(
        pairs
            .map(|(name, &count)| ((*name).to_owned(), Json::Real(share(count))))
            .collect(),
    )
}

/// One direction; none for trims, of which there are none.
fn direction(entry: &Entry<'_>, index: Option<usize>, bins: bool) -> Json {
    let flow = index.map(|index| &entry.flows[index]);
    let figures = index.and_then(|index| entry.figures(index));
    let whole = |value: Option<u64>| Json::Whole(value.unwrap_or(0));
    let bytes = figures.map(|figures| figures.bytes);
    let rate = figures.map(|figures| figures.bytes_per_sec);
    let mut part = object([
        ("io_bytes", whole(bytes)),
        ("io_kbytes", whole(bytes.map(|bytes| bytes >> 10))),
        ("bw_bytes", whole(rate)),
        ("bw", whole(rate.map(|rate| rate >> 10))),
        (
            "iops",
            Json::Real(figures.map_or(0.0, |figures| figures.iops)),
        ),
        ("runtime", whole(figures.map(|figures| figures.runtime_ms))),
        ("total_ios", whole(flow.map(|flow| flow.ios))),
        ("short_ios", whole(flow.map(|flow| flow.short))),
        ("drop_ios", Json::Whole(0)),
    ]);
    let none = Stat::EMPTY;
    part.push(
        "slat_ns",
        latency(flow.map_or(&none, |flow| &flow.slat), None, bins),
    );
    part.push(
        "clat_ns",
        latency(
            flow.map_or(&none, |flow| &flow.clat),
            flow.map(|flow| &flow.clat_histogram),
            bins,
        ),
    );
    part.push(
        "lat_ns",
        latency(flow.map_or(&none, |flow| &flow.lat), None, bins),
    );
    if let Some((corrected, index)) = entry.corrected.as_deref().zip(index) {
        // From when each I/O was due: `lat_ns` leaves out what late I/Os waited for.
        let percentiles = DEFAULT_PERCENTILES
            .iter()
            .zip(corrected[index].percentiles(&DEFAULT_PERCENTILES))
            .map(|(percentile, ns)| (format!("{percentile:.6}"), Json::Whole(ns)));
        let percentiles = Json::Object(percentiles.collect());
        part.push("lat_from_due_ns", object([("percentile", percentiles)]));
    }
    let samples = index
        .filter(|_| figures.is_some())
        .and_then(|index| sample_stats(entry, index));
    let nothing = SampleStats {
        min: 0.0,
        max: 0.0,
        mean: 0.0,
        stddev: 0.0,
        count: 0,
    };
    let (rates, iops) = samples.unwrap_or((nothing, nothing));
    let share = aggregate_share(&rates, rate.unwrap_or(0));
    for (name, value) in [
        ("bw_min", Json::Whole(rates.min as u64)),
        ("bw_max", Json::Whole(rates.max as u64)),
        ("bw_agg", Json::Real(share)),
        ("bw_mean", Json::Real(rates.mean)),
        ("bw_dev", Json::Real(rates.stddev)),
        ("bw_samples", Json::Whole(rates.count)),
        ("iops_min", Json::Whole(iops.min as u64)),
        ("iops_max", Json::Whole(iops.max as u64)),
        ("iops_mean", Json::Real(iops.mean)),
        ("iops_stddev", Json::Real(iops.stddev)),
        ("iops_samples", Json::Whole(iops.count)),
    ] {
        part.push(name, value);
    }
    part
}

/// fio's `per`: the mean of the windows as a share of the rate over all, per cent.
pub(super) fn aggregate_share(rates: &SampleStats, bytes_per_sec: u64) -> f64 {
    if bytes_per_sec == 0 {
        return 0.0;
    }
    (rates.mean * 100.0 / (bytes_per_sec as f64 / 1024.0)).min(100.0)
}

fn latency(stat: &Stat, histogram: Option<&Histogram>, bins: bool) -> Json {
    let mut part = object([
        ("min", Json::Whole(stat.min())),
        ("max", Json::Whole(stat.max())),
        ("mean", Json::Real(stat.mean())),
        ("stddev", Json::Real(stat.stddev())),
        ("N", Json::Whole(stat.count())),
    ]);
    let Some(histogram) = histogram.filter(|_| stat.count() > 0) else {
        return part;
    };
    let values = histogram.percentiles(&DEFAULT_PERCENTILES);
    let percentiles = DEFAULT_PERCENTILES.iter().zip(values);
    part.push(
        "percentile",
        Json::Object(
            percentiles
                .map(|(p, value)| (format!("{p:.6}"), Json::Whole(value)))
                .collect(),
        ),
    );
    if bins {
        let bins = histogram
            .bins()
            .map(|(value, count)| (value.to_string(), Json::Whole(count)));
        part.push("bins", Json::Object(bins.collect()));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_fio_s_and_the_text_is_json() {
        let mut json = object([
            ("a b", Json::Whole(1)),
            ("list", Json::List(vec![Json::Real(0.5)])),
        ]);
        json.push("text", Json::Text("q\"\\\u{1b}".to_owned()));
        let mut text = String::new();
        json.print(&mut text, 0);
        assert_eq!(
            text,
            "{\n  \"a b\" : 1,\n  \"list\" : [\n    0.500000\n  ],\n  \"text\" : \"q\\\"\\\\\\u001b\"\n}"
        );
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["text"], "q\"\\\u{1b}");
    }

    #[test]
    fn an_empty_latency_has_fio_s_zeros() {
        let mut text = String::new();
        latency(&Stat::EMPTY, Some(&Histogram::new()), true).print(&mut text, 0);
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&read["min"], &read["N"]), (&0.into(), &0.into()));
        assert!(read.get("bins").is_none());
    }
}
