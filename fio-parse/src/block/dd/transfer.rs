//! The byte line of a dd report: bytes, seconds and a rate.
//!
//! ```text
//! copied   = count [words] ["(" size {sep size} ")"] [words] ["(" percent ")"] sep seconds unit sep rate
//! progress = count words "(" size {sep size} ")" "transferred" seconds unit sep rate             (FreeBSD, macOS)
//! moved    = count words seconds unit "(" digits "bytes/sec" ")"
//! rate     = (number | word) unit "/" letters
//! sep      = "," | "，" | "、"
//! number   = digits [("." | ",") digits] [("e" | "E") sign digits]
//! count    = (digits | digits grouped in threes by blanks, points, commas or apostrophes) word
//! ```
//!
//! Words hold no digits, brackets or separators, in whatever script; verbs may come first. A comma with a digit
//! right behind it is a decimal comma, one with a blank behind it a separator. Blanks may be an end of line with
//! quote marks behind it: mailers break these lines.

use crate::figure::Figure;
use crate::lex;
use crate::source::Log;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while_m_n, take_while1};
use nom::character::complete::{anychar, char, digit1, one_of};
use nom::combinator::{not, opt, peek, recognize, verify};
use nom::error::{Error, ErrorKind};
use nom::sequence::{delimited, preceded};
use nom::{Err, IResult, Parser};
use smallvec::SmallVec;

/// A byte line taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer<'t> {
    /// Which grammar it follows.
    pub form: Form,
    /// The exact count of bytes, with the word behind it: `1073741824 bytes`.
    pub bytes: Option<Figure<'t>>,
    /// The rounded sizes in brackets: `11 GB`, `10 GiB`.
    pub sizes: SmallVec<[Figure<'t>; 2]>,
    /// The seconds with their unit: `34.4002 s`.
    pub seconds: Option<Figure<'t>>,
    /// The rate: `312 MB/s`, `1664848920 bytes/sec`.
    pub rate: Figure<'t>,
}

/// The grammar of a byte line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `… copied, 34.4002 s, 312 MB/s`.
    Copied,
    /// The same with a percentage: dc3dd.
    CopiedPercent,
    /// `… transferred 5.032s, 130 MB/s`: the progress line of BSD.
    Progress,
    /// `… transferred in 6.449485 secs (1664848920 bytes/sec)`.
    Moved,
    /// `time to transfer data was 1.234567 secs, 870.12 MB/sec`: sg_dd.
    SgDd,
    /// A rate alone: what a script has cut out of a report.
    RateOnly,
}

impl Transfer<'_> {
    /// Whether its seconds are whole, as those of progress lines are.
    pub fn has_whole_seconds(&self) -> bool {
        self.form == Form::Progress
            || self
                .seconds
                .is_some_and(|seconds| !seconds.text.contains(['.', ',']))
    }

    /// Whether `later` may be the same run, further on: more bytes, no less time.
    pub fn grows_to(&self, later: &Transfer<'_>) -> bool {
        let more = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| a <= b);
        let count = |t: &Transfer<'_>| t.bytes.and_then(|f| leading(f.text));
        let time = |t: &Transfer<'_>| t.seconds.and_then(|f| leading(f.text));
        count(self) != count(later)
            && more(count(self), count(later))
            && more(time(self), time(later))
    }
}

/// How many bytes a byte line may be long, mailers' line ends included.
const LONGEST: usize = 240;

/// How many numbers may stand in a byte line and a little in front of it.
const NUMBERS: usize = 24;

/// How many bytes of words may stand between two figures.
const WORDS: usize = 72;

/// Whether the slash at `at` may be that of a dd rate: a number and a unit in front, and a separator or bracket before those.
pub(super) fn is_rate_slash(bytes: &[u8], at: usize) -> bool {
    // "/s", "/c", Cyrillic "/с", "/秒"
    if !matches!(bytes.get(at + 1), Some(b's' | b'c' | 0xd1 | 0xe7)) {
        return false;
    }
    let back = |mut end: usize, max: usize, fits: fn(u8) -> bool| {
        let stop = end.saturating_sub(max);
        while end > stop && fits(bytes[end - 1]) {
            end -= 1;
        }
        end
    };
    let blanks = |end: usize| {
        let end = back(end, 12, |b| {
            matches!(
                b,
                b' ' | b'\t' | b'\n' | b'\r' | b'>' | b'|' | 0xa0 | 0xc2 | 0xaf | 0x80 | 0xe2
            )
        });
        end - if bytes[..end].ends_with(b"&nbsp;") {
            6
        } else {
            0
        }
    };
    let unit = back(at, 8, |b| b.is_ascii_alphabetic());
    let number_end = blanks(unit);
    let number = back(number_end, 24, |b| {
        b.is_ascii_digit() || matches!(b, b'.' | b',')
    });
    if number == number_end {
        // "Infinity B/s", in whatever language: rare enough to be looked at closely
        return bytes[..at].ends_with(b" B");
    }
    // "0,5 s,312 MB/s": where blanks were lost the separator is part of what looks like the number
    let number = number + usize::from(bytes[number] == b',');
    let edge = blanks(number);
    match &bytes[..edge] {
        [.., b'('] => at - unit > 3,
        // seconds stand before the separator: a number, blanks and a unit
        [before @ .., b','] => {
            let unit = back(before.len(), 24, |b| {
                b.is_ascii_alphabetic() || !b.is_ascii() || b == b'.'
            });
            let number = blanks(unit);
            unit < before.len()
                && number > 0
                && (bytes[number - 1].is_ascii_digit() || !bytes[number - 1].is_ascii())
                || unit > 0 && unit == number && bytes[unit - 1].is_ascii_digit()
        }
        // the last bytes of "，" and of "、"
        [.., 0xbc, 0x8c] | [.., 0x80, 0x81] => true,
        _ => false,
    }
}

/// Whether the line starts as a byte line does; said of lines that can't be read as one.
pub fn looks_like_transfer(text: &str) -> bool {
    let text = super::line::unmarked(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && text.len() < 200 && {
        let rest = lex::skip_blanks(&text[digits..]);
        rest.starts_with("byte") || rest.contains('(') && !rest.contains('=')
    }
}

/// The transfers of a line, in order: one, or with lost carriage returns many.
pub fn transfers<'l, 't, 'x>(
    log: &'l Log<'x>,
    text: &'t str,
) -> impl Iterator<Item = Transfer<'t>> + use<'l, 't, 'x> {
    let bytes = text.as_bytes();
    // where the piece of the line starts that no transfer was read from yet
    let mut free = 0;
    memchr::memchr_iter(b'/', bytes).filter_map(move |slash| {
        if slash < free || !is_rate_slash(bytes, slash) {
            return None;
        }
        let (transfer, end) = at_slash(text, free, slash)?;
        free = end;
        Some(transfer.transfer(log))
    })
}

/// The transfer whose rate has the slash at `slash`, and where it ends. It starts at one of the last numbers in front.
fn at_slash(text: &str, free: usize, slash: usize) -> Option<(Parts<'_>, usize)> {
    let bytes = text.as_bytes();
    let from = super::line::floor(text, free.max(slash.saturating_sub(LONGEST)));
    let mut starts: SmallVec<[usize; 32]> = SmallVec::new();
    let mut at = slash;
    while at > from && starts.len() < NUMBERS {
        at -= 1;
        let starts_number =
            bytes[at].is_ascii_digit() && (at == from || !bytes[at - 1].is_ascii_digit());
        if starts_number {
            starts.push(at);
        }
    }
    // from the left, so that all groups of a grouped number are taken
    starts.into_iter().rev().find_map(|start| {
        let commented = start < 64 && text[..start].trim_start() == "//";
        let inside =
            start > 0 && matches!(bytes[start - 1], b'.' | b'-' | b'_' | b'/') && !commented
                || start > free
                    && bytes[start - 1].is_ascii_alphanumeric()
                    // ^M, as some programs show a carriage return
                    && (start < 2 || bytes[start - 2] != b'^');
        if inside {
            return None;
        }
        let (rest, parts) = transfer(&text[start..]).ok()?;
        let end = text.len() - rest.len();
        // the rate that was read is the one at this slash, not a later one
        (end > slash).then_some((parts, end))
    })
}

/// sg_dd's line: `time to transfer data was 1.234567 secs, 870.12 MB/sec`, in later releases `data: 1.2 secs at …`.
pub fn sg_time<'t>(log: &Log<'_>, text: &'t str) -> Option<Transfer<'t>> {
    let rest = super::line::unmarked(text).strip_prefix("time to transfer data")?;
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ':');
    let rest = rest.strip_prefix("was").map_or(rest, lex::skip_blanks);
    let (rest, seconds) = recognize((number, blanks, word)).parse(rest).ok()?;
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    let rest = rest.strip_prefix("at").map_or(rest, lex::skip_blanks);
    let (_, rate) = rate(rest).ok()?;
    Some(Transfer {
        form: Form::SgDd,
        bytes: None,
        sizes: SmallVec::new(),
        seconds: Some(figure_of(log, seconds)),
        rate: figure_of(log, rate),
    })
}

/// A line that is a rate and nothing else: `312 MB/s`.
pub fn rate_only<'t>(log: &Log<'_>, text: &'t str) -> Option<Transfer<'t>> {
    let text = super::line::trimmed(super::line::unmarked(text));
    let (rest, rate) = rate(text).ok()?;
    (rest.is_empty() && rate.ends_with("B/s") && split_number(rate).is_some()).then(|| Transfer {
        form: Form::RateOnly,
        bytes: None,
        sizes: SmallVec::new(),
        seconds: None,
        rate: figure_of(log, rate),
    })
}

fn figure_of<'t>(log: &Log<'_>, text: &'t str) -> Figure<'t> {
    Figure {
        text,
        span: log.span_of(text),
    }
}

/// A transfer as slices of the text, without spans.
struct Parts<'t> {
    form: Form,
    bytes: &'t str,
    sizes: SmallVec<[&'t str; 2]>,
    seconds: &'t str,
    rate: &'t str,
}

impl<'t> Parts<'t> {
    fn transfer(self, log: &Log<'_>) -> Transfer<'t> {
        let figure = |text: &'t str| Figure {
            text,
            span: log.span_of(text),
        };
        Transfer {
            form: self.form,
            bytes: Some(figure(self.bytes)),
            sizes: self.sizes.into_iter().map(figure).collect(),
            seconds: Some(figure(self.seconds)),
            rate: figure(self.rate),
        }
    }
}

fn transfer(text: &str) -> IResult<&str, Parts<'_>> {
    alt((copied, moved)).parse(text)
}

/// `N bytes (…) copied, S s, R MB/s`, and the progress line of BSD.
fn copied(text: &str) -> IResult<&str, Parts<'_>> {
    let (rest, (bytes, bracketed)) = alt((
        (grouped_count, words, brackets).map(|(bytes, _, sizes)| (bytes, Some(sizes))),
        // no bracket stands where there are fewer bytes than a thousand
        recognize((digit1, blanks, word)).map(|bytes| (bytes, None)),
    ))
    .parse(text)?;
    let (rest, verb) = words(rest)?;
    let (rest, percent) = opt(percent).parse(rest)?;
    let progress = bracketed.is_some() && verb.trim_end().ends_with("transferred");
    let (rest, _) = opt(separator).parse(rest)?.ok_or_fail(progress)?;
    let (rest, _) = blanks(rest)?;
    let (rest, seconds) = recognize((number, blanks, word)).parse(rest)?;
    let unit = split_number(seconds).map_or("", |(_, unit)| unit.trim_matches(char::is_whitespace));
    if bracketed.is_none()
        && !matches!(
            unit,
            "s" | "c" | "с" | "秒" | "sec" | "secs" | "second" | "seconds"
        )
    {
        return Err(no(text));
    }
    let (rest, _) = separator(rest)?;
    let (rest, _) = blanks(rest)?;
    let (rest, rate) = rate(rest)?;
    let form = match (progress, percent) {
        (true, _) => Form::Progress,
        (_, Some(_)) => Form::CopiedPercent,
        _ => Form::Copied,
    };
    Ok((
        rest,
        Parts {
            form,
            bytes: bytes.trim_end_matches(char::is_whitespace),
            sizes: bracketed.unwrap_or_default(),
            seconds,
            rate,
        },
    ))
}

/// `N bytes transferred in S secs (R bytes/sec)`.
fn moved(text: &str) -> IResult<&str, Parts<'_>> {
    let (rest, bytes) = recognize((digit1, blanks, word)).parse(text)?;
    let (rest, _) = verify(words1, |words: &str| {
        ["transf", "trasf", "übertr"]
            .iter()
            .any(|stem| words.contains(stem))
    })
    .parse(rest)?;
    let (rest, seconds) = recognize((number, blanks, word)).parse(rest)?;
    let (rest, rate) = delimited(
        (blanks, char('('), blanks),
        recognize((
            digit1,
            blanks,
            verify(word, |unit: &str| unit.chars().count() > 3),
            char('/'),
            word,
        )),
        (blanks, char(')')),
    )
    .parse(rest)?;
    Ok((
        rest,
        Parts {
            form: Form::Moved,
            bytes,
            sizes: SmallVec::new(),
            seconds,
            rate,
        },
    ))
}

fn no(text: &str) -> Err<Error<&str>> {
    Err::Error(Error::new(text, ErrorKind::Verify))
}

/// Turns an optional separator into a needed one, unless the form has none.
trait OkOrFail<'t, T>: Sized {
    fn ok_or_fail(self, free: bool) -> IResult<&'t str, Option<T>>;
}

impl<'t, T> OkOrFail<'t, T> for (&'t str, Option<T>) {
    fn ok_or_fail(self, free: bool) -> IResult<&'t str, Option<T>> {
        if self.1.is_some() || free {
            Ok(self)
        } else {
            Err(no(self.0))
        }
    }
}

/// Blanks, also over one line end with quote marks behind it.
fn blanks(text: &str) -> IResult<&str, &str> {
    let mut rest = lex::skip_blanks(text);
    if let Some(next) = lex::skip_break(rest) {
        rest = next;
    }
    Ok((rest, &text[..text.len() - rest.len()]))
}

/// Characters of words: no digit, bracket or separator.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '\'' | '’' | '.' | '\u{300}'..='\u{36f}')
}

/// Words and blanks, perhaps none; not more than stand in any report.
pub(super) fn words(text: &str) -> IResult<&str, &str> {
    let mut rest = text;
    loop {
        let (behind, gap) = blanks(rest)?;
        let word = behind.find(|c| !is_word_char(c)).unwrap_or(behind.len());
        rest = &behind[word..];
        if text.len() - rest.len() > WORDS {
            return Err(no(text));
        }
        if word == 0 && gap.is_empty() {
            return Ok((rest, &text[..text.len() - rest.len()]));
        }
    }
}

fn words1(text: &str) -> IResult<&str, &str> {
    verify(words, |taken: &str| taken.chars().any(char::is_alphabetic)).parse(text)
}

/// A unit or a short word; a point behind it belongs to an abbreviation ("sek.") unless a digit follows.
fn word(text: &str) -> IResult<&str, &str> {
    recognize((
        take_while_m_n(1, 12, char::is_alphabetic),
        opt((
            char('.'),
            not(peek(verify(anychar, |c: &char| c.is_ascii_digit()))),
        )),
    ))
    .parse(text)
}

fn separator(text: &str) -> IResult<&str, &str> {
    preceded(blanks, recognize(one_of(",，、"))).parse(text)
}

/// `12`, `12.34`, `12,34`, `8.2754e-05`.
fn number(text: &str) -> IResult<&str, &str> {
    recognize((
        digit1,
        opt((one_of(".,"), digit1)),
        opt((
            one_of("eE"),
            opt(alt((char('+').map(|_| ()), lex::dash))),
            digit1,
        )),
    ))
    .parse(text)
}

/// `16777216`, or `16 777 216` as some languages group it; whether the groups are one number is checked against the sizes.
fn grouped_count(text: &str) -> IResult<&str, &str> {
    let (mut rest, _) = digit1(text)?;
    loop {
        let group: IResult<&str, _> = (
            one_of(" \u{a0}\u{202f}.,'’"),
            verify(digit1, |digits: &str| digits.len() == 3),
        )
            .parse(rest);
        match group {
            Ok((behind, _)) => rest = behind,
            Err(_) => break,
        }
    }
    let (rest, _) = recognize((blanks, opt(word))).parse(rest)?;
    Ok((rest, &text[..text.len() - rest.len()]))
}

/// The sizes in brackets.
fn brackets(text: &str) -> IResult<&str, SmallVec<[&str; 2]>> {
    let (mut rest, _) = (one_of("(（"), blanks).parse(text)?;
    let mut sizes = SmallVec::new();
    loop {
        let (behind, size) = recognize((number, blanks, word)).parse(rest)?;
        sizes.push(size);
        let (behind, more) = opt((separator, blanks)).parse(behind)?;
        rest = behind;
        if more.is_none() || sizes.len() > 3 {
            break;
        }
    }
    let (rest, _) = (blanks, one_of(")）")).parse(rest)?;
    Ok((rest, sizes))
}

/// `( 91% )`.
fn percent(text: &str) -> IResult<&str, &str> {
    recognize((
        blanks,
        char('('),
        blanks,
        digit1,
        blanks,
        tag("%"),
        blanks,
        char(')'),
    ))
    .parse(text)
}

/// `312 MB/s`, `457.2KB/s`, `Infinity B/s`, `233 MB/秒`.
fn rate(text: &str) -> IResult<&str, &str> {
    recognize((
        alt((number, word)),
        blanks,
        take_while1(|c: char| c.is_ascii_alphabetic()),
        char('/'),
        take_while_m_n(1, 4, char::is_alphabetic),
    ))
    .parse(text)
}

/// The number in front of a figure, roughly; for order only.
fn leading(text: &str) -> Option<f64> {
    let (number, _) = split_number(text)?;
    number.replace(',', ".").parse().ok()
}

/// A figure cut into its number and what follows; `None` where no number stands in front.
pub fn split_number(text: &str) -> Option<(&str, &str)> {
    number(text).ok().map(|(unit, number)| (number, unit))
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log(text: &str) -> Log<'_> {
        Log::from_bytes("log", text.as_bytes()).unwrap()
    }

    /// The figures of the only transfer on the line: bytes, sizes, seconds, rate.
    fn figures(text: &str) -> Option<(String, Vec<String>, String, String)> {
        let log = log(text);
        let found: Vec<_> = transfers(&log, log.text()).collect();
        assert!(found.len() <= 1, "{text}: {found:?}");
        let found = found.into_iter().next()?;
        let own = |f: &Figure<'_>| {
            assert_eq!(log.get(f.span), f.text);
            f.text.to_owned()
        };
        Some((
            own(found.bytes.as_ref()?),
            found.sizes.iter().map(own).collect(),
            own(found.seconds.as_ref()?),
            own(&found.rate),
        ))
    }

    #[test]
    fn every_tongue_is_told_by_its_numbers() {
        for (text, bytes, sizes, seconds, rate) in [
            (
                "10737418240 bytes (11 GB, 10 GiB) copied, 34.4002 s, 312 MB/s",
                "10737418240 bytes",
                vec!["11 GB", "10 GiB"],
                "34.4002 s",
                "312 MB/s",
            ),
            (
                "1073741824 bytes (1.1 GB) copied, 15.2301 seconds, 70.5 MB/s",
                "1073741824 bytes",
                vec!["1.1 GB"],
                "15.2301 seconds",
                "70.5 MB/s",
            ),
            (
                "536870912 Bytes (537 MB, 512 MiB) kopiert, 1,73096 s, 310 MB/s",
                "536870912 Bytes",
                vec!["537 MB", "512 MiB"],
                "1,73096 s",
                "310 MB/s",
            ),
            (
                " скопировано 2147483648 байт (2,1 GB), 4,17328 c, 515 MB/c",
                "2147483648 байт",
                vec!["2,1 GB"],
                "4,17328 c",
                "515 MB/c",
            ),
            (
                "1073741824字节(1.1 GB)已复制，4.60404 秒，233 MB/秒",
                "1073741824字节",
                vec!["1.1 GB"],
                "4.60404 秒",
                "233 MB/秒",
            ),
            (
                "16777216位元組（17 MB，16 MiB）已複製，0.0260588 s，644 MB/s",
                "16777216位元組",
                vec!["17 MB", "16 MiB"],
                "0.0260588 s",
                "644 MB/s",
            ),
            (
                "16777216 バイト (17 MB, 16 MiB) コピーされました、 5.02762 秒、 107 MB/秒",
                "16777216 バイト",
                vec!["17 MB", "16 MiB"],
                "5.02762 秒",
                "107 MB/秒",
            ),
            (
                "đã chép 16777216 byte (17 MB, 16 MiB), 0,0184883 s, 907 MB/s",
                "16777216 byte",
                vec!["17 MB", "16 MiB"],
                "0,0184883 s",
                "907 MB/s",
            ),
            (
                "16 777 216 bajtů (17 MB, 16 MiB) zkopírováno, 0,0630719 s, 266 MB/s",
                "16 777 216 bajtů",
                vec!["17 MB", "16 MiB"],
                "0,0630719 s",
                "266 MB/s",
            ),
            (
                "33554432\u{a0}octets (34 MB, 32 MiB) copiés, 0,0308513 s, 1,1 GB/s",
                "33554432 octets",
                vec!["34 MB", "32 MiB"],
                "0,0308513 s",
                "1,1 GB/s",
            ),
            (
                "1 bajt zkopírován, 8,3374e-05 s, 12,0 kB/s",
                "1 bajt",
                vec![],
                "8,3374e-05 s",
                "12,0 kB/s",
            ),
            (
                "10485760 bytes (10.0MB) copied, 22.394903 seconds, 457.2KB/s",
                "10485760 bytes",
                vec!["10.0MB"],
                "22.394903 seconds",
                "457.2KB/s",
            ),
            (
                "134217728 bytes (128 M) copied, 0.510114 s, 251 M/s",
                "134217728 bytes",
                vec!["128 M"],
                "0.510114 s",
                "251 M/s",
            ),
            (
                "    33554432 bytes ( 32 M ) copied ( 100% ),    0 s, 159 M/s ",
                "33554432 bytes",
                vec!["32 M"],
                "0 s",
                "159 M/s",
            ),
            (
                "654311424 bytes (654 MB, 624 MiB) transferred 5.032s, 130 MB/s",
                "654311424 bytes",
                vec!["654 MB", "624 MiB"],
                "5.032s",
                "130 MB/s",
            ),
            (
                "10737418240 bytes transferred in 6.449485 secs (1664848920 bytes/sec)",
                "10737418240 bytes",
                vec![],
                "6.449485 secs",
                "1664848920 bytes/sec",
            ),
            (
                "4096 bytes (4.1 kB, 4.0 KiB) copied, 0 s, Infinity B/s",
                "4096 bytes",
                vec!["4.1 kB", "4.0 KiB"],
                "0 s",
                "Infinity B/s",
            ),
            (
                "up (mac->remote) 16 MiB: 16777216 bytes (17 MB, 16 MiB) copied, 0.08922 s, 188 MB/s [MiB/s=179.3]",
                "16777216 bytes",
                vec!["17 MB", "16 MiB"],
                "0.08922 s",
                "188 MB/s",
            ),
            (
                "10485760 bytes(10 MB,10 MiB)copied,0.5 s,21 MB/s",
                "10485760 bytes",
                vec!["10 MB", "10 MiB"],
                "0.5 s",
                "21 MB/s",
            ),
            (
                "^M1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.0 s, 350 MB/s",
                "1048576 bytes",
                vec!["1.0 MB", "1.0 MiB"],
                "0.0 s",
                "350 MB/s",
            ),
            (
                "10485760&nbsp;bytes (10&nbsp;MB) copied,&nbsp;0.5&nbsp;s, 21&nbsp;MB/s",
                "10485760&nbsp;bytes",
                vec!["10&nbsp;MB"],
                "0.5&nbsp;s",
                "21&nbsp;MB/s",
            ),
            (
                "1048576 bytes (1.0 MB, 1.0 MiB) copied, 8.3374e−05 s, 12.6 GB/s",
                "1048576 bytes",
                vec!["1.0 MB", "1.0 MiB"],
                "8.3374e−05 s",
                "12.6 GB/s",
            ),
            (
                "10737418240 bytes (11 GB, 10 GiB) copied, 34.4002 s,\n> 312 MB/s",
                "10737418240 bytes",
                vec!["11 GB", "10 GiB"],
                "34.4002 s",
                "312 MB/s",
            ),
        ] {
            let sizes: Vec<String> = sizes.into_iter().map(str::to_owned).collect();
            assert_eq!(
                figures(text),
                Some((bytes.into(), sizes, seconds.into(), rate.into())),
                "{text}"
            );
        }
    }

    #[test]
    fn other_transfers_are_none() {
        for text in [
            "   READ: bw=293MiB/s (307MB/s), 293MiB/s-293MiB/s (307MB/s-307MB/s), io=19.2GiB (20.6GB), run=67192-67192msec",
            "Fetched 1,234 kB in 5s (230 kB/s)",
            "1024 bytes received in 0.00 seconds (1.2 MB/s)",
            "wrote it in 5 s, 10 MB/s",
            "copied, 34.4002 s, 312 MB/s",
            "10 files copied, 5 min, 10 MB/s",
            "32.0MiB 0:00:00 [ 468MiB/s] [====>] 100%",
            "Total: 2097152 blocks (1024Mb) written.",
        ] {
            assert_eq!(figures(text), None, "{text}");
        }
    }

    #[test]
    fn sg_dd_and_bare_rates() {
        for (text, seconds, rate) in [
            (
                "time to transfer data was 1.234567 secs, 870.12 MB/sec",
                "1.234567 secs",
                "870.12 MB/sec",
            ),
            (
                "time to transfer data: 1.234567 secs at 870.12 MB/sec",
                "1.234567 secs",
                "870.12 MB/sec",
            ),
        ] {
            let log = log(text);
            let found = sg_time(&log, log.text()).unwrap();
            assert_eq!(
                (found.seconds.unwrap().text, found.rate.text),
                (seconds, rate)
            );
        }
        for (text, rate) in [
            ("  > 312 MB/s ", Some("312 MB/s")),
            ("1,8 GB/s", Some("1,8 GB/s")),
            ("312 MB/s fast", None),
            ("MB/s", None),
            ("5 pages/s", None),
        ] {
            let log = log(text);
            assert_eq!(
                rate_only(&log, log.text()).map(|t| t.rate.text),
                rate,
                "{text}"
            );
        }
    }

    #[test]
    fn lost_returns_leave_several_on_a_line() {
        let text = "1000000 bytes (1.0 MB) copied, 1 s, 1.0 MB/s2000000 bytes (2.0 MB) copied, 2 s, 1.0 MB/s3000000 bytes (3.0 MB) copied, 3 s, 1.0 MB/s";
        let log = log(text);
        let found: Vec<_> = transfers(&log, log.text()).collect();
        let bytes: Vec<_> = found.iter().map(|t| t.bytes.unwrap().text).collect();
        assert_eq!(bytes, ["1000000 bytes", "2000000 bytes", "3000000 bytes"]);
    }

    proptest! {
        #[test]
        fn any_text_is_borne(text in "[0-9a-z(),./+ :\n>秒，s-]{0,80}") {
            let log = log(&text);
            for transfer in transfers(&log, log.text()) {
                prop_assert_eq!(log.get(transfer.rate.span), transfer.rate.text);
                prop_assert!(super::super::line::is_candidate(log.text()));
            }
        }

        #[test]
        fn what_is_read_was_let_in(bytes in 1000u64..1 << 50, millis in 1u32..1 << 30) {
            // whatever GNU prints must pass the quick test and be read
            let seconds = f64::from(millis) / 1e3;
            let text = format!("{bytes} bytes (1 GB, 1 GiB) copied, {seconds} s, {:.1} MB/s", bytes as f64 / seconds / 1e6);
            prop_assert!(super::super::line::is_candidate(&text));
            prop_assert!(figures(&text).is_some());
        }
    }
}
