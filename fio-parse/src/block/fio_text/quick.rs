//! Lines that are byte for byte as fio 3.x prints them, read in one go.
//!
//! Nearly all lines of a large log are, and there the speed is decided. Such a line is taken apart here by a cursor
//! over bytes, from its start to its line feed. A line that differs in one byte (wrapped, quoted, of an older form,
//! cut) is refused, and the tolerant readers of the modules beside this one read it. They read the same from the
//! lines that this one takes; `tests` holds the two against each other.
//!
//! ```text
//! slat = "slat (" unit "): min=" figure ", max=" figure ", avg=" number ", stdev=" number
//! row  = "|" number "th=[" number "]" { ", " number "th=[" number "]" } [","]
//! and so on: the grammars of the other modules with just the blanks that fio prints
//! ```

mod lines;

use super::direction::{DirectionLine, SampleLine};
use super::latency::{Kind, LatencyLine, TimeUnit, percentile};
use super::tail::{Counts, CpuLine, Issued, Share, TargetLine};
use crate::block::fio_group::{GroupLine, Pair};
use crate::figure::Figure;
use crate::figure::decimal::{Plain, Rule};
use crate::reading::Reading;
use crate::record::{Direction, Percentile};
use crate::source::{Log, Span};
use crate::unit::Nanos;

/// What a line that starts with `s`, `c` or `l` is, told by its words up to the first figure.
pub(super) enum Word {
    /// A latency line.
    Latency(Kind, TimeUnit),
    /// The title of percentiles.
    Percentiles(Kind, TimeUnit),
    /// A line of the latency distribution.
    Distribution(TimeUnit),
    /// Shares of I/Os per submit call.
    Submit,
    /// Shares of I/Os per completion call.
    Complete,
    /// Processor use.
    Cpu,
    /// What was asked of the latency.
    Target,
}

/// A line that starts with `b` or `i`.
pub(super) enum SamplesOrIssued<'t> {
    /// A sample line.
    Samples(SampleLine<'t>),
    /// Counts of I/Os with the letters `rwts`.
    Issued(Issued<'t>),
}

/// Reads a head from its mark at the offset `at` on, where the job went well; gives its group, jobs and process, and
/// where its time stands, with which the line ends.
pub(in crate::block) fn head<'t>(
    log: &'t Log<'_>,
    at: usize,
) -> Option<(u32, u32, i64, Figure<'t>)> {
    let mut cursor = Cursor::new(log, at);
    cursor.eat(b"(groupid=")?;
    let group = u32::try_from(cursor.count()?).ok()?;
    cursor.eat(b", jobs=")?;
    let jobs = u32::try_from(cursor.count()?).ok()?;
    cursor.eat(b"): err= 0: pid=")?;
    let pid = i64::try_from(cursor.count()?).ok()?;
    cursor.eat(b": ")?;
    let start = cursor.at;
    // "Mon Nov 30 14:42:38 2026"
    let time: &[u8; 24] = log.text().as_bytes().get(start..)?.first_chunk()?;
    let fits = |pattern: &[u8; 24]| {
        time.iter()
            .zip(pattern)
            .all(|(&byte, &wanted)| match wanted {
                b'A' => byte.is_ascii_alphabetic(),
                b'0' => byte.is_ascii_digit(),
                mark => byte == mark,
            })
    };
    if !fits(b"AAA AAA 00 00:00:00 0000") && !fits(b"AAA AAA  0 00:00:00 0000") {
        return None;
    }
    cursor.at += time.len();
    cursor.line_feed()?;
    Some((group, jobs, pid, cursor.figure_from(start)?))
}

/// Reads a line of a group status, as 2.17 and later print it; gives the offset of its line feed.
pub(in crate::block) fn group_line<'t>(
    log: &'t Log<'_>,
    at: usize,
) -> Option<(GroupLine<'t>, usize)> {
    let mut cursor = Cursor::new(log, at);
    cursor.blanks();
    let start = cursor.at;
    let direction = match cursor.peek() {
        b'R' => cursor.eat(b"READ: bw=").map(|()| Direction::Read),
        b'W' => cursor.eat(b"WRITE: bw=").map(|()| Direction::Write),
        b'T' => cursor.eat(b"TRIM: bw=").map(|()| Direction::Trim),
        _ => None,
    }?;
    let bw = cursor.pair()?;
    cursor.eat(b", ")?;
    let (min, max) = cursor.range()?;
    cursor.eat(b" (")?;
    let (min_twin, max_twin) = cursor.range()?;
    cursor.eat(b"), io=")?;
    let io = cursor.pair()?;
    cursor.eat(b", run=")?;
    let (run_min, run_max) = cursor.range()?;
    if !run_max.text.ends_with("sec") {
        return None;
    }
    let pair = |first, second| Pair {
        first: Some(first),
        second: Some(second),
    };
    let line = GroupLine {
        span: cursor.span(start, cursor.at),
        prefix: None,
        direction,
        legacy: false,
        bw,
        bw_min: pair(min, min_twin),
        bw_max: pair(max, max_twin),
        io,
        run_min: Some(run_min),
        run_max: Some(run_max),
    };
    cursor.line_feed()?;
    Some((line, cursor.at))
}

/// A place in the log's text. What reads a whole line refuses it where anything else than a line feed follows.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(log: &'t Log<'_>, at: usize) -> Self {
        Self {
            text: log.text(),
            at,
        }
    }

    /// Where it stands: behind a line, at its line feed.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next byte; a line feed at the end of the log.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(b'\n')
    }

    /// Passes over spaces.
    #[inline]
    pub(super) fn blanks(&mut self) {
        while self.peek() == b' ' {
            self.at += 1;
        }
    }

    /// Passes over `literal`, which must stand here.
    #[inline(always)]
    pub(super) fn eat<const N: usize>(&mut self, literal: &[u8; N]) -> Option<()> {
        let here = self.text.as_bytes().get(self.at..self.at + N)?;
        (here == literal).then(|| self.at += N)
    }

    /// `Some` where a line feed stands here.
    #[inline]
    pub(super) fn line_feed(&self) -> Option<()> {
        (self.text.as_bytes().get(self.at) == Some(&b'\n')).then_some(())
    }

    fn span(&self, start: usize, end: usize) -> Span {
        // the length of a log fits 32 bits
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    fn figure_from(&self, start: usize) -> Option<Figure<'t>> {
        Some(Figure {
            text: self.text.get(start..self.at)?,
            span: self.span(start, self.at),
        })
    }

    /// Passes over digits, at least one.
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    /// A number of few enough digits that a double holds it.
    #[inline]
    fn plain(&mut self) -> Option<Plain> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let (length, plain) = Plain::at_head(rest);
        self.at += length;
        plain
    }

    /// As [`plain`](Self::plain), for which percentile it is: two decimals, and one or two digits in front.
    #[inline]
    fn percent(&mut self) -> Option<Plain> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let digit = |byte: u8| Some(u64::from(byte.wrapping_sub(b'0'))).filter(|digit| *digit <= 9);
        let (tens, ones, fraction, length) = match *rest {
            [ones, b'.', a, b, b't', ..] => (0, digit(ones)?, [a, b], 4),
            [tens, ones, b'.', a, b, b't', ..] => (digit(tens)?, digit(ones)?, [a, b], 5),
            _ => return self.plain(),
        };
        self.at += length;
        let mantissa = tens * 1000 + ones * 100 + digit(fraction[0])? * 10 + digit(fraction[1])?;
        Some(Plain {
            mantissa,
            decimals: 2,
        })
    }

    /// A whole number of few enough digits that a double holds it.
    #[inline]
    fn whole(&mut self) -> Option<Plain> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let mut mantissa = 0u64;
        let mut length = 0;
        for &byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        self.at += length;
        matches!(length, 1..=15).then_some(Plain {
            mantissa,
            decimals: 0,
        })
    }

    /// Digits, and perhaps a point with more of them.
    #[inline]
    fn number(&mut self) -> Option<Figure<'t>> {
        let start = self.at;
        self.digits()?;
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        self.figure_from(start)
    }

    /// A number with its prefix and unit.
    #[inline]
    fn figure(&mut self, unit: impl Fn(u8) -> bool) -> Option<Figure<'t>> {
        let start = self.at;
        self.digits()?;
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        while unit(self.peek()) {
            self.at += 1;
        }
        self.figure_from(start)
    }

    /// A whole number of few enough digits.
    #[inline]
    fn count(&mut self) -> Option<u64> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let mut value = 0u64;
        let mut length = 0;
        for &byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
        }
        self.at += length;
        matches!(length, 1..=19).then_some(value)
    }

    /// `name=` and a figure behind blanks: fio pads means.
    #[inline(always)]
    fn padded<const N: usize>(&mut self, name: &[u8; N]) -> Option<Figure<'t>> {
        self.eat(name)?;
        self.blanks();
        self.number()
    }

    /// `name=` and a mean behind blanks, with how many decimals it has.
    #[inline(always)]
    fn mean<const N: usize>(
        &mut self,
        name: &[u8; N],
        unit: TimeUnit,
    ) -> Option<(Reading<Nanos>, u32)> {
        self.eat(name)?;
        self.blanks();
        let start = self.at;
        let plain = self.plain()?;
        let figure = self.figure_from(start)?;
        let rule = Rule::rounded(unit.scale());
        Some((Reading::of_plain(plain, rule, figure)?, plain.decimals()))
    }

    /// `|  1.00th=[   63],  5.00th=[  112],` to the end of the line.
    pub(super) fn row(&mut self, unit: TimeUnit, items: &mut Vec<Percentile>) -> Option<()> {
        self.at += 1;
        let had = items.len();
        let done = self.items(unit, items);
        if done.is_none() {
            items.truncate(had);
        }
        done
    }

    #[inline]
    fn items(&mut self, unit: TimeUnit, items: &mut Vec<Percentile>) -> Option<()> {
        loop {
            self.blanks();
            let p = self.percent()?.value();
            self.eat(b"th=[")?;
            self.blanks();
            let start = self.at;
            let printed = self.whole()?;
            let figure = self.figure_from(start)?;
            self.eat(b"]")?;
            items.push(percentile(p, printed, unit, figure)?);
            if self.peek() == b',' {
                self.at += 1;
                if self.peek() != b'\n' {
                    continue;
                }
            }
            return self.line_feed();
        }
    }

    /// The words of a line that starts with `s`, `c` or `l`, up to its first figure.
    #[inline]
    pub(super) fn word(&mut self) -> Option<Word> {
        let kind = match self.peek() {
            b's' => {
                if self.eat(b"submit    : ").is_some() {
                    return Some(Word::Submit);
                }
                match self.eat(b"slat ") {
                    Some(()) => Kind::Slat,
                    None => self.eat(b"sync ").map(|()| Kind::Sync)?,
                }
            }
            b'c' => {
                if self.eat(b"clat ").is_some() {
                    Kind::Clat
                } else if self.eat(b"cpu          : ").is_some() {
                    return Some(Word::Cpu);
                } else {
                    self.eat(b"complete  : ")?;
                    return Some(Word::Complete);
                }
            }
            _ => {
                if self.eat(b"latency   : ").is_some() {
                    return Some(Word::Target);
                }
                self.eat(b"lat ")?;
                Kind::Lat
            }
        };
        let percentiles = self.eat(b"percentiles ").is_some();
        let unit = if self.eat(b"(usec)").is_some() {
            TimeUnit::Usec
        } else if self.eat(b"(nsec)").is_some() {
            TimeUnit::Nsec
        } else {
            self.eat(b"(msec)")?;
            TimeUnit::Msec
        };
        if percentiles {
            self.eat(b":")?;
            return Some(Word::Percentiles(kind, unit));
        }
        if self.eat(b": ").is_some() {
            return Some(Word::Latency(kind, unit));
        }
        self.eat(b"   : ")?;
        (kind == Kind::Lat).then_some(Word::Distribution(unit))
    }
}
