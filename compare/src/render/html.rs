//! One self-contained HTML page: tables, notes, bars; no scripts, nothing fetched.
//!
//! It follows the reader's light or dark preference and is readable on a phone: wide tables scroll
//! inside their own box beside the first row label, which stays, and bars are SVG in percent of the
//! page's width with labels in its normal text size, so nothing shrinks. Colours are Paul Tol's for colour-blind readers, and no meaning
//! rests on colour alone: every bar is labelled, better and worse are words in a title.

use std::fmt::Write;

use super::chart::{self, Bar, Group};
use crate::grid::{Cell, Column, Grid, Label, Report, Verdict};

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1d1f23;--soft:#5c6370;--page:#fff;--line:#d8dce2;--head:#f3f5f8;--good:#1b6e3c;--bad:#a3262a}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ec;--soft:#a2a9b4;--page:#16181c;--line:#363b44;--head:#1f2329;--good:#6fcf97;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:100rem;padding:1rem;font:16px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--page)}
h1{font-size:1.4rem;margin:.2rem 0 1rem}h2{font-size:1.1rem;margin:1.6rem 0 .5rem}h3{font-size:1rem;margin:1.1rem 0 .2rem;font-weight:600}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th.name,td.name{text-align:left;white-space:normal;min-width:min(14rem,36vw);overflow-wrap:anywhere}
th.name:first-child,td.name:first-child{position:sticky;left:0;background:var(--page)}
thead th,thead th.name:first-child{background:var(--head);font-weight:600;vertical-align:bottom}thead th.group{white-space:normal;border-left:1px solid var(--line)}
thead th.first,td.first{border-left:1px solid var(--line)}
tr:last-child td{border-bottom:0}tr.summary td{color:var(--soft);font-style:italic}
.better{color:var(--good)}.worse{color:var(--bad)}.none{color:var(--soft)}
sup a{color:inherit;text-decoration:none}sup{font-size:.72em;line-height:0}
ol{max-width:72rem;padding-left:1.6rem;color:var(--soft);font-size:.92rem}ol li{margin:.25rem 0;overflow-wrap:anywhere}
svg{display:block;width:100%;overflow:visible}svg text{fill:var(--ink);font-size:14px}svg .value{font-variant-numeric:tabular-nums}
svg .axis{stroke:var(--line)}svg .error{stroke:var(--ink);stroke-width:1.5}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:0 2rem}
@media(max-width:30rem){svg text{font-size:12px}}
p.unit{margin:0 0 .2rem;color:var(--soft);font-size:.85rem}
";

/// Paul Tol's bright scheme.
const COLOURS: [&str; 7] = [
    "#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB",
];

/// The whole page.
pub fn render(report: &Report) -> String {
    let title = match report.grids.as_slice() {
        [one] => one.title.clone(),
        _ => "Storage comparison".to_owned(),
    };
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        escape(&title)
    );
    let several = report.grids.len() > 1;
    for grid in &report.grids {
        if several || !grid.marks.is_empty() {
            let shown = if several {
                escape(&grid.title)
            } else {
                "Table".to_owned()
            };
            out.push_str(&format!("<h2>{shown}{}</h2>\n", marks(&grid.marks)));
        }
        out.push_str(&table(grid));
        out.push_str(&charts(grid));
    }
    if !report.notes.is_empty() {
        out.push_str("<h2>Notes</h2>\n<ol>\n");
        for (number, note) in report.notes.iter().enumerate() {
            let _ = writeln!(out, "<li id=\"note-{}\">{}</li>", number + 1, escape(note));
        }
        out.push_str("</ol>\n");
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn table(grid: &Grid) -> String {
    let mut out = String::from("<div class=\"scroll\"><table>\n<thead>\n<tr>");
    for name in &grid.row_names {
        let _ = write!(
            out,
            "<th class=\"name\" rowspan=\"2\" scope=\"col\">{}</th>",
            escape(name)
        );
    }
    for column in &grid.columns {
        let _ = write!(
            out,
            "<th class=\"group\" colspan=\"{}\" scope=\"colgroup\">{}</th>",
            column.parts.len(),
            label(&column.label)
        );
    }
    out.push_str("</tr>\n<tr>");
    for column in &grid.columns {
        for (i, part) in column.parts.iter().enumerate() {
            let class = if i == 0 { " class=\"first\"" } else { "" };
            let _ = write!(
                out,
                "<th{class} scope=\"col\">{}</th>",
                escape(column.heading(*part))
            );
        }
    }
    out.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in &grid.rows {
        out.push_str(if row.summary {
            "<tr class=\"summary\">"
        } else {
            "<tr>"
        });
        for text in &row.labels {
            let _ = write!(out, "<td class=\"name\">{}</td>", label(text));
        }
        for (column, cell) in grid.columns.iter().zip(&row.cells) {
            out.push_str(&cell_html(column, cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

fn cell_html(column: &Column, cell: &Cell) -> String {
    let mut out = String::new();
    let (class, title) = match cell.verdict {
        Verdict::Better => ("better", " title=\"better than the base\""),
        Verdict::Worse => ("worse", " title=\"worse than the base\""),
        Verdict::None | Verdict::Same if cell.value.is_none() => ("none", ""),
        Verdict::None | Verdict::Same => ("", ""),
    };
    for (i, part) in column.parts.iter().enumerate() {
        let first = if i == 0 { "first " } else { "" };
        let classes = format!("{first}{class}");
        let classes = classes.trim();
        let attribute = if classes.is_empty() {
            String::new()
        } else {
            format!(" class=\"{classes}\"")
        };
        let last = i + 1 == column.parts.len();
        let _ = write!(
            out,
            "<td{attribute}{title}>{}{}</td>",
            escape(cell.text(column, *part)),
            if last {
                marks(&cell.marks)
            } else {
                String::new()
            }
        );
    }
    out
}

fn charts(grid: &Grid) -> String {
    let groups = chart::groups(grid);
    // A single bar compares nothing.
    let groups: Vec<&Group> = groups.iter().filter(|g| g.bars.len() > 1).collect();
    if groups.is_empty() {
        return String::new();
    }
    let mut out = String::from("<div class=\"charts\">\n");
    for group in groups {
        let _ = write!(
            out,
            "<section><h3>{}</h3><p class=\"unit\">{}, {}</p>\n{}</section>\n",
            escape(&group.title.text),
            escape(&grid.title),
            escape(group.unit),
            svg(group)
        );
    }
    out.push_str("</div>\n");
    out
}

/// What stands behind a bar.
fn behind(bar: &Bar) -> String {
    let gap = if bar.ratio.is_empty() { "" } else { " \u{b7} " };
    format!("{}{gap}{}", bar.text, bar.ratio)
}

/// The length of the longest bar in percent of the page: what is left beside the longest value on a
/// phone of 360 pixels.
fn full_length(group: &Group) -> f64 {
    const PAGE: f64 = 328.0;
    const LETTER: f64 = 7.0;
    const GAP: f64 = 10.0;
    let letters = group.bars.iter().map(|bar| behind(bar).chars().count());
    let text = letters.max().unwrap_or(0) as f64 * LETTER + GAP;
    (100.0 * (1.0 - text / PAGE)).clamp(30.0, 85.0)
}

/// Each bar is a line of text with the bar below. Lengths are percent of the page's width, leaving
/// room at the right for the value.
fn svg(group: &Group) -> String {
    const STEP: usize = 44;
    let full = full_length(group);
    let height = group.bars.len() * STEP;
    let mut out = format!(
        "<svg height=\"{height}\" role=\"img\" aria-label=\"bars: {}\">\n",
        escape(&group.title.full)
    );
    let _ = writeln!(
        out,
        "<line class=\"axis\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"{height}\"/>"
    );
    for (i, bar) in group.bars.iter().enumerate() {
        let top = i * STEP;
        let _ = writeln!(
            out,
            "<text x=\"6\" y=\"{}\">{}</text>",
            top + 15,
            escape(&bar.label.text)
        );
        let share = bar.share.unwrap_or(0.0).clamp(0.0, 1.0) * full;
        if bar.share.is_some() {
            let _ = writeln!(
                out,
                "<rect x=\"0\" y=\"{}\" width=\"{share:.3}%\" height=\"16\" rx=\"2\" fill=\"{}\"><title>{}</title></rect>",
                top + 21,
                COLOURS[bar.series % COLOURS.len()],
                escape(&sentence(bar, group.unit))
            );
        }
        let mut end = share;
        if let Some((lo, hi)) = bar.error {
            let (lo, hi) = (lo.clamp(0.0, 1.0) * full, hi.clamp(0.0, 1.0) * full);
            let y = top + 29;
            let _ = writeln!(
                out,
                "<line class=\"error\" x1=\"{lo:.3}%\" x2=\"{hi:.3}%\" y1=\"{y}\" y2=\"{y}\"/>\
                 <line class=\"error\" x1=\"{lo:.3}%\" x2=\"{lo:.3}%\" y1=\"{0}\" y2=\"{1}\"/>\
                 <line class=\"error\" x1=\"{hi:.3}%\" x2=\"{hi:.3}%\" y1=\"{0}\" y2=\"{1}\"/>",
                y - 5,
                y + 5
            );
            end = end.max(hi);
        }
        let _ = writeln!(
            out,
            "<text class=\"value\" x=\"{end:.3}%\" dx=\"7\" y=\"{}\">{}</text>",
            top + 34,
            escape(&behind(bar))
        );
    }
    out.push_str("</svg>\n");
    out
}

fn sentence(bar: &Bar, unit: &str) -> String {
    let ratio = if bar.ratio.is_empty() {
        String::new()
    } else {
        format!(" ({})", bar.ratio)
    };
    format!("{}: {} {unit}{ratio}", bar.label.full, bar.text)
}

fn label(label: &Label) -> String {
    let text = escape(&label.text);
    let shown = if label.text == label.full {
        text
    } else {
        format!("<span title=\"{}\">{text}</span>", escape(&label.full))
    };
    format!("{shown}{}", marks(&label.marks))
}

fn marks(marks: &[usize]) -> String {
    let links: Vec<String> = (marks.iter())
        .map(|m| format!("<a href=\"#note-{0}\">[{0}]</a>", m + 1))
        .collect();
    if links.is_empty() {
        String::new()
    } else {
        format!(" <sup>{}</sup>", links.concat())
    }
}

/// For text and for attributes in double quotes. Control characters have no place in HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::samples::report;

    #[test]
    fn the_page_is_whole_and_fetches_nothing() {
        let page = render(&report());
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        for foreign in ["<script", "http:", "https:", "url(", "@import", "src="] {
            assert!(!page.contains(foreign), "{foreign}");
        }
        assert!(page.contains("prefers-color-scheme:dark"));
        assert!(page.contains("New &lt;b&gt;") && !page.contains("New <b>"));
        assert!(page.contains("Spare, &quot;3rd&quot;"));
    }

    #[test]
    fn tags_are_balanced() {
        let page = render(&report());
        let mut open: Vec<&str> = Vec::new();
        let mut rest = page.as_str();
        while let Some(start) = rest.find('<') {
            let end = start + rest[start..].find('>').unwrap();
            let tag = &rest[start + 1..end];
            rest = &rest[end + 1..];
            let name = tag
                .trim_start_matches('/')
                .split([' ', '/'])
                .next()
                .unwrap();
            if tag.starts_with('!') || tag.ends_with('/') || name == "meta" {
                continue;
            }
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn a_failed_run_has_no_bar() {
        let page = render(&report());
        // Two tests; the second has one bar, a failed and a missing run.
        assert_eq!(page.matches("<rect").count(), 4);
        assert!(page.contains(">failed</text>") && page.contains(">no result</text>"));
    }
}
