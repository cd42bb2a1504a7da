//! What a block means to its surroundings: a heading, a command, a result.

use super::{Block, Kind, fio_log, fio_note, is_short};
use crate::block::prose::Style;
use crate::context::{ResultKind, direction_bits};
use crate::era::{Look, Version};
use crate::record::{Direction, LabelSource};
use crate::source::Span;
use crate::workload::Workload;
use std::sync::Arc;

/// What a block means to its surroundings.
#[derive(Clone, Debug)]
pub enum Role<'a> {
    /// Nothing.
    Neutral,
    /// A heading of this level.
    Heading(u8, Span),
    /// A short line that may be a title or a caption.
    Short(Span, LabelSource),
    /// A paragraph.
    Sentences(Span),
    /// A command, read or not.
    Command {
        /// What it asks for, if that could be read.
        workload: Option<Arc<Workload>>,
        /// The host in its prompt.
        host: Option<&'a str>,
    },
    /// The description in a report's own header.
    Header(Arc<Workload>),
    /// A line that states the tool's version.
    Version(&'a str),
    /// A line that states a server's name and its version.
    Server {
        /// The name.
        host: &'a str,
        /// The version, if it could be read.
        version: Option<&'a str>,
    },
    /// The name of a server: the report below is its.
    Host(&'a str),
    /// A result.
    Result {
        /// How it counts as a run.
        kind: ResultKind,
        /// Its directions, as [`direction_bits`].
        directions: u8,
        /// What stands in front of it on its line and says whose it is.
        label: Option<Span>,
    },
}

impl<'t> Block<'t> {
    /// Whether results below it are of another run than results above it: a command, a report's header, a version.
    pub fn starts_a_run(&self) -> bool {
        // asked for every block, and most are of these kinds
        !matches!(
            self.kind,
            Kind::Blank | Kind::Other | Kind::Prose(_) | Kind::FioJob(_)
        ) && matches!(
            self.role(),
            Role::Command { .. } | Role::Header(_) | Role::Version(_) | Role::Server { .. }
        )
    }

    /// When a job section was printed, in seconds since some start.
    pub fn printed_at(&self) -> Option<f64> {
        match &self.kind {
            Kind::FioJob(job) => job.head.as_ref()?.seconds(),
            _ => None,
        }
    }

    /// Whether it is a job section without its head: a line or two that somebody took out of a report.
    pub fn is_bare_line(&self) -> bool {
        matches!(&self.kind, Kind::FioJob(job) if job.head.is_none())
    }

    /// Whether a fio of this version prints what the block looks like.
    pub fn fits(&self, version: Version) -> bool {
        match &self.kind {
            Kind::FioJob(job) => job.looks.seen().all(|look| look.fits(version)),
            Kind::FioGroup(group) => group.lines.iter().all(|line| {
                let look = if line.legacy {
                    Look::Legacy
                } else {
                    Look::Modern
                };
                look.fits(version)
            }),
            _ => true,
        }
    }

    /// What the block means to its surroundings.
    pub fn role(&self) -> Role<'t> {
        match &self.kind {
            Kind::Blank | Kind::Other | Kind::Broken => Role::Neutral,
            Kind::Prose(prose) => match prose.style {
                Style::Heading(level) => Role::Heading(level, prose.span),
                // a bold sentence is one
                Style::Emphasis
                    if is_short(prose.text) || prose.text.split_whitespace().count() <= 6 =>
                {
                    Role::Short(prose.span, LabelSource::Caption)
                }
                Style::Emphasis => Role::Sentences(prose.span),
                Style::Item if is_short(prose.text) => {
                    Role::Short(prose.span, LabelSource::ListItem)
                }
                Style::Text if is_short(prose.text) => {
                    Role::Short(prose.span, LabelSource::Caption)
                }
                Style::Text => Role::Sentences(prose.span),
                Style::Echo => Role::Short(prose.span, LabelSource::Echo),
                Style::Item | Style::Fence | Style::Row | Style::Rule => Role::Neutral,
            },
            Kind::Command(command) => Role::Command {
                workload: command.workload.clone(),
                host: command.host,
            },
            Kind::FioNote(fio_note::FioNote::Version(text)) => Role::Version(text),
            Kind::FioNote(fio_note::FioNote::Host(host)) => Role::Host(host),
            &Kind::FioNote(fio_note::FioNote::Server { host, version }) => {
                Role::Server { host, version }
            }
            Kind::FioNote(_) => Role::Neutral,
            Kind::Replay(_) => Role::Neutral,
            Kind::FioHeader(header) => Role::Header(Arc::clone(&header.workload)),
            Kind::FioJob(job) if job.is_loose() => Role::Neutral,
            Kind::FioJob(job) => Role::Result {
                kind: match &job.head {
                    Some(head) if head.is_all_clients() => ResultKind::AllClients,
                    _ => ResultKind::Job,
                },
                directions: direction_bits(job.parts.iter().filter_map(|part| part.direction())),
                label: None,
            },
            Kind::FioJson(json) => {
                let jobs = json.documents.iter().flat_map(|document| &document.jobs);
                let sides = jobs.flat_map(|job| &job.sides);
                Role::Result {
                    kind: ResultKind::Documents(
                        json.documents.iter().map(|document| document.runs()).sum(),
                    ),
                    directions: direction_bits(sides.map(|&(direction, _)| direction)),
                    label: None,
                }
            }
            Kind::FioTerse(terse) => {
                let sides = terse.rows.iter().flat_map(|row| &row.sides);
                let moved = sides.filter(|(_, side)| side.moved_bytes());
                Role::Result {
                    kind: ResultKind::Documents(1),
                    directions: direction_bits(moved.map(|&(direction, _)| direction)),
                    label: None,
                }
            }
            Kind::FioLog(log) => {
                let sides = (0..3).filter(|&side| log.has(side));
                Role::Result {
                    kind: ResultKind::Documents(1),
                    directions: direction_bits(sides.map(|side| fio_log::DIRECTIONS[side])),
                    label: None,
                }
            }
            Kind::FioGroup(group) => Role::Result {
                kind: ResultKind::Group(group.group.unwrap_or(0)),
                directions: direction_bits(group.lines.iter().map(|line| line.direction)),
                label: None,
            },
            Kind::FioTable(table) => Role::Result {
                kind: ResultKind::Whole,
                directions: direction_bits(table.cells.iter().filter_map(|cell| cell.direction)),
                label: None,
            },
            Kind::Time(time) if time.is_result() => Role::Result {
                kind: ResultKind::Whole,
                directions: direction_bits([Direction::Write]),
                label: None,
            },
            Kind::Time(_) => Role::Neutral,
            Kind::Summary(summary) if summary.rows.is_empty() => Role::Neutral,
            Kind::Summary(summary) => Role::Result {
                kind: ResultKind::Whole,
                directions: direction_bits(summary.rows.iter().map(|row| row.direction)),
                label: None,
            },
            Kind::Dd(dd) => Role::Result {
                kind: ResultKind::Whole,
                directions: direction_bits([Direction::Write]),
                label: dd.label.map(|label| label.span),
            },
        }
    }
}
