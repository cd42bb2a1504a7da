//! One call of `fio-replay`: inputs, plans, runs, results. All talk is on stderr, all data
//! on the given output, flushed as each test ends, so that an abort loses nothing.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fio_parse::cli::{FOUND, UNREADABLE, inputs};
use fio_parse::workload::command::parse_command;

use crate::broken::faults;
use crate::cli::{self, Arguments, Stamping};
use crate::engine::uring;
use crate::input::{Found, Workloads};
use crate::locate::Origin;
use crate::machine;
use crate::output::NewFile;
use crate::plan::{Limits, Plan, Refusal, Target, TestPlan, plan};
use crate::report;
use crate::run::Tuning;
use crate::talk::{explain_fidelity, located, say, say_refused, show_costs, talk, title};

/// A workload was refused.
pub const REFUSED: u8 = 3;

/// Largest files without `--allow-large`, bytes.
pub(crate) const FILE_LIMIT: u64 = 64 << 30;
/// Most bytes that a test writes without `--allow-long`: four times the largest files.
const WRITE_LIMIT: u64 = 4 * FILE_LIMIT;
/// Largest buffers, bytes.
const MEMORY_LIMIT: u64 = 1 << 30;
/// Descriptors that this program needs beside the test files.
const FILES_OF_OUR_OWN: u64 = 64;
/// Longest run time without `--allow-long`, ns.
const RUNTIME_LIMIT: u64 = 600_000_000_000;

/// One call.
#[derive(Debug)]
pub struct Session {
    pub(crate) arguments: Arguments,
    stdin_is_terminal: bool,
    pub(crate) show_progress: bool,
}

/// What ends the session at once.
pub(crate) enum End {
    /// stdout cannot be written.
    Output(io::Error),
    /// Said already; the exit status.
    Said(u8),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        End::Output(error)
    }
}

impl Session {
    /// A session over parsed arguments.
    pub fn new(arguments: Arguments, stdin_is_terminal: bool, show_progress: bool) -> Self {
        let quiet = arguments.quiet;
        Session {
            arguments,
            stdin_is_terminal,
            show_progress: show_progress && !quiet,
        }
    }

    /// Runs it. Gives what came of writing, and the exit status.
    pub fn run(&self, out: &mut dyn Write) -> (io::Result<()>, u8) {
        let done = if self.arguments.explain_fidelity {
            explain_fidelity(out).map_err(End::Output).map(|()| FOUND)
        } else if self.arguments.self_test {
            show_costs(out).map_err(End::Output).map(|()| FOUND)
        } else {
            self.replay(out)
        };
        match done {
            Ok(code) | Err(End::Said(code)) => (out.flush(), code),
            Err(End::Output(error)) => (Err(error), UNREADABLE),
        }
    }

    fn replay(&self, out: &mut dyn Write) -> Result<u8, End> {
        let found = self.workloads()?;
        if let Some(path) = &self.arguments.emit_fio {
            return self.emit_fio(&found, path, out);
        }
        match &self.arguments.directory {
            None => self.show_plans(&found, out),
            Some(directory) => self.run_all(&found, directory, out),
        }
    }

    /// Reads all inputs before anything is done.
    fn workloads(&self) -> Result<Vec<Found>, End> {
        let mut workloads = Workloads::new(self.arguments.settings.clone());
        let mut failed = false;
        let command = self.arguments.command_text();
        let mut texts = Vec::new();
        if let Some(device) = self
            .arguments
            .inputs
            .iter()
            .find_map(|input| device_in(input))
        {
            let why = format!("{device} is a device, which has no end; give a file or a pipe");
            return Err(said(UNREADABLE, &why));
        }
        if let Some(input) = self.arguments.inputs.iter().find(|input| is_folder(input)) {
            let name = input.to_string_lossy();
            let why = format!(
                "{name} is a directory; name the files to read, or run below it with --directory {name}"
            );
            return Err(said(UNREADABLE, &why));
        }
        if command.is_none() || !self.arguments.inputs.is_empty() {
            let inputs = inputs(&self.arguments.inputs, self.stdin_is_terminal)
                .map_err(|error| said(UNREADABLE, &error.to_string()))?;
            for input in inputs {
                match input.read() {
                    Ok(bytes) => texts.push((input.name().to_string(), bytes)),
                    Err(error) => {
                        say(&error.to_string());
                        failed = true;
                    }
                }
            }
        }
        workloads.know(&texts);
        if let Some(text) = &command {
            match parse_command(&workloads.fill_in(text)) {
                Ok(workload) => {
                    let origin = Origin {
                        name: "command".to_owned(),
                        line: 1,
                        column: 1,
                        text: text.clone(),
                        job_file: false,
                    };
                    workloads.add(&workload, Some(origin));
                }
                Err(error) => {
                    say(&error.to_string());
                    failed = true;
                }
            }
        }
        workloads.read_all(&texts);
        workloads
            .complaints
            .iter()
            .for_each(|complaint| say(complaint));
        workloads.remarks.iter().for_each(|remark| talk(remark));
        if failed || !workloads.complaints.is_empty() {
            return Err(End::Said(UNREADABLE));
        }
        if workloads.is_empty() {
            let faults = texts.iter().flat_map(|(name, bytes)| faults(name, bytes));
            faults.for_each(|fault| say(&fault));
            return Err(said(
                UNREADABLE,
                "no command of fio or dd was found; `fio-parse --explain` shows how each line was read",
            ));
        }
        workloads
            .unused_settings()
            .iter()
            .for_each(|told| say(told));
        Ok(workloads.into_found())
    }

    pub(crate) fn target(&self, number: usize) -> Target {
        let memory = machine::available_memory().map_or(MEMORY_LIMIT, |bytes| bytes / 4);
        let mut limits = Limits {
            open_files: machine::open_files().saturating_sub(FILES_OF_OUR_OWN),
            memory_bytes: memory,
            written_bytes: self.most_written(),
            ..Limits::NONE
        };
        if !self.arguments.allow_large {
            limits.file_bytes = FILE_LIMIT;
            limits.memory_bytes = memory.min(MEMORY_LIMIT);
        }
        if !self.arguments.allow_long {
            limits.runtime_ns = RUNTIME_LIMIT;
        }
        let mut target = Target {
            uring: uring::available(),
            cpus: machine::cpus(),
            battery_percent: machine::battery_percent(),
            size: self.arguments.size,
            runtime_ns: self.arguments.runtime,
            engine: self.arguments.engine,
            as_fio: self.arguments.as_fio,
            batch_stamps: self.tuning().batch_stamps,
            ..Target::new(limits)
        };
        if number > 0 {
            target.name_prefix = format!("{number}.");
        }
        target
    }

    /// What is good to know and needs nothing done; `--quiet` leaves it out.
    pub(crate) fn remark(&self, message: &str) {
        if !self.arguments.quiet {
            say(message);
        }
    }

    pub(crate) fn most_written(&self) -> u64 {
        if self.arguments.allow_long {
            u64::MAX
        } else {
            WRITE_LIMIT
        }
    }

    pub(crate) fn tuning(&self) -> Tuning {
        Tuning {
            chunk: self.arguments.submit_chunk,
            as_fio: self.arguments.as_fio,
            batch_stamps: self.arguments.stamp == Stamping::Batch,
            logs: self.arguments.log_directory.is_some(),
        }
    }

    /// A plan whose results the asked forms can hold, or why there is none.
    pub(crate) fn plan(&self, found: &Found, target: &Target) -> Result<Plan, Vec<Refusal>> {
        let plan = plan(&found.workload, target)?;
        let forms = &self.arguments.format;
        let holds = |form: &cli::Target| form.format.holds(&plan.test);
        if !forms.is_empty() && !forms.iter().any(holds) {
            let why = "a dd has no place in fio's JSON and terse output; ask for it with --format text or jsonl";
            return Err(vec![Refusal::new("no-form", why.to_owned())]);
        }
        Ok(plan)
    }

    /// Without a directory: what would be done.
    fn show_plans(&self, found: &[Found], out: &mut dyn Write) -> Result<u8, End> {
        let mut code = FOUND;
        for (number, found) in found.iter().enumerate() {
            writeln!(
                out,
                "{}{}",
                if number > 0 { "\n" } else { "" },
                title(number, found)
            )?;
            match self.plan(found, &self.target(number)) {
                Ok(plan) => out.write_all(report::plan::plan(&plan).as_bytes())?,
                Err(refusals) => {
                    code = REFUSED;
                    writeln!(out, "  refused:")?;
                    for refusal in refusals {
                        writeln!(out, "    {}", located(found, &refusal))?;
                    }
                }
            }
        }
        out.flush()?;
        self.remark(
            "nothing was touched; add --directory DIR to run this in a fresh folder below DIR; \
             what does not fit there is refused before anything runs",
        );
        Ok(code)
    }

    /// The plans as fio job files, one behind the other.
    fn emit_fio(&self, found: &[Found], path: &Path, out: &mut dyn Write) -> Result<u8, End> {
        let mut code = FOUND;
        let mut text = String::new();
        for (number, found) in found.iter().enumerate() {
            match self.plan(found, &self.target(number)) {
                Ok(plan) => match &plan.test {
                    TestPlan::Fio(fio) => text += &report::job::fio(fio),
                    TestPlan::Dd(_) => {
                        say(&format!(
                            "{} is a dd, which no fio job is equal to",
                            title(number, found)
                        ));
                        code = REFUSED;
                    }
                },
                Err(refusals) => {
                    say_refused(number, found, &refusals);
                    code = REFUSED;
                }
            }
        }
        if path == Path::new("-") {
            out.write_all(text.as_bytes())?;
            out.flush()?;
            return Ok(code);
        }
        let written = NewFile::create(path).and_then(|mut file| file.append(&text));
        written.map_err(|error| said(UNREADABLE, &error.to_string()))?;
        Ok(code)
    }
}

/// The device that an input names, plain or as `label=path`. Reading one never ends.
fn device_in(input: &OsStr) -> Option<String> {
    let text = input.to_string_lossy();
    let paths = [Some(&*text), text.split_once('=').map(|(_, path)| path)];
    let device = |path: &&str| {
        let kind = std::fs::metadata(path).map(|metadata| metadata.file_type());
        let device = kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device());
        // These end, or are the terminal's.
        device && !["/dev/null", "/dev/stdin", "/dev/tty"].contains(path)
    };
    paths.into_iter().flatten().find(device).map(str::to_owned)
}

/// Whether an input is a directory, which is no text.
fn is_folder(input: &OsStr) -> bool {
    Path::new(input).is_dir()
}

pub(crate) fn said(code: u8, message: &str) -> End {
    say(message);
    End::Said(code)
}
