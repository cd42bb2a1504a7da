//! Where in a line a command of fio or dd stands.
//!
//! A line is looked at in three steps, each dearer and rarer than the one before: does it hold a tool's name as a
//! word with something fitting behind it ([`plausible`], on every line of a log, without allocation); from which word
//! on do wrappers lead to the tool; do the words behind read as a command ([`in_line`]). No step looks further than
//! 64 KiB from the line's start.

use super::arguments::{self, Said};
use super::dd;
use super::shell::{Tool, is_blank, is_dash, starts_with_operand};
use super::word::Word;
use super::wrapping::{self, Line};

/// A command in its line.
pub(super) struct Found {
    /// Where the command with its wrappers starts.
    pub from: usize,
    pub line: Line,
    pub said: Said,
}

/// How much text is looked at for one command, in bytes.
const WINDOW: usize = 64 << 10;

/// How many lines that is at most.
const MAX_LINES: usize = 200;

/// How far before the tool its wrappers are looked for, in bytes.
const BEFORE: usize = 300;

/// How far before the command a quote is looked for that it may stand in, in bytes.
const QUOTED: usize = 2000;

/// How many names of a tool in one line are looked at closely.
const MAX_TRIES: usize = 32;

/// The text up to the end of the last line that a command in the line at `at` can go on in.
///
/// A line goes on where it ends in a continuation mark or an operator, or where the next one starts with an option or
/// an operand behind the usual marks.
pub(super) fn window(text: &str, at: usize) -> &str {
    let limit = text.floor_char_boundary(at.saturating_add(WINDOW));
    let text = &text[..limit];
    let bytes = text.as_bytes();
    let mut end = at;
    for _ in 0..MAX_LINES {
        let Some(length) = memchr::memchr(b'\n', &bytes[end..]) else {
            return text;
        };
        let line = text[end..end + length].trim_end();
        end += length + 1;
        let open = line.ends_with(['\\', '`', '^', '|', '&', '=']);
        let next = text[end..]
            .trim_start_matches(|c| is_blank(c) || matches!(c, '>' | '|' | '#' | '/' | '*'));
        let goes_on =
            open || next.starts_with(|c| is_dash(c) || c == '&') || starts_with_operand(next);
        if !goes_on {
            break;
        }
    }
    &text[..end]
}

/// Whether a line may hold a command. This decides for nearly all lines of a log that they do not.
pub(super) fn plausible(line: &str) -> bool {
    let line = &line[..line.floor_char_boundary(WINDOW)];
    names_a_tool(line.as_bytes())
        && candidates(line).any(|candidate| fits(&line[candidate.end..], candidate.tool))
}

/// Whether `dd` or `fio` stands in the line with no letter behind. The loop has no way out, so that it is compiled to
/// a few instructions for each 16 bytes.
fn names_a_tool(line: &[u8]) -> bool {
    let lower = |byte: u8| byte | 0x20;
    let ends = |byte: u8| !lower(byte).is_ascii_lowercase();
    let mut found = false;
    for quad in line.windows(4) {
        let [a, b, c, d] = [quad[0], quad[1], quad[2], quad[3]];
        let dd = (lower(a) == b'd') & (lower(b) == b'd') & ends(c);
        let fio = (lower(a) == b'f') & (lower(b) == b'i') & (lower(c) == b'o') & ends(d);
        found |= dd | fio;
    }
    found
}

/// Whether what follows a tool's name may be an argument of it.
fn fits(behind: &str, tool: Tool) -> bool {
    let behind = behind.trim_start_matches(|c| is_blank(c) || matches!(c, '"' | '}'));
    // a line that goes on in the next, as far as that one is known
    let next = behind.strip_prefix(['\\', '`', '^']).map(|rest| {
        rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '#' | '|'))
    });
    let behind = match next {
        Some("") => return true,
        Some(next) => next,
        None => behind,
    };
    let Some(c) = behind.chars().next() else {
        return false;
    };
    // an entity
    if c == '&' {
        return true;
    }
    match tool {
        Tool::Fio => {
            let word = behind.split(char::is_whitespace).next().unwrap_or("");
            is_dash(c)
                || matches!(c, '[' | '$' | '<' | '"' | '\'' | '`')
                || word.contains(['.', '/', '=', '\\', '$', '{'])
        }
        Tool::Dd if !c.is_alphabetic() => false,
        Tool::Dd => {
            let near = &behind[..behind.floor_char_boundary(16)];
            let word = near.split(|c| is_blank(c) || c == '=').next().unwrap_or("");
            starts_with_operand(behind)
                || word.len() < near.len() && dd::is_operand(&word.to_ascii_lowercase())
        }
    }
}

/// A word that names a tool.
#[derive(Clone, Copy)]
struct Candidate {
    start: usize,
    end: usize,
    tool: Tool,
}

/// The words of a line that name a tool.
fn candidates(line: &str) -> impl Iterator<Item = Candidate> + '_ {
    let bytes = line.as_bytes();
    let is = move |at: usize, name: &[u8]| {
        bytes
            .get(at..at + name.len())
            .is_some_and(|have| have.eq_ignore_ascii_case(name))
    };
    // both names have a letter that is rare in them: the second d of dd, the o of fio
    memchr::memchr2_iter(b'd', b'D', bytes)
        .filter(move |&at| is(at, b"dd"))
        .map(|at| at + 2)
        .merge(
            memchr::memchr2_iter(b'f', b'F', bytes)
                .filter(move |&at| is(at, b"fio"))
                .map(|at| at + 3),
        )
        .filter_map(move |end| {
            let end = if is(end, b".exe") { end + 4 } else { end };
            let fits = match line[end..].chars().next() {
                None | Some('\\' | '\n' | '\r' | '&' | '"' | '}') => true,
                Some(c) => is_blank(c),
            };
            if !fits {
                return None;
            }
            let start = line[..end]
                .rfind(|c: char| is_blank(c) || is_border(c))
                .map_or(0, |at| {
                    at + line[at..].chars().next().map_or(1, char::len_utf8)
                });
            let tool = wrapping::tool_of(line[start..end].trim_end_matches(['"', '}']))?;
            Some(Candidate { start, end, tool })
        })
}

/// What may stand right before a command besides a blank: a quote, a bracket, an operator, mark-up.
fn is_border(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '(' | ';' | '&' | '|' | '>' | '#' | '*' | '\u{2018}'..='\u{201f}'
    )
}

/// Two ascending sequences as one.
trait Merge: Iterator<Item = usize> + Sized {
    fn merge(self, other: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        let (mut a, mut b) = (self.peekable(), other.peekable());
        std::iter::from_fn(move || match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x <= y => a.next(),
            (_, Some(_)) => b.next(),
            (_, None) => a.next(),
        })
    }
}

impl<I: Iterator<Item = usize>> Merge for I {}

/// The first command in the line of `length` bytes at `line_start` in `text`.
pub(super) fn in_line(text: &str, line_start: usize, length: usize) -> Option<Found> {
    let line = &text[line_start..text.len().min(line_start + length)];
    first_of(text, line_start, line, None)
}

/// The next command of dd in the line that starts where `text` does and ends at `end`, behind another one that stands
/// from `first` to `behind` in it.
pub(super) fn next_dd(text: &str, end: usize, first: usize, behind: usize) -> Option<Found> {
    let line = &text[..end.min(text.len())];
    first_of(text, 0, line, Some((first, behind))).filter(|found| found.line.tool == Tool::Dd)
}

/// The first command in `line`; of those behind another, which stands at these two places, if there is one.
fn first_of(
    text: &str,
    line_start: usize,
    line: &str,
    other: Option<(usize, usize)>,
) -> Option<Found> {
    let free = other.map_or(line_start, |(_, behind)| behind);
    candidates(line)
        .filter(|candidate| line_start + candidate.start >= free)
        .filter(|candidate| fits(&text[line_start + candidate.end..], candidate.tool))
        .take(MAX_TRIES)
        .find_map(|candidate| {
            let open = |from: usize| match other {
                Some((first, _)) => delimiter_within(&text[first..from]),
                None => delimiter(&text[line_start..from]),
            };
            let (from, line) = with_wrappers(text, line_start, free, candidate, open)?;
            let fits = match line.tool {
                Tool::Fio => arguments::is_fio(&line.words),
                Tool::Dd => arguments::is_dd(&line.words),
            };
            if !fits {
                return None;
            }
            let said = match line.tool {
                Tool::Fio => arguments::fio(&line.words),
                Tool::Dd => arguments::dd(&line.words),
            };
            let is_report = line.words[said.used..].windows(2).any(is_time_report);
            (!is_report).then_some(Found { from, line, said })
        })
}

/// Whether two words are part of a report of zsh or tcsh on a command, which starts with the command itself:
/// `dd if=a of=b 0.00s user 0.02s system 98% cpu 0.023 total`.
fn is_time_report(words: &[Word]) -> bool {
    let [number, name] = words else { return false };
    let number = number.text.strip_suffix(['s', 'u']).unwrap_or("");
    matches!(name.text.as_str(), "user" | "system")
        && number.starts_with(|c: char| c.is_ascii_digit())
        && number
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b':'))
}

/// The line of a tool, from the leftmost word on that leads there.
///
/// Nothing before `free` is looked at; `open` tells the marks that are open at a place.
fn with_wrappers(
    text: &str,
    line_start: usize,
    free: usize,
    candidate: Candidate,
    open: impl Fn(usize) -> Vec<char>,
) -> Option<(usize, Line)> {
    let tool = line_start + candidate.start;
    let floor = text.ceil_char_boundary(tool.saturating_sub(BEFORE).max(free));
    let left = &text[floor..tool];
    let starts = |c: char| is_blank(c) || is_border(c);
    let mut before = ' ';
    for (offset, c) in left.char_indices() {
        let here = !starts(c) && starts(before);
        before = c;
        if !here {
            continue;
        }
        let end = left[offset..]
            .find(|c| is_blank(c) || matches!(c, '"' | '\'' | '`'))
            .map_or(left.len(), |end| offset + end);
        let from = floor + offset;
        if end == left.len()
            || !wrapping::may_start(&left[offset..end], is_first(&text[line_start..from]))
        {
            continue;
        }
        if let Some(line) = wrapping::read(text, from, open(from))
            && line.start <= tool
            && tool <= line.start + 1
        {
            return Some((from, line));
        }
    }
    // `"$gnu_dd"`: the quote belongs to the word
    let behind = &text[line_start + candidate.end..];
    let quoted =
        text[..tool].ends_with('"') && behind.starts_with(['"', '}']) && !behind.starts_with("}/");
    let from = if quoted { tool - 1 } else { tool };
    let line = wrapping::read(text, from, open(from))?;
    Some((from, line))
}

/// Whether a command may start behind this text: no word of a sentence stands there.
fn is_first(before: &str) -> bool {
    !before
        .trim_end_matches(is_blank)
        .ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '.'))
}

/// The mark that ends the string or inline code which `before` leaves open, if it leaves one open.
///
/// A double quote or backtick counts as open where an odd number of them precedes; an apostrophe only right before
/// the command, for prose is full of them.
fn delimiter(before: &str) -> Vec<char> {
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(QUOTED))..];
    let odd = |mark: char| near.matches(mark).count() % 2 == 1;
    let close = match near.chars().next_back() {
        Some('\'' | '\u{2018}'..='\u{201b}') => Some('\''),
        Some('\u{201c}'..='\u{201f}') => Some('"'),
        Some('(') => Some(')'),
        _ if odd('`') => Some('`'),
        _ if odd('"') => Some('"'),
        _ => None,
    };
    close.into_iter().collect()
}

/// The marks that end what is left open behind another command: `sh -c '…`, `(…`.
fn delimiter_within(before: &str) -> Vec<char> {
    let mut open: Vec<char> = Vec::new();
    for mark in before.chars() {
        let quoted = matches!(open.last(), Some('\'' | '"'));
        match mark {
            _ if open.last() == Some(&mark) => {
                open.pop();
            }
            '\'' | '"' if !quoted => open.push(mark),
            '(' if !quoted => open.push(')'),
            _ => {}
        }
    }
    open
}

/// The host in a prompt such as `root@host:~# ` or `[user@host dir]$ ` at the end of `before`.
pub(super) fn host(before: &str) -> Option<&str> {
    let prompt = before.trim_end_matches(is_blank);
    if !prompt.ends_with(['$', '#', '%', '>', '\u{276f}']) {
        return None;
    }
    let at = prompt.rfind('@')?;
    let user = prompt[..at].chars().next_back()?;
    let rest = &prompt[at + 1..];
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')))
        .unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches('.');
    (user.is_ascii_alphanumeric() || matches!(user, '_' | '-'))
        .then_some(name)
        .filter(|name| !name.is_empty())
}
