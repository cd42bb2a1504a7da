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
fn a_job_opens_drops_and_syncs_as_fio_does() {
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
fn a_dd_makes_the_calls_of_dd() {
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
