//! The base: what the other cells are compared with.

use super::words::join_labels;
use super::{Error, key_text};
use crate::frame::Frame;
use crate::query::Cells;
use crate::ratio;
use crate::view::{Projection, View};

/// What others are compared with.
pub(super) enum Base {
    /// One for the whole report: its codes of the keys compared across, and its label.
    One { codes: Vec<u32>, name: String },
    /// In each row the best.
    Best,
    /// Each with each.
    Each,
}

/// The name that asks for the best instead of a label.
const BEST: &str = "best";

pub(super) fn choose_base(
    frame: &Frame,
    view: &View,
    cells: &Cells,
    projection: &Projection,
) -> Result<Option<Base>, Error> {
    if projection.across.is_empty() {
        let nothing = "only one column of values";
        return match &view.base {
            Some(base) => Err(Error::Request(format!(
                "there is nothing to compare with `{base}`: {nothing}"
            ))),
            None if view.pairwise => Err(Error::Request(format!(
                "there are no pairs to compare: {nothing}"
            ))),
            None => Ok(None),
        };
    }
    let mut candidates: Vec<Vec<u32>> = (0..cells.found.len())
        .map(|index| ratio::across_codes(cells, index, &projection.across))
        .collect();
    candidates.sort();
    candidates.dedup();
    // A single candidate has nothing to be compared with.
    let several = candidates.len() > 1;
    if view.pairwise {
        return Ok(several.then_some(Base::Each));
    }
    let name = |codes: &[u32]| {
        let texts: Vec<&str> = (projection.across.iter().zip(codes))
            .map(|(key, code)| key_text(frame, *key, *code))
            .collect();
        join_labels(&texts)
    };
    let chosen = match &view.base {
        None => candidates.first(),
        Some(wanted) => {
            let lower = wanted.to_lowercase();
            let exact: Vec<&Vec<u32>> = candidates.iter().filter(|c| name(c) == *wanted).collect();
            if exact.is_empty() && lower == BEST {
                return Ok(several.then_some(Base::Best));
            }
            let close: Vec<&Vec<u32>> = (candidates.iter())
                .filter(|c| name(c).to_lowercase().contains(&lower))
                .collect();
            match (exact.as_slice(), close.as_slice()) {
                ([one], _) | ([], [one]) => Some(*one),
                (_, many) => {
                    let found = if many.is_empty() { "none" } else { "several" };
                    let names: Vec<String> = candidates
                        .iter()
                        .map(|c| format!("`{}`", name(c)))
                        .collect();
                    return Err(Error::Request(format!(
                        "expected --base to be `best` or to name one of {}; `{wanted}` fits {found}",
                        names.join(", ")
                    )));
                }
            }
        }
    };
    Ok(chosen.filter(|_| several).map(|codes| Base::One {
        name: name(codes),
        codes: codes.clone(),
    }))
}
