//! `conv=`, `iflag=`, `oflag=` and the other operands of dd: what each means for the files.

use fio_parse::workload::Dd;

use super::Draft;
use super::dd::ConvSync;
use super::meant::hint;

/// What the flags and conversions of a dd come to.
#[derive(Default)]
pub(super) struct Flags {
    pub notrunc: bool,
    pub append: bool,
    pub full_blocks: bool,
    pub direct_in: bool,
    pub direct_out: bool,
    pub sync: bool,
    pub dsync: bool,
    pub drop_read: bool,
    pub drop_written: bool,
    pub conv_sync: ConvSync,
}

/// Reads them. What is no flag of these is refused.
pub(super) fn flags(dd: &Dd, draft: &mut Draft<'_>) -> Flags {
    let mut flags = Flags::default();
    for item in &dd.conv {
        match item.as_str() {
            "notrunc" => flags.notrunc = true,
            "fsync" => flags.conv_sync = ConvSync::Full,
            "fdatasync" if flags.conv_sync == ConvSync::None => flags.conv_sync = ConvSync::Data,
            "fdatasync" => {}
            // Pads short reads, which these sources do not give; it has nothing to do with flushing.
            "sync" | "noerror" | "excl" | "nocreat" => {}
            other => {
                let why = format!(
                    "conv={other} changes the bytes or where they go, and is not played; leave it out if the test does not \
                     need it{}",
                    hint("conv", other)
                );
                draft.refuse_about("conv", "conv", why);
            }
        }
    }
    for item in &dd.oflag {
        match item.as_str() {
            "direct" => flags.direct_out = true,
            "dsync" => flags.dsync = true,
            "sync" => flags.sync = true,
            "nocache" => flags.drop_written = true,
            // A new file grows at its end anyway.
            "append" => flags.append = true,
            "seek_bytes" => {}
            "nonblock" | "noatime" | "nofollow" | "noctty" | "binary" => {}
            other => unknown("oflag", other, draft),
        }
    }
    for item in &dd.iflag {
        match item.as_str() {
            "fullblock" => flags.full_blocks = true,
            "count_bytes" | "skip_bytes" => {}
            "direct" => flags.direct_in = true,
            "nocache" => flags.drop_read = true,
            "nonblock" | "noatime" | "nofollow" | "noctty" | "binary" | "dsync" | "sync" => {}
            other => unknown("iflag", other, draft),
        }
    }
    for (name, value) in &dd.other {
        match name.as_str() {
            "status" if !["none", "noxfer", "progress"].contains(&value.as_str()) => {
                let why = format!("status={value} is none of none, noxfer and progress");
                draft.refuse_about("option-value", name, why);
            }
            "status" => draft.note_with("presentation", format!("status={value}")),
            "bs" | "ibs" | "obs" | "count" | "skip" | "seek" => {
                let why = format!(
                    "{name}={value} cannot be read; expected a whole number below 16 EiB, with k, M, G or T behind it \
                     or none"
                );
                draft.refuse_about("option-value", name, why);
            }
            _ => {
                let why = format!(
                    "{name}={value} is not played; leave it out if the test does not need it"
                );
                draft.refuse_about("operand", name, why);
            }
        }
    }
    flags
}

fn unknown(operand: &'static str, flag: &str, draft: &mut Draft<'_>) {
    let why = format!(
        "{operand}={flag} is not played; leave it out if the test does not need it{}",
        hint(operand, flag)
    );
    draft.refuse_about(operand, operand, why);
}
