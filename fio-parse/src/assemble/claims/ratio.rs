//! Ratios that a person states, computed from the results they are about.

use super::{RATIO_TOLERANCE, heading, label, middle, of_one_result, refer, wall, window};
use crate::claim::{Against, Agreement, Claim};
use crate::record::{Record, ScopeKind};
use crate::source::Span;

/// The one record of a result that a ratio can be taken of: `like` says which where there are several.
fn comparable(
    records: &[Record],
    choice: &[usize],
    like: Option<&Record>,
) -> Result<usize, String> {
    let mut left: Vec<usize> = choice.to_vec();
    if left
        .iter()
        .any(|&index| records[index].scope.kind != ScopeKind::Job)
    {
        left.retain(|&index| records[index].scope.kind != ScopeKind::Job);
    }
    if let Some(like) = like {
        left.retain(|&index| records[index].direction == like.direction);
        let key = |record: &Record| {
            record
                .workload
                .as_ref()
                .map(|workload| workload.key.clone())
        };
        let same = |&index: &usize| key(&records[index]) == key(like);
        if left.len() > 1 && left.iter().any(same) {
            left.retain(same);
        }
    }
    match left[..] {
        [only] => Ok(only),
        [] => Err("the result it is compared with went another way".to_owned()),
        _ => Err(format!(
            "{} results have the label it is compared with",
            left.len()
        )),
    }
}

/// Whom a ratio is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'s> {
    /// One record, or those of a machine's several tests; at least one.
    pub(super) records: &'s [usize],
    /// The whole sentence, which may name the test.
    pub(super) sentence: &'s str,
}

/// What a ratio compares with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Object<'s> {
    /// The result that this phrase names.
    Named(&'s str),
    /// The one other result there is.
    Unnamed,
}

/// The first of these records where all are of one run.
fn one_result(records: &[Record], choice: &[usize]) -> Result<usize, String> {
    let first = choice[0];
    let same = |&index: &usize| records[index].run == records[first].run;
    (choice.iter().all(same)).then_some(first).ok_or_else(|| {
        "it names a machine with several results, and which one is meant is not said".to_owned()
    })
}

/// The one result above `place` that can be meant without a name: with another label, of the same test.
fn only_other(records: &[Record], index: usize, place: u32) -> Result<usize, String> {
    let here = &records[index];
    let key = |record: &Record| {
        record
            .workload
            .as_ref()
            .map(|workload| workload.key.clone())
    };
    let choice: Vec<usize> = (0..records.len())
        .filter(|&other| {
            let record = &records[other];
            record.source.span.is_some_and(|span| span.start < place)
                && record.run != here.run
                && label(record) != label(here)
                && record.direction == here.direction
                && key(record) == key(here)
        })
        .collect();
    let [first, rest @ ..] = choice.as_slice() else {
        return Err("no other result above is of the same test".to_owned());
    };
    if rest
        .iter()
        .any(|&other| label(&records[other]) != label(&records[*first]))
    {
        return Err("which of the results above it is compared with is not said".to_owned());
    }
    comparable(records, &choice, Some(here))
}

/// The records above `place` that a phrase names, of another result than `here`.
fn other_results(
    records: &[Record],
    here: &Record,
    phrase: &str,
    place: u32,
) -> Result<Vec<usize>, String> {
    let own = label(here);
    if !own.is_empty() {
        let all: Vec<&str> = records.iter().map(label).collect();
        if refer::whole(phrase, &all)
            .0
            .iter()
            .any(|&at| all[at] == own)
        {
            return Err("it is compared with what it seems to be about".to_owned());
        }
    }
    let mut labels: Vec<&str> = Vec::new();
    let above = |record: &Record| record.source.span.is_some_and(|span| span.start < place);
    for record in records {
        let label = label(record);
        if above(record) && !label.is_empty() && label != own && !labels.contains(&label) {
            labels.push(label);
        }
    }
    let named = labels[refer::resolve(phrase, &labels)?];
    Ok((0..records.len())
        .filter(|&other| label(&records[other]) == named && above(&records[other]))
        .collect())
}

/// What a workload's key says besides how dd's writes are made durable, which systems ask for in their own ways.
fn but_durability(record: &Record) -> Option<String> {
    let key = record.workload.as_ref()?.key.to_string();
    let parts = key.split_whitespace();
    Some(
        parts
            .filter(|part| !part.starts_with("oflag="))
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// Whether two results are of one test: of the same direction, workload and, where no workload is known, headings.
fn of_one_test(a: &Record, b: &Record, strict: bool) -> bool {
    let key = |record: &Record| {
        record
            .workload
            .as_ref()
            .map(|workload| workload.key.clone())
    };
    a.direction == b.direction
        && match (key(a), key(b)) {
            (None, None) => heading(a) == heading(b),
            (a_key, b_key) if strict => a_key == b_key,
            _ => but_durability(a) == but_durability(b),
        }
}

/// The one pair of a subject and an object that a ratio can be taken of: both of one test, which is the only one or
/// which the sentence names.
fn pair(
    records: &[Record],
    subjects: &[usize],
    objects: &[usize],
    sentence: &str,
) -> Result<(usize, usize), String> {
    let pairs = |strict: bool| -> Vec<(usize, usize)> {
        (subjects.iter())
            .flat_map(|&a| objects.iter().map(move |&b| (a, b)))
            .filter(|&(a, b)| of_one_test(&records[a], &records[b], strict))
            .collect()
    };
    let mut left = pairs(true);
    if left.is_empty() {
        left = pairs(false);
    }
    if left.is_empty() {
        return Err("the two results are of different tests".to_owned());
    }
    let of_job = |&(a, b): &(usize, usize)| {
        [a, b]
            .iter()
            .any(|&at| records[at].scope.kind == ScopeKind::Job)
    };
    if !left.iter().all(of_job) {
        left.retain(|pair| !of_job(pair));
    }
    let names: Vec<&str> = records.iter().map(label).collect();
    let headings: Vec<String> = left.iter().map(|&(a, _)| heading(&records[a])).collect();
    let left: Vec<_> = refer::narrow(sentence, &headings, &names)
        .into_iter()
        .map(|at| left[at])
        .collect();
    match left[..] {
        [only] => Ok(only),
        _ => Err("both results ran several tests, and which one is meant is not said".to_owned()),
    }
}

pub(super) fn check_ratio(
    text: &str,
    span: Span,
    ratio: f64,
    object: Object<'_>,
    inverse: bool,
    records: &[Record],
    subject: Subject<'_>,
) -> (usize, Claim, String) {
    let Subject {
        records: subjects,
        sentence,
    } = subject;
    let index = subjects[0];
    let mut claim = Claim {
        stated_ratio: Some(ratio),
        ..Claim::found(text, span)
    };
    let checked = match object {
        Object::Named(phrase) => other_results(records, &records[index], phrase, span.start)
            .and_then(|objects| {
                let mut all: Vec<usize> = (subjects.iter())
                    .flat_map(|&subject| of_one_result(records, subject, None))
                    .collect();
                all.sort_unstable();
                all.dedup();
                pair(records, &all, &objects, sentence)
            }),
        Object::Unnamed => one_result(records, subjects).and_then(|index| {
            let here = comparable(records, &of_one_result(records, index, None), None)?;
            Ok((here, only_other(records, here, span.start)?))
        }),
    };
    let checked = checked.and_then(|(here, other)| {
        let (a, b) = (&records[here], &records[other]);
        let (agreement, a, b) = match ((wall(a), wall(b)), (window(a), window(b))) {
            ((Some(a), Some(b)), _) => (Agreement::Wall, a, b),
            (_, (Some(a), Some(b))) => (Agreement::Window, a, b),
            _ => return Err("one of the two results has no rate".to_owned()),
        };
        let (a, b) = if inverse { (b, a) } else { (a, b) };
        Ok((here, other, agreement, middle(a) / middle(b)))
    });
    match checked {
        Ok((here, other, basis, computed)) => {
            let record = &records[other];
            let near = (computed / ratio - 1.0).abs() <= RATIO_TOLERANCE;
            claim.computed_ratio = Some(computed);
            claim.agrees_with = if near { basis } else { Agreement::None };
            claim.against = Some(Against {
                run: record.run,
                line: record.source.line,
                machine: record.machine.as_ref().map(|label| label.text.clone()),
            });
            let digits = if computed < 1.0 { 3 } else { 1 };
            let message = format!(
                "stated {text:?}: computed {computed:.digits$} by {}, against line {} ({})",
                match basis {
                    Agreement::Wall => "the shell's times",
                    _ => "the tools' own windows",
                },
                record.source.line.unwrap_or(0),
                record
                    .machine
                    .as_ref()
                    .or(record.section.last())
                    .map_or("", |label| &label.text),
            );
            (here, claim, message)
        }
        Err(problem) => {
            let message = format!("stated {text:?}: not checked, as {problem}");
            claim.problem = Some(problem);
            (index, claim, message)
        }
    }
}
