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
//! window, as dd's is: with `bs=1G` the page faults are part of the test. One read brings at
//! most [`crate::plan::dd::CALL_LIMIT`] bytes, so it is no larger than that: `bs=3G count=1`
//! moves 2147479552 bytes, as dd does.
//!
//! With `ibs` and `obs` that differ, what is read is collected until a write is full, and what
//! is left goes out at the end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::os::unix::fs::FileTypeExt;
use std::thread;

use fio_parse::workload::Timed;
use rustix::fs::{Advice, fadvise};

use crate::clock::{Clock, Usage};
use crate::control::{Control, Stop};
use crate::layout::lay_out;
use crate::memory::{Buffer, Pages};
use crate::plan::dd::{ConvSync, DdPlan, Sink, Source, whole_block};
use crate::plan::job::FilePlan;
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
    /// The permitted time was over before all blocks were moved.
    pub out_of_time: bool,
    /// Why it ended early.
    pub stopped: Option<Stop>,
    /// What went wrong.
    pub failure: Option<Failure>,
}

impl DdOutcome {
    /// Whether producing the bytes took more than half of the window: then the figure says
    /// more about the source than about the disk. The bytes of a file come from the disk, so
    /// there the time is the disk's own.
    pub fn source_limited(&self, plan: &DdPlan) -> bool {
        plan.source != Source::File && self.source_ns * 2 > self.window_ns
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
    for file in plan.files.iter().filter(|file| file.written_in.is_some()) {
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
    if let Some(file) = plan.sink_file()
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
    let block = whole_block(plan.block, plan.full_blocks);
    let buffers = Buffer::slots(1, block as usize, Pages::OnTouch);
    let mut buffers = buffers.map_err(failed("cannot allocate the block"))?;
    let buffer = &mut buffers[0];
    let mut collected = match plan.output_block {
        same if same == plan.block => None,
        other => {
            let buffers = Buffer::slots(1, other as usize, Pages::OnTouch);
            Some(Collector {
                buffers: buffers.map_err(failed("cannot allocate the block"))?,
                filled: 0,
            })
        }
    };
    let usage = Usage::of_this_thread();
    let start = clock.now();
    let mut now = start;
    let mut result = Ok(());
    let (mut read_to, mut written_to) = (plan.skip, plan.seek);
    let whole = std::iter::repeat_n(block, plan.count as usize);
    for wanted in whole.chain((plan.tail > 0).then_some(plan.tail)) {
        if control.stopped().is_some() {
            break;
        }
        outcome.out_of_time = plan.runtime_ns.is_some_and(|most| now - start >= most);
        if outcome.out_of_time {
            break;
        }
        let read = read_block(
            &mut source,
            &mut buffer[..wanted as usize],
            plan.full_blocks,
        );
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
        let before = outcome.bytes;
        let written = match &mut collected {
            None => write_block(&mut sink, &buffer[..moved], outcome, plan.block),
            Some(collector) => collector.take(&mut sink, &buffer[..moved], outcome),
        };
        if plan.drop_read {
            drop_range(&source, &mut read_to, moved as u64);
        }
        if plan.drop_written {
            drop_range(&sink, &mut written_to, outcome.bytes - before);
        }
        now = clock.now();
        control.progress([1, moved as u64, moved as u64]);
        if let Err(error) = written {
            result = Err(Failure::of(&error, "writing failed"));
            break;
        }
    }
    if result.is_ok()
        && let Some(collector) = &mut collected
    {
        result = collector
            .finish(&mut sink, outcome)
            .map_err(failed("writing failed"));
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

/// What was read and does not fill a write yet.
struct Collector {
    buffers: Vec<Buffer>,
    filled: usize,
}

impl Collector {
    /// Adds what was read, and writes each block that gets full.
    fn take(
        &mut self,
        sink: &mut File,
        mut rest: &[u8],
        outcome: &mut DdOutcome,
    ) -> io::Result<()> {
        while !rest.is_empty() {
            let block = &mut self.buffers[0];
            let part = rest.len().min(block.len() - self.filled);
            block[self.filled..self.filled + part].copy_from_slice(&rest[..part]);
            (self.filled, rest) = (self.filled + part, &rest[part..]);
            if self.filled == block.len() {
                self.finish(sink, outcome)?;
            }
        }
        Ok(())
    }

    /// Writes what is there.
    fn finish(&mut self, sink: &mut File, outcome: &mut DdOutcome) -> io::Result<()> {
        let block = &self.buffers[0];
        let filled = std::mem::take(&mut self.filled);
        write_block(sink, &block[..filled], outcome, block.len() as u64)
    }
}

/// Asks the kernel to forget the next `bytes` of a file. Best effort, as in dd.
fn drop_range(file: &File, from: &mut u64, bytes: u64) {
    let _ = fadvise(file, *from, NonZeroU64::new(bytes), Advice::DontNeed);
    *from += bytes;
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
    if whole == 0 {
        return Ok(());
    }
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

fn name_of(file: Option<&FilePlan>) -> io::Result<&str> {
    file.map(|file| file.name.as_str())
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn open_source(plan: &DdPlan, sandbox: &Sandbox) -> io::Result<File> {
    match plan.source {
        Source::Zero => kernel_device("/dev/zero"),
        Source::Random => kernel_device("/dev/urandom"),
        Source::File => {
            let flags = OpenFlags {
                direct: plan.direct_in,
                ..OpenFlags::default()
            };
            let file = sandbox.open_file(name_of(plan.source_file())?, flags)?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
            if plan.skip > 0 {
                io::Seek::seek(&mut &file, io::SeekFrom::Start(plan.skip))?;
            }
            Ok(file)
        }
    }
}

fn open_sink(plan: &DdPlan, sandbox: &Sandbox) -> io::Result<File> {
    if plan.sink == Sink::Null {
        return kernel_device("/dev/null");
    }
    let name = name_of(plan.sink_file())?;
    if !plan.overwrite {
        drop(sandbox.create_file(name)?);
    }
    let flags = OpenFlags {
        write: true,
        write_only: true,
        direct: plan.direct_out,
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
