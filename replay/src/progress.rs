//! Progress of a run in one line: phase, share done, rates, time left. Pure but for its state.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::plan::{Plan, TestPlan, binary};
use crate::run::Phase;

/// What is known before the run about its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Length {
    /// Bytes that will be moved, where the plan is finite.
    pub bytes: Option<u64>,
    /// The longest time, where the plan ends by time.
    pub time: Option<Duration>,
}

impl Length {
    /// The length of a plan.
    pub fn of(plan: &Plan) -> Self {
        let time = plan.longest_ns().map(Duration::from_nanos);
        let bytes = match &plan.test {
            TestPlan::Fio(fio) if fio.jobs.iter().any(|job| job.endless()) => None,
            TestPlan::Fio(fio) => Some(
                fio.jobs
                    .iter()
                    .fold(0, |sum: u64, job| sum.saturating_add(job.bytes_limit())),
            ),
            TestPlan::Dd(dd) => Some(dd.bytes()),
        };
        Length { bytes, time }
    }
}

#[derive(Debug)]
struct State {
    phase: Phase,
    began: Instant,
    last: Instant,
    operations: u64,
    bytes: u64,
}

/// A run that is watched.
#[derive(Debug)]
pub struct Progress {
    length: Length,
    state: Mutex<State>,
}

impl Progress {
    /// Begins now.
    pub fn new(length: Length) -> Self {
        let now = Instant::now();
        Progress {
            length,
            state: Mutex::new(State {
                phase: Phase::LayingOut,
                began: now,
                last: now,
                operations: 0,
                bytes: 0,
            }),
        }
    }

    /// The line for what was done by `now`: operations and bytes so far.
    pub fn line(&self, now: Instant, phase: Phase, operations: u64, bytes: u64) -> String {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.phase != phase && phase == Phase::Running && state.operations == 0 {
            // The layout is no part of what the share is of.
            state.began = now;
        }
        state.phase = phase;
        let since = now.duration_since(state.last).as_secs_f64().max(1e-3);
        let rate = |new: u64, old: u64| new.saturating_sub(old) as f64 / since;
        let (rate_bytes, rate_ios) = (rate(bytes, state.bytes), rate(operations, state.operations));
        (state.last, state.operations, state.bytes) = (now, operations, bytes);
        let what = match phase {
            Phase::LayingOut => return "laying out".to_owned(),
            Phase::Flushing => return format!("flushing {}", binary(bytes)),
            Phase::Running => "running",
        };
        let mut line = what.to_owned();
        let gone = now.duration_since(state.began).as_secs_f64();
        if let Some(share) = self.share(gone, bytes) {
            line += &format!(" {:.0} %", share * 100.0);
            if share > 0.01 {
                line += &format!(", {:.0} s left", gone / share - gone);
            }
        }
        line + &format!(
            ", {:.1} MiB/s, {rate_ios:.0} IOPS",
            rate_bytes / f64::from(1 << 20)
        )
    }

    /// The share that is done: of the bytes or of the time, whichever is further.
    fn share(&self, gone: f64, bytes: u64) -> Option<f64> {
        let of_bytes = self
            .length
            .bytes
            .filter(|&all| all > 0)
            .map(|all| bytes as f64 / all as f64);
        let of_time = self
            .length
            .time
            .map(|time| gone / time.as_secs_f64().max(1e-9));
        let share = match (of_bytes, of_time) {
            (Some(bytes), Some(time)) => bytes.max(time),
            (one, other) => one.or(other)?,
        };
        Some(share.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let progress = Progress::new(Length {
            bytes: Some(100 << 20),
            time: None,
        });
        let start = Instant::now();
        assert_eq!(progress.line(start, Phase::LayingOut, 0, 0), "laying out");
        progress.line(start, Phase::Running, 0, 0);
        let after = |seconds| start + Duration::from_secs(seconds);
        let line = progress.line(after(10), Phase::Running, 6400, 25 << 20);
        assert_eq!(line, "running 25 %, 30 s left, 2.5 MiB/s, 640 IOPS");
        let line = progress.line(after(11), Phase::Running, 12_800, 50 << 20);
        assert_eq!(line, "running 50 %, 11 s left, 25.0 MiB/s, 6400 IOPS");
        assert_eq!(
            progress.line(after(12), Phase::Flushing, 12_800, 100 << 20),
            "flushing 100 MiB"
        );
    }

    #[test]
    fn time_bounds_a_run_too() {
        let time = Some(Duration::from_secs(60));
        let progress = Progress::new(Length { bytes: None, time });
        let start = Instant::now();
        progress.line(start, Phase::Running, 0, 0);
        let line = progress.line(start + Duration::from_secs(15), Phase::Running, 0, 0);
        assert!(line.starts_with("running 25 %, 45 s left"), "{line}");
    }
}
