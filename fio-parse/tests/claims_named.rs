//! A sentence that names its machine is held against that machine, wherever it stands.

use fio_parse::claim::Agreement;
use fio_parse::{Log, Record, parse};

/// Two laptops: 215 MB/s is what A's figures give, and 429 MB/s what B's do.
fn post(words: &str) -> Vec<Record> {
    let dd = |seconds: f64, rate: u32| {
        format!(
            "```\n$ dd if=/dev/zero of=test bs=1M count=1024 conv=fdatasync\n1024+0 records in\n1024+0 records out\n\
             1073741824 bytes (1.1 GB, 1.0 GiB) copied, {seconds} s, {rate} MB/s\n```\n\n"
        )
    };
    let text = format!(
        "# Two disks\n\n## Laptop A\n\n{}## Laptop B\n\n{}{words}\n",
        dd(4.994, 215),
        dd(2.503, 429)
    );
    parse(&Log::from_bytes("post.md", text.as_bytes()).unwrap()).records
}

#[test]
fn the_machine_of_the_sentence_wins_over_the_place() {
    for (words, run, agrees) in [
        ("Laptop A only managed 215 MB/s.", 0, true),
        ("Laptop A does 400 MB/s.", 0, false),
        ("Laptop B does 429 MB/s, faster than Laptop A.", 1, true),
        ("It does 429 MB/s.", 1, true),
        ("It wrote 215 MB/s.", 1, false),
    ] {
        let records = post(words);
        let of: Vec<usize> = (0..records.len())
            .filter(|&i| !records[i].claims.is_empty())
            .collect();
        assert_eq!(of, [run], "{words}");
        let claim = &records[run].claims[0];
        assert_ne!(claim.agrees_with, Agreement::Unchecked, "{words}");
        assert_eq!(
            claim.agrees_with != Agreement::None,
            agrees,
            "{words}: {claim:?}"
        );
    }
}

#[test]
fn of_two_machines_named_before_a_figure_neither_is_held_to_it() {
    let records = post("Laptop A and Laptop B do 429 MB/s.");
    let claims: Vec<_> = records.iter().flat_map(|record| &record.claims).collect();
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].agrees_with, Agreement::Unchecked);
}

/// B's figures give 428.98 MB/s, which are 409.1 MiB/s.
#[test]
fn zeros_at_the_end_are_rounded_to_and_not_cut_off_at() {
    for (words, agrees) in [
        ("It does 429 MB/s.", Agreement::Window),
        ("It does 428 MB/s.", Agreement::Window),
        ("It does 430 MB/s.", Agreement::Window),
        ("It does 420 MB/s.", Agreement::None),
        ("It does 409 MB/s.", Agreement::WindowMislabelled),
        ("It does 410 MB/s.", Agreement::WindowMislabelled),
        ("It does 400 MB/s.", Agreement::None),
        ("It does 400 MiB/s.", Agreement::None),
        ("It does 0.4 GB/s.", Agreement::Window),
    ] {
        assert_eq!(post(words)[1].claims[0].agrees_with, agrees, "{words}");
    }
}

/// 4.994 s over 2.503 s.
const B_OVER_A: f64 = 1.995;

#[test]
fn what_is_compared_with_the_one_other_result_needs_no_name() {
    for (words, run, ratio, agrees) in [
        ("Laptop B is twice as fast.", 1, B_OVER_A, true),
        ("Laptop A is half as fast.", 0, 1.0 / B_OVER_A, true),
        ("It is 60 % faster.", 1, B_OVER_A, false),
        ("Laptop B took half the time.", 1, B_OVER_A, true),
        ("Laptop A is 2 times slower.", 1, B_OVER_A, true),
        ("It is 2x faster.", 1, B_OVER_A, true),
        // The one above is not the earlier of the two.
        (
            "Laptop A is 2 times slower than Laptop B.",
            0,
            B_OVER_A,
            true,
        ),
        (
            "Laptop B is 3 times faster than Laptop A.",
            1,
            B_OVER_A,
            false,
        ),
    ] {
        let records = post(words);
        let claims = &records[run].claims;
        assert_eq!(claims.len(), 1, "{words}: {claims:?}");
        let computed = claims[0].computed_ratio.unwrap();
        assert!((computed / ratio - 1.0).abs() < 0.01, "{words}: {claims:?}");
        assert_eq!(claims[0].agrees_with != Agreement::None, agrees, "{words}");
    }
}

#[test]
fn what_names_no_result_is_not_checked() {
    for words in ["Booting is twice as fast.", "The fan is 20% slower."] {
        let records = post(words);
        let claims: Vec<_> = records.iter().flat_map(|record| &record.claims).collect();
        assert_eq!(claims.len(), 1, "{words}");
        assert_eq!(claims[0].agrees_with, Agreement::Unchecked, "{words}");
        assert!(claims[0].problem.is_some(), "{words}");
    }
}

/// Two disks whose names differ in a small word: 104.8 MB/s and 209.7 MB/s.
fn disks(words: &str) -> Vec<Record> {
    let dd = |seconds: &str, rate: u32| {
        format!(
            "```\n$ dd if=/dev/zero of=x bs=1M count=1000 conv=fsync\n1000+0 records in\n1000+0 records out\n\
             1048576000 bytes (1.0 GB, 1000 MiB) copied, {seconds} s, {rate} MB/s\n```\n\n"
        )
    };
    let text = format!(
        "Disk one\n\n{}Disk two\n\n{}{words}\n",
        dd("10.0012", 105),
        dd("5.00123", 210)
    );
    parse(&Log::from_bytes("disks.md", text.as_bytes()).unwrap()).records
}

/// The claims, each with its run, what was computed (MB/s or a ratio), and whether it agrees; `None` if not checked.
fn verdicts(records: &[Record]) -> Vec<(u32, Option<(f64, bool)>)> {
    let of = |record: &Record| -> Vec<_> {
        let claims = record.claims.iter();
        claims
            .map(|claim| {
                let rate = claim.computed_bytes_per_sec.map(|rate| rate / 1e6);
                let computed = rate.or(claim.computed_ratio).map(|computed| {
                    let agrees = claim.agrees_with != Agreement::None;
                    ((computed * 100.0).round() / 100.0, agrees)
                });
                assert_eq!(computed.is_none(), claim.problem.is_some(), "{claim:?}");
                (claim.span.start, (record.run, computed))
            })
            .collect()
    };
    let mut all: Vec<_> = records.iter().flat_map(of).collect();
    all.sort_by_key(|(start, _)| *start);
    all.into_iter().map(|(_, verdict)| verdict).collect()
}

#[test]
fn who_stands_in_front_of_the_verb_is_the_subject() {
    // 5.00123 s over 10.0012 s
    let half = |agrees| Some((0.50, agrees));
    let double = |agrees| Some((2.00, agrees));
    // 1048576000 bytes over 10.0012 s and over 5.00123 s, in MB/s
    let one = |agrees| Some((104.85, agrees));
    let two = |agrees| Some((209.66, agrees));
    for (words, wanted) in [
        (
            "Disk one is twice as fast as Disk two.",
            vec![(1, half(false))],
        ),
        (
            "Disk one is 2 times faster than Disk two.",
            vec![(1, half(false))],
        ),
        (
            "Disk two is 2 times faster than Disk one.",
            vec![(2, double(true))],
        ),
        (
            "Disk two is twice as fast as disk one.",
            vec![(2, double(true))],
        ),
        (
            "Disk one is 2 times slower than Disk two.",
            vec![(1, double(true))],
        ),
        (
            "Disk two is 2 times slower than Disk one.",
            vec![(2, half(false))],
        ),
        (
            "Disk one is 50% slower than Disk two.",
            vec![(1, half(true))],
        ),
        (
            "Disk two is 50% slower than Disk one.",
            vec![(2, double(false))],
        ),
        (
            "Disk two is 100% faster than Disk one.",
            vec![(2, double(true))],
        ),
        (
            "Disk one is 100% faster than Disk two.",
            vec![(1, half(false))],
        ),
        (
            "Disk one is half as fast as Disk two.",
            vec![(1, half(true))],
        ),
        (
            "Disk two is half as fast as Disk one.",
            vec![(2, double(false))],
        ),
        ("Disk one is half as fast.", vec![(1, half(true))]),
        ("Disk one is twice as fast.", vec![(1, half(false))]),
        ("Disk one is as fast as Disk two.", vec![(1, half(false))]),
        (
            "Disk one has 50% of the speed of Disk two.",
            vec![(1, half(true))],
        ),
        ("Disk one gives 210 MB/s.", vec![(1, one(false))]),
        ("Disk two gives 210 MB/s.", vec![(2, two(true))]),
        (
            "Disk one gives 105 MB/s and disk two 210 MB/s.",
            vec![(1, one(true)), (2, two(true))],
        ),
        (
            "I get 210 MB/s on Disk two and 105 MB/s on Disk one.",
            vec![(2, two(true)), (1, one(true))],
        ),
        (
            "Disk one gives 105 MB/s, half of Disk two.",
            vec![(1, one(true)), (1, half(true))],
        ),
        ("We saw 105 MB/s from Disk one.", vec![(1, one(true))]),
        // Who is only compared with did nothing, nor did who did not.
        ("Compared to Disk one, it does 105 MB/s.", vec![(2, None)]),
        ("That is 105 MB/s more than Disk one.", vec![(2, None)]),
        (
            "Disk one is not twice as fast as Disk two.",
            vec![(2, None)],
        ),
        (
            "Disk one and Disk two are twice as fast as Disk two.",
            vec![(2, None)],
        ),
        ("It is twice as fast as Disk two.", vec![(2, None)]),
        (
            "I get 210 and 105 MB/s for Disk two and Disk one.",
            vec![(2, None)],
        ),
    ] {
        assert_eq!(verdicts(&disks(words)), wanted, "{words}");
    }
}

/// Two tests of the same two laptops, whose order turns around: 293 and 223 MiB/s, then 1180 and 1490 MiB/s.
fn tests(between: &str, words: &str) -> Vec<Record> {
    let fio = |size: &str, rates: [u32; 2]| {
        let result = |name: &str, mib: u32| {
            format!(
                "{name}\n\nRun status group 0 (all jobs):\n  WRITE: bw={mib}MiB/s, {mib}MiB/s-{mib}MiB/s, io={}MiB, run=60000-60000msec\n\n",
                mib * 60
            )
        };
        format!(
            "```\n$ fio --name=w --ioengine=posixaio --rw=randwrite --bs={size} --size=4g --iodepth=1\n```\n\n{}{}",
            result("MBP 2018", rates[0]),
            result("MBP 2020", rates[1])
        )
    };
    let text = format!(
        "# Laptops\n\n## Small random writes\n\n{}{between}\n\n## Large random writes\n\n{}{words}\n",
        fio("4k", [293, 223]),
        fio("1m", [1180, 1490])
    );
    parse(&Log::from_bytes("laptops.md", text.as_bytes()).unwrap()).records
}

#[test]
fn a_claim_is_held_against_one_test_that_can_be_told() {
    // 293 / 223, 223 / 293, 1180 / 1490
    let checked = |run, ratio, agrees| vec![(run, Some((ratio, agrees)))];
    for (between, words, wanted) in [
        // one test stands above
        (
            "MBP 2018 is 1.31 times faster than MBP 2020.",
            "",
            checked(1, 1.31, true),
        ),
        (
            "MBP 2018 is 24% slower than MBP 2020.",
            "",
            checked(1, 1.31, false),
        ),
        (
            "MBP 2020 is 24% slower than MBP 2018.",
            "",
            checked(2, 0.76, true),
        ),
        // both do
        (
            "",
            "MBP 2020 is 24% slower than MBP 2018 in the small test.",
            checked(2, 0.76, true),
        ),
        (
            "",
            "With large blocks MBP 2018 is 21% slower than MBP 2020.",
            checked(3, 0.79, true),
        ),
        // 223 and 1490 MiB/s in MB/s
        (
            "",
            "MBP 2020 makes 234 MB/s in the small test.",
            checked(2, 233.83, true),
        ),
        (
            "",
            "With large blocks MBP 2020 makes 234 MB/s.",
            checked(4, 1562.38, false),
        ),
        ("", "It makes 1562 MB/s.", checked(4, 1562.38, true)),
    ] {
        assert_eq!(verdicts(&tests(between, words)), wanted, "{between}{words}");
    }
    for words in [
        "MBP 2018 is 24% slower than MBP 2020.",
        "MBP 2020 is 24% slower than MBP 2018.",
        "MBP 2018 makes 307 MB/s.",
        "I saw 307 MB/s in the small test.",
        "MBP 2020 in the large test is 6.7 times faster than MBP 2018 in the small test.",
    ] {
        let found = verdicts(&tests("", words));
        assert!(matches!(found[..], [(_, None)]), "{words}: {found:?}");
    }
}
