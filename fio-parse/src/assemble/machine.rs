//! Decoding of plain numbers, common to fio's machine formats: JSON, terse, logs.
//!
//! These formats print through C's `%llu`, `%f` and `%.2f`, so a figure stands for itself or for half a unit of its
//! last digit to both sides. Three things make it wider: KiB that were cut (`io_bytes >> 10`), whole IOPS that were
//! cut, and units that the version would tell and that nobody stated.

pub(super) use crate::block::fio_json::is_zero;
use crate::diagnostic::{Code, Diagnostic};
use crate::figure::Figure;
use crate::figure::decimal::{Decimal, Plain, Rule, Scale};
use crate::interval::{Interval, Possible};
use crate::reading::Reading;
use crate::source::Log;
use crate::unit::Quantity;

/// Turns texts of one log into readings, and notes those that are no numbers.
pub(super) struct Decoder<'a, 't> {
    log: &'a Log<'t>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

impl<'a, 't> Decoder<'a, 't> {
    pub fn new(log: &'a Log<'t>) -> Self {
        Self {
            log,
            problems: Vec::new(),
        }
    }

    /// A slice of the log with its span.
    pub fn figure<'f>(&self, text: &'f str) -> Figure<'f> {
        Figure {
            text,
            span: self.log.span_of(text),
        }
    }

    /// A number whose unit is `scale` of the quantity's own. Absent texts stay absent, and so do `nan` and negative numbers.
    pub fn read<Q: Quantity>(
        &mut self,
        text: Option<&str>,
        printer: Decimal,
        scale: f64,
    ) -> Option<Reading<Q>> {
        let text = text?;
        match Reading::decimal(self.figure(text), printer, scale) {
            Ok(reading) => Some(reading),
            Err(problem) => {
                if !is_no_number(text) {
                    let span = self.log.span_of(text);
                    self.problems.push(Diagnostic::warning(
                        Code::UNREADABLE,
                        Some(span),
                        problem.to_string(),
                    ));
                }
                None
            }
        }
    }

    /// A whole number of which all digits are there.
    pub fn exact<Q: Quantity>(&mut self, text: Option<&str>, scale: f64) -> Option<Reading<Q>> {
        // a few tools write integers as 12.0 or 1.2e1
        let printer = match text {
            Some(text) if text.bytes().any(|byte| !byte.is_ascii_digit()) => Decimal::Rounded,
            _ => Decimal::Exact,
        };
        self.read(text, printer, scale)
    }

    /// A number printed by `%f` or `%.2f`.
    pub fn rounded<Q: Quantity>(&mut self, text: Option<&str>, scale: f64) -> Option<Reading<Q>> {
        self.read(text, Decimal::Rounded, scale)
    }

    /// A number that was cut to whole steps of `step`: `n` stands for `n * step` to `(n + 1) * step - 1`.
    pub fn cut<Q: Quantity>(&mut self, text: Option<&str>, step: u64) -> Option<Reading<Q>> {
        let text = text?;
        let figure = self.figure(text);
        if let Some(scale) = Scale::of(step as f64)
            && let Some(plain) = Plain::read(text).filter(|plain| plain.decimals() == 0)
        {
            return Reading::of_plain(plain, Rule::cut_to_units(scale), figure);
        }
        match cut(text, step) {
            Some(possible) => Some(Reading::of(possible, figure)),
            None => self.read(Some(text), Decimal::Truncated, step as f64),
        }
    }

    /// Whole IOPS, cut: anything from `n` to `n + 1`.
    pub fn cut_rate<Q: Quantity>(&mut self, text: Option<&str>) -> Option<Reading<Q>> {
        self.read(text, Decimal::Truncated, 1.0)
    }
}

/// What a whole number of cut steps stands for; `None` where it is none, or too large.
pub(super) fn cut<Q: Quantity>(text: &str, step: u64) -> Option<Possible<Q>> {
    let lo = text.parse::<u64>().ok()?.checked_mul(step)?;
    let hi = lo.checked_add(step - 1)?;
    Interval::new(Q::from_u64(lo), Q::from_u64(hi)).map(Possible::from)
}

/// A number of which only the count matters.
pub(super) fn count(text: Option<&str>) -> Option<u64> {
    text?.parse().ok()
}

/// Whether a text is one of fio's words for no number, or a sum that overflowed.
fn is_no_number(text: &str) -> bool {
    let word = text.strip_prefix('-').unwrap_or(text);
    word.starts_with("nan") || word.starts_with("inf") || word.len() < text.len()
}
