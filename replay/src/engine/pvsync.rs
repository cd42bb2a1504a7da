//! preadv2 and pwritev2, one at a time, with the flags that a single I/O can carry: fio's
//! pvsync2 with `hipri`, `nowait` or `uncached`. Without these [`super::sync`] does the same.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::Arc;

use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};

use super::blocking::{Blocking, Calls};
use super::{Action, Done, Op, perform};
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
pub type Pvsync = Blocking<Flagged>;

/// preadv2 and pwritev2 with the same flags each time.
#[derive(Debug)]
pub struct Flagged(ReadWriteFlags);

impl Flagged {
    /// Calls that carry what is asked.
    pub fn new(ask: &Ring) -> Self {
        Flagged(ReadWriteFlags::from_bits_retain(flags(ask) as u32))
    }

    fn one(&self, op: &Op, file: &Arc<File>, buffer: &mut Buffer) -> i32 {
        let bytes = op.bytes as usize;
        loop {
            let moved = match op.action {
                Action::Read => {
                    let into = &mut [IoSliceMut::new(&mut buffer[..bytes])];
                    preadv2(file, into, op.offset, self.0)
                }
                Action::Write => {
                    let from = &[IoSlice::new(&buffer[..bytes])];
                    pwritev2(file, from, op.offset, self.0)
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

impl Calls for Flagged {
    type Target = Arc<File>;

    fn target(file: &Arc<File>) -> io::Result<Arc<File>> {
        Ok(Arc::clone(file))
    }

    fn perform(
        &self,
        files: &[Arc<File>],
        buffers: &mut [Buffer],
        ops: &[Op],
        done: &mut Vec<Done>,
    ) {
        for op in ops {
            let file = &files[op.file as usize];
            done.push(Done {
                slot: op.slot,
                result: self.one(op, file, &mut buffers[op.slot as usize]),
            });
        }
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
        writes_and_reads_back(|buffers| Pvsync::with(Flagged::new(&ask), buffers), 1);
        reports_failures(|buffers| Pvsync::with(Flagged::new(&ask), buffers));
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
