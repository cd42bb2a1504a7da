//! The key of a workload: what it asks of the disk, in one short text.

use super::{Bytes, Dd, Job, Pattern, SyncFlag, Test};

/// A short text for people and for grouping: pattern, block, depth, jobs, what bounds it, how it is synced.
///
/// Two tests with the same key ask the disk for the same thing as far as these options go. Engine, names and
/// places are left out: they differ between machines that ran the same test.
pub(super) fn key(test: &Test) -> String {
    match test {
        Test::Jobs(jobs) => jobs.iter().map(job_key).collect::<Vec<_>>().join(" + "),
        Test::Dd(dd) => dd_key(dd),
    }
}

/// The key of one job. A value that was not understood stands in it as written, behind a tilde.
fn job_key(job: &Job) -> String {
    use std::fmt::Write as _;
    let mut key = job.pattern.unwrap_or(Pattern::Read).as_str().to_owned();
    let block = job.block_bytes.unwrap_or(Bytes(4096));
    match job.unread_blocks() {
        Some(text) => {
            let _ = write!(key, " bs=~{text}");
        }
        None => {
            let _ = write!(key, " bs={}", block.0);
        }
    }
    if let Some(write_block) = job.write_block_bytes.filter(|&w| w != block) {
        let _ = write!(key, ",{}", write_block.0);
    }
    for (name, option, count) in [
        ("depth", "iodepth", job.depth),
        ("jobs", "numjobs", job.jobs),
    ] {
        let _ = match job.unread(option) {
            Some(text) => write!(key, " {name}=~{text}"),
            None => write!(key, " {name}={}", count.unwrap_or(1)),
        };
    }
    match (job.time_based.unwrap_or(false), job.runtime_ns) {
        (true, Some(runtime)) => {
            let _ = write!(key, " time={}s", runtime.seconds());
        }
        _ => {
            let unread = job.unread("io_size").or_else(|| job.unread("size"));
            if let Some(size) = job.io_size_bytes.or(job.size_bytes) {
                let _ = write!(key, " size={}", size.0);
            } else if let Some(text) = unread {
                let _ = write!(key, " size=~{text}");
            }
            if let Some(runtime) = job.runtime_ns {
                let _ = write!(key, " runtime={}s", runtime.seconds());
            }
        }
    }
    let mix = job.pattern.is_some_and(|p| p.reads() && p.writes());
    if let Some(read) = job.rwmixread.filter(|_| mix) {
        let _ = write!(key, " rwmixread={read}");
    }
    for (name, every) in [("fsync", job.fsync), ("fdatasync", job.fdatasync)] {
        if let Some(every) = every.filter(|&every| every > 0) {
            let _ = write!(key, " {name}={every}");
        }
    }
    match job.sync {
        Some(SyncFlag::Sync) => key.push_str(" sync"),
        Some(SyncFlag::Dsync) => key.push_str(" dsync"),
        _ => {}
    }
    for (name, set) in [("end_fsync", job.end_fsync), ("direct", job.direct)] {
        if set == Some(true) {
            key.push(' ');
            key.push_str(name);
        }
    }
    key
}

fn dd_key(dd: &Dd) -> String {
    use std::fmt::Write as _;
    let mut key = "dd".to_owned();
    let unknown = |name: &str| dd.other.iter().any(|(have, _)| have == name);
    let _ = match dd.block_bytes {
        None if unknown("bs") => write!(key, " bs=?"),
        block => write!(key, " bs={}", block.unwrap_or(Bytes(512)).0),
    };
    if let Some(count) = dd.count {
        let _ = write!(key, " count={count}");
    } else if let Some(bytes) = dd.count_bytes {
        let _ = write!(key, " bytes={}", bytes.0);
    }
    for (name, list) in [
        ("conv", &dd.conv),
        ("iflag", &dd.iflag),
        ("oflag", &dd.oflag),
    ] {
        if !list.is_empty() {
            let _ = write!(key, " {name}={}", list.join(","));
        }
    }
    key
}
