//! fio's logs of bandwidth, IOPS and latency: `PREFIX_bw.1.log` and so on, a file per job.
//!
//! ```text
//! line    time-ms ", " value ", " direction ", " block ", " 0
//! ```
//!
//! Values are KiB/s, I/Os per second, or nanoseconds; direction is 0 for reads and 1 for writes.
//! With `log_avg_msec` each line is an average over a window of that length, of `bwavgtime` and
//! `iopsavgtime` where these are given, and block is 0. Without it each I/O has a line, with its
//! size. As in fio a log that was asked for is there even if it is empty; the logs of rate and IOPS
//! have whole windows only, those of latency also what is left at the end.
//!
//! fio 3.33 gives the rate of a single I/O in units of 1000 bytes; here it is KiB/s like all others.

use std::fmt::Write;

use crate::outcome::{FioOutcome, joined, runtime_ms};
use crate::plan::fio::FioPlan;
use crate::plan::job::Logs;
use crate::worker::{Averaged, JobOutcome, Logged, LoggedIo, Sample};

/// One log: what its name ends in, and its text.
pub type Log = (String, String);

/// The logs of all jobs that were started, numbered from 1 as fio does, or all jobs' in one with
/// `per_job_logs=0`.
pub fn fio(plan: &FioPlan, outcome: &FioOutcome) -> Vec<Log> {
    let mut logs: Vec<Log> = Vec::new();
    for (number, (job, result)) in plan.jobs.iter().zip(&outcome.jobs).enumerate() {
        let Some(result) = result else { continue };
        let plan = job.logs.asked();
        for (kind, text) in of_job(&plan, result) {
            let ending = ending(&plan, kind, number);
            match logs.iter_mut().find(|(known, _)| *known == ending) {
                Some((_, all)) => all.push_str(&text),
                None => logs.push((ending, text)),
            }
        }
    }
    logs
}

/// What the names of all logs of a test end in, if each of its jobs is started.
pub fn endings(plan: &FioPlan) -> Vec<String> {
    let mut endings = Vec::new();
    for (number, job) in plan.jobs.iter().enumerate() {
        let plan = job.logs.asked();
        for (asked, kinds) in [
            (plan.rate, &["bw"][..]),
            (plan.iops, &["iops"]),
            (plan.latency, &["slat", "clat", "lat"]),
        ] {
            let kinds = kinds.iter().filter(|_| asked);
            endings.extend(kinds.map(|kind| ending(&plan, kind, number)));
        }
    }
    endings
}

fn ending(plan: &Logs, kind: &str, job: usize) -> String {
    match plan.together {
        true => format!("_{kind}.log"),
        false => format!("_{kind}.{}.log", job + 1),
    }
}

fn of_job(plan: &Logs, job: &JobOutcome) -> Vec<(&'static str, String)> {
    let none = Logged::default();
    let logged = job.logged.as_deref().unwrap_or(&none);
    let each = plan.average_ms == 0;
    let mut logs = Vec::new();
    if plan.rate {
        let text = match each {
            true => ios(logged, |io| {
                let ns = u128::from(io.clat_ns.max(1));
                (u128::from(io.bytes) * 1_000_000_000 / 1024 / ns) as u64
            }),
            false => windows(&job.samples, plan.rate_window_ms(), |sample, way, ms| {
                u128::from(sample.bytes[way]) * 1000 / 1024 / ms
            }),
        };
        logs.push(("bw", text));
    }
    if plan.iops {
        let text = match each {
            true => ios(logged, |_| 1),
            false => windows(&job.samples, plan.iops_window_ms(), |sample, way, ms| {
                u128::from(sample.ios[way]) * 1000 / ms
            }),
        };
        logs.push(("iops", text));
    }
    if plan.latency {
        let [slat, clat, lat] = match each {
            true => [
                slats(logged),
                ios(logged, |io| io.clat_ns),
                ios(logged, |io| io.slat_ns + io.clat_ns),
            ],
            false => logged.averages.each_ref().map(|log| averages(log)),
        };
        logs.extend([("slat", slat), ("clat", clat), ("lat", lat)]);
    }
    logs
}

fn line(text: &mut String, at_ms: u64, value: u64, write: bool, bytes: u32) {
    let _ = writeln!(text, "{at_ms}, {value}, {}, {bytes}, 0", u8::from(write));
}

fn windows(samples: &[Sample], ms: u32, value: impl Fn(&Sample, usize, u128) -> u128) -> String {
    let mut text = String::new();
    let mut start_ns = 0;
    for sample in joined(samples, ms) {
        let ms = u128::from(runtime_ms(sample.end_ns - start_ns));
        start_ns = sample.end_ns;
        for way in 0..2 {
            if sample.ios[way] > 0 {
                let value = value(&sample, way, ms) as u64;
                line(&mut text, sample.end_ns / 1_000_000, value, way == 1, 0);
            }
        }
    }
    text
}

fn ios(logged: &Logged, value: impl Fn(&LoggedIo) -> u64) -> String {
    let mut text = String::new();
    for io in &logged.ios {
        line(
            &mut text,
            io.at_ns / 1_000_000,
            value(io),
            io.write,
            io.bytes,
        );
    }
    text
}

/// Submission latencies, in the order and at the time of the hand-over.
fn slats(logged: &Logged) -> String {
    let mut text = String::new();
    if logged.has_slat {
        let handed = |io: &&LoggedIo| io.at_ns.saturating_sub(io.clat_ns);
        let mut order: Vec<&LoggedIo> = logged.ios.iter().collect();
        order.sort_by_key(handed);
        for io in order {
            line(
                &mut text,
                handed(&io) / 1_000_000,
                io.slat_ns,
                io.write,
                io.bytes,
            );
        }
    }
    text
}

fn averages(log: &[Averaged]) -> String {
    let mut text = String::new();
    for window in log {
        line(&mut text, window.at_ms, window.ns, window.write, 0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(end_ms: u64) -> Sample {
        Sample {
            end_ns: end_ms * 1_000_000,
            bytes: [1 << 20, 0],
            ios: [256, 0],
        }
    }

    fn io(at_ms: u64, clat_ns: u64, write: bool) -> LoggedIo {
        LoggedIo {
            at_ns: at_ms * 1_000_000,
            slat_ns: 100,
            clat_ns,
            bytes: 4096,
            write,
        }
    }

    #[test]
    fn windows_are_those_of_the_options() {
        let plan = Logs {
            rate: true,
            iops: true,
            average_ms: 1000,
            iops_ms: Some(500),
            ..Logs::default()
        };
        let job = JobOutcome {
            samples: vec![sample(500), sample(1000), sample(1500)],
            ..JobOutcome::default()
        };
        // 2 MiB in a second; what is behind the last whole window is in no line.
        assert_eq!(
            of_job(&plan, &job),
            [
                ("bw", "1000, 2048, 0, 0, 0\n".to_owned()),
                (
                    "iops",
                    "500, 512, 0, 0, 0\n1000, 512, 0, 0, 0\n1500, 512, 0, 0, 0\n".to_owned()
                ),
            ]
        );
    }

    #[test]
    fn without_averages_each_io_has_its_line() {
        let plan = Logs {
            rate: true,
            iops: true,
            latency: true,
            ..Logs::default()
        };
        let job = JobOutcome {
            logged: Some(Box::new(Logged {
                ios: vec![io(3, 2_000_000, false), io(4, 4_000_000, true)],
                has_slat: true,
                ..Logged::default()
            })),
            ..JobOutcome::default()
        };
        let logs = of_job(&plan, &job);
        let text = |kind: &str| &logs.iter().find(|(known, _)| *known == kind).unwrap().1;
        // 4 KiB in 2 ms and in 4 ms.
        assert_eq!(text("bw"), "3, 2000, 0, 4096, 0\n4, 1000, 1, 4096, 0\n");
        assert_eq!(text("iops"), "3, 1, 0, 4096, 0\n4, 1, 1, 4096, 0\n");
        assert_eq!(
            text("clat"),
            "3, 2000000, 0, 4096, 0\n4, 4000000, 1, 4096, 0\n"
        );
        assert_eq!(
            text("lat"),
            "3, 2000100, 0, 4096, 0\n4, 4000100, 1, 4096, 0\n"
        );
        // The write was handed over first.
        assert_eq!(text("slat"), "0, 100, 1, 4096, 0\n1, 100, 0, 4096, 0\n");
    }
}
