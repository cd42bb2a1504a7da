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
    /// Another job is done, and the test asks that all end then (`exitall`).
    Finished = 4,
    /// More was written than is permitted without the person's word.
    Written = 5,
    /// The test's own dirty pages take half of the memory that is left.
    Dirty = 6,
}

impl Stop {
    /// In words, for reports.
    pub fn words(self) -> &'static str {
        match self {
            Stop::Interrupted => "interrupted by a signal",
            Stop::NoSpace => "stopped: free space on the file system fell to its floor",
            Stop::Failed => "stopped because another job failed",
            Stop::Finished => "ended with the first job that was done, as exitall asks",
            Stop::Written => "stopped: more was written than is permitted without --allow-long",
            Stop::Dirty => "stopped: data not yet on the disk took half of the memory that is left",
        }
    }

    /// The number of the error of Linux that comes closest, for forms that have room for a
    /// number only.
    pub fn code(self) -> i32 {
        match self {
            Stop::Interrupted => libc::EINTR,
            Stop::NoSpace => libc::ENOSPC,
            Stop::Failed | Stop::Finished | Stop::Written | Stop::Dirty => libc::ECANCELED,
        }
    }

    /// Whether the run is cut short by it: not by its own plan, and not by a failure that is
    /// told apart.
    pub fn cuts_short(self) -> bool {
        !matches!(self, Stop::Failed | Stop::Finished)
    }
}

/// Set in [`Control::stop`]'s number for a signal; the rest of it is the signal's number.
const SIGNAL: u8 = 0x80;

/// Shared by the threads of a run. Each is read or written with relaxed order: nothing else
/// depends on the values.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicU8,
    operations: AtomicU64,
    moved: AtomicU64,
    written: AtomicU64,
}

impl Control {
    /// Ends the run; the first reason stays.
    pub fn stop(&self, why: Stop) {
        let _ = self
            .stop
            .compare_exchange(0, why as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Ends the run because a signal came, unless it is to end already.
    pub fn interrupt(&self, signal: u8) {
        let _ =
            self.stop
                .compare_exchange(0, SIGNAL | signal, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The signal that ended the run.
    pub fn signal(&self) -> Option<u8> {
        let stop = self.stop.load(Ordering::Relaxed);
        (stop & SIGNAL != 0).then_some(stop & !SIGNAL)
    }

    /// Why the run is to end, if it is.
    #[inline]
    pub fn stopped(&self) -> Option<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::Interrupted),
            2 => Some(Stop::NoSpace),
            4 => Some(Stop::Finished),
            5 => Some(Stop::Written),
            6 => Some(Stop::Dirty),
            SIGNAL.. => Some(Stop::Interrupted),
            _ => Some(Stop::Failed),
        }
    }

    /// Counts progress: operations, bytes moved, bytes written. Jobs call it some times a
    /// second, not for each I/O.
    pub fn progress(&self, new: [u64; 3]) {
        self.operations.fetch_add(new[0], Ordering::Relaxed);
        self.moved.fetch_add(new[1], Ordering::Relaxed);
        self.written.fetch_add(new[2], Ordering::Relaxed);
    }

    /// Operations, bytes moved and bytes written so far.
    pub fn totals(&self) -> [u64; 3] {
        [&self.operations, &self.moved, &self.written].map(|count| count.load(Ordering::Relaxed))
    }

    /// Forgets that a job of an earlier stage was done.
    pub fn next_stage(&self) {
        let finished = Stop::Finished as u8;
        let _ = self
            .stop
            .compare_exchange(finished, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays_and_a_signal_keeps_its_number() {
        let control = Control::default();
        assert_eq!((control.stopped(), control.signal()), (None, None));
        control.interrupt(15);
        control.interrupt(1);
        control.stop(Stop::NoSpace);
        let interrupted = (Some(Stop::Interrupted), Some(15));
        assert_eq!((control.stopped(), control.signal()), interrupted);
        let full = Control::default();
        full.stop(Stop::NoSpace);
        full.interrupt(2);
        assert_eq!((full.stopped(), full.signal()), (Some(Stop::NoSpace), None));
    }
}
