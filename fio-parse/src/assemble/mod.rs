//! Blocks with their context to records: the only place where figures become numbers.
//!
//! One pass over the blocks. Each result is decoded by the assembler of its form, with what the context knows of tool
//! and version, and given its labels. A report of `time` joins the result right above it. What is odd about figures
//! becomes warnings of the record; what belongs to no record becomes a diagnostic of the log.

pub mod dd;
pub mod entry;
pub mod fio_group;
pub mod fio_json;
pub mod fio_log;
pub mod fio_terse;
pub mod fio_text;
pub mod summary;

mod claims;
mod fio_check;
mod fio_disks;
mod fio_latency;
mod fio_legacy;
mod fio_pair;
mod fio_plausible;
mod fio_report;
mod fio_runs;
mod fio_series;
mod fio_table;
mod machine;
mod plain;
mod replayed;
mod runs;

use crate::block::fio_note::FioNote;
use crate::block::fio_text::FioJob;
use crate::block::{self, Block, Kind};
use crate::context::{self, Context, Contexts};
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Version};
use crate::record::{
    Dialect, Direction, Label, LabelSource, Measurement, Record, Scope, ScopeKind, Source, Tool,
    WireVersion,
};
use crate::source::{Encoding, Log, Span};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// What a log holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The results, in the order of the text.
    pub records: Vec<Record>,
    /// What is odd about the log beside what the records' own warnings say.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a log. Never fails: broken input gives fewer records and more diagnostics.
pub fn parse(log: &Log<'_>) -> Parsed {
    plain::parse(log).unwrap_or_else(|| parse_blocks(log, block::blocks(log)))
}

/// Reads a log that was cut into its blocks already.
pub fn parse_blocks<'t>(log: &'t Log<'_>, mut blocks: Vec<Block<'t>>) -> Parsed {
    let contexts = context::resolve(log, &blocks);
    let superseded = runs::superseded(log, &blocks, &contexts);
    let mut assembler = Assembler::new(log);
    assembler.take(&mut blocks, &contexts, &superseded);
    let mut parsed = assembler.finish(&borders(&blocks));
    let claims = claims::find(log, &blocks, &mut parsed.records);
    parsed.diagnostics.extend(claims);
    parsed
}

/// Where runs start for sure.
fn borders(blocks: &[Block<'_>]) -> Vec<u32> {
    let borders = blocks.iter().filter(|block| block.starts_a_run());
    borders.map(|block| block.span.start).collect()
}

/// Takes the job sections out of `blocks`, each with its index: they are the mass of a large log, and each is given
/// back to memory once its records are made, where the next records take its place.
fn take_jobs<'t>(blocks: &mut [Block<'t>]) -> Vec<(usize, Box<FioJob<'t>>)> {
    let mut jobs = Vec::new();
    for (index, block) in blocks.iter_mut().enumerate() {
        if let Kind::FioJob(_) = block.kind
            && let Kind::FioJob(job) = std::mem::replace(&mut block.kind, Kind::Other)
        {
            jobs.push((index, job));
        }
    }
    jobs
}

type TerseRows<'b> = &'b [block::fio_terse::Row<'b>];

/// The last reports in machine formats, as the next one may be of the same run.
#[derive(Default)]
struct Latest<'b> {
    /// The last JSON document and where its records are.
    document: Option<(&'b block::fio_json::Document<'b>, Range<usize>)>,
    /// The first and the last report of terse lines of the last run, and where the records of the last are.
    terse: Option<(TerseRows<'b>, TerseRows<'b>, Range<usize>)>,
}

struct Assembler<'l, 't> {
    log: &'l Log<'t>,
    name: Arc<str>,
    parsed: Parsed,
    /// The records that a report of `time` may belong to: results of dd, if nothing but empty lines came since.
    untimed: Vec<usize>,
    /// The note on a version that had to be assumed, made once for the log.
    assumption: Option<Diagnostic>,
    /// Reports that are only the past of a later one, of the blocks that are read.
    series: fio_series::Series,
    /// What is known of the fio report that is being read.
    report: fio_report::Report,
    /// Records of documents and terse lines that a later one of the same run supersedes.
    superseded: Vec<Range<usize>>,
    /// The report of fio-replay that is being read.
    replay: Option<replayed::Report>,
}

impl<'l, 't> Assembler<'l, 't> {
    fn new(log: &'l Log<'t>) -> Self {
        let mut parsed = Parsed::default();
        if log.encoding() == Encoding::Mixed {
            parsed.diagnostics.push(Diagnostic::note(
                Code::ENCODING,
                None,
                "some bytes are not UTF-8; each was read as the Latin-1 letter of its value",
            ));
        }
        Self {
            log,
            name: log.name().into(),
            parsed,
            untimed: Vec::new(),
            assumption: None,
            series: fio_series::Series::default(),
            report: fio_report::Report::default(),
            superseded: Vec::new(),
            replay: None,
        }
    }

    /// Makes records of these blocks, which go on from those before; takes their job sections out.
    fn take(&mut self, blocks: &mut [Block<'_>], contexts: &Contexts, superseded: &HashSet<usize>) {
        self.series.find(blocks, contexts);
        let mut latest = Latest::default();
        let mut jobs = take_jobs(blocks).into_iter().peekable();
        for (index, block) in blocks.iter().enumerate() {
            if !superseded.is_empty() && superseded.contains(&index) {
                continue;
            }
            if block.starts_a_run() {
                latest = Latest::default();
            }
            let first = self.parsed.records.len();
            if let Some((_, job)) = jobs.next_if(|(at, _)| *at == index) {
                if self.series.is_past(index) {
                    self.past_job(&job);
                } else {
                    self.job(job, contexts.get(index));
                }
            } else if self.series.is_past(index) {
                self.past();
            } else {
                self.block(block, contexts.get(index), &mut latest);
            }
            if let Some(context) = contexts.get(index) {
                self.name_machine(first);
                self.doubt(first, context);
            }
        }
    }

    /// What was read; other runs start for sure at `borders`, which rise.
    fn finish(mut self, borders: &[u32]) -> Parsed {
        self.end_report();
        self.drop_superseded();
        fio_runs::join(&mut self.parsed.records, borders);
        self.parsed.diagnostics.extend(self.assumption);
        self.parsed
    }

    fn block<'b, 'd: 'b>(
        &mut self,
        block: &'b Block<'d>,
        context: Option<&Context>,
        latest: &mut Latest<'b>,
    ) {
        match (&block.kind, context) {
            (Kind::FioGroup(group), Some(context)) => self.fio_group(group, context),
            (Kind::FioNote(FioNote::Disks), _) => self.disks(block.span),
            (Kind::FioNote(note), _) => self.note(note),
            (Kind::Replay(note), _) => self.replay_note(note),
            (Kind::FioHeader(header), _) => {
                self.parsed
                    .diagnostics
                    .extend(header.problems.iter().cloned());
                self.untimed.clear();
            }
            (Kind::FioJson(json), Some(context)) => self.fio_json(json, context, latest),
            (Kind::FioTerse(terse), Some(context)) => self.fio_terse(terse, context, latest),
            (Kind::FioLog(samples), Some(context)) => self.fio_log(samples, context),
            (Kind::Dd(report), Some(context)) => self.dd(report, context),
            (Kind::Time(time), Some(context)) => self.hyperfine(time, context),
            (Kind::Time(time), None) => self.time(time),
            (Kind::Summary(rows), Some(context)) => self.summary(rows, context),
            (Kind::FioTable(table), Some(context)) => self.fio_table(table, context),
            (Kind::Command(command), _) => {
                self.parsed
                    .diagnostics
                    .extend(command.problems.iter().cloned());
                self.untimed.clear();
                self.end_report();
                self.replay = None;
            }
            // what was typed in between is what the next time is of
            (Kind::Other, _) if !self.untimed.is_empty() && self.is_typed(block) => {
                self.untimed.clear();
            }
            (Kind::Broken, _) => self.parsed.diagnostics.push(Diagnostic::note(
                Code::UNREADABLE,
                Some(block.span),
                "this looks like a part of a report and can't be read; nothing was taken from it",
            )),
            (Kind::Blank | Kind::Other, _) => {}
            _ => self.untimed.clear(),
        }
    }

    fn is_typed(&self, block: &Block<'_>) -> bool {
        let mut lines = self.log.get(block.span).lines();
        lines.any(block::is_typed)
    }

    fn job(&mut self, job: Box<FioJob<'_>>, context: Option<&Context>) {
        match context {
            Some(context) => self.fio_job(job, context),
            None => self.loose(&job),
        }
    }

    fn fio_json<'b>(
        &mut self,
        json: &'b block::fio_json::FioJson<'b>,
        context: &Context,
        latest: &mut Latest<'b>,
    ) {
        self.untimed.clear();
        self.parsed
            .diagnostics
            .extend(json.problems.iter().cloned());
        let mut next = self.series.number(context.run);
        for document in &json.documents {
            let run = next;
            next += document.runs();
            let (entries, diagnostics) = fio_json::entries(self.log, document);
            if let Some((earlier, records)) = latest.document.take()
                && document.replay.is_none()
                && fio_json::supersedes(document, earlier)
            {
                self.supersede(records, earlier.span);
            }
            let first = self.parsed.records.len();
            let version = document.version.or(context.version.as_deref());
            for mut entry in entries {
                entry.workload = fio_json::better(entry.workload, context.workload.as_ref());
                let run = run + entry.run;
                self.entry(entry, context, Dialect::FioJson, version, run);
            }
            self.parsed.diagnostics.extend(diagnostics);
            if let Some(own) = document.replay {
                self.take_replayed(own, first);
            }
            latest.document = Some((document, first..self.parsed.records.len()));
        }
        self.report.interrupted = false;
    }

    fn fio_terse<'b>(
        &mut self,
        terse: &'b block::fio_terse::FioTerse<'b>,
        context: &Context,
        latest: &mut Latest<'b>,
    ) {
        self.untimed.clear();
        self.parsed
            .diagnostics
            .extend(terse.problems.iter().cloned());
        let stated = context.version.as_deref();
        let around = fio_terse::Around::of(
            stated.and_then(Version::read).map(|(version, _)| version),
            context.workload.as_deref(),
        );
        let run_number = self.series.number(context.run);
        for rows in terse.rows.chunks(fio_terse::rows_of_a_report(&terse.rows)) {
            let mut first = rows;
            if let Some((run, earlier, records)) = latest.terse.take()
                && fio_terse::supersedes(rows, earlier, run)
            {
                self.supersede(records, earlier[0].span);
                first = run;
            }
            let start = self.parsed.records.len();
            for row in rows {
                let (entries, diagnostics) = fio_terse::entries(self.log, row, around);
                for mut entry in entries {
                    entry.workload = context.workload.clone();
                    let version = row.fio.or(stated);
                    self.entry(entry, context, Dialect::FioTerse, version, run_number);
                }
                self.parsed.diagnostics.extend(diagnostics);
            }
            latest.terse = Some((first, rows, start..self.parsed.records.len()));
        }
        self.report.interrupted = false;
    }

    /// The report with these records was one of a run that went on.
    fn supersede(&mut self, records: Range<usize>, span: Span) {
        self.superseded.push(records);
        self.parsed.diagnostics.push(Diagnostic::note(
            Code::STATUS_SERIES,
            Some(span),
            "this report is of a run that went on; the last one below is its result",
        ));
    }

    /// Removes the records of superseded reports, which were kept so that places in the list stay.
    fn drop_superseded(&mut self) {
        if self.superseded.is_empty() {
            return;
        }
        let mut keep = vec![true; self.parsed.records.len()];
        for records in &self.superseded {
            keep[records.clone()].fill(false);
        }
        let mut keep = keep.into_iter();
        self.parsed.records.retain(|_| keep.next() != Some(false));
    }

    fn fio_log(&mut self, samples: &block::fio_log::FioLog<'_>, context: &Context) {
        self.untimed.clear();
        self.parsed
            .diagnostics
            .extend(samples.problems.iter().cloned());
        let stated = context.version.as_deref();
        let version = stated.and_then(Version::read).map(|(version, _)| version);
        let (entries, diagnostics) = fio_log::entries(self.log, samples, version);
        for mut entry in entries {
            entry.workload = context.workload.clone();
            self.entry(entry, context, Dialect::FioLog, stated, context.run);
        }
        self.parsed.diagnostics.extend(diagnostics);
    }

    /// Makes an entry of a machine format a record.
    fn entry(
        &mut self,
        entry: entry::Entry,
        context: &Context,
        dialect: Dialect,
        version: Option<&str>,
        run: u32,
    ) {
        let tool = Tool {
            version: version.map(Into::into),
            ..Tool::named("fio")
        };
        let mut scope = entry.scope;
        let mut machine = entry.machine;
        match &context.host {
            Some(_) if scope.kind == ScopeKind::AllClients => {}
            Some(host) if machine.is_none() => {
                scope.of_host(&host.text);
                machine = Some(host.clone());
            }
            Some(_) => {}
            None => machine = machine.or_else(|| context.machine.clone()),
        }
        self.parsed.records.push(Record {
            v: WireVersion,
            source: Source {
                name: Arc::clone(&self.name),
                span: Some(entry.span),
                line: Some(self.log.line_of(entry.span.start)),
                dialect,
                tool,
            },
            machine,
            device: None,
            section: context.section.clone(),
            workload: entry.workload,
            run,
            scope,
            direction: entry.direction,
            measurement: entry.measurement,
            errors: entry.errors,
            // fio says so above what it prints in any form
            interrupted: matches!(dialect, Dialect::FioJson | Dialect::FioTerse)
                && self.report.interrupted,
            details: entry.details,
            claims: Vec::new(),
            fidelity: None,
            environment: serde_json::Map::new(),
            warnings: entry.warnings,
        });
    }

    /// Gives a record the name that `grep` put in front of its line: its machine's, if nothing else names one.
    fn name_file(&self, record: &mut Record, prefix: &str) {
        let label = Label {
            text: prefix.into(),
            full: None,
            span: Some(self.log.span_of(prefix)),
            by: LabelSource::File,
            ambiguous: false,
        };
        match &record.machine {
            None => record.machine = Some(label),
            Some(_) => record.section.push(label),
        }
    }

    /// What is known of the fio that printed a result.
    fn era(&self, context: &Context) -> Era {
        let stated = context.version.as_deref().and_then(Version::read);
        let era = stated.map_or_else(Era::default, |(version, _)| Era::of(version));
        match context.workload.as_deref().map(fio_text::printing) {
            Some((kb_base, figures)) => era.with_options(kb_base, figures),
            None => era,
        }
    }

    fn record(
        &self,
        context: &Context,
        span: Span,
        dialect: Dialect,
        tool: Tool,
        scope: Scope,
        direction: Direction,
    ) -> Record {
        Record {
            v: WireVersion,
            source: Source {
                name: Arc::clone(&self.name),
                span: Some(span),
                line: Some(self.log.line_of(span.start)),
                dialect,
                tool,
            },
            machine: context.host.clone().or_else(|| context.machine.clone()),
            device: None,
            section: context.section.clone(),
            workload: context.workload.clone(),
            run: self.series.number(context.run),
            scope,
            direction,
            measurement: Measurement::default(),
            errors: Vec::new(),
            interrupted: false,
            details: None,
            fidelity: None,
            environment: serde_json::Map::new(),
            claims: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn push(&mut self, mut record: Record, measurement: Measurement, warnings: Vec<Diagnostic>) {
        // field by field: a record is large, and copied once at most here
        record.measurement = measurement;
        record.warnings = warnings;
        self.parsed.records.push(record);
    }
}
