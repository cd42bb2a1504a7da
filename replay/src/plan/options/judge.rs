//! Verdicts on options that are no plain choice: those with conditions, those that change
//! nothing, and those that are refused.

use fio_parse::workload::options::nearest;
use fio_parse::workload::{Job, options};

use super::Choices;
use super::tables::{CARRIED_OUT, ONLY_THE_DEFAULT, PRESENTATION, REFUSED};
use super::values::{size, truth};
use crate::plan::Draft;
use crate::plan::checks::names_device;
use crate::plan::job::{Fallocate, Logs};
use crate::plan::meant::hint;

/// Options whose rule looks at more than the value.
pub(super) fn special(
    job: &Job,
    name: &str,
    value: &str,
    choices: &mut Choices,
    draft: &mut Draft<'_>,
) {
    logs(name, value, &mut choices.logs);
    match name {
        "unlink" | "unlink_each_loop" => draft.note("removed-at-end"),
        "write_bw_log" | "write_lat_log" | "write_iops_log" => draft.note("logs-elsewhere"),
        "rw" => modifier(job, value, choices, draft),
        "io_size" if value.ends_with('%') => match percent(value) {
            Some(percent) => choices.amount_percent = Some(percent),
            None => {
                let why =
                    format!("io_size={value} cannot be read; fio takes shares from 0% to 100%");
                draft.refuse_about("option-value", name, why);
            }
        },
        "bs" | "iodepth" | "numjobs" | "loops" | "runtime" | "ramp_time" | "direct" | "sync"
        | "fsync" | "fdatasync" | "end_fsync" | "rwmixread" | "rwmixwrite" | "stonewall"
        | "io_size" => {
            draft.refuse_about(
                "option-value",
                name,
                format!("{name}={value} cannot be read{}", hint(name, value)),
            );
        }
        "offset" => draft.refuse_about(
            "option-value",
            name,
            format!("offset={value} depends on the original target; give it in bytes"),
        ),
        "size" | "filesize" => size_of_target(job, name, value, choices, draft),
        "create_on_open" if truth(value) == Some(true) => {
            if job.pattern.is_none_or(|pattern| pattern.reads()) {
                draft.refuse_about(
                    "option",
                    name,
                    "create_on_open=1 makes the file when the clock runs, so there is nothing to read".to_owned(),
                );
            } else {
                choices.fallocate = Fallocate::None;
                draft.note("created-before-open");
            }
        }
        "create_on_open" => {}
        "mem" => {
            let kind = value.split(':').next().unwrap_or_default();
            match kind {
                "malloc" | "mmap" | "shm" | "mmapshared" => {}
                "shmhuge" | "mmaphuge" => draft.note_with("small-pages", value.to_owned()),
                _ => draft.refuse_about(
                    "option",
                    name,
                    format!("mem={value} needs a device or is not known"),
                ),
            }
        }
        "hugepage-size" => draft.note_with("small-pages", format!("{name}={value}")),
        "nrfiles" => {}
        _ => judge(name, value, draft),
    }
}

/// A share in whole per cent, up to all.
fn percent(value: &str) -> Option<u8> {
    let digits = value.strip_suffix('%')?.trim();
    digits.parse().ok().filter(|&percent| percent <= 100)
}

/// A `size` or `filesize` that is no number: a share of what the original had.
fn size_of_target(
    job: &Job,
    name: &str,
    value: &str,
    choices: &mut Choices,
    draft: &mut Draft<'_>,
) {
    let Some(percent) = percent(value).filter(|&percent| percent > 0) else {
        let why = format!(
            "{name}={value} cannot be read; expected a whole number below 16 EiB, with k, m, g, t or p behind it or none, \
             or a share such as 50%"
        );
        return draft.refuse_about("option-value", name, why);
    };
    choices.open_size = Some(format!("{name}={value}"));
    let file_known = job.file_bytes.is_some() || draft.target.device.is_some();
    if name == "size" && (file_known || job.unread("filesize").is_some()) {
        choices.size_percent = Some(percent);
    } else if draft.target.size.is_none() {
        let device = if draft.target.device.is_none() && names_device(job) {
            ", or name a device of your own with --device"
        } else {
            ""
        };
        let why = format!(
            "{name}={value} depends on the original target; give a size with --size{device}"
        );
        draft.refuse_about("no-size", name, why);
    }
}

/// `rw=randread:8`, `rw=read:4k`, `rw=write:-8k`.
fn modifier(job: &Job, value: &str, choices: &mut Choices, draft: &mut Draft<'_>) {
    let decimal = false;
    let random = job.pattern.is_some_and(|pattern| pattern.is_random());
    let taken = value.split_once(':').is_some_and(|(_, text)| {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let Some(number) = size(digits, decimal).filter(|&number| number <= 1 << 40) else {
            return false;
        };
        if random {
            choices.order.run = number.clamp(1, u64::from(u32::MAX)) as u32;
            sign > 0 && number > 0
        } else {
            choices.order.gap = sign * number as i64;
            true
        }
    });
    if !taken || job.pattern.is_none() {
        let why = format!(
            "rw={value} is none of read, write, rw, randread, randwrite, randrw, with a number behind a colon or \
             without{}",
            hint("rw", value)
        );
        draft.refuse_about("option-value", "rw", why);
    }
}

/// Takes what an option says of logs.
fn logs(name: &str, value: &str, logs: &mut Logs) {
    let ms = value.parse::<u32>().ok().filter(|&ms| ms > 0);
    match name {
        "write_bw_log" => logs.rate = true,
        "write_iops_log" => logs.iops = true,
        "write_lat_log" => logs.latency = true,
        "log_avg_msec" => logs.average_ms = ms.unwrap_or(0),
        "log_max_value" => logs.largest = truth(value).unwrap_or(true),
        "per_job_logs" => logs.together = truth(value) == Some(false),
        "bwavgtime" => logs.rate_ms = ms,
        "iopsavgtime" => logs.iops_ms = ms,
        _ => {}
    }
}

/// Whether an option changes only what fio prints.
pub(crate) fn is_presentation(name: &str) -> bool {
    PRESENTATION.contains(&name)
}

/// The verdict on options of fio itself: those of a job are judged with the job.
pub(crate) fn judge_program(name: &str, value: &str, writes: bool, draft: &mut Draft<'_>) {
    if name == "readonly" {
        if writes {
            let why = "--readonly forbids the writes that the job asks for".to_owned();
            draft.refuse_about("readonly", name, why);
        }
        return;
    }
    judge(name, value, draft);
}

/// A value for messages: secrets are never repeated.
pub(super) fn shown<'v>(name: &str, value: &'v str) -> &'v str {
    if crate::secret::is_name(name) {
        crate::secret::HIDDEN
    } else {
        value
    }
}

/// The verdict on an option without a rule of its own.
fn judge(name: &str, value: &str, draft: &mut Draft<'_>) {
    let hidden = shown(name, value);
    if is_presentation(name) {
        return draft.note_with("presentation", name.to_owned());
    }
    if CARRIED_OUT.contains(&name) {
        return;
    }
    if let Some((_, values, why)) = ONLY_THE_DEFAULT.iter().find(|(known, ..)| *known == name) {
        if !values.contains(&value) {
            draft.refuse_about("option", name, format!("{name}={hidden} {why}"));
        }
        return;
    }
    if let Some((_, why)) = REFUSED.iter().find(|(known, _)| *known == name) {
        return draft.refuse_about("option", name, format!("{name} {why}"));
    }
    if options::lookup(name, false).option().is_some() {
        let why =
            format!("{name}={hidden} is not supported; leave it out if the test does not need it");
        return draft.refuse_about("option", name, why);
    }
    let hint = nearest(name).map_or(String::new(), |nearest| format!("; did it mean {nearest}?"));
    draft.refuse_about(
        "unknown-option",
        name,
        format!("{name} is no option of fio{hint}"),
    );
}
