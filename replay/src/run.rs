//! Runs a plan: lays files out, starts the jobs of each stage together, watches the disk,
//! and removes the files again.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::clock::{Clock, SystemClock};
use crate::control::{Control, Stop};
use crate::dd;
use crate::engine::helper::Helper;
use crate::engine::mmap::Mmap;
use crate::engine::null::Null;
use crate::engine::offload::Offload;
use crate::engine::place::{own_file_table, settle};
use crate::engine::pvsync::{Flagged, Pvsync};
use crate::engine::sync::Sync;
use crate::engine::uring::{self, Uring};
use crate::engine::vector::Vector;
use crate::layout::lay_out;
use crate::machine;
use crate::media::SandboxFiles;
use crate::memory::{Buffer, Pages};
use crate::outcome::{FioOutcome, Outcome};
use crate::plan::fio::FioPlan;
use crate::plan::job::{EngineKind, JobPlan};
use crate::plan::{Plan, TestPlan};
use crate::sandbox::{OpenFlags, Sandbox, free_space_floor};
use crate::worker::{Charged, Failure, JobOutcome, Worker};

/// Lines of each log of all jobs together: 32 MB where each is an I/O.
const MOST_LOG_LINES: usize = 1_000_000;

/// What the run is doing, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Test files are made.
    LayingOut,
    /// The clock runs.
    Running,
    /// Written data is made durable, after the clock.
    Flushing,
}

/// Shown to the person while a test runs; called about twice a second.
pub type Watch<'a> = &'a (dyn Fn(Phase, &Control) + std::marker::Sync);

/// Choices of the person about the instrument, not the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tuning {
    /// I/Os handed to io_uring per call (`--submit-chunk`).
    pub chunk: Option<u16>,
    /// io_uring as fio uses it (`--as-fio`).
    pub as_fio: bool,
    /// I/Os that go or come together share a stamp (`--stamp batch`).
    pub batch_stamps: bool,
    /// Logs are kept (`--log-directory`).
    pub logs: bool,
}

impl Tuning {
    fn ring(&self, job: &JobPlan) -> uring::Options {
        let ours = !self.as_fio;
        let usual = match (ours, job.direct) {
            (false, _) => 1,
            (true, true) => uring::DEVICE_CHUNK,
            // Through the page cache an I/O is done when it has been handed over.
            (true, false) => usize::MAX,
        };
        uring::Options {
            chunk: self.chunk.map_or(usual, usize::from),
            register_buffers: ours || job.ring.registered_buffers,
            register_files: ours || job.ring.registered_files,
            ask: job.ring,
            ..uring::Options::default()
        }
    }
}

/// Where and with what a plan is run.
pub struct Bench<'a> {
    /// Where files may be.
    pub sandbox: &'a Sandbox,
    /// The clock.
    pub clock: &'a SystemClock,
    /// Stops and progress.
    pub control: &'a Control,
    /// How it is measured.
    pub tuning: Tuning,
    /// Bytes after which a run is stopped.
    pub most_written: u64,
    /// Bytes of data not yet on the disk after which a run is stopped; half of the memory that
    /// is left where nothing else is said.
    pub most_dirty: Option<u64>,
    /// Progress display.
    pub watch: Watch<'a>,
}

impl Bench<'_> {
    /// Runs a plan to its end, or until it is stopped.
    pub fn run(&self, plan: &Plan) -> Outcome {
        let phase = Mutex::new(Phase::Running);
        self.watched(&phase, || match &plan.test {
            TestPlan::Fio(fio) => Outcome::Fio(self.run_fio(fio, &phase)),
            TestPlan::Dd(plan) => {
                Outcome::Dd(dd::run(plan, self.sandbox, self.clock, self.control))
            }
        })
    }

    /// Runs `work` while another thread looks after free space and shows progress.
    fn watched<T>(&self, phase: &Mutex<Phase>, work: impl FnOnce() -> T) -> T {
        let over = AtomicBool::new(false);
        let dirty_before = machine::dirty();
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    thread::park_timeout(Duration::from_millis(500));
                    // A file system that cannot be asked any more is no reason to go on
                    // filling it.
                    let low = self.sandbox.space().map_or(true, |space| {
                        space.available < free_space_floor(space.total)
                    });
                    if low {
                        self.control.stop(Stop::NoSpace);
                    }
                    if self.control.totals()[2] > self.most_written {
                        self.control.stop(Stop::Written);
                    }
                    let most_dirty = self.most_dirty.unwrap_or_else(|| {
                        machine::available_memory().map_or(u64::MAX, |bytes| bytes / 2)
                    });
                    if machine::own_dirty(dirty_before) > most_dirty {
                        self.control.stop(Stop::Dirty);
                    }
                    let now = *phase.lock().unwrap_or_else(PoisonError::into_inner);
                    (self.watch)(now, self.control);
                }
            });
            let result = work();
            over.store(true, Ordering::Relaxed);
            watcher.thread().unpark();
            result
        })
    }

    fn run_fio(&self, plan: &FioPlan, phase: &Mutex<Phase>) -> FioOutcome {
        let enter = |now| *phase.lock().unwrap_or_else(PoisonError::into_inner) = now;
        let mut outcome = FioOutcome::new(plan);
        enter(Phase::LayingOut);
        let before = self.clock.now();
        for file in &plan.files {
            if let Err(error) = lay_out(self.sandbox, file, self.control) {
                outcome.failure = Some(Failure::of(&error, "cannot lay out the test file"));
                self.control.stop(Stop::Failed);
                break;
            }
        }
        outcome.layout_ns = self.clock.now() - before;
        let (begun, mut last) = (self.clock.now(), None);
        for stage in plan.stages() {
            self.control.next_stage();
            if self.control.stopped().is_some() {
                break;
            }
            enter(Phase::Running);
            self.run_stage(plan, stage, &mut outcome);
            last = Some(stage);
        }
        outcome.elapsed_ns = self.clock.now() - begun;
        // Not between stages: the next one is to find the cache as the original finds it.
        if let Some(stage) = last {
            enter(Phase::Flushing);
            self.flush_stage(plan, stage, &mut outcome);
        }
        outcome.stopped = self.control.stopped().filter(|stop| stop.cuts_short());
        outcome.signal = self.control.signal();
        outcome.ended = SystemTime::now();
        outcome
    }

    /// The jobs of a stage, each on a thread of its own, started together.
    fn run_stage(&self, plan: &FioPlan, stage: u32, outcome: &mut FioOutcome) {
        let members: Vec<usize> = (0..plan.jobs.len())
            .filter(|&job| plan.jobs[job].stage == stage && !plan.jobs[job].create_only)
            .collect();
        let alone = members.len() == 1;
        let jobs = plan.jobs.len().max(1);
        let log_lines = self.tuning.logs.then_some(MOST_LOG_LINES / jobs);
        let barrier = Barrier::new(members.len());
        let done: Vec<(usize, JobOutcome)> = thread::scope(|scope| {
            let threads: Vec<_> = members
                .iter()
                .map(|&index| {
                    let job = &plan.jobs[index];
                    let names = job.files.iter().map(|&file| plan.files[file].name.as_str());
                    let names: Vec<&str> = names.collect();
                    let barrier = &barrier;
                    (
                        index,
                        scope.spawn(move || self.run_job(job, names, barrier, alone, log_lines)),
                    )
                })
                .collect();
            threads
                .into_iter()
                .map(|(index, thread)| {
                    let failed = || JobOutcome {
                        failure: Some(Failure {
                            code: libc::EIO,
                            what: "the job's thread panicked".into(),
                        }),
                        ..JobOutcome::default()
                    };
                    (index, thread.join().unwrap_or_else(|_| failed()))
                })
                .collect()
        });
        for (index, job) in done {
            outcome.jobs[index] = Some(job);
        }
    }

    fn run_job(
        &self,
        job: &JobPlan,
        names: Vec<&str>,
        barrier: &Barrier,
        alone: bool,
        log_lines: Option<usize>,
    ) -> JobOutcome {
        own_file_table();
        let remarks = settle(&job.place);
        // Helper threads and io_uring's workers do part of the work: always of cached files, and
        // of direct ones where a file system needs them.
        let charged = match (job.engine, alone) {
            (EngineKind::Helper | EngineKind::Offload | EngineKind::Uring, true) => {
                Charged::Process
            }
            (EngineKind::Helper | EngineKind::Offload, false) => Charged::Unknown,
            (EngineKind::Uring, false) if !job.direct => Charged::Unknown,
            _ => Charged::Thread,
        };
        let media = SandboxFiles::new(self.sandbox, names, job);
        let buffers = Buffer::slots(job.depth as usize, job.largest_block() as usize, Pages::Now);
        let failed = |error: io::Error, what: &str| {
            barrier.wait();
            self.control.stop(Stop::Failed);
            JobOutcome {
                failure: Some(Failure::of(&error, what)),
                ..JobOutcome::default()
            }
        };
        let buffers = match buffers {
            Ok(buffers) => buffers,
            Err(error) => return failed(error, "cannot allocate the buffers"),
        };
        let (clock, control) = (self.clock, self.control);
        macro_rules! on {
            ($engine:expr) => {{
                let mut worker = Worker::new(job, $engine, clock, media, control)
                    .charging(charged)
                    .stamping_batches(self.tuning.batch_stamps);
                if let Some(most) = log_lines {
                    worker = worker.logging(most);
                }
                barrier.wait();
                self.delay(job);
                let mut outcome = worker.run();
                outcome.remarks.splice(0..0, remarks);
                outcome
            }};
        }
        match job.engine {
            EngineKind::Sync if job.ring.flags_ios() => {
                on!(Pvsync::with(Flagged::new(&job.ring), buffers))
            }
            EngineKind::Sync => on!(Sync::new(buffers)),
            EngineKind::Offload => match Offload::new(buffers) {
                Ok(engine) => on!(engine),
                Err(error) => failed(error, "cannot start a thread for each I/O of the queue"),
            },
            EngineKind::Helper => on!(Helper::new(buffers)),
            EngineKind::Vector => on!(Vector::new(buffers)),
            EngineKind::Mmap => on!(Mmap::new(buffers)),
            EngineKind::Null => on!(Null::new(buffers)),
            EngineKind::Uring => match Uring::new(buffers, self.tuning.ring(job)) {
                Ok(engine) => on!(engine),
                Err(error) => failed(error, "cannot set up io_uring"),
            },
        }
    }

    /// Waits before the job's clock starts (`startdelay`).
    fn delay(&self, job: &JobPlan) {
        const SLICE: u64 = 50_000_000;
        let end = self.clock.now().saturating_add(job.pace.delay_ns);
        while self.control.stopped().is_none() {
            match end.saturating_sub(self.clock.now()) {
                0 => return,
                left => self.clock.sleep(left.min(SLICE)),
            }
        }
    }

    /// Makes what the last stage wrote durable, where the original leaves that out, and takes
    /// the time.
    fn flush_stage(&self, plan: &FioPlan, stage: u32, outcome: &mut FioOutcome) {
        for job in plan.jobs.iter().filter(|job| job.stage == stage) {
            let touched = job.engine != EngineKind::Null && !job.create_only;
            if !job.flushed_after() || !touched {
                continue;
            }
            for &file in &job.files {
                // Somebody waits for the end. A flush of some files is no figure of all.
                if self.control.stopped() == Some(Stop::Interrupted) {
                    for &file in &job.files {
                        outcome.flush_after_ns[file] = None;
                    }
                    return;
                }
                if outcome.flush_after_ns[file].is_none() {
                    self.flush(plan, file, outcome);
                }
            }
        }
    }

    fn flush(&self, plan: &FioPlan, file: usize, outcome: &mut FioOutcome) {
        let before = self.clock.now();
        let name = &plan.files[file].name;
        let synced = self
            .sandbox
            .open_file(name, OpenFlags::default())
            .and_then(|file| file.sync_all());
        match synced {
            Ok(()) => outcome.flush_after_ns[file] = Some(self.clock.now() - before),
            Err(error) => {
                let failure = Failure::of(&error, "the flush after the run failed");
                outcome.failure.get_or_insert(failure);
            }
        }
    }
}
