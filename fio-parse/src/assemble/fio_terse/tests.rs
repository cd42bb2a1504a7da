//! Units by version and by length, from the figures of one line.

use super::*;
use crate::block::fio_terse;
use crate::reading::Reading;
use crate::unit::Quantity;

fn entries_of(text: &str, around: Around) -> (Vec<Entry>, Vec<Diagnostic>) {
    let log = Log::from_bytes("x", text.as_bytes()).unwrap();
    let block = fio_terse::read(&log, &mut log.segments()).expect("a terse line");
    entries(&log, &block.rows[0], around)
}

fn ends<Q: Quantity>(reading: &Option<Reading<Q>>) -> (f64, f64) {
    let reading = reading.as_ref().expect("a reading");
    (reading.lo().to_f64(), reading.hi().to_f64())
}

const TAIL: &str = "1.5%;2.5%;10;2;3;100.0%;0.0%;0.0%;0.0%;0.0%;0.0%;0.0%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%;0.00%";

/// A line of two sides with percentiles; the second moved nothing.
fn plain(head: &str, io: &str, slat: &str) -> String {
    let percentiles = |first: &str| format!("{first}{}", ";0%=0".repeat(19));
    format!(
        "{head};{io};{slat};47;8015;315.758328;724.259210;{};49;8020;320.500000;724.000000;10;20;50.00%;15.000000;1.000000;\
         0;0;0;0;0;0;0.000000;0.000000;0;0;0.000000;0.000000;{};0;0;0.000000;0.000000;0;0;0.00%;0.000000;0.000000;{TAIL}",
        percentiles("99.000000%=4192"),
        percentiles("99.000000%=0"),
    )
}

const NO_SLAT: &str = "0;0;0.000000;0.000000";
const SLAT: &str = "2;1175;4.373874;15.708438";

#[test]
fn rates_change_their_unit_at_2_0_8() {
    // 23088 KiB in 168 ms are 140.7 bytes a millisecond and 137.4 KiB a second, times a thousand
    for (head, bw, wanted) in [
        ("3;2.0;a;0;0", "140726", (140_726_000.0, 140_726_999.0)),
        (
            "3;fio-2.0.7;a;0;0",
            "140726",
            (140_726_000.0, 140_726_999.0),
        ),
        (
            "3;fio-2.0.8;a;0;0",
            "137428",
            (140_726_272.0, 140_727_295.0),
        ),
        ("3;fio-3.33;a;0;0", "137428", (140_726_272.0, 140_727_295.0)),
    ] {
        let (entries, _) = entries_of(
            &plain(head, &format!("23088;{bw};34357;168"), NO_SLAT),
            Around::default(),
        );
        assert_eq!(entries.len(), 1);
        let measurement = &entries[0].measurement;
        assert_eq!(ends(&measurement.bytes_per_sec), wanted, "{head}");
        assert_eq!(
            ends(&measurement.bytes),
            (23088.0 * 1024.0, 23089.0 * 1024.0 - 1.0)
        );
        assert_eq!(ends(&measurement.runtime_ns), (168e6, 168e6));
        let (lo, hi) = ends(&measurement.iops);
        assert!(lo <= 34357.0 && (34358.0..34358.1).contains(&hi));
        assert_eq!(entries[0].warnings, [], "{head}");
    }
    let text = plain("2;a;0;0", "23088;140726;34357;168", NO_SLAT);
    let (entries, _) = entries_of(&text, Around::default());
    let rate = entries[0].measurement.bytes_per_sec.as_ref().unwrap();
    assert_eq!(rate.possible().parts().len(), 2);
    assert_eq!(entries[0].warnings[0].code, Code::UNIT_GUESSED);
    let around = Around {
        version: Some(Version::release(2, 0, 3)),
        ..Around::default()
    };
    let (entries, _) = entries_of(&text, around);
    assert_eq!(
        ends(&entries[0].measurement.bytes_per_sec),
        (140_726_000.0, 140_726_999.0)
    );
}

#[test]
fn short_sides_are_of_1_x() {
    let old = format!(
        "2;mixed;0;0;22864;91814;255;3;4070;5.399405;53.939114;23;5296;338.651505;687.541780;28;5300;344.104794;689.394416;0;0;0.000000%;0.000000;0.000000;\
         0;0;0;0;0;0.0;0.0;0;0;0.0;0.0;0;0;0.0;0.0;0;0;0.000000%;0.0;0.0;{TAIL}"
    );
    let (entries, _) = entries_of(&old, Around::default());
    let measurement = &entries[0].measurement;
    assert_eq!(
        ends(&measurement.bytes_per_sec),
        (91_814_000.0, 91_814_999.0)
    );
    assert_eq!(measurement.iops, None);
    assert_eq!(
        ends(&measurement.lat_ns.as_ref().unwrap().max),
        (5_300_000.0, 5_300_000.0)
    );
    assert_eq!(measurement.samples, None);
    assert_eq!(entries[0].warnings, []);
}

#[test]
fn microseconds_are_cut_from_2_99_on() {
    for (head, wanted) in [
        ("3;fio-2.21;a;0;0", (8_015_000.0, 8_015_000.0)),
        ("3;fio-2.99;a;0;0", (8_015_000.0, 8_015_999.0)),
    ] {
        let (entries, _) = entries_of(
            &plain(head, "23088;137428;34357;168", NO_SLAT),
            Around::default(),
        );
        let clat = entries[0].measurement.clat_ns.as_ref().unwrap();
        assert_eq!(ends(&clat.max), wanted);
        assert_eq!(clat.percentiles.len(), 1);
        assert!(clat.percentiles[0].reading.hi().get() >= 4_192_000.0);
        let (lo, hi) = ends(&clat.mean);
        assert!(lo < 315_758.328 && hi > 315_758.328 && hi - lo < 0.01);
    }
}

#[test]
fn options_that_a_line_does_not_show_come_from_around_it() {
    let text = plain("3;fio-3.16;a;0;0", "23088;137428;34357;168", SLAT);
    let (entries, _) = entries_of(&text, Around::default());
    assert_eq!(entries[0].direction, Direction::Read);
    assert_eq!(entries[0].warnings[0].code, Code::PERCENTILES_OF);
    let around = Around {
        unified: true,
        total_percentiles: Some(true),
        ..Around::default()
    };
    let (entries, _) = entries_of(&text, around);
    assert_eq!(entries[0].direction, Direction::Mixed);
    assert!(
        entries[0]
            .measurement
            .clat_ns
            .as_ref()
            .unwrap()
            .percentiles
            .is_empty()
    );
    assert_eq!(
        entries[0]
            .measurement
            .lat_ns
            .as_ref()
            .unwrap()
            .percentiles
            .len(),
        1
    );
    assert_eq!(entries[0].warnings, []);
}

#[test]
fn a_failed_job_keeps_its_error() {
    let text = plain("3;fio-3.33;a;0;28", "23088;137428;34357;168", NO_SLAT) + ";9;28";
    let (entries, _) = entries_of(&text, Around::default());
    assert_eq!(entries[0].errors[0].code, Some(28));
    assert_eq!(entries[0].errors[1].text, "9 errors in all");
    let (entries, diagnostics) = entries_of(
        &plain("3;fio-3.33;a;0;13", "0;0;0;0", NO_SLAT),
        Around::default(),
    );
    assert_eq!(
        (entries.len(), &diagnostics[0].code),
        (0, &Code::JOB_FAILED)
    );
}

/// How many rows make a report, of lines with these io and runtime.
fn rows_each(lines: &[(u64, u64)]) -> usize {
    let text: String = lines
        .iter()
        .map(|(io, runtime)| plain("3;fio-3.33;a;0;0", &format!("{io};1;1;{runtime}"), SLAT) + "\n")
        .collect();
    let log = Log::from_bytes("x", text.as_bytes()).unwrap();
    let block = fio_terse::read(&log, &mut log.segments()).unwrap();
    assert_eq!(block.rows.len(), lines.len());
    rows_of_a_report(&block.rows)
}

#[test]
fn a_run_that_goes_on_is_told_from_jobs_of_one_name() {
    // one job that reports each second, and at its end
    assert_eq!(
        rows_each(&[(36768, 757), (94764, 1757), (144728, 2757), (157072, 3001)]),
        1
    );
    // two jobs of one name that do
    assert_eq!(
        rows_each(&[(10, 1000), (11, 1001), (20, 2000), (21, 2001)]),
        2
    );
    // four jobs side by side: the same amount, or the same time
    assert_eq!(
        rows_each(&[(8192, 233), (8192, 235), (8192, 403), (8192, 495)]),
        4
    );
    assert_eq!(
        rows_each(&[(10, 60001), (11, 60002), (12, 60003), (13, 60004)]),
        4
    );
    assert_eq!(rows_each(&[(10, 1000), (9, 2000)]), 2);
    assert_eq!(rows_each(&[(10, 1000)]), 1);
}
