//! Whether the figures of fio's latencies can be of one run.
//!
//! | rule | warned of where |
//! |---|---|
//! | minimum <= mean <= maximum | two of them are in the wrong order, by their intervals |
//! | deviation <= (maximum - minimum) / sqrt(2) | the deviation is surely larger: that is what two samples at the ends have, and of more samples it is less |
//! | percentiles rise | a higher percentile is surely below a lower one |
//! | clat <= lat | the mean of the part is surely above the mean of the whole |
//! | slat + clat = lat | the sum of the means is off by more than a tenth of the total's mean |
//!
//! The last rule is loose because fio counts the three in different places: I/Os that are in flight when the job (or
//! its ramp time) ends are in slat and not in the others. In real reports the sum is off by up to four percent. fio
//! sums up in floating point, so means also have a millionth to spare. Percentiles are not held against the minimum
//! and maximum: they are middles of histogram buckets, and may lie outside of both.

use crate::diagnostic::{Code, Diagnostic};
use crate::reading::Reading;
use crate::record::{Latency, Measurement, Percentile};
use crate::unit::Nanos;

/// What fio's sums in floating point may lose, as a part of the value.
const DRIFT: f64 = 1e-6;

/// How far slat + clat may be off lat, as a part of lat.
const IN_FLIGHT: f64 = 0.1;

/// Everything that is surely wrong among the latencies of one direction.
pub(super) fn check(measurement: &Measurement, warnings: &mut Vec<Diagnostic>) {
    let latencies = [
        ("slat", &measurement.slat_ns),
        ("clat", &measurement.clat_ns),
        ("lat", &measurement.lat_ns),
        ("sync latency", &measurement.sync_lat_ns),
    ];
    for (name, latency) in latencies {
        if let Some(latency) = latency {
            spread(name, latency, warnings);
            percentiles(name, &latency.percentiles, warnings);
        }
    }
    for of_priority in &measurement.priorities {
        for (name, latency) in [("clat", &of_priority.clat_ns), ("lat", &of_priority.lat_ns)] {
            if let Some(latency) = latency {
                spread(name, latency, warnings);
                percentiles(name, &latency.percentiles, warnings);
            }
        }
    }
    parts(measurement, warnings);
}

/// Minimum, mean, maximum and deviation of one latency.
fn spread(name: &str, latency: &Latency, warnings: &mut Vec<Diagnostic>) {
    let ordered = [
        ("minimum", &latency.min, "maximum", &latency.max, 0.0),
        ("minimum", &latency.min, "mean", &latency.mean, DRIFT),
        ("mean", &latency.mean, "maximum", &latency.max, DRIFT),
    ];
    for (small, less, large, more, drift) in ordered {
        let (Some(less), Some(more)) = (less, more) else {
            continue;
        };
        // nearly all are in order, which needs no ends
        if less.is_above(more) && less.lo().get() * (1.0 - drift) > more.hi().get() {
            warnings.push(Diagnostic::warning(
                Code::LATENCY_RANGE,
                place(more),
                format!(
                    "the {small} of {name} is {}, above its {large}, {}",
                    shown(less),
                    shown(more)
                ),
            ));
            // what follows from ends in the wrong order says nothing new
            return;
        }
    }
    let (Some(min), Some(max), Some(deviation)) = (&latency.min, &latency.max, &latency.stddev)
    else {
        return;
    };
    let range = max.hi().get() - min.lo().get();
    let largest = range * std::f64::consts::FRAC_1_SQRT_2;
    if deviation.lo().get() * (1.0 - DRIFT) > largest {
        warnings.push(Diagnostic::warning(
            Code::LATENCY_RANGE,
            place(deviation),
            format!(
                "the deviation of {name} is {}, but samples from {} to {} deviate by {} at most",
                shown(deviation),
                shown(min),
                shown(max),
                nanoseconds(largest)
            ),
        ));
    }
}

/// Warns of the first percentile that is below the one before it.
fn percentiles(name: &str, percentiles: &[Percentile], warnings: &mut Vec<Diagnostic>) {
    let falls = percentiles
        .windows(2)
        .find(|pair| pair[0].p < pair[1].p && pair[0].reading.is_above(&pair[1].reading));
    if let Some([before, after]) = falls {
        warnings.push(Diagnostic::warning(
            Code::PERCENTILES_FALL,
            place(&after.reading),
            format!(
                "the {}th percentile of {name} is {}, below the {}th, {}",
                after.p,
                shown(&after.reading),
                before.p,
                shown(&before.reading)
            ),
        ));
    }
}

/// Submission and completion latency against the total.
fn parts(measurement: &Measurement, warnings: &mut Vec<Diagnostic>) {
    fn mean(latency: &Option<Box<Latency>>) -> Option<&Reading<Nanos>> {
        latency.as_deref()?.mean.as_ref()
    }
    let (Some(clat), Some(lat)) = (mean(&measurement.clat_ns), mean(&measurement.lat_ns)) else {
        return;
    };
    let (total_lo, total_hi) = (lat.lo().get(), lat.hi().get());
    if clat.lo().get() * (1.0 - DRIFT) > total_hi {
        warnings.push(Diagnostic::warning(
            Code::LATENCY_PARTS,
            place(clat),
            format!(
                "the mean of clat is {}, above that of lat, {}, which it is a part of",
                shown(clat),
                shown(lat)
            ),
        ));
    } else if let Some(slat) = mean(&measurement.slat_ns) {
        let sum = (
            slat.lo().get() + clat.lo().get(),
            slat.hi().get() + clat.hi().get(),
        );
        let slack = IN_FLIGHT * total_hi;
        if sum.0 - slack > total_hi || sum.1 + slack < total_lo {
            warnings.push(Diagnostic::warning(
                Code::LATENCY_PARTS,
                place(lat),
                format!(
                    "the means of slat, {}, and clat, {}, do not add up to that of lat, {}",
                    shown(slat),
                    shown(clat),
                    shown(lat)
                ),
            ));
        }
    }
}

fn place(reading: &Reading<Nanos>) -> Option<crate::source::Span> {
    reading.span()
}

/// A latency in the unit that keeps its digits few, for messages.
fn shown(reading: &Reading<Nanos>) -> String {
    nanoseconds(reading.value())
}

fn nanoseconds(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1e9 => (v / 1e9, "s"),
        v if v >= 1e6 => (v / 1e6, "ms"),
        v if v >= 1e3 => (v / 1e3, "us"),
        v => (v, "ns"),
    };
    let digits = format!("{scaled:.3}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Log;

    /// The warnings of these rules for a report with these latency lines.
    fn found(lines: &[&str]) -> Vec<(String, String)> {
        let text = format!(
            "a: (groupid=0, jobs=1): err= 0: pid=7: Fri Oct  6 05:21:27 2017\n  read: IOPS=3072, BW=12.0MiB/s (12.6MB/s)(720MiB/60001msec)\n{}\n",
            lines.join("\n")
        );
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let records = crate::assemble::parse(&log).records;
        assert_eq!(records.len(), 1, "{text}");
        let of_these = |code: &Code| {
            [
                Code::LATENCY_RANGE,
                Code::LATENCY_PARTS,
                Code::PERCENTILES_FALL,
            ]
            .contains(code)
        };
        records[0]
            .warnings
            .iter()
            .filter(|warning| of_these(&warning.code))
            .map(|warning| {
                let at = warning.span.map_or("", |span| log.get(span));
                (warning.code.to_string(), at.to_owned())
            })
            .collect()
    }

    #[test]
    fn what_holds_is_not_warned_of() {
        for lines in [
            // 6.02 + 321.05 = 327.07
            &[
                "    slat (usec): min=2, max=100, avg= 6.02, stdev= 3.11",
                "    clat (usec): min=40, max=9000, avg=321.05, stdev=200.10",
                "     lat (usec): min=44, max=9005, avg=327.07, stdev=200.50",
            ][..],
            // one sample: all equal, no deviation
            &["    clat (usec): min=40, max=40, avg=40.00, stdev= 0.00"],
            // two samples of 10 and 30: mean 20, deviation 14.14
            &["    clat (usec): min=10, max=30, avg=20.00, stdev=14.14"],
            // the mean is of whole microseconds and of nanoseconds in turn: 9 rounds 9.49
            &["    clat (msec): min=9, max=9, avg= 9.49, stdev= 0.20"],
            // 8 % of what is submitted never completed within the job
            &[
                "    slat (usec): min=2, max=100, avg=30.00, stdev= 3.11",
                "    clat (usec): min=40, max=9000, avg=321.05, stdev=200.10",
                "     lat (usec): min=44, max=9005, avg=325.00, stdev=200.50",
            ],
            &[
                "    clat (usec): min=40, max=9000, avg=321.05, stdev=200.10",
                "    clat percentiles (usec):",
                "     |  1.00th=[   45],  5.00th=[   45], 10.00th=[   60], 20.00th=[  100]",
            ],
        ] {
            assert_eq!(found(lines), [], "{lines:?}");
        }
    }

    #[test]
    fn what_can_not_hold_is_named_with_its_place() {
        for (lines, code, at) in [
            (
                &["    clat (usec): min=400, max=90, avg=321.05, stdev=20.10"][..],
                "latency-range",
                "90",
            ),
            (
                &["    clat (usec): min=40, max=90, avg=321.05, stdev=20.10"],
                "latency-range",
                "90",
            ),
            (
                &["    clat (usec): min=40, max=90, avg=32.05, stdev=20.10"],
                "latency-range",
                "32.05",
            ),
            (
                &["    clat (usec): min=40, max=40, avg=40.00, stdev=2.10"],
                "latency-range",
                "2.10",
            ),
            // at most (90 - 40) / 1.414 = 35.4, with half a microsecond at either end
            (
                &["    clat (usec): min=40, max=90, avg=65.00, stdev=37.10"],
                "latency-range",
                "37.10",
            ),
            (
                &[
                    "    clat (usec): min=40, max=9000, avg=321.05, stdev=200.10",
                    "     lat (usec): min=44, max=9005, avg=320.07, stdev=200.50",
                ],
                "latency-parts",
                "321.05",
            ),
            (
                &[
                    "    slat (usec): min=2, max=100, avg= 6.02, stdev= 3.11",
                    "    clat (usec): min=40, max=9000, avg=321.05, stdev=200.10",
                    "     lat (usec): min=44, max=9005, avg=421.07, stdev=200.50",
                ],
                "latency-parts",
                "421.07",
            ),
            (
                &[
                    "    clat (usec): min=40, max=9000, avg=321.05, stdev=200.10",
                    "    clat percentiles (usec):",
                    "     |  1.00th=[   45],  5.00th=[   50], 10.00th=[   40], 20.00th=[  100]",
                ],
                "percentiles-fall",
                "40",
            ),
        ] {
            assert_eq!(
                found(lines),
                [(code.to_owned(), at.to_owned())],
                "{lines:?}"
            );
        }
    }

    #[test]
    fn figures_in_messages_have_a_unit() {
        assert_eq!(nanoseconds(321_050.0), "321.05 us");
        assert_eq!(nanoseconds(2e9), "2 s");
        assert_eq!(nanoseconds(0.0), "0 ns");
    }
}
