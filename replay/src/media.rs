//! What a job does to its file beside moving data: open, drop the cache, hint, sync, close.
//!
//! A trait, so that the loop in [`crate::worker`] can be tested with a file that is not
//! there and whose syncs take as long as a test wants.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;

use rustix::fs::{Advice, fadvise};

use crate::plan::job::JobPlan;
use crate::sandbox::{OpenFlags, Sandbox};
use crate::script::SyncKind;

/// The file of a job.
pub trait Media {
    /// Opens it with the job's flags.
    ///
    /// # Errors
    /// The kernel's; EINVAL mostly means that O_DIRECT is refused.
    fn open(&mut self) -> io::Result<Vec<Arc<File>>>;

    /// Asks the kernel to drop the cached pages of the job's region (POSIX_FADV_DONTNEED).
    ///
    /// # Errors
    /// The kernel's.
    fn invalidate(&mut self) -> io::Result<()>;

    /// Tells the kernel the order of offsets.
    ///
    /// # Errors
    /// The kernel's.
    fn hint(&mut self, random: bool) -> io::Result<()>;

    /// Makes written data durable.
    ///
    /// # Errors
    /// The kernel's, or that of an earlier write-back.
    fn sync(&mut self, kind: SyncKind) -> io::Result<()>;

    /// Closes it.
    fn close(&mut self);
}

/// A file in the sandbox.
#[derive(Debug)]
pub struct SandboxFile<'a> {
    sandbox: &'a Sandbox,
    name: &'a str,
    flags: OpenFlags,
    offset: u64,
    bytes: u64,
    file: Option<Arc<File>>,
}

impl<'a> SandboxFile<'a> {
    /// The file `name` as `job` uses it; it is not opened yet.
    pub fn new(sandbox: &'a Sandbox, name: &'a str, job: &JobPlan) -> Self {
        let flags = OpenFlags {
            write: job.pattern.writes,
            write_only: false,
            direct: job.direct,
            sync: job.sync,
            dsync: job.dsync,
        };
        let (offset, bytes) = (job.offset, job.region);
        SandboxFile {
            sandbox,
            name,
            flags,
            offset,
            bytes,
            file: None,
        }
    }

    fn opened(&self) -> io::Result<&File> {
        self.file
            .as_deref()
            .ok_or_else(|| io::Error::other("the file is not open"))
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        let bytes = NonZeroU64::new(self.bytes);
        Ok(fadvise(self.opened()?, self.offset, bytes, advice)?)
    }
}

impl Media for SandboxFile<'_> {
    fn open(&mut self) -> io::Result<Vec<Arc<File>>> {
        let file = Arc::new(self.sandbox.open_file(self.name, self.flags)?);
        self.file = Some(Arc::clone(&file));
        Ok(vec![file])
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

    fn sync(&mut self, kind: SyncKind) -> io::Result<()> {
        match kind {
            SyncKind::Full => self.opened()?.sync_all(),
            SyncKind::Data => self.opened()?.sync_data(),
        }
    }

    fn close(&mut self) {
        self.file = None;
    }
}
