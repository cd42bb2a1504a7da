//! Cells over the cells they are compared with.
//!
//! Cells that agree in all keys but those compared across are *partners*: the machines of one test
//! and metric, say. Each is divided by one of them, the base: the same one everywhere, or the best
//! of the partners. The bounds of a ratio are those of the quotient ([`Bounds::divided_by`]).
//! Rates by clocks that cover different things are different quantities and are not divided unless
//! that is asked for.
//!
//! Place: after [`crate::query`], before [`crate::build`].

use std::collections::HashMap;

use crate::bounds::Bounds;
use crate::keys::Key;
use crate::metric::{Better, Metric};
use crate::query::{Cells, Found};

/// What cells are divided by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// The partner with these codes of the keys compared across.
    Fixed(Vec<u32>),
    /// The best of the partners.
    Best,
}

/// The bounds of a cell's median; none where all runs failed.
pub fn bounds(found: &Found) -> Option<Bounds> {
    let (lo, value, hi) = found.bounds?;
    Bounds::new(lo, value.clamp(lo, hi), hi)
}

/// Cells that agree in all keys but `across`, in order of first appearance; within a group by the
/// codes of `across`.
pub fn partners(cells: &Cells, across: &[Key]) -> Vec<Vec<usize>> {
    let compared: Vec<bool> = cells.keys.iter().map(|k| across.contains(k)).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    for (index, found) in cells.found.iter().enumerate() {
        let shared = found.codes.iter().zip(&compared).filter(|(_, c)| !**c);
        let shared: Vec<u32> = shared.map(|(code, _)| *code).collect();
        let group = *known.entry(shared).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(index);
    }
    for group in &mut groups {
        group.sort_by_key(|index| across_codes(cells, *index, across));
    }
    groups
}

/// A cell's codes of the keys compared across.
pub fn across_codes(cells: &Cells, index: usize, across: &[Key]) -> Vec<u32> {
    let at = |key: &Key| cells.keys.iter().position(|k| k == key);
    (across.iter().filter_map(at))
        .map(|i| cells.found[index].codes[i])
        .collect()
}

/// For each cell, the one it is compared with (itself for the base); none where no partner is one.
pub fn bases(cells: &Cells, metrics: &[Metric], across: &[Key], base: &Base) -> Vec<Option<usize>> {
    let mut out = vec![None; cells.found.len()];
    for group in partners(cells, across) {
        let chosen = match base {
            Base::Fixed(codes) => {
                (group.iter().copied()).find(|index| across_codes(cells, *index, across) == *codes)
            }
            Base::Best => best(cells, metrics, &group),
        };
        for index in group {
            out[index] = chosen;
        }
    }
    out
}

/// The best of some cells of one metric; none where no direction is better.
fn best(cells: &Cells, metrics: &[Metric], group: &[usize]) -> Option<usize> {
    let metric = metric_of(cells, metrics, *group.first()?)?;
    let value = |index: &usize| bounds(&cells.found[*index]).map(Bounds::value);
    let with_values = group.iter().copied().filter(|i| value(i).is_some());
    // Of equals the first.
    match metric.better() {
        Better::Neither => None,
        Better::Lower => with_values.min_by(|a, b| order(value(a), value(b))),
        Better::Higher => with_values.rev().max_by(|a, b| order(value(a), value(b))),
    }
}

fn order(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0))
}

fn metric_of(cells: &Cells, metrics: &[Metric], index: usize) -> Option<Metric> {
    let code = match cells.keys.iter().position(|k| *k == Key::METRIC) {
        Some(at) => cells.found[index].codes[at],
        None => 0,
    };
    metrics.get(code as usize).copied()
}

/// Do both times cover the same?
pub fn same_basis(a: &Found, b: &Found) -> bool {
    a.basis.0 == a.basis.1 && a.basis == b.basis
}

/// Does each show one figure for the same number of jobs? One that shows its jobs apart is no
/// partner for one that shows their sum.
pub fn same_parts(a: &Found, b: &Found) -> bool {
    a.parts == b.parts
}

/// One cell over another; a cell over itself is one, whatever its bounds. None where either has no
/// value, the divisor may be zero, or they cover different things and `force` is not set.
pub fn ratio(cells: &Cells, over: usize, under: usize, force: bool) -> Option<Bounds> {
    let (a, b) = (&cells.found[over], &cells.found[under]);
    let alike = same_basis(a, b) && same_parts(a, b);
    if !alike && !force {
        return None;
    }
    let (top, bottom) = (bounds(a)?, bounds(b)?);
    let ends = top.divided_by(bottom)?;
    if over == under {
        return Some(Bounds::ONE);
    }
    let of_medians = top.value() / bottom.value();
    Bounds::new(ends.lo(), of_medians.clamp(ends.lo(), ends.hi()), ends.hi())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machines 0 to 2 under test 0, of which 1 is best; machine 0 alone under test 1.
    fn cells() -> Cells {
        let cell = |test: u32, machine: u32, value: f64| Found {
            codes: vec![test, machine],
            bounds: Some((value, value, value)),
            values: vec![value],
            failed: 0,
            parts: 1,
            summed: 0,
            how: 0,
            basis: (0, 0),
            notes: Vec::new(),
            settings: Vec::new(),
            names: Default::default(),
            unasked: false,
        };
        Cells {
            keys: vec![Key::TEST, Key::MACHINE],
            found: vec![
                cell(0, 0, 100.0),
                cell(0, 1, 400.0),
                cell(1, 0, 7.0),
                cell(0, 2, 50.0),
            ],
        }
    }

    #[test]
    fn the_base_is_one_for_all_or_the_best_of_the_partners() {
        let (cells, across) = (cells(), [Key::MACHINE]);
        let of = |base: &Base, metric| bases(&cells, &[metric], &across, base);
        let first = Base::Fixed(vec![0]);
        assert_eq!(
            of(&first, Metric::Bandwidth),
            [Some(0), Some(0), Some(2), Some(0)]
        );
        let third = Base::Fixed(vec![2]);
        assert_eq!(
            of(&third, Metric::Bandwidth),
            [Some(3), Some(3), None, Some(3)]
        );
        assert_eq!(
            of(&Base::Best, Metric::Bandwidth),
            [Some(1), Some(1), Some(2), Some(1)]
        );
        assert_eq!(
            of(&Base::Best, Metric::Flush)[0],
            Some(3),
            "less time is better"
        );
        assert_eq!(of(&Base::Best, Metric::Bytes), [None; 4]);
    }

    #[test]
    fn different_clocks_are_not_divided() {
        let mut cells = cells();
        assert_eq!(ratio(&cells, 1, 0, false).map(Bounds::value), Some(4.0));
        assert_eq!(ratio(&cells, 0, 0, false), Some(Bounds::ONE));
        cells.found[1].basis = (1, 1);
        assert_eq!(ratio(&cells, 1, 0, false), None);
        assert_eq!(ratio(&cells, 1, 0, true).map(Bounds::value), Some(4.0));
        cells.found[0].bounds = Some((0.0, 1.0, 2.0));
        assert_eq!(ratio(&cells, 1, 0, true), None);
    }

    #[test]
    fn jobs_shown_apart_are_not_divided_by_a_sum() {
        let mut cells = cells();
        cells.found[1].parts = 3;
        assert_eq!(ratio(&cells, 1, 0, false), None);
        assert!(ratio(&cells, 1, 0, true).is_some());
        cells.found[0].parts = 3;
        assert!(ratio(&cells, 1, 0, false).is_some());
    }
}
