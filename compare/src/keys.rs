//! The key language: what tables can be projected on, filtered by and sorted by.
//! Long because most of it is the table of keys.
//!
//! A key is a named property of a record, always a text: `machine`, `rw`, `bs`, `tool.version`.
//! `--row`, `--col`, `--table` and `--ignore` take comma-separated lists of them. Keys are of
//! three kinds: what *names* a result (machine, test, file), what was *asked* (pattern, block
//! size, depth: together they make the test), and the *settings* and *surroundings* that should
//! be equal for a fair comparison and become footnotes when they are not (see
//! [`crate::residue`]).
//!
//! Place: the only module beside [`crate::load`] and [`crate::derive`] that looks into a record.

use std::borrow::Cow;

use fio_parse::record::{Dialect, ScopeKind, Tool};
use fio_parse::workload::{Dd, Job, SyncFlag, WrittenAs};
use fio_parse::{Bytes, Record};

use crate::folders;

/// A property of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Place);

/// Where the property is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    /// At this index of the table below.
    Table(u8),
    /// In the names of folders ([`crate::folders`]), under this name behind [`IN_FOLDER`].
    Folder(&'static str),
}

/// What stands in front of the keys that names of folders give.
const IN_FOLDER: &str = "folder.";

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Names the result.
    Name,
    /// Part of what was asked of the disk; equal for all results of a test.
    Asked,
    /// A setting or surrounding; a difference is worth a footnote.
    Setting,
}

struct Spec {
    name: &'static str,
    about: &'static str,
    role: Role,
    get: for<'r> fn(&'r Record) -> Cow<'r, str>,
}

/// Names of the keys that are not read from one record alone.
const TEST: &str = "test";
const METRIC: &str = "metric";

const KEYS: &[Spec] = &[
    Spec {
        name: "machine",
        about: "machine or device, as the source names it",
        role: Role::Name,
        get: machine,
    },
    Spec {
        name: TEST,
        about: "heading, or the workload in words",
        role: Role::Name,
        get: |_| EMPTY,
    },
    Spec {
        name: METRIC,
        about: "what is measured: bw, iops, clat-p99, ...",
        role: Role::Name,
        get: |_| EMPTY,
    },
    Spec {
        name: "direction",
        about: "read, write, trim or mixed",
        role: Role::Name,
        get: |r| r.direction.as_str().into(),
    },
    Spec {
        name: "section",
        about: "all headings above the result",
        role: Role::Name,
        get: section,
    },
    Spec {
        name: "file",
        about: "input file",
        role: Role::Name,
        get: |r| (&*r.source.name).into(),
    },
    Spec {
        name: "job",
        about: "fio job name",
        role: Role::Name,
        get: |r| r.scope.job.as_deref().unwrap_or("").into(),
    },
    Spec {
        name: "host",
        about: "host in client/server runs",
        role: Role::Name,
        get: |r| r.scope.host.as_deref().unwrap_or("").into(),
    },
    Spec {
        name: "run",
        about: "invocation within the input",
        role: Role::Name,
        get: |r| r.run.to_string().into(),
    },
    Spec {
        name: "group",
        about: "fio group number",
        role: Role::Name,
        get: |r| r.scope.group.map_or(EMPTY, |g| g.to_string().into()),
    },
    Spec {
        name: "warmup",
        about: "yes for a run that only warms up, which is left out unless a filter names this key",
        role: Role::Name,
        get: |r| {
            let marked = r.environment.get("warm_up") == Some(&serde_json::Value::Bool(true));
            if marked { "yes".into() } else { EMPTY }
        },
    },
    Spec {
        name: "folder",
        about: "what folders called NAME=VALUE say beside these keys; folder.NAME is one of them",
        role: Role::Setting,
        get: |_| EMPTY,
    },
    Spec {
        name: "rw",
        about: "access pattern",
        role: Role::Asked,
        get: |r| {
            let by_dd = match r.direction {
                fio_parse::Direction::Read => "read",
                _ => "write",
            };
            if is_bare_dd(r) {
                return by_dd.into();
            }
            of_test(r, |j| pattern(r, j), |_| Some(by_dd.to_owned()))
        },
    },
    Spec {
        name: "bs",
        about: "block size",
        role: Role::Asked,
        get: |r| match counted_block(r) {
            Some(block) => size_text(block).into(),
            None => of_test(r, block, |d| d.block_bytes.map(size_text)),
        },
    },
    Spec {
        name: "iodepth",
        about: "queue depth",
        role: Role::Asked,
        get: |r| of_test(r, |j| Some(number_of(j, "iodepth", j.depth)), |_| None),
    },
    Spec {
        name: "numjobs",
        about: "parallel jobs",
        role: Role::Asked,
        get: |r| of_test(r, |j| Some(numjobs(r, j)), |_| None),
    },
    Spec {
        name: "rwmixread",
        about: "share of reads in percent",
        role: Role::Asked,
        get: |r| of_test(r, |j| mix(r, j), |_| None),
    },
    Spec {
        name: "runtime",
        about: "asked time",
        role: Role::Setting,
        get: |r| {
            of_test(
                r,
                |j| j.runtime_ns.map(|t| format!("{}s", t.seconds())),
                |_| None,
            )
        },
    },
    Spec {
        name: "size",
        about: "file size (fio) or bytes to copy (dd)",
        role: Role::Setting,
        get: |r| {
            of_test(
                r,
                |j| {
                    let unread = || j.unread("size").map(str::to_owned);
                    j.size_bytes.map(size_text).or_else(unread)
                },
                |d| d.asked_bytes().map(size_text),
            )
        },
    },
    Spec {
        name: "io_size",
        about: "amount of I/O where it is not the size",
        role: Role::Setting,
        get: |r| of_test(r, |j| j.io_size_bytes.map(size_text), |_| None),
    },
    Spec {
        name: "engine",
        about: "ioengine",
        role: Role::Setting,
        get: |r| of_test(r, |j| j.engine.clone(), |_| None),
    },
    Spec {
        name: "direct",
        about: "bypasses the page cache",
        role: Role::Setting,
        get: |r| of_test(r, |j| flag(j.direct), |_| None),
    },
    Spec {
        name: "sync",
        about: "opened for synchronous writes",
        role: Role::Setting,
        get: |r| of_test(r, sync, |_| None),
    },
    Spec {
        name: "fsync",
        about: "fsync after this many writes",
        role: Role::Setting,
        get: |r| of_test(r, |j| count(j.fsync), |_| None),
    },
    Spec {
        name: "fdatasync",
        about: "fdatasync after this many writes",
        role: Role::Setting,
        get: |r| of_test(r, |j| count(j.fdatasync), |_| None),
    },
    Spec {
        name: "end_fsync",
        about: "fsync at the end, inside the time",
        role: Role::Setting,
        get: |r| of_test(r, |j| flag(j.end_fsync), |_| None),
    },
    Spec {
        name: "fsync_on_close",
        about: "fsync at each close",
        role: Role::Setting,
        get: |r| of_test(r, |j| flag(j.fsync_on_close), |_| None),
    },
    Spec {
        name: "conv",
        about: "dd's conv=",
        role: Role::Setting,
        get: |r| of_test(r, |_| None, |d| list(&d.conv)),
    },
    Spec {
        name: "iflag",
        about: "dd's iflag=",
        role: Role::Setting,
        get: |r| of_test(r, |_| None, |d| list(&d.iflag)),
    },
    Spec {
        name: "oflag",
        about: "dd's oflag=",
        role: Role::Setting,
        get: |r| of_test(r, |_| None, |d| list(&d.oflag)),
    },
    Spec {
        name: "input",
        about: "what dd reads from, if it is a device of zeros or random bytes",
        role: Role::Setting,
        get: |r| of_test(r, |_| None, input),
    },
    Spec {
        name: "options",
        about: "options without a key of their own",
        role: Role::Setting,
        get: options,
    },
    Spec {
        name: "tool",
        about: "program that measured",
        role: Role::Setting,
        get: |r| tool(&r.source.tool),
    },
    Spec {
        name: "tool.version",
        about: "its version",
        role: Role::Setting,
        get: |r| r.source.tool.version.as_deref().unwrap_or("").into(),
    },
    Spec {
        name: "os",
        about: "operating system",
        role: Role::Setting,
        get: |r| environment(r, "os"),
    },
    Spec {
        name: "kernel",
        about: "kernel version",
        role: Role::Setting,
        get: |r| environment(r, "kernel"),
    },
    Spec {
        name: "fs",
        about: "file system",
        role: Role::Setting,
        get: |r| environment(r, "filesystem"),
    },
    Spec {
        name: "device",
        about: "device",
        role: Role::Setting,
        get: |r| {
            r.device
                .as_ref()
                .map_or_else(|| environment(r, "device"), |l| (&*l.text).into())
        },
    },
    Spec {
        name: "fidelity",
        about: "how close a replayed run came to the original",
        role: Role::Name,
        get: |r| {
            r.fidelity
                .as_ref()
                .map_or(EMPTY, |f| f.verdict.to_string().into())
        },
    },
    Spec {
        name: "moved",
        about: "bytes that dd copied, where no command tells how many were asked for",
        role: Role::Setting,
        get: |r| {
            let bytes = r.measurement.bytes.as_ref().filter(|_| is_bare_dd(r));
            bytes.map_or(EMPTY, |b| size_text(b.lo()).into())
        },
    },
];

const EMPTY: Cow<'static, str> = Cow::Borrowed("");

/// The text of an option where the record does not say what was asked for: no command stands with
/// the result, or only a report's header. Not to be mixed up with off.
pub const UNKNOWN: &str = "?";

impl Key {
    /// The machine.
    pub const MACHINE: Key = Key(Place::Table(0));
    /// The test, resolved over all records by [`crate::tests_of`].
    pub const TEST: Key = Key(Place::Table(1));
    /// The metric.
    pub const METRIC: Key = Key(Place::Table(2));
    /// The direction.
    pub const DIRECTION: Key = Key(Place::Table(3));
    /// The job.
    pub const JOB: Key = Key(Place::Table(6));
    /// The host in client/server runs.
    pub const HOST: Key = Key(Place::Table(7));
    /// How many jobs of one name were asked for.
    pub const NUMJOBS: Key = Key(Place::Table(15));
    /// Whether the run only warms up.
    pub const WARMUP: Key = Key(Place::Table(10));
    /// What the names of folders say beside known keys.
    pub const FOLDER: Key = Key(Place::Table(11));

    /// All keys but those that names of folders give.
    pub fn all() -> impl Iterator<Item = Key> {
        (0..KEYS.len() as u8).map(|at| Key(Place::Table(at)))
    }

    fn spec(self) -> Option<&'static Spec> {
        match self.0 {
            Place::Table(at) => Some(&KEYS[at as usize]),
            Place::Folder(_) => None,
        }
    }

    /// The name in the names of folders that this key stands for.
    pub fn of_folder(self) -> Option<&'static str> {
        match self.0 {
            Place::Table(_) => None,
            Place::Folder(name) => name.strip_prefix(IN_FOLDER),
        }
    }

    /// The keys that become footnotes where they differ: what was asked of the disk, and how. A
    /// test's name need not tell the former, as where it is a heading.
    pub fn settings() -> impl Iterator<Item = Key> {
        Key::all().filter(|k| matches!(k.role(), Role::Asked | Role::Setting))
    }

    /// Its name in the language.
    pub fn name(self) -> &'static str {
        match self.0 {
            Place::Table(at) => KEYS[at as usize].name,
            Place::Folder(name) => name,
        }
    }

    /// What it means, for `--list` and help.
    pub fn about(self) -> &'static str {
        self.spec().map_or("", |spec| spec.about)
    }

    /// What it is for.
    pub fn role(self) -> Role {
        self.spec().map_or(Role::Name, |spec| spec.role)
    }

    /// For a setting: does an empty text mean that the setting is off (and not that nobody said
    /// what it is, or that there is no such thing)?
    pub fn empty_is_off(self) -> bool {
        !matches!(
            self.name(),
            "rwmixread" | "tool" | "tool.version" | "os" | "kernel" | "fs" | "device" | "moved"
        )
    }

    /// Its text in a record; empty where the record does not say. `test` and `metric` are always
    /// empty here, they belong to the whole comparison; so is what folders say.
    pub fn get(self, record: &Record) -> Cow<'_, str> {
        self.spec().map_or(EMPTY, |spec| (spec.get)(record))
    }

    /// A value typed by a person in the form in which records are compared: sizes by amount, a switch that
    /// is off as nothing.
    pub fn canonical(self, value: &str) -> String {
        match self.name() {
            "bs" | "size" | "io_size" => {
                parse_size(value).map_or_else(|| value.to_owned(), |bytes| size_text(Bytes(bytes)))
            }
            // Off is what an option is that does not stand.
            _ if self.is_switch() && matches!(value, "0" | "none") => String::new(),
            "sync" if value == "1" => "sync".to_owned(),
            _ => value.to_owned(),
        }
    }

    /// For a setting of which the tool's command is known: is it off where the command does not name it? Of
    /// other options the tool has a default of its own.
    pub fn is_switch(self) -> bool {
        matches!(
            self.name(),
            "direct"
                | "sync"
                | "fsync"
                | "fdatasync"
                | "end_fsync"
                | "fsync_on_close"
                | "conv"
                | "iflag"
                | "oflag"
                | "options"
        )
    }
}

/// Looks a key of the table up by name.
pub fn plain(name: &str) -> Option<Key> {
    Key::all().find(|k| k.name() == name)
}

/// Looks a key up by name.
pub fn parse(name: &str) -> Result<Key, String> {
    let of_folder = || {
        let field = name.strip_prefix(IN_FOLDER)?;
        // Names come from the command line, a few for the life of the program.
        folders::is_name(field).then(|| Key(Place::Folder(name.to_owned().leak())))
    };
    plain(name).or_else(of_folder).ok_or_else(|| {
        let known: Vec<&str> = Key::all().map(Key::name).collect();
        format!(
            "expected a key, found `{name}`; known keys: {}, and {IN_FOLDER}NAME for a folder NAME=VALUE",
            known.join(", ")
        )
    })
}

/// A comma-separated list of keys; an empty text is an empty list.
pub fn parse_list(names: &str) -> Result<Vec<Key>, String> {
    let names = names.split(',').map(str::trim).filter(|n| !n.is_empty());
    let mut keys = Vec::new();
    for name in names {
        let key = parse(name)?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// The machine as the source names it; else the host of a client/server run; else the input, or
/// for one of fio's logs of samples the name before what is logged.
fn machine(record: &Record) -> Cow<'_, str> {
    match (&record.machine, &record.scope.host) {
        (Some(label), _) => (&*label.text).into(),
        (None, Some(host)) => host.into(),
        (None, None) => match &record.scope.job {
            Some(job) if record.source.dialect == Dialect::FioLog => (&**job).into(),
            _ => folders::stem(&record.source.name).into(),
        },
    }
}

fn section(record: &Record) -> Cow<'_, str> {
    match record.section.as_slice() {
        [] => EMPTY,
        [one] => (&*one.text).into(),
        many => {
            let texts: Vec<&str> = many.iter().map(|l| &*l.text).collect();
            texts.join(" / ").into()
        }
    }
}

/// The jobs of the workload that this record sums up: the job named by the scope, the jobs of the
/// scope's group, or all. fio starts a new group at `stonewall` and `new_group`.
pub(crate) fn jobs_of(record: &Record) -> Vec<&Job> {
    let Some(workload) = &record.workload else {
        return Vec::new();
    };
    let jobs = workload.jobs();
    if record.scope.kind == ScopeKind::Job
        && let Some(name) = &record.scope.job
    {
        let named: Vec<&Job> = jobs.iter().filter(|j| j.name == *name).collect();
        if !named.is_empty() {
            return named;
        }
    }
    if let Some(wanted) = record.scope.group {
        let mut group = 0;
        let mut mine = Vec::new();
        for (index, job) in jobs.iter().enumerate() {
            let new_group = job.stonewall == Some(true)
                || job
                    .other
                    .iter()
                    .any(|(name, value)| name == "new_group" && value != "0");
            if index > 0 && new_group {
                group += 1;
            }
            if group == wanted {
                mine.push(job);
            }
        }
        if !mine.is_empty() {
            return mine;
        }
    }
    jobs.iter().collect()
}

/// A property of the test: one text if all jobs agree, else all of them.
fn of_test<'r>(
    record: &'r Record,
    of_job: impl Fn(&Job) -> Option<String>,
    of_dd: impl Fn(&Dd) -> Option<String>,
) -> Cow<'r, str> {
    let Some(workload) = &record.workload else {
        return Cow::Borrowed(UNKNOWN);
    };
    if let Some(dd) = workload.dd() {
        return of_dd(dd).map_or(EMPTY, Cow::Owned);
    }
    // Of the options that a header does not print it says nothing.
    let unsaid = if is_header(record) { UNKNOWN } else { "" };
    let mut texts: Vec<String> = Vec::new();
    for job in jobs_of(record) {
        let text = of_job(job).filter(|text| !text.is_empty());
        let text = text.unwrap_or_else(|| unsaid.to_owned());
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join("+").into()
}

/// A result of dd without its command.
fn is_bare_dd(record: &Record) -> bool {
    record.workload.is_none() && record.source.tool.name == "dd"
}

/// dd's block size by its own counts, where no command tells it: bytes over full records. Partial
/// records leave it open.
fn counted_block(record: &Record) -> Option<Bytes> {
    let m = &record.measurement;
    let bytes = (m.bytes.as_ref()).filter(|b| is_bare_dd(record) && b.lo() == b.hi());
    let (bytes, records) = (bytes?.lo().0, m.records_out.or(m.records_in)?);
    let whole = records.partial == 0 && records.full > 0 && bytes.is_multiple_of(records.full);
    whole.then(|| Bytes(bytes / records.full))
}

/// The access pattern; reading is fio's default.
fn pattern(record: &Record, job: &Job) -> Option<String> {
    let default = (!is_header(record)).then_some("read");
    job.pattern
        .map(|p| p.as_str())
        .or(default)
        .map(str::to_owned)
}

/// The share of reads of a pattern that mixes them with writes, fio's default of half where the
/// options are known; a header does not print it.
pub(crate) fn mix(record: &Record, job: &Job) -> Option<String> {
    let mixes = job.pattern.is_some_and(|p| p.reads() && p.writes());
    let default = (!is_header(record) && mixes).then_some(50);
    job.rwmixread.or(default).map(|m| m.to_string())
}

/// The options are known from the header of a report only, which prints a few.
fn is_header(record: &Record) -> bool {
    let workload = record.workload.as_ref();
    workload.is_some_and(|w| w.written_as == WrittenAs::FioHeader)
}

pub(crate) fn block(job: &Job) -> Option<String> {
    if let Some(printed) = job.unread("bs") {
        return Some(rounded_text(printed));
    }
    if let Some(varied) = job.unread_blocks() {
        return Some(varied.to_owned());
    }
    let read = job.block_bytes.unwrap_or(Bytes(4096));
    Some(match job.write_block_bytes {
        Some(write) if write != read => format!("{},{}", size_text(read), size_text(write)),
        _ => size_text(read),
    })
}

/// Block sizes that are known rounded only, or not at all, told apart from those that are known.
fn rounded_text(text: &str) -> String {
    // fio's header has a size for each direction, most often the same
    let mut sizes: Vec<&str> = Vec::new();
    for part in text.split(", ") {
        let range = part.split_once(") ").map_or(part, |(_, range)| range);
        let size = match range.split_once('-') {
            Some((lo, hi)) if lo == hi => lo,
            _ => range,
        };
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    format!("~{}", sizes.join(","))
}

/// The number of an option, fio's default of one where it is not given.
pub(crate) fn number_of(job: &Job, option: &str, value: Option<u32>) -> String {
    match job.unread(option) {
        Some(text) => text.to_owned(),
        None => value.unwrap_or(1).to_string(),
    }
}

/// `numjobs`. Where the head of a report leaves it open, the jobs that its results sum up are known.
pub(crate) fn numjobs(record: &Record, job: &Job) -> String {
    let summed = (job.unread("numjobs").and(record.scope.jobs)).filter(|&jobs| jobs > 1);
    summed.map_or_else(
        || number_of(job, "numjobs", job.jobs),
        |jobs| jobs.to_string(),
    )
}

/// Off and unsaid are one: both mean the tool's default.
fn flag(value: Option<bool>) -> Option<String> {
    (value == Some(true)).then(|| "1".to_owned())
}

fn count(value: Option<u64>) -> Option<String> {
    value.filter(|n| *n > 0).map(|n| n.to_string())
}

fn sync(job: &Job) -> Option<String> {
    match job.sync {
        Some(SyncFlag::Sync) => Some("sync".into()),
        Some(SyncFlag::Dsync) => Some("dsync".into()),
        Some(SyncFlag::None) | None => None,
    }
}

fn list(items: &[String]) -> Option<String> {
    (!items.is_empty()).then(|| items.join(","))
}

fn input(dd: &Dd) -> Option<String> {
    dd.input.clone().filter(|input| input.starts_with("/dev/"))
}

/// Options that no key covers. Names of files and folders, which differ between any two machines, and
/// what only changes the report are left out; that a device is written to and no file is not.
fn options(record: &Record) -> Cow<'_, str> {
    const NO_MATTER: &[&str] = &[
        "status",
        "eta",
        "output",
        "output-format",
        "minimal",
        "description",
    ];
    let pair = |(name, value): &(String, String)| {
        (!NO_MATTER.contains(&name.as_str())).then(|| format!("{name}={value}"))
    };
    of_test(
        record,
        |j| {
            let known = known_options(j).into_iter();
            let all: Vec<String> = known.chain(j.other.iter().filter_map(pair)).collect();
            Some(all.join(" "))
        },
        |d| {
            Some(
                d.other
                    .iter()
                    .filter_map(pair)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        },
    )
}

/// The options of a job that a workload holds as fields and no key shows, where they are on.
fn known_options(job: &Job) -> Vec<String> {
    let bytes = |b: Option<Bytes>| b.filter(|b| b.0 > 0).map(size_text);
    let many = |n: u64| (n > 1).then(|| n.to_string());
    let device = |name: &String| {
        let name = name.as_str();
        name.starts_with("/dev/") && !name.starts_with("/dev/shm/")
    };
    let options = [
        (
            "filename",
            (job.filename.as_ref())
                .filter(|name| device(name))
                .map(|_| "(a device)".to_owned()),
        ),
        ("filesize", bytes(job.file_bytes)),
        ("offset", bytes(job.offset_bytes)),
        (
            "ramp_time",
            job.ramp_ns
                .filter(|t| t.seconds() > 0.0)
                .map(|t| format!("{}s", t.seconds())),
        ),
        ("time_based", flag(job.time_based)),
        ("loops", job.loops.and_then(many)),
        ("nrfiles", job.nrfiles.and_then(|n| many(u64::from(n)))),
    ];
    (options.into_iter())
        .filter_map(|(name, value)| Some(format!("{name}={}", value?)))
        .collect()
}

/// The program. Which dd it was is told from its report; the system it is usual on is said for
/// people who know their machines by that.
fn tool(tool: &Tool) -> Cow<'_, str> {
    match tool.implementation.as_deref() {
        None => (&*tool.name).into(),
        Some("gnu") => format!("GNU {}, as on Linux", tool.name).into(),
        Some("bsd") => format!("BSD {}, as on macOS", tool.name).into(),
        Some(other) => format!("{other} {}", tool.name).into(),
    }
}

fn environment<'r>(record: &'r Record, name: &str) -> Cow<'r, str> {
    match record.environment.get(name) {
        Some(serde_json::Value::String(text)) => text.into(),
        Some(serde_json::Value::Null) | None => EMPTY,
        Some(other) => other.to_string().into(),
    }
}

/// A size in fio's way of writing: `4k`, `1m`, `16g`; plain bytes where no unit divides it.
pub(crate) fn size_text(bytes: Bytes) -> String {
    let mut value = bytes.0;
    let mut suffix = "";
    for next in ["k", "m", "g", "t", "p"] {
        if value == 0 || !value.is_multiple_of(1024) {
            break;
        }
        value /= 1024;
        suffix = next;
    }
    format!("{value}{suffix}")
}

/// A size typed by a person: plain bytes; `k`, `m`, `g`, `t` and `KiB`, ... are powers of 1024;
/// `kB`, `MB`, ... are powers of 1000.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let power = |c: u8| b"kmgtp".iter().position(|k| *k == c.to_ascii_lowercase());
    let factor = match suffix.as_bytes() {
        [] | [b'B'] => 1,
        [c] | [c, b'i'] | [c, b'i', b'B'] => 1024u64.checked_pow(power(*c)? as u32 + 1)?,
        [c, b'B'] => 1000u64.checked_pow(power(*c)? as u32 + 1)?,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_name_what_they_say() {
        for (key, name) in [
            (Key::MACHINE, "machine"),
            (Key::TEST, TEST),
            (Key::METRIC, METRIC),
            (Key::DIRECTION, "direction"),
            (Key::JOB, "job"),
            (Key::HOST, "host"),
            (Key::NUMJOBS, "numjobs"),
            (Key::WARMUP, "warmup"),
            (Key::FOLDER, "folder"),
        ] {
            assert_eq!(key.name(), name);
            assert_eq!(parse(name), Ok(key));
        }
    }

    #[test]
    fn lists_are_parsed_and_unknown_keys_are_named() {
        let keys = parse_list("machine, tool.version,machine").unwrap();
        let names: Vec<&str> = keys.iter().map(|k| k.name()).collect();
        assert_eq!(names, ["machine", "tool.version"]);
        assert_eq!(parse_list("").unwrap(), []);
        let error = parse_list("machine,bogus").unwrap_err();
        assert!(
            error.contains("found `bogus`") && error.contains("iodepth"),
            "{error}"
        );
        let date = parse("folder.date").unwrap();
        assert_eq!((date.of_folder(), date.role()), (Some("date"), Role::Name));
        assert!(parse("folder.").is_err() && parse("folder.a b").is_err());
    }

    #[test]
    fn sizes_are_written_in_fios_way_and_read_in_any() {
        assert_eq!(size_text(Bytes(4096)), "4k");
        assert_eq!(size_text(Bytes(1 << 20)), "1m");
        assert_eq!(size_text(Bytes(16 << 30)), "16g");
        assert_eq!(size_text(Bytes(4000)), "4000");
        assert_eq!(size_text(Bytes(0)), "0");
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("512", 512),
            ("1M", 1 << 20),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for bad in ["", "k", "4x", "4KKB", "99999999999999999999"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }
}
