//! `fio-parse`: logs in, records out, a JSON object a line.

use clap::Parser;
use fio_parse::block::fio_log::LogKind;
use fio_parse::cli::labels::{self, Labels};
use fio_parse::cli::{self, Content, FOUND, Input, NOTHING, UNREADABLE};
use fio_parse::folder::{self, Found};
use fio_parse::record::{self, Label, LabelSource};
use fio_parse::{Log, Parsed, Record, diagnostic, explain};
use samples::{SeriesFormat, log_kind, samples};
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

mod samples;

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
            say(&error);
            return ExitCode::from(UNREADABLE);
        }
    };
    if let Some(format) = arguments.series {
        return match samples(&inputs, arguments.log_kind, format, arguments.quiet) {
            Ok(true) => ExitCode::from(FOUND),
            Ok(false) => ExitCode::from(NOTHING),
            Err(Failure::Input(message)) => {
                say(&message);
                ExitCode::from(UNREADABLE)
            }
            Err(Failure::Output(error)) => cli::end_of_output(Err(error), UNREADABLE, "fio-parse"),
        };
    }
    let given = match arguments.labels.as_deref().map(read_labels).transpose() {
        Ok(labels) => Mutex::new(labels),
        Err(message) => {
            say(&message);
            return ExitCode::from(UNREADABLE);
        }
    };
    let mut end = End::default();
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.print_labels
        && let Err(error) = out.write_all(labels::HEAD.as_bytes())
    {
        return cli::end_of_output(Err(error), UNREADABLE, "fio-parse");
    }
    if let ([input], false) = (&*inputs, arguments.recursive) {
        end.add(one(
            &arguments,
            &given,
            input,
            &mut out,
            &mut io::stderr(),
            true,
        ));
    } else if arguments.recursive {
        many(
            &arguments,
            &given,
            folder::walk(inputs, |_| false),
            &mut out,
            &mut end,
        );
    } else {
        let inputs = inputs.into_iter().map(Found::Input);
        many(&arguments, &given, inputs, &mut out, &mut end);
    }
    if let Some(error) = end.output.take() {
        return cli::end_of_output(Err(error), UNREADABLE, "fio-parse");
    }
    let unused = given.lock().expect("no reader panicked");
    // where an input failed, its entries can't have been used
    if let (false, Some(Err(error))) = (end.failed, unused.as_ref().map(Labels::all_used)) {
        say(&error);
        end.failed = true;
    }
    let code = match (end.failed, end.found) {
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

/// Says something on standard error. Nobody is left to tell where that fails.
fn say(what: &dyn std::fmt::Display) {
    let _ = writeln!(io::stderr(), "fio-parse: {what}");
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
                say(&message);
                self.failed = true;
            }
            Err(Failure::Output(error)) => self.output = Some(error),
        }
    }
}

/// Reads many inputs on all cores and prints what came of them in their order.
fn many(
    arguments: &Arguments,
    given: &Mutex<Option<Labels>>,
    inputs: impl Iterator<Item = Found> + Send,
    out: &mut impl Write,
    end: &mut End,
) {
    let read = |found| match found {
        Found::Input(input) => {
            let (mut data, mut talk) = (Vec::new(), Vec::new());
            let result = one(arguments, given, &input, &mut data, &mut talk, false);
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

/// Reads one input and prints its records to `out`, what is odd about it to `talk`; whether there were any.
///
/// The program ends behind the `last` one: its records are left to the system, which is quicker than giving each back.
fn one(
    arguments: &Arguments,
    given: &Mutex<Option<Labels>>,
    input: &Input,
    out: &mut impl Write,
    talk: &mut impl Write,
    last: bool,
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
    let any = !records.is_empty();
    if last {
        std::mem::forget(records);
    }
    Ok(any)
}

/// Records are checked and passed on, so that streams of them can be joined and labelled.
fn pass_on(
    arguments: &Arguments,
    given: &Mutex<Option<Labels>>,
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
    given: &Mutex<Option<Labels>>,
    input: &str,
    records: &mut [Record],
    log: Option<&Log<'_>>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if let Some(given) = &mut *given.lock().expect("no reader panicked") {
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
