//! fio's terse lines, versions 0 (without a number) to 5.
//!
//! ```text
//! line   = [ version ";" [ fio ";" ] ] name ";" group ";" error ";" side… cpu depths latencies disk… [ errors ] [ ";" description ]
//! side   = io ";" bw ";" [ iops ";" ] runtime ";" slat{4} clat{4} [ percentile{20} ] [ lat{4} ] bw{5} [ samples ";" iops{5} ]
//! cpu    = user "%;" system "%;" switches ";" major ";" minor ";"
//! depths = 7 percents        latencies = 22 percents, 10 of usec and 12 of msec
//! disk   = name ";" 7 numbers ";" percent
//! ```
//!
//! | version | side | sides |
//! |---|---|---|
//! | none, to 1.41 | 16 fields | read, write |
//! | 2, of 1.x | 20 | read, write |
//! | 2, of 2.x; 3 | 41 | read, write (2: and trim) |
//! | 4 | 41 | read, write, trim |
//! | 5 | 47 | read, write, trim |
//!
//! With `unified_rw_reporting` there is one side, the sum, or one more than usual. Names and descriptions may hold
//! semicolons. So a line is read from its middle: 29 percents in a row with three whole numbers and two percents before
//! them occur once, sides lie in front of them, and what is left in front of those is the name.

use super::fio_json::is_zero;
use crate::diagnostic::{Code, Diagnostic};
use crate::record::Direction;
use crate::source::{Log, Segment, Segments, Span};
use smallvec::SmallVec;

/// Lines of one report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioTerse<'t> {
    /// Whole lines.
    pub span: Span,
    /// One for each line with figures.
    pub rows: Vec<Row<'t>>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// One line: a job, or the jobs that report together.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'t> {
    /// The line.
    pub span: Span,
    /// The version of the format; 0 where the line has none.
    pub format: u8,
    /// The version of fio, from format 3 on.
    pub fio: Option<&'t str>,
    /// The name of the job.
    pub name: &'t str,
    /// The number of the group.
    pub group: &'t str,
    /// The errno.
    pub error: &'t str,
    /// The directions in order, those without bytes too.
    pub sides: Vec<(Direction, Side<'t>)>,
    /// Percent in user mode and in the kernel, without the sign; context switches, major and minor faults.
    pub cpu: Option<[&'t str; 5]>,
    /// How many errors there were and the first of them, with `continue_on_error`.
    pub errors: Option<[&'t str; 2]>,
}

/// One direction of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side<'t> {
    /// The form it has.
    pub form: Form,
    /// KiB, cut.
    pub io: &'t str,
    /// KiB per second, or bytes per millisecond up to 2.0.7; cut.
    pub bw: &'t str,
    /// I/Os per second, cut.
    pub iops: Option<&'t str>,
    /// Milliseconds.
    pub runtime: &'t str,
    /// Minimum, maximum, mean and deviation in microseconds.
    pub slat: [&'t str; 4],
    /// The same.
    pub clat: [&'t str; 4],
    /// The same; from 1.41.4 on.
    pub lat: Option<[&'t str; 4]>,
    /// `percent%=usec`, the unused ones `0%=0`.
    pub percentiles: [&'t str; 20],
    /// Minimum, maximum, share in percent, mean and deviation of samples in KiB per second.
    pub bw_samples: [&'t str; 5],
    /// How many samples; format 5.
    pub bw_count: Option<&'t str>,
    /// Minimum, maximum, mean, deviation and count of samples; format 5.
    pub iops_samples: Option<[&'t str; 5]>,
}

impl Side<'_> {
    /// Whether anything was moved.
    pub fn moved_bytes(&self) -> bool {
        [Some(self.io), Some(self.bw), self.iops]
            .into_iter()
            .any(|figure| !is_zero(figure))
    }
}

/// How many fields a side has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// 16: neither IOPS nor percentiles nor total latency.
    Oldest,
    /// 20: with total latency.
    Old,
    /// 41: with IOPS and percentiles.
    Plain,
    /// 47: with counts of samples.
    Long,
}

impl Form {
    fn fields(self) -> usize {
        match self {
            Form::Oldest => 16,
            Form::Old => 20,
            Form::Plain => 41,
            Form::Long => 47,
        }
    }
}

/// Depths and latency buckets: percents in a row.
const PERCENTS: usize = 29;
/// Fields from the processor's to the last latency bucket.
const TAIL: usize = 5 + PERCENTS;
/// The shortest line there is: two sides of 16 fields.
const LEAST: usize = 3 + 2 * 16 + TAIL;

/// The terse lines that start on the next line, if some do; `lines` then stands behind them.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<FioTerse<'t>> {
    let first = lines.clone().next()?;
    // nearly every line leaves here
    if matches!(kind(unquoted(first.text)), Kind::More | Kind::No) {
        return None;
    }
    let mut block = FioTerse {
        span: first.span,
        ..FioTerse::default()
    };
    let mut ahead = lines.clone();
    let mut taken = false;
    while let Some(line) = ahead.next() {
        let text = unquoted(line.text);
        match kind(text) {
            Kind::Header => {}
            Kind::Row(format) => match row(log, text, format, &mut block.problems) {
                Outcome::Row(row) => block.rows.push(*row),
                Outcome::Broken => {}
                Outcome::No => break,
            },
            // the description, or the disks of a client, on a line of its own
            Kind::More if taken => {}
            Kind::More | Kind::No => break,
        }
        take(&mut block, line);
        taken = true;
        *lines = ahead.clone();
    }
    taken.then_some(block)
}

fn take(block: &mut FioTerse<'_>, line: Segment<'_>) {
    block.span = Span::new(block.span.start, line.next);
}

/// The line without quote marks and blanks around it.
fn unquoted(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '>', '|', '\u{a0}'])
        .trim_end()
}

enum Kind {
    Header,
    Row(u8),
    More,
    No,
}

/// What a line may be, by its first bytes and its length.
fn kind(text: &str) -> Kind {
    match text.as_bytes() {
        [format @ b'2'..=b'5', b';', ..] => Kind::Row(format - b'0'),
        [b';', _, ..] => Kind::More,
        [b't', ..] if text.starts_with("terse_version_") => Kind::Header,
        bytes if bytes.len() > 2 * LEAST && is_wide(bytes) => Kind::Row(0),
        _ => Kind::No,
    }
}

/// Whether there are as many fields as the shortest line has.
fn is_wide(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b';', bytes).nth(LEAST - 2).is_some()
}

enum Outcome<'t> {
    Row(Box<Row<'t>>),
    /// A terse line without figures that can be trusted.
    Broken,
    No,
}

type Fields<'t> = SmallVec<[&'t str; 256]>;

fn row<'t>(
    log: &'t Log<'_>,
    text: &'t str,
    format: u8,
    problems: &mut Vec<Diagnostic>,
) -> Outcome<'t> {
    let bytes = text.as_bytes();
    let mut fields = Fields::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b';', bytes) {
        fields.push(&text[start..end]);
        start = end + 1;
    }
    fields.push(&text[start..]);
    if let Some(row) = whole_row(log, text, &fields, format) {
        return Outcome::Row(Box::new(row));
    }
    let is_terse = format >= 3 && fields.len() > 5 && fio_version(fields[1]);
    if !is_terse {
        return Outcome::No;
    }
    let end = log.span_of(&text[text.len()..]);
    match cut_row(log, text, &fields, format) {
        Some(row) => {
            problems.push(Diagnostic::warning(
                Code::INCOMPLETE,
                Some(end),
                format!(
                    "a terse line of version {format} ends here, at field {}; the directions that are whole were read",
                    fields.len()
                ),
            ));
            Outcome::Row(Box::new(row))
        }
        None => {
            problems.push(Diagnostic::warning(
                Code::INCOMPLETE,
                Some(end),
                format!(
                    "expected a terse line of version {format}, found {} fields that do not end as one; nothing was read",
                    fields.len()
                ),
            ));
            Outcome::Broken
        }
    }
}

/// `fio-3.33`, `fio-replay-0.1.0`, or `2.0` in the first versions that had the field.
fn fio_version(field: &str) -> bool {
    let number = field.strip_prefix("fio-").unwrap_or(field);
    let number = number.strip_prefix("replay-").unwrap_or(number);
    number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.')
}

fn whole_row<'t>(
    log: &'t Log<'_>,
    text: &'t str,
    fields: &[&'t str],
    format: u8,
) -> Option<Row<'t>> {
    let tail = tail(fields)?;
    let forms: &[Form] = match format {
        0 => &[Form::Oldest, Form::Old],
        2 => &[Form::Plain, Form::Old],
        3 | 4 => &[Form::Plain],
        _ => &[Form::Long],
    };
    let front = usize::from(format > 0) + usize::from(format > 2);
    // one more side than usual, or the sum alone
    let usual = if format < 4 { 2 } else { 3 };
    for &form in forms {
        let room = tail.checked_sub(front + 3);
        let most = room.map_or(0, |room| room / form.fields()).min(usual + 1);
        let holds = |sides: &usize| {
            let start = tail - sides * form.fields();
            is_number(fields[start - 1])
                && is_number(fields[start - 2])
                && (0..*sides).all(|side| fits(&fields[start + side * form.fields()..], form))
        };
        let Some(sides) = (1..=most).rev().find(holds) else {
            continue;
        };
        let start = tail - sides * form.fields();
        let directions: &[Direction] = match (sides, format) {
            (1, _) => &[Direction::Mixed],
            (3, 3) => &[Direction::Read, Direction::Write, Direction::Mixed],
            _ => &[
                Direction::Read,
                Direction::Write,
                Direction::Trim,
                Direction::Mixed,
            ],
        };
        let name = between(text, fields[front], fields[start - 3]);
        let (system, user) = (fields[tail + 1], fields[tail]);
        return Some(Row {
            span: log.span_of(text),
            format,
            fio: (format > 2).then(|| fields[1]),
            name,
            group: fields[start - 2],
            error: fields[start - 1],
            sides: directions
                .iter()
                .copied()
                .zip(fields[start..tail].chunks(form.fields()))
                .map(|(direction, fields)| (direction, side(fields, form)))
                .collect(),
            cpu: Some([
                number_of_percent(user),
                number_of_percent(system),
                fields[tail + 2],
                fields[tail + 3],
                fields[tail + 4],
            ]),
            errors: errors(&fields[tail + TAIL..]),
        });
    }
    None
}

/// A line that ends too early: sides that are whole, of which there must be two, for one alone may be the sum.
fn cut_row<'t>(log: &'t Log<'_>, text: &'t str, fields: &[&'t str], format: u8) -> Option<Row<'t>> {
    let form = if format == 5 { Form::Long } else { Form::Plain };
    // the last field may be cut itself
    let known = fields.len() - 1;
    let start = 5;
    let most = known.checked_sub(start)? / form.fields();
    let sides = (0..most.min(if format == 3 { 2 } else { 3 }))
        .take_while(|side| fits(&fields[start + side * form.fields()..], form))
        .count();
    if sides < 2 || !is_number(fields[3]) || !is_number(fields[4]) {
        return None;
    }
    let directions = [Direction::Read, Direction::Write, Direction::Trim];
    Some(Row {
        span: log.span_of(text),
        format,
        fio: Some(fields[1]),
        name: fields[2],
        group: fields[3],
        error: fields[4],
        sides: directions
            .into_iter()
            .zip(fields[start..].chunks(form.fields()).take(sides))
            .map(|(direction, fields)| (direction, side(fields, form)))
            .collect(),
        cpu: None,
        errors: None,
    })
}

/// Where the processor's fields start.
fn tail(fields: &[&str]) -> Option<usize> {
    let mut run = 0;
    for at in (0..fields.len()).rev() {
        if is_percent(fields[at]) {
            run += 1;
            continue;
        }
        if run >= PERCENTS
            && at >= 4
            && fields[at - 2..=at].iter().all(|field| is_number(field))
            && is_percent(fields[at - 3])
            && is_percent(fields[at - 4])
        {
            return Some(at - 4);
        }
        run = 0;
    }
    None
}

/// Whether fields look like a side: percents and percentiles stand where they should.
fn fits(fields: &[&str], form: Form) -> bool {
    let share = form.fields() - if form == Form::Long { 9 } else { 3 };
    let percentiles = match form {
        Form::Oldest | Form::Old => &[],
        Form::Plain | Form::Long => &fields[12..32],
    };
    is_number(fields[0])
        && is_percent(fields[share])
        && percentiles.iter().all(|field| field.contains("%="))
}

fn is_number(field: &str) -> bool {
    !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit())
}

/// `0.02%`, `-nan%`.
fn is_percent(field: &str) -> bool {
    field.len() > 1 && field.ends_with('%') && !field.contains('=')
}

fn number_of_percent(field: &str) -> &str {
    field.strip_suffix('%').unwrap_or(field)
}

/// The slice from the start of one field to the end of another.
fn between<'t>(text: &'t str, first: &str, last: &str) -> &'t str {
    let offset = |field: &str| field.as_ptr() as usize - text.as_ptr() as usize;
    &text[offset(first)..offset(last) + last.len()]
}

fn side<'t>(fields: &[&'t str], form: Form) -> Side<'t> {
    let mut fields = fields.iter().copied();
    let mut next = || fields.next().unwrap_or_default();
    let new = matches!(form, Form::Plain | Form::Long);
    let io = next();
    let bw = next();
    let iops = new.then(&mut next);
    let runtime = next();
    let slat = std::array::from_fn(|_| next());
    let clat = std::array::from_fn(|_| next());
    let percentiles = std::array::from_fn(|_| if new { next() } else { "" });
    let lat = (form != Form::Oldest).then(|| std::array::from_fn(|_| next()));
    let mut bw_samples: [&str; 5] = std::array::from_fn(|_| next());
    bw_samples[2] = number_of_percent(bw_samples[2]);
    let long = form == Form::Long;
    Side {
        form,
        io,
        bw,
        iops,
        runtime,
        slat,
        clat,
        lat,
        percentiles,
        bw_samples,
        bw_count: long.then(&mut next),
        iops_samples: long.then(|| std::array::from_fn(|_| next())),
    }
}

/// Behind the latencies stand disks of nine fields, and behind those perhaps the count of errors and the first one.
fn errors<'t>(mut rest: &[&'t str]) -> Option<[&'t str; 2]> {
    while rest.len() >= 9 && rest[1..8].iter().all(|field| is_number(field)) && is_percent(rest[8])
    {
        rest = &rest[9..];
    }
    match rest {
        [total, first, ..] if is_number(total) && is_number(first) => Some([total, first]),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
