//! Notes: of a whole table, of rows and columns, of cells.

use std::collections::HashMap;

use super::words::{covers_words, shorten, whole};
use super::{Base, Builder, COLUMN_LABEL, Plan};
use crate::bounds::Bounds;
use crate::derive::How;
use crate::digits;
use crate::keys::Key;
use crate::metric::{Metric, Statistic};
use crate::query::Found;
use crate::ratio;
use crate::residue::Residue;
use crate::stats;

/// How many notes of one kind a cell of repeats shows one by one.
const ALIKE_SHOWN: usize = 2;

/// Kinds of notes of which each says another thing.
const EACH_SHOWN: [&str; 2] = ["failed", "replayed"];

impl Builder<'_> {
    /// Notes that bear on the whole table.
    pub(super) fn table_marks(&mut self, members: &[usize], repeats: bool) -> Vec<usize> {
        let mut texts: Vec<String> = Vec::new();
        for metric in self.metrics {
            let of_metric: Vec<&Found> = (members.iter())
                .map(|i| &self.cells.found[*i])
                .filter(|f| self.metric(f) == *metric && f.bounds.is_some())
                .collect();
            let any = |how: How| of_metric.iter().any(|f| f.how == how.code());
            match metric {
                Metric::Flush if any(How::Inferred) => texts.push(
                    "inferred: the I/O phase is taken to have lasted the time asked for by --runtime, \
                     the rest of the run time to be the flush at its end; to a tenth of a second"
                        .into(),
                ),
                Metric::WriteBandwidth if any(How::Inferred) => texts.push(
                    "inferred: bytes over the time asked for by --runtime, which leaves the flush at \
                     the end out"
                        .into(),
                ),
                Metric::Iops if any(How::Derived) => {
                    texts.push("IOPS derived: bandwidth over block size".into());
                }
                Metric::WallBandwidth if !of_metric.is_empty() => {
                    if let Some(text) = self.covers(&of_metric) {
                        texts.push(text);
                    }
                }
                _ => {}
            }
        }
        if let Some(base) = &self.base
            && members.len() > 1
        {
            let divided = |index: &usize| {
                let base = self.bases[*index].filter(|base| base != index);
                base.is_some_and(|base| self.ratio(*index, base).is_some())
            };
            let any = matches!(base, Base::Each) || members.iter().any(divided);
            let to = match base {
                Base::One { name, .. } if !any => {
                    format!("no ratios: {}", self.why_no_ratio(members, name))
                }
                Base::One { name, .. } => format!("ratios are to {name}"),
                Base::Best => "ratios are to the best of those compared, which has 1.00x".into(),
                Base::Each => "each ratio is the row over the column".into(),
            };
            texts.push(if repeats || !any {
                to
            } else {
                format!("{to}; one run each, so they say nothing about noise")
            });
        }
        if repeats {
            texts.extend(self.repeat_notes(members));
        }
        texts.iter().map(|t| self.notes.mark(t)).collect()
    }

    /// Why nothing in a table is divided by the base, which is called `name`.
    fn why_no_ratio(&self, members: &[usize], name: &str) -> String {
        let bounds = |index: usize| self.cells.found[index].bounds;
        let is_base = |index: usize| self.bases[index] == Some(index);
        let bases: Vec<usize> = (members.iter().copied()).filter(|i| is_base(*i)).collect();
        let others = || (members.iter().copied()).filter(|i| !is_base(*i) && bounds(*i).is_some());
        let valued: Vec<(f64, f64, f64)> = bases.iter().filter_map(|i| bounds(*i)).collect();
        if valued.is_empty() && !bases.is_empty() {
            format!("all runs of {name} failed here")
        } else if others().next().is_none() {
            format!("only {name} has a result here")
        } else if others().all(|index| self.bases[index].is_none()) {
            let rows = if self.projection.rows.contains(&Key::TEST) {
                "; where tests differ only in what one log leaves unsaid, --row rw,bs puts them \
                 side by side"
            } else {
                ""
            };
            format!("{name} has no result here that the others can be divided by{rows}")
        } else if valued.iter().all(|(lo, ..)| *lo <= 0.0) {
            let zero = valued.iter().all(|(.., hi)| *hi <= 0.0);
            format!("{name} {} 0 here", if zero { "is" } else { "may be" })
        } else {
            "the notes of the results say why".to_owned()
        }
    }

    /// What the wall clock covers beyond the tool.
    fn covers(&self, of_metric: &[&Found]) -> Option<String> {
        let mut covers: Vec<&str> = (of_metric.iter())
            .flat_map(|f| [f.basis.0, f.basis.1])
            .filter_map(|code| self.frame.texts.get(code as usize))
            .map(String::as_str)
            .collect();
        covers.sort_unstable();
        covers.dedup();
        match covers.as_slice() {
            ["run-and-sync"] => Some(
                "the rate by wall clock includes the final sync, which the shell timed too; the \
                 tool's own window excludes it"
                    .into(),
            ),
            ["run"] => Some("the rate by wall clock includes starting and ending the tool".into()),
            [] | [""] => None,
            many => {
                let names: Vec<String> = many.iter().map(|c| covers_words(c)).collect();
                Some(format!(
                    "the rate by wall clock covers {}",
                    names.join(", or ")
                ))
            }
        }
    }

    fn repeat_notes(&self, members: &[usize]) -> Vec<String> {
        let mut texts = Vec::new();
        let percent =
            |share: f64| digits::format(Bounds::exact(share * 100.0).unwrap_or(Bounds::ZERO));
        let sizes: Vec<usize> = (members.iter())
            .map(|i| &self.cells.found[*i])
            .filter(|found| !self.pools(found))
            .map(|found| found.values.len())
            .collect();
        if let Some(need) = stats::samples_for_interval(self.view.confidence)
            && self.any_repeats(members)
            && sizes.iter().any(|n| *n > 0 && *n < need)
        {
            texts.push(format!(
                "± is how far the {}% interval of the median reaches from it; it takes at least {need} \
                 runs, ∞ means fewer",
                whole(&percent(self.view.confidence))
            ));
        }
        if let Some(need) = stats::samples_for_difference(self.view.alpha)
            && self.base.is_some()
            && sizes.iter().any(|n| *n > 0 && *n < need)
        {
            texts.push(format!(
                "a difference at the {}% level takes at least {need} runs on both sides; below that \
                 the ratio alone says nothing about chance",
                whole(&percent(self.view.alpha))
            ));
        }
        if self.view.holm && !self.p_values.is_empty() {
            texts.push(format!(
                "p corrected for {} comparisons (Holm)",
                self.p_values.len()
            ));
        }
        texts
    }

    /// Notes of cells, moved to the row or column label where a whole row or column has them.
    #[expect(
        clippy::type_complexity,
        reason = "three local lists that are used at once"
    )]
    pub(super) fn difference_marks(
        &self,
        plan: &Plan,
    ) -> (
        Vec<Vec<String>>,
        Vec<Vec<String>>,
        HashMap<(usize, usize), Vec<String>>,
    ) {
        let residue = Residue::new(self.frame, &self.shown());
        let mut texts: HashMap<(usize, usize), Vec<String>> = HashMap::new();
        for (r, row) in plan.rows.iter().enumerate() {
            for (c, col) in plan.cols.iter().enumerate() {
                if let Some(index) = plan.at.get(&(row.clone(), col.clone())) {
                    let mut notes = self.bases[*index].map_or(Vec::new(), |base| {
                        self.notes_against(*index, base, &residue)
                    });
                    notes.extend(self.cell_notes(*index, &residue));
                    texts.insert((r, c), notes);
                }
            }
        }
        let mut by_col: Vec<Vec<String>> = vec![Vec::new(); plan.cols.len()];
        let mut by_row: Vec<Vec<String>> = vec![Vec::new(); plan.rows.len()];
        let all_of = |members: &[&Vec<String>]| -> Vec<String> {
            // One cell alone is no column to speak of.
            let Some((first, rest)) = members.split_first() else {
                return Vec::new();
            };
            (first.iter())
                .filter(|text| rest.iter().all(|t| t.contains(text)))
                .cloned()
                .collect()
        };
        let along_cols = !self
            .projection
            .across
            .iter()
            .any(|k| self.projection.rows.contains(k));
        if along_cols {
            for (c, marks) in by_col.iter_mut().enumerate() {
                let members: Vec<&Vec<String>> = (0..plan.rows.len())
                    .filter_map(|r| texts.get(&(r, c)))
                    .collect();
                if members.len() > 1 {
                    *marks = all_of(&members);
                }
            }
        } else {
            for (r, marks) in by_row.iter_mut().enumerate() {
                let members: Vec<&Vec<String>> = (0..plan.cols.len())
                    .filter_map(|c| texts.get(&(r, c)))
                    .collect();
                *marks = all_of(&members);
            }
        }
        for ((r, c), list) in &mut texts {
            list.retain(|text| !by_col[*c].contains(text) && !by_row[*r].contains(text));
        }
        (by_col, by_row, texts)
    }

    /// What there is to say of a cell beside the one it is compared with.
    pub(super) fn notes_against(
        &self,
        index: usize,
        base: usize,
        residue: &Residue,
    ) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        if index == base {
            return texts;
        }
        let (found, theirs) = (&self.cells.found[index], &self.cells.found[base]);
        let (own_name, full_name) = (self.name(index), self.name(base));
        let name = shorten(&full_name, COLUMN_LABEL);
        let differs = residue.against((&found.settings, &own_name), (&theirs.settings, &full_name));
        texts.extend(differs.map(|differs| format!("unlike {name}: {differs}")));
        for (at, key) in self.hidden_names() {
            let (mine, other) = (&found.names[at], &theirs.names[at]);
            let same = mine.len() == other.len() && mine.iter().all(|code| other.contains(code));
            if !same && !mine.is_empty() && !other.is_empty() {
                texts.push(format!(
                    "unlike {name}: {} {} (there: {})",
                    key.name(),
                    self.names_of(key, mine),
                    self.names_of(key, other)
                ));
            }
        }
        if (found.unasked || theirs.unasked) && found.bounds.is_some() && theirs.bounds.is_some() {
            texts.push(
                "no command tells that the same was run; only where the results stand does".into(),
            );
        }
        if let (Some(_), Some((lo, _, hi))) = (found.bounds, theirs.bounds)
            && lo <= 0.0
        {
            let zero = if hi <= 0.0 { "is" } else { "may be" };
            texts.push(format!("not divided by the base: its value {zero} 0"));
        }
        if !ratio::same_basis(found, theirs) && !self.view.force && theirs.bounds.is_some() {
            let words = |code: u32| {
                let text = self.frame.texts.get(code as usize);
                covers_words(text.map_or("", String::as_str))
            };
            texts.push(format!(
                "not divided by the base: its time covers {}, the base's {} (--force divides all the same)",
                words(found.basis.0),
                words(theirs.basis.0)
            ));
        }
        if !ratio::same_parts(found, theirs)
            && !self.view.force
            && found.bounds.is_some()
            && theirs.bounds.is_some()
        {
            let jobs = |parts: usize| match parts {
                1 => "one figure for all jobs".to_owned(),
                parts => format!("{parts} jobs, each for itself"),
            };
            texts.push(format!(
                "not divided by the base: this shows {}, the base {} (--force divides all the same; fio sums jobs up \
                 with group_reporting)",
                jobs(found.parts),
                jobs(theirs.parts)
            ));
        }
        texts
    }

    /// What the records of a cell say of themselves. Where repeats bring many notes of one kind,
    /// each with its own figures, the first stands for them.
    fn record_notes(&self, found: &Found) -> Vec<String> {
        let sets = found.notes.iter();
        let sets = sets.filter_map(|set| self.frame.note_sets.get(*set as usize));
        let mut kinds: Vec<(&str, Vec<&str>)> = Vec::new();
        for note in sets.flatten() {
            let Some(note) = self.frame.notes.get(*note as usize) else {
                continue;
            };
            let at = kinds.iter().position(|(code, _)| *code == note.code);
            let at = at.unwrap_or_else(|| {
                kinds.push((&note.code, Vec::new()));
                kinds.len() - 1
            });
            if !kinds[at].1.contains(&note.text.as_str()) {
                kinds[at].1.push(&note.text);
            }
        }
        let repeats = found.values.len() > 1;
        let texts = |(code, texts): (&str, Vec<&str>)| match texts.as_slice() {
            [first, others @ ..]
                if repeats && others.len() >= ALIKE_SHOWN && !EACH_SHOWN.contains(&code) =>
            {
                vec![format!(
                    "{first}; and {} more notes of this kind ({code})",
                    others.len()
                )]
            }
            few => few.iter().map(|text| (*text).to_owned()).collect(),
        };
        kinds.into_iter().flat_map(texts).collect()
    }

    /// Everything there is to say of one cell by itself.
    pub(super) fn cell_notes(&self, index: usize, residue: &Residue) -> Vec<String> {
        let found = &self.cells.found[index];
        let mut texts: Vec<String> = Vec::new();
        let mut add = |text: String| {
            if !texts.contains(&text) {
                texts.push(text);
            }
        };
        for (at, key) in self.hidden_names() {
            let names = &found.names[at];
            if names.len() > 1 {
                add(format!(
                    "one value for {} {}s, which are no repeats of one: {}",
                    names.len(),
                    key.name(),
                    self.names_of(key, names)
                ));
            }
        }
        if found.unasked && found.values.len() > 1 {
            add(format!(
                "{} results without a command, taken for repeats of one test",
                found.values.len()
            ));
        }
        if let Some(text) = residue.within(&found.settings) {
            add(text);
        }
        for text in self.record_notes(found) {
            add(text);
        }
        if found.failed > 0 && !found.values.is_empty() {
            add(format!(
                "{} of {} runs failed and are left out",
                found.failed,
                found.failed + found.values.len()
            ));
        }
        if found.summed > 1 {
            add(format!(
                "inferred: {} {} jobs of one run, which report apart",
                match self.metric(found) {
                    Metric::Bytes => "the sum of",
                    Metric::Runtime => "the longest of",
                    Metric::Latency(_, Statistic::Min) => "the least of",
                    Metric::Latency(_, Statistic::Max) => "the greatest of",
                    Metric::Latency(..) => "the mean over the I/Os of",
                    Metric::Iops => "all I/Os over the longest run time of",
                    _ => "all bytes over the longest run time of",
                },
                found.summed
            ));
        }
        if found.parts > 1 {
            add(format!(
                "up to {} jobs of one run report apart; they are one sample, whose bounds span them all",
                found.parts
            ));
        }
        let shape = stats::shape(&found.values);
        if shape.two_groups {
            add("the runs fall into two groups; a median of both misleads".into());
        } else if shape.outliers > 0 {
            add(format!(
                "{} of {} runs lie far outside the others",
                shape.outliers,
                found.values.len()
            ));
        }
        texts
    }
}
