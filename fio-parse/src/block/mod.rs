//! Blocks: the log cut into runs of whole lines, each of one kind.
//!
//! One forward pass with a cursor over lines. At each line the readers are asked in turn; the first that knows the
//! form takes as many lines as belong to it, and what no reader knows is prose. So blocks partition the log: every
//! byte is in exactly one, and nothing is skipped unseen. Blocks hold figures as text; nothing is decoded here.

pub mod dd;
pub mod fio_group;
pub mod fio_json;
pub mod fio_log;
pub mod fio_terse;
pub mod fio_text;
pub mod prose;
pub mod summary;
pub mod time;

use crate::context::{ResultKind, direction_bits};
use crate::diagnostic::Diagnostic;
use crate::record::{Direction, LabelSource};
use crate::source::{Log, Segments, Span};
use crate::workload::Workload;
use crate::workload::command::{self, FoundCommand};
use prose::{Prose, Style};
use std::sync::Arc;

/// A run of whole lines, line ends included.
#[derive(Clone, Debug)]
pub struct Block<'t> {
    /// What it is.
    pub kind: Kind<'t>,
    /// Where it is.
    pub span: Span,
}

/// A command of fio or dd, read or not.
#[derive(Clone, Debug)]
pub struct Command<'t> {
    /// What it asks for, if that could be read; shared by the records of its results.
    pub workload: Option<Arc<Workload>>,
    /// The host that the prompt in front names.
    pub host: Option<&'t str>,
    /// What is odd about it.
    pub problems: Vec<Diagnostic>,
}

impl<'t> From<FoundCommand<'t>> for Command<'t> {
    fn from(found: FoundCommand<'t>) -> Self {
        Self {
            workload: found.workload.map(Arc::new),
            host: found.host,
            problems: found.problems,
        }
    }
}

/// What a block is.
#[derive(Clone, Debug)]
pub enum Kind<'t> {
    /// Empty lines.
    Blank,
    /// Text around reports.
    Prose(Prose<'t>),
    /// A line of preformatted text that is of no known form.
    Other,
    /// A command of fio or dd.
    Command(Box<Command<'t>>),
    /// fio's group status.
    FioGroup(Box<fio_group::FioGroup<'t>>),
    /// dd's report.
    Dd(Box<dd::DdBlock<'t>>),
    /// A summary that another tool made of its dd runs.
    Summary(Box<summary::SummaryBlock<'t>>),
    /// A report of `time`.
    Time(Box<time::TimeBlock<'t>>),
}

impl Kind<'_> {
    /// The name that `--explain` shows.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Blank => "",
            Kind::Prose(prose) => match prose.style {
                Style::Heading(_) => "heading",
                Style::Emphasis => "caption",
                Style::Item => "item",
                Style::Fence => "fence",
                Style::Row => "row",
                Style::Rule => "rule",
                Style::Text if is_short(prose.text) => "caption",
                Style::Text => "text",
            },
            Kind::Other => "?",
            Kind::Command(_) => "command",
            Kind::FioGroup(_) => "fio group",
            Kind::Dd(_) => "dd",
            Kind::Summary(_) => "summary",
            Kind::Time(_) => "time",
        }
    }
}

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
    /// A result.
    Result {
        /// How it counts as a run.
        kind: ResultKind,
        /// Its directions, as [`direction_bits`].
        directions: u8,
    },
}

impl Block<'_> {
    /// What the block means to its surroundings.
    pub fn role(&self) -> Role<'_> {
        match &self.kind {
            Kind::Blank | Kind::Other | Kind::Time(_) => Role::Neutral,
            Kind::Prose(prose) => match prose.style {
                Style::Heading(level) => Role::Heading(level, prose.span),
                Style::Emphasis => Role::Short(prose.span, LabelSource::Caption),
                Style::Item if is_short(prose.text) => {
                    Role::Short(prose.span, LabelSource::ListItem)
                }
                Style::Text if is_short(prose.text) => {
                    Role::Short(prose.span, LabelSource::Caption)
                }
                Style::Text => Role::Sentences(prose.span),
                Style::Item | Style::Fence | Style::Row | Style::Rule => Role::Neutral,
            },
            Kind::Command(command) => Role::Command {
                workload: command.workload.clone(),
                host: command.host,
            },
            Kind::FioGroup(group) => Role::Result {
                kind: ResultKind::Group(group.group.unwrap_or(0)),
                directions: direction_bits(group.lines.iter().map(|line| line.direction)),
            },
            Kind::Summary(summary) if summary.rows.is_empty() => Role::Neutral,
            Kind::Summary(summary) => Role::Result {
                kind: ResultKind::Whole,
                directions: direction_bits(summary.rows.iter().map(|row| row.direction)),
            },
            Kind::Dd(_) => Role::Result {
                kind: ResultKind::Whole,
                directions: direction_bits([Direction::Write]),
            },
        }
    }
}

/// Whether a text can be a title or caption: one line of at most ten words that does not end as a sentence does.
fn is_short(text: &str) -> bool {
    text.len() <= 120
        && !text.contains('\n')
        && !text.ends_with(['.', '!', '?', ',', ';'])
        && text.split_whitespace().count() <= 10
}

/// Cuts the log into blocks, in order, without gap or overlap.
pub fn blocks<'t>(log: &'t Log<'_>) -> Vec<Block<'t>> {
    let mut blocks: Vec<Block<'t>> = Vec::new();
    let mut lines = log.segments();
    let mut preformatted = false;
    loop {
        let start = lines.offset();
        let Some(kind) = next(log, &mut lines, &mut preformatted) else {
            return blocks;
        };
        let span = Span::new(start, lines.offset());
        match (blocks.last_mut(), kind) {
            (Some(last), Kind::Blank) if matches!(last.kind, Kind::Blank) => {
                last.span.end = span.end
            }
            (Some(last), Kind::Prose(new)) if joins(&last.kind, new) => {
                if let Kind::Prose(prose) = &mut last.kind {
                    prose.span.end = new.span.end;
                    prose.text = log.get(prose.span);
                }
                last.span.end = span.end;
            }
            (_, kind) => blocks.push(Block { kind, span }),
        }
    }
}

/// Whether a line of text goes on with the paragraph above it.
fn joins(above: &Kind<'_>, new: Prose<'_>) -> bool {
    new.style == Style::Text && matches!(above, Kind::Prose(prose) if prose.style == Style::Text)
}

/// The kind of the block at the cursor, which is moved behind it; `None` at the end.
fn next<'t>(
    log: &'t Log<'_>,
    lines: &mut Segments<'t>,
    preformatted: &mut bool,
) -> Option<Kind<'t>> {
    let mut behind = lines.clone();
    let line = behind.next()?;
    if line.text.trim().is_empty() {
        *lines = behind;
        return Some(Kind::Blank);
    }
    if let Some(kind) = report(log, lines) {
        return Some(kind);
    }
    *lines = behind.clone();
    let mut prose = prose::read(line, lines);
    if prose.style == Style::Fence {
        *preformatted = !*preformatted && !prose.text.starts_with("</");
        return Some(Kind::Prose(prose));
    }
    if *preformatted {
        // in a script or a terminal's screen, `#` starts a comment, which may name what comes
        if let Style::Heading(1) = prose.style {
            prose.style = Style::Emphasis;
            return Some(Kind::Prose(prose));
        }
        *lines = behind;
        return Some(Kind::Other);
    }
    Some(Kind::Prose(prose))
}

/// The readers, asked in turn.
fn report<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<Kind<'t>> {
    if let Some(group) = fio_group::read(log, lines) {
        return Some(Kind::FioGroup(Box::new(group)));
    }
    if let Some(dd) = dd::read(log, lines) {
        return Some(Kind::Dd(Box::new(dd)));
    }
    if let Some(time) = time::read(log, lines) {
        return Some(Kind::Time(Box::new(time)));
    }
    if let Some(summary) = summary::read(log, lines) {
        return Some(Kind::Summary(Box::new(summary)));
    }
    command::find(log, lines).map(|found| Kind::Command(Box::new(found.into())))
}
