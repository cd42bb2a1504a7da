//! All data formats say the same, read back by other readers than our own writers.

mod common;

use std::io::Cursor;

use common::{data, record, run};
use polars::prelude::*;
use serde_json::Value;

/// A report with everything in it: repeats, failed and missing runs, markup in labels, notes.
fn everything() -> (tempfile::TempDir, String) {
    let mut records = Vec::new();
    for run in 1..=6 {
        records.push(record("old, \"quoted\"", run, 500.0 + f64::from(run)));
        records.push(record("new\ttab", run, 400.0 + f64::from(run)));
    }
    let mut failed = record("dead", 1, 1.0);
    failed["errors"] = serde_json::json!([{"text": "No space left on device"}]);
    records.push(failed);
    let mut lonely = record("dead", 2, 77.0);
    lonely["workload"]["jobs"][0]["block_bytes"] = serde_json::json!(8192);
    records.push(lonely);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.jsonl");
    std::fs::write(&path, common::lines(&records)).unwrap();
    (folder, path.to_string_lossy().into_owned())
}

fn written(folder: &tempfile::TempDir, inputs: &[&str], format: &str) -> Vec<u8> {
    let out = folder.path().join(format);
    let mut args = inputs.to_vec();
    args.extend(["-q", "--format", format, "-o", out.to_str().unwrap()]);
    assert_eq!(run(&args).status, 0);
    std::fs::read(out).unwrap()
}

#[test]
fn csv_json_and_parquet_read_back_the_same() {
    let (folder, made) = everything();
    let (laptops, dd) = (data("laptops.jsonl"), data("dd.jsonl"));
    for inputs in [
        vec![made.as_str()],
        vec![&laptops],
        vec![&dd],
        vec![&laptops, &dd],
    ] {
        let parquet = ParquetReader::new(Cursor::new(written(&folder, &inputs, "parquet")))
            .finish()
            .unwrap();
        let csv = CsvReadOptions::default()
            .with_has_header(true)
            .with_infer_schema_length(Some(0))
            .into_reader_with_file_handle(Cursor::new(written(&folder, &inputs, "csv")))
            .finish()
            .unwrap();
        let json: Value = serde_json::from_slice(&written(&folder, &inputs, "json")).unwrap();
        let cells = json["cells"].as_array().unwrap();
        assert_eq!(parquet.height(), cells.len());
        assert_eq!(csv.height(), cells.len());
        assert_eq!(parquet.get_column_names(), csv.get_column_names());
        for name in parquet.get_column_names() {
            for (row, cell) in cells.iter().enumerate() {
                let of_json = &cell[name.as_str()];
                let of_parquet = parquet.column(name).unwrap().get(row).unwrap();
                let of_csv = csv.column(name).unwrap().str().unwrap().get(row);
                match (of_json, of_parquet) {
                    (Value::Null, value) => {
                        assert_eq!(value, AnyValue::Null, "{name}");
                        assert_eq!(of_csv.unwrap_or(""), "", "{name}");
                    }
                    (Value::String(text), AnyValue::String(other)) => {
                        assert_eq!(text, other, "{name}");
                        assert_eq!(Some(text.as_str()), of_csv, "{name}");
                    }
                    (Value::Number(number), value) => {
                        let number = number.as_f64().unwrap();
                        assert_eq!(value.extract::<f64>(), Some(number), "{name}");
                        assert_eq!(of_csv.unwrap().parse(), Ok(number), "{name}");
                    }
                    (Value::Array(texts), AnyValue::List(series)) => {
                        let other: Vec<_> = series.str().unwrap().iter().flatten().collect();
                        assert_eq!(texts, &other, "{name}");
                        assert_eq!(of_csv.unwrap_or(""), other.join(" | "), "{name}");
                    }
                    (json, parquet) => panic!("{name}: {json} against {parquet}"),
                }
            }
        }
    }
}

/// Every value that the table prints is in the Markdown, the page and the data, and the data has
/// no other.
#[test]
fn tables_and_data_print_the_same_texts() {
    let (folder, made) = everything();
    for input in [&made, &data("laptops.jsonl"), &data("dd.jsonl")] {
        let json: Value = serde_json::from_slice(&written(&folder, &[input], "json")).unwrap();
        let text = |format| String::from_utf8(written(&folder, &[input], format)).unwrap();
        let (table, markdown, html) = (text("table"), text("markdown"), text("html"));
        let words = |t: &str, cut: &[char]| -> Vec<String> {
            t.split(|c: char| c.is_whitespace() || cut.contains(&c))
                .map(str::to_owned)
                .collect()
        };
        let table = words(&table, &['│', '┆', '║', '╎']);
        let markdown = words(&markdown, &['|']);
        let html = words(&html, &['<', '>']);
        for cell in json["cells"].as_array().unwrap() {
            for field in ["text", "ratio_text"] {
                let Some(shown) = cell[field].as_str().filter(|t| !t.is_empty()) else {
                    continue;
                };
                for (name, words) in [("table", &table), ("markdown", &markdown), ("html", &html)] {
                    assert!(words.iter().any(|w| w == shown), "{name} lacks {shown}");
                }
            }
        }
    }
}

#[test]
fn flat_files_are_inputs_again() {
    let (folder, made) = everything();
    let (laptops, dd) = (data("laptops.jsonl"), data("dd.jsonl"));
    for inputs in [vec![made.as_str()], vec![&laptops, &dd]] {
        for metric in ["bw", "bw-wall,bw,flush,bw-write,iops"] {
            let with = |inputs: &[&str]| {
                let mut args = inputs.to_vec();
                args.extend(["-q", "-m", metric]);
                run(&args).out
            };
            let direct = with(&inputs);
            assert!(direct.contains("MiB/s"), "{direct}");
            for ending in ["parquet", "arrow", "csv"] {
                let flat = folder.path().join(format!("flat.{ending}"));
                let flat = flat.to_str().unwrap();
                let mut args = inputs.clone();
                args.extend(["-q", "--export", flat]);
                let ran = run(&args);
                assert_eq!(ran.status, 0, "{}", ran.err);
                assert_eq!(with(&[flat]), direct, "{ending}");
            }
        }
    }
    let refused = run(&[&laptops, "--export", "x.xlsx"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.err.contains("ends in .parquet, .arrow or .csv"),
        "{}",
        refused.err
    );
}

#[test]
fn err_a_broken_flat_file_is_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    std::fs::write(&path, b"PAR1 and nothing else").unwrap();
    let ran = run(&[path.to_str().unwrap()]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.contains("not a flat file of records"),
        "{}",
        ran.err
    );
}
