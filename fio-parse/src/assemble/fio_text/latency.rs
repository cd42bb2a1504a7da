//! Latency lines and percentiles to readings in nanoseconds.
//!
//! Smallest and largest are cut to whole printed units, then go through the number printer with six characters, so
//! `max=10002k` in nsec is 10001500 to 10002499 ns, and `min=33` in usec is 33000 to 33999 ns. Means and deviations
//! have two decimals. A percentile is the middle of a histogram bucket, rounded *up* to whole printed units, so it
//! may lie above the largest latency: `[  502]` in usec is 501001 to 502000 ns.

use crate::assemble::fio_pair;
use crate::block::fio_text::LatencyText;
use crate::block::fio_text::latency::TimeUnit;
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Version};
use crate::figure::Figure;
use crate::figure::decimal::{self, Decimal};
use crate::figure::fio;
use crate::interval::{Interval, Possible};
use crate::reading::Reading;
use crate::record::{Latency, Percentile};
use crate::unit::Nanos;

/// The middle of the last bucket of the histogram in nanoseconds, from 2.99 on.
const TOP_NS: u64 = 17_112_760_320;
/// The middle of the last bucket in nanoseconds, to 2.21, where it counts microseconds.
const TOP_USEC_NS: u64 = 16_711_680_000;

/// What is said of one latency; `None` where nothing is.
pub(super) fn read(
    text: &LatencyText<'_>,
    era: &Era,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Box<Latency>> {
    let mut latency = Latency::default();
    if let Some(line) = &text.line {
        latency.min = extreme(line.min, line.unit, era, warnings);
        latency.max = extreme(line.max, line.unit, era, warnings);
        latency.mean = mean(line.avg, line.unit);
        latency.stddev = mean(line.stdev, line.unit);
    }
    if let Some(percentiles) = &text.percentiles {
        latency.percentiles = Vec::with_capacity(percentiles.items.len());
        let mut saturated = None;
        let nanoseconds = Version::release(2, 99, 0);
        let tops = [
            (TOP_NS, !era.is_before(nanoseconds)),
            (TOP_USEC_NS, !era.is_from(nanoseconds)),
        ];
        for (p, figure) in &percentiles.items {
            let (Some(p), Ok(printed)) = (decimal::value(p), figure.text.parse::<u64>()) else {
                warnings.push(Diagnostic::warning(
                    Code::UNREADABLE,
                    Some(figure.span),
                    format!(
                        "expected a whole number as a percentile, found {:?}",
                        figure.text
                    ),
                ));
                continue;
            };
            let Some(possible) = percentile(printed, percentiles.unit) else {
                continue;
            };
            let (lo, hi) = (possible.lo().get(), possible.hi().get());
            if tops
                .iter()
                .any(|&(top, may_be)| may_be && lo <= top as f64 && top as f64 <= hi)
            {
                saturated = saturated.or(Some((p, *figure)));
            }
            latency.percentiles.push(Percentile {
                p,
                reading: Reading::of(possible, *figure),
            });
        }
        if let Some((p, figure)) = saturated {
            warnings.push(Diagnostic::note(
                Code::SATURATED,
                Some(figure.span),
                format!("the {p}th percentile is the largest that fio can print; the latency is that or more"),
            ));
        }
    }
    let empty = latency.min.is_none() && latency.mean.is_none() && latency.max.is_none();
    (!empty || !latency.percentiles.is_empty()).then(|| Box::new(latency))
}

/// The smallest or largest latency.
fn extreme(
    figure: Option<Figure<'_>>,
    unit: TimeUnit,
    era: &Era,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Reading<Nanos>> {
    let figure = figure?;
    if let Some(whole) = fio::plain(figure.text) {
        let (lo, ns) = (whole as f64 * unit.ns(), unit.ns());
        let part = Interval::from_f64(lo, lo + (ns - 1.0))?;
        return Some(Reading::of(part.into(), figure));
    }
    let (whole, _) = match fio::read_whole(figure.text, era.latency()) {
        Ok(read) => read,
        Err(error) => {
            warnings.push(fio_pair::unreadable(&figure, &error));
            return None;
        }
    };
    let ns = unit.ns();
    let parts = whole
        .iter()
        .filter_map(|&(lo, hi)| Interval::from_f64(lo as f64 * ns, hi as f64 * ns + (ns - 1.0)));
    Possible::union(parts).map(|possible| Reading::of(possible, figure))
}

/// A mean or a deviation: two decimals. Not a number where nothing was counted.
fn mean(figure: Option<Figure<'_>>, unit: TimeUnit) -> Option<Reading<Nanos>> {
    let figure = figure?;
    decimal::read(figure.text, Decimal::Rounded, unit.ns())
        .ok()
        .map(|possible| Reading::of(possible, figure))
}

/// What was rounded up to `printed` units.
fn percentile(printed: u64, unit: TimeUnit) -> Option<Possible<Nanos>> {
    let ns = unit.ns();
    let hi = printed as f64 * ns;
    let lo = (hi - (ns - 1.0)).max(0.0);
    Possible::between(Nanos::new(lo)?, Nanos::new(hi)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_were_rounded_up() {
        let ends = |printed, unit| {
            let read = percentile(printed, unit).unwrap();
            (read.lo().get(), read.hi().get())
        };
        assert_eq!(ends(502, TimeUnit::Nsec), (502.0, 502.0));
        assert_eq!(ends(502, TimeUnit::Usec), (501_001.0, 502_000.0));
        assert_eq!(ends(3, TimeUnit::Msec), (2_000_001.0, 3_000_000.0));
        assert_eq!(ends(0, TimeUnit::Usec), (0.0, 0.0));
    }
}
