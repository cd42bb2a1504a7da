//! A group status to measurements: one a line.
//!
//! A group's bandwidth is the sum of its jobs' bytes over the longest run, `min` and `max` are its slowest and its
//! fastest job. What is known to be printed wrongly, and how it is read:
//!
//! | versions | figure | printed as | is |
//! |---|---|---|---|
//! | to 1.25.1 | all bandwidths | `KiB/s` | bytes per millisecond, that is kB/s |
//! | 1.32 to 2.0.6 | `minb`, `maxb` | `KB/s` | bytes per millisecond, that is kB/s |
//!
//! To 2.16 a group counts whole KiB: `io` drops up to 1 KiB for each job, and `aggrb` is cut to whole KiB/s.

use super::{fio_check, fio_legacy, fio_pair};
use crate::block::fio_group::{FioGroup, GroupLine, Pair};
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Look, Version};
use crate::figure::Figure;
use crate::interval::Possible;
use crate::reading::Reading;
use crate::record::{Direction, Measurement};
use crate::source::Span;
use crate::unit::{Bytes, BytesPerSec, Quantity};

/// One direction of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMeasurement {
    /// Which way bytes went.
    pub direction: Direction,
    /// Where the line stands.
    pub span: Span,
    /// The readings.
    pub measurement: Measurement,
    /// What is odd about them.
    pub warnings: Vec<Diagnostic>,
}

/// The measurements of a group status that a fio of `era` printed, in the order of its lines.
pub fn measurements(block: &FioGroup<'_>, era: Era) -> Vec<GroupMeasurement> {
    let era = match block.lines.first() {
        Some(line) if line.legacy => era.seen(Look::Legacy),
        _ => era.seen(Look::Modern),
    };
    let decode = |era| block.lines.iter().map(|line| decode(line, era)).collect();
    let mut settled =
        fio_pair::settled(era, decode, |one: &mut GroupMeasurement| &mut one.warnings);
    for one in &mut settled.results {
        one.warnings.extend(settled.note.clone());
    }
    settled.results
}

fn decode(line: &GroupLine<'_>, era: Era) -> GroupMeasurement {
    let mut warnings = Vec::new();
    let measurement = if line.legacy {
        legacy(line, era.seen(Look::Legacy), &mut warnings)
    } else {
        modern(line, era.seen(Look::Modern), &mut warnings)
    };
    warnings.extend(fio_check::extremes(&measurement, line.span));
    GroupMeasurement {
        direction: line.direction,
        span: line.span,
        measurement,
        warnings,
    }
}

fn modern(line: &GroupLine<'_>, era: Era, warnings: &mut Vec<Diagnostic>) -> Measurement {
    let sizes = era.sizes();
    let runtime = fio_pair::runtime(line.run_max, warnings);
    let shortest = fio_pair::runtime(line.run_min, warnings);
    let mut measurement = Measurement {
        bytes_per_sec: fio_pair::read(&line.bw, sizes, warnings),
        ..Measurement::default()
    };
    // the extremes mostly repeat the sum: neither decoded nor warned of again
    let same =
        |a: Option<Figure<'_>>, b: Option<Figure<'_>>| a.map(|f| f.text) == b.map(|f| f.text);
    let repeats =
        |pair: &Pair<'_>| same(pair.first, line.bw.first) && same(pair.second, line.bw.second);
    if repeats(&line.bw_min) && repeats(&line.bw_max) {
        let again = |pair: &Pair<'_>| {
            let sum = measurement.bytes_per_sec.as_ref()?;
            Some(sum.printed_again([pair.first, pair.second]))
        };
        let extremes = (again(&line.bw_min), again(&line.bw_max));
        (measurement.bytes_per_sec_min, measurement.bytes_per_sec_max) = extremes;
    } else {
        measurement.bytes_per_sec_min = fio_pair::read(&line.bw_min, sizes, warnings);
        measurement.bytes_per_sec_max = fio_pair::read(&line.bw_max, sizes, warnings);
    }
    measurement.bytes = fio_pair::read(&line.io, sizes, warnings);
    measurement.runtime_ns_min = shortest.filter(|shortest| {
        runtime
            .as_ref()
            .is_some_and(|longest| shortest.lo() != longest.lo())
    });
    measurement.runtime_ns = runtime;
    // reads and writes added up need not have run for the same time
    if line.direction != Direction::Mixed {
        fio_check::settle(&mut measurement, 0.0, warnings);
        warnings.extend(fio_check::rate(&measurement, 0.0, line.span));
    }
    measurement
}

/// Slowest and fastest job in bytes per millisecond: these versions, the latter not included.
const DECIMAL_EXTREMES: (Version, Version) =
    (Version::release(1, 32, 0), Version::release(2, 0, 7));

fn legacy(line: &GroupLine<'_>, era: Era, warnings: &mut Vec<Diagnostic>) -> Measurement {
    let runtime = fio_pair::runtime(line.run_max, warnings);
    let shortest = fio_pair::runtime(line.run_min, warnings);
    let meanings = fio_legacy::meanings(
        &era,
        line.io.first,
        line.bw.first,
        runtime.as_ref().map(|r| r.lo()),
    );
    let mut measurement = Measurement::default();
    if let Some(io) = line.io.first {
        measurement.bytes = fio_legacy::size(&io, &meanings, &era)
            .and_then(|possible| whole_kib(&possible))
            .map(|possible| Reading::of(possible, io));
        if measurement.bytes.is_none() {
            // says what is wrong with the figure
            let _: Option<Possible<Bytes>> = fio_pair::figure(&io, era.sizes(), warnings);
        }
    }
    if let Some(bw) = line.bw.first {
        measurement.bytes_per_sec = fio_legacy::rate(&bw, &meanings, &era)
            .and_then(|possible| whole_kib(&possible))
            .map(|possible| Reading::of(possible, bw));
        if measurement.bytes_per_sec.is_none() {
            let _: Option<Possible<BytesPerSec>> = fio_pair::figure(&bw, era.sizes(), warnings);
        }
        if meanings.iter().all(|meaning| meaning.decimal_rates) {
            warnings.push(Diagnostic::warning(
                Code::LABEL_WRONG,
                Some(bw.span),
                format!("{} is bytes per millisecond: fio to 1.25.1 printed kB/s under the label KiB/s, and was read so", bw.text),
            ));
        }
    }
    // the slowest job is no faster than all together, so then its rate is in the smaller unit
    let is_above = |pair: &Pair<'_>| {
        let rate = |figure: Option<Figure<'_>>| {
            let meaning = meanings.first().map(std::slice::from_ref)?;
            fio_legacy::rate(&figure?, meaning, &era)
        };
        rate(pair.first)
            .zip(rate(line.bw.first))
            .is_some_and(|(slowest, sum)| slowest.lo().get() > sum.hi().get() * 1.01)
    };
    let proven = is_above(&line.bw_min);
    let extreme = |pair: &Pair<'_>, warnings: &mut Vec<Diagnostic>| {
        let figure = pair.first?;
        let as_labelled = fio_legacy::rate(&figure, &meanings, &era)?;
        let (from, to) = DECIMAL_EXTREMES;
        let repeats = line.bw.first.is_some_and(|bw| bw.text == figure.text);
        let possible = if !era.may_be(from, to) || repeats {
            whole_kib(&as_labelled)?
        } else {
            let decimal = meanings
                .iter()
                .filter_map(|meaning| {
                    let possible = fio_legacy::rate(&figure, std::slice::from_ref(meaning), &era)?;
                    fio_legacy::decimal(&possible, meaning)
                })
                .reduce(Possible::or)?;
            if era.is_within(from, to) || proven {
                warnings.push(Diagnostic::warning(
                    Code::LABEL_WRONG,
                    Some(figure.span),
                    format!("{} is bytes per millisecond: fio 1.32 to 2.0.6 printed kB/s under the label KB/s, and was read so", figure.text),
                ));
                decimal
            } else {
                decimal.or(whole_kib(&as_labelled)?)
            }
        };
        Some(Reading::of(possible, figure))
    };
    measurement.bytes_per_sec_min = extreme(&line.bw_min, warnings);
    measurement.bytes_per_sec_max = extreme(&line.bw_max, warnings);
    if fio_legacy::base_is_open(&meanings) {
        warnings.push(Diagnostic::warning(
            Code::UNIT_GUESSED,
            line.io.first.map(|io| io.span),
            "K may be 1024 or, under kb_base=1000, 1000; figures stand for both",
        ));
    }
    measurement.runtime_ns_min = shortest.filter(|shortest| {
        runtime
            .as_ref()
            .is_some_and(|longest| shortest.lo() != longest.lo())
    });
    measurement.runtime_ns = runtime;
    if line.direction != Direction::Mixed {
        // the rate was computed from whole KiB of each job, and cut to whole KiB
        fio_check::settle(&mut measurement, 2048.0, warnings);
        warnings.extend(fio_check::rate(&measurement, 2048.0, line.span));
    }
    measurement
}

/// What may have been cut off from a figure that was counted in whole KiB.
fn whole_kib<Q: Quantity>(possible: &Possible<Q>) -> Option<Possible<Q>> {
    fio_pair::mapped(possible, |lo, hi| (lo, hi + 1023.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::fio_group;
    use crate::figure::fio::{self, Digits, FioPrinter};
    use crate::source::Log;
    use proptest::prelude::*;

    fn read(text: &str, era: Era) -> GroupMeasurement {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let block = fio_group::read(&log, &mut log.segments()).expect("a group line");
        let read = measurements(&block, era).remove(0);
        let m = &read.measurement;
        for printed in m
            .bytes_per_sec
            .iter()
            .flat_map(Reading::printed)
            .chain(m.bytes.iter().flat_map(Reading::printed))
        {
            assert_eq!(log.get(printed.span), printed.text);
        }
        read
    }

    fn version(text: &str) -> Era {
        Era::of(Version::read(text).unwrap().0)
    }

    fn codes(read: &GroupMeasurement) -> Vec<&str> {
        read.warnings.iter().map(|w| w.code.as_str()).collect()
    }

    const DELL: &str = "  WRITE: bw=695MiB/s (728MB/s), 695MiB/s-695MiB/s (728MB/s-728MB/s), io=58.6GiB (62.0GB), run=86443-86443msec";

    #[test]
    fn two_bases_are_one_reading() {
        let read = read(
            "  WRITE: bw=293MiB/s (307MB/s), 293MiB/s-293MiB/s (307MB/s-307MB/s), io=19.2GiB (20.6GB), run=67192-67192msec",
            Era::default(),
        );
        let bw = read.measurement.bytes_per_sec.as_ref().unwrap();
        // 292.5 MiB/s is 306708480; 307.5 MB/s is the first that prints as 308
        assert_eq!(
            (bw.lo().get(), bw.hi().get()),
            (306_708_480.0, 307_499_999.0)
        );
        assert_eq!(bw.printed().len(), 2);
        assert_eq!(
            read.measurement.runtime_ns.as_ref().unwrap().lo().get(),
            67_192e6
        );
        assert_eq!(codes(&read), [] as [&str; 0]);
    }

    #[test]
    fn a_lost_carry_is_noted() {
        let early = read(DELL, Era::default());
        let bytes = early.measurement.bytes.as_ref().unwrap();
        assert_eq!(
            (bytes.lo().0, bytes.hi().0),
            (62_951_000_000, 62_975_377_407)
        );
        assert_eq!(codes(&early), ["carry-lost"]);
        assert_eq!(
            early.warnings[0].message,
            "62.0GB was printed by a fio older than 3.26, which dropped a carry; read as 62.951 to 62.975 GB, narrowed by 58.6GiB"
        );
        // a fio that keeps the carry does not print these two together
        assert_eq!(codes(&read(DELL, version("fio-3.26"))), ["disagree"]);
    }

    #[test]
    fn bytes_that_lost_a_carry_are_told_by_rate_and_time() {
        // 2742000 B/s for 8.411 s are 23.06 MB; 22.0 MiB printed as 21.0
        let line = "  WRITE: bw=2678KiB/s (2742kB/s), 2678KiB/s-2678KiB/s (2742kB/s-2742kB/s), io=21.0MiB, run=8411-8411msec";
        let told = read(line, version("fio-3.1"));
        assert_eq!(codes(&told), ["settled"]);
        let bytes = told.measurement.bytes.unwrap();
        assert_eq!((bytes.lo().0, bytes.hi().0), (23_016_448, 23_068_671));
    }

    #[test]
    fn bytes_are_held_against_rate_and_time() {
        let wrong = DELL.replace("run=86443-86443", "run=60000-60000");
        let read = read(&wrong, version("fio-3.19"));
        assert_eq!(codes(&read), ["carry-lost", "disagree"]);
        assert!(
            read.warnings[1].message.contains("but 695MiB/s is printed"),
            "{}",
            read.warnings[1].message
        );
        assert_eq!(
            read.measurement.bytes_per_sec.as_ref().unwrap().printed()[0].text,
            "695MiB/s"
        );
    }

    #[test]
    fn digits_that_are_no_decimals_are_found_by_their_twin() {
        // 23.1 MiB/s are 24.2 MB/s, unless .1 and .9 are shortened remainders
        let line = "  WRITE: bw=23.1MiB/s (25.9MB/s), 23.1MiB/s-23.1MiB/s (25.9MB/s-25.9MB/s), io=5.66MiB (5.93MB), run=237-237msec";
        let early = read(line, Era::default());
        assert_eq!(codes(&early), ["version-assumed"]);
        let bw = early.measurement.bytes_per_sec.as_ref().unwrap();
        assert_eq!((bw.lo().get(), bw.hi().get()), (25_000_000.0, 25_165_823.0));
        // for a version that has decimals, the bases contradict each other, and bytes over time the first of them
        assert_eq!(
            codes(&read(line, version("fio-3.33"))),
            ["disagree", "disagree"]
        );
    }

    #[test]
    fn bits_are_read_as_bytes() {
        let read = read(
            "  WRITE: bw=80.0Mibit/s (83.9Mbit/s), 80.0Mibit/s-80.0Mibit/s (83.9Mbit/s-83.9Mbit/s), io=100MiB (105MB), run=10000-10000msec",
            version("fio-3.33"),
        );
        let bw = read.measurement.bytes_per_sec.as_ref().unwrap();
        assert!(
            bw.possible()
                .contains(BytesPerSec::new(10_485_760.0).unwrap())
        );
        assert!(bw.hi().get() / bw.lo().get() < 1.01);
        assert_eq!(codes(&read), [] as [&str; 0]);
    }

    #[test]
    fn old_figures_count_1024_where_time_and_rate_say_so() {
        // 10240 MB in 165.607 s are 63316.9 KiB/s, or 61832 kB/s
        let old = "  WRITE: io=10240MB, aggrb=63316KB/s, minb=63316KB/s, maxb=63316KB/s, mint=165607msec, maxt=165607msec";
        let decided = read(old, version("fio-2.1.11"));
        assert_eq!(codes(&decided), [] as [&str; 0]);
        let bw = decided.measurement.bytes_per_sec.as_ref().unwrap();
        assert!(
            bw.possible()
                .contains(BytesPerSec::new(10_737_418_240.0 / 165.607).unwrap())
        );
        assert_eq!(bw.possible().parts().len(), 1);
        // the same prefix everywhere says nothing
        let open = read(
            "  READ: io=22876KB, aggrb=185983KB/s, minb=185983KB/s, maxb=185983KB/s, mint=123msec, maxt=123msec",
            version("fio-2.1"),
        );
        assert_eq!(codes(&open), ["unit-guessed"]);
        assert_eq!(
            open.measurement
                .bytes
                .as_ref()
                .unwrap()
                .possible()
                .parts()
                .len(),
            2
        );
        // and where the option is known, nothing is to guess
        let era = version("fio-2.1").with_options(Some(1000), None);
        let told = read(
            "  READ: io=22876KB, aggrb=185983KB/s, minb=185983KB/s, maxb=185983KB/s, mint=123msec, maxt=123msec",
            era,
        );
        assert_eq!(codes(&told), [] as [&str; 0]);
        assert!(
            told.measurement
                .bytes
                .as_ref()
                .unwrap()
                .possible()
                .contains(Bytes(22_876_000))
        );
    }

    #[test]
    fn rates_in_bytes_per_millisecond_are_named() {
        // 4084 KiB in 88 ms are 47522 bytes/ms; 46409 KiB/s
        let first = read(
            "   READ: io=4084KiB, aggrb=47522KiB/s, minb=47522KiB/s, maxb=47522KiB/s, mint=88msec, maxt=88msec",
            Era::default(),
        );
        let truth = BytesPerSec::new(4084.0 * 1024.0 / 0.088).unwrap();
        assert!(
            first
                .measurement
                .bytes_per_sec
                .as_ref()
                .unwrap()
                .possible()
                .contains(truth)
        );
        assert_eq!(codes(&first), ["label-wrong"]);
        // fio 2.0 prints the sum in KiB/s and the extremes in kB/s; this is one job
        let line = "   READ: io=22876KB, aggrb=185983KB/s, minb=190447KB/s, maxb=190447KB/s, mint=123msec, maxt=123msec";
        let truth = BytesPerSec::new(22_876.0 * 1024.0 / 0.123).unwrap();
        for (era, wanted) in [
            (
                version("fio 2.0"),
                vec!["label-wrong", "label-wrong", "unit-guessed"],
            ),
            (
                Era::default(),
                vec!["label-wrong", "label-wrong", "unit-guessed"],
            ),
        ] {
            let read = read(line, era);
            assert_eq!(codes(&read), wanted);
            for rate in [
                &read.measurement.bytes_per_sec,
                &read.measurement.bytes_per_sec_min,
                &read.measurement.bytes_per_sec_max,
            ] {
                assert!(rate.as_ref().unwrap().possible().contains(truth));
            }
        }
    }

    proptest! {
        #[test]
        fn what_fio_would_print_is_read(
            bytes in 1u64..1 << 45, msec in 1u64..10_000_000, kept: bool,
        ) {
            let digits = if kept { Digits::CarryKept } else { Digits::CarryLost };
            let rate = (u128::from(bytes) * 1000 / u128::from(msec)) as u64;
            let print = |value, binary, unit: &str| fio::print(value, FioPrinter::modern(digits), binary, unit);
            let (bw, twin) = (print(rate, true, "B/s"), print(rate, false, "B/s"));
            let (io, io_twin) = (print(bytes, true, "B"), print(bytes, false, "B"));
            let line = format!("  READ: bw={bw} ({twin}), {bw}-{bw} ({twin}-{twin}), io={io} ({io_twin}), run={msec}-{msec}msec");
            let read = read(&line, Era::default());
            // what a figure that stands for several values is by the others of its line, may be said
            prop_assert!(codes(&read).iter().all(|code| ["carry-lost", "settled"].contains(code)), "{} {:?}", line, read.warnings);
            prop_assert!(read.measurement.bytes.unwrap().possible().contains(Bytes(bytes)));
            prop_assert!(read.measurement.bytes_per_sec.unwrap().possible().contains(BytesPerSec::new(rate as f64).unwrap()));
        }
    }
}
