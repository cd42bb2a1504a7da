//! The files of a job: made from numbers, shared where the text names the same.

use std::collections::BTreeMap;

use fio_parse::workload::Job;

use super::Draft;
use super::fio::FioPlan;
use super::job::FilePlan;
use super::options::Choices;

/// The files of one clone: those it names, which others may share, or its own.
pub(super) fn target_files(
    job: &Job,
    section: usize,
    clone: u32,
    choices: &Choices,
    plan: &mut FioPlan,
    by_name: &mut BTreeMap<(String, String), usize>,
    draft: &Draft<'_>,
) -> Vec<usize> {
    if draft.target.device.is_some() {
        if plan.files.is_empty() {
            plan.files.push(FilePlan {
                name: crate::device::NAME.to_owned(),
                label: "--device".to_owned(),
                bytes: 0,
                written_in: None,
                fallocate: choices.fallocate,
                sync: true,
                pre_read: false,
                device: true,
            });
        }
        return vec![0];
    }
    let prefix = &draft.target.name_prefix;
    let labels: Vec<String> = match &job.filename {
        Some(filename) => named_files(filename),
        None => (0..job.nrfiles.unwrap_or(1).max(1))
            .map(|file| format!("{}.{clone}.{file}", job.name))
            .collect(),
    };
    let many = labels.len() > 1;
    let mut files = Vec::with_capacity(labels.len());
    for (number, label) in labels.into_iter().enumerate() {
        let mut name = match job.filename {
            Some(_) => format!("{prefix}shared.{section}"),
            None => format!("{prefix}{section}.{clone}"),
        };
        if many {
            name = format!("{name}.{number}");
        }
        // fio puts the directory before the name, so the same name in two of them is two files.
        let place = (job.directory.clone().unwrap_or_default(), label.clone());
        let file = *by_name.entry(place).or_insert_with(|| {
            plan.files.push(FilePlan {
                name,
                label,
                bytes: 0,
                written_in: None,
                fallocate: choices.fallocate,
                sync: true,
                pre_read: false,
                device: false,
            });
            plan.files.len() - 1
        });
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// The names in `filename=a:b`: `\:` is a colon of the name, a drive's colon separates nothing.
pub(super) fn named_files(filename: &str) -> Vec<String> {
    let drive = filename.as_bytes().get(1) == Some(&b':')
        && filename.as_bytes()[0].is_ascii_alphabetic()
        && filename[2..].starts_with(['\\', '/'])
        // On Linux this is a list with a device in it, and no path of Windows.
        && !filename[2..].starts_with("/dev/");
    if drive || filename.starts_with("\\\\") {
        return vec![filename.to_owned()];
    }
    let mut names = vec![String::new()];
    let mut chars = filename.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&':') => {
                chars.next();
                names.last_mut().expect("there is a name").push(':');
            }
            ':' => names.push(String::new()),
            c => names.last_mut().expect("there is a name").push(c),
        }
    }
    names.retain(|name| !name.is_empty());
    if names.is_empty() {
        vec![filename.to_owned()]
    } else {
        names
    }
}

/// How many files a job has.
pub(super) fn files_of(job: &Job) -> u64 {
    match &job.filename {
        Some(filename) => named_files(filename).len() as u64,
        None => u64::from(job.nrfiles.unwrap_or(1)),
    }
}
