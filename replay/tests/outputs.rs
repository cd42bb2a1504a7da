//! Result files: when they are made, and that each holds one document.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fio_parse::record::{Record, ScopeKind, read_jsonl};
use fio_parse::source::Log;
use serde_json::Value;

const FIO: &str = "fio --name=a --rw=write --bs=4k --size=64k";
const OTHER: &str = "fio --name=b --rw=write --bs=8k --size=64k";
const DD: &str = "dd if=/dev/zero of=x bs=64k count=2";

/// A call in a directory with a folder `d` and a post of these commands.
fn call(home: &Path, commands: &[&str], arguments: &[&str]) -> Output {
    let folder = home.join("d");
    fs::create_dir_all(&folder).unwrap();
    fs::write(home.join("post.txt"), commands.join("\n\n")).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_fio-replay"));
    program.current_dir(home).arg("post.txt").args(arguments);
    let output = program.output().unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_call_that_runs_nothing_leaves_no_result_files() {
    let huge = "fio --name=a --rw=write --bs=4k --size=64t";
    for (command, arguments, code) in [
        // No directory for the logs, a second file that cannot be made, the same file twice, no
        // directory to run in, a form twice, a test that is refused.
        (FIO, "--format json=r -d d --log-directory none", 2),
        (FIO, "--format json=r --format text=none/t -d d", 2),
        (FIO, "--format json=r --format text=r -d d", 2),
        (FIO, "--format json=r -d none", 2),
        (FIO, "--format json=r --format text --format terse -d d", 2),
        (huge, "--format json=r -d d", 3),
        (DD, "--format json=r -d d", 3),
    ] {
        let home = tempfile::tempdir().unwrap();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = call(home.path(), &[command], &arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            said(&output)
        );
        assert!(!home.path().join("r").exists(), "{arguments:?}");
        // So the right call can follow.
        let output = call(home.path(), &[FIO], &["--format", "json=r", "-d", "d"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
}

#[test]
fn a_result_file_that_exists_is_not_written_to() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("r"), "mine").unwrap();
    let output = call(home.path(), &[FIO], &["--format", "json=r", "-d", "d"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("results go to new files only"));
    assert_eq!(fs::read_to_string(home.path().join("r")).unwrap(), "mine");
}

#[test]
fn logs_of_warm_ups_and_rounds_are_told_apart_and_taken_names_beforehand() {
    let logged = &format!("{FIO} --write_bw_log=x");
    let run = |home: &Path| {
        let mut arguments = vec!["--log-directory", "l", "-d", "d"];
        arguments.extend(["--repeat", "2", "--warm-up", "1"]);
        call(home, &[logged], &arguments)
    };
    let home = tempfile::tempdir().unwrap();
    let logs = home.path().join("l");
    fs::create_dir(&logs).unwrap();
    let output = run(home.path());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let names = || {
        let entries = fs::read_dir(&logs).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let all = ["round-1", "round-2", "warm-up-1"].map(|mark| format!("workload-1-{mark}_bw.1.log"));
    assert_eq!(names(), all);
    // The last name is taken: nothing is run.
    fs::remove_file(logs.join(&all[0])).unwrap();
    fs::remove_file(logs.join(&all[2])).unwrap();
    let output = run(home.path());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let message = said(&output);
    assert!(message.contains("workload-1-round-2_bw.1.log"), "{message}");
    assert!(
        message.contains("results go to new files only"),
        "{message}"
    );
    assert_eq!(names(), [all[1].clone()]);
}

#[test]
fn elapsed_is_fio_s() {
    // fio 3.33: 2 with a second of delay before an instant, for each job of the run.
    let home = tempfile::tempdir().unwrap();
    let delayed = format!("{FIO} --startdelay=1 --name=b --rw=read --bs=4k --size=64k");
    let output = call(home.path(), &[&delayed], &["--format", "json", "-d", "d"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    for job in document["jobs"].as_array().unwrap() {
        assert_eq!(job["elapsed"], 2, "{}", job["jobname"]);
    }
}

#[test]
fn json_is_one_document_whatever_it_holds() {
    let names = |documents: &[Value]| -> Vec<String> {
        let jobs = documents.iter().map(|document| &document["jobs"][0]);
        jobs.map(|job| job["jobname"].as_str().unwrap().to_owned())
            .collect()
    };
    for form in ["json", "json+"] {
        let home = tempfile::tempdir().unwrap();
        let file = format!("{form}=r");
        let both = ["--format", form, "--format", &file, "-d", "d"];
        // One test is fio's document.
        let output = call(home.path(), &[FIO], &both);
        for text in [output.stdout, fs::read(home.path().join("r")).unwrap()] {
            let document: Value = serde_json::from_slice(&text).unwrap();
            assert_eq!(names(&[document]), ["a"]);
        }
        fs::remove_file(home.path().join("r")).unwrap();
        // Several are a list of such documents, with the one that fio has no place for refused.
        let output = call(home.path(), &[FIO, DD, OTHER], &both);
        assert_eq!(output.status.code(), Some(3));
        assert!(said(&output).contains("[no-form]"), "{}", said(&output));
        for text in [output.stdout, fs::read(home.path().join("r")).unwrap()] {
            let documents: Vec<Value> = serde_json::from_slice(&text).unwrap();
            assert_eq!(names(&documents), ["a", "b"]);
        }
        // So are the rounds of one.
        let output = call(
            home.path(),
            &[FIO],
            &["--repeat", "2", "--format", form, "-d", "d"],
        );
        let documents: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(names(&documents), ["a", "a"]);
    }
}

#[test]
fn a_dd_is_in_the_forms_that_have_a_place_for_it() {
    let home = tempfile::tempdir().unwrap();
    let arguments = ["--format", "text", "--format", "json=r", "-d", "d"];
    let output = call(home.path(), &[FIO, DD], &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).contains("workload 2: dd bs=65536 count=2 is not in r"),
        "{}",
        said(&output)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("131072 bytes"), "{text}");
    let documents: Vec<Value> =
        serde_json::from_slice(&fs::read(home.path().join("r")).unwrap()).unwrap();
    assert_eq!(documents.len(), 1);
    // The plan says it too.
    let output = call(home.path(), &[DD], &["--format", "terse"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).contains("--format text or jsonl"));
}

/// What is not to be counted must not be read back as a result.
#[test]
fn warm_ups_are_marked_or_left_out() {
    for (form, runs, warm_ups) in [
        ("text", 2, 0),
        ("terse", 2, 0),
        ("json", 3, 1),
        ("json+", 3, 1),
        ("jsonl", 3, 1),
    ] {
        let home = tempfile::tempdir().unwrap();
        let arguments = [
            "--warm-up",
            "1",
            "--repeat",
            "2",
            "--format",
            form,
            "-d",
            "d",
        ];
        let output = call(home.path(), &[FIO], &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let records = match form {
            "jsonl" => read_jsonl(&output.stdout[..]).map(Result::unwrap).collect(),
            _ => {
                let log = Log::from_bytes("results", &output.stdout).unwrap();
                fio_parse::parse(&log).records
            }
        };
        let groups = || {
            let group = |record: &&Record| record.scope.kind == ScopeKind::Group;
            let found: Vec<&Record> = records.iter().filter(group).collect();
            // Terse and JSON have jobs only.
            if found.is_empty() {
                records.iter().collect()
            } else {
                found
            }
        };
        assert_eq!(groups().len(), runs, "{form}");
        let marked =
            |record: &&&Record| record.environment.get("warm_up") == Some(&Value::Bool(true));
        assert_eq!(groups().iter().filter(marked).count(), warm_ups, "{form}");
        let named = |record: &Record| {
            record
                .section
                .iter()
                .any(|label| label.text.contains("warm"))
        };
        assert!(
            !records.iter().any(named),
            "{form}: no heading of all that follow"
        );
    }
}
