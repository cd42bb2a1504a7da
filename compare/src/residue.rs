//! What differs and is not shown: the notes that keep a comparison honest.
//!
//! All that was asked of the disk (pattern, block size, depth, ...) and every setting (engine,
//! direct, sync flags, tool, ...) that is not projected on and not ignored belongs to the residue.
//! Where the records of one cell differ in it, the cell gets a note; where a cell differs from the
//! base it is compared with, the note names both sides. Off and unsaid are one; what nobody knows
//! (a tool's version, say) is no difference, but an option that is known of one side and not of
//! the other is named.
//!
//! Place: pure text from sets of settings; [`crate::build`] decides where the marks go.

use crate::frame::Frame;
use crate::keys::{Key, UNKNOWN};

/// How many of the values that one cell pools are told of a key.
const VALUES_SHOWN: usize = 4;

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
    fn texts(&self, sets: &[u32], (index, key): (usize, Key)) -> Vec<&'f str> {
        let mut texts: Vec<&str> = Vec::new();
        for set in sets {
            let text = match (self.text(*set, index), key.name()) {
                // dd has no such options: it is one job that does one thing after the other.
                ("", "iodepth" | "numjobs") => "1",
                (text, _) => text,
            };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    /// The texts of a key that say something.
    fn known(&self, sets: &[u32], place: (usize, Key)) -> Vec<&'f str> {
        let mut texts = self.texts(sets, place);
        texts.retain(|text| is_known(place.1, text));
        texts
    }

    /// What the records of one cell differ in; none if they agree.
    pub fn within(&self, sets: &[u32]) -> Option<String> {
        let parts: Vec<String> = (self.keys.iter())
            .map(|place| (place.1, self.known(sets, *place)))
            .filter(|(_, texts)| texts.len() > 1)
            .map(|(key, texts)| several(&texts, |text| one(key, text)))
            .collect();
        (!parts.is_empty()).then(|| format!("results of one cell differ: {}", parts.join("; ")))
    }

    /// The keys in which two cells differ, with the texts of each side.
    pub fn differences(
        &self,
        sets: &[u32],
        others: &[u32],
    ) -> Vec<(Key, Vec<&'f str>, Vec<&'f str>)> {
        let mut out = Vec::new();
        for (index, key) in self.keys.iter().copied() {
            let place = (index, key);
            let (mine, theirs) = (self.known(sets, place), self.known(others, place));
            let same = mine.len() == theirs.len() && mine.iter().all(|text| theirs.contains(text));
            if !mine.is_empty() && !theirs.is_empty() && !same {
                out.push((key, mine, theirs));
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
        let named = |key: Key, mine: &[&str], theirs: &[&str]| match (mine, theirs) {
            ([mine], [theirs]) => {
                name.contains(&one(key, mine)) && base_name.contains(&one(key, theirs))
            }
            _ => false,
        };
        let mut parts: Vec<String> = (self.differences(sets, base_sets).into_iter())
            .filter(|(key, mine, theirs)| !named(*key, mine, theirs))
            .map(|(key, mine, theirs)| {
                let mine = several(&mine, |text| one(key, text));
                format!("{mine} (there: {})", several(&theirs, value))
            })
            .collect();
        for (index, key) in self.keys.iter().copied() {
            let place = (index, key);
            let (mine, theirs) = (self.texts(sets, place), self.texts(base_sets, place));
            match (mine.as_slice(), theirs.as_slice()) {
                ([UNKNOWN], [theirs]) if !theirs.is_empty() && *theirs != UNKNOWN => {
                    parts.push(format!("{} not said (there: {theirs})", key.name()));
                }
                ([mine], [UNKNOWN]) if !mine.is_empty() && *mine != UNKNOWN => {
                    parts.push(format!("{} (there: not said)", one(key, mine)));
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

/// A value beside its key.
pub fn value(text: &str) -> String {
    if text.is_empty() { "none" } else { text }.to_owned()
}

/// Several values in words, the first few by name.
pub fn several(texts: &[&str], word: impl Fn(&str) -> String) -> String {
    let mut shown: Vec<String> = (texts.iter().take(VALUES_SHOWN).map(|t| word(t))).collect();
    if texts.len() > shown.len() {
        shown.push(format!("{} more", texts.len() - shown.len()));
    }
    shown.join(" and ")
}
