//! Inputs to records to columns.
//!
//! Each input is sniffed: records as JSON Lines are told by how their first line starts; Parquet,
//! Arrow and CSV files of records by their first bytes; anything else is a log, which `fio_parse`
//! reads. There is no text parsing here. Lines are read by all cores, a piece at a time, and the
//! columns are joined in order, so the result does not depend on their number.
//!
//! `label=path` renames the machine of an input that holds results of one machine. Where it holds
//! several, they keep their names and the label names the input (key `file`).

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use fio_parse::cli::{Content, sniff};
use fio_parse::folder::in_order;
use fio_parse::record::{Label, LabelSource};
use fio_parse::{Log, Record};
use memchr::{memchr, memchr_iter, memrchr};
use polars::prelude::PolarsResult;

use crate::filter::Filter;
use crate::flat::Form;
use crate::frame::{Builder, Wanted};
use crate::keys::Key;
use crate::lines::Reader;
use crate::scan;

/// Something to read.
#[derive(Debug)]
pub struct Input<'b> {
    /// The name, as typed.
    pub name: String,
    /// The label given in front of it.
    pub label: Option<String>,
    /// The content.
    pub source: Source<'b>,
}

/// Where the content of an input is.
#[derive(Debug)]
pub enum Source<'b> {
    /// In memory.
    Bytes(&'b [u8]),
    /// In a file of records as JSON Lines, likewise read a part at a time.
    Lines(&'b File),
    /// In a Parquet file, which is read a part at a time.
    Parquet(&'b File),
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

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It counts.
    Taken,
    /// The filter drops it.
    Filtered,
    /// It is a run that only warms up, which nobody asked to see.
    WarmUp,
}

impl Plan {
    /// What becomes of a record of which `text` tells the keys.
    pub fn fate<'t>(&self, text: &impl Fn(Key) -> Cow<'t, str>) -> Fate {
        let warmup = || text(Key::WARMUP) == "yes" && !self.filter.keys().contains(&Key::WARMUP);
        if !self.filter.matches(text) {
            Fate::Filtered
        } else if warmup() {
            Fate::WarmUp
        } else {
            Fate::Taken
        }
    }

    /// Adds a record if it counts.
    pub fn push(&self, builder: &mut Builder, record: &Record) {
        let text = |key: Key| key.get(record);
        match self.fate(&text) {
            Fate::Taken => builder.push(record),
            Fate::Filtered => builder.drop_filtered(self.filter.keys(), &text),
            Fate::WarmUp => builder.leave_out_warmup(),
        }
    }
}

/// Reads an input into columns.
pub fn load(input: &Input<'_>, plan: &Plan) -> (Builder, Outcome) {
    let bytes = match input.source {
        Source::Parquet(file) => return load_flat(input, plan, scan::parquet(file, plan)),
        Source::Lines(file) => return load_lines(&input.name, read_pieces(file), plan),
        Source::Bytes(bytes) => bytes,
    };
    if let Some(form) = Form::of_bytes(bytes) {
        return load_flat(input, plan, scan::read(bytes, form, plan));
    }
    if input.label.is_none() && sniff(bytes) == Content::Records {
        return load_lines(&input.name, cut(bytes), plan);
    }
    let (records, outcome) = records(input);
    let mut builder = Builder::new(plan.wanted.clone());
    for record in &records {
        plan.push(&mut builder, record);
    }
    (builder, outcome)
}

/// The whole records of an input, which flat files do not hold.
pub fn records(input: &Input<'_>) -> (Vec<Record>, Outcome) {
    let mut outcome = Outcome::default();
    let mut read = Vec::new();
    let bytes = match input.source {
        Source::Bytes(bytes) if Form::of_bytes(bytes).is_none() => bytes,
        Source::Lines(mut file) => {
            if let Err(error) = file.read_to_end(&mut read) {
                outcome.errors.push(format!("{}: {error}", input.name));
            }
            &read
        }
        Source::Bytes(_) | Source::Parquet(_) => {
            outcome.errors.push(format!(
                "{}: expected a log or records as JSON Lines, found a flat file, which holds figures only",
                input.name
            ));
            return (Vec::new(), outcome);
        }
    };
    let mut records = Vec::new();
    if sniff(bytes) == Content::Records {
        read_lines(
            bytes,
            &mut |line| serde_json::from_slice(line).map(|record| records.push(record)),
            &mut |line, error| outcome.errors.push(bad_line(&input.name, line, &error)),
        );
    } else {
        match Log::from_bytes(input.name.as_str(), bytes) {
            Ok(log) => {
                let parsed = fio_parse::parse(&log);
                let shown = parsed.diagnostics.iter();
                outcome
                    .remarks
                    .extend(shown.map(|d| fio_parse::diagnostic::render(&log, d)));
                records = parsed.records;
            }
            Err(error) => outcome.errors.push(format!("{}: {error}", input.name)),
        }
    }
    outcome.records = records.len();
    if let Some(label) = &input.label {
        let one = relabel(&mut records, label);
        if !one {
            outcome.remarks.push(format!(
                "{}: holds results of several machines, which keep their names; `{label}` names the input (key file)",
                input.name
            ));
        }
    }
    (records, outcome)
}

fn load_flat(
    input: &Input<'_>,
    plan: &Plan,
    read: PolarsResult<(Builder, usize)>,
) -> (Builder, Outcome) {
    let mut outcome = Outcome::default();
    let (builder, records) = read.unwrap_or_else(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or("");
        outcome.errors.push(format!(
            "{}: not a flat file of records: {first}",
            input.name
        ));
        (Builder::new(plan.wanted.clone()), 0)
    });
    outcome.records = records;
    if input.label.is_some() {
        outcome
            .remarks
            .push(format!("{}: a label can't rename flat records", input.name));
    }
    (builder, outcome)
}

/// `label=path`: names the machine if there is one, else the input. Tells whether there is one.
fn relabel(records: &mut [Record], label: &str) -> bool {
    let name = |r: &Record| Key::MACHINE.get(r).into_owned();
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
    one
}

fn bad_line(name: &str, line: usize, error: &serde_json::Error) -> String {
    // A record is one line, so serde_json's "line 1" would mislead: the place goes in front.
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    format!(
        "{name}:{line}:{}: expected a record as fio-parse writes it, one JSON object a line: {}",
        error.column(),
        text.strip_suffix(&place).unwrap_or(&text)
    )
}

/// Hands every line that is not blank to `take`; gives the number of lines.
fn read_lines(
    bytes: &[u8],
    take: &mut impl FnMut(&[u8]) -> Result<(), serde_json::Error>,
    fail: &mut impl FnMut(usize, serde_json::Error),
) -> usize {
    let mut count = 0;
    let mut start = 0;
    for end in memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        let line = &bytes[start..end];
        start = end + 1;
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

/// How many bytes of lines are read at once.
const PIECE: usize = 4 << 20;

/// What came of a piece: its columns and records, the errors by line, the number of lines.
type Part = io::Result<(Builder, usize, Vec<(usize, serde_json::Error)>, usize)>;

/// Reads lines a piece at a time, several pieces at once; they are joined in order.
fn load_lines<'b>(
    name: &str,
    mut pieces: impl Iterator<Item = io::Result<Cow<'b, [u8]>>> + Send,
    plan: &Plan,
) -> (Builder, Outcome) {
    let read = |piece: io::Result<Cow<'b, [u8]>>| -> Part {
        let piece = piece?;
        let mut builder = Builder::new(plan.wanted.clone());
        let mut reader = Reader::new(plan);
        let (mut records, mut errors) = (0, Vec::new());
        let lines = read_lines(
            &piece,
            &mut |line| {
                reader.push(line, &mut builder)?;
                records += 1;
                Ok(())
            },
            &mut |line, error| errors.push((line, error)),
        );
        Ok((builder, records, errors, lines))
    };
    let mut all = Builder::new(plan.wanted.clone());
    let mut outcome = Outcome::default();
    let mut before = 0;
    let mut take = |part: Part| {
        let (builder, records, errors, lines) = match part {
            Ok(part) => part,
            Err(error) => {
                outcome.errors.push(format!("{name}: {error}"));
                return false;
            }
        };
        all.absorb(builder);
        outcome.records += records;
        let errors = errors
            .iter()
            .map(|(line, e)| bad_line(name, before + line, e));
        outcome.errors.extend(errors);
        // A piece ends with its line end, after which nothing is counted as a line.
        before += lines.saturating_sub(1);
        true
    };
    let first = pieces.next();
    let second = pieces.next();
    match (first, second) {
        // Starting threads would take longer.
        (Some(only), None) => {
            take(read(only));
        }
        (first, second) => in_order(first.into_iter().chain(second).chain(pieces), read, take),
    }
    (all, outcome)
}

/// Pieces of about [`PIECE`] bytes that end with a line.
fn cut(bytes: &[u8]) -> impl Iterator<Item = io::Result<Cow<'_, [u8]>>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let target = PIECE.min(rest.len());
        let end = memchr(b'\n', &rest[target..]).map_or(rest.len(), |at| target + at + 1);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(Ok(piece.into()))
    })
}

/// Likewise, read from a file as they are needed.
fn read_pieces(mut file: impl Read + Send) -> impl Iterator<Item = io::Result<Cow<'static, [u8]>>> {
    let mut begun = Vec::new();
    let mut ended = false;
    std::iter::from_fn(move || {
        let mut piece = std::mem::take(&mut begun);
        while !ended {
            let room = PIECE.saturating_sub(piece.len()).max(PIECE / 8);
            piece.reserve_exact(room);
            match file.by_ref().take(room as u64).read_to_end(&mut piece) {
                Err(error) => {
                    ended = true;
                    return Some(Err(error));
                }
                Ok(0) => ended = true,
                Ok(_) => {
                    if let Some(end) = memrchr(b'\n', &piece) {
                        begun = piece.split_off(end + 1);
                        return Some(Ok(piece.into()));
                    }
                }
            }
        }
        (!piece.is_empty()).then(|| Ok(piece.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_line_ends_and_lose_nothing() {
        let line = |i: usize| format!("line {i} {}\n", "x".repeat(i % 1000));
        let text: Vec<u8> = (0..30_000).flat_map(|i| line(i).into_bytes()).collect();
        assert!(text.len() > 3 * PIECE);
        let long = vec![b'y'; 2 * PIECE + 5];
        let texts = [
            &text[..],
            &text[..text.len() - 1],
            &long[..],
            &b"no end"[..],
            &b""[..],
        ];
        for text in texts {
            let of_bytes: Vec<_> = cut(text).map(Result::unwrap).collect();
            let of_file: Vec<_> = read_pieces(text).map(Result::unwrap).collect();
            for parts in [of_bytes, of_file] {
                assert_eq!(parts.concat(), text);
                let mut whole = parts.iter().rev().skip(1);
                assert!(whole.all(|p| p.ends_with(b"\n")));
                assert!(parts.iter().all(|p| !p.is_empty()));
            }
        }
    }
}
