//! What a section says of all directions together.

use crate::assemble::fio_pair;
use crate::block::fio_group::Pair;
use crate::block::fio_text::latency::TimeUnit;
use crate::block::fio_text::tail::{CpuLine, Share, SteadyLine, TargetLine};
use crate::block::fio_text::{FioJob, Looks};
use crate::diagnostic::Diagnostic;
use crate::era::{Era, Version};
use crate::figure::Figure;
use crate::figure::decimal::{self, Decimal};
use crate::interval::Possible;
use crate::reading::Reading;
use crate::record::{
    CountBucket, Cpu, Depths, LatencyBucket, LatencyTarget, Measurement, SteadyState,
};
use crate::unit::{Nanos, Percent};

/// A measurement with what the section says of all directions.
pub(super) fn common(job: &FioJob<'_>, era: &Era, warnings: &mut Vec<Diagnostic>) -> Measurement {
    let depths = Depths {
        depth: buckets(&job.depths, depth_range),
        submit: buckets(&job.submit, call_range),
        complete: buckets(&job.complete, call_range),
    };
    Measurement {
        sync_lat_ns: super::latency::read(&job.sync, era, warnings),
        lat_distribution: distribution(&job.distribution, &job.looks),
        cpu: job.cpu.as_ref().map(|line| Box::new(cpu(line))),
        depths: (!depths.is_empty()).then(|| Box::new(depths)),
        latency_target: job
            .target
            .as_ref()
            .and_then(|line| target(line, era))
            .map(Box::new),
        steady_state: job
            .steady
            .as_ref()
            .map(|line| Box::new(steady(line, era, warnings))),
        ..Measurement::default()
    }
}

/// A share in percent with its decimals. A share that is not zero prints as 0.1 (or 0.01) at least.
pub(super) fn percent(figure: &Figure<'_>) -> Option<Reading<Percent>> {
    let possible = decimal::read::<Percent>(figure.text, Decimal::Rounded, 1.0).ok()?;
    let smallest = matches!(figure.text, "0.1" | "0.01");
    let possible = if smallest {
        Possible::between(Percent::default(), possible.hi())?
    } else {
        possible
    };
    Some(Reading::of(possible, *figure))
}

fn is_zero(figure: &Figure<'_>) -> bool {
    figure.text.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

fn cpu(line: &CpuLine<'_>) -> Cpu {
    let plain = |figure: Option<Figure<'_>>| {
        let figure = figure?;
        let possible = decimal::read(figure.text, Decimal::Rounded, 1.0).ok()?;
        Some(Reading::of(possible, figure))
    };
    Cpu {
        user_percent: plain(line.usr),
        system_percent: plain(line.sys),
        context_switches: line.ctx,
        major_faults: line.majf,
        minor_faults: line.minf,
    }
}

fn buckets(
    shares: &[Share<'_>],
    range: impl Fn(&Share<'_>) -> (u64, Option<u64>),
) -> Vec<CountBucket> {
    let counted = || shares.iter().filter(|share| !is_zero(&share.percent));
    let mut buckets = Vec::with_capacity(counted().count());
    buckets.extend(counted().filter_map(|share| {
        let (min, max) = range(share);
        Some(CountBucket {
            min,
            max,
            percent: percent(&share.percent)?,
        })
    }));
    buckets
}

/// Depth labels are lower ends: `4=` is 4 to 7.
fn depth_range(share: &Share<'_>) -> (u64, Option<u64>) {
    let last = share.at.saturating_mul(2).saturating_sub(1);
    (share.at, (!share.more).then_some(last.max(share.at)))
}

/// Call labels are upper ends: `8=` is 5 to 8, `4=` is 1 to 4, `>=64` is more than 64.
fn call_range(share: &Share<'_>) -> (u64, Option<u64>) {
    match (share.at, share.more) {
        (at, true) => (at + 1, None),
        (0, _) => (0, Some(0)),
        (4, _) => (1, Some(4)),
        (at, _) => (at / 2 + 1, Some(at)),
    }
}

/// The labels of the distribution in usec and nsec; in msec 2000 follows.
const LABELS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// Labels are upper ends, not included; the label before is the lower end.
fn distribution(shares: &[(TimeUnit, Share<'_>)], looks: &Looks) -> Vec<LatencyBucket> {
    // to 2.21 times were whole microseconds, and the first bucket starts at zero
    let counts_nsec = looks.nanoseconds || shares.iter().any(|(unit, _)| *unit == TimeUnit::Nsec);
    let mut buckets = Vec::with_capacity(shares.len());
    buckets.extend(shares.iter().filter_map(|(unit, share)| {
        let ns = unit.ns() as u64;
        let at = share.at.checked_mul(ns)?;
        let below = LABELS.iter().rev().find(|label| **label < share.at);
        let ge_ns = match (share.more, below, unit) {
            (true, _, _) => at,
            (false, Some(label), _) => label * ns,
            (false, None, TimeUnit::Nsec) => 0,
            (false, None, TimeUnit::Usec) => {
                if counts_nsec {
                    ns
                } else {
                    0
                }
            }
            (false, None, _) => ns,
        };
        Some(LatencyBucket {
            ge_ns,
            lt_ns: (!share.more).then_some(at),
            percent: percent(&share.percent)?,
        })
    }));
    buckets
}

/// Units of the target and of its window, where none is printed: usec to 3.2; then nsec, the window in usec again from 3.21.
const TARGET_NSEC: Version = Version::release(3, 3, 0);
const WINDOW_USEC: Version = Version::release(3, 21, 0);

fn target(line: &TargetLine<'_>, era: &Era) -> Option<LatencyTarget> {
    let last = Version::release(u16::MAX, 0, 0);
    let target_ns = time(&line.target, |unit| match unit {
        TimeUnit::Nsec => era.may_be(TARGET_NSEC, last),
        _ => !era.is_from(TARGET_NSEC),
    })?;
    // printed for every job, as zero where nothing was asked for
    if target_ns.hi().get() == 0.0 {
        return None;
    }
    let window_ns = line.window.and_then(|window| {
        time(&window, |unit| match unit {
            TimeUnit::Nsec => era.may_be(TARGET_NSEC, WINDOW_USEC),
            _ => !era.is_from(TARGET_NSEC) || era.may_be(WINDOW_USEC, last),
        })
    });
    let percent = line.percentile.and_then(|figure| {
        let possible = decimal::read(figure.text, Decimal::Rounded, 1.0).ok()?;
        Some(Reading::of(possible, figure))
    });
    Some(LatencyTarget {
        target_ns,
        window_ns,
        percent,
        depth: line.depth,
    })
}

/// A time with its unit printed (3.42 on), or in nsec or usec as `may_be` allows.
fn time(figure: &Figure<'_>, may_be: impl Fn(TimeUnit) -> bool) -> Option<Reading<Nanos>> {
    let number = figure
        .text
        .trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let possible = match &figure.text[number.len()..] {
        "" => [TimeUnit::Nsec, TimeUnit::Usec]
            .into_iter()
            .filter(|unit| may_be(*unit))
            .filter_map(|unit| decimal::read(number, Decimal::Exact, unit.ns()).ok())
            .reduce(Possible::or)?,
        unit => {
            let ns = match unit {
                "ns" => 1.0,
                "us" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                _ => return None,
            };
            // "0.00ns" says that nothing was asked for
            let printer = if is_zero(&Figure {
                text: number,
                ..*figure
            }) {
                Decimal::Exact
            } else {
                Decimal::Rounded
            };
            decimal::read(number, printer, ns).ok()?
        }
    };
    Some(Reading::of(possible, *figure))
}

fn steady(line: &SteadyLine<'_>, era: &Era, warnings: &mut Vec<Diagnostic>) -> SteadyState {
    if let (Some(first), Some(second)) = (line.bw.first, line.bw.second) {
        warnings.push(super::wrong(
            second.span,
            format!(
                "the second bandwidth of a steadystate line, {}, is wrong in all versions of fio: KiB/s printed as if kB/s; {} was kept",
                second.text, first.text
            ),
        ));
    }
    let first = Pair {
        second: None,
        ..line.bw
    };
    let iops = Pair {
        first: line.iops,
        second: None,
    };
    SteadyState {
        target: line.criterion.unwrap_or("").to_owned(),
        attained: line.attained,
        criterion: line.deviation.map(|figure| {
            let sign = if line.percent { "%" } else { "" };
            format!("{}{sign}", figure.text)
        }),
        bytes_per_sec: fio_pair::read(&first, era.sizes(), warnings),
        iops: fio_pair::read(&iops, era.iops(), warnings),
    }
}
