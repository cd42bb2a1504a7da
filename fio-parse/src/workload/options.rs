//! The names of fio's options: one table for command lines, job files and the options that fio's JSON repeats.
//!
//! A name is looked up as fio does it: exactly in a job file, by any unique prefix on a command line. Each row
//! holds the spelling, the main name it stands for, what kind of value it takes, and to whom it belongs. Names
//! of fio 1.8 to 3.42 are in it, those of engines too. A name that is not here is kept as it was written.

/// What kind of value an option takes; this decides whether it may stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number, with a suffix where it counts bytes.
    Number,
    /// A time; the unit of a bare number differs from option to option.
    Time,
    /// 0 or 1, which fio wants to be given.
    Bool,
    /// 0 or 1; alone it means 1, and on a command line only `=` ties a value to it.
    Flag,
}

/// To whom an option belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Every job.
    Job,
    /// Jobs of certain engines.
    Engine,
    /// The program: output, debugging, client and server. It can't stand in a job file.
    Program,
}

/// One spelling of one option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioOption {
    /// The spelling.
    pub name: &'static str,
    /// The name that fio itself uses for it.
    pub main: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// To whom it belongs.
    pub scope: Scope,
}

/// What a name was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A name as it stands in the table.
    Exact(&'static FioOption),
    /// A prefix of one option only.
    Prefix(&'static FioOption),
    /// A prefix of several options, whose names these are.
    Ambiguous(Vec<&'static str>),
    /// No option, nor a prefix of one.
    Unknown,
}

impl Found {
    /// The option, if it is one.
    pub fn option(&self) -> Option<&'static FioOption> {
        match self {
            Found::Exact(option) | Found::Prefix(option) => Some(option),
            Found::Ambiguous(_) | Found::Unknown => None,
        }
    }
}

/// Looks `name` up; with `allow_prefix` (a command line) any unique prefix will do.
///
/// Prefixes are compared with the names of jobs and of the program; an engine's names must be written out, for
/// fio knows them only once the engine is loaded.
pub fn lookup(name: &str, allow_prefix: bool) -> Found {
    let start = OPTIONS.partition_point(|option| option.name < name);
    if let Some(option) = OPTIONS.get(start).filter(|option| option.name == name) {
        return Found::Exact(option);
    }
    if !allow_prefix || name.is_empty() {
        return Found::Unknown;
    }
    let matching = || {
        OPTIONS[start..]
            .iter()
            .take_while(|option| option.name.starts_with(name))
            .filter(|option| option.scope != Engine)
    };
    match matching().next() {
        None => Found::Unknown,
        Some(first) if matching().all(|option| option.main == first.main) => Found::Prefix(first),
        Some(_) => Found::Ambiguous(matching().map(|option| option.name).collect()),
    }
}

/// The option that is most like `name`, for a message: at most a third of its letters differ.
pub fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(name, OPTIONS.iter().map(|option| option.name))
}

/// The one of some words in plain letters that is most like `name`, in the same way.
pub fn nearest_of<'n>(name: &str, words: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let letters: Vec<char> = name.chars().take(LONGEST + 1).collect();
    let limit = letters.len() / 3;
    if limit == 0 || letters.len() > LONGEST {
        return None;
    }
    words
        .into_iter()
        // each letter more or less is a difference
        .filter(|word| word.len() <= LONGEST && word.len().abs_diff(letters.len()) <= limit)
        .filter_map(|word| Some((distance(&letters, word.as_bytes(), limit)?, word)))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

/// The longest name that is likened to others, in letters; fio's own are all shorter.
const LONGEST: usize = 63;

/// How many letters must be put in, taken out, replaced, or swapped with their neighbour (optimal string alignment);
/// `None` for none, and for more than `limit`.
fn distance(a: &[char], b: &[u8], limit: usize) -> Option<usize> {
    let mut rows = [[0usize; LONGEST + 1]; 3];
    for (j, start) in rows[0].iter_mut().enumerate() {
        *start = j;
    }
    for i in 1..=a.len() {
        let (row, last, before) = (i % 3, (i + 2) % 3, (i + 1) % 3);
        rows[row][0] = i;
        let mut least = i;
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != char::from(b[j - 1]));
            let mut best = (rows[last][j] + 1)
                .min(rows[row][j - 1] + 1)
                .min(rows[last][j - 1] + differs);
            let swapped = i > 1
                && j > 1
                && a[i - 1] == char::from(b[j - 2])
                && a[i - 2] == char::from(b[j - 1]);
            if swapped {
                best = best.min(rows[before][j - 2] + 1);
            }
            rows[row][j] = best;
            least = least.min(best);
        }
        // a swap reaches back two rows, and costs one
        if least > limit + 1 {
            return None;
        }
    }
    Some(rows[a.len() % 3][b.len()]).filter(|&distance| (1..=limit).contains(&distance))
}

const fn row(name: &'static str, main: &'static str, kind: Kind, scope: Scope) -> FioOption {
    FioOption {
        name,
        main,
        kind,
        scope,
    }
}

use Kind::{Bool, Flag, Number, Text, Time};
use Scope::{Engine, Job, Program};

/// Every spelling, sorted by name.
#[rustfmt::skip]
pub static OPTIONS: &[FioOption] = &[
    row("alloc-size", "alloc-size", Text, Program),
    row("allow_file_create", "allow_file_create", Bool, Job),
    row("allow_mounted_write", "allow_mounted_write", Bool, Job),
    row("allrandrepeat", "allrandrepeat", Bool, Job),
    row("append-terse", "append-terse", Flag, Program),
    row("apptag", "apptag", Number, Engine),
    row("apptag_mask", "apptag_mask", Number, Engine),
    row("arguments", "arguments", Text, Engine),
    row("atomic", "atomic", Bool, Job),
    row("aux-path", "aux-path", Text, Program),
    row("ba", "ba", Number, Job),
    row("bandwidth-log", "bandwidth-log", Flag, Program),
    row("bindname", "bindname", Text, Engine),
    row("block_error_percentiles", "block_error_percentiles", Bool, Job),
    row("blockalign", "ba", Number, Job),
    row("blocksize", "bs", Number, Job),
    row("blocksize_range", "bsrange", Text, Job),
    row("blocksize_unaligned", "bs_unaligned", Flag, Job),
    row("brick", "brick", Text, Engine),
    row("bs", "bs", Number, Job),
    row("bs_unaligned", "bs_unaligned", Flag, Job),
    row("bsrange", "bsrange", Text, Job),
    row("bssplit", "bssplit", Text, Job),
    row("buffer_compress_chunk", "buffer_compress_chunk", Number, Job),
    row("buffer_compress_percentage", "buffer_compress_percentage", Number, Job),
    row("buffer_pattern", "buffer_pattern", Text, Job),
    row("buffered", "buffered", Bool, Job),
    row("busy_poll", "busy_poll", Bool, Engine),
    row("busy_wait_polling", "busy_wait_polling", Flag, Engine),
    row("bwavgtime", "bwavgtime", Number, Job),
    row("cdb_len", "cdb_len", Text, Engine),
    row("cgroup", "cgroup", Text, Job),
    row("cgroup_nodelete", "cgroup_nodelete", Bool, Job),
    row("cgroup_weight", "cgroup_weight", Number, Job),
    row("chunk_size", "chunk_size", Text, Engine),
    row("clat_percentiles", "clat_percentiles", Bool, Job),
    row("client", "client", Text, Program),
    row("clientname", "clientname", Text, Engine),
    row("clocksource", "clocksource", Text, Job),
    row("clustername", "clustername", Text, Engine),
    row("cmd_type", "cmd_type", Text, Engine),
    row("cmdhelp", "cmdhelp", Flag, Program),
    row("cmdprio", "cmdprio", Number, Engine),
    row("cmdprio_bssplit", "cmdprio_bssplit", Text, Engine),
    row("cmdprio_class", "cmdprio_class", Number, Engine),
    row("cmdprio_hint", "cmdprio_hint", Number, Engine),
    row("cmdprio_percentage", "cmdprio_percentage", Number, Engine),
    row("comm", "comm", Text, Job),
    row("conf", "conf", Text, Engine),
    row("cont", "cont", Text, Engine),
    row("continue_on_error", "continue_on_error", Text, Job),
    row("cpuchunks", "cpuchunks", Number, Engine),
    row("cpuclock-test", "cpuclock-test", Flag, Program),
    row("cpuload", "cpuload", Number, Engine),
    row("cpumask", "cpumask", Number, Job),
    row("cpumode", "cpumode", Text, Engine),
    row("cpus_allowed", "cpus_allowed", Text, Job),
    row("cpus_allowed_policy", "cpus_allowed_policy", Text, Job),
    row("crctest", "crctest", Flag, Program),
    row("create_fsync", "create_fsync", Bool, Job),
    row("create_on_open", "create_on_open", Bool, Job),
    row("create_only", "create_only", Bool, Job),
    row("create_serialize", "create_serialize", Bool, Job),
    row("daemonize", "daemonize", Text, Program),
    row("data_placement", "dataplacement", Text, Job),
    row("dataplacement", "dataplacement", Text, Job),
    row("deac", "deac", Bool, Engine),
    row("debug", "debug", Text, Program),
    row("dedupe_global", "dedupe_global", Bool, Job),
    row("dedupe_mode", "dedupe_mode", Text, Job),
    row("dedupe_percentage", "dedupe_percentage", Number, Job),
    row("dedupe_working_set_percentage", "dedupe_working_set_percentage", Number, Job),
    row("description", "description", Text, Job),
    row("direct", "direct", Bool, Job),
    row("direct_write_to_pmem", "direct_write_to_pmem", Flag, Engine),
    row("directory", "directory", Text, Job),
    row("disable_bw", "disable_bw_measurement", Bool, Job),
    row("disable_bw_measurement", "disable_bw_measurement", Bool, Job),
    row("disable_clat", "disable_clat", Bool, Job),
    row("disable_lat", "disable_lat", Bool, Job),
    row("disable_slat", "disable_slat", Bool, Job),
    row("disk_util", "disk_util", Bool, Job),
    row("do_verify", "do_verify", Bool, Job),
    row("donorname", "donorname", Text, Engine),
    row("dp_scheme", "dp_scheme", Text, Job),
    row("end_fsync", "end_fsync", Bool, Job),
    row("end_syncfs", "end_syncfs", Bool, Job),
    row("enghelp", "enghelp", Flag, Program),
    row("error_dump", "error_dump", Bool, Job),
    row("eta", "eta", Text, Program),
    row("eta-interval", "eta-interval", Text, Program),
    row("eta-newline", "eta-newline", Text, Program),
    row("exec_postrun", "exec_postrun", Text, Job),
    row("exec_prerun", "exec_prerun", Text, Job),
    row("exit_on_io_done", "exit_on_io_done", Bool, Engine),
    row("exit_what", "exit_what", Text, Job),
    row("exitall", "exitall", Flag, Job),
    row("exitall_on_error", "exitall_on_error", Flag, Job),
    row("experimental_verify", "experimental_verify", Bool, Job),
    row("fadvise_hint", "fadvise_hint", Text, Job),
    row("fadvise_stream", "fadvise_stream", Number, Job),
    row("fallocate", "fallocate", Text, Job),
    row("fdatasync", "fdatasync", Number, Job),
    row("fdp", "fdp", Bool, Job),
    row("fdp_pli", "plids", Text, Job),
    row("fdp_pli_select", "plid_select", Text, Job),
    row("file_append", "file_append", Bool, Job),
    row("file_service_type", "file_service_type", Text, Job),
    row("filename", "filename", Text, Job),
    row("filename_format", "filename_format", Text, Job),
    row("fileoffset", "offset", Number, Job),
    row("filesize", "filesize", Text, Job),
    row("filetype", "filetype", Text, Job),
    row("fill_device", "fill_device", Bool, Job),
    row("fill_fs", "fill_device", Bool, Job),
    row("fixedbufs", "fixedbufs", Flag, Engine),
    row("flow", "flow", Number, Job),
    row("flow_id", "flow_id", Number, Job),
    row("flow_sleep", "flow_sleep", Number, Job),
    row("force_async", "force_async", Number, Engine),
    row("fsync", "fsync", Number, Job),
    row("fsync_on_close", "fsync_on_close", Bool, Job),
    row("gid", "gid", Number, Job),
    row("grace_time", "grace_time", Number, Engine),
    row("group_reporting", "group_reporting", Flag, Job),
    row("gtod_cpu", "gtod_cpu", Number, Job),
    row("gtod_reduce", "gtod_reduce", Bool, Job),
    row("hdfs_use_direct", "hdfs_use_direct", Text, Engine),
    row("hdfsdirectory", "hdfsdirectory", Text, Engine),
    row("help", "help", Flag, Program),
    row("hipri", "hipri", Flag, Engine),
    row("hipri_percentage", "hipri_percentage", Number, Engine),
    row("hostname", "hostname", Text, Engine),
    row("http_host", "http_host", Text, Engine),
    row("http_mode", "http_mode", Text, Engine),
    row("http_object_mode", "http_object_mode", Text, Engine),
    row("http_pass", "http_pass", Text, Engine),
    row("http_s3_key", "http_s3_key", Text, Engine),
    row("http_s3_keyid", "http_s3_keyid", Text, Engine),
    row("http_s3_region", "http_s3_region", Text, Engine),
    row("http_s3_security_token", "http_s3_security_token", Text, Engine),
    row("http_s3_sse_customer_key", "http_s3_sse_customer_key", Text, Engine),
    row("http_s3_storage_class", "http_s3_storage_class", Text, Engine),
    row("http_swift_auth_token", "http_swift_auth_token", Text, Engine),
    row("http_user", "http_user", Text, Engine),
    row("http_verbose", "http_verbose", Text, Engine),
    row("https", "https", Text, Engine),
    row("hugepage-size", "hugepage-size", Number, Job),
    row("idle-prof", "idle-prof", Text, Program),
    row("ignore_error", "ignore_error", Text, Job),
    row("ignore_zone_limits", "ignore_zone_limits", Bool, Job),
    row("inflate-log", "inflate-log", Text, Program),
    row("inplace", "inplace", Number, Engine),
    row("interface", "interface", Text, Engine),
    row("invalidate", "invalidate", Bool, Job),
    row("io_limit", "io_size", Number, Job),
    row("io_size", "io_size", Number, Job),
    row("io_submit_mode", "io_submit_mode", Text, Job),
    row("iodepth", "iodepth", Number, Job),
    row("iodepth_batch", "iodepth_batch", Number, Job),
    row("iodepth_batch_complete", "iodepth_batch_complete_min", Number, Job),
    row("iodepth_batch_complete_max", "iodepth_batch_complete_max", Number, Job),
    row("iodepth_batch_complete_min", "iodepth_batch_complete_min", Number, Job),
    row("iodepth_batch_submit", "iodepth_batch", Number, Job),
    row("iodepth_low", "iodepth_low", Number, Job),
    row("ioengine", "ioengine", Text, Job),
    row("iomem", "mem", Text, Job),
    row("iopsavgtime", "iopsavgtime", Number, Job),
    row("ioscheduler", "ioscheduler", Text, Job),
    row("job_max_open_zones", "job_max_open_zones", Number, Job),
    row("job_start_clock_id", "job_start_clock_id", Number, Job),
    row("kb_base", "kb_base", Text, Job),
    row("lat_percentiles", "lat_percentiles", Bool, Job),
    row("latency-log", "latency-log", Text, Program),
    row("latency_percentile", "latency_percentile", Text, Job),
    row("latency_run", "latency_run", Bool, Job),
    row("latency_target", "latency_target", Time, Job),
    row("latency_window", "latency_window", Time, Job),
    row("libaio_vectored", "libaio_vectored", Bool, Engine),
    row("libblkio_driver", "libblkio_driver", Text, Engine),
    row("libblkio_num_entries", "libblkio_num_entries", Text, Engine),
    row("libblkio_path", "libblkio_path", Text, Engine),
    row("libblkio_pre_connect_props", "libblkio_pre_connect_props", Text, Engine),
    row("libblkio_pre_start_props", "libblkio_pre_start_props", Text, Engine),
    row("libblkio_queue_size", "libblkio_queue_size", Text, Engine),
    row("libblkio_vectored", "libblkio_vectored", Flag, Engine),
    row("libblkio_wait_mode", "libblkio_wait_mode", Text, Engine),
    row("libblkio_write_zeroes_on_trim", "libblkio_write_zeroes_on_trim", Flag, Engine),
    row("listen", "listen", Flag, Engine),
    row("lockfile", "lockfile", Text, Job),
    row("lockmem", "lockmem", Text, Job),
    row("log_alternate_epoch", "log_alternate_epoch", Bool, Job),
    row("log_alternate_epoch_clock_id", "log_alternate_epoch_clock_id", Number, Job),
    row("log_avg_msec", "log_avg_msec", Number, Job),
    row("log_compression", "log_compression", Number, Job),
    row("log_compression_cpus", "log_compression_cpus", Text, Job),
    row("log_entries", "log_entries", Number, Job),
    row("log_hist_coarseness", "log_hist_coarseness", Number, Job),
    row("log_hist_msec", "log_hist_msec", Number, Job),
    row("log_issue_time", "log_issue_time", Bool, Job),
    row("log_max_value", "log_max_value", Bool, Job),
    row("log_offset", "log_offset", Bool, Job),
    row("log_prio", "log_prio", Bool, Job),
    row("log_store_compressed", "log_store_compressed", Bool, Job),
    row("log_unix_epoch", "log_unix_epoch", Bool, Job),
    row("log_window_value", "log_window_value", Text, Job),
    row("loops", "loops", Number, Job),
    row("max-jobs", "max-jobs", Text, Program),
    row("max_latency", "max_latency", Number, Job),
    row("max_open_zones", "max_open_zones", Number, Job),
    row("md_per_io_size", "md_per_io_size", Number, Engine),
    row("mem", "mem", Text, Job),
    row("memcpytest", "memcpytest", Flag, Program),
    row("merge-blktrace-only", "merge-blktrace-only", Flag, Program),
    row("merge_blktrace_file", "merge_blktrace_file", Text, Job),
    row("merge_blktrace_iters", "merge_blktrace_iters", Text, Job),
    row("merge_blktrace_scalars", "merge_blktrace_scalars", Text, Job),
    row("minimal", "minimal", Flag, Program),
    row("mss", "mss", Number, Engine),
    row("name", "name", Text, Job),
    row("namenode", "namenode", Text, Engine),
    row("new_group", "new_group", Flag, Job),
    row("nice", "nice", Number, Job),
    row("no_completion_thread", "no_completion_thread", Flag, Engine),
    row("nodelay", "nodelay", Bool, Engine),
    row("nonvectored", "nonvectored", Number, Engine),
    row("norandommap", "norandommap", Flag, Job),
    row("nowait", "nowait", Bool, Engine),
    row("nr_files", "nrfiles", Number, Job),
    row("nrfiles", "nrfiles", Number, Job),
    row("num_range", "num_range", Number, Job),
    row("numa_cpu_nodes", "numa_cpu_nodes", Text, Job),
    row("numa_mem_policy", "numa_mem_policy", Text, Job),
    row("number_ios", "number_ios", Text, Job),
    row("numjobs", "numjobs", Number, Job),
    row("object_class", "object_class", Text, Engine),
    row("offset", "offset", Number, Job),
    row("offset_align", "offset_align", Number, Job),
    row("offset_increment", "offset_increment", Number, Job),
    row("opendir", "opendir", Text, Job),
    row("openfiles", "openfiles", Number, Job),
    row("output", "output", Text, Program),
    row("output-format", "output-format", Text, Program),
    row("overwrite", "overwrite", Bool, Job),
    row("parse-only", "parse-only", Flag, Program),
    row("per_job_logs", "per_job_logs", Bool, Job),
    row("percentage_random", "percentage_random", Number, Job),
    row("percentile_list", "percentile_list", Text, Job),
    row("pi_act", "pi_act", Bool, Engine),
    row("pi_chk", "pi_chk", Text, Engine),
    row("pingpong", "pingpong", Flag, Engine),
    row("plid_select", "plid_select", Text, Job),
    row("plids", "plids", Text, Job),
    row("pool", "pool", Text, Engine),
    row("port", "port", Number, Engine),
    row("pre_read", "pre_read", Bool, Job),
    row("prio", "prio", Number, Job),
    row("prioclass", "prioclass", Number, Job),
    row("priohint", "priohint", Number, Job),
    row("profile", "profile", Text, Job),
    row("program", "program", Text, Engine),
    row("proto", "protocol", Text, Engine),
    row("protocol", "protocol", Text, Engine),
    row("ramp_size", "ramp_size", Text, Job),
    row("ramp_time", "ramp_time", Time, Job),
    row("random_distribution", "random_distribution", Text, Job),
    row("random_generator", "random_generator", Text, Job),
    row("random_sequence_stride", "random_sequence_stride", Bool, Job),
    row("randrepeat", "randrepeat", Bool, Job),
    row("randseed", "randseed", Text, Job),
    row("rate", "rate", Number, Job),
    row("rate_cycle", "rate_cycle", Number, Job),
    row("rate_ignore_thinktime", "rate_ignore_thinktime", Bool, Job),
    row("rate_iops", "rate_iops", Number, Job),
    row("rate_iops_min", "rate_iops_min", Number, Job),
    row("rate_min", "rate_min", Number, Job),
    row("rate_process", "rate_process", Text, Job),
    row("ratecycle", "rate_cycle", Number, Job),
    row("ratemin", "rate_min", Number, Job),
    row("rbdname", "rbdname", Text, Engine),
    row("read_beyond_wp", "read_beyond_wp", Bool, Job),
    row("read_iolog", "read_iolog", Text, Job),
    row("read_iolog_chunked", "read_iolog_chunked", Bool, Job),
    row("read_mode", "read_mode", Text, Engine),
    row("readfua", "readfua", Bool, Engine),
    row("readonly", "readonly", Flag, Program),
    row("readwrite", "rw", Text, Job),
    row("recover_zbd_write_error", "recover_zbd_write_error", Bool, Job),
    row("refill_buffers", "refill_buffers", Flag, Job),
    row("registerfiles", "registerfiles", Flag, Engine),
    row("remote-config", "remote-config", Text, Program),
    row("replay_align", "replay_align", Number, Job),
    row("replay_no_stall", "replay_no_stall", Bool, Job),
    row("replay_redirect", "replay_redirect", Text, Job),
    row("replay_scale", "replay_scale", Number, Job),
    row("replay_skip", "replay_skip", Text, Job),
    row("replay_time_scale", "replay_time_scale", Number, Job),
    row("runtime", "runtime", Time, Job),
    row("rw", "rw", Text, Job),
    row("rw_sequencer", "rw_sequencer", Text, Job),
    row("rwmixread", "rwmixread", Number, Job),
    row("rwmixwrite", "rwmixwrite", Number, Job),
    row("scramble_buffers", "scramble_buffers", Bool, Job),
    row("section", "section", Text, Program),
    row("serialize_overlap", "serialize_overlap", Bool, Job),
    row("server", "server", Flag, Program),
    row("serverip", "serverip", Text, Engine),
    row("sg_write_mode", "sg_write_mode", Text, Engine),
    row("showcmd", "showcmd", Flag, Program),
    row("significant_figures", "significant_figures", Number, Job),
    row("single-instance", "single-instance", Bool, Engine),
    row("single_instance", "single_instance", Text, Engine),
    row("size", "size", Number, Job),
    row("skip_bad", "skip_bad", Bool, Engine),
    row("slat_percentiles", "slat_percentiles", Bool, Job),
    row("sprandom", "sprandom", Bool, Job),
    row("sqthread_poll", "sqthread_poll", Flag, Engine),
    row("sqthread_poll_cpu", "sqthread_poll_cpu", Number, Engine),
    row("ss", "steadystate", Text, Job),
    row("ss_dur", "steadystate_duration", Time, Job),
    row("ss_interval", "steadystate_check_interval", Time, Job),
    row("ss_ramp", "steadystate_ramp_time", Time, Job),
    row("startdelay", "startdelay", Time, Job),
    row("stat_type", "stat_type", Text, Engine),
    row("stats", "stats", Bool, Job),
    row("status-interval", "status-interval", Text, Program),
    row("std_redirect", "std_redirect", Bool, Engine),
    row("steadystate", "steadystate", Text, Job),
    row("steadystate_check_interval", "steadystate_check_interval", Time, Job),
    row("steadystate_duration", "steadystate_duration", Time, Job),
    row("steadystate_ramp_time", "steadystate_ramp_time", Time, Job),
    row("stonewall", "stonewall", Flag, Job),
    row("stream", "stream", Number, Job),
    row("stream_id", "stream_id", Number, Engine),
    row("svcl", "svcl", Text, Engine),
    row("sync", "sync", Text, Job),
    row("sync_file_range", "sync_file_range", Text, Job),
    row("terse-version", "terse-version", Number, Program),
    row("thinkcycles", "thinkcycles", Number, Job),
    row("thinktime", "thinktime", Number, Job),
    row("thinktime_blocks", "thinktime_blocks", Number, Job),
    row("thinktime_blocks_type", "thinktime_blocks_type", Text, Job),
    row("thinktime_iotime", "thinktime_iotime", Number, Job),
    row("thinktime_spin", "thinktime_spin", Number, Job),
    row("thp", "thp", Number, Engine),
    row("thread", "thread", Flag, Job),
    row("time_based", "time_based", Flag, Job),
    row("timeout", "runtime", Time, Job),
    row("touch_objects", "touch_objects", Bool, Engine),
    row("trigger", "trigger", Text, Program),
    row("trigger-file", "trigger-file", Text, Program),
    row("trigger-remote", "trigger-remote", Text, Program),
    row("trigger-timeout", "trigger-timeout", Text, Program),
    row("trim_backlog", "trim_backlog", Text, Job),
    row("trim_backlog_batch", "trim_backlog_batch", Number, Job),
    row("trim_percentage", "trim_percentage", Number, Job),
    row("trim_verify_zero", "trim_verify_zero", Bool, Job),
    row("ttl", "ttl", Number, Engine),
    row("uid", "uid", Number, Job),
    row("uncached", "uncached", Number, Engine),
    row("unified_rw_reporting", "unified_rw_reporting", Text, Job),
    row("unique_filename", "unique_filename", Bool, Job),
    row("unit_base", "unit_base", Number, Job),
    row("unlink", "unlink", Bool, Job),
    row("unlink_each_loop", "unlink_each_loop", Bool, Job),
    row("uri", "uri", Text, Engine),
    row("use_os_rand", "use_os_rand", Bool, Job),
    row("userspace_reap", "userspace_reap", Flag, Engine),
    row("verb", "verb", Text, Engine),
    row("verify", "verify", Text, Job),
    row("verify_async", "verify_async", Number, Job),
    row("verify_backlog", "verify_backlog", Text, Job),
    row("verify_backlog_batch", "verify_backlog_batch", Number, Job),
    row("verify_bytchk", "verify_bytchk", Text, Engine),
    row("verify_dump", "verify_dump", Bool, Job),
    row("verify_fatal", "verify_fatal", Bool, Job),
    row("verify_header_seed", "verify_header_seed", Bool, Job),
    row("verify_interval", "verify_interval", Number, Job),
    row("verify_mode", "verify_mode", Text, Engine),
    row("verify_offset", "verify_offset", Number, Job),
    row("verify_only", "verify_only", Flag, Job),
    row("verify_pattern", "verify_pattern", Text, Job),
    row("verify_pattern_interval", "verify_pattern_interval", Number, Job),
    row("verify_policy", "verify_policy", Text, Job),
    row("verify_state_load", "verify_state_load", Bool, Job),
    row("verify_state_save", "verify_state_save", Bool, Job),
    row("verify_write_sequence", "verify_write_sequence", Bool, Job),
    row("version", "version", Flag, Program),
    row("volume", "volume", Text, Engine),
    row("wait_for", "wait_for", Text, Job),
    row("wait_for_previous", "stonewall", Flag, Job),
    row("warnings-fatal", "warnings-fatal", Flag, Program),
    row("window_size", "window_size", Number, Engine),
    row("write_barrier", "write_barrier", Number, Job),
    row("write_bw_log", "write_bw_log", Text, Job),
    row("write_hint", "write_hint", Text, Job),
    row("write_hist_log", "write_hist_log", Text, Job),
    row("write_iolog", "write_iolog", Text, Job),
    row("write_iops_log", "write_iops_log", Text, Job),
    row("write_lat_log", "write_lat_log", Text, Job),
    row("write_mode", "write_mode", Text, Engine),
    row("write_zone_remainder", "write_zone_remainder", Bool, Job),
    row("writefua", "writefua", Bool, Engine),
    row("xnvme_admin", "xnvme_admin", Text, Engine),
    row("xnvme_async", "xnvme_async", Text, Engine),
    row("xnvme_be", "xnvme_be", Text, Engine),
    row("xnvme_dev_nsid", "xnvme_dev_nsid", Text, Engine),
    row("xnvme_dev_subnqn", "xnvme_dev_subnqn", Text, Engine),
    row("xnvme_iovec", "xnvme_iovec", Flag, Engine),
    row("xnvme_mem", "xnvme_mem", Text, Engine),
    row("xnvme_sync", "xnvme_sync", Text, Engine),
    row("zero_buffers", "zero_buffers", Flag, Job),
    row("zone_reset_frequency", "zone_reset_frequency", Text, Job),
    row("zone_reset_threshold", "zone_reset_threshold", Text, Job),
    row("zonecapacity", "zonecapacity", Text, Job),
    row("zonemode", "zonemode", Text, Job),
    row("zonerange", "zonerange", Text, Job),
    row("zonesize", "zonesize", Text, Job),
    row("zoneskip", "zoneskip", Number, Job),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_main_name_is_in_it() {
        assert!(OPTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for option in OPTIONS {
            let Found::Exact(main) = lookup(option.main, false) else {
                panic!("{} is not in the table", option.main);
            };
            assert_eq!(main.main, main.name, "{}", option.name);
        }
    }

    #[test]
    fn names_are_found_as_fio_finds_them() {
        let main = |name, prefix| lookup(name, prefix).option().map(|option| option.main);
        assert_eq!(main("readwrite", false), Some("rw"));
        assert_eq!(main("blocksize", false), Some("bs"));
        assert_eq!(main("timeout", true), Some("runtime"));
        assert_eq!(main("loop", true), Some("loops"));
        assert_eq!(main("group_report", true), Some("group_reporting"));
        assert_eq!(main("readwri", true), Some("rw"));
        assert_eq!(main("loop", false), None);
        assert!(matches!(lookup("tim", true), Found::Ambiguous(_)));
        assert_eq!(lookup("nosuch", true), Found::Unknown);
        assert_eq!(lookup("", true), Found::Unknown);
    }

    #[test]
    fn a_misspelt_name_is_guessed() {
        assert_eq!(nearest("iodpeth"), Some("iodepth"));
        assert_eq!(nearest("numjob"), Some("numjobs"));
        assert_eq!(nearest("filname"), Some("filename"));
        assert_eq!(nearest("zzzzzzzz"), None);
    }
}
