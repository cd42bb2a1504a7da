//! The base: what the other cells are compared with.

use super::words::join_labels;
use super::{Error, key_text};
use crate::frame::Frame;
use crate::metric::Metric;
use crate::query;
use crate::view::{Projection, View};

/// What others are compared with.
pub(super) struct Base {
    /// Codes of the keys compared across.
    pub(super) codes: Vec<u32>,
    /// Its label.
    pub(super) name: String,
}

pub(super) fn choose_base(
    frame: &Frame,
    view: &View,
    metrics: &[Metric],
    projection: &Projection,
) -> Result<Option<Base>, Error> {
    if projection.across.is_empty() {
        return match &view.base {
            None => Ok(None),
            Some(base) => Err(Error::Request(format!(
                "there is nothing to compare with `{base}`: only one column of values"
            ))),
        };
    }
    let all = query::cells(frame, metrics, projection, None, view.force)?;
    let at: Vec<usize> = (projection.across.iter())
        .filter_map(|key| all.keys.iter().position(|k| k == key))
        .collect();
    let mut candidates: Vec<Vec<u32>> = Vec::new();
    for found in &all.found {
        let codes: Vec<u32> = at.iter().map(|i| found.codes[*i]).collect();
        if !candidates.contains(&codes) {
            candidates.push(codes);
        }
    }
    candidates.sort();
    let name = |codes: &[u32]| {
        let texts: Vec<&str> = (projection.across.iter().zip(codes))
            .map(|(key, code)| key_text(frame, *key, *code))
            .collect();
        join_labels(&texts)
    };
    let chosen = match &view.base {
        None => candidates.first().cloned(),
        Some(wanted) => {
            let lower = wanted.to_lowercase();
            let exact: Vec<&Vec<u32>> = candidates.iter().filter(|c| name(c) == *wanted).collect();
            let close: Vec<&Vec<u32>> = (candidates.iter())
                .filter(|c| name(c).to_lowercase().contains(&lower))
                .collect();
            match (exact.as_slice(), close.as_slice()) {
                ([one], _) | ([], [one]) => Some((*one).clone()),
                (_, many) => {
                    let found = if many.is_empty() { "none" } else { "several" };
                    let names: Vec<String> = candidates
                        .iter()
                        .map(|c| format!("`{}`", name(c)))
                        .collect();
                    return Err(Error::Request(format!(
                        "expected --base to name one of {}; `{wanted}` fits {found}",
                        names.join(", ")
                    )));
                }
            }
        }
    };
    // A single candidate has nothing to be compared with.
    Ok(chosen.filter(|_| candidates.len() > 1).map(|codes| Base {
        name: name(&codes),
        codes,
    }))
}
