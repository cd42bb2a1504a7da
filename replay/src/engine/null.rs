//! Completes every operation at once and touches nothing: what is left is the cost of the
//! instrument itself.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::blocking::{Blocking, Calls};
use super::{Done, Op};
use crate::memory::Buffer;

/// The null engine.
pub type Null = Blocking<Nothing>;

/// Does nothing.
#[derive(Debug, Default)]
pub struct Nothing;

impl Calls for Nothing {
    const SYNCHRONOUS: bool = false;

    type Target = ();

    fn target(_file: &Arc<File>) -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn perform(&self, _targets: &[()], _buffers: &mut [Buffer], ops: &[Op], done: &mut Vec<Done>) {
        done.extend(ops.iter().map(|op| Done {
            slot: op.slot,
            result: op.bytes as i32,
        }));
    }
}
