//! Which dd printed a report, told by its layout, and with that which printers made its figures.

use crate::block::dd::DdBlock;
use crate::block::dd::transfer::{Form, Transfer, split_number};
use crate::figure::decimal::Decimal;
use crate::figure::human::{Rounding, Step};
use crate::workload::Workload;

/// A kind of dd, as far as its report tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// GNU from 6 on, and what can't be told from it.
    Gnu,
    /// GNU before 6: `… bytes transferred in 119.140681 seconds (18024772 bytes/sec)`.
    GnuOld,
    /// FreeBSD, macOS: six decimals.
    Bsd,
    /// OpenBSD: three decimals, the rate from microseconds.
    OpenBsd,
    /// NetBSD: three decimals, the rate from those.
    NetBsd,
    /// busybox with the byte line: `457.2KB/s`.
    Busybox,
    /// toybox, Android: `471 M/s`.
    Toybox,
    /// uutils from 0.0.2x: six digits of seconds, the rate from whole milliseconds.
    Uutils,
    /// uutils before: one decimal of seconds.
    UutilsOld,
    /// dc3dd: a percentage.
    Dc3dd,
    /// dcfldd: a count of blocks in front of the records.
    Dcfldd,
    /// sg_dd with its time.
    SgDd,
    /// A rate alone that GNU or busybox may have printed.
    Either,
    /// Records only, or a rate; many print so.
    Unknown,
}

impl Kind {
    /// The name under which records know it.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Kind::Gnu | Kind::GnuOld => "gnu",
            Kind::Bsd => "bsd",
            Kind::OpenBsd => "openbsd",
            Kind::NetBsd => "netbsd",
            Kind::Busybox => "busybox",
            Kind::Toybox => "toybox",
            Kind::Uutils | Kind::UutilsOld => "uutils",
            Kind::Dc3dd => "dc3dd",
            Kind::Dcfldd => "dcfldd",
            Kind::SgDd => "sg_dd",
            Kind::Either | Kind::Unknown => return None,
        })
    }

    /// How it prints seconds. Whole seconds are those of progress lines, rounded, unless the line is known to be the `last`.
    pub fn seconds(self, number: &str, last: bool) -> Decimal {
        match self {
            // %g strips zeros; a text with one decimal and few digits may be of a uutils, which rounds to one decimal
            Kind::Gnu | Kind::Uutils if one_decimal(number) => Decimal::Rounded,
            Kind::Gnu | Kind::Uutils if last || number.contains(['.', 'e']) => Decimal::General(6),
            Kind::OpenBsd | Kind::NetBsd => Decimal::Truncated,
            _ => Decimal::Rounded,
        }
    }

    /// How it scales the size or rate `text`.
    pub fn scale(self, text: &str) -> (Step, Rounding) {
        match self {
            Kind::Busybox => (Step::Binary, Rounding::Nearest),
            // below ten toybox cuts at one decimal, above it rounds
            Kind::Toybox | Kind::Dc3dd if text.contains('.') => (Step::Binary, Rounding::Down),
            Kind::Toybox | Kind::Dc3dd => (Step::Binary, Rounding::Nearest),
            _ => (Step::Decimal, Rounding::Nearest),
        }
    }
}

/// Fewer than six digits with one decimal: what a `%g` prints once in a hundred times at most, and a `%.1f` always.
fn one_decimal(number: &str) -> bool {
    number.len() < 7
        && number
            .split_once('.')
            .is_some_and(|(_, decimals)| decimals.len() == 1)
}

/// The dd that a command names, where it is none of those that are called `dd`: their reports may look alike.
pub fn of_command(workload: &Workload) -> Option<&'static str> {
    let command = workload.command.as_deref().unwrap_or("");
    let words = command.split_whitespace();
    let names = words.take_while(|word| !word.contains("if=") && !word.contains("of="));
    let names = names.filter_map(|word| word.rsplit('/').next());
    (names.into_iter()).find_map(|name| {
        ["sg_dd", "dcfldd", "dc3dd"]
            .into_iter()
            .find(|&known| known == name)
    })
}

/// Tells the kind from the layout of the byte line.
pub fn of(block: &DdBlock<'_>) -> Kind {
    match &block.transfer {
        None if block.dcfldd => Kind::Dcfldd,
        None => Kind::Unknown,
        Some(transfer) => of_transfer(transfer, block.translated),
    }
}

fn of_transfer(transfer: &Transfer<'_>, translated: bool) -> Kind {
    let Some((rate, rate_unit)) = split_number(transfer.rate.text) else {
        // no number in the rate: "Infinity B/s"
        return Kind::Gnu;
    };
    let Some((seconds, seconds_unit)) = transfer
        .seconds
        .and_then(|figure| split_number(figure.text))
    else {
        return rate_alone(rate, rate_unit);
    };
    match transfer.form {
        Form::CopiedPercent => return Kind::Dc3dd,
        Form::Progress => return Kind::Bsd,
        Form::Moved => return moved(transfer, seconds, seconds_unit, rate),
        Form::SgDd => return Kind::SgDd,
        Form::Copied | Form::RateOnly => {}
    }
    let (prefix, _) = rate_unit.split_once('/').unwrap_or((rate_unit, ""));
    let joined = !rate_unit.starts_with(|c: char| c.is_whitespace());
    let prefix = prefix.trim();
    let whole_rate = !rate.contains(['.', ',']);
    let decimals = seconds
        .split_once(['.', ','])
        .map_or(0, |(_, decimals)| decimals.len());
    if seconds_unit.trim() == "seconds" && joined && !prefix.is_empty() {
        return Kind::Busybox;
    }
    if matches!(prefix, "k" | "K" | "M" | "G" | "T")
        || prefix == "B" && whole_rate && decimals >= 3 && !transfer.sizes.is_empty()
    {
        return Kind::Toybox;
    }
    // no other dd speaks another language than English, or writes a decimal comma
    let word = transfer
        .bytes
        .and_then(|figure| split_number(figure.text))
        .map_or("", |(_, word)| {
            word.trim_start_matches(|c: char| !c.is_alphabetic())
        });
    if translated || seconds.contains(',') || rate.contains(',') || !word.starts_with("byte") {
        return Kind::Gnu;
    }
    // GNU prints 37.0 MB/s and 0.0 kB/s where uutils prints 37 MB/s and 0.0 B/s
    let no_gnu_rate = prefix != "B" && whole_rate && rate.len() < 3 || prefix == "B" && !whole_rate;
    if decimals == 1 && (no_gnu_rate || seconds.len() <= 3) {
        return Kind::UutilsOld;
    }
    if no_gnu_rate || from_whole_milliseconds(transfer, seconds, rate, prefix) {
        return Kind::Uutils;
    }
    Kind::Gnu
}

/// Whose a rate is that stands alone: busybox writes `291.1MB/s`, GNU `291 MB/s`, of which a script may lose the blank.
fn rate_alone(number: &str, unit: &str) -> Kind {
    let joined = !unit.starts_with(|c: char| c.is_whitespace() || c == '&');
    let decimals = number.contains(['.', ',']);
    match (joined, decimals) {
        (true, true) if number.len() > 4 || unit.starts_with('K') => Kind::Busybox,
        (true, true) => Kind::Either,
        _ => Kind::Unknown,
    }
}

/// Which of those that print `bytes transferred in … secs (… bytes/sec)`.
fn moved(transfer: &Transfer<'_>, seconds: &str, unit: &str, rate: &str) -> Kind {
    let decimals = seconds
        .split_once(['.', ','])
        .map_or(0, |(_, decimals)| decimals.len());
    if unit.trim() == "seconds" {
        return Kind::GnuOld;
    }
    if decimals != 3 {
        return Kind::Bsd;
    }
    // NetBSD divides by the milliseconds it prints, OpenBSD by microseconds
    let millis: Option<u128> = seconds.replace(['.', ','], "").parse().ok();
    let bytes: Option<u128> = transfer
        .bytes
        .and_then(|f| split_number(f.text))
        .and_then(|(n, _)| n.parse().ok());
    match (millis, bytes, rate.parse::<u128>()) {
        (Some(millis), Some(bytes), Ok(rate)) if bytes * 1000 / millis.max(1) == rate => {
            Kind::NetBsd
        }
        _ => Kind::OpenBsd,
    }
}

/// Whether the rate is what whole milliseconds give and what the printed seconds do not.
fn from_whole_milliseconds(
    transfer: &Transfer<'_>,
    seconds: &str,
    rate: &str,
    prefix: &str,
) -> bool {
    let number = |text: &str| text.replace(',', ".").parse::<f64>().ok();
    let bytes = transfer
        .bytes
        .and_then(|f| split_number(f.text))
        .and_then(|(n, _)| number(n));
    let (Some(bytes), Some(seconds), Some(rate_number)) = (bytes, number(seconds), number(rate))
    else {
        return false;
    };
    let unit = match prefix.as_bytes().first() {
        Some(b'k' | b'K') => 1e3,
        Some(b'M') => 1e6,
        Some(b'G') => 1e9,
        Some(b'T') => 1e12,
        _ => 1.0,
    };
    let half = if rate.contains(['.', ',']) { 0.05 } else { 0.5 };
    let fits = |exact: f64| (exact / unit - rate_number).abs() <= half * 1.001;
    let millis = (seconds * 1e3).floor().max(1.0);
    seconds > 0.0 && !fits(bytes / seconds) && fits(bytes * 1e3 / millis)
}
