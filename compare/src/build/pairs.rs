//! Each with each: a matrix for what is compared, a row and a column for each.

use super::words::shorten;
use super::{Builder, COLUMN_LABEL, Plan, ROW_LABEL};
use crate::grid::{Column, Grid, Label, Part, Row, State};
use crate::residue::Residue;

impl Builder<'_> {
    /// The matrix of a table whose rows are what is compared: the value, then the ratio to each.
    pub(super) fn pairs(&mut self, plan: &Plan) -> Grid {
        let members: Vec<usize> = (plan.rows.iter())
            .flat_map(|row| plan.cols.iter().map(move |col| (row.clone(), col.clone())))
            .filter_map(|place| plan.at.get(&place).copied())
            .collect();
        let units = self.units(&members);
        let repeats = members
            .iter()
            .any(|i| self.cells.found[*i].values.len() > 1);
        let spreads = self.any_repeats(&members);
        let residue = Residue::new(self.frame, &self.shown());
        let metric = members
            .first()
            .map_or(self.metrics[0], |i| self.metric(&self.cells.found[*i]));
        let unit = self.unit_of(metric, &units);
        let column = |label: Label, parts: &[Part], extra: Part| Column {
            label,
            keys: Vec::new(),
            metric: metric.to_string(),
            better: metric.better(),
            unit,
            parts: (parts.iter().copied())
                .chain((repeats && (extra != Part::Spread || spreads)).then_some(extra))
                .collect(),
            versus: "ratio",
        };
        let mut columns = vec![column(
            Label::plain(self.metric_title(metric)),
            &[Part::Value],
            Part::Spread,
        )];
        for index in &members {
            let full = format!("over {}", self.name(*index));
            let mut label = Label::plain(full.clone());
            label.text = shorten(&full, COLUMN_LABEL);
            columns.push(column(label, &[Part::Ratio], Part::Evidence));
        }
        let marks = self.table_marks(&members, repeats);
        let mut rows = Vec::new();
        for index in &members {
            let codes = self.codes(&self.cells.found[*index], &self.projection.rows);
            let keys = self.projection.rows.clone();
            let mut labels: Vec<Label> = Vec::new();
            for (key, code) in keys.iter().zip(&codes) {
                labels.push(self.label(&[*key], &[*code], ROW_LABEL));
            }
            let own = self.cell_notes(*index, &residue);
            if let Some(last) = labels.last_mut() {
                last.marks
                    .extend(own.iter().map(|text| self.notes.mark(text)));
            }
            let mut cells = vec![self.cell(Some(*index), None, &columns[0])];
            for (column, base) in columns[1..].iter().zip(&members) {
                let mut cell = self.cell(Some(*index), Some(*base), column);
                // The value stands once, in its own column.
                cell.value = None;
                cell.interval = None;
                if cell.state == State::Value {
                    cell.state = State::Compared;
                }
                let notes = self.notes_against(*index, *base, &residue);
                cell.marks = notes.iter().map(|text| self.notes.mark(text)).collect();
                cells.push(cell);
            }
            rows.push(Row {
                labels,
                keys: self.key_pairs(&keys, &codes),
                cells,
                summary: false,
            });
        }
        Grid {
            title: self.title(plan),
            keys: self.key_pairs(&self.projection.tables, &plan.table),
            marks,
            hidden: Vec::new(),
            across_rows: true,
            row_names: (self.projection.rows.iter())
                .map(|k| k.name().to_owned())
                .collect(),
            columns,
            rows,
        }
    }
}
