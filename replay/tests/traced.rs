//! What the program really asks of the kernel, seen by strace. Skipped aloud without it.

use std::process::Command;

/// The calls of a run, one a line, or nothing where strace cannot be used.
fn trace(words: &str) -> Option<String> {
    let home = tempfile::tempdir().unwrap();
    let log = tempfile::NamedTempFile::new().unwrap();
    let calls = "trace=execve,open,openat,openat2,creat,fsync,fdatasync,sync,syncfs,fadvise64,fallocate,unlink,unlinkat,rename,renameat,renameat2,symlinkat,linkat,truncate";
    let traced = Command::new("strace")
        .args(["-f", "-e", calls, "-o"])
        .arg(log.path())
        .arg(env!("CARGO_BIN_EXE_fio-replay"))
        .arg("--directory")
        .arg(home.path())
        .args(["--", words])
        .output();
    match traced {
        Ok(output) if output.status.success() => Some(std::fs::read_to_string(log.path()).unwrap()),
        Ok(output) => {
            eprintln!(
                "SKIPPED: strace cannot trace here: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            None
        }
        Err(error) => {
            eprintln!("SKIPPED: strace: {error}");
            None
        }
    }
}

/// How often a call occurs whose line holds all of `parts`.
fn count(trace: &str, parts: &[&str]) -> usize {
    trace
        .lines()
        .filter(|line| parts.iter().all(|part| line.contains(part)))
        .count()
}

#[test]
fn a5_a_job_opens_drops_and_syncs_as_fio_does() {
    let Some(calls) = trace("fio --name=j --rw=write --bs=4k --size=64k --loops=3 --end_fsync=1")
    else {
        return;
    };
    let (open, drop) = (
        count(&calls, &["openat2(", "\"0.0\"", "O_RDWR", "O_NOFOLLOW"]),
        count(&calls, &["DONTNEED"]),
    );
    // Creation; three passes; between two passes a reopening for the final sync.
    assert_eq!((open, drop), (1 + 3 + 2, 1 + 3 + 2));
    assert_eq!(count(&calls, &[" fsync("]), 3);
    assert_eq!(count(&calls, &["O_TRUNC"]), 0);
    assert_eq!(count(&calls, &["fallocate("]), 1);
    for (option, flag) in [
        ("--sync=1", "O_SYNC"),
        ("--sync=dsync", "O_DSYNC"),
        ("--rw=randread", "O_RDONLY"),
    ] {
        let Some(calls) = trace(&format!(
            "fio --name=j --rw=write --bs=4k --size=64k {option}"
        )) else {
            return;
        };
        assert!(
            count(&calls, &["openat2(", "\"0.0\"", flag]) > 0,
            "{option}"
        );
    }
}

#[test]
fn a16_a_dd_makes_the_calls_of_dd() {
    let line =
        "time sh -c \"dd if=/dev/zero of=x bs=64k count=4 conv=fdatasync oflag=dsync && sync\"";
    let Some(calls) = trace(line) else { return };
    assert_eq!(
        count(&calls, &["openat2(", "\"dd\"", "O_WRONLY", "O_DSYNC"]),
        1
    );
    assert_eq!(
        (count(&calls, &[" fdatasync("]), count(&calls, &[" fsync("])),
        (1, 1)
    );
    assert_eq!(count(&calls, &[" syncfs("]), 1);
    assert_eq!(count(&calls, &[" sync("]), 0, "the machine is not stalled");
}

#[test]
fn nothing_outside_is_opened_for_writing_and_no_program_is_started() {
    for words in [
        "fio --name=j --rw=randrw --bs=4k --size=64k --filename=/etc/passwd --directory=/var/elsewhere",
        "fio --name=j --rw=write --bs=4k --size=64k --filename=/dev/sda --write_bw_log=/tmp/log --output=/tmp/out",
        "dd if=/dev/zero of=/etc/shadow bs=4k count=4 && rm -rf /",
    ] {
        let Some(calls) = trace(words) else { return };
        assert_eq!(count(&calls, &["execve("]), 1, "{words}");
        for line in calls.lines() {
            // Ours are relative to a directory descriptor; what is absolute is only read.
            let absolute = line.contains("AT_FDCWD, \"/") || line.contains(" open(\"/");
            let writes =
                line.contains("O_WRONLY") || line.contains("O_RDWR") || line.contains("O_CREAT");
            assert!(!(absolute && writes), "{words}: {line}");
            let named = [
                "passwd",
                "shadow",
                "/dev/sda",
                "/var/elsewhere",
                "/tmp/log",
                "/tmp/out",
            ];
            let call = line.split("execve").next().unwrap();
            assert!(
                !named.iter().any(|name| call.contains(name)),
                "{words}: {line}"
            );
        }
    }
}

/// The calls that move or sync a dd's data, in order: name and result.
fn data_calls(program: &mut Command, block: usize) -> Option<Vec<String>> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut strace = Command::new("strace");
    strace
        .args([
            "-f",
            "-s",
            "0",
            "-e",
            "trace=read,write,fsync,fdatasync",
            "-o",
        ])
        .arg(log.path())
        .arg(program.get_program())
        .args(program.get_args());
    if let Some(directory) = program.get_current_dir() {
        strace.current_dir(directory);
    }
    let output = strace
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    drop(output);
    let text = std::fs::read_to_string(log.path()).unwrap();
    let wanted = format!("= {block}");
    let calls = text.lines().filter_map(|line| {
        let (_, call) = line.split_once(' ')?;
        let name = call.trim_start().split('(').next()?;
        let moves = ["read", "write"].contains(&name) && line.trim_end().ends_with(&wanted);
        (moves || name.ends_with("sync")).then(|| name.to_owned())
    });
    Some(calls.collect())
}

#[test]
fn a16_a_dd_s_loop_is_gnu_dd_s_call_by_call() {
    for operands in [
        "if=/dev/zero of=x bs=64k count=8",
        "if=/dev/zero of=x bs=128k count=3 conv=fdatasync",
        "if=/dev/urandom of=x bs=8k count=16 conv=fsync",
        "if=/dev/zero of=x bs=1M count=2 oflag=dsync",
    ] {
        let block = match operands {
            text if text.contains("bs=64k") => 64 << 10,
            text if text.contains("bs=128k") => 128 << 10,
            text if text.contains("bs=8k") => 8 << 10,
            _ => 1 << 20,
        };
        let home = tempfile::tempdir().unwrap();
        let theirs = data_calls(
            Command::new("dd")
                .args(operands.split(' '))
                .current_dir(home.path()),
            block,
        );
        let mut ours = Command::new(env!("CARGO_BIN_EXE_fio-replay"));
        ours.arg("--directory")
            .arg(home.path())
            .args(["--", "dd"])
            .args(operands.split(' '));
        let (Some(theirs), Some(mut ours)) = (theirs, data_calls(&mut ours, block)) else {
            eprintln!("SKIPPED: strace or dd cannot be used here");
            return;
        };
        // Without a sync of its own the test's flush comes after dd's time.
        if !operands.contains("sync") || operands.contains("dsync") {
            assert_eq!(ours.pop().as_deref(), Some("fsync"), "{operands}");
        }
        assert_eq!(ours, theirs, "{operands}");
    }
}

#[test]
fn a12_posixaio_runs_a_thread_per_file() {
    let home = tempfile::tempdir().unwrap();
    for (files, threads) in [(1, 1), (4, 4)] {
        let log = tempfile::NamedTempFile::new().unwrap();
        let words = format!(
            "fio --name=j --ioengine=posixaio --rw=randread --bs=4k --size=1m --nrfiles={files} --iodepth=8"
        );
        let traced = Command::new("strace")
            .args(["-f", "-e", "trace=pread64", "-o"])
            .arg(log.path())
            .arg(env!("CARGO_BIN_EXE_fio-replay"))
            .arg("--directory")
            .arg(home.path())
            .args(["--", &words])
            .output();
        let Ok(output) = traced else {
            eprintln!("SKIPPED: strace");
            return;
        };
        if !output.status.success() {
            eprintln!("SKIPPED: strace cannot trace here");
            return;
        }
        let text = std::fs::read_to_string(log.path()).unwrap();
        let reads = text
            .lines()
            .filter(|line| line.contains("pread64(") && line.contains(", 4096, "));
        let by: std::collections::HashSet<&str> =
            reads.filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(by.len(), threads, "{files} files");
    }
}

#[test]
fn a12_batches_reach_the_kernel_as_they_were_asked_for() {
    if replay::engine::uring::available().is_err() {
        eprintln!("SKIPPED: io_uring is not permitted");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let log = tempfile::NamedTempFile::new().unwrap();
    let words = "fio --name=j --ioengine=io_uring --rw=randread --bs=4k --size=1m --iodepth=8 --iodepth_batch=8 --iodepth_batch_complete=8";
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=io_uring_enter", "-o"])
        .arg(log.path())
        .arg(env!("CARGO_BIN_EXE_fio-replay"))
        .arg("--directory")
        .arg(home.path())
        .args(["--", words])
        .output();
    match traced {
        Ok(output) if output.status.success() => {}
        _ => {
            eprintln!("SKIPPED: strace cannot trace here");
            return;
        }
    }
    let text = std::fs::read_to_string(log.path()).unwrap();
    let submitted: Vec<u32> = text
        .lines()
        .filter_map(|line| {
            let (_, arguments) = line.split_once("io_uring_enter(")?;
            arguments.split(", ").nth(1)?.parse().ok()
        })
        .filter(|&count| count > 0)
        .collect();
    // 256 I/Os, eight at a time.
    assert_eq!(submitted, [8; 32]);
}

/// One call moves 2147479552 bytes at most, whatever the block.
#[test]
fn a16_a_block_beyond_the_limit_of_a_call_is_cut_as_in_dd() {
    const NEEDED: u64 = 12 << 30;
    let home = tempfile::tempdir().unwrap();
    let sandbox = replay::sandbox::Sandbox::create(home.path()).unwrap();
    let room = sandbox.space().unwrap().usable();
    drop(sandbox);
    let memory = replay::machine::available_memory().unwrap_or(0);
    if room < NEEDED || memory < NEEDED {
        eprintln!("SKIPPED: {NEEDED} bytes of memory and of disk are needed");
        return;
    }
    let words = ["if=/dev/zero", "of=x", "bs=3G", "count=1"];
    let ours = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .args(["--allow-large", "--directory"])
        .arg(home.path())
        .args(["--", "dd"])
        .args(words)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ours.stderr);
    assert!(ours.status.success(), "{said}");
    let ours = String::from_utf8_lossy(&ours.stdout).into_owned();
    assert!(
        ours.contains("\n0+1 records in\n0+1 records out\n2147479552 bytes"),
        "{ours}"
    );
    assert!(ours.contains("[dd-call-limit]"), "{ours}");
    let Ok(theirs) = Command::new("dd")
        .args(words)
        .current_dir(home.path())
        .output()
    else {
        eprintln!("SKIPPED: dd is not installed");
        return;
    };
    let theirs = String::from_utf8_lossy(&theirs.stderr).into_owned();
    let counts = ours.lines().skip_while(|line| !line.contains("records in"));
    assert!(
        theirs.lines().take(2).eq(counts.take(2)) && theirs.contains("2147479552 bytes"),
        "{theirs}"
    );
}
