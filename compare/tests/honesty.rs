//! What must never come out as a plain number or ratio.
//!
//! Long because each promise of a footnote stands here with the input that shows it.

mod common;

use common::{cells, exact, lines, record, run_with};
use serde_json::{Value, json};

#[test]
fn a_failed_run_is_shown_as_failed_and_enters_no_ratio() {
    let mut failed = record("B", 1, 500.0);
    failed["errors"] = json!([{"code": 28, "text": "No space left on device"}]);
    let input = lines(&[record("A", 1, 100.0), failed, record("C", 1, 50.0)]);
    let found = cells(&["-"], &input);
    let states: Vec<&str> = found.iter().map(|c| c["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["value", "failed", "value"]);
    assert!(found[1]["value"].is_null() && found[1]["ratio"].is_null());
    assert_eq!(found[2]["ratio_text"], "0.500x");
    let table = run_with(&["-"], &input).out;
    assert!(table.contains("failed: No space left on device"), "{table}");
}

#[test]
fn a_failed_base_gives_no_ratios() {
    let mut failed = record("A", 1, 500.0);
    failed["interrupted"] = json!(true);
    let found = cells(&["-"], &lines(&[failed, record("B", 1, 100.0)]));
    assert_eq!(found[0]["state"], "failed");
    assert!(found[1]["ratio"].is_null());
    assert_eq!(found[1]["text"], "100");
}

#[test]
fn missing_is_not_zero() {
    let mut other = record("B", 1, 100.0);
    other["workload"]["jobs"][0]["block_bytes"] = json!(8192);
    let found = cells(&["-"], &lines(&[record("A", 1, 100.0), other]));
    let missing: Vec<_> = found.iter().filter(|c| c["state"] == "missing").collect();
    assert_eq!(missing.len(), 2);
    assert!(
        missing
            .iter()
            .all(|c| c["value"].is_null() && c["text"] == "-")
    );
}

#[test]
fn a_group_is_not_counted_again_with_its_jobs() {
    let mut records = Vec::new();
    for job in ["a", "b"] {
        let mut r = record("A", 1, 50.0);
        r["scope"] = json!({"kind": "job", "group": 0, "job": job});
        records.push(r);
    }
    records.push(record("A", 1, 100.0));
    let found = cells(&["-"], &lines(&records));
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0]["text"].as_str(), found[0]["n"].as_u64()),
        (Some("100"), Some(1))
    );
}

#[test]
fn jobs_that_report_apart_are_one_sample_and_not_repeats() {
    let mut records = Vec::new();
    for (job, mean) in [("a", 10.0), ("b", 20.0), ("c", 60.0)] {
        let mut r = record("A", 1, 50.0);
        r["scope"] = json!({"kind": "job", "group": 0, "job": job});
        r["measurement"]["clat_ns"] = json!({"mean": exact(mean * 1e6)});
        records.push(r);
    }
    let found = cells(&["-", "-m", "clat-mean"], &lines(&records));
    assert_eq!(
        (found[0]["n"].as_u64(), found[0]["text"].as_str()),
        (Some(1), Some("10..60"))
    );
    assert!(found[0]["notes"].to_string().contains("jobs of one run"));
}

#[test]
fn a_job_that_failed_taints_its_group() {
    let mut job = record("A", 1, 50.0);
    job["scope"] = json!({"kind": "job", "group": 0, "job": "a"});
    job["errors"] = json!([{"code": 5, "text": "Input/output error"}]);
    let found = cells(&["-"], &lines(&[job, record("A", 1, 100.0)]));
    assert_eq!(found[0]["state"], "failed");
}

#[test]
fn hidden_differences_become_footnotes_that_name_both_sides() {
    let mut other = record("B", 1, 100.0);
    other["workload"]["jobs"][0]["engine"] = json!("io_uring");
    other["workload"]["jobs"][0]["direct"] = json!(true);
    other["source"]["tool"]["version"] = json!("fio-3.36");
    let input = lines(&[record("A", 1, 200.0), other]);
    let table = run_with(&["-", "--width", "200"], &input).out;
    let want = "unlike A: engine=io_uring (there: psync); direct=1 (there: none); tool.version=fio-3.36 (there: fio-3.33)";
    assert!(table.contains(want), "{table}");
    let quiet = run_with(&["-", "--ignore", "engine,direct,tool.version"], &input).out;
    assert!(!quiet.contains("unlike A"), "{quiet}");
    let shown = run_with(
        &[
            "-",
            "--row",
            "test,engine",
            "--ignore",
            "direct,tool.version",
        ],
        &input,
    )
    .out;
    assert!(
        !shown.contains("unlike"),
        "what is shown needs no note: {shown}"
    );
}

#[test]
fn what_nobody_knows_is_no_difference() {
    let mut other = record("B", 1, 100.0);
    other["source"]["tool"]["version"] = json!(null);
    let table = run_with(&["-"], &lines(&[record("A", 1, 200.0), other])).out;
    assert!(!table.contains("unlike"), "{table}");
}

#[test]
fn differences_within_a_cell_are_said() {
    let mut other = record("A", 2, 120.0);
    other["source"]["tool"]["version"] = json!("fio-3.36");
    let table = run_with(&["-"], &lines(&[record("A", 1, 100.0), other])).out;
    let want = "results of one cell differ: tool.version=fio-3.33 and tool.version=fio-3.36";
    assert!(table.contains(want), "{table}");
}

#[test]
fn a_test_run_in_several_ways_on_one_machine_is_no_repeat() {
    let mut other = record("A", 2, 120.0);
    other["workload"]["jobs"][0]["fsync"] = json!(1);
    let input = lines(&[record("A", 1, 100.0), other.clone(), record("B", 1, 50.0)]);
    let found = cells(&["-"], &input);
    let machines: Vec<&str> = found
        .iter()
        .map(|c| c["machine"].as_str().unwrap())
        .collect();
    assert_eq!(machines, ["A (no fsync)", "A (fsync=1)", "B"]);
    assert!(found.iter().all(|c| c["n"] == 1));
    assert_eq!(found[2]["base"], "A (no fsync)");
    // Shown as a row or ignored, it tells nothing apart.
    let shown = cells(&["-", "--row", "fsync"], &input);
    assert!(
        shown
            .iter()
            .all(|c| c["machine"] == "A" || c["machine"] == "B")
    );
    let pooled = cells(&["-", "--ignore", "fsync"], &input);
    assert_eq!(
        (pooled[0]["machine"].as_str(), pooled[0]["n"].as_u64()),
        (Some("A"), Some(2))
    );
}

#[test]
fn times_that_cover_different_things_are_not_divided() {
    let timed = |machine: &str, covers: &str| {
        let mut r = record(machine, 1, 100.0);
        r["measurement"] = json!({
            "bytes": exact(1e9), "wall_ns": exact(1e9), "wall_covers": covers,
        });
        r
    };
    let input = lines(&[timed("A", "run"), timed("B", "run-and-sync")]);
    let found = cells(&["-"], &input);
    assert!(found[1]["ratio"].is_null());
    assert!(
        found[1]["notes"].to_string().contains("not divided"),
        "{}",
        found[1]["notes"]
    );
    let forced = cells(&["-", "--force"], &input);
    assert_eq!(forced[1]["ratio"].as_f64(), Some(1.0));
}

#[test]
fn a_replay_that_was_scaled_says_so() {
    let mut here = record("here", 1, 100.0);
    here["fidelity"] = json!({
        "verdict": "deviates",
        "notes": [
            {"id": "scaled", "level": "deviates", "affects": ["bw"], "why": "size 256m in place of 4g."},
            {"id": "random-sequence", "level": "equivalent", "why": "another sequence of offsets"},
        ],
        "planned": {}, "issued": {},
    });
    let table = run_with(&["-"], &lines(&[record("A", 1, 200.0), here])).out;
    assert!(
        table.contains("replayed, not as the original: size 256m in place of 4g"),
        "{table}"
    );
    assert!(!table.contains("another sequence"), "{table}");
}

#[test]
fn ratios_within_the_bounds_are_no_difference() {
    let mut a = record("A", 1, 100.0);
    a["measurement"]["bytes_per_sec"] = json!({"value": 100.0, "lo": 95.0, "hi": 105.0});
    let mut b = record("B", 1, 100.0);
    b["measurement"]["bytes_per_sec"] = json!({"value": 102.0, "lo": 97.0, "hi": 107.0});
    let found = cells(&["-"], &lines(&[a, b]));
    assert_eq!(found[1]["ratio_text"], "~");
    assert_eq!(found[1]["verdict"], "no difference shown");
}

#[test]
fn lower_latency_is_better() {
    let with = |machine: &str, us: f64| {
        let mut r = record(machine, 1, 100.0);
        r["measurement"]["clat_ns"] = json!({"percentiles": [{"p": 99.0, "value": us * 1e3, "lo": us * 1e3, "hi": us * 1e3}]});
        r
    };
    let found = cells(
        &["-", "-m", "p99"],
        &lines(&[with("A", 200.0), with("B", 100.0)]),
    );
    assert_eq!(found[1]["verdict"], "better");
    assert_eq!(
        (found[0]["text"].as_str(), found[0]["text_unit"].as_str()),
        (Some("200"), Some("us"))
    );
}

#[test]
fn what_has_no_value_for_the_metric_is_named_with_what_it_has() {
    let mut slow = record("B", 1, 0.0);
    slow["measurement"] = json!({"clat_ns": {"mean": exact(2e6)}});
    let mixed = run_with(&["-"], &lines(&[record("A", 1, 100.0), slow.clone()]));
    assert_eq!(mixed.status, 0, "{}", mixed.err);
    assert!(
        mixed
            .err
            .contains("B: not shown, no value of bw-wall or bw; has clat-mean; --list shows all"),
        "{}",
        mixed.err
    );
    assert_eq!(mixed.err.matches("not shown").count(), 1, "{}", mixed.err);
    let quiet = run_with(&["-", "-q"], &lines(&[record("A", 1, 100.0), slow.clone()]));
    assert_eq!(quiet.err, "");
    // Alone, what it has is shown; 2e6 ns.
    let alone = cells(&["-"], &lines(&[slow.clone()]));
    assert_eq!(
        (&alone[0]["metric"], &alone[0]["value"]),
        (&json!("clat-mean"), &json!(2e6))
    );
    slow["measurement"] = json!({"clat_ns": {"max": exact(2e6)}});
    let alone = run_with(&["-"], &lines(&[slow]));
    assert_eq!((alone.status, alone.out.as_str()), (2, ""));
    assert!(alone.err.contains("nothing to compare"), "{}", alone.err);
}

#[test]
fn clones_that_a_header_does_not_count_are_counted_by_their_results() {
    let with = |machine: &str, jobs: u32| {
        let mut r = record(machine, 1, 100.0);
        r["workload"]["written_as"] = json!("fio-header");
        r["workload"]["jobs"][0]["other"] = json!([["numjobs", "..."]]);
        r["workload"]["jobs"][0]["jobs"] = json!(null);
        r["scope"]["jobs"] = json!(jobs);
        r
    };
    let tests = |a: u32, b: u32| {
        let table = run_with(
            &["-", "--row", "numjobs", "--format", "csv"],
            &lines(&[with("A", a), with("B", b)]),
        );
        ["8", "16", "...", "1"].map(|jobs| {
            table
                .out
                .lines()
                .any(|l| l.starts_with(&format!("{jobs},")) || l.contains(&format!(",{jobs},")))
        })
    };
    // 8 and 16 are two tests; alone, a clone says nothing of how many there were, and is not one job.
    assert_eq!(tests(8, 16)[..2], [true, true]);
    assert!(tests(1, 1)[2]);
}

#[test]
fn a_header_without_the_mix_shows_none() {
    let with = |written_as: &str| {
        let mut r = record("A", 1, 100.0);
        r["workload"]["written_as"] = json!(written_as);
        r["workload"]["jobs"][0]["pattern"] = json!("randrw");
        run_with(&["-", "--row", "test"], &lines(&[r])).out
    };
    assert!(!with("fio-header").contains("rwmixread"));
    assert!(with("fio-command").contains("rwmixread=50"));
}

#[test]
fn a_base_of_zero_is_named_as_the_reason() {
    let ran = run_with(
        &["-"],
        &lines(&[record("A", 1, 0.0), record("B", 1, 100.0)]),
    );
    assert!(
        ran.out.contains("not divided by the base: its value is 0"),
        "{}",
        ran.out
    );
}

#[test]
fn controls_in_labels_reach_no_format() {
    let input = lines(&[
        record("A\u{1b}[31m", 1, 100.0),
        record("B\u{202e}x", 1, 50.0),
    ]);
    for format in [
        "table",
        "markdown",
        "csv",
        "tsv",
        "json",
        "jsonl",
        "html",
        "github",
        "openmetrics",
    ] {
        let out = run_with(&["-", "--format", format], &input).out;
        assert!(
            !out.contains('\u{1b}') && !out.contains('\u{202e}'),
            "{format}"
        );
        // JSON writes the escape as text, and doubles its backslash.
        assert!(
            out.contains("u{1b}") || out.contains("u\\{1b"),
            "{format}: {out}"
        );
    }
}

#[test]
fn machines_and_tests_that_share_a_cell_are_named() {
    let mut other = record("B", 1, 50.0);
    other["workload"]["jobs"][0]["engine"] = json!("libaio");
    let input = lines(&[record("A", 1, 100.0), record("C", 1, 120.0), other]);
    let table = run_with(&["-", "--row", "test", "--col", "engine"], &input).out;
    assert!(
        table.contains("one value for 2 machines, which are no repeats of one: A; C"),
        "{table}"
    );
    // One machine on each side, and it is not the same.
    let input = lines(&[record("A", 1, 100.0), other_machine()]);
    let table = run_with(&["-", "--row", "test", "--col", "engine"], &input).out;
    assert!(
        table.contains("unlike psync: machine B (there: A)"),
        "{table}"
    );
    let mut large = record("A", 2, 300.0);
    large["workload"]["jobs"][0]["block_bytes"] = json!(65536);
    let table = run_with(
        &["-", "--row", "machine", "--col", "rw"],
        &lines(&[record("A", 1, 100.0), large]),
    )
    .out;
    assert!(
        table.contains("one value for 2 tests, which are no repeats of one: "),
        "{table}"
    );
}

fn other_machine() -> Value {
    let mut other = record("B", 1, 50.0);
    other["workload"]["jobs"][0]["engine"] = json!("libaio");
    other
}

#[test]
fn options_known_of_one_side_only_are_named() {
    let mut direct = record("A", 1, 100.0);
    direct["workload"]["jobs"][0]["direct"] = json!(true);
    let mut header = record("B", 1, 50.0);
    header["workload"]["written_as"] = json!("fio-header");
    let table = run_with(&["-"], &lines(&[direct, header])).out;
    assert!(
        table.contains("unlike A: ") && table.contains("direct not said (there: 1)"),
        "{table}"
    );
    assert!(!table.contains("no direct"), "{table}");
}

#[test]
fn without_a_command_nothing_tells_that_the_same_was_run() {
    let bare = |machine: &str, run: u32, rate: f64| {
        let mut r = record(machine, run, rate);
        r.as_object_mut().unwrap().remove("workload");
        r
    };
    let input = lines(&[bare("A", 1, 100.0), bare("A", 2, 300.0), bare("B", 1, 50.0)]);
    let table = run_with(&["-", "--width", "200"], &input).out;
    assert!(
        table.contains("2 results without a command, taken for repeats of one test"),
        "{table}"
    );
    assert!(
        table.contains("no command tells that the same was run"),
        "{table}"
    );
}

#[test]
fn a_table_without_the_base_says_so() {
    let mut read = record("B", 1, 50.0);
    read["direction"] = json!("read");
    let mut other = record("C", 1, 70.0);
    other["direction"] = json!("read");
    let input = lines(&[record("A", 1, 100.0), record("B", 2, 50.0), read, other]);
    let table = run_with(&["-"], &input).out;
    assert!(table.contains("ratios are to A"), "{table}");
    assert!(table.contains("no ratios: A has no result here"), "{table}");
}

/// A result of dd without its command: these many records of that many bytes.
fn bare_dd(machine: &str, records: u64, block: u64) -> Value {
    let mut r = record(machine, 1, 100.0);
    r["source"]["tool"] = json!({"name": "dd", "implementation": "gnu"});
    r["source"]["dialect"] = json!("dd");
    r["scope"] = json!({"kind": "run"});
    r.as_object_mut().unwrap().remove("workload");
    let count = json!({"full": records, "partial": 0});
    r["measurement"]["bytes"] = exact((records * block) as f64);
    r["measurement"]["records_in"] = count.clone();
    r["measurement"]["records_out"] = count;
    r
}

#[test]
fn what_was_asked_is_named_where_a_caption_hides_it() {
    let with = |caption: &str, bs: u64, depth: u64, mib: f64| {
        let mut r = record("A", 1, mib);
        r["section"] = json!([{"text": caption, "by": "heading"}]);
        r["workload"]["jobs"][0]["block_bytes"] = json!(bs);
        r["workload"]["jobs"][0]["depth"] = json!(depth);
        r
    };
    let input = lines(&[
        with("First", 4096, 1, 100.0),
        with("Second", 65536, 32, 400.0),
    ]);
    // in one cell
    let pooled = run_with(&["-", "--row", "direction", "--width", "200"], &input).out;
    let inside = "results of one cell differ: bs=4k and bs=64k; iodepth=1 and iodepth=32";
    assert!(pooled.contains(inside), "{pooled}");
    // across a row
    let args = [
        "-",
        "--row",
        "direction",
        "--col",
        "section",
        "--width",
        "200",
    ];
    let across = run_with(&args, &input).out;
    let sides = "unlike First: bs=64k (there: 4k); iodepth=32 (there: 1)";
    assert!(across.contains(sides), "{across}");
    // what is shown or of no interest needs no note
    let args = [
        "-", "--row", "bs", "--col", "section", "--ignore", "iodepth",
    ];
    let shown = run_with(&args, &input).out;
    assert!(
        !shown.contains("bs=") && !shown.contains("iodepth="),
        "{shown}"
    );
}

#[test]
fn a_cell_of_several_values_beside_one_of_another_names_both_sides() {
    let with = |machine: &str, bs: u64| {
        let mut r = record(machine, 1, 100.0);
        r["workload"]["jobs"][0]["block_bytes"] = json!(bs);
        r
    };
    let input = lines(&[with("A", 131_072), with("B", 4096), with("B", 65536)]);
    let table = run_with(&["-", "--row", "direction", "--width", "200"], &input).out;
    assert!(
        table.contains("unlike A: bs=4k and bs=64k (there: 128k)"),
        "{table}"
    );
}

#[test]
fn dd_without_its_command_tells_its_blocks_by_its_counts() {
    let input = lines(&[bare_dd("A", 16, 1 << 20), bare_dd("B", 200, 1 << 16)]);
    let table = run_with(&["-", "--width", "200"], &input).out;
    assert!(
        table.contains("unlike A: bs=64k (there: 1m); moved=12800k (there: 16m)"),
        "{table}"
    );
    // the figures of a line like another are no longer all that differs
    let mut same = bare_dd("A", 200, 1 << 16);
    same["run"] = json!(2);
    let found = cells(&["-"], &lines(&[bare_dd("A", 16, 1 << 20), same]));
    let machines: Vec<&str> = (found.iter())
        .map(|c| c["machine"].as_str().unwrap())
        .collect();
    assert_eq!(machines, ["A (bs=1m)", "A (bs=64k)"]);
    // a partial record leaves the size open
    let mut partial = bare_dd("B", 200, 1 << 16);
    partial["measurement"]["records_out"] = json!({"full": 199, "partial": 1});
    let table = run_with(&["-"], &lines(&[bare_dd("A", 16, 1 << 20), partial])).out;
    assert!(
        table.contains("bs not said (there: 1m)") && !table.contains("bs=64k"),
        "{table}"
    );
}

#[test]
fn fios_defaults_are_no_difference() {
    let with = |machine: &str, mix: Value| {
        let mut r = record(machine, 1, 100.0);
        r["workload"]["jobs"][0]["pattern"] = json!("randrw");
        r["workload"]["jobs"][0]["rwmixread"] = mix;
        r
    };
    let of = |mix| {
        let input = lines(&[with("A", json!(null)), with("B", mix)]);
        run_with(&["-", "--row", "direction"], &input).out
    };
    assert!(!of(json!(50)).contains("rwmixread"));
    assert!(of(json!(70)).contains("rwmixread=70 (there: 50)"));
}

#[test]
fn without_ratios_the_reason_is_the_true_one() {
    let mut failed = record("B", 1, 500.0);
    failed["errors"] = json!([{"code": 28, "text": "No space left on device"}]);
    let says = |input: &[Value], reason: &str| {
        let table = run_with(&["-"], &lines(input)).out;
        assert!(
            table.contains(&format!("no ratios: {reason}\n")),
            "{reason}: {table}"
        );
    };
    says(
        &[record("A", 1, 95.4), failed.clone()],
        "only A has a result here",
    );
    says(&[failed, record("C", 1, 95.4)], "all runs of B failed here");
    says(&[record("A", 1, 0.0), record("B", 1, 95.4)], "A is 0 here");
}

/// Where data goes, how much of it before time counts and for how long: options that workloads hold as
/// fields of their own.
#[test]
fn options_that_no_key_shows_are_noted_where_they_differ() {
    for (field, value, text) in [
        ("filename", json!("/dev/sdb"), "filename=(a device)"),
        ("ramp_ns", json!(5_000_000_000u64), "ramp_time=5s"),
        ("nrfiles", json!(8), "nrfiles=8"),
        ("offset_bytes", json!(1u64 << 30), "offset=1g"),
        ("file_bytes", json!(1u64 << 20), "filesize=1m"),
        ("time_based", json!(true), "time_based=1"),
        ("loops", json!(3), "loops=3"),
    ] {
        let mut other = record("B", 1, 50.0);
        other["workload"]["jobs"][0][field] = value;
        let table = run_with(&["-"], &lines(&[record("A", 1, 100.0), other])).out;
        assert!(
            table.contains("unlike A:") && table.contains(text),
            "{field}: {table}"
        );
    }
    // Two disks, and a file that is called otherwise, are what one compares.
    for names in [["/dev/sda", "/dev/sdb"], ["/a/x", "/b/y"]] {
        let of = |machine: &str, name: &str| {
            let mut one = record(machine, 1, 100.0);
            one["workload"]["jobs"][0]["filename"] = json!(name);
            one
        };
        let table = run_with(&["-"], &lines(&[of("A", names[0]), of("B", names[1])])).out;
        assert!(!table.contains("unlike"), "{table}");
    }
}

/// Which records of a run are samples by themselves does not hang on the order they come in.
#[test]
fn the_order_of_records_does_not_matter() {
    let mut records = Vec::new();
    for run in 1..=4 {
        for (machine, rate) in [("A", 100.0), ("B", 200.0), ("C", 400.0)] {
            let mut group = record(machine, run, rate + f64::from(run));
            // All machines in one input, as a post has them.
            group["source"]["name"] = json!("post");
            let mut job = group.clone();
            job["scope"] = json!({"kind": "job", "group": 0, "job": "w"});
            job["measurement"] =
                json!({"bytes_per_sec": exact(7e6), "clat_ns": {"mean": exact(rate * 1e3)}});
            let mut read = group.clone();
            read["direction"] = json!("read");
            let failed = machine == "C" && run == 3;
            if failed {
                job["errors"] = json!([{"code": 5, "text": "Input/output error"}]);
            }
            records.extend([job, group, read]);
        }
    }
    let shown = |records: &[Value]| {
        let mut rows: Vec<String> =
            cells(&["-", "-m", "bw,clat-mean", "--base", "A"], &lines(records))
                .iter()
                .map(|c| {
                    let keys = [
                        "direction",
                        "machine",
                        "metric",
                        "text",
                        "n",
                        "state",
                        "ratio_text",
                    ];
                    keys.map(|key| c[key].to_string()).join(" ")
                })
                .collect();
        rows.sort();
        rows
    };
    let in_order = shown(&records);
    assert!(
        in_order.contains(&r#""write" "B" "bw" "202" 3 "value" "~""#.to_owned()),
        "{in_order:#?}"
    );
    records.reverse();
    assert_eq!(shown(&records), in_order);
    records.sort_by_key(|r| r["machine"]["text"].to_string());
    assert_eq!(shown(&records), in_order);
}
