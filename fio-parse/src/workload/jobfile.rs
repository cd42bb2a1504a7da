//! fio's job files.
//!
//! ```text
//! file     { line }
//! line     [ "[" name "]" | key [ "=" value ] | "include" name ] [ (";" | "#") comment ]
//! ```
//!
//! Sections whose name begins with `global` set defaults for the sections behind them; every other section is a job.
//! Comments start anywhere in a line. Names are not abbreviated. What fio would refuse or read in a surprising way is
//! read as it was meant, with a diagnostic that says what fio does:
//!
//! | in the file | fio 3.33 | here |
//! |---|---|---|
//! | `bs = 8k`, `bs= 8k` | keeps the blank, and then reads 8 (builds without arithmetic) | 8 KiB, warning |
//! | `rw= write` | drops the job | `write`, warning |
//! | `ioengine="psync"` | drops the job | `psync`, warning |
//! | `BS=4k` | drops the job | `bs`, warning |
//! | unknown key | drops the job | kept in `other`, warning with the nearest name |
//! | `rw write`, `--rw=write` | drops the job | left out, warning, `left-out:` in [`Workload::normalised`] |
//! | options before any section | refuses the file | defaults, warning |
//!
//! `include` is never followed and `${NAME}` never expanded: both are listed in [`Workload::missing`].

use super::fio::{MAY_BE_EMPTY, note, set};
use super::options::{self, FioOption, Kind, Scope};
use super::places::Places;
use super::word::{templates_in, variable_name};
use super::{Job, Test, Workload, WrittenAs};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::borrow::Cow;

/// A job file as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// Its jobs; none where it has no section but global ones.
    pub workload: Workload,
    /// What is odd about it; spans count in the text given.
    pub diagnostics: Vec<Diagnostic>,
    /// Where its options stand in the text given.
    pub places: Places,
}

/// How many options one section may have, and all jobs together with what they inherit. More than that is no
/// job file but an attempt on the reader's memory.
const MAX_OPTIONS: usize = 2_000;
const MAX_OPTIONS_OF_ALL: usize = 1_000_000;

/// Reads a job file. Never fails: what can't be read is left out and named.
pub fn parse_job_file(text: &str) -> JobFile {
    let mut reader = Reader {
        text,
        ..Reader::default()
    };
    let mut section: Option<Section<'_>> = None;
    let mut total = 0;
    for line in text.trim_start_matches('\u{feff}').split('\n') {
        let line = line.split([';', '#']).next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            if let Some(done) = section.take() {
                total += reader.close(done);
            }
            if total > MAX_OPTIONS_OF_ALL {
                let message = "the jobs have more than a million options; the rest was not read";
                reader.warn(Code::INCOMPLETE, line, message.to_owned());
                break;
            }
            section = Some(Section::new(reader.section_name(header, line)));
        } else if let Some(file) = include(line) {
            note(&mut reader.missing, format!("file:{file}"));
        } else {
            let section = section.get_or_insert_with(|| {
                let message =
                    "an option stands before any section; fio refuses the file, here it holds for all jobs";
                reader.warn(Code::UNREADABLE, line, message.to_owned());
                Section::new("global")
            });
            section.lines.push(line);
            if section.lines.len() == MAX_OPTIONS {
                let message =
                    format!("a section has more than {MAX_OPTIONS} options; the rest was not read");
                reader.warn(Code::INCOMPLETE, line, message);
            }
        }
    }
    if let Some(done) = section {
        reader.close(done);
    }
    let mut workload = Workload::new(WrittenAs::FioJobFile, Test::Jobs(reader.jobs));
    workload.missing = reader.missing;
    workload.normalised = reader.notes;
    let mut diagnostics = reader.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    JobFile {
        workload,
        diagnostics,
        places: reader.places,
    }
}

/// Whether a text is a job file: its first line that is no comment is a section, closed or not, and most lines below
/// are options.
///
/// Looks at the first 200 lines.
pub fn looks_like_job_file(text: &str) -> bool {
    let mut lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .take(200)
        .map(|line| line.split([';', '#']).next().unwrap_or("").trim())
        .filter(|line| !line.is_empty());
    // fio ends `[a;b]` at the comment and takes `[a` for a section too
    let is_section = |line: &str| {
        let name = line.strip_prefix('[').unwrap_or("");
        let name = name.strip_suffix(']').unwrap_or(name);
        !name.is_empty() && !name.contains(['"', ',', '{', ']'])
    };
    if !lines.next().is_some_and(is_section) {
        return false;
    }
    let (mut options, mut others) = (0, 0);
    for line in lines.filter(|line| !is_section(line) && include(line).is_none()) {
        let key = line.split('=').next().unwrap_or("").trim();
        let option = options::lookup(key, false).option();
        // many kinds of files have it, so it tells nothing
        if option.is_some_and(|option| option.main == "name") {
            continue;
        }
        let known = option.is_some_and(|option| {
            option.scope != Scope::Program && (option.kind == Kind::Flag || line.contains('='))
        });
        if known {
            options += 1;
        } else {
            others += 1;
        }
    }
    options > others
}

/// The file named by an `include` line.
fn include(line: &str) -> Option<&str> {
    let file = line.strip_prefix("include")?;
    (file.starts_with([' ', '\t']) && !file.contains('=')).then(|| file.trim())
}

fn place(text: &str, piece: &str) -> Option<Span> {
    let start = (piece.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let end = start
        .checked_add(piece.len())
        .filter(|&end| end <= text.len())?;
    Some(Span::new(
        u32::try_from(start).ok()?,
        u32::try_from(end).ok()?,
    ))
}

/// A section that is being read.
struct Section<'t> {
    name: &'t str,
    lines: Vec<&'t str>,
}

impl<'t> Section<'t> {
    fn new(name: &'t str) -> Self {
        Self {
            name,
            lines: Vec::new(),
        }
    }
}

#[derive(Default)]
struct Reader<'t> {
    defaults: Job,
    jobs: Vec<Job>,
    missing: Vec<String>,
    notes: Vec<String>,
    diagnostics: Vec<Diagnostic>,
    places: Places,
    text: &'t str,
}

/// How long the name of a variable may be.
const MAX_NAME: usize = 200;

/// How many diagnostics one file is worth.
const MAX_DIAGNOSTICS: usize = 200;

impl<'t> Reader<'t> {
    /// A warning about a piece of the text.
    fn warn(&mut self, code: Code, piece: &str, message: String) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            let span = place(self.text, piece);
            self.diagnostics
                .push(Diagnostic::warning(code, span, message));
        }
    }

    fn odd(&mut self, piece: &str, message: String) {
        self.warn(Code::UNREADABLE, piece, message);
    }

    /// The name in a section's header. fio takes all up to the line's last character, whatever that is.
    fn section_name(&mut self, header: &'t str, line: &'t str) -> &'t str {
        if let Some(name) = header.strip_suffix(']') {
            return name;
        }
        let message = "expected `]` at the end of a section's name; fio drops the last character";
        self.odd(line, message.to_owned());
        let last = header.char_indices().next_back();
        last.map_or("", |(last, _)| &header[..last])
    }

    /// Makes a job of a section, or new defaults; returns how many options it has.
    fn close(&mut self, section: Section<'t>) -> usize {
        let global = section.name.starts_with("global");
        let mut job = self.defaults.clone();
        if !global {
            self.place("name".into(), section.name, false);
            job.name = section.name.to_owned();
            self.variables(section.name, "name");
        }
        // fio sorts `kb_base` to the front, for it decides what a suffix means
        let (first, rest): (Vec<&str>, Vec<&str>) = section
            .lines
            .iter()
            .take(MAX_OPTIONS)
            .partition(|line| line.split('=').next().map(str::trim_end) == Some("kb_base"));
        for line in first.into_iter().chain(rest) {
            self.option(&mut job, line, global);
        }
        let size = job.other.len() + 1;
        if global {
            self.defaults = job;
        } else {
            self.jobs.push(job);
        }
        size
    }

    /// Sets the option of one line.
    fn option(&mut self, job: &mut Job, line: &'t str, global: bool) {
        // template engines' own lines: `{% if … %}`
        if line.starts_with("{%") {
            note(&mut self.missing, line);
            return;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim_end(), Some(value)),
            None => (line, None),
        };
        let name = |c: char| c.is_alphanumeric() || "_-$@{}.".contains(c);
        if key.is_empty() || key.starts_with('-') || !key.chars().all(name) {
            self.odd(
                line,
                "expected `option=value` or a flag; the line was left out".to_owned(),
            );
            note(&mut self.notes, format!("left-out:{line}"));
            self.place(Cow::Owned(line.to_owned()), line, global);
            return;
        }
        let known = self.lookup(key, line);
        let main = known.map_or(key, |option| option.main);
        let kind = known.map_or(Kind::Text, |option| option.kind);
        let given = known.map_or(Cow::Owned(key.to_owned()), |option| {
            Cow::Borrowed(option.main)
        });
        self.place(given, line, global);
        let value = match value {
            Some(value) => self.value(main, kind, value, line),
            None if matches!(kind, Kind::Flag | Kind::Bool) => {
                if kind == Kind::Bool {
                    note(&mut self.notes, format!("assumed:{main}=1"));
                }
                "1"
            }
            None => "",
        };
        self.variables(value, main);
        if value.is_empty()
            && kind != Kind::Flag
            && known.is_some()
            && !MAY_BE_EMPTY.contains(&main)
        {
            note(&mut self.missing, format!("value:{main}"));
        }
        if main == "name" {
            value.clone_into(&mut job.name);
        } else {
            set(job, main, value, &mut self.notes);
        }
    }

    /// Notes where an option of the job that is read, or of all that follow, stands.
    fn place(&mut self, option: Cow<'static, str>, piece: &str, global: bool) {
        if let Some(span) = place(self.text, piece) {
            let job = (!global).then_some(self.jobs.len() as u32);
            self.places.push(job, option, span);
        }
    }

    fn lookup(&mut self, key: &'t str, line: &'t str) -> Option<&'static FioOption> {
        let job_option = |option: &&'static FioOption| option.scope != Scope::Program;
        if let Some(option) = options::lookup(key, false).option().filter(job_option) {
            return Some(option);
        }
        let lower = key.to_ascii_lowercase();
        if let Some(option) = options::lookup(&lower, false).option().filter(job_option) {
            note(&mut self.notes, format!("lower-cased:{key}"));
            self.odd(
                line,
                format!("fio knows {lower}, not {key}, and drops the job"),
            );
            return Some(option);
        }
        note(&mut self.notes, format!("unknown-option:{key}"));
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            return None;
        }
        let hint = options::nearest(key).map_or(String::new(), |nearest| {
            format!("; the nearest is {nearest}")
        });
        self.odd(
            line,
            format!("fio has no option {key} and drops the job{hint}; it was kept as written"),
        );
        None
    }

    /// The value without what fio takes badly.
    fn value(&mut self, main: &str, kind: Kind, value: &'t str, line: &'t str) -> &'t str {
        let trimmed = value.trim();
        // in a text the blank is part of it, which changes a name but no figure
        let matters = kind != Kind::Text || matches!(main, "rw" | "ioengine" | "filesize" | "sync");
        if value.starts_with([' ', '\t']) && matters {
            note(&mut self.notes, format!("blank-after-equals:{main}"));
            if !trimmed.bytes().all(|b| b.is_ascii_digit()) {
                self.odd(
                    line,
                    format!(
                        "a blank stands before the value of {main}; some builds of fio drop the job or the suffix then, here it is {trimmed}"
                    ),
                );
            }
        }
        let quoted = trimmed
            .strip_prefix(['"', '\''])
            .and_then(|inner| inner.strip_suffix(['"', '\'']));
        match quoted {
            Some(inner) if matters || main == "filename" || main == "directory" => {
                note(&mut self.notes, format!("unquoted:{main}"));
                self.odd(
                    line,
                    format!("fio takes the quotes as part of the value of {main}"),
                );
                inner
            }
            _ => trimmed,
        }
    }

    /// Lists what a value leaves open: `${NAME}` for fio, `$NAME` for a shell that wrote the file, `{{ name }}` for a
    /// template engine.
    fn variables(&mut self, value: &str, main: &str) {
        for name in templates_in(value) {
            note(&mut self.missing, name);
        }
        if main == "filename_format" {
            return;
        }
        for (at, _) in value.match_indices('$') {
            let rest = &value[at..];
            let rest = &rest[..rest.floor_char_boundary(MAX_NAME)];
            let length = match rest[1..].chars().next() {
                Some('{') => rest.find('}').map_or(0, |end| end + 1),
                Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                    1 + rest[1..]
                        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .unwrap_or(rest.len() - 1)
                }
                Some(c) if c.is_ascii_digit() => 2,
                _ => 0,
            };
            if length == 0 {
                continue;
            }
            let name = variable_name(&rest[..length]);
            // fio's own, which it works out itself
            if !matches!(
                name,
                "mb_memory" | "ncpus" | "pagesize" | "jobname" | "jobnum" | "filenum"
            ) {
                note(&mut self.missing, name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Bytes;
    use crate::workload::Pattern;

    #[test]
    fn globals_hold_for_the_sections_behind_them() {
        // as `fio --showcmd` of 3.33 resolves the same file
        let file = parse_job_file(
            "; a comment\n[global]\nioengine=null\nsize=1m\n[x]\nbs=4k # four\n[global]\nrw=write\n\n[y]\r\nbs=8k\r\nstonewall\n[x]\nbs=2k",
        );
        assert_eq!(file.diagnostics, []);
        let jobs = file.workload.jobs();
        let seen: Vec<_> = jobs
            .iter()
            .map(|job| {
                (
                    job.name.as_str(),
                    job.pattern,
                    job.block_bytes.unwrap().0,
                    job.stonewall,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("x", None, 4096, None),
                ("y", Some(Pattern::Write), 8192, Some(true)),
                ("x", Some(Pattern::Write), 2048, None)
            ]
        );
        assert!(
            jobs.iter()
                .all(|job| job.size_bytes == Some(Bytes(1 << 20)))
        );
    }

    #[test]
    fn lenient_reading_is_told() {
        let text =
            "direct=1\n[a]\nbs= 8k\nrw= write\nioengine=\"psync\"\nSIZE=1m\niodpeth=4\n[semi;x]\n";
        let file = parse_job_file(text);
        let jobs = file.workload.jobs();
        assert_eq!(jobs[0].direct, Some(true));
        assert_eq!(jobs[0].block_bytes, Some(Bytes(8192)));
        assert_eq!(jobs[0].pattern, Some(Pattern::Write));
        assert_eq!(jobs[0].engine.as_deref(), Some("psync"));
        assert_eq!(jobs[0].size_bytes, Some(Bytes(1 << 20)));
        assert_eq!(jobs[0].other, [("iodpeth".to_owned(), "4".to_owned())]);
        assert_eq!(jobs[1].name, "sem");
        let told: Vec<_> = file
            .diagnostics
            .iter()
            .map(|d| {
                d.span
                    .map(|span| &text[span.start as usize..span.end as usize])
                    .unwrap()
            })
            .collect();
        for line in [
            "direct=1",
            "bs= 8k",
            "rw= write",
            "ioengine=\"psync\"",
            "SIZE=1m",
            "iodpeth=4",
            "[semi",
        ] {
            assert!(told.contains(&line), "{line} of {told:?}");
        }
        assert!(
            file.diagnostics
                .iter()
                .any(|d| d.message.contains("nearest is iodepth"))
        );
    }

    #[test]
    fn what_is_missing_is_named_and_never_looked_up() {
        let file = parse_job_file(
            "include common.inc\n[a]\nfilename=${DIR}/x\nsize=$SIZE\nnumjobs=$ncpus\nrw={{ mode }}\nfilename_format=$jobname.$filenum\nbs=\n",
        );
        assert_eq!(
            file.workload.missing,
            ["file:common.inc", "DIR", "SIZE", "mode", "value:bs"]
        );
    }

    #[test]
    fn job_files_are_told_from_other_texts() {
        for yes in [
            "[global]\nrw=read\nbs=4k\n[a]\n",
            "# c\n\n[j]\nrandrw\nrw=randrw\ndirect=1\n",
            "\u{feff}[a]\r\nsize=1g\r\n",
            "[a;b]\nrw=write\n",
            "[a\nrw=write\nsize=1m\n",
            "[a]\nname=b\nsize=1m\n",
        ] {
            assert!(looks_like_job_file(yes), "{yes}");
        }
        for no in [
            "",
            "[",
            "[1, 2]\n",
            "{\"a\": 1}",
            "[package]\nname=\"x\"\nversion=\"1\"\nedition=\"2\"\n",
            "fio --name=a\n[a]\nrw=read\n",
            "a: (g=0): rw=read\n",
            "[1]+ Running\n",
            "[remote]\nname=b\n",
            "[Desktop Entry]\nname=b\nExec=c\n",
            "[  1.000] sd 0:0:0:0\nrw=read\n",
        ] {
            assert!(!looks_like_job_file(no), "{no}");
        }
    }
}
