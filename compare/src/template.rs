//! Lines of records that differ in their figures only.
//!
//! Most lines of a large file are, but for some numbers, byte for byte like one read before. A
//! [`Template`] is such a line with holes:
//!
//! ```text
//! {"v":1,...,"run": # ,...,"bytes_per_sec":{"value": # ,"lo": # ,"hi": # ,"printed":[{"text": " ,"span":[ # , # ]}]},...}
//! ```
//!
//! A line is read through a template if everything between the holes is the same and in each hole
//! stands one JSON number (or, for printed texts, one string without escapes). Then it is the same
//! JSON but for these values, and what was checked of the first line holds of it. Comparing bytes
//! takes a tenth of the time that any JSON reader does.
//!
//! [`Templates`] are a tree of what stands between the holes, so that a line finds its own among
//! thousands (machines times tests) by a look-up where they part. No text on one way out of a node
//! begins with another: where the first ends a hole begins, and so it would in the second.
//!
//! Place: under [`crate::lines`], which falls back to a JSON reader where no template fits.

use memchr::memchr2;
use polars::prelude::PlHashMap;

/// Names of the figures, in the order in which [`Templates::read`] gives them.
pub const FIGURES: [&str; 7] = [
    "bytes_per_sec",
    "bytes",
    "iops",
    "runtime_ns",
    "wall_ns",
    "io_phase_ns",
    "flush_ns",
];

/// A figure's least, stated and greatest value.
pub type Figure = [f64; 3];

/// A line with holes.
#[derive(Debug)]
pub struct Template {
    text: Vec<u8>,
    /// The ends of the literal parts in `text`, each with the hole behind it.
    parts: Vec<(usize, Hole)>,
    /// Which figures the line has.
    there: [bool; FIGURES.len()],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    /// The run number.
    Run,
    /// One end of a figure.
    End(u8, u8),
    /// A number that matters to nobody.
    Number,
    /// A text that matters to nobody.
    Text,
}

impl Template {
    /// The template of a line that is a valid record. None where a figure has several readings.
    pub fn of(line: &[u8]) -> Option<Template> {
        let mut walk = Walk {
            line,
            at: 0,
            keys: Vec::new(),
            copied: 0,
            template: Template {
                text: Vec::new(),
                parts: Vec::new(),
                there: [false; FIGURES.len()],
            },
        };
        walk.value()?;
        walk.blanks();
        if walk.at != line.len() {
            return None;
        }
        walk.template.text.extend(&line[walk.copied..]);
        Some(walk.template)
    }
}

/// Templates with what is known of their lines.
#[derive(Debug)]
pub struct Templates<T> {
    nodes: Vec<Node>,
    ends: Vec<End<T>>,
}

/// What a line comes to that was read through a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End<T> {
    /// Which figures it has.
    pub there: [bool; FIGURES.len()],
    /// What is known of all lines of the template.
    pub known: T,
}

/// A place at the start of a line or behind a hole.
#[derive(Debug, Default)]
struct Node {
    /// The first ways on.
    few: Vec<(Box<[u8]>, Way)>,
    /// The others, with the lengths of their texts; the latest used comes first.
    many: PlHashMap<Box<[u8]>, Way>,
    lengths: Vec<usize>,
}

/// Where a text leads.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// To a hole, and from there to a node.
    Hole(Hole, usize),
    /// To the end of the line.
    End(usize),
}

/// So many texts are compared one by one.
const FEW: usize = 3;

/// More templates are no use: hardly a line is like another.
const MOST: usize = 1 << 14;

impl Node {
    /// The way on from here and what stands behind its text.
    fn find<'l>(&mut self, line: &'l [u8]) -> Option<(Way, &'l [u8])> {
        let mut few = self.few.iter();
        let found = few.find_map(|(text, way)| Some((*way, line.strip_prefix(&**text)?)));
        found.or_else(|| {
            let (at, way) = (self.lengths.iter().enumerate())
                .find_map(|(at, length)| Some((at, *self.many.get(line.get(..*length)?)?)))?;
            let behind = &line[self.lengths[at]..];
            self.lengths[..=at].rotate_right(1);
            Some((way, behind))
        })
    }

    fn add(&mut self, text: &[u8], way: Way) {
        if self.few.len() < FEW {
            self.few.push((text.into(), way));
            return;
        }
        if !self.lengths.contains(&text.len()) {
            self.lengths.push(text.len());
        }
        self.many.insert(text.into(), way);
    }
}

impl<T> Default for Templates<T> {
    fn default() -> Self {
        Templates {
            nodes: vec![Node::default()],
            ends: Vec::new(),
        }
    }
}

impl<T: Copy> Templates<T> {
    /// Whether there are so many that another one is no use.
    pub fn is_full(&self) -> bool {
        self.ends.len() >= MOST
    }

    /// Adds a template unless it is there.
    pub fn add(&mut self, template: &Template, known: T) {
        let (mut node, mut from) = (0, 0);
        for (end, hole) in &template.parts {
            let text = &template.text[from..*end];
            from = *end;
            node = match self.nodes[node].find(text) {
                Some((Way::Hole(_, next), [])) => next,
                _ => {
                    self.nodes.push(Node::default());
                    let next = self.nodes.len() - 1;
                    self.nodes[node].add(text, Way::Hole(*hole, next));
                    next
                }
            };
        }
        let last = &template.text[from..];
        if self.nodes[node].find(last).is_some() {
            // It is there, but a value of the line did not fit its hole.
            return;
        }
        self.ends.push(End {
            there: template.there,
            known,
        });
        let end = Way::End(self.ends.len() - 1);
        self.nodes[node].add(last, end);
    }

    /// The run number of a line, its figures (those that are there), and what is known. None where
    /// no template fits.
    pub fn read(
        &mut self,
        line: &[u8],
        figures: &mut [Figure; FIGURES.len()],
    ) -> Option<(u32, End<T>)> {
        let mut run = None;
        let (mut node, mut rest) = (0, line);
        loop {
            let (way, behind) = self.nodes[node].find(rest)?;
            rest = behind;
            let hole = match way {
                Way::End(end) => {
                    let end = rest.is_empty().then(|| self.ends[end]);
                    return run.zip(end);
                }
                Way::Hole(hole, next) => {
                    node = next;
                    hole
                }
            };
            match hole {
                Hole::Run => {
                    let (value, behind) = whole(rest)?;
                    (run, rest) = (Some(value), behind);
                }
                Hole::End(figure, end) => {
                    let (value, behind) = number(rest)?;
                    figures[usize::from(figure)][usize::from(end)] = value;
                    rest = behind;
                }
                Hole::Number => rest = skip_number(rest)?.1,
                Hole::Text => {
                    // `rest` stands behind the opening quote.
                    let close = memchr2(b'"', b'\\', rest).filter(|at| rest[*at] == b'"')?;
                    let plain = rest[..close].iter().all(|b| (0x20..0x7f).contains(b));
                    rest = plain.then(|| &rest[close..])?;
                }
            }
        }
    }
}

/// A walk over the tokens of a valid line.
struct Walk<'l> {
    line: &'l [u8],
    at: usize,
    /// The keys that lead here; elements of an array have its key.
    keys: Vec<&'l [u8]>,
    /// How much of the line is in the template.
    copied: usize,
    template: Template,
}

impl<'l> Walk<'l> {
    fn blanks(&mut self) {
        while self.line.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.blanks();
        (self.line.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    /// The inside of a string, escapes as they stand.
    fn string(&mut self) -> Option<&'l [u8]> {
        self.take(b'"')?;
        let start = self.at;
        loop {
            self.at += memchr2(b'"', b'\\', self.line.get(self.at..)?)?;
            if self.line[self.at] == b'"' {
                self.at += 1;
                return Some(&self.line[start..self.at - 1]);
            }
            self.at += 2;
        }
    }

    fn hole(&mut self, from: usize, to: usize, hole: Hole) {
        self.template.text.extend(&self.line[self.copied..from]);
        self.template.parts.push((self.template.text.len(), hole));
        self.copied = to;
    }

    fn value(&mut self) -> Option<()> {
        self.blanks();
        match self.line.get(self.at)? {
            b'{' => self.list(b'{', b'}', true),
            b'[' => self.list(b'[', b']', false),
            b'"' => {
                self.string()?;
                let printed = self.keys.iter().rev().nth(1) == Some(&&b"printed"[..]);
                if printed && self.keys.last() == Some(&&b"text"[..]) {
                    let end = self.at - 1;
                    let inside = self.line[..end].iter().rposition(|b| *b == b'"')? + 1;
                    self.hole(inside, end, Hole::Text);
                }
                Some(())
            }
            b'-' | b'0'..=b'9' => {
                let from = self.at;
                let (token, _) = skip_number(&self.line[from..])?;
                self.at += token.len();
                if let Some(hole) = self.kind() {
                    self.hole(from, self.at, hole);
                }
                Some(())
            }
            _ => {
                let rest = &self.line[self.at..];
                let mut words = ["true", "false", "null"].into_iter();
                self.at += words.find(|word| rest.starts_with(word.as_bytes()))?.len();
                Some(())
            }
        }
    }

    fn list(&mut self, open: u8, close: u8, keyed: bool) -> Option<()> {
        self.take(open)?;
        if self.take(close).is_some() {
            return Some(());
        }
        loop {
            if keyed {
                self.blanks();
                let key = self.string()?;
                self.take(b':')?;
                self.keys.push(key);
                if key == b"also" && self.keys.first() == Some(&&b"measurement"[..]) {
                    return None;
                }
            }
            self.value()?;
            if keyed {
                self.keys.pop();
            }
            if self.take(close).is_some() {
                return Some(());
            }
            self.take(b',')?;
        }
    }

    /// What the number here is; none if it says what was measured and must stay.
    fn kind(&mut self) -> Option<Hole> {
        match self.keys.as_slice() {
            [b"run"] => Some(Hole::Run),
            [b"measurement", b"steady_state", ..] => None,
            [b"measurement", figure, end] => {
                let figure = FIGURES.iter().position(|f| f.as_bytes() == *figure);
                let end = ["lo", "value", "hi"]
                    .iter()
                    .position(|e| e.as_bytes() == *end);
                let Some((figure, end)) = figure.zip(end) else {
                    return Some(Hole::Number);
                };
                self.template.there[figure] = true;
                Some(Hole::End(figure as u8, end as u8))
            }
            [b"measurement", ..] | [.., b"span" | b"line"] => Some(Hole::Number),
            _ => None,
        }
    }
}

/// A JSON number and what stands behind it.
fn skip_number(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let digits = |from: usize| {
        text[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(text.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && text[at] == b'0') {
        return None;
    }
    at += whole;
    if text.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return None;
        }
        at += exponent;
    }
    Some(text.split_at(at))
}

fn whole(text: &[u8]) -> Option<(u32, &[u8])> {
    let (token, rest) = skip_number(text)?;
    let text = std::str::from_utf8(token).ok()?;
    Some((text.parse().ok()?, rest))
}

/// Powers of ten that are exact.
const TENS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// A JSON number as the nearest `f64`.
fn number(text: &[u8]) -> Option<(f64, &[u8])> {
    if let Some(short) = short_number(text) {
        return Some(short);
    }
    let (token, rest) = skip_number(text)?;
    let text = std::str::from_utf8(token).ok()?;
    Some((text.parse().ok()?, rest))
}

/// Likewise in one pass; none if it has a sign, an exponent or more than 15 digits, or is no
/// number.
fn short_number(text: &[u8]) -> Option<(f64, &[u8])> {
    let mut at = 0;
    let mut digits = 0u64;
    let mut take = |at: &mut usize| {
        while let Some(digit) = text
            .get(*at)
            .map(|b| b.wrapping_sub(b'0'))
            .filter(|d| *d < 10)
        {
            // What overflows has too many digits to be used.
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
            *at += 1;
        }
    };
    take(&mut at);
    let whole = at;
    if whole == 0 || (whole > 1 && text[0] == b'0') {
        return None;
    }
    let mut behind = 0;
    if text.get(at) == Some(&b'.') {
        at += 1;
        take(&mut at);
        behind = at - whole - 1;
        if behind == 0 {
            return None;
        }
    }
    if whole + behind > 15 || matches!(text.get(at), Some(b'e' | b'E')) {
        return None;
    }
    // Up to 15 digits and their power of ten are exact, so one division rounds right.
    let value = match behind {
        0 => digits as f64,
        _ => digits as f64 / TENS[behind],
    };
    Some((value, &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"v":1,"source":{"name":"a\"b","span":[1,22],"line":3},"run":7,"scope":{"group":0},"measurement":{"bytes_per_sec":{"value":1.5,"lo":1,"hi":2,"printed":[{"text":"1B/s","span":[5,9]}]},"cpu":{"user":[0.5,1e3]},"wall_covers":"run"},"errors":[]}"#;

    fn templates(lines: &[&str]) -> Templates<usize> {
        let mut all = Templates::default();
        for (at, line) in lines.iter().enumerate() {
            all.add(&Template::of(line.as_bytes()).unwrap(), at);
        }
        all
    }

    /// The run, the first figure, and which template it was.
    fn read(templates: &mut Templates<usize>, line: &str) -> Option<(u32, Figure, usize)> {
        let mut figures = [[0.0; 3]; FIGURES.len()];
        let (run, end) = templates.read(line.as_bytes(), &mut figures)?;
        assert_eq!(end.there, [true, false, false, false, false, false, false]);
        Some((run, figures[0], end.known))
    }

    #[test]
    fn a_line_finds_its_own_among_many() {
        // Names of several lengths, before and behind holes.
        let line = |i: usize| {
            let name = format!("\"name\":\"m{}\"", "x".repeat(i % 7) + &i.to_string());
            let covers = format!("\"run{}\"", i % 3);
            LINE.replace("\"name\":\"a\\\"b\"", &name)
                .replace("\"run\"}", &format!("{covers}}}"))
        };
        let lines: Vec<String> = (0..200).map(line).collect();
        let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut all = templates(&texts);
        for (i, line) in lines.iter().enumerate().rev() {
            let other = line.replace("\"run\":7", &format!("\"run\":{i}"));
            let wanted = (i as u32, [1.0, 1.5, 2.0], i);
            assert_eq!(read(&mut all, &other), Some(wanted), "{other}");
        }
        assert_eq!(read(&mut all, &line(500)), None);
    }

    #[test]
    fn a_line_is_read_through_another() {
        let mut template = templates(&[LINE]);
        assert_eq!(read(&mut template, LINE), Some((7, [1.0, 1.5, 2.0], 0)));
        let other = LINE
            .replace("[1,22]", "[100,2]")
            .replace("\"line\":3", "\"line\":44444")
            .replace("\"run\":7", "\"run\":4000000000")
            .replace("\"lo\":1,", "\"lo\":0.123456789012345678,")
            .replace("1B/s", "900MiB/s")
            .replace("0.5,1e3", "12,-3.5E-7");
        assert_eq!(
            read(&mut template, &other),
            Some((
                4_000_000_000,
                ["0.123456789012345678".parse().unwrap(), 1.5, 2.0],
                0
            ))
        );
        for (from, to) in [
            ("\"group\":0", "\"group\":1"),
            ("run\"}", "pipeline\"}"),
            ("a\\\"b", "ab"),
            ("\"lo\":1,", "\"lo\":01,"),
            ("\"lo\":1,", "\"lo\":,"),
            ("\"lo\":1,", "\"lo\":null,"),
            ("\"run\":7", "\"run\":7.5"),
            ("\"run\":7", "\"run\":-7"),
            ("1B/s", "1\\u0042/s"),
            ("[0.5,1e3]", "[0.5]"),
            ("[]}", "[]}}"),
            ("[]}", "[]"),
        ] {
            let odd = LINE.replace(from, to);
            assert_ne!(odd, LINE);
            assert_eq!(read(&mut template, &odd), None, "{to}");
        }
    }

    #[test]
    fn several_readings_have_no_template() {
        let line = LINE.replace("\"lo\":1,", "\"lo\":1,\"also\":[],");
        assert!(Template::of(line.as_bytes()).is_none());
    }

    #[test]
    fn numbers_are_the_nearest() {
        for text in [
            "0",
            "0.1",
            "307104239.5",
            "9007199254740993",
            "123456789.0123456",
            "1e-3",
            "0.30000000000000004",
            "999999999999999.9",
        ] {
            let (value, rest) = number(text.as_bytes()).unwrap();
            assert_eq!((value, rest), (text.parse().unwrap(), &b""[..]), "{text}");
        }
    }
}
