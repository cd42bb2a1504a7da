//! The record: one measured direction of one report scope, and its JSON line.
//!
//! Long because every field that goes over the wire stands here, in one place.
//!
//! A record is evidence, not an opinion. It holds what was printed, where, and the interval of numbers that would
//! print so. Anything inferred (ratios, IOPS from bandwidth and block size, rankings) belongs to who reads it.
//!
//! On the wire it is one JSON object a line, each starting with `"v":1`; there is no header, so `cat`, `grep`,
//! `head` and `jq` keep working. Units stand in the key names and are base units. A new optional field keeps the
//! version, and readers ignore what they don't know; a field renamed, removed or given another meaning raises it.
//!
//! A mixed job gives a read and a write record. Jobs and the group they belong to have the same `run` number and
//! differ by `scope`; who adds up uses one scope of a run, the group first, and so counts nothing twice.
//!
//! Long because the types of the wire format stand together.

pub use crate::claim::{Against, Agreement, Claim};
pub use crate::detail::{CountBucket, Depths, Details, DiskStats, LatencyBucket, LatencyTarget};
use crate::diagnostic::Diagnostic;
pub use crate::reading::{Printed, Reading, Texts};
use crate::source::Span;
use crate::unit::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use crate::wire;
use crate::workload::Workload;
use compact_str::CompactString;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::io;
use std::sync::Arc;

/// The version of the wire format that is written.
pub const VERSION: u32 = 1;

/// One measured direction of one report scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The wire version; [`VERSION`] in every record of this library.
    pub v: WireVersion,
    /// The input and the tool.
    pub source: Source,
    /// The machine (or whatever the author compares) that the result belongs to, as the text calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Label>,
    /// The device, where a structured place names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Box<Label>>,
    /// Headings that the result stands under, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub section: Vec<Label>,
    /// What was run, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Arc<Workload>>,
    /// One invocation of the tool, counted from one within the source.
    pub run: u32,
    /// What part of the report it sums up.
    pub scope: Scope,
    /// Which way bytes went.
    pub direction: Direction,
    /// The readings.
    pub measurement: Measurement,
    /// Errors that the job reported; a record with errors is no result to compare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<JobError>,
    /// Whether the run ended before its time (Ctrl-C, no space); what was measured until then is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What the report says beside its figures: when it was printed, what the disks did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    /// For a replayed run: how close it came to the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Box<Fidelity>>,
    /// For a replayed run: facts of the machine, by name.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub environment: serde_json::Map<String, serde_json::Value>,
    /// What the author of the text states about the result; never part of the measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// What is odd about the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Diagnostic>,
}

/// The version of a record's line. Lines of other versions are refused with a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireVersion;

impl Serialize for WireVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(VERSION)
    }
}

impl<'de> Deserialize<'de> for WireVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            VERSION => Ok(Self),
            other => Err(D::Error::custom(format_args!(
                "expected a record of version {VERSION}, found version {other}; a newer release may read it"
            ))),
        }
    }
}

/// The input and the tool that printed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// The name of the input: a path as given, `-`, or a label.
    pub name: Arc<str>,
    /// The span of the block that the record was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The line where that block starts, from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The form of the report.
    pub dialect: Dialect,
    /// The program that measured.
    pub tool: Tool,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dialect {
    /// A job section of fio's normal output.
    FioJob,
    /// A line below `Run status group`.
    FioGroup,
    /// fio's JSON or JSON+.
    FioJson,
    /// fio's terse output.
    FioTerse,
    /// A bandwidth, IOPS or latency log of fio.
    FioLog,
    /// dd's report.
    Dd,
    /// A summary that another tool made of fio or dd runs.
    Summary,
    /// Measured by `fio-replay`.
    Replay,
}

/// The program that measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `fio`, `dd`, `fio-replay`, or the name of the script.
    pub name: CompactString,
    /// The version as printed: `fio-3.33`, `9.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<CompactString>,
    /// The kind of dd, told from its report: `gnu`, `bsd`, `busybox`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementation: Option<CompactString>,
}

impl Tool {
    /// A tool of which only the name is known.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// A name for something, with the text that says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The name as it is shown. May be the noun phrase of a longer text, which is then in `full`.
    pub text: Arc<str>,
    /// The whole text that the name was taken from, where it is longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<Arc<str>>,
    /// Where the whole text stands; none for what was given on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// How it was found.
    pub by: LabelSource,
    /// Whether another reading is as good as this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
}

/// How a label was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LabelSource {
    /// A heading.
    Heading,
    /// A short line right above the report.
    Caption,
    /// The last sentence above the command.
    Sentence,
    /// An item of a list.
    ListItem,
    /// A cell of a table.
    Cell,
    /// The host in a shell prompt or in the tool's own output.
    Hostname,
    /// A title that a script printed with `echo`.
    Echo,
    /// The name of the file.
    File,
    /// Said on the command line.
    Flag,
}

/// Which part of a report a record sums up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// What kind of part.
    pub kind: ScopeKind,
    /// fio's group number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// The job's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<CompactString>,
    /// How many jobs it sums up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// In client/server runs, the host it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<CompactString>,
}

impl Scope {
    /// A scope of which only the kind is known.
    pub fn of(kind: ScopeKind) -> Self {
        Self {
            kind,
            group: None,
            job: None,
            jobs: None,
            host: None,
        }
    }

    /// Makes it the scope of a server that a client talks to: its jobs are a client's, its groups stay groups.
    pub fn of_host(&mut self, host: &str) {
        if self.kind == ScopeKind::Job {
            self.kind = ScopeKind::Client;
        }
        self.host = Some(host.into());
    }
}

/// The kinds of scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ScopeKind {
    /// One job, or the jobs that report together.
    Job,
    /// A group of jobs, from its group line.
    Group,
    /// The whole of a run that knows no jobs: dd.
    Run,
    /// One client of a client/server run.
    Client,
    /// The sum over all clients; never added to its parts.
    AllClients,
}

/// Which way bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the device.
    Read,
    /// To the device.
    Write,
    /// Discards.
    Trim,
    /// fio's sum over directions, as it prints with `unified_rw_reporting`.
    Mixed,
}

impl Direction {
    /// The word that stands in JSON and in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
            Direction::Mixed => "mixed",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The readings of one direction. Each is there if it was printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measurement {
    /// Bytes over the tool's own window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_sec: Option<Reading<BytesPerSec>>,
    /// Bytes moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Reading<Bytes>>,
    /// I/Os over the tool's own window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<Reading<Iops>>,
    /// The tool's own window; for a group the longest of its jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_ns: Option<Reading<Nanos>>,
    /// For a group, the shortest window of its jobs where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_ns_min: Option<Reading<Nanos>>,
    /// For a group, the rate of its slowest job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_sec_min: Option<Reading<BytesPerSec>>,
    /// For a group, the rate of its fastest job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_sec_max: Option<Reading<BytesPerSec>>,
    /// The time the shell measured (`real`) around the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<Reading<Nanos>>,
    /// What the shell's time covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_covers: Option<WallCovers>,
    /// Processor time in user mode, by the shell's `user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_ns: Option<Reading<Nanos>>,
    /// Processor time in the kernel, by the shell's `sys`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_ns: Option<Reading<Nanos>>,
    /// From the start of the window to the end of the last I/O, without the final flush. Measured, never inferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_phase_ns: Option<Reading<Nanos>>,
    /// The final flush of the test's own files (`end_fsync`, `conv=fsync`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_ns: Option<Reading<Nanos>>,
    /// A `sync` that followed the run, as its own stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_ns: Option<Reading<Nanos>>,
    /// Submission latency: from the I/O chosen to the submit call done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slat_ns: Option<Box<Latency>>,
    /// Completion latency: from submission to completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clat_ns: Option<Box<Latency>>,
    /// Total latency: from the I/O chosen to completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat_ns: Option<Box<Latency>>,
    /// Latency of fsync, fdatasync and sync_file_range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_lat_ns: Option<Box<Latency>>,
    /// Latencies by priority, where fio tells several apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityLatency>,
    /// Whether the job became steady, where it was asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_state: Option<Box<SteadyState>>,
    /// fio's statistics over samples of (usually) 500 ms; other averages than the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Box<Samples>>,
    /// How many I/Os were issued, cut short and dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ios: Option<Ios>,
    /// Processor use of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Box<Cpu>>,
    /// fio's distribution of completion latencies over fixed buckets; empty ones are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lat_distribution: Vec<LatencyBucket>,
    /// Queue depths and I/Os per call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depths: Option<Box<Depths>>,
    /// The latency that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<Box<LatencyTarget>>,
    /// dd's count of blocks read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_in: Option<Records>,
    /// dd's count of blocks written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_out: Option<Records>,
}

/// What the shell's time covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WallCovers {
    /// The tool alone.
    Run,
    /// The tool and a `sync` after it.
    RunAndSync,
    /// A `sync` before the tool and the tool.
    SyncAndRun,
    /// A pipeline that the tool is part of.
    Pipeline,
    /// More than the tool: other commands in the same shell.
    RunAndMore,
    /// It can't be told.
    Unknown,
}

/// A latency distribution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// The smallest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Reading<Nanos>>,
    /// The largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Reading<Nanos>>,
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Reading<Nanos>>,
    /// The sample standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stddev: Option<Reading<Nanos>>,
    /// How many I/Os it is made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Percentiles, rising.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Percentile>,
    /// fio's json+ histogram: midpoint in ns and count, rising, empty buckets left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<(u64, u64)>,
}

/// One percentile of a latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Which one, 99.9 for the 99.9th.
    pub p: f64,
    /// Its latency. fio prints the middle of a histogram bucket, which may lie above the largest latency.
    #[serde(flatten)]
    pub reading: Reading<Nanos>,
}

/// The latency of the I/Os of one priority.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PriorityLatency {
    /// Class and level as fio prints them, `1/3`, with the hint from 3.36 on; `high` and `low` up to 3.29.
    pub priority: String,
    /// The share of I/Os of this priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<Reading<Percent>>,
    /// Completion latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clat_ns: Option<Latency>,
    /// Total latency, in its place with `lat_percentiles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat_ns: Option<Latency>,
}

/// Whether a job became steady.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SteadyState {
    /// What was to become steady, and in JSON within what limit, as fio prints it: `iops:80.000000%`, `iops mean dev`.
    pub target: String,
    /// Whether it did.
    pub attained: bool,
    /// How far from steady it was in the end, as fio prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// Bandwidth in its window, reads and writes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_sec: Option<Reading<BytesPerSec>>,
    /// IOPS in its window, reads and writes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<Reading<Iops>>,
}

/// fio's sample statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Samples {
    /// Of bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_sec: Option<Spread<BytesPerSec>>,
    /// Of IOPS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<Spread<Iops>>,
}

/// Minimum, maximum, mean and deviation of samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Spread<Q: crate::unit::Quantity> {
    /// The smallest sample.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub min: Option<Reading<Q>>,
    /// The largest sample.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub max: Option<Reading<Q>>,
    /// The mean of samples.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub mean: Option<Reading<Q>>,
    /// Their standard deviation.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub stddev: Option<Reading<Q>>,
    /// How many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// fio's share of the group's bandwidth.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub per: Option<Reading<Percent>>,
}

fn none<T>() -> Option<T> {
    None
}

impl<Q: crate::unit::Quantity> Default for Spread<Q> {
    fn default() -> Self {
        Self {
            min: None,
            max: None,
            mean: None,
            stddev: None,
            count: None,
            per: None,
        }
    }
}

/// Counts of I/Os of the direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ios {
    /// Issued, failed and short ones included.
    pub total: u64,
    /// That moved less than asked.
    pub short: u64,
    /// That were dropped.
    pub dropped: u64,
}

/// Processor use of a job, as fio prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// User mode, percent of the job's run time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_percent: Option<Reading<Percent>>,
    /// Kernel, percent of the job's run time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_percent: Option<Reading<Percent>>,
    /// Context switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// Major page faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Minor page faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
}

/// dd's `FULL+PARTIAL records`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// Full blocks.
    pub full: u64,
    /// Blocks that were not full.
    pub partial: u64,
}

/// An error that a job reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobError {
    /// The errno, where one was printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The words.
    pub text: String,
}

/// How close a replayed run came to the original.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fidelity {
    /// The worst of its notes.
    pub verdict: Verdict,
    /// What differs, each with a stable id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<FidelityNote>,
    /// What the plan was.
    pub planned: IoCounts,
    /// What was done.
    pub issued: IoCounts,
}

/// What `fio-replay` adds to fio's JSON, as an object under the key `fio-replay` of a document: what a record has and
/// fio's form has no place for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Replayed {
    /// The machine that it ran on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Label>,
    /// The headings that the original stands under.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub section: Vec<Label>,
    /// The workload, as the original asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Arc<Workload>>,
    /// How close the run came to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// Facts of the machine.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub environment: serde_json::Map<String, serde_json::Value>,
    /// What is doubtful about the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Diagnostic>,
}

/// How comparable a replayed run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The same calls, sizes, order, flags, syncs and timing window.
    Exact,
    /// Differs in ways that change neither the requests nor the measured window.
    Equivalent,
    /// At least one figure is not comparable; the notes say which.
    Deviates,
    /// Not run.
    Refused,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Exact => "exact",
            Verdict::Equivalent => "equivalent",
            Verdict::Deviates => "deviates",
            Verdict::Refused => "refused",
        })
    }
}

/// One difference between a replayed run and its original.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FidelityNote {
    /// The stable id, in kebab case.
    pub id: String,
    /// How far this one takes the run from the original.
    pub level: Verdict,
    /// The figures that are not comparable: `bw`, `iops`, `lat`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affects: Vec<String>,
    /// Why, in a sentence.
    pub why: String,
}

/// Counts of a plan or of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoCounts {
    /// Reads; absent in a plan that ends by time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Bytes in both directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Flushes: fsync, fdatasync, sync_file_range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syncs: Option<u64>,
}

/// Writes each record as a line of JSON. Errors: of `out`.
pub fn write_jsonl<W: io::Write>(records: &[Record], out: W) -> io::Result<()> {
    wire::write_jsonl(records, out)
}

/// A line of JSON that is no record.
#[derive(Debug)]
pub struct LineError {
    line: usize,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Read(io::Error),
    Json(serde_json::Error),
}

impl LineError {
    /// The line, from one.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Read(error) => write!(f, "line {}: {error}", self.line),
            Problem::Json(error) => write!(f, "line {}: no record: {error}", self.line),
        }
    }
}

impl std::error::Error for LineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Read(error) => Some(error),
            Problem::Json(error) => Some(error),
        }
    }
}

/// Reads records from lines of JSON; empty lines are passed over. A bad line is an error of its own, and reading goes on.
pub fn read_jsonl<R: io::BufRead>(input: R) -> impl Iterator<Item = Result<Record, LineError>> {
    input.lines().enumerate().filter_map(|(index, line)| {
        let at = |problem| LineError {
            line: index + 1,
            problem,
        };
        match line {
            Err(error) => Some(Err(at(Problem::Read(error)))),
            Ok(line) if line.trim().is_empty() => None,
            Ok(line) => Some(serde_json::from_str(&line).map_err(|error| at(Problem::Json(error)))),
        }
    })
}
