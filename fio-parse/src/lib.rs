//! Reads fio and dd output, alone or buried in a post, into records with exact intervals.
//!
//! ```text
//! bytes --decode--> Log --readers--> Block* --resolve--> (Block, Context)* --assemble--> Record*
//! ```
//!
//! 1. [`Log`] fixes the text and knows its lines.
//! 2. [`block`] cuts it into blocks: prose, commands, reports. Figures stay text.
//! 3. [`context`] tells which machine, section, workload and version each report falls under.
//! 4. [`assemble`] decodes figures into [`Reading`]s, each the interval of values that print so, and makes [`Record`]s.
//!
//! [`parse`] does all four and never fails: broken input gives fewer records and more [`Diagnostic`]s.
//!
//! ```
//! use fio_parse::{Log, parse};
//!
//! let text = b"\
//! $ fio --name=test --rw=randwrite --bs=4k --size=4g --end_fsync=1
//!
//! Run status group 0 (all jobs):
//!   WRITE: bw=293MiB/s (307MB/s), 293MiB/s-293MiB/s (307MB/s-307MB/s), io=19.2GiB (20.6GB), run=67192-67192msec
//! ";
//! let log = Log::from_bytes("post.txt", text)?;
//! let record = &parse(&log).records[0];
//! let bandwidth = record.measurement.bytes_per_sec.as_ref().unwrap();
//!
//! // both figures hold, so the value lies where their intervals meet
//! assert_eq!((bandwidth.lo().get(), bandwidth.hi().get()), (306708480.0, 307499999.0));
//! assert_eq!(record.workload.as_ref().unwrap().jobs()[0].block_bytes.unwrap().0, 4096);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Speed
//!
//! One core of an AMD EPYC, a hundred megabytes of each form made of the fixtures of fio 3.x, every field read; from bytes
//! in memory to records in memory, and on to JSON Lines (`cargo bench -p fio-parse --bench text`, `--bench speed`).
//!
//! | form | to records | to JSON Lines | a reader in Python |
//! |---|--:|--:|--:|
//! | normal text | 155 MB/s (182 of forty megabytes) | 97 MB/s | 11 MB/s (regular expressions) |
//! | JSON | 416 MB/s | 328 MB/s | 42 MB/s (its `json`, which is C) |
//!
//! The reader in Python (`benches/python_reader.py`) takes the same fields as plain numbers, without intervals and places
//! in the text; `benches/side_by_side.sh` times it beside the binary and holds both against each other.
//!
//! The library does no I/O, starts no thread and reads no clock. The feature `cli` (on by default) adds what the
//! binaries share; libraries switch it off.
#![forbid(unsafe_code)]

pub mod assemble;
pub mod block;
pub mod claim;
#[cfg(feature = "cli")]
pub mod cli;
pub mod context;
mod detail;
pub mod diagnostic;
pub mod era;
mod explain;
pub mod figure;
#[cfg(feature = "cli")]
pub mod folder;
pub mod interval;
pub mod lex;
mod reading;
pub mod record;
pub mod series;
pub mod source;
pub mod unit;
mod wire;
pub mod workload;

pub use assemble::{Parsed, parse};
pub use diagnostic::{Diagnostic, Severity};
pub use explain::explain;
pub use record::{Direction, Measurement, Reading, Record};
pub use source::{Log, Span};
pub use unit::{Bytes, BytesPerSec, Iops, Nanos, Percent, Quantity};
pub use workload::Workload;
