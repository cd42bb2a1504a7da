//! Does the author say what the figures say?
//!
//! A post often states, below a report, what came of it: a rate, "18 times faster", "about half
//! of". Such a claim is no measurement, but it can be held against the ones above it. Looked for,
//! in the text between a report and whatever introduces the next one:
//!
//! ```text
//! NUMBER (MB/s | MiB/s | GB/s | GiB/s | kB/s | KiB/s | KB/s)    a rate of the report above
//! NUMBER times faster | slower                                  a ratio to another report
//! N/M of, half of | half the, as fast as                        likewise
//! ```
//!
//! The other report is the earlier one whose label shares the rarest words with the sentence (the
//! first one if none does). A claimed number stands for everything that rounds to it.
//!
//! This needs the log itself: records keep no prose. It reads sentences for the sake of checking
//! them and takes no figure out of them.

use fio_parse::{Log, Record};
use serde_json::json;

use crate::bounds::Bounds;
use crate::digits;
use crate::keys::Key;

const MIB: f64 = 1_048_576.0;

/// A claim held against the figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Line in the log, from one.
    pub line: u32,
    /// The words.
    pub text: String,
    /// Whose result it is about.
    pub about: String,
    /// What the figures give, in words.
    pub computed: String,
    /// How well it fits.
    pub verdict: Fit,
    /// Why the verdict, in words; may be empty.
    pub remark: String,
}

/// How well a claim fits the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Rounds to what is claimed.
    Right,
    /// Within 5 %.
    Close,
    /// Within 20 %.
    Loose,
    /// Further off.
    Unsupported,
}

impl Fit {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Fit::Right => "right",
            Fit::Close => "close",
            Fit::Loose => "loose",
            Fit::Unsupported => "not shown by the figures",
        }
    }

    fn of(claimed: f64, half_unit: f64, value: f64) -> Fit {
        let off = (claimed - value).abs();
        if off <= half_unit * (1.0 + 1e-9) {
            Fit::Right
        } else if off <= value * 0.05 {
            Fit::Close
        } else if off <= value * 0.2 {
            Fit::Loose
        } else {
            Fit::Unsupported
        }
    }
}

/// The two rates of a result, bytes per second, with their names.
struct Rates {
    label: String,
    rates: Vec<(&'static str, f64)>,
    /// Where the text about it starts and ends.
    from: usize,
    to: usize,
}

fn rates(record: &Record) -> Vec<(&'static str, f64)> {
    let m = &record.measurement;
    let mut out = Vec::new();
    if let (Some(bytes), Some(wall)) = (&m.bytes, &m.wall_ns)
        && wall.value() > 0.0
    {
        out.push(("by wall clock", bytes.value() * 1e9 / wall.value()));
    }
    if let Some(rate) = &m.bytes_per_sec {
        out.push(("in the tool's own window", rate.value()));
    }
    out
}

/// The end of the last figure that was read from the text into this record.
fn end_of(record: &Record) -> usize {
    let m = &record.measurement;
    let spans = [
        m.wall_ns.as_ref().map(|r| &r.printed),
        m.user_ns.as_ref().map(|r| &r.printed),
        m.system_ns.as_ref().map(|r| &r.printed),
        m.runtime_ns.as_ref().map(|r| &r.printed),
    ];
    let figures = spans.into_iter().flatten().flatten().map(|p| p.span.end);
    let own = record.source.span.map(|s| s.end);
    figures.chain(own).max().unwrap_or(0) as usize
}

/// Where the text that introduces a record starts: its label, command or report.
fn start_of(record: &Record) -> usize {
    let label = record.machine.as_ref().and_then(|l| l.span);
    let command = record.workload.as_ref().and_then(|w| w.span);
    let spans = [label, command, record.source.span];
    spans
        .into_iter()
        .flatten()
        .map(|s| s.start)
        .min()
        .unwrap_or(0) as usize
}

/// Every claim of a log, in order.
pub fn check(log: &Log<'_>, records: &[Record]) -> Vec<Claim> {
    let text = log.text();
    let mut results: Vec<Rates> = (records.iter())
        .map(|record| Rates {
            label: Key::MACHINE.get(record).into_owned(),
            rates: rates(record),
            from: end_of(record),
            to: text.len(),
        })
        .collect();
    for result in &mut results {
        let next = records
            .iter()
            .map(start_of)
            .filter(|s| *s >= result.from)
            .min();
        result.to = next.unwrap_or(text.len());
    }
    let mut claims = Vec::new();
    for (index, result) in results.iter().enumerate() {
        // The group and its jobs end at the same place; one of them is enough.
        if results[index + 1..].iter().any(|r| r.from == result.from) {
            continue;
        }
        let Some(region) = text.get(result.from..result.to) else {
            continue;
        };
        for (offset, sentence) in sentences(region) {
            let line = log.line_column((result.from + offset) as u32).0;
            for found in find(sentence) {
                claims.push(judge(&found, sentence, line, index, &results));
            }
        }
    }
    claims
}

/// Sentences with their offsets. A full stop inside a number ends nothing.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for (i, byte) in bytes.iter().enumerate() {
        let blank_after = bytes.get(i + 1).is_none_or(u8::is_ascii_whitespace);
        let paragraph = *byte == b'\n' && bytes.get(i + 1) == Some(&b'\n');
        if (matches!(byte, b'.' | b'!' | b'?') && blank_after) || paragraph {
            out.push((start, &text[start..=i]));
            start = i + 1;
        }
    }
    out.push((start, &text[start..]));
    out.into_iter()
        .map(|(at, s)| (at + s.len() - s.trim_start().len(), s.trim()))
        .filter(|(_, s)| !s.is_empty())
        .collect()
}

/// A claim as it stands in a sentence.
#[derive(Clone, Debug, PartialEq)]
enum Found {
    /// A number as written, its half unit, the unit's name and size in bytes per second.
    Rate {
        words: String,
        value: f64,
        half: f64,
        unit: String,
        factor: f64,
    },
    /// This result over the other one; `inverse` if the sentence tells the other over this.
    Ratio {
        words: String,
        value: f64,
        half: f64,
        inverse: bool,
    },
}

fn find(sentence: &str) -> Vec<Found> {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let bare = |w: &str| {
        w.trim_matches(|c: char| !c.is_alphanumeric() && c != '/')
            .to_owned()
    };
    let mut out = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let next = words.get(i + 1).map_or(String::new(), |w| bare(w));
        let after = words
            .get(i + 2)
            .map_or(String::new(), |w| bare(w).to_lowercase());
        let plain =
            word.trim_matches(|c: char| !c.is_ascii_digit() && !c.is_alphabetic() && c != '/');
        if let Some((value, half)) = number(plain) {
            if let Some(factor) = rate_unit(&next) {
                out.push(Found::Rate {
                    words: format!("{plain} {next}"),
                    value,
                    half,
                    unit: next.clone(),
                    factor,
                });
            } else if next == "times" && (after == "faster" || after == "slower") {
                out.push(Found::Ratio {
                    words: format!("{plain} times {after}"),
                    value,
                    half,
                    inverse: true,
                });
            }
        } else if let Some((top, bottom)) = plain.split_once('/')
            && let (Some((top, _)), Some((bottom, _))) = (number(top), number(bottom))
            && bottom > 0.0
            && (next == "of" || next == "the")
        {
            // 1/6 stands for what is nearer to it than to 1/5 or 1/7, roughly.
            out.push(Found::Ratio {
                words: format!("{plain} {next}"),
                value: top / bottom,
                half: top / bottom / bottom / 2.0,
                inverse: false,
            });
        } else if plain.eq_ignore_ascii_case("half") && (next == "of" || next == "the") {
            out.push(Found::Ratio {
                words: format!("{plain} {next}"),
                value: 0.5,
                half: 0.05,
                inverse: false,
            });
        } else if plain.eq_ignore_ascii_case("as") && next == "fast" && after == "as" {
            out.push(Found::Ratio {
                words: "as fast as".into(),
                value: 1.0,
                half: 0.05,
                inverse: false,
            });
        }
    }
    out
}

/// A plain decimal number and half of its last place.
fn number(text: &str) -> Option<(f64, f64)> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let decimals = text.split_once('.').map_or(0, |(_, d)| d.len());
    Some((text.parse().ok()?, 0.5 * 10f64.powi(-(decimals as i32))))
}

fn rate_unit(text: &str) -> Option<f64> {
    Some(match text {
        "MB/s" | "MB/sec" | "MBps" => 1e6,
        "MiB/s" => MIB,
        "GB/s" => 1e9,
        "GiB/s" => MIB * 1024.0,
        "kB/s" | "KB/s" => 1e3,
        "KiB/s" => 1024.0,
        _ => return None,
    })
}

/// The binary twin of a decimal unit: what people often mean when they write the other.
fn twin(unit: &str) -> Option<(&'static str, f64)> {
    Some(match unit {
        "MB/s" | "MB/sec" | "MBps" => ("MiB/s", MIB),
        "GB/s" => ("GiB/s", MIB * 1024.0),
        "kB/s" | "KB/s" => ("KiB/s", 1024.0),
        _ => return None,
    })
}

fn judge(found: &Found, sentence: &str, line: u32, index: usize, results: &[Rates]) -> Claim {
    let about = results[index].label.clone();
    let text = |v: f64| Bounds::exact(v).map_or_else(String::new, digits::format);
    match found {
        Found::Rate {
            words,
            value,
            half,
            unit,
            factor,
        } => {
            // Every rate in the unit written, then in its binary twin; the best fit tells.
            let mut best: Option<(Fit, String, String)> = None;
            let units = std::iter::once((unit.as_str(), *factor)).chain(twin(unit));
            for (name, size) in units {
                for (basis, rate) in &results[index].rates {
                    let computed = rate / size;
                    let fit = Fit::of(*value, *half, computed);
                    let remark = if name == unit {
                        String::new()
                    } else {
                        format!(
                            "in {name}, written {unit}; in {unit} it is {}",
                            text(rate / factor)
                        )
                    };
                    if best.as_ref().is_none_or(|(b, ..)| fit < *b) {
                        best = Some((fit, format!("{} {name} {basis}", text(computed)), remark));
                    }
                }
            }
            let (verdict, computed, remark) =
                best.unwrap_or((Fit::Unsupported, "no rate".into(), String::new()));
            Claim {
                line,
                text: words.clone(),
                about,
                computed,
                verdict,
                remark,
            }
        }
        Found::Ratio {
            words,
            value,
            half,
            inverse,
        } => {
            // "half of the X", "as fast as the X" name the other after them; "the X is 18 times
            // faster" may name it anywhere.
            let at = if *inverse {
                None
            } else {
                sentence.find(words.as_str())
            };
            let names = at.map_or(sentence, |at| &sentence[at + words.len()..]);
            let Some(other) = other(names, index, results) else {
                return Claim {
                    line,
                    text: words.clone(),
                    about,
                    computed: "nothing earlier to compare with".into(),
                    verdict: Fit::Unsupported,
                    remark: String::new(),
                };
            };
            let mut parts = Vec::new();
            let mut verdict = None;
            for (basis, mine) in &results[index].rates {
                if let Some((_, theirs)) = results[other].rates.iter().find(|(b, _)| b == basis) {
                    let ratio = mine / theirs;
                    // "N times faster" has no sign of who: the larger over the smaller.
                    let ratio = if *inverse {
                        ratio.max(1.0 / ratio)
                    } else {
                        ratio
                    };
                    parts.push(format!("{} {basis}", text(ratio)));
                    // The first basis, the wall clock where there is one, decides.
                    verdict.get_or_insert(Fit::of(*value, *half, ratio));
                }
            }
            Claim {
                line,
                text: words.clone(),
                about: format!("{about}, against {}", results[other].label),
                computed: parts.join(", "),
                verdict: verdict.unwrap_or(Fit::Unsupported),
                remark: String::new(),
            }
        }
    }
}

/// The earlier result that a sentence most likely speaks of.
fn other(sentence: &str, index: usize, results: &[Rates]) -> Option<usize> {
    const SMALL: &[&str] = &[
        "the", "of", "to", "on", "in", "is", "with", "and", "an", "via", "same", "its", "at", "by",
    ];
    let words = |text: &str| -> Vec<String> {
        (text.split(|c: char| !c.is_alphanumeric()))
            .map(str::to_lowercase)
            .filter(|w| w.chars().count() > 1 && !SMALL.contains(&w.as_str()))
            .collect()
    };
    let said = words(sentence);
    let labels: Vec<Vec<String>> = results[..index].iter().map(|r| words(&r.label)).collect();
    let score = |label: &[String]| -> f64 {
        let mut seen: Vec<&String> = Vec::new();
        let mut sum = 0.0;
        for word in label.iter().filter(|w| said.contains(w)) {
            if !seen.contains(&word) {
                seen.push(word);
                sum += 1.0 / labels.iter().filter(|l| l.contains(word)).count() as f64;
            }
        }
        sum
    };
    let scores: Vec<f64> = labels.iter().map(|l| score(l)).collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    // The first of equals.
    (!scores.is_empty()).then(|| scores.iter().position(|s| *s == best).unwrap_or(0))
}

/// For reading.
pub fn text(name: &str, claims: &[Claim]) -> String {
    if claims.is_empty() {
        return format!("{name}: no claim that can be checked\n");
    }
    let mut out = String::new();
    for claim in claims {
        let remark = if claim.remark.is_empty() {
            String::new()
        } else {
            format!(" ({})", claim.remark)
        };
        out.push_str(&format!(
            "{name}:{}: {}: {}{remark}\n  of {}\n  computed: {}\n",
            claim.line,
            claim.text,
            claim.verdict.word(),
            claim.about,
            claim.computed
        ));
    }
    out
}

/// For machines: one object a claim.
pub fn jsonl(name: &str, claims: &[Claim]) -> String {
    (claims.iter())
        .map(|c| {
            let object = json!({
                "file": name,
                "line": c.line,
                "claim": c.text,
                "about": c.about,
                "computed": c.computed,
                "verdict": c.verdict.word(),
                "remark": c.remark,
            });
            format!("{object}\n")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_found_in_sentences() {
        let words = |s: &str| -> Vec<String> {
            (find(s).into_iter())
                .map(|f| match f {
                    Found::Rate { words, .. } | Found::Ratio { words, .. } => words,
                })
                .collect()
        };
        assert_eq!(
            words("Only 86 MB/s, so that is 18 times slower."),
            ["86 MB/s", "18 times slower"]
        );
        assert_eq!(
            words("About 1/6 of the first, half the second."),
            ["1/6 of", "half the"]
        );
        assert_eq!(words("It is as fast as the other."), ["as fast as"]);
        assert!(words("A 4 TB disk with 8x6TB, 3 times tested.").is_empty());
    }

    #[test]
    fn a_claim_is_right_if_the_figure_rounds_to_it() {
        assert_eq!(Fit::of(1506.0, 0.5, 1505.66), Fit::Right);
        assert_eq!(Fit::of(86.0, 0.5, 86.18), Fit::Right);
        assert_eq!(Fit::of(18.0, 0.5, 17.47), Fit::Close);
        assert_eq!(Fit::of(0.5, 0.05, 0.582), Fit::Loose);
        assert_eq!(Fit::of(500.0, 0.5, 300.0), Fit::Unsupported);
    }

    #[test]
    fn sentences_end_at_stops_and_paragraphs() {
        let found: Vec<&str> = sentences("One 1.5 MB/s here. Two\n\nThree")
            .into_iter()
            .map(|(_, s)| s)
            .collect();
        assert_eq!(found, ["One 1.5 MB/s here.", "Two", "Three"]);
    }
}
