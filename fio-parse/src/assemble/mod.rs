//! Blocks with their context to records: the only place where figures become numbers.
//!
//! One pass over the blocks. Each result is decoded by the assembler of its form, with what the context knows of tool
//! and version, and given its labels. A report of `time` joins the result right above it. What is odd about figures
//! becomes warnings of the record; what belongs to no record becomes a diagnostic of the log.

pub mod dd;
pub mod fio_group;
pub mod fio_json;
pub mod fio_log;
pub mod fio_terse;
pub mod fio_text;
pub mod summary;

mod fio_check;
mod fio_legacy;
mod fio_pair;
mod runs;

use crate::block::{self, Block, Kind};
use crate::context::{self, Context};
use crate::diagnostic::{Code, Diagnostic};
use crate::era::{Era, Version};
use crate::record::{
    Dialect, Direction, Measurement, Record, Scope, ScopeKind, Source, Tool, WireVersion,
};
use crate::source::{Encoding, Log, Span};
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
        untimed: Vec::new(),
        assumption: None,
    };
    if log.encoding() == Encoding::Mixed {
        assembler.parsed.diagnostics.push(Diagnostic::note(
            Code::ENCODING,
            None,
            "some bytes are not UTF-8; each was read as the Latin-1 letter of its value",
        ));
    }
    let superseded = runs::superseded(&blocks, &contexts);
    for (index, block) in blocks.iter().enumerate() {
        if superseded.contains(&index) {
            continue;
        }
        assembler.block(block, contexts.get(&index));
    }
    assembler.parsed.diagnostics.extend(assembler.assumption);
    assembler.parsed
}

struct Assembler<'l, 't> {
    log: &'l Log<'t>,
    name: Arc<str>,
    parsed: Parsed,
    /// The records that a report of `time` may belong to: results of dd, if nothing but empty lines came since.
    untimed: Vec<usize>,
    /// The note on a version that had to be assumed, made once for the log.
    assumption: Option<Diagnostic>,
}

impl Assembler<'_, '_> {
    fn block(&mut self, block: &Block<'_>, context: Option<&Context>) {
        match (&block.kind, context) {
            (Kind::FioGroup(group), Some(context)) => self.fio_group(group, context),
            (Kind::Dd(report), Some(context)) => self.dd(report, context),
            (Kind::Time(time), _) => self.time(time),
            (Kind::Summary(rows), Some(context)) => self.summary(rows, context),
            (Kind::Command(command), _) => {
                self.parsed
                    .diagnostics
                    .extend(command.problems.iter().cloned());
                self.untimed.clear();
            }
            (Kind::Blank | Kind::Other, _) => {}
            _ => self.untimed.clear(),
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
