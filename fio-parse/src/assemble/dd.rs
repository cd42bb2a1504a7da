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
pub mod figures;
pub mod kind;
pub mod plausible;

use crate::block::dd::DdBlock;
use crate::block::dd::transfer::{self, Transfer};
use crate::block::time::TimeBlock;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::figure::Figure;
use crate::interval::Possible;
use crate::reading::Reading;
use crate::record::{JobError, Measurement, Records, WallCovers};
use crate::source::Span;
use crate::unit::Bytes;
use crate::workload::{Dd, Timed, Workload};

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
        interrupted: block.unfinished || block.status || block.stopped,
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
    report.implementation = kind.name().or_else(|| workload.and_then(kind::of_command));
    match &block.transfer {
        Some(transfer) => {
            figures::decode(&mut report, transfer, kind, block.records_out.is_some());
        }
        None => from_records(&mut report, block, workload),
    }
    check::against_command(&mut report, block, workload);
    report
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
    // a block of sg_dd's records is that of the device, whatever `bs` says
    let counts = |w: &&Workload| kind::of_command(w) != Some("sg_dd");
    let Some(dd) = workload
        .filter(|w| w.missing.is_empty())
        .filter(counts)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block;
    use crate::source::Log;
    use crate::workload::command::parse_command;
    use proptest::prelude::*;

    /// The report of the first dd block of `text`, read under `command`.
    fn read(text: &str, command: Option<&str>) -> Report {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let block = block::dd::read(&log, &mut log.segments()).unwrap_or_else(|| panic!("{text}"));
        let workload = command.map(|command| parse_command(command).unwrap());
        report(&block, workload.as_ref())
    }

    /// Bytes, the ends of the seconds, the ends of the rate.
    fn figures(report: &Report) -> (u64, [f64; 2], [f64; 2]) {
        let m = &report.measurement;
        let seconds = m
            .runtime_ns
            .as_ref()
            .map_or([0.0; 2], |t| [t.lo().get() / 1e9, t.hi().get() / 1e9]);
        let rate = m
            .bytes_per_sec
            .as_ref()
            .map_or([0.0; 2], |r| [r.lo().get(), r.hi().get()]);
        (m.bytes.as_ref().map_or(0, |b| b.lo().0), seconds, rate)
    }

    fn codes(report: &Report) -> Vec<&str> {
        report.warnings.iter().map(|w| w.code.as_str()).collect()
    }

    #[test]
    fn the_more_precise_figure_decides() {
        // text, kind, bytes, seconds and rate within these ends
        for (text, kind, bytes, seconds, rate) in [
            // bytes over six digits of seconds: 312132436 and a little to both sides
            (
                "10737418240 bytes (11 GB, 10 GiB) copied, 34.4002 s, 312 MB/s",
                "gnu",
                10_737_418_240,
                [34.40015, 34.40025],
                [312_131_982.0, 312_132_890.0],
            ),
            (
                "1073741824 bytes (1.1 GB) copied, 15.2301 seconds, 70.5 MB/s",
                "gnu",
                1 << 30,
                [15.23005, 15.23015],
                [70_501_066.9, 70_501_529.8],
            ),
            // the printed rate: an integer, rounded or cut
            (
                "10737418240 bytes transferred in 6.449485 secs (1664848920 bytes/sec)",
                "bsd",
                10_737_418_240,
                [6.4494845, 6.4494855],
                [1_664_848_919.5, 1_664_848_921.0],
            ),
            (
                "2147483648 bytes transferred in 119.140681 seconds (18024772 bytes/sec)",
                "gnu",
                1 << 31,
                [119.140_680_5, 119.140_681_5],
                [18_024_771.5, 18_024_773.0],
            ),
            // three decimals, cut
            (
                "1951432704 bytes transferred in 139.125 secs (14026448 bytes/sec)",
                "openbsd",
                1_951_432_704,
                [139.125, 139.126],
                [14_026_447.5, 14_026_449.0],
            ),
            (
                "1951432704 bytes transferred in 139.125 secs (14026470 bytes/sec)",
                "netbsd",
                1_951_432_704,
                [139.125, 139.126],
                [14_026_469.5, 14_026_471.0],
            ),
            (
                "10485760 bytes (10.0MB) copied, 22.394903 seconds, 457.2KB/s",
                "busybox",
                10 << 20,
                [22.394_902_5, 22.394_903_5],
                [468_220.9, 468_221.0],
            ),
            // by 1024: 471 M is 493.9 MB
            (
                "67108864 bytes (64 M) copied, 0.136 s, 471 M/s",
                "toybox",
                64 << 20,
                [0.1355, 0.1365],
                [493_355_008.0, 494_403_584.0],
            ),
            (
                "67108864 bytes (67 MB, 64 MiB) copied, 0.1 s, 678 MB/s",
                "uutils",
                64 << 20,
                [0.05, 0.15],
                [677.5e6, 678.5e6],
            ),
            (
                "67108864 bytes (67 MB, 64 MiB) copied, 0.0 s, 22 GB/s",
                "uutils",
                64 << 20,
                [0.0, 0.05],
                [21.5e9, 22.5e9],
            ),
            (
                "999 bytes copied, 0.00014107 s, 999 kB/s",
                "uutils",
                999,
                [0.000_141_069_5, 0.000_141_070_5],
                [7_081_565.6, 7_081_615.8],
            ),
            (
                "536870912 Bytes (537 MB, 512 MiB) kopiert, 1,73096 s, 310 MB/s",
                "gnu",
                512 << 20,
                [1.730_955, 1.730_965],
                [310_157_000.0, 310_158_800.0],
            ),
            (
                "1 byte copied, 9.6504e-05 s, 10.4 kB/s",
                "gnu",
                1,
                [9.650_395e-5, 9.650_405e-5],
                [10_362.259, 10_362.27],
            ),
        ] {
            let report = read(text, None);
            let (found, times, rates) = figures(&report);
            assert_eq!(
                (found, report.implementation),
                (bytes, Some(kind)),
                "{text}"
            );
            for (found, wanted) in times.iter().zip(seconds).chain(rates.iter().zip(rate)) {
                assert!(
                    (found - wanted).abs() <= 2e-6 * wanted.abs() + 1e-12,
                    "{text}: {times:?} {rates:?}"
                );
            }
            assert!(!codes(&report).contains(&"disagree"), "{text}");
        }
    }

    #[test]
    fn whole_milliseconds_are_named() {
        assert_eq!(
            codes(&read(
                "67108864 bytes (67 MB, 64 MiB) copied, 0.0 s, 22 GB/s",
                None
            )),
            ["whole-milliseconds"]
        );
        assert_eq!(
            codes(&read(
                "67108864 bytes (67 MB, 64 MiB) copied, 0.500001 s, 134 MB/s",
                None
            )),
            [""; 0]
        );
    }

    #[test]
    fn groups_are_one_number_if_the_sizes_say_so() {
        for (text, bytes) in [
            (
                "16 777 216 bajtů (17 MB, 16 MiB) zkopírováno, 0,0630719 s, 266 MB/s",
                16_777_216,
            ),
            (
                "16.777.216 bytes (17 MB, 16 MiB) copied, 0.0630719 s, 266 MB/s",
                16_777_216,
            ),
            // "run 2", then 536 bytes: no group
            (
                "2 536870912 bytes (537 MB, 512 MiB) copied, 1.73096 s, 310 MB/s",
                536_870_912,
            ),
        ] {
            assert_eq!(figures(&read(text, None)).0, bytes, "{text}");
        }
        assert_eq!(
            codes(&read("1000000 bytes (5.0 MB) copied, 1 s, 1.0 MB/s", None)),
            ["disagree"]
        );
    }

    #[test]
    fn sizes_that_agree_with_each_other_are_held_against_the_count() {
        // the sizes are those of the last seven digits, so they may be wrong or the count may
        let grouped = "1 073 741 824 bytes (74 MB, 70 MiB) copied, 2 s, 37 MB/s";
        assert_eq!(codes(&read(grouped, None)), ["disagree"]);
        // uutils by its one decimal of seconds: 67 MB and 64 MiB would be right
        let uutils = "67108864 bytes (99 MB, 96 MiB) copied, 0.5 s, 134 MB/s";
        assert_eq!(codes(&read(uutils, None)), ["disagree"]);
    }

    #[test]
    fn bytes_are_held_against_records() {
        let report = |records: &str, bytes: u64| {
            format!(
                "{records} records in\n{records} records out\n{bytes} bytes copied, 2.00001 s, {:.0} kB/s\n",
                bytes as f64 / 2000.0
            )
        };
        let command = Some("dd if=a of=b bs=1000");
        for (records, bytes, command, found) in [
            ("100+0", 100_000, command, 0),
            ("100+0", 100_000, None, 0),
            // the rest of the file is less than a block
            ("100+1", 100_999, command, 0),
            ("100+1", 101_001, command, 1),
            ("99+0", 100_000, command, 1),
            // 100000 is no multiple of 99
            ("99+0", 100_000, None, 1),
            ("99+1", 100_000, None, 0),
            // two megabytes by the command, one by the report: another block size, or another command
            ("100+0", 200_000, command, 1),
            ("100+0", 200_000, Some("dd if=a of=b bs=1000 conv=sync"), 0),
            ("100+0", 200_000, Some("dd if=a of=b bs=$size"), 0),
        ] {
            let text = report(records, bytes);
            let shown = read(&text, command);
            let disagree = codes(&shown)
                .iter()
                .filter(|code| **code == "disagree")
                .count();
            assert_eq!(disagree, found, "{text} {command:?}");
        }
    }

    #[test]
    fn a_contradiction_is_kept_and_named() {
        let report = read(
            "1073741824 bytes (1.1 GB) copied, 15.2301 s, 90.5 MB/s",
            None,
        );
        assert_eq!(codes(&report), ["disagree"]);
        let rate = report.measurement.bytes_per_sec.unwrap();
        assert_eq!(rate.possible().parts().len(), 2);
        assert!(rate.lo().get() < 70.6e6 && rate.hi().get() > 90.5e6);
    }

    #[test]
    fn no_time_gives_no_rate() {
        let report = read(
            "4096 bytes (4.1 kB, 4.0 KiB) copied, 0 s, Infinity B/s",
            None,
        );
        assert_eq!(report.measurement.bytes_per_sec, None);
        assert_eq!(report.measurement.bytes.unwrap().lo(), Bytes(4096));
        let report = read(
            "33554432 bytes ( 32 M ) copied ( 100% ),    0 s, 159 M/s",
            None,
        );
        assert_eq!(
            (report.implementation, report.measurement.runtime_ns),
            (Some("dc3dd"), None)
        );
    }

    #[test]
    fn records_stand_in_for_bytes() {
        let text = "64+0 records in\n64+0 records out\n";
        let counted = read(text, Some("dd if=/dev/zero of=t bs=1M count=64"));
        assert_eq!(
            (figures(&counted).0, codes(&counted)),
            (64 << 20, vec!["bytes-from-records"])
        );
        assert_eq!(
            figures(&read(text, Some("dd if=/dev/mtd0 of=t"))).0,
            64 * 512
        );
        // a variable, a block that was not full, no command
        assert_eq!(
            read(text, Some("dd if=/dev/zero of=t bs=$bs count=64"))
                .measurement
                .bytes,
            None
        );
        assert_eq!(
            read(
                "22+1 records in\n22+1 records out\n",
                Some("dd if=t of=u bs=1M")
            )
            .measurement
            .bytes,
            None
        );
        assert_eq!(read(text, None).measurement.bytes, None);
    }

    #[test]
    fn what_was_asked_is_compared() {
        let short = "0+1 records in\n0+1 records out\n2147479552 bytes (2.1 GB, 2.0 GiB) copied, 4.78863 s, 448 MB/s";
        assert_eq!(
            codes(&read(
                short,
                Some("dd if=/dev/zero of=/dev/null bs=2G count=1")
            )),
            ["count-differs"]
        );
        let pipe = "0+128 records in\n0+128 records out\n8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.00644813 s, 1.3 GB/s";
        assert_eq!(
            codes(&read(pipe, Some("dd of=/dev/null bs=1M"))),
            ["partial-records"]
        );
    }

    #[test]
    fn errors_have_their_number() {
        let report = read(
            "dd: error writing 'x': No space left on device\n1+0 records in\n0+0 records out\n0 bytes copied, 0.00243294 s, 0.0 kB/s",
            None,
        );
        assert_eq!(report.errors[0].code, Some(28));
        assert_eq!(
            report.errors[0].text,
            "dd: error writing 'x': No space left on device"
        );
        assert_eq!(figures(&report).0, 0);
    }

    #[test]
    fn a_time_in_another_unit_is_no_seconds() {
        let seconds = ["s", "Sek.", "seconds", "с"];
        let others = ["ms", "usec", "min", "Min.", "hours"];
        let seconds = seconds.map(|unit| (unit, true));
        for (unit, taken) in seconds.into_iter().chain(others.map(|unit| (unit, false))) {
            let text = format!("1048576 bytes (1.0 MB, 1.0 MiB) copied, 5.12345 {unit}, 205 kB/s");
            let report = read(&text, None);
            assert_eq!(report.measurement.runtime_ns.is_some(), taken, "{unit}");
            let warned = report
                .warnings
                .iter()
                .any(|w| w.message.contains("the time was left out"));
            assert_eq!(warned, !taken, "{unit}");
        }
    }

    #[test]
    fn a_state_gives_way_to_the_end() {
        let block = |bytes: u64, seconds: &str| {
            format!(
                "1+0 records in\n1+0 records out\n{bytes} bytes (1 GB) copied, {seconds} s, 1 MB/s\n"
            )
        };
        let text = block(1000, "1.5") + &block(2000, "3.5");
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let (first, second) = (
            block::dd::read(&log, &mut lines).unwrap(),
            block::dd::read(&log, &mut lines).unwrap(),
        );
        for (command, wanted) in [
            (Some("dd if=/dev/sda of=/dev/null bs=1000"), true),
            (Some("dd if=/dev/sda of=/dev/null bs=1000 count=2"), true),
            // the first had all it was asked for: these are two runs
            (Some("dd if=/dev/sda of=/dev/null bs=1000 count=1"), false),
            // the second has more than that: they can't be of this command
            (Some("dd if=/dev/sda of=/dev/null bs=500 count=3"), false),
            (Some("dd if=/dev/sda of=/dev/null bs=$b"), false),
            (None, false),
        ] {
            let workload = command.map(|command| parse_command(command).unwrap());
            assert_eq!(
                supersedes(&second, &first, workload.as_ref()),
                wanted,
                "{command:?}"
            );
            assert!(!supersedes(&first, &second, workload.as_ref()));
        }
    }

    proptest! {
        /// Whatever GNU dd measured lies in what is read from what it prints.
        #[test]
        fn gnu_is_read_back(bytes in 1000u64..1 << 44, nanos in 100_000u64..1_000_000_000_000) {
            let seconds = nanos as f64 / 1e9;
            let rate = bytes as f64 / seconds;
            // dd's own printers: %g with six digits; sizes and rates by 1000 with one decimal below 10 or below 100
            let scientific = format!("{seconds:.5e}");
            let power: i32 = scientific.split_once('e').unwrap().1.parse().unwrap();
            let shown = format!("{seconds:.*}", (5 - power).max(0) as usize);
            let shown = if shown.contains('.') { shown.trim_end_matches('0').trim_end_matches('.') } else { &shown };
            let scaled = |value: f64, below: f64| {
                let (mut value, mut unit) = (value, 0);
                while value >= 999.5 && unit < 5 { value /= 1000.0; unit += 1; }
                let unit = ["B", "kB", "MB", "GB", "TB", "PB"][unit];
                if value < below - 0.05 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
            };
            prop_assume!(rate >= 1000.0);
            let text = format!("{bytes} bytes ({}) copied, {shown} s, {}/s", scaled(bytes as f64, 10.0), scaled(rate, 100.0));
            let report = read(&text, None);
            let m = &report.measurement;
            prop_assert_eq!(m.bytes.as_ref().unwrap().lo(), Bytes(bytes));
            prop_assert!(m.runtime_ns.as_ref().unwrap().possible().contains(crate::unit::Nanos::new(seconds * 1e9).unwrap()), "{}", text);
            prop_assert!(m.bytes_per_sec.as_ref().unwrap().possible().contains(crate::unit::BytesPerSec::new(rate).unwrap()), "{} {:?}", text, m.bytes_per_sec);
            prop_assert!(!codes(&report).contains(&"disagree"), "{}: {:?}", text, report.warnings);
        }
    }
}
