//! A report in ASCII, for terminals and tools that know nothing else.
//!
//! Texts are spelt out before a table is laid out, since some get longer: `±` is two letters.

use crate::grid::{Label, Report};

/// The report with every text that the table and the bars print in ASCII.
pub fn report(report: &Report) -> Report {
    let mut report = report.clone();
    let of_label = |label: &mut Label| {
        label.text = text(&label.text);
        label.full = text(&label.full);
    };
    for grid in &mut report.grids {
        grid.title = text(&grid.title);
        grid.row_names
            .iter_mut()
            .for_each(|name| *name = text(name));
        for column in &mut grid.columns {
            of_label(&mut column.label);
        }
        for row in &mut grid.rows {
            row.labels.iter_mut().for_each(of_label);
            let cells = row.cells.iter_mut().flat_map(|cell| &mut cell.texts);
            cells.for_each(|of_cell| *of_cell = text(of_cell));
        }
    }
    report.notes.iter_mut().for_each(|note| *note = text(note));
    report
}

/// The few signs we print ourselves are spelt out, other characters (in labels) become `?`.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '±' => out.push_str("+-"),
            '∞' => out.push_str("inf"),
            '…' => out.push_str(".."),
            '–' | '—' => out.push('-'),
            '‘' | '’' => out.push('\''),
            '“' | '”' => out.push('"'),
            '\u{a0}' => out.push(' '),
            c if c.is_ascii() => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}
