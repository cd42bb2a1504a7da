//! dd's operands become a [`Dd`].
//!
//! ```text
//! operand  name "=" value
//! name     if of bs ibs obs cbs count skip iseek seek oseek conv iflag oflag status …
//! ```
//!
//! The union of what GNU, BSD, macOS, busybox and toybox take is read; where a spelling works with some of them
//! only, a note says so (`bsd-number:bs=1g`). Lists add up when they are repeated, as in GNU dd; other operands
//! are replaced. What is not a number as a whole stays verbatim in [`Dd::other`].

use super::Dd;
use super::fio::note;
use super::numbers::{DdNumber, dd_number};
use crate::unit::Bytes;

/// The operands of any dd, those of dcfldd and dc3dd too.
const OPERANDS: [&str; 35] = [
    "if",
    "of",
    "bs",
    "ibs",
    "obs",
    "cbs",
    "count",
    "skip",
    "iseek",
    "seek",
    "oseek",
    "conv",
    "iflag",
    "oflag",
    "status",
    "files",
    "speed",
    "fillchar",
    "msgfmt",
    "fsz",
    "cnt",
    "hash",
    "hashlog",
    "hashwindow",
    "statusinterval",
    "sizeprobe",
    "pattern",
    "textpattern",
    "vf",
    "hof",
    "log",
    "hlog",
    "wipe",
    "verb",
    "split",
];

/// Whether `name` is an operand of some dd.
pub(super) fn is_operand(name: &str) -> bool {
    OPERANDS.contains(&name)
}

/// Sets the operand `name` to `value`.
pub(super) fn set(dd: &mut Dd, name: &str, value: &str, notes: &mut Vec<String>) {
    let main = match name {
        "iseek" => "skip",
        "oseek" => "seek",
        name => name,
    };
    if !matches!(main, "conv" | "iflag" | "oflag") {
        dd.other.retain(|(have, _)| have != main);
    }
    let typed = match main {
        "if" => put(&mut dd.input, Some(value.to_owned())),
        "of" => put(&mut dd.output, Some(value.to_owned())),
        "bs" => put(&mut dd.block_bytes, size(main, value, notes)),
        "ibs" => put(&mut dd.input_block_bytes, size(main, value, notes)),
        "obs" => put(&mut dd.output_block_bytes, size(main, value, notes)),
        "count" => {
            (dd.count, dd.count_bytes) = (None, None);
            match number(main, value, notes) {
                Some(number) if number.in_bytes => {
                    put(&mut dd.count_bytes, Some(Bytes(number.value)))
                }
                number => put(&mut dd.count, number.map(|number| number.value)),
            }
        }
        "skip" => put(&mut dd.skip, blocks(main, value, notes)),
        "seek" => put(&mut dd.seek, blocks(main, value, notes)),
        "conv" => list(&mut dd.conv, value),
        "iflag" => list(&mut dd.iflag, value),
        "oflag" => list(&mut dd.oflag, value),
        _ => false,
    };
    if !typed {
        dd.other.push((main.to_owned(), value.to_owned()));
    }
}

/// Settles what depends on other operands, once all are set: `iflag=count_bytes` turns the count into bytes, and
/// `skip=3B` is what `skip=3 iflag=skip_bytes` is.
pub(super) fn settle(dd: &mut Dd) {
    let mut bytes = |name: &str| {
        let read = |(have, value): &(String, String)| {
            let number = dd_number(value).filter(|number| have == name && number.in_bytes)?;
            Some(number.value)
        };
        let (at, value) = (dd.other.iter().enumerate()).find_map(|(at, o)| Some((at, read(o)?)))?;
        dd.other.remove(at);
        Some(value)
    };
    let (skip, seek) = (bytes("skip"), bytes("seek"));
    if skip.is_some() {
        dd.skip = skip;
        list(&mut dd.iflag, "skip_bytes");
    }
    if seek.is_some() {
        dd.seek = seek;
        list(&mut dd.oflag, "seek_bytes");
    }
    if Dd::has(&dd.iflag, "count_bytes")
        && let Some(count) = dd.count.take()
    {
        dd.count_bytes = Some(Bytes(count));
    }
}

/// The operands that make this dd, in a fixed order.
pub(super) fn operands_of(dd: &Dd) -> Vec<(&str, String)> {
    let bytes = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0.to_string());
    let flagged = Dd::has(&dd.iflag, "count_bytes");
    let count = match (dd.count, dd.count_bytes) {
        (_, Some(bytes)) if flagged => Some(bytes.0.to_string()),
        (_, Some(bytes)) => Some(format!("{}B", bytes.0)),
        (count, None) => count.map(|count| count.to_string()),
    };
    let list = |list: &[String]| (!list.is_empty()).then(|| list.join(","));
    [
        ("if", dd.input.clone()),
        ("of", dd.output.clone()),
        ("bs", bytes(dd.block_bytes)),
        ("ibs", bytes(dd.input_block_bytes)),
        ("obs", bytes(dd.output_block_bytes)),
        ("count", count),
        ("skip", dd.skip.map(|skip| skip.to_string())),
        ("seek", dd.seek.map(|seek| seek.to_string())),
        ("conv", list(&dd.conv)),
        ("iflag", list(&dd.iflag)),
        ("oflag", list(&dd.oflag)),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| (name, value)))
    .chain(
        dd.other
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone())),
    )
    .collect()
}

fn put<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    *field = value;
    field.is_some()
}

/// Adds the items of a comma list; `false` where there is none (`conv=`).
fn list(items: &mut Vec<String>, value: &str) -> bool {
    // a variable may hold several items, and commas within it would be cut
    if value.is_empty() || value.contains(['$', '`', '{', '<', '%']) {
        return false;
    }
    for item in value.split(',').filter(|item| !item.is_empty()) {
        if !Dd::has(items, item) {
            items.push(item.to_owned());
        }
    }
    true
}

fn size(name: &str, value: &str, notes: &mut Vec<String>) -> Option<Bytes> {
    number(name, value, notes)
        .filter(|number| number.value > 0)
        .map(|number| Bytes(number.value))
}

/// A count of blocks; one in bytes stays verbatim until all operands are known.
fn blocks(name: &str, value: &str, notes: &mut Vec<String>) -> Option<u64> {
    number(name, value, notes)
        .filter(|number| !number.in_bytes)
        .map(|number| number.value)
}

fn number(name: &str, value: &str, notes: &mut Vec<String>) -> Option<DdNumber> {
    let number = dd_number(value)?;
    if number.lower_case {
        note(notes, format!("bsd-number:{name}={value}"));
    }
    if number.gnu_only || number.in_bytes {
        note(notes, format!("gnu-number:{name}={value}"));
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dd(operands: &[(&str, &str)]) -> (Dd, Vec<String>) {
        let (mut dd, mut notes) = (Dd::default(), Vec::new());
        for (name, value) in operands {
            set(&mut dd, name, value, &mut notes);
        }
        settle(&mut dd);
        (dd, notes)
    }

    #[test]
    fn operands_are_typed_and_dialects_noted() {
        let (read, notes) = dd(&[
            ("if", "/dev/zero"),
            ("of", "test"),
            ("bs", "1g"),
            ("count", "10"),
            ("conv", "notrunc,fdatasync"),
            ("conv", "notrunc"),
            ("oseek", "5"),
            ("status", "none"),
        ]);
        assert_eq!(read.block_bytes, Some(Bytes(1 << 30)));
        assert_eq!(read.asked_bytes(), Some(Bytes(10 << 30)));
        assert_eq!(read.conv, ["notrunc", "fdatasync"]);
        assert_eq!(read.seek, Some(5));
        assert_eq!(read.other, [("status".to_owned(), "none".to_owned())]);
        assert_eq!(notes, ["bsd-number:bs=1g"]);
    }

    #[test]
    fn what_is_thrown_away_was_read() {
        use crate::record::Direction;
        for (operands, wanted) in [
            (
                &[("if", "/dev/zero"), ("of", "test")][..],
                Some(Direction::Write),
            ),
            (
                &[("if", "test"), ("of", "/dev/null")],
                Some(Direction::Read),
            ),
            (
                &[("if", "/dev/sda"), ("of", "/dev/zero")],
                Some(Direction::Read),
            ),
            (&[("if", "/dev/sda")], Some(Direction::Read)),
            (&[("if", "/dev/zero")], None),
            (&[("of", "/dev/sdb")], Some(Direction::Write)),
        ] {
            assert_eq!(dd(operands).0.direction(), wanted, "{operands:?}");
        }
    }

    #[test]
    fn counts_in_bytes_are_told_from_counts_of_blocks() {
        assert_eq!(dd(&[("count", "1k")]).0.count, Some(1024));
        assert_eq!(
            dd(&[("count", "1000000B")]).0.count_bytes,
            Some(Bytes(1_000_000))
        );
        let (flagged, _) = dd(&[("iflag", "count_bytes"), ("count", "4096")]);
        assert_eq!(
            (flagged.count, flagged.count_bytes),
            (None, Some(Bytes(4096)))
        );
        assert_eq!(dd(&[("count", "4"), ("count", "$N")]).0.count, None);
        let (moved, _) = dd(&[("seek", "10B"), ("skip", "3B"), ("seek", "7B")]);
        assert_eq!((moved.seek, moved.skip), (Some(7), Some(3)));
        assert_eq!(
            (&moved.oflag[..], &moved.iflag[..]),
            (
                &["seek_bytes".to_owned()][..],
                &["skip_bytes".to_owned()][..]
            )
        );
        assert!(moved.other.is_empty());
        // the last one counts
        let (blocks, _) = dd(&[("seek", "10B"), ("seek", "5")]);
        assert_eq!((blocks.seek, blocks.oflag.len()), (Some(5), 0));
    }
}
