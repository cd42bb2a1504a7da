//! Engines: what hands an I/O to the kernel and tells when it is done.
//!
//! The loop in [`crate::worker`] knows nothing of system calls, and an engine knows nothing
//! of workloads. Between them are [`Op`] and [`Done`], and one call, [`Engine::turn`]: take
//! these operations, wait until at least so many are complete, say which are. An engine
//! owns the buffers of all queue slots; the worker borrows one at a time to fill it.
//!
//! | engine | for fio's | how |
//! |---|---|---|
//! | [`uring`] | io_uring, libaio with direct=1 | io_uring, same queue depth |
//! | [`sync`] | psync, sync, pvsync, libaio buffered | pread/pwrite, one at a time |
//! | [`pvsync`] | pvsync2 with hipri, nowait or uncached | preadv2/pwritev2 with flags, one at a time |
//! | [`offload`] | io_submit_mode=offload | pread/pwrite, a thread for each slot of the queue |
//! | [`helper`] | posixaio | one helper thread per open file, first in first out |
//! | [`vector`] | vsync | neighbouring I/Os in one preadv or pwritev |
//! | [`mmap`] | mmap | copies to and from a mapping, msync |
//! | [`null`] | null | completes at once, touches nothing |

use std::fs::File;
use std::io;
use std::sync::Arc;

pub mod blocking;
pub mod helper;
pub mod mmap;
pub mod null;
pub mod offload;
pub mod place;
pub mod pvsync;
pub mod range;
pub mod sync;
#[cfg(target_os = "linux")]
pub mod uring;
pub mod vector;

/// What to do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Read into the slot's buffer.
    Read,
    /// Write from the slot's buffer.
    Write,
    /// fsync.
    Fsync,
    /// fdatasync.
    Fdatasync,
}

/// One operation. At most one per slot is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// Queue slot, and number of its buffer.
    pub slot: u32,
    /// What to do.
    pub action: Action,
    /// Index into the attached files.
    pub file: u32,
    /// Position in the file, bytes; not for syncs.
    pub offset: u64,
    /// Bytes to move, at most the buffer's; not for syncs.
    pub bytes: u32,
}

/// A completed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The operation's slot.
    pub slot: u32,
    /// Bytes moved, or the negated error number.
    pub result: i32,
}

/// Performs operations on files.
pub trait Engine {
    /// Whether an operation is complete when it has been handed over. Then there is no
    /// submission latency to speak of, and the depth is one.
    const SYNCHRONOUS: bool;

    /// How many operations the worker should hand over at a time.
    fn chunk(&self) -> usize {
        usize::MAX
    }

    /// How it was set up, in a few words, where that can vary.
    fn setup(&self) -> Option<String> {
        None
    }

    /// Uses these files from now on. Nothing may be under way.
    ///
    /// # Errors
    /// If the kernel refuses to register them.
    fn attach(&mut self, files: &[Arc<File>]) -> io::Result<()>;

    /// Lets go of the files, so that they can be closed. Nothing may be under way.
    ///
    /// # Errors
    /// If the kernel refuses.
    fn detach(&mut self) -> io::Result<()>;

    /// The buffer of a slot that has no operation under way.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Hands over all of `ops`, then waits until at least `wait` operations of those under
    /// way are complete, and appends what is complete to `done`.
    ///
    /// # Errors
    /// If the engine itself fails. An operation that fails is a [`Done`] with a negative
    /// result.
    fn turn(&mut self, ops: &[Op], wait: u32, done: &mut Vec<Done>) -> io::Result<()>;
}

/// The result field for an `io::Error`.
fn negated(error: &io::Error) -> i32 {
    -error.raw_os_error().unwrap_or(libc::EIO)
}

/// Performs one operation with plain system calls, and says what [`Done::result`] says.
///
/// rustix makes the system call itself; the C library's pread is a place where a thread may
/// be cancelled, which costs two atomic operations per call in a process with threads.
#[inline(always)]
fn perform(op: &Op, file: &File, buffer: &mut [u8]) -> i32 {
    let bytes = op.bytes as usize;
    loop {
        let moved = match op.action {
            Action::Read => rustix::io::pread(file, &mut buffer[..bytes], op.offset),
            Action::Write => rustix::io::pwrite(file, &buffer[..bytes], op.offset),
            Action::Fsync => rustix::fs::fsync(file).map(|()| 0),
            Action::Fdatasync => rustix::fs::fdatasync(file).map(|()| 0),
        };
        match moved {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return -error.raw_os_error(),
            Ok(moved) => return moved as i32,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::memory::{Buffer, Pages};
    use std::os::unix::fs::FileExt;

    /// Runs an engine at its depth over a file: writes every block, syncs, reads all back.
    pub(crate) fn writes_and_reads_back<E: Engine>(make: impl Fn(Vec<Buffer>) -> E, depth: u32) {
        const BLOCK: u32 = 4096;
        const BLOCKS: u64 = 64;
        let file = Arc::new(tempfile::tempfile().unwrap());
        let buffers = Buffer::slots(depth as usize, BLOCK as usize, Pages::Now).unwrap();
        let mut engine = make(buffers);
        engine.attach(&[Arc::clone(&file)]).unwrap();
        for action in [Action::Write, Action::Fdatasync, Action::Read] {
            let count = if action == Action::Fdatasync {
                1
            } else {
                BLOCKS
            };
            let mut done = Vec::new();
            let mut free: Vec<u32> = (0..depth).collect();
            let mut block_in = vec![0u64; depth as usize];
            let (mut next, mut complete) = (0, 0);
            while complete < count {
                let mut ops = Vec::new();
                while next < count && !free.is_empty() {
                    let slot = free.pop().unwrap();
                    block_in[slot as usize] = next;
                    if action == Action::Write {
                        engine.buffer(slot).fill(next as u8 + 1);
                    } else {
                        engine.buffer(slot).fill(0);
                    }
                    ops.push(Op {
                        slot,
                        action,
                        file: 0,
                        offset: next * u64::from(BLOCK),
                        bytes: BLOCK,
                    });
                    next += 1;
                }
                engine.turn(&ops, 1, &mut done).unwrap();
                assert!(!done.is_empty());
                for Done { slot, result } in done.drain(..) {
                    let moved = if action == Action::Fdatasync {
                        0
                    } else {
                        BLOCK as i32
                    };
                    assert_eq!(result, moved);
                    if action == Action::Read {
                        let wanted = block_in[slot as usize] as u8 + 1;
                        assert!(engine.buffer(slot).iter().all(|&byte| byte == wanted));
                    }
                    free.push(slot);
                    complete += 1;
                }
            }
        }
        // A read beyond the end is a short one, not an error.
        let mut done = Vec::new();
        let offset = BLOCKS * u64::from(BLOCK);
        let op = Op {
            slot: 0,
            action: Action::Read,
            file: 0,
            offset,
            bytes: BLOCK,
        };
        engine.turn(&[op], 1, &mut done).unwrap();
        assert_eq!(done, [Done { slot: 0, result: 0 }]);
        engine.detach().unwrap();
        drop(engine);
        let mut content = vec![0; (BLOCKS * u64::from(BLOCK)) as usize];
        file.read_exact_at(&mut content, 0).unwrap();
        assert!(
            content
                .chunks(BLOCK as usize)
                .zip(1u8..)
                .all(|(c, n)| c.iter().all(|&b| b == n))
        );
    }

    /// An engine reports a failing operation as a negative result.
    pub(crate) fn reports_failures<E: Engine>(make: impl Fn(Vec<Buffer>) -> E) {
        let read_only = Arc::new(File::open("/proc/self/exe").unwrap());
        let mut engine = make(Buffer::slots(1, 4096, Pages::Now).unwrap());
        engine.attach(&[read_only]).unwrap();
        let mut done = Vec::new();
        let op = Op {
            slot: 0,
            action: Action::Write,
            file: 0,
            offset: 0,
            bytes: 4096,
        };
        engine.turn(&[op], 1, &mut done).unwrap();
        assert_eq!(
            done,
            [Done {
                slot: 0,
                result: -libc::EBADF
            }]
        );
    }
}
