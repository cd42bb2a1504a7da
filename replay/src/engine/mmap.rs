//! fio's mmap engine: the file is mapped into memory, a read copies from the mapping, a
//! write copies into it, a sync is msync. Page faults are the test.
//!
//! fio maps a whole file of up to 1 GiB at once and a larger one in pieces; here it is always
//! the whole file. A file that is cut by somebody else while it is mapped would end the
//! process with SIGBUS, so each copy looks at the file's length first: the sandbox is
//! private, and this closes what is left but for a race. Under O_DIRECT the flag has no
//! effect on a mapping, with fio as here.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};

use super::blocking::{Blocking, Calls};
use super::{Action, Done, Op, negated};
use crate::memory::Buffer;

/// A mapped file.
#[derive(Debug)]
pub struct Mapped {
    base: NonNull<u8>,
    bytes: usize,
    file: Arc<File>,
}

// SAFETY: a mapping is memory of the process; nothing ties it to a thread.
unsafe impl Send for Mapped {}

impl Mapped {
    fn new(file: &Arc<File>) -> io::Result<Self> {
        let bytes =
            usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let writes = rustix::fs::fcntl_getfl(file)?.contains(rustix::fs::OFlags::RDWR);
        let access = if writes {
            ProtFlags::READ | ProtFlags::WRITE
        } else {
            ProtFlags::READ
        };
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing; an empty
        // file is refused by the kernel (EINVAL).
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                access,
                MapFlags::SHARED,
                file,
                0,
            )
        }?;
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapped {
            base,
            bytes,
            file: Arc::clone(file),
        })
    }

    /// The place of an operation in the mapping; `None` beyond the file.
    fn at(&self, op: &Op) -> io::Result<Option<*mut u8>> {
        let end = op.offset + u64::from(op.bytes);
        let inside = end <= self.bytes as u64 && end <= self.file.metadata()?.len();
        // SAFETY: offset + bytes lies within the mapping.
        Ok(inside.then(|| unsafe { self.base.as_ptr().add(op.offset as usize) }))
    }

    fn perform_one(&self, op: &Op, buffer: &mut [u8]) -> io::Result<i32> {
        let bytes = op.bytes as usize;
        assert!(bytes <= buffer.len());
        match op.action {
            Action::Read | Action::Write => {
                let Some(at) = self.at(op)? else { return Ok(0) };
                if op.action == Action::Read {
                    // SAFETY: `bytes` bytes from `at` are mapped readable, the buffer holds as
                    // many, and the two are different mappings.
                    unsafe { std::ptr::copy_nonoverlapping(at, buffer.as_mut_ptr(), bytes) };
                } else {
                    // SAFETY: as above; the worker writes only to files opened for writing,
                    // whose mapping is writable.
                    unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr(), at, bytes) };
                }
                Ok(bytes as i32)
            }
            Action::Fsync | Action::Fdatasync => {
                // SAFETY: base and bytes are a live mapping of this engine.
                unsafe { msync(self.base.as_ptr().cast(), self.bytes, MsyncFlags::SYNC) }?;
                Ok(0)
            }
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: base and bytes are what mmap returned, and nothing refers to it any more.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// The engine over mapped files.
pub type Mmap = Blocking<Copies>;

/// Copies from and to mapped memory.
#[derive(Debug, Default)]
pub struct Copies;

impl Calls for Copies {
    type Target = Mapped;

    fn target(file: &Arc<File>) -> io::Result<Mapped> {
        Mapped::new(file)
    }

    fn perform(&self, files: &[Mapped], buffers: &mut [Buffer], ops: &[Op], done: &mut Vec<Done>) {
        for op in ops {
            let file = &files[op.file as usize];
            let result = file.perform_one(op, &mut buffers[op.slot as usize]);
            done.push(Done {
                slot: op.slot,
                result: result.unwrap_or_else(|error| negated(&error)),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Engine;
    use super::*;
    use crate::memory::Pages;
    use std::os::unix::fs::FileExt;

    #[test]
    fn moves_the_bytes_and_never_leaves_the_file() {
        let file = Arc::new(tempfile::tempfile().unwrap());
        file.set_len(16_384).unwrap();
        let mut engine = Mmap::new(Buffer::slots(1, 4096, Pages::Now).unwrap());
        engine.attach(&[Arc::clone(&file)]).unwrap();
        let turn = |engine: &mut Mmap, action, offset| {
            let mut done = Vec::new();
            engine
                .turn(
                    &[Op {
                        slot: 0,
                        action,
                        file: 0,
                        offset,
                        bytes: 4096,
                    }],
                    1,
                    &mut done,
                )
                .unwrap();
            done[0].result
        };
        engine.buffer(0).fill(7);
        assert_eq!(turn(&mut engine, Action::Write, 4096), 4096);
        assert_eq!(turn(&mut engine, Action::Fsync, 0), 0);
        engine.buffer(0).fill(0);
        assert_eq!(turn(&mut engine, Action::Read, 4096), 4096);
        assert!(engine.buffer(0).iter().all(|&byte| byte == 7));
        assert_eq!(turn(&mut engine, Action::Read, 16_384), 0, "beyond the end");
        file.set_len(8192).unwrap();
        assert_eq!(turn(&mut engine, Action::Read, 12_288), 0, "cut meanwhile");
        let mut byte = [0];
        file.read_exact_at(&mut byte, 5000).unwrap();
        assert_eq!(byte, [7]);
    }
}
