//! Records to JSON Lines, quickly.
//!
//! What a line holds is defined by the `Serialize` of [`Record`] and its parts; this module writes the same bytes for
//! the parts that make nearly all of a log's output (readings, latencies, distributions), with constant pieces copied
//! whole instead of name by name, and the workload of a run once. Everything else goes through serde. That the
//! two agree is tested below, and on every fixture.
//!
//! Each value is followed by a comma, and the end of an object or list takes the last one back: so no field needs to
//! know whether it is the first.

mod parts;
mod plain;

use crate::figure::decimal::Plain;
use crate::interval::Interval;
use crate::reading::{Printed, Reading};
use crate::record::{Record, Source};
use crate::unit::{EXACT_F64, Quantity};
use crate::workload::Workload;
use plain::{bound, close, number, other, real, serde, string, whole};
use std::io;
use std::sync::Arc;

/// How much is gathered before it is written.
const CHUNK: usize = 1 << 16;

/// Writes each record as a line of JSON. Errors: of `out`.
pub(crate) fn write_jsonl<W: io::Write>(records: &[Record], mut out: W) -> io::Result<()> {
    let mut line = Vec::with_capacity(CHUNK + CHUNK / 2);
    let mut workload = None;
    for record in records {
        write_record(record, &mut workload, &mut line);
        line.push(b'\n');
        if line.len() >= CHUNK {
            out.write_all(&line)?;
            line.clear();
        }
    }
    out.write_all(&line)
}

/// The last workload and its JSON: the records of a run share one.
type LastWorkload<'r> = Option<(&'r Arc<Workload>, Vec<u8>)>;

fn write_record<'r>(record: &'r Record, last: &mut LastWorkload<'r>, out: &mut Vec<u8>) {
    // all fields by name, here and below: a new one does not compile before it is written
    let Record {
        v,
        source,
        machine,
        device,
        section,
        workload,
        run,
        scope,
        direction,
        measurement,
        errors,
        interrupted,
        details,
        fidelity,
        environment,
        claims,
        warnings,
    } = record;
    let Source {
        name,
        span,
        line,
        dialect,
        tool,
    } = source;
    out.push(b'{');
    other(out, b"\"v\":", v);
    out.extend_from_slice(b"\"source\":{\"name\":");
    string(out, name);
    out.push(b',');
    if let Some(at) = *span {
        out.extend_from_slice(b"\"span\":");
        plain::span(out, at);
        out.push(b',');
    }
    if let Some(line) = *line {
        number(out, b"\"line\":", line.into());
    }
    other(out, b"\"dialect\":", dialect);
    out.extend_from_slice(b"\"tool\":");
    tool.write(out);
    out.push(b',');
    close(out, b'}');
    out.push(b',');
    if let Some(machine) = machine {
        other(out, b"\"machine\":", machine);
    }
    if let Some(device) = device {
        other(out, b"\"device\":", device);
    }
    if !section.is_empty() {
        other(out, b"\"section\":", section);
    }
    if let Some(workload) = workload {
        let known = matches!(last, Some((known, _)) if Arc::ptr_eq(known, workload));
        if !known {
            let mut json = Vec::new();
            serde(&mut json, &**workload);
            *last = Some((workload, json));
        }
        if let Some((_, json)) = last {
            out.extend_from_slice(b"\"workload\":");
            out.extend_from_slice(json);
            out.push(b',');
        }
    }
    number(out, b"\"run\":", u64::from(*run));
    out.extend_from_slice(b"\"scope\":");
    scope.write(out);
    out.push(b',');
    other(out, b"\"direction\":", direction);
    out.extend_from_slice(b"\"measurement\":");
    measurement.write(out);
    out.push(b',');
    if !errors.is_empty() {
        other(out, b"\"errors\":", errors);
    }
    if *interrupted {
        out.extend_from_slice(b"\"interrupted\":true,");
    }
    if let Some(details) = details {
        out.extend_from_slice(b"\"details\":");
        details.write(out);
        out.push(b',');
    }
    if let Some(fidelity) = fidelity {
        other(out, b"\"fidelity\":", fidelity);
    }
    if !environment.is_empty() {
        other(out, b"\"environment\":", environment);
    }
    if !claims.is_empty() {
        other(out, b"\"claims\":", claims);
    }
    if !warnings.is_empty() {
        other(out, b"\"warnings\":", warnings);
    }
    close(out, b'}');
}

/// What is written by hand.
trait Write {
    fn write(&self, out: &mut Vec<u8>);
}

/// A name and a value, where there is one.
#[inline(always)]
fn field<T: Write, const N: usize>(out: &mut Vec<u8>, name: &[u8; N], value: &Option<T>) {
    if let Some(value) = value {
        out.extend_from_slice(name);
        value.write(out);
        out.push(b',');
    }
}

/// A name and a list, unless it is empty.
#[inline(always)]
fn list<T: Write, const N: usize>(out: &mut Vec<u8>, name: &[u8; N], values: &[T]) {
    if values.is_empty() {
        return;
    }
    out.extend_from_slice(name);
    out.push(b'[');
    for value in values {
        value.write(out);
        out.push(b',');
    }
    close(out, b']');
    out.push(b',');
}

/// The fields of a reading of one interval, without the braces.
#[inline]
fn reading<Q: Quantity>(out: &mut Vec<u8>, reading: &Reading<Q>) {
    let Some(digits) = reading.digits() else {
        values(out, &reading.hull(), None);
        out.push(b',');
        return list(out, b"\"printed\":", &reading.printed());
    };
    match digits.share() {
        Some((decimals, share)) => shares::write(out, decimals, share),
        None => values(out, &digits.interval(), digits.middle()),
    }
    let Some((number, unit, span)) = digits.written() else {
        return out.push(b',');
    };
    out.extend_from_slice(b",\"printed\":[{\"text\":\"");
    number.write(|piece| out.extend_from_slice(piece.as_bytes()));
    out.extend_from_slice(unit.as_bytes());
    out.extend_from_slice(b"\",\"span\":");
    plain::span(out, span);
    out.extend_from_slice(b"}],");
}

/// The values of a reading. `middle` is what may be the middle, where that is known as a decimal.
#[inline]
fn values<Q: Quantity>(out: &mut Vec<u8>, hull: &Interval<Q>, middle: Option<Plain>) {
    let (lo, hi) = (hull.lo(), hull.hi());
    if let Some(number) = lo.to_u64().filter(|_| lo == hi) {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(number).as_bytes();
        out.extend_from_slice(b"\"value\":");
        out.extend_from_slice(digits);
        out.extend_from_slice(b",\"lo\":");
        out.extend_from_slice(digits);
        out.extend_from_slice(b",\"hi\":");
        out.extend_from_slice(digits);
        return;
    }
    out.extend_from_slice(b"\"value\":");
    let value = hull.middle();
    let floor = value as u64;
    if value < EXACT_F64 && floor as f64 == value {
        whole(out, floor);
    } else if let Some(middle) = middle.filter(|middle| middle.value() == value) {
        // no shorter decimal stands for the same double
        middle.write(|piece| out.extend_from_slice(piece.as_bytes()));
        while out.last() == Some(&b'0') {
            out.pop();
        }
    } else {
        real(out, value);
    }
    out.extend_from_slice(b",\"lo\":");
    bound(out, lo);
    out.extend_from_slice(b",\"hi\":");
    bound(out, hi);
}

/// The values of shares: most of a report's figures are of these few thousand, whose ends have seventeen digits.
mod shares {
    use crate::figure::decimal::{Plain, Rule};
    use crate::unit::Percent;
    use std::sync::{LazyLock, OnceLock};

    /// How many shares of one and of two decimals there are up to 100 percent.
    const COUNTS: [usize; 2] = [1001, 10001];

    type Table = Vec<OnceLock<Box<[u8]>>>;

    /// Writes the values of a share of which the digits are `share`.
    pub(super) fn write(out: &mut Vec<u8>, decimals: u8, share: u64) {
        static TABLES: LazyLock<[Table; 2]> =
            LazyLock::new(|| COUNTS.map(|count| vec![OnceLock::new(); count]));
        let known = (usize::from(decimals).checked_sub(1))
            .and_then(|decimals| TABLES.get(decimals)?.get(usize::try_from(share).ok()?));
        match known {
            Some(values) => {
                out.extend_from_slice(values.get_or_init(|| values_of(decimals, share).into()));
            }
            None => out.extend_from_slice(&values_of(decimals, share)),
        }
    }

    fn values_of(decimals: u8, share: u64) -> Vec<u8> {
        let plain = Plain {
            mantissa: share,
            decimals,
        };
        let mut out = Vec::new();
        let interval = plain.printed_by::<Percent>(Rule::SHARE);
        super::values(&mut out, &interval.expect("a share is one"), None);
        out
    }
}

impl Write for Printed {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { text, span } = self;
        out.extend_from_slice(b"{\"text\":");
        string(out, text);
        out.extend_from_slice(b",\"span\":");
        plain::span(out, *span);
        out.push(b'}');
    }
}

impl<Q: Quantity> Write for Reading<Q> {
    fn write(&self, out: &mut Vec<u8>) {
        if !self.is_one() {
            return serde(out, self);
        }
        out.push(b'{');
        reading(out, self);
        close(out, b'}');
    }
}

impl<T: Write> Write for Box<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;
    use crate::interval::{Interval, Possible};
    use crate::source::{Log, Span};
    use crate::unit::{Bytes, Nanos};
    use proptest::prelude::*;
    use serde::Serialize;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Every text below the fixtures.
    fn fixtures() -> Vec<PathBuf> {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files
    }

    #[test]
    fn lines_are_what_serde_writes() {
        let mut count = 0;
        for file in fixtures() {
            let bytes = fs::read(&file).unwrap();
            let log = Log::from_bytes("a \"log\"", &bytes).unwrap();
            let records = crate::parse(&log).records;
            let mut quick = Vec::new();
            write_jsonl(&records, &mut quick).unwrap();
            let mut slow = String::new();
            for record in &records {
                slow.push_str(&serde_json::to_string(record).unwrap());
                slow.push('\n');
            }
            assert_eq!(
                String::from_utf8(quick).unwrap(),
                slow,
                "{}",
                file.display()
            );
            count += records.len();
        }
        assert!(count > 100, "{count} records in the fixtures");
    }

    fn same<T: Write + Serialize>(value: &T) -> Result<(), TestCaseError> {
        let mut quick = Vec::new();
        value.write(&mut quick);
        let quick = String::from_utf8(quick).unwrap();
        prop_assert_eq!(quick, serde_json::to_string(value).unwrap());
        Ok(())
    }

    proptest! {
        #[test]
        fn readings_are_what_serde_writes(
            parts in prop::collection::vec((0.0f64..1e17, prop_oneof![Just(0.0), 0.0f64..1e6]), 1..3),
            whole in any::<u64>(),
            round in any::<bool>(),
            text in ".{0,30}",
        ) {
            let place = |value: f64| if round { value.floor() } else { value };
            let possible = Possible::union(parts.iter().map(|&(lo, width)| {
                Interval::new(Nanos::new(place(lo)).unwrap(), Nanos::new(place(lo + width)).unwrap()).unwrap()
            })).unwrap();
            same(&Reading::unprinted(possible.clone()))?;
            let span = Span::new(7, 7 + text.len() as u32);
            let reading = Reading::of(possible, Figure { text: &text, span });
            same(&reading)?;
            same(&crate::record::Percentile { p: parts[0].0, reading })?;
            same(&Reading::exactly(Bytes(whole)))?;
            same(&Reading::unprinted(Possible::between(Bytes(whole / 2), Bytes(whole)).unwrap()))?;
        }
    }
}
