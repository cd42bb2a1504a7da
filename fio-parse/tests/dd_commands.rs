//! Which command each report of dd is of, what a `time` below it timed, and what is left of broken reports.

use fio_parse::record::WallCovers;
use fio_parse::{Direction, Log, Parsed, Record};

fn parsed(text: &str) -> Parsed {
    let log = Log::from_bytes("log", text.as_bytes()).unwrap();
    fio_parse::parse(&log)
}

fn records(text: &str) -> Vec<Record> {
    parsed(text).records
}

/// The command of each record, cut behind what tells it apart.
fn commands(text: &str) -> Vec<Option<String>> {
    let own = |record: Record| {
        record
            .workload
            .and_then(|workload| workload.command.clone())
    };
    records(text).into_iter().map(own).collect()
}

/// A report of `count` records of 1 MiB each.
fn report(count: u64) -> String {
    format!(
        "{count}+0 records in\n{count}+0 records out\n{} bytes (1 GB, 1 GiB) copied, 2.61234 s, {:.0} MB/s\n",
        count << 20,
        (count << 20) as f64 / 2.61234e6
    )
}

const WRITE: &str = "dd if=/dev/zero of=b bs=1M count=1024";
const READ: &str = "dd if=b of=/dev/null bs=1M";

fn some(commands: &[&str]) -> Vec<Option<String>> {
    commands
        .iter()
        .map(|&command| Some(command.to_owned()))
        .collect()
}

#[test]
fn several_commands_get_their_reports_in_order() {
    let two = report(1024) + &report(1024);
    for (text, wanted) in [
        (format!("$ {WRITE} && {READ}\n{two}"), [WRITE, READ]),
        (format!("$ sh -c '{WRITE}; {READ}'\n{two}"), [WRITE, READ]),
        (
            format!("$ cat t.sh\n{WRITE}\n{READ}\n$ sh t.sh\n{two}"),
            [WRITE, READ],
        ),
        // a prompt comes back when the command has ended, here without a word
        (
            format!("$ {WRITE} status=none\n$ {READ}\n{two}"),
            [READ, READ],
        ),
    ] {
        assert_eq!(commands(&text), some(&wanted), "{text}");
    }
    let found = records(&format!("$ {WRITE} && {READ}\n{two}"));
    assert_eq!(
        [found[0].direction, found[1].direction],
        [Direction::Write, Direction::Read]
    );
    // a loop over both, and one over each
    let small = "dd if=/dev/zero of=b bs=1M count=8";
    let (a, b) = (report(1024), report(8));
    assert_eq!(
        commands(&format!(
            "for i in 1 2; do {WRITE}; {small}; done\n{a}{b}{a}{b}"
        )),
        some(&[WRITE, small, WRITE, small])
    );
    assert_eq!(
        commands(&format!("{WRITE}\n{small}\n\n{a}{a}{b}{b}")),
        some(&[WRITE, WRITE, small, small])
    );
}

#[test]
fn what_runs_together_is_told_by_figures_or_not_at_all() {
    let part = "0+5975 records in\n0+5975 records out\n100000000 bytes transferred in 6.401760 secs (15620704 bytes/sec)\n";
    let whole = "100+0 records in\n100+0 records out\n100000000 bytes transferred in 0.072270 secs (1383701612 bytes/sec)\n";
    let pipe =
        "$ dd if=/dev/zero bs=1000000 count=100 | curl -T - host | dd bs=1000000 of=/dev/null\n";
    let (one, other) = (
        "dd if=/dev/zero bs=1000000 count=100",
        "dd bs=1000000 of=/dev/null",
    );
    assert_eq!(
        commands(&format!("{pipe}{whole}{part}")),
        some(&[one, other])
    );
    assert_eq!(
        commands(&format!("{pipe}{part}{whole}")),
        some(&[other, one])
    );
    // curl's meter comes between the lines of one report, which may be of either
    let meter = "100+0 records in\n100+0 records out\n  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\n100000000 bytes (100 MB, 95 MiB) copied, 0.330937 s, 302 MB/s\n";
    let found = records(&format!("{pipe}{meter}"));
    assert_eq!(found.len(), 1);
    assert!(found[0].workload.is_none() && found[0].measurement.records_in.is_some());
    // a list of processes says nothing of their end
    let rows = "1586 be/7 user 0.00 B/s 207.45 M/s 0.00 % 99.99 % dd if=/dev/zero of=b bs=1M count=8\n1585 be/0 user 0.00 B/s 489.00 M/s 0.00 % 89.79 % dd if=/dev/zero of=c bs=1M count=8\n";
    let text = format!("{rows}{}{}", report(8), report(8));
    assert_eq!(commands(&text), [None, None]);
}

#[test]
fn a_command_is_lent_only_to_what_may_be_its_report() {
    let (a, b) = (report(1024), report(8));
    // the same command again and again, with nothing in between
    assert_eq!(
        commands(&format!("$ {WRITE}\n{a}{a}")),
        some(&[WRITE, WRITE])
    );
    // less than all of an endless source, once a run has ended
    assert_eq!(commands(&format!("$ {WRITE}\n{a}{b}"))[1], None);
    // more than was asked for
    let small = "dd if=/dev/zero of=b bs=1M count=8";
    assert_eq!(commands(&format!("$ {small}\n{b}{a}"))[1], None);
    // another person, paragraph, heading, or depth of quoting; another command
    for between in [
        "Bob:\n",
        "Then I tried it with another file system.\n\n",
        "## Disk B\n\n",
        "$ ./test.sh\n",
    ] {
        let text = format!("Alice:\n$ {WRITE}\n{a}\n{between}{a}");
        assert_eq!(commands(&text), [Some(WRITE.to_owned()), None], "{text}");
    }
    let quoted = |text: &str| {
        text.lines()
            .map(|line| format!("> {line}\n"))
            .collect::<String>()
    };
    let text = format!("{}{a}", quoted(&format!("$ {WRITE}\n{a}")));
    assert_eq!(commands(&text), [Some(WRITE.to_owned()), None]);
    // stated once for several
    let text = format!("$ {WRITE}\n\ndisk one:\n{a}\ndisk two:\n{a}");
    assert_eq!(commands(&text), some(&[WRITE, WRITE]));
    let text = format!("I ran {WRITE} on each.\n\n{a}\ndisk two:\n{a}");
    assert_eq!(commands(&text), some(&[WRITE, WRITE]));
    // a running dd asked for its state
    let text = format!("$ {WRITE} &\n{b}$ kill -USR1 4711\n{a}");
    assert_eq!(commands(&text), some(&[WRITE]));
}

#[test]
fn labels_of_two_persons_are_not_nested() {
    let text = format!("Alice:\n$ {WRITE}\n{}\nBob:\n{}", report(1024), report(9));
    let found = records(&text);
    let labels = |record: &Record| {
        let labels = record.machine.iter().chain(&record.section);
        labels
            .map(|label| label.text.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(labels(&found[0]), ["Alice"]);
    assert_eq!(labels(&found[1]), ["Bob"]);
}

#[test]
fn a_command_that_cannot_be_it_is_refused_with_a_word() {
    let found = records(&format!("$ dd if=/dev/zero of=b bs=64k\n{}", report(1024)));
    assert!(found[0].workload.is_none());
    assert_eq!(found[0].warnings[0].code.as_str(), "count-differs");
    // the write that failed counts in the bytes alone
    let full = "$ dd if=/dev/zero of=b bs=1M\ndd: error writing 'b': No space left on device\n7880+0 records in\n7879+0 records out\n8262189056 bytes (8.3 GB, 7.7 GiB) copied, 19.3665 s, 427 MB/s\n";
    assert!(records(full)[0].workload.is_some());
}

#[test]
fn only_reports_of_dd_have_commands_of_dd() {
    let screen = "$ dd if=/dev/zero of=b bs=1M count=8\n8+0 records in\n8+0 records out\n\n$ ddrescue /dev/sda img map\n     ipos:   10737 MB, non-trimmed:        0 B,  current rate:  98173 kB/s\n     opos:   10737 MB, non-scraped:        0 B,  average rate:    102 MB/s\nnon-tried:        0 B,  bad-sector:        0 B,    error rate:       0 B/s\n  rescued:   10737 MB,   bad areas:        0,        run time:      1m 45s\n";
    let found = records(screen);
    assert_eq!(found[1].source.tool.name, "ddrescue");
    assert!(found[1].workload.is_none());
}

#[test]
fn a_report_may_go_on_in_the_line_of_its_command() {
    let found = records(
        "root@:~# dd if=/dev/mtdblock3 of=/dev/null ibs=4K obs=1K count=10240 2048+0 records in\n8192+0 records out\n8388608 bytes (8.0MB) copied, 10.029590 seconds, 816.8KB/s\n",
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].direction, Direction::Read);
    assert_eq!(found[0].measurement.records_in.unwrap().full, 2048);
    let workload = found[0].workload.as_ref().unwrap();
    assert_eq!(workload.dd().unwrap().count, Some(10240));
}

#[test]
fn a_time_below_another_command_is_of_that_one() {
    for other in ["$ time ./restore.sh", "user@box:~$ time sync", "time make"] {
        let text = format!(
            "```\n$ {WRITE}\n{}{other}\n\nreal\t7m9.100s\nuser\t0m0.001s\nsys\t0m0.001s\n```\n",
            report(1024)
        );
        assert_eq!(records(&text)[0].measurement.wall_ns, None, "{other}");
    }
    // all parts of a pipeline are covered
    let text = format!(
        "$ time {WRITE} | dd of=c bs=1M\n{}0+9 records in\n0+9 records out\n1048576 bytes (1.0 MB, 1.0 MiB) copied, 2.7 s, 388 kB/s\n\nreal\t0m2.900s\nuser\t0m0.001s\nsys\t0m0.001s\n",
        report(1024)
    );
    let found = records(&text);
    assert_eq!(found[1].measurement.wall_covers, Some(WallCovers::Pipeline));
    // a comment without words is no text
    let text = "#949296+0 records in\n#949296+0 records out\n#486039552 bytes (486 MB, 464 MiB) copied, 211.375 s, 2.3 MB/s\n#\n#real\t3m31.434s\n#user\t0m1.519s\n#sys\t0m10.352s\n";
    assert!(records(text)[0].measurement.wall_ns.is_some());
}

#[test]
fn ctrl_c_is_no_part_of_the_count() {
    for (text, count) in [
        (
            "^C5000+0 records in\n4999+0 records out\n5241831424 bytes (5.2 GB, 4.9 GiB) copied, 50.1234 s, 105 MB/s\n",
            5000,
        ),
        (
            "^C117+0 Datensätze ein\n116+0 Datensätze aus\n59392 Bytes (59 kB, 58 KiB) kopiert, 1,51234 s, 39,3 kB/s\n",
            117,
        ),
        (
            "^C117+0 レコード入力\n116+0 レコード出力\n59392 bytes (59 kB, 58 KiB) copied, 1.51234 s, 39.3 kB/s\n",
            117,
        ),
        (
            "^C\n117+0 records in\n116+0 records out\n59392 bytes (59 kB, 58 KiB) copied, 1.51234 s, 39.3 kB/s\n",
            117,
        ),
        (
            "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 1 s, 1.1 GB/s\n2147483648 bytes (2.1 GB, 2.0 GiB) copied, 9 s, 239 MB/s\n^C2148+0 records in\n2147+0 records out\n2251292672 bytes (2.3 GB, 2.1 GiB) copied, 9.51234 s, 237 MB/s\n",
            2148,
        ),
    ] {
        let found = records(&format!("NAS:\n$ dd if=/dev/zero of=a\n{text}"));
        assert_eq!(found.len(), 1, "{text}");
        let m = &found[0].measurement;
        assert_eq!(m.records_in.unwrap().full, count, "{text}");
        assert_eq!(m.records_out.unwrap().full, count - 1, "{text}");
        assert!(found[0].interrupted, "{text}");
        let labels: Vec<&str> = found[0].section.iter().map(|l| &*l.text).collect();
        assert_eq!(labels, ["NAS"], "{text}");
    }
}

#[test]
fn translations_are_of_gnu() {
    for text in [
        "117+0 Datensätze ein\n116+0 Datensätze aus\n59392 Bytes (59 kB, 58 KiB) kopiert, 1,5 s, 39,6 kB/s\n",
        "117+0 レコード入力\n116+0 レコード出力\n59392 bytes (59 kB, 58 KiB) copied, 1.5 s, 39.6 kB/s\n",
        "记录了117+0 的读入\n记录了116+0 的写出\n59392字节（59 kB，58 KiB）已复制，1.5 s，39.6 kB/s\n",
    ] {
        assert_eq!(
            records(text)[0].source.tool.implementation.as_deref(),
            Some("gnu"),
            "{text}"
        );
    }
}

#[test]
fn what_is_left_of_broken_reports_names_nothing() {
    let broken = format!(
        "$ {WRITE}\n1O24+0 records in\n1O24+0 records out\n1O73741824 bytes (1.1 GB, 1.0 GiB) copied, 5.12 s, 21O MB/s\n\n$ {WRITE}\n1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 12.61\n234 s, 85.1 MB/s\n\n$ {WRITE}\n{}",
        report(1024)
    );
    let parsed = parsed(&broken);
    assert_eq!(parsed.records.len(), 2);
    for record in &parsed.records {
        assert!(
            record.machine.is_none() && record.section.is_empty(),
            "{record:?}"
        );
    }
    // what is not taken is told
    let told = parsed
        .diagnostics
        .iter()
        .filter(|d| d.code.as_str() == "unreadable");
    assert_eq!(told.count(), 2);
}
