//! Intervals: which numbers a printed figure may stand for.
//!
//! An [`Interval`] is the set of values that the tool's own variable could have held when it printed a text.
//! It is not a confidence interval and says nothing of noise; noise is several records in one cell. Both ends
//! belong to it. A [`Possible`] is a union of disjoint intervals: nearly always one, two or more where a printer
//! is ambiguous. Within one quantity possibilities [`meet`](Possible::meet); across quantities they are only
//! checked against each other.

use crate::unit::Quantity;
use smallvec::SmallVec;

/// A closed interval with `lo <= hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval<Q> {
    lo: Q,
    hi: Q,
}

impl<Q: Quantity> Interval<Q> {
    /// The interval from `lo` to `hi`, both included; `None` where `lo > hi` or an end is not a number.
    pub fn new(lo: Q, hi: Q) -> Option<Self> {
        (lo <= hi).then_some(Self { lo, hi })
    }

    /// The interval of plain numbers, or `None` where it holds no value of the type.
    pub fn from_f64(lo: f64, hi: f64) -> Option<Self> {
        Self::new(Q::at_least(lo)?, Q::at_most(hi)?)
    }

    /// The lower end.
    pub fn lo(&self) -> Q {
        self.lo
    }

    /// The upper end.
    pub fn hi(&self) -> Q {
        self.hi
    }

    /// Whether `value` lies in it.
    pub fn contains(&self, value: Q) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// The middle of both ends.
    pub(crate) fn middle(&self) -> f64 {
        middle(self.lo.to_f64(), self.hi.to_f64())
    }

    /// What both hold, if anything.
    pub fn meet(&self, other: &Self) -> Option<Self> {
        let lo = if self.lo < other.lo {
            other.lo
        } else {
            self.lo
        };
        let hi = if self.hi < other.hi {
            self.hi
        } else {
            other.hi
        };
        Self::new(lo, hi)
    }
}

/// A union of disjoint closed intervals, in rising order; never empty.
#[derive(Debug, PartialEq)]
pub struct Possible<Q: Quantity> {
    parts: SmallVec<[Interval<Q>; 1]>,
}

impl<Q: Quantity> Clone for Possible<Q> {
    fn clone(&self) -> Self {
        match self.parts() {
            // nearly always: a plain copy
            &[part] => part.into(),
            parts => Self {
                parts: SmallVec::from_slice(parts),
            },
        }
    }
}

impl<Q: Quantity> From<Interval<Q>> for Possible<Q> {
    fn from(part: Interval<Q>) -> Self {
        Self {
            parts: SmallVec::from_buf([part]),
        }
    }
}

impl<Q: Quantity> Possible<Q> {
    /// The one value that is known exactly.
    pub fn exactly(value: Q) -> Self {
        Interval {
            lo: value,
            hi: value,
        }
        .into()
    }

    /// The interval from `lo` to `hi`; `None` where it is empty.
    pub fn between(lo: Q, hi: Q) -> Option<Self> {
        Interval::new(lo, hi).map(Self::from)
    }

    /// The union of `parts` in any order, overlapping or not; `None` where there are none.
    pub fn union(parts: impl IntoIterator<Item = Interval<Q>>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        let Some(second) = parts.next() else {
            return Some(first.into());
        };
        let mut parts: SmallVec<[Interval<Q>; 1]> =
            [first, second].into_iter().chain(parts).collect();
        parts.sort_by(|a, b| a.lo.partial_cmp(&b.lo).expect("quantities are never NaN"));
        parts.dedup_by(|next, kept| {
            let joins = next.lo <= kept.hi;
            if joins && kept.hi < next.hi {
                kept.hi = next.hi;
            }
            joins
        });
        Some(Self { parts })
    }

    /// What is possible by this or by the other.
    pub fn or(self, other: Self) -> Self {
        Self::union(self.parts.into_iter().chain(other.parts)).expect("neither side is empty")
    }

    /// What is possible by both; `None` is a contradiction.
    pub fn meet(&self, other: &Self) -> Option<Self> {
        if let ([a], [b]) = (self.parts(), other.parts()) {
            return a.meet(b).map(Self::from);
        }
        Self::union(
            self.parts
                .iter()
                .flat_map(|a| other.parts.iter().filter_map(|b| a.meet(b))),
        )
    }

    /// The disjoint parts, in rising order; at least one.
    pub fn parts(&self) -> &[Interval<Q>] {
        &self.parts
    }

    /// The smallest value that is possible.
    pub fn lo(&self) -> Q {
        self.parts[0].lo
    }

    /// The largest value that is possible.
    pub fn hi(&self) -> Q {
        self.parts[self.parts.len() - 1].hi
    }

    /// The one interval from the smallest to the largest possible value.
    pub fn hull(&self) -> Interval<Q> {
        Interval {
            lo: self.lo(),
            hi: self.hi(),
        }
    }

    /// Whether just one value is possible.
    pub fn is_exact(&self) -> bool {
        self.lo() == self.hi()
    }

    /// Whether `value` is possible.
    pub fn contains(&self, value: Q) -> bool {
        self.parts.iter().any(|part| part.contains(value))
    }

    /// The exact value, else the middle of the first interval that is the widest. For display and sorting.
    pub fn value(&self) -> f64 {
        let width = |part: &Interval<Q>| part.hi.to_f64() - part.lo.to_f64();
        let mut best = &self.parts[0];
        for part in &self.parts[1..] {
            if width(part) > width(best) {
                best = part;
            }
        }
        best.middle()
    }
}

/// The middle of two ends, never outside of them.
fn middle(lo: f64, hi: f64) -> f64 {
    (lo + (hi - lo) / 2.0).clamp(lo, hi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, Nanos};
    use proptest::prelude::*;

    fn bytes(parts: &[(u64, u64)]) -> Option<Possible<Bytes>> {
        Possible::union(
            parts
                .iter()
                .filter_map(|&(a, b)| Interval::new(Bytes(a), Bytes(b))),
        )
    }

    #[test]
    fn a_lost_carry_is_settled_by_the_twin() {
        // 62.0GB printed before 3.26 stands for two intervals, 58.6GiB for one; they meet in the upper one
        let decimal = bytes(&[
            (62_000_000_000, 62_049_999_999),
            (62_951_000_000, 62_999_999_999),
        ])
        .unwrap();
        let binary = bytes(&[(62_868_422_656, 62_975_377_407)]).unwrap();
        let both = decimal.meet(&binary).unwrap();
        assert_eq!(both.parts().len(), 1);
        assert_eq!(
            (both.lo(), both.hi()),
            (Bytes(62_951_000_000), Bytes(62_975_377_407))
        );
    }

    #[test]
    fn an_empty_meeting_is_a_contradiction() {
        let a = bytes(&[(1, 2)]).unwrap();
        let b = bytes(&[(3, 4)]).unwrap();
        assert_eq!(a.meet(&b), None);
        assert_eq!(Interval::<Nanos>::from_f64(2.0, 1.0), None);
    }

    proptest! {
        #[test]
        fn meeting_commutes_and_never_widens(
            a in prop::collection::vec((0u64..50, 0u64..9), 1..4),
            b in prop::collection::vec((0u64..50, 0u64..9), 1..4),
            probe in 0u64..60,
        ) {
            let widen = |v: &[(u64, u64)]| bytes(&v.iter().map(|&(lo, w)| (lo, lo + w)).collect::<Vec<_>>()).unwrap();
            let (a, b) = (widen(&a), widen(&b));
            let met = a.meet(&b);
            prop_assert_eq!(&met, &b.meet(&a));
            let inside = met.as_ref().is_some_and(|m| m.contains(Bytes(probe)));
            prop_assert_eq!(inside, a.contains(Bytes(probe)) && b.contains(Bytes(probe)));
            let either = a.clone().or(b.clone());
            prop_assert_eq!(either.contains(Bytes(probe)), a.contains(Bytes(probe)) || b.contains(Bytes(probe)));
            prop_assert!(either.parts().windows(2).all(|w| w[0].hi() < w[1].lo()));
        }

        #[test]
        fn the_value_lies_inside(lo in 0.0f64..1e15, width in 0.0f64..1e12) {
            let p = Possible::between(Nanos::new(lo).unwrap(), Nanos::new(lo + width).unwrap()).unwrap();
            prop_assert!(p.contains(Nanos::new(p.value()).unwrap()));
        }
    }
}
