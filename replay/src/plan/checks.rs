//! What is looked at once a job is understood: alignment, memory, whether a check of written
//! data can tell, and the differences that are worth a note.

use std::collections::BTreeMap;

use fio_parse::workload::Job;

use super::engines::asked_engine;
use super::files::named_files;
use super::fio::FioPlan;
use super::job::{Check, EngineKind, Pattern, Sizes, Spread, Syncs};
use super::options::Choices;
use super::{Draft, MOST_THREADS, binary};

/// Whether what is written can be read back and told.
pub(super) fn check_verify(
    job: &Job,
    pattern: Pattern,
    sizes: &[Sizes; 2],
    choices: &Choices,
    draft: &mut Draft<'_>,
) {
    let Some(verify) = &choices.verify else {
        return;
    };
    if !pattern.writes {
        let why = "verify in a job that only reads checks what an earlier run wrote, and that is not there; verify=0 leaves the check out";
        draft.refuse_about("verify", "verify", why.to_owned());
        return;
    }
    let overhead = crate::verify::overhead(&verify.check);
    if (sizes[1].smallest() as usize) < overhead {
        let why = format!(
            "blocks of {} have no room for the {overhead} bytes of header and checksum",
            binary(sizes[1].smallest().into()),
        );
        draft.refuse_about("verify", "verify", why);
        return;
    }
    if !verify.read_back || verify.check == Check::Null {
        return;
    }
    let order = &choices.order;
    let repeats = order.spread != Spread::Even
        || order.align.is_some()
        || order.run > 1
        || order.gap != 0
        || !order.random_map
        || order.strided.is_some()
        || order.percent_random != [100; 2];
    let one = matches!(sizes[1], Sizes::One(_))
        && order
            .align
            .is_none_or(|align| u64::from(align).is_multiple_of(sizes[1].smallest().into()));
    let several = job.filename.is_some() && job.jobs.unwrap_or(1) > 1;
    if (repeats && !(one && pattern.random && order.run == 1 && order.gap == 0)) || several {
        let why = "verify with blocks that are written over in part before they are read back would report its own writes; verify=0 leaves the check out";
        draft.refuse_about("verify", "verify", why.to_owned());
    }
}

/// Differences of order, files and pace.
pub(super) fn note_order(
    job: &Job,
    pattern: Pattern,
    choices: &Choices,
    files: u64,
    syncs: Syncs,
    draft: &mut Draft<'_>,
) {
    let drawn = choices
        .sizes
        .as_ref()
        .is_some_and(|sizes| sizes.iter().any(|sizes| !matches!(sizes, Sizes::One(_))));
    if pattern.random || drawn {
        draft.note("random-sequence");
    }
    if choices.pace.bounded() && pattern.mixed() {
        draft.note("rates-share-turns");
    }
    if choices.open_files.is_some_and(|open| open < files) {
        draft.note("files-kept-open");
    }
    let every = syncs.fsync_every > 0 || syncs.fdatasync_every > 0 || choices.range_sync.is_some();
    if files > 1 && every && pattern.writes {
        draft.note("sync-of-written-file");
    }
    let batch = choices.batch;
    if batch.low > 0 || batch.submit > 1 || batch.complete > 1 || batch.complete_most > 1 {
        draft.note("batched");
    }
    if choices.place.nice < 0 || matches!(choices.place.io_priority, Some((1, _))) {
        draft.note("priority-best-effort");
    }
    if choices.pace.bounded() && job.depth.unwrap_or(1) > 1 {
        draft.note("paced-drains");
    }
}

/// A mix whose directions count in blocks of different sizes.
pub(super) fn note_two_sizes(
    job: &Job,
    pattern: Pattern,
    sizes: &[Sizes; 2],
    choices: &Choices,
    draft: &mut Draft<'_>,
) {
    let unlike = sizes[0].smallest() != sizes[1].smallest() && choices.order.align.is_none();
    if !(pattern.mixed() && unlike) {
        return;
    }
    let timed = job.time_based == Some(true) && job.runtime_ns.is_some();
    if !pattern.random {
        // Whose turn the last one is depends on the order that was drawn.
        if !timed {
            draft.note("amount-by-chance");
        }
        return;
    }
    draft.note("two-sizes-one-map");
    if choices.order.random_map && choices.order.spread == Spread::Even && !timed {
        draft.note("amount-by-chance");
    }
}

pub(super) fn check_alignment(values: &[u64], draft: &mut Draft<'_>) {
    match draft.target.direct_alignment {
        Some(0) => draft.refuse_about(
            "no-direct",
            "direct",
            "the file system of the directory has no O_DIRECT".to_owned(),
        ),
        known => {
            // No file system takes less than a sector, where the kernel does not say.
            let alignment = u64::from(known.unwrap_or(512)).max(1);
            if let Some(odd) = values.iter().find(|&&value| value % alignment != 0) {
                draft.refuse_about(
                    "direct-alignment",
                    "direct",
                    format!("direct=1 needs blocks and offsets that are multiples of {alignment} bytes; {odd} is not"),
                );
            }
        }
    }
}

pub(super) fn note_syncs(
    job: &Job,
    pattern: Pattern,
    syncs: Syncs,
    depth: u32,
    draft: &mut Draft<'_>,
) {
    if !pattern.writes || (syncs.fsync_every == 0 && syncs.fdatasync_every == 0) {
        return;
    }
    if depth > 1 && ["io_uring", "posixaio"].contains(&asked_engine(job)) {
        draft.note("fsync-count-fixed");
    }
    if syncs.fdatasync_every > 0 {
        draft.note("fdatasync-counted");
    }
    if pattern.mixed() {
        draft.note("mixed-fsync-count-fixed");
    }
}

pub(super) fn note_target(job: &Job, draft: &mut Draft<'_>) {
    if draft.target.device.is_some() {
        return draft.note("device-typed");
    }
    for name in named_targets(job) {
        if is_device(&name) {
            draft.note_with("target-device-to-file", name);
        } else if in_memory(&name) {
            draft.note_with("target-in-memory", name);
        } else {
            draft.note("target-in-sandbox");
        }
    }
}

/// The paths that a job names, its directories put before its files as fio does it.
fn named_targets(job: &Job) -> Vec<String> {
    let list = |names: &Option<String>| names.as_deref().map_or(Vec::new(), named_files);
    let (directories, files) = (list(&job.directory), list(&job.filename));
    if directories.is_empty() {
        return files;
    }
    // Files of its own have names that are no device's.
    let files = if files.is_empty() {
        vec![String::new()]
    } else {
        files
    };
    directories
        .iter()
        .flat_map(|directory| files.iter().map(move |file| format!("{directory}/{file}")))
        .collect()
}

/// Whether a job names a device.
pub(super) fn names_device(job: &Job) -> bool {
    named_targets(job).iter().any(|name| is_device(name))
}

/// Whether the CPUs that a job is bound to are there for it.
pub(super) fn check_cpus(asked: &[u32], draft: &mut Draft<'_>) {
    let Some(there) = &draft.target.cpus else {
        return;
    };
    if let Some(missing) = asked.iter().find(|cpu| !there.contains(cpu)) {
        let why = format!(
            "the job is bound to CPU {missing}, which is not there for this program; leave the option out, or choose \
             among {there:?}"
        );
        draft.refuse_about("no-such-cpu", "cpus_allowed", why);
    }
}

/// Threads and open files of the jobs that run at the same time.
pub(super) fn check_threads_and_files(plan: &FioPlan, draft: &mut Draft<'_>) {
    let mut stages = BTreeMap::<u32, (u64, u64)>::new();
    for job in &plan.jobs {
        let files = job.files.len() as u64;
        let helpers = match job.engine {
            EngineKind::Helper => files,
            EngineKind::Offload => u64::from(job.depth),
            _ => 0,
        };
        let (threads, open) = stages.entry(job.stage).or_default();
        *threads += 1 + helpers;
        *open += files;
    }
    let threads = stages.values().map(|stage| stage.0).max().unwrap_or(0);
    if threads > MOST_THREADS {
        let why = format!(
            "the test needs {threads} threads at a time and {MOST_THREADS} are the limit; posixaio takes one for each file, \
             io_submit_mode=offload one for each I/O of the queue"
        );
        draft.refuse("too-many-threads", why);
    }
    let open = stages.values().map(|stage| stage.1).max().unwrap_or(0);
    let limit = draft.target.limits.open_files;
    if open > limit {
        let why = format!(
            "{open} files are open at a time and {limit} are the limit here; `ulimit -n` raises it"
        );
        draft.refuse("too-many-files", why);
    }
}

/// Whether a name is that of a device, here or on Windows.
fn is_device(name: &str) -> bool {
    ["\\\\.\\", "\\\\\\\\"]
        .iter()
        .any(|start| name.starts_with(start))
        || matches!(parts(name)[..], ["dev", first, ..] if !MEMORY.contains(&first))
}

/// Whether a name is that of a file in memory.
fn in_memory(name: &str) -> bool {
    matches!(parts(name)[..], ["dev", first, ..] if MEMORY.contains(&first))
}

/// Folders of /dev that hold files in memory instead of devices.
const MEMORY: &[&str] = &["shm", "hugepages", "mqueue"];

/// The parts of an absolute path, `.` and `..` worked out; none of any other.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in name.split('/').filter(|_| name.starts_with('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

pub(super) fn check_memory(plan: &FioPlan, draft: &mut Draft<'_>) {
    let mut stages = BTreeMap::<u32, u64>::new();
    for job in &plan.jobs {
        let block =
            u64::from(job.largest_block()).next_multiple_of(crate::memory::ALIGNMENT as u64);
        let needed = block.saturating_mul(u64::from(job.depth));
        let stage = stages.entry(job.stage).or_default();
        *stage = stage.saturating_add(needed);
    }
    let needed = stages.values().copied().max().unwrap_or(0);
    let limit = draft.target.limits.memory_bytes;
    if needed > limit {
        draft.refuse(
            "memory",
            format!(
                "jobs x depth x block needs {} of buffers and {} is the limit; --allow-large raises it to a quarter of what is free",
                binary(needed),
                binary(limit)
            ),
        );
    }
}
