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
