//! The units that cross a border: bytes, bytes per second, I/O operations per second, nanoseconds, percent.
//!
//! Bare numbers stay out of public signatures. Everything inside the workspace is in these base units; scaling
//! to MiB/s or milliseconds happens where text is printed, and nowhere else. Only arithmetic that makes sense
//! exists: [`Bytes::per`] gives a rate, [`BytesPerSec::per_block`] gives IOPS. Latency and run time can't be
//! added up by accident, for there is no `Add`.

use std::fmt;

/// An exact count of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

macro_rules! real_unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// The quantity of this size, or `None` where `value` is negative, infinite or not a number.
            pub fn new(value: f64) -> Option<Self> {
                // adding zero turns -0.0 into 0.0, so that no "-0" is ever printed
                (value.is_finite() && value >= 0.0).then_some(Self(value + 0.0))
            }

            /// The plain number, in the unit of the type.
            pub fn get(self) -> f64 {
                self.0
            }
        }
    };
}

real_unit!(
    /// A rate in bytes per second; finite, not negative. fio holds an integer, dd a float, both fit.
    BytesPerSec
);
real_unit!(
    /// I/O operations per second; finite, not negative.
    Iops
);
real_unit!(
    /// A time in nanoseconds; finite, not negative. Means have fractions; integers are exact up to 104 days.
    Nanos
);
real_unit!(
    /// A share in percent; finite, not negative; above 100 where the tool printed so.
    Percent
);

/// What an interval needs to know of a unit: how to go to and from plain numbers without losing the right side.
pub trait Quantity: Copy + PartialEq + PartialOrd + fmt::Debug {
    /// The unit as it stands in key names: `bytes`, `bytes_per_sec`, `iops`, `ns`, `percent`.
    const UNIT: &'static str;
    /// Whether more is better: yes for rates, no for times, not defined for counts.
    const HIGHER_IS_BETTER: Option<bool>;
    /// Whether it holds whole numbers only.
    const WHOLE: bool;

    /// The plain number, rounded to the nearest `f64` where a byte count is beyond 2^53.
    fn to_f64(self) -> f64;
    /// The smallest quantity that is not below `value`; `None` if there is none.
    fn at_least(value: f64) -> Option<Self>;
    /// The largest quantity that is not above `value`; `None` if there is none.
    fn at_most(value: f64) -> Option<Self>;
    /// The quantity of a whole number.
    fn from_u64(value: u64) -> Self;
    /// The exact whole number, if it is one that `u64` holds.
    fn to_u64(self) -> Option<u64>;
}

impl Quantity for Bytes {
    const UNIT: &'static str = "bytes";
    const HIGHER_IS_BETTER: Option<bool> = None;
    const WHOLE: bool = true;

    fn to_f64(self) -> f64 {
        self.0 as f64
    }
    fn at_least(value: f64) -> Option<Self> {
        if value <= 0.0 {
            return Some(Bytes(0));
        }
        (value <= u64::MAX as f64).then(|| Bytes(value.ceil() as u64))
    }
    fn at_most(value: f64) -> Option<Self> {
        (value >= 0.0).then(|| Bytes(value.floor() as u64))
    }
    fn from_u64(value: u64) -> Self {
        Bytes(value)
    }
    fn to_u64(self) -> Option<u64> {
        Some(self.0)
    }
}

/// `f64` holds every whole number up to here.
pub(crate) const EXACT_F64: f64 = 9_007_199_254_740_992.0;

macro_rules! real_quantity {
    ($name:ident, $unit:literal, $better:expr) => {
        impl Quantity for $name {
            const UNIT: &'static str = $unit;
            const HIGHER_IS_BETTER: Option<bool> = $better;
            const WHOLE: bool = false;

            fn to_f64(self) -> f64 {
                self.0
            }
            fn at_least(value: f64) -> Option<Self> {
                Self::new(value.max(0.0))
            }
            fn at_most(value: f64) -> Option<Self> {
                Self::new(value)
            }
            fn from_u64(value: u64) -> Self {
                Self(value as f64)
            }
            fn to_u64(self) -> Option<u64> {
                let whole = self.0 as u64;
                (whole as f64 == self.0 && self.0 <= EXACT_F64).then_some(whole)
            }
        }
    };
}

real_quantity!(BytesPerSec, "bytes_per_sec", Some(true));
real_quantity!(Iops, "iops", Some(true));
real_quantity!(Nanos, "ns", Some(false));
real_quantity!(Percent, "percent", None);

impl Bytes {
    /// Bytes over time: `bytes * 10^9 / ns`. `None` where the time is zero.
    pub fn per(self, time: Nanos) -> Option<BytesPerSec> {
        (time.0 > 0.0)
            .then(|| BytesPerSec::new(self.0 as f64 * 1e9 / time.0))
            .flatten()
    }
}

impl BytesPerSec {
    /// The rate in blocks of `block` bytes: `rate / block`. `None` where the block is empty.
    pub fn per_block(self, block: Bytes) -> Option<Iops> {
        (block.0 > 0)
            .then(|| Iops::new(self.0 / block.0 as f64))
            .flatten()
    }
}

impl Nanos {
    /// From whole seconds, milliseconds and so on: `count` times `ns_each` nanoseconds.
    pub fn from_count(count: f64, ns_each: f64) -> Option<Self> {
        Self::new(count * ns_each)
    }

    /// The time in seconds, for printing.
    pub fn seconds(self) -> f64 {
        self.0 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sound_numbers_become_quantities() {
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Nanos::new(bad), None);
        }
        assert_eq!(Nanos::new(-0.0).unwrap().get().to_bits(), 0);
    }

    #[test]
    fn bytes_round_towards_the_inside() {
        assert_eq!(Bytes::at_least(1.2), Some(Bytes(2)));
        assert_eq!(Bytes::at_most(1.8), Some(Bytes(1)));
        assert_eq!(Bytes::at_least(-3.0), Some(Bytes(0)));
        assert_eq!(Bytes::at_most(-3.0), None);
        assert_eq!(Bytes::at_least(f64::NAN), None);
    }

    #[test]
    fn rates_follow_from_counts_and_times() {
        // 10 GiB in 6.801 s of wall time: the first figure of a well-known dd comparison, 1505.66 MiB/s
        let rate = Bytes(10_737_418_240)
            .per(Nanos::new(6.801e9).unwrap())
            .unwrap();
        assert!((rate.get() / 1_048_576.0 - 1505.66).abs() < 0.01);
        assert_eq!(Bytes(1).per(Nanos::default()), None);
        assert_eq!(
            BytesPerSec::new(8192.0).unwrap().per_block(Bytes(4096)),
            Iops::new(2.0)
        );
    }
}
