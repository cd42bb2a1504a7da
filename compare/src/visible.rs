//! Texts that can't act on a terminal or a page.
//!
//! Labels come from logs and from the command line. A control character in one could move the
//! cursor or colour what follows, a bidirectional control could turn a number around. Both are
//! replaced by what they are, in words, before a text enters the frame, so that no writer ever
//! sees one.
//!
//! Place: [`crate::frame`] passes every text through here.

use std::borrow::Cow;

/// Explicit directional marks, embeddings, overrides and isolates (Unicode Standard Annex 9), and
/// the two separators that end a line.
fn turns(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// The text with line ends and tabs as spaces and other controls as `\u{1b}`.
pub fn visible(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_control() || turns(c)) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || turns(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_show_and_the_rest_stays() {
        assert_eq!(
            visible("a\u{1b}[31m\u{202e}b".into()),
            "a\\u{1b}[31m\\u{202e}b"
        );
        assert_eq!(visible("a\tb\nc\u{85}".into()), "a b c\\u{85}");
        let plain = "Größe 4 KiB ± ∞ 日本 \u{1f600}";
        assert!(matches!(visible(plain.into()), Cow::Borrowed(text) if text == plain));
    }
}
