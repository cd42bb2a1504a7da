//! All writers over one report made by hand, side by side.

use super::data::FIELDS;
use super::*;
use crate::grid::samples::report;
use crate::grid::{Label, Part};

#[test]
fn text_is_aligned_and_notes_follow() {
    let style = text::Style {
        width: 120,
        ..text::Style::default()
    };
    let drawn = text::render(&report(), style);
    println!("{drawn}");
    let widths: Vec<usize> = (drawn.lines().skip(1))
        .take_while(|l| !l.is_empty())
        .map(wrap::width)
        .collect();
    assert!(widths.windows(2).all(|w| w[0] == w[1]), "{drawn}");
    assert!(drawn.contains("223    0.76x"), "{drawn}");
    assert!(drawn.contains("1.82x [2]"), "{drawn}");
    assert!(drawn.contains("failed"), "{drawn}");
    assert!(drawn.ends_with("[1] Spare used another engine\n[2] printed | by an old tool\n"));
}

#[test]
fn text_is_cut_into_panels_and_never_too_wide() {
    for width in [40, 50, 60, 80, 100] {
        let style = text::Style {
            width,
            ..text::Style::default()
        };
        let drawn = text::render(&report(), style);
        for line in drawn.lines() {
            assert!(wrap::width(line) <= width, "{width}: {line}");
        }
        for value in ["293", "223", "534", "1180", "0.76x", "1.82x"] {
            assert!(drawn.contains(value), "{width} lost {value}:\n{drawn}");
        }
    }
}

#[test]
fn a_narrow_column_is_widened_for_its_label_where_there_is_room() {
    let header = |width: usize| {
        let mut report = report();
        report.grids[0].columns[0].label = Label::plain("A machine with a name of eight words");
        let drawn = text::render(
            &report,
            text::Style {
                width,
                ..text::Style::default()
            },
        );
        drawn
            .lines()
            .skip(2)
            .take_while(|l| !l.contains("test"))
            .count()
    };
    // 36 letters over 13 columns of figures: three lines, or two where 19 columns fit
    assert_eq!((header(74), header(100)), (3, 2));
}

#[test]
fn ascii_is_ascii_and_colour_is_only_on_request() {
    let style = text::Style {
        ascii: true,
        ..text::Style::default()
    };
    let mut long = report();
    let column = &mut long.grids[0].columns[0];
    column.parts.push(Part::Spread);
    column.label.text = "A name that is cut…".into();
    for row in &mut long.grids[0].rows {
        row.cells[0].texts.push("∞".into());
        row.labels[0].text = "Ein Gerät – mit einem Namen, der länger ist als zwei Zeilen".into();
    }
    let narrow = text::Style { width: 50, ..style };
    for style in [style, narrow] {
        let drawn = text::render(&long, style);
        assert!(drawn.is_ascii() && drawn.contains("inf"), "{drawn}");
        // Signs that are spelt out shift nothing.
        let lines: Vec<&str> = drawn.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0].starts_with('|')) {
            assert_eq!(pair[0].len(), pair[1].len(), "{drawn}");
        }
        assert!(bars::render(&long, style).is_ascii());
    }
    let plain = text::render(&report(), text::Style::default());
    assert!(!plain.contains('\x1b'));
    let coloured = text::Style {
        color: true,
        ..text::Style::default()
    };
    assert!(text::render(&report(), coloured).contains('\x1b'));
}

#[test]
fn markdown_escapes_markup() {
    let want = "\
**write bandwidth**

| test | Old \\| box (MiB/s) | vs base | New &lt;b&gt; (MiB/s) | vs base | Spare, \"3rd\" [1] (MiB/s) | vs base |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| 4k random | 293 | 1.00x | 223 | 0.76x | 534 | 1.82x [2] |
| 1m random\\* | 1180 | 1.00x | failed | [2] | - |  |

[1] Spare used another engine

[2] printed \\| by an old tool
";
    assert_eq!(markdown::render(&report()), want);
}

#[test]
fn csv_quotes_and_lists_every_cell() {
    let csv = delimited::csv(&report());
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("direction,test,machine,table,metric,unit,value,lo,hi,n,"));
    assert_eq!(lines.len(), 1 + 6);
    assert!(lines[1].starts_with(
        "write,4k random,Old | box,write bandwidth,bw,B/s,307104239,306604239,307604239,1,"
    ));
    assert!(lines[3].contains(",\"Spare, \"\"3rd\"\"\","));
    assert!(lines[5].contains(",failed,failed,MiB/s,,printed | by an old tool"));
    assert!(lines[6].contains(",missing,-,MiB/s,,"));
}

#[test]
fn json_lines_and_csv_say_the_same() {
    let report = report();
    let whole: serde_json::Value = serde_json::from_str(&json::json(&report)).unwrap();
    let cells = whole["cells"].as_array().unwrap();
    let lines: Vec<serde_json::Value> = json::jsonl(&report)
        .lines()
        .map(|l| {
            assert!(l.starts_with("{\"cell\":1,"));
            serde_json::from_str(l).unwrap()
        })
        .collect();
    let tsv = delimited::tsv(&report);
    let mut rows = tsv.lines().map(|l| l.split('\t').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    assert_eq!(cells.len(), lines.len());
    for ((cell, line), row) in cells.iter().zip(&lines).zip(rows) {
        for (name, field) in names.iter().zip(row) {
            assert_eq!(cell[*name], line[*name]);
            let as_text = match &cell[*name] {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(s) => s.clone(),
                serde_json::Value::Number(n) => n.as_f64().unwrap().to_string(),
                serde_json::Value::Array(a) => a
                    .iter()
                    .map(|v| v.as_str().unwrap())
                    .collect::<Vec<_>>()
                    .join(" | "),
                other => panic!("unexpected {other}"),
            };
            assert_eq!(as_text, field, "{name}");
        }
    }
    // Every field is there in every object, and numbers survive exactly.
    assert!(
        FIELDS
            .iter()
            .all(|f| cells.iter().all(|c| c.get(f.name).is_some()))
    );
    assert_eq!(
        cells[0]["value"].as_f64(),
        report.grids[0].rows[0].cells[0].value.map(|b| b.value())
    );
}
