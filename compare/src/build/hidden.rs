//! Keys that a table does not show, and the names of what its cells pool.

use super::{Builder, key_text, used};
use crate::keys::Key;
use crate::query::NAMES;
use crate::view::Shape;

/// How many of the names that one cell pools are told.
const NAMES_SHOWN: usize = 4;

impl Builder<'_> {
    /// Machine and test, where they are not projected on: their place in [`Found::names`] and key.
    pub(super) fn hidden_names(&self) -> impl Iterator<Item = (usize, Key)> {
        let shown = self.shown();
        (NAMES.into_iter().enumerate()).filter(move |(_, key)| !shown.contains(key))
    }

    /// The first few of the machines or tests of a cell.
    pub(super) fn names_of(&self, key: Key, codes: &[u32]) -> String {
        let shown = codes.iter().take(NAMES_SHOWN);
        let shown: Vec<&str> = shown.map(|code| key_text(self.frame, key, *code)).collect();
        match codes.len().saturating_sub(NAMES_SHOWN) {
            0 => shown.join("; "),
            more => format!("{} and {more} more", shown.join("; ")),
        }
    }

    /// The keys that the same question has where there are more machines, if each has one value.
    pub(super) fn hidden_keys(&self) -> Vec<(String, String)> {
        let shape = Shape {
            machines: 2,
            tests: used(self.frame, Key::TEST),
            pairs: 2,
            metrics: self.metrics.len(),
        };
        let keys = self.view.project(shape).keys();
        let hidden = keys
            .into_iter()
            .filter(|key| !self.cells.keys.contains(key));
        hidden
            .filter(|key| used(self.frame, *key) == 1)
            .map(|key| {
                (
                    key.name().to_owned(),
                    key_text(self.frame, key, 0).to_owned(),
                )
            })
            .collect()
    }
}
