//! Sets the results of many machines side by side.
pub mod bounds;
pub mod digits;
pub mod grid;
pub mod render;
pub mod scale;
pub mod stats;
