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
    against_records(report, block, workload);
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

/// Holds the bytes against the count of records that were written.
///
/// Full records have all the same size, so bytes are a multiple of their count, and where the command tells the size
/// they are count times size; partial ones add less than a block each.
fn against_records(report: &mut Report, block: &DdBlock<'_>, workload: Option<&Workload>) {
    let (Some(records), Some(bytes), Some(at)) = (
        report.measurement.records_out,
        &report.measurement.bytes,
        block.records_out,
    ) else {
        return;
    };
    // what a failed write left behind is counted in bytes and in no record
    if !report.errors.is_empty() || report.interrupted || block.truncated.is_some() {
        return;
    }
    let bytes = bytes.lo().0;
    let (full, partial) = (records.full, records.partial);
    let size = workload
        .filter(|w| w.missing.is_empty() && w.around.tail.is_none())
        // to toybox `kB` is 1024
        .filter(|w| {
            let gnu = |note: &String| note.starts_with("gnu-number:");
            !(report.implementation == Some("toybox") && w.normalised.iter().any(gnu))
        })
        .and_then(Workload::dd)
        .filter(|dd| dd.conv.is_empty() && !dd.other.iter().any(|(name, _)| name != "status"))
        .and_then(|dd| dd.block_bytes)
        .map(|size| size.0);
    let message = match size {
        // `count-differs` speaks of a command that is of another report
        Some(size) if report.measurement.records_in == report.measurement.records_out => {
            let least = full.saturating_mul(size);
            let most = full.saturating_add(partial).saturating_mul(size);
            if (least..=most).contains(&bytes) {
                return;
            }
            format!("{full}+{partial} records of {size} bytes are not {bytes} bytes")
        }
        _ if partial == 0 && full > 0 && !bytes.is_multiple_of(full) => {
            format!("{full} full records of one size can not be {bytes} bytes")
        }
        _ => return,
    };
    report.warn(Code::DISAGREE, Severity::Warning, at.span, message);
}
