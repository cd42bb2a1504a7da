//! What differs and is not shown: the notes that keep a comparison honest.
//!
//! Every setting (engine, direct, sync flags, tool, ...) that is not projected on and not ignored
//! belongs to the residue. Where the records of one cell differ in it, the cell gets a note; where
//! a cell differs from the base it is compared with, the note names both sides. Off and unsaid are
//! one; what nobody knows (a tool's version, say) is no difference, but an option that is known of
//! one side and not of the other is named.
//!
//! Place: pure text from sets of settings; [`crate::build`] decides where the marks go.

use crate::frame::Frame;
use crate::keys::{Key, UNKNOWN};

/// The settings that are looked at, with the frame they are codes of.
pub struct Residue<'f> {
    frame: &'f Frame,
    /// Index in a set of settings, key.
    keys: Vec<(usize, Key)>,
}

impl<'f> Residue<'f> {
    /// All settings but those shown or ignored.
    pub fn new(frame: &'f Frame, left_out: &[Key]) -> Residue<'f> {
        Residue {
            frame,
            keys: Key::settings()
                .enumerate()
                .filter(|(_, key)| !left_out.contains(key))
                .collect(),
        }
    }

    fn text(&self, set: u32, index: usize) -> &'f str {
        let code = self
            .frame
            .setting_sets
            .get(set as usize)
            .and_then(|s| s.get(index));
        code.and_then(|c| self.frame.texts.get(*c as usize))
            .map_or("", String::as_str)
    }

    /// The one text of a key over all sets, or all of them.
    fn texts(&self, sets: &[u32], index: usize) -> Vec<&'f str> {
        let mut texts: Vec<&str> = Vec::new();
        for set in sets {
            let text = self.text(*set, index);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    /// What the records of one cell differ in; none if they agree.
    pub fn within(&self, sets: &[u32]) -> Option<String> {
        let mut parts = Vec::new();
        for (index, key) in &self.keys {
            let mut texts = self.texts(sets, *index);
            texts.retain(|t| is_known(*key, t));
            if texts.len() > 1 {
                let shown: Vec<String> = texts.iter().map(|t| one(*key, t)).collect();
                parts.push(shown.join(" and "));
            }
        }
        (!parts.is_empty()).then(|| format!("results of one cell differ: {}", parts.join("; ")))
    }

    /// The keys in which two cells differ, with the text of each side.
    pub fn differences(&self, sets: &[u32], others: &[u32]) -> Vec<(Key, &'f str, &'f str)> {
        let mut out = Vec::new();
        for (index, key) in &self.keys {
            let (mine, theirs) = (self.texts(sets, *index), self.texts(others, *index));
            let ([mine], [theirs]) = (mine.as_slice(), theirs.as_slice()) else {
                continue;
            };
            let known = is_known(*key, mine) && is_known(*key, theirs);
            if mine != theirs && known {
                out.push((*key, *mine, *theirs));
            }
        }
        out
    }

    /// Does no record say anything of the setting at this index of [`Key::settings`]?
    pub fn all_empty(&self, index: usize) -> bool {
        (0..self.frame.setting_sets.len() as u32).all(|set| self.text(set, index).is_empty())
    }

    /// What a cell differs in from its base, beside what both are named after; none if they agree.
    pub fn against(
        &self,
        (sets, name): (&[u32], &str),
        (base_sets, base_name): (&[u32], &str),
    ) -> Option<String> {
        let named = |key: Key, mine: &str, theirs: &str| {
            name.contains(&one(key, mine)) && base_name.contains(&one(key, theirs))
        };
        let mut parts: Vec<String> = (self.differences(sets, base_sets).into_iter())
            .filter(|(key, mine, theirs)| !named(*key, mine, theirs))
            .map(|(key, mine, theirs)| format!("{} (there: {})", one(key, mine), value(theirs)))
            .collect();
        for (index, key) in &self.keys {
            let (mine, theirs) = (self.texts(sets, *index), self.texts(base_sets, *index));
            match (mine.as_slice(), theirs.as_slice()) {
                ([UNKNOWN], [theirs]) if !theirs.is_empty() && *theirs != UNKNOWN => {
                    parts.push(format!("{} not said (there: {theirs})", key.name()));
                }
                ([mine], [UNKNOWN]) if !mine.is_empty() && *mine != UNKNOWN => {
                    parts.push(format!("{} (there: not said)", one(*key, mine)));
                }
                _ => {}
            }
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Does the text say what the setting is? An option that is not there is off.
fn is_known(key: Key, text: &str) -> bool {
    text != UNKNOWN && (key.empty_is_off() || !text.is_empty())
}

/// A setting in words: `oflag=dsync`, `no oflag`, or a tool's name alone.
pub fn one(key: Key, text: &str) -> String {
    match (key.name(), text) {
        (name, "") => format!("no {name}"),
        ("tool" | "folder", text) => text.to_owned(),
        (name, text) => format!("{name}={text}"),
    }
}

fn value(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}
