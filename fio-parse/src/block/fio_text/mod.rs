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
//! ends at the next head, at a direction that it has already, and where no line of a section follows, up to a few
//! blank lines away. Lines of a section that has neither head nor direction are *loose*: they say something of the
//! section above them, if there is one.
//!
//! | module | lines |
//! |---|---|
//! | [`head`] | head, description |
//! | [`direction`] | direction lines, samples |
//! | [`latency`] | latency lines, percentiles |
//! | [`tail`] | all the rest |
//! | `quick` | all of these, where they are byte for byte as fio 3.x prints them |

pub mod direction;
pub mod head;
pub mod latency;
pub(super) mod quick;
pub mod tail;
#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic};
use crate::figure::Figure;
use crate::lex;
use crate::record::Direction;
use crate::source::{Log, Segment, Segments, Span};
use direction::{DirectionLine, SampleLine};
use head::Head;
use latency::{Kind, LatencyLine, Percentiles, TimeUnit, Title};
use tail::{CpuLine, ErrorsLine, Issued, Share, SteadyLine, TargetLine};

/// A job section, undecoded.
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
    /// Shares of the latency distribution.
    pub distribution: Vec<(TimeUnit, Share<'t>)>,
    /// Processor use.
    pub cpu: Option<CpuLine<'t>>,
    /// Shares of queue depths.
    pub depths: Vec<Share<'t>>,
    /// Shares of I/Os per submit call.
    pub submit: Vec<Share<'t>>,
    /// Shares of I/Os per completion call.
    pub complete: Vec<Share<'t>>,
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
    /// Smallest, largest, mean, deviation.
    pub line: Option<LatencyLine<'t>>,
    /// Percentiles.
    pub percentiles: Option<Percentiles<'t>>,
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

/// How many percentiles fio lists by default, and a few more.
const PERCENTILES: usize = 20;

/// Reads a job section where `lines` stands at one of its lines; otherwise leaves `lines` as it is.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<FioJob<'t>> {
    let mut ahead = lines.clone();
    let segment = ahead.next()?;
    let mut reader = Reader {
        log,
        job: FioJob {
            span: segment.span,
            ..FioJob::default()
        },
        tail: false,
        title: None,
    };
    let end = reader.start(segment)?;
    reader.consume(&mut ahead, segment, end);
    loop {
        if let Some(end) = reader.quick(ahead.offset()) {
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
    Some(reader.job)
}

/// The state while a section is read.
struct Reader<'t> {
    log: &'t Log<'t>,
    job: FioJob<'t>,
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
                let percentiles = text.percentiles.as_mut()?;
                let (rest, ()) = latency::row(log, input, &mut percentiles.items).ok()?;
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
        let log = self.log;
        let items = match self.title {
            Some(title) => {
                let percentiles = self.latency(&title).percentiles.as_mut();
                percentiles.map(|percentiles| &mut percentiles.items)
            }
            None => None,
        };
        let (line, end) = quick::line(log, offset as usize, items)?;
        match line {
            quick::Line::Row => {}
            quick::Line::Direction(line) => self.take_direction(line)?,
            quick::Line::Latency(title, line) => self.take_latency(&title, line)?,
            quick::Line::Percentiles(title) => self.take_percentiles(title)?,
            quick::Line::Distribution(title, shares) => self.take_distribution(&title, shares)?,
            quick::Line::Samples(line) => self.take_samples(line)?,
            tail => {
                let job = &mut self.job;
                let free = match tail {
                    quick::Line::Cpu(cpu) => tail::put(&mut job.cpu, cpu),
                    quick::Line::Depths(shares) => tail::put_shares(&mut job.depths, shares),
                    quick::Line::Submit(shares) => tail::put_shares(&mut job.submit, shares),
                    quick::Line::Complete(shares) => tail::put_shares(&mut job.complete, shares),
                    quick::Line::Target(target) => tail::put(&mut job.target, target),
                    quick::Line::Issued(issued) => {
                        let free = tail::put(&mut job.issued, issued);
                        job.looks.issued_rwts |= free;
                        free
                    }
                    _ => false,
                };
                if !free {
                    return None;
                }
                self.tail = true;
                self.title = None;
            }
        }
        Some(end as u32)
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
        if had || loose || self.tail {
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
        if title.kind == Kind::Sync {
            return &mut self.job.sync;
        }
        let part = self.part();
        if let Some(name) = title.priority {
            let same = |p: &PriorityText<'t>| p.name == name && p.kind == title.kind;
            let at = part.priorities.iter().position(same).unwrap_or_else(|| {
                part.priorities.push(PriorityText {
                    name,
                    kind: title.kind,
                    share: None,
                    text: LatencyText::default(),
                });
                part.priorities.len() - 1
            });
            let priority = &mut part.priorities[at];
            priority.share = priority.share.or(title.share);
            return &mut priority.text;
        }
        match title.kind {
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
            self.take_latency(&title, line)?;
            return Some(rest);
        }
        let (rest, shares) = tail::shares(self.log, rest).ok()?;
        self.take_distribution(&title, shares)?;
        Some(rest)
    }

    /// Takes the title of percentiles; a second list of the same kind is another section's.
    fn take_percentiles(&mut self, title: Title<'t>) -> Option<()> {
        let text = self.latency(&title);
        if text.percentiles.is_some() {
            return None;
        }
        text.percentiles = Some(Percentiles {
            unit: title.unit,
            items: Vec::with_capacity(PERCENTILES),
        });
        self.title = Some(title);
        self.job.looks.nanoseconds |= title.unit == TimeUnit::Nsec;
        Some(())
    }

    /// Takes a latency line, unless it is another section's.
    fn take_latency(&mut self, title: &Title<'t>, line: LatencyLine<'t>) -> Option<()> {
        let text = self.latency(title);
        if text.line.is_some() {
            return None;
        }
        text.line = Some(line);
        self.title = None;
        self.job.looks.nanoseconds |= title.unit == TimeUnit::Nsec;
        self.tail |= title.kind == Kind::Sync;
        Some(())
    }

    /// Takes a line of the distribution; a share of a label that is there already is another section's.
    fn take_distribution(&mut self, title: &Title<'t>, shares: Vec<Share<'t>>) -> Option<()> {
        if title.kind != Kind::Lat || title.priority.is_some() {
            return None;
        }
        let unit = title.unit;
        let had = |share: &Share<'t>| {
            self.job
                .distribution
                .iter()
                .any(|(u, s)| *u == unit && (s.at, s.more) == (share.at, share.more))
        };
        if shares.iter().any(had) {
            return None;
        }
        self.job
            .distribution
            .extend(shares.into_iter().map(|share| (unit, share)));
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
