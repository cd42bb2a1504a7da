//! Structures of real pastes, in short texts: what stands around figures, and what pasting did to them.
//!
//! Expected values are read off the texts.

use fio_parse::Log;
use fio_parse::record::{Direction, Record};

fn parsed(text: &str) -> fio_parse::Parsed {
    let log = Log::from_bytes("paste.txt", text.as_bytes()).unwrap();
    fio_parse::parse(&log)
}

fn records(text: &str) -> Vec<Record> {
    parsed(text).records
}

fn warned(record: &Record, code: &str) -> bool {
    record.warnings.iter().any(|w| w.code.as_str() == code)
}

const DD: &str = "1048576000 bytes (1.0 GB, 1000 MiB) copied, 2.5 s, 419 MB/s\n";

#[test]
fn a_line_of_a_script_above_a_dd_says_its_direction() {
    for (above, direction, told) in [
        ("1. Write test without cache", Direction::Write, true),
        ("2. Read test with dropped cache", Direction::Read, true),
        ("Reading back", Direction::Read, true),
        ("Start 1 of 5...", Direction::Write, false),
        // both, a setting, a tool's figure
        ("Read and write test", Direction::Write, false),
        ("read cache: on", Direction::Write, false),
        ("Timing reads 80 MB/s", Direction::Write, false),
    ] {
        for (open, close) in [("```\n", "```\n"), ("<pre>\n", "</pre>\n")] {
            let found = records(&format!("{open}{above}\n{DD}{close}"));
            assert_eq!(found.len(), 1, "{above}");
            assert_eq!(found[0].direction, direction, "{above}");
            assert_eq!(warned(&found[0], "direction-assumed"), !told, "{above}");
        }
    }
    // it is nobody's label
    let found = labels(&format!(
        "```\n1. Write test\n{DD}2. Write test, flushed\n{DD}```\n"
    ));
    assert_eq!(found, [(None, vec![]), (None, vec![])]);
    // a heading or a title behind it is nearer
    let found = records(&format!(
        "```\n1. Read test\n```\n\n## Writes\n\n```\n{DD}```\n"
    ));
    assert_eq!(found[0].direction, Direction::Write);
    assert!(!warned(&found[0], "direction-assumed"));
    // the nearest one counts, and what comes in between without such a word is none
    let found = records(&format!(
        "```\n1. Write test\n{DD}2. Read test\nStart 1 of 2...\n{DD}Start 2 of 2...\n{DD}```\n"
    ));
    let ways: Vec<Direction> = found.iter().map(|record| record.direction).collect();
    assert_eq!(ways, [Direction::Write, Direction::Read, Direction::Read]);
}

#[test]
fn a_dd_by_itself_does_not_say_its_direction() {
    let found = records(DD);
    assert!(warned(&found[0], "direction-assumed"));
    let found = records(&format!("$ dd if=/dev/zero of=a bs=1M count=1000\n{DD}"));
    assert!(!warned(&found[0], "direction-assumed"));
    let timed = "Benchmark 1: dd if=a bs=1M\n  Time (mean ± σ):      1.250 s ±  0.010 s    [User: 0.001 s, System: 0.400 s]\n  Range (min … max):    1.240 s …  1.260 s    10 runs\n";
    let found = records(timed);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].direction, Direction::Read);
    assert!(!warned(&found[0], "direction-assumed"));
}

#[test]
fn a_figure_said_of_reads_is_not_held_against_a_write() {
    use fio_parse::claim::Agreement;
    let post = |said: &str| {
        records(&format!(
            "$ dd if=/dev/zero of=a bs=1M count=1000\n1000+0 records in\n1000+0 records out\n{DD}\n{said}\n"
        ))
    };
    // 1048576000 bytes in 2.5 s are 419.4 MB/s
    for (said, wanted) in [
        (
            "The tool tells of 419 MB/s sequential write speed and 512.5 MB/s sequential reads.",
            [Agreement::Window, Agreement::Unchecked],
        ),
        (
            "The write speed is 419 MB/s, and it reads at 512.5 MB/s here.",
            [Agreement::Window, Agreement::Unchecked],
        ),
        (
            "We got 419 MB/s here and once even 512.5 MB/s of it.",
            [Agreement::Window, Agreement::None],
        ),
    ] {
        let found = post(said);
        assert_eq!(found.len(), 1);
        let agreed: Vec<Agreement> = found[0].claims.iter().map(|c| c.agrees_with).collect();
        assert_eq!(agreed, wanted, "{said}");
    }
}

/// Rate in bytes per second and time in seconds of each record.
fn figures(text: &str) -> Vec<(f64, f64)> {
    let round = |value: f64| (value * 1e3).round() / 1e3;
    let of = |record: &Record| {
        let m = &record.measurement;
        let rate = m.bytes_per_sec.as_ref().map_or(0.0, |r| r.value());
        let time = m.runtime_ns.as_ref().map_or(0.0, |t| t.value() / 1e9);
        (round(rate), round(time))
    };
    records(text).iter().map(of).collect()
}

const JOB: &str = "t: (groupid=0, jobs=1): err= 0: pid=77: Wed Apr 27 12:26:18 2022\n  read: IOPS=40, BW=40.0MiB/s (41.9MB/s)(400MiB/10000msec)\n  cpu          : usr=1.00%, sys=2.00%, ctx=3, majf=0, minf=4\n";

#[test]
fn emphasis_around_figures_is_read_through() {
    let plain = figures(DD);
    assert_eq!(plain[0].1, 2.5);
    for marked in [
        "**419 MB/s**",
        "***419 MB/s****",
        "`419 MB/s`",
        "[b]419 MB/s[/b]",
    ] {
        assert_eq!(figures(&DD.replace("419 MB/s", marked)), plain, "{marked}");
    }
    let plain = figures(JOB);
    assert_eq!(plain[0].1, 10.0);
    for (from, to) in [
        ("IOPS=40,", "**IOPS=40**,"),
        ("BW=40.0MiB/s (", "*BW=40.0MiB/s* ("),
        ("usr=1.00%,", "`usr=1.00%`,"),
    ] {
        let marked = JOB.replace(from, to);
        assert_ne!(marked, JOB);
        assert_eq!(figures(&marked), plain, "{to}");
        let log = Log::from_bytes("x", marked.as_bytes()).unwrap();
        for record in fio_parse::parse(&log).records {
            for printed in &record.measurement.iops.as_ref().unwrap().printed() {
                assert_eq!(log.get(printed.span), printed.text);
            }
        }
    }
}

#[test]
fn a_head_that_goes_on_with_its_figures_is_one() {
    for (from, to) in [
        ("2022\n  read:", "2022  read:"),
        ("pid=77: Wed Apr 27 12:26:18 2022\n", "pid=77:"),
    ] {
        let glued = JOB.replace(from, to);
        assert_ne!(glued, JOB);
        assert_eq!(figures(&glued), figures(JOB), "{to}");
    }
    let old = "t: (groupid=0, jobs=1): err= 0: pid=77: Wed Apr 27 12:26:18 2016  read : io=400.0MB, bw=40960KB/s, iops=40, runt= 10000msec\n";
    let found = records(old);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].scope.job.as_deref(), Some("t"));
    assert_eq!(
        found[0].measurement.runtime_ns.as_ref().unwrap().value(),
        1e10
    );
}

#[test]
fn a_report_in_a_string_of_another_log_is_read() {
    for end in ["\\n", "\\\\n"] {
        let text = format!(
            "{{\"level\":\"info\",\"stdout\":\"t: (g=0): rw=read{end}{}\"}}\n",
            JOB.trim_end().replace('\n', end)
        );
        assert_eq!(figures(&text), figures(JOB), "{text}");
    }
}

#[test]
fn an_empty_line_of_a_mail_is_one() {
    let text = "> $ time dd if=/dev/zero of=a bs=1M count=1000\n> 1000+0 records in\n> 1000+0 records out\n> 1048576000 bytes (1.0 GB) copied, 2.5 s, 419 MB/s\n>=20\n> real    0m2.600s\n> user    0m0.003s\n> sys     0m0.900s\n";
    let found = records(text);
    assert_eq!(
        found[0].measurement.wall_ns.as_ref().unwrap().value(),
        2.6e9
    );
}

#[test]
fn a_line_that_prose_quotes_is_no_second_result() {
    let line = "read: IOPS=40, BW=40.0MiB/s (41.9MB/s)(400MiB/10000msec)";
    assert_eq!(
        records(&format!("{JOB}\nNote the rate of `{line}` here\n")).len(),
        1
    );
    // nobody quotes what is not there
    let other = line.replace("40, BW=40.0MiB/s (41.9", "30, BW=30.0MiB/s (31.5");
    assert_eq!(records(&format!("{JOB}\nSecond run: `{other}`\n")).len(), 2);
}

#[test]
fn what_sg_dd_counts_is_no_number_of_bytes() {
    let text = "# time sg_dd if=/dev/sg1 of=x bs=64k count=100\n100+0 records in\n100+0 records out\n\nreal    0m0.187s\nuser    0m0.001s\nsys     0m0.141s\n";
    let found = records(text);
    assert_eq!(
        found[0].source.tool.implementation.as_deref(),
        Some("sg_dd")
    );
    assert_eq!(found[0].measurement.bytes, None);
    let found = records(&text.replace("sg_dd", "dd"));
    assert_eq!(
        found[0].measurement.bytes.as_ref().unwrap().value(),
        6_553_600.0
    );
}

#[test]
fn a_version_that_words_state_is_one() {
    for (said, wanted) in [
        ("**fio version**: 3.38", Some("fio-3.38")),
        (
            "Version fio-3.13-37-g0513, on a desktop.",
            Some("fio-3.13-37-g0513"),
        ),
        ("I use fio version 3.27 there.", Some("fio-3.27")),
        ("The kernel is version 5.15 here.", None),
        ("fio version 3.27 is fine, fio version 3.28 is not", None),
        // which never printed so
        ("fio version: 2.1", None),
    ] {
        let found = records(&format!("{said}\n\n{JOB}"));
        assert_eq!(found[0].source.tool.version.as_deref(), wanted, "{said}");
    }
    let found = records(&format!("fio version: 3.38\n\nfio-3.33\n{JOB}"));
    assert_eq!(found[0].source.tool.version.as_deref(), Some("fio-3.33"));
}

/// Machine and section of each record.
fn labels(text: &str) -> Vec<(Option<String>, Vec<String>)> {
    let of = |record: Record| {
        (
            record.machine.map(|label| label.text.to_string()),
            record
                .section
                .iter()
                .map(|label| label.text.to_string())
                .collect(),
        )
    };
    records(text).into_iter().map(of).collect()
}

#[test]
fn a_line_with_an_arrow_is_a_caption_of_its_own() {
    let dd = "1000+0 records in\n1000+0 records out\n";
    let text = format!(
        " ==> Round 1 of 2\n{dd}{DD} ==> Round 1/2 took 2.6 seconds. About 1 min to go.\n ==> Round 2 of 2\n{dd}{DD}"
    );
    let machines: Vec<_> = labels(&text)
        .into_iter()
        .map(|(machine, _)| machine)
        .collect();
    assert_eq!(
        machines,
        [
            Some("Round 1 of 2".to_owned()),
            Some("Round 2 of 2".to_owned())
        ]
    );
}

#[test]
fn another_persons_comment_has_none_of_the_labels_above() {
    let run = format!("```\n$ dd if=/dev/zero of=a bs=1M count=1000\n{DD}```\n");
    for line in [
        "someone commented on Nov 30",
        "someone · comment · 2026-11-30",
        "Some One wrote:",
    ] {
        let text = format!("On the SSD\n{run}\n{line}\n\n{run}");
        let found = labels(&text);
        assert_eq!(found[1], (None, vec![]), "{line}");
        assert_eq!(found[0].1.len() + usize::from(found[0].0.is_some()), 1);
    }
}

#[test]
fn what_brackets_add_is_not_what_a_sentence_names() {
    let run = "  write: io=400.0MB, bw=40960KB/s, iops=40, runt= 10000msec\n";
    let text = format!(
        "With HEAD as 9c19 (with the patches)\n\n{run}\nWith HEAD as 6b4c (without the patches)\n\n{run}"
    );
    let found: Vec<_> = labels(&text)
        .into_iter()
        .map(|(machine, _)| machine.unwrap())
        .collect();
    assert_eq!(
        found,
        [
            "With HEAD as 9c19 (with the patches)",
            "With HEAD as 6b4c (without the patches)"
        ]
    );
}

#[test]
fn commands_complaints_and_questions_label_nothing() {
    let run = format!("$ dd if=/dev/zero of=a bs=1M count=1000\n{DD}");
    for above in [
        "    hdparm -Tt --direct /dev/sda\n\n",
        "rm: cannot remove 'x': No such file or directory\n\n",
        "</div>\n\n",
        "Those are my figures. Is this normal?\n\n",
        " Timing cached reads: 70 MB in 2.00 seconds = 35.00 MB/sec\n Timing disk reads: 60 MB in 3.00 seconds = 20.00 MB/sec\n\n",
        "rw=read bs=1024k direct=0 iodepth=1 #one for each\nnumjobs=10 of them, one at a time and all together.\n\n",
        "root@box:[/] # uname -r\n2.4.18\n",
    ] {
        assert_eq!(
            labels(&format!("{above}{run}")),
            [(None, vec![])],
            "{above}"
        );
    }
    let prompted = run.replace("$ dd", "# dd");
    let text = format!("# cryptsetup status luks\n{prompted}");
    assert_eq!(labels(&text), [(None, vec![])]);
}

#[test]
fn of_several_commands_the_last_title_is_not_that_of_all_results() {
    let command = "```\n$ dd if=/dev/zero of=a bs=1M count=1000\n```\n";
    let text = format!(
        "Run plain:\n\n{command}\nRun tuned:\n\n{command}\nMine, plain\n\n{DD}\nMine, tuned\n\n{DD}"
    );
    let named = |label: &str| (Some(label.to_owned()), vec![]);
    assert_eq!(labels(&text), [named("Mine, plain"), named("Mine, tuned")]);
}

#[test]
fn a_paragraph_between_two_results_ends_the_caption() {
    let text = format!(
        "With the patch:\n\n{JOB}\nThen I booted the old kernel again, and ran it there.\n\n{JOB}"
    );
    let found: Vec<Vec<String>> = labels(&text)
        .into_iter()
        .map(|(machine, section)| machine.into_iter().chain(section).collect())
        .collect();
    assert_eq!(found.len(), 2);
    assert!(found[0].contains(&"With the patch".to_owned()), "{found:?}");
    assert!(
        !found[1].contains(&"With the patch".to_owned()),
        "{found:?}"
    );
}

#[test]
fn a_report_in_a_comment_of_a_program_is_read() {
    let comment: String = JOB.lines().map(|line| format!("// {line}\n")).collect();
    assert_eq!(
        figures(&format!("package main\n{comment}//\nimport x\n")),
        figures(JOB)
    );
}
