//! Runs that died leave no figures; they count as failed runs all the same, whatever form told of them.

mod common;

use std::fs;
use std::path::Path;

use common::{Ran, cells, lines, record, run};
use serde_json::json;

const HEAD: &str = "\
t: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process

";

/// fio's text of a run that wrote at this rate for ten seconds.
fn sound(mib: u32) -> String {
    let amount = mib * 10;
    format!(
        "{HEAD}t: (groupid=0, jobs=1): err= 0: pid=7: Tue Dec  1 00:55:39 2026
  write: IOPS={}, BW={mib}.0MiB/s ({:.1}MB/s)({amount}MiB/10000msec); 0 zone resets

Run status group 0 (all jobs):
  WRITE: bw={mib}.0MiB/s ({:.1}MB/s), {mib}.0MiB/s-{mib}.0MiB/s ({:.1}MB/s-{:.1}MB/s), io={amount}MiB ({:.0}MB), run=10000-10000msec
",
        mib * 256,
        f64::from(mib) * 1.048_576,
        f64::from(mib) * 1.048_576,
        f64::from(mib) * 1.048_576,
        f64::from(mib) * 1.048_576,
        f64::from(amount) * 1.048_576,
    )
}

/// fio's text of a run that found the disk full.
fn died() -> String {
    format!(
        "{HEAD}t: (groupid=0, jobs=1): err=28 (file:io_u.c:1876, func=io_u error, error=No space left on device): pid=7: Tue Dec  1 00:55:39 2026
  cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=17
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=50.0%, 4=50.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=0,1,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
"
    )
}

/// Files of these names and contents, compared with more arguments.
fn compared(folder: &Path, inputs: &[(&str, &str, &str)], more: &[&str]) -> Ran {
    let mut args: Vec<String> = Vec::new();
    for (label, name, text) in inputs {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        args.push(format!("{label}={}", path.display()));
    }
    let args = args.iter().map(String::as_str).chain(more.iter().copied());
    run(&args.collect::<Vec<_>>())
}

#[test]
fn a_run_of_text_that_died_fails_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [("old", "a.txt", &*sound(40)), ("new", "b.txt", &died())];
    let ran = compared(folder.path(), &inputs, &["--threshold", "5%"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert!(
        ran.err.contains("numjobs=1, new: the run failed"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("no results"), "{}", ran.err);
    assert!(ran.out.contains("No space left on device"), "{}", ran.out);
}

#[test]
fn a_run_that_died_among_repeats_is_counted_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [
        ("old", "a.txt", &*sound(40)),
        ("old", "b.txt", &sound(41)),
        ("new", "c.txt", &sound(42)),
        ("new", "d.txt", &died()),
        ("new", "e.txt", &sound(43)),
    ];
    let ran = compared(folder.path(), &inputs, &["--threshold", "5%"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert!(ran.err.contains("new: 1 of 3 runs failed"), "{}", ran.err);
    assert!(
        ran.out.contains("1 of 3 runs failed and are left out"),
        "{}",
        ran.out
    );
}

/// Three jobs of a run that died are one failed run, and a report with an error of its own is counted once.
#[test]
fn a_run_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let line = died().lines().nth(4).unwrap().to_owned();
    let three = died().replace(&line, &[&*line; 3].join("\n"));
    let inputs = [("x", "a.txt", &*sound(40)), ("x", "b.txt", &three)];
    let ran = compared(folder.path(), &inputs, &[]);
    assert!(ran.out.contains("1 of 2 runs failed"), "{}", ran.out);
    let json = format!(
        "{}/../fixtures/runs/enospc-continue-3.33/fio.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let ran = run(&[&json, "--format", "csv"]);
    assert!(!ran.out.contains("runs failed"), "{}", ran.out);
}

/// Runs one after the other in one log: only the one that died is failed.
#[test]
fn of_several_runs_in_a_log_one_may_have_died() {
    let folder = tempfile::tempdir().unwrap();
    let log = format!("{}\n{}\n{}", sound(40), died(), sound(44));
    let ran = compared(folder.path(), &[("x", "a.txt", &log)], &["--format", "csv"]);
    assert!(ran.out.contains("1 of 3 runs failed"), "{}", ran.out);
}

/// A dd that could not start counts where the input has nothing else; among results people try again.
#[test]
fn a_dd_that_failed_alone_is_a_failed_run() {
    let folder = tempfile::tempdir().unwrap();
    let sound = "64+0 records in\n64+0 records out\n67108864 bytes (67 MB, 64 MiB) copied, 0.5 s, 134 MB/s\n";
    let failed = "dd: failed to open '/mnt/t/x': No space left on device\n";
    let inputs = [("old", "a.txt", sound), ("new", "b.txt", failed)];
    let ran = compared(folder.path(), &inputs, &["--threshold", "5%"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    let command = "$ dd if=/dev/zero of=/mnt/t/x bs=1M count=64\n";
    let both = format!("{command}{failed}{command}{sound}");
    let ran = compared(
        folder.path(),
        &[("x", "c.txt", &both)],
        &["--format", "csv"],
    );
    assert!(!ran.out.contains("failed"), "{}", ran.out);
}

/// The group line stands for its job; what contradicts itself there is a note of the figure shown.
#[test]
fn a_contradiction_below_a_sum_is_told_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let good = sound(40);
    let bad = good.replacen("(41.9MB/s)(400MiB", "(160MB/s)(400MiB", 1);
    assert_ne!(good, bad);
    let ran = compared(
        folder.path(),
        &[("a", "a.txt", &*bad), ("b", "b.txt", &good)],
        &["--format", "csv"],
    );
    let rows: Vec<&str> = ran
        .out
        .lines()
        .filter(|l| l.contains("contradict each other"))
        .collect();
    assert_eq!(rows.len(), 1, "{}", ran.out);
    assert!(rows[0].contains(",a,"), "{}", ran.out);
}

/// A job that failed takes the sum over its group with it, but no other job.
#[test]
fn a_job_that_failed_leaves_the_others_of_its_group() {
    let job = |name: &str, block: u64, rate: f64| {
        let mut r = record("m", 1, rate);
        r["scope"] = json!({"kind": "job", "group": 0, "job": name});
        r["workload"]["jobs"][0]["block_bytes"] = json!(block);
        r["workload"]["jobs"][0]["name"] = json!(name);
        r
    };
    let mut bad = job("bad", 8192, 300.0);
    bad["errors"] = json!([{"text": "No space left on device"}]);
    let jobs = [job("a", 4096, 100.0), bad, job("c", 16384, 200.0)];
    let found = cells(&["-"], &lines(&jobs));
    let read: Vec<(Option<f64>, bool)> = (found.iter())
        .map(|c| {
            let mib = c["value"].as_f64().map(|v| v / 1_048_576.0);
            (mib, c["notes"].to_string().contains("No space left"))
        })
        .collect();
    assert_eq!(
        read,
        [(Some(100.0), false), (None, true), (Some(200.0), false)]
    );
    // The sum over the group counts what the failed job left undone, in the directions that it worked in.
    let mut sum = record("m", 1, 600.0);
    sum["scope"] = json!({"kind": "group", "group": 0});
    let mut reads = sum.clone();
    reads["direction"] = json!("read");
    let [a, bad, c] = jobs;
    let found = cells(&["-"], &lines(&[a, bad, c, sum, reads]));
    let read: Vec<(&str, bool)> = (found.iter())
        .map(|c| (c["direction"].as_str().unwrap(), c["value"].is_null()))
        .filter(|(direction, failed)| *direction == "read" || *failed)
        .collect();
    assert!(read.contains(&("read", false)), "{found:?}");
    assert!(read.contains(&("write", true)), "{found:?}");
}
