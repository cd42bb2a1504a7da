//! `--series`: the samples of one fio log, streamed as they are read, in constant memory.

use crate::Failure;
use clap::ValueEnum;
use fio_parse::assemble::fio_log::LatencyUnit;
use fio_parse::block::fio_log::LogKind;
use fio_parse::cli::Input;
use fio_parse::series::{Format, series};
use std::io::{self, BufReader, BufWriter, Read};

/// How samples are printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SeriesFormat {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header line
    Csv,
}

pub fn log_kind(text: &str) -> Result<LogKind, String> {
    LogKind::ALL
        .into_iter()
        .find(|(name, _)| *name == text)
        .map(|(_, kind)| kind)
        .ok_or_else(|| {
            let names = LogKind::ALL.map(|(name, _)| name).join(", ");
            format!("expected one of {names}")
        })
}

/// Prints the samples of one log as they are read; whether there were any.
pub fn samples(
    inputs: &[Input],
    kind: Option<LogKind>,
    format: SeriesFormat,
    quiet: bool,
) -> Result<bool, Failure> {
    let [input] = inputs else {
        let message = format!("expected one log for --series, found {}", inputs.len());
        return Err(Failure::Input(message));
    };
    let name = input.name();
    let of_name = LogKind::of_name(&name).map(|(kind, _)| kind);
    let kind = kind.or(of_name).ok_or_else(|| {
        Failure::Input(format!(
            "{name}: expected a name such as job_clat.1.log, which tells what the samples are; say it with --log-kind"
        ))
    })?;
    let source = input
        .open()
        .map_err(|error| Failure::Input(error.to_string()))?;
    // told apart, for what goes wrong with one of them is no fault of the other
    let mut source = Watched::new(source);
    let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let format = match format {
        SeriesFormat::Jsonl => Format::JsonLines,
        SeriesFormat::Csv => Format::Csv,
    };
    let reader = BufReader::with_capacity(1 << 16, &mut source);
    let result = series(reader, kind, LatencyUnit::Either, format, out);
    let summary = match (result, source.failed) {
        (Ok(summary), _) => summary,
        (Err(error), true) => return Err(Failure::Input(format!("{name}: {error}"))),
        (Err(error), false) => return Err(Failure::Output(error)),
    };
    if let (Some(first), false) = (summary.first_skipped, quiet) {
        eprintln!(
            "fio-parse: {name}:{first}: expected a sample of a fio log; {} such lines were left out",
            summary.skipped
        );
    }
    Ok(summary.samples > 0)
}

/// A reader that remembers whether it failed.
struct Watched<R> {
    inner: R,
    failed: bool,
}

impl<R> Watched<R> {
    fn new(inner: R) -> Self {
        Self {
            inner,
            failed: false,
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(buffer);
        self.failed |= result
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        result
    }
}
