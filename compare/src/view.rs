//! What a person asked to see: projections, metrics, base, units.
//!
//! The defaults fit the common cases. Posts: a row for each test, a column for each machine, a
//! table for each direction and metric. One test on more than three machines, or more machines
//! than fit beside each other: the table is turned, a row for each machine. One machine: a column
//! for each metric and no ratios. Many machines and tests of which hardly any two go together, as
//! a folder of unrelated results: a list, likewise without ratios.

use crate::filter::Filter;
use crate::keys::Key;
use crate::metric::Metric;
use crate::scale::Unit;

/// Machines beside each other before the table is turned.
const COLUMNS_AT_MOST: usize = 6;
/// For a single test, likewise.
const COLUMNS_OF_ONE_TEST: usize = 3;
/// A table of machines by tests of which less than one in so many cells is filled is no table.
const SPARSE: usize = 4;

/// A question.
#[derive(Clone, Debug)]
pub struct View {
    /// Keys of the rows, if asked for.
    pub rows: Option<Vec<Key>>,
    /// Keys of the columns, if asked for.
    pub cols: Option<Vec<Key>>,
    /// Keys of the tables, if asked for.
    pub tables: Option<Vec<Key>>,
    /// Settings whose differences are of no interest.
    pub ignore: Vec<Key>,
    /// Metrics, if asked for.
    pub metrics: Option<Vec<Metric>>,
    /// The label that others are compared with, or `best`; none: the first.
    pub base: Option<String>,
    /// Compare each with each instead.
    pub pairwise: bool,
    /// Which records count.
    pub filter: Filter,
    /// Units asked for, at most one of each dimension counts.
    pub units: Vec<Unit>,
    /// Divide rates of different bases all the same.
    pub force: bool,
    /// How rows are ordered.
    pub sort: Sort,
    /// Confidence of the median's interval.
    pub confidence: f64,
    /// A p-value above this shows no difference.
    pub alpha: f64,
    /// Correct the p-values of a report for their number.
    pub holm: bool,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// As they first appear in the input.
    Appearance,
    /// By their labels, numbers by amount.
    Label,
    /// By the value in the first column, best first.
    Value,
    /// By the ratio in the last column, best first.
    Ratio,
}

impl Default for View {
    fn default() -> View {
        View {
            rows: None,
            cols: None,
            tables: None,
            ignore: Vec::new(),
            metrics: None,
            base: None,
            pairwise: false,
            filter: Filter::All,
            units: Vec::new(),
            force: false,
            sort: Sort::Appearance,
            confidence: 0.95,
            alpha: 0.05,
            holm: false,
        }
    }
}

/// The projection that a view comes to over given data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// Keys of the tables.
    pub tables: Vec<Key>,
    /// Keys of the rows.
    pub rows: Vec<Key>,
    /// Keys of the columns.
    pub cols: Vec<Key>,
    /// The keys along which cells are compared with a base; empty if nothing is compared.
    pub across: Vec<Key>,
}

/// What the defaults depend on.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How many machines there are.
    pub machines: usize,
    /// How many tests.
    pub tests: usize,
    /// How many pairs of a machine and a test there are.
    pub pairs: usize,
    /// How many metrics.
    pub metrics: usize,
}

impl View {
    /// Every key that the view may need from the records.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys = vec![Key::MACHINE, Key::TEST, Key::DIRECTION];
        let asked = [&self.rows, &self.cols, &self.tables];
        for key in asked.into_iter().flatten().flatten() {
            if !keys.contains(key) && *key != Key::METRIC {
                keys.push(*key);
            }
        }
        keys
    }

    /// Whether tests stand apart, wherever they go ([`View::project`]).
    pub fn shows_tests(&self) -> bool {
        let asked = [&self.rows, &self.cols, &self.tables];
        let mut asked = asked.into_iter().flatten();
        self.rows.is_none() || asked.any(|keys| keys.contains(&Key::TEST))
    }

    /// Settles where each key goes.
    pub fn project(&self, shape: Shape) -> Projection {
        let turned = if shape.tests == 1 {
            shape.machines > COLUMNS_OF_ONE_TEST
        } else {
            shape.machines > COLUMNS_AT_MOST && shape.machines > shape.tests
        };
        let taken = |key: Key| {
            [&self.rows, &self.cols, &self.tables]
                .into_iter()
                .flatten()
                .any(|keys| keys.contains(&key))
        };
        let free =
            |keys: &[Key]| -> Vec<Key> { keys.iter().copied().filter(|k| !taken(*k)).collect() };
        let nothing_asked = self.rows.is_none() && self.cols.is_none() && self.tables.is_none();
        let least = shape.machines.min(shape.tests);
        let sparse = least > COLUMNS_AT_MOST && shape.pairs * SPARSE < shape.machines * shape.tests;
        let (rows, cols, tables): (&[Key], &[Key], &[Key]) = if sparse && nothing_asked {
            (
                &[Key::MACHINE, Key::TEST],
                &[Key::METRIC],
                &[Key::DIRECTION],
            )
        } else if !nothing_asked {
            (
                &[Key::TEST],
                &[Key::MACHINE],
                &[Key::DIRECTION, Key::METRIC],
            )
        } else if shape.machines <= 1 {
            (&[Key::TEST], &[Key::METRIC], &[Key::DIRECTION])
        } else if turned && shape.tests == 1 {
            (
                &[Key::MACHINE],
                &[Key::METRIC],
                &[Key::DIRECTION, Key::TEST],
            )
        } else if turned {
            (
                &[Key::MACHINE],
                &[Key::TEST],
                &[Key::DIRECTION, Key::METRIC],
            )
        } else {
            (
                &[Key::TEST],
                &[Key::MACHINE],
                &[Key::DIRECTION, Key::METRIC],
            )
        };
        let rows = self.rows.clone().unwrap_or_else(|| free(rows));
        let cols = self.cols.clone().unwrap_or_else(|| free(cols));
        let mut tables = self.tables.clone().unwrap_or_else(|| free(tables));
        // Values of different metrics or directions never share a cell.
        for key in [Key::METRIC, Key::DIRECTION] {
            if !rows.contains(&key) && !cols.contains(&key) && !tables.contains(&key) {
                tables.push(key);
            }
        }
        let comparable = |keys: &[Key]| -> Vec<Key> {
            let fixed = [Key::METRIC, Key::DIRECTION];
            keys.iter()
                .copied()
                .filter(|k| !fixed.contains(k))
                .collect()
        };
        // Machines are compared where they are; else whatever the columns are.
        let across = if sparse && nothing_asked {
            Vec::new()
        } else if shape.machines > 1 && rows.contains(&Key::MACHINE) {
            comparable(&rows)
        } else {
            comparable(&cols)
        };
        if self.pairwise {
            // A matrix of all that are compared for each of what they share.
            let shared = tables.into_iter().chain(rows).chain(cols);
            return Projection {
                tables: shared.filter(|k| !across.contains(k)).collect(),
                rows: across.clone(),
                cols: Vec::new(),
                across,
            };
        }
        Projection {
            tables,
            rows,
            cols,
            across,
        }
    }
}

impl Projection {
    /// A key that is named for two of tables, rows and columns.
    pub fn twice(&self) -> Option<Key> {
        let all: Vec<Key> = (self.tables.iter())
            .chain(&self.rows)
            .chain(&self.cols)
            .copied()
            .collect();
        (all.iter().enumerate())
            .find(|(at, key)| all[..*at].contains(key))
            .map(|(_, key)| *key)
    }

    /// All its keys, each once.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        for key in (self.tables.iter()).chain(&self.rows).chain(&self.cols) {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    fn names(view: &View, machines: usize, tests: usize, metrics: usize) -> String {
        let p = view.project(Shape {
            machines,
            tests,
            pairs: machines * tests,
            metrics,
        });
        let list = |keys: &[Key]| keys.iter().map(|k| k.name()).collect::<Vec<_>>().join(",");
        format!(
            "{} | {} | {} | {}",
            list(&p.tables),
            list(&p.rows),
            list(&p.cols),
            list(&p.across)
        )
    }

    #[test]
    fn defaults_fit_the_data() {
        let view = View::default();
        assert_eq!(
            names(&view, 3, 2, 1),
            "direction,metric | test | machine | machine"
        );
        assert_eq!(
            names(&view, 8, 1, 2),
            "direction,test | machine | metric | machine"
        );
        assert_eq!(
            names(&view, 12, 2, 1),
            "direction,metric | machine | test | machine"
        );
        assert_eq!(names(&view, 1, 5, 1), "direction | test | metric | ");
    }

    #[test]
    fn what_hardly_goes_together_is_a_list() {
        let shape = |pairs| Shape {
            machines: 20,
            tests: 20,
            pairs,
            metrics: 1,
        };
        let of = |pairs| View::default().project(shape(pairs));
        assert_eq!(of(20).rows, [Key::MACHINE, Key::TEST]);
        assert_eq!(of(20).across, []);
        assert_eq!(of(100).across, [Key::MACHINE]);
    }

    #[test]
    fn asked_projections_win_and_cells_never_mix_metrics() {
        let view = View {
            rows: Some(keys::parse_list("bs,rw").unwrap()),
            cols: Some(keys::parse_list("engine").unwrap()),
            ..View::default()
        };
        assert_eq!(
            names(&view, 3, 2, 1),
            "direction,metric | bs,rw | engine | engine"
        );
        let view = View {
            tables: Some(Vec::new()),
            ..View::default()
        };
        assert_eq!(
            names(&view, 3, 2, 1),
            "metric,direction | test | machine | machine"
        );
    }
}
