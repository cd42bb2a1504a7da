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
//! | `k:NAME` | u32 | code of the key's text |
//! | `dd` | bool | dd measured, whose rate is by definition bytes over seconds |
//! | `basis` | u32 | what the wall time covers |
//! | `block` | f64 | block size where there is one |
//! | `nominal` | f64 | ns that a timed job with a flush at its end was asked to run |
//! | `q:NAME:lo` ... | f64 | a quantity |

use std::borrow::Cow;

use fio_parse::record::{Latency, Percentile, ScopeKind, Verdict};
use fio_parse::{Direction, Quantity, Reading, Record};
use polars::prelude::*;

use crate::bounds::Bounds;
use crate::dict::Dict;
use crate::keys::{Key, jobs_of};
use crate::metric::{Clock, Statistic};
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

    fn read(self, record: &Record) -> Option<Bounds> {
        let m = &record.measurement;
        match self {
            Base::BytesPerSec => m.bytes_per_sec.as_ref().and_then(bounds),
            Base::Bytes => m.bytes.as_ref().and_then(bounds),
            Base::Iops => m.iops.as_ref().and_then(bounds),
            Base::Runtime => m.runtime_ns.as_ref().and_then(bounds),
            Base::Wall => m.wall_ns.as_ref().and_then(bounds),
            Base::IoPhase => m.io_phase_ns.as_ref().and_then(bounds),
            Base::Flush => m.flush_ns.as_ref().and_then(bounds),
            Base::CpuTime => sum(m.user_ns.as_ref(), m.system_ns.as_ref(), 1.0),
            Base::CpuShare => {
                let cpu = m.cpu.as_ref()?;
                sum(cpu.user_percent.as_ref(), cpu.system_percent.as_ref(), 0.01)
            }
            Base::Latency(clock, statistic) => {
                let latency: &Latency = match clock {
                    Clock::Submission => m.slat_ns.as_deref()?,
                    Clock::Completion => m.clat_ns.as_deref()?,
                    Clock::Total => m.lat_ns.as_deref()?,
                    Clock::Sync => m.sync_lat_ns.as_deref()?,
                };
                match statistic {
                    Statistic::Min => latency.min.as_ref().and_then(bounds),
                    Statistic::Mean => latency.mean.as_ref().and_then(bounds),
                    Statistic::Max => latency.max.as_ref().and_then(bounds),
                    Statistic::Stddev => latency.stddev.as_ref().and_then(bounds),
                    Statistic::Percentile(p) => percentile(&latency.percentiles, p),
                }
            }
        }
    }
}

fn bounds<Q: Quantity>(reading: &Reading<Q>) -> Option<Bounds> {
    Bounds::new(
        reading.lo().to_f64(),
        reading.value(),
        reading.hi().to_f64(),
    )
}

fn sum<Q: Quantity>(a: Option<&Reading<Q>>, b: Option<&Reading<Q>>, factor: f64) -> Option<Bounds> {
    let (a, b) = (bounds(a?)?, bounds(b?)?);
    let sum = Bounds::new(a.lo() + b.lo(), a.value() + b.value(), a.hi() + b.hi())?;
    Some(sum.times(factor))
}

fn percentile(list: &[Percentile], wanted: f64) -> Option<Bounds> {
    let found = list.iter().find(|p| (p.p - wanted).abs() < 1e-9)?;
    bounds(&found.reading)
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

/// The columns and what their codes mean.
#[derive(Debug)]
pub struct Frame {
    /// One row a record.
    pub rows: DataFrame,
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

/// The scope to prefer among those of one run: sums before their parts, so that nothing is
/// counted twice.
fn rank(kind: ScopeKind) -> u32 {
    match kind {
        ScopeKind::AllClients => 0,
        ScopeKind::Group => 1,
        ScopeKind::Run => 2,
        ScopeKind::Client => 3,
        ScopeKind::Job => 4,
        _ => 5,
    }
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
    pub fn push(&mut self, record: &Record) {
        let source = self.sources.code(&*record.source.name);
        self.rows.source.push(source);
        self.rows.run.push(record.run);
        self.rows.group.push(record.scope.group.unwrap_or(u32::MAX));
        self.rows.rank.push(rank(record.scope.kind));
        self.rows
            .failed
            .push(!record.errors.is_empty() || record.interrupted);
        self.rows.dd.push(
            record.source.tool.name == "dd"
                || record.workload.as_ref().is_some_and(|w| w.dd().is_some()),
        );

        let facts = Facts {
            asked: self.texts.code(tests_of::asked(record).as_str()),
            heading: self.texts.code(tests_of::heading(record)),
            fallback: self.texts.code(tests_of::fallback(record).as_str()),
            source,
        };
        self.rows.facts.push(self.facts.code(&facts));

        let settings: Vec<u32> = Key::settings()
            .map(|key| self.texts.code(&*key.get(record)))
            .collect();
        self.rows
            .settings
            .push(self.setting_sets.code(settings.as_slice()));

        let mut notes: Vec<u32> = notes_of(record)
            .iter()
            .map(|n| self.notes.code(n))
            .collect();
        notes.dedup();
        self.rows.notes.push(self.note_sets.code(notes.as_slice()));

        let covers = record
            .measurement
            .wall_covers
            .and_then(|covers| serde_json::to_value(covers).ok());
        let covers = covers.as_ref().and_then(|v| v.as_str()).unwrap_or("");
        self.rows.basis.push(self.texts.code(covers));

        let (block, nominal) = block_and_nominal(record);
        self.rows.block.push(block);
        self.rows.nominal.push(nominal);

        for (i, key) in self.wanted.keys.iter().enumerate() {
            let code = self.key_texts[i].code(&*key.get(record));
            self.rows.keys[i].push(code);
        }
        for (i, base) in self.wanted.bases.iter().enumerate() {
            let read = base.read(record);
            let [lo, value, hi] = &mut self.rows.bases[i];
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
        let mut key_texts = Vec::new();
        for ((key, codes), dict) in self.wanted.keys.iter().zip(rows.keys).zip(self.key_texts) {
            let name = key_column(*key);
            if *key == Key::TEST {
                let codes: Vec<u32> = rows.facts.iter().map(|f| test_codes[*f as usize]).collect();
                columns.push(Column::new(name.into(), codes));
                key_texts.push((*key, tests.values().to_vec()));
            } else {
                columns.push(Column::new(name.into(), codes));
                key_texts.push((*key, dict.values().to_vec()));
            }
        }
        for (base, [lo, value, hi]) in self.wanted.bases.iter().zip(rows.bases) {
            let name = base.column();
            for (ending, values) in [("lo", lo), ("value", value), ("hi", hi)] {
                columns.push(Column::new(format!("{name}:{ending}").into(), values));
            }
        }
        Ok(Frame {
            rows: DataFrame::new_infer_height(columns)?,
            key_texts,
            note_sets: self.note_sets.values().to_vec(),
            notes: self.notes.values().to_vec(),
            setting_sets: self.setting_sets.values().to_vec(),
            texts: texts.values().to_vec(),
        })
    }
}

/// The column of a key.
pub fn key_column(key: Key) -> String {
    format!("k:{}", key.name())
}

/// The remarks of a record: its warnings, what a replay changed, why it failed. What the author
/// of a post claimed is no remark on the figures and is left to the claims check.
fn notes_of(record: &Record) -> Vec<Note> {
    let note = |code: &str, text: Cow<'_, str>| Note {
        code: code.to_owned(),
        text: text.into_owned(),
    };
    let mut notes: Vec<Note> = (record.warnings.iter())
        .filter(|w| w.code.as_str() != "prose-claim")
        .map(|w| note(w.code.as_str(), w.message.as_str().into()))
        .collect();
    for error in &record.errors {
        notes.push(note("failed", format!("failed: {}", error.text).into()));
    }
    if record.interrupted {
        notes.push(note("interrupted", "interrupted before its end".into()));
    }
    if let Some(fidelity) = record
        .fidelity
        .as_ref()
        .filter(|f| f.verdict >= Verdict::Deviates)
    {
        let whys: Vec<&str> = (fidelity.notes.iter())
            .filter(|n| n.level >= Verdict::Deviates)
            .map(|n| n.why.trim_end_matches('.'))
            .collect();
        notes.push(note(
            "replayed",
            format!("replayed, not as the original: {}", whys.join("; ")).into(),
        ));
    }
    notes
}

/// The block size if there is just one, and the asked time if the job is bound by time, writes
/// and flushes at its end (so that the time beyond the asked one is the flush).
fn block_and_nominal(record: &Record) -> (Option<f64>, Option<f64>) {
    if let Some(dd) = record.workload.as_ref().and_then(|w| w.dd()) {
        return (dd.block_bytes.map(|b| b.0 as f64), None);
    }
    let jobs = jobs_of(record);
    let Some(first) = jobs.first() else {
        return (None, None);
    };
    let write = record.direction == Direction::Write;
    let block = |job: &fio_parse::workload::Job| {
        let all = job.block_bytes.unwrap_or(fio_parse::Bytes(4096));
        // A range or split of block sizes has no single one.
        let varied = job
            .other
            .iter()
            .any(|(name, _)| name == "bsrange" || name == "bssplit");
        let own = if write { job.write_block_bytes } else { None };
        (!varied).then_some(own.unwrap_or(all))
    };
    let size = block(first);
    let same = jobs.iter().all(|job| block(job) == size);
    let nominal = first.runtime_ns.filter(|time| {
        write
            && jobs.iter().all(|job| {
                job.time_based == Some(true)
                    && job.end_fsync == Some(true)
                    && job.runtime_ns == Some(*time)
            })
    });
    (
        size.filter(|_| same).map(|b| b.0 as f64),
        nominal.map(|t| t.get()),
    )
}
