//! Jobs that ran together and report apart, summed as fio's group line sums them.
//!
//! fio's text has a group line below its jobs; its JSON has none, and one of `numjobs` jobs is not the test.
//! Where all of them are there, one row stands for them:
//!
//! - bytes: the sum; run time and I/O phase: the longest
//! - bandwidth: the sum of the bytes over the longest run time; IOPS likewise, an amount that is not
//!   printed being rate x run time. This is what fio's `group_reporting` computes.
//! - of latencies the least, the greatest, and the mean of the means weighted by their numbers of I/Os
//! - everything else (percentiles, deviations, samples over time, processor use) does not follow: it lies
//!   somewhere between those of the jobs, so the bounds span them all ([`follows`])
//!
//! Summed up are jobs of one run, group and direction with equal settings and keys: as many of each name as
//! `numjobs` says. Where some but not all are there, or one failed, or one lacks a figure that others have,
//! they stay apart. One alone is taken for the sum that `group_reporting` prints.
//!
//! Where a group line stands for its jobs, contradictions among their figures become its notes.
//!
//! Place: when all records are in, before the frame is built.

use std::collections::HashMap;

use polars::prelude::PlHashMap;

use super::{Base, Builder, Context, Note};
use crate::bounds::Bounds;
use crate::evidence;
use crate::keys::Key;
use crate::metric::{Clock, Metric, Statistic};
use fio_parse::record::ScopeKind;

/// What jobs must have in common to be summed, beside the run.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Kind {
    source: u32,
    group: u32,
    settings: u32,
    asked: u32,
    heading: u32,
    keys: Vec<u32>,
    /// The job where no group tells that others ran at the same time.
    alone: Option<u32>,
}

/// What becomes of the jobs of one kind in one run.
enum Fate {
    Stay,
    /// Some of so many are there.
    Incomplete(u32),
    Sum(Vec<Option<Bounds>>),
}

/// What is wrong with a figure of one job is wrong with a sum over it.
const TAINTS: &str = "disagree";

impl Builder {
    /// Gives the rows of sums the notes of their jobs that bear on them, as the jobs are not shown.
    pub fn taint_sums(&mut self) {
        let is_taint = |note: &u32| self.notes.get(*note).is_some_and(|n| n.code == TAINTS);
        let taints: Vec<Vec<u32>> = (self.contexts.values().iter())
            .map(|context| {
                let notes = self.note_sets.get(context.notes).into_iter().flatten();
                notes.copied().filter(is_taint).collect()
            })
            .collect();
        if taints.iter().all(Vec::is_empty) {
            return;
        }
        let contexts = self.contexts.values();
        let direction = self.wanted.keys.iter().position(|k| *k == Key::DIRECTION);
        let place = |context: usize, run: u32| {
            let c = &contexts[context];
            (c.source, direction.map_or(0, |at| c.keys[at]), run)
        };
        let rows = || self.context.iter().map(|c| *c as usize).zip(&self.run);
        let mut tainted: HashMap<(u32, u32, u32), Vec<usize>> = HashMap::new();
        for (context, run) in rows().filter(|(context, _)| !taints[*context].is_empty()) {
            let known = tainted.entry(place(context, *run)).or_default();
            known.push(context);
        }
        let mut new: Vec<(usize, Vec<u32>)> = Vec::new();
        for (row, (context, run)) in rows().enumerate() {
            let sum = &contexts[context];
            let is_part = |part: &&usize| {
                let part = &contexts[**part];
                part.rank > sum.rank && (part.group == sum.group || sum.group == u32::MAX)
            };
            let parts = tainted.get(&place(context, *run)).into_iter().flatten();
            let notes = parts.filter(is_part).flat_map(|part| &taints[*part]);
            let notes: Vec<u32> = notes.copied().collect();
            if !notes.is_empty() {
                new.push((row, notes));
            }
        }
        for (row, notes) in new {
            let context = self.context[row];
            self.context[row] = self.with_notes(context, &notes, 0);
        }
    }

    /// Puts one row in the place of jobs that ran together, where all are there.
    pub fn sum_jobs(&mut self) {
        let sets = self.together();
        if sets.is_empty() {
            return;
        }
        let mut gone = vec![false; self.len()];
        for rows in sets {
            match self.fate(&rows) {
                Fate::Stay => {}
                Fate::Incomplete(jobs) => {
                    let text = format!(
                        "{} of {jobs} jobs are there, which are not summed",
                        rows.len()
                    );
                    let note = self.notes.code(&Note {
                        code: "jobs-missing".to_owned(),
                        text,
                    });
                    for row in rows {
                        self.context[row] = self.with_notes(self.context[row], &[note], 0);
                    }
                }
                Fate::Sum(figures) => {
                    let notes: Vec<u32> = (rows.iter())
                        .filter_map(|row| self.contexts.get(self.context[*row]))
                        .filter_map(|c| self.note_sets.get(c.notes))
                        .flatten()
                        .copied()
                        .collect();
                    let (first, rest) = (rows[0], &rows[1..]);
                    let has = self.has[self.context[first] as usize];
                    let context = self.with_notes(self.context[first], &notes, rows.len() as u32);
                    self.context[first] = context;
                    self.has[context as usize] |= has;
                    for (column, figure) in self.bases.iter_mut().zip(figures) {
                        column.set(first, figure);
                    }
                    rest.iter().for_each(|row| gone[*row] = true);
                }
            }
        }
        self.leave_out(&gone);
    }

    /// Drops rows.
    pub(super) fn leave_out(&mut self, gone: &[bool]) {
        let mut at = gone.iter();
        self.context.retain(|_| at.next() == Some(&false));
        let mut at = gone.iter();
        self.run.retain(|_| at.next() == Some(&false));
        self.bases
            .iter_mut()
            .for_each(|column| column.leave_out(gone));
    }

    /// The rows of each two or more jobs that may be summed, in order.
    fn together(&self) -> Vec<Vec<usize>> {
        let mut kinds: HashMap<Kind, (u32, usize)> = HashMap::new();
        let of_context: Vec<Option<u32>> = (self.contexts.values().iter())
            .map(|context| {
                let kind = self.kind(context)?;
                let next = kinds.len() as u32;
                let (code, contexts) = kinds.entry(kind).or_insert((next, 0));
                *contexts += 1;
                Some(*code)
            })
            .collect();
        let mut known: PlHashMap<(u32, u32), usize> = PlHashMap::default();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let rows = self.context.iter().zip(&self.run).enumerate();
        for (row, (context, run)) in rows {
            if let Some(kind) = of_context[*context as usize] {
                let set = *known.entry((kind, *run)).or_insert_with(|| {
                    sets.push(Vec::new());
                    sets.len() - 1
                });
                sets[set].push(row);
            }
        }
        sets.retain(|rows| rows.len() > 1);
        sets
    }

    /// What jobs of this context can be summed with; none for what is no job.
    fn kind(&self, context: &Context) -> Option<Kind> {
        let facts = self.facts.get(context.facts)?;
        (context.rank == evidence::rank(ScopeKind::Job) && context.jobs > 0).then(|| Kind {
            source: context.source,
            group: context.group,
            settings: context.settings,
            asked: facts.asked,
            heading: facts.heading,
            keys: context.keys.clone(),
            alone: (context.group == u32::MAX).then_some(context.job),
        })
    }

    fn fate(&self, rows: &[usize]) -> Fate {
        let contexts = || {
            rows.iter()
                .filter_map(|row| self.contexts.get(self.context[*row]))
        };
        let mut found: Vec<(u32, u32, u32)> = Vec::new();
        for context in contexts() {
            match found.iter_mut().find(|(job, ..)| *job == context.job) {
                Some((_, count, _)) => *count += 1,
                None => found.push((context.job, 1, context.jobs)),
            }
        }
        let jobs: u32 = found.iter().map(|(_, _, jobs)| *jobs).sum();
        if found.iter().any(|(_, count, jobs)| count > jobs) || contexts().any(|c| c.failed) {
            return Fate::Stay;
        }
        if found.iter().any(|(_, count, jobs)| count < jobs) {
            return Fate::Incomplete(jobs);
        }
        let of: Vec<(Base, Vec<Option<Bounds>>)> = (self.wanted.all_bases().zip(&self.bases))
            .map(|(base, column)| (base, rows.iter().map(|row| column.get(*row)).collect()))
            .collect();
        let uneven = |figures: &[Option<Bounds>]| {
            figures.iter().any(Option::is_some) && figures.contains(&None)
        };
        if of.iter().any(|(_, figures)| uneven(figures)) {
            return Fate::Stay;
        }
        let jobs = Jobs(of);
        match jobs.0.iter().map(|(base, _)| jobs.sum(*base)).collect() {
            Some(figures) => Fate::Sum(figures),
            None => Fate::Stay,
        }
    }

    /// The context with more notes and a number of jobs summed.
    fn with_notes(&mut self, context: u32, more: &[u32], summed: u32) -> u32 {
        let Some(mut new) = self.contexts.get(context).cloned() else {
            return context;
        };
        let mut notes = self.note_sets.get(new.notes).cloned().unwrap_or_default();
        for note in more {
            if !notes.contains(note) {
                notes.push(*note);
            }
        }
        new.notes = self.note_sets.code(notes.as_slice());
        new.summed = summed;
        self.context_code(&new)
    }
}

/// The figures of each quantity, job by job.
struct Jobs(Vec<(Base, Vec<Option<Bounds>>)>);

impl Jobs {
    /// What all jobs have of a quantity; none if they do not have it.
    fn all(&self, base: Base) -> Option<Vec<Bounds>> {
        let (_, figures) = self.0.iter().find(|(b, _)| *b == base)?;
        figures.iter().copied().collect()
    }

    /// A quantity of all jobs together; the inner none where no job has it, the outer where it does not follow.
    fn sum(&self, base: Base) -> Option<Option<Bounds>> {
        let Some(figures) = self.all(base) else {
            return Some(None);
        };
        let total = match base {
            Base::Bytes => sum(figures),
            Base::Runtime | Base::IoPhase => highest(&figures),
            Base::Latency(_, Statistic::Max) => highest(&figures),
            Base::Latency(_, Statistic::Min) => lowest(&figures),
            Base::Count(_) => sum(figures),
            Base::BytesPerSec => {
                self.rate(self.all(Base::Bytes).or_else(|| self.amounts(figures))?)
            }
            Base::Iops => self.rate(self.amounts(uncut(figures))?),
            Base::Latency(clock, Statistic::Mean) => self.mean(clock, &figures),
            _ => span(&figures),
        };
        total.map(Some)
    }

    /// Rates x run times.
    fn amounts(&self, rates: Vec<Bounds>) -> Option<Vec<Bounds>> {
        let times = self.all(Base::Runtime)?;
        let pairs = rates.into_iter().zip(times);
        pairs
            .map(|(rate, time)| rate.by(time.times(1e-9)))
            .collect()
    }

    /// Amounts over the longest run time.
    fn rate(&self, amounts: Vec<Bounds>) -> Option<Bounds> {
        let seconds = highest(&self.all(Base::Runtime)?)?.times(1e-9);
        sum(amounts)?.divided_by(seconds)
    }

    /// The mean over all I/Os. Numbers of I/Os that are off by a share of `e` at most move it by at most
    /// e / (1 - e) of the width of all means; where they are not known, it may be anywhere among these.
    fn mean(&self, clock: Clock, means: &[Bounds]) -> Option<Bounds> {
        let span = span(means)?;
        let counted = || self.amounts(uncut(self.all(Base::Iops)?));
        let counts = self.all(Base::Count(clock)).or_else(|| match clock {
            // Flushes are no I/Os.
            Clock::Sync => None,
            _ => counted(),
        });
        let Some(counts) = counts else {
            return Some(span);
        };
        let total: f64 = counts.iter().map(|n| n.value()).sum();
        let doubt = (counts.iter())
            .map(|n| (n.hi() - n.lo()) / n.value())
            .fold(0.0, f64::max);
        if !(total > 0.0 && doubt < 0.5) {
            return Some(span);
        }
        let weighted = |end: fn(Bounds) -> f64| -> f64 {
            let terms = counts
                .iter()
                .zip(means)
                .map(|(n, mean)| n.value() * end(*mean));
            terms.sum::<f64>() / total
        };
        let slack = span.width() * (doubt / (1.0 - doubt) + f64::EPSILON * counts.len() as f64);
        let within = |mean: f64| mean.clamp(span.lo(), span.hi());
        let (lo, hi) = (
            within(weighted(Bounds::lo) - slack),
            within(weighted(Bounds::hi) + slack),
        );
        Bounds::new(lo, weighted(Bounds::value).clamp(lo, hi), hi)
    }
}

/// Whether a metric of all jobs together follows from those of each.
pub fn follows(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::Bandwidth
            | Metric::WriteBandwidth
            | Metric::Iops
            | Metric::Bytes
            | Metric::Runtime
            | Metric::Latency(_, Statistic::Min | Statistic::Mean | Statistic::Max)
    )
}

/// fio's text cuts IOPS off to whole numbers.
fn uncut(iops: Vec<Bounds>) -> Vec<Bounds> {
    let is_cut = |rate: &Bounds| rate.is_exact() && rate.lo().fract() == 0.0;
    (iops.into_iter())
        .map(|rate| match is_cut(&rate) {
            true => Bounds::between(rate.lo(), rate.lo() + 1.0).unwrap_or(rate),
            false => rate,
        })
        .collect()
}

fn sum(figures: Vec<Bounds>) -> Option<Bounds> {
    figures.into_iter().reduce(Bounds::plus)
}

fn span(figures: &[Bounds]) -> Option<Bounds> {
    let mut values: Vec<f64> = figures.iter().map(|f| f.value()).collect();
    let value = crate::stats::median_of(&mut values)?;
    Bounds::new(lowest(figures)?.lo(), value, highest(figures)?.hi())
}

/// The greatest of numbers each known to lie in its bounds.
fn highest(figures: &[Bounds]) -> Option<Bounds> {
    let greatest = |a: Bounds, b: Bounds| {
        let [lo, value, hi] = [Bounds::lo, Bounds::value, Bounds::hi].map(|end| end(a).max(end(b)));
        Bounds::new(lo, value, hi).unwrap_or(a)
    };
    figures.iter().copied().reduce(greatest)
}

/// The least, likewise.
fn lowest(figures: &[Bounds]) -> Option<Bounds> {
    let least = |a: Bounds, b: Bounds| {
        let [lo, value, hi] = [Bounds::lo, Bounds::value, Bounds::hi].map(|end| end(a).min(end(b)));
        Bounds::new(lo, value, hi).unwrap_or(a)
    };
    figures.iter().copied().reduce(least)
}
