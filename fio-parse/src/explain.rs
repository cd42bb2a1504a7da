//! The log with the kind of each line in the margin, and below each result what was read from it.
//!
//! ```text
//!   heading │ Small random writes
//!           │
//!   command │ fio --name=random-write --rw=randwrite --bs=4k
//!           │
//! fio group │ WRITE: bw=293MiB/s (307MB/s), io=19.2GiB (20.6GB), run=67192-67192msec
//!           ╰─▶ write, 307 MB/s, 67.2 s; MBP 2018; Small random writes
//! ```
//!
//! A block's kind stands at its first line, a dot at the lines that go on with it. Lines that were not understood
//! are called `other`, for nothing may be skipped unseen. What is odd about a result, and what the author states about
//! it, stands below it, each with its code.

use crate::block::{self, Kind};
use crate::reading::Reading;
use crate::record::{Record, ScopeKind};
use crate::source::Log;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The widest kind name, and the margin's width.
const MARGIN: usize = 12;

/// What stands in front of a line that is about the lines above it.
const BELOW: &str = "╰─▶";

/// The whole log, each line behind the kind of the block that it belongs to.
pub fn explain(log: &Log<'_>) -> String {
    let parsed = crate::parse(log);
    // a result is told below its block, or below the time that belongs to it
    let mut below: BTreeMap<u32, Vec<&Record>> = BTreeMap::new();
    for record in &parsed.records {
        let wall = record.measurement.wall_ns.as_ref();
        let time = wall.and_then(Reading::span);
        if let Some(span) = time.max(record.source.span) {
            below.entry(span.start).or_default().push(record);
        }
    }
    let mut out = String::with_capacity(log.text().len() * 2);
    let mut lines = log.segments();
    let mut other = false;
    for block in block::blocks(log) {
        let name = block.kind.name();
        let mut first = !(other && matches!(block.kind, Kind::Other));
        other = matches!(block.kind, Kind::Other);
        while lines.offset() < block.span.end {
            let Some(line) = lines.next() else { break };
            let shown = if first { name } else { "·" };
            let margin = format!("{shown:>MARGIN$} │ {}", line.text);
            let _ = writeln!(out, "{}", margin.trim_end());
            first = matches!(block.kind, Kind::Blank);
        }
        for records in below
            .range(block.span.start..block.span.end)
            .map(|(_, records)| records)
        {
            for record in records {
                result(&mut out, record);
            }
        }
    }
    out
}

/// What was read of one result.
fn result(out: &mut String, record: &Record) {
    let measurement = &record.measurement;
    let mut parts = vec![match (&record.scope.job, record.scope.kind) {
        (Some(job), ScopeKind::Job) => format!("{} of {job}", record.direction),
        (_, ScopeKind::Group) => format!("{} of the group", record.direction),
        _ => record.direction.to_string(),
    }];
    if let Some(rate) = &measurement.bytes_per_sec {
        parts.push(scaled(rate.value(), "B/s"));
    }
    if let Some(iops) = &measurement.iops {
        parts.push(scaled(iops.value(), "IOPS"));
    }
    if let Some(time) = &measurement.runtime_ns {
        parts.push(seconds(time.value()));
    }
    if let Some(wall) = &measurement.wall_ns {
        parts.push(format!("{} by the shell", seconds(wall.value())));
    }
    if let Some(error) = record.errors.first() {
        parts.push(format!("failed: {}", error.text));
    }
    let mut texts = vec![parts.join(", ")];
    let labels = record.machine.iter().chain(&record.section);
    texts.extend(labels.map(|label| {
        let doubt = if label.ambiguous {
            " (or the other label: ambiguous)"
        } else {
            ""
        };
        format!("{}{doubt}", label.text)
    }));
    if let Some(workload) = &record.workload {
        texts.push(workload.key.clone());
    }
    let _ = writeln!(out, "{:>MARGIN$} {BELOW} {}", "", texts.join("; "));
    for warning in &record.warnings {
        let _ = writeln!(
            out,
            "{:>MARGIN$} {BELOW} {}: {}",
            "", warning.code, warning.message
        );
    }
    for claim in &record.claims {
        let computed = match (claim.computed_bytes_per_sec, claim.computed_ratio) {
            (Some(rate), _) if claim.agrees_with.is_mislabelled() => {
                format!("computed {} MiB/s", digits(rate / 1_048_576.0))
            }
            (Some(rate), _) => format!("computed {}", scaled(rate, "B/s")),
            (_, Some(ratio)) => format!("computed {ratio:.3}"),
            _ if claim.computed_iops.is_some() => {
                format!(
                    "computed {}",
                    scaled(claim.computed_iops.unwrap_or(0.0), "IOPS")
                )
            }
            _ => claim.problem.clone().unwrap_or_default(),
        };
        let _ = writeln!(
            out,
            "{:>MARGIN$} {BELOW} claim: {:?}, {computed}, agrees with {}",
            "", claim.text, claim.agrees_with
        );
    }
}

/// Three digits and a decimal prefix.
fn scaled(value: f64, unit: &str) -> String {
    let (value, prefix) = match value {
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 && unit != "IOPS" => (v / 1e6, "M"),
        v if v >= 1e3 => (v / 1e3, "k"),
        v => (v, ""),
    };
    format!("{} {prefix}{unit}", digits(value))
}

fn seconds(nanoseconds: f64) -> String {
    match nanoseconds {
        ns if ns < 1e9 => format!("{} ms", digits(ns / 1e6)),
        ns => format!("{} s", digits(ns / 1e9)),
    }
}

fn digits(value: f64) -> String {
    let places = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_told_below_its_lines() {
        let text = "\
Disk A

$ dd if=/dev/zero of=a bs=1M count=100
104857600 bytes (105 MB, 100 MiB) copied, 2.5 s, 41.9 MB/s

It makes 40 MB/s.
";
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let shown = explain(&log);
        let wanted = "          dd │ 104857600 bytes (105 MB, 100 MiB) copied, 2.5 s, 41.9 MB/s
             ╰─▶ write, 41.9 MB/s, 2.50 s; Disk A; dd bs=1048576 count=100
             ╰─▶ claim: \"40 MB/s\", computed 40.0 MiB/s, agrees with window in MiB/s (labelled MB/s)
";
        assert!(shown.contains(wanted), "{shown}");
        assert!(
            shown.starts_with("     caption │ Disk A\n             │\n"),
            "{shown}"
        );
    }

    #[test]
    fn figures_have_three_digits() {
        for (value, shown) in [
            (999.6e6, "1000 MB/s"),
            (41.94e6, "41.9 MB/s"),
            (1.2e9, "1.20 GB/s"),
            (512.0, "512 B/s"),
        ] {
            assert_eq!(scaled(value, "B/s"), shown);
        }
        assert_eq!(seconds(2.3e6), "2.30 ms");
        assert_eq!(scaled(1.26e6, "IOPS"), "1260 kIOPS");
    }
}
