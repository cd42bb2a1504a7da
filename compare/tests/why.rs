//! `--why A B`.

mod common;

use common::{data, lines, record, run, run_with};
use serde_json::json;

#[test]
fn the_flush_comes_first_for_the_two_laptops() {
    let ran = run(&[&data("laptops.jsonl"), "--why", "MBP 2018", "MBP 2020"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("1. final flush: explains"), "{}", ran.out);
    // 7.192 of 67.192 s and 28.998 of 88.998 s; 331 over 328 MiB/s
    for text in [
        "7.2 s of 67.2 s on MBP 2018",
        "29.0 s of 89.0 s on MBP 2020",
        "without it the ratio is 1.01x, with it 0.76x",
        "inferred from --runtime",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn the_sync_after_dd_and_its_flags_are_named() {
    let ran = run(&[
        &data("dd.jsonl"),
        "--why",
        "MacBook Pro",
        "860 EVO",
        "--format",
        "json",
    ]);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let reasons = answer["reasons"].as_array().unwrap();
    assert_eq!(reasons[0]["title"], "sync after the tool");
    // ln(1702 / 1588) against ln(876 / 1506): 1 - 0.0693 / 0.5418
    let weight = reasons[0]["weight"].as_f64().unwrap();
    assert!((weight - 0.872).abs() < 0.002, "{weight}");
    assert_eq!(reasons[1]["kind"], "setting");
    assert!(reasons[1]["title"].as_str().unwrap().starts_with("oflag"));
}

#[test]
fn settings_are_ordered_by_what_usually_matters() {
    let mut other = record("B", 1, 50.0);
    other["workload"]["jobs"][0]["engine"] = json!("io_uring");
    other["workload"]["jobs"][0]["fsync"] = json!(1);
    other["source"]["tool"]["version"] = json!("fio-3.1");
    let ran = run_with(
        &["-", "--why", "A", "B"],
        &lines(&[record("A", 1, 100.0), other]),
    );
    let at = |text: &str| {
        ran.out
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {}", ran.out))
    };
    assert!(at("fsync (") < at("engine (") && at("engine (") < at("tool.version ("));
    assert!(ran.out.contains("not measured"), "{}", ran.out);
}

#[test]
fn err_names_that_fit_none_or_several_or_share_no_test() {
    let mut other = record("B", 1, 50.0);
    other["workload"]["jobs"][0]["block_bytes"] = json!(512);
    let input = lines(&[record("A", 1, 100.0), other]);
    let refused = run_with(&["-", "--why", "A", "B"], &input);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("share no test"), "{}", refused.err);
    let refused = run_with(&["-", "--why", "A", "X"], &input);
    assert!(refused.err.contains("`X` fits none"), "{}", refused.err);
    let refused = run(&[&data("laptops.jsonl"), "--why", "MBP", "Dell"]);
    assert!(
        refused.err.contains("`MBP` fits several"),
        "{}",
        refused.err
    );
}

#[test]
fn chance_is_ruled_out_by_the_runs_or_not_at_all() {
    let runs = |machine: &str, values: &[f64]| -> Vec<serde_json::Value> {
        (values.iter().enumerate())
            .map(|(i, v)| record(machine, i as u32 + 1, *v))
            .collect()
    };
    let asked = |a: &[f64], b: &[f64]| {
        let input = lines(&[runs("A", a), runs("B", b)].concat());
        run_with(&["-", "--why", "A", "B"], &input).out
    };
    let one = asked(&[100.0], &[50.0]);
    assert!(one.contains("chance: one run each"), "{one}");
    // scipy.stats.mannwhitneyu gives 0.690 for these
    let alike = asked(
        &[100.0, 104.0, 102.0, 108.0, 106.0],
        &[101.0, 103.0, 105.0, 107.0, 99.0],
    );
    assert!(alike.contains("p=0.690 n=5+5"), "{alike}");
    // fully apart: 2 / C(10, 5)
    let apart = asked(
        &[100.0, 104.0, 102.0, 108.0, 106.0],
        &[10.0, 10.3, 10.5, 10.7, 9.9],
    );
    assert!(!apart.contains("chance"), "{apart}");
    let uneven = asked(&[100.0], &[50.0, 51.0]);
    assert!(uneven.contains(": one run of A"), "{uneven}");
}
