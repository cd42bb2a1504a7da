//! A plan as a fio job file: what fio would have to be told to do the same on this machine.
//!
//! All options that matter are written out, also those with fio's default, so that no
//! version's default changes the test. Names of files are fio's own or plain numbers: the
//! names of the original are labels and stay out.

use std::fmt::Write;

use crate::content::Content;
use crate::plan::fio::FioPlan;
use crate::plan::job::{
    Check, EngineKind, Fallocate, JobPlan, Service, Sizes, Spread, SteadyMetric,
};

/// The plan as a job file.
pub fn fio(plan: &FioPlan) -> String {
    let mut text =
        String::from("; what fio-replay does, for fio 3.x; run it in a directory of its own\n");
    let mut last: Option<&JobPlan> = None;
    for job in plan.jobs.iter().filter(|job| job.clone == 0) {
        // A name may hold what ends a section's header or starts a comment.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_. ".contains(c);
        let name: String = job
            .name
            .chars()
            .map(|c| if plain(c) { c } else { '_' })
            .collect();
        let name = if name.is_empty() || name.starts_with("global") {
            format!("job-{name}")
        } else {
            name
        };
        let _ = writeln!(text, "\n[{name}]");
        for (option, value) in options(plan, job) {
            let _ = writeln!(text, "{option}={value}");
        }
        if let Some(last) = last {
            if last.stage != job.stage {
                text += "stonewall\n";
            } else if last.group != job.group {
                text += "new_group\n";
            }
        }
        if job.group_reporting {
            text += "group_reporting\n";
        }
        last = Some(job);
    }
    text
}

/// The options of a job that differ from fio's defaults. In a result they stand for what was
/// asked, so that a default is not taken for a wish; block size, depth and clones, which tools
/// that read fio's JSON look up there (fio-plot), are always told.
pub fn asked(plan: &FioPlan, job: &JobPlan) -> Vec<(&'static str, String)> {
    let order = if job.pattern.random {
        "random"
    } else {
        "sequential"
    };
    let defaults = [
        ("direct", "0"),
        ("time_based", "0"),
        ("invalidate", "1"),
        ("fadvise_hint", order),
        ("fallocate", "native"),
        ("overwrite", "0"),
        ("create_fsync", "1"),
        ("norandommap", "0"),
    ];
    let mut options = options(plan, job);
    options.retain(|(name, value)| !defaults.contains(&(name, value.as_str())));
    options
}

/// The options of a job, by fio's names, in a fixed order; flags without a value are left to
/// [`fio`].
pub fn options(plan: &FioPlan, job: &JobPlan) -> Vec<(&'static str, String)> {
    let mut list: Vec<(&'static str, String)> = Vec::new();
    let mut put = |name, value: String| list.push((name, value));
    let flag = |on: bool| u8::from(on).to_string();
    let clones: Vec<&JobPlan> = plan
        .jobs
        .iter()
        .filter(|other| other.section == job.section)
        .collect();
    put("rw", pattern(job));
    match &job.sizes {
        [Sizes::One(read), Sizes::One(write)] if read == write => put("bs", read.to_string()),
        [Sizes::One(read), Sizes::One(write)] => put("bs", format!("{read},{write}")),
        [Sizes::Split(_), _] | [_, Sizes::Split(_)] => put(
            "bssplit",
            format!("{},{}", split(&job.sizes[0]), split(&job.sizes[1])),
        ),
        [read, write] => put("bsrange", format!("{},{}", read.range(), write.range())),
    }
    put(
        "ioengine",
        match job.engine {
            EngineKind::Sync if job.ring.flags_ios() => "pvsync2".to_owned(),
            EngineKind::Offload => "psync".to_owned(),
            // fio puts syncs into io_uring's queue, and before 3.38 too many of them.
            EngineKind::Uring if job.asked_engine == "libaio" && !job.syncs.queued => {
                "libaio".to_owned()
            }
            engine => engine.name().to_owned(),
        },
    );
    if job.engine == EngineKind::Offload {
        put("io_submit_mode", "offload".to_owned());
    }
    put("iodepth", job.depth.to_string());
    put("numjobs", clones.len().to_string());
    put("size", job.all_regions().to_string());
    let file = plan.files.get(job.files[0]);
    let drawn = || job.drawn_regions.iter().map(|region| job.offset + region);
    match (drawn().min(), drawn().max(), file) {
        // fio draws other sizes between the same two.
        (Some(least), Some(most), _) => put("filesize", format!("{least}-{most}")),
        // Regions that end where their files end; else the file is as large as offset and size.
        (_, _, Some(file)) if clones.iter().any(|clone| clone.region != job.region) => {
            put("filesize", file.bytes.to_string());
        }
        _ => {}
    }
    if job.create_only {
        put("create_only", flag(true));
    }
    let shared = clones.len() > 1 && clones[1].files == clones[0].files;
    let elsewhere = plan
        .jobs
        .iter()
        .any(|other| other.section != job.section && other.files == job.files);
    if shared || elsewhere {
        let names = job.files.iter().filter_map(|&file| plan.files.get(file));
        put(
            "filename",
            names
                .map(|file| file.name.as_str())
                .collect::<Vec<_>>()
                .join(":"),
        );
    } else if job.files.len() > 1 {
        put("nrfiles", job.files.len().to_string());
    }
    if job.files.len() > 1 {
        put("openfiles", job.open_files.to_string());
        put(
            "file_service_type",
            match job.service {
                Service::RoundRobin(each) => format!("roundrobin:{each}"),
                Service::Random(each) => format!("random:{each}"),
                Service::Sequential => "sequential".to_owned(),
            },
        );
    }
    put("direct", flag(job.direct));
    for (name, value) in [
        ("offset", job.offset),
        ("io_size", job.io_size.unwrap_or(0)),
        ("number_ios", job.most_ios.unwrap_or(0)),
    ] {
        if value > 0 {
            put(name, value.to_string());
        }
    }
    if let Some(second) = clones.get(1).filter(|second| second.offset > job.offset) {
        put("offset_increment", (second.offset - job.offset).to_string());
    }
    if job.loops > 1 {
        put("loops", job.loops.to_string());
    }
    for (name, ns) in [
        ("runtime", job.runtime_ns.unwrap_or(0)),
        ("ramp_time", job.ramp_ns),
        ("startdelay", job.pace.delay_ns),
    ] {
        if ns > 0 {
            put(
                name,
                match (ns / 1_000_000_000, ns % 1_000_000_000) {
                    (seconds, 0) => seconds.to_string(),
                    _ => format!("{}us", ns / 1000),
                },
            );
        }
    }
    put("time_based", flag(job.time_based));
    if job.pattern.mixed() {
        put("rwmixread", job.mix_read.to_string());
    }
    durability(job, &mut put);
    put("invalidate", flag(job.invalidate));
    put(
        "fadvise_hint",
        match job.hint {
            None => "0".to_owned(),
            Some(true) => "random".to_owned(),
            Some(false) => "sequential".to_owned(),
        },
    );
    if let Some(file) = file {
        put(
            "fallocate",
            match file.fallocate {
                Fallocate::Native => "native",
                Fallocate::KeepSize => "keep",
                Fallocate::Truncate => "truncate",
                Fallocate::None => "none",
            }
            .to_owned(),
        );
        if !job.pattern.reads {
            put("overwrite", flag(file.written_in.is_some()));
        }
        put("create_fsync", flag(file.sync));
        if file.pre_read {
            put("pre_read", flag(true));
        }
    }
    order(job, &mut put);
    pace(job, &mut put);
    content(job, &mut put);
    list
}

fn pattern(job: &JobPlan) -> String {
    let name = job.pattern.name();
    match (job.order.run, job.order.gap) {
        (2.., _) => format!("{name}:{}", job.order.run),
        (_, 0) => name.to_owned(),
        (_, gap) => format!("{name}:{gap}"),
    }
}

fn split(sizes: &Sizes) -> String {
    match sizes {
        Sizes::Split(parts) => parts
            .iter()
            .map(|(bytes, share)| format!("{bytes}/{share}"))
            .collect::<Vec<_>>()
            .join(":"),
        sizes => format!("{}/100", sizes.largest()),
    }
}

fn durability(job: &JobPlan, put: &mut impl FnMut(&'static str, String)) {
    match (job.sync, job.dsync) {
        (true, _) => put("sync", "sync".to_owned()),
        (_, true) => put("sync", "dsync".to_owned()),
        _ => {}
    }
    for (name, every) in [
        ("fsync", job.syncs.fsync_every),
        ("fdatasync", job.syncs.fdatasync_every),
    ] {
        if every > 0 {
            put(name, every.to_string());
        }
    }
    for (name, on) in [
        ("end_fsync", job.syncs.end_fsync),
        ("fsync_on_close", job.syncs.on_close),
    ] {
        if on {
            put(name, "1".to_owned());
        }
    }
    if let Some(sync) = job.range_sync {
        let ways = [(1, "wait_before"), (2, "write"), (4, "wait_after")];
        let ways: Vec<&str> = ways
            .iter()
            .filter(|(bit, _)| sync.flags & bit != 0)
            .map(|(_, way)| *way)
            .collect();
        put(
            "sync_file_range",
            format!("{}:{}", ways.join(","), sync.every),
        );
    }
}

fn order(job: &JobPlan, put: &mut impl FnMut(&'static str, String)) {
    let order = &job.order;
    if job.pattern.random {
        put("norandommap", u8::from(!order.random_map).to_string());
        let spread = match &order.spread {
            Spread::Even => None,
            Spread::Zipf(theta) => Some(format!("zipf:{theta}")),
            Spread::Pareto(h) => Some(format!("pareto:{h}")),
            Spread::Normal(width) => Some(format!("normal:{width}")),
            Spread::Zoned(parts) => {
                let parts = parts
                    .iter()
                    .map(|(access, size)| format!("{access}/{size}"));
                Some(format!("zoned:{}", parts.collect::<Vec<_>>().join(":")))
            }
        };
        if let Some(spread) = spread {
            put("random_distribution", spread);
        }
        if order.percent_random != [100; 2] {
            let [read, write] = order.percent_random;
            put("percentage_random", format!("{read},{write}"));
        }
    }
    if let Some(align) = order.align {
        put("blockalign", align.to_string());
    }
    if order.unaligned {
        put("bs_unaligned", "1".to_owned());
    }
    if order.identical {
        put("rw_sequencer", "identical".to_owned());
    }
    if let Some(zones) = order.strided {
        put("zonemode", "strided".to_owned());
        for (name, value) in [
            ("zonesize", zones.size),
            ("zonerange", zones.range),
            ("zoneskip", zones.skip),
        ] {
            put(name, value.to_string());
        }
    }
}

fn pace(job: &JobPlan, put: &mut impl FnMut(&'static str, String)) {
    let batch = job.batch;
    for (name, value) in [
        ("iodepth_batch", batch.submit),
        ("iodepth_batch_complete_min", batch.complete),
        ("iodepth_batch_complete_max", batch.complete_most),
        ("iodepth_low", batch.low),
    ] {
        if value > 0 {
            put(name, value.to_string());
        }
    }
    for (name, [read, write]) in [("rate", job.pace.bytes), ("rate_iops", job.pace.ios)] {
        if read + write > 0 {
            put(name, format!("{read},{write}"));
        }
    }
    let ring = job.ring;
    for (name, on) in [
        ("sqthread_poll", ring.kernel_thread),
        ("force_async", ring.force_async),
        ("registerfiles", ring.registered_files),
        ("fixedbufs", ring.registered_buffers),
    ] {
        if on && job.engine == EngineKind::Uring {
            put(name, "1".to_owned());
        }
    }
    if let Some(steady) = job.steady {
        let metric = match steady.metric {
            SteadyMetric::Rate => "bw",
            SteadyMetric::Ios => "iops",
        };
        let slope = if steady.slope { "_slope" } else { "" };
        let percent = if steady.percent { "%" } else { "" };
        put(
            "steadystate",
            format!("{metric}{slope}:{}{percent}", steady.limit),
        );
        put("steadystate_duration", format!("{}s", steady.window_s));
        if steady.ramp_ns > 0 {
            put(
                "steadystate_ramp_time",
                format!("{}us", steady.ramp_ns / 1000),
            );
        }
    }
    for (name, on) in [
        ("hipri", ring.poll),
        ("uncached", ring.uncached),
        ("nowait", ring.nowait),
    ] {
        if on && matches!(job.engine, EngineKind::Uring | EngineKind::Sync) {
            put(name, "1".to_owned());
        }
    }
    if let Some(cpu) = ring
        .kernel_thread_cpu
        .filter(|_| job.engine == EngineKind::Uring)
    {
        put("sqthread_poll_cpu", cpu.to_string());
    }
    if job.pace.poisson {
        put("rate_process", "poisson".to_owned());
    }
    if let Some(think) = job.pace.think {
        put("thinktime", (think.ns / 1000).to_string());
        put("thinktime_spin", (think.spin_ns / 1000).to_string());
        put("thinktime_blocks", think.blocks.to_string());
    }
    if !job.place.cpus.is_empty() {
        let cpus: Vec<String> = job.place.cpus.iter().map(u32::to_string).collect();
        put("cpus_allowed", cpus.join(","));
    }
    if job.place.nice != 0 {
        put("nice", job.place.nice.to_string());
    }
    if let Some((class, level)) = job.place.io_priority {
        put("prioclass", class.to_string());
        put("prio", level.to_string());
    }
    if job.exit_all {
        put("exitall", "1".to_owned());
    }
}

fn content(job: &JobPlan, put: &mut impl FnMut(&'static str, String)) {
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
    };
    match &job.content {
        // These fill by themselves, and fio would fill twice.
        Content::Pattern(bytes) if job.verify.is_some() => put("verify_pattern", hex(bytes)),
        _ if job.verify.is_some() => {}
        Content::Scrambled => {}
        Content::Fixed => put("scramble_buffers", "0".to_owned()),
        Content::Refilled => put("refill_buffers", "1".to_owned()),
        Content::Zeros => put("zero_buffers", "1".to_owned()),
        Content::Pattern(bytes) => put("buffer_pattern", hex(bytes)),
        Content::Mixed {
            compress,
            chunk,
            dedupe,
        } => {
            put("buffer_compress_percentage", compress.to_string());
            put("buffer_compress_chunk", chunk.to_string());
            put("dedupe_percentage", dedupe.to_string());
        }
    }
    if let Some(verify) = &job.verify {
        put(
            "verify",
            match verify.check {
                Check::Crc32c => "crc32c",
                Check::Md5 => "md5",
                Check::Pattern(_) => "pattern",
                Check::Null => "null",
            }
            .to_owned(),
        );
        if !verify.read_back {
            put("do_verify", "0".to_owned());
        }
        if verify.backlog > 0 {
            put("verify_backlog", verify.backlog.to_string());
        }
        put("verify_state_save", "0".to_owned());
    }
}
