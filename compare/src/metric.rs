//! The metrics: names, titles, dimensions and which way is better.
//!
//! | name | meaning |
//! |---|---|
//! | `bw` | bytes over the tool's own window |
//! | `bw-wall` | bytes over the time the shell measured |
//! | `bw-write` | bytes over the I/O phase alone, without the flush at the end |
//! | `flush` | the flush at the end |
//! | `iops` | operations per second |
//! | `bytes`, `runtime`, `wall` | amount and times as printed |
//! | `cpu` | processor time, share of the window, all in user and system mode |
//! | `bw-S`, `iops-S` | of samples over time, as fio's summary and logs of samples hold them; S is `min`, `mean`, `max` or `stddev` |
//! | `slat-S`, `clat-S`, `lat-S`, `sync-S` | latencies; S is `min`, `mean`, `max`, `stddev` or a percentile as `p99.9` |
//!
//! Place: names and their properties; how the numbers come about is in [`crate::derive`].

use std::fmt;

use crate::scale::Dimension;

/// Something that is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Bytes over the tool's own window.
    Bandwidth,
    /// Bytes over the shell's `real`.
    WallBandwidth,
    /// Bytes over the time before the final flush.
    WriteBandwidth,
    /// The time of the final flush.
    Flush,
    /// Operations per second.
    Iops,
    /// Bytes moved.
    Bytes,
    /// The tool's own window.
    Runtime,
    /// The shell's `real`.
    Wall,
    /// Processor time over the window.
    Cpu,
    /// A figure of samples over time, which is no percentile.
    Samples(Sampled, Statistic),
    /// A figure of a latency distribution.
    Latency(Clock, Statistic),
}

/// What is sampled over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampled {
    /// Bytes per second.
    Bandwidth,
    /// Operations per second.
    Iops,
}

/// Which latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// From the I/O chosen to the submit call done.
    Submission,
    /// From submission to completion.
    Completion,
    /// From the I/O chosen to completion.
    Total,
    /// Of fsync and its like.
    Sync,
}

/// Which figure of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The smallest.
    Min,
    /// The mean.
    Mean,
    /// The largest.
    Max,
    /// The sample standard deviation.
    Stddev,
    /// A percentile, 0 to 100.
    Percentile(f64),
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither; it is an amount.
    Neither,
}

impl Metric {
    /// Every metric with a fixed name, for `--list`.
    pub const PLAIN: &[Metric] = &[
        Metric::Bandwidth,
        Metric::WallBandwidth,
        Metric::WriteBandwidth,
        Metric::Flush,
        Metric::Iops,
        Metric::Bytes,
        Metric::Runtime,
        Metric::Wall,
        Metric::Cpu,
    ];

    /// What it is measured in.
    pub fn dimension(self) -> Dimension {
        match self {
            Metric::Bandwidth | Metric::WallBandwidth | Metric::WriteBandwidth => Dimension::Rate,
            Metric::Samples(Sampled::Bandwidth, _) => Dimension::Rate,
            Metric::Iops | Metric::Samples(Sampled::Iops, _) => Dimension::Iops,
            Metric::Bytes => Dimension::Size,
            Metric::Cpu => Dimension::Share,
            Metric::Flush | Metric::Runtime | Metric::Wall | Metric::Latency(..) => Dimension::Time,
        }
    }

    /// Which way is better. A longer run of a timed job is neither.
    pub fn better(self) -> Better {
        match self {
            Metric::Bandwidth | Metric::WallBandwidth | Metric::WriteBandwidth | Metric::Iops => {
                Better::Higher
            }
            Metric::Samples(_, Statistic::Stddev) => Better::Lower,
            Metric::Samples(..) => Better::Higher,
            Metric::Flush | Metric::Cpu | Metric::Latency(..) => Better::Lower,
            Metric::Bytes | Metric::Runtime | Metric::Wall => Better::Neither,
        }
    }

    /// In words, for titles.
    pub fn title(self) -> String {
        match self {
            Metric::Bandwidth => "bandwidth".into(),
            Metric::WallBandwidth => "bandwidth by wall clock".into(),
            Metric::WriteBandwidth => "bandwidth before the final flush".into(),
            Metric::Flush => "final flush".into(),
            Metric::Iops => "IOPS".into(),
            Metric::Bytes => "amount".into(),
            Metric::Runtime => "run time".into(),
            Metric::Wall => "wall clock time".into(),
            Metric::Cpu => "processor use".into(),
            Metric::Samples(sampled, statistic) => {
                let samples = match sampled {
                    Sampled::Bandwidth => "bandwidth samples",
                    Sampled::Iops => "IOPS samples",
                };
                match statistic {
                    Statistic::Min => format!("least of {samples}"),
                    Statistic::Mean => format!("mean of {samples}"),
                    Statistic::Max => format!("largest of {samples}"),
                    Statistic::Stddev => format!("deviation of {samples}"),
                    Statistic::Percentile(p) => format!("{samples}, percentile {p}"),
                }
            }
            Metric::Latency(clock, statistic) => {
                let clock = match clock {
                    Clock::Submission => "submission latency",
                    Clock::Completion => "completion latency",
                    Clock::Total => "total latency",
                    Clock::Sync => "sync latency",
                };
                match statistic {
                    Statistic::Min => format!("least {clock}"),
                    Statistic::Mean => format!("mean {clock}"),
                    Statistic::Max => format!("largest {clock}"),
                    Statistic::Stddev => format!("deviation of {clock}"),
                    Statistic::Percentile(p) => format!("{clock}, percentile {p}"),
                }
            }
        }
    }

    /// Looks a metric up by name; `p99` alone is `clat-p99`, `lat` alone is `lat-mean`.
    pub fn parse(name: &str) -> Result<Metric, String> {
        if let Some(found) = Metric::PLAIN.iter().find(|m| m.to_string() == name) {
            return Ok(*found);
        }
        let bad = || {
            let known: Vec<String> = Metric::PLAIN.iter().map(Metric::to_string).collect();
            format!(
                "expected a metric, found `{name}`; known: {}, and slat-, clat-, lat- or sync- \
                 with min, mean, max, stddev or a percentile, as clat-p99.9; bw- and iops- with \
                 min, mean, max or stddev are of samples",
                known.join(", ")
            )
        };
        let clock = |text: &str| match text {
            "slat" => Some(Clock::Submission),
            "clat" => Some(Clock::Completion),
            "lat" => Some(Clock::Total),
            "sync" => Some(Clock::Sync),
            _ => None,
        };
        let statistic = |text: &str| match text {
            "min" => Some(Statistic::Min),
            "mean" | "avg" => Some(Statistic::Mean),
            "max" => Some(Statistic::Max),
            "stddev" => Some(Statistic::Stddev),
            _ => {
                let p: f64 = text.strip_prefix('p')?.parse().ok()?;
                (0.0..=100.0)
                    .contains(&p)
                    .then_some(Statistic::Percentile(p))
            }
        };
        let sampled = |text: &str| match text {
            "bw" => Some(Sampled::Bandwidth),
            "iops" => Some(Sampled::Iops),
            _ => None,
        };
        if let Some((what, text)) = name.split_once('-')
            && let (Some(sampled), Some(statistic)) = (sampled(what), statistic(text))
            && !matches!(statistic, Statistic::Percentile(_))
        {
            return Ok(Metric::Samples(sampled, statistic));
        }
        let (clock, statistic) = match name.split_once('-') {
            Some((c, s)) => (clock(c), statistic(s)),
            None => match clock(name) {
                Some(c) => (Some(c), Some(Statistic::Mean)),
                None if name.starts_with('p') => (Some(Clock::Completion), statistic(name)),
                None => (None, None),
            },
        };
        match (clock, statistic) {
            (Some(clock), Some(statistic)) => Ok(Metric::Latency(clock, statistic)),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metric::Bandwidth => f.write_str("bw"),
            Metric::WallBandwidth => f.write_str("bw-wall"),
            Metric::WriteBandwidth => f.write_str("bw-write"),
            Metric::Flush => f.write_str("flush"),
            Metric::Iops => f.write_str("iops"),
            Metric::Bytes => f.write_str("bytes"),
            Metric::Runtime => f.write_str("runtime"),
            Metric::Wall => f.write_str("wall"),
            Metric::Cpu => f.write_str("cpu"),
            Metric::Samples(sampled, statistic) => {
                f.write_str(match sampled {
                    Sampled::Bandwidth => "bw-",
                    Sampled::Iops => "iops-",
                })?;
                statistic.fmt(f)
            }
            Metric::Latency(clock, statistic) => {
                f.write_str(match clock {
                    Clock::Submission => "slat-",
                    Clock::Completion => "clat-",
                    Clock::Total => "lat-",
                    Clock::Sync => "sync-",
                })?;
                statistic.fmt(f)
            }
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Min => f.write_str("min"),
            Statistic::Mean => f.write_str("mean"),
            Statistic::Max => f.write_str("max"),
            Statistic::Stddev => f.write_str("stddev"),
            Statistic::Percentile(p) => write!(f, "p{p}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in [
            "bw",
            "bw-wall",
            "bw-write",
            "flush",
            "iops",
            "clat-p99.9",
            "lat-mean",
            "sync-max",
            "slat-min",
            "bw-mean",
            "iops-stddev",
        ] {
            assert_eq!(Metric::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(Metric::parse("p99").unwrap().to_string(), "clat-p99");
        assert_eq!(Metric::parse("lat").unwrap().to_string(), "lat-mean");
    }

    #[test]
    fn err_unknown_metrics_list_the_known() {
        for bad in [
            "bandwith",
            "bw-p99",
            "clat-p101",
            "clat-",
            "p",
            "xlat-mean",
            "",
        ] {
            let message = Metric::parse(bad).unwrap_err();
            assert!(message.contains("clat-p99.9"), "{bad}: {message}");
        }
    }
}
