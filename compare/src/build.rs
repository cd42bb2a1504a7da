//! From cells to a report: order, texts, ratios, marks.
//!
//! Place: after the pipeline of [`crate::query`], before the writers. Long rows become a grid only
//! here; numbers become texts only here, in one unit a column and with the digits they have earned.

use std::collections::HashMap;

use crate::bounds::Bounds;
use crate::derive::How;
use crate::digits;
use crate::frame::Frame;
use crate::grid::{Cell, Column, Grid, Label, Part, Report, Row, State, Verdict};
use crate::keys::Key;
use crate::metric::{Better, Metric};
use crate::query::{self, Cells, Found};
use crate::residue::Residue;
use crate::scale::{self, Unit};
use crate::stats;
use crate::view::{Projection, Shape, Sort, View};

/// Longest label of a column, and of a row, before it is shortened.
const COLUMN_LABEL: usize = 40;
const ROW_LABEL: usize = 110;

/// A comparison that can't be made as asked.
#[derive(Debug)]
pub enum Error {
    /// The request: no such base, no such metric in the data.
    Request(String),
    /// The pipeline failed; a bug or a lack of memory.
    Pipeline(polars::prelude::PolarsError),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Request(message) => f.write_str(message),
            Error::Pipeline(error) => {
                // polars adds the whole plan below the first line.
                let text = error.to_string();
                write!(
                    f,
                    "the table could not be computed: {}",
                    text.lines().next().unwrap_or("")
                )
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<polars::prelude::PolarsError> for Error {
    fn from(error: polars::prelude::PolarsError) -> Error {
        Error::Pipeline(error)
    }
}

/// The metrics looked at when none is asked for: the wall clock first where there is one, since
/// it alone holds the sync after the tool.
pub const DEFAULT_METRICS: &[Metric] = &[Metric::WallBandwidth, Metric::Bandwidth];

/// Makes the report that a view asks for.
pub fn report(frame: &Frame, view: &View) -> Result<Report, Error> {
    let asked = view.metrics.as_deref().unwrap_or(DEFAULT_METRICS);
    let metrics = query::present(frame, asked)?;
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
        metrics: metrics.len(),
    };
    let projection = view.project(shape);
    let base = choose_base(frame, view, &metrics, &projection)?;
    let cells = query::cells(
        frame,
        &metrics,
        &projection,
        base.as_ref().map(|b| b.codes.as_slice()),
        view.force,
    )?;
    Ok(Builder::new(frame, view, &metrics, &projection, base, cells).build())
}

/// How many values of a key occur.
fn used(frame: &Frame, key: Key) -> usize {
    (frame.key_texts.iter())
        .find(|(k, _)| *k == key)
        .map_or(0, |(_, texts)| texts.len())
}

/// What others are compared with.
struct Base {
    /// Codes of the keys compared across.
    codes: Vec<u32>,
    /// Its label.
    name: String,
}

fn choose_base(
    frame: &Frame,
    view: &View,
    metrics: &[Metric],
    projection: &Projection,
) -> Result<Option<Base>, Error> {
    if projection.across.is_empty() {
        return match &view.base {
            None => Ok(None),
            Some(base) => Err(Error::Request(format!(
                "there is nothing to compare with `{base}`: only one column of values"
            ))),
        };
    }
    let all = query::cells(frame, metrics, projection, None, view.force)?;
    let at: Vec<usize> = (projection.across.iter())
        .filter_map(|key| all.keys.iter().position(|k| k == key))
        .collect();
    let mut candidates: Vec<Vec<u32>> = Vec::new();
    for found in &all.found {
        let codes: Vec<u32> = at.iter().map(|i| found.codes[*i]).collect();
        if !candidates.contains(&codes) {
            candidates.push(codes);
        }
    }
    candidates.sort();
    let name = |codes: &[u32]| {
        let texts: Vec<&str> = (projection.across.iter().zip(codes))
            .map(|(key, code)| key_text(frame, *key, *code))
            .collect();
        join_labels(&texts)
    };
    let chosen = match &view.base {
        None => candidates.first().cloned(),
        Some(wanted) => {
            let lower = wanted.to_lowercase();
            let exact: Vec<&Vec<u32>> = candidates.iter().filter(|c| name(c) == *wanted).collect();
            let close: Vec<&Vec<u32>> = (candidates.iter())
                .filter(|c| name(c).to_lowercase().contains(&lower))
                .collect();
            match (exact.as_slice(), close.as_slice()) {
                ([one], _) | ([], [one]) => Some((*one).clone()),
                (_, many) => {
                    let found = if many.is_empty() { "none" } else { "several" };
                    let names: Vec<String> = candidates
                        .iter()
                        .map(|c| format!("`{}`", name(c)))
                        .collect();
                    return Err(Error::Request(format!(
                        "expected --base to name one of {}; `{wanted}` fits {found}",
                        names.join(", ")
                    )));
                }
            }
        }
    };
    // A single candidate has nothing to be compared with.
    Ok(chosen.filter(|_| candidates.len() > 1).map(|codes| Base {
        name: name(&codes),
        codes,
    }))
}

fn key_text(frame: &Frame, key: Key, code: u32) -> &str {
    (frame.key_texts.iter())
        .find(|(k, _)| *k == key)
        .and_then(|(_, texts)| texts.get(code as usize))
        .map_or("", String::as_str)
}

fn join_labels(texts: &[&str]) -> String {
    let texts: Vec<&str> = texts.iter().copied().filter(|t| !t.is_empty()).collect();
    if texts.is_empty() {
        "(none)".to_owned()
    } else {
        texts.join(", ")
    }
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
    p_values: HashMap<usize, f64>,
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
        Builder {
            frame,
            view,
            metrics,
            projection,
            base,
            cells,
            p_values: HashMap::new(),
            notes: Notes::default(),
        }
    }

    fn build(mut self) -> Report {
        self.compare_samples();
        let grids = self.plans().iter().map(|plan| self.grid(plan)).collect();
        Report {
            grids,
            notes: self.notes.texts,
        }
    }

    /// Mann-Whitney p of every cell with repeats against its base, corrected if asked for.
    fn compare_samples(&mut self) {
        let mut tested: Vec<(usize, f64)> = Vec::new();
        for index in 0..self.cells.found.len() {
            let Some(base) = self.base_cell(index) else {
                continue;
            };
            let (mine, theirs) = (
                &self.cells.found[index].values,
                &self.cells.found[base].values,
            );
            if index != base
                && mine.len() > 1
                && theirs.len() > 1
                && let Some(comparison) = stats::compare(mine, theirs)
            {
                tested.push((index, comparison.p));
            }
        }
        let mut p_values: Vec<f64> = tested.iter().map(|(_, p)| *p).collect();
        if self.view.holm {
            p_values = stats::holm(&p_values);
        }
        self.p_values = tested.into_iter().map(|(i, _)| i).zip(p_values).collect();
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

    /// The cell that a cell is compared with, itself if it is the base.
    fn base_cell(&self, index: usize) -> Option<usize> {
        let base = self.base.as_ref()?;
        let found = &self.cells.found[index];
        let mut wanted = found.codes.clone();
        for (key, code) in self.projection.across.iter().zip(&base.codes) {
            let at = self.cells.keys.iter().position(|k| k == key)?;
            wanted[at] = *code;
        }
        self.cells.found.iter().position(|f| f.codes == wanted)
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
            plan.at.get(&key).map(|i| &self.cells.found[*i])
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
                    let found = cell(row, plan.cols.first());
                    best_first(
                        found.and_then(|f| f.bounds).map(|b| b.1),
                        found.map(|f| self.metric(f)),
                    )
                };
                value(a).total_cmp(&value(b))
            }),
            Sort::Ratio => rows.sort_by(|a, b| {
                let value = |row| {
                    let found = cell(row, plan.cols.last());
                    best_first(
                        found.and_then(|f| f.ratio).map(|r| r.1),
                        found.map(|f| self.metric(f)),
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

    fn pairs(&self, keys: &[Key], codes: &[u32]) -> Vec<(String, String)> {
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

    fn label(&mut self, keys: &[Key], codes: &[u32], limit: usize) -> Label {
        let texts: Vec<String> = (keys.iter().zip(codes))
            .map(|(key, code)| self.label_text(*key, *code))
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
            let mut label = self.label(&cols, col, COLUMN_LABEL);
            for text in &col_marks[c] {
                label.marks.push(self.notes.mark(text));
            }
            let first = (plan.rows.iter()).find_map(|row| plan.at.get(&(row.clone(), col.clone())));
            let metric = first.map_or(self.metrics[0], |i| self.metric(&self.cells.found[*i]));
            let has_ratio = (plan.rows.iter())
                .filter_map(|row| plan.at.get(&(row.clone(), col.clone())))
                .any(|i| self.cells.found[*i].ratio.is_some());
            let mut parts = vec![Part::Value];
            if repeats {
                parts.push(Part::Spread);
            }
            if has_ratio {
                parts.push(Part::Ratio);
                if repeats {
                    parts.push(Part::Evidence);
                }
            }
            let unit = units.iter().find(|(m, _)| *m == metric).map(|(_, u)| *u);
            columns.push(Column {
                label,
                keys: self.pairs(&cols, col),
                metric: metric.to_string(),
                better: metric.better(),
                unit: unit
                    .unwrap_or_else(|| scale::choose(metric.dimension(), &[], std::iter::empty())),
                parts,
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
                let mut cell = self.cell(index, &columns[c]);
                for text in cell_marks.get(&(r, c)).into_iter().flatten() {
                    cell.marks.push(self.notes.mark(text));
                }
                cells.push(cell);
            }
            rows.push(Row {
                labels,
                keys: self.pairs(&keys, row),
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
            keys: self.pairs(&self.projection.tables, &plan.table),
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

    /// Notes that bear on the whole table.
    fn table_marks(&mut self, members: &[usize], repeats: bool) -> Vec<usize> {
        let mut texts: Vec<String> = Vec::new();
        for metric in self.metrics {
            let of_metric: Vec<&Found> = (members.iter())
                .map(|i| &self.cells.found[*i])
                .filter(|f| self.metric(f) == *metric && f.bounds.is_some())
                .collect();
            let any = |how: How| of_metric.iter().any(|f| f.how == how.code());
            match metric {
                Metric::Flush if any(How::Inferred) => texts.push(
                    "inferred: the I/O phase is taken to have lasted the time asked for by --runtime, \
                     the rest of the run time to be the flush at its end; to a tenth of a second"
                        .into(),
                ),
                Metric::WriteBandwidth if any(How::Inferred) => texts.push(
                    "inferred: bytes over the time asked for by --runtime, which leaves the flush at \
                     the end out"
                        .into(),
                ),
                Metric::Iops if any(How::Derived) => {
                    texts.push("IOPS derived: bandwidth over block size".into());
                }
                Metric::WallBandwidth if !of_metric.is_empty() => {
                    if let Some(text) = self.covers(&of_metric) {
                        texts.push(text);
                    }
                }
                _ => {}
            }
        }
        if self.base.is_some() && !repeats && members.len() > 1 {
            texts.push("one run each: the ratios say nothing about noise".into());
        }
        if repeats {
            texts.extend(self.repeat_notes(members));
        }
        texts.iter().map(|t| self.notes.mark(t)).collect()
    }

    /// What the wall clock covers beyond the tool.
    fn covers(&self, of_metric: &[&Found]) -> Option<String> {
        let mut covers: Vec<&str> = (of_metric.iter())
            .flat_map(|f| [f.basis.0, f.basis.1])
            .filter_map(|code| self.frame.texts.get(code as usize))
            .map(String::as_str)
            .collect();
        covers.sort_unstable();
        covers.dedup();
        match covers.as_slice() {
            ["run-and-sync"] => Some(
                "the rate by wall clock includes the final sync, which the shell timed too; the \
                 tool's own window excludes it"
                    .into(),
            ),
            ["run"] => Some("the rate by wall clock includes starting and ending the tool".into()),
            [] | [""] => None,
            many => {
                let names: Vec<String> = many.iter().map(|c| covers_words(c)).collect();
                Some(format!(
                    "the rate by wall clock covers {}",
                    names.join(", or ")
                ))
            }
        }
    }

    fn repeat_notes(&self, members: &[usize]) -> Vec<String> {
        let mut texts = Vec::new();
        let percent =
            |share: f64| digits::format(Bounds::exact(share * 100.0).unwrap_or(Bounds::ZERO));
        let sizes: Vec<usize> = members
            .iter()
            .map(|i| self.cells.found[*i].values.len())
            .collect();
        if let Some(need) = stats::samples_for_interval(self.view.confidence)
            && sizes.iter().any(|n| *n > 0 && *n < need)
        {
            texts.push(format!(
                "± is half the {}% interval of the median; it takes at least {need} runs, ∞ means fewer",
                whole(&percent(self.view.confidence))
            ));
        }
        if let Some(need) = stats::samples_for_difference(self.view.alpha)
            && self.base.is_some()
            && sizes.iter().any(|n| *n > 0 && *n < need)
        {
            texts.push(format!(
                "a difference at the {}% level takes at least {need} runs on both sides; below that \
                 the ratio alone says nothing about chance",
                whole(&percent(self.view.alpha))
            ));
        }
        if self.view.holm && !self.p_values.is_empty() {
            texts.push(format!(
                "p corrected for {} comparisons (Holm)",
                self.p_values.len()
            ));
        }
        texts
    }

    /// Notes of cells, moved to the row or column label where a whole row or column has them.
    #[expect(
        clippy::type_complexity,
        reason = "three local lists that are used at once"
    )]
    fn difference_marks(
        &self,
        plan: &Plan,
    ) -> (
        Vec<Vec<String>>,
        Vec<Vec<String>>,
        HashMap<(usize, usize), Vec<String>>,
    ) {
        let mut shown: Vec<Key> = self.cells.keys.clone();
        shown.extend(&self.view.ignore);
        let residue = Residue::new(self.frame, &shown);
        let mut texts: HashMap<(usize, usize), Vec<String>> = HashMap::new();
        for (r, row) in plan.rows.iter().enumerate() {
            for (c, col) in plan.cols.iter().enumerate() {
                if let Some(index) = plan.at.get(&(row.clone(), col.clone())) {
                    texts.insert((r, c), self.cell_notes(*index, &residue));
                }
            }
        }
        let mut by_col: Vec<Vec<String>> = vec![Vec::new(); plan.cols.len()];
        let mut by_row: Vec<Vec<String>> = vec![Vec::new(); plan.rows.len()];
        let all_of = |members: &[&Vec<String>]| -> Vec<String> {
            // One cell alone is no column to speak of.
            let Some((first, rest)) = members.split_first() else {
                return Vec::new();
            };
            (first.iter())
                .filter(|text| rest.iter().all(|t| t.contains(text)))
                .cloned()
                .collect()
        };
        let along_cols = !self
            .projection
            .across
            .iter()
            .any(|k| self.projection.rows.contains(k));
        if along_cols {
            for (c, marks) in by_col.iter_mut().enumerate() {
                let members: Vec<&Vec<String>> = (0..plan.rows.len())
                    .filter_map(|r| texts.get(&(r, c)))
                    .collect();
                if members.len() > 1 {
                    *marks = all_of(&members);
                }
            }
        } else {
            for (r, marks) in by_row.iter_mut().enumerate() {
                let members: Vec<&Vec<String>> = (0..plan.cols.len())
                    .filter_map(|c| texts.get(&(r, c)))
                    .collect();
                *marks = all_of(&members);
            }
        }
        for ((r, c), list) in &mut texts {
            list.retain(|text| !by_col[*c].contains(text) && !by_row[*r].contains(text));
        }
        (by_col, by_row, texts)
    }

    /// Everything there is to say of one cell.
    fn cell_notes(&self, index: usize, residue: &Residue) -> Vec<String> {
        let found = &self.cells.found[index];
        let mut texts: Vec<String> = Vec::new();
        let mut add = |text: String| {
            if !texts.contains(&text) {
                texts.push(text);
            }
        };
        if let Some(text) = residue.within(&found.settings) {
            add(text);
        }
        if let (Some(base), Some(base_cell)) = (&self.base, self.base_cell(index)) {
            let theirs = &self.cells.found[base_cell];
            if let Some(text) = residue.against(
                &found.settings,
                &theirs.settings,
                &shorten(&base.name, COLUMN_LABEL),
            ) {
                add(text);
            }
            if found.basis != theirs.basis
                && !self.view.force
                && index != base_cell
                && theirs.bounds.is_some()
            {
                let words = |code: u32| {
                    covers_words(
                        self.frame
                            .texts
                            .get(code as usize)
                            .map_or("", String::as_str),
                    )
                };
                add(format!(
                    "not divided by the base: its time covers {}, the base's {} (--force divides all the same)",
                    words(found.basis.0),
                    words(theirs.basis.0)
                ));
            }
        }
        for set in &found.notes {
            for note in self
                .frame
                .note_sets
                .get(*set as usize)
                .into_iter()
                .flatten()
            {
                if let Some(note) = self.frame.notes.get(*note as usize) {
                    add(note.text.clone());
                }
            }
        }
        if found.failed > 0 && !found.values.is_empty() {
            add(format!(
                "{} of {} runs failed and are left out",
                found.failed,
                found.failed + found.values.len()
            ));
        }
        if found.parts > 1 {
            add(format!(
                "up to {} jobs of one run report apart; they are one sample, whose bounds span them all",
                found.parts
            ));
        }
        let mut sorted = found.values.clone();
        sorted.sort_by(f64::total_cmp);
        let shape = stats::shape(&sorted);
        if shape.two_groups {
            add("the runs fall into two groups; a median of both misleads".into());
        } else if shape.outliers > 0 {
            add(format!(
                "{} of {} runs lie far outside the others",
                shape.outliers,
                sorted.len()
            ));
        }
        texts
    }

    fn cell(&self, index: Option<usize>, column: &Column) -> Cell {
        let empty = |text: &str, state: State| Cell {
            state,
            texts: (column.parts.iter())
                .map(|p| {
                    if *p == Part::Value {
                        text.to_owned()
                    } else {
                        String::new()
                    }
                })
                .collect(),
            ..Cell::default()
        };
        let Some(index) = index else {
            return empty("-", State::Missing);
        };
        let found = &self.cells.found[index];
        let Some(value) = found
            .bounds
            .and_then(|(lo, v, hi)| Bounds::new(lo, v.clamp(lo, hi), hi))
        else {
            return empty(
                if found.failed > 0 { "failed" } else { "-" },
                if found.failed > 0 {
                    State::Failed
                } else {
                    State::Missing
                },
            );
        };
        let mut sorted = found.values.clone();
        sorted.sort_by(f64::total_cmp);
        let interval =
            stats::median_interval(&sorted, self.view.confidence).filter(|_| sorted.len() > 1);
        let ratio = found
            .ratio
            .and_then(|(lo, r, hi)| Bounds::new(lo, r.clamp(lo, hi), hi));
        let base_index = self.base_cell(index);
        let is_base = base_index == Some(index);
        let p = self.p_values.get(&index).copied();
        let verdict = match ratio {
            Some(ratio) if !is_base => self.verdict(ratio, p, self.metric(found)),
            _ => Verdict::None,
        };
        let text = |part: &Part| match part {
            Part::Value => digits::format(value.times(1.0 / column.unit.factor)),
            Part::Spread => interval.map_or(String::new(), |i| {
                if i.lo.is_infinite() || i.hi.is_infinite() {
                    "∞".to_owned()
                } else if i.median > 0.0 {
                    let wide = (i.hi / i.median - 1.0).max(1.0 - i.lo / i.median);
                    format!("{:.0}%", wide * 100.0)
                } else {
                    String::new()
                }
            }),
            Part::Ratio => match (ratio, verdict) {
                (None, _) => String::new(),
                (Some(_), Verdict::Same) => "~".to_owned(),
                (Some(ratio), _) => format!("{}x", digits::format(ratio)),
            },
            Part::Evidence => match base_index {
                _ if is_base || ratio.is_none() => String::new(),
                Some(base) => {
                    let (mine, theirs) = (found.values.len(), self.cells.found[base].values.len());
                    let n = if mine == theirs {
                        format!("n={mine}")
                    } else {
                        format!("n={theirs}+{mine}")
                    };
                    p.map_or(n.clone(), |p| format!("p={p:.3} {n}"))
                }
                None => String::new(),
            },
        };
        Cell {
            state: State::Value,
            texts: column.parts.iter().map(text).collect(),
            marks: Vec::new(),
            value: Some(value),
            n: found.values.len(),
            interval: interval
                .filter(|i| i.lo.is_finite() && i.hi.is_finite())
                .map(|i| (i.lo, i.hi)),
            ratio,
            base: self
                .base
                .as_ref()
                .filter(|_| ratio.is_some())
                .map(|b| b.name.clone()),
            p,
            verdict,
        }
    }

    /// Better or worse only beyond the bounds and, where there are repeats, beyond chance.
    fn verdict(&self, ratio: Bounds, p: Option<f64>, metric: Metric) -> Verdict {
        let by_chance = p.is_some_and(|p| p > self.view.alpha);
        if by_chance || (ratio.lo() <= 1.0 && ratio.hi() >= 1.0) {
            return Verdict::Same;
        }
        match (metric.better(), ratio.lo() > 1.0) {
            (Better::Neither, _) => Verdict::None,
            (Better::Higher, true) | (Better::Lower, false) => Verdict::Better,
            (Better::Higher, false) | (Better::Lower, true) => Verdict::Worse,
        }
    }
}

/// The geometric mean of each column's ratios over the rows in which every column has one. None
/// for fewer than two such rows.
fn geomean_row(rows: &[Row], columns: &[Column], labels: usize) -> Option<Row> {
    let compared: Vec<usize> = (0..columns.len())
        .filter(|c| columns[*c].parts.contains(&Part::Ratio))
        .collect();
    let shared: Vec<&Row> = (rows.iter())
        .filter(|row| compared.iter().all(|c| row.cells[*c].ratio.is_some()))
        .collect();
    if compared.is_empty() || shared.len() < 2 || compared.len() < 2 {
        return None;
    }
    let cells = (columns.iter().enumerate())
        .map(|(c, column)| {
            let ratios: Vec<Bounds> = shared.iter().filter_map(|row| row.cells[c].ratio).collect();
            let mean = |end: fn(Bounds) -> f64| {
                stats::geomean(&ratios.iter().map(|r| end(*r)).collect::<Vec<f64>>())
            };
            let bounds = match (mean(Bounds::lo), mean(Bounds::value), mean(Bounds::hi)) {
                (Some(lo), Some(value), Some(hi)) => Bounds::new(lo, value.clamp(lo, hi), hi),
                _ => None,
            };
            let ratio = bounds.filter(|_| compared.contains(&c));
            Cell {
                state: State::Summary,
                texts: (column.parts.iter())
                    .map(|part| match (part, ratio) {
                        (Part::Ratio, Some(ratio)) => format!("{}x", digits::format(ratio)),
                        _ => String::new(),
                    })
                    .collect(),
                n: shared.len(),
                ratio,
                ..Cell::default()
            }
        })
        .collect();
    let mut texts = vec![Label::plain(format!("geomean of {} rows", shared.len()))];
    texts.resize(labels.max(1), Label::default());
    Some(Row {
        labels: texts,
        keys: Vec::new(),
        cells,
        summary: true,
    })
}

fn covers_words(code: &str) -> String {
    match code {
        "run" => "the tool alone".into(),
        "run-and-sync" => "the tool and the sync after it".into(),
        "sync-and-run" => "a sync and the tool".into(),
        "pipeline" => "a pipeline".into(),
        "run-and-more" => "more than the tool".into(),
        _ => "what can't be told".into(),
    }
}

/// Cut at a word near the limit, with an ellipsis.
fn shorten(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let cut: String = text.chars().take(limit.saturating_sub(1)).collect();
    let at_word = cut
        .rfind(' ')
        .filter(|i| *i > limit / 2)
        .map_or(cut.as_str(), |i| &cut[..i]);
    format!("{}…", at_word.trim_end_matches([' ', ',', '.', ';']))
}

/// Digits padded, so that `4k` comes before `16k` and `randwrite bs=4k` likewise.
fn natural(text: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            let power = match c {
                'k' | 'K' => 3,
                'm' | 'M' => 6,
                'g' | 'G' => 9,
                't' | 'T' => 12,
                _ => 0,
            };
            out.push_str(&format!(
                "{:0>24}",
                format!("{digits}{}", "0".repeat(power))
            ));
            digits.clear();
        }
        out.push(c);
    }
    out
}

fn whole(text: &str) -> String {
    match text.split_once('.') {
        Some((whole, rest)) if rest.bytes().all(|b| b == b'0') => whole.to_owned(),
        _ => text.to_owned(),
    }
}
