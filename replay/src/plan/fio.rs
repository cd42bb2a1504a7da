//! fio jobs to a plan: engines, files, sizes, and a verdict on every option.

use std::collections::BTreeMap;

use fio_parse::unit::{Bytes, Nanos};
use fio_parse::workload::{Job, Pattern as AskedPattern, SyncFlag};

use super::checks::{
    check_alignment, check_cpus, check_memory, check_threads_and_files, check_verify, note_order,
    note_syncs, note_target, note_two_sizes,
};
use super::engines::{asked_engine, check_engine_options, engine};
use super::extent::{Extent, drawn_regions, extent};
use super::files::{files_of, target_files};
use super::job::{EngineKind, Fallocate, FilePlan, JobPlan, Pattern, Sizes, Syncs};
use super::options::{Choices, Hint, read_options};
use super::{Draft, MOST_BLOCK, MOST_DEPTH, MOST_FILES, MOST_JOBS, MOST_LOOPS, binary};
use crate::content::Content;
use crate::counts::{Counts, planned_counts};

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
        let laid_out = self
            .files
            .iter()
            .filter(|file| file.written_in.is_some())
            .fold(0, |sum: u64, file| sum.saturating_add(file.bytes));
        self.jobs
            .iter()
            .filter(|job| job.pattern.writes && job.engine != EngineKind::Null)
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
            *stage = (*stage).max(longest.saturating_add(job.pace.delay_ns));
        }
        Some(stages.values().fold(0, |sum, &ns| sum.saturating_add(ns)))
    }

    /// The time that the stages take on the fastest disk, by `startdelay`, `rate`,
    /// `rate_iops`, `thinktime` and the run times of jobs that wrap, ns.
    pub fn least_ns(&self) -> u64 {
        let mut stages = BTreeMap::<u32, u64>::new();
        for job in &self.jobs {
            let timed = job.runtime_ns.map(|ns| ns.saturating_add(job.ramp_ns));
            let least = match timed {
                Some(timed) if job.endless() => timed,
                Some(timed) => job.paced_ns().min(timed),
                None => job.paced_ns(),
            };
            let stage = stages.entry(job.stage).or_default();
            *stage = (*stage).max(least.saturating_add(job.pace.delay_ns));
        }
        stages.values().fold(0, |sum, &ns| sum.saturating_add(ns))
    }

    /// Numbers of the stages, in order.
    pub fn stages(&self) -> Vec<u32> {
        let mut stages: Vec<u32> = self.jobs.iter().map(|job| job.stage).collect();
        stages.dedup();
        stages
    }

    /// Planned I/Os and bytes of all jobs, if all are finite and can be counted quickly.
    pub fn planned(&self) -> Option<Counts> {
        const MOST_STEPS: u64 = 5_000_000;
        let mut sum = Counts::default();
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
        draft.refuse_about(
            "too-many-jobs",
            "numjobs",
            format!("{clones} jobs are asked for and {MOST_JOBS} are the limit"),
        );
    }
    let mut plan = FioPlan {
        files: Vec::new(),
        jobs: Vec::new(),
    };
    let mut by_name = BTreeMap::<(String, String), usize>::new();
    // How large each file is on disk after the layouts so far.
    let mut laid_out = BTreeMap::<usize, u64>::new();
    let (mut stage, mut group) = (0, 0);
    for (section, job) in jobs.iter().enumerate() {
        draft.section = Some(section as u32);
        let choices = read_options(job, draft);
        if section > 0 && job.stonewall == Some(true) {
            stage += 1;
            group += 1;
        } else if section > 0 && choices.new_group {
            group += 1;
        }
        let Some((template, extent)) = plan_job(job, section as u32, &choices, draft) else {
            continue;
        };
        let clones = job.jobs.unwrap_or(1).max(1);
        if clones > 1 {
            draft.note("threads-for-processes");
        }
        if u64::from(clones) > MOST_JOBS {
            continue;
        }
        for clone in 0..clones {
            let of_clone = extent.of_clone(clone);
            let fits = |extent: &Extent| extent.region >= u64::from(template.largest_block());
            let Some(extent) = of_clone.filter(fits) else {
                let why = format!(
                    "clone {clone} begins {} later than the first, and nothing is left there of files of {}",
                    binary(extent.increment.saturating_mul(u64::from(clone))),
                    binary(extent.file)
                );
                draft.refuse_about("option-value", "offset_increment", why);
                break;
            };
            let files = target_files(
                job,
                section,
                clone,
                &choices,
                &mut plan,
                &mut by_name,
                draft,
            );
            // Any function of the job's place that gives each its own stream.
            let seed = (section as u64 + 1) << 32 | u64::from(clone);
            let block = template.smallest_block();
            let drawn = drawn_regions(&choices, &extent, files.len(), block, seed);
            for (number, &file) in files.iter().enumerate() {
                let used = &mut plan.files[file];
                // The file is opened and that is all: it stays empty.
                if template.engine == EngineKind::Null {
                    continue;
                }
                let bytes = drawn
                    .get(number)
                    .map_or(extent.file, |region| extent.offset + region);
                used.bytes = used.bytes.max(bytes);
                if used.device {
                    continue;
                }
                used.pre_read |= choices.pre_read;
                // Files are laid out job by job: one that is there and large enough is left as
                // it is, one that is too small is replaced.
                let there = laid_out.entry(file).or_default();
                if bytes <= *there {
                    continue;
                }
                // A mapping cannot grow a file, so fio lays it out.
                let written = template.pattern.reads
                    || choices.overwrite
                    || template.engine == EngineKind::Mmap;
                used.written_in = written.then(|| template.largest_block());
                used.fallocate = choices.fallocate;
                used.sync = choices.create_fsync;
                let sized = matches!(used.fallocate, Fallocate::Native | Fallocate::Truncate);
                *there = if written || sized { bytes } else { 0 };
            }
            let mut place = template.place.clone();
            if choices.split_cpus && !place.cpus.is_empty() {
                place.cpus = vec![place.cpus[clone as usize % place.cpus.len()]];
            }
            let mut planned = JobPlan {
                clone,
                stage,
                group,
                offset: extent.offset,
                region: extent.region,
                file_bytes: files
                    .iter()
                    .map(|&file| match draft.target.device {
                        Some(device) => device,
                        None => plan.files[file].bytes,
                    })
                    .max()
                    .unwrap_or(0),
                files,
                drawn_regions: drawn,
                place,
                seed,
                ..template.clone()
            };
            // fio 3.33: of `filesize` where it is given, not of `size`; 0% is as if not given.
            if let Some(percent) = choices.amount_percent.filter(|&percent| percent > 0) {
                let all = u128::from(planned.all_regions());
                planned.io_size = Some((all * u128::from(percent) / 100) as u64);
            }
            // Of files whose size is given so much is moved in all, if they hold more.
            if job.io_size_bytes.is_none() && planned.io_size >= Some(planned.all_regions()) {
                planned.io_size = None;
            }
            plan.jobs.push(planned);
        }
    }
    draft.section = None;
    let last = plan.jobs.iter().map(|job| job.stage).max();
    if plan
        .jobs
        .iter()
        .any(|job| Some(job.stage) == last && !job.create_only && job.flushed_after())
    {
        draft.note("flush-after-run");
    }
    let shared = plan.jobs.iter().map(|job| job.files.len()).sum::<usize>() > plan.files.len();
    if shared {
        draft.note("target-name-shared");
    }
    if let Some(bytes) = draft.target.device
        && plan.files.iter().any(|file| file.bytes > bytes)
    {
        let why = format!(
            "the test reaches beyond the device's {}; scale it down with --size",
            binary(bytes)
        );
        draft.refuse_about("too-large", "size", why);
    }
    check_memory(&plan, draft);
    check_threads_and_files(&plan, draft);
    draft.refusals.is_empty().then_some(plan)
}

fn plan_job(
    job: &Job,
    section: u32,
    choices: &Choices,
    draft: &mut Draft<'_>,
) -> Option<(JobPlan, Extent)> {
    // Everything is looked at before anything ends this, so that all refusals come at once.
    let direct = job.direct.unwrap_or(false);
    let asked_depth = job.depth.unwrap_or(1).max(1);
    if asked_depth > MOST_DEPTH {
        draft.refuse_about(
            "queue-depth",
            "iodepth",
            format!("a depth of {asked_depth} is asked for and {MOST_DEPTH} is the limit"),
        );
    }
    if job.depth == Some(0) {
        let why = "iodepth=0 is not possible, and fio refuses it too; 1 is the least".to_owned();
        draft.refuse_about("option-value", "iodepth", why);
    }
    if job.jobs == Some(0) {
        let why = "numjobs=0 starts nothing, and fio refuses it too; 1 is the least".to_owned();
        draft.refuse_about("option-value", "numjobs", why);
    }
    let files = files_of(job);
    if files == 0 || files > MOST_FILES {
        let why = format!("{files} files are asked for and {MOST_FILES} are the limit");
        draft.refuse_about("too-many-files", "nrfiles", why);
    }
    if files > 1 && draft.target.device.is_some() {
        let why = format!("{files} files are asked for and --device is one");
        draft.refuse_about("several-files", "nrfiles", why);
    }
    let files = files.clamp(1, MOST_FILES);
    let chosen = engine(
        job,
        direct,
        asked_depth.min(MOST_DEPTH),
        files as u32,
        choices.submission,
        draft,
    );
    let pattern = pattern(job, draft);
    let sizes = sizes(job, choices, draft);
    let (pattern, sizes) = (pattern?, sizes?);
    let used = match (pattern.reads, pattern.writes) {
        (true, true) => &sizes[..],
        (true, false) => &sizes[..1],
        (false, _) => &sizes[1..],
    };
    let largest = used.iter().map(Sizes::largest).max().unwrap_or(0);
    let extent = extent(job, choices, u64::from(largest), files, draft);
    if direct {
        let smallest = used.iter().map(|sizes| u64::from(sizes.smallest()));
        let split = used.iter().flat_map(|sizes| match sizes {
            Sizes::Split(parts) => parts.iter().map(|part| u64::from(part.0)).collect(),
            _ => Vec::new(),
        });
        let others = [
            extent.map_or(0, |extent| extent.offset),
            extent.map_or(0, |extent| extent.increment),
            u64::from(choices.order.align.unwrap_or(0)),
        ];
        check_alignment(
            &smallest.chain(split).chain(others).collect::<Vec<_>>(),
            draft,
        );
        if choices.order.unaligned {
            let why = "bs_unaligned draws sizes that direct=1 cannot take".to_owned();
            draft.refuse_about("direct-alignment", "bs_unaligned", why);
        }
    }
    check_verify(job, pattern, &sizes, choices, draft);
    let (chosen, extent) = (chosen?, extent?);
    let (engine, depth) = (chosen.engine, chosen.depth);
    let syncs = Syncs {
        fsync_every: small(job.fsync),
        fdatasync_every: small(job.fdatasync),
        end_fsync: job.end_fsync.unwrap_or(false),
        on_close: job.fsync_on_close.unwrap_or(false),
        queued: engine == EngineKind::Helper
            || (engine == EngineKind::Uring && asked_engine(job) == "io_uring"),
    };
    check_engine_options(job, choices, syncs, draft);
    check_cpus(&choices.place.cpus, draft);
    note_syncs(job, pattern, syncs, asked_depth, draft);
    note_order(job, pattern, choices, files, syncs, draft);
    note_two_sizes(job, pattern, &sizes, choices, draft);
    note_target(job, draft);
    let loops = job.loops.unwrap_or(1).max(1);
    if loops > MOST_LOOPS {
        let why = format!("{loops} passes are asked for and {MOST_LOOPS} are the limit");
        draft.refuse_about("too-many-loops", "loops", why);
    }
    let (runtime_ns, ramp_ns, time_based) = times(job, draft);
    if choices.logs.rate && choices.logs.average_ms == 0 {
        draft.note("log-of-single-ios");
    }
    if let Some(verify) = choices.verify.as_ref().filter(|verify| verify.read_back) {
        if time_based {
            draft.note("verify-never-begins");
        }
        if engine == EngineKind::Null {
            draft.note("verify-of-nothing");
        }
        if verify.backlog > 0 && !pattern.reads {
            draft.note("verify-backlog-time");
        }
    }
    if choices.create_only {
        draft.note("files-only");
    }
    if choices.steady.is_some() {
        draft.note("steady-state");
    }
    if choices.file_range.is_some() {
        draft.note("drawn-file-sizes");
    }
    let hint = match choices.hint {
        Hint::None => None,
        Hint::Pattern => Some(pattern.random),
        Hint::Random => Some(true),
        Hint::Sequential => Some(false),
    };
    // With all of the file read before, dropping it again would undo that.
    let invalidate = choices.invalidate && !choices.pre_read;
    // What is to be checked is filled anew for each write, whatever the options on buffers say.
    let content = match (&choices.verify, &choices.verify_pattern) {
        (Some(_), Some(pattern)) => Content::Pattern(pattern.clone()),
        (Some(_), None) => Content::Refilled,
        (None, _) => choices.content.clone(),
    };
    let plan = JobPlan {
        section,
        group_reporting: job.group_reporting.unwrap_or(false),
        sizes,
        mix_read: job.rwmixread.unwrap_or(50).min(100) as u8,
        files: Vec::new(),
        open_files: choices.open_files.unwrap_or(files).clamp(1, files) as u32,
        service: choices.service,
        offset: extent.offset,
        io_size: extent.amount,
        loops: loops.min(u64::from(u32::MAX)) as u32,
        most_ios: choices.most_ios,
        create_only: choices.create_only,
        runtime_ns,
        time_based,
        ramp_ns,
        depth,
        asked_depth,
        batch: choices.batch,
        engine,
        asked_engine: chosen.asked,
        direct,
        sync: job.sync == Some(SyncFlag::Sync),
        dsync: job.sync == Some(SyncFlag::Dsync),
        syncs,
        range_sync: choices.range_sync,
        invalidate,
        hint,
        order: choices.order.clone(),
        pace: choices.pace,
        ring: choices.ring,
        content,
        verify: choices.verify.clone(),
        logs: choices.logs,
        place: choices.place.clone(),
        exit_all: choices.exit_all,
        steady: choices.steady,
        ..JobPlan::plain(&job.name, pattern, extent.region)
    };
    Some((plan, extent))
}

/// The block sizes: those of `bsrange` or `bssplit` where they are given.
fn sizes(job: &Job, choices: &Choices, draft: &mut Draft<'_>) -> Option<[Sizes; 2]> {
    let read = job.block_bytes.unwrap_or(Bytes(4096)).0;
    let write = job.write_block_bytes.map_or(read, |bytes| bytes.0);
    if let Some(sizes) = &choices.sizes {
        if let Some(large) = sizes
            .iter()
            .map(Sizes::largest)
            .find(|&size| u64::from(size) > MOST_BLOCK)
        {
            let why = format!(
                "a block of {} is not possible here; 1 B to 1 GiB are",
                binary(large.into())
            );
            draft.refuse_about("block-size", "bs", why);
            return None;
        }
        return Some(sizes.clone());
    }
    for size in [read, write] {
        if size == 0 || size > MOST_BLOCK {
            draft.refuse_about(
                "block-size",
                "bs",
                format!(
                    "a block of {} is not possible here; 1 B to 1 GiB are",
                    binary(size)
                ),
            );
            return None;
        }
    }
    Some([Sizes::One(read as u32), Sizes::One(write as u32)])
}

fn pattern(job: &Job, draft: &mut Draft<'_>) -> Option<Pattern> {
    let asked = job.pattern.unwrap_or(AskedPattern::Read);
    match asked {
        AskedPattern::Trim
        | AskedPattern::RandTrim
        | AskedPattern::TrimWrite
        | AskedPattern::RandTrimWrite => {
            draft.refuse_about(
                "trim",
                "rw",
                format!(
                    "rw={} trims blocks, which is played neither on files nor on a device",
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

#[cfg(test)]
#[path = "fio_tests.rs"]
pub(super) mod tests;
