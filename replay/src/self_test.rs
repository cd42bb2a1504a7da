//! What the instrument itself costs, part by part, in nanoseconds.
//!
//! Each part is run in batches and the fastest batch counts: whatever else the machine does
//! makes a batch slower, never faster. So these are costs in a tight loop on a warm cache,
//! and the least that a run pays. The null engine is the sum of the parts: the real loop with
//! all its accounting, and no storage under it.

use std::hint::black_box;
use std::time::Duration;

use crate::clock::{Clock, Stamp, SystemClock};
use crate::content::{self, Content};
use crate::control::Control;
use crate::draw::{Law, Shape};
use crate::engine::null::Null;
use crate::hist::{Histogram, Stat};
use crate::media::Nowhere;
use crate::memory::{Buffer, Pages};
use crate::offsets::{Blocks, Rng};
use crate::plan::job::{EngineKind, JobPlan, Pattern, Spread};
use crate::worker::Worker;

/// Share of an I/O's time from which on the instrument is part of what it measures, per cent.
pub const NOTABLE_PERCENT: f64 = 5.0;

/// Bytes of the blocks that are filled.
const BLOCK: usize = 4096;

/// What one part costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Which part, in words.
    pub part: String,
    /// Nanoseconds per I/O.
    pub ns: f64,
}

/// Runs a batch of so many I/Os and gives its time, ns.
type Batch<'a> = Box<dyn FnMut(u64) -> u64 + 'a>;

/// Measures every part for about `each`.
pub fn costs(clock: &SystemClock, each: Duration) -> Vec<Cost> {
    let portable = SystemClock::portable();
    let mut rng = Rng::new(1);
    let mut histogram = Histogram::new();
    let mut stat = Stat::EMPTY;
    let mut buffer = vec![0u8; BLOCK];
    let mut filled = Rng::new(2);
    let mut scrambled = vec![0u8; BLOCK];
    let mut checked = vec![0u8; BLOCK];
    content::fill(&mut checked, &mut filled);
    let mut parts: Vec<(String, Batch<'_>)> = vec![
        (
            format!("a time stamp ({})", clock.source()),
            timed(clock, || black_box(clock.now())),
        ),
        (
            format!("a time stamp ({})", portable.source()),
            timed(clock, || black_box(portable.now())),
        ),
        (
            "the histogram".to_owned(),
            timed(clock, || histogram.add(rng.next() >> 45)),
        ),
        ("a statistic".to_owned(), {
            let mut value = 1000;
            timed(clock, move || {
                value ^= 0x155;
                stat.add(black_box(value));
            })
        }),
        (
            "a random block of 2^19, each once".to_owned(),
            timed(clock, endless(Blocks::random(1 << 19, 3))),
        ),
        (
            "a random block of 300007, each once".to_owned(),
            timed(clock, endless(Blocks::random(300_007, 3))),
        ),
        (
            "a random block of 2^32 (16 TiB), each once".to_owned(),
            timed(clock, endless(Blocks::random(1 << 32, 3))),
        ),
        (
            "a random block with repeats".to_owned(),
            timed(clock, endless(Blocks::repeating(1 << 19, 3))),
        ),
    ];
    for (name, spread) in [
        ("zipf:1.2", Spread::Zipf(1.2)),
        ("pareto:0.2", Spread::Pareto(0.2)),
        ("normal:20", Spread::Normal(20.0)),
    ] {
        let (law, mut draws) = (Law::new(Shape::new(&spread, 1 << 19), 1), Rng::new(4));
        parts.push((
            format!("a random block, {name}"),
            timed(clock, move || black_box(law.draw(&mut draws))),
        ));
    }
    parts.push((
        "4 KiB of new random bytes".to_owned(),
        timed(clock, move || {
            content::fill(black_box(&mut buffer), &mut filled)
        }),
    ));
    parts.push(("scrambling 4 KiB".to_owned(), {
        let mut offset = 0;
        timed(clock, move || {
            offset += BLOCK as u64;
            content::scramble(black_box(&mut scrambled), offset, offset ^ 0x5555);
        })
    }));
    parts.push((
        "crc32c of 4 KiB".to_owned(),
        timed(clock, move || {
            black_box(crc32c::crc32c(black_box(&checked)))
        }),
    ));
    for (depth, write) in [(1, false), (32, false), (1, true)] {
        let way = if write { "write" } else { "read" };
        parts.push((
            format!("an I/O of the null engine, {way}, depth {depth}"),
            Box::new(move |ios| null_run(clock, depth, write, ios)),
        ));
    }
    parts
        .into_iter()
        .map(|(part, batch)| Cost {
            part,
            ns: fastest(clock, each, batch),
        })
        .collect()
}

/// The smallest step that the clock shows between two stamps, ns: the median of many, zeros
/// left out.
pub fn precision(clock: &SystemClock) -> u64 {
    let mut steps: Vec<u64> = (0..2000)
        .map(|_| {
            let before = clock.now();
            clock.now() - before
        })
        .filter(|&step| step > 0)
        .collect();
    steps.sort_unstable();
    steps.get(steps.len() / 2).copied().unwrap_or(0)
}

/// What an I/O costs on the null engine at this depth, ns, measured in a fraction of a millisecond.
pub fn overhead(clock: &SystemClock, depth: u32) -> f64 {
    let batch = 2048;
    let runs = (0..4).map(|_| null_run(clock, depth, false, batch));
    runs.min().unwrap_or(0) as f64 / batch as f64
}

fn timed<'a, T>(clock: &'a SystemClock, mut work: impl FnMut() -> T + 'a) -> Batch<'a> {
    Box::new(move |count| {
        let before = clock.now();
        for _ in 0..count {
            black_box(work());
        }
        clock.now() - before
    })
}

fn endless(mut blocks: Blocks) -> impl FnMut() -> u64 {
    move || {
        blocks.next().unwrap_or_else(|| {
            blocks.renew();
            0
        })
    }
}

/// The time per I/O of the fastest batch, ns.
fn fastest(clock: &SystemClock, each: Duration, mut batch: Batch<'_>) -> f64 {
    let end: Stamp = clock.now() + each.as_nanos() as u64;
    let mut count = 64;
    let mut best = f64::INFINITY;
    loop {
        let ns = batch(count);
        best = best.min(ns as f64 / count as f64);
        if clock.now() >= end {
            return best;
        }
        // Long enough for the clock, short enough to fit between two interruptions.
        if ns < 100_000 {
            count *= 2;
        }
    }
}

/// Runs the real loop over the null engine; gives the measured window, ns.
fn null_run(clock: &SystemClock, depth: u32, write: bool, ios: u64) -> u64 {
    let pattern = Pattern {
        reads: !write,
        writes: write,
        random: true,
    };
    let region = ios * BLOCK as u64;
    let job = JobPlan {
        depth,
        asked_depth: depth,
        engine: EngineKind::Null,
        content: Content::Scrambled,
        ..JobPlan::plain("self-test", pattern, region)
    };
    let Ok(buffers) = Buffer::slots(depth as usize, BLOCK, Pages::Now) else {
        return u64::MAX;
    };
    let control = Control::default();
    let outcome = Worker::new(&job, Null::new(buffers), clock, Nowhere, &control).run();
    outcome.window_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_cost_and_the_whole_costs_more_than_its_stamps() {
        let clock = SystemClock::new();
        let costs = costs(&clock, Duration::from_millis(2));
        assert!(costs.len() > 12);
        for Cost { part, ns } in &costs {
            assert!(*ns > 0.0 && *ns < 1e6, "{part}: {ns}");
        }
        assert!(precision(&clock) > 0);
        assert!(overhead(&clock, 1) > 0.0);
    }
}
