//! The workload that a document's options describe.

use crate::block::fio_json::unescaped;
use crate::unit::Bytes;
use crate::workload::{Job, Pattern, Test, Workload, WrittenAs, job_of_options};
use std::sync::Arc;

/// The job called `name` of `global options` and `job options`, the latter counting more. `None` where there are no options.
pub(super) fn workload(
    name: &str,
    globals: &[(&str, &str)],
    options: &[(&str, &str)],
) -> Option<Workload> {
    if globals.is_empty() && options.is_empty() {
        return None;
    }
    let texts: Vec<_> = globals
        .iter()
        .chain(options)
        .map(|&(option, value)| (unescaped(option), unescaped(value)))
        .collect();
    let mut normalised = Vec::new();
    let pairs = texts.iter().map(|(option, value)| (&**option, &**value));
    let job = job_of_options(name, pairs, &mut normalised);
    let mut workload = Workload::new(WrittenAs::FioJson, Test::Jobs(vec![job]));
    workload.normalised = normalised;
    Some(workload)
}

/// Which of the two describes a job better: what its document says, or the command that stands above it in the log.
///
/// Documents up to 3.36 leave bare flags out (`--time_based`), so a command of one job that asks for the same pattern
/// and block says more. Otherwise the command may be of another run.
pub fn better(
    of_document: Option<Arc<Workload>>,
    above: Option<&Arc<Workload>>,
) -> Option<Arc<Workload>> {
    let (Some(own), Some(above)) = (&of_document, above) else {
        return of_document.or(above.cloned());
    };
    match (own.jobs(), above.jobs()) {
        ([own], [job]) if same_test(own, job) => Some(Arc::clone(above)),
        _ => of_document,
    }
}

fn same_test(a: &Job, b: &Job) -> bool {
    let key = |job: &Job| {
        (
            job.pattern.unwrap_or(Pattern::Read),
            job.block_bytes.unwrap_or(Bytes(4096)),
            job.depth.unwrap_or(1),
            job.jobs.unwrap_or(1),
        )
    };
    key(a) == key(b)
}
