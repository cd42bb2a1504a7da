//! Columns of a table: what their head says, and the amounts in a cell below it.
//!
//! ```text
//! cell    = pairs | amount { separator amount } | number (its unit being in the head) | words
//! pairs   = key "=" amount { "," key "=" amount }         key: iops, bw, lat, …
//! ```
//!
//! What a column is of stands in its head: `IOPS`, `BW (MiB/s)`, `Read BW`, `avg lat (us)`. Percentiles, extremes and
//! changes are no results and are left alone, and so is what has no unit.

use super::grid::plain;
use super::words::{amount, bare, count, direction_of, latency_unit_at, rate_unit_at};
use super::{Amount, Quantity};
use crate::lex;
use crate::record::Direction;
use crate::source::Log;

/// The head of a column.
pub(super) struct Column<'t> {
    /// The words.
    pub title: &'t str,
    /// What the numbers below are of, where the head says it.
    pub quantity: Option<Quantity>,
    /// Their unit, where the head says it.
    unit: &'t str,
    /// Which way bytes went, where the head says it.
    pub direction: Option<Direction>,
    /// Whether the head says more than quantity, unit and direction.
    pub says_more: bool,
    /// Whether the numbers below are no results: percentiles, extremes, changes.
    passed: bool,
}

/// The unit within a head: `BW (MiB/s)`, `MB/s`, `lat, usec`.
fn unit_within(head: &str) -> Option<(Quantity, &str)> {
    let mut before = ' ';
    for (offset, c) in head.char_indices() {
        let starts = !(before.is_alphanumeric() || matches!(before, '_' | '/'));
        before = c;
        if !starts {
            continue;
        }
        let rest = &head[offset..];
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
    /// Reads a head.
    pub fn of(title: &'t str) -> Self {
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
                "スループット",
                "帯域",
                "レイテンシ",
                "平均レイテンシ",
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
            "スループット",
            "帯域",
            "レイテンシ",
            "平均レイテンシ",
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
    pub fn amounts(&self, log: &Log<'_>, cell: &'t str) -> Vec<(Quantity, Amount<'t>)> {
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
                if matches!(plain(behind).chars().next(), None | Some('(')) =>
            {
                vec![(quantity, amount)]
            }
            _ => Vec::new(),
        }
    }
}

/// `IOPS=5928, BW=23.2MiB/s, lat=21587.15usec`: every pair must be one, the keys that are known count.
pub(super) fn pairs<'t>(log: &Log<'_>, text: &'t str) -> Option<Vec<(Quantity, Amount<'t>)>> {
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
            Some(Quantity::Iops) => count(log, value),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_say_quantity_unit_and_direction() {
        for (head, quantity, unit, direction, says_more) in [
            ("IOPS", Some(Quantity::Iops), "", None, false),
            ("BW (MiB/s)", Some(Quantity::Rate), "MiB/s", None, false),
            (
                "Read BW",
                Some(Quantity::Rate),
                "",
                Some(Direction::Read),
                false,
            ),
            ("MB/s", Some(Quantity::Rate), "MB/s", None, false),
            ("avg lat (us)", Some(Quantity::Latency), "us", None, false),
            (
                "4k write IOPS",
                Some(Quantity::Iops),
                "",
                Some(Direction::Write),
                true,
            ),
            ("rMB/s", None, "", None, true),
            ("Gbit/s", None, "", None, true),
        ] {
            let column = Column::of(head);
            assert_eq!(
                (
                    column.quantity,
                    column.unit,
                    column.direction,
                    column.says_more
                ),
                (quantity, unit, direction, says_more),
                "{head}"
            );
            assert!(!column.passed, "{head}");
        }
        for head in [
            "p99 (us)",
            "99.9th lat (us)",
            "max IOPS",
            "BW change (%)",
            "slat (us)",
        ] {
            assert!(Column::of(head).passed, "{head}");
        }
    }

    #[test]
    fn pairs_are_all_or_nothing() {
        let log = |text: &'static str| Log::from_bytes("log", text.as_bytes()).unwrap();
        let numbers = |text| {
            let log = log(text);
            pairs(&log, log.text()).map(|pairs| {
                pairs
                    .iter()
                    .map(|(_, a)| a.number.to_owned())
                    .collect::<Vec<_>>()
            })
        };
        let found = |text: &[&str]| Some(text.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            numbers("IOPS=5928, BW=23.2MiB/s (24.3MB/s), lat=2usec"),
            found(&["5928", "23.2", "2"])
        );
        assert_eq!(numbers("bw=9312B/s; runt=5000"), found(&["9312"]));
        assert_eq!(numbers("bw=9312B/s and so on"), None);
        assert_eq!(numbers("bw=9312"), None);
        assert_eq!(numbers("if=a of=b"), None);
    }
}
