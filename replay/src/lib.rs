//! Runs the workload of a fio or dd result again, natively on Linux.
//!
//! ```text
//! input --Workload--> plan --Plan--> run --Outcome--> records, report
//!                      |              |
//!                   refusals      sandbox: layout, worker + engine + media
//! ```
//!
//! 1. [`input`] finds the distinct workloads of posts, logs and record streams.
//! 2. [`plan`] turns one into a closed, typed plan, or gives all reasons why not. It is pure,
//!    and after it no text of the input has any effect.
//! 3. [`sandbox`] is the only place where files are: a private directory, removed at the end.
//! 4. [`run`] lays files out ([`layout`]) and starts one [`worker`] per job; [`script`] says
//!    what a job does next, [`engine`] does it, [`media`] opens, drops and syncs its file,
//!    [`clock`] stamps and [`hist`] counts. dd has its own loop, [`dd`].
//! 5. [`self_test`] measures the instrument itself, part by part.
//! 6. [`outcome`] merges raw counters once; records and text are made from that, and
//!    [`caution`] says what is doubtful about them on this machine.
//!
//! `unsafe` code is in [`clock`], [`memory`] and below [`engine`] only.

mod broken;
pub mod caution;
pub mod cli;
pub mod clock;
pub mod content;
pub mod control;
pub mod counts;
pub mod dd;
pub mod device;
pub mod draw;
pub mod engine;
mod execute;
pub mod hist;
mod include;
pub mod input;
mod journal;
pub mod layout;
pub mod locate;
pub mod machine;
pub mod media;
pub mod memory;
pub mod offsets;
pub mod outcome;
pub mod output;
pub mod places;
pub mod plan;
pub mod progress;
pub mod repeat;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod script;
pub mod secret;
pub mod self_test;
pub mod session;
pub mod signals;
pub mod stale;
mod talk;
pub mod variables;
pub mod verify;
pub mod worker;
