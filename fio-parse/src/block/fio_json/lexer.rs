//! A pull lexer for JSON as it stands in logs and posts: one pass, no tree, slices of the text.
//!
//! ```text
//! value  = object | array | string | word
//! object = "{" { string ":" value } "}"
//! array  = "[" { value } "]"
//! blank  = " " | TAB | NEWLINE [margin] | "," | ">" | "|" | NBSP and other look-alikes
//! ```
//!
//! Commas count as blanks, so that missing and doubled ones do no harm; `>` and `|` too, for they stand at the head
//! of quoted lines and mean nothing in JSON outside of strings. Words (numbers, `nan`, `true`) and strings are given
//! as they stand. A *margin* is what a logger put before the opening brace and before each line below it.
//!
//! The first thing that fits nowhere breaks the lexer: from then on every call ends its object, so that the callers'
//! loops run out by themselves, and [`Lexer::broken`] tells the place. Lines of other text between two members (stderr,
//! progress, `...`) are passed over, three in a row at most, and noted in [`Lexer::noise`].

use crate::source::Span;

/// How many lines of other text in a row may stand inside of a document.
const NOISE_LINES: u8 = 3;
/// How deep values that nobody asked for may be nested.
const DEPTH: u32 = 64;
/// How far the end of an object is looked for by its braces alone.
const NEAR: usize = 4096;

/// The bytes that stand in members of fio's objects of numbers: keys, numbers, signs, blanks.
static PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let bytes = b" \n\r\t,:\"._%>=-+0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut at = 0;
    while at < bytes.len() {
        plain[bytes[at] as usize] = true;
        at += 1;
    }
    plain
};

/// The state of reading.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    margin: &'t [u8],
    broken: Option<usize>,
    may_skip_noise: bool,
    noise_lines: u8,
    noise_start: usize,
    /// Lines that were passed over.
    pub noise: Vec<Span>,
}

impl<'t> Lexer<'t> {
    /// A lexer at byte `at` of `text` that takes other text for the end, and passes over `margin` at the head of each line.
    pub fn strict(text: &'t str, at: usize, margin: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at,
            margin: margin.as_bytes(),
            broken: None,
            may_skip_noise: false,
            noise_lines: 0,
            noise_start: 0,
            noise: Vec::new(),
        }
    }

    /// A lexer that passes over lines of other text as well.
    pub fn tolerant(text: &'t str, at: usize, margin: &'t str) -> Self {
        Self {
            may_skip_noise: true,
            ..Self::strict(text, at, margin)
        }
    }

    /// Where the next byte stands.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Where reading came to its end before the document did.
    pub fn broken(&self) -> Option<usize> {
        self.broken
    }

    /// The next byte that is no blank; it is not taken.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b' ' => {
                    self.at += 1;
                    // indentation comes in runs
                    while let Some(eight) = self.bytes.get(self.at..self.at + 8) {
                        if eight != b"        " {
                            break;
                        }
                        self.at += 8;
                    }
                }
                b'\n' => {
                    self.at += 1;
                    if !self.margin.is_empty() {
                        self.skip_margin();
                    }
                }
                b',' | b'\t' | b'\r' | b'>' | b'|' => self.at += 1,
                byte if byte < 0x80 => return Some(byte),
                byte => match wide_blank(&self.bytes[self.at..]) {
                    Some(length) => self.at += length,
                    None => return Some(byte),
                },
            }
        }
    }

    /// Passes over the margin if this line has it: digits for digits, all else alike.
    #[cold]
    fn skip_margin(&mut self) {
        let Some(head) = self.bytes.get(self.at..self.at + self.margin.len()) else {
            return;
        };
        let alike = |(&a, &b): (&u8, &u8)| a == b || a.is_ascii_digit() && b.is_ascii_digit();
        if head.iter().zip(self.margin).all(alike)
            && self.text.is_char_boundary(self.at + head.len())
        {
            self.at += head.len();
        }
    }

    /// Takes `byte` if it comes next.
    pub fn take(&mut self, byte: u8) -> bool {
        if self.broken.is_none() && self.peek() == Some(byte) {
            self.at += 1;
            return true;
        }
        false
    }

    /// Enters the object that comes next. Any other value is passed over.
    pub fn enter_object(&mut self) -> bool {
        self.take(b'{') || self.skip()
    }

    /// Enters the array that comes next. Any other value is passed over.
    pub fn enter_array(&mut self) -> bool {
        self.take(b'[') || self.skip()
    }

    /// Inside of an object: the next key, its colon taken. At the end of the object, taken too, `None`.
    #[inline]
    pub fn key(&mut self) -> Option<&'t str> {
        if self.broken.is_some() {
            return None;
        }
        loop {
            let start = self.at;
            match self.peek() {
                Some(b'"') => {
                    if let Some(key) = self.quoted()
                        && self.peek() == Some(b':')
                    {
                        self.at += 1;
                        self.noise_lines = 0;
                        return Some(key);
                    }
                }
                Some(b'}') => {
                    self.at += 1;
                    self.noise_lines = 0;
                    return None;
                }
                Some(0xe2) => {
                    if let Some(key) = self.curly_quoted()
                        && self.peek() == Some(b':')
                    {
                        self.at += 1;
                        self.noise_lines = 0;
                        return Some(key);
                    }
                }
                _ => {}
            }
            if !self.pass_noise(start) {
                return None;
            }
        }
    }

    /// Inside of an array: whether a value comes next. The end of the array is taken.
    pub fn element(&mut self) -> bool {
        if self.broken.is_some() {
            return false;
        }
        loop {
            let start = self.at;
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return false;
                }
                Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b'n' | b't' | b'f' | b'i') => {
                    return true;
                }
                _ => {}
            }
            if !self.pass_noise(start) {
                return false;
            }
        }
    }

    /// Passes over a line that is no JSON, if that is allowed and it starts behind `before`; else breaks.
    #[cold]
    fn pass_noise(&mut self, before: usize) -> bool {
        // the line must not hold anything that was taken
        self.at = before;
        if self.peek().is_none() {
            let end = self.noise_begin(self.bytes.len());
            return self.break_at(end);
        }
        let start = self.at;
        let line = memchr::memrchr(b'\n', &self.bytes[..start]).map_or(0, |at| at + 1);
        let opens = matches!(self.bytes[start], b'{' | b'[' | b'}' | b']');
        if !self.may_skip_noise || line < before || opens || self.noise_lines == NOISE_LINES {
            let place = self.noise_begin(start);
            return self.break_at(place);
        }
        if self.noise_lines == 0 {
            self.noise_start = line;
        }
        self.noise_lines += 1;
        self.at =
            memchr::memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |end| start + end);
        self.noise.push(Span::new(line as u32, self.at as u32));
        true
    }

    /// Where the present run of noise began, or `here`.
    fn noise_begin(&mut self, here: usize) -> usize {
        let run = usize::from(std::mem::take(&mut self.noise_lines));
        if run == 0 {
            return here;
        }
        self.noise.truncate(self.noise.len() - run);
        self.noise_start
    }

    fn break_at(&mut self, at: usize) -> bool {
        self.broken.get_or_insert(at);
        self.at = self.broken.unwrap_or(at);
        false
    }

    /// Breaks here: what follows is not wanted.
    pub fn give_up(&mut self) {
        self.break_at(self.at);
    }

    /// The string that comes next, as it stands between its quotes. Any other value is passed over.
    pub fn string(&mut self) -> Option<&'t str> {
        if self.broken.is_some() {
            return None;
        }
        match self.peek() {
            Some(b'"') => {
                let start = self.at;
                let text = self.quoted();
                if text.is_none() {
                    self.break_at(start);
                }
                text
            }
            Some(0xe2) => {
                let text = self.curly_quoted();
                if text.is_none() {
                    self.skip();
                }
                text
            }
            _ => {
                self.skip();
                None
            }
        }
    }

    /// The number that comes next, as it stands; numbers between quotes count. Any other value is passed over.
    #[inline]
    pub fn number(&mut self) -> Option<&'t str> {
        if self.broken.is_some() {
            return None;
        }
        match self.peek() {
            Some(b'0'..=b'9' | b'-') => {
                let word = self.word()?;
                word.as_bytes()
                    .iter()
                    .any(u8::is_ascii_digit)
                    .then_some(word)
            }
            Some(b'"') => self
                .string()
                .filter(|text| text.starts_with(|c: char| c.is_ascii_digit())),
            _ => {
                self.skip();
                None
            }
        }
    }

    /// Letters, digits, points and signs. A word that the text ends with may be cut off: that breaks.
    #[inline]
    fn word(&mut self) -> Option<&'t str> {
        let start = self.at;
        let mut end = start;
        while let Some(byte) = self.bytes.get(end)
            && (byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'))
        {
            end += 1;
        }
        if end == start || end == self.bytes.len() {
            self.break_at(start);
            return None;
        }
        self.at = end;
        Some(&self.text[start..end])
    }

    /// At a `"`: what stands up to the next one that no backslash stands before. `None` where the text ends before.
    #[inline]
    fn quoted(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        let mut end = start;
        loop {
            match *self.bytes.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        Some(&self.text[start..end])
    }

    /// At a curly quote: what stands up to the next quote of any kind in the line.
    #[cold]
    fn curly_quoted(&mut self) -> Option<&'t str> {
        let is_quote = |c: char| matches!(c, '“' | '”' | '„' | '"' | '\n');
        let rest = &self.text[self.at..];
        let opening = rest.chars().next().filter(|&c| is_quote(c))?;
        let start = self.at + opening.len_utf8();
        let length = self.text[start..].find(is_quote)?;
        let closing = self.text[start + length..]
            .chars()
            .next()
            .filter(|&c| c != '\n')?;
        self.at = start + length + closing.len_utf8();
        Some(&self.text[start..start + length])
    }

    /// Inside of an object: passes over what is left of it, its end included.
    pub fn rest_of_object(&mut self) {
        if self.broken.is_some() || self.near_end() {
            return;
        }
        while self.key().is_some() {
            self.skip();
        }
    }

    /// Inside of an object: goes behind its end where that is near and can be found by counting braces.
    ///
    /// So it is in fio's objects of numbers. Braces count outside of strings only, and one that opens must stand behind
    /// a colon, so that nothing behind a cut is taken in. Where there is any doubt the cursor stays.
    fn near_end(&mut self) -> bool {
        let end = self.bytes.len().min(self.at + NEAR);
        let (mut at, mut depth) = (self.at, 0);
        while self.margin.is_empty() {
            let piece = at;
            while at < end && PLAIN[usize::from(self.bytes[at])] {
                at += 1;
            }
            // no escapes are plain, so an odd count of quotes means that a string is open
            let quotes = memchr::memchr_iter(b'"', &self.bytes[piece..at]).count();
            match self.bytes[..end].get(at) {
                _ if quotes % 2 == 1 => return false,
                Some(b'}') if depth == 0 => {
                    self.at = at + 1;
                    return true;
                }
                Some(b'}') => depth -= 1,
                Some(b'{') if self.bytes[self.at..at].trim_ascii_end().ends_with(b":") => {
                    depth += 1
                }
                _ => return false,
            }
            at += 1;
        }
        false
    }

    /// Passes over the value that comes next, whatever it is. Always false, so that it can stand behind `||`.
    pub fn skip(&mut self) -> bool {
        // one bit for each open value: set for an object, clear for an array
        let (mut kinds, mut depth) = (0u64, 0u32);
        loop {
            match self.peek() {
                Some(b'{') if depth == 0 && self.broken.is_none() => {
                    self.at += 1;
                    if self.near_end() {
                        return false;
                    }
                    (kinds, depth) = (1, 1);
                }
                _ if self.broken.is_some() => return false,
                Some(open @ (b'{' | b'[')) => {
                    if depth == DEPTH {
                        return self.break_at(self.at);
                    }
                    self.at += 1;
                    kinds = kinds << 1 | u64::from(open == b'{');
                    depth += 1;
                }
                Some(b'"') => {
                    let start = self.at;
                    if self.quoted().is_none() {
                        return self.break_at(start);
                    }
                }
                Some(0xe2) if self.curly_quoted().is_some() => {}
                Some(_) => {
                    self.word();
                }
                None => return self.break_at(self.bytes.len()),
            }
            // on to the next value of the innermost that has one
            loop {
                if depth == 0 || self.broken.is_some() {
                    return false;
                }
                let more = if kinds & 1 == 1 {
                    self.key().is_some()
                } else {
                    self.element()
                };
                if more {
                    break;
                }
                kinds >>= 1;
                depth -= 1;
            }
        }
    }
}

/// The length of the blank that is no ASCII character at the head of `bytes`, if one is there.
#[cold]
fn wide_blank(bytes: &[u8]) -> Option<usize> {
    match bytes {
        // no-break space
        [0xc2, 0xa0, ..] => Some(2),
        // spaces of all widths, zero-width ones, narrow no-break space
        [0xe2, 0x80, 0x80..=0x8f | 0xaf, ..] => Some(3),
        // ideographic space, byte-order mark
        [0xe3, 0x80, 0x80, ..] | [0xef, 0xbb, 0xbf, ..] => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All keys of the outermost object with their words, and where it broke.
    fn members(lexer: &mut Lexer<'_>) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if lexer.enter_object() {
            while let Some(key) = lexer.key() {
                let value = lexer.number().unwrap_or("-");
                if lexer.broken().is_none() {
                    found.push((key.to_owned(), value.to_owned()));
                }
            }
        }
        found
    }

    fn pairs(found: &[(String, String)]) -> Vec<(&str, &str)> {
        found
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect()
    }

    #[test]
    fn members_come_out_in_order() {
        let text = "{ \"a\" : 1.50,\n  \"b\" : [1, {\"x\": \"}\"}, []],\r\n\t\"c\":nan, \"d\\\"\" : \"2\" , \"a\":-3} rest";
        let mut lexer = Lexer::strict(text, 0, "");
        let found = members(&mut lexer);
        assert_eq!(
            pairs(&found),
            [
                ("a", "1.50"),
                ("b", "-"),
                ("c", "-"),
                ("d\\\"", "2"),
                ("a", "-3")
            ]
        );
        assert_eq!((lexer.broken(), &text[lexer.at()..]), (None, " rest"));
    }

    #[test]
    fn quoted_lines_and_typography_are_blank() {
        let text = "> {\n> > \u{a0}“a” : 1\n| \u{200b}\"b\" : 2\n}";
        let mut lexer = Lexer::strict(text, 0, "");
        assert_eq!(pairs(&members(&mut lexer)), [("a", "1"), ("b", "2")]);
        assert_eq!(lexer.broken(), None);
    }

    #[test]
    fn a_margin_is_passed_over() {
        let text = "09:15:01 x | {\n09:15:02 x |   \"a\" : 1,\n09:15:02 x | }";
        let at = text.find('{').unwrap();
        let mut lexer = Lexer::tolerant(text, at, &text[..at]);
        assert_eq!(pairs(&members(&mut lexer)), [("a", "1")]);
        assert!(lexer.noise.is_empty());
    }

    #[test]
    fn lines_of_other_text_are_passed_over_three_at_most() {
        let text = "{\n\"a\" : 1,\nfio: a warning\n...\n\"b\" : 2\n}";
        let mut lexer = Lexer::tolerant(text, 0, "");
        assert_eq!(pairs(&members(&mut lexer)), [("a", "1"), ("b", "2")]);
        assert_eq!(lexer.noise.len(), 2);
        let text = "{\n\"a\" : 1,\nw\nx\ny\nz\n\"b\" : 2\n}";
        let mut lexer = Lexer::tolerant(text, 0, "");
        assert_eq!(pairs(&members(&mut lexer)), [("a", "1")]);
        assert_eq!(lexer.broken(), text.find('w'));
        assert!(lexer.noise.is_empty());
    }

    #[test]
    fn a_cut_shows_its_place_and_drops_the_cut_word() {
        for (text, place) in [
            ("{\"a\" : 1, \"b\" : 12", "12"),
            ("{\"a\" : 1, \"b\" : \"12", "\"12"),
            ("{\"a\" : 1, \"b", "\"b"),
            ("{\"a\" : 1,\n{\"c\" : 1}", "{\"c"),
        ] {
            let mut lexer = Lexer::tolerant(text, 0, "");
            assert_eq!(pairs(&members(&mut lexer)), [("a", "1")], "{text}");
            assert_eq!(lexer.broken(), text.find(place), "{text}");
        }
    }

    #[test]
    fn depth_has_a_limit() {
        let text = "[".repeat(1_000_000);
        let mut lexer = Lexer::strict(&text, 0, "");
        lexer.skip();
        assert_eq!(lexer.broken(), Some(DEPTH as usize));
    }

    #[test]
    fn near_ends_are_those_of_the_object() {
        for (text, rest) in [
            ("\"a\" : 1 } x", " x"),
            ("\"a\" : {\"b\" : 2}, \"c\" : 0.5% }, \"d\"", ", \"d\""),
            ("\"a:{\" : 1 }}", "}"),
            ("\"a\" : \"}\" }}", "}"),
            ("\"a\" : \"\\\"}\" }}", "}"),
            ("\"a\" : [{\"b\" : 2}] }}", "}"),
        ] {
            let mut lexer = Lexer::strict(text, 0, "");
            lexer.rest_of_object();
            assert_eq!(
                (&text[lexer.at()..], lexer.broken()),
                (rest, None),
                "{text}"
            );
        }
        // a document behind a cut is not taken in
        let text = "\"a\" : 1,\n{ \"b\" : 2 }\n}";
        let mut lexer = Lexer::tolerant(text, 0, "");
        lexer.rest_of_object();
        assert_eq!(lexer.broken(), text.find('{'));
    }

    proptest! {
        #[test]
        fn any_text_does_not_panic(text in "[{}\\[\\]\":,a1\\\\\n é“-]{0,60}") {
            for mut lexer in [Lexer::strict(&text, 0, ""), Lexer::tolerant(&text, 0, "a ")] {
                lexer.skip();
                members(&mut lexer);
                prop_assert!(lexer.at() <= text.len() && text.is_char_boundary(lexer.at()));
            }
        }
    }
}
