//! Values of options that [`fio_parse`] keeps as text: sizes, times, lists.

use fio_parse::workload::job_of_options;

use crate::plan::job::{RangeSync, Service, Sizes, Spread};

/// fio's boolean: a bare flag is true.
pub(super) fn truth(value: &str) -> Option<bool> {
    match value {
        "" | "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

/// A size or a count with fio's suffixes; `decimal` is `kb_base=1000`.
pub(super) fn size(value: &str, decimal: bool) -> Option<u64> {
    let base = if decimal { "1000" } else { "1024" };
    let job = job_of_options("", [("kb_base", base), ("size", value)], &mut Vec::new());
    job.size_bytes.map(|bytes| bytes.0)
}

/// A time in ns; a bare number counts `bare` ns each.
pub(super) fn time(value: &str, bare: u64) -> Option<u64> {
    if let Ok(number) = value.parse::<u64>() {
        return number.checked_mul(bare);
    }
    let job = job_of_options("", [("runtime", value)], &mut Vec::new());
    job.runtime_ns.map(|time| time.get() as u64)
}

fn block(value: &str, decimal: bool) -> Option<u32> {
    size(value, decimal)
        .and_then(|bytes| u32::try_from(bytes).ok())
        .filter(|&bytes| bytes > 0)
}

/// Values of reads and writes (trims are left out); one that is missing repeats the last.
pub(super) fn by_direction<T: Clone>(
    value: &str,
    one: impl Fn(&str) -> Option<T>,
) -> Option<[T; 2]> {
    let mut parts = value.split(',');
    let reads = one(parts.next()?.trim())?;
    let writes = match parts.next().map(str::trim) {
        Some("") | None => reads.clone(),
        Some(text) => one(text)?,
    };
    Some([reads, writes])
}

/// `bsrange=1k-4k,2k-8k`.
pub(super) fn range(value: &str, decimal: bool) -> Option<[Sizes; 2]> {
    by_direction(value, |text| {
        let (low, high) = text.split_once('-')?;
        let (low, high) = (block(low.trim(), decimal)?, block(high.trim(), decimal)?);
        Some(match low.cmp(&high) {
            std::cmp::Ordering::Equal => Sizes::One(low),
            std::cmp::Ordering::Less => Sizes::Range(low, high),
            std::cmp::Ordering::Greater => Sizes::Range(high, low),
        })
    })
}

/// `filesize=1m-4m`, the smaller first.
pub(super) fn file_range(value: &str, decimal: bool) -> Option<(u64, u64)> {
    let (low, high) = value.split_once('-')?;
    let (low, high) = (size(low.trim(), decimal)?, size(high.trim(), decimal)?);
    (low > 0 && high > 0).then_some((low.min(high), low.max(high)))
}

/// `bssplit=4k/70:16k/30,...`: sizes without a share divide what is left evenly.
pub(super) fn split(value: &str, decimal: bool) -> Option<[Sizes; 2]> {
    by_direction(value, |text| {
        let mut parts = Vec::new();
        for part in text.split(':') {
            let (bytes, share) = match part.split_once('/') {
                Some((bytes, share)) if !share.trim().is_empty() => {
                    (bytes, Some(share.trim().parse::<u8>().ok()?))
                }
                Some((bytes, _)) => (bytes, None),
                None => (part, None),
            };
            parts.push((block(bytes.trim(), decimal)?, share));
        }
        let given: u32 = parts.iter().filter_map(|part| part.1).map(u32::from).sum();
        let open = parts.iter().filter(|part| part.1.is_none()).count() as u32;
        if given > 100 || (open == 0 && given != 100) || parts.len() > 64 {
            return None;
        }
        let each = (100 - given).checked_div(open).unwrap_or(0) as u8;
        let mut parts: Vec<(u32, u8)> = parts
            .into_iter()
            .map(|(bytes, share)| (bytes, share.unwrap_or(each)))
            .collect();
        // What the division leaves over goes to the last, so that the shares make 100.
        let sum: u8 = parts.iter().map(|part| part.1).sum();
        if let Some(last) = parts.last_mut().filter(|_| open > 0) {
            last.1 += 100 - sum;
        }
        parts.retain(|part| part.1 > 0);
        // fio looks for the first size whose cumulated share exceeds the draw, smallest first.
        parts.sort_by_key(|part| part.0);
        Some(match parts[..] {
            [] => return None,
            [(bytes, _)] => Sizes::One(bytes),
            _ => Sizes::Split(parts),
        })
    })
}

/// `random_distribution`.
pub(super) fn spread(value: &str) -> Option<Spread> {
    let (name, rest) = value.split_once(':').unwrap_or((value, ""));
    // `zipf:1.2/0.5` moves the centre, which is scattered here anyway.
    let first = rest.split('/').next().unwrap_or_default();
    let number = |default: f64| {
        if first.is_empty() {
            Some(default)
        } else {
            first.parse::<f64>().ok()
        }
    };
    match name {
        "random" => Some(Spread::Even),
        "zipf" => number(1.1)
            .filter(|&t| t > 0.0 && t != 1.0 && t < 100.0)
            .map(Spread::Zipf),
        "pareto" => number(0.2)
            .filter(|&h| h > 0.0 && h < 1.0)
            .map(Spread::Pareto),
        "normal" | "gauss" => number(0.0)
            .filter(|&d| (0.0..=100.0).contains(&d))
            .map(Spread::Normal),
        "zoned" => zoned(rest).map(Spread::Zoned),
        _ => None,
    }
}

fn zoned(text: &str) -> Option<Vec<(u8, u8)>> {
    // Only the first list: reads, or all directions.
    let mut parts = Vec::new();
    for part in text.split(',').next()?.split(':') {
        let (access, share) = part.split_once('/')?;
        parts.push((access.trim().parse().ok()?, share.trim().parse().ok()?));
    }
    let sum =
        |which: fn(&(u8, u8)) -> u8| parts.iter().map(|part| u32::from(which(part))).sum::<u32>();
    (sum(|part| part.0) == 100 && sum(|part| part.1) <= 100 && parts.len() <= 256).then_some(parts)
}

/// `file_service_type`.
pub(super) fn service(value: &str) -> Option<Service> {
    let (name, each) = value.split_once(':').unwrap_or((value, "1"));
    let each = each.parse().ok().filter(|&each| each > 0)?;
    match name {
        "roundrobin" => Some(Service::RoundRobin(each)),
        "random" => Some(Service::Random(each)),
        "sequential" => Some(Service::Sequential),
        _ => None,
    }
}

/// `sync_file_range=write:8`, several ways joined by commas.
pub(super) fn range_sync(value: &str) -> Option<RangeSync> {
    let (ways, every) = value.split_once(':')?;
    let mut flags = 0;
    for way in ways.split(',') {
        flags |= match way {
            "wait_before" => libc::SYNC_FILE_RANGE_WAIT_BEFORE,
            "write" => libc::SYNC_FILE_RANGE_WRITE,
            "wait_after" => libc::SYNC_FILE_RANGE_WAIT_AFTER,
            _ => return None,
        };
    }
    let every = every.parse().ok().filter(|&every| every > 0)?;
    Some(RangeSync { every, flags })
}

/// A pattern: `0xdeadbeef`, `"text"`, a number, or several of them; `%o` and files are not
/// taken.
pub(super) fn pattern(value: &str) -> Option<Vec<u8>> {
    const MOST: usize = 512;
    let mut bytes = Vec::new();
    let mut rest = value.trim();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, behind) = quoted.split_once('"')?;
            bytes.extend_from_slice(text.as_bytes());
            rest = behind;
        } else if let Some(hex) = rest.strip_prefix("0x").or(rest.strip_prefix("0X")) {
            let end = hex
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(hex.len());
            let mut digits = hex[..end].to_owned();
            if digits.is_empty() {
                return None;
            }
            if digits.len() % 2 == 1 {
                digits.insert(0, '0');
            }
            for at in (0..digits.len()).step_by(2) {
                bytes.push(u8::from_str_radix(&digits[at..at + 2], 16).ok()?);
            }
            rest = &hex[end..];
        } else {
            let end = rest
                .find(|c: char| !c.is_ascii_digit() && c != '-')
                .unwrap_or(rest.len());
            let number: i64 = rest[..end].parse().ok()?;
            // The fewest bytes that hold it, lowest first.
            let all = number.to_le_bytes();
            let used = all
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(1, |last| last + 1);
            bytes.extend_from_slice(&all[..used]);
            rest = &rest[end..];
        }
    }
    (!bytes.is_empty() && bytes.len() <= MOST).then_some(bytes)
}

/// A list of CPUs: `0,2-5`.
pub(super) fn cpus(value: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in value.split([',', ':']) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last > 4096 {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_shares() {
        assert_eq!(
            split("4k/70:16k/30", false),
            Some([0, 1].map(|_| Sizes::Split(vec![(4096, 70), (16_384, 30)])))
        );
        let [reads, writes] = split("4k/50:8k/,2k/100", false).unwrap();
        assert_eq!(
            (reads, writes),
            (Sizes::Split(vec![(4096, 50), (8192, 50)]), Sizes::One(2048))
        );
        assert_eq!(
            split("1k/33:2k/:4k/", false).unwrap()[0],
            Sizes::Split(vec![(1024, 33), (2048, 33), (4096, 34)])
        );
        for wrong in ["", "4k/70", "4k/70:8k/40", "x/100", "4k/-1:8k/101", "0/100"] {
            assert_eq!(split(wrong, false), None, "{wrong}");
        }
        assert_eq!(
            range("1k-4k", false),
            Some([0, 1].map(|_| Sizes::Range(1024, 4096)))
        );
        assert_eq!(
            range("4k-1k,8k-8k", false),
            Some([Sizes::Range(1024, 4096), Sizes::One(8192)])
        );
        assert_eq!(range("4k", false), None);
    }

    #[test]
    fn numbers_have_fio_s_suffixes_and_units() {
        assert_eq!(
            (size("4k", false), size("4k", true), size("1e3", false)),
            (Some(4096), Some(4000), None)
        );
        assert_eq!(
            (time("5", 1000), time("5ms", 1000), time("1m", 1000)),
            (Some(5000), Some(5_000_000), Some(60_000_000_000))
        );
        assert_eq!(
            time("18446744073709551615", 1_000_000_000),
            None,
            "no overflow"
        );
    }

    #[test]
    fn file_sizes_may_be_a_range() {
        assert_eq!(file_range("1m-4m", false), Some((1 << 20, 4 << 20)));
        assert_eq!(file_range("4k-1k", true), Some((1000, 4000)));
        for wrong in ["-4m", "1m-", "0-4m", "x-y", "-1"] {
            assert_eq!(file_range(wrong, false), None, "{wrong}");
        }
    }

    #[test]
    fn patterns_are_bytes() {
        assert_eq!(pattern("0xdeadbeef"), Some(vec![0xde, 0xad, 0xbe, 0xef]));
        assert_eq!(pattern("\"ab\"0x1"), Some(vec![b'a', b'b', 1]));
        assert_eq!(pattern("258"), Some(vec![2, 1]));
        for wrong in ["", "0x", "'/etc/passwd'", "%o", "\"open"] {
            assert_eq!(pattern(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn other_values() {
        assert_eq!(cpus("0,2-4"), Some(vec![0, 2, 3, 4]));
        assert_eq!(cpus("4-2"), None);
        assert_eq!(service("roundrobin:8"), Some(Service::RoundRobin(8)));
        assert_eq!(service("zipf:1.2"), None);
        assert_eq!(
            range_sync("write,wait_after:8"),
            Some(RangeSync { every: 8, flags: 6 })
        );
        assert_eq!(
            spread("zoned:60/10:40/90"),
            Some(Spread::Zoned(vec![(60, 10), (40, 90)]))
        );
        assert_eq!(
            (spread("zipf:1.2"), spread("zipf:1"), spread("lévy")),
            (Some(Spread::Zipf(1.2)), None, None)
        );
    }
}
