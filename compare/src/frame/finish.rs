//! The frame from what was collected: names are given, codes become columns.

use fio_parse::block::fio_log::LogKind;
use polars::prelude::*;

use super::apart::{join_tests, name_apart, told_apart};
use super::called::{Contexts, join_logs, name_by_folders};
use super::{Bits, Builder, Context, Frame, key_column};
use crate::dict::Dict;
use crate::keys::{Key, Role, UNKNOWN};
use crate::tests_of::{self, Facts};

impl Builder {
    /// Builds the frame; here the tests get their names.
    pub fn finish(self) -> PolarsResult<Frame> {
        let texts = self.texts;
        let text = |code: u32| texts.get(code).map_or("", String::as_str);
        let names = tests_of::resolve(self.facts.values(), &text);
        let mut tests_named: Dict<String> = Dict::default();
        let test_codes: Vec<u32> = (names.iter())
            .map(|n| tests_named.code(n.as_str()))
            .collect();

        let contexts = self.contexts.values();
        let of = |get: fn(&Context) -> u32| -> Vec<u32> { contexts.iter().map(get).collect() };
        let flag = |get: fn(&Context) -> bool| -> Vec<bool> { contexts.iter().map(get).collect() };
        let number = |get: fn(&Context) -> Option<Bits>| -> Vec<Option<f64>> {
            contexts.iter().map(|c| get(c).map(Bits::number)).collect()
        };
        let fact = |get: fn(&Facts) -> u32| -> Vec<u32> {
            (contexts.iter())
                .map(|c| self.facts.get(c.facts).map_or(0, get))
                .collect()
        };
        let settings = of(|c| c.settings);
        let sets = self.setting_sets.values();
        let alike = alike(&settings, sets);
        let mut columns = vec![
            Column::new("source".into(), of(|c| c.source)),
            Column::new("group".into(), of(|c| c.group)),
            Column::new("rank".into(), of(|c| c.rank)),
            Column::new("failed".into(), flag(|c| c.failed)),
            Column::new("dd".into(), flag(|c| c.dd)),
            Column::new("settings".into(), settings.clone()),
            Column::new("alike".into(), alike),
            Column::new("notes".into(), of(|c| c.notes)),
            Column::new("basis".into(), of(|c| c.basis)),
            Column::new("block".into(), number(|c| c.block)),
            Column::new("nominal".into(), number(|c| c.nominal)),
            Column::new("summed".into(), of(|c| c.summed)),
            Column::new("has".into(), self.has),
            Column::new("asked".into(), fact(|f| f.asked)),
            Column::new("heading".into(), fact(|f| f.heading)),
        ];
        let position = |key: Key| self.wanted.keys.iter().position(|k| *k == key);
        let codes_of = |at: usize| -> Vec<u32> { contexts.iter().map(|c| c.keys[at]).collect() };
        let mut test_codes: Vec<u32> = (contexts.iter())
            .map(|c| test_codes[c.facts as usize])
            .collect();
        let mut machines =
            position(Key::MACHINE).map(|at| (codes_of(at), self.key_texts[at].clone()));
        if let Some((codes, dict)) = &mut machines {
            let directions = position(Key::DIRECTION).map_or_else(Vec::new, codes_of);
            let tests = test_codes.iter().enumerate();
            let tests: Vec<(u32, u32)> = tests
                .map(|(i, test)| (*test, directions.get(i).copied().unwrap_or(0)))
                .collect();
            let of_inputs = Contexts {
                machines: codes,
                by_input: &flag(|c| c.by_input),
                sources: &of(|c| c.source),
                tests: &tests,
            };
            if let Some(named) = name_by_folders(&of_inputs, self.sources.values(), dict) {
                (*codes, *dict) = named;
            }
            let of_log: Vec<bool> = (contexts.iter())
                .map(|c| {
                    let named = self
                        .facts
                        .get(c.facts)
                        .is_none_or(|f| !text(f.asked).is_empty() || !text(f.heading).is_empty());
                    let input = self.sources.get(c.source).map_or("", String::as_str);
                    !named && LogKind::of_name(input).is_some()
                })
                .collect();
            join_logs(codes, &of_log, &mut test_codes, &mut tests_named);
            if self.wanted.by_tests {
                join_tests(
                    &self.wanted,
                    &self.sorted_by,
                    (&settings, sets),
                    codes,
                    (&mut test_codes, &mut tests_named),
                    &text,
                );
            }
        }
        let mut key_texts = Vec::new();
        for (at, key) in self.wanted.keys.iter().enumerate() {
            let (codes, values) = match (*key, &machines) {
                (Key::TEST, _) => (test_codes.clone(), tests_named.values().to_vec()),
                (Key::MACHINE, Some((codes, dict))) => {
                    let told_apart = told_apart(
                        &self.wanted,
                        &self.sorted_by,
                        (&settings, sets),
                        &test_codes,
                        codes,
                        |code| text(code) != UNKNOWN,
                    );
                    let unnamed = !flag(|c| c.by_input).contains(&false);
                    name_apart(codes, &settings, dict, &told_apart, sets, &text, unnamed)
                }
                _ => (codes_of(at), self.key_texts[at].values().to_vec()),
            };
            columns.push(Column::new(key_column(*key).into(), codes));
            key_texts.push((*key, values));
        }
        let mut rows = vec![
            Column::new("context".into(), self.context),
            Column::new("run".into(), self.run),
        ];
        let height = rows[0].len();
        for (base, figures) in self.wanted.all_bases().zip(self.bases) {
            rows.extend(figures.into_columns(&base.column(), height));
        }
        Ok(Frame {
            rows: DataFrame::new_infer_height(rows)?,
            contexts: DataFrame::new_infer_height(columns)?,
            sources: self.sources.values().to_vec(),
            key_texts,
            note_sets: self.note_sets.values().to_vec(),
            notes: self.notes.values().to_vec(),
            setting_sets: self.setting_sets.values().to_vec(),
            texts: texts.values().to_vec(),
        })
    }
}

/// For each set of settings a code of what it says beside what was asked of the disk: jobs of one
/// group that do different things are still parts of one run.
fn alike(settings: &[u32], sets: &[Vec<u32>]) -> Vec<u32> {
    let ways: Vec<bool> = Key::settings().map(|k| k.role() == Role::Setting).collect();
    let mut dict: Dict<Vec<u32>> = Dict::default();
    let of_sets: Vec<u32> = (sets.iter())
        .map(|set| {
            let way = set.iter().zip(&ways).filter(|(_, way)| **way);
            let way: Vec<u32> = way.map(|(code, _)| *code).collect();
            dict.code(way.as_slice())
        })
        .collect();
    settings.iter().map(|set| of_sets[*set as usize]).collect()
}
