//! One quantity that fio printed in one or two bases, to one reading.
//!
//! `293MiB/s (307MB/s)` is a single reading: what both figures allow. Where they contradict each other, the first
//! is kept and the record is told. A figure that a lost carry made wrong as printed (`62.0GB` for 62.97 GB) is
//! found by its twin: what the two allow is then no value that the figure could have been rounded from.

use crate::block::fio_group::Pair;
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Look};
use crate::figure::Figure;
use crate::figure::decimal::{self, Decimal, Plain, Rule, Scale};
use crate::figure::fio::{self, Digits, FioPrinter};
use crate::interval::{Interval, Possible};
use crate::reading::Reading;
use crate::unit::{Nanos, Quantity};

/// The reading of `pair`, or `None` where its first figure is missing or no figure of fio; `warnings` learns why.
pub(super) fn read<Q: Quantity>(
    pair: &Pair<'_>,
    printer: FioPrinter,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Reading<Q>> {
    let first = pair.first?;
    let possible = figure::<Q>(&first, printer, warnings)?;
    let mut reading = Reading::of(possible, first);
    if let Some(second) = pair.second
        && let Some(twin) = figure::<Q>(&second, printer, warnings)
    {
        reading = match reading.narrowed(&twin, second) {
            Ok(reading) => reading,
            Err(reading) => {
                warnings.push(Diagnostic::warning(
                    Code::DISAGREE,
                    Some(second.span),
                    format!(
                        "{} and {} are printed for one quantity and contradict each other; the first was kept",
                        first.text, second.text
                    ),
                ));
                reading
            }
        };
        for (figure, twin) in [(first, second), (second, first)] {
            note_lost_carry(&figure, &twin, &reading, printer, warnings);
        }
    }
    Some(reading)
}

/// Results, and what they say of the version.
pub(super) struct Settled<T> {
    /// The results.
    pub results: Vec<T>,
    /// The era they are of.
    pub era: Era,
    /// The note that this era was told by the figures alone; it belongs behind the warnings of each result.
    pub note: Option<Diagnostic>,
}

/// Decodes by `decode`, and again as of fio 2.17 to 2.19 where no version is stated and the figures contradict each
/// other otherwise: the digits after the point are no decimals there. Each result holds its warnings, given by `warnings`.
pub(super) fn settled<T>(
    era: Era,
    decode: impl Fn(Era) -> Vec<T>,
    warnings: impl Fn(&mut T) -> &mut Vec<Diagnostic>,
) -> Settled<T> {
    let mut first = decode(era);
    let disagree = |all: &mut Vec<T>| {
        all.iter_mut()
            .any(|one| warnings(one).iter().any(|w| w.code == Code::DISAGREE))
    };
    let as_first = |results| Settled {
        results,
        era,
        note: None,
    };
    if !era.may_have_remainders() || !disagree(&mut first) {
        return as_first(first);
    }
    let remainders = era.seen(Look::ModernRemainders);
    let mut again = decode(remainders);
    if disagree(&mut again) {
        return as_first(first);
    }
    Settled {
        results: again,
        era: remainders,
        note: Some(Diagnostic::note(
            Code::VERSION_ASSUMED,
            None,
            "no fio version is stated, and the figures hold together only as those of 2.17 to 2.19, whose digits after the point are no decimals; read so",
        )),
    }
}

/// What one figure allows; `warnings` learns where it is none.
pub(super) fn figure<Q: Quantity>(
    figure: &Figure<'_>,
    printer: FioPrinter,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Possible<Q>> {
    match fio::read(figure, printer) {
        Ok(possible) => Some(possible),
        Err(error) => {
            warnings.push(unreadable(figure, &error));
            None
        }
    }
}

/// The warning that a figure is none.
pub(super) fn unreadable(figure: &Figure<'_>, error: &crate::figure::NotAFigure) -> Diagnostic {
    Diagnostic::warning(Code::UNREADABLE, Some(figure.span), error.to_string())
}

/// A run time: whole milliseconds, with or without `msec` behind the number.
pub(super) fn runtime(
    figure: Option<Figure<'_>>,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Reading<Nanos>> {
    let figure = figure?;
    let number = figure
        .text
        .trim_end_matches(|c: char| c.is_ascii_alphabetic())
        .trim_end();
    const MSEC: Rule = Rule::exact(Scale::Million);
    if let Some(plain) = Plain::read(number) {
        let read = match &figure.text[number.len()..] {
            "" => Reading::of_plain(plain, MSEC, figure),
            "msec" => Reading::of_msec(plain, MSEC, figure),
            _ => None,
        };
        if read.is_some() {
            return read;
        }
    }
    match decimal::read_grouped(number, Decimal::Exact, 1e6) {
        Ok(possible) => Some(Reading::of(possible, figure)),
        Err(error) => {
            warnings.push(unreadable(&figure, &error));
            None
        }
    }
}

/// Every part of `possible` through `map`, which must not turn its ends around.
pub(super) fn mapped<Q: Quantity>(
    possible: &Possible<Q>,
    map: impl Fn(f64, f64) -> (f64, f64),
) -> Option<Possible<Q>> {
    Possible::union(possible.parts().iter().filter_map(|part| {
        let (lo, hi) = map(part.lo().to_f64(), part.hi().to_f64());
        Interval::from_f64(lo, hi)
    }))
}

/// Notes that `figure` lost a carry, where nothing that rounds to it is left of the `reading`.
fn note_lost_carry<Q: Quantity>(
    figure: &Figure<'_>,
    twin: &Figure<'_>,
    reading: &Reading<Q>,
    printer: FioPrinter,
    warnings: &mut Vec<Diagnostic>,
) {
    if !matches!(printer.digits, Digits::CarryLost | Digits::CarryUnknown)
        || !ends_in_zeros(figure.text)
    {
        return;
    }
    let rounded = FioPrinter {
        digits: Digits::CarryKept,
        ..printer
    };
    let Ok(rounded) = fio::read::<Q>(figure, rounded) else {
        return;
    };
    if reading.possible().meet(&rounded).is_some() || reading.printed().len() < 2 {
        return;
    }
    let (scale, prefix) = scale(figure.text);
    let unit = figure
        .text
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
    warnings.push(Diagnostic::note(
        Code::CARRY_LOST,
        Some(figure.span),
        format!(
            "{} was printed by a fio older than 3.26, which dropped a carry; read as {:.3} to {:.3} {}, narrowed by {}",
            figure.text,
            reading.lo().to_f64() / scale,
            reading.hi().to_f64() / scale,
            if unit.is_empty() { prefix } else { unit },
            twin.text
        ),
    ));
}

/// Whether all digits after the point are zeros.
fn ends_in_zeros(text: &str) -> bool {
    text.split_once('.').is_some_and(|(_, after)| {
        let digits = after.bytes().take_while(u8::is_ascii_digit);
        after.starts_with('0') && digits.clone().all(|digit| digit == b'0')
    })
}

/// What the prefix of a figure multiplies by in bytes, for printing a reading in the figure's own unit.
fn scale(text: &str) -> (f64, &str) {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
    let step: f64 = if unit.as_bytes().get(1) == Some(&b'i') {
        1024.0
    } else {
        1000.0
    };
    let power = unit
        .bytes()
        .next()
        .and_then(|first| b"kMGTPE".iter().position(|p| *p == first))
        .map_or(0, |at| at as i32 + 1);
    let bits = if unit.contains("bit") { 8.0 } else { 1.0 };
    (step.powi(power) / bits, unit)
}
