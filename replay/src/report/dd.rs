//! dd's report in GNU's form, and what it leaves out: the syncs, each with its time.

use std::fmt::Write;

use fio_parse::workload::Timed;

use super::{span, write_and_flush};
use crate::dd::DdOutcome;
use crate::plan::dd::{DdPlan, Sink};

/// The report on a dd.
pub fn dd(plan: &DdPlan, outcome: &DdOutcome) -> String {
    let mut text = String::new();
    let (read, written) = (outcome.read, outcome.written);
    let _ = writeln!(text, "{}+{} records in", read.full, read.partial);
    let _ = writeln!(text, "{}+{} records out", written.full, written.partial);
    text += &transfer_line(outcome.bytes, outcome.window_ns);
    if let Some(wall) = outcome.wall_ns {
        let (user, system) = (outcome.usage.user_ns, outcome.usage.system_ns);
        let _ = write!(
            text,
            "\nreal\t{}\nuser\t{}\nsys\t{}\n",
            clock(wall),
            clock(user),
            clock(system)
        );
    }
    if let Some(failure) = &outcome.failure {
        let _ = writeln!(text, "error: {}", failure.sentence());
    }
    if plan.sink == Sink::File {
        text.push_str("\nwriting and flushing apart:\n");
        let conv_sync = outcome.conv_sync_ns;
        let writing = outcome.window_ns - conv_sync.unwrap_or(0);
        let flush = conv_sync.or(outcome.file_sync_ns);
        text += &write_and_flush(outcome.bytes, writing, flush, conv_sync.is_some(), false);
        if let Some(rest) = outcome.file_system_sync_ns {
            let _ = writeln!(
                text,
                "  sync of the rest of the file system: {}",
                span(rest)
            );
        }
    }
    if outcome.source_limited(plan) {
        let share = outcome.source_ns as f64 * 100.0 / outcome.window_ns.max(1) as f64;
        let _ = writeln!(
            text,
            "  reading the source took {share:.0} % of the time: this is not the disk's speed"
        );
    }
    if plan.timed == Some(Timed::Sync) {
        text.push_str("  `real` covers the sync alone\n");
    }
    text
}

/// `10737418240 bytes (11 GB, 10 GiB) copied, 34.4002 s, 312 MB/s`.
fn transfer_line(bytes: u64, ns: u64) -> String {
    let mut text = match bytes {
        1 => "1 byte".to_owned(),
        _ => format!("{bytes} bytes"),
    };
    // From 1000 in brackets the decimal size, from 1024 the binary one too.
    if bytes >= 1024 {
        let _ = write!(
            text,
            " ({}, {})",
            human(bytes as f64, 1000.0, 10.0),
            human(bytes as f64, 1024.0, 10.0)
        );
    } else if bytes >= 1000 {
        let _ = write!(text, " ({})", human(bytes as f64, 1000.0, 10.0));
    }
    let seconds = ns as f64 / 1e9;
    let rate = if ns == 0 {
        "Infinity B/s".to_owned()
    } else {
        format!("{}/s", human(bytes as f64 / seconds, 1000.0, 100.0))
    };
    let _ = writeln!(text, " copied, {} s, {rate}", six_digits(seconds));
    text
}

/// A number to the nearest, with one decimal below `decimal_below`.
fn human(value: f64, base: f64, decimal_below: f64) -> String {
    let units: [&str; 7] = if base == 1000.0 {
        ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    } else {
        ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    };
    let mut scaled = value;
    let mut step = 0;
    // A value that rounds up to the base goes to the next unit.
    while scaled.round() >= base && step + 1 < units.len() {
        scaled /= base;
        step += 1;
    }
    let tenths = (scaled * 10.0).round() / 10.0;
    if step > 0 && tenths < decimal_below {
        format!("{tenths:.1} {}", units[step])
    } else {
        format!("{scaled:.0} {}", units[step])
    }
}

/// C's `%g`: six significant digits, zeros at the end stripped.
fn six_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponent = value.abs().log10().floor() as i32;
    let strip = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if (-4..6).contains(&exponent) {
        return strip(format!("{value:.*}", (5 - exponent).max(0) as usize));
    }
    let text = format!("{value:.5e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", strip(mantissa.to_owned()), power.abs())
}

/// bash's `0m6.801s`.
fn clock(ns: u64) -> String {
    let ms = ns / 1_000_000;
    format!("{}m{}.{:03}s", ms / 60_000, ms / 1000 % 60, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfer_lines_are_gnu_dd_s() {
        // Printed by GNU dd 9.1 for these byte counts and times.
        let line = |bytes, seconds: f64| transfer_line(bytes, (seconds * 1e9).round() as u64);
        assert_eq!(
            line(10_737_418_240, 34.4002),
            "10737418240 bytes (11 GB, 10 GiB) copied, 34.4002 s, 312 MB/s\n"
        );
        assert_eq!(
            line(10_737_418_240, 6.01736),
            "10737418240 bytes (11 GB, 10 GiB) copied, 6.01736 s, 1.8 GB/s\n"
        );
        assert_eq!(
            line(67_108_864, 0.159965),
            "67108864 bytes (67 MB, 64 MiB) copied, 0.159965 s, 420 MB/s\n"
        );
        assert_eq!(
            line(1000, 2.8943e-5),
            "1000 bytes (1.0 kB) copied, 2.8943e-05 s, 34.6 MB/s\n"
        );
        assert_eq!(
            line(999, 2.9464e-5),
            "999 bytes copied, 2.9464e-05 s, 33.9 MB/s\n"
        );
        assert_eq!(
            line(10_000_000, 0.0817838),
            "10000000 bytes (10 MB, 9.5 MiB) copied, 0.0817838 s, 122 MB/s\n"
        );
        assert_eq!(
            line(983_040, 1.23017),
            "983040 bytes (983 kB, 960 KiB) copied, 1.23017 s, 799 kB/s\n"
        );
        assert!(line(1, 0.1).starts_with("1 byte copied"));
        assert!(line(0, 0.0).contains("0 bytes copied, 0 s, Infinity B/s"));
    }

    #[test]
    fn times_are_bash_s() {
        assert_eq!(clock(6_801_000_000), "0m6.801s");
        assert_eq!(clock(118_825_999_999), "1m58.825s");
    }

    #[test]
    fn numbers_have_six_digits_as_in_c() {
        assert_eq!(six_digits(34.4002), "34.4002");
        assert_eq!(six_digits(0.5), "0.5");
        assert_eq!(six_digits(123.4567), "123.457");
        assert_eq!(six_digits(1e6), "1e+06");
        assert_eq!(six_digits(2.7e-5), "2.7e-05");
    }
}
