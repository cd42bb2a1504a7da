//! Cross-checks of a dd report: what is odd about its figures, as warnings. No figure is changed here.

use super::Report;
use crate::block::dd::DdBlock;
use crate::diagnostic::{Code, Severity};
use crate::workload::Workload;

/// Compares what was moved with what the command asked for, and looks at records that were not full.
pub fn against_command(report: &mut Report, block: &DdBlock<'_>, workload: Option<&Workload>) {
    let partial = |r: Option<crate::record::Records>| r.map_or(0, |r| r.partial);
    let many = partial(report.measurement.records_in).max(partial(report.measurement.records_out));
    // one partial block at the end is the rest of a file
    if many > 1
        && let Some(at) = block.records_in.or(block.records_out)
    {
        report.warn(
            Code::PARTIAL_RECORDS,
            Severity::Warning,
            at.span,
            format!("{many} blocks were not full, as from a pipe: the block size of the command was not the size of the requests"),
        );
    }
    let asked = workload
        .filter(|w| w.missing.is_empty())
        // of several in one line it can't be told which one reports
        .filter(|w| {
            !w.around
                .tail
                .as_deref()
                .is_some_and(|tail| tail.contains("dd "))
        })
        .and_then(Workload::dd)
        .and_then(|dd| dd.asked_bytes());
    if let (Some(asked), Some(bytes), true) =
        (asked, &report.measurement.bytes, report.errors.is_empty())
        && asked != bytes.lo()
        && let Some(at) = block
            .transfer
            .as_ref()
            .and_then(|t| t.bytes)
            .or(block.records_out)
    {
        let message = format!(
            "the command asks for {} bytes, the report has {}; the report was taken",
            asked.0,
            bytes.lo().0
        );
        report.warn(Code::COUNT_DIFFERS, Severity::Warning, at.span, message);
    }
}
