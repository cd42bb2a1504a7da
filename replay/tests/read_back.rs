//! What the program prints in the forms of fio and dd, read back by the parser: the machine, the test and the fidelity
//! are those of the run, and nothing of its own words is taken for anything else.

use std::path::Path;
use std::process::{Command, Output};

use fio_parse::record::{Verdict, read_jsonl};
use fio_parse::{Log, Record};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fio-replay"))
}

fn read_back(output: &Output) -> Vec<Record> {
    let log = Log::from_bytes("results", &output.stdout).unwrap();
    fio_parse::parse(&log).records
}

#[test]
fn text_and_json_keep_machine_test_and_fidelity() {
    let post =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/laptops-fio-2021/input.txt");
    for format in ["text", "json", "json+"] {
        let home = tempfile::tempdir().unwrap();
        let output = program()
            .arg(&post)
            .arg("--directory")
            .arg(home.path())
            .args([
                "--size",
                "4m",
                "--runtime",
                "50ms",
                "--machine",
                "desk: two",
            ])
            .args(["--quiet", "--format", format])
            .arg("--format")
            .arg(format!("jsonl={}", home.path().join("records").display()))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("running workload"), "{said}");
        let records = read_back(&output);
        // What is doubtful about the figures, as the records have it.
        let exact = std::fs::read(home.path().join("records")).unwrap();
        let exact: Vec<Record> = read_jsonl(&*exact).map(Result::unwrap).collect();
        let codes: Vec<&str> = exact[0].warnings.iter().map(|w| w.code.as_str()).collect();
        assert!(codes.contains(&"fits-in-memory"), "{codes:?}");
        for record in &records {
            let key = &record.workload.as_ref().unwrap().key;
            let same = |other: &&Record| &other.workload.as_ref().unwrap().key == key;
            for told in &exact.iter().find(same).unwrap().warnings {
                let found = record.warnings.iter().find(|w| w.code == told.code);
                let found = found.unwrap_or_else(|| panic!("{format}: no {told:?}"));
                assert_eq!(
                    (found.severity, &found.message),
                    (told.severity, &told.message)
                );
            }
        }
        let mut keys: Vec<&str> = Vec::new();
        for record in &records {
            assert_eq!(&*record.machine.as_ref().unwrap().text, "desk: two");
            assert!(!record.section.is_empty(), "{format}: no heading");
            assert!(record.claims.is_empty(), "{format}: {:?}", record.claims);
            let fidelity = record.fidelity.as_ref().unwrap();
            assert_eq!(fidelity.verdict, Verdict::Deviates);
            let scaled = fidelity.notes.iter().find(|note| note.id == "scaled-size");
            assert_eq!(scaled.unwrap().affects, ["bw", "iops", "lat"]);
            let key = record.workload.as_ref().unwrap().key.as_str();
            if keys.last() != Some(&key) {
                keys.push(key);
            }
        }
        // The tests of the post, each under its own name.
        assert_eq!(keys.len(), 2, "{format}: {keys:?}");
        assert!(keys[0].contains("bs=4096") && keys[1].contains("bs=1048576"));
    }
}

#[test]
fn the_time_of_reading_a_file_is_the_disk_s() {
    let home = tempfile::tempdir().unwrap();
    let output = program()
        .arg("--directory")
        .arg(home.path())
        .args(["--machine", "desk", "--", "dd", "if=big", "of=/dev/null"])
        .args(["bs=1M", "count=8"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("not the disk's speed"), "{text}");
    let records = read_back(&output);
    assert_eq!(records.len(), 1, "{text}");
    assert_eq!(&*records[0].machine.as_ref().unwrap().text, "desk");
    assert!(records[0].workload.as_ref().unwrap().dd().is_some());
    assert!(records[0].fidelity.is_some());
}

#[test]
fn what_is_refused_is_told_before_anything_runs() {
    let home = tempfile::tempdir().unwrap();
    let post = home.path().join("post");
    let command = |size| format!("$ fio --name=a --rw=write --bs=4k --size={size}\n\ntext\n\n");
    std::fs::write(&post, [command("64k"), command("100t")].concat()).unwrap();
    let output = program()
        .arg(&post)
        .arg("--directory")
        .arg(home.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    let refused = said.find("refused workload 2").unwrap();
    assert!(refused < said.find("running workload 1").unwrap(), "{said}");
}

#[test]
fn rounds_of_terse_lines_are_runs_and_the_version_is_known() {
    let home = tempfile::tempdir().unwrap();
    for (options, rounds) in [
        (&["--size=64k"][..], 4),
        (
            &[
                "--size=1m",
                "--rate=8m",
                "--numjobs=2",
                "--group_reporting=0",
            ],
            2,
        ),
    ] {
        for format in ["terse", "text"] {
            let output = program()
                .arg("--directory")
                .arg(home.path())
                .args(["--quiet", "--format", format, "--repeat"])
                .arg(rounds.to_string())
                .args(["--", "fio", "--name=t", "--rw=read"])
                .args(options)
                .output()
                .unwrap();
            let log = Log::from_bytes("results", &output.stdout).unwrap();
            let parsed = fio_parse::parse(&log);
            let mut runs: Vec<u32> = parsed.records.iter().map(|record| record.run).collect();
            runs.dedup();
            assert_eq!(runs, (1..=rounds).collect::<Vec<u32>>(), "{format}");
            let jobs = options.len() as u32 / 2;
            let terse = parsed.records.len() as u32;
            assert!(
                format == "text" || terse == rounds * jobs.max(1),
                "{terse} records"
            );
            let noted = |records: &[Record]| {
                let own = parsed.diagnostics.iter();
                let theirs = records.iter().flat_map(|record| &record.warnings);
                own.chain(theirs)
                    .map(|found| found.code.as_str().to_owned())
                    .collect::<Vec<_>>()
            };
            for code in noted(&parsed.records) {
                assert!(
                    !["unit-guessed", "version-assumed", "status-series"].contains(&&*code),
                    "{format}: {code}"
                );
            }
        }
    }
}

#[test]
fn a_test_that_moves_more_is_no_later_report_of_the_one_before() {
    let home = tempfile::tempdir().unwrap();
    let post = home.path().join("post");
    let command = |size: &str, rate: &str| {
        format!("$ fio --name=t --rw=read --bs=4k --size={size} --rate={rate}\n\n")
    };
    std::fs::write(&post, [command("64k", "1m"), command("1m", "2m")].concat()).unwrap();
    let output = program()
        .arg(&post)
        .arg("--directory")
        .arg(home.path())
        .args(["--quiet", "--format", "terse"])
        .output()
        .unwrap();
    let records = read_back(&output);
    let bytes = |record: &Record| record.measurement.bytes.as_ref().unwrap().lo().0;
    let seen: Vec<(u32, u64)> = records.iter().map(|r| (r.run, bytes(r))).collect();
    assert_eq!(seen, [(1, 65536), (2, 1_048_576)]);
}

#[test]
fn the_engine_of_the_command_line_is_the_one_in_the_header() {
    let home = tempfile::tempdir().unwrap();
    for (engine, played) in [("null", "null"), ("psync", "psync"), ("mmap", "mmap")] {
        let output = program()
            .arg("--directory")
            .arg(home.path())
            .args(["--quiet", "--engine", engine, "--", "fio", "--name=t"])
            .args(["--rw=read", "--size=64k", "--ioengine=vsync"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.contains(&format!(", ioengine={played}, iodepth=1\n")),
            "{text}"
        );
        assert!(text.contains("[engine-override] deviates"), "{text}");
        // What vsync does is nothing that was done.
        assert!(!text.contains("[vsync-gathers]"), "{text}");
    }
}
