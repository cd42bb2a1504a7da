//! Records from JSON Lines, quickly.
//!
//! In a large file most of a line says what its neighbours say: the same machine, the same test,
//! the same options. So a line is first cut into raw pieces of JSON without building anything from
//! them. The pieces that say *what* was measured (all but figures, places and the run number) are
//! looked up; only lines with new ones become a whole [`Record`], which is checked and read as any
//! other. The figures are read from the raw line, by the same rules: `lo <= value <= hi`, no
//! negative ends, whole bytes. Whatever looks odd takes the long way, which knows the error.
//!
//! Latencies and processor figures take the long way always, and so do questions about the run
//! number, which differs on every line.

use fio_parse::Record;
use polars::prelude::PlHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::bounds::Bounds;
use crate::frame::{Base, Builder, Context};
use crate::load::Plan;

/// A line as raw pieces; what is not named here is a place in the source and matters to nobody.
#[derive(Deserialize)]
struct Line<'a> {
    v: u32,
    #[serde(borrow)]
    source: SourcePiece<'a>,
    #[serde(borrow, default)]
    machine: Option<LabelPiece<'a>>,
    #[serde(borrow, default)]
    device: Option<LabelPiece<'a>>,
    #[serde(borrow, default)]
    section: Vec<LabelPiece<'a>>,
    #[serde(borrow, default)]
    workload: Option<WorkloadPiece<'a>>,
    run: u32,
    #[serde(borrow)]
    scope: &'a RawValue,
    #[serde(borrow)]
    direction: &'a RawValue,
    #[serde(borrow)]
    measurement: MeasurementPiece<'a>,
    #[serde(borrow, default)]
    errors: Option<&'a RawValue>,
    #[serde(borrow, default)]
    interrupted: Option<&'a RawValue>,
    #[serde(borrow, default)]
    fidelity: Option<&'a RawValue>,
    #[serde(borrow, default)]
    environment: Option<&'a RawValue>,
    #[serde(borrow, default)]
    warnings: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct SourcePiece<'a> {
    #[serde(borrow)]
    name: &'a RawValue,
    #[serde(borrow)]
    tool: &'a RawValue,
}

#[derive(Deserialize)]
struct LabelPiece<'a> {
    #[serde(borrow)]
    text: &'a RawValue,
}

#[derive(Deserialize)]
struct WorkloadPiece<'a> {
    #[serde(borrow, default)]
    jobs: Option<&'a RawValue>,
    #[serde(borrow, default)]
    dd: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct MeasurementPiece<'a> {
    #[serde(default)]
    bytes_per_sec: Option<Figure>,
    #[serde(default)]
    bytes: Option<Figure>,
    #[serde(default)]
    iops: Option<Figure>,
    #[serde(default)]
    runtime_ns: Option<Figure>,
    #[serde(default)]
    wall_ns: Option<Figure>,
    #[serde(default)]
    io_phase_ns: Option<Figure>,
    #[serde(default)]
    flush_ns: Option<Figure>,
    #[serde(borrow, default)]
    wall_covers: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Figure {
    value: f64,
    lo: f64,
    hi: f64,
    #[serde(default)]
    also: Option<serde::de::IgnoredAny>,
}

impl Figure {
    /// As `Reading` would read it; none for anything that it might see otherwise.
    fn bounds(&self, whole: bool) -> Option<Bounds> {
        let (lo, hi) = (self.lo, self.hi);
        let sound = self.also.is_none()
            && 0.0 <= lo
            && lo <= self.value
            && self.value <= hi
            && (!whole || (lo.fract() == 0.0 && hi.fract() == 0.0));
        // The stated value is for people; what counts is the middle.
        sound.then(|| Bounds::new(lo, (lo + (hi - lo) / 2.0).clamp(lo, hi), hi))?
    }
}

/// Reads lines into a builder.
pub struct Reader<'p> {
    plan: &'p Plan,
    /// By the pieces that say what was measured: its context, or none if the filter drops it.
    known: PlHashMap<String, Option<Context>>,
    key: String,
    quick: bool,
}

impl<'p> Reader<'p> {
    /// A reader for a plan.
    pub fn new(plan: &'p Plan) -> Reader<'p> {
        let of_run = |key: &crate::keys::Key| key.name() == "run";
        let plain =
            |base: &Base| !matches!(base, Base::Latency(..) | Base::CpuTime | Base::CpuShare);
        Reader {
            quick: plan.wanted.bases.iter().all(plain)
                && !plan.wanted.keys.iter().any(of_run)
                && !plan.filter.keys().iter().any(of_run),
            plan,
            known: PlHashMap::default(),
            key: String::new(),
        }
    }

    /// Adds the record of a line.
    pub fn push(&mut self, line: &[u8], builder: &mut Builder) -> Result<(), serde_json::Error> {
        if self.quick && self.quickly(line, builder).is_some() {
            return Ok(());
        }
        let record: Record = serde_json::from_slice(line)?;
        self.plan.push(builder, &record);
        Ok(())
    }

    /// None if the line must take the long way.
    fn quickly(&mut self, line: &[u8], builder: &mut Builder) -> Option<()> {
        let pieces: Line = serde_json::from_slice(line).ok()?;
        if pieces.v != fio_parse::record::VERSION {
            return None;
        }
        let m = &pieces.measurement;
        let mut figures = [None; 7];
        let read = [
            (&m.bytes_per_sec, false),
            (&m.bytes, true),
            (&m.iops, false),
            (&m.runtime_ns, false),
            (&m.wall_ns, false),
            (&m.io_phase_ns, false),
            (&m.flush_ns, false),
        ];
        for (slot, (figure, whole)) in figures.iter_mut().zip(read) {
            if let Some(figure) = figure {
                *slot = Some(figure.bounds(whole)?);
            }
        }
        self.set_key(&pieces);
        let context = match self.known.get(&self.key) {
            Some(context) => context,
            None => {
                let record: Record = serde_json::from_slice(line).ok()?;
                let wanted = self.plan.wants(&record);
                let context = wanted.then(|| builder.context(&record));
                self.known.entry(self.key.clone()).or_insert(context)
            }
        };
        if let Some(context) = context {
            builder.push_row(context, pieces.run, |base| match base {
                Base::BytesPerSec => figures[0],
                Base::Bytes => figures[1],
                Base::Iops => figures[2],
                Base::Runtime => figures[3],
                Base::Wall => figures[4],
                Base::IoPhase => figures[5],
                Base::Flush => figures[6],
                Base::CpuTime | Base::CpuShare | Base::Latency(..) => None,
            });
        }
        Some(())
    }

    fn set_key(&mut self, pieces: &Line) {
        self.key.clear();
        let mut add = |piece: Option<&RawValue>| {
            self.key.push_str(piece.map_or("", RawValue::get));
            // No JSON text holds this, so pieces can't run into each other.
            self.key.push('\0');
        };
        add(Some(pieces.source.name));
        add(Some(pieces.source.tool));
        add(pieces.machine.as_ref().map(|l| l.text));
        add(pieces.device.as_ref().map(|l| l.text));
        for label in &pieces.section {
            add(Some(label.text));
        }
        add(pieces.workload.as_ref().and_then(|w| w.jobs));
        add(pieces.workload.as_ref().and_then(|w| w.dd));
        add(Some(pieces.scope));
        add(Some(pieces.direction));
        add(pieces.measurement.wall_covers);
        add(pieces.errors);
        add(pieces.interrupted);
        add(pieces.fidelity);
        add(pieces.environment);
        add(pieces.warnings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::frame::Wanted;
    use crate::keys;

    const POSTS: &[&str] = &[
        include_str!("../tests/data/laptops.jsonl"),
        include_str!("../tests/data/dd.jsonl"),
    ];

    fn plan() -> Plan {
        Plan {
            wanted: Wanted {
                keys: keys::parse_list("machine,test,direction,engine,oflag").unwrap(),
                bases: vec![
                    Base::BytesPerSec,
                    Base::Bytes,
                    Base::Runtime,
                    Base::Wall,
                    Base::Flush,
                ],
                ignored: Vec::new(),
            },
            filter: Filter::All,
        }
    }

    /// Both ways over the same lines give the same frame.
    #[test]
    fn the_short_way_and_the_long_way_agree() {
        let plan = plan();
        for (quick, text) in [true, false]
            .iter()
            .flat_map(|q| POSTS.iter().map(move |t| (q, t)))
        {
            let mut reader = Reader::new(&plan);
            assert!(reader.quick);
            reader.quick = *quick;
            let mut long = Reader::new(&plan);
            long.quick = false;
            let (mut a, mut b) = (
                Builder::new(plan.wanted.clone()),
                Builder::new(plan.wanted.clone()),
            );
            for line in text.lines().chain(text.lines()) {
                reader.push(line.as_bytes(), &mut a).unwrap();
                long.push(line.as_bytes(), &mut b).unwrap();
            }
            assert_eq!(reader.known.is_empty(), !quick);
            let (a, b) = (a.finish().unwrap(), b.finish().unwrap());
            assert!(a.rows.equals_missing(&b.rows));
            assert_eq!(a.key_texts, b.key_texts);
            assert_eq!((a.notes, a.texts), (b.notes, b.texts));
        }
    }

    #[test]
    fn err_odd_figures_are_refused_as_ever() {
        let plan = plan();
        let line = POSTS[0].lines().next().unwrap();
        let mut reader = Reader::new(&plan);
        let mut builder = Builder::new(plan.wanted.clone());
        reader.push(line.as_bytes(), &mut builder).unwrap();
        for (from, to) in [
            ("\"lo\": 306708480.0", "\"lo\": 400000000.0"),
            ("\"lo\": 306708480.0", "\"lo\": -1"),
            ("\"lo\": 20562155929", "\"lo\": 20562155929.5"),
            ("\"v\": 1", "\"v\": 2"),
            ("\"direction\": \"write\"", "\"direction\": \"sideways\""),
        ] {
            let odd = line.replace(from, to);
            assert_ne!(odd, line, "{from}");
            assert!(reader.push(odd.as_bytes(), &mut builder).is_err(), "{to}");
        }
        assert_eq!(builder.len(), 1);
    }
}
