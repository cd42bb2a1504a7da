//! Running tests several times: rounds over all tests, so that a drift of the machine falls on
//! all alike; warm-up rounds first; an end when the medians are known well enough. Pure.
//!
//! The interval of a median comes from order statistics and assumes no distribution: of n
//! values in order, the median of what they were drawn from lies between the k-th from below
//! and the k-th from above with a probability of 1 - 2 P(B < k), B binomial with n draws at
//! one half. Below six values no interval reaches 95 %.

use std::collections::BTreeMap;

/// Rounds where `--target-ci` may end them and `--repeat` sets no bound.
const MOST_ROUNDS: u32 = 30;
/// Probability that a median may lie outside, on either side.
const OUTSIDE: f64 = 0.025;

/// How often, and what came of it so far.
#[derive(Debug, Clone)]
pub struct Rounds {
    warm_ups: u32,
    counted: u32,
    target: Option<f64>,
    /// Per test its figures, warm-ups left out.
    figures: BTreeMap<usize, Vec<f64>>,
}

/// A median and where it lies with 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianInterval {
    /// Lower end.
    pub low: f64,
    /// The median of the values.
    pub median: f64,
    /// Upper end.
    pub high: f64,
}

impl MedianInterval {
    /// Its width, per cent of the median.
    pub fn width_percent(&self) -> f64 {
        (self.high - self.low) * 100.0 / self.median
    }
}

impl Rounds {
    /// `repeat` counted rounds after `warm_ups`; fewer if all intervals get narrower than
    /// `target_percent`.
    pub fn new(repeat: Option<u32>, warm_ups: u32, target_percent: Option<f64>) -> Self {
        let usual = if target_percent.is_some() {
            MOST_ROUNDS
        } else {
            1
        };
        Rounds {
            warm_ups,
            counted: repeat.unwrap_or(usual),
            target: target_percent,
            figures: BTreeMap::new(),
        }
    }

    /// All rounds there may be.
    pub fn most(&self) -> u32 {
        self.warm_ups + self.counted
    }

    /// Whether a round, from 0, is a warm-up.
    pub fn is_warm_up(&self, round: u32) -> bool {
        round < self.warm_ups
    }

    /// What to call a round, if there are several.
    pub fn name(&self, round: u32) -> Option<String> {
        if self.is_warm_up(round) {
            Some(format!("warm-up {} of {}", round + 1, self.warm_ups))
        } else if self.counted > 1 {
            let at_most = if self.target.is_some() {
                "at most "
            } else {
                ""
            };
            let number = round - self.warm_ups + 1;
            Some(format!("round {number} of {at_most}{}", self.counted))
        } else {
            None
        }
    }

    /// What tells the files of a round from those of the others, if there are others.
    pub fn mark(&self, round: u32) -> Option<String> {
        if self.is_warm_up(round) {
            Some(format!("warm-up-{}", round + 1))
        } else if self.counted > 1 {
            Some(format!("round-{}", round - self.warm_ups + 1))
        } else {
            None
        }
    }

    /// Takes the figure of a test in a round: bytes per second.
    pub fn take(&mut self, round: u32, test: usize, figure: f64) {
        if !self.is_warm_up(round) {
            self.figures.entry(test).or_default().push(figure);
        }
    }

    /// Whether every test's median is known as well as asked.
    pub fn enough(&self) -> bool {
        self.target.is_some_and(|target| {
            !self.figures.is_empty()
                && self.figures.values().all(|values| {
                    interval(values).is_some_and(|interval| interval.width_percent() <= target)
                })
        })
    }

    /// One line per test that was measured more than once.
    pub fn summary(&self) -> Vec<String> {
        let several = self.figures.iter().filter(|(_, values)| values.len() > 1);
        several
            .map(|(test, values)| {
                let mega = |value: f64| value / 1e6;
                let count = values.len();
                let known = match interval(values) {
                    Some(MedianInterval { low, high, .. }) => {
                        format!("95 % interval {:.2} to {:.2} MB/s", mega(low), mega(high))
                    }
                    None => "too few for an interval".to_owned(),
                };
                let median = mega(median(values));
                format!(
                    "workload {}: median of {count} rounds {median:.2} MB/s, {known}",
                    test + 1
                )
            })
            .collect()
    }
}

fn ordered(values: &[f64]) -> Vec<f64> {
    let mut ordered = values.to_vec();
    ordered.sort_by(f64::total_cmp);
    ordered
}

fn median(values: &[f64]) -> f64 {
    let ordered = ordered(values);
    let middle = ordered.len() / 2;
    if ordered.len() % 2 == 1 {
        ordered[middle]
    } else {
        (ordered[middle - 1] + ordered[middle]) / 2.0
    }
}

/// Where the median of what the values were drawn from lies, with at least 95 %.
pub fn interval(values: &[f64]) -> Option<MedianInterval> {
    let n = values.len();
    // P(B = i) = C(n, i) / 2^n, summed while it stays outside.
    let mut probability = 0.5f64.powi(n as i32);
    let mut sum = probability;
    let mut k = 0;
    while sum <= OUTSIDE && k < n / 2 {
        k += 1;
        probability *= (n + 1 - k) as f64 / k as f64;
        sum += probability;
    }
    let ordered = ordered(values);
    (k > 0).then(|| MedianInterval {
        low: ordered[k - 1],
        median: median(values),
        high: ordered[n - k],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Published ranks of the 95 % interval of a median: n = 6: 1 and 6; 9: 2 and 8;
        // 15: 4 and 12; 20: 6 and 15; 30: 10 and 21.
        for (n, low, high) in [(6, 1, 6), (9, 2, 8), (15, 4, 12), (20, 6, 15), (30, 10, 21)] {
            let values: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let found = interval(&values).unwrap();
            assert_eq!(
                (found.low, found.high),
                (f64::from(low), f64::from(high)),
                "n = {n}"
            );
            assert_eq!(found.median, f64::from(n + 1) / 2.0);
        }
        assert_eq!(interval(&[1.0; 5]), None);
        assert_eq!(interval(&[]), None);
    }

    #[test]
    fn warm_ups_and_rounds_are_numbered_apart() {
        let marks = |rounds: Rounds| -> Vec<Option<String>> {
            (0..rounds.most()).map(|round| rounds.mark(round)).collect()
        };
        let text = |mark: &str| Some(mark.to_owned());
        assert_eq!(marks(Rounds::new(None, 0, None)), [None]);
        assert_eq!(marks(Rounds::new(None, 1, None)), [text("warm-up-1"), None]);
        assert_eq!(
            marks(Rounds::new(Some(2), 1, None)),
            ["warm-up-1", "round-1", "round-2"].map(text)
        );
    }

    #[test]
    fn rounds_end_when_all_medians_are_known() {
        let mut rounds = Rounds::new(None, 1, Some(5.0));
        assert_eq!(rounds.most(), 31);
        for round in 0..7 {
            assert!(!rounds.enough(), "round {round}");
            rounds.take(round, 0, 100.0 + f64::from(round % 2));
            rounds.take(round, 1, if round == 0 { 1.0 } else { 50.0 });
        }
        assert!(rounds.enough(), "six counted rounds, the warm-up left out");
        rounds.take(7, 1, 80.0);
        rounds.take(8, 1, 20.0);
        rounds.take(9, 2, 80.0);
        assert!(!rounds.enough(), "one test has a single value");
        assert_eq!(rounds.summary().len(), 2);
        let once = Rounds::new(None, 0, None);
        assert_eq!((once.most(), once.name(0), once.enough()), (1, None, false));
        assert_eq!(
            Rounds::new(Some(3), 1, None).name(1).as_deref(),
            Some("round 1 of 3")
        );
    }
}
