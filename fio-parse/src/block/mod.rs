//! Blocks: the log cut into runs of whole lines, each of one kind.
//!
//! One forward pass with a cursor over lines. At each line the readers are asked in turn; the first that knows the
//! form takes as many lines as belong to it, and what no reader knows is prose. So blocks partition the log: every
//! byte is in exactly one, and nothing is skipped unseen. Blocks hold figures as text; nothing is decoded here.

pub mod broken;
pub mod dd;
pub mod fio_group;
pub mod fio_json;
pub mod fio_log;
pub mod fio_note;
pub mod fio_table;
pub mod fio_terse;
pub mod fio_text;
pub mod prose;
pub mod replay;
mod role;
pub mod summary;
pub mod time;

use crate::context::direction_named;
use crate::diagnostic::Diagnostic;
use crate::record::Direction;
use crate::source::{Log, Segments, Span};
use crate::workload::Workload;
use crate::workload::command::{self, FoundCommand, Stands};
use crate::workload::header;
use prose::{Prose, Style};
pub use role::Role;
use std::collections::HashMap;
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
    /// The other commands of dd in the line, in their order.
    pub more: Vec<Arc<Workload>>,
    /// How they stand in the line.
    pub stands: Stands,
    /// The host that the prompt in front names.
    pub host: Option<&'t str>,
    /// What is odd about it.
    pub problems: Vec<Diagnostic>,
}

impl<'t> From<FoundCommand<'t>> for Command<'t> {
    fn from(found: FoundCommand<'t>) -> Self {
        Self {
            workload: found.workload.map(Arc::new),
            more: found.more.into_iter().map(Arc::new).collect(),
            stands: found.stands,
            host: found.host,
            problems: found.problems,
        }
    }
}

/// The header lines of a fio report.
#[derive(Clone, Debug)]
pub struct Header {
    /// What they describe; sizes that fio printed scaled are missing.
    pub workload: Arc<Workload>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
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
    /// Lines that look like parts of a report and can't be read.
    Broken,
    /// A command of fio or dd.
    Command(Box<Command<'t>>),
    /// A job section of fio's normal output, or some lines of one.
    FioJob(Box<fio_text::FioJob<'t>>),
    /// fio's JSON.
    FioJson(Box<fio_json::FioJson<'t>>),
    /// fio's terse lines.
    FioTerse(Box<fio_terse::FioTerse<'t>>),
    /// A log of samples.
    FioLog(Box<fio_log::FioLog<'t>>),
    /// fio's group status.
    FioGroup(Box<fio_group::FioGroup<'t>>),
    /// What fio prints around its report.
    FioNote(fio_note::FioNote<'t>),
    /// What fio-replay prints beside the forms of fio and dd.
    Replay(replay::ReplayNote<'t>),
    /// The header lines of a fio report, which describe its jobs.
    FioHeader(Box<Header>),
    /// A summary that a tool or somebody made of fio runs.
    FioTable(Box<fio_table::TableBlock<'t>>),
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
                Style::Echo => "title",
                Style::Text if is_short(prose.text) => "caption",
                Style::Text => "text",
            },
            Kind::Other => "other",
            Kind::Broken => "broken",
            Kind::Command(_) => "command",
            Kind::FioJob(job) if job.is_loose() => "fio lines",
            Kind::FioJob(_) => "fio job",
            Kind::FioJson(_) => "fio json",
            Kind::FioTerse(_) => "fio terse",
            Kind::FioLog(_) => "fio log",
            Kind::FioGroup(_) => "fio group",
            Kind::FioNote(note) => note.name(),
            Kind::Replay(_) => "fio-replay",
            Kind::FioHeader(_) => "fio header",
            Kind::FioTable(_) => "fio table",
            Kind::Dd(_) => "dd",
            Kind::Summary(_) => "summary",
            Kind::Time(_) => "time",
        }
    }
}

/// Whether a text can be a title or caption: one line that does not end as a sentence does, and is not long.
///
/// An ellipsis ends what a script says it is about to do (`Running the write test...`).
fn is_short(text: &str) -> bool {
    let body = text.trim_end_matches(['…', '.']);
    let ellipsis = text.len() - body.len() >= 3;
    let words = text.split_whitespace().count();
    !text.contains(['\n', '\r'])
        && (ellipsis || !text.ends_with(['.', '!', '?', ',', ';']))
        && words <= if text.ends_with(':') { 12 } else { 20 }
        && text.len() <= 160
}

/// Whether a line is one of a terminal's screen: a prompt and a command that is not ours to read, or what `set -x` shows of one.
fn is_shell_line(text: &str) -> bool {
    let prompts = ["$ ", "❯ ", "PS ", "++ ", "+++ "];
    if prompts.iter().any(|prompt| text.starts_with(prompt)) || prose::is_root_prompt(text) {
        return true;
    }
    // user@host:~$ …
    let Some((prompt, _)) = text.split_once(['$', '#']) else {
        return false;
    };
    let mut parts = prompt.splitn(2, '@');
    let user = parts.next().unwrap_or("");
    let host = parts.next().unwrap_or("");
    let name = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.:/~ []".contains(&b))
    };
    name(user.trim_start_matches('[')) && name(host.trim_end_matches(']')) && !user.contains(' ')
}

/// Whether a line shows that somebody typed a command: behind a prompt, or with `time` in front.
pub fn is_typed(line: &str) -> bool {
    let text = prose::unquoted(line);
    is_shell_line(text) || text.starts_with("time ") || text.starts_with("/usr/bin/time ")
}

/// Whether these lines show that somebody typed a command other than one that asks a running dd for its state.
pub fn starts_another(lines: &str) -> bool {
    lines.lines().filter(|line| is_typed(line)).any(|line| {
        !["kill", "USR1", "INFO"]
            .iter()
            .any(|word| line.contains(word))
    })
}

/// A cursor that cuts one block after the other.
pub(crate) struct Cutter<'l, 't> {
    log: &'l Log<'t>,
    lines: Segments<'l>,
    preformatted: bool,
    headers: Headers<'l>,
}

impl<'l, 't> Cutter<'l, 't> {
    /// At the start of the log.
    pub(crate) fn new(log: &'l Log<'t>) -> Self {
        Self {
            log,
            lines: log.segments(),
            preformatted: false,
            headers: Headers::default(),
        }
    }

    /// What is at the cursor, which is moved behind it; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Block<'l>> {
        let start = self.lines.offset();
        let kind = next(
            self.log,
            &mut self.lines,
            &mut self.preformatted,
            &mut self.headers,
        )?;
        let span = Span::new(start, self.lines.offset());
        Some(Block { kind, span })
    }
}

/// Cuts the log into blocks, in order, without gap or overlap.
pub fn blocks<'t>(log: &'t Log<'_>) -> Vec<Block<'t>> {
    let mut blocks: Vec<Block<'t>> = Vec::new();
    let mut cutter = Cutter::new(log);
    loop {
        let start = cutter.lines.offset();
        let rate = below_filtered_dd(&blocks)
            .then(|| dd::read_rate(log, &mut cutter.lines))
            .flatten();
        let next = match rate {
            Some(rate) => Some(Block {
                kind: Kind::Dd(Box::new(rate)),
                span: Span::new(start, cutter.lines.offset()),
            }),
            None => cutter.next(),
        };
        let Some(Block { kind, span }) = next else {
            break;
        };
        let kind = match blocks.last() {
            Some(last) if leaves_a_log(log, last, &kind, span) => Kind::Broken,
            _ => kind,
        };
        match (blocks.last_mut(), kind) {
            (Some(last), Kind::Broken) if matches!(last.kind, Kind::Broken) => {
                last.span.end = span.end;
            }
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
            (last, kind) => {
                // `# what comes` right above a command is a comment of the script, and no heading
                if let (Kind::Command(_), Some(Kind::Prose(prose))) =
                    (&kind, last.map(|last| &mut last.kind))
                    && prose.style == Style::Heading(1)
                    && log
                        .get(Span::new(prose.span.start.saturating_sub(2), start))
                        .starts_with("# ")
                {
                    prose.style = Style::Emphasis;
                }
                blocks.push(Block { kind, span });
            }
        }
    }
    fio_table::settle(log, &mut blocks);
    settle_prompts(log, &mut blocks);
    settle_quotations(log, &mut blocks);
    blocks
}

/// Makes text of what looks like a line of fio's report and is one that the text quotes in code marks, behind words of its
/// own and word for word as it stands further up.
fn settle_quotations<'t>(log: &'t Log<'_>, blocks: &mut [Block<'t>]) {
    // each is looked for in all that stands above it
    const LOOKED_AT: usize = 64;
    let bare = |block: &&mut Block<'_>| block.is_bare_line();
    let mut looked = 0;
    for block in blocks.iter_mut().filter(bare) {
        let text = log.get(block.span).trim_end();
        let mut parts = text.split('`');
        let (Some(words), Some(quoted)) = (parts.next(), parts.next()) else {
            continue;
        };
        if text.contains('\n') || !words.contains(char::is_alphabetic) || quoted.is_empty() {
            continue;
        }
        looked += 1;
        if looked > LOOKED_AT {
            return;
        }
        if log.text()[..block.span.start as usize].contains(quoted) {
            block.kind = Kind::Prose(Prose {
                style: Style::Text,
                text,
                span: log.span_of(text),
            });
        }
    }
}

/// Makes commands of what looks like headings where a command of fio or dd shows that `# ` is the prompt.
fn settle_prompts(log: &Log<'_>, blocks: &mut [Block<'_>]) {
    let behind = |block: &Block<'_>| -> Option<&str> {
        prose::unquoted(log.get(block.span)).strip_prefix("# ")
    };
    let prompted =
        |block: &Block<'_>| matches!(block.kind, Kind::Command(_)) && behind(block).is_some();
    if !blocks.iter().any(prompted) {
        return;
    }
    for block in blocks {
        let marked = matches!(&block.kind, Kind::Prose(prose) if matches!(prose.style, Style::Heading(1) | Style::Emphasis));
        if marked && behind(block).is_some_and(prose::runs_program) {
            block.kind = Kind::Other;
        }
    }
}

/// Whether a line behind samples of a log is one that can't be read.
fn leaves_a_log(log: &Log<'_>, last: &Block<'_>, kind: &Kind<'_>, span: Span) -> bool {
    matches!(last.kind, Kind::FioLog(_) | Kind::Broken)
        && matches!(kind, Kind::Prose(_) | Kind::Other)
        && broken::is_sample(log.get(span))
}

/// Whether the last block is a dd whose output went through a filter, or a rate that such a filter left.
fn below_filtered_dd(blocks: &[Block<'_>]) -> bool {
    match blocks.last().map(|block| &block.kind) {
        Some(Kind::Dd(report)) => report.is_rate_only(),
        Some(Kind::Command(command)) => command.workload.as_deref().is_some_and(|workload| {
            let tail = workload.around.tail.as_deref().unwrap_or("");
            workload.dd().is_some()
                && ["awk", "grep", "cut", "sed"]
                    .iter()
                    .any(|name| tail.contains(name))
        }),
        _ => false,
    }
}

/// Whether a line of text goes on with the paragraph above it.
fn joins(above: &Kind<'_>, new: Prose<'_>) -> bool {
    new.style == Style::Text && matches!(above, Kind::Prose(prose) if prose.style == Style::Text)
}

/// The headers of reports by their text: logs of tests run again and again repeat them word for word.
#[derive(Default)]
struct Headers<'t> {
    /// How many were started is said behind the lines, and counts the clones among them.
    known: HashMap<(&'t str, Option<u32>), Arc<Workload>>,
}

/// How many different headers are remembered.
const HEADERS: usize = 1024;

impl<'t> Headers<'t> {
    fn header(&mut self, log: &'t Log<'_>, block: header::HeaderBlock<'t>) -> Header {
        let key = (log.get(block.span), block.started);
        let workload = match self.known.get(&key) {
            // the place alone differs
            Some(workload) => Arc::new(Workload {
                span: Some(block.span),
                ..Workload::clone(workload)
            }),
            None => {
                let workload = Arc::new(block.workload());
                if self.known.len() < HEADERS {
                    self.known.insert(key, Arc::clone(&workload));
                }
                workload
            }
        };
        Header {
            workload,
            problems: block.problems,
        }
    }
}

/// The kind of the block at the cursor, which is moved behind it; `None` at the end.
fn next<'t>(
    log: &'t Log<'_>,
    lines: &mut Segments<'t>,
    preformatted: &mut bool,
    headers: &mut Headers<'t>,
) -> Option<Kind<'t>> {
    let mut behind = lines.clone();
    let line = behind.next()?;
    if is_empty(prose::unquoted(line.text)) {
        *lines = behind;
        return Some(Kind::Blank);
    }
    if let Some(kind) = familiar(log, lines, line.text, headers) {
        return Some(kind);
    }
    if let Some(kind) = report(log, lines, headers) {
        return Some(kind);
    }
    *lines = behind.clone();
    let text = prose::unquoted(line.text);
    if broken::is_broken(text) {
        return Some(Kind::Broken);
    }
    if dd::line::is_meter(text) || dd::line::is_control(text) {
        return Some(Kind::Other);
    }
    let mut prose = prose::read(line, lines);
    if prose.style == Style::Fence {
        let closes = prose.text.starts_with("</") || prose.text.starts_with("[/");
        *preformatted = !*preformatted && !closes;
        return Some(Kind::Prose(prose));
    }
    if let (Style::Text | Style::Heading(1), Some(title)) =
        (prose.style, prose::echoed(prose::unquoted(line.text)))
    {
        *lines = behind;
        return Some(Kind::Prose(Prose {
            style: Style::Echo,
            text: title,
            span: log.span_of(title),
        }));
    }
    if *preformatted {
        // in a script or a terminal's screen, `#` starts a comment, which may name what comes
        let decorated =
            prose.style == Style::Emphasis && prose::set_off(prose::unquoted(line.text)).is_some();
        if prose.style == Style::Heading(1) || decorated {
            prose.style = Style::Emphasis;
            return Some(Kind::Prose(prose));
        }
        *lines = behind;
        return Some(Kind::Other);
    }
    if prose.style == Style::Text && is_shell_line(prose.text) {
        return Some(Kind::Other);
    }
    Some(Kind::Prose(prose))
}

/// The direction of the test that a line of a script's output says to come: a few words, or an item of a list, that name
/// one direction and have nothing of what tools print.
pub fn direction_announced(line: &str) -> Option<Direction> {
    let text = prose::unquoted(line);
    let words = is_short(text)
        && text.split_whitespace().count() <= 8
        && !text.contains(['=', '/', '|', '<', '>', '$', '(', ';', ','])
        && !text.trim_end_matches(':').contains(':')
        && !is_shell_line(text);
    words.then(|| direction_named(text)).flatten()
}

/// Whether a line shows nothing: no text, or the markup of an empty line or comment.
fn is_empty(text: &str) -> bool {
    matches!(
        text,
        "" | "#" | "<br>" | "<br/>" | "<br />" | "<p>" | "</p>" | "<p></p>" | "&nbsp;"
    )
}

/// Asks the one reader that a line is for, where the line is byte for byte as fio prints it and can be nothing else:
/// nearly all lines of a large log that start a block are of these kinds. Any other line is for all readers in turn.
fn familiar<'t>(
    log: &'t Log<'_>,
    lines: &mut Segments<'t>,
    text: &'t str,
    headers: &mut Headers<'t>,
) -> Option<Kind<'t>> {
    match text.as_bytes() {
        [b'R', b'u', b'n', ..] if text.ends_with(" (all jobs):") && text.len() < 40 => {
            return fio_group::read(log, lines).map(|group| Kind::FioGroup(Box::new(group)));
        }
        b"Disk stats (read/write):" | [b'f', b'i', b'o', b'-', ..] | [b'S', b't', ..]
            if text.len() < 80 && memchr::memchr3(b'=', b'{', b';', text.as_bytes()).is_none() =>
        {
            return fio_note::read(log, lines).map(Kind::FioNote);
        }
        [first, ..] if first.is_ascii_alphabetic() => {}
        _ => return None,
    }
    // the mark of a head or of a header, behind a name that is the start of no other form
    let at = memchr::memchr(b'(', text.as_bytes())?;
    let (name, mark) = text.split_at(at);
    if !name.ends_with(": ") || memchr::memchr3(b'{', b'"', b';', name.as_bytes()).is_some() {
        return None;
    }
    if mark.starts_with("(g=") {
        let header = header::read(log, lines)?;
        return Some(Kind::FioHeader(Box::new(headers.header(log, header))));
    }
    fio_text::quick::head(log, lines.offset() as usize + at)?;
    fio_text::read(log, lines).map(|job| Kind::FioJob(Box::new(job)))
}

/// The readers, asked in turn.
fn report<'t>(
    log: &'t Log<'_>,
    lines: &mut Segments<'t>,
    headers: &mut Headers<'t>,
) -> Option<Kind<'t>> {
    if let Some(json) = fio_json::read(log, lines) {
        return Some(Kind::FioJson(Box::new(json)));
    }
    if let Some(terse) = fio_terse::read(log, lines) {
        return Some(Kind::FioTerse(Box::new(terse)));
    }
    if let Some(samples) = fio_log::read(log, lines) {
        return Some(Kind::FioLog(Box::new(samples)));
    }
    if let Some(job) = fio_text::read(log, lines) {
        return Some(Kind::FioJob(Box::new(job)));
    }
    if let Some(group) = fio_group::read(log, lines) {
        return Some(Kind::FioGroup(Box::new(group)));
    }
    if let Some(note) = replay::read(lines) {
        return Some(Kind::Replay(note));
    }
    if let Some(note) = fio_note::read(log, lines) {
        return Some(Kind::FioNote(note));
    }
    if let Some(header) = header::read(log, lines) {
        return Some(Kind::FioHeader(Box::new(headers.header(log, header))));
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
    if let Some(table) = fio_table::read(log, lines) {
        return Some(Kind::FioTable(Box::new(table)));
    }
    command::find(log, lines).map(|found| Kind::Command(Box::new(found.into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn familiar_lines_are_read_as_by_all_readers_in_turn() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
        let mut count = 0;
        for entry in ["logs", "runs"].map(|folder| fs::read_dir(fixtures.join(folder)).unwrap()) {
            for folder in entry {
                for file in ["input.txt", "normal.txt"] {
                    let Ok(bytes) = fs::read(folder.as_ref().unwrap().path().join(file)) else {
                        continue;
                    };
                    let log = Log::from_bytes("x", &bytes).unwrap();
                    let mut lines = log.segments();
                    let mut at = lines.clone();
                    while let Some(line) = lines.next() {
                        let (mut quick, mut slow) = (at.clone(), at);
                        if let Some(kind) =
                            familiar(&log, &mut quick, line.text, &mut Headers::default())
                        {
                            let all = report(&log, &mut slow, &mut Headers::default());
                            assert_eq!(format!("{:?}", Some(kind)), format!("{all:?}"));
                            assert_eq!(quick.offset(), slow.offset());
                            count += 1;
                        }
                        at = lines.clone();
                    }
                }
            }
        }
        assert!(count > 200, "{count} familiar lines");
    }

    #[test]
    fn the_same_header_again_counts_its_own_clones() {
        let run = |started: u32| {
            format!(
                "a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n...\nfio-3.33\nStarting {started} processes\n\n"
            )
        };
        let text = [run(8), run(4)].concat();
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let jobs: Vec<Option<u32>> = blocks(&log)
            .iter()
            .filter_map(|block| match &block.kind {
                Kind::FioHeader(header) => Some(header.workload.jobs()[0].jobs),
                _ => None,
            })
            .collect();
        assert_eq!(jobs, [Some(8), Some(4)]);
    }
}
