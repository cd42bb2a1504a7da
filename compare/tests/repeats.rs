//! Tables over repeats: median, interval, significance.

mod common;

use common::{cells, lines, record, run_with};
use serde_json::{Value, json};

fn repeats(machine: &str, values: &[f64]) -> Vec<Value> {
    (values.iter().enumerate())
        .map(|(i, v)| record(machine, i as u32 + 1, *v))
        .collect()
}

fn both(a: &[f64], b: &[f64]) -> Vec<u8> {
    let mut all = repeats("A", a);
    all.extend(repeats("B", b));
    lines(&all)
}

#[test]
fn a_difference_beyond_chance_has_a_ratio_a_p_and_a_spread() {
    let a = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0];
    let b = [80.0, 81.0, 82.0, 83.0, 84.0, 85.0];
    let found = cells(&["-"], &both(&a, &b));
    // medians 102.5 and 82.5; p = 2 / C(12, 6)
    assert_eq!(found[1]["text"], "82.5");
    assert_eq!(found[1]["ratio_text"], "0.805x");
    let p = found[1]["p"].as_f64().unwrap();
    assert!((p - 2.0 / 924.0).abs() < 1e-12);
    assert_eq!(found[1]["ci_lo"].as_f64(), Some(80.0 * 1_048_576.0));
    assert_eq!(found[1]["verdict"], "worse");
    let table = run_with(&["-"], &both(&a, &b)).out;
    assert!(table.contains("p=0.002 n=6"), "{table}");
    assert!(table.contains("3%"), "{table}");
}

#[test]
fn no_difference_shown_is_a_tilde() {
    let a = [100.0, 104.0, 102.0, 108.0, 106.0];
    let b = [101.0, 103.0, 105.0, 107.0, 99.0];
    let found = cells(&["-"], &both(&a, &b));
    assert_eq!(found[1]["ratio_text"], "~");
    // U = 15 of 25: scipy.stats.mannwhitneyu(a, b, method="exact").pvalue
    assert!((found[1]["p"].as_f64().unwrap() - 0.690_476_190_476_190_5).abs() < 1e-12);
}

#[test]
fn too_few_runs_are_said_to_be_too_few() {
    let table = run_with(&["-"], &both(&[100.0, 101.0, 102.0], &[80.0, 81.0, 82.0])).out;
    assert!(table.contains("it takes at least 6 runs"), "{table}");
    assert!(
        table.contains("takes at least 4 runs on both sides"),
        "{table}"
    );
    assert!(table.contains('∞'), "{table}");
    // fully separated, but 2 / C(6, 3) = 0.1
    assert!(table.contains("p=0.100 n=3"), "{table}");
}

#[test]
fn two_groups_and_outliers_are_noted() {
    let humps = [100.0, 101.0, 102.0, 200.0, 201.0, 202.0];
    let flat = [100.0, 101.0, 102.0, 103.0, 104.0, 300.0];
    let table = run_with(&["-"], &both(&humps, &flat)).out;
    assert!(table.contains("two groups"), "{table}");
    assert!(table.contains("1 of 6 runs lie far outside"), "{table}");
}

#[test]
fn holm_makes_p_values_larger_and_says_so() {
    let a = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0];
    let b = [80.0, 81.0, 82.0, 83.0, 84.0, 85.0];
    let mut all = repeats("A", &a);
    all.extend(repeats("B", &b));
    all.extend(repeats("C", &b));
    let found = cells(&["-", "--holm"], &lines(&all));
    assert!((found[1]["p"].as_f64().unwrap() - 2.0 * 2.0 / 924.0).abs() < 1e-12);
    let table = run_with(&["-", "--holm"], &lines(&all)).out;
    assert!(
        table.contains("corrected for 2 comparisons (Holm)"),
        "{table}"
    );
}

#[test]
fn the_geomean_counts_only_rows_that_all_share() {
    let mut records = Vec::new();
    for (test, machine, value) in [
        (4096, "A", 100.0),
        (4096, "B", 200.0),
        (8192, "A", 100.0),
        (8192, "B", 50.0),
        (16384, "A", 100.0),
        (16384, "B", 200.0),
        (32768, "B", 700.0),
    ] {
        let mut r = record(machine, 1, value);
        r["workload"]["jobs"][0]["block_bytes"] = test.into();
        records.push(r);
    }
    let table = run_with(&["-"], &lines(&records)).out;
    // (2 x 0.5 x 2)^(1/3) = 1.26
    let line = table
        .lines()
        .find(|l| l.contains("geomean of 3 of 4 rows"))
        .unwrap_or("");
    assert!(line.contains("1.26x"), "{table}");
}

/// Ten runs, each with its own figures in a note of the same kind, do not bury the table.
#[test]
fn many_notes_of_one_kind_are_told_by_the_first() {
    let noted = |runs: usize, code: &str| {
        let mut all = repeats("A", &[100.0; 10]);
        for (i, record) in all.iter_mut().take(runs).enumerate() {
            let message = format!("{i}MiB do not fit");
            record["warnings"] = json!([{"code": code, "severity": "warning", "message": message}]);
        }
        run_with(&["-"], &lines(&all)).out
    };
    let many = noted(10, "rate-mismatch");
    assert!(
        many.contains("0MiB do not fit; and 9 more notes of this kind (rate-mismatch)"),
        "{many}"
    );
    assert!(!many.contains("1MiB"), "{many}");
    let few = noted(2, "rate-mismatch");
    assert!(few.contains("0MiB do not fit\n"), "{few}");
    assert!(few.contains("1MiB do not fit\n"), "{few}");
}

/// The farther end of the interval counts in all formats, as in benchstat.
#[test]
fn the_spread_is_the_same_in_all_formats() {
    // of ten values the 2nd to the 9th bound the median of 103 at 95 %
    let values = [
        100.0, 101.0, 101.5, 102.0, 102.5, 103.5, 104.0, 105.0, 108.0, 109.0,
    ];
    let input = lines(&repeats("A", &values));
    let table = run_with(&["-"], &input).out;
    assert!(
        table.contains("103  5%"),
        "5 of 103 up, 2 of 103 down: {table}"
    );
    let array = run_with(&["-", "--format", "gha-bench"], &input).out;
    let array: Value = serde_json::from_str(&array).unwrap();
    assert_eq!(array[0]["range"], "± 5.00");
    let few = lines(&repeats("A", &values[..3]));
    let array = run_with(&["-", "--format", "gha-bench"], &few).out;
    let array: Value = serde_json::from_str(&array).unwrap();
    assert_eq!(array[0]["range"], "± ∞");
}

/// Records of several files in one input, and of several calls of one tool that names no file.
#[test]
fn runs_of_several_files_are_repeats_where_their_numbers_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, records: &[Value]| {
        let path = folder.path().join(file);
        std::fs::write(&path, lines(records)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // Run 1 of a job alone of file `source`; nothing names the machine.
    let of = |source: &str, rate: f64| {
        let mut r = record("x", 1, rate);
        r.as_object_mut().unwrap().remove("machine");
        r["source"]["name"] = source.into();
        r["scope"] = json!({"kind": "job", "group": 0, "job": "t"});
        r
    };
    let many = |machine: &str, rates: [f64; 4]| -> Vec<Value> {
        let named = rates.iter().enumerate();
        named
            .map(|(i, rate)| of(&format!("{machine}{i}.json"), *rate))
            .collect()
    };
    let old = write("old.jsonl", &many("o", [100.0, 101.0, 102.0, 103.0]));
    let new = write("new.jsonl", &many("n", [94.0, 95.0, 96.0, 97.0]));
    let (old, new) = (format!("old={old}"), format!("new={new}"));
    let ran = run_with(&[&old, &new, "--threshold", "5%"], b"");
    // Medians 101.5 and 95.5: 0.941; four a side and all apart: p = 2 / C(8,4) = 0.029.
    assert_eq!(ran.status, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("0.941x of old"), "{}", ran.err);
    assert!(ran.err.contains("p=0.029 n=4"), "{}", ran.err);
    assert!(!ran.err.contains("several machines"), "{}", ran.err);

    // The tool's own name stands for the file in each.
    let a = write("a.jsonl", &[record("m", 1, 100.0)]);
    let b = write("b.jsonl", &[record("m", 1, 102.0)]);
    for inputs in [[a.clone(), b.clone()], [format!("m={a}"), format!("m={b}")]] {
        let cells = cells(&[&inputs[0], &inputs[1]], b"");
        assert_eq!(cells.len(), 1);
        assert_eq!(cells[0]["n"], 2, "{cells:?}");
        assert_eq!(cells[0]["value"], 101.0 * 1_048_576.0);
    }

    // What is written for later says so, too.
    let flat = folder.path().join("flat.csv");
    let flat = flat.to_str().unwrap();
    assert_eq!(run_with(&[&a, &b, "--export", flat], b"").status, 0);
    assert_eq!(cells(&[flat], b"")[0]["n"], 2);

    // A label of an input with several machines names the input and makes no two runs one.
    let mut two = many("o", [100.0, 101.0, 102.0, 103.0]);
    for (machine, r) in ["p", "p", "q", "q"].iter().zip(&mut two) {
        r["machine"] = json!({"text": machine, "by": "caption"});
    }
    let two = format!("both={}", write("two.jsonl", &two));
    let cells = cells(&[&two], b"");
    let runs: Vec<_> = cells.iter().map(|c| (&c["machine"], &c["n"])).collect();
    assert_eq!(runs, [(&"p".into(), &2.into()), (&"q".into(), &2.into())]);
}

/// Eight results of two tests are no eight runs of one: how they scatter says nothing of noise.
#[test]
fn what_pools_several_tests_has_no_interval_and_no_p() {
    let mut records = Vec::new();
    for machine in ["A", "B"] {
        for test in 0..8u32 {
            let mut one = record(machine, test + 1, 100.0 + f64::from(test));
            one["workload"]["jobs"][0]["block_bytes"] = json!(4096 << (test / 4));
            records.push(one);
        }
    }
    let input = lines(&records);
    let has = |rows: &str, field: &str| -> Vec<bool> {
        let found = cells(&["-", "--row", rows, "--col", "machine"], &input);
        found.iter().map(|cell| !cell[field].is_null()).collect()
    };
    // Of each block size there are four runs, and no base has a p.
    let p = has("bs", "p");
    assert_eq!(p.iter().filter(|p| **p).count(), 2, "{p:?}");
    assert_eq!(has("rw", "p"), [false, false]);
    let table = run_with(&["-", "--row", "rw", "--col", "machine"], &input).out;
    assert!(!table.contains('±') && !table.contains("p="), "{table}");
    assert!(table.contains("n=8"), "{table}");
}
