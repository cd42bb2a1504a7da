//! Why do two machines differ? From evidence in their records only, likeliest first.
//!
//! Three kinds of reason, in this order:
//! - *measured*: a phase that can be taken out of the rate. If the ratio of the two machines moves
//!   towards one without it, the phase explains that share of the difference (on a logarithmic
//!   scale: 1 - |ln r'| / |ln r|). The final flush of fio and the sync after dd are such phases.
//! - *settings* that differ, in the order in which they usually matter. What they did here was not
//!   measured, and the text says so.
//! - *faults*: what the records' own warnings say of the figures.
//!
//! Last, what can't be ruled out: chance, where the runs are too few or too like each other, and
//! what nobody recorded.

use polars::prelude::PolarsResult;

use crate::bounds::Bounds;
use crate::derive::How;
use crate::digits;
use crate::frame::Frame;
use crate::keys::Key;
use crate::metric::Metric;
use crate::query::{self, Found};
use crate::residue::{Residue, several, value};
use crate::stats;

/// The metrics that the analysis needs.
pub const METRICS: &[Metric] = &[
    Metric::WallBandwidth,
    Metric::Bandwidth,
    Metric::WriteBandwidth,
    Metric::Flush,
    Metric::Runtime,
    Metric::Wall,
    Metric::Cpu,
];

/// A reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// How it is known.
    pub kind: Kind,
    /// Share of the difference explained (measured), or the usual weight (settings); 0 to 1.
    pub weight: f64,
    /// In a few words.
    pub title: String,
    /// The evidence, a sentence a test.
    pub evidence: Vec<String>,
}

/// How a reason is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The figures show its share.
    Measured,
    /// A setting differs.
    Setting,
    /// A warning of the records.
    Fault,
}

/// The whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The two names in full.
    pub names: (String, String),
    /// How they compare, a sentence a test.
    pub difference: Vec<String>,
    /// The reasons, likeliest first.
    pub reasons: Vec<Reason>,
    /// Where nothing shows that the difference is more than chance: why not.
    pub chance: Vec<String>,
    /// What the records don't say.
    pub unknown: Vec<String>,
}

/// Usual weight of a differing setting: what decides whether data is on the disk when the clock
/// stops comes first, then what the device is, then how it is asked.
fn usual_weight(key: Key) -> f64 {
    match key.name() {
        "sync" | "fsync" | "fdatasync" | "end_fsync" | "conv" | "oflag" | "direct" => 0.5,
        "rw" | "bs" | "iodepth" | "numjobs" | "rwmixread" => 0.5,
        "device" | "fs" | "input" => 0.4,
        "engine" | "size" | "io_size" | "moved" | "iflag" => 0.3,
        "os" | "tool" | "runtime" | "options" => 0.2,
        _ => 0.1,
    }
}

/// One machine's cells of a test: one for each metric.
struct Side<'f> {
    cells: Vec<Option<&'f Found>>,
}

impl<'f> Side<'f> {
    fn get(&self, metric: Metric) -> Option<&'f Found> {
        let at = METRICS.iter().position(|m| *m == metric)?;
        self.cells[at]
    }

    fn bounds(&self, metric: Metric) -> Option<Bounds> {
        let (lo, value, hi) = self.get(metric)?.bounds?;
        Bounds::new(lo, value.clamp(lo, hi), hi)
    }
}

/// Compares the records of two machines, named by a label or a part of one. A p-value above `alpha`
/// shows no difference.
pub fn explain(frame: &Frame, a: &str, b: &str, alpha: f64) -> Result<Answer, String> {
    let machines = texts(frame, Key::MACHINE);
    let (a, b) = (find(machines, a)?, find(machines, b)?);
    if a == b {
        return Err(format!("both names fit `{}`", machines[a as usize]));
    }
    let cells = cells(frame).map_err(|e| e.to_string())?;
    let code = |found: &Found, key: Key| {
        cells
            .keys
            .iter()
            .position(|k| *k == key)
            .map_or(0, |i| found.codes[i])
    };
    let mut tests: Vec<(u32, u32)> = Vec::new();
    for found in &cells.found {
        let test = (code(found, Key::TEST), code(found, Key::DIRECTION));
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    tests.sort_unstable();
    let side = |machine: u32, test: (u32, u32)| Side {
        cells: (0..METRICS.len() as u32)
            .map(|metric| {
                cells.found.iter().find(|f| {
                    code(f, Key::MACHINE) == machine
                        && (code(f, Key::TEST), code(f, Key::DIRECTION)) == test
                        && code(f, Key::METRIC) == metric
                })
            })
            .collect(),
    };
    let names = (machines[a as usize].clone(), machines[b as usize].clone());
    let mut study = Study::new(frame, &names, alpha);
    for test in tests {
        let name = texts(frame, Key::TEST)
            .get(test.0 as usize)
            .cloned()
            .unwrap_or_default();
        let direction = texts(frame, Key::DIRECTION)
            .get(test.1 as usize)
            .cloned()
            .unwrap_or_default();
        study.test(
            &format!("{name}, {direction}"),
            &side(a, test),
            &side(b, test),
        );
    }
    if study.difference.is_empty() {
        return Err(format!("`{}` and `{}` share no test", names.0, names.1));
    }
    Ok(study.answer(names.clone()))
}

fn texts(frame: &Frame, key: Key) -> &[String] {
    (frame.key_texts.iter())
        .find(|(k, _)| *k == key)
        .map_or(&[], |(_, texts)| texts)
}

fn find(machines: &[String], wanted: &str) -> Result<u32, String> {
    let lower = wanted.to_lowercase();
    let exact = machines.iter().position(|m| m == wanted);
    let close: Vec<usize> = (machines.iter().enumerate())
        .filter(|(_, m)| m.to_lowercase().contains(&lower))
        .map(|(i, _)| i)
        .collect();
    match (exact, close.as_slice()) {
        (Some(i), _) => Ok(i as u32),
        (None, [i]) => Ok(*i as u32),
        (None, many) => {
            let names: Vec<String> = machines.iter().map(|m| format!("`{m}`")).collect();
            let fits = if many.is_empty() { "none" } else { "several" };
            Err(format!(
                "expected one of {}; `{wanted}` fits {fits}",
                names.join(", ")
            ))
        }
    }
}

fn cells(frame: &Frame) -> PolarsResult<query::Cells> {
    let keys = [Key::DIRECTION, Key::METRIC, Key::TEST, Key::MACHINE];
    query::cells(frame, METRICS, &keys)
}

struct Study<'f> {
    frame: &'f Frame,
    names: &'f (String, String),
    residue: Residue<'f>,
    alpha: f64,
    difference: Vec<String>,
    chance: Vec<String>,
    reasons: Vec<Reason>,
    /// Sum of |ln r| over the tests, and of the part that each phase explains.
    total: f64,
    explained: Vec<(&'static str, f64)>,
}

impl<'f> Study<'f> {
    fn new(frame: &'f Frame, names: &'f (String, String), alpha: f64) -> Study<'f> {
        Study {
            frame,
            names,
            residue: Residue::new(frame, &[]),
            alpha,
            difference: Vec::new(),
            chance: Vec::new(),
            reasons: Vec::new(),
            total: 0.0,
            explained: Vec::new(),
        }
    }

    fn test(&mut self, name: &str, a: &Side, b: &Side) {
        let both = |metric| Some((a.bounds(metric)?, b.bounds(metric)?));
        let headline = if both(Metric::WallBandwidth).is_some() {
            Metric::WallBandwidth
        } else {
            Metric::Bandwidth
        };
        let Some((rate_a, rate_b)) = both(headline) else {
            return;
        };
        let Some(ratio) = rate_b.divided_by(rate_a) else {
            return;
        };
        let mib = |rate: Bounds| digits::format(rate.times(1.0 / 1_048_576.0));
        self.difference.push(format!(
            "{name}: {} and {} MiB/s, {}x",
            mib(rate_a),
            mib(rate_b),
            digits::format(ratio)
        ));
        let differs = ratio.lo() > 1.0 || ratio.hi() < 1.0;
        if differs {
            self.by_chance(name, a.get(headline), b.get(headline));
        }
        if differs {
            self.total += ratio.value().ln().abs();
            let (without, phase, part, whole) = if headline == Metric::WallBandwidth {
                (Metric::Bandwidth, "sync after the tool", None, Metric::Wall)
            } else {
                (
                    Metric::WriteBandwidth,
                    "final flush",
                    Some(Metric::Flush),
                    Metric::Runtime,
                )
            };
            if let Some((rest_a, rest_b)) = both(without) {
                self.phase(name, phase, a, b, ratio, (rest_a, rest_b), part, whole);
            }
        }
        self.settings(a.get(headline), b.get(headline));
        self.processor(name, a, b);
        for (side, of) in [(a, &self.names.0), (b, &self.names.1)] {
            let sets = side.get(headline).map_or(&[][..], |f| f.notes.as_slice());
            for note in sets
                .iter()
                .filter_map(|s| self.frame.note_sets.get(*s as usize))
                .flatten()
            {
                if let Some(note) = self.frame.notes.get(*note as usize) {
                    add(
                        &mut self.reasons,
                        Kind::Fault,
                        0.0,
                        &format!("a warning on {of}"),
                        &note.text,
                    );
                }
            }
        }
    }

    /// Notes where the runs don't show more than chance.
    fn by_chance(&mut self, name: &str, a: Option<&Found>, b: Option<&Found>) {
        let (Some(a), Some(b)) = (a, b) else { return };
        let (of_a, of_b) = (a.values.len(), b.values.len());
        let why = match (of_a, of_b) {
            // Said once, it holds of all tests that are like this.
            (1, 1) => "one run each".to_owned(),
            (1, _) => format!("{name}: one run of {}", self.names.0),
            (_, 1) => format!("{name}: one run of {}", self.names.1),
            _ => match stats::compare(&a.values, &b.values) {
                Some(test) if test.p > self.alpha => {
                    format!("{name}: p={:.3} n={of_a}+{of_b}", test.p)
                }
                _ => return,
            },
        };
        if !self.chance.contains(&why) {
            self.chance.push(why);
        }
    }

    /// What is left of the ratio if a phase is taken out of both rates.
    #[expect(
        clippy::too_many_arguments,
        reason = "one test's figures, used at once"
    )]
    fn phase(
        &mut self,
        name: &str,
        phase: &'static str,
        a: &Side,
        b: &Side,
        ratio: Bounds,
        rest: (Bounds, Bounds),
        part: Option<Metric>,
        whole: Metric,
    ) {
        let Some(left) = rest.1.divided_by(rest.0) else {
            return;
        };
        let share = 1.0 - left.value().ln().abs() / ratio.value().ln().abs();
        if share <= 0.05 {
            return;
        }
        match self.explained.iter_mut().find(|(p, _)| *p == phase) {
            Some((_, sum)) => *sum += share * ratio.value().ln().abs(),
            None => self
                .explained
                .push((phase, share * ratio.value().ln().abs())),
        }
        let seconds = |bounds: Bounds| format!("{} s", digits::format(bounds.times(1e-9)));
        let time = |side: &Side| -> Option<String> {
            let all = side.bounds(whole)?;
            let of = match part {
                Some(metric) => side.bounds(metric)?,
                None => all.minus(side.bounds(Metric::Runtime)?)?,
            };
            Some(format!("{} of {}", seconds(of), seconds(all)))
        };
        let inferred = [a, b].iter().any(|s| {
            part.and_then(|m| s.get(m))
                .is_some_and(|f| f.how == How::Inferred.code())
        });
        let times = match (time(a), time(b)) {
            (Some(x), Some(y)) => {
                format!("it took {x} on {}, {y} on {}; ", self.names.0, self.names.1)
            }
            _ => String::new(),
        };
        let text = format!(
            "{name}: {times}without it the ratio is {}x, with it {}x{}",
            digits::format(left),
            digits::format(ratio),
            if inferred {
                " (inferred from --runtime)"
            } else {
                ""
            }
        );
        add(&mut self.reasons, Kind::Measured, 0.0, phase, &text);
    }

    fn settings(&mut self, a: Option<&Found>, b: Option<&Found>) {
        let (Some(a), Some(b)) = (a, b) else { return };
        for (key, of_a, of_b) in self.residue.differences(&a.settings, &b.settings) {
            let title = format!("{} ({})", key.name(), key.about());
            let text = format!(
                "{} on {}, {} on {}",
                several(&of_a, value),
                self.names.0,
                several(&of_b, value),
                self.names.1
            );
            add(
                &mut self.reasons,
                Kind::Setting,
                usual_weight(key),
                &title,
                &text,
            );
        }
    }

    /// A processor that has no time left limits the rate, whatever the disk.
    fn processor(&mut self, name: &str, a: &Side, b: &Side) {
        let busy = |side: &Side| side.bounds(Metric::Cpu).map(|c| c.value());
        for (mine, other, of) in [(a, b, &self.names.0), (b, a, &self.names.1)] {
            if let Some(share) = busy(mine).filter(|s| *s > 0.9)
                && busy(other).is_none_or(|s| s < 0.7)
            {
                let text = format!("{name}: {:.0}% of a processor on {of}", share * 100.0);
                add(
                    &mut self.reasons,
                    Kind::Setting,
                    0.6,
                    "the processor is the limit",
                    &text,
                );
            }
        }
    }

    fn answer(mut self, names: (String, String)) -> Answer {
        for reason in self.reasons.iter_mut().filter(|r| r.kind == Kind::Measured) {
            let sum = self
                .explained
                .iter()
                .find(|(p, _)| *p == reason.title)
                .map_or(0.0, |(_, s)| *s);
            reason.weight = if self.total > 0.0 {
                sum / self.total
            } else {
                0.0
            };
        }
        self.reasons
            .sort_by(|x, y| x.kind.cmp(&y.kind).then(y.weight.total_cmp(&x.weight)));
        let silent = |name: &str| {
            let index = Key::settings().position(|k| k.name() == name);
            index.is_some_and(|i| self.residue.all_empty(i))
        };
        let unknown = ["os", "device", "fs", "kernel", "tool.version"];
        Answer {
            names,
            difference: self.difference,
            reasons: self.reasons,
            chance: self.chance,
            unknown: unknown
                .iter()
                .filter(|n| silent(n))
                .map(|n| (*n).to_owned())
                .collect(),
        }
    }
}

fn add(reasons: &mut Vec<Reason>, kind: Kind, weight: f64, title: &str, evidence: &str) {
    match reasons
        .iter_mut()
        .find(|r| r.kind == kind && r.title == title)
    {
        Some(reason) => {
            if !reason.evidence.iter().any(|e| e == evidence) {
                reason.evidence.push(evidence.to_owned());
            }
        }
        None => reasons.push(Reason {
            kind,
            weight,
            title: title.to_owned(),
            evidence: vec![evidence.to_owned()],
        }),
    }
}

impl Answer {
    /// For reading.
    pub fn text(&self) -> String {
        let mut out = format!("{} against {}\n", self.names.1, self.names.0);
        for line in &self.difference {
            out.push_str(&format!("  {line}\n"));
        }
        out.push_str("\nWhat differs, likeliest first\n");
        if self.reasons.is_empty() {
            out.push_str("  nothing that the records tell\n");
        }
        for (number, reason) in self.reasons.iter().enumerate() {
            let known = match reason.kind {
                Kind::Measured => {
                    format!("explains {:.0}% of the difference", reason.weight * 100.0)
                }
                Kind::Setting => "differs; what it did here was not measured".to_owned(),
                Kind::Fault => "bears on the figures".to_owned(),
            };
            out.push_str(&format!("{}. {}: {known}\n", number + 1, reason.title));
            for line in &reason.evidence {
                out.push_str(&format!("   {line}\n"));
            }
        }
        out.push_str("\nNot ruled out\n");
        for line in &self.chance {
            out.push_str(&format!("  chance: {line}\n"));
        }
        let unknown = self.unknown.iter().map(String::as_str);
        let unknown: Vec<&str> = unknown.chain(["memory size", "fill level"]).collect();
        out.push_str(&format!("  what is not recorded: {}\n", unknown.join(", ")));
        out
    }

    /// For machines.
    pub fn json(&self) -> String {
        let reasons: Vec<serde_json::Value> = (self.reasons.iter())
            .map(|r| {
                serde_json::json!({
                    "kind": match r.kind {
                        Kind::Measured => "measured",
                        Kind::Setting => "setting",
                        Kind::Fault => "fault",
                    },
                    "weight": r.weight,
                    "title": r.title,
                    "evidence": r.evidence,
                })
            })
            .collect();
        let whole = serde_json::json!({
            "v": 1,
            "base": self.names.0,
            "machine": self.names.1,
            "difference": self.difference,
            "reasons": reasons,
            "chance": self.chance,
            "unknown": self.unknown,
        });
        format!("{whole:#}\n")
    }
}
