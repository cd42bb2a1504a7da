//! Jobs of one run that report apart: summed as fio's group line sums them, or not at all.

mod common;

use std::fs;

use common::{cells, lines, record, run, run_with};
use serde_json::{Value, json};

const METRICS: &str = "bw,iops,bytes,runtime,clat-min,clat-mean,clat-max";

fn path(name: &str) -> String {
    format!(
        "{}/../fixtures/runs/numjobs-3.33/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
}

/// The JSON of the run, as any reader sees it.
fn report() -> Value {
    serde_json::from_str(&fs::read_to_string(path("fio.json")).unwrap()).unwrap()
}

fn found<'c>(cells: &'c [Value], direction: &str, metric: &str) -> &'c Value {
    let is = |c: &&Value| c["direction"] == direction && c["metric"] == metric;
    cells.iter().find(is).unwrap()
}

fn number(cell: &Value, field: &str) -> f64 {
    cell[field].as_f64().unwrap()
}

/// What `group_reporting` computes: bytes summed, over the longest run time; latencies pooled.
#[test]
fn all_jobs_of_a_name_are_summed_as_fio_sums_them() {
    let report = report();
    let shown = cells(&[&path("fio.json"), "-m", METRICS], b"");
    for direction in ["read", "write"] {
        let sides: Vec<&Value> = (report["jobs"].as_array().unwrap().iter())
            .map(|job| &job[direction])
            .collect();
        let of = |field: &str| {
            let values = sides.iter().map(|s| s[field].as_f64().unwrap());
            values.collect::<Vec<f64>>().into_iter()
        };
        let latency = |field: &str| {
            let sides = sides.iter();
            let values = sides.map(|s| s["clat_ns"][field].as_f64().unwrap());
            values.collect::<Vec<f64>>()
        };
        let milliseconds = of("runtime").fold(0.0, f64::max);
        let pairs = latency("mean").into_iter().zip(latency("N"));
        let total: f64 = latency("N").iter().sum();
        let want = [
            ("bw", of("io_bytes").sum::<f64>() * 1000.0 / milliseconds),
            ("iops", of("total_ios").sum::<f64>() * 1000.0 / milliseconds),
            ("bytes", of("io_bytes").sum()),
            ("runtime", milliseconds * 1e6),
            (
                "clat-min",
                latency("min").into_iter().fold(f64::INFINITY, f64::min),
            ),
            (
                "clat-mean",
                pairs.map(|(mean, n)| mean * n).sum::<f64>() / total,
            ),
            ("clat-max", latency("max").into_iter().fold(0.0, f64::max)),
        ];
        for (metric, want) in want {
            let cell = found(&shown, direction, metric);
            let value = number(cell, "value");
            assert!(
                (value / want - 1.0).abs() < 1e-6,
                "{direction} {metric}: {value}, not {want}"
            );
            assert!(number(cell, "lo") <= want * (1.0 + 1e-9), "{cell}");
            assert!(number(cell, "hi") >= want * (1.0 - 1e-9), "{cell}");
            assert_eq!(cell["n"], 1);
            assert!(
                cell["notes"].to_string().contains("3 jobs of one run"),
                "{cell}"
            );
        }
    }
    // READ: bw=32.9MiB/s, WRITE: bw=34.2MiB/s in the text of the run.
    assert_eq!(found(&shown, "read", "bw")["text"], "32.9");
    assert_eq!(found(&shown, "write", "bw")["text"], "34.2");
}

#[test]
fn text_and_json_of_one_run_give_the_same_numbers() {
    let inputs = [
        format!("json={}", path("fio.json")),
        format!("text={}", path("normal.txt")),
    ];
    for metric in METRICS.split(',') {
        let shown = cells(
            &[&inputs[0], &inputs[1], "--row", "rw,bs", "-m", metric],
            b"",
        );
        assert_eq!(shown.len(), 4);
        for pair in shown.chunks(2) {
            let (json, text) = (&pair[0], &pair[1]);
            assert_eq!(
                (&json["machine"], &text["machine"]),
                (&json!("json"), &json!("text"))
            );
            assert!(number(json, "lo") <= number(text, "hi"), "{json} {text}");
            assert!(number(text, "lo") <= number(json, "hi"), "{json} {text}");
            assert!(
                number(text, "ratio_lo") <= 1.0 && number(text, "ratio_hi") >= 1.0,
                "{text}"
            );
            // The text has the least latency in whole microseconds.
            let width = number(text, "ratio_hi") - number(text, "ratio_lo");
            assert!(width < 0.06 || metric == "clat-min", "{text}");
        }
    }
}

/// What does not follow from the figures of each lies somewhere between them.
#[test]
fn percentiles_span_the_jobs_and_are_not_divided_by_a_sum() {
    let shown = cells(&[&path("fio.json"), "-m", "p99"], b"");
    let cell = found(&shown, "read", "clat-p99");
    let report = report();
    let each = report["jobs"].as_array().unwrap().iter().map(|job| {
        job["read"]["clat_ns"]["percentile"]["99.000000"]
            .as_f64()
            .unwrap()
    });
    let each: Vec<f64> = each.collect();
    assert!(number(cell, "lo") <= each.iter().copied().fold(f64::INFINITY, f64::min));
    assert!(number(cell, "hi") >= each.iter().copied().fold(0.0, f64::max));
    assert!(
        cell["notes"].to_string().contains("bounds span them all"),
        "{cell}"
    );
}

fn input(report: &Value) -> Vec<u8> {
    report.to_string().into_bytes()
}

#[test]
fn a_job_that_is_missing_leaves_the_others_apart() {
    let mut report = report();
    report["jobs"].as_array_mut().unwrap().pop();
    let shown = cells(&["-"], &input(&report));
    let cell = found(&shown, "read", "bw");
    assert!(number(cell, "hi") < 12.0 * 1_048_576.0, "{cell}");
    let notes = cell["notes"].to_string();
    assert!(
        notes.contains("2 of 3 jobs are there, which are not summed"),
        "{notes}"
    );
}

#[test]
fn a_job_that_failed_fails_the_sum() {
    let mut report = report();
    report["jobs"][1]["error"] = json!(28);
    let shown = cells(&["-"], &input(&report));
    let cell = found(&shown, "read", "bw");
    assert_eq!(
        (&cell["state"], &cell["value"]),
        (&json!("failed"), &Value::Null)
    );
}

/// Two jobs of their own names, as a file of jobs has them.
fn two(group: u32) -> Vec<Value> {
    let job = |name: &str, group: u32, mib: f64, seconds: f64| {
        let mut r = record("A", 1, mib);
        r["workload"]["jobs"][0]["name"] = json!(name);
        r["scope"] = json!({"kind": "job", "group": group, "job": name});
        r["measurement"]["runtime_ns"] = common::exact(seconds * 1e9);
        r
    };
    vec![job("a", 0, 30.0, 10.0), job("b", group, 60.0, 5.0)]
}

#[test]
fn jobs_of_one_group_are_summed_whatever_their_names() {
    // 300 MiB each, in 10 s.
    let shown = cells(&["-"], &lines(&two(0)));
    assert_eq!(shown.len(), 1);
    assert_eq!(
        (shown[0]["text"].as_str(), shown[0]["n"].as_u64()),
        (Some("60.0"), Some(1))
    );
    // Of two groups, one ran after the other.
    let shown = cells(&["-"], &lines(&two(1)));
    assert_eq!(
        (shown[0]["text"].as_str(), shown[0]["n"].as_u64()),
        (Some("45.0"), Some(2))
    );
    let apart = cells(&["-", "--row", "job"], &lines(&two(0)));
    let texts: Vec<&str> = apart.iter().map(|c| c["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["30.0", "60.0"]);
}

#[test]
fn a_file_of_records_holds_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs.parquet");
    let file = file.to_str().unwrap();
    assert_eq!(run(&[&path("fio.json"), "--export", file]).status, 0);
    let of_file = run_with(&[file, "-m", METRICS, "--format", "csv"], b"").out;
    let of_json = run_with(&[&path("fio.json"), "-m", METRICS, "--format", "csv"], b"").out;
    assert_eq!(of_file, of_json);
    assert!(
        of_file.contains("over the longest run time of 3 jobs"),
        "{of_file}"
    );
}

/// fio's JSON and its text of one run, in one file: the text's group line has no command.
fn with_group_lines(jobs: &[(&str, u64, f64)], groups: &[(u64, f64)]) -> Vec<Value> {
    let mut records = Vec::new();
    for (at, (name, block, rate)) in jobs.iter().enumerate() {
        let mut r = record("m", 1, *rate);
        let group = if groups.len() > 1 { at } else { 0 };
        r["scope"] = json!({"kind": "job", "group": group, "job": name});
        r["workload"]["jobs"][0]["block_bytes"] = json!(block);
        r["measurement"]["iops"] = json!({"value": 9.0, "lo": 9.0, "hi": 9.0});
        records.push(r);
    }
    for (group, rate) in groups {
        let mut r = record("m", 1, *rate);
        r.as_object_mut().unwrap().remove("workload");
        r["scope"] = json!({"kind": "group", "group": group});
        records.push(r);
    }
    records
}

/// Test and MiB/s of what has a bandwidth.
fn rates(records: &[Value]) -> Vec<(String, f64)> {
    let cells = cells(&["-", "-m", "bw,iops"], &lines(records));
    let with_rate = cells.iter().filter(|c| c["metric"] == "bw");
    with_rate
        .filter_map(|c| {
            let test = c["test"].as_str()?.split(" iodepth").next()?;
            Some((test.to_owned(), c["value"].as_f64()? / 1_048_576.0))
        })
        .collect()
}

#[test]
fn a_group_line_without_a_command_gives_way_to_jobs_that_say_more() {
    let pairs = |found: &[(String, f64)]| -> Vec<String> {
        found.iter().map(|(t, v)| format!("{t}: {v:.1}")).collect()
    };
    let jobs = [("a", 4096, 100.0), ("b", 8192, 300.0)];
    let named = ["randwrite bs=4k: 100.0", "randwrite bs=8k: 300.0"];
    // One job a group, rounded otherwise in the text; then both in one group.
    let stonewalled = with_group_lines(&jobs, &[(0, 100.3), (1, 299.0)]);
    assert_eq!(pairs(&rates(&stonewalled)), named);
    assert_eq!(
        pairs(&rates(&with_group_lines(&jobs, &[(0, 400.0)]))),
        named
    );
    // The text alone: the job's name is that of the test.
    let mut text = with_group_lines(&jobs[..1], &[(0, 100.0)]);
    text[0].as_object_mut().unwrap().remove("workload");
    assert_eq!(pairs(&rates(&text)), ["a: 100.0"]);
    // One of several jobs is not the group, nor are several of which nothing tells what each did.
    let cut_off = with_group_lines(&jobs[..1], &[(0, 400.0)]);
    assert_eq!(pairs(&rates(&cut_off)), ["fio group 0: 400.0"]);
    let mut unknown = with_group_lines(&jobs, &[(0, 400.0)]);
    for job in &mut unknown[..2] {
        job.as_object_mut().unwrap().remove("workload");
    }
    assert_eq!(pairs(&rates(&unknown)), ["fio group 0: 400.0"]);
    // A figure that a job lacks is not lost.
    let mut lacking = with_group_lines(&jobs, &[(0, 400.0)]);
    lacking[0]["measurement"]
        .as_object_mut()
        .unwrap()
        .remove("bytes_per_sec");
    assert_eq!(pairs(&rates(&lacking)), ["fio group 0: 400.0"]);
}

/// A job that died at once is in the text as an error of its group only.
#[test]
fn the_error_of_a_job_that_left_no_figures_stays() {
    let mut records = with_group_lines(&[("b", 4096, 100.0)], &[(0, 100.0)]);
    records[1]["errors"] = json!([{"text": "Inappropriate ioctl for device"}]);
    let found = cells(&["-", "-m", "bw"], &lines(&records));
    let read: Vec<(Option<f64>, bool)> = (found.iter())
        .map(|c| {
            let rate = c["value"].as_f64().map(|v| v / 1_048_576.0);
            (rate, c["notes"].to_string().contains("Inappropriate ioctl"))
        })
        .collect();
    assert_eq!(read, [(Some(100.0), false), (None, true)], "{found:?}");
}
