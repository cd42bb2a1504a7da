//! fio against itself: one run printed as JSON and in other forms must read as the same run.
//!
//! For each folder of `fixtures/runs` the JSON is read twice: by `serde_json`, which knows nothing of fio, and by this
//! library. Each number of the former must lie in the interval of the latter; and each interval of the JSON must meet
//! the one that the other form of the same run gives for the same quantity.

use fio_parse::record::{CountBucket, Latency, Record, ScopeKind};
use fio_parse::{Bytes, Direction, Log, Quantity, Reading, parse};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn runs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/runs");
    let mut runs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("fio.json").exists())
        .collect();
    runs.sort();
    runs
}

/// The records of single jobs that a file gives, and the text as it was read.
fn records(path: &Path) -> Vec<Record> {
    let bytes = fs::read(path).unwrap();
    let name = path.display().to_string();
    let log = Log::from_bytes(name, &bytes).unwrap();
    let parsed = parse(&log);
    for record in &parsed.records {
        for reading in readings(record).values() {
            for printed in &reading.printed {
                assert_eq!(log.get(printed.span), printed.text, "{}", path.display());
            }
        }
    }
    parsed
        .records
        .into_iter()
        .filter(|record| record.scope.kind == ScopeKind::Job)
        .collect()
}

/// A reading without its unit.
struct Plain {
    parts: Vec<(f64, f64)>,
    printed: Vec<fio_parse::record::Printed>,
}

fn plain<Q: Quantity>(reading: &Reading<Q>) -> Plain {
    let possible = reading.possible();
    let parts = possible.parts().iter();
    Plain {
        parts: parts
            .map(|part| (part.lo().to_f64(), part.hi().to_f64()))
            .collect(),
        printed: reading.printed().to_vec(),
    }
}

fn latency(into: &mut BTreeMap<String, Plain>, name: &str, latency: Option<&Latency>) {
    let Some(latency) = latency else { return };
    for (end, reading) in [
        ("min", &latency.min),
        ("max", &latency.max),
        ("mean", &latency.mean),
        ("stddev", &latency.stddev),
    ] {
        if let Some(reading) = reading {
            into.insert(format!("{name}.{end}"), plain(reading));
        }
    }
    for percentile in &latency.percentiles {
        into.insert(
            format!("{name}.p{}", percentile.p),
            plain(&percentile.reading),
        );
    }
}

/// The readings of a record by name.
fn readings(record: &Record) -> BTreeMap<String, Plain> {
    let m = &record.measurement;
    let mut found = BTreeMap::new();
    if let Some(reading) = &m.bytes {
        found.insert("bytes".to_owned(), plain(reading));
    }
    if let Some(reading) = &m.bytes_per_sec {
        found.insert("bytes_per_sec".to_owned(), plain(reading));
    }
    if let Some(reading) = &m.iops {
        found.insert("iops".to_owned(), plain(reading));
    }
    if let Some(reading) = &m.runtime_ns {
        found.insert("runtime_ns".to_owned(), plain(reading));
    }
    latency(&mut found, "slat", m.slat_ns.as_deref());
    latency(&mut found, "clat", m.clat_ns.as_deref());
    latency(&mut found, "lat", m.lat_ns.as_deref());
    if let Some(spread) = m.samples.as_ref().and_then(|s| s.bytes_per_sec.as_ref()) {
        for (end, reading) in [
            ("min", &spread.min),
            ("max", &spread.max),
            ("mean", &spread.mean),
        ] {
            if let Some(reading) = reading {
                found.insert(format!("bw_samples.{end}"), plain(reading));
            }
        }
    }
    found
}

/// What `serde_json` makes of the last document of a text that may hold several.
fn last_document(text: &str) -> Value {
    let start = text.find("{\n").expect("an object");
    serde_json::Deserializer::from_str(&text[start..])
        .into_iter::<Value>()
        .map_while(Result::ok)
        .last()
        .expect("a document")
}

/// The true figures of one direction, by the names of [`readings`].
fn truth(side: &Value) -> BTreeMap<String, f64> {
    let number = |key: &str| side[key].as_f64();
    let mut figures = BTreeMap::new();
    let mut put = |name: &str, value: Option<f64>| {
        if let Some(value) = value {
            figures.insert(name.to_owned(), value);
        }
    };
    // bytes stand beside KiB from 2.21 on; before, KiB were called bytes
    let exact = !side["io_kbytes"].is_null();
    put(
        "bytes",
        number("io_bytes").map(|n| if exact { n } else { n * 1024.0 }),
    );
    put(
        "bytes_per_sec",
        number("bw_bytes").or(number("bw").map(|kib| kib * 1024.0)),
    );
    put("iops", number("iops"));
    put("runtime_ns", number("runtime").map(|ms| ms * 1e6));
    for name in ["slat", "clat", "lat"] {
        let (latency, scale) = match &side[format!("{name}_ns")] {
            Value::Null => (&side[name], 1000.0),
            nanoseconds => (nanoseconds, 1.0),
        };
        if latency["max"].as_f64().unwrap_or(0.0) == 0.0 {
            continue;
        }
        for end in ["min", "max", "mean", "stddev"] {
            put(
                &format!("{name}.{end}"),
                latency[end].as_f64().map(|n| n * scale),
            );
        }
        for (p, value) in latency["percentile"].as_object().into_iter().flatten() {
            let p: f64 = p.parse().unwrap();
            if p > 0.0 {
                put(&format!("{name}.p{p}"), value.as_f64().map(|n| n * scale));
            }
        }
    }
    figures
}

/// Job, direction and figures of every direction that moved bytes, in order.
fn true_rows(document: &Value) -> Vec<(String, Direction, BTreeMap<String, f64>)> {
    let mut rows = Vec::new();
    for job in document["jobs"].as_array().unwrap() {
        for direction in [
            Direction::Read,
            Direction::Write,
            Direction::Trim,
            Direction::Mixed,
        ] {
            let side = &job[direction.as_str()];
            if side["io_bytes"].as_f64().unwrap_or(0.0) > 0.0 {
                let name = job["jobname"].as_str().unwrap_or("").to_owned();
                rows.push((name, direction, truth(side)));
            }
        }
    }
    rows
}

#[test]
fn json_is_read_as_serde_json_reads_it() {
    let mut figures = 0;
    for run in runs() {
        let path = run.join("fio.json");
        let rows = true_rows(&last_document(&fs::read_to_string(&path).unwrap()));
        let records = records(&path);
        let heads: Vec<_> = records
            .iter()
            .map(|record| {
                (
                    record.scope.job.clone().unwrap().to_string(),
                    record.direction,
                )
            })
            .collect();
        let wanted: Vec<_> = rows
            .iter()
            .map(|(job, direction, _)| (job.clone(), *direction))
            .collect();
        assert_eq!(heads, wanted, "{}", path.display());
        for (record, (job, direction, truth)) in records.iter().zip(&rows) {
            let readings = readings(record);
            for (name, &value) in truth {
                let reading = readings.get(name).unwrap_or_else(|| {
                    panic!("{}: {job} {direction} has no {name}", path.display())
                });
                // serde_json rounds to a double, as the intervals' ends are
                let inside = reading
                    .parts
                    .iter()
                    .any(|&(lo, hi)| lo <= value && value <= hi);
                assert!(
                    inside,
                    "{}: {job} {direction} {name} is {value}, read as {:?}",
                    path.display(),
                    reading.parts
                );
                figures += 1;
            }
            // and nothing comes from nowhere
            for name in readings
                .keys()
                .filter(|name| !name.starts_with("bw_samples"))
            {
                assert!(
                    truth.contains_key(name),
                    "{}: {job} {direction} has no {name}",
                    path.display()
                );
            }
        }
    }
    assert!(figures > 500, "only {figures} figures were compared");
}

#[test]
fn terse_lines_meet_the_json_of_their_run() {
    let figures = meets_json("terse.txt");
    assert!(figures > 400, "only {figures} figures were compared");
}

#[test]
fn normal_text_meets_the_json_of_its_run() {
    let figures = meets_json("normal.txt");
    assert!(figures > 400, "only {figures} figures were compared");
}

/// Holds the tables of shares of two records against each other, and counts the shares.
fn same_shares(a: &Record, b: &Record, path: &Path) -> usize {
    let shares = |record: &Record| -> Vec<_> {
        let depths = record.measurement.depths.clone().unwrap_or_default();
        let counts = [depths.depth, depths.submit, depths.complete];
        let counts = counts.into_iter().enumerate().flat_map(|(table, buckets)| {
            let range =
                move |bucket: CountBucket| ((table, bucket.min, bucket.max), bucket.percent);
            buckets.into_iter().map(range)
        });
        let latencies = record.measurement.lat_distribution.iter();
        let latencies =
            latencies.map(|bucket| ((3, bucket.ge_ns, bucket.lt_ns), bucket.percent.clone()));
        counts.chain(latencies).collect()
    };
    let (a, mut b) = (shares(a), shares(b));
    // I/Os per call are in JSON since 3.x only
    b.retain(|(range, _)| {
        matches!(range.0, 0 | 3) || a.iter().any(|(known, _)| known.0 == range.0)
    });
    let ranges = |shares: &[((usize, u64, Option<u64>), _)]| -> Vec<_> {
        shares.iter().map(|(range, _)| *range).collect()
    };
    assert_eq!(ranges(&a), ranges(&b), "{}", path.display());
    for ((range, one), (_, other)) in a.iter().zip(&b) {
        let meets = one.possible().meet(&other.possible()).is_some();
        assert!(meets, "{}: {range:?} {one:?} and {other:?}", path.display());
    }
    a.len()
}

/// Holds every figure of a form against the JSON of the same run, and counts them.
fn meets_json(form: &str) -> usize {
    let mut figures = 0;
    for run in runs() {
        let path = run.join(form);
        // some versions can't print all forms at once
        if !path.exists() {
            continue;
        }
        let json = records(&run.join("fio.json"));
        let text = fs::read_to_string(&path).unwrap();
        // formats 2 and 3 have no place for trims
        let without_trims = form == "terse.txt" && text.starts_with(['2', '3']);
        let json: Vec<_> = json
            .iter()
            .filter(|record| !(without_trims && record.direction == Direction::Trim))
            .collect();
        let other = records(&path);
        assert_eq!(json.len(), other.len(), "{}", path.display());
        for (a, b) in json.into_iter().zip(&other) {
            assert_eq!(
                (&a.scope.job, a.direction),
                (&b.scope.job, b.direction),
                "{}",
                path.display()
            );
            // the words for an error stand in the normal text only
            let codes = |record: &Record| record.errors.iter().map(|e| e.code).next();
            assert_eq!(codes(a), codes(b), "{}", path.display());
            let (of_json, of_other) = (readings(a), readings(b));
            for (name, reading) in &of_other {
                // the percentiles of one latency only stand in a terse line
                let Some(exact) = of_json.get(name) else {
                    panic!("{}: {name} is in no JSON", path.display());
                };
                // fio itself differs in the eighth digit of deviations that it sums up over jobs (2.14)
                let slack = if name.ends_with("stddev") { 1e-7 } else { 0.0 };
                // the normal text prints a rate that fio cut to a whole number beforehand
                let cut = if name == "iops" { 1.0 } else { 0.0 };
                let meets = exact.parts.iter().any(|a| {
                    reading
                        .parts
                        .iter()
                        .any(|b| a.0 * (1.0 - slack) <= b.1 + cut && b.0 <= a.1 * (1.0 + slack))
                });
                assert!(
                    meets,
                    "{}: {name} {:?} and {:?}",
                    path.display(),
                    exact.parts,
                    reading.parts
                );
                figures += 1;
            }
            if form == "normal.txt" {
                figures += same_shares(a, b, &path);
            }
            for name in ["bytes", "bytes_per_sec", "iops", "runtime_ns", "clat.mean"] {
                assert_eq!(
                    of_json.contains_key(name),
                    of_other.contains_key(name),
                    "{}: {name}",
                    path.display()
                );
            }
        }
    }
    figures
}

#[test]
fn a_run_that_reports_each_second_has_one_result() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/runs/status-interval-3.33");
    for (file, bytes) in [("fio.json", 160_841_728), ("terse.txt", 157_072 * 1024)] {
        let records = records(&run.join(file));
        assert_eq!(records.len(), 1, "{file}");
        let reading = records[0].measurement.bytes.as_ref().unwrap();
        assert!(reading.possible().contains(Bytes(bytes)), "{file}");
    }
}
