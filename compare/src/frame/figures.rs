//! Figures of one kind, one a record or sample, in as little memory as they take.
//!
//! Most tools' figures are exact: then the bounds are the value, and 8 bytes keep all three.

use polars::prelude::*;

use crate::bounds::Bounds;

/// Values with their bounds; what is missing is no number.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    value: Vec<f64>,
    /// The lower and the upper ends, once one of them is not the value.
    ends: Option<[Vec<f64>; 2]>,
}

impl Figures {
    /// Adds a figure.
    pub fn push(&mut self, figure: Bounds) {
        if self.ends.is_none() && !figure.is_exact() {
            self.part();
        }
        self.value.push(figure.value());
        if let Some([lo, hi]) = &mut self.ends {
            lo.push(figure.lo());
            hi.push(figure.hi());
        }
    }

    /// Keeps the ends apart from now on.
    fn part(&mut self) {
        if self.ends.is_none() {
            self.ends = Some([self.value.clone(), self.value.clone()]);
        }
    }

    /// Figures are missing up to this many.
    pub fn fill_up_to(&mut self, count: usize) {
        self.value.resize(count, f64::NAN);
        if let Some(ends) = &mut self.ends {
            ends.iter_mut().for_each(|end| end.resize(count, f64::NAN));
        }
    }

    /// The figure of a record; none if it is missing.
    pub fn get(&self, at: usize) -> Option<Bounds> {
        let value = *self.value.get(at)?;
        match &self.ends {
            Some([lo, hi]) => Bounds::new(lo[at], value, hi[at]),
            None => Bounds::exact(value),
        }
    }

    /// Puts a figure in the place of another.
    pub fn set(&mut self, at: usize, figure: Option<Bounds>) {
        if at >= self.len() && figure.is_none() {
            return;
        }
        self.fill_up_to(self.len().max(at + 1));
        if figure.is_some_and(|f| !f.is_exact()) {
            self.part();
        }
        let end = |get: fn(Bounds) -> f64| figure.map_or(f64::NAN, get);
        self.value[at] = end(Bounds::value);
        if let Some([lo, hi]) = &mut self.ends {
            (lo[at], hi[at]) = (end(Bounds::lo), end(Bounds::hi));
        }
    }

    /// Drops the figures of the records that are gone.
    pub fn leave_out(&mut self, gone: &[bool]) {
        let ends = self.ends.iter_mut().flatten();
        for values in ends.chain([&mut self.value]) {
            let mut gone = gone.iter();
            values.retain(|_| gone.next() != Some(&true));
        }
    }

    /// Adds those of another.
    pub fn append(&mut self, other: Figures) {
        match (&mut self.ends, other.ends) {
            (None, None) => {}
            (_, theirs) => {
                self.part();
                let theirs = theirs.unwrap_or_else(|| [other.value.clone(), other.value.clone()]);
                for (mine, theirs) in self.ends.iter_mut().flatten().zip(theirs) {
                    mine.extend(theirs);
                }
            }
        }
        self.value.extend(other.value);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// The values, and the lower and the upper ends unless those are the values.
    pub fn into_parts(self) -> (Vec<f64>, Option<[Vec<f64>; 2]>) {
        (self.value, self.ends)
    }

    /// As columns of this height, called `NAME:lo` and so on; those of exact figures share memory.
    pub(super) fn into_columns(mut self, name: &str, height: usize) -> [Column; 3] {
        let names = ["lo", "value", "hi"].map(|end| PlSmallStr::from(format!("{name}:{end}")));
        if self.is_empty() {
            return names.map(|name| Column::full_null(name, height, &DataType::Float64));
        }
        self.fill_up_to(height);
        // A record has all three ends or none.
        let gaps = self.value.iter().any(|v| v.is_nan());
        let column = |values: Vec<f64>| {
            if gaps {
                let there = values.into_iter().map(|v| Some(v).filter(|v| !v.is_nan()));
                Float64Chunked::from_iter_options(PlSmallStr::EMPTY, there).into_column()
            } else {
                Float64Chunked::from_vec(PlSmallStr::EMPTY, values).into_column()
            }
        };
        let value = column(self.value);
        let columns = match self.ends {
            Some([lo, hi]) => [column(lo), value, column(hi)],
            None => [value.clone(), value.clone(), value],
        };
        let mut columns = columns.into_iter().zip(names);
        std::array::from_fn(|_| {
            let (column, name) = columns.next().expect("three names for three columns");
            column.with_name(name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(list: &[(f64, f64)]) -> Figures {
        let mut figures = Figures::default();
        for (lo, hi) in list {
            figures.push(Bounds::between(*lo, *hi).unwrap());
        }
        figures
    }

    #[test]
    fn exact_figures_keep_one_column_until_another_comes() {
        let mut all = figures(&[(1.0, 1.0), (2.0, 2.0)]);
        assert!(all.ends.is_none());
        all.push(Bounds::between(3.0, 5.0).unwrap());
        let (value, ends) = all.into_parts();
        assert_eq!(value, [1.0, 2.0, 4.0]);
        assert_eq!(ends.unwrap(), [[1.0, 2.0, 3.0], [1.0, 2.0, 5.0]]);
    }

    #[test]
    fn joined_figures_are_those_of_both() {
        let kinds = [&[(1.0, 1.0)][..], &[(2.0, 4.0)], &[]];
        for (a, b) in kinds.iter().flat_map(|a| kinds.iter().map(move |b| (a, b))) {
            let mut joined = figures(a);
            joined.append(figures(b));
            let whole = figures(&[*a, *b].concat());
            assert_eq!(joined.into_parts(), whole.into_parts(), "{a:?} {b:?}");
        }
    }

    #[test]
    fn gaps_are_missing_in_all_three_columns() {
        let mut some = figures(&[(1.0, 1.0)]);
        some.fill_up_to(2);
        some.push(Bounds::between(2.0, 3.0).unwrap());
        for (column, end) in some
            .into_columns("q", 4)
            .into_iter()
            .zip(["lo", "value", "hi"])
        {
            assert_eq!(column.name().as_str(), format!("q:{end}"));
            let there: Vec<bool> = column
                .is_not_null()
                .iter()
                .map(|b| b == Some(true))
                .collect();
            assert_eq!(there, [true, false, true, false]);
        }
    }
}
