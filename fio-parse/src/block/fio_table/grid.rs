//! Tables that people make of fio's figures.
//!
//! ```text
//! table   = head { ruler } { row }           cells between "|", or in columns parted by two blanks or a tab
//! head    = cells without figures of their own            see `column`
//! row     = words { amounts | words }
//! ```
//!
//! The words left of the first figure are the row's title; words of a head that say more than quantity, unit and
//! direction are a title too. Amounts of one row whose titles and direction are the same are one result.

use super::column::Column;
use super::tools::is_ruler;
use super::words::{amount, direction_of};
use super::{Cell, TableBlock, Tool, figure, lines as titled};
use crate::record::Direction;
use crate::source::{Log, Segment, Segments};

/// How many rows are looked at for a first figure, rulers among them.
const LOOK_AHEAD: usize = 4;

/// In how many lines from a head on a unit has to stand: the head, a ruler, a row, and one to spare.
const NEAR: usize = 4;

/// Reads the table or the lines that start at the cursor with `first`.
pub(super) fn read<'t>(
    log: &Log<'_>,
    first: Segment<'t>,
    lines: &mut Segments<'t>,
) -> Option<TableBlock<'t>> {
    let bytes = first.text.as_bytes();
    if memchr::memchr_iter(b'|', bytes).take(2).count() == 2 {
        let mut near = lines.clone().take(NEAR);
        if !near.any(|line| names_quantity(line.text.as_bytes())) {
            return None;
        }
        return table(log, first, lines, Layout::Pipes);
    }
    if first.text.contains(':') && first.text.contains('=') {
        return titled::read(log, first, lines);
    }
    let columns = memchr::memchr(b'=', bytes).is_none()
        && (memchr::memchr(b'\t', bytes).is_some() || memchr::memmem::find(bytes, b"  ").is_some())
        && (memchr::memmem::find(bytes, b"IOPS").is_some()
            || memchr::memmem::find(bytes, b"B/s").is_some());
    columns.then(|| table(log, first, lines, Layout::Columns))?
}

/// Whether a unit of rate or the name of IOPS stands in a line: a test that lets few tables of other things through.
fn names_quantity(line: &[u8]) -> bool {
    let line = &line[..line.len().min(4096)];
    line.windows(4).any(|four| {
        four.starts_with(b"B/s") || four.starts_with(b"Bps") || four.eq_ignore_ascii_case(b"iops")
    }) || line.ends_with(b"B/s")
}

/// What parts the cells of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Pipes,
    Columns,
}

impl Layout {
    fn cells(self, text: &str) -> Vec<&str> {
        let text = text.trim_matches(char::is_whitespace);
        match self {
            Layout::Pipes => {
                let text = text.strip_prefix('|').unwrap_or(text);
                let text = text.strip_suffix('|').unwrap_or(text);
                text.split('|').map(plain).collect()
            }
            Layout::Columns => {
                let mut cells = Vec::new();
                let mut rest = text;
                while !rest.is_empty() {
                    let end = [rest.find('\t'), rest.find("  ")];
                    let end = end.into_iter().flatten().min().unwrap_or(rest.len());
                    cells.push(plain(&rest[..end]));
                    rest = rest[end..].trim_start();
                }
                cells
            }
        }
    }
}

/// A cell without blanks and marks of emphasis around it.
pub(super) fn plain(cell: &str) -> &str {
    cell.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`'))
}

/// The row without quote marks in front; a table's own first pipe stays.
fn row_text(text: &str) -> &str {
    crate::block::prose::unquoted(text)
}

/// A table whose head stands at the cursor.
fn table<'t>(
    log: &Log<'_>,
    first: Segment<'t>,
    lines: &mut Segments<'t>,
    layout: Layout,
) -> Option<TableBlock<'t>> {
    let titles = layout.cells(row_text(first.text));
    let own_figures = titles.iter().any(|title| amount(log, title).is_some());
    if titles.len() < 2 || titles.len() > 64 || own_figures {
        return None;
    }
    let columns: Vec<Column<'t>> = titles.iter().map(|title| Column::of(title)).collect();
    if layout == Layout::Columns && columns.iter().all(|column| column.quantity.is_none()) {
        return None;
    }
    let mut block = TableBlock {
        span: first.span,
        tool: Tool::Grid,
        version: None,
        cells: Vec::new(),
        problems: Vec::new(),
    };
    let mut ahead = lines.clone();
    ahead.next();
    let mut end = ahead.clone();
    let mut seen = 0;
    while let Some(segment) = ahead.next() {
        seen += 1;
        let text = row_text(segment.text);
        let shaped = match layout {
            Layout::Pipes => text.contains('|') || text.starts_with('+') && is_ruler(text),
            Layout::Columns => !text.is_empty(),
        };
        if !shaped || text.len() > 4096 || block.cells.is_empty() && seen > LOOK_AHEAD {
            break;
        }
        if !is_ruler(text) {
            let cells = layout.cells(text);
            // a head need not name the column of titles
            let shift = usize::from(layout == Layout::Columns && cells.len() == columns.len() + 1);
            if layout == Layout::Columns && cells.len() != columns.len() + shift {
                break;
            }
            row(log, text, &cells, &columns, shift, &mut block);
        }
        block.span.end = segment.span.end;
        end = ahead.clone();
    }
    if block.cells.is_empty() {
        return None;
    }
    *lines = end;
    Some(block)
}

/// One row: its amounts, put together to results.
fn row<'t>(
    log: &Log<'_>,
    text: &'t str,
    cells: &[&'t str],
    columns: &[Column<'t>],
    shift: usize,
    block: &mut TableBlock<'t>,
) {
    let mut title: Option<&'t str> = None;
    let mut results: Vec<(Option<Direction>, &str, Cell<'t>)> = Vec::new();
    for (at, &cell) in cells.iter().enumerate() {
        let column = at.checked_sub(shift).and_then(|at| columns.get(at));
        let amounts = column.map_or(Vec::new(), |column| column.amounts(log, cell));
        let Some(column) = column.filter(|_| !amounts.is_empty()) else {
            if results.is_empty() && !cell.is_empty() {
                let start = title.map_or(cell, |title| title);
                let from = start.as_ptr() as usize - text.as_ptr() as usize;
                let to = cell.as_ptr() as usize - text.as_ptr() as usize + cell.len();
                title = Some(&text[from..to]);
            }
            continue;
        };
        let column_title = if column.says_more || column.quantity.is_none() {
            column.title
        } else {
            ""
        };
        if cell.contains('=') {
            block.tool = Tool::Keys;
        }
        let direction = column.direction;
        let index = results
            .iter()
            .position(|(have, titled, _)| {
                // columns of one direction, and columns that say none, each are one result
                *have == direction && *titled == column_title
            })
            .filter(|&index| {
                let cell = &mut results[index].2;
                amounts
                    .iter()
                    .all(|(quantity, _)| cell.place(*quantity).is_none())
            });
        let index = index.unwrap_or_else(|| {
            results.push((direction, column_title, Cell::default()));
            results.len() - 1
        });
        for (quantity, amount) in amounts {
            *results[index].2.place(quantity) = Some(amount);
        }
    }
    let named = title.and_then(direction_of);
    for (direction, column_title, mut cell) in results {
        if cell.rate.is_none() && cell.iops.is_none() {
            // a latency alone is no result
            continue;
        }
        cell.direction = direction.or(named);
        cell.labels.extend(
            title
                .into_iter()
                .chain((!column_title.is_empty()).then_some(column_title))
                .filter(|title| !title.is_empty())
                .map(|title| figure(log, title)),
        );
        block.cells.push(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let block = read(&log, &mut lines);
        let cells = block.map_or(Vec::new(), |block| block.cells);
        let show = |cell: &Cell<'_>| {
            let labels: Vec<&str> = cell.labels.iter().map(|label| label.text).collect();
            let amounts: Vec<String> = cell
                .amounts()
                .map(|amount| format!("{} {}", amount.number, amount.unit))
                .collect();
            format!(
                "{} {}: {}",
                labels.join("/"),
                cell.direction.map_or("?", Direction::as_str),
                amounts.join(", ")
            )
        };
        cells.iter().map(show).collect()
    }

    #[test]
    fn cells_with_keys_of_fio() {
        assert_eq!(
            found(
                "| 场景 | before | after |\n| --- | --- | --- |\n| 4k 随机写 | IOPS=5928, BW=23.2MiB/s, lat=21587.15usec | bw=83571KB/s, iops=20892,lat=6124.95usec |\n"
            ),
            [
                "4k 随机写/before write: 23.2 MiB/s, 5928 , 21587.15 usec",
                "4k 随机写/after write: 83571 KB/s, 20892 , 6124.95 usec",
            ]
        );
    }

    #[test]
    fn units_in_the_head() {
        assert_eq!(
            found(
                "| Condition | Workload | IOPS | BW (MiB/s) | p99 (us) | WAF |\n|---|---|---:|---:|---:|---:|\n| gc50 | randread-4k-qd1 | 25,915.8 | 101.2 | 51.5 | 1.000 |\n"
            ),
            ["gc50 | randread-4k-qd1 read: 101.2 MiB/s, 25,915.8 "]
        );
        assert_eq!(
            found(
                "Test              IOPS     Bandwidth (MB/s)\nSeqRead 1M        **737**   772.8\nSeqWrite 1M       109       114\n\nx\n"
            ),
            [
                "SeqRead 1M read: 772.8 MB/s, 737 ",
                "SeqWrite 1M write: 114 MB/s, 109 "
            ]
        );
        assert_eq!(
            found(
                "| System | Read IOPS | Read BW | Write BW | Change |\n|-|-|-|-|-|\n| a | 63.3k | 124 MiB/s | 120 MiB/s | 5 |\n"
            ),
            ["a read: 124 MiB/s, 63.3 k", "a write: 120 MiB/s"]
        );
    }

    #[test]
    fn units_in_the_cells() {
        assert_eq!(
            found(
                "| Workload | 1 queue | 4 queues |\n|---|---|---|\n| randread | 801k IOPS | **1.37M IOPS** (93 µs average latency) |\n"
            ),
            [
                "randread/1 queue read: 801 k",
                "randread/4 queues read: 1.37 M, 93 µs"
            ]
        );
    }

    #[test]
    fn what_has_no_unit_is_not_read() {
        for text in [
            "| config | randread | randwrite |\n|---|---|---|\n| cold | 32.0 | 34.5 |\n",
            "| disk | bandwidth |\n|---|---|\n| a | 120 |\n",
            "| link | bandwidth (Gbit/s) |\n|---|---|\n| a | 9.8 |\n",
            "Device   tps   MB_read/s  MB_wrtn/s\nsda   12   1.2   3.4\n",
            "|a|b|\n",
            "posixaio SW     SR     RW   libaio IOPS=\naws  434    130    1453\n",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
