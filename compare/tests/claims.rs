//! `--claims` on the dd post.

mod common;

use common::{data, run, run_with};
use serde_json::Value;

#[test]
fn the_dd_posts_claims_are_held_against_its_figures() {
    let post = format!(
        "{}/../fixtures/logs/disk-speeds-dd-2020/input.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    let ran = run(&[&post, "--claims", "--format", "jsonl"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let claims: Vec<Value> = ran
        .out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let of = |words: &str| -> &Value {
        (claims.iter().find(|c| c["claim"] == words))
            .unwrap_or_else(|| panic!("{words}: {}", ran.out))
    };
    // All eight rates are right as MiB/s by wall clock, and written MB/s.
    for rate in ["1506", "86", "261", "876", "187", "365", "324", "417"] {
        let claim = of(&format!("{rate} MB/s"));
        assert_eq!(claim["verdict"], "right", "{claim}");
        assert!(
            claim["computed"]
                .as_str()
                .unwrap()
                .ends_with("MiB/s by wall clock"),
            "{claim}"
        );
        assert!(
            claim["remark"].as_str().unwrap().contains("written MB/s"),
            "{claim}"
        );
    }
    for (words, verdict, computed) in [
        ("18 times faster", "close", "17.5 by wall clock"),
        ("1/6", "close", "0.174 by wall clock"),
        // The claim agrees with nothing, so no clock is named.
        ("half", "loose", "0.582"),
        ("as fast as", "loose", "0.888"),
    ] {
        let claim = of(words);
        assert_eq!(claim["verdict"], verdict, "{claim}");
        assert_eq!(claim["computed"], computed, "{claim}");
        assert!(
            claim["about"].as_str().unwrap().contains(", against "),
            "{claim}"
        );
    }
}

#[test]
fn records_carry_their_claims() {
    let post = format!(
        "{}/../fixtures/logs/disk-speeds-dd-2020/input.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    let log = fio_parse::Log::from_bytes(post.as_str(), &std::fs::read(&post).unwrap())
        .map(|log| fio_parse::parse(&log).records)
        .unwrap();
    let mut lines = Vec::new();
    fio_parse::record::write_jsonl(&log, &mut lines).unwrap();
    let direct = run(&[&post, "--claims"]);
    assert_eq!(run_with(&["-", "--claims"], &lines).out, direct.out);
    let filtered = run(&[&post, "--claims", "-q", "--filter", "machine:/EVO/"]);
    assert_eq!(
        filtered.out.matches(" MB/s: right").count(),
        2,
        "{}",
        filtered.out
    );
}

#[test]
fn err_flat_files_hold_figures_only() {
    let folder = tempfile::tempdir().unwrap();
    let flat = folder.path().join("flat.csv");
    let flat = flat.to_str().unwrap();
    assert_eq!(run(&[&data("dd.jsonl"), "-q", "--export", flat]).status, 0);
    let ran = run(&[flat, "--claims"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("holds figures only"), "{}", ran.err);
}
