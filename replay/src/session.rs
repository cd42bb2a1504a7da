//! One call of `fio-replay`: inputs, plans, runs, results. All talk is on stderr, all data
//! on the given output, flushed as each test ends, so that an abort loses nothing.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use fio_parse::cli::{FOUND, NOTHING, UNREADABLE, inputs};
use fio_parse::record::{Label, LabelSource, write_jsonl};
use fio_parse::workload::command::parse_command;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::cli::{Arguments, Format};
use crate::clock::SystemClock;
use crate::control::{Control, Stop};
use crate::engine::uring;
use crate::input::{Found, Workloads};
use crate::machine;
use crate::outcome::Outcome;
use crate::outcome::records::{Context, records};
use crate::plan::note::KINDS;
use crate::plan::{Limits, Plan, Refusal, Target, TestPlan, Verdict, binary, plan};
use crate::report;
use crate::run::{Bench, Phase};
use crate::sandbox::Sandbox;

/// A workload was refused.
pub const REFUSED: u8 = 3;

/// Largest files without `--allow-large`, bytes.
const FILE_LIMIT: u64 = 64 << 30;
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
        match &self.arguments.directory {
            None => self.show_plans(&found, out),
            Some(directory) => self.run_all(&found, directory, out),
        }
    }

    /// Reads all inputs before anything is done.
    fn workloads(&self) -> Result<Vec<Found>, End> {
        let mut workloads = Workloads::default();
        let mut failed = false;
        let command = self.arguments.command_text();
        if let Some(text) = &command {
            match parse_command(text) {
                Ok(workload) => {
                    workloads.add(&workload);
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
            for input in inputs {
                match input.read() {
                    Ok(bytes) => workloads.read(&input.name(), &bytes),
                    Err(error) => {
                        say(&error.to_string());
                        failed = true;
                    }
                }
            }
        }
        workloads
            .complaints
            .iter()
            .for_each(|complaint| say(complaint));
        workloads
            .remarks
            .iter()
            .for_each(|remark| eprint!("{remark}"));
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
            direct_alignment: None,
            size: self.arguments.size,
            runtime_ns: self.arguments.runtime,
            engine: self.arguments.engine,
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
                        writeln!(out, "    {refusal}")?;
                    }
                }
            }
        }
        out.flush()?;
        say("nothing was touched; add --directory DIR to run this in a fresh folder below DIR");
        Ok(code)
    }

    /// With a directory: runs everything that can be planned.
    fn run_all(&self, found: &[Found], directory: &Path, out: &mut dyn Write) -> Result<u8, End> {
        // What is refused anyway must not leave a trace on the disk.
        if found
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
        let sandbox =
            Sandbox::create(directory).map_err(|error| said(UNREADABLE, &error.to_string()))?;
        let _cleanup = Cleanup(&sandbox);
        let signals = Interrupts::watch(&sandbox)
            .map_err(|error| said(NOTHING, &format!("cannot watch for signals: {error}")))?;
        let ran = self.run_each(found, &sandbox, &signals, out);
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
        out: &mut dyn Write,
    ) -> Result<u8, End> {
        let clock = SystemClock::new();
        let (mut failed, mut refused) = (false, false);
        for (number, found) in found.iter().enumerate() {
            let mut target = self.target(number);
            let facts =
                |error: io::Error| said(NOTHING, &format!("cannot look at the directory: {error}"));
            let space = sandbox.space().map_err(facts)?;
            target.space = Some(space);
            target.memory_file_system = sandbox.is_memory();
            target.direct_alignment = sandbox.direct_alignment().map_err(facts)?;
            if !self.arguments.allow_large {
                target.limits.file_bytes = FILE_LIMIT.min(space.available / 4);
            }
            let plan = match plan(&found.workload, &target) {
                Ok(plan) => plan,
                Err(refusals) => {
                    say_refused(number, found, &refusals);
                    refused = true;
                    continue;
                }
            };
            let control = Arc::new(Control::default());
            signals.guard(&control);
            say(&format!("running {}", title(number, found)));
            let mut facts = machine::facts(sandbox.path(), &clock);
            let bench = Bench {
                sandbox,
                clock: &clock,
                control: &control,
                uring: uring::Options {
                    chunk: usize::from(self.arguments.submit_chunk),
                    ..uring::Options::default()
                },
                keep: self.arguments.keep,
                watch: &|phase, control| self.progress(phase, control),
            };
            let outcome = bench.run(&plan);
            if self.show_progress {
                eprint!("\r\x1b[K");
            }
            facts.insert("clock_drift".to_owned(), clock.drift().into());
            self.results(number, found, &plan, &outcome, facts, out)?;
            if let Some(failure) = outcome.failure() {
                say(&format!("failed: {}", failure.sentence()));
                failed = true;
            }
            if let Some(stop) = outcome.stopped() {
                say(&format!(
                    "{}; what was measured until then is printed",
                    stop.words()
                ));
                failed = true;
                if stop == Stop::Interrupted {
                    break;
                }
            }
        }
        Ok(if failed {
            NOTHING
        } else if refused {
            REFUSED
        } else {
            FOUND
        })
    }

    fn results(
        &self,
        number: usize,
        found: &Found,
        plan: &Plan,
        outcome: &Outcome,
        environment: serde_json::Map<String, serde_json::Value>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let machine = Label {
            text: self.arguments.machine.as_str().into(),
            full: None,
            span: None,
            by: LabelSource::Flag,
            ambiguous: false,
        };
        let none = vec![Vec::new()];
        let sections = if found.sections.is_empty() {
            &none
        } else {
            &found.sections
        };
        match self.arguments.format {
            // One run answers every place of the text where the workload stands.
            Format::Jsonl => {
                for section in sections {
                    let context = Context {
                        machine: machine.clone(),
                        section: section.clone(),
                        workload: Arc::clone(&found.workload),
                        run: number as u32 + 1,
                        environment: environment.clone(),
                    };
                    write_jsonl(&records(plan, outcome, &context), &mut *out)?;
                }
            }
            Format::Text => {
                if number > 0 {
                    writeln!(out)?;
                }
                for label in &sections[0] {
                    writeln!(out, "{}\n", label.text)?;
                }
                let body = match (&plan.test, outcome) {
                    (TestPlan::Fio(plan), Outcome::Fio(outcome)) => {
                        report::text::fio(plan, outcome)
                    }
                    (TestPlan::Dd(plan), Outcome::Dd(outcome)) => report::dd::dd(plan, outcome),
                    _ => String::new(),
                };
                out.write_all(body.as_bytes())?;
                out.write_all(report::plan::fidelity(plan, outcome).as_bytes())?;
            }
        }
        out.flush()
    }

    /// One line on a terminal, rewritten in place.
    fn progress(&self, phase: Phase, control: &Control) {
        if !self.show_progress {
            return;
        }
        let what = match phase {
            Phase::LayingOut => "laying out",
            Phase::Running => "running",
            Phase::Flushing => "flushing",
        };
        let (bytes, operations) = control.totals();
        eprint!("\r\x1b[K{what}: {} in {operations} I/Os", binary(bytes));
    }
}

/// Removes the sandbox when a panic ends the session; the signal thread holds it too.
struct Cleanup<'a>(&'a Sandbox);

impl Drop for Cleanup<'_> {
    fn drop(&mut self) {
        // Does nothing after the orderly end, which reports errors.
        let _ = self.0.remove();
    }
}

/// Signals: the first ends the run in order, the second at once.
struct Interrupts {
    handle: signal_hook::iterator::Handle,
    state: Arc<Mutex<(bool, Option<Arc<Control>>)>>,
}

impl Interrupts {
    fn watch(sandbox: &Sandbox) -> io::Result<Self> {
        // A write beyond RLIMIT_FSIZE is to fail with EFBIG, not to kill the process: that
        // takes a handler, though nobody looks at the flag.
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let state = Arc::new(Mutex::new((false, None::<Arc<Control>>)));
        let (shared, sandbox) = (Arc::clone(&state), sandbox.clone());
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    if std::mem::replace(&mut state.0, true) {
                        // The run does not end, perhaps in a long flush: leave without it.
                        let _ = sandbox.remove();
                        std::process::exit(i32::from(NOTHING));
                    }
                    if let Some(control) = &state.1 {
                        control.stop(Stop::Interrupted);
                    }
                }
            })?;
        Ok(Interrupts { handle, state })
    }

    /// From now on a signal stops this run; at once, if one came before.
    fn guard(&self, control: &Arc<Control>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 {
            control.stop(Stop::Interrupted);
        }
        state.1 = Some(Arc::clone(control));
    }

    fn close(&self) {
        self.handle.close();
    }
}

fn title(number: usize, found: &Found) -> String {
    let shared = match found.results {
        0 | 1 => String::new(),
        results => format!(" (shared by {results} results)"),
    };
    format!("workload {}: {}{shared}", number + 1, found.workload.key)
}

fn say(message: &str) {
    eprintln!("fio-replay: {message}");
}

fn said(code: u8, message: &str) -> End {
    say(message);
    End::Said(code)
}

fn say_refused(number: usize, found: &Found, refusals: &[Refusal]) {
    say(&format!("refused {}", title(number, found)));
    refusals.iter().for_each(|refusal| eprintln!("  {refusal}"));
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
