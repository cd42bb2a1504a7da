//! Tests of the reader of job sections, on text that fio printed and on what people leave of it.

use super::*;
use proptest::prelude::*;

/// All sections of `text`, and the lines that belong to none.
fn sections<'t>(log: &'t Log<'t>) -> (Vec<FioJob<'t>>, Vec<&'t str>) {
    let mut lines = log.segments();
    let (mut jobs, mut rest) = (Vec::new(), Vec::new());
    loop {
        if let Some(job) = read(log, &mut lines) {
            jobs.push(job);
        } else if let Some(segment) = lines.next() {
            rest.extend(Some(segment.text).filter(|text| !text.trim().is_empty()));
        } else {
            return (jobs, rest);
        }
    }
}

fn log(text: &str) -> Log<'_> {
    Log::from_bytes("x", text.as_bytes()).unwrap()
}

fn texts(pair: crate::block::fio_group::Pair<'_>) -> (&str, &str) {
    (
        pair.first.map_or("", |f| f.text),
        pair.second.map_or("", |f| f.text),
    )
}

/// fio 3.33, a mixed job; percentiles shortened.
const NEW: &str = "\
mixed-70-30: (groupid=0, jobs=1): err= 0: pid=4022: Mon Nov 30 14:41:52 2026
  Description  : [a [desc] with]
  read: IOPS=39.8k, BW=155MiB/s (163MB/s)(22.2MiB/143msec)
    slat (usec): min=3, max=3165, avg= 5.05, stdev=42.34
    clat (usec): min=25, max=4726, avg=228.43, stdev=443.83
     lat (usec): min=30, max=4730, avg=233.47, stdev=445.63
    clat prio 0/0 (usec): min=24, max=8051, avg=279.66, stdev=856.95
    clat prio 1/3 (usec): min=6, max=5306, avg=142.03, stdev=439.94
    clat percentiles (usec):
     |  1.00th=[   63],  5.00th=[  112], 10.00th=[  126], 20.00th=[  139],
     | 99.00th=[ 3261], 99.50th=[ 3654], 99.90th=[ 4752], 99.95th=[ 4752],
     | 99.99th=[ 4752]
    clat prio 1/3 (39.70% of IOs) percentiles (usec):
     |  1.00th=[   19], 99.99th=[ 5276]
   bw (  KiB/s): min=56336, max=56337, per=100.00%, avg=56336.50, stdev= 0.70, samples=2
   iops        : min=14084, max=14085, avg=14084.50, stdev= 0.70, samples=2
  write: IOPS=17.5k, BW=68.4MiB/s (71.7MB/s)(9.78MiB/143msec); 0 zone resets
    slat (nsec): min=3415, max=81181, avg=4605.36, stdev=3905.20
    clat (usec): min=61, max=5172, avg=376.65, stdev=654.29
  lat (usec)   : 50=0.43%, 100=1.86%, 250=86.82%, 500=5.63%, 750=1.06%
  lat (usec)   : 1000=0.42%
  lat (msec)   : 2=1.46%, 4=1.83%, >=2000=0.50%
  fsync/fdatasync/sync_file_range:
    sync (usec): min=101, max=2000, avg=300.10, stdev=20.20
    sync percentiles (usec):
     |  1.00th=[  120], 99.00th=[  990]
  cpu          : usr=4.23%, sys=30.99%, ctx=1592, majf=0, minf=12
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=99.8%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.1%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=5689,2503,0,0 short=0,0,0,0 dropped=0,0,0,0
     errors    : total=9, first_error=28/<No space left on device>
     latency   : target=0, window=0, percentile=100.00%, depth=16
  steadystate  : attained=yes, bw=51.5MiB/s (52.7MB/s), iops=13.2k, iops mean dev=6.497%
";

fn check_new(job: &FioJob<'_>) {
    let head = job.head.as_ref().unwrap();
    assert_eq!(
        (head.name, head.group, head.jobs, head.error, head.pid),
        ("mixed-70-30", 0, Some(1), Some(0), Some(4022))
    );
    assert_eq!(head.time, Some("Mon Nov 30 14:41:52 2026"));
    assert_eq!(job.description.unwrap().text, "a [desc] with");
    assert_eq!(job.parts.len(), 2);
    let [read, write] = &job.parts[..] else {
        unreachable!()
    };
    let line = read.line.as_ref().unwrap();
    assert_eq!((line.direction, line.legacy), (Direction::Read, false));
    assert_eq!(line.iops.unwrap().text, "39.8k");
    assert_eq!(
        (texts(line.bw), texts(line.io)),
        (("155MiB/s", "163MB/s"), ("22.2MiB", ""))
    );
    assert_eq!(line.runtime.unwrap().text, "143msec");
    let four = |text: &LatencyText<'_>| {
        let latency = text.latency.as_ref().unwrap();
        let readings = [&latency.min, &latency.max, &latency.mean, &latency.stddev];
        (
            text.unit.unwrap(),
            readings.map(|reading| reading.as_ref().unwrap().printed()[0].text.to_string()),
        )
    };
    let owned = |texts: [&str; 4]| texts.map(str::to_owned);
    assert_eq!(
        four(&read.slat),
        (TimeUnit::Usec, owned(["3", "3165", "5.05", "42.34"]))
    );
    assert_eq!(
        four(&read.lat),
        (TimeUnit::Usec, owned(["30", "4730", "233.47", "445.63"]))
    );
    assert_eq!(
        four(&write.slat),
        (
            TimeUnit::Nsec,
            owned(["3415", "81181", "4605.36", "3905.20"])
        )
    );
    let percentiles = |text: &LatencyText<'_>| text.latency.as_ref().unwrap().percentiles.clone();
    assert_eq!(read.clat.percentiles, Some(TimeUnit::Usec));
    let clat = percentiles(&read.clat);
    assert_eq!(clat.len(), 9);
    assert_eq!(
        (clat[8].p, clat[8].reading.printed()[0].text.as_str()),
        (99.99, "4752")
    );
    assert_eq!(read.priorities.len(), 2);
    assert_eq!(
        (
            read.priorities[1].name,
            read.priorities[1].share.unwrap().text
        ),
        ("1/3", "39.70")
    );
    assert_eq!(percentiles(&read.priorities[1].text).len(), 2);
    let bw = read.bw.as_ref().unwrap();
    assert_eq!(
        (bw.unit, bw.per.unwrap().text, bw.count),
        (Some("KiB"), "100.00", Some(2))
    );
    assert_eq!(read.iops.as_ref().unwrap().avg.unwrap().text, "14084.50");
    assert_eq!(job.distribution.len(), 9);
    let last = &job.distribution[8];
    assert_eq!(
        (
            last.ge_ns,
            last.lt_ns,
            last.percent.printed()[0].text.as_str()
        ),
        (2_000_000_000, None, "0.50")
    );
    assert_eq!(percentiles(&job.sync)[1].reading.printed()[0].text, "990");
    assert_eq!(job.cpu.as_ref().unwrap().ctx, Some(1592));
    let ranges = |buckets: &Option<Vec<CountBucket>>| -> Vec<_> {
        let buckets = buckets.as_ref().unwrap().iter();
        buckets.map(|bucket| (bucket.min, bucket.max)).collect()
    };
    // what has no share is left out
    assert_eq!(
        ranges(&job.depths),
        [(1, 1), (2, 3), (4, 7), (8, 15), (16, 31)].map(|(min, max)| (min, Some(max)))
    );
    assert_eq!(ranges(&job.submit), [(1, Some(4))]);
    assert_eq!(ranges(&job.complete), [(1, Some(4)), (9, Some(16))]);
    assert_eq!(job.issued.as_ref().unwrap().total[..], [5689, 2503, 0, 0]);
    let errors = job.errors.as_ref().unwrap();
    assert_eq!(
        (errors.total, errors.first, errors.text),
        (9, 28, "No space left on device")
    );
    assert_eq!(job.target.as_ref().unwrap().depth, Some(16));
    let steady = job.steady.as_ref().unwrap();
    assert_eq!(
        (steady.attained, steady.criterion, steady.percent),
        (true, Some("iops mean dev"), true)
    );
    assert_eq!(steady.deviation.unwrap().text, "6.497");
    assert_eq!(job.problems, []);
}

#[test]
fn a_whole_section_is_read_whatever_stands_around_its_lines() {
    let quoted = |prefix: &str| {
        NEW.lines()
            .map(|line| format!("{prefix}{line}\n"))
            .collect::<String>()
    };
    let variants = [
        NEW.to_owned(),
        quoted("> "),
        quoted(">> | "),
        quoted("\t"),
        NEW.replace('\n', "\r\n"),
        NEW.replace('\n', "\n\n"),
        NEW.replace("  ", "\u{a0}\u{a0}"),
        NEW.replace(">=", "&gt;="),
        NEW.replace("BW=", "\n> BW=").replace("stdev=", "\n stdev="),
        NEW.replace('=', "=3D"),
        NEW.replace("[ ", "[\n> "),
        NEW.trim_end().to_owned(),
    ];
    for text in &variants {
        let log = log(text);
        let (jobs, rest) = sections(&log);
        assert_eq!((jobs.len(), rest), (1, vec![]), "{text}");
        check_new(&jobs[0]);
    }
}

#[test]
fn legacy_sections_are_read() {
    let cases = [
        // 1.41
        (
            "  read : io=22932KB, bw=220500KB/s, iops=55125, runt=   104msec\n     issued r/w: total=5733/2459, short=0/0\n     lat (usec): 100=0.31%, 250=97.28%\n",
            ["22932KB", "220500KB/s", "55125", "104msec"],
            vec![5733, 2459],
        ),
        // 1.59
        (
            "  write: io=1024 B, bw=9892 B/s, iops=512 , runt= 67194msec\n     issued r/w/d: total=1/2449/0, short=0/0/0\n",
            ["1024 B", "9892 B/s", "512", "67194msec"],
            vec![1, 2449, 0],
        ),
        // 2.14
        (
            "  trim : io=9892.0KB, bw=80423KB/s, iops=20105, runt=   123msec\n     issued    : total=r=5719/w=2473/d=7, short=r=0/w=0/d=0, drop=r=0/w=0/d=0\n",
            ["9892.0KB", "80423KB/s", "20105", "123msec"],
            vec![5719, 2473, 7],
        ),
    ];
    for (text, [io, bw, iops, runt], issued) in cases {
        let log = log(text);
        let (jobs, rest) = sections(&log);
        assert_eq!((jobs.len(), rest.len()), (1, 0), "{text}");
        let line = jobs[0].parts[0].line.as_ref().unwrap();
        assert!(line.legacy);
        assert_eq!(
            (
                texts(line.io).0,
                texts(line.bw).0,
                line.iops.unwrap().text,
                line.runtime.unwrap().text
            ),
            (io, bw, iops, runt)
        );
        assert_eq!(jobs[0].issued.as_ref().unwrap().total[..], issued);
    }
    // to 1.13 without IOPS
    let log = log("  read : io=  4084KiB, bw= 47522KiB/s, runt=    88msec");
    let line = sections(&log).0.remove(0).parts.remove(0).line.unwrap();
    assert_eq!((texts(line.bw).0, line.iops), ("47522KiB/s", None));
}

#[test]
fn heads_of_all_kinds_are_read() {
    let head = |text: &'static str| {
        let log = Box::leak(Box::new(log(text)));
        sections(log).0.remove(0).head.unwrap()
    };
    let failed = head(
        "enospc: (groupid=3, jobs=2): err=28 (file:io_u.c:1876, func=io_u error, error=No space left on device): pid=7986: Mon Nov  3 14:42:21 2026",
    );
    assert_eq!(
        (failed.group, failed.jobs, failed.error, failed.pid),
        (3, Some(2), Some(28), Some(7986))
    );
    assert_eq!(
        failed.error_text,
        Some("file:io_u.c:1876, func=io_u error, error=No space left on device")
    );
    assert_eq!(failed.time, Some("Mon Nov  3 14:42:21 2026"));
    // a name may be empty, or look like a head itself
    assert_eq!(head(": (groupid=0, jobs=1): err= 0: pid=9016").name, "");
    let odd = head("odd: (groupid=9): (x=1, y) 80% \"q\": (groupid=0, jobs=1): err= 0: pid=-1");
    assert_eq!(
        (odd.name, odd.group, odd.pid),
        ("odd: (groupid=9): (x=1, y) 80% \"q\"", 0, Some(-1))
    );
    // to 1.13 without jobs
    let old = head("job1: (groupid=0): err= 0: pid=1234\n");
    assert_eq!((old.jobs, old.error, old.time), (None, Some(0), None));
    // a mail program broke the line
    let wrapped =
        head("> mytest: (groupid=0,\n> jobs=1): err= 0:\n> pid=4022: Mon Nov 30 14:41:52 2026\n");
    assert_eq!(
        (wrapped.jobs, wrapped.error, wrapped.pid),
        (Some(1), Some(0), Some(4022))
    );
    let late = head(
        "test: (groupid=0, jobs=1): err= 0: pid=7: Mon Nov 30\n14:41:52 2026\n  read: IOPS=1, BW=2KiB/s (2kB/s)(4KiB/2000msec)\n",
    );
    assert_eq!(late.time, Some("Mon Nov 30\n14:41:52 2026"));
}

#[test]
fn sections_end_where_another_starts() {
    let two = format!("{NEW}{NEW}\nRun status group 0 (all jobs):\n");
    let log = log(&two);
    let (jobs, rest) = sections(&log);
    assert_eq!(
        (jobs.len(), rest),
        (2, vec!["Run status group 0 (all jobs):"])
    );
    jobs.iter().for_each(check_new);
    assert_eq!(jobs[0].span.end + 1, jobs[1].span.start);
    // lines that were grepped: each direction that comes again is another job
    let lines = "a.log:  read: IOPS=13.3k, BW=51.9MiB/s (54.4MB/s)(7968KiB/150msec)\nb.log:  read: IOPS=14.0k, BW=54.8MiB/s (57.5MB/s)(8416KiB/150msec)\n";
    let log = Log::from_bytes("x", lines.as_bytes()).unwrap();
    let (jobs, _) = sections(&log);
    let prefixes: Vec<_> = jobs
        .iter()
        .map(|job| job.parts[0].line.as_ref().unwrap().prefix)
        .collect();
    assert_eq!(prefixes, [Some("a.log"), Some("b.log")]);
}

#[test]
fn loose_lines_are_sections_without_direction() {
    let log = log(
        "    clat percentiles (usec):\n     | 99.00th=[ 3261]\n\nA paragraph.\n  cpu   : usr=0.79%, sys=6.50%, ctx=24419, majf=0, minf=10\n",
    );
    let (jobs, rest) = sections(&log);
    assert_eq!((jobs.len(), rest), (2, vec!["A paragraph."]));
    assert_eq!(jobs[0].parts[0].direction(), None);
    let latency = jobs[0].parts[0].clat.latency.as_ref().unwrap();
    assert_eq!(latency.percentiles.len(), 1);
}

#[test]
fn other_programs_lines_are_left_alone() {
    let others = "read:\n  IOPS=536.328308 BW(KiB/s)=2161\n  iops: min=293 max=802 avg=540.172424\n  bw(KiB/s): min=1175 max=3209 avg=2162.206787\nwrite: done\nsystem: 5\n\"groupid\" : 0,\nlat : 5\n| 4k | IOPS=5928, BW=23.2MiB/s, lat=21587.15usec |\nio=5\n";
    let log = log(others);
    let (jobs, rest) = sections(&log);
    assert_eq!((jobs.len(), rest.len()), (0, 10));
}

#[test]
fn what_was_cut_off_keeps_what_is_whole() {
    let log = log("  read: IOPS=39.8k, BW=155MiB/s (163MB/s)(22.2MiB/14");
    let job = sections(&log).0.remove(0);
    let line = job.parts[0].line.as_ref().unwrap();
    assert_eq!(
        (texts(line.bw), line.runtime),
        (("155MiB/s", "163MB/s"), None)
    );
    assert_eq!(job.problems[0].code, Code::INCOMPLETE);
}

/// All sections of `text`, read by `quick` where it can.
fn sections_by<'t>(
    log: &'t Log<'t>,
    quick: impl Fn(&mut Reader<'t>, u32) -> Option<u32> + Copy,
) -> Vec<FioJob<'t>> {
    let mut lines = log.segments();
    let mut jobs = Vec::new();
    loop {
        if let Some(job) = read_by(log, &mut lines, quick) {
            jobs.push(job);
        } else if lines.next().is_none() {
            return jobs;
        }
    }
}

#[test]
fn quick_and_tolerant_readers_read_the_same_from_all_fixtures() {
    let mut count = 0;
    for folder in ["logs", "runs"] {
        let folder = format!("{}/../fixtures/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(folder).unwrap() {
            for file in ["input.txt", "normal.txt"] {
                let Ok(bytes) = std::fs::read(entry.as_ref().unwrap().path().join(file)) else {
                    continue;
                };
                let log = Log::from_bytes("x", &bytes).unwrap();
                let quick = sections_by(&log, Reader::quick);
                assert_eq!(quick, sections_by(&log, |_, _| None));
                count += quick.len();
            }
        }
    }
    assert!(count > 40, "{count} sections");
}

proptest! {
    #[test]
    fn quick_and_tolerant_readers_read_the_same_from_damaged_lines(
        damage in prop::collection::vec((0..NEW.len(), prop::sample::select(&b" \n\r0159.,=%[]|>()kMx-"[..]), 0..3u8), 1..4)
    ) {
        let mut bytes = NEW.repeat(2).into_bytes();
        for (at, byte, kind) in damage {
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => { bytes.remove(at); }
            }
        }
        let log = Log::from_bytes("x", &bytes).unwrap();
        prop_assert_eq!(sections_by(&log, Reader::quick), sections_by(&log, |_, _| None));
    }

    #[test]
    fn any_text_does_not_panic_and_covers_whole_lines(
        pieces in prop::collection::vec(prop_oneof![
            Just("a: (groupid=0, jobs=1): err= 0: pid=1"), Just("read: "), Just("IOPS=1, BW=2KiB/s (2kB/s)(4KiB/5msec)"),
            Just("clat (usec): min=1, max=2"), Just("clat percentiles (usec):"), Just("| 1.00th=[ 5],"), Just("cpu : usr=1.0%"),
            Just("\n"), Just("\n"), Just("\r"), Just("> "), Just("="), Just(" "), Just("lat (msec) : 2=0.1%"), Just("\u{a0}"), Just("é"),
        ], 0..24)
    ) {
        let text = pieces.concat();
        let log = log(&text);
        let mut lines = log.segments();
        let mut at = 0;
        loop {
            let job = read(&log, &mut lines);
            if let Some(job) = &job {
                prop_assert_eq!(job.span.start, at);
            }
            let mut rest = lines.clone();
            match (job, rest.next()) {
                (Some(_), Some(next)) => at = next.span.start,
                (None, Some(next)) => { at = next.next; lines = rest; }
                (_, None) => break,
            }
        }
    }
}
