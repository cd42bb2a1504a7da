//! Runs of a log that failed before they moved a byte.
//!
//! fio's JSON has a record of such a run, with its error and no figures. In text there is nothing to make a
//! record of and `fio_parse` says so in a diagnostic only; yet a run that died must not vanish from a
//! comparison, or a gate would pass on what is left. So each of these diagnostics becomes a record with an
//! error and no figures, unless the report it stands in has one already. The report is what stands between two
//! of fio's headers, which also tell what was asked of the disk.
//!
//! A dd that failed counts where nothing else of the input gave a result; among results, people try again.
//!
//! Place: under [`crate::load`], which shows the diagnostics themselves.

use std::sync::Arc;

use fio_parse::diagnostic::{Code, Diagnostic};
use fio_parse::record::{Dialect, JobError, Scope, ScopeKind, Source, Tool};
use fio_parse::workload::{Job, Workload, header};
use fio_parse::{Direction, Log, Measurement, Record};

/// A report of fio in a log: where its header starts, and what it tells.
struct Report {
    start: u32,
    workload: Arc<Workload>,
}

/// Records for the runs of a log that failed and left none.
pub fn unrecorded(log: &Log<'_>, records: &[Record], diagnostics: &[Diagnostic]) -> Vec<Record> {
    let counts = |d: &&Diagnostic| {
        d.code == Code::JOB_FAILED || d.code == Code::RUN_FAILED && records.is_empty()
    };
    let mut failed = diagnostics.iter().filter(counts).peekable();
    if failed.peek().is_none() {
        return Vec::new();
    }
    let reports = reports(log);
    let report_at = |at: u32| reports.iter().rposition(|report| report.start <= at);
    let place_of = |record: &Record| report_at(record.source.span.map_or(0, |span| span.start));
    let last_run = records.iter().map(|r| r.run).max().unwrap_or(0);
    let mut made = Vec::new();
    for diagnostic in failed {
        let at = diagnostic.span.map_or(0, |span| span.start);
        let place = report_at(at);
        let others = || records.iter().filter(|r| place_of(r) == place);
        if others().any(|r| !r.errors.is_empty()) {
            continue;
        }
        let beside = others().next();
        let workload = place.map(|at| Arc::clone(&reports[at].workload));
        let workload = (beside.and_then(|r| r.workload.clone())).or(workload);
        let line = log.line_at(at).trim_start();
        let jobs = workload.as_deref().map_or(&[][..], Workload::jobs);
        let job = match jobs {
            [job] => Some(job),
            jobs => jobs.iter().find(|job| {
                let behind = line.strip_prefix(job.name.as_str());
                behind.is_some_and(|behind| behind.starts_with(": ("))
            }),
        };
        let dd = diagnostic.code == Code::RUN_FAILED;
        let source = Source {
            name: log.name().into(),
            span: diagnostic.span,
            line: Some(log.line_of(at)),
            dialect: if dd { Dialect::Dd } else { Dialect::FioJob },
            tool: (beside.map(|r| r.source.tool.clone()))
                .unwrap_or_else(|| Tool::named(if dd { "dd" } else { "fio" })),
        };
        let scope = Scope {
            job: job.map(|job| job.name.as_str().into()),
            ..Scope::of(if dd { ScopeKind::Run } else { ScopeKind::Job })
        };
        for direction in directions(job.or(jobs.first()), dd) {
            made.push(Record {
                v: Default::default(),
                source: source.clone(),
                machine: beside.or(records.first()).and_then(|r| r.machine.clone()),
                device: None,
                section: beside.map_or_else(Vec::new, |r| r.section.clone()),
                workload: workload.clone(),
                run: beside.map_or(last_run + 1 + place.unwrap_or(0) as u32, |r| r.run),
                scope: scope.clone(),
                direction: *direction,
                measurement: Measurement::default(),
                errors: vec![JobError {
                    code: None,
                    text: diagnostic.message.clone(),
                }],
                interrupted: false,
                details: None,
                fidelity: None,
                environment: Default::default(),
                claims: Vec::new(),
                warnings: Vec::new(),
            });
        }
    }
    made
}

/// The headers of a log, in order.
fn reports(log: &Log<'_>) -> Vec<Report> {
    let mut lines = log.segments();
    let mut reports = Vec::new();
    loop {
        if let Some(block) = header::read(log, &mut lines) {
            reports.push(Report {
                start: block.span.start,
                workload: Arc::new(block.workload()),
            });
        } else if lines.next().is_none() {
            return reports;
        }
    }
}

/// The ways in which bytes were to go; fio reads where nothing else is said, dd writes.
fn directions(job: Option<&Job>, dd: bool) -> &'static [Direction] {
    let Some(pattern) = job.and_then(|job| job.pattern) else {
        return if dd {
            &[Direction::Write]
        } else {
            &[Direction::Read]
        };
    };
    match (pattern.reads(), pattern.writes()) {
        (true, true) => &[Direction::Read, Direction::Write],
        (true, false) => &[Direction::Read],
        (false, true) => &[Direction::Write],
        (false, false) => &[Direction::Trim],
    }
}
