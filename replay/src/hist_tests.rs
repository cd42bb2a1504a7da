//! Histograms and statistics against known values.

use super::*;
use proptest::prelude::*;

#[test]
fn buckets_are_fio_s() {
    // From the json+ bins of fio 3.33: 71, 80, 8768 and 8896 ns are bucket values.
    for value in [71, 80, 8768, 8896, 10432, 2_834_432, 7_241_728] {
        assert_eq!(bucket_value(bucket_of(value)), value);
    }
    assert_eq!(bucket_value(BUCKETS - 1), 17_112_760_320);
    assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
}

#[test]
fn the_finest_buckets_are_single_values_and_the_last_has_no_end() {
    let mut hist = Histogram::new();
    assert!(hist.bounds(&[50.0]).is_empty());
    for ns in [511, 512, 513, 1 << 40] {
        hist.add(ns);
    }
    assert_eq!(
        hist.bounds(&[25.0, 50.0, 75.0, 100.0]),
        [
            (511, 511),
            (512, 513),
            (512, 513),
            ((1 << 34) - (1 << 25), u64::MAX)
        ]
    );
}

#[test]
fn statistics_of_known_values() {
    let mut stat = Stat::EMPTY;
    [2, 4, 4, 4, 5, 5, 7, 9]
        .into_iter()
        .for_each(|value| stat.add(value));
    assert_eq!((stat.count(), stat.min(), stat.max()), (8, 2, 9));
    assert_eq!(stat.mean(), 5.0);
    // The textbook example: population deviation 2, so sample deviation 2 * sqrt(8/7).
    assert!((stat.stddev() - 2.0 * (8.0f64 / 7.0).sqrt()).abs() < 1e-12);
}

#[test]
fn one_value_has_no_deviation() {
    let mut stat = Stat::EMPTY;
    stat.add(7);
    assert_eq!((stat.stddev(), stat.mean()), (0.0, 7.0));
    assert_eq!(
        (Stat::EMPTY.stddev(), Stat::EMPTY.mean(), Stat::EMPTY.min()),
        (0.0, 0.0, 0)
    );
}

#[test]
fn percentiles_take_the_first_bucket_that_reaches_the_share() {
    let mut hist = Histogram::new();
    assert!(hist.percentiles(&DEFAULT_PERCENTILES).is_empty());
    (1..=100).for_each(|ns| hist.add(ns));
    assert_eq!(
        hist.percentiles(&[1.0, 50.0, 99.0, 100.0]),
        [1, 50, 99, 100]
    );
    // One value answers every percentile.
    let mut hist = Histogram::new();
    hist.add(40);
    assert_eq!(hist.percentiles(&[1.0, 99.99]), [40, 40]);
}

#[test]
fn classes_are_exact_at_their_bounds() {
    for (index, bound) in BOUNDS.into_iter().enumerate() {
        let mut hist = Histogram::new();
        hist.add(bound - 1);
        hist.add_many(bound, 10);
        hist.add_many(bound + 1, 100);
        let mut wanted = [0; CLASSES];
        wanted[index] = 1;
        wanted[index + 1] = 110;
        assert_eq!(hist.classes(), wanted, "{bound} ns");
    }
}

#[test]
fn percentile_counts_are_exact() {
    assert_eq!(
        needed_count(99.9, 1000),
        1000,
        "the double 99.9 lies above 99.9"
    );
    assert_eq!(needed_count(99.0, 1000), 990);
    assert_eq!(needed_count(50.0, 4096), 2048);
    assert_eq!(needed_count(50.0, 4097), 2049);
    assert_eq!(needed_count(1.0, 1), 1);
    assert_eq!(needed_count(100.0, u64::MAX), u64::MAX);
}

proptest! {
    #[test]
    fn a_value_is_within_one_128th_of_its_bucket_s(ns in 0u64..(1 << 34)) {
        let value = bucket_value(bucket_of(ns));
        prop_assert!(value.abs_diff(ns) * 128 <= ns.max(1));
    }

    #[test]
    fn bounds_hold_the_percentile_and_are_narrow(
        // Below the last bucket, which has no end.
        mut values in prop::collection::vec(0u64..(1 << 34) - (1 << 25), 1..200),
        percent in 0.1f64..100.0,
    ) {
        let mut hist = Histogram::new();
        values.iter().for_each(|&value| hist.add(value));
        values.sort_unstable();
        let rank = needed_count(percent, values.len() as u64) as usize;
        let value = values[rank - 1];
        let (least, most) = hist.bounds(&[percent])[0];
        prop_assert!((least..=most).contains(&value), "{} in {}..={}", value, least, most);
        prop_assert!((most - least) * 256 <= least.max(1));
        // fio's figure is the middle of its bucket that holds the same value.
        prop_assert_eq!(hist.percentiles(&[percent]), [bucket_value(bucket_of(value))]);
    }

    #[test]
    fn bins_are_those_of_fio_s_layout(values in prop::collection::vec(0u64..(1 << 36), 0..200)) {
        let mut hist = Histogram::new();
        let mut wanted = std::collections::BTreeMap::new();
        for &value in &values {
            hist.add(value);
            *wanted.entry(bucket_value(bucket_of(value))).or_insert(0u64) += 1;
        }
        prop_assert_eq!(hist.bins().collect::<Vec<_>>(), wanted.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn buckets_grow_with_the_value(a in 0u64..(1 << 36), b in 0u64..(1 << 36)) {
        prop_assert_eq!(a.cmp(&b).is_le() || bucket_of(a) >= bucket_of(b), true);
    }

    #[test]
    fn longer_and_many_are_adding(
        values in prop::collection::vec(0u64..1 << 40, 1..50),
        by in 0u64..1 << 40,
        many in 1u64..100,
    ) {
        let (mut short, mut long, mut one, mut each) = (Stat::EMPTY, Stat::EMPTY, Stat::EMPTY, Stat::EMPTY);
        for &value in &values {
            short.add(value);
            long.add(value + by);
        }
        prop_assert_eq!(short.longer_by(by), long);
        one.add_many(by, many);
        (0..many).for_each(|_| each.add(by));
        prop_assert_eq!(one, each);
    }

    #[test]
    fn merging_is_adding(
        left in prop::collection::vec(0u64..1 << 40, 0..50),
        right in prop::collection::vec(0u64..1 << 40, 0..50),
    ) {
        let stat = |values: &[u64]| {
            let mut stat = Stat::EMPTY;
            values.iter().for_each(|&value| stat.add(value));
            stat
        };
        let mut merged = stat(&left);
        merged.merge(&stat(&right));
        prop_assert_eq!(merged, stat(&[left, right].concat()));
    }
}
