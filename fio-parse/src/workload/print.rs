//! Workloads as text again: a command line, or a fio job file.
//!
//! Reading what is printed here gives the same test: typed fields are printed as plain numbers (`--bs=4096`), what
//! was kept verbatim as it was. Words are quoted for a POSIX shell; variables that the workload lists as missing
//! stay open to it. Nothing here is meant to be run by this workspace, which never starts a shell.

use super::fio::options_of;
use super::options::{Kind, lookup};
use super::shell::{placeholder, variable_name};
use super::{Job, Test, Workload, dd};
use std::fmt::Write as _;

impl Workload {
    /// The command that asks for this test: `fio --name=… …` or `dd if=… …`.
    ///
    /// Options follow the `--name` of each job, for fio passes none on from one job to the next.
    pub fn to_command(&self) -> String {
        let mut line = String::new();
        match &self.test {
            Test::Jobs(jobs) => {
                line.push_str("fio");
                for (name, value) in &self.program {
                    self.push_option(&mut line, name, value);
                }
                // without a name the options are the defaults of a job file's jobs
                let nameless = matches!(jobs.as_slice(), [job] if job.name.is_empty())
                    && self.missing.iter().any(|what| {
                        ["file:", "words:", "option:name"]
                            .iter()
                            .any(|kind| what.starts_with(kind))
                    });
                for job in jobs {
                    if !nameless {
                        self.push_option(&mut line, "name", &job.name);
                    }
                    for (name, value) in options_of(job) {
                        self.push_option(&mut line, name, &value);
                    }
                }
            }
            Test::Dd(dd) => {
                line.push_str("dd");
                for (name, value) in dd::operands_of(dd) {
                    let _ = write!(line, " {name}={}", self.quoted(&value));
                }
            }
        }
        for what in &self.missing {
            if let Some(file) = what.strip_prefix("file:") {
                let _ = write!(line, " {}", self.quoted(file));
            } else if let Some(words) = what.strip_prefix("words:") {
                let _ = write!(line, " \"{words}\"");
            } else if let Some(words) = what.strip_prefix("optional:") {
                let _ = write!(line, " {words}");
            }
        }
        line
    }

    /// The fio job file that asks for this test; `None` for dd.
    ///
    /// Options of the program and what is missing are not in it, for a job file can't hold them.
    pub fn to_job_file(&self) -> Option<String> {
        let Test::Jobs(jobs) = &self.test else {
            return None;
        };
        let mut file = String::new();
        for (index, job) in jobs.iter().enumerate() {
            if index > 0 {
                file.push('\n');
            }
            push_section(&mut file, job);
        }
        Some(file)
    }

    fn push_option(&self, line: &mut String, name: &str, value: &str) {
        let _ = write!(line, " --{name}");
        let flag = lookup(name, false)
            .option()
            .is_none_or(|option| option.kind == Kind::Flag);
        if !(flag && value == "1") {
            let _ = write!(line, "={}", self.quoted(value));
        }
    }

    /// `value` as one word of a shell's line.
    fn quoted(&self, value: &str) -> String {
        let mut word = String::new();
        let mut plain = String::new();
        let mut rest = value;
        while let Some(c) = rest.chars().next() {
            let variable = self.variable_at(rest);
            if variable == 0 {
                plain.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            push_plain(&mut word, &plain);
            plain.clear();
            let text = &rest[..variable];
            if text.starts_with('<') {
                word.push_str(text);
            } else {
                let _ = write!(word, "\"{text}\"");
            }
            rest = &rest[variable..];
        }
        push_plain(&mut word, &plain);
        if word.is_empty() {
            word.push_str("''");
        }
        word
    }

    /// How long the variable is that stands at the start of `text`, if the workload lists it as missing.
    fn variable_at(&self, text: &str) -> usize {
        let listed = |length: usize, name: &str| {
            if self.missing.iter().any(|what| what == name) {
                length
            } else {
                0
            }
        };
        if text.starts_with('<') {
            return placeholder(text).map_or(0, |length| listed(length, &text[1..length - 1]));
        }
        if !text.starts_with(['$', '`']) {
            return 0;
        }
        let text = &text[..text.floor_char_boundary(2_000)];
        // the longest piece whose name is listed: `$(…)` and `…` are their own names
        let whole = self
            .missing
            .iter()
            .filter(|what| what.starts_with(['$', '`']) && text.starts_with(what.as_str()))
            .map(String::len)
            .max();
        if let Some(length) = whole {
            return length;
        }
        let length = match text[1..].chars().next() {
            Some('{') => text.find('}').map_or(0, |end| end + 1),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                1 + text[1..]
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(text.len() - 1)
            }
            Some(c) if c.is_ascii_digit() => 2,
            _ => 0,
        };
        if length == 0 {
            return 0;
        }
        listed(length, variable_name(&text[..length]))
    }
}

/// Adds `text` to a word, quoted where a shell would take some of it for its own.
fn push_plain(word: &mut String, text: &str) {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_./:,+%@-".contains(c);
    if text.chars().all(safe) {
        word.push_str(text);
        return;
    }
    if text.chars().any(|c| {
        c.is_control() || (c != ' ' && c.is_whitespace()) || ('\u{2010}'..='\u{201f}').contains(&c)
    }) {
        word.push_str("$'");
        for c in text.chars() {
            match c {
                '\'' | '\\' => word.extend(['\\', c]),
                c if c.is_ascii_graphic() || c == ' ' => push_parted(word, c),
                c => {
                    let _ = write!(word, "\\u{:06x}", u32::from(c));
                }
            }
        }
        word.push('\'');
        return;
    }
    word.push('\'');
    for c in text.chars() {
        if c == '\'' {
            word.push_str("'\\''");
        } else {
            push_parted(word, c);
        }
    }
    word.push('\'');
}

/// Adds a character such that the text is not taken for encoded: `&amp;` and `=3D` are parted.
fn push_parted(word: &mut String, c: char) {
    word.push(c);
    if matches!(c, '&' | '=') {
        word.push_str("''");
    }
}

fn push_section(file: &mut String, job: &Job) {
    let _ = writeln!(file, "[{}]", job.name);
    for (name, value) in options_of(job) {
        let flag = lookup(name, false)
            .option()
            .is_some_and(|option| option.kind == Kind::Flag);
        if flag && value == "1" {
            let _ = writeln!(file, "{name}");
        } else {
            let _ = writeln!(file, "{name}={value}");
        }
    }
}
