//! Whether time grows as the input does: sizes double, and so should the times.
//!
//! `cargo bench -p fio-parse --bench linear [-- MEGABYTES [WORD]]`; sizes go from an eighth of the megabytes (4) up to
//! all of them. A ratio of about 2 is linear, 4 is quadratic. `!` marks a last ratio above 2.8.

use fio_parse::{Log, diagnostic, explain, parse};
use std::hint::black_box;
use std::time::Instant;

mod adversaries;

/// Processor time of this thread in seconds; wall time where the system does not tell.
fn seconds(start: Instant) -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

/// All that the binary does with a log, without the printing.
fn work(text: &str) -> f64 {
    let start = Instant::now();
    let before = seconds(start);
    let log = Log::from_bytes("a", text.as_bytes()).expect("less than 4 GiB");
    let parsed = parse(&log);
    let warnings = parsed.records.iter().flat_map(|record| &record.warnings);
    let shown: usize = parsed
        .diagnostics
        .iter()
        .chain(warnings)
        .map(|diagnostic| diagnostic::render(&log, diagnostic).len())
        .sum();
    black_box((shown, explain(&log).len(), parsed));
    seconds(start) - before
}

fn main() {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let megabytes: f64 = words
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(4.0);
    let wanted = words.next().unwrap_or_default();
    let sizes = [8.0, 4.0, 2.0, 1.0].map(|part| (megabytes * 1e6 / part) as usize);
    let heirs = ("heirs of many options", "");
    for (name, piece) in adversaries::REPEATED.iter().copied().chain([heirs]) {
        if !name.contains(&wanted) {
            continue;
        }
        let times = sizes.map(|size| {
            work(&match piece {
                "" => adversaries::heirs(size),
                piece => adversaries::text(piece, size),
            })
        });
        // what takes less than the clock's steps has no ratio
        let ratios = [1, 2, 3].map(|at| match times[at - 1] {
            time if time < 0.01 => "-".to_owned(),
            time => format!("{:.1}", times[at] / time),
        });
        let mark = if times[3] > 2.8 * times[2].max(0.02) {
            "!"
        } else {
            " "
        };
        println!(
            "{name:28} {:8.1} MB/s {mark} {:9.1} ms  ratios {:>5} {:>5} {:>5}",
            sizes[3] as f64 / 1e6 / times[3],
            times[3] * 1e3,
            ratios[0],
            ratios[1],
            ratios[2]
        );
    }
}
