//! Records as columns: one row a record, one column a key or quantity.
//!
//! The frame is a view built at the last moment and only as wide as the question needs: the keys
//! asked for as codes of a [`Dict`], the quantities that the asked metrics derive from as three
//! columns each (`lo`, `value`, `hi`, base units), the settings and notes of a record as one code
//! for the whole set. Records are pushed one by one and dropped, so a million of them take some
//! hundred megabytes and not gigabytes; builders filled by several threads are joined in order.
//!
//! | column | type | content |
//! |---|---|---|
//! | `source`, `run` | u32 | input and invocation |
//! | `group` | u32 | fio's group; the greatest number where there is none |
//! | `rank` | u32 | scope, the one to prefer first |
//! | `failed` | bool | errors were reported, or the run was cut short |
//! | `settings`, `notes` | u32 | code of the set |
//! | `asked`, `heading` | u32 | code of the text |
//! | `k:NAME` | u32 | code of the key's text |
//! | `dd` | bool | dd measured, whose rate is by definition bytes over seconds |
//! | `basis` | u32 | what the wall time covers |
//! | `block` | f64 | block size where there is one |
//! | `nominal` | f64 | ns that a timed job with a flush at its end was asked to run |
//! | `q:NAME:lo` ... | f64 | a quantity |

use std::collections::HashMap;

use polars::prelude::*;

use crate::bounds::Bounds;
use crate::dict::Dict;
use crate::evidence::Evidence;
use crate::keys::Key;
use crate::metric::{Clock, Statistic};
use crate::residue;
use crate::tests_of::{self, Facts};

/// A quantity of the record that metrics are made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    /// `bytes_per_sec`.
    BytesPerSec,
    /// `bytes`.
    Bytes,
    /// `iops`.
    Iops,
    /// `runtime_ns`.
    Runtime,
    /// `wall_ns`.
    Wall,
    /// `io_phase_ns`.
    IoPhase,
    /// `flush_ns`.
    Flush,
    /// `user_ns` + `system_ns`.
    CpuTime,
    /// `cpu.user_percent` + `cpu.system_percent`, as a share.
    CpuShare,
    /// One figure of a latency.
    Latency(Clock, Statistic),
}

impl Base {
    /// The name of its columns, without the ending.
    pub fn column(self) -> String {
        match self {
            Base::Latency(clock, statistic) => {
                format!("q:{}", crate::metric::Metric::Latency(clock, statistic))
            }
            other => format!("q:{other:?}"),
        }
    }
}

/// A remark that travels with a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// Its stable code.
    pub code: String,
    /// The sentence.
    pub text: String,
}

/// Which columns a frame gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Keys to project on.
    pub keys: Vec<Key>,
    /// Quantities to derive from.
    pub bases: Vec<Base>,
    /// Settings whose differences do not tell two results of a machine apart.
    pub ignored: Vec<Key>,
}

/// Collects records into columns.
#[derive(Debug)]
pub struct Builder {
    wanted: Wanted,
    sources: Dict<String>,
    texts: Dict<String>,
    facts: Dict<Facts>,
    notes: Dict<Note>,
    note_sets: Dict<Vec<u32>>,
    setting_sets: Dict<Vec<u32>>,
    key_texts: Vec<Dict<String>>,
    rows: Rows,
}

#[derive(Clone, Debug, Default)]
struct Rows {
    source: Vec<u32>,
    run: Vec<u32>,
    group: Vec<u32>,
    rank: Vec<u32>,
    failed: Vec<bool>,
    settings: Vec<u32>,
    notes: Vec<u32>,
    facts: Vec<u32>,
    basis: Vec<u32>,
    dd: Vec<bool>,
    block: Vec<Option<f64>>,
    nominal: Vec<Option<f64>>,
    keys: Vec<Vec<u32>>,
    bases: Vec<[Vec<Option<f64>>; 3]>,
}

/// What a record says beside its run number and figures, as codes of the builder that made it.
#[derive(Clone, Debug)]
pub struct Context {
    source: u32,
    group: u32,
    rank: u32,
    failed: bool,
    dd: bool,
    facts: u32,
    settings: u32,
    notes: u32,
    basis: u32,
    block: Option<f64>,
    nominal: Option<f64>,
    keys: Vec<u32>,
}

/// The columns and what their codes mean.
#[derive(Debug)]
pub struct Frame {
    /// One row a record.
    pub rows: DataFrame,
    /// The names of the inputs by code.
    pub sources: Vec<String>,
    /// The texts of each wanted key's codes, in the order of [`Wanted::keys`].
    pub key_texts: Vec<(Key, Vec<String>)>,
    /// The sets of notes by code; each a list of indexes into `notes`.
    pub note_sets: Vec<Vec<u32>>,
    /// All notes.
    pub notes: Vec<Note>,
    /// The sets of settings by code; each a list of text codes in the order of
    /// [`Key::settings`].
    pub setting_sets: Vec<Vec<u32>>,
    /// Texts of settings and bases.
    pub texts: Vec<String>,
}

impl Builder {
    /// An empty builder for these columns.
    pub fn new(wanted: Wanted) -> Builder {
        let rows = Rows {
            keys: vec![Vec::new(); wanted.keys.len()],
            bases: vec![Default::default(); wanted.bases.len()],
            ..Rows::default()
        };
        Builder {
            key_texts: vec![Dict::default(); wanted.keys.len()],
            wanted,
            sources: Dict::default(),
            texts: Dict::default(),
            facts: Dict::default(),
            notes: Dict::default(),
            note_sets: Dict::default(),
            setting_sets: Dict::default(),
            rows,
        }
    }

    /// How many records it holds.
    pub fn len(&self) -> usize {
        self.rows.source.len()
    }

    /// True if it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a record.
    pub fn push(&mut self, record: &impl Evidence) {
        let context = self.context(record);
        self.push_row(&context, record.run(), |base| record.base(base));
    }

    /// Everything of a record but its run number and figures, as codes of this builder.
    pub fn context(&mut self, record: &impl Evidence) -> Context {
        let source = self.sources.code(&*record.source());
        let facts = Facts {
            asked: self.texts.code(&*record.asked()),
            heading: self.texts.code(&*record.heading()),
            fallback: self.texts.code(&*record.fallback()),
            source,
        };
        let settings: Vec<u32> = Key::settings()
            .map(|key| self.texts.code(&*record.key(key)))
            .collect();
        let mut notes: Vec<u32> = (record.notes().iter())
            .map(|n| self.notes.code(n))
            .collect();
        notes.dedup();
        let (block, nominal) = record.block_and_nominal();
        Context {
            source,
            group: record.group(),
            rank: record.rank(),
            failed: record.failed(),
            dd: record.dd(),
            facts: self.facts.code(&facts),
            settings: self.setting_sets.code(settings.as_slice()),
            notes: self.note_sets.code(notes.as_slice()),
            basis: self.texts.code(&*record.covers()),
            block,
            nominal,
            keys: (self.wanted.keys.iter().zip(&mut self.key_texts))
                .map(|(key, texts)| texts.code(&*record.key(*key)))
                .collect(),
        }
    }

    /// Adds a record of a known context.
    pub fn push_row(&mut self, context: &Context, run: u32, base: impl Fn(Base) -> Option<Bounds>) {
        let rows = &mut self.rows;
        rows.source.push(context.source);
        rows.run.push(run);
        rows.group.push(context.group);
        rows.rank.push(context.rank);
        rows.failed.push(context.failed);
        rows.dd.push(context.dd);
        rows.facts.push(context.facts);
        rows.settings.push(context.settings);
        rows.notes.push(context.notes);
        rows.basis.push(context.basis);
        rows.block.push(context.block);
        rows.nominal.push(context.nominal);
        for (column, code) in rows.keys.iter_mut().zip(&context.keys) {
            column.push(*code);
        }
        for (wanted, [lo, value, hi]) in self.wanted.bases.iter().zip(&mut rows.bases) {
            let read = base(*wanted);
            lo.push(read.map(Bounds::lo));
            value.push(read.map(Bounds::value));
            hi.push(read.map(Bounds::hi));
        }
    }

    /// Appends the records of another builder for the same columns.
    pub fn absorb(&mut self, other: Builder) {
        debug_assert_eq!(self.wanted, other.wanted);
        if self.is_empty() {
            *self = other;
            return;
        }
        let sources = self.sources.absorb(other.sources);
        let texts = self.texts.absorb(other.texts);
        let through = |map: &[u32], codes: &[u32]| -> Vec<u32> {
            codes.iter().map(|c| map[*c as usize]).collect()
        };
        let facts: Vec<u32> = (other.facts.values().iter())
            .map(|f| {
                self.facts.code(&Facts {
                    asked: texts[f.asked as usize],
                    heading: texts[f.heading as usize],
                    fallback: texts[f.fallback as usize],
                    source: sources[f.source as usize],
                })
            })
            .collect();
        let notes = self.notes.absorb(other.notes);
        let note_sets: Vec<u32> = (other.note_sets.values().iter())
            .map(|set| self.note_sets.code(through(&notes, set).as_slice()))
            .collect();
        let setting_sets: Vec<u32> = (other.setting_sets.values().iter())
            .map(|set| self.setting_sets.code(through(&texts, set).as_slice()))
            .collect();
        let rows = other.rows;
        self.rows.source.extend(through(&sources, &rows.source));
        self.rows.run.extend(rows.run);
        self.rows.group.extend(rows.group);
        self.rows.rank.extend(rows.rank);
        self.rows.failed.extend(rows.failed);
        self.rows.dd.extend(rows.dd);
        self.rows
            .settings
            .extend(through(&setting_sets, &rows.settings));
        self.rows.notes.extend(through(&note_sets, &rows.notes));
        self.rows.facts.extend(through(&facts, &rows.facts));
        self.rows.basis.extend(through(&texts, &rows.basis));
        self.rows.block.extend(rows.block);
        self.rows.nominal.extend(rows.nominal);
        for (i, dict) in other.key_texts.into_iter().enumerate() {
            let map = self.key_texts[i].absorb(dict);
            self.rows.keys[i].extend(through(&map, &rows.keys[i]));
        }
        for (mine, theirs) in self.rows.bases.iter_mut().zip(rows.bases) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                mine.extend(theirs);
            }
        }
    }

    /// Builds the frame; here the tests get their names.
    pub fn finish(self) -> PolarsResult<Frame> {
        let texts = self.texts;
        let text = |code: u32| texts.get(code).map_or("", String::as_str);
        let names = tests_of::resolve(self.facts.values(), &text);
        let mut tests: Dict<String> = Dict::default();
        let test_codes: Vec<u32> = names.iter().map(|n| tests.code(n.as_str())).collect();

        let rows = self.rows;
        let settings = rows.settings.clone();
        let mut columns = vec![
            Column::new("source".into(), rows.source),
            Column::new("run".into(), rows.run),
            Column::new("group".into(), rows.group),
            Column::new("rank".into(), rows.rank),
            Column::new("failed".into(), rows.failed),
            Column::new("dd".into(), rows.dd),
            Column::new("settings".into(), rows.settings),
            Column::new("notes".into(), rows.notes),
            Column::new("basis".into(), rows.basis),
            Column::new("block".into(), rows.block),
            Column::new("nominal".into(), rows.nominal),
        ];
        let fact = |of: fn(&Facts) -> u32| -> Vec<u32> {
            (rows.facts.iter())
                .map(|f| self.facts.get(*f).map_or(0, of))
                .collect()
        };
        columns.push(Column::new("asked".into(), fact(|f| f.asked)));
        columns.push(Column::new("heading".into(), fact(|f| f.heading)));
        let mut key_texts = Vec::new();
        for ((key, codes), dict) in self.wanted.keys.iter().zip(rows.keys).zip(self.key_texts) {
            let name = key_column(*key);
            let (codes, values) = if *key == Key::TEST {
                let of_row = rows.facts.iter().map(|f| test_codes[*f as usize]);
                (of_row.collect(), tests.values().to_vec())
            } else if *key == Key::MACHINE {
                let tests: Vec<u32> = rows.facts.iter().map(|f| test_codes[*f as usize]).collect();
                let sets = self.setting_sets.values();
                let told_apart = told_apart(&self.wanted, &settings, sets, &tests, &codes);
                name_apart(&codes, &settings, &dict, &told_apart, sets, &text)
            } else {
                (codes, dict.values().to_vec())
            };
            columns.push(Column::new(name.into(), codes));
            key_texts.push((*key, values));
        }
        for (base, [lo, value, hi]) in self.wanted.bases.iter().zip(rows.bases) {
            let name = base.column();
            for (ending, values) in [("lo", lo), ("value", value), ("hi", hi)] {
                columns.push(Column::new(format!("{name}:{ending}").into(), values));
            }
        }
        Ok(Frame {
            rows: DataFrame::new_infer_height(columns)?,
            sources: self.sources.values().to_vec(),
            key_texts,
            note_sets: self.note_sets.values().to_vec(),
            notes: self.notes.values().to_vec(),
            setting_sets: self.setting_sets.values().to_vec(),
            texts: texts.values().to_vec(),
        })
    }
}

/// The settings, as index and key, in which the results of one machine and test differ.
type Apart = HashMap<(u32, u32), Vec<(usize, Key)>>;

/// Repeats of a test on a machine were asked for alike. Where one machine ran a test in several
/// ways (with and without `oflag=dsync`, say), these are no repeats: gives, for each test and
/// machine, the settings that were asked for and differ. Settings that are projected on or
/// ignored tell nothing apart, nor does what was found and not asked for (versions, systems).
fn told_apart(
    wanted: &Wanted,
    settings: &[u32],
    sets: &[Vec<u32>],
    tests: &[u32],
    machines: &[u32],
) -> (Vec<u32>, Apart) {
    let keys: Vec<(usize, Key)> = (Key::settings().enumerate())
        .filter(|(_, k)| k.empty_is_off())
        .filter(|(_, k)| !wanted.keys.contains(k) && !wanted.ignored.contains(k))
        .collect();
    let mut seen: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    for ((test, machine), set) in tests.iter().zip(machines).zip(settings) {
        let list = seen.entry((*test, *machine)).or_default();
        if !list.contains(set) {
            list.push(*set);
        }
    }
    let mut apart = Apart::new();
    for (cell, list) in seen.into_iter().filter(|(_, list)| list.len() > 1) {
        let of = |set: &u32, index: usize| sets[*set as usize][index];
        let differ = keys
            .iter()
            .copied()
            .filter(|(i, _)| list.iter().any(|s| of(s, *i) != of(&list[0], *i)));
        let differ: Vec<(usize, Key)> = differ.collect();
        if !differ.is_empty() {
            apart.insert(cell, differ);
        }
    }
    (tests.to_vec(), apart)
}

/// New codes and names of the machines: those told apart get the differing settings behind their
/// name. Order of first appearance is kept.
fn name_apart<'t>(
    machines: &[u32],
    settings: &[u32],
    names: &Dict<String>,
    (tests, apart): &(Vec<u32>, Apart),
    sets: &[Vec<u32>],
    text: &impl Fn(u32) -> &'t str,
) -> (Vec<u32>, Vec<String>) {
    if apart.is_empty() {
        return (machines.to_vec(), names.values().to_vec());
    }
    let mut dict: Dict<String> = Dict::default();
    let mut known: HashMap<(u32, u32, u32), u32> = HashMap::new();
    let codes = (machines.iter().zip(tests).zip(settings))
        .map(|((machine, test), set)| {
            *known.entry((*machine, *test, *set)).or_insert_with(|| {
                let name = names.get(*machine).map_or("", String::as_str);
                match apart.get(&(*test, *machine)) {
                    None => dict.code(name),
                    Some(keys) => {
                        let words: Vec<String> = (keys.iter())
                            .map(|(i, key)| residue::one(*key, text(sets[*set as usize][*i])))
                            .collect();
                        dict.code(format!("{name} ({})", words.join(", ")).as_str())
                    }
                }
            })
        })
        .collect();
    (codes, dict.values().to_vec())
}

/// The column of a key.
pub fn key_column(key: Key) -> String {
    format!("k:{}", key.name())
}
