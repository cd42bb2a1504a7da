//! The workload that a document's options describe.

use crate::block::fio_json::unescaped;
use crate::unit::{Bytes, Nanos};
use crate::workload::{Job, Pattern, Test, Workload, WrittenAs};

/// The job called `name` of `global options` and `job options`, the latter counting more. `None` where there are no options.
pub(super) fn workload(
    name: &str,
    globals: &[(&str, &str)],
    options: &[(&str, &str)],
) -> Option<Workload> {
    if globals.is_empty() && options.is_empty() {
        return None;
    }
    let mut job = Job {
        name: name.to_owned(),
        ..Job::default()
    };
    for &(option, value) in globals.iter().chain(options) {
        set(&mut job, &unescaped(option), &unescaped(value));
    }
    Some(Workload::new(WrittenAs::FioJson, Test::Jobs(vec![job])))
}

/// Puts one option into its field; what has none, or holds more than the field can, stays as it is written.
fn set(job: &mut Job, option: &str, value: &str) {
    // fio prints a bare flag as an empty string
    let flag = || match value {
        "" | "1" => Some(true),
        "0" => Some(false),
        _ => None,
    };
    let understood = match option {
        "name" => true,
        "rw" | "readwrite" => assign(&mut job.pattern, Pattern::from_name(value)),
        "ioengine" => assign(&mut job.engine, Some(value.to_owned())),
        "bs" | "blocksize" => assign(&mut job.block_bytes, size(value)),
        "size" => assign(&mut job.size_bytes, size(value)),
        "io_size" | "io_limit" => assign(&mut job.io_size_bytes, size(value)),
        "filesize" => assign(&mut job.file_bytes, size(value)),
        "iodepth" => assign(&mut job.depth, value.parse().ok()),
        "numjobs" => assign(&mut job.jobs, value.parse().ok()),
        "runtime" => assign(&mut job.runtime_ns, seconds(value)),
        "ramp_time" => assign(&mut job.ramp_ns, seconds(value)),
        "time_based" => assign(&mut job.time_based, flag()),
        "direct" => assign(&mut job.direct, flag()),
        "end_fsync" => assign(&mut job.end_fsync, flag()),
        "group_reporting" => assign(&mut job.group_reporting, flag()),
        "stonewall" => assign(&mut job.stonewall, flag()),
        "fsync" => assign(&mut job.fsync, value.parse().ok()),
        "fdatasync" => assign(&mut job.fdatasync, value.parse().ok()),
        "rwmixread" => assign(&mut job.rwmixread, value.parse().ok()),
        "filename" => assign(&mut job.filename, Some(value.to_owned())),
        "directory" => assign(&mut job.directory, Some(value.to_owned())),
        "nrfiles" => assign(&mut job.nrfiles, value.parse().ok()),
        _ => false,
    };
    if !understood {
        job.other.retain(|(other, _)| other != option);
        job.other.push((option.to_owned(), value.to_owned()));
    }
}

fn assign<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    let understood = value.is_some();
    if understood {
        *field = value;
    }
    understood
}

/// A size with one of the suffixes that mean the same under each `kb_base` that is the default.
fn size(value: &str) -> Option<Bytes> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match value[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        _ => return None,
    };
    let count: u64 = digits.parse().ok()?;
    count.checked_mul(1024u64.pow(power)).map(Bytes)
}

/// A time in seconds, or with a suffix.
fn seconds(value: &str) -> Option<Nanos> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let each = match &value[digits.len()..] {
        "" | "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "m" => 60e9,
        "h" => 3600e9,
        "d" => 86400e9,
        _ => return None,
    };
    Nanos::from_count(digits.parse::<u32>().ok()?.into(), each)
}
