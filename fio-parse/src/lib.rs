//! Reads fio and dd output, alone or buried in a post, into records with exact intervals.
#![forbid(unsafe_code)]

pub mod assemble;
pub mod block;
mod detail;
pub mod diagnostic;
pub mod era;
pub mod figure;
pub mod interval;
pub mod lex;
mod reading;
pub mod record;
pub mod source;
pub mod unit;
pub mod workload;

pub use diagnostic::{Diagnostic, Severity};
pub use record::{Direction, Measurement, Reading, Record};
pub use source::{Log, Span};
pub use unit::{Bytes, BytesPerSec, Iops, Nanos, Percent, Quantity};
pub use workload::Workload;
