//! Structures of real pastes, in short texts: what stands around figures, and what pasting did to them.
//!
//! Expected values are read off the texts.

use fio_parse::Log;
use fio_parse::record::{Direction, Record};

fn parsed(text: &str) -> fio_parse::Parsed {
    let log = Log::from_bytes("paste.txt", text.as_bytes()).unwrap();
    fio_parse::parse(&log)
}

fn records(text: &str) -> Vec<Record> {
    parsed(text).records
}

fn warned(record: &Record, code: &str) -> bool {
    record.warnings.iter().any(|w| w.code.as_str() == code)
}

const DD: &str = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 2.5 s, 419 MB/s\n";

#[test]
fn a_line_of_a_script_above_a_dd_says_its_direction() {
    for (above, direction, told) in [
        ("1. Write test without cache", Direction::Write, true),
        ("2. Read test with dropped cache", Direction::Read, true),
        ("Reading back", Direction::Read, true),
        ("Start 1 of 5...", Direction::Write, false),
        // both, a setting, a tool's figure
        ("Read and write test", Direction::Write, false),
        ("read cache: on", Direction::Write, false),
        ("Timing reads 80 MB/s", Direction::Write, false),
    ] {
        for (open, close) in [("```\n", "```\n"), ("<pre>\n", "</pre>\n")] {
            let found = records(&format!("{open}{above}\n{DD}{close}"));
            assert_eq!(found.len(), 1, "{above}");
            assert_eq!(found[0].direction, direction, "{above}");
            assert_eq!(warned(&found[0], "direction-assumed"), !told, "{above}");
        }
    }
    // the nearest one counts, and what comes in between without such a word is none
    let found = records(&format!(
        "```\n1. Write test\n{DD}2. Read test\nStart 1 of 2...\n{DD}Start 2 of 2...\n{DD}```\n"
    ));
    let ways: Vec<Direction> = found.iter().map(|record| record.direction).collect();
    assert_eq!(ways, [Direction::Write, Direction::Read, Direction::Read]);
}

#[test]
fn a_dd_by_itself_does_not_say_its_direction() {
    let found = records(DD);
    assert!(warned(&found[0], "direction-assumed"));
    let found = records(&format!("$ dd if=/dev/zero of=a bs=1M count=1000\n{DD}"));
    assert!(!warned(&found[0], "direction-assumed"));
    let timed = "Benchmark 1: dd if=a bs=1M\n  Time (mean ± σ):      1.250 s ±  0.010 s    [User: 0.001 s, System: 0.400 s]\n  Range (min … max):    1.240 s …  1.260 s    10 runs\n";
    let found = records(timed);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].direction, Direction::Read);
    assert!(!warned(&found[0], "direction-assumed"));
}

#[test]
fn a_figure_said_of_reads_is_not_held_against_a_write() {
    use fio_parse::claim::Agreement;
    let post = |said: &str| {
        records(&format!(
            "$ dd if=/dev/zero of=a bs=1M count=1000\n1000+0 records in\n1000+0 records out\n{DD}\n{said}\n"
        ))
    };
    // 1048576000 bytes in 2.5 s are 419.4 MB/s
    for (said, wanted) in [
        (
            "The tool tells of 419 MB/s sequential write speed and 512.5 MB/s sequential reads.",
            [Agreement::Window, Agreement::Unchecked],
        ),
        (
            "The write speed is 419 MB/s, and it reads at 512.5 MB/s here.",
            [Agreement::Window, Agreement::Unchecked],
        ),
        (
            "We got 419 MB/s here and once even 512.5 MB/s of it.",
            [Agreement::Window, Agreement::None],
        ),
    ] {
        let found = post(said);
        assert_eq!(found.len(), 1);
        let agreed: Vec<Agreement> = found[0].claims.iter().map(|c| c.agrees_with).collect();
        assert_eq!(agreed, wanted, "{said}");
    }
}
