//! Lexers for the parts of one line: blanks, margins, keys, figures; and for lines that were wrapped.
//!
//! All of them are nom parsers over the *rest of the log*, not over a line, so that a report line which a mail
//! program broke can be read on: blanks never cross a line end, [`wrapped`] does, and only when what follows fits.
//!
//! ```text
//! blank   = space | tab | any other Unicode blank | "&nbsp;"
//! margin  = blanks and quote marks at the start of a line: ">" "|" "`" "&gt;" "<pre>" "<code>"
//! break   = blanks ["="] line-end margin              ("=" is the soft break of quoted-printable mail)
//! equals  = "=" | "=3D" , blanks on both sides
//! figure  = digits ["." digits] [" "] [letters and slashes]
//! dash    = "-" and its look-alikes
//! ```

use nom::character::complete::char;
use nom::error::{Error, ErrorKind};
use nom::{Err, IResult, Parser};

/// What a lexer gives.
pub type Lexed<'t, T> = IResult<&'t str, T>;

/// The usual refusal: what stands here is something else.
pub fn refuse<T>(input: &str) -> Lexed<'_, T> {
    Err(Err::Error(Error::new(input, ErrorKind::Verify)))
}

/// What follows the blanks at the head of `input`; line ends are no blanks.
#[inline]
pub fn skip_blanks(input: &str) -> &str {
    match input.as_bytes().first() {
        // the usual case by far: nothing to skip
        Some(b'!'..=b'%' | b'\''..=b'~') => input,
        _ => skip_blanks_slowly(input),
    }
}

fn skip_blanks_slowly(mut input: &str) -> &str {
    loop {
        let bytes = input.as_bytes();
        let end = bytes
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t'))
            .unwrap_or(bytes.len());
        input = &input[end..];
        match input.as_bytes().first() {
            Some(b'&') => match input.strip_prefix("&nbsp;") {
                Some(rest) => input = rest,
                None => return input,
            },
            Some(0x80..) => {
                let first = input.chars().next();
                match first.filter(|c| is_wide_blank(*c)) {
                    Some(blank) => input = &input[blank.len_utf8()..],
                    None => return input,
                }
            }
            _ => return input,
        }
    }
}

fn is_wide_blank(c: char) -> bool {
    (c.is_whitespace() && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'))
        || matches!(c, '\u{200b}' | '\u{feff}' | '\u{2060}')
}

/// What follows blanks and quote marks at the start of a line.
pub fn skip_margin(mut input: &str) -> &str {
    loop {
        input = skip_blanks(input);
        let rest = match input.as_bytes().first() {
            Some(b'>' | b'|' | b'`') => &input[1..],
            Some(b'&') => match input.strip_prefix("&gt;") {
                // `&gt;=64` is a label, no quote mark
                Some(rest) if !rest.starts_with('=') => rest,
                _ => return input,
            },
            Some(b'<') => {
                let tags = ["<pre>", "<code>", "</code>", "</pre>", "<p>", "<br>"];
                match tags.iter().find_map(|tag| input.strip_prefix(tag)) {
                    Some(rest) => rest,
                    None => return input,
                }
            }
            _ => return input,
        };
        if input.starts_with(">=") {
            return input;
        }
        input = rest;
    }
}

/// What follows one line end and the margin of the next line; `None` where more than blanks stands before it.
pub fn skip_break(input: &str) -> Option<&str> {
    let input = skip_blanks(input);
    let input = input.strip_prefix('=').unwrap_or(input);
    let bytes = input.as_bytes();
    let returns = bytes.iter().take_while(|&&byte| byte == b'\r').count();
    let rest = input[returns..].strip_prefix('\n')?;
    Some(skip_margin(rest))
}

/// `parser` behind blanks, or, where that does not fit, behind a line break.
pub fn wrapped<'t, O, P>(mut parser: P) -> impl FnMut(&'t str) -> Lexed<'t, O>
where
    P: Parser<&'t str, Output = O, Error = Error<&'t str>>,
{
    move |input| match parser.parse(skip_blanks(input)) {
        Err(Err::Error(_)) => match skip_break(input) {
            Some(next) => parser.parse(next),
            None => refuse(input),
        },
        done => done,
    }
}

/// `name`, then an equals sign.
pub fn key<'t>(name: &'static str) -> impl FnMut(&'t str) -> Lexed<'t, ()> {
    move |input| match input.strip_prefix(name) {
        Some(rest) => equals(rest),
        None => refuse(input),
    }
}

/// What follows `words` at the head of `input`, whatever kind of blanks is between them.
pub fn phrase<'t>(input: &'t str, words: &[&str]) -> Option<&'t str> {
    let (first, more) = words.split_first()?;
    more.iter()
        .try_fold(input.strip_prefix(first)?, |rest, word| {
            let next = skip_blanks(rest);
            (next.len() < rest.len())
                .then_some(next)?
                .strip_prefix(word)
        })
}

/// An equals sign, as it is or as quoted-printable mail writes it.
pub fn equals(input: &str) -> Lexed<'_, ()> {
    let Some(rest) = skip_blanks(input).strip_prefix('=') else {
        return refuse(input);
    };
    let rest = match rest.strip_prefix("3D") {
        Some(after)
            if after.starts_with(|c: char| {
                c.is_ascii_alphanumeric() || matches!(c, '=' | ' ' | '[')
            }) =>
        {
            after
        }
        _ => rest,
    };
    Ok((rest, ()))
}

/// A plain number: digits, which people group with commas, perhaps a point and digits.
pub fn number(input: &str) -> Lexed<'_, &str> {
    let bytes = input.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .map_or(bytes.len(), |end| from + end)
    };
    let mut end = digits(0);
    if end == 0 {
        return refuse(input);
    }
    if end <= 3 && bytes.get(end) == Some(&b',') {
        while let Some(b',') = bytes.get(end)
            && digits(end + 1) == end + 4
        {
            end += 4;
        }
    }
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
    }
    Ok((&input[end..], &input[..end]))
}

/// A plain number with a sign perhaps, or what C prints where there is none: `nan`, `-nan`, `inf`.
pub fn number_or_nan(input: &str) -> Lexed<'_, &str> {
    let unsigned = input.strip_prefix('-').unwrap_or(input);
    let sign = input.len() - unsigned.len();
    let end = match number(unsigned) {
        Ok((_, number)) => sign + number.len(),
        Err(_) if unsigned.starts_with("nan") || unsigned.starts_with("inf") => sign + 3,
        Err(_) => return refuse(input),
    };
    Ok((&input[end..], &input[..end]))
}

/// A figure: a number, a blank at most, and its prefix and unit (`293MiB/s`, `1024 B`, `18.6k`, `512`).
pub fn figure(input: &str) -> Lexed<'_, &str> {
    let (rest, number) = number(input)?;
    let unit = |rest: &str| {
        rest.bytes()
            .position(|byte| !(byte.is_ascii_alphabetic() || byte == b'/'))
            .unwrap_or(rest.len())
    };
    let mut end = number.len() + unit(rest);
    // to 2.0.15 a number that was not scaled has a blank in the place of its prefix, and people write one in front of it
    if end == number.len()
        && let Some(rest) = rest.strip_prefix(' ')
        && is_unit(&rest[..unit(rest)])
    {
        end += 1 + unit(rest);
    }
    Ok((&input[end..], &input[..end]))
}

/// Whether a word is a unit of bytes, of a rate of them, or of time, as fio writes them: `B`, `MiB/s`, `kB`, `msec`.
fn is_unit(word: &str) -> bool {
    let bytes = word.strip_suffix("/s").unwrap_or(word);
    let scaled = bytes
        .strip_suffix("bit")
        .or_else(|| bytes.strip_suffix('B'))
        .map(|prefix| prefix.strip_suffix('i').unwrap_or(prefix));
    matches!(scaled, Some("" | "k" | "K" | "M" | "G" | "T" | "P" | "E")) || word == "msec"
}

/// Whether a figure has a unit or a prefix: fio prints no rate without.
pub fn has_unit(figure: &str) -> bool {
    figure.ends_with(|c: char| c.is_ascii_alphabetic())
}

/// Two figures with a dash between them.
pub fn range(input: &str) -> Lexed<'_, (&str, &str)> {
    let (rest, from) = figure(input)?;
    let (rest, ()) = dash(skip_blanks(rest))?;
    let (rest, to) = wrapped(figure).parse(rest)?;
    match goes_on(to, rest) {
        true => refuse(input),
        false => Ok((rest, (from, to))),
    }
}

/// Whether a number that ends in a digit goes on behind a line end, where a program broke the line in the midst of it.
pub fn goes_on(number: &str, rest: &str) -> bool {
    matches!(rest.as_bytes().first(), Some(b'\n' | b'\r' | b'='))
        && number.ends_with(|c: char| c.is_ascii_digit())
        && skip_break(rest)
            .is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Whether a value was cut off where a line or the log ends: fio prints more behind some of them, and means with two
/// decimals.
fn is_cut(name: &str, value: &str, rest: &str) -> bool {
    if !value.ends_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    match (name, rest.as_bytes().first()) {
        ("avg" | "stdev", None | Some(b'\n' | b'\r')) => {
            !matches!(value.as_bytes(), [.., b'.', _, _])
        }
        ("min" | "max", None) => true,
        // these stand at the ends of their lines, or are lists
        ("samples" | "minf" | "depth" | "total" | "short" | "drop" | "dropped", _) => false,
        _ => goes_on(value, rest),
    }
}

/// `parser` behind a comma, or where one should be.
pub fn behind_comma<'t, O, P>(parser: P) -> impl FnMut(&'t str) -> Lexed<'t, O>
where
    P: Parser<&'t str, Output = O, Error = Error<&'t str>>,
{
    let mut parser = wrapped(parser);
    move |input| {
        let rest = skip_blanks(input);
        parser(rest.strip_prefix([',', ';']).unwrap_or(rest))
    }
}

/// `name=value`, behind a comma perhaps; gives the value. Refuses a value that was cut off or broken in two.
pub fn field<'t, O, P>(name: &'static str, value: P) -> impl FnMut(&'t str) -> Lexed<'t, O>
where
    P: Parser<&'t str, Output = O, Error = Error<&'t str>>,
{
    let mut key = behind_comma(key(name));
    let mut value = wrapped(value);
    move |input| {
        let (after, ()) = key(input)?;
        let (rest, found) = value(after)?;
        match is_cut(name, &after[..after.len() - rest.len()], rest) {
            true => refuse(input),
            false => Ok((rest, found)),
        }
    }
}

/// `(` what `parser` reads `)`.
pub fn parenthesised<'t, O, P>(parser: P) -> impl FnMut(&'t str) -> Lexed<'t, O>
where
    P: Parser<&'t str, Output = O, Error = Error<&'t str>>,
{
    let mut open = wrapped(char('('));
    let mut parser = wrapped(parser);
    move |input| {
        let (rest, _) = open(input)?;
        let (rest, inside) = parser(rest)?;
        match skip_blanks(rest).strip_prefix(')') {
            Some(rest) => Ok((rest, inside)),
            None => refuse(input),
        }
    }
}

/// A whole number of 64 bits.
pub fn count(input: &str) -> Lexed<'_, u64> {
    let mut number: u64 = 0;
    let mut end = 0;
    for &byte in input.as_bytes() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        let Some(more) = number
            .checked_mul(10)
            .and_then(|n| n.checked_add(u64::from(digit)))
        else {
            return refuse(input);
        };
        number = more;
        end += 1;
    }
    if end == 0 {
        return refuse(input);
    }
    Ok((&input[end..], number))
}

/// One dash, or one of the characters that word processors put in its place.
pub fn dash(input: &str) -> Lexed<'_, ()> {
    match input.strip_prefix([
        '-', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}',
    ]) {
        Some(rest) => Ok((rest, ())),
        None => refuse(input),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blanks_and_margins_are_of_many_kinds() {
        for text in ["x", "  x", "\t x", "\u{a0}\u{2003}x", "&nbsp; x"] {
            assert_eq!(skip_blanks(text), "x", "{text:?}");
        }
        for text in [">> x", "&gt; x", "`x", "  | x", "<pre><code>  x"] {
            assert_eq!(skip_margin(text), "x", "{text:?}");
        }
        assert_eq!(skip_margin("> >=64=0.1%"), ">=64=0.1%");
        assert_eq!(skip_margin("&gt;=64=0.1%"), "&gt;=64=0.1%");
        assert_eq!(skip_blanks("\nx"), "\nx");
    }

    #[test]
    fn words_of_a_phrase_stand_apart() {
        let words = ["IO", "depths"];
        assert_eq!(phrase("IO \u{a0}depths: 1", &words), Some(": 1"));
        assert_eq!(phrase("IOdepths", &words), None);
        assert_eq!(phrase("IO dep", &words), None);
    }

    #[test]
    fn wrapped_lines_are_read_on() {
        for text in ["io=", "  io=", " \n> io=", "\r\n\tio=", "=\n>  io=3D"] {
            let text = format!("{text}5");
            let read = wrapped(key("io"))(&text).map(|(rest, ())| rest);
            assert_eq!(read, Ok("5"), "{text:?}");
        }
        for text in ["bw=", "\n\nio=", "x\nio=", ""] {
            assert!(wrapped(key("io"))(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn figures_end_where_their_unit_ends() {
        let cases = [
            ("293MiB/s (307MB/s)", "293MiB/s"),
            ("1024 B, bw", "1024 B"),
            ("512 , runt", "512"),
            ("176 MiB/s (185 MB/s)", "176 MiB/s"),
            ("1070 msec)", "1070 msec"),
            ("63,317KB/s, iops", "63,317KB/s"),
            ("1,234,567.5KB", "1,234,567.5KB"),
            ("3,64=0.1", "3"),
            ("3,1234", "3"),
            ("1234,567", "1234"),
            ("512 KB", "512 KB"),
            ("512 Keys", "512"),
            ("18.6k, BW", "18.6k"),
            ("23.1MiB/s-9.5", "23.1MiB/s"),
            ("67192-67192msec", "67192"),
        ];
        for (text, wanted) in cases {
            assert_eq!(figure(text).unwrap().1, wanted);
        }
        for bad in ["", "MiB", "-5", ".5"] {
            assert!(figure(bad).is_err());
        }
    }

    #[test]
    fn values_that_were_broken_or_cut_are_refused() {
        let mut max = field("max", figure);
        for (text, whole) in [
            ("max=169, avg=1.00", true),
            ("max=169\n  cpu", true),
            ("max=169MiB/s\n23", true),
            ("max=169\n23, avg=1.00", false),
            ("max=169\r\n> .5", false),
            ("max=3D169=\n23", false),
            ("max=169", false),
        ] {
            assert_eq!(max(text).is_ok(), whole, "{text}");
        }
        let mut avg = field("avg", number_or_nan);
        for (text, whole) in [
            ("avg=35.00", true),
            ("avg=35.00\n", true),
            ("avg=35, stdev=1", true),
            ("avg=nan", true),
            ("avg=35", false),
            ("avg=35.1\n", false),
            ("avg=3\n", false),
        ] {
            assert_eq!(avg(text).is_ok(), whole, "{text}");
        }
        assert!(range("16MiB/s-17\n6MiB/s").is_err());
        assert!(range("10-17msec\n6").is_ok());
    }

    proptest! {
        #[test]
        fn any_text_does_not_panic(text in "(\\PC|[ \t\r\n=>&|-]|3D|&nbsp;|&gt;|1\\.5MiB/s){0,12}") {
            let ends = [
                skip_blanks(&text), skip_margin(&text), skip_break(&text).unwrap_or(""),
                figure(&text).map_or("", |(rest, _)| rest), count(&text).map_or("", |(rest, _)| rest),
                wrapped(dash)(&text).map_or("", |(rest, _)| rest), wrapped(key("io"))(&text).map_or("", |(rest, _)| rest),
            ];
            for end in ends {
                prop_assert!(text.ends_with(end));
            }
        }
    }
}
