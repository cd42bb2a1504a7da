//! Records of dd, of the times around it, and of summaries of other tools.
//!
//! Which report belongs to what is decided here, by order alone: a `time` belongs to the reports of dd right above
//! it, since the last command, whatever was typed, and the last text; zsh prints one line for each part of a pipeline,
//! in order, all others one for the whole, which is given to the last part. A time that is shorter than dd's own window
//! is of something else, and is not taken.

use super::{Assembler, dd, fio_table, summary};
use crate::block::dd::DdBlock;
use crate::block::fio_table::TableBlock;
use crate::block::summary::SummaryBlock;
use crate::block::time::{Form, TimeBlock};
use crate::block::{self, Block, Kind};
use crate::context::{Context, Contexts};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::{
    Dialect, Direction, Label, LabelSource, Measurement, Record, Scope, ScopeKind, Tool, WallCovers,
};
use crate::source::{Log, Span};
use crate::workload::{Dd, Timed, Workload, command};
use std::collections::HashSet;
use std::sync::Arc;

/// The blocks of dd that only say how far a run had come, whose end is in a later block: answers to signals.
///
/// Nothing but blank lines and terminal noise may stand between the two, and the command must be the same.
pub fn superseded(log: &Log<'_>, blocks: &[Block<'_>], contexts: &Contexts) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut last: Option<(usize, &DdBlock<'_>)> = None;
    for (index, block) in blocks.iter().enumerate() {
        match &block.kind {
            Kind::Dd(report) => {
                let of = |index| contexts.get(index).and_then(|c| c.workload.as_deref());
                let workload = of(index);
                if let Some((before, earlier)) = last
                    && of(before).map(|w| &w.command) == workload.map(|w| &w.command)
                    && dd::supersedes(report, earlier, workload)
                {
                    found.insert(before);
                }
                last = Some((index, report));
            }
            Kind::Other if last.is_some() && block::starts_another(log.get(block.span)) => {
                last = None
            }
            Kind::Blank | Kind::Other | Kind::Broken => {}
            _ => last = None,
        }
    }
    found
}

/// The direction of a dd, and a note where nothing tells it.
fn direction_of_dd(told: Option<Direction>, span: Span) -> (Direction, Option<Diagnostic>) {
    let assumed = || {
        Diagnostic::note(
            Code::DIRECTION_ASSUMED,
            Some(span),
            "dd does not say which way its bytes went, and no command or title around it does; a write was assumed",
        )
    };
    let note = told.is_none().then(assumed);
    (told.unwrap_or(Direction::Write), note)
}

impl Assembler<'_, '_> {
    /// The texts near a result that name memory or a file system.
    pub(super) fn nearby(&self, context: &Context) -> Vec<&str> {
        let spans = context.nearby.iter();
        spans.map(|&span| self.log.get(span)).collect()
    }

    /// A report of dd.
    pub(super) fn dd(&mut self, block: &DdBlock<'_>, context: &Context) {
        let workload = context.workload.as_deref();
        let mut report = dd::report(block, workload);
        report
            .warnings
            .extend(dd::check::refused(block, context.refused.as_deref()));
        if !report.has_figures() {
            // a run that failed before it moved anything is no result
            self.parsed.diagnostics.extend(report.warnings);
            self.parsed
                .diagnostics
                .extend(block.errors.iter().map(|error| {
                    Diagnostic::note(
                        Code::RUN_FAILED,
                        Some(error.span),
                        "dd failed before it moved anything; there is no result",
                    )
                }));
            return;
        }
        let (direction, assumed) = direction_of_dd(context.direction, block.span);
        report.warnings.extend(assumed);
        let labels: Vec<&str> = context
            .machine
            .iter()
            .chain(&context.section)
            .map(|label| label.full.as_deref().unwrap_or(&label.text))
            .collect();
        let nearby = self.nearby(context);
        let around = dd::plausible::Around {
            dd: workload.and_then(Workload::dd),
            direction: Some(direction),
            labels: &labels,
            nearby: &nearby,
        };
        report
            .warnings
            .extend(dd::plausible::check(&report.measurement, around));
        let tool = Tool {
            implementation: report.implementation.map(Into::into),
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
        self.untimed.push(self.parsed.records.len());
        self.push(record, report.measurement, report.warnings);
    }

    /// Gives the time to the result above it.
    pub(super) fn time(&mut self, time: &TimeBlock<'_>) {
        // zsh and GNU time repeat the command: a time of something else is none of ours
        if time.is_of_dd() == Some(false) {
            return;
        }
        let timed = |record: &Record| {
            record
                .workload
                .as_deref()
                .and_then(|workload| workload.around.timed)
        };
        let records = &self.parsed.records;
        let in_order = time.form == Form::Zsh
            && self
                .untimed
                .first()
                .is_some_and(|&first| timed(&records[first]) == Some(Timed::Pipeline));
        let Some(index) = (if in_order {
            self.untimed.first()
        } else {
            self.untimed.last()
        })
        .copied() else {
            return;
        };
        if in_order {
            self.untimed.remove(0);
        } else {
            self.untimed.clear();
        }
        let record = &mut self.parsed.records[index];
        let timed = timed(record);
        if timed == Some(Timed::Sync) {
            dd::add_sync_time(&mut record.measurement, time);
            return;
        }
        let mut with_time = record.measurement.clone();
        let covers = if in_order {
            Some(WallCovers::Run)
        } else {
            dd::wall_covers(timed)
        };
        dd::add_time(&mut with_time, time, covers.unwrap_or(WallCovers::Unknown));
        let runtime = record
            .measurement
            .runtime_ns
            .as_ref()
            .map_or(0.0, |runtime| runtime.lo().get());
        let wall = with_time
            .wall_ns
            .as_ref()
            .map_or(0.0, |wall| wall.hi().get());
        // two clocks may differ by a little
        if wall + 1e6 + runtime * 1e-3 < runtime {
            record.warnings.push(Diagnostic::warning(
                Code::DISAGREE,
                time.real.map(|real| real.span),
                "the time below the report is shorter than dd's own, so it is of something else; it was not taken",
            ));
            return;
        }
        if with_time.runtime_ns.is_none() && with_time.wall_ns.is_some() {
            record.warnings.push(Diagnostic::note(
                Code::WALL_ONLY,
                time.real.map(|real| real.span),
                "dd printed no time; the shell's also has the start of the program, opening and closing the files, and whatever else it was put in front of",
            ));
        }
        record.measurement = with_time;
    }

    /// hyperfine hides what dd prints: a record with the time on the wall alone, under the command that it repeats.
    pub(super) fn hyperfine(&mut self, time: &TimeBlock<'_>, context: &Context) {
        let workload = time.command.and_then(|command| {
            let mut workload = command::parse_command(command.text).ok()?;
            workload.span = Some(command.span);
            Some(Arc::new(workload))
        });
        let dd = workload.as_deref().and_then(Workload::dd);
        let (direction, assumed) = direction_of_dd(dd.and_then(Dd::direction), time.span);
        let context = Context {
            workload,
            ..context.clone()
        };
        let mut measurement = Measurement::default();
        dd::add_time(&mut measurement, time, WallCovers::Run);
        self.untimed.clear();
        let record = self.record(
            &context,
            time.span,
            Dialect::Summary,
            Tool::named("hyperfine"),
            Scope::of(ScopeKind::Run),
            direction,
        );
        self.push(record, measurement, assumed.into_iter().collect());
    }

    /// The rows of another tool's summary. Means are the group, what they are made of its jobs.
    pub(super) fn summary(&mut self, block: &SummaryBlock<'_>, context: &Context) {
        self.parsed
            .diagnostics
            .extend(block.problems.iter().cloned());
        for line in summary::measurements(block) {
            let kind = if line.average {
                ScopeKind::Group
            } else {
                ScopeKind::Job
            };
            let mut record = self.record(
                context,
                line.span,
                Dialect::Summary,
                Tool::named(block.tool.name()),
                Scope::of(kind),
                line.direction,
            );
            if !line.label.text.is_empty() {
                record.section.push(Label {
                    text: line.label.text.into(),
                    full: None,
                    span: Some(line.label.span),
                    by: LabelSource::Cell,
                    ambiguous: false,
                });
            }
            self.push(record, line.measurement, line.warnings);
        }
    }

    /// The results of a summary of fio runs. Sums are the group.
    pub(super) fn fio_table(&mut self, table: &TableBlock<'_>, context: &Context) {
        self.untimed.clear();
        self.parsed
            .diagnostics
            .extend(table.problems.iter().cloned());
        for line in fio_table::measurements(table) {
            let Some(direction) = line.direction.or(context.direction) else {
                self.parsed.diagnostics.push(Diagnostic::note(
                    Code::UNREADABLE,
                    Some(line.span),
                    "expected a word such as read or write in a title of this figure, found none; nothing was taken from it",
                ));
                continue;
            };
            let kind = if line.sum {
                ScopeKind::Group
            } else {
                ScopeKind::Job
            };
            let tool = Tool {
                version: table.version.map(Into::into),
                ..Tool::named(table.tool.name())
            };
            let scope = Scope {
                job: line.job.map(Into::into),
                ..Scope::of(kind)
            };
            let mut record =
                self.record(context, line.span, Dialect::Summary, tool, scope, direction);
            record.section.extend(line.labels.iter().map(|label| Label {
                text: label.text.into(),
                full: None,
                span: Some(label.span),
                by: LabelSource::Cell,
                ambiguous: false,
            }));
            self.push(record, line.measurement, line.warnings);
        }
    }
}
