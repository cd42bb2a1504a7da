//! Sets the results of many machines side by side, with honest ratios and footnotes.
//!
//! ```text
//! inputs --load--> Record --frame--> columns --query--> cells --build--> Report --render--> bytes
//!                                      |                  |                |
//!                          keys, tests_of: names    derive: metrics   residue: footnotes
//! ```
//!
//! Data flows one way. [`load`] sniffs each input and has `fio_parse` read logs; records become
//! columns ([`mod@frame`]) as they come and are dropped. [`query`] is the pipeline in polars: derive
//! metrics, take one scope of a run, group into cells; [`ratio`] says what each is compared with.
//! [`build`] turns cells
//! into a [`grid::Report`], where numbers become texts with the digits they have earned
//! ([`digits`]) and what differs without being shown becomes a footnote ([`residue`]). Every writer
//! in [`render`] sees a report and nothing else.
//!
//! What this crate never does: parse a log, print a number finer than its bounds, divide rates
//! that cover different things, count a group and its jobs, show a failed run as a result.
#![forbid(unsafe_code)]

pub mod absent;
pub mod bounds;
pub mod build;
pub mod claims;
pub mod cli;
pub mod derive;
pub mod dict;
pub mod digits;
pub mod evidence;
mod failures;
mod files;
pub mod filter;
pub mod flat;
pub mod folders;
pub mod frame;
pub mod gate;
pub mod grid;
pub mod keys;
pub mod lines;
mod list;
pub mod load;
pub mod metric;
pub mod query;
pub mod ratio;
pub mod render;
pub mod residue;
pub mod scale;
pub mod scan;
pub mod stats;
mod template;
pub mod tests_of;
pub mod view;
pub mod visible;
pub mod why;
