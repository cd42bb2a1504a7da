//! Acceptance experiment A17: the program in the hands of `nobody`, watched by strace. Hostile rows are refused or
//! contained as they are for root, nothing outside of the named directory is opened for writing, and no program starts.
//! Needs root (to become nobody), setpriv and strace; what is missing is said aloud and skips the test.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

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

/// What each kind of threat gets, with the exit status: 0 contained, 3 refused.
const ROWS: &[(&str, i32)] = &[
    (
        "fio --name=a --rw=write --bs=4k --size=64k --filename=HOME/canary",
        0,
    ),
    (
        "fio --name=a --rw=randrw --bs=4k --size=64k --filename=/etc/passwd",
        0,
    ),
    ("fio --name=../canary --rw=write --bs=4k --size=64k", 0),
    (
        "fio --name=a --rw=write --bs=4k --size=64k --filename=/dev/sda",
        0,
    ),
    ("fio --name=a --rw=write --bs=4k --filename=/dev/sda", 3),
    (
        "fio --name=a --rw=write --bs=4k --size=64k --exec_prerun=HOME/run",
        3,
    ),
    (
        "fio --name=a --ioengine=external:HOME/run.so --rw=write --size=64k",
        3,
    ),
    ("fio --name=a --rw=write --bs=4k --size=64k; HOME/run", 0),
    (
        "fio --name=$(HOME/run) --rw=write --bs=4k --size=$(HOME/run)",
        3,
    ),
    (
        "fio --name=a --rw=write --bs=4k --size=64k --write_bw_log=HOME/log --output=HOME/out",
        0,
    ),
    (
        "fio --name=a --rw=write --bs=4k --size=64k --write_iolog=HOME/canary",
        3,
    ),
    ("fio --name=a --rw=write --bs=4k --size=900t", 3),
    (
        "fio --name=a --rw=write --bs=1g --size=64g --iodepth=1024 --ioengine=io_uring",
        3,
    ),
    (
        "fio --name=a --rw=write --bs=4k --size=64k --runtime=1000h --time_based",
        3,
    ),
    ("fio --name=a --rw=write --bs=4k --size=64k --uid=0", 3),
    (
        "fio --name=a --rw=write --bs=4k --size=64k --prioclass=1 --nice=-5",
        0,
    ),
    (
        "fio --name=a --ioengine=http --http_s3_key=SECRETSECRET --rw=write --size=64k",
        3,
    ),
    ("fio HOME/job.fio", 3),
    ("dd if=/dev/zero of=HOME/canary bs=4k count=4", 0),
    ("dd if=HOME/canary of=HOME/copy bs=4k count=4", 0),
    ("dd if=/dev/zero of=x", 3),
];

#[test]
fn a17_a_user_without_rights_is_as_safe() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can become nobody; the other tests run as the user");
        return;
    }
    if !(have("setpriv") && have("strace")) {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let all = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.path(), all.clone()).unwrap();
    // Where the build stands nobody may not look.
    let program = home.path().join("fio-replay");
    fs::copy(env!("CARGO_BIN_EXE_fio-replay"), &program).unwrap();
    fs::set_permissions(&program, all.clone()).unwrap();
    let (work, logs) = (home.path().join("work"), home.path().join("logs"));
    for directory in [&work, &logs] {
        fs::create_dir(directory).unwrap();
        chown(directory, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let canary = home.path().join("canary");
    fs::write(&canary, "untouched").unwrap();
    chown(&canary, Some(NOBODY), Some(NOBODY)).unwrap();
    fs::write(
        home.path().join("run"),
        format!("#!/bin/sh\ntouch {}/ran\n", logs.display()),
    )
    .unwrap();
    fs::set_permissions(home.path().join("run"), all).unwrap();
    fs::write(home.path().join("job.fio"), "[x]\nrw=write\nsize=64k\n").unwrap();
    for (row, (words, code)) in ROWS.iter().enumerate() {
        let words = words.replace("HOME", home.path().to_str().unwrap());
        let log = logs.join(format!("{row}.trace"));
        let output = Command::new("timeout")
            .args(["-k", "5", "60", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
            .args(["strace", "-f", "-e", "trace=execve,open,openat,openat2,creat,unlink,unlinkat,rename,renameat,renameat2,linkat,symlinkat,mkdir,mkdirat", "-o"])
            .arg(&log)
            .arg(&program)
            .arg("--directory")
            .arg(&work)
            .args(["--", &words])
            .output()
            .unwrap();
        let said = text(&output.stderr);
        if said.contains("ptrace") {
            eprintln!("SKIPPED: nobody may not trace here: {said}");
            return;
        }
        assert_eq!(output.status.code(), Some(*code), "{words}: {said}");
        let calls = fs::read_to_string(&log).unwrap();
        assert_eq!(calls.matches("execve(").count(), 1, "{words}");
        for line in calls.lines() {
            let call = line.split("execve").next().unwrap();
            let changes = [
                "O_WRONLY", "O_RDWR", "O_CREAT", "unlink", "rename", "linkat", "mkdir",
            ];
            let changes = changes.iter().any(|word| call.contains(word));
            // Ours are relative to a descriptor of the sandbox or of the directory.
            let absolute = call.contains("AT_FDCWD") || call.contains("(\"/");
            assert!(!(changes && absolute), "{words}: {line}");
            for name in [
                "passwd", "canary", "/dev/sd", "job.fio", "/log\"", "/out\"", "copy",
            ] {
                let ours = call.contains("logs/");
                assert!(ours || !call.contains(name), "{words}: {line}");
            }
        }
        assert_eq!(fs::read_dir(&work).unwrap().count(), 0, "{words}");
        assert_eq!(fs::read_to_string(&canary).unwrap(), "untouched", "{words}");
        assert!(!logs.join("ran").exists(), "{words}");
        assert!(!said.contains("SECRETSECRET") && !text(&output.stdout).contains("SECRETSECRET"));
    }
}
