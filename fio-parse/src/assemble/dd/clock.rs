//! The times that `time` prints, decoded.
//!
//! The unit of the last digit tells the width of the interval. Whether a program rounds or cuts is known of some
//! (bash, zsh and fish round, GNU and BSD `time` cut); for the others the interval reaches one unit to both sides.

use crate::block::time::Form;
use crate::figure::Figure;
use crate::interval::Possible;
use crate::reading::Reading;
use crate::unit::Nanos;

/// How the last digit came about.
enum Last {
    Rounded,
    Cut,
    Unknown,
}

/// Reads `0m6.801s`, `6.80`, `0:00.03`, `1h02m03s`, `66.23 millis`, `69.4 ms`, with point or comma.
pub fn read(figure: Figure<'_>, form: Form) -> Option<Reading<Nanos>> {
    let (value, unit) = nanoseconds(figure.text)?;
    let last = match form {
        // bash prints milliseconds after "m"; who else prints a name first may cut
        Form::Keyword if unit == 1e6 && figure.text.contains('m') => Last::Rounded,
        Form::Zsh | Form::Fish | Form::Hyperfine => Last::Rounded,
        Form::Gnu | Form::Verbose => Last::Cut,
        Form::Keyword | Form::Trailing | Form::Tcsh => Last::Unknown,
    };
    let (below, above) = match last {
        Last::Rounded => (0.5, 0.5),
        Last::Cut => (0.0, 1.0),
        Last::Unknown => (1.0, 1.0),
    };
    let lo = Nanos::new((value - below * unit).max(0.0))?;
    let hi = Nanos::new(value + above * unit)?;
    Some(Reading::of(Possible::between(lo, hi)?, figure))
}

/// The time in nanoseconds and the unit of its last digit.
fn nanoseconds(text: &str) -> Option<(f64, f64)> {
    for (name, scale) in [
        ("micros", 1e3),
        ("millis", 1e6),
        ("secs", 1e9),
        ("mins", 60e9),
        ("hours", 3600e9),
        ("µs", 1e3),
        ("ms", 1e6),
    ] {
        if let Some(number) = text.strip_suffix(name) {
            let (value, decimals) = decimal(number.trim())?;
            return Some((value * scale, scale / 10f64.powi(decimals)));
        }
    }
    let text = text.strip_suffix('s').unwrap_or(text).trim_end();
    // hours, minutes and seconds are set apart by letters or by colons
    let mut whole = 0.0;
    let mut rest = text;
    while let Some(at) = rest.find(['h', 'm', ':']) {
        let count: u32 = rest[..at].trim().parse().ok()?;
        let colons = rest[at..].bytes().filter(|&b| b == b':').count();
        let seconds = match rest.as_bytes()[at] {
            b'h' => 3600.0,
            b'm' => 60.0,
            _ if colons == 2 => 3600.0,
            _ => 60.0,
        };
        whole += f64::from(count) * seconds;
        rest = &rest[at + 1..];
    }
    let (seconds, decimals) = decimal(rest.trim())?;
    Some(((whole + seconds) * 1e9, 1e9 / 10f64.powi(decimals)))
}

/// A number with a point or a comma, and how many decimals it has.
fn decimal(text: &str) -> Option<(f64, i32)> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let digits = |t: &str| t.len() < 16 && t.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let scaled: f64 = fraction.parse().unwrap_or(0.0);
    Some((
        whole.parse::<f64>().ok()? + scaled / 10f64.powi(fraction.len() as i32),
        fraction.len() as i32,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn ends(text: &str, form: Form) -> (f64, f64) {
        let read = read(
            Figure {
                text,
                span: Span::default(),
            },
            form,
        )
        .unwrap();
        (read.lo().get(), read.hi().get())
    }

    #[test]
    fn every_notation_is_read() {
        let (lo, hi) = ends("1m58.825s", Form::Keyword);
        assert!((lo - 118.8245e9).abs() < 1.0 && (hi - 118.8255e9).abs() < 1.0);
        for (text, form, value) in [
            ("0m0,077s", Form::Keyword, 0.077),
            ("0m 22.39s", Form::Keyword, 22.39),
            ("6.80", Form::Keyword, 6.8),
            ("0.034", Form::Keyword, 0.034),
            ("0m00.03s", Form::Trailing, 0.03),
            ("1:58.83", Form::Zsh, 118.83),
            ("2:01:02.5", Form::Tcsh, 7262.5),
            ("0:00.03", Form::Gnu, 0.03),
            ("66.23 millis", Form::Fish, 0.06623),
            ("1.50 mins", Form::Fish, 90.0),
            ("172.3 ms", Form::Hyperfine, 0.1723),
            ("1.234 s", Form::Hyperfine, 1.234),
            ("1h02m03.004s", Form::Keyword, 3723.004),
        ] {
            let (lo, hi) = ends(text, form);
            let value = value * 1e9;
            assert!(
                lo <= value + 1.0 && value <= hi + 1.0 && lo < hi,
                "{text}: {lo} {hi}"
            );
        }
    }

    #[test]
    fn what_cuts_reaches_upwards_only() {
        assert_eq!(ends("0:00.25", Form::Gnu), (0.25e9, 0.26e9));
        assert_eq!(ends("0.25", Form::Keyword), (0.24e9, 0.26e9));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in ["", "m", "1m", "h:m", "1:2:x", "9999999999999999999"] {
            assert!(
                read(
                    Figure {
                        text: bad,
                        span: Span::default()
                    },
                    Form::Keyword
                )
                .is_none(),
                "{bad}"
            );
        }
    }
}
