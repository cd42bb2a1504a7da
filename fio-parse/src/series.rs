//! Logs of samples as a stream: one sample a line, as JSON or CSV, in constant memory.
//!
//! ```text
//! 100, 44040, 0, 4096   ->   {"time_ms":100,"direction":"read","kib_per_sec":44040,"block_bytes":4096}
//!                            time_ms,direction,kib_per_sec,block_bytes
//!                            100,read,44040,4096
//! ```
//!
//! Values are given as they stand in the log, nothing is scaled, so nothing is lost; the key says the unit. For a
//! latency that is `clat_ns` or `clat_us` where the version of fio is known, and `clat_ns_or_us` where it is not.
//! A histogram gives a line for each bucket that is not empty, with the index of the bucket.
//!
//! A line that is no sample is counted and left out; the place of the first one is kept. Lines longer than
//! [`LONGEST`] are no samples either, and are passed over without being held.

use crate::assemble::fio_log::LatencyUnit;
use crate::block::fio_log::{DIRECTIONS, Layout, LogKind, histogram, layout, sample};
use std::io::{self, BufRead, Write};

/// The longest line that is held, in bytes. A row of a histogram takes up to 40 KiB.
pub const LONGEST: usize = 1 << 17;

/// How samples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// Comma-separated values with a header line.
    Csv,
}

/// What a stream held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Samples written.
    pub samples: u64,
    /// Lines that were none; empty ones don't count.
    pub skipped: u64,
    /// The first of these, counted from one.
    pub first_skipped: Option<u64>,
}

/// Copies the samples of `input`, a log of this kind, to `out`.
///
/// The layout is that of the first line that is a sample. `kind` can be told from a file's name by
/// [`LogKind::of_name`]; a histogram shows itself. Errors: of `input` and of `out`.
pub fn series<R: BufRead, W: Write>(
    input: R,
    kind: LogKind,
    unit: LatencyUnit,
    format: Format,
    out: W,
) -> io::Result<Summary> {
    let mut lines = Lines {
        input,
        held: Vec::new(),
    };
    let mut writer = Writer {
        out,
        format,
        value: value_key(kind, unit),
        scratch: Vec::with_capacity(256),
    };
    let mut summary = Summary::default();
    let mut seen: Option<Layout> = None;
    let mut number = 0u64;
    while let Some(line) = lines.next()? {
        number += 1;
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let fits = |layout: &Layout| {
            matches!(layout, Layout::Histogram(_)) == (kind == LogKind::Histogram)
        };
        if seen.is_none() {
            seen = layout(line).filter(fits);
            if let Some(layout) = seen {
                writer.header(layout)?;
            }
        }
        let written = match seen {
            Some(layout) => writer.line(line, layout)?,
            None => None,
        };
        match written {
            Some(samples) => summary.samples += samples,
            None => {
                summary.skipped += 1;
                summary.first_skipped.get_or_insert(number);
            }
        }
    }
    writer.out.flush()?;
    Ok(summary)
}

/// The key of the value, unit included.
fn value_key(kind: LogKind, unit: LatencyUnit) -> String {
    let name = match kind {
        LogKind::Bandwidth => return "kib_per_sec".to_owned(),
        LogKind::Iops => return "iops".to_owned(),
        LogKind::Histogram => return "count".to_owned(),
        LogKind::Latency => "lat",
        LogKind::SubmissionLatency => "slat",
        LogKind::CompletionLatency => "clat",
    };
    let unit = match unit {
        LatencyUnit::Microseconds => "us",
        LatencyUnit::Nanoseconds => "ns",
        LatencyUnit::Either => "ns_or_us",
    };
    format!("{name}_{unit}")
}

/// Lines of an input, each in a buffer that is used again.
struct Lines<R> {
    input: R,
    held: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The next line without its end; a line that is too long comes empty-handed, as one byte that is no digit.
    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.held.clear();
        let mut any = false;
        let mut too_long = false;
        loop {
            let piece = match self.input.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() {
                break;
            }
            any = true;
            let end = memchr::memchr(b'\n', piece);
            let part = &piece[..end.unwrap_or(piece.len())];
            if self.held.len() + part.len() <= LONGEST && !too_long {
                self.held.extend_from_slice(part);
            } else {
                too_long = true;
            }
            let used = end.map_or(piece.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if too_long {
            self.held.clear();
            self.held.push(b'?');
        }
        Ok(any.then_some(&self.held))
    }
}

struct Writer<W> {
    out: W,
    format: Format,
    value: String,
    scratch: Vec<u8>,
}

impl<W: Write> Writer<W> {
    fn header(&mut self, layout: Layout) -> io::Result<()> {
        if self.format == Format::JsonLines {
            return Ok(());
        }
        let value = &self.value;
        match layout {
            Layout::Plain => writeln!(self.out, "time_ms,direction,{value},block_bytes"),
            Layout::WithMax => writeln!(
                self.out,
                "time_ms,direction,{value},max_{value},block_bytes"
            ),
            Layout::Histogram(_) => {
                writeln!(self.out, "time_ms,direction,bucket,count,block_bytes")
            }
        }
    }

    /// Writes what a line holds and says how many lines that made: `None` where it holds no sample.
    fn line(&mut self, line: &[u8], layout: Layout) -> io::Result<Option<u64>> {
        self.scratch.clear();
        let written = match layout {
            Layout::Histogram(_) => self.row(line, layout),
            _ => self.sample(line, layout),
        };
        self.out.write_all(&self.scratch)?;
        Ok(written)
    }

    fn sample(&mut self, line: &[u8], layout: Layout) -> Option<u64> {
        let sample = sample(line, layout)?;
        let direction = DIRECTIONS[usize::from(sample.direction)].as_str();
        let into = &mut self.scratch;
        match self.format {
            Format::JsonLines => {
                into.extend_from_slice(b"{\"time_ms\":");
                decimal(into, sample.time_ms);
                into.extend_from_slice(b",\"direction\":\"");
                into.extend_from_slice(direction.as_bytes());
                into.extend_from_slice(b"\",\"");
                into.extend_from_slice(self.value.as_bytes());
                into.extend_from_slice(b"\":");
                decimal(into, sample.value);
                if let Some(max) = sample.max {
                    into.extend_from_slice(b",\"max_");
                    into.extend_from_slice(self.value.as_bytes());
                    into.extend_from_slice(b"\":");
                    decimal(into, max);
                }
                into.extend_from_slice(b",\"block_bytes\":");
                decimal(into, sample.block);
                into.extend_from_slice(b"}\n");
            }
            Format::Csv => {
                decimal(into, sample.time_ms);
                into.push(b',');
                into.extend_from_slice(direction.as_bytes());
                for number in [Some(sample.value), sample.max, Some(sample.block)]
                    .into_iter()
                    .flatten()
                {
                    into.push(b',');
                    decimal(into, number);
                }
                into.push(b'\n');
            }
        }
        Some(1)
    }

    fn row(&mut self, line: &[u8], layout: Layout) -> Option<u64> {
        // time and block stand in front of the buckets, which are all that the reader hands on
        let (time, direction, block) = histogram(line, layout, |_, _, _| {})?;
        let direction = DIRECTIONS[usize::from(direction)].as_str();
        let (into, format) = (&mut self.scratch, self.format);
        let mut written = 0;
        histogram(line, layout, |_, bucket, count| {
            written += 1;
            // to a vector of bytes nothing can fail
            let _ = match format {
                Format::JsonLines => writeln!(
                    into,
                    "{{\"time_ms\":{time},\"direction\":\"{direction}\",\"bucket\":{bucket},\"count\":{count},\"block_bytes\":{block}}}"
                ),
                Format::Csv => writeln!(into, "{time},{direction},{bucket},{count},{block}"),
            };
        });
        Some(written)
    }
}

/// Appends a number in decimal.
fn decimal(into: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    into.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(text: &str, kind: LogKind, format: Format) -> (String, Summary) {
        let mut out = Vec::new();
        // a small buffer, so that lines cross its end
        let input = io::BufReader::with_capacity(16, text.as_bytes());
        let summary = series(input, kind, LatencyUnit::Either, format, &mut out).unwrap();
        (String::from_utf8(out).unwrap(), summary)
    }

    #[test]
    fn samples_come_out_as_they_stand() {
        let text = "0, 16134, 1, 4096, 24576, 0\r\n\n12, 7, 0, 512, 0, 0\nwords\n";
        let (json, summary) = run(text, LogKind::CompletionLatency, Format::JsonLines);
        assert_eq!(
            json,
            "{\"time_ms\":0,\"direction\":\"write\",\"clat_ns_or_us\":16134,\"block_bytes\":4096}\n\
             {\"time_ms\":12,\"direction\":\"read\",\"clat_ns_or_us\":7,\"block_bytes\":512}\n"
        );
        assert_eq!(
            summary,
            Summary {
                samples: 2,
                skipped: 1,
                first_skipped: Some(4)
            }
        );
        let (csv, _) = run(text, LogKind::Bandwidth, Format::Csv);
        assert_eq!(
            csv,
            "time_ms,direction,kib_per_sec,block_bytes\n0,write,16134,4096\n12,read,7,512\n"
        );
        let (csv, _) = run("200, 58, 200, 1, 0, 0\n", LogKind::Latency, Format::Csv);
        assert_eq!(
            csv,
            "time_ms,direction,lat_ns_or_us,max_lat_ns_or_us,block_bytes\n200,write,58,200,0\n"
        );
    }

    #[test]
    fn histograms_give_a_line_for_each_bucket() {
        let row = format!("5, 0, 4096, 0, 3{}, 9\n", ", 0".repeat(16));
        let (csv, summary) = run(&row, LogKind::Histogram, Format::Csv);
        assert_eq!(
            csv,
            "time_ms,direction,bucket,count,block_bytes\n5,read,1,3,4096\n5,read,18,9,4096\n"
        );
        assert_eq!((summary.samples, summary.skipped), (2, 0));
        // a log of another kind than it is said to be
        assert_eq!(run(&row, LogKind::Iops, Format::Csv).1.samples, 0);
    }

    #[test]
    fn a_long_line_is_not_held() {
        let text = format!("{}\n1, 2, 0, 4\n", "1".repeat(3 * LONGEST));
        let mut lines = Lines {
            input: text.as_bytes(),
            held: Vec::new(),
        };
        assert_eq!(lines.next().unwrap(), Some(&b"?"[..]));
        assert!(lines.held.capacity() <= 2 * LONGEST);
        assert_eq!(lines.next().unwrap(), Some(&b"1, 2, 0, 4"[..]));
        assert_eq!(lines.next().unwrap(), None);
    }

    proptest! {
        #[test]
        fn numbers_print_as_they_are(number in any::<u64>()) {
            let mut out = Vec::new();
            decimal(&mut out, number);
            prop_assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }

        #[test]
        fn every_line_is_a_sample_or_counted(text in "([0-9]{1,3}(, [0-4]{1,2}){1,5}\n|[a-z]{0,3}\n){0,9}") {
            let (out, summary) = run(&text, LogKind::Iops, Format::JsonLines);
            let lines = text.lines().filter(|line| !line.is_empty()).count() as u64;
            prop_assert_eq!(summary.samples + summary.skipped, lines);
            prop_assert_eq!(out.lines().count() as u64, summary.samples);
            for line in out.lines() {
                prop_assert!(serde_json::from_str::<serde_json::Value>(line).is_ok());
            }
        }
    }
}
