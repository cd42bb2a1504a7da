//! fio's bandwidth, IOPS, latency and histogram logs.
//!
//! ```text
//! sample = time "," value ["," max] "," direction "," block ["," offset] ["," priority] ["," issue time]
//! row    = time "," direction "," block "," count{19·64 or 29·64, or these halved up to six times}
//! ```
//!
//! All are whole numbers with a comma and mostly a blank between them; `direction` is 0 for reads, 1 for writes, 2 for
//! trims; `priority` is 0, 1 or a hexadecimal number (3.18 on), `max` comes with `log_window_value=both` (3.37 on).
//!
//! The columns alone tell a log. What was measured they do not tell: that stands in the name of the file
//! (`job_bw.1.log`), see [`LogKind::of_name`]. Nor do they tell the unit of a latency, for which see `assemble`.
//!
//! | columns | meaning |
//! |---|---|
//! | 4 | time, value, direction, block |
//! | 5 | the same with an offset (to 3.17, `log_offset`) or a priority (3.18 on) |
//! | 6 | the same with both |
//! | 5 to 8, the third no direction, the fourth one | with a maximum behind the value |

use crate::diagnostic::{Code, Diagnostic};
use crate::record::Direction;
use crate::source::{Log, Segments, Span};

/// What a log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogKind {
    /// `_bw`: KiB per second.
    Bandwidth,
    /// `_iops`: I/Os per second.
    Iops,
    /// `_lat`: total latency.
    Latency,
    /// `_slat`: submission latency.
    SubmissionLatency,
    /// `_clat`: completion latency.
    CompletionLatency,
    /// `_clat_hist`: histograms of completion latency.
    Histogram,
}

impl LogKind {
    /// All kinds, with what stands before `.log` or `.N.log` in fio's names.
    pub const ALL: [(&'static str, LogKind); 6] = [
        ("bw", LogKind::Bandwidth),
        ("iops", LogKind::Iops),
        ("lat", LogKind::Latency),
        ("slat", LogKind::SubmissionLatency),
        ("clat", LogKind::CompletionLatency),
        ("clat_hist", LogKind::Histogram),
    ];

    /// From the word that stands in fio's names: `bw`, `clat_hist`.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|(known, _)| *known == word)
            .map(|(_, kind)| kind)
    }

    /// From the name of a file, and what stands in front of the kind: `test_clat_hist.1.log` is of the job `test`.
    pub fn of_name(name: &str) -> Option<(Self, &str)> {
        let file = name.rsplit(['/', '\\']).next()?;
        let stem = file.strip_suffix(".log")?;
        // the number of the job, with per_job_logs=1
        let stem = match stem.rsplit_once('.') {
            Some((front, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => front,
            _ => stem,
        };
        // the longest word first: clat_hist before any word it ends with
        Self::ALL.into_iter().rev().find_map(|(word, kind)| {
            let front = stem.strip_suffix(word)?.strip_suffix('_')?;
            Some((kind, front))
        })
    }
}

/// How samples are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Time, value, direction, block, and more.
    Plain,
    /// Time, mean, maximum, direction, block, and more.
    WithMax,
    /// Time, direction, block and this many buckets.
    Histogram(Buckets),
}

/// The buckets of a histogram row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buckets {
    /// How many there are.
    pub count: u32,
    /// How often two neighbours were joined: `log_hist_coarseness`.
    pub coarseness: u32,
    /// Whether they hold nanoseconds (29 groups of 64, 2.99 on) and not microseconds (19 groups).
    pub nanoseconds: bool,
}

impl Buckets {
    /// From the number of buckets in a row.
    pub fn of_count(count: usize) -> Option<Self> {
        [(29 * 64, true), (19 * 64, false)]
            .into_iter()
            .find_map(|(all, nanoseconds)| {
                let coarseness = (0..=6u32).find(|&coarseness| all >> coarseness == count)?;
                Some(Self {
                    count: count as u32,
                    coarseness,
                    nanoseconds,
                })
            })
    }
}

/// The directions in the order of their numbers.
pub const DIRECTIONS: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

/// One sample of a log that is no histogram, in the units of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<'t> {
    /// Milliseconds, mostly since the start of the job.
    pub time_ms: u64,
    /// What was measured; a mean over a window with `log_avg_msec`.
    pub value: u64,
    /// The largest in the window, with `log_window_value=both`.
    pub max: Option<u64>,
    /// The index into [`DIRECTIONS`].
    pub direction: u8,
    /// The size of the block, 0 for windows of several sizes.
    pub block: u64,
    /// What follows, blanks trimmed: offset, priority, issue time, as far as they are there.
    pub rest: &'t [u8],
    /// `value` as it stands.
    pub value_text: &'t [u8],
}

/// A cursor over the columns of a line.
struct Columns<'t> {
    rest: &'t [u8],
}

impl<'t> Columns<'t> {
    /// The number of the next column and its text. The comma and blanks behind it are taken.
    #[inline]
    fn next(&mut self) -> Option<(u64, &'t [u8])> {
        let bytes = self.rest;
        let mut at = 0;
        let mut value = 0u64;
        while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            // twenty digits hold every number that fio can print; more are no number of fio
            if at == 20 {
                return None;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        if at == 0 || at == 20 && bytes[0] > b'1' {
            return None;
        }
        let text = &bytes[..at];
        self.rest = match &bytes[at..] {
            [b',', b' ', rest @ ..] => rest,
            [b',', rest @ ..] => rest.trim_ascii_start(),
            rest if rest.trim_ascii().is_empty() => &[],
            _ => return None,
        };
        Some((value, text))
    }
}

/// The sample on a line, if it has this layout.
#[inline]
pub fn sample(line: &[u8], layout: Layout) -> Option<Sample<'_>> {
    let mut columns = Columns { rest: line };
    let (time_ms, _) = columns.next()?;
    let (value, value_text) = columns.next()?;
    let max = match layout {
        Layout::Plain => None,
        Layout::WithMax => Some(columns.next()?.0).filter(|&max| max >= value),
        Layout::Histogram(_) => return None,
    };
    let (direction, _) = columns.next()?;
    let (block, _) = columns.next()?;
    if direction > 2 || layout == Layout::WithMax && max.is_none() {
        return None;
    }
    if !is_tail(columns.rest) {
        return None;
    }
    Some(Sample {
        time_ms,
        value,
        max,
        direction: direction as u8,
        block,
        rest: columns.rest,
        value_text,
    })
}

/// Whether at most three more columns follow, of digits or hexadecimal.
#[inline]
fn is_tail(rest: &[u8]) -> bool {
    let mut commas = 0;
    for &byte in rest {
        match byte {
            b',' => commas += 1,
            b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' | b'x' | b' ' | b'\t' => {}
            _ => return false,
        }
    }
    commas <= 2 && rest.first().is_none_or(u8::is_ascii_digit)
}

/// The layout that a line alone shows, if it can be of a log.
pub fn layout(line: &[u8]) -> Option<Layout> {
    if sample(line, Layout::Plain).is_some() {
        return Some(Layout::Plain);
    }
    if sample(line, Layout::WithMax).is_some() {
        return Some(Layout::WithMax);
    }
    let count = memchr::memchr_iter(b',', line).count().checked_sub(2)?;
    // a comma behind the last bucket is none between two
    let layout = Layout::Histogram(Buckets::of_count(count)?);
    histogram(line, layout, |_, _, _| {}).map(|_| layout)
}

/// The time in ms, the direction and the block of a histogram row; `each` gets direction, bucket and count of every bucket that is not empty.
pub fn histogram(
    line: &[u8],
    layout: Layout,
    mut each: impl FnMut(u8, u32, u64),
) -> Option<(u64, u8, u64)> {
    let Layout::Histogram(buckets) = layout else {
        return None;
    };
    let mut columns = Columns { rest: line };
    let (time, _) = columns.next()?;
    let (direction, _) = columns.next()?;
    let (block, _) = columns.next()?;
    if direction > 2 {
        return None;
    }
    // the whole row must be there before any of it counts
    let mut check = Columns { rest: columns.rest };
    for _ in 0..buckets.count {
        check.next()?;
    }
    if !check.rest.is_empty() {
        return None;
    }
    for bucket in 0..buckets.count {
        let (count, _) = columns.next()?;
        if count > 0 {
            each(direction as u8, bucket, count);
        }
    }
    Some((time, direction as u8, block))
}

/// A log, summed up while it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct FioLog<'t> {
    /// Whole lines.
    pub span: Span,
    /// How its lines are laid out.
    pub layout: Layout,
    /// By direction, as [`DIRECTIONS`]; those without samples have a count of zero.
    pub sums: [Sums<'t>; 3],
    /// For histograms, the buckets by direction.
    pub buckets: [Vec<u64>; 3],
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// Samples of one direction, summed up in the units of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums<'t> {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The smallest, as it stands.
    pub min: &'t str,
    /// The largest, as it stands; of the window maxima where there are some.
    pub max: &'t str,
    least: u64,
    most: u64,
    first: f64,
    differences: f64,
    squares: f64,
}

impl<'t> Sums<'t> {
    fn add(&mut self, value: u64, max: u64, text: &'t str, max_text: &'t str) {
        if self.count == 0 {
            (self.least, self.most, self.first) = (value, max, value as f64);
            (self.min, self.max) = (text, max_text);
        }
        if value < self.least {
            (self.least, self.min) = (value, text);
        }
        if max > self.most {
            (self.most, self.max) = (max, max_text);
        }
        self.count += 1;
        self.sum += u128::from(value);
        // sums of differences to the first sample, so that large values with small spread keep their digits
        let difference = value as f64 - self.first;
        self.differences += difference;
        self.squares += difference * difference;
    }

    /// The mean of the samples.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// The sample standard deviation; 0 for one sample.
    pub fn stddev(&self) -> f64 {
        let n = self.count as f64;
        if self.count < 2 {
            return 0.0;
        }
        let spread = self.squares - self.differences * self.differences / n;
        (spread.max(0.0) / (n - 1.0)).sqrt()
    }
}

/// In other text, fewer lines than this that look like samples are no log.
const LEAST: u64 = 3;

/// The log that starts on the next line, if one does; `lines` then stands behind it.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<FioLog<'t>> {
    let mut ahead = lines.clone();
    let first = ahead.next()?;
    if !first.text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let layout = layout(first.text.as_bytes())?;
    let mut found = FioLog {
        span: first.span,
        layout,
        sums: [Sums::default(); 3],
        buckets: Default::default(),
        problems: Vec::new(),
    };
    let mut rest = lines.clone();
    let mut count = 0;
    while let Some(line) = ahead_of(&rest) {
        if !found.add(line.text) {
            break;
        }
        rest.next();
        count += 1;
        found.span.end = line.next;
    }
    let is_named = LogKind::of_name(log.name()).is_some();
    if count < LEAST && !is_named {
        return None;
    }
    // the last line of a log that was cut off
    if let Some(line) = ahead_of(&rest)
        && line.text.starts_with(|c: char| c.is_ascii_digit())
        && line
            .text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b' ' | b'x'))
    {
        rest.next();
        found.span.end = line.next;
        found.problems.push(Diagnostic::warning(
            Code::INCOMPLETE,
            Some(line.span),
            "expected another sample of the log, found a line with other columns; it was left out",
        ));
    }
    *lines = rest;
    Some(found)
}

fn ahead_of<'t>(lines: &Segments<'t>) -> Option<crate::source::Segment<'t>> {
    lines.clone().next()
}

impl<'t> FioLog<'t> {
    /// Adds a line, if it has the layout of this log.
    fn add(&mut self, text: &'t str) -> bool {
        let line = text.as_bytes();
        if let Layout::Histogram(buckets) = self.layout {
            let sides = &mut self.buckets;
            let row = histogram(line, self.layout, |direction, bucket, count| {
                let side = &mut sides[usize::from(direction)];
                side.resize(buckets.count as usize, 0);
                side[bucket as usize] = side[bucket as usize].saturating_add(count);
            });
            return row.is_some();
        }
        let Some(sample) = sample(line, self.layout) else {
            return false;
        };
        let start = sample.value_text.as_ptr() as usize - line.as_ptr() as usize;
        let value_text = &text[start..start + sample.value_text.len()];
        let (max, max_text) = match sample.max {
            Some(max) => (max, max_column(&text[start..])),
            None => (sample.value, value_text),
        };
        self.sums[usize::from(sample.direction)].add(sample.value, max, value_text, max_text);
        true
    }

    /// Whether the direction has samples or rows.
    pub fn has(&self, direction: usize) -> bool {
        self.sums[direction].count > 0 || !self.buckets[direction].is_empty()
    }
}

/// The second column of a text that starts at the first one's digits.
fn max_column(text: &str) -> &str {
    let rest = text
        .split_once(',')
        .map_or("", |(_, rest)| rest.trim_start());
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_tell_the_kind() {
        for (name, wanted) in [
            ("a_bw.log", Some((LogKind::Bandwidth, "a"))),
            ("dir/a_iops.12.log", Some((LogKind::Iops, "a"))),
            ("agg-read_bw.log", Some((LogKind::Bandwidth, "agg-read"))),
            ("x_clat_hist.1.log", Some((LogKind::Histogram, "x"))),
            ("x.y_slat.1.log", Some((LogKind::SubmissionLatency, "x.y"))),
            (
                "c:\\logs\\x_clat.1.log",
                Some((LogKind::CompletionLatency, "x")),
            ),
            ("x_lat.log", Some((LogKind::Latency, "x"))),
            ("x_lat.txt", None),
            ("xlat.log", None),
            ("x_bw.1.2.log", None),
            ("_bw.1.log", Some((LogKind::Bandwidth, ""))),
        ] {
            assert_eq!(LogKind::of_name(name), wanted, "{name}");
        }
    }

    #[test]
    fn every_layout_of_samples() {
        let plain = [
            ("0, 25, 1, 4096", (0, 25, 1, 4096), ""),
            ("0, 25, 1, 4096, 24576", (0, 25, 1, 4096), "24576"),
            (
                "0, 16134, 1, 4096, 24576, 0",
                (0, 16134, 1, 4096),
                "24576, 0",
            ),
            (
                "0, 30946, 1, 4096, 397312, 0x0000",
                (0, 30946, 1, 4096),
                "397312, 0x0000",
            ),
            (
                "0, 26830, 1, 4096, 397312, 0x0000, 39810",
                (0, 26830, 1, 4096),
                "397312, 0x0000, 39810",
            ),
            ("100, 28160, 0, 0", (100, 28160, 0, 0), ""),
            ("100,42960,2,0,0", (100, 42960, 2, 0), "0"),
        ];
        for (line, (time, value, direction, block), rest) in plain {
            assert_eq!(layout(line.as_bytes()), Some(Layout::Plain), "{line}");
            let sample = sample(line.as_bytes(), Layout::Plain).unwrap();
            assert_eq!(
                (sample.time_ms, sample.value, sample.direction, sample.block),
                (time, value, direction, block)
            );
            assert_eq!(sample.rest, rest.as_bytes());
        }
        let line = b"200, 5847, 20053463, 1, 0, 0";
        assert_eq!(layout(line), Some(Layout::WithMax));
        let sample = sample(line, Layout::WithMax).unwrap();
        assert_eq!(
            (sample.value, sample.max, sample.direction, sample.block),
            (5847, Some(20_053_463), 1, 0)
        );
    }

    #[test]
    fn what_is_no_sample() {
        for line in [
            "",
            "1",
            "1, 2",
            "1, 2, 0",
            "1, 2, 3, 4",
            "1; 2; 0; 4",
            "1, -2, 0, 4",
            "1.5, 2, 0, 4",
            "1, 2, 0, 4, 5, 6, 7, 8",
            "1, 2, 0, 4 MiB",
            "1, 99999999999999999999, 0, 4",
            "200, 5847, 3, 1, 0",
            "1, 2, 0, ",
        ] {
            assert_eq!(layout(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn histograms_tell_unit_and_coarseness_by_their_length() {
        for (count, coarseness, nanoseconds) in [
            (1216, 0, false),
            (1856, 0, true),
            (928, 1, true),
            (19, 6, false),
        ] {
            let line = format!("1001, 0, 16384{}, 7", ", 0".repeat(count - 1));
            let wanted = Buckets {
                count: count as u32,
                coarseness,
                nanoseconds,
            };
            assert_eq!(
                layout(line.as_bytes()),
                Some(Layout::Histogram(wanted)),
                "{count}"
            );
            let mut seen = Vec::new();
            histogram(
                line.as_bytes(),
                Layout::Histogram(wanted),
                |_, bucket, n| seen.push((bucket, n)),
            );
            assert_eq!(seen, [(count as u32 - 1, 7)]);
        }
        assert_eq!(
            layout(format!("1, 0, 4{}", ", 0".repeat(100)).as_bytes()),
            None
        );
    }

    #[test]
    fn a_log_is_summed_up_by_direction() {
        let text = "0, 4, 0, 0, 0\n1, 8, 0, 0, 0\n2, 5, 1, 0, 0\n3, 6, 0, 0, 0\n4, 1\nwords\n";
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let found = read(&log, &mut lines).unwrap();
        let [reads, writes, trims] = found.sums;
        assert_eq!(
            (
                reads.count,
                reads.min,
                reads.max,
                reads.mean(),
                reads.stddev()
            ),
            (3, "4", "8", 6.0, 2.0)
        );
        assert_eq!(
            (writes.count, writes.min, writes.stddev(), trims.count),
            (1, "5", 0.0, 0)
        );
        assert_eq!(found.problems[0].code, Code::INCOMPLETE);
        assert_eq!(lines.next().unwrap().text, "words");
    }

    #[test]
    fn a_few_numbers_in_other_text_are_no_log() {
        let text = "1, 2, 0, 4\n2, 3, 0, 4\nwords\n";
        let log = Log::from_bytes("post.txt", text.as_bytes()).unwrap();
        assert!(read(&log, &mut log.segments()).is_none());
        let log = Log::from_bytes("x_bw.1.log", text.as_bytes()).unwrap();
        assert!(read(&log, &mut log.segments()).is_some());
    }

    proptest! {
        #[test]
        fn any_line_does_not_panic(line in "[0-9x, ]{0,40}|\\PC{0,20}") {
            if let Some(layout) = layout(line.as_bytes()) {
                let fits = sample(line.as_bytes(), layout).is_some() || histogram(line.as_bytes(), layout, |_, _, _| {}).is_some();
                prop_assert!(fits);
            }
            let text = format!("{line}\n").repeat(4);
            let log = Log::from_bytes("x", text.as_bytes()).unwrap();
            read(&log, &mut log.segments());
        }

        #[test]
        fn the_spread_is_that_of_the_textbook(values in prop::collection::vec(0u64..1_000_000, 2..50)) {
            let text: String = values.iter().map(|v| format!("0, {v}, 0, 0\n")).collect();
            let log = Log::from_bytes("x_bw.log", text.as_bytes()).unwrap();
            let sums = read(&log, &mut log.segments()).unwrap().sums[0];
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            let variance = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
            prop_assert!((sums.mean() - mean).abs() < 1e-6);
            prop_assert!((sums.stddev() - variance.sqrt()).abs() < 1e-3);
        }
    }
}
