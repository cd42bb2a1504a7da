//! Where in its text a refused option stands, for messages.

use fio_parse::workload::options::OPTIONS;

/// The text that a workload was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Name of the input.
    pub name: String,
    /// The line in it that the text begins with, from 1.
    pub line: usize,
    /// The text.
    pub text: String,
}

/// A place: line and column from 1, and the line itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot<'t> {
    /// Line in the input.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
    /// The line's text.
    pub text: &'t str,
    /// Length of the name found, in characters.
    pub length: usize,
}

/// Where an option with this main name is given first, in any of its spellings.
pub fn option<'t>(origin: &'t Origin, main: &str) -> Option<Spot<'t>> {
    let spellings = OPTIONS
        .iter()
        .filter(|option| option.main == main)
        .map(|option| option.name);
    let mut names: Vec<&str> = spellings.collect();
    if names.is_empty() {
        names.push(main);
    }
    names
        .into_iter()
        .filter_map(|name| Some((word(&origin.text, name)?, name)))
        .min()
        .map(|(at, name)| {
            let start = origin.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let end = origin.text[at..]
                .find('\n')
                .map_or(origin.text.len(), |end| at + end);
            Spot {
                line: origin.line + origin.text[..start].matches('\n').count(),
                column: origin.text[start..at].chars().count() + 1,
                text: &origin.text[start..end],
                length: name.chars().count(),
            }
        })
}

/// Where `name` stands as the name of an option: behind a blank, a dash, a quote or a line's
/// end, and before `=`, a blank or an end.
fn word(text: &str, name: &str) -> Option<usize> {
    text.match_indices(name).map(|(at, _)| at).find(|&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        before.is_none_or(|c| c.is_whitespace() || "-\u{2013}\u{2014}'\"[".contains(c))
            && after.is_none_or(|c| c.is_whitespace() || "='\"".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_all_spellings() {
        let text =
            "fio --name=a \\\n  --blocksize=4k -exec_prerun=x\n[rw]\nreadwrite=read".to_owned();
        let origin = Origin {
            name: "x".to_owned(),
            line: 10,
            text,
        };
        let at = |main| option(&origin, main).map(|spot| (spot.line, spot.column));
        assert_eq!(at("bs"), Some((11, 5)));
        assert_eq!(at("exec_prerun"), Some((11, 19)));
        assert_eq!(at("rw"), Some((13, 1)));
        assert_eq!(at("iodepth"), None);
    }
}
