//! The parts of a job: block sizes, order of offsets, pace, verification, place.

/// The sizes of the blocks of one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// All alike, bytes.
    One(u32),
    /// Drawn between two sizes (`bsrange`), bytes.
    Range(u32, u32),
    /// Drawn from a list of sizes in bytes with their shares in per cent (`bssplit`).
    Split(Vec<(u32, u8)>),
}

impl Sizes {
    /// The smallest, bytes.
    pub fn smallest(&self) -> u32 {
        match self {
            Sizes::One(size) | Sizes::Range(size, _) => *size,
            Sizes::Split(parts) => parts.iter().map(|part| part.0).min().unwrap_or(0),
        }
    }

    /// The largest, bytes.
    pub fn largest(&self) -> u32 {
        match self {
            Sizes::One(size) | Sizes::Range(_, size) => *size,
            Sizes::Split(parts) => parts.iter().map(|part| part.0).max().unwrap_or(0),
        }
    }

    /// fio's way to write it, as far as `bs` or `bsrange` can.
    pub fn range(&self) -> String {
        format!("{}-{}", self.smallest(), self.largest())
    }
}

/// How random offsets are spread over the region.
#[derive(Debug, Clone, PartialEq)]
pub enum Spread {
    /// Evenly.
    Even,
    /// By a power law with this exponent (`zipf`).
    Zipf(f64),
    /// By a Pareto law with this input (`pareto`).
    Pareto(f64),
    /// In a bell of this width in per cent of the region (`normal`).
    Normal(f64),
    /// Shares of the accesses to shares of the region, both in per cent (`zoned`).
    Zoned(Vec<(u8, u8)>),
}

/// Zones that are gone through one after the other (`zonemode=strided`), bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strided {
    /// What is moved in a zone before the next begins (`zonesize`).
    pub size: u64,
    /// The part of the file it is moved in (`zonerange`).
    pub range: u64,
    /// What is left out between two zones (`zoneskip`).
    pub skip: u64,
}

/// The order of offsets, beyond sequential and random.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// A random pass touches each block once; else draws repeat (`norandommap`).
    pub random_map: bool,
    /// How random offsets are spread.
    pub spread: Spread,
    /// Share of offsets that are random in a random job, per cent, of reads and writes.
    pub percent_random: [u8; 2],
    /// Random offsets are multiples of this (`blockalign`), bytes, if not of the smallest block.
    pub align: Option<u32>,
    /// Drawn sizes are not rounded to the smallest block (`bs_unaligned`).
    pub unaligned: bool,
    /// I/Os per new position (`rw=randread:8`); 1 without.
    pub run: u32,
    /// Bytes added to the position after each I/O (`rw=read:4k`, `rw=write:-8k`).
    pub gap: i64,
    /// A run repeats its offset instead of going on (`rw_sequencer=identical`).
    pub identical: bool,
    /// Zones.
    pub strided: Option<Strided>,
}

impl Default for Order {
    fn default() -> Self {
        Order {
            random_map: true,
            spread: Spread::Even,
            percent_random: [100; 2],
            align: None,
            unaligned: false,
            run: 1,
            gap: 0,
            identical: false,
            strided: None,
        }
    }
}

/// Which file the next I/O goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// So many I/Os each in turn.
    RoundRobin(u32),
    /// So many I/Os to one drawn at random, then another.
    Random(u32),
    /// One file after the other.
    Sequential,
}

/// How many I/Os go and come at a time; 0 where nothing is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Batch {
    /// I/Os per hand-over (`iodepth_batch`).
    pub submit: u32,
    /// Completions to wait for once the queue is full (`iodepth_batch_complete_min`).
    pub complete: u32,
    /// Most completions that fio takes at a time (`iodepth_batch_complete_max`); what is there
    /// is taken here.
    pub complete_most: u32,
    /// The queue drains to this before it is filled again (`iodepth_low`).
    pub low: u32,
}

/// A pause after so many I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Think {
    /// Its length, ns.
    pub ns: u64,
    /// The part of it that keeps the CPU busy, ns.
    pub spin_ns: u64,
    /// I/Os between two pauses.
    pub blocks: u32,
}

/// How fast the job may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pace {
    /// Bytes per second of reads and writes; 0 without bound.
    pub bytes: [u64; 2],
    /// I/Os per second of reads and writes; 0 without bound.
    pub ios: [u64; 2],
    /// The gaps are drawn (exponential) instead of even.
    pub poisson: bool,
    /// Pauses.
    pub think: Option<Think>,
    /// Wait before the clock starts, ns.
    pub delay_ns: u64,
}

impl Pace {
    /// Whether any I/O may have to wait.
    pub fn bounded(&self) -> bool {
        self.bytes != [0; 2] || self.ios != [0; 2]
    }
}

/// What a written block carries so that it can be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// A header with the CRC-32C of the rest.
    Crc32c,
    /// A header with the MD5 of the rest.
    Md5,
    /// The pattern, over and over.
    Pattern(Vec<u8>),
    /// Nothing (`verify=null`): blocks are read back and not looked at.
    Null,
}

/// Verification of what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    /// How.
    pub check: Check,
    /// Read back after each so many writes; 0: after the pass.
    pub backlog: u32,
    /// What was written is read back (`do_verify`); else it is only made checkable.
    pub read_back: bool,
}

/// fio's logs of a job, and the windows of its series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logs {
    /// `write_bw_log`.
    pub rate: bool,
    /// `write_iops_log`.
    pub iops: bool,
    /// `write_lat_log`.
    pub latency: bool,
    /// `log_avg_msec`, ms; 0 is each I/O by itself.
    pub average_ms: u32,
    /// A window's latency is its largest, not its mean (`log_max_value`).
    pub largest: bool,
    /// All jobs have one log together (`per_job_logs=0`).
    pub together: bool,
    /// `bwavgtime`, ms.
    pub rate_ms: Option<u32>,
    /// `iopsavgtime`, ms.
    pub iops_ms: Option<u32>,
}

/// fio's default of `bwavgtime` and `iopsavgtime`, ms.
pub const AVERAGE_MS: u32 = 500;

impl Logs {
    /// The logs to be written where some are: all, over windows, if the job names none.
    pub fn asked(&self) -> Logs {
        if self.rate || self.iops || self.latency {
            return *self;
        }
        Logs {
            rate: true,
            iops: true,
            latency: true,
            average_ms: match self.average_ms {
                0 => AVERAGE_MS,
                given => given,
            },
            ..*self
        }
    }

    /// The windows that rates are averaged over, ms: `bwavgtime`, else what the log asks for.
    pub fn rate_window_ms(&self) -> u32 {
        self.window_ms(self.rate_ms, self.rate)
    }

    /// The windows that IOPS are averaged over, ms: `iopsavgtime`, else what the log asks for.
    pub fn iops_window_ms(&self) -> u32 {
        self.window_ms(self.iops_ms, self.iops)
    }

    fn window_ms(&self, given: Option<u32>, logged: bool) -> u32 {
        let log = Some(self.average_ms).filter(|&ms| logged && ms > 0);
        given.or(log).unwrap_or(AVERAGE_MS).max(1)
    }

    /// The windows of the series, ms, that all others are made of.
    pub fn series_ms(&self) -> u32 {
        fn common(a: u32, b: u32) -> u32 {
            if b == 0 { a } else { common(b, a % b) }
        }
        let windows = common(self.rate_window_ms(), self.iops_window_ms());
        common(windows, AVERAGE_MS)
    }
}

/// `sync_file_range` after so many writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeSync {
    /// Writes between two calls.
    pub every: u32,
    /// SYNC_FILE_RANGE_* bits.
    pub flags: u32,
}

/// Where the job's thread runs and how it is treated there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// CPUs it may use; any if empty.
    pub cpus: Vec<u32>,
    /// Niceness.
    pub nice: i32,
    /// I/O priority: class and level.
    pub io_priority: Option<(u16, u16)>,
}

/// What a job asks of the kernel's interface beyond the usual: of io_uring, and the flags of
/// preadv2 too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ring {
    /// A thread of the kernel takes the submissions (`sqthread_poll`).
    pub kernel_thread: bool,
    /// The CPU that this thread runs on (`sqthread_poll_cpu`).
    pub kernel_thread_cpu: Option<u32>,
    /// Completions are polled for (`hipri`).
    pub poll: bool,
    /// What was moved is dropped from the page cache at once (`uncached`).
    pub uncached: bool,
    /// Every I/O goes to a worker thread (`force_async`).
    pub force_async: bool,
    /// An I/O that would wait fails (`nowait`).
    pub nowait: bool,
    /// The original registers its files with the kernel (`registerfiles`).
    pub registered_files: bool,
    /// The original registers its buffers with the kernel (`fixedbufs`).
    pub registered_buffers: bool,
}

/// What `steadystate` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyMetric {
    /// Bytes per second.
    Rate,
    /// I/Os per second.
    Ios,
}

/// When a job is steady and may end (`steadystate`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// What is looked at.
    pub metric: SteadyMetric,
    /// Its slope per second, else its largest distance from the mean.
    pub slope: bool,
    /// What that must be below: the metric's unit, or per cent of the mean.
    pub limit: f64,
    /// The limit is in per cent.
    pub percent: bool,
    /// Seconds that are looked at.
    pub window_s: u32,
    /// Time that is left out before, ns.
    pub ramp_ns: u64,
}

impl Steady {
    /// `steadystate=iops_slope:0.3%` and the like, with a window yet to be given.
    pub fn parse(text: &str) -> Option<Steady> {
        let (what, limit) = text.split_once(':')?;
        let (metric, slope) = match what {
            "iops" => (SteadyMetric::Ios, false),
            "iops_slope" => (SteadyMetric::Ios, true),
            "bw" => (SteadyMetric::Rate, false),
            "bw_slope" => (SteadyMetric::Rate, true),
            _ => return None,
        };
        let percent = limit.ends_with('%');
        let limit: f64 = limit.trim_end_matches('%').parse().ok()?;
        (limit > 0.0 && limit.is_finite()).then_some(Steady {
            metric,
            slope,
            limit,
            percent,
            window_s: 0,
            ramp_ns: 0,
        })
    }
}

impl Ring {
    /// Whether a single I/O carries a flag (RWF_HIPRI, RWF_NOWAIT, RWF_DONTCACHE).
    pub fn flags_ios(&self) -> bool {
        self.poll || self.uncached || self.nowait
    }
}

/// Who hands the I/Os over (`io_submit_mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Submission {
    /// The job's own thread.
    #[default]
    Inline,
    /// A thread for each slot of the queue.
    Offload,
}
