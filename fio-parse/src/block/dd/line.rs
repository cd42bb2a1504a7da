//! The other lines of a dd report: records, complaints, and the quick test that sorts lines out.
//!
//! ```text
//! records   = [words] digits "+" digits [words]                16+0 records in, 记录了16+0 的读入, ghi ra 16+0
//! truncated = digits words                                     1 truncated record
//! error     = "dd: " words                                     dd: error writing 'x': No space left on device
//! status    = "load: " number "cmd: dd " …                     what a terminal prints on Ctrl-T
//! control   = "^" capital                                      ^C in front of records, or on a line of its own
//! dcfldd    = digits " blocks (" digits "Mb) written."
//! ```

use super::transfer;
use crate::figure::Figure;
use crate::lex;
use crate::source::Log;

/// A records line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Records<'t> {
    /// `16+0`.
    pub figure: Figure<'t>,
    /// In, out, or not told by words known here.
    pub way: Way,
    /// Whether it is English, and so a records line by itself.
    pub english: bool,
}

/// Which records a line counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Read.
    In,
    /// Written.
    Out,
    /// The words are of another language.
    Unknown,
}

/// A line that dd or the terminal printed beside the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complaint<'t> {
    /// `load: 1.95  cmd: dd 20536 …`.
    Status,
    /// `^C` on a line of its own.
    Control,
    /// `dd: error writing …`.
    Error(&'t str),
    /// `dd: warning: …`.
    Caution(&'t str),
    /// `256 blocks (256Mb) written.`
    Dcfldd,
}

/// The line without what quotes, lists and comment signs put in front of it.
pub(crate) fn unmarked(text: &str) -> &str {
    let mut rest = lex::skip_margin(text);
    while let Some(next) = rest.strip_prefix(['#', '*', ';', '/', '.', '…']) {
        // "/bin/dd: …" is a command, "// …" and "#" are comments
        if rest.starts_with('/') && !next.starts_with('/') {
            break;
        }
        rest = lex::skip_margin(next.trim_start_matches('/'));
    }
    rest
}

/// The line without blanks, table pipes, closing tags and continuation signs at its end.
pub(crate) fn trimmed(text: &str) -> &str {
    const TAGS: [&str; 8] = [
        "<br>", "<br/>", "<br />", "</p>", "</pre>", "</code>", "</td>", "</div>",
    ];
    let mut rest = text;
    loop {
        let before = rest.len();
        rest = rest.trim_end_matches(|c: char| {
            c.is_whitespace() || matches!(c, '|' | '`' | '\\' | '"' | '*')
        });
        if rest.ends_with('>')
            && let Some(shorter) = TAGS.iter().find_map(|tag| rest.strip_suffix(tag))
        {
            rest = shorter;
        }
        rest = rest.strip_suffix("&nbsp;").unwrap_or(rest);
        if rest.len() == before {
            return rest;
        }
    }
}

/// Whether nothing but blanks and quote marks stands on the line.
pub fn is_blank(text: &str) -> bool {
    text.len() < 64 && unmarked(trimmed(text)).is_empty()
}

/// A quick test that lets few lines through which are no part of a report.
pub fn is_candidate(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 4 {
        return is_control(text);
    }
    for at in memchr::memchr2_iter(b'+', b'/', bytes) {
        if bytes[at] == b'+' {
            if at > 0
                && bytes[at - 1].is_ascii_digit()
                && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            {
                return true;
            }
        } else if transfer::is_rate_slash(bytes, at) {
            return true;
        }
    }
    may_complain(bytes) && (complaint(text).is_some() || text.contains("time to transfer data"))
}

/// Whether the first letters behind blanks and quote marks are those of a complaint; entities and tags are let through.
fn may_complain(bytes: &[u8]) -> bool {
    let mark = |b: &u8| {
        matches!(
            b,
            b' ' | b'\t' | b'>' | b'|' | b'#' | b'*' | b'`' | b';' | b'.' | b'/'
        )
    };
    let Some(start) = bytes.iter().position(|b| !mark(b)) else {
        return false;
    };
    match &bytes[start..] {
        // "dd: ", "gdd: ", "bin/dd: ", "usr/bin/dd: ", "busybox: dd: ", "load: "
        [b'd', b'd', ..]
        | [b'g', b'd', ..]
        | [b'b', b'i' | b'u', ..]
        | [b'u', b's', ..]
        | [b'l', b'o', ..]
        | [b't', b'i', b'm', b'e', b' ', b't', b'o', b' ', ..] => true,
        [b'&' | b'<' | 0x80.., ..] => true,
        [b'^', b'A'..=b'Z' | b'\\', ..] => true,
        [b'0'..=b'9', ..] => bytes.trim_ascii_end().ends_with(b"written."),
        _ => false,
    }
}

/// Reads a records line.
pub fn records<'t>(log: &Log<'_>, text: &'t str) -> Option<Records<'t>> {
    let bytes = text.as_bytes();
    if bytes.len() > 400 {
        return None;
    }
    for plus in memchr::memchr_iter(b'+', bytes) {
        let digits = |b: &&u8| b.is_ascii_digit();
        let start = plus - bytes[..plus].iter().rev().take_while(digits).count();
        let end = plus + 1 + bytes[plus + 1..].iter().take_while(digits).count();
        if start == plus || end == plus + 1 {
            continue;
        }
        // "T10:00:00+0200", "v1.2+3", "0+65536io" are none
        let (before, after) = (&text[..start], &text[end..]);
        let stands_free =
            before.ends_with(|c: char| c.is_whitespace() || !c.is_ascii() || ">|#`\"".contains(c));
        if !(before.is_empty()
            || stands_free
            || before.ends_with("&nbsp;")
            || ends_in_control(before)
            || before.trim_start() == "//")
        {
            continue;
        }
        let after = trimmed(after);
        if !(after.is_empty()
            || lex::skip_blanks(after).len() < after.len()
            || after.starts_with(|c: char| !c.is_ascii()))
        {
            continue;
        }
        let Ok(("", words)) = transfer::words(after) else {
            continue;
        };
        let mut words = words
            .split(|c: char| !transfer::is_word_char(c))
            .flat_map(|word| word.split(char::is_whitespace))
            .filter(|word| !word.is_empty() && *word != "nbsp");
        let (noun, way) = (words.next(), words.next());
        if noun.is_none() && !before.chars().any(char::is_alphabetic) {
            continue;
        }
        let english = matches!(noun, Some("record" | "records"));
        let way = match way.map(|way| way.trim_end_matches('.')) {
            Some("in") if english => Way::In,
            Some("out") if english => Way::Out,
            _ => Way::Unknown,
        };
        let figure = &text[start..end];
        return Some(Records {
            figure: Figure {
                text: figure,
                span: log.span_of(figure),
            },
            way,
            english: way != Way::Unknown,
        });
    }
    None
}

/// `1 truncated record`, `2 truncated blocks`, `1 odd length swab block`, in any language; `Some(true)` if in English.
pub fn truncated(text: &str) -> Option<bool> {
    let text = trimmed(unmarked(text));
    let words = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if words.len() == text.len() || text.len() > 60 {
        return None;
    }
    let Ok(("", said)) = transfer::words(words) else {
        return None;
    };
    let said = lex::skip_blanks(said);
    let known = [
        "truncated record",
        "truncated block",
        "odd length swab block",
    ];
    (said.len() < words.len() && !said.is_empty())
        .then(|| known.iter().any(|known| said.starts_with(known)))
}

/// Reads what dd or the terminal says beside the report.
pub fn complaint(text: &str) -> Option<Complaint<'_>> {
    let rest = unmarked(text);
    match rest.as_bytes().first()? {
        b'd' | b'/' | b'g' | b'b' => {
            const NAMES: [&str; 5] = ["dd:", "/bin/dd:", "/usr/bin/dd:", "gdd:", "busybox: dd:"];
            let behind = NAMES.iter().find_map(|name| rest.strip_prefix(name))?;
            let said = lex::skip_blanks(behind);
            if said.len() == behind.len() {
                return None;
            }
            let line = trimmed(rest);
            if line.len() > 500 {
                return None;
            }
            if said.starts_with("warning:") {
                return Some(Complaint::Caution(line));
            }
            // "dd: error writing 'x': …" or "dd: x: …"; "dd: so fast" is prose
            (ERRORS.iter().any(|start| said.starts_with(start))
                || said.contains(": ")
                || said.contains(":\u{a0}"))
            .then_some(Complaint::Error(line))
        }
        b'^' => is_control(rest).then_some(Complaint::Control),
        b'l' => {
            (rest.starts_with("load: ") && rest.contains("cmd: dd ")).then_some(Complaint::Status)
        }
        b'0'..=b'9' => {
            let words = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            let inner = words
                .strip_prefix(" blocks (")?
                .trim_end()
                .strip_suffix("b) written.")?;
            (inner.len() < 24).then_some(Complaint::Dcfldd)
        }
        _ => None,
    }
}

/// Whether a text ends as a terminal shows a key that was held down with Ctrl: `^C`.
fn ends_in_control(text: &str) -> bool {
    matches!(text.as_bytes(), [.., b'^', b'A'..=b'Z' | b'\\'])
}

/// Whether a line holds nothing but such keys.
pub(crate) fn is_control(text: &str) -> bool {
    let text = text.trim().as_bytes();
    let (pairs, rest) = text.as_chunks::<2>();
    !pairs.is_empty()
        && rest.is_empty()
        && pairs
            .iter()
            .all(|pair| matches!(pair, [b'^', b'A'..=b'Z' | b'\\']))
}

/// Whether a line is one of the meter that curl draws, which may come between the lines of a report.
pub(crate) fn is_meter(text: &str) -> bool {
    let text = text.trim_start();
    if text.starts_with("% Total ") || text.starts_with("Dload ") {
        return true;
    }
    // 100  190M    0 95.3M  100 95.3M  15.0M  15.0M  0:00:06  0:00:06 --:--:-- 15.0M
    if !text.starts_with(|c: char| c.is_ascii_digit()) || text.len() > 200 {
        return false;
    }
    let mut words = text.split_whitespace();
    let figures = words.clone().take(8).filter(|word| {
        let digits = word.trim_end_matches(['k', 'M', 'G', 'T', 'P']);
        digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    });
    let clock = |word: &str| {
        word.contains(':')
            && word
                .bytes()
                .all(|b| b.is_ascii_digit() || b":-".contains(&b))
    };
    figures.count() == 8 && words.clone().count() == 12 && words.nth(8).is_some_and(clock)
}

/// How errors start that have no second colon in every language.
const ERRORS: [&str; 16] = [
    "error ",
    "writing ",
    "reading ",
    "failed ",
    "invalid ",
    "can't ",
    "cannot ",
    "bad ",
    "unknown ",
    "unrecognized ",
    "memory exhausted",
    "IO error",
    "opening ",
    "closing ",
    "fsync failed",
    "fdatasync failed",
];

/// The largest character border that is not above `at`.
pub(super) fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log(text: &str) -> Log<'_> {
        Log::from_bytes("log", text.as_bytes()).unwrap()
    }

    #[test]
    fn records_in_any_tongue() {
        for (text, figure, way) in [
            ("10+0 records in", "10+0", Way::In),
            ("1+0 records out.", "1+0", Way::Out),
            ("<code>10+0&nbsp;records&nbsp;in<br>", "10+0", Way::In),
            ("> 512+3 Datensätze ein", "512+3", Way::Unknown),
            ("记录了16+0 的读入", "16+0", Way::Unknown),
            ("đọc vào 16+0", "16+0", Way::Unknown),
            (
                "[user@host ~]$ 2048+0 записей получено",
                "2048+0",
                Way::Unknown,
            ),
            ("^C5000+0 records in", "5000+0", Way::In),
            ("^C^C117+0 レコード入力", "117+0", Way::Unknown),
        ] {
            let log = log(text);
            let found = records(&log, log.text()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((found.figure.text, found.way), (figure, way), "{text}");
        }
        for text in [
            "2026-11-30T14:46:16+0000",
            "0.000u 0.012s 0:00.03 33.3%\t0+0k 0+65536io 0pf+0w",
            "v1.2+3 is out",
            "1+1=2",
            "10+0",
            "0inputs+65536outputs",
        ] {
            let log = log(text);
            assert_eq!(records(&log, log.text()), None, "{text}");
        }
    }

    #[test]
    fn keys_and_meters_are_known() {
        for (text, control) in [
            ("^C", true),
            (" ^C^\\", true),
            ("^", false),
            ("^c", false),
            ("x^C", false),
        ] {
            assert_eq!(is_control(text), control, "{text}");
        }
        for (text, meter) in [
            (
                "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current",
                true,
            ),
            (
                "                                 Dload  Upload   Total   Spent    Left  Speed",
                true,
            ),
            (
                "100  190M    0 95.3M  100 95.3M  15.0M  15.0M  0:00:06  0:00:06 --:--:-- 15.0M",
                true,
            ),
            (
                "  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0",
                true,
            ),
            ("1 2 3 4 5 6 7 8 9 10 11 12", false),
        ] {
            assert_eq!(is_meter(text), meter, "{text}");
        }
    }

    #[test]
    fn complaints_need_their_words() {
        for (text, error) in [
            (
                "dd: error writing 'x': No space left on device",
                "dd: error writing 'x': No space left on device",
            ),
            (
                "> dd: /dev/acd0t01: Invalid argument",
                "dd: /dev/acd0t01: Invalid argument",
            ),
        ] {
            assert_eq!(complaint(text), Some(Complaint::Error(error)));
        }
        assert_eq!(
            complaint("load: 1.95  cmd: dd 20536 uninterruptible 6.46u 56.07s"),
            Some(Complaint::Status)
        );
        assert_eq!(complaint("dd: sequential write speed"), None);
        assert!(matches!(
            complaint("dd: warning: partial read (65536 bytes); suggest iflag=fullblock"),
            Some(Complaint::Caution(_))
        ));
    }

    proptest! {
        #[test]
        fn any_text_is_borne(text in "([0-9+]{1,4}|[a-z(),./ :>秒-]|dd: |records|&nbsp;|load: |\n){0,14}") {
            let log = log(&text);
            if let Some(records) = records(&log, log.text()) {
                prop_assert_eq!(log.get(records.figure.span), records.figure.text);
                prop_assert!(is_candidate(log.text()));
            }
            let _ = (truncated(log.text()), complaint(log.text()), is_blank(log.text()));
        }
    }
}
