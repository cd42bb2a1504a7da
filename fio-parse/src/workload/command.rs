//! Commands of fio and dd as people paste them: found in text, cleaned up, and read into a [`Workload`].
//!
//! ```text
//! line     anything wrapper… tool words tail        see `wrapping`, `shell` and `arguments`
//! anything indentation, quote marks, bullets, prompt (`user@host:~$`, `#`, `PS C:\>`), prose, an opening quote
//! ```
//!
//! A word that names the tool is a command only if what follows fits: an option of fio or a job file, an operand of
//! dd. So sentences about fio and lines that dd printed are none. Nothing is expanded, nothing is looked up
//! outside of the text: variables and job files are listed in [`Workload::missing`].

use super::entities::{self, Decoded};
use super::fio::note;
use super::locate::{self, Found};
use super::places::Places;
use super::shell::{Tool, is_dash};
use super::{Timed, Workload, WrittenAs, wrapping};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Log, Segments, Span};
use std::fmt;

/// A text that holds no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    kind: ErrorKind,
    found: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorKind {
    NoTool,
    NoOptions(Tool),
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.found;
        match self.kind {
            ErrorKind::NoTool => write!(f, "expected a command of fio or dd, found {found}"),
            ErrorKind::NoOptions(Tool::Fio) => write!(
                f,
                "expected an option such as --name=test, or a job file, behind fio, found {found}"
            ),
            ErrorKind::NoOptions(Tool::Dd) => write!(
                f,
                "expected an operand such as if=FILE behind dd, found {found}"
            ),
        }
    }
}

impl std::error::Error for CommandError {}

/// A command found in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundCommand<'t> {
    /// What it asks for; absent where it asks for no test (`fio --version`).
    pub workload: Option<Workload>,
    /// Where the command stands, without what is around it.
    pub span: Span,
    /// The host that the prompt in front names.
    pub host: Option<&'t str>,
    /// The other commands of dd in the line, in their order.
    pub more: Vec<Workload>,
    /// How they stand in the line.
    pub stands: Stands,
    /// What is odd about it.
    pub problems: Vec<Diagnostic>,
}

/// How the commands of a line stand there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stands {
    /// Behind a prompt: the shell waits for the end of one before it shows the next.
    pub at_prompt: bool,
    /// Behind words, as in a sentence or in a list of processes, or cited in backticks.
    pub in_text: bool,
    /// In a loop, or told to run again and again.
    pub in_loop: bool,
    /// Whether each ends before the next one starts, and the last before the prompt comes back.
    pub in_order: bool,
}

/// Reads the first command of fio or dd in `text`, which may have a prompt and wrappers in front, line
/// continuations within, and a shell's tail. The workload's span counts in `text`.
///
/// Errors: there is no such command.
pub fn parse_command(text: &str) -> Result<Workload, CommandError> {
    let decoded = entities::decode(text);
    let plain = &decoded.text;
    if let Some(found) = first(plain) {
        return Ok(workload(text, &decoded, found, 0));
    }
    let tool = plain
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '('))
        .find_map(wrapping::tool_of);
    let shown: String = plain.trim().chars().take(60).collect();
    Err(CommandError {
        kind: tool.map_or(ErrorKind::NoTool, ErrorKind::NoOptions),
        found: if shown.is_empty() {
            "nothing".to_owned()
        } else {
            format!("{shown:?}")
        },
    })
}

/// The first command in a text.
fn first(plain: &str) -> Option<Found> {
    let mut at = 0;
    for line in plain.split_inclusive('\n') {
        if locate::plausible(line) {
            let window = locate::window(plain, at);
            if let Some(found) = locate::in_line(window, at, line.len()) {
                return Some(found);
            }
        }
        at += line.len();
    }
    None
}

/// Where the options of the command stand that [`parse_command`] reads, behind their dashes and quotes; nothing
/// without a command.
pub fn option_places(text: &str) -> Places {
    let decoded = entities::decode(text);
    let plain = &decoded.text;
    let Some(found) = first(plain) else {
        return Places::default();
    };
    found.said.places.moved(|span| {
        let (start, end) = (span.start as usize, span.end as usize);
        let word = plain.get(start..end).unwrap_or("");
        let name = word.trim_start_matches(|c| is_dash(c) || is_quote(c));
        Span::new(
            decoded.original(end - name.len()) as u32,
            decoded.original(end) as u32,
        )
    })
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '\u{2018}'..='\u{201f}')
}

/// Block reader: the command that starts in the current line, with the lines it goes on in.
///
/// `None`, with `lines` untouched, where the line holds no command. Of several commands in a line the first is taken;
/// the others stand in its tail, and those of dd behind one of dd are read as well.
pub fn find<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<FoundCommand<'t>> {
    let first = lines.clone().next()?;
    if !locate::plausible(first.text) {
        return None;
    }
    let start = first.span.start as usize;
    let window = locate::window(&log.text()[start..], 0);
    let decoded = entities::decode(window);
    let plain = &decoded.text;
    let line = plain.find(['\n', '\r']).unwrap_or(plain.len());
    let found = locate::in_line(plain, 0, line)?;
    let host = locate::host(&window[..decoded.original(found.from)]);
    let end = start + decoded.original(found.line.end);
    let mut stands = stands(&window[..decoded.original(found.from)]);
    let (more, tail) = further(plain, &found);
    stands.in_order = more.iter().all(|(between, _)| waits(between)) && !goes_to_background(tail);
    stands.in_loop |= has_word(tail, "done");
    let piped = more
        .iter()
        .all(|(between, _)| !between.contains([';', '&', '\n']));
    let mut more: Vec<Workload> = more
        .into_iter()
        .map(|(_, found)| workload(window, &decoded, found, start as u32))
        .collect();
    let workload = workload(window, &decoded, found, start as u32);
    // a `time` in front of a pipeline or of brackets covers all of it
    let timed = workload.around.timed;
    if timed == Some(Timed::RunAndMore) || timed == Some(Timed::Pipeline) && piped {
        for workload in &mut more {
            workload.around.timed = workload.around.timed.or(timed);
        }
    }
    // whole lines up to the one where the tail ends
    for segment in lines.by_ref() {
        if segment.next as usize >= end || segment.span.end as usize >= end {
            break;
        }
    }
    let span = workload.span.unwrap_or(first.span);
    let problems = problems(&workload, span);
    let asks = !asks_nothing(&workload);
    Some(FoundCommand {
        workload: asks.then_some(workload),
        span,
        host,
        more,
        stands,
        problems,
    })
}

/// How many commands of dd are read in one line.
const MAX_COMMANDS: usize = 8;

/// The commands of dd behind `found` in its line, each with what stands between it and the one before, and the text
/// behind the last. Nothing stands behind a command of fio.
fn further<'p>(plain: &'p str, found: &Found) -> (Vec<(&'p str, Found)>, &'p str) {
    let mut more = Vec::new();
    let end = found.line.end;
    let mut behind = found.line.command_end(found.said.used);
    while found.line.tool == Tool::Dd && behind < end && more.len() + 1 < MAX_COMMANDS {
        let Some(next) = locate::next_dd(plain, end, found.from, behind) else {
            break;
        };
        let between = &plain[behind..next.from];
        behind = next.line.command_end(next.said.used);
        more.push((between, next));
    }
    (more, plain.get(behind..end).unwrap_or(""))
}

/// How a command stands behind this text.
fn stands(before: &str) -> Stands {
    let before = before.trim();
    let bare = before.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '>' | '|' | '`' | '"' | '\'' | '-' | '*' | '\u{2022}')
    });
    let item = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let marked = bare.is_empty() || matches!(item, "." | ")") || bare.starts_with('<');
    // "99.99 %" in a list of processes is no prompt of zsh
    let share = before
        .strip_suffix('%')
        .is_some_and(|rest| rest.trim_end().ends_with(|c: char| c.is_ascii_digit()));
    let at_prompt = !marked && !share && before.ends_with(['$', '#', '%', '>', '+', '\u{276f}']);
    let in_loop = ["for", "while", "until", "do", "watch"]
        .iter()
        .any(|word| has_word(before, word));
    Stands {
        at_prompt,
        in_text: before.ends_with('`') || !marked && !at_prompt && !in_loop,
        in_loop,
        in_order: true,
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .any(|have| have == word)
}

/// Whether the shell waits for the command in front of `between` before it starts the one behind.
fn waits(between: &str) -> bool {
    let last = memchr::memrchr3(b';', b'|', b'&', between.as_bytes());
    let piped =
        last.is_some_and(|at| between.as_bytes()[at] == b'|' && !between[..at].ends_with('|'));
    !piped && !goes_to_background(between)
}

/// Whether a `&` stands there that is no part of `&&` or of a redirect.
fn goes_to_background(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'&', bytes).any(|at| {
        let beside = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
        let before = at.checked_sub(1).map_or(b' ', beside);
        !matches!(before, b'&' | b'>' | b'|') && !matches!(beside(at + 1), b'&' | b'>')
    })
}

/// Puts together what was found; `base` is where `text` starts in the log.
fn workload(text: &str, decoded: &Decoded<'_>, found: Found, base: u32) -> Workload {
    let Found { line, said, .. } = found;
    let mut line = line;
    line.finish(&decoded.text, said.used);
    let (start, end) = (
        decoded.original(line.start),
        decoded.original(line.command_end(said.used)),
    );
    let written_as = match line.tool {
        Tool::Fio => WrittenAs::FioCommand,
        Tool::Dd => WrittenAs::DdCommand,
    };
    let test = said.test.unwrap_or(super::Test::Jobs(Vec::new()));
    let mut workload = Workload::new(written_as, test);
    workload.command = Some(text[start..end].to_owned());
    workload.span = Some(Span::new(base + start as u32, base + end as u32));
    workload.program = said.program;
    workload.missing = said.missing;
    workload.around = line.around;
    if let Some(decoding) = decoded.note {
        note(&mut workload.normalised, decoding);
    }
    for repair in line.notes.into_iter().chain(said.notes) {
        note(&mut workload.normalised, repair);
    }
    workload
}

/// Whether the program was only asked about itself.
fn asks_nothing(workload: &Workload) -> bool {
    workload.program.iter().any(|(name, _)| {
        matches!(
            name.as_str(),
            "version" | "help" | "cmdhelp" | "enghelp" | "crctest" | "cpuclock-test"
        )
    })
}

/// What a reader of the log should know about the command.
fn problems(workload: &Workload, span: Span) -> Vec<Diagnostic> {
    // more of them are no slips of the pen
    const MOST: usize = 20;
    let unknown: Vec<&str> = workload
        .normalised
        .iter()
        .filter_map(|note| note.strip_prefix("unknown-option:"))
        .take(MOST)
        .collect();
    let mut problems = Vec::new();
    for name in unknown {
        let hint = match super::options::nearest(name) {
            Some(nearest) => format!("; the nearest is {nearest}"),
            None => String::new(),
        };
        problems.push(Diagnostic::warning(
            Code::COMMAND_UNREADABLE,
            Some(span),
            format!("fio has no option {name}{hint}; it was kept as written"),
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, Nanos};
    use crate::workload::Pattern;

    fn read(text: &str) -> Workload {
        let workload = parse_command(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let span = workload.span.expect("a command has a place");
        let command = workload.command.as_deref().expect("a command has a text");
        assert_eq!(&text[span.start as usize..span.end as usize], command);
        workload
    }

    #[test]
    fn the_common_random_write_test() {
        let workload = read(
            "fio --name=random-write --ioengine=posixaio --rw=randwrite --bs=4k --size=4g --numjobs=1 --iodepth=1 --runtime=60 --time_based --end_fsync=1",
        );
        let [job] = workload.jobs() else { panic!() };
        assert_eq!(job.name, "random-write");
        assert_eq!(job.engine.as_deref(), Some("posixaio"));
        assert_eq!(job.pattern, Some(Pattern::RandWrite));
        assert_eq!(job.block_bytes, Some(Bytes(4096)));
        assert_eq!(job.size_bytes, Some(Bytes(4 << 30)));
        assert_eq!((job.jobs, job.depth), (Some(1), Some(1)));
        assert_eq!(job.runtime_ns, Nanos::new(60e9));
        assert_eq!((job.time_based, job.end_fsync), (Some(true), Some(true)));
        assert!(
            job.other.is_empty() && workload.normalised.is_empty() && workload.missing.is_empty()
        );
    }

    #[test]
    fn dd_and_sync_under_time() {
        let workload = read("time sh -c \"dd if=/dev/zero of=test bs=1g count=10 && sync\"");
        assert_eq!(
            workload.command.as_deref(),
            Some("dd if=/dev/zero of=test bs=1g count=10")
        );
        assert!(workload.around.sync_after);
        assert_eq!(workload.around.timed, Some(Timed::RunAndSync));
        assert_eq!(workload.around.tail, None);
        let dd = workload.dd().unwrap();
        assert_eq!(dd.asked_bytes(), Some(Bytes(10 << 30)));
        assert_eq!(dd.input.as_deref(), Some("/dev/zero"));
    }

    #[test]
    fn what_time_covers() {
        for (line, timed) in [
            ("dd if=a of=b", None),
            ("time dd if=a of=b", Some(Timed::Run)),
            ("/usr/bin/time -p dd if=a of=b", Some(Timed::Run)),
            ("sudo time dd if=a of=b | cat", Some(Timed::Run)),
            ("time dd if=a of=b | cat", Some(Timed::Pipeline)),
            ("time dd if=a of=b; sync", Some(Timed::Run)),
            ("dd if=a of=b; time sync", Some(Timed::Sync)),
            ("time sh -c 'dd if=a of=b; sync'", Some(Timed::RunAndSync)),
            ("time (dd if=a of=b && sync)", Some(Timed::RunAndSync)),
            ("time { dd if=a of=b; sync; }", Some(Timed::RunAndSync)),
            ("time sh -c 'sync; dd if=a of=b'", Some(Timed::SyncAndRun)),
            ("time (dd if=a of=b && rm b)", Some(Timed::RunAndMore)),
            ("sync; time dd if=a of=b", Some(Timed::Run)),
        ] {
            let around = read(line).around;
            assert_eq!(around.timed, timed, "{line}");
            let sync_first = line
                .find("sync")
                .is_some_and(|sync| Some(sync) < line.find("dd"));
            assert_eq!(around.sync_before, sync_first, "{line}");
        }
    }

    #[test]
    fn a_value_without_an_option_is_dropped() {
        let workload = read("fio --name=a -=1 --bs=4k");
        let [job] = workload.jobs() else { panic!() };
        assert!(job.other.is_empty(), "{:?}", job.other);
        assert_eq!(job.block_bytes, Some(Bytes(4096)));
        assert_eq!(workload.normalised, ["dropped:-=1"]);
        assert_eq!(read(&workload.to_command()).test, workload.test);
    }

    #[test]
    fn prose_and_output_are_no_commands() {
        for text in [
            "The tests were run with fio 3.26 and dd on two machines.",
            "fio-3.33",
            "fio: pid=0, err=22/file:filesetup.c",
            "dd: error writing 'x': No space left on device",
            "I used dd, then fio. It was - well = slow",
            "the add if=x ladder",
            "fio is a tool; see fio.",
            "the value is passed to the fio --size parameter. See",
            "dd if=/dev/zero of=x bs=1m count=1  0.00s user 0.02s system 98% cpu 0.023 total",
            "run_snafu -t fio -H hosts",
            "kubectl logs -l kbench=fio -f",
            "",
        ] {
            let log = Log::from_bytes("x", text.as_bytes()).unwrap();
            let mut lines = log.segments();
            assert!(find(&log, &mut lines).is_none(), "{text}");
            assert_eq!(lines.next(), log.segments().next(), "the cursor moved");
        }
    }

    #[test]
    fn a_found_command_takes_its_lines_and_tells_the_host() {
        let text = "[root@host-1 ~]# fio --name=a \\\n>   --rw=read 2>&1 | \\\n  tee log\nnext\n";
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let found = find(&log, &mut lines).unwrap();
        assert_eq!(found.host, Some("host-1"));
        let workload = found.workload.unwrap();
        assert_eq!(workload.jobs()[0].pattern, Some(Pattern::Read));
        assert_eq!(log.get(found.span), workload.command.unwrap());
        assert_eq!(
            workload.around.tail.as_deref(),
            Some("2>&1 | \\\n  tee log")
        );
        assert_eq!(lines.next().unwrap().text, "next");
    }

    #[test]
    fn all_dd_of_a_line_are_read_in_order() {
        for (text, commands, in_order) in [
            (
                "$ dd if=/dev/zero of=b bs=1M count=9 && dd if=b of=/dev/null bs=1M",
                &[
                    "dd if=/dev/zero of=b bs=1M count=9",
                    "dd if=b of=/dev/null bs=1M",
                ][..],
                true,
            ),
            (
                "sh -c 'dd if=a of=b; time dd if=b of=c bs=4k'; sync",
                &["dd if=a of=b", "dd if=b of=c bs=4k"],
                true,
            ),
            (
                "(dd if=a of=b 2>&1; dd if=b of=c bs=4k)",
                &["dd if=a of=b", "dd if=b of=c bs=4k"],
                true,
            ),
            (
                "$ dd if=a bs=1M | curl -T - host | dd of=b",
                &["dd if=a bs=1M", "dd of=b"],
                false,
            ),
            (
                "$ dd if=a of=b & dd if=c of=d &",
                &["dd if=a of=b", "dd if=c of=d"],
                false,
            ),
            ("$ dd if=a of=b bs=1M; sync", &["dd if=a of=b bs=1M"], true),
        ] {
            let log = Log::from_bytes("x", text.as_bytes()).unwrap();
            let found = find(&log, &mut log.segments()).expect(text);
            let all: Vec<_> = found
                .workload
                .iter()
                .chain(&found.more)
                .map(|workload| workload.command.as_deref().unwrap())
                .collect();
            assert_eq!(all, commands, "{text}");
            assert_eq!(found.stands.in_order, in_order, "{text}");
            for workload in &found.more {
                assert_eq!(
                    Some(log.get(workload.span.unwrap())),
                    workload.command.as_deref()
                );
            }
        }
    }

    #[test]
    fn a_command_takes_no_report_for_its_tail() {
        for (text, tail) in [
            (
                "| $ fio --name=a --rw=read |\n| a: (groupid=0, jobs=1): err= 0: pid=7 |\n",
                None,
            ),
            (
                "| dd if=a of=b bs=1M | cat |\n| 1+0 records in |\n",
                Some("| cat"),
            ),
            ("| dd if=a of=b bs=1M |\n| 1+0 records in |\n", None),
            ("% dd if=a of=b bs=1M |\n1+0 records in\n", Some("|")),
            (
                "$ fio --name=a &&\na: (g=0): rw=read, bs=4K-4K\n",
                Some("&&"),
            ),
        ] {
            let log = Log::from_bytes("x", text.as_bytes()).unwrap();
            let mut lines = log.segments();
            let found = find(&log, &mut lines).expect(text).workload.expect(text);
            assert_eq!(found.around.tail.as_deref(), tail, "{text}");
            assert_eq!(lines.count(), 1, "{text}");
        }
    }
}
