//! Summaries of fio runs: what benchmark scripts print in its place, and tables and lines that people make of its figures.
//!
//! | tool | what it prints | read by |
//! |---|---|---|
//! | yabs | `Block Size \| 4k (IOPS) \| 64k (IOPS)`, then `Read \| 335.96 MB/s (83.9k) \| …` | `tools` |
//! | kbench | `IOPS (Read/Write)`, then `Random: 90,546 / 73,514`; likewise for bandwidth and latency | `tools` |
//! | kubestr | `JobName: read_iops`, `read:`, `IOPS=536.3 BW(KiB/s)=2161` | `tools` |
//! | dbench | `Random Read/Write IOPS: 75.7k/59.7k. BW: 523MiB/s / 500MiB/s` | `tools` |
//! | people | Markdown tables, tables in columns | `grid`, `column` |
//! | people | `randread bs=4k numjobs=1:` with `bw=17.5KiB/s` on the next line or on the same | `lines` |
//!
//! A figure is taken with the unit that stands at it, or in the head of its column. A figure without any unit is not
//! read. Whether a table is a result at all is for [`settle`] to say: one that people made repeats what fio printed,
//! so it counts only where no report of fio or dd stands in the log; and a table in which fio's own keys (`bw=`,
//! `iops=`) do not stand counts only where the log names fio.

mod column;
mod grid;
mod lines;
mod tools;
mod words;

use super::{Block, Kind};
use crate::block::dd::line::unmarked;
use crate::diagnostic::Diagnostic;
use crate::figure::Figure;
use crate::record::Direction;
use crate::source::{Log, Segments, Span};
use smallvec::SmallVec;
pub use words::{block_size, direction_of, latency_scale, rate_unit};

/// A summary of fio runs.
#[derive(Clone, Debug, PartialEq)]
pub struct TableBlock<'t> {
    /// The whole lines it stands on.
    pub span: Span,
    /// Who made it.
    pub tool: Tool,
    /// The version of fio, where the tool shows it.
    pub version: Option<&'t str>,
    /// Its results in order.
    pub cells: Vec<Cell<'t>>,
    /// What could not be read.
    pub problems: Vec<Diagnostic>,
}

/// Who made a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// yet-another-bench-script.
    Yabs,
    /// kbench.
    Kbench,
    /// kubestr.
    Kubestr,
    /// dbench and its copies.
    Dbench,
    /// Somebody, with the keys that fio prints.
    Keys,
    /// Somebody, with columns and units of their own.
    Grid,
}

impl Tool {
    /// Its name in records; people's tables are of fio.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Yabs => "yabs",
            Tool::Kbench => "kbench",
            Tool::Kubestr => "kubestr",
            Tool::Dbench => "dbench",
            Tool::Keys | Tool::Grid => "fio",
        }
    }
}

/// A figure and its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount<'t> {
    /// The number, with its unit where that stands beside it.
    pub figure: Figure<'t>,
    /// The number alone.
    pub number: &'t str,
    /// The unit, from beside the number or from the head of the column: `KiB/s`, `k`, `usec`, or nothing for a count.
    pub unit: &'t str,
}

/// One result of a summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell<'t> {
    /// What it stands under: the row's title, then the column's.
    pub labels: SmallVec<[Figure<'t>; 2]>,
    /// The job, where the tool names it.
    pub job: Option<&'t str>,
    /// Which way bytes went, where words say so.
    pub direction: Option<Direction>,
    /// Bytes per second.
    pub rate: Option<Amount<'t>>,
    /// I/Os per second.
    pub iops: Option<Amount<'t>>,
    /// The mean latency.
    pub latency: Option<Amount<'t>>,
    /// Whether it sums up others.
    pub sum: bool,
}

impl<'t> Cell<'t> {
    /// The amounts that are there.
    pub fn amounts(&self) -> impl Iterator<Item = Amount<'t>> {
        [self.rate, self.iops, self.latency].into_iter().flatten()
    }

    /// Whether it holds nothing.
    fn is_empty(&self) -> bool {
        self.amounts().next().is_none()
    }

    fn place(&mut self, kind: Quantity) -> &mut Option<Amount<'t>> {
        match kind {
            Quantity::Rate => &mut self.rate,
            Quantity::Iops => &mut self.iops,
            Quantity::Latency => &mut self.latency,
        }
    }
}

/// What an amount is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Rate,
    Iops,
    Latency,
}

/// Reads the summary that starts at the cursor. `None`, cursor untouched, where the line starts none.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<TableBlock<'t>> {
    let first = lines.clone().next()?;
    if first.text.len() > 4096 {
        return None;
    }
    let text = unmarked(first.text);
    match text.as_bytes().first()? {
        b'B' | b'F' | b'I' | b'J' | b'L' | b'R' | b'=' => tools::read(log, text, lines),
        _ => None,
    }
    .or_else(|| grid::read(log, first, lines))
}

/// Decides which summaries are results, once the whole log is cut; the others become text. See the module's head.
pub fn settle(log: &Log<'_>, blocks: &mut [Block<'_>]) {
    if !blocks
        .iter()
        .any(|block| matches!(block.kind, Kind::FioTable(_)))
    {
        return;
    }
    let reported = blocks.iter().any(|block| match &block.kind {
        Kind::FioJob(job) => !job.is_loose(),
        Kind::FioJson(_) | Kind::FioTerse(_) | Kind::FioGroup(_) | Kind::Dd(_) => true,
        _ => false,
    });
    let bytes = log.text().as_bytes();
    let named = memchr::memchr2_iter(b'f', b'F', bytes).any(|at| names_fio(&bytes[at..]));
    for block in blocks {
        let Kind::FioTable(table) = &block.kind else {
            continue;
        };
        let counts = match table.tool {
            Tool::Keys => !reported,
            Tool::Grid => !reported && named,
            // it repeats to the letter what fio printed above
            Tool::Dbench => !(reported && repeats(log, table)),
            Tool::Yabs | Tool::Kbench | Tool::Kubestr => true,
        };
        if !counts {
            block.kind = Kind::Other;
        }
    }
}

fn names_fio(text: &[u8]) -> bool {
    text.len() >= 3
        && text[..3].eq_ignore_ascii_case(b"fio")
        && !text.get(3).is_some_and(u8::is_ascii_alphabetic)
}

/// Whether fio's own line with the first rate stands above the summary.
fn repeats(log: &Log<'_>, table: &TableBlock<'_>) -> bool {
    let above = &log.text().as_bytes()[..table.span.start as usize];
    let rate = table.cells.iter().find_map(|cell| cell.rate);
    rate.is_some_and(|rate| {
        let printed = format!("BW={}", rate.figure.text);
        memchr::memmem::find(above, printed.as_bytes()).is_some()
    })
}

/// The text as a figure with its place.
fn figure<'t>(log: &Log<'_>, text: &'t str) -> Figure<'t> {
    Figure {
        text,
        span: log.span_of(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::blocks;
    use proptest::prelude::*;

    fn tables(text: &str) -> usize {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let blocks = blocks(&log);
        blocks
            .iter()
            .filter(|block| matches!(block.kind, Kind::FioTable(_)))
            .count()
    }

    #[test]
    fn tables_beside_reports_repeat_them() {
        let table = "| test | IOPS | BW (MiB/s) |\n|---|---|---|\n| randread | 100 | 0.39 |\n";
        assert_eq!(tables(&format!("made with fio\n\n{table}")), 1);
        assert_eq!(tables(&format!("made with something\n\n{table}")), 0);
        let report = "READ: bw=102MiB/s (107MB/s), 102MiB/s-102MiB/s (107MB/s-107MB/s), io=1024MiB (1074MB), run=10001-10001msec\n";
        assert_eq!(tables(&format!("made with fio\n\n{table}\n{report}")), 0);
        // fio's own keys need no name
        assert_eq!(
            tables("| test | old |\n|---|---|\n| randread | iops=100, bw=400KiB/s |\n"),
            1
        );
    }

    #[test]
    fn a_summary_below_its_own_reports_repeats_them() {
        let summary = "Random Read/Write IOPS: 9986/9987. BW: 384MiB/s / 387MiB/s\nSequential Read/Write: 384MiB/s / 395MiB/s\n";
        let job = "read_bw: (groupid=0, jobs=1): err= 0: pid=7: Fri Oct  6 05:21:27 2017\n  read: IOPS=3072, BW=384MiB/s (403MB/s)(5760MiB/15001msec)\n";
        assert_eq!(tables(summary), 1);
        assert_eq!(tables(&format!("{job}\n{summary}")), 0);
        assert_eq!(
            tables(&format!(
                "{}\n{summary}",
                job.replace("BW=384MiB/s", "BW=100MiB/s")
            )),
            1
        );
    }

    #[test]
    fn long_tables_of_other_things_take_linear_time() {
        for line in [
            "| a | b IOPS | c |\n",
            "IOPS\n",
            "JobName: a\n",
            "Block Size | 4k\n",
            "read bs=4k x=:\n",
        ] {
            let seconds = |lines: usize| {
                let text = line.repeat(lines);
                let start = std::time::Instant::now();
                assert_eq!(tables(&text), 0);
                start.elapsed().as_secs_f64()
            };
            let (few, many) = (seconds(300), seconds(2400));
            assert!(many < 30.0 * few + 1.0, "{line:?}: {few} s, {many} s");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([|/ ,:.=()\n]|[0-9]{1,3}|k|MB/s|KiB/s|IOPS|BW|Read|Write|Random|Block Size|JobName: |µs|读){0,60}") {
            let log = Log::from_bytes("log", text.as_bytes()).unwrap();
            let mut lines = log.segments();
            while lines.clone().next().is_some() {
                if let Some(block) = read(&log, &mut lines) {
                    for amount in block.cells.iter().flat_map(Cell::amounts) {
                        assert_eq!(log.get(amount.figure.span), amount.figure.text);
                    }
                } else {
                    lines.next();
                }
            }
        }
    }
}
