//! Inputs: which workloads they hold. A stream of records, a fio job file, or a text with
//! commands and results in it; the content tells which. Nothing named in an input is opened:
//! a file that a job file includes, or a job file that a command names, is looked for among
//! the inputs, by the last part of its name.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use fio_parse::block::{Role, blocks};
use fio_parse::cli::{Content, sniff};
use fio_parse::diagnostic::render;
use fio_parse::record::{Label, Record, read_jsonl};
use fio_parse::source::Log;
use fio_parse::workload::command::parse_command;
use fio_parse::workload::jobfile::parse_job_file;
use fio_parse::workload::{Job, Test, Workload, Wrapping, WrittenAs, job_of_options};

use crate::include::{include_lines, input_called, is_job_file, last_part, with_includes};
use crate::locate::Origin;
use crate::secret;
use crate::variables::{Setting, fill_in, used_in};

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
    /// Names of settings that stood for something.
    used: RefCell<BTreeSet<String>>,
    /// Job files among the inputs: number and name of the input, and the text with what it
    /// includes.
    job_files: Vec<(usize, String, String)>,
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

    /// Makes the job files among the inputs known, so that commands may name them.
    pub fn know(&mut self, inputs: &[(String, Vec<u8>)]) {
        self.job_files.clear();
        for (number, (name, bytes)) in inputs.iter().enumerate() {
            let text = std::str::from_utf8(bytes).ok();
            if text.is_some_and(|text| sniff(bytes) == Content::Text && is_job_file(text)) {
                let whole = with_includes(inputs, bytes);
                let text = String::from_utf8_lossy(&whole).into_owned();
                self.job_files.push((number, name.clone(), text));
            }
        }
    }

    /// A text that is read as a workload, with its variables filled in.
    pub fn fill_in(&self, text: &str) -> String {
        let used = used_in(text, &self.settings).map(str::to_owned);
        self.used.borrow_mut().extend(used);
        fill_in(text, &self.settings)
    }

    /// What to say of settings that nothing asks for: a slip in the name would pass in silence.
    pub fn unused_settings(&self) -> Vec<String> {
        let used = self.used.borrow();
        let missing = self.found.iter().flat_map(|found| &found.workload.missing);
        let open: BTreeSet<&str> = missing
            .map(|what| what.strip_prefix("value:").unwrap_or(what))
            .filter(|what| !what.contains(':'))
            .collect();
        let open = match open.is_empty() {
            true => String::new(),
            false => format!(
                "; open: {}",
                open.into_iter().collect::<Vec<_>>().join(", ")
            ),
        };
        self.settings
            .iter()
            .filter(|(name, _)| !used.contains(name))
            .map(|(name, value)| {
                format!(
                    "--set {name}={value} changed nothing: no test here leaves {name} open{open}"
                )
            })
            .collect()
    }

    /// Adds a workload, or counts it if it is there. Two are the same if they ask for the
    /// same test and the same things around it; where they stand does not matter.
    pub fn add(&mut self, workload: &Workload, origin: Option<Origin>) -> &mut Found {
        let filled = self.filled_in(workload);
        let workload = filled.as_ref().unwrap_or(workload);
        let with_file = self.with_job_files(workload);
        // Of options that may be the job file's the command does not tell the place.
        let origin = origin.filter(|_| with_file.is_none());
        let workload = with_file.as_ref().unwrap_or(workload);
        let known = self
            .found
            .iter()
            .position(|found| same_test(&found.workload, workload));
        let index = known.unwrap_or_else(|| {
            // The span points into the input and means nothing elsewhere.
            let mut workload = Workload {
                span: None,
                ..workload.clone()
            };
            secret::hide_in(&mut workload);
            let workload = Arc::new(workload);
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
        if workload.written_as == WrittenAs::FioHeader {
            return self.with_options(workload);
        }
        let text = workload.command.as_deref()?;
        let filled = self.fill_in(text);
        let mut new = parse_command(&filled).ok()?;
        new.around = workload.around.clone();
        for (name, value) in &self.settings {
            if workload.missing.contains(name) {
                new.normalised.push(format!("set:{name}={value}"));
            }
        }
        Some(new)
    }

    /// A workload from the head of a report, which has its block size rounded or does not say how
    /// many clones ran, with those of `--set bs=SIZE` and `--set numjobs=N`.
    fn with_options(&self, workload: &Workload) -> Option<Workload> {
        let mut new = workload.clone();
        let Test::Jobs(jobs) = &mut new.test else {
            return None;
        };
        for option in ["bs", "numjobs"] {
            let open = format!("value:{option}");
            let value = self.settings.iter().find(|(name, _)| name == option);
            let Some((_, value)) = value.filter(|_| new.missing.contains(&open)) else {
                continue;
            };
            self.used.borrow_mut().insert(option.to_owned());
            let given = job_of_options("", [(option, value.as_str())], &mut Vec::new());
            for job in jobs.iter_mut().filter(|job| job.unread(option).is_some()) {
                // What was printed stands there as it was.
                job.other.retain(|(name, _)| name != option);
                match option {
                    "bs" => job.block_bytes = given.block_bytes,
                    _ => job.jobs = given.jobs,
                }
                job.other.extend(given.other.iter().cloned());
            }
            new.missing.retain(|what| *what != open);
            let rounded = format!("rounded:{option}=");
            new.normalised
                .retain(|reading| !reading.starts_with(&rounded));
            new.normalised.push(format!("set:{option}={value}"));
        }
        if new == *workload {
            return None;
        }
        new.key = Workload::new(new.written_as, new.test.clone()).key;
        Some(new)
    }

    /// The numbers of the inputs that a command names as its job files.
    fn named_by(&self, workload: &Workload) -> Vec<usize> {
        let names = workload.missing.iter();
        names
            .filter_map(|what| self.job_file(what.strip_prefix("file:")?))
            .map(|file| file.0)
            .collect()
    }

    fn job_file(&self, name: &str) -> Option<&(usize, String, String)> {
        let wanted = last_part(name);
        self.job_files
            .iter()
            .find(|(_, input, _)| last_part(input) == wanted)
    }

    /// A command that names job files with the jobs of these, where all of them are inputs.
    /// What the command says holds for their jobs unless they say otherwise, as in fio.
    fn with_job_files(&self, workload: &Workload) -> Option<Workload> {
        let named = |what: &&String| what.starts_with("file:");
        let (files, others): (Vec<&String>, Vec<&String>) =
            workload.missing.iter().partition(named);
        let [defaults] = workload.jobs() else {
            return None;
        };
        if files.is_empty() || !defaults.name.is_empty() {
            return None;
        }
        let defaults = Job {
            name: "defaults".to_owned(),
            ..defaults.clone()
        };
        let defaults = Workload::new(WrittenAs::FioJobFile, Test::Jobs(vec![defaults]));
        let defaults = defaults.to_job_file()?;
        let defaults = defaults.replacen("[defaults]", "[global]", 1);
        let mut jobs = Vec::new();
        let mut missing: Vec<String> = others.into_iter().cloned().collect();
        let mut normalised = workload.normalised.clone();
        for file in files {
            let (.., text) = self.job_file(file.strip_prefix("file:")?)?;
            let text = format!("{defaults}\n{}", self.fill_in(text));
            let read = parse_job_file(&text).workload;
            jobs.extend_from_slice(read.jobs());
            missing.extend(read.missing);
            normalised.extend(read.normalised);
        }
        let mut whole = Workload::new(WrittenAs::FioJobFile, Test::Jobs(jobs));
        whole.command = workload.command.clone();
        whole.around = workload.around.clone();
        whole.program = workload.program.clone();
        (whole.missing, whole.normalised) = (missing, normalised);
        Some(whole)
    }

    /// Adds what the inputs hold, given by name and content. What a job file includes, and a
    /// job file that a command names, is no test of its own; no other file is ever opened.
    pub fn read_all(&mut self, inputs: &[(String, Vec<u8>)]) {
        self.know(inputs);
        let mut parts = BTreeSet::new();
        for (_, bytes) in inputs {
            for name in include_lines(&String::from_utf8_lossy(bytes)) {
                parts.extend(input_called(inputs, name));
            }
        }
        // The commands of the call itself came before.
        for found in &self.found {
            parts.extend(self.named_in(found.workload.command.as_deref()));
        }
        let mut logs: Vec<Option<LogParts>> = Vec::new();
        for (name, bytes) in inputs {
            let log = self.cut(name, bytes);
            for (workload, _) in log.iter().flat_map(|log| &log.commands) {
                parts.extend(self.named_by(workload));
            }
            logs.push(log);
        }
        for (index, log) in logs.into_iter().enumerate() {
            let (name, bytes) = &inputs[index];
            match log {
                _ if parts.contains(&index) => {}
                Some(log) => self.add_log(log),
                None => {
                    let whole = with_includes(inputs, bytes);
                    self.read_whole(name, &whole, matches!(whole, Cow::Borrowed(_)));
                }
            }
        }
    }

    fn named_in(&self, command: Option<&str>) -> Vec<usize> {
        let workload = command.and_then(|text| parse_command(text).ok());
        workload.map_or(Vec::new(), |workload| self.named_by(&workload))
    }

    /// Adds what an input holds.
    pub fn read(&mut self, name: &str, bytes: &[u8]) {
        match self.cut(name, bytes) {
            Some(log) => self.add_log(log),
            None => self.read_whole(name, bytes, true),
        }
    }

    /// The commands and results of a log; nothing where the input is another thing.
    fn cut(&mut self, name: &str, bytes: &[u8]) -> Option<LogParts> {
        if sniff(bytes) == Content::Records {
            return None;
        }
        let log = Log::from_bytes(name, bytes).ok()?;
        if is_job_file(log.text()) {
            return None;
        }
        let blocks = blocks(&log);
        // Commands stand in the order of the text, whether a result follows or not.
        let commands = blocks.iter().filter_map(|block| {
            let Role::Command {
                workload: Some(workload),
                ..
            } = block.role()
            else {
                return None;
            };
            let span = workload.span.unwrap_or(block.span);
            let (line, column) = log.line_column(span.start);
            let origin = Origin {
                name: name.to_owned(),
                line: line as usize,
                column: column as usize,
                text: log.get(span).to_owned(),
                job_file: false,
            };
            Some((workload, origin))
        });
        let commands = commands.collect();
        Some(LogParts {
            commands,
            records: fio_parse::assemble::parse_blocks(&log, blocks).records,
        })
    }

    fn add_log(&mut self, log: LogParts) {
        for (workload, origin) in log.commands {
            self.add(&workload, Some(origin));
        }
        let mut runs = BTreeSet::new();
        for record in &log.records {
            self.add_record(record, &mut runs);
        }
    }

    /// `as_is`: places in the text are those in the file.
    fn read_whole(&mut self, name: &str, bytes: &[u8], as_is: bool) {
        match sniff(bytes) {
            Content::Records => self.read_records(name, bytes),
            Content::Text => self.read_job_file(name, bytes, as_is),
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

    fn read_job_file(&mut self, name: &str, bytes: &[u8], as_is: bool) {
        let log = match Log::from_bytes(name, bytes) {
            Ok(log) => log,
            Err(error) => return self.complaints.push(error.to_string()),
        };
        let filled = self.fill_in(log.text());
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
                column: 1,
                text: log.text().to_owned(),
                job_file: true,
            };
            self.add(&file.workload, Some(origin).filter(|_| as_is));
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

/// What a log holds.
struct LogParts {
    commands: Vec<(Arc<Workload>, Origin)>,
    records: Vec<Record>,
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
    fn a_command_finds_its_job_file_among_the_inputs() {
        let file = (
            "dir/two.fio".to_owned(),
            b"[global]\nbs=8k\n[a]\nrw=write\n[b]\nrw=read\nbs=4k\n".to_vec(),
        );
        for (command, size) in [
            ("fio two.fio", None),
            ("fio --size=1m --bs=64k elsewhere/two.fio", Some(1 << 20)),
        ] {
            // In the call itself, and in a text beside it.
            let mut called = Workloads::default();
            called.know(std::slice::from_ref(&file));
            called.add(&parse_command(command).unwrap(), None);
            called.read_all(std::slice::from_ref(&file));
            let mut read = Workloads::default();
            read.read_all(&[
                file.clone(),
                ("post".to_owned(), format!("$ {command}\n").into_bytes()),
            ]);
            for workloads in [called, read] {
                let found = workloads.into_found();
                assert_eq!(found.len(), 1, "{command}");
                let jobs = found[0].workload.jobs();
                let seen: Vec<_> = jobs
                    .iter()
                    .map(|job| {
                        (
                            job.block_bytes.unwrap().0,
                            job.size_bytes.map(|size| size.0),
                        )
                    })
                    .collect();
                // What the file says goes before what the command says.
                assert_eq!(seen, [(8192, size), (4096, size)], "{command}");
                assert!(found[0].workload.missing.is_empty());
            }
        }
        let mut alone = Workloads::default();
        alone.add(&parse_command("fio two.fio").unwrap(), None);
        assert_eq!(alone.into_found()[0].workload.missing, ["file:two.fio"]);
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
