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
    assert_eq!(machines, ["H", "A", "B"], "as fio-parse -r reads them");
    let refused = run(&[path]);
    assert_eq!(refused.status, 2);
    assert!(
        refused
            .err
            .contains("found a directory; name its files, or add -r for all files in it"),
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
fn of_many_bad_lines_the_first_are_told_and_all_counted() {
    let good = String::from_utf8(lines(&[record("a", 1, 100.0)])).unwrap();
    let text = format!("{good}{}", "{\"v\":1,\n".repeat(1000));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.jsonl");
    std::fs::write(&path, &text).unwrap();
    let name = path.to_str().unwrap();
    // With a label the lines go another way.
    for input in [name.to_owned(), format!("x={name}")] {
        let ran = run_with(&[&input], b"");
        assert_eq!(ran.status, 2);
        let told = ran
            .err
            .matches("expected a record as fio-parse writes it")
            .count();
        assert_eq!(told, 5, "{}", ran.err);
        assert!(ran.err.contains(&format!("{name}:6:")), "{}", ran.err);
        let more = format!("{name}: and 995 more lines that are no records");
        assert!(ran.err.contains(&more), "{}", ran.err);
    }
}

#[test]
fn a_bad_line_is_named_and_the_rest_is_read() {
    let mut input = lines(&[record("A", 1, 100.0)]);
    input.extend(b"{\"v\":1,\"source\":7}\n\n{\"v\":9}\n");
    input.extend(lines(&[record("B", 1, 50.0)]));
    let ran = run_with(&["-"], &input);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("-:2:17: expected a record"), "{}", ran.err);
    assert!(ran.err.contains("-:4:7: expected a record"), "{}", ran.err);
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
        ran.err.contains("-:2:2: expected") && ran.err.contains("-:6003:1: expected"),
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
fn what_exists_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.jsonl");
    let content = lines(&[record("A", 1, 100.0), record("B", 1, 50.0)]);
    std::fs::write(&input, &content).unwrap();
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink(&input, &link).unwrap();
    let nowhere = folder.path().join("nowhere.csv");
    std::os::unix::fs::symlink(folder.path().join("absent"), &nowhere).unwrap();
    let name = input.to_str().unwrap();
    for (flag, target) in [
        ("-o", &input),
        ("-o", &link),
        ("-o", &nowhere),
        ("--export", &link),
    ] {
        let ran = run(&[name, flag, target.to_str().unwrap()]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{flag}");
        assert!(ran.err.contains("remove it or name another"), "{}", ran.err);
    }
    assert_eq!(std::fs::read(&input).unwrap(), content);
    assert!(!folder.path().join("absent").exists());
}

#[test]
fn the_filter_is_blamed_only_where_there_is_one() {
    let none = run_with(&["-"], b"nothing here");
    assert_eq!(none.status, 2);
    assert!(none.err.contains("nothing to compare") && !none.err.contains("filter"));
    let filtered = run_with(&["-", "-f", "machine:x"], &lines(&[record("A", 1, 1.0)]));
    assert!(
        filtered.err.contains("passes the filter"),
        "{}",
        filtered.err
    );
}

#[test]
fn a_bad_figure_says_what_one_looks_like() {
    for (figure, expected) in [
        (
            json!("fast"),
            "expected a figure, an object with value, lo and hi",
        ),
        (
            json!({"value": "fast", "lo": 1, "hi": 2}),
            "expected a number in value, lo and hi",
        ),
    ] {
        let mut bad = record("A", 1, 100.0);
        bad["measurement"]["bytes_per_sec"] = figure;
        let ran = run_with(&["-"], &lines(&[bad]));
        assert_eq!(ran.status, 2);
        assert!(
            ran.err.contains(expected) && !ran.err.contains("untagged"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn colour_only_on_a_terminal_or_on_request() {
    let file = data("laptops.jsonl");
    assert!(!run(&[&file]).out.contains('\x1b'));
    assert!(run(&[&file, "--color", "always"]).out.contains('\x1b'));
    assert!(run(&[&file, "--ascii"]).out.is_ascii());
}

#[test]
fn err_a_key_has_one_place() {
    let ran = run(&[
        &data("laptops.jsonl"),
        "--row",
        "machine",
        "--col",
        "machine",
    ]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("found `machine` in two"), "{}", ran.err);
}

#[test]
fn err_a_filter_that_nothing_passes_tells_what_there_is() {
    let file = data("laptops.jsonl");
    let ran = run(&[&file, "--filter", "rw:randwrit"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("rw is `randwrite`"), "{}", ran.err);
    let ran = run(&[&file, "--filter", "rw=randwrite"]);
    assert!(ran.err.contains("write rw:randwrite"), "{}", ran.err);
}

#[test]
fn a_metric_that_nobody_has_is_named() {
    let ran = run(&[&data("laptops.jsonl"), "-m", "bw,clat-p99"]);
    assert_eq!(ran.status, 0);
    assert!(
        ran.err.contains("no record has a value of clat-p99"),
        "{}",
        ran.err
    );
}

#[test]
fn columns_say_what_their_numbers_are() {
    let table = run(&[
        &data("laptops.jsonl"),
        "--row",
        "machine",
        "--col",
        "bs,direct",
    ])
    .out;
    assert!(
        table.contains("bs=4k") && table.contains("no direct"),
        "{table}"
    );
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
            assert!(
                machines > 6 || ran.out.contains("in full: machine number 1"),
                "columns are shortened: {}",
                ran.out
            );
            // A row takes two lines at most.
            let body = ran.out.lines().filter(|l| l.starts_with('│'));
            let empty_values = body.filter(|l| l.ends_with(&format!("{}│", " ".repeat(12))));
            assert!(empty_values.count() <= machines as usize * 5, "{}", ran.out);
        }
    }
}

#[test]
fn an_input_given_twice_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, lines(&[record("a", 1, 100.0)])).unwrap();
    let path = path.to_str().unwrap();
    let once = run(&[path]);
    let roundabout = folder.path().join(".").join("a.jsonl");
    for again in [path, roundabout.to_str().unwrap()] {
        let twice = run(&[path, again]);
        assert_eq!(once.out, twice.out);
        let told = format!("{again}: given twice, counted once");
        assert!(twice.err.contains(&told), "{}", twice.err);
    }
}

#[test]
fn the_ending_of_the_output_tells_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let input = lines(&[record("a", 1, 100.0), record("b", 1, 50.0)]);
    let written = |name: &str, more: &[&str]| {
        let path = folder.path().join(name);
        let args = [&["-", "-o", path.to_str().unwrap()], more].concat();
        let ran = run_with(&args, &input);
        assert_eq!(ran.status, 0, "{}", ran.err);
        std::fs::read_to_string(path).unwrap()
    };
    let plain = |format: &str| run_with(&["-", "--format", format], &input).out;
    for (name, format) in [
        ("t.csv", "csv"),
        ("t.md", "markdown"),
        ("t.json", "json"),
        ("t.html", "html"),
        ("t.txt", "table"),
        ("t", "table"),
    ] {
        assert_eq!(written(name, &[]), plain(format), "{name}");
    }
    assert_eq!(written("u.csv", &["--format", "tsv"]), plain("tsv"));
}

#[test]
fn a_terminal_of_no_columns_is_drawn_for_as_none() {
    assert_eq!(compare::cli::usable_width(None), 100);
    assert_eq!(compare::cli::usable_width(Some(0)), 100);
    assert_eq!(compare::cli::usable_width(Some(80)), 80);
}

#[test]
fn a_label_for_an_input_of_several_machines_says_what_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ab.jsonl");
    std::fs::write(&path, lines(&[record("a", 1, 100.0), record("b", 1, 50.0)])).unwrap();
    let ran = run(&[&format!("desk={}", path.display())]);
    assert!(
        ran.err.contains("`desk` names the input (key file)"),
        "{}",
        ran.err
    );
    let found = run(&[&format!("desk={}", path.display()), "--filter", "file:desk"]);
    assert_eq!(found.status, 0, "{}", found.err);
}

#[test]
fn a_filter_that_finds_nothing_says_how_to_find_a_part() {
    let ran = run_with(
        &["-", "--filter", "machine:dell"],
        &lines(&[record("Dell 5420", 1, 100.0)]),
    );
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.contains("machine is `Dell 5420`") && ran.err.contains("KEY:/TEXT/i"),
        "{}",
        ran.err
    );
}

#[test]
fn a_filter_may_start_with_the_minus_that_means_not() {
    let found = cells(
        &[
            &data("laptops.jsonl"),
            "-f",
            "-machine:/MBP/",
            "--row",
            "machine",
        ],
        b"",
    );
    assert!(!found.is_empty());
    for cell in found {
        assert_eq!(cell["machine"], "Dell XPS 9570");
    }
}

#[test]
fn units_of_several_kinds_in_one_list_and_err_two_of_one_kind() {
    let file = data("laptops.jsonl");
    let table = run(&[&file, "-m", "bw,runtime", "-u", "MB/s,ms"]).out;
    assert!(table.contains("MB/s") && table.contains("ms"), "{table}");
    let refused = run(&[&file, "-u", "MB/s", "-u", "GB/s"]);
    assert_eq!((refused.status, refused.out.as_str()), (2, ""));
    assert!(
        refused.err.contains("found `MB/s` and `GB/s`"),
        "{}",
        refused.err
    );
    assert_eq!(run(&[&file, "-u", "MB/s", "-u", "MB/s"]).status, 0);
}

#[test]
fn a_column_without_a_key_is_named_by_its_metric() {
    let ran = run(&[&data("laptops.jsonl"), "--row", "machine", "-m", "bw,iops"]);
    assert!(!ran.out.contains("(none)"), "{}", ran.out);
    for name in [" bandwidth │", "IOPS │"] {
        assert!(ran.out.contains(name), "{}", ran.out);
    }
}

#[test]
fn a_unit_that_nothing_is_measured_in_is_named() {
    let file = data("laptops.jsonl");
    let ran = run(&[&file, "-u", "us,MB/s"]);
    assert_eq!(ran.status, 0);
    assert!(ran.err.contains("-u us: nothing shown"), "{}", ran.err);
    assert!(!ran.err.contains("-u MB/s"), "{}", ran.err);
    assert!(!run(&[&file, "-q", "-u", "us"]).err.contains("-u us"));
}

#[test]
fn err_a_negative_threshold_is_refused_as_one() {
    let ran = run(&[&data("laptops.jsonl"), "--threshold", "-5%"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.contains("expected a share such as 5%"),
        "{}",
        ran.err
    );
}
