//! The test file, before the clock starts.
//!
//! A file that is read gets really written, in blocks of the job's size, with random data
//! that is new for each block, then fsynced and dropped from the cache. A file that is only
//! written gets its space reserved and no more: its first pass writes unwritten extents, as
//! with fio.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};

use crate::content;
use crate::control::Control;
use crate::memory::{Buffer, Pages};
use crate::offsets::Rng;
use crate::plan::job::{Fallocate, FilePlan};
use crate::sandbox::Sandbox;

/// Makes a test file. Ends early, without an error, if `control` says so.
///
/// # Errors
/// The kernel's, ENOSPC above all.
pub fn lay_out(sandbox: &Sandbox, plan: &FilePlan, control: &Control) -> io::Result<()> {
    if plan.device {
        return Ok(());
    }
    let mut file = sandbox.create_file(&plan.name)?;
    reserve(&file, plan)?;
    if let Some(block) = plan.written_in {
        fill(&mut file, plan.bytes, block as usize, control)?;
        // Somebody who ends the run does not wait for a file that nobody will use.
        if plan.sync && control.stopped().is_none() {
            file.sync_all()?;
        }
    }
    if plan.pre_read {
        return read_all(&file, control);
    }
    Ok(fadvise(
        &file,
        0,
        std::num::NonZeroU64::new(plan.bytes),
        Advice::DontNeed,
    )?)
}

fn reserve(file: &File, plan: &FilePlan) -> io::Result<()> {
    let flags = match plan.fallocate {
        Fallocate::None => None,
        Fallocate::Truncate => None,
        Fallocate::Native => Some(FallocateFlags::empty()),
        Fallocate::KeepSize => Some(FallocateFlags::KEEP_SIZE),
    };
    if let Some(flags) = flags
        && plan.bytes > 0
    {
        match fallocate(file, flags, 0, plan.bytes) {
            Ok(()) => {}
            // A file system without fallocate: fio goes on as well.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A file that is only written gets its size from fallocate, or grows.
    if plan.fallocate == Fallocate::Truncate || plan.written_in.is_some() {
        file.set_len(plan.bytes)?;
    }
    Ok(())
}

fn fill(file: &mut File, bytes: u64, block: usize, control: &Control) -> io::Result<()> {
    let mut buffers = Buffer::slots(1, block, Pages::Now)?;
    let buffer = &mut buffers[0];
    let mut rng = Rng::new(0x1A10_0707);
    let mut left = bytes;
    while left > 0 && control.stopped().is_none() {
        content::fill(buffer, &mut rng);
        let part = (block as u64).min(left) as usize;
        file.write_all(&buffer[..part])?;
        left -= part as u64;
    }
    Ok(())
}

/// Brings all of a file into the cache.
fn read_all(file: &File, control: &Control) -> io::Result<()> {
    const PART: usize = 1 << 20;
    let mut buffers = Buffer::slots(1, PART, Pages::Now)?;
    let mut offset = 0;
    while control.stopped().is_none() {
        match file.read_at(&mut buffers[0], offset)? {
            0 => return Ok(()),
            moved => offset += moved as u64,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn plan(written_in: Option<u32>, fallocate: Fallocate) -> FilePlan {
        FilePlan {
            name: "0.0".into(),
            label: "j.0.0".into(),
            bytes: 1_000_000,
            written_in,
            fallocate,
            sync: true,
            pre_read: true,
            device: false,
        }
    }

    fn laid_out(plan: &FilePlan) -> (u64, u64, Vec<u8>) {
        let home = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::create(home.path()).unwrap();
        lay_out(&sandbox, plan, &Control::default()).unwrap();
        let path = sandbox.path().join("0.0");
        let metadata = std::fs::metadata(&path).unwrap();
        (
            metadata.len(),
            metadata.blocks() * 512,
            std::fs::read(&path).unwrap(),
        )
    }

    #[test]
    fn a_file_to_be_read_is_full_of_random_bytes() {
        let (size, stored, content) = laid_out(&plan(Some(4096), Fallocate::Native));
        assert_eq!(size, 1_000_000);
        assert!(stored >= 1_000_000);
        let blocks: std::collections::HashSet<&[u8]> = content.chunks(4096).collect();
        assert_eq!(blocks.len(), 245, "no two blocks are alike");
        let zeros = content.iter().filter(|&&byte| byte == 0).count();
        assert!(zeros < 5000, "one in 256 bytes is zero: {zeros}");
    }

    #[test]
    fn a_file_to_be_written_is_only_reserved() {
        let (size, _, content) = laid_out(&plan(None, Fallocate::Native));
        assert_eq!(size, 1_000_000);
        assert!(content.iter().all(|&byte| byte == 0));
        assert_eq!(laid_out(&plan(None, Fallocate::KeepSize)).0, 0);
        let (size, stored, _) = laid_out(&plan(None, Fallocate::Truncate));
        assert_eq!((size, stored), (1_000_000, 0));
        assert_eq!(laid_out(&plan(None, Fallocate::None)).0, 0);
    }
}
