//! A saved web page as the text that a person sees, in the marks of Markdown.
//!
//! | in the page | in the text |
//! |---|---|
//! | `<h1>` … `<h6>` | `# ` … `###### ` and the heading in one line |
//! | `<li>` | `- ` |
//! | `<tr>`, `<td>`, `<th>` | `\| cell \| cell \|` in one line; a row with one cell that has text is a line |
//! | `<pre>` | a fence of three backquotes on each side |
//! | `<code>` and its like outside of `<pre>` | backquotes |
//! | `<p>`, `<div>` and other blocks | lines of their own, with an empty one between paragraphs |
//! | `<br>` | the end of a line |
//! | `<script>`, `<style>`, `<title>`, comments | nothing |
//! | all other tags | nothing; what is in them stays |
//! | entities | their characters |
//!
//! Line feeds are kept one for one, and where a tag asks for the end of a line and the file has none, one is put in.
//! So the text has more lines than the file; each knows its number in the file, by which messages call it. Within a
//! heading or a row, line feeds become blanks and are given back behind it.
//!
//! A text is taken for a page if it starts with a document type or with `<html>` or `<body>`, or with another block's
//! tag where more than half of its lines, two at least, do so. A log with a few tags in it, as wikis and Markdown have them, is none,
//! and is left as it is.

use memchr::{memchr, memchr_iter, memmem};

/// The text of the page, and the number in the file of each of its lines; `None` where `text` is no page.
pub(super) fn plain(text: &str) -> Option<(String, Vec<u32>)> {
    is_page(text).then(|| {
        let mut page = Page {
            number: 1,
            numbers: vec![1],
            ..Page::default()
        };
        page.read(text);
        (page.out, page.numbers)
    })
}

/// Whether the text is a page; see the rule above.
fn is_page(text: &str) -> bool {
    let start = text.trim_start();
    if !start.starts_with('<') {
        return false;
    }
    let starts = |word: &str| {
        start
            .get(..word.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    if ["<!doctype html", "<html", "<body"].into_iter().any(starts) {
        return true;
    }
    if starts("<?xml") || starts("<!--") {
        let head = &start.as_bytes()[..start.len().min(2000)];
        return memmem::find(head, b"<html").is_some();
    }
    let block = |line: &str| {
        Tag::read(line.trim_start()).is_some_and(|(tag, _)| tag.is_block() && tag.name != "pre")
    };
    if !block(start) {
        return false;
    }
    let mut lines = 0;
    let blocks = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .inspect(|_| lines += 1)
        .filter(|line| block(line))
        .count();
    // one line is more likely a snippet in a text
    lines > 1 && blocks * 2 > lines
}

/// Blocks end the line; those of the first list are paragraphs, with an empty line around them.
const PARAGRAPHS: [&str; 17] = [
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "pre",
    "table",
    "ul",
    "ol",
    "dl",
    "blockquote",
    "article",
    "section",
    "figure",
    "hr",
];
const BLOCKS: [&str; 25] = [
    "div",
    "br",
    "tr",
    "li",
    "dt",
    "dd",
    "body",
    "html",
    "head",
    "main",
    "header",
    "footer",
    "nav",
    "aside",
    "form",
    "address",
    "figcaption",
    "thead",
    "tbody",
    "tfoot",
    "caption",
    "details",
    "summary",
    "center",
    "textarea",
];
/// Tags within a line.
const INLINE: [&str; 70] = [
    "a", "abbr", "acronym", "audio", "b", "base", "bdi", "bdo", "big", "button", "canvas", "cite",
    "code", "col", "colgroup", "data", "datalist", "defs", "del", "dfn", "em", "embed", "fieldset",
    "font", "g", "i", "iframe", "img", "input", "ins", "kbd", "label", "legend", "link", "map",
    "mark", "meta", "meter", "noscript", "object", "optgroup", "option", "path", "picture",
    "progress", "q", "rect", "ruby", "s", "samp", "script", "select", "small", "source", "span",
    "strike", "strong", "style", "sub", "sup", "svg", "td", "template", "th", "time", "title",
    "tt", "u", "use", "var",
];

/// A tag: its name in lower case, as one of the lists has it, and whether it closes.
struct Tag {
    name: &'static str,
    closes: bool,
}

impl Tag {
    /// The tag at the start, and its length. What looks like one and is none of a page's is text.
    fn read(text: &str) -> Option<(Self, usize)> {
        let bytes = text.as_bytes();
        if bytes.first() != Some(&b'<') {
            return None;
        }
        let closes = bytes.get(1) == Some(&b'/');
        let start = 1 + usize::from(closes);
        let length = bytes[start..]
            .iter()
            .take(16)
            .position(|b| !b.is_ascii_alphanumeric())?;
        let end = start + length;
        if !matches!(bytes[end], b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r') {
            return None;
        }
        let written = &text[start..end];
        let name = PARAGRAPHS
            .iter()
            .chain(&BLOCKS)
            .chain(&INLINE)
            .find(|name| name.eq_ignore_ascii_case(written))?;
        Some((Self { name, closes }, end_of_tag(bytes, end)?))
    }

    fn is_block(&self) -> bool {
        PARAGRAPHS.contains(&self.name) || BLOCKS.contains(&self.name)
    }
}

/// Attributes longer than this hold a picture; its quotes are not followed.
const LONG: usize = 1 << 12;

/// Where a tag ends whose attributes start at `from`: behind the next `>` that is not in quotes.
fn end_of_tag(bytes: &[u8], from: usize) -> Option<usize> {
    let mut quote = None;
    for (at, &byte) in bytes.iter().enumerate().skip(from).take(LONG) {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            // a tag within a tag: the first is text
            (None, b'<') => return None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    memchr(b'>', &bytes[from..]).map(|at| from + at + 1)
}

/// The text while it is made.
#[derive(Default)]
struct Page {
    out: String,
    /// The number in the file of the line that is written, and of all lines.
    number: u32,
    numbers: Vec<u32>,
    /// Whether something but blanks stands behind the last end of a line.
    inked: bool,
    /// Whether the last line end was put in.
    put: bool,
    /// Whether a paragraph ended, so that an empty line is due before the next ink.
    paragraph: bool,
    /// Whether anything was written.
    begun: bool,
    /// The mark that stands before the next ink: of a heading or a list item.
    mark: &'static str,
    /// Line feeds of a heading or row that are due behind it.
    held: usize,
    /// Whether line feeds are held.
    holding: bool,
    /// Where the row starts in `out`.
    row: Option<usize>,
    /// How many cells of the row have text.
    cells: usize,
    /// Whether another cell starts with the next ink.
    cell: bool,
    /// Whether a paragraph started in the cell.
    in_cell: bool,
    /// Whether this is in `<pre>`.
    preformatted: bool,
}

impl Page {
    fn read(&mut self, text: &str) {
        let mut rest = text;
        // what has no end is not looked for twice
        let mut comments_end = true;
        while let Some(at) = memchr::memchr2(b'<', b'&', rest.as_bytes()) {
            self.text(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with('&') {
                let (character, length) = entity(rest).unwrap_or(('&', 1));
                let character = if character == '\u{a0}' {
                    ' '
                } else {
                    character
                };
                self.text(character.encode_utf8(&mut [0; 4]));
                rest = &rest[length..];
                continue;
            }
            if rest.starts_with("<!--") && comments_end {
                let end = memmem::find(rest.as_bytes(), b"-->").map(|at| at + 3);
                comments_end = end.is_some();
                if let Some(end) = end {
                    self.line_feeds(&rest[..end]);
                    rest = &rest[end..];
                    continue;
                }
            }
            let declaration = rest.starts_with("<!") || rest.starts_with("<?");
            if declaration && let Some(end) = end_of_tag(rest.as_bytes(), 2) {
                self.line_feeds(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            let Some((tag, length)) = Tag::read(rest) else {
                self.text("<");
                rest = &rest[1..];
                continue;
            };
            self.line_feeds(&rest[..length]);
            rest = &rest[length..];
            if !tag.closes && matches!(tag.name, "script" | "style" | "title") {
                let end = closing(rest, tag.name);
                self.line_feeds(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            self.tag(&tag);
        }
        self.text(rest);
        self.end_row();
    }

    fn tag(&mut self, tag: &Tag) {
        match (tag.name, tag.closes) {
            // words of code end where the sentence goes on
            ("code" | "tt" | "kbd" | "samp", _) if !self.preformatted => self.text("`"),
            ("td" | "th", _) => {
                self.cell = self.inked;
                self.in_cell = false;
            }
            ("tr", false) => {
                self.end_line();
                (self.row, self.holding) = (Some(self.out.len()), true);
                (self.cell, self.in_cell, self.cells) = (false, false, 1);
            }
            ("tr", true) => {
                self.end_row();
                self.end_line();
            }
            ("li", false) => {
                self.end_line();
                self.mark = "- ";
            }
            ("pre", false) => {
                self.end_row();
                self.end_line();
                self.text("```");
                self.end_line();
                self.preformatted = true;
            }
            ("pre", true) => {
                self.end_line();
                self.out.push_str("```");
                self.inked = true;
                self.end_line();
                self.preformatted = false;
                self.paragraph = true;
            }
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", closes) => {
                self.end_row();
                self.end_line();
                self.paragraph = true;
                self.mark = "";
                if !closes {
                    const MARKS: [&str; 6] = ["# ", "## ", "### ", "#### ", "##### ", "###### "];
                    self.mark = MARKS[usize::from(tag.name.as_bytes()[1] - b'1')];
                    self.holding = true;
                }
            }
            // one paragraph or list is a cell; more are a page that is laid out with tables
            (name, closes) if self.row.is_some() => {
                let opens = PARAGRAPHS.contains(&name) && !closes;
                if opens && self.in_cell {
                    self.end_row();
                    self.end_line();
                    self.paragraph = true;
                }
                self.in_cell |= opens;
            }
            (name, _) if PARAGRAPHS.contains(&name) => {
                self.end_line();
                self.paragraph = true;
            }
            _ if tag.is_block() => self.end_line(),
            _ => {}
        }
    }

    /// Writes text; blanks at the start of a line and line feeds go through as they are.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest.as_bytes());
            let line = &rest[..end.unwrap_or(rest.len())];
            if !line.trim().is_empty() {
                if !self.inked {
                    self.begin();
                } else if self.row.is_some() && self.cell {
                    self.out.push_str(" | ");
                    self.cells += 1;
                }
                self.cell = false;
                self.inked = true;
            }
            let line = line
                .strip_suffix('\r')
                .filter(|_| end.is_some())
                .unwrap_or(line);
            self.out.push_str(line);
            let Some(end) = end else { break };
            self.line_feed();
            rest = &rest[end + 1..];
        }
    }

    /// What is due before the first ink of a line.
    fn begin(&mut self) {
        if self.paragraph && self.begun {
            self.put_line_end();
            self.row = self.row.map(|_| self.out.len());
        }
        self.paragraph = false;
        self.begun = true;
        if !self.mark.is_empty() {
            // a mark stands at the start of its line
            let blanks = self.out.len() - self.out.trim_end_matches([' ', '\t']).len();
            self.out.truncate(self.out.len() - blanks);
            self.out.push_str(self.mark);
            self.mark = "";
        }
    }

    /// Ends the row, if there is one: with pipes around its cells, where there is more than one with text.
    fn end_row(&mut self) {
        if let Some(start) = self.row.take()
            && self.cells > 1
        {
            self.out.insert_str(start, "| ");
            self.out.push_str(" |");
        }
        self.release();
    }

    fn line_feed(&mut self) {
        if self.holding {
            self.held += 1;
            self.out.push(' ');
        } else {
            self.file_line_end();
        }
    }

    /// A line end of the file; right behind one that was put in it is the same.
    fn file_line_end(&mut self) {
        self.number += 1;
        if self.put && !self.inked {
            if let Some(last) = self.numbers.last_mut() {
                *last = self.number;
            }
        } else {
            self.put_line_end();
        }
        self.put = false;
    }

    /// A line end that the file does not have.
    fn put_line_end(&mut self) {
        self.out.push('\n');
        self.numbers.push(self.number);
        self.inked = false;
        self.put = true;
    }

    /// The line feeds of something that is left out.
    fn line_feeds(&mut self, text: &str) {
        for _ in memchr_iter(b'\n', text.as_bytes()) {
            if self.holding {
                self.held += 1;
            } else {
                self.file_line_end();
            }
        }
    }

    /// Ends the line, if something stands in it.
    fn end_line(&mut self) {
        if self.inked && !self.holding {
            self.put_line_end();
        }
    }

    /// Gives back the line feeds of a heading or a row.
    fn release(&mut self) {
        self.holding = false;
        for _ in 0..self.held {
            self.file_line_end();
        }
        self.held = 0;
    }
}

/// Where the content of an element ends that is left out: at its closing tag.
fn closing(text: &str, name: &str) -> usize {
    memmem::find_iter(text.as_bytes(), b"</")
        .find(|at| {
            text.get(at + 2..at + 2 + name.len())
                .is_some_and(|have| have.eq_ignore_ascii_case(name))
        })
        .unwrap_or(text.len())
}

const NAMES: [(&str, char); 36] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("ldquo", '\u{201c}'),
    ("rdquo", '\u{201d}'),
    ("lowbar", '_'),
    ("equals", '='),
    ("minus", '\u{2212}'),
    ("hyphen", '\u{2010}'),
    ("dollar", '$'),
    ("num", '#'),
    ("lbrace", '{'),
    ("rbrace", '}'),
    ("hellip", '…'),
    ("bull", '•'),
    ("middot", '·'),
    ("times", '×'),
    ("micro", 'µ'),
    ("ge", '≥'),
    ("le", '≤'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("thinsp", '\u{2009}'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
];

/// The character that an entity at the start stands for, and the entity's length.
pub(crate) fn entity(text: &str) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    let end = bytes.iter().take(12).position(|&b| b == b';')?;
    let name = &text[1..end];
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?).filter(|&c| c != '\0')?
        }
        None => NAMES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(body: &str) -> String {
        plain(&format!("<html>{body}")).unwrap().0
    }

    #[test]
    fn pages_are_told_from_logs_with_tags() {
        for text in [
            "<!DOCTYPE html>\n<p>x",
            "\n<HTML lang=\"en\">",
            "<body>",
            "<?xml version=\"1.0\"?><html>",
            "<p>a</p>\n<p>b</p>\n",
            "<div class=\"post\">\n<h1>x</h1>\ntext\n</div>",
        ] {
            assert!(is_page(text), "{text}");
        }
        for text in [
            "",
            "text <html>",
            "<pre>\nWRITE: bw=1MiB/s\n</pre>",
            "<h3>Disk</h3>\n\n    WRITE: x\n    READ: y\n",
            "<fio> 3\n<x>",
            "<1 MB",
            "<p>Run <code>dd</code> twice.</p>",
            "<p",
        ] {
            assert!(!is_page(text), "{text}");
        }
    }

    #[test]
    fn tags_become_marks() {
        for (body, wanted) in [
            ("<h2>Disk\nA</h2>b", "## Disk A\n\nb"),
            ("<p>a</p><p>b</p>", "a\n\nb\n"),
            ("<p>a</p>\n<p>b</p>", "a\n\nb\n"),
            ("a<br>b<br/>\nc", "a\nb\nc"),
            ("<ul><li>a</li><li>b</li></ul>", "- a\n- b\n"),
            (
                "<table><tr><td>a</td>\n<th><b>b</b></th></tr>\n</table>",
                "| a  | b |\n\n",
            ),
            ("<table><tr><td></td><td>a</td></tr></table>", "a\n"),
            (
                "<table><tr><td><p>a</p></td><td>b</td></tr></table>",
                "| a | b |\n",
            ),
            ("<tr><td><p>a</p>\n<p>b</p></td></tr>", "a \n\nb\n"),
            (
                "<pre><span class=\"x\">1 &lt; 2</span>\n &amp; 3</pre>",
                "```\n1 < 2\n & 3\n```\n",
            ),
            ("x<script>if (a < b) {\n}</script>y<!-- \n -->z", "x\ny\nz"),
            ("1 < 2 &x; <Foo> a &nbsp;b", "1 < 2 &x; <Foo> a  b"),
            ("<a href=\"x>y\">z</a>", "z"),
            ("<p>Run <code>dd</code>.", "Run `dd`."),
        ] {
            assert_eq!(page(body), wanted, "{body}");
        }
    }

    #[test]
    fn unended_tags_take_linear_time() {
        for piece in [
            "<a ", "<!-- ", "<a '\"", "<script>", "</", "&", "<td><tr>", "<h1>\n",
        ] {
            let text = format!("<html>{}", piece.repeat(50_000));
            assert!(plain(&text).is_some());
        }
    }

    proptest! {
        #[test]
        fn lines_keep_their_numbers(
            body in "(\\PC|\n|\r\n|[<>&/ ]|<p>|</p>|<br>|<li>|<h2>|</h2>|<tr>|<td>|</tr>|<pre>|</pre>|<script>|</script>|<!--|-->|&lt;){0,40}"
        ) {
            let text = format!("<html>{body}");
            let lines = |text: &str| text.bytes().filter(|&b| b == b'\n').count();
            let (plain, numbers) = plain(&text).unwrap();
            prop_assert_eq!(numbers.len(), lines(&plain) + 1);
            prop_assert_eq!(numbers[numbers.len() - 1] as usize, lines(&text) + 1);
            prop_assert!(numbers.is_sorted());
        }
    }
}
