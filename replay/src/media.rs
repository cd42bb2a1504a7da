//! What a job does to its files beside moving data: open, drop the cache, hint, sync, close.
//!
//! A trait, so that the loop in [`crate::worker`] can be tested with a file that is not
//! there and whose syncs take as long as a test wants.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;

use rustix::fs::{Advice, fadvise};

use crate::engine::range::sync_file_range;
use crate::plan::job::JobPlan;
use crate::sandbox::{OpenFlags, Sandbox};
use crate::script::SyncKind;

/// The files of a job.
pub trait Media {
    /// Opens them with the job's flags.
    ///
    /// # Errors
    /// The kernel's; EINVAL mostly means that O_DIRECT is refused.
    fn open(&mut self) -> io::Result<Vec<Arc<File>>>;

    /// Asks the kernel to drop the cached pages of the job's regions (POSIX_FADV_DONTNEED).
    ///
    /// # Errors
    /// The kernel's.
    fn invalidate(&mut self) -> io::Result<()>;

    /// Tells the kernel the order of offsets.
    ///
    /// # Errors
    /// The kernel's.
    fn hint(&mut self, random: bool) -> io::Result<()>;

    /// Makes data written to one file durable, or begins to.
    ///
    /// # Errors
    /// The kernel's, or that of an earlier write-back.
    fn sync(&mut self, file: u32, kind: SyncKind) -> io::Result<()>;

    /// Closes them.
    fn close(&mut self);
}

/// No file at all: for the null engine, which never looks at one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nowhere;

impl Media for Nowhere {
    fn open(&mut self) -> io::Result<Vec<Arc<File>>> {
        Ok(Vec::new())
    }

    fn invalidate(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn hint(&mut self, _random: bool) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self, _file: u32, _kind: SyncKind) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) {}
}

/// Files in the sandbox.
#[derive(Debug)]
pub struct SandboxFiles<'a> {
    sandbox: &'a Sandbox,
    names: Vec<&'a str>,
    flags: OpenFlags,
    offset: u64,
    /// Sizes of the job's regions in them, bytes.
    regions: Vec<u64>,
    range_flags: u32,
    files: Vec<Arc<File>>,
}

impl<'a> SandboxFiles<'a> {
    /// The files `names` as `job` uses them; they are not opened yet.
    pub fn new(sandbox: &'a Sandbox, names: Vec<&'a str>, job: &JobPlan) -> Self {
        let flags = OpenFlags {
            write: job.pattern.writes,
            write_only: false,
            direct: job.direct,
            sync: job.sync,
            dsync: job.dsync,
        };
        SandboxFiles {
            sandbox,
            regions: (0..names.len()).map(|file| job.region_of(file)).collect(),
            names,
            flags,
            offset: job.offset,
            range_flags: job.range_sync.map_or(0, |sync| sync.flags),
            files: Vec::new(),
        }
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        for (file, &bytes) in self.files.iter().zip(&self.regions) {
            fadvise(file, self.offset, NonZeroU64::new(bytes), advice)?;
        }
        Ok(())
    }
}

impl Media for SandboxFiles<'_> {
    fn open(&mut self) -> io::Result<Vec<Arc<File>>> {
        self.files.clear();
        for name in &self.names {
            self.files
                .push(Arc::new(self.sandbox.open_file(name, self.flags)?));
        }
        Ok(self.files.clone())
    }

    fn invalidate(&mut self) -> io::Result<()> {
        self.advise(Advice::DontNeed)
    }

    fn hint(&mut self, random: bool) -> io::Result<()> {
        self.advise(if random {
            Advice::Random
        } else {
            Advice::Sequential
        })
    }

    fn sync(&mut self, file: u32, kind: SyncKind) -> io::Result<()> {
        let file = self
            .files
            .get(file as usize)
            .ok_or_else(|| io::Error::other("the file is not open"))?;
        match kind {
            SyncKind::Full => file.sync_all(),
            SyncKind::Data => file.sync_data(),
            SyncKind::Range { bytes: 0, .. } => Ok(()),
            SyncKind::Range { offset, bytes } => {
                sync_file_range(file, offset, bytes, self.range_flags)
            }
        }
    }

    fn close(&mut self) {
        self.files.clear();
    }
}
