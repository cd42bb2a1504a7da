//! What the clock covers, and what happens when the kernel says no: strace delays or fails
//! single calls of the program. Skipped aloud where strace cannot be used.

use std::process::Command;

use serde_json::Value;

/// The first record of a run under `strace -e inject=...`, or nothing without strace.
fn injected(inject: &str, words: &str) -> Option<Value> {
    let home = tempfile::tempdir().unwrap();
    let call = inject.split(':').next().unwrap();
    let run = Command::new("timeout")
        .args(["60", "strace", "-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={call}"))
        .arg("-e")
        .arg(format!("inject={inject}"))
        .arg(env!("CARGO_BIN_EXE_fio-replay"))
        .args(["--format", "jsonl", "--directory"])
        .arg(home.path())
        .args(["--", words])
        .output();
    let output = match run {
        Ok(output) if output.status.success() => output,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                said.contains("strace") || said.contains("ptrace"),
                "{inject}: {said}"
            );
            eprintln!("SKIPPED: strace cannot inject here: {said}");
            return None;
        }
        Err(error) => {
            eprintln!("SKIPPED: strace: {error}");
            return None;
        }
    };
    assert_eq!(
        std::fs::read_dir(home.path()).unwrap().count(),
        0,
        "{inject}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    Some(serde_json::from_str(text.lines().next().unwrap()).unwrap())
}

fn ms(record: &Value, name: &str) -> f64 {
    record["measurement"][name]["value"].as_f64().unwrap() / 1e6
}

fn mean_ms(record: &Value, latency: &str) -> f64 {
    record["measurement"][latency]["mean"]["value"]
        .as_f64()
        .unwrap_or(0.0)
        / 1e6
}

/// Each delayed call adds to the run time, or to a latency, exactly where fio has it
/// (measured in the same way with fio 3.33).
#[test]
fn a10_the_clock_covers_what_fio_s_covers() {
    let write = "fio --name=a --rw=write --bs=4k --size=16k";
    // The call, its options, and whether the run time and the latencies grow.
    for (inject, words, run_time, clat, sync) in [
        (
            "fallocate:delay_enter=400000",
            write.to_owned(),
            false,
            false,
            false,
        ),
        (
            "openat2:delay_enter=150000",
            write.to_owned(),
            true,
            false,
            false,
        ),
        (
            "fadvise64:delay_enter=150000",
            write.to_owned(),
            true,
            false,
            false,
        ),
        (
            "pwrite64:delay_enter=150000",
            write.to_owned(),
            true,
            true,
            false,
        ),
        (
            "fsync:delay_enter=300000",
            format!("{write} --end_fsync=1"),
            true,
            false,
            false,
        ),
        (
            "fsync:delay_enter=150000",
            format!("{write} --fsync=2"),
            true,
            false,
            true,
        ),
        (
            "fdatasync:delay_enter=150000",
            format!("{write} --fdatasync=1"),
            true,
            false,
            true,
        ),
        (
            "unlinkat:delay_enter=300000",
            write.to_owned(),
            false,
            false,
            false,
        ),
    ] {
        let Some(record) = injected(inject, &words) else {
            return;
        };
        let grew = |value: f64| value > 130.0;
        assert_eq!(
            grew(ms(&record, "runtime_ns")),
            run_time,
            "{inject} {words}: {record}"
        );
        assert_eq!(grew(mean_ms(&record, "clat_ns")), clat, "{inject}: clat");
        assert_eq!(
            grew(mean_ms(&record, "sync_lat_ns")),
            sync,
            "{inject}: sync latency"
        );
        if words.contains("end_fsync") {
            assert!(
                ms(&record, "flush_ns") > 290.0 && ms(&record, "io_phase_ns") < 130.0,
                "the flush is told apart"
            );
        }
    }
}

#[test]
fn a10_dd_s_clock_covers_its_loop_and_its_sync() {
    let dd = "dd if=/dev/zero of=x bs=64k count=4";
    let Some(opened) = injected("openat2:delay_enter=300000", dd) else {
        return;
    };
    assert!(
        ms(&opened, "runtime_ns") < 250.0,
        "opening is not dd's time"
    );
    let Some(synced) = injected(
        "fdatasync:delay_enter=300000",
        &format!("{dd} conv=fdatasync"),
    ) else {
        return;
    };
    assert!(ms(&synced, "runtime_ns") > 290.0 && ms(&synced, "flush_ns") > 290.0);
    let Some(closed) = injected("close:delay_enter=20000", dd) else {
        return;
    };
    assert!(ms(&closed, "runtime_ns") > 19.0, "closing is dd's time");
}

#[test]
fn where_io_uring_is_forbidden_the_fall_back_is_recorded() {
    let words = "fio --name=a --rw=randwrite --bs=4k --size=256k --ioengine=io_uring --iodepth=8";
    for error in ["EPERM", "ENOSYS"] {
        let Some(record) = injected(&format!("io_uring_setup:error={error}"), words) else {
            return;
        };
        let notes = record["fidelity"]["notes"].as_array().unwrap();
        let note = notes.iter().find(|note| note["id"] == "uring-unavailable");
        let why = note.unwrap_or_else(|| panic!("{error}: {notes:?}"))["why"]
            .as_str()
            .unwrap();
        assert!(
            why.contains("seccomp") || why.contains("io_uring_disabled"),
            "{why}"
        );
        assert_eq!(record["fidelity"]["verdict"], "deviates");
        assert_eq!(record["measurement"]["bytes"]["value"], 256 << 10);
    }
}
