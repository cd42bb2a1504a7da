//! One call of `fio-replay`: inputs, plans, runs, results. All talk is on stderr, all data
//! on the given output, flushed as each test ends, so that an abort loses nothing.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fio_parse::cli::{FOUND, NOTHING, UNREADABLE, inputs};
use fio_parse::workload::Job;
use fio_parse::workload::command::parse_command;

use crate::cli::{Arguments, Stamping};
use crate::clock::SystemClock;
use crate::control::{Control, Stop};
use crate::device::Device;
use crate::engine::uring;
use crate::input::{Found, Workloads};
use crate::locate::{self, Origin};
use crate::machine;
use crate::outcome::Outcome;
use crate::output::{Finished, Outputs, create};
use crate::plan::note::{KINDS, plain_text};
use crate::plan::{Limits, Refusal, Target, TestPlan, Verdict, plan};
use crate::progress::{Length, Progress};
use crate::repeat::Rounds;
use crate::report;
use crate::run::{Bench, Phase, Tuning};
use crate::sandbox::Sandbox;
use crate::self_test;
use crate::signals::{Cleanup, Interrupts};
use crate::variables::fill_in;

/// A workload was refused.
pub const REFUSED: u8 = 3;

/// Largest files without `--allow-large`, bytes.
const FILE_LIMIT: u64 = 64 << 30;
/// Most bytes that a test writes without `--allow-long`: four times the largest files.
const WRITE_LIMIT: u64 = 4 * FILE_LIMIT;
/// Largest buffers, bytes.
const MEMORY_LIMIT: u64 = 1 << 30;
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
        Session {
            arguments,
            stdin_is_terminal,
            show_progress,
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
        if command.is_none() || !self.arguments.inputs.is_empty() {
            let inputs = inputs(&self.arguments.inputs, self.stdin_is_terminal)
                .map_err(|error| said(UNREADABLE, &error.to_string()))?;
            let mut texts = Vec::new();
            for input in inputs {
                match input.read() {
                    Ok(bytes) => texts.push((input.name().to_string(), bytes)),
                    Err(error) => {
                        say(&error.to_string());
                        failed = true;
                    }
                }
            }
            workloads.read_all(&texts);
        }
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
        let most = u64::MAX;
        Target {
            name_prefix: if number == 0 {
                String::new()
            } else {
                format!("{number}.")
            },
            uring: uring::available(),
            space: None,
            memory_file_system: false,
            device: None,
            direct_alignment: None,
            size: self.arguments.size,
            runtime_ns: self.arguments.runtime,
            engine: self.arguments.engine,
            as_fio: self.arguments.as_fio,
            batch_stamps: self.tuning().batch_stamps,
            limits: Limits {
                file_bytes: if self.arguments.allow_large {
                    most
                } else {
                    FILE_LIMIT
                },
                memory_bytes: memory.min(MEMORY_LIMIT),
                runtime_ns: if self.arguments.allow_long {
                    most
                } else {
                    RUNTIME_LIMIT
                },
            },
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
        say("nothing was touched; add --directory DIR to run this in a fresh folder below DIR");
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
        let (mut failed, mut refused) = (false, false);
        let (arguments, all) = (&self.arguments, found.len() as u32);
        let mut rounds = Rounds::new(arguments.repeat, arguments.warm_up, arguments.target_ci);
        let each = |round| {
            found
                .iter()
                .enumerate()
                .map(move |(number, found)| (round, number, found))
        };
        for (round, number, found) in (0..rounds.most()).flat_map(each) {
            if number == 0 && rounds.enough() {
                break;
            }
            let mut target = self.target(number);
            let facts =
                |error: io::Error| said(NOTHING, &format!("cannot look at the directory: {error}"));
            let space = sandbox.space().map_err(facts)?;
            target.device = device_bytes;
            target.space = Some(space);
            target.memory_file_system = sandbox.is_memory();
            target.direct_alignment = sandbox.direct_alignment().map_err(facts)?;
            if !self.arguments.allow_large {
                target.limits.file_bytes = FILE_LIMIT.min(space.available / 4);
            }
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
            say(&format!(
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
                most_written: if self.arguments.allow_long {
                    u64::MAX
                } else {
                    WRITE_LIMIT
                },
                watch: &|phase, control| self.progress(&progress, phase, control),
            };
            let outcome = bench.run(&plan);
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

fn title(number: usize, found: &Found) -> String {
    let shared = match found.results {
        0 | 1 => String::new(),
        results => format!(" (shared by {results} results)"),
    };
    format!(
        "workload {}: {}{shared}",
        number + 1,
        plain_text(&found.workload.key)
    )
}

/// Writes to stderr. Talk that nobody can take, on a full disk or a closed pipe, must not end
/// a run, so errors are ignored.
fn talk(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

fn say(message: &str) {
    // Messages quote texts from outside.
    let lines: Vec<String> = message.lines().map(plain_text).collect();
    talk(&format!("fio-replay: {}\n", lines.join("\n")));
}

fn said(code: u8, message: &str) -> End {
    say(message);
    End::Said(code)
}

fn say_refused(number: usize, found: &Found, refusals: &[Refusal]) {
    say(&format!("refused {}", title(number, found)));
    for refusal in refusals {
        talk(&format!("  {}\n", located(found, refusal)));
    }
}

/// A refusal with the place of its option in the text.
fn located(found: &Found, refusal: &Refusal) -> String {
    let origin = found.origin.as_ref();
    let spot = refusal
        .option
        .as_deref()
        .zip(origin)
        .and_then(|(name, origin)| Some((origin, locate::option(origin, name)?)));
    let Some((origin, spot)) = spot else {
        return refusal.to_string();
    };
    let place = format!("{}:{}:{}", plain_text(&origin.name), spot.line, spot.column);
    format!("{refusal} ({place})")
}

/// What the system did not grant.
fn remarks(outcome: &Outcome) {
    if let Outcome::Fio(outcome) = outcome {
        let remarks = outcome.jobs.iter().flatten().flat_map(|job| &job.remarks);
        remarks.for_each(|remark| say(remark));
    }
}

/// What the instrument costs.
fn show_costs(out: &mut dyn Write) -> io::Result<()> {
    const EACH: Duration = Duration::from_millis(50);
    let clock = SystemClock::new();
    writeln!(
        out,
        "clock: {}, precision {} ns, drift {:.1e}",
        clock.source(),
        self_test::precision(&clock),
        clock.drift()
    )?;
    for cost in self_test::costs(&clock, EACH) {
        writeln!(out, "{:>10.2} ns per I/O: {}", cost.ns, cost.part)?;
    }
    Ok(())
}

/// A warning where the instrument is part of what it measured: its cost is more than a
/// twentieth of the time between two I/Os.
fn check_overhead(outcome: &Outcome, cost_ns: [f64; 2]) {
    let Outcome::Fio(outcome) = outcome else {
        return;
    };
    for job in outcome.jobs.iter().flatten() {
        let ios = job.flows[0].ios + job.flows[1].ios;
        let each_ns = job.window_ns as f64 / ios.max(1) as f64;
        let [alone, together] = cost_ns;
        let batched = job.depths[1..].iter().any(|&level| level > 0);
        let cost = if batched { together } else { alone };
        let share = cost * 100.0 / each_ns.max(1.0);
        if ios > 0 && share > self_test::NOTABLE_PERCENT {
            say(&format!(
                "the instrument takes {cost:.0} of {each_ns:.0} ns per I/O ({share:.0} %): it is part \
                 of what was measured"
            ));
        }
    }
}

/// All ids with their meaning.
fn explain_fidelity(out: &mut dyn Write) -> io::Result<()> {
    for level in [Verdict::Exact, Verdict::Equivalent, Verdict::Deviates] {
        writeln!(out, "{level}:")?;
        for kind in KINDS.iter().filter(|kind| kind.level == level) {
            write!(out, "  {}: {}", kind.id, kind.why)?;
            if !kind.affects.is_empty() {
                write!(out, " (spoils {})", kind.affects.join(", "))?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
