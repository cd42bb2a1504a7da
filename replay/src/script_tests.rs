//! Scripts: counts, syncs and orders of fio 3.33.

use super::*;
use crate::counts::planned_counts;
use crate::plan::job::tests::job;

/// Counts of fio 3.33 for the same options, from its JSON: reads and writes together,
/// bytes, syncs.
fn check(label: &str, change: impl Fn(&mut JobPlan), ios: u64, bytes: u64, syncs: u64) {
    let pattern = label.split(' ').next().unwrap();
    let mut job = job(pattern);
    change(&mut job);
    let counts = planned_counts(&job, 1_000_000).unwrap();
    let found = (
        counts.reads + counts.writes,
        counts.read_bytes + counts.write_bytes,
        counts.syncs,
    );
    assert_eq!(found, (ios, bytes, syncs), "{label}");
}

#[test]
fn counts_are_those_of_fio_3_33() {
    let odd = |job: &mut JobPlan| job.region = 1_000_000;
    check("read size=1000000", odd, 244, 999_424, 0);
    check("rw size=1000000", odd, 245, 1_003_520, 0);
    check("randrw size=1000000", odd, 244, 999_424, 0);
    check(
        "randwrite size=1000000 norandommap",
        |j| {
            odd(j);
            j.order.random_map = false
        },
        245,
        1_003_520,
        0,
    );
    check(
        "write size=1m io_size=10000",
        |j| {
            j.region = 1 << 20;
            j.io_size = Some(10_000)
        },
        3,
        12_288,
        0,
    );
    check(
        "write io_size=200k",
        |j| j.io_size = Some(200 << 10),
        50,
        204_800,
        0,
    );
    check(
        "randrw io_size=200k",
        |j| j.io_size = Some(200 << 10),
        50,
        204_800,
        0,
    );
    check(
        "rw io_size=200k",
        |j| j.io_size = Some(200 << 10),
        50,
        204_800,
        0,
    );
    check(
        "write io_size=64000",
        |j| j.io_size = Some(64_000),
        16,
        65_536,
        0,
    );
    check(
        "write io_size=32k loops=2",
        |j| {
            j.io_size = Some(32 << 10);
            j.loops = 2
        },
        16,
        65_536,
        0,
    );
    check(
        "write io_size=100k loops=2",
        |j| {
            j.io_size = Some(100 << 10);
            j.loops = 2
        },
        32,
        131_072,
        0,
    );
    check(
        "read io_size=300k loops=2",
        |j| {
            j.io_size = Some(300 << 10);
            j.loops = 2
        },
        80,
        327_680,
        0,
    );
    check(
        "randwrite io_size=40k loops=2",
        |j| {
            j.io_size = Some(40 << 10);
            j.loops = 2
        },
        20,
        81_920,
        0,
    );
    check(
        "write size=1000000 loops=2",
        |j| {
            odd(j);
            j.loops = 2
        },
        488,
        1_998_848,
        0,
    );
    check(
        "randwrite size=1000000 loops=3",
        |j| {
            odd(j);
            j.loops = 3
        },
        732,
        2_998_272,
        0,
    );
    check(
        "randwrite size=1000000 io_size=1500000",
        |j| {
            odd(j);
            j.io_size = Some(1_500_000)
        },
        367,
        1_503_232,
        0,
    );
    check(
        "write size=1000000 io_size=3000000",
        |j| {
            odd(j);
            j.io_size = Some(3_000_000)
        },
        732,
        2_998_272,
        0,
    );
    check(
        "rw size=1000000 loops=2",
        |j| {
            odd(j);
            j.loops = 2
        },
        489,
        2_002_944,
        0,
    );
    check("rw loops=2", |j| j.loops = 2, 32, 131_072, 0);
    check("randrw loops=3", |j| j.loops = 3, 48, 196_608, 0);
    check("write size=6k", |j| j.region = 6 << 10, 1, 4096, 0);
}

#[test]
fn syncs_are_those_of_fio_3_33() {
    let fsync = |every| move |job: &mut JobPlan| job.syncs.fsync_every = every;
    check("write fsync=4", fsync(4), 16, 65_536, 3);
    check("write fsync=5", fsync(5), 16, 65_536, 3);
    check("write fsync=1", fsync(1), 16, 65_536, 15);
    check(
        "write fdatasync=1",
        |j| j.syncs.fdatasync_every = 1,
        16,
        65_536,
        15,
    );
    check(
        "write fsync=4 fdatasync=2",
        |j| {
            fsync(4)(j);
            j.syncs.fdatasync_every = 2
        },
        16,
        65_536,
        7,
    );
    check(
        "write fsync=4 loops=2",
        |j| {
            fsync(4)(j);
            j.loops = 2
        },
        32,
        131_072,
        8,
    );
    check(
        "write fsync=16 loops=2",
        |j| {
            fsync(16)(j);
            j.loops = 2
        },
        32,
        131_072,
        2,
    );
    check(
        "write fsync=5 loops=3",
        |j| {
            fsync(5)(j);
            j.loops = 3
        },
        48,
        196_608,
        9,
    );
    check(
        "write fsync=4 io_size=200k",
        |j| {
            fsync(4)(j);
            j.io_size = Some(200 << 10)
        },
        50,
        204_800,
        15,
    );
    check(
        "write fsync=4 io_size=48k loops=2",
        |j| {
            fsync(4)(j);
            j.io_size = Some(48 << 10);
            j.loops = 2
        },
        24,
        98_304,
        6,
    );
    let odd = |every| {
        move |job: &mut JobPlan| {
            job.region = 1_000_000;
            fsync(every)(job)
        }
    };
    check("write size=1000000 fsync=4", odd(4), 244, 999_424, 61);
    check("write size=1000000 fsync=1", odd(1), 244, 999_424, 244);
    check("randwrite size=1000000 fsync=61", odd(61), 244, 999_424, 4);
}

#[test]
fn a_mixed_sequential_job_keeps_two_positions_and_touches_the_first_half() {
    let mut job = job("rw");
    job.region = 1 << 20;
    let mut script = Script::new(&job);
    let mut next = [0u64; 2];
    while let Step::Io { write, offset, .. } = script.next() {
        let position = &mut next[usize::from(write)];
        assert_eq!(offset, *position);
        *position += 4096;
    }
    assert_eq!(next[0] + next[1], 1 << 20);
    assert!(next.iter().all(|&end| end < (1 << 20) * 6 / 10));
}

#[test]
fn a_random_mix_reads_or_writes_each_block_once_in_the_asked_proportion() {
    let mut job = job("randrw");
    (job.region, job.mix_read) = (4096 * 10_000, 70);
    let mut script = Script::new(&job);
    let mut seen = vec![false; 10_000];
    let mut reads = 0;
    while let Step::Io { write, offset, .. } = script.next() {
        assert!(!std::mem::replace(
            &mut seen[(offset / 4096) as usize],
            true
        ));
        reads += u32::from(!write);
    }
    assert!(seen.iter().all(|&hit| hit));
    // Standard deviation of 10000 draws at 70 %: 46.
    assert!((f64::from(reads) - 7000.0).abs() < 4.0 * 46.0, "{reads}");
}

#[test]
fn loops_repeat_offsets_and_directions() {
    for random_map in [true, false] {
        let mut job = job("randrw");
        (job.loops, job.order.random_map) = (2, random_map);
        let mut script = Script::new(&job);
        let mut steps = Vec::new();
        loop {
            match script.next() {
                Step::Exhausted => assert!(script.next_pass()),
                Step::Complete => break,
                step => steps.push(step),
            }
        }
        assert_eq!(steps.len(), 32);
        // Without a map there is no end of a pass, and so no repetition.
        assert_eq!(steps[..16] == steps[16..], random_map);
    }
}

#[test]
fn the_region_begins_at_the_offset() {
    let mut job = job("randread");
    job.offset = 10 << 10;
    let mut script = Script::new(&job);
    let mut offsets = Vec::new();
    while let Step::Io { offset, .. } = script.next() {
        offsets.push(offset);
    }
    offsets.sort_unstable();
    assert!(
        offsets
            .iter()
            .copied()
            .eq((0..16).map(|block| (10 << 10) + block * 4096))
    );
}

#[test]
fn endless_jobs_have_no_planned_counts() {
    let mut job = job("write");
    (job.time_based, job.runtime_ns) = (true, Some(1));
    assert_eq!(planned_counts(&job, 1000), None);
    job.runtime_ns = None; // fio warns and ignores time_based then
    assert_eq!(planned_counts(&job, 1000).unwrap().writes, 16);
}
