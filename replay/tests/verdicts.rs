//! Every command ends in a plan or in a refusal that names its reason, and most can be run.
//!
//! The sample beside this file holds commands as people write them: options, names and sizes
//! are theirs, hosts and paths are not. `FIO_REPLAY_CORPUS` may name a folder of more, in files
//! whose records begin with `#@ NUMBER SOURCE`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fio_parse::workload::Test;
use replay::input::{Found, Workloads};
use replay::plan::{Limits, Target, Verdict, plan};

fn target(size: Option<u64>) -> Target {
    Target {
        direct_alignment: Some(512),
        size,
        ..Target::new(Limits {
            memory_bytes: 1 << 30,
            ..Limits::NONE
        })
    }
}

/// The records of a file: each the text up to the next line `#@ ...`.
fn split(text: &str) -> Vec<String> {
    let mut records: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("#@ ") {
            records.push(String::new());
        } else if let Some(last) = records.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }
    records
}

fn found(text: &str) -> Vec<Found> {
    let mut workloads = Workloads::default();
    workloads.read_all(&[("record".to_owned(), text.as_bytes().to_vec())]);
    workloads.into_found()
}

/// Whether a target is named that is no plain file.
fn names_a_device(found: &Found) -> bool {
    let device = |name: &Option<String>| {
        name.as_deref().is_some_and(|name| {
            name.contains("/dev/") || name.contains("\\\\.\\") || name.contains("PhysicalDrive")
        })
    };
    match &found.workload.test {
        Test::Jobs(jobs) => jobs.iter().any(|job| device(&job.filename)),
        Test::Dd(dd) => {
            let kernel = ["/dev/zero", "/dev/urandom", "/dev/random", "/dev/null"];
            let other = |name: &Option<String>| {
                device(name) && !name.as_deref().is_some_and(|name| kernel.contains(&name))
            };
            other(&dd.input) || other(&dd.output)
        }
    }
}

/// Verdicts and refusals of a corpus, and which share of the commands without variables and
/// devices can be run.
#[derive(Default)]
struct Table {
    verdicts: BTreeMap<String, usize>,
    reasons: BTreeMap<String, usize>,
    plain: usize,
    plain_runnable: usize,
    /// The same without a size given to those that have none.
    plain_as_written: usize,
    records: usize,
}

fn table(records: &[String]) -> Table {
    let mut table = Table::default();
    for record in records {
        table.records += 1;
        let all = found(record);
        let Some(first) = all.first() else {
            *table.verdicts.entry("no command".to_owned()).or_default() += 1;
            continue;
        };
        let plain = first.workload.missing.is_empty() && !names_a_device(first);
        // A size on the command line is what the message for a missing one asks for.
        let planned = plan(&first.workload, &target(Some(1 << 30)));
        let verdict = match &planned {
            Ok(plan) => {
                // Scaling is the test's own wish and not the command's.
                let own = plan
                    .notes
                    .iter()
                    .filter(|note| !note.id().starts_with("scaled-"));
                let worst = own.map(|note| note.level()).max().unwrap_or(Verdict::Exact);
                worst.to_string()
            }
            Err(refusals) => {
                assert!(!refusals.is_empty(), "refused without a reason:\n{record}");
                for refusal in refusals {
                    assert!(refusal.why.len() > 10, "{refusal}");
                    *table
                        .reasons
                        .entry(refusal.why.chars().take(70).collect())
                        .or_default() += 1;
                }
                "refused".to_owned()
            }
        };
        *table.verdicts.entry(verdict).or_default() += 1;
        table.plain += usize::from(plain);
        table.plain_runnable += usize::from(plain && planned.is_ok());
        let as_written = plan(&first.workload, &target(None)).is_ok();
        table.plain_as_written += usize::from(plain && as_written);
    }
    table
}

fn show(name: &str, table: &Table) {
    println!("{name}: {} records", table.records);
    for (verdict, count) in &table.verdicts {
        let share = *count as f64 * 100.0 / table.records.max(1) as f64;
        println!("  {verdict:12} {count:4}  {share:5.1} %");
    }
    let share = table.plain_runnable as f64 * 100.0 / table.plain.max(1) as f64;
    println!(
        "  without variables and devices {} of {} can be run, {share:.1} %",
        table.plain_runnable, table.plain
    );
    println!(
        "  of them as written, without --size: {}",
        table.plain_as_written
    );
    let mut reasons: Vec<_> = table.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in reasons.iter().take(40) {
        println!("    {count:4}  {reason}");
    }
}

#[test]
fn the_sample_ends_in_plans_or_reasons() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/commands.txt");
    let records = split(&std::fs::read_to_string(sample).unwrap());
    assert!(records.len() >= 60, "{}", records.len());
    let table = table(&records);
    show("sample", &table);
    assert!(
        !table.verdicts.contains_key("no command"),
        "each record is a command"
    );
    assert!(table.plain_as_written * 100 >= table.plain * 70);
    assert!(table.verdicts.len() >= 3, "the sample has several kinds");
}

#[test]
fn a_corpus_ends_in_plans_or_reasons() {
    let Some(folder) = std::env::var_os("FIO_REPLAY_CORPUS").map(PathBuf::from) else {
        eprintln!("SKIPPED: FIO_REPLAY_CORPUS names no folder");
        return;
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let table = table(&split(&String::from_utf8_lossy(&bytes)));
        show(&path.file_name().unwrap().to_string_lossy(), &table);
    }
}
