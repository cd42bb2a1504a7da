//! What fio says of a job beyond bandwidth, IOPS and latency: distributions, queue depths, goals.
//!
//! These are parts of a [`Measurement`](crate::record::Measurement). Where fio prints them once for all directions
//! of a job, each record of the job carries them.

use crate::reading::Reading;
use crate::unit::{Nanos, Percent};
use serde::{Deserialize, Serialize};

/// One bucket of fio's latency distribution: the share of I/Os, all directions together, with a completion latency in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyBucket {
    /// The smallest latency of the bucket.
    pub ge_ns: u64,
    /// The latency that is too large for it; none in the last bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lt_ns: Option<u64>,
    /// Its share.
    pub percent: Reading<Percent>,
}

/// How deep the queue was, and how many I/Os each call moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Depths {
    /// I/Os by the depth they found; syncs may bring the sum above 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depth: Vec<CountBucket>,
    /// Submit calls by the number of I/Os.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub submit: Vec<CountBucket>,
    /// Completion calls by the number of I/Os.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub complete: Vec<CountBucket>,
}

impl Depths {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.depth.is_empty() && self.submit.is_empty() && self.complete.is_empty()
    }
}

/// The share of a range of counts. Ranges without any share are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountBucket {
    /// The smallest count of the range.
    pub min: u64,
    /// The largest count; none where there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// Its share.
    pub percent: Reading<Percent>,
}

/// A latency that fio was asked to keep by changing the queue depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// The latency.
    pub target_ns: Reading<Nanos>,
    /// The time over which it was watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_ns: Option<Reading<Nanos>>,
    /// The share of I/Os that had to keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<Reading<Percent>>,
    /// The queue depth that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
}
