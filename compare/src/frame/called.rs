//! Machines and tests that nothing names but the input they stand in.
//!
//! A machine without a label is called after its file. Where several files are called the same
//! (`6.1/out.json`, `6.9/out.json`) they are not one machine: the folders that tell them apart name them,
//! together with the file unless the files of each folder hold different tests anyway. Folders called
//! `NAME=VALUE` are left out, as they are fields ([`crate::folders`]); so `run=1/out.json` and
//! `run=2/out.json` are repeats.
//!
//! fio's logs of samples tell no workload. Their test is called after the log, unless each machine has
//! just one and all are called differently: then they are one test, or nothing would stand beside another.
//!
//! Place: while the frame is finished, before anything is pooled.

use std::collections::{HashMap, HashSet};

use fio_parse::block::fio_log::LogKind;

use crate::dict::Dict;
use crate::folders::plain_parts;

/// The one test of logs of samples.
const SAMPLES: &str = "log of samples";

/// What is known of each context.
pub(super) struct Contexts<'a> {
    /// Code of the machine.
    pub machines: &'a [u32],
    /// The machine is called after the input.
    pub by_input: &'a [bool],
    /// Code of the input.
    pub sources: &'a [u32],
    /// Codes of what makes two results of a machine repeats: test and direction.
    pub tests: &'a [(u32, u32)],
}

/// A file among those called the same.
struct File {
    /// The folders that tell it apart.
    folder: String,
    /// Its name as far as it tells results apart.
    name: String,
    tests: HashSet<(u32, u32)>,
}

/// New codes and names of the machines; none if each is called after one input only.
pub(super) fn name_by_folders(
    contexts: &Contexts<'_>,
    inputs: &[String],
    names: &Dict<String>,
) -> Option<(Vec<u32>, Dict<String>)> {
    // Machine and input, with the tests; in order of first appearance.
    let mut places: Vec<(u32, u32)> = Vec::new();
    let mut tests: HashMap<(u32, u32), HashSet<(u32, u32)>> = HashMap::new();
    let mut files_of: HashMap<u32, usize> = HashMap::new();
    let all = contexts.machines.iter().zip(contexts.by_input);
    for (((machine, by_input), source), test) in all.zip(contexts.sources).zip(contexts.tests) {
        if *by_input {
            let place = (*machine, *source);
            let known = tests.entry(place).or_insert_with(|| {
                places.push(place);
                *files_of.entry(*machine).or_default() += 1;
                HashSet::new()
            });
            known.insert(*test);
        }
    }
    places.retain(|(machine, _)| files_of[machine] > 1);
    let input = |source: u32| inputs.get(source as usize).map_or("", String::as_str);
    let parts: Vec<Vec<&str>> = (places.iter())
        .map(|(_, source)| plain_parts(input(*source)).0)
        .collect();
    let (first, rest) = parts.split_first()?;
    let shared = |other: &[&str], at: &dyn Fn(&[&str], usize) -> Option<String>| {
        (0..)
            .take_while(|i| at(first, *i).is_some() && at(first, *i) == at(other, *i))
            .count()
    };
    let front = |parts: &[&str], i: usize| parts.get(i).map(|p| (*p).to_owned());
    let back = |parts: &[&str], i: usize| parts.iter().rev().nth(i).map(|p| (*p).to_owned());
    let before = rest.iter().map(|p| shared(p, &front)).min().unwrap_or(0);
    let behind = rest.iter().map(|p| shared(p, &back)).min().unwrap_or(0);
    let files: Vec<File> = (places.iter().zip(&parts))
        .map(|(place, parts)| {
            let end = parts.len().saturating_sub(behind).max(before);
            File {
                folder: parts[before.min(parts.len())..end.min(parts.len())].join("/"),
                name: told_by(input(place.1)),
                tests: tests.remove(place).unwrap_or_default(),
            }
        })
        .collect();
    let machine = |file: usize| places[file].0;
    // Of one folder, files of one name are repeats and files of one stem need their endings.
    let is_told = |a: usize, b: usize| files[a].folder != files[b].folder;
    let needs_ending = |a: usize| {
        (0..files.len())
            .any(|b| machine(a) == machine(b) && !is_told(a, b) && files[a].name != files[b].name)
    };
    let meets_another = |a: usize| {
        (0..files.len()).any(|b| {
            machine(a) != machine(b)
                && !is_told(a, b)
                && !files[a].tests.is_disjoint(&files[b].tests)
        })
    };
    let with_file = (0..files.len()).any(|a| meets_another(a) || needs_ending(a));
    let mut new_names: HashMap<(u32, u32), String> = HashMap::new();
    for (at, (place, file)) in places.iter().zip(&files).enumerate() {
        let called = names.get(place.0).map_or("", String::as_str);
        let own = if needs_ending(at) { &file.name } else { called };
        let name = match file.folder.as_str() {
            "" => own.to_owned(),
            folder if with_file => format!("{folder}/{own}"),
            folder => folder.to_owned(),
        };
        new_names.insert(*place, name);
    }
    let mut dict: Dict<String> = Dict::default();
    let codes = (contexts.machines.iter())
        .zip(contexts.sources)
        .zip(contexts.by_input)
        .map(|((machine, source), by_input)| {
            let new = new_names.get(&(*machine, *source)).filter(|_| *by_input);
            let old = || names.get(*machine).map_or("", String::as_str);
            dict.code(new.map_or_else(old, String::as_str))
        })
        .collect();
    Some((codes, dict))
}

/// What tells a file from others of its stem: of a log of samples the job, whatever is logged of it.
pub(crate) fn told_by(path: &str) -> String {
    let file = path.rsplit(['/', '\\']).next().unwrap_or("");
    let Some((_, front)) = LogKind::of_name(file) else {
        return file.to_owned();
    };
    let stem = file.strip_suffix(".log").unwrap_or(file);
    match stem.rsplit_once('.') {
        Some((_, number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{front}.{number}")
        }
        _ => front.to_owned(),
    }
}

/// Gives logs of samples one test if each machine has just one of them and all are called differently.
/// `of_log` says of each context whether the log alone names its test.
pub(super) fn join_logs(
    machines: &[u32],
    of_log: &[bool],
    tests: &mut [u32],
    names: &mut Dict<String>,
) {
    let mut test_of: HashMap<u32, u32> = HashMap::new();
    for ((machine, test), _) in machines
        .iter()
        .zip(&*tests)
        .zip(of_log)
        .filter(|(_, log)| **log)
    {
        if *test_of.entry(*machine).or_insert(*test) != *test {
            return;
        }
    }
    let different: HashSet<u32> = test_of.values().copied().collect();
    if test_of.len() < 2 || different.len() < test_of.len() {
        return;
    }
    let one = names.code(SAMPLES);
    for (test, _) in tests.iter_mut().zip(of_log).filter(|(_, log)| **log) {
        *test = one;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files with the number of their test in, names of their machines out.
    fn names(files: &[(&str, u32)]) -> Vec<String> {
        let mut dict: Dict<String> = Dict::default();
        let machines: Vec<u32> = (files.iter())
            .map(|(path, _)| dict.code(plain_parts(path).1))
            .collect();
        let inputs: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let contexts = Contexts {
            machines: &machines,
            by_input: &vec![true; files.len()],
            sources: &(0..files.len() as u32).collect::<Vec<_>>(),
            tests: &files.iter().map(|(_, test)| (*test, 0)).collect::<Vec<_>>(),
        };
        let (codes, dict) = name_by_folders(&contexts, &inputs, &dict).unwrap_or((machines, dict));
        let name = |code: &u32| dict.get(*code).cloned().unwrap();
        codes.iter().map(name).collect()
    }

    #[test]
    fn files_of_one_name_are_called_after_their_folders() {
        assert_eq!(
            names(&[("k/6.1/x/out.json", 0), ("k/6.9/x/out.json", 0)]),
            ["6.1", "6.9"]
        );
        assert_eq!(
            names(&[("out.json", 0), ("old/out.json", 0)]),
            ["out", "old"]
        );
        assert_eq!(names(&[("a.json", 0), ("k/b.json", 0)]), ["a", "b"]);
    }

    #[test]
    fn the_file_is_named_where_its_test_would_be_pooled_with_another() {
        let files = |second| {
            [
                ("6.1/a.json", 0),
                ("6.1/b.json", second),
                ("6.9/a.json", 0),
                ("6.9/b.json", second),
            ]
        };
        assert_eq!(names(&files(1)), ["6.1", "6.1", "6.9", "6.9"]);
        assert_eq!(names(&files(0)), ["6.1/a", "6.1/b", "6.9/a", "6.9/b"]);
    }

    #[test]
    fn endings_tell_apart_and_fields_do_not() {
        assert_eq!(
            names(&[("a/out.json", 0), ("a/out.log", 0)]),
            ["out.json", "out.log"]
        );
        assert_eq!(
            names(&[("run=1/out.json", 0), ("run=2/out.json", 0)]),
            ["out", "out"]
        );
    }

    #[test]
    fn logs_of_one_job_are_of_one_machine() {
        assert_eq!(told_by("x/job_bw.1.log"), "job.1");
        assert_eq!(told_by("job_clat.log"), "job");
        assert_eq!(told_by("x/bw.log"), "bw.log");
    }

    #[test]
    fn logs_are_one_test_where_each_machine_has_its_own() {
        let joined = |machines: &[u32], of_log: &[bool], tests: &[u32]| {
            let mut dict: Dict<String> = Dict::default();
            ["a", "b", "c"].iter().for_each(|name| {
                dict.code(*name);
            });
            let mut tests = tests.to_vec();
            join_logs(machines, of_log, &mut tests, &mut dict);
            tests
        };
        assert_eq!(
            joined(&[0, 1, 1], &[true, true, false], &[0, 1, 2]),
            [3, 3, 2]
        );
        assert_eq!(joined(&[0, 0, 1], &[true; 3], &[0, 1, 2]), [0, 1, 2]);
        assert_eq!(joined(&[0, 1, 2], &[true; 3], &[0, 1, 1]), [0, 1, 1]);
        assert_eq!(joined(&[0, 0], &[true; 2], &[0, 0]), [0, 0]);
    }
}
