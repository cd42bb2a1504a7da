//! Which result a stated figure or ratio is about.
//!
//! It is the result above, unless the clause names another by a word that some labels hold and others do not:
//!
//! - who stands in front of the figure did it ("Disk one is half as fast as Disk two");
//! - for a rate, where nobody stands in front, who stands behind it ("105 MB/s on Disk one");
//! - what stands between two figures is cut at its last "and", comma or the like: the first part belongs to the first.
//!
//! Where several are named, or one only to compare with, nothing is checked. Where the one named ran several tests, those
//! whose headings the sentence's words tell apart are meant.

use super::phrase::What;
use super::{Found, heading, label, refer};
use crate::context::direction_named;
use crate::record::{Direction, Record};
use std::ops::Range;

/// Words that say that who is named is not who did it, or that it was not done.
const DOUBT: [&str; 22] = [
    "compared",
    "comparing",
    "unlike",
    "versus",
    "vs",
    "than",
    "against",
    "like",
    "not",
    "never",
    "isn't",
    "wasn't",
    "doesn't",
    "didn't",
    "isn’t",
    "wasn’t",
    "doesn’t",
    "didn’t",
    "cannot",
    "can't",
    "between",
    "if",
];

/// What ends one part of a sentence and begins the next.
const JOINTS: [&str; 14] = [
    ",",
    ";",
    ":",
    " and ",
    " but ",
    " while ",
    " whereas ",
    " versus ",
    " vs ",
    " vs. ",
    " against ",
    " than ",
    " or ",
    " compared ",
];

fn doubtful(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        DOUBT.contains(&word.to_lowercase().as_str())
    })
}

/// The place behind the last joint of what stands between two figures, and the place in front of it.
fn joint(text: &str) -> Option<Range<usize>> {
    JOINTS
        .iter()
        .filter_map(|joint| text.rfind(joint).map(|at| at..at + joint.len()))
        .max_by_key(|range| range.end)
}

/// The part of a sentence around what is stated: from the last joint or figure in front to the next behind.
fn parts<'s>(found: &[Found<'s>], place: usize) -> (&'s str, &'s str) {
    let Found {
        sentence, stated, ..
    } = &found[place];
    let others = || {
        let same = |other: &&Found<'_>| std::ptr::eq(other.sentence, *sentence);
        found.iter().filter(same).map(|other| &other.stated.range)
    };
    let (start, end) = (stated.range.start, stated.range.end);
    let before = others().map(|r| r.end).filter(|&at| at <= start).max();
    let after = others().map(|r| r.start).filter(|&at| at >= end).min();
    let front = &sentence[before.unwrap_or(0)..start];
    let behind = &sentence[end..after.unwrap_or(sentence.len())];
    let first = JOINTS.iter().filter_map(|joint| behind.find(joint)).min();
    (
        &front[joint(front).map_or(0, |joint| joint.end)..],
        &behind[..first.unwrap_or(behind.len())],
    )
}

/// Which way the bytes went by the words next to a figure: "439 MB/s sequential reads", "the write speed is 334 MB/s".
pub(super) fn direction_said(found: &[Found<'_>], place: usize) -> Option<Direction> {
    let (front, behind) = parts(found, place);
    direction_named(behind).or_else(|| direction_named(front))
}

/// The records that what is stated can be about: one, or those of a machine's several tests.
pub(super) fn meant(
    found: &[Found<'_>],
    place: usize,
    start: u32,
    records: &[Record],
) -> Result<Vec<usize>, &'static str> {
    const SEVERAL: &str = "its sentence names several results";
    const COMPARED: &str = "its sentence compares or denies in a way that was not understood";
    let Found {
        record: above,
        sentence,
        stated,
    } = &found[place];
    let above = *above;
    let mut labels: Vec<&str> = Vec::new();
    for record in records {
        let label = label(record);
        if !label.is_empty() && !labels.contains(&label) {
            labels.push(label);
        }
    }
    let ranges = || {
        let same = |other: &&Found<'_>| std::ptr::eq(other.sentence, *sentence);
        found.iter().filter(same).map(|other| &other.stated.range)
    };
    let before = ranges()
        .map(|r| r.end)
        .filter(|&end| end <= stated.range.start)
        .max();
    let after = ranges()
        .map(|r| r.start)
        .filter(|&at| at >= stated.range.end)
        .min();
    let between = &sentence[before.unwrap_or(0)..stated.range.start];
    let clause = match before {
        Some(_) => &between[joint(between).map_or(0, |joint| joint.end)..],
        None => between,
    };
    let mut named = refer::speaks_of(clause, &labels);
    let mut part = clause;
    let is_figure = matches!(stated.what, What::Rate { .. } | What::Iops { .. });
    if named.is_none() && is_figure {
        let rest = &sentence[stated.range.end..];
        part = match after {
            Some(end) => {
                let between = &sentence[stated.range.end..end];
                &between[..joint(between).map_or(0, |joint| joint.start)]
            }
            None => {
                let stop = rest.find([',', ';', ':']).unwrap_or(rest.len());
                &rest[..stop]
            }
        };
        named = refer::speaks_of(part, &labels);
    } else if named.is_none() && before.is_some() {
        // "Disk one makes 105 MB/s, half of Disk two"
        part = &sentence[..stated.range.start];
        named = refer::speaks_of(part, &labels);
    }
    if doubtful(clause) || (named.is_some() && doubtful(part)) {
        return Err(COMPARED);
    }
    let all: Vec<usize> = (0..records.len()).collect();
    let told = |choice: &[usize]| -> Vec<usize> {
        let headings: Vec<String> = choice.iter().map(|&at| heading(&records[at])).collect();
        (refer::narrow(sentence, &headings, &labels).into_iter())
            .map(|at| choice[at])
            .collect()
    };
    let here = match &named {
        None => true,
        Some(named) => {
            named.len() > 1 && named.iter().any(|&at| labels[at] == label(&records[above]))
        }
    };
    if here {
        let run = records[above].run;
        if !told(&all).iter().any(|&at| records[at].run == run) {
            return Err("its sentence names another test than that of the result above");
        }
        return Ok(vec![above]);
    }
    let Some([at]) = named.as_deref() else {
        return Err(SEVERAL);
    };
    let of_label = |index: &usize| label(&records[*index]) == labels[*at];
    let mut choice: Vec<usize> = all.iter().copied().filter(of_label).collect();
    let earlier = |&index: &usize| records[index].source.span.is_some_and(|s| s.start < start);
    if choice.iter().any(earlier) {
        choice.retain(earlier);
    }
    let choice = told(&choice);
    match choice[..] {
        [] => Err("its sentence names several tests"),
        _ => Ok(choice),
    }
}
