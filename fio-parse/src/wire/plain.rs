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
    let (mut start, mut end) = (itoa::Buffer::new(), itoa::Buffer::new());
    out.push(b'[');
    out.extend_from_slice(start.format(span.start).as_bytes());
    out.push(b',');
    out.extend_from_slice(end.format(span.end).as_bytes());
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

/// A number that is not whole. Middles of two whole numbers are many.
pub(super) fn real(out: &mut Vec<u8>, number: f64) {
    let floor = number as u64;
    if number < EXACT_F64 / 4.0 && floor as f64 + 0.5 == number {
        whole(out, floor);
        out.extend_from_slice(b".5");
    } else {
        serde(out, &number);
    }
}
