//! Hostile texts of moderate size: they end, lose nothing, and make no more than they are worth.
//!
//! `cargo bench --bench linear` shows that time grows as the size does; here it would only be slow.

use fio_parse::{Log, block, diagnostic, parse};

#[path = "../benches/adversaries.rs"]
mod adversaries;

const SIZE: usize = 60_000;

fn check(name: &str, text: &str) {
    let log = Log::from_bytes(name, text.as_bytes()).unwrap();
    let end = block::blocks(&log).iter().fold(0, |end, block| {
        assert_eq!(block.span.start, end, "{name}: a gap or an overlap");
        block.span.end
    });
    assert_eq!(end as usize, log.text().len(), "{name}: text was lost");
    let parsed = parse(&log);
    let lines = log.segments().count();
    assert!(
        parsed.records.len() <= lines,
        "{name}: more records than lines"
    );
    for diagnostic in &parsed.diagnostics {
        let shown = diagnostic::render(&log, diagnostic);
        assert!(shown.len() < 4000, "{name}: {shown}");
    }
}

#[test]
fn hostile_texts_end() {
    for (name, piece) in adversaries::REPEATED {
        check(name, &adversaries::text(piece, SIZE));
    }
}

#[test]
fn a_command_is_cut_where_its_jobs_inherit_too_much() {
    let text = adversaries::heirs(SIZE);
    check("heirs", &text);
    let log = Log::from_bytes("heirs", text.as_bytes()).unwrap();
    let block = &block::blocks(&log)[0];
    let block::Kind::Command(command) = &block.kind else {
        panic!("expected a command");
    };
    let jobs = command.workload.as_ref().unwrap().jobs();
    let options: usize = jobs.iter().map(|job| job.other.len()).sum();
    assert_eq!(jobs[0].other.len(), 200);
    assert!(
        (1..5000).contains(&options),
        "{options} options of one line"
    );
}
