//! What fio says of the disks below its files, in text and in JSON.
//!
//! ```text
//! line  = name ": ios=" pair [", sectors=" pair] ", merge=" pair ", ticks=" pair ", in_queue=" number ", util=" percent "%" …
//! pair  = number "/" number                 reads, writes
//! ```
//!
//! ```text
//!   vda: ios=774/308, merge=0/0, ticks=168/48, in_queue=216, util=10.88%
//! ```
//!
//! What a disk that is made of others sums up of them (`aggrios=` and so on) is left out.

use super::Assembler;
use super::machine::count;
use crate::block::fio_json::{DISK_KEYS, Disk};
use crate::figure::Figure;
use crate::figure::decimal::Decimal;
use crate::reading::Reading;
use crate::record::{Dialect, DiskStats};
use crate::source::{Log, Span};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// One disk, its figures in the order of [`DISK_KEYS`].
fn stats(log: &Log<'_>, name: &str, figures: [Option<&str>; DISK_KEYS.len()]) -> DiskStats {
    let [
        read_ios,
        write_ios,
        read_merges,
        write_merges,
        read_ticks,
        write_ticks,
        in_queue,
        util,
    ] = figures;
    let percent = |text: &str| {
        let span = log.span_of(text);
        Reading::decimal(Figure { text, span }, Decimal::Rounded, 1.0).ok()
    };
    DiskStats {
        name: name.to_owned(),
        read_ios: count(read_ios),
        write_ios: count(write_ios),
        read_merges: count(read_merges),
        write_merges: count(write_merges),
        read_ticks_ms: count(read_ticks),
        write_ticks_ms: count(write_ticks),
        in_queue_ms: count(in_queue),
        util_percent: util.and_then(percent),
    }
}

/// The disks of a JSON document.
pub(super) fn of_document(log: &Log<'_>, disks: &[Disk<'_>]) -> Vec<DiskStats> {
    let named = disks.iter().filter_map(|disk| Some((disk.name?, disk)));
    named
        .map(|(name, disk)| stats(log, name, disk.figures))
        .collect()
}

/// The disk of a line, unless it has another form.
fn of_line(log: &Log<'_>, line: &str) -> Option<DiskStats> {
    static IOS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(": ios="));
    let at = IOS.find(line.as_bytes())?;
    let name = line[..at].trim_start_matches([' ', '\t', '>', '|']);
    let mut figures = [None; DISK_KEYS.len()];
    for field in line[at + 2..].split(',') {
        let Some((key, value)) = field.trim().split_once('=') else {
            continue;
        };
        let place = match key {
            "ios" => 0,
            "merge" => 2,
            "ticks" => 4,
            "in_queue" => 6,
            "util" => 7,
            _ => continue,
        };
        match value.split_once('/') {
            Some((read, write)) if place < 6 => {
                figures[place] = Some(read);
                figures[place + 1] = Some(write);
            }
            None if place >= 6 => figures[place] = Some(value.trim_end_matches('%')),
            _ => {}
        }
    }
    (!name.is_empty()).then(|| stats(log, name, figures))
}

impl Assembler<'_, '_> {
    /// Gives lines about disks to the last group above them.
    pub(super) fn disks(&mut self, span: Span) {
        let log = self.log;
        let mut disks = Vec::new();
        for disk in log.get(span).lines().filter_map(|line| of_line(log, line)) {
            // they are large, and most machines have one
            disks.reserve_exact(1);
            disks.push(disk);
        }
        let Some(last) = self.parsed.records.last() else {
            return;
        };
        let (run, group, dialect) = (last.run, last.scope.group, last.source.dialect);
        if disks.is_empty() || dialect != Dialect::FioGroup {
            return;
        }
        // a group has four directions at most
        for record in self.parsed.records.iter_mut().rev().take(4) {
            let same =
                (record.run, record.scope.group, record.source.dialect) == (run, group, dialect);
            if !same {
                break;
            }
            record
                .details
                .get_or_insert_default()
                .disks
                .extend_from_slice(&disks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_versions_are_read() {
        let text = "> cciss!c0d0: ios=798/24542244, merge=0/937067, ticks=15866/140262853, in_queue=140448875, util=89.71%\n  dm-0: ios=1/2, sectors=8/16, merge=3/4, ticks=5/6, in_queue=7, util=1.00%, aggrios=9/9, aggrutil=9.99%\n  sda: ios=1";
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let read: Vec<_> = log
            .text()
            .lines()
            .filter_map(|line| of_line(&log, line))
            .collect();
        assert_eq!(read[0].name, "cciss!c0d0");
        assert_eq!(read[0].write_ticks_ms, Some(140_262_853));
        let util = read[0].util_percent.as_ref().unwrap();
        assert_eq!(
            (util.printed()[0].text.as_str(), util.value()),
            ("89.71", 89.71)
        );
        let counts = |disk: &DiskStats| {
            [
                disk.read_ios,
                disk.write_ios,
                disk.read_merges,
                disk.write_merges,
                disk.read_ticks_ms,
                disk.write_ticks_ms,
                disk.in_queue_ms,
            ]
        };
        assert_eq!(counts(&read[1]), [1, 2, 3, 4, 5, 6, 7].map(Some));
        assert_eq!(counts(&read[2]), [None; 7]);
    }
}
