//! The lines in which a report of fio introduces its jobs.
//!
//! ```text
//! line   [ "<" host "> " ] name ": (g=" group "): rw=" pattern ", bs=" sizes ", ioengine=" engine ", iodepth=" n
//! sizes  4K-4K/4K-4K[/4K-4K]                                      1.x to 2.16, exact
//!        4096B-4096B,4096B-4096B,4096B-4096B                      2.17, 2.18
//!        (R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B        2.19 and later
//! clones "..."                                                    behind the first line of a job with numjobs > 1
//! ```
//!
//! Names are printed raw and may hold anything, so the last `: (g=` of a line counts. Since 2.17 sizes go through
//! fio's number printer: `4096B` is exact, `64.0KiB` may be any of a hundred numbers, of which 65536 alone is a
//! multiple of 512. Such a one becomes [`Job::block_bytes`] as well, and `normalised` holds what was printed. Where
//! several would do, what was printed stands in [`Job::other`], and `missing` says `value:bs`.
//!
//! How many clones there are, the lines do not say; the line `Starting 8 processes` behind them does, where the other
//! jobs are known. Without it `...` stands in [`Job::other`] as the `numjobs`, and `missing` says `value:numjobs`.
//!
//! A group's number that grows means that a `stonewall` (or a rare `new_group`) stood in between, which is assumed.

use super::fio::{note, set};
use super::{Job, Test, Workload, WrittenAs};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Log, Segment, Segments, Span};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Consecutive header lines.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderBlock<'t> {
    /// The lines in order; clones that older versions print one by one stand once.
    pub jobs: Vec<HeaderLine<'t>>,
    /// How many processes and threads fio started for all of them, as a line behind the block says.
    pub started: Option<u32>,
    /// Where the block stands.
    pub span: Span,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// One header line, undecoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderLine<'t> {
    /// The server it comes from, in client mode.
    pub host: Option<&'t str>,
    /// The job's name; may be empty.
    pub name: &'t str,
    /// The number of its reporting group.
    pub group: u32,
    /// `rw`.
    pub pattern: &'t str,
    /// `bs`, all of it.
    pub sizes: &'t str,
    /// `ioengine`.
    pub engine: &'t str,
    /// `iodepth`.
    pub depth: &'t str,
    /// Whether more clones of it follow (`...`, or the same line again); how many is not said.
    pub clones: bool,
    /// Where it stands.
    pub span: Span,
}

/// Block reader: the header lines that start at the current line. `None`, with `lines` untouched, where it is none.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<HeaderBlock<'t>> {
    let mut ahead = lines.clone();
    let first = ahead.next()?;
    let mark = mark(first.text)?;
    let mut block = HeaderBlock {
        jobs: Vec::new(),
        started: None,
        span: first.span,
        problems: Vec::new(),
    };
    block.push(log, unwrapped(log, first, &mut ahead), mark);
    *lines = ahead.clone();
    while let Some(next) = ahead.next() {
        if is_dots(unquoted(next.text).trim()) {
            if let Some(job) = block.jobs.last_mut() {
                job.clones = true;
            }
        } else if let Some(mark) = self::mark(next.text) {
            let line = unwrapped(log, next, &mut ahead);
            block.push(log, line, mark);
        } else {
            break;
        }
        *lines = ahead.clone();
    }
    block.started = started(lines.clone());
    let last = ahead_of(log, lines);
    block.span.end = last.max(block.span.end);
    Some(block)
}

/// Where the lines that were taken end, without the last line's end.
fn ahead_of(log: &Log<'_>, lines: &Segments<'_>) -> u32 {
    let next = lines
        .clone()
        .next()
        .map_or(log.text().len(), |next| next.span.start as usize);
    log.text()[..next].trim_end_matches(['\n', '\r']).len() as u32
}

/// The header line that starts in `first`: where mail or an editor wrapped it, with the one or two lines it goes on in.
fn unwrapped<'t>(log: &'t Log<'_>, first: Segment<'t>, lines: &mut Segments<'t>) -> &'t str {
    let mut ahead = lines.clone();
    let mut end = first.span.end;
    for _ in 0..3 {
        let line = log.get(Span::new(first.span.start, end));
        if DEPTH.find(line.as_bytes()).is_some() {
            *lines = ahead;
            return line;
        }
        match ahead.next() {
            Some(next) if !next.text.trim().is_empty() && mark(next.text).is_none() => {
                end = next.span.end;
            }
            _ => break,
        }
    }
    first.text
}

/// The fields behind the sizes, whose names are looked for in each header line.
static ENGINE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("ioengine="));
static DEPTH: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("iodepth="));

/// What stands before and behind the first of `word` in a line.
fn split<'t>(line: &'t str, word: &Finder<'_>) -> Option<(&'t str, &'t str)> {
    let at = word.find(line.as_bytes())?;
    Some((&line[..at], &line[at + word.needle().len()..]))
}

/// Where `: (g=0): rw=` starts in a header line.
fn mark(line: &str) -> Option<usize> {
    static MARK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(": (g="));
    let bytes = line.as_bytes();
    // most lines have none
    memchr::memchr(b'(', bytes)?;
    let at = MARK.find_iter(bytes).last()?;
    let rest = line[at + 5..].trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with("): rw=").then_some(at)
}

/// Whether a line says that clones follow, on a server perhaps: `<vm> ...`.
fn is_dots(line: &str) -> bool {
    line == "..." || line.starts_with('<') && line.ends_with("> ...")
}

/// `Starting 8 processes`, `Starting 2 threads and 1 process`, where it stands close behind the header lines.
fn started(lines: Segments<'_>) -> Option<u32> {
    // the version and perhaps a blank line or a remark stand in between
    const NEAR: usize = 6;
    let near = lines.take(NEAR).map(|line| unquoted(line.text).trim());
    let near = near.take_while(|text| mark(text).is_none());
    let mut counts = near.filter_map(|text| {
        let parts = text.strip_prefix("Starting ")?.split(" and ");
        let mut counts = parts.map(|part| {
            let (count, what) = part.split_once(' ')?;
            let known = ["process", "processes", "thread", "threads"].contains(&what);
            known.then(|| count.parse::<u32>().ok())?
        });
        counts.try_fold(0u32, |sum, count| sum.checked_add(count?))
    });
    counts.next()
}

/// A line without quote marks of mail and the like.
fn unquoted(line: &str) -> &str {
    line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '|'))
}

impl<'t> HeaderBlock<'t> {
    fn push(&mut self, log: &'t Log<'_>, line: &'t str, mark: usize) {
        let Some(job) = HeaderLine::read(log, line, mark) else {
            self.problems.push(Diagnostic::warning(
                Code::UNREADABLE,
                Some(log.span_of(line)),
                "expected `rw=…, bs=…, ioengine=…, iodepth=…` behind a job's name and group",
            ));
            return;
        };
        // older versions print each clone, or the first, dots, and the last
        if let Some(last) = self.jobs.last_mut()
            && last.is_twin(&job)
        {
            last.clones = true;
            return;
        }
        self.jobs.push(job);
    }

    /// The jobs as a workload. What the lines do not say (size, runtime, direct) stays open.
    pub fn workload(&self) -> Workload {
        let mut missing = Vec::new();
        let mut normalised = Vec::new();
        let mut jobs: Vec<Job> = self
            .jobs
            .iter()
            .map(|line| line.job(&mut missing, &mut normalised))
            .collect();
        self.count_clones(&mut jobs, &mut missing);
        for (index, pair) in self.jobs.windows(2).enumerate() {
            if pair[0].host == pair[1].host && pair[0].group != pair[1].group {
                jobs[index + 1].stonewall = Some(true);
                note(&mut normalised, "assumed:stonewall=1");
            }
        }
        let mut workload = Workload::new(WrittenAs::FioHeader, Test::Jobs(jobs));
        workload.span = Some(self.span);
        workload.missing = missing;
        workload.normalised = normalised;
        workload
    }

    /// Gives the job with clones its `numjobs`: what was started, without the other jobs. Of several with clones, or on
    /// several servers, only the sum is known, and of none what they are.
    fn count_clones(&self, jobs: &mut [Job], missing: &mut Vec<String>) {
        let others = self.jobs.iter().filter(|line| !line.clones).count() as u32;
        // groups count from zero without a gap where all lines are there
        let groups = || self.jobs.iter().map(|line| line.group);
        let whole =
            groups().next() == Some(0) && groups().zip(groups().skip(1)).all(|(a, b)| b <= a + 1);
        let alone = jobs.len() as u32 == others + 1
            && whole
            && self.jobs.iter().all(|line| line.host.is_none());
        let count = (self.started.filter(|_| alone))
            .and_then(|all| all.checked_sub(others))
            .filter(|&count| count > 1);
        for (job, _) in jobs
            .iter_mut()
            .zip(&self.jobs)
            .filter(|(_, line)| line.clones)
        {
            job.jobs = count;
            if count.is_none() {
                note(missing, "value:numjobs");
                job.other.push(("numjobs".to_owned(), "...".to_owned()));
            }
        }
    }
}

impl<'t> HeaderLine<'t> {
    fn read(log: &'t Log<'_>, line: &'t str, mark: usize) -> Option<Self> {
        let (mut name, rest) = (&line[..mark], &line[mark + 5..]);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let group = rest[..digits].parse().ok()?;
        let fields = rest[digits..].strip_prefix("): rw=")?;
        let (pattern, fields) = fields.split_once(',')?;
        // `bs=…`, or `bs(seq/rand)=…`; a wrapped line may have its end between any two of them
        let (sizes, fields) = split(fields, &ENGINE)?;
        let (name_of_sizes, sizes) = sizes.split_once('=')?;
        if !unquoted(name_of_sizes).starts_with("bs") {
            return None;
        }
        let sizes =
            sizes.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '>' | '|'));
        let (engine, depth) = fields.split_once(',')?;
        let (_, depth) = split(depth, &DEPTH)?;
        let end = depth
            .bytes()
            .position(|b| !b.is_ascii_digit())
            .unwrap_or(depth.len());
        if end == 0 {
            return None;
        }
        let depth = &depth[..end];
        let mut host = None;
        // quote marks only where a blank follows: a name may begin with any character
        while let Some(inner) = name
            .strip_prefix("> ")
            .or(name.strip_prefix("| "))
            .or(name.strip_prefix([' ', '\t', '\u{a0}']))
        {
            name = inner;
        }
        if let Some((server, own)) = name
            .strip_prefix('<')
            .and_then(|rest| rest.split_once("> "))
        {
            (host, name) = (Some(server), own);
        }
        let start = if name.is_empty() { &line[mark..] } else { name };
        let span = Span::new(log.span_of(start).start, log.span_of(depth).end);
        Some(Self {
            host,
            name,
            group,
            pattern,
            sizes,
            engine,
            depth,
            clones: false,
            span,
        })
    }

    /// Whether the other line is the same but for its place.
    fn is_twin(&self, other: &Self) -> bool {
        (
            self.name,
            self.group,
            self.pattern,
            self.sizes,
            self.engine,
            self.depth,
        ) == (
            other.name,
            other.group,
            other.pattern,
            other.sizes,
            other.engine,
            other.depth,
        ) && self.host == other.host
    }

    fn job(&self, missing: &mut Vec<String>, normalised: &mut Vec<String>) -> Job {
        let mut job = Job {
            name: self.name.to_owned(),
            ..Job::default()
        };
        set(&mut job, "rw", self.pattern, normalised);
        set(&mut job, "ioengine", self.engine, normalised);
        set(&mut job, "iodepth", self.depth, normalised);
        if sizes(self.sizes, exact).is_none() {
            note(normalised, format!("rounded:bs={}", self.sizes));
        }
        match sizes(self.sizes, |text| exact(text).or_else(|| rounded(text))) {
            Some(sizes) if sizes.iter().all(|(lo, hi)| lo == hi) => {
                let texts: Vec<_> = sizes.iter().map(|(lo, _)| lo.to_string()).collect();
                set(&mut job, "bs", &texts.join(","), normalised);
            }
            Some(sizes) => {
                let texts: Vec<_> = sizes.iter().map(|(lo, hi)| format!("{lo}-{hi}")).collect();
                set(&mut job, "bsrange", &texts.join(","), normalised);
            }
            None => {
                note(missing, "value:bs");
                job.other.push(("bs".to_owned(), self.sizes.to_owned()));
            }
        }
        job
    }
}

/// The smallest and largest block of each direction, if `read` knows all of them.
fn sizes(text: &str, read: impl Fn(&str) -> Option<u64>) -> Option<Vec<(u64, u64)>> {
    // with this option reads and writes stand for sequential and random
    if text.contains("bs_is_seq_rand") {
        return None;
    }
    let mut sizes = Vec::new();
    for part in text.split([',', '/']) {
        let mut part = unquoted(part);
        for name in ["(R)", "(W)", "(T)"] {
            part = unquoted(part.strip_prefix(name).unwrap_or(part));
        }
        let part = part.trim_end();
        let (lo, hi) = part.split_once('-')?;
        sizes.push((read(lo)?, read(hi)?));
    }
    (1..=3).contains(&sizes.len()).then_some(sizes)
}

/// A size that can be no other: bytes, or a multiple as fio before 2.17 prints them (`4K` only for 4096).
fn exact(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let count: u64 = text[..digits].parse().ok()?;
    let power = match &text[digits..] {
        "" | "B" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        _ => return None,
    };
    count.checked_mul(1024u64.pow(power))
}

/// The one size that a disk takes among all that print as this text: `64.0KiB` is 65.485 to 65.587 kB, and there
/// 65536 alone is a multiple of 512. Where a figure has fewer digits, the multiple of 4096, of 1 MiB or of 1 GiB that
/// stands alone among what it may be. What is no whole number of its unit (`4.9KiB`) was no usual size.
fn rounded(text: &str) -> Option<u64> {
    const GRAINS: [u64; 4] = [512, 4096, 1 << 20, 1 << 30];
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, suffix) = text.split_at(end);
    let unit: u64 = match suffix {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !fraction.bytes().all(|b| b == b'0') {
        return None;
    }
    let size = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    // half of the last digit's worth to both sides
    let off = unit / 2 / 10u64.checked_pow(fraction.len() as u32)?;
    let alone = |grain: &u64| size.is_multiple_of(*grain) && off < *grain;
    (size > 0 && GRAINS.iter().any(alone)).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_block_size_is_what_a_disk_takes_or_stands_in_the_key_as_printed() {
        for (rw, sizes, key) in [
            (
                "read",
                "bs=(R) 1024KiB-1024KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB",
                "read bs=1048576,65536 depth=1 jobs=1",
            ),
            (
                "randwrite",
                "bs=(R) 4096B-4096B, (W) 64.0KiB-64.0KiB, (T) 4096B-4096B",
                "randwrite bs=4096,65536 depth=1 jobs=1",
            ),
            // 129.5 and 130.5 KiB are multiples of 512 as well
            (
                "read",
                "bs=(R) 130KiB-130KiB, (W) 130KiB-130KiB, (T) 130KiB-130KiB",
                "read bs=~(R) 130KiB-130KiB, (W) 130KiB-130KiB, (T) 130KiB-130KiB depth=1 jobs=1",
            ),
            (
                "write",
                "bs=128K-128K/128K-128K",
                "write bs=131072 depth=1 jobs=1",
            ),
            (
                "read",
                "bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B",
                "read bs=4096 depth=1 jobs=1",
            ),
        ] {
            let text = format!("j: (g=0): rw={rw}, {sizes}, ioengine=psync, iodepth=1\n");
            let log = Log::from_bytes("x", text.as_bytes()).unwrap();
            let block = read(&log, &mut log.segments()).unwrap();
            assert_eq!(block.workload().key, key);
        }
    }

    #[test]
    fn a_rounded_size_is_read_where_only_one_is_usual() {
        for (text, size) in [
            ("64.0KiB", Some(65_536)),
            ("63.0KiB", Some(64_512)),
            ("128KiB", Some(131_072)),
            ("1024KiB", Some(1_048_576)),
            ("16.0MiB", Some(16_777_216)),
            ("100MiB", Some(104_857_600)),
            ("130KiB", None),
            ("4.9KiB", None),
            ("63.5KiB", None),
            ("5000kB", None),
            ("0KiB", None),
            ("99999999999999999999KiB", None),
        ] {
            assert_eq!(rounded(text), size, "{text}");
        }
    }

    #[test]
    fn a_new_group_waits_for_the_one_before() {
        let text = "a: (g=0): rw=read, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\n\
                    b: (g=0): rw=read, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\n\
                    c: (g=1): rw=write, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\n";
        let log = log(text);
        let workload = read(&log, &mut log.segments()).unwrap().workload();
        let waits: Vec<_> = workload.jobs().iter().map(|job| job.stonewall).collect();
        assert_eq!(waits, [None, None, Some(true)]);
        assert_eq!(workload.normalised, ["assumed:stonewall=1"]);
    }
    use crate::unit::Bytes;
    use crate::workload::Pattern;

    fn log(text: &str) -> Log<'_> {
        Log::from_bytes("x", text.as_bytes()).unwrap()
    }

    #[test]
    fn every_era_of_header_lines_is_read() {
        // (sizes, reads, writes where they differ)
        for (sizes, expected) in [
            ("4K-4K/4K-4K", Some((4096, None))),
            ("4K-4K/64K-64K/4K-4K", Some((4096, Some(65536)))),
            ("4000-4000/4000-4000/4000-4000", Some((4000, None))),
            ("4096B-4096B,4096B-4096B,4096B-4096B", Some((4096, None))),
            (
                "(R) 4096B-4096B, (W) 2300B-2300B, (T) 4096B-4096B",
                Some((4096, Some(2300))),
            ),
            (
                "(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB",
                Some((65_536, None)),
            ),
            (
                "(R) 5001KiB-5001KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB",
                None,
            ),
        ] {
            let text =
                format!("job-1: (g=2): rw=randrw, bs={sizes}, ioengine=libaio, iodepth=16\n");
            let log = log(&text);
            let block = read(&log, &mut log.segments()).unwrap();
            assert!(block.problems.is_empty());
            assert_eq!((block.jobs[0].group, block.jobs[0].name), (2, "job-1"));
            let workload = block.workload();
            let job = &workload.jobs()[0];
            assert_eq!(job.pattern, Some(Pattern::RandRw));
            assert_eq!(
                (job.engine.as_deref(), job.depth),
                (Some("libaio"), Some(16))
            );
            assert_eq!(
                job.block_bytes,
                expected.map(|(read, _)| Bytes(read)),
                "{sizes}"
            );
            assert_eq!(
                job.write_block_bytes,
                expected.and_then(|(_, write)| write).map(Bytes),
                "{sizes}"
            );
            assert_eq!(workload.missing.is_empty(), expected.is_some());
        }
    }

    /// The number of jobs of each job, and whether the workload lacks one.
    fn numjobs(text: &str) -> (Vec<Option<u32>>, bool) {
        let log = log(text);
        let workload = read(&log, &mut log.segments()).unwrap().workload();
        let lacks = workload.missing.iter().any(|what| what == "value:numjobs");
        let counts = workload.jobs().iter().map(|job| job.jobs).collect();
        assert_eq!(
            lacks,
            workload.key.contains("jobs=~..."),
            "{}",
            workload.key
        );
        (counts, lacks)
    }

    #[test]
    fn clones_are_counted_by_what_was_started() {
        let line = |name: &str| {
            format!("{name}: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\n")
        };
        let (a, b) = (line("a"), line("b"));
        let dots = format!("{a}...\n");
        for (text, expected) in [
            (
                format!("{a}fio-2.2.10\nStarting 1 process\n"),
                (vec![None], false),
            ),
            (
                format!("{dots}fio-2.2.10\nStarting 8 processes\n"),
                (vec![Some(8)], false),
            ),
            (
                format!("{dots}fio-3.1\n\nStarting 2 threads and 3 processes\n"),
                (vec![Some(5)], false),
            ),
            (
                format!("> {a}> ...\n> Starting 4 threads\n"),
                (vec![Some(4)], false),
            ),
            (
                format!("{dots}{b}Starting 5 processes\n"),
                (vec![Some(4), None], false),
            ),
            // both have clones: how the five are shared out is not said
            (
                format!("{dots}{b}...\nStarting 5 processes\n"),
                (vec![None, None], true),
            ),
            (format!("{dots}fio-2.2.10\n"), (vec![None], true)),
            (format!("{dots}Starting over\n"), (vec![None], true)),
            (format!("{dots}Starting 1 process\n"), (vec![None], true)),
            (
                format!("{dots}Starting 4294967295 processes and 4294967295 threads\n"),
                (vec![None], true),
            ),
            // what another fio started
            (
                format!("{dots}fio-3.1\n\n{b}Starting 8 processes\n"),
                (vec![None], true),
            ),
        ] {
            assert_eq!(numjobs(&text), expected, "{text}");
        }
    }

    #[test]
    fn ranges_names_clones_and_quotes() {
        let text = "> <vm> a: (g=9), b: (g=0): rw=read, bs=(R) 4096B-8192B, (W) 512B-512B, (T) 4096B-4096B, ioengine=psync, iodepth=1\r\n\
                    > ...\n: (g=1): rw=write, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\n: (g=1): rw=write, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\nfio-3.33\n";
        let log = log(text);
        let mut lines = log.segments();
        let block = read(&log, &mut lines).unwrap();
        assert_eq!(lines.next().unwrap().text, "fio-3.33");
        let [first, second] = block.jobs.as_slice() else {
            panic!("{:?}", block.jobs)
        };
        assert_eq!(
            (first.host, first.name, first.clones),
            (Some("vm"), "a: (g=9), b", true)
        );
        assert_eq!((second.name, second.group, second.clones), ("", 1, true));
        assert!(log.get(first.span).starts_with("a: (g=9), b: (g=0)"));
        let workload = block.workload();
        assert_eq!(
            workload.jobs()[0].other,
            [
                ("bsrange", "4096-8192,512-512,4096-4096"),
                ("numjobs", "...")
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn a_wrapped_line_is_one() {
        let text = "> j: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T)\n> 4096B-4096B,\n> ioengine=posixaio, iodepth=2\n> ...\n> fio-3.19\n";
        let log = log(text);
        let mut lines = log.segments();
        let block = read(&log, &mut lines).unwrap();
        assert_eq!(lines.next().unwrap().text, "> fio-3.19");
        let workload = block.workload();
        let job = &workload.jobs()[0];
        assert_eq!((job.block_bytes, job.depth), (Some(Bytes(4096)), Some(2)));
        assert_eq!(job.engine.as_deref(), Some("posixaio"));
        assert!(log.get(block.span).ends_with("> ..."));
    }

    #[test]
    fn other_lines_are_left_alone() {
        for text in [
            "",
            "a: (groupid=0, jobs=1): err= 0",
            "x: (g=0)",
            "x: (g=0): rx=1",
            "Jobs: 1 (f=1)",
        ] {
            let log = log(text);
            assert_eq!(read(&log, &mut log.segments()), None, "{text}");
        }
        let log = log("x: (g=0): rw=read, bs=4K");
        let block = read(&log, &mut log.segments()).unwrap();
        assert!(block.jobs.is_empty() && block.problems.len() == 1);
    }
}
