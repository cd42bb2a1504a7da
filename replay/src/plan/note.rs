//! What a run differs in, and why a workload is refused: ids that stay, with their meaning.
//!
//! The ids are for machines and for looking things up; the sentences are for people. One
//! table holds them all, so that nothing gets an id without an explanation.

use std::borrow::Cow;

pub use fio_parse::record::Verdict;

/// Figures that a difference makes incomparable.
pub type Affects = &'static [&'static str];

/// One known difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Stable id.
    pub id: &'static str,
    /// How far it takes the run from the original.
    pub level: Verdict,
    /// The figures that are not comparable.
    pub affects: Affects,
    /// What it means.
    pub why: &'static str,
}

const NONE: Affects = &[];
const RATES: Affects = &["bw", "iops"];
const ALL: Affects = &["bw", "iops", "lat"];
const AMOUNT: Affects = &["bytes", "runtime"];
const LATENCY: Affects = &["lat"];

macro_rules! kinds {
    ($($id:literal $level:ident $affects:ident $why:literal;)*) => {
        /// Every difference there is.
        pub const KINDS: &[Kind] = &[$(Kind {
            id: $id, level: Verdict::$level, affects: $affects, why: $why,
        },)*];
    };
}

kinds! {
    "scaled-size" Deviates ALL "the files are smaller than in the original (--size): caches hold more of them";
    "scaled-block" Deviates ALL "one block was larger than the scaled file, so blocks are smaller too";
    "scaled-runtime" Deviates ALL "the run is shorter than the original (--runtime): bursts and caches weigh more";
    "engine-override" Deviates ALL "the engine was chosen on the command line (--engine)";
    "uring-unavailable" Deviates ALL "io_uring is not permitted here; pread and pwrite are used, at depth 1";
    "posixaio-linux-serial" Equivalent NONE "posixaio on Linux serves each file with one thread, one I/O at a time; so does this run: the queue is as long as iodepth says, and latencies hold the wait in it";
    "libaio-direct-as-uring" Equivalent NONE "libaio with direct=1 is played on io_uring at the same depth: the device sees the same requests";
    "libaio-buffered-serial" Deviates LATENCY "libaio without direct=1 blocks in submission; it is played one I/O at a time, which gives the same rate and other latencies";
    "sync-engine-depth-one" Equivalent NONE "the engine is synchronous, so the depth is 1 whatever iodepth says, as with fio";
    "engine-as-psync" Equivalent NONE "the engine is played by pread and pwrite: the device sees the same requests";
    "engine-of-another-system" Deviates ALL "the engine exists on another operating system only; it is played on io_uring";
    "null-engine" Deviates ALL "the null engine touches no storage";
    "clat-holds-submission" Equivalent NONE "clat includes the time the kernel takes to accept an I/O, which fio counts as slat; lat is the same quantity";
    "uring-at-its-best" Equivalent NONE "files and buffers are registered with io_uring, and I/Os are handed over several at a time, which costs less CPU; between two hand-overs a few fewer than the asked depth are in flight; --as-fio leaves it out";
    "as-fio" Exact NONE "io_uring is used as the original uses it (--as-fio): nothing is registered or batched that it does not ask for";
    "stamp-batch" Deviates LATENCY "I/Os that are handed over or collected together share a stamp (--stamp batch), so latencies are coarser";
    "random-sequence" Equivalent NONE "offsets come from another random generator with the same properties: each block once a pass, the same order in every run";
    "threads-for-processes" Equivalent NONE "clones are threads instead of processes; the difference lies outside the measured time";
    "target-in-sandbox" Equivalent NONE "the files that the text names are not touched; new ones in a private directory stand in for them";
    "target-device-to-file" Deviates ALL "the original used a whole device; a file in the directory stands in for it";
    "target-unknown" Deviates ALL "a variable names the target, which may have been a device; a file in the directory stands in for it";
    "target-name-shared" Equivalent NONE "jobs that name the same file share one here too";
    "fsync-count-fixed" Deviates RATES "fio before 3.38 syncs more often than asked with this engine and depth; here each sync happens once";
    "fdatasync-counted" Equivalent NONE "fio leaves fdatasync out of its count of syncs, though not out of their latencies; here each is counted";
    "mixed-fsync-count-fixed" Deviates RATES "fio before 3.38 repeats a due sync after each read of a mix; here each sync happens once";
    "presentation" Exact NONE "the option changes what fio prints, not what it does";
    "time-based-ignored" Exact NONE "time_based without runtime is ignored, as fio does";
    "depth-illusory" Exact NONE "the storage never sees the asked queue depth, here as in the original";
    "wrapper-dropped" Deviates ALL "a program in front of the command, which may change how it runs, is not run";
    "tail-dropped" Equivalent NONE "what follows the command on its line is not run";
    "header-only" Deviates ALL "the workload was read from the head of a report, which does not tell most options; fio's defaults stand for them; the command or the job file, given instead, settles it";
    "block-size-from-rounded" Equivalent NONE "the head of a report gives the block size rounded; the one size that disks take among those that print so is used";
    "direct-not-recorded" Deviates ALL "the head of a report does not tell direct; fio's default is used: direct=0, through the page cache; the command or the job file, given instead, settles it";
    "mix-not-recorded" Deviates ALL "the head of a report does not tell rwmixread; fio's default is used: 50 % reads; the command or the job file, given instead, settles it";
    "read-leniently" Exact NONE "the command was not written as its tool wants it, and was read as it was meant";
    "two-sizes-one-map" Equivalent NONE "reads and writes of different sizes mark one map by the number of their block, as in fio: places may be read or written again, and a pass ends when a draw finds no place";
    "amount-by-chance" Deviates AMOUNT "how much a pass of such a mix moves depends on the random numbers, which are not fio's; with time_based and runtime it does not matter";
    "rates-share-turns" Equivalent NONE "a direction that is ahead of its rate gives its turn to the other one, as in fio, so both reach their rates";
    "target-in-memory" Deviates ALL "the original's file was in memory; a file in the directory stands in for it";
    "flush-after-run" Exact NONE "the original does not flush at its end; the flush is timed after the measured time and is not part of the rate";
    "wears-flash" Exact NONE "the test writes much, here as in the original, and flash wears by that";
    "memory-file-system" Deviates ALL "the directory is in memory (tmpfs): no disk is measured";
    "sync-narrowed" Equivalent NONE "sync is narrowed to the test's file and its file system, so other disks are neither stalled nor timed";
    "dd-source-limits" Deviates RATES "random bytes come at the speed of the CPU, which may be slower than the disk; the time spent on them is given apart";
    "dd-truncation-not-timed" Equivalent NONE "the original may have truncated an old file before its first write; here the file is new";
    "dd-overwrite-laid-out" Equivalent NONE "conv=notrunc writes over an existing file; here over one that was laid out before";
    "dd-read-laid-out" Deviates ALL "the file that was read is not touched; one of random bytes, dropped from the cache, stands in for it";
    "dd-copy-in-one-place" Deviates ALL "both files of the copy are in the directory, on one file system; the original may have copied between two disks";
    "dd-call-limit" Exact NONE "one call moves at most 2147479552 bytes, here as in the original";
    "vsync-gathers" Equivalent NONE "neighbouring I/Os of a queue's worth go out in one call, as vsync does; bytes are counted right, which fio 3.33 does not always";
    "mmap-ignores-direct" Exact NONE "direct=1 has no effect on a mapped file, here as in the original";
    "sync-of-written-file" Deviates RATES "a sync goes to the file that was written last; fio takes another one, which is a defect";
    "files-kept-open" Equivalent NONE "all files are open from the start; the original opens some as others are done";
    "files-only" Exact NONE "the test makes its files and moves nothing (create_only), here as in the original";
    "drawn-file-sizes" Equivalent NONE "sizes of files are drawn between the two that were given, as multiples of the block, by another generator than fio's";
    "offload-threads" Equivalent NONE "each I/O of the queue has a thread of its own, as with io_submit_mode=offload; it does what the engine would ask of the device by pread and pwrite";
    "uncached-by-new-flag" Deviates ALL "I/Os carry RWF_DONTCACHE, which Linux has since 6.14 and current fio uses; fio 3.33 asks for a flag that means something else today, and fails";
    "created-before-open" Equivalent NONE "the file is made, empty, before the clock starts; the original makes it when it opens it";
    "batched" Equivalent NONE "I/Os go and come in the batches that were asked for; completions beyond the asked number are taken too";
    "priority-best-effort" Deviates ALL "a priority above the usual needs privileges; what was not granted is told with the results";
    "zones-without-mode" Equivalent NONE "zonesize without zonemode is played as zones with gaps, as fio did before zonemode came; fio 3.33 refuses it";
    "paced-drains" Equivalent NONE "the queue is drained before the job waits for its rate, as fio does";
    "verify-backlog-time" Deviates RATES "reads of verify_backlog go between the writes, so their run time is that of both; fio gives them only the time of the check behind the last write, and with it a rate that no disk had";
    "verify-never-begins" Exact NONE "with time_based the check behind the last write never begins, here as in the original";
    "verify-of-nothing" Exact NONE "the null engine keeps nothing, so what is read back is not looked at, as with fio";
    "small-pages" Deviates ALL "the buffers are not in huge pages";
    "logs-elsewhere" Exact NONE "logs are written with --log-directory only, and into that directory";
    "log-of-single-ios" Equivalent NONE "without log_avg_msec a log of rates has each I/O by itself, in KiB/s, where fio 3.33 takes 1000 bytes for a unit; what the results say of the rate's spread is over windows all the same, where fio takes single I/Os";
    "log-full" Equivalent NONE "a log has as many lines as there is room for, and what came later is not in it; log_avg_msec makes it shorter";
    "device-typed" Exact NONE "the device or file that was typed with --device is used";
    "steady-state" Equivalent NONE "the job ends when its rate has settled, as asked; each job is judged by itself, by the same rule";
    "incomplete" Deviates ALL "other amounts were moved than planned";
    "interrupted" Deviates ALL "the run was cut short, and what was measured until then is no result of the whole test";
    "removed-at-end" Equivalent NONE "files are removed at the end whatever the options say; --keep keeps them";
}

impl Kind {
    fn of(id: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.id == id)
    }
}

/// One difference of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    kind: &'static Kind,
    /// Particulars, if there are any.
    pub detail: Option<String>,
}

impl Note {
    /// The difference of this id.
    ///
    /// # Panics
    /// If the table lacks it; ids are literals of this crate.
    pub fn new(id: &'static str) -> Self {
        let kind = Kind::of(id).unwrap_or_else(|| panic!("no explanation for {id}"));
        Note { kind, detail: None }
    }

    /// The difference with particulars.
    pub fn with(id: &'static str, detail: String) -> Self {
        Note {
            detail: Some(plain_text(&detail)),
            ..Note::new(id)
        }
    }

    /// Stable id.
    pub fn id(&self) -> &'static str {
        self.kind.id
    }

    /// How far it takes the run from the original.
    pub fn level(&self) -> Verdict {
        self.kind.level
    }

    /// The figures that are not comparable.
    pub fn affects(&self) -> Affects {
        self.kind.affects
    }

    /// In a sentence.
    pub fn sentence(&self) -> Cow<'static, str> {
        match &self.detail {
            None => Cow::Borrowed(self.kind.why),
            Some(detail) => Cow::Owned(format!("{} ({detail})", self.kind.why)),
        }
    }
}

/// A reason why a workload is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Stable id.
    pub id: &'static str,
    /// The reason, and what to do.
    pub why: String,
    /// The option that is refused, if it is one.
    pub option: Option<String>,
    /// Numbers of the jobs that have it, if it is one of jobs.
    pub sections: Vec<u32>,
}

impl Refusal {
    /// A refusal.
    pub fn new(id: &'static str, why: String) -> Self {
        Refusal {
            id,
            why: plain_text(&why),
            option: None,
            sections: Vec::new(),
        }
    }

    /// A refusal of an option.
    pub fn about(id: &'static str, option: &str, why: String) -> Self {
        Refusal {
            option: Some(option.to_owned()),
            ..Refusal::new(id, why)
        }
    }
}

/// Text from outside, fit for a terminal: nothing in it moves the cursor, changes colours or
/// turns the writing direction.
pub fn plain_text(text: &str) -> String {
    let unsafe_here = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if unsafe_here(c) {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    plain
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {}", self.id, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_given_somewhere() {
        let sources = [
            include_str!("mod.rs"),
            include_str!("fio.rs"),
            include_str!("dd.rs"),
            include_str!("options/mod.rs"),
            include_str!("options/judge.rs"),
            include_str!("files.rs"),
            include_str!("checks.rs"),
            include_str!("engines.rs"),
            include_str!("extent.rs"),
            include_str!("bounds.rs"),
            include_str!("dd_flags.rs"),
            include_str!("../outcome/records.rs"),
        ];
        for kind in KINDS {
            let quoted = format!("\"{}\"", kind.id);
            assert!(
                sources.iter().any(|source| source.contains(&quoted)),
                "{} is never noted",
                kind.id
            );
        }
    }

    #[test]
    fn ids_are_unique_kebab_case_and_explained() {
        let mut seen = std::collections::HashSet::new();
        for kind in KINDS {
            assert!(seen.insert(kind.id), "{} twice", kind.id);
            assert!(
                kind.id
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            );
            assert!(kind.why.len() > 20 && !kind.why.ends_with('.'));
            // A difference that spoils figures must say which, and the reverse.
            assert_eq!(
                kind.level == Verdict::Deviates,
                !kind.affects.is_empty(),
                "{}",
                kind.id
            );
        }
    }
}
