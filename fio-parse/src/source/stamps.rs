//! Lines that a logger put something in front of: the time, a level, a name.
//!
//! ```text
//! line     = lead [ rest ]
//! lead     = stamp { blanks level } | level { blanks level }
//! stamp    = ["[" | "("] ( date ("T" | " ") clock | month day clock | clock | "[" seconds ) ["]" | ")" | ","]
//! date     = 2020-05-03 | 2020/05/03          month day = May  3
//! clock    = 12:06:53 [("." | ",") digits] ["Z" | ("+" | "-") hours [":"] minutes]
//! level    = ["["] ("DEBUG" | "INFO" | …) {":" | "|" | "]" | "-"}
//! ```
//!
//! ```text
//! 12:06:53 DEBUG| [stdout]   read: IOPS=84, BW=42.4MiB/s (44.4MB/s)(128MiB/3020msec)
//! May  3 12:06:53 box fio[4011]:   read: IOPS=84, BW=42.4MiB/s (44.4MB/s)(128MiB/3020msec)
//! ```
//!
//! Three such lines or more in a row, with something of a report among them, are taken for a logger's. What it wrote is
//! the lead of each line and what all lines have in common behind it, up to the last mark (`:`, `|`, `]`, `>`) of that.
//! It becomes blanks, so that offsets and columns stay those of the log.

use memchr::memmem;
use std::borrow::Cow;

/// How many lines make a logger's text.
const LINES: usize = 3;

/// The text with blanks in place of what a logger put in front of lines.
pub(super) fn blanked(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut fronts = Vec::new();
    let mut run = Run::default();
    let bytes = text.as_bytes();
    for start in starts(bytes) {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        let line = &bytes[start..end];
        let lead = match line.first() {
            // logs of samples have digits too
            Some(b'0'..=b'9') if line.get(2) == Some(&b':') => lead(line),
            Some(b'0'..=b'9') if matches!(line.get(4), Some(b'-' | b'/')) => lead(line),
            Some(b'[' | b'(' | b'A'..=b'Z') => lead(line),
            _ => None,
        };
        if let Some(lead) = lead {
            if !run.ends_above(start) {
                run.close(bytes, &mut fronts);
            }
            run.push(bytes, start, start + lead, end);
        }
    }
    run.close(bytes, &mut fronts);
    if fronts.is_empty() {
        return text;
    }
    let mut bytes = text.into_owned().into_bytes();
    for (start, end) in fronts {
        bytes[start..end].fill(b' ');
    }
    // a front ends behind a sign of one byte or at the line's end, so all that is left is whole
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where the lines start of which the first byte may be that of a lead. Nearly all lines of reports start with a blank or
/// a small letter, so pieces of the text are asked as a whole first.
fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    const PIECE: usize = 512;
    // digits, capital letters and brackets, and some signs between them: one range is quick
    let may_lead = |byte: u8| byte.wrapping_sub(b'(') <= b'[' - b'(';
    let behind = bytes.get(1..).unwrap_or(&[]);
    let pieces = bytes.chunks(PIECE).zip(behind.chunks(PIECE)).enumerate();
    let starts = pieces.flat_map(move |(index, (piece, behind))| {
        let pairs = piece.iter().zip(behind);
        let any = pairs.fold(0u8, |any, (&byte, &next)| {
            any | u8::from((byte == b'\n') & may_lead(next))
        });
        let feeds = memchr::memchr_iter(b'\n', if any > 0 { piece } else { &[] });
        feeds.map(move |at| index * PIECE + at + 1)
    });
    let first = std::iter::once(0).chain(starts);
    first.filter(move |start| bytes.get(*start).copied().is_some_and(may_lead))
}

/// Lines in a row that have a lead.
#[derive(Default)]
struct Run {
    /// Where each starts, where its lead ends, and where it ends.
    lines: Vec<(usize, usize, usize)>,
    /// What stands behind all leads: its place in the first line that goes on behind it.
    common: Option<(usize, usize)>,
}

impl Run {
    /// Whether its last line is the one above a line that starts here.
    fn ends_above(&self, start: usize) -> bool {
        self.lines
            .last()
            .is_some_and(|(_, _, end)| end + 1 == start)
    }

    fn push(&mut self, bytes: &[u8], start: usize, lead: usize, end: usize) {
        self.lines.push((start, lead, end));
        let rest = bytes[lead..end].trim_ascii_end();
        if rest.is_empty() {
            return;
        }
        let (from, to) = self.common.unwrap_or((lead, lead + rest.len()));
        let have = &bytes[from..to];
        // a line that says nothing may lack the blank at the end of what a logger wrote
        if self.common.is_some() && have.starts_with(rest) {
            return;
        }
        let same = have.iter().zip(rest).take_while(|(a, b)| a == b).count();
        self.common = Some((from, from + same));
    }

    /// Ends the run, and gives what to blank if it is a logger's.
    fn close(&mut self, bytes: &[u8], fronts: &mut Vec<(usize, usize)>) {
        let run = std::mem::take(self);
        let (Some(first), Some(last), Some((from, to))) =
            (run.lines.first(), run.lines.last(), run.common)
        else {
            return;
        };
        if run.lines.len() < LINES || !has_report(&bytes[first.0..last.2]) {
            return;
        }
        let common = &bytes[from..to];
        let named = common
            .iter()
            .rposition(|byte| matches!(byte, b':' | b'|' | b']' | b'>'))
            .map_or(0, |at| at + 1);
        for (start, lead, end) in run.lines {
            let front = &bytes[lead..end];
            let length = if front.starts_with(&common[..named]) {
                named
            } else {
                front.len()
            };
            fronts.push((start, lead + length));
        }
    }
}

/// Whether something of a report of fio or dd stands in a text.
pub(super) fn has_report(bytes: &[u8]) -> bool {
    [
        "(groupid=",
        "IOPS=",
        "iops=",
        "aggrb=",
        "bw=",
        "\"fio version\"",
        "records out",
        "bytes transferred",
    ]
    .iter()
    .any(|mark| memmem::find(bytes, mark.as_bytes()).is_some())
}

/// How long the lead of a line is, if it has one.
fn lead(line: &[u8]) -> Option<usize> {
    let mut at = stamp(line).unwrap_or(0);
    loop {
        let blanks = line[at..].iter().take_while(|byte| **byte == b' ').count();
        match level(&line[at + blanks..]) {
            Some(length) => at += blanks + length,
            None => return (at > 0).then_some(at),
        }
    }
}

fn level(line: &[u8]) -> Option<usize> {
    const LEVELS: [&str; 11] = [
        "TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL",
        "Debug", "Info",
    ];
    let open = usize::from(line.first() == Some(&b'['));
    let name = LEVELS
        .iter()
        .find(|name| line[open..].starts_with(name.as_bytes()))?;
    let end = open + name.len();
    let marks = line[end..]
        .iter()
        .take_while(|byte| matches!(byte, b':' | b'|' | b']' | b'-'))
        .count();
    let ends = matches!(line.get(end + marks), None | Some(b' ' | b'\t' | b'\r'));
    ends.then_some(end + marks)
}

fn stamp(line: &[u8]) -> Option<usize> {
    let open = usize::from(matches!(line.first(), Some(b'[' | b'(')));
    let text = &line[open..];
    let length = if let Some(date) = fits(text, b"0000-00-00").or_else(|| fits(text, b"0000/00/00"))
    {
        let clock = clock(text.get(date + 1..)?)?;
        matches!(text[date], b'T' | b' ').then_some(date + 1 + clock)?
    } else if let Some(clock) = clock(text) {
        clock
    } else if let Some(month) = month(text) {
        month + clock(&text[month..])?
    } else if open == 1 {
        seconds(text)?
    } else {
        return None;
    };
    let close = usize::from(matches!(
        line.get(open + length),
        Some(b']' | b')' | b',' | b':')
    ));
    let end = open + length + close;
    // a time within a sentence is followed by more than a blank too, so the rows decide
    matches!(line.get(end), None | Some(b' ' | b'\t' | b'\r')).then_some(end)
}

/// Whether `text` starts with the digits and signs of `form`, in which `0` stands for any digit.
fn fits(text: &[u8], form: &[u8]) -> Option<usize> {
    let head = text.get(..form.len())?;
    let same = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    head.iter().zip(form).all(same).then_some(form.len())
}

fn clock(text: &[u8]) -> Option<usize> {
    let mut end = fits(text, b"00:00:00")?;
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or(&[]);
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    if matches!(text.get(end), Some(b'.' | b',')) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let rest = &text[end..];
    let zone = match rest.first() {
        Some(b'Z') => Some(1),
        Some(b'+' | b'-') => fits(&rest[1..], b"00:00")
            .or_else(|| fits(&rest[1..], b"0000"))
            .map(|length| length + 1),
        _ => None,
    };
    Some(end + zone.unwrap_or(0))
}

/// `May  3 `
fn month(text: &[u8]) -> Option<usize> {
    const MONTHS: [&[u8]; 12] = [
        b"Jan ", b"Feb ", b"Mar ", b"Apr ", b"May ", b"Jun ", b"Jul ", b"Aug ", b"Sep ", b"Oct ",
        b"Nov ", b"Dec ",
    ];
    let head = text.get(..7)?;
    let day = matches!(head[4], b' ' | b'0'..=b'3') && head[5].is_ascii_digit() && head[6] == b' ';
    (day && MONTHS.iter().any(|month| head.starts_with(month))).then_some(7)
}

/// `   12.345678`, as the kernel counts from its start.
fn seconds(text: &[u8]) -> Option<usize> {
    let blanks = text.iter().take_while(|byte| **byte == b' ').count();
    let digits = |from: usize| {
        let rest = &text[from..];
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let whole = digits(blanks);
    let point = blanks + whole;
    if whole == 0 || text.get(point) != Some(&b'.') {
        return None;
    }
    let parts = digits(point + 1);
    (parts >= 3 && text.get(point + 1 + parts) == Some(&b']')).then_some(point + 1 + parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REPORT: [&str; 4] = [
        "a: (groupid=7, jobs=1): err= 0: pid=8: Sun May  3 12:06:53 2020",
        "  read: IOPS=84, BW=42.4MiB/s (44.4MB/s)(128MiB/3020msec)",
        "",
        "    clat (usec): min=50, max=172770, avg=4947.62, stdev=11578.62",
    ];

    fn under(front: impl Fn(usize) -> String) -> String {
        let lines = REPORT.iter().enumerate();
        lines
            .map(|(at, line)| format!("{}{line}\n", front(at)))
            .collect()
    }

    #[test]
    fn what_loggers_write_becomes_blanks() {
        let fronts: [&dyn Fn(usize) -> String; 9] = [
            &|at| format!("12:06:5{at} DEBUG| [stdout] "),
            &|at| format!("May  3 12:06:5{at} box fio[4011]: "),
            &|at| format!("2020-05-03T12:06:5{at}.123456Z "),
            &|at| format!("2020-05-03 12:06:5{at},123 - INFO - stdout: "),
            &|at| format!("[2020/05/03 12:06:5{at}] "),
            &|at| format!("[   12.34567{at}] "),
            &|at| format!("2020-05-03T12:06:5{at}+02:00 box fio: "),
            &|at| format!("{} | ", ["INFO", "INFO", "DEBUG", "WARNING"][at]),
            &|at| format!("[{}] ", ["INFO", "INFO", "DEBUG", "WARNING"][at]),
        ];
        for front in fronts {
            let text = under(front);
            let plain = blanked(Cow::Borrowed(&text));
            assert_eq!(plain.len(), text.len());
            for (line, wanted) in plain.lines().zip(REPORT) {
                assert_eq!(line.trim_start(), wanted.trim_start(), "{text}");
            }
        }
        // what is missing at the end of an empty line is a blank
        let text = under(|at| format!("12:06:5{at} DEBUG| [stdout] ")).replace(" \n", "\n");
        assert!(!blanked(Cow::Borrowed(&text)).contains("stdout"));
    }

    #[test]
    fn other_lines_stay() {
        for text in [
            // too few, no report, no lead
            "12:06:53   read: IOPS=84\n12:06:54 x\n".to_owned(),
            "12:06:53 a\n12:06:54 b\n12:06:55 c\n".to_owned(),
            under(|_| String::new()),
            under(|_| "logs/a.txt:".to_owned()),
            under(|at| format!("{at}: ")),
            "1000, 84, 0, 4096\n2000, 84, 0, 4096\n3000, 84, 0, 4096\n".to_owned(),
        ] {
            assert!(
                matches!(blanked(Cow::Borrowed(&text)), Cow::Borrowed(_)),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn lengths_and_lines_stay(
            text in "((12:06:53|\\[ 1\\.2345\\]|INFO|May  3 12:06:53)?( |:|\\||ü|\\PC){0,3}(iops=1|x)?(\n|\r\n)){0,9}"
        ) {
            let plain = blanked(Cow::Borrowed(&text));
            prop_assert_eq!(plain.len(), text.len());
            let feeds = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).collect::<Vec<_>>();
            prop_assert_eq!(feeds(&plain), feeds(&text));
        }
    }
}
