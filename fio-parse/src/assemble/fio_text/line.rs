//! Direction lines: bandwidth, IOPS, bytes, run time, and whether they hold together.

use crate::assemble::{fio_check, fio_legacy, fio_pair};
use crate::block::fio_text::direction::DirectionLine;
use crate::diagnostic::{Code, Diagnostic};
use crate::era::Era;
use crate::figure::Figure;
use crate::interval::Possible;
use crate::reading::Reading;
use crate::record::{Direction, Measurement};
use crate::unit::{Bytes, BytesPerSec, Iops, Quantity};

/// Puts the readings of `line` into `into`.
pub(super) fn read(
    line: &DirectionLine<'_>,
    era: Era,
    into: &mut Measurement,
    warnings: &mut Vec<Diagnostic>,
) {
    into.runtime_ns = fio_pair::runtime(line.runtime, warnings);
    if is_zeroed(line) {
        warnings.push(super::wrong(
            line.span,
            "fio 3.27 to 3.38 print zeros on the line of mixed directions; bandwidth, IOPS and bytes were left out".to_owned(),
        ));
        return;
    }
    if let Some(iops) = line.iops {
        into.iops = fio_pair::figure::<Iops>(&iops, era.iops(), warnings)
            .map(|possible| Reading::of(possible, iops));
    }
    if line.legacy {
        legacy(line, era, into, warnings);
    } else {
        into.bytes_per_sec = fio_pair::read(&line.bw, era.sizes(), warnings);
        into.bytes = fio_pair::read(&line.io, era.sizes(), warnings);
    }
}

fn legacy(
    line: &DirectionLine<'_>,
    era: Era,
    into: &mut Measurement,
    warnings: &mut Vec<Diagnostic>,
) {
    let runtime = into.runtime_ns.as_ref().map(|runtime| runtime.lo());
    let meanings = fio_legacy::meanings(&era, line.io.first, line.bw.first, runtime);
    if let Some(io) = line.io.first {
        into.bytes =
            fio_legacy::size(&io, &meanings, &era).map(|possible| Reading::of(possible, io));
        if into.bytes.is_none() {
            // says what is wrong with the figure
            let _: Option<Possible<Bytes>> = fio_pair::figure(&io, era.sizes(), warnings);
        }
    }
    if let Some(bw) = line.bw.first {
        into.bytes_per_sec =
            fio_legacy::rate(&bw, &meanings, &era).map(|possible| Reading::of(possible, bw));
        if into.bytes_per_sec.is_none() {
            let _: Option<Possible<BytesPerSec>> = fio_pair::figure(&bw, era.sizes(), warnings);
        }
        if meanings.iter().all(|meaning| meaning.decimal_rates) {
            warnings.push(Diagnostic::warning(
                Code::LABEL_WRONG,
                Some(bw.span),
                format!("{} is bytes per millisecond: fio to 1.25.1 printed kB/s under the label KiB/s, and was read so", bw.text),
            ));
        }
    }
    if fio_legacy::base_is_open(&meanings) {
        warnings.push(Diagnostic::warning(
            Code::UNIT_GUESSED,
            line.io.first.map(|io| io.span),
            "K may be 1024 or, under kb_base=1000, 1000; figures stand for both",
        ));
    }
}

/// Whether the line is one of those that fio 3.27 to 3.38 filled with zeros.
fn is_zeroed(line: &DirectionLine<'_>) -> bool {
    let zero = |figure: Option<Figure<'_>>, text: &str| figure.is_some_and(|f| f.text == text);
    line.direction == Direction::Mixed && zero(line.bw.first, "0") && zero(line.io.first, "0B")
}

/// Whether the line was printed under `kb_base=1000`: the decimal figure stands first.
pub(super) fn is_decimal(line: &DirectionLine<'_>) -> bool {
    let binary = |figure: Option<Figure<'_>>| {
        figure.map(|f| {
            f.text
                .trim_start_matches(|c: char| !c.is_ascii_alphabetic())
                .get(1..2)
                == Some("i")
        })
    };
    (binary(line.bw.first), binary(line.bw.second)) == (Some(false), Some(true))
}

/// Holds the figures against each other: bytes over time against bandwidth, counted I/Os over time against IOPS, and
/// both against `block`, where all blocks have that size and none failed.
pub(super) fn check(
    line: &DirectionLine<'_>,
    measurement: &Measurement,
    block: Option<Bytes>,
    warnings: &mut Vec<Diagnostic>,
) {
    // to 2.0 rates were counted in whole KiB
    let slack = if line.legacy { 2048.0 } else { 0.0 };
    warnings.extend(fio_check::rate(measurement, slack, line.span));
    if measurement.ios.is_none() {
        warnings.extend(block.and_then(|block| blocks_at_rate(measurement, block)));
    }
    let Some(ios) = &measurement.ios else { return };
    if line.direction != Direction::Mixed {
        warnings.extend(fio_check::counted(measurement));
    }
    if let (Some(block), Some(bytes)) = (block, &measurement.bytes)
        && let Some(moved) = block.0.checked_mul(ios.total)
        // the last block of a file may be cut
        && !bytes.possible().parts().iter().any(|part| {
            part.lo().0 <= moved && moved <= part.hi().0.saturating_add(block.0)
        })
    {
        warnings.push(Diagnostic::warning(
            Code::DISAGREE,
            bytes.span(),
            format!(
                "{} I/Os of {} bytes are {moved} bytes, but {} is printed",
                ios.total,
                block.0,
                bytes.text()
            ),
        ));
    }
}

/// Holds IOPS times block size against bandwidth, where I/Os are not counted.
fn blocks_at_rate(measurement: &Measurement, block: Bytes) -> Option<Diagnostic> {
    let (iops, rate) = (
        measurement.iops.as_ref()?,
        measurement.bytes_per_sec.as_ref()?,
    );
    let size = block.0 as f64;
    // IOPS are cut to whole ones, and the last block of a file may be
    let expected = |lo: f64, hi: f64| ((lo - 1.0) * size, (hi + 1.0) * size);
    if fio_check::agree(&iops.possible(), &rate.possible(), expected) {
        return None;
    }
    Some(Diagnostic::warning(
        Code::DISAGREE,
        rate.span(),
        format!(
            "{} blocks of {} bytes a second are {:.0} to {:.0} bytes/s, but {} is printed",
            iops.text(),
            block.0,
            iops.lo().to_f64() * size,
            iops.hi().to_f64() * size,
            rate.text()
        ),
    ))
}
