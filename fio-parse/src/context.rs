//! Context: which machine, which section and which workload each result falls under.
//!
//! The only place with scope rules, and the only one that looks at more than one block. It makes one forward pass
//! over the blocks and leaves, for every result, the labels that hold there; a second look over those labels decides
//! which of them names the machine. Nothing is inferred from what words mean: "MBP" is never taken for "Macbook Pro".
//!
//! **Where a label may stand** (a *place*):
//!
//! | place | what it is | how long it holds |
//! |---|---|---|
//! | heading | marked as such, with a level | until a heading of its level or above, be it empty |
//! | title | a short line alone, emphasised, or printed with `echo`, above a command | until the next title or heading, or the line above another person's comment |
//! | caption | a short line alone, an emphasised line or a list item between the command (or the last result) and the result | until the next caption, title, heading or command |
//! | own line | what stands in front of a report of dd on its line, with a colon or in another cell of a row | for that report |
//! | host | the host in the command's prompt | until the next command |
//! | sentence | the last sentence of the last paragraph above the command, or above the result where there are no commands | until the next one |
//!
//! Items of a list that stand right below each other are facts and no titles.
//!
//! **Which place names the machine.** A comparison runs the same test on several machines. So the place is the first,
//! in the order caption, title, headings from the innermost outwards, host, sentence, whose labels differ between two
//! results of the same workload and direction. The other labels are the section, outermost first. Where no place does
//! that, no machine is named, and who reads the record uses the name of the file. Where another place (sentences left
//! aside) tells as many labels apart, and groups the results in another way, either may name the machine: its labels are
//! then marked as ambiguous.
//!
//! **Which direction.** dd does not say which way its bytes went. Where no command is known, the innermost label that
//! names reads or writes, and not both, tells; so does a line of a script's output that says nothing else (`2. Read test`),
//! where it stands nearer than any label. It is no label itself, for it names a test and no machine.
//!
//! **Which workload.** A command holds until the next one; it does not reach out of the heading it stands under, unless
//! nothing has used it yet. For dd, `attach` has closer rules. The header lines of a report describe their report
//! alone, and are what fio ran: where they contradict the command above (another pattern, block size, engine or depth),
//! they hold, and so they do where the command runs a job file that is not shown; else the command says more.

mod attach;
mod label;
mod machine;
mod nearby;
mod runs;
mod server;

use crate::block::prose::Style;
use crate::block::{Block, Kind, Role, direction_announced, is_typed};
use crate::record::{Direction, Label, LabelSource};
use crate::source::{Log, Span};
use crate::unit::Bytes;
use crate::workload::{Dd, Workload};
pub(crate) use label::direction_named;
use label::{label, opens_comment, sentence_label, short_label};
use machine::{is_ambiguous, machine_place};
pub use runs::ResultKind;
use runs::Runs;
use server::{Host, Stated};
use std::sync::Arc;

/// What holds at one result.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The machine, where one can be told.
    pub machine: Option<Label>,
    /// The server that ran it, as fio's client says. It is the machine, whatever the text around calls one.
    pub host: Option<Label>,
    /// The labels it stands under, outermost first, the machine's left out.
    pub section: Vec<Label>,
    /// The command above it, or the description in its own header.
    pub workload: Option<Arc<Workload>>,
    /// The command right above, where it can't be what ran.
    pub refused: Option<Arc<Workload>>,
    /// The version of the tool, as printed.
    pub version: Option<Arc<str>>,
    /// Which way the bytes of a report went that does not say it: by its command, else by the words nearest above.
    pub direction: Option<Direction>,
    /// One invocation of the tool, counted from one.
    pub run: u32,
    /// Texts near by that name memory or a file system.
    pub nearby: Vec<Span>,
}

/// The labels that hold at one place of the log.
#[derive(Clone, Default)]
struct Labels {
    headings: Vec<(u8, Label)>,
    title: Option<Label>,
    caption: Option<Label>,
    host: Option<Label>,
    sentence: Option<Label>,
}

/// Where a label stands; see the table above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Heading(u8),
    Title,
    Caption,
    Host,
    Sentence,
}

impl Labels {
    fn at(&self, place: Place) -> Option<&Label> {
        match place {
            Place::Heading(level) => self
                .headings
                .iter()
                .find(|(have, _)| *have == level)
                .map(|(_, label)| label),
            Place::Title => self.title.as_ref(),
            Place::Caption => self.caption.as_ref(),
            Place::Host => self.host.as_ref(),
            Place::Sentence => self.sentence.as_ref(),
        }
    }

    /// The way that bytes went by the words of the innermost label that tells.
    fn direction(&self) -> Option<Direction> {
        let headings = self.headings.iter().rev().map(|(_, label)| label);
        let inner = self.caption.iter().chain(&self.title);
        inner
            .chain(headings)
            .chain(&self.sentence)
            .find_map(|label| direction_named(&label.text))
    }

    /// All labels but the one at `machine`, outermost first. Sentences serve where there is nothing better.
    fn section(&self, machine: Option<Place>) -> Vec<Label> {
        let places = self
            .headings
            .iter()
            .map(|&(level, _)| Place::Heading(level))
            .chain([Place::Title, Place::Caption]);
        let mut section: Vec<Label> = places
            .filter(|&place| Some(place) != machine)
            .filter_map(|place| self.at(place).cloned())
            .collect();
        let named = machine.and_then(|place| self.at(place)).is_some();
        if section.is_empty() && !named {
            section.extend(self.sentence.clone());
        }
        section
    }
}

/// One result with the labels that hold there.
struct Found {
    block: usize,
    labels: Arc<Labels>,
    workload: Option<Arc<Workload>>,
    /// The workload above it, though it may be of another run: labels tell apart what stands below one command.
    below: Option<Arc<Workload>>,
    /// The command right above, where it can't be what ran.
    refused: Option<Arc<Workload>>,
    version: Option<Arc<str>>,
    host: Option<Label>,
    run: u32,
    directions: u8,
    /// Of a report that does not say it, by the words nearest above.
    named: Option<Direction>,
    /// Of such a report, as far as it is known.
    direction: Option<Direction>,
}

impl Found {
    /// The context, where labels at `machine` name the machine.
    fn context(self, machine: Option<Place>, ambiguous: bool) -> Context {
        Context {
            machine: machine.and_then(|place| {
                let label = self.labels.at(place)?.clone();
                Some(Label { ambiguous, ..label })
            }),
            section: self.labels.section(machine),
            workload: self.workload,
            refused: self.refused,
            version: self.version,
            host: self.host,
            direction: self.direction,
            run: self.run,
            nearby: Vec::new(),
        }
    }
}

/// A workload that holds, and the level of the heading it stands under.
#[derive(Clone)]
struct Scoped {
    workload: Arc<Workload>,
    level: u8,
    used: bool,
    /// Whether its own report followed it at once, so that a label below names another run.
    direct: bool,
}

/// The contexts of the blocks that are results.
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    /// For each block up to the last result, one more than its place in `found`; zero for a block that is no result.
    places: Vec<u32>,
    found: Vec<Context>,
}

impl Contexts {
    /// The context of the block at this index, if it is a result.
    pub fn get(&self, block: usize) -> Option<&Context> {
        let place = *self.places.get(block)? as usize;
        self.found.get(place.checked_sub(1)?)
    }

    fn get_mut(&mut self, block: usize) -> Option<&mut Context> {
        let place = *self.places.get(block)? as usize;
        self.found.get_mut(place.checked_sub(1)?)
    }

    fn push(&mut self, block: usize, context: Context) {
        self.places.resize(block + 1, 0);
        self.found.push(context);
        self.places[block] = self.found.len() as u32;
    }
}

/// The context of every block that is a result.
pub fn resolve(log: &Log<'_>, blocks: &[Block<'_>]) -> Contexts {
    let mut found = walk(log, blocks);
    attach::settle(log, blocks, &mut found);
    let machine = machine_place(&found);
    let ambiguous = machine.is_some_and(|machine| is_ambiguous(&found, machine));
    let mut contexts = Contexts::default();
    for result in found {
        contexts.push(result.block, result.context(machine, ambiguous));
    }
    for (block, texts) in nearby::find(log, blocks, &contexts) {
        if let Some(context) = contexts.get_mut(block) {
            context.nearby = texts;
        }
    }
    contexts
}

/// The state of the forward pass over the blocks.
#[derive(Default)]
pub(crate) struct Walk<'t> {
    labels: Arc<Labels>,
    command: Option<Scoped>,
    /// The description in a report's own header, and whether a run has used it.
    header: Option<(Arc<Workload>, bool)>,
    version: Option<Stated>,
    /// The version that only words state.
    said: Option<Stated>,
    host: Host<'t>,
    runs: Runs,
    /// A short line is a title if a command follows, and a caption if a result does.
    short: Option<Label>,
    sentence: Option<Label>,
    /// Whether a line that was not read, and is none of a terminal's, stands right above.
    foreign: bool,
    /// How the last short line and the title are written.
    style: Option<Style>,
    title_style: Option<Style>,
    /// The direction of the test that a script said to come, where no label came since.
    announced: Option<Direction>,
    /// Whether the title is the last of several, each above a command without a result.
    titles_listed: bool,
}

/// The forward pass.
fn walk(log: &Log<'_>, blocks: &[Block<'_>]) -> Vec<Found> {
    let mut walk = Walk {
        said: server::in_words(blocks),
        ..Walk::default()
    };
    let results = (0..blocks.len()).filter_map(|index| walk.step(log, blocks, index));
    results.collect()
}

impl<'t> Walk<'t> {
    /// The contexts of the results among these blocks, which go on from those before, where none of them can be a label
    /// or a command: nothing further down has a say in them. They take the place of those in `contexts`.
    pub(crate) fn unlabelled(
        &mut self,
        log: &Log<'_>,
        blocks: &[Block<'t>],
        contexts: &mut Contexts,
    ) {
        contexts.places.clear();
        contexts.found.clear();
        for index in 0..blocks.len() {
            if let Some(found) = self.step(log, blocks, index) {
                let block = found.block;
                contexts.push(block, found.context(None, false));
            }
        }
    }

    /// Takes the next block, and gives what holds there where it is a result.
    fn step(&mut self, log: &Log<'_>, blocks: &[Block<'t>], index: usize) -> Option<Found> {
        let block = &blocks[index];
        let Self {
            labels,
            command,
            header,
            version,
            said,
            host,
            runs,
            short,
            sentence,
            foreign,
            style,
            title_style,
            announced,
            titles_listed,
        } = self;
        let below_foreign = std::mem::take(foreign);
        match block.role() {
            Role::Neutral => {
                *foreign = matches!(block.kind, Kind::Other) && !is_typed(log.get(block.span));
                match &block.kind {
                    Kind::Other => {
                        let said = direction_announced(log.get(block.span));
                        *announced = said.or(*announced);
                    }
                    Kind::Prose(prose) if prose.style == Style::Fence => *announced = None,
                    _ => {}
                }
            }
            Role::Heading(level, text) => {
                *announced = None;
                let labels = Arc::make_mut(labels);
                labels.headings.retain(|&(have, _)| have < level);
                if !text.is_empty() {
                    labels
                        .headings
                        .push((level, label(log, text, LabelSource::Heading)));
                }
                labels.title = None;
                labels.caption = None;
                labels.sentence = None;
                (*short, *sentence) = (None, None);
                host.label = None;
                runs.under_heading();
                command.take_if(|scoped| scoped.level >= level && scoped.used);
            }
            // items below each other list facts, and none of them is the title of what follows
            Role::Short(_, LabelSource::ListItem) if is_listed(blocks, index) => {
                *short = None;
            }
            Role::Short(text, _) if opens_comment(log.get(text)) => {
                let labels = Arc::make_mut(labels);
                (labels.title, labels.caption, labels.sentence) = (None, None, None);
                (*short, *sentence) = (None, None);
            }
            Role::Short(text, by) => {
                if let Some(label) = short_label(log, text, by) {
                    *announced = None;
                    *short = Some(label);
                    *style = style_of(block);
                    if command.as_ref().is_some_and(|scoped| scoped.direct) && style == title_style
                    {
                        // it stands where the title stood
                        Arc::make_mut(labels).title = None;
                    }
                }
            }
            Role::Sentences(text) => {
                let first = log.get(text).lines().next().unwrap_or("");
                if opens_comment(first) {
                    let labels = Arc::make_mut(labels);
                    (labels.title, labels.caption) = (None, None);
                    *short = None;
                }
                if let Some(label) = sentence_label(log, text) {
                    *sentence = Some(label);
                }
            }
            Role::Command {
                workload,
                host: prompt,
            } => {
                *announced = None;
                let labels = Arc::make_mut(labels);
                let listed =
                    command.as_ref().is_some_and(|scoped| !scoped.used) && labels.title.is_some();
                if let Some(short) = short.take() {
                    *titles_listed = listed;
                    *title_style = *style;
                    labels.title = Some(Label {
                        by: match short.by {
                            LabelSource::Caption => LabelSource::Heading,
                            by => by,
                        },
                        ..short
                    });
                }
                labels.caption = None;
                labels.host =
                    prompt.map(|host| label(log, log.span_of(host), LabelSource::Hostname));
                if let Some(sentence) = sentence.take() {
                    labels.sentence = Some(sentence);
                }
                *command = workload.map(|workload| Scoped {
                    workload,
                    level: labels.headings.last().map_or(0, |&(level, _)| level),
                    used: false,
                    direct: false,
                });
                *header = None;
                *version = None;
                *host = Host::default();
                runs.close();
            }
            Role::Header(workload) => {
                *header = Some((workload, false));
                host.label = None;
                runs.close();
            }
            Role::Version(text) => {
                *version = Some(Stated::read(text));
                *host = Host::default();
                runs.close();
            }
            Role::Server {
                host: name,
                version: text,
            } => {
                host.label = None;
                host.versions.insert(name, text);
                *version = text.map(Stated::read);
                runs.close();
            }
            Role::Host(name) if host.is_server(name) => {
                if let Some(text) = host.versions.get(name) {
                    *version = text.map(Stated::read);
                }
                host.label = Some(label(log, log.span_of(name), LabelSource::Hostname));
                host.fresh = true;
                runs.close();
            }
            // `<snip>`
            Role::Host(_) => {}
            Role::Result {
                kind,
                directions,
                label: own,
            } => {
                if let Some(scoped) = command.as_mut().filter(|scoped| !scoped.used) {
                    let labelled = short.is_some() || sentence.is_some();
                    scoped.direct = kind == ResultKind::Whole && !labelled;
                }
                if let Some(short) = short.take() {
                    let labels = Arc::make_mut(labels);
                    labels.caption = Some(short);
                    // of several commands, each with its title, the last one's is not that of all results
                    if std::mem::take(titles_listed) {
                        labels.title = None;
                    }
                } else if below_foreign && block.is_bare_line() && labels.caption.is_some() {
                    // what stands where its caption would is not the one of the result above
                    Arc::make_mut(labels).caption = None;
                } else if command.is_none() && sentence.is_some() {
                    // without commands, a sentence is all that can stand above a result
                    let labels = Arc::make_mut(labels);
                    labels.sentence = sentence.take();
                    // a paragraph between two results speaks of the next one
                    labels.caption = None;
                }
                if let Some(scoped) = command {
                    scoped.used = true;
                }
                // a version that prints otherwise is another run's
                let fits = |stated: &Stated| stated.version.is_none_or(|v| block.fits(v));
                if !version.as_ref().is_none_or(fits) {
                    *version = None;
                    runs.close();
                }
                let (run, first) = runs.enter(kind, block.printed_at());
                let sum = kind == ResultKind::AllClients;
                if first && !sum && !std::mem::take(&mut host.fresh) {
                    host.label = None;
                    header.take_if(|(_, used)| *used);
                }
                if let Some((_, used)) = header {
                    *used = true;
                }
                let workload =
                    describes(command.as_ref(), header.as_ref().map(|(header, _)| header));
                let dd = workload
                    .as_deref()
                    .and_then(Workload::dd)
                    .and_then(Dd::direction);
                let mut labels = Arc::clone(labels);
                if let Some(own) = own.and_then(|own| short_label(log, own, LabelSource::Caption)) {
                    Arc::make_mut(&mut labels).caption = Some(own);
                }
                // dd does not say which way its bytes went
                let named = announced.or_else(|| labels.direction());
                let direction = dd.or(match block.kind {
                    Kind::Dd(_) | Kind::FioTable(_) => named,
                    _ => None,
                });
                let found = Found {
                    block: index,
                    labels,
                    below: workload.clone(),
                    refused: None,
                    workload,
                    version: (version.as_ref())
                        .or_else(|| said.as_ref().filter(|said| is_of_fio(block) && fits(said)))
                        .map(|stated| Arc::clone(&stated.text)),
                    host: host.label.clone().filter(|_| !sum),
                    run,
                    directions: match block.kind {
                        Kind::FioTable(_) => directions,
                        _ => direction.map_or(directions, |one| direction_bits([one])),
                    },
                    named,
                    direction,
                };
                *sentence = None;
                return Some(found);
            }
        }
        None
    }
}

/// Whether fio printed a result.
fn is_of_fio(block: &Block<'_>) -> bool {
    matches!(
        block.kind,
        Kind::FioJob(_)
            | Kind::FioGroup(_)
            | Kind::FioJson(_)
            | Kind::FioTerse(_)
            | Kind::FioLog(_)
    )
}

fn style_of(block: &Block<'_>) -> Option<Style> {
    match &block.kind {
        Kind::Prose(prose) => Some(prose.style),
        _ => None,
    }
}

/// Whether the list item at `index` has another right above or below it.
fn is_listed(blocks: &[Block<'_>], index: usize) -> bool {
    let is_item = |block: Option<&Block<'_>>| {
        block.is_some_and(
            |block| matches!(&block.kind, Kind::Prose(prose) if prose.style == Style::Item),
        )
    };
    is_item(blocks.get(index + 1)) || index > 0 && is_item(blocks.get(index - 1))
}

/// The workload of a result below a command and a header, either of which may be missing.
fn describes(command: Option<&Scoped>, header: Option<&Arc<Workload>>) -> Option<Arc<Workload>> {
    match (command.map(|scoped| &scoped.workload), header) {
        (Some(command), Some(header)) if contradicts(command, header) => Some(Arc::clone(header)),
        (Some(command), _) => Some(Arc::clone(command)),
        (None, header) => header.cloned(),
    }
}

/// Whether some job of the header can be none of the command's. What either does not say contradicts nothing.
fn contradicts(command: &Workload, header: &Workload) -> bool {
    fn differ<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
        matches!((a, b), (Some(a), Some(b)) if a != b)
    }
    // a rounded figure of the header may stand for what was asked for
    let is_rounded = header
        .normalised
        .iter()
        .any(|n| n.starts_with("rounded:bs"));
    let blocks_differ = |a: &Option<Bytes>, b: &Option<Bytes>| match (a, b) {
        (Some(a), Some(b)) if is_rounded => a.0.abs_diff(b.0) > b.0 / 50,
        _ => differ(a, b),
    };
    let unseen = |missing: &String| missing.starts_with("file:");
    if command.missing.iter().any(unseen) {
        return !header.jobs().is_empty();
    }
    header.jobs().iter().any(|ran| {
        !command.jobs().iter().any(|asked| {
            !(differ(&asked.pattern, &ran.pattern)
                || blocks_differ(&asked.block_bytes, &ran.block_bytes)
                || differ(&asked.depth, &ran.depth)
                || differ(&asked.engine, &ran.engine))
        })
    })
}

/// The directions of a result as bits, for [`Role::Result`].
pub fn direction_bits(directions: impl IntoIterator<Item = Direction>) -> u8 {
    directions
        .into_iter()
        .fold(0, |bits, direction| bits | 1 << direction as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machine and section of each record.
    fn labels(text: &str) -> Vec<(Option<String>, Vec<String>)> {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let records = crate::parse(&log).records;
        let text = |label: &Label| label.text.to_string();
        records
            .iter()
            .map(|record| {
                let section = record.section.iter().map(text).collect();
                (record.machine.as_ref().map(text), section)
            })
            .collect()
    }

    const DD: &str = "$ dd if=/dev/zero of=a bs=1M count=100\n104857600 bytes (105 MB, 100 MiB) copied, 2 s, 52.4 MB/s\n\n";

    #[test]
    fn an_empty_heading_ends_the_section_above() {
        let found = labels(&format!("## Disk A\n\n{DD}## Disk B\n\n{DD}## \n\n{DD}"));
        let machines: Vec<Option<&str>> = found
            .iter()
            .map(|(machine, _)| machine.as_deref())
            .collect();
        assert_eq!(machines, [Some("Disk A"), Some("Disk B"), None]);
    }

    #[test]
    fn facts_and_settings_and_questions_are_no_titles() {
        for above in [
            "- 8 cores\n- 64 GB of DDR4\n\n",
            "# hdparm -t /dev/sda\n\n",
            "[sudo] password for me:\n",
        ] {
            assert_eq!(labels(&format!("{above}{DD}")), [(None, vec![])], "{above}");
        }
        // one item by itself may be one, and so may a line set off by signs
        for (above, title) in [
            ("- Disk A\n\n", "Disk A"),
            ("----- Disk A -----\n", "Disk A"),
        ] {
            assert_eq!(
                labels(&format!("{above}{DD}")),
                [(None, vec![title.to_owned()])]
            );
        }
    }

    #[test]
    fn a_read_and_a_write_are_two_tests_and_not_two_machines() {
        let read = DD.replace("if=/dev/zero of=a", "if=a of=/dev/null");
        let named = [
            (None, vec!["Write".to_owned()]),
            (None, vec!["Read".to_owned()]),
        ];
        assert_eq!(labels(&format!("Write:\n\n{DD}Read:\n\n{read}")), named);
        // without commands the titles say which way bytes went
        let report = "104857600 bytes (105 MB, 100 MiB) copied, 2 s, 52.4 MB/s\n\n";
        assert_eq!(
            labels(&format!("Write:\n\n{report}Read:\n\n{report}")),
            named
        );
    }

    #[test]
    fn a_header_says_more_than_a_job_file_that_is_not_shown() {
        let text = "$ fio rr.fio\na: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16\nfio-3.1\nStarting 1 process\n\na: (groupid=0, jobs=1): err= 0: pid=7: Wed Nov 16 00:33:29 2022\n   read: IOPS=125k, BW=490MiB/s (513MB/s)(28.7GiB/60001msec)\n";
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let records = crate::parse(&log).records;
        let workload = records[0].workload.as_ref().unwrap();
        assert_eq!(workload.key, "randread bs=4096 depth=16 jobs=1");
    }

    #[test]
    fn two_places_that_tell_apart_equally_well_are_ambiguous() {
        let report = |name: &str| {
            format!("{name}\n\n104857600 bytes (105 MB, 100 MiB) copied, 2 s, 52.4 MB/s\n\n")
        };
        let post = |runs: [&str; 2]| {
            let runs = runs.map(report).concat();
            format!(
                "$ dd if=/dev/zero of=a bs=1M count=100\n\n## ext4\n\n$ dd if=/dev/zero of=a bs=1M count=100\n\n{runs}## xfs\n\n$ dd if=/dev/zero of=a bs=1M count=100\n\n{runs}"
            )
        };
        let machines = |text: &str| -> Vec<(String, bool)> {
            let log = Log::from_bytes("x", text.as_bytes()).unwrap();
            let records = crate::parse(&log).records;
            let machines = records.into_iter().filter_map(|record| record.machine);
            machines
                .map(|label| (label.text.to_string(), label.ambiguous))
                .collect()
        };
        let crossed = machines(&post(["disk one", "disk two"]));
        assert_eq!(crossed.len(), 4);
        assert!(
            crossed.iter().all(|(_, ambiguous)| *ambiguous),
            "{crossed:?}"
        );
        // the same captions twice tell nothing apart
        let clear = machines(&post(["result", "result"]));
        assert_eq!(clear[0], ("ext4".to_owned(), false));
        assert_eq!(clear[3], ("xfs".to_owned(), false));
    }

    #[test]
    fn a_caption_is_not_that_of_a_line_below_another_text() {
        let line =
            |bw: u32| format!(" write: io=21808MB, bw={bw}KB/s, iops=2715, runt= 64238msec\n\n");
        let text = format!(
            "bssplit=128k/100\n{}```\nbssplit=2k/20:4k/40\n{}```\n",
            line(347641),
            line(347642)
        );
        assert_eq!(
            labels(&text),
            [(None, vec!["bssplit=128k/100".to_owned()]), (None, vec![])]
        );
    }
}
