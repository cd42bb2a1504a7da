//! The filter language: which records enter the comparison.
//!
//! ```text
//! expr   = and { "OR" and }
//! and    = not { [ "AND" ] not }             two terms side by side mean AND
//! not    = [ "NOT" | "-" ] atom
//! atom   = "(" expr ")" | "*" | key ":" values
//! values = value | "(" value { "OR" value } ")"
//! value  = word | "quoted words" | "/" regular expression "/"
//! ```
//!
//! `rw:randwrite AND bs:4k AND NOT machine:/mbp/i`. A word matches the whole value, case and all;
//! a regular expression matches anywhere. Sizes match by amount: `bs:4k`, `bs:4096` and `bs:4KiB`
//! are one. A record without the key matches nothing but `key:""`.
//!
//! Place: parses text into a [`Filter`], which asks a closure for key values; it knows no record.

use std::borrow::Cow;

use regex::Regex;

use crate::keys::{self, Key};

/// A condition on the keys of a record.
#[derive(Clone, Debug)]
pub enum Filter {
    /// Everything.
    All,
    /// Both.
    And(Box<Filter>, Box<Filter>),
    /// Either.
    Or(Box<Filter>, Box<Filter>),
    /// The opposite.
    Not(Box<Filter>),
    /// The key's value is one of these.
    Is(Key, Vec<Pattern>),
}

/// What a value is held against.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// The whole value, in the key's canonical form.
    Whole(String),
    /// A regular expression, found anywhere.
    Matches(Regex),
}

/// Keys that a record has only in a table.
const FOUND_LATE: [Key; 2] = [Key::TEST, Key::METRIC];

impl Filter {
    /// Parses a filter. The message of an error names the column (from 1), what was expected and
    /// what was found.
    pub fn parse(text: &str) -> Result<Filter, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser {
            tokens,
            at: 0,
            end: text.chars().count(),
        };
        let filter = parser.or()?;
        match parser.peek() {
            None => match filter.keys().into_iter().find(|k| FOUND_LATE.contains(k)) {
                None => Ok(filter),
                Some(Key::METRIC) => Err("expected a key of records, found `metric`; choose metrics with --metric".into()),
                Some(_) => Err("expected a key of records, found `test`, which is named when all are read; filter by section (the heading), rw, bs and the like".into()),
            },
            Some(_) => Err(parser.expected("AND, OR or the end of the filter")),
        }
    }

    /// Does a record match? `value` gives the text of a key, empty if the record has none.
    pub fn matches<'v>(&self, value: &impl Fn(Key) -> Cow<'v, str>) -> bool {
        match self {
            Filter::All => true,
            Filter::And(a, b) => a.matches(value) && b.matches(value),
            Filter::Or(a, b) => a.matches(value) || b.matches(value),
            Filter::Not(inner) => !inner.matches(value),
            Filter::Is(key, patterns) => {
                let found = value(*key);
                patterns.iter().any(|pattern| match pattern {
                    Pattern::Whole(wanted) => found == wanted.as_str(),
                    Pattern::Matches(regex) => regex.is_match(&found),
                })
            }
        }
    }

    /// The keys it asks for.
    pub fn keys(&self) -> Vec<Key> {
        match self {
            Filter::All => Vec::new(),
            Filter::And(a, b) | Filter::Or(a, b) => {
                let mut keys = a.keys();
                keys.extend(b.keys());
                keys
            }
            Filter::Not(inner) => inner.keys(),
            Filter::Is(key, _) => vec![*key],
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Open,
    Close,
    Colon,
    Minus,
    Word(String),
    Quoted(String),
    Regex { source: String, ignore_case: bool },
}

impl Token {
    fn show(&self) -> String {
        match self {
            Token::Open => "`(`".into(),
            Token::Close => "`)`".into(),
            Token::Colon => "`:`".into(),
            Token::Minus => "`-`".into(),
            Token::Word(w) => format!("`{w}`"),
            Token::Quoted(w) => format!("`\"{w}\"`"),
            Token::Regex { source, .. } => format!("`/{source}/`"),
        }
    }
}

/// Cuts the text into tokens with their columns (from 1).
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out: Vec<(usize, Token)> = Vec::new();
    let mut at = 0;
    // Between the parentheses of `key:(a OR b)` words are values.
    let mut in_values = false;
    while at < chars.len() {
        let column = at + 1;
        let last = out.last().map(|(_, token)| token);
        let after_colon = last == Some(&Token::Colon) || in_values;
        let token = match chars[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            '(' => {
                in_values = last == Some(&Token::Colon);
                Token::Open
            }
            ')' => {
                in_values = false;
                Token::Close
            }
            ':' => Token::Colon,
            '-' if !after_colon => Token::Minus,
            '"' => {
                let (word, next) = until(&chars, at + 1, '"').ok_or_else(|| {
                    format!("column {column}: expected a closing `\"`, found the end")
                })?;
                at = next;
                out.push((column, Token::Quoted(word)));
                continue;
            }
            '/' if after_colon => {
                let (source, next) = until(&chars, at + 1, '/')
                    .ok_or_else(|| format!("column {column}: expected a closing `/` of the regular expression, found the end"))?;
                let ignore_case = chars.get(next) == Some(&'i');
                at = next + usize::from(ignore_case);
                out.push((
                    column,
                    Token::Regex {
                        source,
                        ignore_case,
                    },
                ));
                continue;
            }
            _ => {
                let start = at;
                // A value may hold colons (`file:a:b` does not need quotes), a key may not.
                while at < chars.len()
                    && !chars[at].is_whitespace()
                    && !matches!(chars[at], '(' | ')')
                    && (after_colon || chars[at] != ':')
                {
                    at += 1;
                }
                out.push((column, Token::Word(chars[start..at].iter().collect())));
                continue;
            }
        };
        out.push((column, token));
        at += 1;
    }
    Ok(out)
}

/// The text up to a closing character, `\` escaping it, and the place after it.
fn until(chars: &[char], from: usize, close: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut at = from;
    loop {
        match chars.get(at)? {
            '\\' if chars.get(at + 1) == Some(&close) => {
                text.push(close);
                at += 2;
            }
            c if *c == close => return Some((text, at + 1)),
            c => {
                text.push(*c);
                at += 1;
            }
        }
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    end: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(w)) if w == word)
    }

    fn expected(&self, what: &str) -> String {
        match self.tokens.get(self.at) {
            Some((column, token)) => {
                format!("column {column}: expected {what}, found {}", token.show())
            }
            None => format!("column {}: expected {what}, found the end", self.end + 1),
        }
    }

    fn or(&mut self) -> Result<Filter, String> {
        let mut left = self.and()?;
        while self.word("OR") {
            self.at += 1;
            left = Filter::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Filter, String> {
        let mut left = self.not()?;
        loop {
            if self.word("AND") {
                self.at += 1;
            } else if self.peek().is_none() || self.word("OR") || self.peek() == Some(&Token::Close)
            {
                return Ok(left);
            }
            left = Filter::And(Box::new(left), Box::new(self.not()?));
        }
    }

    fn not(&mut self) -> Result<Filter, String> {
        if self.word("NOT") || self.peek() == Some(&Token::Minus) {
            self.at += 1;
            return Ok(Filter::Not(Box::new(self.not()?)));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Filter, String> {
        match self.peek().cloned() {
            Some(Token::Open) => {
                self.at += 1;
                let inner = self.or()?;
                if self.peek() != Some(&Token::Close) {
                    return Err(self.expected("`)`"));
                }
                self.at += 1;
                Ok(inner)
            }
            Some(Token::Word(word)) if word == "*" => {
                self.at += 1;
                Ok(Filter::All)
            }
            Some(Token::Word(word)) => {
                let column = self.tokens[self.at].0;
                let key = keys::parse(&word).map_err(|e| {
                    let meant = self.meant(&word).unwrap_or(e);
                    format!("column {column}: {meant}")
                })?;
                self.at += 1;
                if self.peek() != Some(&Token::Colon) {
                    return Err(self.expected(&format!("`:` and a value after `{word}`")));
                }
                self.at += 1;
                Ok(Filter::Is(key, self.values(key)?))
            }
            _ => Err(self.expected("a term such as `machine:laptop`")),
        }
    }

    /// What a word that stands in the place of a key, and is none, was likely meant to be.
    fn meant(&self, word: &str) -> Option<String> {
        if let Some((key, value)) = word.split_once('=')
            && keys::parse(key).is_ok()
        {
            return Some(format!(
                "expected KEY:VALUE, found `{word}`; write {key}:{value}"
            ));
        }
        let (_, before) = self.tokens[..self.at].split_last()?;
        let [.., (_, Token::Word(key)), (_, Token::Colon)] = before else {
            return None;
        };
        let (_, Token::Word(value)) = self.tokens.get(self.at - 1)? else {
            return None;
        };
        let next = self.tokens.get(self.at + 1).map(|(_, token)| token);
        (next != Some(&Token::Colon)).then(|| {
            format!(
                "expected AND, OR or the end of the filter, found `{word}`; a value with blanks \
                 stands in quotes, as {key}:\"{value} {word}\""
            )
        })
    }

    fn values(&mut self, key: Key) -> Result<Vec<Pattern>, String> {
        if self.peek() != Some(&Token::Open) {
            return Ok(vec![self.value(key)?]);
        }
        self.at += 1;
        let mut patterns = vec![self.value(key)?];
        while self.word("OR") {
            self.at += 1;
            patterns.push(self.value(key)?);
        }
        if self.peek() != Some(&Token::Close) {
            return Err(self.expected("OR or `)`"));
        }
        self.at += 1;
        Ok(patterns)
    }

    fn value(&mut self, key: Key) -> Result<Pattern, String> {
        let pattern = match self.peek() {
            Some(Token::Word(word) | Token::Quoted(word)) => Pattern::Whole(key.canonical(word)),
            Some(Token::Regex {
                source,
                ignore_case,
            }) => {
                let source = if *ignore_case {
                    format!("(?i){source}")
                } else {
                    source.clone()
                };
                let column = self.tokens[self.at].0;
                let regex = Regex::new(&source)
                    .map_err(|e| format!("column {column}: not a regular expression: {e}"))?;
                Pattern::Matches(regex)
            }
            _ => return Err(self.expected("a value")),
        };
        self.at += 1;
        Ok(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record as the filter sees it.
    fn value(key: Key) -> Cow<'static, str> {
        Cow::Borrowed(match key.name() {
            "machine" => "MBP 2018",
            "rw" => "randwrite",
            "bs" => "4k",
            "engine" => "posixaio",
            _ => "",
        })
    }

    #[track_caller]
    fn check(filter: &str, want: bool) {
        assert_eq!(
            Filter::parse(filter).unwrap().matches(&value),
            want,
            "{filter}"
        );
    }

    #[test]
    fn terms_and_connectives() {
        check("rw:randwrite AND bs:4k AND NOT machine:/mbp/", true);
        check("rw:randwrite AND bs:4k AND NOT machine:/mbp/i", false);
        check("rw:randwrite bs:1m", false);
        check("rw:randread OR bs:4k", true);
        check("rw:randread OR bs:4k engine:libaio", false);
        check("(rw:randread OR bs:4k) engine:posixaio", true);
        check("-rw:randread", true);
        check("rw:(randread OR randwrite)", true);
        check("machine:\"MBP 2018\"", true);
        check("machine:/^MBP .*8$/", true);
        check("*", true);
        check("NOT *", false);
        check("size:\"\"", true);
        check("size:4g", false);
    }

    #[test]
    fn sizes_match_by_amount() {
        check("bs:4096", true);
        check("bs:4KiB", true);
        check("bs:4K", true);
        check("bs:4kB", false);
    }

    #[test]
    fn err_what_is_named_later_is_no_condition() {
        for text in ["test:/small/", "bs:4k OR NOT metric:bw"] {
            let error = Filter::parse(text).unwrap_err();
            assert!(error.starts_with("expected a key of records"), "{error}");
        }
    }

    #[test]
    fn err_says_where_what_and_why() {
        let error = |text: &str| Filter::parse(text).unwrap_err();
        assert_eq!(
            error("rw:randwrite AND"),
            "column 17: expected a term such as `machine:laptop`, found the end"
        );
        assert_eq!(
            error("rw randwrite"),
            "column 4: expected `:` and a value after `rw`, found `randwrite`"
        );
        assert_eq!(error("(rw:a"), "column 6: expected `)`, found the end");
        assert_eq!(
            error("rw:a)"),
            "column 5: expected AND, OR or the end of the filter, found `)`"
        );
        assert_eq!(
            error("machine=MBP"),
            "column 1: expected KEY:VALUE, found `machine=MBP`; write machine:MBP"
        );
        assert_eq!(
            error("bs:4k AND machine:MBP 2018"),
            "column 23: expected AND, OR or the end of the filter, found `2018`; a value with \
             blanks stands in quotes, as machine:\"MBP 2018\""
        );
        assert!(error("bs:4k size2:x").starts_with("column 7: expected a key, found `size2`"));
        assert!(error("bsize:4k").starts_with("column 1: expected a key, found `bsize`"));
        assert!(error("machine:/(/").starts_with("column 9: not a regular expression"));
        assert!(error("machine:\"x").contains("closing"));
        assert!(error("").contains("expected a term"));
    }
}
