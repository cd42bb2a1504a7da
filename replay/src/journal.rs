//! Which files in a sandbox this program made: a list in the sandbox itself, so that a later
//! start knows it too, after a run that was killed.
//!
//! ```text
//! first line   "fio-replay " identity of the sandbox
//! line         identity " " name          a file when it was made, the list itself first
//! identity     inode " " time of birth, ns, 0 where the file system keeps none
//! ```
//!
//! A name proves nothing: anybody may choose it, and a file may be replaced. What has the inode
//! and the time of birth that stand here was made here; all else belongs to somebody else and is
//! left where it is. A copy of a sandbox has other inodes, so nothing in it is ours.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, StatxFlags, statx, unlinkat};
use rustix::io::Errno;

use crate::plan::note::plain_text;
use crate::sandbox::open_beneath;

/// Name of the list; no test file is called so.
const NAME: &str = ".made-by-fio-replay";
/// What the list begins with.
const HEAD: &str = "fio-replay";
/// Names that are told of what is not ours.
const TOLD: usize = 3;

/// What makes a file the same file: its inode and when it was born, ns since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    inode: u64,
    born_ns: i128,
}

impl Identity {
    /// That of an open file.
    ///
    /// # Errors
    /// What `statx` reports.
    pub(crate) fn of(file: impl AsFd) -> Result<Self, Errno> {
        Identity::at(file, "", AtFlags::EMPTY_PATH)
    }

    fn at(directory: impl AsFd, name: &str, flags: AtFlags) -> Result<Self, Errno> {
        let asked = StatxFlags::INO | StatxFlags::BTIME;
        let found = statx(directory, name, flags | AtFlags::SYMLINK_NOFOLLOW, asked)?;
        let born = found.stx_btime;
        let known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        Ok(Identity {
            inode: found.stx_ino,
            born_ns: match known {
                true => i128::from(born.tv_sec) * 1_000_000_000 + i128::from(born.tv_nsec),
                false => 0,
            },
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let (inode, born_ns) = text.split_once(' ')?;
        Some(Identity {
            inode: inode.parse().ok()?,
            born_ns: born_ns.parse().ok()?,
        })
    }

    fn text(self) -> String {
        format!("{} {}", self.inode, self.born_ns)
    }
}

/// The files that were made, by name.
pub(crate) type Made = BTreeMap<String, Identity>;

/// The list of a sandbox that is in use.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    /// Files made and not yet removed, the list itself left out.
    made: Made,
    own: Identity,
}

impl Journal {
    /// Begins the list of an empty sandbox.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn create(sandbox: impl AsFd) -> io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let folder = Identity::of(sandbox.as_fd())?;
        let file = File::from(open_beneath(sandbox.as_fd(), NAME, flags, mode)?);
        let begun = Identity::of(&file)
            .map_err(io::Error::from)
            .and_then(|own| {
                let text = format!("{HEAD} {}\n{} {NAME}\n", folder.text(), own.text());
                (&file).write_all(text.as_bytes())?;
                Ok(own)
            });
        match begun {
            Ok(own) => Ok(Journal {
                file,
                made: Made::new(),
                own,
            }),
            Err(error) => {
                let _ = unlinkat(sandbox, NAME, AtFlags::empty());
                Err(error)
            }
        }
    }

    /// Puts down a file that was just made.
    ///
    /// # Errors
    /// If the list cannot be written; the file is ours all the same while the run lasts.
    pub(crate) fn add(&mut self, name: &str, identity: Identity) -> io::Result<()> {
        self.made.insert(name.to_owned(), identity);
        self.file
            .write_all(format!("{} {name}\n", identity.text()).as_bytes())
    }

    /// What a file was when it was made.
    pub(crate) fn get(&self, name: &str) -> Option<Identity> {
        self.made.get(name).copied()
    }

    /// Removes a file; one that is gone, or that somebody else put in its place, is left alone.
    ///
    /// # Errors
    /// What `unlinkat` reports otherwise.
    pub(crate) fn remove(&mut self, sandbox: impl AsFd, name: &str) -> Result<(), Errno> {
        match self.made.remove(name) {
            Some(identity) => remove(sandbox, name, identity).map(drop),
            None => Ok(()),
        }
    }

    /// Removes all files that were made. The list stays until [`Journal::close`].
    ///
    /// # Errors
    /// What `unlinkat` reports.
    pub(crate) fn remove_all(&mut self, sandbox: impl AsFd) -> Result<(), Errno> {
        for (name, identity) in std::mem::take(&mut self.made) {
            remove(sandbox.as_fd(), &name, identity)?;
        }
        Ok(())
    }

    /// Removes the list: from here on nothing in the sandbox is known to be ours.
    ///
    /// # Errors
    /// What `unlinkat` reports.
    pub(crate) fn close(&self, sandbox: impl AsFd) -> Result<(), Errno> {
        remove(sandbox, NAME, self.own).map(drop)
    }
}

/// What a killed run made in its sandbox; `None` if this is no sandbox of this program.
pub(crate) fn read(sandbox: impl AsFd) -> Option<Made> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open_beneath(sandbox.as_fd(), NAME, flags, Mode::empty()).ok()?;
    let mut file = File::from(file);
    let own = Identity::of(&file).ok()?;
    // Names of ours are plain; what is cut off or no list ends what can be read.
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text
        .split_inclusive('\n')
        .map_while(|line| line.strip_suffix('\n'));
    let head = lines.next()?.strip_prefix(HEAD)?.strip_prefix(' ')?;
    let here = Identity::of(sandbox.as_fd()).ok()?;
    let mut made = Made::new();
    for line in lines {
        let (identity, name) = line.rsplit_once(' ')?;
        made.insert(name.to_owned(), Identity::parse(identity)?);
    }
    let ours = Identity::parse(head) == Some(here) && made.remove(NAME) == Some(own);
    ours.then_some(made)
}

/// Those of the files that are still there.
pub(crate) fn still_there(sandbox: impl AsFd, made: Made) -> Made {
    let there = |name: &str| Identity::at(sandbox.as_fd(), name, AtFlags::empty());
    made.into_iter()
        .filter(|(name, identity)| there(name) == Ok(*identity))
        .collect()
}

/// Removes a file if it is the one that was made; says whether it was.
///
/// # Errors
/// What `unlinkat` reports, but for a file that is gone.
pub(crate) fn remove(sandbox: impl AsFd, name: &str, made: Identity) -> Result<bool, Errno> {
    match Identity::at(sandbox.as_fd(), name, AtFlags::empty()) {
        Ok(found) if found == made => {}
        Ok(_) | Err(Errno::NOENT) => return Ok(false),
        Err(error) => return Err(error),
    }
    match unlinkat(sandbox, name, AtFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes the list that [`read`] found.
///
/// # Errors
/// What `unlinkat` reports.
pub(crate) fn forget(sandbox: impl AsFd) -> Result<(), Errno> {
    unlinkat(sandbox, NAME, AtFlags::empty())
}

/// What is in a sandbox whose list and files are gone, in words: "thesis.tex", or "3 files".
pub(crate) fn others(sandbox: impl AsFd) -> Option<String> {
    let entries = Dir::read_from(sandbox).ok()?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| plain_text(&entry.file_name().to_string_lossy()))
        .filter(|name| name != "." && name != "..")
        .collect();
    names.sort();
    let more = names.len().saturating_sub(TOLD);
    names.truncate(TOLD);
    let mut text = names.join(", ");
    if more > 0 {
        text += &format!(" and {more} more");
    }
    (!names.is_empty()).then_some(text)
}
