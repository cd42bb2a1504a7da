//! fio's posixaio as the C library on Linux plays it: the I/O of one open file is done by
//! one helper thread, one after the other, so with one file the depth is one whatever the
//! job says, and every I/O pays for being handed to another thread and back.
//!
//! Hand-over is a mutex and two condition variables. Spinning would be faster and would
//! measure another test.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::{Done, Engine, Op, perform};
use crate::memory::Buffer;

/// The engine with one helper thread per open file.
#[derive(Debug)]
pub struct Helper {
    /// The buffer of each slot; with the helper while its operation is under way.
    buffers: Vec<Option<Buffer>>,
    under_way: u32,
    helpers: Vec<Worker>,
    finished: Arc<Finished>,
}

/// What the helpers are done with.
#[derive(Debug, Default)]
struct Finished {
    list: Mutex<Vec<(Done, Buffer)>>,
    changed: Condvar,
}

/// One helper thread and its queue.
#[derive(Debug)]
struct Worker {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Op, Buffer)>,
    closed: bool,
}

impl Helper {
    /// An engine with one slot per buffer.
    pub fn new(buffers: Vec<Buffer>) -> Self {
        Helper {
            buffers: buffers.into_iter().map(Some).collect(),
            under_way: 0,
            helpers: Vec::new(),
            finished: Arc::default(),
        }
    }
}

impl Engine for Helper {
    const SYNCHRONOUS: bool = false;

    fn attach(&mut self, files: &[Arc<File>]) -> io::Result<()> {
        self.detach()?;
        for file in files {
            let queue = Arc::<Queue>::default();
            let (served, file, finished) = (
                Arc::clone(&queue),
                Arc::clone(file),
                Arc::clone(&self.finished),
            );
            let thread = std::thread::Builder::new()
                .name("posixaio".to_owned())
                .spawn(move || serve(&served, &file, &finished))?;
            self.helpers.push(Worker {
                queue,
                thread: Some(thread),
            });
        }
        Ok(())
    }

    fn detach(&mut self) -> io::Result<()> {
        assert_eq!(
            self.under_way, 0,
            "files are let go of when nothing is under way"
        );
        self.helpers.clear();
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers[slot as usize]
            .as_mut()
            .expect("the slot has no operation under way")
    }

    fn turn(&mut self, ops: &[Op], wait: u32, done: &mut Vec<Done>) -> io::Result<()> {
        for &op in ops {
            let buffer = self.buffers[op.slot as usize]
                .take()
                .expect("one operation per slot");
            let queue = &self.helpers[op.file as usize].queue;
            lock(&queue.state).waiting.push_back((op, buffer));
            queue.changed.notify_one();
            self.under_way += 1;
        }
        let wanted = wait.min(self.under_way) as usize;
        let mut list = lock(&self.finished.list);
        while list.len() < wanted {
            list = self
                .finished
                .changed
                .wait(list)
                .unwrap_or_else(PoisonError::into_inner);
        }
        for (complete, buffer) in list.drain(..) {
            self.buffers[complete.slot as usize] = Some(buffer);
            self.under_way -= 1;
            done.push(complete);
        }
        Ok(())
    }
}

/// The life of a helper thread.
fn serve(queue: &Queue, file: &File, finished: &Finished) {
    loop {
        let (op, mut buffer) = {
            let mut state = lock(&queue.state);
            loop {
                if let Some(next) = state.waiting.pop_front() {
                    break next;
                }
                if state.closed {
                    return;
                }
                state = queue
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        };
        let result = perform(&op, file, &mut buffer);
        lock(&finished.list).push((
            Done {
                slot: op.slot,
                result,
            },
            buffer,
        ));
        finished.changed.notify_one();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        lock(&self.queue.state).closed = true;
        self.queue.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A helper does not panic; if it did, its operation is missing and the worker
            // has failed already.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{reports_failures, writes_and_reads_back};
    use super::*;

    #[test]
    fn moves_the_bytes() {
        writes_and_reads_back(Helper::new, 1);
        writes_and_reads_back(Helper::new, 8);
        reports_failures(Helper::new);
    }
}
