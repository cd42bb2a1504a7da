//! Units, absences, scopes and failures, from small documents.

use super::*;
use crate::block::fio_json;
use crate::unit::Nanos;

fn read(text: &str) -> (Vec<Entry>, Vec<Diagnostic>) {
    let log = Log::from_bytes("x.json", text.as_bytes()).unwrap();
    let mut lines = log.segments();
    let block = fio_json::read(&log, &mut lines).expect("a document");
    let (mut entries, mut diagnostics) = (Vec::new(), block.problems.clone());
    for document in &block.documents {
        let (more, odd) = super::entries(&log, document);
        entries.extend(more);
        diagnostics.extend(odd);
    }
    (entries, diagnostics)
}

/// A document of one job with the members `side` of its reads.
fn one(version: &str, side: &str) -> Entry {
    let version = match version {
        "" => String::new(),
        version => format!("\"fio version\" : \"{version}\", "),
    };
    let text =
        format!("{{{version}\"jobs\" : [{{\"jobname\" : \"a\", \"read\" : {{{side}}}}}]}}\n");
    read(&text).0.remove(0)
}

fn ends<Q: crate::unit::Quantity>(reading: &Option<Reading<Q>>) -> (f64, f64) {
    let reading = reading.as_ref().expect("a reading");
    (reading.lo().to_f64(), reading.hi().to_f64())
}

#[test]
fn bytes_have_the_unit_of_their_version() {
    let cases = [
        (
            "fio-2.1",
            "\"io_bytes\" : 22904",
            (22904.0 * 1024.0, 22905.0 * 1024.0 - 1.0),
        ),
        ("fio-2.20", "\"io_bytes\" : 1", (1024.0, 2047.0)),
        (
            "fio-2.21",
            "\"io_bytes\" : 974848, \"io_kbytes\" : 952",
            (974848.0, 974848.0),
        ),
        (
            "fio-2.20-5-gabcde",
            "\"io_bytes\" : 974848, \"io_kbytes\" : 952",
            (974848.0, 974848.0),
        ),
        ("fio-3.33", "\"io_bytes\" : 7", (7.0, 7.0)),
        ("", "\"io_bytes\" : 7, \"bw_bytes\" : 70", (7.0, 7.0)),
    ];
    for (version, side, wanted) in cases {
        let entry = one(version, side);
        assert_eq!(ends(&entry.measurement.bytes), wanted, "{version} {side}");
        assert_eq!(entry.warnings, [], "{version} {side}");
    }
    let entry = one("", "\"io_bytes\" : 7, \"clat\" : {\"max\" : 5}");
    assert_eq!(ends(&entry.measurement.bytes), (7.0, 8191.0));
    assert_eq!(entry.warnings[0].code, Code::UNIT_GUESSED);
}

#[test]
fn rates_are_cut_to_kib_where_bytes_are_not_printed() {
    let entry = one(
        "fio-2.1",
        "\"io_bytes\" : 22904, \"bw\" : 189289, \"iops\" : 47322, \"runtime\" : 121",
    );
    assert_eq!(
        ends(&entry.measurement.bytes_per_sec),
        (193_831_936.0, 193_832_959.0)
    );
    let (lo, hi) = ends(&entry.measurement.iops);
    assert!(lo <= 47322.0 && (47323.0..47323.1).contains(&hi));
    assert_eq!(ends(&entry.measurement.runtime_ns), (121e6, 121e6));
    let entry = one(
        "fio-3.33",
        "\"io_bytes\" : 23302144, \"bw_bytes\" : 162952055, \"bw\" : 159132, \"iops\" : 39783.216783, \"runtime\" : 143",
    );
    assert_eq!(
        ends(&entry.measurement.bytes_per_sec),
        (162_952_055.0, 162_952_055.0)
    );
    let (lo, hi) = ends(&entry.measurement.iops);
    assert!(lo < 39783.216783 && hi > 39783.216783 && hi - lo < 1.1e-6);
    assert_eq!(entry.warnings, []);
}

#[test]
fn figures_that_contradict_each_other_are_named() {
    let entry = one(
        "fio-3.33",
        "\"io_bytes\" : 1000000, \"bw_bytes\" : 1000000, \"bw\" : 976, \"runtime\" : 500",
    );
    assert_eq!(entry.warnings.len(), 1);
    assert_eq!(entry.warnings[0].code, Code::DISAGREE);
    let entry = one(
        "fio-3.33",
        "\"io_bytes\" : 1000000, \"bw_bytes\" : 1000000, \"bw\" : 1976, \"runtime\" : 1000",
    );
    assert_eq!(entry.warnings.len(), 1);
    assert_eq!(entry.warnings[0].code, Code::DISAGREE);
}

#[test]
fn latencies_are_micro_or_nanoseconds_by_their_key() {
    let stats = "{\"min\" : 3, \"max\" : 696, \"mean\" : 4.38, \"stddev\" : 10.58, \"percentile\" : {\"99.000000\" : 5, \"0.00\" : 0, \"0.00\" : 0}}";
    for (key, scale) in [("clat", 1000.0), ("clat_ns", 1.0)] {
        let entry = one(
            "fio-2.21",
            &format!("\"io_bytes\" : 1, \"{key}\" : {stats}"),
        );
        let clat = entry.measurement.clat_ns.unwrap();
        assert_eq!(ends(&clat.min), (3.0 * scale, 3.0 * scale));
        let (lo, hi) = ends(&clat.mean);
        assert!((lo - 4.375 * scale).abs() < 1e-6 && (hi - 4.385 * scale).abs() < 1e-6);
        assert_eq!(clat.percentiles.len(), 1);
        assert_eq!(
            (clat.percentiles[0].p, clat.percentiles[0].reading.value()),
            (99.0, 5.0 * scale)
        );
    }
}

#[test]
fn what_was_not_measured_is_absent() {
    let zero = "{\"min\" : 0, \"max\" : 0, \"mean\" : 0.000000, \"stddev\" : 0.000000, \"N\" : 0}";
    let entry = one(
        "fio-3.33",
        &format!(
            "\"io_bytes\" : 1, \"slat_ns\" : {zero}, \"clat_ns\" : {{\"min\" : 18446744073709551615, \"max\" : 9, \"mean\" : nan}}, \"bw_min\" : 18446744073709551615, \"bw_max\" : 0, \"bw_mean\" : 0.0, \"bw_agg\" : -3.5"
        ),
    );
    assert_eq!(entry.measurement.slat_ns, None);
    let clat = entry.measurement.clat_ns.unwrap();
    assert_eq!((clat.min, clat.mean), (None, None));
    assert_eq!(ends(&clat.max), (9.0, 9.0));
    assert_eq!(entry.measurement.samples, None);
    assert_eq!(entry.warnings, []);
}

#[test]
fn histograms_are_in_nanoseconds() {
    let bins = |version: &str, side: &str| one(version, side).measurement.clat_ns.unwrap().bins;
    let old = "\"io_bytes\" : 1, \"clat\" : {\"max\" : 9, \"bins\" : {\"FIO_IO_U_PLAT_BITS\" : 6, \"FIO_IO_U_PLAT_VAL\" : 64, \"FIO_IO_U_PLAT_NR\" : 1216, \"5\" : 2, \"6\" : 0, \"128\" : 1}}";
    assert_eq!(bins("fio-2.14", old), [(5000, 2), (129_000, 1)]);
    let middle = "\"io_bytes\" : 1, \"clat\" : {\"max\" : 9, \"bins\" : {\"129\" : 4}}";
    assert_eq!(bins("fio-2.21", middle), [(129_000, 4)]);
    let new =
        "\"io_bytes\" : 1, \"clat_ns\" : {\"max\" : 9, \"bins\" : {\"2008\" : 4, \"4016\" : 1}}";
    assert_eq!(bins("fio-3.33", new), [(2008, 4), (4016, 1)]);
}

#[test]
fn clients_and_their_sum_have_scopes_of_their_own() {
    let text = r#"{"fio version" : "fio-3.33", "client_stats" : [
        {"jobname" : "a", "groupid" : 0, "hostname" : "left", "read" : {"io_bytes" : 1}},
        {"jobname" : "a", "groupid" : 0, "hostname" : "right", "read" : {"io_bytes" : 2}},
        {"jobname" : "All clients", "groupid" : 0, "read" : {"io_bytes" : 3}}]}
"#;
    let (entries, _) = read(text);
    let kinds: Vec<_> = entries
        .iter()
        .map(|e| (e.scope.kind, e.scope.host.as_deref()))
        .collect();
    assert_eq!(
        kinds,
        [
            (ScopeKind::Client, Some("left")),
            (ScopeKind::Client, Some("right")),
            (ScopeKind::AllClients, None)
        ]
    );
    assert_eq!(&*entries[1].machine.as_ref().unwrap().text, "right");
    assert_eq!(entries[2].scope.job, None);
}

#[test]
fn a_failed_job_is_no_result() {
    let text = r#"{"fio version" : "fio-3.33", "jobs" : [{"jobname" : "a", "error" : 13, "job options" : {"rw" : "randrw"},
        "read" : {"io_bytes" : 0}, "write" : {"io_bytes" : 0}}]}
"#;
    let (entries, diagnostics) = read(text);
    let directions: Vec<_> = entries.iter().map(|entry| entry.direction).collect();
    assert_eq!(directions, [Direction::Read, Direction::Write]);
    assert!(entries.iter().all(|entry| entry.errors[0].code == Some(13)));
    assert!(
        entries
            .iter()
            .all(|entry| entry.measurement.bytes_per_sec.is_none())
    );
    assert_eq!(diagnostics[0].code, Code::JOB_FAILED);
    // without options nobody knows which way the bytes were to go
    let (entries, diagnostics) = read(
        "{\"fio version\" : \"fio-2.1\", \"jobs\" : [{\"jobname\" : \"a\", \"error\" : 13}]}\n",
    );
    assert_eq!((entries.len(), diagnostics.len()), (0, 1));
}

#[test]
fn options_become_a_workload() {
    let text = r#"{"fio version" : "fio-3.39", "global options" : {"bs" : "64k", "ioengine" : "libaio", "gtod_reduce" : "1"},
        "jobs" : [{"jobname" : "a \"b\"", "job options" : {"rw" : "randwrite", "bs" : "4k", "runtime" : "2m", "time_based" : ""},
        "write" : {"io_bytes" : 4096}}]}
"#;
    let (entries, _) = read(text);
    let workload = entries[0].workload.as_deref().unwrap();
    let job = &workload.jobs()[0];
    assert_eq!(entries[0].scope.job.as_deref(), Some("a \"b\""));
    assert_eq!(
        (job.pattern, job.block_bytes),
        (Some(Pattern::RandWrite), Some(Bytes(4096)))
    );
    assert_eq!(
        (job.runtime_ns, job.time_based),
        (Nanos::new(120e9), Some(true))
    );
    assert_eq!(job.other, [("gtod_reduce".to_owned(), "1".to_owned())]);
}

/// Whether the second of two documents supersedes the first; each is timestamp, elapsed, io_bytes, runtime, largest latency.
fn goes_on(documents: [(u64, Option<u64>, u64, u64, u64); 2]) -> bool {
    let text: String = documents
        .iter()
        .map(|(at, elapsed, io, runtime, max)| {
            let elapsed = elapsed.map_or(String::new(), |e| format!("\"elapsed\" : {e}, "));
            format!(
                "{{\"fio version\" : \"fio-2.1\", \"timestamp\" : {at}, \"jobs\" : [{{\"jobname\" : \"a\", \"groupid\" : 0, {elapsed}\"read\" : {{\"io_bytes\" : {io}, \"runtime\" : {runtime}, \"clat\" : {{\"min\" : 3, \"max\" : {max}}}}}}}]}}\n"
            )
        })
        .collect();
    let log = Log::from_bytes("x", text.as_bytes()).unwrap();
    let mut lines = log.segments();
    let mut next = || {
        fio_json::read(&log, &mut lines)
            .unwrap()
            .documents
            .remove(0)
    };
    let (earlier, later) = (next(), next());
    supersedes(&later, &earlier)
}

#[test]
fn a_run_that_goes_on_is_told_from_another_run() {
    // status each second, of one start
    assert!(goes_on([
        (1001, Some(1), 10, 900, 7),
        (1002, Some(2), 20, 1900, 9)
    ]));
    // printed twice at the end
    assert!(goes_on([
        (1002, Some(2), 20, 1900, 9),
        (1002, Some(2), 20, 1900, 9)
    ]));
    // the same job again, begun when the first had ended
    assert!(!goes_on([
        (1010, Some(10), 10, 9900, 7),
        (1021, Some(10), 20, 9901, 9)
    ]));
    // less than before
    assert!(!goes_on([
        (1001, Some(1), 10, 900, 7),
        (1002, Some(2), 9, 1900, 9)
    ]));
    // without elapsed the extremes must be nested, and time must have gone by
    assert!(goes_on([
        (1001, None, 10, 900, 7),
        (1001, None, 20, 1900, 9)
    ]));
    assert!(!goes_on([
        (1001, None, 10, 900, 7),
        (1001, None, 20, 1900, 6)
    ]));
    assert!(!goes_on([
        (1001, None, 10, 900, 7),
        (1001, None, 10, 900, 7)
    ]));
}

#[test]
fn a_job_that_ran_and_moved_nothing_has_a_rate_of_nothing() {
    let side = |runtime: u32| {
        format!(
            r#"{{"io_bytes":0,"bw":0,"iops":0.0,"runtime":{runtime},"total_ios":0,"short_ios":0,"drop_ios":0}}"#
        )
    };
    let job = |read: u32| {
        format!(
            r#"{{"fio version":"fio-3.33","jobs":[{{"jobname":"t","groupid":0,"error":0,"job options":{{"rw":"randread"}},"read":{},"write":{}}}]}}"#,
            side(read),
            side(0)
        )
    };
    let (entries, _) = read(&job(10_000));
    let [entry] = &entries[..] else {
        panic!("{entries:?}")
    };
    assert_eq!(entry.direction, Direction::Read);
    assert_eq!(entry.measurement.bytes.as_ref().unwrap().hi().0, 0);
    let rate = entry.measurement.bytes_per_sec.as_ref().unwrap();
    assert_eq!(rate.lo().get(), 0.0);
    // printed in whole KiB/s
    assert!(rate.hi().get() < 1024.0);
    assert_eq!(
        entry.measurement.runtime_ns.as_ref().unwrap().lo().get(),
        1e10
    );
    // one that did not run has none
    assert_eq!(read(&job(0)).0, []);
}

/// Behind its last direction a job has more to say; whoever cut it off there says so with the result.
#[test]
fn a_job_that_is_cut_off_behind_its_directions_says_so() {
    let whole = "{\"jobs\" : [{\"jobname\" : \"a\", \"read\" : {\"io_bytes\" : 7, \"bw_bytes\" : 70}, \
                 \"sync\" : {\"total_ios\" : 1}}]}\n";
    let warnings = |text: &str| -> Vec<String> {
        let (entries, _) = read(text);
        assert_eq!(entries.len(), 1, "{text}");
        let messages = entries[0]
            .warnings
            .iter()
            .filter(|w| w.code == Code::INCOMPLETE);
        messages.map(|w| w.message.to_string()).collect()
    };
    assert_eq!(warnings(whole), [""; 0]);
    let behind = warnings(&whole[..whole.find("total_ios").unwrap()]);
    assert!(
        behind.len() == 1 && behind[0].contains("inside of this job"),
        "{behind:?}"
    );
    let inside = warnings(&whole[..whole.find("70}").unwrap() + 2]);
    assert!(
        inside.len() == 1 && inside[0].contains("inside of this direction"),
        "{inside:?}"
    );
}
