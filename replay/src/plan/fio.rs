//! fio jobs to a plan: engines, files, sizes, and a verdict on every option.

use std::collections::BTreeMap;

use fio_parse::unit::{Bytes, Nanos};
use fio_parse::workload::{Job, Pattern as AskedPattern, SyncFlag};

use super::job::{EngineKind, Fallocate, FilePlan, JobPlan, Pattern, Syncs};
use super::options::{Choices, read_options};
use super::{Draft, MOST_BLOCK, MOST_DEPTH, MOST_JOBS, binary};
use crate::content::Content;
use crate::script::planned_counts;

/// The jobs of one fio run.
#[derive(Debug, Clone, PartialEq)]
pub struct FioPlan {
    /// The test files.
    pub files: Vec<FilePlan>,
    /// The jobs, clones one by one, in order.
    pub jobs: Vec<JobPlan>,
}

impl FioPlan {
    /// Bytes written, layout included; `None` if only time ends a writing job.
    pub fn written_bytes(&self) -> Option<u64> {
        let laid_out: u64 = self
            .files
            .iter()
            .filter(|file| file.written_in.is_some())
            .map(|file| file.bytes)
            .sum();
        self.jobs
            .iter()
            .filter(|job| job.pattern.writes)
            .try_fold(laid_out, |sum, job| {
                (!job.endless()).then(|| sum.saturating_add(job.bytes_limit()))
            })
    }

    /// The longest time that the stages may take by their run times, ns; `None` if a job
    /// has none.
    pub fn longest_ns(&self) -> Option<u64> {
        let mut stages = BTreeMap::<u32, u64>::new();
        for job in &self.jobs {
            let longest = job.runtime_ns?.saturating_add(job.ramp_ns);
            let stage = stages.entry(job.stage).or_default();
            *stage = (*stage).max(longest);
        }
        Some(stages.values().sum())
    }

    /// Numbers of the stages, in order.
    pub fn stages(&self) -> Vec<u32> {
        let mut stages: Vec<u32> = self.jobs.iter().map(|job| job.stage).collect();
        stages.dedup();
        stages
    }

    /// Planned I/Os and bytes of all jobs, if all are finite and can be counted quickly.
    pub fn planned(&self) -> Option<crate::script::Counts> {
        const MOST_STEPS: u64 = 5_000_000;
        let mut sum = crate::script::Counts::default();
        for job in &self.jobs {
            let counts = planned_counts(job, MOST_STEPS)?;
            sum.reads += counts.reads;
            sum.read_bytes += counts.read_bytes;
            sum.writes += counts.writes;
            sum.write_bytes += counts.write_bytes;
            sum.syncs += counts.syncs;
        }
        Some(sum)
    }
}

/// Sizes of a job's region and file, bytes.
struct Extent {
    offset: u64,
    region: u64,
    file: u64,
    io_size: Option<u64>,
}

pub(super) fn plan(jobs: &[Job], draft: &mut Draft<'_>) -> Option<FioPlan> {
    if jobs.is_empty() {
        draft.refuse(
            "no-job",
            "the command defines no job (--name is missing)".to_owned(),
        );
    }
    let clones: u64 = jobs
        .iter()
        .map(|job| u64::from(job.jobs.unwrap_or(1)))
        .sum();
    if clones > MOST_JOBS {
        draft.refuse(
            "too-many-jobs",
            format!("{clones} jobs are asked for and {MOST_JOBS} are the limit"),
        );
    }
    let mut plan = FioPlan {
        files: Vec::new(),
        jobs: Vec::new(),
    };
    let mut by_name = BTreeMap::<(String, String), usize>::new();
    let prefix = &draft.target.name_prefix;
    let (mut stage, mut group) = (0, 0);
    for (section, job) in jobs.iter().enumerate() {
        let choices = read_options(job, draft);
        if section > 0 && job.stonewall == Some(true) {
            stage += 1;
            group += 1;
        } else if section > 0 && choices.new_group {
            group += 1;
        }
        let Some(template) = plan_job(job, section as u32, &choices, draft) else {
            continue;
        };
        let (template, extent) = template;
        let clones = job.jobs.unwrap_or(1).max(1);
        if clones > 1 {
            draft.note("threads-for-processes");
        }
        if draft
            .refusals
            .iter()
            .any(|refusal| refusal.id == "too-many-jobs")
        {
            continue;
        }
        for clone in 0..clones {
            let (name, label) = match &job.filename {
                Some(filename) => (format!("{prefix}shared.{section}"), filename.clone()),
                None => (
                    format!("{prefix}{section}.{clone}"),
                    format!("{}.{clone}.0", job.name),
                ),
            };
            // fio puts the directory before the name, so the same name in two of them is two files.
            let place = (job.directory.clone().unwrap_or_default(), label.clone());
            let file = *by_name.entry(place).or_insert_with(|| {
                plan.files.push(FilePlan {
                    name,
                    label,
                    bytes: 0,
                    written_in: None,
                    fallocate: choices.fallocate,
                });
                plan.files.len() - 1
            });
            let used = &mut plan.files[file];
            used.bytes = used.bytes.max(extent.file);
            if template.pattern.reads || choices.overwrite {
                used.written_in.get_or_insert(template.largest_block());
            }
            plan.jobs.push(JobPlan {
                clone,
                stage,
                group,
                file,
                // Any function of the job's place that gives each its own stream.
                seed: (section as u64 + 1) << 32 | u64::from(clone),
                ..template.clone()
            });
        }
    }
    if plan.jobs.len() > 1 && plan.files.len() < plan.jobs.len() {
        draft.note("target-name-shared");
    }
    check_memory(&plan, draft);
    draft.refusals.is_empty().then_some(plan)
}

fn plan_job(
    job: &Job,
    section: u32,
    choices: &Choices,
    draft: &mut Draft<'_>,
) -> Option<(JobPlan, Extent)> {
    let pattern = pattern(job, draft)?;
    let block = job.block_bytes.unwrap_or(Bytes(4096)).0;
    let write_block = job.write_block_bytes.map_or(block, |bytes| bytes.0);
    for size in [block, write_block] {
        if size == 0 || size > MOST_BLOCK {
            draft.refuse(
                "block-size",
                format!(
                    "a block of {} is not possible here; 1 B to 1 GiB are",
                    binary(size)
                ),
            );
            return None;
        }
    }
    if pattern.mixed() && pattern.random && block != write_block {
        draft.refuse(
            "mixed-block-sizes",
            "a random mix of reads and writes of different sizes is not supported yet".to_owned(),
        );
    }
    let direct = job.direct.unwrap_or(false);
    let largest = match (pattern.reads, pattern.writes) {
        (true, true) => block.max(write_block),
        (true, false) => block,
        (false, _) => write_block,
    };
    let extent = extent(job, choices, largest, draft)?;
    if direct {
        check_alignment(&[block, write_block, extent.offset], draft);
    }
    let asked_depth = job.depth.unwrap_or(1).max(1);
    if asked_depth > MOST_DEPTH {
        draft.refuse(
            "queue-depth",
            format!("a depth of {asked_depth} is asked for and {MOST_DEPTH} is the limit"),
        );
        return None;
    }
    let (engine, depth) = engine(job, direct, asked_depth, draft)?;
    let syncs = Syncs {
        fsync_every: small(job.fsync),
        fdatasync_every: small(job.fdatasync),
        end_fsync: job.end_fsync.unwrap_or(false),
        on_close: job.fsync_on_close.unwrap_or(false),
        queued: engine == EngineKind::Uring && asked_engine(job) == "io_uring",
    };
    note_syncs(job, pattern, syncs, asked_depth, draft);
    if pattern.random {
        draft.note("random-sequence");
    }
    note_target(job, draft);
    let (runtime_ns, ramp_ns, time_based) = times(job, draft);
    if pattern.writes && !syncs.end_fsync && !syncs.on_close {
        draft.note("flush-after-run");
    }
    let plan = JobPlan {
        name: job.name.clone(),
        section,
        clone: 0,
        stage: 0,
        group: 0,
        group_reporting: job.group_reporting.unwrap_or(false),
        pattern,
        read_bytes: block as u32,
        write_bytes: write_block as u32,
        mix_read: job.rwmixread.unwrap_or(50).min(100) as u8,
        file: 0,
        offset: extent.offset,
        region: extent.region,
        io_size: extent.io_size,
        loops: small(job.loops).max(1),
        runtime_ns,
        time_based,
        ramp_ns,
        depth,
        asked_depth,
        engine,
        asked_engine: asked_engine(job).to_owned(),
        direct,
        sync: job.sync == Some(SyncFlag::Sync),
        dsync: job.sync == Some(SyncFlag::Dsync),
        syncs,
        invalidate: choices.invalidate,
        hint: choices.hint,
        random_map: choices.random_map,
        seed: 0,
        content: choices.content,
    };
    Some((plan, extent))
}

fn pattern(job: &Job, draft: &mut Draft<'_>) -> Option<Pattern> {
    let asked = job.pattern.unwrap_or(AskedPattern::Read);
    match asked {
        AskedPattern::Trim
        | AskedPattern::RandTrim
        | AskedPattern::TrimWrite
        | AskedPattern::RandTrimWrite => {
            draft.refuse(
                "trim",
                format!(
                    "rw={} needs a block device; files cannot be trimmed",
                    asked.as_str()
                ),
            );
            None
        }
        _ => Some(Pattern {
            reads: asked.reads(),
            writes: asked.writes(),
            random: asked.is_random(),
        }),
    }
}

fn small(number: Option<u64>) -> u32 {
    number.unwrap_or(0).min(u64::from(u32::MAX)) as u32
}

/// fio's own default on Linux is psync; `aio` and `linuxaio` are other names of libaio.
fn asked_engine(job: &Job) -> &str {
    match job.engine.as_deref() {
        None => "psync",
        Some("aio" | "linuxaio") => "libaio",
        Some(engine) => engine,
    }
}

/// The engine to use and the depth it really has.
fn engine(
    job: &Job,
    direct: bool,
    asked_depth: u32,
    draft: &mut Draft<'_>,
) -> Option<(EngineKind, u32)> {
    let asked = asked_engine(job);
    let mut engine = match asked {
        "psync" => EngineKind::Sync,
        "sync" | "pvsync" | "pvsync2" => {
            draft.note_with("engine-as-psync", asked.to_owned());
            EngineKind::Sync
        }
        "io_uring" => EngineKind::Uring,
        "libaio" if direct => {
            draft.note("libaio-direct-as-uring");
            EngineKind::Uring
        }
        "libaio" => {
            draft.note("libaio-buffered-serial");
            EngineKind::Sync
        }
        "posixaio" => {
            draft.note("posixaio-linux-serial");
            EngineKind::Helper
        }
        "windowsaio" | "solarisaio" => {
            draft.note_with("engine-of-another-system", asked.to_owned());
            EngineKind::Uring
        }
        "null" => {
            draft.note("null-engine");
            EngineKind::Null
        }
        _ => {
            draft.refuse("engine", refused_engine(asked));
            return None;
        }
    };
    if let Some(wanted) = draft.target.engine
        && wanted != engine
    {
        draft.note_with("engine-override", format!("{} for {asked}", wanted.name()));
        engine = wanted;
    }
    if engine == EngineKind::Uring
        && let Err(why) = &draft.target.uring
    {
        let why = why.clone();
        draft.note_with("uring-unavailable", why);
        engine = EngineKind::Sync;
    }
    if matches!(engine, EngineKind::Uring | EngineKind::Helper) {
        draft.note("clat-holds-submission");
    }
    let depth = match engine {
        EngineKind::Uring | EngineKind::Null => asked_depth,
        // One file per job, and one I/O at a time per file.
        EngineKind::Sync | EngineKind::Helper => 1,
    };
    if depth < asked_depth {
        let detail = format!("asked {asked_depth}, effective {depth}");
        match asked {
            "psync" | "sync" | "pvsync" | "pvsync2" => {
                draft.note_with("sync-engine-depth-one", detail)
            }
            "posixaio" => draft.note_with("depth-illusory", detail),
            _ => {}
        }
    }
    Some((engine, depth))
}

fn refused_engine(engine: &str) -> String {
    let why = match engine {
        "mmap" => "is not supported yet",
        "vsync" => "merges neighbouring requests and is not supported yet",
        "net" | "netsplice" | "rdma" | "rbd" | "rados" | "http" | "nbd" | "nfs" | "gfapi"
        | "gfapi_async" | "libiscsi" | "libhdfs" | "dfs" | "ime" => "needs a server on the network",
        "io_uring_cmd" | "sg" | "libzbc" | "mtd" | "dev-dax" | "libpmem" | "pmemblk" | "xnvme"
        | "spdk" | "libblkio" => "works on raw devices, which are never touched",
        "cpuio" => "burns CPU and moves no data",
        "exec" => "runs programs",
        engine if engine.starts_with("external") || engine.ends_with(".so") => "loads foreign code",
        _ => "is not known or not supported",
    };
    format!(
        "the engine {engine} {why}; psync, sync, pvsync, pvsync2, io_uring, libaio, posixaio and null \
         are played, and --engine psync|io_uring|posixaio overrides none of these refusals"
    )
}

/// Where the job works and how much, after scaling.
fn extent(job: &Job, choices: &Choices, block: u64, draft: &mut Draft<'_>) -> Option<Extent> {
    let asked = job.size_bytes.or(job.file_bytes).map(|bytes| bytes.0);
    let limit = draft.target.size;
    let size = match (asked, limit) {
        (Some(size), _) if size > 0 => size,
        (_, Some(limit)) => {
            let said = choices.open_size.as_deref().unwrap_or("no size");
            draft.note_with("scaled-size", format!("{said}: {}", binary(limit)));
            limit
        }
        _ => {
            let said = choices.open_size.as_deref().unwrap_or("no size");
            draft.refuse(
                "no-size",
                format!("the size of the file is not given ({said}); give one with --size"),
            );
            return None;
        }
    };
    let asked_offset = job.offset_bytes.map_or(0, |bytes| bytes.0);
    let file = job.file_bytes.map(|bytes| bytes.0);
    // A size beyond filesize moves filesize bytes.
    let region = size.min(file.map_or(size, |file| file.saturating_sub(asked_offset)));
    let file = file.unwrap_or_else(|| asked_offset.saturating_add(region));
    let asked = Extent {
        offset: asked_offset,
        region,
        file,
        io_size: job.io_size_bytes.map(|bytes| bytes.0),
    };
    let extent = match limit {
        Some(limit) if asked.file > limit => scaled(&asked, limit, block, draft),
        _ => asked,
    };
    if extent.region < block {
        draft.refuse(
            "smaller-than-a-block",
            format!(
                "the region of {} is smaller than a block of {}",
                binary(extent.region),
                binary(block)
            ),
        );
        return None;
    }
    Some(extent)
}

/// Shrinks file, region, offset and amount in the same proportion.
fn scaled(asked: &Extent, limit: u64, block: u64, draft: &mut Draft<'_>) -> Extent {
    draft.note_with(
        "scaled-size",
        format!("{} instead of {}", binary(limit), binary(asked.file)),
    );
    let shrink =
        |bytes: u64| (u128::from(bytes) * u128::from(limit) / u128::from(asked.file)) as u64;
    let offset = shrink(asked.offset) / block * block;
    Extent {
        offset,
        region: shrink(asked.region).min(limit - offset),
        file: limit,
        io_size: asked.io_size.map(|bytes| shrink(bytes).max(block)),
    }
}

fn check_alignment(values: &[u64], draft: &mut Draft<'_>) {
    match draft.target.direct_alignment {
        Some(0) => draft.refuse(
            "no-direct",
            "the file system of the directory has no O_DIRECT".to_owned(),
        ),
        known => {
            // No file system takes less than a sector, where the kernel does not say.
            let alignment = u64::from(known.unwrap_or(512)).max(1);
            if let Some(odd) = values.iter().find(|&&value| value % alignment != 0) {
                draft.refuse(
                    "direct-alignment",
                    format!("direct=1 needs blocks and offsets that are multiples of {alignment} bytes; {odd} is not"),
                );
            }
        }
    }
}

fn note_syncs(job: &Job, pattern: Pattern, syncs: Syncs, depth: u32, draft: &mut Draft<'_>) {
    if !pattern.writes || (syncs.fsync_every == 0 && syncs.fdatasync_every == 0) {
        return;
    }
    if depth > 1 && ["io_uring", "posixaio"].contains(&asked_engine(job)) {
        draft.note("fsync-count-fixed");
    }
    if pattern.mixed() {
        draft.note("mixed-fsync-count-fixed");
    }
}

fn note_target(job: &Job, draft: &mut Draft<'_>) {
    let Some(filename) = &job.filename else {
        if job.directory.is_some() {
            draft.note("target-in-sandbox");
        }
        return;
    };
    let device = filename.starts_with("/dev/")
        || filename.starts_with("\\\\.\\")
        || filename.starts_with("\\\\\\\\");
    // `\:` is a colon of the name, a plain one separates names.
    let several = filename.replace("\\:", "").contains(':') && !filename.starts_with("\\\\");
    let drive =
        filename.as_bytes().get(1) == Some(&b':') && filename.as_bytes()[0].is_ascii_alphabetic();
    if several && !drive {
        draft.refuse(
            "several-files",
            format!("filename={filename} names several files; one file a job is supported yet"),
        );
    } else if device {
        draft.note_with("target-device-to-file", filename.clone());
    } else {
        draft.note("target-in-sandbox");
    }
}

/// Run time, ramp, and whether the job wraps until the time is over.
fn times(job: &Job, draft: &mut Draft<'_>) -> (Option<u64>, u64, bool) {
    let ns = |time: Option<Nanos>| time.map(|time| time.get() as u64).filter(|&ns| ns > 0);
    let asked = ns(job.runtime_ns);
    let limit = draft.target.runtime_ns;
    let runtime = match (asked, limit) {
        (Some(asked), Some(limit)) if asked > limit => {
            let seconds = |ns: u64| ns as f64 / 1e9;
            draft.note_with(
                "scaled-runtime",
                format!("{} s instead of {} s", seconds(limit), seconds(asked)),
            );
            Some(limit)
        }
        (None, Some(limit)) => {
            draft.note_with(
                "scaled-runtime",
                format!("at most {} s", limit as f64 / 1e9),
            );
            Some(limit)
        }
        (asked, _) => asked,
    };
    let ramp = ns(job.ramp_ns).unwrap_or(0);
    let ramp = limit.map_or(ramp, |limit| ramp.min(limit));
    let time_based = job.time_based.unwrap_or(false);
    if time_based && asked.is_none() {
        draft.note("time-based-ignored");
    }
    (runtime, ramp, time_based && asked.is_some())
}

fn check_memory(plan: &FioPlan, draft: &mut Draft<'_>) {
    let mut stages = BTreeMap::<u32, u64>::new();
    for job in &plan.jobs {
        let block =
            u64::from(job.largest_block()).next_multiple_of(crate::memory::ALIGNMENT as u64);
        *stages.entry(job.stage).or_default() += block * u64::from(job.depth);
    }
    let needed = stages.values().copied().max().unwrap_or(0);
    let limit = draft.target.limits.memory_bytes;
    if needed > limit {
        draft.refuse(
            "memory",
            format!(
                "jobs x depth x block needs {} of buffers and {} is the limit here",
                binary(needed),
                binary(limit)
            ),
        );
    }
}

/// The content that options ask for.
pub(super) fn content(zero: bool, refill: bool, scramble: bool) -> Content {
    match (zero, refill, scramble) {
        (true, _, _) => Content::Zeros,
        (_, true, _) => Content::Refilled,
        (_, _, true) => Content::Scrambled,
        _ => Content::Fixed,
    }
}

/// fio's values of `fallocate`.
pub(super) fn fallocate(value: &str) -> Option<Fallocate> {
    match value {
        "native" | "posix" | "1" => Some(Fallocate::Native),
        "keep" => Some(Fallocate::KeepSize),
        "truncate" => Some(Fallocate::Truncate),
        "none" | "0" => Some(Fallocate::None),
        _ => None,
    }
}

#[cfg(test)]
#[path = "fio_tests.rs"]
mod tests;
