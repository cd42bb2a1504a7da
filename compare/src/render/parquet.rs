//! Parquet: the fields of [`super::data`] as columns, one row a cell.
//!
//! Units and meanings stand in each field's metadata (`unit`, `about`), the version of the layout in
//! the file's (`schema_version`); both are read by Arrow-based tools and ignored by the others.
//! Zstandard, one row group for each quarter million of cells.

use polars::prelude::*;
use polars_io::prelude::KeyValueMetadata;
use polars_parquet::write::schema_to_metadata_key;

use super::data::{FIELDS, Kind, Rows, Value};
use super::json::VERSION;
use crate::grid::Report;

/// The cells as a data frame.
pub fn frame(report: &Report) -> PolarsResult<DataFrame> {
    let rows = Rows::new(report);
    let mut columns = Vec::new();
    for key in &rows.keys {
        let texts: Vec<Option<String>> = rows
            .rows
            .iter()
            .map(|row| as_text(rows.key(row, key)))
            .collect();
        columns.push(Column::new((*key).into(), texts));
    }
    for field in FIELDS {
        let values = rows.rows.iter().map(|row| field.get(row));
        let name = field.name.into();
        columns.push(match field.kind {
            Kind::Text => Column::new(name, values.map(as_text).collect::<Vec<_>>()),
            Kind::Number => Column::new(name, values.map(as_number).collect::<Vec<_>>()),
            Kind::Count => Column::new(name, values.map(as_count).collect::<Vec<_>>()),
            Kind::List => {
                let lists: Vec<Series> = values.map(as_list).collect();
                Column::new(name, lists)
            }
        });
    }
    DataFrame::new(rows.rows.len(), columns)
}

/// The file's bytes.
pub fn render(report: &Report) -> PolarsResult<Vec<u8>> {
    let mut frame = frame(report)?;
    let mut pairs = vec![("schema_version".to_owned(), VERSION.to_string())];
    pairs.extend(arrow_schema(&frame, |name| {
        let Some(known) = FIELDS.iter().find(|f| f.name == name) else {
            return Vec::new();
        };
        let mut metadata = vec![("about", known.about)];
        if known.kind == Kind::Number {
            metadata.push(("unit", unit_of(known.name)));
        }
        metadata
    }));
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes)
        .with_compression(ParquetCompression::Zstd(None))
        .with_key_value_metadata(Some(KeyValueMetadata::from_static(pairs)))
        .finish(&mut frame)?;
    Ok(bytes)
}

/// The key and value by which a Parquet file carries its Arrow schema, with metadata of our own on
/// the fields.
pub fn arrow_schema(
    frame: &DataFrame,
    metadata: impl Fn(&str) -> Vec<(&'static str, &'static str)>,
) -> Option<(String, String)> {
    let mut schema = ArrowSchema::default();
    for (name, dtype) in frame.schema().iter() {
        let field = dtype.to_arrow_field(name.clone(), CompatLevel::newest());
        let pairs = metadata(name)
            .into_iter()
            .map(|(k, v)| (k.into(), v.into()));
        schema.insert(name.clone(), field.with_metadata(pairs.collect()));
    }
    let arrow = schema_to_metadata_key(&schema);
    Some((arrow.key, arrow.value?))
}

/// Values of several metrics share a column; their unit is the row's.
fn unit_of(name: &str) -> &'static str {
    match name {
        "ratio" | "ratio_lo" | "ratio_hi" | "p" => "1",
        _ => "see column unit",
    }
}

fn as_text(value: Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn as_number(value: Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

fn as_count(value: Value) -> Option<u64> {
    match value {
        Value::Count(count) => Some(count),
        _ => None,
    }
}

fn as_list(value: Value) -> Series {
    let texts = match value {
        Value::List(texts) => texts,
        _ => Vec::new(),
    };
    Series::new("".into(), texts)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::grid::samples::report;

    #[test]
    fn the_file_reads_back_as_the_cells_and_carries_units() {
        let bytes = render(&report()).unwrap();
        let mut reader = ParquetReader::new(Cursor::new(&bytes));
        let schema = reader.schema().unwrap();
        let ratio = schema.get("ratio").unwrap();
        let metadata = ratio.metadata.as_ref().unwrap();
        assert_eq!(metadata.get("unit").map(|u| u.as_str()), Some("1"));
        let back = reader.finish().unwrap();
        assert!(back.equals_missing(&frame(&report()).unwrap()));
        assert_eq!(back.height(), 6);
        let texts = back.column("text").unwrap().str().unwrap();
        let texts: Vec<_> = texts.iter().flatten().collect();
        assert_eq!(texts, ["293", "223", "534", "1180", "failed", "-"]);
    }
}
