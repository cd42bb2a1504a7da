//! Memory for I/O: page-aligned anonymous mappings, cut into equal buffers.
//!
//! This is the only place that maps memory. A [`Buffer`] owns its part of the mapping, so
//! it can be handed to an engine or to another thread like any other value; the mapping
//! goes away with the last of its buffers. Pages are private to the process, so O_DIRECT
//! is content with their alignment.

#![allow(unsafe_code)]

use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Buffers start at multiples of this, bytes. The largest alignment O_DIRECT asks for in
/// practice is the 4 KiB logical block.
pub const ALIGNMENT: usize = 4096;

/// When the pages of a mapping are to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// At once: no page fault later, inside the measured time.
    Now,
    /// When first touched. dd allocates so, and a 1 GiB block pays for it inside dd's time.
    OnTouch,
}

#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is plain memory of the process; nothing ties it to a thread.
unsafe impl Send for Mapping {}
// SAFETY: `Mapping` gives out no access to the memory itself; only buffers do, and each
// buffer has its own part.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: base and bytes are what mmap returned, and the last buffer is gone.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// One page-aligned buffer. Its bytes are zero when made.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
    /// Keeps the memory mapped.
    _mapping: Arc<Mapping>,
}

// SAFETY: a buffer is the only owner of its bytes, like a `Box<[u8]>`.
unsafe impl Send for Buffer {}
// SAFETY: as above; shared references only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Maps `count` buffers of `bytes` bytes each.
    ///
    /// # Errors
    /// The kernel's, mostly ENOMEM; EINVAL if the sizes overflow or are zero.
    pub fn slots(count: usize, bytes: usize, pages: Pages) -> io::Result<Vec<Buffer>> {
        let stride = bytes.checked_next_multiple_of(ALIGNMENT);
        let total = stride.and_then(|stride| stride.checked_mul(count));
        let (Some(stride), Some(total @ 1..)) = (stride, total) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let flags = match pages {
            Pages::Now => MapFlags::PRIVATE | MapFlags::POPULATE,
            Pages::OnTouch => MapFlags::PRIVATE,
        };
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice overlaps
        // nothing that exists.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), total, access, flags) }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping = Arc::new(Mapping { base, bytes: total });
        Ok((0..count)
            .map(|slot| Buffer {
                // SAFETY: slot * stride < total, so the pointer stays inside the mapping.
                start: unsafe { base.add(slot * stride) },
                bytes,
                _mapping: Arc::clone(&mapping),
            })
            .collect())
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: start..start+bytes is mapped, readable and initialised (anonymous pages are
        // zero) as long as `_mapping` lives, and no other buffer covers it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_zeroed_and_apart() {
        let mut buffers = Buffer::slots(3, 5000, Pages::Now).unwrap();
        for (number, buffer) in buffers.iter_mut().enumerate() {
            assert_eq!(buffer.len(), 5000);
            assert_eq!(buffer.as_ptr() as usize % ALIGNMENT, 0);
            assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.fill(number as u8 + 1);
        }
        for (number, buffer) in buffers.iter().enumerate() {
            assert!(buffer.iter().all(|&byte| byte == number as u8 + 1));
        }
    }

    #[test]
    fn buffers_outlive_their_brothers() {
        let mut buffers = Buffer::slots(2, 4096, Pages::OnTouch).unwrap();
        let mut last = buffers.pop().unwrap();
        drop(buffers);
        last.fill(7);
        let sum = std::thread::spawn(move || last.iter().map(|&byte| u64::from(byte)).sum::<u64>());
        assert_eq!(sum.join().unwrap(), 7 * 4096);
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(Buffer::slots(0, 4096, Pages::OnTouch).is_err());
        assert!(Buffer::slots(1, 0, Pages::OnTouch).is_err());
        assert!(Buffer::slots(2, usize::MAX - 4096, Pages::OnTouch).is_err());
        assert!(Buffer::slots(1, usize::MAX, Pages::OnTouch).is_err());
    }
}
