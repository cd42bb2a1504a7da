//! Where in its files a job works, and how much it moves, by fio's rules and after scaling.
//!
//! `size` is the address space of all files together, `filesize` the size of each, `io_size`
//! the amount; a size beyond filesize moves filesize bytes.

use fio_parse::workload::Job;

use super::checks::names_device;
use super::options::Choices;
use super::{Draft, binary};
use crate::offsets::Rng;

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
    let drawn = choices.file_range.map(|(_, high)| high);
    let asked = match (drawn, job.size_bytes, job.file_bytes) {
        (Some(largest), ..) => Some(largest),
        (None, Some(size), _) => Some(size.0 / files),
        (None, None, Some(each)) => Some(each.0),
        (None, None, None) => None,
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
            let device = if names_device(job) {
                ", or name a device of your own with --device"
            } else {
                ""
            };
            draft.refuse(
                "no-size",
                format!("the size of the file is not given ({said}); give one with --size{device}"),
            );
            return None;
        }
    };
    let asked_offset = job.offset_bytes.map_or(0, |bytes| bytes.0);
    let file = drawn.or(job.file_bytes.map(|bytes| bytes.0));
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

/// Sizes of the regions of a job's files where `filesize` is a range, bytes: multiples of the
/// block, as fio draws them; none where all files are alike.
pub(super) fn drawn_regions(
    choices: &Choices,
    extent: &Extent,
    files: usize,
    block: u32,
    seed: u64,
) -> Vec<u64> {
    let Some((low, _)) = choices.file_range else {
        return Vec::new();
    };
    let block = u64::from(block.max(1));
    let low = low.min(extent.file);
    let mut rng = Rng::new(seed ^ 0xF11E);
    (0..files)
        .map(|_| {
            let bytes = low + rng.below((extent.file - low).max(1));
            let bytes = (bytes - bytes % block).max(extent.offset + block);
            bytes.min(extent.file) - extent.offset
        })
        .collect()
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
