//! Does the author say what the figures say?
//!
//! A post often states, below a report, what came of it: a rate, "18 times faster", "about half
//! of". `fio_parse` finds such claims, ties each to the results it speaks of and computes from
//! them what is claimed ([`fio_parse::claim`]); the record of the result carries it. Here they are
//! put in order and judged in words, for logs and records alike.

use fio_parse::Record;
use fio_parse::claim::{Agreement, Claim};
use serde_json::json;

use crate::bounds::Bounds;
use crate::digits;
use crate::keys::Key;
use crate::scale::{self, Unit};

/// A claim held against the figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The input.
    pub file: String,
    /// Line in it, from one.
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

/// How far a claimed rate, or number of I/Os a second, may be off and still be loosely right.
const LOOSE_FIGURE: f64 = 0.1;

/// The same of a ratio.
const LOOSE_RATIO: f64 = 0.2;

/// How well a claim fits the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It rounds to what is claimed, or is off by half a percent at most.
    Right,
    /// Within 5 %.
    Close,
    /// Within 10 %, a ratio within 20 %: people say "half" of 0.58, but write no figure so far off.
    Loose,
    /// Further off.
    Unsupported,
    /// A ratio on the other side of one: what is called faster is slower.
    Opposite,
    /// There is nothing to hold it against.
    Unchecked,
}

impl Fit {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Fit::Right => "right",
            Fit::Close => "close",
            Fit::Loose => "loose",
            Fit::Unsupported => "not shown by the figures",
            Fit::Opposite => "the figures say the opposite",
            Fit::Unchecked => "not checked",
        }
    }

    /// By how far it is off, `loose` being the share up to which it still fits.
    fn by_distance(claimed: f64, computed: f64, loose: f64) -> Fit {
        let off = (claimed / computed - 1.0).abs();
        if off <= 0.005 {
            Fit::Right
        } else if off <= 0.05 {
            Fit::Close
        } else if off <= loose {
            Fit::Loose
        } else {
            Fit::Unsupported
        }
    }

    /// Of a ratio that is claimed in these words. A claimed ratio is right, too, if the computed one
    /// rounds to it at its last written digit and is close; what is said to be faster and is slower is
    /// the opposite.
    fn of_ratio(text: &str, claimed: f64, computed: f64) -> Fit {
        match Fit::by_distance(claimed, computed, LOOSE_RATIO) {
            Fit::Close if rounds_to(text, claimed, computed) => Fit::Right,
            Fit::Loose | Fit::Unsupported if (claimed - 1.0) * (computed - 1.0) < 0.0 => {
                Fit::Opposite
            }
            fit => fit,
        }
    }
}

/// Does the computed ratio, to as many decimals as the first number of the text has, give it? A text
/// without that number, as "half", or with a share of it, as "by 30 %", has no digits to go by.
fn rounds_to(text: &str, claimed: f64, computed: f64) -> bool {
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let start = text.find(|c: char| c.is_ascii_digit());
    let written = start.map_or("", |at| &text[at..]);
    let end = written.find(|c| !number(c)).unwrap_or(written.len());
    let written = written[..end].trim_end_matches('.');
    let decimals = written.split_once('.').map_or(0, |(_, d)| d.len());
    written.parse() == Ok(claimed) && format!("{computed:.decimals$}").parse() == Ok(claimed)
}

/// The claims that these records carry, in the order of their inputs.
pub fn of_records<'r>(records: impl IntoIterator<Item = &'r Record>) -> Vec<Finding> {
    let mut found: Vec<((usize, u32), Finding)> = Vec::new();
    let mut inputs: Vec<&str> = Vec::new();
    for record in records {
        let input = inputs.iter().position(|i| **i == *record.source.name);
        let input = input.unwrap_or_else(|| {
            inputs.push(&record.source.name);
            inputs.len() - 1
        });
        for claim in &record.claims {
            found.push(((input, claim.span.start), judge(record, claim)));
        }
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, finding)| finding).collect()
}

fn judge(record: &Record, claim: &Claim) -> Finding {
    let number = |v: f64| Bounds::exact(v).map_or_else(String::new, digits::format);
    let basis = match claim.agrees_with {
        Agreement::Wall | Agreement::WallMislabelled => " by wall clock",
        Agreement::Window | Agreement::WindowMislabelled => " in the tool's own window",
        _ => "",
    };
    let mut about = Key::MACHINE.get(record).into_owned();
    let (mut computed, mut remark) = (String::new(), String::new());
    let mut verdict = Fit::Unchecked;
    if let (Some(stated), Some(rate)) = (claim.stated_bytes_per_sec, claim.computed_bytes_per_sec) {
        let [binary, decimal] = units(&claim.text);
        let of = |unit: Unit| format!("{} {}", number(rate / unit.factor), unit.name);
        verdict = match claim.agrees_with {
            Agreement::None => Fit::by_distance(stated, rate, LOOSE_FIGURE),
            _ => Fit::Right,
        };
        computed = format!("{} ({}){basis}", of(binary), of(decimal));
        if claim.agrees_with.is_mislabelled() {
            remark = format!(
                "in {}, written {}; in {} it is {}",
                binary.name,
                decimal.name,
                decimal.name,
                number(rate / decimal.factor)
            );
            computed = format!("{}{basis}", of(binary));
        }
    } else if let (Some(stated), Some(ratio)) = (claim.stated_ratio, claim.computed_ratio) {
        verdict = Fit::of_ratio(&claim.text, stated, ratio);
        computed = format!("{}{basis}", number(ratio));
    } else if let (Some(stated), Some(iops)) = (claim.stated_iops, claim.computed_iops) {
        verdict = match claim.agrees_with {
            Agreement::None => Fit::by_distance(stated, iops, LOOSE_FIGURE),
            _ => Fit::Right,
        };
        computed = format!("{} IOPS", number(iops));
    } else {
        remark = claim
            .problem
            .clone()
            .unwrap_or_else(|| "nothing to compute it from".into());
    }
    if let Some(other) = claim.against.as_ref() {
        let line = other.line.map_or_else(String::new, |l| format!("line {l}"));
        about.push_str(&format!(
            ", against {}",
            other.machine.as_deref().unwrap_or(&line)
        ));
    }
    Finding {
        file: record.source.name.to_string(),
        line: claim.line.unwrap_or(0),
        text: claim.text.to_string(),
        about,
        computed,
        verdict,
        remark,
    }
}

/// The units in which to show what was computed: of 1024 and of 1000, with the prefix of the claim.
fn units(claim: &str) -> [Unit; 2] {
    let before_bytes = claim.rsplit_once('B').map_or("", |(head, _)| head);
    let names = match before_bytes.trim_end_matches('i').chars().last() {
        Some('k' | 'K') => ["KiB/s", "kB/s"],
        Some('g' | 'G') => ["GiB/s", "GB/s"],
        Some('T') => ["TiB/s", "TB/s"],
        _ => ["MiB/s", "MB/s"],
    };
    names.map(|name| scale::parse(name).unwrap_or(scale::UNITS[0]))
}

/// For reading.
pub fn text(findings: &[Finding]) -> String {
    let mut out = String::new();
    for found in findings {
        let remark = if found.remark.is_empty() {
            String::new()
        } else {
            format!(" ({})", found.remark)
        };
        out.push_str(&format!(
            "{}:{}: {}: {}{remark}\n  of {}\n",
            found.file,
            found.line,
            found.text,
            found.verdict.word(),
            found.about,
        ));
        if !found.computed.is_empty() {
            out.push_str(&format!("  computed: {}\n", found.computed));
        }
    }
    out
}

/// For machines: one object a claim.
pub fn jsonl(findings: &[Finding]) -> String {
    (findings.iter())
        .map(|f| {
            let object = json!({
                "file": f.file,
                "line": f.line,
                "claim": f.text,
                "about": f.about,
                "computed": f.computed,
                "verdict": f.verdict.word(),
                "remark": f.remark,
            });
            format!("{object}\n")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_the_prefix_of_the_claim() {
        let names = |claim| units(claim).map(|u| u.name);
        assert_eq!(names("1506 MB/s"), ["MiB/s", "MB/s"]);
        assert_eq!(names("1.5GiB/s"), ["GiB/s", "GB/s"]);
        assert_eq!(names("90 kB per second"), ["KiB/s", "kB/s"]);
    }

    #[test]
    fn a_claim_is_judged_by_how_far_it_is_off() {
        let ratio = |claimed, computed| Fit::of_ratio("", claimed, computed);
        assert_eq!(ratio(1.0, 1.004), Fit::Right);
        assert_eq!(ratio(18.0, 17.47), Fit::Close);
        assert_eq!(ratio(0.5, 0.582), Fit::Loose);
        assert_eq!(ratio(500.0, 300.0), Fit::Unsupported);
        let rate = |claimed, computed| Fit::by_distance(claimed, computed, LOOSE_FIGURE);
        assert_eq!(rate(400.0, 370.0), Fit::Loose);
        // 400 over 336 is 1.19.
        assert_eq!(rate(400.0, 336.0), Fit::Unsupported);
    }

    #[test]
    fn a_ratio_is_right_that_the_computed_one_rounds_to() {
        let fit = Fit::of_ratio;
        assert_eq!(fit("2.1 times as fast", 2.1, 2.13), Fit::Right);
        assert_eq!(fit("2.1 times as fast", 2.1, 2.16), Fit::Close);
        assert_eq!(fit("18 times faster", 18.0, 17.47), Fit::Close);
        assert_eq!(fit("18 times faster", 18.0, 17.6), Fit::Right);
        // One digit is not taken for leave to be off by a fifth.
        assert_eq!(fit("2 times as fast", 2.0, 2.4), Fit::Loose);
    }

    #[test]
    fn what_is_slower_and_said_to_be_faster_is_the_opposite() {
        let fit = Fit::of_ratio;
        assert_eq!(fit("twice as fast", 2.0, 0.469), Fit::Opposite);
        assert_eq!(fit("half as fast", 0.5, 2.1), Fit::Opposite);
        assert_eq!(fit("twice as fast", 2.0, 1.1), Fit::Unsupported);
    }
}
