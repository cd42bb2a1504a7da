//! The loop of dd: read a block, write what was read, so many times.
//!
//! The clock is GNU dd's: it starts when both files are open and stops when the sink is
//! closed, so `conv=fsync` and the close are inside, the open is not. A `sync` after the
//! command is two stages with times of their own: fsync of the file, then syncfs of its
//! file system; never sync(2), which would stall the whole machine. The wall time is what
//! the shell's `time` would have covered.
//!
//! It runs on a thread of its own: a thread that used io_uring before may have a
//! notification pending, which ends a long read of `/dev/zero` early.
//!
//! The buffer is one page-aligned block that is touched for the first time inside the
//! window, as dd's is: with `bs=1G` the page faults are part of the test.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::thread;

use fio_parse::workload::Timed;
use rustix::fs::{Advice, fadvise};

use crate::clock::{Clock, Usage};
use crate::control::{Control, Stop};
use crate::layout::lay_out;
use crate::memory::{Buffer, Pages};
use crate::plan::dd::{ConvSync, DdPlan, Sink, Source};
use crate::sandbox::{OpenFlags, Sandbox};
use crate::worker::Failure;

/// Blocks moved: whole ones and shorter ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Whole blocks.
    pub full: u64,
    /// Shorter blocks.
    pub partial: u64,
}

impl Blocks {
    fn count(&mut self, moved: usize, block: u64) {
        if moved as u64 == block {
            self.full += 1;
        } else {
            self.partial += 1;
        }
    }
}

/// Everything a dd run measured.
#[derive(Debug, Clone, Default)]
pub struct DdOutcome {
    /// Blocks read.
    pub read: Blocks,
    /// Blocks written.
    pub written: Blocks,
    /// Bytes written.
    pub bytes: u64,
    /// dd's own window, ns.
    pub window_ns: u64,
    /// Time spent reading the source, ns; part of the window.
    pub source_ns: u64,
    /// Time of `conv=fsync` or `fdatasync`, ns; part of the window.
    pub conv_sync_ns: Option<u64>,
    /// fsync of the file after the window: the first stage of a trailing `sync`, or a
    /// flush that the original leaves out.
    pub file_sync_ns: Option<u64>,
    /// syncfs after that, ns: the second stage of a trailing `sync`.
    pub file_system_sync_ns: Option<u64>,
    /// What `time` covered, ns.
    pub wall_ns: Option<u64>,
    /// CPU time of the loop.
    pub usage: Usage,
    /// Why it ended early.
    pub stopped: Option<Stop>,
    /// What went wrong.
    pub failure: Option<Failure>,
}

impl DdOutcome {
    /// Whether producing the bytes took more than half of the window: then the figure says
    /// more about the source than about the disk.
    pub fn source_limited(&self) -> bool {
        self.source_ns * 2 > self.window_ns
    }
}

/// Runs a dd.
pub fn run(plan: &DdPlan, sandbox: &Sandbox, clock: &impl Clock, control: &Control) -> DdOutcome {
    let work = || {
        let mut outcome = DdOutcome::default();
        if let Err(failure) = stages(plan, sandbox, clock, control, &mut outcome) {
            outcome.failure = Some(failure);
        }
        outcome
    };
    let joined = thread::scope(|scope| scope.spawn(work).join());
    let mut outcome = joined.unwrap_or_else(|_| DdOutcome {
        failure: Some(Failure {
            code: libc::EIO,
            what: "the copying thread panicked".to_owned(),
        }),
        ..DdOutcome::default()
    });
    outcome.stopped = control.stopped();
    outcome
}

fn stages(
    plan: &DdPlan,
    sandbox: &Sandbox,
    clock: &impl Clock,
    control: &Control,
    outcome: &mut DdOutcome,
) -> Result<(), Failure> {
    let failed = |what: &'static str| move |error: io::Error| Failure::of(&error, what);
    if let Some(file) = plan.file.as_ref().filter(|file| file.written_in.is_some()) {
        lay_out(sandbox, file, control).map_err(failed("cannot lay out the test file"))?;
    }
    let before_sync = clock.now();
    if plan.sync_before {
        sandbox
            .sync_file_system()
            .map_err(failed("the sync before dd failed"))?;
    }
    let start = clock.now();
    copy(plan, sandbox, clock, control, outcome)?;
    let end = clock.now();
    if let Some(file) = plan.file.as_ref().filter(|_| plan.sink == Sink::File)
        && (plan.sync_after || plan.conv_sync == ConvSync::None)
    {
        let own = sandbox.open_file(&file.name, OpenFlags::default());
        let synced = own.and_then(|own| own.sync_all());
        synced.map_err(failed("the fsync of the test file failed"))?;
        outcome.file_sync_ns = Some(clock.now() - end);
    }
    if plan.sync_after {
        let before = clock.now();
        sandbox
            .sync_file_system()
            .map_err(failed("syncfs failed"))?;
        outcome.file_system_sync_ns = Some(clock.now() - before);
    }
    let after_sync = if plan.sync_after { clock.now() } else { end };
    outcome.wall_ns = match plan.timed {
        None | Some(Timed::Pipeline | Timed::RunAndMore) => None,
        Some(Timed::Run) => Some(end - start),
        Some(Timed::RunAndSync) => Some(after_sync - start),
        Some(Timed::Sync) => Some(after_sync - end),
        Some(Timed::SyncAndRun) => Some(end - before_sync),
    };
    Ok(())
}

/// dd itself: opens, copies, syncs, closes.
fn copy(
    plan: &DdPlan,
    sandbox: &Sandbox,
    clock: &impl Clock,
    control: &Control,
    outcome: &mut DdOutcome,
) -> Result<(), Failure> {
    let failed = |what: &'static str| move |error: io::Error| Failure::of(&error, what);
    let mut source = open_source(plan, sandbox).map_err(failed("cannot open the source"))?;
    let mut sink = open_sink(plan, sandbox).map_err(failed("cannot open the sink"))?;
    let buffers = Buffer::slots(1, plan.block as usize, Pages::OnTouch);
    let mut buffers = buffers.map_err(failed("cannot allocate the block"))?;
    let buffer = &mut buffers[0];
    let usage = Usage::of_this_thread();
    let start = clock.now();
    let mut now = start;
    let mut result = Ok(());
    for _ in 0..plan.count {
        if control.stopped().is_some() {
            break;
        }
        let read = read_block(&mut source, buffer, plan.full_blocks);
        let after_read = clock.now();
        outcome.source_ns += after_read - now;
        let moved = match read {
            Ok(0) => break,
            Ok(moved) => moved,
            Err(error) => {
                result = Err(Failure::of(&error, "reading the source failed"));
                break;
            }
        };
        outcome.read.count(moved, plan.block);
        let written = write_block(&mut sink, &buffer[..moved], outcome, plan.block);
        now = clock.now();
        control.progress([1, moved as u64, moved as u64]);
        if let Err(error) = written {
            result = Err(Failure::of(&error, "writing failed"));
            break;
        }
    }
    if result.is_ok() && plan.conv_sync != ConvSync::None {
        let before = clock.now();
        let synced = match plan.conv_sync {
            ConvSync::Full => sink.sync_all(),
            ConvSync::Data | ConvSync::None => sink.sync_data(),
        };
        outcome.conv_sync_ns = Some(clock.now() - before);
        result = synced.map_err(failed("the sync at the end failed"));
    }
    drop((source, sink));
    outcome.window_ns = clock.now() - start;
    outcome.usage = Usage::of_this_thread().since(usage);
    result
}

fn read_block(source: &mut File, buffer: &mut [u8], full: bool) -> io::Result<usize> {
    let mut moved = 0;
    loop {
        match source.read(&mut buffer[moved..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(0) => return Ok(moved),
            Ok(more) => {
                moved += more;
                if !full || moved == buffer.len() {
                    return Ok(moved);
                }
            }
        }
    }
}

/// Writes a block. A block counts when all of it is written; bytes count as they go.
fn write_block(
    sink: &mut File,
    mut rest: &[u8],
    outcome: &mut DdOutcome,
    block: u64,
) -> io::Result<()> {
    let whole = rest.len();
    while !rest.is_empty() {
        match sink.write(rest) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(moved) => {
                outcome.bytes += moved as u64;
                rest = &rest[moved..];
            }
        }
    }
    outcome.written.count(whole, block);
    Ok(())
}

/// A device of the kernel whose path is a constant of this program; checked to be one.
fn kernel_device(path: &'static str) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .write(path == "/dev/null")
        .open(path)?;
    if !file.metadata()?.file_type().is_char_device() {
        return Err(io::Error::other(format!(
            "{path} is not a character device"
        )));
    }
    Ok(file)
}

fn file_name(plan: &DdPlan) -> io::Result<&str> {
    plan.file
        .as_ref()
        .map(|file| file.name.as_str())
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn open_source(plan: &DdPlan, sandbox: &Sandbox) -> io::Result<File> {
    match plan.source {
        Source::Zero => kernel_device("/dev/zero"),
        Source::Random => kernel_device("/dev/urandom"),
        Source::File => {
            let flags = OpenFlags {
                direct: plan.direct,
                ..OpenFlags::default()
            };
            let file = sandbox.open_file(file_name(plan)?, flags)?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
            Ok(file)
        }
    }
}

fn open_sink(plan: &DdPlan, sandbox: &Sandbox) -> io::Result<File> {
    if plan.sink == Sink::Null {
        return kernel_device("/dev/null");
    }
    let name = file_name(plan)?;
    if !plan.overwrite {
        drop(sandbox.create_file(name)?);
    }
    let flags = OpenFlags {
        write: true,
        write_only: true,
        direct: plan.direct,
        sync: plan.sync,
        dsync: plan.dsync,
    };
    let file = sandbox.open_file(name, flags)?;
    if plan.seek > 0 {
        if !plan.overwrite {
            file.set_len(plan.seek)?;
        }
        io::Seek::seek(&mut &file, io::SeekFrom::Start(plan.seek))?;
    }
    Ok(file)
}

#[cfg(test)]
#[path = "dd_tests.rs"]
mod tests;
