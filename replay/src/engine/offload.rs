//! `io_submit_mode=offload`: as many threads as the queue has slots, each doing the I/O of its
//! slot, so that also synchronous calls run side by side.
//!
//! Like fio's worker queue, an I/O is handed over by waking its thread, and the job sleeps
//! until one is done.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::{Done, Engine, Op, perform};
use crate::memory::Buffer;

/// An operation on its way, with what it needs.
type Task = (Op, Arc<File>, Buffer);

/// The engine with a thread per slot.
#[derive(Debug)]
pub struct Offload {
    /// The buffer of each slot; with the thread while its operation is under way.
    buffers: Vec<Option<Buffer>>,
    files: Vec<Arc<File>>,
    under_way: u32,
    tasks: Vec<Sender<Task>>,
    threads: Vec<JoinHandle<()>>,
    finished: Receiver<(Done, Buffer)>,
}

impl Offload {
    /// An engine with one slot and one thread per buffer.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(buffers: Vec<Buffer>) -> io::Result<Self> {
        let (done, finished) = channel();
        let (mut tasks, mut threads) = (Vec::new(), Vec::new());
        for _ in &buffers {
            let (sender, receiver) = channel::<Task>();
            let done = done.clone();
            let thread = std::thread::Builder::new().name("offload".to_owned());
            threads.push(thread.spawn(move || serve(&receiver, &done))?);
            tasks.push(sender);
        }
        Ok(Offload {
            buffers: buffers.into_iter().map(Some).collect(),
            files: Vec::new(),
            under_way: 0,
            tasks,
            threads,
            finished,
        })
    }

    fn take(&mut self, (complete, buffer): (Done, Buffer), done: &mut Vec<Done>) {
        self.buffers[complete.slot as usize] = Some(buffer);
        self.under_way -= 1;
        done.push(complete);
    }
}

/// The life of a thread: it ends when the engine goes.
fn serve(tasks: &Receiver<Task>, finished: &Sender<(Done, Buffer)>) {
    for (op, file, mut buffer) in tasks {
        let result = perform(&op, &file, &mut buffer);
        drop(file);
        let done = Done {
            slot: op.slot,
            result,
        };
        if finished.send((done, buffer)).is_err() {
            return;
        }
    }
}

impl Engine for Offload {
    const SYNCHRONOUS: bool = false;

    fn attach(&mut self, files: &[Arc<File>]) -> io::Result<()> {
        self.files = files.to_vec();
        Ok(())
    }

    fn detach(&mut self) -> io::Result<()> {
        self.files.clear();
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers[slot as usize]
            .as_mut()
            .expect("the slot has no operation under way")
    }

    fn turn(&mut self, ops: &[Op], wait: u32, done: &mut Vec<Done>) -> io::Result<()> {
        let gone = || io::Error::other("a thread that does the I/O is gone");
        for &op in ops {
            let slot = op.slot as usize;
            let buffer = self.buffers[slot].take().expect("one operation per slot");
            let file = Arc::clone(&self.files[op.file as usize]);
            let sent = self.tasks[slot].send((op, file, buffer));
            sent.map_err(|_| gone())?;
            self.under_way += 1;
        }
        for _ in 0..wait.min(self.under_way) {
            let complete = self.finished.recv().map_err(|_| gone())?;
            self.take(complete, done);
        }
        while let Ok(complete) = self.finished.try_recv() {
            self.take(complete, done);
        }
        Ok(())
    }
}

impl Drop for Offload {
    fn drop(&mut self) {
        self.tasks.clear();
        for thread in self.threads.drain(..) {
            // A thread that panicked took its buffer along; there is nothing else to save.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{reports_failures, writes_and_reads_back};
    use super::*;

    #[test]
    fn moves_the_bytes_at_every_depth() {
        for depth in [1, 7] {
            writes_and_reads_back(|buffers| Offload::new(buffers).unwrap(), depth);
        }
        reports_failures(|buffers| Offload::new(buffers).unwrap());
    }
}
