//! What a section says of all directions together.

use crate::assemble::fio_pair;
use crate::block::fio_group::Pair;
use crate::block::fio_text::FioJob;
use crate::block::fio_text::latency::TimeUnit;
use crate::block::fio_text::share::FIRST_USEC;
use crate::block::fio_text::tail::{CpuLine, SteadyLine, TargetLine};
use crate::diagnostic::Diagnostic;
use crate::era::{Era, Version};
use crate::figure::Figure;
use crate::figure::decimal::{self, Decimal};
use crate::interval::Possible;
use crate::reading::Reading;
use crate::record::{Cpu, Depths, Latency, LatencyBucket, LatencyTarget, Measurement, SteadyState};
use crate::unit::Nanos;

/// What a section says of all directions.
#[derive(Clone, Default)]
pub(super) struct Common {
    sync_lat_ns: Option<Box<Latency>>,
    lat_distribution: Vec<LatencyBucket>,
    cpu: Option<Box<Cpu>>,
    depths: Option<Box<Depths>>,
    latency_target: Option<Box<LatencyTarget>>,
    steady_state: Option<Box<SteadyState>>,
}

impl Common {
    /// Takes out of `job` what it says of all directions.
    pub fn take(job: &mut FioJob<'_>, era: &Era, warnings: &mut Vec<Diagnostic>) -> Self {
        let depths = Depths {
            depth: job.depths.take().unwrap_or_default(),
            submit: job.submit.take().unwrap_or_default(),
            complete: job.complete.take().unwrap_or_default(),
        };
        let mut lat_distribution = std::mem::take(&mut job.distribution);
        if !job.looks.nanoseconds {
            for bucket in &mut lat_distribution {
                if (bucket.ge_ns, bucket.lt_ns) == FIRST_USEC {
                    bucket.ge_ns = 0;
                }
            }
        }
        Self {
            sync_lat_ns: super::latency::read(&mut job.sync, era, warnings),
            lat_distribution,
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
        }
    }

    /// Gives it to a direction.
    pub fn give(self, into: &mut Measurement) {
        let Self {
            sync_lat_ns,
            lat_distribution,
            cpu,
            depths,
            latency_target,
            steady_state,
        } = self;
        into.sync_lat_ns = sync_lat_ns;
        into.lat_distribution = lat_distribution;
        into.cpu = cpu;
        into.depths = depths;
        into.latency_target = latency_target;
        into.steady_state = steady_state;
    }
}

fn is_zero(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

fn cpu(line: &CpuLine<'_>) -> Cpu {
    let plain = |figure: Option<Figure<'_>>| {
        let figure = figure?;
        Reading::decimal(figure, Decimal::Rounded, 1.0).ok()
    };
    Cpu {
        user_percent: plain(line.usr),
        system_percent: plain(line.sys),
        context_switches: line.ctx,
        major_faults: line.majf,
        minor_faults: line.minf,
    }
}

/// Units of the target and of its window, where none is printed: usec to 3.2; then nsec, the window in usec again from 3.21.
const TARGET_NSEC: Version = Version::release(3, 3, 0);
const WINDOW_USEC: Version = Version::release(3, 21, 0);

/// The latency that was asked for, unless none was.
pub(in crate::assemble) fn target(line: &TargetLine<'_>, era: &Era) -> Option<LatencyTarget> {
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
    let percent = line
        .percentile
        .and_then(|figure| Reading::decimal(figure, Decimal::Rounded, 1.0).ok());
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
            let printer = if is_zero(number) {
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
