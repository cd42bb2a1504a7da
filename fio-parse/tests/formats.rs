//! The table of what is read from which form of which version, made from the fixtures, so that it cannot lie.
//!
//! `UPDATE=1 cargo test -p fio-parse --test formats` writes `FORMATS.md` anew; otherwise it must be as it would be written.

use fio_parse::record::{Dialect, Latency, Record};
use fio_parse::{Log, parse};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A figure by name, and whether a record has it.
type Column = (&'static str, fn(&Record) -> bool);

/// What a record may hold.
const COLUMNS: [Column; 15] = [
    ("bytes", |r| r.measurement.bytes.is_some()),
    ("rate", |r| r.measurement.bytes_per_sec.is_some()),
    ("IOPS", |r| r.measurement.iops.is_some()),
    ("run time", |r| r.measurement.runtime_ns.is_some()),
    ("slat", |r| r.measurement.slat_ns.is_some()),
    ("clat", |r| r.measurement.clat_ns.is_some()),
    ("lat", |r| r.measurement.lat_ns.is_some()),
    ("percentiles", |r| {
        latencies(r).any(|l| !l.percentiles.is_empty())
    }),
    ("histogram", |r| latencies(r).any(|l| !l.bins.is_empty())),
    ("samples", |r| r.measurement.samples.is_some()),
    ("distribution", |r| {
        !r.measurement.lat_distribution.is_empty()
    }),
    ("CPU", |r| {
        r.measurement.cpu.is_some() || r.measurement.user_ns.is_some()
    }),
    ("depths", |r| r.measurement.depths.is_some()),
    ("I/Os", |r| {
        r.measurement.ios.is_some() || r.measurement.records_out.is_some()
    }),
    ("errors", |r| !r.errors.is_empty()),
];

fn latencies(record: &Record) -> impl Iterator<Item = &Latency> {
    let m = &record.measurement;
    [&m.slat_ns, &m.clat_ns, &m.lat_ns, &m.sync_lat_ns]
        .into_iter()
        .filter_map(|latency| latency.as_deref())
}

fn form(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::FioJob => "fio, normal, job sections",
        Dialect::FioGroup => "fio, normal, group lines",
        Dialect::FioJson => "fio, JSON and JSON+",
        Dialect::FioTerse => "fio, terse",
        Dialect::FioLog => "fio, logs of samples",
        Dialect::Dd => "dd",
        Dialect::Summary => "summaries of other tools",
        _ => "other",
    }
}

/// A version in the order of its numbers.
fn key(version: &str) -> (Vec<u32>, String) {
    let numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    (numbers, version.to_owned())
}

/// What the fixtures of one form and version gave.
#[derive(Default)]
struct Row {
    files: BTreeSet<PathBuf>,
    records: usize,
    /// The columns that some record had.
    read: BTreeSet<usize>,
}

fn inputs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut files = Vec::new();
    for folder in ["runs", "logs"] {
        for case in fs::read_dir(root.join(folder)).unwrap() {
            for file in fs::read_dir(case.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if ["txt", "json", "log"]
                    .iter()
                    .any(|e| name.ends_with(&format!(".{e}")))
                {
                    files.push(path);
                }
            }
        }
    }
    files.sort();
    files
}

/// The version that a case's description states.
fn stated(path: &Path) -> Option<String> {
    let case = fs::read_to_string(path.with_file_name("case.toml")).ok()?;
    let line = case.lines().find(|line| line.starts_with("version = "))?;
    Some(line.split('"').nth(1)?.to_owned())
}

fn table() -> String {
    let mut rows: BTreeMap<(&str, (Vec<u32>, String)), Row> = BTreeMap::new();
    for path in inputs() {
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let log = Log::from_bytes(name, &bytes).unwrap();
        for record in parse(&log).records {
            let tool = &record.source.tool;
            let version = match record.source.dialect {
                Dialect::Dd => tool.implementation.clone(),
                Dialect::Summary => Some(tool.name.clone()),
                _ => stated(&path).map_or_else(|| tool.version.clone(), |v| Some(v.into())),
            };
            let version = version.unwrap_or_else(|| "not stated".into());
            let version = version
                .trim_start_matches("fio")
                .trim_start_matches(['-', ' '])
                .to_owned();
            let row = rows
                .entry((form(record.source.dialect), key(&version)))
                .or_default();
            row.files.insert(path.clone());
            row.records += 1;
            let read = COLUMNS.iter().enumerate();
            row.read
                .extend(read.filter(|(_, (_, has))| has(&record)).map(|(at, _)| at));
        }
    }
    let mut text = String::from(
        "# What is read from what\n\n\
         Made by `UPDATE=1 cargo test -p fio-parse --test formats` from the files in `fixtures/`, and checked by the same test: a mark says\n\
         that some record read from these files holds the figure. No mark: the version does not print it, or no file here has it.\n",
    );
    let mut last = "";
    for ((form, (_, version)), row) in &rows {
        if *form != last {
            let names = COLUMNS.map(|(name, _)| name).join(" | ");
            let what = match *form {
                "dd" => "kind",
                "summaries of other tools" => "tool",
                _ => "version",
            };
            text.push_str(&format!(
                "\n## {form}\n\n| {what} | files | records | {names} |\n"
            ));
            text.push_str(&format!(
                "|---|{}\n",
                "--:|--:|".to_owned() + &":-:|".repeat(COLUMNS.len())
            ));
            last = form;
        }
        let marks: Vec<&str> = (0..COLUMNS.len())
            .map(|at| if row.read.contains(&at) { "✓" } else { "" })
            .collect();
        text.push_str(&format!(
            "| {version} | {} | {} | {} |\n",
            row.files.len(),
            row.records,
            marks.join(" | ")
        ));
    }
    text
}

#[test]
fn the_table_says_what_is_read() {
    let table = table();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("FORMATS.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &table).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == table,
        "FORMATS.md does not say what is read; run with UPDATE=1 and look at the difference"
    );
    // fifteen versions print normal and terse reports, ten of them JSON beside
    for form in ["fio, normal, job sections", "fio, terse"] {
        let section = table.split(&format!("## {form}\n")).nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows = section
            .lines()
            .filter(|line| line.starts_with("| ") && line.contains('✓'));
        assert!(rows.count() >= 15, "{form}:{section}");
    }
}
