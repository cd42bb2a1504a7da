//! Commands and job files that want what is not theirs: all are refused or contained.
//!
//! Around each run stand canaries: files that the text names, beside and above the directory.
//! Afterwards they are what they were, nothing is left behind, no program was started, and
//! nothing that a terminal obeys was printed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn program() -> Command {
    let mut command = Command::new("timeout");
    command.args(["60", env!("CARGO_BIN_EXE_fio-replay")]);
    command
}

/// `HOME` stands for the directory above the one that the program works in.
const COMMANDS: &[&str] = &[
    // Devices and what else is no file.
    "fio --name=a --rw=write --bs=4k --size=64k --filename=/dev/sda",
    "fio --name=a --rw=write --bs=4k --size=64k --filename=/dev/null",
    "fio --name=a --rw=write --bs=4k --size=64k --filename=/dev/mem",
    "fio --name=a --rw=randtrim --bs=4k --size=64k --filename=/dev/nvme0n1",
    "fio --name=a --rw=write --bs=4k --filename=/dev/sda",
    "fio --name=a --rw=write --bs=4k --size=100% --filename=/dev/sda",
    "fio --name=a --rw=write --bs=4k --size=64k --filename=\\\\\\\\.\\\\PhysicalDrive0",
    "fio --name=a --rw=write --bs=4k --size=64k --filename=/proc/sysrq-trigger",
    "fio --name=a --rw=write --bs=4k --size=64k --filename=-",
    "fio --name=a --ioengine=sg --rw=write --bs=4k --size=64k --filename=/dev/sg0",
    "fio --name=a --ioengine=io_uring_cmd --cmd_type=nvme --rw=write --size=64k --filename=/dev/ng0n1",
    "dd if=/dev/zero of=/dev/sda bs=4k count=4",
    "dd if=/dev/sda of=HOME/canary bs=4k count=4",
    "dd if=/dev/zero of=/proc/sysrq-trigger bs=1 count=1",
    // Paths.
    "fio --name=a --rw=write --bs=4k --size=64k --filename=HOME/canary",
    "fio --name=a --rw=write --bs=4k --size=64k --filename=../canary",
    "fio --name=a --rw=write --bs=4k --size=64k --filename=../canary:HOME/canary:/etc/passwd",
    "fio --name=../canary --rw=write --bs=4k --size=64k",
    "fio --name=../../../../etc/cron.d/x --rw=write --bs=4k --size=64k",
    "fio --name=a --rw=write --bs=4k --size=64k --directory=HOME",
    "fio --name=a --rw=write --bs=4k --size=64k --directory=/etc:/root",
    "fio --name=a --rw=write --bs=4k --size=64k --filename_format=../canary",
    "fio --name=a --rw=randrw --bs=4k --size=64k --filename=HOME/canary --overwrite=1 --unlink=1",
    "fio --name=a --rw=write --bs=4k --size=64k --filename=HOME/link",
    "fio --name=a/b/c --rw=write --bs=4k --size=64k",
    "fio --name=canary --rw=write --bs=4k --size=64k --opendir=HOME",
    "fio --name=a --rw=write --bs=4k --size=64k --file_append=1 --filename=HOME/canary",
    "fio --name=a --rw=write --bs=4k --size=64k --allow_file_create=0 --filename=HOME/canary",
    "dd if=/dev/zero of=HOME/canary bs=4k count=4 conv=notrunc",
    "dd if=/dev/zero of=../canary bs=4k count=4 oflag=append",
    "dd if=HOME/canary of=HOME/copy bs=4k count=4",
    // Programs and foreign code.
    "fio --name=a --rw=write --bs=4k --size=64k --exec_prerun=HOME/run",
    "fio --name=a --rw=write --bs=4k --size=64k --exec_postrun='rm -rf HOME'",
    "fio --name=a --ioengine=exec --program=HOME/run",
    "fio --name=a --ioengine=external:HOME/run.so --rw=write --size=64k",
    "fio --name=a --ioengine=HOME/run.so --rw=write --size=64k",
    "fio --name=a --rw=write --bs=4k --size=64k --profile=tiobench",
    "fio --trigger='HOME/run' --trigger-timeout=1 --name=a --rw=write --size=64k",
    "fio --name=a --rw=write --bs=4k --size=64k; HOME/run",
    "fio --name=a --rw=write --bs=4k --size=64k && rm -rf HOME",
    "fio --name=$(HOME/run) --rw=write --bs=4k --size=64k",
    "fio --name=`HOME/run` --rw=write --bs=4k --size=64k",
    "fio --name=a --rw=write --bs=4k --size=$(HOME/run)",
    "fio --name=a --rw=write --bs=4k --size=64k | HOME/run",
    "fio --name=a --rw=write --bs=4k --size=64k > HOME/canary",
    "time sh -c 'HOME/run; dd if=/dev/zero of=x bs=4k count=4 && sync'",
    "sudo HOME/run fio --name=a --rw=write --bs=4k --size=64k",
    "dd if=/dev/zero of=x bs=4k count=4; rm -rf HOME",
    // Other files that fio writes or reads.
    "fio --name=a --rw=write --bs=4k --size=64k --output=HOME/canary",
    "fio --name=a --rw=write --bs=4k --size=64k --write_bw_log=HOME/canary --write_lat_log=HOME/canary",
    "fio --name=a --rw=write --bs=4k --size=64k --write_iolog=HOME/canary",
    "fio --name=a --read_iolog=HOME/canary",
    "fio --name=a --rw=write --bs=4k --size=64k --aux-path=HOME",
    "fio --name=a --rw=write --bs=4k --size=64k --buffer_pattern='HOME/canary'",
    "fio --name=a --rw=write --bs=4k --size=64k --verify=pattern --verify_pattern='/etc/shadow'",
    "fio HOME/job.fio",
    // Sizes and numbers.
    "fio --name=a --rw=write --bs=4k --size=18446744073709551615",
    "fio --name=a --rw=write --bs=4k --size=16e",
    "fio --name=a --rw=write --bs=4k --size=-1",
    "fio --name=a --rw=write --bs=4k --size=0x7fffffffffffffff",
    "fio --name=a --rw=write --bs=4k --size=900t",
    "fio --name=a --rw=write --bs=18446744073709551615 --size=64k",
    "fio --name=a --rw=write --bs=0 --size=64k",
    "fio --name=a --rw=write --bs=4k --size=64k --offset=18446744073709551615",
    "fio --name=a --rw=write --bs=4k --size=64k --numjobs=3 --offset_increment=9223372036854775807",
    "fio --name=a --rw=write --bs=4k --size=64k --numjobs=4294967295",
    "fio --name=a --rw=write --bs=4k --size=64k --iodepth=4294967295 --ioengine=io_uring",
    "fio --name=a --rw=write --bs=1g --size=64g --iodepth=1024 --ioengine=io_uring",
    "fio --name=a --rw=write --bs=4k --size=64k --nrfiles=4294967295",
    "fio --name=a --rw=write --bs=4k --size=64k --loops=18446744073709551615",
    "fio --name=a --rw=write --bs=4k --size=64k --runtime=999999999999d --time_based",
    "fio --name=a --rw=write --bs=4k --size=64k --runtime=1000h --time_based",
    "fio --name=a --rw=write --bs=4k --size=64k --startdelay=18446744073709551615",
    "fio --name=a --rw=write --bs=4k --size=64k --thinktime=18446744073709551615",
    "fio --name=a --rw=write --bs=4k --size=64k --rate=18446744073709551615",
    "fio --name=a --rw=randwrite --bs=4k --size=64k --bssplit=4k/999999:8k/1",
    "fio --name=a --rw=write --bs=4k --size=64k --fill_device=1",
    "fio --name=a --rw=write --bs=4k --size=$mb_memory",
    "fio --name=a --rw=write --bs=4k --size=64k --lockmem=99g",
    "dd if=/dev/zero of=x bs=1G count=99999999999",
    "dd if=/dev/zero of=x",
    "dd if=/dev/zero of=x bs=4k count=4 seek=99999999999999",
    "dd if=/dev/zero of=x bs=9999999999999999999 count=1",
    // The machine, other machines, other users.
    "fio --client=evil.example --name=a --rw=write --size=64k",
    "fio --server --daemonize=HOME/canary",
    "ssh evil.example fio --name=a --rw=write --size=64k",
    "fio --name=a --rw=write --bs=4k --size=64k --uid=0 --gid=0",
    "fio --name=a --rw=write --bs=4k --size=64k --cgroup=x --ioscheduler=noop",
    "fio --name=a --ioengine=http --http_s3_key=SECRETSECRET --http_s3_keyid=x --rw=write --size=64k",
    "fio --name=a --ioengine=net --hostname=evil.example --rw=write --size=64k",
    // Terminals.
    "fio --name=a\u{1b}[2J\u{1b}]0;x\u{7} --rw=write --bs=4k --size=64k",
    "fio --name=a\u{202e}b --rw=write --bs=4k --size=64k",
    "fio --name=a --rw=write --bs=4k --size=64k --\u{1b}[31mx=1",
    "fio --name=a --rw=write --bs=4k --size=64k --ioengine=\u{1b}[2J",
    "dd if=/dev/zero of=x\u{1b}[2J bs=4k count=4 odd\u{1b}[2J=1",
];

const JOB_FILES: &[&str] = &[
    "[a]\nrw=write\nbs=4k\nsize=64k\nfilename=HOME/canary\n",
    "[../canary]\nrw=write\nbs=4k\nsize=64k\n",
    "[a]\nrw=write\nbs=4k\nsize=64k\nexec_prerun=HOME/run\n",
    "include HOME/canary\n[a]\nrw=write\nbs=4k\nsize=64k\n",
    "[global]\ndirectory=/etc\n[passwd]\nrw=write\nsize=64k\nfilename_format=$jobname\n",
    "[a]\nrw=write\nbs=4k\nsize=${HOME}\n",
    "[a]\nioengine=external:HOME/run.so\nrw=write\nsize=64k\n",
    "[a\u{1b}[2J]\nrw=write\nbs=4k\nsize=64k\nodd\u{1b}[31m=1\n",
    "[a]\nrw=write\nsize=64k\nwrite_iolog=HOME/canary\n",
    "[a]\nrw=write\nsize=64k\nverify_state_load=1\nverify=crc32c\n",
];

struct Ground {
    home: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("work")).unwrap();
        fs::write(home.path().join("canary"), "untouched").unwrap();
        // A program whose trace would show that it ran.
        let run = home.path().join("run");
        fs::write(
            &run,
            format!("#!/bin/sh\ntouch {}/ran\n", home.path().display()),
        )
        .unwrap();
        fs::write(home.path().join("run.so"), "not a library").unwrap();
        fs::write(home.path().join("job.fio"), "[x]\nrw=write\nsize=64k\n").unwrap();
        symlink(home.path().join("canary"), home.path().join("link")).unwrap();
        Ground { home }
    }

    fn work(&self) -> std::path::PathBuf {
        self.home.path().join("work")
    }

    fn fill(&self, text: &str) -> String {
        text.replace("HOME", self.home.path().to_str().unwrap())
    }

    fn check(&self, what: &str, output: &Output) {
        let code = output.status.code();
        assert!(
            matches!(code, Some(0 | 2 | 3)),
            "{what}: {code:?}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut left: Vec<String> = names(self.home.path());
        left.sort();
        assert_eq!(
            left,
            ["canary", "job.fio", "link", "run", "run.so", "work"],
            "{what}"
        );
        assert_eq!(names(&self.work()), [""; 0], "{what}");
        assert_eq!(
            fs::read_to_string(self.home.path().join("canary")).unwrap(),
            "untouched",
            "{what}"
        );
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream);
            let obeyed = text.chars().find(|c| {
                (c.is_control() && !"\n\t".contains(*c)) || ('\u{202a}'..='\u{202e}').contains(c)
            });
            assert_eq!(obeyed, None, "{what}: {text:?}");
            assert!(!text.contains("SECRETSECRET"), "{what}: {text}");
            assert!(!text.contains("panicked"), "{what}: {text}");
        }
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn hostile_commands_are_refused_or_contained() {
    assert!(COMMANDS.len() + JOB_FILES.len() >= 60);
    let ground = Ground::new();
    let (mut refused, mut contained) = (0, 0);
    for command in COMMANDS {
        let text = ground.fill(command);
        let output = program()
            .arg("--directory")
            .arg(ground.work())
            .args(["--", &text])
            .output()
            .unwrap();
        ground.check(&text, &output);
        if output.status.success() {
            contained += 1
        } else {
            refused += 1
        }
    }
    println!("{refused} refused, {contained} contained");
    assert!(
        refused > 30 && contained > 15,
        "{refused} refused, {contained} contained"
    );
}

#[test]
fn hostile_job_files_are_refused_or_contained() {
    let ground = Ground::new();
    for file in JOB_FILES {
        let text = ground.fill(file);
        let mut child = program()
            .arg("--directory")
            .arg(ground.work())
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        ground.check(&text, &child.wait_with_output().unwrap());
    }
}

#[test]
fn files_that_are_swapped_during_a_run_are_not_followed() {
    for plant in ["link", "copy"] {
        let ground = Ground::new();
        let words =
            "fio --name=a --rw=write --bs=4k --size=1m --rate=300k --loops=2 --fsync_on_close=1";
        let mut child = program()
            .arg("--directory")
            .arg(ground.work())
            .args(["--", words])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let mut planted = false;
        while begun.elapsed() < Duration::from_secs(10) && !planted {
            std::thread::sleep(Duration::from_millis(20));
            for sandbox in names(&ground.work()) {
                let file = ground.work().join(sandbox).join("0.0");
                if file.exists() {
                    fs::remove_file(&file).unwrap();
                    let canary = ground.home.path().join("canary");
                    match plant {
                        "link" => symlink(canary, &file).unwrap(),
                        _ => fs::hard_link(canary, &file).unwrap(),
                    }
                    planted = true;
                }
            }
        }
        assert!(planted);
        let status = child.wait().unwrap();
        assert_eq!(
            status.code(),
            Some(1),
            "{plant}: the second pass finds another file"
        );
        assert_eq!(
            fs::read_to_string(ground.home.path().join("canary")).unwrap(),
            "untouched",
            "{plant}"
        );
        // What was planted is not ours to remove, and the rest is gone.
        let left = names(&ground.work());
        assert_eq!(left.len(), 1, "{plant}");
        let folder = ground.work().join(&left[0]);
        assert_eq!(names(&folder), ["0.0"], "{plant}");
    }
}

#[test]
fn results_never_go_into_files_that_exist() {
    let ground = Ground::new();
    let words = "fio --name=a --rw=write --bs=4k --size=64k";
    for target in ["canary", "link"] {
        let target = format!("json={}", ground.home.path().join(target).display());
        let output = program()
            .args(["--format", &target, "--directory"])
            .arg(ground.work())
            .args(["--", words])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        ground.check(&target, &output);
    }
    let emit = ground.home.path().join("link");
    let output = program()
        .arg("--emit-fio")
        .arg(emit)
        .args(["--", words])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    ground.check("emit", &output);
}
