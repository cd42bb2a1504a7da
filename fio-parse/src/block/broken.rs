//! Lines that a tool printed and that something broke since: a scanner that takes 0 for O, a mailer, a terminal's edge.
//!
//! ```text
//! records   = figure "+" figure "records" ("in" | "out")
//! transfer  = figure … ("s" | "secs" | …) "," figure unit "B/s" | … "bytes/sec)"
//! piece     = "." digits unit "B/s"
//! fio       = … key "=" figure …, a key that fio prints and nobody sets | … ": IOPS=" … | … "th=[" …
//! figure    = a word that holds a digit
//! ```
//!
//! Asked for lines that no reader knows. Nothing is taken from them, and they are labels of nothing: without this, the
//! rest of one report would name the next.

/// The longest line that is looked at.
const LONGEST: usize = 400;

/// Keys of fio's reports that are no options.
const KEYS: [&str; 16] = [
    "stdev", "samples", "per", "run", "aggrb", "minb", "maxb", "mint", "maxt", "majf", "minf",
    "ctx", "in_queue", "dev", "short", "dropped",
];

/// Keys of fio's reports that people write as well: two of them make a report.
const COMMON: [&str; 9] = [
    "min", "max", "avg", "io", "bw", "iops", "usr", "sys", "util",
];

/// Whether a line looks like a part of a report that can't be read.
pub fn is_broken(text: &str) -> bool {
    let text = text.trim();
    text.len() <= LONGEST
        && text.bytes().any(|b| b.is_ascii_digit())
        && (is_records(text) || is_transfer(text) || is_of_fio(text))
}

/// Whether a line between samples of a log is one that can't be read: figures with commas, all but one at most.
pub fn is_sample(text: &str) -> bool {
    let parts = || text.trim().split(',').map(str::trim);
    let figures = parts().filter(|part| part.parse::<f64>().is_ok()).count();
    text.len() <= LONGEST && figures >= 2 && figures + 1 >= parts().count()
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

fn is_records(text: &str) -> bool {
    let Some((figure, words)) = text
        .split_once(" records in")
        .or_else(|| text.split_once(" records out"))
    else {
        return false;
    };
    let figure = figure.rsplit(char::is_whitespace).next().unwrap_or("");
    let end = matches!(words.trim(), "" | "." | "|" | "<br>");
    end && figure.contains('+') && has_digit(figure)
}

fn is_transfer(text: &str) -> bool {
    if text.ends_with("bytes/sec)") {
        return true;
    }
    if !text.ends_with("B/s") {
        return false;
    }
    let is_rate = |rate: &str| {
        let unit = rate.trim_start_matches(|c: char| !c.is_alphabetic());
        has_digit(rate) && (3..=5).contains(&unit.len())
    };
    if let Some(rest) = text.strip_prefix('.') {
        return is_rate(rest);
    }
    let first = text.split_whitespace().next().unwrap_or("");
    let Some((head, rate)) = text.rsplit_once(", ") else {
        return false;
    };
    let seconds = head.trim_end_matches(|c: char| c.is_alphabetic() || c == '.');
    let unit = &head[seconds.len()..];
    has_digit(first)
        && has_digit(rate)
        && rate.split_whitespace().count() <= 2
        && matches!(unit, "s" | "c" | "с" | "sec" | "secs" | "seconds" | "秒")
}

fn is_of_fio(text: &str) -> bool {
    if text.contains("th=[") || text.contains(": IOPS=") || text.contains(": io=") {
        return true;
    }
    let mut common = 0;
    for (at, _) in text.match_indices('=') {
        let before = &text[..at];
        let key = before
            .rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .next()
            .unwrap_or("");
        let value = text[at + 1..].trim_start();
        let value = value.split([' ', ',']).next().unwrap_or("");
        if !(has_digit(value) || value.ends_with("nan") || value.ends_with("inf")) {
            continue;
        }
        if KEYS.contains(&key) && (common > 0 || text[at..].contains(',') || before.contains(',')) {
            return true;
        }
        common += u32::from(COMMON.contains(&key));
    }
    common > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_report_is_known() {
        for text in [
            "1O24+0 records in",
            "1,024+0 records out",
            "1O73741824 bytes (1.1 GB, 1.0 GiB) copied, 5.12 s, 21O MB/s",
            "1073741824 bytes (1.1 GB, 1.0 GiB) copied, S.12 s, 210 MB/s",
            "1,073,741,824 bytes transferred in 1,234.500000 secs (869,778 bytes/sec)",
            "234 s, 85.1 MB/s",
            ".1 MB/s",
            "write: IOPS=l000, BW=4000KiB/s (4096kB/s)(1l7MiB/30000msec)",
            ", io=3D3651GiB (3920GB), run=3D60003-60003msec",
            "dev=3D 0.98, samples=3D7616",
            "clat (usec): min=nan, max=-0, avg=-nan, stdev=inf",
            "1.00th=[   1O],  5.00th=[   ll]",
        ] {
            assert!(is_broken(text), "{text}");
        }
        for text in ["3, abc, 0, 4096, 0", "-5, 300, 0, 4096, 0", "8, 300, 0"] {
            assert!(is_sample(text), "{text}");
        }
    }

    #[test]
    fn labels_are_not_broken() {
        for text in [
            "Samsung 870 EVO, 560 MB/s",
            "bs=4k, iodepth=32",
            "bssplit=2k/20:4k/40:8k/20:16k/20",
            "2 records in the database",
            "min=1",
            "312 MB/s",
            "Laptop, 5 s, then 210 MB/s on the desktop",
            "run=2",
            "Disk 3",
        ] {
            assert!(!is_broken(text), "{text}");
            assert!(!is_sample(text), "{text}");
        }
    }
}
