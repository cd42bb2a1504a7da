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
    for block in block::blocks(log) {
        let text = log.get(block.span);
        let name = block.kind.name();
        let mut first = true;
        for line in text.split_inclusive(['\n', '\r']) {
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() && !first && !matches!(block.kind, Kind::Blank) {
                // the second half of a CRLF, or an empty line within a report
                let _ = writeln!(out, "{:>MARGIN$} │", "·");
                continue;
            }
            let shown = if first { name } else { "·" };
            let _ = writeln!(out, "{shown:>MARGIN$} │ {}", line.trim_end());
            first = matches!(block.kind, Kind::Blank);
        }
    }
    out
}
