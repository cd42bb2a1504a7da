//! CSV (RFC 4180) and TSV: one row a cell, columns as in [`super::data`].

use super::data::{FIELDS, Rows, Value};
use crate::grid::Report;

/// Comma-separated values with a header; fields are quoted where they must be, lines end in LF.
pub fn csv(report: &Report) -> String {
    write(report, ',', |text| {
        if text.contains(['"', ',', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    })
}

/// Tab-separated values with a header. The format has no quoting: tabs and line ends inside a
/// field become a space.
pub fn tsv(report: &Report) -> String {
    write(report, '\t', |text| text.replace(['\t', '\n', '\r'], " "))
}

fn write(report: &Report, delimiter: char, quote: fn(&str) -> String) -> String {
    let rows = Rows::new(report);
    let mut out = String::new();
    let mut line = |cells: Vec<String>| {
        let quoted: Vec<String> = cells.iter().map(|c| quote(c)).collect();
        out.push_str(&quoted.join(&delimiter.to_string()));
        out.push('\n');
    };
    let names = rows
        .keys
        .iter()
        .copied()
        .chain(FIELDS.iter().map(|f| f.name));
    line(names.map(str::to_owned).collect());
    for row in &rows.rows {
        let keys = rows.keys.iter().map(|k| rows.key(row, k));
        let values = keys.chain(FIELDS.iter().map(|f| f.get(row)));
        line(values.map(|v| plain(&v)).collect());
    }
    out
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => text.clone(),
        // Rust prints the shortest text that reads back as the same number.
        Value::Number(number) => number.to_string(),
        Value::Count(count) => count.to_string(),
        Value::List(texts) => texts.join(" | "),
    }
}
