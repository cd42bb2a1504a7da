//! Workloads: what was asked of the disk, in words that both fio and dd can be put into.
//!
//! A [`Workload`] is read from a command line, a job file, a report's header line or its JSON, and travels inside
//! the record, so that `fio-replay` can run it again and `fio-compare` can tell two tests apart. What is
//! understood is typed; what is not stands verbatim in `other`, for an option lost silently would make two
//! different runs look equal. An absent field means that nothing was said and the tool's default holds.

mod arguments;
mod arithmetic;
pub mod command;
mod dd;
mod entities;
mod fio;
pub mod header;
pub mod jobfile;
mod key;
mod locate;
mod numbers;
pub mod options;
pub mod places;
pub mod print;
mod shell;
mod tail;
mod word;
mod wrapping;

pub use fio::job_of_options;
use key::key;

use crate::record::Direction;
use crate::source::Span;
use crate::unit::{Bytes, Nanos};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// A short text that is equal for equal tests; see [`Workload::key`].
    pub key: String,
    /// What it was read from.
    pub written_as: WrittenAs,
    /// The command as it stands in the text, cut at the first shell operator after it; absent where it was no command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Where it stands in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The test itself.
    #[serde(flatten)]
    pub test: Test,
    /// What stood around the command: `sudo`, `time`, `sync` before or after, a pipe.
    #[serde(default, skip_serializing_if = "Wrapping::is_empty")]
    pub around: Wrapping,
    /// Options of fio itself rather than of a job (`output-format`, `eta`), in order, main name and value as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<(String, String)>,
    /// What must be known before it can be run: names of variables (`SIZE` for `$SIZE`, `{SIZE}` or `<SIZE>`), and
    /// `file:NAME` for a job file, `words:$X` where a variable stands for whole words, `value:NAME` for an option
    /// that was cut off, `optional:[…]`, and `option:name` where fio would have found no job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What was repaired, dropped, or means something else than it seems, in stable words, some with a detail behind a
    /// colon. Repaired: `rejoined-lines`, `repaired-typography`, `repaired-blanks`, `repaired-dashes:`,
    /// `unfinished-quote`, `decoded-html`, `decoded-quoted-printable`, `lower-cased:`, `prefix:loop=loops`,
    /// `assumed:direct=1`, `assumed:stonewall=1` (a header's group grew). Read from a rounded figure:
    /// `rounded:bs=(R) 64.0KiB-64.0KiB, …`. Dropped: `dropped:sudo`, `shell-tail-dropped`, `trailing-text-dropped`. Meaning:
    /// `kib-is-1000:size=64KiB`, `bsd-number:bs=1g`, `gnu-number:bs=1MB`, `unknown-option:`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normalised: Vec<String>,
}

/// What a workload was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WrittenAs {
    /// A fio command line.
    FioCommand,
    /// A fio job file.
    FioJobFile,
    /// The header lines of a fio report (`name: (g=0): rw=…`).
    FioHeader,
    /// The `job options` of fio's JSON.
    FioJson,
    /// A dd command line.
    DdCommand,
}

/// The test: fio jobs or one dd.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// fio jobs, in order, inheritance resolved.
    Jobs(Vec<Job>),
    /// One dd.
    Dd(Box<Dd>),
}

/// One fio job with its options, inheritance resolved. fio's own names; an absent option has fio's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Job {
    /// `name`.
    pub name: String,
    /// `rw`: `read`, `randwrite`, … in fio's main spelling (`rw` for `readwrite`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// `ioengine`, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// `bs` of reads, and of all directions that have none of their own.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub block_bytes: Option<Bytes>,
    /// `bs` of writes, where it differs.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub write_block_bytes: Option<Bytes>,
    /// `bs` of trims, where it differs.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub trim_block_bytes: Option<Bytes>,
    /// `size`: the address space, not the amount.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub size_bytes: Option<Bytes>,
    /// `io_size`: the amount of I/O.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub io_size_bytes: Option<Bytes>,
    /// `filesize`, where it is one value.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub file_bytes: Option<Bytes>,
    /// `offset`, in bytes.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub offset_bytes: Option<Bytes>,
    /// `iodepth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// `numjobs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// `runtime`.
    #[serde(skip_serializing_if = "Option::is_none", with = "nanos")]
    pub runtime_ns: Option<Nanos>,
    /// `ramp_time`.
    #[serde(skip_serializing_if = "Option::is_none", with = "nanos")]
    pub ramp_ns: Option<Nanos>,
    /// `time_based`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_based: Option<bool>,
    /// `loops`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops: Option<u64>,
    /// `direct` (or `buffered`, inverted; the last one given counts).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// `sync`: `none`, `sync` or `dsync`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncFlag>,
    /// `fsync`: a sync after this many writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fsync: Option<u64>,
    /// `fdatasync`: likewise, data only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fdatasync: Option<u64>,
    /// `end_fsync`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_fsync: Option<bool>,
    /// `fsync_on_close`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fsync_on_close: Option<bool>,
    /// `rwmixread` (or 100 less `rwmixwrite`; the last one given counts).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwmixread: Option<u32>,
    /// `group_reporting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_reporting: Option<bool>,
    /// `stonewall`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stonewall: Option<bool>,
    /// `filename`, as written. A label: nothing of that name is ever opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// `directory`, as written. A label too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// `nrfiles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nrfiles: Option<u32>,
    /// Every other option in order, main name and value as written; a bare flag has the value `1`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<(String, String)>,
}

impl Job {
    /// The value of an option that was given and not understood: a variable, a rounded figure, `100%`.
    pub fn unread(&self, option: &str) -> Option<&str> {
        let given = self.other.iter().find(|(name, _)| name == option)?;
        Some(&given.1)
    }

    /// Likewise, the block sizes where there is more than one or they were not understood; the tool's default does not
    /// hold then.
    pub fn unread_blocks(&self) -> Option<&str> {
        ["bs", "bssplit", "bsrange"]
            .into_iter()
            .find_map(|option| self.unread(option))
    }
}

/// `rw` of fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random trims.
    RandTrim,
    /// Sequential reads and writes.
    #[serde(alias = "readwrite")]
    Rw,
    /// Random reads and writes.
    RandRw,
    /// Trim, then write, block by block.
    TrimWrite,
    /// The same at random places.
    RandTrimWrite,
}

impl Pattern {
    /// All patterns.
    pub const ALL: [Pattern; 10] = [
        Pattern::Read,
        Pattern::Write,
        Pattern::Trim,
        Pattern::RandRead,
        Pattern::RandWrite,
        Pattern::RandTrim,
        Pattern::Rw,
        Pattern::RandRw,
        Pattern::TrimWrite,
        Pattern::RandTrimWrite,
    ];

    /// fio's spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Pattern::Read => "read",
            Pattern::Write => "write",
            Pattern::Trim => "trim",
            Pattern::RandRead => "randread",
            Pattern::RandWrite => "randwrite",
            Pattern::RandTrim => "randtrim",
            Pattern::Rw => "rw",
            Pattern::RandRw => "randrw",
            Pattern::TrimWrite => "trimwrite",
            Pattern::RandTrimWrite => "randtrimwrite",
        }
    }

    /// From fio's spelling; `readwrite` is `rw`.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "readwrite" {
            return Some(Pattern::Rw);
        }
        Self::ALL.into_iter().find(|p| p.as_str() == name)
    }

    /// Whether offsets are drawn at random.
    pub fn is_random(self) -> bool {
        matches!(
            self,
            Pattern::RandRead
                | Pattern::RandWrite
                | Pattern::RandTrim
                | Pattern::RandRw
                | Pattern::RandTrimWrite
        )
    }

    /// Whether it reads.
    pub fn reads(self) -> bool {
        matches!(
            self,
            Pattern::Read | Pattern::RandRead | Pattern::Rw | Pattern::RandRw
        )
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Pattern::Write
                | Pattern::RandWrite
                | Pattern::Rw
                | Pattern::RandRw
                | Pattern::TrimWrite
                | Pattern::RandTrimWrite
        )
    }
}

/// How a file is opened for synchronous writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SyncFlag {
    /// Not.
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// One dd with its operands; an absent operand has dd's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dd {
    /// `if`, as written; absent: standard input. A label: only `/dev/zero`, `/dev/urandom` and `/dev/random` mean something to a replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// `of`, as written; absent: standard output. A label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// `bs`.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub block_bytes: Option<Bytes>,
    /// `ibs`.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub input_block_bytes: Option<Bytes>,
    /// `obs`.
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub output_block_bytes: Option<Bytes>,
    /// `count`, in blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// `count` in bytes (`iflag=count_bytes`, or a number ending in `B`).
    #[serde(skip_serializing_if = "Option::is_none", with = "bytes")]
    pub count_bytes: Option<Bytes>,
    /// `skip` (`iseek`), in input blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<u64>,
    /// `seek` (`oseek`), in output blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seek: Option<u64>,
    /// `conv`, item by item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conv: Vec<String>,
    /// `iflag`, item by item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iflag: Vec<String>,
    /// `oflag`, item by item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oflag: Vec<String>,
    /// Every other operand, name and value as written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<(String, String)>,
}

impl Dd {
    /// Whether `item` is in `list` (one of `conv`, `iflag`, `oflag`).
    pub fn has(list: &[String], item: &str) -> bool {
        list.iter().any(|have| have == item)
    }

    /// How many bytes the command asks for: count times block, if a count is given.
    pub fn asked_bytes(&self) -> Option<Bytes> {
        if let Some(bytes) = self.count_bytes {
            return Some(bytes);
        }
        let block = self
            .block_bytes
            .or(self.input_block_bytes)
            .unwrap_or(Bytes(512));
        self.count?.checked_mul(block.0).map(Bytes)
    }

    /// Which way bytes went: written, unless they were thrown away.
    ///
    /// `None` where the command does not tell: no output file, and an input that is no source of zeros.
    pub fn direction(&self) -> Option<Direction> {
        const SINKS: [&str; 5] = ["/dev/null", "/dev/zero", "NUL", "nul", "\\\\.\\NUL"];
        const SOURCES: [&str; 4] = ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/null"];
        match (self.input.as_deref(), self.output.as_deref()) {
            (_, Some(output)) if SINKS.contains(&output) => Some(Direction::Read),
            (_, Some(_)) => Some(Direction::Write),
            (Some(input), None) if !SOURCES.contains(&input) => Some(Direction::Read),
            (_, None) => None,
        }
    }
}

/// What stood around a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wrapping {
    /// A `sync` before it in the same line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sync_before: bool,
    /// A `sync` after it (`&& sync`, `; sync`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sync_after: bool,
    /// What `time` was put in front of, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timed: Option<Timed>,
    /// The shell's tail that was cut off: a pipe, a redirect, `&`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<String>,
    /// Programs in front, dropped: `sudo`, `nice`, `taskset …`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefix: Vec<String>,
}

impl Wrapping {
    /// Whether nothing stood around it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a `time` in a command covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timed {
    /// The tool alone.
    Run,
    /// The tool and the `sync` after it: `time sh -c "dd … && sync"`.
    RunAndSync,
    /// The `sync` alone: `dd …; time sync`.
    Sync,
    /// The `sync` in front and the tool.
    SyncAndRun,
    /// A pipeline.
    Pipeline,
    /// More than the tool.
    RunAndMore,
}

impl Workload {
    /// A workload of `test` with nothing around it; its key is made here.
    pub fn new(written_as: WrittenAs, test: Test) -> Self {
        Self {
            key: key(&test),
            written_as,
            command: None,
            span: None,
            test,
            around: Wrapping::default(),
            program: Vec::new(),
            missing: Vec::new(),
            normalised: Vec::new(),
        }
    }

    /// The fio jobs; none for dd.
    pub fn jobs(&self) -> &[Job] {
        match &self.test {
            Test::Jobs(jobs) => jobs,
            Test::Dd(_) => &[],
        }
    }

    /// The dd; none for fio.
    pub fn dd(&self) -> Option<&Dd> {
        match &self.test {
            Test::Dd(dd) => Some(dd),
            Test::Jobs(_) => None,
        }
    }
}

mod bytes {
    //! `Option<Bytes>` as a plain whole number; the key says the unit.
    use super::{Bytes, Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(
        value: &Option<Bytes>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(bytes) => serializer.serialize_u64(bytes.0),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Bytes>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Bytes))
    }
}

mod nanos {
    //! `Option<Nanos>` as a plain whole number of nanoseconds; the key says the unit.
    use super::{Deserialize, Deserializer, Nanos, Serializer};

    pub fn serialize<S: Serializer>(
        value: &Option<Nanos>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(nanos) => serializer.serialize_u64(nanos.get().round() as u64),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Nanos>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.and_then(|ns| Nanos::new(ns as f64)))
    }
}
