//! Blocks with their context to records.

pub mod dd;
pub mod entry;
pub mod fio_group;
pub mod fio_json;
pub mod fio_log;
pub mod fio_terse;
pub mod fio_text;

mod fio_check;
mod fio_legacy;
mod fio_pair;
mod machine;
