//! Figures of one report held against each other. Across quantities nothing is corrected, only said.

use crate::diagnostic::{Code, Diagnostic};
use crate::interval::{Interval, Possible};
use crate::reading::Reading;
use crate::record::Measurement;
use crate::source::Span;
use crate::unit::Quantity;

/// Warns where bytes over run time and bandwidth can't hold together.
///
/// fio computes the rate as `floor(1000 * bytes / msec)`; `slack` is what else may be lost, in bytes per second.
pub(super) fn rate(measurement: &Measurement, slack: f64, span: Span) -> Option<Diagnostic> {
    let bytes = measurement.bytes.as_ref()?;
    let rate = measurement.bytes_per_sec.as_ref()?;
    let runtime = measurement.runtime_ns.as_ref()?;
    let seconds = (runtime.lo().seconds(), runtime.hi().seconds());
    if seconds.0 <= 0.0 {
        return None;
    }
    let expected = |lo: f64, hi: f64| (lo / seconds.1 - 1.0 - slack, hi / seconds.0 + slack);
    if agree(&bytes.possible(), &rate.possible(), expected) {
        return None;
    }
    Some(Diagnostic::warning(
        Code::DISAGREE,
        Some(rate.span().unwrap_or(span)),
        format!(
            "{} in {:.3} s are {:.0} to {:.0} bytes/s, but {} is printed",
            bytes.text(),
            seconds.1,
            (bytes.lo().to_f64() / seconds.1).floor(),
            (bytes.hi().to_f64() / seconds.0).ceil(),
            rate.text()
        ),
    ))
}

/// Warns where the counted I/Os over run time and the IOPS can't hold together: fio computes `1000 * total / msec`, and
/// some versions cut it to a whole number.
pub(super) fn counted(measurement: &Measurement) -> Option<Diagnostic> {
    let ios = measurement.ios.as_ref()?;
    let seconds = measurement.runtime_ns.as_ref()?.lo().seconds();
    let iops = measurement.iops.as_ref()?;
    if seconds <= 0.0 {
        return None;
    }
    let expected = (ios.total as f64 / seconds).floor();
    let near =
        iops.possible().parts().iter().any(|part| {
            part.lo().to_f64() - 1.0 <= expected && expected <= part.hi().to_f64() + 1.0
        });
    (!near).then(|| {
        Diagnostic::warning(
            Code::DISAGREE,
            iops.span(),
            format!(
                "{} I/Os were issued in {seconds:.3} s, that is {expected:.0} a second, but {} is printed",
                ios.total,
                iops.text()
            ),
        )
    })
}

/// Warns where the slowest job of a group is faster than the fastest, or ran for a longer time than the longest.
pub(super) fn extremes(measurement: &Measurement, span: Span) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    if let (Some(min), Some(max)) = (
        &measurement.bytes_per_sec_min,
        &measurement.bytes_per_sec_max,
    ) && min.lo() > max.hi()
    {
        warnings.push(above(
            min,
            max,
            "the rate of the slowest job",
            "fastest",
            span,
        ));
    }
    if let (Some(min), Some(max)) = (&measurement.runtime_ns_min, &measurement.runtime_ns)
        && min.lo() > max.hi()
    {
        warnings.push(above(
            min,
            max,
            "the time of the shortest job",
            "longest",
            span,
        ));
    }
    warnings
}

fn above<Q: Quantity>(
    min: &Reading<Q>,
    max: &Reading<Q>,
    what: &str,
    other: &str,
    span: Span,
) -> Diagnostic {
    Diagnostic::warning(
        Code::DISAGREE,
        Some(min.span().unwrap_or(span)),
        format!(
            "{} is printed for {what}, and {}, which is less, for that of the {other}",
            min.text(),
            max.text()
        ),
    )
}

/// Leaves out what bytes and bandwidth may stand for but can't where both and the run time hold together. A figure that
/// lost a carry or counts in an unknown base stands for several values, and often the line itself tells which.
pub(super) fn settle(measurement: &mut Measurement, slack: f64, warnings: &mut Vec<Diagnostic>) {
    let Measurement {
        bytes: Some(bytes),
        bytes_per_sec: Some(rate),
        runtime_ns: Some(runtime),
        ..
    } = measurement
    else {
        return;
    };
    let (Some(shortest), longest) = (
        Some(runtime.lo().seconds()).filter(|seconds| *seconds > 0.0),
        runtime.hi().seconds(),
    ) else {
        return;
    };
    if bytes.possible().parts().len() < 2 && rate.possible().parts().len() < 2 {
        return;
    }
    let fit = |bytes: (f64, f64), rate: (f64, f64)| {
        bytes.0 / longest - 1.0 - slack <= rate.1 && rate.0 <= bytes.1 / shortest + slack
    };
    let rates = ends(rate);
    if bytes.settled(|part| rates.iter().any(|rate| fit(end_of(part), *rate))) {
        warnings.extend(settled(bytes));
    }
    let all = ends(bytes);
    if rate.settled(|part| all.iter().any(|bytes| fit(*bytes, end_of(part)))) {
        warnings.extend(settled(rate));
    }
}

fn end_of<Q: Quantity>(part: &Interval<Q>) -> (f64, f64) {
    (part.lo().to_f64(), part.hi().to_f64())
}

fn ends<Q: Quantity>(reading: &Reading<Q>) -> Vec<(f64, f64)> {
    reading.possible().parts().iter().map(end_of).collect()
}

fn settled<Q: Quantity>(reading: &Reading<Q>) -> Option<Diagnostic> {
    let span = reading.span()?;
    Some(Diagnostic::note(
        Code::SETTLED,
        Some(span),
        format!(
            "{} may stand for several values; bytes, run time and bandwidth of its line leave {:.0} to {:.0}",
            reading.text(),
            reading.lo().to_f64(),
            reading.hi().to_f64()
        ),
    ))
}

/// Whether some part of `of`, through `expected`, overlaps some part of `with`.
pub(super) fn agree<A: Quantity, B: Quantity>(
    of: &Possible<A>,
    with: &Possible<B>,
    expected: impl Fn(f64, f64) -> (f64, f64),
) -> bool {
    of.parts().iter().any(|a| {
        let (lo, hi) = expected(a.lo().to_f64(), a.hi().to_f64());
        with.parts()
            .iter()
            .any(|b| lo <= b.hi().to_f64() && b.lo().to_f64() <= hi)
    })
}
