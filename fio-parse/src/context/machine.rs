//! Which place names the machine: the rules stand at the top of `context`.

use super::{Found, Place};
use std::collections::{HashMap, HashSet};

/// The place whose labels tell machines apart; see the module's rules.
pub(super) fn machine_place(found: &[Found]) -> Option<Place> {
    places(found)
        .into_iter()
        .chain([Place::Sentence])
        .find(|&place| tells_apart(found, place))
}

/// Whether another place than `machine` tells results apart as well and in another way.
pub(super) fn is_ambiguous(found: &[Found], machine: Place) -> bool {
    if machine == Place::Sentence {
        return false;
    }
    places(found)
        .into_iter()
        .filter(|&place| place != machine)
        .any(|other| {
            let mut pairs = HashSet::new();
            for result in found {
                let (Some(a), Some(b)) = (result.labels.at(machine), result.labels.at(other))
                else {
                    return false;
                };
                pairs.insert((&*a.text, &*b.text));
            }
            let ours: HashSet<_> = pairs.iter().map(|pair| pair.0).collect();
            let others: HashSet<_> = pairs.iter().map(|pair| pair.1).collect();
            ours.len() == others.len() && pairs.len() > ours.len() && tells_apart(found, other)
        })
}

/// The places that may name the machine, the first choice first; sentences, the last, left out.
fn places(found: &[Found]) -> Vec<Place> {
    let mut levels: Vec<u8> = found
        .iter()
        .flat_map(|result| result.labels.headings.iter().map(|&(level, _)| level))
        .collect::<HashSet<_>>()
        .into_iter()
        .collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    [Place::Caption, Place::Title]
        .into_iter()
        .chain(levels.into_iter().map(Place::Heading))
        .chain([Place::Host])
        .collect()
}

/// Whether two results of one workload and direction have different labels at `place`.
fn tells_apart(found: &[Found], place: Place) -> bool {
    let mut first: HashMap<(&str, u8), &str> = HashMap::new();
    found.iter().any(|result| {
        let Some(label) = result.labels.at(place) else {
            return false;
        };
        let workload = result.workload.as_ref().or(result.below.as_ref());
        let key = workload.map_or("", |w| w.key.as_str());
        let seen = first.entry((key, result.directions)).or_insert(&label.text);
        **seen != *label.text
    })
}
