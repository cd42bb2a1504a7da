//! io_uring: the queue lives in memory shared with the kernel, one system call hands over
//! many operations and waits for some.
//!
//! Set-up asks for the best and steps down: SINGLE_ISSUER with DEFER_TASKRUN (6.1) or with
//! COOP_TASKRUN, then COOP_TASKRUN alone (5.19), then plain; files and buffers are
//! registered where that is permitted (RLIMIT_MEMLOCK). [`Setup`] says what came of it.
//! DEFER_TASKRUN gives 5 to 20 % more on zram (the kernel's workers do not interrupt the job)
//! and neither more nor less on a virtio disk.
//!
//! Operations are handed over in chunks. With the whole queue in one call all completions
//! come in one burst and the device idles in between; chunks of two keep a virtio disk busy
//! (measured: 1.01 of fio's IOPS instead of 0.84) at little cost. The size is an option.
//! Completions are taken out in the same portions, each with a stamp of its own, so that a
//! slot is free no longer than a portion takes and the queue is as full as asked.
//!
//! A ring is used by the thread that made it and by no other.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::{IoUring, opcode, squeue, types};

use super::{Action, Done, Engine, Op};
use crate::memory::Buffer;
use crate::plan::job::Ring;

/// Operations handed over per call where a device has to take them (measured on virtio).
pub const DEVICE_CHUNK: usize = 2;

/// What is asked of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Operations handed over per call.
    pub chunk: usize,
    /// Register the buffers with the kernel.
    pub register_buffers: bool,
    /// Register the files with the kernel.
    pub register_files: bool,
    /// DEFER_TASKRUN rather than COOP_TASKRUN: less user time, completions only inside
    /// the waiting call.
    pub defer_taskrun: bool,
    /// What the job asks for.
    pub ask: Ring,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            chunk: DEVICE_CHUNK,
            register_buffers: true,
            register_files: true,
            defer_taskrun: true,
            ask: Ring::default(),
        }
    }
}

/// What the kernel granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Setup {
    /// SINGLE_ISSUER is on.
    pub single_issuer: bool,
    /// COOP_TASKRUN is on.
    pub coop_taskrun: bool,
    /// DEFER_TASKRUN is on.
    pub defer_taskrun: bool,
    /// The buffers are registered.
    pub buffers: bool,
    /// Files get registered.
    pub files: bool,
}

/// The entry of an operation on a file, which is a descriptor or the number of a registered
/// one: two types without a common trait that could be named here.
macro_rules! entry {
    ($op:expr, $file:expr, $at:expr, $rw_flags:expr) => {{
        let (op, file, (start, index)) = ($op, $file, $at);
        let entry = match (op.action, index) {
            (Action::Read, Some(index)) => opcode::ReadFixed::new(file, start, op.bytes, index)
                .offset(op.offset)
                .rw_flags($rw_flags)
                .build(),
            (Action::Read, None) => opcode::Read::new(file, start, op.bytes)
                .offset(op.offset)
                .rw_flags($rw_flags)
                .build(),
            (Action::Write, Some(index)) => opcode::WriteFixed::new(file, start, op.bytes, index)
                .offset(op.offset)
                .rw_flags($rw_flags)
                .build(),
            (Action::Write, None) => opcode::Write::new(file, start, op.bytes)
                .offset(op.offset)
                .rw_flags($rw_flags)
                .build(),
            (Action::Fsync, _) => opcode::Fsync::new(file).build(),
            (Action::Fdatasync, _) => opcode::Fsync::new(file)
                .flags(types::FsyncFlags::DATASYNC)
                .build(),
        };
        entry.user_data(u64::from(op.slot))
    }};
}

/// The io_uring engine.
pub struct Uring {
    ring: IoUring,
    buffers: Vec<Buffer>,
    busy: Vec<bool>,
    under_way: u32,
    files: Vec<Arc<File>>,
    registered_files: bool,
    options: Options,
    setup: Setup,
}

impl Uring {
    /// Makes a ring with one slot per buffer.
    ///
    /// # Errors
    /// If io_uring is not permitted or not there; [`forbidden`] puts that in words.
    pub fn new(buffers: Vec<Buffer>, options: Options) -> io::Result<Self> {
        let entries = (buffers.len() as u32).next_power_of_two();
        let (ring, mut setup) = build(entries, options)?;
        if options.register_buffers {
            let vectors: Vec<libc::iovec> = buffers
                .iter()
                .map(|buffer| libc::iovec {
                    iov_base: buffer.as_ptr().cast_mut().cast(),
                    iov_len: buffer.len(),
                })
                .collect();
            // SAFETY: the buffers are mapped memory that this engine owns for as long as the
            // ring exists; `ring` is declared before `buffers`, so it is dropped first.
            setup.buffers = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        }
        setup.files = options.register_files;
        Ok(Uring {
            ring,
            busy: vec![false; buffers.len()],
            buffers,
            under_way: 0,
            files: Vec::new(),
            registered_files: false,
            options,
            setup,
        })
    }

    /// What the kernel granted.
    pub fn granted(&self) -> Setup {
        self.setup
    }

    /// Takes out what is complete, at most so many.
    fn collect(&mut self, most: usize, done: &mut Vec<Done>) {
        let before = done.len();
        for entry in self.ring.completion().take(most) {
            let slot = entry.user_data() as u32;
            self.busy[slot as usize] = false;
            done.push(Done {
                slot,
                result: entry.result(),
            });
        }
        self.under_way -= (done.len() - before) as u32;
    }

    /// Puts the operations into the queue; the kernel does not know of them yet.
    fn push(&mut self, ops: &[Op]) -> io::Result<()> {
        let rw_flags = super::pvsync::flags(&self.options.ask);
        let mut queue = self.ring.submission();
        for op in ops {
            let buffer = &mut self.buffers[op.slot as usize];
            assert!(op.bytes as usize <= buffer.len());
            assert!(
                !std::mem::replace(&mut self.busy[op.slot as usize], true),
                "one operation per slot"
            );
            let at = (
                buffer.as_mut_ptr(),
                self.setup.buffers.then_some(op.slot as u16),
            );
            let entry = if self.registered_files {
                entry!(op, types::Fixed(op.file), at, rw_flags)
            } else {
                let fd = types::Fd(self.files[op.file as usize].as_raw_fd());
                entry!(op, fd, at, rw_flags)
            };
            let entry = match self.options.ask.force_async {
                true => entry.flags(squeue::Flags::ASYNC),
                false => entry,
            };
            // SAFETY: the entry points into a buffer of this engine, which is marked busy and
            // so neither lent out nor reused until its completion was seen; `Drop` waits for
            // all completions before the buffers go. The file is kept open by `self.files`.
            let pushed = unsafe { queue.push(&entry) };
            if pushed.is_err() {
                // The ring has an entry per slot, and every turn ends with an empty ring.
                self.busy[op.slot as usize] = false;
                return Err(io::Error::other("the submission queue is full"));
            }
            self.under_way += 1;
        }
        Ok(())
    }
}

impl Engine for Uring {
    const SYNCHRONOUS: bool = false;

    fn chunk(&self) -> usize {
        self.options.chunk.max(1)
    }

    fn setup(&self) -> Option<String> {
        let granted = self.setup;
        let words = [
            (granted.single_issuer, "single_issuer"),
            (granted.coop_taskrun, "coop_taskrun"),
            (granted.defer_taskrun, "defer_taskrun"),
            (granted.buffers, "registered buffers"),
            (granted.files, "registered files"),
        ];
        let mut text = match self.chunk() {
            usize::MAX => "all that are free per call".to_owned(),
            chunk => format!("{chunk} per call"),
        };
        for (_, word) in words.iter().filter(|(on, _)| *on) {
            text = format!("{text}, {word}");
        }
        Some(text)
    }

    fn attach(&mut self, files: &[Arc<File>]) -> io::Result<()> {
        self.detach()?;
        self.files = files.to_vec();
        if self.setup.files {
            let fds: Vec<_> = files.iter().map(|file| file.as_raw_fd()).collect();
            self.registered_files = self.ring.submitter().register_files(&fds).is_ok();
            self.setup.files = self.registered_files;
        }
        Ok(())
    }

    fn detach(&mut self) -> io::Result<()> {
        assert_eq!(
            self.under_way, 0,
            "files are let go of when nothing is under way"
        );
        if std::mem::take(&mut self.registered_files) {
            self.ring.submitter().unregister_files()?;
        }
        self.files.clear();
        Ok(())
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.busy[slot as usize], "the kernel has this buffer");
        &mut self.buffers[slot as usize]
    }

    fn turn(&mut self, ops: &[Op], wait: u32, done: &mut Vec<Done>) -> io::Result<()> {
        let mut pending = ops.len();
        if pending > 0 {
            self.push(ops)?;
        }
        // What is complete already counts: no call is needed to wait then.
        let most = self.chunk().max(wait as usize);
        let before = done.len();
        self.collect(most, done);
        loop {
            let have = done.len() - before;
            let missing = (wait as usize).saturating_sub(have);
            let missing = missing.min(self.under_way as usize);
            if missing == 0 && pending == 0 {
                return Ok(());
            }
            match self.ring.submit_and_wait(missing) {
                // The kernel's own thread takes entries without telling by the count, so the queue is asked.
                Ok(_) => pending = self.ring.submission().len(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // EAGAIN, EBUSY: the kernel lacks memory or room for completions; taking
                // completions out makes some.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY)) => {
                    if self.under_way as usize == ops.len() && have == 0 {
                        std::thread::yield_now();
                    }
                }
                Err(error) => return Err(error),
            }
            self.collect(most - have.min(most), done);
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel may still write into our buffers: wait for it. Without a working ring
        // there is nothing left but to keep the memory.
        let mut done = Vec::new();
        while self.under_way > 0 {
            if self.turn(&[], 1, &mut done).is_err() {
                std::mem::forget(std::mem::take(&mut self.buffers));
                return;
            }
        }
    }
}

/// How long the kernel's thread looks for work before it sleeps, ms.
const KERNEL_THREAD_IDLE_MS: u32 = 100;

/// Builds the ring, stepping down from the wanted flags to none.
fn build(entries: u32, options: Options) -> io::Result<(IoUring, Setup)> {
    let best = if options.defer_taskrun {
        Setup {
            single_issuer: true,
            defer_taskrun: true,
            ..Setup::default()
        }
    } else {
        Setup {
            single_issuer: true,
            coop_taskrun: true,
            ..Setup::default()
        }
    };
    // The kernel's thread and the application's own task work exclude each other.
    let best = if options.ask.kernel_thread {
        Setup::default()
    } else {
        best
    };
    let steps = [
        best,
        Setup {
            coop_taskrun: true,
            ..Setup::default()
        },
        Setup::default(),
    ];
    let mut refusal = None;
    for setup in steps {
        let mut builder = IoUring::builder();
        builder.dontfork();
        if options.ask.kernel_thread {
            builder.setup_sqpoll(KERNEL_THREAD_IDLE_MS);
        }
        if let Some(cpu) = options.ask.kernel_thread_cpu {
            builder.setup_sqpoll_cpu(cpu);
        }
        if options.ask.poll {
            builder.setup_iopoll();
        }
        if setup.single_issuer {
            builder.setup_single_issuer();
        }
        if setup.coop_taskrun {
            builder.setup_coop_taskrun();
        }
        if setup.defer_taskrun {
            builder.setup_defer_taskrun();
        }
        match builder.build(entries) {
            Ok(ring) => return Ok((ring, setup)),
            Err(error) => {
                // Only EINVAL means that a flag is unknown; anything else is about io_uring.
                let unknown_flag = error.raw_os_error() == Some(libc::EINVAL);
                refusal = Some(error);
                if !unknown_flag {
                    break;
                }
            }
        }
    }
    Err(refusal.unwrap_or_else(|| io::ErrorKind::Unsupported.into()))
}

/// Tries whether a ring can be made at all. On a thread of its own: taking a ring down
/// leaves a notification for the thread that made it, which would cut its next long read
/// short.
///
/// # Errors
/// Cause and cure in words.
pub fn available() -> Result<(), String> {
    let tried = std::thread::spawn(|| build(1, Options::default()).map(drop)).join();
    let tried = tried.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
    tried.map_err(|error| forbidden(&error))
}

/// Why io_uring cannot be used, and what to do about it.
pub fn forbidden(error: &io::Error) -> String {
    let sysctl = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    let disabled = sysctl.as_deref().map(str::trim).unwrap_or("");
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) if disabled == "2" => {
            "io_uring is switched off (kernel.io_uring_disabled = 2); \
             `sysctl kernel.io_uring_disabled=0` permits it"
                .to_owned()
        }
        Some(libc::EPERM | libc::EACCES) if disabled == "1" => {
            "io_uring is kept to privileged users (kernel.io_uring_disabled = 1); join the group \
             in kernel.io_uring_group or run `sysctl kernel.io_uring_disabled=0`"
                .to_owned()
        }
        Some(libc::EPERM | libc::EACCES) => {
            "io_uring is forbidden here, probably by a container's seccomp profile; run outside \
             the container, or with a profile that permits io_uring_setup"
                .to_owned()
        }
        Some(libc::ENOSYS) => {
            "this kernel has no io_uring (Linux 5.6 or newer is needed), or a seccomp profile hides it"
                .to_owned()
        }
        Some(libc::ENOMEM) => {
            "io_uring may not lock enough memory; raise RLIMIT_MEMLOCK (`ulimit -l`)".to_owned()
        }
        _ => format!("io_uring cannot be set up: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{reports_failures, writes_and_reads_back};
    use super::*;

    fn permitted() -> bool {
        let answer = available();
        if let Err(why) = &answer {
            eprintln!("SKIPPED: {why}");
        }
        answer.is_ok()
    }

    #[test]
    fn moves_the_bytes_with_every_option() {
        if !permitted() {
            return;
        }
        for register_buffers in [true, false] {
            for register_files in [true, false] {
                for (chunk, defer_taskrun) in [(1, false), (2, true), (100, false)] {
                    let options = Options {
                        chunk,
                        register_buffers,
                        register_files,
                        defer_taskrun,
                        ask: Ring {
                            kernel_thread: chunk == 1,
                            kernel_thread_cpu: (chunk == 1).then_some(0),
                            force_async: chunk == 100,
                            ..Ring::default()
                        },
                    };
                    writes_and_reads_back(|buffers| Uring::new(buffers, options).unwrap(), 8);
                }
            }
        }
        reports_failures(|buffers| Uring::new(buffers, Options::default()).unwrap());
    }

    #[test]
    fn dropping_a_busy_ring_waits() {
        if !permitted() {
            return;
        }
        let file = Arc::new(tempfile::tempfile().unwrap());
        let buffers = Buffer::slots(4, 1 << 20, crate::memory::Pages::Now).unwrap();
        let mut engine = Uring::new(buffers, Options::default()).unwrap();
        engine.attach(&[file]).unwrap();
        let op = |slot| Op {
            slot,
            action: Action::Write,
            file: 0,
            offset: 0,
            bytes: 1 << 20,
        };
        engine
            .turn(&[op(0), op(1), op(2), op(3)], 0, &mut Vec::new())
            .unwrap();
        drop(engine);
    }

    #[test]
    fn refusals_name_a_cure() {
        let words = |code| forbidden(&io::Error::from_raw_os_error(code));
        assert!(words(libc::EPERM).contains("io_uring"));
        assert!(words(libc::ENOSYS).contains("5.6"));
        assert!(words(libc::ENOMEM).contains("ulimit -l"));
    }
}
