//! Records from JSON Lines, quickly.
//!
//! In a large file most of a line says what its neighbours say: the same machine, the same test,
//! the same options. Three ways lead from a line to a row, the quickest first:
//!
//! 1. The line is like one read before but for its figures (`template`).
//! 2. The line is cut into raw pieces of JSON without building anything from them. The pieces that
//!    say *what* was measured (all but figures, places and the run number) are looked up.
//! 3. The line becomes a whole [`Record`], which is checked and read as any other.
//!
//! The figures are read by the same rules each time: `lo <= value <= hi`, no negative ends, whole
//! bytes. Whatever looks odd takes the long way, which knows the error. Latencies and processor
//! figures take the long way always, and so do records without a bandwidth and questions about the
//! run number, which differs on every line.

use fio_parse::Record;
use polars::prelude::PlHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::absent;
use crate::bounds::Bounds;
use crate::frame::{Base, Builder};
use crate::load::{Fate, Plan};
use crate::template::{self, Template, Templates};

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
    #[serde(borrow, default)]
    steady_state: Option<&'a RawValue>,
    #[serde(default)]
    records_out: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Figure {
    value: f64,
    lo: f64,
    hi: f64,
    #[serde(default)]
    also: Option<serde::de::IgnoredAny>,
}

/// As `Reading` would read it; none for anything that it might see otherwise.
fn bounds(lo: f64, value: f64, hi: f64, base: Base) -> Option<Bounds> {
    let whole = base == Base::Bytes;
    let sound = 0.0 <= lo
        && lo <= value
        && value <= hi
        && (!whole || (lo.fract() == 0.0 && hi.fract() == 0.0));
    // The stated value is for people; what counts is the middle.
    sound.then(|| Bounds::new(lo, (lo + (hi - lo) / 2.0).clamp(lo, hi), hi))?
}

/// The figures that are read quickly, in the order of [`template::FIGURES`].
const FIGURES: [Base; template::FIGURES.len()] = [
    Base::BytesPerSec,
    Base::Bytes,
    Base::Iops,
    Base::Runtime,
    Base::Wall,
    Base::IoPhase,
    Base::Flush,
];

fn place(base: Base) -> Option<usize> {
    FIGURES.iter().position(|f| *f == base)
}

/// Reads lines into a builder.
pub struct Reader<'p> {
    plan: &'p Plan,
    /// By the pieces that say what was measured: what becomes of it, and its context if it counts.
    known: PlHashMap<String, (Fate, u32)>,
    key: String,
    quick: bool,
    /// Lines read before, with what became of them.
    templates: Templates<(Fate, u32)>,
    /// For each wanted base, its place in [`FIGURES`].
    places: Vec<Option<usize>>,
    figures: Vec<Option<Bounds>>,
    /// The bits of [`crate::frame::known_bits`] that quick records can have, with the figure each
    /// stands for. They have a bandwidth, so nothing derived is looked at.
    has: Vec<(u32, usize)>,
}

impl<'p> Reader<'p> {
    /// A reader for a plan.
    pub fn new(plan: &'p Plan) -> Reader<'p> {
        let of_run = |key: &crate::keys::Key| key.name() == "run";
        let plain = |base: &Base| place(*base).is_some();
        Reader {
            quick: plan.wanted.bases.iter().all(plain)
                && !plan.wanted.keys.iter().any(of_run)
                && !plan.filter.keys().iter().any(of_run),
            templates: Templates::default(),
            // Those to spare are of records without a bandwidth, which take the long way.
            places: plan.wanted.bases.iter().map(|b| place(*b)).collect(),
            figures: Vec::new(),
            has: (absent::KNOWN[..absent::PLAIN].iter().enumerate())
                .filter_map(|(bit, (base, _))| Some((1 << bit, place(*base)?)))
                .collect(),
            plan,
            known: PlHashMap::default(),
            key: String::new(),
        }
    }

    /// Adds the record of a line.
    pub fn push(&mut self, line: &[u8], builder: &mut Builder) -> Result<(), serde_json::Error> {
        if self.quick {
            if self.like_another(line, builder).is_some() {
                return Ok(());
            }
            if let Some((fate, context)) = self.quickly(line, builder) {
                if !self.templates.is_full()
                    && let Some(template) = Template::of(line)
                {
                    self.templates.add(&template, (fate, context));
                }
                return Ok(());
            }
        }
        let record: Record = serde_json::from_slice(line)?;
        self.plan.push(builder, &record);
        Ok(())
    }

    /// None if the line is like none that is remembered.
    fn like_another(&mut self, line: &[u8], builder: &mut Builder) -> Option<()> {
        let mut ends = [[0.0; 3]; FIGURES.len()];
        let (run, end) = self.templates.read(line, &mut ends)?;
        let mut figures = [None; FIGURES.len()];
        for (index, there) in end.there.into_iter().enumerate() {
            if there {
                let [lo, value, hi] = ends[index];
                figures[index] = Some(bounds(lo, value, hi, FIGURES[index])?);
            }
        }
        let (fate, context) = end.known;
        self.count(fate, context, run, &figures, builder);
        Some(())
    }

    /// What becomes of the line, and its context. None if the line must take the long way.
    fn quickly(&mut self, line: &[u8], builder: &mut Builder) -> Option<(Fate, u32)> {
        let pieces: Line = serde_json::from_slice(line).ok()?;
        if pieces.v != fio_parse::record::VERSION {
            return None;
        }
        let m = &pieces.measurement;
        let mut figures = [None; FIGURES.len()];
        // In the order of FIGURES.
        let read = [
            &m.bytes_per_sec,
            &m.bytes,
            &m.iops,
            &m.runtime_ns,
            &m.wall_ns,
            &m.io_phase_ns,
            &m.flush_ns,
        ];
        for ((slot, figure), base) in figures.iter_mut().zip(read).zip(FIGURES) {
            if let Some(f) = figure {
                if f.also.is_some() {
                    return None;
                }
                *slot = Some(bounds(f.lo, f.value, f.hi, base)?);
            }
        }
        // What else a record without a bandwidth has, the long way tells.
        figures[0]?;
        // Without its command, dd's counts say what was asked for.
        if pieces.workload.is_none() && m.records_out.is_some() {
            return None;
        }
        self.set_key(&pieces);
        let (fate, context) = match self.known.get(&self.key) {
            Some(known) => *known,
            None => {
                let record: Record = serde_json::from_slice(line).ok()?;
                let taken = self.plan.take(builder, &record);
                self.known.insert(self.key.clone(), taken);
                taken
            }
        };
        self.count(fate, context, pieces.run, &figures, builder);
        Some((fate, context))
    }

    fn count(
        &mut self,
        fate: Fate,
        context: u32,
        run: u32,
        figures: &[Option<Bounds>; FIGURES.len()],
        builder: &mut Builder,
    ) {
        match fate {
            Fate::Taken => {
                self.figures.clear();
                self.figures
                    .extend(self.places.iter().map(|p| p.and_then(|p| figures[p])));
                let has = self.has.iter().filter(|(_, p)| figures[*p].is_some());
                let has = has.fold(0, |bits, (bit, _)| bits | bit);
                builder.push_row(context, run, &self.figures, has);
            }
            Fate::WarmUp => builder.leave_out_warmup(),
            Fate::Filtered => {}
        }
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
        add(pieces.measurement.steady_state);
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
    use crate::folders::Fields;
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
                metrics: Vec::new(),
                spare: Vec::new(),
                ignored: Vec::new(),
                by_tests: true,
            },
            filter: Filter::All,
            fields: Fields::default(),
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
            assert!(a.contexts.equals_missing(&b.contexts));
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
