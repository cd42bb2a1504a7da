//! Figures: a number with a unit as some tool printed it, the printers that made it, and their inverses.
//!
//! A printed figure is the preimage of a printer: `293MiB/s` stands for every integer that fio's own number
//! printer turns into that text, and for no other. "293 plus or minus a half" is nearly the same, and wrong in
//! the cases that matter (`62.0GB` of a fio before 3.26 may be 62.97 GB). So each printer is modelled here beside
//! its inverse, and the two are tested as a pair: `x` lies in `read(print(x))`.
//!
//! | module | printers |
//! |---|---|
//! | [`fio`] | fio's number printer of every era |
//! | [`decimal`] | C's `%d`, `%.Nf` and `%g`, as used by fio for means and by dd and `time` for seconds |
//! | [`human`] | the scaled sizes and rates of GNU dd |
//!
//! Figures are decoded late: blocks keep them as text and span, and the number is decided in `assemble`, when
//! tool, version and unit base are known.

pub mod decimal;
pub mod fio;
pub mod human;

use crate::source::Span;
use std::fmt;

/// An undecoded figure: its text as it stands in the log, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure<'t> {
    /// The slice of the log, number and unit.
    pub text: &'t str,
    /// Where the slice stands.
    pub span: Span,
}

/// A text that no value of the printer produces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAFigure {
    expected: &'static str,
    found: String,
}

impl NotAFigure {
    pub(crate) fn new(expected: &'static str, found: &str) -> Self {
        // a figure is short; whatever is longer is shown by its beginning
        let mut found: String = found.chars().take(41).collect();
        if found.chars().count() > 40 {
            found.pop();
            found.push('…');
        }
        Self { expected, found }
    }
}

impl fmt::Display for NotAFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {:?}", self.expected, self.found)
    }
}

impl std::error::Error for NotAFigure {}

/// The number at the head of a figure: digits, then perhaps a point and digits. The rest is the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number<'t> {
    /// The digits before the point, as a number.
    pub whole: u64,
    /// How many digits stand before the point.
    pub whole_digits: u32,
    /// The digits after the point, as a number; zero if there are none.
    pub fraction: u64,
    /// How many digits stand after the point.
    pub decimals: u32,
    /// What follows.
    pub rest: &'t str,
}

impl<'t> Number<'t> {
    /// Reads `12`, `12.34`; neither sign nor exponent. `None` where no digit stands in front, or too many stand there.
    pub fn read(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (whole, whole_digits) = digits(bytes)?;
        if whole_digits == 0 {
            return None;
        }
        let mut at = whole_digits as usize;
        let (mut fraction, mut decimals) = (0, 0);
        if let [b'.', digit, ..] = bytes[at..]
            && digit.is_ascii_digit()
        {
            (fraction, decimals) = digits(&bytes[at + 1..])?;
            at += 1 + decimals as usize;
        }
        Some(Self {
            whole,
            whole_digits,
            fraction,
            decimals,
            rest: &text[at..],
        })
    }
}

/// The number at the head of `bytes`, and how many digits it has, perhaps none; `None` where 64 bits are too few.
#[inline]
fn digits(bytes: &[u8]) -> Option<(u64, u32)> {
    let mut value = 0u64;
    let mut count = 0;
    for &byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        // as many digits as surely fit need no check
        value = if count < 18 {
            value * 10 + u64::from(digit)
        } else {
            value.checked_mul(10)?.checked_add(u64::from(digit))?
        };
        count += 1;
    }
    Some((value, count))
}

/// How many digits `n` has in decimal; zero has one.
pub(crate) fn digit_count(n: u64) -> u32 {
    n.checked_ilog10().map_or(1, |log| log + 1)
}
