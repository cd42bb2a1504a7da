//! Which command each report of dd is of.
//!
//! A command is of the report right below it. Beyond that, a command is lent to a report only where it can be of it:
//!
//! - **One command, several reports** (a loop, a command that a post states once): each gets it, unless its figures
//!   contradict. A command that was typed and followed by its own report at once is spent where a heading, a label or a
//!   paragraph comes, another command is typed, or the text is quoted more or less deeply: what comes then is another
//!   run, perhaps another person's.
//! - **Several commands, then their reports** (`dd … && dd …`, the lines of a script): as many reports as commands
//!   belong to them in order, where each ends before the next starts; so does a loop over them, where its figures say
//!   so. Where they run together (pipes, `&`, lists of processes), or the numbers differ, the figures alone tell.
//! - Where two commands remain possible, none is given: a wrong one would be worse.
//!
//! **Figures contradict** a command where there are more records or bytes than it asked for; where full records of its
//! block size are not the bytes; where zeros came in parts, which `/dev/zero` never gives; and, once the end of the run
//! is known, where there is less than was asked of an endless source.
//!
//! Only reports of dd get a command of dd: neither the summaries of other tools nor fio's results do.

use super::label::short_label;
use super::{Found, direction_bits};
use crate::block::dd::DdBlock;
use crate::block::prose;
use crate::block::summary::Tool;
use crate::block::{self, Block, Command, Kind, Role};
use crate::figure::Figure;
use crate::record::Direction;
use crate::source::Log;
use crate::unit::Bytes;
use crate::workload::{Dd, Workload};
use std::sync::Arc;

/// How many commands are told apart by figures.
const MAX_COMMANDS: usize = 16;

/// Commands, and the reports that may be theirs.
#[derive(Default)]
struct Group<'b, 't> {
    commands: Vec<Arc<Workload>>,
    /// Whether each ends before the next starts.
    in_order: bool,
    /// Behind a prompt, and not told to run beside it.
    waited_for: bool,
    /// Whether lines of a script are listed, so that the next may belong to them.
    listed: bool,
    /// Whether they stand in text.
    in_text: bool,
    /// Stated for several runs: in text, in a loop, or with a label between it and its first report.
    stated: bool,
    level: u8,
    quoted: usize,
    /// The block of the last command.
    last: usize,
    /// Whether a label came since the command or the last report.
    labelled: bool,
    /// Whether nothing below is of these.
    spent: bool,
    reports: Vec<Report<'b, 't>>,
}

struct Report<'b, 't> {
    /// Its place in the list of results.
    found: usize,
    block: &'b DdBlock<'t>,
    /// Whether the commands may reach it.
    reached: bool,
}

/// Sets the workload of each result of dd, and takes commands of dd from results of others.
pub(super) fn settle(log: &Log<'_>, blocks: &[Block<'_>], found: &mut [Found]) {
    if !blocks
        .iter()
        .any(|block| matches!(block.kind, Kind::Dd(_) | Kind::Command(_)))
    {
        return;
    }
    let mut group = Group::default();
    let mut results = 0;
    let mut level = 0;
    for (index, block) in blocks.iter().enumerate() {
        let at = found.get(results).filter(|result| result.block == index);
        if at.is_some() {
            results += 1;
        }
        match &block.kind {
            Kind::Command(command) => {
                let quoted = quote_depth(log, block);
                if !group.takes(command, index, quoted, level) {
                    std::mem::replace(&mut group, Group::of(command, index, quoted, level))
                        .resolve(found);
                }
            }
            Kind::Dd(report) if at.is_some() => {
                let at = results - 1;
                if let Some(command) = &report.command {
                    std::mem::take(&mut group).resolve(found);
                    set(&mut found[at], Some(Arc::clone(command)));
                } else {
                    group.report(at, report, quote_depth(log, block));
                }
            }
            Kind::Other if !group.commands.is_empty() => {
                if block::starts_another(log.get(block.span)) {
                    group.spent |= group.waited_for || !group.reports.is_empty();
                }
            }
            Kind::Prose(_) => match block.role() {
                Role::Heading(new, _) => {
                    level = new;
                    group.listed = false;
                    group.label();
                    group.spent |= group.level >= new && !group.reports.is_empty();
                }
                Role::Short(span, by) if short_label(log, span, by).is_some() => group.label(),
                Role::Sentences(_) => {
                    group.listed = false;
                    group.label();
                }
                Role::Neutral => group.listed = false,
                _ => {}
            },
            Kind::Summary(summary) if at.is_some() => {
                // the others run dd by themselves, but not by the command above
                if summary.tool == Tool::Ddrescue {
                    set(&mut found[results - 1], None);
                }
            }
            Kind::Time(_) | Kind::Summary(_) | Kind::Blank | Kind::Broken | Kind::Other => {}
            _ => {
                if at.is_some_and(|result| {
                    result.workload.as_ref().is_some_and(|w| w.dd().is_some())
                }) {
                    set(&mut found[results - 1], None);
                }
            }
        }
    }
    group.resolve(found);
}

fn set(found: &mut Found, workload: Option<Arc<Workload>>) {
    let dd = workload.as_deref().and_then(Workload::dd);
    let direction = dd.and_then(Dd::direction).or(found.named);
    found.direction = direction;
    found.directions = direction_bits([direction.unwrap_or(Direction::Write)]);
    found.workload = workload;
}

/// How many quote marks stand in front of a block.
fn quote_depth(log: &Log<'_>, block: &Block<'_>) -> usize {
    let text = log.get(block.span);
    let body = prose::unquoted(text);
    let front = body.as_ptr() as usize - text.as_ptr() as usize;
    text[..front].bytes().filter(|&b| b == b'>').count()
}

impl<'b, 't> Group<'b, 't> {
    fn of(command: &Command<'_>, index: usize, quoted: usize, level: u8) -> Self {
        let commands: Vec<Arc<Workload>> = command
            .workload
            .iter()
            .chain(&command.more)
            .filter(|workload| workload.dd().is_some())
            .cloned()
            .collect();
        let stands = command.stands;
        Self {
            in_order: stands.in_order && !stands.in_text,
            waited_for: stands.at_prompt && stands.in_order,
            listed: !stands.at_prompt && !stands.in_text,
            in_text: stands.in_text,
            stated: stands.in_text || stands.in_loop,
            level,
            quoted,
            last: index,
            commands,
            ..Self::default()
        }
    }

    /// Takes a command that stands beside these: `false` where it starts a group of its own.
    fn takes(&mut self, command: &Command<'_>, index: usize, quoted: usize, level: u8) -> bool {
        let new = Self::of(command, index, quoted, level);
        let beside = self.listed && new.listed
            || self.in_text && new.in_text && index == self.last + 1
            // both run beside the prompt
            || !self.waited_for && !self.listed && !self.in_text && new.commands.len() == 1;
        if self.commands.is_empty()
            || new.commands.is_empty()
            || !self.reports.is_empty()
            || self.spent
            || !beside
            || self.quoted != new.quoted
            || self.commands.len() + new.commands.len() > MAX_COMMANDS
        {
            return false;
        }
        self.commands.extend(new.commands);
        self.in_order &= new.in_order;
        self.waited_for = new.waited_for;
        self.stated |= new.stated;
        self.last = index;
        self.labelled = false;
        true
    }

    /// A heading, a label or a paragraph.
    fn label(&mut self) {
        self.labelled = true;
        self.spent |= !self.reports.is_empty() && !self.stated;
    }

    fn report(&mut self, found: usize, block: &'b DdBlock<'t>, quoted: usize) {
        if self.reports.is_empty() {
            self.stated |= self.labelled;
        }
        self.labelled = false;
        let reached = !self.spent && (self.reports.is_empty() || self.quoted == quoted);
        self.reports.push(Report {
            found,
            block,
            reached,
        });
    }

    /// Gives each report its command.
    fn resolve(self, found: &mut [Found]) {
        let given = match self.commands.as_slice() {
            [] => vec![None; self.reports.len()],
            [command] => self.lend(command),
            commands if commands.iter().all(|one| one.dd() == commands[0].dd()) => {
                self.lend(&commands[0])
            }
            _ => self.share(),
        };
        // the command right above a report can't be what ran: worth a word
        if let (Some(first), [command], [None, ..]) = (
            self.reports.first(),
            self.commands.as_slice(),
            given.as_slice(),
        ) && first.reached
        {
            found[first.found].refused = Some(Arc::clone(command));
        }
        for (report, workload) in self.reports.iter().zip(given) {
            set(&mut found[report.found], workload);
        }
    }

    /// One command to all reports that may be of it.
    fn lend(&self, command: &Arc<Workload>) -> Vec<Option<Arc<Workload>>> {
        let mut ended = false;
        let mut given = Vec::with_capacity(self.reports.len());
        for (index, report) in self.reports.iter().enumerate() {
            let fits = index == 0 && !contradicts_size(command, report.block)
                || index > 0 && !contradicts(command, report.block, ended);
            ended |= command
                .dd()
                .and_then(Dd::asked_bytes)
                .is_some_and(|asked| bytes(report.block) == Some(asked.0));
            given.push((report.reached && fits).then(|| Arc::clone(command)));
        }
        given
    }

    /// Several commands to several reports.
    fn share(&self) -> Vec<Option<Arc<Workload>>> {
        // what only tells how far a run had come goes with the report that ends it
        let mut ends: Vec<usize> = Vec::new();
        let mut end_of = Vec::with_capacity(self.reports.len());
        for (index, report) in self.reports.iter().enumerate() {
            let goes_on = self.reports.get(index + 1).is_some_and(|next| {
                let (now, then) = (&report.block.transfer, &next.block.transfer);
                (report.block.status || report.block.unfinished)
                    && now
                        .as_ref()
                        .zip(then.as_ref())
                        .is_some_and(|(now, then)| now.grows_to(then))
            });
            end_of.push(ends.len());
            if !goes_on && report.reached {
                ends.push(index);
            }
        }
        let commands: Vec<&Arc<Workload>> = self
            .commands
            .iter()
            .filter(|command| !is_silent(command))
            .collect();
        let fits: Vec<Vec<bool>> = ends
            .iter()
            .map(|&end| {
                let block = self.reports[end].block;
                commands
                    .iter()
                    .map(|command| !contradicts(command, block, true))
                    .collect()
            })
            .collect();
        let chosen = in_turn(&fits, commands.len(), self.in_order)
            .unwrap_or_else(|| by_figures(&fits, &commands));
        self.reports
            .iter()
            .zip(end_of)
            .map(|(report, end)| {
                let command = *chosen.get(end)?;
                let command = commands[command?];
                report.reached.then(|| Arc::clone(command))
            })
            .collect()
    }
}

/// Whether dd was told to print nothing.
fn is_silent(workload: &Workload) -> bool {
    workload.dd().is_some_and(|dd| {
        dd.other
            .iter()
            .any(|(name, value)| name == "status" && value == "none")
    })
}

/// The command of each report, where they follow each other in order: once, or again and again if all of one command
/// at a time can't be.
fn in_turn(fits: &[Vec<bool>], commands: usize, in_order: bool) -> Option<Vec<Option<usize>>> {
    let reports = fits.len();
    if !in_order || commands == 0 || reports == 0 || !reports.is_multiple_of(commands) {
        return None;
    }
    let each = reports / commands;
    let around = |report: usize| report % commands;
    let blockwise = |report: usize| report / each;
    let possible =
        |of: &dyn Fn(usize) -> usize| (0..reports).all(|report| fits[report][of(report)]);
    match (possible(&around), each > 1 && possible(&blockwise)) {
        (true, false) => Some((0..reports).map(|report| Some(around(report))).collect()),
        (false, true) => Some((0..reports).map(|report| Some(blockwise(report))).collect()),
        _ => None,
    }
}

/// The command of each report that only one can be of; what one report alone can be of is left to it.
fn by_figures(fits: &[Vec<bool>], commands: &[&Arc<Workload>]) -> Vec<Option<usize>> {
    let mut left: Vec<Vec<usize>> = fits
        .iter()
        .map(|row| {
            (0..commands.len())
                .filter(|&command| row[command])
                .collect()
        })
        .collect();
    let once = fits.len() <= commands.len();
    let mut chosen: Vec<Option<usize>> = vec![None; fits.len()];
    // one more is settled in each round, or none
    for _ in 0..fits.len().min(MAX_COMMANDS) {
        let single =
            (0..left.len()).find(|&report| chosen[report].is_none() && left[report].len() == 1);
        let Some(report) = single else { break };
        let command = left[report][0];
        chosen[report] = Some(command);
        if once {
            for (other, left) in left.iter_mut().enumerate() {
                if other != report {
                    left.retain(|&have| have != command);
                }
            }
        }
    }
    if !once {
        for (report, left) in left.iter().enumerate() {
            chosen[report] = (left.len() == 1).then(|| left[0]);
        }
    }
    chosen
}

/// Full and partial records of a figure such as `10+0`.
fn counts(figure: Option<Figure<'_>>) -> Option<(u128, u128)> {
    let (full, partial) = figure?.text.split_once('+')?;
    Some((full.parse().ok()?, partial.parse().ok()?))
}

/// The bytes of a report: a count and a word, the count perhaps in groups.
fn bytes(block: &DdBlock<'_>) -> Option<u64> {
    let text = block.transfer.as_ref()?.bytes?.text;
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The block size on one side, where it is known.
fn block_size(workload: &Workload, dd: &Dd, side: &str, own: Option<Bytes>) -> Option<u128> {
    let unread = |name: &str| dd.other.iter().any(|(have, _)| have == name);
    if unread("bs") || unread(side) && dd.block_bytes.is_none() {
        return None;
    }
    let command = workload.command.as_deref().unwrap_or("");
    let program = command.split_whitespace().next().unwrap_or("");
    // the default of dcfldd and dc3dd is another
    let default = matches!(program.rsplit('/').next(), Some("dd" | "gdd"));
    dd.block_bytes
        .or(own)
        .or(default.then_some(Bytes(512)))
        .map(|bytes| u128::from(bytes.0))
}

/// Whether full records of the command's block size are not the bytes that the report has.
fn contradicts_size(workload: &Workload, block: &DdBlock<'_>) -> bool {
    let Some(dd) = workload.dd() else { return true };
    let resized = dd
        .conv
        .iter()
        .any(|conv| conv == "block" || conv == "unblock");
    let size = block_size(workload, dd, "obs", dd.output_block_bytes).filter(|_| !resized);
    let (Some(size), Some((full, partial)), Some(bytes)) =
        (size, counts(block.records_out), bytes(block))
    else {
        return false;
    };
    let bytes = u128::from(bytes);
    // a write that failed counts in the bytes and in no record
    bytes < full.saturating_mul(size) || bytes > (full + partial + 1).saturating_mul(size)
}

/// Whether the report can't be of this command; `ended` says that it is of the end of a run.
fn contradicts(workload: &Workload, block: &DdBlock<'_>, ended: bool) -> bool {
    /// From here on Linux reads less than it is asked for.
    const LONGEST_READ: u128 = 0x7fff_f000;
    let Some(dd) = workload.dd() else { return true };
    if contradicts_size(workload, block) {
        return true;
    }
    let records = counts(block.records_in);
    let total = records.map(|(full, partial)| full + partial);
    if let (Some(count), Some(total)) = (dd.count, total)
        && total > u128::from(count)
    {
        return true;
    }
    let (asked, moved) = (dd.asked_bytes(), bytes(block));
    if let (Some(asked), Some(moved)) = (asked, moved)
        && moved > asked.0
    {
        return true;
    }
    let input = dd.input.as_deref();
    let size = block_size(workload, dd, "ibs", dd.input_block_bytes);
    if input == Some("/dev/zero")
        && records.is_some_and(|(_, partial)| partial > 0)
        && size.is_some_and(|size| size < LONGEST_READ)
    {
        return true;
    }
    let whole = !(block.status || block.stopped || block.unfinished) && block.errors.is_empty();
    let endless = matches!(input, Some("/dev/zero" | "/dev/urandom"))
        && size.is_some_and(|size| size < LONGEST_READ);
    ended
        && whole
        && endless
        && matches!((asked, moved), (Some(asked), Some(moved)) if moved < asked.0)
}
