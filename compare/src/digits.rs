//! How many digits of a number are printed.
//!
//! Rule: print the middle of the bounds, rounded to the finest decimal place `10^-d` for which
//! the bounds are no wider than one unit of that place, and never more than three significant
//! digits (whole digits before the point are kept, as in `1490`).
//!
//! Why: if `hi - lo <= 10^-d`, every value that the bounds hold lies within half of that of the
//! middle, and rounding the middle moves it by at most another half unit. So the printed number
//! is never off by more than one unit of its last place, and one more digit would be invented.
//! Worked example: 223MiB/s (234MB/s) over 293MiB/s (307MB/s) lies between 0.7593 and 0.7641.
//! The width 0.0048 fits into 0.01 but not into 0.001: two decimals, `0.76`.
//!
//! If not even one digit is earned (the bounds are wider than the place of the leading digit),
//! the rounded middle is printed if it lies inside (`0.1` for 0.033 to 0.133), else both ends, as
//! `1.0..3.0`.
//!
//! No number is printed that none of the figures can be, but for half a percent, which is what the limit
//! of three digits may round off, too: where rounding at an earned place moves the middle further out of
//! the bounds (104 to 106 would be `110`), one place more is printed, which always lies within (the bounds
//! are wider than that place, or it would be earned, too). Where an end is more than two units of it
//! off, both ends are printed (`202..298`).
//!
//! Numbers far from one are written with a power of ten.

use crate::bounds::Bounds;

/// Significant digits that suffice for a comparison of storage; noise is larger than the fourth.
pub const SIGNIFICANT: i32 = 3;

/// By how many units of its last place a printed number may be off where one place more than is
/// earned is shown.
const FAR: f64 = 2.0;

/// By which share of it a printed number may lie outside of the bounds: half a unit of three digits.
const ROUNDED_OFF: f64 = 0.005;

/// Powers of ten of leading digits that are written in fixed point.
const PLAIN: std::ops::Range<i32> = -6..15;

/// A number and nothing else, in at most [`SIGNIFICANT`] digits (more only before the point).
pub fn format(bounds: Bounds) -> String {
    format_to(bounds, SIGNIFICANT)
}

/// As [`format()`], with another limit of significant digits.
pub fn format_to(bounds: Bounds, significant: i32) -> String {
    let middle = if bounds.is_exact() {
        bounds.value()
    } else {
        bounds.lo() / 2.0 + bounds.hi() / 2.0
    };
    if middle == 0.0 {
        return "0".to_owned();
    }
    let earned = earned_decimals(bounds.width());
    // The digits that are earned start beyond the leading one: rounding may still say something
    // true (0.033..0.133 is 0.1), else both ends are shown.
    if earned < -magnitude(middle) {
        let rounded = round_to(middle, earned);
        if rounded == 0.0 || rounded < bounds.lo() || rounded > bounds.hi() {
            let end = |v: f64| {
                // An end far below the other would round to nothing.
                let far = v != 0.0 && magnitude(v) + 1 < magnitude(middle);
                let digits_of = if far { v } else { middle };
                fixed(v, significant - 2 - magnitude(digits_of))
            };
            let (lo, hi) = (end(bounds.lo()), end(bounds.hi()));
            return if lo == hi { lo } else { format!("{lo}..{hi}") };
        }
        return fixed(middle, earned);
    }
    // 0.9996 rounds to 1.00 and not to 1.000: take the magnitude after rounding.
    let wanted = significant - 1 - magnitude(middle);
    let carried = magnitude(round_to(middle, wanted.min(earned)));
    let wanted = (significant - 1 - carried).max(0);
    let rounded = round_to(middle, wanted.min(earned));
    let out = (bounds.lo() - rounded).max(rounded - bounds.hi());
    if earned >= wanted || out <= ROUNDED_OFF * middle.abs() {
        return fixed(middle, wanted.min(earned));
    }
    let finer = round_to(middle, earned + 1);
    let off = (bounds.hi() - finer).max(finer - bounds.lo());
    if off <= FAR * 10f64.powi(-(earned + 1)) {
        return fixed(middle, earned + 1);
    }
    let decimals = (significant - 1 - magnitude(middle)).max(earned + 1);
    let (lo, hi) = (fixed(bounds.lo(), decimals), fixed(bounds.hi(), decimals));
    format!("{lo}..{hi}")
}

/// The largest `d` with `width <= 10^-d`; a huge number for exact values.
fn earned_decimals(width: f64) -> i32 {
    if width <= 0.0 {
        return i32::MAX / 2;
    }
    // One more than the logarithm says, then back: it may land a hair on the wrong side of a power
    // of ten, and so may a width that was computed.
    let mut decimals = (-width.log10()).floor() as i32 + 1;
    while width > 10f64.powi(-decimals) * (1.0 + 1e-9) {
        decimals -= 1;
    }
    decimals
}

/// The power of ten of the leading digit; 0 for zero.
fn magnitude(value: f64) -> i32 {
    if value == 0.0 {
        return 0;
    }
    value.abs().log10().floor() as i32
}

/// Rounds half away from zero at a decimal place, which may lie before the point.
fn round_to(value: f64, decimals: i32) -> f64 {
    // Beyond this the power of ten overflows.
    if decimals > 300 {
        return value;
    }
    let unit = 10f64.powi(decimals.abs());
    if decimals >= 0 {
        (value * unit).round() / unit
    } else {
        (value / unit).round() * unit
    }
}

/// Fixed-point text; negative `decimals` round before the point. Where that would be mostly zeros,
/// as `1.1e-19`.
fn fixed(value: f64, decimals: i32) -> String {
    let rounded = round_to(value, decimals);
    if rounded != 0.0 && !PLAIN.contains(&magnitude(rounded)) {
        let digits = (magnitude(rounded) + decimals).clamp(0, SIGNIFICANT - 1);
        return format!("{rounded:.*e}", digits as usize);
    }
    let text = format!("{rounded:.*}", decimals.clamp(0, 15) as usize);
    // A value that rounds to nothing is printed without a sign.
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lo: f64, hi: f64) -> String {
        format(Bounds::between(lo, hi).unwrap())
    }

    #[test]
    fn bounds_limit_the_digits() {
        assert_eq!(text(0.7593, 0.7641), "0.76");
        assert_eq!(text(1.8195, 1.8274), "1.82");
        assert_eq!(text(1.26210, 1.26335), "1.26");
        assert_eq!(text(0.58847, 0.58902), "0.589");
        assert_eq!(text(292.5, 293.26), "293");
        // A width of one unit, computed with a rounding error.
        assert_eq!(text(7.192 - 0.05, 7.192 + 0.05), "7.2");
        // 1.8 GB/s alone, in MiB/s
        assert_eq!(text(1669.0, 1764.0), "1700");
    }

    #[test]
    fn exact_numbers_have_three_digits() {
        assert_eq!(text(1.0, 1.0), "1.00");
        assert_eq!(text(1505.66, 1505.66), "1506");
        assert_eq!(text(86.1776, 86.1776), "86.2");
        assert_eq!(text(0.05724, 0.05724), "0.0572");
        assert_eq!(text(0.0, 0.0), "0");
    }

    #[test]
    fn rounding_up_to_the_next_power_keeps_three_digits() {
        assert_eq!(text(0.9996, 0.9996), "1.00");
        assert_eq!(text(99.97, 99.97), "100");
        assert_eq!(text(9.996, 9.996), "10.0");
        assert_eq!(text(0.99940, 0.99940), "0.999");
    }

    #[test]
    fn numbers_far_from_one_have_a_power_of_ten() {
        assert_eq!(text(1.1e-19, 1.1e-19), "1.10e-19");
        assert_eq!(text(1.11e-19, 1.13e-19), "1.12e-19");
        assert_eq!(text(9.094947e18, 9.094947e18), "9.09e18");
        assert_eq!(text(9.1e18, 9.7e18), "9.10e18..9.70e18");
        assert_eq!(text(1e-19, 3e-19), "1.0e-19..3.0e-19");
        assert_eq!(text(0.00000123, 0.00000123), "0.00000123");
        assert_eq!(
            text(123_456_789_012_345.0, 123_456_789_012_345.0),
            "123456789012345"
        );
    }

    #[test]
    fn a_leading_digit_in_doubt_shows_both_ends() {
        assert_eq!(text(1.0, 3.0), "1.0..3.0");
        assert_eq!(text(6.46, 6460.0), "6.5..6500");
        assert_eq!(text(3.0, 9.0), "3.0..9.0");
        assert_eq!(text(0.0096, 0.04), "0.010..0.040");
        assert_eq!(text(0.033, 0.133), "0.1");
        assert_eq!(text(80.0, 140.0), "100");
        assert_eq!(text(0.0, 0.5), "0.00..0.50");
        assert_eq!(text(6.5, 7.5), "7");
        assert_eq!(text(0.448, 0.536), "0.5");
    }

    #[test]
    fn no_number_is_shown_that_none_of_the_figures_can_be() {
        assert_eq!(text(236.0, 264.0), "250");
        assert_eq!(text(74.2, 75.3), "75");
        assert_eq!(text(9650.0, 9793.0), "9700");
        assert_eq!(text(104.0, 106.0), "105");
        assert_eq!(text(202.0, 298.0), "202..298");
        assert_eq!(text(1.02, 1.08), "1.02..1.08");
        // Off by 0.2 % at most, as three digits may be.
        assert_eq!(text(0.547, 0.5488), "0.55");
        assert_eq!(text(0.751, 0.759), "0.76");
    }

    /// The promise of the rule, over many bounds: the printed number is within two units of its
    /// last place of both ends, and lies between them but for half a percent.
    #[test]
    fn never_off_by_more_than_two_units() {
        let mut x = 0x2545_F491_4F6C_DD1Du64;
        for _ in 0..20_000 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let lo = (x % 1_000_000) as f64 / 997.0 + 0.001;
            let width = lo * ((x >> 32) % 1000) as f64 / 5000.0;
            let shown = text(lo, lo + width);
            if shown.contains("..") {
                continue;
            }
            let value: f64 = shown.parse().unwrap();
            let decimals = shown.split_once('.').map_or(0, |(_, d)| d.len());
            let unit = if decimals > 0 {
                10f64.powi(-(decimals as i32))
            } else {
                // trailing zeros before the point may be rounded places
                let zeros = shown.len() - shown.trim_end_matches('0').len();
                10f64.powi(zeros as i32)
            };
            for end in [lo, lo + width] {
                assert!(
                    (value - end).abs() <= unit * FAR * (1.0 + 1e-9),
                    "{lo} {width} {shown}"
                );
            }
            let out = (lo - value).max(value - (lo + width));
            assert!(
                out <= (lo + width / 2.0) * 0.005 * (1.0 + 1e-9),
                "{lo} {width} {shown}"
            );
        }
    }
}
