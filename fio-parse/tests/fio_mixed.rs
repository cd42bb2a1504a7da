//! Reports that do not stand alone: of several servers, of several runs, mixed with each other or with what a logger wrote.

use fio_parse::record::{Direction, Reading, Record, ScopeKind};
use fio_parse::source::Log;

fn records(text: &str) -> Vec<Record> {
    let log = Log::from_bytes("log", text.as_bytes()).unwrap();
    let parsed = fio_parse::parse(&log);
    for record in &parsed.records {
        for reading in record.measurement.bytes_per_sec.iter() {
            for printed in reading.printed() {
                assert_eq!(log.get(printed.span), printed.text);
            }
        }
    }
    parsed.records
}

/// Run, kind of scope, host and machine, printed bandwidth.
fn shown<'r>(
    records: &'r [Record],
    text: &'r str,
) -> Vec<(u32, ScopeKind, &'r str, &'r str, &'r str)> {
    records
        .iter()
        .map(|record| {
            (
                record.run,
                record.scope.kind,
                record.scope.host.as_deref().unwrap_or(""),
                record.machine.as_ref().map_or("", |label| &*label.text),
                record
                    .measurement
                    .bytes_per_sec
                    .as_ref()
                    .and_then(Reading::span)
                    .map_or("", |at| &text[at.start as usize..at.end as usize]),
            )
        })
        .collect()
}

fn codes(record: &Record) -> Vec<&str> {
    record
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect()
}

fn job(name: &str, pid: u32, date: &str, mib: u32) -> String {
    format!(
        "{name}: (groupid=0, jobs=1): err= 0: pid={pid}: {date}\n  read: IOPS={}, BW={mib}.0MiB/s ({:.1}MB/s)({}MiB/10000msec)\n",
        mib * 256,
        f64::from(mib) * 1.048576,
        mib * 10
    )
}

fn group(mib: u32) -> String {
    let mb = f64::from(mib) * 1.048576;
    format!(
        "\nRun status group 0 (all jobs):\n   READ: bw={mib}.0MiB/s ({mb:.1}MB/s), {mib}.0MiB/s-{mib}.0MiB/s ({mb:.1}MB/s-{mb:.1}MB/s), io={}MiB ({:.0}MB), run=10000-10000msec\n\n",
        mib * 10,
        mb * 10.0
    )
}

const DATE: &str = "Tue Jun 12 05:58:37 2018";

#[test]
fn each_server_is_a_machine_with_a_run_of_its_own() {
    let hosts = format!(
        "hostname=left, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.19, flags=1\n\
         hostname=right, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.28, flags=1\n\
         <left> a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1\n\
         <right> a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1\n\
         <right> Starting 1 process\n\
         <right> \n{}<left>\n{}",
        // processes of two machines may have the same number
        job("a", 20, DATE, 10),
        job("a", 20, DATE, 20),
    );
    let sum = "All clients: (groupid=0, jobs=2): err= 0: pid=0: Tue Jun 12 05:58:37 2018\n  read: IOPS=7680, BW=30.0Mi (31.5M)(300MiB/10000msec)\n";
    // the groups of the last server may follow the sum
    for text in [
        format!("{hosts}{sum}{}", group(20)),
        format!("{hosts}{}{sum}", group(20)),
    ] {
        let mut found = records(&text);
        found.sort_by_key(|record| (record.run, record.scope.kind == ScopeKind::Group));
        let client = ScopeKind::Client;
        let wanted = [
            (1, client, "right", "right", "10.0MiB/s"),
            (2, client, "left", "left", "20.0MiB/s"),
            (2, ScopeKind::Group, "left", "left", "20.0MiB/s"),
            (3, ScopeKind::AllClients, "", "", "30.0Mi"),
        ];
        assert_eq!(shown(&found, &text), wanted);
        let versions: Vec<_> = found
            .iter()
            .filter(|record| record.scope.kind == client)
            .map(|record| record.source.tool.version.as_deref().unwrap())
            .collect();
        assert_eq!(versions, ["fio-3.28", "fio-3.19"]);
        assert!(found.iter().all(|record| record.workload.is_some()));
    }
    // where servers are not told, their parts and the sum are one run, of which the sum is taken
    let unnamed = format!("{}{}{sum}", job("a", 20, DATE, 10), job("a", 21, DATE, 20));
    let found = records(&unnamed);
    assert!(
        found
            .iter()
            .all(|record| record.run == 1 && record.machine.is_none())
    );
}

#[test]
fn a_word_in_angles_is_no_server() {
    for (name, host) in [
        ("node-1", Some("node-1")),
        ("10.0.0.4", Some("10.0.0.4")),
        ("snip", None),
    ] {
        let found = records(&format!("<{name}>\n{}", job("a", 20, DATE, 10)));
        assert_eq!(found[0].scope.host.as_deref(), host);
        assert_eq!(found[0].machine.as_ref().map(|label| &*label.text), host);
    }
}

#[test]
fn the_sum_over_servers_in_json_is_on_no_machine() {
    // some versions print the last server's name with the sum
    let text = r#"{"fio version" : "fio-3.33", "client_stats" : [
        {"jobname" : "a", "groupid" : 0, "hostname" : "left", "port" : 1, "read" : {"io_bytes" : 1}},
        {"jobname" : "b", "groupid" : 0, "hostname" : "left", "port" : 1, "read" : {"io_bytes" : 1}},
        {"jobname" : "a", "groupid" : 0, "hostname" : "left", "port" : 2, "read" : {"io_bytes" : 2}},
        {"jobname" : "All clients", "groupid" : 0, "hostname" : "left", "port" : 2, "read" : {"io_bytes" : 4}}]}
{"fio version" : "fio-3.33", "jobs" : [{"jobname" : "c", "groupid" : 0, "read" : {"io_bytes" : 1}}]}
"#;
    let client = ScopeKind::Client;
    assert_eq!(
        shown(&records(text), text),
        [
            (1, client, "left", "left", ""),
            (1, client, "left", "left", ""),
            (2, client, "left", "left", ""),
            (3, ScopeKind::AllClients, "", "", ""),
            (4, ScopeKind::Job, "", "", ""),
        ]
    );
}

#[test]
fn job_sections_of_different_times_are_different_runs() {
    let later = "Wed Dec  3 17:32:29 2024";
    let text = format!(
        "{}{}{}",
        job("a", 1, DATE, 10),
        job("b", 2, DATE, 20),
        job("a", 1, later, 30)
    );
    let runs: Vec<u32> = records(&text).iter().map(|record| record.run).collect();
    assert_eq!(runs, [1, 1, 2]);
}

#[test]
fn a_version_does_not_hold_for_what_it_does_not_print() {
    let text = format!(
        "fio-2.0.13\na: (groupid=0, jobs=1): err= 0: pid=1: {DATE}\n  read : io=1024.0MB, bw=8904.1KB/s, iops=2226, runt=117752msec\n\n{}{}",
        job("a", 1, DATE, 10),
        job("a", 1, DATE, 10),
    );
    let found = records(&text);
    let versions: Vec<_> = found
        .iter()
        .map(|r| (r.run, r.source.tool.version.as_deref()))
        .collect();
    assert_eq!(versions, [(1, Some("fio-2.0.13")), (2, None), (2, None)]);
}

#[test]
fn lines_of_two_reports_that_are_mixed_are_not_taken_apart() {
    let text = "a: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 30 14:41:49 2026\n\
        b: (groupid=0, jobs=1): err= 0: pid=2: Mon Nov 30 14:41:49 2026\n  \
        write: IOPS=45.1k, BW=176MiB/s (185MB/s)(189MiB/1070msec); 0 zone resets\n  \
        read : io=431739MB, bw=491222KB/s, iops=122805, runt=900001msec\n    \
        slat (nsec): min=290, max=6992.5k, avg=3574.14, stdev=71564.20\n    \
        slat (usec): min=1, max=60, avg= 2.00, stdev= 1.00\n    \
        clat (nsec): min=60, max=16923k, avg=16098.86, stdev=192312.90\n    \
        clat (usec): min=10, max=90, avg=20.00, stdev= 5.00\n";
    let log = Log::from_bytes("log", text.as_bytes()).unwrap();
    let parsed = fio_parse::parse(&log);
    assert_eq!(parsed.records.len(), 2);
    let empty = parsed
        .diagnostics
        .iter()
        .find(|d| d.code.as_str() == "incomplete");
    assert!(empty.unwrap().message.contains("\"a\""));
    for record in &parsed.records {
        assert!(
            codes(record).contains(&"interleaved"),
            "{:?}",
            record.direction
        );
        let m = &record.measurement;
        assert!(m.bytes_per_sec.is_some() && m.slat_ns.is_none() && m.clat_ns.is_none());
    }
    // a line that is said twice is enough
    let twice = text.replace(
        "  read : io=431739MB, bw=491222KB/s, iops=122805, runt=900001msec\n",
        "",
    );
    let found = records(&twice);
    assert_eq!(codes(&found[0]), ["interleaved"]);
    // a blank line or words between are an annotated report, and what is there already stays
    let apart = twice.replace("    slat (usec)", "\nand then\n\n    slat (usec)");
    let found = records(&apart);
    assert!(codes(&found[0]).is_empty());
    assert!(found[0].measurement.slat_ns.is_some() && found[0].measurement.clat_ns.is_some());
}

#[test]
fn what_a_logger_writes_in_front_of_lines_is_passed_over() {
    let report = format!(
        "{}    clat (usec): min=50, max=172770, avg=4947.62, stdev=11578.62\n    clat percentiles (usec):\n     |  1.00th=[   52],  5.00th=[   52],\n     | 99.99th=[173016]\n{}",
        job("a", 1, DATE, 10),
        group(10)
    );
    for front in [
        "12:06:53 DEBUG| [stdout] ",
        "May  3 12:06:53 box fio[4011]: ",
    ] {
        let text: String = report
            .lines()
            .map(|line| format!("{front}{line}\n"))
            .collect();
        let found = records(&text);
        assert_eq!(found.len(), 2, "{text}");
        assert_eq!(found[0].scope.job.as_deref(), Some("a"));
        assert_eq!(found[0].machine, None);
        let clat = found[0].measurement.clat_ns.as_ref().unwrap();
        assert_eq!(clat.percentiles.len(), 3);
        let printed = &found[0]
            .measurement
            .bytes_per_sec
            .as_ref()
            .unwrap()
            .printed()[0];
        assert_eq!(printed.span.start as usize, text.find("10.0MiB/s").unwrap());
    }
}

#[test]
fn a_diff_of_two_reports_is_two_reports() {
    let text = "--- before.txt\n+++ after.txt\n@@ -1,3 +1,3 @@\n t: (groupid=0, jobs=1): err= 0: pid=2515: Mon Nov 30 14:41:49 2026\n-  write: IOPS=45.1k, BW=176MiB/s (185MB/s)(189MiB/1070msec); 0 zone resets\n+  write: IOPS=90.2k, BW=352MiB/s (370MB/s)(377MiB/1070msec); 0 zone resets\n-    clat (usec): min=60, max=16923, avg=160.86, stdev=192.90\n+    clat (usec): min=30, max=8000, avg=80.86, stdev=92.90\n";
    let found = records(text);
    let rows: Vec<_> = found
        .iter()
        .map(|record| {
            let clat = record.measurement.clat_ns.as_ref().unwrap();
            (
                record.run,
                &*record.machine.as_ref().unwrap().text,
                record.direction,
                clat.mean.as_ref().unwrap().text(),
                record.source.line.unwrap(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (1, "before.txt", Direction::Write, "160.86".into(), 5),
            (2, "after.txt", Direction::Write, "80.86".into(), 6)
        ]
    );
}

#[test]
fn figures_that_can_not_be_of_one_group_or_job_are_named() {
    let turned = group(10).replace(
        "10.0MiB/s-10.0MiB/s (10.5MB/s-10.5MB/s)",
        "10.0MiB/s-5.0MiB/s (10.5MB/s-5.2MB/s)",
    );
    let found = records(&turned);
    assert_eq!(codes(&found[0]), ["disagree"]);
    assert!(found[0].warnings[0].message.contains("slowest"));
    let json = |total: u32| {
        format!(
            "{{\"fio version\" : \"fio-3.33\", \"jobs\" : [{{\"jobname\" : \"a\", \"groupid\" : 0, \"write\" : {{\"io_bytes\" : 197730304, \"io_kbytes\" : 193096, \"bw_bytes\" : 184794676, \"bw\" : 180463, \"iops\" : 45115.88785, \"runtime\" : 1070, \"total_ios\" : {total}}}}}]}}\n"
        )
    };
    assert!(codes(&records(&json(48274))[0]).is_empty());
    assert_eq!(codes(&records(&json(5))[0]), ["disagree"]);
}

#[test]
fn a_mean_lies_among_its_runs() {
    let text = " I/O speed(1st run)   : 57.4 MB/s\n I/O speed(2nd run)   : 50.9 MB/s\n I/O speed(3rd run)   : 51.4 MB/s\n Average I/O speed    : MEAN MB/s\n";
    let code = |mean: &str| {
        let found = records(&text.replace("MEAN", mean));
        let mean = found
            .iter()
            .find(|record| record.scope.kind == ScopeKind::Group);
        codes(mean.unwrap()).contains(&"disagree")
    };
    assert!(!code("53.2"));
    assert!(code("530.2"));
}

#[test]
fn figures_that_people_grouped_or_spaced_are_read_and_broken_ones_are_not() {
    let old = |text: &str| {
        let found = records(text);
        let m = &found[0].measurement;
        let ends = |lo: f64, hi: f64| (lo, hi);
        let rate = m
            .bytes_per_sec
            .as_ref()
            .map(|rate| ends(rate.lo().get(), rate.hi().get()));
        let time = m.runtime_ns.as_ref().map(|time| time.lo().get());
        (
            rate,
            m.bytes.as_ref().map(|bytes| (bytes.lo().0, bytes.hi().0)),
            time,
        )
    };
    let group = "  WRITE: io=10240MB, aggrb=63316KB/s, minb=63316KB/s, maxb=63316KB/s, mint=165607msec, maxt=165607msec\n";
    let commas = "  WRITE: io=10,240MB, aggrb=63,316KB/s, minb=63,316KB/s, maxb=63,316KB/s, mint=165,607msec, maxt=165,607msec\n";
    assert_eq!(old(commas), old(group));
    let line = "  write: IOPS=45.1k, BW=176MiB/s (185MB/s)(189MiB/1070msec); 0 zone resets\n";
    let blanks = "  write: IOPS=45.1k, BW=176 MiB/s (185 MB/s)(189 MiB/1070 msec); 0 zone resets\n";
    assert_eq!(old(blanks), old(line));
    let latency =
        format!("{line}    clat (usec): min=1,234, max=9,999, avg=4,321.50, stdev=100.00\n");
    let found = records(&latency);
    let clat = found[0].measurement.clat_ns.as_ref().unwrap();
    let middle = |reading: &Option<Reading<fio_parse::Nanos>>| reading.as_ref().unwrap().value();
    assert!((middle(&clat.max) - 9_999_000.0).abs() < 1000.0);
    assert!((middle(&clat.mean) - 4_321_500.0).abs() < 10.0);
    // a rate in no unit is none
    let bare = "  write: IOPS=45.1k, BW=176\n";
    assert_eq!(records(bare)[0].measurement.bytes_per_sec, None);
    // a figure that goes on in the next line is none, nor one that the text ends in
    for broken in [
        format!("{line}    clat (usec): min=60, max=169\n23, avg=16099.67, stdev=204.98\n"),
        format!("{line}    clat (usec): min=60, max=169"),
    ] {
        let found = records(&broken);
        let clat = found[0].measurement.clat_ns.as_ref();
        assert!(clat.is_none_or(|clat| clat.max.is_none() && clat.mean.is_none()));
    }
    let cut = format!("{line}    clat (nsec): min=290, max=6992.5k, avg=35");
    let found = records(&cut);
    let clat = found[0].measurement.clat_ns.as_ref().unwrap();
    assert!(clat.max.is_some() && clat.mean.is_none());
}

#[test]
fn a_number_beyond_64_bits_is_no_figure() {
    let text = "{\"fio version\" : \"fio-3.33\", \"jobs\" : [{\"jobname\" : \"a\", \"groupid\" : 0, \"write\" : {\"io_bytes\" : 18446744073709551621, \"io_kbytes\" : 193096, \"bw_bytes\" : 184794676}}]}\n";
    let found = records(text);
    assert_eq!(found[0].measurement.bytes, None);
    assert_eq!(codes(&found[0]), ["unreadable"]);
}

#[test]
fn commands_behind_a_prompt_that_is_a_hash_are_no_headings() {
    let report = "1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 5.12345 s, 210 MB/s\n";
    let dd = "# dd if=/dev/zero of=a bs=1M count=1024 conv=fsync\n";
    let text = format!("# cd data\n{dd}{report}# rm a\n# mount data\n{dd}{report}");
    for record in records(&text) {
        assert!(record.machine.is_none() && record.section.is_empty());
    }
    let headed = format!("# mount options\n\n$ {}{report}", &dd[2..]);
    assert_eq!(&*records(&headed)[0].section[0].text, "mount options");
}
