//! House rules, checked over the sources of all three crates.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                sources(&path, into);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

fn all() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for crate_ in ["fio-parse", "replay", "compare"] {
        sources(&root().join(crate_), &mut paths);
    }
    assert!(paths.len() > 20, "expected the sources of three crates");
    paths
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// The lines in front of the file's own tests.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap()
}

#[test]
fn unsafe_stands_in_replays_engine_memory_and_clock_only() {
    for (name, text) in all() {
        let allowed = [
            "replay/src/engine/",
            "replay/src/memory",
            "replay/src/clock",
        ]
        .iter()
        .any(|place| name.starts_with(place));
        let uses = text
            .lines()
            .map(|line| line.split("//").next().unwrap())
            .any(|line| {
                line.split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|word| word == "unsafe")
                    && !line.contains('"')
            });
        assert!(
            allowed || !uses,
            "{name}: unsafe outside of replay's engine, memory and clock"
        );
    }
}

#[test]
fn every_module_opens_with_what_it_is() {
    for (name, text) in all() {
        assert!(
            text.trim_start().starts_with("//!") || text.starts_with("#!["),
            "{name}: expected a module comment at the top"
        );
    }
}

#[test]
fn modules_fit_in_the_head() {
    for (name, text) in all() {
        let lines = code(&text).lines().count();
        let excused = text
            .lines()
            .any(|line| line.starts_with("//! Long because "));
        assert!(
            lines <= 600 || excused,
            "{name}: {lines} lines before its tests; split it, or say `//! Long because …` at its top"
        );
    }
}

#[test]
fn nothing_is_left_open() {
    // put together here, so that this file does not find itself
    let marks = [
        ["to", "do!("],
        ["unimple", "mented!("],
        ["FIX", "ME"],
        ["XX", "X"],
    ]
    .map(|half| half.concat());
    for (name, text) in all() {
        for mark in &marks {
            assert!(!text.contains(mark.as_str()), "{name}: {mark}");
        }
    }
}

#[test]
fn every_code_is_shown_by_a_test() {
    let texts: String = all().into_iter().map(|(_, text)| text).collect();
    for (code, _) in fio_parse::diagnostic::CODES {
        let named = format!("\"{}\"", code.as_str());
        let constant = code.as_str().replace('-', "_").to_uppercase();
        // declared once; used at least once more, in the code that gives it or in a test of it
        let uses =
            texts.matches(&named).count() + texts.matches(&format!("Code::{constant}")).count();
        assert!(uses >= 2, "{code}: declared and never given");
    }
}
