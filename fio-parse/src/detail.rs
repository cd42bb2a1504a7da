//! What fio says of a job beyond bandwidth, IOPS and latency: distributions, queue depths, goals, times, disks.
//!
//! All but [`Details`] are parts of a [`Measurement`](crate::record::Measurement). Where fio prints them once for all directions
//! of a job, each record of the job carries them.

use crate::reading::Reading;
use crate::unit::{Nanos, Percent};
use compact_str::CompactString;
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

/// What a report says beside its figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// When the report was printed, as it says, in the time of its machine: `Mon Nov 30 14:42:38 2026`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed: Option<CompactString>,
    /// When the report was printed, in milliseconds since 1970; to the second in older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub printed_unix_ms: Option<u64>,
    /// When the job started, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_unix_ms: Option<u64>,
    /// How many syncs the job issued, where it issued any; each record of the job has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syncs: Option<u64>,
    /// What the kernel counted on the disks below the files during the run. Of the records of a run, those of its last
    /// group have it, or in JSON the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<DiskStats>,
}

impl Details {
    /// Itself in a box, if it says anything.
    pub(crate) fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

/// What the kernel counted on a disk during a run, whoever used it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskStats {
    /// The kernel's name of it.
    pub name: String,
    /// Reads that were done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ios: Option<u64>,
    /// Writes that were done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_ios: Option<u64>,
    /// Reads that were merged into others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_merges: Option<u64>,
    /// Writes that were merged into others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_merges: Option<u64>,
    /// The time that all reads together took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ticks_ms: Option<u64>,
    /// The time that all writes together took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_ticks_ms: Option<u64>,
    /// The time that all I/Os together spent in the queue, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_queue_ms: Option<u64>,
    /// The share of time in which the disk had something to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub util_percent: Option<Reading<Percent>>,
}
