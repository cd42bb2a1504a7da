//! dd to a plan: what the operands mean for the disk, and nothing of their names.

use fio_parse::unit::Bytes;
use fio_parse::workload::{Dd, Timed, Wrapping};

use super::dd_flags::flags;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConvSync {
    /// None.
    #[default]
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
    /// Bytes asked for per read (`ibs`).
    pub block: u64,
    /// Bytes per write, where reads are collected or cut up for it (`obs`); else as `block`.
    pub output_block: u64,
    /// Reads of a whole block.
    pub count: u64,
    /// Bytes of one more read, 0 for none (`count_bytes`).
    pub tail: u64,
    /// Where the first byte comes from in a file, bytes (`skip`).
    pub skip: u64,
    /// Where the first byte goes, bytes (`seek`).
    pub seek: u64,
    /// The file exists before and is written over (`conv=notrunc`).
    pub overwrite: bool,
    /// Short reads are filled up (`iflag=fullblock`).
    pub full_blocks: bool,
    /// O_DIRECT on the file that is read.
    pub direct_in: bool,
    /// O_DIRECT on the file that is written.
    pub direct_out: bool,
    /// O_SYNC on the file that is written.
    pub sync: bool,
    /// O_DSYNC on the file that is written.
    pub dsync: bool,
    /// What was read is dropped from the cache after each block (`iflag=nocache`).
    pub drop_read: bool,
    /// What was written is dropped from the cache after each block (`oflag=nocache`).
    pub drop_written: bool,
    /// Sync inside dd's time.
    pub conv_sync: ConvSync,
    /// A `sync` follows.
    pub sync_after: bool,
    /// A `sync` precedes.
    pub sync_before: bool,
    /// What the shell's `time` covered.
    pub timed: Option<Timed>,
    /// No block is begun later than so long after the first, ns (`--runtime`).
    pub runtime_ns: Option<u64>,
    /// The file that is read, if one is, then the file that is written, if one is.
    pub files: Vec<FilePlan>,
}

impl DdPlan {
    /// Bytes asked for in all.
    pub fn bytes(&self) -> u64 {
        self.block
            .saturating_mul(self.count)
            .saturating_add(self.tail)
    }

    /// The file that is read.
    pub fn source_file(&self) -> Option<&FilePlan> {
        self.files.first().filter(|_| self.source == Source::File)
    }

    /// The file that is written.
    pub fn sink_file(&self) -> Option<&FilePlan> {
        self.files.last().filter(|_| self.sink == Sink::File)
    }

    /// Bytes of its files while it runs.
    pub fn file_bytes(&self) -> u64 {
        let files = self.files.iter();
        files.fold(0, |sum: u64, file| sum.saturating_add(file.bytes))
    }

    /// Bytes written, layout included.
    pub fn written_bytes(&self) -> u64 {
        let laid_out = self.files.iter().filter(|file| file.written_in.is_some());
        let laid_out = laid_out.fold(0, |sum: u64, file| sum.saturating_add(file.bytes));
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
            (Source::File, Sink::File) => draft.note("dd-copy-in-one-place"),
            (Source::Zero | Source::Random, Sink::Null) => draft.refuse(
                "no-storage",
                "the command reads a device of the kernel and throws the bytes away: no disk is involved".to_owned(),
            ),
            _ => {}
        }
    }
    let flags = flags(dd, draft);
    let blocks = blocks(dd, draft)?;
    let amount = amount(dd, blocks.0, draft)?;
    let ((block, output_block), (count, tail)) = scale(blocks, amount, draft);
    let whole = whole_block(block, flags.full_blocks);
    let memory = whole.saturating_add(if output_block == block {
        0
    } else {
        output_block
    });
    if memory > draft.target.limits.memory_bytes {
        let limit = binary(draft.target.limits.memory_bytes);
        draft.refuse(
            "memory",
            format!(
                "a block of {} needs {} of memory and {limit} is the limit; --allow-large raises it \
                 to a quarter of what is free",
                binary(block),
                binary(memory)
            ),
        );
    }
    let (source, sink) = (source?, sink?);
    let (direct_in, direct_out) = (
        flags.direct_in && source == Source::File,
        flags.direct_out && sink == Sink::File,
    );
    for (direct, block) in [(direct_in, block), (direct_out, output_block)] {
        if direct {
            check_direct(block, draft);
        }
    }
    let seek = place(
        dd.seek,
        output_block,
        Dd::has(&dd.oflag, "seek_bytes"),
        "seek",
        draft,
    )?;
    let skip = place(
        dd.skip,
        block,
        Dd::has(&dd.iflag, "skip_bytes"),
        "skip",
        draft,
    )?;
    if flags.append && flags.notrunc {
        let why = "oflag=append with conv=notrunc appends to a file that is there already, and none is ever touched";
        draft.refuse("oflag", why.to_owned());
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
    // A call moves no more than the limit, so a larger block never arrives in whole.
    let moved = whole.saturating_mul(count).saturating_add(tail);
    let file = |ending: &str, label: &Option<String>, start: u64, laid_out: bool| FilePlan {
        name: format!("{}{ending}", draft.target.name_prefix),
        label: label.clone().unwrap_or_default(),
        bytes: start.saturating_add(moved),
        written_in: laid_out.then(|| block.clamp(4096, 1 << 20) as u32),
        fallocate: Fallocate::None,
        sync: true,
        pre_read: false,
        device: false,
    };
    let mut files = Vec::new();
    if source == Source::File {
        files.push(file("dd.in", &dd.input, skip, true));
    }
    if sink == Sink::File {
        files.push(file("dd", &dd.output, seek, overwrite));
    }
    Some(DdPlan {
        source,
        sink,
        block,
        output_block,
        count,
        tail,
        skip,
        seek,
        overwrite,
        full_blocks: flags.full_blocks,
        direct_in,
        direct_out,
        sync: flags.sync,
        dsync: flags.dsync,
        drop_read: flags.drop_read && source == Source::File,
        drop_written: flags.drop_written && sink == Sink::File,
        conv_sync: flags.conv_sync,
        sync_after: around.sync_after,
        sync_before: around.sync_before,
        timed: around.timed,
        runtime_ns: draft.target.runtime_ns,
        files,
    })
}

/// What Linux moves in one call, bytes.
pub const CALL_LIMIT: u64 = 0x7fff_f000;

/// What a read of a block brings at most, bytes.
pub fn whole_block(block: u64, full_blocks: bool) -> u64 {
    if full_blocks {
        block
    } else {
        block.min(CALL_LIMIT)
    }
}

/// `seek` or `skip` in bytes.
fn place(
    number: Option<u64>,
    block: u64,
    in_bytes: bool,
    name: &str,
    draft: &mut Draft<'_>,
) -> Option<u64> {
    let each = if in_bytes { 1 } else { block };
    let bytes = number.unwrap_or(0).checked_mul(each);
    if bytes.is_none_or(|bytes| bytes > i64::MAX as u64) {
        draft.refuse("too-large", format!("{name} x bs is beyond any file"));
        return None;
    }
    bytes
}

fn source(dd: &Dd, draft: &mut Draft<'_>) -> Option<Source> {
    match dd.input.as_deref() {
        Some("/dev/zero") => Some(Source::Zero),
        Some("/dev/urandom" | "/dev/random") => Some(Source::Random),
        Some(name) if name.starts_with("/dev/") => {
            draft.refuse_about(
                "device",
                "if",
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

/// Whether an operand was given with a value that was not understood.
fn given(dd: &Dd, name: &str) -> bool {
    dd.other.iter().any(|(other, _)| other == name)
}

/// Bytes per read and per write: `bs` is both.
fn blocks(dd: &Dd, draft: &mut Draft<'_>) -> Option<(u64, u64)> {
    if ["bs", "ibs", "obs"].iter().any(|name| given(dd, name)) {
        return None;
    }
    let of = |apart: Option<Bytes>| dd.block_bytes.or(apart).unwrap_or(Bytes(512)).0;
    let blocks = (of(dd.input_block_bytes), of(dd.output_block_bytes));
    for block in [blocks.0, blocks.1] {
        // Beyond the limit of one call dd moves less anyway, so only memory bounds the block.
        if block == 0 || block > 64 * MOST_BLOCK {
            draft.refuse_about(
                "block-size",
                "bs",
                format!("a block of {} is not possible here", binary(block)),
            );
            return None;
        }
    }
    Some(blocks)
}

/// Whole blocks to read, and the bytes of one more.
fn amount(dd: &Dd, block: u64, draft: &mut Draft<'_>) -> Option<(u64, u64)> {
    let amount = match (dd.count_bytes, dd.count) {
        (Some(bytes), _) => Some((bytes.0 / block, bytes.0 % block)),
        (None, count) => count.map(|count| (count, 0)),
    };
    match (amount, draft.target.size) {
        (Some((0, 0)), _) => {
            draft.refuse_about("empty", "count", "count=0 moves nothing".to_owned());
            None
        }
        (Some(amount), _) => Some(amount),
        // It was given, and was refused with the other operands that cannot be read.
        (None, _) if given(dd, "count") => None,
        (None, Some(size)) => {
            draft.note_with("scaled-size", format!("no count: {}", binary(size)));
            Some(((size / block).max(1), 0))
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
fn scale(
    (block, output): (u64, u64),
    (count, tail): (u64, u64),
    draft: &mut Draft<'_>,
) -> ((u64, u64), (u64, u64)) {
    let asked = block.saturating_mul(count).saturating_add(tail);
    let Some(size) = draft.target.size.filter(|&size| size < asked) else {
        return ((block, output), (count, tail));
    };
    draft.note_with(
        "scaled-size",
        format!("{} instead of {}", binary(size), binary(asked)),
    );
    if block <= size {
        return ((block, output), (size / block, 0));
    }
    draft.note_with(
        "scaled-block",
        format!("{} instead of {}", binary(size), binary(block)),
    );
    ((size, if output == block { size } else { output }), (1, 0))
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
