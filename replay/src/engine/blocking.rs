//! What the engines share whose operations are done when the call returns: buffers, files,
//! and one way to hand operations over. What differs is [`Calls`].

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::{Done, Engine, Op};
use crate::memory::Buffer;

/// How an engine moves data.
pub trait Calls {
    /// Whether fio's engine of this kind is a synchronous one: see [`Engine::SYNCHRONOUS`].
    const SYNCHRONOUS: bool = true;

    /// What is kept of a file in use.
    type Target;

    /// Makes it.
    ///
    /// # Errors
    /// The kernel's.
    fn target(file: &Arc<File>) -> io::Result<Self::Target>;

    /// Performs all operations. The buffers are those of the slots.
    fn perform(
        &self,
        targets: &[Self::Target],
        buffers: &mut [Buffer],
        ops: &[Op],
        done: &mut Vec<Done>,
    );
}

/// An engine of calls that block.
#[derive(Debug)]
pub struct Blocking<C: Calls> {
    calls: C,
    buffers: Vec<Buffer>,
    targets: Vec<C::Target>,
}

impl<C: Calls> Blocking<C> {
    /// An engine with one slot per buffer.
    pub fn new(buffers: Vec<Buffer>) -> Self
    where
        C: Default,
    {
        Blocking::with(C::default(), buffers)
    }

    /// An engine with one slot per buffer, whose calls are made in this way.
    pub fn with(calls: C, buffers: Vec<Buffer>) -> Self {
        Blocking {
            calls,
            buffers,
            targets: Vec::new(),
        }
    }
}

impl<C: Calls> Engine for Blocking<C> {
    const SYNCHRONOUS: bool = C::SYNCHRONOUS;

    fn attach(&mut self, files: &[Arc<File>]) -> io::Result<()> {
        self.targets = files.iter().map(C::target).collect::<io::Result<_>>()?;
        Ok(())
    }

    fn detach(&mut self) -> io::Result<()> {
        self.targets.clear();
        Ok(())
    }

    #[inline(always)]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }

    #[inline(always)]
    fn turn(&mut self, ops: &[Op], _wait: u32, done: &mut Vec<Done>) -> io::Result<()> {
        self.calls
            .perform(&self.targets, &mut self.buffers, ops, done);
        Ok(())
    }
}
