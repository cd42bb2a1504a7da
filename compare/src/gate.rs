//! The gate: does anything get worse by more than a limit?
//!
//! A cell fails against its base if it is worse by more than the threshold *beyond doubt*:
//! - one run a side: even the end of the ratio's bounds that favours it is beyond the limit;
//! - repeats on both sides: the ratio of the medians is beyond the limit, and the Mann-Whitney p is
//!   at most alpha. Two equal machines so fail with a probability below alpha, whatever the noise;
//! - so few repeats that no p can be as small as alpha (fewer than four a side at 5 %), one run
//!   against several, or a cell that pools what is no repeat of one: even its best run over the
//!   base's worst is beyond the limit, which is the rule of one run a side. Where only the medians
//!   are beyond it, the cell can't be judged.
//!
//! A failed run fails the gate, even one among others that did not fail; so does a rate of 0, and
//! a result that the base has and the other side lacks, be it in all of a table: a test that died
//! must not pass. Which way is worse comes from the metric; amounts (bytes, run time) are not
//! judged. A gate that judged nothing, could not judge a cell, or lacks the results of an input
//! that was named, has not passed. Two-sided, what is better by more than the threshold fails as
//! well.
//!
//! Place: looks at a finished report; [`crate::cli`] makes the exit status of it.

use crate::bounds::Bounds;
use crate::digits;
use crate::grid::{Cell, Column, Grid, Report, Row, State};
use crate::metric::Better;
use crate::stats;

/// A limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Share by which a value may be worse: 0.05 for 5 %.
    pub threshold: f64,
    /// Names of the metrics that count; empty: all with a direction.
    pub metrics: Vec<String>,
    /// Much better fails as well.
    pub two_sided: bool,
    /// A p-value above this shows no difference.
    pub alpha: f64,
}

/// What a gate found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Why it fails, a line a cell; empty: it passes.
    pub failures: Vec<String>,
    /// What looks worse and may be chance, a line each; it passes.
    pub unjudged: Vec<String>,
    /// What looks worse and has too few runs to tell, a line each; the gate then neither passes nor fails.
    pub undecided: Vec<String>,
    /// How many cells were judged.
    pub judged: usize,
}

impl Finding {
    /// Where nothing was judged, why.
    pub fn why_nothing(&self, report: &Report) -> &'static str {
        let cells = || {
            (report.grids.iter())
                .flat_map(|grid| &grid.rows)
                .filter(|row| !row.summary)
                .flat_map(|row| &row.cells)
        };
        let with_values = cells().filter(|c| c.state != State::Missing).count();
        if with_values == 0 {
            "no record has the metric"
        } else if cells().all(|c| c.base.is_none()) {
            "there is no second result to compare with the base"
        } else if cells().all(|c| c.ratio.is_none() || c.is_base) {
            "no row has a result of both the base and another that can be divided"
        } else {
            "none of the metrics shown counts for the gate"
        }
    }
}

/// `5%` or `0.05`, as a share.
pub fn parse_threshold(text: &str) -> Result<f64, String> {
    let (number, divisor) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(v) if v >= 0.0 && v / divisor < 1.0 => Ok(v / divisor),
        _ => Err(format!(
            "expected a share such as 5% or 0.05, below 100%, found `{text}`"
        )),
    }
}

/// Judges every cell that has a base.
pub fn check(report: &Report, gate: &Gate) -> Finding {
    let mut finding = Finding::default();
    for grid in &report.grids {
        for row in grid.rows.iter().filter(|row| !row.summary) {
            for (column, cell) in grid.columns.iter().zip(&row.cells) {
                let counts = gate.metrics.is_empty() || gate.metrics.contains(&column.metric);
                if counts && column.better != Better::Neither {
                    judge(grid, row, column, cell, gate, &mut finding);
                }
            }
        }
        for (row, column) in absent(report, grid, gate) {
            finding.judged += 1;
            finding.failures.push(format!(
                "{}: no result, the base has one",
                name(grid, row, column)
            ));
        }
    }
    finding
}

/// The rows of a grid that have a base, with each column that the grid lacks as a whole and other
/// grids of the same metric have.
fn absent<'r>(report: &'r Report, grid: &'r Grid, gate: &Gate) -> Vec<(&'r Row, &'r Column)> {
    let mut missing: Vec<&Column> = Vec::new();
    for column in report.grids.iter().flat_map(|other| &other.columns) {
        let same = |known: &Column| {
            (&known.metric, &known.label.full) == (&column.metric, &column.label.full)
        };
        let counts = column.better != Better::Neither
            && (gate.metrics.is_empty() || gate.metrics.contains(&column.metric))
            && grid.columns.iter().any(|own| own.metric == column.metric);
        if counts && !grid.columns.iter().any(same) && !missing.iter().any(|c| same(c)) {
            missing.push(column);
        }
    }
    let mut absent = Vec::new();
    for row in grid
        .rows
        .iter()
        .filter(|row| !row.summary && !grid.across_rows)
    {
        for column in &missing {
            let of_metric = grid.columns.iter().zip(&row.cells);
            let mut of_metric = of_metric.filter(|(own, _)| own.metric == column.metric);
            if of_metric.any(|(_, cell)| cell.is_base && cell.value.is_some()) {
                absent.push((row, *column));
            }
        }
    }
    absent
}

fn judge(grid: &Grid, row: &Row, column: &Column, cell: &Cell, gate: &Gate, finding: &mut Finding) {
    let name = name(grid, row, column);
    match cell.state {
        State::Failed => {
            finding.judged += 1;
            finding.failures.push(format!("{name}: the run failed"));
            return;
        }
        State::Missing => {
            // With a ratio elsewhere among what it is compared with, the base has a value.
            if compared_elsewhere(grid, row, column) {
                finding.judged += 1;
                finding
                    .failures
                    .push(format!("{name}: no result, the base has one"));
            }
            return;
        }
        State::Value | State::Compared | State::Summary => {}
    }
    if cell.is_base {
        return;
    }
    let zero = column.better == Better::Higher && cell.value.is_some_and(|v| v.hi() == 0.0);
    if cell.failed > 0 || zero {
        finding.judged += 1;
        finding.failures.push(if zero {
            format!("{name}: the result is 0, nothing was done")
        } else {
            let all = cell.failed + cell.n;
            format!("{name}: {} of {all} runs failed", cell.failed)
        });
        return;
    }
    let (Some(ratio), Some(base)) = (cell.ratio, &cell.base) else {
        return;
    };
    finding.judged += 1;
    let worse_is_less = column.better == Better::Higher;
    // With repeats the medians speak and chance is the test's business, or that of each run
    // against each; else the kinder bound.
    let kinder = match worse_is_less {
        true => (ratio.hi(), ratio.lo()),
        false => (ratio.lo(), ratio.hi()),
    };
    let several = cell.p.is_some() || cell.spread.is_some();
    let (for_worse, for_better) = match several {
        true => (ratio.value(), ratio.value()),
        false => kinder,
    };
    let change = |r: f64| if worse_is_less { 1.0 - r } else { r - 1.0 };
    let worse = change(for_worse) > gate.threshold;
    let better = gate.two_sided && -change(for_better) > gate.threshold;
    if !worse && !better {
        return;
    }
    let by = change(ratio.value()).abs() * 100.0;
    let text = |v: f64| Bounds::exact(v).map_or_else(String::new, |b| digits::format_to(b, 2));
    let way = if worse { "worse" } else { "better" };
    let evidence = cell
        .p
        .map_or(String::new(), |p| format!(", p={p:.3} n={}", cell.n));
    let line = format!(
        "{name}: {}x of {base}, {way} by {}% (limit {}%){evidence}",
        digits::format(ratio),
        text(by),
        text(gate.threshold * 100.0)
    );
    let by_chance = match cell.p {
        Some(p) => p > gate.alpha,
        None => several,
    };
    if !by_chance {
        finding.failures.push(line);
    } else if cell.testable {
        finding.unjudged.push(format!("{line}: may be chance"));
    } else if let Some((least, most)) = cell.spread {
        let (kindest, least_kind) = if worse_is_less {
            (most, least)
        } else {
            (least, most)
        };
        let apart = if worse {
            change(kindest) > gate.threshold
        } else {
            -change(least_kind) > gate.threshold
        };
        // Runs known as roughly as one a side are judged by their bounds, too.
        let apart = apart
            && (cell.p.is_some()
                || match worse {
                    true => change(kinder.0) > gate.threshold,
                    false => -change(kinder.1) > gate.threshold,
                });
        if apart {
            finding
                .failures
                .push(format!("{line}: so is each run against each of the base"));
        } else {
            let need = stats::samples_for_difference(gate.alpha);
            let need = need.map_or_else(
                || "no number of runs is enough at this --alpha".to_owned(),
                |n| format!("it takes at least {n} runs on both sides"),
            );
            finding
                .undecided
                .push(format!("{line}: cannot be judged, {need}"));
        }
    }
}

fn compared_elsewhere(grid: &Grid, row: &Row, column: &Column) -> bool {
    if grid.across_rows {
        let at = grid.columns.iter().position(|c| c == column);
        at.is_some_and(|c| {
            grid.rows
                .iter()
                .any(|r| r.cells.get(c).is_some_and(|x| x.ratio.is_some()))
        })
    } else {
        row.cells.iter().any(|c| c.ratio.is_some())
    }
}

fn name(grid: &Grid, row: &Row, column: &Column) -> String {
    let labels = row
        .labels
        .iter()
        .map(|l| l.full.as_str())
        .filter(|l| !l.is_empty());
    let mut parts: Vec<&str> = vec![&grid.title];
    parts.extend(labels);
    parts.push(&column.label.full);
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::samples::report;

    fn gate(threshold: f64) -> Gate {
        Gate {
            threshold,
            metrics: Vec::new(),
            two_sided: false,
            alpha: 0.05,
        }
    }

    #[test]
    fn thresholds_are_shares() {
        assert_eq!(parse_threshold("5%"), Ok(0.05));
        assert_eq!(parse_threshold("0.1"), Ok(0.1));
        for bad in ["", "x", "-1%", "100%", "1.5"] {
            assert!(parse_threshold(bad).is_err(), "{bad}");
        }
    }

    /// The sample has a ratio of 0.758 to 0.766, one of 1.82, a failed and a missing run.
    #[test]
    fn worse_beyond_the_bounds_fails_and_so_do_failed_and_missing_runs() {
        let found = check(&report(), &gate(0.05));
        assert_eq!(found.failures.len(), 3, "{found:?}");
        assert_eq!(
            found.failures[0],
            "write bandwidth, 4k random, New <b>: 0.76x of Old | box, worse by 24% (limit 5.0%)"
        );
        assert!(found.failures[1].ends_with("New <b>: the run failed"));
        assert!(found.failures[2].ends_with("no result, the base has one"));
        // The kinder end is 0.766: worse by 23.4 % at least.
        assert_eq!(check(&report(), &gate(0.233)).failures.len(), 3);
        assert_eq!(check(&report(), &gate(0.235)).failures.len(), 2);
    }

    #[test]
    fn two_sided_and_chosen_metrics() {
        let mut both = gate(0.05);
        both.two_sided = true;
        assert!(
            check(&report(), &both)
                .failures
                .iter()
                .any(|l| l.contains("better by 82%"))
        );
        let mut other = gate(0.05);
        other.metrics = vec!["iops".into()];
        assert_eq!(check(&report(), &other), Finding::default());
    }

    #[test]
    fn chance_does_not_fail() {
        let mut noisy = report();
        noisy.grids[0].rows[0].cells[1].p = Some(0.2);
        noisy.grids[0].rows[0].cells[1].testable = true;
        let found = check(&noisy, &gate(0.05));
        assert_eq!(found.failures.len(), 2);
        assert!(found.unjudged[0].ends_with("may be chance"));
    }

    #[test]
    fn one_failed_run_among_others_fails_and_so_does_a_rate_of_nothing() {
        let cells = |change: fn(&mut Cell)| {
            let mut changed = report();
            change(&mut changed.grids[0].rows[0].cells[1]);
            check(&changed, &gate(0.5)).failures
        };
        let some = cells(|c| (c.n, c.failed) = (4, 1));
        assert_eq!(some.len(), 3, "{some:?}");
        assert!(some[0].ends_with("New <b>: 1 of 5 runs failed"), "{some:?}");
        let nothing = cells(|c| (c.value, c.ratio, c.base) = (Bounds::exact(0.0), None, None));
        assert!(
            nothing[0].ends_with("the result is 0, nothing was done"),
            "{nothing:?}"
        );
    }

    #[test]
    fn a_column_that_a_whole_table_lacks_fails_where_the_base_has_a_result() {
        let mut both = report();
        let whole = check(&both, &gate(0.5)).failures.len();
        let mut half = both.grids[0].clone();
        half.title = "writes".into();
        half.columns.truncate(1);
        for row in &mut half.rows {
            row.cells.truncate(1);
            row.cells[0].is_base = true;
        }
        both.grids.push(half);
        let found = check(&both, &gate(0.5)).failures;
        assert!(found.len() > whole, "{found:?}");
        assert!(
            found[whole..]
                .iter()
                .all(|line| line.starts_with("writes, ")
                    && line.ends_with("no result, the base has one")),
            "{found:?}"
        );
    }
}
