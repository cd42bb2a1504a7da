//! Inputs to records to columns.
//!
//! Each input is sniffed: if its first non-blank line starts with `{"v":`, it is JSON Lines of
//! records; Parquet, Arrow and CSV files of records are told by their first bytes; anything else is
//! a log, which `fio_parse` reads. There is no text parsing here. Lines
//! are read by all cores: the bytes are cut at line ends into one piece a core, and the columns
//! are joined in order, so the result does not depend on their number.
//!
//! `label=path` renames the machine of an input that holds results of one machine. Where it holds
//! several, they keep their names and the label names the input (key `file`).

use std::sync::Arc;
use std::thread;

use fio_parse::record::{Label, LabelSource};
use fio_parse::{Log, Record};

use crate::filter::Filter;
use crate::flat::{self, Form};
use crate::frame::{Builder, Wanted};
use crate::lines::Reader;

/// Something to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name, as typed.
    pub name: String,
    /// The label given in front of it.
    pub label: Option<String>,
    /// The content.
    pub bytes: Vec<u8>,
}

/// What came of an input.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many records were found, before any filter.
    pub records: usize,
    /// What was odd, as text for a person; does not stop anything.
    pub remarks: Vec<String>,
    /// What could not be read, as text for a person.
    pub errors: Vec<String>,
}

/// Which records are kept, and in which columns.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The columns.
    pub wanted: Wanted,
    /// The condition.
    pub filter: Filter,
}

impl Plan {
    /// Does the filter take a record?
    pub fn wants(&self, record: &Record) -> bool {
        self.filter.matches(&|key| key.get(record))
    }

    /// Adds a record if the filter takes it.
    pub fn push(&self, builder: &mut Builder, record: &Record) {
        if self.wants(record) {
            builder.push(record);
        }
    }
}

/// Is this JSON Lines of records?
pub fn is_records(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace());
    start.is_some_and(|at| bytes[at..].starts_with(b"{\"v\":"))
}

/// Reads an input into columns.
pub fn load(input: &Input, plan: &Plan) -> (Builder, Outcome) {
    if input.label.is_none() && is_records(&input.bytes) {
        return load_lines(input, plan);
    }
    let mut outcome = Outcome::default();
    if let Some(form) = Form::of_bytes(&input.bytes) {
        let (builder, records) = match flat::read(&input.bytes, form, plan) {
            Ok(read) => read,
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or("");
                outcome.errors.push(format!(
                    "{}: not a flat file of records: {first}",
                    input.name
                ));
                (Builder::new(plan.wanted.clone()), 0)
            }
        };
        outcome.records = records;
        if input.label.is_some() {
            outcome
                .remarks
                .push(format!("{}: a label can't rename flat records", input.name));
        }
        return (builder, outcome);
    }
    let mut records = if is_records(&input.bytes) {
        let mut records = Vec::new();
        read_lines(
            &input.bytes,
            &mut |line| serde_json::from_slice(line).map(|record| records.push(record)),
            &mut |line, error| {
                outcome.errors.push(bad_line(&input.name, line, &error));
            },
        );
        records
    } else {
        match Log::from_bytes(input.name.as_str(), &input.bytes) {
            Ok(log) => {
                let parsed = fio_parse::parse(&log);
                let shown = parsed.diagnostics.iter();
                outcome
                    .remarks
                    .extend(shown.map(|d| fio_parse::diagnostic::render(&log, d)));
                parsed.records
            }
            Err(error) => {
                outcome.errors.push(format!("{}: {error}", input.name));
                Vec::new()
            }
        }
    };
    outcome.records = records.len();
    if let Some(label) = &input.label {
        relabel(&mut records, label);
    }
    let mut builder = Builder::new(plan.wanted.clone());
    for record in &records {
        plan.push(&mut builder, record);
    }
    (builder, outcome)
}

/// `label=path`: names the machine if there is one, else the input.
fn relabel(records: &mut [Record], label: &str) {
    let name = |r: &Record| crate::keys::Key::MACHINE.get(r).into_owned();
    let one = records.windows(2).all(|w| name(&w[0]) == name(&w[1]));
    let label: Arc<str> = label.into();
    for record in records {
        if one {
            record.machine = Some(Label {
                text: Arc::clone(&label),
                full: None,
                span: None,
                by: LabelSource::Flag,
                ambiguous: false,
            });
        } else {
            record.source.name = Arc::clone(&label);
        }
    }
}

fn bad_line(name: &str, line: usize, error: &serde_json::Error) -> String {
    format!("{name}:{line}: expected a record, found {error}")
}

/// Hands every line that is not blank to `take`; gives the number of lines.
fn read_lines(
    bytes: &[u8],
    take: &mut impl FnMut(&[u8]) -> Result<(), serde_json::Error>,
    fail: &mut impl FnMut(usize, serde_json::Error),
) -> usize {
    let mut count = 0;
    for line in bytes.split(|b| *b == b'\n') {
        count += 1;
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if let Err(error) = take(line) {
            fail(count, error);
        }
    }
    count
}

/// Smaller inputs are read by one thread; starting more would take longer.
const PIECE_AT_LEAST: usize = 1 << 20;

fn load_lines(input: &Input, plan: &Plan) -> (Builder, Outcome) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let pieces = cut(
        &input.bytes,
        cores.min(input.bytes.len() / PIECE_AT_LEAST).max(1),
    );
    let read = |piece: &[u8]| {
        let mut builder = Builder::new(plan.wanted.clone());
        let mut reader = Reader::new(plan);
        let (mut records, mut errors) = (0, Vec::new());
        let lines = read_lines(
            piece,
            &mut |line| {
                reader.push(line, &mut builder)?;
                records += 1;
                Ok(())
            },
            &mut |line, error| errors.push((line, error)),
        );
        (builder, records, errors, lines)
    };
    let parts: Vec<_> = if pieces.len() == 1 {
        vec![read(pieces[0])]
    } else {
        thread::scope(|scope| {
            let threads: Vec<_> = pieces
                .iter()
                .map(|piece| scope.spawn(|| read(piece)))
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        })
    };
    let mut all = Builder::new(plan.wanted.clone());
    let mut outcome = Outcome::default();
    let mut before = 0;
    for (builder, records, errors, lines) in parts {
        all.absorb(builder);
        outcome.records += records;
        let errors = errors
            .iter()
            .map(|(line, e)| bad_line(&input.name, before + line, e));
        outcome.errors.extend(errors);
        // A piece ends with its line end, after which nothing is counted as a line.
        before += lines.saturating_sub(1);
    }
    (all, outcome)
}

/// Cuts bytes after line ends into about equal pieces.
fn cut(bytes: &[u8], pieces: usize) -> Vec<&[u8]> {
    let mut out = Vec::new();
    let mut rest = bytes;
    for left in (1..=pieces).rev() {
        let target = rest.len() / left;
        let end = match rest[target.min(rest.len())..]
            .iter()
            .position(|b| *b == b'\n')
        {
            Some(offset) if left > 1 => target + offset + 1,
            _ => rest.len(),
        };
        let (piece, after) = rest.split_at(end);
        out.push(piece);
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_told_from_logs() {
        assert!(is_records(b"{\"v\":1,\"source\":{}}"));
        assert!(is_records(b"\n  {\"v\":1}"));
        assert!(is_records(b"\xEF\xBB\xBF{\"v\":1}"));
        assert!(!is_records(b"{ \"fio version\" : \"fio-3.33\""));
        assert!(!is_records(b"WRITE: bw=1MiB/s"));
        assert!(!is_records(b""));
    }

    #[test]
    fn pieces_end_at_line_ends_and_lose_nothing() {
        let text: Vec<u8> = (0..100)
            .flat_map(|i| format!("line {i}\n").into_bytes())
            .collect();
        for pieces in [1, 2, 3, 7, 200] {
            let parts = cut(&text, pieces);
            assert_eq!(parts.concat(), text, "{pieces}");
            assert!(
                parts.iter().all(|p| p.is_empty() || p.ends_with(b"\n")),
                "{pieces}"
            );
        }
        assert_eq!(cut(b"no end", 3).concat(), b"no end");
    }
}
