//! Tables and lines that people make of fio's figures.
//!
//! ```text
//! table   = head { ruler } { row }           cells between "|", or in columns parted by two blanks or a tab
//! head    = cells without figures of their own
//! cell    = pairs | amount { separator amount } | number (its unit being in the head) | words
//! pairs   = key "=" amount { "," key "=" amount }         key: iops, bw, lat, …
//! lines   = { title ":" [ newline ] pairs }               title: names a direction, and an option such as bs=4k
//! ```
//!
//! What a column is of stands in its head: `IOPS`, `BW (MiB/s)`, `Read BW`, `avg lat (us)`. Percentiles, extremes and
//! changes are no results and are left alone, and so is what has no unit. The words left of the first figure are the
//! row's title; words of a head that say more than quantity, unit and direction are a title too. Amounts of one row
//! whose titles and direction are the same are one result.

use super::tools::is_ruler;
use super::words::{amount, bare, count, direction_of, latency_unit_at, rate_unit_at};
use super::{Amount, Cell, Quantity, TableBlock, Tool, figure};
use crate::block::dd::line::{trimmed, unmarked};
use crate::lex;
use crate::record::Direction;
use crate::source::{Log, Segment, Segments};

/// How many rows are looked at for a first figure, rulers among them.
const LOOK_AHEAD: usize = 8;

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
        return titled_lines(log, first, lines);
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
    fn cells<'t>(self, text: &'t str) -> Vec<&'t str> {
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
fn plain(cell: &str) -> &str {
    cell.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`'))
}

/// The row without quote marks in front; a table's own first pipe stays.
fn row_text(text: &str) -> &str {
    crate::block::prose::unquoted(text)
}

/// The head of a column.
struct Column<'t> {
    title: &'t str,
    /// What the numbers below are of, where the head says it.
    quantity: Option<Quantity>,
    /// Their unit, where the head says it.
    unit: &'t str,
    direction: Option<Direction>,
    /// Whether the head says more than quantity, unit and direction.
    says_more: bool,
    /// Whether the numbers below are no results: percentiles, extremes, changes.
    passed: bool,
}

/// The unit within a head: `BW (MiB/s)`, `MB/s`, `lat, usec`.
fn unit_within(head: &str) -> Option<(Quantity, &str)> {
    let mut at = 0;
    let starts = head.char_indices().filter(move |&(offset, c)| {
        let starts = at == 0 || !c.is_alphanumeric() || offset == 0;
        at = offset;
        starts
    });
    for (offset, c) in starts {
        let from = if c.is_alphanumeric() || offset == 0 && c != '(' {
            offset
        } else {
            offset + c.len_utf8()
        };
        let rest = &head[from..];
        if let Some(unit) = rate_unit_at(rest) {
            return Some((Quantity::Rate, unit));
        }
        if let Some(unit) = latency_unit_at(rest) {
            return Some((Quantity::Latency, unit));
        }
    }
    None
}

impl<'t> Column<'t> {
    fn of(title: &'t str) -> Self {
        let lower = title.to_lowercase();
        let words = || {
            lower
                .split(|c: char| !(c.is_alphanumeric() || c == '.'))
                .filter(|word| !word.is_empty())
        };
        let has = |names: &[&str]| names.iter().any(|name| lower.contains(name));
        let unit = unit_within(title);
        let quantity = if has(&["iops"]) {
            Some(Quantity::Iops)
        } else if let Some((quantity, _)) = unit {
            Some(quantity)
        } else if words().any(|word| word == "bw")
            || has(&[
                "bandwidth",
                "throughput",
                "带宽",
                "吞吐",
                "スループット",
                "帯域",
            ])
        {
            Some(Quantity::Rate)
        } else if words().any(|word| matches!(word, "lat" | "clat"))
            || has(&["latency", "延迟", "时延", "レイテンシ"])
        {
            Some(Quantity::Latency)
        } else {
            None
        };
        let passed = words().any(|word| {
            matches!(
                word,
                "min"
                    | "max"
                    | "stdev"
                    | "stddev"
                    | "std"
                    | "dev"
                    | "change"
                    | "diff"
                    | "delta"
                    | "ratio"
                    | "gain"
                    | "vs"
                    | "slat"
                    | "limit"
                    | "spec"
                    | "expected"
                    | "target"
            ) || word.len() > 1
                && word.starts_with('p')
                && word[1..].starts_with(|c: char| c.is_ascii_digit())
                || word.ends_with("th") && word.starts_with(|c: char| c.is_ascii_digit())
        }) || has(&["%", "±", "百分", "提升"]);
        let direction = direction_of(title);
        let known = [
            "iops",
            "bw",
            "bandwidth",
            "throughput",
            "lat",
            "clat",
            "latency",
            "avg",
            "average",
            "mean",
            "total",
            "mixed",
            "read",
            "reads",
            "write",
            "writes",
            "r",
            "w",
            "带宽",
            "吞吐",
            "吞吐量",
            "in",
            "speed",
            "kib",
            "mib",
            "gib",
            "kb",
            "mb",
            "gb",
            "b",
            "s",
            "sec",
            "us",
            "usec",
            "ms",
            "msec",
            "ns",
            "nsec",
            "µs",
            "μs",
            "平均",
        ];
        let says_more = words().any(|word| !known.contains(&word));
        Self {
            title,
            quantity,
            unit: unit
                .filter(|(of, _)| Some(*of) == quantity)
                .map_or("", |(_, unit)| unit),
            direction,
            says_more,
            passed,
        }
    }

    /// The amounts in a cell of this column.
    fn amounts(&self, log: &Log<'_>, cell: &'t str) -> Vec<(Quantity, Amount<'t>)> {
        if self.passed {
            return Vec::new();
        }
        if cell.contains('=') {
            return pairs(log, cell).unwrap_or_default();
        }
        let mut found: Vec<(Quantity, Amount<'t>)> = Vec::new();
        let mut rest = cell;
        while let Some((quantity, amount, behind)) = amount(log, rest) {
            // of a figure in two units the first is taken
            if found.iter().all(|(have, _)| *have != quantity) {
                found.push((quantity, amount));
            }
            rest = behind.trim_start_matches([' ', ',', ';', '/', '(', ')', '@', '*', '`']);
        }
        if !found.is_empty() {
            return found;
        }
        let known = match self.quantity {
            Some(Quantity::Iops) => count(log, cell).map(|found| (Quantity::Iops, found)),
            Some(quantity) if !self.unit.is_empty() => {
                bare(log, cell, self.unit).map(|found| (quantity, found))
            }
            _ => None,
        };
        match known {
            Some((quantity, (amount, behind)))
                if plain(behind).is_empty() || behind.trim_start().starts_with('(') =>
            {
                vec![(quantity, amount)]
            }
            _ => Vec::new(),
        }
    }
}

/// `IOPS=5928, BW=23.2MiB/s, lat=21587.15usec`: every pair must be one, the keys that are known count.
fn pairs<'t>(log: &Log<'_>, text: &'t str) -> Option<Vec<(Quantity, Amount<'t>)>> {
    let mut found: Vec<(Quantity, Amount<'t>)> = Vec::new();
    let mut rest = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`'));
    while !rest.is_empty() {
        let (key, value) = rest.split_once('=')?;
        let key = key.trim();
        if key.len() > 24
            || !key
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b' ')
        {
            return None;
        }
        let value = lex::skip_blanks(value);
        let quantity = if key.eq_ignore_ascii_case("iops") {
            Some(Quantity::Iops)
        } else if ["bw", "aggrb", "bandwidth"]
            .iter()
            .any(|name| key.eq_ignore_ascii_case(name))
        {
            Some(Quantity::Rate)
        } else if ["lat", "avg lat", "latency"]
            .iter()
            .any(|name| key.eq_ignore_ascii_case(name))
        {
            Some(Quantity::Latency)
        } else {
            None
        };
        let amount = match quantity {
            Some(Quantity::Iops) => count(log, value).map(|(amount, rest)| (amount, rest)),
            Some(quantity) => amount(log, value)
                .filter(|(have, ..)| *have == quantity)
                .map(|(_, amount, rest)| (amount, rest)),
            None => None,
        };
        rest = match (quantity, amount) {
            (Some(quantity), Some((amount, behind))) => {
                if found.iter().all(|(have, _)| *have != quantity) {
                    found.push((quantity, amount));
                }
                // fio's second unit in parentheses
                match behind.trim_start().strip_prefix('(') {
                    Some(twin) => twin.split_once(')')?.1,
                    None => behind,
                }
            }
            // a key that is not known, or whose value has no unit
            _ => &value[value.find([',', ';']).unwrap_or(value.len())..],
        };
        let behind = rest.trim_start_matches([' ', ',', ';', '\t']);
        if !behind.is_empty() && behind.len() == rest.len() {
            return None;
        }
        rest = behind;
    }
    (!found.is_empty()).then_some(found)
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

/// Whether a line's title tells what was run: it names a direction, and an option or nothing but the pattern.
fn is_title(title: &str) -> bool {
    let title = title.trim();
    if title.len() > 160
        || !matches!(
            direction_of(title),
            Some(Direction::Read | Direction::Write)
        )
    {
        return false;
    }
    let option = ["bs=", "rw=", "iodepth=", "numjobs=", "blocksize="]
        .iter()
        .any(|option| title.contains(option));
    let mut words = title.split_whitespace();
    option || words.by_ref().take(4).count() <= 3 && words.next().is_none() && !title.contains('=')
}

/// Pairs with the title in front of them, on the same line or on the line above.
fn titled_lines<'t>(
    log: &Log<'_>,
    first: Segment<'t>,
    lines: &mut Segments<'t>,
) -> Option<TableBlock<'t>> {
    let mut block = TableBlock {
        span: first.span,
        tool: Tool::Keys,
        version: None,
        cells: Vec::new(),
        problems: Vec::new(),
    };
    let mut ahead = lines.clone();
    let mut end = ahead.clone();
    let mut waiting: Option<&'t str> = None;
    let mut strangers = 0;
    while let Some(segment) = ahead.next() {
        let text = trimmed(unmarked(segment.text));
        if text.len() > 400 {
            break;
        }
        // the title in front, and the pairs behind it
        let parts = match text.split_once(": ") {
            Some((title, values)) if is_title(title) => Some((title, pairs(log, values))),
            _ => waiting
                .filter(|_| text.contains('='))
                .map(|title| (title, pairs(log, text)))
                .filter(|(_, found)| found.is_some()),
        };
        if let Some((title, Some(found))) = parts {
            let mut cell = Cell {
                direction: direction_of(title),
                ..Cell::default()
            };
            cell.labels.push(figure(log, title.trim()));
            for (quantity, amount) in found {
                *cell.place(quantity) = Some(amount);
            }
            if !cell.is_empty() {
                block.cells.push(cell);
                block.span.end = segment.span.end;
                end = ahead.clone();
            }
            (waiting, strangers) = (None, 0);
            continue;
        }
        if let Some(title) = text.strip_suffix(':').filter(|title| is_title(title)) {
            waiting = Some(title);
            continue;
        }
        if block.cells.is_empty() {
            break;
        }
        // between results one line may stand that gives another rate
        waiting = None;
        strangers += 1;
        if strangers > 1 || !text.to_ascii_lowercase().contains("b/s") {
            break;
        }
    }
    if block.cells.is_empty() {
        return None;
    }
    *lines = end;
    Some(block)
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

    #[test]
    fn lines_with_a_title() {
        let text = "libaio read bs=4k direct=1 runtime=120:\nbw=1845KiB/s\nsync speed: about 180MB/s\nlibaio randwrite bs=4k runtime=120:\nbw=9312B/s\nsync speed: about 150MB/s\n\nnext\n";
        assert_eq!(
            found(text),
            [
                "libaio read bs=4k direct=1 runtime=120 read: 1845 KiB/s",
                "libaio randwrite bs=4k runtime=120 write: 9312 B/s",
            ]
        );
        assert_eq!(
            found("rand read: bw=17.5KiB/s, iops=4.4k\n"),
            ["rand read read: 17.5 KiB/s, 4.4 k"]
        );
        for text in [
            "I read: a=b\n",
            "we write bs=4k: and then\n",
            "read bs=4k:\nit took a while\n",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
