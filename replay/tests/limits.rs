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
