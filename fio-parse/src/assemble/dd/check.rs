//! Cross-checks of a dd report: what is odd about its figures, as warnings. No figure is changed here.

use super::Report;
use crate::block::dd::DdBlock;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::unit::Bytes;
use crate::workload::Workload;

/// Says that the command right above the report was not taken for its own.
pub fn refused(block: &DdBlock<'_>, command: Option<&Workload>) -> Option<Diagnostic> {
    let size = command?.dd()?;
    let size = size
        .block_bytes
        .or(size.output_block_bytes)
        .unwrap_or(Bytes(512));
    let at = block.records_out.or(block.records_in)?;
    Some(Diagnostic::warning(
        Code::COUNT_DIFFERS,
        Some(at.span),
        format!(
            "{} records of the {} bytes that the command above asks for are not the bytes of this report; the command was not taken",
            at.text, size.0
        ),
    ))
}

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
