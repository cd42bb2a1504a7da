//! What is wrong with a text, and where in it: line and column of the very option.

use std::fs;
use std::process::{Command, Output};

fn read(text: &str, arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("in"), text).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_fio-replay"));
    program.current_dir(home.path()).args(arguments);
    program.output().unwrap()
}

fn all(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat()
}

/// The line of the output that has this in it.
#[track_caller]
fn line(output: &Output, part: &str) -> String {
    let text = all(output);
    let line = text.lines().find(|line| line.contains(part));
    line.unwrap_or_else(|| panic!("{part} is missing:\n{text}"))
        .to_owned()
}

#[test]
fn a_refusal_points_at_the_option_of_its_job() {
    let file = "[global]\nbs=4k\nsize=1m\n[a]\nrw=write\n[b]\nrw=raed\n[c]\nrw=read\nbs=4q\n";
    let output = read(file, &["in"]);
    assert!(line(&output, "rw=raed").ends_with("did it mean read? (in:7:1)"));
    assert!(line(&output, "bs=4q").ends_with("(in:10:1)"));
    // A default that all jobs have is said once, at its place.
    let output = read(
        "[global]\nioengine=libaoi\n[a]\nsize=1m\n[b]\nsize=1m\n",
        &["in"],
    );
    assert_eq!(
        all(&output).matches("libaoi ").count(),
        1,
        "{}",
        all(&output)
    );
    assert!(line(&output, "libaoi").ends_with("did it mean libaio? (in:2:1)"));
    let words =
        "fio --name=a --rw=write --size=1m --bs=4k --name=b --size=1m --bs=4q --latency_target=1ms";
    let output = read("", &["--", words]);
    assert!(line(&output, "bs=4q").ends_with("(command:1:64)"));
    assert!(line(&output, "latency_target").ends_with("(command:1:72)"));
    // In a log the column is that of the line, and what --set fills in moves nothing.
    let log = "Some words.\n\nroot@box:~# fio --name=a --rw=$HOW --size=1m --bs=4q\n";
    let output = read(log, &["in", "--set", "HOW=randwrite"]);
    assert!(
        line(&output, "bs=4q").ends_with("(in:3:48)"),
        "{}",
        all(&output)
    );
    let output = read(
        "",
        &[
            "--",
            "dd if=/dev/zero of=x bs=1M count=1 oflag=drect conv=fdatsync",
        ],
    );
    assert!(line(&output, "oflag=drect is").ends_with("did it mean direct? (command:1:36)"));
    assert!(
        line(&output, "conv=fdatsync changes").ends_with("did it mean fdatasync? (command:1:48)")
    );
}

#[test]
fn an_option_inside_a_file_that_includes_others_has_no_wrong_place() {
    let home = tempfile::tempdir().unwrap();
    fs::write(
        home.path().join("main.fio"),
        "[a]\ninclude more.inc\nbs=4q\n",
    )
    .unwrap();
    fs::write(home.path().join("more.inc"), "rw=read\nsize=1m\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .current_dir(home.path())
        .args(["main.fio", "more.inc"])
        .output()
        .unwrap();
    let said = line(&output, "bs=4q");
    assert!(!said.contains(".fio:"), "{said}");
}

#[test]
fn a_broken_job_file_says_which_line_and_what_was_expected() {
    for (file, code, parts) in [
        // fio takes these two.
        ("[a;b]\nrw=write\nsize=64k\n", 0, &["write bs=4096"][..]),
        (
            "[ab\nrw=write\nsize=64k\n",
            0,
            &["in:1:1", "expected `]`", "write bs=4096"],
        ),
        (
            "rw=write\nsize=64k\n",
            2,
            &["in:1:1", "expected a section such as [test]"],
        ),
        // A line that says what the test is, in a way that fio does not take.
        (
            "[a]\nsize=64k\nbs=4k\nrw write\n",
            3,
            &["unreadable-line", "(in:4:1)"],
        ),
        (
            "[a]\nsize=64k\nbs=4k\n--rw=write\n",
            3,
            &["unreadable-line", "(in:4:1)"],
        ),
        (
            "[a]\nrw write\nbs 4k\n",
            2,
            &["in:2:1", "in:3:1", "expected `option=value`"],
        ),
        ("nothing of the kind\n", 2, &["no command of fio or dd"]),
    ] {
        let output = read(file, &["in"]);
        for part in parts {
            assert!(
                all(&output).contains(part),
                "{file}: {part} is missing:\n{}",
                all(&output)
            );
        }
        assert_eq!(output.status.code(), Some(code), "{file}: {}", all(&output));
    }
}

#[test]
fn sizes_say_what_is_wrong_with_them() {
    let said = |size: &str, arguments: &[&str]| {
        let words = format!("fio --name=a --rw=write --filename=/dev/sdx {size}");
        let mut arguments = arguments.to_vec();
        arguments.extend(["--", &words]);
        all(&read("", &arguments))
    };
    for size in ["1mm", "1.5m", "-1", "16e", "99999999999999999999", "lots"] {
        for arguments in [&[][..], &["--size", "1m"]] {
            let said = said(&format!("--size={size}"), arguments);
            assert!(
                said.contains(&format!(
                    "size={size} cannot be read; expected a whole number"
                )),
                "{said}"
            );
            assert!(said.contains("(command:1:47)"), "{said}");
        }
    }
    let depends = said("--size=100%", &[]);
    assert!(
        depends.contains("depends on the original target"),
        "{depends}"
    );
    assert!(
        depends.contains("--size, or name a device of your own with --device"),
        "{depends}"
    );
    assert!(said("--size=0", &[]).contains("not given (size=0)"));
    assert!(said("", &[]).contains("not given (no size)"));
    assert!(said("--size=100%", &["--size", "1m"]).contains("size=100%: 1 MiB"));
}
