//! Scaled figures as dd prints them: `1.8 GB/s`, `312 MB/s`, `11 GB`, `457.2KB/s`, `471 M/s`.
//!
//! ```text
//! figure = digits ["." digits] [" "] prefix ["i"] ["B"] ["/s"]
//! ```
//!
//! GNU dd scales by 1000 and rounds to the nearest, with one decimal while the figure has few digits and none
//! above. So the text stands for half a unit of its last digit to both sides: `1.0 GB/s` is anything from 0.95
//! to 1.05, five percent. busybox and toybox scale by 1024 whatever they print; the caller says so by [`Step`].

use super::{NotAFigure, Number};
use crate::interval::{Interval, Possible};
use crate::unit::Quantity;

/// What one prefix multiplies by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// By 1000, unless the prefix has an `i`.
    Decimal,
    /// By 1024 whether it says so or not: busybox, toybox.
    Binary,
}

/// Whether digits were rounded or cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest: half a unit of the last digit to both sides.
    Nearest,
    /// Cut: one unit of the last digit upwards.
    Down,
}

/// Every quantity that `text` may stand for. Errors: no number, or no prefix and unit that dd knows.
pub fn read<Q: Quantity>(
    text: &str,
    step: Step,
    rounding: Rounding,
) -> Result<Possible<Q>, NotAFigure> {
    let expected = "a size or rate such as 1.8 GB/s";
    let no = || NotAFigure::new(expected, text);
    let number = Number::read(text).ok_or_else(no)?;
    let rest = number.rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let power = match rest.as_bytes().first() {
        Some(b'k' | b'K') => 1,
        Some(b'M') => 2,
        Some(b'G') => 3,
        Some(b'T') => 4,
        Some(b'P') => 5,
        Some(b'E') => 6,
        _ => 0,
    };
    let rest = if power > 0 { &rest[1..] } else { rest };
    let (binary, rest) = match rest.strip_prefix('i') {
        Some(rest) if power > 0 => (true, rest),
        _ => (step == Step::Binary, rest),
    };
    let rest = rest.strip_prefix('B').unwrap_or(rest);
    if !matches!(rest, "" | "/s" | "/c" | "/秒") {
        return Err(no());
    }
    let unit = if binary { 1024f64 } else { 1000f64 }.powi(power);
    let value = number.whole as f64 + number.fraction as f64 / 10f64.powi(number.decimals as i32);
    let last = 10f64.powi(-(number.decimals as i32));
    let exact = power == 0 && number.decimals == 0;
    let (below, above) = match rounding {
        _ if exact => (0.0, 0.0),
        Rounding::Nearest => (0.5 * last, 0.5 * last),
        Rounding::Down => (0.0, last),
    };
    let lo = ((value - below) * unit).max(0.0);
    let hi = (value + above) * unit;
    let (lo, hi) = if exact { (lo, hi) } else { (lo, hi.next_up()) };
    Interval::from_f64(
        if exact || lo == 0.0 {
            lo
        } else {
            lo.next_down()
        },
        hi,
    )
    .map(Possible::from)
    .ok_or_else(no)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, BytesPerSec};

    fn rate(text: &str, step: Step) -> (f64, f64) {
        let read = read::<BytesPerSec>(text, step, Rounding::Nearest).unwrap();
        (read.lo().get(), read.hi().get())
    }

    #[test]
    fn decimals_tell_the_width() {
        let (lo, hi) = rate("1.8 GB/s", Step::Decimal);
        assert!((lo / 1.75e9 - 1.0).abs() < 1e-9 && (hi / 1.85e9 - 1.0).abs() < 1e-9);
        let (lo, hi) = rate("312 MB/s", Step::Decimal);
        assert!((lo / 311.5e6 - 1.0).abs() < 1e-9 && (hi / 312.5e6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn busybox_means_1024() {
        // 10485760 bytes in 22.394903 s is 468221 B/s: 457.2 of 1024
        let (lo, hi) = rate("457.2KB/s", Step::Binary);
        assert!(lo < 468_221.0 && 468_221.0 < hi);
    }

    #[test]
    fn both_sizes_of_gnu_dd_hold_the_count() {
        for text in ["11 GB", "10 GiB"] {
            let read = read::<Bytes>(text, Step::Decimal, Rounding::Nearest).unwrap();
            assert!(read.contains(Bytes(10_737_418_240)), "{text}");
        }
    }

    #[test]
    fn other_units_are_refused() {
        for bad in ["", "fast", "5 X/s", "5 MB/min"] {
            assert!(
                read::<BytesPerSec>(bad, Step::Decimal, Rounding::Nearest).is_err(),
                "{bad}"
            );
        }
    }
}
