//! What the text near a result says of the machine: memory sizes and file systems, for `assemble::dd::plausible`.
//!
//! A *text* is a paragraph, a list item, a table row, or a line of preformatted text that names a size of memory or a
//! file system. It stands in the section of the last heading above it.
//!
//! | text | counts for |
//! |---|---|
//! | list item or table row that holds all words of a machine's label | the results of that machine, wherever they stand |
//! | any text | the results of its section and of the sections below it, if all of those are of one machine, or none of them names one |
//!
//! So what a text in front of everything says of one of several machines is given to none of them unless it names it.
//! The labels of a result (its headings among them) are texts of that result; they are in the record already.

use super::Contexts;
use crate::block::{Block, Kind, Role, prose::Style};
use crate::source::{Log, Span};
use std::collections::{HashMap, HashSet};

/// How many texts of a section are kept; descriptions of machines are short.
const MAX_TEXTS: usize = 32;

/// The longest text that is looked at, in bytes.
const MAX_LENGTH: usize = 4000;

/// A text that names something.
struct Text {
    span: Span,
    /// The words of an item or a row, by which it may belong to a machine.
    words: Option<HashSet<String>>,
}

/// The texts below one heading, and the machines of the results there.
#[derive(Default)]
struct Section {
    texts: Vec<usize>,
    machines: Machines,
}

/// The machines that results are of.
#[derive(Default, Clone, PartialEq)]
enum Machines {
    #[default]
    None,
    One(Option<String>),
    Several,
}

impl Machines {
    fn add(&mut self, machine: Option<&str>) {
        *self = match std::mem::take(self) {
            Machines::None => Machines::One(machine.map(str::to_owned)),
            Machines::One(have) if have.as_deref() == machine => Machines::One(have),
            _ => Machines::Several,
        };
    }
}

/// The texts that count for each result, by the index of its block.
pub(super) fn find(
    log: &Log<'_>,
    blocks: &[Block<'_>],
    contexts: &Contexts,
) -> HashMap<usize, Vec<Span>> {
    let mut texts: Vec<Text> = Vec::new();
    let mut sections: Vec<Section> = vec![Section::default()];
    // the open sections, outermost first, with the level of their heading
    let mut open: Vec<(u8, usize)> = vec![(0, 0)];
    let mut results: Vec<(usize, Vec<usize>)> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if let Role::Heading(level, _) = block.role() {
            open.retain(|&(have, _)| have < level.max(1));
            open.push((level.max(1), sections.len()));
            sections.push(Section::default());
        } else if let Some(context) = contexts.get(index) {
            let machine = context.machine.as_ref().map(|label| &*label.text);
            for &(_, section) in &open {
                sections[section].machines.add(machine);
            }
            results.push((index, open.iter().map(|&(_, section)| section).collect()));
        } else if let Some((span, listed)) = text_of(block) {
            let section = open.last().map_or(0, |&(_, section)| section);
            let text = log.get(span);
            if sections[section].texts.len() < MAX_TEXTS && names_something(text) {
                sections[section].texts.push(texts.len());
                texts.push(Text {
                    span,
                    words: listed.then(|| words(text).collect()),
                });
            }
        }
    }
    if texts.is_empty() {
        return HashMap::new();
    }
    let mut of_machine: HashMap<String, Vec<Span>> = HashMap::new();
    let mut near = HashMap::new();
    for (index, inside) in results {
        let mut spans: Vec<Span> = inside
            .iter()
            .map(|&section| &sections[section])
            .filter(|section| matches!(section.machines, Machines::One(_)))
            .flat_map(|section| section.texts.iter().map(|&text| texts[text].span))
            .collect();
        if let Some(label) = contexts.get(index).and_then(|c| c.machine.as_ref()) {
            let named = of_machine
                .entry(label.text.to_string())
                .or_insert_with(|| naming(&texts, &label.text));
            spans.extend(named.iter().copied());
        }
        spans.sort_unstable_by_key(|span| span.start);
        spans.dedup();
        if !spans.is_empty() {
            near.insert(index, spans);
        }
    }
    near
}

/// The items and rows that hold all words of a label.
fn naming(texts: &[Text], label: &str) -> Vec<Span> {
    let label: Vec<String> = words(label).collect();
    let listed = texts
        .iter()
        .filter_map(|text| Some((text.span, text.words.as_ref()?)));
    listed
        .filter(|(_, have)| !label.is_empty() && label.iter().all(|word| have.contains(word)))
        .map(|(span, _)| span)
        .take(MAX_TEXTS)
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// The text of a block that is none of a report, and whether it is an item of a list or a row of a table.
fn text_of(block: &Block<'_>) -> Option<(Span, bool)> {
    let found = match &block.kind {
        Kind::Prose(prose) => match prose.style {
            Style::Item | Style::Row => (prose.span, true),
            Style::Text | Style::Emphasis => (prose.span, false),
            Style::Heading(_) | Style::Fence | Style::Rule => return None,
        },
        Kind::Other => (block.span, false),
        _ => return None,
    };
    (found.0.len() as usize <= MAX_LENGTH).then_some(found)
}

/// A quick test for the words that are looked for.
fn names_something(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["ram", "mem", "zfs", "btrfs", "vdo", "compress", "dedup"]
        .iter()
        .any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use crate::context::resolve;
    use crate::source::Log;

    const DD: &str = "1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB) copied, 2.0 s, 537 MB/s\n";

    /// The texts near each result, in order.
    fn near(text: &str) -> Vec<Vec<String>> {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let blocks = crate::block::blocks(&log);
        let contexts = resolve(&log, &blocks);
        let texts =
            |spans: &[crate::source::Span]| spans.iter().map(|&s| log.get(s).to_owned()).collect();
        (0..blocks.len())
            .filter_map(|block| contexts.get(block))
            .map(|context| texts(&context.nearby))
            .collect()
    }

    #[test]
    fn items_belong_to_the_machine_they_name() {
        let text = format!(
            "- Alpha 5 with 64 GB RAM\n- Beta 6 with 8 GB RAM\n- Gamma with 4 GB RAM\n\n# Alpha 5\n\n$ dd if=a of=b\n{DD}\n# Beta\n\n$ dd if=a of=b\n{DD}"
        );
        assert_eq!(
            near(&text),
            [["Alpha 5 with 64 GB RAM"], ["Beta 6 with 8 GB RAM"]]
        );
    }

    #[test]
    fn a_section_has_what_stands_in_it_and_above() {
        let text = format!(
            "All have 4 GB of memory or more.\n\n# One\n\nIt has 16 GB RAM.\n\n$ dd if=a of=b\n{DD}\n# Two\n\nIts disk runs ZFS.\n\n$ dd if=a of=b\n{DD}"
        );
        // the first line stands above two machines and names neither
        assert_eq!(near(&text), [["It has 16 GB RAM."], ["Its disk runs ZFS."]]);
        let text = format!("The box has 16 GB RAM.\n\n## Write\n\n$ dd if=a of=b\n{DD}");
        assert_eq!(near(&text), [["The box has 16 GB RAM."]]);
    }

    #[test]
    fn texts_that_name_nothing_are_not_near() {
        let text = format!("It is a fast disk.\n\n$ dd if=a of=b\n{DD}");
        assert_eq!(near(&text), [Vec::<String>::new()]);
    }
}
