//! Statistics over repeats of one cell.
//!
//! Nothing is assumed about the shape of the noise (storage results are rarely normal): the
//! centre is the median, its interval comes from order statistics, and two samples are compared
//! with the Mann-Whitney U test. The conventions (left bias of an ambiguous interval, exact
//! distribution up to 50 values, or 25 with ties, then a normal approximation with tie and
//! continuity correction) are those of Go's `benchstat`, so that the numbers can be checked
//! against it.
//!
//! Place: pure functions over `&[f64]`; knows neither records nor tables.

mod notes;
mod quantile;
mod utest;

pub use notes::{Shape, shape};
pub use quantile::{MedianInterval, median, median_interval, median_of, samples_for_interval};
pub use utest::{Comparison, compare, least_p, samples_for_difference};

/// Geometric mean of positive numbers; `None` if there are none or one is not positive.
pub fn geomean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| *v <= 0.0 || !v.is_finite()) {
        return None;
    }
    let sum: f64 = values.iter().map(|v| v.ln()).sum();
    Some((sum / values.len() as f64).exp())
}

/// Holm's step-down correction: the i-th smallest of m p-values is multiplied by m - i (i from
/// 0), the results are made monotone and capped at 1. Order of the input is kept.
/// Source: S. Holm (1979), "A simple sequentially rejective multiple test procedure".
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut running: f64 = 0.0;
    for (rank, index) in order.into_iter().enumerate() {
        let scaled = p_values[index] * (p_values.len() - rank) as f64;
        running = running.max(scaled).min(1.0);
        corrected[index] = running;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geomean_of_powers() {
        let g = geomean(&[1.0, 2.0, 4.0]).unwrap();
        assert!((g - 2.0).abs() < 1e-12);
        assert_eq!(geomean(&[]), None);
        assert_eq!(geomean(&[1.0, 0.0]), None);
    }

    #[test]
    fn holm_keeps_order_and_is_monotone() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives 0.03 0.06 0.06 0.02
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, want) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - want).abs() < 1e-12, "{adjusted:?}");
        }
    }
}
