//! For CI: a job summary in Markdown, and the array that a well-known benchmark action takes.

use serde_json::json;

use super::{data, markdown};
use crate::grid::{Part, Report, State};
use crate::metric::Better;

/// GitHub takes a summary of at most 1 MiB a step.
const SUMMARY_LIMIT: usize = 1 << 20;

/// Markdown for `$GITHUB_STEP_SUMMARY`: what the gate found first, then the tables. Too long a
/// report is cut between tables, and says so.
pub fn summary(report: &Report, gate: &[String]) -> String {
    let mut out = String::from("## Storage comparison\n\n");
    for line in gate {
        out.push_str(&format!("- {}\n", line.replace('|', "\\|")));
    }
    if !gate.is_empty() {
        out.push('\n');
    }
    let whole = markdown::render(report);
    if out.len() + whole.len() <= SUMMARY_LIMIT {
        return out + &whole;
    }
    let note = "\nThe report is longer than a summary may be and was cut here.\n";
    let room = SUMMARY_LIMIT - out.len() - note.len();
    let cut = (0..=room)
        .rev()
        .find(|i| whole.is_char_boundary(*i))
        .unwrap_or(0);
    let cut = whole[..cut].rfind("\n\n**").unwrap_or(cut);
    out.push_str(&whole[..cut]);
    out.push('\n');
    out.push_str(note);
    out
}

/// The custom array of github-action-benchmark: `[{"name", "unit", "value", "range", "extra"}]`.
/// The range, which the action may lack, is as in the tables: how far the interval of the median
/// reaches from it, here in the unit of the value.
/// The action takes one direction of better for a file, so metrics of both can't be mixed.
pub fn action(report: &Report) -> Result<String, String> {
    let rows = data::Rows::new(report);
    let mut direction: Option<(Better, &str)> = None;
    let mut entries = Vec::new();
    for row in &rows.rows {
        let (better, metric) = (row.column.better, row.column.metric.as_str());
        match direction {
            None => direction = Some((better, metric)),
            Some((first, _)) if first == better => {}
            Some((_, name)) => {
                return Err(format!(
                    "gha-bench takes metrics of one direction, and of `{name}` and `{metric}` more is \
                     better for one only; choose with --metric"
                ));
            }
        }
        let Some(value) = row.cell.value.filter(|_| row.cell.state == State::Value) else {
            continue;
        };
        let factor = row.column.unit.factor;
        let keys: Vec<&str> = rows
            .keys
            .iter()
            .filter_map(|k| {
                row.keys
                    .iter()
                    .find(|(name, text)| name == k && !text.is_empty())
                    .map(|(_, text)| *text)
            })
            .collect();
        let mut entry = json!({
            "name": format!("{} ({metric})", keys.join(" / ")),
            "unit": row.column.unit.name,
            "value": value.value() / factor,
            "extra": format!(
                "n={}{}{}",
                row.cell.n,
                match row.cell.text(row.column, Part::Ratio) {
                    "" => String::new(),
                    ratio => format!("\n{ratio} vs {}", row.cell.base.as_deref().unwrap_or("base")),
                },
                row.notes.iter().map(|n| format!("\n{n}")).collect::<String>()
            ),
        });
        // One run says nothing of how far another may lie from it.
        if row.cell.n > 1 {
            let reach = row.cell.interval.map(|(lo, hi)| {
                let (down, up) = (value.value() - lo, hi - value.value());
                shortest(down.max(up) / factor)
            });
            let reach = reach.unwrap_or_else(|| "∞".to_owned());
            entry["range"] = json!(format!("± {reach}"));
        }
        entries.push(entry);
    }
    Ok(format!("{:#}\n", serde_json::Value::Array(entries)))
}

fn shortest(value: f64) -> String {
    crate::bounds::Bounds::exact(value).map_or_else(String::new, crate::digits::format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::samples::report;

    #[test]
    fn the_array_has_every_value_in_the_columns_unit() {
        let array: serde_json::Value = serde_json::from_str(&action(&report()).unwrap()).unwrap();
        let entries = array.as_array().unwrap();
        assert_eq!(entries.len(), 4, "failed and missing runs have no value");
        assert_eq!(entries[0]["name"], "write / 4k random / Old | box (bw)");
        assert_eq!(entries[0]["unit"], "MiB/s");
        let value = entries[0]["value"].as_f64().unwrap();
        assert!((value - 307_104_239.0 / 1_048_576.0).abs() < 1e-9);
        assert_eq!(entries[0].get("range"), None, "one run");
        assert!(
            entries[2]["extra"]
                .as_str()
                .unwrap()
                .contains("1.82x vs Old | box")
        );
    }

    #[test]
    fn err_metrics_of_both_directions_are_refused() {
        let mut mixed = report();
        mixed.grids[0].columns[1].better = Better::Lower;
        assert!(action(&mixed).unwrap_err().contains("choose with --metric"));
    }

    #[test]
    fn a_long_summary_is_cut_between_tables() {
        let mut long = report();
        let grid = long.grids[0].clone();
        long.grids = vec![grid; 4000];
        let text = summary(&long, &["gate: failed".into()]);
        assert!(text.len() <= SUMMARY_LIMIT && text.len() > SUMMARY_LIMIT / 2);
        assert!(text.starts_with("## Storage comparison\n\n- gate: failed\n"));
        assert!(text.ends_with("was cut here.\n"));
        let short = summary(&report(), &[]);
        assert!(short.contains("| 4k random | 293 |"));
    }
}
