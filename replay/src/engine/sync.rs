//! pread and pwrite, one at a time: fio's psync, and the stand-in for its other
//! synchronous engines. Portable; a system without io_uring needs nothing else.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::blocking::{Blocking, Calls};
use super::{Done, Op, perform};
use crate::memory::Buffer;

/// The synchronous engine.
pub type Sync = Blocking<Positioned>;

/// pread and pwrite.
#[derive(Debug, Default)]
pub struct Positioned;

impl Calls for Positioned {
    type Target = Arc<File>;

    fn target(file: &Arc<File>) -> io::Result<Arc<File>> {
        Ok(Arc::clone(file))
    }

    #[inline(always)]
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
                result: perform(op, file, &mut buffers[op.slot as usize]),
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
        writes_and_reads_back(Sync::new, 1);
        reports_failures(Sync::new);
    }
}
