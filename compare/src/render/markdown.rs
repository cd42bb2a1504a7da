//! GitHub-flavoured Markdown tables.
//!
//! Own writer: comfy-table's Markdown preset escapes no `|` and knows no alignment. The output
//! depends on the report only, never on a terminal, so it can be kept under version control.

use crate::grid::{Grid, Label, Report, marks_text};

/// All tables of a report as Markdown, notes below.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    for grid in &report.grids {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&table(grid));
    }
    for (number, note) in report.notes.iter().enumerate() {
        // A blank line between notes keeps each a paragraph of its own.
        out.push_str(&format!("\n[{}] {}\n", number + 1, escape(note)));
    }
    out
}

fn table(grid: &Grid) -> String {
    let mut heads: Vec<String> = grid.row_names.iter().map(|n| escape(n)).collect();
    let mut rule: Vec<&str> = vec!["---"; heads.len()];
    for column in &grid.columns {
        for (i, part) in column.parts.iter().enumerate() {
            let heading = escape(column.heading(*part));
            // The first part carries the column's name.
            heads.push(if i == 0 {
                format!("{} ({heading})", label(&column.label))
            } else {
                heading
            });
            rule.push("---:");
        }
    }
    let mut out = format!("**{}**", escape(&grid.title));
    if !grid.marks.is_empty() {
        out.push(' ');
        out.push_str(&marks_text(&grid.marks));
    }
    out.push_str("\n\n");
    out.push_str(&line(&heads));
    out.push_str(&line(&rule));
    for row in &grid.rows {
        let mut cells: Vec<String> = row.labels.iter().map(label).collect();
        for (column, cell) in grid.columns.iter().zip(&row.cells) {
            for (i, part) in column.parts.iter().enumerate() {
                let mut text = escape(cell.text(column, *part));
                if i + 1 == column.parts.len() && !cell.marks.is_empty() {
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(&marks_text(&cell.marks));
                }
                cells.push(text);
            }
        }
        out.push_str(&line(&cells));
    }
    out
}

fn label(label: &Label) -> String {
    let marks = marks_text(&label.marks);
    let space = if marks.is_empty() { "" } else { " " };
    format!("{}{space}{marks}", escape(&label.text))
}

fn line<S: AsRef<str>>(cells: &[S]) -> String {
    let cells: Vec<&str> = cells.iter().map(S::as_ref).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Escapes what Markdown or the HTML inside it would take for markup, and joins lines.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '#' => {
                // A lone tilde stands for "no difference" and is shown as it is.
                if !(c == '~' && text.len() == 1) {
                    out.push('\\');
                }
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}
