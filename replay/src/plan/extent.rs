//! Where in its files a job works, and how much it moves, by fio's rules and after scaling.
//!
//! `size` is the address space of all files together, `filesize` the size of each, `io_size`
//! the amount; a size beyond filesize moves filesize bytes.

use fio_parse::workload::Job;

use super::options::Choices;
use super::{Draft, binary};

/// Sizes of a job's region and file, bytes, per file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub offset: u64,
    pub region: u64,
    pub file: u64,
    pub io_size: Option<u64>,
}

/// Where the job works and how much, after scaling.
pub(super) fn extent(
    job: &Job,
    choices: &Choices,
    block: u64,
    files: u64,
    draft: &mut Draft<'_>,
) -> Option<Extent> {
    // The size is that of all files together, the filesize that of each.
    let asked = match (job.size_bytes, job.file_bytes) {
        (Some(size), _) => Some(size.0 / files),
        (None, Some(each)) => Some(each.0),
        (None, None) => None,
    };
    let limit = draft.target.size;
    let size = match (asked, limit) {
        (Some(size), _) if size > 0 => size,
        // As fio does with a device: all of it.
        (_, None) if draft.target.device.is_some() => draft.target.device.unwrap_or(0),
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
        draft.refuse_about(
            "smaller-than-a-block",
            "size",
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
