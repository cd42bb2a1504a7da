//! The command line: inputs, projections, formats, exit status.

mod common;

use common::{cells, data, lines, record, run, run_with};
use serde_json::json;

#[test]
fn standard_input_and_files_give_the_same_bytes() {
    for name in ["laptops.jsonl", "dd.jsonl"] {
        let file = data(name);
        let content = std::fs::read(&file).unwrap();
        assert_eq!(run(&[&file]).out, run_with(&["-"], &content).out);
    }
}

#[test]
fn a_label_renames_the_machine_of_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    std::fs::write(&path, lines(&[record("A", 1, 100.0)])).unwrap();
    let labelled = format!("here={}", path.display());
    let found = cells(&[path.to_str().unwrap(), &labelled], b"");
    let machines: Vec<_> = found
        .iter()
        .map(|c| c["machine"].as_str().unwrap())
        .collect();
    assert_eq!(machines, ["A", "here"]);
}

#[test]
fn a_label_on_several_machines_names_the_input() {
    let file = format!("post={}", data("laptops.jsonl"));
    let found = cells(&[&file, "--row", "file,test"], b"");
    assert_eq!(found[0]["file"], "post");
    assert_eq!(found[0]["machine"], "MBP 2018");
}

#[test]
fn directories_are_read_with_r_in_order_of_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, machine) in [("b.jsonl", "B"), ("a.jsonl", "A"), (".hidden", "H")] {
        std::fs::write(
            folder.path().join(name),
            lines(&[record(machine, 1, 100.0)]),
        )
        .unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let found = cells(&["-r", path], b"");
    let machines: Vec<_> = found
        .iter()
        .map(|c| c["machine"].as_str().unwrap())
        .collect();
    assert_eq!(machines, ["A", "B"]);
    let refused = run(&[path]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.err.contains("found a directory; -r reads"),
        "{}",
        refused.err
    );
}

#[test]
fn filters_choose_records_and_bases_are_found_by_part_of_their_name() {
    let file = data("laptops.jsonl");
    let found = cells(&[&file, "--filter", "bs:4k AND NOT machine:/dell/i"], b"");
    assert_eq!(found.len(), 2);
    let found = cells(&[&file, "--base", "dell"], b"");
    assert_eq!(found[2]["ratio_text"], "1.00x");
    assert_eq!(found[0]["base"], "Dell XPS 9570");
    let refused = run(&[&file, "--base", "MBP"]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("fits several"), "{}", refused.err);
    let refused = run(&[&file, "--base", "HAL"]);
    assert!(refused.err.contains("`Dell XPS 9570`") && refused.err.contains("fits none"));
}

#[test]
fn projections_take_any_key() {
    let file = data("laptops.jsonl");
    let found = cells(
        &[
            &file,
            "--row",
            "machine",
            "--col",
            "bs",
            "--table",
            "rw,engine",
        ],
        b"",
    );
    assert_eq!(found.len(), 6);
    assert_eq!(found[0]["rw"], "randwrite");
    assert_eq!(found[0]["engine"], "posixaio");
    // Compared across machines, which are the rows now.
    assert_eq!(found[2]["ratio_text"], "0.76x");
}

#[test]
fn units_are_named_and_scaled() {
    let file = data("laptops.jsonl");
    let found = cells(&[&file, "--unit", "MB/s"], b"");
    assert_eq!(
        (found[0]["text"].as_str(), found[0]["text_unit"].as_str()),
        (Some("307"), Some("MB/s"))
    );
    let found = cells(&[&file, "--unit", "GiB/s"], b"");
    assert_eq!(found[3]["text"], "1.15");
    let refused = run(&[&file, "--unit", "KB/s"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.err.contains("both 1000 and 1024"),
        "{}",
        refused.err
    );
}

#[test]
fn rows_are_sorted_on_request() {
    let mut records = Vec::new();
    for (bs, value) in [(65536, 10.0), (4096, 30.0), (16384, 20.0)] {
        for machine in ["A", "B"] {
            let mut r = record(machine, 1, value);
            r["workload"]["jobs"][0]["block_bytes"] = json!(bs);
            records.push(r);
        }
    }
    let input = lines(&records);
    let order = |sort: &str| -> Vec<String> {
        (cells(&["-", "--row", "bs", "--sort", sort], &input)
            .iter()
            .step_by(2))
        .map(|c| c["bs"].as_str().unwrap().to_owned())
        .collect()
    };
    assert_eq!(order("appearance"), ["64k", "4k", "16k"]);
    assert_eq!(order("label"), ["4k", "16k", "64k"]);
    assert_eq!(order("value"), ["4k", "16k", "64k"]);
}

#[test]
fn list_shows_keys_values_and_metrics() {
    let listed = run(&[&data("laptops.jsonl"), "--list"]);
    assert_eq!(listed.status, 0);
    for text in [
        "machine",
        "MBP 2018, MBP 2020, Dell XPS 9570",
        "engine",
        "posixaio",
        "flush",
        "bw-write",
    ] {
        assert!(listed.out.contains(text), "{text}: {}", listed.out);
    }
    assert!(
        !listed.out.contains("oflag"),
        "a key without values is not listed"
    );
}

#[test]
fn what_compares_nothing_is_no_regression() {
    let nothing = run_with(
        &["-", "--filter", "machine:nobody"],
        &lines(&[record("A", 1, 1.0)]),
    );
    // 1 is the gate's
    assert_eq!((nothing.status, nothing.out.as_str()), (2, ""));
    assert!(
        nothing.err.contains("nothing to compare"),
        "{}",
        nothing.err
    );
    let missing = run(&["/does/not/exist"]);
    assert_eq!(missing.status, 2);
    assert!(missing.err.contains("/does/not/exist"), "{}", missing.err);
    assert_eq!(run(&["--bogus"]).status, 2);
    assert_eq!(run(&["--help"]).status, 0);
    let help = run(&["--help"]).out;
    assert!(
        help.contains("--metric") && help.contains("Examples:"),
        "{help}"
    );
}

#[test]
fn a_bad_line_is_named_and_the_rest_is_read() {
    let mut input = lines(&[record("A", 1, 100.0)]);
    input.extend(b"{\"v\":1,\"source\":7}\n\n{\"v\":9}\n");
    input.extend(lines(&[record("B", 1, 50.0)]));
    let ran = run_with(&["-"], &input);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("-:2: expected a record"), "{}", ran.err);
    assert!(ran.err.contains("-:4: expected a record"), "{}", ran.err);
    assert!(ran.out.contains("0.500x"), "{}", ran.out);
}

#[test]
fn many_lines_are_read_by_several_threads_in_order() {
    // About 3 MB, more than one piece; the 2nd and the last line are bad.
    let mut all = lines(&[record("A", 1, 100.0)]);
    all.extend(b"{}\n");
    let records: Vec<_> = (0..6000)
        .map(|i| record("B", i, 50.0 + f64::from(i % 7)))
        .collect();
    all.extend(lines(&records));
    all.extend(b"oops");
    let ran = run_with(&["-", "--format", "json"], &all);
    assert!(
        ran.err.contains("-:2: expected") && ran.err.contains("-:6003: expected"),
        "{}",
        ran.err
    );
    let whole: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(whole["cells"][0]["machine"], "A");
    assert_eq!(whole["cells"][1]["n"], 6000);
}

#[test]
fn a_closed_pipe_is_no_error() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let args = ["fio-compare".into(), data("dd.jsonl").into()];
    let status = compare::cli::run(
        args,
        &mut std::io::empty(),
        &mut Closed,
        &mut Vec::new(),
        compare::cli::Terminal::default(),
    );
    assert_eq!(status, 0);
}

#[test]
fn output_goes_to_a_file_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.md");
    let ran = run(&[
        &data("dd.jsonl"),
        "--format",
        "markdown",
        "-o",
        path.to_str().unwrap(),
    ]);
    assert_eq!((ran.status, ran.out.as_str()), (0, ""));
    let written = std::fs::read_to_string(path).unwrap();
    assert!(
        written.contains("| 8x6TB ZFS [3] | 261 | 0.174x |"),
        "{written}"
    );
}

#[test]
fn colour_only_on_a_terminal_or_on_request() {
    let file = data("laptops.jsonl");
    assert!(!run(&[&file]).out.contains('\x1b'));
    assert!(run(&[&file, "--color", "always"]).out.contains('\x1b'));
    assert!(run(&[&file, "--ascii"]).out.is_ascii());
}

#[test]
fn tables_fit_their_width() {
    let mut records = Vec::new();
    for machines in [2, 5, 12] {
        records.clear();
        for machine in 0..machines {
            for bs in [4096, 65536, 1 << 20] {
                let name =
                    format!("machine number {machine} with a rather long name of its own, really");
                let mut r = record(&name, 1, 100.0 * f64::from(machine + 1));
                r["workload"]["jobs"][0]["block_bytes"] = json!(bs);
                records.push(r);
            }
        }
        let input = lines(&records);
        for width in [80, 120, 200] {
            let ran = run_with(&["-", "--width", &width.to_string()], &input);
            for line in ran.out.lines() {
                assert!(line.chars().count() <= width, "{machines} {width}: {line}");
            }
            let shortened = ran.out.contains("in full: machine number 1");
            assert_eq!(
                shortened,
                machines <= 6,
                "columns are shortened, rows wrapped: {}",
                ran.out
            );
        }
    }
}
