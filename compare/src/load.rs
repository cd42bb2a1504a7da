//! Inputs to records to columns.
//!
//! Each input is sniffed: records as JSON Lines are told by how their first line starts; Parquet,
//! Arrow and CSV files of records by their first bytes; anything else is a log, which `fio_parse`
//! reads. There is no text parsing here. Lines are read by all cores, a piece at a time, and the
//! columns are joined in order, so the result does not depend on their number.
//!
//! `label=path` renames the machine of an input that holds results of one machine, or names it where
//! no result does. Where it holds several, they keep their names and the label names the input (key `file`). A file of labels
//! ([`fio_parse::cli::labels`]) corrects the labels of single results, after that.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Mutex, PoisonError};

use fio_parse::cli::labels::Labels;
use fio_parse::cli::{Content, sniff};
use fio_parse::folder::in_order;
use fio_parse::record::{Label, LabelSource};
use fio_parse::{Diagnostic, Log, Record};
use memchr::{memchr, memchr_iter};
use polars::prelude::PolarsResult;

use crate::evidence::Evidence;
use crate::failures;
use crate::filter::Filter;
use crate::flat::Form;
use crate::folders::{Fields, Placed};
use crate::frame::{Builder, Wanted};
use crate::keys::Key;
use crate::lines::Reader;
use crate::scan;
use crate::visible::visible;

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
    /// In a file of records as JSON Lines of so many bytes, which is read a part at a time.
    Lines(&'b File, u64),
    /// In a Parquet file, likewise.
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
    /// Why the labels that a person gave do not fit.
    pub mislabelled: Option<String>,
}

/// Which records are kept, and in which columns.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The columns.
    pub wanted: Wanted,
    /// The condition.
    pub filter: Filter,
    /// What the folders of the input say.
    pub fields: Fields,
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
    /// The plan for an input of this name, whose folders may say something.
    fn at(&self, name: &str) -> Plan {
        Plan {
            fields: Fields::of_path(name),
            ..self.clone()
        }
    }

    /// What becomes of a record of which `text` tells the keys.
    fn fate<'t>(&self, text: &impl Fn(Key) -> Cow<'t, str>) -> Fate {
        let warmup = || text(Key::WARMUP) == "yes" && !self.filter.keys().contains(&Key::WARMUP);
        if !self.filter.matches(text) {
            Fate::Filtered
        } else if warmup() {
            Fate::WarmUp
        } else {
            Fate::Taken
        }
    }

    /// What becomes of a record, and its context if it counts.
    pub fn take(&self, builder: &mut Builder, evidence: &impl Evidence) -> (Fate, u32) {
        // A record may have come from another file than the one that holds it.
        let fields = Fields::of_path(&evidence.source()).or(&self.fields);
        let placed = Placed {
            evidence,
            fields: &fields,
            asked: &self.wanted.keys,
        };
        let text = |key: Key| placed.key(key);
        let fate = self.fate(&text);
        let mut context = 0;
        match fate {
            Fate::Taken => {
                context = builder.context(&placed);
                builder.heed(&fields);
            }
            Fate::Filtered => builder.drop_filtered(self.filter.keys(), &text),
            Fate::WarmUp => {}
        }
        (fate, context)
    }

    /// Whether a record counts.
    pub fn takes(&self, record: &Record) -> bool {
        let fields = Fields::of_path(&record.source.name).or(&self.fields);
        let placed = Placed {
            evidence: record,
            fields: &fields,
            asked: &self.wanted.keys,
        };
        self.fate(&|key| placed.key(key)) != Fate::Filtered
    }

    /// Adds a record if it counts.
    pub fn push(&self, builder: &mut Builder, record: &Record) {
        match self.take(builder, record) {
            (Fate::Taken, context) => builder.push(context, record),
            (Fate::WarmUp, _) => builder.leave_out_warmup(),
            (Fate::Filtered, _) => {}
        }
    }
}

/// Labels that a person gives, shared by all who read inputs.
pub type Given = Mutex<Labels>;

/// Reads an input into columns.
pub fn load(input: &Input<'_>, plan: &Plan, given: Option<&Given>) -> (Builder, Outcome) {
    let plan = &plan.at(&input.name);
    let bytes = match input.source {
        // Places in the source, which the quick ways leave out, tell where labels belong.
        Source::Lines(..) if given.is_some() => &[],
        Source::Parquet(file) => return load_flat(input, plan, scan::parquet(file, plan)),
        Source::Lines(file, length) => {
            return load_lines(&input.name, ranges(file, length), plan);
        }
        Source::Bytes(bytes) => bytes,
    };
    if let Some(form) = Form::of_bytes(bytes) {
        return load_flat(input, plan, scan::read(bytes, form, plan));
    }
    if input.label.is_none() && given.is_none() && sniff(bytes) == Content::Records {
        return load_lines(&input.name, cut(bytes), plan);
    }
    let (records, outcome) = records(input, given);
    let mut builder = Builder::new(plan.wanted.clone());
    for record in &records {
        plan.push(&mut builder, record);
    }
    (builder, outcome)
}

/// The whole records of an input, which flat files do not hold.
pub fn records(input: &Input<'_>, given: Option<&Given>) -> (Vec<Record>, Outcome) {
    let mut outcome = Outcome::default();
    let mut read = Vec::new();
    let bytes = match input.source {
        Source::Bytes(bytes) if Form::of_bytes(bytes).is_none() => bytes,
        Source::Lines(mut file, _) => {
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
    let mut of_log = None;
    if sniff(bytes) == Content::Records {
        let mut bad = BadLines::default();
        let read = |number, line: &[u8]| match serde_json::from_slice(line) {
            Ok(record) => records.push(record),
            Err(error) => bad.add(number, error),
        };
        lines_of(bytes, numbered(&mut 0, read));
        outcome.errors.extend(bad.texts(&input.name));
    } else {
        match Log::from_bytes(input.name.as_str(), bytes) {
            Ok(log) => {
                let parsed = fio_parse::parse(&log);
                outcome.remarks.extend(shortly(&log, &parsed.diagnostics));
                records = parsed.records;
                let failed = failures::unrecorded(&log, &records, &parsed.diagnostics);
                records.extend(failed);
                of_log = Some(log);
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
    if let Some(given) = given {
        // A reader that panicked took the program with it.
        let mut labels = given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = labels.apply(&input.name, &mut records, of_log.as_ref()) {
            outcome.mislabelled = Some(error.to_string());
        }
    }
    (records, outcome)
}

/// A line for each kind of diagnostic: the first with its place, and how many there are. `fio-parse`
/// shows all of them.
fn shortly(log: &Log<'_>, diagnostics: &[Diagnostic]) -> Vec<String> {
    let mut kinds: Vec<(&Diagnostic, usize)> = Vec::new();
    for diagnostic in diagnostics {
        match kinds.iter_mut().find(|(d, _)| d.code == diagnostic.code) {
            Some((_, count)) => *count += 1,
            None => kinds.push((diagnostic, 1)),
        }
    }
    let line = |(first, count): (&Diagnostic, usize)| {
        let place = first.span.map_or_else(String::new, |span| {
            let (line, column) = log.line_column(span.start);
            format!(":{line}:{column}")
        });
        let more = match count {
            1 => String::new(),
            count => format!("; and {} more of this kind", count - 1),
        };
        let text = format!(
            "{}{place}: {}[{}]: {}{more}",
            log.name(),
            first.severity,
            first.code,
            first.message
        );
        visible(text.into()).into_owned()
    };
    kinds.into_iter().map(line).collect()
}

fn load_flat(
    input: &Input<'_>,
    plan: &Plan,
    read: PolarsResult<scan::Found>,
) -> (Builder, Outcome) {
    let mut outcome = Outcome::default();
    let builder = match read {
        Ok(found) => {
            outcome.records = found.rows;
            let bad = found.bad.text();
            (outcome.errors).extend(bad.map(|bad| format!("{}: {bad}", input.name)));
            found.builder
        }
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or("");
            outcome.errors.push(format!(
                "{}: not a flat file of records: {first}",
                input.name
            ));
            Builder::new(plan.wanted.clone())
        }
    };
    if input.label.is_some() {
        outcome
            .remarks
            .push(format!("{}: a label can't rename flat records", input.name));
    }
    (builder, outcome)
}

/// `label=path`: names the machine if there is one, else the input. Tells whether there is one, which
/// is so, too, where no record names any.
fn relabel(records: &mut [Record], label: &str) -> bool {
    let name = |r: &Record| Key::MACHINE.get(r).into_owned();
    let one = (records.iter().all(Evidence::is_named_by_input))
        || records.windows(2).all(|w| name(&w[0]) == name(&w[1]));
    let label: Arc<str> = label.into();
    if one {
        for record in records {
            record.machine = Some(Label {
                text: Arc::clone(&label),
                full: None,
                span: None,
                by: LabelSource::Flag,
                ambiguous: false,
            });
        }
        return true;
    }
    // Runs of several files stay several, so those of each count on from those of the last.
    let mut before: HashMap<Arc<str>, u32> = HashMap::new();
    let mut next = 0u32;
    for source in records.chunk_by(|a, b| a.source.name == b.source.name) {
        let name = &source[0].source.name;
        if !before.contains_key(name) {
            before.insert(Arc::clone(name), next);
            let of_name = records.iter().filter(|r| r.source.name == *name);
            next = next.saturating_add(of_name.map(|r| r.run).max().unwrap_or(0));
        }
    }
    for record in records {
        let before = before.get(&record.source.name).copied();
        record.run = record.run.saturating_add(before.unwrap_or(0));
        record.source.name = Arc::clone(&label);
    }
    false
}

/// How many bad lines of an input are told one by one.
const BAD_LINES_SHOWN: usize = 5;

/// Lines that are no records: the first few, and how many there are.
#[derive(Debug, Default)]
struct BadLines {
    count: usize,
    first: Vec<(usize, serde_json::Error)>,
}

impl BadLines {
    fn add(&mut self, line: usize, error: serde_json::Error) {
        self.count += 1;
        if self.first.len() < BAD_LINES_SHOWN {
            self.first.push((line, error));
        }
    }

    /// Adds those of a later piece, before which there were so many lines.
    fn absorb(&mut self, other: BadLines, before: usize) {
        let all = self.count + other.count;
        for (line, error) in other.first {
            self.add(before + line, error);
        }
        self.count = all;
    }

    /// In words for a person, a text a line.
    fn texts(&self, name: &str) -> Vec<String> {
        let mut texts: Vec<String> = (self.first.iter())
            .map(|(line, error)| bad_line(name, *line, error))
            .collect();
        match self.count - self.first.len() {
            0 => {}
            1 => texts.push(format!("{name}: and 1 more line that is no record")),
            more => texts.push(format!("{name}: and {more} more lines that are no records")),
        }
        texts
    }
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

/// Counts lines and hands those that are not blank to `take`, each with its number.
fn numbered<'c>(
    count: &'c mut usize,
    mut take: impl FnMut(usize, &[u8]) + 'c,
) -> impl FnMut(&[u8]) + 'c {
    move |line| {
        *count += 1;
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if !line.iter().all(u8::is_ascii_whitespace) {
            take(*count, line);
        }
    }
}

/// A piece of a file is at least and at most so large. Of each the reader learns anew what its
/// lines are like, and an answer waits for the last one.
const PIECE: RangeInclusive<u64> = 4 << 20..=128 << 20;

/// How many pieces each core gets of a file where their size allows it.
const PIECES: u64 = 4;

/// How much of a file is in memory at once, for each core: little enough for its cache.
const BUFFER: usize = 256 << 10;

/// Lines that are read by one core, in order.
enum Piece<'b> {
    /// In memory, whole lines.
    Bytes(&'b [u8]),
    /// Of a file, those that begin at these bytes.
    Range(&'b File, Range<u64>),
}

impl Piece<'_> {
    fn each_line(self, take: impl FnMut(&[u8])) -> io::Result<()> {
        match self {
            Piece::Bytes(bytes) => {
                lines_of(bytes, take);
                Ok(())
            }
            Piece::Range(file, range) => {
                lines_in(|buffer, at| read_at(file, buffer, at), range, take)
            }
        }
    }
}

/// What came of a piece: its columns and records, the bad lines, the number of lines.
type Part = io::Result<(Builder, usize, BadLines, usize)>;

/// Reads lines a piece at a time, several pieces at once; they are joined in order.
fn load_lines<'b>(
    name: &str,
    mut pieces: impl Iterator<Item = Piece<'b>> + Send,
    plan: &Plan,
) -> (Builder, Outcome) {
    let read = |piece: Piece<'b>| -> Part {
        let mut builder = Builder::new(plan.wanted.clone());
        let mut reader = Reader::new(plan);
        let (mut records, mut bad, mut lines) = (0, BadLines::default(), 0);
        piece.each_line(numbered(&mut lines, |number, line| {
            match reader.push(line, &mut builder) {
                Ok(()) => records += 1,
                Err(error) => bad.add(number, error),
            }
        }))?;
        Ok((builder, records, bad, lines))
    };
    let mut all = Builder::new(plan.wanted.clone());
    let mut outcome = Outcome::default();
    let (mut before, mut bad) = (0, BadLines::default());
    let mut take = |part: Part| {
        let (builder, records, bad_here, lines) = match part {
            Ok(part) => part,
            Err(error) => {
                outcome.errors.push(format!("{name}: {error}"));
                return false;
            }
        };
        all.absorb(builder);
        outcome.records += records;
        bad.absorb(bad_here, before);
        before += lines;
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
    outcome.errors.extend(bad.texts(name));
    (all, outcome)
}

/// Pieces of lines in memory.
fn cut(bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let target = (*PIECE.start() as usize).min(rest.len());
        let end = memchr(b'\n', &rest[target..]).map_or(rest.len(), |at| target + at + 1);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Bytes(piece))
    })
}

/// Pieces of a file of lines.
fn ranges(file: &File, length: u64) -> impl Iterator<Item = Piece<'_>> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let size = (length / (PIECES * cores)).clamp(*PIECE.start(), *PIECE.end());
    (0..length.div_ceil(size)).map(move |piece| {
        let start = piece * size;
        Piece::Range(file, start..(start + size).min(length))
    })
}

fn lines_of(bytes: &[u8], mut take: impl FnMut(&[u8])) {
    let mut start = 0;
    for end in memchr_iter(b'\n', bytes) {
        take(&bytes[start..end]);
        start = end + 1;
    }
    if start < bytes.len() {
        take(&bytes[start..]);
    }
}

/// The lines that begin in `range`, the last of which may end behind it. `read` fills a buffer
/// from a place on, as far as it likes; nothing read is the end.
fn lines_in(
    read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
    range: Range<u64>,
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    let mut filled = 0;
    // The byte before the range tells whether a line begins with it.
    let mut at = range.start.saturating_sub(1);
    let mut amid = range.start > 0;
    while at < range.end {
        if filled == buffer.len() {
            buffer.resize(2 * filled, 0);
        }
        let got = match read(&mut buffer[filled..], at + filled as u64) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            got => got?,
        };
        let searched = filled;
        filled += got;
        let mut start = 0;
        for end in memchr_iter(b'\n', &buffer[searched..filled]).map(|end| searched + end) {
            if at + start as u64 >= range.end {
                return Ok(());
            }
            if !std::mem::take(&mut amid) {
                take(&buffer[start..end]);
            }
            start = end + 1;
        }
        if amid {
            // No line ends here, and this one is another's.
            start = filled;
        }
        if got == 0 {
            if start < filled && at + (start as u64) < range.end {
                take(&buffer[start..filled]);
            }
            return Ok(());
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        at += start as u64;
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: usize) -> Vec<u8> {
        let line = |i: usize| format!("line {i} {}\n", "x".repeat(i % 1000));
        (0..lines).flat_map(|i| line(i).into_bytes()).collect()
    }

    fn collected(each: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        each(&mut |line| lines.push(line.to_vec()));
        lines
    }

    #[test]
    fn pieces_in_memory_end_at_line_ends_and_lose_nothing() {
        let text = text(30_000);
        let long = vec![b'y'; 9 << 20];
        let texts = [
            &text[..],
            &text[..text.len() - 1],
            &long[..],
            &b"no end"[..],
            &b""[..],
        ];
        for text in texts {
            let parts: Vec<&[u8]> = cut(text)
                .map(|piece| match piece {
                    Piece::Bytes(bytes) => bytes,
                    Piece::Range(..) => panic!("expected a piece in memory"),
                })
                .collect();
            assert_eq!(parts.concat(), text);
            let mut whole = parts.iter().rev().skip(1);
            assert!(whole.all(|p| p.ends_with(b"\n")));
            assert!(parts.iter().all(|p| !p.is_empty()));
        }
        assert!(cut(&text).count() > 2);
    }

    /// Wherever a file is cut, each line is read once, in order, and whole.
    #[test]
    fn lines_of_a_file_do_not_depend_on_the_cuts() {
        let long = [vec![b'y'; 3 * BUFFER], b"\nend\n".to_vec()].concat();
        for text in [
            &text(2000)[..],
            b"a\n\nb\n",
            b"\n\n",
            b"no end",
            b"a\nno end",
            &long,
            b"",
        ] {
            let want = collected(|take| lines_of(text, take));
            let read = |buffer: &mut [u8], at: u64| {
                let rest = text.get(at as usize..).unwrap_or(&[]);
                // Files may give less than was asked for.
                let got = rest.len().min(buffer.len()).min(70_001);
                buffer[..got].copy_from_slice(&rest[..got]);
                Ok(got)
            };
            for size in [1, 2, 3, 5, 1000, 4096, 300_000, 1 << 30] {
                if text.len() / size > 20_000 {
                    continue;
                }
                let got = collected(|take| {
                    for start in (0..text.len()).step_by(size) {
                        let end = (start + size).min(text.len());
                        lines_in(read, start as u64..end as u64, &mut *take).unwrap();
                    }
                });
                assert_eq!(got.len(), want.len(), "{size}");
                assert!(got == want, "{size}");
            }
        }
    }
}
