//! C's plain number printers and their inverses: `%d`, `%.Nf`, `%g`.
//!
//! ```text
//! number = digits ["." digits] [("e" | "E") sign digits]
//! ```
//!
//! `%.Nf` rounds to the nearest, so a text with N decimals stands for all numbers within half a unit of its last
//! digit. `%g` keeps six significant digits and strips zeros at the end: `27.5` was printed from 27.49995 to
//! 27.50005. Some programs cut instead of rounding (OpenBSD's dd): then the interval reaches one unit upwards.

use super::{NotAFigure, digit_count, ungrouped};
use crate::interval::{Interval, Possible};
use crate::unit::Quantity;

/// How the digits of a plain number came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decimal {
    /// All digits are there: integers, and values whose printer loses nothing.
    Exact,
    /// Rounded to the nearest at the last digit printed: `%.Nf`, and integers rounded with `%.0f`.
    Rounded,
    /// Cut at the last digit printed.
    Truncated,
    /// `%g` with this many significant digits, zeros at the end stripped.
    General(u8),
}

/// A decimal number taken apart: its value, the power of ten of its last digit, and how many digits it has but for
/// zeros in front.
struct Parts {
    value: f64,
    /// The number, where it is nothing but digits that surely fit 64 bits.
    whole: Option<u64>,
    last: i32,
    digits: Digits,
}

/// How many digits a number has: counted, or to be told from all of them as one number where somebody asks.
enum Digits {
    Counted(u32),
    Of(u64),
}

impl Parts {
    /// The power of ten of the first digit.
    fn first(&self) -> i32 {
        let digits = match self.digits {
            Digits::Counted(digits) => digits.max(1),
            Digits::Of(mantissa) => digit_count(mantissa),
        };
        self.last + digits as i32 - 1
    }
}

/// The number that `text` is, or `None` where it is none.
pub fn value(text: &str) -> Option<f64> {
    parts(text).map(|parts| parts.value)
}

/// Every quantity that `text` may stand for, each unit of the number being `scale` of the quantity's own.
///
/// `scale` turns printed units into base units: 1000 for a latency in usec. Errors: the text is no plain number.
pub fn read<Q: Quantity>(
    text: &str,
    printer: Decimal,
    scale: f64,
) -> Result<Possible<Q>, NotAFigure> {
    let expected = "a number";
    if printer == Decimal::Rounded
        && let Some(plain) = Plain::read(text)
    {
        // nearly every mean and share
        return plain
            .rounded(scale)
            .ok_or_else(|| NotAFigure::new("a number that is not negative", text));
    }
    let parts = parts(text).ok_or_else(|| NotAFigure::new(expected, text))?;
    if printer == Decimal::Exact && scale == 1.0 && parts.last == 0 {
        // integers keep all 64 bits
        if let Some(whole) = parts.whole.or_else(|| text.trim().parse().ok()) {
            return Ok(Possible::exactly(Q::from_u64(whole)));
        }
        if text.trim().bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotAFigure::new("a number of 64 bits", text));
        }
    }
    let unit = |power: i32| ten(power);
    let (below, above) = match printer {
        Decimal::Exact => (0.0, 0.0),
        Decimal::Rounded => (0.5 * unit(parts.last), 0.5 * unit(parts.last)),
        Decimal::Truncated => (0.0, unit(parts.last)),
        Decimal::General(digits) => {
            // what %g would have printed as its last digit, had it been no zero; fewer digits were stripped
            let last = (parts.first() - i32::from(digits) + 1).min(parts.last);
            // just below a power of ten there is one more decimal
            let below = if parts.value == unit(parts.first()) {
                0.05
            } else {
                0.5
            };
            (below * unit(last), 0.5 * unit(last))
        }
    };
    // a text is a decimal, an end a double: step outward by one double, so that neither end is cut short
    let lo = ((parts.value - below) * scale).max(0.0);
    let hi = (parts.value + above) * scale;
    let (lo, hi) = if printer == Decimal::Exact {
        (lo, hi)
    } else {
        (if lo > 0.0 { lo.next_down() } else { lo }, hi.next_up())
    };
    Interval::from_f64(lo, hi)
        .map(Possible::from)
        .ok_or_else(|| NotAFigure::new("a number that is not negative", text))
}

/// The same where people may have grouped the digits before the point.
pub fn read_grouped<Q: Quantity>(
    text: &str,
    printer: Decimal,
    scale: f64,
) -> Result<Possible<Q>, NotAFigure> {
    read(text, printer, scale).or_else(|error| match ungrouped(text) {
        Some(plain) => read(&plain, printer, scale),
        None => Err(error),
    })
}

/// Ten to `power`, exact where a double can be.
fn ten(power: i32) -> f64 {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    match POWERS.get(power.unsigned_abs() as usize) {
        Some(&exact) if power >= 0 => exact,
        Some(&exact) => 1.0 / exact,
        None => 10f64.powi(power),
    }
}

/// A plain number whose digits a double holds, 15 characters at most: the form of nearly every figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// All digits as one number.
    mantissa: u64,
    /// How many of them stand behind the point.
    decimals: u32,
}

impl Plain {
    /// The number that `text` is.
    #[inline]
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (length, plain) = Self::at_head(text.as_bytes());
        plain.filter(|_| length == text.len())
    }

    /// How many bytes at the head of `bytes` are digits and a point among them, and the number that they are.
    #[inline]
    pub(crate) fn at_head(bytes: &[u8]) -> (usize, Option<Self>) {
        let mut mantissa = 0u64;
        let mut point = None;
        let mut length = 0;
        for &byte in bytes {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            } else if byte == b'.' && point.is_none() {
                point = Some(length);
            } else {
                break;
            }
            length += 1;
        }
        let decimals = match point {
            None => 0,
            Some(0) => return (length, None),
            Some(point) => length - point - 1,
        };
        let whole = matches!(length, 1..=15) && (point.is_none() || decimals > 0);
        let plain = Self {
            mantissa,
            decimals: decimals as u32,
        };
        (length, whole.then_some(plain))
    }

    /// How many digits stand behind the point.
    #[inline]
    pub(crate) fn decimals(self) -> u32 {
        self.decimals
    }

    /// Whether all digits are zeros.
    #[inline]
    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The number, exact to a double.
    #[inline]
    pub(crate) fn value(self) -> f64 {
        match self.decimals {
            0 => self.mantissa as f64,
            decimals => self.mantissa as f64 / ten(decimals as i32),
        }
    }

    /// What it was rounded from, each unit of the number being `scale` of the quantity's own.
    #[inline]
    pub(crate) fn rounded<Q: Quantity>(self, scale: f64) -> Option<Possible<Q>> {
        /// Half a unit of the last digit, by decimals.
        const HALVES: [f64; 16] = {
            let mut halves = [0.5; 16];
            let (mut decimals, mut unit) = (1, 10.0);
            while decimals < 16 {
                halves[decimals] = 0.5 * (1.0 / unit);
                unit *= 10.0;
                decimals += 1;
            }
            halves
        };
        let value = self.value();
        let half = HALVES[self.decimals as usize & 15];
        // one double outward, as for all that is rounded
        let lo = ((value - half) * scale).max(0.0);
        let hi = (value + half) * scale;
        Interval::from_f64(if lo > 0.0 { lo.next_down() } else { lo }, hi.next_up()).map(Into::into)
    }
}

fn plain_parts(text: &str) -> Option<Parts> {
    let plain = Plain::read(text)?;
    Some(Parts {
        value: plain.value(),
        whole: (plain.decimals == 0).then_some(plain.mantissa),
        last: -(plain.decimals as i32),
        digits: Digits::Of(plain.mantissa),
    })
}

fn parts(text: &str) -> Option<Parts> {
    if let Some(parts) = plain_parts(text) {
        return Some(parts);
    }
    let text = text.trim();
    let bytes = text.as_bytes();
    if !bytes.first()?.is_ascii_digit() {
        return None;
    }
    let mut mantissa: u64 = 0;
    let mut digits = 0u32;
    let mut point = None;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => {
                if mantissa > 0 || byte != b'0' {
                    digits += 1;
                }
                mantissa = mantissa
                    .saturating_mul(10)
                    .saturating_add(u64::from(byte - b'0'));
            }
            b'.' if point.is_none() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                point = Some(at)
            }
            _ => break,
        }
        at += 1;
    }
    let decimals = point.map_or(0, |point| (at - point - 1) as i32);
    let exponent: i32 = match &text[at..] {
        "" => 0,
        rest => rest
            .strip_prefix(['e', 'E'])?
            .parse()
            .ok()
            .filter(|e: &i32| e.abs() < 400)?,
    };
    let last = exponent - decimals;
    // the quick way is exact: both are doubles without rounding, and one division or product rounds once
    let value = if mantissa < (1 << 53) && last.abs() <= 22 {
        if last < 0 {
            mantissa as f64 / ten(-last)
        } else {
            mantissa as f64 * ten(last)
        }
    } else {
        text.parse().ok().filter(|v: &f64| v.is_finite())?
    };
    Some(Parts {
        value,
        whole: (at == bytes.len() && point.is_none() && digits < 20).then_some(mantissa),
        last,
        digits: Digits::Counted(digits),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, BytesPerSec, Nanos};
    use proptest::prelude::*;

    fn ends(text: &str, printer: Decimal, scale: f64) -> (f64, f64) {
        let read = read::<Nanos>(text, printer, scale).unwrap();
        (read.lo().get(), read.hi().get())
    }

    fn close(found: (f64, f64), wanted: (f64, f64)) {
        assert!(
            (found.0 - wanted.0).abs() <= 1e-6 * wanted.0
                && (found.1 - wanted.1).abs() <= 1e-6 * wanted.1,
            "{found:?}, expected {wanted:?}"
        );
    }

    #[test]
    fn digits_tell_the_width() {
        close(
            ends("1294.12", Decimal::Rounded, 1e3),
            (1_294_115.0, 1_294_125.0),
        );
        close(
            ends("139.125", Decimal::Truncated, 1e9),
            (139.125e9, 139.126e9),
        );
        close(
            ends("34.4002", Decimal::General(6), 1e9),
            (34.40015e9, 34.40025e9),
        );
        // stripped zeros: 27.5 had six digits
        close(
            ends("27.5", Decimal::General(6), 1e9),
            (27.49995e9, 27.50005e9),
        );
        close(
            ends("8.2754e-05", Decimal::General(6), 1e9),
            (82753.95, 82754.05),
        );
        close(
            ends("1e+06", Decimal::General(6), 1e9),
            (999_999.5e9, 1_000_005.0e9),
        );
    }

    #[test]
    fn integers_keep_every_bit() {
        assert_eq!(
            read::<Bytes>("18446744073709551615", Decimal::Exact, 1.0).unwrap(),
            Possible::exactly(Bytes(u64::MAX))
        );
        let rate = read::<BytesPerSec>("1664848920", Decimal::Rounded, 1.0).unwrap();
        assert!(rate.contains(BytesPerSec::new(1_664_848_919.6).unwrap()));
        assert!(!rate.contains(BytesPerSec::new(1_664_848_921.0).unwrap()));
    }

    #[test]
    fn what_is_no_number_says_so() {
        for bad in ["", "x", "-1", "nan", "1.2.3", "1e", "1e9999", "."] {
            assert!(
                read::<Nanos>(bad, Decimal::Rounded, 1.0).is_err(),
                "{bad:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_value_lies_in_what_its_text_stands_for(value in 0.0f64..1e9, decimals in 0usize..7) {
            let text = format!("{value:.decimals$}");
            let possible = read::<Nanos>(&text, Decimal::Rounded, 1.0).unwrap();
            prop_assert!(possible.contains(Nanos::new(value).unwrap()), "{} as {}: {:?}", value, text, possible);
        }

        #[test]
        fn general_format_too(mantissa in 0.1f64..1.0, exponent in -6i32..9) {
            // six significant digits with zeros stripped, as %g does it
            let value = mantissa * 10f64.powi(exponent);
            let scientific = format!("{value:.5e}");
            let (digits, power) = scientific.split_once('e').unwrap();
            let power: i32 = power.parse().unwrap();
            let text = if (-4..6).contains(&power) {
                let fixed = format!("{:.*}", (5 - power).max(0) as usize, value);
                if fixed.contains('.') { fixed.trim_end_matches('0').trim_end_matches('.').to_owned() } else { fixed }
            } else {
                format!("{}e{power:+03}", digits.trim_end_matches('0').trim_end_matches('.'))
            };
            let possible = read::<Nanos>(&text, Decimal::General(6), 1.0).unwrap();
            prop_assert!(possible.contains(Nanos::new(value).unwrap()), "{} as {}: {:?}", value, text, possible);
        }
    }
}
