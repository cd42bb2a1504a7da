//! Flat files of records: Parquet, Arrow IPC and CSV, one row a record.
//!
//! Records as JSON Lines keep every text and place of their source; a flat file keeps what a
//! comparison needs, in columns that any data tool reads. Names carry units; each quantity has its
//! stated value and its bounds:
//!
//! | columns | type |
//! |---|---|
//! | `source`, `scope_rank`, `asked`, `heading`, `wall_covers`, each key but test and metric | text or integer |
//! | `failed`, `dd` | boolean |
//! | `block_bytes`, `nominal_runtime_ns` | float |
//! | `bytes_per_sec`, `bytes_per_sec_lo`, `bytes_per_sec_hi`, likewise `bytes`, `iops`, `runtime_ns`, `wall_ns`, `io_phase_ns`, `flush_ns`, `cpu_ns`, `cpu_share`, `bw_mean_bytes_per_sec`, `iops_mean`, `clat_p99_ns`, `clat_count`, ... | float |
//! | `notes` | text, remarks as `code: sentence`, one a line |
//!
//! Written with `--export`, read as any input (told by their first bytes) by [`crate::scan`]. Of
//! latencies the figures in [`LATENCIES`] are kept.

use polars::prelude::*;
use polars_io::prelude::KeyValueMetadata;

use crate::frame::{Base, Frame, Wanted, key_column};
use crate::keys::Key;
use crate::metric::{Clock, Sampled, Statistic};

/// Version of the layout.
pub const VERSION: u32 = 1;

/// The statistics of each latency that are kept.
pub const LATENCIES: &[Statistic] = &[
    Statistic::Min,
    Statistic::Mean,
    Statistic::Max,
    Statistic::Stddev,
    Statistic::Percentile(50.0),
    Statistic::Percentile(90.0),
    Statistic::Percentile(95.0),
    Statistic::Percentile(99.0),
    Statistic::Percentile(99.9),
    Statistic::Percentile(99.99),
];

/// The statistics of samples that are kept.
pub const SAMPLES: &[Statistic] = &[
    Statistic::Min,
    Statistic::Mean,
    Statistic::Max,
    Statistic::Stddev,
];

const CLOCKS: &[Clock] = &[
    Clock::Submission,
    Clock::Completion,
    Clock::Total,
    Clock::Sync,
];

/// A form of a flat file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC file.
    Arrow,
    /// Comma-separated values with a header.
    Csv,
}

impl Form {
    /// The form that a file name asks for.
    pub fn of_name(name: &str) -> Option<Form> {
        match name.rsplit_once('.')?.1 {
            "parquet" => Some(Form::Parquet),
            "arrow" | "ipc" | "feather" => Some(Form::Arrow),
            "csv" => Some(Form::Csv),
            _ => None,
        }
    }

    /// The form that the first bytes show.
    pub fn of_bytes(bytes: &[u8]) -> Option<Form> {
        let header = |needle: &str| {
            let line = bytes.split(|b| *b == b'\n').next().unwrap_or(&[]);
            line.split(|b| *b == b',')
                .any(|name| name == needle.as_bytes())
        };
        if bytes.starts_with(b"PAR1") {
            Some(Form::Parquet)
        } else if bytes.starts_with(b"ARROW1") {
            Some(Form::Arrow)
        } else if bytes.starts_with(b"source,") && header("scope_rank") && header("asked") {
            Some(Form::Csv)
        } else {
            None
        }
    }
}

/// Every quantity of a flat file with the name of its column.
pub fn quantities() -> Vec<(Base, String)> {
    let mut all: Vec<(Base, String)> = [
        (Base::BytesPerSec, "bytes_per_sec"),
        (Base::Bytes, "bytes"),
        (Base::Iops, "iops"),
        (Base::Runtime, "runtime_ns"),
        (Base::Wall, "wall_ns"),
        (Base::IoPhase, "io_phase_ns"),
        (Base::Flush, "flush_ns"),
        (Base::CpuTime, "cpu_ns"),
        (Base::CpuShare, "cpu_share"),
    ]
    .into_iter()
    .map(|(base, name)| (base, name.to_owned()))
    .collect();
    for (sampled, name, ending) in [
        (Sampled::Bandwidth, "bw", "_bytes_per_sec"),
        (Sampled::Iops, "iops", ""),
    ] {
        for statistic in SAMPLES {
            let base = Base::Samples(sampled, *statistic);
            all.push((base, format!("{name}_{statistic}{ending}")));
        }
    }
    for clock in CLOCKS {
        for statistic in LATENCIES {
            let base = Base::Latency(*clock, *statistic);
            let name = crate::metric::Metric::Latency(*clock, *statistic).to_string();
            all.push((base, format!("{}_ns", name.replace(['-', '.'], "_"))));
        }
        let name = match clock {
            Clock::Submission => "slat_count",
            Clock::Completion => "clat_count",
            Clock::Total => "lat_count",
            Clock::Sync => "sync_count",
        };
        all.push((Base::Count(*clock), name.to_owned()));
    }
    all
}

/// The unit in a column's name.
fn unit(name: &str) -> &'static str {
    let name = name.trim_end_matches("_lo").trim_end_matches("_hi");
    match name {
        other if other.ends_with("bytes_per_sec") => "B/s",
        "bytes" | "block_bytes" => "B",
        other if other.starts_with("iops") => "1/s",
        "cpu_share" => "1",
        other if other.ends_with("_count") => "1",
        other if other.ends_with("_ns") => "ns",
        _ => "",
    }
}

fn keys() -> impl Iterator<Item = Key> {
    Key::all().filter(|k| *k != Key::TEST && *k != Key::METRIC)
}

/// The columns that an export needs.
pub fn wanted() -> Wanted {
    Wanted {
        keys: keys().collect(),
        bases: quantities().into_iter().map(|(base, _)| base).collect(),
        metrics: Vec::new(),
        spare: Vec::new(),
        // Machines keep their names in a file; they are told apart when it is compared.
        ignored: Key::settings().collect(),
        by_tests: false,
    }
}

/// A frame of [`wanted`] columns as a flat table. Quantities that no record has are left out.
pub fn table(frame: &Frame) -> PolarsResult<DataFrame> {
    let shared: Vec<&str> = (frame.contexts.get_column_names().into_iter())
        .map(|name| name.as_str())
        .collect();
    let rows = &frame.wide(0, frame.len(), &shared)?;
    let codes = |name: &str| -> PolarsResult<Vec<u32>> {
        Ok(rows
            .column(name)?
            .u32()?
            .iter()
            .map(|c| c.unwrap_or(0))
            .collect())
    };
    let texts = |name: &str, texts: &[String]| -> PolarsResult<Vec<Option<String>>> {
        let text = |c: u32| texts.get(c as usize).filter(|t| !t.is_empty()).cloned();
        Ok(codes(name)?.into_iter().map(text).collect())
    };
    let mut columns = vec![
        Column::new("source".into(), texts("source", &frame.sources)?),
        Column::new("scope_rank".into(), codes("rank")?),
        Column::new("asked".into(), texts("asked", &frame.texts)?),
        Column::new("heading".into(), texts("heading", &frame.texts)?),
        Column::new("wall_covers".into(), texts("basis", &frame.texts)?),
        rows.column("failed")?.clone(),
        rows.column("dd")?.clone(),
        rows.column("block")?
            .clone()
            .with_name("block_bytes".into()),
        rows.column("nominal")?
            .clone()
            .with_name("nominal_runtime_ns".into()),
    ];
    for (key, values) in &frame.key_texts {
        // Runs of one source in several inputs were numbered on.
        if key.name() == "run" {
            columns.push(rows.column("run")?.cast(&DataType::String)?);
            continue;
        }
        columns.push(Column::new(
            key.name().into(),
            texts(&key_column(*key), values)?,
        ));
    }
    for (base, name) in quantities() {
        let value = rows.column(&format!("{}:value", base.column()))?;
        if value.null_count() == value.len() {
            continue;
        }
        columns.push(value.clone().with_name(name.as_str().into()));
        for end in ["lo", "hi"] {
            let column = rows.column(&format!("{}:{end}", base.column()))?.clone();
            columns.push(column.with_name(format!("{name}_{end}").into()));
        }
    }
    let notes: Vec<Option<String>> = (codes("notes")?.into_iter())
        .map(|set| {
            let notes = frame.note_sets.get(set as usize)?.iter();
            let lines: Vec<String> = notes
                .filter_map(|n| frame.notes.get(*n as usize))
                .map(|n| format!("{}: {}", n.code, n.text.replace('\n', " ")))
                .collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        })
        .collect();
    columns.push(Column::new("notes".into(), notes));
    DataFrame::new_infer_height(columns)
}

/// A frame as the bytes of a flat file.
pub fn write(frame: &Frame, form: Form) -> PolarsResult<Vec<u8>> {
    let mut table = table(frame)?;
    let mut bytes = Vec::new();
    match form {
        Form::Parquet => {
            let mut pairs = vec![("schema_version".to_owned(), VERSION.to_string())];
            pairs.extend(crate::render::parquet::arrow_schema(&table, |name| {
                let unit = unit(name);
                if unit.is_empty() {
                    Vec::new()
                } else {
                    vec![("unit", unit)]
                }
            }));
            ParquetWriter::new(&mut bytes)
                .with_compression(ParquetCompression::Zstd(None))
                .with_key_value_metadata(Some(KeyValueMetadata::from_static(pairs)))
                .finish(&mut table)?;
        }
        Form::Arrow => {
            IpcWriter::new(&mut bytes).finish(&mut table)?;
        }
        Form::Csv => CsvWriter::new(&mut bytes)
            .include_header(true)
            .finish(&mut table)?,
    }
    Ok(bytes)
}
