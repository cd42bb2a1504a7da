//! The parts of a report of fio's normal text to records: jobs, groups, and what stands around them.
//!
//! Jobs and groups of a run stay apart, with one run number: job sections have latencies, group lines the sum. A job
//! that failed taints its group. Where a section says something twice, lines of two reports are mixed, and only its
//! direction lines count. Bytes that the jobs of a group moved can't be more than those of the group.

use super::{Assembler, fio_group, fio_text};
use crate::block::fio_group::FioGroup;
use crate::block::fio_note::FioNote;
use crate::block::fio_text::FioJob;
use crate::context::Context;
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Look};
use crate::record::{Details, Dialect, Direction, JobError, Measurement, Scope, ScopeKind, Tool};
use crate::source::Span;
use crate::workload::WrittenAs;
use compact_str::CompactString;
use std::collections::{HashMap, HashSet};

/// How many different errors of its jobs a group names.
const ERRORS: usize = 8;

/// What the parts of one fio report share.
#[derive(Default)]
pub(super) struct Report {
    /// Whether the run was ended before its time.
    pub(super) interrupted: bool,
    /// The errors of jobs by run and group: different ones, and a few at most, for their group to name.
    failed: HashMap<(u32, u32), Vec<JobError>>,
    /// The failure that was printed on a line of its own, until a job section tells it too.
    failure: Option<Diagnostic>,
    /// The run of the jobs that were read, and what they moved in each group and direction.
    run: u32,
    moved: HashMap<(u32, Direction), Moved>,
    /// The groups of that run with a job that the report's header does not list.
    unlisted: HashSet<u32>,
    /// The records of the last job section, and the era of its fio, for lines that were cut loose from it.
    last: Vec<usize>,
    era: Era,
    /// Where the last lines of a job section ended, and whether they had the form of fio to 2.16.
    end: Option<(u32, bool)>,
    /// Whether lines of another report stand among those of the last section.
    interleaved: bool,
}

/// What the jobs of a group moved in one direction.
#[derive(Clone, Copy, Default)]
struct Moved {
    /// The bytes at least.
    bytes_min: u64,
    /// How many job sections say so.
    jobs: u64,
}

/// fio, in the version that the context states.
fn fio(context: &Context) -> Tool {
    Tool {
        version: context.version.as_deref().map(Into::into),
        ..Tool::named("fio")
    }
}

/// Whether the header of a report describes other jobs than the one with this name: some of its lines went elsewhere.
fn is_of_others(context: &Context, name: &str) -> bool {
    context.workload.as_deref().is_some_and(|workload| {
        let jobs = workload.jobs();
        workload.written_as == WrittenAs::FioHeader
            && !jobs.is_empty()
            && jobs.iter().all(|job| job.name != name)
    })
}

/// The context of a job that its header does not describe.
fn without_workload(context: &Context) -> Context {
    Context {
        workload: None,
        ..context.clone()
    }
}

/// A time without what a line that was broken in it has between its words.
fn printed(time: &str) -> CompactString {
    if !time.contains(['\n', '\r', '>', '|']) {
        return time.into();
    }
    let words = time
        .split_whitespace()
        .filter(|word| !matches!(*word, ">" | "|"));
    words.collect::<Vec<_>>().join(" ").into()
}

impl Assembler<'_, '_> {
    /// Passes over what a later report says better.
    pub(super) fn past(&mut self) {
        self.report.last.clear();
    }

    /// Passes over a job section that a later one says better.
    pub(super) fn past_job(&mut self, job: &FioJob<'_>) {
        self.past();
        self.parsed.diagnostics.push(Diagnostic::note(
            Code::STATUS_SERIES,
            Some(job.head.as_ref().map_or(job.span, |head| head.span)),
            "this report is of a run that went on; the last one below is its result",
        ));
    }

    /// The directions of a job section.
    pub(super) fn fio_job(&mut self, mut job: Box<FioJob<'_>>, context: &Context) {
        let unlisted = job
            .head
            .as_ref()
            .filter(|head| !head.is_all_clients() && is_of_others(context, head.name))
            .map(|head| head.group);
        let bare;
        let context = match unlisted {
            Some(_) => {
                bare = without_workload(context);
                &bare
            }
            None => context,
        };
        self.untimed.clear();
        self.parsed.diagnostics.append(&mut job.problems);
        let era = self.era(context);
        let workload = context.workload.as_deref();
        let blocks = workload.map_or_else(Default::default, |workload| {
            fio_text::BlockSizes::for_section(workload, &job)
        });
        let errors = fio_text::errors(&job);
        let run = self.series.number(context.run);
        let bare = job.parts.is_empty() && job.cpu.is_none() && job.issued.is_none();
        let measurements = fio_text::measurements(&mut job, era, blocks);
        let head = job.head.as_ref();
        let mut scope = Scope {
            group: head.map(|head| head.group),
            job: head
                .filter(|head| !head.is_all_clients())
                .map(|head| head.name.into()),
            jobs: head.and_then(|head| head.jobs),
            ..Scope::of(match head {
                Some(head) if head.is_all_clients() => ScopeKind::AllClients,
                _ => ScopeKind::Job,
            })
        };
        if let Some(host) = &context.host {
            scope.of_host(&host.text);
        }
        let mixed = head.is_none()
            && self.is_adjacent(&job)
            && (self.report.end).is_some_and(|(_, legacy)| legacy != job.looks.legacy);
        if mixed {
            self.interleave(job.span);
        }
        self.report.end = Some((job.span.end, job.looks.legacy));
        self.report.interleaved = false;
        self.report.failure = None;
        self.report.last.clear();
        if self.report.run != run {
            self.report.run = run;
            self.report.moved.clear();
            self.report.unlisted.clear();
        }
        self.report.unlisted.extend(unlisted);
        self.report.era = era;
        for error in &errors {
            let key = (run, scope.group.unwrap_or(0));
            let failed = self.report.failed.entry(key).or_default();
            if failed.len() < ERRORS && !failed.contains(error) {
                failed.push(error.clone());
            }
            if measurements.is_empty() {
                self.parsed.diagnostics.push(Diagnostic::warning(
                    Code::JOB_FAILED,
                    head.map(|head| head.span),
                    format!(
                        "the job {:?} failed and moved nothing: {}",
                        head.map_or("", |head| head.name),
                        error.text
                    ),
                ));
            }
        }
        if let Some(head) = head
            && errors.is_empty()
            && bare
        {
            self.parsed.diagnostics.push(Diagnostic::warning(
                Code::INCOMPLETE,
                Some(head.span),
                format!(
                    "expected a line such as `read: IOPS=…` below the head of the job {:?}, found none; it has no result",
                    head.name
                ),
            ));
        }
        self.assume(fio_text::era_of(&job.looks, era));
        let details = Details {
            printed: head.and_then(|head| head.time).map(printed),
            syncs: fio_text::syncs(&job),
            ..Details::default()
        };
        let details = details.boxed();
        for part in measurements {
            let mut record = self.record(
                context,
                part.span,
                Dialect::FioJob,
                fio(context),
                scope.clone(),
                part.direction,
            );
            record.errors.clone_from(&errors);
            record.interrupted = self.report.interrupted;
            record.details.clone_from(&details);
            if matches!(record.scope.kind, ScopeKind::Job | ScopeKind::Client)
                && let Some(bytes) = &part.measurement.bytes
            {
                let key = (scope.group.unwrap_or(0), part.direction);
                let moved = self.report.moved.entry(key).or_default();
                moved.bytes_min = moved.bytes_min.saturating_add(bytes.lo().0);
                moved.jobs += 1;
            }
            let lines = job.parts.iter().filter_map(|text| text.line.as_ref());
            for line in lines.filter(|line| line.direction == part.direction) {
                if let Some(prefix) = line.prefix {
                    self.name_file(&mut record, prefix);
                }
            }
            self.report.last.push(self.parsed.records.len());
            self.push(record, part.measurement, part.warnings);
        }
        if mixed {
            self.interleave(job.span);
        }
    }

    /// Whether lines stand right below the last job section, so that only what they say can have ended it.
    fn is_adjacent(&self, lines: &FioJob<'_>) -> bool {
        self.report.end.is_some_and(|(end, _)| {
            let between = self.log.text().get(end as usize..lines.span.start as usize);
            between.is_some_and(|text| text.len() <= 3 && text.matches('\n').count() <= 1)
        })
    }

    /// Leaves out what the lines below the directions of the last section say: some are of another report.
    fn interleave(&mut self, at: Span) {
        if std::mem::replace(&mut self.report.interleaved, true) {
            return;
        }
        for &index in &self.report.last {
            let record = &mut self.parsed.records[index];
            let measurement = std::mem::take(&mut record.measurement);
            record.measurement = Measurement {
                bytes_per_sec: measurement.bytes_per_sec,
                bytes: measurement.bytes,
                iops: measurement.iops,
                runtime_ns: measurement.runtime_ns,
                ..Measurement::default()
            };
            record.warnings.push(Diagnostic::warning(
                Code::INTERLEAVED,
                Some(at),
                "this section says something twice, or in the forms of two versions: lines of two reports are mixed, so nothing was taken from the lines below this one, and it may stand under the wrong name itself",
            ));
        }
    }

    /// Gives lines that were cut loose to the job section above them.
    pub(super) fn loose(&mut self, lines: &FioJob<'_>) {
        self.parsed
            .diagnostics
            .extend(lines.problems.iter().cloned());
        let Some(nearest) = self.report.last.last().copied() else {
            self.parsed.diagnostics.push(Diagnostic::note(
                Code::LOOSE_LINES,
                Some(lines.span),
                "expected a line such as `read: IOPS=…` above these lines of a job section, found none; nothing was taken from them",
            ));
            return;
        };
        if self.is_adjacent(lines) {
            // a line that the section had already has ended it
            self.report.end = Some((lines.span.end, lines.looks.legacy));
            self.interleave(lines.span);
        }
        if self.report.interleaved {
            return;
        }
        for &index in &self.report.last {
            let record = &mut self.parsed.records[index];
            fio_text::attach(
                lines,
                self.report.era,
                record.direction,
                index == nearest,
                &mut record.measurement,
                &mut record.warnings,
            );
        }
    }

    /// The lines of a group status.
    pub(super) fn fio_group(&mut self, group: &FioGroup<'_>, context: &Context) {
        self.untimed.clear();
        self.parsed
            .diagnostics
            .extend(group.problems.iter().cloned());
        let era = self.era(context);
        let run = self.series.number(context.run);
        let number = group.group.unwrap_or(0);
        let bare;
        let context = match self.report.run == run && self.report.unlisted.contains(&number) {
            true => {
                bare = without_workload(context);
                &bare
            }
            false => context,
        };
        self.report.last.clear();
        let measured = fio_group::measurements(group, era);
        for (line, printed) in measured.into_iter().zip(&group.lines) {
            let mut scope = Scope {
                group: group.group,
                ..Scope::of(ScopeKind::Group)
            };
            if let Some(host) = &context.host {
                scope.of_host(&host.text);
            }
            let mut record = self.record(
                context,
                line.span,
                Dialect::FioGroup,
                fio(context),
                scope,
                line.direction,
            );
            // a sum that a failed job is part of is no result either
            let failed = self.report.failed.get(&(run, group.group.unwrap_or(0)));
            record.errors = failed.cloned().unwrap_or_default();
            record.interrupted = self.report.interrupted;
            self.assume(era.seen(if printed.legacy {
                Look::Legacy
            } else {
                Look::Modern
            }));
            if let Some(prefix) = printed.prefix {
                self.name_file(&mut record, prefix);
            }
            let mut warnings = line.warnings;
            let key = (group.group.unwrap_or(0), line.direction);
            let moved = self
                .report
                .moved
                .get(&key)
                .filter(|_| self.report.run == run);
            if let (Some(moved), Some(bytes)) = (moved, &line.measurement.bytes)
                // to 2.16 the sum counts whole KiB of each job; sections may be missing, so it may well be larger
                && moved.bytes_min > bytes.hi().0.saturating_add(1024 * moved.jobs)
            {
                warnings.push(Diagnostic::warning(
                    Code::DISAGREE,
                    bytes.span(),
                    format!(
                        "the jobs above moved {} bytes or more, but {} is printed for their group",
                        moved.bytes_min,
                        bytes.text()
                    ),
                ));
            }
            self.push(record, line.measurement, warnings);
        }
    }

    /// What a note says of the report it belongs to.
    pub(super) fn note(&mut self, note: &FioNote<'_>) {
        match note {
            FioNote::Version(_) | FioNote::Starting => self.end_report(),
            FioNote::Ended | FioNote::Progress { interrupted: true } => {
                self.report.interrupted = true
            }
            FioNote::Failure(text) => {
                let failure = Diagnostic::warning(
                    Code::JOB_FAILED,
                    Some(text.span),
                    format!("a job failed: {}", text.text.trim_start_matches("fio: ")),
                );
                self.parsed
                    .diagnostics
                    .extend(self.report.failure.replace(failure));
            }
            _ => {}
        }
    }

    /// What was said of one report does not hold for the next.
    pub(super) fn end_report(&mut self) {
        let report = std::mem::take(&mut self.report);
        self.parsed.diagnostics.extend(report.failure);
    }

    /// Notes once that a version had to be assumed.
    fn assume(&mut self, era: Era) {
        if self.assumption.is_none() {
            self.assumption = era.assumption();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::record::ScopeKind;
    use crate::source::Log;

    #[test]
    fn a_header_that_lists_other_jobs_describes_none_of_theirs() {
        // what stood first went to the terminal; groups count from zero
        let job = |name: &str, group: u32| {
            format!(
                "{name}: (groupid={group}, jobs=1): err= 0: pid=7: Mon Nov 30 14:42:38 2026\n  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(4000KiB/1000msec)\n\n"
            )
        };
        let status = |group: u32| {
            format!(
                "Run status group {group} (all jobs):\n   READ: bw=4000KiB/s (4096kB/s), 4000KiB/s-4000KiB/s (4096kB/s-4096kB/s), io=4000KiB (4096kB), run=1000-1000msec\n\n"
            )
        };
        let text = [
            "j2: (g=1): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n...\nfio-3.33\nStarting 3 processes\n\n".to_owned(),
            job("j1", 0),
            job("j2", 1),
            job("j2", 1),
            status(0),
            status(1),
        ]
        .concat();
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let records = crate::parse(&log).records;
        let known: Vec<(ScopeKind, Option<u32>, bool)> = records
            .iter()
            .map(|r| (r.scope.kind, r.scope.group, r.workload.is_some()))
            .collect();
        assert_eq!(
            known,
            [
                (ScopeKind::Job, Some(0), false),
                (ScopeKind::Job, Some(1), true),
                (ScopeKind::Job, Some(1), true),
                (ScopeKind::Group, Some(0), false),
                (ScopeKind::Group, Some(1), true),
            ]
        );
        // how many clones there are of j2, the three processes do not tell
        let workload = records[1].workload.as_ref().unwrap();
        assert_eq!(workload.jobs()[0].jobs, None);
        assert!(
            workload
                .missing
                .iter()
                .any(|missing| missing == "value:numjobs")
        );
    }
}
