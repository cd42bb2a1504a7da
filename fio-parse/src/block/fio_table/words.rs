//! Numbers, units and words of summaries.
//!
//! ```text
//! number    = digits { "," 3 digits } [ "." digits ] | digits "." digits
//! rate unit = [ "k" | "K" | "M" | "G" | "T" ] [ "i" ] "B" ( "/s" | "/sec" | "ps" | "/秒" )      never of bits: Mb/s
//! latency   = "ns" | "nsec" | "us" | "usec" | "µs" | "ms" | "msec"
//! count     = [ "k" | "K" | "M" ] [ " IOPS" ]
//! ```

use super::{Amount, Quantity, figure};
use crate::lex;
use crate::record::Direction;
use crate::source::Log;

/// The number at the head of `text`, with commas between thousands.
pub(super) fn number(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut end = digits(0);
    if end == 0 {
        return None;
    }
    if end <= 3 {
        while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
            end += 4;
        }
    }
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    Some(&text[..end])
}

/// The unit of rate at the head of `text`.
pub(super) fn rate_unit_at(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches(['k', 'K', 'M', 'G', 'T']);
    if text.len() - rest.len() > 1 {
        return None;
    }
    if rest.len() < text.len() {
        rest = rest.strip_prefix('i').unwrap_or(rest);
    }
    rest = rest.strip_prefix('B')?;
    rest = ["/sec", "/s", "/S", "ps", "/秒"]
        .iter()
        .find_map(|per| rest.strip_prefix(per))?;
    let bounded = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
    bounded.then(|| &text[..text.len() - rest.len()])
}

/// Bytes per second in one of `unit`: by 1024 if it says so, by 1000 otherwise. `None`: it is no unit of rate.
pub fn rate_unit(unit: &str) -> Option<f64> {
    rate_unit_at(unit).filter(|whole| whole.len() == unit.len())?;
    let power = match unit.as_bytes()[0] {
        b'k' | b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        _ => 0,
    };
    let step: f64 = if unit.as_bytes().get(1) == Some(&b'i') {
        1024.0
    } else {
        1000.0
    };
    Some(step.powi(power))
}

/// The unit of latency at the head of `text`.
pub(super) fn latency_unit_at(text: &str) -> Option<&str> {
    let unit = ["nsec", "ns", "usec", "us", "µs", "μs", "msec", "ms"]
        .into_iter()
        .find(|unit| text.starts_with(unit))?;
    let bounded = !text[unit.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '/');
    bounded.then(|| &text[..unit.len()])
}

/// Nanoseconds in one of `unit`.
pub fn latency_scale(unit: &str) -> Option<f64> {
    Some(match unit.chars().next()? {
        'n' => 1.0,
        'u' | 'µ' | 'μ' => 1e3,
        'm' => 1e6,
        _ => return None,
    })
}

/// The amount at the head of `text`, by the unit that stands at it, and the text behind it.
pub(super) fn amount<'t>(log: &Log<'_>, text: &'t str) -> Option<(Quantity, Amount<'t>, &'t str)> {
    let number = number(text)?;
    let behind = &text[number.len()..];
    let unit_text = lex::skip_blanks(behind);
    let (quantity, unit) = if let Some(unit) = rate_unit_at(unit_text) {
        (Quantity::Rate, unit)
    } else if let Some(unit) = latency_unit_at(unit_text) {
        (Quantity::Latency, unit)
    } else {
        let prefix = &unit_text[..usize::from(unit_text.starts_with(['k', 'K', 'M']))];
        let word = lex::skip_blanks(&unit_text[prefix.len()..]);
        let named = word.get(..4)?;
        let bounded = !word[4..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if !(named.eq_ignore_ascii_case("iops") && bounded) {
            return None;
        }
        let rest = &word[4..];
        let text = &text[..text.len() - rest.len()];
        let figure = figure(log, text);
        return Some((
            Quantity::Iops,
            Amount {
                figure,
                number,
                unit: prefix,
            },
            rest,
        ));
    };
    let rest = &unit_text[unit.len()..];
    let whole = &text[..text.len() - rest.len()];
    Some((
        quantity,
        Amount {
            figure: figure(log, whole),
            number,
            unit,
        },
        rest,
    ))
}

/// A count such as `83.9k`, `1,234` or `1.37M` at the head of `text`, and the text behind it.
pub(super) fn count<'t>(log: &Log<'_>, text: &'t str) -> Option<(Amount<'t>, &'t str)> {
    let number = number(text)?;
    let behind = &text[number.len()..];
    let length = usize::from(behind.starts_with(['k', 'K', 'M']));
    let (unit, rest) = behind.split_at(length);
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '%') {
        return None;
    }
    let figure = figure(log, &text[..number.len() + length]);
    Some((
        Amount {
            figure,
            number,
            unit,
        },
        rest,
    ))
}

/// A bare number whose unit stands elsewhere, and the text behind it.
pub(super) fn bare<'t>(
    log: &Log<'_>,
    text: &'t str,
    unit: &'t str,
) -> Option<(Amount<'t>, &'t str)> {
    let number = number(text)?;
    let rest = &text[number.len()..];
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '%') {
        return None;
    }
    Some((
        Amount {
            figure: figure(log, number),
            number,
            unit,
        },
        rest,
    ))
}

const READS: [&str; 10] = [
    "read",
    "lesen",
    "lecture",
    "lectura",
    "lettura",
    "leitura",
    "чтени",
    "读",
    "讀",
    "読",
];
const WRITES: [&str; 12] = [
    "write",
    "writ",
    "schreib",
    "écriture",
    "escritura",
    "scrittura",
    "escrita",
    "запис",
    "写",
    "寫",
    "書き",
    "書込",
];

/// Words that hold one of the others and mean neither.
const NEITHER: [&str; 8] = [
    "thread",
    "spread",
    "already",
    "ready",
    "write-back",
    "writeback",
    "write-through",
    "writethrough",
];

/// Which way bytes went, by the words of a title. Both ways at once, or a sum, is [`Direction::Mixed`].
pub fn direction_of(text: &str) -> Option<Direction> {
    let mut lower = text.to_lowercase();
    for other in NEITHER {
        if lower.contains(other) {
            lower = lower.replace(other, " ");
        }
    }
    let named = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match (named(&READS), named(&WRITES)) {
        (true, false) => Some(Direction::Read),
        (false, true) => Some(Direction::Write),
        (true, true) => Some(Direction::Mixed),
        (false, false) => {
            let mut words = lower.split(|c: char| !c.is_alphabetic());
            words
                .any(|word| matches!(word, "randrw" | "readwrite" | "mixed" | "total"))
                .then_some(Direction::Mixed)
        }
    }
}

/// The block size that a title names: `4k`, `512K`, `1m`, `4 KiB`; always by 1024.
pub fn block_size(text: &str) -> Option<f64> {
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + start;
        let word_before = text[..start].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
        let digits = text[start..]
            .find(|c: char| !c.is_ascii_digit())
            .map_or(text.len(), |end| start + end);
        at = digits;
        if word_before {
            continue;
        }
        let behind = lex::skip_blanks(&text[digits..]);
        let scale = match behind.as_bytes().first() {
            Some(b'k' | b'K') => 1024.0,
            Some(b'm' | b'M') => 1_048_576.0,
            _ => continue,
        };
        let rest = behind[1..].strip_prefix('i').unwrap_or(&behind[1..]);
        let rest = rest.strip_prefix(['B', 'b']).unwrap_or(rest);
        if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/') {
            continue;
        }
        if let Ok(number) = text[start..digits].parse::<u32>()
            && number > 0
        {
            return Some(f64::from(number) * scale);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_rate_are_of_bytes() {
        for (unit, scale) in [
            ("KiB/s", Some(1024.0)),
            ("KiB/sec", Some(1024.0)),
            ("MB/s", Some(1e6)),
            ("GBps", Some(1e9)),
            ("B/s", Some(1.0)),
            ("Mb/s", None),
            ("Mbits/sec", None),
            ("MB", None),
            ("MMB/s", None),
            ("iB/s", None),
        ] {
            assert_eq!(rate_unit(unit), scale, "{unit}");
        }
    }

    #[test]
    fn numbers_with_thousands() {
        for (text, found) in [
            ("1,198,067 / 102", Some("1,198,067")),
            ("335.96 MB/s", Some("335.96")),
            ("12,34", Some("12")),
            ("1234,567", Some("1234")),
            ("90,546.5", Some("90,546.5")),
            ("x", None),
            (".5", None),
        ] {
            assert_eq!(number(text), found, "{text}");
        }
    }

    #[test]
    fn titles_tell_direction_and_block_size() {
        for (title, direction, size) in [
            ("4k 随机写", Some(Direction::Write), Some(4096.0)),
            (
                "512k 128深度顺序写",
                Some(Direction::Write),
                Some(524_288.0),
            ),
            ("randread-4k-qd32", Some(Direction::Read), Some(4096.0)),
            ("Random Rread", Some(Direction::Read), None),
            ("Total IOPS", Some(Direction::Mixed), None),
            (
                "libaio randwrite bs=4k direct=1",
                Some(Direction::Write),
                Some(4096.0),
            ),
            ("Seq 1M", None, Some(1_048_576.0)),
            ("16 threads, write-back", None, None),
            ("4K", None, Some(4096.0)),
            ("4 kittens in 32M5", None, None),
        ] {
            assert_eq!(direction_of(title), direction, "{title}");
            assert_eq!(block_size(title), size, "{title}");
        }
    }
}
