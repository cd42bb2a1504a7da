//! What is not shown, so that no record disappears without a word.
//!
//! A record without a value for any of the metrics shown takes no part in the table. Where that is
//! so for all records of a machine of an input, it is said, with the metrics that it does have.
//!
//! Place: looks at the frame beside [`crate::build`]; [`crate::cli`] prints the lines on stderr.

use polars::prelude::*;

use crate::derive;
use crate::frame::{Base, Frame, key_column};
use crate::keys::Key;
use crate::metric::{Clock, Metric, Statistic};

/// How many of [`KNOWN`] are figures of their own in a record, which are read quickly. The others
/// are noted only for records without a bandwidth.
pub const PLAIN: usize = 6;

/// Quantities and the metrics that they alone suffice for; the index is a bit in the frame's `has`.
pub const KNOWN: &[(Base, Metric)] = &[
    (Base::BytesPerSec, Metric::Bandwidth),
    (Base::Iops, Metric::Iops),
    (Base::Bytes, Metric::Bytes),
    (Base::Runtime, Metric::Runtime),
    (Base::Wall, Metric::Wall),
    (Base::Flush, Metric::Flush),
    (Base::CpuShare, Metric::Cpu),
    latency(Clock::Submission, Statistic::Mean),
    latency(Clock::Completion, Statistic::Mean),
    latency(Clock::Completion, Statistic::Percentile(50.0)),
    latency(Clock::Completion, Statistic::Percentile(99.0)),
    latency(Clock::Total, Statistic::Mean),
    latency(Clock::Total, Statistic::Percentile(99.0)),
    latency(Clock::Sync, Statistic::Mean),
];

const fn latency(clock: Clock, statistic: Statistic) -> (Base, Metric) {
    (
        Base::Latency(clock, statistic),
        Metric::Latency(clock, statistic),
    )
}

/// A line for each machine of each input that has no value of any of these metrics.
pub fn lines(frame: &Frame, metrics: &[Metric]) -> PolarsResult<Vec<String>> {
    let shown = (metrics.iter())
        .map(|m| {
            let [lo, ..] = derive::expressions(*m);
            lo.is_not_null()
        })
        .fold(col("failed"), Expr::or);
    let machines = frame.key_texts.iter().find(|(key, _)| *key == Key::MACHINE);
    let machine = match machines {
        Some(_) => col(key_column(Key::MACHINE)),
        None => lit(0u32),
    };
    let rows = frame.rows.clone().lazy().select([
        col("source"),
        machine.cast(DataType::UInt32).alias("machine"),
        shown.alias("shown"),
        col("has"),
    ]);
    let groups = rows
        .group_by_stable([col("source"), col("machine")])
        .agg([col("shown").max(), col("has").unique()])
        .filter(col("shown").not())
        .collect()?;
    let (source, machine) = (
        groups.column("source")?.u32()?,
        groups.column("machine")?.u32()?,
    );
    let has = groups.column("has")?.list()?;
    let names: Vec<String> = metrics.iter().map(Metric::to_string).collect();
    let mut out = Vec::new();
    for row in 0..groups.height() {
        let text = |texts: &[String], code: Option<u32>| {
            code.and_then(|c| texts.get(c as usize))
                .cloned()
                .unwrap_or_default()
        };
        let mut place = text(&frame.sources, source.get(row));
        let name = machines.map_or_else(String::new, |(_, texts)| text(texts, machine.get(row)));
        if !name.is_empty() && name != place {
            place = format!("{place}, {name}");
        }
        let mut bits = 0;
        if let Some(sets) = has.get_as_series(row) {
            bits = sets.u32()?.iter().flatten().fold(0, |all, set| all | set);
        }
        let there: Vec<String> = (KNOWN.iter().enumerate())
            .filter(|(bit, _)| bits & (1 << bit) != 0)
            .map(|(_, (_, metric))| metric.to_string())
            .collect();
        let there = if there.is_empty() {
            "no other metric either".to_owned()
        } else {
            format!("only {}; choose with --metric", there.join(", "))
        };
        out.push(format!(
            "{place}: not shown, no value of {}; has {there}",
            names.join(" or ")
        ));
    }
    Ok(out)
}
