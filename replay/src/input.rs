//! Inputs: which workloads they hold. A stream of records, a fio job file, or a text with
//! commands and results in it; the content tells which. Nothing named in an input is opened.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use fio_parse::block::{Role, blocks};
use fio_parse::cli::{Content, sniff};
use fio_parse::diagnostic::render;
use fio_parse::record::{Label, Record, read_jsonl};
use fio_parse::source::Log;
use fio_parse::workload::command::parse_command;
use fio_parse::workload::jobfile::{looks_like_job_file, parse_job_file};
use fio_parse::workload::{Test, Workload, Wrapping};

use crate::locate::Origin;
use crate::variables::{Setting, fill_in};

/// A workload to run, and what the text says about it.
#[derive(Debug, Clone)]
pub struct Found {
    /// The workload.
    pub workload: Arc<Workload>,
    /// The headings that its results stand under, each combination once; none without results.
    pub sections: Vec<Vec<Label>>,
    /// How many results in the text share it.
    pub results: usize,
    /// The text it was read from.
    pub origin: Option<Origin>,
}

/// The distinct workloads of all inputs, in order of appearance.
#[derive(Debug, Default)]
pub struct Workloads {
    found: Vec<Found>,
    settings: Vec<Setting>,
    /// Lines of a record stream that could not be read, and other things to tell.
    pub complaints: Vec<String>,
    /// How odd parts of job files were read.
    pub remarks: Vec<String>,
}

impl Workloads {
    /// None yet; variables are filled in from `settings`.
    pub fn new(settings: Vec<Setting>) -> Self {
        Workloads {
            settings,
            ..Workloads::default()
        }
    }

    /// Adds a workload, or counts it if it is there. Two are the same if they ask for the
    /// same test and the same things around it; where they stand does not matter.
    pub fn add(&mut self, workload: &Workload, origin: Option<Origin>) -> &mut Found {
        let filled = self.filled_in(workload);
        let workload = filled.as_ref().unwrap_or(workload);
        let known = self
            .found
            .iter()
            .position(|found| same_test(&found.workload, workload));
        let index = known.unwrap_or_else(|| {
            // The span points into the input and means nothing elsewhere.
            let workload = Arc::new(Workload {
                span: None,
                ..workload.clone()
            });
            self.found.push(Found {
                workload,
                sections: Vec::new(),
                results: 0,
                origin,
            });
            self.found.len() - 1
        });
        &mut self.found[index]
    }

    /// The workload with the variables of its command filled in, where any can be.
    fn filled_in(&self, workload: &Workload) -> Option<Workload> {
        if workload.missing.is_empty() || self.settings.is_empty() {
            return None;
        }
        let text = workload.command.as_deref()?;
        let filled = fill_in(text, &self.settings);
        let mut new = parse_command(&filled).ok()?;
        new.around = workload.around.clone();
        for (name, value) in &self.settings {
            if workload.missing.contains(name) {
                new.normalised.push(format!("set:{name}={value}"));
            }
        }
        Some(new)
    }

    /// Adds what the inputs hold, given by name and content. A job file may include another
    /// of them, and then that one is no test of its own; no other file is ever opened.
    pub fn read_all(&mut self, inputs: &[(String, Vec<u8>)]) {
        let mut included = BTreeSet::new();
        for (_, bytes) in inputs {
            for name in include_lines(&String::from_utf8_lossy(bytes)) {
                included.extend(input_called(inputs, name));
            }
        }
        for (index, (name, bytes)) in inputs.iter().enumerate() {
            if !included.contains(&index) {
                let bytes = with_includes(inputs, bytes);
                self.read(name, &bytes);
            }
        }
    }

    /// Adds what an input holds.
    pub fn read(&mut self, name: &str, bytes: &[u8]) {
        match sniff(bytes) {
            Content::Records => self.read_records(name, bytes),
            Content::Text => self.read_log(name, bytes),
        }
    }

    fn read_records(&mut self, name: &str, bytes: &[u8]) {
        let mut runs = BTreeSet::new();
        for record in read_jsonl(bytes) {
            match record {
                Ok(record) => self.add_record(&record, &mut runs),
                Err(error) => self.complaints.push(format!("{name}: {error}")),
            }
        }
    }

    fn read_log(&mut self, name: &str, bytes: &[u8]) {
        let log = match Log::from_bytes(name, bytes) {
            Ok(log) => log,
            Err(error) => return self.complaints.push(error.to_string()),
        };
        if is_job_file(log.text()) {
            let filled = fill_in(log.text(), &self.settings);
            let file = parse_job_file(&filled);
            let remarks = file
                .diagnostics
                .iter()
                .map(|diagnostic| render(&log, diagnostic));
            self.remarks.extend(remarks);
            if !file.workload.jobs().is_empty() {
                let origin = Origin {
                    name: name.to_owned(),
                    line: 1,
                    text: filled,
                };
                self.add(&file.workload, Some(origin));
            }
            return;
        }
        // Commands first: they stand in the order of the text, whether a result follows or not.
        for block in blocks(&log) {
            if let Role::Command {
                workload: Some(workload),
                ..
            } = block.role()
            {
                let span = workload.span.unwrap_or(block.span);
                let origin = Origin {
                    name: name.to_owned(),
                    line: log.line_column(span.start).0 as usize,
                    text: log.get(span).to_owned(),
                };
                self.add(&workload, Some(origin));
            }
        }
        let mut runs = BTreeSet::new();
        for record in &fio_parse::parse(&log).records {
            self.add_record(record, &mut runs);
        }
    }

    fn add_record(&mut self, record: &Record, runs: &mut BTreeSet<(Arc<str>, u32)>) {
        let Some(workload) = &record.workload else {
            return;
        };
        // A run may have several records: one per direction, job and group.
        let first = runs.insert((Arc::clone(&record.source.name), record.run));
        let section: Vec<Label> = record
            .section
            .iter()
            .map(|label| Label {
                span: None,
                ..label.clone()
            })
            .collect();
        let found = self.add(workload, None);
        found.results += usize::from(first);
        let same = |known: &Vec<Label>| {
            known
                .iter()
                .map(|label| &label.text)
                .eq(section.iter().map(|label| &label.text))
        };
        if !found.sections.iter().any(same) {
            found.sections.push(section);
        }
    }

    /// The workloads.
    pub fn into_found(self) -> Vec<Found> {
        self.found
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}

/// Whether a text is a job file, also if it begins with what it includes.
fn is_job_file(text: &str) -> bool {
    if include_lines(text).next().is_none() {
        return looks_like_job_file(text);
    }
    let own: Vec<&str> = text
        .lines()
        .filter(|line| include_line(line).is_none())
        .collect();
    looks_like_job_file(&own.join("\n"))
}

/// The files that a job file includes.
fn include_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(include_line)
}

fn include_line(line: &str) -> Option<&str> {
    let file = line.trim().strip_prefix("include")?;
    (file.starts_with([' ', '\t']) && !file.contains('=')).then(|| file.trim())
}

/// The input of this name, by its last part: paths are not followed.
fn input_called(inputs: &[(String, Vec<u8>)], name: &str) -> Option<usize> {
    let last = |path: &str| {
        path.rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let wanted = last(name);
    inputs.iter().position(|(input, _)| last(input) == wanted)
}

/// A job file with the inputs it includes in place of the lines that do; others stay.
fn with_includes<'i>(inputs: &'i [(String, Vec<u8>)], bytes: &'i [u8]) -> Cow<'i, [u8]> {
    /// How deep files may include each other.
    const DEEPEST: usize = 8;
    /// How large the whole may get, bytes.
    const MOST: usize = 1 << 20;
    let mut text = match std::str::from_utf8(bytes) {
        Ok(text) if is_job_file(text) && include_lines(text).next().is_some() => text.to_owned(),
        _ => return Cow::Borrowed(bytes),
    };
    for _ in 0..DEEPEST {
        let mut whole = String::new();
        let mut changed = false;
        for line in text.lines() {
            let content = include_line(line)
                .and_then(|name| input_called(inputs, name))
                .and_then(|index| std::str::from_utf8(&inputs[index].1).ok());
            changed |= content.is_some();
            whole.push_str(content.unwrap_or(line));
            whole.push('\n');
            if whole.len() > MOST {
                return Cow::Borrowed(bytes);
            }
        }
        text = whole;
        if !changed {
            break;
        }
    }
    Cow::Owned(text.into_bytes())
}

fn same_test(a: &Workload, b: &Workload) -> bool {
    let around = |workload: &Workload| -> (bool, bool, _) {
        let Wrapping {
            sync_before,
            sync_after,
            timed,
            ..
        } = workload.around;
        (sync_before, sync_after, timed)
    };
    let same = match (&a.test, &b.test) {
        (Test::Jobs(a), Test::Jobs(b)) => a == b,
        (Test::Dd(a), Test::Dd(b)) => a == b,
        _ => false,
    };
    same && around(a) == around(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fio_parse::workload::{Dd, Job, WrittenAs};

    fn fio(name: &str) -> Arc<Workload> {
        let job = Job {
            name: name.to_owned(),
            ..Job::default()
        };
        Arc::new(Workload::new(WrittenAs::FioCommand, Test::Jobs(vec![job])))
    }

    /// A record as another run of this program, or of the parser, would have written it.
    fn record_line(name: &str, section: &str, run: u32) -> String {
        let workload = serde_json::to_string(&*fio(name)).unwrap();
        let section = format!(r#"[{{"text":"{section}","span":[0,5],"by":"heading"}}]"#);
        format!(
            r#"{{"v":1,"source":{{"name":"x","dialect":"fio-group","tool":{{"name":"fio"}}}},"section":{section},"workload":{workload},"run":{run},"scope":{{"kind":"group"}},"direction":"write","measurement":{{}}}}"#
        ) + "\n"
    }

    #[test]
    fn a_workload_shared_by_results_is_found_once() {
        let mut workloads = Workloads::default();
        let stream = [
            ("a", "small", 1),
            ("a", "small", 2),
            ("a", "large", 3),
            ("a", "large", 3),
            ("b", "large", 4),
        ];
        let stream: String = stream
            .map(|(name, section, run)| record_line(name, section, run))
            .concat();
        workloads.read("stream", stream.as_bytes());
        assert_eq!(workloads.complaints, [""; 0]);
        let found = workloads.into_found();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].results, found[0].sections.len()), (3, 2));
    }

    #[test]
    fn commands_without_results_count_too() {
        let mut workloads = Workloads::default();
        let text = "fio --name=a --rw=randwrite --bs=4k --size=1g\n\nsome words\n\ndd if=/dev/zero of=x bs=1M count=4\n";
        workloads.read("post", text.as_bytes());
        let found = workloads.into_found();
        assert_eq!(found.len(), 2);
        assert!(
            found
                .iter()
                .all(|found| found.results == 0 && found.sections.is_empty())
        );
    }

    #[test]
    fn a_job_file_is_one_workload_with_all_its_jobs() {
        let mut workloads = Workloads::default();
        let file = "; two jobs\n[global]\nsize=1m\n\n[a]\nrw=randread\n[b]\nstonewall\nrw= write\n";
        workloads.read("two.fio", file.as_bytes());
        assert!(
            workloads.remarks[0].contains("two.fio:9"),
            "{:?}",
            workloads.remarks
        );
        let found = workloads.into_found();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].workload.jobs().len(), 2);
    }

    #[test]
    fn lines_that_are_no_records_are_complained_of() {
        let mut workloads = Workloads::default();
        workloads.read(
            "stream",
            format!("{}{{\"v\":99}}\n", record_line("a", "s", 1)).as_bytes(),
        );
        assert!(
            workloads.complaints[0].contains("line 2"),
            "{:?}",
            workloads.complaints
        );
        assert!(!workloads.is_empty());
    }

    #[test]
    fn what_is_around_a_dd_is_part_of_the_test() {
        let mut plain = Workload::new(WrittenAs::DdCommand, Test::Dd(Box::<Dd>::default()));
        let mut workloads = Workloads::default();
        workloads.add(&plain, None);
        workloads.add(&plain, None);
        plain.around.sync_after = true;
        workloads.add(&plain, None);
        assert_eq!(workloads.into_found().len(), 2);
    }
}
