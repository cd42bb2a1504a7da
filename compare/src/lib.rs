//! Sets the results of many machines side by side.
pub mod bounds;
pub mod digits;
pub mod filter;
pub mod grid;
pub mod keys;
pub mod metric;
pub mod render;
pub mod scale;
pub mod stats;
