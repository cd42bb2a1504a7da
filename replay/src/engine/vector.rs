//! fio's vsync: I/Os that lie side by side in one file go out as one preadv or pwritev.
//!
//! fio collects what neighbours until something does not, up to its queue depth. Here the
//! worker hands over a queue's worth at a time, and each run of neighbours in it is a call.
//! All I/Os of a call are done when it returns. Portable.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::sync::Arc;

use super::blocking::{Blocking, Calls};
use super::{Action, Done, Op, negated, perform};
use crate::memory::Buffer;

/// Most I/Os in a call (IOV_MAX of Linux).
const MOST: usize = 1024;

/// The gathering engine.
pub type Vector = Blocking<Gathering>;

/// preadv and pwritev.
#[derive(Debug, Default)]
pub struct Gathering;

/// Performs neighbouring I/Os in one call; gives the bytes moved or the negated error.
fn gather(file: &File, buffers: &mut [Buffer], ops: &[Op]) -> i64 {
    loop {
        let moved = match ops[0].action {
            Action::Write => {
                let parts: Vec<IoSlice<'_>> = ops
                    .iter()
                    .map(|op| IoSlice::new(&buffers[op.slot as usize][..op.bytes as usize]))
                    .collect();
                rustix::io::pwritev(file, &parts, ops[0].offset)
            }
            _ => {
                // One slice per buffer that takes part, in the order of the operations.
                let mut by_slot: Vec<Option<&mut Buffer>> = buffers.iter_mut().map(Some).collect();
                let mut parts: Vec<IoSliceMut<'_>> = ops
                    .iter()
                    .filter_map(|op| {
                        let buffer = by_slot[op.slot as usize].take()?;
                        Some(IoSliceMut::new(&mut buffer[..op.bytes as usize]))
                    })
                    .collect();
                rustix::io::preadv(file, &mut parts, ops[0].offset)
            }
        };
        match moved {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return i64::from(negated(&error.into())),
            Ok(moved) => return moved as i64,
        }
    }
}

/// How many of the first operations lie side by side.
fn neighbours(ops: &[Op]) -> usize {
    let moves = |op: &Op| matches!(op.action, Action::Read | Action::Write);
    let pairs = ops.windows(2).take(MOST - 1);
    1 + pairs
        .take_while(|pair| {
            moves(&pair[0])
                && pair[0].action == pair[1].action
                && pair[0].file == pair[1].file
                && pair[0].offset + u64::from(pair[0].bytes) == pair[1].offset
        })
        .count()
}

impl Calls for Gathering {
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
        let mut rest = ops;
        while !rest.is_empty() {
            let (run, behind) = rest.split_at(neighbours(rest));
            rest = behind;
            let file = &files[run[0].file as usize];
            if let [op] = run {
                let result = perform(op, file, &mut buffers[op.slot as usize]);
                done.push(Done {
                    slot: op.slot,
                    result,
                });
                continue;
            }
            let mut left = gather(file, buffers, run);
            for op in run {
                // A short call fills the front; an error is every operation's.
                let result = if left < 0 {
                    left
                } else {
                    left.min(i64::from(op.bytes))
                };
                left -= result.max(0);
                done.push(Done {
                    slot: op.slot,
                    result: result as i32,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{reports_failures, writes_and_reads_back};
    use super::*;

    #[test]
    fn moves_the_bytes() {
        writes_and_reads_back(Vector::new, 1);
        writes_and_reads_back(Vector::new, 8);
        reports_failures(Vector::new);
    }

    #[test]
    fn only_neighbours_go_together() {
        let op = |slot: u32, action, offset| Op {
            slot,
            action,
            file: 0,
            offset,
            bytes: 4096,
        };
        let (read, write) = (Action::Read, Action::Write);
        let ops = [op(0, write, 0), op(1, write, 4096), op(2, write, 12_288)];
        assert_eq!(neighbours(&ops), 2);
        assert_eq!(neighbours(&[op(0, write, 0), op(1, read, 4096)]), 1);
        assert_eq!(
            neighbours(&[op(0, Action::Fsync, 0), op(1, Action::Fsync, 4096)]),
            1
        );
    }
}
