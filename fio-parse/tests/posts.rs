//! The two posts the project started from: every figure, worked out by hand from the posts' own numbers.

use fio_parse::{Log, Record};
use std::fs;
use std::path::Path;

fn records(slug: &str) -> Vec<Record> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/logs")
        .join(slug)
        .join("input.txt");
    let bytes = fs::read(path).unwrap();
    fio_parse::parse(&Log::from_bytes("post", &bytes).unwrap()).records
}

fn machine(record: &Record) -> &str {
    record.machine.as_ref().map_or("", |label| &label.text)
}

const MIB: f64 = 1_048_576.0;

#[test]
fn three_laptops() {
    let records = records("laptops-fio-2021");
    let found: Vec<_> = records
        .iter()
        .map(|record| {
            let m = &record.measurement;
            (
                &*record.section[0].text,
                machine(record),
                (m.bytes_per_sec.as_ref().unwrap().value() / MIB).round(),
                m.runtime_ns.as_ref().unwrap().value() / 1e6,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("Small random writes", "MBP 2018", 293.0, 67192.0),
            ("Small random writes", "MBP 2020", 223.0, 88998.0),
            ("Small random writes", "Dell XPS 9570", 534.0, 62076.0),
            ("Large random writes", "MBP 2018", 1180.0, 63376.0),
            ("Large random writes", "MBP 2020", 1490.0, 60083.0),
            ("Large random writes", "Dell XPS 9570", 695.0, 86443.0),
        ]
    );
    for (record, block) in records
        .iter()
        .zip([4096, 4096, 4096, 1 << 20, 1 << 20, 1 << 20])
    {
        let workload = record.workload.as_ref().unwrap();
        let job = &workload.jobs()[0];
        assert_eq!(job.block_bytes.unwrap().0, block);
        assert_eq!(job.engine.as_deref(), Some("posixaio"));
        assert_eq!(job.runtime_ns.unwrap().seconds(), 60.0);
        assert_eq!((job.time_based, job.end_fsync), (Some(true), Some(true)));
        assert_eq!(record.section.len(), 1);
    }
    // six invocations of fio
    assert_eq!(
        records.iter().map(|r| r.run).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6]
    );
}

#[test]
fn both_figures_narrow_the_bandwidth() {
    // 293MiB/s is 306708480 to 307757055 and 307MB/s is 306500000 to 307499999
    let bandwidth = records("laptops-fio-2021")[0]
        .measurement
        .bytes_per_sec
        .clone()
        .unwrap();
    assert_eq!(
        (bandwidth.lo().get(), bandwidth.hi().get()),
        (306_708_480.0, 307_499_999.0)
    );
    let texts: Vec<_> = bandwidth.printed().into_iter().map(|p| p.text).collect();
    assert_eq!(texts, ["293MiB/s", "307MB/s"]);
}

#[test]
fn a_carry_that_fio_lost_is_found_and_named() {
    let records = records("laptops-fio-2021");
    let dell = &records[5];
    let bytes = dell.measurement.bytes.as_ref().unwrap();
    // 58.6GiB is 62868422656 to 62975377407; 62.0GB with the carry lost is 62.951 to 62.999 GB
    assert_eq!(
        (bytes.lo().0, bytes.hi().0),
        (62_951_000_000, 62_975_377_407)
    );
    let note = dell
        .warnings
        .iter()
        .find(|warning| warning.code.as_str() == "carry-lost")
        .expect("a note on the lost carry");
    for part in ["62.0GB", "3.26", "62.951", "62.975", "58.6GiB"] {
        assert!(note.message.contains(part), "{}", note.message);
    }
    assert!(records[..5].iter().all(|record| record.warnings.is_empty()));
}

#[test]
fn eight_disks() {
    let records = records("disk-speeds-dd-2020");
    let found: Vec<_> = records
        .iter()
        .map(|record| {
            let m = &record.measurement;
            let bytes = m.bytes.as_ref().unwrap().value();
            let wall = bytes / m.wall_ns.as_ref().unwrap().value() * 1e9 / MIB;
            let own = m.bytes_per_sec.as_ref().unwrap().value() / MIB;
            (
                machine(record),
                (wall * 10.0).round() / 10.0,
                (own * 10.0).round() / 10.0,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "internal SSD of a MacBook Pro (15-inch 2019)",
                1505.7,
                1587.7
            ),
            ("WD 4TB USB hard drive on that MacBook Pro", 86.2, 86.6),
            ("Linux server with 8x6TB ZFS", 261.5, 297.7),
            (
                "internal SATA Samsung 860 EVO SSD of the server",
                875.9,
                1701.7
            ),
            ("Samsung 850 EVO SATA SSD connected via USB", 186.6, 202.6),
            ("iMac (Retina 5K, 27-inch, Late 2014)", 365.3, 370.3),
            (
                "SanDisk Extreme Pro 128GB thumb drive on the iMac, USB 3 at 5 Gb/s",
                324.3,
                334.5
            ),
            (
                "SanDisk Extreme Portable SSD on the MacBook Pro",
                417.3,
                465.7
            ),
        ]
    );
    for (index, record) in records.iter().enumerate() {
        let dd = record.workload.as_ref().unwrap().dd().unwrap();
        let linux = (2..5).contains(&index);
        assert_eq!(dd.oflag, if linux { vec!["dsync"] } else { vec![] });
        assert_eq!(dd.block_bytes.unwrap().0, 1 << 30);
        assert_eq!(
            record.source.tool.implementation.as_deref(),
            Some(if linux { "gnu" } else { "bsd" })
        );
        assert_eq!(
            record.measurement.wall_covers,
            Some(fio_parse::record::WallCovers::RunAndSync)
        );
    }
}

/// Computed from the post's own figures: 10240 MiB over the shell's `real`, and ratios of such rates.
#[test]
fn what_the_author_states_is_checked() {
    let records = records("disk-speeds-dd-2020");
    let mislabelled = "wall in MiB/s (labelled MB/s)";
    let found: Vec<_> = records
        .iter()
        .flat_map(|record| record.claims.iter().map(|claim| (record.run, claim)))
        .map(|(run, claim)| {
            let rate = claim
                .computed_bytes_per_sec
                .map(|rate| (rate / MIB * 10.0).round() / 10.0);
            let ratio = claim
                .computed_ratio
                .map(|ratio| (ratio * 1000.0).round() / 1000.0);
            let against = claim.against.as_ref().map(|against| against.run);
            (
                run,
                &*claim.text,
                rate.or(ratio).unwrap(),
                claim.agrees_with.as_str(),
                against,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (1, "1506 MB/s", 1505.7, mislabelled, None),
            (2, "86 MB/s", 86.2, mislabelled, None),
            (2, "18 times faster", 17.472, "wall", Some(1)),
            (3, "261 MB/s", 261.5, mislabelled, None),
            (3, "1/6", 0.174, "wall", Some(1)),
            (4, "876 MB/s", 875.9, mislabelled, None),
            (4, "half", 0.582, "none", Some(1)),
            (5, "187 MB/s", 186.6, mislabelled, None),
            (6, "365 MB/s", 365.3, mislabelled, None),
            (7, "324 MB/s", 324.3, mislabelled, None),
            (7, "as fast as", 0.888, "none", Some(6)),
            (8, "417 MB/s", 417.3, mislabelled, None),
        ]
    );
    let flagged = |record: &Record| {
        record
            .warnings
            .iter()
            .any(|warning| warning.code.as_str() == "above-link")
    };
    let above: Vec<u32> = records
        .iter()
        .filter(|record| flagged(record))
        .map(|record| record.run)
        .collect();
    assert_eq!(above, [4], "the 860 EVO alone is above what SATA carries");
}

#[test]
fn what_cannot_be_compared_says_so() {
    let text = "\
Disk A

$ dd if=/dev/zero of=a bs=1M count=100
104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s

Disk B

$ dd if=/dev/zero of=b bs=1M count=100
104857600 bytes (105 MB, 100 MiB) copied, 2 s, 52.4 MB/s

It gave me 70 MB/s, half of the Dell, and half of the disk. It is up to 500 MB/s fast.
";
    let log = Log::from_bytes("post", text.as_bytes()).unwrap();
    let records = fio_parse::parse(&log).records;
    let claims: Vec<_> = records[1]
        .claims
        .iter()
        .map(|claim| {
            (
                &*claim.text,
                claim.agrees_with.as_str(),
                claim.problem.is_some(),
            )
        })
        .collect();
    assert_eq!(
        claims,
        [
            ("70 MB/s", "none", false),
            ("half", "unchecked", true),
            // one other disk was measured
            ("half", "window", false),
        ]
    );
    assert!(records[0].claims.is_empty());
}

#[test]
fn a_saved_web_page_is_read_like_the_post() {
    let page = "\
<!DOCTYPE html>
<html><head><title>Disks</title>
<script>var a = '<pre>10+0 records in';</script></head>
<body><div id=\"top\"><h1>Disks of
two laptops</h1><p>One &amp; the same test.</p>
<pre><code>$ <span class=\"nb\">dd</span> if=/dev/zero of=x bs=1M count=100 &amp;&amp; sync</code></pre>
<ul><li>Old laptop</li></ul><pre>104857600 bytes (105&nbsp;MB, 100&nbsp;MiB) copied, <b>2</b> s, 52.4 MB/s</pre>
<h3>New laptop</h3>
<p>104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s<br>That is twice as fast as the old laptop.</p>
</div></body></html>
";
    let log = Log::from_bytes("page.html", page.as_bytes()).unwrap();
    let records = fio_parse::parse(&log).records;
    let found: Vec<_> = records
        .iter()
        .map(|record| {
            let seconds = record.measurement.runtime_ns.as_ref().unwrap().value() / 1e9;
            (
                record.source.line.unwrap(),
                seconds,
                record.workload.is_some(),
            )
        })
        .collect();
    // lines are those of the file
    assert_eq!(found, [(7, 2.0, true), (9, 1.0, true)]);
    assert_eq!(&*records[0].section[0].text, "Disks of two laptops");
}
