//! fio's JSON and JSON+, alone or between other text.
//!
//! ```text
//! document = "{" … "fio version" : "fio-3.33", … "global options" : {…}, "jobs" | "client_stats" : [ job… ], … "}"
//! job      = "{" "jobname" : …, "groupid" : 0, "error" : 0, … "read" : side, "write" : side, "trim" : side, … "}"
//! side     = "{" "io_bytes" : …, "bw" : …, "iops" : …, "runtime" : …, … "clat_ns" : latency, … "}"
//! latency  = "{" "min" : …, "max" : …, "mean" : …, "stddev" : …, ["N" : …,] ["percentile" : {…},] ["bins" : {…}] "}"
//! ```
//!
//! A document starts where a line's first sign is `{` or `[`, or its last is `{`, or where `{"fio version"` stands in a
//! line; and only if `"fio version"`, `"client_stats"`, an array of `"jobs"`, or a job itself is found inside, up to six
//! levels down (another tool's JSON around fio's). The search takes no more than the value that the line opens and stops
//! at the first thing that is no JSON, so that each byte is looked at by no more lines than there are levels. A paste whose
//! head was cut off starts at `"jobs"`, `"client_stats"` or `"jobname"`.
//!
//! Documents need not be whole. What was read before the cut is kept: every number in it is whole, and histograms,
//! which would mislead in part, are dropped. Figures stay texts here; their units depend on the version.

mod fill;
pub(crate) mod lexer;

use crate::diagnostic::{Code, Diagnostic};
use crate::record::Direction;
use crate::source::{Log, Segments, Span};
use lexer::Lexer;
use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A number as it stands in the log, not decoded.
pub type Figure<'t> = Option<&'t str>;

/// The documents that start on one line: one, or several without a line end in between.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioJson<'t> {
    /// Whole lines.
    pub span: Span,
    /// The documents in order.
    pub documents: Vec<Document<'t>>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// One document of fio.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document<'t> {
    /// From its opening brace to its closing one, or to the cut.
    pub span: Span,
    /// `fio version`.
    pub version: Option<&'t str>,
    /// `timestamp_ms`, or `timestamp` in seconds.
    pub timestamp: Option<Timestamp<'t>>,
    /// `global options`, in order, as they stand between their quotes.
    pub globals: Vec<(&'t str, &'t str)>,
    /// `jobs`, or `client_stats`.
    pub jobs: Vec<Job<'t>>,
    /// `disk_util`.
    pub disks: Vec<Disk<'t>>,
    /// `fio-replay`, an object as it stands: what that program says beside fio's form.
    pub replay: Option<&'t str>,
    /// Whether its end was reached.
    pub complete: bool,
}

/// The figures of a disk that are taken, by their keys.
pub const DISK_KEYS: [&str; 8] = [
    "read_ios",
    "write_ios",
    "read_merges",
    "write_merges",
    "read_ticks",
    "write_ticks",
    "in_queue",
    "util",
];

/// A disk of `disk_util`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disk<'t> {
    /// `name`.
    pub name: Option<&'t str>,
    /// In the order of [`DISK_KEYS`].
    pub figures: [Figure<'t>; DISK_KEYS.len()],
}

impl<'t> Job<'t> {
    /// Whether it is the sum over the servers of a client, where the document is a client's. Some versions print the last
    /// server's name with it.
    pub fn is_sum(&self) -> bool {
        self.name == Some("All clients")
    }
}

impl<'t> Document<'t> {
    /// Whether it tells of servers, by their names.
    pub fn is_of_client(&self) -> bool {
        self.jobs.iter().any(|job| job.host.is_some())
    }

    /// The servers that its jobs ran on, each with its place among them. Empty but in client mode.
    pub fn servers(&self) -> HashMap<Server<'t>, u32> {
        let mut servers = HashMap::new();
        for job in &self.jobs {
            if job.host.is_some() && !job.is_sum() {
                let next = servers.len() as u32;
                servers.entry((job.host, job.port)).or_insert(next);
            }
        }
        servers
    }

    /// How many runs it tells of: each server's, and the sum of all; or the one.
    pub fn runs(&self) -> u32 {
        if !self.is_of_client() {
            return 1;
        }
        let others = (self.jobs.iter()).any(|job| job.host.is_none() || job.is_sum());
        self.servers().len() as u32 + u32::from(others)
    }
}

/// A server's name and port.
pub type Server<'t> = (Option<&'t str>, Figure<'t>);

/// When a document was printed, since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timestamp<'t> {
    /// In seconds.
    Seconds(&'t str),
    /// In milliseconds.
    Milliseconds(&'t str),
}

/// One job, or the jobs that report together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job<'t> {
    /// From its opening brace to its closing one, or to the cut.
    pub span: Span,
    /// `jobname`, as it stands between its quotes; absent for an empty name up to 3.36.
    pub name: Option<&'t str>,
    /// `hostname`, in client mode.
    pub host: Option<&'t str>,
    /// `port`, in client mode.
    pub port: Figure<'t>,
    /// `groupid`.
    pub group: Figure<'t>,
    /// `error`: the errno.
    pub error: Figure<'t>,
    /// `total_err`, with `continue_on_error`.
    pub total_errors: Figure<'t>,
    /// `first_error`, with `continue_on_error`.
    pub first_error: Figure<'t>,
    /// `elapsed`, in seconds.
    pub elapsed: Figure<'t>,
    /// `job_start`, in ms since 1970.
    pub start: Figure<'t>,
    /// `job options`, in order, as they stand between their quotes.
    pub options: Vec<(&'t str, &'t str)>,
    /// `read`, `write`, `trim`, `mixed`: those that moved bytes.
    pub sides: Vec<(Direction, Box<Side<'t>>)>,
    /// `io_bytes` of the directions that moved nothing.
    pub unmoved: [Figure<'t>; 4],
    /// Directions that ran for some time and moved nothing.
    pub idle: Vec<(Direction, Box<Side<'t>>)>,
    /// `lat_ns` of `sync`, with its `total_ios`.
    pub sync: Option<Box<(Latency<'t>, Figure<'t>)>>,
    /// `usr_cpu`, percent.
    pub user_cpu: Figure<'t>,
    /// `sys_cpu`, percent.
    pub system_cpu: Figure<'t>,
    /// `ctx`: context switches.
    pub context_switches: Figure<'t>,
    /// `majf`: major page faults.
    pub major_faults: Figure<'t>,
    /// `minf`: minor page faults.
    pub minor_faults: Figure<'t>,
    /// The members of `iodepth_level`, `latency_us` and so on that are not zero.
    pub shares: Vec<(Table, &'t str, &'t str)>,
    /// Whether `latency_ns` is there: times were whole microseconds before it was.
    pub nanoseconds: bool,
    /// `latency_target`: in usec to 3.2, in nsec later.
    pub latency_target: Figure<'t>,
    /// `latency_window`: in usec, but from 3.3 to 3.20 in nsec.
    pub latency_window: Figure<'t>,
    /// `latency_percentile`.
    pub latency_percentile: Figure<'t>,
    /// `latency_depth`: the queue depth that was found.
    pub latency_depth: Figure<'t>,
    /// `steadystate`.
    pub steady_state: Option<Box<SteadyState<'t>>>,
    /// Whether its end was reached.
    pub complete: bool,
}

/// The tables of shares that a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// `iodepth_level`: queue depths.
    Depth,
    /// `iodepth_submit`: I/Os per submit call.
    Submit,
    /// `iodepth_complete`: I/Os per completion call.
    Complete,
    /// `latency_ns`: completion latencies below a microsecond.
    Nsec,
    /// `latency_us`: those below a millisecond.
    Usec,
    /// `latency_ms`: the others.
    Msec,
}

/// `steadystate` of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyState<'t> {
    /// `ss`: what was to become steady, and within what limit.
    pub target: Option<&'t str>,
    /// `attained`: `1` where it did.
    pub attained: Figure<'t>,
    /// `criterion`: how far from steady it was at the end, with a `%` or without.
    pub criterion: Option<&'t str>,
}

/// One direction of a job that moved bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side<'t> {
    /// Bytes, or KiB up to 2.20.
    pub io_bytes: Figure<'t>,
    /// KiB, from 2.21 on.
    pub io_kbytes: Figure<'t>,
    /// Bytes per second, from 3.2 on.
    pub bw_bytes: Figure<'t>,
    /// KiB per second, cut.
    pub bw: Figure<'t>,
    /// I/Os per second.
    pub iops: Figure<'t>,
    /// Milliseconds.
    pub runtime: Figure<'t>,
    /// I/Os issued.
    pub total_ios: Figure<'t>,
    /// I/Os that moved less than asked.
    pub short_ios: Figure<'t>,
    /// I/Os dropped.
    pub drop_ios: Figure<'t>,
    /// `slat` or `slat_ns`.
    pub slat: Latency<'t>,
    /// `clat` or `clat_ns`.
    pub clat: Latency<'t>,
    /// `lat` or `lat_ns`.
    pub lat: Latency<'t>,
    /// Latencies by priority.
    pub priorities: Vec<Priority<'t>>,
    /// `bw_min`, `bw_max`, `bw_mean`, `bw_dev`, `bw_samples`: KiB per second.
    pub bw_samples: Samples<'t>,
    /// `bw_agg`: percent, or up to 2.1.7 the mean.
    pub bw_agg: Figure<'t>,
    /// `iops_min`, `iops_max`, `iops_mean`, `iops_stddev`, `iops_samples`.
    pub iops_samples: Samples<'t>,
    /// Whether its end was reached.
    pub complete: bool,
}

impl Side<'_> {
    /// Whether bytes were moved, as far as its figures tell.
    pub fn moved_bytes(&self) -> bool {
        match self.io_bytes {
            Some(_) => !is_zero(self.io_bytes),
            None => [self.bw_bytes, self.bw, self.iops, self.total_ios]
                .into_iter()
                .any(|figure| !is_zero(figure)),
        }
    }
}

/// Whether a figure is absent or zero.
pub(crate) fn is_zero(figure: Figure<'_>) -> bool {
    figure.is_none_or(|text| text.bytes().all(|byte| matches!(byte, b'0' | b'.')))
}

/// Statistics over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Samples<'t> {
    /// The smallest.
    pub min: Figure<'t>,
    /// The largest.
    pub max: Figure<'t>,
    /// The mean.
    pub mean: Figure<'t>,
    /// The standard deviation.
    pub stddev: Figure<'t>,
    /// How many.
    pub count: Figure<'t>,
}

/// A latency distribution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency<'t> {
    /// Whether its figures are nanoseconds: the key ends in `_ns`, or it is one of the priorities. Else microseconds.
    pub nanoseconds: bool,
    /// The smallest and so on; `count` is `N`.
    pub stats: Samples<'t>,
    /// Percentile and latency.
    pub percentiles: Vec<(&'t str, &'t str)>,
    /// Bucket and count, empty ones left out; dropped where cut.
    pub bins: Vec<(u64, u64)>,
    /// Whether buckets are given by index (2.2.12 to 2.19) and not by their middle.
    pub bins_are_indexes: bool,
}

/// The latency of the I/Os of one priority.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priority<'t> {
    /// `prioclass`; or `high` and `low`, up to 3.29.
    pub class: Option<&'t str>,
    /// `prio`.
    pub level: Figure<'t>,
    /// `priohint`, from 3.36 on.
    pub hint: Figure<'t>,
    /// Whether it is total latency (`lat_percentiles`) and not completion latency.
    pub is_total: bool,
    /// Its latency.
    pub latency: Latency<'t>,
}

/// How many levels of another tool's JSON may stand around fio's.
const LEVELS: u32 = 6;

static VERSION_KEY: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(b"\"fio version\""));

/// The documents that start on the next line, if some do; `lines` then stands behind them.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<FioJson<'t>> {
    let line = lines.clone().next()?;
    let text = log.text();
    let first = start_in_line(text, line.span)?;
    let mut block = FioJson::default();
    let mut start = Some(first);
    let mut end = line.span.end as usize;
    let mut line_end = end;
    while let Some(at) = start {
        let (document, behind) = fill::document(text, at, &mut block.problems);
        end = behind.max(at.offset);
        // looked for once a line, which may hold all documents
        if end > line_end {
            line_end = memchr::memchr2(b'\n', b'\r', &text.as_bytes()[end..])
                .map_or(text.len(), |length| end + length);
        }
        // after a cut nothing is looked for in the same line: what broke the document would be found again
        let go_on = document.complete && end < line_end;
        start = go_on
            .then(|| start_in_line(text, Span::new(end as u32, line_end as u32)))
            .flatten();
        block.documents.push(document);
    }
    let whole = block
        .documents
        .last()
        .is_some_and(|document| document.complete);
    let stop = if whole { end } else { line_of_cut(text, end) };
    lines.next();
    lines.skip_to(stop as u32);
    block.span = Span::new(line.span.start, lines.offset());
    Some(block)
}

/// What belongs to a document that breaks at `cut`: all before it, but no line that it merely indents.
fn line_of_cut(text: &str, cut: usize) -> usize {
    let line = memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[..cut]).map_or(0, |at| at + 1);
    if text.as_bytes()[line..cut]
        .iter()
        .all(|&byte| is_noise(byte))
    {
        line
    } else {
        cut
    }
}

/// Whether a byte says nothing at the head or at the tail of a line: blanks, marks of quotes and tables, prompts.
fn is_noise(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'>' | b'|' | b',' | b'$' | 0xc2 | 0xa0)
}

/// Where a document starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start<'t> {
    offset: usize,
    kind: Kind,
    /// What stands before the opening brace in its line.
    margin: &'t str,
}

/// What starts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A document at its opening brace.
    Document,
    /// The members of a document, the brace cut off.
    DocumentMembers,
    /// A job at its opening brace.
    Job,
    /// The members of a job, the brace cut off.
    JobMembers,
}

/// The start of a document in the piece of a line at `span`.
fn start_in_line(text: &str, span: Span) -> Option<Start<'_>> {
    let (from, to) = (span.start as usize, span.end as usize);
    let line = &text.as_bytes()[from..to];
    let head = line.iter().position(|&byte| !is_noise(byte))?;
    let tail = line.iter().rposition(|&byte| !is_noise(byte))?;
    let (first, last) = (line[head], line[tail]);
    let opens = |byte| matches!(byte, b'{' | b'[');
    let start = |(offset, kind)| Start {
        offset,
        kind,
        margin: &text[from..offset.clamp(from, to)],
    };
    let search = |at: usize| {
        search(
            &mut Lexer::strict(text, from + at, &text[from..from + at]),
            0,
        )
    };
    if opens(first)
        && let Some(found) = search(head)
    {
        return Some(start(found));
    }
    if (opens(first) || matches!(last, b'}' | b']' | b'{'))
        && let Some(key) = VERSION_KEY.find(line)
        && let Some(brace) = line[..key].iter().rposition(|&byte| byte != b' ')
        && line[brace] == b'{'
    {
        return Some(start((from + brace, Kind::Document)));
    }
    if last == b'{'
        && tail > head
        && let Some(found) = search(tail)
    {
        return Some(start(found));
    }
    if first == b'"' {
        return headless(text, from + head).map(|kind| start((from + head, kind)));
    }
    None
}

/// Where inside of the value at the lexer a document or a job starts.
fn search(lexer: &mut Lexer<'_>, level: u32) -> Option<(usize, Kind)> {
    let opening = lexer.peek()?;
    let offset = lexer.at();
    if opening == b'[' {
        lexer.take(b'[');
        while lexer.element() {
            if let Some(found) = search_value(lexer, level) {
                return Some(found);
            }
        }
        return None;
    }
    lexer.take(b'{');
    let (mut group, mut name) = (false, false);
    while let Some(key) = lexer.key() {
        match key {
            "fio version" | "client_stats" => return Some((offset, Kind::Document)),
            "jobs" if holds_jobs(lexer.clone()) => return Some((offset, Kind::Document)),
            "groupid" => group = true,
            "jobname" => name = true,
            _ => {}
        }
        if group && name {
            return Some((offset, Kind::Job));
        }
        if let Some(found) = search_value(lexer, level) {
            return Some(found);
        }
    }
    None
}

/// Searches the value at the lexer if it is an object or an array, else passes over it. Too deep breaks.
fn search_value(lexer: &mut Lexer<'_>, level: u32) -> Option<(usize, Kind)> {
    match lexer.peek() {
        Some(b'{' | b'[') if level < LEVELS => search(lexer, level + 1),
        Some(b'{' | b'[') => {
            lexer.give_up();
            None
        }
        _ => {
            lexer.skip();
            None
        }
    }
}

/// Whether the value at the lexer is an array whose first element is a job of fio.
fn holds_jobs(mut lexer: Lexer<'_>) -> bool {
    if !(lexer.take(b'[') && lexer.take(b'{')) {
        return false;
    }
    while let Some(key) = lexer.key() {
        match key {
            "jobname" | "groupid" | "job options" => return true,
            _ => lexer.skip(),
        };
    }
    false
}

/// What starts at a key whose object was cut off in front.
fn headless(text: &str, at: usize) -> Option<Kind> {
    let rest = &text[at..];
    let known = [
        "\"fio version\"",
        "\"jobs\"",
        "\"client_stats\"",
        "\"jobname\"",
    ];
    known.iter().find(|key| rest.starts_with(**key))?;
    let mut lexer = Lexer::strict(text, at, "");
    match lexer.key()? {
        "fio version" => lexer
            .string()
            .is_some_and(|version| version.starts_with("fio"))
            .then_some(Kind::DocumentMembers),
        "jobs" | "client_stats" => holds_jobs(lexer).then_some(Kind::DocumentMembers),
        _ => {
            lexer.string()?;
            (lexer.key()? == "groupid").then_some(Kind::JobMembers)
        }
    }
}

/// The text that a JSON string stands for. What is no escape is kept as it is: fio escapes quotes and backslashes at most.
pub fn unescaped(raw: &str) -> Cow<'_, str> {
    let Some(first) = raw.find('\\') else {
        return Cow::Borrowed(raw);
    };
    let mut text = String::with_capacity(raw.len());
    text.push_str(&raw[..first]);
    let mut rest = &raw[first..];
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let (plain, length) = match rest.as_bytes().get(at + 1) {
            Some(b'n') => ('\n', 2),
            Some(b't') => ('\t', 2),
            Some(b'r') => ('\r', 2),
            Some(b'u') => {
                let code = rest
                    .get(at + 2..at + 6)
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok());
                match code {
                    Some(code) => (
                        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                        6,
                    ),
                    None => ('\\', 1),
                }
            }
            Some(&same @ (b'"' | b'\\' | b'/')) => (char::from(same), 2),
            _ => ('\\', 1),
        };
        text.push(plain);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The diagnostic for lines of other text inside of a document.
fn passed_over(span: Span) -> Diagnostic {
    Diagnostic::warning(
        Code::UNREADABLE,
        Some(span),
        "expected JSON, found other text between two members; passed over",
    )
}

/// The diagnostic for a document that does not end.
fn cut_off(at: usize, length: usize) -> Diagnostic {
    let at = at.min(length) as u32;
    Diagnostic::warning(
        Code::INCOMPLETE,
        Some(Span::new(at, at)),
        "the JSON ends here before its braces are closed; what stands before was read",
    )
}

#[cfg(test)]
mod tests;
