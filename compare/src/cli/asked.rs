//! What the arguments ask for, in the terms of the modules that do it.

use std::sync::{Mutex, PoisonError};

use fio_parse::cli::labels::Labels;

use super::*;
use crate::folders::Fields;
use crate::frame::Base;

/// The format asked for, or else told by the ending of the file to write.
pub(super) fn format(args: &Args) -> Format {
    let ending = args.output.as_deref().and_then(Path::extension);
    let told = match ending.and_then(|e| e.to_str()) {
        Some("md") => Format::Markdown,
        Some("csv") => Format::Csv,
        Some("tsv") => Format::Tsv,
        Some("json") => Format::Json,
        Some("jsonl") => Format::Jsonl,
        Some("html") => Format::Html,
        Some("parquet") => Format::Parquet,
        _ => Format::Table,
    };
    args.format.unwrap_or(told)
}

/// A column has one unit, so the second one asked for would be lost.
pub(super) fn one_unit_of_a_kind(units: &[scale::Unit]) -> Result<(), String> {
    for (at, unit) in units.iter().enumerate() {
        let other = (units[..at].iter())
            .find(|other| other.dimension == unit.dimension && other.name != unit.name);
        if let Some(other) = other {
            return Err(format!(
                "expected at most one unit of a kind, found `{}` and `{}`",
                other.name, unit.name
            ));
        }
    }
    Ok(())
}

/// The units asked for that no column has.
pub(super) fn idle_units(units: &[scale::Unit], report: &Report) -> Vec<scale::Unit> {
    let columns = || report.grids.iter().flat_map(|grid| &grid.columns);
    (units.iter().copied())
        .filter(|unit| !columns().any(|column| column.unit.name == unit.name))
        .collect()
}

pub(super) fn export_form(path: &Path) -> Result<Form, String> {
    Form::of_name(&path.to_string_lossy()).ok_or_else(|| {
        format!(
            "{}: expected a name that ends in .parquet, .arrow or .csv",
            path.display()
        )
    })
}

pub(super) fn labels(path: &Path) -> Result<load::Given, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
    let labels = Labels::read(&name.to_string(), &text).map_err(|e| e.to_string())?;
    Ok(Mutex::new(labels))
}

/// Labels that do not fit are told before anything is shown under the wrong ones.
pub(super) fn all_labelled(
    given: Option<load::Given>,
    mislabelled: Option<String>,
) -> Result<(), String> {
    let labels = given.map(|given| given.into_inner().unwrap_or_else(PoisonError::into_inner));
    match (mislabelled, labels) {
        (Some(why), _) => Err(why),
        (None, Some(labels)) => labels.all_used().map_err(|e| e.to_string()),
        (None, None) => Ok(()),
    }
}

pub(super) fn gate(args: &Args, threshold: f64) -> Gate {
    let metrics = args.fail_on.iter().flatten();
    Gate {
        threshold,
        metrics: metrics.map(Metric::to_string).collect(),
        two_sided: args.two_sided,
        alpha: args.alpha,
    }
}

pub(super) fn render(
    args: &Args,
    report: &Report,
    gate: &[String],
    terminal: Terminal,
) -> Result<Vec<u8>, String> {
    let style = Style {
        width: args.width.or(terminal.width).map_or(100, usize::from),
        ascii: args.ascii,
        color: match args.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal.width.is_some() && !terminal.no_color && args.output.is_none(),
        },
    };
    let text = match format(args) {
        Format::Parquet => return render::parquet::render(report).map_err(|e| e.to_string()),
        Format::Table if args.bars => {
            format!(
                "{}\n{}",
                render::text::render(report, style),
                render::bars::render(report, style)
            )
        }
        Format::Table => render::text::render(report, style),
        Format::Markdown => render::markdown::render(report),
        Format::Csv => render::delimited::csv(report),
        Format::Tsv => render::delimited::tsv(report),
        Format::Json => render::json::json(report),
        Format::Jsonl => render::json::jsonl(report),
        Format::Html => render::html::render(report),
        Format::Github => render::github::summary(report, gate),
        Format::GhaBench => render::github::action(report)?,
        Format::Openmetrics => render::openmetrics::render(report),
    };
    Ok(text.into_bytes())
}

pub(super) fn view(args: &Args) -> View {
    View {
        rows: args.row.clone(),
        cols: args.col.clone(),
        tables: args.table.clone(),
        ignore: args.ignore.clone(),
        metrics: args.metric.clone(),
        base: args.base.clone(),
        pairwise: args.pairwise,
        filter: args.filter.clone(),
        units: args.unit.clone(),
        force: args.force,
        sort: match args.sort {
            SortArg::Appearance => Sort::Appearance,
            SortArg::Label => Sort::Label,
            SortArg::Value => Sort::Value,
            SortArg::Ratio => Sort::Ratio,
        },
        confidence: args.confidence,
        alpha: args.alpha,
        holm: args.holm,
    }
}

pub(super) fn plan(args: &Args, view: &View) -> Plan {
    if args.export.is_some() {
        return Plan {
            wanted: flat::wanted(),
            filter: view.filter.clone(),
            fields: Fields::default(),
        };
    }
    let metrics = match &view.metrics {
        _ if args.list => Metric::PLAIN,
        _ if args.why.is_some() => why::METRICS,
        Some(list) => list.as_slice(),
        None => build::DEFAULT_METRICS,
    };
    let spare = match &view.metrics {
        None if !args.list && args.why.is_none() => build::SPARE_METRICS,
        _ => &[],
    };
    let distinct = |metrics: &[Metric], known: &[Base]| {
        let mut bases: Vec<Base> = Vec::new();
        for base in metrics.iter().flat_map(|m| derive::bases(*m)) {
            if !bases.contains(&base) && !known.contains(&base) {
                bases.push(base);
            }
        }
        bases
    };
    let bases = distinct(metrics, &[]);
    let spare = distinct(spare, &bases);
    let keys = if args.list {
        Key::all().filter(|k| *k != Key::METRIC).collect()
    } else {
        view.keys()
    };
    Plan {
        wanted: Wanted {
            keys,
            bases,
            // Other questions look at quantities beside the metrics.
            metrics: match args.list || args.why.is_some() {
                true => Vec::new(),
                false => metrics.to_vec(),
            },
            spare,
            ignored: view.ignore.clone(),
            by_tests: !args.list && view.shows_tests(),
        },
        filter: view.filter.clone(),
        fields: Fields::default(),
    }
}
