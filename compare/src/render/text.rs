//! Tables for a terminal, drawn with comfy-table.
//!
//! All parts of a cell share one table column, so that a machine's name spans them. Where the
//! columns do not fit the width, the table is cut into panels that repeat the row labels; nothing
//! is ever cut off. Colour marks what is better or worse than the base and is used only when
//! asked for.

use comfy_table::{Attribute, Cell as TableCell, CellAlignment, Color, ContentArrangement, Table};
use comfy_table::{TableStyle, presets};

use std::borrow::Cow;

use super::{ascii, wrap};
use crate::grid::{Column, Grid, Label, Part, Report, Row, Verdict, marks_text};

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// Only ASCII characters for lines.
    pub ascii: bool,
    /// ANSI colours.
    pub color: bool,
}

impl Style {
    /// The report in the characters there are.
    pub(super) fn spelt(self, report: &Report) -> Cow<'_, Report> {
        if self.ascii {
            Cow::Owned(ascii::report(report))
        } else {
            Cow::Borrowed(report)
        }
    }

    /// What stands for the end of a text that is cut.
    pub(super) fn ellipsis(self) -> &'static str {
        if self.ascii { ".." } else { "…" }
    }

    fn heading(self, column: &Column, part: Part) -> &str {
        match part {
            Part::Spread if self.ascii => "+-",
            part => column.heading(part),
        }
    }
}

impl Default for Style {
    fn default() -> Style {
        Style {
            width: 100,
            ascii: false,
            color: false,
        }
    }
}

const LINES: TableStyle = presets::UTF8_FULL_CONDENSED.with_rounded_corners();
/// A border or separator with its two spaces.
const SEPARATOR: usize = 3;
/// Between two parts of a cell.
const GAP: &str = "  ";
/// Row labels are wrapped beyond this even where there is room, to keep numbers near.
const WIDEST_LABEL: usize = 60;
const NARROWEST_LABEL: usize = 20;
/// A column is widened for its label up to here.
const WIDEST_AT_EASE: usize = 32;
/// A row label that takes more lines is shortened, and a note has it in full.
const LABEL_LINES: usize = 2;

/// All tables of a report and the notes below.
pub fn render(report: &Report, style: Style) -> String {
    let report = style.spelt(report);
    let mut out = String::new();
    // Which labels are too long depends on the width, so notes on them come last.
    let mut notes = report.notes.clone();
    for grid in &report.grids {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&title(grid, style));
        let layout = Layout::new(grid, style);
        let labels: Vec<Vec<String>> = (grid.rows.iter())
            .map(|row| row_labels(row, &layout, style.ellipsis(), &mut notes))
            .collect();
        for panel in &layout.panels {
            out.push_str(&panel_text(grid, &layout, panel, &labels, style));
            out.push('\n');
        }
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    for (number, note) in notes.iter().enumerate() {
        let mark = format!("[{}] ", number + 1);
        let room = style.width.saturating_sub(mark.len()).max(20);
        for (i, line) in wrap::lines(note, room).iter().enumerate() {
            let lead = if i == 0 {
                mark.clone()
            } else {
                " ".repeat(mark.len())
            };
            out.push_str(&format!("{lead}{line}\n"));
        }
    }
    out
}

fn title(grid: &Grid, style: Style) -> String {
    let marks = marks_text(&grid.marks);
    let space = if marks.is_empty() { "" } else { " " };
    let text = wrap::lines(&format!("{}{space}{marks}", grid.title), style.width).join("\n");
    if style.color {
        format!("\x1b[1m{text}\x1b[0m\n")
    } else {
        format!("{text}\n")
    }
}

/// Widths of everything, and which columns go into which panel.
struct Layout {
    label_widths: Vec<usize>,
    columns: Vec<ColumnWidths>,
    panels: Vec<Vec<usize>>,
}

struct ColumnWidths {
    parts: Vec<usize>,
    marks: usize,
    total: usize,
}

impl ColumnWidths {
    fn new(grid: &Grid, index: usize, style: Style) -> ColumnWidths {
        let column = &grid.columns[index];
        let cells = || grid.rows.iter().filter_map(|row| row.cells.get(index));
        let parts: Vec<usize> = (column.parts.iter())
            .map(|part| {
                let texts = cells().map(|c| wrap::width(c.text(column, *part)));
                texts
                    .max()
                    .unwrap_or(0)
                    .max(wrap::width(style.heading(column, *part)))
            })
            .collect();
        let marks = cells()
            .map(|c| marks_text(&c.marks).len())
            .max()
            .unwrap_or(0);
        let body = parts.iter().sum::<usize>()
            + GAP.len() * parts.len().saturating_sub(1)
            + if marks > 0 { marks + 1 } else { 0 };
        let label = wrap::longest_word(&column.label.text).min(16);
        ColumnWidths {
            parts,
            marks,
            total: body.max(label),
        }
    }

    /// Widened so that a label takes so many lines.
    fn at_ease(mut self, label: &Label, lines: usize) -> ColumnWidths {
        let text = label_text(label);
        let widest = wrap::width(&text).min(WIDEST_AT_EASE);
        let fits = |width: &usize| wrap::lines(&text, *width).len() <= lines;
        self.total = (self.total..widest)
            .find(fits)
            .unwrap_or(self.total.max(widest));
        self
    }
}

impl Layout {
    /// Columns are as wide as what they hold needs, or wider for their labels where that makes the
    /// table shorter.
    fn new(grid: &Grid, style: Style) -> Layout {
        let columns = || (0..grid.columns.len()).map(|i| ColumnWidths::new(grid, i, style));
        let tight = Layout::of(grid, style.width, columns().collect());
        let at_ease = |lines: usize| {
            let labels = grid.columns.iter().map(|column| &column.label);
            let columns = columns()
                .zip(labels)
                .map(|(c, label)| c.at_ease(label, lines));
            Layout::of(grid, style.width, columns.collect())
        };
        [at_ease(3), at_ease(2)]
            .into_iter()
            .fold(tight, |best, layout| {
                if layout.cost(grid) <= best.cost(grid) {
                    layout
                } else {
                    best
                }
            })
    }

    /// How many row labels are cut, and how many lines all panels take but for their borders.
    fn cost(&self, grid: &Grid) -> (usize, usize) {
        let (mut cuts, mut of_rows) = (0, 0);
        for row in &grid.rows {
            let labels = row.labels.iter().zip(&self.label_widths);
            let mut tallest = 1;
            for (label, width) in labels {
                let marks = marks_text(&label.marks);
                let (lines, cut) = wrap::at_most(&label.text, &marks, (*width, LABEL_LINES), "…");
                cuts += usize::from(cut);
                tallest = tallest.max(lines.len());
            }
            of_rows += tallest;
        }
        let of_header = |panel: &Vec<usize>| {
            let names = panel.iter().map(|i| {
                let label = label_text(&grid.columns[*i].label);
                wrap::lines(&label, self.columns[*i].total).len()
            });
            names.max().unwrap_or(0)
        };
        let headers: usize = self.panels.iter().map(of_header).sum();
        (cuts, headers + of_rows * self.panels.len())
    }

    fn of(grid: &Grid, width: usize, columns: Vec<ColumnWidths>) -> Layout {
        let natural: Vec<usize> = (grid.row_names.iter().enumerate())
            .map(|(i, name)| {
                let labels = grid.rows.iter().filter_map(|row| row.labels.get(i));
                let widest = labels.map(|l| wrap::width(&label_text(l))).max();
                widest.unwrap_or(0).max(wrap::width(name)).min(WIDEST_LABEL)
            })
            .collect();
        let all: usize = columns.iter().map(|c| c.total + SEPARATOR).sum();
        let widest_column = columns
            .iter()
            .map(|c| c.total + SEPARATOR)
            .max()
            .unwrap_or(0);
        // Labels give way first, then the columns are cut into panels.
        let room = |needed: usize| (width.saturating_sub(1 + needed)) / natural.len().max(1);
        let shrink = |to: usize| -> Vec<usize> {
            let least = |w: &usize| (*w).min(to.saturating_sub(SEPARATOR).max(NARROWEST_LABEL));
            natural.iter().map(least).collect()
        };
        let total = |labels: &[usize]| 1 + labels.iter().map(|w| w + SEPARATOR).sum::<usize>();
        let mut label_widths = natural.clone();
        if total(&label_widths) + all > width {
            let squeezed = shrink(room(all));
            label_widths = if total(&squeezed) + all <= width {
                squeezed
            } else {
                shrink(room(widest_column).min(width / 3))
            };
        }
        let mut panels: Vec<Vec<usize>> = vec![Vec::new()];
        let mut used = total(&label_widths);
        for (i, column) in columns.iter().enumerate() {
            if used + column.total + SEPARATOR > width
                && panels.last().is_some_and(|p| !p.is_empty())
            {
                panels.push(Vec::new());
                used = total(&label_widths);
            }
            used += column.total + SEPARATOR;
            if let Some(panel) = panels.last_mut() {
                panel.push(i);
            }
        }
        Layout {
            label_widths,
            columns,
            panels,
        }
    }
}

fn label_text(label: &Label) -> String {
    let marks = marks_text(&label.marks);
    let space = if marks.is_empty() { "" } else { " " };
    format!("{}{space}{marks}", label.text)
}

/// The labels of a row in the widths of their columns.
fn row_labels(row: &Row, layout: &Layout, ellipsis: &str, notes: &mut Vec<String>) -> Vec<String> {
    let labels = row.labels.iter().zip(&layout.label_widths);
    labels
        .map(|(label, width)| {
            let fit = |marks: &[usize]| {
                let marks = marks_text(marks);
                wrap::at_most(&label.text, &marks, (*width, LABEL_LINES), ellipsis)
            };
            let (mut lines, cut) = fit(&label.marks);
            if cut {
                let full = format!("in full: {}", label.full);
                let mark = notes.iter().position(|note| *note == full);
                let mark = mark.unwrap_or_else(|| {
                    notes.push(full);
                    notes.len() - 1
                });
                let mut marks = label.marks.clone();
                if !marks.contains(&mark) {
                    marks.push(mark);
                }
                lines = fit(&marks).0;
            }
            lines.join("\n")
        })
        .collect()
}

fn panel_text(
    grid: &Grid,
    layout: &Layout,
    panel: &[usize],
    labels: &[Vec<String>],
    style: Style,
) -> String {
    let mut table = Table::new();
    table
        .load_style(if style.ascii {
            presets::ASCII_FULL_CONDENSED
        } else {
            LINES
        })
        .set_content_arrangement(ContentArrangement::Disabled)
        .force_no_tty();
    if style.color {
        table.enforce_styling();
    }
    table.set_header(header(grid, layout, panel, style));
    for (row, labels) in grid.rows.iter().zip(labels) {
        let mut cells: Vec<TableCell> = labels.iter().map(TableCell::new).collect();
        for index in panel {
            let column = &grid.columns[*index];
            let Some(cell) = row.cells.get(*index) else {
                continue;
            };
            let texts: Vec<&str> = column.parts.iter().map(|p| cell.text(column, *p)).collect();
            let text = compose(&texts, &marks_text(&cell.marks), &layout.columns[*index]);
            let mut drawn = TableCell::new(text).set_alignment(CellAlignment::Right);
            if style.color {
                drawn = match cell.verdict {
                    Verdict::Better => drawn.fg(Color::Green),
                    Verdict::Worse => drawn.fg(Color::Red),
                    Verdict::None | Verdict::Same => drawn,
                };
            }
            cells.push(drawn);
        }
        table.add_row(cells);
    }
    table.to_string()
}

fn header(grid: &Grid, layout: &Layout, panel: &[usize], style: Style) -> Vec<TableCell> {
    let names: Vec<Vec<String>> = (panel.iter())
        .map(|i| {
            wrap::lines(
                &label_text(&grid.columns[*i].label),
                layout.columns[*i].total,
            )
        })
        .collect();
    let height = names.iter().map(Vec::len).max().unwrap_or(0);
    let bold = |cell: TableCell| {
        if style.color {
            cell.add_attribute(Attribute::Bold)
        } else {
            cell
        }
    };
    let mut cells = Vec::new();
    for (name, width) in grid.row_names.iter().zip(&layout.label_widths) {
        let lines = wrap::lines(name, *width);
        let lead = "\n".repeat((height + 1).saturating_sub(lines.len()));
        cells.push(bold(TableCell::new(format!("{lead}{}", lines.join("\n")))));
    }
    for (lines, index) in names.iter().zip(panel) {
        let column: &Column = &grid.columns[*index];
        let headings: Vec<&str> = (column.parts.iter())
            .map(|p| style.heading(column, *p))
            .collect();
        let lead = "\n".repeat(height - lines.len());
        let bottom = compose(&headings, "", &layout.columns[*index]);
        let text = format!("{lead}{}\n{bottom}", lines.join("\n"));
        cells.push(bold(
            TableCell::new(text).set_alignment(CellAlignment::Right),
        ));
    }
    cells
}

/// The parts of one cell in the widths of its column, then its marks.
fn compose(texts: &[&str], marks: &str, widths: &ColumnWidths) -> String {
    let mut parts = Vec::new();
    for (text, width) in texts.iter().zip(&widths.parts) {
        parts.push(wrap::right(text, *width));
    }
    let mut out = parts.join(GAP);
    if widths.marks > 0 {
        out.push(' ');
        out.push_str(&wrap::left(marks, widths.marks));
    }
    out
}
