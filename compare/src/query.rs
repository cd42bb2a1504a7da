//! From the frame to cells: the polars pipeline.
//!
//! ```text
//! rows -- a metric at a time, in slices --> lo value hi of each record that has it
//!      -- lone records ------------------> are samples as they are
//!      -- the others: one scope a run ---> group before its jobs, nothing counted twice
//!                     one sample a run --> jobs of one run that report apart are one sample
//!      -- the samples of each cell ------> medians of lo, value, hi; the values; counts
//! ```
//!
//! A cell is a combination of key values and a metric; which one a record belongs to follows from
//! its context, so cells are numbered once for all contexts and rows are grouped by that number.
//! What a record comes to is lazy expressions; a metric that all records state needs none. Slices
//! bound the memory that intermediate columns take.
//!
//! The median of the lower ends is a lower end for the median, since the median grows with each
//! of its values; likewise above. A failed run gives no value, but its cell knows of it.

use fio_parse::folder::in_order;
use polars::prelude::*;

use crate::bounds::Bounds;
use crate::derive;
use crate::dict::Dict;
use crate::frame::{Base, Figures, Frame, follows, key_column};
use crate::keys::Key;
use crate::metric::Metric;
use crate::stats;

/// A cell as the pipeline leaves it.
#[derive(Clone, Debug)]
pub struct Found {
    /// Codes of the projected keys, in the order of [`Cells::keys`].
    pub codes: Vec<u32>,
    /// Bounds of the median of all samples; none if all failed.
    pub bounds: Option<(f64, f64, f64)>,
    /// The samples' values, sorted.
    pub values: Vec<f64>,
    /// How many runs failed.
    pub failed: usize,
    /// The largest number of records that were joined into one sample.
    pub parts: usize,
    /// The largest number of jobs that a value of the metric was summed over.
    pub summed: usize,
    /// How the value came about, see [`derive::How`].
    pub how: u32,
    /// What a wall time covers: codes of texts, usually one.
    pub basis: (u32, u32),
    /// Codes of sets of notes.
    pub notes: Vec<u32>,
    /// Codes of sets of settings.
    pub settings: Vec<u32>,
    /// Codes of the machines and of the tests whose records it holds.
    pub names: [Vec<u32>; 2],
    /// Of some of its records nothing says what was asked of the disk.
    pub unasked: bool,
}

/// The keys of [`Found::names`].
pub const NAMES: [Key; 2] = [Key::MACHINE, Key::TEST];

/// All cells.
#[derive(Clone, Debug)]
pub struct Cells {
    /// What the codes of a cell stand for; the metric's code is its index in the list asked for.
    pub keys: Vec<Key>,
    /// The cells, metric by metric, in order of first appearance.
    pub found: Vec<Found>,
}

/// Rows whose metric is computed at once; a column of intermediate results stays in the cache.
const SLICE: usize = 1 << 16;

/// Columns of the contexts that [`derive`] looks at for a metric.
fn derived_from(metric: Metric) -> &'static [&'static str] {
    match metric {
        Metric::Bandwidth => &["dd"],
        Metric::Iops => &["dd", "block"],
        Metric::WriteBandwidth | Metric::Flush => &["nominal"],
        _ => &[],
    }
}

/// For each metric and context, whether any of its records has a value.
pub fn with_values(frame: &Frame, metrics: &[Metric]) -> PolarsResult<Vec<Vec<bool>>> {
    metrics
        .iter()
        .map(|metric| contexts_with(frame, *metric))
        .collect()
}

/// The quantity that is this metric for all records; none if it must be derived for some.
fn stated_by_all(frame: &Frame, metric: Metric) -> PolarsResult<Option<Base>> {
    let Some(base) = derive::stated_first(metric) else {
        return Ok(None);
    };
    let narrowed = metric == Metric::Bandwidth && frame.contexts.column("dd")?.bool()?.any();
    let lo = frame.rows.column(&format!("{}:lo", base.column()))?;
    Ok(Some(base).filter(|_| !narrowed && lo.null_count() == 0))
}

fn contexts_with(frame: &Frame, metric: Metric) -> PolarsResult<Vec<bool>> {
    let mut has = vec![false; frame.contexts.height()];
    if stated_by_all(frame, metric)?.is_some() {
        let contexts = frame.rows.column("context")?.u32()?;
        contexts
            .iter()
            .flatten()
            .for_each(|context| has[context as usize] = true);
        return Ok(has);
    }
    let [lo, ..] = derive::expressions(metric);
    for start in (0..frame.len()).step_by(SLICE) {
        let rows = frame.wide(start, SLICE, derived_from(metric))?.lazy();
        let rows = rows.select([col("context"), lo.clone().is_not_null().alias("with")]);
        let rows = rows.collect()?;
        let with = rows.column("with")?.bool()?;
        if !with.any() {
            continue;
        }
        let contexts = rows.column("context")?.u32()?;
        for (context, with) in contexts.iter().zip(with.iter()) {
            if let (Some(context), Some(true)) = (context, with) {
                has[context as usize] = true;
            }
        }
    }
    Ok(has)
}

/// Which of these metrics have at least one value.
pub fn present(frame: &Frame, metrics: &[Metric]) -> PolarsResult<Vec<Metric>> {
    let with = with_values(frame, metrics)?;
    let present = metrics
        .iter()
        .zip(with)
        .filter(|(_, with)| with.contains(&true));
    Ok(present.map(|(metric, _)| *metric).collect())
}

/// Finds the cells of these keys and metrics. The key `metric` takes its code from `metrics`.
pub fn cells(frame: &Frame, metrics: &[Metric], keys: &[Key]) -> PolarsResult<Cells> {
    let places = Places::new(frame, keys)?;
    let lone = lone(frame, &places)?;
    let mut found = Vec::new();
    for (code, metric) in metrics.iter().enumerate() {
        found.extend(of_metric(frame, *metric, code as u32, &places, &lone)?);
    }
    Ok(Cells {
        keys: keys.to_vec(),
        found,
    })
}

/// Which cell each context's records belong to.
struct Places {
    /// For each context, the number of its cell.
    of_context: Vec<u32>,
    /// For each cell, the codes of its keys, the metric's being zero.
    codes: Vec<Vec<u32>>,
    /// Where the metric's code goes.
    metric: Option<usize>,
    settings: Vec<u32>,
    notes: Vec<u32>,
    basis: Vec<u32>,
    names: [Vec<u32>; 2],
    unasked: Vec<bool>,
    summed: Vec<u32>,
}

fn codes(frame: &DataFrame, column: &str) -> PolarsResult<Vec<u32>> {
    let column = frame.column(column)?.u32()?;
    Ok(column.iter().map(|code| code.unwrap_or(0)).collect())
}

impl Places {
    fn new(frame: &Frame, keys: &[Key]) -> PolarsResult<Places> {
        let contexts = &frame.contexts;
        let columns: Vec<Option<Vec<u32>>> = (keys.iter())
            .map(|key| match *key {
                Key::METRIC => Ok(None),
                key => codes(contexts, &key_column(key)).map(Some),
            })
            .collect::<PolarsResult<_>>()?;
        let mut dict: Dict<Vec<u32>> = Dict::default();
        let of_context = (0..contexts.height())
            .map(|context| {
                let code = |column: &Option<Vec<u32>>| column.as_ref().map_or(0, |c| c[context]);
                let cell: Vec<u32> = columns.iter().map(code).collect();
                dict.code(cell.as_slice())
            })
            .collect();
        Ok(Places {
            of_context,
            codes: dict.values().to_vec(),
            metric: keys.iter().position(|k| *k == Key::METRIC),
            settings: codes(contexts, "settings")?,
            notes: codes(contexts, "notes")?,
            basis: codes(contexts, "basis")?,
            names: [
                codes(contexts, &key_column(NAMES[0]))?,
                codes(contexts, &key_column(NAMES[1]))?,
            ],
            unasked: (codes(contexts, "asked")?.into_iter())
                .map(|code| frame.texts.get(code as usize).is_none_or(String::is_empty))
                .collect(),
            summed: codes(contexts, "summed")?,
        })
    }
}

/// A run of more records is not looked at record by record.
const FEW: usize = 64;

/// For each row, whether it is a sample by itself: nothing of its run failed, no scope of the run is to
/// be preferred to it, and no other record of the run belongs to the same sample.
fn lone(frame: &Frame, places: &Places) -> PolarsResult<BooleanChunked> {
    let of_contexts = |column: &str| codes(&frame.contexts, column);
    let (sources, ranks, groups) = (
        of_contexts("source")?,
        of_contexts("rank")?,
        of_contexts("group")?,
    );
    let directions = of_contexts(&key_column(Key::DIRECTION))?;
    let failed = frame.contexts.column("failed")?.bool()?;
    let failed: Vec<bool> = failed.iter().map(|f| f == Some(true)).collect();
    let contexts = frame.rows.column("context")?.u32()?.cont_slice()?;
    let runs = frame.rows.column("run")?.u32()?.cont_slice()?;
    let context = |row: u32| contexts[row as usize] as usize;
    let run = |row: &u32| (sources[context(*row)], runs[*row as usize]);
    // Records mostly come in order.
    let mut rows: Vec<u32> = (0..contexts.len() as u32).collect();
    if !rows.is_sorted_by_key(run) {
        rows.sort_by_key(run);
    }
    let sample = |c: usize| (places.of_context[c], groups[c], places.settings[c]);
    let meet = |a: usize, b: usize| {
        directions[a] == directions[b] && (ranks[a] != ranks[b] || sample(a) == sample(b))
    };
    let mut lone = vec![false; rows.len()];
    for rows in rows.chunk_by(|a, b| run(a) == run(b)) {
        if rows.len() > FEW || rows.iter().any(|row| failed[context(*row)]) {
            continue;
        }
        for (at, row) in rows.iter().enumerate() {
            let mut others = rows[..at].iter().chain(&rows[at + 1..]);
            lone[*row as usize] = !others.any(|other| meet(context(*row), context(*other)));
        }
    }
    Ok(BooleanChunked::from_iter_values(
        "lone".into(),
        lone.into_iter(),
    ))
}

/// What a sample or, before that, a record comes to.
const SAMPLE: [&str; 6] = ["cell", "lo", "value", "hi", "failed", "how"];

/// The samples of a cell.
#[derive(Default)]
struct Samples {
    figures: Figures,
    failed: usize,
    how: u32,
    parts: usize,
}

/// The samples of all cells of a metric.
struct Gathered {
    /// By the number of the cell, in order of first appearance.
    cells: Vec<(u32, Samples)>,
    /// For each cell, where it is in `cells`.
    at: Vec<Option<usize>>,
    /// Which contexts the samples are of.
    contexts: Vec<bool>,
}

impl Gathered {
    /// Adds rows that have the columns of [`SAMPLE`], and `parts` where they are of several
    /// records.
    fn add(&mut self, rows: &DataFrame) -> PolarsResult<()> {
        let numbers = |name: &str| PolarsResult::Ok(rows.column(name)?.f64()?.iter());
        let ends = numbers("lo")?.zip(numbers("value")?).zip(numbers("hi")?);
        let failed = rows.column("failed")?.bool()?;
        let how = rows.column("how")?.u32()?;
        let parts = match rows.column("parts") {
            Ok(parts) => Some(parts.u32()?),
            Err(_) => None,
        };
        let told = failed.iter().zip(how.iter());
        let cells = rows.column("cell")?.u32()?.iter().flatten();
        for (row, ((cell, ((lo, value), hi)), (failed, how))) in
            cells.zip(ends).zip(told).enumerate()
        {
            let at = *self.at[cell as usize].get_or_insert_with(|| {
                self.cells.push((cell, Samples::default()));
                self.cells.len() - 1
            });
            let samples = &mut self.cells[at].1;
            let of_parts = parts.and_then(|p| p.get(row)).unwrap_or(1);
            samples.parts = samples.parts.max(of_parts as usize);
            samples.how = samples.how.max(how.unwrap_or(0));
            if failed == Some(true) {
                samples.failed += 1;
            } else if let (Some(lo), Some(value), Some(hi)) = (lo, value, hi)
                && let Some(figure) = Bounds::new(lo, value, hi)
            {
                samples.figures.push(figure);
            }
        }
        Ok(())
    }

    fn add_contexts(&mut self, rows: &DataFrame) -> PolarsResult<()> {
        let contexts = rows.column("context")?.u32()?;
        (contexts.iter().flatten()).for_each(|context| self.contexts[context as usize] = true);
        Ok(())
    }
}

fn of_metric(
    frame: &Frame,
    metric: Metric,
    code: u32,
    places: &Places,
    lone: &BooleanChunked,
) -> PolarsResult<Vec<Found>> {
    let mut gathered = Gathered {
        cells: Vec::new(),
        at: vec![None; places.codes.len()],
        contexts: vec![false; frame.contexts.height()],
    };
    let mut shared: Vec<DataFrame> = Vec::new();
    let stated = stated_by_all(frame, metric)?;
    let derived_from = match stated {
        Some(_) => &[],
        None => derived_from(metric),
    };
    let of_contexts = [derived_from, &["failed"]].concat();
    let mut columns: Vec<Expr> = ["cell", "context", "lone", "run", "failed"].map(col).into();
    columns.extend(stated.map_or_else(|| derive::expressions(metric), derive::as_stated));
    for start in (0..frame.len()).step_by(SLICE) {
        let mut rows = frame.wide(start, SLICE, &of_contexts)?;
        let contexts = rows.column("context")?.u32()?;
        let cells = contexts.iter().flatten();
        let cells: Vec<u32> = cells.map(|c| places.of_context[c as usize]).collect();
        rows.with_column(Column::new("cell".into(), cells))?;
        let lone = lone.slice(start as i64, rows.height());
        rows.with_column(lone.with_name("lone".into()).into_column())?;
        let rows =
            (rows.lazy().select(columns.clone())).filter(col("lo").is_not_null().or(col("failed")));
        let rows = rows.collect()?;
        let lone = rows.column("lone")?.bool()?;
        let (alone, others) = match lone.all() {
            true => (rows, None),
            false => (rows.filter(lone)?, Some(rows.filter(&!lone)?)),
        };
        gathered.add(&alone)?;
        gathered.add_contexts(&alone)?;
        shared.extend(others);
    }
    if let Some(shared) = stack(shared)? {
        let (joined, of_joined) = join_runs(frame, shared)?;
        gathered.add(&joined)?;
        gathered.add_contexts(&of_joined)?;
    }
    Ok(read(gathered, metric, code, places))
}

fn stack(parts: Vec<DataFrame>) -> PolarsResult<Option<DataFrame>> {
    let mut parts = parts.into_iter();
    let Some(mut all) = parts.next() else {
        return Ok(None);
    };
    for part in parts {
        all.vstack_mut(&part)?;
    }
    Ok(Some(all))
}

/// Rows that share their run with others: of each run and direction the scope to prefer, joined
/// into one sample for each cell and way of asking. Gives the rows taken, too.
fn join_runs(frame: &Frame, mut rows: DataFrame) -> PolarsResult<(DataFrame, DataFrame)> {
    let direction = &key_column(Key::DIRECTION);
    let of_contexts = ["source", "group", "rank", "alike", direction];
    let contexts = frame.contexts.select(of_contexts)?;
    let of_contexts = contexts.take(rows.column("context")?.u32()?)?;
    rows.hstack_mut(of_contexts.columns())?;
    let run = [col("source"), col("run"), col(direction)];
    let group = [col("source"), col("run"), col("group"), col(direction)];
    // A job that failed taints the sum over its group and no other job of it. Ranks start at 0.
    let failed_ranks = when(col("failed")).then(col("rank") + lit(1u32));
    let lowest_failed = failed_ranks.otherwise(lit(0u32)).max().over(group)?;
    let scoped = (rows.lazy())
        .with_columns([col("failed").or(lowest_failed.gt(col("rank") + lit(1u32)))])
        .filter(col("rank").eq(col("rank").min().over(run)?))
        .collect()?;
    let samples = (scoped.clone().lazy())
        // Groups run one after the other, so that equal ones are repeats.
        .group_by_stable([
            col("cell"),
            col("source"),
            col("run"),
            col("group"),
            col("alike"),
        ])
        .agg([
            col("lo").min(),
            col("value").median(),
            col("hi").max(),
            col("failed").max(),
            col("how").max(),
            len().cast(DataType::UInt32).alias("parts"),
        ])
        .select(
            SAMPLE
                .iter()
                .chain(&["parts"])
                .map(|n| col(*n))
                .collect::<Vec<_>>(),
        )
        .collect()?;
    Ok((samples, scoped))
}

/// So many samples are worth the start of threads.
const MANY: usize = 1 << 16;

/// The values, sorted, and the medians of the lower and the upper ends.
fn sorted(figures: Figures) -> (Vec<f64>, Option<(f64, f64)>) {
    let (mut values, ends) = figures.into_parts();
    values.sort_unstable_by(f64::total_cmp);
    let medians = match ends {
        Some([mut lo, mut hi]) => stats::median_of(&mut lo).zip(stats::median_of(&mut hi)),
        None => stats::median(&values).map(|median| (median, median)),
    };
    (values, medians)
}

fn read(gathered: Gathered, metric: Metric, code: u32, places: &Places) -> Vec<Found> {
    let Gathered {
        cells,
        at,
        contexts,
    } = gathered;
    let of_wall = matches!(metric, Metric::WallBandwidth | Metric::Wall);
    let many = cells.iter().map(|(_, s)| s.figures.len()).sum::<usize>() > MANY;
    let mut found = Vec::with_capacity(cells.len());
    let finish = |(cell, mut samples): (u32, Samples)| {
        let sorted = sorted(std::mem::take(&mut samples.figures));
        (cell, samples, sorted)
    };
    let mut take = |(cell, samples, (values, ends)): (u32, Samples, (Vec<f64>, _))| {
        let mut all = places.codes[cell as usize].clone();
        if let Some(at) = places.metric {
            all[at] = code;
        }
        found.push(Found {
            codes: all,
            bounds: (stats::median(&values).zip(ends)).map(|(value, (lo, hi))| (lo, value, hi)),
            values,
            failed: samples.failed,
            parts: samples.parts,
            summed: 0,
            how: samples.how,
            basis: (0, 0),
            notes: Vec::new(),
            settings: Vec::new(),
            names: Default::default(),
            unasked: false,
        });
        true
    };
    if many {
        in_order(cells.into_iter(), finish, take);
    } else {
        cells.into_iter().for_each(|cell| {
            take(finish(cell));
        });
    }
    let mut seen = vec![false; found.len()];
    for context in (0..contexts.len()).filter(|context| contexts[*context]) {
        let Some(i) = at[places.of_context[context] as usize] else {
            continue;
        };
        let cell = &mut found[i];
        cell.unasked |= places.unasked[context];
        let jobs = places.summed[context] as usize;
        let of_jobs = match follows(metric) {
            true => &mut cell.summed,
            false => &mut cell.parts,
        };
        *of_jobs = jobs.max(*of_jobs);
        add(&mut cell.notes, places.notes[context]);
        add(&mut cell.settings, places.settings[context]);
        for (of_cell, of_contexts) in cell.names.iter_mut().zip(&places.names) {
            add(of_cell, of_contexts[context]);
        }
        if of_wall {
            let basis = places.basis[context];
            let (low, high) = cell.basis;
            cell.basis = if seen[i] {
                (low.min(basis), high.max(basis))
            } else {
                (basis, basis)
            };
            seen[i] = true;
        }
    }
    found
}

fn add(codes: &mut Vec<u32>, code: u32) {
    if !codes.contains(&code) {
        codes.push(code);
    }
}
