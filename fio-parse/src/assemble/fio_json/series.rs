//! Status reports: documents that one run prints while it goes on.
//!
//! With `--status-interval`, or on a signal, fio prints the whole report again and again, cumulative, with nothing
//! that marks the last one. Two documents are of one run if they hold the same jobs, nothing of the later one is
//! smaller, something grew, and both tell the same start: `timestamp - elapsed` (from 2.2.9 on), within the two
//! seconds that whole seconds leave open.
//!
//! Before 2.2.9 there is no such evidence. Extremes must then be nested too (minima no larger, maxima no smaller),
//! in every direction; with documents that stand right behind each other that is a run going on.

use super::super::machine::is_zero;
use crate::block::fio_json::{Document, Side, Timestamp};

/// Whether `later` reports on the same run as `earlier` does, when it had gone on.
pub fn supersedes(later: &Document<'_>, earlier: &Document<'_>) -> bool {
    if later.version != earlier.version
        || earlier.jobs.is_empty()
        || later.jobs.len() < earlier.jobs.len()
    {
        return false;
    }
    let same_start = match (start(earlier), start(later)) {
        (Some(a), Some(b)) if (a - b).abs() <= 2.0 => true,
        (None, None) => false,
        _ => return false,
    };
    let mut grew = false;
    for (old, new) in earlier.jobs.iter().zip(&later.jobs) {
        let same = [
            (old.name, new.name),
            (old.group, new.group),
            (old.host, new.host),
            (old.start, new.start),
        ];
        if same.iter().any(|(a, b)| a != b) {
            return false;
        }
        for (direction, side) in &old.sides {
            let Some((_, next)) = new.sides.iter().find(|(other, _)| other == direction) else {
                return false;
            };
            if shrank(side, next) || !same_start && !nested(side, next) {
                return false;
            }
            grew |= number(next.runtime) > number(side.runtime);
        }
    }
    // with the same start, a report that says nothing new is the last one printed twice
    same_start || grew
}

/// Whether a figure that only grows in a run is smaller in the new report.
fn shrank(old: &Side<'_>, new: &Side<'_>) -> bool {
    [
        (old.io_bytes, new.io_bytes),
        (old.runtime, new.runtime),
        (old.total_ios, new.total_ios),
    ]
    .into_iter()
    .any(|(old, new)| number(new) < number(old))
}

/// Whether the extremes of the old report lie within those of the new one.
fn nested(old: &Side<'_>, new: &Side<'_>) -> bool {
    [
        (&old.slat, &new.slat),
        (&old.clat, &new.clat),
        (&old.lat, &new.lat),
    ]
    .into_iter()
    .all(|(old, new)| {
        is_zero(old.stats.max)
            || number(new.stats.min) <= number(old.stats.min)
                && number(new.stats.max) >= number(old.stats.max)
    })
}

/// When the run started, in seconds since 1970.
fn start(document: &Document<'_>) -> Option<f64> {
    let elapsed = document
        .jobs
        .iter()
        .filter_map(|job| number(job.elapsed))
        .fold(None, |most: Option<f64>, e| {
            Some(most.map_or(e, |most| most.max(e)))
        })?;
    let printed = match document.timestamp? {
        Timestamp::Seconds(text) => text.parse::<f64>().ok()?,
        Timestamp::Milliseconds(text) => text.parse::<f64>().ok()? / 1000.0,
    };
    Some(printed - elapsed)
}

fn number(figure: Option<&str>) -> Option<f64> {
    figure?.parse().ok()
}
