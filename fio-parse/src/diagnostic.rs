//! Diagnostics: what is odd about the input, as data.
//!
//! One type serves as a message about a log and as a warning inside a record. A diagnostic is made once and
//! shown many ways: as JSON in a record, as a footnote under a table, or here as text with a caret:
//!
//! ```text
//! note[carry-lost]: 62.0GB was printed by a fio older than 3.26, which dropped a carry
//!   --> laptops-fio.txt:57:82
//!    |
//! 57 |   WRITE: bw=695MiB/s (728MB/s), io=58.6GiB (62.0GB), run=86443-86443msec
//!    |                                             ^^^^^^
//! ```
//!
//! A diagnostic says that input is odd. A request that can't be met is an error, a mistake of ours a panic.

use crate::source::{Log, Span};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The stable name of a kind of diagnostic, in kebab case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(Cow<'static, str>);

macro_rules! codes {
    ($($name:ident = $text:literal, $about:literal;)*) => {
        impl Code {
            $(#[doc = $about] pub const $name: Code = Code(Cow::Borrowed($text));)*
        }

        /// Every code that this library gives, with its meaning. Other producers (`replay`) add their own.
        pub const CODES: &[(Code, &str)] = &[$((Code::$name, $about),)*];
    };
}

codes! {
    CARRY_LOST = "carry-lost", "A figure was printed by a fio before 3.26, which dropped a carry; its twin shows the true value.";
    DISAGREE = "disagree", "Two figures of one report that should agree do not.";
    UNIT_GUESSED = "unit-guessed", "Whether K means 1000 or 1024 could not be told; both are in the interval.";
    VERSION_ASSUMED = "version-assumed", "No fio version is stated; digits are read as those of 2.20 or later.";
    LABEL_WRONG = "label-wrong", "fio printed a figure under a unit that it does not have; it was read as what it is.";
    FIGURE_WRONG = "figure-wrong", "A version of fio is known to print this figure wrongly.";
    LATENCY_RANGE = "latency-range", "Minimum, mean, maximum and deviation of one latency contradict each other.";
    LATENCY_PARTS = "latency-parts", "Submission and completion latency contradict the total that they are parts of.";
    PERCENTILES_FALL = "percentiles-fall", "A percentile is below a lower one.";
    SATURATED = "saturated", "A percentile is the largest that fio can print; the latency is that or more.";
    SETTLED = "settled", "A figure may stand for several values, of which the other figures of its line leave fewer.";
    INTERLEAVED = "interleaved", "Lines of two reports are mixed; what can't be told apart was left out.";
    LOOSE_LINES = "loose-lines", "Lines of a report belong to no result; nothing was taken from them.";
    UNREADABLE = "unreadable", "A line looks like part of a report and can't be read; nothing was taken from it.";
    INCOMPLETE = "incomplete", "A report was cut off; what is whole was kept.";
    JOB_FAILED = "job-failed", "A job ended with an error before it moved a byte; it has no result.";
    STATUS_SERIES = "status-series", "A report of a run that went on; the last one of the run is its result.";
    PERCENTILES_OF = "percentiles-of", "Which latency the percentiles are of can't be told from the report; they are taken for completion latency.";
    LOG_KIND = "log-kind", "What a log of samples measured is told by its name only, and the name does not say it.";
    ENCODING = "encoding", "Some bytes are not UTF-8 and were read as Latin-1.";
    PARTIAL_RECORDS = "partial-records", "dd moved blocks that were not full.";
    DIRECTION_ASSUMED = "direction-assumed", "dd does not say which way its bytes went, and nothing around it does; a write was assumed.";
    COUNT_DIFFERS = "count-differs", "dd moved another amount than the command asked for.";
    RUN_FAILED = "run-failed", "A tool failed before it moved anything; there is no result.";
    ABOVE_LINK = "above-link", "A rate is higher than the link carries that the label names.";
    NO_FLUSH = "no-flush", "A write was so fast, and nothing was flushed: memory may have been measured.";
    COMPRESSIBLE = "compressible", "Zeros were written to a file system that may compress them away.";
    FITS_IN_MEMORY = "fits-in-memory", "The file is smaller than the memory that the text names: caches may have been measured.";
    QUANTISED = "quantised", "A summary shows more digits than the figures had that it was made from.";
    UNIT_FAULT = "unit-fault", "A tool is known to print this figure in another unit than it says.";
    WHOLE_MILLISECONDS = "whole-milliseconds", "The printed rate was computed from whole milliseconds.";
    BYTES_FROM_RECORDS = "bytes-from-records", "dd printed no bytes; full records times the block size of the command were taken.";
    WALL_ONLY = "wall-only", "The tool printed no window of its own; the shell's time is all there is, and covers more.";
    CLAIM = "claim", "The author states a figure about a result; it is held against the result, and is no measurement.";
    COMMAND_UNREADABLE = "command-unreadable", "A command could not be understood; the results below it carry no workload.";
}

impl Code {
    /// A code of another producer. Kebab case by custom.
    pub fn other(code: impl Into<Cow<'static, str>>) -> Self {
        Self(code.into())
    }

    /// The code as it is printed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know; figures are right.
    Note,
    /// A figure may not mean what it seems to mean.
    Warning,
    /// Something was not read.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// One odd thing about the input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// What kind of thing.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// A sentence without the position: what was expected, what was found, how it was read.
    pub message: String,
    /// Where in the log, if it has a place there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
}

impl Diagnostic {
    /// A note at `span`.
    pub fn note(code: Code, span: Option<Span>, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, span, message)
    }

    /// A warning at `span`.
    pub fn warning(code: Code, span: Option<Span>, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, span, message)
    }

    /// A diagnostic of any severity.
    pub fn new(
        code: Code,
        severity: Severity,
        span: Option<Span>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            span,
        }
    }
}

/// How many characters of a line are shown around the place; logs hold lines of any length.
const SHOWN: usize = 100;

/// The diagnostic as text with file, line, column, the line itself and a caret under the place.
pub fn render(log: &Log<'_>, diagnostic: &Diagnostic) -> String {
    let head = format!(
        "{}[{}]: {}\n",
        diagnostic.severity, diagnostic.code, diagnostic.message
    );
    let Some(span) = diagnostic.span else {
        return format!("{head}  --> {}\n", log.name());
    };
    let (line, column) = log.line_column(span.start);
    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    let text = log.line_at(span.start);
    // cut long lines so that the place stays in view; a line may be as long as the log, so only near it is looked
    let line_start = text.as_ptr() as usize - log.text().as_ptr() as usize;
    let at = (span.start as usize).clamp(line_start, line_start + text.len()) - line_start;
    let before = column as usize - 1;
    let skipped = before.saturating_sub(SHOWN / 2);
    let skipped = if skipped < 8 { 0 } else { skipped };
    let from = text[..at]
        .char_indices()
        .rev()
        .take(before - skipped)
        .last()
        .map_or(at, |(from, _)| from);
    let wanted = SHOWN.max(before - skipped + 1);
    let shown: String = text[from..]
        .chars()
        .take(wanted)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let (left, right) = (
        if skipped > 0 { "…" } else { "" },
        if text[from..].chars().nth(SHOWN).is_some() {
            "…"
        } else {
            ""
        },
    );
    let end = span.end.min(span.start.saturating_add(4 * SHOWN as u32)) as usize;
    let marked = log.text()[span.start as usize..floor_char(log.text(), end)]
        .lines()
        .next()
        .map_or(0, |marked| marked.chars().count())
        .clamp(1, SHOWN);
    let indent = " ".repeat(before - skipped + left.chars().count());
    format!(
        "{head}{gutter} --> {}:{line}:{column}\n{gutter} |\n{number} | {left}{shown}{right}\n{gutter} | {indent}{}\n",
        log.name(),
        "^".repeat(marked)
    )
}

/// The largest character border that is not above `at`.
fn floor_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_place() {
        let log = Log::from_bytes("x.txt", b"one\n  io=58.6GiB (62.0GB)\n").unwrap();
        let at = log.text().find("62.0").unwrap() as u32;
        let shown = render(
            &log,
            &Diagnostic::note(
                Code::CARRY_LOST,
                Some(Span::new(at, at + 6)),
                "a carry was dropped",
            ),
        );
        assert_eq!(
            shown,
            "note[carry-lost]: a carry was dropped\n  --> x.txt:2:15\n  |\n2 |   io=58.6GiB (62.0GB)\n  |               ^^^^^^\n"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}BAD{}", "a".repeat(10_000), "b".repeat(10_000));
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let shown = render(
            &log,
            &Diagnostic::warning(Code::UNREADABLE, Some(Span::new(10_000, 10_003)), "no"),
        );
        let lines: Vec<_> = shown.lines().collect();
        let caret = lines[4].chars().position(|c| c == '^').unwrap();
        assert_eq!(
            lines[3].chars().skip(caret).take(3).collect::<String>(),
            "BAD"
        );
        assert!(lines[3].chars().count() < 130);
    }

    #[test]
    fn codes_are_kebab_case_and_unique() {
        let mut seen = std::collections::HashSet::new();
        for (code, about) in CODES {
            assert!(
                code.as_str()
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b == b'-' || b.is_ascii_digit())
            );
            assert!(about.ends_with('.'));
            assert!(seen.insert(code));
        }
    }
}
