//! Lines that people write of fio's figures, with what was run in front.
//!
//! ```text
//! lines   = { title ":" [ newline ] pairs }       title: names a direction, and an option such as bs=4k or few words
//! ```
//!
//! Between two of them one line may stand that holds another rate (`sync speed: about 180MB/s`): it is no title.

use super::column::pairs;
use super::words::direction_of;
use super::{Cell, TableBlock, Tool, figure};
use crate::block::dd::line::{trimmed, unmarked};
use crate::record::Direction;
use crate::source::{Log, Segment, Segments};

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
pub(super) fn read<'t>(
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
            if waiting.replace(title).is_some() {
                // two titles and nothing below the first
                break;
            }
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
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let first = lines.clone().next().unwrap();
        let cells = read(&log, first, &mut lines).map_or(Vec::new(), |block| block.cells);
        let show = |cell: &Cell<'_>| {
            let amounts: Vec<String> = cell
                .amounts()
                .map(|amount| format!("{} {}", amount.number, amount.unit))
                .collect();
            let direction = cell.direction.map_or("?", Direction::as_str);
            format!(
                "{} {direction}: {}",
                cell.labels[0].text,
                amounts.join(", ")
            )
        };
        cells.iter().map(show).collect()
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
