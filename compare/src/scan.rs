//! Flat files of records to columns, a part at a time.
//!
//! Parquet is read row group by row group on all cores, and of each only the columns that the
//! question needs, so a file may be larger than memory as long as its figures fit. Arrow and CSV
//! files are read whole.
//!
//! As with JSON Lines, rows mostly say of themselves what their neighbours say: the fields that
//! are no figures are joined into a key, and only a key not met before is taken apart. A row with a
//! figure that can't be one (negative, no number, its ends out of order) is left out and told of.
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

/// What came of a flat file.
pub struct Found {
    /// Its rows as columns.
    pub builder: Builder,
    /// How many rows it has.
    pub rows: usize,
    /// What is wrong with rows that were left out.
    pub bad: Bad,
}

/// Rows that can't be what they claim to be.
#[derive(Debug, Default)]
pub struct Bad {
    count: usize,
    first: Option<String>,
}

impl Bad {
    fn add(&mut self, row: usize, why: String) {
        self.count += 1;
        self.first
            .get_or_insert_with(|| format!("row {}: {why}", row + 1));
    }

    fn absorb(&mut self, other: Bad) {
        self.count += other.count;
        self.first = self.first.take().or(other.first);
    }

    /// In words for a person; none if there are no such rows.
    pub fn text(self) -> Option<String> {
        let more = match self.count {
            0 | 1 => "",
            2 => "; and 1 more row",
            _ => &format!("; and {} more rows", self.count - 1),
        };
        self.first.map(|first| format!("{first}{more}"))
    }
}

/// Reads the bytes of a flat file into columns.
pub fn read(bytes: &[u8], form: Form, plan: &Plan) -> PolarsResult<Found> {
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
    part(&table, 0, plan)
}

/// Reads a Parquet file into columns.
pub fn parquet(file: &File, plan: &Plan) -> PolarsResult<Found> {
    row_groups(|| Ok(file.try_clone()?), plan)
}

fn row_groups<R: MmapBytesReader>(
    open: impl Fn() -> PolarsResult<R> + Sync,
    plan: &Plan,
) -> PolarsResult<Found> {
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
    let read = |slice: (usize, usize)| -> PolarsResult<Found> {
        let mut reader = ParquetReader::new(open()?)
            .with_slice(Some(slice))
            .with_columns(Some(columns.clone()))
            .read_parallel(ParallelStrategy::None);
        reader.set_metadata(metadata.clone());
        part(&reader.finish()?, slice.0, plan)
    };
    let mut all = Ok(Found {
        builder: Builder::new(plan.wanted.clone()),
        rows: 0,
        bad: Bad::default(),
    });
    in_order(parts.into_iter(), read, |part| {
        match (&mut all, part) {
            (Ok(all), Ok(part)) => {
                all.builder.absorb(part.builder);
                all.rows += part.rows;
                all.bad.absorb(part.bad);
            }
            (all, Err(error)) => *all = Err(error),
            (Err(_), Ok(_)) => {}
        }
        all.is_ok()
    });
    all
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

/// The rows of a table, of which so many stand before it, as columns.
fn part(table: &DataFrame, before: usize, plan: &Plan) -> PolarsResult<Found> {
    let columns = Columns::new(table, plan)?;
    let mut builder = Builder::new(plan.wanted.clone());
    let mut bad = Bad::default();
    let mut known: PlHashMap<Vec<u8>, Result<(Fate, u32), String>> = PlHashMap::default();
    let mut key = Vec::new();
    let mut figures = Vec::with_capacity(columns.figures.len());
    for row in 0..table.height() {
        columns.set_key(row, &mut key);
        let known = known.raw_entry_mut().from_key(&key).or_insert_with(|| {
            let columns = &columns;
            let row = FlatRow { columns, row };
            let taken = row.check().map(|()| plan.take(&mut builder, &row));
            (key.clone(), taken)
        });
        let (fate, context) = match known.1 {
            Ok(known) => *known,
            Err(why) => {
                bad.add(before + row, why.clone());
                continue;
            }
        };
        if fate == Fate::WarmUp {
            builder.leave_out_warmup();
        }
        if fate == Fate::Taken {
            match columns.figures(row, &mut figures) {
                Ok(run) => builder.push_row(context, run, &figures, UNSEEN),
                Err(why) => bad.add(before + row, why),
            }
        }
    }
    Ok(Found {
        builder,
        rows: table.height(),
        bad,
    })
}

/// Numbers, and the rows whose text is none.
struct Numbers<T: PolarsNumericType> {
    read: ChunkedArray<T>,
    unread: Vec<usize>,
}

impl<T: PolarsNumericType> Numbers<T> {
    fn new(column: &Column) -> PolarsResult<Numbers<T>> {
        let cast = column.cast(&T::get_static_dtype())?;
        let read = cast.as_materialized_series().unpack::<T>()?.clone();
        let mut unread = Vec::new();
        if read.null_count() > column.null_count() {
            let (there, gone) = (column.is_not_null(), read.is_null());
            let lost = there.iter().zip(gone.iter());
            unread.extend(
                (lost.enumerate())
                    .filter_map(|(row, lost)| (lost == (Some(true), Some(true))).then_some(row)),
            );
        }
        Ok(Numbers { read, unread })
    }

    /// The number of a row, none if there is none. An error where something else stands there.
    fn get(&self, row: usize) -> Result<Option<T::Native>, ()> {
        match self.unread.binary_search(&row) {
            Ok(_) => Err(()),
            Err(_) => Ok(self.read.get(row)),
        }
    }
}

/// One figure's columns.
struct Figures {
    name: String,
    ends: [Numbers<Float64Type>; 3],
}

impl Figures {
    fn bounds(&self, row: usize) -> Result<Option<Bounds>, String> {
        let name = &self.name;
        let [lo, value, hi] = self.ends.each_ref().map(|end| end.get(row));
        let (Ok(lo), Ok(value), Ok(hi)) = (lo, value, hi) else {
            return Err(format!(
                "expected numbers in {name}, {name}_lo and {name}_hi"
            ));
        };
        let (lo, value, hi) = match (lo, value, hi) {
            (None, None, None) => return Ok(None),
            (lo, value, hi) => [lo, value, hi].map(|end| end.unwrap_or(f64::NAN)).into(),
        };
        let bounds = Bounds::new(lo, value, hi).filter(|b| b.lo() >= 0.0);
        bounds.map(Some).ok_or_else(|| {
            format!("expected 0 <= {name}_lo <= {name} <= {name}_hi, found {lo}, {value} and {hi}")
        })
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
    run: Option<Numbers<UInt32Type>>,
}

impl Columns {
    fn new(table: &DataFrame, plan: &Plan) -> PolarsResult<Columns> {
        let in_one_chunk = |name: &str| table.column(name).ok().map(Column::rechunk);
        let number = |name: &str| in_one_chunk(name).map(|c| Numbers::new(&c)).transpose();
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
                            name: name.clone(),
                            ends: [lo, value, hi],
                        }),
                        _ => None,
                    }
                }
                None => None,
            });
        }
        Ok(Columns {
            texts,
            varying,
            figures,
            run: in_one_chunk("run").map(|c| Numbers::new(&c)).transpose()?,
        })
    }

    /// The figures of a row; gives its run number.
    fn figures(&self, row: usize, figures: &mut Vec<Option<Bounds>>) -> Result<u32, String> {
        figures.clear();
        for figure in &self.figures {
            figures.push(match figure {
                Some(figure) => figure.bounds(row)?,
                None => None,
            });
        }
        let run = self.run.as_ref().map_or(Ok(None), |run| run.get(row));
        let run = run.map_err(|()| "expected a whole number in run".to_owned())?;
        Ok(run.unwrap_or(0))
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

    /// Whether the row says of itself what every row must.
    fn check(&self) -> Result<(), String> {
        let expected = |what: &str, name: &str| {
            Err(format!(
                "expected {what} in {name}, found `{}`",
                self.text(name)
            ))
        };
        if self.text("scope_rank").parse::<u32>().is_err() {
            return expected("a whole number", "scope_rank");
        }
        for name in ["failed", "dd"] {
            if !["true", "false"].contains(&self.text(name)) {
                return expected("true or false", name);
            }
        }
        for name in ["block_bytes", NOMINAL] {
            let sound = |text: &str| text.parse().is_ok_and(|n: f64| n.is_finite() && n >= 0.0);
            if !self.text(name).is_empty() && !sound(self.text(name)) {
                return expected("a number", name);
            }
        }
        Ok(())
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
