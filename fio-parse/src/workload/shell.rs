//! Words of a shell-like line, read from text that went through shells, editors, web pages and mail.
//!
//! ```text
//! command   word { blank word }
//! word      { plain | 'text' | "text" | $'text' | \c | $NAME | ${…} | $(…) | `…` | <placeholder> }
//! blank     spaces of any kind | continuation
//! continuation  ("\" | "`" | "^") blanks line-end prefix      (shell, PowerShell, cmd)
//!             | line-end prefix                               (where the next line starts with an option or operand)
//! prefix    blanks and the marks the first line began with: ">" "|" "#" "//" "*"
//! ```
//!
//! Nothing is expanded. What a shell would have to expand stays in the word as it is written, and its name is
//! listed in [`Word::variables`]. Quotes that never close count for nothing; typographic quotes and blanks are
//! those they stand for. Where a command stands inside a string (`sh -c "…"`, `` `…` `` in Markdown) the closing
//! mark is on the [stack](Shell::open) and ends the words.

use super::fio::note;
use super::word::{Word, placeholder};
use super::{dd, options};

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word.
    Word(Word),
    /// An operator that starts at this place.
    Operator(Operator, usize),
    /// A closing mark of the stack, which was taken off it.
    Close(char, usize),
    /// A comment from here to the end of the line.
    Comment(usize),
    /// The end of the command's last line, or of the text.
    End(usize),
}

/// What separates commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `;`
    Semicolon,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`, `|&`
    Pipe,
    /// `&`
    Background,
    /// `>`, `>>`, `<`, `2>&1` and the like.
    Redirect,
    /// `(`
    Open,
    /// `)`
    CloseRound,
    /// A mark-up tag.
    Tag,
}

/// Whose words are read: this decides what a soft-wrapped line may go on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// fio.
    Fio,
    /// dd and its descendants.
    Dd,
}

/// Reads the words of one command.
#[derive(Clone, Debug)]
pub(super) struct Shell<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// Closing marks that are awaited, the innermost last.
    pub open: Vec<char>,
    /// Once known, lines that start with its options are taken for wrapped ones.
    pub tool: Option<Tool>,
    /// What the line begins with: which of `>`, `|`, `#`, `/`, `*` stand before the command.
    marks: Vec<char>,
    /// How many line ends were stepped over.
    lines: usize,
    /// What was repaired, in the words of `Workload::normalised`.
    pub notes: Vec<String>,
    /// The end of the line that was read last, as far as it was looked for; stale where it lies before `at`.
    pub(super) line_end: Option<usize>,
}

/// How many lines one command may have.
const MAX_LINES: usize = 200;

impl<'t> Shell<'t> {
    /// Reads from `at` in `text`; what precedes it in its line tells which marks continuation lines begin with.
    pub fn new(text: &'t str, at: usize, open: Vec<char>) -> Self {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let marks = text[line..at]
            .chars()
            .take_while(|&c| c.is_whitespace() || is_mark(c))
            .filter(|&c| is_mark(c))
            .collect();
        Self {
            text,
            at,
            open,
            tool: None,
            marks,
            lines: 0,
            notes: Vec::new(),
            line_end: None,
        }
    }

    /// Whether the command stands in a row of a table, so that a `|` at the line's end closes it.
    pub fn is_row(&self) -> bool {
        self.marks.contains(&'|')
    }

    /// Where reading goes on.
    pub fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next token.
    pub fn next(&mut self) -> Token {
        loop {
            let Some(c) = self.peek() else {
                return Token::End(self.at);
            };
            if c == '\n' || c == '\r' {
                if self.wraps(self.at, false) {
                    continue;
                }
                return Token::End(self.at);
            }
            if is_blank(c) {
                self.at += c.len_utf8();
                continue;
            }
            if matches!(c, '\\' | '`' | '^') && self.continues(c) {
                continue;
            }
            break;
        }
        let start = self.at;
        let rest = self.rest();
        if let Some(&close) = self.open.last()
            && self.closes(close)
        {
            self.at += self.peek().map_or(0, char::len_utf8);
            self.open.pop();
            return Token::Close(close, start);
        }
        if rest.starts_with('#') {
            self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            return Token::Comment(start);
        }
        for (text, operator) in [
            ("&&", Operator::And),
            ("&>", Operator::Redirect),
            ("||", Operator::Or),
            ("|&", Operator::Pipe),
            ("|", Operator::Pipe),
            ("&", Operator::Background),
            (";", Operator::Semicolon),
            (">>", Operator::Redirect),
            (">&", Operator::Redirect),
            (">", Operator::Redirect),
            ("(", Operator::Open),
            (")", Operator::CloseRound),
        ] {
            if rest.starts_with(text) {
                self.at += text.len();
                return Token::Operator(operator, start);
            }
        }
        if rest.starts_with('<') {
            if let Some(length) = tag(rest) {
                self.at += length;
                return Token::Operator(Operator::Tag, start);
            }
            if placeholder(rest).is_none() {
                self.at += 1;
                return Token::Operator(Operator::Redirect, start);
            }
        }
        // the number of a file descriptor belongs to its redirect
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[digits..].starts_with(['>', '<']) && tag(&rest[digits..]).is_none() {
            self.at += digits + 1;
            if matches!(self.peek(), Some('>' | '&')) {
                self.at += 1;
            }
            return Token::Operator(Operator::Redirect, start);
        }
        let word = self.word();
        // whatever stands here, it is stepped over
        if self.at == start {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
        Token::Word(word)
    }

    /// Whether the mark at this place closes what `close` opened.
    pub(super) fn closes(&self, close: char) -> bool {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else {
            return false;
        };
        if !same_quote(c, close) {
            return false;
        }
        match close {
            // '\'' goes on
            '\'' => !rest.starts_with("'\\''"),
            // `--filename="$X"` within a string that was itself put in the same quotes
            '"' => {
                let after = rest[c.len_utf8()..].chars().next();
                !(self.text[..self.at].ends_with('=')
                    && after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '$' | '/' | '{')))
            }
            // `{loc}` is no end of `{ time dd …; }`
            '}' => self.text[..self.at].ends_with([' ', '\t', '\n', ';']),
            _ => true,
        }
    }

    /// Steps over an explicit continuation, if the mark at this place is one.
    fn continues(&mut self, mark: char) -> bool {
        let after = self.at + 1;
        let blanks = self.text[after..]
            .find(|c: char| c == '\n' || c == '\r' || !is_blank(c))
            .unwrap_or(self.text.len() - after);
        let end = after + blanks;
        if !self.text[end..].starts_with(['\n', '\r']) {
            // a backslash that ends the text continues nothing
            if mark == '\\' && end == self.text.len() {
                self.at = end;
                return true;
            }
            return false;
        }
        if mark != '\\' && !self.wraps(end, false) {
            // not PowerShell: the end of inline code, or a stray mark
            return false;
        }
        if mark == '\\' && !self.wraps(end, true) {
            self.at = end;
        }
        if mark != '\\' {
            note(&mut self.notes, "rejoined-lines");
        }
        true
    }

    /// Steps from a line end at `end` to the first word of the next line, if the command goes on there.
    pub fn wraps(&mut self, end: usize, explicit: bool) -> bool {
        let bytes = self.text.as_bytes();
        let mut at = end;
        while bytes.get(at) == Some(&b'\r') {
            at += 1;
        }
        if bytes.get(at) != Some(&b'\n') {
            return false;
        }
        at += 1;
        // blanks and the marks that stood before the command; after a backslash also a shell's second prompt
        let mut prompt = explicit;
        loop {
            let Some(c) = self.text[at..].chars().next() else {
                return false;
            };
            if is_blank(c) {
                at += c.len_utf8();
            } else if is_mark(c) && self.marks.contains(&c) {
                at += 1;
            } else if c == '>' && prompt {
                prompt = false;
                at += 1;
            } else {
                break;
            }
        }
        let next = &self.text[at..];
        if next.starts_with(['\n', '\r']) {
            return false;
        }
        if !explicit {
            let fits = match self.tool {
                Some(Tool::Fio) => starts_with_option(next),
                Some(Tool::Dd) => starts_with_operand(next),
                None => false,
            };
            if !fits {
                return false;
            }
            note(&mut self.notes, "rejoined-lines");
        }
        if self.lines == MAX_LINES {
            return false;
        }
        self.lines += 1;
        self.at = at;
        true
    }
}

/// The length of a tag of HTML at the start, from a list of those that stand around commands.
pub(super) fn tag(text: &str) -> Option<usize> {
    const NAMES: [&str; 17] = [
        "a", "b", "br", "br/", "code", "div", "em", "i", "kbd", "li", "p", "pre", "span", "strong",
        "td", "tt", "tr",
    ];
    let inside = text.strip_prefix('<')?;
    let end = inside.as_bytes()[..inside.len().min(200)]
        .iter()
        .position(|&b| b == b'>')?;
    let name = inside[..end].trim_start_matches('/');
    let name = name.split_whitespace().next().unwrap_or("");
    NAMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
        .then_some(end + 2)
}

/// Whether a line starts with an option of fio.
pub(super) fn starts_with_option(line: &str) -> bool {
    let name = line.trim_start_matches(is_dash);
    if name.len() == line.len() {
        return false;
    }
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '\\'))
        .unwrap_or(name.len());
    let after = &name[end..];
    let plain = name[..end].replace('\\', "");
    plain.len() > 1
        && plain.starts_with(|c: char| c.is_ascii_alphabetic())
        && (options::lookup(&plain, true).option().is_some()
            || (after.starts_with('=') && !after.starts_with("==")))
}

/// Whether a line starts with an operand of dd.
pub(super) fn starts_with_operand(line: &str) -> bool {
    // the longest name has 14 letters
    let near = &line.as_bytes()[..line.len().min(15)];
    memchr::memchr(b'=', near).is_some_and(|end| dd::is_operand(&line[..end]))
}

/// A hyphen, or one of those that typography puts in its place.
pub(super) fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}

/// A blank within a line, of any kind.
pub(super) fn is_blank(c: char) -> bool {
    c != '\n' && c != '\r' && (c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}' | '\0'))
}

fn is_mark(c: char) -> bool {
    matches!(c, '>' | '|' | '#' | '/' | '*')
}

/// Whether `c` is the quote `quote`, or a typographic form of it.
pub(super) fn same_quote(c: char, quote: char) -> bool {
    match quote {
        '"' => matches!(c, '"' | '\u{201c}'..='\u{201f}'),
        '\'' => matches!(c, '\'' | '\u{2018}'..='\u{201b}'),
        quote => c == quote,
    }
}
