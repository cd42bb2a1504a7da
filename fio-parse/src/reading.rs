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
//!
//! A log gives thirty readings and more a record, nearly all of plain numbers, and memory that is touched for the
//! first time costs more than all arithmetic. So a plain number is kept as its digits, its place and the [`Rule`] by
//! which it was printed, in 16 bytes; interval and text are made from these where somebody asks.

use crate::figure::decimal::{self, Decimal, Plain, Rule, Scale};
use crate::figure::{Figure, NotAFigure};
use crate::interval::{Interval, Possible};
use crate::source::Span;
use crate::unit::{EXACT_F64, Quantity};
use compact_str::CompactString;
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::{SmallVec, smallvec};
use std::marker::PhantomData;

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

/// The texts that a reading was taken from: one, or two where fio prints both bases.
pub type Texts = SmallVec<[Printed; 2]>;

/// What a quantity may be, and the figures that say so.
#[derive(Clone, Debug)]
pub struct Reading<Q: Quantity>(Kept<Q>);

#[derive(Clone, Debug)]
enum Kept<Q: Quantity> {
    /// One plain number.
    Digits(Digits<Q>),
    /// Everything else.
    Whole(Box<Whole<Q>>),
}

/// A plain number as it stands in the log, which is how [`Plain`] prints it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Digits<Q> {
    // flat, as a number of its own would have gaps
    mantissa: u64,
    start: u32,
    decimals: u8,
    rule: Rule,
    text: Text,
    quantity: PhantomData<Q>,
}

const _: () = assert!(size_of::<Option<Reading<crate::unit::Nanos>>>() == 16);

/// What stands in the log for a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    /// The number.
    Bare,
    /// The number and `msec`.
    Msec,
    /// Nothing: it was measured here.
    None,
}

#[derive(Clone, Debug)]
struct Whole<Q: Quantity> {
    possible: Possible<Q>,
    printed: Texts,
}

impl<Q: Quantity> Digits<Q> {
    /// The number that `figure` is by `rule`; `None` where it is no plain number in the form that it is printed in, or
    /// no quantity prints so.
    #[inline]
    fn of(plain: Plain, rule: Rule, text: Text, figure: Figure<'_>) -> Option<Self> {
        let number = match text {
            Text::Msec => figure.text.len() - "msec".len(),
            _ => figure.text.len(),
        };
        let digits = figure.text.as_bytes();
        // no zero in front, so that the digits tell the text
        let canonical = match digits {
            [b'0', second, ..] => number == 1 || *second == b'.',
            [_, ..] => true,
            [] => false,
        };
        let fits = canonical && figure.span.len() as usize == figure.text.len();
        fits.then_some(Self {
            mantissa: plain.mantissa,
            decimals: plain.decimals,
            rule,
            text,
            start: figure.span.start,
            quantity: PhantomData,
        })
    }

    #[inline]
    fn plain(&self) -> Plain {
        Plain {
            mantissa: self.mantissa,
            decimals: self.decimals,
        }
    }

    #[inline]
    pub(crate) fn interval(&self) -> Interval<Q> {
        self.plain()
            .printed_by(self.rule)
            .expect("was tried when it was made")
    }

    /// Decimals and digits, where it is a share in percent.
    #[inline]
    pub(crate) fn share(&self) -> Option<(u8, u64)> {
        (self.rule == Rule::SHARE).then_some((self.decimals, self.mantissa))
    }

    /// The number that lies in the middle of the interval, but for what doubles lose, as a decimal.
    #[inline]
    pub(crate) fn middle(&self) -> Option<Plain> {
        self.plain().scaled(self.rule)
    }

    /// The digits, and where the text stands; `None` where nothing was printed.
    #[inline]
    pub(crate) fn written(&self) -> Option<(Plain, &'static str, Span)> {
        let unit = match self.text {
            Text::Bare => "",
            Text::Msec => "msec",
            Text::None => return None,
        };
        let plain = self.plain();
        let end = self.start + plain.length() + unit.len() as u32;
        let span = Span {
            start: self.start,
            end,
        };
        Some((plain, unit, span))
    }

    fn printed(&self) -> Option<Printed> {
        let (plain, unit, span) = self.written()?;
        let mut text = CompactString::default();
        plain.write(|piece| text.push_str(piece));
        text.push_str(unit);
        Some(Printed { text, span })
    }
}

impl<Q: Quantity> PartialEq for Reading<Q> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kept::Digits(one), Kept::Digits(two)) if one == two => true,
            _ => self.possible() == other.possible() && self.printed() == other.printed(),
        }
    }
}

impl<Q: Quantity> Reading<Q> {
    fn whole(possible: Possible<Q>, printed: Texts) -> Self {
        Self(Kept::Whole(Box::new(Whole { possible, printed })))
    }

    /// An exact value that was not read from a text.
    pub fn exactly(value: Q) -> Self {
        /// As many as a plain number has digits for.
        const END: u64 = 1_000_000_000_000_000;
        const EXACT: Rule = Rule::exact(Scale::One);
        match value.to_u64().filter(|whole| *whole < END) {
            Some(mantissa) => Self(Kept::Digits(Digits {
                mantissa,
                start: 0,
                decimals: 0,
                rule: EXACT,
                text: Text::None,
                quantity: PhantomData,
            })),
            None => Self::unprinted(Possible::exactly(value)),
        }
    }

    /// What is possible, without a text.
    pub fn unprinted(possible: Possible<Q>) -> Self {
        Self::whole(possible, Texts::new())
    }

    /// What one figure stands for.
    pub fn of(possible: Possible<Q>, figure: Figure<'_>) -> Self {
        Self::whole(possible, smallvec![figure.into()])
    }

    /// What a decimal number stands for, each unit of it being `scale` of the quantity's own.
    ///
    /// Errors: the text is no plain number.
    pub(crate) fn decimal(
        figure: Figure<'_>,
        printer: Decimal,
        scale: f64,
    ) -> Result<Self, NotAFigure> {
        let rule = || Rule::new(printer, Scale::of(scale)?);
        match Plain::read(figure.text).zip(rule()) {
            Some((plain, rule)) => Self::of_plain(plain, rule, figure),
            None => None,
        }
        .map_or_else(
            || {
                decimal::read(figure.text, printer, scale)
                    .map(|possible| Self::of(possible, figure))
            },
            Ok,
        )
    }

    /// What a plain number stands for that was printed by `rule`; `None` where no quantity prints so.
    #[inline]
    pub(crate) fn of_plain(plain: Plain, rule: Rule, figure: Figure<'_>) -> Option<Self> {
        Self::of_digits(plain, rule, Text::Bare, figure)
    }

    /// As [`of_plain`](Self::of_plain), where `msec` stands behind the number.
    pub(crate) fn of_msec(plain: Plain, rule: Rule, figure: Figure<'_>) -> Option<Self> {
        Self::of_digits(plain, rule, Text::Msec, figure)
    }

    #[inline]
    fn of_digits(plain: Plain, rule: Rule, text: Text, figure: Figure<'_>) -> Option<Self> {
        // a real quantity prints as any number
        if Q::WHOLE {
            plain.printed_by::<Q>(rule)?;
        }
        match Digits::of(plain, rule, text, figure) {
            Some(digits) => Some(Self(Kept::Digits(digits))),
            None => Some(Self::of(plain.printed_by(rule)?.into(), figure)),
        }
    }

    /// The digits, where it is of a plain number.
    #[inline]
    pub(crate) fn digits(&self) -> Option<&Digits<Q>> {
        match &self.0 {
            Kept::Digits(digits) => Some(digits),
            Kept::Whole(_) => None,
        }
    }

    /// The reading narrowed by another figure of the same quantity; `Err` gives the reading back where the two contradict each other.
    pub fn narrowed(self, possible: &Possible<Q>, figure: Figure<'_>) -> Result<Self, Self> {
        match self.possible().meet(possible) {
            Some(met) => {
                let mut whole = self.into_whole();
                whole.possible = met;
                whole.printed.push(figure.into());
                Ok(Self(Kept::Whole(whole)))
            }
            None => Err(self),
        }
    }

    /// The same figures, and another one, for values that are `possible` by what else is known.
    pub(crate) fn widened(self, possible: Possible<Q>, figure: Figure<'_>) -> Self {
        let mut whole = self.into_whole();
        whole.possible = possible;
        whole.printed.push(figure.into());
        Self(Kept::Whole(whole))
    }

    fn into_whole(self) -> Box<Whole<Q>> {
        match self.0 {
            Kept::Whole(whole) => whole,
            Kept::Digits(digits) => Box::new(Whole {
                possible: digits.interval().into(),
                printed: digits.printed().into_iter().collect(),
            }),
        }
    }

    /// Keeps the intervals that are `possible` by what else is known, unless none is; whether any were dropped.
    pub(crate) fn settled(&mut self, possible: impl Fn(&Interval<Q>) -> bool) -> bool {
        let Kept::Whole(whole) = &mut self.0 else {
            // one interval
            return false;
        };
        let parts = whole.possible.parts();
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
                whole.possible = kept;
                true
            }
            None => false,
        }
    }

    /// The same quantity where the same texts stand at other places.
    pub(crate) fn printed_again(&self, figures: [Option<Figure<'_>>; 2]) -> Self {
        let count = match &self.0 {
            Kept::Digits(_) => 1,
            Kept::Whole(whole) => whole.printed.len(),
        };
        let figures = figures.into_iter().flatten().take(count);
        Self::whole(self.possible(), figures.map(Printed::from).collect())
    }

    /// The texts it was read from; none for numbers that were measured here.
    pub fn printed(&self) -> Texts {
        match &self.0 {
            Kept::Digits(digits) => digits.printed().into_iter().collect(),
            Kept::Whole(whole) => whole.printed.clone(),
        }
    }

    /// The first text it was read from; empty where there is none.
    pub fn text(&self) -> CompactString {
        match &self.0 {
            Kept::Digits(digits) => digits.printed().map(|printed| printed.text),
            Kept::Whole(whole) => whole.printed.first().map(|printed| printed.text.clone()),
        }
        .unwrap_or_default()
    }

    /// Where the first text stands, if there is one.
    pub fn span(&self) -> Option<Span> {
        match &self.0 {
            Kept::Digits(digits) => digits.written().map(|(_, _, span)| span),
            Kept::Whole(whole) => whole.printed.first().map(|printed| printed.span),
        }
    }

    /// The values that are possible.
    pub fn possible(&self) -> Possible<Q> {
        match &self.0 {
            Kept::Digits(digits) => digits.interval().into(),
            Kept::Whole(whole) => whole.possible.clone(),
        }
    }

    /// Whether the values that are possible are one interval.
    #[inline]
    pub(crate) fn is_one(&self) -> bool {
        match &self.0 {
            Kept::Digits(_) => true,
            Kept::Whole(whole) => whole.possible.parts().len() == 1,
        }
    }

    /// The one interval from the smallest to the largest possible value.
    #[inline]
    pub fn hull(&self) -> Interval<Q> {
        match &self.0 {
            Kept::Digits(digits) => digits.interval(),
            Kept::Whole(whole) => whole.possible.hull(),
        }
    }

    /// Whether each value that is possible is above each one of the other.
    #[inline]
    pub(crate) fn is_above(&self, other: &Self) -> bool {
        if let (Kept::Digits(one), Kept::Digits(two)) = (&self.0, &other.0)
            && (one.rule, one.decimals) == (two.rule, two.decimals)
            && one.mantissa <= two.mantissa
        {
            // the same printer prints no smaller number
            return false;
        }
        self.lo() > other.hi()
    }

    /// The smallest possible value.
    #[inline]
    pub fn lo(&self) -> Q {
        self.hull().lo()
    }

    /// The largest possible value.
    #[inline]
    pub fn hi(&self) -> Q {
        self.hull().hi()
    }

    /// The exact value or the middle, in the unit of the quantity.
    pub fn value(&self) -> f64 {
        self.possible().value()
    }
}

/// A number that prints without a needless `.0`.
struct Short(f64);

impl Serialize for Short {
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
        let possible = self.possible();
        let parts = possible.parts();
        let mut main = 0;
        for (index, part) in parts.iter().enumerate() {
            if width(part) > width(&parts[main]) {
                main = index;
            }
        }
        let mut map = serializer.serialize_map(None)?;
        match possible
            .is_exact()
            .then(|| possible.lo().to_u64())
            .flatten()
        {
            Some(whole) => map.serialize_entry("value", &whole)?,
            None => map.serialize_entry("value", &Short(possible.value()))?,
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
        let printed = self.printed();
        if !printed.is_empty() {
            map.serialize_entry("printed", &printed[..])?;
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
            printed: Texts,
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
        Ok(Self::whole(possible, object.printed))
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
