//! The tail behind a command: what else the shell would have done, and what a `time` in front covered of it.
//!
//! ```text
//! tail     { operator words } | comment | mark that closes `sh -c "…"`, `(…)`, `{ …; }`
//! ```
//!
//! `time` as a shell's keyword covers the whole pipeline behind it, as a program (`/usr/bin/time`, or after `sudo`)
//! one command; in front of `sh -c "…"`, `(…)` or `{ …; }` it covers all that stands inside.

use super::fio::note;
use super::shell::{Operator, Shell, Token};
use super::{Timed, Wrapping};

/// How many tokens of a tail are told apart.
const MAX_BEHIND: usize = 1000;

/// The tail of a command.
#[derive(Debug)]
pub(super) struct Tail {
    /// Where the command's own words end.
    pub start: usize,
    /// Where the line ends.
    pub end: usize,
    commands: Vec<Behind>,
    comment: bool,
}

/// One command in the tail.
#[derive(Debug)]
struct Behind {
    /// How many marks were open there.
    depth: usize,
    operator: Operator,
    /// Its first word, without `time`.
    program: String,
    words: usize,
    timed: bool,
}

/// A `time` in front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    /// How many marks were open there.
    pub depth: usize,
    /// Whether it is the shell's own.
    pub keyword: bool,
    /// Whether a `sync` stands between it and the command.
    pub sync_within: bool,
}

/// Whether the line behind this line end is one that fio or dd print, and so no command's.
fn starts_report(behind: &str) -> bool {
    let line = behind.trim_start().lines().next().unwrap_or("");
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let records = digits.len() < line.len()
        && digits.starts_with('+')
        && digits[1..].starts_with(|c: char| c.is_ascii_digit());
    let head = &line[..line.floor_char_boundary(400)];
    records || head.contains(": (groupid=") || head.contains(": (g=") || head.starts_with("fio-")
}

impl Tail {
    /// The tail behind the command's words, which end at `start`; `shell` stands there.
    pub fn read(shell: &mut Shell<'_>, text: &str, start: usize, outer: usize) -> Self {
        let mut tail = Self {
            start,
            end: start,
            commands: Vec::new(),
            comment: false,
        };
        tail.read_on(shell, text, outer);
        tail
    }

    /// The tail: its commands, and where it ends.
    fn read_on(&mut self, shell: &mut Shell<'_>, text: &str, outer: usize) {
        let mut operator = Operator::Semicolon;
        let mut fresh = false;
        // where the tail ends if the last `|` is the border of a table's row
        let mut border = None;
        for _ in 0..MAX_BEHIND {
            match shell.next() {
                Token::Word(word) => {
                    self.end = word.end;
                    let depth = shell.open.len().saturating_sub(outer);
                    if fresh {
                        fresh = false;
                        self.commands.push(Behind {
                            depth,
                            operator,
                            program: String::new(),
                            words: 0,
                            timed: false,
                        });
                    }
                    let Some(command) = self.commands.last_mut() else {
                        continue;
                    };
                    if command.program.is_empty() && word.text.rsplit('/').next() == Some("time") {
                        command.timed = true;
                    } else if command.program.is_empty() {
                        command.program = word.text;
                        command.words = 1;
                    } else {
                        command.words += 1;
                    }
                }
                // a tag, or the end of a `$(…)` whose start lies outside
                Token::Operator(Operator::Tag | Operator::CloseRound, _) => break,
                Token::Operator(Operator::Redirect, _) => {
                    self.end = shell.at();
                }
                Token::Operator(next, _) => {
                    border = (next == Operator::Pipe && shell.is_row()).then_some(self.end);
                    self.end = shell.at();
                    operator = next;
                    fresh = true;
                }
                Token::Close(_, at) => {
                    if shell.open.len() < outer {
                        break;
                    }
                    self.end = at;
                }
                Token::Comment(_) => {
                    self.end = shell.at();
                    self.comment = true;
                }
                Token::End(at) => {
                    if let Some(end) = border.filter(|_| fresh) {
                        self.end = end;
                        break;
                    }
                    // `|` and `&&` at a line's end go on in the next
                    let goes_on =
                        fresh && matches!(operator, Operator::Pipe | Operator::And | Operator::Or);
                    let behind = &text[at..];
                    if !(goes_on
                        && behind.starts_with(['\n', '\r'])
                        && !starts_report(behind)
                        && shell.wraps(at, true))
                    {
                        break;
                    }
                }
            }
        }
    }

    /// Fills in what the tail tells. `cut` is where words behind the command start that do not belong to it.
    pub fn finish(
        &self,
        text: &str,
        cut: Option<usize>,
        time: Option<Time>,
        around: &mut Wrapping,
        notes: &mut Vec<String>,
    ) {
        let start = cut.unwrap_or(self.start);
        if cut.is_some() {
            note(notes, "trailing-text-dropped");
        }
        let mut only_sync = cut.is_none() && !self.comment;
        let mut covered_sync = false;
        let mut covered_more = false;
        let mut covered_pipe = false;
        let mut sync_timed = false;
        for command in &self.commands {
            let name = command.program.rsplit('/').next().unwrap_or("");
            let sync = name == "sync" && command.words == 1;
            let behind = matches!(command.operator, Operator::Semicolon | Operator::And);
            if sync && behind {
                around.sync_after = true;
                sync_timed |= command.timed;
            } else if !command.program.is_empty() || command.operator != Operator::Semicolon {
                only_sync = false;
            }
            let Some(time) = time else { continue };
            if command.depth > time.depth
                || (command.operator == Operator::Pipe
                    && time.keyword
                    && command.depth == time.depth)
            {
                match command.operator {
                    _ if sync && behind => covered_sync = true,
                    Operator::Pipe => covered_pipe = true,
                    _ if command.program.is_empty() => {}
                    _ => covered_more = true,
                }
            }
        }
        around.timed = match time {
            None => sync_timed.then_some(Timed::Sync),
            Some(time) => Some(
                match (time.sync_within, covered_sync, covered_more, covered_pipe) {
                    (false, false, false, false) => Timed::Run,
                    (false, true, false, false) => Timed::RunAndSync,
                    (true, false, false, false) => Timed::SyncAndRun,
                    (false, false, false, true) => Timed::Pipeline,
                    _ => Timed::RunAndMore,
                },
            ),
        };
        let tail = text[start..self.end.max(start)]
            .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\\' | '^'))
            .trim_end();
        let plain = tail.trim_end_matches(['"', '\'', ')', '}']).trim_end();
        let nothing = plain.is_empty() || (only_sync && !self.commands.is_empty());
        if !nothing && !tail.is_empty() {
            note(notes, "shell-tail-dropped");
            around.tail = Some(tail.to_owned());
        }
    }
}
