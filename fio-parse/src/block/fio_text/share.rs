//! What shares of a distribution are shares of, decoded where they are lexed: they mean the same in every version.
//!
//! ```text
//! 1=0.1%, 2=0.1%, >=64=0.0%      depths: labels are lower ends, `4=` is 4 to 7
//! 0=0.0%, 4=100.0%, >=64=0.0%    I/Os per call: labels are upper ends, `8=` is 5 to 8, `4=` is 1 to 4
//! 50=0.43%, 100=1.86%            latencies: labels are upper ends that are not included
//! ```

use super::latency::TimeUnit;
use super::tail::Share;
use crate::figure::Figure;
use crate::figure::decimal::{Decimal, Plain, Rule};
use crate::reading::Reading;
use crate::record::{CountBucket, LatencyBucket};
use crate::unit::Percent;

/// A share in percent with its decimals. A share that is not zero prints as 0.1 (of depths) or 0.01 (of latencies) at
/// least; JSON has six decimals.
pub(crate) fn percent(figure: &Figure<'_>) -> Option<Reading<Percent>> {
    decoded(figure, Plain::read(figure.text))
}

/// As [`percent`], where the digits of the figure are known.
#[inline]
fn decoded(figure: &Figure<'_>, plain: Option<Plain>) -> Option<Reading<Percent>> {
    match plain {
        Some(plain) => Reading::of_plain(plain, Rule::SHARE, *figure),
        // with more digits than the smallest shares have
        None => Reading::decimal(*figure, Decimal::Rounded, 1.0).ok(),
    }
}

/// The range of counts that a label stands for, if it has a share.
#[inline]
pub(crate) fn count(
    share: &Share<'_>,
    range: impl Fn(&Share<'_>) -> (u64, Option<u64>),
) -> Option<CountBucket> {
    if is_zero(share) {
        return None;
    }
    let (min, max) = range(share);
    Some(CountBucket {
        min,
        max,
        percent: decoded(&share.percent, share.plain())?,
    })
}

/// The ranges of counts that have a share.
pub(super) fn counts(
    shares: &[Share<'_>],
    range: impl Fn(&Share<'_>) -> (u64, Option<u64>),
) -> Vec<CountBucket> {
    let buckets = shares.iter().filter_map(|share| count(share, &range));
    buckets.collect()
}

#[inline]
fn is_zero(share: &Share<'_>) -> bool {
    match share.plain() {
        Some(plain) => plain.is_zero(),
        None => share
            .percent
            .text
            .bytes()
            .all(|byte| matches!(byte, b'0' | b'.')),
    }
}

/// Depth labels are lower ends: `4=` is 4 to 7.
pub(crate) fn depth_range(share: &Share<'_>) -> (u64, Option<u64>) {
    let last = share.at.saturating_mul(2).saturating_sub(1);
    (share.at, (!share.more).then_some(last.max(share.at)))
}

/// Call labels are upper ends: `8=` is 5 to 8, `4=` is 1 to 4, `>=64` is more than 64.
pub(crate) fn call_range(share: &Share<'_>) -> (u64, Option<u64>) {
    match (share.at, share.more) {
        (at, true) => (at.saturating_add(1), None),
        (0, _) => (0, Some(0)),
        (4, _) => (1, Some(4)),
        (at, _) => (at / 2 + 1, Some(at)),
    }
}

/// The labels of the distribution in usec and nsec; in msec 2000 follows.
const LABELS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// The first bucket in usec. To 2.21 times were whole microseconds, and it starts at zero; later it starts behind the
/// buckets in nsec. Which one it is, the whole section tells.
pub(crate) const FIRST_USEC: (u64, Option<u64>) = (1000, Some(2000));

/// The bucket of a label; `None` where it is beyond 64 bits, or its share is no number.
///
/// Labels are upper ends, not included; the label before is the lower end.
pub(crate) fn latency(unit: TimeUnit, share: &Share<'_>) -> Option<LatencyBucket> {
    let ns = unit.ns() as u64;
    let at = share.at.checked_mul(ns)?;
    let below = LABELS.iter().rev().find(|label| **label < share.at);
    let ge_ns = match (share.more, below, unit) {
        (true, _, _) => at,
        (false, Some(label), _) => label * ns,
        (false, None, TimeUnit::Nsec) => 0,
        (false, None, _) => ns,
    };
    Some(LatencyBucket {
        ge_ns,
        lt_ns: (!share.more).then_some(at),
        percent: decoded(&share.percent, share.plain())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Quantity;

    #[test]
    fn the_least_share_may_be_nearly_nothing() {
        let log = crate::Log::from_bytes("x", b"0.1 0.2").unwrap();
        let read = |text| {
            let figure = Figure {
                text,
                span: log.span_of(text),
            };
            percent(&figure).unwrap().lo().to_f64()
        };
        assert_eq!(read(&log.text()[..3]), 0.0);
        assert!(read(&log.text()[4..]) > 0.14);
    }
}
