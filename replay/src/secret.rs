//! Passwords and keys in a text: they are read past and never repeated, neither on the
//! terminal nor in a record.
//!
//! ```text
//! secret   name "=" value | "--" name blank value      name holds key, pass, token, ...
//!        | "://" user ":" password "@"
//! ```

use fio_parse::workload::Workload;

/// What stands for a secret.
pub const HIDDEN: &str = "(hidden)";

const WORDS: [&str; 6] = ["key", "pass", "token", "secret", "credential", "auth"];

/// Whether the value of what is called so is a secret.
pub fn is_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Takes the secrets out of a workload: of its command, of what stood around it, of the
/// options, and of the remarks on how it was read.
pub fn hide_in(workload: &mut Workload) {
    workload.command = workload.command.take().map(|text| hide(&text));
    let around = &mut workload.around;
    around.tail = around.tail.take().map(|text| hide(&text));
    for text in around.prefix.iter_mut().chain(&mut workload.normalised) {
        *text = hide(text);
    }
    let hide_option = |(name, value): &mut (String, String)| {
        *value = if is_name(name) {
            HIDDEN.to_owned()
        } else {
            hide(value)
        };
    };
    workload.program.iter_mut().for_each(hide_option);
    match &mut workload.test {
        fio_parse::workload::Test::Jobs(jobs) => {
            let options = jobs.iter_mut().flat_map(|job| &mut job.other);
            options.for_each(hide_option);
        }
        fio_parse::workload::Test::Dd(dd) => dd.other.iter_mut().for_each(hide_option),
    }
}

/// A text without its secrets.
pub fn hide(text: &str) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, end)) = next(rest) {
        hidden.push_str(&rest[..at]);
        hidden.push_str(HIDDEN);
        rest = &rest[end..];
    }
    hidden.push_str(rest);
    hidden
}

/// Where the next secret begins and ends.
fn next(text: &str) -> Option<(usize, usize)> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let mut name_from = 0;
    for (at, c) in text.char_indices() {
        if in_name(c) {
            continue;
        }
        let name = &text[name_from..at];
        name_from = at + c.len_utf8();
        if c == ':'
            && let Some(login) = text[at..].strip_prefix("://")
            && let Some(end) = login
                .find(['@', '/', ' ', '\n'])
                .filter(|&end| login[end..].starts_with('@'))
            && login[..end].contains(':')
        {
            return Some((at + 3, at + 3 + end));
        }
        // Behind a blank only the value of a long option: prose has such words too.
        let option = c == ' ' && name.starts_with("--");
        if (c != '=' && !option) || !is_name(name) {
            continue;
        }
        let from = at + 1;
        let value = &text[from..];
        if option && value.starts_with('-') {
            continue;
        }
        let length = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].find(quote).map(|end| end + 2),
            _ => value.find(|c: char| c.is_whitespace() || "\"';".contains(c)),
        };
        let length = length.unwrap_or(value.len());
        if length > 0 && !value.starts_with(HIDDEN) {
            return Some((from, from + length));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_the_rest_stays() {
        for (text, hidden) in [
            (
                "fio --name=a --http_s3_key=AbC --bs=4k",
                "fio --name=a --http_s3_key=(hidden) --bs=4k",
            ),
            (
                "fio --http_pass 'a b' --rw=read",
                "fio --http_pass (hidden) --rw=read",
            ),
            (
                "AWS_SECRET_ACCESS_KEY=x fio --name=a",
                "AWS_SECRET_ACCESS_KEY=(hidden) fio --name=a",
            ),
            ("curl https://me:pw@host/x", "curl https://(hidden)@host/x"),
            (
                "TOKEN=\"a b\" dd if=a of=b; PASS=y",
                "TOKEN=(hidden) dd if=a of=b; PASS=(hidden)",
            ),
            ("fio --name=a --bs=4k", "fio --name=a --bs=4k"),
            ("the key is here", "the key is here"),
            ("https://host/a:b@c", "https://host/a:b@c"),
            ("--http_s3_key=(hidden)", "--http_s3_key=(hidden)"),
        ] {
            assert_eq!(hide(text), hidden);
        }
    }
}
