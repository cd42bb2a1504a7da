//! dd and `time` blocks to measurements.
//!
//! dd's bytes are exact. Its rate is that of dd's own window, and follows from bytes and seconds; so the printed
//! rate, and bytes over the printed seconds, meet in one interval, and the more precise figure wins by itself:
//!
//! | kind of dd | seconds | rate | decides |
//! |---|---|---|---|
//! | GNU, busybox | six digits | two or three digits | bytes over seconds |
//! | BSD, macOS, GNU before 6 | six decimals | an integer, from time not yet rounded | the printed rate |
//! | OpenBSD, NetBSD | three decimals, cut | an integer | the printed rate |
//! | toybox | three decimals | two or three digits, by 1024 | bytes over seconds |
//! | uutils from 0.0.2x | six digits | from whole milliseconds | bytes over seconds |
//! | uutils before | one decimal | two or three digits | the printed rate |
//!
//! What the shell's `time` says is never mixed into that: it is `wall_ns`, with `wall_covers` telling what it spans.

pub mod check;
pub mod clock;
pub mod kind;
pub mod plausible;

use crate::block::dd::DdBlock;
use crate::block::dd::transfer::{self, Transfer};
use crate::block::time::TimeBlock;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::figure::decimal::{self, Decimal};
use crate::figure::{Figure, human};
use crate::interval::Possible;
use crate::reading::Reading;
use crate::record::{Direction, JobError, Measurement, Records, WallCovers};
use crate::source::Span;
use crate::unit::{Bytes, BytesPerSec, Nanos};
use crate::workload::{Dd, Timed, Workload};
use compact_str::CompactString;
use kind::Kind;

/// What one dd block says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Bytes, window, rate, records: each where it was printed.
    pub measurement: Measurement,
    /// Which dd printed it, as far as the report tells: `gnu`, `bsd`, `busybox`, …
    pub implementation: Option<&'static str>,
    /// What dd complained of.
    pub errors: Vec<JobError>,
    /// Whether the report is not of the end of the run: progress, or the answer to a signal.
    pub interrupted: bool,
    /// What is odd about the figures.
    pub warnings: Vec<Diagnostic>,
}

impl Report {
    /// Whether any figure was taken, be it only a count of records.
    pub fn has_figures(&self) -> bool {
        let m = &self.measurement;
        m.bytes.is_some()
            || m.bytes_per_sec.is_some()
            || m.runtime_ns.is_some()
            || m.records_in.is_some()
            || m.records_out.is_some()
    }

    fn warn(&mut self, code: Code, severity: Severity, span: Span, message: impl Into<String>) {
        self.warnings
            .push(Diagnostic::new(code, severity, Some(span), message));
    }
}

/// Decodes `block`. The workload, where the command is known, gives the block size for reports without a byte line, and what was asked for.
pub fn report(block: &DdBlock<'_>, workload: Option<&Workload>) -> Report {
    let mut report = Report {
        interrupted: block.unfinished || block.status,
        warnings: block.problems.clone(),
        ..Report::default()
    };
    report.errors = block
        .errors
        .iter()
        .map(|error| job_error(error.text))
        .collect();
    for (place, figure) in [(0, block.records_in), (1, block.records_out)] {
        let Some(figure) = figure else { continue };
        match records(figure.text) {
            Some(records) if place == 0 => report.measurement.records_in = Some(records),
            Some(records) => report.measurement.records_out = Some(records),
            None => report.warn(
                Code::UNREADABLE,
                Severity::Warning,
                figure.span,
                format!("expected a count of records, found {}", figure.text),
            ),
        }
    }
    let kind = kind::of(block);
    report.implementation = kind.name();
    match &block.transfer {
        Some(transfer) => decode(&mut report, transfer, kind),
        None => from_records(&mut report, block, workload),
    }
    check::against_command(&mut report, block, workload);
    report
}

/// Decodes the byte line.
fn decode(report: &mut Report, transfer: &Transfer<'_>, kind: Kind) {
    let bytes = transfer
        .bytes
        .and_then(|figure| bytes(report, figure, &transfer.sizes, kind));
    let seconds = seconds(report, transfer.seconds, kind);
    let rate = rate(report, transfer.rate, kind);
    let derived = bytes
        .as_ref()
        .zip(seconds.as_ref())
        .and_then(|(bytes, seconds)| {
            let (count, time) = (bytes.lo().0 as f64 * 1e9, seconds.possible());
            let lo = BytesPerSec::new((count / time.hi().get()).next_down().max(0.0))?;
            // no time at all: the rate has no upper end
            let hi = BytesPerSec::new((count / time.lo().get()).next_up())
                .or(BytesPerSec::new(f64::MAX))?;
            Possible::between(lo, hi)
        });
    report.measurement.bytes_per_sec = match (rate, derived) {
        // uutils computes its rate from whole milliseconds: no evidence beside six digits of seconds
        (_, Some(derived)) if kind == Kind::Uutils => derived
            .hi()
            .get()
            .lt(&f64::MAX)
            .then(|| Reading::of(derived, transfer.seconds)),
        (Some(rate), Some(derived)) => Some(match rate.narrowed(&derived, transfer.seconds) {
            Ok(met) => met,
            Err(rate) => {
                report.warn(
                    Code::DISAGREE,
                    Severity::Warning,
                    transfer.rate.span,
                    format!(
                        "the rate {} and {} bytes in {} contradict each other; both are kept",
                        rate.printed.first().map_or("", |p| &p.text),
                        bytes.as_ref().map_or(0, |b| b.lo().0),
                        transfer.seconds.text,
                    ),
                );
                let printed = rate.printed.clone();
                let mut both = Reading::unprinted(rate.possible().clone().or(derived));
                both.printed = printed;
                both.printed.push(transfer.seconds.into());
                both
            }
        }),
        (Some(rate), None) => Some(rate),
        (None, Some(derived)) => derived
            .hi()
            .get()
            .lt(&f64::MAX)
            .then(|| Reading::of(derived, transfer.seconds)),
        (None, None) => None,
    };
    report.measurement.bytes = bytes;
    // dc3dd prints whole seconds, mostly none: no window
    report.measurement.runtime_ns = seconds.filter(|_| kind != Kind::Dc3dd);
}

/// The count of bytes: exact. Where its digits are grouped, the sizes in brackets tell what belongs to it.
fn bytes(
    report: &mut Report,
    figure: Figure<'_>,
    sizes: &[Figure<'_>],
    kind: Kind,
) -> Option<Reading<Bytes>> {
    let fits = |count: u64| {
        sizes.iter().all(|size| {
            let (step, rounding) = kind.scale(size.text);
            human::read::<Bytes>(&plain(size.text), step, rounding)
                .is_ok_and(|possible| possible.contains(Bytes(count)))
        })
    };
    let digits_end = figure.text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let digits = &figure.text[..digits_end];
    let mut found = None;
    let mut start = 0;
    loop {
        let count = digits[start..]
            .chars()
            .filter(char::is_ascii_digit)
            .try_fold(0u64, |sum, c| {
                sum.checked_mul(10)?.checked_add(u64::from(c as u8 - b'0'))
            });
        if let Some(count) = count {
            // the whole text is taken if nothing else is known of it
            found = found.or(Some((count, start)));
            if fits(count) {
                found = Some((count, start));
                break;
            }
        }
        match digits[start..].find(|c: char| !c.is_ascii_digit()) {
            Some(gap) => start += digits[start + gap..].find(|c: char| c.is_ascii_digit())? + gap,
            None => break,
        }
    }
    let Some((count, start)) = found else {
        report.warn(
            Code::UNREADABLE,
            Severity::Warning,
            figure.span,
            format!(
                "expected a count of bytes below 2^64, found {}",
                figure.text
            ),
        );
        return None;
    };
    if !fits(count) && kind != Kind::Uutils && kind != Kind::UutilsOld {
        report.warn(
            Code::DISAGREE,
            Severity::Warning,
            figure.span,
            format!(
                "{count} bytes do not print as {}; the count was taken",
                sizes.iter().map(|s| s.text).collect::<Vec<_>>().join(", ")
            ),
        );
    }
    let figure = Figure {
        text: &figure.text[start..],
        span: Span::new(figure.span.start + start as u32, figure.span.end),
    };
    Some(Reading::of(Possible::exactly(Bytes(count)), figure))
}

fn seconds(report: &mut Report, figure: Figure<'_>, kind: Kind) -> Option<Reading<Nanos>> {
    let (number, _) = transfer::split_number(figure.text)?;
    let number = dotted(number);
    match decimal::read::<Nanos>(&number, kind.seconds(&number), 1e9) {
        Ok(possible) => Some(Reading::of(possible, figure)),
        Err(error) => {
            report.warn(
                Code::UNREADABLE,
                Severity::Warning,
                figure.span,
                error.to_string(),
            );
            None
        }
    }
}

fn rate(report: &mut Report, figure: Figure<'_>, kind: Kind) -> Option<Reading<BytesPerSec>> {
    // "Infinity B/s": no number, no time
    let (number, unit) = transfer::split_number(figure.text)?;
    let read = if matches!(
        kind,
        Kind::Bsd | Kind::OpenBsd | Kind::NetBsd | Kind::GnuOld
    ) {
        decimal::read::<BytesPerSec>(number, Decimal::Exact, 1.0).map(|exact| {
            // whether the integer was rounded or cut differs between releases
            let (lo, hi) = ((exact.lo().get() - 0.5).max(0.0), exact.hi().get() + 1.0);
            BytesPerSec::new(lo)
                .zip(BytesPerSec::new(hi))
                .and_then(|(lo, hi)| Possible::between(lo, hi))
                .unwrap_or(exact)
        })
    } else {
        let (step, rounding) = kind.scale(figure.text);
        let text = plain(figure.text);
        human::read::<BytesPerSec>(&text, step, rounding)
    };
    match read {
        Ok(possible) => Some(Reading::of(possible, figure)),
        Err(_) => {
            report.warn(
                Code::UNREADABLE,
                Severity::Warning,
                figure.span,
                format!("expected a rate in bytes per second, found the unit {unit:?}"),
            );
            None
        }
    }
}

/// A scaled figure as `human` reads it: a decimal point, no blanks, `/s`.
pub(crate) fn plain(text: &str) -> CompactString {
    let Some((number, unit)) = transfer::split_number(text) else {
        return CompactString::new(text);
    };
    let mut plain = dotted(number);
    let (prefix, per) = unit
        .split_once('/')
        .map_or((unit, false), |(prefix, _)| (prefix, true));
    plain.push_str(prefix.trim_start_matches("&nbsp;").trim());
    if per {
        plain.push_str("/s");
    }
    plain
}

/// The number with a point for a decimal comma and a plain minus sign.
fn dotted(number: &str) -> CompactString {
    number
        .chars()
        .map(|c| match c {
            ',' => '.',
            '0'..='9' | '.' | 'e' | 'E' | '+' => c,
            // what word processors make of a minus sign
            _ => '-',
        })
        .collect()
}

/// `10+0`.
fn records(text: &str) -> Option<Records> {
    let (full, partial) = text.split_once('+')?;
    Some(Records {
        full: full.parse().ok()?,
        partial: partial.parse().ok()?,
    })
}

/// Bytes of a report without a byte line: records times block size, where all records were full and the block size is known.
fn from_records(report: &mut Report, block: &DdBlock<'_>, workload: Option<&Workload>) {
    let known = |dd: &&Dd| {
        !dd.other
            .iter()
            .any(|(name, _)| matches!(name.as_str(), "bs" | "ibs" | "obs"))
    };
    let Some(dd) = workload
        .filter(|w| w.missing.is_empty())
        .and_then(Workload::dd)
        .filter(known)
    else {
        return;
    };
    let Some(figure) = block.records_out.or(block.records_in) else {
        return;
    };
    let m = &report.measurement;
    let Some(records) = m.records_out.or(m.records_in) else {
        return;
    };
    let all_full = records.partial == 0 && m.records_in.is_none_or(|records| records.partial == 0);
    let size = dd.block_bytes.or(if block.records_out.is_some() {
        dd.output_block_bytes
    } else {
        dd.input_block_bytes
    });
    let count = records.full.checked_mul(size.unwrap_or(Bytes(512)).0);
    if let (true, Some(count)) = (all_full, count) {
        report.measurement.bytes = Some(Reading::of(Possible::exactly(Bytes(count)), figure));
        report.warn(
            Code::BYTES_FROM_RECORDS,
            Severity::Note,
            figure.span,
            format!(
                "no bytes were printed; {} records of {} bytes were counted",
                records.full,
                size.unwrap_or(Bytes(512)).0
            ),
        );
    }
}

/// A line of complaint, with the errno that its words stand for.
fn job_error(text: &str) -> JobError {
    const ERRNO: [(&str, i64); 14] = [
        ("No space left on device", 28),
        ("Input/output error", 5),
        ("Invalid argument", 22),
        ("Invalid input", 22),
        ("No such device", 19),
        ("No such file or directory", 2),
        ("Permission denied", 13),
        ("Operation not permitted", 1),
        ("Is a directory", 21),
        ("Read-only file system", 30),
        ("Device or resource busy", 16),
        ("Resource busy", 16),
        ("File too large", 27),
        ("Device not configured", 6),
    ];
    JobError {
        code: ERRNO
            .iter()
            .find(|(words, _)| text.ends_with(words))
            .map(|&(_, code)| code),
        text: text.to_owned(),
    }
}

/// Which way the bytes of a dd went that `time` and `fio-compare` should count: writes, unless they were thrown away.
///
/// `None` where the command does not tell: no output file, and an input that is no source of zeros.
pub fn direction(dd: &Dd) -> Option<Direction> {
    const SINKS: [&str; 5] = ["/dev/null", "/dev/zero", "NUL", "nul", "\\\\.\\NUL"];
    const SOURCES: [&str; 4] = ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/null"];
    match (dd.input.as_deref(), dd.output.as_deref()) {
        (_, Some(output)) if SINKS.contains(&output) => Some(Direction::Read),
        (_, Some(_)) => Some(Direction::Write),
        (Some(input), None) if !SOURCES.contains(&input) => Some(Direction::Read),
        (_, None) => None,
    }
}

/// What the time block measured, told by where `time` stood in the command; `None` where it timed another thing than the dd.
pub fn wall_covers(timed: Option<Timed>) -> Option<WallCovers> {
    match timed {
        Some(Timed::Run) => Some(WallCovers::Run),
        Some(Timed::RunAndSync) => Some(WallCovers::RunAndSync),
        Some(Timed::SyncAndRun) => Some(WallCovers::SyncAndRun),
        Some(Timed::Pipeline) => Some(WallCovers::Pipeline),
        Some(Timed::RunAndMore) => Some(WallCovers::RunAndMore),
        Some(Timed::Sync) => None,
        None => Some(WallCovers::Unknown),
    }
}

/// Adds the times of `time` to `measurement`, which it covers as `covers` says.
pub fn add_time(measurement: &mut Measurement, time: &TimeBlock<'_>, covers: WallCovers) {
    let read =
        |figure: Option<Figure<'_>>| figure.and_then(|figure| clock::read(figure, time.form));
    measurement.wall_ns = read(time.real);
    measurement.wall_covers = measurement.wall_ns.as_ref().map(|_| covers);
    measurement.user_ns = read(time.user);
    measurement.system_ns = read(time.system);
}

/// Adds the time of a `sync` that followed the run and was timed by itself.
pub fn add_sync_time(measurement: &mut Measurement, time: &TimeBlock<'_>) {
    measurement.sync_ns = time.real.and_then(|figure| clock::read(figure, time.form));
}

/// Whether `earlier` is only a state of the run that `later` ends: the answer to a signal, or progress.
///
/// To be asked of consecutive reports under one command. Of a loop over several commands the reports do not grow
/// this way, or each has the bytes that its command asked for.
pub fn supersedes(later: &DdBlock<'_>, earlier: &DdBlock<'_>, workload: Option<&Workload>) -> bool {
    let (Some(before), Some(after)) = (&earlier.transfer, &later.transfer) else {
        return false;
    };
    if !before.grows_to(after) || before.form != after.form {
        return false;
    }
    if earlier.status || earlier.unfinished {
        return true;
    }
    let Some(workload) = workload.filter(|workload| workload.missing.is_empty()) else {
        return false;
    };
    let count = |transfer: &Transfer<'_>| {
        transfer
            .bytes
            .and_then(|figure| transfer::split_number(figure.text))
            .and_then(|(number, _)| number.parse().ok())
            .map(Bytes)
    };
    // a run that had all it was asked for was over; without a count only one command can have grown
    let asked = workload.dd().and_then(Dd::asked_bytes);
    count(before) != asked && (asked.is_none() || count(after) <= asked)
}
