//! What a job does next: its I/O in order, and the syncs between them. Pure.
//!
//! The rules are fio's, found by running 3.33 and counting:
//!
//! - A pass ends when the region is exhausted, the job when it has issued `io_size` (or
//!   `size`) times `loops` bytes; the last I/O may overshoot. A region that is no multiple
//!   of the block loses its tail: 1000000 bytes in blocks of 4 KiB are 244 I/Os.
//! - Every `loops` pass is run; after them another pass only if `io_size` is set and more
//!   than a block is missing.
//! - A sync is due when the number of writes so far is a multiple of N. It is issued before
//!   the next I/O is chosen, so none follows the last I/O of a job that ends by its byte
//!   limit. At a wrap one comes before the close and one after the open: there fio forgets
//!   that it has just synced.
//! - Mixed sequential jobs keep one position per direction, random ones share one map.
//!   fio before 3.38 repeats a due sync after each read of a mix; that defect is not kept.
//! - Several files are served in turn; one that is done is passed over, and the pass ends
//!   when all are. A sync goes to the file that was written last: fio takes another one,
//!   which is a defect.
//! - What is read back counts towards `io_size` when it is asked whether another pass follows.
//! - With `verify` the writes of a pass are read back in the order they were made, after the
//!   pass or after every so many.

use crate::draw::Shapes;
use crate::offsets::{Blocks, Rng};
use crate::places::Places;
use crate::plan::job::{JobPlan, Service};

/// Kind of sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncKind {
    /// fsync.
    Full,
    /// fdatasync.
    Data,
    /// sync_file_range over what was written since the last one: offset and bytes.
    Range {
        /// Start, bytes.
        offset: u64,
        /// Length, bytes.
        bytes: u64,
    },
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Move data.
    Io {
        /// Number of the job's file.
        file: u32,
        /// Write, else read.
        write: bool,
        /// The read checks what was written.
        check: bool,
        /// Position in the file, bytes.
        offset: u64,
        /// Bytes to move.
        bytes: u32,
    },
    /// This direction was drawn for the next I/O, and the rates of both decide whether it is
    /// taken: [`Script::go`] answers.
    Turn {
        /// A write was drawn, else a read.
        write: bool,
    },
    /// Make data durable.
    Sync {
        /// Number of the job's file.
        file: u32,
        /// How.
        kind: SyncKind,
    },
    /// All writes of the pass are issued, and the reads that check them follow.
    Written {
        /// The job has no more to write behind them.
        last: bool,
    },
    /// The region is exhausted.
    Exhausted,
    /// The job has issued all its bytes.
    Complete,
}

/// A block that was written and is to be read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    file: u32,
    offset: u64,
    bytes: u32,
}

/// Reading back what was written.
#[derive(Debug, Clone, Default)]
struct Backlog {
    /// Read back after so many writes; 0: at the end of the pass.
    every: usize,
    /// Blocks may be written twice in a pass: only the last content counts.
    overlapping: bool,
    written: Vec<Written>,
    /// Being read back, last first.
    due: Vec<Written>,
}

impl Backlog {
    /// Makes all that was written due.
    fn turn(&mut self) {
        std::mem::swap(&mut self.written, &mut self.due);
        if self.overlapping {
            // By place, and of equal places the last one written.
            self.due.reverse();
            self.due.sort_by_key(|block| (block.file, block.offset));
            self.due.dedup_by_key(|block| (block.file, block.offset));
        }
        self.due.reverse();
    }
}

/// The order of one job's I/O.
#[derive(Debug, Clone)]
pub struct Script {
    reads: bool,
    writes: bool,
    /// Rates have a say in the direction.
    rated: bool,
    /// The direction that was decided on.
    way: Option<bool>,
    largest: u64,
    mix_read: u64,
    offset: u64,
    fsync_every: u64,
    fdatasync_every: u64,
    range_every: u64,
    time_based: bool,
    /// Job limit, bytes.
    limit: u64,
    /// Job limit, I/Os.
    most_ios: u64,
    /// Limit of passes beyond `loops`, if `io_size` is set.
    io_size: Option<u64>,
    passes_left: u32,
    issued: u64,
    /// Bytes that were read back.
    checked: u64,
    ios_issued: u64,
    writes_issued: u64,
    just_synced: bool,
    directions: Rng,
    mix_seed: u64,
    files: Files,
    last_written: u32,
    plain: Option<Plain>,
    /// What was written since the last sync of a range: file, start, end.
    range: Option<(u32, u64, u64)>,
    backlog: Option<Box<Backlog>>,
}

/// The I/O of a job with one file, one direction, one block size, no periodic syncs and nothing
/// to read back. Its files and rates are never asked, so it is the whole state.
#[derive(Debug, Clone)]
struct Plain {
    blocks: Blocks,
    bytes: u32,
    /// I/Os that follow before a limit or the end of the pass is reached. They count as issued.
    room: u64,
}

/// The files of a job and whose turn it is.
#[derive(Debug, Clone)]
struct Files {
    places: Vec<Places>,
    /// Files that are not done yet, in order.
    live: Vec<u32>,
    /// How many of them are served at a time.
    open: usize,
    service: Service,
    /// Place in `live`.
    turn: usize,
    turns_left: u32,
    draws: Rng,
    seed: u64,
}

impl Files {
    fn new(job: &JobPlan, seeds: &mut Rng) -> Self {
        let mut shapes = Shapes::new(&job.order.spread);
        let places: Vec<Places> = (0..job.files.len())
            .map(|file| Places::new(job, job.region_of(file), seeds.next(), &mut shapes))
            .collect();
        let seed = seeds.next();
        let mut files = Files {
            live: Vec::new(),
            places,
            open: job.open_files.max(1) as usize,
            service: job.service,
            turn: 0,
            turns_left: 0,
            draws: Rng::new(seed),
            seed,
        };
        files.revive();
        files
    }

    /// The blocks of the only file, if they are of one size.
    fn plain(&mut self, write: bool) -> Option<Plain> {
        let [places] = &self.places[..] else {
            return None;
        };
        let (blocks, bytes) = places.blocks(write)?;
        self.places.clear();
        Some(Plain {
            blocks,
            bytes,
            room: 0,
        })
    }

    /// All files are to be served again.
    fn revive(&mut self) {
        self.live = (0..self.places.len() as u32).collect();
        (self.turn, self.turns_left) = (0, self.each());
    }

    fn each(&self) -> u32 {
        match self.service {
            Service::RoundRobin(each) | Service::Random(each) => each.max(1),
            Service::Sequential => u32::MAX,
        }
    }

    /// The next I/O of whichever file is next; `None` when all are done.
    fn next(&mut self, write: bool) -> Option<(u32, u64, u32)> {
        while !self.live.is_empty() {
            let open = self.live.len().min(self.open);
            if self.turns_left == 0 {
                self.turns_left = self.each();
                self.turn = match self.service {
                    Service::Random(_) => self.draws.below(open as u64) as usize,
                    _ => (self.turn + 1) % open,
                };
            }
            let turn = self.turn.min(open - 1);
            let file = self.live[turn];
            if let Some((offset, bytes)) = self.places[file as usize].next(write) {
                self.turns_left -= 1;
                return Some((file, offset, bytes));
            }
            self.live.remove(turn);
            // The one behind it has moved up into its place.
            (self.turn, self.turns_left) = (turn.checked_rem(open).unwrap_or(0), self.each());
        }
        None
    }
}

impl Script {
    /// The script of a job.
    pub fn new(job: &JobPlan) -> Self {
        let mut seeds = Rng::new(job.seed);
        let mix_seed = seeds.next();
        let backlog = job
            .verify
            .as_ref()
            .filter(|verify| job.pattern.writes && verify.read_back)
            .map(|verify| {
                Box::new(Backlog {
                    every: verify.backlog as usize,
                    overlapping: job.pattern.random && !job.order.random_map,
                    ..Backlog::default()
                })
            });
        let range_every = job.range_sync.map_or(0, |sync| u64::from(sync.every));
        let mut files = Files::new(job, &mut seeds);
        let one_thing = !job.pattern.mixed()
            && backlog.is_none()
            && job.syncs.fsync_every == 0
            && job.syncs.fdatasync_every == 0
            && range_every == 0;
        Script {
            plain: one_thing.then(|| files.plain(job.pattern.writes)).flatten(),
            reads: job.pattern.reads,
            writes: job.pattern.writes,
            rated: rated_mix(job),
            way: None,
            largest: u64::from(job.largest_block()),
            mix_read: u64::from(job.mix_read),
            offset: job.offset,
            fsync_every: u64::from(job.syncs.fsync_every),
            fdatasync_every: u64::from(job.syncs.fdatasync_every),
            range_every,
            time_based: job.endless(),
            limit: if job.endless() {
                u64::MAX
            } else {
                job.bytes_limit()
            },
            most_ios: job
                .most_ios
                .map_or(u64::MAX, |most| most.saturating_mul(u64::from(job.loops))),
            io_size: job.io_size,
            passes_left: job.loops.max(1) - 1,
            issued: 0,
            checked: 0,
            ios_issued: 0,
            writes_issued: 0,
            just_synced: false,
            directions: Rng::new(mix_seed),
            mix_seed,
            files,
            last_written: 0,
            range: None,
            backlog,
        }
    }

    /// The next step. At the end of a pass of a `time_based` job call [`Script::wrap`], of
    /// any other [`Script::next_pass`].
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Step {
        if self.plain.is_none() {
            return self.next_of_all();
        }
        if self.has_room() {
            let (offset, bytes) = self.next_plain();
            return Step::Io {
                file: 0,
                write: self.writes,
                check: false,
                offset,
                bytes,
            };
        }
        if self.done() {
            Step::Complete
        } else {
            Step::Exhausted
        }
    }

    /// Whether nothing but [`Script::next_plain`] is ever to be asked while there is room.
    pub fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// Whether a plain job has an I/O left before a limit or the end of the pass.
    #[inline(always)]
    pub fn has_room(&mut self) -> bool {
        self.plain.as_ref().is_some_and(|plain| plain.room > 0) || self.make_room()
    }

    /// Counts what is left until the next limit or end as issued.
    #[cold]
    fn make_room(&mut self) -> bool {
        let Some(plain) = &mut self.plain else {
            return false;
        };
        let bytes = u64::from(plain.bytes);
        // The last I/O may overshoot.
        let until_limit = self.limit.saturating_sub(self.issued).div_ceil(bytes);
        let until_count = self.most_ios.saturating_sub(self.ios_issued);
        plain.room = until_limit.min(until_count).min(plain.blocks.left());
        self.issued = self.issued.saturating_add(plain.room.saturating_mul(bytes));
        self.ios_issued = self.ios_issued.saturating_add(plain.room);
        plain.room > 0
    }

    /// The next I/O of a plain job: offset and bytes. There must be room.
    #[inline(always)]
    pub fn next_plain(&mut self) -> (u64, u32) {
        let Some(plain) = &mut self.plain else {
            return (0, 0);
        };
        plain.room -= 1;
        let offset = self.offset + plain.blocks.take() * u64::from(plain.bytes);
        (offset, plain.bytes)
    }

    /// Whether the job has issued all it is to issue.
    fn done(&self) -> bool {
        self.issued >= self.limit || self.ios_issued >= self.most_ios
    }

    /// The next step of a job that does more than one kind of thing.
    fn next_of_all(&mut self) -> Step {
        if self.backlog.is_some()
            && let Some(step) = self.read_back()
        {
            return step;
        }
        if self.done() {
            return Step::Complete;
        }
        if !self.just_synced
            && let Some(kind) = self.due()
        {
            self.just_synced = true;
            let file = self.last_written;
            return Step::Sync { file, kind };
        }
        let write = match (self.reads, self.writes) {
            (true, true) => match self.way.take() {
                Some(way) => way,
                None => {
                    let write = self.directions.below(100) >= self.mix_read;
                    if self.rated {
                        return Step::Turn { write };
                    }
                    write
                }
            },
            (_, writes) => writes,
        };
        match self.files.next(write) {
            Some(place) => self.io(write, place),
            None => self.end_of_pass(),
        }
    }

    /// The next I/O goes this way: the answer to [`Step::Turn`].
    pub fn go(&mut self, write: bool) {
        self.way = Some(write);
    }

    /// Counts the I/O at `(file, offset in the region, bytes)` as issued.
    #[inline(always)]
    fn io(&mut self, write: bool, (file, offset, bytes): (u32, u64, u32)) -> Step {
        let offset = self.offset + offset;
        self.issued += u64::from(bytes);
        self.ios_issued += 1;
        if write {
            self.wrote(file, offset, bytes);
        }
        Step::Io {
            file,
            write,
            check: false,
            offset,
            bytes,
        }
    }

    #[inline(always)]
    fn wrote(&mut self, file: u32, offset: u64, bytes: u32) {
        self.writes_issued += 1;
        self.just_synced = false;
        self.last_written = file;
        if self.range_every > 0 {
            let end = offset + u64::from(bytes);
            self.range = Some(match self.range {
                Some((same, from, to)) if same == file => (file, from.min(offset), to.max(end)),
                _ => (file, offset, end),
            });
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.written.push(Written {
                file,
                offset,
                bytes,
            });
        }
    }

    /// A block to read back, if some are due.
    fn read_back(&mut self) -> Option<Step> {
        let over = self.done();
        let backlog = self.backlog.as_mut()?;
        let full = backlog.every > 0 && backlog.written.len() >= backlog.every;
        if backlog.due.is_empty() && (full || over) {
            let some = !backlog.written.is_empty();
            backlog.turn();
            if over && some {
                return Some(Step::Written { last: true });
            }
        }
        let Written {
            file,
            offset,
            bytes,
        } = backlog.due.pop()?;
        self.checked += u64::from(bytes);
        Some(Step::Io {
            file,
            write: false,
            check: true,
            offset,
            bytes,
        })
    }

    /// The files are done: what is left to be read back comes first.
    fn end_of_pass(&mut self) -> Step {
        if let Some(backlog) = &mut self.backlog
            && !backlog.written.is_empty()
            && !self.time_based
        {
            backlog.turn();
            return Step::Written { last: false };
        }
        Step::Exhausted
    }

    #[inline]
    fn due(&mut self) -> Option<SyncKind> {
        let reached = |every: u64| every != 0 && self.writes_issued.is_multiple_of(every);
        if self.writes_issued == 0 {
            None
        } else if reached(self.fsync_every) {
            Some(SyncKind::Full)
        } else if reached(self.fdatasync_every) {
            Some(SyncKind::Data)
        } else if reached(self.range_every) {
            // After a reopening nothing was written, and fio counts a sync all the same.
            let (_, from, to) = self.range.take().unwrap_or_default();
            Some(SyncKind::Range {
                offset: from,
                bytes: to - from,
            })
        } else {
            None
        }
    }

    /// Goes on from the front of the region, in a new random order.
    pub fn wrap(&mut self) {
        debug_assert!(self.time_based);
        self.files.places.iter_mut().for_each(Places::renew);
        self.plain.iter_mut().for_each(|plain| plain.blocks.renew());
        self.files.revive();
        if let Some(backlog) = &mut self.backlog {
            // Time ends the job, so nothing is ever read back at its end.
            backlog.written.clear();
        }
    }

    /// Starts the next pass of the job, if there is one: the same offsets and directions in the
    /// same order, as fio draws from the same seeds again.
    pub fn next_pass(&mut self) -> bool {
        if self.passes_left > 0 {
            self.passes_left -= 1;
        } else {
            let missing = self.io_size.map_or(0, |io_size| {
                io_size.saturating_sub(self.issued + self.checked)
            });
            if missing < self.largest {
                return false;
            }
        }
        self.just_synced = false;
        self.directions = Rng::new(self.mix_seed);
        self.files.places.iter_mut().for_each(Places::rewind);
        self.plain
            .iter_mut()
            .for_each(|plain| plain.blocks.rewind());
        self.files.draws = Rng::new(self.files.seed);
        self.files.revive();
        true
    }
}

/// Whether the job's rates decide how many of its I/Os are reads.
pub(crate) fn rated_mix(job: &JobPlan) -> bool {
    job.pattern.mixed() && job.pace.bounded()
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
