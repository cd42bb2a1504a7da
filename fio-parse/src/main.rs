//! `fio-parse`: logs in, records out, a JSON object a line.

use clap::Parser;
use fio_parse::cli::{self, Content, FOUND, Input, NOTHING, UNREADABLE};
use fio_parse::record::{self, Label, LabelSource};
use fio_parse::{Log, Parsed, Record, diagnostic, explain};
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

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
    let mut out = BufWriter::new(io::stdout().lock());
    let mut found = false;
    let mut failed = false;
    for input in &inputs {
        match one(&arguments, input, &mut out) {
            Ok(any) => found |= any,
            Err(Failure::Input(message)) => {
                eprintln!("fio-parse: {message}");
                failed = true;
            }
            Err(Failure::Output(error)) => {
                return cli::end_of_output(Err(error), UNREADABLE, "fio-parse");
            }
        }
    }
    let code = match (failed, found) {
        (true, _) => UNREADABLE,
        (false, true) => FOUND,
        (false, false) => NOTHING,
    };
    cli::end_of_output(out.flush(), code, "fio-parse")
}

enum Failure {
    Input(String),
    Output(io::Error),
}

/// Reads one input and prints its records; whether there were any.
fn one(arguments: &Arguments, input: &Input, out: &mut impl Write) -> Result<bool, Failure> {
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
            eprint!("{}", diagnostic::render(&log, diagnostic));
        }
        if records.is_empty() {
            eprintln!(
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
