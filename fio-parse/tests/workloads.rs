//! Commands as people paste them, against the same commands in plain form; what is done to texts on their way
//! through mail and web pages must not matter, and no text whatever may make the readers panic.

use fio_parse::workload::command::{find, parse_command};
use fio_parse::workload::jobfile::{looks_like_job_file, parse_job_file};
use fio_parse::workload::{Workload, header};
use fio_parse::{Log, Span};
use proptest::prelude::*;
use std::sync::LazyLock;

struct Case {
    name: String,
    /// The same command in plain form.
    plain: Option<String>,
    missing: Vec<String>,
    text: String,
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../fixtures/workloads/commands.txt"
    );
    let file = std::fs::read_to_string(path).expect("the fixture is there");
    let mut cases: Vec<Case> = Vec::new();
    for line in file.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("#@ ") {
            cases.push(Case {
                name: name.trim().to_owned(),
                plain: None,
                missing: Vec::new(),
                text: String::new(),
            });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            continue;
        };
        if let Some(plain) = line
            .strip_prefix('=')
            .filter(|_| case.text.is_empty() && case.plain.is_none())
        {
            let plain = plain.trim().to_owned();
            case.plain = Some(plain).filter(|plain| !plain.is_empty());
        } else if let Some(missing) = line.strip_prefix("? ").filter(|_| case.text.is_empty()) {
            // a blank within a name is written as `_`
            case.missing = missing
                .split_whitespace()
                .map(|what| match what.strip_prefix("optional:") {
                    Some(words) => format!("optional:{}", words.replacen('_', " ", 1)),
                    None => what.to_owned(),
                })
                .collect();
        } else {
            case.text.push_str(line);
        }
    }
    cases
});

/// All commands of a text, with the invariants that hold for each.
fn commands(text: &str) -> Vec<Workload> {
    let log = Log::from_bytes("text", text.as_bytes()).expect("the text is small");
    let mut lines = log.segments();
    let mut found = Vec::new();
    while let Some(line) = lines.clone().next() {
        let before = lines.clone();
        match find(&log, &mut lines) {
            Some(command) => {
                let next = lines
                    .clone()
                    .next()
                    .map_or(text.len() as u32, |next| next.span.start);
                assert!(next >= line.next, "at least the line is taken");
                assert!(command.span.start >= line.span.start && command.span.end <= next);
                if let Some(workload) = command.workload {
                    assert_eq!(workload.span, Some(command.span));
                    assert_eq!(workload.command.as_deref(), Some(log.get(command.span)));
                    found.push(workload);
                }
            }
            None => {
                assert_eq!(lines.next(), before.clone().next(), "the cursor stays");
            }
        }
    }
    found
}

#[test]
fn each_form_asks_for_the_same_as_its_plain_form() {
    for case in CASES.iter() {
        let name = &case.name;
        let found = commands(&case.text);
        let Some(plain) = &case.plain else {
            assert!(found.is_empty(), "{name}: {found:?}");
            assert!(parse_command(&case.text).is_err(), "{name}");
            continue;
        };
        let expected = parse_command(plain).unwrap_or_else(|error| panic!("{name}: {error}"));
        let [workload] = found.as_slice() else {
            panic!("{name}: {} commands found", found.len());
        };
        assert_eq!(workload.test, expected.test, "{name}");
        assert_eq!(workload.program, expected.program, "{name}");
        assert_eq!(workload.missing, case.missing, "{name}");
        assert_eq!(workload.key, expected.key, "{name}");
        assert_eq!(&parse_command(&case.text).unwrap(), workload, "{name}");
    }
}

#[test]
fn the_shares_of_complete_and_open_workloads() {
    let (mut complete, mut open, mut unread) = (0, 0, 0);
    for case in CASES.iter().filter(|case| case.plain.is_some()) {
        match parse_command(&case.text) {
            Ok(workload) if workload.missing.is_empty() => complete += 1,
            Ok(_) => open += 1,
            Err(_) => unread += 1,
        }
    }
    println!("commands: {complete} complete, {open} that name what is missing, {unread} unread");
    assert!(complete >= 24 && open >= 12 && unread == 0);
}

#[test]
fn a_workload_goes_round() {
    for case in CASES.iter().filter(|case| case.plain.is_some()) {
        let workload = parse_command(&case.text).expect("it is a command");
        let line = workload.to_command();
        let again = parse_command(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(again.test, workload.test, "{line}");
        assert_eq!(again.program, workload.program, "{line}");
        let sorted = |workload: &Workload| {
            let mut missing = workload.missing.clone();
            missing.sort();
            missing
        };
        assert_eq!(sorted(&again), sorted(&workload), "{line}");
        if let Some(file) = workload.to_job_file() {
            assert_eq!(parse_job_file(&file).workload.test, workload.test, "{file}");
        }
    }
}

/// `text` with its long lines broken at blanks, as editors and mail do it.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut width = 0;
        for (index, word) in line.split(' ').enumerate() {
            if index > 0 {
                let breaks = width + 1 + word.len() > 72 && word.starts_with("--");
                out.push(if breaks { '\n' } else { ' ' });
                width = if breaks { 0 } else { width + 1 };
            }
            out.push_str(word);
            width += word.len();
        }
        out.push('\n');
    }
    out
}

#[test]
fn what_mail_and_web_pages_do_to_a_text_does_not_matter() {
    let lines = |text: &str, before: &str, after: &str| -> String {
        text.lines()
            .map(|line| format!("{before}{line}{after}\n"))
            .collect()
    };
    type Change = Box<dyn Fn(&str) -> String>;
    let changes: Vec<(&str, Change)> = vec![
        ("CRLF", Box::new(move |text| lines(text, "", "\r"))),
        ("indentation", Box::new(move |text| lines(text, "    ", ""))),
        ("tabs", Box::new(move |text| lines(text, "\t", "\t"))),
        ("quote marks", Box::new(move |text| lines(text, "> > ", ""))),
        ("prompt", Box::new(|text| format!("$ {text}"))),
        (
            "no-break spaces",
            Box::new(|text| text.replace(" --", "\u{a0}--")),
        ),
        ("dashes", Box::new(|text| text.replace(" --", " \u{2013}"))),
        (
            "HTML",
            Box::new(|text| {
                text.replace('&', "&amp;")
                    .replace('<', "&lt;")
                    .replace('>', "&gt;")
                    .replace('"', "&quot;")
            }),
        ),
        ("fence", Box::new(|text| format!("```\n{text}```\n"))),
        ("wrapping", Box::new(wrapped)),
    ];
    // the plain forms: the others are broken in ways of their own
    for case in CASES.iter() {
        let Some(plain) = &case.plain else { continue };
        let plain = format!("{plain}\n");
        let expected = commands(&plain);
        for (name, change) in &changes {
            let text = change(&plain);
            let found = commands(&text);
            let tests = |workloads: &[Workload]| -> Vec<_> {
                workloads
                    .iter()
                    .map(|w| (w.test.clone(), w.missing.clone()))
                    .collect()
            };
            assert_eq!(
                tests(&found),
                tests(&expected),
                "{}, {name}: {text}",
                case.name
            );
        }
    }
}

/// Runs every reader over a text; the invariants are in [`commands`].
fn read_all(text: &str) {
    commands(text);
    let _ = looks_like_job_file(text);
    let file = parse_job_file(text);
    for diagnostic in &file.diagnostics {
        let Span { start, end } = diagnostic
            .span
            .expect("a job file's diagnostics have a place");
        assert!(text.get(start as usize..end as usize).is_some());
    }
    if let Ok(workload) = parse_command(text) {
        let span = workload.span.expect("a command has a place");
        assert_eq!(
            text.get(span.start as usize..span.end as usize),
            workload.command.as_deref()
        );
        let _ = (workload.to_command(), workload.to_job_file());
    }
    let log = Log::from_bytes("text", text.as_bytes()).expect("the text is small");
    let mut lines = log.segments();
    while lines.clone().next().is_some() {
        match header::read(&log, &mut lines) {
            Some(block) => drop(block.workload()),
            None => drop(lines.next()),
        }
    }
}

#[test]
fn a_continuation_mark_that_continues_nothing_ends_the_command() {
    for mark in ["`", "^", "\\", " `", " ^", " \\", "` ", "^ "] {
        for next in ["", "\n", "\nnext", "\n\n--bs=4k"] {
            let text = format!("fio --name=a --rw=read{mark}{next}");
            let workload = parse_command(&text).unwrap();
            assert_eq!(workload.jobs()[0].block_bytes, None, "{text}");
            read_all(&text);
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in r"\PC{0,200}") {
        read_all(&text);
    }

    #[test]
    fn any_mix_of_pieces_is_read_without_a_panic(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "fio", "dd", " ", "\n", "\r\n", "--name=a", "-rw", "=", "if=x", "\"", "'", "`", "\\", "$", "${", "$(", "(", ")", "{", "}", "[", "]",
                "sh -c ", "time ", "sync", ";", "&&", "|", "&", ">", "<", "#", "&amp;", "=3D", "\u{2013}", "\u{201c}", "\u{a0}", "4k", ": (g=0): rw=",
                ", bs=", "4K-4K", "ioengine=", ", iodepth=", "1", "...", "global", "%s", "{x}", "ü", "\u{feff}", "sudo ", "--", "include ", "$'",
            ]),
            0..40,
        )
    ) {
        read_all(&pieces.concat());
    }

    #[test]
    fn mutated_commands_are_read_without_a_panic(
        case in any::<prop::sample::Index>(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(any::<char>())), 1..6),
    ) {
        let mut chars: Vec<char> = CASES[case.index(CASES.len())].text.chars().collect();
        for (place, put) in cuts {
            if chars.is_empty() {
                break;
            }
            let at = place.index(chars.len());
            match put {
                Some(c) => chars.insert(at, c),
                None => drop(chars.remove(at)),
            }
        }
        read_all(&chars.into_iter().collect::<String>());
    }
}
