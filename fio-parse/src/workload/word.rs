//! One word of a shell's line: quotes, escapes, and what would have to be expanded.
//!
//! ```text
//! word      { plain | 'text' | "text" | $'text' | \c | $NAME | ${…} | $(…) | `…` | <placeholder> }
//! template  {name} | {{ name }} | %s | %d | %NAME%                     (of other languages, in any quotes)
//! ```
//!
//! Nothing is expanded. What a shell would have to expand stays in the word as it is written, and its name is
//! listed in [`Word::variables`]. A quote that is not closed in its line counts for nothing. A backslash goes where
//! a shell or Markdown needs it (`\_`) and stays in Windows paths (`data\file`).

use super::arithmetic;
use super::fio::note;
use super::shell::{Shell, is_blank, same_quote, tag};

/// How far a `$(…)` is looked through for its end, in bytes.
const MAX_SUBSTITUTION: usize = 1000;

/// How long the name in a template may be, in bytes.
const MAX_TEMPLATE: usize = 200;

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

impl<'t> Shell<'t> {
    pub(super) fn word(&mut self) -> Word {
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
                    if self.at > start && self.continues_word() {
                        break;
                    }
                    self.backslash(&mut word);
                }
                '$' => self.dollar(&mut word),
                '`' => {
                    if self.at > start && self.continues_word() {
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
                '^' if self.at > start && self.continues_word() => break,
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
    fn line_rest(&mut self) -> &'t str {
        // a line may have a dollar in every other place, so its end is looked for once
        let end = match self.line_end {
            Some(end) if end >= self.at => end,
            _ => {
                let rest = self.rest();
                self.at + rest.find(['\n', '\r']).unwrap_or(rest.len())
            }
        };
        self.line_end = Some(end);
        &self.text[self.at..end]
    }

    /// Makes this place the end of the text.
    fn cut_line(&mut self) {
        self.text = &self.text[..self.at];
        self.line_end = None;
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
        // arithmetic on numbers is what any shell makes of it
        let computed = length
            .and_then(|length| rest[..length].strip_prefix("$((")?.strip_suffix("))"))
            .and_then(arithmetic::value);
        match length {
            Some(length) if computed.is_some() => {
                word.text.extend(computed.map(|value| value.to_string()));
                self.at += length;
            }
            Some(length) => self.take_variable(length, word),
            None => {
                word.text.push('$');
                self.at += 1;
            }
        }
    }

    /// `$'…'`, with its escapes, as bash and zsh have them; bytes that are no UTF-8 together become U+FFFD.
    fn ansi_quote(&mut self, word: &mut Word) {
        self.at += 2;
        word.quoted = true;
        let mut bytes = Vec::new();
        let push = |bytes: &mut Vec<u8>, c: char| {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes())
        };
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\'' => break,
                '\\' => {
                    let Some(escape) = self.peek() else { break };
                    self.at += escape.len_utf8();
                    match escape {
                        'n' => bytes.push(b'\n'),
                        'r' => bytes.push(b'\r'),
                        't' => bytes.push(b'\t'),
                        'a' => bytes.push(7),
                        'b' => bytes.push(8),
                        'e' | 'E' => bytes.push(0x1b),
                        'f' => bytes.push(0xc),
                        'v' => bytes.push(0xb),
                        'u' | 'U' => {
                            let code = self.digits(if escape == 'u' { 4 } else { 8 }, 16);
                            let c = code.and_then(char::from_u32);
                            push(&mut bytes, c.unwrap_or('\u{fffd}'));
                        }
                        'x' => match self.digits(2, 16) {
                            Some(byte) => bytes.push(byte as u8),
                            None => bytes.extend_from_slice(b"\\x"),
                        },
                        '0'..='7' => {
                            self.at -= 1;
                            bytes.extend(self.digits(3, 8).map(|byte| byte as u8));
                        }
                        '\\' | '\'' | '"' | '?' => push(&mut bytes, escape),
                        other => {
                            bytes.push(b'\\');
                            push(&mut bytes, other);
                        }
                    }
                }
                c => push(&mut bytes, c),
            }
        }
        word.text.push_str(&String::from_utf8_lossy(&bytes));
    }

    /// A number of at most so many digits; `None` where no digit stands here.
    fn digits(&mut self, most: usize, radix: u32) -> Option<u32> {
        let rest = self.rest();
        let end = rest
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        let number = u32::from_str_radix(&rest[..end], radix).ok()?;
        self.at += end;
        Some(number)
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
            let near = &inner[..inner.floor_char_boundary(MAX_TEMPLATE)];
            if let Some(end) = near.find("}}") {
                found.push(inner[..end].trim().to_owned());
                at = start + end + 4;
            }
        } else if let Some(inner) = rest.strip_prefix('{') {
            let near = &inner[..inner.floor_char_boundary(MAX_TEMPLATE)];
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

fn is_escapable(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, ':' | ',' | '%') || c == ' '
}
