//! Workloads as text again: a command line, or a fio job file.
//!
//! Reading what is printed here gives the same test: typed fields are printed as plain numbers (`--bs=4096`), what
//! was kept verbatim as it was. Words are quoted for a POSIX shell; variables that the workload lists as missing
//! stay open to it. Nothing here is meant to be run by this workspace, which never starts a shell.

use super::fio::options_of;
use super::options::{Kind, Scope, lookup};
use super::word::{placeholder, variable_name};
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

    /// The fio job file that asks for this test; `None` for dd, and where a name or value can't stand in a job file:
    /// it has no quotes, cuts at `;` and `#`, and takes a section `[global…]` for defaults.
    ///
    /// Options of the program and what is missing are not in it.
    pub fn to_job_file(&self) -> Option<String> {
        let Test::Jobs(jobs) = &self.test else {
            return None;
        };
        let fits = |text: &str| !text.contains([';', '#', '\n', '\r']);
        let plain = |text: &str| {
            fits(text) && text.trim() == text && !(text.len() > 1 && text.starts_with(['"', '\'']))
        };
        let possible = jobs.iter().all(|job| {
            fits(&job.name)
                && !job.name.starts_with("global")
                && options_of(job)
                    .iter()
                    .all(|(name, value)| plain(value) && plain(name))
        });
        if !possible {
            return None;
        }
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
        line.push_str(" --");
        // a name that fio does not know may hold anything
        push_plain(line, name);
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

/// `text` as one word of a shell's line, that shells and [`parse_command`](super::command::parse_command) read as it is.
pub fn quoted_word(text: &str) -> String {
    let mut word = String::new();
    push_plain(&mut word, text);
    if word.is_empty() {
        word.push_str("''");
    }
    word
}

/// Adds `text` to a word, quoted where a shell or this reader would take some of it for its own.
fn push_plain(word: &mut String, text: &str) {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_./:,+%@-".contains(c);
    let sentence_end = text.ends_with(['.', ',', ':']);
    if text.chars().all(safe) && !sentence_end && !text.starts_with("3D") {
        word.push_str(text);
        return;
    }
    // what a terminal obeys, what nobody sees, and the quotes and dashes that editors put in
    let odd = |c: char| {
        c.is_control()
            || (c != ' ' && c.is_whitespace())
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{201f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    if !text.chars().any(odd) {
        word.push('\'');
        for c in text.chars() {
            match c {
                '\'' => word.push_str("'\\''"),
                // parted, so that `&amp;` and `=3D` are not taken for encoded
                '&' | '=' => word.extend([c, '\'', '\'']),
                c => word.push(c),
            }
        }
        word.push('\'');
        return;
    }
    // bytes, for a shell whose locale is not UTF-8 makes other ones of a code point
    word.push_str("$'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            '\n' => word.push_str("\\n"),
            '\r' => word.push_str("\\r"),
            '\t' => word.push_str("\\t"),
            c if (c.is_ascii_graphic() || c == ' ') && !['&', '='].contains(&c) => word.push(c),
            c => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(word, "\\x{byte:02x}");
                }
            }
        }
    }
    word.push('\'');
}

fn push_section(file: &mut String, job: &Job) {
    let _ = writeln!(file, "[{}]", job.name);
    for (name, value) in options_of(job) {
        let flag = lookup(name, false)
            .option()
            // in a section, the program's own flags are words that fio does not know
            .is_some_and(|option| option.kind == Kind::Flag && option.scope != Scope::Program);
        if flag && value == "1" {
            let _ = writeln!(file, "{name}");
        } else {
            let _ = writeln!(file, "{name}={value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::parse_command;
    use super::super::jobfile::parse_job_file;
    use super::super::{Dd, Pattern, SyncFlag, WrittenAs};
    use super::*;
    use crate::unit::{Bytes, Nanos};
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;

    /// Texts with all that shells, web pages, mail and templates take for their own.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[a-z0-9_./:-]{1,12}",
            1 => r#"[ -~]{0,16}"#,
            1 => r"\PC{0,8}",
            1 => vec(
                prop::sample::select(vec![
                    "&amp;", "=3D", "3D", "$X", "${Y}", "$(z)", "`w`", "'", "\"", "\\", "\n", "\t", "\u{a0}", "\u{2013}", "\u{201c}", "%s",
                    "\u{1b}[31m", "\r", "\u{7f}", "\u{85}", "\u{200b}", "\u{202e}", "\u{2066}", "\u{feff}", "\u{ad}", "\u{1}7", "f", "0",
                    "{n}", "<p>", "#", ";", "|", "&", ">", "=", " ", ".", "-", "[", "]", "end",
                ]),
                0..6
            )
            .prop_map(|parts| parts.concat()),
        ]
    }

    fn bytes() -> impl Strategy<Value = Option<Bytes>> {
        of((1..=u64::MAX).prop_map(Bytes))
    }

    fn micros() -> impl Strategy<Value = Option<Nanos>> {
        of(
            prop_oneof![0..1_000_000u64, (0..100_000u64).prop_map(|s| s * 1_000_000)]
                .prop_map(|us| Nanos::new(us as f64 * 1000.0).unwrap()),
        )
    }

    prop_compose! {
        fn other()(
            values in vec(text(), 6),
            which in vec(any::<bool>(), 6),
        ) -> Vec<(String, String)> {
            ["verify", "description", "thread", "zzz_unknown", "hipri", "ioscheduler"]
                .into_iter()
                .zip(values)
                .zip(which)
                .filter(|(_, take)| *take)
                .map(|((name, value), _)| (name.to_owned(), value))
                .collect()
        }
    }

    prop_compose! {
        fn job()(
            name in text().prop_filter("defaults", |name| !name.starts_with("global")),
            pattern in of(prop::sample::select(Pattern::ALL.to_vec())),
            texts in (of(text()), of(text()), of(text())),
            blocks in (bytes(), bytes(), bytes()),
            sizes in (bytes(), bytes(), bytes(), bytes()),
            counts in (of(any::<u32>()), of(any::<u32>()), of(any::<u32>()), of(0..=100u32)),
            longs in (of(any::<u64>()), of(any::<u64>()), of(any::<u64>())),
            times in (micros(), micros()),
            flags in vec(of(any::<bool>()), 6),
            sync in of(prop::sample::select(vec![SyncFlag::None, SyncFlag::Sync, SyncFlag::Dsync])),
            odd in any::<bool>(),
            mut other in other(),
        ) -> Job {
            let block = blocks.0;
            let differs = |b: Option<Bytes>| b.filter(|_| block.is_some()).filter(|b| Some(*b) != block);
            let mut job = Job {
                name,
                pattern,
                engine: texts.0,
                block_bytes: block,
                write_block_bytes: differs(blocks.1),
                trim_block_bytes: differs(blocks.2),
                size_bytes: sizes.0,
                io_size_bytes: sizes.1,
                file_bytes: sizes.2,
                offset_bytes: sizes.3,
                depth: counts.0,
                jobs: counts.1,
                runtime_ns: times.0,
                ramp_ns: times.1,
                time_based: flags[0],
                loops: longs.0,
                direct: flags[1],
                sync,
                fsync: longs.1,
                fdatasync: longs.2,
                end_fsync: flags[2],
                fsync_on_close: flags[3],
                rwmixread: counts.3,
                group_reporting: flags[4],
                stonewall: flags[5],
                filename: texts.1,
                directory: texts.2,
                nrfiles: counts.2,
                other: Vec::new(),
            };
            if odd {
                job.size_bytes = None;
                job.pattern = Some(Pattern::RandRead);
                other.push(("size".to_owned(), "50%".to_owned()));
                other.push(("rw".to_owned(), "randread:8".to_owned()));
            }
            job.other = other;
            job
        }
    }

    prop_compose! {
        fn a_dd()(
            texts in (of(text()), of(text())),
            sizes in (bytes(), bytes(), bytes(), bytes()),
            counts in (of(any::<u64>()), of(any::<u64>()), of(any::<u64>())),
            conv in vec("[a-z]{1,8}", 0..3),
            iflag in vec(prop::sample::select(vec!["direct", "fullblock", "count_bytes"]), 0..3),
            status in of(text()),
        ) -> Dd {
            let unique = |items: Vec<String>| {
                let mut kept: Vec<String> = Vec::new();
                for item in items {
                    if !kept.contains(&item) {
                        kept.push(item);
                    }
                }
                kept
            };
            let iflag = unique(iflag.into_iter().map(str::to_owned).collect());
            let in_bytes = Dd::has(&iflag, "count_bytes") || sizes.3.is_some();
            Dd {
                input: texts.0,
                output: texts.1,
                block_bytes: sizes.0,
                input_block_bytes: sizes.1,
                output_block_bytes: sizes.2,
                count: counts.0.filter(|_| !in_bytes),
                count_bytes: sizes.3,
                skip: counts.1,
                seek: counts.2,
                conv: unique(conv),
                iflag,
                oflag: Vec::new(),
                other: status.into_iter().map(|status| ("status".to_owned(), status)).collect(),
            }
        }
    }

    proptest! {
        #[test]
        fn jobs_come_back_from_a_command(jobs in vec(job(), 1..4), program in of(text())) {
            let mut workload = Workload::new(WrittenAs::FioCommand, Test::Jobs(jobs));
            workload.program = program.into_iter().map(|value| ("output".to_owned(), value)).collect();
            let line = workload.to_command();
            let again = parse_command(&line).map_err(|error| TestCaseError::fail(format!("{line}: {error}")))?;
            prop_assert_eq!(&again.test, &workload.test, "{}", line);
            prop_assert_eq!(&again.program, &workload.program, "{}", line);
            prop_assert_eq!(&again.key, &workload.key);
            // once templates are listed as missing, all of it is the same again
            let third = parse_command(&again.to_command()).unwrap();
            prop_assert_eq!((&third.test, &third.program), (&again.test, &again.program));
        }

        #[test]
        fn jobs_come_back_from_a_job_file(jobs in vec(job(), 1..4)) {
            let workload = Workload::new(WrittenAs::FioJobFile, Test::Jobs(jobs));
            if let Some(file) = workload.to_job_file() {
                prop_assert_eq!(parse_job_file(&file).workload.test, workload.test, "{}", file);
            }
        }

        #[test]
        fn a_dd_comes_back_from_its_command(dd in a_dd()) {
            let workload = Workload::new(WrittenAs::DdCommand, Test::Dd(Box::new(dd)));
            let line = workload.to_command();
            // a dd without operands asks for nothing that could be told from prose
            if line != "dd" {
                let again = parse_command(&line).map_err(|error| TestCaseError::fail(format!("{line}: {error}")))?;
                prop_assert_eq!(again.test, workload.test, "{}", line);
            }
        }
    }

    #[test]
    fn the_base_of_suffixes_comes_first_wherever_it_was_written() {
        let file = "[global]\nverify=md5\n[a]\nkb_base=1000\nsize=10k\n";
        let workload = parse_job_file(file).workload;
        let [job] = workload.jobs() else { panic!() };
        let names: Vec<&str> = job.other.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["kb_base", "verify"]);
        assert_eq!(job.size_bytes, Some(Bytes(10_000)));
        let printed = workload.to_job_file().unwrap();
        assert_eq!(parse_job_file(&printed).workload.test, workload.test);
    }

    #[test]
    fn variables_stay_open_and_other_dollars_are_quoted() {
        let line = "fio --name=a --filename=\"${DIR}/$(date +%s)\" --size=$SIZE --description='costs $5' \"$@\" job.fio";
        let workload = parse_command(line).unwrap();
        let again = parse_command(&workload.to_command()).unwrap();
        assert_eq!(again.test, workload.test);
        let sorted = |workload: &Workload| {
            let mut missing = workload.missing.clone();
            missing.sort();
            missing
        };
        assert_eq!(sorted(&again), sorted(&workload));
        assert_eq!(
            sorted(&workload),
            [
                "$(date +%s)",
                "$@",
                "DIR",
                "SIZE",
                "file:job.fio",
                "words:$@"
            ]
        );
    }
}
