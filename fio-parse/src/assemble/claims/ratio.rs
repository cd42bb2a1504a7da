//! Ratios that a person states, computed from the results they are about.

use super::{RATIO_TOLERANCE, label, middle, of_one_result, refer, wall, window};
use crate::claim::{Against, Agreement, Claim};
use crate::record::{Record, ScopeKind};
use crate::source::Span;
use compact_str::CompactString;

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

/// What a ratio compares with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Object<'s> {
    /// The result that this phrase names.
    Named(&'s str),
    /// The one other result there is.
    Unnamed,
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

/// The record that a phrase names, among the others above `place`.
fn other_result(
    records: &[Record],
    index: usize,
    phrase: &str,
    place: u32,
) -> Result<usize, String> {
    let here = &records[index];
    let mut labels: Vec<&str> = Vec::new();
    let start = |record: &Record| record.source.span.map_or(0, |span| span.start);
    for record in records {
        let label = label(record);
        let earlier = start(record) < place && record.run != here.run;
        if earlier && !label.is_empty() && !labels.contains(&label) {
            labels.push(label);
        }
    }
    let named = labels[refer::resolve(phrase, &labels)?];
    let choice: Vec<usize> = (0..records.len())
        .filter(|&other| {
            let record = &records[other];
            label(record) == named && start(record) < place && record.run != here.run
        })
        .collect();
    comparable(records, &choice, Some(here))
}

pub(super) fn check_ratio(
    text: &str,
    span: Span,
    ratio: f64,
    object: Object<'_>,
    inverse: bool,
    records: &[Record],
    index: usize,
) -> (usize, Claim, String) {
    let mut claim = Claim {
        text: CompactString::new(text),
        span,
        line: None,
        stated_bytes_per_sec: None,
        computed_bytes_per_sec: None,
        stated_iops: None,
        computed_iops: None,
        stated_ratio: Some(ratio),
        computed_ratio: None,
        agrees_with: Agreement::Unchecked,
        against: None,
        problem: None,
    };
    let checked = comparable(records, &of_one_result(records, index), None).and_then(|here| {
        let other = match object {
            Object::Named(phrase) => other_result(records, here, phrase, span.start)?,
            Object::Unnamed => only_other(records, here, span.start)?,
        };
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
