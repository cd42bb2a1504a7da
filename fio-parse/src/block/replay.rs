//! What `fio-replay` prints around its reports in the forms of fio and dd.
//!
//! ```text
//! machine  = "fio-replay machine: " name
//! system   = "fio-replay system: " words
//! apart    = [ name ", " ] "writing and flushing apart:" { part }
//! part     = ( "while writing: " | "flush: " | "together: " | "sync of the rest of the file system: " ) words
//! source   = "reading the source took " words | "`real` covers the sync alone"
//! fidelity = "Compared with the original: " verdict { "[" id "] " verdict [ " (" figures ")" ] ": " why }
//! cautions = "To be kept in mind:" { "[" id "] " ( "note: " | "warning: " ) words }
//! ```
//!
//! The machine, the fidelity and the cautions are read back; the other lines repeat or comment the figures of the report, and are
//! known so that they are taken neither for prose nor for claims. They are told from other text by their indent. The line of
//! the version is read as fio's is.

use crate::lex;
use crate::record::{Fidelity, FidelityNote, IoCounts, Verdict};
use crate::source::Segments;

/// Lines of `fio-replay`.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayNote<'t> {
    /// The machine that the tests below ran on.
    Machine(&'t str),
    /// How close the tests above came to their original.
    Fidelity(Box<Fidelity>),
    /// What is doubtful about the figures above.
    Cautions(Vec<Caution<'t>>),
    /// Anything else.
    Remark,
}

/// A caution on the figures of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caution<'t> {
    /// What kind it is of.
    pub id: &'t str,
    /// Whether it is a warning.
    pub severe: bool,
    /// In a sentence.
    pub text: &'t str,
}

const PARTS: [&str; 4] = [
    "while writing: ",
    "flush: ",
    "together: ",
    "sync of the rest of the file system: ",
];

/// Reads a note where `lines` stands at one; otherwise leaves `lines` as it is.
pub fn read<'t>(lines: &mut Segments<'t>) -> Option<ReplayNote<'t>> {
    let mut ahead = lines.clone();
    let text = lex::skip_margin(ahead.next()?.text).trim_end();
    let note = if let Some(own) = text.strip_prefix("fio-replay") {
        if let Some(name) = own.strip_prefix(" machine: ") {
            ReplayNote::Machine(name.trim())
        } else if own.starts_with(" system: ") {
            ReplayNote::Remark
        } else {
            return None;
        }
    } else if text.ends_with("writing and flushing apart:") {
        follow(&mut ahead, |line| {
            PARTS.iter().any(|part| line.starts_with(part))
        });
        ReplayNote::Remark
    } else if text.starts_with("reading the source took ") || text == "`real` covers the sync alone"
    {
        ReplayNote::Remark
    } else if let Some(verdict) = text.strip_prefix("Compared with the original: ") {
        let verdict = verdict_named(verdict)?;
        let mut notes = Vec::new();
        follow(&mut ahead, |line| {
            let note = fidelity_note(line);
            let found = note.is_some();
            notes.extend(note);
            found
        });
        ReplayNote::Fidelity(Box::new(Fidelity {
            verdict,
            notes,
            planned: IoCounts::default(),
            issued: IoCounts::default(),
        }))
    } else if text == "To be kept in mind:" {
        let mut cautions = Vec::new();
        follow(&mut ahead, |line| {
            let caution = caution(line);
            cautions.extend(caution);
            caution.is_some()
        });
        ReplayNote::Cautions(cautions)
    } else {
        return None;
    };
    *lines = ahead;
    Some(note)
}

/// Takes the lines below the first one as long as `is_part` knows them.
fn follow<'t>(lines: &mut Segments<'t>, mut is_part: impl FnMut(&'t str) -> bool) {
    let mut ahead = lines.clone();
    while let Some(line) = ahead.next() {
        if !is_part(lex::skip_margin(line.text).trim_end()) {
            return;
        }
        *lines = ahead.clone();
    }
}

fn verdict_named(word: &str) -> Option<Verdict> {
    [Verdict::Exact, Verdict::Equivalent, Verdict::Deviates]
        .into_iter()
        .find(|verdict| verdict.to_string() == word)
}

/// The id in brackets at the head of a line, and the words behind it.
fn bracketed(line: &str) -> Option<(&str, &str)> {
    let (id, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (!id.is_empty() && id.bytes().all(plain)).then_some((id, rest))
}

fn caution(line: &str) -> Option<Caution<'_>> {
    let (id, rest) = bracketed(line)?;
    let (severe, text) = match (rest.strip_prefix("warning: "), rest.strip_prefix("note: ")) {
        (Some(text), _) => (true, text),
        (None, text) => (false, text?),
    };
    Some(Caution { id, severe, text })
}

fn fidelity_note(line: &str) -> Option<FidelityNote> {
    let (id, rest) = bracketed(line)?;
    let (level, why) = rest.split_once(": ")?;
    let (level, affects) = match level.split_once(" (") {
        Some((level, figures)) => (level, figures.strip_suffix(')')?),
        None => (level, ""),
    };
    Some(FidelityNote {
        id: id.to_owned(),
        level: verdict_named(level)?,
        affects: (affects.split(", ").filter(|figure| !figure.is_empty()))
            .map(str::to_owned)
            .collect(),
        why: why.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Log;

    #[test]
    fn a_replay_reads_its_own_words() {
        let text = "fio-replay machine: desk: two\nfio-replay system: Linux 6.1\n\
                    j, writing and flushing apart:\n  while writing: 493MiB/s (516MB/s) over 300 ms\n  flush: 29.6 ms for this\n  together: 448MiB/s over 330 ms\n\
                    Compared with the original: deviates\n    [as-fio] exact: x\n    [scaled-size] deviates (bw, iops, lat): smaller (16 MiB: y)\n\
                    To be kept in mind:\n    [busy-disk] note: tasks\n    [beyond-link] warning: more\nfio-replay runs tests\n";
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let mut notes = Vec::new();
        while let Some(note) = read(&mut lines) {
            notes.push(note);
        }
        assert_eq!(notes.len(), 5);
        assert_eq!(notes[0], ReplayNote::Machine("desk: two"));
        let ReplayNote::Fidelity(fidelity) = &notes[3] else {
            panic!("{notes:?}")
        };
        assert_eq!(fidelity.verdict, Verdict::Deviates);
        assert_eq!(fidelity.notes[1].affects, ["bw", "iops", "lat"]);
        assert_eq!(fidelity.notes[1].why, "smaller (16 MiB: y)");
        let caution = |id, severe, text| Caution { id, severe, text };
        assert_eq!(
            notes[4],
            ReplayNote::Cautions(vec![
                caution("busy-disk", false, "tasks"),
                caution("beyond-link", true, "more")
            ])
        );
        // prose about the program is none of it
        assert_eq!(lines.next().unwrap().text, "fio-replay runs tests");
    }
}
