//! What fio's options mean: names and values become a [`Job`].
//!
//! One function, [`set`], serves command lines, job files and the `job options` of fio's JSON. The last of several
//! values wins; `buffered` is `direct` inverted and `rwmixwrite` 100 less `rwmixread`. A value that is not
//! understood as a whole (a variable, `100%`, a range, a float) is kept verbatim in [`Job::other`] under the
//! option's main name and the typed field stays empty. `rw=randread:8` sets the pattern, and `other` holds the
//! whole value besides, for its second half has no field.

use super::numbers::{FioSize, KbBase, fio_size, fio_time, print_time};
use super::options;
use super::{Job, Pattern, SyncFlag};
use crate::unit::{Bytes, Nanos};

/// fio's default block size, which holds where `bs=8k,` leaves a direction out.
const DEFAULT_BLOCK: Bytes = Bytes(4096);

/// The options whose value may be left out besides flags: fio then names the log after the job.
pub(super) const MAY_BE_EMPTY: [&str; 6] = [
    "name",
    "description",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
];

/// A job called `name` with `options` set one after the other, as the `job options` of fio's JSON hold them.
///
/// A bare flag comes as `""` or `"1"`, depending on fio's version. What was read in another way than it looks
/// goes to `normalised`, see [`Workload::normalised`](super::Workload::normalised).
pub fn job_of_options<'a>(
    name: &str,
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
    normalised: &mut Vec<String>,
) -> Job {
    let mut job = Job {
        name: name.to_owned(),
        ..Job::default()
    };
    for (option, value) in options {
        match options::lookup(option, false).option() {
            Some(known) if known.main == "name" => {}
            Some(known) => {
                let bare = known.kind == options::Kind::Flag && value.is_empty();
                set(
                    &mut job,
                    known.main,
                    if bare { "1" } else { value },
                    normalised,
                );
            }
            None => {
                note(normalised, format!("unknown-option:{option}"));
                set(&mut job, option, value, normalised);
            }
        }
    }
    job
}

/// How many notes or names one workload may have; what needs more is no test that a person wrote.
const MAX_NOTES: usize = 1_000;

/// Adds `text` to the notes unless it stands there.
pub(super) fn note(notes: &mut Vec<String>, text: impl Into<String>) {
    let text = text.into();
    if notes.len() < MAX_NOTES && !notes.contains(&text) {
        notes.push(text);
    }
}

/// Sets the option with the main name `option` to `value`.
pub(super) fn set(job: &mut Job, option: &str, value: &str, notes: &mut Vec<String>) {
    forget(job, option);
    let base = kb_base(job);
    let typed = match option {
        "rw" => {
            let (pattern, modifier) = match value.split_once(':') {
                Some((pattern, _)) => (pattern, true),
                None => (value, false),
            };
            job.pattern = pattern_of(pattern, notes);
            job.pattern.is_some() && !modifier
        }
        "bs" => blocks(job, value, base, notes),
        "ioengine" => {
            job.engine = Some(value.to_owned());
            true
        }
        "filename" => {
            job.filename = Some(value.to_owned());
            true
        }
        "directory" => {
            job.directory = Some(value.to_owned());
            true
        }
        "size" => put(&mut job.size_bytes, size(value, base, option, notes)),
        "io_size" => put(&mut job.io_size_bytes, size(value, base, option, notes)),
        "filesize" => put(&mut job.file_bytes, size(value, base, option, notes)),
        "offset" => put(&mut job.offset_bytes, size(value, base, option, notes)),
        "iodepth" => put(&mut job.depth, number(value, base)),
        "numjobs" => put(&mut job.jobs, number(value, base)),
        "nrfiles" => put(&mut job.nrfiles, number(value, base)),
        "loops" => put(&mut job.loops, number(value, base)),
        "fsync" => put(&mut job.fsync, number(value, base)),
        "fdatasync" => put(&mut job.fdatasync, number(value, base)),
        "runtime" => put(&mut job.runtime_ns, fio_time(value, 1_000_000_000)),
        "ramp_time" => put(&mut job.ramp_ns, fio_time(value, 1_000_000_000)),
        "time_based" => put(&mut job.time_based, truth(value)),
        "direct" => put(&mut job.direct, truth(value)),
        "buffered" => put(&mut job.direct, truth(value).map(|buffered| !buffered)),
        "end_fsync" => put(&mut job.end_fsync, truth(value)),
        "fsync_on_close" => put(&mut job.fsync_on_close, truth(value)),
        "group_reporting" => put(&mut job.group_reporting, truth(value)),
        "stonewall" => put(&mut job.stonewall, truth(value)),
        "sync" => put(&mut job.sync, sync_flag(value)),
        "rwmixread" => put(&mut job.rwmixread, share(value)),
        "rwmixwrite" => put(&mut job.rwmixread, share(value).map(|write| 100 - write)),
        _ => false,
    };
    if !typed {
        let option = (option.to_owned(), value.to_owned());
        // fio reads it before all others, wherever it stands, for it decides what a suffix means
        if option.0 == "kb_base" {
            job.other.insert(0, option);
        } else {
            job.other.push(option);
        }
    }
}

/// Takes back what earlier values of the option set.
fn forget(job: &mut Job, option: &str) {
    let twin = match option {
        "direct" => "buffered",
        "buffered" => "direct",
        "rwmixread" => "rwmixwrite",
        "rwmixwrite" => "rwmixread",
        _ => option,
    };
    job.other.retain(|(name, _)| name != option && name != twin);
    match option {
        "rw" => job.pattern = None,
        "bs" => {
            job.block_bytes = None;
            job.write_block_bytes = None;
            job.trim_block_bytes = None;
        }
        "ioengine" => job.engine = None,
        "filename" => job.filename = None,
        "directory" => job.directory = None,
        "size" => job.size_bytes = None,
        "io_size" => job.io_size_bytes = None,
        "filesize" => job.file_bytes = None,
        "offset" => job.offset_bytes = None,
        "iodepth" => job.depth = None,
        "numjobs" => job.jobs = None,
        "nrfiles" => job.nrfiles = None,
        "loops" => job.loops = None,
        "fsync" => job.fsync = None,
        "fdatasync" => job.fdatasync = None,
        "runtime" => job.runtime_ns = None,
        "ramp_time" => job.ramp_ns = None,
        "time_based" => job.time_based = None,
        "direct" | "buffered" => job.direct = None,
        "end_fsync" => job.end_fsync = None,
        "fsync_on_close" => job.fsync_on_close = None,
        "group_reporting" => job.group_reporting = None,
        "stonewall" => job.stonewall = None,
        "sync" => job.sync = None,
        "rwmixread" | "rwmixwrite" => job.rwmixread = None,
        _ => {}
    }
}

/// The options that [`set`] would need to make this job: names and values, typed ones first, in a fixed order.
///
/// Where `other` holds an option's whole value, that one stands for the typed field too.
pub(super) fn options_of(job: &Job) -> Vec<(&str, String)> {
    let mut all: Vec<(&str, String)> = Vec::new();
    let mut add = |name: &'static str, value: Option<String>| {
        if let Some(value) = value
            && !job.other.iter().any(|(other, _)| other == name)
        {
            all.push((name, value));
        }
    };
    let bytes = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0.to_string());
    let flag = |set: Option<bool>| set.map(|set| u8::from(set).to_string());
    let count = |count: Option<u64>| count.map(|count| count.to_string());
    let narrow = |count: Option<u32>| count.map(|count| count.to_string());
    let time = |time: Option<Nanos>| time.map(print_time);
    add("ioengine", job.engine.clone());
    add("rw", job.pattern.map(|p| p.as_str().to_owned()));
    add("bs", print_blocks(job));
    add("size", bytes(job.size_bytes));
    add("io_size", bytes(job.io_size_bytes));
    add("filesize", bytes(job.file_bytes));
    add("offset", bytes(job.offset_bytes));
    add("numjobs", narrow(job.jobs));
    add("iodepth", narrow(job.depth));
    add("runtime", time(job.runtime_ns));
    add("ramp_time", time(job.ramp_ns));
    add("time_based", flag(job.time_based));
    add("loops", count(job.loops));
    add("direct", flag(job.direct));
    add(
        "sync",
        job.sync.map(|sync| {
            match sync {
                SyncFlag::None => "none",
                SyncFlag::Sync => "sync",
                SyncFlag::Dsync => "dsync",
            }
            .to_owned()
        }),
    );
    add("fsync", count(job.fsync));
    add("fdatasync", count(job.fdatasync));
    add("end_fsync", flag(job.end_fsync));
    add("fsync_on_close", flag(job.fsync_on_close));
    add("rwmixread", narrow(job.rwmixread));
    add("group_reporting", flag(job.group_reporting));
    add("stonewall", flag(job.stonewall));
    add("filename", job.filename.clone());
    add("directory", job.directory.clone());
    add("nrfiles", narrow(job.nrfiles));
    all.extend(
        job.other
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone())),
    );
    // what `kb_base` says must be known before the first size, which are printed without a suffix if they are typed
    all
}

fn print_blocks(job: &Job) -> Option<String> {
    let read = job.block_bytes;
    if job.write_block_bytes.is_none() && job.trim_block_bytes.is_none() {
        return read.map(|read| read.0.to_string());
    }
    let read = read.unwrap_or(DEFAULT_BLOCK);
    let write = job.write_block_bytes.unwrap_or(read);
    let trim = job.trim_block_bytes.unwrap_or(read);
    Some(format!("{},{},{}", read.0, write.0, trim.0))
}

/// Fills a field and tells whether there was something to fill it with.
fn put<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    *field = value;
    field.is_some()
}

fn kb_base(job: &Job) -> KbBase {
    let decimal = job
        .other
        .iter()
        .any(|(name, value)| name == "kb_base" && matches!(value.trim(), "1000" | "1k" | "1K"));
    if decimal {
        KbBase::K1000
    } else {
        KbBase::K1024
    }
}

fn size(value: &str, base: KbBase, option: &str, notes: &mut Vec<String>) -> Option<Bytes> {
    let FioSize { bytes, reversed } = fio_size(value, base)?;
    if reversed {
        let means = match base {
            KbBase::K1024 => 1000,
            KbBase::K1000 => 1024,
        };
        note(notes, format!("kib-is-{means}:{option}={}", value.trim()));
    }
    Some(bytes)
}

/// A count; fio lets it have suffixes too.
fn number<N: TryFrom<u64>>(value: &str, base: KbBase) -> Option<N> {
    N::try_from(fio_size(value, base)?.bytes.0).ok()
}

fn truth(value: &str) -> Option<bool> {
    match value.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn share(value: &str) -> Option<u32> {
    value.trim().parse().ok().filter(|&share| share <= 100)
}

fn sync_flag(value: &str) -> Option<SyncFlag> {
    match value.trim() {
        "0" | "none" => Some(SyncFlag::None),
        "1" | "sync" => Some(SyncFlag::Sync),
        "dsync" => Some(SyncFlag::Dsync),
        _ => None,
    }
}

/// The pattern; fio refuses capitals, people write them all the same.
fn pattern_of(value: &str, notes: &mut Vec<String>) -> Option<Pattern> {
    let value = value.trim();
    Pattern::from_name(value).or_else(|| {
        let pattern = Pattern::from_name(&value.to_ascii_lowercase())?;
        note(notes, format!("lower-cased:rw={value}"));
        Some(pattern)
    })
}

/// `bs=read,write,trim`: a missing later one repeats the last, an empty one leaves fio's default (measured with 3.33).
fn blocks(job: &mut Job, value: &str, base: KbBase, notes: &mut Vec<String>) -> bool {
    let mut parts = value.trim().split(',');
    let mut sizes = [DEFAULT_BLOCK; 3];
    let mut last = None;
    for size_of in &mut sizes {
        match parts.next() {
            Some("") => last = Some(DEFAULT_BLOCK),
            Some(part) => match size(part, base, "bs", notes) {
                Some(bytes) if bytes.0 > 0 => last = Some(bytes),
                _ => return false,
            },
            None => {}
        }
        let Some(last) = last else { return false };
        *size_of = last;
    }
    if parts.next().is_some() || value.trim().is_empty() {
        return false;
    }
    let [read, write, trim] = sizes;
    job.block_bytes = Some(read);
    job.write_block_bytes = (write != read).then_some(write);
    job.trim_block_bytes = (trim != read).then_some(trim);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(options: &[(&str, &str)]) -> (Job, Vec<String>) {
        let mut notes = Vec::new();
        let job = job_of_options("j", options.iter().copied(), &mut notes);
        (job, notes)
    }

    #[test]
    fn block_sizes_go_by_direction() {
        // fio 3.33: `bs=8k,` reads 8k and writes 4k, `bs=,8k` the other way round
        for (text, read, write, trim) in [
            ("4k", 4096, None, None),
            ("4k,8k", 4096, Some(8192), Some(8192)),
            ("4k,8k,16k", 4096, Some(8192), Some(16384)),
            ("8k,", 8192, Some(4096), Some(4096)),
            (",8k", 4096, Some(8192), Some(8192)),
            ("4k,4k", 4096, None, None),
        ] {
            let (job, _) = job(&[("blocksize", text)]);
            assert_eq!(job.block_bytes, Some(Bytes(read)), "{text}");
            assert_eq!(job.write_block_bytes, write.map(Bytes), "{text}");
            assert_eq!(job.trim_block_bytes, trim.map(Bytes), "{text}");
            assert!(job.other.is_empty());
        }
        for verbatim in ["4k-8k", "$BS", "0", "4k,$X", "1,2,3,4", ""] {
            let (job, _) = job(&[("bs", verbatim)]);
            assert_eq!(job.block_bytes, None, "{verbatim}");
            assert_eq!(job.other, [("bs".to_owned(), verbatim.to_owned())]);
        }
    }

    #[test]
    fn the_last_value_wins_across_twins_and_forms() {
        let (job, _) = job(&[
            ("direct", "1"),
            ("buffered", "1"),
            ("rwmixread", "70"),
            ("rwmixwrite", "40"),
            ("size", "1g"),
            ("size", "50%"),
            ("bs", "$B"),
            ("bs", "4k"),
            ("verify", "md5"),
            ("verify", "crc32c"),
        ]);
        assert_eq!(job.direct, Some(false));
        assert_eq!(job.rwmixread, Some(60));
        assert_eq!(job.size_bytes, None);
        assert_eq!(job.block_bytes, Some(Bytes(4096)));
        let other: Vec<_> = job
            .other
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(other, [("size", "50%"), ("verify", "crc32c")]);
    }

    #[test]
    fn modifiers_and_odd_values_lose_nothing() {
        let (job, notes) = job(&[
            ("readwrite", "RandRead:8"),
            ("size", "64KiB"),
            ("timeout", "1m"),
            ("nosuch", "x"),
            ("sync", "dsync"),
            ("thread", ""),
        ]);
        assert_eq!(job.pattern, Some(Pattern::RandRead));
        assert_eq!(job.size_bytes, Some(Bytes(64000)));
        assert_eq!(job.runtime_ns, Nanos::new(6e10));
        assert_eq!(job.sync, Some(SyncFlag::Dsync));
        assert_eq!(job.other[0], ("rw".to_owned(), "RandRead:8".to_owned()));
        assert_eq!(job.other[2], ("thread".to_owned(), "1".to_owned()));
        assert_eq!(
            notes,
            [
                "lower-cased:rw=RandRead",
                "kib-is-1000:size=64KiB",
                "unknown-option:nosuch"
            ]
        );
    }

    #[test]
    fn kb_base_turns_suffixes_round() {
        let (job, notes) = job(&[("kb_base", "1000"), ("bs", "4k"), ("size", "1MiB")]);
        assert_eq!(job.block_bytes, Some(Bytes(4000)));
        assert_eq!(job.size_bytes, Some(Bytes(1 << 20)));
        assert_eq!(notes, ["kib-is-1024:size=1MiB"]);
    }
}
