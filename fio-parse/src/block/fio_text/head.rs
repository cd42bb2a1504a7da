//! The head of a job section, and the description below it.
//!
//! ```text
//! head        = margin name ": (groupid=" number [", jobs=" number] "): err=" number [" (" words ")"] ": pid=" number [": " time]
//! description = "Description  : [" words "]"
//! ```
//!
//! ```text
//! randread: (groupid=0, jobs=1): err= 0: pid=9008: Mon Nov 30 14:42:38 2026
//! enospc: (groupid=0, jobs=1): err=28 (file:io_u.c:1876, func=io_u error, error=No space left on device): pid=7986: Mon …
//! ```
//!
//! A name may be empty and hold anything, even what looks like a head: the last mark on the line counts.

use super::quick;
use crate::figure::Figure;
use crate::lex::{self, Lexed};
use crate::source::{Log, Span};
use nom::Parser;
use nom::bytes::complete::tag;
use nom::combinator::opt;

/// What every head has and nothing else.
pub const MARK: &str = "(groupid=";

/// A head, undecoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Head<'t> {
    /// Where it stands.
    pub span: Span,
    /// The job's name; `All clients` for the sum of a client/server run.
    pub name: &'t str,
    /// The number of its group.
    pub group: u32,
    /// How many jobs report here; not printed to 1.13.
    pub jobs: Option<u32>,
    /// The errno, 0 for none.
    pub error: Option<i64>,
    /// What the errno is about.
    pub error_text: Option<&'t str>,
    /// The process, 0 for all clients together.
    pub pid: Option<i64>,
    /// When the report was made, as printed, without a zone.
    pub time: Option<&'t str>,
}

impl Head<'_> {
    /// Whether it is that of the sum over all servers of a client.
    pub fn is_all_clients(&self) -> bool {
        self.name == "All clients" && self.pid == Some(0)
    }

    /// When it was printed, in seconds since some start; only differences mean something.
    pub fn seconds(&self) -> Option<f64> {
        seconds_of(self.time?)
    }
}

/// The seconds of `Mon Nov 30 14:42:24 2026` since some start, days counted as if every month had 31.
///
/// Only differences within a run are taken; at the end of a shorter month a series is missed, not made up.
fn seconds_of(time: &str) -> Option<f64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut words = time.split_whitespace().filter(|word| *word != ">").skip(1);
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let day: u32 = words.next()?.parse().ok()?;
    let mut clock = words
        .next()?
        .split(':')
        .map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let year: u32 = words.next()?.parse().ok()?;
    let days = (f64::from(year) * 12.0 + month as f64) * 31.0 + f64::from(day);
    Some(days * 86_400.0 + f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + f64::from(second))
}

/// Where the mark of a head stands in a line: behind a colon, as the last of its kind.
pub fn find(line: &str) -> Option<usize> {
    let mut from = line.len();
    while let Some(at) = memchr::memrchr(b'(', &line.as_bytes()[..from]) {
        if line[at..].starts_with(MARK) {
            let before = line[..at].trim_end();
            return before.ends_with(':').then_some(at);
        }
        from = at;
    }
    None
}

/// Reads the head whose mark stands `at` bytes into `input`.
pub fn read<'t>(log: &'t Log<'t>, input: &'t str, at: usize) -> Lexed<'t, Head<'t>> {
    let name = lex::skip_margin(&input[..at]).trim_end();
    let name = name.strip_suffix(':').unwrap_or(name);
    // progress that was not overwritten
    let name = match name.rfind("[eta ") {
        Some(eta) if name.starts_with("Jobs:") => {
            name[eta..].split_once(']').map_or(name, |(_, name)| name)
        }
        _ => name,
    };
    let start = log.span_of(name).start;
    let mark = &input[at..];
    if let Some((group, jobs, pid, time)) = quick::head(log, log.text().len() - mark.len()) {
        let head = Head {
            span: Span::new(start, time.span.end),
            name,
            group,
            jobs: Some(jobs),
            error: Some(0),
            error_text: None,
            pid: Some(pid),
            time: Some(time.text),
        };
        return Ok((&log.text()[time.span.end as usize..], head));
    }
    let (rest, _) = tag("(groupid").parse(mark)?;
    let (rest, ()) = lex::equals(rest)?;
    let (rest, group) = lex::wrapped(lex::count).parse(rest)?;
    let (rest, jobs) = opt(lex::field("jobs", lex::count)).parse(rest)?;
    let (rest, _) = opt(tag(")")).parse(lex::skip_blanks(rest))?;
    let mut head = Head {
        span: Span::default(),
        name,
        group: u32::try_from(group).unwrap_or(u32::MAX),
        jobs: jobs.and_then(|jobs| u32::try_from(jobs).ok()),
        error: None,
        error_text: None,
        pid: None,
        time: None,
    };
    let colon = |rest: &'t str| lex::skip_blanks(rest).strip_prefix(':').unwrap_or(rest);
    let (rest, error) = opt(lex::field("err", signed)).parse(colon(rest))?;
    head.error = error;
    let mut rest = rest;
    if let Some(open) = lex::skip_blanks(rest).strip_prefix('(') {
        // the words may hold parentheses themselves, and a line end where they were wrapped
        let close = memchr::memmem::find(&open.as_bytes()[..window(open)], b"): pid=");
        if let Some(close) = close {
            head.error_text = Some(&open[..close]);
            rest = &open[close + 1..];
        }
    }
    let (rest, pid) = opt(lex::field("pid", signed)).parse(colon(rest))?;
    head.pid = pid;
    let (rest, time) = opt(time).parse(colon(rest))?;
    head.time = time.filter(|_| pid.is_some());
    head.span = Span::new(start, log.span_of(&rest[..0]).start);
    Ok((rest, head))
}

/// How far the words of an error may reach.
fn window(text: &str) -> usize {
    text.len().min(400)
}

/// What C's `ctime` gives: `Mon Nov 30 14:42:38 2026`. The slice holds the line end where the line was broken.
fn time(input: &str) -> Lexed<'_, &str> {
    let name = |word: &str| word.len() == 3 && word.bytes().all(|b| b.is_ascii_alphabetic());
    let number =
        |word: &str| matches!(word.len(), 1..=4) && word.bytes().all(|b| b.is_ascii_digit());
    let clock = |word: &str| word.len() == 8 && word.bytes().filter(|b| *b == b':').count() == 2;
    let start = lex::skip_blanks(input);
    let start = lex::skip_break(start).unwrap_or(start);
    let (rest, ()) = word(name)(start)?;
    let (rest, ()) = lex::wrapped(word(name)).parse(rest)?;
    let (rest, ()) = lex::wrapped(word(number)).parse(rest)?;
    let (rest, ()) = lex::wrapped(word(clock)).parse(rest)?;
    let (rest, ()) = lex::wrapped(word(number)).parse(rest)?;
    Ok((rest, &start[..start.len() - rest.len()]))
}

/// A word of letters, digits and colons that `fits`.
fn word<'t>(fits: impl Fn(&str) -> bool) -> impl FnMut(&'t str) -> Lexed<'t, ()> {
    move |input| {
        let end = input
            .bytes()
            .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b':'))
            .unwrap_or(input.len());
        match fits(&input[..end]) {
            true => Ok((&input[end..], ())),
            false => lex::refuse(input),
        }
    }
}

/// A whole number with a sign perhaps.
fn signed(input: &str) -> Lexed<'_, i64> {
    let (rest, minus) = opt(lex::dash).parse(input)?;
    let (rest, number) = lex::count(rest)?;
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    Ok((rest, if minus.is_some() { -number } else { number }))
}

/// Reads the description; it ends at the last bracket of its line.
pub fn description<'t>(log: &'t Log<'t>, input: &'t str) -> Lexed<'t, Figure<'t>> {
    let (rest, _) = tag("Description").parse(input)?;
    let rest = lex::skip_blanks(rest).strip_prefix(':').unwrap_or("");
    let Some(open) = lex::skip_blanks(rest).strip_prefix('[') else {
        return lex::refuse(input);
    };
    let end = memchr::memchr2(b'\n', b'\r', open.as_bytes()).unwrap_or(open.len());
    let Some(close) = open[..end].rfind(']') else {
        return lex::refuse(input);
    };
    let text = &open[..close];
    Ok((
        &open[close + 1..],
        Figure {
            text,
            span: log.span_of(text),
        },
    ))
}
