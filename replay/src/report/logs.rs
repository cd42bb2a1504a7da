//! fio's logs of bandwidth, IOPS and latency: `PREFIX_bw.1.log` and so on, a file per job.
//!
//! ```text
//! line    time-ms ", " value ", " direction ", " block ", " 0
//! ```
//!
//! Values are KiB/s, I/Os per second, or nanoseconds; direction is 0 for reads and 1 for
//! writes. Each line is an average over a window: the 500 ms of the job's own series, or as
//! many of them as make up `log_avg_msec`. fio prints block 0 for averages, so it is here.

use std::fmt::Write;

use crate::outcome::{FioOutcome, runtime_ms};
use crate::plan::fio::FioPlan;
use crate::worker::{SAMPLE_NS, Sample};

/// The logs that a test asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// `write_bw_log`.
    pub rate: bool,
    /// `write_iops_log`.
    pub iops: bool,
    /// `write_lat_log`.
    pub latency: bool,
    /// `log_avg_msec`, ms; 0 is as fine as the series.
    pub window_ms: u64,
}

/// One log: what its name ends in, and its text.
pub type Log = (String, String);

/// The logs of all jobs, numbered from 1 as fio does.
pub fn fio(plan: &FioPlan, outcome: &FioOutcome, wanted: Wanted) -> Vec<Log> {
    let mut logs = Vec::new();
    for (number, job) in outcome.jobs.iter().enumerate().take(plan.jobs.len()) {
        let Some(job) = job else { continue };
        let windows = windows(&job.samples, wanted.window_ms);
        let mut put = |kind: &str, on: bool, value: &dyn Fn(&Window, usize) -> Option<u64>| {
            let text = if on {
                lines(&windows, value)
            } else {
                String::new()
            };
            if !text.is_empty() {
                logs.push((format!("_{kind}.{}.log", number + 1), text));
            }
        };
        put("bw", wanted.rate, &|window, way| {
            Some(
                (u128::from(window.sample.bytes[way]) * 1000 / 1024 / u128::from(window.ms)) as u64,
            )
        });
        put("iops", wanted.iops, &|window, way| {
            Some((u128::from(window.sample.ios[way]) * 1000 / u128::from(window.ms)) as u64)
        });
        for (index, kind) in ["slat", "clat", "lat"].into_iter().enumerate() {
            put(kind, wanted.latency, &|window, way| {
                let sum = window.sample.latency_ns[index][way];
                // A synchronous engine has no submission latency.
                sum.checked_div(window.sample.ios[way]).filter(|_| sum > 0)
            });
        }
    }
    logs
}

/// A window and its length.
struct Window {
    sample: Sample,
    ms: u64,
}

fn windows(samples: &[Sample], window_ms: u64) -> Vec<Window> {
    let each = (window_ms * 1_000_000).div_ceil(SAMPLE_NS).max(1) as usize;
    let mut start = 0;
    samples
        .chunks(each)
        .map(|chunk| {
            let mut sample = Sample::default();
            chunk.iter().for_each(|part| sample.merge(part));
            let ms = runtime_ms(sample.end_ns - start);
            start = sample.end_ns;
            Window { sample, ms }
        })
        .collect()
}

fn lines(windows: &[Window], value: &dyn Fn(&Window, usize) -> Option<u64>) -> String {
    let mut text = String::new();
    for window in windows {
        for way in 0..2 {
            if window.sample.ios[way] == 0 {
                continue;
            }
            if let Some(value) = value(window, way) {
                let _ = writeln!(
                    text,
                    "{}, {value}, {way}, 0, 0",
                    window.sample.end_ns / 1_000_000
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_joined_to_the_asked_length() {
        let sample = |end_ms: u64| Sample {
            end_ns: end_ms * 1_000_000,
            bytes: [1 << 20, 0],
            ios: [256, 0],
            latency_ns: [[0; 2], [256_000, 0], [512_000, 0]],
        };
        let samples = [sample(500), sample(1000), sample(1500)];
        let joined = windows(&samples, 1000);
        assert_eq!(
            joined.iter().map(|window| window.ms).collect::<Vec<_>>(),
            [1000, 500]
        );
        let text = lines(&joined, &|window, way| {
            Some(window.sample.latency_ns[1][way] / window.sample.ios[way])
        });
        assert_eq!(text, "1000, 1000, 0, 0, 0\n1500, 1000, 0, 0, 0\n");
    }
}
