//! The lines that the cursor reads whole, one method a form.
//!
//! Place: below [`super`], which has the cursor, its figures and how a line is told.

use super::*;

impl<'t> Cursor<'t> {
    /// `min=25, max=4726, avg=228.43, stdev=443.83`.
    #[inline]
    pub(in crate::block::fio_text) fn latency(
        &mut self,
        unit: TimeUnit,
    ) -> Option<LatencyLine<'t>> {
        let letter = |byte: u8| byte.is_ascii_alphabetic();
        self.eat(b"min=")?;
        self.blanks();
        let min = self.figure(letter)?;
        self.eat(b", max=")?;
        self.blanks();
        let max = self.figure(letter)?;
        let (avg, _) = self.mean(b", avg=", unit)?;
        let (stdev, decimals) = self.mean(b", stdev=", unit)?;
        // a number in two lines has fewer
        if decimals != 2 {
            return None;
        }
        self.line_feed()?;
        Some(LatencyLine {
            unit,
            min: Some(min),
            max: Some(max),
            avg: Some(avg),
            stdev: Some(stdev),
        })
    }

    /// `1=0.1%, 2=0.1%, >=64=0.0%`; each is given to `take`, whose refusal is one of the line, but for those of nothing
    /// where `zeros` are not wanted.
    #[inline]
    pub(in crate::block::fio_text) fn shares(
        &mut self,
        zeros: bool,
        mut take: impl FnMut(&Share<'t>) -> Option<()>,
    ) -> Option<()> {
        loop {
            let more = self.eat(b">=").is_some();
            let at = self.count()?;
            self.eat(b"=")?;
            // most shares of depths are nothing
            if zeros || self.eat(b"0.0%").is_none() {
                let start = self.at;
                let plain = self.plain()?;
                let percent = self.figure_from(start)?;
                self.eat(b"%")?;
                take(&Share::of_plain(at, more, percent, Some(plain)))?;
            }
            if self.eat(b", ").is_none() {
                return self.line_feed();
            }
        }
    }

    pub(in crate::block::fio_text) fn cpu(&mut self) -> Option<CpuLine<'t>> {
        self.eat(b"usr=")?;
        let usr = self.number()?;
        self.eat(b"%, sys=")?;
        let sys = self.number()?;
        self.eat(b"%, ctx=")?;
        let ctx = self.count()?;
        self.eat(b", majf=")?;
        let majf = self.count()?;
        self.eat(b", minf=")?;
        let minf = self.count()?;
        self.line_feed()?;
        Some(CpuLine {
            usr: Some(usr),
            sys: Some(sys),
            ctx: Some(ctx),
            majf: Some(majf),
            minf: Some(minf),
        })
    }

    pub(in crate::block::fio_text) fn target(&mut self) -> Option<TargetLine<'t>> {
        self.eat(b"target=")?;
        let target = self.figure(|byte| byte.is_ascii_alphabetic())?;
        self.eat(b", window=")?;
        let window = self.figure(|byte| byte.is_ascii_alphabetic())?;
        self.eat(b", percentile=")?;
        let percentile = self.number()?;
        self.eat(b"%, depth=")?;
        let depth = self.count()?;
        self.line_feed()?;
        Some(TargetLine {
            target,
            window: Some(window),
            percentile: Some(percentile),
            depth: Some(depth),
        })
    }

    pub(in crate::block::fio_text) fn samples_or_issued(&mut self) -> Option<SamplesOrIssued<'t>> {
        let start = self.at;
        if self.eat(b"issued rwts: ").is_some() {
            let start = self.at;
            self.eat(b"total=")?;
            let total = self.counts()?;
            let text = self.figure_from(start)?;
            self.eat(b" short=")?;
            let short = self.counts()?;
            self.eat(b" dropped=")?;
            let dropped = self.counts()?;
            self.line_feed()?;
            return Some(SamplesOrIssued::Issued(Issued {
                total,
                short,
                dropped,
                text,
            }));
        }
        let (unit, per) = if self.eat(b"bw (").is_some() {
            self.blanks();
            let start = self.at;
            while self.peek().is_ascii_alphabetic() {
                self.at += 1;
            }
            let unit = self.figure_from(start)?.text;
            self.eat(b"/s): ")?;
            (Some(unit).filter(|unit| !unit.is_empty())?, true)
        } else {
            self.eat(b"iops        : ")?;
            ("", false)
        };
        let letter = |byte: u8| byte.is_ascii_alphabetic();
        self.eat(b"min=")?;
        self.blanks();
        let min = self.figure(letter)?;
        self.eat(b", max=")?;
        self.blanks();
        let max = self.figure(letter)?;
        let share = match per {
            true => {
                let share = self.padded(b", per=")?;
                self.eat(b"%")?;
                Some(share)
            }
            false => None,
        };
        let avg = self.padded(b", avg=")?;
        let stdev = self.padded(b", stdev=")?;
        self.eat(b", samples=")?;
        self.blanks();
        let count = self.count()?;
        self.line_feed()?;
        Some(SamplesOrIssued::Samples(SampleLine {
            span: self.span(start, self.at),
            unit: per.then_some(unit),
            min: Some(min),
            max: Some(max),
            per: share,
            avg: Some(avg),
            stdev: Some(stdev),
            count: Some(count),
        }))
    }

    /// `5689,2503,0,0`: the four counts of 3.x.
    fn counts(&mut self) -> Option<Counts> {
        let mut counts = [self.count()?, 0, 0, 0];
        for next in &mut counts[1..] {
            self.eat(b",")?;
            *next = self.count()?;
        }
        Some(Counts::from_buf(counts))
    }

    pub(in crate::block::fio_text) fn direction(&mut self) -> Option<DirectionLine<'t>> {
        let start = self.at;
        let direction = match self.peek() {
            b'r' => self.eat(b"read: IOPS=").map(|()| Direction::Read),
            b'w' => self.eat(b"write: IOPS=").map(|()| Direction::Write),
            _ => self.eat(b"trim: IOPS=").map(|()| Direction::Trim),
        }?;
        let iops = self.figure(|byte| byte.is_ascii_alphabetic())?;
        self.eat(b", BW=")?;
        let bw = self.pair()?;
        self.eat(b"(")?;
        let io = self.figure(|byte| byte.is_ascii_alphabetic())?;
        self.eat(b"/")?;
        let runtime = self.figure(|byte| byte.is_ascii_alphabetic())?;
        self.eat(b")")?;
        if !runtime.text.ends_with("sec") {
            return None;
        }
        let span = self.span(start, self.at);
        let zone_resets = self.eat(b"; ").is_some();
        if zone_resets {
            self.count()?;
            self.eat(b" zone resets")?;
        }
        self.line_feed()?;
        Some(DirectionLine {
            span,
            prefix: None,
            direction,
            legacy: false,
            iops: Some(iops),
            bw,
            io: Pair {
                first: Some(io),
                second: None,
            },
            runtime: Some(runtime),
            zone_resets,
        })
    }

    /// `155MiB/s (163MB/s)`.
    pub(super) fn pair(&mut self) -> Option<Pair<'t>> {
        let unit = |byte: u8| byte.is_ascii_alphabetic() || byte == b'/';
        let first = self.figure(unit)?;
        self.eat(b" (")?;
        let second = self.figure(unit)?;
        self.eat(b")")?;
        Some(Pair {
            first: Some(first),
            second: Some(second),
        })
    }

    /// `155MiB/s-160MiB/s`.
    pub(super) fn range(&mut self) -> Option<(Figure<'t>, Figure<'t>)> {
        let unit = |byte: u8| byte.is_ascii_alphabetic() || byte == b'/';
        let from = self.figure(unit)?;
        self.eat(b"-")?;
        Some((from, self.figure(unit)?))
    }
}
