//! The logs of rates and latencies beside those of real fio on the same command: the same files
//! with as many lines of each direction. Skipped aloud where fio is not installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// By the end of a log's name: number of lines of reads and writes, their sum, and the blocks.
type Logs = BTreeMap<String, ([usize; 2], [u64; 2], Vec<u64>)>;

fn logs(directory: &Path, prefix: &str) -> Logs {
    let mut found = Logs::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(ending) = name.strip_prefix(prefix) else {
            continue;
        };
        let (counts, sums, blocks) = found.entry(ending.to_owned()).or_default();
        for line in fs::read_to_string(&path).unwrap().lines() {
            let fields: Vec<u64> = line
                .split(',')
                .map(|field| field.trim().parse().unwrap())
                .collect();
            assert_eq!(fields.len(), 5, "{name}: {line}");
            counts[fields[2] as usize] += 1;
            sums[fields[2] as usize] += fields[1];
            blocks.push(fields[3]);
        }
        blocks.sort_unstable();
        blocks.dedup();
    }
    found
}

fn fio(options: &str) -> Logs {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new("timeout")
        .args(["-k", "5", "60", "fio", "--verify_state_save=0", "--name=j"])
        .args(options.split(' '))
        .current_dir(home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fio {options}: {said}");
    logs(home.path(), "L")
}

/// The logs and what was said.
fn replay(options: &str) -> (Logs, String) {
    let home = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .args(["-q", "--directory"])
        .arg(home.path())
        .arg("--log-directory")
        .arg(out.path())
        .args(["--", "fio", "--name=j"])
        .args(options.split(' '))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "fio-replay {options}: {said}");
    (logs(out.path(), "workload-1"), said)
}

/// Lines of both, but for what a busy machine may shift: a window ends with an I/O, and an I/O
/// that comes late may leave one out.
fn counts(logs: &Logs) -> BTreeMap<&str, [usize; 2]> {
    let counts = logs
        .iter()
        .map(|(name, (counts, ..))| (name.as_str(), *counts));
    counts.collect()
}

const ALL: &str = "--write_bw_log=L --write_iops_log=L --write_lat_log=L";

#[test]
fn logs_have_the_lines_of_fio_s() {
    let here = Command::new("fio").arg("--version").output();
    if !here.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: fio is not installed, so nothing was compared with it");
        return;
    }
    // 1100 KiB at 1 MiB/s are 1074 ms: nothing ends where a window does.
    const PACED: &str = "--rw=write --bs=4k --size=1100k --rate=,1m";
    for options in [
        // Each I/O by itself.
        "--rw=write --bs=4k --size=256k",
        "--rw=randread --bs=8k --size=256k --norandommap",
        "--rw=write --bs=4k --size=256k --verify=crc32c",
        "--rw=write --bs=4k --size=64k --numjobs=2",
        "--rw=write --bs=4k --size=64k --numjobs=2 --per_job_logs=0",
        // Windows.
        &format!("{PACED} --log_avg_msec=250"),
        &format!("{PACED} --log_avg_msec=100"),
        &format!("{PACED} --log_avg_msec=400 --log_max_value=1"),
        &format!("{PACED} --log_avg_msec=500 --bwavgtime=200"),
        &format!("{PACED} --log_avg_msec=250 --bwavgtime=500 --iopsavgtime=350"),
        &format!("{PACED} --log_avg_msec=300 --time_based --runtime=700ms --ramp_time=500ms"),
        &format!("{PACED} --log_avg_msec=450 --numjobs=2 --per_job_logs=0"),
        // Shorter than a window.
        "--rw=write --bs=4k --size=64k --log_avg_msec=500",
    ] {
        let options = format!("{options} {ALL}");
        let mut tries = Vec::new();
        let same = (0..4).any(|_| {
            let (ours, said) = replay(&options);
            let theirs = fio(&options);
            // One that is empty is told.
            for (name, (counts, ..)) in &ours {
                let empty = counts.iter().sum::<usize>() == 0 && !name.contains("slat");
                assert_eq!(empty, said.contains(&format!("{name} is empty")), "{said}");
            }
            let same = counts(&ours) == counts(&theirs) && blocks(&ours) == blocks(&theirs);
            // Rates that are held are the same in sum.
            let held = !options.contains(PACED)
                || ours.iter().zip(&theirs).all(|((name, ours), (_, theirs))| {
                    name.contains("lat") || ours.1[1].abs_diff(theirs.1[1]) * 20 <= theirs.1[1]
                });
            tries.push(format!("here {ours:?}\n  fio  {theirs:?}"));
            same && held
        });
        assert!(same, "{options}\n  {}", tries.join("\n  "));
    }
}

fn blocks(logs: &Logs) -> Vec<&Vec<u64>> {
    logs.values().map(|(.., blocks)| blocks).collect()
}

/// fio's rate of a single I/O is its bytes over its completion latency; so here, in KiB.
#[test]
fn a_single_io_has_the_rate_of_its_latency() {
    let home = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .args(["-q", "--directory"])
        .arg(home.path())
        .arg("--log-directory")
        .arg(out.path())
        .args([
            "--",
            "fio",
            "--name=j",
            "--rw=write",
            "--bs=64k",
            "--size=1m",
        ])
        .args(ALL.split(' '))
        .output()
        .unwrap();
    assert!(output.status.success());
    let values = |kind: &str| -> Vec<u64> {
        let path = out.path().join(format!("workload-1_{kind}.1.log"));
        let text = fs::read_to_string(path).unwrap();
        let value = |line: &str| line.split(", ").nth(1).unwrap().parse().unwrap();
        text.lines().map(value).collect()
    };
    let (rates, latencies) = (values("bw"), values("clat"));
    assert_eq!((rates.len(), latencies.len()), (16, 16));
    for (rate, ns) in rates.iter().zip(&latencies) {
        assert_eq!(*rate, 64 * 1_000_000_000 / ns);
    }
    assert_eq!(values("slat"), [0; 0]);
}

/// The bound of a log is told with the results.
#[test]
fn a_log_that_is_full_is_told() {
    let out = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .args(["--format", "jsonl", "--directory"])
        .arg(home.path())
        .arg("--log-directory")
        .arg(out.path())
        .args([
            "--",
            "fio",
            "--name=j",
            "--rw=read",
            "--bs=512",
            "--size=8m",
        ])
        .args([
            "--loops=8",
            "--numjobs=8",
            "--write_lat_log=x",
            "--ioengine=null",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    // 8 jobs of 131072 I/Os; a million lines are 125000 for each.
    let log = fs::read_to_string(out.path().join("workload-1_lat.8.log")).unwrap();
    assert_eq!(log.lines().count(), 125_000);
    assert!(stdout.contains("\"log-full\"") && stdout.contains("48576 lines are left out"));
}
