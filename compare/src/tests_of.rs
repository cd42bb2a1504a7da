//! Which results belong to one test, and what the test is called.
//!
//! Two results are of one test if the disk was asked for the same thing: pattern, block size,
//! depth, jobs, mix, and the time or amount that bounds it. How it was asked (engine, sync flags,
//! direct) is left out: such differences are shown as footnotes and do not tear a row apart.
//!
//! The name is the heading that the results stand under. A heading that covers several different
//! tests is followed by the test in words; a test that stands under several headings *of one
//! input* is several tests (a person ran it again under another condition and said so); without
//! a heading the words alone name it, and so they do for a test that another input has without the
//! heading, where that covers several.

use std::collections::{HashMap, HashSet};

use fio_parse::record::{Dialect, ScopeKind};
use fio_parse::{Direction, Record};

use crate::frame::told_by;
use crate::keys::{block, jobs_of, mix, number_of, numjobs, size_text};

/// What was asked of the disk, in words; empty if the record carries no workload.
pub fn asked(record: &Record) -> String {
    let Some(workload) = &record.workload else {
        return String::new();
    };
    if let Some(dd) = workload.dd() {
        let block = dd
            .block_bytes
            .map_or_else(String::new, |b| format!(" bs={}", size_text(b)));
        let amount = dd
            .asked_bytes()
            .map_or_else(String::new, |b| format!(" of {}", size_text(b)));
        let way = if record.direction == Direction::Read {
            "read"
        } else {
            "write"
        };
        return format!("dd {way}{amount}{block}");
    }
    let mut texts: Vec<String> = Vec::new();
    for job in jobs_of(record) {
        let mut text = job.pattern.map_or("read", |p| p.as_str()).to_owned();
        text.push_str(&format!(
            " bs={} iodepth={} numjobs={}",
            block(job).unwrap_or_default(),
            number_of(job, "iodepth", job.depth),
            numjobs(record, job)
        ));
        let mixes = job.pattern.is_some_and(|p| p.reads() && p.writes());
        if let Some(mix) = mix(record, job).filter(|_| mixes) {
            text.push_str(&format!(" rwmixread={mix}"));
        }
        match job.runtime_ns {
            Some(time) if job.time_based == Some(true) => {
                text.push_str(&format!(" {}s", time.seconds()));
            }
            limit => {
                if let Some(size) = job.io_size_bytes.or(job.size_bytes) {
                    text.push_str(&format!(" {}", size_text(size)));
                } else if let Some(size) = job.unread("io_size").or_else(|| job.unread("size")) {
                    text.push_str(&format!(" {size}"));
                }
                if let Some(time) = limit {
                    text.push_str(&format!(" at most {}s", time.seconds()));
                }
            }
        }
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(" + ")
}

/// The heading right above a record; empty if there is none.
pub fn heading(record: &Record) -> &str {
    record.section.last().map_or("", |label| &*label.text)
}

/// A name for a record of which neither heading nor workload is known.
pub fn fallback(record: &Record) -> String {
    match (&record.scope.job, record.scope.kind) {
        (Some(_), _) if record.source.dialect == Dialect::FioLog => told_by(&record.source.name),
        (Some(job), _) => job.to_string(),
        (None, ScopeKind::Group) => {
            format!(
                "{} group {}",
                record.source.tool.name,
                record.scope.group.unwrap_or(0)
            )
        }
        (None, _) => record.source.tool.name.to_string(),
    }
}

/// What must be known of a record to tell its test; texts by their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Facts {
    /// [`asked`].
    pub asked: u32,
    /// [`heading`].
    pub heading: u32,
    /// [`fallback`], where both are empty.
    pub fallback: u32,
    /// The input.
    pub source: u32,
}

/// Names the test of each of the given facts. Equal names are one test.
///
/// `text` gives the text of a code; facts must be distinct and in order of first appearance.
pub fn resolve<'t>(facts: &[Facts], text: &impl Fn(u32) -> &'t str) -> Vec<String> {
    // For each (test asked, input): its headings. For each heading: the tests under it.
    let mut headings: HashMap<(u32, u32), HashSet<u32>> = HashMap::new();
    let mut under: HashMap<u32, HashSet<u32>> = HashMap::new();
    let mut first_heading: HashMap<u32, u32> = HashMap::new();
    for fact in facts.iter().filter(|f| !text(f.heading).is_empty()) {
        headings
            .entry((fact.asked, fact.source))
            .or_default()
            .insert(fact.heading);
        under.entry(fact.heading).or_default().insert(fact.asked);
        if !text(fact.asked).is_empty() {
            first_heading.entry(fact.asked).or_insert(fact.heading);
        }
    }
    let split: HashSet<u32> = (headings.iter())
        .filter(|(_, headings)| headings.len() > 1)
        .map(|((asked, _), _)| *asked)
        .collect();
    let is_shared = |heading: u32| under.get(&heading).map_or(0, HashSet::len) > 1;
    let mut sources: HashMap<u32, HashSet<u32>> = HashMap::new();
    for fact in facts {
        sources.entry(fact.asked).or_default().insert(fact.source);
    }
    let everywhere = |asked: u32, heading: u32| {
        let has = |source: &u32| {
            (headings.get(&(asked, *source))).is_some_and(|all| all.contains(&heading))
        };
        sources.get(&asked).is_none_or(|all| all.iter().all(has))
    };
    let name = |fact: &Facts| -> String {
        let asked = text(fact.asked);
        if asked.is_empty() {
            let heading = text(fact.heading);
            return if heading.is_empty() {
                text(fact.fallback)
            } else {
                heading
            }
            .to_owned();
        }
        let heading = if split.contains(&fact.asked) {
            Some(fact.heading).filter(|h| !text(*h).is_empty())
        } else {
            first_heading.get(&fact.asked).copied()
        };
        match heading {
            None => asked.to_owned(),
            // It tells nothing apart, and another input has the test without it.
            Some(heading) if is_shared(heading) && !everywhere(fact.asked, heading) => {
                asked.to_owned()
            }
            Some(heading) if is_shared(heading) => {
                format!("{}: {asked}", text(heading))
            }
            Some(heading) => text(heading).to_owned(),
        }
    };
    facts.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (asked, heading, input) in, name out.
    fn names(rows: &[(&str, &str, u32)]) -> Vec<String> {
        let mut texts: Vec<&str> = vec![""];
        let mut code = |t: &'static str| match texts.iter().position(|x| *x == t) {
            Some(i) => i as u32,
            None => {
                texts.push(t);
                texts.len() as u32 - 1
            }
        };
        let leak = |t: &str| -> &'static str { Box::leak(t.to_owned().into_boxed_str()) };
        let facts: Vec<Facts> = rows
            .iter()
            .map(|(asked, heading, source)| Facts {
                asked: code(leak(asked)),
                heading: code(leak(heading)),
                fallback: code("job"),
                source: *source,
            })
            .collect();
        resolve(&facts, &|c| texts[c as usize])
    }

    #[test]
    fn a_heading_names_its_test_in_every_input() {
        assert_eq!(
            names(&[("4k", "Small", 0), ("1m", "Large", 0), ("4k", "", 1)]),
            ["Small", "Large", "Small"]
        );
        assert_eq!(
            names(&[("4k", "Small", 0), ("4k", "Tiny", 1)]),
            ["Small", "Small"]
        );
    }

    #[test]
    fn a_heading_over_several_tests_is_followed_by_words() {
        assert_eq!(
            names(&[("4k", "All", 0), ("1m", "All", 0)]),
            ["All: 4k", "All: 1m"]
        );
    }

    #[test]
    fn a_heading_over_several_tests_names_no_test_of_another_input() {
        assert_eq!(
            names(&[("4k", "All", 0), ("1m", "All", 0), ("4k", "", 1)]),
            ["4k", "All: 1m", "4k"]
        );
    }

    #[test]
    fn several_headings_of_one_input_are_several_tests() {
        assert_eq!(
            names(&[
                ("4k", "On battery", 0),
                ("4k", "On mains", 0),
                ("4k", "", 1)
            ]),
            ["On battery", "On mains", "4k"]
        );
    }

    #[test]
    fn without_a_workload_the_heading_or_the_job_names_it() {
        assert_eq!(names(&[("", "Small", 0), ("", "", 0)]), ["Small", "job"]);
    }
}
