//! Logs that hold nothing but reports of fio's normal text: read report by report, in one pass.
//!
//! Large logs are mostly of this kind: what fio printed, run after run, with no word around. Nothing there can be a
//! label, a claim or a command, so that a report depends on no line below it, and each block can be turned into records
//! as soon as it is cut and be forgotten. That keeps the memory in use as small as one report and the caches warm.
//!
//! Readers, context and assembler are those of all logs; they are called for the blocks between two places where another
//! run starts for sure (the *borders*: a header, a version), as nothing but runs and versions goes over a border.
//! At the first block of another kind nothing is given, and the log is read as a whole.

use super::{Assembler, Parsed};
use crate::block::fio_note::FioNote;
use crate::block::{Block, Cutter, Kind};
use crate::context::{Contexts, Walk};
use crate::source::Log;
use std::collections::HashSet;

/// How many bytes of a report give a record, at least.
const BYTES_A_RECORD: usize = 768;

/// For how many records memory is set aside at the start. It costs nothing until it is used, while a list that grows
/// from nothing is copied, and each copy is memory that is touched for the first time.
const RESERVED: usize = 1 << 16;

/// Reads the log where it is of this kind.
pub(super) fn parse(log: &Log<'_>) -> Option<Parsed> {
    let mut reader = Reader {
        assembler: Assembler::new(log),
        walk: Walk::default(),
        contexts: Contexts::default(),
        borders: Vec::new(),
    };
    let records = (log.text().len() / BYTES_A_RECORD).min(RESERVED);
    reader.assembler.parsed.records.reserve(records);
    let mut cutter = Cutter::new(log);
    let mut stretch = Vec::new();
    while let Some(block) = cutter.next() {
        match block.kind {
            // a line that prose may quote
            Kind::FioJob(ref job) if job.head.is_none() && log.get(block.span).contains('`') => {
                return None;
            }
            Kind::Blank | Kind::FioJob(_) | Kind::FioGroup(_) => {}
            Kind::FioHeader(_) | Kind::FioNote(FioNote::Version(_) | FioNote::Server { .. }) => {
                reader.take(log, &mut stretch);
                reader.borders.push(block.span.start);
            }
            Kind::FioNote(_) => {}
            _ => return None,
        }
        stretch.push(block);
    }
    reader.take(log, &mut stretch);
    Some(reader.assembler.finish(&reader.borders))
}

struct Reader<'l, 't> {
    assembler: Assembler<'l, 't>,
    walk: Walk<'l>,
    /// Of the last blocks; kept as memory for those of the next.
    contexts: Contexts,
    borders: Vec<u32>,
}

impl<'l> Reader<'l, '_> {
    /// Reads the blocks up to a border, and empties the list.
    fn take(&mut self, log: &Log<'_>, stretch: &mut Vec<Block<'l>>) {
        self.walk.unlabelled(log, stretch, &mut self.contexts);
        self.assembler
            .take(stretch, &self.contexts, &HashSet::new());
        stretch.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::parse_blocks;
    use crate::block::blocks;
    use std::fs;
    use std::path::Path;

    /// Holds both ways of reading against each other; whether this one took the log.
    fn agrees(text: &[u8], name: &str) -> bool {
        let log = Log::from_bytes("x", text).unwrap();
        let whole = parse_blocks(&log, blocks(&log));
        let Some(plain) = parse(&log) else {
            return false;
        };
        for (plain, whole) in plain.records.iter().zip(&whole.records) {
            assert_eq!(plain, whole, "{name}");
        }
        assert_eq!(plain, whole, "{name}");
        true
    }

    /// The committed texts of fio.
    fn texts() -> Vec<(String, Vec<u8>)> {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
        let mut texts = Vec::new();
        for folder in ["logs", "runs"].map(|folder| fs::read_dir(fixtures.join(folder)).unwrap()) {
            for entry in folder {
                let path = entry.unwrap().path();
                for file in ["input.txt", "normal.txt"] {
                    if let Ok(text) = fs::read(path.join(file)) {
                        texts.push((path.display().to_string(), text));
                    }
                }
            }
        }
        texts.sort();
        texts
    }

    #[test]
    fn reads_as_the_whole_does() {
        let texts = texts();
        let taken = texts
            .iter()
            .filter(|(name, text)| agrees(text, name))
            .count();
        assert!(taken >= 30, "{taken} of {} logs", texts.len());
    }

    #[test]
    fn reports_behind_each_other_are_read_as_the_whole_does() {
        let texts = texts();
        let plain: Vec<&(String, Vec<u8>)> = texts
            .iter()
            .filter(|(name, text)| agrees(text, name))
            .collect();
        let mut taken = 0;
        for step in [1, 7, 11] {
            for (index, (name, text)) in plain.iter().enumerate() {
                let (other, behind) = plain[(index + step) % plain.len()];
                taken += usize::from(agrees(
                    &[&text[..], behind].concat(),
                    &format!("{name} + {other}"),
                ));
                // cut anywhere
                let cut = &text[..text.len() * (step + 1) / 13];
                agrees(
                    &[cut, &behind[..]].concat(),
                    &format!("{name} cut + {other}"),
                );
            }
        }
        assert!(taken > plain.len() * 2, "{taken} of {}", plain.len() * 3);
    }

    #[test]
    fn words_around_a_report_are_for_the_whole() {
        let report = "fio-3.33\nStarting 1 process\n\na: (groupid=0, jobs=1): err= 0: pid=7: Mon Nov 30 14:42:38 2026\n  read: IOPS=1234, BW=100MiB/s (105MB/s)(35.9MiB/757msec)\n";
        assert!(agrees(report.as_bytes(), "report"));
        for around in [
            format!("My disk\n\n{report}"),
            format!("{report}\nThat is fast.\n"),
            format!("$ fio a.fio\n{report}"),
        ] {
            assert!(!agrees(around.as_bytes(), &around));
        }
    }
}
