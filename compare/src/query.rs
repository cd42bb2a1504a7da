//! From the frame to cells: the polars pipeline.
//!
//! ```text
//! frame -- a metric at a time --> long: record x metric, lo value hi
//!       -- one scope a run -----> group before its jobs, nothing counted twice
//!       -- one sample a run ----> jobs of one run that report apart are one sample
//!       -- one row a cell ------> medians of lo, value, hi; the values; counts
//!       -- join with the base --> ratio lo = lo / base hi, hi = hi / base lo
//! ```
//!
//! All of it is lazy expressions and one `collect` for the cells and one for the sets of notes.
//! The median of the lower ends is a lower end for the median, since the median grows with each
//! of its values; likewise above. A failed run gives no value, but its cell knows of it.

use polars::prelude::*;

use crate::derive;
use crate::frame::{Frame, key_column};
use crate::keys::Key;
use crate::metric::Metric;
use crate::view::Projection;

/// A cell as the pipeline leaves it.
#[derive(Clone, Debug)]
pub struct Found {
    /// Codes of the projected keys, in the order of [`Cells::keys`].
    pub codes: Vec<u32>,
    /// Bounds of the median of all samples; none if all failed.
    pub bounds: Option<(f64, f64, f64)>,
    /// The samples' values.
    pub values: Vec<f64>,
    /// How many runs failed.
    pub failed: usize,
    /// The largest number of records that were joined into one sample.
    pub parts: usize,
    /// How the value came about, see [`derive::How`].
    pub how: u32,
    /// What a wall time covers: codes of texts, usually one.
    pub basis: (u32, u32),
    /// Codes of sets of notes.
    pub notes: Vec<u32>,
    /// Codes of sets of settings.
    pub settings: Vec<u32>,
    /// Ratio to the base's cell.
    pub ratio: Option<(f64, f64, f64)>,
}

/// All cells.
#[derive(Clone, Debug)]
pub struct Cells {
    /// What the codes of a cell stand for; the metric's code is its index in the list asked for.
    pub keys: Vec<Key>,
    /// The cells in order of first appearance.
    pub found: Vec<Found>,
}

/// Which of these metrics have at least one value.
pub fn present(frame: &Frame, metrics: &[Metric]) -> PolarsResult<Vec<Metric>> {
    let mut out = Vec::new();
    for metric in metrics {
        let [lo, ..] = derive::expressions(*metric);
        let count = frame.rows.clone().lazy().select([lo.count()]).collect()?;
        if count.column("lo")?.get(0)?.extract::<u64>().unwrap_or(0) > 0 {
            out.push(*metric);
        }
    }
    Ok(out)
}

/// A literal takes the smallest type that holds it; columns to be stacked need one type.
fn constant(code: u32) -> Expr {
    lit(code).cast(DataType::UInt32)
}

/// One row a record and metric.
fn long(frame: &Frame, keys: &[Key], metrics: &[Metric]) -> PolarsResult<LazyFrame> {
    let mut parts = Vec::new();
    for (code, metric) in metrics.iter().enumerate() {
        let mut columns: Vec<Expr> = (keys.iter().filter(|k| **k != Key::METRIC))
            .map(|k| col(key_column(*k)))
            .collect();
        columns.extend(
            [
                "source", "run", "group", "rank", "failed", "settings", "notes",
            ]
            .map(col),
        );
        columns.extend(derive::expressions(*metric));
        columns.push(constant(code as u32).alias(key_column(Key::METRIC)));
        columns.push(match metric {
            Metric::WallBandwidth | Metric::Wall => col("basis"),
            _ => constant(0).alias("basis"),
        });
        // What the scope rule needs, whether or not it is projected on.
        columns.push(col(key_column(Key::DIRECTION)).alias("direction"));
        let rows = frame.rows.clone().lazy().select(columns);
        parts.push(rows.filter(col("lo").is_not_null().or(col("failed"))));
    }
    concat(parts, UnionArgs::default())
}

/// Runs the pipeline. `base` holds the codes of the keys in `projection.across`.
pub fn cells(
    frame: &Frame,
    metrics: &[Metric],
    projection: &Projection,
    base: Option<&[u32]>,
    force: bool,
) -> PolarsResult<Cells> {
    let mut keys: Vec<Key> = Vec::new();
    for key in (projection.tables.iter())
        .chain(&projection.rows)
        .chain(&projection.cols)
    {
        if !keys.contains(key) {
            keys.push(*key);
        }
    }
    let names = |keys: &[Key]| -> Vec<Expr> { keys.iter().map(|k| col(key_column(*k))).collect() };
    let cell_keys = names(&keys);
    let metric = col(key_column(Key::METRIC));

    let run = [col("source"), col("run"), col("direction"), metric.clone()];
    let group = [col("source"), col("run"), col("group"), metric];
    let scoped = long(frame, &keys, metrics)?
        // A job that failed taints the sum over its group.
        .with_columns([col("failed").max().over(group)?])
        .filter(col("rank").eq(col("rank").min().over(run)?));

    let none = || lit(NULL).cast(DataType::Float64);
    let mut sample_keys = cell_keys.clone();
    sample_keys.extend([col("source"), col("run"), col("settings")]);
    let samples = scoped.clone().group_by_stable(sample_keys).agg([
        col("lo").min(),
        col("value").median(),
        col("hi").max(),
        col("failed").max(),
        col("how").max(),
        col("basis").min().alias("basis_min"),
        col("basis").max().alias("basis_max"),
        len().alias("parts"),
    ]);
    let sound = |name: &str| {
        when(col("failed"))
            .then(none())
            .otherwise(col(name))
            .alias(name)
    };
    let cells = samples
        .with_columns([sound("lo"), sound("value"), sound("hi")])
        .group_by_stable(cell_keys.clone())
        .agg([
            col("lo").median(),
            col("value").median(),
            col("hi").median(),
            col("value").drop_nulls().alias("values"),
            col("failed")
                .cast(DataType::UInt32)
                .sum()
                .alias("failed_runs"),
            col("how").max(),
            col("basis_min").min(),
            col("basis_max").max(),
            col("parts").max(),
        ]);

    let cells = match base {
        Some(codes) => with_ratio(cells, &keys, &projection.across, codes, force)?,
        None => cells.with_columns(["ratio_lo", "ratio", "ratio_hi"].map(|n| none().alias(n))),
    };
    let sets = scoped.group_by_stable(cell_keys).agg([
        col("notes").unique_stable(),
        col("settings").unique_stable(),
    ]);
    let (cells, sets) = (cells.collect()?, sets.collect()?);
    Ok(Cells {
        found: read(&cells, &sets, &keys)?,
        keys,
    })
}

/// Joins every cell with the base's cell that agrees in all keys but those compared across.
fn with_ratio(
    cells: LazyFrame,
    keys: &[Key],
    across: &[Key],
    base: &[u32],
    force: bool,
) -> PolarsResult<LazyFrame> {
    let is_base = (across.iter().zip(base))
        .map(|(key, code)| col(key_column(*key)).eq(lit(*code)))
        .reduce(Expr::and)
        .unwrap_or(lit(true));
    let mut on: Vec<Expr> = (keys.iter())
        .filter(|k| !across.contains(k))
        .map(|k| col(key_column(*k)))
        .collect();
    if on.is_empty() {
        on.push(lit(0u32).alias("all"));
    }
    let bases = cells.clone().filter(is_base.clone()).select({
        let mut columns = on.clone();
        for name in ["lo", "value", "hi", "basis_min", "basis_max"] {
            columns.push(col(name).alias(format!("base_{name}")));
        }
        columns
    });
    let mut join = JoinArgs::new(JoinType::Left);
    join.maintain_order = MaintainOrderJoin::Left;
    let joined = cells.join(bases, on.clone(), on, join);
    // Rates over different windows are different things.
    let same_basis = lit(force).or((col("basis_min").eq(col("basis_max")))
        .and(col("base_basis_min").eq(col("base_basis_max")))
        .and(col("basis_min").eq(col("base_basis_min"))));
    let sound = col("base_lo").gt(lit(0.0)).and(same_basis);
    // A cell over itself is one, whatever its bounds.
    let itself = is_base;
    let ratio = |over: Expr, under: &str, outward: f64, name: &str| {
        when(
            sound
                .clone()
                .and(itself.clone())
                .and(over.clone().is_not_null()),
        )
        .then(lit(1.0))
        .when(sound.clone())
        .then(over / col(under) * lit(outward))
        .otherwise(lit(NULL))
        .alias(name)
    };
    const OUTWARD: f64 = 2.0 * f64::EPSILON;
    Ok(joined.with_columns([
        ratio(col("lo"), "base_hi", 1.0 - OUTWARD, "ratio_lo"),
        ratio(col("value"), "base_value", 1.0, "ratio"),
        ratio(col("hi"), "base_lo", 1.0 + OUTWARD, "ratio_hi"),
    ]))
}

fn read(cells: &DataFrame, sets: &DataFrame, keys: &[Key]) -> PolarsResult<Vec<Found>> {
    let u32s = |frame: &DataFrame, name: &str| -> PolarsResult<Vec<u32>> {
        let column = frame.column(name)?.cast(&DataType::UInt32)?;
        Ok(column.u32()?.iter().map(|v| v.unwrap_or(0)).collect())
    };
    let f64s = |name: &str| -> PolarsResult<Vec<Option<f64>>> {
        let column = cells.column(name)?.cast(&DataType::Float64)?;
        Ok(column.f64()?.iter().collect())
    };
    let lists = |name: &str| -> PolarsResult<Vec<Vec<u32>>> {
        let mut out = Vec::with_capacity(sets.height());
        for list in sets.column(name)?.list()?.amortized_iter() {
            let codes = match list {
                Some(series) => series.as_ref().u32()?.iter().flatten().collect(),
                None => Vec::new(),
            };
            out.push(codes);
        }
        Ok(out)
    };
    let codes: Vec<Vec<u32>> = (keys.iter())
        .map(|key| u32s(cells, &key_column(*key)))
        .collect::<PolarsResult<_>>()?;
    let (lo, value, hi) = (f64s("lo")?, f64s("value")?, f64s("hi")?);
    let (ratio_lo, ratio, ratio_hi) = (f64s("ratio_lo")?, f64s("ratio")?, f64s("ratio_hi")?);
    let (failed, parts, how) = (
        u32s(cells, "failed_runs")?,
        u32s(cells, "parts")?,
        u32s(cells, "how")?,
    );
    let (basis_min, basis_max) = (u32s(cells, "basis_min")?, u32s(cells, "basis_max")?);
    let (notes, settings) = (lists("notes")?, lists("settings")?);
    let mut values: Vec<Vec<f64>> = Vec::with_capacity(cells.height());
    for list in cells.column("values")?.list()?.amortized_iter() {
        values.push(match list {
            Some(series) => series.as_ref().f64()?.iter().flatten().collect(),
            None => Vec::new(),
        });
    }
    let all = |a: Option<f64>, b: Option<f64>, c: Option<f64>| Some((a?, b?, c?));
    Ok((0..cells.height())
        .map(|i| Found {
            codes: codes.iter().map(|c| c[i]).collect(),
            bounds: all(lo[i], value[i], hi[i]),
            values: std::mem::take(&mut values[i]),
            failed: failed[i] as usize,
            parts: parts[i] as usize,
            how: how[i],
            basis: (basis_min[i], basis_max[i]),
            // Both queries group the same rows in the same order.
            notes: notes.get(i).cloned().unwrap_or_default(),
            settings: settings.get(i).cloned().unwrap_or_default(),
            ratio: all(ratio_lo[i], ratio[i], ratio_hi[i]),
        })
        .collect())
}
