//! The log with the kind of each line in the margin: what was read as what.
//!
//! ```text
//!   heading │ Small random writes
//!           │
//!   command │ fio --name=random-write --rw=randwrite --bs=4k
//! ```
//!
//! A block's kind stands at its first line, a dot at the lines that go on with it. Lines that were not understood
//! say so, for nothing may be skipped unseen.

use crate::block::{self, Kind};
use crate::source::Log;
use std::fmt::Write as _;

/// The widest kind name, and the margin's width.
const MARGIN: usize = 12;

/// The whole log, each line behind the kind of the block that it belongs to.
pub fn explain(log: &Log<'_>) -> String {
    let mut out = String::with_capacity(log.text().len() * 2);
    let mut lines = log.segments();
    for block in block::blocks(log) {
        let name = block.kind.name();
        let mut first = true;
        while lines.offset() < block.span.end {
            let Some(line) = lines.next() else { break };
            let shown = if first { name } else { "·" };
            let margin = format!("{shown:>MARGIN$} │ {}", line.text);
            let _ = writeln!(out, "{}", margin.trim_end());
            first = matches!(block.kind, Kind::Blank);
        }
    }
    out
}
