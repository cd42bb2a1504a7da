//! A verdict on every fio option that [`fio_parse::workload::Job`] holds as plain text.
//!
//! Options that change only what fio prints are accepted and noted; options with an effect
//! are carried out or refused by name. None is passed over.

use fio_parse::workload::Job;

use super::Draft;
use super::fio::{content, fallocate};
use super::job::Fallocate;
use crate::content::Content;

/// What the plain-text options of a job come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choices {
    pub invalidate: bool,
    pub hint: bool,
    pub random_map: bool,
    pub content: Content,
    pub fallocate: Fallocate,
    pub overwrite: bool,
    pub new_group: bool,
    /// A size that depends on the target, as written.
    pub open_size: Option<String>,
}

/// Change what fio prints or logs, and nothing else.
const PRESENTATION: &[&str] = &[
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
    "warnings-fatal",
    "max-jobs",
    "aux-path",
    "alloc-size",
    "debug",
    "json_pretty",
    "stats",
];

/// Carried out as they are, or without effect on the I/O of one file per job.
const CARRIED_OUT: &[&str] = &[
    "name",
    "thread",
    "randrepeat",
    "allrandrepeat",
    "randseed",
    "use_os_rand",
    "softrandommap",
    "registerfiles",
    "fixedbufs",
    "nonvectored",
    "userspace_reap",
    "file_service_type",
    "openfiles",
    "filename_format",
    "opendir",
    "create_serialize",
    "iomem_align",
    "mem_align",
    "group_reporting",
    "unique_filename",
];

/// Options whose one value is fio's default, so that saying it changes nothing.
const ONLY_THE_DEFAULT: &[(&str, &[&str])] = &[
    ("random_distribution", &["random"]),
    ("random_generator", &["tausworthe", "tausworthe64", "lfsr"]),
    ("percentage_random", &["100"]),
    ("rw_sequencer", &["sequential"]),
    ("create_fsync", &["1"]),
    ("create_on_open", &["0"]),
    ("create_only", &["0"]),
    ("allow_file_create", &["1"]),
    ("pre_read", &["0"]),
    ("iodepth_batch", &["1"]),
    ("iodepth_batch_submit", &["1"]),
    ("iodepth_batch_complete", &["1"]),
    ("iodepth_batch_complete_min", &["1"]),
    ("iodepth_batch_complete_max", &["1"]),
    ("iodepth_low", &["0"]),
    ("io_submit_mode", &["inline"]),
    ("verify", &["0", "none", "off", "null"]),
    ("do_verify", &["0"]),
    ("verify_fatal", &["0", "1"]),
    ("thinktime", &["0"]),
    ("startdelay", &["0"]),
    ("continue_on_error", &["none"]),
    ("exitall", &["0"]),
    ("exitall_on_error", &["0", "1"]),
    ("zonemode", &["none"]),
    ("mem", &["malloc", "mmap"]),
    ("iomem", &["malloc", "mmap"]),
    ("force_async", &["0"]),
    ("sqthread_poll", &["0"]),
    ("hipri", &["0"]),
    ("nowait", &["0"]),
    ("uncached", &["0"]),
    ("bs_unaligned", &["0"]),
    ("bs_is_seq_rand", &["0"]),
    ("dedupe_percentage", &["0"]),
    ("buffer_compress_percentage", &["0"]),
    ("unified_rw_reporting", &["0", "none"]),
    ("fill_device", &["0"]),
    ("file_append", &["0"]),
    ("lockmem", &["0"]),
    ("time_based", &["0"]),
    ("nice", &["0"]),
];

/// Refused for a reason of their own.
const REFUSED: &[(&str, &str)] = &[
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
    ("write_iolog", "writes a trace file"),
    ("client", "starts the test on other machines"),
    ("server", "waits for other machines"),
    (
        "profile",
        "runs a built-in test that is not described by the command",
    ),
    ("include", "needs another file; give the whole job"),
    ("ioscheduler", "changes a setting of the machine"),
    ("cgroup", "changes settings of the machine"),
    ("uid", "changes the user"),
    ("gid", "changes the group"),
    ("lockmem", "takes memory away from the machine"),
    ("fill_device", "writes until the disk is full"),
    ("trigger-file", "runs programs"),
    ("trigger", "runs programs"),
    ("latency_target", "changes the depth while it runs"),
    ("steadystate", "ends the run by its own measurements"),
];

/// fio's boolean: a bare flag is true.
fn truth(value: &str) -> Option<bool> {
    match value {
        "" | "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

/// Goes through the options of a job.
pub(super) fn read_options(job: &Job, draft: &mut Draft<'_>) -> Choices {
    let mut choices = Choices {
        invalidate: true,
        hint: true,
        random_map: true,
        content: Content::Scrambled,
        fallocate: Fallocate::Native,
        overwrite: false,
        new_group: false,
        open_size: None,
    };
    let (mut zero, mut refill, mut scramble) = (false, false, true);
    for (name, value) in &job.other {
        let (name, value) = (name.as_str(), value.trim());
        let mut flag = |into: &mut bool| match truth(value) {
            Some(truth) => *into = truth,
            None => draft.refuse(
                "option-value",
                format!("{name}={value}: 0 or 1 was expected"),
            ),
        };
        match name {
            "invalidate" => flag(&mut choices.invalidate),
            "fadvise_hint" => flag(&mut choices.hint),
            "overwrite" => flag(&mut choices.overwrite),
            "new_group" => flag(&mut choices.new_group),
            "zero_buffers" => flag(&mut zero),
            "refill_buffers" => flag(&mut refill),
            "scramble_buffers" => flag(&mut scramble),
            "norandommap" => {
                let mut off = true;
                flag(&mut off);
                choices.random_map = !off;
            }
            "unlink" | "unlink_each_loop" => draft.note("removed-at-end"),
            "size" | "filesize" => {
                choices.open_size = Some(format!("{name}={value}"));
                if name == "size" && job.size_bytes.is_none() && draft.target.size.is_none() {
                    draft.refuse(
                        "no-size",
                        format!(
                            "size={value} depends on the original target; give a size with --size"
                        ),
                    );
                }
            }
            "readonly" => {
                if job.pattern.is_some_and(|pattern| pattern.writes()) {
                    draft.refuse(
                        "readonly",
                        "--readonly forbids the writes that the job asks for".to_owned(),
                    );
                }
            }
            "fallocate" => match fallocate(value) {
                Some(mode) => choices.fallocate = mode,
                None => draft.refuse("option-value", format!("fallocate={value} is not known")),
            },
            "nrfiles" if value == "1" => {}
            _ => judge(name, value, draft),
        }
    }
    if job.nrfiles.is_some_and(|files| files > 1) && job.filename.is_none() {
        let files = job.nrfiles.unwrap_or(1);
        draft.refuse(
            "several-files",
            format!("nrfiles={files}: one file a job is supported yet"),
        );
    }
    choices.content = content(zero, refill, scramble);
    choices
}

/// Whether an option changes only what fio prints.
pub(super) fn is_presentation(name: &str) -> bool {
    PRESENTATION.contains(&name)
}

/// The verdict on an option without a rule of its own.
fn judge(name: &str, value: &str, draft: &mut Draft<'_>) {
    if is_presentation(name) {
        draft.note_with("presentation", name.to_owned());
    } else if CARRIED_OUT.contains(&name)
        || ONLY_THE_DEFAULT
            .iter()
            .any(|(known, values)| *known == name && values.contains(&value))
    {
    } else if value.contains('$') {
        draft.refuse(
            "missing-values",
            format!("{name}={value} leaves a value open; write it into the command"),
        );
    } else if let Some((_, why)) = REFUSED.iter().find(|(known, _)| *known == name) {
        draft.refuse("option", format!("{name} {why}"));
    } else {
        draft.refuse(
            "option",
            format!("{name}={value} is not supported yet, or not known to fio"),
        );
    }
}
