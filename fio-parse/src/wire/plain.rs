//! Names, numbers and strings of JSON, written into a buffer.

use crate::source::Span;
use crate::unit::{EXACT_F64, Quantity};
use serde::Serialize;

/// Ends an object or a list.
#[inline]
pub(super) fn close(out: &mut Vec<u8>, end: u8) {
    match out.last_mut() {
        Some(last @ b',') => *last = end,
        _ => out.push(end),
    }
}

/// A value as serde writes it.
#[inline]
pub(super) fn serde<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value)
        .expect("the types of a record are all JSON, and memory takes all");
}

/// A name and a value as serde writes it, and a comma.
pub(super) fn other<T: Serialize + ?Sized>(out: &mut Vec<u8>, name: &[u8], value: &T) {
    out.extend_from_slice(name);
    serde(out, value);
    out.push(b',');
}

#[inline(always)]
pub(super) fn number<const N: usize>(out: &mut Vec<u8>, name: &[u8; N], value: u64) {
    out.extend_from_slice(name);
    whole(out, value);
    out.push(b',');
}

#[inline]
pub(super) fn whole(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Bytes that can't stand in a JSON string as they are.
const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut control = 0;
    while control < 0x20 {
        escaped[control] = true;
        control += 1;
    }
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped
};

/// A string; what needs an escape is left to serde.
#[inline]
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    let escaped = text
        .bytes()
        .fold(false, |any, byte| any | ESCAPED[usize::from(byte)]);
    if escaped {
        return serde(out, text);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

#[inline]
pub(super) fn span(out: &mut Vec<u8>, span: Span) {
    let mut buffer = itoa::Buffer::new();
    let start = buffer.format(span.start).as_bytes();
    out.reserve(2 * start.len() + 4);
    out.push(b'[');
    out.extend_from_slice(start);
    out.push(b',');
    // texts are short: the end mostly differs in the last two digits
    let last = span.start % 100 + span.len();
    if last < 100 && span.start >= 10 {
        out.extend_from_slice(&start[..start.len() - 2]);
        out.extend_from_slice(&[b'0' + (last / 10) as u8, b'0' + (last % 10) as u8]);
    } else {
        whole(out, span.end.into());
    }
    out.push(b']');
}

/// A bound as `Reading` writes it: whole where the quantity is.
#[inline]
pub(super) fn bound<Q: Quantity>(out: &mut Vec<u8>, bound: Q) {
    match bound.to_u64() {
        Some(number) => whole(out, number),
        None => real(out, bound.to_f64()),
    }
}

/// A number that is not whole, or that is written as if. Middles of two whole numbers are many, and percentiles have two
/// decimals.
pub(super) fn real(out: &mut Vec<u8>, number: f64) {
    let floor = number as u64;
    let hundredths = (number * 100.0 + 0.5) as u64;
    if number < EXACT_F64 / 4.0 && floor as f64 + 0.5 == number {
        whole(out, floor);
        out.extend_from_slice(b".5");
    } else if hundredths < 100_000
        && hundredths as f64 / 100.0 == number
        && number.is_sign_positive()
    {
        // no shorter decimal stands for the same double
        whole(out, hundredths / 100);
        let (tenths, rest) = ((hundredths / 10 % 10) as u8, (hundredths % 10) as u8);
        out.extend_from_slice(&[b'.', b'0' + tenths]);
        if rest > 0 {
            out.push(b'0' + rest);
        }
    } else {
        serde(out, &number);
    }
}
