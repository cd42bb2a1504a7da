//! Plans of fio jobs: sizes, engines, notes, refusals.

use super::super::{Limits, Plan, Refusal, Target, TestPlan, Verdict, plan};
use super::*;
use fio_parse::workload::{Test, Workload, WrittenAs};

pub(in crate::plan) fn target() -> Target {
    Target {
        direct_alignment: Some(512),
        ..Target::new(Limits {
            file_bytes: 64 << 30,
            memory_bytes: 1 << 30,
            runtime_ns: 600_000_000_000,
            open_files: 1000,
            written_bytes: 256 << 30,
        })
    }
}

/// `--name=j --rw=randwrite --bs=4k --size=4g`, changed.
pub(in crate::plan) fn asked(change: impl Fn(&mut Job)) -> Workload {
    let mut job = Job {
        name: "j".to_owned(),
        pattern: Some(AskedPattern::RandWrite),
        block_bytes: Some(Bytes(4096)),
        size_bytes: Some(Bytes(4 << 30)),
        ..Job::default()
    };
    change(&mut job);
    Workload::new(WrittenAs::FioCommand, Test::Jobs(vec![job]))
}

pub(in crate::plan) fn planned(workload: &Workload, target: &Target) -> (FioPlan, Plan) {
    let plan = plan(workload, target).unwrap_or_else(|refusals| panic!("{refusals:?}"));
    let TestPlan::Fio(fio) = plan.test.clone() else {
        panic!("fio was asked for")
    };
    (fio, plan)
}

fn refused(workload: &Workload, target: &Target) -> Vec<&'static str> {
    let refusals: Vec<Refusal> = plan(workload, target).expect_err("a refusal was expected");
    refusals.iter().map(|refusal| refusal.id).collect()
}

fn ids(plan: &Plan) -> Vec<&'static str> {
    plan.notes.iter().map(|note| note.id()).collect()
}

fn option(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

#[test]
fn the_well_known_posixaio_test_is_equivalent() {
    let workload = asked(|job| {
        job.engine = Some("posixaio".to_owned());
        (job.depth, job.jobs) = (Some(1), Some(1));
        (job.runtime_ns, job.time_based) = (Nanos::new(60e9), Some(true));
        job.end_fsync = Some(true);
    });
    let (fio, plan) = planned(&workload, &target());
    assert_eq!(plan.verdict(), Verdict::Equivalent);
    assert_eq!(
        ids(&plan),
        [
            "posixaio-linux-serial",
            "clat-holds-submission",
            "random-sequence"
        ]
    );
    let job = &fio.jobs[0];
    assert_eq!(
        (job.engine, job.depth, job.region),
        (EngineKind::Helper, 1, 4 << 30)
    );
    assert!(job.endless() && job.syncs.end_fsync && job.invalidate);
    assert_eq!(
        (plan.file_bytes(), plan.written_bytes(), plan.longest_ns()),
        (4 << 30, None, Some(60_000_000_000))
    );
    assert_eq!(
        fio.files[0].written_in, None,
        "a pure write is only reserved"
    );
}

#[test]
fn scaling_is_recorded_and_goes_only_down() {
    let workload = asked(|job| (job.runtime_ns, job.time_based) = (Nanos::new(60e9), Some(true)));
    let small = Target {
        size: Some(256 << 20),
        runtime_ns: Some(3_000_000_000),
        ..target()
    };
    let (fio, plan) = planned(&workload, &small);
    assert_eq!(
        (fio.jobs[0].region, fio.files[0].bytes),
        (256 << 20, 256 << 20)
    );
    assert_eq!(fio.jobs[0].runtime_ns, Some(3_000_000_000));
    assert_eq!(plan.verdict(), Verdict::Deviates);
    assert!(ids(&plan).contains(&"scaled-size") && ids(&plan).contains(&"scaled-runtime"));
    let large = Target {
        size: Some(1 << 40),
        runtime_ns: Some(600_000_000_000),
        ..target()
    };
    let (fio, plan) = planned(&workload, &large);
    assert_eq!(fio.jobs[0].region, 4 << 30);
    assert!(!ids(&plan).contains(&"scaled-size") && !ids(&plan).contains(&"scaled-runtime"));
}

#[test]
fn scaling_keeps_proportions() {
    let workload = asked(|job| {
        job.size_bytes = Some(Bytes(1 << 30));
        job.offset_bytes = Some(Bytes(1 << 30));
        job.io_size_bytes = Some(Bytes(4 << 30));
    });
    let (fio, _) = planned(
        &workload,
        &Target {
            size: Some(2 << 20),
            ..target()
        },
    );
    let job = &fio.jobs[0];
    assert_eq!(
        (job.offset, job.region, job.io_size),
        (1 << 20, 1 << 20, Some(4 << 20))
    );
    assert_eq!(fio.files[0].bytes, 2 << 20);
}

#[test]
fn engines_get_their_verdicts() {
    let verdict = |engine: &str, direct: bool, depth: u32| {
        let workload = asked(|job| {
            job.engine = Some(engine.to_owned());
            (job.direct, job.depth) = (Some(direct), Some(depth));
            job.pattern = Some(AskedPattern::Write);
            job.end_fsync = Some(true);
        });
        let (fio, plan) = planned(&workload, &target());
        (fio.jobs[0].engine, fio.jobs[0].depth, plan.verdict())
    };
    use EngineKind::{Helper, Sync, Uring};
    assert_eq!(verdict("psync", false, 1), (Sync, 1, Verdict::Exact));
    assert_eq!(verdict("psync", false, 32), (Sync, 1, Verdict::Equivalent));
    assert_eq!(
        verdict("io_uring", false, 32),
        (Uring, 32, Verdict::Equivalent)
    );
    assert_eq!(
        verdict("libaio", true, 32),
        (Uring, 32, Verdict::Equivalent)
    );
    assert_eq!(verdict("aio", true, 32), (Uring, 32, Verdict::Equivalent));
    assert_eq!(verdict("libaio", false, 32), (Sync, 1, Verdict::Deviates));
    assert_eq!(
        verdict("posixaio", false, 16),
        (Helper, 16, Verdict::Equivalent)
    );
    assert_eq!(
        verdict("windowsaio", true, 8),
        (Uring, 8, Verdict::Deviates)
    );
}

#[test]
fn without_io_uring_the_fall_back_is_recorded_with_its_cause() {
    let workload = asked(|job| job.engine = Some("io_uring".to_owned()));
    let barred = Target {
        uring: Err("forbidden by a test".to_owned()),
        ..target()
    };
    let (fio, plan) = planned(&workload, &barred);
    assert_eq!(fio.jobs[0].engine, EngineKind::Sync);
    let note = plan
        .notes
        .iter()
        .find(|note| note.id() == "uring-unavailable")
        .unwrap();
    assert!(note.sentence().contains("forbidden by a test"));
}

#[test]
fn direct_io_off_the_alignment_is_refused_by_number() {
    let workload = asked(|job| (job.direct, job.block_bytes) = (Some(true), Some(Bytes(2300))));
    let refusals = plan(&workload, &target()).unwrap_err();
    assert_eq!(refusals[0].id, "direct-alignment");
    assert!(refusals[0].why.contains("512") && refusals[0].why.contains("2300"));
    let workload = asked(|job| job.direct = Some(true));
    assert_eq!(
        refused(
            &workload,
            &Target {
                direct_alignment: Some(0),
                ..target()
            }
        ),
        ["no-direct"]
    );
}

#[test]
fn all_refusals_come_at_once() {
    let workload = asked(|job| {
        job.engine = Some("rbd".to_owned());
        job.other = vec![option("exec_prerun", "rm -rf /"), option("nonsense", "1")];
        job.nrfiles = Some(40_000);
    });
    let mut found = refused(&workload, &target());
    found.sort_unstable();
    assert_eq!(
        found,
        ["engine", "option", "too-many-files", "unknown-option"]
    );
}

#[test]
fn options_are_carried_out_noted_or_refused() {
    let with = |name: &'static str, value: &'static str| {
        asked(move |job| job.other = vec![option(name, value)])
    };
    let (fio, _) = planned(&with("invalidate", "0"), &target());
    assert!(!fio.jobs[0].invalidate);
    let (fio, _) = planned(&with("norandommap", "1"), &target());
    assert!(!fio.jobs[0].order.random_map);
    let (fio, _) = planned(&with("refill_buffers", ""), &target());
    assert_eq!(fio.jobs[0].content, Content::Refilled);
    let (fio, _) = planned(&with("overwrite", "1"), &target());
    assert_eq!(fio.files[0].written_in, Some(4096));
    let (_, plan) = planned(&with("write_bw_log", "/etc/passwd"), &target());
    assert!(ids(&plan).contains(&"logs-elsewhere"));
    for (name, value) in [
        ("bssplit", "4k/50:8k/40"),
        ("verify", "sha512"),
        ("rate_min", "100"),
        ("invalidate", "maybe"),
    ] {
        plan_fails(&with(name, value), name);
    }
}

fn plan_fails(workload: &Workload, why: &str) {
    assert!(plan(workload, &target()).is_err(), "{why} must be refused");
}

#[test]
fn clones_have_own_files_and_streams_unless_a_file_is_named() {
    let (fio, plan) = planned(&asked(|job| job.jobs = Some(3)), &target());
    assert_eq!((fio.jobs.len(), fio.files.len()), (3, 3));
    let seeds: std::collections::HashSet<u64> = fio.jobs.iter().map(|job| job.seed).collect();
    assert_eq!(seeds.len(), 3);
    assert!(ids(&plan).contains(&"threads-for-processes"));
    let shared = asked(|job| (job.jobs, job.filename) = (Some(3), Some("/etc/passwd".to_owned())));
    let (fio, plan) = planned(&shared, &target());
    assert_eq!((fio.jobs.len(), fio.files.len()), (3, 1));
    assert!(!fio.files[0].name.contains('/'), "names come from numbers");
    assert!(ids(&plan).contains(&"target-in-sandbox"));
}

#[test]
fn stonewalls_make_stages() {
    let Test::Jobs(mut jobs) = asked(|job| job.size_bytes = Some(Bytes(1 << 20))).test else {
        panic!()
    };
    jobs.push(Job {
        stonewall: Some(true),
        ..jobs[0].clone()
    });
    jobs.push(jobs[0].clone());
    let (fio, _) = planned(
        &Workload::new(WrittenAs::FioCommand, Test::Jobs(jobs)),
        &target(),
    );
    let stages: Vec<(u32, u32)> = fio.jobs.iter().map(|job| (job.stage, job.group)).collect();
    assert_eq!(stages, [(0, 0), (1, 1), (1, 1)]);
    assert_eq!(fio.stages(), [0, 1]);
}

#[test]
fn devices_need_a_size_and_are_never_the_target() {
    let device = |size| {
        asked(move |job| (job.filename, job.size_bytes) = (Some("/dev/nvme0n1".to_owned()), size))
    };
    assert_eq!(refused(&device(None), &target()), ["no-size"]);
    let (_, plan) = planned(&device(Some(Bytes(1 << 30))), &target());
    assert_eq!(plan.verdict(), Verdict::Deviates);
    let sized = Target {
        size: Some(1 << 30),
        ..target()
    };
    assert!(ids(&planned(&device(None), &sized).1).contains(&"scaled-size"));
}

#[test]
fn limits_hold() {
    assert_eq!(
        refused(
            &asked(|job| job.size_bytes = Some(Bytes(10 << 40))),
            &target()
        ),
        ["too-large"]
    );
    assert_eq!(
        refused(
            &asked(|job| job.size_bytes = Some(Bytes(u64::MAX))),
            &target()
        ),
        ["too-large"]
    );
    assert_eq!(
        refused(&asked(|job| job.jobs = Some(10_000)), &target()),
        ["too-many-jobs"]
    );
    assert_eq!(
        refused(&asked(|job| job.depth = Some(5000)), &target()),
        ["queue-depth"]
    );
    assert_eq!(
        refused(&asked(|job| job.size_bytes = Some(Bytes(2048))), &target()),
        ["smaller-than-a-block"]
    );
    assert_eq!(
        refused(&asked(|job| job.runtime_ns = Nanos::new(1e13)), &target()),
        ["too-long"]
    );
    let hungry = asked(|job| {
        (job.engine, job.direct) = (Some("io_uring".to_owned()), Some(true));
        (job.depth, job.jobs, job.block_bytes) = (Some(1024), Some(2), Some(Bytes(1 << 20)));
    });
    assert_eq!(refused(&hungry, &target()), ["memory"]);
    assert_eq!(
        refused(
            &asked(|job| job.pattern = Some(AskedPattern::RandTrim)),
            &target()
        ),
        ["trim"]
    );
}

#[test]
fn what_a_report_header_leaves_out_is_noted() {
    let mut workload = asked(|job| job.pattern = Some(AskedPattern::RandRw));
    workload.written_as = WrittenAs::FioHeader;
    let (_, plan) = planned(&workload, &target());
    for id in ["header-only", "direct-not-recorded", "mix-not-recorded"] {
        assert!(ids(&plan).contains(&id), "{id}: {:?}", ids(&plan));
    }
    assert_eq!(plan.verdict(), Verdict::Deviates);
    workload.written_as = WrittenAs::FioCommand;
    let told = ids(&planned(&workload, &target()).1);
    assert!(
        !told
            .iter()
            .any(|id| id.ends_with("-not-recorded") || *id == "header-only")
    );
    // No mix, no word about it.
    let mut workload = asked(|_| {});
    workload.written_as = WrittenAs::FioHeader;
    assert!(!ids(&planned(&workload, &target()).1).contains(&"mix-not-recorded"));
}

#[test]
fn a_single_pause_counts_as_time() {
    let pause = |time: &str| {
        asked(|job| {
            job.size_bytes = Some(Bytes(4096));
            job.other = vec![option("thinktime", time)];
        })
    };
    assert_eq!(refused(&pause("601s"), &target()), ["too-long"]);
    planned(&pause("599s"), &target());
}

#[test]
fn delays_rates_and_pauses_count_as_time() {
    // 600 s are the limit; 4 GiB are 1048576 blocks of 4 KiB.
    for (name, value, refusal) in [
        ("startdelay", "601", true),
        ("startdelay", "599", false),
        ("rate", "7m", false),
        ("rate", "6m", true),
        ("rate_iops", "1700", true),
        ("rate_iops", "1800", false),
        ("thinktime", "600us", true),
        ("thinktime", "500us", false),
    ] {
        let workload = asked(|job| job.other = vec![option(name, value)]);
        if refusal {
            assert_eq!(
                refused(&workload, &target()),
                ["too-long"],
                "{name}={value}"
            );
        } else {
            planned(&workload, &target());
        }
    }
    let timed = asked(|job| {
        job.runtime_ns = Nanos::new(1e10);
        job.other = vec![option("startdelay", "5")];
    });
    assert_eq!(
        planned(&timed, &target()).1.longest_ns(),
        Some(15_000_000_000)
    );
}

#[test]
fn a_depth_of_zero_is_refused_as_by_fio() {
    assert_eq!(
        refused(&asked(|job| job.depth = Some(0)), &target()),
        ["option-value"]
    );
}

#[test]
fn sizes_print_in_binary_units() {
    assert_eq!(binary(4 << 30), "4 GiB");
    assert_eq!(binary(1000), "1000 B");
    assert_eq!(binary(1536), "1.5 KiB");
    assert_eq!(binary(0), "0 B");
}

#[test]
fn open_values_matter_unless_they_are_names() {
    let mut workload = asked(|job| job.filename = Some("$TARGET".to_owned()));
    workload.missing = vec!["TARGET".to_owned()];
    assert!(ids(&planned(&workload, &target()).1).contains(&"target-unknown"));
    let mut workload = asked(|job| job.other = vec![option("bs", "$BS")]);
    workload.missing = vec!["BS".to_owned()];
    assert_eq!(
        refused(&workload, &target()),
        ["missing-values", "missing-values"]
    );
    let mut workload = asked(|_| {});
    workload.missing = vec!["file:other.fio".to_owned()];
    assert_eq!(refused(&workload, &target()), ["missing-values"]);
}

/// The file is as the first job that needs it makes it, and only a larger one makes it anew.
#[test]
fn a_file_is_laid_out_for_the_first_job_that_uses_it() {
    let laid_out = |jobs: &[(AskedPattern, u64)]| {
        let mut workload = asked(|_| {});
        let Test::Jobs(asked) = &mut workload.test else {
            panic!()
        };
        let template = asked[0].clone();
        *asked = jobs
            .iter()
            .map(|&(pattern, size)| Job {
                pattern: Some(pattern),
                filename: Some("x".to_owned()),
                size_bytes: Some(Bytes(size)),
                stonewall: Some(true),
                ..template.clone()
            })
            .collect();
        let (fio, plan) = planned(&workload, &target());
        assert_eq!(fio.files.len(), 1);
        let flushed = ids(&plan).contains(&"flush-after-run");
        (fio.files[0].written_in.is_some(), flushed)
    };
    let (write, read) = (AskedPattern::Write, AskedPattern::Read);
    let (small, large) = (1 << 20, 2 << 20);
    assert_eq!(laid_out(&[(write, small), (read, small)]), (false, false));
    assert_eq!(laid_out(&[(read, small), (write, small)]), (true, true));
    assert_eq!(laid_out(&[(write, small), (read, large)]), (true, false));
    assert_eq!(laid_out(&[(read, small), (write, large)]), (false, true));
}

#[test]
fn devices_are_seen_wherever_they_are_named() {
    let noted = |directory: Option<&str>, filename: Option<&str>| {
        let workload = asked(|job| {
            job.directory = directory.map(str::to_owned);
            job.filename = filename.map(str::to_owned);
        });
        let (_, plan) = planned(&workload, &target());
        let about = ["target-device-to-file", "target-in-memory"];
        let ids = ids(&plan);
        about.map(|id| ids.contains(&id))
    };
    let (device, memory, file) = ([true, false], [false, true], [false, false]);
    assert_eq!(noted(None, Some("/dev/sda")), device);
    assert_eq!(noted(None, Some("x:/dev/sda")), device);
    assert_eq!(noted(None, Some("/etc/passwd:/dev/sdc")), device);
    assert_eq!(noted(None, Some("//dev/../dev/./sdc")), device);
    assert_eq!(noted(Some("/dev"), Some("sda")), device);
    assert_eq!(noted(Some("/tmp:/dev"), Some("sda")), device);
    assert_eq!(noted(None, Some("\\\\.\\PhysicalDrive0")), device);
    assert_eq!(noted(None, Some("/dev/shm/x")), memory);
    assert_eq!(noted(Some("/dev/shm"), None), memory);
    assert_eq!(noted(None, Some("/data/dev/sda")), file);
    assert_eq!(noted(Some("/data"), Some("/dev/sda")), file);
}

#[test]
fn checks_that_report_otherwise_than_fio_are_told() {
    let told = |options: &[(&str, &str)]| -> Vec<&'static str> {
        let workload = asked(|job| job.other = options.iter().map(|(n, v)| option(n, v)).collect());
        let (_, plan) = planned(&workload, &target());
        let mut ids = ids(&plan);
        ids.retain(|id| id.starts_with("verify"));
        ids
    };
    assert_eq!(told(&[("verify", "md5")]), [""; 0]);
    assert_eq!(told(&[("verify", "md5"), ("do_verify", "0")]), [""; 0]);
    let backlog = [("verify", "md5"), ("verify_backlog", "16")];
    assert_eq!(told(&backlog), ["verify-backlog-time"]);
    assert_eq!(told(&[("do_verify", "0")]), [""; 0]);
}

#[test]
fn zones_need_a_mode() {
    let of = |mode: Option<&str>| {
        let workload = asked(|job| {
            job.other = vec![option("zonesize", "64k"), option("zoneskip", "64k")];
            job.other.extend(mode.map(|mode| option("zonemode", mode)));
        });
        plan(&workload, &target())
    };
    let told = |mode| ids(&of(mode).unwrap()).contains(&"zones-without-mode");
    assert!(told(None) && !told(Some("strided")));
    assert!(of(Some("none")).is_err());
}
