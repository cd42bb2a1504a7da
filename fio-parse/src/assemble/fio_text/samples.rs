//! Sample lines: statistics over samples of (usually) 500 ms.
//!
//! Bandwidth is sampled in KiB/s whatever the label says; above `kb_base` squared the line changes to `M`, then
//! smallest and largest are cut to whole units. Under `kb_base=1000` the label is decimal, or `MiB/s` for 1000 KiB/s,
//! and wrong; under `unit_base=1` the figures are bits (to about 3.6; bytes later, and labelled so).

use crate::block::fio_text::direction::SampleLine;
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Version};
use crate::figure::Figure;
use crate::figure::decimal::{self, Decimal};
use crate::interval::Possible;
use crate::reading::Reading;
use crate::record::Spread;
use crate::unit::{BytesPerSec, Iops, Percent, Quantity};

/// Where `per=` is too small by 1024: these versions, the latter not included.
const SMALL_SHARES: (Version, Version) = (Version::release(2, 17, 0), Version::release(2, 99, 0));

/// Samples of bandwidth. `decimal` tells that the job ran under `kb_base=1000`.
pub(super) fn bandwidth(
    line: &SampleLine<'_>,
    era: &Era,
    decimal: bool,
    warnings: &mut Vec<Diagnostic>,
) -> Spread<BytesPerSec> {
    let label = line.unit.unwrap_or("");
    let decimal = decimal || era.kb_base == Some(1000);
    let bits = if label.contains("bit") { 8.0 } else { 1.0 };
    let kib = 1024.0 / bits;
    let steps: &[f64] = match label.as_bytes().first() {
        Some(b'K' | b'k') => &[kib],
        Some(b'M') if decimal => &[1000.0 * kib],
        // one or the other where kb_base is not known
        Some(b'M') if !label.contains('i') && era.kb_base.is_none() => {
            &[1024.0 * kib, 1000.0 * kib]
        }
        Some(b'M') => &[1024.0 * kib],
        _ => &[1.0],
    };
    let modern = era.is_modern();
    if modern
        && (label.starts_with('k') || label.starts_with('M') && (decimal || !label.contains('i')))
    {
        warnings.push(Diagnostic::warning(
            Code::LABEL_WRONG,
            Some(line.span),
            format!("samples of bandwidth are counted in KiB/s, not in {label}/s as they are labelled under kb_base=1000, and were read so"),
        ));
    }
    let read = |figure: Option<Figure<'_>>, printer| scaled::<BytesPerSec>(figure?, printer, steps);
    Spread {
        min: read(line.min, Decimal::Truncated),
        max: read(line.max, Decimal::Truncated),
        mean: read(line.avg, Decimal::Rounded),
        stddev: read(line.stdev, Decimal::Rounded),
        count: line.count,
        per: share(line, era, warnings),
    }
}

/// The share of the group's bandwidth, unless it is known to be wrong.
fn share(
    line: &SampleLine<'_>,
    era: &Era,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Reading<Percent>> {
    let figure = line.per?;
    let (from, to) = SMALL_SHARES;
    if era.is_within(from, to) {
        warnings.push(super::wrong(
            figure.span,
            format!(
                "fio 2.17 to 2.21 print per= too small by 1024; {}% was left out",
                figure.text
            ),
        ));
        return None;
    }
    if let Ok(share) = Reading::decimal(figure, Decimal::Rounded, 1.0) {
        return Some(share);
    }
    let possible = decimal::read_grouped(figure.text, Decimal::Rounded, 1.0).ok()?;
    Some(Reading::of(possible, figure))
}

/// Samples of IOPS.
pub(super) fn iops(line: &SampleLine<'_>) -> Spread<Iops> {
    let read = |figure: Option<Figure<'_>>, printer| scaled::<Iops>(figure?, printer, &[1.0]);
    Spread {
        min: read(line.min, Decimal::Exact),
        max: read(line.max, Decimal::Exact),
        mean: read(line.avg, Decimal::Rounded),
        stddev: read(line.stdev, Decimal::Rounded),
        count: line.count,
        per: None,
    }
}

/// A plain number, each unit of which is any of `steps`. Not a number where nothing was counted.
fn scaled<Q: Quantity>(figure: Figure<'_>, printer: Decimal, steps: &[f64]) -> Option<Reading<Q>> {
    if let [step] = steps
        && let Ok(reading) = Reading::decimal(figure, printer, *step)
    {
        return Some(reading);
    }
    let possible = steps
        .iter()
        .filter_map(|step| decimal::read_grouped::<Q>(figure.text, printer, *step).ok())
        .reduce(Possible::or)?;
    Some(Reading::of(possible, figure))
}
