//! fio's logs of samples beside each other. The figures are means of the lines written here.

mod common;

use common::{cells, run};
use serde_json::json;
use std::fs;

/// A log of two samples in KiB/s.
fn log(a: u32, b: u32) -> String {
    format!("500, {a}, 1, 0, 0\n1000, {b}, 1, 0, 0\n")
}

#[test]
fn a_bandwidth_log_has_a_mean_a_least_and_a_largest_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nas_bw.1.log");
    fs::write(&path, log(1000, 3000)).unwrap();
    let path = path.to_str().unwrap();
    let found = cells(&[path, "-m", "bw-mean,bw-min,bw-max"], b"");
    // Samples are cut to whole KiB/s.
    for (cell, (metric, kib)) in
        (found.iter()).zip([("bw-mean", 2000), ("bw-min", 1000), ("bw-max", 3000)])
    {
        assert_eq!(cell["metric"], metric);
        let within = |end: &str| cell[end].as_f64().unwrap() / 1024.0;
        let kib = f64::from(kib);
        assert!(
            within("lo") <= kib && kib <= within("hi") && within("hi") - within("lo") < 2.1,
            "{cell}"
        );
    }
    assert_eq!(found.len(), 3);
    // Nobody asked: what there is is shown.
    assert_eq!(cells(&[path], b"")[0]["metric"], "bw-mean");
}

#[test]
fn logs_of_two_machines_share_a_row_whatever_the_files_are_called() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rate) in [("old_bw.1.log", 1000), ("new_bw.1.log", 2000)] {
        fs::write(folder.path().join(name), log(rate, rate)).unwrap();
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for inputs in [
        [path("old_bw.1.log"), path("new_bw.1.log")],
        [
            format!("A={}", path("old_bw.1.log")),
            format!("B={}", path("new_bw.1.log")),
        ],
    ] {
        let found = cells(&[&inputs[0], &inputs[1]], b"");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0]["test"], found[1]["test"]);
        let ratio = found[1]["ratio"].as_f64().unwrap();
        assert!((ratio - 2.0).abs() < 0.01, "{ratio}");
    }
}

#[test]
fn jobs_of_one_machine_keep_rows_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rate) in [("run_bw.1.log", 1000), ("run_bw.2.log", 3000)] {
        fs::write(folder.path().join(name), log(rate, rate)).unwrap();
    }
    let labelled = format!("nas={}", folder.path().display());
    let found = cells(&["-r", &labelled, "--row", "machine,test"], b"");
    let rows: Vec<_> = found.iter().map(|c| (&c["machine"], &c["test"])).collect();
    assert_eq!(
        rows,
        [
            (&json!("nas"), &json!("run.1")),
            (&json!("nas"), &json!("run.2"))
        ]
    );
}

#[test]
fn err_samples_have_no_percentiles() {
    let found = run(&["x", "-m", "bw-p99"]);
    assert_eq!(found.status, 2);
    assert!(found.err.contains("bw- and iops- with"), "{}", found.err);
}
