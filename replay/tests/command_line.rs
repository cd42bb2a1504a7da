//! The program itself: what it touches, what it leaves, what it says, how it ends.
//!
//! Long because each test is one call of the program as a person makes it, with all that it must leave behind.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fio-replay"))
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/logs")
        .join(name)
        .join("input.txt")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn entries(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

fn command(directory: Option<&Path>, words: &str) -> Output {
    let mut program = program();
    if let Some(directory) = directory {
        program.arg("--directory").arg(directory);
    }
    program.arg("--").args(words.split(' ')).output().unwrap()
}

fn records(output: &Output) -> Vec<Value> {
    text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn without_a_directory_the_plan_is_printed_and_nothing_touched() {
    let home = tempfile::tempdir().unwrap();
    let output = program()
        .arg(fixture("laptops-fio-2021"))
        .current_dir(home.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let plan = text(&output.stdout);
    for part in [
        "workload 1: randwrite bs=4096",
        "shared by 3 results",
        "4 GiB",
        "16 GiB",
        "60.0 s",
        "equivalent",
        "posixaio-linux-serial",
    ] {
        assert!(plan.contains(part), "{part} is missing:\n{plan}");
    }
    assert!(text(&output.stderr).contains("--directory DIR"));
    assert_eq!(entries(home.path()), [""; 0]);
}

#[test]
fn both_posts_run_scaled_down_and_leave_nothing() {
    for (post, workloads, section) in [
        ("laptops-fio-2021", 2, Some("Small random writes")),
        ("disk-speeds-dd-2020", 2, None),
    ] {
        let home = tempfile::tempdir().unwrap();
        let canary = home.path().join("canary");
        fs::write(&canary, "untouched").unwrap();
        let output = program()
            .arg(fixture(post))
            .args([
                "--size",
                "8m",
                "--runtime",
                "300ms",
                "--format",
                "jsonl",
                "--machine",
                "bench",
            ])
            .arg("--directory")
            .arg(home.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let records = records(&output);
        assert_eq!(
            records.len(),
            workloads,
            "each workload runs once, however many results share it"
        );
        for record in &records {
            assert_eq!(
                (&record["v"], &record["machine"]["text"]),
                (&1.into(), &"bench".into())
            );
            assert_eq!(record["source"]["dialect"], "replay");
            assert_eq!(record["fidelity"]["verdict"], "deviates");
            let ids: Vec<&str> = record["fidelity"]["notes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|note| note["id"].as_str().unwrap())
                .collect();
            assert!(ids.contains(&"scaled-size"), "{ids:?}");
            for (name, reading) in record["measurement"].as_object().unwrap() {
                if reading.get("lo").is_some() {
                    assert_eq!(reading["lo"], reading["hi"], "{name} is exact");
                }
            }
            for stage in ["bytes_per_sec", "io_phase_ns", "flush_ns"] {
                assert!(
                    record["measurement"][stage]["value"].as_f64().unwrap() > 0.0,
                    "{stage}"
                );
            }
        }
        if let Some(section) = section {
            assert_eq!(
                records[0]["section"].as_array().unwrap().last().unwrap()["text"],
                section
            );
        } else {
            let measured = &records[0]["measurement"];
            assert_eq!(measured["wall_covers"], "run-and-sync");
            assert!(
                measured["wall_ns"]["value"].as_f64() >= measured["runtime_ns"]["value"].as_f64()
            );
            assert!(measured["sync_ns"]["value"].as_f64().unwrap() > 0.0);
        }
        assert_eq!(entries(home.path()), ["canary"]);
        assert_eq!(fs::read_to_string(&canary).unwrap(), "untouched");
    }
}

#[test]
fn job_files_run_stage_by_stage() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("jobs.fio");
    fs::write(&file, "[global]\nsize=256k\nbs=4k\n\n[first]\nrw=write\nnumjobs=2\ngroup_reporting\n\n[second]\nstonewall\nrw=randread\n").unwrap();
    let output = program()
        .args(["--format", "jsonl", "--directory"])
        .arg(home.path())
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let records = records(&output);
    let seen: Vec<(&str, u64, u64)> = records
        .iter()
        .map(|record| {
            let bytes = record["measurement"]["bytes"]["value"].as_u64().unwrap();
            (
                record["direction"].as_str().unwrap(),
                record["scope"]["group"].as_u64().unwrap(),
                bytes,
            )
        })
        .collect();
    assert_eq!(seen, [("write", 0, 512 << 10), ("read", 1, 256 << 10)]);
    assert_eq!(entries(home.path()), ["jobs.fio"]);
}

#[test]
fn records_can_be_replayed_again() {
    let home = tempfile::tempdir().unwrap();
    let directory = [
        "--directory",
        home.path().to_str().unwrap(),
        "--format",
        "jsonl",
    ];
    let first = program()
        .args(directory)
        .args(["--", "fio --name=a --rw=write --bs=4k --size=64k"])
        .output()
        .unwrap();
    let mut second = program()
        .args(directory)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    second
        .stdin
        .take()
        .unwrap()
        .write_all(&first.stdout)
        .unwrap();
    let second = second.wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(0));
    let (first, second) = (records(&first), records(&second));
    assert_eq!(
        first[0]["measurement"]["bytes"],
        second[0]["measurement"]["bytes"]
    );
    assert_eq!(first[0]["workload"]["key"], second[0]["workload"]["key"]);
}

#[test]
fn files_and_devices_that_a_text_names_are_not_opened() {
    let home = tempfile::tempdir().unwrap();
    let victim = home.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let named = victim.display();
    for words in [
        format!("fio --name=a --rw=write --bs=4k --size=64k --filename={named}"),
        format!(
            "fio --name=../victim --rw=write --bs=4k --size=64k --directory={}",
            home.path().display()
        ),
        format!(
            "fio --name=a --rw=randrw --bs=4k --size=64k --filename={named} --overwrite=1 --unlink=1"
        ),
        format!("dd if=/dev/zero of={named} bs=4k count=4"),
        format!("dd if={named} of=/dev/null bs=4k count=4"),
        format!("dd if=/dev/zero of={named} bs=4k count=4 conv=notrunc"),
    ] {
        let output = command(Some(home.path()), &words);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{words}: {}",
            text(&output.stderr)
        );
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{words}");
        assert_eq!(entries(home.path()), ["victim"], "{words}");
    }
}

#[test]
fn refusals_name_their_reasons_all_at_once_and_touch_nothing() {
    let home = tempfile::tempdir().unwrap();
    let output = command(
        Some(home.path()),
        "fio --name=a --rw=write --size=1m --ioengine=rbd --exec_prerun=date",
    );
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(
        said.contains("rbd") && said.contains("exec_prerun runs programs"),
        "{said}"
    );
    assert_eq!(entries(home.path()), [""; 0]);
    let output = command(None, "fio --name=a --rw=write --size=100t");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("--size"));
    let output = command(
        Some(home.path()),
        "fio --name=a --rw=read --bs=2300 --size=1m --direct=1",
    );
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("multiples of"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn wrong_calls_and_unreadable_inputs_end_with_2() {
    let code = |arguments: &[&str]| {
        let output = program()
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (found, said) = code(&["/nowhere/at/all"]);
    assert!(
        found == Some(2) && said.contains("/nowhere/at/all"),
        "{said}"
    );
    let (found, said) = code(&["/"]);
    assert!(found == Some(2) && said.contains("directory"), "{said}");
    assert_eq!(code(&["--size", "much"]).0, Some(2));
    assert_eq!(code(&["--engine", "magic"]).0, Some(2));
    assert_eq!(code(&["--", "ls", "-l"]).0, Some(2));
    let (found, said) = code(&["dd", "if=/dev/zero", "of=x", "count=1"]);
    assert!(
        found == Some(2) && said.contains("-- dd if=/dev/zero"),
        "{said}"
    );
    let (found, said) = code(&["fio", "--name=a"]);
    assert!(
        found == Some(2) && said.contains("-- fio --name=a"),
        "{said}"
    );
    for device in ["/dev/zero", "x=/dev/urandom"] {
        let (found, said) = code(&[device]);
        assert!(found == Some(2) && said.contains("is a device"), "{said}");
    }
    let (found, said) = code(&["-"]);
    assert!(found == Some(2) && said.contains("no command"), "{said}");
    let (found, said) = code(&[
        "--directory",
        "/nowhere",
        "--",
        "fio",
        "--name=a",
        "--size=64k",
    ]);
    assert!(found == Some(2) && said.contains("/nowhere"), "{said}");
}

#[test]
fn odd_inputs_end_with_a_message() {
    let home = tempfile::tempdir().unwrap();
    let mut noise = vec![0u8; 100_000];
    let mut state = 1u64;
    noise.iter_mut().for_each(|byte| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        *byte = (state >> 56) as u8;
    });
    let truncated = fs::read(fixture("laptops-fio-2021")).unwrap();
    for (name, bytes, code) in [
        ("noise", noise, 2),
        ("empty", Vec::new(), 2),
        ("truncated", truncated[..truncated.len() / 3].to_vec(), 0),
        ("not-a-record", b"{\"v\":1}\n".to_vec(), 2),
    ] {
        let path = home.path().join(name);
        fs::write(&path, bytes).unwrap();
        let output = program().arg(&path).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name}: {said}");
        assert!(!said.contains("panicked"), "{name}: {said}");
    }
}

#[test]
fn talk_that_cannot_be_written_changes_nothing() {
    for directory in [false, true] {
        let home = tempfile::tempdir().unwrap();
        let mut program = program();
        if directory {
            program.arg("--directory").arg(home.path());
        }
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = program
            .args(["--", "fio", "--name=a", "--rw=write", "--size=64k"])
            .stderr(full)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(!output.stdout.is_empty());
        assert_eq!(entries(home.path()), [""; 0]);
    }
}

#[test]
fn a_write_that_fails_is_reported_with_what_was_measured() {
    let home = tempfile::tempdir().unwrap();
    // 64 KiB may be written, the file is 1 MiB; bash counts blocks of 1024 bytes.
    let line = format!(
        "ulimit -f 64; exec {} --format jsonl --directory {} -- 'fio --name=a --rw=write --bs=4k --size=1m --fallocate=none'",
        env!("CARGO_BIN_EXE_fio-replay"),
        home.path().display()
    );
    let Ok(output) = Command::new("bash").arg("-c").arg(line).output() else {
        eprintln!("SKIPPED: bash is not installed");
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let records = records(&output);
    assert_eq!(records[0]["measurement"]["bytes"]["value"], 65_536);
    let error = records[0]["errors"][0]["text"].as_str().unwrap();
    assert!(error.contains("offset 65536"), "{error}");
    assert_eq!(records[0]["fidelity"]["verdict"], "deviates");
    assert_eq!(entries(home.path()), [""; 0]);
}

#[test]
fn dd_moves_what_gnu_dd_moves() {
    for (operands, full) in [
        ("bs=4k count=16", 16),
        ("bs=1M count=4 conv=fdatasync", 4),
        ("bs=512 count=100 oflag=dsync", 100),
    ] {
        let home = tempfile::tempdir().unwrap();
        let line = format!("dd if=/dev/zero of=x {operands}");
        let output = command(Some(home.path()), &line);
        let report = text(&output.stdout);
        assert!(
            report.contains(&format!("\n{full}+0 records in\n{full}+0 records out\n")),
            "{report}"
        );
        let theirs = Command::new("dd")
            .args(line.split(' ').skip(1))
            .current_dir(home.path())
            .output();
        let Ok(theirs) = theirs else {
            eprintln!("SKIPPED: dd is not installed");
            return;
        };
        // The same bytes in the same words; the time differs.
        let words = |report: &str| {
            report
                .lines()
                .find(|line| line.contains("bytes"))
                .map(|line| line.split(" copied").next().unwrap().to_owned())
        };
        let theirs = text(&theirs.stderr);
        if theirs.contains("copied") {
            assert_eq!(words(&report), words(&theirs));
        }
    }
}

/// Copies, skips, blocks of two sizes, amounts in bytes: what GNU dd reports and leaves.
#[test]
fn dd_copies_and_collects_as_gnu_dd_does() {
    let source: Vec<u8> = (0..1 << 20)
        .map(|at: u32| (at.wrapping_mul(at) >> 7) as u8)
        .collect();
    for operands in [
        "if=src of=x bs=4k count=16 skip=3",
        "if=src of=x bs=4k count=8 skip=2 seek=4",
        "if=src of=/dev/null bs=64k count=2 skip=1",
        "if=src of=x bs=4k count=4 skip=1000 iflag=skip_bytes",
        "if=src of=x bs=4k count=4 iflag=nocache oflag=nocache",
        "if=src of=x bs=64k count=3 iflag=fullblock conv=fsync",
        "if=/dev/zero of=x ibs=512 obs=8k count=33",
        "if=/dev/zero of=x ibs=8k obs=512 count=3",
        "if=/dev/zero of=x obs=4k count=9",
        "if=/dev/zero of=x bs=4k count=10000 iflag=count_bytes",
        "if=/dev/zero of=x bs=4k count=4 seek=1000 oflag=seek_bytes",
        "if=/dev/zero of=x bs=4k count=10000B",
        "if=src of=x bs=4k count=4 skip=1000B seek=300B",
        "if=/dev/zero of=x bs=4k count=4 oflag=append",
        "if=/dev/zero of=x bs=4k count=4 seek=2 conv=notrunc",
    ] {
        let (home, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(there.path().join("src"), &source).unwrap();
        let theirs = Command::new("dd")
            .args(operands.split(' '))
            .env("LC_ALL", "C")
            .current_dir(there.path())
            .output();
        let Ok(theirs) = theirs else {
            eprintln!("SKIPPED: dd is not installed");
            return;
        };
        let theirs = text(&theirs.stderr);
        if !theirs.contains("copied") {
            eprintln!("SKIPPED: dd is not GNU's: {theirs}");
            return;
        }
        let output = program()
            .args(["--keep", "--directory"])
            .arg(home.path())
            .args(["--", &format!("dd {operands}")])
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{operands}: {}",
            text(&output.stderr)
        );
        // Records in, records out, bytes; the time differs.
        let report = |text: &str| -> Vec<String> {
            // GNU dd has advice for some, and a replay has its command and machine above.
            let lines = text
                .lines()
                .filter(|line| !line.starts_with("dd: "))
                .skip_while(|line| !line.ends_with(" records in"));
            lines
                .take(3)
                .map(|line| line.split(" copied").next().unwrap().to_owned())
                .collect()
        };
        assert_eq!(report(&text(&output.stdout)), report(&theirs), "{operands}");
        if operands.contains("of=x") && !operands.contains("notrunc") {
            let kept = home.path().join(&entries(home.path())[0]).join("dd");
            assert_eq!(
                fs::metadata(kept).unwrap().len(),
                fs::metadata(there.path().join("x")).unwrap().len(),
                "{operands}"
            );
        }
    }
}

#[test]
fn kept_files_are_where_it_says() {
    let home = tempfile::tempdir().unwrap();
    let output = program()
        .args(["--keep", "--directory"])
        .arg(home.path())
        .args(["--", "fio --name=a --rw=write --bs=4k --size=64k"])
        .output()
        .unwrap();
    let kept = entries(home.path());
    assert_eq!(kept.len(), 1);
    assert!(text(&output.stderr).contains(&kept[0]));
    let file = fs::read_dir(home.path().join(&kept[0]))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(file.metadata().unwrap().len(), 65_536);
}

#[test]
fn the_differences_can_be_listed() {
    let output = program().arg("--explain-fidelity").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("posixaio-linux-serial"));
}

#[test]
fn a_closed_pipe_is_a_normal_end() {
    let mut child = program()
        .arg("--explain-fidelity")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn variables_come_from_set_and_from_nowhere_else() {
    let home = tempfile::tempdir().unwrap();
    let run = |settings: &[&str]| {
        let mut program = program();
        for setting in settings {
            program.args(["--set", setting]);
        }
        let words = "fio --name=a --rw=write --bs=4k --size=$SIZE --directory=${DIR}";
        program
            .env("SIZE", "1t")
            .args(["--format", "jsonl", "--directory"])
            .arg(home.path())
            .args(["--", words])
            .output()
            .unwrap()
    };
    let open = run(&[]);
    assert_eq!(open.status.code(), Some(3));
    assert!(
        text(&open.stderr).contains("--set"),
        "{}",
        text(&open.stderr)
    );
    let filled = run(&["SIZE=64k", "DIR=/etc"]);
    assert_eq!(filled.status.code(), Some(0), "{}", text(&filled.stderr));
    assert_eq!(records(&filled)[0]["measurement"]["bytes"]["value"], 65_536);
    assert_eq!(run(&["SIZE=1m --exec_prerun=x"]).status.code(), Some(2));
    assert_eq!(entries(home.path()), [""; 0]);
}

#[test]
fn job_files_include_inputs_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let (main, common) = (home.path().join("main.fio"), home.path().join("common.fio"));
    fs::write(&main, "include common.fio\n[a]\nrw=write\n").unwrap();
    fs::write(&common, "[global]\nbs=4k\nsize=64k\n").unwrap();
    let run = |inputs: &[&Path]| {
        let mut program = program();
        program
            .args(["--format", "jsonl", "--directory"])
            .arg(home.path());
        program.args(inputs).output().unwrap()
    };
    let alone = run(&[&main]);
    assert_eq!(alone.status.code(), Some(3), "{}", text(&alone.stderr));
    assert!(text(&alone.stderr).contains("common.fio"));
    let both = run(&[&main, &common]);
    assert_eq!(both.status.code(), Some(0), "{}", text(&both.stderr));
    let records = records(&both);
    assert_eq!(
        (records.len(), &records[0]["measurement"]["bytes"]["value"]),
        (1, &65_536.into())
    );
}

#[test]
fn several_forms_go_into_new_files_at_once() {
    let home = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let mut program = program();
    for form in ["json", "json+", "terse", "text", "jsonl"] {
        program
            .arg("--format")
            .arg(format!("{form}={}", out.path().join(form).display()));
    }
    let output = program
        .arg("--log-directory")
        .arg(out.path())
        .arg("--directory")
        .arg(home.path())
        .args(["--", "fio --name=a --rw=randread --bs=4k --size=1m --time_based --runtime=1200ms --write_iops_log=x"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut names = entries(out.path());
    names.sort();
    assert_eq!(
        names,
        [
            "json",
            "json+",
            "jsonl",
            "terse",
            "text",
            "workload-1_iops.1.log"
        ]
    );
    assert_eq!(
        fs::read(out.path().join("text")).unwrap(),
        output.stdout,
        "text is the default on standard output"
    );
    let log = fs::read_to_string(out.path().join("workload-1_iops.1.log")).unwrap();
    assert!(log.lines().count() >= 2, "{log}");
}

/// `12.5KiB` is no usual size, and several would print so.
#[test]
fn a_block_size_that_was_rounded_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let report = home.path().join("report");
    let head = "j: (g=0): rw=write, bs=(R) 12.5KiB-12.5KiB, (W) 12.5KiB-12.5KiB, (T) 12.5KiB-12.5KiB, ioengine=psync, iodepth=1\nfio-3.33\nStarting 1 process\n\nj: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 30 12:00:00 2026\n  write: IOPS=100, BW=1250KiB/s (1280kB/s)(1250KiB/1000msec); 0 zone resets\n\nRun status group 0 (all jobs):\n  WRITE: bw=1250KiB/s (1280kB/s), 1250KiB/s-1250KiB/s (1280kB/s-1280kB/s), io=1250KiB (1280kB), run=1000-1000msec\n";
    fs::write(&report, head).unwrap();
    let run = |set: &[&str]| {
        let mut program = program();
        program.arg(&report).args(["--size", "1m"]).args(set);
        program.output().unwrap()
    };
    let asked = run(&[]);
    assert_eq!(asked.status.code(), Some(3));
    let said = text(&asked.stdout);
    assert!(
        said.contains("[block-size-unknown]") && said.contains("--set bs=SIZE"),
        "{said}"
    );
    // What it says helps.
    let given = run(&["--set", "bs=64k"]);
    let said = text(&given.stdout);
    assert_eq!(given.status.code(), Some(0), "{said}");
    assert!(said.contains("workload 1: write bs=65536"), "{said}");
}

#[test]
fn clones_that_nothing_counts_are_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let head = "a: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\n...\n";
    let with = |text: &str, more: &[&str]| {
        let log = home.path().join("log");
        let result = "\na: (groupid=0, jobs=1): err= 0: pid=7: Mon Jan  1 00:00:00 2024\n  read : io=65536B, bw=65536B/s, iops=16, runt=  1000msec\n";
        fs::write(&log, format!("{text}{result}")).unwrap();
        let output = program()
            .arg(&log)
            .args(["--size", "64k"])
            .args(more)
            .output();
        let output = output.unwrap();
        (output.status.code(), text_of(&output))
    };
    let open = with(head, &[]);
    assert!(
        open.0 == Some(3) && open.1.contains("numjobs-unknown"),
        "{open:?}"
    );
    let given = with(head, &["--set", "numjobs=3"]);
    assert!(
        given.0 == Some(0) && given.1.contains("jobs=3"),
        "{given:?}"
    );
    let told = with(&format!("{head}fio-2.2.10\nStarting 8 processes\n"), &[]);
    assert!(told.0 == Some(0) && told.1.contains("jobs=8"), "{told:?}");
}

fn text_of(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn root_is_told_once_and_may_say_that_it_knows() {
    let directory = tempfile::tempdir().unwrap();
    let said = |more: &[&str]| {
        let output = program()
            .arg("--directory")
            .arg(directory.path())
            .args(more)
            .args(["--", "fio", "--name=a", "--rw=write", "--size=64k"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr).matches("running as root").count()
    };
    let root = usize::from(rustix::process::geteuid().is_root());
    assert_eq!(said(&[]), root);
    assert_eq!(said(&["--allow-root"]), 0);
}

#[test]
fn a_setting_that_nothing_asks_for_is_told() {
    let home = tempfile::tempdir().unwrap();
    fs::write(
        home.path().join("post"),
        "fio --name=a --size=$SIZE --bs=$BS",
    )
    .unwrap();
    let told = |arguments: &[&str]| {
        let mut program = program();
        let output = program
            .current_dir(home.path())
            .arg("-q")
            .args(arguments)
            .output()
            .unwrap();
        (text(&output.stderr), output.status.code())
    };
    let (said, code) = told(&["--set", "OTHER=1m", "--", "fio --name=a --size=1m"]);
    assert!(said.contains("--set OTHER=1m changed nothing"), "{said}");
    assert_eq!(code, Some(0));
    let (said, code) = told(&["--set", "SZIE=1m", "--set", "BS=4k", "post"]);
    assert!(
        said.contains("--set SZIE=1m changed nothing") && said.contains("open: SIZE"),
        "{said}"
    );
    assert!(!said.contains("BS=4k") && code == Some(3), "{said}");
    for arguments in [
        &["--set", "SIZE=1m", "--set", "BS=4k", "post"][..],
        &["--set", "SIZE=1m", "--", "fio --name=a --size=${SIZE}"],
    ] {
        assert_eq!(told(arguments), (String::new(), Some(0)));
    }
}

#[test]
fn a_directory_among_the_inputs_is_told_with_the_way_to_run_in_it() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("d")).unwrap();
    let output = program()
        .current_dir(home.path())
        .args(["d", "--", "fio --name=a --size=1m"])
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert!(
        said.contains("--directory d") && !said.contains(" -r "),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_cannot_be_read_is_named_at_its_place_and_nothing_stands_in_for_it() {
    for (words, refused, title) in [
        (
            "dd if=/dev/zero of=x bs=1M count=-1",
            "count=-1 cannot be read",
            "count=~-1",
        ),
        (
            "dd if=/dev/zero of=x bs=1M count=99999999999999999999",
            "count=99999999999999999999 cannot be read",
            "count=~99999999999999999999",
        ),
        (
            "dd if=/dev/zero of=x count=2 bs=1Q",
            "bs=1Q cannot be read",
            "bs=~1Q",
        ),
        (
            "fio --name=a --size=1m --rw=bogus",
            "rw=bogus is none of",
            "~bogus",
        ),
        (
            "dd if=/dev/zero of=x count=2 bs=4k status=foo",
            "status=foo is none of",
            "count=2",
        ),
        (
            "fio --name=a --size=1m --numjobs=0",
            "numjobs=0 starts nothing",
            "jobs=0",
        ),
        (
            "fio --name=a --rw=read --size=1q",
            "size=1q cannot be read",
            "size=~1q",
        ),
        (
            "fio --name=a --size=1m --io_size=150%",
            "io_size=150% cannot be read",
            "io_size=~150%",
        ),
    ] {
        let output = command(None, words);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let word = words.rfind(' ').unwrap() + 2;
        let last = word + if words.starts_with("fio") { 2 } else { 0 };
        assert!(
            said.contains(refused) && said.contains(&format!("(command:1:{last})")),
            "{said}"
        );
        assert!(said.lines().next().unwrap().contains(title), "{said}");
        assert_eq!(said.lines().count(), 3, "one refusal: {said}");
    }
}

/// dd and fio refuse such a word too; without it the test would be another one.
#[test]
fn a_misspelt_operand_is_no_end_of_the_command() {
    for (words, told) in [
        (
            "dd if=/dev/zero of=x bs=64k count=4 ofalg=direct",
            "ofalg=direct is no option",
        ),
        (
            "dd if=/dev/zero of=x bs=64k count=4 ofalg=direct",
            "did it mean oflag?",
        ),
        ("fio --name=a --size=1m rubbish=1", "rubbish=1 is no option"),
    ] {
        let output = command(None, words);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(told), "{said}");
    }
    let output = command(None, "dd if=/dev/zero of=x bs=64k count=4 | cat");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

#[test]
fn a_dd_ends_with_the_permitted_time_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let run = |time: &str| {
        let words = [
            "--runtime",
            time,
            "--format",
            "jsonl",
            "--",
            "dd if=/dev/zero of=x bs=64k count=2000",
        ];
        let output = program()
            .arg("--directory")
            .arg(home.path())
            .args(words)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        records(&output).remove(0)
    };
    let cut = run("1ms");
    let bytes = cut["measurement"]["bytes"]["value"].as_u64().unwrap();
    assert!(bytes > 0 && bytes < 2000 << 16 && bytes % (1 << 16) == 0);
    assert_eq!(cut["fidelity"]["verdict"], "deviates");
    let ids = |record: &Value| -> Vec<String> {
        let notes = record["fidelity"]["notes"].as_array().unwrap();
        notes
            .iter()
            .map(|note| note["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(ids(&cut).contains(&"scaled-runtime".to_owned()), "{cut}");
    let whole = run("1h");
    assert_eq!(whole["measurement"]["bytes"]["value"], 2000 << 16);
    assert_eq!(whole["fidelity"]["verdict"], "equivalent");
    assert!(
        !ids(&whole).contains(&"scaled-runtime".to_owned()),
        "{whole}"
    );
}

/// bash reads the printed command as the words that were given.
#[test]
fn printed_commands_read_back_word_for_word() {
    let controls: String = ('\u{1}'..='\u{ff}').collect();
    let marks = "\u{200b}\u{200e}\u{2010}\u{2013}\u{201c}\u{201d}\u{2028}\u{202e}\u{2066}\u{feff}\u{ad}\u{e9}\u{1f600}";
    let mut names: Vec<String> = controls
        .chars()
        .chain(marks.chars())
        .map(|c| format!("x{c}1f"))
        .collect();
    names.extend([controls.replace('/', ""), marks.to_owned()]);
    names.extend(
        [
            "x\u{1b}[31m\nevil",
            "a'b\"c\\n",
            "$HOME `x` $(x) !!",
            "&amp;=3D",
            "-",
            "~",
            "a,",
            "end.",
        ]
        .map(str::to_owned),
    );
    for name in names {
        let home = tempfile::tempdir().unwrap();
        let output = program()
            .arg("--directory")
            .arg(home.path())
            .args(["-q", "--", "fio", "--rw=read", "--size=4k"])
            .arg(format!("--name={name}"))
            .output()
            .unwrap();
        let said = text(&output.stdout);
        let printed = said.lines().find_map(|line| line.strip_prefix("$ fio "));
        let Some(printed) = printed else {
            panic!("{name:?} is not printed: {}", text(&output.stderr));
        };
        assert!(!printed.chars().any(char::is_control), "{printed:?}");
        let shell = Command::new("bash")
            .args(["--norc", "-c", &format!("printf '%s\\0' {printed}")])
            .output();
        let Ok(shell) = shell else {
            eprintln!("SKIPPED: no bash");
            return;
        };
        let words = text(&shell.stdout);
        let words: Vec<&str> = words.split_terminator('\0').collect();
        assert_eq!(
            words,
            [&format!("--name={name}"), "--rw=read", "--size=4096"],
            "{printed:?}"
        );
    }
}
