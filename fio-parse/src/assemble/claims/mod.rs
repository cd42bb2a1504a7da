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
//! *IOPS* agree with those printed that round to them or are cut off to them, and where none are printed with the rate
//! over the one block size of the workload.
//!
//! Where the words next to a figure say reads or writes, results of the other direction are not what it is held against.
//!
//! Whom a sentence is about is for [`subject`] to tell.
//!
//! *A ratio* is computed from the shell's times where both results have them, else from the tools' own windows. It
//! agrees within five percent, for what is compared was mostly rounded before. The other result is the one that
//! [`refer`] finds. Both have to be of one test; where that leaves several pairs, nothing is checked.

mod phrase;
mod ratio;
mod refer;
mod subject;

use crate::block::prose::Style;
use crate::block::{Block, Kind, Role};
use crate::claim::{Agreement, Claim};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::{Direction, Record, ScopeKind, WallCovers};
use crate::source::{Log, Span};
use phrase::{Rough, Stated, What};
use ratio::{Object, Subject, check_ratio};

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
    for (place, item) in found.iter().enumerate() {
        let Found {
            record,
            sentence,
            stated,
        } = item;
        let record = *record;
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
        // "the SSD is 18 times faster" names the other in front, and is about the result above
        let has_subject = match &stated.what {
            What::Rate { .. } | What::Iops { .. } | What::Bare { .. } => true,
            What::Ratio { other, .. }
            | What::Percent { other, .. }
            | What::Inverse { other, .. } => other.start >= stated.range.end,
        };
        let is_figure = matches!(stated.what, What::Rate { .. } | What::Iops { .. });
        let mut subjects = vec![record];
        let record = match has_subject.then(|| subject::meant(&found, place, span.start, records)) {
            Some(Ok(named)) => {
                let runs = |&index: &usize| records[index].run == records[named[0]].run;
                if is_figure && !named.iter().all(runs) {
                    Err("its sentence names a machine with several results")
                } else {
                    subjects = named;
                    Ok(subjects[0])
                }
            }
            Some(Err(problem)) => Err(problem),
            None => Ok(record),
        };
        let said = is_figure
            .then(|| subject::direction_said(&found, place))
            .flatten();
        let record = record.and_then(|record| {
            match is_figure && of_one_result(records, record, said).is_empty() {
                true => Err("it is of the other direction than the result above"),
                false => Ok(record),
            }
        });
        let record = match record {
            Ok(record) => record,
            // a share of something that no result is labelled with
            Err(_) if is_share_of_nothing(&stated.what, sentence, records) => continue,
            Err(problem) => {
                let record = item.record;
                let text = log.get(span);
                let mut claim = unchecked(text, span, &stated.what, problem);
                claim.line = Some(log.line_column(span.start).0);
                let message = format!("stated {text}: not checked, as {problem}");
                notes.push(Diagnostic::note(Code::CLAIM, Some(span), message));
                records[record].claims.push(claim);
                continue;
            }
        };
        let about = Subject {
            records: &subjects,
            sentence,
        };
        let (record, mut claim, message) = match stated.what.clone() {
            What::Rate {
                number,
                unit,
                binary,
            } => {
                let together = of_one_result(records, record, said);
                check_rate(
                    log.get(span),
                    span,
                    (number, unit, binary),
                    records,
                    &together,
                )
            }
            What::Iops(number) => {
                let together = of_one_result(records, record, said);
                check_iops(log.get(span), span, number, records, &together)
            }
            What::Percent { ratio, other } => {
                let checked = check_ratio(
                    log.get(span),
                    span,
                    ratio,
                    Object::Named(&sentence[other]),
                    false,
                    records,
                    about,
                );
                if checked.1.problem.is_some()
                    && is_share_of_nothing(&stated.what, sentence, records)
                {
                    continue;
                }
                checked
            }
            What::Ratio { ratio, other } | What::Inverse { ratio, other } => {
                let inverse = matches!(stated.what, What::Inverse { .. });
                let in_front = other.start < stated.range.start;
                let phrase = &sentence[other];
                let text = log.get(span);
                // "it is 8 times slower": who stands in front may be the result above, and the other one unnamed
                if in_front && names_none_but(phrase, record, records) {
                    let unnamed = Object::Unnamed;
                    check_ratio(text, span, ratio, unnamed, !inverse, records, about)
                } else {
                    let named = Object::Named(phrase);
                    check_ratio(text, span, ratio, named, inverse, records, about)
                }
            }
            // "booting is twice as fast" is about no result
            What::Bare { .. }
                if !names_none_but(&sentence[..stated.range.start], record, records) =>
            {
                let problem = "its sentence names no result";
                let message = format!("stated {}: not checked, as {problem}", log.get(span));
                let claim = unchecked(log.get(span), span, &stated.what, problem);
                (record, claim, message)
            }
            What::Bare { ratio } => {
                let text = log.get(span);
                check_ratio(text, span, ratio, Object::Unnamed, false, records, about)
            }
        };
        claim.line = Some(log.line_column(span.start).0);
        notes.push(Diagnostic::note(Code::CLAIM, Some(span), message));
        records[record].claims.push(claim);
    }
    notes
}

/// A claim that nothing is held against.
fn unchecked(text: &str, span: Span, what: &What, problem: &str) -> Claim {
    let mut claim = Claim::found(text, span);
    claim.problem = Some(problem.to_owned());
    match *what {
        What::Rate { number, unit, .. } => claim.stated_bytes_per_sec = Some(number.value * unit),
        What::Iops(number) => claim.stated_iops = Some(number.value),
        What::Ratio { ratio, .. }
        | What::Percent { ratio, .. }
        | What::Inverse { ratio, .. }
        | What::Bare { ratio } => claim.stated_ratio = Some(ratio),
    }
    claim
}

/// Whether what is stated is a percentage of something that no result is labelled with ("90% of the time").
fn is_share_of_nothing(what: &What, sentence: &str, records: &[Record]) -> bool {
    let What::Percent { other, .. } = what else {
        return false;
    };
    let labels: Vec<&str> = records.iter().map(label).collect();
    let phrase = &sentence[other.clone()];
    refer::whole(phrase, &labels).0.is_empty() && refer::speaks_of(phrase, &labels).is_none()
}

/// Whether a phrase names the result at `index`, or points to it, and no other.
fn names_none_but(phrase: &str, index: usize, records: &[Record]) -> bool {
    let mut labels: Vec<&str> = Vec::new();
    for record in records {
        let label = label(record);
        if !label.is_empty() && !labels.contains(&label) {
            labels.push(label);
        }
    }
    match refer::speaks_of(phrase, &labels) {
        Some(named) => matches!(named[..], [only] if labels[only] == label(&records[index])),
        None => (phrase.split_whitespace().last().into_iter())
            .chain(phrase.split_whitespace().next())
            .any(|word| ["it", "this", "that"].contains(&word.to_lowercase().as_str())),
    }
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

/// The headings that say which test a record is of.
fn heading(record: &Record) -> String {
    let all = record.section.iter().map(|label| &*label.text);
    let own = label(record);
    all.filter(|text| *text != own)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The records of the same run and label, the one that prose speaks of first: sums before their parts. Where the words
/// say a direction, those of the other one are left out.
fn of_one_result(records: &[Record], index: usize, said: Option<Direction>) -> Vec<usize> {
    let here = &records[index];
    let differs = |record: &Record| {
        let ways = [said, Some(record.direction)];
        ways == [Some(Direction::Read), Some(Direction::Write)]
            || ways == [Some(Direction::Write), Some(Direction::Read)]
    };
    let mut together: Vec<usize> = (0..records.len())
        .filter(|&other| records[other].run == here.run && label(&records[other]) == label(here))
        .filter(|&other| !differs(&records[other]))
        .collect();
    together.sort_by_key(|&index| records[index].scope.kind == ScopeKind::Job);
    together
}

fn check_rate(
    text: &str,
    span: Span,
    (number, unit, binary): (Rough, f64, f64),
    records: &[Record],
    together: &[usize],
) -> (usize, Claim, String) {
    let ways: [(f64, Measured, Agreement); 4] = [
        (unit, wall, Agreement::Wall),
        (unit, window, Agreement::Window),
        (binary, wall, Agreement::WallMislabelled),
        (binary, window, Agreement::WindowMislabelled),
    ];
    let agreeing = ways.iter().find_map(|&(unit, measured, agreement)| {
        together.iter().find_map(|&record| {
            let rate = measured(&records[record]).filter(|&rate| number.says(rate, unit))?;
            Some((record, middle(rate), agreement))
        })
    });
    let rate = number.value * unit;
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
        stated_bytes_per_sec: Some(rate),
        agrees_with: Agreement::None,
        ..Claim::found(text, span)
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
        together[0],
        claim,
        format!("stated {text}: not checked, as {problem}"),
    )
}

/// I/Os per second of a record: as printed, else by its rate and the block size that all its jobs have.
fn iops_of(record: &Record) -> Option<Rate> {
    if let Some(iops) = &record.measurement.iops {
        return Some((iops.lo().get(), iops.hi().get()));
    }
    let workload = record.workload.as_deref()?;
    let mut sizes = workload.jobs().iter().map(|job| job.block_bytes);
    let size = match workload.dd() {
        Some(dd) => dd.block_bytes?,
        None => sizes.next()??,
    };
    let (lo, hi) = window(record)?;
    (size.0 > 0 && sizes.all(|other| other == Some(size)))
        .then(|| (lo / size.0 as f64, hi / size.0 as f64))
}

fn check_iops(
    text: &str,
    span: Span,
    number: Rough,
    records: &[Record],
    together: &[usize],
) -> (usize, Claim, String) {
    let mut claim = Claim {
        stated_iops: Some(number.value),
        ..Claim::found(text, span)
    };
    let measured: Vec<(usize, Rate)> = together
        .iter()
        .filter_map(|&record| Some((record, iops_of(&records[record])?)))
        .collect();
    let off = |rate: &Rate| (middle(*rate) / number.value).ln().abs();
    let agreeing = measured.iter().find(|(_, rate)| number.says(*rate, 1.0));
    let nearest = || {
        measured
            .iter()
            .min_by(|(_, a), (_, b)| off(a).total_cmp(&off(b)))
    };
    match agreeing.or_else(nearest) {
        Some(&(record, rate)) => {
            claim.computed_iops = Some(middle(rate));
            claim.agrees_with = if agreeing.is_some() {
                Agreement::Window
            } else {
                Agreement::None
            };
            let message = match claim.agrees_with {
                Agreement::Window => {
                    format!(
                        "stated {text}: agrees with the tool's own window, {:.0} IOPS",
                        middle(rate)
                    )
                }
                _ => format!(
                    "stated {text}: agrees with no IOPS of the result above; the nearest are {:.0}",
                    middle(rate)
                ),
            };
            (record, claim, message)
        }
        None => {
            let problem = "the result above has no IOPS";
            claim.problem = Some(problem.to_owned());
            (
                together[0],
                claim,
                format!("stated {text}: not checked, as {problem}"),
            )
        }
    }
}
