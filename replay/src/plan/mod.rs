//! From a workload to a closed plan, or to all reasons why not.
//!
//! A plan is typed and complete: what will run, on how many bytes, for how long, and in
//! what it differs from the original. Making it is pure: no file is opened, no clock read.
//! What the machine offers comes in as a [`Target`].

mod bounds;
mod checks;
pub mod dd;
mod dd_flags;
mod engines;
mod extent;
mod files;
pub mod fio;
pub mod job;
mod meant;
pub mod note;
mod options;
pub mod parts;

use fio_parse::workload::{Job, Test, Workload, WrittenAs};

use crate::sandbox::Space;
use bounds::{check_space, check_writes, much_to_write};
use dd::DdPlan;
use fio::FioPlan;
use job::EngineKind;
use meant::hint;
pub use note::{Note, Refusal, Verdict};

/// Bounds that no workload may pass without the person's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of files on disk at a time.
    pub file_bytes: u64,
    /// Memory for buffers, bytes.
    pub memory_bytes: u64,
    /// Longest run time of a job, ns.
    pub runtime_ns: u64,
    /// Files that may be open at a time.
    pub open_files: u64,
    /// Bytes that a test may write.
    pub written_bytes: u64,
}

impl Limits {
    /// None at all.
    pub const NONE: Limits = Limits {
        file_bytes: u64::MAX,
        memory_bytes: u64::MAX,
        runtime_ns: u64::MAX,
        open_files: u64::MAX,
        written_bytes: u64::MAX,
    };
}

/// Jobs at a time.
pub const MOST_JOBS: u64 = 64;
/// Queue depth.
pub const MOST_DEPTH: u32 = 1024;
/// Files of a job.
pub const MOST_FILES: u64 = 10_000;
/// Threads at a time.
pub const MOST_THREADS: u64 = 256;
/// Passes of a job.
pub const MOST_LOOPS: u64 = 1000;
/// Bytes of a block.
pub const MOST_BLOCK: u64 = 1 << 30;

/// What the plan is for: the machine and the person's wishes.
#[derive(Debug, Clone)]
pub struct Target {
    /// io_uring can be used; else why not and what to do.
    pub uring: Result<(), String>,
    /// Room on the file system, where a directory was named.
    pub space: Option<Space>,
    /// The directory is in memory (tmpfs).
    pub memory_file_system: bool,
    /// CPUs that this process may use, where they are known.
    pub cpus: Option<Vec<u32>>,
    /// Charge of the battery that the machine runs on, per cent.
    pub battery_percent: Option<u8>,
    /// Size of the device that the person typed (`--device`), bytes.
    pub device: Option<u64>,
    /// Alignment that O_DIRECT asks for, where it is known; `Some(0)`: no O_DIRECT there.
    pub direct_alignment: Option<u32>,
    /// `--size`: no file is larger, bytes.
    pub size: Option<u64>,
    /// `--runtime`: no job runs longer, ns.
    pub runtime_ns: Option<u64>,
    /// `--engine`.
    pub engine: Option<EngineKind>,
    /// `--as-fio`: nothing is registered with io_uring and nothing is batched that the
    /// original does not ask for.
    pub as_fio: bool,
    /// `--stamp batch`: I/Os that go or come together share a stamp.
    pub batch_stamps: bool,
    /// Bounds.
    pub limits: Limits,
    /// What the names of test files begin with, so that several tests can keep theirs.
    pub name_prefix: String,
}

impl Target {
    /// A machine of which nothing is known but that io_uring can be used, and a person without
    /// wishes.
    pub fn new(limits: Limits) -> Self {
        Target {
            uring: Ok(()),
            space: None,
            memory_file_system: false,
            cpus: None,
            battery_percent: None,
            device: None,
            direct_alignment: None,
            size: None,
            runtime_ns: None,
            engine: None,
            as_fio: false,
            batch_stamps: false,
            limits,
            name_prefix: String::new(),
        }
    }
}

/// What will run.
#[derive(Debug, Clone, PartialEq)]
pub enum TestPlan {
    /// fio jobs.
    Fio(FioPlan),
    /// One dd.
    Dd(DdPlan),
}

/// A plan that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What will run.
    pub test: TestPlan,
    /// In what it differs from the original.
    pub notes: Vec<Note>,
}

impl Plan {
    /// How close the run will be to the original: the worst of its notes.
    pub fn verdict(&self) -> Verdict {
        self.notes
            .iter()
            .map(|note| note.level())
            .max()
            .unwrap_or(Verdict::Exact)
    }

    /// The test files.
    pub fn files(&self) -> &[job::FilePlan] {
        match &self.test {
            TestPlan::Fio(plan) => &plan.files,
            TestPlan::Dd(plan) => &plan.files,
        }
    }

    /// Bytes of files on disk while it runs.
    pub fn file_bytes(&self) -> u64 {
        match &self.test {
            TestPlan::Fio(plan) => plan
                .files
                .iter()
                .filter(|file| !file.device)
                .fold(0, |sum: u64, file| sum.saturating_add(file.bytes)),
            TestPlan::Dd(plan) => plan.file_bytes(),
        }
    }

    /// Bytes that will be written, layout included; `None` if only time ends it.
    pub fn written_bytes(&self) -> Option<u64> {
        match &self.test {
            TestPlan::Fio(plan) => plan.written_bytes(),
            TestPlan::Dd(plan) => Some(plan.written_bytes()),
        }
    }

    /// Time that it takes at least by its delays, rates and pauses, ns, where they are known.
    pub fn least_ns(&self) -> Option<u64> {
        match &self.test {
            TestPlan::Fio(plan) => Some(plan.least_ns()),
            TestPlan::Dd(_) => None,
        }
    }

    /// Longest time, delays included, ns, where time bounds it.
    pub fn longest_ns(&self) -> Option<u64> {
        match &self.test {
            TestPlan::Fio(plan) => plan.longest_ns(),
            TestPlan::Dd(_) => None,
        }
    }
}

/// Plans a workload.
///
/// # Errors
/// All reasons why it cannot be run, at once.
pub fn plan(workload: &Workload, target: &Target) -> Result<Plan, Vec<Refusal>> {
    let mut draft = Draft::new(target);
    open_values(workload, &mut draft);
    untold(workload, &mut draft);
    surroundings(workload, &mut draft);
    let writes = |job: &Job| job.pattern.is_some_and(|pattern| pattern.writes());
    let writes = workload.jobs().iter().any(writes);
    for (name, value) in &workload.program {
        options::judge_program(name, value, writes, &mut draft);
    }
    let test = match &workload.test {
        Test::Jobs(jobs) => fio::plan(jobs, &mut draft).map(TestPlan::Fio),
        Test::Dd(_) if target.device.is_some() => {
            let why = "--device is for fio jobs; a dd works on files".to_owned();
            draft.refuse("device", why);
            None
        }
        Test::Dd(dd) => dd::plan(dd, &workload.around, &mut draft).map(TestPlan::Dd),
    };
    let Some(test) = test.filter(|_| draft.refusals.is_empty()) else {
        return Err(draft.refusals);
    };
    let mut plan = Plan {
        test,
        notes: draft.notes,
    };
    check_space(&plan, target).map_err(|refusal| vec![refusal])?;
    check_writes(&plan, target).map_err(|refusal| vec![refusal])?;
    if let Some(detail) = much_to_write(&plan) {
        plan.notes.push(Note::with("wears-flash", detail));
    }
    if target.memory_file_system {
        plan.notes.push(Note::new("memory-file-system"));
    }
    Ok(plan)
}

/// Options whose values are names of files, which are only labels here.
const LABELS: &[&str] = &["filename_format"];
/// What fio puts in for `$jobname` and the like in `filename_format`.
const FORMAT_WORDS: &[&str] = &["jobname", "jobnum", "filenum", "clientuid"];

/// Variables and files that the command leaves open. In a name they do no harm, for names
/// are only labels here; anywhere else the test is not known.
fn open_values(workload: &Workload, draft: &mut Draft<'_>) {
    let mut labels: Vec<&str> = Vec::new();
    let mut values: Vec<&str> = Vec::new();
    match &workload.test {
        Test::Jobs(jobs) => {
            for job in jobs {
                labels.push(&job.name);
                labels.extend(job.filename.as_deref());
                labels.extend(job.directory.as_deref());
                values.extend(job.engine.as_deref());
                for (name, value) in &job.other {
                    if LABELS.contains(&name.as_str()) {
                        labels.push(value);
                    } else if !options::is_presentation(name) {
                        values.push(value);
                    }
                }
            }
        }
        Test::Dd(dd) => {
            labels.extend(dd.output.as_deref());
            // It may be /dev/zero or a file: another test each time.
            values.extend(dd.input.as_deref());
            values.extend(dd.other.iter().map(|(_, value)| value.as_str()));
            values.extend(
                [&dd.conv, &dd.iflag, &dd.oflag]
                    .into_iter()
                    .flatten()
                    .map(String::as_str),
            );
        }
    }
    if workload.missing.iter().any(|what| what == "option:name") {
        let why = "the command defines no job: --name is missing, and fio refuses it too";
        draft.refuse("no-job", why.to_owned());
    }
    let within = |texts: &[&str], open: &str| texts.iter().any(|text| text.contains(open));
    // fio itself fills these in, and only here.
    let format = |job: &Job| job.other.iter().any(|(name, _)| name == "filename_format");
    let of_fio = |what: &str| FORMAT_WORDS.contains(&what) && workload.jobs().iter().any(format);
    if let Some(printed) = rounded_block(workload) {
        let why = format!(
            "the head of the report has the block size rounded ({printed}), and several would print so; give it with --set bs=SIZE"
        );
        draft.refuse("block-size-unknown", why);
    }
    let header = workload.written_as == WrittenAs::FioHeader;
    let clones = workload.missing.iter().any(|what| what == "value:numjobs");
    if header && clones {
        let why = "the head of the report says that clones of a job ran, and nothing says how many; give it with --set numjobs=N";
        draft.refuse("numjobs-unknown", why.to_owned());
    }
    let special = ["option:name", "value:bs"];
    let (harmless, needed): (Vec<&String>, Vec<&String>) = workload
        .missing
        .iter()
        .filter(|what| !special.contains(&what.as_str()) && !of_fio(what))
        .filter(|what| !(header && *what == "value:numjobs"))
        .partition(|open| within(&labels, open) && !within(&values, open));
    if !harmless.is_empty() {
        draft.note("target-unknown");
    }
    if !needed.is_empty() {
        let needed: Vec<&str> = needed.into_iter().map(String::as_str).collect();
        let why = format!(
            "the command leaves open: {}; give each variable with --set NAME=VALUE, each file as an input",
            needed.join(", ")
        );
        draft.refuse("missing-values", why);
    }
}

/// The block size as the head of a report has it, where that leaves several possible.
fn rounded_block(workload: &Workload) -> Option<&str> {
    let open = workload.missing.iter().any(|what| what == "value:bs");
    let mut readings = workload.normalised.iter();
    open.then(|| {
        readings
            .find_map(|reading| reading.strip_prefix("rounded:bs="))
            .unwrap_or("unreadable")
    })
}

/// What the head of a fio report leaves out, where nothing but that head is known. fio's
/// defaults stand for it, and most testers do not use the defaults.
fn untold(workload: &Workload, draft: &mut Draft<'_>) {
    if workload.written_as != WrittenAs::FioHeader {
        return;
    }
    let jobs = workload.jobs();
    let any = |untold: fn(&Job) -> bool| jobs.iter().any(untold);
    let mut options = Vec::new();
    for (untold, name) in [
        (
            any(|job| job.size_bytes.is_none()),
            "size (--size gives it)",
        ),
        (any(|job| job.runtime_ns.is_none()), "runtime (no limit)"),
        (any(|job| job.jobs.is_none()), "numjobs (1)"),
        (any(|job| job.fsync.is_none()), "fsync (none)"),
        (any(|job| job.end_fsync.is_none()), "end_fsync (0)"),
    ] {
        if untold {
            options.push(name);
        }
    }
    options.push("and others");
    draft.note_with("header-only", options.join(", "));
    // These two engines do the same whatever direct says.
    let blind = |job: &Job| matches!(job.engine.as_deref(), Some("mmap" | "null"));
    if jobs.iter().any(|job| job.direct.is_none() && !blind(job)) {
        draft.note("direct-not-recorded");
    }
    let mixed = |job: &Job| {
        job.pattern
            .is_some_and(|pattern| pattern.reads() && pattern.writes())
    };
    if jobs.iter().any(|job| job.rwmixread.is_none() && mixed(job)) {
        draft.note("mix-not-recorded");
    }
}

/// What stood around the command, and how it was read.
fn surroundings(workload: &Workload, draft: &mut Draft<'_>) {
    let around = &workload.around;
    for prefix in &around.prefix {
        let program = prefix.split_whitespace().next().unwrap_or_default();
        match program {
            // They start the command and nothing else.
            "sh" | "bash" | "zsh" | "sudo" | "doas" | "env" | "nohup" | "exec" | "time" => {}
            "ssh" | "docker" | "podman" | "kubectl" | "lxc" | "adb" => draft.refuse(
                "other-machine",
                format!("{program} runs the command somewhere else; give the command alone to run it here"),
            ),
            _ => draft.note_with("wrapper-dropped", prefix.clone()),
        }
    }
    match (&around.tail, around.tail.as_deref().and_then(lost_option)) {
        (Some(_), Some((name, word))) => {
            let hint = match workload.dd() {
                Some(_) => hint("operand", name),
                None => String::new(),
            };
            let why = format!(
                "{word} is no option of this command; leave it out if the test does not need it{hint}"
            );
            draft.refuse_about("unknown-option", name, why);
        }
        (Some(tail), None) => draft.note_with("tail-dropped", tail.clone()),
        (None, _) => {}
    }
    for reading in &workload.normalised {
        if let Some(printed) = reading.strip_prefix("rounded:bs=") {
            draft.note_with("block-size-from-rounded", printed.to_owned());
            continue;
        }
        if let Some(line) = reading.strip_prefix("left-out:") {
            let why = format!(
                "the line {line:?} cannot be read, and what it asks for is not known; expected option=value or a flag"
            );
            draft.refuse_about("unreadable-line", line, why);
            continue;
        }
        if let Some(operand) = reading.strip_prefix("gnu-number:") {
            gnu_number(operand, draft);
            continue;
        }
        draft.note_with("read-leniently", reading.clone());
    }
}

/// A number as only GNU dd takes it, which is the dd that is played. Before 9.1 `count=1kB` are 1000 blocks, since
/// then 1000 bytes, and no command tells its version.
fn gnu_number(operand: &str, draft: &mut Draft<'_>) {
    let Some((name, value)) = operand.split_once('=') else {
        return;
    };
    let scaled = (value.strip_suffix('B'))
        .is_some_and(|number| !number.ends_with(|c: char| c.is_ascii_digit()));
    if scaled && ["count", "skip", "seek"].contains(&name) {
        let why = format!(
            "{name}={value} counts blocks in dd before 9.1 and bytes from 9.1 on; write the number without B for blocks, \
             or as digits and B for bytes"
        );
        draft.refuse_about("option-value", name, why);
    }
}

/// The name and the whole of a `name=value` that stands where a command ends: no operator of a shell ends it there, so
/// it is a slip of the pen, and without it the test would be another one.
fn lost_option(tail: &str) -> Option<(&str, &str)> {
    let word = tail.split_whitespace().next()?;
    let (name, _) = word.split_once('=')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain))
        .then_some((name, word))
}

/// A size for messages: `4 GiB`, `1.5 MiB`, `1000 B`.
pub fn binary(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let step = (bytes.max(1).ilog2() / 10) as usize;
    let scaled = bytes as f64 / (1u64 << (10 * step)) as f64;
    let text = format!("{scaled:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} {}", units[step])
}

/// A plan in the making: everything found on the way.
#[derive(Debug)]
struct Draft<'t> {
    target: &'t Target,
    notes: Vec<Note>,
    refusals: Vec<Refusal>,
    /// Number of the job that is looked at.
    section: Option<u32>,
}

impl<'t> Draft<'t> {
    fn new(target: &'t Target) -> Self {
        Draft {
            target,
            notes: Vec::new(),
            refusals: Vec::new(),
            section: None,
        }
    }

    fn note(&mut self, id: &'static str) {
        self.add(Note::new(id));
    }

    /// Notes something with particulars that the general explanation lacks.
    fn note_with(&mut self, id: &'static str, detail: String) {
        self.add(Note::with(id, detail));
    }

    fn add(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn refuse(&mut self, id: &'static str, why: String) {
        self.push(Refusal::new(id, why));
    }

    /// Refuses because of an option.
    fn refuse_about(&mut self, id: &'static str, option: &str, why: String) {
        self.push(Refusal::about(id, option, why));
    }

    /// The same of several jobs is said once.
    fn push(&mut self, refusal: Refusal) {
        let known = match self.refusals.iter().position(|known| {
            (known.id, &known.option, &known.why) == (refusal.id, &refusal.option, &refusal.why)
        }) {
            Some(known) => known,
            None => {
                self.refusals.push(refusal);
                self.refusals.len() - 1
            }
        };
        let sections = &mut self.refusals[known].sections;
        sections.extend(self.section.filter(|section| !sections.contains(section)));
    }
}
