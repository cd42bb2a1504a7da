//! The worker on a clock that only moves as told, with a file that is not there.

use super::*;
use crate::clock::TestClock;
use crate::engine::null::Null;
use crate::memory::{Buffer, Pages};
use crate::plan::job::tests::job;
use std::cell::RefCell;
use std::io;

const MS: u64 = 1_000_000;

/// A file that notes what is done to it and takes its time.
struct Fake<'a> {
    clock: &'a TestClock,
    log: &'a RefCell<Vec<&'static str>>,
    open_ns: u64,
    invalidate_ns: u64,
    sync_ns: u64,
}

impl<'a> Fake<'a> {
    fn quick(clock: &'a TestClock, log: &'a RefCell<Vec<&'static str>>) -> Self {
        Fake {
            clock,
            log,
            open_ns: 0,
            invalidate_ns: 0,
            sync_ns: 0,
        }
    }

    fn note(&self, what: &'static str, ns: u64) {
        self.log.borrow_mut().push(what);
        self.clock.advance(ns);
    }
}

impl Media for Fake<'_> {
    fn open(&mut self) -> io::Result<Vec<Arc<File>>> {
        self.note("open", self.open_ns);
        Ok(Vec::new())
    }

    fn invalidate(&mut self) -> io::Result<()> {
        self.note("dontneed", self.invalidate_ns);
        Ok(())
    }

    fn hint(&mut self, random: bool) -> io::Result<()> {
        self.note(if random { "random" } else { "sequential" }, 0);
        Ok(())
    }

    fn sync(&mut self, _file: u32, kind: SyncKind) -> io::Result<()> {
        self.note(
            if kind == SyncKind::Full {
                "fsync"
            } else {
                "fdatasync"
            },
            self.sync_ns,
        );
        Ok(())
    }

    fn close(&mut self) {
        self.note("close", 0);
    }
}

/// An engine on which each hand-over takes a while, and which may fail or fall short.
struct Slow<'a> {
    inner: Null,
    clock: &'a TestClock,
    ns: u64,
    result: fn(u64, u32) -> i32,
    turns: u64,
}

impl<'a> Slow<'a> {
    fn new(clock: &'a TestClock, depth: u32, ns: u64) -> Self {
        Slow {
            inner: null(depth),
            clock,
            ns,
            result: |_, bytes| bytes as i32,
            turns: 0,
        }
    }
}

impl Engine for Slow<'_> {
    const SYNCHRONOUS: bool = true;

    fn attach(&mut self, files: &[Arc<File>]) -> io::Result<()> {
        self.inner.attach(files)
    }

    fn detach(&mut self) -> io::Result<()> {
        self.inner.detach()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.inner.buffer(slot)
    }

    fn turn(&mut self, ops: &[Op], wait: u32, done: &mut Vec<Done>) -> io::Result<()> {
        self.clock.advance(self.ns);
        self.inner.turn(ops, wait, done)?;
        for (op, done) in ops.iter().zip(done) {
            done.result = (self.result)(self.turns, op.bytes);
            self.turns += 1;
        }
        Ok(())
    }
}

fn null(depth: u32) -> Null {
    Null::new(Buffer::slots(depth as usize, 1 << 16, Pages::OnTouch).unwrap())
}

fn run(job: &JobPlan) -> (JobOutcome, Vec<&'static str>) {
    let (clock, log) = (TestClock::new(1), RefCell::default());
    let media = Fake::quick(&clock, &log);
    let outcome = Worker::new(job, null(job.depth), &clock, media, &Control::default()).run();
    (outcome, log.into_inner())
}

#[test]
fn the_window_covers_opening_dropping_io_and_syncs_but_not_the_last_close() {
    let (clock, log) = (TestClock::new(0), RefCell::default());
    let mut job = job("write");
    job.syncs.fsync_every = 4; // three of them in 16 writes
    job.syncs.end_fsync = true;
    let media = Fake {
        open_ns: 500 * MS,
        invalidate_ns: 50 * MS,
        sync_ns: 10 * MS,
        ..Fake::quick(&clock, &log)
    };
    let engine = Slow::new(&clock, 1, 2 * MS);
    let outcome = Worker::new(&job, engine, &clock, media, &Control::default()).run();
    assert_eq!(outcome.io_phase_ns, (500 + 50 + 16 * 2 + 3 * 10) * MS);
    assert_eq!(outcome.final_sync_ns, 10 * MS);
    assert_eq!(
        outcome.window_ns,
        outcome.io_phase_ns + outcome.final_sync_ns
    );
    let write = &outcome.flows[1];
    assert_eq!(
        (write.ios, write.bytes, write.clat.count()),
        (16, 65_536, 16)
    );
    assert_eq!(
        (write.clat.min(), write.clat.max()),
        (2 * MS, 2 * MS),
        "syncs are not in clat"
    );
    assert_eq!(write.slat.count(), 0, "a synchronous engine has no slat");
    assert_eq!(
        (outcome.syncs.count, outcome.syncs.lat.mean()),
        (3, (10 * MS) as f64)
    );
    let log = log.into_inner();
    assert_eq!(
        log,
        [
            "open",
            "dontneed",
            "sequential",
            "fsync",
            "fsync",
            "fsync",
            "fsync",
            "close"
        ]
    );
}

#[test]
fn loops_close_sync_and_reopen_between_passes() {
    let mut job = job("write");
    (job.loops, job.syncs.end_fsync) = (2, true);
    let (outcome, log) = run(&job);
    assert_eq!(outcome.flows[1].ios, 32);
    let opening = ["open", "dontneed", "sequential"];
    let expected: Vec<&str> = [
        &opening[..],
        &["close"],
        &opening,
        &["fsync", "close"],
        &opening,
        &["fsync", "close"],
    ]
    .concat();
    assert_eq!(log, expected);
}

#[test]
fn time_based_wraps_drop_the_cache_without_reopening() {
    let (clock, log) = (TestClock::new(0), RefCell::default());
    let mut job = job("randread");
    (job.time_based, job.runtime_ns) = (true, Some(40 * MS));
    let engine = Slow::new(&clock, 1, MS);
    let media = Fake::quick(&clock, &log);
    let outcome = Worker::new(&job, engine, &clock, media, &Control::default()).run();
    assert_eq!(outcome.flows[0].ios, 40);
    assert_eq!(outcome.wraps, 2, "after 16 and 32 blocks");
    assert_eq!(
        log.into_inner(),
        [
            "open", "dontneed", "random", "dontneed", "dontneed", "close"
        ]
    );
}

#[test]
fn an_io_under_way_at_the_end_of_the_run_time_finishes_and_counts() {
    let (clock, log) = (TestClock::new(0), RefCell::default());
    let mut job = job("write");
    job.runtime_ns = Some(1000 * MS);
    let engine = Slow::new(&clock, 1, 700 * MS);
    let media = Fake::quick(&clock, &log);
    let outcome = Worker::new(&job, engine, &clock, media, &Control::default()).run();
    assert_eq!((outcome.flows[1].ios, outcome.window_ns), (2, 1400 * MS));
    assert_eq!(
        outcome.samples.len(),
        2,
        "a window of the series ends with the first I/O after 500 ms"
    );
}

#[test]
fn a_ramp_is_run_and_forgotten() {
    let (clock, log) = (TestClock::new(0), RefCell::default());
    let mut job = job("write");
    (job.time_based, job.runtime_ns, job.ramp_ns) = (true, Some(20 * MS), 10 * MS);
    let engine = Slow::new(&clock, 1, MS);
    let media = Fake::quick(&clock, &log);
    let outcome = Worker::new(&job, engine, &clock, media, &Control::default()).run();
    assert_eq!((outcome.flows[1].ios, outcome.window_ns), (20, 20 * MS));
    assert_eq!(outcome.issued[0], 30);
    // Data that ends within the ramp is all reported.
    job.time_based = false;
    let (outcome, _) = run(&job);
    assert_eq!(outcome.flows[1].ios, 16);
}

#[test]
fn the_queue_is_filled_to_the_depth_and_every_io_is_counted_once() {
    let mut job = job("randread");
    (job.depth, job.region) = (8, 4096 * 1000);
    let (outcome, _) = run(&job);
    let read = &outcome.flows[0];
    assert_eq!((read.ios, read.bytes), (1000, 4_096_000));
    assert_eq!(
        (
            read.slat.count(),
            read.clat.count(),
            read.clat_histogram.total()
        ),
        (1000, 1000, 1000)
    );
    assert_eq!(read.lat.sum(), read.slat.sum() + read.clat.sum());
    assert_eq!(outcome.depths.iter().sum::<u64>(), 1000);
    assert_eq!(
        outcome.depths[3], 125,
        "each of 125 refills reaches a depth of 8 once"
    );
}

#[test]
fn failures_end_the_job_with_place_and_number() {
    let (clock, log) = (TestClock::new(1), RefCell::default());
    let control = Control::default();
    let job = job("write");
    let mut engine = Slow::new(&clock, 1, 1);
    engine.result = |turn, bytes| {
        if turn == 3 {
            -libc::ENOSPC
        } else {
            bytes as i32
        }
    };
    let outcome = Worker::new(&job, engine, &clock, Fake::quick(&clock, &log), &control).run();
    assert_eq!(outcome.flows[1].ios, 3);
    let failure = outcome.failure.unwrap();
    assert_eq!(failure.code, libc::ENOSPC);
    assert!(
        failure.sentence().contains("offset 12288"),
        "{}",
        failure.sentence()
    );
    assert_eq!(
        control.stopped(),
        Some(Stop::Failed),
        "the other jobs end too"
    );
}

#[test]
fn short_transfers_are_completed_and_an_early_end_is_a_failure() {
    let (clock, log) = (TestClock::new(1), RefCell::default());
    let control = Control::default();
    let job = job("read");
    let mut engine = Slow::new(&clock, 1, 1);
    engine.result = |turn, bytes| if turn == 2 { 1000 } else { bytes as i32 };
    let outcome = Worker::new(&job, engine, &clock, Fake::quick(&clock, &log), &control).run();
    assert_eq!(
        (
            outcome.flows[0].ios,
            outcome.flows[0].bytes,
            outcome.flows[0].short
        ),
        (16, 65_536, 1)
    );
    assert_eq!(outcome.failure, None);
    let mut engine = Slow::new(&clock, 1, 1);
    engine.result = |turn, bytes| if turn == 2 { 0 } else { bytes as i32 };
    let outcome = Worker::new(&job, engine, &clock, Fake::quick(&clock, &log), &control).run();
    assert!(
        outcome
            .failure
            .unwrap()
            .what
            .contains("the file ended at offset 8192")
    );
}

#[test]
fn a_stop_ends_issuing_and_still_syncs() {
    let (clock, log) = (TestClock::new(1), RefCell::default());
    let control = Control::default();
    control.stop(Stop::Interrupted);
    let mut job = job("write");
    job.syncs.end_fsync = true;
    let outcome = Worker::new(&job, null(1), &clock, Fake::quick(&clock, &log), &control).run();
    assert_eq!(
        (outcome.flows[1].ios, outcome.stopped),
        (0, Some(Stop::Interrupted))
    );
    assert_eq!(
        log.into_inner(),
        ["open", "dontneed", "sequential", "fsync", "close"]
    );
}

#[test]
fn a_rate_is_kept_and_the_ramp_left_out() {
    let mut job = job("write");
    job.region = 4096 * 10;
    (job.time_based, job.runtime_ns) = (true, Some(10_000 * MS));
    job.pace.ios = [0, 100];
    let (outcome, _) = run(&job);
    assert!(
        (990..=1010).contains(&outcome.flows[1].ios),
        "{}",
        outcome.flows[1].ios
    );
    // fio 3.33 with the same options: 151 issued, 100 reported.
    (job.runtime_ns, job.ramp_ns) = (Some(2_000 * MS), 1_000 * MS);
    job.pace.ios = [0, 50];
    let (outcome, _) = run(&job);
    assert!(
        (149..=152).contains(&outcome.issued[0]),
        "{}",
        outcome.issued[0]
    );
    assert!(
        (99..=101).contains(&outcome.flows[1].ios),
        "{}",
        outcome.flows[1].ios
    );
    assert!(outcome.window_ns.abs_diff(2_000 * MS) < 25 * MS);
}

#[test]
fn what_would_be_due_after_the_end_does_not_go() {
    // I/Os of fio 3.33 for --rw=write --bs=4k --size=1m, the rate, and the run time.
    for (rate, ms, ios) in [
        (1, 1000, 1),
        (1024, 1000, 1),
        (10 << 10, 1000, 3),
        (12 << 10, 1000, 3),
        (4 << 10, 3500, 4),
    ] {
        let mut job = job("write");
        job.region = 1 << 20;
        job.runtime_ns = Some(ms * MS);
        job.pace.bytes = [0, rate];
        let (outcome, _) = run(&job);
        assert_eq!(outcome.flows[1].ios, ios, "{rate} for {ms} ms");
        assert!(outcome.window_ns.abs_diff(ms * MS) < MS);
    }
    // A mix: 4 KiB/s of each for 1.5 s, due at 0 and 1 s.
    let mut mix = job("randrw");
    mix.region = 1 << 20;
    mix.runtime_ns = Some(1500 * MS);
    mix.pace.bytes = [4 << 10; 2];
    let (outcome, _) = run(&mix);
    assert_eq!([0, 1].map(|way| outcome.flows[way].ios), [2, 2]);
}

#[test]
fn pauses_are_in_the_window_and_in_no_latency() {
    use crate::plan::job::Think;
    // fio 3.33: 8 I/Os and 100 ms after each take 0.83 s, 16 and 50 ms after every fourth 0.20 s.
    for (ios, blocks, ms, wanted) in [(8, 1, 100, 800), (16, 4, 50, 200)] {
        let mut job = job("write");
        job.region = 4096 * ios;
        job.pace.think = Some(Think {
            ns: ms * MS,
            spin_ns: 0,
            blocks,
        });
        let (outcome, _) = run(&job);
        assert!(
            outcome.window_ns.abs_diff(wanted * MS) < MS,
            "{}",
            outcome.window_ns
        );
        assert!(outcome.flows[1].lat.max() < MS);
    }
}

#[test]
fn what_comes_back_is_compared_with_what_was_written() {
    use crate::plan::job::{Check, Verify};
    let mut job = job("write");
    job.verify = Some(Verify {
        check: Check::Crc32c,
        backlog: 1,
        read_back: true,
    });
    let (outcome, _) = run(&job);
    // The null engine leaves the buffer as it was, so reading a block back at once finds it.
    assert_eq!((outcome.failure, outcome.checked), (None, 16));
    assert_eq!((outcome.flows[0].ios, outcome.flows[1].ios), (16, 16));
    job.verify = Some(Verify {
        check: Check::Md5,
        backlog: 0,
        read_back: true,
    });
    let (outcome, _) = run(&job);
    // After the pass the buffer holds the last block and not the first.
    let failure = outcome.failure.unwrap();
    assert_eq!(failure.code, libc::EILSEQ);
    assert!(
        failure.what.contains("for offset 61440"),
        "{}",
        failure.what
    );
}

/// The order of calls is that of fio 3.33 under strace, for one pass and for two with their sync;
/// the times are those of the calls that belong to each.
#[test]
fn checks_open_the_file_anew_and_have_their_own_time() {
    use crate::plan::job::{Check, Verify};
    for (loops, end_fsync, on_close, wanted) in [
        (1, false, false, "O close O close"),
        (1, true, false, "O fsync close O close"),
        (1, false, true, "O fsync fsync close O close"),
        (
            2,
            true,
            false,
            "O close O fsync close O close O fsync close O close",
        ),
    ] {
        let (clock, log) = (TestClock::new(0), RefCell::default());
        let mut job = job("write");
        (job.loops, job.syncs.end_fsync, job.syncs.on_close) = (loops, end_fsync, on_close);
        // The engine gives back what was written last, and a pattern is all alike.
        job.verify = Some(Verify {
            check: Check::Pattern(vec![7]),
            backlog: 0,
            read_back: true,
        });
        let engine = Slow::new(&clock, 1, MS);
        let media = Fake {
            sync_ns: 100 * MS,
            ..Fake::quick(&clock, &log)
        };
        let outcome = Worker::new(&job, engine, &clock, media, &Control::default()).run();
        assert_eq!(outcome.failure, None);
        let wanted = wanted.replace('O', "open dontneed sequential");
        assert_eq!(log.into_inner().join(" "), wanted);
        let passes = u64::from(loops);
        let ios = 16 * passes;
        assert_eq!(outcome.flows.each_ref().map(|flow| flow.ios), [ios; 2]);
        // 1 ms each, and the writes' time has the sync at the end of each pass.
        let syncs = if end_fsync || on_close { passes } else { 0 };
        assert_eq!(outcome.windows_ns, [ios * MS, (ios + 100 * syncs) * MS]);
        let last = if syncs > 0 { 100 } else { 0 };
        assert_eq!(outcome.io_phase_ns, outcome.windows_ns[1] - last * MS);
    }
}

#[test]
fn each_file_of_a_job_is_synced_at_the_end() {
    let mut job = job("write");
    job.files = vec![0, 1, 2];
    (job.open_files, job.syncs.end_fsync) = (3, true);
    let (outcome, log) = run(&job);
    assert_eq!(outcome.final_syncs, 3);
    assert_eq!(log.iter().filter(|call| **call == "fsync").count(), 3);
    assert_eq!(outcome.flows[1].ios, 48);
}

#[test]
fn batches_go_and_come_as_asked() {
    use crate::plan::job::Batch;
    let mut job = job("read");
    (job.depth, job.asked_depth, job.region) = (8, 8, 4096 * 256);
    job.batch = Batch {
        submit: 8,
        complete: 8,
        ..Batch::default()
    };
    let (outcome, _) = run(&job);
    // 256 I/Os in hand-overs of eight: 32, all in the class up to 8.
    assert_eq!(outcome.submits, [0, 0, 32, 0, 0, 0, 0]);
}
