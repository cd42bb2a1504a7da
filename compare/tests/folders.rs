//! What names of folders say: fields, and which files are of one machine.

mod common;

use common::{cells, lines, record, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A record that names no machine, in a file of this name below a new folder.
fn put(root: &Path, path: &str, mib_per_sec: f64, change: impl Fn(&mut Value)) {
    let mut r = record("x", 1, mib_per_sec);
    r.as_object_mut().unwrap().remove("machine");
    let path = root.join(path);
    r["source"]["name"] = json!(path.to_str().unwrap());
    change(&mut r);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, lines(&[r])).unwrap();
}

/// Machine and value in MiB/s of each cell.
fn values(args: &[&str]) -> Vec<(String, f64)> {
    let cell = |c: &Value| {
        let machine = c["machine"].as_str().unwrap_or("").to_owned();
        (machine, c["value"].as_f64().unwrap() / 1_048_576.0)
    };
    cells(args, b"").iter().map(cell).collect()
}

/// Without the cells that nothing is in.
fn there(mut cells: Vec<Value>) -> Vec<Value> {
    cells.retain(|c| !c["value"].is_null());
    cells
}

fn pairs(found: &[(String, f64)]) -> Vec<(&str, f64)> {
    found.iter().map(|(m, v)| (m.as_str(), *v)).collect()
}

#[test]
fn files_of_one_name_in_several_folders_are_no_repeats() {
    let root = tempfile::tempdir().unwrap();
    for (kernel, rate) in [("6.1", 100.0), ("6.5", 200.0), ("6.9", 400.0)] {
        put(root.path(), &format!("{kernel}/out.jsonl"), rate, |_| {});
    }
    let folder = root.path().to_str().unwrap();
    let found = values(&["-r", folder]);
    assert_eq!(
        pairs(&found),
        [("6.1", 100.0), ("6.5", 200.0), ("6.9", 400.0)]
    );
    // With a label the person says that they are.
    let labelled = format!("all={folder}");
    let pooled = values(&["-r", &labelled, "--row", "machine"]);
    assert_eq!(pairs(&pooled), [("all", 200.0)]);
}

#[test]
fn fields_of_folders_are_keys() {
    let root = tempfile::tempdir().unwrap();
    for (folder, rate) in [
        ("machine=a/kernel=6.1/date=2026-01-01", 100.0),
        ("machine=a/kernel=6.9/date=2026-01-02", 200.0),
        ("machine=b/kernel=6.9/date=2026-01-02", 400.0),
    ] {
        put(root.path(), &format!("{folder}/out.jsonl"), rate, |_| {});
    }
    let folder = root.path().to_str().unwrap();
    let by = |args: &[&str]| {
        let all: Vec<&str> = ["-r", folder].iter().chain(args).copied().collect();
        there(cells(&all, b""))
    };
    let found = by(&["--row", "machine", "--col", "kernel", "--ignore", "folder"]);
    let read: Vec<(&str, &str, f64)> = (found.iter())
        .map(|c| {
            let rate = c["value"].as_f64().unwrap() / 1_048_576.0;
            (
                c["machine"].as_str().unwrap(),
                c["kernel"].as_str().unwrap(),
                rate,
            )
        })
        .collect();
    assert_eq!(
        read,
        [
            ("a", "6.1", 100.0),
            ("a", "6.9", 200.0),
            ("b", "6.9", 400.0)
        ]
    );
    let dates = by(&[
        "--row",
        "folder.date",
        "--col",
        "kernel",
        "--filter",
        "machine:a",
    ]);
    assert_eq!(dates[0]["folder.date"], "2026-01-01");
    assert_eq!(dates.len(), 2);
    let one = by(&["--filter", "kernel:6.1"]);
    assert_eq!(one.len(), 1);
    let list = run(&["-r", folder, "--list"]);
    let dates = "date=2026-01-01, date=2026-01-02";
    assert!(list.out.contains(dates), "{}", list.out);
}

#[test]
fn what_a_person_sorted_apart_is_not_pooled() {
    let root = tempfile::tempdir().unwrap();
    for (kernel, rate) in [("6.1", 100.0), ("6.9", 200.0)] {
        put(
            root.path(),
            &format!("kernel={kernel}/out.jsonl"),
            rate,
            |_| {},
        );
    }
    let folder = root.path().to_str().unwrap();
    let found = values(&["-r", folder]);
    assert_eq!(
        pairs(&found),
        [("kernel=6.1", 100.0), ("kernel=6.9", 200.0)]
    );
    let shown = run(&["-r", folder]);
    assert!(
        !shown.out.contains("unlike"),
        "the names say it: {}",
        shown.out
    );
}

#[test]
fn folders_that_number_runs_hold_repeats() {
    let root = tempfile::tempdir().unwrap();
    for (run, rate) in [(1, 100.0), (2, 300.0), (3, 200.0)] {
        put(root.path(), &format!("run={run}/out.jsonl"), rate, |_| {});
    }
    let found = cells(&["-r", root.path().to_str().unwrap()], b"");
    assert_eq!((found.len(), &found[0]["n"]), (1, &json!(3)));
    assert_eq!(found[0]["value"], json!(200.0 * 1_048_576.0));
}

#[test]
fn a_field_fills_in_and_does_not_overrule() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "bs=64k/engine=libaio/a.jsonl", 100.0, |_| {});
    put(root.path(), "bs=64k/engine=libaio/b.jsonl", 100.0, |r| {
        r.as_object_mut().unwrap().remove("workload");
    });
    let folder = root.path().to_str().unwrap();
    let found = there(cells(
        &["-r", folder, "--row", "bs,engine", "--ignore", "options"],
        b"",
    ));
    let read: Vec<(&str, &str)> = (found.iter())
        .map(|c| (c["bs"].as_str().unwrap(), c["engine"].as_str().unwrap()))
        .collect();
    assert_eq!(read, [("4k", "psync"), ("64k", "libaio")]);
    let shown = run(&["-r", folder]);
    let note = "its folder is called bs=64k, the result says 4k";
    assert!(
        shown.out.replace("\n    ", " ").contains(note),
        "{}",
        shown.out
    );
}

#[test]
fn a_flat_file_has_the_fields_of_its_folder() {
    let root = tempfile::tempdir().unwrap();
    for (machine, rate) in [("a", 100.0), ("b", 50.0)] {
        put(root.path(), "raw.jsonl", rate, |r| {
            r["source"]["name"] = json!("raw.jsonl")
        });
        let raw = root.path().join("raw.jsonl");
        for ending in ["parquet", "csv"] {
            let to = root.path().join(format!("{ending}/machine={machine}"));
            fs::create_dir_all(&to).unwrap();
            let to = to.join(format!("part.{ending}"));
            let done = run(&[raw.to_str().unwrap(), "--export", to.to_str().unwrap()]);
            assert_eq!(done.status, 0, "{}", done.err);
        }
    }
    for ending in ["parquet", "csv"] {
        let folder = root.path().join(ending);
        let found = values(&["-r", folder.to_str().unwrap()]);
        assert_eq!(pairs(&found), [("a", 100.0), ("b", 50.0)], "{ending}");
    }
}

#[test]
fn err_a_field_that_no_folder_has_is_named() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "date=1/out.jsonl", 100.0, |_| {});
    let found = run(&["-r", root.path().to_str().unwrap(), "--row", "folder.dato"]);
    assert_eq!((found.status, found.out.as_str()), (2, ""));
    assert!(
        found.err.contains("expected a folder called dato=VALUE"),
        "{}",
        found.err
    );
}

/// A command without `ioengine` leaves the engine to fio, and a folder may know which one that was.
#[test]
fn a_folder_says_what_a_known_command_leaves_to_the_tool() {
    let root = tempfile::tempdir().unwrap();
    for (engine, rate) in [("libaio", 100.0), ("psync", 200.0)] {
        put(
            root.path(),
            &format!("engine={engine}/out.jsonl"),
            rate,
            |r| {
                r["workload"]["jobs"][0]
                    .as_object_mut()
                    .unwrap()
                    .remove("engine");
            },
        );
    }
    let found = cells(
        &["-r", root.path().to_str().unwrap(), "--col", "engine"],
        b"",
    );
    let read: Vec<(&str, &str)> = (found.iter())
        .map(|c| (c["engine"].as_str().unwrap(), c["text"].as_str().unwrap()))
        .collect();
    assert_eq!(read, [("libaio", "100"), ("psync", "200")]);
    assert!(
        !found[0]["notes"].to_string().contains("folder"),
        "{found:?}"
    );
}

/// What a command does not switch on is off; a folder that says so agrees with it.
#[test]
fn off_and_unset_are_one_in_folders_and_filters() {
    let root = tempfile::tempdir().unwrap();
    let cases = [
        ("direct=0", json!(null)),
        ("direct=1", json!(true)),
        ("sync=0", json!(null)),
    ];
    for (at, (folder, direct)) in cases.into_iter().enumerate() {
        put(
            root.path(),
            &format!("{folder}/out.jsonl"),
            100.0 * (at + 1) as f64,
            |r| {
                r["workload"]["jobs"][0]["direct"] = direct.clone();
            },
        );
    }
    let folder = root.path().to_str().unwrap();
    let found = cells(&["-r", folder, "--col", "direct", "--row", "file"], b"");
    assert!(
        !found
            .iter()
            .any(|c| c["notes"].to_string().contains("folder is called")),
        "{found:?}"
    );
    let off = there(cells(
        &["-r", folder, "-f", "direct:0", "--row", "file"],
        b"",
    ));
    let texts: Vec<&str> = off.iter().map(|c| c["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["100", "300"]);
    // A folder that says otherwise than the result is told of.
    put(root.path(), "x/direct=1/out.jsonl", 400.0, |_| {});
    let wrong = cells(&["-r", &format!("{folder}/x"), "--col", "direct"], b"");
    assert!(
        wrong[0]["notes"]
            .to_string()
            .contains("called direct=1, the result says no"),
        "{wrong:?}"
    );
}

/// What folders say of both sides tells tests apart, so that like is divided by like.
#[test]
fn what_folders_say_of_two_machines_stands_with_the_test() {
    let root = tempfile::tempdir().unwrap();
    let sides = [("old", [100.0, 200.0]), ("new", [100.0, 140.0])];
    for (field, names) in [("fs", ["ext4", "xfs"]), ("pool", ["p", "q"])] {
        for (side, rates) in sides {
            for (name, rate) in names.iter().zip(rates) {
                for run in 1..=4 {
                    // Four of each: the medians are 1.5 above the rate.
                    put(
                        root.path(),
                        &format!("{field}/{side}/{field}={name}/run={run}/out.jsonl"),
                        rate + f64::from(run) - 1.0,
                        |_| {},
                    );
                }
            }
        }
        let path = |side: &str| format!("{side}={}/{field}/{side}", root.path().display());
        let ran = run(&["-r", &path("old"), &path("new"), "--threshold", "5%"]);
        assert_eq!(ran.status, 1, "{}{}", ran.out, ran.err);
        // 141.5 of 201.5
        assert!(ran.err.contains("0.702x of old"), "{}", ran.err);
        assert_eq!(ran.err.matches("gate failed").count(), 1, "{}", ran.err);
        let found = cells(&["-r", &path("old"), &path("new")], b"");
        let read: Vec<(bool, &str, f64)> = (found.iter())
            .map(|c| {
                (
                    c["test"]
                        .as_str()
                        .unwrap()
                        .ends_with(&format!("({field}={})", names[1])),
                    c["machine"].as_str().unwrap(),
                    c["value"].as_f64().unwrap() / 1_048_576.0,
                )
            })
            .collect();
        assert_eq!(
            read,
            [
                (false, "old", 101.5),
                (false, "new", 101.5),
                (true, "old", 201.5),
                (true, "new", 141.5)
            ]
        );
    }
    // A result that only one side has is no other's base.
    fs::remove_dir_all(root.path().join("fs/new/fs=xfs")).unwrap();
    let path = |side: &str| format!("{side}={}/fs/{side}", root.path().display());
    let ran = run(&["-r", &path("old"), &path("new"), "--threshold", "5%"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert!(
        ran.err.contains("no result, the base has one"),
        "{}",
        ran.err
    );
    // Tests that are not shown can't tell them apart, so the machine does.
    let by_size = cells(&["-r", &path("old"), &path("new"), "--row", "bs"], b"");
    assert!(
        by_size.iter().any(|c| c["machine"] == "old (fs=xfs)"),
        "{by_size:?}"
    );
}
