//! dd to a plan: what the operands mean for the disk, and nothing of their names.

use fio_parse::unit::Bytes;
use fio_parse::workload::{Dd, Timed, Wrapping};

use super::job::{Fallocate, FilePlan};
use super::{Draft, MOST_BLOCK, binary};

/// Where the bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `/dev/zero`, really read.
    Zero,
    /// `/dev/urandom`, really read.
    Random,
    /// A file that was laid out before.
    File,
}

/// Where they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    /// A file in the sandbox.
    File,
    /// `/dev/null`.
    Null,
}

/// The sync at the end of the loop, inside dd's own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvSync {
    /// None.
    None,
    /// `conv=fdatasync`.
    Data,
    /// `conv=fsync`.
    Full,
}

/// One dd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DdPlan {
    /// Source of the bytes.
    pub source: Source,
    /// Sink of the bytes.
    pub sink: Sink,
    /// Bytes asked for per read and write.
    pub block: u64,
    /// Reads.
    pub count: u64,
    /// Where the first byte goes, bytes (`seek`).
    pub seek: u64,
    /// The file exists before and is written over (`conv=notrunc`).
    pub overwrite: bool,
    /// Short reads are filled up (`iflag=fullblock`).
    pub full_blocks: bool,
    /// O_DIRECT on the file.
    pub direct: bool,
    /// O_SYNC on the file.
    pub sync: bool,
    /// O_DSYNC on the file.
    pub dsync: bool,
    /// Sync inside dd's time.
    pub conv_sync: ConvSync,
    /// A `sync` follows.
    pub sync_after: bool,
    /// A `sync` precedes.
    pub sync_before: bool,
    /// What the shell's `time` covered.
    pub timed: Option<Timed>,
    /// The file, if one is used.
    pub file: Option<FilePlan>,
}

impl DdPlan {
    /// Bytes asked for in all.
    pub fn bytes(&self) -> u64 {
        self.block.saturating_mul(self.count)
    }

    /// Bytes of the file while it runs.
    pub fn file_bytes(&self) -> u64 {
        self.file
            .as_ref()
            .map_or(0, |_| self.seek.saturating_add(self.bytes()))
    }

    /// Bytes written, layout included.
    pub fn written_bytes(&self) -> u64 {
        let laid_out = match &self.file {
            Some(file) if file.written_in.is_some() => file.bytes,
            _ => 0,
        };
        let written = if self.sink == Sink::File {
            self.bytes()
        } else {
            0
        };
        laid_out.saturating_add(written)
    }
}

pub(super) fn plan(dd: &Dd, around: &Wrapping, draft: &mut Draft<'_>) -> Option<DdPlan> {
    let source = source(dd, draft);
    let sink = sink(dd, draft);
    if let (Some(source), Some(sink)) = (source, sink) {
        match (source, sink) {
            (Source::File, Sink::File) => draft.refuse(
                "copy",
                "dd from one file to another measures two places at once; it is not supported yet".to_owned(),
            ),
            (Source::Zero | Source::Random, Sink::Null) => draft.refuse(
                "no-storage",
                "the command reads a device of the kernel and throws the bytes away: no disk is involved".to_owned(),
            ),
            _ => {}
        }
    }
    let block = block(dd, draft)?;
    let count = count(dd, block, draft)?;
    let (block, count) = scale(block, count, draft);
    let flags = flags(dd, draft);
    if block > draft.target.limits.memory_bytes {
        let limit = binary(draft.target.limits.memory_bytes);
        draft.refuse(
            "memory",
            format!(
                "a block of {} needs more than the {limit} of memory allowed here",
                binary(block)
            ),
        );
    }
    if flags.direct {
        check_direct(block, draft);
    }
    let (source, sink) = (source?, sink?);
    let seek = dd.seek.unwrap_or(0).checked_mul(block);
    let Some(seek) = seek else {
        draft.refuse("too-large", "seek x bs is beyond any file".to_owned());
        return None;
    };
    if dd.skip.unwrap_or(0) > 0 && source == Source::File {
        draft.refuse("skip", "skip= into a file is not supported yet".to_owned());
    }
    if around.sync_after || around.sync_before {
        draft.note("sync-narrowed");
    }
    if source == Source::Random {
        draft.note("dd-source-limits");
    }
    let overwrite = flags.notrunc && sink == Sink::File;
    if overwrite {
        draft.note("dd-overwrite-laid-out");
    } else if sink == Sink::File {
        draft.note("dd-truncation-not-timed");
    }
    if source == Source::File {
        draft.note("dd-read-laid-out");
    }
    if block > CALL_LIMIT {
        draft.note("dd-call-limit");
    }
    if sink == Sink::File && flags.conv_sync == ConvSync::None && !around.sync_after {
        draft.note("flush-after-run");
    }
    let label = match source {
        Source::File => dd.input.clone(),
        _ => dd.output.clone(),
    };
    let uses_file = source == Source::File || sink == Sink::File;
    let laid_out = source == Source::File || overwrite;
    let file = uses_file.then(|| FilePlan {
        name: format!("{}dd", draft.target.name_prefix),
        label: label.unwrap_or_default(),
        bytes: seek.saturating_add(block.saturating_mul(count)),
        written_in: laid_out.then(|| block.clamp(4096, 1 << 20) as u32),
        fallocate: Fallocate::None,
        sync: true,
        pre_read: false,
        device: false,
    });
    Some(DdPlan {
        source,
        sink,
        block,
        count,
        seek,
        overwrite,
        full_blocks: flags.full_blocks,
        direct: flags.direct,
        sync: flags.sync,
        dsync: flags.dsync,
        conv_sync: flags.conv_sync,
        sync_after: around.sync_after,
        sync_before: around.sync_before,
        timed: around.timed,
        file,
    })
}

/// What Linux moves in one call, bytes.
pub const CALL_LIMIT: u64 = 0x7fff_f000;

fn source(dd: &Dd, draft: &mut Draft<'_>) -> Option<Source> {
    match dd.input.as_deref() {
        Some("/dev/zero") => Some(Source::Zero),
        Some("/dev/urandom" | "/dev/random") => Some(Source::Random),
        Some(name) if name.starts_with("/dev/") => {
            draft.refuse(
                "device",
                format!("if={name} is a device; devices named in a text are never opened"),
            );
            None
        }
        Some(_) => Some(Source::File),
        None => {
            draft.refuse(
                "stdin",
                "dd reads standard input here, which says nothing about a disk".to_owned(),
            );
            None
        }
    }
}

fn sink(dd: &Dd, draft: &mut Draft<'_>) -> Option<Sink> {
    match dd.output.as_deref() {
        // Some write to /dev/zero, which swallows bytes as /dev/null does.
        Some("/dev/null" | "/dev/zero") => Some(Sink::Null),
        Some(name) if name.starts_with("/dev/") || name.starts_with("\\\\.\\") => {
            draft.note_with("target-device-to-file", name.to_owned());
            Some(Sink::File)
        }
        Some(_) => {
            draft.note("target-in-sandbox");
            Some(Sink::File)
        }
        None => {
            draft.refuse(
                "stdout",
                "dd writes to standard output here, which says nothing about a disk".to_owned(),
            );
            None
        }
    }
}

fn block(dd: &Dd, draft: &mut Draft<'_>) -> Option<u64> {
    if let (Some(input), Some(output)) = (dd.input_block_bytes, dd.output_block_bytes)
        && input != output
    {
        draft.refuse(
            "block-sizes",
            "ibs and obs differ; one block size for both is supported".to_owned(),
        );
    }
    if dd.block_bytes.is_none() && dd.input_block_bytes.is_some() != dd.output_block_bytes.is_some()
    {
        draft.refuse(
            "block-sizes",
            "only one of ibs and obs is given; give bs".to_owned(),
        );
    }
    let block = dd
        .block_bytes
        .or(dd.input_block_bytes)
        .or(dd.output_block_bytes)
        .unwrap_or(Bytes(512))
        .0;
    // Beyond the limit of one call dd moves less anyway, so only memory bounds the block.
    if block == 0 || block > 64 * MOST_BLOCK {
        draft.refuse(
            "block-size",
            format!("a block of {} is not possible here", binary(block)),
        );
        return None;
    }
    Some(block)
}

fn count(dd: &Dd, block: u64, draft: &mut Draft<'_>) -> Option<u64> {
    let count = match (dd.count_bytes, dd.count) {
        (Some(bytes), _) if bytes.0 % block == 0 => Some(bytes.0 / block),
        (Some(bytes), _) => {
            let why = format!(
                "{} bytes are no whole number of blocks of {block} bytes; it is not supported yet",
                bytes.0
            );
            draft.refuse("partial-block", why);
            return None;
        }
        (None, count) => count,
    };
    match (count, draft.target.size) {
        (Some(0), _) => {
            draft.refuse("empty", "count=0 moves nothing".to_owned());
            None
        }
        (Some(count), _) => Some(count),
        (None, Some(size)) => {
            draft.note_with("scaled-size", format!("no count: {}", binary(size)));
            Some((size / block).max(1))
        }
        (None, None) => {
            draft.refuse(
                "no-count",
                "without count= dd goes on until the disk is full; bound it with --size".to_owned(),
            );
            None
        }
    }
}

/// Applies `--size`: fewer blocks first, then a smaller one.
fn scale(block: u64, count: u64, draft: &mut Draft<'_>) -> (u64, u64) {
    let asked = block.saturating_mul(count);
    let Some(size) = draft.target.size.filter(|&size| size < asked) else {
        return (block, count);
    };
    draft.note_with(
        "scaled-size",
        format!("{} instead of {}", binary(size), binary(asked)),
    );
    if block <= size {
        return (block, size / block);
    }
    draft.note_with(
        "scaled-block",
        format!("{} instead of {}", binary(size), binary(block)),
    );
    (size, 1)
}

struct Flags {
    notrunc: bool,
    full_blocks: bool,
    direct: bool,
    sync: bool,
    dsync: bool,
    conv_sync: ConvSync,
}

fn flags(dd: &Dd, draft: &mut Draft<'_>) -> Flags {
    let mut flags = Flags {
        notrunc: false,
        full_blocks: false,
        direct: false,
        sync: false,
        dsync: false,
        conv_sync: ConvSync::None,
    };
    let to_null = matches!(dd.output.as_deref(), Some("/dev/null" | "/dev/zero"));
    for item in &dd.conv {
        match item.as_str() {
            "notrunc" => flags.notrunc = true,
            "fsync" => flags.conv_sync = ConvSync::Full,
            "fdatasync" if flags.conv_sync == ConvSync::None => flags.conv_sync = ConvSync::Data,
            "fdatasync" => {}
            // Pads short reads, which these sources do not give; it has nothing to do with flushing.
            "sync" | "noerror" | "excl" | "nocreat" => {}
            other => draft.refuse("conv", format!("conv={other} is not supported yet")),
        }
    }
    for item in &dd.oflag {
        match item.as_str() {
            "direct" => flags.direct |= !to_null,
            "dsync" => flags.dsync = true,
            "sync" => flags.sync = true,
            "nonblock" | "noatime" | "nofollow" | "noctty" | "binary" => {}
            other => draft.refuse("oflag", format!("oflag={other} is not supported yet")),
        }
    }
    for item in &dd.iflag {
        match item.as_str() {
            "fullblock" => flags.full_blocks = true,
            "count_bytes" => {}
            // On /dev/zero it has no effect; on a file it is the file's flag.
            "direct" => flags.direct |= to_null,
            "nonblock" | "noatime" | "nofollow" | "noctty" | "binary" | "dsync" | "sync" => {}
            other => draft.refuse("iflag", format!("iflag={other} is not supported yet")),
        }
    }
    for (name, value) in &dd.other {
        match name.as_str() {
            "status" => draft.note_with("presentation", format!("status={value}")),
            _ => draft.refuse("operand", format!("{name}={value} is not supported yet")),
        }
    }
    flags
}

fn check_direct(block: u64, draft: &mut Draft<'_>) {
    match draft.target.direct_alignment {
        Some(0) => draft.refuse(
            "no-direct",
            "the file system of the directory has no O_DIRECT".to_owned(),
        ),
        known => {
            let alignment = u64::from(known.unwrap_or(512)).max(1);
            if !block.is_multiple_of(alignment) {
                draft.refuse("direct-alignment", format!("direct needs a block that is a multiple of {alignment} bytes; {block} is not"));
            }
        }
    }
}
