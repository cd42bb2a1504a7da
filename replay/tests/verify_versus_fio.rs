//! Jobs that write what can be checked, beside real fio: the time that each direction has, and
//! whether either reads the blocks that the other wrote. Skipped aloud where fio is not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use replay::plan::job::Check;
use serde_json::Value;

fn fio_is_here() -> bool {
    let version = Command::new("fio").arg("--version").output();
    let here = version.is_ok_and(|output| output.status.success());
    if !here {
        eprintln!("SKIPPED: fio is not installed, so nothing was compared with it");
    }
    here
}

fn fio(directory: &Path, options: &str) -> Output {
    Command::new("timeout")
        .args(["-k", "5", "60", "fio", "--verify_state_save=0", "--name=j"])
        .args(options.split(' '))
        .current_dir(directory)
        .output()
        .unwrap()
}

fn replay(directory: &Path, formats: &[String], keep: bool, options: &str) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .arg("-q")
        .args(formats.iter().flat_map(|format| ["--format", format]))
        .arg("--directory")
        .arg(directory)
        .args(keep.then_some("--keep"))
        .args(["--", "fio", "--name=j"])
        .args(options.split(' '))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fio-replay {options}: {said}");
    output.stdout
}

fn json() -> [String; 1] {
    ["json".to_owned()]
}

/// Run times in milliseconds of reads and writes, and of the whole job, from fio's JSON.
fn run_times(text: &[u8]) -> [u64; 3] {
    let text = String::from_utf8_lossy(text);
    let json: Value = serde_json::from_str(&text[text.find("{\n").unwrap()..]).unwrap();
    let job = &json["jobs"][0];
    let time = |value: &Value| value.as_u64().unwrap();
    [
        time(&job["read"]["runtime"]),
        time(&job["write"]["runtime"]),
        time(&job["job_runtime"]),
    ]
}

/// The rate of the writes makes them take their time; the reads that check them have none, so
/// what they take beside it is next to nothing, in fio and here.
#[test]
fn each_direction_has_the_time_of_its_own_phase() {
    // Options, the time of the writes and that of the reads among them, ms.
    for (options, writes, mixed) in [
        (
            "--rw=write --bs=4k --size=2m --rate=,2m --verify=crc32c",
            1000,
            0,
        ),
        (
            "--rw=write --bs=4k --size=1m --rate=,2m --verify=md5 --loops=2 --end_fsync=1",
            1000,
            0,
        ),
        (
            "--rw=write --bs=4k --size=1m --rate=,1m --verify=crc32c --numjobs=2 --group_reporting",
            1000,
            0,
        ),
        (
            "--rw=randrw --bs=4k --size=2m --rate=1m,1m --verify=md5",
            1000,
            1000,
        ),
        (
            "--rw=write --bs=4k --size=256k --thinktime=10ms --verify=crc32c",
            640,
            0,
        ),
        // No one waits for the slower one of a group.
        (
            "--rw=write --bs=4k --size=1m --rate=,1m --group_reporting --name=r --rw=read --size=64k",
            1000,
            0,
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut runs = vec![("here", replay(home.path(), &json(), false, options))];
        if fio_is_here() {
            let options = format!("--output-format=json {options}");
            runs.push(("fio", fio(home.path(), &options).stdout));
        }
        for (whose, text) in runs {
            let [reads, wrote, _] = run_times(&text);
            // A busy machine makes it longer, nothing makes it shorter.
            assert!(
                (writes * 9 / 10..writes * 3 / 2).contains(&wrote),
                "{whose} {options}: {wrote} ms"
            );
            assert!(
                (mixed * 9 / 10..mixed + 400).contains(&reads),
                "{whose} {options}: {reads} ms"
            );
        }
    }
}

/// I/Os of each direction and the error, from fio's JSON.
fn counts(text: &[u8]) -> [u64; 3] {
    let text = String::from_utf8_lossy(text);
    let json: Value = serde_json::from_str(&text[text.find("{\n").unwrap()..]).unwrap();
    let job = &json["jobs"][0];
    [
        &job["read"]["total_ios"],
        &job["write"]["total_ios"],
        &job["error"],
    ]
    .map(|value| value.as_u64().unwrap())
}

/// `verify=null` reads back and looks at nothing, and what the null engine gives back is not looked at either.
#[test]
fn what_is_not_looked_at_is_read_back_all_the_same() {
    // Options, reads and writes: fio 3.33 counts these.
    for (options, reads, writes) in [
        ("--rw=write --verify=null", 16, 16),
        ("--rw=randwrite --verify=null --loops=2", 32, 32),
        ("--rw=write --verify=null --verify_backlog=4", 16, 16),
        ("--rw=write --verify=null --do_verify=0", 0, 16),
        ("--rw=read --verify=null", 16, 0),
        ("--rw=write --verify=crc32c --ioengine=null", 16, 16),
        (
            "--rw=randwrite --verify=md5 --ioengine=null --iodepth=4",
            16,
            16,
        ),
    ] {
        let options = format!("--bs=4k --size=64k {options}");
        let home = tempfile::tempdir().unwrap();
        let mut runs = vec![("here", replay(home.path(), &json(), false, &options))];
        if fio_is_here() {
            let options = format!("--output-format=json {options}");
            runs.push(("fio", fio(home.path(), &options).stdout));
        }
        for (whose, text) in runs {
            assert_eq!(counts(&text), [reads, writes, 0], "{whose} {options}");
        }
    }
}

/// The same times in each form.
#[test]
fn every_form_gives_each_direction_its_own_time() {
    let home = tempfile::tempdir().unwrap();
    let out = |name: &str| home.path().join(name);
    let mut forms = json().to_vec();
    for name in ["jsonl", "terse", "text"] {
        forms.push(format!("{name}={}", out(name).display()));
    }
    let options = "--rw=write --bs=4k --size=1m --rate=,2m --verify=crc32c";
    let [reads, writes, whole] = run_times(&replay(home.path(), &forms, false, options));
    assert!(
        reads < writes && reads + writes <= whole + 2,
        "{reads} + {writes} of {whole} ms"
    );
    let text = fs::read_to_string(out("text")).unwrap();
    for (title, ms) in [("READ", reads), ("WRITE", writes)] {
        let line = text
            .lines()
            .find(|line| line.contains(&format!("{title}: bw=")))
            .unwrap();
        assert!(line.ends_with(&format!("run={ms}-{ms}msec")), "{line}");
    }
    let terse = fs::read_to_string(out("terse")).unwrap();
    let fields: Vec<&str> = terse.split(';').collect();
    // fio's terse version 3: run times are the fields 9 and 50.
    assert_eq!(
        (fields[8], fields[49]),
        (reads.to_string().as_str(), writes.to_string().as_str())
    );
    let mut seen = 0;
    for line in fs::read_to_string(out("jsonl")).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let ms = if record["direction"] == "read" {
            reads
        } else {
            writes
        };
        let found = &record["measurement"]["runtime_ns"]["value"];
        assert_eq!(found.as_f64(), Some(ms as f64 * 1e6), "{line}");
        seen += 1;
    }
    assert_eq!(seen, 2, "one record of reads and one of writes");
}

/// The only file below a directory.
fn kept(directory: &Path) -> PathBuf {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false if fs::metadata(&path).unwrap().len() > 0 => found.push(path),
                false => {}
            }
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

const CHECKS: &[&str] = &[
    "--verify=crc32c",
    "--verify=md5",
    "--verify=pattern --verify_pattern=0xdeadbeef",
    "--verify=md5 --verify_pattern=0x0123456789",
];

#[test]
fn fio_finds_the_blocks_right_that_are_written_here() {
    if !fio_is_here() {
        return;
    }
    for check in CHECKS {
        for how in ["--do_verify=0", "--loops=2"] {
            for rw in [
                "--rw=write --bs=4k",
                "--rw=randwrite --bs=16k --ioengine=libaio --iodepth=4 --direct=1",
            ] {
                let home = tempfile::tempdir().unwrap();
                replay(
                    home.path(),
                    &json(),
                    true,
                    &format!("{rw} --size=256k {check} {how}"),
                );
                let file = kept(home.path());
                let block = rw.split(' ').nth(1).unwrap();
                let name = file.display();
                for read in [
                    format!("--rw=read {block} --filename={name} {check}"),
                    format!(
                        "--rw=write {block} --size=256k --filename={name} {check} --verify_only"
                    ),
                ] {
                    let answer = fio(home.path(), &read);
                    let said = String::from_utf8_lossy(&answer.stderr);
                    assert!(answer.status.success(), "{rw} {how}, then {read}: {said}");
                    assert!(!said.contains("verify"), "{said}");
                }
                // fio looks at each block: a byte that is changed makes it fail.
                let mut bytes = fs::read(&file).unwrap();
                bytes[100_000] ^= 1;
                fs::write(&file, bytes).unwrap();
                let read = format!("--rw=read {block} --filename={name} {check}");
                assert!(!fio(home.path(), &read).status.success(), "{read}");
            }
        }
    }
}

#[test]
fn blocks_that_fio_writes_are_found_right() {
    if !fio_is_here() {
        return;
    }
    for (check, kind) in [("crc32c", Check::Crc32c), ("md5", Check::Md5)] {
        let home = tempfile::tempdir().unwrap();
        let options = format!("--rw=randwrite --bs=8k --size=256k --do_verify=0 --verify={check}");
        assert!(fio(home.path(), &options).status.success());
        let mut bytes = fs::read(kept(home.path())).unwrap();
        assert_eq!(bytes.len(), 256 << 10);
        for (number, block) in bytes.chunks_mut(8192).enumerate() {
            let offset = number as u64 * 8192;
            assert_eq!(replay::verify::check(&kind, block, offset), Ok(()));
            block[5000] ^= 1;
            assert!(replay::verify::check(&kind, block, offset).is_err());
        }
    }
}

#[test]
fn a_job_that_only_writes_checksums_is_told_to_fio_as_that() {
    let home = tempfile::tempdir().unwrap();
    let job = home.path().join("job.fio");
    for (check, lines) in [
        (CHECKS[0], &["verify=crc32c"][..]),
        (CHECKS[2], &["verify=pattern", "verify_pattern=0xdeadbeef"]),
        (CHECKS[3], &["verify=md5", "verify_pattern=0x0123456789"]),
    ] {
        let emitted = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
            .arg("--emit-fio")
            .arg(&job)
            .args([
                "--",
                "fio",
                "--name=j",
                "--rw=write",
                "--size=64k",
                "--do_verify=0",
            ])
            .args(check.split(' '))
            .output()
            .unwrap();
        assert!(emitted.status.success());
        let text = fs::read_to_string(&job).unwrap();
        for line in lines.iter().chain(&["do_verify=0"]) {
            assert!(text.lines().any(|told| told == *line), "{line} in:\n{text}");
        }
        for extra in ["buffer_pattern", "refill_buffers", "scramble_buffers"] {
            assert!(!text.contains(extra), "{extra} in:\n{text}");
        }
        fs::remove_file(&job).unwrap();
    }
}
