//! What the names of folders say of the results in them.
//!
//! ```text
//! path  = (field "/" | part "/")* file
//! field = name "=" value            kernel=6.9, machine=nas, date=2026-11-30
//! name  = letter (letter | digit | "_" | "." | "-")*
//! ```
//!
//! This is how Hive, Spark and polars lay out data sets, and how people sort runs by hand. `%` and two
//! hexadecimal digits stand for a byte in a value; an empty value and `__HIVE_DEFAULT_PARTITION__` say
//! nothing.
//!
//! A field whose name is a key fills in what the record leaves open; where both speak and differ, the
//! record counts and a note says so. Fields with other names are the setting `folder`, and each of them is
//! a key `folder.NAME`. `run` and its like ([`REPEATS`]) count repeats and are no setting. Results in
//! folders that differ in a field are no repeats of each other, as a person sorted them apart.
//!
//! Place: between [`crate::evidence`] and [`crate::frame`], so that every form of input is served by the
//! same code. Paths are only looked at, never opened.

use std::borrow::Cow;

use crate::evidence::Evidence;
use crate::frame::Note;
use crate::keys::{self, Key, Role, UNKNOWN};

/// Names that number the repeats of a run.
pub const REPEATS: &[&str] = &[
    "run",
    "rep",
    "repeat",
    "repetition",
    "iter",
    "iteration",
    "round",
    "sample",
    "trial",
];

const NOTHING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The fields of a path, the innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Those of the folders in a path; its last part is a file.
    pub fn of_path(path: &str) -> Fields {
        let mut fields = Fields::default();
        if let Some((folders, _)) = path.rsplit_once(['/', '\\']) {
            for part in folders.split(['/', '\\']).rev() {
                if let Some((name, value)) = field(part)
                    && fields.get(name).is_none()
                {
                    fields.0.push((name.to_owned(), value));
                }
            }
        }
        fields
    }

    /// These, and of the others those with other names.
    pub fn or(mut self, others: &Fields) -> Fields {
        for (name, value) in &others.0 {
            if self.get(name).is_none() {
                self.0.push((name.clone(), value.clone()));
            }
        }
        self
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The settings among the keys that fields speak of.
    pub fn settings(&self) -> impl Iterator<Item = Key> {
        let keys = self.0.iter().filter_map(|(name, _)| keys::plain(name));
        keys.filter(|key| key.role() == Role::Setting)
    }

    /// The fields that are no keys, less those asked for by name, in the order of the path.
    fn others(&self, asked: &[Key]) -> String {
        let others = self.0.iter().rev().filter(|(name, _)| {
            keys::plain(name).is_none()
                && !REPEATS.contains(&name.as_str())
                && !asked.iter().any(|key| key.of_folder() == Some(name))
        });
        let texts: Vec<String> = others
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        texts.join(" ")
    }
}

/// A part of a path that is a field.
fn field(part: &str) -> Option<(&str, String)> {
    let (name, value) = part.split_once('=')?;
    (is_name(name) && !value.is_empty() && value != NOTHING).then(|| (name, decoded(value)))
}

/// Whether a field may be called so.
pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

/// `%3A` is a colon; what is no such escape stays.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = escaped
            .and_then(|digits| str::from_utf8(digits).ok())
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The parts of a path that are neither fields nor the file, and the file's name without its ending.
pub fn plain_parts(path: &str) -> (Vec<&str>, &str) {
    let (folders, file) = path.rsplit_once(['/', '\\']).unwrap_or(("", path));
    let parts = folders.split(['/', '\\']);
    let parts = parts.filter(|part| !part.is_empty() && *part != "." && field(part).is_none());
    (parts.collect(), stem(file))
}

/// The name of a file without its folders and its ending.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or("");
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { name } else { stem }
}

/// A result with what its folders say.
pub struct Placed<'e, E> {
    /// The result.
    pub evidence: &'e E,
    /// The folders' fields.
    pub fields: &'e Fields,
    /// The keys that are asked for.
    pub asked: &'e [Key],
}

impl<E: Evidence> Placed<'_, E> {
    /// What a folder says of a key, in the form in which records are compared.
    fn said(&self, key: Key) -> Option<String> {
        self.fields.get(key.name()).map(|text| key.canonical(text))
    }

    /// Whether the record itself says what it is.
    fn is_open(&self, key: Key, text: &str) -> bool {
        match key {
            Key::MACHINE => self.evidence.is_named_by_input(),
            // A number of the log, which its folder knows better.
            key if key.name() == "run" => true,
            // What a known command does not switch on is off, and its pattern has defaults.
            key if key.role() == Role::Asked || key.is_switch() => text == UNKNOWN,
            _ => text.is_empty() || text == UNKNOWN,
        }
    }
}

impl<E: Evidence> Evidence for Placed<'_, E> {
    fn key(&self, key: Key) -> Cow<'_, str> {
        if let Some(name) = key.of_folder() {
            return self.fields.get(name).unwrap_or("").into();
        }
        if key == Key::FOLDER {
            return self.fields.others(self.asked).into();
        }
        let text = self.evidence.key(key);
        match self.said(key) {
            Some(said) if self.is_open(key, &text) => said.into(),
            _ => text,
        }
    }

    fn asked(&self) -> Cow<'_, str> {
        let asked = self.evidence.asked();
        if !asked.is_empty() {
            return asked;
        }
        let keys = Key::all().filter(|key| key.role() == Role::Asked);
        let texts: Vec<String> = keys
            .filter_map(|key| Some(format!("{}={}", key.name(), self.said(key)?)))
            .collect();
        texts.join(" ").into()
    }

    fn heading(&self) -> Cow<'_, str> {
        let heading = self.evidence.heading();
        match self.fields.get(Key::TEST.name()) {
            Some(test) if heading.is_empty() => test.into(),
            _ => heading,
        }
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = self.evidence.notes();
        for (name, value) in &self.fields.0 {
            let Some(key) = keys::plain(name).filter(|key| *key != Key::TEST) else {
                continue;
            };
            let (text, said) = (self.evidence.key(key), key.canonical(value));
            if !self.is_open(key, &text) && text != said {
                let text = if text.is_empty() { "no" } else { &text };
                notes.push(Note {
                    code: "folder".to_owned(),
                    text: format!("its folder is called {name}={value}, the result says {text}"),
                });
            }
        }
        notes
    }

    fn is_named_by_input(&self) -> bool {
        self.evidence.is_named_by_input() && self.fields.get(Key::MACHINE.name()).is_none()
    }

    fn source(&self) -> Cow<'_, str> {
        self.evidence.source()
    }

    fn group(&self) -> u32 {
        self.evidence.group()
    }

    fn rank(&self) -> u32 {
        self.evidence.rank()
    }

    fn failed(&self) -> bool {
        self.evidence.failed()
    }

    fn dd(&self) -> bool {
        self.evidence.dd()
    }

    fn fallback(&self) -> Cow<'_, str> {
        self.evidence.fallback()
    }

    fn covers(&self) -> Cow<'_, str> {
        self.evidence.covers()
    }

    fn block_and_nominal(&self) -> (Option<f64>, Option<f64>) {
        self.evidence.block_and_nominal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_fields_and_files_are_none() {
        let fields = Fields::of_path("runs/machine=a/kernel=6.9/date=2026-11-30/bs=4k.json");
        assert_eq!(fields.get("machine"), Some("a"));
        assert_eq!(fields.get("date"), Some("2026-11-30"));
        assert_eq!(fields.get("bs"), None);
        assert_eq!(fields.others(&[]), "date=2026-11-30");
        let date = keys::parse("folder.date").unwrap();
        assert_eq!(fields.others(&[date]), "");
        let names: Vec<&str> = fields.settings().map(Key::name).collect();
        assert_eq!(names, ["kernel"]);
    }

    #[test]
    fn the_innermost_folder_counts_and_what_says_nothing_is_left_out() {
        let fields = Fields::of_path("a=1/a=2/b=/c=__HIVE_DEFAULT_PARTITION__/=x/9=y/f");
        assert_eq!(fields, Fields(vec![("a".into(), "2".into())]));
        assert!(Fields::of_path("a=1").is_empty());
        let both = Fields::of_path("a=1/f").or(&Fields::of_path("a=2/b=3/f"));
        assert_eq!((both.get("a"), both.get("b")), (Some("1"), Some("3")));
    }

    #[test]
    fn escapes_stand_for_bytes() {
        for (value, text) in [
            ("10%3A30", "10:30"),
            ("%C3%A9", "é"),
            ("50%", "50%"),
            ("%+1", "%+1"),
            ("%zz%4", "%zz%4"),
        ] {
            assert_eq!(decoded(value), text);
        }
    }

    #[test]
    fn what_is_no_field_may_tell_files_apart() {
        assert_eq!(
            plain_parts("./k/run=1/6.1/out.json"),
            (vec!["k", "6.1"], "out")
        );
        assert_eq!(plain_parts("out.json"), (vec![], "out"));
        assert_eq!(stem("a/.fio"), ".fio");
    }
}
