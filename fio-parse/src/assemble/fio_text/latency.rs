//! What is left of latencies once their lines are read: figures that depend on the version.
//!
//! Smallest and largest go through the number printer with six characters, so `max=10002k` in nsec is 10001500 to
//! 10002499 ns.

use crate::assemble::fio_pair;
use crate::block::fio_text::LatencyText;
use crate::block::fio_text::latency::TimeUnit;
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Version};
use crate::figure::Figure;
use crate::figure::fio;
use crate::interval::{Interval, Possible};
use crate::reading::Reading;
use crate::record::{Latency, Percentile};
use crate::unit::Nanos;

/// The middle of the last bucket of the histogram in nanoseconds, from 2.99 on.
const TOP_NS: u64 = 17_112_760_320;
/// The middle of the last bucket in nanoseconds, to 2.21, where it counts microseconds.
const TOP_USEC_NS: u64 = 16_711_680_000;

/// What is said of one latency; `None` where nothing is. Takes it out of `text`.
pub(super) fn read(
    text: &mut LatencyText<'_>,
    era: &Era,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Box<Latency>> {
    let mut latency = text.latency.take()?;
    let unit = text.unit.unwrap_or(TimeUnit::Nsec);
    if text.min.is_some() {
        latency.min = scaled(text.min, unit, era, warnings);
    }
    if text.max.is_some() {
        latency.max = scaled(text.max, unit, era, warnings);
    }
    warnings.extend(text.odd.iter().map(|figure| {
        Diagnostic::warning(
            Code::UNREADABLE,
            Some(figure.span),
            format!(
                "expected a whole number as a percentile, found {:?}",
                figure.text
            ),
        )
    }));
    if let Some(percentile) = saturated(&latency.percentiles, era) {
        warnings.push(Diagnostic::note(
            Code::SATURATED,
            percentile.reading.span(),
            format!(
                "the {}th percentile is the largest that fio can print; the latency is that or more",
                percentile.p
            ),
        ));
    }
    let empty = latency.min.is_none() && latency.mean.is_none() && latency.max.is_none();
    (!empty || !latency.percentiles.is_empty()).then_some(latency)
}

/// The first percentile that stands at the end of the histogram.
fn saturated<'p>(percentiles: &'p [Percentile], era: &Era) -> Option<&'p Percentile> {
    let low = |percentile: &&Percentile| percentile.reading.hi().get() < TOP_USEC_NS as f64;
    // they rise, so the last one tells that nearly always none of them is that large
    if percentiles.iter().rev().all(|percentile| low(&percentile)) {
        return None;
    }
    let nanoseconds = Version::release(2, 99, 0);
    let tops = [
        (TOP_NS, !era.is_before(nanoseconds)),
        (TOP_USEC_NS, !era.is_from(nanoseconds)),
    ];
    percentiles.iter().find(|percentile| {
        let (lo, hi) = (percentile.reading.lo().get(), percentile.reading.hi().get());
        tops.iter()
            .any(|&(top, may_be)| may_be && lo <= top as f64 && top as f64 <= hi)
    })
}

/// The smallest or largest latency, printed with a prefix.
fn scaled(
    figure: Option<Figure<'_>>,
    unit: TimeUnit,
    era: &Era,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Reading<Nanos>> {
    let figure = figure?;
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
