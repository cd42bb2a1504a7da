//! Full disks, limits and what a stop leaves behind. What needs a mount of its own is skipped
//! aloud where none can be made.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a shell line with the program as `$0` and a directory as `$1`.
fn shell(line: &str, directory: &Path) -> Output {
    Command::new("timeout")
        .args(["60", "sh", "-c", line, env!("CARGO_BIN_EXE_fio-replay")])
        .arg(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The same on a memory file system of 32 MiB that only this process sees.
fn on_small_disk(line: &str) -> Option<Output> {
    let home = tempfile::tempdir().unwrap();
    let line = format!("mount -t tmpfs -o size=32m none \"$1\" || exit 99; {line}");
    let output = Command::new("timeout")
        .args([
            "60",
            "unshare",
            "-m",
            "sh",
            "-c",
            &line,
            env!("CARGO_BIN_EXE_fio-replay"),
        ])
        .arg(home.path())
        .output();
    match output {
        Ok(output)
            if !matches!(output.status.code(), Some(99 | 1))
                || !text(&output.stderr).contains("ermi") =>
        {
            Some(output)
        }
        Ok(output) => {
            eprintln!("SKIPPED: no mount of our own: {}", text(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("SKIPPED: unshare: {error}");
            None
        }
    }
}

#[test]
fn a_test_that_does_not_fit_is_refused_before_anything_is_written() {
    let line = r#""$0" -d "$1" -- "fio --name=a --rw=write --bs=4k --size=30m"; code=$?; ls -A "$1"; exit $code"#;
    let Some(output) = on_small_disk(line) else {
        return;
    };
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("--size"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn tests_that_do_not_fit_together_are_refused_before_the_first_runs() {
    // Each takes 6 of the 24 MiB that may be used; kept, three do not fit beside each other.
    for (keep, code) in [("", 0), ("--keep", 3)] {
        let line = format!(
            r#"
            for n in 1 2 3 4 5; do echo "fio --name=a$n --rw=write --bs=${{n}}k --size=6m"; echo; done > "$1/../post.$$"
            "$0" --allow-large {keep} --format jsonl -d "$1" "$1/../post.$$"; code=$?
            rm "$1/../post.$$"; exit $code"#
        );
        let Some(output) = on_small_disk(&line) else {
            return;
        };
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("[no-space]"), code == 3, "{said}");
        if let Some(refused) = said.rfind("[no-space]") {
            assert!(refused < said.find("running workload").unwrap(), "{said}");
        }
    }
}

#[test]
fn a_disk_that_others_fill_stops_the_run_at_its_floor() {
    // 7 MiB are the test's; then others leave less than the quarter that must stay free.
    let line = r#"
        "$0" --allow-large --format jsonl -d "$1" -- "fio --name=a --rw=write --bs=4k --size=7m --time_based --runtime=30" > "$1/../out.$$" &
        pid=$!
        sleep 1
        head -c 20m /dev/zero > "$1/others"
        wait $pid; code=$?
        ls -A "$1"; cat "$1/../out.$$"; rm "$1/../out.$$"
        exit $code"#;
    let Some(output) = on_small_disk(line) else {
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let (left, records) = printed.split_once('\n').unwrap();
    assert_eq!(left, "others");
    let record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    assert_eq!(record["interrupted"], true);
    assert!(
        text(&output.stderr).contains("free space"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_full_disk_is_a_failure_with_a_reason() {
    // The file system is filled while the file, which nothing was reserved for, grows.
    let line = r#"
        head -c 20m /dev/zero > "$1/others"
        "$0" --allow-large --format jsonl -d "$1" -- "fio --name=a --rw=write --bs=64k --size=3m --fallocate=none --rate=1m" &
        pid=$!
        sleep 0.3
        head -c 30m /dev/zero > "$1/more" 2>/dev/null
        wait $pid; code=$?
        rm "$1/others" "$1/more"; ls -A "$1" >&2
        exit $code"#;
    let Some(output) = on_small_disk(line) else {
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(
        said.contains("No space left") || said.contains("free space"),
        "{said}"
    );
    assert!(!said.contains(".fio-replay-"), "nothing is left: {said}");
    assert!(
        text(&output.stdout).contains("\"fidelity\""),
        "what was measured is printed"
    );
}

#[test]
fn a_full_disk_under_the_results_is_told_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let line = r#""$0" -d "$1" -- "fio --name=a --rw=write --bs=4k --size=64k" > /dev/full"#;
    let output = shell(line, home.path());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("No space left"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_cut_under_a_run_fails_it() {
    for engine in ["psync", "mmap"] {
        let home = tempfile::tempdir().unwrap();
        let line = format!(
            r#"
            "$0" -d "$1" -- "fio --name=a --rw=read --bs=4k --size=4m --ioengine={engine} --time_based --runtime=20 --rate=2m" &
            pid=$!
            for i in $(seq 200); do
                sleep 0.02
                f=$(ls "$1"/.fio-replay-*/0.0 2>/dev/null)
                [ -n "$f" ] && [ "$(stat -c %s "$f")" = 4194304 ] && break
            done
            sleep 0.2
            : > "$f"
            wait $pid"#
        );
        let output = shell(&line, home.path());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{engine}: {said}");
        assert!(said.contains("before its planned size"), "{engine}: {said}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "{engine}");
    }
}

/// A loop device over a file of 32 MiB, or nothing where none can be had.
fn loop_device(home: &Path) -> Option<String> {
    let file = home.join("disk");
    fs::File::create(&file).unwrap().set_len(32 << 20).unwrap();
    let made = Command::new("losetup")
        .args(["--find", "--show"])
        .arg(&file)
        .output();
    match made {
        Ok(output) if output.status.success() => Some(text(&output.stdout).trim().to_owned()),
        _ => {
            eprintln!("SKIPPED: no loop device");
            None
        }
    }
}

#[test]
fn sizes_that_hang_on_the_device_are_those_of_the_typed_one() {
    let home = tempfile::tempdir().unwrap();
    let disk = home.path().join("disk");
    fs::write(&disk, vec![7; 8 << 20]).unwrap();
    for (options, bytes) in [
        ("", 8 << 20),
        ("--size=100%", 8 << 20),
        ("--size=25%", 2 << 20),
        ("--offset=5m", 3 << 20),
        ("--size=50% --offset=6m", 2 << 20),
        // Each clone goes on to the end.
        ("--offset_increment=2m --numjobs=3", (8 + 6 + 4) << 20),
    ] {
        let work = tempfile::tempdir().unwrap();
        let words = format!(
            "fio --name=a --rw=read --bs=64k --filename=/dev/sdz --group_reporting {options}"
        );
        let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
            .args(["--format", "jsonl", "--device"])
            .arg(&disk)
            .arg("--directory")
            .arg(work.path())
            .args(["--", words.trim()])
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{options}: {}",
            text(&output.stderr)
        );
        let records = text(&output.stdout);
        let record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
        assert_eq!(record["measurement"]["bytes"]["value"], bytes, "{options}");
    }
}

#[test]
fn a_typed_device_is_used_only_if_nobody_uses_it() {
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("work");
    fs::create_dir(&work).unwrap();
    let Some(device) = loop_device(home.path()) else {
        return;
    };
    let run = |words: &str| {
        Command::new("timeout")
            .args([
                "60",
                env!("CARGO_BIN_EXE_fio-replay"),
                "--format",
                "jsonl",
                "--device",
                &device,
                "--directory",
            ])
            .arg(&work)
            .args(["--", words])
            .output()
            .unwrap()
    };
    let write = run(
        "fio --name=a --rw=write --bs=64k --size=8m --filename=/dev/sda --numjobs=2 --offset_increment=8m",
    );
    let read = run("fio --name=a --rw=read --bs=64k --filename=/dev/sda");
    let beyond = run("fio --name=a --rw=write --bs=64k --size=64m");
    let content = fs::read(home.path().join("disk")).unwrap();
    // Now something is on it.
    let file = fs::OpenOptions::new()
        .write(true)
        .open(home.path().join("disk"))
        .unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"XFSB", 0).unwrap();
    drop(file);
    let _ = Command::new("blockdev")
        .args(["--flushbufs", &device])
        .status();
    let signed = run("fio --name=a --rw=write --bs=64k --size=8m");
    let _ = Command::new("losetup").args(["--detach", &device]).status();
    assert_eq!(write.status.code(), Some(0), "{}", text(&write.stderr));
    let written = content[..16 << 20]
        .chunks(4096)
        .filter(|block| block.iter().any(|&byte| byte != 0))
        .count();
    assert_eq!(written, (16 << 20) / 4096, "both clones wrote");
    assert!(
        content[16 << 20..].iter().all(|&byte| byte == 0),
        "and nothing beyond"
    );
    assert_eq!(read.status.code(), Some(0), "{}", text(&read.stderr));
    let record: Value = serde_json::from_str(text(&read.stdout).lines().next().unwrap()).unwrap();
    assert_eq!(
        record["measurement"]["bytes"]["value"],
        32 << 20,
        "all of it is read"
    );
    assert_eq!(beyond.status.code(), Some(3), "{}", text(&beyond.stderr));
    assert_eq!(signed.status.code(), Some(3), "{}", text(&signed.stderr));
    assert!(
        text(&signed.stderr).contains("XFS"),
        "{}",
        text(&signed.stderr)
    );
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
}

#[test]
fn devices_in_use_are_refused() {
    let home = tempfile::tempdir().unwrap();
    // The one below the root, if the kernel says which it is.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounted = mounts.lines().find_map(|line| {
        let source = line.split(" - ").nth(1)?.split(' ').nth(1)?;
        (source.starts_with("/dev/") && Path::new(source).exists()).then(|| source.to_owned())
    });
    for device in mounted
        .into_iter()
        .chain(["/dev/null".to_owned(), "/dev/nowhere".to_owned()])
    {
        let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
            .args(["--device", &device, "--directory"])
            .arg(home.path())
            .args(["--", "fio --name=a --rw=write --bs=4k --size=64k"])
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(3),
            "{device}: {}",
            text(&output.stderr)
        );
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "{device}");
    }
}

/// What a full disk takes of the results is whole lines, or nothing at all.
#[test]
fn a_full_disk_holds_whole_results_or_no_file() {
    for (kib, rounds) in [(4, 1), (16, 9)] {
        let line = format!(
            r#"mount -t tmpfs -o size={kib}k none "$1" || exit 99; [ {rounds} = 1 ] && head -c 4096 /dev/zero > "$1/fill"
            mkdir "$1.run"; "$0" -q -d "$1.run" --repeat {rounds} --format jsonl="$1/r" -- "fio --name=a --rw=rw --size=64k"
            code=$?; rmdir "$1.run"; [ -e "$1/r" ] && cat "$1/r" || echo none; exit $code"#
        );
        let Some(output) = on_small_disk(&line) else {
            return;
        };
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("cannot write results"));
        let said = text(&output.stdout);
        // Standard output has the text form before it.
        let left = said.rsplit("To be kept in mind").next().unwrap();
        let records: Vec<&str> = left.lines().filter(|line| line.starts_with('{')).collect();
        if rounds == 1 {
            assert!(left.ends_with("none\n"), "{left}");
            continue;
        }
        assert!(!records.is_empty(), "{left}");
        for line in &records {
            let whole: Value = serde_json::from_str(line).unwrap();
            assert_eq!(whole["v"], 1);
        }
        assert!(left.ends_with("}\n"), "no part of a line is left");
    }
}
