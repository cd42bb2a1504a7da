//! Sizes that a log gives rounded or not at all: none becomes the tool's default.

mod common;

use std::fs;

use common::{cells, exact, lines, record, run, run_with};

/// fio 3.33's report of one job of 8 MiB of writes, with this header size and rate in MiB/s.
fn log(size: &str, mib_per_sec: u32) -> String {
    format!(
        "t: (g=0): rw=write, bs=(R) {size}-{size}, (W) {size}-{size}, (T) {size}-{size}, ioengine=psync, iodepth=1\n\
         fio-3.33\nStarting 1 process\n\n\
         Run status group 0 (all jobs):\n  \
         WRITE: bw={mib_per_sec}MiB/s, {mib_per_sec}MiB/s-{mib_per_sec}MiB/s, io=8192KiB (8389kB), run=4-4msec\n"
    )
}

fn folder(files: &[(&str, String)]) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        paths.push(path.to_str().unwrap().to_owned());
    }
    (folder, paths)
}

#[test]
fn block_sizes_of_a_rounded_header_are_told_apart() {
    let (_folder, paths) = folder(&[
        ("small.log", log("4096B", 1333)),
        ("middle.log", log("64.0KiB", 2667)),
        ("large.log", log("1024KiB", 2000)),
        ("odd.log", log("130KiB", 1777)),
    ]);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let all = [&["--row", "rw,bs"], &paths[..]].concat();
    let table = run(&all).out;
    for (bs, rate) in [
        ("4k", "1333"),
        ("64k", "2667"),
        ("1m", "2000"),
        ("~130KiB", "1777"),
    ] {
        let row = table.lines().find(|line| line.contains(rate)).unwrap();
        assert!(row.contains(bs), "{bs}: {table}");
    }
    assert!(table.contains("rounded figure"), "{table}");
    for (filter, found) in [("bs:64k", "2667"), ("bs:1m", "2000"), ("bs:4k", "1333")] {
        let out = run(&[&["--filter", filter], &paths[..]].concat()).out;
        let rates = ["1333", "2667", "2000", "1777"];
        let shown: Vec<_> = rates.iter().filter(|rate| out.contains(**rate)).collect();
        assert_eq!(shown, [&found], "{filter}: {out}");
    }
}

#[test]
fn runs_of_one_file_are_repeats_only_with_one_block_size() {
    let both = format!("{}{}", log("64.0KiB", 2667), log("1024KiB", 2000));
    let table = run_with(&["-"], both.as_bytes()).out;
    assert!(
        table.contains("2667") && table.contains("2000") && !table.contains("n=2"),
        "{table}"
    );
}

#[test]
fn options_that_were_not_understood_are_no_defaults() {
    let job = |option: &str, value: &str, rate: f64| {
        let mut made = record("m", rate as u32, rate);
        let job = &mut made["workload"]["jobs"][0];
        let field = match option {
            "iodepth" => "depth",
            "size" => "size_bytes",
            _ => "block_bytes",
        };
        job.as_object_mut().unwrap().remove(field);
        job["other"] = serde_json::json!([[option, value]]);
        made
    };
    for (option, a, b) in [
        ("size", "100%", "50%"),
        ("iodepth", "$A", "$B"),
        ("bssplit", "4k/50:8k/50", "4k/90:8k/10"),
    ] {
        let input = lines(&[job(option, a, 100.0), job(option, b, 300.0)]);
        let table = run_with(&["-"], &input).out;
        assert!(
            table.contains("100")
                && table.contains("300")
                && table.contains(a)
                && table.contains(b),
            "{option}: {table}"
        );
    }
}

#[test]
fn groups_after_a_stonewall_have_a_row_each() {
    let text = "w: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n\
        r: (g=1): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n\
        fio-3.33\nStarting 2 processes\n\n\
        Run status group 0 (all jobs):\n  \
        WRITE: bw=20.0MiB/s (21.0MB/s), 20.0MiB/s-20.0MiB/s (21.0MB/s-21.0MB/s), io=8192KiB (8389kB), run=400-400msec\n\n\
        Run status group 1 (all jobs):\n  \
        WRITE: bw=60.0MiB/s (62.9MB/s), 60.0MiB/s-60.0MiB/s (62.9MB/s-62.9MB/s), io=8192KiB (8389kB), run=133-133msec\n";
    let table = run_with(&["-", "--row", "rw"], text.as_bytes()).out;
    let row = |rw: &str| {
        let mut rows = table
            .lines()
            .filter(|line| line.split_whitespace().nth(1) == Some(rw));
        rows.next()
            .unwrap_or_else(|| panic!("{rw}: {table}"))
            .to_owned()
    };
    assert!(row("write").contains("20"), "{table}");
    assert!(row("randwrite").contains("60"), "{table}");
    assert!(!table.contains("jobs of one run"), "{table}");
}

#[test]
fn a_ratio_far_from_one_is_not_rounded_to_nothing() {
    let mut huge = record("huge", 1, 1.0);
    huge["measurement"]["bytes_per_sec"] = exact(9e18);
    let mut one = record("one", 1, 1.0);
    one["measurement"]["bytes_per_sec"] = exact(1.0);
    let found = cells(&["-", "-u", "B/s"], &lines(&[huge, one]));
    // 1 / 9e18
    assert_eq!(found[1]["ratio_text"], "1.11e-19x");
    assert_eq!(found[0]["text"], "9.00e18");
}
