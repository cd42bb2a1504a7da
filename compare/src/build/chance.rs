//! Which cells hold repeats of one test, and whether what is compared differs by more than chance.
//!
//! Place: before the cells of [`super::cell`] get their texts.

use super::{Base, Builder};
use crate::query::Found;
use crate::ratio;
use crate::stats;

impl Builder<'_> {
    /// Mann-Whitney p of every two cells with repeats that are compared, corrected if asked for.
    pub(super) fn compare_samples(&mut self) {
        let mut compared: Vec<(usize, usize)> = Vec::new();
        if let Some(Base::Each) = self.base {
            for group in ratio::partners(&self.cells, &self.projection.across) {
                for (at, a) in group.iter().enumerate() {
                    compared.extend(group[at + 1..].iter().map(|b| (*a, *b)));
                }
            }
        } else {
            let with_base = self.bases.iter().enumerate();
            compared.extend(with_base.filter_map(|(i, base)| Some((i, (*base)?))));
        }
        let values = |index: usize| &self.cells.found[index].values;
        let mut tested: Vec<((usize, usize), f64)> = Vec::new();
        for (a, b) in compared {
            if a != b
                && values(a).len() > 1
                && values(b).len() > 1
                && !self.pools(&self.cells.found[a])
                && !self.pools(&self.cells.found[b])
                && let Some(comparison) = stats::compare(values(a), values(b))
            {
                tested.push(((a, b), comparison.p));
            }
        }
        let mut p_values: Vec<f64> = tested.iter().map(|(_, p)| *p).collect();
        if self.view.holm {
            p_values = stats::holm(&p_values);
        }
        self.p_values = tested
            .into_iter()
            .map(|(pair, _)| pair)
            .zip(p_values)
            .collect();
    }

    /// The test is the same both ways.
    pub(super) fn p_value(&self, a: usize, b: usize) -> Option<f64> {
        let found = self
            .p_values
            .get(&(a, b))
            .or_else(|| self.p_values.get(&(b, a)));
        found.copied()
    }

    /// Does a cell hold several tests or machines that no key shown tells apart? They are no repeats
    /// of one, so how they scatter says nothing of noise.
    pub(super) fn pools(&self, found: &Found) -> bool {
        self.hidden_names().any(|(at, _)| found.names[at].len() > 1)
    }

    /// Are there repeats of one test among these cells?
    pub(super) fn any_repeats(&self, members: &[usize]) -> bool {
        let mut found = members.iter().map(|i| &self.cells.found[*i]);
        found.any(|f| f.values.len() > 1 && !self.pools(f))
    }
}
