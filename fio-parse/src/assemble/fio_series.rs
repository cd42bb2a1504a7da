//! Reports of one run that fio printed several times, with `--status-interval` or on a signal.
//!
//! Such reports are cumulative: the last is the result, the others are its past. Nothing marks them but what they
//! say. Two reports are of one run if nothing between them starts another one (a command, a header, a banner), and a
//! job stands in both with the same name, group and process, and either the same figures, or a later time by as much
//! as its run time grew.

use crate::block::fio_note::FioNote;
use crate::block::fio_text::FioJob;
use crate::block::fio_text::head::Head;
use crate::block::prose::Style;
use crate::block::{Block, Kind};
use crate::context::Contexts;

/// How much the seconds of a time stamp and of a report may be off.
const SECONDS: f64 = 3.0;

/// The past of the runs in a log.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// The blocks that are only the past of a later report, rising.
    past: Vec<usize>,
    /// The numbers of all such runs so far, rising.
    runs: Vec<u32>,
}

impl Series {
    /// Finds the reports among these blocks that a later one goes on from; the blocks of earlier calls are forgotten.
    pub fn find(&mut self, blocks: &[Block<'_>], contexts: &Contexts) {
        self.past.clear();
        let mut last: Option<Report<'_>> = None;
        let mut now = Report::default();
        for (index, block) in blocks.iter().enumerate() {
            // jobs of another server, or under another heading, may have the same names and processes
            let apart = match &block.kind {
                Kind::FioNote(FioNote::Host(_)) => true,
                Kind::Prose(prose) => matches!(prose.style, Style::Heading(_)),
                _ => block.starts_a_run(),
            };
            if apart {
                close(self, last.take(), &now);
                now = Report::default();
                continue;
            }
            let Some(context) = contexts.get(index) else {
                continue;
            };
            if context.run != now.run && !now.blocks.is_empty() {
                close(self, last.take(), &now);
                last = Some(std::mem::take(&mut now));
            }
            now.run = context.run;
            now.blocks.push(index);
            if let Kind::FioJob(job) = &block.kind {
                now.jobs.push(job);
            }
        }
        close(self, last, &now);
        self.past.sort_unstable();
        self.runs.sort_unstable();
    }

    /// Whether the block is only the past of a later report.
    pub fn is_past(&self, block: usize) -> bool {
        self.past.binary_search(&block).is_ok()
    }

    /// The number of a run when runs that are only the past of another are not counted.
    pub fn number(&self, run: u32) -> u32 {
        run - self.runs.partition_point(|past| *past < run) as u32
    }
}

/// One report: the blocks of one run as the context counts.
#[derive(Default)]
struct Report<'b> {
    run: u32,
    blocks: Vec<usize>,
    jobs: Vec<&'b FioJob<'b>>,
}

/// Marks `before` as past where `now` goes on from it.
fn close(series: &mut Series, before: Option<Report<'_>>, now: &Report<'_>) {
    let Some(before) = before.filter(|before| goes_on(before, now)) else {
        return;
    };
    series.runs.push(before.run);
    series.past.extend(&before.blocks);
}

/// Whether the first job of `before` that is in `now` has gone on there.
fn goes_on(before: &Report<'_>, now: &Report<'_>) -> bool {
    // jobs come in one order, so the same one is looked for at the front
    let Some(first) = before.jobs.first() else {
        return false;
    };
    now.jobs
        .iter()
        .any(|job| same_job(first, job) && later(first, job))
}

fn same_job(a: &FioJob<'_>, b: &FioJob<'_>) -> bool {
    match (&a.head, &b.head) {
        (Some(a), Some(b)) => {
            (a.name, a.group, a.pid) == (b.name, b.group, b.pid) && a.pid.is_some()
        }
        _ => false,
    }
}

fn later(before: &FioJob<'_>, now: &FioJob<'_>) -> bool {
    let seconds = |job: &FioJob<'_>| {
        let figures = job
            .parts
            .iter()
            .filter_map(|part| part.line.as_ref()?.runtime);
        figures
            .filter_map(|figure| figure.text.trim_end_matches("msec").parse::<f64>().ok())
            .reduce(f64::max)
            .map(|msec| msec / 1000.0)
    };
    let time = |job: &FioJob<'_>| job.head.as_ref().and_then(Head::seconds);
    let (Some(a), Some(b)) = (seconds(before), seconds(now)) else {
        return false;
    };
    let (Some(from), Some(to)) = (time(before), time(now)) else {
        return false;
    };
    let issued = |job: &FioJob<'_>| job.issued.as_ref().map(|issued| issued.total.clone());
    let ended = a == b && issued(before).is_some() && issued(before) == issued(now);
    let passed = to - from;
    ended || b >= a && (passed - (b - a)).abs() <= SECONDS
}

#[cfg(test)]
mod tests {
    use crate::source::Log;

    /// Runs and bandwidth figures of the job records.
    fn jobs(text: &str) -> Vec<(u32, String)> {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let parsed = crate::parse(&log);
        let records = parsed.records.iter();
        records
            .map(|r| {
                (
                    r.run,
                    r.measurement.bytes_per_sec.as_ref().unwrap().printed()[0]
                        .text
                        .to_string(),
                )
            })
            .collect()
    }

    fn report(pid: u32, second: u32, bw: u32, msec: u32) -> String {
        format!(
            "si: (groupid=0, jobs=1): err= 0: pid={pid}: Mon Nov 30 14:42:{second:02} 2026\n  read: IOPS=1234, BW={bw}MiB/s ({}MB/s)(35.9MiB/{msec}msec)\n     issued rwts: total={msec},0,0,0 short=0,0,0,0 dropped=0,0,0,0\n\nRun status group 0 (all jobs):\n   READ: bw={bw}MiB/s ({}MB/s), {bw}MiB/s-{bw}MiB/s (1MB/s-1MB/s), io=35.9MiB (37.7MB), run={msec}-{msec}msec\n\n",
            bw + bw / 20,
            bw + bw / 20
        )
    }

    #[test]
    fn the_last_of_a_series_is_the_result() {
        let series = [
            report(8090, 24, 100, 757),
            report(8090, 25, 110, 1757),
            report(8090, 26, 120, 2757),
        ]
        .concat();
        assert_eq!(
            jobs(&series),
            [(1, "120MiB/s".to_owned()), (1, "120MiB/s".to_owned())]
        );
        // the job ended, fio went on
        let ended = [report(8090, 24, 100, 757), report(8090, 44, 100, 757)].concat();
        assert_eq!(jobs(&ended).len(), 2);
    }

    #[test]
    fn other_runs_are_no_series() {
        let first = report(8090, 10, 100, 5000);
        for second in [
            // another process, another start, less run time
            report(8091, 15, 110, 10_000),
            report(8090, 50, 110, 10_000),
            report(8090, 11, 110, 4000),
            // a banner stands between
            format!("fio-3.33\n{}", report(8090, 15, 110, 10_000)),
        ] {
            let found = jobs(&format!("{first}{second}"));
            assert_eq!(
                found.iter().map(|(run, _)| *run).collect::<Vec<_>>(),
                [1, 1, 2, 2],
                "{second}"
            );
        }
    }
}
