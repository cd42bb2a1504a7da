//! Lines of fio's report, one by one.

use super::*;
use std::collections::BTreeSet;

fn stat(values: &[u64]) -> Stat {
    let mut stat = Stat::EMPTY;
    values.iter().for_each(|&value| stat.add(value));
    stat
}

fn line(values: &[u64]) -> String {
    let mut text = String::new();
    latency_line(&mut text, "    clat", &stat(values));
    text
}

#[test]
fn each_latency_line_picks_its_unit_by_fio_s_rule() {
    assert_eq!(
        line(&[290, 300]),
        "    clat (nsec): min=290, max=300, avg=295.00, stdev= 7.07\n"
    );
    // min is not above 2000 ns: stays in nsec, and 16923456 needs a prefix in six characters.
    assert!(line(&[60, 16_923_456]).starts_with("    clat (nsec): min=60, max=16923k, avg="));
    assert!(line(&[6_000, 16_923_456]).starts_with("    clat (usec): min=6, max=16923, avg="));
    assert!(line(&[3_000_000, 900_000_000]).starts_with("    clat (msec): min=3, max=900, avg="));
    assert_eq!(line(&[]), "");
}

#[test]
fn percentiles_stand_in_fio_s_columns() {
    let mut histogram = Histogram::new();
    (0..1000).for_each(|_| histogram.add(100_500));
    histogram.add(201_000);
    // Bucket middles 100864 and 201728 ns, in usec and rounded up.
    let mut text = String::new();
    percentile_lines(&mut text, "clat", &histogram);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "    clat percentiles (usec):");
    assert_eq!(
        lines[1],
        "     |  1.00th=[  101],  5.00th=[  101], 10.00th=[  101], 20.00th=[  101],"
    );
    assert_eq!(*lines.last().unwrap(), "     | 99.99th=[  202]");
}

#[test]
fn names_from_a_text_cannot_drive_a_terminal() {
    let name = escaped("a\u{1b}[2Jb\nc");
    assert!(
        name.chars()
            .collect::<BTreeSet<_>>()
            .iter()
            .all(|c| !c.is_control()),
        "{name}"
    );
}
