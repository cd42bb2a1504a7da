//! Whether a fio result can be one of the device, by what the text around says of the machine; and whether its
//! latencies can be of one run, by the rules of [`fio_latency`].
//!
//! The rules on which texts count and what they name are those of [`plausible`]; see there. For fio:
//!
//! - A run goes through the page cache where `direct` is not set, on a file, with an engine of the system's own calls.
//!   Of those, writes are flushed where `end_fsync`, `fsync`, `fdatasync` or `sync` is set.
//! - What it touches is `size` of each job, of all jobs together where each has files of its own. Where that is smaller
//!   than the memory that is named, caches may have been measured.
//! - fio writes what does not compress unless it is told otherwise (`zero_buffers`, `buffer_compress_percentage`).
//!
//! A workload of which a part is missing (a job file that is not shown, a variable) is not judged.

use super::Assembler;
use super::dd::plausible::{self, compressing, is_device, memory};
use super::fio_latency;
use crate::context::Context;
use crate::diagnostic::{Code, Diagnostic};
use crate::record::{Dialect, Direction, Record};
use crate::unit::Bytes;
use crate::workload::{Job, SyncFlag, Workload};

impl Assembler<'_, '_> {
    /// Holds fio's new records, from `first` on, against what the text says of the machine.
    pub(super) fn doubt(&mut self, first: usize, context: &Context) {
        let nearby = self.nearby(context);
        let found: Vec<Vec<Diagnostic>> = self.parsed.records[first..]
            .iter()
            .map(|record| match record.source.dialect {
                Dialect::FioJob | Dialect::FioGroup | Dialect::FioJson | Dialect::FioTerse => {
                    let mut warnings = check(record, &nearby);
                    fio_latency::check(&record.measurement, &mut warnings);
                    warnings
                }
                _ => Vec::new(),
            })
            .collect();
        for (record, warnings) in self.parsed.records[first..].iter_mut().zip(found) {
            record.warnings.extend(warnings);
        }
    }
}

/// Everything suspicious about a record of fio, by its workload and the texts near it.
fn check(record: &Record, nearby: &[&str]) -> Vec<Diagnostic> {
    let Some(job) = record
        .workload
        .as_deref()
        .and_then(|workload| job(workload, record))
    else {
        return Vec::new();
    };
    let labels: Vec<&str> = record
        .machine
        .iter()
        .chain(&record.section)
        .map(|label| label.full.as_deref().unwrap_or(&label.text))
        .collect();
    let fits = fits_in_memory(record, job, &labels, nearby);
    fits.into_iter()
        .chain(compressible(record, job, &labels, nearby))
        .collect()
}

/// The job that the record is of, if that is sure.
fn job<'w>(workload: &'w Workload, record: &Record) -> Option<&'w Job> {
    if !workload.missing.is_empty() {
        return None;
    }
    let jobs = workload.jobs();
    match jobs {
        [job] => Some(job),
        _ => {
            let name = record.scope.job.as_deref()?;
            let mut named = jobs.iter().filter(|job| job.name == name);
            named.next().filter(|_| named.next().is_none())
        }
    }
}

fn on_a_file(job: &Job) -> bool {
    !job.filename.as_deref().is_some_and(is_device)
}

/// Whether its data stay in memory, as far as the tool's window goes.
fn is_cached(job: &Job, direction: Direction) -> bool {
    let engine = job.engine.as_deref().unwrap_or("psync");
    let through_cache = matches!(
        engine,
        "sync"
            | "psync"
            | "vsync"
            | "pvsync"
            | "pvsync2"
            | "libaio"
            | "posixaio"
            | "io_uring"
            | "mmap"
    );
    if job.direct == Some(true) || !through_cache || !on_a_file(job) {
        return false;
    }
    let set = |every: Option<u64>| every.is_some_and(|every| every > 0);
    let flushed = job.end_fsync == Some(true)
        || set(job.fsync)
        || set(job.fdatasync)
        || job.sync.is_some_and(|sync| sync != SyncFlag::None);
    match direction {
        Direction::Read => true,
        Direction::Write => !flushed,
        Direction::Trim | Direction::Mixed => false,
    }
}

fn fits_in_memory(
    record: &Record,
    job: &Job,
    labels: &[&str],
    nearby: &[&str],
) -> Option<Diagnostic> {
    if !is_cached(job, record.direction) {
        return None;
    }
    let size = job.size_bytes?.0;
    let files = if job.filename.is_some() {
        1
    } else {
        u64::from(job.jobs.unwrap_or(1))
    };
    let touched = Bytes(size.checked_mul(files)?);
    let memory = memory(labels, nearby)?;
    (touched < memory).then(|| {
        let gib = |bytes: Bytes| bytes.0 as f64 / f64::from(1 << 30);
        Diagnostic::warning(
            Code::FITS_IN_MEMORY,
            plausible::rate_span(&record.measurement),
            format!(
                "{:.1} GiB of files fit into the {:.1} GiB of memory that the text names, and the page cache was not passed by",
                gib(touched),
                gib(memory)
            ),
        )
    })
}

fn compressible(
    record: &Record,
    job: &Job,
    labels: &[&str],
    nearby: &[&str],
) -> Option<Diagnostic> {
    let asked = job.other.iter().find(|(name, value)| match name.as_str() {
        "zero_buffers" => value != "0",
        "buffer_compress_percentage" | "dedupe_percentage" => value != "0",
        _ => false,
    })?;
    if record.direction != Direction::Write || !on_a_file(job) {
        return None;
    }
    let name = compressing(labels, nearby)?;
    Some(Diagnostic::warning(
        Code::COMPRESSIBLE,
        plausible::rate_span(&record.measurement),
        format!(
            "{} was set and the text names \"{name}\": what is compressed away never reaches the device",
            asked.0
        ),
    ))
}

#[cfg(test)]
mod tests {
    use crate::source::Log;

    const JOB: &str = "a: (groupid=0, jobs=1): err= 0: pid=7: Fri Oct  6 05:21:27 2017\n  read: IOPS=3072, BW=12.0MiB/s (12.6MB/s)(720MiB/60001msec)\n";

    fn codes(text: &str) -> Vec<String> {
        let log = Log::from_bytes("log", text.as_bytes()).unwrap();
        let parsed = crate::assemble::parse(&log);
        assert!(!parsed.records.is_empty(), "{text}");
        let warnings = parsed.records.iter().flat_map(|record| &record.warnings);
        warnings
            .map(|warning| warning.code.to_string())
            .filter(|code| code == "fits-in-memory" || code == "compressible")
            .collect()
    }

    fn run(said: &str, options: &str, job: &str) -> Vec<String> {
        codes(&format!(
            "{said}\n\n$ fio --name=a --bs=4k {options}\n{job}"
        ))
    }

    #[test]
    fn files_smaller_than_memory() {
        let ram = "The box has 16 GB of RAM.";
        let write = JOB.replace("  read:", "  write:");
        for (said, options, job, found) in [
            (ram, "--rw=randread --size=4g", JOB, 1),
            (ram, "--rw=randread --size=4g --numjobs=8", JOB, 0),
            (ram, "--rw=randread --size=4g --direct=1", JOB, 0),
            (ram, "--rw=randread --size=4g --filename=/dev/sda", JOB, 0),
            (ram, "--rw=randread --size=4g --ioengine=rbd", JOB, 0),
            (ram, "--rw=randread", JOB, 0),
            ("The box is fast.", "--rw=randread --size=4g", JOB, 0),
            (ram, "--rw=randwrite --size=4g", &write, 1),
            (ram, "--rw=randwrite --size=4g --end_fsync=1", &write, 0),
        ] {
            assert_eq!(run(said, options, job).len(), found, "{said} {options}");
        }
    }

    #[test]
    fn buffers_that_compress() {
        let write = JOB.replace("  read:", "  write:");
        let zfs = "It runs ZFS.";
        assert_eq!(
            run(zfs, "--rw=write --zero_buffers", &write),
            ["compressible"]
        );
        assert!(run(zfs, "--rw=write", &write).is_empty());
        assert!(run("It runs ext4.", "--rw=write --zero_buffers", &write).is_empty());
    }
}
