//! Flat files of records to columns, a part at a time.
//!
//! Parquet is read row group by row group on all cores, and of each only the columns that the
//! question needs, so a file may be larger than memory as long as its figures fit. Arrow and CSV
//! files are read whole.
//!
//! As with JSON Lines, rows mostly say of themselves what their neighbours say: the fields that
//! are no figures are joined into a key, and only a key not met before is taken apart.
//!
//! Place: beside [`crate::lines`]; the layout is that of [`crate::flat`].

use std::borrow::Cow;
use std::fs::File;
use std::io::Cursor;

use fio_parse::block::fio_log::LogKind;
use fio_parse::folder::in_order;
use fio_parse::record::ScopeKind;
use polars::prelude::*;
use polars_io::mmap::MmapBytesReader;

use crate::absent::UNSEEN;
use crate::bounds::Bounds;
use crate::evidence::{self, Evidence};
use crate::flat::{self, Form};
use crate::folders;
use crate::frame::{Base, Builder, Note, told_by};
use crate::keys::Key;
use crate::load::{Fate, Plan};

/// Reads the bytes of a flat file into columns; gives the number of its rows as well.
pub fn read(bytes: &[u8], form: Form, plan: &Plan) -> PolarsResult<(Builder, usize)> {
    let table = match form {
        Form::Parquet => return row_groups(|| Ok(Cursor::new(bytes)), plan),
        Form::Arrow => IpcReader::new(Cursor::new(bytes)).finish()?,
        // Every column as text: a version `9.10` must not become the number 9.1.
        Form::Csv => CsvReadOptions::default()
            .with_has_header(true)
            .with_infer_schema_length(Some(0))
            .into_reader_with_file_handle(Cursor::new(bytes))
            .finish()?,
    };
    Ok((part(&table, plan)?, table.height()))
}

/// Reads a Parquet file into columns; gives the number of its rows as well.
pub fn parquet(file: &File, plan: &Plan) -> PolarsResult<(Builder, usize)> {
    row_groups(|| Ok(file.try_clone()?), plan)
}

fn row_groups<R: MmapBytesReader>(
    open: impl Fn() -> PolarsResult<R> + Sync,
    plan: &Plan,
) -> PolarsResult<(Builder, usize)> {
    let mut reader = ParquetReader::new(open()?);
    let metadata = reader.get_metadata()?.clone();
    let schema = reader.schema()?;
    let columns: Vec<String> = (needed(plan, schema.contains(RATE)).into_iter())
        .filter(|name| schema.contains(name))
        .collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for group in &metadata.row_groups {
        parts.push((start, group.num_rows()));
        start += group.num_rows();
    }
    let read = |slice: (usize, usize)| -> PolarsResult<Builder> {
        let mut reader = ParquetReader::new(open()?)
            .with_slice(Some(slice))
            .with_columns(Some(columns.clone()))
            .read_parallel(ParallelStrategy::None);
        reader.set_metadata(metadata.clone());
        part(&reader.finish()?, plan)
    };
    let mut all = Ok(Builder::new(plan.wanted.clone()));
    in_order(parts.into_iter(), read, |part| {
        match (&mut all, part) {
            (Ok(all), Ok(part)) => all.absorb(part),
            (all, Err(error)) => *all = Err(error),
            (Err(_), Ok(_)) => {}
        }
        all.is_ok()
    });
    Ok((all?, metadata.num_rows))
}

/// Fields of a row that are no key and no figure.
const FIELDS: [&str; 9] = [
    "source",
    "asked",
    "heading",
    "wall_covers",
    "notes",
    "scope_rank",
    "failed",
    "dd",
    "block_bytes",
];
const NOMINAL: &str = "nominal_runtime_ns";
const RATE: &str = "bytes_per_sec";

/// The quantities to read: those to spare are of no use beside a bandwidth.
fn bases(plan: &Plan, with_rate: bool) -> Vec<Base> {
    if with_rate {
        plan.wanted.bases.clone()
    } else {
        plan.wanted.all_bases().collect()
    }
}

/// The keys that a plan looks at beside the run number.
fn keys(plan: &Plan) -> Vec<Key> {
    // Among the settings is the tool, which names what has no other name.
    let mut keys: Vec<Key> = Key::settings().collect();
    let always = ["group", "warmup"].map(crate::keys::parse);
    let of_jobs = [Key::JOB, Key::HOST, Key::NUMJOBS];
    let asked = plan.wanted.keys.iter().copied().chain(plan.filter.keys());
    for key in always.into_iter().flatten().chain(of_jobs).chain(asked) {
        if !keys.contains(&key) && key != Key::TEST && key != Key::METRIC {
            keys.push(key);
        }
    }
    keys
}

/// The columns that a plan needs.
fn needed(plan: &Plan, with_rate: bool) -> Vec<String> {
    let mut names: Vec<String> = FIELDS.iter().map(|n| (*n).to_owned()).collect();
    names.push(NOMINAL.to_owned());
    names.push("run".to_owned());
    for key in keys(plan) {
        if key.name() != "run" {
            names.push(key.name().to_owned());
        }
    }
    let bases = bases(plan, with_rate);
    for (base, name) in flat::quantities() {
        if bases.contains(&base) {
            names.extend([format!("{name}_lo"), format!("{name}_hi"), name]);
        }
    }
    names
}

/// The rows of a table as columns.
fn part(table: &DataFrame, plan: &Plan) -> PolarsResult<Builder> {
    let columns = Columns::new(table, plan)?;
    let mut builder = Builder::new(plan.wanted.clone());
    let mut known: PlHashMap<Vec<u8>, (Fate, u32)> = PlHashMap::default();
    let mut key = Vec::new();
    let mut figures = Vec::with_capacity(columns.figures.len());
    for row in 0..table.height() {
        columns.set_key(row, &mut key);
        let (fate, context) = match known.get(&key) {
            Some(known) => *known,
            None => {
                let columns = &columns;
                let row = FlatRow { columns, row };
                let taken = plan.take(&mut builder, &row);
                known.insert(key.clone(), taken);
                taken
            }
        };
        if fate == Fate::WarmUp {
            builder.leave_out_warmup();
        }
        if fate == Fate::Taken {
            figures.clear();
            figures.extend(columns.figures.iter().map(|f| f.as_ref()?.bounds(row)));
            builder.push_row(context, columns.run(row), &figures, UNSEEN);
        }
    }
    Ok(builder)
}

/// One figure's columns.
struct Figures {
    ends: [Float64Chunked; 3],
}

impl Figures {
    fn bounds(&self, row: usize) -> Option<Bounds> {
        let [lo, value, hi] = &self.ends;
        Bounds::new(lo.get(row)?, value.get(row)?, hi.get(row)?)
    }
}

/// A table by what its columns mean; absent ones are empty. All are in one chunk.
struct Columns {
    /// Every column that is no figure, as text.
    texts: Vec<(String, StringChunked)>,
    /// Of those, the ones that differ between rows (and are not the run number).
    varying: Vec<usize>,
    /// For each wanted base.
    figures: Vec<Option<Figures>>,
    run: Option<UInt32Chunked>,
}

impl Columns {
    fn new(table: &DataFrame, plan: &Plan) -> PolarsResult<Columns> {
        let in_one_chunk = |name: &str| table.column(name).ok().map(Column::rechunk);
        let number = |name: &str| -> PolarsResult<Option<Float64Chunked>> {
            let column = in_one_chunk(name).map(|c| c.cast(&DataType::Float64));
            Ok(match column.transpose()? {
                Some(column) => Some(column.f64()?.clone()),
                None => None,
            })
        };
        for name in ["scope_rank", "failed", "dd"] {
            table.column(name)?;
        }
        let mut texts: Vec<(String, StringChunked)> = Vec::new();
        let names = (FIELDS.iter().copied())
            .chain([NOMINAL])
            .chain(keys(plan).into_iter().map(Key::name));
        for name in names {
            if let Some(column) = in_one_chunk(name) {
                let text = column.cast(&DataType::String)?.str()?.clone();
                texts.push((name.to_owned(), text));
            }
        }
        let varying = (texts.iter().enumerate())
            .filter(|(_, (_, column))| varies(column))
            .map(|(at, _)| at)
            .collect();
        let mut figures = Vec::new();
        let quantities = flat::quantities();
        for base in bases(plan, table.column(RATE).is_ok()) {
            let name = quantities.iter().find(|(b, _)| *b == base).map(|(_, n)| n);
            figures.push(match name {
                Some(name) => {
                    let ends = (
                        number(&format!("{name}_lo"))?,
                        number(name)?,
                        number(&format!("{name}_hi"))?,
                    );
                    match ends {
                        (Some(lo), Some(value), Some(hi)) => Some(Figures {
                            ends: [lo, value, hi],
                        }),
                        _ => None,
                    }
                }
                None => None,
            });
        }
        let run = in_one_chunk("run").map(|c| c.cast(&DataType::UInt32));
        Ok(Columns {
            texts,
            varying,
            figures,
            run: match run.transpose()? {
                Some(column) => Some(column.u32()?.clone()),
                None => None,
            },
        })
    }

    fn run(&self, row: usize) -> u32 {
        self.run.as_ref().and_then(|c| c.get(row)).unwrap_or(0)
    }

    /// Everything of a row that is no figure, as a key among the rows of this table.
    fn set_key(&self, row: usize, key: &mut Vec<u8>) {
        key.clear();
        for at in &self.varying {
            let text = self.texts[*at].1.get(row);
            // The length in front keeps fields from running into each other; none is not empty.
            key.extend(text.map_or(u32::MAX, |t| t.len() as u32).to_le_bytes());
            key.extend(text.unwrap_or("").as_bytes());
        }
    }
}

fn varies(column: &StringChunked) -> bool {
    let first = column.first();
    column.null_count() < column.len() && column.iter().any(|text| text != first)
}

struct FlatRow<'c> {
    columns: &'c Columns,
    row: usize,
}

impl FlatRow<'_> {
    fn text(&self, name: &str) -> &str {
        let column = self.columns.texts.iter().find(|(n, _)| n == name);
        column.and_then(|(_, c)| c.get(self.row)).unwrap_or("")
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name).parse().ok()
    }

    /// A log of samples, as fio names them.
    fn is_log(&self) -> bool {
        self.text("asked").is_empty() && LogKind::of_name(self.text("source")).is_some()
    }
}

impl Evidence for FlatRow<'_> {
    fn source(&self) -> Cow<'_, str> {
        self.text("source").into()
    }

    fn group(&self) -> u32 {
        self.text("group").parse().unwrap_or(u32::MAX)
    }

    fn rank(&self) -> u32 {
        self.text("scope_rank").parse().unwrap_or(u32::MAX)
    }

    fn failed(&self) -> bool {
        self.text("failed") == "true"
    }

    fn dd(&self) -> bool {
        self.text("dd") == "true"
    }

    fn asked(&self) -> Cow<'_, str> {
        self.text("asked").into()
    }

    fn heading(&self) -> Cow<'_, str> {
        self.text("heading").into()
    }

    fn fallback(&self) -> Cow<'_, str> {
        // As `tests_of::fallback` names a record.
        let tool = if self.dd() { "dd" } else { self.text("tool") };
        match (self.text("job"), self.text("group")) {
            ("", group) if self.rank() == evidence::rank(ScopeKind::Group) => format!(
                "{tool} group {}",
                if group.is_empty() { "0" } else { group }
            )
            .into(),
            ("", _) => tool.into(),
            (_, _) if self.is_log() => told_by(self.text("source")).into(),
            (job, _) => job.into(),
        }
    }

    fn covers(&self) -> Cow<'_, str> {
        self.text("wall_covers").into()
    }

    fn key(&self, key: Key) -> Cow<'_, str> {
        self.text(key.name()).into()
    }

    fn notes(&self) -> Vec<Note> {
        (self.text("notes").lines())
            .map(|line| {
                let (code, text) = line.split_once(": ").unwrap_or(("note", line));
                Note {
                    code: code.to_owned(),
                    text: text.to_owned(),
                }
            })
            .collect()
    }

    fn block_and_nominal(&self) -> (Option<f64>, Option<f64>) {
        (self.number("block_bytes"), self.number(NOMINAL))
    }

    fn is_named_by_input(&self) -> bool {
        let machine = self.text("machine");
        let source = self.text("source");
        let of_log = || self.is_log() && machine == self.text("job");
        machine.is_empty() || machine == folders::stem(source) || of_log()
    }
}
