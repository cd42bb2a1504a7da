//! Where in its files a job works, and how much it moves, by fio's rules and after scaling.
//!
//! Measured with fio 3.33: without `filesize` the size is the region of all files together,
//! and files grow to hold it behind the offset. With `filesize` (or on a device without a
//! size) the region of each file is all of it from the offset on, and `size` is only an
//! amount, as `io_size` is: `filesize=128k size=64k rw=randwrite` writes 64 KiB anywhere in
//! the 128.

use fio_parse::workload::Job;

use super::checks::names_device;
use super::options::Choices;
use super::{Draft, binary};
use crate::offsets::Rng;

/// Sizes of a job's region and file, bytes, per file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub offset: u64,
    /// How much later each clone begins than the one before.
    pub increment: u64,
    pub region: u64,
    pub file: u64,
    /// The file's size is given, so the region ends where it ends.
    pub fixed: bool,
    /// What is moved, of all files, if not the regions.
    pub amount: Option<u64>,
}

impl Extent {
    /// That of one of the job's clones; none where it would begin behind the end of its file.
    pub fn of_clone(self, clone: u32) -> Option<Extent> {
        let shift = self.increment.saturating_mul(u64::from(clone));
        let offset = self.offset.saturating_add(shift);
        let (region, file) = if self.fixed {
            (self.region.min(self.file.checked_sub(offset)?), self.file)
        } else {
            (self.region, self.file.saturating_add(shift))
        };
        Some(Extent {
            offset,
            region,
            file,
            ..self
        })
    }

    /// Bytes of the largest of the files.
    fn whole(self, clones: u64) -> u64 {
        let shift = self.increment.saturating_mul(clones.saturating_sub(1));
        self.file.saturating_add(if self.fixed { 0 } else { shift })
    }
}

/// Where the job works and how much, after scaling.
pub(super) fn extent(
    job: &Job,
    choices: &Choices,
    block: u64,
    files: u64,
    draft: &mut Draft<'_>,
) -> Option<Extent> {
    let limit = draft.target.size;
    let offset = job.offset_bytes.map_or(0, |bytes| bytes.0);
    let size = job.size_bytes.map(|size| size.0).filter(|&size| size > 0);
    // The filesize is that of each file. fio takes a device as a whole where no size is given.
    let device = draft.target.device.filter(|_| size.is_none());
    let file = choices
        .file_range
        .map(|(_, high)| high)
        .or(job
            .file_bytes
            .map(|bytes| bytes.0)
            .filter(|&bytes| bytes > 0))
        .or(device);
    let share = choices.size_percent.is_some_and(|percent| percent < 100);
    if share && choices.file_range.is_some() {
        let why = "a share of files whose sizes are drawn is not played; give the size in bytes";
        draft.refuse_about("option-value", "size", why.to_owned());
    }
    let region = match (file, size) {
        (Some(file), _) => match choices.size_percent {
            // Of the whole file, and no further than its end.
            Some(percent) if percent < 100 => {
                let share = (u128::from(file) * u128::from(percent) / 100) as u64;
                share.min(file.saturating_sub(offset)) / block.max(1) * block.max(1)
            }
            _ => file.saturating_sub(offset),
        },
        // The size is that of all files together.
        (None, Some(size)) => size / files,
        (None, None) => unknown_region(job, choices, limit, draft)?,
    };
    let asked = Extent {
        offset,
        increment: choices.offset_increment,
        region,
        file: file.unwrap_or_else(|| offset.saturating_add(region)),
        fixed: file.is_some(),
        amount: match (job.io_size_bytes, file) {
            (Some(bytes), _) => Some(bytes.0),
            (None, Some(_)) => size,
            (None, None) => None,
        },
    };
    let clones = u64::from(job.jobs.unwrap_or(1).max(1));
    let extent = match limit {
        Some(limit) if asked.whole(clones) > limit => scaled(&asked, limit, block, clones, draft),
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

/// The region where neither the text nor a device gives one: the limit that the person set.
fn unknown_region(
    job: &Job,
    choices: &Choices,
    limit: Option<u64>,
    draft: &mut Draft<'_>,
) -> Option<u64> {
    let said = match (&choices.open_size, job.size_bytes) {
        (Some(open), _) => open,
        (None, Some(_)) => "size=0",
        (None, None) => "no size",
    };
    if let Some(limit) = limit {
        draft.note_with("scaled-size", format!("{said}: {}", binary(limit)));
        return Some(limit);
    }
    // Refused where it stands, as what cannot be read.
    if choices.open_size.is_none()
        && ["size", "filesize"]
            .iter()
            .any(|name| job.unread(name).is_some())
    {
        return None;
    }
    let device = if names_device(job) {
        ", or name a device of your own with --device"
    } else {
        ""
    };
    draft.refuse(
        "no-size",
        format!("the size of the file is not given ({said}); give one with --size{device}"),
    );
    None
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

/// Shrinks files, regions, offsets and amount in the same proportion, so that the largest file
/// of all clones has the size of the limit.
fn scaled(asked: &Extent, limit: u64, block: u64, clones: u64, draft: &mut Draft<'_>) -> Extent {
    let whole = asked.whole(clones);
    let shrink = |bytes: u64| (u128::from(bytes) * u128::from(limit) / u128::from(whole)) as u64;
    let aligned = |bytes: u64| shrink(bytes) / block * block;
    let (offset, increment) = (aligned(asked.offset), aligned(asked.increment));
    let last = offset + increment.saturating_mul(clones.saturating_sub(1));
    let behind = limit.saturating_sub(if asked.fixed { offset } else { last });
    let extent = Extent {
        offset,
        increment,
        region: shrink(asked.region).min(behind),
        file: if asked.fixed { limit } else { 0 },
        fixed: asked.fixed,
        amount: asked.amount.map(|bytes| shrink(bytes).max(block)),
    };
    let extent = Extent {
        file: extent.file.max(offset + extent.region),
        ..extent
    };
    let mut detail = format!("{} instead of {}", binary(limit), binary(whole));
    if asked.region < whole {
        let (now, before) = (binary(extent.region), binary(asked.region));
        detail += &format!(", and regions of {now} instead of {before}");
    }
    draft.note_with("scaled-size", detail);
    extent
}

#[cfg(test)]
#[path = "extent_tests.rs"]
mod tests;
