//! The closed, typed plan of one fio job: everything the run needs, nothing that is text.

pub use super::parts::{
    AVERAGE_MS, Batch, Check, Logs, Order, Pace, Place, RangeSync, Ring, Service, Sizes, Spread,
    Steady, SteadyMetric, Strided, Submission, Think, Verify,
};
use crate::content::Content;

/// Which way the data goes, and in which order of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// Reads occur.
    pub reads: bool,
    /// Writes occur.
    pub writes: bool,
    /// Offsets are random.
    pub random: bool,
}

impl Pattern {
    /// fio's word for it.
    pub fn name(self) -> &'static str {
        match (self.reads, self.writes, self.random) {
            (true, true, false) => "rw",
            (true, true, true) => "randrw",
            (true, false, false) => "read",
            (true, false, true) => "randread",
            (false, _, false) => "write",
            (false, _, true) => "randwrite",
        }
    }

    /// Both directions occur.
    pub fn mixed(self) -> bool {
        self.reads && self.writes
    }
}

/// What moves the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// io_uring.
    Uring,
    /// pread and pwrite, one at a time.
    Sync,
    /// A helper thread per file (posixaio).
    Helper,
    /// Neighbouring I/Os of a sequential job gathered into one pwritev or preadv (vsync).
    Vector,
    /// The file mapped into memory.
    Mmap,
    /// A thread for each slot of the queue (`io_submit_mode=offload`).
    Offload,
    /// Nothing is moved.
    Null,
}

impl EngineKind {
    /// All of them.
    pub const ALL: [EngineKind; 7] = [
        EngineKind::Sync,
        EngineKind::Uring,
        EngineKind::Helper,
        EngineKind::Vector,
        EngineKind::Mmap,
        EngineKind::Offload,
        EngineKind::Null,
    ];

    /// The name in reports and for `--engine`.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Uring => "io_uring",
            EngineKind::Sync => "psync",
            EngineKind::Helper => "posixaio",
            EngineKind::Vector => "vsync",
            EngineKind::Mmap => "mmap",
            EngineKind::Offload => "offload",
            EngineKind::Null => "null",
        }
    }
}

/// When data is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Syncs {
    /// fsync after each so many writes; 0 never.
    pub fsync_every: u32,
    /// fdatasync after each so many writes; 0 never.
    pub fdatasync_every: u32,
    /// fsync at the end of each pass and of the job, inside the measured time.
    pub end_fsync: bool,
    /// fsync before each close.
    pub on_close: bool,
    /// The periodic syncs go through the queue (io_uring) instead of blocking the job.
    pub queued: bool,
}

/// How the space of a new file is provided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallocate {
    /// fallocate (fio's `native` and `posix`).
    Native,
    /// fallocate without changing the size.
    KeepSize,
    /// ftruncate only.
    Truncate,
    /// Not at all.
    None,
}

/// A test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlan {
    /// Its name in the sandbox: made from numbers, never from the text.
    pub name: String,
    /// The name that the text gave, for messages.
    pub label: String,
    /// Its size, bytes.
    pub bytes: u64,
    /// Some job reads it, so it is really written before the clock starts; in blocks of so
    /// many bytes.
    pub written_in: Option<u32>,
    /// How its space is provided.
    pub fallocate: Fallocate,
    /// It is fsynced after it was written (`create_fsync`).
    pub sync: bool,
    /// All of it is read before the clock starts (`pre_read`).
    pub pre_read: bool,
    /// It is the device that the person typed: nothing is made or laid out.
    pub device: bool,
}

/// One job: one thread with its own stream of I/O.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPlan {
    /// fio's job name.
    pub name: String,
    /// Job section it came from, counted from 0; clones share it.
    pub section: u32,
    /// Which clone (`numjobs`) it is, from 0.
    pub clone: u32,
    /// Jobs of one stage run together; the next stage waits for them (`stonewall`).
    pub stage: u32,
    /// Report group.
    pub group: u32,
    /// Clones are reported as one (`group_reporting`).
    pub group_reporting: bool,
    /// Direction and order.
    pub pattern: Pattern,
    /// Sizes of reads and writes.
    pub sizes: [Sizes; 2],
    /// Share of reads in a mix, per cent.
    pub mix_read: u8,
    /// Its files: indices into [`super::FioPlan::files`].
    pub files: Vec<usize>,
    /// Files open at a time.
    pub open_files: u32,
    /// Which file is next.
    pub service: Service,
    /// Start of the region in each file, bytes.
    pub offset: u64,
    /// Size of the region in each file, bytes; of the largest, where they differ.
    pub region: u64,
    /// Size of each file when the job was laid out, bytes; the regions' ends where it is smaller.
    pub file_bytes: u64,
    /// Sizes of the regions one by one, where they were drawn (`filesize=1m-4m`); else empty.
    pub drawn_regions: Vec<u64>,
    /// `io_size`: what is moved before the job is done, if not the region once a loop.
    pub io_size: Option<u64>,
    /// Passes.
    pub loops: u32,
    /// I/Os after which the job ends (`number_ios`).
    pub most_ios: Option<u64>,
    /// The files are made and that is all (`create_only`).
    pub create_only: bool,
    /// Longest run, ns.
    pub runtime_ns: Option<u64>,
    /// Wrap around the region until the run time is over.
    pub time_based: bool,
    /// Run-in that is not counted, ns.
    pub ramp_ns: u64,
    /// Queue depth that is really used.
    pub depth: u32,
    /// Queue depth that was asked for.
    pub asked_depth: u32,
    /// How many I/Os go and come at a time.
    pub batch: Batch,
    /// The engine that is used.
    pub engine: EngineKind,
    /// The engine that was asked for, by the job or with `--engine`, in fio's words.
    pub asked_engine: String,
    /// What is asked of io_uring.
    pub ring: Ring,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC.
    pub sync: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// Periodic and final syncs.
    pub syncs: Syncs,
    /// `sync_file_range`.
    pub range_sync: Option<RangeSync>,
    /// Drop the cache at open and at each wrap.
    pub invalidate: bool,
    /// Tell the kernel the order of offsets (`fadvise_hint`): true random, false sequential.
    pub hint: Option<bool>,
    /// The order of offsets.
    pub order: Order,
    /// How fast it may go.
    pub pace: Pace,
    /// Seed of the job's random streams.
    pub seed: u64,
    /// What is written.
    pub content: Content,
    /// What is read back and checked.
    pub verify: Option<Verify>,
    /// What is logged.
    pub logs: Logs,
    /// CPUs and priorities.
    pub place: Place,
    /// All jobs end when this one does (`exitall`).
    pub exit_all: bool,
    /// It may end when its rate has settled.
    pub steady: Option<Steady>,
}

impl JobPlan {
    /// A job of this pattern with fio's defaults over one file: blocks of 4 KiB, psync, and a
    /// region of `region` bytes.
    pub fn plain(name: &str, pattern: Pattern, region: u64) -> Self {
        JobPlan {
            name: name.to_owned(),
            section: 0,
            clone: 0,
            stage: 0,
            group: 0,
            group_reporting: false,
            pattern,
            sizes: [Sizes::One(4096), Sizes::One(4096)],
            mix_read: 50,
            files: vec![0],
            open_files: 1,
            service: Service::RoundRobin(1),
            offset: 0,
            region,
            file_bytes: region,
            drawn_regions: Vec::new(),
            io_size: None,
            loops: 1,
            most_ios: None,
            create_only: false,
            runtime_ns: None,
            time_based: false,
            ramp_ns: 0,
            depth: 1,
            asked_depth: 1,
            batch: Batch::default(),
            engine: EngineKind::Sync,
            asked_engine: "psync".to_owned(),
            ring: Ring::default(),
            direct: false,
            sync: false,
            dsync: false,
            syncs: Syncs::default(),
            range_sync: None,
            invalidate: true,
            hint: Some(pattern.random),
            order: Order::default(),
            pace: Pace::default(),
            seed: 1,
            content: Content::default(),
            verify: None,
            logs: Logs::default(),
            place: Place::default(),
            exit_all: false,
            steady: None,
        }
    }

    /// Bytes of all its regions together.
    pub fn all_regions(&self) -> u64 {
        if self.drawn_regions.is_empty() {
            return self.region.saturating_mul(self.files.len() as u64);
        }
        let regions = self.drawn_regions.iter();
        regions.fold(0, |sum: u64, &region| sum.saturating_add(region))
    }

    /// Size of its region in one of its files, by the file's number in the job, bytes.
    pub fn region_of(&self, file: usize) -> u64 {
        self.drawn_regions.get(file).copied().unwrap_or(self.region)
    }

    /// The bytes this job moves if it is not ended by time, as fio counts them.
    pub fn bytes_limit(&self) -> u64 {
        if self.create_only {
            return 0;
        }
        self.io_size
            .unwrap_or(self.all_regions())
            .saturating_mul(u64::from(self.loops.max(1)))
    }

    /// The time that rates and pauses take at least if the job is not ended by time, ns:
    /// bytes / rate, I/Os / rate_iops, and (I/Os / thinktime_blocks) * thinktime (fio pauses after the
    /// last I/O too), with as few I/Os as the largest block allows. Of a mix, both directions go at their rates at best.
    pub fn paced_ns(&self) -> u64 {
        // Both may end the job early, after a number of bytes that is not known here.
        if self.most_ios.is_some() || self.exit_all {
            return 0;
        }
        let bytes = self.bytes_limit();
        let ios = bytes / u64::from(self.largest_block().max(1));
        let used = [self.pattern.reads, self.pattern.writes];
        let total = |rates: [u64; 2]| {
            let of_used = || rates.iter().zip(used).filter(|(_, used)| *used);
            let bounded = of_used().all(|(&rate, _)| rate > 0);
            bounded.then(|| of_used().fold(0, |sum: u64, (rate, _)| sum.saturating_add(*rate)))
        };
        let time = |amount: u64, rates: [u64; 2]| match total(rates) {
            Some(rate) if rate > 0 => {
                let ns = u128::from(amount) * 1_000_000_000 / u128::from(rate);
                u64::try_from(ns).unwrap_or(u64::MAX)
            }
            _ => 0,
        };
        let pauses = self.pace.think.map_or(0, |think| {
            (ios / u64::from(think.blocks.max(1))).saturating_mul(think.ns)
        });
        time(bytes, self.pace.bytes)
            .max(time(ios, self.pace.ios))
            .max(pauses)
    }

    /// Whether it writes and does not make its last data durable itself.
    pub fn flushed_after(&self) -> bool {
        self.pattern.writes && !self.syncs.end_fsync && !self.syncs.on_close
    }

    /// The sizes of the directions that occur.
    fn used_sizes(&self) -> impl Iterator<Item = &Sizes> {
        let used = [self.pattern.reads, self.pattern.writes];
        self.sizes
            .iter()
            .zip(used)
            .filter(|(_, used)| *used)
            .map(|(sizes, _)| sizes)
    }

    /// The largest block, bytes.
    pub fn largest_block(&self) -> u32 {
        self.used_sizes().map(Sizes::largest).max().unwrap_or(0)
    }

    /// The smallest block, bytes.
    pub fn smallest_block(&self) -> u32 {
        self.used_sizes().map(Sizes::smallest).min().unwrap_or(0)
    }

    /// The one size of all blocks, if they have one.
    pub fn one_block(&self) -> Option<u32> {
        let all_one = self
            .used_sizes()
            .all(|sizes| matches!(sizes, Sizes::One(_)));
        (all_one && self.smallest_block() == self.largest_block()).then(|| self.largest_block())
    }

    /// Whether the job can only end by time.
    pub fn endless(&self) -> bool {
        self.time_based && self.runtime_ns.is_some() && !self.create_only
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A job as `fio --name=j --rw=write --bs=4k --size=64k` makes one.
    pub(crate) fn job(pattern: &str) -> JobPlan {
        let mixed = pattern.ends_with("rw");
        let pattern = Pattern {
            reads: mixed || pattern.ends_with("read"),
            writes: mixed || pattern.ends_with("write"),
            random: pattern.starts_with("rand"),
        };
        JobPlan::plain("j", pattern, 64 << 10)
    }

    #[test]
    fn patterns_have_fio_s_names() {
        for name in ["read", "write", "rw", "randread", "randwrite", "randrw"] {
            assert_eq!(job(name).pattern.name(), name);
        }
    }

    #[test]
    fn sizes_know_their_bounds() {
        let split = Sizes::Split(vec![(8192, 30), (4096, 60), (65_536, 10)]);
        assert_eq!((split.smallest(), split.largest()), (4096, 65_536));
        assert_eq!(Sizes::Range(512, 4096).range(), "512-4096");
        let mut job = job("rw");
        job.sizes = [Sizes::One(4096), split];
        assert_eq!(
            (job.smallest_block(), job.largest_block(), job.one_block()),
            (4096, 65_536, None)
        );
        job.pattern.writes = false;
        assert_eq!(job.one_block(), Some(4096));
    }
}
