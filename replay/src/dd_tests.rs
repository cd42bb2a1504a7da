//! dd's loop over real files.

use super::*;
use crate::clock::SystemClock;
use crate::plan::job::{Fallocate, FilePlan};

fn plan(block: u64, count: u64) -> DdPlan {
    DdPlan {
        source: Source::Zero,
        sink: Sink::File,
        block,
        output_block: block,
        count,
        tail: 0,
        skip: 0,
        seek: 0,
        overwrite: false,
        full_blocks: false,
        direct_in: false,
        direct_out: false,
        sync: false,
        dsync: false,
        drop_read: false,
        drop_written: false,
        conv_sync: ConvSync::None,
        sync_after: false,
        sync_before: false,
        timed: None,
        runtime_ns: None,
        files: vec![file("dd", block * count)],
    }
}

fn file(name: &str, bytes: u64) -> FilePlan {
    FilePlan {
        name: name.into(),
        label: "test".into(),
        bytes,
        written_in: None,
        fallocate: Fallocate::None,
        sync: true,
        pre_read: false,
        device: false,
    }
}

fn outcome(plan: &DdPlan) -> DdOutcome {
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    let outcome = run(plan, &sandbox, &SystemClock::new(), &Control::default());
    assert_eq!(outcome.failure, None);
    outcome
}

#[test]
fn blocks_and_bytes_are_dd_s() {
    let found = outcome(&plan(1 << 16, 16));
    assert_eq!(
        (found.read, found.written),
        (
            Blocks {
                full: 16,
                partial: 0
            },
            Blocks {
                full: 16,
                partial: 0
            }
        )
    );
    assert_eq!(found.bytes, 1 << 20);
    assert!(found.window_ns > 0 && found.source_ns > 0 && found.source_ns < found.window_ns);
    assert!(found.file_sync_ns.is_some(), "flushed after the window");
    assert_eq!(
        (found.conv_sync_ns, found.file_system_sync_ns, found.wall_ns),
        (None, None, None)
    );
}

#[test]
fn syncs_are_stages_of_their_own() {
    let mut sync = plan(4096, 4);
    (sync.sync_after, sync.timed) = (true, Some(Timed::RunAndSync));
    let found = outcome(&sync);
    let stages = found.window_ns + found.file_sync_ns.unwrap() + found.file_system_sync_ns.unwrap();
    assert!(found.wall_ns.unwrap() >= stages);
    let mut conv = plan(4096, 4);
    conv.conv_sync = ConvSync::Data;
    let found = outcome(&conv);
    assert!(found.conv_sync_ns.unwrap() <= found.window_ns);
    assert_eq!(found.file_sync_ns, None, "it is flushed already");
}

#[test]
fn every_way_of_opening_works() {
    for change in [
        |plan: &mut DdPlan| plan.dsync = true,
        |plan: &mut DdPlan| plan.sync = true,
        |plan: &mut DdPlan| plan.seek = 8192,
        |plan: &mut DdPlan| plan.source = Source::Random,
        |plan: &mut DdPlan| plan.drop_written = true,
        |plan: &mut DdPlan| {
            plan.overwrite = true;
            plan.files[0].written_in = Some(4096);
        },
        |plan: &mut DdPlan| {
            (plan.source, plan.sink) = (Source::File, Sink::Null);
            plan.files[0].written_in = Some(4096);
        },
        |plan: &mut DdPlan| {
            (plan.source, plan.skip, plan.drop_read) = (Source::File, 4096, true);
            plan.files.insert(0, file("dd.in", 36_864));
            plan.files[0].written_in = Some(4096);
        },
    ] {
        let mut changed = plan(4096, 8);
        change(&mut changed);
        assert_eq!(outcome(&changed).bytes, 32_768, "{changed:?}");
    }
}

#[test]
fn a_source_that_ends_early_ends_the_copy() {
    let mut short = plan(4096, 8);
    (short.source, short.sink) = (Source::File, Sink::Null);
    let file = &mut short.files[0];
    (file.written_in, file.bytes) = (Some(4096), 10_000);
    let found = outcome(&short);
    assert_eq!(
        (found.bytes, found.read),
        (
            10_000,
            Blocks {
                full: 2,
                partial: 1
            }
        )
    );
}

/// A copy brings the source's bytes from `skip` on to the sink's from `seek` on.
#[test]
fn a_copy_is_byte_for_byte() {
    let mut copy = plan(4096, 3);
    (copy.source, copy.skip, copy.seek, copy.tail) = (Source::File, 4096, 512, 100);
    copy.files.insert(0, file("dd.in", 4 * 4096 + 100));
    copy.files[0].written_in = Some(4096);
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    let found = run(&copy, &sandbox, &SystemClock::new(), &Control::default());
    assert_eq!(found.failure, None);
    let partial = Blocks {
        full: 3,
        partial: 1,
    };
    assert_eq!(
        (found.bytes, found.read, found.written),
        (12_388, partial, partial)
    );
    let read = |name| std::fs::read(sandbox.path().join(name)).unwrap();
    let (source, sink) = (read("dd.in"), read("dd"));
    assert_eq!(sink[..512], [0; 512]);
    assert_eq!(sink[512..], source[4096..]);
}

#[test]
fn reads_are_collected_and_cut_up_for_writes() {
    for (input, output, count, full, partial) in [
        (512, 8192, 17, 1, 1),
        (8192, 512, 2, 32, 0),
        (3000, 4096, 4, 2, 1),
    ] {
        let mut collect = plan(input, count);
        collect.output_block = output;
        let found = outcome(&collect);
        assert_eq!(found.written, Blocks { full, partial }, "{input} {output}");
        assert_eq!((found.bytes, found.read.full), (input * count, count));
    }
}

/// The clock is asked between two blocks, so the first is always moved, and what was written is synced.
#[test]
fn it_ends_when_its_time_is_over() {
    let mut timed = plan(4096, 1 << 20);
    (timed.sink, timed.runtime_ns) = (Sink::Null, Some(1));
    let found = outcome(&timed);
    assert_eq!((found.bytes, found.out_of_time), (4096, true));
    timed.runtime_ns = Some(20_000_000);
    let found = outcome(&timed);
    assert!(found.out_of_time && found.window_ns >= 20_000_000 && found.bytes < 4 << 30);
    let mut whole = plan(4096, 3);
    (whole.runtime_ns, whole.conv_sync) = (Some(60_000_000_000), ConvSync::Data);
    let found = outcome(&whole);
    assert_eq!((found.bytes, found.out_of_time), (3 * 4096, false));
    whole.runtime_ns = Some(1);
    let found = outcome(&whole);
    assert!(found.bytes == 4096 && found.conv_sync_ns.is_some());
}

#[test]
fn a_stop_ends_it() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    let control = Control::default();
    control.stop(Stop::Interrupted);
    let found = run(&plan(4096, 8), &sandbox, &SystemClock::new(), &control);
    assert_eq!((found.bytes, found.stopped), (0, Some(Stop::Interrupted)));
}
