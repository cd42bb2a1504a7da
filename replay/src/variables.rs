//! Variables of a command, filled in from `--set NAME=VALUE` and from nowhere else: never
//! from the environment, never by a shell.
//!
//! ```text
//! variable   "$" name | "${" name "}" | "{" name "}" | "<" name ">"
//! ```

/// A name and its value.
pub type Setting = (String, String);

/// Reads `NAME=VALUE`.
///
/// # Errors
/// What was expected.
pub fn setting(text: &str) -> Result<Setting, String> {
    let wrong = || format!("expected NAME=VALUE, found {text:?}");
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let plain_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // A value that holds what a shell takes for its own would change the words around it.
    let plain_value = |c: char| c.is_alphanumeric() || "-_=./,:%+@".contains(c);
    if name.is_empty() || !name.chars().all(plain_name) {
        return Err(wrong());
    }
    if !value.chars().all(plain_value) {
        return Err(format!(
            "the value of {name} may hold letters, digits and - _ = . / , : % + @ only"
        ));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// The text with these variables filled in; others stay.
pub fn fill_in(text: &str, settings: &[Setting]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['$', '{', '<']) {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let (value, length) = settings
            .iter()
            .filter_map(|(name, value)| Some((value.as_str(), variable(rest, name)?)))
            .max_by_key(|found| found.1)
            .unwrap_or_else(|| {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                (&rest[..length], length)
            });
        filled.push_str(value);
        rest = &rest[length..];
    }
    filled.push_str(rest);
    filled
}

/// Those of the settings whose variable stands in the text.
pub fn used_in<'s>(text: &str, settings: &'s [Setting]) -> impl Iterator<Item = &'s str> {
    settings.iter().filter_map(move |setting| {
        let filled = fill_in(text, std::slice::from_ref(setting));
        (filled != text).then_some(&*setting.0)
    })
}

/// How long the variable `name` is at the start of `text`, if it stands there.
fn variable(text: &str, name: &str) -> Option<usize> {
    for (before, after) in [("${", "}"), ("{", "}"), ("<", ">")] {
        let inner = text
            .strip_prefix(before)
            .and_then(|text| text.strip_prefix(name));
        if inner.is_some_and(|rest| rest.starts_with(after)) {
            return Some(before.len() + name.len() + after.len());
        }
    }
    let rest = text.strip_prefix('$')?.strip_prefix(name)?;
    let goes_on = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (!goes_on).then(|| 1 + name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_set_variables_are_filled_in() {
        let set = |text: &str| setting(text).unwrap();
        let settings = [set("SIZE=4m"), set("DIR=/tmp/x"), set("D=no")];
        assert_eq!(
            fill_in(
                "fio --size=$SIZE --directory=\"${DIR}/a\" --bs=$BS --x={SIZE} <DIR> $DX",
                &settings
            ),
            "fio --size=4m --directory=\"/tmp/x/a\" --bs=$BS --x=4m /tmp/x $DX"
        );
        assert_eq!(fill_in("ends with $", &settings), "ends with $");
    }

    #[test]
    fn values_cannot_bring_words_of_their_own() {
        for wrong in [
            "A",
            "=1",
            "A B=1",
            "A=1 --exec_prerun=x",
            "A='x'",
            "A=$(id)",
            "A=1\n2",
            "A=`x`",
            "A=1;2",
        ] {
            assert!(setting(wrong).is_err(), "{wrong:?}");
        }
    }
}
