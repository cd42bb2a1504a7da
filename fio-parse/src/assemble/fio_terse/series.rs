//! Status reports in terse lines: lines that one run prints while it goes on.
//!
//! With `--status-interval` fio prints the lines of all jobs again and again, cumulative, and nothing tells them from
//! the lines of several jobs of one name (`numjobs`). Lines are taken for later reports of the same run only where in
//! every direction more was moved, in more time, and the extremes of the earlier report lie within those of the
//! later one; and where the time that went by from the first report on is a tenth of a second at least and a
//! twentieth of the whole. Jobs that run beside each other end at nearly the same time, or move the same amount.

use super::super::machine::is_zero;
use crate::block::fio_terse::{Row, Side};

/// How many of the rows make one report. All of them, unless they are several reports of one run.
pub fn rows_of_a_report(rows: &[Row<'_>]) -> usize {
    let several = |&rows_each: &usize| {
        rows.len().is_multiple_of(rows_each)
            && rows
                .iter()
                .zip(&rows[rows_each..])
                .all(|(earlier, later)| goes_on(earlier, later))
            && time_went_by(&rows[..rows_each], &rows[rows_each..2 * rows_each])
    };
    (1..=rows.len() / 2)
        .find(several)
        .unwrap_or(rows.len().max(1))
}

/// Whether `later` reports on the run that `earlier` reports on; `first` is the first report of that run.
pub fn supersedes(later: &[Row<'_>], earlier: &[Row<'_>], first: &[Row<'_>]) -> bool {
    later.len() == earlier.len()
        && !later.is_empty()
        && earlier
            .iter()
            .zip(later)
            .all(|(earlier, later)| goes_on(earlier, later))
        && time_went_by(first, later)
}

fn goes_on(earlier: &Row<'_>, later: &Row<'_>) -> bool {
    (earlier.name, earlier.group, earlier.fio) == (later.name, later.group, later.fio)
        && earlier.sides.len() == later.sides.len()
        && earlier
            .sides
            .iter()
            .zip(&later.sides)
            .all(|((_, earlier), (_, later))| !earlier.moved_bytes() || grew(earlier, later))
        && earlier.sides.iter().any(|(_, side)| side.moved_bytes())
}

fn grew(earlier: &Side<'_>, later: &Side<'_>) -> bool {
    let nested = |earlier: [&str; 4], later: [&str; 4]| {
        is_zero(Some(earlier[1]))
            || number(later[0]) <= number(earlier[0]) && number(later[1]) >= number(earlier[1])
    };
    number(later.io) > number(earlier.io)
        && number(later.runtime) > number(earlier.runtime)
        && nested(earlier.slat, later.slat)
        && nested(earlier.clat, later.clat)
        && earlier
            .lat
            .zip(later.lat)
            .is_none_or(|(earlier, later)| nested(earlier, later))
}

fn time_went_by(first: &[Row<'_>], later: &[Row<'_>]) -> bool {
    let longest = |rows: &[Row<'_>]| {
        let sides = rows.iter().flat_map(|row| &row.sides);
        sides
            .filter_map(|(_, side)| number(side.runtime))
            .max()
            .unwrap_or(0)
    };
    let (from, to) = (longest(first), longest(later));
    to >= from + 100 && to - from >= to / 20
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}
