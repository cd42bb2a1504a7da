//! What a document says of all directions of a job: depths, the distribution of latencies, the latency aimed at.

use super::super::fio_text;
use super::super::machine::{Decoder, count};
use crate::block::fio_json::{Job, Table};
use crate::block::fio_text::latency::TimeUnit;
use crate::block::fio_text::share::{self, FIRST_USEC};
use crate::block::fio_text::tail::{Share, TargetLine};
use crate::era::{Era, Version};
use crate::record::{Depths, LatencyBucket, LatencyTarget};

/// The tables of a job.
pub(super) fn tables(
    decoder: &Decoder<'_, '_>,
    job: &Job<'_>,
) -> (Option<Box<Depths>>, Vec<LatencyBucket>) {
    let mut depths = Depths::default();
    let mut latencies = Vec::new();
    for &(table, label, text) in &job.shares {
        let (more, at) = match label.strip_prefix(">=") {
            Some(at) => (true, at),
            None => (false, label),
        };
        let Ok(at) = at.parse() else { continue };
        let share = Share::new(at, more, decoder.figure(text));
        let mut latency = |unit| latencies.extend(share::latency(unit, &share));
        match table {
            Table::Depth => depths
                .depth
                .extend(share::count(&share, share::depth_range)),
            Table::Submit => depths
                .submit
                .extend(share::count(&share, share::call_range)),
            Table::Complete => depths
                .complete
                .extend(share::count(&share, share::call_range)),
            Table::Nsec => latency(TimeUnit::Nsec),
            Table::Usec => latency(TimeUnit::Usec),
            Table::Msec => latency(TimeUnit::Msec),
        }
    }
    for bucket in latencies.iter_mut().filter(|_| !job.nanoseconds) {
        if (bucket.ge_ns, bucket.lt_ns) == FIRST_USEC {
            bucket.ge_ns = 0;
        }
    }
    let depths = (!depths.is_empty()).then(|| Box::new(depths));
    (depths, latencies)
}

/// The latency that was asked for, in the units of the version.
pub(super) fn target(
    decoder: &Decoder<'_, '_>,
    version: Option<Version>,
    job: &Job<'_>,
) -> Option<Box<LatencyTarget>> {
    let line = TargetLine {
        target: decoder.figure(job.latency_target.filter(|text| *text != "0")?),
        window: job.latency_window.map(|text| decoder.figure(text)),
        percentile: job.latency_percentile.map(|text| decoder.figure(text)),
        depth: count(job.latency_depth),
    };
    let era = version.map_or_else(Era::default, Era::of);
    fio_text::target(&line, &era).map(Box::new)
}
