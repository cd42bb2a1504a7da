//! The README is run: each `$ command` of its console blocks prints what stands below it.
//!
//! `…` in the expected text stands for any text within a line; a line of `…` alone for any lines. Programs are called by
//! their names, so the folder of the built binaries goes in front of PATH. `cargo test --workspace` builds all three.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Commands with the lines expected below each.
fn examples(readme: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            if let Some(command) = line.strip_prefix("$ ") {
                found.push((command.to_owned(), Vec::new()));
            } else {
                let (_, lines) = found.last_mut().expect("a command first");
                lines.push(line.to_owned());
            }
        }
    }
    found
}

/// Whether `line` is what `wanted` describes.
fn matches(wanted: &str, line: &str) -> bool {
    let parts: Vec<&str> = wanted.split('…').collect();
    // an ellipsis that the program prints itself is one character like any other
    if wanted == line {
        return true;
    }
    let (Some(rest), Some(last)) = (line.strip_prefix(parts[0]), parts.last()) else {
        return false;
    };
    if parts.len() == 1 {
        return false;
    }
    let mut rest = rest;
    for part in &parts[1..parts.len() - 1] {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[test]
fn every_example_prints_what_the_readme_says() {
    let binary = Path::new(env!("CARGO_BIN_EXE_fio-compare"));
    let folder = binary.parent().unwrap();
    for name in ["fio-parse", "fio-replay"] {
        assert!(
            folder.join(name).exists(),
            "{name} is not built; run `cargo test --workspace`"
        );
    }
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let examples = examples(&readme);
    assert!(examples.len() >= 5, "expected the README's examples");
    let mut problems = Vec::new();
    for (command, wanted) in examples {
        let output = Command::new("bash")
            .args(["-c", &command])
            .current_dir(root())
            .env("PATH", &path)
            .env_remove("CLICOLOR_FORCE")
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let wrong = lines
            .iter()
            .zip(&wanted)
            .position(|(line, wanted)| !matches(wanted.trim_end(), line));
        if wrong.is_some() || lines.len() != wanted.len() {
            problems.push(format!(
                "$ {command}\nline {} differs; printed:\n{printed}\nstandard error:\n{}",
                wrong.unwrap_or(lines.len().min(wanted.len())) + 1,
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn patterns_match_as_described() {
    assert!(matches("a…c", "abbbc"));
    assert!(matches("…", ""));
    assert!(matches("a …b… c", "a xxbyy c"));
    assert!(!matches("a…c", "abbb"));
    assert!(!matches("abc", "abcd"));
}
