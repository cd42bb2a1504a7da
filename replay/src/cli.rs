//! The command line: what was typed, and what it means.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use fio_parse::workload::print::quoted_word;

use crate::plan::TestPlan;
use crate::plan::job::EngineKind;
use crate::plan::note::plain_text;
use crate::variables::{Setting, setting};

/// Run the workload of a fio or dd result again, natively, in a private directory.
///
/// Without --directory the plan is printed and nothing is touched. With it the tests run in
/// a fresh folder below that directory, which is removed at the end. A test that cannot be run
/// there is told before the first begins, and the others run. Nothing in a text is ever
/// executed, and no file or device that it names is opened.
///
/// Exit status: 0 if all was well, 1 if a test failed or was interrupted, 2 if the call was
/// wrong or an input could not be read, 3 if a workload was refused.
#[derive(Debug, Parser)]
#[command(name = "fio-replay", version, max_term_width = 100)]
pub struct Arguments {
    /// Posts, logs, job files or record streams: `path`, `label=path`, or `-` for standard input
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<OsString>,

    /// Run, in a fresh folder below this directory
    #[arg(long, short, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Use this block device in place of test files; what it holds is LOST if a test writes.
    /// A file will do for tests that only read. Needs --directory as well
    #[arg(long, value_name = "DEV", requires = "directory")]
    pub device: Option<PathBuf>,

    /// Run as root without a word about it; without this, a line on stderr says that no test on files needs it
    #[arg(long)]
    pub allow_root: bool,

    /// Scale down: no test file is larger than this (`256m`, `4g`)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub size: Option<u64>,

    /// Scale down: no job runs longer than this (`3s`, `500ms`, `1m`)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub runtime: Option<u64>,

    /// Form of the results: text, json, json+, terse or jsonl; `FORMAT=FILE` for a new file
    /// (may be given several times). fio-parse and fio-compare read all of them; only jsonl
    /// loses nothing, and terse keeps neither machine nor notes. json and json+ are fio's
    /// document, or a list of such documents for several tests; a dd is in text and jsonl only
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = target)]
    pub format: Vec<Target>,

    /// Write fio's logs of rate, IOPS and latency into this directory, as `workload-1_bw.1.log`
    /// and so on; with several rounds `workload-1-round-2_bw.1.log`, and those of warm-ups
    /// `workload-1-warm-up-1_bw.1.log`
    #[arg(long, value_name = "DIR")]
    pub log_directory: Option<PathBuf>,

    /// Write the plan as a fio job file, `-` for standard output, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with = "directory")]
    pub emit_fio: Option<PathBuf>,

    /// Value of a variable in a command (`--set SIZE=4g`), or the block size (`--set bs=64k`) where
    /// the head of a report only has it rounded; the environment is never looked at
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub settings: Vec<Setting>,

    /// Use this engine whatever the workload asks for
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub engine: Option<EngineKind>,

    /// Keep the test files, and say where
    #[arg(long)]
    pub keep: bool,

    /// Record the machine's host name
    #[arg(long)]
    pub host_name: bool,

    /// Name of this machine in the results
    #[arg(long, value_name = "NAME", default_value = "this machine")]
    pub machine: String,

    /// I/Os handed to io_uring per call; 2 with O_DIRECT, all that are free without it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub submit_chunk: Option<u16>,

    /// Use io_uring as fio does: one I/O per call, files and buffers not registered, unless the
    /// original asks for it
    #[arg(long)]
    pub as_fio: bool,

    /// Say what is refused, fails or is doubtful, and nothing else: no progress, no "running"
    #[arg(long, short)]
    pub quiet: bool,

    /// What gets a time stamp of its own: each I/O, or each batch that goes or comes together
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Stamping::Io)]
    pub stamp: Stamping,

    /// Permit test files beyond a quarter of the free space or 64 GiB, and buffers beyond 1 GiB
    #[arg(long)]
    pub allow_large: bool,

    /// Permit run times beyond ten minutes
    #[arg(long)]
    pub allow_long: bool,

    /// Run everything so many times, in rounds over all tests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: Option<u32>,

    /// Rounds before the first that counts; json and jsonl have their results, marked, and text
    /// and terse, which have no mark for them, leave them out
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub warm_up: u32,

    /// Repeat until the 95 % interval of each test's median rate is narrower than this share of
    /// it (`5%`), at most --repeat times (30 without it)
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub target_ci: Option<f64>,

    /// Measure what the instrument itself costs, in ns per I/O, and run nothing else
    #[arg(long, conflicts_with_all = ["directory", "inputs", "command"])]
    pub self_test: bool,

    /// List all differences that a run can have from its original, and their meaning
    #[arg(long)]
    pub explain_fidelity: bool,

    /// A fio or dd command
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What gets a time stamp of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Stamping {
    /// Each I/O.
    Io,
    /// Each batch.
    Batch,
}

/// Forms of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// fio's and dd's own form.
    Text,
    /// fio's JSON.
    Json,
    /// fio's JSON with the bins of latencies.
    JsonPlus,
    /// fio's terse output, version 3.
    Terse,
    /// Records, one line of JSON each.
    Jsonl,
}

impl Format {
    /// Whether it has a place for the results of a test; fio's own forms have none for a dd.
    pub fn holds(self, test: &TestPlan) -> bool {
        matches!(test, TestPlan::Fio(_)) || matches!(self, Format::Text | Format::Jsonl)
    }
}

/// A form and the file it goes to; standard output without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The form.
    pub format: Format,
    /// The file.
    pub file: Option<PathBuf>,
}

fn target(text: &str) -> Result<Target, String> {
    let (name, file) = match text.split_once('=') {
        Some((name, file)) if !file.is_empty() => (name, Some(PathBuf::from(file))),
        Some(_) => return Err(format!("expected a file behind the =, found {text:?}")),
        None => (text, None),
    };
    let format = match name {
        "text" | "normal" => Format::Text,
        "json" => Format::Json,
        "json+" => Format::JsonPlus,
        "terse" => Format::Terse,
        "jsonl" => Format::Jsonl,
        _ => {
            return Err(format!(
                "expected text, json, json+, terse or jsonl, found {name:?}"
            ));
        }
    };
    Ok(Target { format, file })
}

impl Arguments {
    /// The command after `--` as one text, its words quoted where they need it.
    pub fn command_text(&self) -> Option<String> {
        match &self.command[..] {
            [] => None,
            // One word is a whole command in quotes.
            [text] => Some(text.clone()),
            words => Some(
                words
                    .iter()
                    .map(|word| quoted(word))
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
        }
    }
}

/// What to say where a command stands among the inputs instead of behind `--`: each of its
/// words would be taken for an input or an option.
pub fn misplaced_command(words: &[OsString]) -> Option<String> {
    let before = words.iter().take_while(|word| *word != "--");
    let words: Vec<_> = before.map(|word| word.to_string_lossy()).collect();
    let at = words.iter().enumerate().position(|(at, word)| {
        let tool = ["fio", "dd"].contains(&word.rsplit('/').next().unwrap_or_default());
        // The value of an option may be called so.
        let value = at > 0 && words[at - 1].starts_with('-');
        tool && !value && at + 1 < words.len()
    })?;
    let (own, command) = words.split_at(at);
    // These are for the shell alone, which takes no dot for the end of a sentence.
    let own: String = own
        .iter()
        .map(|word| match word.strip_suffix(['.', ',', ':']) {
            Some(rest) if quoted(rest) == rest || rest.is_empty() => format!(" {word}"),
            _ => format!(" {}", quoted(word)),
        })
        .collect();
    let command: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    Some(format!(
        "a command goes behind `--`:\n  fio-replay{own} -- {}",
        plain_text(&command.join(" "))
    ))
}

/// An argument as one word of a line; of `name=value` the value alone is quoted.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    match word.split_once('=') {
        Some((name, "")) if name.chars().all(plain) => format!("{name}="),
        Some((name, value)) if name.chars().all(plain) => {
            format!("{name}={}", quoted_word(value))
        }
        _ => quoted_word(word),
    }
}

/// A size: digits, then k, m, g or t for powers of 1024, then perhaps `iB` or `B`.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a size such as 256m or 4g, found {text:?}");
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let suffix = text[digits..].to_ascii_lowercase();
    let prefix = suffix
        .strip_suffix("ib")
        .or(suffix.strip_suffix('b'))
        .unwrap_or(&suffix);
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(wrong()),
    };
    let bytes = number
        .checked_mul(1 << (10 * power))
        .filter(|&bytes| bytes > 0);
    bytes.ok_or_else(wrong)
}

/// A share: a number with or without a per cent sign, above 0 and below 100.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>();
    match number {
        Ok(share) if share > 0.0 && share < 100.0 => Ok(share),
        _ => Err(format!(
            "expected a share such as 5% or 2.5, found {text:?}"
        )),
    }
}

/// A time: digits, then ms, s, m or h; seconds without one. In nanoseconds.
fn time(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a time such as 3s, 500ms or 1m, found {text:?}");
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let each = match &text[digits..] {
        "us" => 1_000,
        "ms" => 1_000_000,
        "" | "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return Err(wrong()),
    };
    number
        .checked_mul(each)
        .filter(|&ns| ns > 0)
        .ok_or_else(wrong)
}

fn engine(text: &str) -> Result<EngineKind, String> {
    EngineKind::ALL
        .into_iter()
        .find(|engine| engine.name() == text)
        .ok_or_else(|| {
            format!(
                "expected psync, io_uring, posixaio, vsync, mmap, offload or null, found {text:?}"
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_and_times_are_fio_s() {
        assert_eq!(size("256m"), Ok(256 << 20));
        assert_eq!(size("4GiB"), Ok(4 << 30));
        assert_eq!(size("1000"), Ok(1000));
        for wrong in ["", "m", "1x", "0", "-1", "99999999t", "1.5g"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            (time("3s"), time("3"), time("1m")),
            (Ok(3_000_000_000), Ok(3_000_000_000), Ok(60_000_000_000))
        );
        assert_eq!(time("500ms"), Ok(500_000_000));
        assert!(time("0").is_err() && time("1d").is_err());
    }

    #[test]
    fn shares_are_per_cent() {
        assert_eq!((percent("5%"), percent("2.5")), (Ok(5.0), Ok(2.5)));
        for wrong in ["", "%", "0", "100%", "-1", "nan", "5 %"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn formats_may_have_a_file() {
        let parsed = |text: &str| target(text).map(|target| (target.format, target.file.is_some()));
        assert_eq!(parsed("json+=a"), Ok((Format::JsonPlus, true)));
        assert_eq!(parsed("terse"), Ok((Format::Terse, false)));
        assert!(target("json=").is_err() && target("xml").is_err());
    }

    #[test]
    fn a_command_among_the_inputs_is_told() {
        let told = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            misplaced_command(&words)
        };
        let said = told(&["-d", ".", "dd", "if=/dev/zero", "of=x y"]).unwrap();
        assert!(
            said.ends_with("fio-replay -d . -- dd if=/dev/zero of='x y'"),
            "{said}"
        );
        assert!(told(&["/usr/bin/fio", "--name=a"]).is_some());
        for right in [
            &["--", "fio", "--name=a"][..],
            &["post.txt", "--machine", "fio", "x"],
            &["fio"],
            &["fio.log", "x"],
        ] {
            assert_eq!(told(right), None, "{right:?}");
        }
    }

    #[test]
    fn commands_keep_their_words() {
        let text = |words: &[&str]| {
            let words = ["fio-replay", "--"]
                .iter()
                .chain(words)
                .map(|word| (*word).to_owned());
            Arguments::parse_from(words).command_text()
        };
        assert_eq!(text(&[]), None);
        assert_eq!(text(&["fio --name=a"]).as_deref(), Some("fio --name=a"));
        assert_eq!(
            text(&["fio", "--name=a b", "--rw=read"]).as_deref(),
            Some("fio --name='a b' --rw=read")
        );
        assert_eq!(
            text(&["fio", "--name=a\nb", "--rw=read"]).as_deref(),
            Some(r"fio --name=$'a\nb' --rw=read"),
            "an argument stays one argument"
        );
    }
}
