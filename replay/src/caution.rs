//! What is doubtful about figures because of where and how they were taken: the file fits in
//! memory, the machine runs on its battery, the rate is more than the link carries. Nothing
//! here says that a run differs from its original, so no verdict depends on it; each caution
//! is a remark in the record and below the text.
//!
//! The rules are those of careful testers; the ceilings are what the standards let a link
//! carry at most: PCIe and USB line rates less their line code, SATA 6 Gb/s 8b/10b.

use serde_json::{Map, Value};

use crate::content::Content;
use crate::outcome::{FioOutcome, Outcome, groups, joined, rate, runtime_ms};
use crate::plan::dd::Source;
use crate::plan::job::{AVERAGE_MS, EngineKind, JobPlan};
use crate::plan::note::plain_text;
use crate::plan::{Plan, TestPlan, binary};
use crate::worker::Sample;

/// A kind of caution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Stable id.
    pub id: &'static str,
    /// The figures are hardly those of the disk; else they are to be read with this in mind.
    pub severe: bool,
    /// What it means.
    pub why: &'static str,
}

const fn kind(id: &'static str, severe: bool, why: &'static str) -> Kind {
    Kind { id, severe, why }
}

/// All of them.
pub const KINDS: &[Kind] = &[
    kind(
        "fits-in-memory",
        false,
        "the files are smaller than the memory and the test goes through the page cache, which can hold all of them",
    ),
    kind(
        "beyond-link",
        true,
        "the rate is more than the link to the disk carries: a cache or compression was measured",
    ),
    kind(
        "durable-too-fast",
        true,
        "writes that are to be on the disk took less than 2 us: they are not reaching the device",
    ),
    kind(
        "flush-too-fast",
        true,
        "syncs took less than 50 us on a disk that turns: they are not reaching the device",
    ),
    kind(
        "compressible-content",
        true,
        "the file system compresses and the content can be compressed: less reaches the device than is written",
    ),
    kind(
        "steps-down",
        false,
        "the rate fell by more than 30 % during the run, as when a fast cache of an SSD is full",
    ),
    kind(
        "short-run",
        false,
        "the run was so short that fio's rule of whole milliseconds moves the rate by more than 1 %",
    ),
    kind(
        "no-local-disk",
        false,
        "the file system is on no disk of this machine (overlay, network, FUSE, memory), as far as the system tells",
    ),
    kind(
        "encrypted-disk",
        false,
        "the data is encrypted on its way to the disk, which takes CPU time",
    ),
    kind(
        "nearly-full",
        false,
        "the file system is more than 90 % full, which slows many file systems and SSDs down",
    ),
    kind(
        "on-battery",
        false,
        "the machine runs on its battery and may save power",
    ),
    kind(
        "cpu-governor",
        false,
        "the CPU's clock is not kept high, so short waits wake a slow CPU",
    ),
    kind(
        "cpu-throttled",
        false,
        "the CPU got too hot during the run and was slowed down",
    ),
    kind(
        "virtual-machine",
        false,
        "a hypervisor stands between this system and the disk: its caches and limits count",
    ),
    kind(
        "steal",
        false,
        "the hypervisor took CPU time away during the run",
    ),
    kind(
        "busy-disk",
        false,
        "tasks were waiting for I/O before the run began: the disk was not idle",
    ),
];

/// A caution on one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caution {
    /// Its kind.
    pub kind: &'static Kind,
    /// In a sentence, with particulars.
    pub text: String,
}

impl Caution {
    /// Stable id.
    pub fn id(&self) -> &'static str {
        self.kind.id
    }
}

/// What is to be said about a run, its plan and the facts of its machine.
pub fn cautions(plan: &Plan, outcome: &Outcome, facts: &Map<String, Value>) -> Vec<Caution> {
    if !outcome.measured() {
        return Vec::new();
    }
    let mut list = List(Vec::new());
    of_the_file(plan, facts, &mut list);
    of_the_figures(plan, outcome, facts, &mut list);
    of_the_machine(facts, &mut list);
    list.0
}

struct List(Vec<Caution>);

impl List {
    fn add(&mut self, id: &str, detail: String) {
        // Ids are literals of this module; a test holds them against the table.
        if let Some(kind) = KINDS.iter().find(|kind| kind.id == id) {
            let text = if detail.is_empty() {
                kind.why.to_owned()
            } else {
                plain_text(&format!("{} ({detail})", kind.why))
            };
            self.0.push(Caution { kind, text });
        }
    }
}

fn text<'f>(facts: &'f Map<String, Value>, name: &str) -> Option<&'f str> {
    facts.get(name).and_then(Value::as_str)
}

fn number(facts: &Map<String, Value>, name: &str) -> Option<u64> {
    facts.get(name).and_then(Value::as_u64)
}

fn touches(job: &JobPlan) -> bool {
    job.engine != EngineKind::Null && !job.create_only
}

/// Whether all data passes the page cache by; and whether it can be compressed.
fn direct_and_compressible(plan: &Plan) -> (bool, bool) {
    match &plan.test {
        TestPlan::Fio(fio) => {
            let jobs = || fio.jobs.iter().filter(|job| touches(job));
            let direct = |job: &JobPlan| job.direct && job.engine != EngineKind::Mmap;
            // Blocks of one buffer differ in a few words only, so also the default compresses
            // where blocks are small.
            let compressible = |job: &JobPlan| {
                job.pattern.writes
                    && match job.content {
                        Content::Refilled => false,
                        Content::Scrambled => job.smallest_block() < 64 << 10,
                        _ => true,
                    }
            };
            (jobs().all(direct), jobs().any(compressible))
        }
        TestPlan::Dd(dd) => {
            let direct = (dd.source_file().is_none() || dd.direct_in)
                && (dd.sink_file().is_none() || dd.direct_out);
            let zeros = dd.source == Source::Zero && dd.sink_file().is_some();
            (direct, zeros)
        }
    }
}

fn of_the_file(plan: &Plan, facts: &Map<String, Value>, list: &mut List) {
    let (direct, compressible) = direct_and_compressible(plan);
    let bytes = plan.file_bytes();
    if let Some(memory) = number(facts, "memory_bytes")
        && !direct
        && (1..memory).contains(&bytes)
    {
        let detail = format!("{} of files, {} of memory", binary(bytes), binary(memory));
        list.add("fits-in-memory", detail);
    }
    let kind = text(facts, "file_system").unwrap_or_default();
    let options = text(facts, "mount_options").unwrap_or_default();
    // Whether zfs and bcachefs compress is a property that the mount does not tell.
    let compresses = options.contains("compress") || ["zfs", "bcachefs"].contains(&kind);
    if compresses && compressible {
        list.add("compressible-content", kind.to_owned());
    }
    if plan.files().iter().any(|file| !file.device) {
        if facts.contains_key("file_system") && !facts.contains_key("disk") {
            list.add("no-local-disk", kind.to_owned());
        }
        // As df has it: what is kept back for others is neither used nor free.
        if let (Some(used), Some(free)) = (
            number(facts, "space_used_bytes"),
            number(facts, "space_free_bytes"),
        ) && free < used / 9
        {
            let detail = format!("{} are used, {} are free", binary(used), binary(free));
            list.add("nearly-full", detail);
        }
    }
    if text(facts, "disk_mapping") == Some("CRYPT") {
        list.add("encrypted-disk", String::new());
    }
}

fn of_the_figures(plan: &Plan, outcome: &Outcome, facts: &Map<String, Value>, list: &mut List) {
    let fastest = match (&plan.test, outcome) {
        (TestPlan::Fio(fio), Outcome::Fio(measured)) => {
            of_latencies(plan, measured, facts, list);
            let groups = groups(fio, measured);
            let moved = groups.iter().flat_map(|group| {
                let touched = group.entries.iter().any(|entry| touches(entry.job));
                [0, 1].map(|way| group.figures(way).filter(|_| touched))
            });
            let rates = moved.flatten().map(|figures| figures.all.bytes_per_sec);
            rates.max().unwrap_or(0)
        }
        (_, Outcome::Dd(dd)) => rate(dd.bytes, dd.window_ns.div_ceil(1_000_000)),
        _ => 0,
    };
    if let Some(most) = number(facts, "link_bytes_per_sec")
        && fastest > most
    {
        let detail = format!("{}/s, the link {}/s at most", binary(fastest), binary(most));
        list.add("beyond-link", detail);
    }
}

fn of_latencies(plan: &Plan, outcome: &FioOutcome, facts: &Map<String, Value>, list: &mut List) {
    const DURABLE_NS: f64 = 2_000.0;
    const FLUSH_NS: f64 = 50_000.0;
    /// From here on rounding up to a millisecond is less than 1 %.
    const SHORT_NS: u64 = 100_000_000;
    let TestPlan::Fio(fio) = &plan.test else {
        return;
    };
    let turns = number(facts, "disk_rotational") == Some(1);
    for group in groups(fio, outcome) {
        for entry in &group.entries {
            let job = entry.job;
            if !touches(job) {
                continue;
            }
            let writes = &entry.flows[1];
            let mean = writes.lat.mean();
            if (job.sync || job.dsync) && writes.ios > 0 && mean < DURABLE_NS {
                list.add("durable-too-fast", format!("{}: {mean:.0} ns", job.name));
            }
            let flush = entry.syncs.lat.mean();
            if turns && entry.syncs.count > 0 && flush < FLUSH_NS {
                let detail = format!("{}: {:.1} us", job.name, flush / 1000.0);
                list.add("flush-too-fast", detail);
            }
            for (flow, ns) in entry.flows.iter().zip(entry.windows_ns) {
                let by_rule = rate(flow.bytes, runtime_ms(ns));
                let by_clock = u128::from(flow.bytes) * 1_000_000_000 / u128::from(ns.max(1));
                if ns < SHORT_NS && by_clock > u128::from(by_rule) * 101 / 100 {
                    let detail = format!(
                        "{}: {:.3} ms; {by_rule} B/s by the rule, {by_clock} B/s by the clock",
                        job.name,
                        ns as f64 / 1e6
                    );
                    list.add("short-run", detail);
                    break;
                }
            }
            let bounded = job.pace.bounded() || job.pace.think.is_some();
            if let [samples] = entry.samples[..]
                && !bounded
                && let Some(after) = step_down(&joined(samples, AVERAGE_MS))
            {
                list.add(
                    "steps-down",
                    format!("{}: after {}", job.name, binary(after)),
                );
            }
        }
    }
}

/// The bytes after which the rate fell for good by more than 30 %: the best cut in two, each
/// part at least a fifth of a run of ten seconds or more.
fn step_down(samples: &[Sample]) -> Option<u64> {
    const LEAST: usize = 20;
    if samples.len() < LEAST {
        return None;
    }
    let bytes: Vec<u64> = samples
        .iter()
        .map(|sample| sample.bytes[0] + sample.bytes[1])
        .collect();
    let part = samples.len() / 5;
    let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len().max(1) as f64;
    let drop = |cut: usize| 1.0 - mean(&bytes[cut..]) / mean(&bytes[..cut]).max(1.0);
    let cut = (part..=samples.len() - part).max_by(|&a, &b| drop(a).total_cmp(&drop(b)))?;
    // A cache that is full stays so: nearly all that comes is slower than what was before.
    let before = mean(&bytes[..cut]);
    let slow = bytes[cut..]
        .iter()
        .filter(|&&bytes| (bytes as f64) < before * 0.85)
        .count();
    let stays = slow * 10 >= (bytes.len() - cut) * 9;
    (drop(cut) > 0.3 && stays).then(|| bytes[..cut].iter().sum())
}

fn of_the_machine(facts: &Map<String, Value>, list: &mut List) {
    if let Some(power) = text(facts, "power")
        && (power.contains("no mains") || power.contains("(Discharging)"))
    {
        list.add("on-battery", power.to_owned());
    }
    if let Some(governor) = text(facts, "cpu_governor")
        && governor != "performance"
    {
        list.add("cpu-governor", governor.to_owned());
    }
    if facts.get("virtual_machine") == Some(&Value::Bool(true)) {
        list.add("virtual-machine", String::new());
    }
    let noise = |when: &str, what: &str| {
        let noise = facts.get(when).and_then(Value::as_object);
        noise.and_then(|noise| noise.get(what)?.as_f64())
    };
    let grown = |what: &str| {
        let (before, after) = (noise("noise_before", what)?, noise("noise_after", what)?);
        (after > before).then_some(after - before)
    };
    /// Clock ticks a second of /proc/stat (USER_HZ), the same on all Linux systems.
    const TICKS: f64 = 100.0;
    if let Some(ticks) = grown("steal_ticks")
        && ticks >= TICKS / 10.0
    {
        list.add("steal", format!("{:.2} s", ticks / TICKS));
    }
    if let Some(times) = grown("throttled") {
        list.add("cpu-throttled", format!("{times:.0} times"));
    }
    if let Some(share) = noise("noise_before", "pressure_io")
        && share >= 10.0
    {
        list.add("busy-disk", format!("{share:.0} % of the last ten seconds"));
    }
}

#[cfg(test)]
#[path = "caution_tests.rs"]
mod tests;
