//! The options without a rule of their own: what changes nothing, and what is refused.

/// Change what fio prints or logs, and nothing else.
pub(super) const PRESENTATION: &[&str] = &[
    "output",
    "output-format",
    "eta",
    "eta-newline",
    "eta-interval",
    "minimal",
    "status-interval",
    "append-terse",
    "terse-version",
    "bandwidth-log",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "gtod_reduce",
    "gtod_cpu",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw",
    "disable_bw_measurement",
    "clocksource",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_avg_msec",
    "log_hist_msec",
    "log_hist_coarseness",
    "log_max_value",
    "log_offset",
    "log_compression",
    "log_store_compressed",
    "log_unix_epoch",
    "log_entries",
    "log_window_value",
    "per_job_logs",
    "bwavgtime",
    "iopsavgtime",
    "description",
    "kb_base",
    "unit_base",
    "significant_figures",
    "disk_util",
    "max-jobs",
    "aux-path",
    "alloc-size",
    "debug",
    "json_pretty",
    "verify_fatal",
    "verify_dump",
    "verify_state_save",
    "verify_async_cpus",
    "error_dump",
    "exitall_on_error",
    "rate_cycle",
    "log_prio",
    "log_issue_time",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "log_compression_cpus",
    "warnings-fatal",
];

/// Without effect on the I/O, or what this program does anyway.
pub(super) const CARRIED_OUT: &[&str] = &[
    "name",
    "thread",
    "randrepeat",
    "allrandrepeat",
    "randseed",
    "use_os_rand",
    "softrandommap",
    "nonvectored",
    "libaio_vectored",
    "userspace_reap",
    "filename_format",
    "create_serialize",
    "iomem_align",
    "mem_align",
    "group_reporting",
    "unique_filename",
    "verify_async",
    "verify_backlog_batch",
    "verifysort",
    "verifysort_nr",
    "experimental_verify",
    "offset_align",
    "fsync_on_close",
    "random_generator",
    "buffered",
];

/// Options whose listed values are fio's defaults or come to the same, so that saying them
/// changes nothing; with what any other value would mean.
pub(super) const ONLY_THE_DEFAULT: &[(&str, &[&str], &str)] = &[
    (
        "allow_file_create",
        &["1"],
        "works on a file that is there already, and none is ever touched",
    ),
    (
        "zonemode",
        &["none", "strided"],
        "needs a zoned block device",
    ),
    (
        "thinktime_iotime",
        &["0"],
        "pauses by time; thinktime_blocks pauses by I/Os",
    ),
    (
        "thinktime_blocks_type",
        &["complete", "issue"],
        "is not known",
    ),
    (
        "rate_ignore_thinktime",
        &["0"],
        "takes pauses out of the rate",
    ),
    (
        "continue_on_error",
        &["none"],
        "goes on after errors, whose figures mean nothing",
    ),
    (
        "ignore_error",
        &["0", "none", ""],
        "goes on after errors, whose figures mean nothing",
    ),
    ("serialize_overlap", &["0"], "orders overlapping I/Os"),
    (
        "bs_is_seq_rand",
        &["0"],
        "gives block sizes by order instead of direction",
    ),
    (
        "unified_rw_reporting",
        &["0", "none"],
        "adds reads and writes together",
    ),
    (
        "fill_device",
        &["0"],
        "writes until the disk is full; give a size",
    ),
    (
        "file_append",
        &["0"],
        "appends to a file that is there already, and none is ever touched",
    ),
    ("lockmem", &["0"], "takes memory away from the machine"),
    ("time_based", &["0"], "expects 0 or 1"),
    ("verify_offset", &["0"], "moves the header inside a block"),
    (
        "verify_only",
        &["0"],
        "checks what an earlier run wrote, and that is not there",
    ),
    (
        "verify_state_load",
        &["0"],
        "checks what an earlier run wrote, and that is not there",
    ),
    (
        "verify_interval",
        &["0"],
        "puts several headers into a block",
    ),
    (
        "numa_cpu_nodes",
        &["0"],
        "binds the job to NUMA nodes; start fio-replay under numactl instead",
    ),
    (
        "numa_mem_policy",
        &["default", "local", "bind:0", "prefer:0", "interleave:0"],
        "binds memory to NUMA nodes; start fio-replay under numactl instead",
    ),
    ("trim_percentage", &["0"], "trims, which files cannot"),
    ("trim_verify_zero", &["0"], "trims, which files cannot"),
    ("trim_backlog", &["0"], "trims, which files cannot"),
    (
        "dedupe_mode",
        &["repeat"],
        "repeats blocks of a working set; dedupe_mode=repeat is played",
    ),
    (
        "dedupe_global",
        &["0"],
        "shares repeated blocks between jobs",
    ),
    (
        "write_hint",
        &["none", "not_set"],
        "hints at the lifetime of data",
    ),
    ("rate_min", &["0"], "ends the test when it is too slow"),
    ("rate_iops_min", &["0"], "ends the test when it is too slow"),
    ("max_latency", &["0"], "ends the test at a slow I/O"),
    ("flow", &["0"], "ties the rates of jobs together"),
    ("write_barrier", &["0"], "is not known to any current fio"),
    ("sprandom", &["0"], "prepares an SSD"),
    ("random_sequence_stride", &["0"], "reads a table of strides"),
];

/// Refused whatever the value, with the reason.
pub(super) const REFUSED: &[(&str, &str)] = &[
    (
        "exec_prerun",
        "runs programs; nothing in a command is ever executed",
    ),
    (
        "exec_postrun",
        "runs programs; nothing in a command is ever executed",
    ),
    (
        "read_iolog",
        "replays a trace file, which is another kind of test",
    ),
    (
        "replay_redirect",
        "replays a trace file, which is another kind of test",
    ),
    (
        "merge_blktrace_file",
        "replays trace files, which is another kind of test",
    ),
    ("write_iolog", "writes a trace file"),
    (
        "client",
        "starts the test on other machines; run fio-replay there",
    ),
    ("server", "waits for other machines; run fio-replay there"),
    ("remote-config", "reads a file of another machine"),
    ("daemonize", "leaves a process behind"),
    (
        "profile",
        "runs a built-in test that the command does not describe",
    ),
    (
        "section",
        "selects jobs of a file; give a file with these jobs alone",
    ),
    (
        "include",
        "needs another file; give the whole job, or both files as inputs",
    ),
    (
        "idle-prof",
        "keeps all CPUs busy beside the test to see how idle they were; leave it out",
    ),
    ("ioscheduler", "changes a setting of the machine"),
    ("cgroup", "changes settings of the machine"),
    ("cgroup_weight", "changes settings of the machine"),
    ("cgroup_nodelete", "changes settings of the machine"),
    ("uid", "changes the user; start fio-replay as that user"),
    ("gid", "changes the group; start fio-replay with that group"),
    ("trigger-file", "runs programs"),
    ("trigger", "runs programs"),
    ("trigger-timeout", "runs programs"),
    ("trigger-remote", "runs programs"),
    (
        "latency_target",
        "changes the depth while it runs; give the depth that it found",
    ),
    (
        "latency_window",
        "belongs to latency_target, which changes the depth while it runs",
    ),
    (
        "latency_percentile",
        "belongs to latency_target, which changes the depth while it runs",
    ),
    (
        "latency_run",
        "belongs to latency_target, which changes the depth while it runs",
    ),
    (
        "wait_for",
        "starts a job after another; stonewall does that too",
    ),
    (
        "opendir",
        "works on whatever files stand in a folder, and none that a text names is opened",
    ),
    ("lockfile", "locks files against other jobs"),
    ("clientname", "needs a server on the network"),
    ("cmdhelp", "prints help and runs nothing"),
    ("enghelp", "prints help and runs nothing"),
    ("help", "prints help and runs nothing"),
    ("version", "prints the version and runs nothing"),
    ("parse-only", "reads the command and runs nothing"),
    ("showcmd", "prints the command and runs nothing"),
    ("crctest", "measures the CPU, not a disk"),
    ("memcpytest", "measures memory, not a disk"),
    ("cpuclock-test", "measures the CPU, not a disk"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use fio_parse::workload::options::{Found, lookup};

    #[test]
    fn each_option_stands_in_one_table_only() {
        let mut seen = std::collections::HashSet::new();
        let all = PRESENTATION
            .iter()
            .chain(CARRIED_OUT)
            .chain(ONLY_THE_DEFAULT.iter().map(|(name, ..)| name))
            .chain(REFUSED.iter().map(|(name, _)| name));
        for name in all {
            assert!(seen.insert(name), "{name} twice");
        }
        let known = seen
            .iter()
            .filter(|name| matches!(lookup(name, false), Found::Exact(_)));
        assert!(
            known.count() * 10 > seen.len() * 9,
            "most names are fio's main names"
        );
    }
}
