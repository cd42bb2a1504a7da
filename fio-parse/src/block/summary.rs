//! Summaries that other tools make of their dd runs, and the screen of ddrescue.
//!
//! | tool | what it prints |
//! |---|---|
//! | bench.sh | `I/O Speed(1st run) : 252 MB/s` for three runs, and `Average I/O speed : 247.7 MB/s`; or `I/O (1st run)` and `Average I/O` |
//! | nench | `dd: sequential write speed`, then `1st run: 1716.61 MiB/s`, …, `average: …` |
//! | yabs without fio | `dd Sequential Disk Speed Tests:`, then rows `Write \| 291 MB/s \| … \| 286.00 MB/s` |
//! | ddrescue | a screen of counters, printed again and again: `rescued: …`, `average rate: …`, `run time: …` |
//!
//! These keep a rate and drop what it came from. The rows are taken as they are; what is known to be wrong with
//! them is for `assemble::summary` to say.

use crate::block::dd::line::unmarked;
use crate::diagnostic::Diagnostic;
use crate::figure::Figure;
use crate::lex;
use crate::record::Direction;
use crate::source::{Log, Segment, Segments, Span};
use smallvec::SmallVec;

/// A summary of several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryBlock<'t> {
    /// The whole lines it stands on.
    pub span: Span,
    /// Whose it is.
    pub tool: Tool,
    /// Its rows in order.
    pub rows: SmallVec<[Row<'t>; 4]>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// A tool that sums up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// bench.sh and its many copies.
    BenchSh,
    /// nench.
    Nench,
    /// yabs, where it fell back to dd.
    Yabs,
    /// GNU ddrescue.
    Ddrescue,
}

impl Tool {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Tool::BenchSh => "bench.sh",
            Tool::Nench => "nench",
            Tool::Yabs => "yabs",
            Tool::Ddrescue => "ddrescue",
        }
    }
}

/// One figure of a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'t> {
    /// What the tool calls it: `I/O Speed(1st run)`, `average`, `Write`.
    pub label: Figure<'t>,
    /// The rate with its unit.
    pub rate: Figure<'t>,
    /// The bytes moved, where they are shown.
    pub bytes: Option<Figure<'t>>,
    /// The time it took, where it is shown.
    pub time: Option<Figure<'t>>,
    /// Whether it is the mean of the rows above it.
    pub average: bool,
    /// Which way the bytes went.
    pub direction: Direction,
}

/// Reads the summary that starts at the cursor. `None`, cursor untouched, where the line starts none.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<SummaryBlock<'t>> {
    let mut ahead = lines.clone();
    let first = ahead.next()?;
    let text = unmarked(first.text);
    let reader = match text.as_bytes().first()? {
        b'I' | b'A' => bench_row,
        b'd' if text.starts_with("dd: sequential write speed") => nench_row,
        b'd' if text.starts_with("dd Sequential Disk Speed Tests") => yabs_row,
        b'r' | b'i' | b'n' | b'G' | b'P' if is_rescue(text) => return rescue(log, lines),
        _ => return None,
    };
    let mut block = SummaryBlock {
        span: first.span,
        tool: match text.as_bytes()[0] {
            b'd' if text.starts_with("dd:") => Tool::Nench,
            b'd' => Tool::Yabs,
            _ => Tool::BenchSh,
        },
        rows: SmallVec::new(),
        problems: Vec::new(),
    };
    if block.tool == Tool::BenchSh {
        // no heading: the first line is a row already
        ahead = lines.clone();
    }
    let mut end = ahead.clone();
    // rulers and empty cells stand between a heading and its rows
    let mut strangers = 0;
    while let Some(segment) = ahead.next() {
        let found = reader(log, unmarked(segment.text));
        if found.is_empty() {
            strangers += 1;
            let heads = block.tool == Tool::Yabs && block.rows.is_empty() && strangers < 5;
            if heads && segment.text.len() < 120 {
                continue;
            }
            break;
        }
        block.rows.extend(found);
        block.span.end = segment.span.end;
        end = ahead.clone();
    }
    if block.rows.is_empty() {
        return None;
    }
    *lines = end;
    Some(block)
}

type Rows<'t> = SmallVec<[Row<'t>; 4]>;

fn row<'t>(log: &Log<'_>, label: &'t str, rate: &'t str, direction: Direction) -> Row<'t> {
    let lower = label.to_ascii_lowercase();
    Row {
        label: figure(log, label),
        rate: figure(log, rate),
        bytes: None,
        time: None,
        average: lower.contains("average") || lower == "avg",
        direction,
    }
}

fn figure<'t>(log: &Log<'_>, text: &'t str) -> Figure<'t> {
    Figure {
        text,
        span: log.span_of(text),
    }
}

/// A number, blanks and a unit of rate at the head of `text`: `252 MB/s`, `1716.61 MiB/s`.
fn rate(text: &str) -> Option<&str> {
    let text = lex::skip_blanks(text);
    let (rest, _) = lex::number(text).ok()?;
    let rest = lex::skip_blanks(rest);
    let unit = rest
        .bytes()
        .take_while(|b| b.is_ascii_alphabetic() || *b == b'/')
        .count();
    rest[..unit]
        .ends_with("B/s")
        .then(|| &text[..text.len() - rest.len() + unit])
}

/// `I/O Speed(1st run) : 252 MB/s`, `Average I/O speed : 247.7 MB/s`.
fn bench_row<'t>(log: &Log<'_>, text: &'t str) -> Rows<'t> {
    let mut rows = SmallVec::new();
    let head: String = text
        .chars()
        .take(18)
        .collect::<String>()
        .to_ascii_lowercase();
    let known = ["i/o speed", "average i/o speed", "i/o (", "average i/o\t"];
    if !known.iter().any(|known| head.starts_with(known)) {
        return rows;
    }
    if let Some(colon) = text.find(": ").filter(|&colon| colon < 60)
        && let Some(rate) = rate(&text[colon + 1..])
    {
        rows.push(row(log, text[..colon].trim_end(), rate, Direction::Write));
    }
    rows
}

/// `1st run: 1716.61 MiB/s`, `average: 1494.09 MiB/s`.
fn nench_row<'t>(log: &Log<'_>, text: &'t str) -> Rows<'t> {
    let mut rows = SmallVec::new();
    if let Some((label, rest)) = text.split_once(':')
        && (label.ends_with(" run") && label.starts_with(|c: char| c.is_ascii_digit())
            || label == "average")
        && let Some(rate) = rate(rest)
    {
        rows.push(row(log, label, rate, Direction::Write));
    }
    rows
}

/// `Write  | 291 MB/s | 286 MB/s | 281 MB/s | 286.00 MB/s`.
fn yabs_row<'t>(log: &Log<'_>, text: &'t str) -> Rows<'t> {
    let mut rows = SmallVec::new();
    let mut cells = text
        .split('|')
        .map(|cell| cell.trim_matches(|c: char| c.is_whitespace()));
    let label = cells.next().unwrap_or("");
    let direction = match label {
        "Write" | "Write Speed" => Direction::Write,
        "Read" | "Read Speed" => Direction::Read,
        _ => return rows,
    };
    rows.extend(
        cells
            .filter_map(rate)
            .map(|rate| row(log, label, rate, direction)),
    );
    if rows.len() > 1
        && let Some(last) = rows.last_mut()
    {
        last.average = true;
    }
    rows
}

/// Whether the line is one of ddrescue's screen.
fn is_rescue(text: &str) -> bool {
    text.len() < 200
        && [
            "ipos:",
            "opos:",
            "rescued:",
            "pct rescued:",
            "non-tried:",
            "GNU ddrescue",
            "Press Ctrl-C to interrupt",
            "time since last successful read:",
        ]
        .iter()
        .any(|name| text.starts_with(name))
}

/// The value behind `name` up to the next comma: `33554 kB/s`.
fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let at = text.find(name)? + name.len();
    let value = lex::skip_blanks(&text[at..]).split(',').next()?.trim();
    (!value.is_empty()).then_some(value)
}

/// The screens of ddrescue, one behind the other; the last one counts.
fn rescue<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<SummaryBlock<'t>> {
    let start = lines.clone().next()?.span;
    let mut ahead = lines.clone();
    let mut end: Option<(Segment<'t>, Segments<'t>)> = None;
    let (mut rate, mut bytes, mut time) = (None, None, None);
    let mut strangers = 0;
    while let Some(segment) = ahead.next() {
        let text = unmarked(segment.text);
        // the action stands on a line of its own, and screens may be parted by empty lines
        let at = ["ipos:", "opos:", "rescued:"]
            .iter()
            .filter_map(|name| text.find(name))
            .min();
        if at.is_none() && !is_rescue(text) {
            strangers += 1;
            if strangers > 3 || text.len() > 200 {
                break;
            }
            continue;
        }
        strangers = 0;
        // a figure whose unit was cut off is none
        rate = value(text, "average rate:")
            .filter(|value| value.ends_with("B/s"))
            .or(rate);
        bytes = value(text, " rescued:")
            .or_else(|| value(text, "rescued:"))
            .filter(|value| value.ends_with('B'))
            .or(bytes);
        time = value(text, "run time:").or(time);
        end = Some((segment, ahead.clone()));
    }
    let (segment, behind) = end?;
    *lines = behind;
    let mut rows = SmallVec::new();
    // a screen without its rate is taken as a whole all the same; there is nothing in it for a record
    if let Some(rate) = rate {
        rows.push(Row {
            bytes: bytes.map(|text| figure(log, text)),
            time: time.map(|text| figure(log, text)),
            ..row(log, &rate[rate.len()..], rate, Direction::Read)
        });
    }
    Some(SummaryBlock {
        span: start.cover(segment.span),
        tool: Tool::Ddrescue,
        rows,
        problems: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Label, rate, whether it is a mean, direction.
    type Found = (String, String, bool, Direction);

    fn rows(text: &str) -> Option<(Tool, Vec<Found>, usize)> {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let block = read(&log, &mut lines)?;
        let own = |f: &Figure<'_>| {
            assert_eq!(log.get(f.span), f.text);
            f.text.to_owned()
        };
        let rows = block
            .rows
            .iter()
            .map(|r| (own(&r.label), own(&r.rate), r.average, r.direction))
            .collect();
        Some((block.tool, rows, lines.count()))
    }

    fn write(label: &str, rate: &str, average: bool) -> Found {
        (label.to_owned(), rate.to_owned(), average, Direction::Write)
    }

    #[test]
    fn bench_sh_of_all_ages() {
        assert_eq!(
            rows(
                " I/O Speed(1st run)    : 252 MB/s\n I/O Speed(2nd run)    : 1.1 GB/s\n Average I/O speed     : 247.7 MB/s\n----\n"
            ),
            Some((
                Tool::BenchSh,
                vec![
                    write("I/O Speed(1st run)", "252 MB/s", false),
                    write("I/O Speed(2nd run)", "1.1 GB/s", false),
                    write("Average I/O speed", "247.7 MB/s", true)
                ],
                1
            ))
        );
        assert_eq!(
            rows("> I/O speed(average) : 11.9 MB/s").unwrap().1,
            [write("I/O speed(average)", "11.9 MB/s", true)]
        );
        assert_eq!(
            rows("I/O (1st run)\t: 1.7 GB/s\nAverage I/O\t: 1.7 MB/s")
                .unwrap()
                .1,
            [
                write("I/O (1st run)", "1.7 GB/s", false),
                write("Average I/O", "1.7 MB/s", true)
            ]
        );
        assert_eq!(rows("I/O speed matters: 5 of us say so\n"), None);
        assert_eq!(rows("In all: 5 MB/s\n"), None);
    }

    #[test]
    fn nench_and_yabs() {
        assert_eq!(
            rows("dd: sequential write speed\n    1st run:    1716.61 MiB/s\n    average:    1494.09 MiB/s\n\nx").unwrap(),
            (Tool::Nench, vec![write("1st run", "1716.61 MiB/s", false), write("average", "1494.09 MiB/s", true)], 2)
        );
        let (tool, found, left) = rows("dd Sequential Disk Speed Tests:\n---------------------------------\n       | Test 1      | Test 2      | Test 3      | Avg\n       |             |             |             |\nWrite  | 291 MB/s    | 286 MB/s    | 281 MB/s    | 286.00 MB/s\nRead   | 179 MB/s    | 188 MB/s    | 179 MB/s    | 182.00 MB/s\n\n").unwrap();
        assert_eq!((tool, found.len(), left), (Tool::Yabs, 8, 1));
        assert_eq!(found[3], write("Write", "286.00 MB/s", true));
        assert_eq!(found[4].3, Direction::Read);
    }

    #[test]
    fn the_last_screen_of_ddrescue_counts() {
        let screen = |rate: &str| {
            format!(
                "     ipos:   33488 kB, non-trimmed:        0 B,  current rate:  33554 kB/s\n     opos:   33488 kB, non-scraped:        0 B,  average rate:  {rate}\nnon-tried:        0 B,  bad-sector:        0 B,    error rate:       0 B/s\n  rescued:   33554 kB,   bad areas:        0,        run time:          0s\npct rescued:  100.00%, read errors:        0,  remaining time:         n/a\n"
            )
        };
        let text = format!(
            "{}\rCopying non-tried blocks... Pass 1 (forwards)\n{}Finished\n",
            screen("1 kB/s"),
            screen("33554 kB/s")
        );
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let block = read(&log, &mut log.segments()).unwrap();
        let row = &block.rows[0];
        assert_eq!(
            (
                row.rate.text,
                row.bytes.unwrap().text,
                row.time.unwrap().text
            ),
            ("33554 kB/s", "33554 kB", "0s")
        );
    }
}
