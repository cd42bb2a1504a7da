//! Breaking and padding text by its width on a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Lines of at most `limit` columns, broken at spaces, inside a word only if it is longer than a
/// line, and then behind a mark such as a hyphen if there is one. Never empty.
pub fn lines(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(1);
    let mut out = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let gap = usize::from(!line.is_empty());
        if width(&line) + gap + width(word) <= limit {
            if gap == 1 {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            out.push(std::mem::take(&mut line));
        }
        for c in word.chars() {
            if width(&line) + c.width().unwrap_or(0) > limit && !line.is_empty() {
                let behind = line
                    .rfind(['-', '.', '/', '_', ':', ',', '='])
                    .map(|at| at + 1);
                let rest = line.split_off(
                    behind
                        .filter(|at| *at * 2 > line.len())
                        .unwrap_or(line.len()),
                );
                out.push(std::mem::replace(&mut line, rest));
            }
            line.push(c);
        }
    }
    if !line.is_empty() || out.is_empty() {
        out.push(line);
    }
    out
}

/// The text, and then the marks behind it, in at most `rows` lines; a text that is too long is cut
/// at a word and ends with an ellipsis. Tells whether it was cut.
pub fn at_most(
    text: &str,
    marks: &str,
    (limit, rows): (usize, usize),
    ellipsis: &str,
) -> (Vec<String>, bool) {
    let with = |text: &str| {
        let gap = if marks.is_empty() { "" } else { " " };
        lines(&format!("{text}{gap}{marks}"), limit)
    };
    let whole = with(text);
    if whole.len() <= rows {
        return (whole, false);
    }
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    ends.sort_by_key(|at| std::cmp::Reverse(*at));
    let cut = |at: usize| {
        let end = text[..at].trim_end_matches([' ', ',', '.', ';', '/', '(', '…']);
        format!("{end}{ellipsis}")
    };
    let fits = |at: &usize| with(&cut(*at)).len() <= rows;
    let Some(longest) = ends.iter().copied().find(fits) else {
        return (with(ellipsis), true);
    };
    // A word that is cut near its start says less than none.
    let word = text[..longest]
        .rfind(' ')
        .filter(|at| *at * 3 > longest * 2);
    let end = match text[longest..].starts_with(' ') {
        true => longest,
        false => word.unwrap_or(longest),
    };
    (with(&cut(end)), true)
}

/// Padded on the left to a width.
pub fn right(text: &str, to: usize) -> String {
    format!("{}{text}", " ".repeat(to.saturating_sub(width(text))))
}

/// Padded on the right to a width.
pub fn left(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// The width of the longest word.
pub fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_at_a_word() {
        let at_most = |text, marks| at_most(text, marks, (10, 2), "…");
        assert_eq!(
            at_most("one two three", ""),
            (vec!["one two".into(), "three".into()], false)
        );
        assert_eq!(
            at_most("one two three four five", "[3]"),
            (vec!["one two".into(), "three… [3]".into()], true)
        );
        assert_eq!(
            at_most("abcdefghijklmnopqrstuvwxyz", "[3]"),
            (vec!["abcdefghij".into(), "klmno… [3]".into()], true)
        );
    }

    #[test]
    fn breaks_at_spaces_and_inside_long_words() {
        assert_eq!(lines("a bc def", 4), ["a bc", "def"]);
        assert_eq!(lines("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(lines("", 3), [""]);
        assert_eq!(
            lines("node-a.example.org", 8),
            ["node-a.", "example.", "org"]
        );
        // Wide characters take two columns each.
        assert_eq!(lines("日本語", 4), ["日本", "語"]);
    }
}
