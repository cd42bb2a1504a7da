//! What is looked at once a job is understood: alignment, memory, whether a check of written
//! data can tell, and the differences that are worth a note.

use std::collections::BTreeMap;

use fio_parse::workload::Job;

use super::engines::asked_engine;
use super::fio::FioPlan;
use super::job::{Pattern, Sizes, Spread, Syncs};
use super::options::Choices;
use super::{Draft, binary};

/// Whether what is written can be read back and told.
pub(super) fn check_verify(
    job: &Job,
    pattern: Pattern,
    sizes: &[Sizes; 2],
    choices: &Choices,
    draft: &mut Draft<'_>,
) {
    if !pattern.writes {
        let why = "verify in a job that only reads checks what an earlier run wrote, and that is not there; verify=0 leaves the check out";
        draft.refuse_about("verify", "verify", why.to_owned());
        return;
    }
    if sizes[1].smallest() < crate::verify::HEADER as u32 {
        let why = format!(
            "blocks of {} have no room for the {} bytes of a header",
            binary(sizes[1].smallest().into()),
            crate::verify::HEADER
        );
        draft.refuse_about("verify", "verify", why);
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
    if choices.open_files.is_some_and(|open| open < files) {
        draft.note("files-kept-open");
    }
    let every = syncs.fsync_every > 0 || syncs.fdatasync_every > 0 || choices.range_sync.is_some();
    if files > 1 && every && pattern.writes {
        draft.note("sync-of-written-file");
    }
    if choices.batch.low > 0 || choices.batch.submit > 1 || choices.batch.complete > 1 {
        draft.note("batched");
    }
    if choices.place.nice < 0 || matches!(choices.place.io_priority, Some((1, _))) {
        draft.note("priority-best-effort");
    }
    if choices.pace.bounded() && job.depth.unwrap_or(1) > 1 {
        draft.note("paced-drains");
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
    if pattern.mixed() {
        draft.note("mixed-fsync-count-fixed");
    }
}

pub(super) fn note_target(job: &Job, draft: &mut Draft<'_>) {
    if draft.target.device.is_some() {
        return draft.note("device-typed");
    }
    let Some(filename) = &job.filename else {
        if job.directory.is_some() {
            draft.note("target-in-sandbox");
        }
        return;
    };
    let device = filename.starts_with("/dev/")
        || filename.starts_with("\\\\.\\")
        || filename.starts_with("\\\\\\\\");
    if device {
        draft.note_with("target-device-to-file", filename.clone());
    } else {
        draft.note("target-in-sandbox");
    }
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
                "jobs x depth x block needs {} of buffers and {} is the limit here",
                binary(needed),
                binary(limit)
            ),
        );
    }
}
