//! The figures of a byte line, decoded by the kind of dd that printed them.

use super::Report;
use super::kind::Kind;
use crate::block::dd::transfer::{self, Transfer};
use crate::diagnostic::{Code, Severity};
use crate::figure::decimal::{self, Decimal};
use crate::figure::human::Step;
use crate::figure::{Figure, human};
use crate::interval::Possible;
use crate::reading::Reading;
use crate::source::Span;
use crate::unit::{Bytes, BytesPerSec, Nanos};
use compact_str::CompactString;

/// Decodes the byte line; `last` where it is known to end the report, and to be no progress.
pub(super) fn decode(report: &mut Report, transfer: &Transfer<'_>, kind: Kind, last: bool) {
    let bytes = transfer
        .bytes
        .and_then(|figure| bytes(report, figure, &transfer.sizes, kind));
    let last = last || transfer::split_number(transfer.rate.text).is_none();
    let seconds = transfer
        .seconds
        .and_then(|figure| seconds(report, figure, kind, last));
    let time = transfer.seconds.unwrap_or(transfer.rate);
    let rate = rate(report, transfer.rate, kind);
    let derived = bytes
        .as_ref()
        .zip(seconds.as_ref())
        .and_then(|(bytes, seconds)| {
            if bytes.lo().0 == 0 {
                return Some(Possible::exactly(BytesPerSec::default()));
            }
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
            .then(|| Reading::of(derived, time)),
        (Some(rate), Some(derived)) => Some(match rate.narrowed(&derived, time) {
            Ok(met) => met,
            Err(rate) => {
                report.warn(
                    Code::DISAGREE,
                    Severity::Warning,
                    transfer.rate.span,
                    format!(
                        "the rate {} and {} bytes in {} contradict each other; both are kept",
                        rate.text(),
                        bytes.as_ref().map_or(0, |b| b.lo().0),
                        time.text,
                    ),
                );
                let both = rate.possible().or(derived);
                rate.widened(both, time)
            }
        }),
        (Some(rate), None) => Some(rate),
        (None, Some(derived)) => derived
            .hi()
            .get()
            .lt(&f64::MAX)
            .then(|| Reading::of(derived, time)),
        (None, None) => None,
    };
    if kind == Kind::UutilsOld || kind == Kind::Uutils {
        whole_milliseconds(report, transfer, kind, bytes.as_ref());
    }
    report.measurement.bytes = bytes;
    // dc3dd prints whole seconds, mostly none: no window
    report.measurement.runtime_ns = seconds.filter(|_| kind != Kind::Dc3dd);
}

/// uutils divides by whole milliseconds, one at least: says so where that is seen in three digits.
fn whole_milliseconds(
    report: &mut Report,
    transfer: &Transfer<'_>,
    kind: Kind,
    bytes: Option<&Reading<Bytes>>,
) {
    let Some((bytes, rate)) = bytes.zip(rate(report, transfer.rate, kind)) else {
        return;
    };
    let millis = bytes.lo().0 as f64 * 1e3 / rate.value().max(1.0);
    if millis < 200.0 && bytes.lo().0 > 0 {
        let taken = if kind == Kind::Uutils {
            "it was not taken"
        } else {
            "it may be too high"
        };
        report.warn(
            Code::WHOLE_MILLISECONDS,
            Severity::Note,
            transfer.rate.span,
            format!(
                "{} was computed from whole milliseconds, here about {:.0}; {taken}",
                transfer.rate.text,
                millis.max(1.0)
            ),
        );
    }
}

/// The count of bytes: exact. Where its digits are grouped, the sizes in brackets tell what belongs to it.
fn bytes(
    report: &mut Report,
    figure: Figure<'_>,
    sizes: &[Figure<'_>],
    kind: Kind,
) -> Option<Reading<Bytes>> {
    // uutils has rounded sizes in several ways: one unit of the last digit to both sides holds for all
    let roughly = matches!(kind, Kind::Uutils | Kind::UutilsOld);
    let fits = |count: u64| {
        sizes.iter().all(|size| {
            let (step, rounding) = kind.scale(size.text);
            human::read::<Bytes>(&plain(size.text), step, rounding).is_ok_and(|possible| {
                let slack = if roughly {
                    (possible.hi().0 - possible.lo().0) / 2
                } else {
                    0
                };
                possible.contains(Bytes(count))
                    || possible.lo().0.saturating_sub(slack) <= count
                        && count <= possible.hi().0.saturating_add(slack)
            })
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
    // sizes that fit a part of a number that is grouped as one only may be wrong themselves
    let part = start > 0 && is_grouped(digits);
    if part {
        report.warn(
            Code::DISAGREE,
            Severity::Warning,
            figure.span,
            format!(
                "{digits} bytes do not print as {}, but {count} do; the latter was taken",
                sizes.iter().map(|s| s.text).collect::<Vec<_>>().join(", ")
            ),
        );
    }
    if !fits(count) {
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

/// Whether digits are grouped as in one number: three in each group but the first, which has no more.
fn is_grouped(digits: &str) -> bool {
    let mut groups = digits
        .split(|c: char| !c.is_ascii_digit())
        .filter(|group| !group.is_empty());
    groups
        .next()
        .is_some_and(|first| first.len() <= 3 && !first.starts_with('0'))
        && groups.all(|group| group.len() == 3)
}

/// Units of time that no dd prints. The other words behind its time are seconds in some language.
const NO_SECONDS: [&str; 28] = [
    "ns", "nsec", "nsecs", "us", "usec", "usecs", "µs", "μs", "µsec", "μsec", "ms", "msec",
    "msecs", "мс", "m", "min", "mins", "minute", "minutes", "мин", "h", "hr", "hrs", "hour",
    "hours", "d", "day", "days",
];

fn seconds(
    report: &mut Report,
    figure: Figure<'_>,
    kind: Kind,
    last: bool,
) -> Option<Reading<Nanos>> {
    let (number, unit) = transfer::split_number(figure.text)?;
    let unit = unit.trim();
    let word = unit.trim_end_matches('.').to_lowercase();
    if NO_SECONDS.contains(&word.as_str()) {
        report.warn(
            Code::UNREADABLE,
            Severity::Warning,
            figure.span,
            format!("expected seconds, the only unit in which dd prints its time, found {unit}; the time was left out"),
        );
        return None;
    }
    let number = dotted(number);
    match decimal::read::<Nanos>(&number, kind.seconds(&number, last), 1e9) {
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
        let read = human::read::<BytesPerSec>(&text, step, rounding);
        match (read, human::read(&text, Step::Binary, rounding)) {
            // "12.5MB/s" alone may be of GNU, the blank lost, or of busybox
            (Ok(decimal), Ok(binary)) if kind == Kind::Either => {
                report.warn(
                    Code::UNIT_GUESSED,
                    Severity::Warning,
                    figure.span,
                    format!(
                        "whether {} counts by 1000 (GNU) or by 1024 (busybox) can't be told",
                        figure.text
                    ),
                );
                Ok(decimal.or(binary))
            }
            (read, _) => read,
        }
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
