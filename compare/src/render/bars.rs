//! Horizontal bars for the terminal.

use super::text::Style;
use super::{chart, wrap};
use crate::grid::Report;

const LABEL_AT_MOST: usize = 36;

/// Bars of all tables, a group for each comparison; printed below the tables.
pub fn render(report: &Report, style: Style) -> String {
    let report = style.spelt(report);
    let mut out = String::new();
    for grid in &report.grids {
        for group in chart::groups(grid) {
            if !out.is_empty() {
                out.push('\n');
            }
            let title = format!("{}: {} ({})", grid.title, group.title.text, group.unit);
            out.push_str(&wrap::lines(&title, style.width).join("\n"));
            out.push('\n');
            let labels: Vec<String> = (group.bars.iter())
                .map(|bar| {
                    let width = LABEL_AT_MOST.min(style.width / 3);
                    first_line(&bar.label.text, width, style.ellipsis())
                })
                .collect();
            let label = labels.iter().map(|l| wrap::width(l)).max().unwrap_or(0);
            let number = |bar: &chart::Bar| {
                let gap = if bar.ratio.is_empty() { "" } else { "  " };
                format!("{}{gap}{}", bar.text, bar.ratio)
            };
            let numbers = group
                .bars
                .iter()
                .map(|b| wrap::width(&number(b)))
                .max()
                .unwrap_or(0);
            let room = style.width.saturating_sub(label + numbers + 4).max(4);
            for (bar, name) in group.bars.iter().zip(&labels) {
                let drawn = bar
                    .share
                    .map_or(String::new(), |share| draw(share, room, style.ascii));
                let line = format!("  {} {drawn} {}", wrap::right(name, label), number(bar));
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
    }
    out
}

fn first_line(text: &str, width: usize, ellipsis: &str) -> String {
    let (lines, _) = wrap::at_most(text, "", (width, 1), ellipsis);
    lines.into_iter().next().unwrap_or_default()
}

/// A bar of a share of the room, to an eighth of a character. Never nothing for more than zero.
fn draw(share: f64, room: usize, ascii: bool) -> String {
    let share = share.clamp(0.0, 1.0);
    if ascii {
        let whole = (share * room as f64).round() as usize;
        return "#".repeat(whole.max(usize::from(share > 0.0)));
    }
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share * room as f64 * 8.0).round() as usize;
    let eighths = eighths.max(usize::from(share > 0.0));
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::samples::report;

    #[test]
    fn the_longest_bar_fills_the_room_and_others_are_in_proportion() {
        assert_eq!(draw(1.0, 10, false), "█".repeat(10));
        assert_eq!(draw(0.55, 10, false), "█████▌");
        assert_eq!(draw(1e-9, 10, false), "▏");
        assert_eq!(draw(0.0, 10, true), "");
        assert_eq!(draw(0.5, 10, true), "#####");
    }

    #[test]
    fn bars_fit_the_width_and_failed_runs_have_none() {
        for (width, ascii) in [(40, false), (80, true), (200, false)] {
            let style = Style {
                width,
                ascii,
                color: false,
            };
            let drawn = render(&report(), style);
            assert!(drawn.lines().all(|l| wrap::width(l) <= width), "{drawn}");
            let failed = drawn.lines().find(|l| l.contains("failed")).unwrap();
            assert!(!failed.contains(['█', '#']), "{drawn}");
            assert!(drawn.contains("no result"), "{drawn}");
        }
    }
}
