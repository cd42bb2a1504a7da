//! A verdict on every fio option that [`fio_parse::workload::Job`] holds as plain text.
//!
//! Options that change only what fio prints are accepted and noted; options with an effect
//! are carried out or refused by name. None is passed over.

mod judge;
mod tables;
mod values;

use fio_parse::workload::Job;

use super::Draft;
use super::job::{
    Batch, Check, Fallocate, Logs, Order, Pace, Place, RangeSync, Ring, Service, Sizes, Steady,
    Strided, Submission, Think, Verify,
};
use super::meant::hint;
use crate::content::Content;
pub(super) use judge::{is_presentation, judge_program};
use judge::{shown, special};
use tables::{CARRIED_OUT, PRESENTATION};
use values::{by_direction, size, time, truth};

/// What the plain-text options of a job come to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choices {
    pub invalidate: bool,
    pub hint: Hint,
    pub order: Order,
    pub sizes: Option<[Sizes; 2]>,
    pub service: Service,
    pub open_files: Option<u64>,
    pub batch: Batch,
    pub pace: Pace,
    pub ring: Ring,
    pub content: Content,
    pub verify: Option<Verify>,
    /// fio's logs.
    pub logs: Logs,
    /// What blocks to be checked are filled with, instead of random bytes.
    pub verify_pattern: Option<Vec<u8>>,
    pub place: Place,
    pub range_sync: Option<RangeSync>,
    pub fallocate: Fallocate,
    pub overwrite: bool,
    pub create_fsync: bool,
    pub pre_read: bool,
    pub new_group: bool,
    pub exit_all: bool,
    pub offset_increment: u64,
    pub most_ios: Option<u64>,
    pub steady: Option<Steady>,
    pub create_only: bool,
    /// Smallest and largest file, bytes (`filesize=1m-4m`).
    pub file_range: Option<(u64, u64)>,
    pub submission: Submission,
    /// The CPUs are dealt out to the clones one by one.
    pub split_cpus: bool,
    /// A size that depends on the target, as written.
    pub open_size: Option<String>,
    /// The region as a share of the file or device (`size=50%`).
    pub size_percent: Option<u8>,
    /// What is moved as a share of all regions (`io_size=50%`).
    pub amount_percent: Option<u8>,
}

/// What the kernel is told about the order of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    None,
    Pattern,
    Random,
    Sequential,
}

impl Default for Choices {
    fn default() -> Self {
        Choices {
            invalidate: true,
            hint: Hint::Pattern,
            order: Order::default(),
            sizes: None,
            service: Service::RoundRobin(1),
            open_files: None,
            steady: None,
            batch: Batch::default(),
            pace: Pace::default(),
            ring: Ring::default(),
            content: Content::Scrambled,
            verify: None,
            verify_pattern: None,
            logs: Logs::default(),
            place: Place::default(),
            range_sync: None,
            fallocate: Fallocate::Native,
            overwrite: false,
            create_fsync: true,
            pre_read: false,
            new_group: false,
            exit_all: false,
            offset_increment: 0,
            most_ios: None,
            create_only: false,
            file_range: None,
            submission: Submission::Inline,
            split_cpus: false,
            open_size: None,
            size_percent: None,
            amount_percent: None,
        }
    }
}

/// Values of which several make one choice.
#[derive(Default)]
struct Parts {
    zero: bool,
    refill: bool,
    no_scramble: bool,
    compress: u8,
    chunk: Option<u32>,
    dedupe: u8,
    pattern: Option<Vec<u8>>,
    check: Option<String>,
    verify_pattern: Option<Vec<u8>>,
    backlog: u32,
    no_verify: bool,
    zone: (Option<u64>, Option<u64>, u64),
    think: (u64, u64, u32),
    steady: (u64, u64),
    prio: (Option<u16>, Option<u16>),
}

/// What came of an option.
enum Read {
    Taken,
    /// The value is none of this option's.
    Wrong,
    /// It has no rule here.
    Unknown,
}

/// Takes a value, or says that it is wrong.
fn put<T>(into: &mut T, value: Option<T>) -> Read {
    match value {
        Some(value) => {
            *into = value;
            Read::Taken
        }
        None => Read::Wrong,
    }
}

/// Goes through the options of a job.
pub(super) fn read_options(job: &Job, draft: &mut Draft<'_>) -> Choices {
    let mut choices = Choices::default();
    let mut parts = Parts::default();
    let decimal = job
        .other
        .iter()
        .any(|(name, value)| name == "kb_base" && value.trim() == "1000");
    let lfsr = job
        .other
        .iter()
        .any(|(name, value)| name == "random_generator" && value.trim() == "lfsr");
    for (name, value) in &job.other {
        let (name, value) = (name.as_str(), value.trim());
        let judged = !PRESENTATION.contains(&name) && !CARRIED_OUT.contains(&name);
        if judged && value.contains('$') {
            draft.refuse_about(
                "missing-values",
                name,
                format!("{name}={value} leaves a value open; give it with --set NAME=VALUE"),
            );
            continue;
        }
        let mut read = files_and_order(name, value, decimal, &mut choices, &mut parts);
        if matches!(read, Read::Unknown) {
            read = content_and_pace(name, value, decimal, &mut choices, &mut parts);
        }
        match read {
            Read::Taken => {}
            Read::Wrong => draft.refuse_about(
                "option-value",
                name,
                format!(
                    "{name}={}: this value is not one that fio-replay can play{}",
                    shown(name, value),
                    hint(name, value)
                ),
            ),
            Read::Unknown => special(job, name, value, &mut choices, draft),
        }
    }
    if lfsr {
        // A full cycle: each block once, map or not.
        choices.order.random_map = true;
    }
    combine(job, &mut choices, parts, draft);
    choices
}

fn files_and_order(
    name: &str,
    value: &str,
    decimal: bool,
    choices: &mut Choices,
    parts: &mut Parts,
) -> Read {
    let flag = || truth(value);
    let bytes = || size(value, decimal);
    let narrow = || bytes().and_then(|bytes| u32::try_from(bytes).ok());
    match name {
        "invalidate" => put(&mut choices.invalidate, flag()),
        "fadvise_hint" => {
            let hint = match value {
                "0" | "none" => Some(Hint::None),
                "1" | "" => Some(Hint::Pattern),
                "random" => Some(Hint::Random),
                "sequential" => Some(Hint::Sequential),
                _ => None,
            };
            put(&mut choices.hint, hint)
        }
        "overwrite" => put(&mut choices.overwrite, flag()),
        "create_fsync" => put(&mut choices.create_fsync, flag()),
        "pre_read" => put(&mut choices.pre_read, flag()),
        "create_only" => put(&mut choices.create_only, flag()),
        // One value is a field of the job.
        "filesize" if value.contains('-') => put(
            &mut choices.file_range,
            values::file_range(value, decimal).map(Some),
        ),
        "new_group" => put(&mut choices.new_group, flag()),
        "exitall" => put(&mut choices.exit_all, flag()),
        "norandommap" => put(&mut choices.order.random_map, flag().map(|off| !off)),
        "random_distribution" => put(&mut choices.order.spread, values::spread(value)),
        "percentage_random" => {
            let percent = |text: &str| text.parse::<u8>().ok().filter(|&percent| percent <= 100);
            put(
                &mut choices.order.percent_random,
                by_direction(value, percent),
            )
        }
        "ba" => put(
            &mut choices.order.align,
            narrow().filter(|&bytes| bytes > 0).map(Some),
        ),
        "bs_unaligned" => put(&mut choices.order.unaligned, flag()),
        "rw_sequencer" => {
            let identical = match value {
                "sequential" => Some(false),
                "identical" => Some(true),
                _ => None,
            };
            put(&mut choices.order.identical, identical)
        }
        "bsrange" => put(&mut choices.sizes, values::range(value, decimal).map(Some)),
        "bssplit" => put(&mut choices.sizes, values::split(value, decimal).map(Some)),
        "zonesize" => put(
            &mut parts.zone.0,
            bytes().filter(|&bytes| bytes > 0).map(Some),
        ),
        "zonerange" => put(
            &mut parts.zone.1,
            bytes().filter(|&bytes| bytes > 0).map(Some),
        ),
        "zoneskip" => put(&mut parts.zone.2, bytes()),
        "file_service_type" => put(&mut choices.service, values::service(value)),
        "openfiles" => put(&mut choices.open_files, bytes().map(Some)),
        "offset_increment" => put(&mut choices.offset_increment, bytes()),
        "number_ios" => put(
            &mut choices.most_ios,
            bytes().filter(|&most| most > 0).map(Some),
        ),
        "fallocate" => put(&mut choices.fallocate, fallocate(value)),
        "sync_file_range" => put(&mut choices.range_sync, values::range_sync(value).map(Some)),
        _ => Read::Unknown,
    }
}

fn content_and_pace(
    name: &str,
    value: &str,
    decimal: bool,
    choices: &mut Choices,
    parts: &mut Parts,
) -> Read {
    let flag = || truth(value);
    let bytes = || size(value, decimal);
    let narrow = || bytes().and_then(|bytes| u32::try_from(bytes).ok());
    let percent = || value.parse::<u8>().ok().filter(|&percent| percent <= 100);
    match name {
        "zero_buffers" => put(&mut parts.zero, flag()),
        "refill_buffers" => put(&mut parts.refill, flag()),
        "scramble_buffers" => put(&mut parts.no_scramble, flag().map(|on| !on)),
        "buffer_compress_percentage" => put(&mut parts.compress, percent()),
        "buffer_compress_chunk" => put(
            &mut parts.chunk,
            narrow().filter(|&bytes| bytes > 0).map(Some),
        ),
        "dedupe_percentage" => put(&mut parts.dedupe, percent()),
        "buffer_pattern" => put(&mut parts.pattern, values::pattern(value).map(Some)),
        "verify" => {
            let none = ["0", "none", "off"].contains(&value);
            parts.check = (!none).then(|| value.to_owned());
            Read::Taken
        }
        "verify_pattern" => put(&mut parts.verify_pattern, values::pattern(value).map(Some)),
        "verify_backlog" => put(&mut parts.backlog, narrow()),
        "do_verify" => put(&mut parts.no_verify, flag().map(|on| !on)),
        "iodepth_batch" => put(&mut choices.batch.submit, narrow()),
        "iodepth_batch_complete_min" => put(&mut choices.batch.complete, narrow()),
        "iodepth_batch_complete_max" => put(&mut choices.batch.complete_most, narrow()),
        "iodepth_low" => put(&mut choices.batch.low, narrow()),
        "io_submit_mode" => {
            let mode = match value {
                "inline" => Some(Submission::Inline),
                "offload" => Some(Submission::Offload),
                _ => None,
            };
            put(&mut choices.submission, mode)
        }
        "rate" => put(
            &mut choices.pace.bytes,
            by_direction(value, |text| rate(text, decimal)),
        ),
        "rate_iops" => put(
            &mut choices.pace.ios,
            by_direction(value, |text| rate(text, decimal)),
        ),
        "rate_process" => {
            let poisson = match value {
                "linear" => Some(false),
                "poisson" => Some(true),
                _ => None,
            };
            put(&mut choices.pace.poisson, poisson)
        }
        "thinktime" => put(&mut parts.think.0, time(value, 1000)),
        "thinktime_spin" => put(&mut parts.think.1, time(value, 1000)),
        "thinktime_blocks" => put(&mut parts.think.2, narrow()),
        "steadystate" => put(&mut choices.steady, Steady::parse(value).map(Some)),
        "steadystate_duration" => put(&mut parts.steady.0, time(value, 1_000_000_000)),
        "steadystate_ramp_time" => put(&mut parts.steady.1, time(value, 1_000_000_000)),
        "startdelay" => put(&mut choices.pace.delay_ns, time(value, 1_000_000_000)),
        "sqthread_poll" => put(&mut choices.ring.kernel_thread, flag()),
        "sqthread_poll_cpu" => put(&mut choices.ring.kernel_thread_cpu, narrow().map(Some)),
        "hipri" => put(&mut choices.ring.poll, flag()),
        "uncached" => put(&mut choices.ring.uncached, bytes().map(|number| number > 0)),
        "force_async" => put(
            &mut choices.ring.force_async,
            bytes().map(|every| every > 0),
        ),
        "nowait" => put(&mut choices.ring.nowait, flag()),
        "registerfiles" => put(&mut choices.ring.registered_files, flag()),
        "fixedbufs" => put(&mut choices.ring.registered_buffers, flag()),
        "cpus_allowed" => put(&mut choices.place.cpus, values::cpus(value)),
        "cpumask" => {
            let mask = bytes().filter(|&mask| mask > 0);
            put(
                &mut choices.place.cpus,
                mask.map(|mask| (0..64).filter(|cpu| mask >> cpu & 1 == 1).collect()),
            )
        }
        "cpus_allowed_policy" => put(
            &mut choices.split_cpus,
            ["shared", "split"]
                .iter()
                .position(|known| *known == value)
                .map(|split| split == 1),
        ),
        "nice" => put(
            &mut choices.place.nice,
            value.parse().ok().filter(|nice| (-20..=19).contains(nice)),
        ),
        "prio" => put(
            &mut parts.prio.1,
            value.parse().ok().filter(|&level| level <= 7).map(Some),
        ),
        "prioclass" => put(
            &mut parts.prio.0,
            value.parse().ok().filter(|&class| class <= 3).map(Some),
        ),
        _ => Read::Unknown,
    }
}

/// A rate; empty is none.
fn rate(text: &str, decimal: bool) -> Option<u64> {
    if text.is_empty() {
        Some(0)
    } else {
        size(text, decimal)
    }
}

/// Makes one choice of several values.
fn combine(job: &Job, choices: &mut Choices, parts: Parts, draft: &mut Draft<'_>) {
    choices.content = if parts.zero || parts.compress == 100 {
        Content::Zeros
    } else if let Some(pattern) = parts.pattern {
        Content::Pattern(pattern)
    } else if parts.compress > 0 || parts.dedupe > 0 {
        Content::Mixed {
            compress: parts.compress,
            chunk: parts.chunk.unwrap_or(512),
            dedupe: parts.dedupe,
        }
    } else {
        content(false, parts.refill, !parts.no_scramble)
    };
    // fio looks for no steady state without a duration.
    let (window_ns, ramp_ns) = parts.steady;
    let window_s = u32::try_from(window_ns / 1_000_000_000).unwrap_or(u32::MAX);
    choices.steady = choices
        .steady
        .filter(|_| window_s > 0)
        .map(|steady| Steady {
            window_s,
            ramp_ns,
            ..steady
        });
    let (ns, spin_ns, blocks) = parts.think;
    if ns > 0 {
        let spin_ns = spin_ns.min(ns);
        choices.pace.think = Some(Think {
            ns,
            spin_ns,
            blocks: blocks.max(1),
        });
    }
    let zone_mode = |mode: &str| {
        let mut other = job.other.iter();
        other.any(|(name, value)| name == "zonemode" && value == mode)
    };
    if let (Some(size), range, skip) = parts.zone {
        choices.order.strided = Some(Strided {
            size,
            range: range.unwrap_or(size),
            skip,
        });
        if zone_mode("none") {
            let why = "zonemode=none and zonesize exclude each other, as in fio";
            draft.refuse_about("option-value", "zonemode", why.to_owned());
        } else if !zone_mode("strided") {
            draft.note("zones-without-mode");
        }
    } else if zone_mode("strided") {
        draft.refuse_about(
            "option-value",
            "zonemode",
            "zonemode=strided needs zonesize".to_owned(),
        );
    }
    if parts.prio != (None, None) {
        let (class, level) = parts.prio;
        // fio's default class is best effort, whose middle level is 4.
        choices.place.io_priority = Some((class.unwrap_or(2), level.unwrap_or(4)));
    }
    // fio reads sqthread_poll_cpu without sqthread_poll and makes nothing of it.
    if !choices.ring.kernel_thread {
        choices.ring.kernel_thread_cpu = None;
    }
    let reads_only = job.pattern.is_none_or(|pattern| !pattern.writes());
    // A job that only reads has nothing to check then.
    let idle = |kind: &str| reads_only && (parts.no_verify || kind == "null");
    let Some(kind) = parts.check.filter(|kind| !idle(kind)) else {
        return;
    };
    let check = match (kind.as_str(), &parts.verify_pattern) {
        ("null", _) => Some(Check::Null),
        ("crc32c" | "crc32c-intel", _) => Some(Check::Crc32c),
        ("md5", _) => Some(Check::Md5),
        ("pattern", Some(pattern)) => Some(Check::Pattern(pattern.clone())),
        _ => None,
    };
    let Some(check) = check else {
        let why = format!(
            "verify={kind} is not played; crc32c, md5, null and pattern (with verify_pattern) are, and verify=0 leaves it out{}",
            hint("verify", &kind)
        );
        return draft.refuse_about("option", "verify", why);
    };
    choices.verify_pattern = parts.verify_pattern;
    choices.verify = Some(Verify {
        check,
        backlog: parts.backlog,
        read_back: !parts.no_verify,
    });
}

/// The content that the plain options on buffers ask for.
pub(super) fn content(zero: bool, refill: bool, scramble: bool) -> Content {
    match (zero, refill, scramble) {
        (true, _, _) => Content::Zeros,
        (_, true, _) => Content::Refilled,
        (_, _, true) => Content::Scrambled,
        _ => Content::Fixed,
    }
}

/// fio's values of `fallocate`.
fn fallocate(value: &str) -> Option<Fallocate> {
    match value {
        "native" | "posix" | "1" => Some(Fallocate::Native),
        "keep" => Some(Fallocate::KeepSize),
        "truncate" => Some(Fallocate::Truncate),
        "none" | "0" => Some(Fallocate::None),
        _ => None,
    }
}
