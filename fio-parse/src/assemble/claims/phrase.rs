//! What a sentence states: rates, and comparisons with another result.
//!
//! ```text
//! rate     = number blanks? ("K" | "M" | "G" | "T") "i"? "B" ("/s" | "ps" | "/sec" | " per second")
//! iops     = number ("k" | "M")? "IOPS"
//! percent  = number blanks? ("%" | "percent")
//! bare     = factor "as fast" | percent ("faster" | "slower" | "quicker") | share "as fast" | (factor | share "of"?) "the time"
//! ratio    = number blanks? ("times" | "x" | "×") ("faster" | "slower" | "quicker")   subject before it, or "than" object
//!          | number blanks? ("times" | "x") "as fast as" object | "twice as fast as" object
//!          | "as fast as" object
//!          | percent ("faster" | "slower" | "quicker") "than" object
//!          | percent ("of" | "of the speed of") object
//!          | ("1/6" | "half" | "a third" | "two thirds" | "a quarter" | "a fifth" …) ("of" | "the speed of") object
//! ```
//!
//! A small `b` is a bit, and bits are what links are rated in; they are no claim. So is a rate in brackets, behind
//! "up to" or in front of a link ("a 600 MB/s SATA port"): it says what something could do. A percentage of something
//! that no result is labelled with ("90% of the time") is no claim either.

use std::ops::Range;

/// One thing stated, with places in the sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    pub range: Range<usize>,
    pub what: What,
}

/// What is stated.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A rate: the digits, and the bytes that the unit means by its letters and when it is taken for a power of 1024.
    Rate {
        number: Rough,
        unit: f64,
        binary: f64,
    },
    /// I/Os per second.
    Iops(Rough),
    /// This result's rate over the other's; the other is named in this part of the sentence.
    Ratio { ratio: f64, other: Range<usize> },
    /// The same, from a percentage: a ratio if the other is a result, and else a share of something else.
    Percent { ratio: f64, other: Range<usize> },
    /// The other's rate over this result's.
    Inverse { ratio: f64, other: Range<usize> },
    /// This result's rate over that of another which the sentence does not name.
    Bare { ratio: f64 },
}

/// All that the sentence states, in order.
pub fn stated(sentence: &str) -> Vec<Stated> {
    let words = words(sentence);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let read = rate(sentence, &words, at)
            .or_else(|| iops(sentence, &words, at))
            .or_else(|| percent(sentence, &words, at))
            .or_else(|| ratio(sentence, &words, at));
        match read {
            Some((stated, next)) => {
                found.push(stated);
                at = next;
            }
            None => at += 1,
        }
    }
    found
}

/// Words between blanks, less the marks at their ends. Slashes, points and apostrophes within stay.
fn words(sentence: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    for piece in sentence.split_whitespace() {
        let trimmed = piece.trim_start_matches(['"', '\'', '*', '`', '“', '‘', '~', '≈']);
        let start = trimmed.as_ptr() as usize - sentence.as_ptr() as usize;
        let word = trimmed.trim_end_matches([
            ',', '.', ';', ':', '!', '?', '"', '\'', '*', '`', '”', '’', ')',
        ]);
        if !word.is_empty() {
            words.push(start..start + word.len());
        }
    }
    words
}

/// Splits `1,506.5MB/s` into the digits, read as a number, and the rest.
fn number(word: &str) -> Option<(f64, f64, &str)> {
    let end = word
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .unwrap_or(word.len());
    let digits = word[..end].trim_end_matches(['.', ',']);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let groups_of_three = whole.split(',').skip(1).all(|group| group.len() == 3);
    if whole.is_empty() || !groups_of_three || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: f64 = digits.replace(',', "").parse().ok()?;
    Some((number, 0.1_f64.powi(fraction.len() as i32), &word[end..]))
}

/// What a unit of a rate is worth in bytes per second, by its letters and as a power of 1024.
fn unit(text: &str, next: Option<&str>) -> Option<(f64, f64, bool)> {
    let (prefix, rest) = text.split_at_checked(1)?;
    let power = match prefix {
        "K" | "k" => 1,
        "M" | "m" => 2,
        "G" | "g" => 3,
        "T" => 4,
        _ => return None,
    };
    let binary = 1024_f64.powi(power);
    let (letters, rest) = match rest.strip_prefix('i') {
        Some(rest) => (binary, rest),
        None => (1000_f64.powi(power), rest),
    };
    let per = rest.strip_prefix('B')?;
    let two_words = per.is_empty() && matches!(next, Some("per"));
    (two_words
        || matches!(
            per,
            "/s" | "ps" | "/sec" | "/second" | "/S" | "/Sec" | "/secs"
        ))
    .then_some((letters, binary, two_words))
}

/// What stands in front of a rate that is an ability and no result.
const ABILITY: [&str; 6] = [
    "max",
    "maximum",
    "rated",
    "limit",
    "theoretical",
    "promised",
];

/// What stands behind a rate that is one of a link, and no result.
const LINKS: [&str; 18] = [
    "sata",
    "sas",
    "usb",
    "pcie",
    "nvme",
    "link",
    "nic",
    "port",
    "bus",
    "network",
    "interface",
    "connection",
    "ethernet",
    "limit",
    "cap",
    "ceiling",
    "thunderbolt",
    "lan",
];

/// A number as people write it: the value, and how far below and above it what it stands for may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rough {
    pub value: f64,
    below: f64,
    above: f64,
}

impl Rough {
    /// Digits as they stand: rounded to the last one, or cut off behind it.
    fn to_the_digit(value: f64, step: f64) -> Self {
        Self {
            value,
            below: step / 2.0,
            above: step,
        }
    }

    /// The same, but zeros at the end are most often rounded to, and nobody cuts off there; two digits are always meant.
    fn with_zeros(value: f64, digit: f64) -> Self {
        let mut step = digit;
        while step >= 1.0 && value % (step * 10.0) == 0.0 && value >= step * 100.0 {
            step *= 10.0;
        }
        Self {
            value,
            below: step / 2.0,
            above: if step > digit { step / 2.0 } else { digit },
        }
    }

    /// Whether it may stand for a quantity between the two, in a unit of this worth.
    pub fn says(&self, (lo, hi): (f64, f64), unit: f64) -> bool {
        hi >= (self.value - self.below) * unit && lo < (self.value + self.above) * unit
    }
}

/// `15k IOPS`, `1,234 iops`.
fn iops(sentence: &str, words: &[Range<usize>], at: usize) -> Option<(Stated, usize)> {
    let word = |index: usize| words.get(index).map(|range| &sentence[range.clone()]);
    let (value, step, rest) = number(word(at)?)?;
    let (scale, joined) = match rest.as_bytes() {
        [b'k' | b'K', rest @ ..] => (1e3, rest),
        [b'M', rest @ ..] => (1e6, rest),
        rest => (1.0, rest),
    };
    let last = match joined {
        b"" if word(at + 1)?.eq_ignore_ascii_case("iops") => at + 1,
        joined if joined.eq_ignore_ascii_case(b"iops") => at,
        _ => return None,
    };
    let before = at
        .checked_sub(1)
        .and_then(word)
        .unwrap_or("")
        .to_lowercase();
    if value == 0.0 || before == "to" || ABILITY.contains(&before.as_str()) {
        return None;
    }
    let range = words[at].start..words[last].end;
    let number = if scale == 1.0 {
        Rough::with_zeros(value, step)
    } else {
        Rough::to_the_digit(value * scale, step * scale)
    };
    Some((
        Stated {
            range,
            what: What::Iops(number),
        },
        last + 1,
    ))
}

/// `80% of X`, `20 percent faster than X`.
fn percent(sentence: &str, words: &[Range<usize>], at: usize) -> Option<(Stated, usize)> {
    let word = |index: usize| words.get(index).map(|range| &sentence[range.clone()]);
    let is =
        |index: usize, text: &str| word(index).is_some_and(|word| word.eq_ignore_ascii_case(text));
    let (value, _, rest) = number(word(at)?)?;
    let next = match rest {
        "%" => at + 1,
        "" if is(at + 1, "%") || is(at + 1, "percent") => at + 2,
        _ => return None,
    };
    let part = value / 100.0;
    let speed = |index: usize| {
        ["speed", "rate", "throughput", "bandwidth"]
            .iter()
            .any(|name| is(index, name))
    };
    let (ratio, object) = if is(next + 1, "than") && (is(next, "faster") || is(next, "quicker")) {
        (1.0 + part, next + 2)
    } else if is(next + 1, "than") && is(next, "slower") && part < 1.0 {
        (1.0 - part, next + 2)
    } else if is(next, "of") && is(next + 1, "the") && speed(next + 2) && is(next + 3, "of") {
        (part, next + 4)
    } else if is(next, "of") {
        (part, next + 1)
    } else {
        let faster = is(next, "faster") || is(next, "quicker");
        let ratio = match faster {
            true => 1.0 + part,
            false if is(next, "slower") && part < 1.0 => 1.0 - part,
            false => return None,
        };
        let range = words[at].start..words[next].end;
        return Some((
            Stated {
                range,
                what: What::Bare { ratio },
            },
            next + 1,
        ));
    };
    let start = words.get(object)?.start;
    let other = start..clause_end(sentence, start);
    let range = words[at].start..words[object - 1].end;
    (ratio > 0.0).then_some((
        Stated {
            range,
            what: What::Percent { ratio, other },
        },
        object,
    ))
}

fn rate(sentence: &str, words: &[Range<usize>], at: usize) -> Option<(Stated, usize)> {
    let word = |index: usize| words.get(index).map(|range| &sentence[range.clone()]);
    let (value, step, rest) = number(word(at)?)?;
    let (text, last) = if rest.is_empty() {
        (word(at + 1)?, at + 1)
    } else {
        (rest, at)
    };
    let (letters, binary, two_words) = unit(text, word(last + 1))?;
    let last = if two_words {
        matches!(word(last + 2), Some("second" | "sec")).then_some(last + 2)?
    } else {
        last
    };
    let before = at.checked_sub(1).and_then(word).unwrap_or("");
    let up_to = before == "to"
        && at
            .checked_sub(2)
            .and_then(word)
            .is_some_and(|word| word.eq_ignore_ascii_case("up"));
    if value == 0.0 || up_to || ABILITY.contains(&before.to_lowercase().as_str()) {
        return None;
    }
    let of_link = (last + 1..=last + 2).filter_map(word).any(|word| {
        let lower = word.to_lowercase();
        LINKS.contains(&lower.as_str())
    });
    // a sentence may go on with another result: "500 MB/s, USB 90 MB/s"
    if of_link && !sentence[words[last].end..].starts_with([',', ';', '.', ':']) {
        return None;
    }
    // words in brackets explain the one before them
    let start = words[at].start;
    if sentence[..start].ends_with('(') || sentence[start..].starts_with('(') {
        return None;
    }
    Some((
        Stated {
            range: start..words[last].end,
            what: What::Rate {
                number: Rough::with_zeros(value, step),
                unit: letters,
                binary,
            },
        },
        last + 1,
    ))
}

/// A factor written as `18 times`, `18x`, `twice`, and how many words it takes.
fn factor(sentence: &str, words: &[Range<usize>], at: usize) -> Option<(f64, usize)> {
    let word = |index: usize| words.get(index).map(|range| &sentence[range.clone()]);
    if word(at)?.eq_ignore_ascii_case("twice") {
        return Some((2.0, 1));
    }
    if let Some((value, _, rest)) = number(word(at)?) {
        return match rest {
            "x" | "X" | "×" => Some((value, 1)),
            "" if matches!(word(at + 1), Some("times" | "x" | "×")) => Some((value, 2)),
            _ => None,
        };
    }
    const NAMES: [&str; 9] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let lower = word(at)?.to_lowercase();
    let named = NAMES.iter().position(|name| *name == lower)?;
    (word(at + 1) == Some("times")).then_some((named as f64 + 2.0, 2))
}

/// A share written as `1/6`, `half`, `a third`, `two thirds`, and how many words it takes.
fn share(sentence: &str, words: &[Range<usize>], at: usize) -> Option<(f64, usize)> {
    let word = |index: usize| {
        words
            .get(index)
            .map(|range| sentence[range.clone()].to_lowercase())
    };
    const PARTS: [(&str, f64); 5] = [
        ("third", 3.0),
        ("quarter", 4.0),
        ("fourth", 4.0),
        ("fifth", 5.0),
        ("tenth", 10.0),
    ];
    let part = |index: usize| {
        let word = word(index)?;
        let name = word.strip_suffix('s').unwrap_or(&word);
        PARTS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, parts)| parts)
    };
    let first = word(at)?;
    match first.as_str() {
        "half" => return Some((0.5, 1)),
        "a" | "one" if word(at + 1).as_deref() == Some("half") => return Some((0.5, 2)),
        "a" | "one" => return part(at + 1).map(|parts| (1.0 / parts, 2)),
        "two" => return part(at + 1).map(|parts| (2.0 / parts, 2)),
        "three" => return part(at + 1).map(|parts| (3.0 / parts, 2)),
        _ => {}
    }
    let (above, below) = first.split_once('/')?;
    let (above, below): (u8, u8) = (above.parse().ok()?, below.parse().ok()?);
    (above > 0 && above < below).then(|| (f64::from(above) / f64::from(below), 1))
}

fn ratio(sentence: &str, words: &[Range<usize>], at: usize) -> Option<(Stated, usize)> {
    let word = |index: usize| {
        words
            .get(index)
            .map(|range| sentence[range.clone()].to_lowercase())
    };
    let is = |index: usize, text: &str| word(index).as_deref() == Some(text);
    let made = |next: usize, what: What| {
        let range = words[at].start..words[next - 1].end;
        Some((Stated { range, what }, next))
    };
    let as_fast = |from: usize| is(from, "as") && is(from + 1, "fast") && is(from + 2, "as");
    let behind = |next: usize| {
        let start = words.get(next)?.start;
        Some(start..clause_end(sentence, start))
    };
    if let Some((value, length)) = factor(sentence, words, at) {
        let next = at + length;
        if as_fast(next) {
            let other = behind(next + 3)?;
            return made(
                next + 3,
                What::Ratio {
                    ratio: value,
                    other,
                },
            );
        }
        if is(next, "as") && is(next + 1, "fast") {
            return made(next + 2, What::Bare { ratio: value });
        }
        if is(next, "the") && is(next + 1, "time") {
            return made(next + 2, What::Bare { ratio: 1.0 / value });
        }
        let faster = is(next, "faster") || is(next, "quicker");
        if !faster && !is(next, "slower") {
            return None;
        }
        if is(next + 1, "than") {
            let other = behind(next + 2)?;
            let what = if faster {
                What::Ratio {
                    ratio: value,
                    other,
                }
            } else {
                What::Inverse {
                    ratio: value,
                    other,
                }
            };
            return made(next + 1, what);
        }
        // "the SSD is 18 times faster": than this one
        let other = clause_start(sentence, words[at].start)..words[at].start;
        let what = if faster {
            What::Inverse {
                ratio: value,
                other,
            }
        } else {
            What::Ratio {
                ratio: value,
                other,
            }
        };
        return made(next + 1, what);
    }
    if as_fast(at) {
        let other = behind(at + 3)?;
        return made(at + 3, What::Ratio { ratio: 1.0, other });
    }
    let (value, length) = share(sentence, words, at)?;
    let next = at + length;
    if is(next, "as") && is(next + 1, "fast") {
        return match (is(next + 2, "as"), behind(next + 3)) {
            (true, Some(other)) => made(
                next + 3,
                What::Ratio {
                    ratio: value,
                    other,
                },
            ),
            _ => made(next + 2, What::Bare { ratio: value }),
        };
    }
    // "half of the time" is how often
    if is(next, "the") && is(next + 1, "time") {
        return made(next + 2, What::Bare { ratio: 1.0 / value });
    }
    let speed = |index: usize| {
        ["speed", "rate", "throughput", "bandwidth"]
            .iter()
            .any(|name| is(index, name))
    };
    // "half of the first SSD", "half the speed of the first SSD"
    let object = if is(next, "of") {
        next + 1
    } else if is(next, "the") && speed(next + 1) && is(next + 2, "of") {
        next + 3
    } else {
        return None;
    };
    let other = behind(object)?;
    made(
        next,
        What::Ratio {
            ratio: value,
            other,
        },
    )
}

/// Where the clause with the object ends.
fn clause_end(sentence: &str, start: usize) -> usize {
    let rest = &sentence[start..];
    let marks = rest.find([',', ';', ':', '(', '!', '?']);
    let words = [
        " which ",
        " but ",
        " and ",
        " because ",
        " so ",
        " while ",
        " - ",
    ]
    .iter()
    .filter_map(|word| rest.find(word))
    .min();
    let stop = rest.trim_end_matches('.').len();
    start + marks.unwrap_or(stop).min(words.unwrap_or(stop)).min(stop)
}

/// Where the clause with the subject starts.
fn clause_start(sentence: &str, end: usize) -> usize {
    let head = &sentence[..end];
    [", ", "; ", ": ", " that ", " so ", " and ", " but "]
        .iter()
        .filter_map(|mark| head.rfind(mark).map(|at| at + mark.len()))
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Shows a sentence's claims as text: what is stated, the number, and who is named.
    fn shown(sentence: &str) -> Vec<String> {
        stated(sentence)
            .into_iter()
            .map(|stated| {
                let text = &sentence[stated.range];
                match stated.what {
                    What::Rate { number, unit, .. } => format!("{text}: {}", number.value * unit),
                    What::Iops(number) => {
                        format!("{text}: {} IOPS to {}", number.value, number.below * 2.0)
                    }
                    What::Percent { ratio, other } => {
                        format!("{text}: {ratio:.3} of {}", sentence[other].trim())
                    }
                    What::Ratio { ratio, other } => {
                        format!("{text}: {ratio:.3} of {}", sentence[other].trim())
                    }
                    What::Inverse { ratio, other } => {
                        format!("{text}: over it {ratio:.3} {}", sentence[other].trim())
                    }
                    What::Bare { ratio } => format!("{text}: {ratio:.3}"),
                }
            })
            .collect()
    }

    #[test]
    fn what_is_stated() {
        for (sentence, wanted) in [
            ("That makes 1506 MB/s.", vec!["1506 MB/s: 1506000000"]),
            ("which works out to 365 MB/s", vec!["365 MB/s: 365000000"]),
            (
                "I get ~1,200MiB/s or 1.5 GB per second!",
                vec!["1,200MiB/s: 1258291200", "1.5 GB per second: 1500000000"],
            ),
            (
                "Only 86 MB/s, so the SSD is 18 times faster.",
                vec![
                    "86 MB/s: 86000000",
                    "18 times faster: over it 18.000 the SSD is",
                ],
            ),
            (
                "This is 2.5x faster than the old disk, I think.",
                vec!["2.5x faster: 2.500 of the old disk"],
            ),
            (
                "It is three times slower than my laptop",
                vec!["three times slower: over it 3.000 my laptop"],
            ),
            ("1/6 of the first SSD.", vec!["1/6: 0.167 of the first SSD"]),
            (
                "about half the speed of the NAS which is old",
                vec!["half: 0.500 of the NAS"],
            ),
            (
                "Two thirds of the desktop",
                vec!["Two thirds: 0.667 of the desktop"],
            ),
            (
                "twice as fast as the stick",
                vec!["twice as fast as: 2.000 of the stick"],
            ),
            ("B is twice as fast.", vec!["twice as fast: 2.000"]),
            ("A is half as fast!", vec!["half as fast: 0.500"]),
            (
                "B is 60% faster, A 30 percent slower",
                vec!["60% faster: 1.600", "30 percent slower: 0.700"],
            ),
            ("It took half the time", vec!["half the time: 2.000"]),
            (
                "It took three times the time",
                vec!["three times the time: 0.333"],
            ),
            (
                "half of the time it rains",
                vec!["half: 0.500 of the time it rains"],
            ),
            (
                "about as fast as the SSD of the iMac.",
                vec!["as fast as: 1.000 of the SSD of the iMac"],
            ),
            (
                "It makes 15k IOPS, or 1,234 iops with fsync, and 99.5kIOPS at best",
                vec![
                    "15k IOPS: 15000 IOPS to 1000",
                    "1,234 iops: 1234 IOPS to 1",
                    "99.5kIOPS: 99500 IOPS to 100",
                ],
            ),
            (
                "That is 80% of the old SSD and 20 % faster than the stick.",
                vec![
                    "80% of: 0.800 of the old SSD",
                    "20 % faster than: 1.200 of the stick",
                ],
            ),
            (
                "It has 75 percent of the speed of the NAS, so it is 25% slower than the NAS",
                vec![
                    "75 percent of the speed of: 0.750 of the NAS",
                    "25% slower than: 0.750 of the NAS",
                ],
            ),
            // sizes, block sizes and engines are facts about the test
            (
                "With a 3 GB file, 16 GB of RAM and 1m posixaio it took 12 s at depth 4",
                vec![],
            ),
            ("It hangs on a 600 MB/s SATA link and a 10 GB/s NIC", vec![]),
            ("rated at up to 90k IOPS, 100% busy", vec![]),
            // bits, abilities, explanations and other figures are no claims
            ("a 10 Gb/s connection, up to 500 MB/s (600 MB/s)", vec![]),
            (
                "128 GB of memory, half of an hour later",
                vec!["half: 0.500 of an hour later"],
            ),
            ("USB 3.0 and 5 Gb/s, ran 3 times", vec![]),
        ] {
            assert_eq!(shown(sentence), wanted, "{sentence}");
        }
    }

    proptest! {
        #[test]
        fn any_text_does_not_panic(text in "(\\PC|[ .,/]|1/6|half|of|times|faster|2x|MB/s|as fast as){0,20}") {
            for stated in stated(&text) {
                prop_assert!(text.get(stated.range).is_some());
            }
        }
    }
}
