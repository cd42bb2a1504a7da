//! Labels corrected by a person: a small TOML file that `--print-labels` writes and `--labels` applies.
//!
//! ```toml
//! [[result]]
//! input = "post.txt"
//! line = 6
//! text = "10737418240 bytes transferred in 6.449485 secs (1664848920 bytes/sec)"
//! machine = "internal SSD"
//! section = ["Eight disks, one dd"]
//! ```
//!
//! One entry stands for the results of one run with the same labels; `line` is where the first of them starts. Several
//! entries of one line (the rows and columns of a table) belong to its results in their order.
//! `machine` and `section` are there to be edited: a key that is left out changes nothing, an empty one takes the
//! label away. `input` and `text` say where the entry belongs, and may be left out; where they stand they must fit,
//! so that labels are not given to results of another log.

use crate::record::{Label, LabelSource, Record};
use crate::source::Log;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fmt::Write as _;

/// The content of a file of labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labels {
    #[serde(default)]
    result: Vec<Entry>,
    /// The file's name, for messages.
    #[serde(skip)]
    name: String,
    /// Which entries found their result.
    #[serde(skip)]
    used: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    machine: Option<String>,
    section: Option<Vec<String>>,
}

/// A file of labels that can't be read, or that does not fit the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelsError(String);

impl fmt::Display for LabelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LabelsError {}

/// What stands at the head of the file that is printed.
pub const HEAD: &str = "\
# Labels of results. Edit `machine` and `section`, then read the log again with `--labels FILE`.
# A key that is left out changes nothing; \"\" and [] take a label away.
";

/// As much of a result's first line as is shown.
const SHOWN: usize = 80;

/// The entries of these records, as TOML without [`HEAD`]. `log` is where they were read from, if it is at hand.
pub fn print(records: &[Record], log: Option<&Log<'_>>) -> String {
    let mut out = String::new();
    for group in groups(records) {
        let record = &records[group[0]];
        let Some(line) = record.source.line else {
            continue;
        };
        let entry = Entry {
            input: Some(record.source.name.to_string()),
            line,
            text: log.and_then(|log| first_line(log, record)),
            machine: Some(machine(record).to_owned()),
            section: Some(section(record)),
        };
        // an entry has strings, numbers and lists of strings only, which TOML can all hold
        let table = toml::to_string(&entry).expect("an entry is TOML");
        let _ = write!(out, "\n[[result]]\n{table}");
    }
    out
}

impl Labels {
    /// Reads the file called `name`. Errors: no TOML, or not of this form.
    pub fn read(name: &str, text: &str) -> Result<Self, LabelsError> {
        let mut labels: Self =
            toml::from_str(text).map_err(|error| LabelsError(format!("{name}: {error}")))?;
        name.clone_into(&mut labels.name);
        labels.used = vec![false; labels.result.len()];
        Ok(labels)
    }

    /// Gives the labels to the records of one input. Errors: an entry for this input has no result there.
    pub fn apply(
        &mut self,
        input: &str,
        records: &mut [Record],
        log: Option<&Log<'_>>,
    ) -> Result<(), LabelsError> {
        let groups = groups(records);
        let of_input = |entry: &Entry, record: &Record| {
            entry
                .input
                .as_deref()
                .is_none_or(|name| name == &*record.source.name)
        };
        for (index, entry) in self.result.iter().enumerate() {
            let earlier = self.result[..index]
                .iter()
                .filter(|other| other.line == entry.line && other.input == entry.input)
                .count();
            let group = groups
                .iter()
                .filter(|group| {
                    let record = &records[group[0]];
                    record.source.line == Some(entry.line) && of_input(entry, record)
                })
                .nth(earlier);
            let Some(group) = group else {
                // perhaps it is for another input; those that no input had are named at the end
                if entry.input.as_deref() == Some(input) {
                    let lines: Vec<String> = groups
                        .iter()
                        .filter_map(|group| records[group[0]].source.line)
                        .map(|line| line.to_string())
                        .collect();
                    return Err(LabelsError(format!(
                        "{}: expected a result at line {} of {input}, found results at {}; print the labels anew with --print-labels",
                        self.name,
                        entry.line,
                        if lines.is_empty() {
                            "no line".to_owned()
                        } else {
                            lines.join(", ")
                        },
                    )));
                }
                continue;
            };
            if let (Some(wanted), Some(log)) = (&entry.text, log) {
                let found = first_line(log, &records[group[0]]).unwrap_or_default();
                if *wanted != found {
                    return Err(LabelsError(format!(
                        "{}: expected line {} of {input} to be {wanted:?}, found {found:?}; print the labels anew with --print-labels",
                        self.name, entry.line
                    )));
                }
            }
            self.used[index] = true;
            for &record in group {
                entry.give(&mut records[record]);
            }
        }
        Ok(())
    }

    /// Whether every entry found its result in some input. Errors: one did not.
    pub fn all_used(&self) -> Result<(), LabelsError> {
        let Some(entry) = self.used.iter().position(|used| !used) else {
            return Ok(());
        };
        let entry = &self.result[entry];
        Err(LabelsError(match &entry.input {
            Some(input) => format!(
                "{}: expected the input {input:?}, which line {} is of, found no input of that name; write the new name after `input`, or take that key out",
                self.name, entry.line
            ),
            None => format!(
                "{}: expected a result at line {}, found none in any input",
                self.name, entry.line
            ),
        }))
    }
}

impl Entry {
    fn give(&self, record: &mut Record) {
        if let Some(name) = &self.machine
            && machine(record) != name
        {
            record.machine = (!name.is_empty()).then(|| given(name));
        }
        if let Some(names) = &self.section
            && section(record) != *names
        {
            record.section = names.iter().map(|name| given(name)).collect();
        }
    }
}

fn given(name: &str) -> Label {
    Label {
        text: name.into(),
        full: None,
        span: None,
        by: LabelSource::Flag,
        ambiguous: false,
    }
}

fn machine(record: &Record) -> &str {
    record.machine.as_ref().map_or("", |label| &label.text)
}

fn section(record: &Record) -> Vec<String> {
    let labels = record.section.iter();
    labels.map(|label| label.text.to_string()).collect()
}

fn first_line(log: &Log<'_>, record: &Record) -> Option<String> {
    let start = record.source.span?.start;
    Some(log.line_at(start).trim().chars().take(SHOWN).collect())
}

/// Records that follow each other in one run with the same labels: what one entry stands for.
fn groups(records: &[Record]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let texts = |record: &Record| (record.run, machine(record).to_owned(), section(record));
        match groups.last_mut() {
            Some(group)
                if records[group[0]].source.name == record.source.name
                    && texts(&records[group[0]]) == texts(record) =>
            {
                group.push(index);
            }
            _ => groups.push(vec![index]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &str = "\
Disk \"A\"

$ dd if=/dev/zero of=a bs=1M count=100
104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s

Disk B

$ dd if=/dev/zero of=b bs=1M count=100
104857600 bytes (105 MB, 100 MiB) copied, 2 s, 52.4 MB/s
";

    fn read() -> (Log<'static>, Vec<Record>) {
        let log = Log::from_bytes("post.txt", POST.as_bytes()).unwrap();
        let records = crate::parse(&log).records;
        (log, records)
    }

    #[test]
    fn what_is_printed_changes_nothing() {
        let (log, mut records) = read();
        let before = records.clone();
        let text = format!("{HEAD}{}", print(&records, Some(&log)));
        assert!(text.contains("machine = 'Disk \"A\"'"), "{text}");
        let mut labels = Labels::read("l.toml", &text).unwrap();
        labels.apply("post.txt", &mut records, Some(&log)).unwrap();
        labels.all_used().unwrap();
        assert_eq!(records, before);
    }

    #[test]
    fn entries_of_one_line_belong_to_its_results_in_order() {
        let (_, records) = read();
        let mut records: Vec<Record> =
            vec![records[0].clone(), records[0].clone(), records[0].clone()];
        for (record, name) in records.iter_mut().zip(["a", "b", "c"]) {
            record.machine = Some(given(name));
        }
        let text = print(&records, None).replace('b', "B");
        let mut labels = Labels::read("l.toml", &text).unwrap();
        labels.apply("post.txt", &mut records, None).unwrap();
        labels.all_used().unwrap();
        let machines: Vec<&str> = records.iter().map(machine).collect();
        assert_eq!(machines, ["a", "B", "c"]);
    }

    #[test]
    fn what_is_edited_is_given() {
        let (log, mut records) = read();
        let text = "[[result]]\nline = 4\nmachine = \"NAS\"\nsection = [\"writes\"]\n[[result]]\nline = 9\nmachine = \"\"\n";
        let mut labels = Labels::read("l.toml", text).unwrap();
        labels.apply("post.txt", &mut records, Some(&log)).unwrap();
        assert_eq!(records[0].machine, Some(given("NAS")));
        assert_eq!(records[0].section, [given("writes")]);
        assert_eq!(records[1].machine, None);
    }

    #[test]
    fn err_messages_say_what_does_not_fit() {
        let (log, mut records) = read();
        let mut message = |text: &str| {
            Labels::read("l.toml", text)
                .and_then(|mut labels| {
                    labels.apply("post.txt", &mut records, Some(&log))?;
                    labels.all_used()
                })
                .unwrap_err()
                .to_string()
        };
        let shown = message("[[result]]\ninput = 'post.txt'\nline = 5\n");
        assert!(
            shown.contains("expected a result at line 5 of post.txt, found results at 4, 9"),
            "{shown}"
        );
        let shown = message("[[result]]\nline = 4\ntext = 'other'\n");
        assert!(
            shown.contains("to be \"other\", found \"104857600 bytes"),
            "{shown}"
        );
        let shown = message("[[result]]\ninput = 'x.txt'\nline = 5\n");
        assert!(shown.contains("expected the input \"x.txt\""), "{shown}");
        let shown = message("[[result]]\nline = 4\nmashine = 'x'\n");
        assert!(shown.contains("mashine"), "{shown}");
    }
}
