//! The median and its confidence interval from order statistics.
//!
//! How many of n draws fall below the population median is binomial(n, 1/2). So the interval
//! between the l-th and r-th smallest value (1-based) holds the median with probability
//! `P(l <= K < r)`. Buckets are added outward from the middle until the asked confidence is
//! reached, the left one first when two are equal. An end outside the sample is infinite, and
//! then the interval says nothing: at 95 % that is so below six values.
//!
//! Up to 30 values the binomial is summed exactly, above that a normal approximation with
//! continuity correction is used, as benchstat does.

use super::utest::normal_cdf;

/// Largest sample for which the binomial is summed.
const EXACT_LIMIT: usize = 30;

/// A median and the values that bound it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianInterval {
    /// The sample median; the mean of the middle two for an even count.
    pub median: f64,
    /// Lower end; minus infinity if the sample is too small.
    pub lo: f64,
    /// Upper end; plus infinity if the sample is too small.
    pub hi: f64,
    /// The confidence actually reached, at least the asked one.
    pub confidence: f64,
}

/// The median of a sorted sample; the mean of the middle two for an even count. `None` if empty.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some((sorted[n / 2 - 1] + sorted[n / 2]) / 2.0),
    }
}

/// The median of a sample in any order, which it changes; likewise.
pub fn median_of(sample: &mut [f64]) -> Option<f64> {
    let n = sample.len();
    if n == 0 {
        return None;
    }
    let (below, middle, _) = sample.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return Some(*middle);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some((lower + *middle) / 2.0)
}

/// Median and confidence interval of a sorted sample. `None` if empty.
pub fn median_interval(sorted: &[f64], confidence: f64) -> Option<MedianInterval> {
    let median = median(sorted)?;
    let n = sorted.len();
    let (left, right, reached) = orders(n, confidence);
    Some(MedianInterval {
        median,
        lo: if left < 1 {
            f64::NEG_INFINITY
        } else {
            sorted[left - 1]
        },
        hi: if right > n {
            f64::INFINITY
        } else {
            sorted[right - 1]
        },
        confidence: reached,
    })
}

/// The least number of repeats that gives a finite interval at this confidence, if at most 50.
pub fn samples_for_interval(confidence: f64) -> Option<usize> {
    (2..=50).find(|n| {
        let (left, right, _) = orders(*n, confidence);
        left >= 1 && right <= *n
    })
}

/// The order statistics (1-based, 0 and n + 1 meaning outside) that bound the median, and the
/// confidence they reach.
fn orders(n: usize, confidence: f64) -> (usize, usize, f64) {
    if confidence >= 1.0 {
        return (0, n + 1, 1.0);
    }
    if n <= EXACT_LIMIT {
        exact_orders(n, confidence)
    } else {
        normal_orders(n, confidence)
    }
}

fn exact_orders(n: usize, confidence: f64) -> (usize, usize, f64) {
    let mass = binomial_half(n);
    let at = |k: i64| {
        if (0..=n as i64).contains(&k) {
            mass[k as usize]
        } else {
            0.0
        }
    };
    // The lower of the two modes of an odd n.
    let mode = n.div_ceil(2) as i64 - i64::from(n % 2 == 1);
    let (mut left, mut right) = (mode, mode + 1);
    let mut sum = at(mode);
    while sum < confidence && (at(left - 1) > 0.0 || at(right) > 0.0) {
        if at(left - 1) >= at(right) {
            left -= 1;
            sum += at(left);
        } else {
            sum += at(right);
            right += 1;
        }
    }
    (
        left.max(0) as usize,
        (right as usize).min(n + 1),
        sum.min(1.0),
    )
}

/// The normal approximation to binomial(n, 1/2): mean n/2, standard deviation sqrt(n)/2. The
/// central band is rounded out to whole buckets, then one bucket on the right is given up if the
/// confidence is still reached without it.
fn normal_orders(n: usize, confidence: f64) -> (usize, usize, f64) {
    let mean = n as f64 / 2.0;
    let deviation = (n as f64).sqrt() / 2.0;
    let low = mean + deviation * normal_quantile((1.0 - confidence) / 2.0);
    let high = 2.0 * mean - low;
    // Bucket k covers k - 1/2 to k + 1/2.
    let left = (low - 0.5).floor() + 1.0;
    let mut right = (high - 0.5).ceil() + 1.0;
    let mass = |l: f64, r: f64| {
        normal_cdf((r - 0.5 - mean) / deviation) - normal_cdf((l - 0.5 - mean) / deviation)
    };
    let mut reached = mass(left, right);
    let biased = mass(left, right - 1.0);
    if biased >= confidence && biased < reached {
        right -= 1.0;
        reached = biased;
    }
    if left <= 0.0 && right >= n as f64 + 1.0 {
        reached = 1.0;
    }
    (left.max(0.0) as usize, (right as usize).min(n + 1), reached)
}

/// Probabilities of binomial(n, 1/2), built by the recurrence C(n,k+1) = C(n,k)(n-k)/(k+1),
/// which is exact in `f64` for the n used here.
fn binomial_half(n: usize) -> Vec<f64> {
    let scale = 0.5f64.powi(n as i32);
    let mut coefficient = 1.0;
    (0..=n)
        .map(|k| {
            let mass = coefficient * scale;
            coefficient = coefficient * (n - k) as f64 / (k + 1) as f64;
            mass
        })
        .collect()
}

/// Inverse of the standard normal distribution, by bisection on [`normal_cdf`]: slow but as
/// exact as the function it inverts, and it is called once a table.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0f64, 40.0f64);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_needs_no_order() {
        assert_eq!(median_of(&mut []), None);
        for n in 1..40u64 {
            // 23 has no divisor in common with 41, so the values are distinct and mixed.
            let mut mixed: Vec<f64> = (0..n).map(|i| (i * 23 % 41) as f64).collect();
            let mut sorted = mixed.clone();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(median_of(&mut mixed), median(&sorted), "{n}");
        }
    }

    #[test]
    fn six_values_are_the_least_for_95_percent() {
        assert_eq!(samples_for_interval(0.95), Some(6));
        assert_eq!(samples_for_interval(0.99), Some(8));
        assert_eq!(samples_for_interval(1.0), None);
        let six = median_interval(&[-10.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).unwrap();
        assert_eq!((six.median, six.lo, six.hi), (3.5, -10.0, 6.0));
        // two tails of 1/64
        assert!((six.confidence - (1.0 - 2.0 / 64.0)).abs() < 1e-15);
    }

    #[test]
    fn a_small_sample_has_no_finite_interval() {
        let one = median_interval(&[1.0], 0.95).unwrap();
        assert_eq!((one.lo, one.hi), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(median_interval(&[], 0.95), None);
    }

    #[test]
    fn ambiguous_intervals_lean_left() {
        assert_eq!(exact_orders(4, 0.001), (2, 3, 0.375));
        assert_eq!(exact_orders(4, 0.3750001), (1, 3, 0.625));
        assert_eq!(exact_orders(5, 0.001), (2, 3, 0.3125));
        assert_eq!(exact_orders(5, 0.3125001), (2, 4, 0.625));
    }

    #[test]
    fn normal_quantile_of_two_and_a_half_percent() {
        // scipy.stats.norm.ppf(0.025)
        assert!((normal_quantile(0.025) - -1.959_963_984_540_054).abs() < 1e-12);
    }
}
