//! Sets the results of many machines side by side.
pub mod bounds;
pub mod build;
pub mod derive;
pub mod dict;
pub mod digits;
pub mod filter;
pub mod frame;
pub mod grid;
pub mod keys;
pub mod metric;
pub mod query;
pub mod render;
pub mod residue;
pub mod scale;
pub mod stats;
pub mod tests_of;
pub mod view;
