//! Tests of the assembler of job sections; expected values come from the figures themselves.

use super::*;
use crate::block::fio_text;
use crate::era::Version;
use crate::reading::Reading;
use crate::source::Log;
use crate::unit::{BytesPerSec, Iops, Nanos, Percent, Quantity};

fn read_with(text: &str, era: Era, blocks: BlockSizes) -> (Vec<JobMeasurement>, Vec<JobError>) {
    let log = Log::from_bytes("x", text.as_bytes()).unwrap();
    let mut job = fio_text::read(&log, &mut log.segments()).expect("a section");
    let errors = errors(&job);
    (measurements(&mut job, era, blocks), errors)
}

fn read(text: &str, version: &str) -> JobMeasurement {
    let era = Version::read(version).map_or(Era::default(), |(version, _)| Era::of(version));
    read_with(text, era, BlockSizes::default()).0.remove(0)
}

fn codes(read: &JobMeasurement) -> Vec<&str> {
    read.warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect()
}

fn ends<Q: Quantity>(reading: &Option<Reading<Q>>) -> (f64, f64) {
    let reading = reading.as_ref().expect("a reading");
    (reading.lo().to_f64(), reading.hi().to_f64())
}

fn holds<Q: Quantity>(reading: &Option<Reading<Q>>, value: Option<Q>) -> bool {
    reading
        .as_ref()
        .expect("a reading")
        .possible()
        .contains(value.expect("a quantity"))
}

const LINE: &str = "  read: IOPS=39.8k, BW=155MiB/s (163MB/s)(22.2MiB/143msec)\n";

#[test]
fn figures_are_what_fio_counted() {
    // fio printed text and JSON of this run: bytes 23302144, 162951356 bytes/s, 39783.2 IOPS
    let text = format!(
        "{LINE}    clat (usec): min=25, max=4726, avg=228.43, stdev=443.83\n     issued rwts: total=5689,2503,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    );
    let era = Era::of(Version::release(3, 33, 0));
    let blocks = BlockSizes {
        read: Some(Bytes(4096)),
        ..BlockSizes::default()
    };
    let (mut all, errors) = read_with(&text, era, blocks);
    let job = all.remove(0);
    let m = &job.measurement;
    assert!(holds(&m.bytes, Some(Bytes(5689 * 4096))));
    assert!(holds(
        &m.bytes_per_sec,
        BytesPerSec::new((5_689u64 * 4096 * 1000 / 143) as f64)
    ));
    assert!(holds(&m.iops, Iops::new((5_689_000u64 / 143) as f64)));
    assert_eq!(ends(&m.runtime_ns), (143e6, 143e6));
    let clat = m.clat_ns.as_ref().unwrap();
    assert_eq!(ends(&clat.min), (25_000.0, 25_999.0));
    assert!(holds(&clat.mean, Nanos::new(228_430.0)));
    assert!(!holds(&clat.mean, Nanos::new(228_440.0)));
    assert_eq!(
        m.ios,
        Some(Ios {
            total: 5689,
            short: 0,
            dropped: 0
        })
    );
    assert_eq!((codes(&job), errors), (vec![], vec![]));
}

#[test]
fn figures_are_held_against_each_other() {
    let era = Era::of(Version::release(3, 33, 0));
    let with = |text: &str, block| {
        let blocks = BlockSizes {
            read: Some(Bytes(block)),
            ..BlockSizes::default()
        };
        read_with(text, era, blocks).0.remove(0)
    };
    let issued = "     issued rwts: total=5689,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n";
    let good = format!("{LINE}{issued}");
    assert_eq!(codes(&with(&good, 4096)), [] as [&str; 0]);
    // another block size, another rate, another count
    assert!(
        with(&good, 8192).warnings[0]
            .message
            .starts_with("5689 I/Os of 8192 bytes")
    );
    let rate = with(
        &good.replace("155MiB/s (163MB/s)", "255MiB/s (267MB/s)"),
        4096,
    );
    assert!(
        rate.warnings[0].message.contains("but 255MiB/s is printed"),
        "{:?}",
        rate.warnings
    );
    let count = with(&good.replace("5689", "6689"), 4096);
    assert_eq!(codes(&count), ["disagree", "disagree"]);
    // and without counts, by IOPS alone
    assert_eq!(codes(&with(LINE, 4096)), [] as [&str; 0]);
    let alone = with(LINE, 8192);
    assert!(
        alone.warnings[0]
            .message
            .starts_with("39.8k blocks of 8192 bytes a second"),
        "{:?}",
        alone.warnings
    );
    // a short I/O moves less than a block
    assert_eq!(
        codes(&with(&good.replace("short=0", "short=3"), 8192)),
        [] as [&str; 0]
    );
}

#[test]
fn each_line_has_its_unit() {
    let text = format!(
        "{LINE}    slat (nsec): min=3415, max=10002k, avg=4605.36, stdev=3905.20\n    clat (msec): min=1, max=12, avg= 2.50, stdev= 0.10\n    clat percentiles (usec):\n     | 50.00th=[  502], 99.00th=[ 9503]\n"
    );
    let job = read(&text, "fio-3.33");
    let slat = job.measurement.slat_ns.as_ref().unwrap();
    assert_eq!(ends(&slat.min), (3415.0, 3415.0));
    assert_eq!(ends(&slat.max), (10_001_500.0, 10_002_499.0));
    let clat = job.measurement.clat_ns.as_ref().unwrap();
    assert_eq!(ends(&clat.max), (12_000_000.0, 12_999_999.0));
    assert_eq!(clat.percentiles[1].p, 99.0);
    assert_eq!(
        (
            clat.percentiles[1].reading.lo().get(),
            clat.percentiles[1].reading.hi().get()
        ),
        (9_502_001.0, 9_503_000.0)
    );
}

#[test]
fn percentiles_at_the_end_of_the_histogram_are_named() {
    let text = |value: &str| {
        format!("{LINE}    clat percentiles (msec):\n     | 50.00th=[  502], 99.00th=[{value}]\n")
    };
    assert_eq!(codes(&read(&text("17113"), "fio-3.33")), ["saturated"]);
    assert_eq!(codes(&read(&text("17112"), "fio-3.33")), [] as [&str; 0]);
    assert_eq!(codes(&read(&text("16712"), "fio-2.21")), ["saturated"]);
    assert_eq!(codes(&read(&text("16712"), "fio-3.33")), [] as [&str; 0]);
}

#[test]
fn known_faults_are_named_and_left_out() {
    let mixed = read("  mixed: IOPS=0, BW=0 (0)(0B/150msec)\n", "fio-3.33");
    assert_eq!(codes(&mixed), ["figure-wrong"]);
    assert!(mixed.measurement.bytes_per_sec.is_none() && mixed.measurement.bytes.is_none());
    assert_eq!(ends(&mixed.measurement.runtime_ns), (150e6, 150e6));
    // 51.5 MiB/s are 54.0 MB/s
    let steady = read(
        &format!(
            "{LINE}  steadystate  : attained=no, bw=51.5MiB/s (52.7MB/s), iops=13.2k, bw slope=0.123%\n"
        ),
        "fio-3.33",
    );
    assert_eq!(codes(&steady), ["figure-wrong"]);
    let state = steady.measurement.steady_state.as_ref().unwrap();
    assert!(holds(&state.bytes_per_sec, BytesPerSec::new(54_001_664.0)));
    assert_eq!(
        (
            state.attained,
            Some(state.target.as_str()),
            state.criterion.as_deref()
        ),
        (false, Some("bw slope"), Some("0.123%"))
    );
    let share = read(
        &format!(
            "{LINE}   bw (  KiB/s): min=56336, max=56337, per=0.76%, avg=56336.50, stdev= 0.70\n"
        ),
        "fio-2.21",
    );
    assert_eq!(codes(&share), ["figure-wrong"]);
    let samples = share.measurement.samples.unwrap().bytes_per_sec.unwrap();
    assert!(samples.per.is_none());
    assert_eq!(ends(&samples.min).0.round(), 56_336.0 * 1024.0);
}

#[test]
fn samples_are_counted_in_kib_whatever_their_label() {
    let text = "  read: IOPS=12.1k, BW=49.7MB/s (47.4MiB/s)(37.7MB/757msec)\n   bw (  kB/s): min=46336, max=50336, per=100.00%, avg=48336.00, stdev= 0.00, samples=1\n";
    let job = read(text, "fio-3.33");
    assert_eq!(codes(&job), ["label-wrong"]);
    let samples = job.measurement.samples.unwrap().bytes_per_sec.unwrap();
    assert!(holds(&samples.mean, BytesPerSec::new(48_336.0 * 1024.0)));
    let mega = text.replace("  kB/s", " MiB/s");
    let samples = read(&mega, "fio-3.33")
        .measurement
        .samples
        .unwrap()
        .bytes_per_sec
        .unwrap();
    assert!(holds(
        &samples.mean,
        BytesPerSec::new(48_336.0 * 1_024_000.0)
    ));
    let bits = format!(
        "{LINE}   bw (Kibit/s): min=8, max=16, per=100.00%, avg= 8.00, stdev= 0.00, samples=1\n"
    );
    let samples = read(&bits, "fio-3.1")
        .measurement
        .samples
        .unwrap()
        .bytes_per_sec
        .unwrap();
    assert!(holds(&samples.mean, BytesPerSec::new(1024.0)));
}

#[test]
fn distributions_have_ends() {
    let text = format!(
        "{LINE}  lat (usec)   : 2=5.00%, 4=47.75%, 1000=0.01%\n  lat (msec)   : 2=1.46%, >=2000=0.50%\n  IO depths    : 1=0.1%, 2=0.0%, 4=0.0%, 8=0.0%, 16=99.8%, 32=0.0%, >=64=0.0%\n     submit    : 0=0.0%, 4=90.0%, 8=0.0%, 16=0.0%, 32=10.0%, 64=0.0%, >=64=0.0%\n"
    );
    let ranges = |version| {
        let job = read(&text, version);
        let buckets = &job.measurement.lat_distribution;
        buckets
            .iter()
            .map(|b| (b.ge_ns, b.lt_ns))
            .collect::<Vec<_>>()
    };
    let rest = [
        (2_000, Some(4_000)),
        (750_000, Some(1_000_000)),
        (1_000_000, Some(2_000_000)),
        (2_000_000_000, None),
    ];
    assert_eq!(ranges("fio-2.14")[0], (0, Some(2_000)));
    assert_eq!(ranges("fio-2.14")[1..], rest);
    let job = read(&text, "fio-3.33");
    let smallest = &job.measurement.lat_distribution[2].percent;
    // anything above nothing prints as 0.01 at least
    assert!(smallest.possible().contains(Percent::new(0.0001).unwrap()));
    let depths = job.measurement.depths.unwrap();
    let range = |buckets: &[crate::record::CountBucket]| {
        buckets.iter().map(|b| (b.min, b.max)).collect::<Vec<_>>()
    };
    assert_eq!(range(&depths.depth), [(1, Some(1)), (16, Some(31))]);
    assert_eq!(range(&depths.submit), [(1, Some(4)), (17, Some(32))]);
}

#[test]
fn latency_targets_have_the_unit_of_their_version() {
    let read_target = |version: &str, text: &str| {
        let job = read(
            &format!("{LINE}     latency   : {text}, percentile=95.00%, depth=16\n"),
            version,
        );
        job.measurement.latency_target.map(|target| {
            (
                ends(&Some(target.target_ns)),
                target.window_ns.map(|w| w.lo().get()),
            )
        })
    };
    assert_eq!(read_target("fio-3.33", "target=0, window=0"), None);
    assert_eq!(
        read_target("fio-3.42", "target=0.00ns, window=0.00ns"),
        None
    );
    assert_eq!(
        read_target("fio-2.21", "target=2000, window=200000"),
        Some(((2e6, 2e6), Some(200e6)))
    );
    assert_eq!(
        read_target("fio-3.12", "target=2000000, window=200000000"),
        Some(((2e6, 2e6), Some(200e6)))
    );
    assert_eq!(
        read_target("fio-3.33", "target=2000000, window=200000"),
        Some(((2e6, 2e6), Some(200e6)))
    );
    let ((lo, hi), _) = read_target("fio-3.42", "target=2.00ms, window=200.00ms").unwrap();
    assert!(lo < 2e6 && 2e6 < hi && hi - lo < 10_001.0);
    // without a version either unit may be meant
    assert_eq!(
        read_target("", "target=2000, window=200000").unwrap().0,
        (2e3, 2e6)
    );
}

#[test]
fn failed_jobs_say_so() {
    let text = "enospc: (groupid=0, jobs=1): err=28 (file:io_u.c:1876, func=io_u error, error=No space left on device): pid=7986: Mon Nov 30 14:42:21 2026\n  write: IOPS=2047, BW=127MiB/s (133MB/s)(8192KiB/63msec); 0 zone resets\n     errors    : total=9, first_error=28/<No space left on device>\n";
    let (all, errors) = read_with(
        text,
        Era::of(Version::release(3, 33, 0)),
        BlockSizes::default(),
    );
    assert_eq!(all.len(), 1);
    let texts: Vec<_> = errors
        .iter()
        .map(|error| (error.code, error.text.as_str()))
        .collect();
    assert_eq!(
        texts,
        [
            (Some(28), "No space left on device"),
            (Some(28), "No space left on device (the first of 9 errors)")
        ]
    );
}

#[test]
fn old_figures_stand_for_what_they_could_be() {
    // 2.19 prints remainders for decimals: 72.6 MiB/s is anything from 72 to 73
    let old = read(
        "   read: IOPS=18.6k, BW=72.6MiB/s (76.1MB/s)(22.3MiB/308msec)\n",
        "fio-2.19",
    );
    assert_eq!(
        ends(&old.measurement.bytes_per_sec),
        (76_000_000.0, (73 << 20) as f64 - 1.0)
    );
    // the same text without a version is of 2.20 or later
    let later = read(
        "   read: IOPS=18.6k, BW=72.6MiB/s (76.1MB/s)(22.3MiB/308msec)\n",
        "",
    );
    assert!(ends(&later.measurement.bytes_per_sec).0 > 76_049_000.0);
    // 10240 MB in 165.607 s are 63316.9 KiB/s, and K is 1024
    let legacy = read(
        "  read : io=10240MB, bw=63317KB/s, iops=15829, runt=165607msec\n",
        "",
    );
    assert_eq!(codes(&legacy), [] as [&str; 0]);
    assert!(holds(&legacy.measurement.bytes, Some(Bytes(10 << 30))));
    let open = read(
        "  read : io=22876KB, bw=185984KB/s, iops=46495 , runt=   123msec\n",
        "fio 2.0",
    );
    assert_eq!(codes(&open), ["unit-guessed"]);
    assert!(
        holds(&open.measurement.bytes, Some(Bytes(22_876 * 1024)))
            && holds(&open.measurement.bytes, Some(Bytes(22_876_000)))
    );
    // to 1.25.1: 4084 KiB in 88 ms
    let first = read(
        "  read : io=  4084KiB, bw= 47522KiB/s, runt=    88msec\n",
        "",
    );
    assert_eq!(codes(&first), ["label-wrong"]);
    assert!(holds(
        &first.measurement.bytes_per_sec,
        BytesPerSec::new(4084.0 * 1024.0 / 0.088)
    ));
}

#[test]
fn loose_lines_complete_the_section_above() {
    let mut job = read(
        "  read : io=10240MB, bw=63317KB/s, iops=15829, runt=165607msec\n",
        "",
    );
    let attach_text = |text: &str, to: &mut JobMeasurement| {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let loose = fio_text::read(&log, &mut log.segments()).unwrap();
        assert!(loose.is_loose());
        attach(
            &loose,
            Era::default(),
            to.direction,
            true,
            &mut to.measurement,
            &mut to.warnings,
        );
    };
    attach_text(
        "    clat (usec): min=1, max=18600, avg=51.29, stdev=16.79\n",
        &mut job,
    );
    attach_text(
        "    clat percentiles (usec):\n     | 99.00th=[   78]\n",
        &mut job,
    );
    attach_text(
        "    clat percentiles (usec):\n     | 99.00th=[23424]\n",
        &mut job,
    );
    let clat = job.measurement.clat_ns.unwrap();
    assert_eq!(clat.percentiles.len(), 1);
    assert_eq!(clat.percentiles[0].reading.hi().get(), 78_000.0);
    assert_eq!(ends(&clat.min).0, 1_000.0);
}

#[test]
fn all_clients_have_no_unit() {
    let job = read(
        "All clients: (groupid=0, jobs=3): err= 0: pid=0: Mon Nov 30 14:53:31 2026\n   read: IOPS=6644, BW=48.0Mi (51.3M)(8172KiB/163msec)\n",
        "fio-2.21",
    );
    // 8172 KiB in 163 ms are 48.96 MiB/s: the carry was lost
    assert!(holds(
        &job.measurement.bytes_per_sec,
        BytesPerSec::new((8172u64 * 1024 * 1000 / 163) as f64)
    ));
    assert_eq!(codes(&job), ["carry-lost"]);
}
