//! Megabytes a second of fio's forms, from bytes in memory to records with every field read, and on to JSON Lines.
//!
//! `cargo bench -p fio-parse --bench speed [-- WORD]` runs the lines whose name holds the word. Inputs are the
//! committed runs repeated to a hundred megabytes (`MEGABYTES=10` for another size), and a log of samples made here. Times are processor time of this
//! thread, the best of several, so that a busy machine does not spoil them.

use fio_parse::assemble::fio_log::LatencyUnit;
use fio_parse::block::blocks;
use fio_parse::block::fio_log::LogKind;
use fio_parse::context::resolve;
use fio_parse::record::write_jsonl;
use fio_parse::series::{Format, series};
use fio_parse::{Log, Parsed, parse};
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// How often each line is measured.
fn rounds() -> usize {
    let rounds = std::env::var("ROUNDS").ok();
    rounds.map_or(5, |text| text.parse().expect("ROUNDS is a number"))
}

/// How large inputs are, in bytes.
fn size() -> usize {
    let megabytes = std::env::var("MEGABYTES").ok();
    1_000_000 * megabytes.map_or(100, |text| text.parse().expect("MEGABYTES is a number"))
}

/// Seconds that this thread has used; wall time where the system does not tell.
fn seconds(start: Instant) -> f64 {
    fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

/// How many items a result holds.
trait Items {
    fn items(&self) -> usize;
}

impl Items for usize {
    fn items(&self) -> usize {
        *self
    }
}

impl Items for Parsed {
    fn items(&self) -> usize {
        self.records.len()
    }
}

/// Times `work` without the giving back of its result.
fn bench<T: Items>(name: &str, size: usize, mut work: impl FnMut() -> T) {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    if wanted.is_some_and(|word| !name.contains(&word)) {
        return;
    }
    let start = Instant::now();
    let mut best = f64::MAX;
    let mut count = 0;
    for _ in 0..rounds() {
        let before = seconds(start);
        let result = black_box(work());
        best = best.min(seconds(start) - before);
        count = result.items();
    }
    println!(
        "{name:28} {:8.0} MB/s  {count} items",
        size as f64 / best / 1e6
    );
}

/// The files called `file` of the runs that `keep` keeps, one after the other until they fill [`size`].
fn repeated(file: &str, keep: impl Fn(&str) -> bool) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/runs");
    let mut once = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(&keep)
            && let Ok(text) = fs::read(path.join(file))
        {
            once.extend(text);
        }
    }
    once.repeat((size() / once.len()).max(1))
}

/// From bytes to lines of JSON, as the binary does it.
fn lines(name: &str, bytes: &[u8]) -> Parsed {
    let log = Log::from_bytes(name, bytes).unwrap();
    let parsed = parse(&log);
    write_jsonl(&parsed.records, std::io::sink()).unwrap();
    parsed
}

fn records(name: &str, bytes: &[u8]) -> Parsed {
    let log = Log::from_bytes(name, bytes).unwrap();
    parse(&log)
}

fn main() {
    // a status series would be dropped as such, and its text be read for nothing
    let plain = |name: &str| !name.starts_with("status");
    let text = repeated("normal.txt", |name| {
        plain(name) && !name.contains("-2.") && !name.contains("unified")
    });
    bench("normal text of fio 3", text.len(), || {
        records("a.txt", &text)
    });
    bench("normal text to blocks", text.len(), || {
        let log = Log::from_bytes("a.txt", &text).unwrap();
        blocks(&log).len()
    });
    bench("normal text to contexts", text.len(), || {
        let log = Log::from_bytes("a.txt", &text).unwrap();
        let blocks = blocks(&log);
        let contexts = resolve(&log, &blocks);
        (0..blocks.len())
            .filter(|&block| contexts.get(block).is_some())
            .count()
    });
    bench("normal text to JSON Lines", text.len(), || {
        lines("a.txt", &text)
    });
    let old = repeated("normal.txt", |name| plain(name) && name.contains("-2."));
    bench("normal text of fio 2", old.len(), || records("a.txt", &old));
    let json = repeated("fio.json", plain);
    bench("json", json.len(), || records("a.json", &json));
    bench("json to JSON Lines", json.len(), || lines("a.json", &json));
    let plus = repeated("fio.json", |name| {
        name.starts_with("randrw") || name.starts_with("null")
    });
    bench("json+ with bins", plus.len(), || records("a.json", &plus));
    let minified: Vec<u8> = json
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let minified = String::from_utf8(minified)
        .unwrap()
        .replace("fioversion", "fio version");
    bench("json, minified", minified.len(), || {
        records("a.json", minified.as_bytes())
    });
    let terse = repeated("terse.txt", plain);
    bench("terse", terse.len(), || records("a.txt", &terse));

    let mut log = String::new();
    let mut random = 1u64;
    while log.len() < size() {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (value, direction, offset) = (
            random >> 44,
            random >> 40 & 1,
            (random >> 20 & 0xfffff) * 4096,
        );
        let time = log.len() / 3000;
        let _ = writeln!(log, "{time}, {value}, {direction}, 4096, {offset}, 0");
    }
    bench("log to summary", log.len(), || {
        records("a_clat.1.log", log.as_bytes())
    });
    for (name, format) in [
        ("log to JSON Lines", Format::JsonLines),
        ("log to CSV", Format::Csv),
    ] {
        bench(name, log.len(), || {
            let out = std::io::sink();
            let kind = LogKind::CompletionLatency;
            let summary =
                series(log.as_bytes(), kind, LatencyUnit::Nanoseconds, format, out).unwrap();
            summary.samples as usize
        });
    }
}
