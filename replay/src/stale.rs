//! What killed runs left behind: directories with our prefix, our owner and our mode, whose
//! lock nobody holds and in which our own list of what was made is (`journal`). The
//! next start in the same place removes what stands in the list, file by file through the
//! directory's descriptor, tells how far it is, and stops when it is asked to. All else stays.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, unlinkat};

use crate::journal::{self, Made};
use crate::sandbox::{PREFIX, home, open_beneath, stays};

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
/// What resists is left alone, and not counted as removed. Gives also what is to be said of
/// directories that stay for the sake of files that are not ours.
///
/// # Errors
/// If `directory` is none, cannot be read, belongs to another user, or can be written by others and has no sticky bit.
pub fn sweep(
    directory: &Path,
    go_on: &mut dyn FnMut(Swept) -> bool,
) -> io::Result<(Swept, Vec<String>)> {
    let parent = home(directory)?;
    let left: Vec<(String, OwnedFd, Made)> = sandboxes(&parent)
        .into_iter()
        .filter_map(|name| abandoned(&parent, name))
        .collect();
    let mut swept = Swept {
        runs: left.len() as u64,
        found: left.iter().map(|(.., made)| made.len() as u64).sum(),
        removed: 0,
    };
    let mut kept = Vec::new();
    if left.is_empty() || !go_on(swept) {
        return Ok((swept, kept));
    }
    for (name, sandbox, made) in &left {
        let mut all = true;
        for (file, identity) in made {
            match journal::remove(sandbox, file, *identity) {
                Ok(removed) => swept.removed += u64::from(removed),
                // The list stays with it, so that a later start tries again.
                Err(_) => all = false,
            }
            if !go_on(swept) {
                return Ok((swept, kept));
            }
        }
        if !all || journal::forget(sandbox).is_err() {
            continue;
        }
        if unlinkat(&parent, name.as_str(), AtFlags::REMOVEDIR).is_err()
            && let Some(others) = journal::others(sandbox)
        {
            kept.push(stays(&directory.join(name), &others));
        }
    }
    Ok((swept, kept))
}

/// A sandbox whose run is gone, held with its lock, and what is left of what was made in it.
fn abandoned(parent: &OwnedFd, name: String) -> Option<(String, OwnedFd, Made)> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let directory = open_beneath(parent, &name, flags, Mode::empty()).ok()?;
    let me = rustix::process::geteuid().as_raw();
    let ours = fstat(&directory)
        .is_ok_and(|stat| stat.st_uid == me && Mode::from_raw_mode(stat.st_mode) == Mode::RWXU);
    // A sandbox that is just being made has no list yet: its lock is not to be taken.
    if !ours || journal::read(&directory).is_none() {
        return None;
    }
    flock(&directory, FlockOperation::NonBlockingLockExclusive).ok()?;
    let made = journal::still_there(&directory, journal::read(&directory)?);
    Some((name, directory, made))
}

/// The names in a directory that sandboxes may have.
fn sandboxes(directory: &OwnedFd) -> Vec<String> {
    let Ok(entries) = Dir::read_from(directory) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned))
        .filter(|name| name.starts_with(PREFIX))
        .collect()
}
