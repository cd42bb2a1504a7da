//! Real fio and this program on the same command: for jobs that end by their amount of I/O,
//! I/Os, bytes, syncs and file sizes must be equal. Skipped aloud where fio is not installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What is compared. Mixes are drawn from another random stream, so only their sum counts.
#[derive(Debug, PartialEq, Eq, Default)]
struct Moved {
    reads: (u64, u64),
    writes: (u64, u64),
    syncs: u64,
    file_sizes: BTreeMap<u64, u32>,
}

impl Moved {
    fn mixed(self) -> Self {
        let sum = (self.reads.0 + self.writes.0, self.reads.1 + self.writes.1);
        Moved {
            reads: sum,
            writes: (0, 0),
            syncs: 0,
            ..self
        }
    }
}

fn sizes(directory: &Path, found: &mut BTreeMap<u64, u32>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            sizes(&entry.path(), found);
        } else {
            *found.entry(metadata.len()).or_default() += 1;
        }
    }
}

fn fio(options: &str) -> Moved {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new("fio")
        .args(["--output-format=json", "--name=j"])
        .args(options.split(' '))
        .current_dir(home.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "fio {options}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: Value = serde_json::from_str(&text[text.find("{\n").unwrap()..]).unwrap();
    let mut moved = Moved::default();
    for job in json["jobs"].as_array().unwrap() {
        let number = |part: &str, name: &str| job[part][name].as_u64().unwrap();
        // With --group_reporting there is one entry, else one per clone.
        moved.reads.0 += number("read", "total_ios");
        moved.reads.1 += number("read", "io_bytes");
        moved.writes.0 += number("write", "total_ios");
        moved.writes.1 += number("write", "io_bytes");
        // total_ios of syncs stays 0 for fdatasync; the number of latencies is right.
        moved.syncs += job["sync"]["lat_ns"]["N"].as_u64().unwrap_or(0);
    }
    sizes(home.path(), &mut moved.file_sizes);
    moved
}

fn replay(options: &str) -> Moved {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .args(["--format", "jsonl", "--keep", "--directory"])
        .arg(home.path())
        .arg("--")
        .args(["fio", "--name=j"])
        .args(options.split(' '))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fio-replay {options}: {said}");
    let mut moved = Moved::default();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let fidelity = &record["fidelity"];
        let issued = |name: &str| fidelity["issued"][name].as_u64().unwrap();
        // A plan that time may end promises no counts.
        if !options.contains("--runtime") {
            assert_eq!(fidelity["planned"], fidelity["issued"], "{options}");
        }
        moved.syncs = issued("syncs");
        if record["scope"]["kind"] != "group" {
            continue;
        }
        let exact = |name: &str| {
            let reading = &record["measurement"][name];
            assert_eq!(reading["lo"], reading["hi"], "{options}: {name}");
            reading["value"].as_u64().unwrap()
        };
        let (count, bytes) = match record["direction"].as_str().unwrap() {
            "read" => (issued("reads"), exact("bytes")),
            _ => (issued("writes"), exact("bytes")),
        };
        if record["direction"] == "read" {
            moved.reads = (count, bytes);
        } else {
            moved.writes = (count, bytes);
        }
    }
    sizes(home.path(), &mut moved.file_sizes);
    moved
}

/// Jobs whose figures are all determined.
const JOBS: &[&str] = &[
    "--rw=read --bs=4k --size=1m",
    "--rw=read --bs=64k --size=1m",
    "--rw=read --bs=1m --size=4m",
    "--rw=read --bs=4k --size=1000000",
    "--rw=read --bs=16k --size=100k --offset=10k",
    "--rw=read --bs=4k --size=64k --loops=3",
    "--rw=read --bs=4k --size=64k --loops=2 --io_size=300k",
    "--rw=write --bs=4k --size=1m",
    "--rw=write --bs=64k --size=1m",
    "--rw=write --bs=1m --size=4m --end_fsync=1",
    "--rw=write --bs=4k --size=1000000",
    "--rw=write --bs=1000 --size=64k",
    "--rw=write --bs=4k --size=6k",
    "--rw=write --bs=4k --size=64k --loops=3 --end_fsync=1",
    "--rw=write --bs=4k --size=64k --io_size=200k",
    "--rw=write --bs=4k --size=1m --io_size=10000",
    "--rw=write --bs=4k --size=1000000 --io_size=1500000",
    "--rw=write --bs=4k --size=1000000 --loops=2",
    "--rw=write --bs=4k --size=64k --io_size=32k --loops=2",
    "--rw=write --bs=4k --size=64k --io_size=100k --loops=2",
    "--rw=write --bs=4k --filesize=64k --size=128k",
    "--rw=write --bs=4k --filesize=128k --size=64k",
    "--rw=write --bs=4k --filesize=128k",
    "--rw=write --bs=16k --size=100k --offset=16k",
    "--rw=write --bs=4k --size=64k --fsync=4",
    "--rw=write --bs=4k --size=64k --fsync=5",
    "--rw=write --bs=4k --size=64k --fsync=1",
    "--rw=write --bs=4k --size=64k --fdatasync=1",
    "--rw=write --bs=4k --size=64k --fsync=4 --fdatasync=2",
    "--rw=write --bs=4k --size=64k --fsync=4 --loops=2",
    "--rw=write --bs=4k --size=64k --fsync=16 --loops=2",
    "--rw=write --bs=4k --size=64k --fsync=4 --io_size=200k",
    "--rw=write --bs=4k --size=1000000 --fsync=4",
    "--rw=write --bs=4k --size=64k --fsync_on_close=1 --loops=2",
    "--rw=write --bs=4k --size=64k --sync=1",
    "--rw=write --bs=4k --size=64k --sync=dsync",
    "--rw=write --bs=4k --size=64k --numjobs=3",
    "--rw=write --bs=4k --size=64k --numjobs=3 --group_reporting",
    "--rw=write --bs=4k --size=64k --overwrite=1",
    "--rw=write --bs=4k --size=64k --invalidate=0 --fallocate=none",
    "--rw=write --bs=4k --size=64k --io_size=4k --fallocate=keep",
    "--rw=write --bs=4k --size=64k --io_size=4k --fallocate=truncate",
    "--rw=write --bs=4k --size=64k --io_size=4k --fallocate=none",
    "--rw=write --bs=4k --size=64k --io_size=4k --fallocate=none --overwrite=1",
    "--rw=read --bs=4k --size=64k --io_size=4k --fallocate=keep",
    "--rw=write --bs=4k --size=64k --zero_buffers",
    "--rw=write --bs=4k --size=64k --refill_buffers",
    "--rw=randread --bs=4k --size=1m",
    "--rw=randread --bs=4k --size=1000000",
    "--rw=randread --bs=4k --size=256k --numjobs=2 --group_reporting",
    "--rw=randread --bs=4k --size=256k --runtime=30",
    "--rw=randwrite --bs=4k --size=1m",
    "--rw=randwrite --bs=4k --size=1000000 --loops=3",
    "--rw=randwrite --bs=4k --size=1000000 --norandommap",
    "--rw=randwrite --bs=4k --size=1000000 --norandommap --loops=2",
    "--rw=randwrite --bs=4k --size=1m --fsync=32 --end_fsync=1",
    "--rw=randwrite --bs=4k --size=1000000 --fsync=61",
    "--rw=randwrite --bs=4k --size=1m --ioengine=sync",
    "--rw=randwrite --bs=4k --size=1m --ioengine=pvsync2",
    "--rw=randwrite --bs=4k --size=1m --ioengine=io_uring --iodepth=16",
    "--rw=randread --bs=4k --size=1m --ioengine=io_uring --iodepth=16",
    "--rw=write --bs=4k --size=64k --ioengine=io_uring --iodepth=1 --fsync=4",
    "--rw=randread --bs=4k --size=1m --ioengine=libaio --iodepth=8",
    "--rw=randwrite --bs=4k --size=1m --ioengine=posixaio --iodepth=1 --end_fsync=1",
    "--rw=randread --bs=4k --size=1m --ioengine=posixaio --iodepth=8",
];

/// The same on storage that takes O_DIRECT; the temporary directory may not.
const DIRECT_JOBS: &[&str] = &[
    "--rw=read --bs=64k --size=1m --direct=1",
    "--rw=randread --bs=4k --size=1m --direct=1 --ioengine=libaio --iodepth=32",
    "--rw=randwrite --bs=4k --size=1m --direct=1 --ioengine=libaio --iodepth=8 --fsync=4",
    "--rw=randread --bs=4k --size=1m --direct=1 --ioengine=io_uring --iodepth=32",
    "--rw=write --bs=128k --size=4m --direct=1 --ioengine=io_uring --iodepth=4 --end_fsync=1",
];

/// Jobs that mix reads and writes: only sums are determined.
const MIXED_JOBS: &[&str] = &[
    "--rw=rw --bs=4k --size=1m",
    "--rw=rw --bs=4k --size=1000000",
    "--rw=rw --bs=4k --size=64k --loops=2",
    "--rw=rw --bs=4k --size=64k --io_size=200k",
    "--rw=randrw --bs=4k --size=1m --rwmixread=70",
    "--rw=randrw --bs=4k --size=1000000",
    "--rw=randrw --bs=4k --size=64k --loops=3",
    "--rw=randrw --bs=8k --size=1m --numjobs=2 --group_reporting",
    "--rw=randrw --bs=4k --size=1m --ioengine=io_uring --iodepth=8",
];

fn fio_is_here() -> bool {
    let here = Command::new("fio")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !here {
        eprintln!("SKIPPED: fio is not installed, so nothing was compared with it");
    }
    here
}

/// Some engines need what a container may forbid; then fio fails as well.
fn io_uring_is_permitted() -> bool {
    let answer = replay::engine::uring::available();
    if let Err(why) = &answer {
        eprintln!("SKIPPED: io_uring jobs: {why}");
    }
    answer.is_ok()
}

fn compare(jobs: &[&str], change: fn(Moved) -> Moved) {
    if !fio_is_here() {
        return;
    }
    let uring = io_uring_is_permitted();
    for job in jobs.iter().filter(|job| uring || !job.contains("io_uring")) {
        assert_eq!(change(replay(job)), change(fio(job)), "{job}");
    }
}

#[test]
fn finite_jobs_do_what_fio_does() {
    compare(JOBS, |moved| moved);
}

#[test]
fn direct_jobs_do_what_fio_does() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = replay::sandbox::Sandbox::create(home.path()).unwrap();
    match sandbox.direct_alignment().unwrap() {
        Some(512 | 4096) => compare(DIRECT_JOBS, |moved| moved),
        other => eprintln!("SKIPPED: the temporary directory has no usual O_DIRECT ({other:?})"),
    }
}

#[test]
fn mixed_jobs_do_as_much_as_fio_does() {
    compare(MIXED_JOBS, Moved::mixed);
}
