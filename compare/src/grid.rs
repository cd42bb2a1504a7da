//! What a table holds before anyone decides what it looks like.
//!
//! A [`Report`] is a list of [`Grid`]s and the notes their cells point to. A grid has rows and
//! columns; a column stands for one key value (a machine, say) and shows several *parts* side by
//! side: the value, its spread, its ratio to the base, the evidence for a difference. Each cell
//! keeps the text of each part, already scaled and cut to the digits it has earned, and beside it
//! the numbers in base units for the formats that machines read.
//!
//! Place: made by [`crate::build`], read by everything in [`crate::render`]. It knows no record, no
//! data frame and no output format.

use crate::bounds::Bounds;
use crate::keys::Key;
use crate::metric::Better;
use crate::scale::Unit;

/// All tables of one run and the notes under them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The tables, in order of first appearance of their keys.
    pub grids: Vec<Grid>,
    /// The notes. A mark `m` anywhere in a grid points to `notes[m]` and is printed as `[m+1]`.
    pub notes: Vec<String>,
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// What the table shows, as `write bandwidth`.
    pub title: String,
    /// The keys that all its cells share, as `direction` = `write`.
    pub keys: Vec<(String, String)>,
    /// Keys that the table does not show, as there is one value only, and that it would show with more:
    /// so that writers for machines name the same keys whatever there is.
    pub hidden: Vec<(String, String)>,
    /// Notes about the whole table.
    pub marks: Vec<usize>,
    /// Names of the row keys, one for each label of a row.
    pub row_names: Vec<String>,
    /// Are the rows compared with each other (machines are rows), and not the columns?
    pub across_rows: bool,
    /// The columns, each with the same number of cells.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Grid {
    /// Puts the marks of each place in order.
    pub fn sort_marks(&mut self) {
        self.marks.sort_unstable();
        for column in &mut self.columns {
            column.label.marks.sort_unstable();
        }
        for row in &mut self.rows {
            row.labels.iter_mut().for_each(|l| l.marks.sort_unstable());
            row.cells.iter_mut().for_each(|c| c.marks.sort_unstable());
        }
    }
}

/// A label that may be shortened for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// What is shown.
    pub text: String,
    /// The whole text, for formats without a width.
    pub full: String,
    /// Notes about whatever the label names.
    pub marks: Vec<usize>,
}

impl Label {
    /// A label shown whole.
    pub fn plain(text: impl Into<String>) -> Label {
        let text = text.into();
        Label {
            full: text.clone(),
            text,
            marks: Vec::new(),
        }
    }
}

/// A column of cells: one value of the column key, one metric, one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The column's key values, joined.
    pub label: Label,
    /// The keys that its cells share beyond the table's.
    pub keys: Vec<(String, String)>,
    /// The metric's name, as `bw`.
    pub metric: String,
    /// Which way is better.
    pub better: Better,
    /// The unit in which values are shown.
    pub unit: Unit,
    /// Which parts are shown, in order.
    pub parts: Vec<Part>,
    /// The heading of its ratios: what they are to.
    pub versus: &'static str,
}

/// A part of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The value (of repeats: the median).
    Value,
    /// How far the median's interval reaches from it, in percent.
    Spread,
    /// The ratio to the base.
    Ratio,
    /// p-value and count of repeats.
    Evidence,
}

impl Column {
    /// The heading of a part.
    pub fn heading(&self, part: Part) -> &str {
        match part {
            Part::Value => self.unit.name,
            Part::Spread => "±",
            Part::Ratio => self.versus,
            Part::Evidence => "evidence",
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// One label for each of the grid's row names.
    pub labels: Vec<Label>,
    /// The key values in full, for formats without a width.
    pub keys: Vec<(String, String)>,
    /// One cell for each column.
    pub cells: Vec<Cell>,
    /// True for a row made from the others (geomean), which data formats leave out.
    pub summary: bool,
}

/// What became of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// There is a value.
    Value,
    /// There is a value, in another column; here stands what it is compared with.
    Compared,
    /// There is no record for it. Not zero.
    #[default]
    Missing,
    /// The run failed or was cut short; it has no value and enters no ratio.
    Failed,
    /// A cell of a summary row.
    Summary,
}

impl State {
    /// As written to data formats.
    pub fn name(&self) -> &'static str {
        match self {
            State::Value => "value",
            State::Compared => "compared",
            State::Missing => "missing",
            State::Failed => "failed",
            State::Summary => "summary",
        }
    }
}

/// How a cell compares with its base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// No base, or the cell is the base.
    #[default]
    None,
    /// Better, beyond the bounds (and, with repeats, beyond chance).
    Better,
    /// Worse, likewise.
    Worse,
    /// The bounds overlap, or repeats show no difference.
    Same,
}

impl Verdict {
    /// As written to data formats; empty if there is nothing to compare.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::None => "",
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Same => "no difference shown",
        }
    }
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What became of it.
    pub state: State,
    /// The text of each of its column's parts; empty where there is nothing to say.
    pub texts: Vec<String>,
    /// Notes about this cell.
    pub marks: Vec<usize>,
    /// The value in base units.
    pub value: Option<Bounds>,
    /// How many records the value stands on.
    pub n: usize,
    /// How many further runs failed; they have no value and are not among `n`.
    pub failed: usize,
    /// The median's confidence interval in base units, where repeats allow one.
    pub interval: Option<(f64, f64)>,
    /// The ratio to the base.
    pub ratio: Option<Bounds>,
    /// The label of the base, where there is a ratio.
    pub base: Option<String>,
    /// It is the base itself.
    pub is_base: bool,
    /// Two-sided p of the comparison with the base, where there are repeats.
    pub p: Option<f64>,
    /// Its least run over the base's greatest, and its greatest over the base's least, where there are repeats.
    pub spread: Option<(f64, f64)>,
    /// There are runs enough that a p could be as small as alpha.
    pub testable: bool,
    /// How it compares with the base.
    pub verdict: Verdict,
}

impl Cell {
    /// The text of a part, empty if the column does not show it.
    pub fn text(&self, column: &Column, part: Part) -> &str {
        let at = column.parts.iter().position(|p| *p == part);
        at.and_then(|i| self.texts.get(i))
            .map_or("", String::as_str)
    }
}

/// Marks as printed: `[1][3]`, or nothing.
pub fn marks_text(marks: &[usize]) -> String {
    marks.iter().map(|m| format!("[{}]", m + 1)).collect()
}

/// One cell with everything that says which it is: a row of the formats that machines read.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum<'a> {
    /// The table's title.
    pub table: &'a str,
    /// Table, row and column keys, in this order.
    pub keys: Vec<(&'a str, &'a str)>,
    /// The column.
    pub column: &'a Column,
    /// The cell.
    pub cell: &'a Cell,
    /// Full texts of the notes that bear on it.
    pub notes: Vec<&'a str>,
}

impl Report {
    /// All cells of all tables, summary rows left out, row by row.
    pub fn data(&self) -> Vec<Datum<'_>> {
        let mut out = Vec::new();
        for grid in &self.grids {
            for row in grid.rows.iter().filter(|row| !row.summary) {
                for (column, cell) in grid.columns.iter().zip(&row.cells) {
                    let keys = grid.keys.iter().chain(&row.keys).chain(&column.keys);
                    let keys = keys.chain(&grid.hidden);
                    let mut marks: Vec<usize> = Vec::new();
                    let labels = row.labels.iter().flat_map(|l| &l.marks);
                    for mark in (grid.marks.iter())
                        .chain(labels)
                        .chain(&column.label.marks)
                        .chain(&cell.marks)
                    {
                        if !marks.contains(mark) {
                            marks.push(*mark);
                        }
                    }
                    out.push(Datum {
                        table: &grid.title,
                        keys: in_order(keys.map(|(k, v)| (k.as_str(), v.as_str())).collect()),
                        column,
                        cell,
                        notes: (marks.iter())
                            .filter_map(|m| self.notes.get(*m).map(String::as_str))
                            .collect(),
                    });
                }
            }
        }
        out
    }
}

/// Keys in an order that does not hang on whether machines are rows or columns: they stand behind the test.
fn in_order<'a>(mut keys: Vec<(&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
    let at = |keys: &[(&str, &str)], key: Key| keys.iter().position(|(k, _)| *k == key.name());
    if let (Some(from), Some(_)) = (at(&keys, Key::MACHINE), at(&keys, Key::TEST)) {
        let machine = keys.remove(from);
        let test = at(&keys, Key::TEST).map_or(keys.len(), |test| test + 1);
        keys.insert(test, machine);
    }
    keys
}

#[cfg(test)]
pub(crate) mod samples {
    //! A report made by hand, shared by the tests of all writers.
    use super::*;
    use crate::scale;

    fn cell(value: f64, text: &str, ratio: Option<(f64, &str)>, marks: &[usize]) -> Cell {
        Cell {
            state: State::Value,
            texts: vec![text.into(), ratio.map_or(String::new(), |r| r.1.into())],
            marks: marks.to_vec(),
            value: Bounds::between(value - 500_000.0, value + 500_000.0),
            n: 1,
            ratio: ratio.and_then(|r| Bounds::between(r.0 - 0.004, r.0 + 0.004)),
            base: ratio.map(|_| "Old | box".into()),
            verdict: match ratio {
                Some((r, _)) if r < 0.99 => Verdict::Worse,
                Some((r, _)) if r > 1.01 => Verdict::Better,
                _ => Verdict::None,
            },
            ..Cell::default()
        }
    }

    /// Two tests on three machines: a pipe and markup in the labels, a failed and a missing cell.
    pub(crate) fn report() -> Report {
        let column = |name: &str, marks: &[usize]| Column {
            label: Label {
                text: name.into(),
                full: name.into(),
                marks: marks.to_vec(),
            },
            keys: vec![("machine".into(), name.into())],
            metric: "bw".into(),
            better: Better::Higher,
            unit: scale::parse("MiB/s").unwrap(),
            parts: vec![Part::Value, Part::Ratio],
            versus: "vs base",
        };
        let row = |name: &str, cells: Vec<Cell>| Row {
            labels: vec![Label::plain(name)],
            keys: vec![("test".into(), name.into())],
            cells,
            summary: false,
        };
        let failed = Cell {
            state: State::Failed,
            texts: vec!["failed".into(), String::new()],
            marks: vec![1],
            ..Cell::default()
        };
        let missing = Cell {
            texts: vec!["-".into(), String::new()],
            ..Cell::default()
        };
        Report {
            grids: vec![Grid {
                title: "write bandwidth".into(),
                keys: vec![("direction".into(), "write".into())],
                marks: vec![],
                row_names: vec!["test".into()],
                hidden: Vec::new(),
                across_rows: false,
                columns: vec![
                    column("Old | box", &[]),
                    column("New <b>", &[]),
                    column("Spare, \"3rd\"", &[0]),
                ],
                rows: vec![
                    row(
                        "4k random",
                        vec![
                            cell(307_104_239.0, "293", Some((1.0, "1.00x")), &[]),
                            cell(233_900_000.0, "223", Some((0.762, "0.76x")), &[]),
                            cell(559_900_000.0, "534", Some((1.823, "1.82x")), &[1]),
                        ],
                    ),
                    row(
                        "1m random*",
                        vec![
                            cell(1_237_000_000.0, "1180", Some((1.0, "1.00x")), &[]),
                            failed,
                            missing,
                        ],
                    ),
                ],
            }],
            notes: vec![
                "Spare used another engine".into(),
                "printed | by an old tool".into(),
            ],
        }
    }
}
