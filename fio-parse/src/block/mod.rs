//! Blocks: the log cut into runs of whole lines, each of one kind.

pub mod dd;
pub mod fio_group;
pub mod fio_json;
pub mod fio_log;
pub mod fio_terse;
pub mod fio_text;
pub mod prose;
pub mod time;
