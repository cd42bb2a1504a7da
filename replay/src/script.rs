//! What a job does next: its I/O in order, and the syncs between them. Pure.
//!
//! The rules are fio's, found by running 3.33 and counting:
//!
//! - A pass ends when the region is exhausted, the job when it has issued `io_size` (or
//!   `size`) times `loops` bytes; the last I/O may overshoot. A region that is no multiple
//!   of the block loses its tail: 1000000 bytes in blocks of 4 KiB are 244 I/Os.
//! - Every `loops` pass is run; after them another pass only if `io_size` is set and more
//!   than a block is missing.
//! - A sync is due when the number of writes so far is a multiple of N. It is issued before
//!   the next I/O is chosen, so none follows the last I/O of a job that ends by its byte
//!   limit. At a wrap one comes before the close and one after the open: there fio forgets
//!   that it has just synced.
//! - Mixed sequential jobs keep one position per direction, random ones share one map.
//!   fio before 3.38 repeats a due sync after each read of a mix; that defect is not kept.

use crate::offsets::{Blocks, Rng};
use crate::plan::job::JobPlan;

/// Kind of sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncKind {
    /// fsync.
    Full,
    /// fdatasync.
    Data,
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Move data.
    Io {
        /// Write, else read.
        write: bool,
        /// Position in the file, bytes.
        offset: u64,
        /// Bytes to move.
        bytes: u32,
    },
    /// Make data durable.
    Sync(SyncKind),
    /// The region is exhausted.
    Exhausted,
    /// The job has issued all its bytes.
    Complete,
}

/// The order of one job's I/O.
#[derive(Debug, Clone)]
pub struct Script {
    reads: bool,
    writes: bool,
    read_bytes: u32,
    write_bytes: u32,
    mix_read: u64,
    offset: u64,
    fsync_every: u64,
    fdatasync_every: u64,
    time_based: bool,
    /// Job limit, bytes.
    limit: u64,
    /// Limit of passes beyond `loops`, if `io_size` is set.
    io_size: Option<u64>,
    passes_left: u32,
    issued: u64,
    writes_issued: u64,
    just_synced: bool,
    directions: Rng,
    mix_seed: u64,
    /// Blocks of the reads, or of both in a random mix.
    first: Blocks,
    /// Blocks of the writes of a sequential mix.
    second: Option<Blocks>,
}

impl Script {
    /// The script of a job.
    pub fn new(job: &JobPlan) -> Self {
        let mut seeds = Rng::new(job.seed);
        let (order_seed, mix_seed) = (seeds.next(), seeds.next());
        let blocks = |bytes: u32| job.region / u64::from(bytes);
        let smallest = blocks(job.smallest_block());
        let (first, second) = if job.pattern.random && job.random_map {
            (Blocks::random(smallest, order_seed), None)
        } else if job.pattern.random {
            (Blocks::repeating(smallest, order_seed), None)
        } else if job.pattern.mixed() {
            let second = Blocks::sequential(blocks(job.write_bytes));
            (Blocks::sequential(blocks(job.read_bytes)), Some(second))
        } else {
            (Blocks::sequential(smallest), None)
        };
        Script {
            reads: job.pattern.reads,
            writes: job.pattern.writes,
            read_bytes: job.read_bytes,
            write_bytes: job.write_bytes,
            mix_read: u64::from(job.mix_read),
            offset: job.offset,
            fsync_every: u64::from(job.syncs.fsync_every),
            fdatasync_every: u64::from(job.syncs.fdatasync_every),
            time_based: job.endless(),
            limit: if job.endless() {
                u64::MAX
            } else {
                job.bytes_limit()
            },
            io_size: job.io_size,
            passes_left: job.loops.max(1) - 1,
            issued: 0,
            writes_issued: 0,
            just_synced: false,
            directions: Rng::new(mix_seed),
            mix_seed,
            first,
            second,
        }
    }

    /// The next step. At the end of a pass of a `time_based` job call [`Script::wrap`], of
    /// any other [`Script::next_pass`].
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Step {
        if self.issued >= self.limit {
            return Step::Complete;
        }
        if !self.just_synced
            && let Some(kind) = self.due()
        {
            self.just_synced = true;
            return Step::Sync(kind);
        }
        let write = match (self.reads, self.writes) {
            (true, true) => self.directions.below(100) >= self.mix_read,
            (_, writes) => writes,
        };
        let blocks = match &mut self.second {
            Some(writes) if write => writes,
            _ => &mut self.first,
        };
        let Some(block) = blocks.next() else {
            return Step::Exhausted;
        };
        let bytes = if write {
            self.write_bytes
        } else {
            self.read_bytes
        };
        self.issued += u64::from(bytes);
        if write {
            self.writes_issued += 1;
            self.just_synced = false;
        }
        Step::Io {
            write,
            offset: self.offset + block * u64::from(bytes),
            bytes,
        }
    }

    #[inline]
    fn due(&self) -> Option<SyncKind> {
        let reached = |every: u64| every != 0 && self.writes_issued.is_multiple_of(every);
        if self.writes_issued == 0 {
            None
        } else if reached(self.fsync_every) {
            Some(SyncKind::Full)
        } else if reached(self.fdatasync_every) {
            Some(SyncKind::Data)
        } else {
            None
        }
    }

    /// Goes on from the front of the region, in a new random order.
    pub fn wrap(&mut self) {
        debug_assert!(self.time_based);
        self.first.renew();
        if let Some(second) = &mut self.second {
            second.renew();
        }
    }

    /// Starts the next pass of the job, if there is one: the same offsets and directions in the
    /// same order, as fio draws from the same seeds again.
    pub fn next_pass(&mut self) -> bool {
        if self.passes_left > 0 {
            self.passes_left -= 1;
        } else {
            let largest = u64::from(self.read_bytes.max(self.write_bytes));
            let missing = self
                .io_size
                .map_or(0, |io_size| io_size.saturating_sub(self.issued));
            if missing < largest {
                return false;
            }
        }
        self.just_synced = false;
        self.directions = Rng::new(self.mix_seed);
        self.first.rewind();
        if let Some(second) = &mut self.second {
            second.rewind();
        }
        true
    }
}

/// Number of I/Os, bytes, and periodic syncs that a finite job issues. Only mixes of
/// different block sizes depend on the random stream; it is the same in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Periodic syncs.
    pub syncs: u64,
}

/// What a job would issue if time did not end it, by walking its script. `None` if it has
/// no end, or more than `most` steps.
pub fn planned_counts(job: &JobPlan, most: u64) -> Option<Counts> {
    if job.endless() {
        return None;
    }
    let mut script = Script::new(job);
    let mut counts = Counts::default();
    for _ in 0..most {
        match script.next() {
            Step::Io {
                write: true, bytes, ..
            } => {
                counts.writes += 1;
                counts.write_bytes += u64::from(bytes);
            }
            Step::Io { bytes, .. } => {
                counts.reads += 1;
                counts.read_bytes += u64::from(bytes);
            }
            Step::Sync(_) => counts.syncs += 1,
            Step::Exhausted if script.next_pass() => {}
            Step::Exhausted | Step::Complete => return Some(counts),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::job::tests::job;

    /// Counts of fio 3.33 for the same options, from its JSON: reads and writes together,
    /// bytes, syncs.
    fn check(label: &str, change: impl Fn(&mut JobPlan), ios: u64, bytes: u64, syncs: u64) {
        let pattern = label.split(' ').next().unwrap();
        let mut job = job(pattern);
        change(&mut job);
        let counts = planned_counts(&job, 1_000_000).unwrap();
        let found = (
            counts.reads + counts.writes,
            counts.read_bytes + counts.write_bytes,
            counts.syncs,
        );
        assert_eq!(found, (ios, bytes, syncs), "{label}");
    }

    #[test]
    fn counts_are_those_of_fio_3_33() {
        let odd = |job: &mut JobPlan| job.region = 1_000_000;
        check("read size=1000000", odd, 244, 999_424, 0);
        check("rw size=1000000", odd, 245, 1_003_520, 0);
        check("randrw size=1000000", odd, 244, 999_424, 0);
        check(
            "randwrite size=1000000 norandommap",
            |j| {
                odd(j);
                j.random_map = false
            },
            245,
            1_003_520,
            0,
        );
        check(
            "write size=1m io_size=10000",
            |j| {
                j.region = 1 << 20;
                j.io_size = Some(10_000)
            },
            3,
            12_288,
            0,
        );
        check(
            "write io_size=200k",
            |j| j.io_size = Some(200 << 10),
            50,
            204_800,
            0,
        );
        check(
            "randrw io_size=200k",
            |j| j.io_size = Some(200 << 10),
            50,
            204_800,
            0,
        );
        check(
            "rw io_size=200k",
            |j| j.io_size = Some(200 << 10),
            50,
            204_800,
            0,
        );
        check(
            "write io_size=64000",
            |j| j.io_size = Some(64_000),
            16,
            65_536,
            0,
        );
        check(
            "write io_size=32k loops=2",
            |j| {
                j.io_size = Some(32 << 10);
                j.loops = 2
            },
            16,
            65_536,
            0,
        );
        check(
            "write io_size=100k loops=2",
            |j| {
                j.io_size = Some(100 << 10);
                j.loops = 2
            },
            32,
            131_072,
            0,
        );
        check(
            "read io_size=300k loops=2",
            |j| {
                j.io_size = Some(300 << 10);
                j.loops = 2
            },
            80,
            327_680,
            0,
        );
        check(
            "randwrite io_size=40k loops=2",
            |j| {
                j.io_size = Some(40 << 10);
                j.loops = 2
            },
            20,
            81_920,
            0,
        );
        check(
            "write size=1000000 loops=2",
            |j| {
                odd(j);
                j.loops = 2
            },
            488,
            1_998_848,
            0,
        );
        check(
            "randwrite size=1000000 loops=3",
            |j| {
                odd(j);
                j.loops = 3
            },
            732,
            2_998_272,
            0,
        );
        check(
            "randwrite size=1000000 io_size=1500000",
            |j| {
                odd(j);
                j.io_size = Some(1_500_000)
            },
            367,
            1_503_232,
            0,
        );
        check(
            "write size=1000000 io_size=3000000",
            |j| {
                odd(j);
                j.io_size = Some(3_000_000)
            },
            732,
            2_998_272,
            0,
        );
        check(
            "rw size=1000000 loops=2",
            |j| {
                odd(j);
                j.loops = 2
            },
            489,
            2_002_944,
            0,
        );
        check("rw loops=2", |j| j.loops = 2, 32, 131_072, 0);
        check("randrw loops=3", |j| j.loops = 3, 48, 196_608, 0);
        check("write size=6k", |j| j.region = 6 << 10, 1, 4096, 0);
    }

    #[test]
    fn syncs_are_those_of_fio_3_33() {
        let fsync = |every| move |job: &mut JobPlan| job.syncs.fsync_every = every;
        check("write fsync=4", fsync(4), 16, 65_536, 3);
        check("write fsync=5", fsync(5), 16, 65_536, 3);
        check("write fsync=1", fsync(1), 16, 65_536, 15);
        check(
            "write fdatasync=1",
            |j| j.syncs.fdatasync_every = 1,
            16,
            65_536,
            15,
        );
        check(
            "write fsync=4 fdatasync=2",
            |j| {
                fsync(4)(j);
                j.syncs.fdatasync_every = 2
            },
            16,
            65_536,
            7,
        );
        check(
            "write fsync=4 loops=2",
            |j| {
                fsync(4)(j);
                j.loops = 2
            },
            32,
            131_072,
            8,
        );
        check(
            "write fsync=16 loops=2",
            |j| {
                fsync(16)(j);
                j.loops = 2
            },
            32,
            131_072,
            2,
        );
        check(
            "write fsync=5 loops=3",
            |j| {
                fsync(5)(j);
                j.loops = 3
            },
            48,
            196_608,
            9,
        );
        check(
            "write fsync=4 io_size=200k",
            |j| {
                fsync(4)(j);
                j.io_size = Some(200 << 10)
            },
            50,
            204_800,
            15,
        );
        check(
            "write fsync=4 io_size=48k loops=2",
            |j| {
                fsync(4)(j);
                j.io_size = Some(48 << 10);
                j.loops = 2
            },
            24,
            98_304,
            6,
        );
        let odd = |every| {
            move |job: &mut JobPlan| {
                job.region = 1_000_000;
                fsync(every)(job)
            }
        };
        check("write size=1000000 fsync=4", odd(4), 244, 999_424, 61);
        check("write size=1000000 fsync=1", odd(1), 244, 999_424, 244);
        check("randwrite size=1000000 fsync=61", odd(61), 244, 999_424, 4);
    }

    #[test]
    fn a_mixed_sequential_job_keeps_two_positions_and_touches_the_first_half() {
        let mut job = job("rw");
        job.region = 1 << 20;
        let mut script = Script::new(&job);
        let mut next = [0u64; 2];
        while let Step::Io { write, offset, .. } = script.next() {
            let position = &mut next[usize::from(write)];
            assert_eq!(offset, *position);
            *position += 4096;
        }
        assert_eq!(next[0] + next[1], 1 << 20);
        assert!(next.iter().all(|&end| end < (1 << 20) * 6 / 10));
    }

    #[test]
    fn a_random_mix_reads_or_writes_each_block_once_in_the_asked_proportion() {
        let mut job = job("randrw");
        (job.region, job.mix_read) = (4096 * 10_000, 70);
        let mut script = Script::new(&job);
        let mut seen = vec![false; 10_000];
        let mut reads = 0;
        while let Step::Io { write, offset, .. } = script.next() {
            assert!(!std::mem::replace(
                &mut seen[(offset / 4096) as usize],
                true
            ));
            reads += u32::from(!write);
        }
        assert!(seen.iter().all(|&hit| hit));
        // Standard deviation of 10000 draws at 70 %: 46.
        assert!((f64::from(reads) - 7000.0).abs() < 4.0 * 46.0, "{reads}");
    }

    #[test]
    fn loops_repeat_offsets_and_directions() {
        for random_map in [true, false] {
            let mut job = job("randrw");
            (job.loops, job.random_map) = (2, random_map);
            let mut script = Script::new(&job);
            let mut steps = Vec::new();
            loop {
                match script.next() {
                    Step::Exhausted => assert!(script.next_pass()),
                    Step::Complete => break,
                    step => steps.push(step),
                }
            }
            assert_eq!(steps.len(), 32);
            // Without a map there is no end of a pass, and so no repetition.
            assert_eq!(steps[..16] == steps[16..], random_map);
        }
    }

    #[test]
    fn the_region_begins_at_the_offset() {
        let mut job = job("randread");
        job.offset = 10 << 10;
        let mut script = Script::new(&job);
        let mut offsets = Vec::new();
        while let Step::Io { offset, .. } = script.next() {
            offsets.push(offset);
        }
        offsets.sort_unstable();
        assert!(
            offsets
                .iter()
                .copied()
                .eq((0..16).map(|block| (10 << 10) + block * 4096))
        );
    }

    #[test]
    fn endless_jobs_have_no_planned_counts() {
        let mut job = job("write");
        (job.time_based, job.runtime_ns) = (true, Some(1));
        assert_eq!(planned_counts(&job, 1000), None);
        job.runtime_ns = None; // fio warns and ignores time_based then
        assert_eq!(planned_counts(&job, 1000).unwrap().writes, 16);
    }
}
