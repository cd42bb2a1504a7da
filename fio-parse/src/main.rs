//! `fio-parse`: logs in, records out, a JSON object a line.

use clap::{Parser, ValueEnum};
use fio_parse::assemble::fio_log::LatencyUnit;
use fio_parse::block::fio_log::LogKind;
use fio_parse::cli::{self, Content, FOUND, Input, NOTHING, UNREADABLE};
use fio_parse::record::{self, Label, LabelSource};
use fio_parse::series::{Format, series};
use fio_parse::{Log, Parsed, Record, diagnostic, explain};
use folder::Found;
use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, IsTerminal, Read, Write};
use std::process::ExitCode;

mod folder;

/// Read fio and dd output, alone or buried in a post, and print what was measured as records.
///
/// Each record is one line of JSON: what was printed, where it stands, and the interval of values that print so.
/// Whatever is odd about the input goes to standard error with file, line and column.
///
/// Exit status: 0 if a result was found, 1 if none was, 2 if the call was wrong or an input could not be read.
#[derive(Parser)]
#[command(name = "fio-parse", version, max_term_width = 100)]
struct Arguments {
    /// Files to read: `path`, `label=path` to name the machine, or `-` for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<OsString>,

    /// Read all files of the folders named, to any depth, on all cores; what is no text is passed over aloud
    #[arg(long, short)]
    recursive: bool,

    /// Print each sample of one fio log (`NAME_bw.1.log`) instead of records
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["recursive", "explain", "machine"])]
    series: Option<SeriesFormat>,

    /// What the log given to --series holds, where its name doesn't tell: bw, iops, lat, slat, clat or clat_hist
    #[arg(long, value_name = "KIND", requires = "series", value_parser = log_kind)]
    log_kind: Option<LogKind>,

    /// Print the text with the kind of each line in the margin, instead of records
    #[arg(long)]
    explain: bool,

    /// Name the machine of all results
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,

    /// Say nothing about odd input
    #[arg(long, short)]
    quiet: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let inputs = match cli::inputs(&arguments.inputs, io::stdin().is_terminal()) {
        Ok(inputs) => inputs,
        Err(error) => {
            eprintln!("fio-parse: {error}");
            return ExitCode::from(UNREADABLE);
        }
    };
    if let Some(format) = arguments.series {
        return match samples(&arguments, &inputs, format) {
            Ok(true) => ExitCode::from(FOUND),
            Ok(false) => ExitCode::from(NOTHING),
            Err(Failure::Input(message)) => {
                eprintln!("fio-parse: {message}");
                ExitCode::from(UNREADABLE)
            }
            Err(Failure::Output(error)) => cli::end_of_output(Err(error), UNREADABLE, "fio-parse"),
        };
    }
    let mut end = End::default();
    let mut out = BufWriter::new(io::stdout().lock());
    if let ([input], false) = (&*inputs, arguments.recursive) {
        end.add(one(&arguments, input, &mut out, &mut io::stderr()));
    } else if arguments.recursive {
        many(&arguments, folder::walk(inputs), &mut out, &mut end);
    } else {
        let inputs = inputs.into_iter().map(Found::Input);
        many(&arguments, inputs, &mut out, &mut end);
    }
    if let Some(error) = end.output.take() {
        return cli::end_of_output(Err(error), UNREADABLE, "fio-parse");
    }
    let code = match (end.failed, end.found) {
        (true, _) => UNREADABLE,
        (false, true) => FOUND,
        (false, false) => NOTHING,
    };
    cli::end_of_output(out.flush(), code, "fio-parse")
}

/// How reading ended so far.
#[derive(Default)]
struct End {
    found: bool,
    failed: bool,
    /// Standard output can't be written to.
    output: Option<io::Error>,
}

impl End {
    fn add(&mut self, result: Result<bool, Failure>) {
        match result {
            Ok(any) => self.found |= any,
            Err(Failure::Input(message)) => {
                eprintln!("fio-parse: {message}");
                self.failed = true;
            }
            Err(Failure::Output(error)) => self.output = Some(error),
        }
    }
}

/// Reads many inputs on all cores and prints what came of them in their order.
fn many(
    arguments: &Arguments,
    inputs: impl Iterator<Item = Found> + Send,
    out: &mut impl Write,
    end: &mut End,
) {
    let read = |found| match found {
        Found::Input(input) => {
            let (mut data, mut talk) = (Vec::new(), Vec::new());
            let result = one(arguments, &input, &mut data, &mut talk);
            (data, talk, result)
        }
        Found::Skipped(_) if arguments.quiet => (Vec::new(), Vec::new(), Ok(false)),
        Found::Skipped(why) => (Vec::new(), format!("fio-parse: {why}\n").into(), Ok(false)),
        Found::Failed(why) => (Vec::new(), Vec::new(), Err(Failure::Input(why))),
    };
    folder::in_order(inputs, read, |(data, talk, result)| {
        let written = out.write_all(&data).and_then(|()| {
            // talk comes after the data it is about, also where both go to one terminal
            if talk.is_empty() { Ok(()) } else { out.flush() }
        });
        // nobody is left to tell where standard error fails
        let _ = io::stderr().write_all(&talk);
        end.add(written.map_err(Failure::Output).and(result));
        end.output.is_none()
    });
}

enum Failure {
    Input(String),
    Output(io::Error),
}

/// How samples are printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SeriesFormat {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values with a header line
    Csv,
}

fn log_kind(text: &str) -> Result<LogKind, String> {
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
fn samples(arguments: &Arguments, inputs: &[Input], format: SeriesFormat) -> Result<bool, Failure> {
    let [input] = inputs else {
        let message = format!("expected one log for --series, found {}", inputs.len());
        return Err(Failure::Input(message));
    };
    let name = input.name();
    let of_name = LogKind::of_name(&name).map(|(kind, _)| kind);
    let kind = arguments.log_kind.or(of_name).ok_or_else(|| {
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
    if let (Some(first), false) = (summary.first_skipped, arguments.quiet) {
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

/// Reads one input and prints its records to `out`, what is odd about it to `talk`; whether there were any.
fn one(
    arguments: &Arguments,
    input: &Input,
    out: &mut impl Write,
    talk: &mut impl Write,
) -> Result<bool, Failure> {
    let bytes = input
        .read()
        .map_err(|error| Failure::Input(error.to_string()))?;
    if cli::sniff(&bytes) == Content::Records {
        return pass_on(arguments, input, &bytes, out);
    }
    let name = input.name();
    let log = Log::from_bytes(&*name, &bytes).map_err(|error| Failure::Input(error.to_string()))?;
    if arguments.explain {
        let text = explain(&log);
        out.write_all(text.as_bytes()).map_err(Failure::Output)?;
        return Ok(true);
    }
    let Parsed {
        mut records,
        diagnostics,
    } = fio_parse::parse(&log);
    name_machine(arguments, input, &mut records);
    record::write_jsonl(&records, &mut *out).map_err(Failure::Output)?;
    if !arguments.quiet {
        // talk comes after the data it is about, also where both go to one terminal
        out.flush().map_err(Failure::Output)?;
        let of_records = records.iter().flat_map(|record| &record.warnings);
        for diagnostic in diagnostics.iter().chain(of_records) {
            // nobody is left to tell where standard error fails
            let _ = talk.write_all(diagnostic::render(&log, diagnostic).as_bytes());
        }
        if records.is_empty() {
            let _ = writeln!(
                talk,
                "fio-parse: {name}: no result of fio or dd found in {} lines; --explain shows how each was read",
                log.line_count()
            );
        }
    }
    Ok(!records.is_empty())
}

/// Records are checked and passed on, so that streams of them can be joined and labelled.
fn pass_on(
    arguments: &Arguments,
    input: &Input,
    bytes: &[u8],
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let mut records = Vec::new();
    for record in record::read_jsonl(bytes) {
        let record =
            record.map_err(|error| Failure::Input(format!("{}: {error}", input.name())))?;
        records.push(record);
    }
    name_machine(arguments, input, &mut records);
    record::write_jsonl(&records, out).map_err(Failure::Output)?;
    Ok(!records.is_empty())
}

fn name_machine(arguments: &Arguments, input: &Input, records: &mut [Record]) {
    let Some(name) = input.label.as_deref().or(arguments.machine.as_deref()) else {
        return;
    };
    for record in records {
        record.machine = Some(Label {
            text: name.into(),
            full: None,
            span: None,
            by: LabelSource::Flag,
            ambiguous: false,
        });
    }
}
