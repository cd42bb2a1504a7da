//! Figures of one report held against each other. Across quantities nothing is corrected, only said.

use crate::diagnostic::{Code, Diagnostic};
use crate::interval::Possible;
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
    if agree(bytes.possible(), rate.possible(), expected) {
        return None;
    }
    let printed = |printed: &[crate::record::Printed]| {
        printed
            .first()
            .map_or(String::new(), |p| p.text.to_string())
    };
    Some(Diagnostic::warning(
        Code::DISAGREE,
        Some(rate.printed.first().map_or(span, |p| p.span)),
        format!(
            "{} in {:.3} s are {:.0} to {:.0} bytes/s, but {} is printed",
            printed(&bytes.printed),
            seconds.1,
            (bytes.lo().to_f64() / seconds.1).floor(),
            (bytes.hi().to_f64() / seconds.0).ceil(),
            printed(&rate.printed)
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
