//! What fio's logs of latency take: each I/O by itself, or averages over windows.
//!
//! Windows lie on a grid from the start of the measured window; the completion that comes first
//! after a line of the grid belongs to the window that it ends, and what is in the last one makes
//! the last line, as in fio. `slat` counts when an I/O was handed over, the others when it was
//! complete. The number of lines is bounded: what comes after is counted and told.

use super::Slot;
use crate::clock::Stamp;
use crate::plan::job::Logs;

const MS: u64 = 1_000_000;

/// One I/O of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedIo {
    /// When it was complete, ns since the start of the measured window.
    pub at_ns: u64,
    /// Its submission latency, ns.
    pub slat_ns: u64,
    /// Its completion latency, ns.
    pub clat_ns: u64,
    /// Its size.
    pub bytes: u32,
    /// A write, else a read.
    pub write: bool,
}

/// A value over a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Averaged {
    /// End of the window, ms since the start of the measured window.
    pub at_ms: u64,
    /// Mean or largest, ns.
    pub ns: u64,
    /// Writes, else reads.
    pub write: bool,
}

/// What a job logged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logged {
    /// I/Os in the order of their completion, where each is logged by itself.
    pub ios: Vec<LoggedIo>,
    /// Windows of `slat`, `clat` and `lat`.
    pub averages: [Vec<Averaged>; 3],
    /// I/Os or windows that the bound left out.
    pub left_out: u64,
    /// The engine has a submission latency.
    pub has_slat: bool,
}

/// The window under way of one latency in one direction.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    /// Line of the grid that it began at, ms.
    since_ms: u64,
    count: u64,
    sum_ns: u128,
    largest_ns: u64,
}

/// Takes the I/Os of a job.
#[derive(Debug)]
pub(super) struct Recorder {
    plan: Logs,
    /// Lines that it has room for, of each kind.
    most: usize,
    windows: [[Window; 2]; 3],
    logged: Logged,
}

impl Recorder {
    /// For the logs that are asked for, with room for `most` lines of each kind; none if the
    /// series has all that they want.
    pub(super) fn new(plan: Logs, most: usize, has_slat: bool) -> Option<Self> {
        let each = plan.average_ms == 0;
        if !(each || plan.latency) {
            return None;
        }
        let mut logged = Logged {
            has_slat,
            ..Logged::default()
        };
        // All of it, so that nothing is allocated while the clock runs. Memory that is not
        // touched costs nothing.
        if each {
            logged.ios.reserve_exact(most);
        } else {
            logged
                .averages
                .iter_mut()
                .for_each(|log| log.reserve_exact(most));
        }
        Some(Recorder {
            plan,
            most,
            windows: Default::default(),
            logged,
        })
    }

    /// Takes an I/O that was complete at `now`; the measured window began at `start`.
    pub(super) fn take(&mut self, slot: &Slot, start: Stamp, now: Stamp) {
        let slat_ns = slot.issue.saturating_sub(slot.start);
        let clat_ns = now.saturating_sub(slot.issue);
        let at_ns = now.saturating_sub(start);
        let write = slot.kind.way() == 1;
        if self.plan.average_ms == 0 {
            if self.logged.ios.len() == self.most {
                self.logged.left_out += 1;
                return;
            }
            return self.logged.ios.push(LoggedIo {
                at_ns,
                slat_ns,
                clat_ns,
                bytes: slot.bytes,
                write,
            });
        }
        if self.logged.has_slat {
            self.add(0, write, at_ns.saturating_sub(clat_ns) / MS, slat_ns);
        }
        self.add(1, write, at_ns / MS, clat_ns);
        self.add(2, write, at_ns / MS, slat_ns + clat_ns);
    }

    fn add(&mut self, kind: usize, write: bool, at_ms: u64, ns: u64) {
        let each = u64::from(self.plan.average_ms);
        let window = &mut self.windows[kind][usize::from(write)];
        window.count += 1;
        window.sum_ns += u128::from(ns);
        window.largest_ns = window.largest_ns.max(ns);
        if at_ms >= window.since_ms + each {
            self.end(kind, write, at_ms);
        }
    }

    fn end(&mut self, kind: usize, write: bool, at_ms: u64) {
        let window = &mut self.windows[kind][usize::from(write)];
        let (count, sum) = (u128::from(window.count), window.sum_ns);
        let ns = match self.plan.largest {
            true => window.largest_ns,
            // Rounded to the nearest.
            false => ((sum + count / 2) / count.max(1)) as u64,
        };
        *window = Window {
            since_ms: at_ms - at_ms % u64::from(self.plan.average_ms),
            ..Window::default()
        };
        let log = &mut self.logged.averages[kind];
        if log.len() == self.most {
            self.logged.left_out += 1;
        } else {
            log.push(Averaged { at_ms, ns, write });
        }
    }

    /// The ramp is over: what it took is forgotten.
    pub(super) fn forget(&mut self) {
        self.windows = Default::default();
        self.logged.ios.clear();
        self.logged.averages.iter_mut().for_each(Vec::clear);
        self.logged.left_out = 0;
    }

    /// What was logged, when the job ends at `at_ns`.
    pub(super) fn finish(mut self, at_ns: u64) -> Logged {
        for kind in 0..3 {
            for write in [false, true] {
                if self.windows[kind][usize::from(write)].count > 0 {
                    self.end(kind, write, at_ns / MS);
                }
            }
        }
        self.logged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::SlotKind;

    fn slot(start_us: u64, issue_us: u64, kind: SlotKind) -> Slot {
        Slot {
            start: start_us * 1000,
            issue: issue_us * 1000,
            bytes: 4096,
            kind,
            ..Slot::default()
        }
    }

    fn averages(largest: bool) -> Logs {
        Logs {
            latency: true,
            average_ms: 100,
            largest,
            ..Logs::default()
        }
    }

    #[test]
    fn a_window_ends_with_the_first_io_behind_its_line_and_the_last_with_the_job() {
        for (largest, clats) in [(false, [150, 300, 500]), (true, [200, 300, 600])] {
            let mut recorder = Recorder::new(averages(largest), 10, false).unwrap();
            // Complete at 50 ms after 0.1 ms, at 120 ms after 0.2 ms, at 201 ms after 0.3 ms ...
            for (at_ms, clat_us) in [(50, 100), (120, 200), (201, 300), (250, 400), (260, 600)] {
                let at_us = at_ms * 1000;
                let slot = slot(at_us - clat_us, at_us - clat_us, SlotKind::Write);
                recorder.take(&slot, 0, at_us * 1000);
            }
            let logged = recorder.finish(270 * MS);
            let line = |at_ms, us: u64| Averaged {
                at_ms,
                ns: us * 1000,
                write: true,
            };
            let lines = [
                line(120, clats[0]),
                line(201, clats[1]),
                line(270, clats[2]),
            ];
            assert_eq!(logged.averages[1], lines);
            assert_eq!(logged.averages[2], lines);
            assert_eq!(logged.averages[0], []);
            assert_eq!(logged.left_out, 0);
        }
    }

    #[test]
    fn lines_are_bounded_and_what_is_left_out_is_counted() {
        let each = Logs {
            rate: true,
            ..Logs::default()
        };
        for (plan, ios) in [(each, 3), (averages(false), 0)] {
            let mut recorder = Recorder::new(plan, 3, true).unwrap();
            for at_ms in (200..=1000).step_by(200) {
                let slot = slot(at_ms * 1000 - 9, at_ms * 1000 - 7, SlotKind::Read);
                recorder.take(&slot, 0, at_ms * MS);
            }
            let logged = recorder.finish(1001 * MS);
            assert_eq!(logged.ios.len(), ios);
            if ios > 0 {
                let first = LoggedIo {
                    at_ns: 200 * MS,
                    slat_ns: 2000,
                    clat_ns: 7000,
                    bytes: 4096,
                    write: false,
                };
                assert_eq!((logged.ios[0], logged.left_out), (first, 2));
            } else {
                assert_eq!(logged.averages.each_ref().map(Vec::len), [3; 3]);
                assert_eq!(logged.left_out, 3 * 2);
            }
        }
    }

    #[test]
    fn the_ramp_is_forgotten() {
        let mut recorder = Recorder::new(averages(false), 3, false).unwrap();
        recorder.take(&slot(0, 0, SlotKind::Write), 0, 150 * MS);
        recorder.take(&slot(0, 0, SlotKind::Write), 0, 160 * MS);
        recorder.forget();
        assert_eq!(recorder.finish(170 * MS), Logged::default());
    }
}
