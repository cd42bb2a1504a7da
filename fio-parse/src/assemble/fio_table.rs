//! Summaries of fio runs to measurements, and what is known to be wrong with them.
//!
//! **Digits.** Whether a script rounds or cuts is not known, so a figure stands for half a unit of its last digit below
//! and one unit above.
//!
//! **yabs** before 2026 takes fio's KiB/s, divides by 1000 until it is small, and calls it MB/s or GB/s. Its figures are
//! kept as printed; the warning says by how much they are too small. Which kind of yabs it was is told by the table
//! itself: I/Os per second times the block size is the printed rate, or 1.024 of it.
//!
//! **KB/s and MB/s in people's tables** come from fio before 2.15 (by 1024) or from its second figure (by 1000). The
//! I/Os per second times the block size in the title tells which; where they do not, both stay possible.

use crate::block::fio_table::{
    Amount, Cell, TableBlock, Tool, block_size, latency_scale, rate_unit,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::figure::Figure;
use crate::interval::{Interval, Possible};
use crate::reading::Reading;
use crate::record::{Direction, Latency, Measurement};
use crate::source::Span;
use crate::unit::{BytesPerSec, Iops, Nanos, Quantity};

/// One result of a summary, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'t> {
    /// What it stands under.
    pub labels: Vec<Figure<'t>>,
    /// The job, where the tool names it.
    pub job: Option<&'t str>,
    /// Which way bytes went, where words say so.
    pub direction: Option<Direction>,
    /// The readings.
    pub measurement: Measurement,
    /// Whether it sums up others.
    pub sum: bool,
    /// Where its figures stand.
    pub span: Span,
    /// What is odd about it.
    pub warnings: Vec<Diagnostic>,
}

/// Decodes the results of a summary; what has no readable figure is left out.
pub fn measurements<'t>(table: &TableBlock<'t>) -> Vec<Line<'t>> {
    let small = (table.tool == Tool::Yabs).then(|| too_small(table));
    let mut lines: Vec<Line<'t>> = table
        .cells
        .iter()
        .filter_map(|cell| line(table.tool, cell, small))
        .collect();
    let faults: Vec<_> = lines
        .iter()
        .map(|line| below_a_part(line, &lines))
        .collect();
    for (line, fault) in lines.iter_mut().zip(faults) {
        line.warnings.extend(fault);
    }
    lines
}

/// What is wrong with a sum that is less than one of its parts.
fn below_a_part(sum: &Line<'_>, lines: &[Line<'_>]) -> Option<Diagnostic> {
    let same = |line: &Line<'_>| {
        let (ours, theirs) = (sum.labels.iter(), line.labels.iter());
        ours.map(|label| label.text)
            .eq(theirs.map(|label| label.text))
    };
    let rate = sum.measurement.bytes_per_sec.as_ref().filter(|_| sum.sum)?;
    let part = lines
        .iter()
        .filter(|line| !line.sum && same(line))
        .filter_map(|line| line.measurement.bytes_per_sec.as_ref())
        .find(|part| part.lo() > rate.hi())?;
    Some(Diagnostic::warning(
        Code::DISAGREE,
        Some(sum.span),
        format!(
            "the sum {} is less than its part {}; one of them is wrong, and both are kept",
            rate.text(),
            part.text()
        ),
    ))
}

/// Whether yabs' rates are too small by 1.024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TooSmall {
    Yes,
    No,
    CannotTell,
}

fn line<'t>(tool: Tool, cell: &Cell<'t>, small: Option<TooSmall>) -> Option<Line<'t>> {
    let spans = cell.amounts().map(|amount| amount.figure.span);
    let mut line = Line {
        labels: cell.labels.to_vec(),
        job: cell.job,
        direction: cell.direction,
        measurement: Measurement::default(),
        sum: cell.sum,
        span: spans.reduce(Span::cover)?,
        warnings: Vec::new(),
    };
    let iops: Option<Possible<Iops>> = cell
        .iops
        .and_then(|amount| read(amount, count_scale(amount.unit)));
    let size = cell.labels.iter().find_map(|label| block_size(label.text));
    if let Some((amount, scale)) = cell
        .rate
        .and_then(|amount| Some((amount, rate_unit(amount.unit)?)))
    {
        let printed = read::<BytesPerSec>(amount, scale);
        let binary = by_1024(amount.unit).filter(|_| matches!(tool, Tool::Keys | Tool::Grid));
        let rate = match (printed, binary.and_then(|scale| read(amount, scale))) {
            (Some(decimal), Some(binary)) => {
                let fits = |rate: &Possible<BytesPerSec>| {
                    iops.as_ref()
                        .zip(size)
                        .is_none_or(|(iops, size)| agree(rate, iops, size, 1.0))
                };
                match (fits(&decimal), fits(&binary)) {
                    (true, false) => Some(decimal),
                    (false, true) => Some(binary),
                    _ => {
                        line.warnings.push(Diagnostic::warning(
                            Code::UNIT_GUESSED,
                            Some(amount.figure.span),
                            format!("whether {} is by 1000 or by 1024 can't be told here; both are possible", amount.unit),
                        ));
                        Some(decimal.or(binary))
                    }
                }
            }
            (printed, _) => printed,
        };
        let apart = small.is_some()
            && matches!((&rate, &iops, size), (Some(rate), Some(iops), Some(size))
                if !agree(rate, iops, size, 1.0) && !agree(rate, iops, size, 1.024));
        if apart {
            line.warnings.push(Diagnostic::warning(
                Code::DISAGREE,
                Some(amount.figure.span),
                format!(
                    "the rate {} and the I/Os per second of this block size contradict each other; both are kept",
                    amount.figure.text
                ),
            ));
        } else {
            line.warnings
                .extend(small.and_then(|small| yabs_fault(small, amount)));
        }
        line.measurement.bytes_per_sec = rate.map(|rate| Reading::of(rate, amount.figure));
    }
    line.measurement.iops = iops
        .zip(cell.iops)
        .map(|(iops, amount)| Reading::of(iops, amount.figure));
    line.measurement.lat_ns = cell.latency.and_then(|amount| {
        let mean = read::<Nanos>(amount, latency_scale(amount.unit)?)?;
        Some(Box::new(Latency {
            mean: Some(Reading::of(mean, amount.figure)),
            ..Latency::default()
        }))
    });
    let read_any = line.measurement != Measurement::default();
    read_any.then_some(line)
}

/// Every quantity that the number may stand for, each unit of it being `scale`.
fn read<Q: Quantity>(amount: Amount<'_>, scale: f64) -> Option<Possible<Q>> {
    let digits: String = amount.number.chars().filter(|c| *c != ',').collect();
    let value: f64 = digits.parse().ok()?;
    let decimals = digits
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    let last = 10f64.powi(-i32::try_from(decimals).ok()?);
    let lo = ((value - 0.5 * last) * scale).max(0.0);
    Interval::from_f64(lo, (value + last) * scale).map(Possible::from)
}

fn count_scale(unit: &str) -> f64 {
    match unit {
        "k" | "K" => 1e3,
        "M" => 1e6,
        _ => 1.0,
    }
}

/// What a unit that old fio writes stands for there. `kB/s` is always by 1000.
fn by_1024(unit: &str) -> Option<f64> {
    let power = match unit.as_bytes() {
        [b'K', b'B', ..] => 1,
        [b'M', b'B', ..] => 2,
        [b'G', b'B', ..] => 3,
        _ => return None,
    };
    Some(1024f64.powi(power))
}

/// Whether I/Os per second times `size` may be `times` the rate.
fn agree(rate: &Possible<BytesPerSec>, iops: &Possible<Iops>, size: f64, times: f64) -> bool {
    let (lo, hi) = (iops.lo().to_f64() * size, iops.hi().to_f64() * size);
    rate.lo().to_f64() * times <= hi && lo <= rate.hi().to_f64() * times
}

/// What the table's own figures say of its unit.
fn too_small(table: &TableBlock<'_>) -> TooSmall {
    let (mut as_printed, mut larger) = (0, 0);
    for cell in &table.cells {
        let size = cell.labels.first().and_then(|label| block_size(label.text));
        let (Some(rate), Some(iops), Some(size)) = (cell.rate, cell.iops, size) else {
            continue;
        };
        let (Some(rate), Some(iops)) = (
            rate_unit(rate.unit).and_then(|scale| read(rate, scale)),
            read(iops, count_scale(iops.unit)),
        ) else {
            continue;
        };
        match (
            agree(&rate, &iops, size, 1.0),
            agree(&rate, &iops, size, 1.024),
        ) {
            (true, false) => as_printed += 1,
            (false, true) => larger += 1,
            _ => {}
        }
    }
    match larger.cmp(&as_printed) {
        std::cmp::Ordering::Greater => TooSmall::Yes,
        std::cmp::Ordering::Less => TooSmall::No,
        std::cmp::Ordering::Equal => TooSmall::CannotTell,
    }
}

fn yabs_fault(small: TooSmall, rate: Amount<'_>) -> Option<Diagnostic> {
    let message = match small {
        TooSmall::No => return None,
        TooSmall::Yes => format!(
            "yabs divided KiB/s by thousands here and calls the result {}: the true rate is 1.024 times the printed one, as the I/Os per second in this table show",
            rate.unit
        ),
        TooSmall::CannotTell => format!(
            "yabs before 2026 divided KiB/s by thousands and called the result {}; if this is one of those, the true rate is 1.024 times the printed one",
            rate.unit
        ),
    };
    Some(Diagnostic::warning(
        Code::UNIT_FAULT,
        Some(rate.figure.span),
        message,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::fio_table;
    use crate::source::Log;

    /// The ends in bytes per second of what a rate may be, and the codes of the warnings.
    type Found = (Vec<(f64, f64)>, Vec<String>);

    fn rates(text: &str) -> Vec<Found> {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let block = fio_table::read(&log, &mut log.segments()).unwrap();
        measurements(&block)
            .into_iter()
            .map(|line| {
                let rate = line.measurement.bytes_per_sec.unwrap();
                let possible = rate.possible();
                let parts = possible.parts().iter();
                (
                    parts
                        .map(|part| (part.lo().get(), part.hi().get()))
                        .collect(),
                    line.warnings.iter().map(|w| w.code.to_string()).collect(),
                )
            })
            .collect()
    }

    fn holds(parts: &[(f64, f64)], value: f64) -> bool {
        parts.iter().any(|&(lo, hi)| lo <= value && value <= hi)
    }

    #[test]
    fn yabs_tells_its_age_by_its_own_figures() {
        // 83.9k I/Os of 4 KiB are 343.7 MB/s
        let old = "Block Size | 4k  (IOPS) | 64k (IOPS)\nRead | 335.96 MB/s  (83.9k) | 774.68 MB/s  (12.1k)\n";
        for (parts, codes) in rates(old) {
            assert_eq!((parts.len(), codes), (1, vec!["unit-fault".to_owned()]));
        }
        assert!(holds(&rates(old)[0].0, 335.96e6) && !holds(&rates(old)[0].0, 344.0e6));
        // 58.4k of 4 KiB are 239.2 MB/s and some
        let new = "Block Size | 4k  (IOPS) | 64k (IOPS)\nRead | 239.59 MB/s  (58.4k) | 2.31 GB/s  (35.2k)\n";
        assert!(rates(new).iter().all(|(_, codes)| codes.is_empty()));
    }

    #[test]
    fn figures_that_contradict_each_other_are_named_so() {
        // 6.2k I/Os of 4 KiB are 25.4 MB/s, and a sum is not less than its part
        let edited = "Block Size | 4k  (IOPS) | 64k (IOPS)\nRead | 250.2 MB/s  (6.2k) | 181.20 MB/s  (2.8k)\nWrite | 25.03 MB/s  (6.2k) | 182.15 MB/s  (2.8k)\nTotal | 50.06 MB/s  (12.5k) | 363.36 MB/s  (5.6k)\n";
        let codes: Vec<Vec<String>> = rates(edited).into_iter().map(|(_, codes)| codes).collect();
        let wrong: Vec<usize> = (0..codes.len())
            .filter(|&at| codes[at].iter().any(|code| code == "disagree"))
            .collect();
        assert_eq!(wrong.len(), 2, "{codes:?}");
    }

    #[test]
    fn kilobytes_are_told_by_operations() {
        // 20892 I/Os of 4 KiB are 83568 KiB/s
        let row = |cell: &str| format!("| test | a |\n|---|---|\n| 4k randwrite | {cell} |\n");
        let (parts, codes) = rates(&row("bw=83571KB/s, iops=20892")).remove(0);
        assert!(holds(&parts, 83571.0 * 1024.0) && !holds(&parts, 83571e3) && codes.is_empty());
        let (parts, codes) = rates(&row("bw=85576KB/s, iops=20892")).remove(0);
        assert!(holds(&parts, 85576e3) && !holds(&parts, 85576.0 * 1024.0) && codes.is_empty());
        let (parts, codes) = rates(&row("bw=85576KB/s")).remove(0);
        assert!(holds(&parts, 85576e3) && holds(&parts, 85576.0 * 1024.0));
        assert_eq!(codes, ["unit-guessed"]);
        let (parts, codes) = rates(&row("bw=23.2MiB/s, iops=5928")).remove(0);
        assert!(holds(&parts, 23.2 * 1_048_576.0) && parts.len() == 1 && codes.is_empty());
    }

    #[test]
    fn latencies_are_means_in_nanoseconds() {
        let log = Log::from_bytes(
            "log",
            b"Latency in ns (Read/Write)\n  Random: 160,387 / 65,962\n",
        )
        .unwrap();
        let block = fio_table::read(&log, &mut log.segments()).unwrap();
        let lines = measurements(&block);
        let mean = lines[0]
            .measurement
            .lat_ns
            .as_ref()
            .unwrap()
            .mean
            .as_ref()
            .unwrap();
        assert!(mean.possible().contains(Nanos::new(160_387.0).unwrap()));
        assert_eq!(lines[1].direction, Some(Direction::Write));
    }
}
