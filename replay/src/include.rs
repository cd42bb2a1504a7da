//! Job files among the inputs: which text is one, what it includes, and which input a name
//! means. No file is opened; names are compared by their last part, paths are not followed.

use std::borrow::Cow;

use fio_parse::workload::jobfile::looks_like_job_file;

/// An input's name and content.
pub(super) type Input = (String, Vec<u8>);

/// Whether a text is a job file, also if it begins with what it includes.
pub(super) fn is_job_file(text: &str) -> bool {
    if include_lines(text).next().is_none() {
        return looks_like_job_file(text);
    }
    let own: Vec<&str> = text
        .lines()
        .filter(|line| include_line(line).is_none())
        .collect();
    looks_like_job_file(&own.join("\n"))
}

/// The files that a job file includes.
pub(super) fn include_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(include_line)
}

pub(super) fn include_line(line: &str) -> Option<&str> {
    let file = line.trim().strip_prefix("include")?;
    (file.starts_with([' ', '\t']) && !file.contains('=')).then(|| file.trim())
}

/// The input of this name, by its last part: paths are not followed.
pub(super) fn input_called(inputs: &[Input], name: &str) -> Option<usize> {
    let wanted = last_part(name);
    inputs
        .iter()
        .position(|(input, _)| last_part(input) == wanted)
}

pub(super) fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// A job file with the inputs it includes in place of the lines that do; others stay.
pub(super) fn with_includes<'i>(inputs: &'i [Input], bytes: &'i [u8]) -> Cow<'i, [u8]> {
    /// How deep files may include each other.
    const DEEPEST: usize = 8;
    /// How large the whole may get, bytes.
    const MOST: usize = 1 << 20;
    let mut text = match std::str::from_utf8(bytes) {
        Ok(text) if is_job_file(text) && include_lines(text).next().is_some() => text.to_owned(),
        _ => return Cow::Borrowed(bytes),
    };
    for _ in 0..DEEPEST {
        let mut whole = String::new();
        let mut changed = false;
        for line in text.lines() {
            let content = include_line(line)
                .and_then(|name| input_called(inputs, name))
                .and_then(|index| std::str::from_utf8(&inputs[index].1).ok());
            changed |= content.is_some();
            whole.push_str(content.unwrap_or(line));
            whole.push('\n');
            if whole.len() > MOST {
                return Cow::Borrowed(bytes);
            }
        }
        text = whole;
        if !changed {
            break;
        }
    }
    Cow::Owned(text.into_bytes())
}
