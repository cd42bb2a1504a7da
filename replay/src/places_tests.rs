//! Places: every rule in a small region.

use super::*;
use crate::plan::job::{Strided, tests::job};

fn of_job(pattern: &str, change: impl Fn(&mut JobPlan)) -> Places {
    let mut job = job(pattern);
    change(&mut job);
    Places::new(&job, job.region, 9, &mut Shapes::new(&job.order.spread))
}

fn all(mut places: Places, write: bool) -> Vec<(u64, u32)> {
    std::iter::from_fn(|| places.next(write))
        .take(10_000)
        .collect()
}

#[test]
fn split_blocks_cover_the_region_once_and_are_cut_at_used_units() {
    let region = 1 << 20;
    let blocks = all(
        of_job("randwrite", |job| {
            job.region = region;
            job.sizes[1] = Sizes::Split(vec![(4096, 50), (16_384, 50)]);
        }),
        true,
    );
    let mut touched = vec![false; 256];
    for &(start, bytes) in &blocks {
        for unit in start / 4096..(start + u64::from(bytes)) / 4096 {
            assert!(
                !std::mem::replace(&mut touched[unit as usize], true),
                "twice"
            );
        }
    }
    assert!(touched.iter().all(|&hit| hit));
    assert!(
        blocks.iter().any(|block| [8192, 12_288].contains(&block.1)),
        "none was cut"
    );
}

#[test]
fn ranges_in_order_end_with_the_region() {
    let blocks = all(
        of_job("read", |job| {
            job.region = 100_000;
            job.sizes[0] = Sizes::Range(1024, 8192);
        }),
        false,
    );
    let mut end = 0;
    for &(start, bytes) in &blocks {
        assert_eq!(start, end);
        end += u64::from(bytes);
    }
    assert!(end <= 100_000 && 100_000 - end < 1024, "{end}");
}

#[test]
fn gaps_go_forwards_and_backwards() {
    let starts = |gap: i64| -> Vec<u64> {
        let mut places = of_job("read", |job| job.order.gap = gap);
        (0..10)
            .map(|_| places.next(false).unwrap().0 / 4096)
            .collect()
    };
    assert_eq!(starts(4096), [0, 2, 4, 6, 8, 10, 12, 14, 0, 2]);
    assert_eq!(starts(-8192), [0, 14, 13, 12, 11, 10, 9, 8, 7, 6]);
}

#[test]
fn runs_follow_their_draw_or_repeat_it() {
    let mut places = of_job("randread", |job| {
        job.region = 4096 * 10_000;
        job.order.run = 4;
    });
    let starts: Vec<u64> = (0..40)
        .map(|_| places.next(false).unwrap().0 / 4096)
        .collect();
    assert_eq!(starts[..3], [0, 1, 2]);
    let jumps = starts
        .windows(2)
        .filter(|pair| pair[1] != pair[0] + 1)
        .count();
    assert_eq!(jumps, 10, "every fourth is drawn");
    let mut same = of_job("randread", |job| {
        job.region = 4096 * 10_000;
        (job.order.run, job.order.identical) = (4, true);
    });
    let starts: Vec<u64> = (0..40).map(|_| same.next(false).unwrap().0).collect();
    assert!(
        starts[3..]
            .chunks(4)
            .all(|run| run.iter().all(|&start| start == run[0]))
    );
}

#[test]
fn zones_are_left_when_they_had_their_share() {
    let blocks = all(
        of_job("read", |job| {
            job.order.strided = Some(Strided {
                size: 8192,
                range: 8192,
                skip: 8192,
            });
        }),
        false,
    );
    let starts: Vec<u64> = blocks.iter().take(9).map(|block| block.0 / 4096).collect();
    assert_eq!(starts, [0, 1, 4, 5, 8, 9, 12, 13, 0]);
    let mut twice = of_job("read", |job| {
        job.order.strided = Some(Strided {
            size: 16_384,
            range: 8192,
            skip: 0,
        });
    });
    let starts: Vec<u64> = (0..6)
        .map(|_| twice.next(false).unwrap().0 / 4096)
        .collect();
    assert_eq!(starts, [0, 1, 0, 1, 2, 3]);
}

#[test]
fn a_share_of_the_offsets_is_random() {
    let mut places = of_job("randread", |job| {
        job.region = 4096 * 100_000;
        job.order.percent_random = [50; 2];
    });
    let starts: Vec<u64> = (0..10_000)
        .map(|_| places.next(false).unwrap().0 / 4096)
        .collect();
    let followed = starts
        .windows(2)
        .filter(|pair| pair[1] == pair[0] + 1)
        .count();
    assert!((4_800..5_200).contains(&followed), "{followed}");
}

#[test]
fn alignment_is_kept_and_repeats_are_allowed() {
    let mut places = of_job("randread", |job| job.order.align = Some(8192));
    for _ in 0..100 {
        let (start, bytes) = places.next(false).unwrap();
        assert!(start % 8192 == 0 && start + u64::from(bytes) <= 64 << 10);
    }
}

#[test]
fn a_map_finds_the_next_free_unit_over_full_words() {
    let mut map = Map::new(100_000);
    assert_eq!(map.take(0, 512 * 99_000, 512), 512 * 99_000);
    assert_eq!(map.free_from(1), Some(99_000));
    assert_eq!(map.take(512 * 99_000, 512 * 5_000, 512), 512 * 1_000);
    assert_eq!(map.free_from(0), None);
    map.clear();
    assert_eq!(map.free_from(77), Some(77));
}

#[test]
fn loops_repeat_and_wraps_renew() {
    let mut places = of_job("randwrite", |job| job.sizes[1] = Sizes::Range(4096, 8192));
    let pass =
        |places: &mut Places| -> Vec<_> { std::iter::from_fn(|| places.next(true)).collect() };
    let first = pass(&mut places);
    places.rewind();
    assert_eq!(pass(&mut places), first);
    places.renew();
    assert_ne!(pass(&mut places), first);
}

/// The mean of fio's own amounts over runs with other random numbers (12 runs, null engine,
/// 4 MiB, reads of 4 KiB and writes of 8 KiB): 254 reads and 249 writes; each run 121 to 345.
#[test]
fn a_mix_of_two_sizes_ends_by_chance_with_whole_blocks() {
    let runs = 200;
    let mut sums = [0; 2];
    for seed in 0..runs {
        let mut job = job("randrw");
        job.region = 4 << 20;
        job.sizes[1] = Sizes::One(8192);
        let mut places = Places::new(&job, job.region, seed, &mut Shapes::new(&job.order.spread));
        let mut directions = Rng::new(seed ^ 77);
        loop {
            let write = directions.below(100) >= 50;
            let Some((start, bytes)) = places.next(write) else {
                break;
            };
            let block = if write { 8192 } else { 4096 };
            assert_eq!((u64::from(bytes), start % block), (block, 0));
            assert!(start + block <= job.region);
            sums[usize::from(write)] += 1;
        }
    }
    for sum in sums {
        let mean = sum as f64 / runs as f64;
        assert!((200.0..300.0).contains(&mean), "{mean}");
    }
}

/// Offsets from fio's own logs (`write_iolog`), in KiB.
#[test]
fn gaps_end_where_fio_ends() {
    let starts = |gap: i64, region: u64, offset: u64, file: u64| {
        let places = of_job("read", |job| {
            (job.region, job.offset) = (region << 10, offset << 10);
            job.file_bytes = file << 10;
            job.order.gap = gap << 10;
        });
        let mut places = places;
        let starts = std::iter::from_fn(|| places.next(false)).take((region / 4) as usize);
        let starts: Vec<u64> = starts.map(|(start, _)| offset + (start >> 10)).collect();
        let last = starts.last().copied();
        (starts.len(), starts[..3].to_vec(), last)
    };
    let expected = |number, first: [u64; 3], last| (number, first.to_vec(), Some(last));
    assert_eq!(starts(4, 1024, 64, 1088), expected(128, [64, 72, 80], 1080));
    assert_eq!(
        starts(12, 1024, 1024, 2048),
        expected(64, [1024, 1040, 1056], 2032)
    );
    assert_eq!(starts(12, 1000, 20, 1020), expected(63, [20, 36, 52], 1012));
    assert_eq!(starts(12, 52, 0, 52), expected(4, [0, 16, 32], 48));
    assert_eq!(
        starts(100, 1024, 4, 1028),
        expected(256, [4, 108, 212], 528)
    );
    assert_eq!(
        starts(100, 1024, 64, 1088),
        expected(10, [64, 168, 272], 1000)
    );
    assert_eq!(starts(-8, 64, 16, 80), expected(16, [56, 52, 48], 56));
    assert_eq!(starts(-8, 64, 0, 64), expected(16, [0, 56, 52], 0));
    assert_eq!(starts(-4, 64, 16, 80), expected(16, [60, 60, 60], 60));
    assert_eq!(starts(-8, 64, 128, 192), expected(16, [184, 180, 176], 184));
}
