//! How much a finite job issues, by walking its script. Pure.

use crate::plan::job::JobPlan;
use crate::script::{Script, Step, rated_mix};

/// Number of I/Os, bytes, and periodic syncs that a finite job issues. Only mixes of
/// different block sizes depend on the random stream; it is the same in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Periodic syncs.
    pub syncs: u64,
}

/// What a job would issue if time did not end it, by walking its script. `None` if it has
/// no end or more than `most` steps, or if time decides the direction of each I/O.
pub fn planned_counts(job: &JobPlan, most: u64) -> Option<Counts> {
    if job.endless() || rated_mix(job) {
        return None;
    }
    if job.create_only {
        return Some(Counts::default());
    }
    let mut script = Script::new(job);
    let mut counts = Counts::default();
    for _ in 0..most {
        match script.next() {
            Step::Io {
                write: true, bytes, ..
            } => {
                counts.writes += 1;
                counts.write_bytes += u64::from(bytes);
            }
            Step::Io { bytes, .. } => {
                counts.reads += 1;
                counts.read_bytes += u64::from(bytes);
            }
            Step::Turn { write } => script.go(write),
            Step::Sync { .. } => counts.syncs += 1,
            Step::Written { .. } => {}
            Step::Exhausted if script.next_pass() => {}
            Step::Exhausted | Step::Complete => return Some(counts),
        }
    }
    None
}
