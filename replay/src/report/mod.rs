//! Reports: an outcome as text. Records are made in [`crate::outcome::records`].

pub mod date;
pub mod dd;
pub mod facts;
pub mod job;
pub mod json;
pub mod logs;
pub mod plan;
pub mod terse;
pub mod text;

use fio_parse::figure::fio::{Digits, FioPrinter, print};

/// fio's number printer since 3.26, four characters wide.
const MODERN: FioPrinter = FioPrinter::modern(Digits::CarryKept);

/// A size as fio prints it, in powers of 1024: `19.2GiB`.
fn binary_bytes(bytes: u64) -> String {
    print(bytes, MODERN, true, "B")
}

/// A size in powers of 1000: `20.6GB`.
fn decimal_bytes(bytes: u64) -> String {
    print(bytes, MODERN, false, "B")
}

/// A rate in powers of 1024: `293MiB/s`.
fn binary_rate(rate: u64) -> String {
    print(rate, MODERN, true, "B/s")
}

/// A rate in powers of 1000: `307MB/s`.
fn decimal_rate(rate: u64) -> String {
    print(rate, MODERN, false, "B/s")
}

/// A count in powers of 1000: `45.1k`.
fn count(number: u64) -> String {
    print(number, MODERN, false, "")
}

/// Bytes over time, both bases: `293MiB/s (307MB/s)`; a dash for no time.
fn rate_over(bytes: u64, ns: u64) -> String {
    if ns == 0 {
        return "-".to_owned();
    }
    let rate = (u128::from(bytes) * 1_000_000_000 / u128::from(ns)) as u64;
    format!("{} ({})", binary_rate(rate), decimal_rate(rate))
}

/// A time for people: `7.19 s`, `12.3 ms`.
fn span(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => (ns as f64, "ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    if value >= 100.0 || unit == "ns" {
        format!("{value:.0} {unit}")
    } else if value >= 10.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.2} {unit}")
    }
}

/// The lines about a write test that neither fio nor dd prints: the rate while writing, the
/// flush, and both together, where both are of the same bytes. They begin with a word that no parser of fio or dd output
/// takes for theirs.
fn write_and_flush(
    bytes: u64,
    io_phase_ns: u64,
    flush_ns: Option<u64>,
    inside: bool,
    of_ramp: bool,
) -> String {
    let mut text = format!(
        "  while writing: {} over {}\n",
        rate_over(bytes, io_phase_ns),
        span(io_phase_ns)
    );
    if let Some(flush) = flush_ns {
        let place = if inside {
            "part of the measured time"
        } else {
            "after the measured time"
        };
        let whose = match of_ramp {
            true => "this test's own data and what its ramp wrote",
            false => "this test's own data",
        };
        text += &format!("  flush: {} for {whose}, {place}\n", span(flush));
        if of_ramp {
            return text;
        }
        let together = io_phase_ns + flush;
        text += &format!(
            "  together: {} over {}\n",
            rate_over(bytes, together),
            span(together)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_fio_s() {
        // A well-known fio line: 307 MB/s for 60 s and a flush.
        assert_eq!(binary_rate(307_104_239), "293MiB/s");
        assert_eq!(decimal_rate(307_104_239), "307MB/s");
        assert_eq!(
            (
                binary_bytes(20_606_287_679).as_str(),
                decimal_bytes(20_606_287_679).as_str()
            ),
            ("19.2GiB", "20.6GB")
        );
        assert_eq!(count(45_116), "45.1k");
    }

    #[test]
    fn times_have_three_digits() {
        assert_eq!(span(7_190_000_000), "7.19 s");
        assert_eq!(span(12_345_678), "12.3 ms");
        assert_eq!(span(123_456), "123 us");
        assert_eq!(span(17), "17 ns");
    }

    #[test]
    fn write_and_flush_are_told_apart_and_together() {
        let text = write_and_flush(1 << 30, 1_000_000_000, Some(1_000_000_000), true, false);
        assert!(
            text.contains("while writing: 1024MiB/s (1074MB/s) over 1.00 s"),
            "{text}"
        );
        assert!(text.contains("flush: 1.00 s for this test's own data, part of the measured time"));
        assert!(text.contains("together: 512MiB/s (537MB/s) over 2.00 s"));
        let ramp = write_and_flush(1 << 30, 1_000_000_000, Some(1_000_000_000), false, true);
        assert!(
            ramp.contains("flush: 1.00 s for this test's own data and what its ramp wrote, after")
        );
        assert!(
            !ramp.contains("together"),
            "the ramp's bytes are not counted"
        );
    }
}
