//! The key of a workload: what it asks of the disk, in one short text.

use super::{Bytes, Dd, Job, Pattern, SyncFlag, Test};

/// A short text for people and for grouping: pattern, block, depth, jobs, what bounds it, how it is synced.
///
/// Two tests with the same key ask the disk for the same thing as far as these options go. Engine, names and
/// places are left out: they differ between machines that ran the same test. So is what makes no difference to the
/// disk: reports, logs, seeds. Options that stand verbatim ([`ASKS`]) follow in their order.
pub(super) fn key(test: &Test) -> String {
    match test {
        Test::Jobs(jobs) => jobs.iter().map(job_key).collect::<Vec<_>>().join(" + "),
        Test::Dd(dd) => dd_key(dd),
    }
}

/// Options without a field that change what the disk is asked, or when: order, pace, amount, files, content, cache.
const ASKS: [&str; 44] = [
    "bs_unaligned",
    "ba",
    "rate",
    "rate_iops",
    "rate_process",
    "thinktime",
    "thinktime_spin",
    "thinktime_blocks",
    "thinktime_blocks_type",
    "thinktime_iotime",
    "number_ios",
    "norandommap",
    "random_distribution",
    "percentage_random",
    "rw_sequencer",
    "zonemode",
    "zonesize",
    "zonerange",
    "zoneskip",
    "offset_align",
    "offset_increment",
    "openfiles",
    "file_service_type",
    "iodepth_low",
    "iodepth_batch",
    "iodepth_batch_complete_min",
    "iodepth_batch_complete_max",
    "sync_file_range",
    "verify",
    "verify_backlog",
    "fallocate",
    "overwrite",
    "create_on_open",
    "create_only",
    "pre_read",
    "invalidate",
    "fadvise_hint",
    "zero_buffers",
    "refill_buffers",
    "scramble_buffers",
    "buffer_pattern",
    "buffer_compress_percentage",
    "buffer_compress_chunk",
    "dedupe_percentage",
];

/// The key of one job. A value that was not understood stands in it as written, behind a tilde.
fn job_key(job: &Job) -> String {
    use std::fmt::Write as _;
    let mut key = match (job.pattern, job.unread("rw")) {
        // `randread:8`
        (Some(_), Some(text)) => text.to_owned(),
        (None, Some(text)) => format!("~{text}"),
        (pattern, None) => pattern.unwrap_or(Pattern::Read).as_str().to_owned(),
    };
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
            for (name, option, bytes) in [
                ("size", "size", job.size_bytes),
                ("io_size", "io_size", job.io_size_bytes),
                ("filesize", "filesize", job.file_bytes),
            ] {
                let _ = match (bytes, job.unread(option)) {
                    (Some(bytes), _) => write!(key, " {name}={}", bytes.0),
                    (None, Some(text)) => write!(key, " {name}=~{text}"),
                    (None, None) => Ok(()),
                };
            }
            if let Some(runtime) = job.runtime_ns {
                let _ = write!(key, " runtime={}s", runtime.seconds());
            }
        }
    }
    for (name, number, default) in [
        ("loops", job.loops, 1),
        ("nrfiles", job.nrfiles.map(u64::from), 1),
        ("offset", job.offset_bytes.map(|bytes| bytes.0), 0),
    ] {
        let _ = match (number, job.unread(name)) {
            (Some(number), _) if number != default => write!(key, " {name}={number}"),
            (None, Some(text)) => write!(key, " {name}=~{text}"),
            _ => Ok(()),
        };
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
    for (name, set) in [
        ("end_fsync", job.end_fsync),
        ("fsync_on_close", job.fsync_on_close),
        ("direct", job.direct),
    ] {
        if set == Some(true) {
            key.push(' ');
            key.push_str(name);
        }
    }
    for (name, value) in &job.other {
        if ASKS.contains(&name.as_str()) {
            let _ = write!(key, " {name}={value}");
        }
    }
    key
}

fn dd_key(dd: &Dd) -> String {
    use std::fmt::Write as _;
    let mut key = "dd".to_owned();
    let unread = |name: &str| {
        let mut others = dd.other.iter();
        Some(&*others.find(|(have, _)| have == name)?.1)
    };
    let apart = dd.input_block_bytes.is_some() || dd.output_block_bytes.is_some();
    let _ = match (dd.block_bytes, unread("bs")) {
        (Some(block), _) => write!(key, " bs={}", block.0),
        (None, Some(text)) => write!(key, " bs=~{text}"),
        (None, None) if apart => {
            let of = |block: Option<Bytes>| block.unwrap_or(Bytes(512)).0;
            let (read, write) = (of(dd.input_block_bytes), of(dd.output_block_bytes));
            write!(key, " ibs={read} obs={write}")
        }
        (None, None) => write!(key, " bs=512"),
    };
    for (name, number) in [
        ("count", dd.count),
        ("bytes", dd.count_bytes.map(|bytes| bytes.0)),
        ("skip", dd.skip),
        ("seek", dd.seek),
    ] {
        let _ = match (number, unread(name)) {
            (Some(number), _) => write!(key, " {name}={number}"),
            (None, Some(text)) => write!(key, " {name}=~{text}"),
            (None, None) => Ok(()),
        };
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

#[cfg(test)]
mod tests {
    use crate::workload::command::parse_command;

    fn key(command: &str) -> String {
        parse_command(command).unwrap().key
    }

    #[test]
    fn what_changes_the_test_changes_the_key() {
        let plain = "fio --name=a --rw=randrw --bs=4k --size=4m";
        for option in [
            "loops=2",
            "rate=1m",
            "rate_iops=100",
            "thinktime=5",
            "io_size=1m",
            "io_size=50%",
            "filesize=8m",
            "nrfiles=2",
            "offset=1m",
            "offset=10%",
            "norandommap=1",
            "random_distribution=zipf:1.2",
            "bssplit=4k/50:8k/50",
            "zero_buffers=1",
            "fsync_on_close=1",
            "number_ios=7",
        ] {
            assert_ne!(key(plain), key(&format!("{plain} --{option}")), "{option}");
        }
        for option in [
            "loops=1",
            "offset=0",
            "ioengine=sync",
            "filename=x",
            "randseed=7",
            "write_bw_log=x",
        ] {
            assert_eq!(key(plain), key(&format!("{plain} --{option}")), "{option}");
        }
        let plain = "dd if=/dev/zero of=x count=8";
        for operand in ["ibs=1k", "obs=1k", "bs=1k", "skip=1", "seek=2", "bs=1x1y"] {
            assert_ne!(key(plain), key(&format!("{plain} {operand}")), "{operand}");
        }
        assert_ne!(key("dd if=a of=b bs=1M ibs=4k"), key("dd if=a of=b ibs=4k"));
    }

    #[test]
    fn what_cannot_be_read_is_not_replaced_by_a_default() {
        let of = |rw: &str| key(&format!("fio --name=a --rw={rw} --size=4096"));
        assert_eq!(of("bogus"), "~bogus bs=4096 depth=1 jobs=1 size=4096");
        assert_eq!(
            of("randread:8"),
            "randread:8 bs=4096 depth=1 jobs=1 size=4096"
        );
        assert_eq!(
            key("dd if=/dev/zero of=x bs=1k count=-1"),
            "dd bs=1024 count=~-1"
        );
    }
}
