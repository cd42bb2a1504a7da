//! Ends before their time: signals in each phase, and what a killed run leaves to the next.
//! A phase is held by strace, which delays one of its calls; skipped aloud where it cannot.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fio-replay"))
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

fn records(output: &Output) -> Vec<Value> {
    text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Starts a long run and waits until its test file is there.
fn long_run(home: &Path, words: &str) -> Child {
    begin(program(), home, words)
}

fn begin(program: Command, home: &Path, words: &str) -> Child {
    begin_as("jsonl", program, home, words)
}

fn begin_as(format: &str, mut program: Command, home: &Path, words: &str) -> Child {
    let mut child = program
        .args(["--format", format, "--directory"])
        .arg(home)
        .arg("--")
        .args(words.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        entries(home)
            .iter()
            .filter(|name| name.starts_with(".fio-replay-"))
            // It may be gone between the two looks.
            .filter_map(|name| fs::read_dir(home.join(name)).ok())
            .flat_map(|files| files.filter_map(Result::ok))
            // Beside the list of what was made.
            .any(|file| !file.file_name().to_string_lossy().starts_with('.'))
    });
    if !begun {
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        panic!("the run does not begin: {}", text(&output.stderr));
    }
    // Let it get from the layout into the loop.
    std::thread::sleep(Duration::from_millis(300));
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh")
        .arg("-c")
        .arg(format!("kill -{name} {}", child.id()))
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn signals_end_a_run_in_order_with_what_was_measured() {
    for name in ["INT", "TERM", "HUP", "QUIT"] {
        let home = tempfile::tempdir().unwrap();
        let words =
            "fio --name=a --rw=randwrite --bs=4k --size=4m --runtime=60 --time_based --end_fsync=1";
        let child = long_run(home.path(), words);
        let asked = Instant::now();
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert!(
            asked.elapsed() < Duration::from_secs(20),
            "SIG{name} is obeyed soon"
        );
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        let records = records(&output);
        assert_eq!(records[0]["interrupted"], true);
        assert!(
            records[0]["measurement"]["bytes"]["value"]
                .as_u64()
                .unwrap()
                > 0
        );
        assert_eq!(entries(home.path()), [""; 0], "SIG{name} leaves nothing");
    }
}

#[test]
fn a_run_that_is_cut_short_is_read_back_as_such() {
    for (format, words) in [
        (
            "jsonl",
            "fio --name=a --rw=write --bs=4k --size=4m --runtime=60 --time_based",
        ),
        (
            "json",
            "fio --name=a --rw=write --bs=4k --size=4m --runtime=60 --time_based",
        ),
        (
            "json+",
            "fio --name=a --rw=write --bs=4k --size=4m --runtime=60 --time_based",
        ),
        (
            "text",
            "fio --name=a --rw=write --bs=4k --size=4m --runtime=60 --time_based",
        ),
        (
            "terse",
            "fio --name=a --rw=rw --bs=4k --size=4m --runtime=60 --time_based --numjobs=2",
        ),
        (
            "text",
            "dd if=/dev/zero of=x bs=4k count=200000 oflag=dsync",
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let child = begin_as(format, program(), home.path(), words);
        signal(&child, "INT");
        let output = child.wait_with_output().unwrap();
        let log = fio_parse::Log::from_bytes("out", &output.stdout).unwrap();
        let found = match format {
            "jsonl" => fio_parse::record::read_jsonl(&*output.stdout)
                .map(Result::unwrap)
                .collect(),
            _ => fio_parse::parse(&log).records,
        };
        assert!(!found.is_empty(), "{format}: {}", text(&output.stderr));
        for record in found {
            assert!(record.interrupted, "{format} {words}");
            if format == "terse" {
                // Each line for itself: fio's readers take them out of their order.
                assert_eq!(record.errors[0].code, Some(libc::EINTR.into()));
                continue;
            }
            let verdict = record.fidelity.unwrap().verdict;
            assert_eq!(
                verdict,
                fio_parse::record::Verdict::Deviates,
                "{format} {words}"
            );
        }
    }
}

#[test]
fn a_round_that_is_cut_short_is_no_sample() {
    let home = tempfile::tempdir().unwrap();
    let mut repeated = program();
    repeated.args(["--repeat", "9"]);
    let child = begin(
        repeated,
        home.path(),
        "fio --name=a --rw=write --bs=4k --size=1m --time_based --runtime=1",
    );
    std::thread::sleep(Duration::from_millis(2200));
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let records = records(&output);
    let (cut, whole): (Vec<_>, Vec<_>) = records
        .iter()
        .partition(|record| record["interrupted"] == true);
    assert!(cut.len() <= 1, "{records:?}");
    let said = text(&output.stderr);
    let told = said.contains(&format!("median of {} rounds", whole.len()));
    assert_eq!(told, whole.len() > 1, "{said}");
    assert!(!said.contains(&format!("median of {} rounds", whole.len() + 1)));
}

#[test]
fn an_interrupt_before_the_first_io_says_that_nothing_was_measured() {
    let home = tempfile::tempdir().unwrap();
    let child = long_run(
        home.path(),
        "fio --name=a --rw=write --bs=4k --size=64k --startdelay=60",
    );
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("nothing was measured yet"), "{said}");
}

#[test]
fn what_a_signal_cuts_short_in_the_ramp_is_no_result() {
    let home = tempfile::tempdir().unwrap();
    let child = long_run(
        home.path(),
        "fio --name=a --rw=write --bs=4k --size=4m --time_based --runtime=3 --ramp_time=60",
    );
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("nothing was measured yet"), "{said}");
    for record in records(&output) {
        let bytes = &record["measurement"]["bytes"]["value"];
        assert_eq!(bytes.as_u64().unwrap_or(0), 0, "{record}");
    }
}

#[test]
fn a_signal_ends_dd_and_the_layout_too() {
    for words in [
        "dd if=/dev/zero of=x bs=4k count=300000 oflag=dsync",
        "fio --name=a --rw=read --bs=4k --size=2g",
    ] {
        let home = tempfile::tempdir().unwrap();
        let child = long_run(home.path(), words);
        signal(&child, "INT");
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(1),
            "{words}: {}",
            text(&output.stderr)
        );
        assert_eq!(entries(home.path()), [""; 0], "{words}");
    }
}

/// Each of many files is made durable at the end, which can take minutes.
#[test]
fn an_interrupt_cuts_the_last_flush_short() {
    let home = tempfile::tempdir().unwrap();
    let words = "fio --name=a --rw=write --bs=4k --size=2m --nrfiles=200";
    // A minute of flushing.
    let Some(program) = held("fsync", 300_000) else {
        return;
    };
    let child = begin(program, home.path(), words);
    std::thread::sleep(Duration::from_secs(3));
    let asked = Instant::now();
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let records = records(&output);
    assert_eq!(records[0]["interrupted"], true);
    // What was not flushed wholly has no figure of a flush.
    assert!(
        records[0]["measurement"]["flush_ns"].is_null(),
        "{}",
        records[0]
    );
    assert_eq!(entries(home.path()), [""; 0]);
}

#[test]
fn after_a_kill_the_next_start_cleans_up() {
    let home = tempfile::tempdir().unwrap();
    let mut child = long_run(
        home.path(),
        "fio --name=a --rw=write --bs=4k --size=4m --runtime=60 --time_based",
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(entries(home.path()).len(), 1, "SIGKILL leaves the sandbox");
    let output = run(home.path(), &[]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(entries(home.path()), [""; 0]);
}

/// The program with one of its calls delayed by so many microseconds. It is the child itself,
/// and the tracer its grandchild (-D).
fn held(call: &str, us: u32) -> Option<Command> {
    let mut strace = Command::new("strace");
    strace
        .args(["-D", "-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={call}"))
        .arg("-e")
        .arg(format!("inject={call}:delay_enter={us}"));
    let mut probe = Command::new("strace");
    probe.args(["-qq", "-o", "/dev/null", "true"]);
    match probe.output() {
        Ok(output) if output.status.success() => {}
        other => {
            eprintln!("SKIPPED: strace cannot trace here: {other:?}");
            return None;
        }
    }
    strace.arg(env!("CARGO_BIN_EXE_fio-replay"));
    Some(strace)
}

/// The first signal waits for the call that holds the run up, the second for nothing.
#[test]
fn a_second_signal_removes_all_and_leaves_at_once() {
    const PHASES: [(&str, &str, &str); 5] = [
        (
            "layout",
            "fsync",
            "fio --name=a --rw=read --bs=4k --size=1m",
        ),
        (
            "run",
            "pwrite64",
            "fio --name=a --rw=write --bs=4k --size=1m",
        ),
        (
            "flush of the test",
            "fsync",
            "fio --name=a --rw=write --bs=4k --size=1m --end_fsync=1",
        ),
        (
            "flush behind the run",
            "fsync",
            "fio --name=a --rw=write --bs=4k --size=1m",
        ),
        (
            "flush of dd",
            "fdatasync",
            "dd if=/dev/zero of=x bs=64k count=4 conv=fdatasync",
        ),
    ];
    std::thread::scope(|scope| {
        for (phase, call, words) in PHASES {
            scope.spawn(move || second_signal(phase, call, words));
        }
    });
}

fn second_signal(phase: &str, call: &str, words: &str) {
    let home = tempfile::tempdir().unwrap();
    let Some(program) = held(call, 12_000_000) else {
        return;
    };
    let mut child = begin(program, home.path(), words);
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(500));
    let held = child.try_wait().unwrap().is_none() && !entries(home.path()).is_empty();
    assert!(
        held,
        "{phase}: {call} does not hold the run, so nothing is shown"
    );
    let asked = Instant::now();
    signal(&child, "INT");
    while !entries(home.path()).is_empty() {
        assert!(asked.elapsed() < Duration::from_secs(4), "{phase}");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Nothing more is done: of three threads and more the one that strace holds is left, which
    // ends when it is let go, and the first, which waits for it.
    let begun = Instant::now();
    let threads = || entries(Path::new(&format!("/proc/{}/task", child.id()))).len();
    while threads() > 2 {
        assert!(begun.elapsed() < Duration::from_secs(4), "{phase}");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(child.wait().unwrap().code(), Some(1), "{phase}");
}

/// What a killed run would leave: so many files in a folder of ours whose lock nobody holds.
fn left_over(home: &Path, files: usize) {
    let folder = home.join(".fio-replay-0123456789ab");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let list = folder.join(".made-by-fio-replay");
    fs::write(&list, "").unwrap();
    let mut made = format!("fio-replay {}\n", identity(&folder));
    made += &format!("{} .made-by-fio-replay\n", identity(&list));
    for number in 0..files {
        let file = folder.join(format!("0.{number}"));
        fs::write(&file, "left over").unwrap();
        made += &format!("{} 0.{number}\n", identity(&file));
    }
    fs::write(&list, made).unwrap();
}

/// Inode and time of birth, as a list of what was made has them.
fn identity(path: &Path) -> String {
    let metadata = fs::metadata(path).unwrap();
    let born = metadata.created().ok();
    let born = born.map(|born| born.duration_since(std::time::UNIX_EPOCH).unwrap());
    format!(
        "{} {}",
        metadata.ino(),
        born.map_or(0, |born| born.as_nanos())
    )
}

const SMALL: &str = "fio --name=a --rw=write --bs=4k --size=64k";

fn run(home: &Path, options: &[&str]) -> Output {
    let mut program = program();
    program
        .args(options)
        .arg("-d")
        .arg(home)
        .args(["--", SMALL]);
    program.output().unwrap()
}

#[test]
fn a_clean_up_is_told_with_its_count() {
    for (options, told) in [(&[][..], true), (&["--quiet"], false)] {
        let home = tempfile::tempdir().unwrap();
        left_over(home.path(), 3);
        let output = run(home.path(), options);
        assert_eq!(output.status.code(), Some(0));
        let said = text(&output.stderr);
        let sentence = "removing 3 files that one killed run left in";
        assert_eq!(said.contains(sentence), told, "{said}");
        assert_eq!(entries(home.path()), [""; 0]);
    }
    let home = tempfile::tempdir().unwrap();
    let said = text(&run(home.path(), &[]).stderr);
    assert!(!said.contains("killed"), "nothing was left: {said}");
}

#[test]
fn a_clean_up_obeys_signals_and_the_next_start_goes_on() {
    let home = tempfile::tempdir().unwrap();
    left_over(home.path(), 500);
    // Two minutes of removing.
    let Some(mut program) = held("unlinkat", 250_000) else {
        return;
    };
    let child = program
        .arg("-d")
        .arg(home.path())
        .args(["--", SMALL])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let folder = home.path().join(".fio-replay-0123456789ab");
    let begun = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        entries(&folder).len() < 500
    });
    assert!(begun, "the clean-up does not begin");
    let asked = Instant::now();
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(10));
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("of 500 files were removed"), "{said}");
    assert_eq!(text(&output.stdout), "", "no test was run");
    assert_eq!(entries(home.path()).len(), 1, "and no folder made");
    assert_eq!(run(home.path(), &[]).status.code(), Some(0));
    assert_eq!(entries(home.path()), [""; 0]);
}

#[test]
fn what_a_person_put_into_the_folder_of_a_killed_run_stays() {
    let home = tempfile::tempdir().unwrap();
    let mut child = long_run(
        home.path(),
        "fio --name=a --rw=write --bs=4k --size=1m --time_based --runtime=60",
    );
    let folder = home.path().join(&entries(home.path())[0]);
    child.kill().unwrap();
    child.wait().unwrap();
    fs::write(folder.join("mine"), "theirs").unwrap();
    let output = run(home.path(), &[]);
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    assert!(
        said.contains("removing one file that one killed run left in"),
        "{said}"
    );
    assert!(
        said.contains(&format!("{} stays", folder.display())),
        "{said}"
    );
    assert_eq!(entries(&folder), ["mine"]);
    assert_eq!(fs::read_to_string(folder.join("mine")).unwrap(), "theirs");
    let said = text(&run(home.path(), &[]).stderr);
    assert!(!said.contains("killed"), "it is theirs now: {said}");
}
