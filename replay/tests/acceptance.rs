//! Acceptance experiments on the program as a whole, numbered as in the specification of what
//! "the same test" means: A3, A4, A6 to A9, A11, A18. The others stand where their tools
//! are: A1 in `versus_fio`, A2 in `tools`, A5, A12 and A16 in `traced`, A10 in `injected`,
//! A13 in `percentiles`, A17 in `unprivileged`. What needs a tool that is not here is skipped aloud.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fio_parse::workload::command::parse_command;
use replay::plan::job::JobPlan;
use replay::plan::{Limits, Target, TestPlan, plan};
use replay::script::{Script, Step};
use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn have(program: &str) -> bool {
    let here = Command::new(program).arg("--version").output().is_ok();
    if !here {
        eprintln!("SKIPPED: {program} is not installed");
    }
    here
}

/// fio, which has hung on odd options: that must end the test and not the day.
fn fio(options: &str, home: &Path) -> Output {
    let output = Command::new("timeout")
        .args(["-k", "5", "60", "fio", "--name=j", "--output=/dev/null"])
        .args(options.split(' '))
        .current_dir(home)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{options}: {}",
        text(&output.stderr)
    );
    output
}

fn replay(arguments: &[&str], directory: &Path, words: &str) -> Output {
    Command::new("timeout")
        .args(["-k", "5", "60", env!("CARGO_BIN_EXE_fio-replay")])
        .args(arguments)
        .arg("--directory")
        .arg(directory)
        .args(["--", words])
        .output()
        .unwrap()
}

fn records(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The plan of the first job of these options.
fn planned(options: &str) -> JobPlan {
    let target = Target {
        direct_alignment: Some(512),
        ..Target::new(Limits::NONE)
    };
    let workload = parse_command(&format!("fio --name=j {options}")).unwrap();
    let TestPlan::Fio(fio) = plan(&workload, &target).unwrap().test else {
        panic!("a fio job")
    };
    fio.jobs.into_iter().next().unwrap()
}

/// The I/Os of a pass: write or read, and offset.
fn pass(script: &mut Script) -> Vec<(bool, u64)> {
    let mut ios = Vec::new();
    loop {
        match script.next() {
            Step::Io { write, offset, .. } => ios.push((write, offset)),
            Step::Sync { .. } | Step::Written { .. } => {}
            Step::Turn { write } => script.go(write),
            Step::Exhausted | Step::Complete => return ios,
        }
    }
}

fn offsets(options: &str) -> Vec<u64> {
    let ios = pass(&mut Script::new(&planned(options)));
    ios.into_iter().map(|io| io.1).collect()
}

/// The same job by this program and by fio, each in a directory of its own.
fn both(options: &str, home: &Path, there: &Path) -> (Command, Command) {
    let mut ours = Command::new(env!("CARGO_BIN_EXE_fio-replay"));
    ours.arg("--directory")
        .arg(home)
        .args(["--", "fio", "--name=j"])
        .args(options.split(' '));
    let mut theirs = Command::new("fio");
    theirs
        .args(["--name=j", "--output=/dev/null"])
        .args(options.split(' '))
        .current_dir(there);
    (ours, theirs)
}

/// Blocks of 512 bytes that a command and its children read from and wrote to storage.
fn blocks(command: &mut Command) -> (u64, u64) {
    const MEASURE: &str = "import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stderr.write(done.stderr.decode(errors='replace') if done.returncode else '')
print(used.ru_inblock, used.ru_oublock)
sys.exit(done.returncode)";
    let mut measured = Command::new("python3");
    measured
        .args(["-c", MEASURE])
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        measured.current_dir(directory);
    }
    let output = measured.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let mut numbers = printed.split_whitespace().map(|n| n.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn a3_the_kernel_charges_both_with_the_same_blocks() {
    if !(have("fio") && have("python3")) {
        return;
    }
    const MIB: u64 = 2048;
    for (options, read, written) in [
        ("--rw=read --bs=64k --size=8m --direct=1", 8 * MIB, 8 * MIB),
        ("--rw=write --bs=64k --size=8m --direct=1", 0, 8 * MIB),
        (
            "--rw=randread --bs=4k --size=8m --direct=1 --ioengine=libaio --iodepth=8",
            8 * MIB,
            8 * MIB,
        ),
        ("--rw=write --bs=4k --size=8m --end_fsync=1", 0, 8 * MIB),
        // Dropped from the cache at each open, and kept in it.
        ("--rw=read --bs=64k --size=8m --loops=3", 24 * MIB, 8 * MIB),
        (
            "--rw=read --bs=64k --size=8m --loops=3 --invalidate=0",
            8 * MIB,
            8 * MIB,
        ),
    ] {
        let (home, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (mut ours, mut theirs) = both(options, home.path(), there.path());
        // The first run of a program reads the program.
        let _ = blocks(Command::new("fio").arg("--version"));
        let _ = blocks(Command::new(env!("CARGO_BIN_EXE_fio-replay")).arg("--version"));
        let (ours, theirs) = (blocks(&mut ours), blocks(&mut theirs));
        println!(
            "{options}: here {ours:?}, fio {theirs:?}, expected {:?}",
            (read, written)
        );
        if theirs.1 == 0 {
            eprintln!("SKIPPED: the file system of the temporary directory counts no blocks");
            return;
        }
        // 1 %, and what the systems around may write: a directory block, a journal's.
        let near = |a: u64, b: u64| a.abs_diff(b) <= b / 100 + 64;
        assert!(
            near(ours.0, theirs.0) && near(ours.0, read),
            "{options}: {ours:?} {theirs:?}"
        );
        assert!(
            near(ours.1, theirs.1) && near(ours.1, written),
            "{options}: {ours:?} {theirs:?}"
        );
    }
}

/// fsync and fdatasync calls of a program and its children; nothing without strace.
fn syncs(command: &mut Command) -> Option<usize> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut traced = Command::new("timeout");
    traced
        .args([
            "-k",
            "5",
            "60",
            "strace",
            "-f",
            "-e",
            "trace=fsync,fdatasync",
            "-o",
        ])
        .arg(log.path())
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        traced.current_dir(directory);
    }
    let output = traced.output().ok()?;
    if !output.status.success() {
        eprintln!(
            "SKIPPED: strace cannot trace here: {}",
            text(&output.stderr)
        );
        return None;
    }
    let calls = fs::read_to_string(log.path()).unwrap();
    // A call that another thread's interrupts is printed in two parts.
    let begun = |line: &&str| line.contains("fsync(") || line.contains("fdatasync(");
    Some(calls.lines().filter(begun).count())
}

#[test]
fn a4_as_many_syncs_reach_the_kernel() {
    if !(have("fio") && have("strace")) {
        return;
    }
    // Sixteen writes; the last column counts the flush of ours where the test has none.
    for (options, expected, own) in [
        ("--rw=write --bs=4k --size=64k --fsync=4", 3, 1),
        ("--rw=write --bs=4k --size=64k --fsync=5", 3, 1),
        ("--rw=write --bs=4k --size=64k --fsync=1", 15, 1),
        ("--rw=write --bs=4k --size=64k --fdatasync=1", 15, 1),
        (
            "--rw=write --bs=4k --size=64k --fsync=4 --ioengine=libaio --iodepth=8",
            3,
            1,
        ),
        ("--rw=write --bs=4k --size=64k --end_fsync=1", 1, 0),
        (
            "--rw=write --bs=4k --size=64k --end_fsync=1 --loops=3",
            3,
            0,
        ),
        (
            "--rw=write --bs=4k --size=64k --end_fsync=1 --nrfiles=2",
            2,
            0,
        ),
        (
            "--rw=write --bs=4k --size=64k --end_fsync=1 --nrfiles=2 --numjobs=2",
            4,
            0,
        ),
        (
            "--rw=write --bs=4k --size=64k --fsync_on_close=1 --loops=2",
            3,
            0,
        ),
        // The layout's own.
        ("--rw=read --bs=4k --size=64k --end_fsync=1", 1, 0),
        ("--rw=read --bs=4k --size=64k --create_fsync=0", 0, 0),
    ] {
        let (home, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (mut ours, mut theirs) = both(options, home.path(), there.path());
        let (Some(ours), Some(theirs)) = (syncs(&mut ours), syncs(&mut theirs)) else {
            return;
        };
        assert_eq!((ours - own, theirs), (expected, expected), "{options}");
    }
}

/// The offsets that fio draws, from the log of its null engine.
fn fio_s_offsets(options: &str) -> Vec<u64> {
    let home = tempfile::tempdir().unwrap();
    fio(
        &format!("--ioengine=null --write_iolog=log {options}"),
        home.path(),
    );
    let log = fs::read_to_string(home.path().join("log")).unwrap();
    let offsets = log.lines().filter_map(|line| {
        let mut words = line
            .split(' ')
            .skip_while(|word| !["read", "write"].contains(word));
        words.next()?;
        words.next()?.parse().ok()
    });
    offsets.collect()
}

/// Share of the draws that the hottest hundredth of `blocks` blocks gets.
fn top_share(offsets: &[u64], blocks: usize) -> f64 {
    let mut counts = BTreeMap::<u64, u64>::new();
    for &offset in offsets {
        *counts.entry(offset).or_default() += 1;
    }
    let mut counts: Vec<u64> = counts.into_values().collect();
    counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    let top = counts.iter().take(blocks / 100).sum::<u64>();
    top as f64 / offsets.len() as f64
}

#[test]
fn a6_maps_and_distributions_are_fio_s() {
    let unique = |offsets: &[u64]| offsets.iter().collect::<HashSet<_>>().len();
    for options in [
        "",
        " --random_generator=lfsr",
        " --random_generator=lfsr --norandommap",
    ] {
        let offsets = offsets(&format!("--rw=randread --bs=4k --size=16m{options}"));
        assert_eq!((offsets.len(), unique(&offsets)), (4096, 4096), "{options}");
    }
    // n (1 - 1/e) with the deviation of that many draws with repeats.
    let n = 4096.0_f64;
    let found = unique(&offsets("--rw=randread --bs=4k --size=16m --norandommap"));
    let sigma = (n * (1.0 / std::f64::consts::E) * (1.0 - 2.0 / std::f64::consts::E)).sqrt();
    let expected = n * (1.0 - 1.0 / std::f64::consts::E);
    assert!(
        (found as f64 - expected).abs() < 3.0 * sigma,
        "{found} of {expected}"
    );
    if !have("fio") {
        return;
    }
    // 102400 draws each.
    for law in [
        "zipf:1.2",
        "zipf:0.8",
        "pareto:0.2",
        "pareto:0.9",
        "normal:20",
    ] {
        let options = format!("--rw=randread --bs=4k --size=400m --random_distribution={law}");
        let (ours, theirs) = (offsets(&options), fio_s_offsets(&options));
        assert_eq!((ours.len(), theirs.len()), (102_400, 102_400), "{law}");
        let (ours, theirs) = (top_share(&ours, 102_400), top_share(&theirs, 102_400));
        println!("{law}: hottest 1 % get {ours:.4} here, {theirs:.4} in fio");
        assert!((ours / theirs - 1.0).abs() < 0.1, "{law}: {ours} {theirs}");
    }
}

#[test]
fn a7_mixes_have_their_share_and_their_places() {
    for (mix, n) in [(70.0, 4096.0_f64), (50.0, 4096.0), (10.0, 4096.0)] {
        let job = planned(&format!("--rw=randrw --rwmixread={mix} --bs=4k --size=16m"));
        let ios = pass(&mut Script::new(&job));
        let reads = ios.iter().filter(|io| !io.0).count() as f64;
        let share = mix / 100.0;
        let sigma = (share * (1.0 - share) * n).sqrt();
        assert!((reads - n * share).abs() < 3.0 * sigma, "{mix}: {reads}");
    }
    // Two positions that both begin at the front: the pass ends in the middle.
    let ios = pass(&mut Script::new(&planned("--rw=rw --bs=4k --size=16m")));
    let last = ios.iter().map(|io| io.1 / 4096).max().unwrap() as f64;
    assert!((2048.0..2048.0 + 4.0 * 32.0).contains(&last), "{last}");
}

#[test]
fn a8_loops_repeat_wraps_renew_and_runs_repeat_each_other() {
    let options = "--rw=randwrite --bs=4k --size=1m";
    let job = planned(&format!("{options} --loops=2"));
    let mut script = Script::new(&job);
    let first = pass(&mut script);
    assert!(script.next_pass());
    assert_eq!(pass(&mut script), first, "loops");
    assert_eq!(pass(&mut Script::new(&job)), first, "another run");
    let mut wrapping = Script::new(&planned(&format!("{options} --time_based --runtime=9")));
    let before = pass(&mut wrapping);
    wrapping.wrap();
    let after = pass(&mut wrapping);
    assert_ne!(before, after, "a wrap");
    let sorted = |mut ios: Vec<(bool, u64)>| {
        ios.sort_unstable();
        ios
    };
    assert_eq!(sorted(before), sorted(after), "of the same blocks");
}

/// Whole and per-block zlib ratio, share of zero bytes, and distinct blocks of 4 KiB.
fn content(file: &Path) -> (f64, f64, f64, u64) {
    const MEASURE: &str = "import sys, zlib
data = open(sys.argv[1], 'rb').read()
blocks = [data[at:at + 4096] for at in range(0, len(data), 4096)]
print(len(zlib.compress(data)) / len(data),
      sum(len(zlib.compress(block)) for block in blocks) / len(data),
      data.count(0) / len(data), len(set(blocks)))";
    let output = Command::new("python3")
        .args(["-c", MEASURE])
        .arg(file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let numbers: Vec<f64> = printed
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect();
    (numbers[0], numbers[1], numbers[2], numbers[3] as u64)
}

fn only_file(directory: &Path) -> PathBuf {
    let entry = fs::read_dir(directory).unwrap().next().unwrap().unwrap();
    if entry.file_type().unwrap().is_dir() {
        only_file(&entry.path())
    } else {
        entry.path()
    }
}

#[test]
fn a9_what_is_written_compresses_as_fio_s_does() {
    if !(have("fio") && have("python3")) {
        return;
    }
    for options in [
        "--rw=write --bs=4k",
        "--rw=write --bs=64k",
        "--rw=write --bs=1m",
        "--rw=write --bs=4k --ioengine=posixaio --iodepth=1",
        "--rw=write --bs=4k --scramble_buffers=0",
        "--rw=write --bs=4k --refill_buffers",
        "--rw=write --bs=4k --zero_buffers",
        "--rw=write --bs=4k --buffer_compress_percentage=50",
        "--rw=write --bs=4k --buffer_compress_percentage=80 --buffer_compress_chunk=4k",
        "--rw=write --bs=4k --dedupe_percentage=50",
        "--rw=write --bs=4k --buffer_pattern=0xdeadbeef",
        // What the layout writes.
        "--rw=read --bs=4k",
    ] {
        let (home, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let all = format!("{options} --size=4m");
        fio(&all, there.path());
        let run = replay(&["--keep"], home.path(), &format!("fio --name=j {all}"));
        assert!(run.status.success(), "{all}: {}", text(&run.stderr));
        let (ours, theirs) = (
            content(&only_file(home.path())),
            content(&only_file(there.path())),
        );
        println!("{options}: here {ours:.3?}, fio {theirs:.3?}");
        let near = |a: f64, b: f64| (a - b).abs() <= 0.03;
        assert!(
            near(ours.0, theirs.0) && near(ours.1, theirs.1) && near(ours.2, theirs.2),
            "{options}: here {ours:?}, fio {theirs:?}"
        );
        // Repeats are drawn; without them the numbers are equal.
        assert!(
            ours.3.abs_diff(theirs.3) <= if options.contains("dedupe") { 64 } else { 0 },
            "{options}"
        );
    }
}

#[test]
fn a11_rates_and_pauses_are_kept_and_the_ramp_is_left_out() {
    let home = tempfile::tempdir().unwrap();
    // Side by side, so that the test takes as long as its longest job: ten seconds.
    let words = "fio --rw=randwrite --bs=4k --size=16m \
        --name=linear --rate_iops=100 --number_ios=1000 \
        --name=drawn --rate_iops=400 --rate_process=poisson --number_ios=4000 \
        --name=pauses --thinktime=20ms --thinktime_blocks=4 --number_ios=400 \
        --name=ramp --rate_iops=50 --ramp_time=1 --runtime=2 --time_based";
    let output = replay(&["--format", "jsonl"], home.path(), words);
    let records = records(&output);
    let measured = |job: &str| {
        let record = records
            .iter()
            .find(|record| record["scope"]["job"] == job)
            .unwrap();
        let seconds = record["measurement"]["runtime_ns"]["value"]
            .as_f64()
            .unwrap()
            / 1e9;
        (
            record["measurement"]["ios"]["total"].as_u64().unwrap(),
            seconds,
        )
    };
    let (ios, seconds) = measured("linear");
    assert_eq!(ios, 1000);
    assert!(
        (ios as f64 / seconds / 100.0 - 1.0).abs() < 0.01,
        "{ios} in {seconds} s"
    );
    let (ios, seconds) = measured("drawn");
    // The sum of 4000 exponential gaps: three of its deviations.
    let off = (ios as f64 / seconds / 400.0 - 1.0).abs();
    assert!(
        off < 3.0 / (4000.0_f64).sqrt() + 0.01,
        "{ios} in {seconds} s"
    );
    // fio counts one after the last I/O too; here none is.
    let (ios, seconds) = measured("pauses");
    assert!(
        ios == 400 && (1.97..2.3).contains(&seconds),
        "{ios} in {seconds} s"
    );
    let (ios, seconds) = measured("ramp");
    assert!(
        (99..=101).contains(&ios) && (1.99..2.1).contains(&seconds),
        "{ios} in {seconds} s"
    );
}

/// The tests of two well-known comparisons at a sixteenth of their size, for two seconds.
#[test]
fn a18_the_well_known_tests_are_equivalent_with_the_flush_apart() {
    for (words, jobs) in [
        (
            "fio --name=random-write --ioengine=posixaio --rw=randwrite --bs=4k --size=256m --numjobs=1 --iodepth=1 --runtime=2 --time_based --end_fsync=1",
            1,
        ),
        (
            "fio --name=random-write --ioengine=posixaio --rw=randwrite --bs=1m --size=1g --numjobs=1 --iodepth=1 --runtime=2 --time_based --end_fsync=1",
            1,
        ),
        (
            "fio --name=random-write --ioengine=posixaio --rw=randwrite --bs=64k --size=16m --numjobs=16 --iodepth=16 --runtime=2 --time_based --end_fsync=1",
            16,
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let records = records(&replay(&["--format", "jsonl"], home.path(), words));
        let group = records
            .iter()
            .find(|record| record["scope"]["kind"] == "group")
            .unwrap();
        assert_eq!(group["scope"]["jobs"], jobs, "{words}");
        assert_eq!(
            group["fidelity"]["verdict"], "equivalent",
            "{words}: {group}"
        );
        let figure = |name: &str| group["measurement"][name]["value"].as_f64().unwrap();
        let (run, writing, flush) = (
            figure("runtime_ns"),
            figure("io_phase_ns"),
            figure("flush_ns"),
        );
        assert!(writing >= 2e9 && flush > 0.0, "{words}: {writing} {flush}");
        // The flush is inside the run time, which is in whole milliseconds.
        assert!(
            (run - writing - flush).abs() <= 1e6,
            "{words}: {run} {writing} {flush}"
        );
    }
    let home = tempfile::tempdir().unwrap();
    let words = "time sh -c \"dd if=/dev/zero of=test bs=64M count=10 && sync\"";
    let records = records(&replay(&["--format", "jsonl"], home.path(), words));
    let (record, measured) = (&records[0], &records[0]["measurement"]);
    assert_eq!(record["fidelity"]["verdict"], "equivalent", "{record}");
    let notes = record["fidelity"]["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["id"] == "sync-narrowed"));
    let figure = |name: &str| measured[name]["value"].as_f64().unwrap();
    assert_eq!(figure("bytes"), 671_088_640.0);
    assert!(
        figure("sync_ns") > 0.0 && figure("wall_ns") >= figure("runtime_ns") + figure("sync_ns")
    );
}
