//! Writers: each turns a [`Report`](crate::grid::Report) into one format.
//!
//! One file a format, each a function from a report to text; none sees a record or a data frame,
//! and all print the same cells. `text`, `markdown` and `html` draw tables; `delimited` (CSV,
//! TSV) and `json` (JSON, JSON Lines) list cells, one a row, in base units with the printed text
//! beside.

pub mod ascii;
pub mod bars;
pub mod chart;
pub mod data;
pub mod delimited;
pub mod github;
pub mod html;
pub mod json;
pub mod markdown;
pub mod openmetrics;
pub mod parquet;
pub mod text;
mod wrap;

#[cfg(test)]
mod tests;
