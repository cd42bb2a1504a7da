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
use super::{dd, options};

/// One word with quotes removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text.
    pub text: String,
    /// Where it starts and ends in the text read.
    pub start: usize,
    /// See `start`.
    pub end: usize,
    /// Names of what a shell would have to expand: `X` for `$X` and `${X}`, `$(…)` in full.
    pub variables: Vec<String>,
    /// Whether any of it was quoted.
    pub quoted: bool,
}

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
    text: &'t str,
    at: usize,
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
}

/// How far a `$(…)` is looked through for its end, in bytes.
const MAX_SUBSTITUTION: usize = 1000;

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
        }
    }

    /// Where reading goes on.
    pub fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
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
        Token::Word(self.word())
    }

    /// Whether the mark at this place closes what `close` opened.
    fn closes(&self, close: char) -> bool {
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

    fn word(&mut self) -> Word {
        let start = self.at;
        let mut word = Word {
            text: String::new(),
            start,
            end: start,
            variables: Vec::new(),
            quoted: false,
        };
        while let Some(c) = self.peek() {
            if is_blank(c) || c == '\n' || c == '\r' {
                break;
            }
            if let Some(&close) = self.open.last()
                && self.closes(close)
            {
                break;
            }
            match c {
                ';' | '&' | '|' | '>' | '(' | ')' => break,
                '<' => match placeholder(self.rest()) {
                    Some(length) if tag(self.rest()).is_none() => {
                        let text = &self.rest()[..length];
                        word.variables.push(text[1..length - 1].to_owned());
                        word.text.push_str(text);
                        self.at += length;
                    }
                    _ => break,
                },
                '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' => self.single(c, &mut word),
                '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => {
                    self.double(c, &mut word)
                }
                '\\' => {
                    if self.continues_word() {
                        break;
                    }
                    self.backslash(&mut word);
                }
                '$' => self.dollar(&mut word),
                '`' => {
                    if self.continues_word() {
                        break;
                    }
                    let line = self.line_rest();
                    match line[1..].find('`') {
                        Some(end) => self.take_variable(end + 2, &mut word),
                        // the end of inline code whose start was not seen
                        None => {
                            self.at += 1;
                            self.cut_line();
                            break;
                        }
                    }
                }
                '^' if self.continues_word() => break,
                '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{feff}' | '\u{ad}' => {
                    note(&mut self.notes, "repaired-typography");
                    self.at += c.len_utf8();
                }
                _ => {
                    word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        word.end = self.at;
        templates(&mut word);
        word
    }

    /// Whether a continuation mark stands here, right behind a word.
    fn continues_word(&self) -> bool {
        let rest = &self.rest()[1..];
        let blanks = rest
            .find(|c: char| !matches!(c, ' ' | '\t'))
            .unwrap_or(rest.len());
        let rest = &rest[blanks..];
        rest.starts_with(['\n', '\r']) && self.open.last() != Some(&'`')
    }

    /// The rest of this line.
    fn line_rest(&self) -> &'t str {
        let rest = self.rest();
        &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())]
    }

    /// Makes this place the end of the text.
    fn cut_line(&mut self) {
        self.text = &self.text[..self.at];
    }

    fn single(&mut self, quote: char, word: &mut Word) {
        let width = quote.len_utf8();
        let inside = &self.rest()[width..];
        let line = inside.find(['\n', '\r']).unwrap_or(inside.len());
        let end = inside[..line].find(|c| same_quote(c, '\'') && (quote != '\'' || c == '\''));
        if quote != '\'' {
            note(&mut self.notes, "repaired-typography");
        }
        let Some(end) = end else {
            note(&mut self.notes, "unfinished-quote");
            self.at += width;
            return;
        };
        word.text.push_str(&inside[..end]);
        word.quoted = true;
        let close = inside[end..].chars().next().map_or(0, char::len_utf8);
        self.at += width + end + close;
    }

    fn double(&mut self, quote: char, word: &mut Word) {
        let width = quote.len_utf8();
        if quote != '"' {
            note(&mut self.notes, "repaired-typography");
        }
        let ends = |c: char| same_quote(c, '"') && (quote != '"' || c == '"');
        // the closing quote must stand in the same line, lines joined by a backslash counting as one
        let inside = &self.rest()[width..];
        let (mut escaped, mut found) = (false, false);
        for c in inside.chars() {
            match c {
                '\n' | '\r' if !escaped => break,
                _ if ends(c) && !escaped => {
                    found = true;
                    break;
                }
                _ => {}
            }
            escaped = (c == '\\' && !escaped) || (escaped && c == '\r');
        }
        self.at += width;
        if !found {
            note(&mut self.notes, "unfinished-quote");
            return;
        }
        word.quoted = true;
        while let Some(c) = self.peek() {
            match c {
                _ if ends(c) => {
                    self.at += c.len_utf8();
                    return;
                }
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some(c @ ('"' | '\\' | '$' | '`')) => {
                            word.text.push(c);
                            self.at += 1;
                        }
                        Some('\n' | '\r') => {
                            while matches!(self.peek(), Some('\r')) {
                                self.at += 1;
                            }
                            if self.peek() == Some('\n') {
                                self.at += 1;
                            }
                        }
                        _ => word.text.push('\\'),
                    }
                }
                '$' => self.dollar(word),
                '`' => match self.line_rest()[1..].find('`') {
                    Some(end) => self.take_variable(end + 2, word),
                    None => {
                        word.text.push(c);
                        self.at += 1;
                    }
                },
                _ => {
                    word.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    /// A backslash outside of quotes: it goes where a shell or Markdown needs it, and stays in Windows paths.
    fn backslash(&mut self, word: &mut Word) {
        self.at += 1;
        let inner_quotes = self.open.contains(&'"');
        match self.peek() {
            // within sh -c "…" an escaped quote is a quote of the inner shell
            Some('"') if inner_quotes => {
                let inside = &self.rest()[1..];
                let line = inside.find(['\n', '\r']).unwrap_or(inside.len());
                match inside[..line].find("\\\"") {
                    Some(end) => {
                        word.text.push_str(&inside[..end]);
                        word.quoted = true;
                        self.at += 1 + end + 2;
                    }
                    None => self.at += 1,
                }
            }
            Some('$') if inner_quotes || self.rest()[1..].starts_with(['(', '{']) => {
                self.dollar(word)
            }
            Some(c) if is_escapable(c) => {
                // \\.\PhysicalDrive0 and \\server keep both
                if c == '\\' && !self.rest()[1..].starts_with(['\'', '"', ' ', '\\']) {
                    word.text.push('\\');
                }
                word.text.push(c);
                word.quoted = true;
                self.at += 1;
            }
            _ => word.text.push('\\'),
        }
    }

    /// `$…`: a name is listed, the text stays.
    fn dollar(&mut self, word: &mut Word) {
        let rest = self.line_rest();
        let after = &rest[1..];
        if after.starts_with('\'') && self.open.last() != Some(&'\'') {
            return self.ansi_quote(word);
        }
        let length = match after.chars().next() {
            Some('(') => balanced(after, '(', ')').map(|end| end + 1),
            Some('{') => balanced(after, '{', '}').map(|end| end + 1),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => Some(
                1 + after
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(after.len()),
            ),
            Some(c)
                if c.is_ascii_digit() || matches!(c, '@' | '*' | '$' | '?' | '!' | '#' | '-') =>
            {
                Some(2)
            }
            _ => None,
        };
        match length {
            Some(length) => self.take_variable(length, word),
            None => {
                word.text.push('$');
                self.at += 1;
            }
        }
    }

    /// `$'…'`, with its escapes.
    fn ansi_quote(&mut self, word: &mut Word) {
        self.at += 2;
        word.quoted = true;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\'' => return,
                '\\' => {
                    let Some(escape) = self.peek() else { return };
                    self.at += escape.len_utf8();
                    match escape {
                        'n' => word.text.push('\n'),
                        'r' => word.text.push('\r'),
                        't' => word.text.push('\t'),
                        'u' | 'U' => {
                            let hex = self.rest();
                            let end = hex
                                .bytes()
                                .take(if escape == 'u' { 4 } else { 8 })
                                .take_while(u8::is_ascii_hexdigit)
                                .count();
                            let c = u32::from_str_radix(&hex[..end], 16)
                                .ok()
                                .and_then(char::from_u32);
                            word.text.push(c.unwrap_or('\u{fffd}'));
                            self.at += end;
                        }
                        other => word.text.push(other),
                    }
                }
                _ => word.text.push(c),
            }
        }
    }

    /// Steps over a quote and returns the mark that will close it; `None` where none stands here.
    pub fn enter_quote(&mut self) -> Option<char> {
        let rest = self.rest();
        let blanks = rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
        let quote = rest[blanks..].chars().next()?;
        let mark = ['"', '\'']
            .into_iter()
            .find(|&mark| same_quote(quote, mark))?;
        self.at += blanks + quote.len_utf8();
        Some(mark)
    }

    /// Takes `length` bytes as something that would be expanded.
    fn take_variable(&mut self, length: usize, word: &mut Word) {
        let text = &self.rest()[..length];
        let name = variable_name(text);
        word.variables.push(name.to_owned());
        self.at += length;
        // `"$X"k` must not become `$Xk`
        let after = self.rest().trim_start_matches(['"', '\'']);
        let joins = after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if joins && text.strip_prefix('$') == Some(name) {
            word.text.extend(["${", name, "}"]);
        } else {
            word.text.push_str(text);
        }
    }
}

/// `X` of `$X`, `${X}`, `${X:-…}` and `${X[@]}`; anything else is its own name.
pub(super) fn variable_name(text: &str) -> &str {
    let name = match text.strip_prefix("${") {
        Some(inner) => inner.strip_suffix('}').unwrap_or(inner),
        None => text.strip_prefix('$').unwrap_or(text),
    };
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(name.len());
    if end == 0 { text } else { &name[..end] }
}

/// Adds what templates of other languages leave open to a word's variables.
fn templates(word: &mut Word) {
    for name in templates_in(&word.text) {
        // `%s` within `$(date +%s)` is part of that
        let within = |whole: &String| whole.starts_with(['$', '`']) && whole.contains(&name);
        if !word.variables.contains(&name) && !word.variables.iter().any(within) {
            word.variables.push(name);
        }
    }
}

/// What templates of other languages leave open in a text: `{name}`, `{{ name }}`, `%s`, `%NAME%`.
pub(super) fn templates_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find(['{', '%']) {
        let start = at + next;
        let rest = &text[start..];
        at = start + 1;
        if text[..start].ends_with('$') {
            continue;
        }
        if let Some(inner) = rest.strip_prefix("{{") {
            let near = &inner[..inner.floor_char_boundary(MAX_SUBSTITUTION)];
            if let Some(end) = near.find("}}") {
                found.push(inner[..end].trim().to_owned());
                at = start + end + 4;
            }
        } else if let Some(inner) = rest.strip_prefix('{') {
            let near = &inner[..inner.floor_char_boundary(MAX_SUBSTITUTION)];
            if let Some(end) = near.find('}').filter(|&end| is_field(&inner[..end])) {
                found.push(inner[..end].to_owned());
                at = start + end + 2;
            }
        } else if let Some(inner) = rest.strip_prefix('%') {
            let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
            let mut after = inner[digits..].chars();
            let letter = after.next();
            let ends = !after
                .next()
                .is_some_and(|c| c.is_ascii_lowercase() || c == '%');
            let capitals = inner
                .bytes()
                .take_while(|&b| b.is_ascii_uppercase() || b == b'_')
                .count();
            let share = text[..start].ends_with(|c: char| c.is_ascii_digit());
            if matches!(letter, Some('s' | 'd' | 'i' | 'u')) && ends && !share {
                found.push(rest[..digits + 2].to_owned());
            } else if capitals > 0 && inner[capitals..].starts_with('%') {
                found.push(inner[..capitals].to_owned());
                at = start + capitals + 2;
            }
        }
    }
    found
}

/// Whether this stands between braces as a name: `loc`, `self.disk`, `args[0]`.
fn is_field(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '-'))
}

/// The length of the balanced text at the start, which `open` begins.
fn balanced(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in text
        .char_indices()
        .take_while(|&(at, _)| at < MAX_SUBSTITUTION)
    {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + c.len_utf8());
            }
        }
    }
    None
}

/// The length of `<name>` at the start, where a person is meant to put something.
pub(super) fn placeholder(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('<')?;
    let end = inside
        .char_indices()
        .take(40)
        .find(|&(_, c)| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ' ')))?;
    let name = &inside[..end.0];
    (end.1 == '>' && name.starts_with(char::is_alphabetic) && !name.ends_with(' '))
        .then_some(end.0 + 2)
}

/// The length of a tag of HTML at the start, from a list of those that stand around commands.
fn tag(text: &str) -> Option<usize> {
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
    line.split_once('=')
        .is_some_and(|(name, _)| dd::is_operand(name))
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

fn is_escapable(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, ':' | ',' | '%') || c == ' '
}

/// Whether `c` is the quote `quote`, or a typographic form of it.
fn same_quote(c: char, quote: char) -> bool {
    match quote {
        '"' => matches!(c, '"' | '\u{201c}'..='\u{201f}'),
        '\'' => matches!(c, '\'' | '\u{2018}'..='\u{201b}'),
        quote => c == quote,
    }
}
