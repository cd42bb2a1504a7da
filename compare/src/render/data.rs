//! The columns that all formats for machines share.
//!
//! One row a cell. First the keys (`direction`, `test`, `machine`, ... whatever the tables were
//! projected on), then the fields below. Numbers are in the base unit named by `unit` (`B/s`,
//! `ns`, `IOPS`, `B`); `text` and `text_unit` are what the table shows.

use crate::grid::{Datum, Part, Report};

/// A value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not known or not applicable.
    Null,
    /// Text.
    Text(String),
    /// A number, finite.
    Number(f64),
    /// A count.
    Count(u64),
    /// Texts.
    List(Vec<String>),
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Floating point.
    Number,
    /// Unsigned integer.
    Count,
    /// List of texts.
    List,
}

/// A field of every row.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name, the same in every format.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// What it means, kept as metadata where a format has room for it.
    pub about: &'static str,
    get: fn(&Datum) -> Value,
}

impl Field {
    /// The field's value in a row.
    pub fn get(&self, datum: &Datum) -> Value {
        (self.get)(datum)
    }
}

fn number(v: Option<f64>) -> Value {
    match v {
        Some(v) if v.is_finite() => Value::Number(v),
        _ => Value::Null,
    }
}

fn text(v: &str) -> Value {
    if v.is_empty() {
        Value::Null
    } else {
        Value::Text(v.to_owned())
    }
}

const fn field(
    name: &'static str,
    kind: Kind,
    about: &'static str,
    get: fn(&Datum) -> Value,
) -> Field {
    Field {
        name,
        kind,
        about,
        get,
    }
}

/// The fields after the keys, in order.
pub const FIELDS: &[Field] = &[
    field("table", Kind::Text, "title of the table", |d| text(d.table)),
    field("metric", Kind::Text, "name of the metric", |d| {
        text(&d.column.metric)
    }),
    field(
        "unit",
        Kind::Text,
        "unit of value, lo, hi, ci_lo, ci_hi",
        |d| text(d.column.unit.dimension.base_unit()),
    ),
    field(
        "value",
        Kind::Number,
        "the value (of repeats: the median), in `unit`",
        |d| number(d.cell.value.map(|b| b.value())),
    ),
    field(
        "lo",
        Kind::Number,
        "least value that prints so, in `unit`",
        |d| number(d.cell.value.map(|b| b.lo())),
    ),
    field(
        "hi",
        Kind::Number,
        "greatest value that prints so, in `unit`",
        |d| number(d.cell.value.map(|b| b.hi())),
    ),
    field("n", Kind::Count, "number of records", |d| {
        Value::Count(d.cell.n as u64)
    }),
    field(
        "ci_lo",
        Kind::Number,
        "lower end of the median's interval, in `unit`",
        |d| number(d.cell.interval.map(|i| i.0)),
    ),
    field(
        "ci_hi",
        Kind::Number,
        "upper end of the median's interval, in `unit`",
        |d| number(d.cell.interval.map(|i| i.1)),
    ),
    field("ratio", Kind::Number, "value over the base's value", |d| {
        number(d.cell.ratio.map(|b| b.value()))
    }),
    field("ratio_lo", Kind::Number, "least ratio", |d| {
        number(d.cell.ratio.map(|b| b.lo()))
    }),
    field("ratio_hi", Kind::Number, "greatest ratio", |d| {
        number(d.cell.ratio.map(|b| b.hi()))
    }),
    field("base", Kind::Text, "label of the base", |d| {
        text(d.cell.base.as_deref().unwrap_or(""))
    }),
    field(
        "p",
        Kind::Number,
        "two-sided Mann-Whitney p against the base",
        |d| number(d.cell.p),
    ),
    field(
        "verdict",
        Kind::Text,
        "better, worse or no difference shown",
        |d| text(d.cell.verdict.name()),
    ),
    field(
        "state",
        Kind::Text,
        "value, missing, failed, or compared (the value stands in a row of its own)",
        |d| text(d.cell.state.name()),
    ),
    field(
        "text",
        Kind::Text,
        "the value as the table prints it",
        |d| text(d.cell.text(d.column, Part::Value)),
    ),
    field("text_unit", Kind::Text, "unit of `text`", |d| {
        text(d.column.unit.name)
    }),
    field(
        "ratio_text",
        Kind::Text,
        "the ratio as the table prints it",
        |d| text(d.cell.text(d.column, Part::Ratio)),
    ),
    field("notes", Kind::List, "notes that bear on the cell", |d| {
        Value::List(d.notes.iter().map(|n| (*n).to_owned()).collect())
    }),
];

/// A report as rows and named columns.
pub struct Rows<'a> {
    /// Names of the key columns, in order of first appearance.
    pub keys: Vec<&'a str>,
    /// The rows.
    pub rows: Vec<Datum<'a>>,
}

impl<'a> Rows<'a> {
    /// Lists the cells of a report. A key that is also a field (`metric`) is not listed twice.
    pub fn new(report: &'a Report) -> Rows<'a> {
        let rows = report.data();
        let mut keys: Vec<&str> = Vec::new();
        for (key, _) in rows.iter().flat_map(|row| &row.keys) {
            if !keys.contains(key) && !FIELDS.iter().any(|f| f.name == *key) {
                keys.push(key);
            }
        }
        Rows { keys, rows }
    }

    /// The value of a key in a row.
    pub fn key(&self, row: &Datum<'a>, key: &str) -> Value {
        let found = row.keys.iter().find(|(name, _)| *name == key);
        found.map_or(Value::Null, |(_, value)| text(value))
    }
}
