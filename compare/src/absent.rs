//! What is not shown, so that no record disappears without a word.
//!
//! A record without a value for any of the metrics shown takes no part in the table. Where that is
//! so for all records of a machine of an input, it is said, with the metrics that it does have.
//!
//! Place: looks at the frame beside [`crate::build`]; [`crate::cli`] prints the lines on stderr.

use std::collections::HashMap;

use polars::prelude::*;

use crate::frame::{Base, Frame, key_column};
use crate::keys::Key;
use crate::metric::{Clock, Metric, Sampled, Statistic};

/// How many of [`KNOWN`] are figures of their own in a record, which are read quickly. The others
/// are noted only for records without a bandwidth.
pub const PLAIN: usize = 6;

/// The bit of records of which only the quantities asked for were read.
pub const UNSEEN: u32 = 1 << 31;

/// Quantities and the metrics that they alone suffice for; the index is a bit in the frame's `has`.
pub const KNOWN: &[(Base, Metric)] = &[
    (Base::BytesPerSec, Metric::Bandwidth),
    (Base::Iops, Metric::Iops),
    (Base::Bytes, Metric::Bytes),
    (Base::Runtime, Metric::Runtime),
    (Base::Wall, Metric::Wall),
    (Base::Flush, Metric::Flush),
    (Base::CpuShare, Metric::Cpu),
    samples(Sampled::Bandwidth),
    samples(Sampled::Iops),
    latency(Clock::Submission, Statistic::Mean),
    latency(Clock::Completion, Statistic::Mean),
    latency(Clock::Completion, Statistic::Percentile(50.0)),
    latency(Clock::Completion, Statistic::Percentile(99.0)),
    latency(Clock::Total, Statistic::Mean),
    latency(Clock::Total, Statistic::Percentile(99.0)),
    latency(Clock::Sync, Statistic::Mean),
];

const fn samples(sampled: Sampled) -> (Base, Metric) {
    (
        Base::Samples(sampled, Statistic::Mean),
        Metric::Samples(sampled, Statistic::Mean),
    )
}

const fn latency(clock: Clock, statistic: Statistic) -> (Base, Metric) {
    (
        Base::Latency(clock, statistic),
        Metric::Latency(clock, statistic),
    )
}

/// A line for each machine of each input that has no value of any of these metrics.
/// `with` says which contexts have each of them.
pub fn lines(frame: &Frame, metrics: &[Metric], with: &[Vec<bool>]) -> PolarsResult<Vec<String>> {
    let contexts = &frame.contexts;
    let codes = |name: &str| -> PolarsResult<Vec<u32>> {
        let column = contexts.column(name)?.u32()?;
        Ok(column.iter().map(|c| c.unwrap_or(0)).collect())
    };
    let failed = contexts.column("failed")?.bool()?;
    let mut shown: Vec<bool> = failed.iter().map(|f| f == Some(true)).collect();
    for with in with {
        for (shown, with) in shown.iter_mut().zip(with) {
            *shown |= with;
        }
    }
    let machines = frame.key_texts.iter().find(|(key, _)| *key == Key::MACHINE);
    let machine_codes = match machines {
        Some(_) => codes(&key_column(Key::MACHINE))?,
        None => vec![0; shown.len()],
    };
    // Source and machine, whether anything of it is shown, what it has.
    let mut groups: Vec<((u32, u32), bool, u32)> = Vec::new();
    let mut known: HashMap<(u32, u32), usize> = HashMap::new();
    let all = codes("source")?.into_iter().zip(machine_codes);
    for ((name, shown), has) in all.zip(shown).zip(codes("has")?) {
        let at = *known.entry(name).or_insert_with(|| {
            groups.push((name, false, 0));
            groups.len() - 1
        });
        groups[at].1 |= shown;
        groups[at].2 |= has;
    }
    let names: Vec<String> = metrics.iter().map(Metric::to_string).collect();
    let mut out = Vec::new();
    for ((source, machine), _, bits) in groups.into_iter().filter(|(_, shown, _)| !shown) {
        let text =
            |texts: &[String], code: u32| texts.get(code as usize).cloned().unwrap_or_default();
        let mut place = text(&frame.sources, source);
        let name = machines.map_or_else(String::new, |(_, texts)| text(texts, machine));
        if !name.is_empty() && name != place {
            place = format!("{place}, {name}");
        }
        let there: Vec<String> = (KNOWN.iter().enumerate())
            .filter(|(bit, _)| bits & (1 << bit) != 0)
            .map(|(_, (_, metric))| metric.to_string())
            .collect();
        let there = if bits & UNSEEN != 0 {
            "--list shows what it has".to_owned()
        } else if there.is_empty() {
            "--list shows what it has, if anything".to_owned()
        } else {
            format!(
                "has {}; --list shows all it has, --metric chooses",
                there.join(", ")
            )
        };
        out.push(format!(
            "{place}: not shown, no value of {}; {there}",
            names.join(" or ")
        ));
    }
    Ok(out)
}
