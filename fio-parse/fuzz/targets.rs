//! What is fuzzed, and what must hold whatever comes in. Each function panics where it does not.
//!
//! One file for libFuzzer's targets and for the test that replays seeds and mutations on stable Rust.

use fio_parse::assemble::parse_blocks;
use fio_parse::block::{Kind, blocks};
use fio_parse::record::{read_jsonl, write_jsonl};
use fio_parse::workload::command::parse_command;
use fio_parse::workload::jobfile::{looks_like_job_file, parse_job_file};
use fio_parse::{Diagnostic, Log, Record, Span, Workload, diagnostic, explain, parse as parse_log};
use serde_json::Value;

/// Any bytes as a log: blocks, records, diagnostics and the explanation of it.
pub fn parse(bytes: &[u8]) {
    let log = Log::from_bytes("fuzzed", bytes).expect("an input is far below 4 GiB");
    let mut end = 0;
    for block in blocks(&log) {
        assert_eq!(block.span.start, end, "blocks leave no gap and no overlap");
        assert!(!block.span.is_empty(), "a block has text");
        end = block.span.end;
        if let Kind::Prose(prose) = &block.kind {
            assert_eq!(log.get(prose.span), prose.text);
        }
    }
    assert_eq!(end as usize, log.text().len(), "blocks cover the log");

    let parsed = parse_log(&log);
    // logs of nothing but reports are read in another way, which must not show
    assert_eq!(parsed, parse_blocks(&log, blocks(&log)));
    for record in &parsed.records {
        let span = record.source.span.expect("what was read has a place");
        let line = record.source.line.expect("what was read has a line");
        assert_eq!(log.line_column(span.start).0, line);
        log.get(span);
        sound(
            &serde_json::to_value(record).expect("a record is JSON"),
            &log,
        );
        diagnostics(&log, &record.warnings);
    }
    diagnostics(&log, &parsed.diagnostics);
    round_trip(&parsed.records);

    let explained = explain(&log);
    let segments = log.segments().count();
    // what was read of a result stands between the lines, with another mark in the margin
    let shown = explained
        .lines()
        .filter(|line| line.chars().nth(13) == Some('│'));
    assert_eq!(shown.count(), segments, "each line is explained once");
}

/// Any bytes as JSON Lines of records: what is read is written so that it is read the same.
pub fn jsonl(bytes: &[u8]) {
    let records: Vec<Record> = read_jsonl(bytes).flatten().collect();
    round_trip(&records);
}

/// Any text as a command: what is found asks for the same test when it is printed and read again.
pub fn command(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(first) = parse_command(&text) else {
        return;
    };
    let span = first.span.expect("a command has a place");
    let found = &text[span.start as usize..span.end as usize];
    assert_eq!(first.command.as_deref(), Some(found));
    let _ = first.to_command();
    // what a shell would have put in is taken as it is written: open words have no place in a test of equality
    let mut plain = Workload::new(first.written_as, first.test.clone());
    plain.program.clone_from(&first.program);
    let printed = plain.to_command();
    if printed == "dd" {
        // nothing is left that would tell a command from prose
        return;
    }
    let again = match parse_command(&printed) {
        Ok(again) => again,
        Err(error) => panic!("{printed:?}: {error}"),
    };
    assert_eq!(again.test, plain.test, "{printed:?}");
    assert_eq!(again.program, plain.program, "{printed:?}");
    assert_eq!(again.key, plain.key, "{printed:?}");
}

/// Any text as a job file: its jobs come back from the file that is printed of them.
pub fn job_file(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = looks_like_job_file(&text);
    let first = parse_job_file(&text);
    for diagnostic in &first.diagnostics {
        if let Some(span) = diagnostic.span {
            let _ = &text[span.start as usize..span.end as usize];
        }
    }
    if let Some(printed) = first.workload.to_job_file() {
        let again = parse_job_file(&printed);
        assert_eq!(again.workload.test, first.workload.test, "{printed:?}");
        assert_eq!(again.workload.key, first.workload.key, "{printed:?}");
    }
}

fn diagnostics(log: &Log<'_>, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        if let Some(span) = diagnostic.span {
            log.get(span);
        }
        assert!(!diagnostic::render(log, diagnostic).is_empty());
    }
}

/// What is written is read back as it was.
fn round_trip(records: &[Record]) {
    let mut lines = Vec::new();
    write_jsonl(records, &mut lines).expect("writing to memory does not fail");
    let again: Vec<Record> = read_jsonl(&*lines)
        .map(|record| record.expect("what was written is a record"))
        .collect();
    assert_eq!(again, records);
}

/// Intervals hold their values, and what is said to be printed stands where it is said to stand.
fn sound(value: &Value, log: &Log<'_>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| sound(item, log)),
        Value::Object(map) => {
            if let (Some(lo), Some(value), Some(hi)) =
                (map.get("lo"), map.get("value"), map.get("hi"))
            {
                let [lo, value, hi] =
                    [lo, value, hi].map(|number| number.as_f64().expect("a bound is a number"));
                assert!(lo <= value && value <= hi, "{lo} <= {value} <= {hi}");
                assert!(lo >= 0.0 && hi.is_finite());
            }
            if let (Some(Value::String(text)), Some(span)) = (map.get("text"), map.get("span"))
                && !map.contains_key("by")
                && let Ok(span) = serde_json::from_value::<Span>(span.clone())
            {
                assert_eq!(log.get(span), text, "a figure is a slice of the log");
            }
            map.values().for_each(|value| sound(value, log));
        }
        _ => {}
    }
}
