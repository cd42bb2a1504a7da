//! All data formats say the same, read back by other readers than our own writers.

mod common;

use std::io::Cursor;
use std::process::Command;

use common::{data, lines, record, run, run_with};
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
    std::fs::write(&path, lines(&records)).unwrap();
    (folder, path.to_string_lossy().into_owned())
}

fn written(folder: &tempfile::TempDir, inputs: &[&str], format: &str) -> Vec<u8> {
    let out = folder.path().join(format);
    let mut args = inputs.to_vec();
    args.extend(["-q", "--format", format, "-o", out.to_str().unwrap()]);
    assert_eq!(run(&args).status, 0);
    let bytes = std::fs::read(&out).unwrap();
    // The same format may be asked for again, which is refused while the file exists.
    std::fs::remove_file(out).unwrap();
    bytes
}

#[test]
fn csv_json_and_parquet_read_back_the_same() {
    let (folder, made) = everything();
    let (laptops, dd) = (data("laptops.jsonl"), data("dd.jsonl"));
    let logs = common::logs();
    let fixtures = logs.iter().map(|log| vec![log.as_str()]);
    let made = [
        vec![made.as_str()],
        vec![&laptops],
        vec![&dd],
        vec![&laptops, &dd],
    ];
    for inputs in made.into_iter().chain(fixtures) {
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
                    (Value::String(text), other) => {
                        assert_eq!(Some(text.as_str()), other.get_str(), "{name}");
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

/// DuckDB reads what we wrote and finds the same rows.
#[test]
fn duckdb_reads_the_same() {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let there = Command::new(&python).args(["-c", "import duckdb"]).output();
    if !there.is_ok_and(|ran| ran.status.success()) {
        eprintln!(
            "skipped: {python} has no duckdb (pip install duckdb, and PYTHON names the interpreter)"
        );
        return;
    }
    let (folder, made) = everything();
    let mut inputs = common::logs();
    inputs.push(made);
    for input in &inputs {
        let json: Value = serde_json::from_slice(&written(&folder, &[input], "json")).unwrap();
        let cells = json["cells"].as_array().unwrap();
        for format in ["csv", "tsv", "jsonl", "parquet"] {
            let file = folder.path().join(format!("read.{format}"));
            std::fs::write(&file, written(&folder, &[input], format)).unwrap();
            let ran = Command::new(&python)
                .arg(data("duckdb_rows.py"))
                .arg(&file)
                .output()
                .unwrap();
            let talk = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{input} as {format}: {talk}");
            let rows: Vec<Value> = (String::from_utf8(ran.stdout).unwrap().lines())
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(rows.len(), cells.len(), "{input} as {format}");
            for (row, cell) in rows.iter().zip(cells) {
                for (name, want) in cell.as_object().unwrap() {
                    let got = row.get(name).unwrap_or(&Value::Null);
                    assert!(
                        same(got, want, format),
                        "{input} as {format}: {name} is {got}, expected {want}"
                    );
                }
            }
        }
    }
}

/// Texts stand for numbers, and for lists joined, in formats that know texts only; a tab is a
/// blank in TSV.
fn same(got: &Value, want: &Value, format: &str) -> bool {
    let text_only = matches!(format, "csv" | "tsv");
    match (got, want) {
        (Value::Null, Value::Null) => true,
        (Value::Null, Value::String(want)) => text_only && want.is_empty(),
        (Value::Null, Value::Array(want)) => text_only && want.is_empty(),
        (Value::String(got), Value::Number(want)) => {
            text_only && got.parse() == Ok(want.as_f64().unwrap())
        }
        (Value::Number(got), Value::Number(want)) => got.as_f64() == want.as_f64(),
        (Value::String(got), Value::Array(want)) => {
            let want: Vec<&str> = want.iter().filter_map(Value::as_str).collect();
            text_only && *got == want.join(" | ")
        }
        (Value::String(got), Value::String(want)) => match format {
            "tsv" => *got == want.replace('\t', " "),
            _ => got == want,
        },
        (got, want) => got == want,
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
                // The next round writes it anew, which is refused while it exists.
                std::fs::remove_file(flat).unwrap();
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

#[test]
fn results_without_any_name_have_the_same_one_when_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut groups: Vec<Value> = (0..3)
        .map(|group| {
            let mut made = record("m", 1, 100.0 * f64::from(group + 1));
            made["scope"]["group"] = group.into();
            made
        })
        .collect();
    let mut dds: Vec<Value> = ["gnu", "bsd"]
        .iter()
        .map(|implementation| {
            let mut made = record("m", 2, 50.0);
            made["source"]["tool"] =
                serde_json::json!({"name": "dd", "implementation": implementation});
            made["scope"] = serde_json::json!({"kind": "run"});
            made
        })
        .collect();
    groups.append(&mut dds);
    for made in &mut groups {
        made.as_object_mut().unwrap().remove("workload");
    }
    let input = lines(&groups);
    let direct = run_with(&["-", "-q"], &input).out;
    for name in ["fio group 0", "fio group 1", "fio group 2"] {
        assert!(direct.contains(name), "{direct}");
    }
    let flat = folder.path().join("flat.csv");
    let flat = flat.to_str().unwrap();
    assert_eq!(run_with(&["-", "-q", "--export", flat], &input).status, 0);
    assert_eq!(run(&["-q", flat]).out, direct);
}

/// A dashboard reads the columns by name: they must not hang on how many machines there are today.
#[test]
fn names_of_columns_do_not_hang_on_how_many_machines_there_are() {
    let machines = |count: usize| -> Vec<u8> {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let records = names[..count].iter().map(|name| record(name, 1, 100.0));
        lines(&records.collect::<Vec<_>>())
    };
    for more in [&[][..], &["-m", "bw,iops"], &["--row", "rw,bs"]] {
        let head = |count: usize, format: &str| {
            let args = [&["-", "--format", format][..], more].concat();
            let out = run_with(&args, &machines(count)).out;
            out.lines().next().unwrap().to_owned()
        };
        for format in ["csv", "tsv"] {
            let one = head(1, format);
            assert!(one.contains("machine"), "{one}");
            // Seven machines are rows and not columns.
            for count in [2, 7] {
                assert_eq!(one, head(count, format), "{more:?}");
            }
        }
        let first = |count: usize, format: &str, start: &str| {
            let args = [&["-", "--format", format][..], more].concat();
            let out = run_with(&args, &machines(count)).out;
            let line = out
                .lines()
                .find(|l| l.trim_start().starts_with(start))
                .unwrap();
            line.split(" 1048").next().unwrap().to_owned()
        };
        for (format, start) in [("gha-bench", "\"name\""), ("openmetrics", "fio_bw")] {
            let one = first(1, format, start);
            assert!(one.contains("a"), "{one}");
            for count in [2, 7] {
                assert_eq!(one, first(count, format, start), "{more:?}");
            }
        }
    }
}
