//! What pasting put into the lines of reports: emphasis, code marks, escapes; and line ends that got lost.
//!
//! | what stands there | what is done |
//! |---|---|
//! | emphasis or code marks around a figure on a line with other figures: `copied, 5 s, **40 MB/s**` | blanks |
//! | code marks around a whole line that a tool printed | blanks |
//! | `//` in front of each line of a comment that holds a report of fio | blanks |
//! | `=20` as all that an empty line of a mail holds, behind quote marks | blanks |
//! | `\n` and `\\n` in a line that holds a report of fio: the string of another log | a carriage return, and blanks |
//! | the first line of a job's figures behind its head on one line, as fio prints it on Windows | a carriage return |
//!
//! Nothing gets longer or shorter, so offsets, lines and columns stay those of the text. Only where something other than a
//! blank follows closing marks (`**IOPS=40**, BW=…`), the figure moves to where they stood: fio pads with blanks in front.
//! A carriage return starts a new segment of the same line.
//!
//! Only the start of a long text is looked at: people paste less, and what tools write has none of this but for the heads
//! of jobs, of which the first ones tell.

use super::stamps::has_report;
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;

/// How much of a text is looked at.
const LOOKED_AT: usize = 4 << 20;

/// Marks that open and close emphasis, the longer ones first.
const MARKS: [(&str, &str); 9] = [
    ("***", "***"),
    ("**", "**"),
    ("*", "*"),
    ("__", "__"),
    ("`", "`"),
    ("<b>", "</b>"),
    ("<strong>", "</strong>"),
    ("[b]", "[/b]"),
    ("[B]", "[/B]"),
];

/// The longest text that is emphasised as a figure, in bytes.
const FIGURE: usize = 60;

/// How many line ends in a string, or lines of a comment, make a report of it.
const ENDS: usize = 3;

/// The text as it was before it was pasted, as far as the table above goes.
pub(super) fn cleaned(text: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let looked = &bytes[..bytes.len().min(LOOKED_AT)];
    let glued = has_glued(looked);
    let mut edits: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut comment = Vec::new();
    let mut start = 0;
    let limit = if glued { bytes.len() } else { looked.len() };
    for end in memchr::memchr_iter(b'\n', &bytes[..limit]).chain([limit]) {
        let line = &text.as_bytes()[start..end];
        if let Ok(line) = std::str::from_utf8(line)
            && let Some(new) = clean(line)
        {
            debug_assert_eq!(new.len(), line.len());
            edits.push((start, new));
        } else if line.trim_ascii_start().starts_with(b"//") {
            comment.push(start..end);
        }
        if comment
            .last()
            .is_none_or(|last: &Range<usize>| last.end != end)
        {
            uncomment(bytes, &mut comment, &mut edits);
        }
        start = end + 1;
    }
    uncomment(bytes, &mut comment, &mut edits);
    if edits.is_empty() {
        return text;
    }
    let mut bytes = text.into_owned().into_bytes();
    for (start, new) in edits {
        bytes[start..start + new.len()].copy_from_slice(&new);
    }
    // marks are replaced as a whole, and all of them are ASCII
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Takes the marks off the lines of a comment that holds a report of fio, and forgets the lines.
fn uncomment(bytes: &[u8], lines: &mut Vec<Range<usize>>, edits: &mut Vec<(usize, Vec<u8>)>) {
    let lines = std::mem::take(lines);
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return;
    };
    if lines.len() < ENDS || memmem::find(&bytes[first.start..last.end], b"(groupid=").is_none() {
        return;
    }
    for line in lines {
        let text = &bytes[line.clone()];
        let at = line.start + text.len() - text.trim_ascii_start().len();
        edits.push((at, b"  ".to_vec()));
    }
}

/// The line as it was, of the same length; `None` where nothing was done to it.
fn clean(line: &str) -> Option<Vec<u8>> {
    if line.len() > (1 << 16) {
        return None;
    }
    let mut new: Option<Vec<u8>> = None;
    if let Some(at) = glued(line.as_bytes()) {
        new.get_or_insert_with(|| line.into())[at] = b'\r';
    }
    if let Some(front) = line.trim_end().strip_suffix("=20") {
        if front.bytes().all(|byte| matches!(byte, b'>' | b' ')) {
            new.get_or_insert_with(|| line.into())[front.len()..front.len() + 3].fill(b' ');
        }
        return new;
    }
    if line.contains("\\n") && line.contains("(groupid=") {
        unescape(line, &mut new);
        return new;
    }
    if memchr::memchr3(b'*', b'`', b'<', line.as_bytes()).is_some()
        || line.contains("[b]")
        || line.contains("[B]")
        || line.contains("__")
    {
        match code_line(line) {
            Some((open, close)) => {
                let bytes = new.get_or_insert_with(|| line.into());
                (bytes[open], bytes[close]) = (b' ', b' ');
            }
            None => emphasis(line, &mut new),
        }
    }
    new
}

/// Whether one of the first heads of jobs has more on its line.
fn has_glued(bytes: &[u8]) -> bool {
    const HEADS: usize = 64;
    memmem::find_iter(bytes, b"(groupid=")
        .take(HEADS)
        .any(|at| {
            let rest = &bytes[at..];
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            glued(&rest[..end]).is_some()
        })
}

/// Where a head of a job ends whose line goes on with the job's figures: the last blank between the two.
fn glued(line: &[u8]) -> Option<usize> {
    let head = memmem::find(line, b"(groupid=")?;
    let pid = head + memmem::find(&line[head..], b": pid=")?;
    ["read", "write", "trim", "mixed"].iter().find_map(|way| {
        let name = format!("  {way}");
        let at = pid + memmem::find(&line[pid..], name.as_bytes())?;
        let behind = line[at + name.len()..].trim_ascii_start();
        let figures = behind.strip_prefix(b":")?.trim_ascii_start();
        (figures.starts_with(b"io=") || figures.starts_with(b"IOPS=")).then_some(at + 1)
    })
}

/// Makes line ends of the escapes that stand for them.
fn unescape(line: &str, new: &mut Option<Vec<u8>>) {
    let mut ends = Vec::new();
    for (at, _) in line.match_indices("\\n") {
        let start = line[..at].trim_end_matches('\\').len();
        ends.push((start, at + 2));
    }
    if ends.len() < ENDS {
        return;
    }
    let bytes = new.get_or_insert_with(|| line.into());
    for (start, end) in ends {
        bytes[start..end].fill(b' ');
        bytes[end - 1] = b'\r';
    }
}

/// Where the code marks stand around all of a line that a tool printed, behind marks of quotes and lists.
fn code_line(line: &str) -> Option<(usize, usize)> {
    let body = line.trim_end();
    let inner = body
        .trim_start_matches(['>', '-', '*', ' ', '\t'])
        .strip_prefix('`')?
        .strip_suffix('`')?;
    let terse = inner.bytes().filter(|&byte| byte == b';').count() >= 20;
    let printed = has_report(inner.as_bytes()) || inner.contains(" bytes");
    let typed = inner.contains(" --") || inner.contains("dd if=") || inner.starts_with("fio ");
    (!inner.contains('`') && !typed && (terse || printed)).then(|| {
        let open = body.len() - inner.len() - 2;
        (open, body.len() - 1)
    })
}

/// Takes the marks of emphasis off the figures of a line.
fn emphasis(line: &str, new: &mut Option<Vec<u8>>) {
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let opens = at == 0
            || line[..at]
                .ends_with(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '=' | ',' | ':'));
        let found = opens
            .then(|| MARKS.iter().find_map(|&marks| emphasised(rest, marks)))
            .flatten();
        let Some((open, inner, close)) = found else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let end = at + open + inner + close;
        if is_figure(&rest[open..open + inner]) && has_figure(line, at, end) {
            let bytes = new.get_or_insert_with(|| line.into());
            let moved = !line[end..].is_empty() && !line[end..].starts_with([' ', '\t', '\r']);
            let shift = if moved { close } else { 0 };
            bytes[at..end].fill(b' ');
            let to = at + open + shift;
            bytes[to..to + inner].copy_from_slice(&rest.as_bytes()[open..open + inner]);
        }
        at = end;
    }
}

/// The lengths of the opening marks, the text and the closing marks that `rest` starts with. More asterisks than were
/// opened may close.
fn emphasised(rest: &str, (open, close): (&str, &str)) -> Option<(usize, usize, usize)> {
    let behind = rest.strip_prefix(open)?;
    let inner = behind.find(close).filter(|&inner| inner <= FIGURE)?;
    let text = &behind[..inner];
    let mut closing = close.len();
    if close.starts_with('*') {
        let run = behind[inner..].bytes().take_while(|&byte| byte == b'*');
        closing = run.count();
    }
    let ends = behind[inner + closing..]
        .chars()
        .next()
        .is_none_or(|c| c.is_whitespace() || ",;.:)]".contains(c));
    (ends && !text.is_empty() && text.trim() == text && !text.starts_with('*')).then_some((
        open.len(),
        inner,
        closing,
    ))
}

/// Whether an emphasised text is a figure: a number with its unit, or with the name that a tool gives it.
fn is_figure(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    let named = (first.split_once('='))
        .is_some_and(|(name, value)| !name.is_empty() && value.len() <= FIGURE);
    text.split_whitespace().count() <= 4
        && text.contains(|c: char| c.is_ascii_digit())
        && (named || first.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a line has a figure beside the text between `start` and `end`, or names one of `time`.
fn has_figure(line: &str, start: usize, end: usize) -> bool {
    let digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let first = line.split_whitespace().next().unwrap_or("");
    digit(&line[..start]) || digit(&line[end..]) || ["real", "user", "sys"].contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_around_figures_become_blanks() {
        for (line, wanted) in [
            (
                "1048576 bytes (1.0 MB) copied, 2.5 s, **419 kB/s**",
                "1048576 bytes (1.0 MB) copied, 2.5 s,   419 kB/s  ",
            ),
            (
                "copied, 2.5 s, ***419 kB/s****",
                "copied, 2.5 s,    419 kB/s    ",
            ),
            (
                "  read: **IOPS=40**, BW=1MiB/s",
                "  read:     IOPS=40, BW=1MiB/s",
            ),
            (
                "io=4KB, *iops=463*, runt= 9msec",
                "io=4KB,   iops=463, runt= 9msec",
            ),
            ("real    `0m1.2s`", "real     0m1.2s "),
            ("9 bytes, [b]40 MB/s[/b]", "9 bytes,    40 MB/s    "),
            ("> `5+0 records out`", ">  5+0 records out "),
            (">=20", ">   "),
            (
                "// a: (groupid=0\n//   read: IOPS=1\n//\nx // y",
                "   a: (groupid=0\n     read: IOPS=1\n  \nx // y",
            ),
            ("> > =20\r", "> >    \r"),
            (
                "a: (groupid=0, jobs=1): err= 0: pid=1: Wed Apr 27 12:26:18 2016  read : io=4KB",
                "a: (groupid=0, jobs=1): err= 0: pid=1: Wed Apr 27 12:26:18 2016 \rread : io=4KB",
            ),
            (
                r"{u'a: (groupid=0\n  read: IOPS=1\\n\nx",
                "{u'a: (groupid=0 \r  read: IOPS=1  \r \rx",
            ),
        ] {
            assert_eq!(cleaned(Cow::Borrowed(line)), wanted, "{line}");
        }
    }

    #[test]
    fn other_marks_stay() {
        for line in [
            "**40 MB/s**",
            "We saw **40 MB/s** there",
            "**Disk 2**, 5 TB",
            "rm *1.img 2*",
            "2 * 3 * 4",
            "dd if=a of=b bs=20",
            "--iodepth=20",
            "`fio --rate_iops=5 --name=a`",
            r"printf 'a\nb\nc\n'",
            "```",
        ] {
            assert_eq!(cleaned(Cow::Borrowed(line)), line);
        }
    }

    proptest! {
        #[test]
        fn nothing_gets_longer_or_leaves_its_line(text in "(\\*{1,3}|`|\\[b\\]|\\[/b\\]|\\\\n|=20|>|\\(groupid=|: pid=|  read: IOPS=|[0-9a-zé ,:]{1,4}|\n){0,24}") {
            let new = cleaned(Cow::Borrowed(&text));
            prop_assert_eq!(new.len(), text.len());
            let ends = |text: &str| -> Vec<usize> { text.match_indices('\n').map(|(at, _)| at).collect() };
            prop_assert_eq!(ends(&new), ends(&text));
        }
    }
}
