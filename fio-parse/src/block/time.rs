//! What a shell or a `time` program reports: real, user and system time of a command.
//!
//! | form | who prints it |
//! |---|---|
//! | [`Form::Keyword`] | `real 0m6.801s`, `user …`, `sys …` on three lines: bash, ksh, busybox, toybox, `time -p`, ptime |
//! | [`Form::Trailing`] | `6.80 real  0.00 user  4.58 sys` on one line: BSD, macOS, mksh |
//! | [`Form::Zsh`] | `dd …  0.00s user 0.01s system 34% cpu 0.032 total`, one line for each part of a pipeline |
//! | [`Form::Gnu`] | `0.00user 0.01system 0:00.03elapsed 29%CPU (…)k` and a line of inputs and outputs |
//! | [`Form::Verbose`] | `Command being timed: …` and a list: GNU and busybox `time -v` |
//! | [`Form::Tcsh`] | `0.000u 0.012s 0:00.03 33.3% 0+0k 0+65536io 0pf+0w` |
//! | [`Form::Fish`] | `Executed in 66.23 millis`, `usr time …`, `sys time …` |
//! | [`Form::Hyperfine`] | `Benchmark 1: …`, `Time (mean ± σ): …`, `Range (min … max): …` |
//!
//! The three lines of the keyword form may have blank lines between them, or stand on one line where somebody's
//! editor collapsed them. Figures stay undecoded; [`form`] has the grammar of the lines. What the time covers (dd
//! alone, dd and a sync, something else) is not told here: the command in front says so.

pub mod form;

use crate::figure::Figure;
use crate::source::{Log, Segment, Segments, Span};
use form::{Pair, Which};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// One report of a `time`.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeBlock<'t> {
    /// The whole lines it stands on.
    pub span: Span,
    /// Whose report it is.
    pub form: Form,
    /// The time on the wall, as printed: `0m6.801s`, `0:00.03`, `66.23 millis`. For hyperfine the mean over its runs.
    pub real: Option<Figure<'t>>,
    /// Processor time in user mode.
    pub user: Option<Figure<'t>>,
    /// Processor time in the kernel.
    pub system: Option<Figure<'t>>,
    /// The command, where the report repeats it; some shells shorten it.
    pub command: Option<Figure<'t>>,
    /// How many runs the times are the mean of; one but for hyperfine.
    pub runs: u32,
}

/// Whose report it is, as far as its layout tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Three lines, name first.
    Keyword,
    /// One line, name behind.
    Trailing,
    /// zsh's keyword.
    Zsh,
    /// GNU time's short form.
    Gnu,
    /// The long form of GNU and busybox.
    Verbose,
    /// tcsh's builtin.
    Tcsh,
    /// fish's builtin.
    Fish,
    /// hyperfine.
    Hyperfine,
}

impl TimeBlock<'_> {
    /// Whether its command, where the report repeats it, runs dd.
    pub fn is_of_dd(&self) -> Option<bool> {
        let command = self.command?.text;
        let mut words =
            command.split(|c: char| c.is_whitespace() || matches!(c, '(' | ';' | '"' | '\'' | '|'));
        let runs = words.any(|word| word == "dd" || word.ends_with("/dd"));
        Some(runs && command.contains('='))
    }

    /// Whether it is a result by itself: hyperfine hides what dd prints.
    pub fn is_result(&self) -> bool {
        self.form == Form::Hyperfine && self.is_of_dd() == Some(true)
    }
}

/// How many lines a long report may have.
const LONGEST: usize = 40;

/// Reads the report that starts at the cursor. `None`, cursor untouched, where the line starts none.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<TimeBlock<'t>> {
    let mut ahead = lines.clone();
    let first = ahead.next()?;
    let text = form::unmarked(first.text);
    let start = *text.as_bytes().first()?;
    let mut reader = Reader {
        log,
        ahead,
        block: TimeBlock {
            span: first.span,
            form: Form::Keyword,
            real: None,
            user: None,
            system: None,
            command: None,
            runs: 1,
        },
    };
    let found = match start {
        b'r' | b'u' | b's' => reader.keyword(text),
        b'0'..=b'9' => reader.one_line(text).or_else(|| reader.zsh(text)),
        b'C' => reader
            .command_exited(text)
            .or_else(|| reader.verbose(text))
            .or_else(|| reader.zsh(text)),
        b'B' => reader.hyperfine(text).or_else(|| reader.zsh(text)),
        b'E' => reader.fish(text).or_else(|| reader.zsh(text)),
        b'_' => reader.ruler(text).or_else(|| reader.zsh(text)),
        _ => reader.zsh(text),
    };
    let found = if found.is_none() && matches!(start, b'r' | b'u' | b's') {
        reader.zsh(text)
    } else {
        found
    };
    found?;
    *lines = reader.ahead;
    Some(reader.block)
}

struct Reader<'l, 't> {
    log: &'t Log<'l>,
    /// Behind the last line that was taken.
    ahead: Segments<'t>,
    block: TimeBlock<'t>,
}

impl<'t> Reader<'_, 't> {
    fn figure(&self, text: &'t str) -> Figure<'t> {
        Figure {
            text,
            span: self.log.span_of(text),
        }
    }

    /// The next line, over one empty line, and the cursor behind it.
    fn next(&self) -> Option<(Segment<'t>, &'t str, Segments<'t>)> {
        let mut ahead = self.ahead.clone();
        let mut segment = ahead.next()?;
        if form::unmarked(segment.text).is_empty() {
            segment = ahead.next()?;
        }
        Some((segment, form::unmarked(segment.text), ahead))
    }

    /// Sets the time that `pair` names; `false` where it was named before.
    fn set(&mut self, (which, value): Pair<'t>) -> bool {
        let figure = self.figure(value);
        let place = match which {
            Which::Real => &mut self.block.real,
            Which::User => &mut self.block.user,
            Which::System => &mut self.block.system,
        };
        place.is_none() && place.replace(figure).is_none()
    }

    fn take(&mut self, segment: Segment<'t>, ahead: Segments<'t>) {
        self.block.span.end = segment.span.end;
        self.ahead = ahead;
    }

    /// `real`, `user`, `sys`, on a line each or all on one, blank lines between them.
    fn keyword(&mut self, text: &'t str) -> Option<()> {
        let pairs = form::keyword_pairs(text)?;
        // user and sys alone are no report: a shell prints real too, before or after
        if pairs.len() == 1 && pairs[0].0 != Which::Real && !self.real_follows() {
            return None;
        }
        for pair in pairs {
            self.set(pair);
        }
        while self.block.real.is_none() || self.block.user.is_none() || self.block.system.is_none()
        {
            let Some((segment, line, ahead)) = self.next() else {
                break;
            };
            let Some(pairs) = form::keyword_pairs(line) else {
                break;
            };
            let taken = |which| match which {
                Which::Real => self.block.real.is_some(),
                Which::User => self.block.user.is_some(),
                Which::System => self.block.system.is_some(),
            };
            // a second "real" starts the next report
            if pairs.iter().any(|&(which, _)| taken(which)) {
                break;
            }
            for pair in pairs {
                self.set(pair);
            }
            self.take(segment, ahead);
        }
        self.block.real.map(|_| ())
    }

    fn real_follows(&self) -> bool {
        self.ahead
            .clone()
            .take(3)
            .filter_map(|segment| form::keyword_pairs(form::unmarked(segment.text)))
            .flatten()
            .any(|(which, _)| which == Which::Real)
    }

    /// The forms that are one line and start with a digit.
    fn one_line(&mut self, text: &'t str) -> Option<()> {
        if let Some(pairs) = form::trailing_pairs(text) {
            self.block.form = Form::Trailing;
            for pair in pairs {
                self.set(pair);
            }
            self.rusage();
            return self.block.real.map(|_| ());
        }
        let (form, pairs) = form::gnu(text)
            .map(|p| (Form::Gnu, p))
            .or_else(|| form::tcsh(text).map(|p| (Form::Tcsh, p)))?;
        self.block.form = form;
        for pair in pairs {
            self.set(pair);
        }
        if form == Form::Gnu {
            let mut ahead = self.ahead.clone();
            if let Some(next) = ahead.next().filter(|next| form::is_gnu_tail(next.text)) {
                self.take(next, ahead);
            }
        }
        Some(())
    }

    /// The lines of `time -l`: a number and words, `1234  maximum resident set size`.
    fn rusage(&mut self) {
        for _ in 0..LONGEST {
            let mut ahead = self.ahead.clone();
            match ahead.next() {
                Some(next) if form::is_rusage(next.text) => self.take(next, ahead),
                _ => return,
            }
        }
    }

    /// `Command exited with non-zero status 1`, in front of GNU time's line.
    fn command_exited(&mut self, text: &'t str) -> Option<()> {
        if !text.starts_with("Command exited with") && !text.starts_with("Command terminated by") {
            return None;
        }
        let (next, inner, ahead) = self.next()?;
        self.take(next, ahead);
        self.one_line(inner).or_else(|| self.verbose(inner))
    }

    /// `time -v`: names with values, one a line.
    fn verbose(&mut self, text: &'t str) -> Option<()> {
        self.block.command = Some(self.figure(form::verbose(text)?));
        self.block.form = Form::Verbose;
        for _ in 0..LONGEST {
            let Some((next, line, ahead)) = self.next() else {
                break;
            };
            let Some((pair, is_last)) = form::verbose_item(line) else {
                break;
            };
            if let Some(pair) = pair {
                self.set(pair);
            }
            self.take(next, ahead);
            if is_last {
                break;
            }
        }
        self.block.real.map(|_| ())
    }

    /// zsh's line, which a mailer may have broken behind the user time.
    fn zsh(&mut self, text: &'t str) -> Option<()> {
        static USER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("user"));
        let (command, pairs) = match form::zsh(text) {
            Some(found) => found,
            None if text.len() < 300 && USER.find(text.as_bytes()).is_some() => {
                let mut ahead = self.ahead.clone();
                let next = ahead.next()?;
                let start = self.log.span_of(text).start;
                let found = form::zsh(form::unmarked(
                    self.log.get(Span::new(start, next.span.end)),
                ))?;
                self.take(next, ahead);
                found
            }
            None => return None,
        };
        self.block.form = Form::Zsh;
        self.block.command = (!command.is_empty()).then(|| self.figure(command));
        for pair in pairs {
            self.set(pair);
        }
        Some(())
    }

    /// The ruler that fish draws above its report.
    fn ruler(&mut self, text: &'t str) -> Option<()> {
        if text.len() < 20 || !text.trim_end().bytes().all(|b| b == b'_') {
            return None;
        }
        let (next, inner, ahead) = self.next()?;
        form::fish("Executed in", inner)?;
        self.take(next, ahead);
        self.fish(inner)
    }

    fn fish(&mut self, text: &'t str) -> Option<()> {
        let real = form::fish("Executed in", text)?;
        self.block.form = Form::Fish;
        self.set((Which::Real, real));
        for (name, which) in [("usr time", Which::User), ("sys time", Which::System)] {
            let Some((next, line, ahead)) = self.next() else {
                break;
            };
            let Some(value) = form::fish(name, line) else {
                break;
            };
            self.set((which, value));
            self.take(next, ahead);
        }
        Some(())
    }

    /// hyperfine: the benchmark's command, the mean, the range.
    fn hyperfine(&mut self, text: &'t str) -> Option<()> {
        let command = form::benchmark(text)?;
        self.block.form = Form::Hyperfine;
        self.block.command = Some(self.figure(command));
        for _ in 0..3 {
            let Some((next, line, ahead)) = self.next() else {
                break;
            };
            if let Some(pairs) = form::hyperfine_mean(line) {
                for pair in pairs {
                    self.set(pair);
                }
                self.take(next, ahead);
            } else if let Some(runs) = form::hyperfine_runs(line) {
                self.block.runs = runs;
                self.take(next, ahead);
                break;
            } else {
                break;
            }
        }
        self.block.real.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Form, real, user, system, command and number of lines of the first report.
    fn first(text: &str) -> Option<(Form, [String; 4], usize)> {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let block = read(&log, &mut lines)?;
        let own = |f: Option<Figure<'_>>| {
            f.map_or(String::new(), |f| {
                assert_eq!(log.get(f.span), f.text);
                f.text.to_owned()
            })
        };
        let left = lines.count();
        Some((
            block.form,
            [
                own(block.real),
                own(block.user),
                own(block.system),
                own(block.command),
            ],
            log.segments().count() - left,
        ))
    }

    #[test]
    fn every_shell() {
        for (text, form, real, user, system, command, lines) in [
            (
                "real\t0m6.801s\nuser\t0m0.003s\nsys\t0m4.580s\nnext",
                Form::Keyword,
                "0m6.801s",
                "0m0.003s",
                "0m4.580s",
                "",
                3,
            ),
            (
                "real    0m28.034s\n\nuser    0m0.003s\nsys    0m7.002s\n",
                Form::Keyword,
                "0m28.034s",
                "0m0.003s",
                "0m7.002s",
                "",
                4,
            ),
            (
                "> real 0m0,077s\n> user 0m0,000s\n> sys 0m0,013s\n",
                Form::Keyword,
                "0m0,077s",
                "0m0,000s",
                "0m0,013s",
                "",
                3,
            ),
            (
                "real 0m6.801s user 0m0.003s sys 0m4.580s",
                Form::Keyword,
                "0m6.801s",
                "0m0.003s",
                "0m4.580s",
                "",
                1,
            ),
            (
                "real    0m 22.39s\nuser    0m 0.00s\nsys     0m 0.01s\n",
                Form::Keyword,
                "0m 22.39s",
                "0m 0.00s",
                "0m 0.01s",
                "",
                3,
            ),
            (
                "real 0.02\nuser 0.00\nsys 0.00\nreal 1",
                Form::Keyword,
                "0.02",
                "0.00",
                "0.00",
                "",
                3,
            ),
            (
                "real\t0m1.5s\nreal\t0m2.5s\n",
                Form::Keyword,
                "0m1.5s",
                "",
                "",
                "",
                1,
            ),
            (
                "    0m00.03s real     0m00.00s user     0m00.01s system",
                Form::Trailing,
                "0m00.03s",
                "0m00.00s",
                "0m00.01s",
                "",
                1,
            ),
            (
                "        6.80 real         0.00 user         4.58 sys\n   1234  maximum resident set size\n",
                Form::Trailing,
                "6.80",
                "0.00",
                "4.58",
                "",
                2,
            ),
            (
                "dd if=/dev/zero of=t bs=1M  0.00s user 0.01s system 34% cpu 1:58.83 total",
                Form::Zsh,
                "1:58.83",
                "0.00",
                "0.01",
                "dd if=/dev/zero of=t bs=1M",
                1,
            ),
            (
                "> dd if=/dev/zero of=t bs=1M 0.00s user 0.01s system 34% cpu\n> 1:58.83 total\nx",
                Form::Zsh,
                "1:58.83",
                "0.00",
                "0.01",
                "dd if=/dev/zero of=t bs=1M",
                2,
            ),
            (
                "real&nbsp; &nbsp; 0m6.801s<br>\n<br>\nuser\u{a0}0m0.003s<br>\nsys 0m4.580s<br>\n",
                Form::Keyword,
                "0m6.801s",
                "0m0.003s",
                "0m4.580s",
                "",
                4,
            ),
            (
                "0.00user 0.01system 0:00.03elapsed 30%CPU (0avgtext+0avgdata 2616maxresident)k\n0inputs+65536outputs (0major+344minor)pagefaults 0swaps\nx",
                Form::Gnu,
                "0:00.03",
                "0.00",
                "0.01",
                "",
                2,
            ),
            (
                "Command exited with non-zero status 1\n0.00user 0.00system 0:00.00elapsed 0%CPU (0avgtext)k\n0inputs+0outputs (0major+84minor)pagefaults 0swaps",
                Form::Gnu,
                "0:00.00",
                "0.00",
                "0.00",
                "",
                3,
            ),
            (
                "0.000u 0.012s 0:00.03 33.3%\t0+0k 0+65536io 0pf+0w",
                Form::Tcsh,
                "0:00.03",
                "0.000",
                "0.012",
                "",
                1,
            ),
            (
                "________________________________________________________\nExecuted in   66.23 millis    fish           external\n   usr time    0.23 millis  229.00 micros    0.00 millis\n   sys time   10.95 millis    0.00 micros   10.95 millis\n",
                Form::Fish,
                "66.23 millis",
                "0.23 millis",
                "10.95 millis",
                "",
                4,
            ),
            (
                "\tCommand being timed: \"dd if=/dev/zero\"\n\tUser time (seconds): 0.00\n\tSystem time (seconds): 0.01\n\tPercent of CPU this job got: 38%\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:00.03\n\tSwaps: 0\n\tExit status: 0\nnext: 1",
                Form::Verbose,
                "0:00.03",
                "0.00",
                "0.01",
                "dd if=/dev/zero",
                7,
            ),
            (
                "Benchmark 1: dd if=/dev/zero of=t\n  Time (mean ± σ):      69.4 ms ±  12.8 ms    [User: 0.3 ms, System: 13.3 ms]\n  Range (min … max):    60.3 ms …  78.5 ms    2 runs\n \nBenchmark 2: x",
                Form::Hyperfine,
                "69.4 ms",
                "0.3 ms",
                "13.3 ms",
                "dd if=/dev/zero of=t",
                3,
            ),
        ] {
            let texts = [real, user, system, command].map(str::to_owned);
            assert_eq!(first(text), Some((form, texts, lines)), "{text}");
        }
    }

    #[test]
    fn prose_is_none() {
        for text in [
            "real life",
            "real 5 people",
            "user 1",
            "sys",
            "6.80 real",
            "in total",
            "0.5user",
            "Benchmark results:",
            "Executed in parallel",
            "0:00.03",
            "sum total",
            "___",
        ] {
            assert_eq!(first(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_borne(text in "(real|user|sys|Command being timed:|Elapsed|Benchmark 1:|Time \\(|_{0,30}|Executed in| total|% cpu |[0-9.:ms,%u ]{0,9}|\n| ){0,14}") {
            let log = Log::from_bytes("log", text.as_bytes()).unwrap();
            let mut lines = log.segments();
            loop {
                let before = lines.clone().next();
                match read(&log, &mut lines) {
                    Some(block) => {
                        let after = lines.clone().next().map_or(log.text().len() as u32, |s| s.span.start);
                        prop_assert!(block.span.end <= after && before.is_some_and(|s| s.span.start < after));
                        prop_assert!(block.real.is_some());
                    }
                    None => {
                        prop_assert_eq!(lines.clone().next(), before);
                        if lines.next().is_none() { break; }
                    }
                }
            }
        }
    }
}
