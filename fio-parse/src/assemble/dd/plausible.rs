//! Whether a dd result can be what it seems to be, by what else is known: the link that a label names, the memory
//! size and the file system that the text around it names, and what the command flushed.
//!
//! **Memory.** A run that goes through the page cache is doubted where its file is smaller than the memory that the
//! labels and the texts near by name (see `context::nearby` for which texts those are). Of several sizes the smallest
//! counts. Sizes of something else (a RAM disk, video memory, a cache) are no memory sizes.
//!
//! **File systems.** Zeros are doubted where a label names a file system that may compress them away, or a text near by
//! does and names no other file system. A sentence that says it is off, or that there is none, does not count.
//!
//! Each function is pure, states what is suspicious and why, and changes no figure. Ceilings are those of the line
//! after its encoding, so that no real device is above them:
//!
//! | link | line rate | encoding | at most |
//! |---|---|---|---|
//! | SATA 1, 2, 3 | 1.5, 3, 6 Gb/s | 8b/10b | 150, 300, 600 MB/s |
//! | USB 2.0 | 480 Mb/s | | 60 MB/s |
//! | USB 3.0, 3.1 Gen 1, 3.2 Gen 1 | 5 Gb/s | 8b/10b | 500 MB/s |
//! | USB 3.1 Gen 2, 3.2 Gen 2 | 10 Gb/s | 128b/132b | 1212 MB/s |
//! | USB 3.2 Gen 2x2 | 20 Gb/s | 128b/132b | 2424 MB/s |
//! | Ethernet 1, 2.5, 10 Gb/s | | | 125, 312.5, 1250 MB/s |
//! | eMMC 5.1 (HS400) | 8 bits, 200 MHz, both edges | | 400 MB/s |

use crate::diagnostic::{Code, Diagnostic};
use crate::reading::Reading;
use crate::record::{Direction, Measurement};
use crate::source::Span;
use crate::unit::{Bytes, BytesPerSec, Quantity};
use crate::workload::Dd;

/// What is known around a result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around<'a> {
    /// The command.
    pub dd: Option<&'a Dd>,
    /// Which way the bytes went.
    pub direction: Option<Direction>,
    /// The texts of its labels: machine, device, headings.
    pub labels: &'a [&'a str],
    /// Texts that stand near: machine descriptions, mount tables.
    pub nearby: &'a [&'a str],
}

/// Everything suspicious about `measurement`.
pub fn check(measurement: &Measurement, around: Around<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    found.extend(above_link(measurement, around.labels));
    if let Some(dd) = around.dd {
        found.extend(no_flush(measurement, dd, around.direction));
        found.extend(compressible(measurement, dd, around));
        found.extend(fits_in_memory(measurement, dd, around));
    }
    found
}

pub(in crate::assemble) fn rate_span(measurement: &Measurement) -> Option<Span> {
    measurement.bytes_per_sec.as_ref().and_then(Reading::span)
}

/// A rate in words, for messages: three digits are enough to doubt.
fn megabytes(rate: BytesPerSec) -> String {
    format!("{:.0} MB/s", rate.get() / 1e6)
}

/// The slowest link that `label` names, with its ceiling.
pub fn link_named(label: &str) -> Option<(&'static str, BytesPerSec)> {
    // longer names first: the first that fits at a place is the one that is meant
    type Link = (&'static [&'static str], &'static str, f64);
    const LINKS: &[Link] = &[
        (
            &["usb 3.2 gen 2x2", "usb 3.2 gen2x2"],
            "USB 3.2 Gen 2x2",
            2424e6,
        ),
        (
            &[
                "usb 3.1 gen 2",
                "usb 3.1 gen2",
                "usb 3.2 gen 2",
                "usb 3.2 gen2",
                "usb 3.2",
            ],
            "USB at 10 Gb/s",
            1212e6,
        ),
        (
            &["usb 3.1", "usb 3.0", "usb3.0", "usb 3", "usb3"],
            "USB at 5 Gb/s",
            500e6,
        ),
        (&["usb 2.0", "usb2.0", "usb 2", "usb2"], "USB 2.0", 60e6),
        (
            &["sata iii", "sata 3", "sata3", "sata 6"],
            "SATA at 6 Gb/s",
            600e6,
        ),
        (&["sata ii", "sata 2", "sata2"], "SATA at 3 Gb/s", 300e6),
        (&["sata i ", "sata 1", "sata1"], "SATA at 1.5 Gb/s", 150e6),
        (&["msata", "sata"], "SATA at 6 Gb/s", 600e6),
        (
            &["10gbe", "10 gbe", "10gbase"],
            "Ethernet at 10 Gb/s",
            1250e6,
        ),
        (&["2.5gbe", "2.5 gbe"], "Ethernet at 2.5 Gb/s", 312.5e6),
        (
            &["1gbe", "1 gbe", "gigabit ethernet"],
            "Ethernet at 1 Gb/s",
            125e6,
        ),
        (
            &["microsd", "sd card", "sdhc", "sdxc"],
            "SD Express",
            4000e6,
        ),
        (&["emmc"], "eMMC 5.1", 400e6),
    ];
    let lower = label.to_lowercase();
    let mut named: Option<(&'static str, f64)> = None;
    let mut at = 0;
    while at < lower.len() {
        let rest = &lower[at..];
        let starts_word = !lower[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
        let hit = LINKS
            .iter()
            .filter(|_| starts_word)
            .find_map(|(names, link, most)| {
                names
                    .iter()
                    .find(|name| rest.starts_with(**name))
                    .map(|name| (*link, *most, name.len()))
            });
        match hit {
            Some((link, most, length)) => {
                if named.is_none_or(|(_, known)| most < known) {
                    named = Some((link, most));
                }
                at += length;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    named.and_then(|(link, most)| Some((link, BytesPerSec::new(most)?)))
}

/// A rate that is above the slowest link the labels name.
pub fn above_link(measurement: &Measurement, labels: &[&str]) -> Option<Diagnostic> {
    let rate = measurement.bytes_per_sec.as_ref()?;
    let (label, (link, most)) = labels
        .iter()
        .filter_map(|label| link_named(label).map(|link| (label, link)))
        .min_by(|(_, (_, a)), (_, (_, b))| a.get().total_cmp(&b.get()))?;
    (rate.lo() > most).then(|| {
        Diagnostic::warning(
            Code::ABOVE_LINK,
            rate_span(measurement),
            format!(
                "at least {} is more than {link} carries ({} at most), which \"{label}\" names: a cache, compression or another device was measured",
                megabytes(rate.lo()),
                megabytes(most)
            ),
        )
    })
}

/// Whether the command makes the data reach the device before dd's clock stops.
pub fn flushes(dd: &Dd) -> bool {
    ["fsync", "fdatasync"]
        .iter()
        .any(|item| Dd::has(&dd.conv, item))
        || ["direct", "sync", "dsync"]
            .iter()
            .any(|item| Dd::has(&dd.oflag, item))
}

/// A device or a sink: what no page cache stands in front of, or no file system behind.
pub fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/") || path.starts_with("\\\\.\\")
}

/// A write at more than a gigabyte a second that nothing was flushed in.
pub fn no_flush(
    measurement: &Measurement,
    dd: &Dd,
    direction: Option<Direction>,
) -> Option<Diagnostic> {
    let rate = measurement.bytes_per_sec.as_ref()?;
    let to_file = dd
        .output
        .as_deref()
        .is_some_and(|output| !is_device(output));
    (direction == Some(Direction::Write) && to_file && rate.lo().get() >= 1e9 && !flushes(dd)).then(|| {
        Diagnostic::warning(
            Code::NO_FLUSH,
            rate_span(measurement),
            format!(
                "{} and no fsync, fdatasync, dsync, sync or direct in the command: dd's window ends when the data is in memory",
                megabytes(rate.lo())
            ),
        )
    })
}

/// The compressing file system, or the compression, that a text names.
pub fn compressing_named(text: &str) -> Option<&'static str> {
    const NOT: [&str; 11] = [
        "no ",
        "not ",
        "off",
        "disabled",
        "without",
        "uncompress",
        "incompress",
        "n't ",
        "zfs send",
        "instead of",
        "than ",
    ];
    let lower = text.to_lowercase();
    lower
        .split_inclusive(['.', '!', '?', ';', '\n'])
        .filter(|sentence| NOT.iter().all(|not| !sentence.contains(not)))
        .find_map(|sentence| {
            ["zfs", "btrfs", "vdo", "compress", "dedup"]
                .into_iter()
                .find(|name| {
                    sentence.match_indices(name).any(|(at, _)| {
                        !sentence[..at].ends_with(|c: char| c.is_ascii_alphabetic())
                            || *name == "zfs"
                    })
                })
        })
}

/// Whether a text names a file system that compresses nothing.
fn names_plain_file_system(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| {
        matches!(
            word,
            "ext2"
                | "ext3"
                | "ext4"
                | "xfs"
                | "ntfs"
                | "jfs"
                | "hfs"
                | "apfs"
                | "ufs"
                | "f2fs"
                | "exfat"
                | "vfat"
                | "fat32"
        )
    })
}

/// What compresses, by the labels or by the texts near by.
pub fn compressing(labels: &[&str], nearby: &[&str]) -> Option<&'static str> {
    let named = |texts: &[&str]| texts.iter().find_map(|text| compressing_named(text));
    named(labels).or_else(|| {
        let plain = || {
            nearby
                .iter()
                .chain(labels)
                .any(|text| names_plain_file_system(text))
        };
        named(nearby).filter(|_| !plain())
    })
}

/// The memory, by the labels and the texts near by: the smallest that one of them names.
pub fn memory(labels: &[&str], nearby: &[&str]) -> Option<Bytes> {
    labels
        .iter()
        .chain(nearby)
        .filter_map(|text| memory_named(text))
        .min()
}

/// Zeros written where the text around names a file system that compresses.
pub fn compressible(measurement: &Measurement, dd: &Dd, around: Around<'_>) -> Option<Diagnostic> {
    if dd.input.as_deref() != Some("/dev/zero") || dd.output.as_deref().is_none_or(is_device) {
        return None;
    }
    let name = compressing(around.labels, around.nearby)?;
    Some(Diagnostic::warning(
        Code::COMPRESSIBLE,
        rate_span(measurement),
        format!(
            "zeros were written and the text names \"{name}\": what is compressed away never reaches the device"
        ),
    ))
}

/// The size of the memory that a text names: `16 GB RAM`, `RAM: 7.6Gi`, `Total Mem : 3936 MB`, `MemTotal: 16316412 kB`.
///
/// Sizes of memory are powers of two whatever unit is written, so `GB` is read as 2^30.
pub fn memory_named(text: &str) -> Option<Bytes> {
    let lower = text.to_lowercase();
    let mut best = None;
    for (at, word) in ["ram", "memory", "mem", "memtotal"]
        .iter()
        .flat_map(|word| lower.match_indices(word))
    {
        let bounded = !lower[..at].ends_with(|c: char| c.is_alphanumeric())
            && !lower[at + word.len()..].starts_with(|c: char| c.is_alphanumeric());
        let rest = lower[at + word.len()..].trim_start();
        let other = [
            "disk",
            "drive",
            "cache",
            "buffer",
            "bandwidth",
            "speed",
            "limit",
            "usage",
            "card",
        ]
        .iter()
        .any(|other| rest.starts_with(other))
            || [
                "video", "graphics", "gpu", "flash", "shared", "swap", "cache",
            ]
            .iter()
            .any(|other| lower[..at].trim_end().ends_with(other));
        if !bounded || other {
            continue;
        }
        // "RAM: 7.6Gi" behind it, "16 GB of RAM" in front of it, on the same line
        let behind = lower[at + word.len()..]
            .lines()
            .next()
            .unwrap_or("")
            .trim_start_matches([':', ' ', '\t', '=', '(', '|', '*']);
        let found = size_at(behind).or_else(|| {
            let front = lower[..at]
                .lines()
                .next_back()
                .unwrap_or("")
                .trim_end()
                .trim_end_matches("of");
            let mut words: Vec<&str> = front
                .rsplit(char::is_whitespace)
                .filter(|word| !word.is_empty())
                .take(3)
                .collect();
            words.reverse();
            // the size is the last word or the last two: "16gb", "16 gb", "16 gb ddr4"
            (1..=3)
                .rev()
                .filter(|n| *n <= words.len())
                .find_map(|n| size_at(words[words.len() - n..].join(" ").trim_start_matches('(')))
        });
        best = best.max(found);
    }
    best
}

/// A number with a binary unit at the head of `text`.
fn size_at(text: &str) -> Option<Bytes> {
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim_start();
    let power = match unit.as_bytes().first()? {
        b'k' => 10,
        b'm' => 20,
        b'g' => 30,
        b't' => 40,
        _ => return None,
    };
    let rest = unit[1..].trim_start_matches(['i', 'b']);
    (!rest.starts_with(|c: char| c.is_alphanumeric()))
        .then(|| Bytes::at_most(number * f64::from(1u32 << (power - 10)) * 1024.0))
        .flatten()
}

/// A file smaller than the memory that the text names, read or written through the page cache.
pub fn fits_in_memory(
    measurement: &Measurement,
    dd: &Dd,
    around: Around<'_>,
) -> Option<Diagnostic> {
    let bytes = measurement.bytes.as_ref()?.lo();
    let memory = memory(around.labels, around.nearby)?;
    let cached = match around.direction? {
        Direction::Read => {
            !Dd::has(&dd.iflag, "direct")
                && dd.input.as_deref().is_some_and(|input| !is_device(input))
        }
        Direction::Write => {
            !flushes(dd)
                && dd
                    .output
                    .as_deref()
                    .is_some_and(|output| !is_device(output))
        }
        _ => false,
    };
    (cached && bytes < memory).then(|| {
        Diagnostic::warning(
            Code::FITS_IN_MEMORY,
            measurement.bytes.as_ref().and_then(Reading::span),
            format!("{} bytes fit into the {:.1} GiB of memory that the text names, and nothing went around the page cache", bytes.0, memory.0 as f64 / f64::from(1 << 30)),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;

    fn measured(bytes: u64, rate: f64) -> Measurement {
        Measurement {
            bytes: Some(Reading::exactly(Bytes(bytes))),
            bytes_per_sec: BytesPerSec::new(rate).map(Reading::exactly),
            ..Measurement::default()
        }
    }

    fn dd(input: &str, output: &str) -> Dd {
        Dd {
            input: Some(input.to_owned()),
            output: Some(output.to_owned()),
            ..Dd::default()
        }
    }

    #[test]
    fn links_are_told_by_their_names() {
        for (label, most) in [
            ("internal SATA Samsung 860 EVO SSD", Some(600e6)),
            ("850 EVO SATA SSD connected via USB 2.0", Some(60e6)),
            ("iMac with a USB 3 5 Gb/s connection", Some(500e6)),
            ("the USB 3.1 Gen 2 which provides 10 Gb/s", Some(1212e6)),
            ("SATA II disk", Some(300e6)),
            ("Samsung 980 PRO", None),
            ("a USB drive", None),
            ("Kasatahara", None),
        ] {
            assert_eq!(
                link_named(label).map(|(_, most)| most.get()),
                most,
                "{label}"
            );
        }
        // 10 GiB in 6.01736 s on a SATA disk: 1784 MB/s
        let fast = above_link(
            &measured(10 << 30, 1_784_406_823.0),
            &["internal SATA Samsung 860 EVO SSD"],
        )
        .unwrap();
        assert_eq!(fast.code, Code::ABOVE_LINK);
        assert!(
            fast.message.contains("1784 MB/s") && fast.message.contains("600 MB/s"),
            "{}",
            fast.message
        );
        assert_eq!(above_link(&measured(10 << 30, 599e6), &["SATA"]), None);
    }

    #[test]
    fn a_flush_or_a_device_is_no_cache() {
        let fast = measured(1 << 30, 1.9e9);
        let mut plain = dd("/dev/zero", "test");
        assert!(no_flush(&fast, &plain, Some(Direction::Write)).is_some());
        assert!(no_flush(&measured(1 << 30, 0.9e9), &plain, Some(Direction::Write)).is_none());
        assert!(
            no_flush(
                &fast,
                &dd("/dev/zero", "/dev/nvme0n1"),
                Some(Direction::Write)
            )
            .is_none()
        );
        plain.oflag.push("dsync".to_owned());
        assert!(no_flush(&fast, &plain, Some(Direction::Write)).is_none());
    }

    #[test]
    fn zeros_on_zfs() {
        let around = |labels| Around {
            labels,
            ..Around::default()
        };
        let m = measured(1 << 30, 1e8);
        assert!(
            compressible(
                &m,
                &dd("/dev/zero", "t"),
                around(&["Linux server with its 8x6TB ZFS"])
            )
            .is_some()
        );
        assert!(compressible(&m, &dd("/dev/urandom", "t"), around(&["ZFS"])).is_none());
        assert!(compressible(&m, &dd("/dev/zero", "t"), around(&["ext4"])).is_none());
    }

    #[test]
    fn memory_sizes() {
        let gib = |n: f64| Bytes::at_most(n * f64::from(1 << 30));
        for (text, size) in [
            ("a box with 16 GB of RAM", gib(16.0)),
            ("32GB RAM, SSD", gib(32.0)),
            ("RAM:          7.6Gi", gib(7.6)),
            (
                " Total Mem             : 3936 MB (146 MB Used)",
                Some(Bytes(3936 << 20)),
            ),
            ("64 GB DDR4 memory", gib(64.0)),
            ("MemTotal:       16316412 kB", Some(Bytes(16_316_412 << 10))),
            ("a 4 GB RAM disk", None),
            ("| RAM | 16 GiB |", gib(16.0)),
            ("ram", None),
            ("program 5 GB", None),
            ("größer als 8 GB RAM", gib(8.0)),
        ] {
            assert_eq!(memory_named(text), size, "{text}");
        }
        let around = Around {
            direction: Some(Direction::Read),
            nearby: &["16 GB RAM", "in a rack"],
            ..Around::default()
        };
        assert!(
            fits_in_memory(&measured(1 << 30, 1e9), &dd("file", "/dev/null"), around).is_some()
        );
        assert!(
            fits_in_memory(&measured(17 << 30, 1e9), &dd("file", "/dev/null"), around).is_none()
        );
        assert!(
            fits_in_memory(
                &measured(1 << 30, 1e9),
                &dd("/dev/sda", "/dev/null"),
                around
            )
            .is_none()
        );
    }

    #[test]
    fn compression_is_doubted_only_where_it_is_named() {
        for (labels, nearby, found) in [
            (&[][..], &["The pool runs ZFS."][..], Some("zfs")),
            (&[], &["/home is btrfs. /data is ext4."], None),
            (&["btrfs"], &["/data is ext4."], Some("btrfs")),
            (&[], &["Compression is off."], None),
            (
                &[],
                &["There is no dedup here. It runs on zfs."],
                Some("zfs"),
            ),
            (&[], &["mounted with compress=zstd"], Some("compress")),
            (&[], &["an incompressible file"], None),
        ] {
            assert_eq!(compressing(labels, nearby), found, "{labels:?} {nearby:?}");
        }
    }

    #[test]
    fn of_several_memories_the_smallest_counts() {
        assert_eq!(
            memory(&["64 GB RAM"], &["a guest with 4 GB of RAM", "nothing"]),
            Some(Bytes(4 << 30))
        );
        assert_eq!(memory(&[], &["nothing"]), None);
    }
}
