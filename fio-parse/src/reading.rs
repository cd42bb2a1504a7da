//! Readings: a quantity as it was printed, with the texts it was read from.
//!
//! In JSON a reading is always an object, never a bare number:
//!
//! ```json
//! {"value": 307104239.5, "lo": 306708480, "hi": 307499999,
//!  "printed": [{"text": "293MiB/s", "span": [1188, 1196]}, {"text": "307MB/s", "span": [1198, 1205]}]}
//! ```
//!
//! `lo` and `hi` bound what the tool's variable could have held. `value` is the exact value, or the middle, for
//! people who use `jq`; it is derived, and a line with `value` outside of the bounds is refused when read back.
//! Several disjoint intervals stand as `"also": [[lo, hi]]` beside the widest. A reading that no text was printed
//! for (made by `fio-replay`) has no `printed`, and `lo == hi`.

use crate::figure::Figure;
use crate::interval::{Interval, Possible};
use crate::source::Span;
use crate::unit::{EXACT_F64, Quantity};
use compact_str::CompactString;
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

/// A text in a log that a reading was taken from: byte for byte the slice at its span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// The figure as printed, number and unit.
    pub text: CompactString,
    /// Where it stands.
    pub span: Span,
}

impl From<Figure<'_>> for Printed {
    fn from(figure: Figure<'_>) -> Self {
        Self {
            text: CompactString::new(figure.text),
            span: figure.span,
        }
    }
}

/// What a quantity may be, and the figures that say so.
#[derive(Debug, PartialEq)]
pub struct Reading<Q: Quantity> {
    possible: Possible<Q>,
    /// The figures it was read from; none for numbers that were measured here.
    pub printed: SmallVec<[Printed; 1]>,
}

impl<Q: Quantity> Clone for Reading<Q> {
    fn clone(&self) -> Self {
        let printed = match &self.printed[..] {
            // nearly always: no list to build
            [printed] => SmallVec::from_buf([printed.clone()]),
            _ => self.printed.clone(),
        };
        Self {
            possible: self.possible.clone(),
            printed,
        }
    }
}

impl<Q: Quantity> Reading<Q> {
    /// An exact value that was not read from a text.
    pub fn exactly(value: Q) -> Self {
        Self::unprinted(Possible::exactly(value))
    }

    /// What is possible, without a text.
    pub fn unprinted(possible: Possible<Q>) -> Self {
        Self {
            possible,
            printed: SmallVec::new(),
        }
    }

    /// What one figure stands for.
    pub fn of(possible: Possible<Q>, figure: Figure<'_>) -> Self {
        Self {
            possible,
            printed: SmallVec::from_buf([figure.into()]),
        }
    }

    /// The reading narrowed by another figure of the same quantity; `Err` gives the reading back where the two contradict each other.
    pub fn narrowed(mut self, possible: &Possible<Q>, figure: Figure<'_>) -> Result<Self, Self> {
        match self.possible.meet(possible) {
            Some(met) => {
                self.possible = met;
                self.printed.push(figure.into());
                Ok(self)
            }
            None => Err(self),
        }
    }

    /// Keeps the intervals that are `possible` by what else is known, unless none is; whether any were dropped.
    pub(crate) fn settled(&mut self, possible: impl Fn(&Interval<Q>) -> bool) -> bool {
        let parts = self.possible.parts();
        let kept: SmallVec<[Interval<Q>; 2]> = parts
            .iter()
            .filter(|part| possible(part))
            .copied()
            .collect();
        if kept.len() == parts.len() {
            return false;
        }
        match Possible::union(kept) {
            Some(kept) => {
                self.possible = kept;
                true
            }
            None => false,
        }
    }

    /// The same quantity where the same texts stand at other places.
    pub(crate) fn printed_again(&self, figures: [Option<Figure<'_>>; 2]) -> Self {
        let mut printed = SmallVec::with_capacity(self.printed.len());
        let figures = figures.into_iter().flatten().take(self.printed.len());
        printed.extend(figures.map(Printed::from));
        Self {
            possible: self.possible.clone(),
            printed,
        }
    }

    /// The values that are possible.
    pub fn possible(&self) -> &Possible<Q> {
        &self.possible
    }

    /// The smallest possible value.
    pub fn lo(&self) -> Q {
        self.possible.lo()
    }

    /// The largest possible value.
    pub fn hi(&self) -> Q {
        self.possible.hi()
    }

    /// The exact value or the middle, in the unit of the quantity.
    pub fn value(&self) -> f64 {
        self.possible.value()
    }
}

/// A number that prints without a needless `.0`.
struct Plain(f64);

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < EXACT_F64 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

/// A bound: all 64 bits where the quantity is a whole number.
struct Bound<Q>(Q);

impl<Q: Quantity> Serialize for Bound<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_u64() {
            Some(whole) => serializer.serialize_u64(whole),
            None => serializer.serialize_f64(self.0.to_f64()),
        }
    }
}

impl<Q: Quantity> Serialize for Reading<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let width = |part: &Interval<Q>| part.hi().to_f64() - part.lo().to_f64();
        let parts = self.possible.parts();
        let mut main = 0;
        for (index, part) in parts.iter().enumerate() {
            if width(part) > width(&parts[main]) {
                main = index;
            }
        }
        let mut map = serializer.serialize_map(None)?;
        match self
            .possible
            .is_exact()
            .then(|| self.lo().to_u64())
            .flatten()
        {
            Some(whole) => map.serialize_entry("value", &whole)?,
            None => map.serialize_entry("value", &Plain(self.value()))?,
        }
        map.serialize_entry("lo", &Bound(parts[main].lo()))?;
        map.serialize_entry("hi", &Bound(parts[main].hi()))?;
        if parts.len() > 1 {
            let also: Vec<_> = parts
                .iter()
                .enumerate()
                .filter(|&(index, _)| index != main)
                .map(|(_, part)| [Bound(part.lo()), Bound(part.hi())])
                .collect();
            map.serialize_entry("also", &also)?;
        }
        if !self.printed.is_empty() {
            map.serialize_entry("printed", &self.printed[..])?;
        }
        map.end()
    }
}

/// A JSON number that keeps whole numbers whole.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "expected a number in value, lo and hi")]
enum Wire {
    Whole(u64),
    Real(f64),
}

impl Wire {
    fn quantity<Q: Quantity>(self) -> Option<Q> {
        match self {
            Wire::Whole(whole) => Some(Q::from_u64(whole)),
            // where the type holds whole numbers only, a fraction is no value of it
            Wire::Real(real) => Q::at_least(real).filter(|q| q.to_f64() == real),
        }
    }

    fn real(self) -> f64 {
        match self {
            Wire::Whole(whole) => whole as f64,
            Wire::Real(real) => real,
        }
    }
}

impl<'de, Q: Quantity> Deserialize<'de> for Reading<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(expecting = "a figure, an object with value, lo and hi")]
        struct Object {
            value: Wire,
            lo: Wire,
            hi: Wire,
            #[serde(default)]
            also: Vec<(Wire, Wire)>,
            #[serde(default)]
            printed: SmallVec<[Printed; 1]>,
        }
        let object = Object::deserialize(deserializer)?;
        let mut parts = Vec::with_capacity(1 + object.also.len());
        for (lo, hi) in std::iter::once((object.lo, object.hi)).chain(object.also) {
            let part = lo
                .quantity()
                .zip(hi.quantity())
                .and_then(|(lo, hi)| Interval::new(lo, hi))
                .ok_or_else(|| {
                    D::Error::custom(format_args!(
                        "expected lo <= hi, both {} and not negative, found lo {} and hi {}",
                        Q::UNIT,
                        lo.real(),
                        hi.real()
                    ))
                })?;
            parts.push(part);
        }
        let (value, lo, hi) = (object.value.real(), object.lo.real(), object.hi.real());
        if !(lo <= value && value <= hi) {
            return Err(D::Error::custom(format_args!(
                "expected lo <= value <= hi, found lo {lo}, value {value}, hi {hi}"
            )));
        }
        let possible = Possible::union(parts).expect("there is at least one part");
        Ok(Self {
            possible,
            printed: object.printed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, BytesPerSec, Nanos};
    use proptest::prelude::*;

    #[test]
    fn whole_numbers_print_whole() {
        let reading = Reading::unprinted(
            Possible::between(
                BytesPerSec::new(306_708_480.0).unwrap(),
                BytesPerSec::new(307_499_999.0).unwrap(),
            )
            .unwrap(),
        );
        assert_eq!(
            serde_json::to_string(&reading).unwrap(),
            r#"{"value":307104239.5,"lo":306708480,"hi":307499999}"#
        );
        let all = Reading::exactly(Bytes(u64::MAX));
        assert_eq!(
            serde_json::to_string(&all).unwrap(),
            r#"{"value":18446744073709551615,"lo":18446744073709551615,"hi":18446744073709551615}"#
        );
    }

    #[test]
    fn a_line_that_contradicts_itself_is_refused() {
        for (bad, why) in [
            (r#"{"value":5,"lo":1,"hi":2}"#, "expected lo <= value <= hi"),
            (r#"{"value":1,"lo":2,"hi":1}"#, "expected lo <= hi"),
            (r#"{"value":1,"lo":-1,"hi":1}"#, "expected lo <= hi"),
            (r#"{"value":1.5,"lo":1.5,"hi":1.5}"#, "both bytes"),
            (r#"7"#, "invalid type"),
        ] {
            let error = serde_json::from_str::<Reading<Bytes>>(bad)
                .unwrap_err()
                .to_string();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            parts in prop::collection::vec((0.0f64..1e12, 0.0f64..1e6), 1..4),
            text in "[0-9]{1,3}[kM]?",
        ) {
            let possible = Possible::union(parts.iter().map(|&(lo, width)| {
                Interval::new(Nanos::new(lo).unwrap(), Nanos::new(lo + width).unwrap()).unwrap()
            })).unwrap();
            let reading = Reading::of(possible, Figure { text: &text, span: Span::new(3, 3 + text.len() as u32) });
            let json = serde_json::to_string(&reading).unwrap();
            prop_assert_eq!(serde_json::from_str::<Reading<Nanos>>(&json).unwrap(), reading);
        }
    }
}
