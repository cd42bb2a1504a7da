//! Every folder of `fixtures/logs` is parsed and held against what a person has read and kept.
//!
//! A folder has `input.txt`, `expect.jsonl` (the records), `expect.stderr` (the diagnostics; absent means none) and
//! `case.toml` (where it is from). A mismatch leaves `*.got` beside the file. `UPDATE=1` rewrites the expected files;
//! read them before you commit them. Every input also has to keep the library's invariants.

use fio_parse::{Log, Parsed, block, diagnostic, record};
use std::fs;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs")
}

/// Line by line, so that a difference is found by eye.
fn check(path: &Path, found: &str) -> Option<String> {
    let got = path.with_extension(format!(
        "{}.got",
        path.extension().unwrap().to_string_lossy()
    ));
    let _ = fs::remove_file(&got);
    if std::env::var_os("UPDATE").is_some() {
        if found.is_empty() && path.extension().is_some_and(|e| e == "stderr") {
            let _ = fs::remove_file(path);
        } else {
            fs::write(path, found).unwrap();
        }
        return None;
    }
    let wanted = fs::read_to_string(path).unwrap_or_default();
    if wanted == found {
        return None;
    }
    fs::write(&got, found).unwrap();
    let line = wanted
        .lines()
        .zip(found.lines())
        .position(|(a, b)| a != b)
        .unwrap_or_else(|| wanted.lines().count().min(found.lines().count()));
    Some(format!(
        "{}: differs from line {}; see {}",
        path.display(),
        line + 1,
        got.display()
    ))
}

#[test]
fn records_are_as_a_person_read_them() {
    let mut problems = Vec::new();
    let mut cases = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let folder = entry.unwrap().path();
        let input = folder.join("input.txt");
        let bytes = fs::read(&input).unwrap();
        let log = Log::from_bytes("input.txt", &bytes).unwrap();
        let Parsed {
            records,
            diagnostics,
        } = fio_parse::parse(&log);
        cases += 1;

        let mut lines = Vec::new();
        record::write_jsonl(&records, &mut lines).unwrap();
        let lines = String::from_utf8(lines).unwrap();
        let talk: String = diagnostics
            .iter()
            .chain(records.iter().flat_map(|record| &record.warnings))
            .map(|d| diagnostic::render(&log, d))
            .collect();
        problems.extend(check(&folder.join("expect.jsonl"), &lines));
        problems.extend(check(&folder.join("expect.stderr"), &talk));
        if !folder.join("case.toml").exists() {
            problems.push(format!(
                "{}: expected a case.toml that says where it is from",
                folder.display()
            ));
        }

        let again: Vec<_> = record::read_jsonl(lines.as_bytes())
            .map(Result::unwrap)
            .collect();
        assert_eq!(
            again,
            records,
            "{}: a record is not what is read back",
            folder.display()
        );
        invariants(&log, &lines, &folder);
    }
    assert!(
        cases >= 2,
        "expected at least the two posts under fixtures/logs"
    );
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Blocks partition the log; printed texts are slices of it; bounds enclose the value.
fn invariants(log: &Log<'_>, lines: &str, folder: &Path) {
    let mut at = 0;
    for block in block::blocks(log) {
        assert_eq!(
            block.span.start,
            at,
            "{}: a gap or an overlap",
            folder.display()
        );
        at = block.span.end;
    }
    assert_eq!(at as usize, log.text().len(), "{}", folder.display());
    for line in lines.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        walk(&value, log, folder);
    }
}

fn walk(value: &serde_json::Value, log: &Log<'_>, folder: &Path) {
    match value {
        serde_json::Value::Object(map) => {
            if let (Some(text), Some(span)) = (map.get("text"), map.get("span")) {
                let ends: Vec<usize> = span
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|end| end.as_u64().unwrap() as usize)
                    .collect();
                // labels are tidied; figures are not
                if !map.contains_key("by") {
                    assert_eq!(
                        &log.text()[ends[0]..ends[1]],
                        text.as_str().unwrap(),
                        "{}",
                        folder.display()
                    );
                }
            }
            if let (Some(lo), Some(value), Some(hi)) =
                (map.get("lo"), map.get("value"), map.get("hi"))
            {
                let [lo, value, hi] = [lo, value, hi].map(|n| n.as_f64().unwrap());
                assert!(
                    lo <= value && value <= hi,
                    "{}: {lo} {value} {hi}",
                    folder.display()
                );
            }
            map.values().for_each(|inner| walk(inner, log, folder));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|inner| walk(inner, log, folder)),
        _ => {}
    }
}
