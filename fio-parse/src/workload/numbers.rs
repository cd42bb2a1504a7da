//! Numbers as fio and dd read them in options, and back.
//!
//! ```text
//! fio size   digits [ k | m | g | t | p  [i] [b] ]      any case; also 0x…
//! fio time   digits [ us | ms | s | m | h | d ]
//! dd size    digits [ suffix ] { "x" digits [ suffix ] }
//! ```
//!
//! With fio's default `kb_base=1024`, `k`, `kb` and `ki` are 1024 and `kib` is 1000; with 1000 it is the other way
//! round (`k`, `kb` and `ki` 1000, `kib` 1024). Measured with fio 3.33. Whatever does not fit the grammar as a
//! whole is not a number here: fio itself reads `0.5m` as 0 and `4x` as 4, which no one means.

use crate::unit::{Bytes, Nanos};

/// What `k` means to fio (`kb_base`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum KbBase {
    /// `k` is 1024, `kib` is 1000.
    #[default]
    K1024,
    /// `k` is 1000, `kib` is 1024.
    K1000,
}

/// A size as fio reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FioSize {
    pub bytes: Bytes,
    /// Whether it was written with `kib`, `mib`, …, which fio takes for the other base than people do.
    pub reversed: bool,
}

/// The whole of `text` as a size; blanks around it don't matter.
pub(super) fn fio_size(text: &str, base: KbBase) -> Option<FioSize> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        let plain = !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit());
        return plain
            .then(|| u64::from_str_radix(hex, 16).ok())
            .flatten()
            .map(|bytes| FioSize {
                bytes: Bytes(bytes),
                reversed: false,
            });
    }
    let (count, suffix) = digits(text)?;
    let suffix = suffix.to_ascii_lowercase();
    let mut letters = suffix.chars();
    let power = match letters.next() {
        None => 0,
        Some('b') if suffix == "b" => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return None,
    };
    let reversed = match letters.as_str() {
        "ib" => true,
        "" | "b" | "i" => false,
        _ => return None,
    };
    let step: u64 = match (base, reversed) {
        (KbBase::K1024, false) | (KbBase::K1000, true) => 1024,
        (KbBase::K1000, false) | (KbBase::K1024, true) => 1000,
    };
    let bytes = count.checked_mul(step.checked_pow(power)?)?;
    Some(FioSize {
        bytes: Bytes(bytes),
        reversed,
    })
}

/// The whole of `text` as a time; `bare` is how many nanoseconds one has without a suffix.
pub(super) fn fio_time(text: &str, bare: u64) -> Option<Nanos> {
    let (count, suffix) = digits(text.trim())?;
    let each = match suffix.to_ascii_lowercase().as_str() {
        "" => bare,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    let nanos = count.checked_mul(each)?;
    // beyond 2^53 ns (104 days) a float would not hold it exactly
    (nanos <= 1 << 53)
        .then(|| Nanos::new(nanos as f64))
        .flatten()
}

/// A time as fio reads it back: whole seconds without a suffix, else microseconds, fio's own resolution.
pub(super) fn print_time(time: Nanos) -> String {
    let nanos = time.get().round() as u64;
    if nanos.is_multiple_of(1_000_000_000) {
        (nanos / 1_000_000_000).to_string()
    } else {
        format!("{}us", nanos / 1_000)
    }
}

/// A number as some dd reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DdNumber {
    pub value: u64,
    /// Whether it ends in a `B` that makes GNU dd 9.1 and later count bytes rather than blocks.
    pub in_bytes: bool,
    /// Whether only BSD, macOS, busybox or toybox take it: `1g`, `2x1m`.
    pub lower_case: bool,
    /// Whether only GNU dd and its like take it: `1MB`, `1GiB`.
    pub gnu_only: bool,
}

/// The whole of `text` as a number of any dd: the union of GNU's and BSD's suffixes, products with `x` or `*`.
pub(super) fn dd_number(text: &str) -> Option<DdNumber> {
    let mut all = DdNumber {
        value: 1,
        in_bytes: false,
        lower_case: false,
        gnu_only: false,
    };
    for factor in text.split(['x', '*']) {
        let (count, suffix) = digits(factor)?;
        let (mut suffix, in_bytes) = match suffix.strip_suffix('B') {
            // `B` after a prefix makes it decimal; alone, or after one of GNU's others, it counts bytes
            Some("") => ("", true),
            _ => (suffix, false),
        };
        let mut step = 1024u64;
        let long = suffix.len() > 1;
        if let Some(short) = suffix.strip_suffix("iB") {
            suffix = short;
        } else if let Some(short) = suffix.strip_suffix('B') {
            (suffix, step) = (short, 1000);
        }
        let power = match suffix {
            "" if !long => 0,
            "c" | "w" | "b" if !long => {
                step = match suffix {
                    "c" => 1,
                    "w" => 2,
                    _ => 512,
                };
                1
            }
            "k" | "K" => 1,
            "m" | "M" => 2,
            "g" | "G" => 3,
            "t" | "T" => 4,
            "p" | "P" => 5,
            "e" | "E" => 6,
            _ => return None,
        };
        all.in_bytes |= in_bytes;
        all.lower_case |= matches!(suffix, "m" | "g" | "t" | "p" | "e");
        all.gnu_only |= long;
        all.value = count
            .checked_mul(step.checked_pow(power)?)
            .and_then(|factor| all.value.checked_mul(factor))?;
    }
    Some(all)
}

/// Leading decimal digits and the rest; `None` without digits or beyond `u64`.
fn digits(text: &str) -> Option<(u64, &str)> {
    let end = text
        .bytes()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_fio_3_33_reads_them() {
        // (text, kb_base=1024, kb_base=1000), measured: 64Ki gives 16 blocks of 4k, 64KiB gives 15
        for (text, binary, decimal) in [
            ("4k", 4096, 4000),
            ("4K", 4096, 4000),
            ("4kb", 4096, 4000),
            ("64Ki", 65536, 64000),
            ("64KiB", 64000, 65536),
            ("1g", 1 << 30, 1_000_000_000),
            ("1T", 1 << 40, 1_000_000_000_000),
            ("1P", 1 << 50, 1_000_000_000_000_000),
            ("10485760k", 10_737_418_240, 10_485_760_000),
            ("512", 512, 512),
            ("512B", 512, 512),
            ("0x1000", 4096, 4096),
            (" 8k ", 8192, 8000),
        ] {
            let read = |base| fio_size(text, base).unwrap().bytes.0;
            assert_eq!(read(KbBase::K1024), binary, "{text}");
            assert_eq!(read(KbBase::K1000), decimal, "{text}");
        }
        assert!(fio_size("64KiB", KbBase::K1024).unwrap().reversed);
        for not in [
            "",
            "k",
            "0.5m",
            "4x",
            "100%",
            "1z",
            "-1",
            "$X",
            "4kib2",
            "0x",
            "0xg",
            "bb",
            "99999999999999999999",
            "999999999p",
            "1e9",
        ] {
            assert_eq!(fio_size(not, KbBase::K1024), None, "{not}");
        }
    }

    #[test]
    fn times_have_units() {
        let seconds = |text| fio_time(text, 1_000_000_000).map(Nanos::seconds);
        for (text, expected) in [
            ("60", 60.0),
            ("30s", 30.0),
            ("1m", 60.0),
            ("2h", 7200.0),
            ("1d", 86400.0),
            ("250ms", 0.25),
            ("5us", 5e-6),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for not in ["", "1h30m", "0.5", "30sec", "-1", "s"] {
            assert_eq!(seconds(not), None, "{not}");
        }
        assert_eq!(print_time(Nanos::new(6e10).unwrap()), "60");
        assert_eq!(print_time(Nanos::new(2.5e8).unwrap()), "250000us");
    }

    #[test]
    fn dd_numbers_are_those_of_any_dd() {
        for (text, value) in [
            ("1M", 1 << 20),
            ("1g", 1 << 30),
            ("1G", 1 << 30),
            ("1024k", 1 << 20),
            ("1K", 1024),
            ("1KB", 1000),
            ("1kB", 1000),
            ("1MB", 1_000_000),
            ("1MiB", 1 << 20),
            ("2x1M", 1 << 21),
            ("767*1024", 767 * 1024),
            ("4b", 2048),
            ("3w", 6),
            ("7c", 7),
            ("2300", 2300),
            ("1000000B", 1_000_000),
        ] {
            assert_eq!(dd_number(text).unwrap().value, value, "{text}");
        }
        assert!(dd_number("1000000B").unwrap().in_bytes);
        assert!(!dd_number("1MB").unwrap().in_bytes);
        assert!(dd_number("1g").unwrap().lower_case && !dd_number("1k").unwrap().lower_case);
        assert!(dd_number("1MB").unwrap().gnu_only);
        for not in [
            "",
            "M",
            "1X",
            "x",
            "1x",
            "0x10x",
            "1bB",
            "$N",
            "1.5G",
            "99999999E",
        ] {
            assert_eq!(dd_number(not), None, "{not}");
        }
    }
}
