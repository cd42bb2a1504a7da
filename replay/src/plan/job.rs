//! The closed, typed plan of one fio job: everything the run needs, nothing that is text.

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
    /// Nothing is moved.
    Null,
}

impl EngineKind {
    /// The name in reports and for `--engine`.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Uring => "io_uring",
            EngineKind::Sync => "psync",
            EngineKind::Helper => "posixaio",
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
    /// Bytes per read.
    pub read_bytes: u32,
    /// Bytes per write.
    pub write_bytes: u32,
    /// Share of reads in a mix, per cent.
    pub mix_read: u8,
    /// Index into [`super::FioPlan::files`].
    pub file: usize,
    /// Start of the region in the file, bytes.
    pub offset: u64,
    /// Size of the region, bytes.
    pub region: u64,
    /// `io_size`: what is moved before the job is done, if not the region once a loop.
    pub io_size: Option<u64>,
    /// Passes.
    pub loops: u32,
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
    /// The engine that is used.
    pub engine: EngineKind,
    /// The engine that was asked for, in fio's words.
    pub asked_engine: String,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC.
    pub sync: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// Periodic and final syncs.
    pub syncs: Syncs,
    /// Drop the cache at open and at each wrap.
    pub invalidate: bool,
    /// Tell the kernel the order of offsets (`fadvise_hint`).
    pub hint: bool,
    /// A random pass touches each block once; else draws repeat (`norandommap`).
    pub random_map: bool,
    /// Seed of the job's random streams.
    pub seed: u64,
    /// What is written.
    pub content: Content,
}

impl JobPlan {
    /// The bytes this job moves if it is not ended by time, as fio counts them.
    pub fn bytes_limit(&self) -> u64 {
        self.io_size
            .unwrap_or(self.region)
            .saturating_mul(u64::from(self.loops.max(1)))
    }

    /// The largest block, bytes.
    pub fn largest_block(&self) -> u32 {
        match (self.pattern.reads, self.pattern.writes) {
            (true, true) => self.read_bytes.max(self.write_bytes),
            (true, false) => self.read_bytes,
            (false, _) => self.write_bytes,
        }
    }

    /// The smallest block, bytes.
    pub fn smallest_block(&self) -> u32 {
        match (self.pattern.reads, self.pattern.writes) {
            (true, true) => self.read_bytes.min(self.write_bytes),
            (true, false) => self.read_bytes,
            (false, _) => self.write_bytes,
        }
    }

    /// Whether the job can only end by time.
    pub fn endless(&self) -> bool {
        self.time_based && self.runtime_ns.is_some()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A job as `fio --name=j --rw=write --bs=4k --size=64k` makes one.
    pub(crate) fn job(pattern: &str) -> JobPlan {
        let random = pattern.starts_with("rand");
        let mixed = pattern.ends_with("rw");
        JobPlan {
            name: "j".to_owned(),
            section: 0,
            clone: 0,
            stage: 0,
            group: 0,
            group_reporting: false,
            pattern: Pattern {
                reads: mixed || pattern.ends_with("read"),
                writes: mixed || pattern.ends_with("write"),
                random,
            },
            read_bytes: 4096,
            write_bytes: 4096,
            mix_read: 50,
            file: 0,
            offset: 0,
            region: 64 << 10,
            io_size: None,
            loops: 1,
            runtime_ns: None,
            time_based: false,
            ramp_ns: 0,
            depth: 1,
            asked_depth: 1,
            engine: EngineKind::Sync,
            asked_engine: "psync".to_owned(),
            direct: false,
            sync: false,
            dsync: false,
            syncs: Syncs::default(),
            invalidate: true,
            hint: true,
            random_map: true,
            seed: 1,
            content: Content::Scrambled,
        }
    }

    #[test]
    fn patterns_have_fio_s_names() {
        for name in ["read", "write", "rw", "randread", "randwrite", "randrw"] {
            assert_eq!(job(name).pattern.name(), name);
        }
    }
}
