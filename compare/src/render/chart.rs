//! Bars: what is compared with each other, as groups that share a scale.
//!
//! A group is one test (or one metric of one test) over all machines. Groups do not share a scale:
//! 4 KiB random writes and 1 MiB streams on one axis would leave nothing of the first. Used by the
//! terminal ([`super::bars`]) and the page ([`super::html`]).

use crate::grid::{Cell, Column, Grid, Label, Part, State};

/// Bars that are compared with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<'a> {
    /// The test, or the column of a turned table.
    pub title: Label,
    /// The unit of all values.
    pub unit: &'a str,
    /// The bars.
    pub bars: Vec<Bar<'a>>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar<'a> {
    /// Whose it is.
    pub label: Label,
    /// Which column or row it is of, for its colour.
    pub series: usize,
    /// The value as the table prints it, or why there is none.
    pub text: &'a str,
    /// The ratio as the table prints it.
    pub ratio: &'a str,
    /// Length as a share of the group's longest end; none if there is no value.
    pub share: Option<f64>,
    /// Ends of the error bar as shares: the median's interval, where repeats allow one.
    pub error: Option<(f64, f64)>,
}

/// The groups of a table; summary rows left out.
pub fn groups(grid: &Grid) -> Vec<Group<'_>> {
    let rows = || grid.rows.iter().filter(|row| !row.summary);
    let mut out = Vec::new();
    if grid.across_rows {
        for (c, column) in grid.columns.iter().enumerate() {
            let cells: Vec<(Label, &Cell)> = rows()
                .filter_map(|row| Some((joined(&row.labels), row.cells.get(c)?)))
                .collect();
            out.extend(group(column.label.clone(), column, cells));
        }
        return out;
    }
    for row in rows() {
        // One metric a group: columns of different metrics are not compared.
        let mut metrics: Vec<&str> = Vec::new();
        for column in &grid.columns {
            if !metrics.contains(&column.metric.as_str()) {
                metrics.push(&column.metric);
            }
        }
        for metric in metrics {
            let of_metric: Vec<(&Column, &Cell)> = (grid.columns.iter().zip(&row.cells))
                .filter(|(column, _)| column.metric == metric)
                .collect();
            let cells: Vec<(Label, &Cell)> = (of_metric.iter())
                .map(|(column, cell)| (column.label.clone(), *cell))
                .collect();
            if let Some((column, _)) = of_metric.first() {
                out.extend(group(joined(&row.labels), column, cells));
            }
        }
    }
    out
}

/// What a row is called: all its labels.
fn joined(labels: &[Label]) -> Label {
    let all = |text: fn(&Label) -> &str| {
        let texts: Vec<&str> = labels.iter().map(text).filter(|t| !t.is_empty()).collect();
        texts.join(", ")
    };
    Label {
        text: all(|label| &label.text),
        full: all(|label| &label.full),
        marks: Vec::new(),
    }
}

fn group<'a>(title: Label, column: &'a Column, cells: Vec<(Label, &'a Cell)>) -> Option<Group<'a>> {
    let end = |cell: &Cell| {
        let top = cell.interval.map_or(0.0, |i| i.1);
        cell.value.map(|v| v.value().max(top))
    };
    let longest = cells.iter().filter_map(|(_, c)| end(c)).fold(0.0, f64::max);
    if longest <= 0.0 {
        return None;
    }
    let bars = cells.into_iter().enumerate();
    let bars = bars.map(|(series, (label, cell))| Bar {
        label,
        series,
        text: match cell.state {
            State::Missing => "no result",
            _ => cell.text(column, Part::Value),
        },
        ratio: cell.text(column, Part::Ratio),
        share: cell.value.map(|v| v.value() / longest),
        error: cell.interval.map(|(lo, hi)| (lo / longest, hi / longest)),
    });
    Some(Group {
        title,
        unit: column.unit.name,
        bars: bars.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::samples::report;

    #[test]
    fn all_labels_of_a_row_name_its_bars() {
        let mut report = report();
        let grid = &mut report.grids[0];
        for row in &mut grid.rows {
            row.labels.insert(0, Label::plain("libaio"));
        }
        assert_eq!(groups(grid)[0].title.text, "libaio, 4k random");
        grid.across_rows = true;
        let groups = groups(grid);
        assert_eq!(groups[0].title.text, "Old | box");
        assert_eq!(groups[0].bars[1].label.text, "libaio, 1m random*");
    }
}
