//! What belongs to which run of dd: times, states, commands, labels.

use fio_parse::record::WallCovers;
use fio_parse::{Direction, Log, Record};

fn records(text: &str) -> Vec<Record> {
    let log = Log::from_bytes("log", text.as_bytes()).unwrap();
    fio_parse::parse(&log).records
}

fn codes(record: &Record) -> Vec<&str> {
    record.warnings.iter().map(|w| w.code.as_str()).collect()
}

const REPORT: &str = "32+0 records in\n32+0 records out\n33554432 bytes (34 MB, 32 MiB) copied, 0.5001 s, 67.1 MB/s\n";

#[test]
fn a_time_is_given_to_the_run_above_it() {
    for (command, covers) in [
        ("time dd if=/dev/zero of=t bs=1M count=32", WallCovers::Run),
        (
            "time sh -c \"dd if=/dev/zero of=t bs=1M count=32 && sync\"",
            WallCovers::RunAndSync,
        ),
        (
            "time dd if=/dev/zero bs=1M count=32 | cat > t",
            WallCovers::Pipeline,
        ),
    ] {
        let found = records(&format!(
            "$ {command}\n{REPORT}\nreal\t0m0.750s\nuser\t0m0.003s\nsys\t0m0.250s\n"
        ));
        assert_eq!(found.len(), 1, "{command}");
        let m = &found[0].measurement;
        assert_eq!(m.wall_covers, Some(covers), "{command}");
        let ends = |r: &Option<fio_parse::Reading<fio_parse::Nanos>>| {
            r.as_ref().map(|r| (r.lo().get(), r.hi().get()))
        };
        assert_eq!(ends(&m.wall_ns), Some((749_500_000.0, 750_500_000.0)));
        assert_eq!(ends(&m.user_ns), Some((2_500_000.0, 3_500_000.0)));
        assert_eq!(ends(&m.system_ns), Some((249_500_000.0, 250_500_000.0)));
    }
}

#[test]
fn a_time_of_something_else_is_not_taken() {
    // of the sync alone, as the command says
    let found = records(&format!(
        "$ dd if=/dev/zero of=t bs=1M count=32; time sync\n{REPORT}\nreal\t0m0.750s\nuser\t0m0.0s\nsys\t0m0.0s\n"
    ));
    let m = &found[0].measurement;
    assert!(m.wall_ns.is_none() && m.sync_ns.is_some());
    // shorter than dd's own window
    let found = records(&format!(
        "$ time dd if=/dev/zero of=t bs=1M count=32\n{REPORT}\nreal\t0m0.007s\nuser\t0m0.001s\nsys\t0m0.000s\n"
    ));
    assert_eq!(found[0].measurement.wall_ns, None);
    assert_eq!(codes(&found[0]), ["disagree"]);
    // zsh names the command
    let found = records(&format!(
        "% dd if=/dev/zero of=t bs=1M count=32\n{REPORT}./prog < t  0.05s user 0.05s system 80% cpu 0.924 total\n"
    ));
    assert_eq!(found[0].measurement.wall_ns, None);
    // behind text
    let found = records(&format!(
        "$ dd if=/dev/zero of=t bs=1M count=32\n{REPORT}\nThen we compiled it.\n\nreal\t0m0.750s\nuser\t0m0.0s\nsys\t0m0.0s\n"
    ));
    assert_eq!(found[0].measurement.wall_ns, None);
}

#[test]
fn a_time_alone_says_so() {
    let found = records(
        "$ time dd if=/dev/zero of=t bs=1M count=32\n32+0 records in\n32+0 records out\nreal    0m 0.75s\nuser    0m 0.00s\nsys     0m 0.05s\n",
    );
    assert_eq!(codes(&found[0]), ["bytes-from-records", "wall-only"]);
    assert_eq!(
        found[0].measurement.bytes.as_ref().unwrap().value(),
        33_554_432.0
    );
}

#[test]
fn the_direction_comes_from_the_command_or_from_the_label() {
    for (above, direction) in [
        ("$ dd if=/dev/zero of=t bs=1M count=32", Direction::Write),
        ("$ dd if=t of=/dev/null bs=1M count=32", Direction::Read),
        ("## Read\n", Direction::Read),
        ("## Write\n", Direction::Write),
    ] {
        assert_eq!(
            records(&format!("{above}\n{REPORT}"))[0].direction,
            direction,
            "{above}"
        );
    }
}

#[test]
fn hyperfine_gives_the_wall_alone() {
    let found = records(
        "Benchmark 1: dd if=/dev/zero of=t bs=1M count=32 conv=fsync\n  Time (mean ± σ):      69.4 ms ±  12.8 ms    [User: 0.3 ms, System: 13.3 ms]\n  Range (min … max):    60.3 ms …  78.5 ms    2 runs\n \nBenchmark 2: ls -l\n  Time (mean ± σ):      1.0 ms ±  0.1 ms    [User: 0.3 ms, System: 0.3 ms]\n  Range (min … max):    0.9 ms …  1.1 ms    200 runs\n",
    );
    assert_eq!(found.len(), 1);
    let wall = found[0].measurement.wall_ns.as_ref().unwrap();
    assert_eq!(
        (wall.lo().get(), wall.hi().get()),
        (69_350_000.0, 69_450_000.0)
    );
    assert_eq!(
        found[0].workload.as_ref().unwrap().dd().unwrap().conv,
        ["fsync"]
    );
}

#[test]
fn a_failed_run_is_no_result() {
    let log = Log::from_bytes(
        "log",
        b"$ dd if=nosuch of=/dev/null\ndd: failed to open 'nosuch': No such file or directory\n",
    )
    .unwrap();
    let parsed = fio_parse::parse(&log);
    assert!(parsed.records.is_empty());
    assert_eq!(parsed.diagnostics[0].code.as_str(), "run-failed");
}

#[test]
fn a_rate_above_the_link_is_named() {
    let text = "## Samsung 860 EVO, SATA\n\n$ dd if=/dev/zero of=t bs=1G count=10 oflag=dsync\n10+0 records in\n10+0 records out\n10737418240 bytes (11 GB, 10 GiB) copied, 6.01736 s, 1.8 GB/s\n";
    assert_eq!(codes(&records(text)[0]), ["above-link"]);
}

#[test]
fn a_rate_that_a_filter_left_is_read() {
    let text = "$ for i in 1 2; do dd if=/dev/zero of=t bs=1M count=64 conv=fsync 2>&1 | awk '/copied/ {print $10 $11}'; done\n312 MB/s\n1.8 GB/s\n\n5 MB/s\n";
    let found = records(text);
    let rates: Vec<f64> = found
        .iter()
        .map(|r| {
            r.measurement
                .bytes_per_sec
                .as_ref()
                .unwrap()
                .value()
                .round()
        })
        .collect();
    assert_eq!(rates, [312e6, 1.8e9]);
    assert!(
        found
            .iter()
            .all(|r| r.measurement.bytes.is_none() && r.measurement.runtime_ns.is_none())
    );
    // nowhere else
    assert!(records("$ dd if=/dev/zero of=t bs=1M count=64\n312 MB/s\n").is_empty());
    // by 1000 or by 1024
    let found = records("$ dd if=/dev/zero of=t bs=1M 2>&1 | grep -o '[0-9.]*MB/s'\n12.5MB/s\n");
    let rate = found[0].measurement.bytes_per_sec.as_ref().unwrap();
    assert!(rate.lo().get() < 12.5e6 && rate.hi().get() > 13.1e6);
    assert_eq!(codes(&found[0]), ["unit-guessed"]);
}

#[test]
fn sg_dd_prints_its_time_first() {
    let found = records(
        "# sg_dd if=/dev/sg0 of=/dev/null bs=512 count=2M time=1\ntime to transfer data was 1.234567 secs, 869.73 MB/sec\n2097152+0 records in\n2097152+0 records out\n",
    );
    assert_eq!(found.len(), 1);
    let m = &found[0].measurement;
    assert_eq!(
        found[0].source.tool.implementation.as_deref(),
        Some("sg_dd")
    );
    assert_eq!(
        m.bytes_per_sec.as_ref().unwrap().value().round(),
        869_730_000.0
    );
    assert_eq!(m.records_in.unwrap().full, 2_097_152);
}
