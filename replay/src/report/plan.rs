//! A plan in words, and how close a run came to its original.

use std::fmt::Write;

use super::span;
use super::text::job_line;
use crate::caution::Caution;
use crate::outcome::Outcome;
use crate::outcome::records;
use crate::plan::dd::{ConvSync, DdPlan, Sink, Source};
use crate::plan::fio::FioPlan;
use crate::plan::{Note, Plan, TestPlan, binary};

/// What would be done: what, how many bytes, how long, and what differs from the original.
pub fn plan(plan: &Plan) -> String {
    let mut text = String::new();
    match &plan.test {
        TestPlan::Fio(fio) => fio_lines(&mut text, fio),
        TestPlan::Dd(dd) => dd_lines(&mut text, dd),
    }
    let _ = writeln!(text, "  on disk: {}", binary(plan.file_bytes()));
    let _ = match (plan.written_bytes(), plan.longest_ns()) {
        (Some(bytes), _) => writeln!(text, "  written: {} at most", binary(bytes)),
        (None, Some(_)) => writeln!(text, "  written: as much as the time allows"),
        (None, None) => Ok(()),
    };
    if let Some(ns) = plan.longest_ns() {
        let _ = writeln!(
            text,
            "  time: {} at most, beside laying out and flushing",
            span(ns)
        );
    }
    let _ = writeln!(text, "  compared with the original: {}", plan.verdict());
    notes(&mut text, &plan.notes);
    text
}

fn fio_lines(text: &mut String, plan: &FioPlan) {
    let mut shown = 0;
    while let Some(job) = plan.jobs.get(shown) {
        let clones = plan.jobs[shown..]
            .iter()
            .take_while(|other| other.section == job.section)
            .count();
        let _ = write!(text, "  job {}", job_line(job));
        if clones > 1 {
            let _ = write!(text, ", {clones} at a time");
        }
        let file = &plan.files[job.files[0]];
        let how = if file.written_in.is_some() {
            "written before"
        } else {
            "reserved before"
        };
        let _ = match job.files.len() {
            1 => write!(text, "; file of {}, {how}", binary(file.bytes)),
            many => write!(text, "; {many} files of {}, {how}", binary(file.bytes)),
        };
        if job.region != file.bytes {
            let _ = write!(
                text,
                ", of which {} from {} on",
                binary(job.region),
                binary(job.offset)
            );
        }
        let _ = match job.runtime_ns {
            Some(ns) if job.time_based => writeln!(text, "; for {}", span(ns)),
            Some(ns) => writeln!(
                text,
                "; {} in at most {}",
                binary(job.bytes_limit()),
                span(ns)
            ),
            None => writeln!(text, "; {}", binary(job.bytes_limit())),
        };
        shown += clones;
    }
}

fn dd_lines(text: &mut String, plan: &DdPlan) {
    let source = match plan.source {
        Source::Zero => "zeros (/dev/zero)",
        Source::Random => "random bytes (/dev/urandom)",
        Source::File => "a file of random bytes",
    };
    let sink = match plan.sink {
        Sink::File if plan.overwrite => "a file that exists",
        Sink::File => "a new file",
        Sink::Null => "/dev/null",
    };
    let _ = write!(
        text,
        "  dd of {source} to {sink}: {} blocks of {}",
        plan.count,
        binary(plan.block)
    );
    if plan.tail > 0 {
        let _ = write!(text, " and one of {}", binary(plan.tail));
    }
    if plan.output_block != plan.block {
        let _ = write!(text, ", written in blocks of {}", binary(plan.output_block));
    }
    for (from, word) in [(plan.skip, "of the source"), (plan.seek, "of the target")] {
        if from > 0 {
            let _ = write!(text, ", from {} {word} on", binary(from));
        }
    }
    for (on, word) in [
        (plan.direct_in, "O_DIRECT for reading"),
        (plan.direct_out, "O_DIRECT"),
        (plan.sync, "O_SYNC"),
        (plan.dsync, "O_DSYNC"),
    ] {
        if on {
            let _ = write!(text, ", {word}");
        }
    }
    text.push_str(match plan.conv_sync {
        ConvSync::None => "",
        ConvSync::Data => ", then fdatasync",
        ConvSync::Full => ", then fsync",
    });
    if let Some(ns) = plan.runtime_ns {
        let _ = write!(text, ", cut off after {}", span(ns));
    }
    text.push_str(if plan.sync_after {
        "; then fsync and syncfs, timed apart\n"
    } else {
        "\n"
    });
}

fn notes(text: &mut String, notes: &[Note]) {
    let mut presentation = Vec::new();
    for note in notes {
        match &note.detail {
            Some(option) if note.id() == "presentation" => presentation.push(option.as_str()),
            _ => {
                let spoiled = match note.affects() {
                    [] => String::new(),
                    figures => format!(" ({})", figures.join(", ")),
                };
                let _ = writeln!(
                    text,
                    "    [{}] {}{spoiled}: {}",
                    note.id(),
                    note.level(),
                    note.sentence()
                );
            }
        }
    }
    if !presentation.is_empty() {
        let _ = writeln!(
            text,
            "    [presentation] exact: without effect on the I/O: {}",
            presentation.join(", ")
        );
    }
}

/// The fidelity of a run, below its report.
pub fn fidelity(plan: &Plan, outcome: &Outcome) -> String {
    let verdict = records::fidelity(plan, outcome).verdict;
    let mut text = format!("\nCompared with the original: {verdict}\n");
    notes(&mut text, &plan.notes);
    notes(&mut text, &records::run_notes(plan, outcome));
    text
}

/// What is doubtful about the figures, below that.
pub fn cautions(list: &[Caution]) -> String {
    let mut text = String::new();
    for caution in list {
        if text.is_empty() {
            text.push_str("\nTo be kept in mind:\n");
        }
        let level = if caution.kind.severe {
            "warning"
        } else {
            "note"
        };
        let _ = writeln!(text, "    [{}] {level}: {}", caution.id(), caution.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::job::tests::job;
    use crate::plan::job::{Fallocate, FilePlan};

    #[test]
    fn a_plan_says_what_how_much_how_long_and_what_differs() {
        let mut clone = job("randwrite");
        (clone.time_based, clone.runtime_ns) = (true, Some(3_000_000_000));
        let file = FilePlan {
            name: "0.0".into(),
            label: "j.0.0".into(),
            bytes: 64 << 10,
            written_in: None,
            fallocate: Fallocate::Native,
            sync: true,
            pre_read: false,
            device: false,
        };
        let fio = FioPlan {
            files: vec![file],
            jobs: vec![clone.clone(), clone],
        };
        let text = plan(&Plan {
            test: TestPlan::Fio(fio),
            notes: vec![Note::new("scaled-size")],
        });
        for part in [
            "j randwrite in blocks of 4096B",
            "2 at a time",
            "64 KiB, reserved before",
            "for 3.00 s",
            "deviates",
            "[scaled-size]",
        ] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
    }
}
