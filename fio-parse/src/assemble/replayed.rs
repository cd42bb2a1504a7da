//! What `fio-replay` says beside the forms of fio and dd: the machine, and how close a run came to its original.
//!
//! In a text the machine's line stands above a report, the fidelity and the cautions below; what comes between is of that
//! report. In JSON an object of the document holds all of it, and the workload, as the original asks for it.

use super::Assembler;
use crate::block::replay::ReplayNote;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::record::{Fidelity, Label, LabelSource, Record, Replayed};

/// A report of fio-replay in the forms of text.
pub(super) struct Report {
    machine: Label,
    /// Its first record.
    first: usize,
    /// Behind its last record, once its fidelity is told.
    end: Option<usize>,
}

/// Gives a record its fidelity, which also says whether the run was cut short.
fn take_fidelity(record: &mut Record, fidelity: Option<&Fidelity>) {
    record.fidelity = fidelity.cloned().map(Box::new);
    record.interrupted |=
        fidelity.is_some_and(|fidelity| fidelity.notes.iter().any(|note| note.id == "interrupted"));
}

impl Assembler<'_, '_> {
    pub(super) fn replay_note(&mut self, note: &ReplayNote<'_>) {
        if let ReplayNote::Machine(_) = note {
            self.end_report();
        }
        let records = &mut self.parsed.records;
        match note {
            ReplayNote::Machine(name) => {
                self.replay = Some(Report {
                    machine: Label {
                        text: (*name).into(),
                        full: None,
                        span: Some(self.log.span_of(name)),
                        by: LabelSource::Flag,
                        ambiguous: false,
                    },
                    first: records.len(),
                    end: None,
                });
            }
            ReplayNote::Fidelity(fidelity) => {
                let end = records.len();
                if let Some(report) = self.replay.as_mut().filter(|report| report.end.is_none()) {
                    for record in &mut records[report.first..] {
                        take_fidelity(record, Some(fidelity));
                    }
                    report.end = Some(end);
                }
            }
            ReplayNote::Cautions(cautions) => {
                let Some((first, end)) = self.replay.take().and_then(|r| Some((r.first, r.end?)))
                else {
                    return;
                };
                for record in &mut records[first..end] {
                    let found = cautions.iter().map(|caution| {
                        let severity = match caution.severe {
                            true => Severity::Warning,
                            false => Severity::Note,
                        };
                        let span = Some(self.log.span_of(caution.text));
                        Diagnostic::new(
                            Code::other(caution.id.to_owned()),
                            severity,
                            span,
                            caution.text,
                        )
                    });
                    record.warnings.extend(found);
                }
            }
            ReplayNote::Remark => {}
        }
    }

    /// Gives the records from `first` on the machine that the report names.
    pub(super) fn name_machine(&mut self, first: usize) {
        let Some(report) = self.replay.as_ref().filter(|r| r.end.is_none()) else {
            return;
        };
        for record in self.parsed.records.iter_mut().skip(first) {
            let other = record.machine.replace(report.machine.clone());
            record.section.extend(other);
        }
    }

    /// Gives the records from `first` on what a document of fio-replay says of them.
    pub(super) fn take_replayed(&mut self, own: &str, first: usize) {
        let replayed: Replayed = match serde_json::from_str(own) {
            Ok(replayed) => replayed,
            Err(problem) => {
                self.parsed.diagnostics.push(Diagnostic::warning(
                    Code::UNREADABLE,
                    Some(self.log.span_of(own)),
                    format!("expected what fio-replay says of its run, found JSON of another form ({problem}); nothing was taken from it"),
                ));
                return;
            }
        };
        for record in self.parsed.records.iter_mut().skip(first) {
            if replayed.machine.is_some() {
                record.machine.clone_from(&replayed.machine);
            }
            if !replayed.section.is_empty() {
                record.section.clone_from(&replayed.section);
            }
            if replayed.workload.is_some() {
                record.workload.clone_from(&replayed.workload);
            }
            take_fidelity(record, replayed.fidelity.as_ref());
            record.environment.clone_from(&replayed.environment);
            record.warnings.extend_from_slice(&replayed.warnings);
        }
    }
}
