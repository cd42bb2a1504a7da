//! A job section of fio's normal output, of every version, and what people leave of it.
//!
//! ```text
//! section   = [head] [description] { direction } tail
//! direction = direction-line { latency-line | percentiles | samples }
//! tail      = { distribution | cpu | depths | issued | errors | target | steadystate | fsync-block | lifetime }
//! ```
//!
//! ```text
//! mixed-70-30: (groupid=0, jobs=1): err= 0: pid=4022: Mon Nov 30 14:41:52 2026
//!   read: IOPS=39.8k, BW=155MiB/s (163MB/s)(22.2MiB/143msec)
//!     slat (usec): min=3, max=3165, avg= 5.05, stdev=42.34
//!     clat percentiles (usec):
//!      |  1.00th=[   63],  5.00th=[  112]
//!   lat (usec)   : 50=0.43%, 100=1.86%
//!   cpu          : usr=4.23%, sys=30.99%, ctx=1592, majf=0, minf=12
//! ```
//!
//! A section starts at a head, or at any line of it that stands alone: people cut reports down to a few lines. It
//! ends at the next head, at a direction that it has already or that another version printed, and where no line of a section follows, up to a few
//! blank lines away. Lines of a section that has neither head nor direction are *loose*: they say something of the
//! section above them, if there is one.
//!
//! | module | lines |
//! |---|---|
//! | [`head`] | head, description |
//! | [`direction`] | direction lines, samples |
//! | [`latency`] | latency lines, percentiles |
//! | [`tail`] | all the rest |
//! | `share` | what the labels of distributions mean |
//! | `quick` | all of these, where they are byte for byte as fio 3.x prints them |

pub mod direction;
pub mod head;
pub mod latency;
pub(super) mod quick;
pub(crate) mod share;
pub mod tail;
#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic};
use crate::era::Look;
use crate::figure::Figure;
use crate::figure::decimal::{self, Plain, Rule};
use crate::lex;
use crate::reading::Reading;
use crate::record::{CountBucket, Direction, Latency, LatencyBucket};
use crate::source::{Log, Segment, Segments, Span};
use direction::{DirectionLine, SampleLine};
use head::Head;
use latency::{Kind, LatencyLine, TimeUnit, Title};
use quick::{Cursor, SamplesOrIssued, Word};
use smallvec::{Array, SmallVec};
use tail::{CpuLine, ErrorsLine, Issued, Share, SteadyLine, TargetLine};

/// A job section. What means the same in every version of fio (latencies, percentiles, shares) is decoded where it is
/// lexed; figures that a version's own number printer made are kept as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioJob<'t> {
    /// The lines it covers.
    pub span: Span,
    /// Its head, if it was left.
    pub head: Option<Head<'t>>,
    /// The job's description.
    pub description: Option<Figure<'t>>,
    /// What is said of each direction, in order.
    pub parts: Vec<Part<'t>>,
    /// Latency of syncs (3.4 on).
    pub sync: LatencyText<'t>,
    /// Shares of the latency distribution; the one in `share::FIRST_USEC` starts at zero in old versions.
    pub distribution: Vec<LatencyBucket>,
    /// Processor use.
    pub cpu: Option<CpuLine<'t>>,
    /// Shares of queue depths.
    pub depths: Option<Vec<CountBucket>>,
    /// Shares of I/Os per submit call.
    pub submit: Option<Vec<CountBucket>>,
    /// Shares of I/Os per completion call.
    pub complete: Option<Vec<CountBucket>>,
    /// Counts of I/Os.
    pub issued: Option<Issued<'t>>,
    /// Errors that the job went on after.
    pub errors: Option<ErrorsLine<'t>>,
    /// What was asked of the latency.
    pub target: Option<TargetLine<'t>>,
    /// Whether a steady state was found.
    pub steady: Option<SteadyLine<'t>>,
    /// What the lines show of the version.
    pub looks: Looks,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

impl FioJob<'_> {
    /// Whether it has neither head nor direction, so that it says something of the section above it.
    pub fn is_loose(&self) -> bool {
        self.head.is_none() && self.parts.iter().all(|part| part.line.is_none())
    }
}

/// What the lines of a section show of the version that printed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// `io=`, `runt=`: to 2.16.
    pub legacy: bool,
    /// `IOPS=`, `BW=`: 2.17 on.
    pub modern: bool,
    /// `(nsec)`, `samples=`, an `iops` line: 2.99 on.
    pub nanoseconds: bool,
    /// Sample lines without `samples=`.
    pub no_sample_count: bool,
    /// `issued rwt:`: to 3.3.
    pub issued_rwt: bool,
    /// `issued rwts:`: 3.4 on.
    pub issued_rwts: bool,
    /// `zone resets`: 3.9 on.
    pub zone_resets: bool,
}

impl Looks {
    /// What was seen, for [`Era::seen`](crate::era::Era::seen).
    pub fn seen(&self) -> impl Iterator<Item = Look> + use<> {
        [
            (self.legacy, Look::Legacy),
            (self.modern, Look::Modern),
            (self.nanoseconds, Look::ModernNanoseconds),
            (
                self.no_sample_count && self.modern,
                Look::ModernMicroseconds,
            ),
            (self.issued_rwt && self.modern, Look::IssuedRwt),
            (self.issued_rwts, Look::IssuedRwts),
            (self.zone_resets, Look::ZoneResets),
        ]
        .into_iter()
        .filter_map(|(seen, look)| seen.then_some(look))
    }
}

/// What a section says of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part<'t> {
    /// Bandwidth, IOPS, bytes and run time; none in a part that was cut loose.
    pub line: Option<DirectionLine<'t>>,
    /// Submission latency.
    pub slat: LatencyText<'t>,
    /// Completion latency.
    pub clat: LatencyText<'t>,
    /// Total latency.
    pub lat: LatencyText<'t>,
    /// Latencies of one priority each.
    pub priorities: Vec<PriorityText<'t>>,
    /// Samples of bandwidth.
    pub bw: Option<SampleLine<'t>>,
    /// Samples of IOPS.
    pub iops: Option<SampleLine<'t>>,
}

impl Part<'_> {
    /// Which way bytes went; `None` in a part that was cut loose.
    pub fn direction(&self) -> Option<Direction> {
        self.line.as_ref().map(|line| line.direction)
    }
}

/// What is said of one latency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyText<'t> {
    /// What is read so far: all but the figures below.
    pub latency: Option<Box<Latency>>,
    /// The unit of smallest, largest, mean and deviation, where their line is there.
    pub unit: Option<TimeUnit>,
    /// The smallest, where it was printed with a prefix: then it depends on the version what it is.
    pub min: Option<Figure<'t>>,
    /// The largest, likewise.
    pub max: Option<Figure<'t>>,
    /// The unit of the percentiles, where they are there; need not be that of the line.
    pub percentiles: Option<TimeUnit>,
    /// Percentiles that are no whole numbers, of which nothing was taken.
    pub odd: Vec<Figure<'t>>,
}

impl<'t> LatencyText<'t> {
    /// Takes a latency line; `None` where there is one already.
    ///
    /// Smallest and largest are cut to whole units: `min=33` in usec is 33000 to 33999 ns.
    fn take_line(&mut self, line: LatencyLine<'t>) -> Option<()> {
        if self.unit.is_some() {
            return None;
        }
        self.unit = Some(line.unit);
        let rule = Rule::cut_to_units(line.unit.scale());
        let latency = self.latency.get_or_insert_default();
        let extreme = |figure: Option<Figure<'t>>, scaled: &mut Option<Figure<'t>>| {
            let figure = figure?;
            match Plain::read(figure.text) {
                Some(plain) if plain.decimals() == 0 => Reading::of_plain(plain, rule, figure),
                _ => {
                    *scaled = Some(figure);
                    None
                }
            }
        };
        latency.min = extreme(line.min, &mut self.min);
        latency.max = extreme(line.max, &mut self.max);
        latency.mean = line.avg;
        latency.stddev = line.stdev;
        Some(())
    }

    /// Takes the unit of percentiles, which follow; `None` where there are some already.
    fn take_title(&mut self, unit: TimeUnit) -> Option<()> {
        if self.percentiles.is_some() {
            return None;
        }
        self.percentiles = Some(unit);
        let latency = self.latency.get_or_insert_default();
        latency.percentiles.reserve_exact(PERCENTILES);
        Some(())
    }

    /// Takes a percentile of which the number and the latency are as printed.
    fn take_percentile(&mut self, unit: TimeUnit, p: &str, figure: Figure<'t>) {
        let number = Plain::read(figure.text).filter(|number| number.decimals() == 0);
        let (Some(p), Some(number)) = (decimal::value(p), number) else {
            self.odd.push(figure);
            return;
        };
        let latency = self.latency.get_or_insert_default();
        latency
            .percentiles
            .extend(latency::percentile(p, number, unit, figure));
    }
}

/// The latency of I/Os of one priority.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityText<'t> {
    /// `high`, `low`, or class, level and hint: `1/3/0`.
    pub name: &'t str,
    /// Which latency.
    pub kind: Kind,
    /// The share of I/Os.
    pub share: Option<Figure<'t>>,
    /// The latency.
    pub text: LatencyText<'t>,
}

/// How many blank lines may stand within a section: pastes double line ends.
const BLANK_LINES: usize = 2;

/// How many priorities a direction may have: fio knows 4 classes of 8 levels, with a few hints. The limit keeps made-up input cheap.
const PRIORITIES: usize = 256;

/// How many percentiles fio lists by default.
const PERCENTILES: usize = 17;

/// How many buckets of the latency distribution most jobs have at most.
const BUCKETS: usize = 16;

/// How many ranges of counts fio prints.
const COUNTS: usize = 8;

/// Reads a job section where `lines` stands at one of its lines; otherwise leaves `lines` as it is.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<FioJob<'t>> {
    read_by(log, lines, Reader::quick)
}

/// As [`read`], with lines that are as fio prints them read by `quick`, which refuses all others.
fn read_by<'t>(
    log: &'t Log<'t>,
    lines: &mut Segments<'t>,
    quick: impl Fn(&mut Reader<'t>, u32) -> Option<u32>,
) -> Option<FioJob<'t>> {
    let mut ahead = lines.clone();
    let segment = ahead.next()?;
    let mut reader = Reader {
        log,
        job: FioJob {
            span: segment.span,
            ..FioJob::default()
        },
        distribution: SmallVec::new(),
        tail: false,
        title: None,
    };
    let end = reader.start(segment)?;
    reader.consume(&mut ahead, segment, end);
    loop {
        if let Some(end) = quick(&mut reader, ahead.offset()) {
            reader.job.span.end = end;
            ahead.behind_line_feed(end);
            continue;
        }
        let mut next = ahead.clone();
        let mut segment = next.next();
        let mut blank = 0;
        while let Some(line) = segment.filter(|line| lex::skip_margin(line.text).is_empty()) {
            blank += 1;
            if blank > BLANK_LINES || line.next == line.span.start {
                break;
            }
            segment = next.next();
        }
        let Some(segment) = segment.filter(|_| blank <= BLANK_LINES) else {
            break;
        };
        let Some(end) = reader.go_on(segment) else {
            break;
        };
        ahead = next;
        reader.consume(&mut ahead, segment, end);
    }
    *lines = ahead;
    reader.job.distribution = kept(&mut reader.distribution);
    Some(reader.job)
}

/// What was gathered, in no more memory than it takes: records are kept, and their number decides how much is touched.
fn kept<A: Array>(gathered: &mut SmallVec<A>) -> Vec<A::Item> {
    let mut kept = Vec::with_capacity(gathered.len());
    kept.extend(gathered.drain(..));
    kept
}

/// The state while a section is read.
struct Reader<'t> {
    log: &'t Log<'t>,
    job: FioJob<'t>,
    /// The job's latency distribution so far.
    distribution: SmallVec<[LatencyBucket; BUCKETS]>,
    /// Whether a line behind the directions was seen; a direction after it is another section's.
    tail: bool,
    /// Whose percentiles the rows that follow are.
    title: Option<Title<'t>>,
}

impl<'t> Reader<'t> {
    /// The text from the start of `segment` to the end of the log.
    fn rest_of(&self, segment: Segment<'_>) -> &'t str {
        &self.log.text()[segment.span.start as usize..]
    }

    /// Reads the first line of a section; gives what follows it.
    fn start(&mut self, segment: Segment<'t>) -> Option<&'t str> {
        if let Some(rest) = self.head(segment) {
            return Some(rest);
        }
        let rest = self.rest_of(segment);
        let inside = lex::skip_margin(rest);
        if let Some(rest) = self.line(inside) {
            return Some(rest);
        }
        // a direction line that was grepped with something before it
        let start = direction::grepped(segment.text)?;
        let prefix =
            lex::skip_margin(&segment.text[..start]).trim_end_matches([':', '-', ' ', '\t']);
        let rest = self.line(&rest[start..])?;
        if let Some(line) = self
            .job
            .parts
            .last_mut()
            .and_then(|part| part.line.as_mut())
        {
            line.prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
        }
        Some(rest)
    }

    /// Reads a further line of the section; `None` where the section has ended.
    fn go_on(&mut self, segment: Segment<'t>) -> Option<&'t str> {
        // a head is none of the lines below, whatever its name: it has a parenthesis where they have figures
        self.line(lex::skip_margin(self.rest_of(segment)))
    }

    /// Takes the physical lines up to `rest`, of which `segment` is the first and was taken already.
    fn consume(&mut self, lines: &mut Segments<'t>, segment: Segment<'t>, rest: &str) {
        let end = (self.log.text().len() - rest.len()) as u32;
        let mut last = segment;
        while last.next < end {
            match lines.next() {
                Some(segment) => last = segment,
                None => break,
            }
        }
        self.job.span = self.job.span.cover(last.span);
    }

    fn head(&mut self, segment: Segment<'t>) -> Option<&'t str> {
        let at = head::find(segment.text)?;
        let (rest, head) = head::read(self.log, self.rest_of(segment), at).ok()?;
        if head.pid.is_none() {
            self.job.problems.push(Diagnostic::warning(
                Code::INCOMPLETE,
                Some(head.span),
                "expected err= and pid= behind the group of a job's head, found less",
            ));
        }
        self.job.head = Some(head);
        Some(rest)
    }

    /// Reads a line by its first byte; `None` where it belongs to no section, or to another one.
    fn line(&mut self, input: &'t str) -> Option<&'t str> {
        let log = self.log;
        match input.as_bytes().first()? {
            b'r' | b'w' | b't' | b'm' => self.direction(input),
            b'0'..=b'9' => {
                let title = self.title?;
                let text = self.latency(&title);
                let unit = text.percentiles?;
                let (rest, items) = latency::row(log, input).ok()?;
                for (p, figure) in items {
                    text.take_percentile(unit, p, figure);
                }
                Some(rest)
            }
            b's' | b'c' | b'l' | b'h' => self.latency_line(input).or_else(|| self.tail_line(input)),
            b'b' | b'i' => self.samples(input).or_else(|| self.tail_line(input)),
            b'D' => {
                let (rest, text) = head::description(log, input).ok()?;
                self.job.description = Some(text);
                Some(rest)
            }
            b'I' | b'e' | b'f' => self.tail_line(input),
            _ => None,
        }
    }

    /// Reads the line at `offset` where it is as fio prints it, and gives the offset of its line feed.
    fn quick(&mut self, offset: u32) -> Option<u32> {
        let mut cursor = Cursor::new(self.log, offset as usize);
        cursor.blanks();
        match cursor.peek() {
            b'|' => {
                let title = self.title?;
                let text = match (title.priority, title.kind) {
                    (None, Kind::Clat) => &mut self.job.parts.last_mut()?.clat,
                    _ => self.latency(&title),
                };
                let (unit, latency) = (text.percentiles?, text.latency.as_mut()?);
                cursor.row(unit, &mut latency.percentiles)?;
            }
            b's' | b'c' | b'l' => self.quick_word(&mut cursor)?,
            b'b' | b'i' => match cursor.samples_or_issued()? {
                SamplesOrIssued::Samples(line) => self.take_samples(line)?,
                SamplesOrIssued::Issued(issued) => {
                    self.put(|job| &mut job.issued, issued)?;
                    self.job.looks.issued_rwts = true;
                }
            },
            b'r' | b'w' | b't' => {
                let line = cursor.direction()?;
                self.take_direction(line)?;
            }
            b'I' => {
                cursor.eat(b"IO depths    : ")?;
                self.quick_shares(&mut cursor, share::depth_range, |job| &mut job.depths)?;
            }
            _ => return None,
        }
        Some(cursor.at() as u32)
    }

    /// Reads the rest of a line that starts with `s`, `c` or `l`.
    fn quick_word(&mut self, cursor: &mut Cursor<'t>) -> Option<()> {
        match cursor.word()? {
            Word::Latency(kind, unit) => {
                let line = cursor.latency(unit)?;
                self.take_latency(kind, None, None, line)
            }
            Word::Percentiles(kind, unit) => {
                cursor.line_feed()?;
                self.take_percentiles(Title {
                    kind,
                    priority: None,
                    share: None,
                    percentiles: true,
                    unit,
                })
            }
            Word::Distribution(unit) => {
                self.take_distribution(unit, |take| cursor.shares(true, take))
            }
            Word::Submit => self.quick_shares(cursor, share::call_range, |job| &mut job.submit),
            Word::Complete => self.quick_shares(cursor, share::call_range, |job| &mut job.complete),
            Word::Cpu => {
                let line = cursor.cpu()?;
                self.put(|job| &mut job.cpu, line)
            }
            Word::Target => {
                let line = cursor.target()?;
                self.put(|job| &mut job.target, line)
            }
        }
    }

    fn quick_shares(
        &mut self,
        cursor: &mut Cursor<'t>,
        range: impl Fn(&Share<'_>) -> (u64, Option<u64>),
        place: impl for<'j> Fn(&'j mut FioJob<'t>) -> &'j mut Option<Vec<CountBucket>>,
    ) -> Option<()> {
        if place(&mut self.job).is_some() {
            return None;
        }
        let mut buckets: SmallVec<[CountBucket; COUNTS]> = SmallVec::new();
        cursor.shares(false, |share| {
            if let Some(bucket) = share::count(share, &range) {
                buckets.push(bucket);
            }
            Some(())
        })?;
        self.put(place, kept(&mut buckets))
    }

    /// Takes a line of the tail, unless it is another section's.
    fn put<T>(
        &mut self,
        place: impl for<'j> Fn(&'j mut FioJob<'t>) -> &'j mut Option<T>,
        value: T,
    ) -> Option<()> {
        if !tail::put(place(&mut self.job), value) {
            return None;
        }
        self.tail = true;
        self.title = None;
        Some(())
    }

    fn direction(&mut self, input: &'t str) -> Option<&'t str> {
        let (rest, line) = direction::line(self.log, input).ok()?;
        self.take_direction(line)?;
        Some(rest)
    }

    /// Takes a direction line, unless it is another section's.
    fn take_direction(&mut self, line: DirectionLine<'t>) -> Option<()> {
        let had = self
            .job
            .parts
            .iter()
            .any(|part| part.direction() == Some(line.direction));
        let loose = self.job.parts.iter().any(|part| part.line.is_none());
        // no version prints both forms
        let lines = self.job.parts.iter().filter_map(|part| part.line.as_ref());
        let mixed = lines.into_iter().any(|other| other.legacy != line.legacy);
        if had || loose || mixed || self.tail {
            return None;
        }
        self.job.looks.legacy |= line.legacy;
        self.job.looks.modern |= !line.legacy;
        self.job.looks.zone_resets |= line.zone_resets;
        if line.runtime.is_none() || line.io.first.is_none() {
            self.job.problems.push(Diagnostic::warning(
                Code::INCOMPLETE,
                Some(line.span),
                "expected bandwidth, bytes and run time in a direction line, found less; what is whole was kept",
            ));
        }
        // parts are large, and most sections have one or two
        self.job.parts.reserve_exact(1);
        self.job.parts.push(Part {
            line: Some(line),
            ..Part::default()
        });
        self.title = None;
        Some(())
    }

    /// The part that lines belong to which stand below a direction line.
    fn part(&mut self) -> &mut Part<'t> {
        if self.job.parts.is_empty() {
            self.job.parts.push(Part::default());
        }
        self.job.parts.last_mut().expect("one was just put there")
    }

    /// Where lines of `title` belong.
    fn latency(&mut self, title: &Title<'t>) -> &mut LatencyText<'t> {
        self.place(title.kind, title.priority, title.share)
    }

    /// Where lines of one latency belong.
    fn place(
        &mut self,
        kind: Kind,
        priority: Option<&'t str>,
        share: Option<Figure<'t>>,
    ) -> &mut LatencyText<'t> {
        if kind == Kind::Sync {
            return &mut self.job.sync;
        }
        let part = self.part();
        if let Some(name) = priority {
            let same = |p: &PriorityText<'t>| p.name == name && p.kind == kind;
            let at = part.priorities.iter().position(same).unwrap_or_else(|| {
                part.priorities.push(PriorityText {
                    name,
                    kind,
                    share: None,
                    text: LatencyText::default(),
                });
                part.priorities.len() - 1
            });
            let priority = &mut part.priorities[at];
            priority.share = priority.share.or(share);
            return &mut priority.text;
        }
        match kind {
            Kind::Slat => &mut part.slat,
            Kind::Clat => &mut part.clat,
            Kind::Lat | Kind::Sync => &mut part.lat,
        }
    }

    fn latency_line(&mut self, input: &'t str) -> Option<&'t str> {
        let (rest, title) = latency::title(self.log, input).ok()?;
        if title.priority.is_some() && self.part().priorities.len() >= PRIORITIES {
            return None;
        }
        if title.percentiles {
            self.take_percentiles(title)?;
            return Some(rest);
        }
        if let Ok((rest, line)) = latency::line(self.log, title.unit, rest) {
            self.take_latency(title.kind, title.priority, title.share, line)?;
            return Some(rest);
        }
        let (rest, shares) = tail::shares(self.log, rest).ok()?;
        if title.kind != Kind::Lat || title.priority.is_some() {
            return None;
        }
        self.take_distribution(title.unit, |take| shares.iter().try_for_each(take))?;
        Some(rest)
    }

    /// Takes the title of percentiles; a second list of the same kind is another section's.
    fn take_percentiles(&mut self, title: Title<'t>) -> Option<()> {
        self.latency(&title).take_title(title.unit)?;
        self.title = Some(title);
        self.job.looks.nanoseconds |= title.unit == TimeUnit::Nsec;
        Some(())
    }

    /// Takes a latency line, unless it is another section's.
    fn take_latency(
        &mut self,
        kind: Kind,
        priority: Option<&'t str>,
        share: Option<Figure<'t>>,
        line: LatencyLine<'t>,
    ) -> Option<()> {
        let unit = line.unit;
        self.place(kind, priority, share).take_line(line)?;
        self.title = None;
        self.job.looks.nanoseconds |= unit == TimeUnit::Nsec;
        self.tail |= kind == Kind::Sync;
        Some(())
    }

    /// Takes a line of the distribution; a share of a label that is there already is another section's.
    fn take_distribution(
        &mut self,
        unit: TimeUnit,
        shares: impl FnOnce(&mut dyn FnMut(&Share<'t>) -> Option<()>) -> Option<()>,
    ) -> Option<()> {
        let buckets = &mut self.distribution;
        let had = buckets.len();
        let done = shares(&mut |share| {
            let Some(bucket) = share::latency(unit, share) else {
                return Some(());
            };
            let ends = |bucket: &LatencyBucket| (bucket.ge_ns, bucket.lt_ns);
            let known = &buckets[..had];
            if known.iter().any(|known| ends(known) == ends(&bucket)) {
                return None;
            }
            buckets.push(bucket);
            Some(())
        });
        if done.is_none() {
            buckets.truncate(had);
            return None;
        }
        self.job.looks.nanoseconds |= unit == TimeUnit::Nsec;
        self.tail = true;
        Some(())
    }

    fn samples(&mut self, input: &'t str) -> Option<&'t str> {
        let (rest, line) = direction::samples(self.log, input).ok()?;
        self.take_samples(line)?;
        Some(rest)
    }

    /// Takes a sample line, unless it is another section's.
    fn take_samples(&mut self, line: SampleLine<'t>) -> Option<()> {
        let counted = line.count.is_some() || line.unit.is_none();
        let part = self.part();
        let place = if line.unit.is_some() {
            &mut part.bw
        } else {
            &mut part.iops
        };
        if place.is_some() {
            return None;
        }
        *place = Some(line);
        self.job.looks.nanoseconds |= counted;
        self.job.looks.no_sample_count |= !counted;
        Some(())
    }

    fn tail_line(&mut self, input: &'t str) -> Option<&'t str> {
        let rest = tail::read(self.log, input, &mut self.job)?;
        self.tail = true;
        self.title = None;
        Some(rest)
    }
}
