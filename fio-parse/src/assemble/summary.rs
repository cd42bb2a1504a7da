//! Summaries of other tools to measurements, and what is known to be wrong with them.
//!
//! Rates stand for what the tool's figures can say at most. nench shows dd's two or three digits as MiB/s with two
//! decimals, so its figures are widened to what dd had printed; means are widened likewise. bench.sh multiplies by
//! 1024 what dd printed in GB/s (a thousand MB/s) and calls it MB/s; its mean is then up to 2.4 percent too large.

use super::dd::figures::plain;
use crate::block::summary::{Row, SummaryBlock, Tool};
use crate::diagnostic::{Code, Diagnostic};
use crate::figure::Figure;
use crate::figure::human::{self, Rounding, Step};
use crate::interval::{Interval, Possible};
use crate::reading::Reading;
use crate::record::{Direction, Measurement};
use crate::source::Span;
use crate::unit::{Bytes, BytesPerSec, Nanos, Quantity};

/// One row of a summary, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'t> {
    /// What the tool calls it; empty where it has one figure only.
    pub label: Figure<'t>,
    /// Which way the bytes went.
    pub direction: Direction,
    /// The readings.
    pub measurement: Measurement,
    /// Whether it is a mean of the others.
    pub average: bool,
    /// Where it stands.
    pub span: Span,
    /// What is odd about it.
    pub warnings: Vec<Diagnostic>,
}

/// Decodes the rows of a summary.
pub fn measurements<'t>(block: &SummaryBlock<'t>) -> Vec<Line<'t>> {
    let mut lines: Vec<Line<'t>> = block.rows.iter().map(|row| line(block, row)).collect();
    check_means(block.tool, &mut lines);
    lines
}

/// Warns of a mean that lies outside of what it is the mean of: the runs of its direction since the mean above it.
fn check_means(tool: Tool, lines: &mut [Line<'_>]) {
    if tool == Tool::Ddrescue {
        // its mean is over time, and what it shows beside are moments
        return;
    }
    // how many there are, and between what they lie
    let mut runs: [(u32, f64, f64); 4] = [(0, f64::MAX, 0.0); 4];
    for line in lines {
        let Some(rate) = &line.measurement.bytes_per_sec else {
            continue;
        };
        let runs = &mut runs[line.direction as usize];
        let (lo, hi) = (rate.lo().get(), rate.hi().get());
        if !line.average {
            *runs = (runs.0 + 1, runs.1.min(lo), runs.2.max(hi));
            continue;
        }
        // where one is left, others may have been cut off
        let (count, least, most) = std::mem::replace(runs, (0, f64::MAX, 0.0));
        if count > 1 && (hi < least || most < lo) {
            line.warnings.push(Diagnostic::warning(
                Code::DISAGREE,
                rate.span(),
                format!(
                    "{} is printed for the mean, but all runs lie between {:.1} and {:.1} MB/s",
                    rate.text(),
                    least / 1e6,
                    most / 1e6
                ),
            ));
        }
    }
}

fn line<'t>(block: &SummaryBlock<'t>, row: &Row<'t>) -> Line<'t> {
    let mut line = Line {
        label: row.label,
        direction: row.direction,
        measurement: Measurement::default(),
        average: row.average,
        span: row.label.span.cover(row.rate.span),
        warnings: Vec::new(),
    };
    let Some(mut rate) = read::<BytesPerSec>(block.tool, row.rate) else {
        line.warnings.push(Diagnostic::warning(
            Code::UNREADABLE,
            Some(row.rate.span),
            format!("expected a rate, found {}", row.rate.text),
        ));
        return line;
    };
    let printed = Reading::of(rate.clone(), row.rate);
    let in_gigabytes = block
        .rows
        .iter()
        .any(|other| !other.average && other.rate.text.contains('G'));
    if block.tool == Tool::BenchSh && row.average && in_gigabytes {
        let excess = rate.lo().get() - rate.lo().get() / 1.024;
        rate = wider(rate, excess, 0.0);
        line.warnings.push(Diagnostic::warning(
            Code::UNIT_FAULT,
            Some(row.rate.span),
            format!(
                "bench.sh takes 1 GB/s for 1024 MB/s in its mean: {} may be 2.4 percent too large",
                row.rate.text
            ),
        ));
    }
    // the coarsest run decides how much a mean can say
    let runs = block
        .rows
        .iter()
        .filter(|other| !other.average && other.direction == row.direction)
        .filter_map(|other| read::<BytesPerSec>(block.tool, other.rate));
    let coarsest = runs
        .map(|run| half_unit(run.value()))
        .fold(half_unit(printed.value()), f64::max);
    if block.tool == Tool::Nench || row.average && block.tool != Tool::Ddrescue {
        rate = wider(rate, coarsest, coarsest);
        line.warnings.push(Diagnostic::note(
            Code::QUANTISED,
            Some(row.rate.span),
            format!("{} was made from rates that dd had rounded; it can say no more than plus or minus {:.0} kB/s", row.rate.text, coarsest / 1e3),
        ));
    }
    line.measurement.bytes_per_sec = Some(Reading::of(rate, row.rate));
    line.measurement.bytes = row.bytes.and_then(|figure| {
        read::<Bytes>(block.tool, figure).map(|bytes| Reading::of(bytes, figure))
    });
    line.measurement.runtime_ns = row
        .time
        .and_then(|figure| duration(figure.text).map(|time| Reading::of(time, figure)));
    line
}

fn read<Q: Quantity>(tool: Tool, figure: Figure<'_>) -> Option<Possible<Q>> {
    let text = plain(figure.text);
    let read = |rounding| human::read(&text, Step::Decimal, rounding).ok();
    let nearest = read(Rounding::Nearest);
    if tool == Tool::Ddrescue {
        // whether it rounds or cuts is not known
        return nearest.zip(read(Rounding::Down)).map(|(a, b)| a.or(b));
    }
    nearest
}

/// Half a unit of the last digit that GNU dd prints of this rate: one decimal below 100 of a unit, none above.
fn half_unit(rate: f64) -> f64 {
    let mut unit = 1.0;
    while rate >= unit * 999.5 {
        unit *= 1000.0;
    }
    if rate < unit * 99.95 {
        unit * 0.05
    } else {
        unit * 0.5
    }
}

fn wider(rate: Possible<BytesPerSec>, below: f64, above: f64) -> Possible<BytesPerSec> {
    let (lo, hi) = ((rate.lo().get() - below).max(0.0), rate.hi().get() + above);
    Interval::from_f64(lo, hi).map_or(rate, Possible::from)
}

/// ddrescue's `1m 5s`, `2h 3m`, `12s`: cut to whole units. `None` below a minute's worth of certainty, that is for `0s`.
fn duration(text: &str) -> Option<Possible<Nanos>> {
    let mut total = 0.0;
    let mut last = 0.0;
    for part in text.split_whitespace() {
        let unit = match part.as_bytes().last()? {
            b's' => 1e9,
            b'm' => 60e9,
            b'h' => 3600e9,
            b'd' => 86_400e9,
            _ => return None,
        };
        total += part[..part.len() - 1].parse::<u32>().ok().map(f64::from)? * unit;
        last = unit;
    }
    (total > 0.0)
        .then(|| Possible::between(Nanos::new(total)?, Nanos::new(total + last)?))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::summary;
    use crate::source::Log;

    /// The ends of each row's rate in MB/s, and the codes of its warnings.
    fn rates(text: &str) -> Vec<(f64, f64, Vec<String>)> {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let block = summary::read(&log, &mut log.segments()).unwrap();
        measurements(&block)
            .into_iter()
            .map(|line| {
                let rate = line.measurement.bytes_per_sec.unwrap();
                let codes = line.warnings.iter().map(|w| w.code.to_string()).collect();
                (rate.lo().get() / 1e6, rate.hi().get() / 1e6, codes)
            })
            .collect()
    }

    fn close(found: (f64, f64), wanted: (f64, f64)) {
        assert!(
            (found.0 - wanted.0).abs() < 0.01 && (found.1 - wanted.1).abs() < 0.01,
            "{found:?}, expected {wanted:?}"
        );
    }

    #[test]
    fn digits_that_never_were_are_not_believed() {
        // 1716.61 MiB/s is 1.8 GB/s: anything from 1.75 to 1.85
        let found =
            rates("dd: sequential write speed\n 1st run: 1716.61 MiB/s\n average: 1716.61 MiB/s\n");
        for (lo, hi, codes) in found {
            assert!(
                (lo - 1750.0).abs() < 0.02 && (hi - 1850.0).abs() < 0.02,
                "{lo} {hi}"
            );
            assert_eq!(codes, ["quantised"]);
        }
    }

    #[test]
    fn the_mean_of_bench_sh_may_be_too_large() {
        // three runs of 2.8, 2.6 and 3.0 GB/s: their mean is 2.8 GB/s, printed as 2867.2 MB/s
        let found = rates(
            "I/O Speed(1st run) : 2.8 GB/s\nI/O Speed(2nd run) : 2.6 GB/s\nI/O Speed(3rd run) : 3.0 GB/s\nI/O Speed(average) : 2867.2 MB/s\n",
        );
        let (lo, hi, codes) = &found[3];
        assert!(*lo <= 2750.0 && *hi >= 2867.2 && *hi < 2925.0, "{lo} {hi}");
        assert_eq!(*codes, ["unit-fault", "quantised"]);
        // without gigabytes it is right
        let found = rates("I/O Speed(1st run) : 252 MB/s\nAverage I/O speed : 247.7 MB/s\n");
        assert_eq!(found[0].2.len(), 0);
        close((found[0].0, found[0].1), (251.5, 252.5));
        assert_eq!(found[1].2, ["quantised"]);
        close((found[1].0, found[1].1), (247.15, 248.25));
    }

    #[test]
    fn durations_of_ddrescue() {
        let ends = |text| duration(text).map(|time| (time.lo().get() / 1e9, time.hi().get() / 1e9));
        assert_eq!(ends("1m 5s"), Some((65.0, 66.0)));
        assert_eq!(ends("2h 3m"), Some((7380.0, 7440.0)));
        assert_eq!(ends("0s"), None);
        assert_eq!(ends("n/a"), None);
    }
}
