//! Direction lines and the sample lines below them.
//!
//! ```text
//! line    = ("read" | "write" | "trim" | "mixed") ":" fields
//! 2.17 on:
//! fields  = "IOPS=" figure ", BW=" figure " (" figure ")(" figure "/" number "msec)" [";" ...]
//! to 2.16:
//! fields  = "io=" figure ", bw=" figure ", iops=" figure ", runt=" number "msec"      (no iops to 1.13)
//! samples = ("bw (" unit "/s)" | "iops") ":" "min=" number ", max=" number [", per=" number "%"] ", avg=" number ", stdev=" number [", samples=" number]
//! ```
//!
//! ```text
//!   read: IOPS=39.8k, BW=155MiB/s (163MB/s)(22.2MiB/143msec)
//!   write: io=10240MB, bw=63317KB/s, iops=15829, runt=165607msec
//!    bw (  KiB/s): min=51312, max=56336, per=98.81%, avg=53293.33, stdev=2674.88, samples=3
//! ```

use crate::block::fio_group::Pair;
use crate::figure::Figure;
use crate::lex::{self, Lexed};
use crate::record::Direction;
use crate::source::{Log, Span};
use memchr::memmem::Finder;
use nom::Parser;
use nom::bytes::complete::tag;
use nom::combinator::opt;
use std::sync::LazyLock;

/// A direction line, undecoded.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionLine<'t> {
    /// Where it stands, from the direction to the last figure.
    pub span: Span,
    /// What was grepped in front of it, such as the name of a file.
    pub prefix: Option<&'t str>,
    /// Which way bytes went.
    pub direction: Direction,
    /// Whether it has the form of fio to 2.16.
    pub legacy: bool,
    /// I/Os over run time.
    pub iops: Option<Figure<'t>>,
    /// Bytes over run time.
    pub bw: Pair<'t>,
    /// Bytes; printed in one base.
    pub io: Pair<'t>,
    /// Run time in msec.
    pub runtime: Option<Figure<'t>>,
    /// Whether zone resets are counted.
    pub zone_resets: bool,
}

/// A sample line, undecoded.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleLine<'t> {
    /// Where it stands.
    pub span: Span,
    /// The unit of bandwidths, without `/s`; none in an `iops` line.
    pub unit: Option<&'t str>,
    /// The smallest sample.
    pub min: Option<Figure<'t>>,
    /// The largest sample.
    pub max: Option<Figure<'t>>,
    /// The share of the group's bandwidth, in percent.
    pub per: Option<Figure<'t>>,
    /// The mean.
    pub avg: Option<Figure<'t>>,
    /// The deviation.
    pub stdev: Option<Figure<'t>>,
    /// How many samples there are (2.99 on).
    pub count: Option<u64>,
}

const NAMES: [(&str, Direction); 4] = [
    ("read", Direction::Read),
    ("write", Direction::Write),
    ("trim", Direction::Trim),
    ("mixed", Direction::Mixed),
];

/// Reads a direction line that starts at `input`.
pub fn line<'t>(log: &'t Log<'t>, input: &'t str) -> Lexed<'t, DirectionLine<'t>> {
    let Some((word, direction)) = NAMES.iter().find(|(word, _)| input.starts_with(word)) else {
        return lex::refuse(input);
    };
    let Some(rest) = lex::skip_blanks(&input[word.len()..]).strip_prefix(':') else {
        return lex::refuse(input);
    };
    let figure = |text: &'t str| Figure {
        text,
        span: log.span_of(text),
    };
    let (rest, mut line) = match modern(rest) {
        Ok((rest, line)) => (rest, line),
        Err(_) => legacy(rest)?,
    };
    let pair = |first: Option<&'t str>, second: Option<&'t str>| Pair {
        first: first.map(figure),
        second: second.map(figure),
    };
    // a run time without its unit was cut off in the middle of the number
    line.runtime = line.runtime.filter(|runtime| runtime.ends_with("sec"));
    let start = log.span_of(input).start;
    let end = log.span_of(&rest[..0]).start;
    // the line ends where its figures end; what fio prints behind them stands on the same line
    let after = &rest[..memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len())];
    let line = DirectionLine {
        span: Span::new(start, end),
        prefix: None,
        direction: *direction,
        legacy: line.legacy,
        iops: line.iops.map(figure),
        bw: match line.bw {
            // a rate in no unit is a part of one; zero has none in the lines that 3.27 to 3.38 filled with it
            (rate, None) if !lex::has_unit(rate) && rate != "0" => Pair::default(),
            (rate, twin) => pair(Some(rate), twin),
        },
        io: pair(line.io, None),
        runtime: line.runtime.map(figure),
        zone_resets: after.starts_with(';') && after.contains("zone resets"),
    };
    Ok((rest, line))
}

/// The texts of a direction line.
struct Texts<'t> {
    legacy: bool,
    iops: Option<&'t str>,
    bw: (&'t str, Option<&'t str>),
    io: Option<&'t str>,
    runtime: Option<&'t str>,
}

fn modern(input: &str) -> Lexed<'_, Texts<'_>> {
    let (rest, iops) = lex::field("IOPS", lex::figure).parse(input)?;
    let (rest, bw) = lex::field("BW", lex::figure).parse(rest)?;
    let (rest, twin) = opt(lex::parenthesised(lex::figure)).parse(rest)?;
    let (rest, moved) = opt(lex::parenthesised(io_over_time)).parse(rest)?;
    Ok((
        rest,
        Texts {
            legacy: false,
            iops: Some(iops),
            bw: (bw, twin),
            io: moved.map(|(io, _)| io),
            runtime: moved.map(|(_, runtime)| runtime),
        },
    ))
}

/// `22.2MiB/143msec`: a figure of bytes ends at the slash.
fn io_over_time(input: &str) -> Lexed<'_, (&str, &str)> {
    let (rest, number) = lex::number(input)?;
    let blank = usize::from(rest.starts_with(' '));
    let unit = rest[blank..]
        .bytes()
        .position(|byte| !byte.is_ascii_alphabetic())
        .unwrap_or(rest.len() - blank);
    let blank = if unit == 0 { 0 } else { blank };
    let io = &input[..number.len() + blank + unit];
    let (rest, _) = lex::wrapped(tag("/")).parse(&input[io.len()..])?;
    let (rest, runtime) = lex::wrapped(lex::figure).parse(rest)?;
    Ok((rest, (io, runtime)))
}

fn legacy(input: &str) -> Lexed<'_, Texts<'_>> {
    let (rest, io) = lex::field("io", lex::figure).parse(input)?;
    let (rest, bw) = lex::field("bw", lex::figure).parse(rest)?;
    let (rest, iops) = opt(lex::field("iops", lex::figure)).parse(rest)?;
    let (rest, runtime) = opt(lex::field("runt", lex::figure)).parse(rest)?;
    Ok((
        rest,
        Texts {
            legacy: true,
            iops,
            bw: (bw, None),
            io: Some(io),
            runtime,
        },
    ))
}

/// Where a direction line starts that has something else before it on its line.
pub fn grepped(line: &str) -> Option<usize> {
    static FIRST_FIELDS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| ["IOPS=", "io="].map(Finder::new));
    let at = FIRST_FIELDS
        .iter()
        .find_map(|field| field.find(line.as_bytes()))?;
    let head = line[..at].trim_end().strip_suffix(':')?.trim_end();
    let (word, _) = NAMES.iter().find(|(word, _)| head.ends_with(word))?;
    let start = head.len() - word.len();
    let before = head[..start].chars().next_back()?;
    (!before.is_alphanumeric() && !matches!(before, '_' | '"')).then_some(start)
}

/// Reads a sample line that starts at `input`.
pub fn samples<'t>(log: &'t Log<'t>, input: &'t str) -> Lexed<'t, SampleLine<'t>> {
    let (rest, unit) = if let Some(rest) = input.strip_prefix("bw") {
        let (rest, unit) = lex::parenthesised(bw_unit).parse(rest)?;
        (rest, Some(unit))
    } else if let Some(rest) = input.strip_prefix("iops") {
        (rest, None)
    } else {
        return lex::refuse(input);
    };
    let Some(rest) = lex::skip_blanks(rest).strip_prefix(':') else {
        return lex::refuse(input);
    };
    let figure = |text: &'t str| Figure {
        text,
        span: log.span_of(text),
    };
    let (rest, min) = lex::field("min", lex::figure).parse(rest)?;
    // other programs print the same names with blanks between them
    let (rest, _) = tag(",").parse(lex::skip_blanks(rest))?;
    let (rest, max) = opt(lex::field("max", lex::figure)).parse(rest)?;
    let (rest, per) = opt(lex::field("per", lex::number_or_nan)).parse(rest)?;
    let rest = rest.strip_prefix('%').unwrap_or(rest);
    let (rest, avg) = opt(lex::field("avg", lex::number_or_nan)).parse(rest)?;
    let (rest, stdev) = opt(lex::field("stdev", lex::number_or_nan)).parse(rest)?;
    let (rest, count) = opt(lex::field("samples", lex::count)).parse(rest)?;
    let start = log.span_of(input).start;
    let line = SampleLine {
        span: Span::new(start, log.span_of(&rest[..0]).start),
        unit,
        min: Some(figure(min)),
        max: max.map(figure),
        per: per.map(figure),
        avg: avg.map(figure),
        stdev: stdev.map(figure),
        count,
    };
    Ok((rest, line))
}

/// The unit in the parentheses of a `bw` line, padded with blanks in many ways: `KB  /s`, `  KiB/s`, `KiB/s`.
fn bw_unit(input: &str) -> Lexed<'_, &str> {
    let end = input
        .bytes()
        .position(|byte| !byte.is_ascii_alphabetic())
        .unwrap_or(input.len());
    let rest = lex::skip_blanks(&input[end..]);
    match rest.strip_prefix("/s") {
        Some(rest) if end > 0 => Ok((rest, &input[..end])),
        _ => lex::refuse(input),
    }
}
