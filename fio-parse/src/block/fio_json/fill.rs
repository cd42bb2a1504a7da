//! From the lexer's keys and values to the structs of a document.
//!
//! Unknown keys are passed over. A key that comes twice counts as it came last, as in most readers; options are
//! all kept.

use super::lexer::Lexer;
use super::{
    DISK_KEYS, Disk, Document, Job, Kind, Latency, Priority, Samples, Side, Start, SteadyState,
    Table, Timestamp, cut_off, is_zero, passed_over,
};
use crate::diagnostic::Diagnostic;
use crate::record::Direction;
use crate::source::Span;

/// The document that starts at `start`, and where it ends.
pub(super) fn document<'t>(
    text: &'t str,
    start: Start<'t>,
    problems: &mut Vec<Diagnostic>,
) -> (Document<'t>, usize) {
    let mut lexer = Lexer::tolerant(text, start.offset, start.margin);
    let mut document = Document::default();
    if matches!(start.kind, Kind::Document | Kind::Job) {
        lexer.take(b'{');
    }
    match start.kind {
        Kind::Document | Kind::DocumentMembers => members(&mut lexer, text, &mut document),
        Kind::Job | Kind::JobMembers => document.jobs.push(job(&mut lexer, start.offset)),
    }
    let end = lexer.broken().unwrap_or(lexer.at());
    document.complete = lexer.broken().is_none();
    document.span = Span::new(start.offset as u32, end as u32);
    problems.extend(lexer.noise.drain(..).map(passed_over));
    if let Some(at) = lexer.broken() {
        problems.push(cut_off(at, text.len()));
    }
    (document, end)
}

fn members<'t>(lexer: &mut Lexer<'t>, text: &'t str, document: &mut Document<'t>) {
    while let Some(key) = lexer.key() {
        match key {
            "fio version" => document.version = lexer.string(),
            "timestamp_ms" => {
                document.timestamp = lexer
                    .number()
                    .map(Timestamp::Milliseconds)
                    .or(document.timestamp);
            }
            "timestamp" if document.timestamp.is_none() => {
                document.timestamp = lexer.number().map(Timestamp::Seconds);
            }
            // one object, or with several clients an array of them
            "global options" => {
                if lexer.peek() == Some(b'[') {
                    lexer.enter_array();
                    while lexer.element() {
                        options(lexer, &mut document.globals);
                    }
                } else {
                    options(lexer, &mut document.globals);
                }
            }
            "jobs" | "client_stats" => {
                if lexer.enter_array() {
                    while lexer.element() {
                        lexer.peek();
                        let at = lexer.at();
                        if lexer.enter_object() {
                            document.jobs.push(job(lexer, at));
                        }
                    }
                }
            }
            "fio-replay" => {
                lexer.peek();
                let start = lexer.at();
                lexer.skip();
                if lexer.broken().is_none() {
                    document.replay = text.get(start..lexer.at());
                }
            }
            "disk_util" => {
                if lexer.enter_array() {
                    while lexer.element() {
                        disk(lexer, &mut document.disks);
                    }
                }
            }
            _ => {
                lexer.skip();
            }
        }
    }
}

fn disk<'t>(lexer: &mut Lexer<'t>, into: &mut Vec<Disk<'t>>) {
    if !lexer.enter_object() {
        return;
    }
    let mut disk = Disk::default();
    while let Some(key) = lexer.key() {
        match DISK_KEYS.iter().position(|name| *name == key) {
            Some(place) => disk.figures[place] = lexer.number(),
            None if key == "name" => disk.name = lexer.string(),
            None => {
                lexer.skip();
            }
        }
    }
    into.push(disk);
}

fn options<'t>(lexer: &mut Lexer<'t>, into: &mut Vec<(&'t str, &'t str)>) {
    if !lexer.enter_object() {
        return;
    }
    while let Some(name) = lexer.key() {
        // numbers and true are what other tools make of fio's strings
        let value = match lexer.peek() {
            Some(b'0'..=b'9' | b'-') => lexer.number(),
            _ => lexer.string(),
        };
        if let Some(value) = value {
            into.push((name, value));
        }
    }
}

/// The members of a job whose opening brace, at `start`, was taken.
fn job<'t>(lexer: &mut Lexer<'t>, start: usize) -> Job<'t> {
    let mut job = Job::default();
    while let Some(key) = lexer.key() {
        match key {
            "jobname" => job.name = lexer.string(),
            "hostname" => job.host = lexer.string(),
            "port" => job.port = lexer.number(),
            "groupid" => job.group = lexer.number(),
            "error" => job.error = lexer.number(),
            "total_err" => job.total_errors = lexer.number(),
            "first_error" => job.first_error = lexer.number(),
            "elapsed" => job.elapsed = lexer.number(),
            "job_start" => job.start = lexer.number(),
            "job options" => options(lexer, &mut job.options),
            "read" => add_side(lexer, &mut job, Direction::Read),
            "write" => add_side(lexer, &mut job, Direction::Write),
            "trim" => add_side(lexer, &mut job, Direction::Trim),
            "mixed" => add_side(lexer, &mut job, Direction::Mixed),
            "sync" => job.sync = sync(lexer),
            "usr_cpu" => job.user_cpu = lexer.number(),
            "sys_cpu" => job.system_cpu = lexer.number(),
            "ctx" => job.context_switches = lexer.number(),
            "majf" => job.major_faults = lexer.number(),
            "minf" => job.minor_faults = lexer.number(),
            "iodepth_level" => shares(lexer, &mut job, Table::Depth),
            "iodepth_submit" => shares(lexer, &mut job, Table::Submit),
            "iodepth_complete" => shares(lexer, &mut job, Table::Complete),
            "latency_ns" => {
                job.nanoseconds = true;
                shares(lexer, &mut job, Table::Nsec);
            }
            "latency_us" => shares(lexer, &mut job, Table::Usec),
            "latency_ms" => shares(lexer, &mut job, Table::Msec),
            "latency_target" => job.latency_target = lexer.number(),
            "latency_window" => job.latency_window = lexer.number(),
            "latency_percentile" => job.latency_percentile = lexer.number(),
            "latency_depth" => job.latency_depth = lexer.number(),
            "steadystate" => job.steady_state = steady_state(lexer),
            _ => {
                lexer.skip();
            }
        }
    }
    job.complete = lexer.broken().is_none();
    let end = lexer.broken().unwrap_or(lexer.at()).max(start);
    job.span = Span::new(start as u32, end as u32);
    job
}

/// The members of a table that are not zero.
fn shares<'t>(lexer: &mut Lexer<'t>, job: &mut Job<'t>, table: Table) {
    job.shares.retain(|(other, ..)| *other != table);
    if !lexer.enter_object() {
        return;
    }
    while let Some(label) = lexer.key() {
        if let Some(share) = lexer.number()
            && !is_zero(Some(share))
        {
            job.shares.push((table, label, share));
        }
    }
    // a table that was cut off would mislead
    if lexer.broken().is_some() {
        job.shares.retain(|(other, ..)| *other != table);
    }
}

fn add_side<'t>(lexer: &mut Lexer<'t>, job: &mut Job<'t>, direction: Direction) {
    let Some(side) = side(lexer) else { return };
    job.sides.retain(|(other, _)| *other != direction);
    job.idle.retain(|(other, _)| *other != direction);
    if side.moved_bytes() {
        job.sides.push((direction, Box::new(side)));
    } else {
        job.unmoved[direction as usize] = side.io_bytes;
        if !is_zero(side.runtime) {
            job.idle.push((direction, Box::new(side)));
        }
    }
}

fn side<'t>(lexer: &mut Lexer<'t>) -> Option<Side<'t>> {
    if !lexer.enter_object() {
        return None;
    }
    let mut side = Side::default();
    while let Some(key) = lexer.key() {
        match key {
            "io_bytes" => side.io_bytes = lexer.number(),
            "io_kbytes" => side.io_kbytes = lexer.number(),
            "bw_bytes" => side.bw_bytes = lexer.number(),
            "bw" => side.bw = lexer.number(),
            "iops" => side.iops = lexer.number(),
            "runtime" => side.runtime = lexer.number(),
            "total_ios" => side.total_ios = lexer.number(),
            "short_ios" => side.short_ios = lexer.number(),
            "drop_ios" => side.drop_ios = lexer.number(),
            // nothing was moved: what follows are zeros
            _ if side.io_bytes == Some("0") => {
                lexer.skip();
                lexer.rest_of_object();
                break;
            }
            "slat_ns" => side.slat = latency(lexer, true),
            "clat_ns" => side.clat = latency(lexer, true),
            "lat_ns" => side.lat = latency(lexer, true),
            "slat" => side.slat = latency(lexer, false),
            "clat" => side.clat = latency(lexer, false),
            "lat" => side.lat = latency(lexer, false),
            "clat_high_prio" => side.priorities.push(by_class(lexer, "high", false)),
            "clat_low_prio" => side.priorities.push(by_class(lexer, "low", false)),
            "lat_high_prio" => side.priorities.push(by_class(lexer, "high", true)),
            "lat_low_prio" => side.priorities.push(by_class(lexer, "low", true)),
            "prios" => {
                if lexer.enter_array() {
                    while lexer.element() {
                        side.priorities.extend(priority(lexer));
                    }
                }
            }
            "bw_min" => side.bw_samples.min = lexer.number(),
            "bw_max" => side.bw_samples.max = lexer.number(),
            "bw_mean" => side.bw_samples.mean = lexer.number(),
            "bw_dev" => side.bw_samples.stddev = lexer.number(),
            "bw_samples" => side.bw_samples.count = lexer.number(),
            "bw_agg" => side.bw_agg = lexer.number(),
            "iops_min" => side.iops_samples.min = lexer.number(),
            "iops_max" => side.iops_samples.max = lexer.number(),
            "iops_mean" => side.iops_samples.mean = lexer.number(),
            "iops_stddev" => side.iops_samples.stddev = lexer.number(),
            "iops_samples" => side.iops_samples.count = lexer.number(),
            _ => {
                lexer.skip();
            }
        }
    }
    side.complete = lexer.broken().is_none();
    Some(side)
}

fn by_class<'t>(lexer: &mut Lexer<'t>, class: &'static str, is_total: bool) -> Priority<'t> {
    Priority {
        class: Some(class),
        is_total,
        // nanoseconds, though the key does not say so
        latency: latency(lexer, true),
        ..Priority::default()
    }
}

fn priority<'t>(lexer: &mut Lexer<'t>) -> Option<Priority<'t>> {
    if !lexer.enter_object() {
        return None;
    }
    let mut found = Priority::default();
    while let Some(key) = lexer.key() {
        match key {
            "prioclass" => found.class = lexer.number(),
            "prio" => found.level = lexer.number(),
            "priohint" => found.hint = lexer.number(),
            "clat_ns" => found.latency = latency(lexer, true),
            "lat_ns" => {
                found.is_total = true;
                found.latency = latency(lexer, true);
            }
            _ => {
                lexer.skip();
            }
        }
    }
    Some(found)
}

fn latency<'t>(lexer: &mut Lexer<'t>, nanoseconds: bool) -> Latency<'t> {
    let mut latency = Latency {
        nanoseconds,
        ..Latency::default()
    };
    if !lexer.enter_object() {
        return latency;
    }
    let stats: &mut Samples<'t> = &mut latency.stats;
    while let Some(key) = lexer.key() {
        match key {
            "min" => stats.min = lexer.number(),
            "max" => stats.max = lexer.number(),
            "mean" => stats.mean = lexer.number(),
            "stddev" => stats.stddev = lexer.number(),
            "N" => stats.count = lexer.number(),
            "percentile" => {
                if lexer.enter_object() {
                    latency.percentiles.reserve(20);
                    while let Some(p) = lexer.key() {
                        // the list is filled up to 20 with zeros up to 3.3
                        match lexer.number() {
                            Some(value) if p != "0.00" => latency.percentiles.push((p, value)),
                            _ => {}
                        }
                    }
                }
            }
            "bins" => {
                if lexer.enter_object() {
                    while let Some(bucket) = lexer.key() {
                        let count = lexer.number();
                        if bucket == "FIO_IO_U_PLAT_NR" {
                            latency.bins_are_indexes = true;
                        }
                        let pair = (bucket.parse(), count.map_or(Ok(0), str::parse));
                        if let (Ok(bucket), Ok(count)) = pair
                            && count > 0
                        {
                            latency.bins.push((bucket, count));
                        }
                    }
                }
                if lexer.broken().is_some() {
                    latency.bins.clear();
                }
            }
            _ => {
                lexer.skip();
            }
        }
    }
    latency
}

fn sync<'t>(lexer: &mut Lexer<'t>) -> Option<Box<(Latency<'t>, Option<&'t str>)>> {
    if !lexer.enter_object() {
        return None;
    }
    let mut found = Box::<(Latency<'t>, Option<&'t str>)>::default();
    while let Some(key) = lexer.key() {
        match key {
            "total_ios" => found.1 = lexer.number(),
            "lat_ns" => found.0 = latency(lexer, true),
            _ => {
                lexer.skip();
            }
        }
    }
    Some(found)
}

fn steady_state<'t>(lexer: &mut Lexer<'t>) -> Option<Box<SteadyState<'t>>> {
    if !lexer.enter_object() {
        return None;
    }
    let mut found = Box::<SteadyState<'t>>::default();
    while let Some(key) = lexer.key() {
        match key {
            "ss" => found.target = lexer.string(),
            "attained" => found.attained = lexer.number(),
            "criterion" => found.criterion = lexer.string(),
            _ => {
                lexer.skip();
            }
        }
    }
    Some(found)
}
