//! What the author says about results in prose, held against the results.
//!
//! A claim is about the result above it: one walk over the blocks keeps the last result until a command or a heading,
//! and reads the sentences of paragraphs and list items below it. Sentences that are some result's label are left out,
//! as they say what comes, and so are those with an equals sign, which tools print and people hardly write.
//!
//! *A rate* agrees with a measured one that rounds to it or is cut off to it. First the unit is taken at its word,
//! then for the power of 1024 that it is often called by: 1506 MB/s for 10 GiB in 6.801 s is 1505.7 MiB/s. Each time
//! the shell's time is tried before the tool's own window.
//!
//! *A ratio* is computed from the shell's times where both results have them, else from the tools' own windows. It
//! agrees within five percent, for what is compared was mostly rounded before. The other result is the one that
//! [`refer`] finds; where several of it are left, one with this result's direction and command.

mod phrase;
mod refer;

use crate::block::prose::Style;
use crate::block::{Block, Kind, Role};
use crate::claim::{Against, Agreement, Claim};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::{Record, ScopeKind, WallCovers};
use crate::source::{Log, Span};
use compact_str::CompactString;
use phrase::{Stated, What};

/// A sentence longer than this was not understood as one.
const LONGEST: usize = 600;

/// How far a ratio may be off: what is compared was mostly rounded before.
const RATIO_TOLERANCE: f64 = 0.05;

/// Finds claims, puts them into the records that they are about, and returns a note on each.
pub(super) fn find(log: &Log<'_>, blocks: &[Block<'_>], records: &mut [Record]) -> Vec<Diagnostic> {
    let found = walk(log, blocks, records);
    if found.is_empty() {
        return Vec::new();
    }
    let mut labels: Vec<Span> = records
        .iter()
        .flat_map(|record| record.machine.iter().chain(&record.section))
        .filter_map(|label| label.span)
        .collect();
    labels.sort_unstable();
    labels.dedup();
    let mut notes = Vec::new();
    for Found {
        record,
        sentence,
        stated,
    } in found
    {
        let start = log.span_of(sentence).start;
        let span = Span::new(
            start + stated.range.start as u32,
            start + stated.range.end as u32,
        );
        let is_label = labels
            .iter()
            .any(|label| label.start <= span.start && span.end <= label.end);
        if is_label {
            continue;
        }
        let (record, mut claim, message) = match stated.what {
            What::Rate {
                number,
                step,
                unit,
                binary,
            } => {
                let stated = StatedRate {
                    number,
                    step,
                    unit,
                    binary,
                };
                check_rate(log.get(span), span, &stated, records, record)
            }
            What::Ratio { ratio, other } => check_ratio(
                log.get(span),
                span,
                ratio,
                &sentence[other],
                false,
                records,
                record,
            ),
            What::Inverse { ratio, other } => check_ratio(
                log.get(span),
                span,
                ratio,
                &sentence[other],
                true,
                records,
                record,
            ),
        };
        claim.line = Some(log.line_column(span.start).0);
        notes.push(Diagnostic::note(Code::CLAIM, Some(span), message));
        records[record].claims.push(claim);
    }
    notes
}

/// Something stated, and the last record above it.
struct Found<'t> {
    record: usize,
    sentence: &'t str,
    stated: Stated,
}

fn walk<'t>(log: &'t Log<'_>, blocks: &[Block<'_>], records: &[Record]) -> Vec<Found<'t>> {
    let mut starts: Vec<(u32, usize)> = records
        .iter()
        .enumerate()
        .filter_map(|(index, record)| Some((record.source.span?.start, index)))
        .collect();
    starts.sort_unstable();
    let mut starts = starts.into_iter().peekable();
    let mut above = None;
    let mut found = Vec::new();
    for block in blocks {
        while let Some((_, record)) = starts.next_if(|&(start, _)| start < block.span.end) {
            above = Some(record);
        }
        match &block.kind {
            Kind::Prose(prose) if matches!(prose.style, Style::Text | Style::Item) => {
                let Some(record) = above else { continue };
                for sentence in sentences(log.get(prose.span)) {
                    if sentence.len() > LONGEST || sentence.contains('=') {
                        continue;
                    }
                    let stated = phrase::stated(sentence);
                    // a figure by itself is a tool's, people write words around it
                    let bare = |stated: &Stated| {
                        let around = [
                            &sentence[..stated.range.start],
                            &sentence[stated.range.end..],
                        ];
                        !around.iter().any(|part| part.contains(char::is_alphabetic))
                    };
                    found.extend(
                        stated
                            .into_iter()
                            .filter(|stated| !bare(stated))
                            .map(|stated| Found {
                                record,
                                sentence,
                                stated,
                            }),
                    );
                }
            }
            Kind::Prose(_) | Kind::Command(_) => {
                if matches!(block.role(), Role::Heading(..) | Role::Command { .. }) {
                    above = None;
                }
            }
            _ => {}
        }
    }
    found
}

/// The text cut behind full stops and their like that a blank follows.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .as_bytes()
            .windows(2)
            .position(|pair| matches!(pair[0], b'.' | b'!' | b'?') && pair[1].is_ascii_whitespace())
            .map_or(rest.len(), |at| at + 1);
        let (sentence, next) = rest.split_at(end);
        rest = next;
        Some(sentence)
    })
}

/// Bytes per second at least and at most.
type Rate = (f64, f64);

/// The rate over the shell's time.
fn wall(record: &Record) -> Option<Rate> {
    let measurement = &record.measurement;
    let covers_it = !matches!(
        measurement.wall_covers,
        Some(WallCovers::Unknown | WallCovers::RunAndMore)
    );
    let (bytes, wall) = (measurement.bytes.as_ref()?, measurement.wall_ns.as_ref()?);
    // bytes over nanoseconds, in bytes per second
    (covers_it && wall.lo().get() > 0.0).then(|| {
        (
            bytes.lo().0 as f64 * 1e9 / wall.hi().get(),
            bytes.hi().0 as f64 * 1e9 / wall.lo().get(),
        )
    })
}

/// The rate over the tool's own window.
fn window(record: &Record) -> Option<Rate> {
    let rate = record.measurement.bytes_per_sec.as_ref()?;
    Some((rate.lo().get(), rate.hi().get()))
}

/// How a rate is computed of a record.
type Measured = fn(&Record) -> Option<Rate>;

fn middle(rate: Rate) -> f64 {
    (rate.0 + rate.1) / 2.0
}

/// The label by which prose speaks of a record.
fn label(record: &Record) -> &str {
    let label = record.machine.as_ref().or(record.section.last());
    label.map_or("", |label| label.full.as_deref().unwrap_or(&label.text))
}

/// The records of the same run and label, the one that prose speaks of first: sums before their parts.
fn of_one_result(records: &[Record], index: usize) -> Vec<usize> {
    let here = &records[index];
    let mut together: Vec<usize> = (0..records.len())
        .filter(|&other| records[other].run == here.run && label(&records[other]) == label(here))
        .collect();
    together.sort_by_key(|&index| records[index].scope.kind == ScopeKind::Job);
    together
}

struct StatedRate {
    number: f64,
    step: f64,
    unit: f64,
    binary: f64,
}

fn check_rate(
    text: &str,
    span: Span,
    stated: &StatedRate,
    records: &[Record],
    index: usize,
) -> (usize, Claim, String) {
    let together = of_one_result(records, index);
    // rounded to the last digit, or cut off behind it
    let says = |rate: Rate, unit: f64| {
        let lowest = (stated.number - stated.step / 2.0) * unit;
        let above = (stated.number + stated.step) * unit;
        rate.1 >= lowest && rate.0 < above
    };
    let ways: [(f64, Measured, Agreement); 4] = [
        (stated.unit, wall, Agreement::Wall),
        (stated.unit, window, Agreement::Window),
        (stated.binary, wall, Agreement::WallMislabelled),
        (stated.binary, window, Agreement::WindowMislabelled),
    ];
    let agreeing = ways.iter().find_map(|&(unit, measured, agreement)| {
        together.iter().find_map(|&record| {
            let rate = measured(&records[record]).filter(|&rate| says(rate, unit))?;
            Some((record, middle(rate), agreement))
        })
    });
    let rate = stated.number * stated.unit;
    let nearest = || {
        let off = |have: f64| (have / rate).ln().abs();
        together
            .iter()
            .flat_map(|&record| {
                [wall(&records[record]), window(&records[record])].map(|have| (record, have))
            })
            .filter_map(|(record, have)| Some((record, have.map(middle)?)))
            .min_by(|a, b| off(a.1).total_cmp(&off(b.1)))
    };
    let mut claim = Claim {
        text: CompactString::new(text),
        span,
        line: None,
        stated_bytes_per_sec: Some(rate),
        computed_bytes_per_sec: None,
        stated_ratio: None,
        computed_ratio: None,
        agrees_with: Agreement::None,
        against: None,
        problem: None,
    };
    let shown = |rate: f64| format!("{:.1} MB/s or {:.1} MiB/s", rate / 1e6, rate / 1_048_576.0);
    if let Some((record, computed, agreement)) = agreeing {
        claim.computed_bytes_per_sec = Some(computed);
        claim.agrees_with = agreement;
        let message = match agreement {
            Agreement::Wall => format!(
                "stated {text}: agrees with the shell's time, {}",
                shown(computed)
            ),
            Agreement::Window => format!(
                "stated {text}: agrees with the tool's own window, {}",
                shown(computed)
            ),
            _ => format!(
                "stated {text}: agrees with {} in MiB/s and is labelled otherwise, {}",
                if agreement == Agreement::WallMislabelled {
                    "the shell's time"
                } else {
                    "the tool's own window"
                },
                shown(computed)
            ),
        };
        return (record, claim, message);
    }
    if let Some((record, computed)) = nearest() {
        claim.computed_bytes_per_sec = Some(computed);
        let message = format!(
            "stated {text}: agrees with no rate of the result above; the nearest is {}",
            shown(computed)
        );
        return (record, claim, message);
    }
    let problem = "the result above has no rate";
    claim.agrees_with = Agreement::Unchecked;
    claim.problem = Some(problem.to_owned());
    (
        index,
        claim,
        format!("stated {text}: not checked, as {problem}"),
    )
}

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

/// The record that a phrase names, among those before the result at `index`.
fn other_result(records: &[Record], index: usize, phrase: &str) -> Result<usize, String> {
    let here = &records[index];
    let mut labels: Vec<&str> = Vec::new();
    let start = |record: &Record| record.source.span.map_or(0, |span| span.start);
    for record in records {
        let label = label(record);
        let earlier = start(record) < start(here) && record.run != here.run;
        if earlier && !label.is_empty() && !labels.contains(&label) {
            labels.push(label);
        }
    }
    let named = labels[refer::resolve(phrase, &labels)?];
    let choice: Vec<usize> = (0..records.len())
        .filter(|&other| {
            let record = &records[other];
            label(record) == named && start(record) < start(here) && record.run != here.run
        })
        .collect();
    comparable(records, &choice, Some(here))
}

fn check_ratio(
    text: &str,
    span: Span,
    ratio: f64,
    phrase: &str,
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
        stated_ratio: Some(ratio),
        computed_ratio: None,
        agrees_with: Agreement::Unchecked,
        against: None,
        problem: None,
    };
    let checked = comparable(records, &of_one_result(records, index), None).and_then(|here| {
        let other = other_result(records, here, phrase)?;
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
