//! The instrument's own options: rounds, warm-ups, stamps, io_uring as fio uses it, what it costs.

use std::process::Command;

use serde_json::Value;

/// Runs a command of fio with these options; gives the records and what was said.
fn run(options: &[&str], command: &str) -> (Vec<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .arg("--directory")
        .arg(folder.path())
        .args(["--format", "jsonl"])
        .args(options)
        .args(["--", command])
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "{said}");
    let lines = String::from_utf8(ran.stdout).unwrap();
    let records = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (records.collect(), said)
}

fn notes(record: &Value) -> Vec<&str> {
    let notes = record["fidelity"]["notes"].as_array().unwrap();
    notes
        .iter()
        .map(|note| note["id"].as_str().unwrap())
        .collect()
}

#[test]
fn rounds_are_runs_and_warm_ups_are_marked() {
    let command = "fio --name=a --ioengine=null --rw=randread --bs=4k --size=4m";
    let (records, said) = run(&["--repeat", "2", "--warm-up", "1"], command);
    let marks: Vec<(u64, bool)> = records
        .iter()
        .map(|record| {
            let warm_up = record["environment"]["warm_up"].as_bool().unwrap();
            (record["run"].as_u64().unwrap(), warm_up)
        })
        .collect();
    assert_eq!(marks, [(1, true), (2, false), (3, false)]);
    assert!(
        said.contains("warm-up 1 of 1") && said.contains("round 2 of 2"),
        "{said}"
    );
    assert!(said.contains("median of 2 rounds"), "{said}");
    let (records, _) = run(&[], command);
    assert_eq!(records.len(), 1);
    assert!(records[0]["environment"].get("warm_up").is_none());
}

#[test]
fn a_loose_target_ends_the_rounds_when_an_interval_exists() {
    // 99 % of the median is reached as soon as six rounds give an interval, or a few later.
    let command = "fio --name=a --ioengine=null --rw=read --bs=4k --size=64m";
    let (records, _) = run(&["--target-ci", "99%"], command);
    assert!((6..30).contains(&records.len()), "{} rounds", records.len());
}

#[test]
fn coarser_stamps_are_noted_and_count_every_io() {
    let command = "fio --name=a --ioengine=null --rw=randread --bs=4k --size=4m --iodepth=8";
    let (records, _) = run(&["--stamp", "batch"], command);
    assert!(notes(&records[0]).contains(&"stamp-batch"));
    assert_eq!(records[0]["measurement"]["lat_ns"]["samples"], 1024);
    assert_eq!(records[0]["measurement"]["slat_ns"]["samples"], 1024);
    let (records, _) = run(&[], command);
    assert!(!notes(&records[0]).contains(&"stamp-batch"));
}

#[test]
fn percentiles_have_bounds_that_are_narrower_than_fio_s_buckets() {
    let command = "fio --name=a --rw=read --bs=4k --size=4m";
    let (records, _) = run(&[], command);
    let bounds = &records[0]["environment"]["clat_percentile_bounds_ns"];
    let percentiles = records[0]["measurement"]["clat_ns"]["percentiles"]
        .as_array()
        .unwrap();
    assert_eq!(percentiles.len(), 17);
    for percentile in percentiles {
        let (p, fio) = (&percentile["p"], percentile["value"].as_f64().unwrap());
        let of = &bounds[p.to_string().trim_end_matches(".0")];
        let [least, most] = [0, 1].map(|end| of[end].as_f64().unwrap());
        assert!(most - least <= least / 256.0, "{p}: {of}");
        // Middle of a bucket that is 1/64 wide and holds the same latency.
        let off = (fio - least).abs().max((fio - most).abs());
        assert!(off <= fio / 64.0, "{p}: {fio}, {of}");
    }
}

#[test]
fn a_rate_adds_latencies_from_when_each_io_was_due() {
    // 20 I/Os, one each 5 ms: each goes when it is due, so they are short. The others are stalled by
    // a rate that no disk reaches: the last of 1000 is late by nearly the whole run.
    let (records, _) = run(
        &[],
        "fio --name=a --ioengine=null --rw=read --bs=4k --size=80k --rate_iops=200",
    );
    let due = &records[0]["environment"]["lat_from_due_ns"];
    assert!(due["50"].as_u64().unwrap() < 50_000_000, "{due}");
    let (records, _) = run(
        &[],
        "fio --name=a --rw=write --bs=4k --size=400k --fsync=1 --rate_iops=1000000000",
    );
    let due = &records[0]["environment"]["lat_from_due_ns"];
    let run_ns = records[0]["measurement"]["runtime_ns"]["value"].as_f64();
    let last = due["99.99"].as_f64().unwrap();
    let first = due["1"].as_f64().unwrap();
    assert!(last > 10.0 * first, "{due} of {run_ns:?}");
}

#[test]
fn io_uring_is_used_as_fio_does_on_request() {
    let command = "fio --name=a --ioengine=io_uring --rw=randread --bs=4k --size=1m --iodepth=4";
    let setup = |record: &Value| {
        record["environment"]["engine_setup"]
            .as_str()
            .map(str::to_owned)
    };
    let (records, _) = run(&[], command);
    let Some(best) = setup(&records[0]) else {
        eprintln!("SKIPPED: io_uring is not permitted here");
        return;
    };
    assert!(best.contains("registered files"), "{best}");
    assert!(notes(&records[0]).contains(&"uring-at-its-best"));
    let (records, _) = run(&["--as-fio"], command);
    let plain = setup(&records[0]).unwrap();
    assert!(
        plain.starts_with("1 per call") && !plain.contains("registered"),
        "{plain}"
    );
    assert!(notes(&records[0]).contains(&"as-fio"));
    let (records, _) = run(&["--as-fio"], &format!("{command} --registerfiles=1"));
    let asked = setup(&records[0]).unwrap();
    assert!(
        asked.contains("registered files") && !asked.contains("registered buffers"),
        "{asked}"
    );
}

#[test]
fn a_steady_job_ends_early() {
    let (records, said) = run(
        &[],
        "fio --name=a --ioengine=null --rw=read --bs=4k --size=1g --time_based --runtime=60 \
         --steadystate=iops:99% --steadystate_duration=2",
    );
    assert!(said.contains("the rate was steady after"), "{said}");
    let bytes = &records[0]["environment"]["bytes_per_sec_by_second"];
    assert!(
        (2..10).contains(&bytes.as_array().unwrap().len()),
        "{bytes}"
    );
    assert!(notes(&records[0]).contains(&"steady-state"));
}

#[test]
fn the_self_test_tells_what_every_part_costs() {
    let ran = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .arg("--self-test")
        .output()
        .unwrap();
    assert!(ran.status.success());
    let text = String::from_utf8(ran.stdout).unwrap();
    for part in [
        "clock:",
        "time stamp",
        "histogram",
        "random block",
        "4 KiB",
        "null engine",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // The null engine is all instrument, and a run of it says so.
    let (_, said) = run(
        &[],
        "fio --name=a --ioengine=null --rw=read --bs=4k --size=256m",
    );
    assert!(said.contains("the instrument takes"), "{said}");
}
