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
//! | heading | marked as such, with a level | until a heading of its level or above |
//! | title | a short line alone, emphasised, or printed with `echo`, above a command | until the next title or heading |
//! | caption | a short line alone, an emphasised line or a list item between the command (or the last result) and the result | until the next caption, title, heading or command |
//! | host | the host in the command's prompt | until the next command |
//! | sentence | the last sentence of the last paragraph above the command, or above the result where there are no commands | until the next one |
//!
//! **Which place names the machine.** A comparison runs the same test on several machines. So the place is the first,
//! in the order caption, title, headings from the innermost outwards, host, sentence, whose labels differ between two
//! results of the same workload and direction. The other labels are the section, outermost first. Where no place does
//! that, no machine is named, and who reads the record uses the name of the file. Where another place (sentences left
//! aside) tells as many labels apart, and groups the results in another way, either may name the machine: its labels are
//! then marked as ambiguous.
//!
//! **Which workload.** A command holds until the next one; it does not reach out of the heading it stands under, unless
//! nothing has used it yet. For dd, `context::attach` has closer rules. The header lines of a report describe their report
//! alone, and are what fio ran: where they contradict the command above (another pattern, block size, engine or depth),
//! they hold; else the command says more.
//!
//! **Sentences** are shortened to what is named: the words after the first article or possessive (a, an, the, my, our,
//! this, its), where one stands among the first ten words, to the end, less "too", "as well", "now", "again", "next" and
//! the full stop. The whole sentence stays in the label.

mod attach;
mod nearby;
mod runs;

use crate::block::prose::Style;
use crate::block::{Block, Kind, Role};
use crate::record::{Direction, Label, LabelSource};
use crate::source::{Log, Span};
use crate::workload::Workload;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use runs::ResultKind;
use runs::Runs;

/// What holds at one result.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The machine, where one can be told.
    pub machine: Option<Label>,
    /// The labels it stands under, outermost first, the machine's left out.
    pub section: Vec<Label>,
    /// The command above it, or the description in its own header.
    pub workload: Option<Arc<Workload>>,
    /// The command right above, where it can't be what ran.
    pub refused: Option<Arc<Workload>>,
    /// The version of the tool, as printed.
    pub version: Option<Arc<str>>,
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
    run: u32,
    directions: u8,
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
        let context = Context {
            machine: machine.and_then(|place| {
                let label = result.labels.at(place)?.clone();
                Some(Label { ambiguous, ..label })
            }),
            section: result.labels.section(machine),
            workload: result.workload,
            refused: result.refused,
            version: result.version,
            run: result.run,
            nearby: Vec::new(),
        };
        contexts.push(result.block, context);
    }
    for (block, texts) in nearby::find(log, blocks, &contexts) {
        if let Some(context) = contexts.get_mut(block) {
            context.nearby = texts;
        }
    }
    contexts
}

/// The forward pass.
fn walk(log: &Log<'_>, blocks: &[Block<'_>]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut labels = Arc::new(Labels::default());
    let mut command: Option<Scoped> = None;
    // the description in a report's own header, and whether a run has used it
    let mut header: Option<(Arc<Workload>, bool)> = None;
    let mut version: Option<Arc<str>> = None;
    let mut runs = Runs::default();
    // a short line is a title if a command follows, and a caption if a result does
    let mut short: Option<Label> = None;
    let mut sentence: Option<Label> = None;
    // how the last short line and the title are written
    let (mut style, mut title_style) = (None, None);

    for (index, block) in blocks.iter().enumerate() {
        match block.role() {
            Role::Neutral => {}
            Role::Heading(level, text) => {
                let labels = Arc::make_mut(&mut labels);
                labels.headings.retain(|&(have, _)| have < level);
                labels
                    .headings
                    .push((level, label(log, text, LabelSource::Heading)));
                labels.title = None;
                labels.caption = None;
                labels.sentence = None;
                (short, sentence) = (None, None);
                command = command.filter(|scoped| scoped.level < level || !scoped.used);
            }
            Role::Short(text, by) => {
                if let Some(label) = short_label(log, text, by) {
                    short = Some(label);
                    style = style_of(block);
                    if command.as_ref().is_some_and(|scoped| scoped.direct) && style == title_style
                    {
                        // it stands where the title stood
                        Arc::make_mut(&mut labels).title = None;
                    }
                }
            }
            Role::Sentences(text) => {
                if let Some(label) = sentence_label(log, text) {
                    sentence = Some(label);
                }
            }
            Role::Command { workload, host } => {
                let labels = Arc::make_mut(&mut labels);
                if let Some(short) = short.take() {
                    title_style = style;
                    labels.title = Some(Label {
                        by: match short.by {
                            LabelSource::Caption => LabelSource::Heading,
                            by => by,
                        },
                        ..short
                    });
                }
                labels.caption = None;
                labels.host = host.map(|host| label(log, log.span_of(host), LabelSource::Hostname));
                if let Some(sentence) = sentence.take() {
                    labels.sentence = Some(sentence);
                }
                command = workload.map(|workload| Scoped {
                    workload,
                    level: labels.headings.last().map_or(0, |&(level, _)| level),
                    used: false,
                    direct: false,
                });
                header = None;
                version = None;
                runs.close();
            }
            Role::Header(workload) => {
                header = Some((workload, false));
                runs.close();
            }
            Role::Version(text) => {
                version = Some(text.into());
                runs.close();
            }
            Role::Result { kind, directions } => {
                if let Some(scoped) = command.as_mut().filter(|scoped| !scoped.used) {
                    let labelled = short.is_some() || sentence.is_some();
                    scoped.direct = kind == ResultKind::Whole && !labelled;
                }
                if let Some(short) = short.take() {
                    Arc::make_mut(&mut labels).caption = Some(short);
                } else if command.is_none() && sentence.is_some() {
                    // without commands, a sentence is all that can stand above a result
                    Arc::make_mut(&mut labels).sentence = sentence.take();
                }
                if let Some(scoped) = &mut command {
                    scoped.used = true;
                }
                let (run, first) = runs.enter(kind);
                if first {
                    header = header.filter(|(_, used)| !used);
                }
                if let Some((_, used)) = &mut header {
                    *used = true;
                }
                let workload =
                    describes(command.as_ref(), header.as_ref().map(|(header, _)| header));
                found.push(Found {
                    block: index,
                    labels: Arc::clone(&labels),
                    below: workload.clone(),
                    refused: None,
                    workload,
                    version: version.clone(),
                    run,
                    directions,
                });
                sentence = None;
            }
        }
    }
    found
}

fn style_of(block: &Block<'_>) -> Option<Style> {
    match &block.kind {
        Kind::Prose(prose) => Some(prose.style),
        _ => None,
    }
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
    if command
        .missing
        .iter()
        .any(|missing| missing.starts_with("file:"))
    {
        return false;
    }
    header.jobs().iter().any(|ran| {
        !command.jobs().iter().any(|asked| {
            !(differ(&asked.pattern, &ran.pattern)
                || differ(&asked.block_bytes, &ran.block_bytes)
                || differ(&asked.depth, &ran.depth)
                || differ(&asked.engine, &ran.engine))
        })
    })
}

/// The place whose labels tell machines apart; see the module's rules.
fn machine_place(found: &[Found]) -> Option<Place> {
    places(found)
        .into_iter()
        .chain([Place::Sentence])
        .find(|&place| tells_apart(found, place))
}

/// Whether another place than `machine` tells results apart as well and in another way.
fn is_ambiguous(found: &[Found], machine: Place) -> bool {
    if machine == Place::Sentence {
        return false;
    }
    places(found)
        .into_iter()
        .filter(|&place| place != machine)
        .any(|other| {
            let mut pairs = HashSet::new();
            for result in found {
                let (Some(a), Some(b)) = (result.labels.at(machine), result.labels.at(other))
                else {
                    return false;
                };
                pairs.insert((&*a.text, &*b.text));
            }
            let ours: HashSet<_> = pairs.iter().map(|pair| pair.0).collect();
            let others: HashSet<_> = pairs.iter().map(|pair| pair.1).collect();
            ours.len() == others.len() && pairs.len() > ours.len() && tells_apart(found, other)
        })
}

/// The places that may name the machine, the first choice first; sentences, the last, left out.
fn places(found: &[Found]) -> Vec<Place> {
    let mut levels: Vec<u8> = found
        .iter()
        .flat_map(|result| result.labels.headings.iter().map(|&(level, _)| level))
        .collect::<HashSet<_>>()
        .into_iter()
        .collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    [Place::Caption, Place::Title]
        .into_iter()
        .chain(levels.into_iter().map(Place::Heading))
        .chain([Place::Host])
        .collect()
}

/// Whether two results of one workload and direction have different labels at `place`.
fn tells_apart(found: &[Found], place: Place) -> bool {
    let mut first: HashMap<(&str, u8), &str> = HashMap::new();
    found.iter().any(|result| {
        let Some(label) = result.labels.at(place) else {
            return false;
        };
        let workload = result.workload.as_ref().or(result.below.as_ref());
        let key = workload.map_or("", |w| w.key.as_str());
        let seen = first.entry((key, result.directions)).or_insert(&label.text);
        **seen != *label.text
    })
}

/// The directions of a result as bits, for [`Role::Result`].
pub fn direction_bits(directions: impl IntoIterator<Item = Direction>) -> u8 {
    directions
        .into_iter()
        .fold(0, |bits, direction| bits | 1 << direction as u8)
}

/// A label from the text at `span`, with runs of blanks and line ends made one blank.
fn label(log: &Log<'_>, span: Span, by: LabelSource) -> Label {
    Label {
        text: tidy(log.get(span)).into(),
        full: None,
        span: Some(span),
        by,
        ambiguous: false,
    }
}

/// A label from a short line, unless the line is no label: a date or by-line, or without letters.
fn short_label(log: &Log<'_>, span: Span, by: LabelSource) -> Option<Label> {
    let label = label(log, span, by);
    // marks of a comment, and of what is about to come
    let text = label
        .text
        .trim_start_matches(['/', '#', ';', '-', '='])
        .trim_end_matches([':', '.', '…', '-', '='])
        .trim();
    if !text.chars().any(char::is_alphabetic) || is_byline(text) || names_nothing(text) {
        return None;
    }
    Some(Label {
        text: text.into(),
        ..label
    })
}

/// Whether a short line names nothing: it points at another label, or is what a shell says of a job.
fn names_nothing(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "same",
        "same as above",
        "same as before",
        "same again",
        "as above",
        "ditto",
        "idem",
        "again",
        "see above",
        "killed",
        "terminated",
        "finished",
        "aborted",
        "interrupted",
    ];
    let lower = text.to_lowercase();
    // [1]-  Done   dd if=…
    let job = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .is_some_and(|(number, _)| {
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        });
    // 85.1 MB/s
    let rate = text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with("B/s")
        && text.split_whitespace().count() <= 2;
    job || rate || WORDS.contains(&lower.as_str())
}

/// Whether a short line says who wrote the text or when, and not what it is about.
fn is_byline(text: &str) -> bool {
    let bytes = text.as_bytes();
    let clock = bytes.windows(5).any(|w| {
        w[0].is_ascii_digit()
            && w[1].is_ascii_digit()
            && w[2] == b':'
            && w[3].is_ascii_digit()
            && w[4].is_ascii_digit()
    });
    let lower = text.to_lowercase();
    clock
        || [
            "posted ",
            "published ",
            "written by ",
            "by ",
            "updated ",
            "author",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// The last sentence of a paragraph, shortened to what it names.
fn sentence_label(log: &Log<'_>, span: Span) -> Option<Label> {
    let text = log.get(span);
    let start = last_sentence(text);
    let span = Span::new(span.start + start as u32, span.end);
    if span.len() > 400 {
        // not a sentence that names something, but text that was not understood
        return None;
    }
    let full = tidy(log.get(span));
    let named = noun_phrase(&full);
    if named.is_empty() {
        return None;
    }
    Some(Label {
        text: named.into(),
        full: (named != full).then(|| full.as_str().into()),
        span: Some(span),
        by: LabelSource::Sentence,
        ambiguous: false,
    })
}

/// Where the last sentence starts: behind the last ". ", "! " or "? " that is followed by a capital letter.
fn last_sentence(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut start = 0;
    for (at, pair) in bytes.windows(2).enumerate() {
        if matches!(pair[0], b'.' | b'!' | b'?') && pair[1].is_ascii_whitespace() {
            let rest = text[at + 1..].trim_start();
            if rest.chars().next().is_some_and(char::is_uppercase) {
                start = text.len() - rest.len();
            }
        }
    }
    start
}

/// What a sentence names, by the rule at the top of this module; the whole sentence where the rule does not apply.
fn noun_phrase(sentence: &str) -> &str {
    const ARTICLES: [&str; 12] = [
        "a", "an", "the", "my", "our", "this", "its", "his", "her", "their", "your", "another",
    ];
    const TAILS: [&str; 7] = [
        " too", " as well", " now", " again", " next", " instead", " also",
    ];
    let whole = sentence.trim_end_matches(['.', ':', '!', '?', ' ', ',']);
    let mut named = whole;
    let mut offset = 0;
    for word in whole.split(' ').take(10) {
        offset = (offset + word.len() + 1).min(whole.len());
        if ARTICLES.contains(&word.to_ascii_lowercase().as_str()) {
            named = &whole[offset..];
            break;
        }
    }
    loop {
        let shorter = TAILS
            .iter()
            .find_map(|tail| named.strip_suffix(tail))
            .map(|rest| rest.trim_end_matches([',', ' ']));
        match shorter {
            Some(rest) => named = rest,
            None => return named,
        }
    }
}

/// The text with markup of words taken off and blanks folded.
fn tidy(text: &str) -> String {
    text.split_whitespace()
        .map(|word| word.trim_matches(['*', '`']))
        .filter(|word| !word.is_empty() && *word != ">")
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_shortened_to_what_they_name() {
        for (sentence, named) in [
            (
                "Then came the small SSD of a laptop (15-inch).",
                "small SSD of a laptop (15-inch)",
            ),
            ("Ran it on the office desktop too.", "office desktop"),
            (
                "Using a 128GB stick in the desktop:",
                "128GB stick in the desktop",
            ),
            ("Results from server seven", "Results from server seven"),
            ("And then, my old disk as well", "old disk"),
        ] {
            assert_eq!(noun_phrase(sentence), named);
        }
    }

    #[test]
    fn only_the_last_sentence_counts() {
        let text = "It took 3.5 minutes. Fine! Now the USB disk.";
        assert_eq!(&text[last_sentence(text)..], "Now the USB disk.");
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
    fn bylines_are_no_labels() {
        assert!(is_byline("posted on 09:43 PM on Tuesday"));
        assert!(!is_byline("Bytes and bits"));
    }
}
