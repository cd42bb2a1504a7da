//! `--claims` on the dd post.

mod common;

use common::{data, run};
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
    let faster = of("18 times faster");
    assert_eq!(faster["verdict"], "close");
    assert_eq!(
        faster["computed"],
        "17.5 by wall clock, 18.3 in the tool's own window"
    );
    // 261.48 / 1505.66 = 1 / 5.76
    assert_eq!(of("1/6 of")["verdict"], "right");
}

#[test]
fn err_records_keep_no_prose() {
    let ran = run(&[&data("dd.jsonl"), "--claims"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.contains("--claims needs the post itself"),
        "{}",
        ran.err
    );
}
