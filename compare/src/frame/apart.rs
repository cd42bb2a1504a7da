//! Runs of one test on one machine that were asked for differently are no repeats: they are told apart by what differs.
//!
//! What folders sort results by stands with the test where two machines have a value in common, so that like
//! is set against like ([`join_tests`]); all else stands with the machine ([`told_apart`]).
//!
//! Place: while the frame is finished, before anything is pooled.

use std::collections::{HashMap, HashSet};

use super::Wanted;
use crate::dict::Dict;
use crate::keys::{Key, UNKNOWN};
use crate::residue;

/// The settings, as index and key, in which the results of one machine and test differ.
type Apart = HashMap<(u32, u32), Vec<(usize, Key)>>;

/// Splits tests by what the folders say of them: a key of which one machine has several values, and two
/// machines one of these. `tests` and `names` are those of the contexts, whose `machines` and `settings`
/// are given, too.
pub(super) fn join_tests<'t>(
    wanted: &Wanted,
    sorted_by: &[Key],
    (settings, sets): (&[u32], &[Vec<u32>]),
    machines: &[u32],
    (tests, names): (&mut [u32], &mut Dict<String>),
    text: &impl Fn(u32) -> &'t str,
) {
    let keys: Vec<(usize, Key)> = (Key::settings().enumerate())
        .filter(|(_, k)| *k == Key::FOLDER || sorted_by.contains(k))
        .filter(|(_, k)| !wanted.keys.contains(k) && !wanted.ignored.contains(k))
        .collect();
    // Of each test and key the values, each with its machines.
    let mut known: HashMap<(u32, usize), HashMap<u32, HashSet<u32>>> = HashMap::new();
    for ((test, machine), set) in tests.iter().zip(machines).zip(settings) {
        for (at, _) in &keys {
            let value = sets[*set as usize][*at];
            let values = known.entry((*test, *at)).or_default();
            values.entry(value).or_default().insert(*machine);
        }
    }
    known.retain(|_, values| {
        let of_machines: Vec<u32> = values.values().flatten().copied().collect();
        let machines: HashSet<u32> = of_machines.iter().copied().collect();
        let is_shared = values.values().any(|machines| machines.len() > 1);
        let said = values.keys().all(|value| text(*value) != UNKNOWN);
        is_shared && said && machines.len() < of_machines.len()
    });
    if known.is_empty() {
        return;
    }
    for (test, set) in tests.iter_mut().zip(settings) {
        let words: Vec<String> = (keys.iter())
            .filter(|(at, _)| known.contains_key(&(*test, *at)))
            .map(|(at, key)| residue::one(*key, text(sets[*set as usize][*at])))
            .collect();
        if !words.is_empty() {
            let name = names.get(*test).map_or("", String::as_str);
            *test = names.code(format!("{name} ({})", words.join(", ")).as_str());
        }
    }
}

/// Repeats of a test on a machine were asked for alike. Where one machine ran a test in several
/// ways (with and without `oflag=dsync`, say), these are no repeats: gives, for each test and
/// machine, the settings that were asked for and differ. Settings that are projected on or
/// ignored tell nothing apart, nor does what was found and not asked for (versions, systems), unless
/// folders are `sorted_by` it.
pub(super) fn told_apart(
    wanted: &Wanted,
    sorted_by: &[Key],
    (settings, sets): (&[u32], &[Vec<u32>]),
    tests: &[u32],
    machines: &[u32],
    is_said: impl Fn(u32) -> bool,
) -> (Vec<u32>, Apart) {
    let keys: Vec<(usize, Key)> = (Key::settings().enumerate())
        .filter(|(_, k)| k.empty_is_off() || sorted_by.contains(k))
        .filter(|(_, k)| !wanted.keys.contains(k) && !wanted.ignored.contains(k))
        .collect();
    let mut seen: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    for ((test, machine), set) in tests.iter().zip(machines).zip(settings) {
        let list = seen.entry((*test, *machine)).or_default();
        if !list.contains(set) {
            list.push(*set);
        }
    }
    let mut apart = Apart::new();
    for (cell, list) in seen.into_iter().filter(|(_, list)| list.len() > 1) {
        let of = |set: &u32, index: usize| sets[*set as usize][index];
        let differ = keys.iter().copied().filter(|(i, _)| {
            let mut known = list.iter().map(|set| of(set, *i)).filter(|c| is_said(*c));
            let first = known.next();
            known.any(|code| Some(code) != first)
        });
        let differ: Vec<(usize, Key)> = differ.collect();
        if !differ.is_empty() {
            apart.insert(cell, differ);
        }
    }
    (tests.to_vec(), apart)
}

/// New codes and names of the machines: those told apart get the differing settings behind their
/// name, or as their name if there is just one, and that only the name of an input (`unnamed`).
/// Order of first appearance is kept.
pub(super) fn name_apart<'t>(
    machines: &[u32],
    settings: &[u32],
    names: &Dict<String>,
    (tests, apart): &(Vec<u32>, Apart),
    sets: &[Vec<u32>],
    text: &impl Fn(u32) -> &'t str,
    unnamed: bool,
) -> (Vec<u32>, Vec<String>) {
    if apart.is_empty() {
        return (machines.to_vec(), names.values().to_vec());
    }
    let mut dict: Dict<String> = Dict::default();
    let mut known: HashMap<(u32, u32, u32), u32> = HashMap::new();
    let codes = (machines.iter().zip(tests).zip(settings))
        .map(|((machine, test), set)| {
            *known.entry((*machine, *test, *set)).or_insert_with(|| {
                let name = names.get(*machine).map_or("", String::as_str);
                match apart.get(&(*test, *machine)) {
                    None => dict.code(name),
                    Some(keys) => {
                        let words: Vec<String> = (keys.iter())
                            .map(|(i, key)| residue::one(*key, text(sets[*set as usize][*i])))
                            .collect();
                        let words = words.join(", ");
                        if unnamed && names.len() == 1 {
                            dict.code(words.as_str())
                        } else {
                            dict.code(format!("{name} ({words})").as_str())
                        }
                    }
                }
            })
        })
        .collect();
    (codes, dict.values().to_vec())
}
