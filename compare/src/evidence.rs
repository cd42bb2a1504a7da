//! What the columns are made from: the one place that turns a record into parts.
//!
//! [`Evidence`] is implemented by the records of `fio_parse` and by the rows of flat files
//! ([`crate::scan`]), so that both fill the same columns by the same code.

use std::borrow::Cow;

use fio_parse::record::{Latency, Percentile, ScopeKind, Spread, Verdict};
use fio_parse::{Bytes, Direction, Quantity, Reading, Record};

use crate::bounds::Bounds;
use crate::frame::{Base, Note};
use crate::keys::{Key, jobs_of};
use crate::metric::{Clock, Sampled, Statistic};
use crate::tests_of;

/// A result with all that says what it is.
pub trait Evidence {
    /// The input.
    fn source(&self) -> Cow<'_, str>;
    /// fio's group; the greatest number where there is none.
    fn group(&self) -> u32;
    /// Its scope's place among those of one run, the one to prefer first.
    fn rank(&self) -> u32;
    /// Errors were reported, or the run was cut short.
    fn failed(&self) -> bool;
    /// dd measured.
    fn dd(&self) -> bool;
    /// What was asked of the disk, in words.
    fn asked(&self) -> Cow<'_, str>;
    /// The heading right above.
    fn heading(&self) -> Cow<'_, str>;
    /// A name where neither heading nor workload is known.
    fn fallback(&self) -> Cow<'_, str>;
    /// What the wall time covers.
    fn covers(&self) -> Cow<'_, str>;
    /// The text of a key.
    fn key(&self, key: Key) -> Cow<'_, str>;
    /// Remarks.
    fn notes(&self) -> Vec<Note>;
    /// The block size in bytes if there is just one, and the time in ns that a timed job with a
    /// flush at its end was asked to run.
    fn block_and_nominal(&self) -> (Option<f64>, Option<f64>);
    /// Nothing says what machine it was, which is called after the input.
    fn is_named_by_input(&self) -> bool;

    /// What tells one job of a run from another: its name and host.
    fn job(&self) -> String {
        format!("{}\0{}", self.key(Key::JOB), self.key(Key::HOST))
    }

    /// For one job's record, how many of its name were started; 0 if that is not known.
    fn started(&self) -> u32 {
        if self.rank() != rank(ScopeKind::Job) {
            return 0;
        }
        self.key(Key::NUMJOBS).parse().unwrap_or(0)
    }
}

impl Evidence for Record {
    fn source(&self) -> Cow<'_, str> {
        (&*self.source.name).into()
    }

    fn group(&self) -> u32 {
        self.scope.group.unwrap_or(u32::MAX)
    }

    fn rank(&self) -> u32 {
        rank(self.scope.kind)
    }

    fn failed(&self) -> bool {
        !self.errors.is_empty() || self.interrupted
    }

    fn dd(&self) -> bool {
        self.source.tool.name == "dd" || self.workload.as_ref().is_some_and(|w| w.dd().is_some())
    }

    fn asked(&self) -> Cow<'_, str> {
        tests_of::asked(self).into()
    }

    fn heading(&self) -> Cow<'_, str> {
        tests_of::heading(self).into()
    }

    fn fallback(&self) -> Cow<'_, str> {
        tests_of::fallback(self).into()
    }

    fn covers(&self) -> Cow<'_, str> {
        let covers = self.measurement.wall_covers;
        match covers.and_then(|covers| serde_json::to_value(covers).ok()) {
            Some(serde_json::Value::String(text)) => text.into(),
            _ => "".into(),
        }
    }

    fn key(&self, key: Key) -> Cow<'_, str> {
        key.get(self)
    }

    fn notes(&self) -> Vec<Note> {
        notes_of(self)
    }

    fn block_and_nominal(&self) -> (Option<f64>, Option<f64>) {
        block_and_nominal(self)
    }

    fn is_named_by_input(&self) -> bool {
        self.machine.is_none() && self.scope.host.is_none()
    }
}

/// The scope to prefer among those of one run: sums before their parts, so that nothing is
/// counted twice.
pub(crate) fn rank(kind: ScopeKind) -> u32 {
    match kind {
        ScopeKind::AllClients => 0,
        ScopeKind::Group => 1,
        ScopeKind::Run => 2,
        ScopeKind::Client => 3,
        ScopeKind::Job => 4,
        _ => 5,
    }
}

/// A quantity of a record.
pub fn base(record: &Record, base: Base) -> Option<Bounds> {
    let m = &record.measurement;
    match base {
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
        Base::Samples(sampled, statistic) => {
            let samples = m.samples.as_ref()?;
            match sampled {
                Sampled::Bandwidth => spread(samples.bytes_per_sec.as_ref()?, statistic),
                Sampled::Iops => spread(samples.iops.as_ref()?, statistic),
            }
        }
        Base::Count(clock) => Bounds::exact(latency(record, clock)?.samples? as f64),
        Base::Latency(clock, statistic) => {
            let latency = latency(record, clock)?;
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

fn latency(record: &Record, clock: Clock) -> Option<&Latency> {
    let m = &record.measurement;
    match clock {
        Clock::Submission => m.slat_ns.as_deref(),
        Clock::Completion => m.clat_ns.as_deref(),
        Clock::Total => m.lat_ns.as_deref(),
        Clock::Sync => m.sync_lat_ns.as_deref(),
    }
}

fn bounds<Q: Quantity>(reading: &Reading<Q>) -> Option<Bounds> {
    Bounds::new(
        reading.lo().to_f64(),
        reading.value(),
        reading.hi().to_f64(),
    )
}

fn spread<Q: Quantity>(spread: &Spread<Q>, statistic: Statistic) -> Option<Bounds> {
    let reading = match statistic {
        Statistic::Min => &spread.min,
        Statistic::Mean => &spread.mean,
        Statistic::Max => &spread.max,
        Statistic::Stddev => &spread.stddev,
        Statistic::Percentile(_) => &None,
    };
    reading.as_ref().and_then(bounds)
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
    if let Some(text) = rounded_blocks(record) {
        notes.push(note("rounded", text.into()));
    }
    for error in &record.errors {
        notes.push(note("failed", format!("failed: {}", error.text).into()));
    }
    if let Some(steady) = (record.measurement.steady_state.as_ref()).filter(|s| !s.attained) {
        let far = steady.criterion.as_ref();
        let far = far.map_or_else(String::new, |c| format!(", in the end {c}"));
        notes.push(note(
            "not-steady",
            format!("did not become steady as asked ({}{far})", steady.target).into(),
        ));
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

/// What to say where block sizes are known from rounded figures only.
fn rounded_blocks(record: &Record) -> Option<String> {
    let workload = record.workload.as_ref()?;
    let is_rounded = (workload.normalised.iter()).any(|note| note.starts_with("rounded:bs"));
    let large = |size: Option<Bytes>| size.is_some_and(|size| size.0 >= 10_000);
    let jobs = jobs_of(record);
    let read = jobs.iter().any(|job| {
        job.unread_blocks().is_none() && (large(job.block_bytes) || large(job.write_block_bytes))
    });
    (is_rounded && read).then(|| {
        "block size read from the rounded figure of fio's header, which stands for this one among \
         the usual ones"
            .to_owned()
    })
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
        let all = job.block_bytes.unwrap_or(Bytes(4096));
        let own = if write { job.write_block_bytes } else { None };
        // A range or split of block sizes has no single one.
        job.unread_blocks().is_none().then_some(own.unwrap_or(all))
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
