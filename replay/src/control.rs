//! Ending a run early, and watching it: what the threads of a run share while it lasts.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Why a run is to end before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stop {
    /// A signal came.
    Interrupted = 1,
    /// The file system has less free space than must stay free.
    NoSpace = 2,
    /// Another job failed.
    Failed = 3,
}

impl Stop {
    /// In words, for reports.
    pub fn words(self) -> &'static str {
        match self {
            Stop::Interrupted => "interrupted by a signal",
            Stop::NoSpace => "stopped: free space on the file system fell to its floor",
            Stop::Failed => "stopped because another job failed",
        }
    }
}

/// Shared by the threads of a run. Each is read or written with relaxed order: nothing else
/// depends on the values.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicU8,
    moved: AtomicU64,
    operations: AtomicU64,
}

impl Control {
    /// Ends the run; the first reason stays.
    pub fn stop(&self, why: Stop) {
        let _ = self
            .stop
            .compare_exchange(0, why as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why the run is to end, if it is.
    #[inline]
    pub fn stopped(&self) -> Option<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::Interrupted),
            2 => Some(Stop::NoSpace),
            _ => Some(Stop::Failed),
        }
    }

    /// Counts progress. Jobs call it some times a second, not for each I/O.
    pub fn progress(&self, bytes: u64, operations: u64) {
        self.moved.fetch_add(bytes, Ordering::Relaxed);
        self.operations.fetch_add(operations, Ordering::Relaxed);
    }

    /// Bytes and operations so far.
    pub fn totals(&self) -> (u64, u64) {
        (
            self.moved.load(Ordering::Relaxed),
            self.operations.load(Ordering::Relaxed),
        )
    }
}
