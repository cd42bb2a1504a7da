//! Claims: figures that the author of a text states about a result, held against the result itself.
//!
//! ```json
//! {"text":"1506 MB/s","span":[266,275],"line":14,"stated_bytes_per_sec":1506000000,
//!  "computed_bytes_per_sec":1578802714.3,"agrees_with":"wall in MiB/s (labelled MB/s)"}
//! {"text":"18 times faster","span":[634,649],"line":27,"stated_ratio":18,"computed_ratio":17.47,"agrees_with":"wall",
//!  "against":{"run":1,"line":6,"machine":"internal SSD"}}
//! ```
//!
//! A claim is no measurement and changes none. It stands in the record of the result that it is about, so that who
//! reads records can show it beside what was computed.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

use crate::source::Span;

/// A figure that the author states about a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What is stated, as written.
    pub text: CompactString,
    /// Where it stands.
    pub span: Span,
    /// The line where it starts, from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// A rate in bytes per second, as its unit says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_bytes_per_sec: Option<f64>,
    /// The rate of the result in bytes per second that the stated one comes nearest to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_bytes_per_sec: Option<f64>,
    /// I/Os per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_iops: Option<f64>,
    /// The I/Os per second of the result that the stated ones come nearest to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_iops: Option<f64>,
    /// How many times the rate of one result is the rate of the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_ratio: Option<f64>,
    /// The same ratio from the rates of both results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_ratio: Option<f64>,
    /// What it agrees with.
    pub agrees_with: Agreement,
    /// The other result of a ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// Why nothing could be computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Claim {
    /// A claim that is not held against anything yet.
    pub(crate) fn found(text: &str, span: Span) -> Self {
        Self {
            text: CompactString::new(text),
            span,
            line: None,
            stated_bytes_per_sec: None,
            computed_bytes_per_sec: None,
            stated_iops: None,
            computed_iops: None,
            stated_ratio: None,
            computed_ratio: None,
            agrees_with: Agreement::Unchecked,
            against: None,
            problem: None,
        }
    }
}

/// The result that a claim compares with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Against {
    /// Its run.
    pub run: u32,
    /// The line where its block starts, from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Arc<str>>,
}

/// What a claim agrees with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Agreement {
    /// Bytes over the shell's time, or the ratio of such rates.
    #[serde(rename = "wall")]
    Wall,
    /// The same, in MiB/s and called MB/s (KiB/s and GiB/s likewise).
    #[serde(rename = "wall in MiB/s (labelled MB/s)")]
    WallMislabelled,
    /// The rate over the tool's own window, or the ratio of such rates.
    #[serde(rename = "window")]
    Window,
    /// The same, in MiB/s and called MB/s.
    #[serde(rename = "window in MiB/s (labelled MB/s)")]
    WindowMislabelled,
    /// Nothing that was measured.
    #[serde(rename = "none")]
    None,
    /// Not known: which results are compared can't be told, or they have no rates.
    #[serde(rename = "unchecked")]
    Unchecked,
}

impl Agreement {
    /// Whether the figure is one in MiB/s that is called MB/s.
    pub fn is_mislabelled(self) -> bool {
        matches!(
            self,
            Agreement::WallMislabelled | Agreement::WindowMislabelled
        )
    }

    /// The words that stand in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Agreement::Wall => "wall",
            Agreement::WallMislabelled => "wall in MiB/s (labelled MB/s)",
            Agreement::Window => "window",
            Agreement::WindowMislabelled => "window in MiB/s (labelled MB/s)",
            Agreement::None => "none",
            Agreement::Unchecked => "unchecked",
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_json_are_those_that_are_shown() {
        for agreement in [
            Agreement::Wall,
            Agreement::WallMislabelled,
            Agreement::Window,
            Agreement::WindowMislabelled,
            Agreement::None,
            Agreement::Unchecked,
        ] {
            let json = serde_json::to_string(&agreement).unwrap();
            assert_eq!(json, format!("\"{agreement}\""));
        }
    }
}
