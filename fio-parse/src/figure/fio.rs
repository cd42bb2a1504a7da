//! fio's number printer, and what a text of it can stand for.
//!
//! The printer gets a whole number and a width in characters. It divides by 1000 or 1024, dropping remainders,
//! until the whole part fits; then it fills the width with decimals made from the *last* remainder alone:
//!
//! ```text
//! figure  = number [" "] prefix unit
//! number  = digits ["." digits]
//! prefix  = "" | k | K | M | G | T | P | E, each followed by "i" where 1024 is meant (2.17 and later)
//! unit    = "" | "B" | "B/s" | "bit" | "bit/s"
//! ```
//!
//! What the digits after the point are worth changed over time ([`Digits`]). With the whole part `I`, a step
//! of `t` (1000 or 1024), `k` divisions and a last remainder `m`, the value lies in
//! `[(I*t + m) * t^(k-1), (I*t + m + 1) * t^(k-1) - 1]`, for every `m` that prints as the decimals seen.
//!
//! | era | `58.6GiB`, `62.0GB` |
//! |---|---|
//! | to 2.19 | the digits are no decimals: anything in `[58, 59)` GiB, `[62, 63)` GB |
//! | 2.20 to 3.25 | a fraction that rounds up to 1.0 prints `.0` and leaves the whole part: `62.0` is 62.000 to 62.049 or 62.951 to 62.999 |
//! | 3.26 on | the carry is kept: `62.0` is 61.951 to 62.049, and 9.996 prints `10.00` |
//!
//! The carry of 3.26 was checked against fio 3.33 itself, whose job header prints any block size through this
//! printer.

use super::{Figure, NotAFigure, Number, digit_count, ungrouped};
use crate::interval::{Interval, Possible};
use crate::unit::Quantity;
use smallvec::{SmallVec, smallvec};
use std::ops::Deref;
use std::sync::LazyLock;

/// What the digits after the point are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Digits {
    /// To 2.19: a shortened remainder, no decimals. `I.f` says no more than `[I, I+1)`.
    Remainder,
    /// 2.20 to 3.25: decimals, but a fraction that rounds up to one prints as `.0` with the whole part left as it was.
    CarryLost,
    /// 3.26 and later: decimals.
    CarryKept,
    /// 2.20 or later, with a version that is not known: lost or kept.
    CarryUnknown,
}

/// What a `K` of the text multiplies by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kilo {
    /// 2.17 and later: `Ki` is 1024, `k` is 1000.
    AsWritten,
    /// To 2.16 with the default `kb_base`: `K` is 1024 for bytes.
    Is1024,
    /// `K` is 1000, as for IOPS at all times, and for bytes to 2.16 under `kb_base=1000`.
    Is1000,
    /// To 2.16 with a `kb_base` that is not known: either.
    Either,
}

/// The printer of one era.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FioPrinter {
    /// Characters for the number with its point, 1 to 10: 4 from 2.17 on, 6 before, 6 for latency at all times, or what `significant_figures` says.
    pub width: u8,
    /// What the digits after the point are worth.
    pub digits: Digits,
    /// What `K` multiplies by.
    pub kilo: Kilo,
    /// Whether the prefixes are K M G T P, or (1.14 to 2.16) K M G P E, so that `P` means 10^12.
    pub has_tera: bool,
}

impl FioPrinter {
    /// Bandwidth, sizes and IOPS of 2.17 and later.
    pub const fn modern(digits: Digits) -> Self {
        Self {
            width: 4,
            digits,
            kilo: Kilo::AsWritten,
            has_tera: true,
        }
    }
}

/// Intervals of whole numbers, before they become a quantity: one or two, but for open bases and carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    ranges: SmallVec<[(u64, u64); 2]>,
}

impl Whole {
    fn push(&mut self, range: (u64, u64)) {
        self.ranges.push(range);
    }

    /// Sorts the intervals and joins those that touch: whole numbers have nothing in between.
    fn join(&mut self) {
        if self.ranges.len() < 2 {
            return;
        }
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, kept| {
            let touches = next.0 <= kept.1.saturating_add(1);
            if touches {
                kept.1 = kept.1.max(next.1);
            }
            touches
        });
    }
}

impl From<(u64, u64)> for Whole {
    fn from(range: (u64, u64)) -> Self {
        Self {
            ranges: smallvec![range],
        }
    }
}

impl Deref for Whole {
    type Target = [(u64, u64)];

    fn deref(&self) -> &[(u64, u64)] {
        &self.ranges
    }
}

/// Every quantity that `figure` may stand for, its unit included: bytes for `B`, bytes for `bit` (eight bits each).
///
/// A missing unit is accepted, as fio forgets it in places (`BW=99.8Mi (105M)` for all clients together).
/// Errors: the text is no figure of fio, or holds a unit of another kind.
pub fn read<Q: Quantity>(
    figure: &Figure<'_>,
    printer: FioPrinter,
) -> Result<Possible<Q>, NotAFigure> {
    let (whole, unit) = read_whole(figure.text, printer)?;
    let bits = match unit {
        "" | "B" | "B/s" | "/s" | "iB" | "iB/s" => false,
        "bit" | "bit/s" => true,
        _ => {
            return Err(NotAFigure::new(
                "a fio figure with the unit B, B/s or bit/s",
                figure.text,
            ));
        }
    };
    if let (false, &[(lo, hi)]) = (bits, &*whole)
        && let Some(possible) = Possible::between(Q::from_u64(lo), Q::from_u64(hi))
    {
        return Ok(possible);
    }
    let parts = whole.iter().filter_map(|&(lo, hi)| {
        let (lo, hi) = if bits {
            (lo.div_ceil(8), hi / 8)
        } else {
            (lo, hi)
        };
        Interval::new(Q::from_u64(lo), Q::from_u64(hi))
    });
    Possible::union(parts).ok_or_else(|| {
        NotAFigure::new(
            "a figure that some whole number of bytes prints as",
            figure.text,
        )
    })
}

/// The whole numbers that `text` may stand for, and the unit that follows number and prefix.
///
/// Errors: the text does not start with a number, or the number is beyond 64 bits.
pub fn read_whole(text: &str, printer: FioPrinter) -> Result<(Whole, &str), NotAFigure> {
    let expected = "a fio figure such as 293MiB/s";
    let number = Number::read(text).ok_or_else(|| NotAFigure::new(expected, text))?;
    if number.rest.starts_with(',') {
        let plain = ungrouped(text).ok_or_else(|| NotAFigure::new(expected, text))?;
        let (whole, unit) = read_whole(&plain, printer)?;
        return Ok((whole, &text[text.len() - unit.len()..]));
    }
    let rest = number.rest.strip_prefix(' ').unwrap_or(number.rest);
    let (power, rest) = prefix(rest, printer.has_tera);
    let (binary, unit) = match rest.strip_prefix('i') {
        Some(unit) if power > 0 => (true, unit),
        _ => (false, rest),
    };
    if power == 0 {
        if number.decimals > 0 {
            return Err(NotAFigure::new(
                "a prefix after a fio figure with decimals",
                text,
            ));
        }
        return Ok(((number.whole, number.whole).into(), unit));
    }
    let mut whole = Whole::default();
    let steps: &[u64] = match printer.kilo {
        Kilo::AsWritten if binary => &[1024],
        Kilo::AsWritten | Kilo::Is1000 => &[1000],
        Kilo::Is1024 => &[1024],
        Kilo::Either if binary => &[1024],
        Kilo::Either => &[1024, 1000],
    };
    for &step in steps {
        scaled(&number, step, power, printer, &mut whole);
    }
    if whole.is_empty() {
        return Err(NotAFigure::new(expected, text));
    }
    whole.join();
    Ok((whole, unit))
}

/// How many steps the prefix at the head of `text` stands for, and what follows it.
fn prefix(text: &str, has_tera: bool) -> (u32, &str) {
    let Some(&first) = text.as_bytes().first() else {
        return (0, text);
    };
    let power = match (first, has_tera) {
        (b'k' | b'K', _) => 1,
        (b'M', _) => 2,
        (b'G', _) => 3,
        (b'T', _) | (b'P', false) => 4,
        (b'P', true) | (b'E', false) => 5,
        (b'E', true) => 6,
        _ => return (0, text),
    };
    (power, &text[1..])
}

/// Adds the intervals of `number` after `power` divisions by `step`.
fn scaled(number: &Number<'_>, step: u64, power: u32, printer: FioPrinter, into: &mut Whole) {
    let Some(unit) = step.checked_pow(power - 1) else {
        return;
    };
    let mut add = |lo: u64, hi: u64| {
        if let Some(lo) = lo.checked_mul(unit) {
            let end = u128::from(hi + 1) * u128::from(unit) - 1;
            into.push((lo, u64::try_from(end).unwrap_or(u64::MAX)));
        }
    };
    // the last division was made because the quotient was too wide, and was the last because it then was not
    let mut kept = false;
    if let Some(width) = clip_width(number, printer) {
        let least = ten(width);
        let most = least.saturating_mul(step) - 1;
        quotients(number, step, printer, |lo, hi| {
            let (lo, hi) = (lo.max(least), hi.min(most));
            if lo <= hi {
                kept = true;
                add(lo, hi);
            }
        });
    }
    if !kept {
        // printed with another width than supposed
        quotients(number, step, printer, add);
    }
}

/// Ten to `power`; what is too large for 64 bits is the largest number.
fn ten(power: u32) -> u64 {
    const POWERS: [u64; 10] = [
        1,
        10,
        100,
        1_000,
        10_000,
        100_000,
        1_000_000,
        10_000_000,
        100_000_000,
        1_000_000_000,
    ];
    match POWERS.get(power as usize) {
        Some(&power) => power,
        None => 10u64.saturating_pow(power),
    }
}

/// The width in characters that the printer must have had, if the text allows to tell.
fn clip_width(number: &Number<'_>, printer: FioPrinter) -> Option<u32> {
    let width = u32::from(printer.width);
    if number.decimals == 0 {
        // one or two digits had room for decimals, unless the width was one that nobody told us of
        return (number.whole_digits + 1 >= width).then_some(width);
    }
    let written = number.whole_digits + 1 + number.decimals;
    (written == width || written == width + 1).then_some(width)
}

/// Gives `found` the ranges of quotients before the last division, `I * t + m`, that print as `number`: at most two for
/// each way to carry.
#[inline]
fn quotients(number: &Number<'_>, step: u64, printer: FioPrinter, mut found: impl FnMut(u64, u64)) {
    // a number that does not fit after one division fits even less before all of them
    let base = match number.whole.checked_mul(step) {
        Some(base) if base <= u64::MAX - step => base,
        _ => return,
    };
    if number.decimals == 0 {
        // no room for decimals: rounded to the nearest, a half goes up. A whole part that had room was not rounded up.
        let below = number.whole.saturating_sub(1);
        let had_room = digit_count(below) + 1 < u32::from(printer.width);
        let down = if had_room { 0 } else { step / 2 };
        return found(base.saturating_sub(down), base + step / 2 - 1);
    }
    if printer.digits == Digits::Remainder {
        return found(base, base + step - 1);
    }
    if number.fraction != 0 {
        // nothing was carried
        if let Some((lo, hi)) = remainders(step, number.decimals, number.fraction) {
            found(base + lo, base + hi);
        }
        return;
    }
    let mut add = |base: u64, (lo, hi): Remainders| found(base + lo, base + hi);
    let plain = remainders(step, number.decimals, 0);
    let carried = 10u64
        .checked_pow(number.decimals)
        .and_then(|one| remainders(step, number.decimals, one));
    if matches!(printer.digits, Digits::CarryLost | Digits::CarryUnknown) {
        for range in [plain, carried].into_iter().flatten() {
            add(base, range);
        }
    }
    if matches!(printer.digits, Digits::CarryKept | Digits::CarryUnknown) {
        // the whole part before the carry fixed the number of decimals; a width that fits neither is not the one used
        let digits_before = u32::from(printer.width).checked_sub(number.decimals + 1);
        let candidates = [
            plain.map(|range| (number.whole, range)),
            number.whole.checked_sub(1).zip(carried),
        ];
        let fits = |whole: u64| digits_before == Some(digit_count(whole));
        let any_fits = candidates.iter().flatten().any(|&(whole, _)| fits(whole));
        for (whole, range) in candidates.into_iter().flatten() {
            if fits(whole) || !any_fits {
                add(whole * step, range);
            }
        }
    }
}

/// A range of remainders, both ends included.
type Remainders = (u64, u64);

/// The remainders of one step by decimals (1 to 3) and by fraction.
type RemainderTable = [Vec<Option<Remainders>>; 3];

/// The remainders `m` of a step `t` whose `m / t`, printed with `decimals` digits, gives `fraction`.
///
/// `fraction` = 10^decimals asks for those that round up to one.
fn remainders(step: u64, decimals: u32, fraction: u64) -> Option<Remainders> {
    /// For the steps 1000 and 1024. Made in one pass over the remainders: they are printed in rising order.
    static TABLE: LazyLock<[RemainderTable; 2]> = LazyLock::new(|| {
        [1000, 1024].map(|step| {
            [1u32, 2, 3].map(|decimals| {
                let mut table: Vec<Option<Remainders>> = vec![None; 10usize.pow(decimals) + 1];
                for m in 0..step {
                    let range = &mut table[round_fraction(m, step, decimals) as usize];
                    *range = Some((range.map_or(m, |(lo, _)| lo), m));
                }
                table
            })
        })
    });
    match (step, decimals) {
        (1000, 1..=3) => TABLE[0][decimals as usize - 1]
            .get(fraction as usize)
            .copied()?,
        (1024, 1..=3) => TABLE[1][decimals as usize - 1]
            .get(fraction as usize)
            .copied()?,
        _ => search(step, decimals, fraction),
    }
}

/// As [`remainders`], by bisection: a larger remainder never prints as a smaller fraction.
fn search(step: u64, decimals: u32, fraction: u64) -> Option<Remainders> {
    let first_not_below = |limit: u64| {
        let (mut lo, mut hi) = (0, step);
        while lo < hi {
            let middle = (lo + hi) / 2;
            if round_fraction(middle, step, decimals) < limit {
                lo = middle + 1;
            } else {
                hi = middle;
            }
        }
        lo
    };
    let (lo, end) = (
        first_not_below(fraction),
        first_not_below(fraction.checked_add(1)?),
    );
    (lo < end).then(|| (lo, end - 1))
}

/// `m / t` to `decimals` digits as C's `%.Nf` rounds the double: in units of the last digit, 10^decimals for one.
fn round_fraction(m: u64, step: u64, decimals: u32) -> u64 {
    let text = format!("{:.*}", decimals as usize, m as f64 / step as f64);
    text.bytes()
        .filter(u8::is_ascii_digit)
        .fold(0, |n: u64, digit| {
            n.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        })
}

/// The text fio prints for `value`, with `unit` (`B`, `B/s`, or nothing) behind the prefix.
///
/// `binary` chooses between 1024 with `Ki` and 1000 with `k`. Only printers with decimals are here to print:
/// nobody needs the older digits again, so [`Digits::Remainder`] prints as [`Digits::CarryLost`].
pub fn print(value: u64, printer: FioPrinter, binary: bool, unit: &str) -> String {
    let step = if binary { 1024 } else { 1000 };
    let prefixes: &[&str] = match binary {
        true => &["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
        false => &["", "k", "M", "G", "T", "P", "E"],
    };
    let width = u32::from(printer.width);
    let (mut whole, mut remainder, mut power) = (value, 0, 0);
    while digit_count(whole) > width && power + 1 < prefixes.len() {
        (remainder, whole) = (whole % step, whole / step);
        power += 1;
    }
    let prefix = prefixes[power];
    let digits = digit_count(whole);
    if power == 0 {
        return format!("{whole}{unit}");
    }
    if digits + 1 >= width {
        whole += u64::from(remainder >= step / 2);
        return format!("{whole}{prefix}{unit}");
    }
    let decimals = width - digits - 1;
    let full = 10u64.pow(decimals);
    let mut fraction = round_fraction(remainder, step, decimals);
    if fraction == full {
        fraction = 0;
        whole += u64::from(matches!(
            printer.digits,
            Digits::CarryKept | Digits::CarryUnknown
        ));
    }
    format!(
        "{whole}.{fraction:0decimals$}{prefix}{unit}",
        decimals = decimals as usize
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;
    use crate::unit::{Bytes, BytesPerSec};
    use proptest::prelude::*;

    fn figure(text: &str) -> Figure<'_> {
        Figure {
            text,
            span: Span::new(0, text.len() as u32),
        }
    }

    fn bounds(text: &str, digits: Digits) -> Vec<(u64, u64)> {
        read::<Bytes>(&figure(text), FioPrinter::modern(digits))
            .unwrap()
            .parts()
            .iter()
            .map(|p| (p.lo().0, p.hi().0))
            .collect()
    }

    #[test]
    fn whole_figures_are_rounded_to_the_nearest() {
        assert_eq!(
            bounds("293MiB", Digits::CarryUnknown),
            [(306_708_480, 307_757_055)]
        );
        assert_eq!(
            bounds("307MB", Digits::CarryUnknown),
            [(306_500_000, 307_499_999)]
        );
        assert_eq!(bounds("4096B", Digits::CarryKept), [(4096, 4096)]);
    }

    #[test]
    fn a_lost_carry_makes_two_intervals() {
        // C prints 0.049 as 0.0, 0.050 as 0.1 (its double lies above), 0.949 as 0.9 and 0.950 as 0.9 (its double lies below)
        assert_eq!(
            bounds("62.0GB", Digits::CarryLost),
            [
                (62_000_000_000, 62_049_999_999),
                (62_951_000_000, 62_999_999_999)
            ]
        );
        assert_eq!(
            bounds("62.0GB", Digits::CarryKept),
            [(61_951_000_000, 62_049_999_999)]
        );
        assert_eq!(
            bounds("58.6GiB", Digits::CarryUnknown),
            [(62_868_422_656, 62_975_377_407)]
        );
    }

    /// What fio 3.33 itself prints for these block sizes in its job header (`fio --ioengine=null --bs=N`).
    const FIO_3_33: &[(u64, &str)] = &[
        (9_999, "9999B"),
        (10_000, "9.77KiB"),
        (10_230, "9.99KiB"),
        (10_234, "9.99KiB"),
        (10_235, "10.00KiB"),
        (10_239, "10.00KiB"),
        (10_240, "10.0KiB"),
        (102_348, "99.9KiB"),
        (102_390, "100.0KiB"),
        (102_400, "100KiB"),
        (1_023_999, "1000KiB"),
        (10_235_904, "9996KiB"),
        (10_239_999, "10000KiB"),
        (10_240_000, "9.77MiB"),
        (10_484_736, "10.00MiB"),
        (1_048_000_000, "999MiB"),
    ];

    #[test]
    fn the_printer_agrees_with_fio_itself() {
        for &(value, text) in FIO_3_33 {
            assert_eq!(
                print(value, FioPrinter::modern(Digits::CarryKept), true, "B"),
                text
            );
            let read = read::<Bytes>(&figure(text), FioPrinter::modern(Digits::CarryKept)).unwrap();
            assert!(read.contains(Bytes(value)), "{text}");
        }
        let seven = FioPrinter {
            width: 7,
            ..FioPrinter::modern(Digits::CarryKept)
        };
        assert_eq!(print(10_235_904_000, seven, true, "B/s"), "9996000KiB/s");
        assert_eq!(print(10_235_904, seven, true, "B"), "9996.00KiB");
        assert_eq!(print(10_235_904_000, seven, false, "B/s"), "10235.9MB/s");
    }

    #[test]
    fn bits_come_back_as_bytes() {
        let read =
            read::<BytesPerSec>(&figure("8000kbit/s"), FioPrinter::modern(Digits::CarryKept))
                .unwrap();
        assert_eq!(read.lo().get(), (7_999_500.0f64 / 8.0).ceil());
        assert_eq!(read.hi().get(), (8_000_499.0f64 / 8.0).floor());
    }

    #[test]
    fn old_prefixes_lack_the_tera() {
        let old = FioPrinter {
            width: 6,
            digits: Digits::Remainder,
            kilo: Kilo::Is1024,
            has_tera: false,
        };
        let read = read::<Bytes>(&figure("1.2PB"), old).unwrap();
        assert_eq!((read.lo().0, read.hi().0), (1 << 40, (2 << 40) - 1));
    }

    #[test]
    fn unknown_base_gives_both() {
        let old = FioPrinter {
            width: 6,
            digits: Digits::Remainder,
            kilo: Kilo::Either,
            has_tera: false,
        };
        let read = read::<Bytes>(&figure("100KB"), old).unwrap();
        assert_eq!(read.parts().len(), 2);
        assert!(read.contains(Bytes(100_000)) && read.contains(Bytes(102_400)));
    }

    #[test]
    fn what_is_no_figure_says_so() {
        let error =
            read::<Bytes>(&figure("12.5"), FioPrinter::modern(Digits::CarryKept)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected a prefix after a fio figure with decimals, found \"12.5\""
        );
        for bad in ["", "MiB", "-4KiB", "99999999999999999999999B", "3KiB/w"] {
            assert!(
                read::<Bytes>(&figure(bad), FioPrinter::modern(Digits::CarryKept)).is_err(),
                "{bad}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_value_lies_in_what_its_text_stands_for(
            value in prop_oneof![0u64..100_000, any::<u32>().prop_map(u64::from), any::<u64>(), near_powers()],
            width in 4u8..9,
            binary: bool,
            kept: bool,
        ) {
            let digits = if kept { Digits::CarryKept } else { Digits::CarryLost };
            let printer = FioPrinter { width, ..FioPrinter::modern(digits) };
            let text = print(value, printer, binary, "B");
            for digits in [digits, Digits::CarryUnknown] {
                let printer = FioPrinter { digits, ..printer };
                let possible = read::<Bytes>(&figure(&text), printer).unwrap();
                prop_assert!(possible.contains(Bytes(value)), "{} printed {}, read {:?}", value, text, possible);
                // and the ends print so too, so the interval is not too wide
                if printer.digits != Digits::CarryUnknown {
                    for part in possible.parts() {
                        for end in [part.lo().0, part.hi().0] {
                            prop_assert_eq!(&print(end, printer, binary, "B"), &text, "end {} of {:?}", end, possible);
                        }
                    }
                }
            }
        }
    }

    /// Values around the places where a digit or a prefix is gained.
    fn near_powers() -> impl Strategy<Value = u64> {
        (1u32..7, 0u32..4, any::<bool>(), -3_000i64..3_000).prop_map(|(power, tens, binary, by)| {
            let step: u64 = if binary { 1024 } else { 1000 };
            (step.saturating_pow(power).saturating_mul(10u64.pow(tens))).saturating_add_signed(by)
        })
    }
}
