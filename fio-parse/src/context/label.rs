//! Labels from texts: what a line, a title or a sentence names.
//!
//! **Sentences** are shortened to what is named: the words after the first article or possessive (a, an, the, my, our,
//! this, its), where one stands among the first ten words and in no brackets, to the end, less "too", "as well", "now", "again", "next" and
//! the full stop. The whole sentence stays in the label.

use crate::block::prose;
use crate::record::{Direction, Label, LabelSource};
use crate::source::{Log, Span};

/// The way that bytes went by the words of a label, if it names one way only.
pub(crate) fn direction_named(text: &str) -> Option<Direction> {
    let lower = text.to_lowercase();
    let has = |words: &[&str]| {
        lower
            .split(|c: char| !c.is_alphanumeric())
            .any(|have| words.contains(&have))
    };
    let read = has(&["read", "reads", "reading"]) || lower.contains("读");
    let write = has(&["write", "writes", "writing"]) || lower.contains("写");
    match (read, write) {
        (true, false) => Some(Direction::Read),
        (false, true) => Some(Direction::Write),
        _ => None,
    }
}

/// A label from the text at `span`, with runs of blanks and line ends made one blank.
pub(super) fn label(log: &Log<'_>, span: Span, by: LabelSource) -> Label {
    Label {
        text: tidy(log.get(span)).into(),
        full: None,
        span: Some(span),
        by,
        ambiguous: false,
    }
}

/// A label from a short line, unless the line is no label: a date or by-line, or without letters.
pub(super) fn short_label(log: &Log<'_>, span: Span, by: LabelSource) -> Option<Label> {
    let label = label(log, span, by);
    // marks of a comment, and of what is about to come
    let text = label.text.strip_prefix("//").unwrap_or(&label.text);
    let text = text
        .trim_start_matches([' ', '#', ';', '-', '='])
        .trim_end_matches([':', '.', '…', '-', '='])
        .trim();
    if !text.chars().any(char::is_alphabetic)
        || is_byline(text)
        || asks_password(text)
        || names_nothing(text)
    {
        return None;
    }
    Some(Label {
        text: text.into(),
        ..label
    })
}

/// Whether a short line names nothing: it points at another label, or is what a shell says of a job.
fn names_nothing(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "same",
        "same as above",
        "same as before",
        "same again",
        "as above",
        "ditto",
        "idem",
        "again",
        "see above",
        "killed",
        "terminated",
        "finished",
        "aborted",
        "interrupted",
    ];
    let lower = text.to_lowercase();
    // [1]-  Done   dd if=…
    let job = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .is_some_and(|(number, _)| {
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        });
    // 85.1 MB/s
    let rate = text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with("B/s")
        && text.split_whitespace().count() <= 2;
    // rm: cannot remove 'x': No such file or directory
    let complaint = text
        .split_once(": ")
        .is_some_and(|(name, _)| !name.contains(' ') && prose::runs_program(name));
    // </div>
    let tag = text.starts_with('<') && text.ends_with('>');
    job || rate || complaint || tag || prose::calls_program(text) || WORDS.contains(&lower.as_str())
}

/// Whether a short line stands above what another person says: `someone commented`, `someone · comment · 2026-11-30`.
pub(super) fn opens_comment(text: &str) -> bool {
    let lower = text.to_lowercase();
    let line = lower.trim_end_matches([':', ' ']);
    let is_date = |word: &str| {
        word.len() == 10
            && word.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            })
    };
    line.ends_with(" wrote")
        || line.ends_with(" commented")
        || line.contains(" commented on ")
        || line.contains(" · ") && line.split(" · ").any(is_date)
}

/// Whether a line is a program's question for a password.
fn asks_password(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower == "password" || lower.starts_with("[sudo] ") || lower.ends_with("'s password")
}

/// Whether a short line says who wrote the text or when, and not what it is about.
fn is_byline(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_clock = |w: &[u8]| {
        w[2] == b':'
            && [0, 1, 3, 4].iter().all(|&at| w[at].is_ascii_digit())
            && w[..2] < *b"24".as_slice()
            && w[3] < b'6'
    };
    // the shares of `8k/20:16k/20` are none
    let is_share = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let behind = bytes.get(at + 5);
        before == Some(&b'/') || matches!(behind, Some(b'k' | b'K' | b'm' | b'M' | b'/'))
    };
    let clock = (bytes.windows(5).enumerate()).any(|(at, w)| is_clock(w) && !is_share(at));
    let lower = text.to_lowercase();
    clock
        || [
            "posted ",
            "published ",
            "written by ",
            "by ",
            "updated ",
            "author",
        ]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// The last sentence of a paragraph, shortened to what it names.
pub(super) fn sentence_label(log: &Log<'_>, span: Span) -> Option<Label> {
    let text = log.get(span);
    let start = last_sentence(text);
    let span = Span::new(span.start + start as u32, span.end);
    if span.len() > 400 {
        // not a sentence that names something, but text that was not understood
        return None;
    }
    let full = tidy(log.get(span));
    // a question names nothing, and what sets or prints figures is no sentence
    if full.ends_with('?') || settings(&full) > 1 {
        return None;
    }
    let named = noun_phrase(&full);
    if named.is_empty() {
        return None;
    }
    Some(Label {
        text: named.into(),
        full: (named != full).then(|| full.as_str().into()),
        span: Some(span),
        by: LabelSource::Sentence,
        ambiguous: false,
    })
}

/// How many words of a text set or show something behind an equals sign: `rw=read`, `= 788.18 MB/sec`.
fn settings(text: &str) -> usize {
    let words = text.split(' ').zip(text.split(' ').skip(1).chain([""]));
    words
        .filter(|(word, next)| match word.split_once('=') {
            Some(("", "")) => next.starts_with(|c: char| c.is_ascii_digit()),
            Some((name, value)) => !name.is_empty() && !value.is_empty(),
            None => false,
        })
        .count()
}

/// Where the last sentence starts: behind the last ". ", "! " or "? " that is followed by a capital letter.
fn last_sentence(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut start = 0;
    for (at, pair) in bytes.windows(2).enumerate() {
        if matches!(pair[0], b'.' | b'!' | b'?') && pair[1].is_ascii_whitespace() {
            let rest = text[at + 1..].trim_start();
            if rest.chars().next().is_some_and(char::is_uppercase) {
                start = text.len() - rest.len();
            }
        }
    }
    start
}

/// What a sentence names, by the rule at the top of this module; the whole sentence where the rule does not apply.
fn noun_phrase(sentence: &str) -> &str {
    const ARTICLES: [&str; 12] = [
        "a", "an", "the", "my", "our", "this", "its", "his", "her", "their", "your", "another",
    ];
    const TAILS: [&str; 7] = [
        " too", " as well", " now", " again", " next", " instead", " also",
    ];
    let whole = sentence.trim_end_matches(['.', ':', '!', '?', ' ', ',']);
    let mut named = whole;
    let mut offset = 0;
    let mut open = 0_i32;
    for word in whole.split(' ').take(10) {
        offset = (offset + word.len() + 1).min(whole.len());
        for byte in word.bytes() {
            open += i32::from(byte == b'(') - i32::from(byte == b')');
        }
        // what brackets add is not what is named
        let first = offset == (word.len() + 1).min(whole.len());
        // "--protocol A" has none
        let article = match first {
            true => ARTICLES.contains(&word.to_ascii_lowercase().as_str()),
            false => ARTICLES.contains(&word),
        };
        if open <= 0 && article {
            named = &whole[offset..];
            break;
        }
    }
    loop {
        let shorter = TAILS
            .iter()
            .find_map(|tail| named.strip_suffix(tail))
            .map(|rest| rest.trim_end_matches([',', ' ']));
        match shorter {
            Some(rest) => named = rest,
            None => return named,
        }
    }
}

/// The text with markup of words taken off and blanks folded.
fn tidy(text: &str) -> String {
    text.split_whitespace()
        .map(|word| word.trim_matches(['*', '`']))
        .filter(|word| !word.is_empty() && *word != ">")
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_shortened_to_what_they_name() {
        for (sentence, named) in [
            (
                "Then came the small SSD of a laptop (15-inch).",
                "small SSD of a laptop (15-inch)",
            ),
            ("Ran it on the office desktop too.", "office desktop"),
            (
                "Using a 128GB stick in the desktop:",
                "128GB stick in the desktop",
            ),
            ("Results from server seven", "Results from server seven"),
            ("And then, my old disk as well", "old disk"),
            (
                "With drbd-options --protocol A --sndbuf-size 0",
                "With drbd-options --protocol A --sndbuf-size 0",
            ),
            (
                "With HEAD as 9c19a9 (with the patches above)",
                "With HEAD as 9c19a9 (with the patches above)",
            ),
        ] {
            assert_eq!(noun_phrase(sentence), named);
        }
    }

    #[test]
    fn only_the_last_sentence_counts() {
        let text = "It took 3.5 minutes. Fine! Now the USB disk.";
        assert_eq!(&text[last_sentence(text)..], "Now the USB disk.");
    }

    #[test]
    fn bylines_are_no_labels() {
        assert!(is_byline("posted on 09:43 PM on Tuesday"));
        assert!(is_byline("2018-06-12T05:58Z, first run"));
        assert!(!is_byline("Bytes and bits"));
        assert!(!is_byline("bssplit=2k/20:4k/40:8k/20:16k/20"));
    }
}
