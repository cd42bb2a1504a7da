//! How fast a job may go: rates, and pauses after so many I/Os.
//!
//! A rate is a line from the start of the window: the n-th byte is due at n / rate. An I/O
//! that comes late does not move the line, so the job catches up after a stall, as fio does.
//! A rate in I/Os counts each as one block of the job's smallest size. With `poisson` the
//! gaps are exponential with the same mean, and the line is the sum of the gaps.
//!
//! In a mix each direction has its own line. A direction that is ahead of it gives its turn to
//! the other one, as in fio; only when both are ahead the job waits, for the one that is due
//! first. So both reach their rates, and the share that `rwmixread` asks for gives way.

use crate::clock::Stamp;
use crate::hist::Histogram;
use crate::offsets::Rng;
use crate::plan::job::{JobPlan, Think};

const SECOND: u128 = 1_000_000_000;

/// The pace of one job.
#[derive(Debug)]
pub(super) struct Pacer {
    /// Bytes per second of reads and writes; 0 without bound.
    rates: [u64; 2],
    smallest: [u64; 2],
    issued: [u64; 2],
    /// When the next I/O of each direction is due, ns from the start of the window.
    next: [u64; 2],
    /// Gaps are drawn.
    poisson: bool,
    /// Both directions occur, so one may take the other's turn.
    switches: bool,
    rng: Rng,
    think: Option<Think>,
    since_pause: u32,
    /// When the next I/O is due; none for a direction without bound.
    next_due: Option<Stamp>,
    /// The same of the I/O in each slot.
    dues: Vec<Option<Stamp>>,
    /// Latencies of reads and writes from when they were due.
    corrected: Box<[Histogram; 2]>,
}

impl Pacer {
    /// The pace of a job; `None` if it may go as fast as it can.
    pub(super) fn new(job: &JobPlan) -> Option<Self> {
        let pace = &job.pace;
        if !pace.bounded() && pace.think.is_none() {
            return None;
        }
        let smallest = [0, 1].map(|way| u64::from(job.sizes[way].smallest()));
        let rates = [0, 1].map(|way| match pace.bytes[way] {
            0 => pace.ios[way].saturating_mul(smallest[way]),
            bytes => bytes,
        });
        Some(Pacer {
            rates,
            smallest,
            issued: [0; 2],
            next: [0; 2],
            poisson: pace.poisson,
            switches: job.pattern.mixed() && (1..100).contains(&job.mix_read),
            rng: Rng::new(job.seed ^ 0x9ACE),
            think: pace.think,
            since_pause: 0,
            next_due: None,
            dues: vec![None; job.depth as usize],
            corrected: Box::default(),
        })
    }

    /// The direction that goes next where `write` was drawn, and when it is due.
    pub(super) fn choose(&self, start: Stamp, write: bool, now: Stamp) -> (bool, Stamp) {
        let due = |write: bool| start.saturating_add(self.next[usize::from(write)]);
        let other_first = due(write) > now && due(!write) < due(write);
        let write = write != (self.switches && other_first);
        (write, due(write))
    }

    /// When the next I/O is due; it counts as issued.
    pub(super) fn due(&mut self, start: Stamp, write: bool, bytes: u32) -> Stamp {
        let way = usize::from(write);
        let rate = self.rates[way];
        if rate == 0 {
            self.next_due = None;
            return start;
        }
        let due = start.saturating_add(self.next[way]);
        self.issued[way] += u64::from(bytes);
        self.next[way] = if self.poisson {
            let mean = self.smallest[way] as f64 * 1e9 / rate as f64;
            // 1 - u lies in (0, 1], so its logarithm is finite.
            let even = 1.0 - (self.rng.next() >> 11) as f64 / (1u64 << 53) as f64;
            self.next[way].saturating_add((-even.ln() * mean) as u64)
        } else {
            (u128::from(self.issued[way]) * SECOND / u128::from(rate)) as u64
        };
        self.next_due = Some(due);
        due
    }

    /// The I/O that was due last goes in this slot.
    pub(super) fn goes(&mut self, slot: u32) {
        self.dues[slot as usize] = self.next_due.take();
    }

    /// The I/O in this slot is complete. Its latency counts from when it was due: an I/O that
    /// went late because others were slow has waited for them, which the plain latency leaves
    /// out (coordinated omission).
    pub(super) fn came(&mut self, slot: u32, write: bool, now: Stamp) {
        self.since_pause += 1;
        if let Some(due) = self.dues[slot as usize].take() {
            self.corrected[usize::from(write)].add(now.saturating_sub(due));
        }
    }

    /// Latencies from when I/Os were due, if there was a rate.
    pub(super) fn into_corrected(self) -> Option<Box<[Histogram; 2]>> {
        let any = self.corrected.iter().any(|histogram| histogram.total() > 0);
        any.then_some(self.corrected)
    }

    /// The window starts over (end of the ramp).
    pub(super) fn begin(&mut self) {
        self.issued = [0; 2];
        self.next = [0; 2];
        *self.corrected = Default::default();
    }

    /// Whether a pause is due.
    pub(super) fn pause_due(&self) -> bool {
        self.think
            .is_some_and(|think| self.since_pause >= think.blocks.max(1))
    }

    /// The pause that is due, if one is; the count starts anew.
    pub(super) fn pause(&mut self) -> Option<Think> {
        let due = self.pause_due();
        if due {
            self.since_pause = 0;
        }
        self.think.filter(|_| due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::job::tests::job;

    fn pacer(change: impl Fn(&mut JobPlan)) -> Option<Pacer> {
        let mut job = job("write");
        change(&mut job);
        Pacer::new(&job)
    }

    #[test]
    fn a_rate_is_a_line_from_the_start() {
        assert!(pacer(|_| {}).is_none());
        let mut pacer = pacer(|job| job.pace.ios = [0, 100]).unwrap();
        let dues: Vec<u64> = (0..4).map(|_| pacer.due(1000, true, 4096)).collect();
        assert_eq!(dues, [1000, 10_001_000, 20_001_000, 30_001_000]);
        assert_eq!(pacer.due(1000, false, 4096), 1000, "reads are not bounded");
        pacer.begin();
        assert_eq!(pacer.due(5000, true, 4096), 5000);
    }

    #[test]
    fn a_direction_that_is_ahead_gives_its_turn_to_the_other() {
        let (reads, writes) = (false, true);
        let pacer = |pace: [u64; 2], mix_read| {
            let mut job = job("randrw");
            job.pace.ios = pace;
            job.mix_read = mix_read;
            Pacer::new(&job).unwrap()
        };
        let mut both = pacer([1000, 100], 70);
        assert_eq!(both.choose(0, writes, 0), (writes, 0));
        both.due(0, writes, 4096);
        assert_eq!(both.choose(0, writes, 0), (reads, 0), "reads are behind");
        both.due(0, reads, 4096);
        for drawn in [reads, writes] {
            let first = (reads, 1_000_000);
            assert_eq!(both.choose(0, drawn, 0), first, "both are ahead");
        }
        assert_eq!(both.choose(0, writes, 10_000_000), (writes, 10_000_000));
        let mut one = pacer([0, 100], 70);
        one.due(0, writes, 4096);
        assert_eq!(one.choose(0, writes, 5), (reads, 0), "reads have no bound");
        let mut none = pacer([0, 100], 0);
        none.due(0, writes, 4096);
        let waits = (writes, 10_000_000);
        assert_eq!(none.choose(0, writes, 5), waits, "reads have no share");
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
        let mut pacer = pacer(|job| {
            job.pace.ios = [0, 1000];
            job.pace.poisson = true;
        })
        .unwrap();
        let dues: Vec<f64> = (0..20_000)
            .map(|_| pacer.due(0, true, 4096) as f64)
            .collect();
        let gaps: Vec<f64> = dues.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.03, "{mean}");
        assert!(
            (variance.sqrt() / mean - 1.0).abs() < 0.04,
            "coefficient of variation is 1"
        );
    }

    #[test]
    fn corrected_latencies_count_from_when_an_io_was_due() {
        let mut pacer = pacer(|job| job.pace.ios = [0, 1000]).unwrap();
        // Ten writes are due at 0, 1, ... 9 ms. A stall lets all go at 9 ms, each taking 1 us.
        for _ in 0..10 {
            pacer.due(0, true, 4096);
            pacer.goes(0);
            pacer.came(0, true, 9_001_000);
        }
        // A read has no rate: its plain latency is all there is.
        pacer.due(0, false, 4096);
        pacer.goes(0);
        pacer.came(0, false, 9_001_000);
        let [reads, writes] = *pacer.into_corrected().unwrap();
        assert_eq!((reads.total(), writes.total()), (0, 10));
        let [low, high] = writes.percentiles(&[10.0, 100.0])[..] else {
            panic!()
        };
        assert!(low.abs_diff(1000) < 16 && high.abs_diff(9_001_000) < 9_001_000 / 64);
    }

    #[test]
    fn pauses_come_after_so_many() {
        let think = Think {
            ns: 7,
            spin_ns: 0,
            blocks: 2,
        };
        let mut pacer = pacer(|job| job.pace.think = Some(think)).unwrap();
        pacer.came(0, true, 0);
        assert_eq!(pacer.pause(), None);
        pacer.came(0, true, 0);
        assert!(pacer.pause_due());
        assert_eq!(pacer.pause(), Some(think));
        assert_eq!(pacer.pause(), None);
    }
}
