//! The words behind `fio` and `dd` on a command line become a [`Test`].
//!
//! ```text
//! fio   { option | job-file }
//! option  dash { dash } name [ "=" value | blank value ]      name: any unique prefix
//! dd    { name "=" value }
//! ```
//!
//! fio (measured with 3.33): options before the first `--name` hold for all jobs. `--name` starts a job with
//! these defaults; a job does **not** pass its options on to the next. `--name=global` goes back to the defaults.
//! Words without dashes are job files. Where people write what fio would refuse but plainly mean one thing (blanks
//! around `=`, typographic dashes, a bare `--direct`), that thing is read and noted.

use super::fio::{self, MAY_BE_EMPTY, note};
use super::options::{self, Found, Kind, Scope};
use super::places::Places;
use super::shell::{is_dash, starts_with_option};
use super::word::Word;
use super::{Dd, Job, Test, dd};
use crate::source::Span;
use std::borrow::Cow;

/// What the words of a command say.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub test: Option<Test>,
    /// Options of fio itself, see [`Workload::program`](super::Workload::program).
    pub program: Vec<(String, String)>,
    pub missing: Vec<String>,
    pub notes: Vec<String>,
    /// Where its options stand, in the text that the words were read from.
    pub places: Places,
    /// How many of the words belong to the command; what follows is other text.
    pub used: usize,
}

impl Said {
    fn lacks(&mut self, what: impl Into<String>) {
        note(&mut self.missing, what);
    }

    /// Notes where an option stands that was read from these words.
    fn place(&mut self, job: Option<u32>, option: Cow<'static, str>, words: &[Word]) {
        if let [first, ..] = words
            && let Some(last) = words.last()
        {
            let span = Span::new(first.start as u32, last.end as u32);
            self.places.push(job, option, span);
        }
    }

    fn variables(&mut self, word: &Word) {
        for variable in &word.variables {
            self.lacks(variable.as_str());
        }
    }
}

/// How many options one job of a command may have, and all of its jobs together with what they inherit; a longer
/// command is cut. A log may be full of commands, so this bounds what each of its bytes can cost.
const MAX_OPTIONS: usize = 1_000;
const MAX_OPTIONS_OF_ALL: usize = 4_000;

/// Reads the words behind `fio`.
pub(super) fn fio(words: &[Word]) -> Said {
    let mut said = Said::default();
    let mut defaults = Job::default();
    let mut jobs: Vec<Job> = Vec::new();
    let mut in_job = false;
    let mut named_file = false;
    let mut at = 0;
    let last_option = last_option(words);
    while let Some(word) = words.get(at) {
        let name = word.text.trim_start_matches(is_dash);
        let dashes = &word.text[..word.text.len() - name.len()];
        let positional = dashes.is_empty() || name.is_empty();
        if positional && !is_bare_assignment(&word.text) {
            match lone_word(words, at, last_option) {
                Lone::Prose => break,
                Lone::Skip(count) => at += count,
                Lone::Optional(count) => {
                    let texts: Vec<_> = words[at..at + count]
                        .iter()
                        .map(|w| w.text.as_str())
                        .collect();
                    said.lacks(format!("optional:{}", texts.join(" ")));
                    at += count;
                }
                Lone::Words => {
                    said.variables(word);
                    said.lacks(format!("words:{}", word.text));
                    named_file = true;
                    at += 1;
                }
                Lone::File => {
                    said.variables(word);
                    said.lacks(format!("file:{}", word.text));
                    named_file = true;
                    at += 1;
                }
            }
            continue;
        }
        if name.starts_with('=') {
            // a value without an option
            note(&mut said.notes, format!("dropped:{}", word.text));
            at += 1;
            continue;
        }
        said.variables(word);
        let last = at + 1 == words.len();
        let first = at;
        at += 1;
        if dashes.is_empty() {
            note(&mut said.notes, format!("repaired-dashes:{}", word.text));
        } else if dashes.len() > 2 || !dashes.is_ascii() {
            note(&mut said.notes, "repaired-typography");
        }
        let (name, mut value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (name, None),
        };
        let found = options::lookup(name, true);
        let option = found.option();
        match &found {
            Found::Exact(_) => {}
            Found::Prefix(option) => {
                note(&mut said.notes, format!("prefix:{name}={}", option.name))
            }
            Found::Ambiguous(_) | Found::Unknown => {
                note(&mut said.notes, format!("unknown-option:{name}"));
            }
        }
        let kind = option.map_or(Kind::Flag, |option| option.kind);
        let main = option.map_or(name, |option| option.main);

        // a value that stands apart
        let next = words.get(at);
        let spaced = next.is_some_and(|next| next.text.starts_with('='));
        let empty = value.as_deref() == Some("") && !word.quoted;
        if value.is_none() && spaced {
            note(&mut said.notes, "repaired-blanks");
            let next = &words[at];
            said.variables(next);
            value = Some(next.text[1..].to_owned());
            at += 1;
            if next.text == "=" && words.get(at).is_some_and(is_value) {
                said.variables(&words[at]);
                value = Some(words[at].text.clone());
                at += 1;
            }
        } else if kind != Kind::Flag
            && (value.is_none() || empty)
            && let Some(next) = next.filter(|next| is_value(next))
        {
            if empty {
                note(&mut said.notes, "repaired-blanks");
            }
            said.variables(next);
            value = Some(next.text.clone());
            at += 1;
        }
        let mut value = match (value, kind) {
            (Some(value), _) => value,
            (None, Kind::Flag) => "1".to_owned(),
            (None, Kind::Bool) => {
                note(&mut said.notes, format!("assumed:{main}=1"));
                "1".to_owned()
            }
            (None, Kind::Text | Kind::Number | Kind::Time) => String::new(),
        };
        if value.is_empty() && kind != Kind::Flag && !MAY_BE_EMPTY.contains(&main) {
            said.lacks(format!("value:{main}"));
        }
        // the full stop of a sentence that ends in a command
        if last
            && !words[at - 1].quoted
            && kind != Kind::Text
            && let Some(number) = value.strip_suffix(['.', ',', ':'])
            && number.ends_with(|c: char| c.is_ascii_alphanumeric())
        {
            note(&mut said.notes, "trailing-text-dropped");
            value = number.to_owned();
        }

        let in_jobs = option.is_none_or(|option| option.scope != Scope::Program);
        let job = match jobs.len() as u32 {
            _ if !in_jobs || main == "name" && value.starts_with("global") => None,
            number if main == "name" => Some(number),
            number if in_job => number.checked_sub(1),
            _ => None,
        };
        let given = option.map_or(Cow::Owned(name.to_owned()), |option| {
            Cow::Borrowed(option.main)
        });
        said.place(job, given, &words[first..at]);
        match option.map(|option| option.scope) {
            Some(Scope::Program) => {
                said.program.retain(|(have, _)| have != main);
                said.program.push((main.to_owned(), value));
            }
            _ if main == "name" && value.starts_with("global") => in_job = false,
            _ if main == "name" && jobs.len() * (defaults.other.len() + 8) > MAX_OPTIONS_OF_ALL => {
                at -= 1;
                break;
            }
            _ if main == "name" => {
                jobs.push(Job {
                    name: value,
                    ..defaults.clone()
                });
                in_job = true;
            }
            _ => {
                let job = match jobs.last_mut() {
                    Some(job) if in_job => job,
                    _ => &mut defaults,
                };
                if job.other.len() == MAX_OPTIONS {
                    break;
                }
                fio::set(job, main, &value, &mut said.notes);
            }
        }
    }
    said.used = at;
    if jobs.is_empty() {
        if !named_file {
            said.lacks("option:name");
        }
        jobs.push(defaults);
    }
    said.test = Some(Test::Jobs(jobs));
    said
}

/// `filename=x` without dashes.
fn is_bare_assignment(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(name, _)| options::lookup(name, false).option().is_some())
}

/// Whether a word can be the value of the option before it: fio takes any word, a person means no option.
fn is_value(word: &Word) -> bool {
    let mut chars = word.text.chars();
    match chars.next() {
        None => word.quoted,
        Some(c) if is_dash(c) => word.quoted || chars.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => c != '=',
    }
}

/// How many words may stand in brackets.
const MAX_OPTIONAL: usize = 100;

/// What a word is that is no option.
enum Lone {
    /// A job file.
    File,
    /// Something a shell would put several words in place of.
    Words,
    /// So many words that may be left out: `[-numjobs=4 -group_reporting]`.
    Optional(usize),
    /// So many words that mean nothing.
    Skip(usize),
    /// The text goes on in another way.
    Prose,
}

/// The place behind the last word that is an option.
fn last_option(words: &[Word]) -> usize {
    words
        .iter()
        .rposition(|word| starts_with_option(&word.text))
        .map_or(0, |at| at + 1)
}

/// What the word at `at` is; the last option ends before `options_end`.
fn lone_word(words: &[Word], at: usize, options_end: usize) -> Lone {
    let word = &words[at];
    let text = word.text.as_str();
    let more = |from: usize| from < options_end;
    if text.chars().all(is_dash) && !text.is_empty() {
        // "– name=x": the dash belongs to the next word, which is taken without one
        return if text == "-" && !more(at + 1) {
            Lone::File
        } else {
            Lone::Skip(1)
        };
    }
    if text.starts_with("[-")
        && let Some(end) = words[at..]
            .iter()
            .take(MAX_OPTIONAL)
            .position(|word| word.text.ends_with(']'))
    {
        return Lone::Optional(end + 1);
    }
    if text.is_empty() {
        return Lone::Skip(1);
    }
    if is_one_variable(word) {
        return Lone::Words;
    }
    let alone = at == 0 && words.len() == 1;
    if looks_like_file(text) || alone || !word.variables.is_empty() || word.quoted || more(at + 1) {
        Lone::File
    } else {
        Lone::Prose
    }
}

/// A name with an ending, or a path, and not the end of a sentence.
fn looks_like_file(text: &str) -> bool {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let dot = name
        .rsplit_once('.')
        .is_some_and(|(_, ending)| (1..=5).contains(&ending.len()) && ending.is_ascii());
    (dot || text.contains(['/', '\\'])) && !text.ends_with(['.', ',', ':', ';', '?', '!'])
}

/// Whether a word is one variable and nothing else: `$X`, `"${X[@]}"`, `$(…)`.
fn is_one_variable(word: &Word) -> bool {
    let [variable] = word.variables.as_slice() else {
        return false;
    };
    let text = word.text.as_str();
    text == variable
        || text.strip_prefix('$') == Some(variable)
        || (text.starts_with("${") && text.find('}') == Some(text.len() - 1))
}

/// Whether the words read as a command of fio: an option or a job file stands first, and it is more than one name
/// of an option in a sentence ("the --size parameter").
pub(super) fn is_fio(words: &[Word]) -> bool {
    let Some(first) = words.first() else {
        return false;
    };
    let is_option = |word: &Word| starts_with_option(&word.text);
    if is_option(first) {
        let name = first.text.trim_start_matches(is_dash);
        let program = options::lookup(name, false)
            .option()
            .is_some_and(|option| option.scope == Scope::Program && option.kind == Kind::Flag);
        let mut others = words[1..].iter();
        return name.contains('=')
            || program
            || others.any(|word| {
                is_option(word) || looks_like_file(&word.text) || !word.variables.is_empty()
            });
    }
    match lone_word(words, 0, last_option(words)) {
        Lone::File => {
            let ending = first.text.rsplit_once('.').map(|(_, ending)| ending);
            let known = ["fio", "job", "ini", "cfg", "conf", "txt", "jobs"];
            let path = first.text.contains(['/', '\\']) || !is_plain(&first.text);
            ending.is_some_and(|ending| known.contains(&ending))
                || (path && words[1..].iter().any(is_option))
        }
        Lone::Skip(_) => words
            .get(1)
            .is_some_and(|word| is_bare_assignment(&word.text)),
        Lone::Words => words.get(1).is_some_and(is_option),
        Lone::Optional(_) => true,
        Lone::Prose => false,
    }
}

/// A word of plain letters, as prose has them.
fn is_plain(text: &str) -> bool {
    text.chars().all(char::is_alphabetic)
}

/// Reads the words behind `dd`.
pub(super) fn dd(words: &[Word]) -> Said {
    let mut said = Said::default();
    let mut test = Dd::default();
    let mut at = 0;
    let last_option = last_option(words);
    while let Some((name, mut value, count)) = operand(words, at) {
        if count > 1 {
            note(&mut said.notes, "repaired-blanks");
        }
        for word in &words[at..at + count] {
            said.variables(word);
        }
        let lower = name.to_ascii_lowercase();
        said.place(None, Cow::Owned(lower.clone()), &words[at..at + count]);
        at += count;
        if lower != name {
            note(&mut said.notes, format!("lower-cased:{name}"));
        }
        let prose_next = operand(words, at).is_none();
        if prose_next
            && !words[at - 1].quoted
            && !matches!(lower.as_str(), "if" | "of")
            && let Some(plain) = value.strip_suffix(['.', ',', ':'])
        {
            note(&mut said.notes, "trailing-text-dropped");
            value = plain.to_owned();
        }
        if value.is_empty() {
            said.lacks(format!("value:{lower}"));
        }
        dd::set(&mut test, &lower, &value, &mut said.notes);
        // a variable on its own may hold any operands
        while let Some(word) = words.get(at)
            && let Lone::Words = lone_word(words, at, last_option)
        {
            said.variables(word);
            said.lacks(format!("words:{}", word.text));
            at += 1;
        }
    }
    dd::settle(&mut test);
    said.used = at;
    said.test = Some(Test::Dd(Box::new(test)));
    said
}

/// Whether the words read as a command of dd: an operand stands first.
pub(super) fn is_dd(words: &[Word]) -> bool {
    operand(words, 0).is_some()
}

/// The operand at a place: name, value, and how many words it takes (`bs = 1 M` takes four).
fn operand(words: &[Word], at: usize) -> Option<(&str, String, usize)> {
    let known = |name: &str| dd::is_operand(name) || dd::is_operand(&name.to_ascii_lowercase());
    let word = words.get(at)?;
    if let Some((name, value)) = word.text.split_once('=') {
        if !known(name) {
            return None;
        }
        let next = words.get(at + 1).filter(|next| !next.text.contains('='));
        return match next {
            // `if= /dev/zero`
            Some(next) if value.is_empty() && !word.quoted => Some((name, next.text.clone(), 2)),
            _ => Some((name, value.to_owned(), 1)),
        };
    }
    if !known(&word.text) {
        return None;
    }
    let next = words.get(at + 1)?;
    let value = next.text.strip_prefix('=')?;
    if !value.is_empty() {
        return Some((&word.text, value.to_owned(), 2));
    }
    let value = words.get(at + 2)?;
    let digits = !value.text.is_empty() && value.text.bytes().all(|b| b.is_ascii_digit());
    match words.get(at + 3) {
        Some(suffix)
            if digits && matches!(suffix.text.as_str(), "k" | "K" | "m" | "M" | "g" | "G") =>
        {
            Some((&word.text, format!("{}{}", value.text, suffix.text), 4))
        }
        _ => Some((&word.text, value.text.clone(), 3)),
    }
}
