//! Where results go: one form on standard output, others in files that are made before
//! anything runs, so that a bad name fails in the first second. A call that is wrong or
//! refused leaves none.
//!
//! Several tests in fio's JSON are one list of its documents, so that each stream is one
//! document whatever it holds.
//!
//! Files are new: none that exists is written to. Results are written as each test ends, so
//! an abort loses nothing that was measured.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fio_parse::record::{Label, LabelSource, Replayed, write_jsonl};
use fio_parse::workload::{Timed, Workload, WrittenAs};
use serde_json::{Map, Value};

use crate::caution::cautions;
use crate::cli::{Format, Target};
use crate::input::Found;
use crate::outcome::Outcome;
use crate::outcome::records::{Context, fidelity, records, warnings};
use crate::plan::note::plain_text;
use crate::plan::{Plan, TestPlan};
use crate::repeat::Rounds;
use crate::report;
use crate::talk::say;

/// The outputs of a call: checked, and once [`open`](Outputs::open) made them, written to.
#[derive(Debug)]
pub struct Outputs {
    stdout: Sink,
    files: Vec<(Sink, PathBuf, Option<NewFile>)>,
    logs: Option<PathBuf>,
    machine: Label,
    /// More than one test is to come.
    several: bool,
}

/// One stream of results.
#[derive(Debug, Clone, Copy)]
struct Sink {
    format: Format,
    /// Results in it so far.
    results: u32,
}

impl Sink {
    fn new(format: Format) -> Self {
        Sink { format, results: 0 }
    }

    /// Documents of JSON that are one document together.
    fn lists(self) -> bool {
        matches!(self.format, Format::Json | Format::JsonPlus)
    }

    /// A result with what separates it from the one before.
    fn next(&mut self, text: String, several: bool) -> String {
        if text.is_empty() {
            return text;
        }
        self.results += 1;
        match (self.lists() && several, self.results) {
            (true, 1) => format!("[\n{}", text.trim_end()),
            (true, _) => format!(",\n{}", text.trim_end()),
            // Nothing in a line tells whose run it is of; fio-parse starts a run at a version.
            (false, 2..) if self.format == Format::Terse => {
                format!("fio-replay-{}\n{text}", env!("CARGO_PKG_VERSION"))
            }
            (false, _) => text,
        }
    }

    /// What ends the stream.
    fn end(self, several: bool) -> &'static str {
        match (self.lists() && several, self.results) {
            (true, 0) => "[]\n",
            (true, _) => "\n]\n",
            (false, _) => "",
        }
    }
}

/// One finished test.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    /// Number of the workload, from 0.
    pub number: usize,
    /// Number of the run, from 1.
    pub run: u32,
    /// What tells the files of the round over all workloads from those of others.
    pub round: Option<&'a str>,
    /// The workload.
    pub found: &'a Found,
    /// Its plan.
    pub plan: &'a Plan,
    /// What was measured.
    pub outcome: &'a Outcome,
    /// Facts of the machine.
    pub environment: &'a Map<String, Value>,
}

impl Outputs {
    /// Looks at what is asked for, and makes nothing yet.
    ///
    /// # Errors
    /// If two forms are to go to standard output, a file exists already, or there is no
    /// directory for the logs.
    pub fn new(targets: &[Target], logs: Option<&Path>, machine: &str) -> io::Result<Self> {
        let mut stdout = None;
        let mut files: Vec<(Sink, PathBuf, Option<NewFile>)> = Vec::new();
        for target in targets {
            let Some(path) = &target.file else {
                if stdout.replace(target.format).is_some() {
                    let text = "only one --format can go to standard output; give the others a file: --format json=FILE";
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
                }
                continue;
            };
            if path.symlink_metadata().is_ok() || files.iter().any(|(_, known, _)| known == path) {
                let error = io::Error::from_raw_os_error(libc::EEXIST);
                return Err(named(path, &error));
            }
            files.push((Sink::new(target.format), path.clone(), None));
        }
        if let Some(directory) = logs.filter(|directory| !directory.is_dir()) {
            let text = format!(
                "{} is no directory; --log-directory needs one that exists",
                directory.display()
            );
            return Err(io::Error::new(io::ErrorKind::NotADirectory, text));
        }
        Ok(Outputs {
            stdout: Sink::new(stdout.unwrap_or(Format::Text)),
            files,
            logs: logs.map(Path::to_owned),
            machine: Label {
                text: machine.into(),
                full: None,
                span: None,
                by: LabelSource::Flag,
                ambiguous: false,
            },
            several: false,
        })
    }

    /// Makes the files, all of them or none.
    ///
    /// # Errors
    /// If one cannot be made.
    pub fn open(mut self, several: bool) -> io::Result<Self> {
        self.several = several;
        for (_, path, file) in &mut self.files {
            *file = Some(NewFile::create(path)?);
        }
        Ok(self)
    }

    /// Whether the names of all logs that a test is to have are free.
    ///
    /// # Errors
    /// If something has one of them.
    pub fn logs_are_free(&self, number: usize, plan: &Plan, rounds: &Rounds) -> io::Result<()> {
        let (Some(directory), TestPlan::Fio(plan)) = (&self.logs, &plan.test) else {
            return Ok(());
        };
        let endings = report::logs::endings(plan);
        for round in 0..rounds.most() {
            let mark = rounds.mark(round);
            for ending in &endings {
                let path = directory.join(log_name(number, mark.as_deref(), ending));
                if path.symlink_metadata().is_ok() {
                    let error = io::Error::from_raw_os_error(libc::EEXIST);
                    return Err(named(&path, &error));
                }
            }
        }
        Ok(())
    }

    /// The outputs whose form has no place for a test.
    pub fn left_out(&self, plan: &Plan) -> Vec<String> {
        let shown = |path: &PathBuf| plain_text(&path.display().to_string());
        let files = self.files.iter().map(|(sink, path, _)| (sink, shown(path)));
        std::iter::once((&self.stdout, "standard output".to_owned()))
            .chain(files)
            .filter(|(sink, _)| !sink.format.holds(&plan.test))
            .map(|(_, name)| name)
            .collect()
    }

    /// Writes the results of a test everywhere. What is not on `out` is told in the first of
    /// the two results, so that a full disk elsewhere does not lose the rest.
    pub fn write(
        &mut self,
        done: Finished<'_>,
        out: &mut dyn Write,
    ) -> (io::Result<()>, io::Result<()>) {
        let mut elsewhere = Ok(());
        for index in 0..self.files.len() {
            let text = self.render(self.files[index].0.format, done);
            let written = text.and_then(|text| self.put(index, text));
            elsewhere = elsewhere.and(written);
        }
        elsewhere = elsewhere.and(self.write_logs(done));
        let several = self.several;
        let text = self.render(self.stdout.format, done);
        let written = text.and_then(|text| {
            let text = self.stdout.next(text, several);
            out.write_all(text.as_bytes())?;
            out.flush()
        });
        (elsewhere, written)
    }

    fn put(&mut self, index: usize, text: String) -> io::Result<()> {
        let (sink, _, file) = &mut self.files[index];
        let Some(file) = file else {
            return Ok(());
        };
        let before = *sink;
        let text = sink.next(text, self.several);
        let written = file.append(&text);
        if written.is_err() {
            // It is not there, so none stands before the next.
            *sink = before;
        }
        written
    }

    /// Ends all streams; errors as with [`write`](Outputs::write).
    pub fn close(self, out: &mut dyn Write) -> (io::Result<()>, io::Result<()>) {
        let mut elsewhere = Ok(());
        for (sink, _, file) in self.files {
            let text = sink.end(self.several);
            if let Some(mut file) = file.filter(|_| !text.is_empty()) {
                elsewhere = elsewhere.and(file.append(text));
            }
        }
        let written = out.write_all(self.stdout.end(self.several).as_bytes());
        (elsewhere, written.and_then(|()| out.flush()))
    }

    fn render(&self, format: Format, done: Finished<'_>) -> io::Result<String> {
        let warm_up = done.environment.get("warm_up") == Some(&Value::Bool(true));
        Ok(match (format, &done.plan.test, done.outcome) {
            // fio's and dd's text and terse output cannot say that a run is not to be counted.
            (Format::Text | Format::Terse, ..) if warm_up => String::new(),
            (Format::Jsonl, ..) => self.jsonl(done)?,
            (Format::Json | Format::JsonPlus, TestPlan::Fio(plan), Outcome::Fio(outcome)) => {
                let own = serde_json::to_string(&self.replayed(done))?;
                report::json::fio(plan, outcome, format == Format::JsonPlus, Some(own))
            }
            (Format::Terse, TestPlan::Fio(plan), Outcome::Fio(outcome)) => {
                report::terse::fio(plan, outcome)
            }
            (Format::Text, TestPlan::Dd(plan), Outcome::Dd(outcome)) => {
                self.head(done) + &report::dd::dd(plan, outcome) + &foot(done)
            }
            (Format::Text, TestPlan::Fio(plan), Outcome::Fio(outcome)) => {
                self.head(done) + &report::text::fio(plan, outcome) + &foot(done)
            }
            // fio's forms have no place for a dd, which was told; a plan and an outcome of
            // different tests never meet.
            _ => String::new(),
        })
    }

    /// What stands above a text: the headings of the original, its command, the machine. All of
    /// it is read back by fio-parse.
    fn head(&self, done: Finished<'_>) -> String {
        let mut text = if done.run > 1 { "\n" } else { "" }.to_owned();
        text += &headings(done.found);
        if let Some(command) = asked(&done.found.workload) {
            text += &format!("$ {}\n\n", plain_text(&command));
        }
        text += &format!("fio-replay machine: {}\n", plain_text(&self.machine.text));
        text + &report::facts::line(done.environment)
    }

    /// What fio's JSON has no place for, as the records have it. One run may answer several
    /// places of a text; JSON has the first.
    fn replayed(&self, done: Finished<'_>) -> Replayed {
        Replayed {
            machine: Some(self.machine.clone()),
            section: done.found.sections.first().cloned().unwrap_or_default(),
            workload: Some(Arc::clone(&done.found.workload)),
            fidelity: Some(fidelity(done.plan, done.outcome)),
            environment: done.environment.clone(),
            warnings: warnings(done.plan, done.outcome, done.environment),
        }
    }

    /// One run answers every place of the text where the workload stands.
    fn jsonl(&self, done: Finished<'_>) -> io::Result<String> {
        let none = vec![Vec::new()];
        let sections = if done.found.sections.is_empty() {
            &none
        } else {
            &done.found.sections
        };
        let mut text = Vec::new();
        for section in sections {
            let context = Context {
                machine: self.machine.clone(),
                section: section.clone(),
                workload: Arc::clone(&done.found.workload),
                run: done.run,
                environment: done.environment.clone(),
            };
            write_jsonl(&records(done.plan, done.outcome, &context), &mut text)?;
        }
        String::from_utf8(text).map_err(io::Error::other)
    }

    fn write_logs(&self, done: Finished<'_>) -> io::Result<()> {
        let (Some(directory), TestPlan::Fio(plan), Outcome::Fio(outcome)) =
            (&self.logs, &done.plan.test, done.outcome)
        else {
            return Ok(());
        };
        for (ending, text) in report::logs::fio(plan, outcome) {
            let path = directory.join(log_name(done.number, done.round, &ending));
            NewFile::create(&path)?.append(&text)?;
            if text.is_empty() && (ending.starts_with("_bw") || ending.starts_with("_iops")) {
                say(&format!(
                    "{} is empty, as fio's would be: the run ended within its first window",
                    path.display()
                ));
            }
        }
        Ok(())
    }
}

/// The name of a log. The prefix of the original is a path, and none is honoured.
fn log_name(number: usize, round: Option<&str>, ending: &str) -> String {
    let dash = if round.is_some() { "-" } else { "" };
    let round = round.unwrap_or_default();
    format!("workload-{}{dash}{round}{ending}", number + 1)
}

/// What stands below a text: how true to the original it is, and what is doubtful.
fn foot(done: Finished<'_>) -> String {
    let cautions = cautions(done.plan, done.outcome, done.environment);
    report::plan::fidelity(done.plan, done.outcome) + &report::plan::cautions(&cautions)
}

/// The headings of the first place that a run answers. Several are marked by their level, so
/// that none is taken for a caption of the next.
fn headings(found: &Found) -> String {
    let first = found.sections.first().map_or(&[][..], Vec::as_slice);
    let several = first.len() > 1;
    let heading = |(index, label): (usize, &Label)| {
        let mark = if several {
            "#".repeat(index.min(5) + 1) + " "
        } else {
            String::new()
        };
        format!("{mark}{}\n\n", plain_text(&label.text))
    };
    first.iter().enumerate().map(heading).collect()
}

/// The command that asks for the test, in one line, with what was timed around a dd. None for
/// what was read from the head of a report, which no command says as it was.
fn asked(workload: &Workload) -> Option<String> {
    if workload.written_as == WrittenAs::FioHeader {
        return None;
    }
    let command = workload.to_command();
    let around = &workload.around;
    let before = if around.sync_before { "sync; " } else { "" };
    let after = if around.sync_after { "; sync" } else { "" };
    Some(match around.timed {
        Some(Timed::RunAndSync) => format!("{before}time sh -c \"{command}; sync\""),
        Some(Timed::SyncAndRun) => format!("time sh -c \"sync; {command}\"{after}"),
        Some(Timed::Sync) => format!("{before}{command}; time sync"),
        Some(Timed::Run) => format!("{before}time {command}{after}"),
        None | Some(Timed::Pipeline | Timed::RunAndMore) => format!("{before}{command}{after}"),
    })
}

/// A file that was not there before. One that got no whole text in the end is removed: it would
/// look like a result.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: File,
    /// Bytes of the texts that were written as a whole; none before the first.
    whole: Option<u64>,
}

impl NewFile {
    /// Makes a file that is not there yet, never through a link.
    ///
    /// # Errors
    /// If something of that name exists, or the directory cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let made = OpenOptions::new().append(true).create_new(true).open(path);
        Ok(NewFile {
            file: made.map_err(|error| named(path, &error))?,
            path: path.to_owned(),
            whole: None,
        })
    }

    /// Adds a text, or nothing of it where not all of it can be written.
    ///
    /// # Errors
    /// If it cannot be written, for example on a full disk.
    pub fn append(&mut self, text: &str) -> io::Result<()> {
        let written = self.file.write_all(text.as_bytes());
        match written {
            Ok(()) => self.whole = Some(self.whole.unwrap_or(0) + text.len() as u64),
            // Shrinking needs no room.
            Err(_) => drop(self.file.set_len(self.whole.unwrap_or(0))),
        }
        written.map_err(|error| named(&self.path, &error))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.whole.is_none() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    let hint = match error.kind() {
        io::ErrorKind::AlreadyExists => "; results go to new files only",
        _ => "",
    };
    io::Error::new(error.kind(), format!("{}: {error}{hint}", path.display()))
}
