//! What stands around a command: programs in front, `time`, `sync`, and the shell's tail behind.
//!
//! ```text
//! line     { before } { wrapper } tool { word } tail
//! before   "sync" ( ";" | "&&" )
//! wrapper  NAME=value | program { option | argument } | shell "-c" quote | "(" | "{"
//! tail     { operator words } | comment
//! ```
//!
//! Everything left of the tool is recognised from a list of programs; the line starts at the leftmost word from
//! which nothing but these leads to the tool. What `time` covers is told in [`tail`](super::tail).

use super::Wrapping;
use super::shell::{Operator, Shell, Token, Tool, starts_with_operand, starts_with_option};
use super::tail::{Tail, Time};
use super::word::Word;

/// A command in its line.
#[derive(Debug)]
pub(super) struct Line {
    pub tool: Tool,
    /// Where the tool's word starts.
    pub start: usize,
    /// Each word behind the tool.
    pub words: Vec<Word>,
    pub around: Wrapping,
    pub notes: Vec<String>,
    /// Where the line ends, its tail included.
    pub end: usize,
    /// The parts of the tail, still without `tail` and what follows from the words that are used.
    tail: Tail,
    time: Option<Time>,
}

/// A program that runs another one.
struct Wrapper {
    name: &'static str,
    /// Options that take a value as a word of its own.
    valued: &'static [&'static str],
    /// How many arguments stand before the other program's name at most.
    arguments: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], arguments: usize) -> Wrapper {
    Wrapper {
        name,
        valued,
        arguments,
    }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper("sudo", &["-u", "-g", "-h", "-p", "-C", "-D", "-T"], 0),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("gtime", &["-f", "-o"], 0),
    wrapper("nice", &["-n"], 0),
    wrapper("ionice", &["-c", "-n", "-p"], 0),
    wrapper("taskset", &[], 1),
    wrapper(
        "numactl",
        &[
            "-C",
            "-m",
            "-N",
            "-p",
            "-i",
            "-l",
            "--cpunodebind",
            "--membind",
            "--physcpubind",
        ],
        1,
    ),
    wrapper("chrt", &["-T", "-P", "-D"], 1),
    wrapper("env", &["-u", "-C", "-S"], 0),
    wrapper("timeout", &["-s", "-k"], 1),
    wrapper("stdbuf", &["-o", "-i", "-e"], 0),
    wrapper("strace", &["-o", "-e", "-p", "-s", "-a", "-O", "-E"], 0),
    wrapper("ltrace", &["-o", "-e"], 0),
    wrapper("perf", &["-o", "-e", "-F", "-C", "-g"], 1),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("command", &[], 0),
    wrapper("eval", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("cgexec", &["-g"], 0),
    wrapper("systemd-run", &["-p", "-u", "--unit"], 0),
    wrapper(
        "docker",
        &["-v", "-w", "-u", "-e", "--name", "--device", "--mount"],
        3,
    ),
    wrapper(
        "podman",
        &["-v", "-w", "-u", "-e", "--name", "--device", "--mount"],
        3,
    ),
    wrapper("kubectl", &["-n", "-c", "--namespace"], 3),
    wrapper("ssh", &["-p", "-i", "-l", "-o", "-F", "-J"], 1),
    wrapper("chroot", &[], 1),
    wrapper("adb", &["-s"], 1),
    wrapper("log_must", &[], 0),
];

const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "ash", "su"];
/// Wrappers that are words of sentences too.
const ENGLISH: [&str; 5] = ["time", "nice", "exec", "command", "sync"];
const KEYWORDS: [&str; 8] = ["if", "then", "else", "do", "while", "until", "!", "--"];

/// How many tokens may stand before the tool.
const MAX_BEFORE: usize = 48;

/// The tool that a word names, by its last path component: `fio`, `./fio`, `/usr/bin/dd`, `fio.exe`, `$gnu_dd`.
pub(super) fn tool_of(word: &str) -> Option<Tool> {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let plain = match name.strip_prefix('$') {
        Some(variable) => {
            let variable = variable.trim_start_matches('{').trim_end_matches('}');
            variable.rsplit('_').next().unwrap_or(variable)
        }
        None => name,
    };
    let plain = plain.strip_suffix(".exe").unwrap_or(plain);
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(plain));
    if is(&["fio"]) {
        Some(Tool::Fio)
    } else if is(&["dd", "gdd", "dcfldd", "dc3dd", "sg_dd"]) {
        Some(Tool::Dd)
    } else {
        None
    }
}

/// Reads the line that starts at `start` in `text`, within the marks `open`.
///
/// `None` where it is no command of fio or dd, or where something stands before the tool that is no wrapper.
pub(super) fn read(text: &str, start: usize, open: Vec<char>) -> Option<Line> {
    let outer = open.len();
    let mut shell = Shell::new(text, start, open);
    let mut around = Wrapping::default();
    let mut time = None;
    let mut notes = Vec::new();
    let tool_word = before(&mut shell, outer, &mut around, &mut time, &mut notes)?;
    let tool = tool_of(&tool_word.text)?;
    shell.tool = Some(tool);
    let (words, tail_start) = words(&mut shell, tool);
    shell.tool = None;
    shell.notes.retain(|repair| !notes.contains(repair));
    notes.append(&mut shell.notes);
    let tail = Tail::read(&mut shell, text, tail_start, outer);
    Some(Line {
        tool,
        start: tool_word.start,
        words,
        around,
        notes,
        end: tail.end.max(tool_word.end),
        tail,
        time,
    })
}

/// Everything up to the tool's own word.
fn before(
    shell: &mut Shell<'_>,
    outer: usize,
    around: &mut Wrapping,
    time: &mut Option<Time>,
    notes: &mut Vec<String>,
) -> Option<Word> {
    let mut tokens = 0;
    let mut other = false;
    loop {
        tokens += 1;
        if tokens > MAX_BEFORE {
            return None;
        }
        let word = match shell.next() {
            Token::Word(word) => word,
            Token::Operator(Operator::Open, _) => {
                shell.open.push(')');
                continue;
            }
            Token::Operator(Operator::Semicolon | Operator::And, _) if around.sync_before => {
                other = false;
                continue;
            }
            Token::Operator(Operator::Pipe | Operator::Redirect, _) if other => continue,
            _ => return None,
        };
        if other {
            // another command between the sync and ours: `sync; echo 3 > …; dd …`
            continue;
        }
        if tool_of(&word.text).is_some() {
            return Some(word);
        }
        let text = word.text.as_str();
        let name = text.rsplit('/').next().unwrap_or(text);
        if name == "sync" {
            around.sync_before = true;
            if let Some(time) = time {
                time.sync_within = true;
            }
            match shell.next() {
                Token::Operator(Operator::Semicolon | Operator::And, _) => continue,
                _ => return None,
            }
        }
        if text == "{" {
            shell.open.push('}');
        } else if KEYWORDS.contains(&text) {
            continue;
        } else if is_assignment(text) {
            around.prefix.push(text.to_owned());
        } else if SHELLS.contains(&name) {
            around.prefix.push(shell_string(shell, &word)?);
        } else if let Some(wrapper) = wrapper_named(name) {
            if matches!(name, "time" | "gtime") {
                let program = text != "time" || !around.prefix.is_empty();
                *time = Some(Time {
                    depth: shell.open.len() - outer,
                    keyword: !program,
                    sync_within: false,
                });
                arguments(shell, wrapper, &word)?;
            } else {
                super::fio::note(notes, format!("dropped:{name}"));
                around.prefix.push(arguments(shell, wrapper, &word)?);
            }
        } else if around.sync_before {
            other = true;
        } else {
            return None;
        }
    }
}

fn wrapper_named(name: &str) -> Option<&'static Wrapper> {
    let lower = name.to_ascii_lowercase();
    WRAPPERS.iter().find(|wrapper| wrapper.name == lower)
}

/// Whether a line may start with this word, and the tool stand behind it.
///
/// Words of English (`this time dd …`) do so only where they stand `first`.
pub(super) fn may_start(word: &str, first: bool) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.trim_start_matches(['(', '{']);
    if !first && (ENGLISH.contains(&name) || KEYWORDS.contains(&name)) {
        return false;
    }
    name.is_empty()
        || name == "sync"
        || name == "sync;"
        || KEYWORDS.contains(&name)
        || SHELLS.contains(&name)
        || wrapper_named(name).is_some()
        || is_assignment(name)
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !super::dd::is_operand(name)
    })
}

/// `sh -c "`: the string's words are read as a line of their own.
fn shell_string(shell: &mut Shell<'_>, word: &Word) -> Option<String> {
    let mut text = word.text.clone();
    loop {
        let mut ahead = shell.clone();
        match ahead.next() {
            Token::Word(next) if next.text.starts_with('-') && !next.quoted => {
                text.push(' ');
                text.push_str(&next.text);
                *shell = ahead;
                if !next.text.starts_with("--") && next.text.contains('c') {
                    break;
                }
            }
            _ => return None,
        }
    }
    let mark = shell.enter_quote()?;
    shell.open.push(mark);
    Some(text)
}

/// A wrapper with its options and arguments, up to the program it runs.
fn arguments(shell: &mut Shell<'_>, wrapper: &Wrapper, word: &Word) -> Option<String> {
    let mut text = word.text.clone();
    let mut left = wrapper.arguments;
    loop {
        let mut ahead = shell.clone();
        let Token::Word(next) = ahead.next() else {
            return Some(text);
        };
        let option = next.text.starts_with('-') && next.text.len() > 1;
        let program = tool_of(&next.text).is_some() && !next.text.starts_with('-');
        if program && left > 0 && wrapper.arguments > 1 {
            // `docker run --rm fio fio …`: the image has the tool's name
            let mut further = ahead.clone();
            if let Token::Word(further) = further.next()
                && (tool_of(&further.text).is_some() || further.text == "--")
            {
                text.push(' ');
                text.push_str(&next.text);
                *shell = ahead;
                continue;
            }
        }
        let name = next.text.rsplit('/').next().unwrap_or(&next.text);
        if program || (!option && (SHELLS.contains(&name) || wrapper_named(name).is_some())) {
            return Some(text);
        }
        if is_assignment(&next.text) && !option {
            return Some(text);
        }
        if next.text == "--" {
            *shell = ahead;
            return Some(text);
        }
        if !option {
            if left == 0 {
                return Some(text);
            }
            left -= 1;
        }
        text.push(' ');
        text.push_str(&next.text);
        let valued = wrapper.valued.contains(&next.text.as_str());
        *shell = ahead;
        if valued && let Token::Word(value) = shell.next() {
            text.push(' ');
            text.push_str(&value.text);
        }
    }
}

/// The words of the command itself, and where they end.
fn words(shell: &mut Shell<'_>, tool: Tool) -> (Vec<Word>, usize) {
    let mut words = Vec::new();
    let mut end = shell.at();
    loop {
        let mut ahead = shell.clone();
        match ahead.next() {
            Token::Word(word) => {
                // a brace of its own closes a group
                if word.text == "}" && !word.quoted {
                    break;
                }
                end = word.end;
                words.push(word);
                *shell = ahead;
            }
            // `> file --rw=read`: options go on behind a redirect
            Token::Operator(Operator::Redirect, _) => {
                let Token::Word(_) = ahead.next() else { break };
                let mut further = ahead.clone();
                let Token::Word(next) = further.next() else {
                    break;
                };
                let fits = match tool {
                    Tool::Fio => starts_with_option(&next.text),
                    Tool::Dd => starts_with_operand(&next.text),
                };
                if !fits {
                    break;
                }
                *shell = ahead;
            }
            _ => break,
        }
    }
    (words, end)
}

impl Line {
    /// What stood around, given that the first `used` words belong to the command.
    pub fn finish(&mut self, text: &str, used: usize) {
        let cut = self.words.get(used).map(|word| word.start);
        self.tail
            .finish(text, cut, self.time, &mut self.around, &mut self.notes);
    }

    /// Where the command ends, given that the first `used` words belong to it.
    pub fn command_end(&self, used: usize) -> usize {
        match used.checked_sub(1).and_then(|last| self.words.get(last)) {
            Some(word) => word.end,
            None => self.tail.start,
        }
    }
}
