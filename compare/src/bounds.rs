//! A number known only to lie between two ends.
//!
//! Every figure that `compare` handles is a [`Bounds`]: the set of values that the tool's own
//! variable could have held when it printed the text, in base units (bytes, bytes per second,
//! nanoseconds, operations per second), or what follows from such sets by arithmetic. It is not
//! a confidence interval and says nothing of noise; noise is several figures in one cell, see
//! [`crate::stats`].
//!
//! Place: under everything else in this crate; it knows neither records nor tables.

/// A closed interval with a value inside it: `lo <= value <= hi`, all finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    lo: f64,
    value: f64,
    hi: f64,
}

impl Bounds {
    /// Zero, exactly.
    pub const ZERO: Bounds = Bounds {
        lo: 0.0,
        value: 0.0,
        hi: 0.0,
    };

    /// One, exactly.
    pub const ONE: Bounds = Bounds {
        lo: 1.0,
        value: 1.0,
        hi: 1.0,
    };

    /// Bounds with a stated value. `None` if an end is not finite or the order is broken.
    pub fn new(lo: f64, value: f64, hi: f64) -> Option<Bounds> {
        let sound = lo.is_finite() && hi.is_finite() && lo <= value && value <= hi;
        sound.then_some(Bounds { lo, value, hi })
    }

    /// Bounds whose value is the middle. `None` as for [`Bounds::new`].
    pub fn between(lo: f64, hi: f64) -> Option<Bounds> {
        // The middle of two finite numbers may round past an end when they are neighbours.
        Bounds::new(lo, (lo / 2.0 + hi / 2.0).clamp(lo, hi.max(lo)), hi)
    }

    /// A number known exactly. `None` if it is not finite.
    pub fn exact(value: f64) -> Option<Bounds> {
        Bounds::new(value, value, value)
    }

    /// The least value it can be.
    pub fn lo(self) -> f64 {
        self.lo
    }

    /// The value stated by the source, or the middle.
    pub fn value(self) -> f64 {
        self.value
    }

    /// The greatest value it can be.
    pub fn hi(self) -> f64 {
        self.hi
    }

    /// How far the ends lie apart.
    pub fn width(self) -> f64 {
        self.hi - self.lo
    }

    /// True if both ends are the same number.
    pub fn is_exact(self) -> bool {
        self.lo == self.hi
    }

    /// True if some number lies in both.
    pub fn overlaps(self, other: Bounds) -> bool {
        self.lo <= other.hi && other.lo <= self.hi
    }

    /// The numbers that lie in both; `None` if there are none.
    pub fn meet(self, other: Bounds) -> Option<Bounds> {
        Bounds::between(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// `self / divisor` for non-negative figures: the least quotient is the least dividend over
    /// the greatest divisor, and the other way round. Inexact ends are moved outward by one
    /// representable number, so that rounding of the division itself never cuts a true quotient
    /// off; exact by exact stays exact. `None` if the divisor may be zero or either may be
    /// negative.
    pub fn divided_by(self, divisor: Bounds) -> Option<Bounds> {
        if divisor.lo <= 0.0 || self.lo < 0.0 {
            return None;
        }
        if self.is_exact() && divisor.is_exact() {
            return Bounds::exact(self.lo / divisor.lo);
        }
        let lo = (self.lo / divisor.hi).next_down().max(0.0);
        let hi = (self.hi / divisor.lo).next_up();
        Bounds::between(lo, hi)
    }

    /// `self - other`, ends taken crosswise.
    pub fn minus(self, other: Bounds) -> Option<Bounds> {
        Bounds::new(
            self.lo - other.hi,
            self.value - other.value,
            self.hi - other.lo,
        )
    }

    /// `self + other`.
    pub fn plus(self, other: Bounds) -> Bounds {
        Bounds {
            lo: self.lo + other.lo,
            value: self.value + other.value,
            hi: self.hi + other.hi,
        }
    }

    /// `self x other` for non-negative figures. `None` if either may be negative.
    pub fn by(self, other: Bounds) -> Option<Bounds> {
        if self.lo < 0.0 || other.lo < 0.0 {
            return None;
        }
        Bounds::new(
            self.lo * other.lo,
            self.value * other.value,
            self.hi * other.hi,
        )
    }

    /// Multiplied by a positive constant, as when a unit is changed.
    pub fn times(self, factor: f64) -> Bounds {
        debug_assert!(factor > 0.0 && factor.is_finite());
        Bounds {
            lo: self.lo * factor,
            value: self.value * factor,
            hi: self.hi * factor,
        }
    }

    /// The smallest bounds that hold both.
    pub fn hull(self, other: Bounds) -> Bounds {
        let (lo, hi) = (self.lo.min(other.lo), self.hi.max(other.hi));
        Bounds {
            lo,
            value: (lo / 2.0 + hi / 2.0).clamp(lo, hi),
            hi,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn b(lo: f64, hi: f64) -> Bounds {
        Bounds::between(lo, hi).unwrap()
    }

    #[test]
    fn order_and_finiteness_are_kept() {
        assert!(Bounds::between(2.0, 1.0).is_none());
        assert!(Bounds::exact(f64::NAN).is_none());
        assert!(Bounds::between(0.0, f64::INFINITY).is_none());
        assert!(Bounds::new(1.0, 3.0, 2.0).is_none());
    }

    #[test]
    fn division_takes_the_ends_crosswise() {
        let q = b(6.0, 8.0).divided_by(b(2.0, 4.0)).unwrap();
        assert!(q.lo() <= 1.5 && q.lo() > 1.4999);
        assert!(q.hi() >= 4.0 && q.hi() < 4.0001);
        let half = Bounds::exact(1.0)
            .unwrap()
            .divided_by(Bounds::exact(2.0).unwrap())
            .unwrap();
        assert!(half.is_exact() && half.value() == 0.5);
    }

    #[test]
    fn division_by_what_may_be_zero_is_refused() {
        assert!(b(1.0, 2.0).divided_by(b(0.0, 1.0)).is_none());
        assert!(b(-1.0, 2.0).divided_by(b(1.0, 1.0)).is_none());
    }

    #[test]
    fn meet_and_hull() {
        assert_eq!(b(1.0, 3.0).meet(b(2.0, 5.0)), Some(b(2.0, 3.0)));
        assert_eq!(b(1.0, 2.0).meet(b(3.0, 5.0)), None);
        assert_eq!(b(1.0, 2.0).hull(b(3.0, 5.0)), b(1.0, 5.0));
        assert!(b(1.0, 2.0).overlaps(b(2.0, 3.0)));
    }
}
