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

mod fio_check;
mod fio_legacy;
mod fio_pair;
mod machine;

use crate::block::{self, Block, Kind};
use crate::context::{self, Context};
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Version};
use crate::record::{
    Dialect, Direction, Measurement, Record, Scope, ScopeKind, Source, Tool, WallCovers,
    WireVersion,
};
use crate::source::{Encoding, Log, Span};
use crate::workload::{Timed, Workload};
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
    let blocks = block::blocks(log);
    let contexts = context::resolve(log, &blocks);
    let mut assembler = Assembler {
        log,
        name: log.name().into(),
        parsed: Parsed::default(),
        timed: None,
        assumption: None,
        document: None,
        terse: None,
        superseded: Vec::new(),
    };
    if log.encoding() == Encoding::Mixed {
        assembler.parsed.diagnostics.push(Diagnostic::note(
            Code::ENCODING,
            None,
            "some bytes are not UTF-8; each was read as the Latin-1 letter of its value",
        ));
    }
    for (index, block) in blocks.iter().enumerate() {
        assembler.block(block, contexts.get(&index));
    }
    assembler.drop_superseded();
    assembler.parsed.diagnostics.extend(assembler.assumption);
    assembler.parsed
}

type TerseRows<'b> = &'b [block::fio_terse::Row<'b>];

struct Assembler<'l, 't, 'b> {
    log: &'l Log<'t>,
    name: Arc<str>,
    parsed: Parsed,
    /// The record that a report of `time` would belong to: the last result, if nothing but empty lines came since.
    timed: Option<usize>,
    /// The note on a version that had to be assumed, made once for the log.
    assumption: Option<Diagnostic>,
    /// The last JSON document and where its records are, as the next one may report on the same run.
    document: Option<(&'b block::fio_json::Document<'b>, Range<usize>)>,
    /// The first and the last report of terse lines of the last run, and where the records of the last are.
    terse: Option<(TerseRows<'b>, TerseRows<'b>, Range<usize>)>,
    /// Records of reports that a later one of the same run supersedes.
    superseded: Vec<Range<usize>>,
}

impl<'b> Assembler<'_, '_, 'b> {
    fn block<'d: 'b>(&mut self, block: &'b Block<'d>, context: Option<&Context>) {
        match (&block.kind, context) {
            (Kind::FioGroup(group), Some(context)) => self.fio_group(group, context),
            (Kind::FioJson(json), Some(context)) => self.fio_json(json, context),
            (Kind::FioTerse(terse), Some(context)) => self.fio_terse(terse, context),
            (Kind::FioLog(samples), Some(context)) => self.fio_log(samples, context),
            (Kind::Dd(report), Some(context)) => self.dd(report, context),
            (Kind::Time(time), _) => self.time(time),
            (Kind::Command(command), _) => {
                self.parsed
                    .diagnostics
                    .extend(command.problems.iter().cloned());
                self.timed = None;
            }
            (Kind::Blank | Kind::Other, _) => {}
            _ => self.timed = None,
        }
    }

    fn fio_group(&mut self, group: &block::fio_group::FioGroup<'_>, context: &Context) {
        self.parsed
            .diagnostics
            .extend(group.problems.iter().cloned());
        let era = self.era(context);
        for line in fio_group::measurements(group, era) {
            let scope = Scope {
                group: group.group,
                ..Scope::of(ScopeKind::Group)
            };
            let tool = Tool {
                version: context.version.as_deref().map(str::to_owned),
                ..Tool::named("fio")
            };
            let record = self.record(
                context,
                line.span,
                Dialect::FioGroup,
                tool,
                scope,
                line.direction,
            );
            if self.assumption.is_none() {
                let look = crate::era::Look::Modern;
                self.assumption = era.seen(look).assumption();
            }
            self.push(record, line.measurement, line.warnings);
        }
    }

    fn fio_json(&mut self, json: &'b block::fio_json::FioJson<'b>, context: &Context) {
        self.timed = None;
        self.parsed
            .diagnostics
            .extend(json.problems.iter().cloned());
        for (run, document) in (context.run..).zip(&json.documents) {
            let (entries, diagnostics) = fio_json::entries(self.log, document);
            if let Some((earlier, records)) = self.document.take()
                && fio_json::supersedes(document, earlier)
            {
                self.supersede(records, earlier.span);
            }
            let first = self.parsed.records.len();
            let version = document.version.or(context.version.as_deref());
            for mut entry in entries {
                entry.workload = fio_json::better(entry.workload, context.workload.as_ref());
                self.entry(entry, context, Dialect::FioJson, version, run);
            }
            self.parsed.diagnostics.extend(diagnostics);
            self.document = Some((document, first..self.parsed.records.len()));
        }
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

    fn fio_terse(&mut self, terse: &'b block::fio_terse::FioTerse<'b>, context: &Context) {
        self.timed = None;
        self.parsed
            .diagnostics
            .extend(terse.problems.iter().cloned());
        let stated = context.version.as_deref();
        let around = fio_terse::Around::of(
            stated.and_then(Version::read).map(|(version, _)| version),
            context.workload.as_deref(),
        );
        for rows in terse.rows.chunks(fio_terse::rows_of_a_report(&terse.rows)) {
            let mut first = rows;
            if let Some((run, earlier, records)) = self.terse.take()
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
                    self.entry(entry, context, Dialect::FioTerse, version, context.run);
                }
                self.parsed.diagnostics.extend(diagnostics);
            }
            self.terse = Some((first, rows, start..self.parsed.records.len()));
        }
    }

    fn fio_log(&mut self, samples: &block::fio_log::FioLog<'_>, context: &Context) {
        self.timed = None;
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
            version: version.map(str::to_owned),
            ..Tool::named("fio")
        };
        let record = self.record(
            context,
            entry.span,
            dialect,
            tool,
            entry.scope,
            entry.direction,
        );
        self.parsed.records.push(Record {
            machine: entry.machine.or(record.machine),
            workload: entry.workload,
            run,
            measurement: entry.measurement,
            errors: entry.errors,
            warnings: entry.warnings,
            ..record
        });
    }

    fn dd(&mut self, block: &block::dd::DdBlock<'_>, context: &Context) {
        let report = dd::report(block, context.workload.as_deref());
        self.timed = None;
        if !report.has_figures() && report.errors.is_empty() {
            self.parsed.diagnostics.extend(report.warnings);
            return;
        }
        let direction = context
            .workload
            .as_deref()
            .and_then(Workload::dd)
            .and_then(dd::direction)
            .unwrap_or(Direction::Write);
        let tool = Tool {
            implementation: report.implementation.map(str::to_owned),
            ..Tool::named("dd")
        };
        let mut record = self.record(
            context,
            block.span,
            Dialect::Dd,
            tool,
            Scope::of(ScopeKind::Run),
            direction,
        );
        record.errors = report.errors;
        record.interrupted = report.interrupted;
        self.timed = Some(self.parsed.records.len());
        self.push(record, report.measurement, report.warnings);
    }

    /// Gives the time to the result above it.
    fn time(&mut self, time: &block::time::TimeBlock<'_>) {
        let Some(index) = self.timed.take() else {
            return;
        };
        let record = &mut self.parsed.records[index];
        let timed = record.workload.as_deref().and_then(|w| w.around.timed);
        if timed == Some(Timed::Sync) {
            dd::add_sync_time(&mut record.measurement, time);
        } else {
            let covers = dd::wall_covers(timed).unwrap_or(WallCovers::Unknown);
            dd::add_time(&mut record.measurement, time, covers);
        }
    }

    /// What is known of the fio that printed a result.
    fn era(&self, context: &Context) -> Era {
        context
            .version
            .as_deref()
            .and_then(Version::read)
            .map_or_else(Era::default, |(version, _)| Era::of(version))
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
                line: Some(self.log.line_column(span.start).0),
                dialect,
                tool,
            },
            machine: context.machine.clone(),
            device: None,
            section: context.section.clone(),
            workload: context.workload.clone(),
            run: context.run,
            scope,
            direction,
            measurement: Measurement::default(),
            errors: Vec::new(),
            interrupted: false,
            fidelity: None,
            environment: serde_json::Map::new(),
            warnings: Vec::new(),
        }
    }

    fn push(&mut self, record: Record, measurement: Measurement, warnings: Vec<Diagnostic>) {
        self.parsed.records.push(Record {
            measurement,
            warnings,
            ..record
        });
    }
}
