//! The lines of time reports, each form's grammar.
//!
//! ```text
//! clock    = [digits "h" blanks] [digits "m" blanks] seconds ["s"] | [digits ":"] digits ":" seconds
//! seconds  = digits [("." | ",") digits]
//! keyword  = ("real" | "user" | "sys") blanks clock, one or more on a line
//! trailing = clock blanks ("real" | "user" | "sys" | "system"), all three on a line
//! zsh      = command blanks seconds "s user" seconds "s system" percent "cpu" clock "total"
//! gnu      = seconds "user" seconds "system" clock "elapsed" percent "CPU" "(" … ")k"
//! tcsh     = seconds "u" seconds "s" clock percent …
//! fish     = name blanks number blanks ("micros" | "millis" | "secs" | "mins" | "hours") …
//! ```

use crate::block::dd::line;
use crate::lex;
use nom::character::complete::{char, digit1, one_of};
use nom::combinator::{opt, recognize, verify};
use nom::sequence::terminated;
use nom::{IResult, Parser};
use smallvec::SmallVec;

/// One time and the text of its value.
pub type Pair<'t> = (Which, &'t str);

/// Which of the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// On the wall.
    Real,
    /// In user mode.
    User,
    /// In the kernel.
    System,
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
}

/// The line without what quotes, lists, comments and tags put around it.
pub fn unmarked(text: &str) -> &str {
    line::trimmed(line::unmarked(text))
}

fn blanks(text: &str) -> IResult<&str, &str> {
    let rest = lex::skip_blanks(text);
    Ok((rest, &text[..text.len() - rest.len()]))
}

/// What follows `words`, any blank standing for each of its spaces.
fn behind<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let mut rest = text;
    for (index, word) in words.split(' ').enumerate() {
        if index > 0 {
            let next = lex::skip_blanks(rest);
            if next.len() == rest.len() {
                return None;
            }
            rest = next;
        }
        rest = rest.strip_prefix(word)?;
    }
    Some(rest)
}

fn seconds(text: &str) -> IResult<&str, &str> {
    recognize((digit1, opt((one_of(".,"), digit1)))).parse(text)
}

/// A time of any notation; at most twenty digits or so, so that nothing long is taken for one.
fn clock(text: &str) -> IResult<&str, &str> {
    let colons =
        |text| recognize((digit1, char(':'), opt((digit1, char(':'))), seconds)).parse(text);
    let letters = |text| {
        recognize((
            opt(terminated(digit1, (char('h'), blanks))),
            opt(terminated(digit1, (char('m'), blanks))),
            seconds,
            opt(char('s')),
        ))
        .parse(text)
    };
    let either: IResult<&str, &str> = colons(text);
    let (rest, value) = either.or_else(|_| letters(text))?;
    if value.len() > 32 {
        return Err(nom::Err::Error(nom::error::Error::new(
            text,
            nom::error::ErrorKind::TooLarge,
        )));
    }
    Ok((rest, value))
}

fn name(text: &str) -> Option<(Which, &str)> {
    [
        ("real", Which::Real),
        ("user", Which::User),
        ("system", Which::System),
        ("sys", Which::System),
    ]
    .into_iter()
    .find_map(|(name, which)| text.strip_prefix(name).map(|rest| (which, rest)))
}

/// `real 0m6.801s`, perhaps followed by `user …` and `sys …` on the same line, and nothing else.
pub fn keyword_pairs(text: &str) -> Option<SmallVec<[Pair<'_>; 3]>> {
    let mut pairs = SmallVec::new();
    let mut rest = text;
    while !rest.is_empty() && pairs.len() < 3 {
        let (which, behind) = name(rest)?;
        let behind = behind.strip_prefix(':').unwrap_or(behind);
        let (behind, _) = verify(blanks, |b: &str| !b.is_empty()).parse(behind).ok()?;
        let (behind, value) = clock(behind).ok()?;
        pairs.push((which, value));
        let (behind, gap) = blanks(behind).ok()?;
        if gap.is_empty() && !behind.is_empty() {
            return None;
        }
        rest = behind;
    }
    (rest.is_empty() && !pairs.is_empty()).then_some(pairs)
}

/// `6.80 real 0.00 user 4.58 sys`, in any order, and nothing else.
pub fn trailing_pairs(text: &str) -> Option<SmallVec<[Pair<'_>; 3]>> {
    let mut pairs: SmallVec<[Pair<'_>; 3]> = SmallVec::new();
    let mut rest = text;
    while !rest.is_empty() && pairs.len() < 3 {
        let (behind, value) = clock(rest).ok()?;
        let (behind, _) = verify(blanks, |b: &str| !b.is_empty()).parse(behind).ok()?;
        let (which, behind) = name(behind)?;
        let (behind, _) = blanks(behind).ok()?;
        pairs.push((which, value));
        rest = behind;
    }
    (rest.is_empty() && pairs.len() == 3).then_some(pairs)
}

/// zsh's line: the command, and the three times. The line may be two that a mailer made of it.
pub fn zsh(text: &str) -> Option<(&str, [Pair<'_>; 3])> {
    if !text.ends_with("total") {
        return None;
    }
    // words from the end: "total", the clock, "cpu", the percentage, "system", …
    let mut rest = text;
    let mut last = || {
        rest = rest.trim_end_matches(|c: char| is_blank(c) || c == '>');
        let start = rest.rfind(is_blank).map_or(0, |at| {
            at + rest[at..].chars().next().map_or(1, char::len_utf8)
        });
        let word = &rest[start..];
        rest = &rest[..start];
        word
    };
    let fits = last() == "total";
    let real = last();
    let fits = fits && last() == "cpu" && last().ends_with('%') && last() == "system";
    let system = last().strip_suffix('s')?;
    let fits = fits && last() == "user";
    let user = last().strip_suffix('s')?;
    (fits && is_clock(real) && is_clock(system) && is_clock(user)).then_some((
        rest.trim_matches(is_blank),
        [
            (Which::Real, real),
            (Which::User, user),
            (Which::System, system),
        ],
    ))
}

/// Whether the whole text is a time.
fn is_clock(text: &str) -> bool {
    clock(text).is_ok_and(|(rest, _)| rest.is_empty())
}

/// GNU time's first line.
pub fn gnu(text: &str) -> Option<[Pair<'_>; 3]> {
    let (user, rest) = text.split_once("user")?;
    let (system, rest) = rest.split_once("system")?;
    let (real, rest) = rest.split_once("elapsed")?;
    let [user, system, real] = [user, system, real].map(|value| value.trim_matches(is_blank));
    (is_clock(user)
        && is_clock(system)
        && is_clock(real)
        && (rest.is_empty() || rest.contains("CPU")))
    .then_some([
        (Which::Real, real),
        (Which::User, user),
        (Which::System, system),
    ])
}

/// GNU time's second line: `0inputs+65536outputs (0major+344minor)pagefaults 0swaps`.
pub fn is_gnu_tail(text: &str) -> bool {
    text.contains("inputs+") && text.contains("pagefaults")
}

/// tcsh's line.
pub fn tcsh(text: &str) -> Option<[Pair<'_>; 3]> {
    let mut words = text.split(is_blank).filter(|word| !word.is_empty());
    let user = words.next()?.strip_suffix('u')?;
    let system = words.next()?.strip_suffix('s')?;
    let real = words.next()?;
    let percent = words.next()?.strip_suffix('%')?;
    (is_clock(user)
        && is_clock(system)
        && is_clock(real)
        && is_clock(percent)
        && real.contains(':'))
    .then_some([
        (Which::Real, real),
        (Which::User, user),
        (Which::System, system),
    ])
}

/// A line of `time -l`: a number and words.
pub fn is_rusage(text: &str) -> bool {
    let text = unmarked(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let words = text[digits..].trim_start_matches(is_blank);
    digits > 0
        && [
            "maximum resident",
            "average shared",
            "average unshared",
            "page reclaims",
            "page faults",
            "swaps",
            "block input",
            "block output",
            "messages sent",
            "messages received",
            "signals received",
            "voluntary context",
            "involuntary context",
            "instructions retired",
            "cycles elapsed",
            "peak memory",
        ]
        .iter()
        .any(|known| behind(words, known).is_some())
}

/// The command of `Command being timed: "…"`.
pub fn verbose(text: &str) -> Option<&str> {
    let rest = behind(text, "Command being timed:")?.trim_matches(is_blank);
    Some(rest.trim_matches(['"', '\u{201c}', '\u{201d}']))
}

/// A line of the long form: its time if it is one that counts, and whether it is the last line.
pub fn verbose_item(text: &str) -> Option<(Option<Pair<'_>>, bool)> {
    // "Elapsed (wall clock) time (h:mm:ss or m:ss): 0:00.03": the last colon with a blank behind it
    let has_value = |at: &usize| lex::skip_blanks(&text[at + 1..]).len() < text.len() - at - 1;
    let colon = text.rmatch_indices(':').map(|(at, _)| at).find(has_value)?;
    let (name, value) = (&text[..colon], text[colon + 1..].trim_matches(is_blank));
    let which = if behind(name, "Elapsed (wall clock)").is_some() {
        Some(Which::Real)
    } else if behind(name, "User time").is_some() {
        Some(Which::User)
    } else if behind(name, "System time").is_some() {
        Some(Which::System)
    } else if name.ends_with(')')
        || [
            "Percent",
            "Average",
            "Maximum",
            "Major",
            "Minor",
            "Voluntary",
            "Involuntary",
            "Swaps",
            "File system",
            "Socket",
            "Signals",
            "Page size",
            "Exit status",
        ]
        .iter()
        .any(|known| behind(name, known).is_some())
    {
        None
    } else {
        return None;
    };
    Some((
        which
            .filter(|_| is_clock(value))
            .map(|which| (which, value)),
        behind(name, "Exit status").is_some(),
    ))
}

/// The first value behind `name` with its unit: `66.23 millis`.
pub fn fish<'t>(name: &str, text: &'t str) -> Option<&'t str> {
    let rest = lex::skip_blanks(behind(text, name)?);
    let (behind, _) = (seconds, blanks).parse(rest).ok()?;
    let unit = ["micros", "millis", "secs", "mins", "hours"]
        .into_iter()
        .find(|unit| behind.starts_with(unit))?;
    Some(&rest[..rest.len() - behind.len() + unit.len()])
}

/// The command of `Benchmark 1: …` (`Benchmark #1: …` before 1.12).
pub fn benchmark(text: &str) -> Option<&str> {
    let rest = lex::skip_blanks(text.strip_prefix("Benchmark")?);
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let command = rest[digits..].strip_prefix(':')?.trim_matches(is_blank);
    (digits > 0).then_some(command)
}

/// `Time (mean ± σ):  69.4 ms ± 12.8 ms    [User: 0.3 ms, System: 13.3 ms]`; `Time (abs ≡):` for one run.
pub fn hyperfine_mean(text: &str) -> Option<SmallVec<[Pair<'_>; 3]>> {
    let rest = behind(text, "Time (")?;
    let (_, rest) = rest.split_once("):")?;
    let mut pairs = SmallVec::new();
    pairs.push((Which::Real, with_unit(rest)?));
    for (name, which) in [("User:", Which::User), ("System:", Which::System)] {
        if let Some((_, rest)) = rest.split_once(name) {
            pairs.push((which, with_unit(rest)?));
        }
    }
    Some(pairs)
}

/// `69.4 ms`, `1.234 s`.
fn with_unit(text: &str) -> Option<&str> {
    let text = lex::skip_blanks(text);
    let (behind, _) = (seconds, blanks).parse(text).ok()?;
    let unit = ["ms", "µs", "s"]
        .into_iter()
        .find(|unit| behind.starts_with(unit))?;
    Some(&text[..text.len() - behind.len() + unit.len()])
}

/// How many runs there were, from the line of the range.
pub fn hyperfine_runs(text: &str) -> Option<u32> {
    let rest = behind(text, "Range (")?.trim_end_matches(is_blank);
    let rest = rest
        .strip_suffix("runs")
        .or_else(|| rest.strip_suffix("run"))?
        .trim_end_matches(is_blank);
    rest.rsplit(is_blank).next()?.parse().ok()
}
