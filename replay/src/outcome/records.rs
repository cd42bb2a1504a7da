//! An outcome as records: every reading exact (`lo == hi`), nothing rounded but what fio
//! itself rounds (the run time to whole milliseconds, the rate from that), and the fidelity
//! of the run beside the figures.

use std::sync::Arc;

use fio_parse::diagnostic::{Code, Diagnostic};
use fio_parse::record::{
    Cpu, Dialect, Direction, Fidelity, FidelityNote, IoCounts, Ios, JobError, Label, Latency,
    Measurement, Percentile, Reading, Record, Records, Samples, Scope, ScopeKind, Source, Spread,
    Tool, Verdict, WallCovers, WireVersion,
};
use fio_parse::unit::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fio_parse::workload::{Timed, Workload};

use super::{
    DdOutcome, Entry, Figures, FioOutcome, Group, Outcome, SampleStats, groups, per_second,
    sample_stats,
};
use crate::caution::{Caution, cautions};
use crate::clock::Usage;
use crate::dd::Blocks;
use crate::hist::{DEFAULT_PERCENTILES, Histogram, Stat};
use crate::plan::dd::{DdPlan, Sink};
use crate::plan::fio::FioPlan;
use crate::plan::job::JobPlan;
use crate::plan::{Note, Plan, TestPlan};

/// What a record says beside figures.
#[derive(Debug, Clone)]
pub struct Context {
    /// The machine.
    pub machine: Label,
    /// Headings of the workload in the text it came from.
    pub section: Vec<Label>,
    /// The workload, as asked.
    pub workload: Arc<Workload>,
    /// Number of the run, from 1.
    pub run: u32,
    /// Facts of the machine and the set-up.
    pub environment: serde_json::Map<String, serde_json::Value>,
}

/// The records of a run.
pub fn records(plan: &Plan, outcome: &Outcome, context: &Context) -> Vec<Record> {
    let mut records = match (&plan.test, outcome) {
        (TestPlan::Fio(fio), Outcome::Fio(outcome)) => fio_records(fio, outcome, context),
        (TestPlan::Dd(dd), Outcome::Dd(outcome)) => vec![dd_record(dd, outcome, context)],
        // A plan and an outcome of different tests never meet: `Bench::run` pairs them.
        _ => return Vec::new(),
    };
    let fidelity = fidelity(plan, outcome);
    let warnings = warnings(plan, outcome, &context.environment);
    for record in &mut records {
        record.warnings.extend_from_slice(&warnings);
        record.fidelity = Some(Box::new(fidelity.clone()));
        record.interrupted = outcome.stopped().is_some_and(|stop| stop.cuts_short());
    }
    records
}

/// The cautions on a run, as records have them.
pub fn warnings(
    plan: &Plan,
    outcome: &Outcome,
    facts: &serde_json::Map<String, serde_json::Value>,
) -> Vec<Diagnostic> {
    let diagnostic = |caution: Caution| {
        let code = Code::other(caution.id());
        match caution.kind.severe {
            true => Diagnostic::warning(code, None, caution.text),
            false => Diagnostic::note(code, None, caution.text),
        }
    };
    let found = cautions(plan, outcome, facts).into_iter();
    found.map(diagnostic).collect()
}

/// What was planned and what was done. A plan that time ends has no counts.
fn counts(plan: &Plan, outcome: &Outcome) -> (IoCounts, IoCounts) {
    match (&plan.test, outcome) {
        (TestPlan::Fio(fio), Outcome::Fio(outcome)) => fio_counts(fio, outcome),
        (TestPlan::Dd(dd), Outcome::Dd(outcome)) => dd_counts(dd, outcome),
        _ => (IoCounts::default(), IoCounts::default()),
    }
}

/// What the run itself adds to the differences of its plan.
pub fn run_notes(plan: &Plan, outcome: &Outcome) -> Vec<Note> {
    let (planned, issued) = counts(plan, outcome);
    let mut notes = Vec::new();
    if planned.bytes.is_some() && planned != issued {
        let number = |count: Option<u64>| count.unwrap_or(0);
        let (issued, planned) = (number(issued.bytes), number(planned.bytes));
        let id = match outcome {
            Outcome::Dd(dd) if dd.out_of_time => "scaled-runtime",
            _ => "incomplete",
        };
        notes.push(Note::with(id, format!("{issued} of {planned} bytes")));
    }
    if let Outcome::Fio(outcome) = outcome {
        let logged = outcome.jobs.iter().flatten().flat_map(|job| &job.logged);
        let left_out: u64 = logged.map(|logged| logged.left_out).sum();
        if left_out > 0 {
            notes.push(Note::with(
                "log-full",
                format!("{left_out} lines are left out"),
            ));
        }
    }
    if let Some(stop) = outcome.stopped().filter(|stop| stop.cuts_short()) {
        notes.push(Note::with("interrupted", stop.words().to_owned()));
    }
    notes
}

/// How close the run came, by its plan and by what became of it.
pub fn fidelity(plan: &Plan, outcome: &Outcome) -> Fidelity {
    let (planned, issued) = counts(plan, outcome);
    let run_notes = run_notes(plan, outcome);
    let verdict = run_notes
        .iter()
        .map(Note::level)
        .fold(plan.verdict(), Verdict::max);
    let notes = plan.notes.iter().chain(&run_notes);
    let notes = notes.map(|note| FidelityNote {
        id: note.id().to_owned(),
        level: note.level(),
        affects: note
            .affects()
            .iter()
            .map(|&figure| figure.to_owned())
            .collect(),
        why: note.sentence().into_owned(),
    });
    Fidelity {
        verdict,
        notes: notes.collect(),
        planned,
        issued,
    }
}

fn fio_counts(plan: &FioPlan, outcome: &FioOutcome) -> (IoCounts, IoCounts) {
    // A run time may end a job before its bytes do: then nothing is promised.
    let cut_off = plan.jobs.len() > 1 && plan.jobs.iter().any(|job| job.exit_all);
    let timed = |job: &JobPlan| job.runtime_ns.is_some() || job.ramp_ns > 0 || job.steady.is_some();
    let bounded = cut_off || plan.jobs.iter().any(timed);
    let planned = plan.planned().filter(|_| !bounded);
    let planned = planned.map_or(IoCounts::default(), |counts| IoCounts {
        reads: Some(counts.reads),
        writes: Some(counts.writes),
        bytes: Some(counts.read_bytes + counts.write_bytes),
        syncs: Some(counts.syncs),
    });
    let sum = |count: fn(&crate::worker::JobOutcome) -> u64| {
        outcome.jobs.iter().flatten().map(count).sum()
    };
    let issued = IoCounts {
        reads: Some(sum(|job| job.flows[0].ios)),
        writes: Some(sum(|job| job.flows[1].ios)),
        bytes: Some(sum(|job| job.flows[0].bytes + job.flows[1].bytes)),
        syncs: Some(sum(|job| job.syncs.count)),
    };
    (planned, issued)
}

fn dd_counts(plan: &DdPlan, outcome: &DdOutcome) -> (IoCounts, IoCounts) {
    use crate::plan::dd::{ConvSync, whole_block};
    let per_call = whole_block(plan.block, plan.full_blocks);
    let reads = plan.count + u64::from(plan.tail > 0);
    let bytes = per_call
        .saturating_mul(plan.count)
        .saturating_add(plan.tail);
    let writes = if plan.output_block == plan.block {
        reads
    } else {
        bytes.div_ceil(plan.output_block)
    };
    let syncs = |done: bool| Some(u64::from(done));
    let planned = IoCounts {
        reads: Some(reads),
        writes: Some(writes),
        bytes: Some(bytes),
        syncs: syncs(plan.conv_sync != ConvSync::None),
    };
    let issued = IoCounts {
        reads: Some(outcome.read.full + outcome.read.partial),
        writes: Some(outcome.written.full + outcome.written.partial),
        bytes: Some(outcome.bytes),
        syncs: syncs(outcome.conv_sync_ns.is_some()),
    };
    (planned, issued)
}

fn record(
    context: &Context,
    scope: Scope,
    direction: Direction,
    measurement: Measurement,
) -> Record {
    Record {
        v: WireVersion,
        source: Source {
            name: "fio-replay".into(),
            span: None,
            line: None,
            dialect: Dialect::Replay,
            tool: Tool {
                version: Some(env!("CARGO_PKG_VERSION").into()),
                ..Tool::named("fio-replay")
            },
        },
        machine: Some(context.machine.clone()),
        device: None,
        section: context.section.clone(),
        workload: Some(Arc::clone(&context.workload)),
        run: context.run,
        scope,
        direction,
        measurement,
        errors: Vec::new(),
        interrupted: false,
        fidelity: None,
        environment: context.environment.clone(),
        details: None,
        claims: Vec::new(),
        warnings: Vec::new(),
    }
}

const DIRECTIONS: [Direction; 2] = [Direction::Read, Direction::Write];

/// A group with one entry gives one record per direction; with several, one per entry and
/// one for the group.
fn fio_records(plan: &FioPlan, outcome: &FioOutcome, context: &Context) -> Vec<Record> {
    let mut records = Vec::new();
    for group in groups(plan, outcome) {
        for (index, direction) in DIRECTIONS.into_iter().enumerate() {
            if let [entry] = &group.entries[..] {
                let scope = entry_scope(ScopeKind::Group, &group, entry);
                records.extend(entry_record(entry, index, direction, scope, context));
                continue;
            }
            for entry in &group.entries {
                let scope = entry_scope(ScopeKind::Job, &group, entry);
                records.extend(entry_record(entry, index, direction, scope, context));
            }
            records.extend(group_record(&group, index, direction, context));
        }
        // A failure before the first I/O must not pass in silence.
        for entry in group
            .entries
            .iter()
            .filter(|entry| entry.flows.iter().all(|flow| flow.ios == 0))
        {
            let direction = if entry.job.pattern.reads {
                Direction::Read
            } else {
                Direction::Write
            };
            let scope = entry_scope(ScopeKind::Job, &group, entry);
            let mut empty = record(context, scope, direction, Measurement::default());
            empty.errors = errors(entry);
            if !empty.errors.is_empty() {
                records.push(empty);
            }
        }
    }
    if let Some(failure) = &outcome.failure {
        let error = JobError {
            code: Some(i64::from(failure.code)),
            text: failure.sentence(),
        };
        match &mut records[..] {
            [] => {
                let scope = Scope::of(ScopeKind::Run);
                let writes = plan.jobs.iter().any(|job| job.pattern.writes);
                let direction = if writes {
                    Direction::Write
                } else {
                    Direction::Read
                };
                let mut empty = record(context, scope, direction, Measurement::default());
                empty.errors.push(error);
                records.push(empty);
            }
            some => some
                .iter_mut()
                .for_each(|record| record.errors.push(error.clone())),
        }
    }
    records
}

fn entry_scope(kind: ScopeKind, group: &Group<'_>, entry: &Entry<'_>) -> Scope {
    Scope {
        kind,
        group: Some(group.number),
        job: Some(entry.job.name.as_str().into()),
        jobs: Some(entry.jobs),
        host: None,
    }
}

fn errors(entry: &Entry<'_>) -> Vec<JobError> {
    let error = |failure: &crate::worker::Failure| JobError {
        code: Some(i64::from(failure.code)),
        text: failure.sentence(),
    };
    entry.failure.map(error).into_iter().collect()
}

fn entry_record(
    entry: &Entry<'_>,
    index: usize,
    direction: Direction,
    scope: Scope,
    context: &Context,
) -> Option<Record> {
    let mut measurement = figures(&entry.figures(index)?);
    let flow = &entry.flows[index];
    let job = entry.job;
    measurement.slat_ns = latency(&flow.slat, None);
    measurement.clat_ns = latency(&flow.clat, Some(&flow.clat_histogram));
    measurement.lat_ns = latency(&flow.lat, None);
    measurement.ios = Some(Ios {
        total: flow.ios,
        short: flow.short,
        dropped: 0,
    });
    measurement.cpu = entry.usage.map(|usage| Box::new(cpu(entry, usage)));
    measurement.samples = sample_stats(entry, index).map(|stats| Box::new(samples(&stats)));
    if direction == Direction::Write {
        measurement.io_phase_ns = nanos(entry.io_phase_ns);
        measurement.flush_ns = entry.flush_ns.and_then(nanos);
    }
    if direction == Direction::Write || !job.pattern.writes {
        measurement.sync_lat_ns = latency(&entry.syncs.lat, Some(&entry.syncs.histogram));
    }
    let mut record = record(context, scope, direction, measurement);
    record.errors = errors(entry);
    let seconds = per_second(entry, index);
    if !seconds.is_empty() {
        record
            .environment
            .insert("bytes_per_sec_by_second".to_owned(), seconds.into());
    }
    // fio's buckets are four times as wide.
    let bounds = DEFAULT_PERCENTILES
        .iter()
        .zip(flow.clat_histogram.bounds(&DEFAULT_PERCENTILES))
        .map(|(percentile, (least, most))| (percentile.to_string(), vec![least, most].into()));
    let bounds: serde_json::Map<_, _> = bounds.collect();
    record
        .environment
        .insert("clat_percentile_bounds_ns".to_owned(), bounds.into());
    if let Some(corrected) = &entry.corrected {
        let percentiles = DEFAULT_PERCENTILES
            .iter()
            .zip(corrected[index].percentiles(&DEFAULT_PERCENTILES))
            .map(|(percentile, ns)| (percentile.to_string(), ns.into()));
        let percentiles: serde_json::Map<_, _> = percentiles.collect();
        record
            .environment
            .insert("lat_from_due_ns".to_owned(), percentiles.into());
    }
    if let Some(setup) = entry.setup {
        record
            .environment
            .insert("engine_setup".to_owned(), setup.into());
    }
    Some(record)
}

fn group_record(
    group: &Group<'_>,
    index: usize,
    direction: Direction,
    context: &Context,
) -> Option<Record> {
    let found = group.figures(index)?;
    let mut measurement = figures(&found.all);
    measurement.runtime_ns_min = milliseconds(found.runtimes_ms.0);
    measurement.bytes_per_sec_min = BytesPerSec::new(found.rates.0 as f64).map(Reading::exactly);
    measurement.bytes_per_sec_max = BytesPerSec::new(found.rates.1 as f64).map(Reading::exactly);
    if direction == Direction::Write {
        let phase = group.entries.iter().map(|entry| entry.io_phase_ns).max();
        measurement.io_phase_ns = phase.and_then(nanos);
        let window = group.entries.iter().map(|entry| entry.windows_ns[1]).max();
        let inside = group
            .entries
            .iter()
            .all(|entry| entry.flush_inside || entry.flows[1].ios == 0);
        measurement.flush_ns = match (inside, window, phase) {
            (true, Some(window), Some(phase)) => nanos(window - phase),
            _ => nanos(
                group
                    .entries
                    .iter()
                    .filter(|entry| !entry.flush_inside)
                    .filter_map(|entry| entry.flush_ns)
                    .sum(),
            ),
        };
    }
    let scope = Scope {
        kind: ScopeKind::Group,
        group: Some(group.number),
        job: None,
        jobs: Some(group.entries.iter().map(|entry| entry.jobs).sum()),
        host: None,
    };
    let mut record = record(context, scope, direction, measurement);
    record.errors = group.entries.iter().flat_map(errors).collect();
    Some(record)
}

fn figures(figures: &Figures) -> Measurement {
    Measurement {
        bytes_per_sec: BytesPerSec::new(figures.bytes_per_sec as f64).map(Reading::exactly),
        bytes: Some(Reading::exactly(Bytes(figures.bytes))),
        iops: Iops::new(figures.iops).map(Reading::exactly),
        runtime_ns: milliseconds(figures.runtime_ms),
        ..Measurement::default()
    }
}

fn nanos(ns: u64) -> Option<Reading<Nanos>> {
    Nanos::new(ns as f64).map(Reading::exactly)
}

fn milliseconds(ms: u64) -> Option<Reading<Nanos>> {
    nanos(ms.saturating_mul(1_000_000))
}

/// A latency, if any was taken; with percentiles where a histogram was kept.
fn latency(stat: &Stat, histogram: Option<&Histogram>) -> Option<Box<Latency>> {
    if stat.count() == 0 {
        return None;
    }
    let exact = |ns: f64| Nanos::new(ns).map(Reading::exactly);
    let percentiles = histogram.map_or_else(Vec::new, |histogram| {
        DEFAULT_PERCENTILES
            .iter()
            .zip(histogram.percentiles(&DEFAULT_PERCENTILES))
            .filter_map(|(&p, ns)| {
                Some(Percentile {
                    p,
                    reading: exact(ns as f64)?,
                })
            })
            .collect()
    });
    Some(Box::new(Latency {
        min: exact(stat.min() as f64),
        max: exact(stat.max() as f64),
        mean: exact(stat.mean()),
        stddev: exact(stat.stddev()),
        samples: Some(stat.count()),
        percentiles,
        bins: Vec::new(),
    }))
}

fn cpu(entry: &Entry<'_>, usage: Usage) -> Cpu {
    let share = |ns: u64| {
        Percent::new(ns as f64 * 100.0 / entry.thread_ns.max(1) as f64).map(Reading::exactly)
    };
    Cpu {
        user_percent: share(usage.user_ns),
        system_percent: share(usage.system_ns),
        context_switches: Some(usage.switches),
        major_faults: Some(usage.major_faults),
        minor_faults: Some(usage.minor_faults),
    }
}

fn samples((rates, iops): &(SampleStats, SampleStats)) -> Samples {
    let rate = |kib: f64| BytesPerSec::new(kib * 1024.0).map(Reading::exactly);
    let count = |value: f64| Iops::new(value).map(Reading::exactly);
    Samples {
        bytes_per_sec: Some(Spread {
            min: rate(rates.min),
            max: rate(rates.max),
            mean: rate(rates.mean),
            stddev: rate(rates.stddev),
            count: Some(rates.count),
            per: None,
        }),
        iops: Some(Spread {
            min: count(iops.min),
            max: count(iops.max),
            mean: count(iops.mean),
            stddev: count(iops.stddev),
            count: Some(iops.count),
            per: None,
        }),
    }
}

fn dd_record(plan: &DdPlan, outcome: &DdOutcome, context: &Context) -> Record {
    let writes = plan.sink == Sink::File;
    let counted = |blocks: Blocks| {
        Some(Records {
            full: blocks.full,
            partial: blocks.partial,
        })
    };
    let window = Nanos::new(outcome.window_ns as f64);
    let mut measurement = Measurement {
        bytes: Some(Reading::exactly(Bytes(outcome.bytes))),
        bytes_per_sec: window
            .and_then(|window| Bytes(outcome.bytes).per(window))
            .map(Reading::exactly),
        runtime_ns: window.map(Reading::exactly),
        wall_ns: outcome.wall_ns.and_then(nanos),
        records_in: counted(outcome.read),
        records_out: counted(outcome.written),
        ..Measurement::default()
    };
    if outcome.wall_ns.is_some() {
        measurement.wall_covers = plan.timed.map(|timed| match timed {
            Timed::Run => WallCovers::Run,
            Timed::RunAndSync => WallCovers::RunAndSync,
            Timed::SyncAndRun => WallCovers::SyncAndRun,
            Timed::Pipeline => WallCovers::Pipeline,
            Timed::RunAndMore => WallCovers::RunAndMore,
            Timed::Sync => WallCovers::Unknown,
        });
        measurement.user_ns = nanos(outcome.usage.user_ns);
        measurement.system_ns = nanos(outcome.usage.system_ns);
    }
    if writes {
        let conv_sync = outcome.conv_sync_ns;
        measurement.io_phase_ns = nanos(outcome.window_ns - conv_sync.unwrap_or(0));
        measurement.flush_ns = conv_sync.or(outcome.file_sync_ns).and_then(nanos);
        measurement.sync_ns = outcome
            .file_system_sync_ns
            .and_then(|file_system| nanos(file_system + outcome.file_sync_ns.unwrap_or(0)));
    }
    let direction = if writes {
        Direction::Write
    } else {
        Direction::Read
    };
    let mut record = record(context, Scope::of(ScopeKind::Run), direction, measurement);
    record
        .environment
        .insert("source_ns".to_owned(), outcome.source_ns.into());
    if outcome.source_limited(plan) {
        let share = outcome.source_ns as f64 * 100.0 / outcome.window_ns.max(1) as f64;
        record.warnings.push(Diagnostic::warning(
            Code::other("source-limited"),
            None,
            format!(
                "reading the source took {share:.0} % of the time: this is not the disk's speed"
            ),
        ));
    }
    record.errors = outcome
        .failure
        .iter()
        .map(|failure| JobError {
            code: Some(i64::from(failure.code)),
            text: failure.sentence(),
        })
        .collect();
    record
}
