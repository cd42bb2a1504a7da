//! A call with a directory: everything that can be planned is run, one test after the other,
//! in a sandbox below it. What is refused is told before anything runs, and the rest runs.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fio_parse::cli::{FOUND, NOTHING, UNREADABLE};
use fio_parse::workload::Job;

use crate::clock::SystemClock;
use crate::control::{Control, Stop};
use crate::device::Device;
use crate::input::Found;
use crate::machine;
use crate::output::{Finished, Outputs};
use crate::plan::Target;
use crate::progress::{Length, Progress};
use crate::repeat::Rounds;
use crate::run::{Bench, Phase};
use crate::sandbox::Sandbox;
use crate::self_test;
use crate::session::{End, FILE_LIMIT, REFUSED, Session, said};
use crate::signals::{Cleanup, Interrupts};
use crate::stale::{self, Swept};
use crate::talk::{check_overhead, remarks, say, say_refused, talk, title};

/// How often a clean-up shows how far it is.
const SHOWN_EVERY: Duration = Duration::from_millis(200);

/// Where tests run.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    sandbox: &'a Sandbox,
    /// The size of the device that the person typed.
    device_bytes: Option<u64>,
}

impl Session {
    /// What a workload is planned for in the directory or on the device, of which others will
    /// have taken so many bytes.
    fn target_in(
        &self,
        number: usize,
        Place {
            sandbox,
            device_bytes,
        }: Place<'_>,
        taken: u64,
    ) -> Result<Target, End> {
        let facts =
            |error: io::Error| said(NOTHING, &format!("cannot look at the directory: {error}"));
        let mut space = sandbox.space().map_err(facts)?;
        space.available = space.available.saturating_sub(taken);
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

    /// With a directory: runs everything that can be planned.
    pub(crate) fn run_all(
        &self,
        found: &[Found],
        directory: &Path,
        out: &mut dyn Write,
    ) -> Result<u8, End> {
        // What is refused anyway must not leave a trace on the disk; what a device is large
        // enough for is known later.
        let all = || found.iter().enumerate();
        let plans = all().map(|(number, found)| self.plan(found, &self.target(number)));
        let plans: Vec<_> = plans.collect();
        if self.arguments.device.is_none() && plans.iter().all(Result::is_err) {
            for ((number, found), plan) in all().zip(&plans) {
                if let Err(refusals) = plan {
                    say_refused(number, found, refusals);
                }
            }
            return Ok(REFUSED);
        }
        let arguments = &self.arguments;
        if machine::is_root() && !arguments.allow_root && arguments.device.is_none() {
            self.remark(
                "running as root, which tests on files do not need; a user's rights would bound them further (--allow-root: no such line)",
            );
        }
        let wrong = |error: io::Error| said(UNREADABLE, &error.to_string());
        let outputs = Outputs::new(
            &self.arguments.format,
            self.arguments.log_directory.as_deref(),
            &self.arguments.machine,
        )
        .map_err(wrong)?;
        let signals = Interrupts::watch()
            .map_err(|error| said(NOTHING, &format!("cannot watch for signals: {error}")))?;
        self.clean_up(directory, &signals)?;
        let sandbox = Sandbox::create(directory).map_err(wrong)?;
        signals.protect(&sandbox);
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
        let place = Place {
            sandbox: &sandbox,
            device_bytes,
        };
        let ran = self.run_each(found, place, &signals, outputs, out);
        signals.close();
        self.leave(&sandbox)?;
        ran
    }

    /// Removes what killed runs left in the directory.
    fn clean_up(&self, directory: &Path, signals: &Interrupts) -> Result<(), End> {
        let mut shown = None::<Instant>;
        let swept = stale::sweep(directory, &mut |swept| {
            if shown.is_none() {
                self.remark(&swept.sentence(directory));
            }
            let due = shown.is_none_or(|shown| shown.elapsed() >= SHOWN_EVERY);
            if due && self.show_progress {
                talk(&format!(
                    "\r\x1b[Kremoved {} of {} files",
                    swept.removed, swept.found
                ));
            }
            if due {
                shown = Some(Instant::now());
            }
            !signals.interrupted()
        });
        if self.show_progress && shown.is_some() {
            talk("\r\x1b[K");
        }
        let (swept, kept) = swept.map_err(|error| said(UNREADABLE, &error.to_string()))?;
        kept.iter().for_each(|told| say(told));
        if signals.interrupted() {
            let Swept { removed, found, .. } = swept;
            let message = format!(
                "interrupted by a signal; {removed} of {found} files were removed, and the next run goes on with it"
            );
            return Err(said(NOTHING, &message));
        }
        Ok(())
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
        let kept = sandbox.remove();
        let kept = kept.map_err(|error| said(NOTHING, &error.to_string()))?;
        kept.iter().for_each(|told| say(told));
        Ok(())
    }

    fn run_each(
        &self,
        found: &[Found],
        place: Place<'_>,
        signals: &Interrupts,
        outputs: Outputs,
        out: &mut dyn Write,
    ) -> Result<u8, End> {
        let sandbox = place.sandbox;
        let clock = SystemClock::new();
        let cost_ns = [1, 32].map(|depth| self_test::overhead(&clock, depth));
        let precision = self_test::precision(&clock);
        let mut failed = false;
        let arguments = &self.arguments;
        let mut rounds = Rounds::new(arguments.repeat, arguments.warm_up, arguments.target_ci);
        // What is known to be refused is told before anything runs.
        let (mut possible, mut taken) = (Vec::new(), 0u64);
        for (number, found) in found.iter().enumerate() {
            let target = self.target_in(number, place, taken)?;
            match self.plan(found, &target) {
                Ok(plan) => {
                    if self.arguments.keep {
                        taken = taken.saturating_add(plan.file_bytes());
                    }
                    outputs.left_out(&plan).iter().for_each(|name| {
                        say(&format!(
                            "{} is not in {name}: a dd has no place in fio's JSON and terse output",
                            title(number, found)
                        ));
                    });
                    let free = outputs.logs_are_free(number, &plan, &rounds);
                    free.map_err(|error| said(UNREADABLE, &error.to_string()))?;
                    possible.push((number, found));
                }
                Err(refusals) => say_refused(number, found, &refusals),
            }
        }
        if possible.is_empty() {
            return Ok(REFUSED);
        }
        if signals.interrupted() {
            return Err(said(NOTHING, Stop::Interrupted.words()));
        }
        let mut refused = possible.len() < found.len();
        let first = possible.first().map_or(0, |(number, _)| *number);
        let all = found.len() as u32;
        let several = rounds.most() > 1 || possible.len() > 1;
        let mut outputs = outputs
            .open(several)
            .map_err(|error| said(UNREADABLE, &error.to_string()))?;
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
            let target = self.target_in(number, place, 0)?;
            let plan = match self.plan(found, &target) {
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
            // a round that was cut short is no sample of the others
            if outcome.stopped().is_none() {
                rounds.take(round, number, outcome.bytes_per_sec());
            }
            let mark = rounds.mark(round);
            let done = Finished {
                number,
                run: round * all + number as u32 + 1,
                round: mark.as_deref(),
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
        let (elsewhere, written) = outputs.close(out);
        if let Err(error) = elsewhere {
            say(&format!("cannot write results: {error}"));
            failed = true;
        }
        written?;
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
