//! What cells are compared with: one base, the best, each with each; and what takes no part.

mod common;

use common::{cells, exact, lines, record, run_with};
use serde_json::{Value, json};

/// A 4k test on A, B, C and an 8k one on A and C.
fn made() -> Vec<u8> {
    let mut all = Vec::new();
    for (machine, small, large) in [
        ("A", 100.0, Some(300.0)),
        ("B", 400.0, None),
        ("C", 50.0, Some(600.0)),
    ] {
        all.push(record(machine, 1, small));
        if let Some(large) = large {
            let mut other = record(machine, 2, large);
            other["workload"]["jobs"][0]["block_bytes"] = json!(8192);
            all.push(other);
        }
    }
    lines(&all)
}

fn ratios(found: &[Value]) -> Vec<(&str, &str, Option<f64>)> {
    (found.iter())
        .map(|c| {
            let text = |name: &str| c[name].as_str().unwrap_or("");
            (text("machine"), text("base"), c["ratio"].as_f64())
        })
        .collect()
}

#[test]
fn the_best_of_each_row_is_the_base_on_request() {
    let found = cells(&["-", "--base", "best"], &made());
    assert_eq!(
        ratios(&found),
        [
            ("A", "B", Some(0.25)),
            ("B", "B", Some(1.0)),
            ("C", "B", Some(0.125)),
            ("A", "C", Some(0.5)),
            ("B", "", None),
            ("C", "C", Some(1.0)),
        ]
    );
    let table = run_with(&["-", "--base", "best"], &made()).out;
    assert!(table.contains("vs best"), "{table}");
    assert!(
        table.contains("ratios are to the best of those compared"),
        "{table}"
    );
}

#[test]
fn less_time_is_best() {
    let timed = |machine: &str, wall: f64| {
        let mut r = record(machine, 1, 100.0);
        r["measurement"]["clat_ns"] = json!({"mean": exact(wall)});
        r
    };
    let input = lines(&[timed("A", 300.0), timed("B", 100.0)]);
    let found = cells(&["-", "--base", "best", "-m", "clat-mean"], &input);
    assert_eq!(
        ratios(&found),
        [("A", "B", Some(3.0)), ("B", "B", Some(1.0))]
    );
}

#[test]
fn pairs_are_a_matrix_for_each_test() {
    let found = cells(&["-", "--pairwise"], &made());
    let of = |test: &str| -> Vec<(&str, &str, Option<f64>)> {
        let of_test: Vec<Value> = (found.iter())
            .filter(|c| c["test"].as_str().unwrap().contains(test) && c["state"] == "compared")
            .cloned()
            .collect();
        let mut all = Vec::new();
        for (machine, base, ratio) in ratios(&of_test) {
            all.push((
                ["A", "B", "C"].into_iter().find(|m| *m == machine).unwrap(),
                ["A", "B", "C"].into_iter().find(|m| *m == base).unwrap(),
                ratio,
            ));
        }
        all
    };
    assert_eq!(
        of("bs=4k"),
        [
            ("A", "A", Some(1.0)),
            ("A", "B", Some(0.25)),
            ("A", "C", Some(2.0)),
            ("B", "A", Some(4.0)),
            ("B", "B", Some(1.0)),
            ("B", "C", Some(8.0)),
            ("C", "A", Some(0.5)),
            ("C", "B", Some(0.125)),
            ("C", "C", Some(1.0)),
        ]
    );
    assert_eq!(of("bs=8k").len(), 4, "B ran no such test");
    // Each value stands once.
    assert_eq!(found.iter().filter(|c| !c["value"].is_null()).count(), 5);
    for (option, other) in [("--base", "A"), ("--threshold", "5%")] {
        let refused = run_with(&["-", "--pairwise", option, other], &made());
        assert_eq!(refused.status, 2);
        assert!(
            refused.err.contains("cannot be used with"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn pairs_with_repeats_have_a_p_value_both_ways() {
    let mut all = Vec::new();
    for (machine, middle) in [("A", 100.0), ("B", 120.0)] {
        all.extend((0..6).map(|run| record(machine, run + 1, middle + f64::from(run))));
    }
    let found = cells(&["-", "--pairwise"], &lines(&all));
    let p = |machine: &str, base: &str| {
        (found.iter())
            .find(|c| c["machine"] == machine && c["base"] == base)
            .and_then(|c| c["p"].as_f64())
    };
    // Two of the 924 ways to split twelve values: 2 / 924.
    assert!((p("A", "B").unwrap() - 2.0 / 924.0).abs() < 1e-12);
    assert_eq!(p("A", "B"), p("B", "A"));
    assert_eq!(p("A", "A"), None);
}

#[test]
fn the_table_says_what_its_ratios_are_to() {
    let table = run_with(&["-", "--base", "C"], &made()).out;
    assert!(table.contains("ratios are to C; one run each"), "{table}");
}

#[test]
fn an_equal_result_is_judged_by_the_gate() {
    let same = lines(&[record("old", 1, 100.0), record("new", 1, 100.0)]);
    let ran = run_with(&["-", "--threshold", "5%"], &same);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(
        ran.err.contains("gate passed: 1 results judged"),
        "{}",
        ran.err
    );
}

#[test]
fn runs_that_warm_up_are_left_out_aloud() {
    let mut warm = record("A", 1, 10.0);
    warm["environment"] = json!({"warm_up": true});
    let input = lines(&[warm, record("A", 2, 100.0), record("B", 1, 50.0)]);
    let found = cells(&["-"], &input);
    assert_eq!(found[0]["value"].as_f64(), Some(100.0 * 1_048_576.0));
    assert_eq!(found[0]["n"], 1);
    let ran = run_with(&["-"], &input);
    assert!(
        ran.err.contains("a run that only warms up is left out"),
        "{}",
        ran.err
    );
    let asked = cells(&["-", "--filter", "warmup:yes"], &input);
    assert_eq!(asked[0]["value"].as_f64(), Some(10.0 * 1_048_576.0));
}

#[test]
fn what_did_not_become_steady_says_so() {
    let mut unsteady = record("B", 1, 50.0);
    unsteady["measurement"]["steady_state"] =
        json!({"target": "iops:5.000000%", "attained": false, "criterion": "12.500000%"});
    let mut steady = record("C", 1, 50.0);
    steady["measurement"]["steady_state"] = json!({"target": "iops:5.000000%", "attained": true});
    let table = run_with(&["-"], &lines(&[record("A", 1, 100.0), unsteady, steady])).out;
    let said = "did not become steady as asked (iops:5.000000%, in the end 12.500000%)";
    assert_eq!(table.matches(said).count(), 1, "{table}");
}
