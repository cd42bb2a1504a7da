//! JSON (one object with all cells and notes) and JSON Lines (one object a cell).
//!
//! The fields are those of [`super::data`]; absent values are `null`, so that every object has
//! the same keys. `"v"` is the version of this layout and comes first, as in the records of
//! `fio-parse`; but a cell is a result of comparing and not a record.

use serde_json::{Map, Number, Value as Json, json};

use super::data::{FIELDS, Rows, Value};
use crate::grid::Report;

/// Version of the layout; a field that is renamed, removed or re-meant raises it.
pub const VERSION: u64 = 1;

/// `{"v":1,"cells":[...],"notes":[...]}` and a line end.
pub fn json(report: &Report) -> String {
    let cells: Vec<Json> = objects(report).into_iter().map(Json::Object).collect();
    let whole = json!({"v": VERSION, "cells": cells, "notes": report.notes});
    format!("{whole:#}\n")
}

/// One line a cell, each starting with `{"cell":1,`.
pub fn jsonl(report: &Report) -> String {
    let mut out = String::new();
    for object in objects(report) {
        // The version is written by hand because it must come first.
        let rest = Json::Object(object).to_string();
        out.push_str(&format!("{{\"cell\":{VERSION},{}\n", &rest[1..]));
    }
    out
}

fn objects(report: &Report) -> Vec<Map<String, Json>> {
    let rows = Rows::new(report);
    (rows.rows.iter())
        .map(|row| {
            let keys = rows.keys.iter().map(|k| (*k, rows.key(row, k)));
            let fields = FIELDS.iter().map(|f| (f.name, f.get(row)));
            keys.chain(fields)
                .map(|(name, value)| (name.to_owned(), plain(value)))
                .collect()
        })
        .collect()
}

fn plain(value: Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Text(text) => Json::String(text),
        Value::Number(number) => Number::from_f64(number).map_or(Json::Null, Json::Number),
        Value::Count(count) => Json::from(count),
        Value::List(texts) => Json::from(texts),
    }
}
