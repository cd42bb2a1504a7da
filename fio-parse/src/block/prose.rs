//! Headings, captions, list items, sentences: the text around reports, which says whose result it is.
//!
//! ```text
//! heading   = "#"{1,6} text | text NEWLINE ("===" | "---" | "~~~")… | "<h1>" text "</h1>"
//! emphasis  = "**" text "**" | "*" text "*" | "__" text "__" | "<b>" text "</b>"      (a line of its own)
//! item      = ("-" | "*" | "•" | digits "." | digits ")") text
//! fence     = "```"… | "~~~"… | "<pre>" | "</pre>"
//! row       = "|" cell "|" cell … "|"
//! rule      = at least three of "-", "*", "_", "="
//! echo      = [prompt] "echo" ["-e" | "-n"] text, the text without anything that a shell would act on
//! text      = anything else; lines of text that touch make a paragraph
//! ```
//!
//! Any of these may stand behind quote marks (`> `). Whether a short line is a heading or a caption depends on
//! what follows, so that is for `context` to say.

use crate::source::{Segment, Segments, Span};

/// How a piece of prose is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A heading of level 1 to 6.
    Heading(u8),
    /// A line that is emphasised as a whole.
    Emphasis,
    /// A list item.
    Item,
    /// A border of preformatted text.
    Fence,
    /// A row of a table.
    Row,
    /// A ruler line, or markup without text.
    Rule,
    /// What a script says with `echo`.
    Echo,
    /// Lines of text.
    Text,
}

/// A piece of prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prose<'t> {
    /// How it is written.
    pub style: Style,
    /// The text without the marks at its ends; may go over several lines.
    pub text: &'t str,
    /// Where `text` stands.
    pub span: Span,
}

/// Reads one line, or two where the second underlines the first. Never refuses.
pub fn read<'t>(line: Segment<'t>, lines: &mut Segments<'t>) -> Prose<'t> {
    let text = unquoted(line.text);
    let piece = |style, text: &'t str| {
        let offset = text.as_ptr() as usize - line.text.as_ptr() as usize;
        let start = line.span.start + offset as u32;
        Prose {
            style,
            text,
            span: Span::new(start, start + text.len() as u32),
        }
    };
    if let Some((level, text)) = marked_heading(text) {
        return piece(Style::Heading(level), text);
    }
    if text.starts_with("```") || is_tag(text, "pre") || is_tag(text, "code") {
        return piece(Style::Fence, text);
    }
    if is_rule(text, 3) {
        return piece(Style::Rule, text);
    }
    if text.starts_with('|') {
        return piece(Style::Row, text);
    }
    if let Some(text) = emphasised(text) {
        return piece(Style::Emphasis, text);
    }
    if let Some(text) = item(text) {
        return piece(Style::Item, text);
    }
    // an underline as long as half the text makes a heading of it
    let mut ahead = lines.clone();
    if let Some(next) = ahead.next() {
        let under = unquoted(next.text);
        let length = text.chars().count();
        if length <= 100 && is_rule(under, length.div_ceil(2).max(3)) {
            let level = match under.as_bytes()[0] {
                b'=' => 1,
                b'-' => 2,
                _ => 3,
            };
            *lines = ahead;
            return piece(Style::Heading(level), text);
        }
    }
    piece(Style::Text, text)
}

/// The text without blanks and quote marks around it.
pub fn unquoted(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(rest) = text.strip_prefix('>') {
        text = rest.trim_start();
    }
    text
}

/// What a line tells a shell to print, if it is nothing but words: `$ echo "Disk A"` gives `Disk A`.
pub fn echoed(text: &str) -> Option<&str> {
    let at = text.find("echo ")?;
    let prompt = text[..at].trim_end();
    if !(prompt.is_empty() || prompt.ends_with(['$', '#', '>', '❯', '%'])) {
        return None;
    }
    let mut words = text[at + 5..].trim();
    for flag in ["-e ", "-n ", "-en ", "-ne "] {
        words = words.strip_prefix(flag).unwrap_or(words).trim_start();
    }
    let quoted = |quote| {
        words
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
    };
    let words = quoted('"').or(quoted('\'')).unwrap_or(words).trim();
    let acts = words.contains(['$', '`', '|', '<', '>', '&', ';', '"', '\\']);
    (!acts && words.chars().any(char::is_alphabetic)).then_some(words)
}

fn marked_heading(text: &str) -> Option<(u8, &str)> {
    if text.starts_with('#') {
        let hashes = text.bytes().take_while(|&b| b == b'#').count();
        let rest = &text[hashes..];
        return (hashes <= 6 && rest.starts_with([' ', '\t']))
            .then(|| (hashes as u8, rest.trim().trim_end_matches('#').trim_end()));
    }
    let tag = text
        .strip_prefix("<h")
        .or_else(|| text.strip_prefix("<H"))?;
    let level = tag.bytes().next().filter(|b| (b'1'..=b'6').contains(b))? - b'0';
    let inner = &tag[tag.find('>')? + 1..];
    let end = inner
        .find("</h")
        .or_else(|| inner.find("</H"))
        .unwrap_or(inner.len());
    Some((level, inner[..end].trim()))
}

/// Whether the line starts with the opening or closing tag `name`.
fn is_tag(text: &str, name: &str) -> bool {
    let Some(rest) = text.strip_prefix("</").or_else(|| text.strip_prefix('<')) else {
        return false;
    };
    rest.get(..name.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(name))
        && rest[name.len()..].starts_with(['>', ' '])
}

fn is_rule(text: &str, least: usize) -> bool {
    let Some(&first) = text.as_bytes().first() else {
        return false;
    };
    matches!(first, b'-' | b'*' | b'_' | b'=' | b'~')
        && text.len() >= least
        && text.bytes().all(|b| b == first)
}

/// The text of a line that is emphasised from end to end.
fn emphasised(text: &str) -> Option<&str> {
    for (open, close) in [
        ("**", "**"),
        ("__", "__"),
        ("<b>", "</b>"),
        ("<strong>", "</strong>"),
        ("*", "*"),
        ("_", "_"),
    ] {
        let body = text.trim_end_matches(':');
        if let Some(inner) = body
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
        {
            let sound =
                !inner.is_empty() && !inner.starts_with([' ', '*', '_']) && !inner.contains(open);
            if sound {
                return Some(inner.trim_end_matches(':'));
            }
        }
    }
    None
}

/// The text of a list item.
fn item(text: &str) -> Option<&str> {
    for mark in ["- ", "* ", "+ ", "• ", "•\t", "– ", "◦ ", "<li>"] {
        if let Some(rest) = text.strip_prefix(mark) {
            return Some(rest.trim_end_matches("</li>").trim());
        }
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let rest = rest
        .strip_prefix(". ")
        .or_else(|| rest.strip_prefix(") "))?;
    (1..=2).contains(&digits).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Log;

    fn one(text: &str) -> (Style, String) {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let line = lines.next().unwrap();
        let prose = read(line, &mut lines);
        assert_eq!(log.get(prose.span), prose.text);
        (prose.style, prose.text.to_owned())
    }

    #[test]
    fn a_title_is_what_echo_prints_and_nothing_a_shell_acts_on() {
        for (line, title) in [
            ("echo Disk A", Some("Disk A")),
            ("$ echo \"Disk A, ext4\"", Some("Disk A, ext4")),
            ("root@box:~# echo -e 'Disk A'", Some("Disk A")),
            ("echo 3 > /proc/sys/vm/drop_caches", None),
            ("echo $disk", None),
            ("echo ----", None),
            ("an echo of it", None),
        ] {
            assert_eq!(echoed(line), title, "{line}");
        }
    }

    #[test]
    fn styles_are_told_by_their_marks() {
        for (line, style, text) in [
            (
                "## aws small - 990M ##",
                Style::Heading(2),
                "aws small - 990M",
            ),
            ("Results\n=======", Style::Heading(1), "Results"),
            ("Results\n-------", Style::Heading(2), "Results"),
            ("<h3 id=\"x\">Disk A</h3>", Style::Heading(3), "Disk A"),
            ("> ### quoted", Style::Heading(3), "quoted"),
            ("*writes*", Style::Emphasis, "writes"),
            ("**Disk A:**", Style::Emphasis, "Disk A"),
            ("- one", Style::Item, "one"),
            ("* one", Style::Item, "one"),
            ("2. two", Style::Item, "two"),
            ("```sh", Style::Fence, "```sh"),
            ("<pre>", Style::Fence, "<pre>"),
            ("---", Style::Rule, "---"),
            ("| a | b |", Style::Row, "| a | b |"),
            ("#1 laptop", Style::Text, "#1 laptop"),
            ("A laptop from 2018", Style::Text, "A laptop from 2018"),
            ("2018 was good", Style::Text, "2018 was good"),
        ] {
            assert_eq!(one(line), (style, text.to_owned()), "{line}");
        }
    }
}
