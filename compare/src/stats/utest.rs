//! The Mann-Whitney U test: do two samples come from one population?
//!
//! U counts the pairs in which the first sample's value is the larger, ties as one half. Its
//! distribution under "no difference" is that of the rank sum of n1 values drawn from all
//! n1 + n2. It is counted exactly up to 50 values a side, or 25 with ties; above that a normal
//! approximation with tie and continuity correction serves. The two-sided p is twice the lower
//! tail of the sample with the smaller U, at most 1. (benchstat always takes the tail of the first
//! sample, which gives p = 0 where ties lie on one side only; the exact test does not.)
//! Sources: Mann and Whitney (1947); for ties, Klotz (1966), "The Wilcoxon, Ties, and the
//! Computer".

use std::cmp::Ordering;

/// Largest sample counted exactly when no two values are equal.
const EXACT_LIMIT: usize = 50;
/// Largest sample counted exactly when some values are equal.
const EXACT_LIMIT_TIES: usize = 25;

/// What a comparison of two samples came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The smaller of the two U statistics.
    pub u: f64,
    /// Two-sided p-value. 1 if all values are equal.
    pub p: f64,
    /// True if all values of both samples are the same number, so that nothing can be tested.
    pub all_equal: bool,
}

/// Compares two samples, in any order. `None` if either is empty.
pub fn compare(first: &[f64], second: &[f64]) -> Option<Comparison> {
    let (n1, n2) = (first.len(), second.len());
    if n1 == 0 || n2 == 0 {
        return None;
    }
    let mut merged: Vec<(f64, bool)> = first
        .iter()
        .map(|v| (*v, true))
        .chain(second.iter().map(|v| (*v, false)))
        .collect();
    merged.sort_by(|a, b| a.0.total_cmp(&b.0));

    // Doubled ranks stay whole when ties share the middle rank.
    let mut doubled_rank_sum = 0u64;
    let mut ties = Vec::new();
    let mut start = 0;
    while start < merged.len() {
        let mut end = start;
        while end < merged.len() && merged[end].0 == merged[start].0 {
            end += 1;
        }
        let mine = merged[start..end].iter().filter(|(_, is_first)| *is_first);
        // ranks start+1 ..= end, their mean doubled
        doubled_rank_sum += (start + 1 + end) as u64 * mine.count() as u64;
        ties.push(end - start);
        start = end;
    }
    if ties.len() == 1 {
        return Some(Comparison {
            u: (n1 * n2) as f64 / 2.0,
            p: 1.0,
            all_equal: true,
        });
    }
    let doubled_u1 = doubled_rank_sum - (n1 * (n1 + 1)) as u64;
    let doubled_u2 = 2 * (n1 * n2) as u64 - doubled_u1;
    // The tail is counted for the sample that has the smaller U: with ties on one side only, U of
    // the first and U of the second are not distributed alike.
    let (drawn, doubled_u) = if doubled_u1 <= doubled_u2 {
        (n1, doubled_u1)
    } else {
        (n2, doubled_u2)
    };

    let has_ties = ties.iter().any(|t| *t > 1);
    let limit = if has_ties {
        EXACT_LIMIT_TIES
    } else {
        EXACT_LIMIT
    };
    let p = if doubled_u1 == doubled_u2 {
        1.0
    } else if n1 <= limit && n2 <= limit {
        let rank_sum = doubled_u + (drawn * (drawn + 1)) as u64;
        (2.0 * lower_tail(drawn, &ties, rank_sum as usize)).min(1.0)
    } else {
        normal_p(n1, n2, &ties, doubled_u as f64 / 2.0)
    };
    Some(Comparison {
        u: doubled_u as f64 / 2.0,
        p,
        all_equal: false,
    })
}

/// P(doubled rank sum of `drawn` values <= `limit`) over all equally likely choices of `drawn`
/// of the values, whose tie groups in ascending order are `ties`.
///
/// Counting by dynamic programming: `ways[k][s]` is the number of choices of k values with
/// doubled rank sum s among the groups seen so far; a group of t equal values with doubled mean
/// rank r adds j of them in C(t, j) ways. Counts reach C(100, 50), about 1e29, which `f64` holds
/// to 16 digits.
fn lower_tail(drawn: usize, ties: &[usize], limit: usize) -> f64 {
    let total: usize = ties.iter().sum();
    let mut ways = vec![vec![0.0f64; limit + 1]; drawn + 1];
    ways[0][0] = 1.0;
    let mut below = 0;
    for group in ties {
        let doubled_rank = 2 * below + group + 1;
        below += group;
        // Downward over k, so that a group is not used twice.
        for k in (0..=drawn).rev() {
            for take in 1..=(*group).min(k) {
                let shift = take * doubled_rank;
                if shift > limit {
                    break;
                }
                let choices = binomial(*group, take);
                let (lower, upper) = ways.split_at_mut(k);
                let source = &lower[k - take];
                for (sum, count) in source[..=limit - shift].iter().enumerate() {
                    upper[0][sum + shift] += count * choices;
                }
            }
        }
    }
    ways[drawn].iter().sum::<f64>() / binomial(total, drawn)
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64)
}

/// Normal approximation: mean n1 n2 / 2, variance n1 n2 / 12 (N + 1 - sum(t^3 - t) / (N (N - 1))),
/// and the numerator moved half a step towards zero.
fn normal_p(n1: usize, n2: usize, ties: &[usize], u: f64) -> f64 {
    let (pairs, all) = ((n1 * n2) as f64, (n1 + n2) as f64);
    let tie_sum: f64 = ties.iter().map(|t| (*t as f64).powi(3) - *t as f64).sum();
    let variance = pairs / 12.0 * (all + 1.0 - tie_sum / (all * (all - 1.0)));
    let distance = u - pairs / 2.0;
    let corrected = match distance.partial_cmp(&0.0) {
        Some(Ordering::Less) => distance + 0.5,
        Some(Ordering::Greater) => distance - 0.5,
        _ => 0.0,
    };
    let z = corrected / variance.sqrt();
    (2.0 * normal_cdf(-z.abs())).min(1.0)
}

/// The least two-sided p that samples of these sizes can have: all of one lie above all of the other.
pub fn least_p(n1: usize, n2: usize) -> f64 {
    (2.0 / binomial(n1 + n2, n1)).min(1.0)
}

/// The least equal sample size at which two fully separated samples give `p <= alpha`, if it is
/// below ten: 2 / C(2n, n).
pub fn samples_for_difference(alpha: f64) -> Option<usize> {
    (1..10).find(|n| least_p(*n, *n) <= alpha)
}

/// The standard normal distribution function, from the complementary error function.
pub(super) fn normal_cdf(x: f64) -> f64 {
    libm::erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(first: &[f64], second: &[f64]) -> f64 {
        compare(first, second).unwrap().p
    }

    #[test]
    fn fully_separated_samples_have_the_least_p() {
        // 2 / C(8, 4)
        let c = compare(&[2.0, 1.0, 3.0, 5.0], &[12.0, 11.0, 13.0, 15.0]).unwrap();
        assert_eq!(c.u, 0.0);
        assert!((c.p - 2.0 / 70.0).abs() < 1e-15);
    }

    #[test]
    fn the_test_is_symmetric_and_equal_samples_show_nothing() {
        let (a, b) = ([2.0, 1.0, 3.0, 5.0], [0.0, 4.0, 6.0, 7.0]);
        assert_eq!(p(&a, &b), p(&b, &a));
        assert!((p(&a, &b) - 0.485_714_285_714_285_7).abs() < 1e-15);
        assert_eq!(p(&a, &a), 1.0);
        assert!(compare(&[2.0; 4], &[2.0; 4]).unwrap().all_equal);
        assert_eq!(compare(&[], &[1.0]), None);
    }

    #[test]
    fn how_many_repeats_can_show_a_difference() {
        // 2 / C(6, 3), 2 / C(7, 3)
        assert!((least_p(3, 3) - 0.1).abs() < 1e-15);
        assert!((least_p(3, 4) - 2.0 / 35.0).abs() < 1e-15);
        assert_eq!(least_p(1, 1), 1.0);
        assert_eq!(samples_for_difference(0.05), Some(4));
        assert_eq!(samples_for_difference(0.01), Some(5));
        assert_eq!(samples_for_difference(1e-50), None);
    }
}
