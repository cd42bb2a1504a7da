//! The log: its text, its lines, and where things stand in it.
//!
//! A [`Log`] owns the only copy of the text; everything else holds a [`Span`], a pair of 32-bit byte offsets.
//! Text is fixed at the door and never changed afterwards:
//!
//! | what comes in | what is done |
//! |---|---|
//! | UTF-8, with or without a byte-order mark | kept; the mark is dropped |
//! | UTF-16 with a byte-order mark, or with every other byte zero (a PowerShell redirect) | decoded |
//! | bytes that are no UTF-8 | each such byte is taken for the Latin-1 letter of its value |
//! | terminal escape sequences (colours, cursor) | removed |
//! | a web page | its text, in the marks of Markdown, with the line numbers of the file; see `source/html.rs` |
//! | a unified diff of two reports | both texts, one after the other, with the line numbers of the file; see `source/diff.rs` |
//! | what a logger put in front of lines: time, level, name | blanks; see `source/stamps.rs` |
//! | emphasis around figures, escaped line ends and the like, left by pasting | blanks and carriage returns; see `source/pasted.rs` |
//! | no-break spaces | blanks, but for those between two digits, where they group the digits of a number |
//!
//! Where decoding changed something, spans and columns count in the text as decoded, which is what a person sees.
//! Lines end at `\n`; a `\r` before it belongs to the end. A `\r` elsewhere starts a new [segment](Log::segments):
//! progress lines overwrite each other that way, and a report may follow on the same line.

mod diff;
pub(crate) mod html;
mod pasted;
mod stamps;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// A piece of a log: byte offsets of its start and of its end, the end not included.
///
/// In JSON it is a pair, `[start, end]`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(into = "(u32, u32)", try_from = "(u32, u32)")]
pub struct Span {
    /// Where it starts.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

impl Span {
    /// From `start` to before `end`. Panics where `end` lies before `start`.
    pub fn new(start: u32, end: u32) -> Self {
        assert!(start <= end, "a span must not end before it starts");
        Self { start, end }
    }

    /// How many bytes it covers.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether it covers nothing.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The smallest span that covers both.
    pub fn cover(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl From<Span> for (u32, u32) {
    fn from(span: Span) -> Self {
        (span.start, span.end)
    }
}

impl TryFrom<(u32, u32)> for Span {
    type Error = &'static str;

    fn try_from((start, end): (u32, u32)) -> Result<Self, Self::Error> {
        if start > end {
            return Err("expected a span [start, end] with start <= end");
        }
        Ok(Self { start, end })
    }
}

/// How the bytes of a log were turned into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8 throughout.
    Utf8,
    /// UTF-16, little or big endian.
    Utf16,
    /// UTF-8 with some bytes that are none and were read as Latin-1.
    Mixed,
}

/// A named text with a line index.
#[derive(Clone, Debug)]
pub struct Log<'t> {
    name: Cow<'t, str>,
    text: Cow<'t, str>,
    /// How many line feeds stand before each [`PAGE`] bytes: a table of all lines would take longer to make than most
    /// logs take to read.
    feeds: Vec<u32>,
    /// The number of each line in the file, where it is another one; of a web page.
    numbers: Option<Vec<u32>>,
    /// How many characters stand before each [`STRIDE`] bytes, once a column was asked for.
    characters: OnceLock<Vec<u32>>,
    encoding: Encoding,
}

/// How many bytes are looked through at most for a line's number or start.
const PAGE: usize = 1024;

/// How many bytes are counted at most for a column, however long the line is.
const STRIDE: usize = 4096;

/// A log that is too large: offsets are 32 bits wide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    name: String,
    bytes: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: expected a log of less than 4 GiB, found {} bytes; split it at a line end",
            self.name, self.bytes
        )
    }
}

impl std::error::Error for TooLarge {}

impl<'t> Log<'t> {
    /// Takes `bytes` as the log called `name`, decoding them where needed.
    ///
    /// Errors: 4 GiB or more.
    pub fn from_bytes(name: impl Into<Cow<'t, str>>, bytes: &'t [u8]) -> Result<Self, TooLarge> {
        let name = name.into();
        if u32::try_from(bytes.len()).is_err() {
            return Err(TooLarge {
                bytes: bytes.len(),
                name: name.into_owned(),
            });
        }
        let (text, encoding) = decode(bytes);
        let text = without_escapes(text);
        let (text, numbers) = match html::plain(&text).or_else(|| diff::apart(&text)) {
            Some((text, numbers)) => (Cow::Owned(text), Some(numbers)),
            None => (text, None),
        };
        let text = pasted::cleaned(stamps::blanked(without_no_break(text)));
        if u32::try_from(text.len()).is_err() {
            return Err(TooLarge {
                bytes: text.len(),
                name: name.into_owned(),
            });
        }
        let mut feeds = Vec::with_capacity(text.len() / PAGE + 2);
        let mut count = 0;
        feeds.push(0);
        feeds.extend(text.as_bytes().chunks(PAGE).map(|page| {
            count += line_feeds(page);
            count
        }));
        Ok(Self {
            name,
            text,
            feeds,
            numbers,
            characters: OnceLock::new(),
            encoding,
        })
    }

    /// The name under which messages speak of it: a path, or `-`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text as decoded.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How the bytes were read.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The text at `span`. Panics where the span is not of this log.
    pub fn get(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The span of a slice that was taken from this log's text. Panics where it was taken from elsewhere.
    pub fn span_of(&self, slice: &str) -> Span {
        let start = (slice.as_ptr() as usize)
            .checked_sub(self.text.as_ptr() as usize)
            .filter(|start| start + slice.len() <= self.text.len())
            .expect("the slice is part of the log");
        Span::new(start as u32, (start + slice.len()) as u32)
    }

    /// How many lines there are; a text without a line end is one line.
    pub fn line_count(&self) -> usize {
        match &self.numbers {
            Some(numbers) => numbers[numbers.len() - 1] as usize,
            None => self.feeds[self.feeds.len() - 1] as usize + 1,
        }
    }

    /// Line and column of an offset, both counted from one: the line as in the file, the column in characters of the
    /// text.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let offset = offset.min(self.text.len() as u32);
        let index = self.index(offset);
        let start = self.start(index, offset);
        let column = if (offset - start) as usize <= STRIDE {
            characters(&self.text.as_bytes()[start as usize..offset as usize])
        } else {
            self.characters_before(offset) - self.characters_before(start)
        };
        (self.number(index), column + 1)
    }

    /// How many characters stand before an offset. A line may be as long as the log and have something odd in each
    /// of its segments, so counting from the line's start each time would take forever.
    fn characters_before(&self, offset: u32) -> u32 {
        let bytes = self.text.as_bytes();
        let before = self.characters.get_or_init(|| {
            let mut total = 0;
            let before = |chunk| {
                let before = total;
                total += characters(chunk);
                before
            };
            bytes.chunks(STRIDE).map(before).collect()
        });
        let offset = offset as usize;
        let Some(known) = before.get(offset / STRIDE) else {
            return before.last().map_or(0, |last| {
                last + characters(&bytes[(before.len() - 1) * STRIDE..offset])
            });
        };
        known + characters(&bytes[offset / STRIDE * STRIDE..offset])
    }

    /// How many lines end before an offset.
    fn index(&self, offset: u32) -> usize {
        let page = (offset as usize / PAGE).min(self.feeds.len() - 1);
        let before = &self.text.as_bytes()[page * PAGE..offset as usize];
        (self.feeds[page] + line_feeds(before)) as usize
    }

    /// Where the line of this index starts, in which `offset` is.
    fn start(&self, index: usize, offset: u32) -> u32 {
        // the page that holds the last line feed before the line
        let page = self
            .feeds
            .partition_point(|&feeds| (feeds as usize) < index);
        let Some(page) = page.checked_sub(1) else {
            return 0;
        };
        let end = (offset as usize).min((page + 1) * PAGE);
        let before = &self.text.as_bytes()[page * PAGE..end];
        memchr::memrchr(b'\n', before).map_or(0, |at| (page * PAGE + at + 1) as u32)
    }

    /// The number in the file of a line of the text.
    fn number(&self, index: usize) -> u32 {
        match &self.numbers {
            Some(numbers) => numbers[index],
            None => index as u32 + 1,
        }
    }

    /// The line of an offset, counted from one; cheaper than with its column where lines are long.
    pub fn line_of(&self, offset: u32) -> u32 {
        self.number(self.index(offset.min(self.text.len() as u32)))
    }

    /// The line that an offset is in, without its end.
    pub fn line_at(&self, offset: u32) -> &str {
        let offset = offset.min(self.text.len() as u32);
        let index = self.index(offset);
        let start = self.start(index, offset) as usize;
        // the page that holds the line feed at its end
        let page = self.feeds.partition_point(|&feeds| feeds as usize <= index) - 1;
        let from = (offset as usize).max((page * PAGE).min(self.text.len()));
        let end = memchr::memchr(b'\n', &self.text.as_bytes()[from..])
            .map_or(self.text.len(), |at| from + at);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The pieces between line ends and carriage returns, in order, each with its ends cut off, and the offset behind those ends.
    ///
    /// Together with their ends the pieces cover the text: `next` of one is the start of the following one.
    pub fn segments(&self) -> Segments<'_> {
        Segments {
            text: &self.text,
            at: 0,
        }
    }
}

/// How many line feeds are in a piece of text.
fn line_feeds(bytes: &[u8]) -> u32 {
    memchr::memchr_iter(b'\n', bytes).count() as u32
}

/// How many characters start in a piece of UTF-8.
fn characters(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32
}

/// One piece of a log between line ends or carriage returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'t> {
    /// The text without its ends.
    pub text: &'t str,
    /// Where the text stands.
    pub span: Span,
    /// Where the next segment starts.
    pub next: u32,
}

/// Iterator over the [segments](Log::segments) of a log.
#[derive(Clone, Debug)]
pub struct Segments<'t> {
    text: &'t str,
    at: usize,
}

impl Segments<'_> {
    /// Where the next segment starts.
    pub fn offset(&self) -> u32 {
        self.at as u32
    }

    /// Moves behind the line feed at `offset`, where a reader that went over bytes has ended.
    pub(crate) fn behind_line_feed(&mut self, offset: u32) {
        debug_assert_eq!(self.text.as_bytes()[offset as usize], b'\n');
        self.at = offset as usize + 1;
    }

    /// Passes over all segments that start before `offset`; does nothing where the cursor stands there or behind.
    pub fn skip_to(&mut self, offset: u32) {
        let offset = (offset as usize).min(self.text.len());
        if offset > self.at {
            // the byte in front belongs to the last segment to pass over
            self.at = offset - 1;
            self.at += segment_ends(&self.text.as_bytes()[self.at..]).1;
        }
    }
}

impl<'t> Iterator for Segments<'t> {
    type Item = Segment<'t>;

    fn next(&mut self) -> Option<Segment<'t>> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.is_empty() {
            return None;
        }
        let (end, next) = segment_ends(rest);
        let start = self.at;
        self.at += next;
        Some(Segment {
            text: &self.text[start..start + end],
            span: Span::new(start as u32, (start + end) as u32),
            next: self.at as u32,
        })
    }
}

/// Where the text of the first segment of `rest` ends, and where the next segment starts.
fn segment_ends(rest: &[u8]) -> (usize, usize) {
    let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    let mut next = end;
    // any run of returns with one line feed at its end is one end of line
    while rest.get(next) == Some(&b'\r') {
        next += 1;
    }
    if rest.get(next) == Some(&b'\n') {
        next += 1;
    }
    (end, next)
}

fn decode(bytes: &[u8]) -> (Cow<'_, str>, Encoding) {
    if let Some(text) = utf16(bytes) {
        return (Cow::Owned(text), Encoding::Utf16);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), Encoding::Utf8),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|&byte| char::from(byte)));
            }
            (Cow::Owned(text), Encoding::Mixed)
        }
    }
}

/// The text if the bytes are UTF-16: they start with its mark, or nearly every other byte is zero.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (bytes, little) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, true),
        [0xfe, 0xff, rest @ ..] => (rest, false),
        _ => {
            let head = &bytes[..bytes.len().min(256) & !1];
            let zeros = |odd: usize| {
                head.iter()
                    .skip(odd)
                    .step_by(2)
                    .filter(|&&b| b == 0)
                    .count()
            };
            let pairs = head.len() / 2;
            if pairs >= 8 && zeros(1) * 10 >= pairs * 9 && zeros(0) == 0 {
                (bytes, true)
            } else if pairs >= 8 && zeros(0) * 10 >= pairs * 9 && zeros(1) == 0 {
                (bytes, false)
            } else {
                return None;
            }
        }
    };
    let units = bytes.chunks(2).map(|pair| match *pair {
        [a, b] if little => u16::from_le_bytes([a, b]),
        [a, b] => u16::from_be_bytes([a, b]),
        // half a unit at a cut-off end
        _ => 0xfffd,
    });
    Some(
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
    )
}

/// How long the title that a terminal is given may be, in bytes.
const TITLE: usize = 1024;

/// The text without terminal escape sequences: `ESC [ … letter`, `ESC ] … BEL`, and `ESC` with one character.
fn without_escapes(text: Cow<'_, str>) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(0x1b, text.as_bytes()) else {
        return text;
    };
    let mut kept = String::with_capacity(text.len());
    kept.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(at) = rest.find('\u{1b}') {
        kept.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let skip = match rest.as_bytes().first() {
            Some(b'[') => rest.as_bytes()[1..]
                .iter()
                .take(33)
                .position(|byte| (0x40..=0x7e).contains(byte))
                .map_or(1, |end| end + 2),
            Some(b']') => {
                let title = &rest.as_bytes()[..rest.len().min(TITLE)];
                match memchr::memchr2(7, b'\n', title) {
                    Some(end) if title[end] == 7 => end + 1,
                    Some(end) => end,
                    None => 1,
                }
            }
            Some(_) => rest
                .chars()
                .next()
                .map_or(0, |c| if c.is_ascii_graphic() { 1 } else { 0 }),
            None => 0,
        };
        rest = &rest[skip..];
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// The text with blanks in place of no-break spaces, but for those between two digits.
fn without_no_break(text: Cow<'_, str>) -> Cow<'_, str> {
    const NO_BREAK: &str = "\u{a0}";
    let mut found = memchr::memmem::find_iter(text.as_bytes(), NO_BREAK).peekable();
    if text.is_ascii() || found.peek().is_none() {
        return text;
    }
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_digit)
    };
    let mut plain = String::with_capacity(text.len());
    let mut done = 0;
    for at in found {
        let behind = at + NO_BREAK.len();
        if !(digit(at.checked_sub(1)) && digit(Some(behind))) {
            plain.push_str(&text[done..at]);
            plain.push(' ');
            done = behind;
        }
    }
    plain.push_str(&text[done..]);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log(bytes: &[u8]) -> Log<'_> {
        Log::from_bytes("a log", bytes).unwrap()
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        let log = log("ab\nüc\r\n".as_bytes());
        assert_eq!(log.line_count(), 3);
        assert_eq!(log.line_column(0), (1, 1));
        assert_eq!(log.line_column(5), (2, 2));
        assert_eq!(log.line_column(99), (3, 1));
        assert_eq!(log.line_at(5), "üc");
    }

    #[test]
    fn columns_of_a_long_line_are_counted_in_characters() {
        let text = format!("first\n{}", "aü".repeat(5000));
        let log = log(text.as_bytes());
        for characters in [0, 1, 2, 2729, 2730, 2731, 2732, 5461, 9998, 10_000] {
            let offset = 6 + characters / 2 * 3 + characters % 2;
            assert_eq!(log.line_column(offset), (2, characters + 1));
        }
    }

    #[test]
    fn lines_are_found_across_pages() {
        for width in [0, 1, 90, PAGE - 1, PAGE, 3 * PAGE] {
            let text = format!("{}\n", "x".repeat(width)).repeat(5) + "end";
            let log = log(text.as_bytes());
            assert_eq!(log.line_count(), 6);
            for (index, line) in text.split('\n').enumerate() {
                let start = index * (width + 1);
                for offset in [start, start + line.len() / 2, start + line.len()] {
                    assert_eq!(log.line_of(offset as u32), index as u32 + 1);
                    assert_eq!(
                        log.line_column(offset as u32).1,
                        (offset - start) as u32 + 1
                    );
                    assert_eq!(log.line_at(offset as u32), line);
                }
            }
        }
    }

    #[test]
    fn segments_split_at_carriage_returns() {
        let log = log(b"Jobs: 1\rJobs: 2\r\n\r\r\nend");
        let texts: Vec<_> = log.segments().map(|s| s.text).collect();
        assert_eq!(texts, ["Jobs: 1", "Jobs: 2", "", "end"]);
    }

    #[test]
    fn powershell_redirects_are_read() {
        let wide: Vec<u8> = "\u{feff}READ: bw=1MiB/s\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(log(&wide).text(), "READ: bw=1MiB/s\r\n");
        assert_eq!(log(&wide[2..]).text(), "READ: bw=1MiB/s\r\n");
        assert_eq!(log(&wide).encoding(), Encoding::Utf16);
    }

    #[test]
    fn latin_1_and_escapes_become_what_a_person_sees() {
        let log = log(b"caf\xe9 \x1b[1;32mfio\x1b[0m \x1b]0;title\x07x\x1b");
        assert_eq!(log.text(), "café fio x");
        assert_eq!(log.encoding(), Encoding::Mixed);
    }

    #[test]
    fn no_break_spaces_are_blanks_but_within_numbers() {
        let log = log("10\u{a0}737\u{a0}418\u{a0}240\u{a0}octets\u{a0}\u{a0}2\u{a0}".as_bytes());
        assert_eq!(log.text(), "10\u{a0}737\u{a0}418\u{a0}240 octets  2 ");
    }

    #[test]
    fn a_page_keeps_its_line_numbers() {
        let log = log(b"<html><h1>Disk</h1>\n<p>dd:<pre>1+0 records in\n1+0 records out</pre>");
        let texts: Vec<_> = log.segments().map(|s| s.text).collect();
        assert_eq!(
            texts,
            [
                "# Disk",
                "",
                "dd:",
                "```",
                "1+0 records in",
                "1+0 records out",
                "```"
            ]
        );
        let at = log.text().find("records out").unwrap() as u32;
        assert_eq!(log.line_column(at), (3, 5));
    }

    proptest! {
        #[test]
        fn any_bytes_become_a_log(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let log = log(&bytes);
            let mut at = 0;
            for segment in log.segments() {
                prop_assert_eq!(segment.span.start, at);
                prop_assert_eq!(log.get(segment.span), segment.text);
                at = segment.next;
            }
            prop_assert_eq!(at as usize, log.text().len());
            // lines are found as if they were counted one by one
            for offset in 0..=log.text().len() as u32 {
                let before = &log.text().as_bytes()[..offset as usize];
                let feeds = before.iter().filter(|&&byte| byte == b'\n').count();
                let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
                prop_assert_eq!(log.index(offset), feeds);
                prop_assert_eq!(log.start(feeds, offset) as usize, start);
            }
            // passing over to an offset is the same as going there one by one
            for offset in 0..=at + 1 {
                let (mut far, mut near) = (log.segments(), log.segments());
                far.skip_to(offset);
                while near.offset() < offset.min(at) {
                    near.next();
                }
                prop_assert_eq!(far.offset(), near.offset());
            }
        }
    }
}
