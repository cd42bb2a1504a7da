//! What stands behind the directions of a job section.
//!
//! ```text
//! shares   = share { "," share }
//! share    = [">="] number "=" number "%"
//! cpu      = "cpu" ":" "usr=" number "%, sys=" number "%, ctx=" number ", majf=" number ", minf=" number
//! depths   = ("IO depths" | "submit" | "complete") ":" shares
//! issued   = "issued" ("rwts:" | "rwt:" | ":" | "r/w:" | "r/w/d:") "total=" counts ["," ] "short=" counts [[","] ("dropped=" | "drop=") counts]
//! counts   = [letter "="] number { ("," | "/") [letter "="] number }
//! errors   = "errors" ":" "total=" number ", first_error=" number "/<" words ">"
//! target   = "latency" ":" "target=" time ", window=" time ", percentile=" number "%, depth=" number
//! steady   = "steadystate" ":" "attained=" ("yes" | "no") ", bw=" figure [" (" figure ")"] ", iops=" figure [", lat=" figure] ", " words "=" number ["%"]
//! fsync    = "fsync/fdatasync/sync_file_range" ["/syncfs"] ":"
//! lifetime = "block lifetime percentiles :"
//! ```
//!
//! `issued` counts reads, writes and trims in this order, and syncs from 3.4 on.

use super::{FioJob, share};
use crate::block::fio_group::Pair;
use crate::figure::Figure;
use crate::figure::decimal::Plain;
use crate::lex::{self, Lexed};
use crate::source::Log;
use nom::Parser;
use nom::bytes::complete::tag;
use nom::combinator::opt;
use smallvec::SmallVec;

/// One share of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share<'t> {
    /// The label.
    pub at: u64,
    /// Whether the label is `>=`.
    pub more: bool,
    /// The share in percent.
    pub percent: Figure<'t>,
    /// The digits of the share, where it is a plain number.
    plain: Option<Plain>,
}

impl<'t> Share<'t> {
    /// The share `percent` of the label `at`.
    pub fn new(at: u64, more: bool, percent: Figure<'t>) -> Self {
        Self::of_plain(at, more, percent, Plain::read(percent.text))
    }

    /// As [`new`](Self::new), where the digits of the figure are known.
    #[inline]
    pub(crate) fn of_plain(at: u64, more: bool, percent: Figure<'t>, plain: Option<Plain>) -> Self {
        Self {
            at,
            more,
            percent,
            plain,
        }
    }

    /// The digits of the share, where it is a plain number.
    #[inline]
    pub(crate) fn plain(&self) -> Option<Plain> {
        self.plain
    }
}

/// Processor use, undecoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuLine<'t> {
    /// User mode, percent.
    pub usr: Option<Figure<'t>>,
    /// Kernel, percent.
    pub sys: Option<Figure<'t>>,
    /// Context switches.
    pub ctx: Option<u64>,
    /// Major page faults.
    pub majf: Option<u64>,
    /// Minor page faults.
    pub minf: Option<u64>,
}

/// Counts of I/Os: reads, writes, trims, syncs.
pub type Counts = SmallVec<[u64; 4]>;

/// Counts of I/Os by direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Issued<'t> {
    /// All of them; failed and short ones included.
    pub total: Counts,
    /// That moved less than asked.
    pub short: Counts,
    /// That were dropped.
    pub dropped: Counts,
    /// Where the counts stand.
    pub text: Figure<'t>,
}

/// Errors that the job went on after.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorsLine<'t> {
    /// How many.
    pub total: u64,
    /// The errno of the first.
    pub first: i64,
    /// Its words.
    pub text: &'t str,
}

/// What was asked of the latency.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetLine<'t> {
    /// The latency; its unit depends on the version where none is printed.
    pub target: Figure<'t>,
    /// The window.
    pub window: Option<Figure<'t>>,
    /// The share of I/Os that must keep it, in percent.
    pub percentile: Option<Figure<'t>>,
    /// The queue depth that was found.
    pub depth: Option<u64>,
}

/// Whether a steady state was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyLine<'t> {
    /// Whether it was.
    pub attained: bool,
    /// Bandwidth in the steady state. The second figure is wrong in all versions.
    pub bw: Pair<'t>,
    /// IOPS in the steady state.
    pub iops: Option<Figure<'t>>,
    /// What was watched: `iops mean dev`, `bw slope`.
    pub criterion: Option<&'t str>,
    /// How far it was off.
    pub deviation: Option<Figure<'t>>,
    /// Whether the deviation is in percent.
    pub percent: bool,
}

/// Reads one line of the tail into `job`; gives what follows. `None` where it is none, or where `job` has one already.
pub(super) fn read<'t>(log: &'t Log<'t>, input: &'t str, job: &mut FioJob<'t>) -> Option<&'t str> {
    let tail = Tail { log };
    let labelled = |word: &str| -> Option<&'t str> {
        lex::skip_blanks(input.strip_prefix(word)?).strip_prefix(':')
    };
    match input.as_bytes()[0] {
        b'c' => {
            if let Some(rest) = labelled("cpu") {
                let (rest, cpu) = tail.cpu(rest).ok()?;
                return put(&mut job.cpu, cpu).then_some(rest);
            }
            let (rest, shares) = shares(log, labelled("complete")?).ok()?;
            put(&mut job.complete, share::counts(&shares, share::call_range)).then_some(rest)
        }
        b'I' => {
            let depths = lex::phrase(input, &["IO", "depths"])?;
            let (rest, shares) = shares(log, lex::skip_blanks(depths).strip_prefix(':')?).ok()?;
            put(&mut job.depths, share::counts(&shares, share::depth_range)).then_some(rest)
        }
        b's' => {
            if let Some(rest) = labelled("submit") {
                let (rest, shares) = shares(log, rest).ok()?;
                return put(&mut job.submit, share::counts(&shares, share::call_range))
                    .then_some(rest);
            }
            if let Some(rest) = labelled("steadystate") {
                let (rest, steady) = tail.steady(rest).ok()?;
                return put(&mut job.steady, steady).then_some(rest);
            }
            // the second line of block lifetimes
            let rest = labelled("states")?;
            lex::skip_blanks(rest)
                .starts_with("unwritten")
                .then_some(rest)
        }
        b'i' => {
            let (rest, issued) = tail.issued(input).ok()?;
            if !put(&mut job.issued, issued) {
                return None;
            }
            job.looks.issued_rwts |= input.starts_with("issued rwts");
            job.looks.issued_rwt |= input.starts_with("issued rwt:");
            Some(rest)
        }
        b'e' => {
            let (rest, errors) = tail.errors(labelled("errors")?).ok()?;
            put(&mut job.errors, errors).then_some(rest)
        }
        b'l' => {
            let (rest, target) = tail.target(labelled("latency")?).ok()?;
            put(&mut job.target, target).then_some(rest)
        }
        b'f' => {
            let rest = input.strip_prefix("fsync/fdatasync/sync_file_range")?;
            lex::skip_blanks(rest.strip_prefix("/syncfs").unwrap_or(rest)).strip_prefix(':')
        }
        b'b' => labelled("block lifetime percentiles"),
        _ => None,
    }
}

/// Puts `value` where nothing is yet; a second line of a kind is another section's.
pub(super) fn put<T>(place: &mut Option<T>, value: T) -> bool {
    let free = place.is_none();
    if free {
        *place = Some(value);
    }
    free
}

/// Reads shares, at least one.
pub fn shares<'t>(log: &'t Log<'t>, input: &'t str) -> Lexed<'t, Vec<Share<'t>>> {
    let mut one = lex::wrapped(|input| share(log, input));
    let (mut rest, first) = one(input)?;
    let mut shares = Vec::with_capacity(8);
    shares.push(first);
    while let Some(after) = lex::skip_blanks(rest).strip_prefix(',') {
        match one(after) {
            Ok((after, next)) => {
                shares.push(next);
                rest = after;
            }
            Err(_) => break,
        }
    }
    Ok((rest, shares))
}

fn share<'t>(log: &'t Log<'t>, input: &'t str) -> Lexed<'t, Share<'t>> {
    let marks = [">=3D", ">=", "&gt;=", "&amp;gt;=", "\u{2265}"];
    let label = marks.iter().find_map(|mark| input.strip_prefix(mark));
    let (rest, at) = lex::count(label.unwrap_or(input))?;
    let (rest, ()) = lex::equals(rest)?;
    let (rest, text) = lex::number_or_nan(lex::skip_blanks(rest))?;
    let (rest, _) = tag("%").parse(rest)?;
    let percent = Figure {
        text,
        span: log.span_of(text),
    };
    Ok((rest, Share::new(at, label.is_some(), percent)))
}

/// The lines that are more than shares.
struct Tail<'t> {
    log: &'t Log<'t>,
}

impl<'t> Tail<'t> {
    fn figure(&self, text: &'t str) -> Figure<'t> {
        Figure {
            text,
            span: self.log.span_of(text),
        }
    }

    fn cpu(&self, input: &'t str) -> Lexed<'t, CpuLine<'t>> {
        let percent = |input| {
            let (rest, number) = lex::number_or_nan(input)?;
            Ok((rest.strip_prefix('%').unwrap_or(rest), number))
        };
        let (rest, usr) = lex::field("usr", percent).parse(input)?;
        let (rest, sys) = opt(lex::field("sys", percent)).parse(rest)?;
        let (rest, ctx) = opt(lex::field("ctx", lex::count)).parse(rest)?;
        let (rest, majf) = opt(lex::field("majf", lex::count)).parse(rest)?;
        let (rest, minf) = opt(lex::field("minf", lex::count)).parse(rest)?;
        let line = CpuLine {
            usr: Some(self.figure(usr)),
            sys: sys.map(|sys| self.figure(sys)),
            ctx,
            majf,
            minf,
        };
        Ok((rest, line))
    }

    fn issued(&self, input: &'t str) -> Lexed<'t, Issued<'t>> {
        let (rest, _) = tag("issued").parse(input)?;
        let rest = lex::skip_blanks(rest);
        let rest = ["rwts", "rwt", "r/w/d", "r/w"]
            .iter()
            .find_map(|word| rest.strip_prefix(word))
            .unwrap_or(rest);
        let Some(rest) = lex::skip_blanks(rest).strip_prefix(':') else {
            return lex::refuse(input);
        };
        let start = lex::skip_blanks(rest);
        let (rest, total) = lex::field("total", counts).parse(rest)?;
        let text = &start[..start.len() - rest.len()];
        let (rest, short) = opt(lex::field("short", counts)).parse(rest)?;
        let (rest, dropped) = opt(lex::field("dropped", counts)).parse(rest)?;
        let (rest, dropped) = match dropped {
            None => opt(lex::field("drop", counts)).parse(rest)?,
            some => (rest, some),
        };
        let issued = Issued {
            total,
            short: short.unwrap_or_default(),
            dropped: dropped.unwrap_or_default(),
            text: self.figure(text),
        };
        Ok((rest, issued))
    }

    fn errors(&self, input: &'t str) -> Lexed<'t, ErrorsLine<'t>> {
        let (rest, total) = lex::field("total", lex::count).parse(input)?;
        let (rest, first) = lex::field("first_error", lex::count).parse(rest)?;
        let words = ["/<", "/&lt;"]
            .iter()
            .find_map(|open| rest.strip_prefix(open));
        let line = words.unwrap_or("");
        let line = &line[..memchr::memchr2(b'\n', b'\r', line.as_bytes()).unwrap_or(line.len())];
        let text = line
            .rfind('>')
            .or_else(|| line.rfind("&gt;"))
            .map_or(line, |end| &line[..end]);
        let errors = ErrorsLine {
            total,
            first: i64::try_from(first).unwrap_or(i64::MAX),
            text,
        };
        Ok((&words.unwrap_or(rest)[text.len()..], errors))
    }

    fn target(&self, input: &'t str) -> Lexed<'t, TargetLine<'t>> {
        let (rest, target) = lex::field("target", lex::figure).parse(input)?;
        let (rest, window) = opt(lex::field("window", lex::figure)).parse(rest)?;
        let (rest, percentile) = opt(lex::field("percentile", lex::number)).parse(rest)?;
        let rest = rest.strip_prefix('%').unwrap_or(rest);
        let (rest, depth) = opt(lex::field("depth", lex::count)).parse(rest)?;
        let line = TargetLine {
            target: self.figure(target),
            window: window.map(|window| self.figure(window)),
            percentile: percentile.map(|percentile| self.figure(percentile)),
            depth,
        };
        Ok((rest, line))
    }

    fn steady(&self, input: &'t str) -> Lexed<'t, SteadyLine<'t>> {
        let word = |input: &'t str| {
            let end = input
                .bytes()
                .position(|b| !b.is_ascii_alphabetic())
                .unwrap_or(input.len());
            Ok((&input[end..], &input[..end]))
        };
        let (rest, attained) = lex::field("attained", word).parse(input)?;
        if !matches!(attained, "yes" | "no") {
            return lex::refuse(input);
        }
        let (rest, bw) = opt(lex::field("bw", lex::figure)).parse(rest)?;
        let (rest, twin) = opt(lex::parenthesised(lex::figure)).parse(rest)?;
        let (rest, iops) = opt(lex::field("iops", lex::figure)).parse(rest)?;
        let (rest, _lat) = opt(lex::field("lat", lex::figure)).parse(rest)?;
        let mut line = SteadyLine {
            attained: attained == "yes",
            bw: Pair {
                first: bw.map(|bw| self.figure(bw)),
                second: twin.map(|twin| self.figure(twin)),
            },
            iops: iops.map(|iops| self.figure(iops)),
            criterion: None,
            deviation: None,
            percent: false,
        };
        // ", iops mean dev=6.497%": the last equals sign of the line
        let end = memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        let words = lex::skip_blanks(rest[..end].strip_prefix(',').unwrap_or(""));
        let criterion = &words[..words.find('=').unwrap_or(words.len())];
        let value = lex::equals(&words[criterion.len()..]).map(|(value, ())| value);
        if let Ok((after, number)) = value.and_then(|value| lex::number(lex::skip_blanks(value))) {
            line.criterion = Some(criterion.trim());
            line.deviation = Some(self.figure(number));
            line.percent = after.starts_with('%');
        }
        Ok((&rest[end..], line))
    }
}

/// `5689,2503,0,0`, `5743/2449`, `r=5726/w=2466/d=0`.
fn counts(input: &str) -> Lexed<'_, Counts> {
    // all but the fourth have more behind them, so at the end of a line a number goes on in the next
    let one = |input, last: bool| {
        let rest = ["r=", "w=", "d=", "t="]
            .iter()
            .find_map(|letter| str::strip_prefix(input, letter));
        let digits = rest.unwrap_or(input);
        let (rest, number) = lex::count(digits)?;
        match !last && lex::goes_on(&digits[..digits.len() - rest.len()], rest) {
            true => lex::refuse(input),
            false => Ok((rest, number)),
        }
    };
    let (mut rest, first) = one(input, false)?;
    let mut counts = Counts::new();
    counts.push(first);
    while let Some(after) = rest.strip_prefix([',', '/']) {
        match one(after, counts.len() == 3) {
            Ok((after, next)) if counts.len() < 4 => {
                counts.push(next);
                rest = after;
            }
            _ => break,
        }
    }
    Ok((rest, counts))
}
