//! fio's `steadystate`: whether the rate has settled, judged by the last so many seconds.
//!
//! Each second gives a value, IOPS or bytes per second. With a window of the last N values
//! the job is steady if the largest distance of a value from their mean, or the slope of the
//! least-squares line through them (per second), is below the limit, which is a number or a
//! share of the mean. Pure.

use std::collections::VecDeque;

use crate::plan::job::{Steady, SteadyMetric};

const SECOND_NS: u64 = 1_000_000_000;

/// The check of one job.
#[derive(Debug)]
pub(super) struct Settling {
    plan: Steady,
    values: VecDeque<f64>,
    /// What was counted at the last whole second: its time, ns, and bytes and I/Os.
    last: (u64, [u64; 2]),
    attained_ns: Option<u64>,
}

impl Settling {
    pub(super) fn new(plan: Steady) -> Self {
        Settling {
            plan,
            values: VecDeque::with_capacity(plan.window_s.min(4096) as usize),
            last: (0, [0; 2]),
            attained_ns: None,
        }
    }

    /// When it was steady, ns since the start.
    pub(super) fn attained_ns(&self) -> Option<u64> {
        self.attained_ns
    }

    /// Takes what was counted so far, bytes and I/Os; whether the job is steady now.
    pub(super) fn observe(&mut self, now_ns: u64, counted: [u64; 2]) -> bool {
        let (then_ns, before) = self.last;
        if now_ns < then_ns + SECOND_NS {
            return false;
        }
        self.last = (now_ns, counted);
        if now_ns <= self.plan.ramp_ns {
            return false;
        }
        let which = match self.plan.metric {
            SteadyMetric::Rate => 0,
            SteadyMetric::Ios => 1,
        };
        let value = (counted[which] - before[which]) as f64 * 1e9 / (now_ns - then_ns) as f64;
        if self.values.len() == self.plan.window_s as usize {
            self.values.pop_front();
        }
        self.values.push_back(value);
        let steady = self.values.len() == self.plan.window_s as usize && self.below_limit();
        if steady {
            self.attained_ns = Some(now_ns);
        }
        steady
    }

    fn below_limit(&self) -> bool {
        let count = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / count;
        let found = if self.plan.slope {
            // x is 0, 1, ... n-1, whose mean is (n-1)/2 and sum of squared distances
            // n (n^2 - 1) / 12.
            let middle = (count - 1.0) / 2.0;
            let products = self.values.iter().enumerate();
            let product: f64 = products
                .map(|(x, y)| (x as f64 - middle) * (y - mean))
                .sum();
            (product * 12.0 / (count * (count * count - 1.0))).abs()
        } else {
            let distances = self.values.iter().map(|value| (value - mean).abs());
            distances.fold(0.0, f64::max)
        };
        let found = if self.plan.percent {
            found * 100.0 / mean
        } else {
            found
        };
        found < self.plan.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many seconds of these IOPS a job is steady.
    fn steady_after(plan: Steady, values: &[u64]) -> Option<u64> {
        let mut settling = Settling::new(plan);
        let mut ios = 0;
        for (second, value) in (1..).zip(values) {
            ios += value;
            if settling.observe(second * SECOND_NS, [ios * 4096, ios]) {
                assert_eq!(settling.attained_ns(), Some(second * SECOND_NS));
                return Some(second);
            }
        }
        None
    }

    const PLAN: Steady = Steady {
        metric: SteadyMetric::Ios,
        slope: false,
        limit: 5.0,
        percent: true,
        window_s: 3,
        ramp_ns: 0,
    };

    #[test]
    fn the_largest_distance_from_the_mean_counts() {
        // 90 and 110 are 10 % from their mean, 98 and 102 are 2 %.
        assert_eq!(steady_after(PLAN, &[90, 110, 100, 98, 102, 100]), Some(5));
        let absolute = Steady {
            percent: false,
            ..PLAN
        };
        assert_eq!(
            steady_after(absolute, &[1000, 1006, 1000, 1000, 1000]),
            Some(3)
        );
        assert_eq!(
            steady_after(absolute, &[1000, 1009, 1000, 1000, 1000]),
            Some(5)
        );
    }

    #[test]
    fn a_slope_is_that_of_the_line_of_least_squares() {
        let slope = Steady {
            slope: true,
            percent: false,
            limit: 10.0,
            ..PLAN
        };
        // 100, 110, 120 rises by exactly 10 a second; 100, 200, 100 has no slope at all.
        assert_eq!(steady_after(slope, &[100, 110, 120]), None);
        assert_eq!(steady_after(slope, &[100, 200, 100]), Some(3));
    }

    #[test]
    fn the_ramp_is_left_out() {
        let ramped = Steady {
            ramp_ns: 2 * SECOND_NS,
            ..PLAN
        };
        assert_eq!(steady_after(ramped, &[100; 6]), Some(5));
    }
}
