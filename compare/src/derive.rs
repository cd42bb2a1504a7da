//! Metrics from quantities: every inference of this crate, as lazy expressions.
//!
//! Records hold only what was printed. What follows from it is computed here, interval by
//! interval, and marked with how it came about ([`How`]), so that the table can say so.
//!
//! - **bandwidth**: as printed. dd's rate is by definition bytes over seconds, so there the
//!   printed rate (3 digits) is narrowed by bytes / seconds; fio's is left as printed. Where no
//!   rate was printed, bytes / run time.
//! - **by wall clock**: bytes / `real`.
//! - **before the final flush**: bytes / I/O phase where the phase was measured. Else inferred
//!   for timed jobs that flush at their end: bytes / asked time, bytes being narrowed by
//!   rate x run time.
//! - **final flush**: as measured; else inferred as run time - asked time. A timed job looks at
//!   the clock between I/Os only, so the inferred flush is taken to a tenth of a second.
//! - **IOPS**: as printed; else bandwidth / block size where there is one block size.
//! - **processor use**: user + system share as printed, or (user + sys) / `real`.
//!
//! Place: between [`crate::frame`] (columns) and [`crate::build`] (cells); knows column names only.

use polars::prelude::*;

use crate::frame::Base;
use crate::metric::{Metric, Statistic};

/// Half of the tenth of a second to which an inferred flush is known, in ns.
const FLUSH_DOUBT_NS: f64 = 5e7;

/// Computed ends are moved outward by this share, more than division can round.
const OUTWARD: f64 = 4.0 * f64::EPSILON;

/// How a number came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Printed or measured.
    Stated,
    /// Follows by arithmetic.
    Derived,
    /// Follows if an assumption holds.
    Inferred,
}

impl How {
    /// As kept in a column.
    pub fn code(self) -> u32 {
        match self {
            How::Stated => 0,
            How::Derived => 1,
            How::Inferred => 2,
        }
    }
}

/// The quantities that a metric is made from.
pub fn bases(metric: Metric) -> Vec<Base> {
    match metric {
        Metric::Bandwidth => vec![Base::BytesPerSec, Base::Bytes, Base::Runtime],
        Metric::WallBandwidth => vec![Base::Bytes, Base::Wall],
        Metric::WriteBandwidth => {
            vec![Base::BytesPerSec, Base::Bytes, Base::Runtime, Base::IoPhase]
        }
        Metric::Flush => vec![Base::Flush, Base::Runtime],
        Metric::Iops => vec![Base::Iops, Base::BytesPerSec, Base::Bytes, Base::Runtime],
        Metric::Bytes => vec![Base::Bytes],
        Metric::Runtime => vec![Base::Runtime],
        Metric::Wall => vec![Base::Wall],
        Metric::Cpu => vec![Base::CpuShare, Base::CpuTime, Base::Wall],
        Metric::Samples(sampled, statistic) => vec![Base::Samples(sampled, statistic)],
        Metric::Latency(clock, Statistic::Mean) => vec![
            Base::Latency(clock, Statistic::Mean),
            // What means of several jobs are weighted by.
            Base::Count(clock),
            Base::Iops,
            Base::Runtime,
        ],
        Metric::Latency(clock, statistic) => vec![Base::Latency(clock, statistic)],
    }
}

/// The quantity that is the metric wherever a record states it; a dd's bandwidth is narrowed.
pub fn stated_first(metric: Metric) -> Option<Base> {
    match metric {
        Metric::Bandwidth => Some(Base::BytesPerSec),
        Metric::WallBandwidth | Metric::WriteBandwidth => None,
        Metric::Flush => Some(Base::Flush),
        Metric::Iops => Some(Base::Iops),
        Metric::Bytes => Some(Base::Bytes),
        Metric::Runtime => Some(Base::Runtime),
        Metric::Wall => Some(Base::Wall),
        Metric::Cpu => Some(Base::CpuShare),
        Metric::Samples(sampled, statistic) => Some(Base::Samples(sampled, statistic)),
        Metric::Latency(clock, statistic) => Some(Base::Latency(clock, statistic)),
    }
}

/// The expressions `lo`, `value`, `hi` (f64) and `how` (u32) of a quantity as it is stated.
pub fn as_stated(base: Base) -> [Expr; 4] {
    columns(stated(base))
}

/// Three expressions and how the number came about.
struct Triple {
    lo: Expr,
    value: Expr,
    hi: Expr,
    how: Expr,
}

/// The expressions `lo`, `value`, `hi` (f64) and `how` (u32) of a metric.
pub fn expressions(metric: Metric) -> [Expr; 4] {
    let triple = match metric {
        Metric::Bandwidth => bandwidth(),
        Metric::WallBandwidth => rate(stated(Base::Bytes), stated(Base::Wall)),
        Metric::WriteBandwidth => {
            let measured = rate(stated(Base::Bytes), stated(Base::IoPhase));
            let moved = times(stated(Base::BytesPerSec), stated(Base::Runtime), 1e-9);
            let bytes = narrowed(stated(Base::Bytes), moved, lit(true));
            let inferred = as_(rate(bytes, nominal()), How::Inferred);
            or_else(measured, only_if(inferred, ran_longer()))
        }
        Metric::Flush => {
            let tail = |end: &str| quantity(Base::Runtime, end) - col("nominal");
            let doubt = || lit(FLUSH_DOUBT_NS);
            let not_negative = |e: Expr| when(e.clone().lt(lit(0.0))).then(lit(0.0)).otherwise(e);
            let inferred = Triple {
                lo: not_negative(tail("lo") - doubt()),
                value: not_negative(tail("value")),
                hi: tail("hi") + doubt(),
                how: lit(How::Inferred.code()),
            };
            or_else(stated(Base::Flush), only_if(inferred, ran_longer()))
        }
        Metric::Iops => {
            let blocks = Triple {
                lo: col("block"),
                value: col("block"),
                hi: col("block"),
                how: lit(How::Derived.code()),
            };
            let derived = as_(quotient(bandwidth(), blocks, 1.0), How::Derived);
            or_else(stated(Base::Iops), derived)
        }
        Metric::Bytes => stated(Base::Bytes),
        Metric::Runtime => stated(Base::Runtime),
        Metric::Wall => stated(Base::Wall),
        Metric::Cpu => or_else(
            stated(Base::CpuShare),
            quotient(stated(Base::CpuTime), stated(Base::Wall), 1.0),
        ),
        Metric::Samples(sampled, statistic) => stated(Base::Samples(sampled, statistic)),
        Metric::Latency(clock, statistic) => stated(Base::Latency(clock, statistic)),
    };
    columns(triple)
}

fn columns(triple: Triple) -> [Expr; 4] {
    [
        triple.lo.alias("lo"),
        triple.value.alias("value"),
        triple.hi.alias("hi"),
        triple.how.cast(DataType::UInt32).alias("how"),
    ]
}

fn quantity(base: Base, end: &str) -> Expr {
    col(format!("{}:{end}", base.column()))
}

fn stated(base: Base) -> Triple {
    Triple {
        lo: quantity(base, "lo"),
        value: quantity(base, "value"),
        hi: quantity(base, "hi"),
        how: lit(How::Stated.code()),
    }
}

fn nominal() -> Triple {
    Triple {
        lo: col("nominal"),
        value: col("nominal"),
        hi: col("nominal"),
        how: lit(How::Stated.code()),
    }
}

/// The run was at least as long as asked; a shorter one did not end by time.
fn ran_longer() -> Expr {
    quantity(Base::Runtime, "hi").gt_eq(col("nominal"))
}

fn bandwidth() -> Triple {
    let computed = rate(stated(Base::Bytes), stated(Base::Runtime));
    let dd = col("dd");
    or_else(
        narrowed(stated(Base::BytesPerSec), computed, dd),
        rate(stated(Base::Bytes), stated(Base::Runtime)),
    )
}

fn rate(bytes: Triple, time: Triple) -> Triple {
    quotient(bytes, time, 1e9)
}

/// `a / b x factor`, ends crosswise. Null where the divisor may be zero.
fn quotient(a: Triple, b: Triple, factor: f64) -> Triple {
    let sound = b.lo.clone().gt(lit(0.0));
    let some = |e: Expr| when(sound.clone()).then(e).otherwise(lit(NULL));
    Triple {
        lo: some(a.lo / b.hi * lit(factor * (1.0 - OUTWARD))),
        value: some(a.value / b.value * lit(factor)),
        hi: some(a.hi / b.lo * lit(factor * (1.0 + OUTWARD))),
        how: lit(How::Derived.code()),
    }
}

fn times(a: Triple, b: Triple, factor: f64) -> Triple {
    Triple {
        lo: a.lo * b.lo * lit(factor * (1.0 - OUTWARD)),
        value: a.value * b.value * lit(factor),
        hi: a.hi * b.hi * lit(factor * (1.0 + OUTWARD)),
        how: lit(How::Derived.code()),
    }
}

/// `a`, narrowed by `b` where `wanted` holds and both have a number in common.
fn narrowed(a: Triple, b: Triple, wanted: Expr) -> Triple {
    let lo = when(b.lo.clone().gt(a.lo.clone()))
        .then(b.lo.clone())
        .otherwise(a.lo.clone());
    let hi = when(b.hi.clone().lt(a.hi.clone()))
        .then(b.hi.clone())
        .otherwise(a.hi.clone());
    let meets = wanted
        .and(b.lo.is_not_null())
        .and(a.lo.clone().is_not_null())
        .and(lo.clone().lt_eq(hi.clone()));
    let middle = (lo.clone() + hi.clone()) / lit(2.0);
    Triple {
        lo: when(meets.clone()).then(lo).otherwise(a.lo),
        value: when(meets.clone()).then(middle).otherwise(a.value),
        hi: when(meets).then(hi).otherwise(a.hi),
        how: a.how,
    }
}

fn or_else(a: Triple, b: Triple) -> Triple {
    let there = a.lo.clone().is_not_null();
    let pick = |x: Expr, y: Expr| when(there.clone()).then(x).otherwise(y);
    Triple {
        lo: pick(a.lo.clone(), b.lo),
        value: pick(a.value, b.value),
        hi: pick(a.hi, b.hi),
        how: pick(a.how, b.how),
    }
}

fn only_if(a: Triple, condition: Expr) -> Triple {
    let pick = |x: Expr| when(condition.clone()).then(x).otherwise(lit(NULL));
    Triple {
        lo: pick(a.lo),
        value: pick(a.value),
        hi: pick(a.hi),
        how: a.how,
    }
}

fn as_(a: Triple, how: How) -> Triple {
    Triple {
        how: lit(how.code()),
        ..a
    }
}
