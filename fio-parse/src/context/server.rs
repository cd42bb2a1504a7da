//! What fio says of where and by which version a report was made: banners, and the servers of a client.

use crate::block::{Block, Kind};
use crate::era::Version;
use crate::record::Label;
use std::collections::HashMap;
use std::sync::Arc;

/// The version that a banner stated, as printed and as read.
#[derive(Clone)]
pub(super) struct Stated {
    /// As printed.
    pub text: Arc<str>,
    /// As read, where that is possible.
    pub version: Option<Version>,
}

impl Stated {
    pub fn read(text: &str) -> Self {
        Self {
            text: text.into(),
            version: Version::read(text).map(|(version, _)| version),
        }
    }
}

/// The version that words around the results state, where they state one and no other: `fio version: 3.38`,
/// `Version fio-3.13-37-gabcd`. With `fio-` in front, as a banner has it.
pub(super) fn in_words(blocks: &[Block<'_>]) -> Option<Stated> {
    let mut found: Option<String> = None;
    for block in blocks {
        let Kind::Prose(prose) = &block.kind else {
            continue;
        };
        for text in versions(prose.text) {
            if found.as_ref().is_some_and(|have| *have != text) {
                return None;
            }
            found = Some(text);
        }
    }
    found.map(|text| Stated::read(&text))
}

/// The versions behind the word "version" in a text, where it or the number says that they are fio's.
fn versions(text: &str) -> Vec<String> {
    const LONGEST: usize = 2000;
    let text = text.get(..LONGEST).unwrap_or(text);
    // of the same length in bytes
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (at, word) in lower.match_indices("version") {
        let of_fio = lower[..at].trim_end().ends_with("fio");
        let rest = text[at + word.len()..].trim_start_matches(|c: char| " *_`:=".contains(c));
        let rest = rest.strip_prefix("is ").unwrap_or(rest);
        let number = rest
            .strip_prefix("fio")
            .map(|rest| rest.trim_start_matches(['-', ' ']));
        let number = match (number, of_fio) {
            (Some(number), _) => number,
            (None, true) => rest,
            (None, false) => continue,
        };
        let text = format!("fio-{}", number.trim_start_matches('v'));
        if let Some((_, length)) = Version::read(&text) {
            found.push(text[..length].to_owned());
        }
    }
    found
}

/// The server whose report is read.
#[derive(Default)]
pub(super) struct Host<'t> {
    /// Its name.
    pub label: Option<Label>,
    /// Whether no result of it was seen yet.
    pub fresh: bool,
    /// The versions that servers stated when they were connected.
    pub versions: HashMap<&'t str, Option<&'t str>>,
}

impl Host<'_> {
    /// Whether a name in angles is a server's: one that was connected, or one as no word of a sentence is.
    pub fn is_server(&self, name: &str) -> bool {
        self.versions.contains_key(name)
            || name.contains(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_'))
    }
}
