//! Runs the workload of a fio or dd result again, natively on Linux.
pub mod clock;
pub mod content;
pub mod control;
pub mod dd;
pub mod engine;
pub mod hist;
pub mod layout;
pub mod media;
pub mod memory;
pub mod offsets;
pub mod outcome;
pub mod plan;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod script;
pub mod worker;
