//! Every row of the table of options: what the verdict on each is, and what proves it.
//! Long because it is that table.
//!
//! A row whose options are carried out names, for each, a job in `versus_fio.rs`, where the
//! same job is run by fio and compared, or a test elsewhere. A row is no proof by itself: that
//! an option is accepted and named is checked here, what it does there.

use fio_parse::workload::command::parse_command;
use fio_parse::workload::options::OPTIONS;
use replay::plan::{Limits, Plan, Refusal, Target, Verdict, plan};

/// What becomes of an option.
#[derive(Clone, Copy)]
enum Class {
    /// Carried out; the plan may say at most that it is equivalent.
    Played,
    /// Carried out with a difference that is noted under this id.
    Differs(&'static str),
    /// Accepted and noted as presentation.
    Shown,
    /// Refused, with a reason that names the option.
    Refused,
}

use Class::{Differs, Played, Refused, Shown};

/// Where it is tested what an option does.
enum Proof {
    /// As a job of `versus_fio.rs`.
    VersusFio,
    /// By a test of this name in one of the files below.
    Test(&'static str),
    /// There is nothing to do.
    Nothing,
}

use Proof::{Nothing, Test, VersusFio};

/// Options of a row, what is added to the job, what becomes of it, and the proof.
const ROWS: &[(&[&str], &str, Class, Proof)] = &[
    (&["rw"], "--rw=randrw", Played, VersusFio),
    (
        &["readwrite"],
        "--readwrite=write",
        Played,
        Test("options_are_found_in_all_spellings_and_in_the_job_that_has_them"),
    ),
    (&["rw"], "--rw=trim", Refused, Nothing),
    (&["rw"], "--rw=randtrimwrite", Refused, Nothing),
    (&["ioengine"], "--ioengine=psync", Played, VersusFio),
    (&["bs"], "--bs=8k", Played, VersusFio),
    (
        &["blocksize"],
        "--blocksize=8k",
        Played,
        Test("options_are_found_in_all_spellings_and_in_the_job_that_has_them"),
    ),
    (&["bsrange"], "--bsrange=4k-8k", Played, VersusFio),
    (&["bssplit"], "--bssplit=4k/70:16k/30", Played, VersusFio),
    (
        &["iodepth"],
        "--iodepth=8 --ioengine=io_uring",
        Played,
        VersusFio,
    ),
    (
        &["size", "filesize", "io_size", "nrfiles"],
        "--size=64k --filesize=16k --nrfiles=4 --io_size=32k",
        Played,
        VersusFio,
    ),
    (&["io_limit"], "--io_limit=32k", Played, VersusFio),
    (
        &["filesize"],
        "--filesize=16k-32k --nrfiles=4",
        Played,
        Test("a1_ranges_of_file_sizes_have_fio_s_rules"),
    ),
    (&["direct"], "--direct=1", Played, VersusFio),
    (&["buffered"], "--buffered=1", Played, VersusFio),
    (&["direct"], "--direct=1 --bs=2300", Refused, Nothing),
    (&["filename"], "--filename=/data/x:y", Played, VersusFio),
    (
        &["directory"],
        "--directory=/data",
        Played,
        Test("files_and_devices_that_a_text_names_are_not_opened"),
    ),
    (
        &["filename_format"],
        "--filename_format=$jobname.$filenum",
        Played,
        VersusFio,
    ),
    (
        &["filename"],
        "--filename=/dev/nvme0n1",
        Differs("target-device-to-file"),
        Test("hostile_commands_are_refused_or_contained"),
    ),
    (
        &["runtime", "time_based"],
        "--runtime=5 --time_based",
        Played,
        Test("a18_the_well_known_tests_are_equivalent_with_the_flush_apart"),
    ),
    (&["timeout"], "--timeout=5", Played, VersusFio),
    (
        &["numjobs", "thread", "group_reporting"],
        "--numjobs=2 --thread --group_reporting",
        Played,
        VersusFio,
    ),
    (&["randrepeat"], "--randrepeat=0", Played, VersusFio),
    (
        &["allrandrepeat", "randseed"],
        "--allrandrepeat=1 --randseed=7",
        Played,
        VersusFio,
    ),
    (
        &["stonewall", "new_group"],
        "--stonewall --new_group",
        Played,
        VersusFio,
    ),
    (&["verify"], "--verify=crc32c", Played, VersusFio),
    (&["verify"], "--verify=md5", Played, VersusFio),
    (
        &["verify", "verify_pattern"],
        "--verify=pattern --verify_pattern=0xab",
        Played,
        VersusFio,
    ),
    (&["verify"], "--verify=sha256", Refused, Nothing),
    (
        &["do_verify"],
        "--verify=md5 --do_verify=0",
        Played,
        VersusFio,
    ),
    (&["verify_fatal"], "--verify_fatal=1", Shown, Nothing),
    (&["verify_dump"], "--verify_dump=1", Shown, Nothing),
    (
        &["verify_backlog"],
        "--verify=md5 --verify_backlog=4",
        Differs("verify-backlog-time"),
        VersusFio,
    ),
    (
        &["verify_async"],
        "--verify=md5 --verify_async=1",
        Played,
        VersusFio,
    ),
    (
        &["verify_interval"],
        "--verify=md5 --verify_interval=512",
        Refused,
        Nothing,
    ),
    (
        &["rwmixread"],
        "--rw=randrw --rwmixread=70",
        Played,
        VersusFio,
    ),
    (
        &["rwmixwrite"],
        "--rw=randrw --rwmixwrite=70",
        Played,
        VersusFio,
    ),
    (
        &["ramp_time"],
        "--ramp_time=1 --runtime=2 --time_based",
        Played,
        Test("a11_rates_and_pauses_are_kept_and_the_ramp_is_left_out"),
    ),
    (
        &["norandommap", "random_generator"],
        "--rw=randwrite --norandommap --random_generator=lfsr",
        Played,
        VersusFio,
    ),
    (
        &["random_distribution"],
        "--rw=randwrite --random_distribution=zipf:1.2",
        Played,
        VersusFio,
    ),
    (
        &["percentage_random"],
        "--rw=randwrite --percentage_random=50",
        Played,
        VersusFio,
    ),
    (&["gtod_reduce"], "--gtod_reduce=1", Shown, Nothing),
    (&["disable_lat"], "--disable_lat=1", Shown, Nothing),
    (&["disable_clat"], "--disable_clat=1", Shown, Nothing),
    (&["disable_slat"], "--disable_slat=1", Shown, Nothing),
    (
        &["clat_percentiles"],
        "--clat_percentiles=1",
        Shown,
        Nothing,
    ),
    (&["lat_percentiles"], "--lat_percentiles=1", Shown, Nothing),
    (
        &["slat_percentiles"],
        "--slat_percentiles=1",
        Shown,
        Nothing,
    ),
    (
        &["percentile_list"],
        "--percentile_list=50:99",
        Shown,
        Nothing,
    ),
    (&["clocksource"], "--clocksource=cpu", Shown, Nothing),
    (
        &["output"],
        "--output=/tmp/x",
        Shown,
        Test("nothing_outside_is_opened_for_writing_and_no_program_is_started"),
    ),
    (&["output-format"], "--output-format=json", Shown, Nothing),
    (&["eta"], "--eta=never", Shown, Nothing),
    (&["minimal"], "--minimal", Shown, Nothing),
    (&["status-interval"], "--status-interval=1", Shown, Nothing),
    (
        &["log_avg_msec"],
        "--log_avg_msec=100",
        Shown,
        Test("logs_have_the_lines_of_fio_s"),
    ),
    (
        &["write_bw_log"],
        "--write_bw_log=x",
        Differs("log-of-single-ios"),
        Test("logs_have_the_lines_of_fio_s"),
    ),
    (
        &["write_lat_log"],
        "--write_lat_log=x",
        Played,
        Test("logs_have_the_lines_of_fio_s"),
    ),
    (
        &["write_iops_log"],
        "--write_iops_log=x",
        Played,
        Test("logs_have_the_lines_of_fio_s"),
    ),
    (&["invalidate"], "--invalidate=0", Played, VersusFio),
    (&["sync"], "--sync=dsync", Played, VersusFio),
    (&["loops"], "--loops=3", Played, VersusFio),
    (&["fallocate"], "--fallocate=keep", Played, VersusFio),
    (&["end_fsync"], "--end_fsync=1", Played, VersusFio),
    (&["fsync"], "--fsync=4", Played, VersusFio),
    (&["fdatasync"], "--fdatasync=4", Played, VersusFio),
    (&["fsync_on_close"], "--fsync_on_close=1", Played, VersusFio),
    (
        &["sync_file_range"],
        "--sync_file_range=write:4",
        Played,
        VersusFio,
    ),
    (&["refill_buffers"], "--refill_buffers", Played, VersusFio),
    (&["zero_buffers"], "--zero_buffers", Played, VersusFio),
    (
        &["scramble_buffers"],
        "--scramble_buffers=0",
        Played,
        Test("a9_what_is_written_compresses_as_fio_s_does"),
    ),
    (
        &["buffer_pattern"],
        "--buffer_pattern=0xabcd",
        Played,
        VersusFio,
    ),
    (
        &["buffer_compress_percentage", "buffer_compress_chunk"],
        "--buffer_compress_percentage=50 --buffer_compress_chunk=512",
        Played,
        VersusFio,
    ),
    (
        &["dedupe_percentage"],
        "--dedupe_percentage=50",
        Played,
        VersusFio,
    ),
    (
        &["dedupe_mode"],
        "--dedupe_percentage=50 --dedupe_mode=working_set",
        Refused,
        Nothing,
    ),
    (&["iodepth_batch"], "--iodepth_batch=4", Played, VersusFio),
    (
        &["iodepth_batch_complete_min"],
        "--iodepth_batch_complete_min=4",
        Played,
        VersusFio,
    ),
    (
        &["iodepth_batch_complete_max"],
        "--iodepth_batch_complete_max=8",
        Played,
        VersusFio,
    ),
    (&["iodepth_low"], "--iodepth_low=4", Played, VersusFio),
    (
        &["include"],
        "--include=x",
        Refused,
        Test("job_files_include_inputs_and_nothing_else"),
    ),
    (&["offset"], "--offset=8k", Played, VersusFio),
    (
        &["offset_increment"],
        "--offset_increment=64k",
        Played,
        VersusFio,
    ),
    (&["offset_align"], "--offset_align=4k", Played, VersusFio),
    (&["ba"], "--rw=randwrite --ba=512", Played, VersusFio),
    (
        &["blockalign"],
        "--rw=randwrite --blockalign=8k",
        Played,
        VersusFio,
    ),
    (
        &["continue_on_error"],
        "--continue_on_error=none",
        Played,
        VersusFio,
    ),
    (
        &["continue_on_error"],
        "--continue_on_error=all",
        Refused,
        Nothing,
    ),
    (&["ignore_error"], "--ignore_error=EIO", Refused, Nothing),
    (&["exitall_on_error"], "--exitall_on_error", Shown, Nothing),
    (&["exitall"], "--exitall", Played, VersusFio),
    (
        &["zonemode"],
        "--zonemode=strided --zonesize=16k",
        Played,
        VersusFio,
    ),
    (&["zonemode"], "--zonemode=zbd", Refused, Nothing),
    (&["readonly"], "--readonly", Refused, Nothing),
    (
        &["readonly"],
        "--readonly --rw=read",
        Played,
        Test("rows_are_what_the_plan_says"),
    ),
    (&["overwrite"], "--overwrite=1", Played, VersusFio),
    (&["create_on_open"], "--create_on_open=1", Played, VersusFio),
    (&["create_only"], "--create_only=1", Played, VersusFio),
    (
        &["create_serialize"],
        "--create_serialize=0",
        Played,
        VersusFio,
    ),
    (&["create_fsync"], "--create_fsync=0", Played, VersusFio),
    (&["pre_read"], "--rw=read --pre_read=1", Played, VersusFio),
    (
        &["allow_file_create"],
        "--allow_file_create=1",
        Played,
        VersusFio,
    ),
    (
        &["allow_file_create"],
        "--allow_file_create=0",
        Refused,
        Nothing,
    ),
    (&["unlink"], "--unlink=0", Played, VersusFio),
    (&["cpus_allowed"], "--cpus_allowed=0", Played, VersusFio),
    (&["cpus_allowed"], "--cpus_allowed=0,99", Refused, Nothing),
    (
        &["cpus_allowed_policy", "cpumask"],
        "--cpus_allowed_policy=split --cpumask=1",
        Played,
        VersusFio,
    ),
    (
        &["numa_cpu_nodes"],
        "--numa_cpu_nodes=0",
        Played,
        Test("rows_are_what_the_plan_says"),
    ),
    (
        &["numa_cpu_nodes"],
        "--numa_cpu_nodes=0-1",
        Refused,
        Nothing,
    ),
    (
        &["numa_mem_policy"],
        "--numa_mem_policy=bind:0",
        Played,
        Test("rows_are_what_the_plan_says"),
    ),
    (
        &["numa_mem_policy"],
        "--numa_mem_policy=interleave:0-1",
        Refused,
        Nothing,
    ),
    (&["prio"], "--prio=7", Played, VersusFio),
    (&["nice"], "--nice=1", Played, VersusFio),
    (&["prioclass"], "--prioclass=2", Played, VersusFio),
    (
        &["prioclass"],
        "--prioclass=1",
        Differs("priority-best-effort"),
        Test("what_is_granted_is_silent_and_what_is_not_is_told"),
    ),
    (
        &["nice"],
        "--nice=-5",
        Differs("priority-best-effort"),
        Test("what_is_granted_is_silent_and_what_is_not_is_told"),
    ),
    (&["startdelay"], "--startdelay=1", Played, VersusFio),
    (
        &["thinktime", "thinktime_blocks"],
        "--thinktime=2ms --thinktime_blocks=4",
        Played,
        VersusFio,
    ),
    (
        &["thinktime_spin"],
        "--thinktime=2ms --thinktime_spin=1ms",
        Played,
        Test("pauses_are_in_the_window_and_in_no_latency"),
    ),
    (&["rate"], "--rate=1m", Played, VersusFio),
    (
        &["rate_iops", "rate_process"],
        "--rate_iops=100 --rate_process=poisson",
        Played,
        VersusFio,
    ),
    (&["rate_min"], "--rate_min=1m", Refused, Nothing),
    (&["lockmem"], "--lockmem=1g", Refused, Nothing),
    (&["mem"], "--mem=mmap", Played, VersusFio),
    (&["mem"], "--mem=mmaphuge", Differs("small-pages"), Nothing),
    (
        &["hugepage-size"],
        "--hugepage-size=2m",
        Differs("small-pages"),
        Nothing,
    ),
    (&["iomem_align"], "--iomem_align=4096", Played, VersusFio),
    (
        &["registerfiles", "fixedbufs", "nonvectored"],
        "--ioengine=io_uring --registerfiles=1 --fixedbufs=1 --nonvectored=1",
        Played,
        VersusFio,
    ),
    (
        &["sqthread_poll", "sqthread_poll_cpu"],
        "--ioengine=io_uring --sqthread_poll=1 --sqthread_poll_cpu=0",
        Played,
        VersusFio,
    ),
    (
        &["hipri"],
        "--ioengine=io_uring --direct=1 --hipri=1",
        Played,
        VersusFio,
    ),
    (
        &["hipri"],
        "--ioengine=io_uring --hipri=1",
        Refused,
        Nothing,
    ),
    (
        &["hipri"],
        "--ioengine=io_uring --direct=1 --hipri=1 --fsync=4",
        Refused,
        Nothing,
    ),
    (
        &["hipri"],
        "--ioengine=psync --hipri=1",
        Refused,
        Test("what_fails_in_fio_fails_here"),
    ),
    (
        &["force_async"],
        "--ioengine=io_uring --force_async=1",
        Played,
        VersusFio,
    ),
    (
        &["nowait"],
        "--ioengine=io_uring --nowait=1",
        Played,
        VersusFio,
    ),
    (
        &["uncached"],
        "--ioengine=pvsync2 --uncached=1",
        Differs("uncached-by-new-flag"),
        Test("uncached_is_dontcache"),
    ),
    (
        &["openfiles"],
        "--nrfiles=4 --openfiles=2",
        Played,
        VersusFio,
    ),
    (
        &["file_service_type"],
        "--nrfiles=4 --file_service_type=sequential",
        Played,
        VersusFio,
    ),
    (
        &["file_service_type"],
        "--nrfiles=4 --file_service_type=zipf:1.2",
        Refused,
        Nothing,
    ),
    (
        &["io_submit_mode"],
        "--ioengine=libaio --iodepth=4 --io_submit_mode=offload",
        Played,
        Test("offload_runs_synchronous_calls_side_by_side"),
    ),
    (
        &["latency_target"],
        "--latency_target=1ms",
        Refused,
        Nothing,
    ),
    (
        &["steadystate", "steadystate_duration"],
        "--steadystate=iops:10% --steadystate_duration=2",
        Played,
        Test("a_steady_job_ends_early"),
    ),
    (&["steadystate"], "--steadystate=lat:10%", Refused, Nothing),
    (&["flow"], "--flow=1", Refused, Nothing),
    (&["cgroup"], "--cgroup=x", Refused, Nothing),
    (&["uid"], "--uid=0", Refused, Nothing),
    (&["gid"], "--gid=0", Refused, Nothing),
    (&["profile"], "--profile=tiobench", Refused, Nothing),
    (&["read_iolog"], "--read_iolog=x", Refused, Nothing),
    (
        &["replay_no_stall"],
        "--replay_no_stall=1",
        Refused,
        Nothing,
    ),
    (&["write_iolog"], "--write_iolog=x", Refused, Nothing),
    (
        &["exec_prerun"],
        "--exec_prerun=x",
        Refused,
        Test("hostile_commands_are_refused_or_contained"),
    ),
    (
        &["exec_postrun"],
        "--exec_postrun=x",
        Refused,
        Test("hostile_commands_are_refused_or_contained"),
    ),
    (&["ioscheduler"], "--ioscheduler=noop", Refused, Nothing),
    (
        &["unified_rw_reporting"],
        "--unified_rw_reporting=1",
        Refused,
        Nothing,
    ),
    (&["idle-prof"], "--idle-prof=system", Refused, Nothing),
    (&["client"], "--client=x", Refused, Nothing),
    (&["server"], "--server", Refused, Nothing),
];

/// Where the proofs are.
const TESTS: &[&str] = &[
    include_str!("options.rs"),
    include_str!("versus_fio.rs"),
    include_str!("acceptance.rs"),
    include_str!("traced.rs"),
    include_str!("hostile.rs"),
    include_str!("command_line.rs"),
    include_str!("circle.rs"),
    include_str!("logs_versus_fio.rs"),
    include_str!("instrument.rs"),
    include_str!("../src/locate.rs"),
    include_str!("../src/worker/tests.rs"),
    include_str!("../src/engine/place.rs"),
];

fn target() -> Target {
    Target {
        cpus: Some(vec![0, 1]),
        direct_alignment: Some(512),
        ..Target::new(Limits {
            memory_bytes: 1 << 30,
            ..Limits::NONE
        })
    }
}

fn planned(options: &str) -> Result<Plan, Vec<Refusal>> {
    let words = format!("fio --name=j --rw=write --bs=4k --size=64k {options}");
    plan(&parse_command(&words).unwrap(), &target())
}

#[test]
fn rows_are_what_the_plan_says() {
    let mut wrong = Vec::new();
    for (names, options, class, _) in ROWS {
        let found = planned(options);
        let right = match (class, &found) {
            (Played, Ok(plan)) => plan.verdict() <= Verdict::Equivalent,
            (Differs(id), Ok(plan)) => plan.notes.iter().any(|note| note.id() == *id),
            (Shown, Ok(plan)) => {
                let told = |note: &&replay::plan::Note| note.detail.as_deref() == Some(names[0]);
                plan.notes
                    .iter()
                    .filter(|note| note.id() == "presentation")
                    .any(|note| told(&note))
            }
            (Refused, Err(refusals)) => refusals.iter().any(|refusal| {
                refusal.option.as_deref() == Some(names[0]) && refusal.why.len() > 20
            }),
            _ => false,
        };
        if !right {
            wrong.push(format!("{names:?} {options}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_row_has_its_proof() {
    let versus = include_str!("versus_fio.rs");
    for (names, options, class, proof) in ROWS {
        match proof {
            VersusFio => {
                for name in *names {
                    let given = [
                        format!("--{name}="),
                        format!("--{name} "),
                        format!("--{name}\""),
                    ];
                    assert!(
                        given.iter().any(|text| versus.contains(text.as_str())),
                        "{options}: no job has --{name}"
                    );
                }
            }
            Test(name) => {
                let defined = format!("fn {name}(");
                assert!(
                    TESTS.iter().any(|file| file.contains(&defined)),
                    "no test {name}"
                );
            }
            Nothing => assert!(
                !matches!(class, Played),
                "{options} is played without a proof"
            ),
        }
    }
}

/// No option of fio is passed over: each is carried out, noted, or refused with a reason.
#[test]
fn every_option_of_fio_has_a_verdict() {
    let mut seen = 0;
    for option in OPTIONS.iter().filter(|option| option.main == option.name) {
        if ["name", "size", "rw", "bs"].contains(&option.name) {
            continue;
        }
        seen += 1;
        match planned(&format!("--{}=1", option.name)) {
            Ok(_) => {}
            Err(refusals) => {
                for refusal in refusals {
                    assert!(refusal.why.len() > 15, "{}: {refusal}", option.name);
                    assert_ne!(refusal.id, "unknown-option", "{}: {refusal}", option.name);
                }
            }
        }
    }
    assert!(seen > 250, "{seen}");
}

#[test]
fn the_table_is_large_enough() {
    let count = |wanted: fn(&Class) -> bool| ROWS.iter().filter(|row| wanted(&row.2)).count();
    let played = count(|class| matches!(class, Played));
    let shown = count(|class| matches!(class, Shown));
    let refused = count(|class| matches!(class, Refused));
    println!(
        "{played} played, {shown} presentation, {refused} refused, {} rows",
        ROWS.len()
    );
    assert!(played > 80 && refused > 30 && shown > 10);
}

/// Synchronous calls block; with a thread for each of eight I/Os they do so side by side.
#[test]
fn offload_runs_synchronous_calls_side_by_side() {
    let home = tempfile::tempdir().unwrap();
    let seconds = |options: &str| {
        let words = format!("fio --name=j --rw=read --bs=4k --size=64k {options}");
        let run = std::process::Command::new("timeout")
            .args([
                "-k",
                "5",
                "60",
                "strace",
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
            ])
            .args(["trace=pread64", "-e", "inject=pread64:delay_enter=50000"])
            .arg(env!("CARGO_BIN_EXE_fio-replay"))
            .args(["--format", "jsonl", "--directory"])
            .arg(home.path())
            .args(["--", &words])
            .output();
        let output = match run {
            Ok(output) if output.status.success() => output,
            other => {
                eprintln!("SKIPPED: strace cannot inject here: {other:?}");
                return None;
            }
        };
        let text = String::from_utf8(output.stdout).unwrap();
        let record: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let measured = &record["measurement"];
        assert_eq!(measured["ios"]["total"], 16, "{options}");
        Some(measured["runtime_ns"]["value"].as_f64().unwrap() / 1e9)
    };
    // Sixteen reads of 50 ms each.
    let Some(inline) = seconds("--ioengine=psync --iodepth=8") else {
        return;
    };
    let Some(offload) = seconds("--ioengine=psync --iodepth=8 --io_submit_mode=offload") else {
        return;
    };
    assert!(
        inline >= 0.8 && offload < inline / 2.0,
        "{inline} s, {offload} s"
    );
}

/// The pages of what was written are gone from the cache, where the kernel has the flag.
#[test]
fn uncached_is_dontcache() {
    for engine in ["pvsync2", "io_uring"] {
        let home = tempfile::tempdir().unwrap();
        let words =
            format!("fio --name=j --rw=write --bs=64k --size=1m --ioengine={engine} --uncached=1");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_fio-replay"))
            .arg("--directory")
            .arg(home.path())
            .args(["--", &words])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // Linux before 6.14, or a file system without it.
        if said.contains("not supported") {
            eprintln!("SKIPPED: no RWF_DONTCACHE here: {said}");
            continue;
        }
        assert!(output.status.success(), "{engine}: {said}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("uncached-by-new-flag"));
    }
}

/// What coreutils' dd 9.1 does with each: `dd if=/dev/zero of=x bs=4096 count=…` and so on.
#[test]
fn numbers_of_dd_in_bytes_are_read_as_dd_reads_them() {
    use replay::plan::TestPlan;
    let of = |operands: &str| {
        let command = format!("dd if=src of=x bs=4096 {operands}");
        let workload = parse_command(&command).expect("a command");
        plan(&workload, &target())
    };
    for (operands, bytes, skip, seek) in [
        ("count=100000B", 100_000, 0, 0),
        ("count=2 skip=3B", 8192, 3, 0),
        ("count=2 seek=5000B", 8192, 0, 5000),
        ("count=2 seek=5000B seek=1", 8192, 0, 4096),
    ] {
        let plan = of(operands).expect(operands);
        let TestPlan::Dd(dd) = &plan.test else {
            panic!("{operands}")
        };
        assert_eq!((dd.bytes(), dd.skip, dd.seek), (bytes, skip, seek));
        assert!(plan.notes.iter().all(|note| note.id() != "read-leniently"));
    }
    // 1000 blocks before 9.1, 1000 bytes since.
    for operands in ["count=1kB", "count=1 skip=1KiB", "count=1 seek=1kB"] {
        let refused = of(operands).expect_err(operands);
        assert_eq!(refused[0].id, "option-value", "{refused:?}");
        assert!(refused[0].why.contains("9.1"), "{refused:?}");
    }
    assert!(of("bs=1kB count=4").is_ok(), "a block has no such doubt");
}
