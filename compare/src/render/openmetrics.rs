//! OpenMetrics text: one gauge family a metric, base units (bytes, seconds), keys as labels.
//!
//! Fit for the textfile directory of a node exporter; write it with `-o` to another name there and
//! rename, as with every such file. Names follow the convention that the unit ends the name.

use std::fmt::Write;

use super::data::Rows;
use crate::grid::{Datum, Report, State};
use crate::scale::Dimension;

/// The exposition, closed by `# EOF`.
pub fn render(report: &Report) -> String {
    let rows = Rows::new(report);
    let mut families: Vec<(String, Vec<&Datum>)> = Vec::new();
    for row in rows.rows.iter().filter(|r| r.cell.state == State::Value) {
        let (name, ..) = family(row);
        match families.iter_mut().find(|(n, _)| *n == name) {
            Some((_, members)) => members.push(row),
            None => families.push((name, vec![row])),
        }
    }
    let mut out = String::new();
    for (name, members) in &families {
        let (_, unit, help, factor) = family(members[0]);
        let _ = writeln!(out, "# TYPE {name} gauge");
        if !unit.is_empty() {
            let _ = writeln!(out, "# UNIT {name} {unit}");
        }
        let _ = writeln!(out, "# HELP {name} {help}");
        for row in members {
            if let Some(value) = row.cell.value {
                let _ = writeln!(
                    out,
                    "{name}{{{}}} {}",
                    labels(row, None),
                    value.value() * factor
                );
            }
        }
    }
    let ratios: Vec<&Datum> = rows
        .rows
        .iter()
        .filter(|r| r.cell.ratio.is_some())
        .collect();
    if !ratios.is_empty() {
        out.push_str("# TYPE fio_ratio gauge\n# UNIT fio_ratio ratio\n");
        out.push_str("# HELP fio_ratio Value over the value of the base.\n");
        for row in ratios {
            if let Some(ratio) = row.cell.ratio {
                let base = row.cell.base.as_deref();
                let _ = writeln!(out, "fio_ratio{{{}}} {}", labels(row, base), ratio.value());
            }
        }
    }
    out.push_str("# EOF\n");
    out
}

/// Name, unit, help and the factor from our base unit.
fn family(row: &Datum) -> (String, &'static str, String, f64) {
    let metric = row.column.metric.replace(['-', '.'], "_");
    let (unit, factor) = match row.column.unit.dimension {
        Dimension::Rate => ("bytes_per_second", 1.0),
        Dimension::Iops => ("operations_per_second", 1.0),
        Dimension::Time => ("seconds", 1e-9),
        Dimension::Size => ("bytes", 1.0),
        Dimension::Share => ("ratio", 1.0),
        Dimension::Count => ("", 1.0),
    };
    let base = match metric.as_str() {
        "bytes" => "moved".to_owned(),
        "iops" => "io".to_owned(),
        other => other.to_owned(),
    };
    let end = if unit.is_empty() {
        String::new()
    } else {
        format!("_{unit}")
    };
    (
        format!("fio_{base}{end}"),
        unit,
        format!("The metric {} of fio-compare.", row.column.metric),
        factor,
    )
}

fn labels(row: &Datum, base: Option<&str>) -> String {
    let mut pairs: Vec<String> = Vec::new();
    let own = row
        .keys
        .iter()
        .filter(|(name, text)| *name != "metric" && !text.is_empty());
    for (name, text) in own {
        pairs.push(format!(
            "{}=\"{}\"",
            name.replace(['.', '-'], "_"),
            escape(text)
        ));
    }
    if let Some(base) = base {
        pairs.push(format!("metric=\"{}\"", escape(&row.column.metric)));
        pairs.push(format!("base=\"{}\"", escape(base)));
    }
    pairs.join(",")
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::samples::report;

    #[test]
    fn families_are_typed_and_closed() {
        let text = render(&report());
        let want = "\
# TYPE fio_bw_bytes_per_second gauge
# UNIT fio_bw_bytes_per_second bytes_per_second
# HELP fio_bw_bytes_per_second The metric bw of fio-compare.
fio_bw_bytes_per_second{direction=\"write\",test=\"4k random\",machine=\"Old | box\"} 307104239
";
        assert!(text.starts_with(want), "{text}");
        assert!(text.ends_with("# EOF\n"));
        assert!(text.contains("machine=\"Spare, \\\"3rd\\\"\""), "{text}");
        assert_eq!(text.matches("\nfio_bw").count(), 4);
        assert!(
            text.contains(",metric=\"bw\",base=\"Old | box\"} 0.762"),
            "{text}"
        );
    }
}
