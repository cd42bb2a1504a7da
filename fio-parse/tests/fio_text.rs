//! fio's normal text through the whole pipeline: what the parts of a report say of each other.

use fio_parse::record::{Record, ScopeKind};
use fio_parse::{Bytes, Log, Parsed, parse};
use std::fs;
use std::path::Path;

fn read(text: &str) -> Parsed {
    parse(&Log::from_bytes("x", text.as_bytes()).unwrap())
}

fn codes(parsed: &Parsed) -> Vec<&str> {
    let own = parsed.records.iter().flat_map(|record| &record.warnings);
    own.chain(&parsed.diagnostics)
        .map(|d| d.code.as_str())
        .collect()
}

fn is_job(record: &&Record) -> bool {
    record.scope.kind == ScopeKind::Job
}

const JOB: &str = "\
test: (groupid=0, jobs=1): err= 0: pid=4022: Mon Nov 30 14:41:52 2026
  read: IOPS=39.8k, BW=155MiB/s (163MB/s)(22.2MiB/143msec)
     issued rwts: total=5689,0,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
   READ: bw=155MiB/s (163MB/s), 155MiB/s-155MiB/s (163MB/s-163MB/s), io=22.2MiB (23.3MB), run=143-143msec
";

#[test]
fn a_report_is_one_run_of_jobs_and_groups() {
    let parsed = read(&format!(
        "fio-3.33\nStarting 1 process\n\n{JOB}\n{}",
        JOB.replace("pid=4022", "pid=4030")
    ));
    let shown: Vec<_> = parsed
        .records
        .iter()
        .map(|r| (r.run, r.scope.kind))
        .collect();
    assert_eq!(
        shown,
        [
            (1, ScopeKind::Job),
            (1, ScopeKind::Group),
            (2, ScopeKind::Job),
            (2, ScopeKind::Group)
        ]
    );
    let first = &parsed.records[0];
    assert_eq!(first.source.tool.version.as_deref(), Some("fio-3.33"));
    assert_eq!(
        (
            first.scope.job.as_deref(),
            first.scope.group,
            first.scope.jobs
        ),
        (Some("test"), Some(0), Some(1))
    );
    assert_eq!(first.source.line, Some(5));
    assert_eq!(codes(&parsed), [] as [&str; 0]);
    // without the banner, the version is assumed, which is said once
    assert_eq!(codes(&read(JOB)), ["version-assumed"]);
}

#[test]
fn figures_are_held_against_the_command() {
    let under = |command: &str| read(&format!("$ {command}\nfio-3.33\n\n{JOB}"));
    assert_eq!(
        codes(&under("fio --name=test --rw=read --bs=4k --size=1g")),
        [] as [&str; 0]
    );
    let other = under("fio --name=test --rw=read --bs=8k --size=1g");
    assert_eq!(codes(&other), ["disagree"]);
    assert!(
        other.records[0].warnings[0]
            .message
            .starts_with("5689 I/Os of 8192 bytes")
    );
    // several sizes can't be checked so
    assert_eq!(
        codes(&under(
            "fio --name=test --rw=read --bssplit=4k/50:8k/50 --size=1g"
        )),
        [] as [&str; 0]
    );
}

#[test]
fn the_command_tells_what_k_means() {
    let old = "test: (groupid=0, jobs=1): err= 0: pid=1\n  read : io=22876KB, bw=185984KB/s, iops=46495 , runt=   123msec\n";
    let bytes = |command: &str| {
        let parsed = read(&format!("$ {command}\nfio 2.0\n{old}"));
        let bytes = parsed.records[0].measurement.bytes.clone().unwrap();
        (
            bytes.possible().contains(Bytes(22_876 * 1024)),
            bytes.possible().contains(Bytes(22_876_000)),
        )
    };
    assert_eq!(
        bytes("fio --name=test --rw=read --bs=4k --size=1g"),
        (true, false)
    );
    assert_eq!(
        bytes("fio --name=test --rw=read --bs=4k --size=1g --kb_base=1000"),
        (false, true)
    );
    // a job file that is not there may say anything
    assert_eq!(bytes("fio test.fio"), (true, true));
}

#[test]
fn failed_jobs_are_no_results() {
    let failed = JOB.replace(
        "err= 0:",
        "err=28 (file:io_u.c:1876, func=io_u error, error=No space left on device):",
    );
    let parsed = read(&format!(
        "fio-3.33\nfio: pid=4022, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device\n\n{failed}"
    ));
    assert_eq!(parsed.records.len(), 2);
    assert!(
        parsed
            .records
            .iter()
            .all(|r| r.errors[0].code == Some(28) && r.errors[0].text == "No space left on device")
    );
    assert_eq!(codes(&parsed), [] as [&str; 0]);
    // a job that moved nothing has no section: the line that tells of it must not get lost
    let lost = read(
        "fio-3.33\nfio: pid=7, err=13/file:filesetup.c:1, func=open, error=Permission denied\n\nRun status group 0 (all jobs):\n",
    );
    assert_eq!((lost.records.len(), codes(&lost)), (0, vec!["job-failed"]));
    let empty = read(
        "bad: (groupid=0, jobs=1): err=22 (file:x.c:1, func=y, error=Invalid argument): pid=7\n  cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=1\n",
    );
    assert_eq!(
        (empty.records.len(), codes(&empty)),
        (0, vec!["job-failed"])
    );
}

#[test]
fn runs_that_were_ended_say_so() {
    for ended in [
        "fio: terminating on signal 2\n",
        "^Cbs: 1 (f=1): [r(1)][12.5%][r=155MiB/s][eta 00m:07s]\n",
    ] {
        let parsed = read(&format!(
            "fio-3.33\nStarting 1 process\n{ended}\n{JOB}\nfio-3.33\n{JOB}"
        ));
        let flags: Vec<_> = parsed.records.iter().map(|r| r.interrupted).collect();
        assert_eq!(flags, [true, true, false, false]);
    }
}

/// fio 3.33 says it on standard output above JSON and terse lines too.
#[test]
fn ended_runs_say_so_in_the_forms_for_machines() {
    let ended = "\nfio: terminating on signal 2\n";
    let terse = include_str!("../../fixtures/runs/randwrite-3.33/terse.txt");
    let line = terse
        .lines()
        .find(|line| line.starts_with("3;fio-3"))
        .unwrap();
    let json = "{\"fio version\":\"fio-3.33\",\"jobs\":[{\"jobname\":\"a\",\"groupid\":0,\"error\":0,\"write\":{\"io_bytes\":4096,\"bw_bytes\":4096000,\"iops\":1000.0,\"runtime\":1,\"total_ios\":1}}]}";
    for report in [line, json] {
        let flags = |text: &str| -> Vec<_> {
            let parsed = read(text);
            parsed.records.iter().map(|r| r.interrupted).collect()
        };
        let plain = flags(&format!("{report}\n"));
        assert!(!plain.is_empty() && !plain.contains(&true), "{report}");
        let cut = flags(&format!("{ended}{report}\n"));
        assert!(
            cut.len() == plain.len() && !cut.contains(&false),
            "{report}"
        );
        // what follows is another run
        let both = flags(&format!("{ended}{report}\n\nThe same again:\n\n{report}\n"));
        assert_eq!(both, [cut, plain].concat(), "{report}");
    }
}

#[test]
fn lines_that_were_cut_loose_find_their_section() {
    let text = "fio-3.33\n```\nread: IOPS=1222, BW=4891KiB/s (5008kB/s)(47.8MiB/10001msec)\n```\nThe next lines are about latency.\n```\n    clat percentiles (usec):\n     | 99.00th=[ 3261]\n```\n";
    let parsed = read(text);
    assert_eq!(parsed.records.len(), 1);
    let clat = parsed.records[0].measurement.clat_ns.as_ref().unwrap();
    assert_eq!(clat.percentiles[0].reading.hi().get(), 3_261_000.0);
    // below another result, or below none, they belong to nothing
    let alone = read("    clat percentiles (usec):\n     | 99.00th=[ 3261]\n");
    assert_eq!(
        (alone.records.len(), codes(&alone)),
        (0, vec!["loose-lines"])
    );
}

#[test]
fn jobs_are_held_against_their_group() {
    // two jobs of 22.2 MiB in a group of 22.2 MiB
    let section = JOB.split("\nRun status").next().unwrap();
    let parsed = read(&format!(
        "fio-3.33\n{section}{}",
        JOB.replace("test:", "more:")
    ));
    assert_eq!(codes(&parsed), ["disagree"]);
    assert_eq!(parsed.records.iter().filter(is_job).count(), 2);
    assert!(
        parsed.records[2].warnings[0]
            .message
            .contains("22.2MiB is printed for their group")
    );
}

#[test]
fn progress_that_was_not_overwritten_is_no_name() {
    let glued = format!(
        "fio-3.33\nJobs: 1 (f=1): [r(1)][100.0%][r=155MiB/s][r=39.8k IOPS][eta 00m:00s]{JOB}"
    );
    assert_eq!(read(&glued).records[0].scope.job.as_deref(), Some("test"));
}

#[test]
fn the_file_that_a_line_was_grepped_from_names_it() {
    let line = "read: IOPS=39.8k, BW=155MiB/s (163MB/s)(22.2MiB/143msec)";
    let parsed = read(&format!("a.log:  {line}\nb.log:  {line}\n"));
    let names: Vec<_> = parsed
        .records
        .iter()
        .map(|r| r.machine.as_ref().unwrap().text.to_string())
        .collect();
    assert_eq!(names, ["a.log", "b.log"]);
}

/// A JSON value without the places that its parts were read from.
fn without_places(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.remove("span");
            fields.values_mut().for_each(without_places);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(without_places),
        _ => {}
    }
}

#[test]
fn the_quick_readers_read_what_the_tolerant_ones_do() {
    // a return or a blank at the end of each line sends it to the tolerant readers
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut count = 0;
    for (folder, file) in
        [("logs", "input.txt"), ("runs", "normal.txt")].map(|(a, b)| (folder.join(a), b))
    {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path().join(file);
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            if text.contains('\r') {
                continue;
            }
            let read = |text: &str| -> Vec<serde_json::Value> {
                let log = Log::from_bytes("x", text.as_bytes()).unwrap();
                let records = parse(&log).records;
                let mut values: Vec<_> = records
                    .iter()
                    .map(|record| serde_json::to_value(record).unwrap())
                    .collect();
                values.iter_mut().for_each(without_places);
                values
            };
            let quick = read(&text);
            count += quick.len();
            for end in ["\r\n", " \n"] {
                assert_eq!(quick, read(&text.replace('\n', end)), "{}", path.display());
            }
        }
    }
    assert!(count > 50, "{count} records in the fixtures");
}
