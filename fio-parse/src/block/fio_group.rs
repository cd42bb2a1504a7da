//! fio's group status: what it prints for all jobs of a group together.
//!
//! ```text
//! block  = head { line } | line { line }
//! head   = "Run status group " number " (all jobs):"
//! line   = margin [prefix] name ":" fields
//! name   = "READ" | "WRITE" | "TRIM" | "MIXED"
//! 2.17 on:
//! fields = "bw=" pair "," range "(" range ")" ", io=" pair ", run=" number "-" number "msec"
//! pair   = figure "(" figure ")"          the two bases of one quantity
//! range  = figure "-" figure              slowest and fastest job
//! to 2.16:
//! fields = "io=" figure ", aggrb=" figure ", minb=" figure ", maxb=" figure ", mint=" number "msec, maxt=" number "msec"
//! ```
//!
//! ```text
//! Run status group 0 (all jobs):
//!   WRITE: bw=293MiB/s (307MB/s), 293MiB/s-293MiB/s (307MB/s-307MB/s), io=19.2GiB (20.6GB), run=67192-67192msec
//!    READ: io=22904KB, aggrb=88775KB/s, minb=88775KB/s, maxb=88775KB/s, mint=258msec, maxt=258msec
//! ```
//!
//! Lines also stand alone, grepped out of their report, perhaps with the name of a file before them. A line that
//! was broken by a mail program is read on.

use crate::block::fio_text::quick;
use crate::diagnostic::{Code, Diagnostic};
use crate::figure::Figure;
use crate::lex::{self, Lexed};
use crate::record::Direction;
use crate::source::{Log, Segments, Span};
use memchr::memmem::Finder;
use nom::Parser;
use nom::combinator::opt;
use std::sync::LazyLock;

/// A group status, undecoded.
#[derive(Clone, Debug, PartialEq)]
pub struct FioGroup<'t> {
    /// The lines it covers.
    pub span: Span,
    /// The group's number, where the head is there.
    pub group: Option<u32>,
    /// The directions, in order.
    pub lines: Vec<GroupLine<'t>>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// One quantity, printed in one or two bases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair<'t> {
    /// The figure before the parenthesis.
    pub first: Option<Figure<'t>>,
    /// The figure in it.
    pub second: Option<Figure<'t>>,
}

/// One direction of a group, undecoded.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupLine<'t> {
    /// Where the line stands, from its name to its last figure.
    pub span: Span,
    /// What was grepped in front of it, such as the name of a file.
    pub prefix: Option<&'t str>,
    /// Which way bytes went.
    pub direction: Direction,
    /// Whether it has the form of fio to 2.16.
    pub legacy: bool,
    /// The sum of bytes over the longest run.
    pub bw: Pair<'t>,
    /// The slowest job.
    pub bw_min: Pair<'t>,
    /// The fastest job.
    pub bw_max: Pair<'t>,
    /// The sum of bytes.
    pub io: Pair<'t>,
    /// The shortest run, in msec.
    pub run_min: Option<Figure<'t>>,
    /// The longest run, in msec.
    pub run_max: Option<Figure<'t>>,
}

/// Reads a group status where `lines` stands at its head or at one of its lines; otherwise leaves `lines` as it is.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<FioGroup<'t>> {
    let mut ahead = lines.clone();
    let first = ahead.next()?;
    // nearly every line that is none leaves here: heads begin with this letter, lines have colons
    memchr::memchr2(b':', b'R', first.text.as_bytes())?;
    let rest = &log.text()[first.span.start as usize..];
    let group = head(lex::skip_margin(rest), first.text);
    let mut block = FioGroup {
        span: first.span,
        group,
        lines: Vec::new(),
        problems: Vec::new(),
    };
    if group.is_some() {
        *lines = ahead;
    }
    loop {
        let mut ahead = lines.clone();
        // pastes double line ends; below a head that does no harm
        if group.is_some() {
            skip_blank_lines(&mut ahead);
        }
        let known = |direction| block.lines.iter().any(|line| line.direction == direction);
        let Some(taken) = next_line(log, &mut ahead, known, &mut block.problems) else {
            break;
        };
        *lines = ahead;
        block.span.end = block.span.end.max(taken.end);
        // lines are large, and most groups have one or two
        block.lines.reserve_exact(1);
        block.lines.push(taken.line);
    }
    (group.is_some() || !block.lines.is_empty()).then_some(block)
}

/// Passes over two blank lines at most.
fn skip_blank_lines(lines: &mut Segments<'_>) {
    for _ in 0..2 {
        let mut ahead = lines.clone();
        match ahead.next() {
            Some(line) if lex::skip_margin(line.text).is_empty() => *lines = ahead,
            _ => return,
        }
    }
}

/// The number of the group whose head stands at `rest`.
fn head(rest: &str, line: &str) -> Option<u32> {
    const HEAD: [&str; 3] = ["Run", "status", "group"];
    let rest = if rest.starts_with("Run") {
        rest
    } else {
        // a head that was grepped with the name of its file
        static GREPPED: LazyLock<Finder<'static>> =
            LazyLock::new(|| Finder::new(":Run status group "));
        let at = GREPPED.find(line.as_bytes())?;
        &line[at + 1..]
    };
    let rest = lex::skip_blanks(lex::phrase(rest, &HEAD)?);
    let (rest, number) = lex::count(rest).ok()?;
    lex::skip_blanks(rest)
        .starts_with('(')
        .then_some(number as u32)
}

/// A line and where its physical lines end.
struct Taken<'t> {
    line: GroupLine<'t>,
    end: u32,
}

/// The line at which `lines` stands, if it is one of a group status; then `lines` stands behind it. A direction that is
/// `known` already is another group's.
fn next_line<'t>(
    log: &'t Log<'_>,
    lines: &mut Segments<'t>,
    known: impl Fn(Direction) -> bool,
    problems: &mut Vec<Diagnostic>,
) -> Option<Taken<'t>> {
    if let Some((line, end)) = quick::group_line(log, lines.offset() as usize) {
        if known(line.direction) {
            return None;
        }
        let end = end as u32;
        lines.behind_line_feed(end);
        return Some(Taken { line, end });
    }
    let mut ahead = lines.clone();
    let segment = ahead.next()?;
    let text = &log.text()[segment.span.start as usize..];
    memchr::memchr(b':', segment.text.as_bytes())?;
    let (start, direction, fields) = start(text, segment.text)?;
    if known(direction) {
        return None;
    }
    let (rest, mut line) = fields_of(log, direction, fields).ok()?;
    let end = text.len() - rest.len();
    let at = segment.span.start;
    line.span = Span::new(at + start as u32, at + end as u32);
    let before = lex::skip_margin(&segment.text[..start]).trim_end_matches([':', ' ', '-', '\t']);
    line.prefix = (!before.is_empty()).then_some(before);
    if line.run_max.is_none() || line.io.first.is_none() {
        problems.push(Diagnostic::warning(
            Code::INCOMPLETE,
            Some(line.span),
            "expected bandwidth, io= and run= in a group line, found less; what is whole was kept",
        ));
    }
    // take the physical lines that the reading went over
    let mut last = segment;
    while last.next < at + end as u32 {
        match ahead.next() {
            Some(segment) => last = segment,
            None => break,
        }
    }
    *lines = ahead;
    Some(Taken {
        line,
        end: last.span.end,
    })
}

const NAMES: [(&str, Direction); 4] = [
    ("READ", Direction::Read),
    ("WRITE", Direction::Write),
    ("TRIM", Direction::Trim),
    ("MIXED", Direction::Mixed),
];

/// Where the line's name starts, its direction, and the text of its fields.
fn start<'t>(text: &'t str, line: &'t str) -> Option<(usize, Direction, &'t str)> {
    let rest = lex::skip_margin(text);
    if let Some((direction, fields)) = name(rest) {
        return Some((text.len() - rest.len(), direction, fields));
    }
    // grepped with something before it: look for the first field, then back for the name
    static FIRST_FIELDS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| ["bw=", "aggrb="].map(Finder::new));
    let at = FIRST_FIELDS
        .iter()
        .find_map(|field| field.find(line.as_bytes()))?;
    let head = line[..at].trim_end();
    let colon = head.rfind(':')?;
    let before = line[..colon].trim_end();
    let (word, _) = NAMES.iter().find(|(word, _)| before.ends_with(word))?;
    let start = before.len() - word.len();
    let parts = before[..start].chars().next_back()?;
    if parts.is_alphanumeric() || parts == '_' {
        return None;
    }
    let (direction, fields) = name(&text[start..])?;
    Some((start, direction, fields))
}

/// The direction named at the head of `rest`, and the text behind the colon.
fn name(rest: &str) -> Option<(Direction, &str)> {
    if !matches!(rest.as_bytes().first(), Some(b'R' | b'W' | b'T' | b'M')) {
        return None;
    }
    let (word, direction) = NAMES.iter().find(|(word, _)| rest.starts_with(word))?;
    let fields = lex::skip_blanks(&rest[word.len()..]).strip_prefix(':')?;
    Some((*direction, fields))
}

/// The fields of either form. Refuses where the first is neither `bw=` nor `io=` with `aggrb=`.
fn fields_of<'t>(
    log: &'t Log<'_>,
    direction: Direction,
    input: &'t str,
) -> Lexed<'t, GroupLine<'t>> {
    let figure = |text: &'t str| Figure {
        text,
        span: log.span_of(text),
    };
    let pair = |first: Option<&'t str>, second: Option<&'t str>| Pair {
        first: first.map(figure),
        second: second.map(figure),
    };
    // a rate in no unit is a part of one
    let rate = |first: Option<&'t str>, second: Option<&'t str>| {
        pair(
            first.filter(|first| second.is_some() || lex::has_unit(first)),
            second,
        )
    };
    let mut line = GroupLine {
        span: Span::default(),
        prefix: None,
        direction,
        legacy: false,
        bw: Pair::default(),
        bw_min: Pair::default(),
        bw_max: Pair::default(),
        io: Pair::default(),
        run_min: None,
        run_max: None,
    };
    if let Ok((rest, bw)) = lex::field("bw", lex::figure).parse(input) {
        let (rest, bw_twin) = opt(lex::parenthesised(lex::figure)).parse(rest)?;
        let (rest, range) = opt(lex::behind_comma(lex::range)).parse(rest)?;
        let (rest, range_twin) = opt(lex::parenthesised(lex::range)).parse(rest)?;
        let (rest, io) = opt(lex::field("io", lex::figure)).parse(rest)?;
        let (rest, io_twin) = opt(lex::parenthesised(lex::figure)).parse(rest)?;
        let (rest, run) = opt(lex::field("run", lex::range)).parse(rest)?;
        line.bw = rate(Some(bw), bw_twin);
        line.bw_min = rate(range.map(|r| r.0), range_twin.map(|r| r.0));
        line.bw_max = rate(range.map(|r| r.1), range_twin.map(|r| r.1));
        line.io = pair(io, io_twin);
        // a run without its unit was cut off in the middle of the number
        if let Some((min, max)) = run.filter(|(_, max)| max.ends_with("sec")) {
            line.run_min = Some(figure(min));
            line.run_max = Some(figure(max));
        }
        return Ok((rest, line));
    }
    line.legacy = true;
    let (rest, io) = lex::field("io", lex::figure).parse(input)?;
    let (rest, bw) = lex::field("aggrb", lex::figure).parse(rest)?;
    let (rest, bw_min) = opt(lex::field("minb", lex::figure)).parse(rest)?;
    let (rest, bw_max) = opt(lex::field("maxb", lex::figure)).parse(rest)?;
    let (rest, run_min) = opt(lex::field("mint", lex::figure)).parse(rest)?;
    let (rest, run_max) = opt(lex::field("maxt", lex::figure)).parse(rest)?;
    line.io = pair(Some(io), None);
    line.bw = rate(Some(bw), None);
    line.bw_min = rate(bw_min, None);
    line.bw_max = rate(bw_max, None);
    line.run_min = run_min.filter(|run| run.ends_with("sec")).map(figure);
    line.run_max = run_max.filter(|run| run.ends_with("sec")).map(figure);
    Ok((rest, line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The figures of each line: bw, min, max, io, run; and how many segments were left.
    fn shown(text: &str) -> (Vec<String>, usize) {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let Some(block) = read(&log, &mut lines) else {
            return (Vec::new(), lines.count());
        };
        let pair = |pair: Pair<'_>| {
            for figure in [pair.first, pair.second].into_iter().flatten() {
                assert_eq!(log.get(figure.span), figure.text);
            }
            let text =
                |figure: Option<Figure<'_>>| figure.map_or("-".to_owned(), |f| f.text.to_owned());
            format!("{}|{}", text(pair.first), text(pair.second))
        };
        let run = |first, second| pair(Pair { first, second });
        let shown = block.lines.iter().map(|l| {
            format!(
                "{} {} {} {} {} {}",
                l.direction,
                pair(l.bw),
                pair(l.bw_min),
                pair(l.bw_max),
                pair(l.io),
                run(l.run_min, l.run_max)
            )
        });
        (shown.collect(), lines.count())
    }

    const NEW: &str = "READ: bw=155MiB/s (163MB/s), 15.5MiB/s-139MiB/s (16.3MB/s-146MB/s), io=22.2MiB (23.3MB), run=142-143msec";
    const NEW_SHOWN: &str =
        "read 155MiB/s|163MB/s 15.5MiB/s|16.3MB/s 139MiB/s|146MB/s 22.2MiB|23.3MB 142|143msec";

    #[test]
    fn both_forms_are_read() {
        let text = format!(
            "Run status group 0 (all jobs):\n   {NEW}\n  {}\n\nDisk stats",
            NEW.replace("READ", "WRITE")
        );
        assert_eq!(
            shown(&text),
            (
                vec![NEW_SHOWN.to_owned(), NEW_SHOWN.replace("read", "write")],
                2
            )
        );
        let old = "   READ: io=22904KB, aggrb=88775KB/s, minb=88775KB/s, maxb=91KB/s, mint=258msec, maxt=260msec";
        let wanted = "read 88775KB/s|- 88775KB/s|- 91KB/s|- 22904KB|- 258msec|260msec";
        assert_eq!(shown(old), (vec![wanted.to_owned()], 0));
        // numbers that were padded, as fio 1.x did
        let padded = old
            .replace("=22904KB", "=  22904KB")
            .replace("mint=258", "mint=    258");
        assert_eq!(shown(&padded).0, [wanted]);
    }

    #[test]
    fn lines_out_of_context_and_broken_lines_are_read() {
        for text in [
            NEW.to_owned(),
            format!("> {NEW}"),
            format!("`{NEW}`"),
            format!("\t| {NEW} |"),
            format!("logs/a.txt:   {NEW}"),
            format!("a.txt-12-  {NEW}"),
            NEW.replace(", io", ",\n> io"),
            NEW.replace('=', "=3D").replace("io=3D", "io=3D=\n"),
            NEW.replace("run=", "run=       "),
            NEW.replace(", ", ",\u{a0}"),
            NEW.replace('-', "\u{2013}"),
            NEW.replace('\n', "\r\n"),
        ] {
            assert_eq!(shown(&text), (vec![NEW_SHOWN.to_owned()], 0), "{text}");
        }
    }

    #[test]
    fn groups_end_where_another_starts() {
        // a direction that comes again is another group's, blank lines below a head are none's
        let (lines, left) = shown(&format!("{NEW}\n{NEW}\n"));
        assert_eq!((lines.len(), left), (1, 1));
        let spaced = format!(
            "Run status group 0 (all jobs):\n\n{NEW}\n\n{}\n\nText",
            NEW.replace("READ", "WRITE")
        );
        assert_eq!((shown(&spaced).0.len(), shown(&spaced).1), (2, 2));
    }

    #[test]
    fn what_was_cut_off_keeps_what_is_whole() {
        let cut = |to: &str| shown(&NEW[..NEW.find(to).unwrap() + to.len()]).0.pop();
        assert_eq!(
            cut("io=22.2MiB").unwrap(),
            "read 155MiB/s|163MB/s 15.5MiB/s|16.3MB/s 139MiB/s|146MB/s 22.2MiB|- -|-"
        );
        // half a number is no number
        assert_eq!(
            cut("run=142-14").unwrap(),
            "read 155MiB/s|163MB/s 15.5MiB/s|16.3MB/s 139MiB/s|146MB/s 22.2MiB|23.3MB -|-"
        );
        let log = Log::from_bytes("x", b"READ: bw=1MiB/s (1MB/s)").unwrap();
        let block = read(&log, &mut log.segments()).unwrap();
        assert_eq!(block.problems[0].code, Code::INCOMPLETE);
    }

    #[test]
    fn other_lines_are_left_alone() {
        for text in [
            "",
            "\n",
            "READ this: bw=5MiB/s",
            "READ: fast",
            "  read: IOPS=39.8k, BW=155MiB/s (163MB/s)(22.2MiB/143msec)",
            "Run status group",
            "Run status group x (all jobs):",
            "THREAD: bw=155MiB/s (163MB/s)",
            "READ: io=5KB, and more",
        ] {
            let lines = text.split_inclusive('\n').count();
            assert_eq!(shown(text), (vec![], lines), "{text}");
        }
        let log = Log::from_bytes("x", b"Run status group 3 (all jobs):\n\n").unwrap();
        let block = read(&log, &mut log.segments()).unwrap();
        assert_eq!((block.group, block.lines.len()), (Some(3), 0));
    }

    proptest! {
        #[test]
        fn any_text_does_not_panic(text in "(\\PC|[ \n=>(),]|READ: |bw=|io=|run=|aggrb=|1\\.5MiB/s|-){0,20}") {
            let log = Log::from_bytes("x", text.as_bytes()).unwrap();
            let mut lines = log.segments();
            while read(&log, &mut lines).is_some() || lines.next().is_some() {}
        }
    }
}
