//! dd's report: the records lines, the byte line, progress, status and error lines of every dd.
//!
//! ```text
//! report   = noise* (records-in | records-out) [records-out] [truncated] [transfer] | transfer
//! noise    = progress transfers, `load: … cmd: dd …`, `dd: …` error lines, dcfldd's count of blocks
//! records  = words digits "+" digits words                        16+0 records in, 记录了16+0 的读入
//! transfer = words bytes words ["(" size ["," size] ")"] words "," seconds "s" "," rate      (GNU and its kin)
//!          | bytes "bytes transferred in" seconds "secs" "(" rate "bytes/sec" ")"            (BSD, old GNU)
//!          | "time to transfer data was" seconds "secs," rate                        (sg_dd, in front of the records)
//! ```
//!
//! The words of a report are translated in dozens of languages, so a line is told by its numbers and separators and
//! not by its words; [`transfer`] and [`mod@line`] have the grammars. This module puts lines together to one report: what
//! is the result, what was progress, and what went wrong. A transfer line that is followed by records, by an error
//! or, on the same physical line, by another transfer line is progress; otherwise it is a result.
//!
//! Figures stay undecoded; `assemble::dd` reads them when the kind of dd is known.

pub mod line;
pub mod transfer;

use crate::diagnostic::{Code, Diagnostic};
use crate::figure::Figure;
use crate::source::{Log, Segment, Segments, Span};
use crate::workload::{Workload, command};
use line::{Complaint, Records, Way};
use smallvec::SmallVec;
use std::sync::Arc;
use transfer::{Form, Transfer};

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
    /// Somebody pressed Ctrl-C: the terminal shows `^C` in front of the records.
    pub stopped: bool,
    /// Its words are a translation, as only GNU's are.
    pub translated: bool,
    /// The command, where the report goes on in its line.
    pub command: Option<Arc<Workload>>,
    /// dcfldd's `N blocks (NMb) written.` stands before the records.
    pub dcfldd: bool,
    /// What stands in front of the byte line and says whose it is: `disk A` of `disk A: 1073741824 bytes …`.
    pub label: Option<Figure<'t>>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// How many lines are looked at to tell progress with fractions of a second from results.
const LOOK_AHEAD: u32 = 8;

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
    let mut block = reader.block;
    block.label = block
        .transfer
        .as_ref()
        .and_then(|transfer| label_in_front(log, transfer.bytes?.span.start));
    Some(block)
}

/// The longest label that may stand in front of a byte line.
const LABEL: usize = 80;

/// What stands in front of the figure at `start` on its line and names it: words with a colon behind them, or a cell of a row.
fn label_in_front<'t>(log: &'t Log<'_>, start: u32) -> Option<Figure<'t>> {
    let line = log.line_at(start);
    let before = &line[..start as usize - log.span_of(line).start as usize];
    if before.len() > LABEL {
        return None;
    }
    let before = line::unmarked(before).trim_end();
    let text = match before.rsplit_once('|') {
        Some((cells, "")) => cells.split('|').map(str::trim).find(|cell| is_name(cell)),
        Some(_) => None,
        None => before.strip_suffix(':').filter(|text| is_name(text)),
    }?;
    Some(Figure {
        text,
        span: log.span_of(text),
    })
}

/// Whether a text in front of a figure may be a name: neither the tool's own, nor a count of records or a time stamp.
fn is_name(text: &str) -> bool {
    text.contains(char::is_alphabetic)
        && !text.ends_with(['[', ']'])
        && !text.contains("dd if=")
        && !text.contains('+')
        && !["dd", "gdd", "/bin/dd"].contains(&text)
}

/// The word and colon that a line starts with, as `pdsh` puts the host in front of each line.
fn host_of(text: &str) -> Option<&str> {
    let text = line::unmarked(text);
    let (host, _) = text
        .get(..text.len().min(64))
        .unwrap_or(text)
        .split_once(": ")?;
    (!host.is_empty() && !host.contains(char::is_whitespace)).then_some(host)
}

/// Whether two lines come from two hosts.
fn of_two_hosts(one: Segment<'_>, other: Segment<'_>) -> bool {
    matches!((host_of(one.text), host_of(other.text)), (Some(one), Some(other)) if one != other)
}

/// Reads a line that is a rate and nothing else, as a script leaves it of a report. Asked only below a command of dd whose
/// output went through a filter, for anywhere else such a line may be a rate of anything.
pub fn read_rate<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<DdBlock<'t>> {
    let mut behind = lines.clone();
    let segment = behind.next()?;
    let transfer = transfer::rate_only(log, segment.text)?;
    *lines = behind;
    Some(DdBlock {
        span: segment.span,
        transfer: Some(transfer),
        ..DdBlock::empty(segment.span)
    })
}

impl DdBlock<'_> {
    /// Whether it is a rate and nothing else.
    pub fn is_rate_only(&self) -> bool {
        self.transfer
            .as_ref()
            .is_some_and(|transfer| transfer.form == Form::RateOnly)
    }

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
            stopped: false,
            translated: false,
            command: None,
            unfinished: false,
            dcfldd: false,
            label: None,
            problems: Vec::new(),
        }
    }
}

/// The transfers of one line; with lost carriage returns there are several.
struct Shown<'t> {
    first: Transfer<'t>,
    /// The last one, where it is not the first.
    last: Option<Transfer<'t>>,
    count: u32,
}

/// What one line is to a report.
enum Kind<'t> {
    Records(Records<'t>),
    Transfers(Box<Shown<'t>>),
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
        let mut transfers = transfer::transfers(self.log, text);
        if let Some(first) = transfers.next() {
            let (mut last, mut count) = (None, 1);
            for transfer in transfers {
                last = Some(transfer);
                count += 1;
            }
            return Kind::Transfers(Box::new(Shown { first, last, count }));
        }
        if let Some(first) = transfer::sg_time(self.log, text) {
            return Kind::Transfers(Box::new(Shown {
                first,
                last: None,
                count: 1,
            }));
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
                Kind::Complaint(Complaint::Control) if !self.leads_to_records(ahead.clone()) => {
                    break;
                }
                Kind::Complaint(complaint) => {
                    self.complain(complaint);
                    self.take(segment, ahead);
                }
                Kind::Transfers(transfers) => {
                    self.take(segment, ahead);
                    self.transfers(segment, transfers);
                    return Some(());
                }
                Kind::Records(records) if self.is_sure(records, &ahead) => {
                    self.take(segment, ahead);
                    self.records(records, segment);
                    return Some(());
                }
                _ => break,
            }
        }
        // a run that failed before it moved anything, or what was said beside a report that is not there
        (!self.block.span.is_empty()).then_some(())
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
            Complaint::Control => self.block.stopped = true,
            Complaint::Dcfldd => self.block.dcfldd = true,
            Complaint::Error(text) => self.block.errors.push(self.figure(text)),
            Complaint::Caution(text) => self.block.cautions.push(self.figure(text)),
        }
    }

    /// A transfer line that no records came before: a result, or progress if more of the same run follows.
    fn transfers(&mut self, mut at: Segment<'t>, shown: Box<Shown<'t>>) {
        let mut count = shown.count;
        let mut last = shown.last.unwrap_or(shown.first);
        // the result if what follows turns out to be other runs
        let mut fallback: Option<(Transfer<'t>, Segment<'t>, Segments<'t>)> = None;
        let mut budget = LOOK_AHEAD;
        loop {
            let Some((segment, kind, ahead)) = self.peek() else {
                break;
            };
            match kind {
                Kind::Transfers(next) => {
                    let overwritten = !self
                        .log
                        .get(Span::new(at.span.end, segment.span.start))
                        .contains('\n');
                    let grows = last.grows_to(&next.first);
                    if overwritten || grows && last.has_whole_seconds() {
                        count += next.count;
                    } else if grows && budget > 0 {
                        budget -= 1;
                        fallback.get_or_insert_with(|| (last.clone(), at, self.ahead.clone()));
                    } else {
                        break;
                    }
                    last = next.last.unwrap_or(next.first);
                    at = segment;
                    self.take(segment, ahead);
                }
                Kind::Records(records)
                    if self.is_sure(records, &ahead) && !of_two_hosts(at, segment) =>
                {
                    self.take(segment, ahead);
                    self.records(records, segment);
                    if last.form == Form::SgDd {
                        // sg_dd prints its time first
                        self.block.transfer.get_or_insert(last);
                    } else {
                        self.block.progress = Some(last);
                    }
                    return;
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
        // dc3dd ends with the line that it has overwritten all the time
        self.block.unfinished = last.form == Form::Progress
            || count > 1 && last.has_whole_seconds() && last.form != Form::CopiedPercent;
        self.block.transfer = Some(last);
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

    /// Reads on behind the first records line, which is `at`.
    fn records(&mut self, first: Records<'t>, at: Segment<'t>) {
        let start = self.log.span_of(at.text).start;
        let in_front = &at.text[..(first.figure.span.start - start) as usize];
        self.block.stopped |= in_front.ends_with("^C");
        self.block.translated = !first.english;
        self.block.command = self.command_in_front(in_front);
        if first.way == Way::Out {
            self.block.records_out = Some(first.figure);
        } else {
            self.block.records_in = Some(first.figure);
            if let Some((segment, Kind::Records(second), ahead)) = self.peek()
                && second.way != Way::In
                && !of_two_hosts(at, segment)
            {
                self.block.records_out = Some(second.figure);
                self.take(segment, ahead);
            }
        }
        if let Some((segment, Kind::Other, ahead)) = self.peek()
            && let Some(english) = line::truncated(segment.text)
            && (english || self.transfer_follows(ahead.clone()))
        {
            self.block.truncated = Some(self.figure(segment.text.trim()));
            self.take(segment, ahead);
        }
        self.skip_meter();
        match self.peek() {
            Some((segment, Kind::Transfers(shown), ahead)) if !of_two_hosts(at, segment) => {
                // several on one line: the progress of a later run follows, glued on
                self.block.transfer = Some(shown.first);
                self.take(segment, ahead);
            }
            Some((segment, Kind::Other, ahead)) if transfer::looks_like_transfer(segment.text) => {
                match self.wrapped(segment, ahead.clone()) {
                    Some((end, transfer, behind)) => {
                        self.block.transfer = Some(transfer);
                        self.take(end, behind);
                    }
                    None => {
                        self.block.problems.push(Diagnostic::warning(
                            Code::UNREADABLE,
                            Some(segment.span),
                            "expected bytes, seconds and a rate as dd prints them, found a line that only starts so",
                        ));
                        self.take(segment, ahead);
                    }
                }
            }
            _ => {}
        }
    }

    /// The command in whose line the report goes on: `# dd if=a of=b 10+0 records in`.
    fn command_in_front(&self, text: &str) -> Option<Arc<Workload>> {
        if !text.contains('=') {
            return None;
        }
        let mut workload = command::parse_command(text).ok()?;
        workload.dd()?;
        let start = self.log.span_of(text).start;
        workload.span = workload
            .span
            .map(|span| Span::new(start + span.start, start + span.end));
        Some(Arc::new(workload))
    }

    /// Takes the lines of a meter that another program drew between the records and the bytes.
    fn skip_meter(&mut self) {
        const LINES: usize = 6;
        let mut ahead = self.ahead.clone();
        for _ in 0..LINES {
            let before = ahead.clone();
            match ahead.next() {
                Some(line) if line::is_meter(line.text) => {}
                Some(line) if matches!(self.kind(line), Kind::Transfers(_)) => {
                    self.ahead = before;
                    return;
                }
                _ => return,
            }
        }
    }

    /// Whether the next line that is not blank is a transfer.
    fn transfer_follows(&self, ahead: Segments<'t>) -> bool {
        ahead
            .take(2)
            .find(|next| !line::is_blank(next.text))
            .is_some_and(|next| matches!(self.kind(next), Kind::Transfers(_)))
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
        let transfer = transfer::transfers(self.log, both).last()?;
        Some((two, transfer, ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log(text: &str) -> Log<'_> {
        Log::from_bytes("log", text.as_bytes()).unwrap()
    }

    /// Every block of the log as lines of what was taken: records, bytes, flags.
    fn blocks(text: &str) -> Vec<String> {
        let log = log(text);
        let mut lines = log.segments();
        let mut found = Vec::new();
        loop {
            let before = lines.clone();
            match read(&log, &mut lines) {
                Some(block) => {
                    let text = |f: &Option<Figure<'_>>| f.map_or("-", |f| f.text).to_owned();
                    let mut line = [
                        text(&block.records_in),
                        text(&block.records_out),
                        text(&block.transfer.as_ref().and_then(|t| t.bytes)),
                    ]
                    .join(" ");
                    if let Some(progress) = &block.progress {
                        line += &format!(" progress {}", progress.bytes.unwrap().text);
                    }
                    for error in &block.errors {
                        line += &format!(" [{}]", error.text);
                    }
                    for (set, name) in [
                        (block.status, " status"),
                        (block.unfinished, " unfinished"),
                        (block.dcfldd, " dcfldd"),
                        (block.truncated.is_some(), " truncated"),
                        (!block.problems.is_empty(), " problem"),
                    ] {
                        line += if set { name } else { "" };
                    }
                    found.push(line);
                }
                None => {
                    lines = before;
                    if lines.next().is_none() {
                        return found;
                    }
                }
            }
        }
    }

    #[test]
    fn a_report_is_one_block() {
        assert_eq!(
            blocks(
                "$ dd if=a of=b\n10+0 records in\n10+0 records out\n1024 bytes (1.0 kB, 1.0 KiB) copied, 1.5 s, 0.7 kB/s\n\nreal 1"
            ),
            ["10+0 10+0 1024 bytes"]
        );
        // double spacing, quote marks, a comment sign
        assert_eq!(
            blocks(
                "> 10+0 records in\n> \n> 10+0 records out\n> \n> # 1024 bytes transferred in 1.500000 secs (682 bytes/sec)\n"
            ),
            ["10+0 10+0 1024 bytes"]
        );
    }

    #[test]
    fn results_without_records_stay_apart() {
        let line = |bytes: u32, seconds: &str| {
            format!("{bytes} bytes (2.1 GB) copied, {seconds} s, 132 MB/s\n")
        };
        let three = line(2_147_483_648, "16.277")
            + &line(2_147_483_648, "16.3091")
            + &line(2_147_483_648, "16.2507");
        assert_eq!(blocks(&three), ["- - 2147483648 bytes"; 3]);
        // growing sizes with fractions of a second: a loop over sizes, not progress
        let growing = line(1_000_000_000, "1.25471") + &line(2_000_000_000, "2.61193");
        assert_eq!(
            blocks(&growing),
            ["- - 1000000000 bytes", "- - 2000000000 bytes"]
        );
    }

    #[test]
    fn progress_is_no_result() {
        let progress = "16056320 bytes (16 MB, 15 MiB) copied, 1 s, 15.7 MB/s";
        let more = "32047104 bytes (32 MB, 31 MiB) copied, 2 s, 15.5 MB/s";
        let end = "610+1 records in\n610+1 records out\n40000000 bytes (40 MB, 38 MiB) copied, 2.59229 s, 15.4 MB/s\n";
        let wanted = ["610+1 610+1 40000000 bytes progress 32047104 bytes"];
        assert_eq!(blocks(&format!("\r{progress}\r{more}\n{end}")), wanted);
        // lost returns: glued, or a line each
        assert_eq!(blocks(&format!("{progress}{more}\n{end}")), wanted);
        assert_eq!(blocks(&format!("{progress}\n{more}\n{end}")), wanted);
        // seconds with decimals, an error in between
        assert_eq!(
            blocks(
                "8205107200 bytes (8.2 GB) copied, 19.256557 s, 426 MB/s\ndd: error writing 'x': No space left on device\n7880+0 records in\n7879+0 records out\n8262189056 bytes (8.3 GB) copied, 19.3665 s, 427 MB/s\n"
            ),
            [
                "7880+0 7879+0 8262189056 bytes progress 8205107200 bytes [dd: error writing 'x': No space left on device]"
            ]
        );
        // the end never came
        assert_eq!(
            blocks(&format!("\r{progress}\r{more}\r\n$ ")),
            ["- - 32047104 bytes unfinished"]
        );
    }

    #[test]
    fn answers_to_signals_are_marked() {
        assert_eq!(
            blocks(
                "load: 1.95  cmd: dd 20536 uninterruptible 6.46u 56.07s\n3577265+0 records in\n3577264+0 records out\n1831559168 bytes transferred in 1441.749715 secs (1270372 bytes/sec)\n"
            ),
            ["3577265+0 3577264+0 1831559168 bytes status"]
        );
    }

    #[test]
    fn records_without_bytes() {
        assert_eq!(
            blocks(
                "1024+0 records in\n1024+0 records out\n$ dd\n512+0 records in\n512+0 records out\n"
            ),
            ["1024+0 1024+0 -", "512+0 512+0 -"]
        );
        assert_eq!(
            blocks("$ dd 2>&1 | tail -1\n1+0 records out\n"),
            ["- 1+0 -"]
        );
        assert_eq!(
            blocks(
                "0+1 records in\n0+1 records out\n1 truncated record\n8 bytes copied, 0.00734143 s, 1.1 kB/s\n"
            ),
            ["0+1 0+1 8 bytes truncated"]
        );
        assert_eq!(
            blocks("\r256 blocks (256Mb) written.\n300+0 records in\n300+0 records out\n"),
            ["300+0 300+0 - dcfldd"]
        );
        // a lone sum in another tongue is nothing
        assert_eq!(blocks("es sind 3+4 Platten\nEnde\n"), Vec::<String>::new());
    }

    #[test]
    fn what_stands_in_front_names_the_report() {
        let label = |text: &str| {
            let log = log(text);
            let block = read(&log, &mut log.segments()).unwrap_or_else(|| panic!("{text}"));
            block.label.map(|label| label.text.to_owned())
        };
        let report = "16777216 bytes (17 MB, 16 MiB) copied, 0.5 s, 34 MB/s";
        for (before, wanted) in [
            ("down (a->b) 16 MiB: ", Some("down (a->b) 16 MiB")),
            ("node-2: ", Some("node-2")),
            ("| Disk A | ", Some("Disk A")),
            ("| 1 | Disk A | ", Some("Disk A")),
            ("", None),
            ("dd: ", None),
            ("скопировано ", None),
            ("1+0 records in: ", None),
            ("> ", None),
        ] {
            assert_eq!(
                label(&format!("{before}{report}\n")).as_deref(),
                wanted,
                "{before}"
            );
        }
    }

    #[test]
    fn hosts_that_speak_in_turn_are_told_apart() {
        let text = "h2: 500 bytes copied, 1.5 s, 333 B/s\nh1: 5+0 records in\nh1: 5+0 records out\nh1: 500 bytes copied, 2.5 s, 200 B/s\nh2: 5+0 records in\nh2: 5+0 records out\nh2: 500 bytes copied, 3.5 s, 143 B/s\n";
        assert_eq!(
            blocks(text),
            ["- - 500 bytes", "5+0 5+0 500 bytes", "5+0 5+0 500 bytes"]
        );
    }

    #[test]
    fn failures_are_kept() {
        assert_eq!(
            blocks("dd: failed to open 'x': No such file or directory\n$ \n"),
            ["- - - [dd: failed to open 'x': No such file or directory]"]
        );
    }

    #[test]
    fn a_wrapped_byte_line_is_joined() {
        assert_eq!(
            blocks(
                "> 10+0 records in\n> 10+0 records out\n> 10737418240 bytes (11 GB, 10 GiB) copied,\n> 34.4002 s, 312 MB/s\n> so much\n"
            ),
            ["10+0 10+0 10737418240 bytes"]
        );
        assert_eq!(
            blocks("1+0 records in\n1+0 records out\n512 bytes (512 B) copied, 0.1\nThe end"),
            ["1+0 1+0 - problem"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_borne(text in "([0-9]{1,3}\\+[0-9] records (in|out)|[0-9]{4} bytes \\(1 kB\\) copied, [0-9]{1,2}(\\.5)? s, 1 kB/s|dd: error x: y|load: 1 cmd: dd 1|[a-z ]{0,9}|[\r\n>]){0,12}") {
            let log = log(&text);
            let mut lines = log.segments();
            loop {
                let before = lines.clone().next();
                match read(&log, &mut lines) {
                    Some(block) => {
                        let after = lines.clone().next().map_or(log.text().len() as u32, |s| s.span.start);
                        prop_assert!(block.span.end <= after, "{:?}", block);
                        prop_assert!(before.is_some_and(|s| s.span.start < after), "no progress");
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
