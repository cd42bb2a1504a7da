//! The gate: real slow-downs are caught, noise is not.

mod common;

use common::{lines, record, run_with};

/// A small generator, so that the draws are the same on every machine (xorshift64*).
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Box-Muller.
    fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        mean + deviation * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

fn sample(draws: &mut Draws, n: usize, mean: f64, noise: f64) -> Vec<f64> {
    (0..n).map(|_| draws.normal(mean, mean * noise)).collect()
}

fn pair(old: &[f64], new: &[f64]) -> Vec<u8> {
    let mut records = Vec::new();
    for (machine, values) in [("old", old), ("new", new)] {
        for (run, value) in values.iter().enumerate() {
            records.push(record(machine, run as u32 + 1, *value));
        }
    }
    lines(&records)
}

#[test]
fn ten_percent_is_caught_with_ten_runs_and_two_percent_is_not() {
    let mut draws = Draws(1);
    for _ in 0..10 {
        let old = sample(&mut draws, 10, 500.0, 0.02);
        let slow = sample(&mut draws, 10, 450.0, 0.02);
        let caught = run_with(&["-", "--threshold", "5%"], &pair(&old, &slow));
        assert_eq!(caught.status, 1, "{}", caught.err);
        assert!(
            caught.err.contains("gate failed: write bandwidth"),
            "{}",
            caught.err
        );
        assert!(
            caught.out.contains("vs base"),
            "the table is printed all the same"
        );
        let near = sample(&mut draws, 10, 490.0, 0.02);
        let passed = run_with(&["-", "--threshold", "5%"], &pair(&old, &near));
        assert_eq!(passed.status, 0, "{}", passed.err);
        assert!(
            passed.err.contains("gate passed: 1 results judged"),
            "{}",
            passed.err
        );
    }
}

/// With a limit of nothing only the test stands between noise and failure, so equal machines must
/// fail in at most alpha of the draws; half of the significant ones are on the better side. With
/// a limit of 5 % and a noise of 2 % they never do.
#[test]
fn an_identical_pair_fails_no_more_often_than_alpha() {
    use compare::bounds::Bounds;
    use compare::gate::{Gate, check};
    use compare::grid::{Cell, Column, Grid, Label, Part, Report, Row, State};
    use compare::metric::Better;
    use compare::{scale, stats};

    let mut draws = Draws(7);
    let (mut strict, mut usual) = (0, 0);
    for _ in 0..1000 {
        let old = sample(&mut draws, 10, 500.0, 0.02);
        let new = sample(&mut draws, 10, 500.0, 0.02);
        let centre = |values: &[f64]| {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            stats::median(&sorted).unwrap()
        };
        let report = Report {
            grids: vec![Grid {
                title: "write bandwidth".into(),
                keys: Vec::new(),
                marks: Vec::new(),
                row_names: vec!["test".into()],
                hidden: Vec::new(),
                across_rows: false,
                columns: vec![Column {
                    label: Label::plain("new"),
                    keys: Vec::new(),
                    metric: "bw".into(),
                    better: Better::Higher,
                    unit: scale::parse("MiB/s").unwrap(),
                    parts: vec![Part::Value],
                    versus: "vs base",
                }],
                rows: vec![Row {
                    labels: vec![Label::plain("t")],
                    keys: Vec::new(),
                    cells: vec![Cell {
                        state: State::Value,
                        ratio: Bounds::exact(centre(&new) / centre(&old)),
                        base: Some("old".into()),
                        p: stats::compare(&old, &new).map(|c| c.p),
                        n: 10,
                        ..Cell::default()
                    }],
                    summary: false,
                }],
            }],
            notes: Vec::new(),
        };
        let gate = |threshold| Gate {
            threshold,
            metrics: Vec::new(),
            two_sided: false,
            alpha: 0.05,
        };
        strict += check(&report, &gate(0.0)).failures.len();
        usual += check(&report, &gate(0.05)).failures.len();
    }
    assert_eq!(usual, 0);
    assert!(strict <= 50, "{strict} of 1000 at alpha 0.05, one-sided");
    assert!(
        strict > 5,
        "{strict}: a gate that never fires tests nothing"
    );
}

#[test]
fn too_few_runs_for_a_test_fail_where_each_run_is_worse_and_else_are_not_judged() {
    let gate = |old: &[f64], new: &[f64]| run_with(&["-", "--threshold", "5%"], &pair(old, new));
    // 402 of 500 is 0.804, worse by 19.6 % at best
    let apart = gate(&[500.0, 501.0, 502.0], &[400.0, 401.0, 402.0]);
    assert_eq!(apart.status, 1, "{}", apart.err);
    assert!(
        apart
            .err
            .contains("so is each run against each of the base"),
        "{}",
        apart.err
    );
    assert!(
        apart.out.contains("takes at least 4 runs on both sides"),
        "{}",
        apart.out
    );
    // the medians are 500 and 400; the best new run is better than any old one
    for (old, new) in [
        (&[490.0, 500.0, 510.0][..], &[390.0, 400.0, 520.0][..]),
        (&[490.0, 510.0], &[280.0, 520.0]),
    ] {
        let mixed = gate(old, new);
        assert_eq!(mixed.status, 2, "{}", mixed.err);
        assert!(
            mixed.err.contains("gate undecided: write bandwidth")
                && mixed
                    .err
                    .contains("cannot be judged, it takes at least 4 runs on both sides")
                && !mixed.err.contains("passed"),
            "{}",
            mixed.err
        );
    }
    // three are enough where nothing looks worse, and with four the test speaks
    assert_eq!(
        gate(&[490.0, 500.0, 510.0], &[491.0, 499.0, 511.0]).status,
        0
    );
    let four = gate(&[490.0, 500.0, 501.0, 510.0], &[390.0, 400.0, 401.0, 520.0]);
    assert_eq!(four.status, 0, "{}", four.err);
    assert!(four.err.contains("may be chance"), "{}", four.err);
}

#[test]
fn the_direction_of_worse_follows_the_metric() {
    let with = |machine: &str, us: f64| {
        let mut r = record(machine, 1, 100.0);
        r["measurement"]["clat_ns"] = serde_json::json!({"mean": common::exact(us * 1e3)});
        r
    };
    let input = lines(&[with("old", 100.0), with("new", 120.0)]);
    let args = ["-", "-m", "bw,clat-mean", "--threshold", "5%"];
    let ran = run_with(&args, &input);
    assert_eq!(ran.status, 1);
    assert!(
        ran.err.contains("mean completion latency") && ran.err.contains("worse by 20%"),
        "{}",
        ran.err
    );
    let mut only = args.to_vec();
    only.extend(["--fail-on", "bw"]);
    assert_eq!(run_with(&only, &input).status, 0);
}

#[test]
fn a_failed_run_fails_the_gate() {
    let mut failed = record("new", 1, 500.0);
    failed["errors"] = serde_json::json!([{"text": "Input/output error"}]);
    let ran = run_with(
        &["-", "--threshold", "50%"],
        &lines(&[record("old", 1, 500.0), failed]),
    );
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("the run failed"), "{}", ran.err);
    let summary = run_with(
        &["-", "--threshold", "50%", "--format", "github"],
        &lines(&[record("old", 1, 500.0), record("new", 1, 100.0)]),
    );
    assert!(
        summary
            .out
            .starts_with("## Storage comparison\n\n- gate failed: write bandwidth"),
        "{}",
        summary.out
    );
}

#[test]
fn a_gate_that_judged_nothing_has_not_passed() {
    let mut other = record("new", 1, 100.0);
    other["workload"]["jobs"][0]["block_bytes"] = serde_json::json!(65536);
    for (input, args, why) in [
        (
            lines(&[record("old", 1, 100.0)]),
            vec![],
            "no second result",
        ),
        (
            lines(&[record("old", 1, 100.0), record("new", 1, 100.0)]),
            vec!["--fail-on", "iops"],
            "counts for the gate",
        ),
        (
            lines(&[record("old", 1, 100.0), record("new", 1, 100.0)]),
            vec!["-m", "clat-p99"],
            "no record has",
        ),
    ] {
        let mut all = vec!["-", "--threshold", "5%"];
        all.extend(args);
        let ran = run_with(&all, &input);
        assert_eq!(ran.status, 2, "{}", ran.err);
        assert!(
            ran.err.contains("nothing was judged: ") && ran.err.contains(why),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("passed"), "{}", ran.err);
    }
    // No common row: the base's result is missing on the other side, which fails or can't be judged.
    let ran = run_with(
        &["-", "--threshold", "5%"],
        &lines(&[record("old", 1, 100.0), other]),
    );
    assert_ne!(ran.status, 0, "{}", ran.err);
}

/// 90 beats the 50 and the 52 of the base, whose median is 148: worse by 39 %, and nothing can be judged.
#[test]
fn one_run_against_several_fails_only_where_it_is_worse_than_each() {
    let limit = ["-", "--threshold", "5%"];
    let base = [50.0, 150.0, 149.0, 148.0, 151.0, 52.0, 147.0];
    let among = run_with(&limit, &pair(&base, &[90.0]));
    assert_eq!(among.status, 2, "{}", among.err);
    assert!(among.err.contains("cannot be judged"), "{}", among.err);
    // The other way round: 150 is better than each of three, one of three is worse by two thirds.
    let single = run_with(&limit, &pair(&[150.0], &[50.0, 150.0, 52.0]));
    assert_eq!(single.status, 2, "{}", single.err);
    // 45 is 10 % below the least of the base, 48 only 4 %.
    let below = run_with(&limit, &pair(&base, &[45.0]));
    assert_eq!(below.status, 1, "{}", below.err);
    assert!(below.err.contains("so is each run"), "{}", below.err);
    assert_eq!(run_with(&limit, &pair(&base, &[48.0])).status, 2);
    // No worse than the median: passed.
    assert_eq!(run_with(&limit, &pair(&base, &[148.0])).status, 0);
    assert_eq!(run_with(&limit, &pair(&base, &[900.0])).status, 0);
    let both = ["-", "--threshold", "5%", "--two-sided"];
    assert_eq!(run_with(&both, &pair(&base, &[900.0])).status, 1);
    assert_eq!(run_with(&both, &pair(&[50.0, 150.0], &[120.0])).status, 2);
}

/// An input that was named could hold what is worse: without its results no gate passes.
#[test]
fn a_named_input_without_results_keeps_the_gate_from_passing() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, content: &[u8]| {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let old = write("old.jsonl", &lines(&[record("old", 1, 100.0)]));
    let new = write("new.jsonl", &lines(&[record("new", 1, 100.0)]));
    let slow = write("slow.jsonl", &lines(&[record("slow", 1, 50.0)]));
    let empty = write("empty.txt", b"");
    let notes = write("more/notes.txt", b"nothing measured here\n");
    let more = folder.path().join("more").to_str().unwrap().to_owned();
    let gate = |inputs: &[&str]| {
        let all = [inputs, &["-q", "--threshold", "5%"]].concat();
        run_with(&all, b"")
    };
    for lost in [&empty, &notes, &more, &format!("extra={empty}")] {
        let recursive: &[&str] = if lost == &more { &["-r"] } else { &[] };
        let ran = gate(&[&[&old, &new, lost.as_str()], recursive].concat());
        assert_eq!(ran.status, 2, "{lost}: {}", ran.err);
        let name = lost.trim_start_matches("extra=");
        let said = format!("gate undecided: {name}: no results of fio or dd found");
        assert!(ran.err.contains(&said), "{}", ran.err);
        assert!(!ran.err.contains("gate passed"), "{}", ran.err);
    }
    // What is worse is worse, whatever is missing.
    let ran = gate(&[&old, &slow, &empty]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    // Beside results a folder may hold other files.
    write("more/results.jsonl", &lines(&[record("more", 1, 100.0)]));
    let ran = gate(&["-r", &old, &more]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    // What can't be read at all.
    let missing = folder.path().join("missing.json");
    let ran = gate(&[&old, &new, missing.to_str().unwrap()]);
    assert_eq!(ran.status, 2, "{}", ran.err);
    assert!(
        ran.err.contains("not all inputs could be read"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("no results"), "{}", ran.err);
    assert!(!ran.err.contains("gate passed"), "{}", ran.err);
}
