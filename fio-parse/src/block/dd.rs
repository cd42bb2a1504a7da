//! dd's report: the records lines, the byte line, progress, status and error lines of every dd.
//!
//! ```text
//! report   = noise* (records-in | records-out) [records-out] [truncated] [transfer] | transfer
//! noise    = progress transfers, `load: … cmd: dd …`, `dd: …` error lines, dcfldd's count of blocks
//! records  = words digits "+" digits words                        16+0 records in, 记录了16+0 的读入
//! transfer = words bytes words ["(" size ["," size] ")"] words "," seconds "s" "," rate      (GNU and its kin)
//!          | bytes "bytes transferred in" seconds "secs" "(" rate "bytes/sec" ")"            (BSD, old GNU)
//! ```
//!
//! The words of a report are translated in dozens of languages, so a line is told by its numbers and separators and
//! not by its words; see [`line`] for the grammar of one line. This module puts lines together to one report: what
//! is the result, what was progress, and what went wrong. A transfer line that is followed by records, by an error
//! or, on the same physical line, by another transfer line is progress; otherwise it is a result.
//!
//! Figures stay undecoded; `assemble::dd` reads them when the kind of dd is known.

pub mod line;

use crate::diagnostic::{Code, Diagnostic};
use crate::figure::Figure;
use crate::source::{Log, Segment, Segments, Span};
use line::{Complaint, Form, Records, Transfer, Way};
use smallvec::SmallVec;

/// One report of a dd.
#[derive(Clone, Debug, PartialEq)]
pub struct DdBlock<'t> {
    /// The whole lines it stands on.
    pub span: Span,
    /// `10+0 records in`: the figure `10+0`.
    pub records_in: Option<Figure<'t>>,
    /// `10+0 records out`.
    pub records_out: Option<Figure<'t>>,
    /// `2 truncated records`: the whole phrase.
    pub truncated: Option<Figure<'t>>,
    /// The byte line.
    pub transfer: Option<Transfer<'t>>,
    /// The last progress line in front of the result; the result itself where `unfinished`.
    pub progress: Option<Transfer<'t>>,
    /// Lines in which dd complains: `dd: error writing 'x': No space left on device`, without what stood in front.
    pub errors: SmallVec<[Figure<'t>; 1]>,
    /// Lines in which dd warns: `dd: warning: partial read (65536 bytes); …`.
    pub cautions: SmallVec<[Figure<'t>; 1]>,
    /// A report that a running dd printed when asked to (SIGINFO, Ctrl-T): a `load: …` line stands before it.
    pub status: bool,
    /// Only progress lines are there: the end was cut off or never came.
    pub unfinished: bool,
    /// dcfldd's `N blocks (NMb) written.` stands before the records.
    pub dcfldd: bool,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// How many lines are looked at to tell progress with fractions of a second from results.
const LOOK_AHEAD: u32 = 16;

/// Reads the report that starts at the cursor. `None`, cursor untouched, where the line starts none.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<DdBlock<'t>> {
    let first = lines.clone().next()?;
    // nearly every line of a long log leaves here
    if !line::is_candidate(first.text) {
        return None;
    }
    let mut reader = Reader {
        log,
        ahead: lines.clone(),
        block: DdBlock::empty(first.span),
    };
    reader.report()?;
    let end = reader.block.span.end;
    // move behind the last line that was taken
    let mut behind = lines.clone();
    while behind
        .next()
        .is_some_and(|segment| segment.span.start < end)
    {
        *lines = behind.clone();
    }
    Some(reader.block)
}

impl DdBlock<'_> {
    fn empty(at: Span) -> Self {
        Self {
            span: Span::new(at.start, at.start),
            records_in: None,
            records_out: None,
            truncated: None,
            transfer: None,
            progress: None,
            errors: SmallVec::new(),
            cautions: SmallVec::new(),
            status: false,
            unfinished: false,
            dcfldd: false,
            problems: Vec::new(),
        }
    }
}

/// What one line is to a report.
enum Kind<'t> {
    Records(Records<'t>),
    /// The transfers of one segment, in order; with lost carriage returns there are several.
    Transfers(SmallVec<[Transfer<'t>; 1]>),
    Complaint(Complaint<'t>),
    Blank,
    Other,
}

struct Reader<'l, 't> {
    log: &'t Log<'l>,
    /// Behind the last line that was taken.
    ahead: Segments<'t>,
    block: DdBlock<'t>,
}

impl<'t> Reader<'_, 't> {
    fn kind(&self, segment: Segment<'t>) -> Kind<'t> {
        let text = segment.text;
        if line::is_blank(text) {
            return Kind::Blank;
        }
        if let Some(records) = line::records(self.log, text) {
            return Kind::Records(records);
        }
        let transfers = line::transfers(self.log, text);
        if !transfers.is_empty() {
            return Kind::Transfers(transfers);
        }
        line::complaint(text).map_or(Kind::Other, Kind::Complaint)
    }

    fn figure(&self, text: &'t str) -> Figure<'t> {
        Figure {
            text,
            span: self.log.span_of(text),
        }
    }

    /// The next line that is not blank, over one blank line at most, what it is, and the cursor behind it.
    fn peek(&self) -> Option<(Segment<'t>, Kind<'t>, Segments<'t>)> {
        let mut ahead = self.ahead.clone();
        let mut segment = ahead.next()?;
        let mut kind = self.kind(segment);
        if matches!(kind, Kind::Blank) {
            segment = ahead.next()?;
            kind = self.kind(segment);
        }
        Some((segment, kind, ahead))
    }

    /// Takes everything up to the end of `segment` into the block.
    fn take(&mut self, segment: Segment<'t>, ahead: Segments<'t>) {
        self.block.span.end = segment.span.end;
        self.ahead = ahead;
    }

    /// Reads a whole report, or `None` where there is none.
    fn report(&mut self) -> Option<()> {
        while let Some((segment, kind, ahead)) = self.peek() {
            match kind {
                Kind::Complaint(complaint) => {
                    self.complain(complaint);
                    self.take(segment, ahead);
                }
                Kind::Transfers(transfers) => {
                    self.take(segment, ahead);
                    return self.transfers(segment, transfers);
                }
                Kind::Records(records) if self.is_sure(records, &ahead) => {
                    self.take(segment, ahead);
                    self.records(records);
                    return Some(());
                }
                _ => break,
            }
        }
        // a run that failed before it moved anything
        (!self.block.errors.is_empty()).then_some(())
    }

    /// Whether a line with `N+N` is one of records: by its English words, or because another or a transfer follows.
    fn is_sure(&self, records: Records<'t>, ahead: &Segments<'t>) -> bool {
        records.english
            || ahead
                .clone()
                .find(|next| !line::is_blank(next.text))
                .is_some_and(|next| {
                    matches!(self.kind(next), Kind::Records(_) | Kind::Transfers(_))
                })
    }

    fn complain(&mut self, complaint: Complaint<'t>) {
        match complaint {
            Complaint::Status => self.block.status = true,
            Complaint::Dcfldd => self.block.dcfldd = true,
            Complaint::Error(text) => self.block.errors.push(self.figure(text)),
            Complaint::Caution(text) => self.block.cautions.push(self.figure(text)),
        }
    }

    /// A transfer line that no records came before: a result, or progress if more of the same run follows.
    fn transfers(
        &mut self,
        mut at: Segment<'t>,
        mut shown: SmallVec<[Transfer<'t>; 1]>,
    ) -> Option<()> {
        let mut count = shown.len() as u32;
        let mut last = shown.pop()?;
        // the result if what follows turns out to be other runs
        let mut fallback: Option<(Transfer<'t>, Segment<'t>, Segments<'t>)> = None;
        let mut budget = LOOK_AHEAD;
        loop {
            let Some((segment, kind, ahead)) = self.peek() else {
                break;
            };
            match kind {
                Kind::Transfers(mut next) => {
                    let overwritten = !self
                        .log
                        .get(Span::new(at.span.end, segment.span.start))
                        .contains('\n');
                    let grows = last.grows_to(&next[0]);
                    if overwritten || grows && last.has_whole_seconds() {
                        count += next.len() as u32;
                    } else if grows && budget > 0 {
                        budget -= 1;
                        fallback.get_or_insert_with(|| (last.clone(), at, self.ahead.clone()));
                    } else {
                        break;
                    }
                    let Some(newest) = next.pop() else { break };
                    last = newest;
                    at = segment;
                    self.take(segment, ahead);
                }
                Kind::Records(records) if self.is_sure(records, &ahead) => {
                    self.block.progress = Some(last);
                    self.take(segment, ahead);
                    self.records(records);
                    return Some(());
                }
                Kind::Complaint(complaint) if self.leads_to_records(ahead.clone()) => {
                    self.complain(complaint);
                    self.take(segment, ahead);
                }
                _ => break,
            }
        }
        if let Some((first, segment, ahead)) = fallback {
            self.take(segment, ahead);
            self.block
                .errors
                .retain(|error| error.span.end <= segment.span.end);
            last = first;
        }
        self.block.unfinished = last.form != Form::Copied && last.form != Form::Moved
            || count > 1 && last.has_whole_seconds();
        self.block.transfer = Some(last);
        Some(())
    }

    /// Whether records follow, over a few complaints.
    fn leads_to_records(&self, ahead: Segments<'t>) -> bool {
        for segment in ahead.take(4) {
            match self.kind(segment) {
                Kind::Records(_) => return true,
                Kind::Complaint(_) | Kind::Blank => {}
                Kind::Transfers(_) | Kind::Other => return false,
            }
        }
        false
    }

    /// Reads on behind the first records line.
    fn records(&mut self, first: Records<'t>) {
        if first.way == Way::Out {
            self.block.records_out = Some(first.figure);
        } else {
            self.block.records_in = Some(first.figure);
            if let Some((segment, Kind::Records(second), ahead)) = self.peek()
                && second.way != Way::In
            {
                self.block.records_out = Some(second.figure);
                self.take(segment, ahead);
            }
        }
        let mut ahead = self.ahead.clone();
        if let Some(segment) = ahead.next()
            && let Some(english) = line::truncated(segment.text)
            && (english
                || ahead
                    .clone()
                    .next()
                    .is_some_and(|next| matches!(self.kind(next), Kind::Transfers(_))))
        {
            self.block.truncated = Some(self.figure(segment.text.trim()));
            self.take(segment, ahead);
        }
        match self.peek() {
            Some((segment, Kind::Transfers(mut transfers), ahead)) => {
                // several on one line: the progress of a later run follows, glued on
                self.block.transfer = Some(transfers.swap_remove(0));
                self.take(segment, ahead);
            }
            Some((segment, Kind::Other, ahead)) if line::looks_like_transfer(segment.text) => {
                match self.wrapped(segment, ahead) {
                    Some((end, transfer, behind)) => {
                        self.block.transfer = Some(transfer);
                        self.take(end, behind);
                    }
                    None => self.block.problems.push(Diagnostic::warning(
                        Code::UNREADABLE,
                        Some(segment.span),
                        "expected bytes, seconds and a rate as dd prints them, found a line that only starts so",
                    )),
                }
            }
            _ => {}
        }
    }

    /// A transfer line that a mailer broke in two.
    fn wrapped(
        &self,
        one: Segment<'t>,
        mut ahead: Segments<'t>,
    ) -> Option<(Segment<'t>, Transfer<'t>, Segments<'t>)> {
        let two = ahead.next()?;
        if one.text.len() + two.text.len() > 400 {
            return None;
        }
        let both = self.log.get(one.span.cover(two.span));
        let transfer = line::transfers(self.log, both).pop()?;
        Some((two, transfer, ahead))
    }
}
