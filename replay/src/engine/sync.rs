//! pread and pwrite, one at a time: fio's psync, and the stand-in for its other
//! synchronous engines. Portable; a system without io_uring needs nothing else.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::{Done, Engine, Op, perform};
use crate::memory::Buffer;

/// The synchronous engine.
#[derive(Debug)]
pub struct Sync {
    buffers: Vec<Buffer>,
    files: Vec<Arc<File>>,
}

impl Sync {
    /// An engine with one slot per buffer.
    pub fn new(buffers: Vec<Buffer>) -> Self {
        Sync {
            buffers,
            files: Vec::new(),
        }
    }
}

impl Engine for Sync {
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
            let file = &self.files[op.file as usize];
            let result = perform(op, file, &mut self.buffers[op.slot as usize]);
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
        writes_and_reads_back(Sync::new, 1);
        reports_failures(Sync::new);
    }
}
