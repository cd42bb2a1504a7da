//! The only place on the file system where a replay works: a fresh private directory
//! below the one that the person named.
//!
//! - It is made exclusively, mode 0700, and held by a directory descriptor and a lock. All
//!   later calls go through that descriptor with `openat2` and refuse symbolic links, magic
//!   links, mount points and anything that leads outside; nothing is opened by a path again.
//! - Files are made with O_CREAT|O_EXCL|O_NOFOLLOW. Opening one again checks that it is
//!   still the file that was made (inode and time of birth), so a file swapped in meanwhile is
//!   refused. No file that existed before is ever opened.
//! - Whatever happens, what was made is removed, and the directory with it: at the end, on an
//!   error, on a signal. After SIGKILL the next start in the same place does it
//!   ([`crate::stale`]). What somebody else put there stays, and the directory for its sake.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, ResolveFlags, flock, fstat, fstatfs, fstatvfs,
    mkdirat, openat2, renameat, unlinkat,
};
use rustix::io::Errno;

use crate::device::{self, Device};
use crate::journal::{self, Identity, Journal};
use crate::offsets::Rng;

/// Names of sandboxes begin so; only such directories are ever cleaned up.
pub(crate) const PREFIX: &str = ".fio-replay-";
/// Names of sandboxes kept with `--keep`.
const KEPT_PREFIX: &str = "fio-replay-kept-";

/// File system magic numbers of memory-backed file systems (linux/magic.h).
const TMPFS_MAGIC: u64 = 0x0102_1994;
const RAMFS_MAGIC: u64 = 0x8584_58f6;

/// Never fill a file system beyond this: 5 % or 2 GiB stay free, whichever is more, but on
/// a small one at most a quarter.
pub fn free_space_floor(total_bytes: u64) -> u64 {
    (total_bytes / 20).max(2 << 30).min(total_bytes / 4)
}

/// Room on the file system of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Size of the file system, bytes.
    pub total: u64,
    /// What this user may still write, bytes.
    pub available: u64,
}

impl Space {
    /// What can be written before the floor is reached, bytes.
    pub fn usable(self) -> u64 {
        self.available.saturating_sub(free_space_floor(self.total))
    }
}

/// How a job opens its file. There is no O_TRUNC: the file is not yet known to be ours
/// when it takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenFlags {
    /// For writing too (O_RDWR); else O_RDONLY.
    pub write: bool,
    /// Only for writing (O_WRONLY), as dd does.
    pub write_only: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC.
    pub sync: bool,
    /// O_DSYNC.
    pub dsync: bool,
}

impl OpenFlags {
    fn bits(self) -> OFlags {
        let mut flags = OFlags::CLOEXEC | OFlags::NOFOLLOW;
        flags |= match (self.write_only, self.write) {
            (true, _) => OFlags::WRONLY,
            (false, true) => OFlags::RDWR,
            (false, false) => OFlags::RDONLY,
        };
        if self.direct {
            flags |= OFlags::DIRECT;
        }
        // Not OFlags::DSYNC: on Linux rustix gives it the value of O_SYNC.
        if self.dsync {
            flags |= OFlags::from_bits_retain(libc::O_DSYNC as u32);
        }
        if self.sync {
            flags |= OFlags::from_bits_retain(libc::O_SYNC as u32);
        }
        flags
    }
}

#[derive(Debug)]
struct Inner {
    /// The directory the person named.
    parent: OwnedFd,
    /// The sandbox itself; the lock is on this description.
    directory: OwnedFd,
    name: String,
    path: PathBuf,
    device: u64,
    /// Files made and not yet removed.
    files: Mutex<Journal>,
    removed: Mutex<bool>,
    /// The device that the person typed.
    device_file: OnceLock<Device>,
}

/// A private directory for the files of a run. Clones are handles to the same one; it is
/// removed when [`Sandbox::remove`] is called or the last handle goes.
#[derive(Debug, Clone)]
pub struct Sandbox(Arc<Inner>);

impl Sandbox {
    /// Makes a sandbox below `directory`.
    ///
    /// # Errors
    /// As with [`crate::stale::sweep`], and if the kernel has no `openat2` (before 5.6), without which the sandbox
    /// would not be tight.
    pub fn create(directory: &Path) -> io::Result<Sandbox> {
        let parent = home(directory)?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let seed = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |t| t.as_nanos() as u64);
        let mut rng = Rng::new(seed ^ (u64::from(std::process::id()) << 32));
        for _ in 0..100 {
            let name = format!("{PREFIX}{:012x}", rng.next() >> 16);
            match mkdirat(&parent, &name, Mode::RWXU) {
                Ok(()) => {}
                Err(Errno::EXIST) => continue,
                Err(error) => {
                    let text = format!("cannot make a directory in {}", directory.display());
                    return Err(explain(error, text));
                }
            }
            let begun = open_beneath(&parent, &name, flags | OFlags::NOFOLLOW, Mode::empty())
                .and_then(|sandbox| {
                    // No other start holds it: it has no list, so it is no sandbox for them.
                    flock(&sandbox, FlockOperation::NonBlockingLockExclusive)?;
                    let device = fstat(&sandbox)?.st_dev;
                    let files = Journal::create(&sandbox)?;
                    Ok((sandbox, device, files))
                });
            let (sandbox, device, files) = match begun {
                Ok(begun) => begun,
                Err(error) => {
                    // Only if it is empty, as it was made.
                    let _ = unlinkat(&parent, &name, AtFlags::REMOVEDIR);
                    return Err(error);
                }
            };
            return Ok(Sandbox(Arc::new(Inner {
                path: directory.join(&name),
                parent,
                directory: sandbox,
                name,
                device,
                files: Mutex::new(files),
                removed: Mutex::new(false),
                device_file: OnceLock::new(),
            })));
        }
        Err(io::Error::other(format!(
            "no free name for a directory in {}",
            directory.display()
        )))
    }

    /// Lets tests use a device under [`device::NAME`].
    pub fn use_device(&self, device: Device) {
        // A second one would be a second call with another --device, which clap refuses.
        let _ = self.0.device_file.set(device);
    }

    /// Where the sandbox is, for messages only.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Makes a new file, open for reading and writing.
    ///
    /// # Errors
    /// EEXIST if the sandbox has a file of this name, and whatever else `openat2` reports.
    pub fn create_file(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // The list is locked over the call, so that a concurrent clean-up sees the file.
        let mut files = lock(&self.0.files);
        if *lock(&self.0.removed) {
            return Err(io::Error::new(
                io::ErrorKind::Interrupted,
                "the run is being ended",
            ));
        }
        let mode = Mode::RUSR | Mode::WUSR;
        let fd = open_beneath(&self.0.directory, name, flags, mode)?;
        let identity = self.check(&fd)?;
        if let Err(error) = files.add(name, identity) {
            let _ = files.remove(&self.0.directory, name);
            return Err(error);
        }
        Ok(File::from(fd))
    }

    /// Opens a file that [`Sandbox::create_file`] made.
    ///
    /// # Errors
    /// NotFound if it was not made here or is no longer the same file; EINVAL if the file
    /// system refuses O_DIRECT.
    pub fn open_file(&self, name: &str, flags: OpenFlags) -> io::Result<File> {
        if name == device::NAME
            && let Some(device) = self.0.device_file.get()
        {
            let access = OFlags::RDWR.bits() | OFlags::WRONLY.bits() | OFlags::NOFOLLOW.bits();
            return device.open(flags.write, (flags.bits().bits() & !access) as i32);
        }
        let Some(made) = lock(&self.0.files).get(name) else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("no file {name} was made"),
            ));
        };
        let fd = open_beneath(&self.0.directory, name, flags.bits(), Mode::empty())?;
        if self.check(&fd)? != made {
            let message = format!("{name} was replaced by another file during the run");
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        Ok(File::from(fd))
    }

    /// Checks that an open file is a regular file on the sandbox's file system.
    fn check(&self, fd: &OwnedFd) -> io::Result<Identity> {
        let stat = fstat(fd)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
            || stat.st_dev != self.0.device
        {
            return Err(io::Error::other(
                "the test file is not a regular file on the directory's file system",
            ));
        }
        Ok(Identity::of(fd)?)
    }

    /// Removes one file that was made here. One that is gone already is fine; one that somebody
    /// else put in its place stays.
    ///
    /// # Errors
    /// What `unlinkat` reports otherwise.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(lock(&self.0.files).remove(&self.0.directory, name)?)
    }

    /// Room on the file system.
    ///
    /// # Errors
    /// What `fstatvfs` reports.
    pub fn space(&self) -> io::Result<Space> {
        let stat = fstatvfs(&self.0.directory)?;
        Ok(Space {
            total: stat.f_blocks.saturating_mul(stat.f_frsize),
            available: stat.f_bavail.saturating_mul(stat.f_frsize),
        })
    }

    /// Whether the file system keeps its files in memory (tmpfs, ramfs): not a disk.
    pub fn is_memory(&self) -> bool {
        fstatfs(&self.0.directory)
            .is_ok_and(|stat| [TMPFS_MAGIC, RAMFS_MAGIC].contains(&(stat.f_type as u64)))
    }

    /// The alignment in bytes that O_DIRECT asks of offsets and lengths here, as far as the
    /// kernel (6.1) tells; `Some(0)` if the file system has no O_DIRECT.
    ///
    /// # Errors
    /// If the file for the question cannot be made.
    pub fn direct_alignment(&self) -> io::Result<Option<u32>> {
        let name = "alignment";
        let file = self.create_file(name)?;
        let answer = rustix::fs::statx(
            &file,
            "",
            AtFlags::EMPTY_PATH,
            rustix::fs::StatxFlags::DIOALIGN,
        );
        self.remove_file(name)?;
        Ok(match answer {
            Ok(statx) if statx.stx_mask & rustix::fs::StatxFlags::DIOALIGN.bits() != 0 => {
                Some(statx.stx_dio_offset_align)
            }
            _ => None,
        })
    }

    /// Writes back everything that is dirty on this file system, and only on this one:
    /// `syncfs`, never `sync`, which would stall the whole machine.
    ///
    /// # Errors
    /// What `syncfs` reports.
    pub fn sync_file_system(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.0.directory)?)
    }

    /// Removes what was made, and the sandbox if that was all in it; else says in words what
    /// stays. Later calls do nothing.
    ///
    /// # Errors
    /// If something of ours is left behind: the message says where.
    pub fn remove(&self) -> io::Result<Option<String>> {
        self.0.remove()
    }

    /// Keeps the files: gives the sandbox a name that no later start cleans up, and says
    /// where it is now.
    ///
    /// # Errors
    /// What `renameat` and `unlinkat` report.
    pub fn keep(&self) -> io::Result<PathBuf> {
        let kept = self.0.name.replacen(PREFIX, KEPT_PREFIX, 1);
        let files = lock(&self.0.files);
        let mut removed = lock(&self.0.removed);
        renameat(&self.0.parent, &self.0.name, &self.0.parent, &kept)?;
        *removed = true;
        files.close(&self.0.directory)?;
        Ok(self.0.path.with_file_name(kept))
    }
}

impl Inner {
    fn remove(&self) -> io::Result<Option<String>> {
        let mut files = lock(&self.files);
        let mut removed = lock(&self.removed);
        if *removed {
            return Ok(None);
        }
        *removed = true;
        let left = |error| explain(error, format!("could not remove {}", self.path.display()));
        files.remove_all(&self.directory).map_err(left)?;
        files.close(&self.directory).map_err(left)?;
        match unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(None),
            Err(error) => match journal::others(&self.directory) {
                Some(others) => Ok(Some(stays(&self.path, &others))),
                None => Err(left(error)),
            },
        }
    }
}

/// What is said of a sandbox with files of somebody else.
pub(crate) fn stays(path: &Path, others: &str) -> String {
    format!(
        "{} stays, as there is in it what this program did not make: {others}",
        path.display()
    )
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Nobody is left to tell; `Sandbox::remove` reports errors.
        let _ = self.remove();
    }
}

/// Opens the directory that the person named, if nobody else may replace what is made in it.
///
/// # Errors
/// If it is no directory or cannot be read; if it belongs to another user, or others may write
/// to it and it has no sticky bit.
pub(crate) fn home(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    let parent = rustix::fs::open(directory, flags, Mode::empty()).map_err(|error| {
        let hint = match error {
            Errno::NOENT => " (make it first)",
            _ => "",
        };
        explain(
            error,
            format!("cannot open the directory {}{hint}", directory.display()),
        )
    })?;
    let stat = fstat(&parent)?;
    let mode = Mode::from_raw_mode(stat.st_mode);
    let (me, my_group) = (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    );
    let sticky = mode.contains(Mode::SVTX);
    // Who owns a directory may replace what is in it, sticky bit or not.
    let why = if stat.st_uid != me && stat.st_uid != 0 {
        "belongs to another user, who could replace the test files; choose a directory of your own"
    } else if mode.contains(Mode::WGRP) && !sticky && stat.st_gid != my_group {
        "can be written by a group and has no sticky bit, so others could replace the test files; \
         choose another directory or `chmod g-w` it"
    } else if mode.contains(Mode::WOTH) && !sticky {
        "can be written by everyone and has no sticky bit, so others could replace the test files; \
         choose another directory or `chmod o-w` it"
    } else {
        return Ok(parent);
    };
    let message = format!("{} {why}", directory.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

pub(crate) fn open_beneath(
    directory: impl AsFd,
    name: &str,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    loop {
        match openat2(&directory, name, flags, mode, resolve) {
            // EAGAIN: a rename elsewhere disturbed the walk; the kernel asks to try again.
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error @ (Errno::NOSYS | Errno::PERM)) => {
                let text = "this kernel or container has no openat2 (Linux 5.6), which keeps test \
                            files inside their directory";
                return Err(explain(error, text.to_owned()));
            }
            other => return Ok(other?),
        }
    }
}

fn explain(error: impl Into<io::Error>, what: String) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// A panic elsewhere must not keep the clean-up from happening.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
