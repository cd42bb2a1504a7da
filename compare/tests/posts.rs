//! The tables of the two posts, from records made by hand from the figures they print.

mod common;

use common::{cells, data, run};

/// The texts of a field, cell by cell.
fn texts(args: &[&str], field: &str) -> Vec<String> {
    (cells(args, b"").iter())
        .map(|c| c[field].as_str().unwrap_or("").to_owned())
        .collect()
}

#[test]
fn the_laptops_table_has_the_ratios_that_the_figures_carry() {
    let file = data("laptops.jsonl");
    assert_eq!(
        texts(&[&file], "text"),
        ["293", "223", "534", "1180", "1490", "695"]
    );
    assert_eq!(
        texts(&[&file], "ratio_text"),
        ["1.00x", "0.76x", "1.82x", "1.00x", "1.26x", "0.589x"]
    );
    let bounds = |i: usize| {
        let cell = &cells(&[&file], b"")[i];
        (
            cell["ratio_lo"].as_f64().unwrap(),
            cell["ratio_hi"].as_f64().unwrap(),
        )
    };
    // 223 over 293: 233.5 to 234.357 MB/s over 306.708 to 307.5 MB/s
    let (lo, hi) = bounds(1);
    assert!(
        (lo - 0.75935).abs() < 1e-5 && (hi - 0.76410).abs() < 1e-5,
        "{lo} {hi}"
    );
    let (lo, hi) = bounds(5);
    assert!(
        (lo - 0.58847).abs() < 1e-5 && (hi - 0.58902).abs() < 1e-5,
        "{lo} {hi}"
    );
}

#[test]
fn the_lost_carry_is_a_footnote_of_its_cell() {
    let table = run(&[&data("laptops.jsonl")]).out;
    let line = table.lines().find(|l| l.contains("0.589x")).unwrap();
    let mark = &line[line.rfind('[').unwrap()..=line.rfind(']').unwrap()];
    let note = table.lines().find(|l| l.starts_with(mark)).unwrap();
    assert!(
        note.contains("`62.0GB` was printed by a fio older than 3.26"),
        "{table}"
    );
    assert!(table.contains("62.951 to 62.975"), "{table}");
    assert_eq!(
        table.matches(mark).count(),
        2,
        "one cell and its note: {table}"
    );
}

#[test]
fn the_flush_tail_is_told_apart_and_marked_as_inferred() {
    let file = data("laptops.jsonl");
    assert_eq!(
        texts(&[&file, "-m", "flush"], "text"),
        ["7.2", "29.0", "2.1", "3.4", "0.1", "26.4"]
    );
    // bytes and rate x run time, both over 60 s: the third of the second row lies between 1000.6
    // and 1001.0 MiB/s
    assert_eq!(
        texts(&[&file, "-m", "bw-write"], "text"),
        ["328", "331", "553", "1246", "1492", "1001"]
    );
    let table = run(&[&file, "-m", "flush"]).out;
    assert!(
        table.contains("inferred") && table.contains("--runtime"),
        "{table}"
    );
}

#[test]
fn dd_has_two_rates_that_are_never_mixed() {
    let file = data("dd.jsonl");
    let all = cells(&[&file], b"");
    let of = |metric: &str, field: &str| -> Vec<String> {
        (all.iter().filter(|c| c["metric"] == metric))
            .map(|c| c[field].as_str().unwrap_or("").to_owned())
            .collect()
    };
    assert_eq!(
        of("bw-wall", "text"),
        ["1506", "86.2", "261", "876", "187", "365", "324", "417"]
    );
    assert_eq!(
        of("bw", "text"),
        ["1588", "86.6", "298", "1702", "203", "370", "335", "466"]
    );
    // 6.801 s over each run's seconds
    assert_eq!(
        of("bw-wall", "ratio_text"),
        [
            "1.00x", "0.0572x", "0.174x", "0.582x", "0.124x", "0.243x", "0.215x", "0.277x"
        ]
    );
    assert_eq!(of("bw", "ratio_text")[3], "1.07x");
}

#[test]
fn dd_footnotes_name_the_sync_flags_of_both_sides_and_what_the_rates_cover() {
    let table = run(&[&data("dd.jsonl"), "--width", "200"]).out;
    let rows: Vec<&str> = table
        .lines()
        .filter(|l| l.contains('x') && l.starts_with('│'))
        .collect();
    let marked = |name: &str| {
        rows.iter()
            .any(|l| l.contains(name) && l.contains(&format!("{name} [3]")))
    };
    for name in [
        "8x6TB ZFS",
        "Samsung 860 EVO SATA SSD",
        "Samsung 850 EVO SATA SSD, USB",
    ] {
        assert!(marked(name), "{name}: {table}");
    }
    assert!(!marked("WD 4TB USB hard drive"), "{table}");
    assert!(table.contains("oflag=dsync (there: none)"), "{table}");
    assert!(
        table.contains("GNU dd, as on Linux (there: BSD dd, as on macOS)"),
        "{table}"
    );
    assert!(
        table.contains("includes the final sync") && table.contains("excludes it"),
        "{table}"
    );
}

/// A log among the shared fixtures.
fn fixture(slug: &str) -> String {
    format!(
        "{}/../fixtures/logs/{slug}/input.txt",
        env!("CARGO_MANIFEST_DIR")
    )
}

#[test]
fn the_posts_themselves_give_the_same_figures() {
    let laptops = fixture("laptops-fio-2021");
    assert_eq!(
        texts(&[&laptops], "text"),
        ["293", "223", "534", "1180", "1490", "695"]
    );
    assert_eq!(
        texts(&[&laptops], "ratio_text"),
        ["1.00x", "0.76x", "1.82x", "1.00x", "1.26x", "0.589x"]
    );
    let all = cells(&[&fixture("disk-speeds-dd-2020")], b"");
    let of = |metric: &str| -> Vec<&str> {
        (all.iter().filter(|c| c["metric"] == metric))
            .map(|c| c["text"].as_str().unwrap())
            .collect()
    };
    assert_eq!(
        of("bw-wall"),
        ["1506", "86.2", "261", "876", "187", "365", "324", "417"]
    );
    assert_eq!(
        of("bw"),
        ["1588", "86.6", "298", "1702", "203", "370", "335", "466"]
    );
}

#[test]
fn a_log_and_its_records_give_the_same_bytes() {
    for slug in ["laptops-fio-2021", "disk-speeds-dd-2020"] {
        let path = fixture(slug);
        let bytes = std::fs::read(&path).unwrap();
        let log = fio_parse::Log::from_bytes(path.as_str(), &bytes).unwrap();
        let mut records = Vec::new();
        fio_parse::record::write_jsonl(&fio_parse::parse(&log).records, &mut records).unwrap();
        for format in ["table", "markdown", "csv", "json"] {
            let direct = run(&[&path, "--format", format]);
            let piped = common::run_with(&["-", "--format", format], &records);
            assert_eq!(direct.out, piped.out);
            assert_eq!(direct.status, 0);
            assert!(direct.out.contains("86.2") || slug.starts_with("laptops"));
        }
    }
}
