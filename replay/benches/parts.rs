//! What each part of the instrument costs, in ns per I/O: clock, histogram, statistics, generators of offsets, content,
//! checksums, and the whole loop over the null engine.
//!
//! `cargo bench -p replay --bench parts [-- WORD]` prints the parts whose names hold the word. Each is measured in
//! several rounds over all parts, and the fastest batch of any round counts: a busy machine makes batches slower, never
//! faster. `ROUNDS=1` for one round. `fio-replay --self-test` is one round of the same.

use replay::clock::SystemClock;
use replay::self_test::{Cost, costs};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

fn main() {
    let wanted = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with('-'))
        .unwrap_or_default();
    let rounds = std::env::var("ROUNDS").map_or(5, |text| text.parse().expect("a whole number"));
    let clock = SystemClock::new();
    let mut best: BTreeMap<usize, Cost> = BTreeMap::new();
    for _ in 0..rounds {
        for (number, cost) in costs(&clock, Duration::from_millis(50))
            .into_iter()
            .enumerate()
        {
            let seen = best.entry(number).or_insert_with(|| cost.clone());
            seen.ns = seen.ns.min(cost.ns);
        }
    }
    let mut out = std::io::stdout().lock();
    for Cost { part, ns } in best.values().filter(|cost| cost.part.contains(&wanted)) {
        // A closed pipe is a normal end.
        if writeln!(out, "{ns:>10.2} ns per I/O: {part}").is_err() {
            return;
        }
    }
}
