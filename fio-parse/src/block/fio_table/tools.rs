//! Summaries of scripts that run fio: yabs, kbench, kubestr, dbench.
//!
//! ```text
//! yabs     = "Block Size |" { size "(IOPS)" "|" } { ruler } { ("Read" | "Write" | "Total") "|" { rate "(" count ")" "|" } }
//! kbench   = [ "FIO Benchmark Summary" … ] { section { title ":" values } }
//! section  = "IOPS" | "Bandwidth in KiB/sec" | "Latency in ns"   [ "(Read/Write)" ]
//! values   = number "/" number | number        and of two volumes: values "vs" values ":" change
//! kubestr  = "JobName:" name … { ("read:" | "write:") "IOPS=" number "BW(KiB/s)=" number }
//! dbench   = { title "Read/Write" [ "IOPS:" pair "." ] [ "BW:" pair ] }
//! ```
//!
//! kbench and dbench measure IOPS, bandwidth and latency in runs of their own, so each is a result of its own. dbench
//! takes the number of its latency from fio's report and writes `usec` whatever unit fio had printed: it is not read.

use super::words::{amount, bare, count, number, rate_unit_at};
use super::{Cell, Quantity, TableBlock, Tool, figure};
use crate::block::dd::line::{trimmed, unmarked};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex;
use crate::record::Direction;
use crate::source::{Log, Segment, Segments};

/// The lines of one summary: read one after the other, taken up to the last that belongs to it.
struct Taking<'t> {
    ahead: Segments<'t>,
    end: Segments<'t>,
    block: TableBlock<'t>,
    strangers: usize,
    seen: usize,
}

/// In how many lines the first result has to come.
const MAX_HEAD: usize = 24;

impl<'t> Taking<'t> {
    fn new(lines: &Segments<'t>, first: Segment<'t>, tool: Tool) -> Self {
        Self {
            ahead: lines.clone(),
            end: lines.clone(),
            block: TableBlock {
                span: first.span,
                tool,
                version: None,
                cells: Vec::new(),
                problems: Vec::new(),
            },
            strangers: 0,
            seen: 0,
        }
    }

    /// The next line, without marks around it.
    fn next(&mut self) -> Option<(Segment<'t>, &'t str)> {
        self.seen += 1;
        if self.seen > MAX_HEAD && self.block.cells.is_empty() {
            return None;
        }
        let segment = self.ahead.next()?;
        (segment.text.len() <= 4096).then(|| (segment, trimmed(unmarked(segment.text))))
    }

    /// The line belongs to the summary.
    fn keep(&mut self, segment: Segment<'t>) {
        self.block.span.end = segment.span.end;
        self.end = self.ahead.clone();
        self.strangers = 0;
    }

    /// The line says nothing; whether so many may stand in a row.
    fn pass(&mut self, most: usize) -> bool {
        self.strangers += 1;
        self.strangers <= most
    }

    fn done(self, lines: &mut Segments<'t>) -> Option<TableBlock<'t>> {
        if self.block.cells.is_empty() && self.block.problems.is_empty() {
            return None;
        }
        *lines = self.end;
        Some(self.block)
    }
}

/// Reads the summary whose first line, without marks, is `text`.
pub(super) fn read<'t>(
    log: &Log<'_>,
    text: &str,
    lines: &mut Segments<'t>,
) -> Option<TableBlock<'t>> {
    let first = lines.clone().next()?;
    let new = |tool| Taking::new(lines, first, tool);
    let taking = if text.starts_with("Block Size") && text.contains('|') {
        yabs(log, new(Tool::Yabs))
    } else if is_kbench_title(text) || section(text).is_some() {
        kbench(log, new(Tool::Kbench))
    } else if text.starts_with("JobName:") || text.starts_with("FIO version - ") {
        kubestr(log, new(Tool::Kubestr))
    } else if text.starts_with("Random Read/Write IOPS:") || is_dbench_title(text) {
        dbench(log, new(Tool::Dbench))
    } else {
        return None;
    };
    taking.done(lines)
}

/// Whether nothing but rulers and borders stands in a line.
pub(super) fn is_ruler(text: &str) -> bool {
    text.bytes()
        .all(|b| matches!(b, b'-' | b'|' | b' ' | b'=' | b'+' | b':' | b'\t'))
}

fn cells(text: &str) -> impl Iterator<Item = &str> {
    text.split('|')
        .map(|cell| cell.trim_matches(char::is_whitespace))
}

/// yabs' tables, two block sizes each.
fn yabs<'t>(log: &Log<'_>, mut taking: Taking<'t>) -> Taking<'t> {
    let mut sizes: Vec<&str> = Vec::new();
    while let Some((segment, text)) = taking.next() {
        if text.starts_with("Block Size") {
            sizes.clear();
            sizes.extend(
                cells(text)
                    .skip(1)
                    .map(|cell| cell.split('(').next().unwrap_or("").trim_end()),
            );
            taking.keep(segment);
            continue;
        }
        let mut values = cells(text);
        let title = values.next().unwrap_or("");
        let direction = match title {
            "Read" => Direction::Read,
            "Write" => Direction::Write,
            "Total" => Direction::Mixed,
            _ if is_ruler(text) && taking.pass(3) => continue,
            _ => break,
        };
        for (value, size) in values.zip(&sizes) {
            let Some((Quantity::Rate, rate, rest)) = amount(log, value) else {
                continue;
            };
            let inside = lex::skip_blanks(rest).strip_prefix('(');
            let iops = inside.and_then(|inside| count(log, inside));
            let mut cell = Cell {
                direction: Some(direction),
                rate: Some(rate),
                iops: iops
                    .filter(|(_, rest)| rest.starts_with(')'))
                    .map(|(iops, _)| iops),
                sum: direction == Direction::Mixed,
                ..Cell::default()
            };
            if !size.is_empty() {
                cell.labels.push(figure(log, size));
            }
            taking.block.cells.push(cell);
        }
        taking.keep(segment);
    }
    taking
}

fn is_kbench_title(text: &str) -> bool {
    // the comparison's title is misspelt in the original
    text.starts_with("FIO Benchmark Summary") || text.starts_with("FIO Benchmark Compar")
}

/// A section's head: what it is of and in which unit.
fn section(text: &str) -> Option<(Quantity, &str)> {
    let text = trimmed(text);
    let head = text.strip_suffix("(Read/Write)").unwrap_or(text).trim_end();
    match head {
        "IOPS" => return Some((Quantity::Iops, "")),
        "Latency in ns" => return Some((Quantity::Latency, "ns")),
        _ => {}
    }
    let unit = head.strip_prefix("Bandwidth in ")?;
    (rate_unit_at(unit)?.len() == unit.len()).then_some((Quantity::Rate, unit))
}

/// kbench's three sections, of one volume or of two beside each other.
fn kbench<'t>(log: &Log<'_>, mut taking: Taking<'t>) -> Taking<'t> {
    let mut head: Option<(&str, Quantity, &str)> = None;
    let mut volumes: [&str; 2] = [""; 2];
    while let Some((segment, text)) = taking.next() {
        if let Some(found) = section(text) {
            let (name, _) = text.split_once('(').unwrap_or((text, ""));
            head = Some((name.trim_end(), found.0, found.1));
            taking.keep(segment);
            continue;
        }
        let Some((name, quantity, unit)) = head else {
            // the title, and what the tool was asked
            if let Some((names, _)) = text.rsplit_once(": ").filter(|_| text.ends_with("Change"))
                && let Some((first, second)) = names.split_once(" vs ")
            {
                volumes = [first.trim(), second.trim_end_matches([':', ' ']).trim()];
            }
            if text.len() < 200 && taking.pass(12) {
                continue;
            }
            break;
        };
        let row = text
            .split_once(':')
            .filter(|(title, _)| title.starts_with("Random") || title.starts_with("Sequential"));
        let Some((title, values)) = row else {
            // empty lines, and the processor's idle time
            if (text.is_empty() || text.starts_with("CPU Idleness")) && taking.pass(3) {
                continue;
            }
            break;
        };
        let values = values
            .rsplit_once(" : ")
            .map_or(values, |(values, _)| values);
        for (values, volume) in values.split(" vs ").zip(volumes) {
            let both = values
                .split_once('/')
                .filter(|_| values.split('(').next().is_some_and(|v| v.contains('/')));
            let sides = match both {
                Some((read, write)) => [
                    (Some(Direction::Read), read),
                    (Some(Direction::Write), write),
                ],
                None => [(super::direction_of(title), values), (None, "")],
            };
            for (direction, value) in sides {
                let (Some(direction), Some((amount, _))) =
                    (direction, bare(log, lex::skip_blanks(value), unit))
                else {
                    continue;
                };
                let mut cell = Cell {
                    direction: Some(direction),
                    ..Cell::default()
                };
                cell.labels.extend(
                    // each section is of a run of its own, and its rows have the same titles
                    [volume, name, title]
                        .into_iter()
                        .filter(|label| !label.is_empty())
                        .map(|label| figure(log, label)),
                );
                *cell.place(quantity) = Some(amount);
                taking.block.cells.push(cell);
            }
        }
        taking.keep(segment);
    }
    taking
}

/// kubestr's jobs.
fn kubestr<'t>(log: &Log<'_>, mut taking: Taking<'t>) -> Taking<'t> {
    let mut job = None;
    let mut direction = None;
    while let Some((segment, text)) = taking.next() {
        if let Some(name) = text.strip_prefix("JobName:") {
            (job, direction) = (Some(name.trim()), None);
            taking.strangers = 0;
        } else if let Some(version) = text.strip_prefix("FIO version - ") {
            // a second one is of another run
            if taking.block.version.is_some() || !taking.block.cells.is_empty() {
                break;
            }
            taking.block.version = Some(version.trim());
        } else if text == "read:" {
            direction = Some(Direction::Read);
        } else if text == "write:" {
            direction = Some(Direction::Write);
        } else if let Some((iops, rest)) = text
            .strip_prefix("IOPS=")
            .and_then(|text| count(log, text))
            .filter(|_| job.is_some() && direction.is_some())
        {
            let rate = rest
                .trim_start()
                .strip_prefix("BW(")
                .and_then(|rest| rest.split_once(")="))
                .filter(|(unit, _)| super::rate_unit(unit).is_some())
                .and_then(|(unit, value)| bare(log, value, unit));
            taking.block.cells.push(Cell {
                job,
                direction,
                rate: rate.map(|(rate, _)| rate),
                iops: Some(iops),
                ..Cell::default()
            });
            taking.keep(segment);
        } else if text.starts_with("iops:") || text.starts_with("bw(") {
            // statistics over samples belong to the job, and are not taken
            if !taking.block.cells.is_empty() {
                taking.keep(segment);
            }
        } else if text.len() > 300 || !taking.pass(6) {
            break;
        }
    }
    taking
}

fn is_dbench_title(text: &str) -> bool {
    text.starts_with("= ")
        && text.len() < 60
        && text.ends_with('=')
        && text.contains("ench Summary")
}

/// Two amounts with a slash between them: with units of their own, or in `unit`.
fn pair<'t>(
    log: &Log<'_>,
    text: &'t str,
    quantity: Quantity,
    unit: Option<&'t str>,
) -> Option<[super::Amount<'t>; 2]> {
    let one = |text: &'t str| {
        let text = lex::skip_blanks(text);
        match (quantity, unit) {
            (_, Some(unit)) => bare(log, text, unit),
            (Quantity::Iops, None) => count(log, text),
            (_, None) => amount(log, text)
                .filter(|(found, ..)| *found == quantity)
                .map(|(_, amount, rest)| (amount, rest)),
        }
    };
    let (first, rest) = one(text)?;
    let (second, _) = one(lex::skip_blanks(rest).strip_prefix('/')?)?;
    Some([first, second])
}

/// dbench's four lines.
fn dbench<'t>(log: &Log<'_>, mut taking: Taking<'t>) -> Taking<'t> {
    while let Some((segment, text)) = taking.next() {
        let title = ["Random", "Sequential", "Mixed", "Average Latency"]
            .into_iter()
            .any(|start| text.starts_with(start));
        let Some(at) = text.find("Read/Write").filter(|_| title) else {
            if taking.block.cells.is_empty() && is_heading(text) && taking.pass(4) {
                continue;
            }
            break;
        };
        let (title, values) = text.split_at(at + "Read/Write".len());
        if title.starts_with("Average Latency") {
            if number(values.trim_start_matches([':', ' '])).is_some() {
                taking.block.problems.push(Diagnostic::note(
                    Code::UNIT_FAULT,
                    Some(log.span_of(text)),
                    "this summary names one unit whatever unit fio had printed its latency in; it was not taken",
                ));
            }
            taking.keep(segment);
            continue;
        }
        // each of them is of a run of its own
        let mut push = |name: &'t str, quantity, pair: Option<[super::Amount<'t>; 2]>| {
            for (amount, direction) in pair
                .into_iter()
                .flatten()
                .zip([Direction::Read, Direction::Write])
            {
                let mut cell = Cell {
                    direction: Some(direction),
                    ..Cell::default()
                };
                cell.labels.push(figure(log, title));
                cell.labels
                    .extend((!name.is_empty()).then(|| figure(log, name)));
                *cell.place(quantity) = Some(amount);
                taking.block.cells.push(cell);
            }
        };
        let name_at = |at: usize, length: usize| &values[at..at + length];
        if let Some(at) = values.find("IOPS:") {
            let iops = &values[at + 5..];
            push(
                name_at(at, 4),
                Quantity::Iops,
                pair(log, iops, Quantity::Iops, None),
            );
        } else if let Some(rates) = values.strip_prefix(':') {
            push("", Quantity::Rate, pair(log, rates, Quantity::Rate, None));
        }
        if let Some(at) = values.find("BW:") {
            let rates = &values[at + 3..];
            push(
                name_at(at, 2),
                Quantity::Rate,
                pair(log, rates, Quantity::Rate, None),
            );
        } else if let Some(at) = values.find("BW(")
            && let Some((unit, rates)) = values[at + 3..].split_once(')')
            && super::rate_unit(unit).is_some()
        {
            let rates = rates.trim_start_matches(':');
            push(
                name_at(at, 2),
                Quantity::Rate,
                pair(log, rates, Quantity::Rate, Some(unit)),
            );
        }
        taking.keep(segment);
    }
    taking
}

/// A line of the frame around dbench's title.
fn is_heading(text: &str) -> bool {
    is_ruler(text) || is_dbench_title(text)
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, read};
    use super::*;

    fn table(text: &str) -> (TableBlock<'static>, usize) {
        let text: &'static str = text.to_owned().leak();
        let log: &'static Log<'static> =
            Box::leak(Box::new(Log::from_bytes("log", text.as_bytes()).unwrap()));
        let mut lines = log.segments();
        let block = read(log, &mut lines).expect("a summary");
        (block, lines.count())
    }

    fn shown(cell: &Cell<'_>) -> String {
        let labels: Vec<&str> = cell.labels.iter().map(|label| label.text).collect();
        let amounts: Vec<String> = cell
            .amounts()
            .map(|amount| format!("{} {}", amount.number, amount.unit))
            .collect();
        let direction = cell.direction.map_or("?", Direction::as_str);
        format!("{} {direction}: {}", labels.join("/"), amounts.join(", "))
    }

    fn all(text: &str) -> Vec<String> {
        table(text).0.cells.iter().map(shown).collect()
    }

    #[test]
    fn yabs_tables_go_on_over_rulers() {
        let text = "Block Size | 4k            (IOPS) | 64k           (IOPS)\n  ------   | ---            ----  | ----           ----\nRead       | 335.96 MB/s  (83.9k) | 774.68 MB/s  (12.1k)\nTotal      | 672.81 MB/s (168.2k) | 1.55 GB/s    (24.2k)           |                      |\nBlock Size | 512k          (IOPS) | 1m            (IOPS)\n  ------ | --- ---- | ---- ----\nWrite      | 651.74 MB/s   (1.2k) | 633.14 MB/s    (618)\n\nGeekbench\n";
        assert_eq!(
            all(text),
            [
                "4k read: 335.96 MB/s, 83.9 k",
                "64k read: 774.68 MB/s, 12.1 k",
                "4k mixed: 672.81 MB/s, 168.2 k",
                "64k mixed: 1.55 GB/s, 24.2 k",
                "512k write: 651.74 MB/s, 1.2 k",
                "1m write: 633.14 MB/s, 618 ",
            ]
        );
        assert_eq!(table(text).1, 2);
    }

    #[test]
    fn kbench_of_one_volume_and_of_two() {
        let text = "FIO Benchmark Summary\nFor: test_device\nSize: 30G\n=====================\nIOPS (Read/Write)\n        Random:          90,546 / 73,514\n  CPU Idleness:                      32%\n\nBandwidth in KiB/sec (Read/Write)\n    Sequential:        459,349 / 349,123\n\n\nLatency in ns (Read/Write)\n        Random:         160,387 / 65,962\n";
        assert_eq!(
            all(text),
            [
                "IOPS/Random read: 90,546 ",
                "IOPS/Random write: 73,514 ",
                "Bandwidth in KiB/sec/Sequential read: 459,349 KiB/sec",
                "Bandwidth in KiB/sec/Sequential write: 349,123 KiB/sec",
                "Latency in ns/Random read: 160,387 ns",
                "Latency in ns/Random write: 65,962 ns",
            ]
        );
        let text = "FIO Benchmark Comparsion Summary\nFor: raw vs ext4\n====\n          raw   vs   ext4   :     Change\nIOPS (Read/Write)\n  Random:   96,735 / 89,565   vs   98,135 / 88,990    :   1.45% / -0.64%\n";
        assert_eq!(
            all(text),
            [
                "raw/IOPS/Random read: 96,735 ",
                "raw/IOPS/Random write: 89,565 ",
                "ext4/IOPS/Random read: 98,135 ",
                "ext4/IOPS/Random write: 88,990 ",
            ]
        );
        let text = "IOPS\n        Random Read:           13,154 (sys/usr cpu: 5% / 2%)\n   Sequential Write:           13,739 (sys/usr cpu: 6% / 2%)\n";
        assert_eq!(
            all(text),
            [
                "IOPS/Random Read read: 13,154 ",
                "IOPS/Sequential Write write: 13,739 "
            ]
        );
    }

    #[test]
    fn kubestr_names_its_jobs() {
        let text = "FIO version - fio-3.36\nGlobal options - ioengine=libaio verify=0\n  blocksize=128k rw=randwrite\nJobName: read_iops\n  blocksize=4K filesize=2G iodepth=64 rw=randread\nread:\n  IOPS=536.328308 BW(KiB/s)=2161\n  iops: min=293 max=802 avg=540.172424\n  bw(KiB/s): min=1175 max=3209 avg=2162.206787\n\nJobName: write_bw\nwrite:\n  IOPS=504.872375 BW(KiB/s)=65158\n\nDisk stats (read/write):\n  -  OK\n";
        let (block, _) = table(text);
        assert_eq!(block.version, Some("fio-3.36"));
        let jobs: Vec<_> = block.cells.iter().map(|cell| cell.job.unwrap()).collect();
        assert_eq!(jobs, ["read_iops", "write_bw"]);
        assert_eq!(
            all(text),
            [
                " read: 2161 KiB/s, 536.328308 ",
                " write: 65158 KiB/s, 504.872375 "
            ]
        );
    }

    #[test]
    fn dbench_and_its_copies() {
        let text = "Random Read/Write IOPS: 75.7k/59.7k. BW: 523MiB/s / 500MiB/s\nAverage Latency (usec) Read/Write: 183.07/76.91\nSequential Read/Write: 536MiB/s / 512MiB/s\nMixed Random Read/Write IOPS: 43.1k/14.4k\nx\n";
        let (block, left) = table(text);
        assert_eq!((block.cells.len(), block.problems.len(), left), (8, 1, 1));
        assert_eq!(
            all(text)[1..4],
            [
                "Random Read/Write/IOPS write: 59.7 k",
                "Random Read/Write/BW read: 523 MiB/s",
                "Random Read/Write/BW write: 500 MiB/s",
            ]
        );
        let text = "Random Read/Write IOPS: 3741 / 9894. BW(KiB/s): 14950 / 39594.  lat(usec) 17123 / 6534\nSequential Read/Write IOPS: 24633 / 27266. BW(KiB/s) 98508 / 109226. lat(usec) 2669 / 2347\n";
        assert_eq!(
            all(text)[2..6],
            [
                "Random Read/Write/BW read: 14950 KiB/s",
                "Random Read/Write/BW write: 39594 KiB/s",
                "Sequential Read/Write/IOPS read: 24633 ",
                "Sequential Read/Write/IOPS write: 27266 ",
            ]
        );
    }
}
