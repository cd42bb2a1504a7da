//! What a person should know of a sample before trusting its median: outliers and two humps.

use super::quantile::median;

/// Remarks on the shape of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shape {
    /// Values further than three interquartile ranges outside the quartiles.
    pub outliers: usize,
    /// True if the sample falls into two groups with a wide gap between.
    pub two_groups: bool,
}

/// Looks at a sorted sample of at least five values; smaller ones have no shape to speak of.
///
/// Outliers: Tukey's outer fences (Q1 - 3 IQR, Q3 + 3 IQR; quartiles are medians of the halves).
/// Two groups: the sample is cut at its widest gap; if both parts hold at least a quarter of the
/// values and the gap is more than twice the larger part's own range, one median misleads. Such
/// samples come from two states of a device (cache full or not), and the two should be told
/// apart before they are averaged.
pub fn shape(sorted: &[f64]) -> Shape {
    let n = sorted.len();
    if n < 5 {
        return Shape::default();
    }
    let (lower, upper) = (&sorted[..n / 2], &sorted[n.div_ceil(2)..]);
    let outliers = match (median(lower), median(upper)) {
        (Some(q1), Some(q3)) => {
            let fence = 3.0 * (q3 - q1);
            let outside = |v: &&f64| **v < q1 - fence || **v > q3 + fence;
            sorted.iter().filter(outside).count()
        }
        _ => 0,
    };
    let widest = (1..n)
        .max_by(|a, b| (sorted[*a] - sorted[*a - 1]).total_cmp(&(sorted[*b] - sorted[*b - 1])))
        .unwrap_or(1);
    let gap = sorted[widest] - sorted[widest - 1];
    let least = n.div_ceil(4).max(2);
    let ranges = (
        sorted[widest - 1] - sorted[0],
        sorted[n - 1] - sorted[widest],
    );
    Shape {
        outliers,
        two_groups: widest >= least
            && n - widest >= least
            && gap > 0.0
            && gap > 2.0 * ranges.0.max(ranges.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_and_two_groups_are_seen() {
        let flat = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5];
        assert_eq!(shape(&flat), Shape::default());
        let spike = [10.0, 10.1, 10.2, 10.3, 10.4, 20.0];
        assert_eq!(shape(&spike).outliers, 1);
        assert!(!shape(&spike).two_groups);
        let humps = [10.0, 10.1, 10.2, 20.0, 20.1, 20.3];
        assert!(shape(&humps).two_groups);
        assert_eq!(shape(&humps[..4]), Shape::default(), "four are too few");
    }
}
