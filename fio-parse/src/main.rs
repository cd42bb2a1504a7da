//! `fio-parse`: logs in, records out, a JSON object a line.

use clap::Parser;
use fio_parse::cli::labels::{self, Labels};
use fio_parse::cli::{self, Content, FOUND, Input, NOTHING, UNREADABLE};
use fio_parse::record::{self, Label, LabelSource};
use fio_parse::{Log, Parsed, Record, diagnostic, explain};
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
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

    /// Give results the labels that this file says; --print-labels makes one to start from
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,

    /// Print the labels of all results as a file for --labels, instead of records
    ///
    /// The file is TOML, an entry for each result with the line where it starts, its machine and its section. Correct
    /// these two once, and `--labels FILE` gives them to the results ever after.
    #[arg(long, conflicts_with = "explain")]
    print_labels: bool,

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
    let mut given = match arguments.labels.as_deref().map(read_labels).transpose() {
        Ok(labels) => labels,
        Err(message) => {
            eprintln!("fio-parse: {message}");
            return ExitCode::from(UNREADABLE);
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.print_labels
        && let Err(error) = out.write_all(labels::HEAD.as_bytes())
    {
        return cli::end_of_output(Err(error), UNREADABLE, "fio-parse");
    }
    let mut found = false;
    let mut failed = false;
    for input in &inputs {
        match one(&arguments, &mut given, input, &mut out) {
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
    // where an input failed, its entries can't have been used
    if let (false, Some(Err(error))) = (failed, given.as_ref().map(Labels::all_used)) {
        eprintln!("fio-parse: {error}");
        failed = true;
    }
    let code = match (failed, found) {
        (true, _) => UNREADABLE,
        (false, true) => FOUND,
        (false, false) => NOTHING,
    };
    cli::end_of_output(out.flush(), code, "fio-parse")
}

fn read_labels(path: &Path) -> Result<Labels, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    Labels::read(&name.to_string(), &text).map_err(|error| error.to_string())
}

enum Failure {
    Input(String),
    Output(io::Error),
}

/// Reads one input and prints its records; whether there were any.
fn one(
    arguments: &Arguments,
    given: &mut Option<Labels>,
    input: &Input,
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let bytes = input
        .read()
        .map_err(|error| Failure::Input(error.to_string()))?;
    if cli::sniff(&bytes) == Content::Records {
        return pass_on(arguments, given, input, &bytes, out);
    }
    let name = input.name();
    let log = Log::from_bytes(&*name, &bytes).map_err(|error| Failure::Input(error.to_string()))?;
    if arguments.explain {
        let text = explain(&log);
        let colour =
            io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let written = if colour {
            cli::write_quiet_margin(&text, out)
        } else {
            out.write_all(text.as_bytes())
        };
        written.map_err(Failure::Output)?;
        return Ok(true);
    }
    let Parsed {
        mut records,
        diagnostics,
    } = fio_parse::parse(&log);
    name_machine(arguments, input, &mut records);
    print(arguments, given, &name, &mut records, Some(&log), out)?;
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
    given: &mut Option<Labels>,
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
    print(arguments, given, &input.name(), &mut records, None, out)?;
    Ok(!records.is_empty())
}

/// Gives the records of one input their labels, and prints them or the labels.
fn print(
    arguments: &Arguments,
    given: &mut Option<Labels>,
    input: &str,
    records: &mut [Record],
    log: Option<&Log<'_>>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if let Some(given) = given {
        given
            .apply(input, records, log)
            .map_err(|error| Failure::Input(error.to_string()))?;
    }
    if arguments.print_labels {
        return out
            .write_all(labels::print(records, log).as_bytes())
            .map_err(Failure::Output);
    }
    record::write_jsonl(&*records, out).map_err(Failure::Output)
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
