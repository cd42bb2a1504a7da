//! From cells to a report: order, texts, ratios, marks.
//!
//! Place: after the pipeline of [`crate::query`], before the writers. Long rows become a grid only
//! here; numbers become texts only here, in one unit a column and with the digits they have earned.

mod base;
mod cell;
mod chance;
mod error;
mod hidden;
mod marks;
mod pairs;
mod words;

use std::collections::{HashMap, HashSet};

use base::{Base, choose_base};
use cell::geomean_row;
pub use error::Error;
use words::{join_labels, natural, shorten};

use crate::bounds::Bounds;
use crate::frame::{Frame, key_column};
use crate::grid::{Column, Grid, Label, Part, Report, Row};
use crate::keys::{Key, Role, UNKNOWN};
use crate::metric::{Better, Clock, Metric, Sampled, Statistic};
use crate::query::{self, Cells, Found};
use crate::ratio;
use crate::scale::{self, Unit};
use crate::view::{Projection, Shape, Sort, View};

/// Longest label of a column, and of a row, before it is shortened.
const COLUMN_LABEL: usize = 40;
const ROW_LABEL: usize = 110;

/// The metrics looked at when none is asked for: the wall clock first where there is one, since
/// it alone holds the sync after the tool.
pub const DEFAULT_METRICS: &[Metric] = &[Metric::WallBandwidth, Metric::Bandwidth];

/// The metrics shown instead where no record has one of those, as in logs of samples.
pub const SPARE_METRICS: &[Metric] = &[
    Metric::Samples(Sampled::Bandwidth, Statistic::Mean),
    Metric::Iops,
    Metric::Samples(Sampled::Iops, Statistic::Mean),
    Metric::Latency(Clock::Submission, Statistic::Mean),
    Metric::Latency(Clock::Completion, Statistic::Mean),
    Metric::Latency(Clock::Total, Statistic::Mean),
    Metric::Latency(Clock::Sync, Statistic::Mean),
];

/// Makes the report that a view asks for. For each of its metrics (or [`DEFAULT_METRICS`]), `with`
/// says which contexts have values, as [`query::with_values`] does.
pub fn report(frame: &Frame, view: &View, with: &[Vec<bool>]) -> Result<Report, Error> {
    let asked = view.metrics.as_deref().unwrap_or(DEFAULT_METRICS);
    let present = asked
        .iter()
        .zip(with)
        .filter(|(_, with)| with.contains(&true));
    let metrics: Vec<Metric> = present.map(|(metric, _)| *metric).collect();
    if let Some(list) = &view.metrics
        && let Some(missing) = list.iter().find(|m| !metrics.contains(m))
        && metrics.is_empty()
    {
        return Err(Error::Request(format!(
            "no record has the metric `{missing}`; --list shows what there is"
        )));
    }
    let metrics = if metrics.is_empty() {
        vec![Metric::Bandwidth]
    } else {
        metrics
    };
    let shape = Shape {
        machines: used(frame, Key::MACHINE),
        tests: used(frame, Key::TEST),
        pairs: pairs(frame)?,
        metrics: metrics.len(),
    };
    let projection = view.project(shape);
    if let Some(twice) = projection.twice() {
        return Err(Error::Request(format!(
            "expected each key in one of --table, --row and --col, found `{}` in two",
            twice.name()
        )));
    }
    let cells = query::cells(frame, &metrics, &projection.keys())?;
    let base = choose_base(frame, view, &cells, &projection)?;
    Ok(Builder::new(frame, view, &metrics, &projection, base, cells).build())
}

/// How many values of a key occur.
fn used(frame: &Frame, key: Key) -> usize {
    (frame.key_texts.iter())
        .find(|(k, _)| *k == key)
        .map_or(0, |(_, texts)| texts.len())
}

/// How many pairs of a machine and a test there are.
fn pairs(frame: &Frame) -> polars::prelude::PolarsResult<usize> {
    let codes = |key: Key| frame.contexts.column(&key_column(key))?.u32().cloned();
    let (machines, tests) = (codes(Key::MACHINE)?, codes(Key::TEST)?);
    let pairs: HashSet<_> = machines.iter().zip(tests.iter()).collect();
    Ok(pairs.len())
}

fn key_text(frame: &Frame, key: Key, code: u32) -> &str {
    (frame.key_texts.iter())
        .find(|(k, _)| *k == key)
        .and_then(|(_, texts)| texts.get(code as usize))
        .map_or("", String::as_str)
}

/// Notes in order of first use, each once.
#[derive(Default)]
struct Notes {
    texts: Vec<String>,
}

impl Notes {
    fn mark(&mut self, text: &str) -> usize {
        match self.texts.iter().position(|t| t == text) {
            Some(index) => index,
            None => {
                self.texts.push(text.to_owned());
                self.texts.len() - 1
            }
        }
    }
}

type Codes = Vec<u32>;

struct Builder<'a> {
    frame: &'a Frame,
    view: &'a View,
    metrics: &'a [Metric],
    projection: &'a Projection,
    base: Option<Base>,
    cells: Cells,
    /// For each cell, the one it is compared with, itself if it is the base.
    bases: Vec<Option<usize>>,
    /// By cell and base.
    p_values: HashMap<(usize, usize), f64>,
    notes: Notes,
}

/// One table before it is drawn: its cells by row and column.
struct Plan {
    table: Codes,
    rows: Vec<Codes>,
    cols: Vec<Codes>,
    /// Index into the cells, by row and column.
    at: HashMap<(Codes, Codes), usize>,
}

impl<'a> Builder<'a> {
    fn new(
        frame: &'a Frame,
        view: &'a View,
        metrics: &'a [Metric],
        projection: &'a Projection,
        base: Option<Base>,
        cells: Cells,
    ) -> Builder<'a> {
        let bases = match &base {
            Some(Base::One { codes, .. }) => {
                let base = ratio::Base::Fixed(codes.clone());
                ratio::bases(&cells, metrics, &projection.across, &base)
            }
            Some(Base::Best) => {
                ratio::bases(&cells, metrics, &projection.across, &ratio::Base::Best)
            }
            Some(Base::Each) | None => vec![None; cells.found.len()],
        };
        Builder {
            frame,
            view,
            metrics,
            projection,
            base,
            cells,
            bases,
            p_values: HashMap::new(),
            notes: Notes::default(),
        }
    }

    fn build(mut self) -> Report {
        self.compare_samples();
        let plans = self.plans();
        let each = matches!(self.base, Some(Base::Each));
        let mut grids: Vec<Grid> = Vec::new();
        for plan in &plans {
            let grid = if each {
                self.pairs(plan)
            } else {
                self.grid(plan)
            };
            grids.push(grid);
        }
        grids.iter_mut().for_each(Grid::sort_marks);
        Report {
            grids,
            notes: self.notes.texts,
        }
    }

    fn ratio(&self, index: usize, base: usize) -> Option<Bounds> {
        ratio::ratio(&self.cells, index, base, self.view.force)
    }

    /// The keys compared across in words: what a cell is called beside its partners.
    fn name(&self, index: usize) -> String {
        let codes = ratio::across_codes(&self.cells, index, &self.projection.across);
        let keys = self.projection.across.iter().zip(codes);
        let texts: Vec<&str> = keys
            .map(|(key, code)| key_text(self.frame, *key, code))
            .collect();
        join_labels(&texts)
    }

    fn code(&self, found: &Found, key: Key) -> u32 {
        let at = self.cells.keys.iter().position(|k| *k == key);
        at.map_or(0, |i| found.codes[i])
    }

    fn codes(&self, found: &Found, keys: &[Key]) -> Codes {
        keys.iter().map(|k| self.code(found, *k)).collect()
    }

    fn metric(&self, found: &Found) -> Metric {
        self.metrics[self.code(found, Key::METRIC) as usize % self.metrics.len()]
    }

    fn plans(&self) -> Vec<Plan> {
        let mut plans: Vec<Plan> = Vec::new();
        for (index, found) in self.cells.found.iter().enumerate() {
            let table = self.codes(found, &self.projection.tables);
            let row = self.codes(found, &self.projection.rows);
            let col = self.codes(found, &self.projection.cols);
            let position = plans
                .iter()
                .position(|p| p.table == table)
                .unwrap_or_else(|| {
                    plans.push(Plan {
                        table,
                        rows: Vec::new(),
                        cols: Vec::new(),
                        at: HashMap::new(),
                    });
                    plans.len() - 1
                });
            let plan = &mut plans[position];
            if !plan.rows.contains(&row) {
                plan.rows.push(row.clone());
            }
            if !plan.cols.contains(&col) {
                plan.cols.push(col.clone());
            }
            plan.at.insert((row, col), index);
        }
        // Codes count first appearances, so this is the order of the input.
        plans.sort_by(|a, b| a.table.cmp(&b.table));
        for plan in &mut plans {
            plan.cols.sort();
            plan.rows.sort();
            self.sort_rows(plan);
        }
        plans
    }

    fn sort_rows(&self, plan: &mut Plan) {
        let mut rows = std::mem::take(&mut plan.rows);
        let cell = |row: &Codes, col: Option<&Codes>| {
            let key = (row.clone(), col?.clone());
            plan.at.get(&key).copied()
        };
        let best_first = |value: Option<f64>, metric: Option<Metric>| match (value, metric) {
            (None, _) => f64::INFINITY,
            (Some(v), Some(m)) if m.better() == Better::Lower => v,
            (Some(v), _) => -v,
        };
        match self.view.sort {
            Sort::Appearance => {}
            Sort::Label => rows.sort_by_key(|row| {
                let labels: Vec<String> = (self.projection.rows.iter().zip(row))
                    .map(|(key, code)| natural(&self.label_text(*key, *code)))
                    .collect();
                labels
            }),
            Sort::Value => rows.sort_by(|a, b| {
                let value = |row| {
                    let found = cell(row, plan.cols.first()).map(|i| &self.cells.found[i]);
                    best_first(
                        found.and_then(|f| f.bounds).map(|b| b.1),
                        found.map(|f| self.metric(f)),
                    )
                };
                value(a).total_cmp(&value(b))
            }),
            Sort::Ratio => rows.sort_by(|a, b| {
                let value = |row| {
                    let index = cell(row, plan.cols.last());
                    let ratio = index.and_then(|i| self.ratio(i, self.bases[i]?));
                    best_first(
                        ratio.map(Bounds::value),
                        index.map(|i| self.metric(&self.cells.found[i])),
                    )
                };
                value(a).total_cmp(&value(b))
            }),
        }
        plan.rows = rows;
    }

    fn label_text(&self, key: Key, code: u32) -> String {
        if key == Key::METRIC {
            return self.metric_title(self.metrics[code as usize % self.metrics.len()]);
        }
        key_text(self.frame, key, code).to_owned()
    }

    /// Where both rates are shown, the tool's own says so.
    fn metric_title(&self, metric: Metric) -> String {
        if metric == Metric::Bandwidth && self.metrics.contains(&Metric::WallBandwidth) {
            "bandwidth in the tool's own window".to_owned()
        } else {
            metric.title()
        }
    }

    fn key_pairs(&self, keys: &[Key], codes: &[u32]) -> Vec<(String, String)> {
        (keys.iter().zip(codes))
            .map(|(key, code)| {
                let text = if *key == Key::METRIC {
                    self.metrics[*code as usize % self.metrics.len()].to_string()
                } else {
                    key_text(self.frame, *key, *code).to_owned()
                };
                (key.name().to_owned(), text)
            })
            .collect()
    }

    fn title(&self, plan: &Plan) -> String {
        let mut lead: Vec<String> = Vec::new();
        let mut rest: Vec<String> = Vec::new();
        for key in [Key::DIRECTION, Key::METRIC] {
            if let Some(at) = self.projection.tables.iter().position(|k| *k == key) {
                lead.push(self.label_text(key, plan.table[at]));
            }
        }
        for (key, code) in self.projection.tables.iter().zip(&plan.table) {
            if *key == Key::TEST {
                rest.push(self.label_text(*key, *code));
            } else if *key != Key::DIRECTION && *key != Key::METRIC {
                rest.push(format!("{} {}", key.name(), self.label_text(*key, *code)));
            }
        }
        let lead = lead.join(" ");
        match (lead.is_empty(), rest.is_empty()) {
            (_, true) => lead,
            (true, false) => rest.join(", "),
            (false, false) => format!("{lead}: {}", rest.join(", ")),
        }
    }

    /// A value that needs its key to be understood, as a depth of 32 or a flag, has it.
    fn told_text(&self, key: Key, code: u32) -> String {
        let text = self.label_text(key, code);
        if matches!(key, Key::MACHINE | Key::TEST | Key::METRIC | Key::DIRECTION) {
            return text;
        }
        match text.as_str() {
            UNKNOWN => format!("{} not said", key.name()),
            "" if key.role() == Role::Setting && key.empty_is_off() => format!("no {}", key.name()),
            "" => format!("({} not known)", key.name()),
            text if text.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{}={text}", key.name())
            }
            _ => text,
        }
    }

    fn label(&mut self, keys: &[Key], codes: &[u32], limit: usize) -> Label {
        // A row's keys are named in the header of their column, a column's are not.
        let in_row = limit == ROW_LABEL;
        let texts: Vec<String> = (keys.iter().zip(codes))
            .map(|(key, code)| {
                if in_row {
                    self.label_text(*key, *code)
                } else {
                    self.told_text(*key, *code)
                }
            })
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let full = join_labels(&texts);
        let mut label = Label::plain(full.clone());
        if full.chars().count() > limit {
            label.text = shorten(&full, limit);
            label
                .marks
                .push(self.notes.mark(&format!("in full: {full}")));
        }
        label
    }

    fn grid(&mut self, plan: &Plan) -> Grid {
        let members: Vec<usize> = plan.at.values().copied().collect();
        let units = self.units(&members);
        let repeats = members
            .iter()
            .any(|i| self.cells.found[*i].values.len() > 1);

        let title = self.title(plan);
        let marks = self.table_marks(&members, repeats);
        let (col_marks, row_marks, cell_marks) = self.difference_marks(plan);

        let mut columns: Vec<Column> = Vec::new();
        for (c, col) in plan.cols.iter().enumerate() {
            let cols = self.projection.cols.clone();
            let first = (plan.rows.iter()).find_map(|row| plan.at.get(&(row.clone(), col.clone())));
            let metric = first.map_or(self.metrics[0], |i| self.metric(&self.cells.found[*i]));
            let mut label = match cols.as_slice() {
                // Where nothing else names the column, what it shows does.
                [] => Label::plain(self.metric_title(metric)),
                cols => self.label(cols, col, COLUMN_LABEL),
            };
            for text in &col_marks[c] {
                label.marks.push(self.notes.mark(text));
            }
            let has_ratio = (plan.rows.iter())
                .filter_map(|row| plan.at.get(&(row.clone(), col.clone())))
                .any(|i| self.bases[*i].is_some_and(|base| self.ratio(*i, base).is_some()));
            let mut parts = vec![Part::Value];
            if repeats && self.any_repeats(&members) {
                parts.push(Part::Spread);
            }
            if has_ratio {
                parts.push(Part::Ratio);
                if repeats {
                    parts.push(Part::Evidence);
                }
            }
            let unit = self.unit_of(metric, &units);
            columns.push(Column {
                label,
                keys: self.key_pairs(&cols, col),
                metric: metric.to_string(),
                better: metric.better(),
                unit,
                parts,
                versus: match self.base {
                    Some(Base::Best) => "vs best",
                    _ => "vs base",
                },
            });
        }
        let mut rows: Vec<Row> = Vec::new();
        for (r, row) in plan.rows.iter().enumerate() {
            let keys = self.projection.rows.clone();
            let mut labels: Vec<Label> = Vec::new();
            for (key, code) in keys.iter().zip(row) {
                labels.push(self.label(&[*key], &[*code], ROW_LABEL));
            }
            if let Some(last) = labels.last_mut() {
                for text in &row_marks[r] {
                    last.marks.push(self.notes.mark(text));
                }
            }
            let mut cells = Vec::new();
            for (c, col) in plan.cols.iter().enumerate() {
                let index = plan.at.get(&(row.clone(), col.clone())).copied();
                let base = index.and_then(|i| self.bases[i]);
                let mut cell = self.cell(index, base, &columns[c]);
                for text in cell_marks.get(&(r, c)).into_iter().flatten() {
                    cell.marks.push(self.notes.mark(text));
                }
                cells.push(cell);
            }
            rows.push(Row {
                labels,
                keys: self.key_pairs(&keys, row),
                cells,
                summary: false,
            });
        }
        // A mean over tests says something, one over the machines that are compared does not.
        let over_tests = !self
            .projection
            .across
            .iter()
            .any(|k| self.projection.rows.contains(k));
        if over_tests && let Some(row) = geomean_row(&rows, &columns, self.projection.rows.len()) {
            rows.push(row);
        }
        Grid {
            title,
            keys: self.key_pairs(&self.projection.tables, &plan.table),
            hidden: self.hidden_keys(),
            marks,
            across_rows: !over_tests,
            row_names: self
                .projection
                .rows
                .iter()
                .map(|k| k.name().to_owned())
                .collect(),
            columns,
            rows,
        }
    }

    fn unit_of(&self, metric: Metric, units: &[(Metric, Unit)]) -> Unit {
        let unit = units.iter().find(|(m, _)| *m == metric).map(|(_, u)| *u);
        unit.unwrap_or_else(|| scale::choose(metric.dimension(), &[], std::iter::empty()))
    }

    /// The keys whose differences show by themselves or are of no interest.
    fn shown(&self) -> Vec<Key> {
        (self.cells.keys.iter())
            .chain(&self.view.ignore)
            .copied()
            .collect()
    }

    /// One unit for each metric of a table.
    fn units(&self, members: &[usize]) -> Vec<(Metric, Unit)> {
        let mut out: Vec<(Metric, Unit)> = Vec::new();
        for metric in self.metrics {
            let values = (members.iter())
                .map(|i| &self.cells.found[*i])
                .filter(|f| self.metric(f) == *metric)
                .filter_map(|f| f.bounds.map(|b| b.1));
            let asked = &self.view.units;
            let whole_seconds = matches!(metric, Metric::Flush | Metric::Runtime | Metric::Wall);
            let unit = if whole_seconds && !asked.iter().any(|u| u.dimension == metric.dimension())
            {
                scale::choose(metric.dimension(), &[], std::iter::empty())
            } else {
                scale::choose(metric.dimension(), asked, values)
            };
            out.push((*metric, unit));
        }
        out
    }
}
