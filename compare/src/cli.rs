//! The command line: arguments in, bytes out.
//!
//! `run` is a plain function over arguments and streams, so that tests call it without a process.
//! Data goes to stdout, talk to stderr. Exit status: 0 a comparison was printed; 1 a gate failed;
//! 2 the request or an input was bad (what could be read is still printed), or nothing was found
//! to compare, or a gate found nothing to judge. A closed pipe ends the program quietly with 0.

mod asked;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

use crate::absent;
use crate::build;
use crate::claims;
use crate::derive;
use crate::files::{self, Lost, Talk, is_file, once, refuse_existing, write_new};
use crate::filter::Filter;
use crate::flat::{self, Form};
use crate::frame::{Builder, Wanted};
use crate::gate::{self, Gate};
use crate::grid::Report;
use crate::keys::{self, Key};
use crate::list::list;
use crate::load::{self, Input, Plan};
use crate::metric::Metric;
use crate::query;
use crate::render::{self, text::Style};
use crate::scale;
use crate::view::{Sort, View};
use crate::why;

/// Sets the results of many machines side by side, with honest ratios and footnotes.
///
/// Inputs are records of fio-parse or fio-replay (JSON Lines) or logs as they are: fio output, dd
/// output, posts that contain them. LABEL=PATH renames the machine of an input that holds results
/// of one; where it holds several, they keep their names and LABEL names the input. - is standard
/// input.
#[derive(Debug, Parser)]
#[command(name = "fio-compare", version, max_term_width = 100, after_help = EXAMPLES)]
struct Args {
    /// Files, LABEL=FILE, or - for standard input; without any, standard input unless it is a terminal
    #[arg(value_name = "INPUT")]
    inputs: Vec<OsString>,

    /// Read all files below directories; folders called KEY=VALUE, as kernel=6.9, say what the
    /// results in them leave open, others are keys folder.NAME, and run=N holds repeats
    #[arg(short, long)]
    recursive: bool,

    /// Keys of the rows, comma-separated
    #[arg(long, value_name = "KEYS", value_parser = keys::parse_list)]
    row: Option<::std::vec::Vec<Key>>,

    /// Keys of the columns; without --row, --col and --table tests are set against machines
    #[arg(long, value_name = "KEYS", value_parser = keys::parse_list)]
    col: Option<::std::vec::Vec<Key>>,

    /// Keys of the tables
    #[arg(long, value_name = "KEYS", value_parser = keys::parse_list)]
    table: Option<::std::vec::Vec<Key>>,

    /// Keys whose differences need no footnote and tell no runs apart
    #[arg(long, value_name = "KEYS", value_parser = keys::parse_list, default_value = "", hide_default_value = true)]
    ignore: ::std::vec::Vec<Key>,

    /// What is measured: bw, bw-wall, bw-write, flush, iops, bytes, runtime, wall, cpu, clat-p99, ...
    #[arg(short, long, value_name = "METRICS", value_parser = metrics)]
    metric: Option<::std::vec::Vec<Metric>>,

    /// What the others are compared with: a label or part of one, or `best` (default: the first)
    #[arg(short, long, value_name = "LABEL")]
    base: Option<String>,

    /// Compare each with each: a matrix of ratios for every test
    #[arg(long, conflicts_with_all = ["base", "threshold"])]
    pairwise: bool,

    /// Give results the labels that this file says; fio-parse --print-labels makes one to start from
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,

    /// Which records count: rw:randwrite AND bs:4k AND NOT machine:/mbp/i (see below)
    #[arg(short, long, value_name = "EXPR", value_parser = Filter::parse, default_value = "*", allow_hyphen_values = true)]
    filter: Filter,

    /// Order of the rows
    #[arg(long, value_enum, default_value_t = SortArg::Appearance)]
    sort: SortArg,

    /// Units, at most one of a kind: MiB/s, MB/s, GB/s, kIOPS, us, GiB, ...
    #[arg(short, long, value_name = "UNITS", value_parser = scale::parse, value_delimiter = ',')]
    unit: Vec<scale::Unit>,

    /// List the keys with their values and the metrics, and compare nothing
    #[arg(long)]
    list: bool,

    /// Say what differs between two machines, likeliest reason first
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    why: Option<Vec<String>>,

    /// Check what a post says of its own results against the figures; exit 0 whatever they show
    #[arg(long)]
    claims: bool,

    /// Write the records flat to FILE (.parquet, .arrow or .csv), which is an input again, and
    /// compare nothing; FILE must not exist yet
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,

    /// Divide rates by others that cover something else, too
    #[arg(long)]
    force: bool,

    /// Confidence of the interval around a median of repeats
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share)]
    confidence: f64,

    /// A p-value above this shows no difference
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = share)]
    alpha: f64,

    /// Correct p-values for their number (Holm)
    #[arg(long)]
    holm: bool,

    /// Fail (exit 1) if anything is worse than the base by more than this share, as 5%; exit 2 if
    /// there was nothing to judge, or too few runs to judge it: give one run a side, or at least 4
    #[arg(long, value_name = "SHARE", value_parser = gate::parse_threshold, allow_hyphen_values = true)]
    threshold: Option<f64>,

    /// Metrics that may fail the gate (default: all shown that have a better and a worse)
    #[arg(long, value_name = "METRICS", value_parser = metrics, requires = "threshold")]
    fail_on: Option<::std::vec::Vec<Metric>>,

    /// Fail on what is better by more than the threshold, too
    #[arg(long, requires = "threshold")]
    two_sided: bool,

    /// Output format (default: what the ending of -o says, else a table)
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Write here instead of standard output; FILE must not exist yet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Draw bars below the tables
    #[arg(long)]
    bars: bool,

    /// Draw tables with ASCII characters only
    #[arg(long)]
    ascii: bool,

    /// Columns of the table (default: those of the terminal, else 100)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(i64::from(NARROWEST)..))]
    width: Option<u16>,

    /// When to colour
    #[arg(long, value_enum, default_value_t = When::Auto)]
    color: When,

    /// Keep remarks on the inputs to yourself; errors and what the gate says stay
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  fio-compare post.txt                          one row a test, one column a machine
  fio-parse post.txt | fio-compare -            the same from records
  fio-compare post.txt here=here.jsonl --base Dell --unit MB/s
  fio-compare runs -r --row rw,bs --col engine --filter 'iodepth:32'
  fio-compare post.txt -m flush,bw-write        the flush at the end apart
  fio-compare old=a.json old=b.json old=c.json old=d.json \\
      new=e.json new=f.json new=g.json new=h.json --threshold 5%
                                                a gate with four repeats a side
  fio-compare -r old=runs/old new=runs/new --threshold 5%
                                                the same, of all files in two folders
  fio-compare -r runs --row folder.date --col kernel
                                                of runs/kernel=6.9/date=2026-11-30/... and others

Filters: KEY:VALUE joined by AND (or a blank), OR, NOT (or -) and brackets; --list shows the keys.
  machine:\"MBP 2018\"       the whole value, case and all; quotes hold blanks
  machine:/mbp/i            a regular expression, found anywhere; no globs, no < or >
  bs:(4k OR 64k)            one of several; sizes go by amount: 4k, 4096 and 4KiB are one
  engine:\"\"                 what says nothing of it

Exit status: 0 compared, 1 the gate failed, 2 bad request or input, or nothing to compare or
to judge, or too few runs to judge.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Markdown,
    Csv,
    Tsv,
    Json,
    Jsonl,
    /// One self-contained page
    Html,
    /// Markdown for a job summary
    Github,
    /// The array of github-action-benchmark
    GhaBench,
    Openmetrics,
    /// A file for data tools; give it a name with -o
    Parquet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SortArg {
    Appearance,
    Label,
    Value,
    Ratio,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// What the surroundings say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Columns of stdout, if it is a terminal.
    pub width: Option<u16>,
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// Standard input is a terminal, so there is nothing to read from it.
    pub stdin: bool,
}

/// The narrowest table, in columns.
const NARROWEST: u16 = 20;

/// How many values of a key are told where a filter finds none.
const VALUES_SHOWN: usize = 8;

fn metrics(text: &str) -> Result<Vec<Metric>, String> {
    let mut out = Vec::new();
    for name in text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        let metric = Metric::parse(name)?;
        if !out.contains(&metric) {
            out.push(metric);
        }
    }
    if out.is_empty() {
        return Err("expected at least one metric, as bw or clat-p99".into());
    }
    Ok(out)
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(v) if v > 0.0 && v < 1.0 => Ok(v),
        _ => Err(format!(
            "expected a number between 0 and 1, as 0.95, found `{text}`"
        )),
    }
}

/// The columns to draw for on a terminal of so many: some report none, and some so few that only single letters would fit.
pub fn usable_width(columns: Option<u16>) -> u16 {
    columns.filter(|n| *n >= NARROWEST).unwrap_or(100)
}

/// Runs the program; gives the exit status.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    stdin: &mut dyn Read,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
    terminal: Terminal,
) -> u8 {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            let text = error.render().to_string();
            let (stream, status): (&mut dyn Write, u8) = if error.use_stderr() {
                (stderr, 2)
            } else {
                (stdout, 0)
            };
            return finish(stream.write_all(text.as_bytes()), status);
        }
    };
    match compare(&args, stdin, stderr, terminal) {
        Ok((text, status)) => {
            let written = write(&args, &text, stdout);
            if let (Err(error), Some(path)) = (&written, &args.output) {
                // As below, with nobody left to tell there is no more to do.
                let _ = writeln!(stderr, "fio-compare: {}: {error}", path.display());
            }
            finish(written, status)
        }
        Err(message) => {
            // If stderr is gone there is nobody to tell.
            let _ = writeln!(stderr, "fio-compare: {message}");
            2
        }
    }
}

fn finish(written: io::Result<()>, status: u8) -> u8 {
    match written {
        Ok(()) => status,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(_) => 2,
    }
}

fn write(args: &Args, bytes: &[u8], stdout: &mut dyn Write) -> io::Result<()> {
    match &args.output {
        // Where nothing came out there is no file to make.
        Some(path) if is_file(path) && bytes.is_empty() => Ok(()),
        Some(path) if is_file(path) => write_new(path, bytes),
        _ => stdout.write_all(bytes).and_then(|()| stdout.flush()),
    }
}

fn compare(
    args: &Args,
    stdin: &mut dyn Read,
    stderr: &mut dyn Write,
    terminal: Terminal,
) -> Result<(Vec<u8>, u8), String> {
    asked::one_unit_of_a_kind(&args.unit)?;
    let view = asked::view(args);
    let plan = asked::plan(args, &view);
    // A bad name should not be found out after reading a million records.
    args.export.as_deref().map(asked::export_form).transpose()?;
    let output = args.output.as_deref().filter(|path| is_file(path));
    for path in output.into_iter().chain(args.export.as_deref()) {
        refuse_existing(path)?;
    }
    let mut status = 0;
    let mut say = |line: &str| {
        let _ = writeln!(stderr, "{}", line.trim_end());
    };
    let inputs = fio_parse::cli::inputs(&args.inputs, terminal.stdin).map_err(|e| e.to_string())?;
    let given = args.labels.as_deref().map(asked::labels).transpose()?;
    let mut mislabelled = None;
    let (inputs, twice) = once(inputs);
    let mut hear = |talk: Talk| match talk {
        Talk::Remark(_) if args.quiet => {}
        Talk::Odd(_) if args.quiet => {}
        Talk::Remark(text) => say(&format!("fio-compare: {text}")),
        Talk::Odd(text) => say(&text),
        Talk::Error(text) => {
            say(&format!("fio-compare: {text}"));
            status = 2;
        }
    };
    for name in twice {
        hear(Talk::Remark(format!("{name}: given twice, counted once")));
    }
    if args.claims {
        let mut findings = Vec::new();
        let work = |input: &Input<'_>| {
            let (mut records, outcome) = load::records(input, given.as_ref());
            records.retain(|r| plan.takes(r));
            (claims::of_records(&records), outcome)
        };
        files::each(inputs, args.recursive, stdin, work, |result| match result {
            Ok((found, outcome)) => {
                findings.extend(found);
                (outcome.errors.into_iter()).for_each(|e| hear(Talk::Error(e)));
                mislabelled = mislabelled.take().or(outcome.mislabelled);
            }
            Err(talk) => hear(talk),
        });
        asked::all_labelled(given, mislabelled)?;
        let text = match asked::format(args) {
            Format::Json | Format::Jsonl => claims::jsonl(&findings),
            _ => claims::text(&findings),
        };
        if findings.is_empty() {
            hear(Talk::Remark("no claim that can be checked".into()));
        }
        return Ok((text.into_bytes(), status));
    }
    let mut builder = Builder::new(plan.wanted.clone());
    let mut lost = Lost::new(&inputs);
    let work = |input: &Input<'_>| {
        let found = load::load(input, &plan, given.as_ref());
        (input.name.clone(), found)
    };
    files::each(inputs, args.recursive, stdin, work, |result| match result {
        Ok((name, (found, outcome))) => {
            outcome.remarks.into_iter().for_each(|r| hear(Talk::Odd(r)));
            lost.count(&name, outcome.records);
            if outcome.records == 0 && outcome.errors.is_empty() {
                hear(Talk::Remark(format!(
                    "{name}: no results of fio or dd found"
                )));
            }
            outcome
                .errors
                .into_iter()
                .for_each(|e| hear(Talk::Error(e)));
            mislabelled = mislabelled.take().or(outcome.mislabelled);
            builder.absorb_input(found);
        }
        Err(talk) => hear(talk),
    });
    asked::all_labelled(given, mislabelled)?;
    match builder.warmups() {
        0 => {}
        1 => hear(Talk::Remark("a run that only warms up is left out".into())),
        many => hear(Talk::Remark(format!(
            "{many} runs that only warm up are left out"
        ))),
    }
    if builder.is_empty() {
        say(if matches!(args.filter, Filter::All) {
            "fio-compare: nothing to compare: no record was found"
        } else {
            "fio-compare: nothing to compare: no record was found that passes the filter"
        });
        for (key, texts) in builder.dropped() {
            let mut shown: Vec<String> = (texts.iter().take(VALUES_SHOWN))
                .map(|text| format!("`{text}`"))
                .collect();
            if texts.len() > shown.len() {
                shown.push(format!("{} more", texts.len() - shown.len()));
            }
            say(&format!(
                "fio-compare: {} is {}",
                key.name(),
                shown.join(", ")
            ));
        }
        if builder.dropped().next().is_some() {
            say(
                "fio-compare: KEY:TEXT is the whole value; KEY:/TEXT/i finds it anywhere, in any case",
            );
        }
        // 1 is the gate's: a call that found nothing must not look like a regression
        return Ok((Vec::new(), 2));
    }
    if args.export.is_none() {
        // A file of records holds what was recorded.
        builder.taint_sums();
        builder.sum_jobs();
        builder.leave_out_groups();
    }
    let frame = builder.finish().map_err(|e| e.to_string())?;
    if let Some(path) = &args.export {
        let form = asked::export_form(path)?;
        let bytes = flat::write(&frame, form).map_err(|e| e.to_string())?;
        write_new(path, &bytes).map_err(|e| format!("{}: {e}", path.display()))?;
        return Ok((Vec::new(), status));
    }
    for (key, texts) in &frame.key_texts {
        if let Some(name) = key.of_folder()
            && texts.iter().all(String::is_empty)
        {
            return Err(format!(
                "expected a folder called {name}=VALUE in the path of an input, found none; --list \
                 shows what folders say (key folder)"
            ));
        }
    }
    if args.list {
        return Ok((list(&frame)?.into_bytes(), status));
    }
    if let Some([a, b]) = args.why.as_deref() {
        let answer = why::explain(&frame, a, b, view.alpha)?;
        let text = match asked::format(args) {
            Format::Json | Format::Jsonl => answer.json(),
            _ => answer.text(),
        };
        return Ok((text.into_bytes(), status));
    }
    let mut view = view;
    let with_values =
        |metrics: &[Metric]| query::with_values(&frame, metrics).map_err(|e| e.to_string());
    let mut with = with_values(view.metrics.as_deref().unwrap_or(build::DEFAULT_METRICS))?;
    if view.metrics.is_none() && !with.iter().any(|with| with.contains(&true)) {
        let spare = build::SPARE_METRICS
            .iter()
            .zip(with_values(build::SPARE_METRICS)?);
        let (there, with_spare): (Vec<Metric>, Vec<_>) =
            (spare.filter(|(_, with)| with.contains(&true))).unzip();
        if !there.is_empty() {
            (view.metrics, with) = (Some(there), with_spare);
        }
    }
    let asked = view.metrics.as_deref().unwrap_or(build::DEFAULT_METRICS);
    let absent = absent::lines(&frame, asked, &with).map_err(|e| e.to_string())?;
    let mut lacking: Vec<&Metric> = Vec::new();
    if args.metric.is_some() {
        let nobody = asked
            .iter()
            .zip(&with)
            .filter(|(_, with)| !with.contains(&true));
        lacking.extend(nobody.map(|(metric, _)| metric));
    }
    // Without a table the reason is no mere remark.
    let report = build::report(&frame, &view, &with);
    let empty = report.as_ref().is_ok_and(|r| r.grids.is_empty());
    if !args.quiet || empty || report.is_err() {
        absent
            .iter()
            .for_each(|line| say(&format!("fio-compare: {line}")));
        if !empty && report.is_ok() {
            lacking
                .iter()
                .for_each(|m| say(&format!("fio-compare: no record has a value of {m}")));
        }
    }
    let report = match (report, args.threshold) {
        (Ok(report), _) => report,
        (Err(error), Some(_)) => return Err(format!("nothing was judged: {error}")),
        (Err(error), None) => return Err(error.to_string()),
    };
    if empty {
        let what = match args.threshold {
            Some(_) => "nothing was judged",
            None => "nothing to compare",
        };
        return Err(format!(
            "{what}: no record has a value of the metrics shown"
        ));
    }
    if !args.quiet {
        for unit in asked::idle_units(&args.unit, &report) {
            say(&format!(
                "fio-compare: -u {}: nothing shown is measured in it",
                unit.name
            ));
        }
    }
    let mut lines = Vec::new();
    if let Some(threshold) = args.threshold {
        let finding = gate::check(&report, &asked::gate(args, threshold));
        for line in &finding.unjudged {
            say(&format!("fio-compare: gate: {line}"));
        }
        for line in &finding.failures {
            lines.push(format!("gate failed: {line}"));
        }
        for line in &finding.undecided {
            lines.push(format!("gate undecided: {line}"));
        }
        if finding.judged == 0 {
            // Neither passed nor failed: a gate that saw nothing must not wave anything through.
            lines.push(format!(
                "nothing was judged: {}",
                finding.why_nothing(&report)
            ));
            status = 2;
        } else if !finding.failures.is_empty() {
            status = status.max(1);
        } else {
            // What was named and did not come could be what is worse.
            let lost = lost.names();
            for name in &lost {
                lines.push(format!(
                    "gate undecided: {name}: no results of fio or dd found"
                ));
            }
            if status != 0 {
                lines.push("gate undecided: not all inputs could be read".to_owned());
            }
            if finding.undecided.is_empty() && lost.is_empty() && status == 0 {
                lines.push(format!("gate passed: {} results judged", finding.judged));
            } else {
                status = 2;
            }
        }
        lines
            .iter()
            .for_each(|line| say(&format!("fio-compare: {line}")));
    }
    let text = asked::render(args, &report, &lines, terminal)?;
    Ok((text, status))
}
