//! The texts and numbers of one cell, and the row of means.

use super::Builder;
use crate::bounds::Bounds;
use crate::digits;
use crate::grid::{Cell, Column, Label, Part, Row, State, Verdict};
use crate::metric::{Better, Metric};
use crate::ratio::bounds;
use crate::stats::{self, MedianInterval};

impl Builder<'_> {
    pub(super) fn cell(&self, index: Option<usize>, base: Option<usize>, column: &Column) -> Cell {
        let empty = |text: &str, state: State| Cell {
            state,
            texts: (column.parts.iter())
                .map(|p| {
                    if *p == Part::Value {
                        text.to_owned()
                    } else {
                        String::new()
                    }
                })
                .collect(),
            ..Cell::default()
        };
        let Some(index) = index else {
            return empty("-", State::Missing);
        };
        let found = &self.cells.found[index];
        let Some(value) = bounds(found) else {
            return empty(
                if found.failed > 0 { "failed" } else { "-" },
                if found.failed > 0 {
                    State::Failed
                } else {
                    State::Missing
                },
            );
        };
        let interval = stats::median_interval(&found.values, self.view.confidence)
            .filter(|_| found.values.len() > 1 && !self.pools(found));
        let ratio = base.and_then(|base| self.ratio(index, base));
        let is_base = base == Some(index);
        let p = base.and_then(|base| self.p_value(index, base));
        let least_p = |base: usize| {
            let counts = (found.values.len(), self.cells.found[base].values.len());
            // Holm multiplies the least of all by their number.
            let times = if self.view.holm {
                self.p_values.len()
            } else {
                1
            };
            stats::least_p(counts.0, counts.1) * times as f64
        };
        let spread = |base: usize| {
            let (mine, theirs) = (&found.values, &self.cells.found[base].values);
            let (low, high) = (theirs.first()?, theirs.last()?);
            (*low > 0.0).then_some((mine.first()? / high, mine.last()? / low))
        };
        let tested = base.filter(|_| p.is_some());
        let of_several =
            base.filter(|base| found.values.len() > 1 || self.cells.found[*base].values.len() > 1);
        let verdict = match ratio {
            Some(ratio) if !is_base => self.verdict(ratio, p, self.metric(found)),
            _ => Verdict::None,
        };
        let text = |part: &Part| match part {
            Part::Value => digits::format(value.times(1.0 / column.unit.factor)),
            Part::Spread => interval.map_or(String::new(), spread_text),
            Part::Ratio => match (ratio, verdict) {
                (None, _) => String::new(),
                (Some(_), Verdict::Same) => "~".to_owned(),
                (Some(ratio), _) => format!("{}x", digits::format(ratio)),
            },
            Part::Evidence => match base {
                _ if is_base || ratio.is_none() => String::new(),
                Some(base) => {
                    let (mine, theirs) = (found.values.len(), self.cells.found[base].values.len());
                    let n = if mine == theirs {
                        format!("n={mine}")
                    } else {
                        format!("n={theirs}+{mine}")
                    };
                    p.map_or(n.clone(), |p| format!("p={p:.3} {n}"))
                }
                None => String::new(),
            },
        };
        Cell {
            state: State::Value,
            texts: column.parts.iter().map(text).collect(),
            marks: Vec::new(),
            value: Some(value),
            n: found.values.len(),
            failed: found.failed,
            interval: interval
                .filter(|i| i.lo.is_finite() && i.hi.is_finite())
                .map(|i| (i.lo, i.hi)),
            ratio,
            base: base.filter(|_| ratio.is_some()).map(|base| self.name(base)),
            is_base,
            p,
            spread: of_several.and_then(spread),
            testable: tested.is_some_and(|base| least_p(base) <= self.view.alpha),
            verdict,
        }
    }

    /// Better or worse only beyond the bounds and, where there are repeats, beyond chance.
    fn verdict(&self, ratio: Bounds, p: Option<f64>, metric: Metric) -> Verdict {
        let by_chance = p.is_some_and(|p| p > self.view.alpha);
        if by_chance || (ratio.lo() <= 1.0 && ratio.hi() >= 1.0) {
            return Verdict::Same;
        }
        match (metric.better(), ratio.lo() > 1.0) {
            (Better::Neither, _) => Verdict::None,
            (Better::Higher, true) | (Better::Lower, false) => Verdict::Better,
            (Better::Higher, false) | (Better::Lower, true) => Verdict::Worse,
        }
    }
}

/// How far the interval of a median reaches from it, in percent of it; by the rules of benchstat, so
/// that both print the same: the farther end counts, and where an end is zero and the median is not
/// there is no such share.
fn spread_text(interval: MedianInterval) -> String {
    let MedianInterval { median, lo, hi, .. } = interval;
    if lo.is_infinite() || hi.is_infinite() {
        "∞".to_owned()
    } else if (median > 0.0) != (lo > 0.0) || (median > 0.0) != (hi > 0.0) {
        "?".to_owned()
    } else if median == 0.0 {
        "0%".to_owned()
    } else {
        format!("{:.0}%", 100.0 * (hi / median - 1.0).max(1.0 - lo / median))
    }
}

/// The geometric mean of each column's ratios over the rows in which every column has one. None
/// for fewer than two such rows.
pub(super) fn geomean_row(rows: &[Row], columns: &[Column], labels: usize) -> Option<Row> {
    let compared: Vec<usize> = (0..columns.len())
        .filter(|c| columns[*c].parts.contains(&Part::Ratio))
        .collect();
    let shared: Vec<&Row> = (rows.iter())
        .filter(|row| compared.iter().all(|c| row.cells[*c].ratio.is_some()))
        .collect();
    if compared.is_empty() || shared.len() < 2 || compared.len() < 2 {
        return None;
    }
    let cells = (columns.iter().enumerate())
        .map(|(c, column)| {
            let ratios: Vec<Bounds> = shared.iter().filter_map(|row| row.cells[c].ratio).collect();
            let mean = |end: fn(Bounds) -> f64| {
                stats::geomean(&ratios.iter().map(|r| end(*r)).collect::<Vec<f64>>())
            };
            let bounds = match (mean(Bounds::lo), mean(Bounds::value), mean(Bounds::hi)) {
                (Some(lo), Some(value), Some(hi)) => Bounds::new(lo, value.clamp(lo, hi), hi),
                _ => None,
            };
            let ratio = bounds.filter(|_| compared.contains(&c));
            Cell {
                state: State::Summary,
                texts: (column.parts.iter())
                    .map(|part| match (part, ratio) {
                        (Part::Ratio, Some(ratio)) => format!("{}x", digits::format(ratio)),
                        _ => String::new(),
                    })
                    .collect(),
                n: shared.len(),
                ratio,
                ..Cell::default()
            }
        })
        .collect();
    let count = if shared.len() == rows.len() {
        format!("{} rows", rows.len())
    } else {
        format!("{} of {} rows", shared.len(), rows.len())
    };
    let mut texts = vec![Label::plain(format!("geomean of {count}"))];
    texts.resize(labels.max(1), Label::default());
    Some(Row {
        labels: texts,
        keys: Vec::new(),
        cells,
        summary: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What golang.org/x/perf's benchstat prints for the same centre and ends.
    #[test]
    fn the_spread_is_printed_as_benchstat_prints_it() {
        for (median, lo, hi, want) in [
            (1.0, 0.5, 1.1, "50%"),
            (1.0, 0.9, 1.5, "50%"),
            (1.0, 1.0, 1.0, "0%"),
            (200.0, 195.0, 209.0, "4%"),
            (200.0, 195.0, 209.2, "5%"),
            // Halves go to the even percent.
            (1.0, 0.875, 1.0, "12%"),
            (1.0, 0.625, 1.0, "38%"),
            (1.0, f64::NEG_INFINITY, 1.0, "∞"),
            (1.0, 0.0, 1.0, "?"),
            (0.0, 0.0, 1.0, "?"),
            (0.0, 0.0, 0.0, "0%"),
        ] {
            let interval = MedianInterval {
                median,
                lo,
                hi,
                confidence: 0.95,
            };
            assert_eq!(spread_text(interval), want, "{median} {lo} {hi}");
        }
    }
}
