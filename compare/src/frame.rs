//! Records as columns: one row a record, one column a quantity; all else is a context.
//!
//! The frame is a view built at the last moment and only as wide as the question needs. Records
//! repeat what they say of themselves (the same machine, test, settings, remarks), so everything
//! but the run number and the figures is kept once for all records that share it, as a *context*;
//! a row holds its code, the run, and the quantities that the asked metrics derive from as three
//! columns each (`lo`, `value`, `hi`, base units). Records are pushed one by one and dropped, so
//! ten million of them fit in memory; builders filled by several threads are joined in order.
//!
//! Rows:
//!
//! | column | type | content |
//! |---|---|---|
//! | `context` | u32 | row of the contexts |
//! | `run` | u32 | invocation within the source |
//! | `q:NAME:lo` ... | f64 | a quantity |
//!
//! Contexts, in order of first appearance:
//!
//! | column | type | content |
//! |---|---|---|
//! | `source` | u32 | input |
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
//! | `summed` | u32 | how many jobs it is the sum of ([`Builder::sum_jobs`]); 0 if it is as recorded |
//! | `has` | u32 | which of [`absent::KNOWN`] its records have, a bit each |

mod apart;
mod called;
mod figures;
mod finish;
mod groups;
mod jobs;

use std::borrow::Cow;
use std::collections::HashMap;

use fio_parse::Record;
use polars::prelude::*;

pub(crate) use called::told_by;
pub(crate) use figures::Figures;
pub(crate) use jobs::follows;

use crate::absent;
use crate::bounds::Bounds;
use crate::derive;
use crate::dict::Dict;
use crate::evidence::{self, Evidence};
use crate::folders::Fields;
use crate::keys::Key;
use crate::metric::{Clock, Metric, Sampled, Statistic};
use crate::tests_of::Facts;
use crate::visible::visible;

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
    /// One figure of samples over time.
    Samples(Sampled, Statistic),
    /// One figure of a latency.
    Latency(Clock, Statistic),
    /// How many I/Os a latency is made from.
    Count(Clock),
}

impl Base {
    /// The name of its columns, without the ending.
    pub fn column(self) -> String {
        match self {
            Base::Samples(sampled, statistic) => {
                format!("q:{}", Metric::Samples(sampled, statistic))
            }
            Base::Latency(clock, statistic) => {
                format!("q:{}", Metric::Latency(clock, statistic))
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
    /// The metrics that these are for; where none is named, all figures are kept.
    pub metrics: Vec<Metric>,
    /// Those to fall back on where no record has a bandwidth; looked at in records without one only.
    pub spare: Vec<Base>,
    /// Settings whose differences do not tell two results of a machine apart.
    pub ignored: Vec<Key>,
    /// Tests are told apart in the answer, and not only counted.
    pub by_tests: bool,
}

impl Wanted {
    /// All quantities of which there are columns.
    pub fn all_bases(&self) -> impl Iterator<Item = Base> {
        self.bases.iter().chain(&self.spare).copied()
    }

    /// Which of the figures of a record need not be kept, as `metrics` are what they are for.
    fn rules(&self) -> Vec<Rule> {
        if self.all_bases().count() >= u64::BITS as usize {
            return Vec::new();
        }
        let bit = |base: Base| {
            let at = self.bases.iter().position(|b| *b == base);
            at.map_or(0, |at| 1 << at)
        };
        (self.metrics.iter())
            .map(|metric| Rule {
                stated: derive::stated_first(*metric).map_or(0, bit),
                narrowed: *metric == Metric::Bandwidth,
                parts: derive::bases(*metric).into_iter().map(bit).sum(),
                all_or_none: *metric == Metric::WallBandwidth,
            })
            .collect()
    }
}

/// Which figures a metric takes; quantities are bits, in the order of [`Wanted::bases`].
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The one that is the metric where it stands.
    stated: u64,
    /// Unless dd measured: then it is narrowed by the others.
    narrowed: bool,
    /// Those that it follows from elsewhere.
    parts: u64,
    /// It follows from all of them or not at all.
    all_or_none: bool,
}

impl Rule {
    fn takes(self, there: u64, dd: bool) -> u64 {
        if there & self.stated != 0 && !(self.narrowed && dd) {
            self.stated
        } else if self.all_or_none && there & self.parts != self.parts {
            0
        } else {
            self.parts
        }
    }
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
    contexts: Dict<Context>,
    /// For each context, which of [`absent::KNOWN`] its records have.
    has: Vec<u32>,
    context: Vec<u32>,
    run: Vec<u32>,
    bases: Vec<Figures>,
    rules: Vec<Rule>,
    /// Of each source, the greatest number of a run; kept by [`Builder::absorb_input`].
    last_runs: HashMap<String, u32>,
    warmups: usize,
    /// What the records that the filter dropped have for the keys that it asks for.
    dropped: Vec<(Key, Dict<String>)>,
    /// The settings that folders speak of, by which a person sorted results apart.
    sorted_by: Vec<Key>,
}

/// What a record says beside its run number and figures, as codes of the builder that made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Context {
    source: u32,
    group: u32,
    rank: u32,
    failed: bool,
    dd: bool,
    facts: u32,
    settings: u32,
    notes: u32,
    basis: u32,
    /// The name of the job, with its host.
    job: u32,
    /// For one job's record, how many of its name were started; 0 if that is not known.
    jobs: u32,
    /// How many jobs it is the sum of, if that is computed.
    summed: u32,
    block: Option<Bits>,
    nominal: Option<Bits>,
    /// The machine is called after the input.
    by_input: bool,
    keys: Vec<u32>,
}

/// A number that is equal where its bits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Bits(u64);

impl Bits {
    fn number(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The columns and what their codes mean.
#[derive(Debug)]
pub struct Frame {
    /// One row a record.
    pub rows: DataFrame,
    /// What records share, one row a context.
    pub contexts: DataFrame,
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

/// Which of [`absent::KNOWN`] there are, a bit each; what can be derived is looked at only where
/// no bandwidth stands.
pub fn known_bits(there: impl Fn(Base) -> bool) -> u32 {
    let known = match there(Base::BytesPerSec) {
        true => &absent::KNOWN[..absent::PLAIN],
        false => absent::KNOWN,
    };
    (known.iter().enumerate())
        .filter(|(_, (quantity, _))| there(*quantity))
        .fold(0, |bits, (bit, _)| bits | 1 << bit)
}

impl Builder {
    /// An empty builder for these columns.
    pub fn new(wanted: Wanted) -> Builder {
        Builder {
            key_texts: vec![Dict::default(); wanted.keys.len()],
            bases: vec![Figures::default(); wanted.all_bases().count()],
            rules: wanted.rules(),
            wanted,
            sources: Dict::default(),
            texts: Dict::default(),
            facts: Dict::default(),
            notes: Dict::default(),
            note_sets: Dict::default(),
            setting_sets: Dict::default(),
            contexts: Dict::default(),
            has: Vec::new(),
            context: Vec::new(),
            run: Vec::new(),
            last_runs: HashMap::new(),
            warmups: 0,
            dropped: Vec::new(),
            sorted_by: Vec::new(),
        }
    }

    /// Minds what the folders of a record that counts say.
    pub fn heed(&mut self, fields: &Fields) {
        self.sort_by(fields.settings());
    }

    fn sort_by(&mut self, keys: impl IntoIterator<Item = Key>) {
        for key in keys {
            if !self.sorted_by.contains(&key) {
                self.sorted_by.push(key);
            }
        }
    }

    /// How many records it holds.
    pub fn len(&self) -> usize {
        self.context.len()
    }

    /// True if it holds none.
    pub fn is_empty(&self) -> bool {
        self.context.is_empty()
    }

    /// Adds a record of a known context.
    pub fn push(&mut self, context: u32, record: &Record) {
        let mut figures: Vec<Option<Bounds>> = (self.wanted.bases.iter())
            .map(|base| evidence::base(record, *base))
            .collect();
        if evidence::base(record, Base::BytesPerSec).is_none() {
            let spare = self.wanted.spare.iter();
            figures.extend(spare.map(|base| evidence::base(record, *base)));
        }
        let has = known_bits(|base| evidence::base(record, base).is_some());
        self.push_row(context, record.run, &figures, has);
    }

    /// Counts a run that only warms up and is left out.
    pub fn leave_out_warmup(&mut self) {
        self.warmups += 1;
    }

    /// Remembers what a record that the filter drops has for the keys that the filter asks for.
    pub fn drop_filtered<'t>(&mut self, keys: Vec<Key>, text: &impl Fn(Key) -> Cow<'t, str>) {
        for key in keys {
            self.dropped_texts(key).code(&*visible(text(key)));
        }
    }

    fn dropped_texts(&mut self, key: Key) -> &mut Dict<String> {
        let known = self.dropped.iter().position(|(k, _)| *k == key);
        let at = known.unwrap_or_else(|| {
            self.dropped.push((key, Dict::default()));
            self.dropped.len() - 1
        });
        &mut self.dropped[at].1
    }

    /// What the records that the filter dropped have for the keys that it asks for.
    pub fn dropped(&self) -> impl Iterator<Item = (Key, &[String])> {
        self.dropped
            .iter()
            .map(|(key, texts)| (*key, texts.values()))
    }

    /// How many runs were left out because they only warm up.
    pub fn warmups(&self) -> usize {
        self.warmups
    }

    /// Everything of a record but its run number and figures, as a code of this builder.
    pub fn context(&mut self, record: &impl Evidence) -> u32 {
        let source = self.sources.code(&*visible(record.source()));
        let facts = Facts {
            asked: self.texts.code(&*visible(record.asked())),
            heading: self.texts.code(&*visible(record.heading())),
            fallback: self.texts.code(&*visible(record.fallback())),
            source,
        };
        let settings: Vec<u32> = Key::settings()
            .map(|key| self.texts.code(&*visible(record.key(key))))
            .collect();
        let mut notes: Vec<u32> = (record.notes().into_iter())
            .map(|note| {
                let text = visible(note.text.into()).into_owned();
                self.notes.code(&Note { text, ..note })
            })
            .collect();
        notes.dedup();
        let (block, nominal) = record.block_and_nominal();
        let bits = |number: f64| Bits(number.to_bits());
        let context = Context {
            source,
            group: record.group(),
            rank: record.rank(),
            failed: record.failed(),
            dd: record.dd(),
            facts: self.facts.code(&facts),
            settings: self.setting_sets.code(settings.as_slice()),
            notes: self.note_sets.code(notes.as_slice()),
            basis: self.texts.code(&*visible(record.covers())),
            job: self.texts.code(record.job().as_str()),
            jobs: record.started(),
            summed: 0,
            block: block.map(bits),
            nominal: nominal.map(bits),
            by_input: record.is_named_by_input(),
            keys: (self.wanted.keys.iter().zip(&mut self.key_texts))
                .map(|(key, texts)| texts.code(&*visible(record.key(*key))))
                .collect(),
        };
        self.context_code(&context)
    }

    fn context_code(&mut self, context: &Context) -> u32 {
        let code = self.contexts.code(context);
        self.has.resize(self.contexts.len(), 0);
        code
    }

    /// Adds a record of a known context: a figure for each of the wanted bases (those to spare may
    /// be left out), and the bits of [`known_bits`].
    pub fn push_row(&mut self, context: u32, run: u32, figures: &[Option<Bounds>], has: u32) {
        let before = self.len();
        self.context.push(context);
        self.run.push(run);
        self.has[context as usize] |= has;
        let kept = self.kept(context, figures);
        for (at, column) in self.bases.iter_mut().enumerate() {
            let figure = figures.get(at).copied().flatten();
            let is_kept = || kept.is_none_or(|kept| kept & (1 << at) != 0);
            if let Some(figure) = figure.filter(|_| is_kept()) {
                column.fill_up_to(before);
                column.push(figure);
            }
        }
    }

    /// Those of the figures that some metric takes, a bit each; all if none is given, or where jobs may be summed.
    fn kept(&self, context: u32, figures: &[Option<Bounds>]) -> Option<u64> {
        if self.rules.is_empty() {
            return None;
        }
        let there = (figures.iter().enumerate())
            .filter(|(_, figure)| figure.is_some())
            .fold(0, |bits, (at, _)| bits | 1 << at);
        let of = self.contexts.get(context);
        if of.is_some_and(|c| c.jobs > 0) {
            return None;
        }
        let dd = of.is_some_and(|c| c.dd);
        let spare = u64::MAX << self.wanted.bases.len();
        Some((self.rules.iter()).fold(spare, |kept, rule| kept | rule.takes(there, dd)))
    }

    /// Appends the records of a further input. Runs of two inputs are two runs, even where both have
    /// the same number and say to come from the same place, as all of fio-replay do: there those of
    /// the second count on from those of the first.
    pub fn absorb_input(&mut self, mut other: Builder) {
        let sources: Vec<u32> = (other.contexts.values().iter())
            .map(|context| context.source)
            .collect();
        let names = other.sources.values();
        let before: Vec<u32> = (names.iter())
            .map(|name| self.last_runs.get(name).copied().unwrap_or(0))
            .collect();
        let mut last = before.clone();
        for (context, run) in other.context.iter().zip(&mut other.run) {
            let source = sources[*context as usize] as usize;
            *run = run.saturating_add(before[source]);
            last[source] = last[source].max(*run);
        }
        let mut last_runs = std::mem::take(&mut self.last_runs);
        last_runs.extend(names.iter().cloned().zip(last));
        self.absorb(other);
        self.last_runs = last_runs;
    }

    /// Appends the records of another builder for the same columns.
    pub fn absorb(&mut self, other: Builder) {
        debug_assert_eq!(self.wanted, other.wanted);
        // The empty one is the cheaper to move over.
        let other = if self.is_empty() {
            std::mem::replace(self, other)
        } else {
            other
        };
        self.warmups += other.warmups;
        self.sort_by(other.sorted_by);
        for (key, texts) in other.dropped {
            self.dropped_texts(key).absorb(texts);
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
        let keys: Vec<Vec<u32>> = (self.key_texts.iter_mut().zip(other.key_texts))
            .map(|(mine, theirs)| mine.absorb(theirs))
            .collect();
        let contexts: Vec<u32> = (other.contexts.values().iter().zip(&other.has))
            .map(|(c, has)| {
                let codes = c.keys.iter().zip(&keys);
                let code = self.context_code(&Context {
                    source: sources[c.source as usize],
                    facts: facts[c.facts as usize],
                    settings: setting_sets[c.settings as usize],
                    notes: note_sets[c.notes as usize],
                    basis: texts[c.basis as usize],
                    job: texts[c.job as usize],
                    keys: codes.map(|(code, map)| map[*code as usize]).collect(),
                    ..*c
                });
                self.has[code as usize] |= has;
                code
            })
            .collect();
        let before = self.len();
        self.context
            .extend(other.context.iter().map(|c| contexts[*c as usize]));
        self.run.extend(other.run);
        for (mine, theirs) in self.bases.iter_mut().zip(other.bases) {
            if !theirs.is_empty() {
                mine.fill_up_to(before);
                mine.append(theirs);
            }
        }
    }
}

impl Frame {
    /// How many records there are.
    pub fn len(&self) -> usize {
        self.rows.height()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows from `start` on, at most `count`, with these columns of their contexts beside them.
    pub fn wide(&self, start: usize, count: usize, columns: &[&str]) -> PolarsResult<DataFrame> {
        let mut rows = self.rows.slice(start as i64, count);
        let contexts = self.contexts.select(columns.iter().copied())?;
        let of_contexts = contexts.take(rows.column("context")?.u32()?)?;
        rows.hstack_mut(of_contexts.columns())?;
        Ok(rows)
    }
}

/// The column of a key.
pub fn key_column(key: Key) -> String {
    format!("k:{}", key.name())
}
