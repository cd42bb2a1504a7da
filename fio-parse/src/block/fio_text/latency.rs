//! Latency lines and percentiles.
//!
//! ```text
//! title = ["high " | "low "] ["prio_"] kind [" prio " class "/" level ["/" hint]] [" (" number "%" [" of IOs"] ")"] [" percentiles"] " (" unit ")" ":"
//! kind  = "slat" | "clat" | "lat" | "sync"
//! unit  = "nsec" | "usec" | "msec" | "sec"
//! line  = title "min=" figure ", max=" figure ", avg=" number ", stdev=" number
//! row   = "|" { number "th=[" number "]" "," }
//! ```
//!
//! ```text
//!     slat (usec): min=3, max=3165, avg= 5.05, stdev=42.34
//!     clat prio 1/3 (39.70% of IOs) percentiles (usec):
//!      |  1.00th=[   63],  5.00th=[  112], 10.00th=[  126], 20.00th=[  139],
//!     high prio_clat (usec): min=6, max=5306, avg=142.03, stdev=439.94
//! ```
//!
//! Each line picks its own unit: a job may show slat in nsec, clat in usec and lat in msec.

use crate::figure::Figure;
use crate::figure::decimal::{self, Decimal, Plain, Rule, Scale};
use crate::lex::{self, Lexed};
use crate::reading::Reading;
use crate::record::Percentile;
use crate::source::Log;
use crate::unit::Nanos;
use nom::Parser;
use nom::bytes::complete::tag;
use nom::combinator::opt;

/// Which latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Submission.
    Slat,
    /// Completion.
    Clat,
    /// Both.
    Lat,
    /// Syncs.
    Sync,
}

/// The unit of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    Nsec,
    /// Microseconds.
    Usec,
    /// Milliseconds.
    Msec,
    /// Seconds.
    Sec,
}

impl TimeUnit {
    /// How many nanoseconds one is.
    pub fn ns(self) -> f64 {
        match self {
            TimeUnit::Nsec => 1.0,
            TimeUnit::Usec => 1e3,
            TimeUnit::Msec => 1e6,
            TimeUnit::Sec => 1e9,
        }
    }

    /// The same as the scale of a printer.
    pub(crate) fn scale(self) -> Scale {
        match self {
            TimeUnit::Nsec => Scale::One,
            TimeUnit::Usec => Scale::Thousand,
            TimeUnit::Msec => Scale::Million,
            TimeUnit::Sec => Scale::Billion,
        }
    }

    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "nsec" => TimeUnit::Nsec,
            "usec" => TimeUnit::Usec,
            "msec" => TimeUnit::Msec,
            "sec" => TimeUnit::Sec,
            _ => return None,
        })
    }
}

/// What a line says it is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Title<'t> {
    /// Which latency.
    pub kind: Kind,
    /// Of which priority, where it is of one.
    pub priority: Option<&'t str>,
    /// The share of I/Os of that priority.
    pub share: Option<Figure<'t>>,
    /// Whether percentiles follow.
    pub percentiles: bool,
    /// The unit.
    pub unit: TimeUnit,
}

/// A latency line. Smallest and largest are as printed, as it may depend on the version what they are.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyLine<'t> {
    /// The unit of all its figures.
    pub unit: TimeUnit,
    /// The smallest.
    pub min: Option<Figure<'t>>,
    /// The largest.
    pub max: Option<Figure<'t>>,
    /// The mean.
    pub avg: Option<Reading<Nanos>>,
    /// The deviation.
    pub stdev: Option<Reading<Nanos>>,
}

/// A mean or deviation, which has two decimals; `None` where it is no number, as nothing was counted.
fn mean(figure: Figure<'_>, unit: TimeUnit) -> Option<Reading<Nanos>> {
    if let Ok(mean) = Reading::decimal(figure, Decimal::Rounded, unit.ns()) {
        return Some(mean);
    }
    let possible = decimal::read_grouped(figure.text, Decimal::Rounded, unit.ns()).ok()?;
    Some(Reading::of(possible, figure))
}

/// A percentile. It is the middle of a histogram bucket, rounded *up* to whole printed units, so it may lie above the
/// largest latency: `[  502]` in usec is 501001 to 502000 ns.
#[inline]
pub(super) fn percentile(
    p: f64,
    printed: Plain,
    unit: TimeUnit,
    figure: Figure<'_>,
) -> Option<Percentile> {
    let rule = Rule::raised_to_units(unit.scale());
    Some(Percentile {
        p,
        reading: Reading::of_plain(printed, rule, figure)?,
    })
}

/// Reads a title and the colon behind it.
pub fn title<'t>(log: &'t Log<'t>, input: &'t str) -> Lexed<'t, Title<'t>> {
    let mut rest = input;
    let mut priority = None;
    for word in ["high", "low"] {
        if let Some(after) = input.strip_prefix(word)
            && let Some(after) = lex::skip_blanks(after).strip_prefix("prio")
        {
            priority = Some(&input[..word.len()]);
            rest = after.strip_prefix('_').unwrap_or(after);
        }
    }
    let figure = |text: &'t str| Figure {
        text,
        span: log.span_of(text),
    };
    let (after, mut share) = opt(share).parse(rest)?;
    let (after, kind) = kind(lex::skip_blanks(after))?;
    rest = lex::skip_blanks(after);
    if let Some(after) = rest.strip_prefix("prio ") {
        let name = lex::skip_blanks(after);
        let end = name
            .bytes()
            .position(|byte| !(byte.is_ascii_digit() || byte == b'/'))
            .unwrap_or(name.len());
        priority = Some(&name[..end]);
        rest = lex::skip_blanks(&name[end..]);
    }
    if share.is_none() {
        (rest, share) = opt(self::share).parse(rest)?;
        rest = lex::skip_blanks(rest);
    }
    let percentiles = rest.starts_with("percentiles");
    if percentiles {
        rest = &rest["percentiles".len()..];
    }
    let (rest, unit) = lex::parenthesised(unit).parse(rest)?;
    let Some(rest) = lex::skip_blanks(rest).strip_prefix(':') else {
        return lex::refuse(input);
    };
    let title = Title {
        kind,
        priority,
        share: share.map(figure),
        percentiles,
        unit,
    };
    Ok((rest, title))
}

fn kind(input: &str) -> Lexed<'_, Kind> {
    let kinds = [
        ("slat", Kind::Slat),
        ("clat", Kind::Clat),
        ("lat", Kind::Lat),
        ("sync", Kind::Sync),
    ];
    for (word, kind) in kinds {
        if let Some(rest) = input.strip_prefix(word)
            && !rest.starts_with(|c: char| c.is_alphanumeric())
        {
            return Ok((rest, kind));
        }
    }
    lex::refuse(input)
}

/// ` (39.70% of IOs)` or ` (39.70%)`.
fn share(input: &str) -> Lexed<'_, &str> {
    let inside = |input| {
        let (rest, number) = lex::number(input)?;
        let (rest, _) = tag("%").parse(rest)?;
        let (rest, _) = opt(tag(" of IOs")).parse(rest)?;
        Ok((rest, number))
    };
    lex::parenthesised(inside).parse(input)
}

fn unit(input: &str) -> Lexed<'_, TimeUnit> {
    let end = input
        .bytes()
        .position(|byte| !byte.is_ascii_alphabetic())
        .unwrap_or(input.len());
    match TimeUnit::read(&input[..end]) {
        Some(unit) => Ok((&input[end..], unit)),
        None => lex::refuse(input),
    }
}

/// Reads the figures behind the title of a latency line.
pub fn line<'t>(log: &'t Log<'t>, unit: TimeUnit, input: &'t str) -> Lexed<'t, LatencyLine<'t>> {
    let figure = |text: &'t str| Figure {
        text,
        span: log.span_of(text),
    };
    let (rest, min) = lex::field("min", lex::figure).parse(input)?;
    // other programs print the same names with blanks between them
    let (rest, _) = tag(",").parse(lex::skip_blanks(rest))?;
    let (rest, max) = opt(lex::field("max", lex::figure)).parse(rest)?;
    let (rest, avg) = opt(lex::field("avg", lex::number_or_nan)).parse(rest)?;
    let (rest, stdev) = opt(lex::field("stdev", lex::number_or_nan)).parse(rest)?;
    let line = LatencyLine {
        unit,
        min: Some(figure(min)),
        max: max.map(figure),
        avg: avg.and_then(|avg| mean(figure(avg), unit)),
        stdev: stdev.and_then(|stdev| mean(figure(stdev), unit)),
    };
    Ok((rest, line))
}

/// Which percentile it is, and its latency.
pub type Item<'t> = (&'t str, Figure<'t>);

/// Reads a row of percentiles, of which there is at least one.
pub fn row<'t>(log: &'t Log<'t>, input: &'t str) -> Lexed<'t, Vec<Item<'t>>> {
    let (mut rest, first) = item(log, input)?;
    let mut items = vec![first];
    while let Some(after) = lex::skip_blanks(rest).strip_prefix(',') {
        match item(log, lex::skip_blanks(after)) {
            Ok((after, next)) => {
                items.push(next);
                rest = after;
            }
            Err(_) => break,
        }
    }
    Ok((rest, items))
}

/// `99.00th=[ 3261]`.
fn item<'t>(log: &'t Log<'t>, input: &'t str) -> Lexed<'t, Item<'t>> {
    let (rest, p) = lex::number(input)?;
    let (rest, ()) = lex::key("th").parse(rest)?;
    let Some(rest) = lex::skip_blanks(rest).strip_prefix('[') else {
        return lex::refuse(input);
    };
    let (rest, text) = lex::wrapped(lex::number).parse(rest)?;
    let Some(rest) = lex::skip_blanks(rest).strip_prefix(']') else {
        return lex::refuse(input);
    };
    Ok((
        rest,
        (
            p,
            Figure {
                text,
                span: log.span_of(text),
            },
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn percentiles_were_rounded_up() {
        let ends = |text: &str, unit| {
            let figure = Figure {
                text,
                span: Span::new(0, text.len() as u32),
            };
            let printed = Plain::read(text).unwrap();
            let read = percentile(1.0, printed, unit, figure).unwrap().reading;
            (read.lo().get(), read.hi().get())
        };
        assert_eq!(ends("502", TimeUnit::Nsec), (502.0, 502.0));
        assert_eq!(ends("502", TimeUnit::Usec), (501_001.0, 502_000.0));
        assert_eq!(ends("3", TimeUnit::Msec), (2_000_001.0, 3_000_000.0));
        assert_eq!(ends("0", TimeUnit::Usec), (0.0, 0.0));
    }
}
