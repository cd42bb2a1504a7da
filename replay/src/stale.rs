//! What killed runs left behind: directories with our prefix, our owner and our mode, whose
//! lock nobody holds. The next start in the same place removes them, file by file through the
//! directory's descriptor, tells how far it is, and stops when it is asked to.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, unlinkat};
use rustix::io::Errno;

use crate::sandbox::{PREFIX, home, open_beneath};

/// How far a removal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Files that are gone.
    pub removed: u64,
    /// Files that were there.
    pub found: u64,
    /// Killed runs that left them.
    pub runs: u64,
}

impl Swept {
    /// What is going to be done, for the person.
    pub fn sentence(self, directory: &Path) -> String {
        let count = |number, one, many| match number {
            1 => format!("one {one}"),
            number => format!("{number} {many}"),
        };
        format!(
            "removing {} that {} left in {}",
            count(self.found, "file", "files"),
            count(self.runs, "killed run", "killed runs"),
            directory.display()
        )
    }
}

/// Removes what killed runs left in `directory`. `go_on` is called before the first file, behind
/// each and at the end, and ends the work with `false`; it is not called if nothing was left.
/// What resists is left alone, and not counted as removed.
///
/// # Errors
/// If `directory` is none, cannot be read, belongs to another user, or can be written by others and has no sticky bit.
pub fn sweep(directory: &Path, go_on: &mut dyn FnMut(Swept) -> bool) -> io::Result<Swept> {
    let parent = home(directory)?;
    let left: Vec<(String, OwnedFd)> = names(&parent, PREFIX)
        .into_iter()
        .filter_map(|name| Some((abandoned(&parent, &name)?, name)))
        .map(|(fd, name)| (name, fd))
        .collect();
    let mut swept = Swept {
        runs: left.len() as u64,
        found: left.iter().map(|(_, fd)| names(fd, "").len() as u64).sum(),
        removed: 0,
    };
    if left.is_empty() || !go_on(swept) {
        return Ok(swept);
    }
    for (name, fd) in &left {
        let before = swept.removed;
        let all = empty(fd, &mut |removed| {
            swept.removed = before + removed;
            go_on(swept)
        });
        match all {
            Ok(true) => drop(unlinkat(&parent, name.as_str(), AtFlags::REMOVEDIR)),
            Ok(false) => break,
            Err(_) => {}
        }
    }
    Ok(swept)
}

/// A sandbox whose run is gone, held with its lock.
fn abandoned(parent: &OwnedFd, name: &str) -> Option<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let directory = open_beneath(parent, name, flags, Mode::empty()).ok()?;
    let me = rustix::process::geteuid().as_raw();
    let ours = fstat(&directory)
        .is_ok_and(|stat| stat.st_uid == me && Mode::from_raw_mode(stat.st_mode) == Mode::RWXU);
    let free = ours && flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok();
    free.then_some(directory)
}

/// The names in a directory that begin so; those that are no UTF-8 are none of ours.
fn names(directory: &OwnedFd, prefix: &str) -> Vec<String> {
    let Ok(entries) = Dir::read_from(directory) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned))
        .filter(|name| name.starts_with(prefix) && name != "." && name != "..")
        .collect()
}

/// Removes all files in a directory of ours, in which no directories are. `go_on` gets how many
/// are gone, and ends the work with `false`. Gives whether it is empty.
///
/// # Errors
/// What `unlinkat` reports.
pub(crate) fn empty(
    directory: impl AsFd,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<bool, Errno> {
    let mut removed = 0;
    for entry in Dir::read_from(directory.as_fd())? {
        let entry = entry?;
        if entry.file_name() == c"." || entry.file_name() == c".." {
            continue;
        }
        match unlinkat(&directory, entry.file_name(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        removed += 1;
        if !go_on(removed) {
            return Ok(false);
        }
    }
    Ok(true)
}
