//! One call of `fio-replay`: inputs, plans, runs, results. All talk is on stderr, all data
//! on the given output, flushed as each test ends, so that an abort loses nothing.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use fio_parse::cli::{FOUND, NOTHING, UNREADABLE, inputs};
use fio_parse::workload::Job;
use fio_parse::workload::command::parse_command;

use crate::cli::{Arguments, Stamping};
use crate::clock::SystemClock;
use crate::control::{Control, Stop};
use crate::device::Device;
use crate::engine::uring;
use crate::input::{Found, Workloads};
use crate::locate::Origin;
use crate::machine;
use crate::output::{Finished, Outputs, create};
use crate::plan::{Limits, Target, TestPlan, plan};
use crate::progress::{Length, Progress};
use crate::repeat::Rounds;
use crate::report;
use crate::run::{Bench, Phase, Tuning};
use crate::sandbox::Sandbox;
use crate::self_test;
use crate::signals::{Cleanup, Interrupts};
use crate::talk::{
    check_overhead, explain_fidelity, located, remarks, say, say_refused, show_costs, talk, title,
};
use crate::variables::fill_in;

/// A workload was refused.
pub const REFUSED: u8 = 3;

/// Largest files without `--allow-large`, bytes.
const FILE_LIMIT: u64 = 64 << 30;
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
    arguments: Arguments,
    stdin_is_terminal: bool,
    show_progress: bool,
}

/// What ends the session at once.
enum End {
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
            let filled = fill_in(text, &self.arguments.settings);
            match parse_command(&filled) {
                Ok(workload) => {
                    let origin = Origin {
                        name: "command".to_owned(),
                        line: 1,
                        text: filled,
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
            return Err(said(
                UNREADABLE,
                "no command of fio or dd was found; `fio-parse --explain` shows how each line was read",
            ));
        }
        Ok(workloads.into_found())
    }

    fn target(&self, number: usize) -> Target {
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

    /// What a workload is planned for in the directory or on the device.
    fn target_in(
        &self,
        number: usize,
        sandbox: &Sandbox,
        device_bytes: Option<u64>,
    ) -> Result<Target, End> {
        let facts =
            |error: io::Error| said(NOTHING, &format!("cannot look at the directory: {error}"));
        let space = sandbox.space().map_err(facts)?;
        let mut target = self.target(number);
        target.device = device_bytes;
        target.space = Some(space);
        target.memory_file_system = sandbox.is_memory();
        target.direct_alignment = sandbox.direct_alignment().map_err(facts)?;
        if !self.arguments.allow_large {
            target.limits.file_bytes = FILE_LIMIT.min(space.available / 4);
        }
        Ok(target)
    }

    /// What is good to know and needs nothing done; `--quiet` leaves it out.
    fn remark(&self, message: &str) {
        if !self.arguments.quiet {
            say(message);
        }
    }

    fn most_written(&self) -> u64 {
        if self.arguments.allow_long {
            u64::MAX
        } else {
            WRITE_LIMIT
        }
    }

    fn tuning(&self) -> Tuning {
        Tuning {
            chunk: self.arguments.submit_chunk,
            as_fio: self.arguments.as_fio,
            batch_stamps: self.arguments.stamp == Stamping::Batch,
        }
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
            match plan(&found.workload, &self.target(number)) {
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
            match plan(&found.workload, &self.target(number)) {
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
        let written = create(path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| said(UNREADABLE, &error.to_string()))?;
        Ok(code)
    }

    /// With a directory: runs everything that can be planned.
    fn run_all(&self, found: &[Found], directory: &Path, out: &mut dyn Write) -> Result<u8, End> {
        // What is refused anyway must not leave a trace on the disk; what a device is large
        // enough for is known later.
        if self.arguments.device.is_none()
            && found
                .iter()
                .enumerate()
                .all(|(number, found)| plan(&found.workload, &self.target(number)).is_err())
        {
            for (number, found) in found.iter().enumerate() {
                if let Err(refusals) = plan(&found.workload, &self.target(number)) {
                    say_refused(number, found, &refusals);
                }
            }
            return Ok(REFUSED);
        }
        if machine::is_root() && self.arguments.device.is_none() {
            self.remark(
                "running as root, which tests on files do not need; a user's rights would bound them further",
            );
        }
        let mut outputs = Outputs::open(
            &self.arguments.format,
            self.arguments.log_directory.as_deref(),
            &self.arguments.machine,
        )
        .map_err(|error| said(UNREADABLE, &error.to_string()))?;
        let sandbox =
            Sandbox::create(directory).map_err(|error| said(UNREADABLE, &error.to_string()))?;
        let _cleanup = Cleanup(&sandbox);
        let mut device_bytes = None;
        if let Some(path) = &self.arguments.device {
            let writes = |job: &Job| job.pattern.is_some_and(|pattern| pattern.writes());
            let writes = found
                .iter()
                .any(|found| found.workload.jobs().iter().any(writes));
            let device = Device::claim(path, writes);
            let device = device.map_err(|error| said(REFUSED, &error.to_string()))?;
            device_bytes = Some(device.bytes);
            sandbox.use_device(device);
        }
        let signals = Interrupts::watch(&sandbox)
            .map_err(|error| said(NOTHING, &format!("cannot watch for signals: {error}")))?;
        let ran = self.run_each(found, &sandbox, &signals, device_bytes, &mut outputs, out);
        signals.close();
        self.leave(&sandbox)?;
        ran
    }

    fn leave(&self, sandbox: &Sandbox) -> Result<(), End> {
        if self.arguments.keep {
            match sandbox.keep() {
                Ok(path) => say(&format!("the test files are in {}", path.display())),
                Err(error) => {
                    return Err(said(
                        NOTHING,
                        &format!("could not keep the test files: {error}"),
                    ));
                }
            }
            return Ok(());
        }
        sandbox
            .remove()
            .map_err(|error| said(NOTHING, &error.to_string()))
    }

    fn run_each(
        &self,
        found: &[Found],
        sandbox: &Sandbox,
        signals: &Interrupts,
        device_bytes: Option<u64>,
        outputs: &mut Outputs,
        out: &mut dyn Write,
    ) -> Result<u8, End> {
        let clock = SystemClock::new();
        let cost_ns = [1, 32].map(|depth| self_test::overhead(&clock, depth));
        let precision = self_test::precision(&clock);
        let mut failed = false;
        // What is known to be refused is told before anything runs.
        let mut possible = Vec::new();
        for (number, found) in found.iter().enumerate() {
            let target = self.target_in(number, sandbox, device_bytes)?;
            match plan(&found.workload, &target) {
                Ok(_) => possible.push((number, found)),
                Err(refusals) => say_refused(number, found, &refusals),
            }
        }
        let mut refused = possible.len() < found.len();
        let first = possible.first().map_or(0, |(number, _)| *number);
        let (arguments, all) = (&self.arguments, found.len() as u32);
        let mut rounds = Rounds::new(arguments.repeat, arguments.warm_up, arguments.target_ci);
        let each = |round| {
            possible
                .iter()
                .map(move |&(number, found)| (round, number, found))
        };
        for (round, number, found) in (0..rounds.most()).flat_map(each) {
            if number == first && rounds.enough() {
                break;
            }
            // The tests before may have left less room.
            let target = self.target_in(number, sandbox, device_bytes)?;
            let plan = match plan(&found.workload, &target) {
                Ok(plan) => plan,
                Err(refusals) => {
                    if round == 0 {
                        say_refused(number, found, &refusals);
                    }
                    refused = true;
                    continue;
                }
            };
            let control = Arc::new(Control::default());
            signals.guard(&control);
            let name = rounds.name(round).map(|name| format!(", {name}"));
            self.remark(&format!(
                "running {}{}",
                title(number, found),
                name.unwrap_or_default()
            ));
            let mut facts = machine::facts(sandbox.path(), &clock, self.arguments.host_name);
            let progress = Progress::new(Length::of(&plan));
            let noise_before = machine::noise();
            let bench = Bench {
                sandbox,
                clock: &clock,
                control: &control,
                tuning: self.tuning(),
                most_written: self.most_written(),
                most_dirty: None,
                watch: &|phase, control| self.progress(&progress, phase, control),
            };
            let largest = plan.files().iter().map(|file| file.bytes).max();
            let limit = largest.map(machine::FileSizeLimit::new);
            let outcome = bench.run(&plan);
            drop(limit);
            if self.show_progress {
                talk("\r\x1b[K");
            }
            facts.insert("clock_precision_ns".to_owned(), precision.into());
            facts.insert("instrument_ns_per_io".to_owned(), cost_ns[0].into());
            facts.insert("instrument_ns_per_batched_io".to_owned(), cost_ns[1].into());
            facts.insert("clock_drift".to_owned(), clock.drift().into());
            facts.insert("noise_before".to_owned(), noise_before.into());
            facts.insert("noise_after".to_owned(), machine::noise().into());
            if rounds.most() > 1 {
                facts.insert("round".to_owned(), (round + 1).into());
                facts.insert("warm_up".to_owned(), rounds.is_warm_up(round).into());
            }
            rounds.take(round, number, outcome.bytes_per_sec());
            let done = Finished {
                number,
                run: round * all + number as u32 + 1,
                round,
                found,
                plan: &plan,
                outcome: &outcome,
                environment: &facts,
            };
            let (elsewhere, written) = outputs.write(done, out);
            if let Err(error) = elsewhere {
                say(&format!("cannot write results: {error}"));
                failed = true;
            }
            written?;
            remarks(&outcome);
            check_overhead(&outcome, cost_ns);
            if !self.arguments.keep || round + 1 < rounds.most() {
                // The next test needs the room, and the next round the names.
                for file in plan.files().iter().filter(|file| !file.device) {
                    let removed = sandbox.remove_file(&file.name);
                    removed.map_err(|error| {
                        said(NOTHING, &format!("cannot remove a test file: {error}"))
                    })?;
                }
            }
            if let Some(failure) = outcome.failure() {
                say(&format!("failed: {}", failure.sentence()));
                failed = true;
            }
            if let Some(stop) = outcome.stopped() {
                let left = if outcome.measured() {
                    "what was measured until then is printed"
                } else {
                    "nothing was measured yet"
                };
                say(&format!("{}; {left}", stop.words()));
                failed = true;
                if stop == Stop::Interrupted {
                    break;
                }
            }
        }
        rounds.summary().iter().for_each(|line| say(line));
        Ok(if failed {
            NOTHING
        } else if refused {
            REFUSED
        } else {
            FOUND
        })
    }

    /// One line on a terminal, rewritten in place.
    fn progress(&self, progress: &Progress, phase: Phase, control: &Control) {
        if self.show_progress {
            let [operations, bytes, _] = control.totals();
            let line = progress.line(Instant::now(), phase, operations, bytes);
            talk(&format!("\r\x1b[K{line}"));
        }
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

fn said(code: u8, message: &str) -> End {
    say(message);
    End::Said(code)
}
