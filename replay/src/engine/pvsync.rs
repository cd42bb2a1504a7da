//! preadv2 and pwritev2, one at a time, with the flags that a single I/O can carry: fio's
//! pvsync2 with `hipri`, `nowait` or `uncached`. Without these [`super::sync`] does the same.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::Arc;

use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};

use super::{Action, Done, Engine, Op, perform};
use crate::memory::Buffer;
use crate::plan::job::Ring;

/// RWF_DONTCACHE (linux/fs.h, Linux 6.14), which libc does not name yet. fio before 3.40 has
/// another bit for `uncached`, which the kernel has since given to RWF_ATOMIC.
const RWF_DONTCACHE: i32 = 0x80;

/// The RWF_* bits of an I/O.
pub(super) fn flags(ask: &Ring) -> i32 {
    let bits = [
        (ask.poll, libc::RWF_HIPRI),
        (ask.nowait, libc::RWF_NOWAIT),
        (ask.uncached, RWF_DONTCACHE),
    ];
    let set = bits.iter().filter(|(on, _)| *on);
    set.fold(0, |all, (_, bit)| all | bit)
}

/// The synchronous engine with flags.
#[derive(Debug)]
pub struct Pvsync {
    buffers: Vec<Buffer>,
    files: Vec<Arc<File>>,
    flags: ReadWriteFlags,
}

impl Pvsync {
    /// An engine with one slot per buffer whose I/Os carry what is asked.
    pub fn new(buffers: Vec<Buffer>, ask: &Ring) -> Self {
        Pvsync {
            buffers,
            files: Vec::new(),
            flags: ReadWriteFlags::from_bits_retain(flags(ask) as u32),
        }
    }

    fn perform(&mut self, op: &Op) -> i32 {
        let file = &self.files[op.file as usize];
        let buffer = &mut self.buffers[op.slot as usize];
        let bytes = op.bytes as usize;
        loop {
            let moved = match op.action {
                Action::Read => {
                    let into = &mut [IoSliceMut::new(&mut buffer[..bytes])];
                    preadv2(file, into, op.offset, self.flags)
                }
                Action::Write => {
                    let from = &[IoSlice::new(&buffer[..bytes])];
                    pwritev2(file, from, op.offset, self.flags)
                }
                Action::Fsync | Action::Fdatasync => return perform(op, file, buffer),
            };
            match moved {
                Err(Errno::INTR) => {}
                Err(error) => return -error.raw_os_error(),
                Ok(moved) => return moved as i32,
            }
        }
    }
}

impl Engine for Pvsync {
    const SYNCHRONOUS: bool = true;

    fn attach(&mut self, files: &[Arc<File>]) -> io::Result<()> {
        self.files = files.to_vec();
        Ok(())
    }

    fn detach(&mut self) -> io::Result<()> {
        self.files.clear();
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }

    fn turn(&mut self, ops: &[Op], _wait: u32, done: &mut Vec<Done>) -> io::Result<()> {
        for op in ops {
            let result = self.perform(op);
            done.push(Done {
                slot: op.slot,
                result,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{reports_failures, writes_and_reads_back};
    use super::*;

    #[test]
    fn moves_the_bytes() {
        // Polling has no effect on cached files, so this works everywhere.
        let ask = Ring {
            poll: true,
            ..Ring::default()
        };
        writes_and_reads_back(|buffers| Pvsync::new(buffers, &ask), 1);
        reports_failures(|buffers| Pvsync::new(buffers, &ask));
    }

    #[test]
    fn each_wish_has_its_bit() {
        let ask = Ring {
            poll: true,
            nowait: true,
            uncached: true,
            ..Ring::default()
        };
        assert_eq!(flags(&ask), 0x01 | 0x08 | 0x80);
        assert_eq!(flags(&Ring::default()), 0);
    }
}
