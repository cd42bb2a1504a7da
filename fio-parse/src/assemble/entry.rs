//! What fio's machine formats give: one measured direction of one job, before `context` puts it in its place.

use crate::diagnostic::Diagnostic;
use crate::record::{Details, Direction, JobError, Label, Measurement, Scope};
use crate::source::Span;
use crate::workload::Workload;
use std::sync::Arc;

/// One measured direction. With the source, the run number and the labels around it, it makes a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The part of the block it was read from.
    pub span: Span,
    /// What it sums up.
    pub scope: Scope,
    /// Which way bytes went.
    pub direction: Direction,
    /// The readings.
    pub measurement: Measurement,
    /// Errors that the job reported.
    pub errors: Vec<JobError>,
    /// What is odd about the figures.
    pub warnings: Vec<Diagnostic>,
    /// The job's options, where the format holds them.
    pub workload: Option<Arc<Workload>>,
    /// The machine, where the format names one.
    pub machine: Option<Label>,
    /// What the format says beside figures.
    pub details: Option<Box<Details>>,
    /// How many runs of the same document come before its own: each server of a client has one.
    pub run: u32,
}
