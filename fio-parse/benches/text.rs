//! Megabytes a second of fio's normal text, from bytes in memory to records with every field read, and to JSON Lines.
//!
//! `cargo bench -p fio-parse --bench text` prints the rates. The input is the committed reports of fio 3.x, one after
//! the other, repeated to a hundred megabytes (`MEGABYTES=10` for another size). Times are processor time of this
//! thread, the best of several rounds (`ROUNDS=1` for one), so that a busy machine does not spoil them. On a machine
//! that is never quiet, instructions are the better measure: run the program under
//! `valgrind --tool=callgrind` with `MEGABYTES=2 ROUNDS=1` and the name of one line as its argument, and divide by
//! the bytes.

use fio_parse::{Log, Parsed, parse, record};
use std::fs;
use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

fn number(name: &str, default: usize) -> usize {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| text.parse().expect("a whole number"))
}

/// Seconds that this thread has used; wall time where the system does not tell.
fn seconds(start: Instant) -> f64 {
    fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

/// Times `work` without the giving back of its result, of which `count` counts the items.
fn bench<T>(name: &str, size: usize, mut work: impl FnMut() -> T, count_of: impl Fn(&T) -> usize) {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    if wanted.is_some_and(|word| word != name) {
        return;
    }
    let start = Instant::now();
    let mut best = f64::MAX;
    let mut count = 0;
    for _ in 0..number("ROUNDS", 5) {
        let before = seconds(start);
        let result = black_box(work());
        best = best.min(seconds(start) - before);
        count = count_of(&result);
    }
    println!(
        "{name:8} {:8.0} MB/s  {size} bytes, {count} items",
        size as f64 / best / 1e6
    );
}

/// The committed reports of fio 3.x, in the order of their names, repeated.
fn input() -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut files = Vec::new();
    for (folder, file) in [("logs", "input.txt"), ("runs", "normal.txt")] {
        for entry in fs::read_dir(fixtures.join(folder)).expect("the fixtures are there") {
            let path = entry.expect("a folder").path();
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.contains("-3.")) {
                files.push(path.join(file));
            }
        }
    }
    files.sort();
    let texts = files.iter().filter_map(|file| fs::read(file).ok());
    let once: Vec<u8> = texts.collect::<Vec<_>>().concat();
    once.repeat((1_000_000 * number("MEGABYTES", 100)).div_ceil(once.len()))
}

/// Counts what is written.
struct Sink(usize);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn main() {
    let text = input();
    let log = || Log::from_bytes("reports.txt", &text).expect("less than 4 GiB");
    bench("input", text.len(), || text.len(), |&size| size);
    let blocks = || fio_parse::block::blocks(&log()).len();
    bench("blocks", text.len(), blocks, |&count| count);
    let count = |parsed: &Parsed| parsed.records.len();
    bench("records", text.len(), || parse(&log()), count);
    let jsonl = || {
        let parsed = parse(&log());
        let mut sink = Sink(0);
        record::write_jsonl(&parsed.records, &mut sink).expect("a sink takes all");
        (parsed, sink.0)
    };
    bench("jsonl", text.len(), jsonl, |&(_, bytes)| bytes);
}
