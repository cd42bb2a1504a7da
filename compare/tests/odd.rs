//! What is odd about an input is told in few words; what can't be is left out, aloud.

mod common;

use std::fs;
use std::path::Path;

use common::{data, run, run_with};

/// A flat file of two rows of the posts, with one field of the second changed.
fn changed(folder: &Path, field: &str, value: &str) -> String {
    let whole = folder.join("whole.csv");
    if !whole.exists() {
        let ran = run(&[&data("laptops.jsonl"), "--export", whole.to_str().unwrap()]);
        assert_eq!(ran.status, 0, "{}", ran.err);
    }
    let text = fs::read_to_string(&whole).unwrap();
    let mut lines = text.lines();
    let (head, first, second) = (
        lines.next().unwrap(),
        lines.next().unwrap(),
        lines.next().unwrap(),
    );
    let at = head.split(',').position(|name| name == field).unwrap();
    let second: Vec<&str> = second
        .split(',')
        .enumerate()
        .map(|(i, old)| if i == at { value } else { old })
        .collect();
    let path = folder.join(format!("{field}.csv"));
    fs::write(&path, format!("{head}\n{first}\n{}\n", second.join(","))).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn rows_of_flat_files_that_can_not_be_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for (field, value, why) in [
        ("bytes_per_sec_lo", "-6", "expected 0 <= bytes_per_sec_lo"),
        ("bytes_per_sec", "NaN", "expected 0 <= bytes_per_sec_lo"),
        ("bytes_per_sec_hi", "7", "expected 0 <= bytes_per_sec_lo"),
        (
            "bytes",
            "many",
            "expected numbers in bytes, bytes_lo and bytes_hi",
        ),
        ("runtime_ns_lo", "", "expected 0 <= runtime_ns_lo"),
        ("run", "-1", "expected a whole number in run"),
        (
            "scope_rank",
            "group",
            "expected a whole number in scope_rank",
        ),
        ("failed", "maybe", "expected true or false in failed"),
        ("block_bytes", "4k", "expected a number in block_bytes"),
    ] {
        let path = changed(folder.path(), field, value);
        let ran = run(&[&path, "-m", "bw,bytes,runtime", "--format", "csv"]);
        assert_eq!(ran.status, 2, "{field}: {}", ran.err);
        assert!(
            ran.err.contains(&format!("row 2: {why}")),
            "{field}: {}",
            ran.err
        );
        // The other row is there.
        assert_eq!(ran.out.lines().count(), 4, "{field}: {}", ran.out);
    }
}

#[test]
fn diagnostics_are_a_line_each_kind() {
    let log = "\
j: (groupid=0, jobs=1): err=28 (file:x.c:1, func=write, error=No space left on device): pid=1: Tue Dec  1 00:55:39 2026
j: (groupid=0, jobs=1): err=28 (file:x.c:1, func=write, error=No space left on device): pid=2: Tue Dec  1 00:55:39 2026
j: (groupid=0, jobs=1): err=28 (file:x.c:1, func=write, error=No space left on device): pid=3: Tue Dec  1 00:55:39 2026
";
    let ran = run_with(&["-"], log.as_bytes());
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines.len(), 1, "{}", ran.err);
    assert!(
        lines[0].starts_with("-:1:1: warning[job-failed]: "),
        "{}",
        ran.err
    );
    assert!(
        lines[0].ends_with("; and 2 more of this kind"),
        "{}",
        ran.err
    );
    assert_eq!(run_with(&["-", "-q"], log.as_bytes()).err, "");
}
