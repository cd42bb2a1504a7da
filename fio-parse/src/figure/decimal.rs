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
    if let Some(plain) = Plain::read(text)
        && let Some(rule) = Scale::of(scale).and_then(|scale| Rule::new(printer, scale))
    {
        // nearly every number
        return plain
            .printed_by(rule)
            .map(Into::into)
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
    let lo = ((parts.value - below) * scale).max(0.0);
    let hi = (parts.value + above) * scale;
    let (lo, hi) = match printer {
        Decimal::Exact => (lo, hi),
        _ => outward(lo, hi),
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
    pub(crate) mantissa: u64,
    /// How many of them stand behind the point.
    pub(crate) decimals: u8,
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
            decimals: decimals as u8,
        };
        (length, whole.then_some(plain))
    }

    /// How many digits stand behind the point.
    #[inline]
    pub(crate) fn decimals(self) -> u32 {
        self.decimals.into()
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
            decimals => self.mantissa as f64 / ten(decimals.into()),
        }
    }

    /// The number in units of the quantity, where it was rounded and is not whole then.
    #[inline]
    pub(crate) fn scaled(self, rule: Rule) -> Option<Self> {
        let shift = match (rule.by, rule.scale) {
            (By::Rounded, Scale::One) => 0,
            (By::Rounded, Scale::Thousand) => 3,
            (By::Rounded, Scale::Million) => 6,
            _ => return None,
        };
        let decimals = self.decimals.checked_sub(shift).filter(|left| *left > 0)?;
        Some(Self { decimals, ..self })
    }

    /// How many characters the number is printed in.
    #[inline]
    pub(crate) fn length(self) -> u32 {
        let digits = digit_count(self.mantissa);
        match self.decimals {
            0 => digits,
            decimals => digits.max(u32::from(decimals) + 1) + 1,
        }
    }

    /// Gives the number as it is printed to `out`, in pieces.
    #[inline]
    pub(crate) fn write(self, mut out: impl FnMut(&str)) {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(self.mantissa);
        match (
            self.decimals,
            digits.len().checked_sub(self.decimals.into()),
        ) {
            (0, _) => out(digits),
            (_, Some(1..)) => {
                let (whole, fraction) = digits.split_at(digits.len() - usize::from(self.decimals));
                out(whole);
                out(".");
                out(fraction);
            }
            (decimals, _) => {
                out(&"0.000000000000000"[..2 + usize::from(decimals) - digits.len()]);
                out(digits);
            }
        }
    }

    /// The quantities that `rule` prints as this number; `None` where there are none.
    #[inline]
    pub(crate) fn printed_by<Q: Quantity>(self, rule: Rule) -> Option<Interval<Q>> {
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
        let scale = rule.scale.number();
        let value = self.value();
        let (lo, hi) = match rule.by {
            By::Exact => (value * scale, value * scale),
            By::Rounded | By::Share => {
                let half = HALVES[usize::from(self.decimals) & 15];
                outward((value - half) * scale, (value + half) * scale)
            }
            By::Truncated => outward(
                value * scale,
                (value + ten(-i32::from(self.decimals))) * scale,
            ),
            By::CutToUnits => (value * scale, value * scale + (scale - 1.0)),
            By::RaisedToUnits => (value * scale - (scale - 1.0), value * scale),
        };
        // a share that is not zero prints as the smallest at least
        let smallest = rule.by == By::Share
            && matches!(
                (self.mantissa, self.decimals),
                (1, 1 | 2) | (100_000 | 10_000, 6)
            );
        Interval::from_f64(if smallest { 0.0 } else { lo.max(0.0) }, hi)
    }
}

/// A text is a decimal, an end a double: step outward by one double, so that neither end is cut short.
#[inline]
fn outward(lo: f64, hi: f64) -> (f64, f64) {
    (if lo > 0.0 { lo.next_down() } else { lo }, hi.next_up())
}

/// By what printer a plain number came about, and how many of the quantity's own units each of its units is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    by: By,
    scale: Scale,
}

impl Rule {
    /// The rule of a printer and a scale; `None` where they are no usual ones.
    #[inline]
    pub(crate) const fn new(printer: Decimal, scale: Scale) -> Option<Self> {
        let by = match printer {
            Decimal::Exact => By::Exact,
            Decimal::Rounded => By::Rounded,
            Decimal::Truncated => By::Truncated,
            Decimal::General(_) => return None,
        };
        Some(Self { by, scale })
    }

    /// With all digits.
    pub(crate) const fn exact(scale: Scale) -> Self {
        Self {
            by: By::Exact,
            scale,
        }
    }

    /// Rounded at the last digit.
    #[inline]
    pub(crate) const fn rounded(scale: Scale) -> Self {
        Self {
            by: By::Rounded,
            scale,
        }
    }

    /// Cut to whole printed units: `33` in usec is 33000 to 33999 ns.
    #[inline]
    pub(crate) const fn cut_to_units(scale: Scale) -> Self {
        Self {
            by: By::CutToUnits,
            scale,
        }
    }

    /// Raised to whole printed units: `502` in usec is 501001 to 502000 ns.
    #[inline]
    pub(crate) const fn raised_to_units(scale: Scale) -> Self {
        Self {
            by: By::RaisedToUnits,
            scale,
        }
    }

    /// A share in percent: one that is not zero prints as 0.1 (of depths) or 0.01 (of latencies) at least; JSON has six
    /// decimals.
    pub(crate) const SHARE: Self = Self {
        by: By::Share,
        scale: Scale::One,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Exact,
    Rounded,
    Truncated,
    CutToUnits,
    RaisedToUnits,
    Share,
}

/// The usual scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    One,
    Thousand,
    Million,
    Billion,
    Kibi,
    Mebi,
}

impl Scale {
    const ALL: [Self; 6] = [
        Scale::One,
        Scale::Thousand,
        Scale::Million,
        Scale::Billion,
        Scale::Kibi,
        Scale::Mebi,
    ];

    /// The scale that is this number, if it is a usual one.
    #[inline]
    pub(crate) fn of(number: f64) -> Option<Self> {
        Self::ALL.into_iter().find(|scale| scale.number() == number)
    }

    #[inline]
    pub(crate) const fn number(self) -> f64 {
        const NUMBERS: [f64; 6] = [1.0, 1e3, 1e6, 1e9, 1024.0, 1_048_576.0];
        NUMBERS[self as usize]
    }
}

fn plain_parts(text: &str) -> Option<Parts> {
    let plain = Plain::read(text)?;
    Some(Parts {
        value: plain.value(),
        whole: (plain.decimals == 0).then_some(plain.mantissa),
        last: -i32::from(plain.decimals),
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
