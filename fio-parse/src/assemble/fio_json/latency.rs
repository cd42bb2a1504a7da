//! Latencies and sample statistics of a document.

use super::super::machine::{Decoder, count, is_zero};
use crate::block::fio_json as block;
use crate::figure::decimal::Decimal;
use crate::reading::Reading;
use crate::record::{Latency, Percentile, PriorityLatency, Samples, Spread, SteadyState};
use crate::unit::Quantity;

/// What an unsigned minimum holds while nothing was counted: 64 or 32 bits, all set.
const UNSET: [&str; 2] = ["18446744073709551615", "4294967295"];

/// A latency, if one was measured: engines without a submission phase print zeros, and so do old versions without samples.
pub(super) fn latency(
    decoder: &mut Decoder<'_, '_>,
    block: &block::Latency<'_>,
) -> Option<Latency> {
    let stats = &block.stats;
    let none_counted = match count(stats.count) {
        Some(samples) => samples == 0,
        None => is_zero(stats.max) && is_zero(stats.mean),
    };
    if none_counted {
        return None;
    }
    let scale = if block.nanoseconds { 1.0 } else { 1e3 };
    // how many there will be is known, and growing would move them again and again
    let mut percentiles = Vec::with_capacity(block.percentiles.len());
    for &(p, value) in &block.percentiles {
        let p = p.parse().ok().filter(|p| (0.0..=100.0).contains(p));
        if let (Some(p), Some(reading)) = (p, decoder.exact(Some(value), scale)) {
            percentiles.push(Percentile { p, reading });
        }
    }
    Some(Latency {
        min: decoder.exact(set(stats.min), scale),
        max: decoder.exact(stats.max, scale),
        mean: decoder.rounded(stats.mean, scale),
        stddev: decoder.rounded(stats.stddev, scale),
        samples: count(stats.count),
        percentiles,
        bins: bins(block),
    })
}

fn set(min: Option<&str>) -> Option<&str> {
    min.filter(|text| !UNSET.contains(text))
}

/// Buckets by their middle in nanoseconds.
fn bins(block: &block::Latency<'_>) -> Vec<(u64, u64)> {
    let each = if block.nanoseconds { 1 } else { 1000 };
    let mut bins = Vec::with_capacity(block.bins.len());
    for &(bucket, count) in &block.bins {
        let middle = match block.bins_are_indexes {
            true => bucket_middle(bucket),
            false => Some(bucket),
        };
        if let Some(middle) = middle.and_then(|middle| middle.checked_mul(each)) {
            bins.push((middle, count));
        }
    }
    if !bins.is_sorted() {
        bins.sort_unstable();
    }
    bins
}

/// The middle of fio's histogram bucket `index`: 64 buckets for each power of two, single values below 128.
///
/// `stat.h` and `stat.c` of fio (`plat_idx_to_val`): in group `g = index / 64 - 1` a bucket is `2^g` wide and the
/// first starts at `2^(g + 6)`.
pub(in crate::assemble) fn bucket_middle(index: u64) -> Option<u64> {
    if index < 128 {
        return Some(index);
    }
    let group = index / 64 - 1;
    // 29 groups at most
    if group > 40 {
        return None;
    }
    let width = 1u64 << group;
    Some((1 << (group + 6)) + (index % 64) * width + width / 2)
}

/// Latencies by priority, with the priority as the normal report prints it.
pub(super) fn priorities(
    decoder: &mut Decoder<'_, '_>,
    blocks: &[block::Priority<'_>],
) -> Vec<PriorityLatency> {
    blocks
        .iter()
        .filter_map(|block| {
            let parts = [block.class, block.level, block.hint];
            let name: Vec<&str> = parts.into_iter().flatten().collect();
            let latency = latency(decoder, &block.latency)?;
            let (clat_ns, lat_ns) = match block.is_total {
                true => (None, Some(latency)),
                false => (Some(latency), None),
            };
            Some(PriorityLatency {
                priority: name.join("/"),
                clat_ns,
                lat_ns,
                ..PriorityLatency::default()
            })
        })
        .collect()
}

/// Sample statistics of bandwidth and IOPS; absent where no sample was completed.
pub(super) fn samples(
    decoder: &mut Decoder<'_, '_>,
    side: &block::Side<'_>,
    per: Option<&str>,
) -> Option<Samples> {
    let mut bytes_per_sec = spread(decoder, &side.bw_samples, 1024.0);
    if let Some(spread) = &mut bytes_per_sec {
        spread.per = decoder.rounded(per, 1.0);
    }
    let iops = spread(decoder, &side.iops_samples, 1.0);
    (bytes_per_sec.is_some() || iops.is_some()).then_some(Samples {
        bytes_per_sec,
        iops,
    })
}

fn spread<Q: Quantity>(
    decoder: &mut Decoder<'_, '_>,
    block: &block::Samples<'_>,
    scale: f64,
) -> Option<Spread<Q>> {
    if is_zero(block.max) && is_zero(block.mean) {
        return None;
    }
    let mut real =
        |text: Option<&str>| -> Option<Reading<Q>> { decoder.read(text, Decimal::Rounded, scale) };
    let (mean, stddev) = (real(block.mean), real(block.stddev));
    Some(Spread {
        min: decoder.exact(set(block.min), scale),
        max: decoder.exact(block.max, scale),
        mean,
        stddev,
        count: count(block.count),
        per: None,
    })
}

/// Whether the job became steady, where it was asked to.
pub(super) fn steady_state(job: &block::Job<'_>) -> Option<Box<SteadyState>> {
    let block = job.steady_state.as_deref()?;
    Some(Box::new(SteadyState {
        target: block.target?.to_owned(),
        attained: block.attained? != "0",
        criterion: block.criterion.map(str::to_owned),
        ..SteadyState::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_fio_s_middles() {
        // the last bucket of 19 groups (2.x, usec) and of 29 groups (3.x, ns), as fio prints saturated percentiles
        assert_eq!(bucket_middle(19 * 64 - 1), Some(16_711_680));
        assert_eq!(bucket_middle(29 * 64 - 1), Some(17_112_760_320));
        assert_eq!(bucket_middle(127), Some(127));
        assert_eq!(bucket_middle(128), Some(129));
        assert_eq!(bucket_middle(u64::MAX), None);
    }
}
