//! The safety contract row by row: for each threat a case that is accepted and one that is
//! refused. What needs a disk of its own, a signal or a race stands elsewhere and is named.
//! Long because it is a table: a row a threat, with what it must accept and what it must refuse.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use fio_parse::workload::command::parse_command;
use replay::clock::SystemClock;
use replay::control::{Control, Stop};
use replay::outcome::Outcome;
use replay::plan::{Limits, Plan, Target, plan};
use replay::run::{Bench, Tuning};
use replay::sandbox::{Sandbox, Space};

/// A threat, what is let through, and what is not.
struct Row {
    threat: &'static str,
    accept: fn(),
    refuse: fn(),
    /// Tests of other files that belong to it.
    also: &'static [&'static str],
}

const GIB: u64 = 1 << 30;

fn target() -> Target {
    Target {
        cpus: Some(vec![0]),
        direct_alignment: Some(512),
        // As the program has them without any --allow.
        ..Target::new(Limits {
            file_bytes: 64 * GIB,
            memory_bytes: GIB,
            runtime_ns: 600_000_000_000,
            open_files: 960,
            written_bytes: 256 * GIB,
        })
    }
}

fn planned(words: &str, target: &Target) -> Result<Plan, Vec<&'static str>> {
    let workload = parse_command(words).unwrap_or_else(|error| panic!("{words}: {error}"));
    let ids =
        |refusals: Vec<replay::plan::Refusal>| refusals.iter().map(|refusal| refusal.id).collect();
    plan(&workload, target).map_err(ids)
}

fn write(options: &str) -> String {
    format!("fio --name=a --rw=write --bs=4k --size=64k {options}")
}

#[track_caller]
fn accepts(words: &str) -> Plan {
    planned(words, &target()).unwrap_or_else(|ids| panic!("{words}: {ids:?}"))
}

#[track_caller]
fn refuses(words: &str, id: &str) {
    refuses_for(words, &target(), id);
}

#[track_caller]
fn refuses_for(words: &str, target: &Target, id: &str) {
    match planned(words, target) {
        Ok(_) => panic!("{words} is not refused"),
        Err(ids) => assert!(ids.contains(&id), "{words}: {ids:?}"),
    }
}

#[track_caller]
fn noted(words: &str, id: &str) {
    let plan = accepts(words);
    assert!(
        plan.notes.iter().any(|note| note.id() == id),
        "{words}: {:?}",
        plan.notes
    );
}

fn call(directory: &Path, arguments: &[&str]) -> Output {
    Command::new("timeout")
        .args([
            "-k",
            "5",
            "60",
            env!("CARGO_BIN_EXE_fio-replay"),
            "--directory",
        ])
        .arg(directory)
        .args(arguments)
        .output()
        .unwrap()
}

/// Calls the program in a directory of its own, which must be empty afterwards.
#[track_caller]
fn called(arguments: &[&str], code: i32) -> (String, String) {
    let home = tempfile::tempdir().unwrap();
    let output = call(home.path(), arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert_eq!(
        fs::read_dir(home.path()).unwrap().count(),
        0,
        "{arguments:?}"
    );
    (String::from_utf8_lossy(&output.stdout).into_owned(), said)
}

fn run(words: &str, most_written: u64, most_dirty: Option<u64>) -> Option<Stop> {
    let home = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(home.path()).unwrap();
    let bench = Bench {
        sandbox: &sandbox,
        clock: &SystemClock::new(),
        control: &Control::default(),
        tuning: Tuning::default(),
        most_written,
        most_dirty,
        watch: &|_, _| {},
    };
    let outcome = bench.run(&accepts(words));
    assert!(outcome.measured(), "{words}");
    if let Outcome::Fio(fio) = &outcome {
        assert!(fio.failure.is_none(), "{words}");
    }
    outcome.stopped()
}

const ROWS: &[Row] = &[
    Row {
        threat: "shell syntax",
        accept: || noted(&format!("{}; rm -rf /", write("")), "tail-dropped"),
        refuse: || refuses("fio --name=a --rw=write --size=$(id)", "missing-values"),
        also: &["nothing_outside_is_opened_for_writing_and_no_program_is_started"],
    },
    Row {
        threat: "programs and foreign code",
        accept: || drop(accepts(&write("--ioengine=psync"))),
        refuse: || {
            for option in [
                "--exec_prerun=x",
                "--exec_postrun=x",
                "--profile=tiobench",
                "--trigger=x",
                "--client=x",
                "--server",
            ] {
                refuses(&write(option), "option");
            }
            for engine in ["exec", "external:x.so", "./x.so"] {
                refuses(&write(&format!("--ioengine={engine}")), "engine");
            }
        },
        also: &["hostile_commands_are_refused_or_contained"],
    },
    Row {
        threat: "paths",
        accept: || {
            for name in ["/etc/passwd", "../x", "a:/etc/x:b"] {
                let plan = accepts(&write(&format!("--filename={name} --directory=/etc")));
                assert!(
                    plan.files()
                        .iter()
                        .all(|file| !file.name.contains('/') && !file.name.contains(".."))
                );
            }
        },
        refuse: || refuses("fio --name=a --rw=read --filename=/etc/passwd", "no-size"),
        also: &["files_and_devices_that_a_text_names_are_not_opened"],
    },
    Row {
        threat: "devices",
        accept: || noted(&write("--filename=/dev/sda"), "target-device-to-file"),
        refuse: || {
            refuses("fio --name=a --rw=write --filename=/dev/sda", "no-size");
            refuses("dd if=/dev/sda of=x bs=1M count=1", "device");
            let home = tempfile::tempdir().unwrap();
            let output = call(home.path(), &["--device", "/dev/null", "--", &write("")]);
            assert_eq!(output.status.code(), Some(3));
        },
        also: &[
            "a_typed_device_is_used_only_if_nobody_uses_it",
            "devices_in_use_are_refused",
        ],
    },
    Row {
        threat: "existing files",
        accept: || drop(called(&["--format", "jsonl", "--", &write("")], 0)),
        refuse: || {
            let home = tempfile::tempdir().unwrap();
            fs::write(home.path().join("mine"), "precious").unwrap();
            let file = format!("json={}", home.path().join("mine").display());
            let output = call(home.path(), &["--format", &file, "--", &write("")]);
            assert_eq!(output.status.code(), Some(2));
            assert_eq!(
                fs::read_to_string(home.path().join("mine")).unwrap(),
                "precious"
            );
        },
        also: &["existing_files_and_links_are_never_opened"],
    },
    Row {
        threat: "links and races",
        accept: || {
            // The person may name the directory through a link.
            let home = tempfile::tempdir().unwrap();
            fs::create_dir(home.path().join("real")).unwrap();
            symlink(home.path().join("real"), home.path().join("link")).unwrap();
            assert_eq!(
                call(&home.path().join("link"), &["--", &write("")])
                    .status
                    .code(),
                Some(0)
            );
        },
        refuse: || {
            let home = tempfile::tempdir().unwrap();
            symlink("/nowhere", home.path().join("link")).unwrap();
            assert_eq!(
                call(&home.path().join("link"), &["--", &write("")])
                    .status
                    .code(),
                Some(2)
            );
        },
        also: &["files_that_are_swapped_during_a_run_are_not_followed"],
    },
    Row {
        threat: "directories of others",
        accept: || {
            let home = tempfile::tempdir().unwrap();
            for mode in [0o700, 0o1777] {
                fs::set_permissions(home.path(), fs::Permissions::from_mode(mode)).unwrap();
                assert_eq!(
                    call(home.path(), &["--", &write("")]).status.code(),
                    Some(0),
                    "{mode:o}"
                );
            }
        },
        refuse: || {
            let home = tempfile::tempdir().unwrap();
            fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
            assert_eq!(
                call(home.path(), &["--", &write("")]).status.code(),
                Some(2)
            );
        },
        also: &["unsafe_or_missing_directories_are_refused_in_words"],
    },
    Row {
        threat: "memory file systems",
        accept: || {
            let memory = Target {
                memory_file_system: true,
                ..target()
            };
            let plan = planned(&write(""), &memory).unwrap();
            assert!(
                plan.notes
                    .iter()
                    .any(|note| note.id() == "memory-file-system")
            );
        },
        refuse: || {
            // Nothing takes O_DIRECT there.
            let memory = Target {
                direct_alignment: Some(0),
                ..target()
            };
            refuses_for(&write("--direct=1"), &memory, "no-direct");
        },
        also: &[],
    },
    Row {
        threat: "unbounded sizes",
        accept: || drop(accepts("fio --name=a --rw=write --bs=1m --size=64g")),
        refuse: || {
            refuses("fio --name=a --rw=write --bs=1m --size=65g", "too-large");
            refuses(
                "fio --name=a --rw=write --bs=1m --size=1g --numjobs=64 --nrfiles=2 --filesize=1g",
                "too-large",
            );
            refuses("fio --name=a --rw=write --bs=1m --size=100%", "no-size");
            refuses(&write("--fill_device=1"), "option");
            refuses("dd if=/dev/zero of=x bs=1M", "no-count");
        },
        also: &[],
    },
    Row {
        threat: "free space",
        accept: || {
            let space = Space {
                total: 100 * GIB,
                available: 20 * GIB,
            };
            let room = Target {
                space: Some(space),
                ..target()
            };
            planned("fio --name=a --rw=write --bs=1m --size=15g", &room).unwrap();
        },
        refuse: || {
            // Five per cent stay free.
            let space = Space {
                total: 100 * GIB,
                available: 20 * GIB,
            };
            let room = Target {
                space: Some(space),
                ..target()
            };
            refuses_for(
                "fio --name=a --rw=write --bs=1m --size=16g",
                &room,
                "no-space",
            );
        },
        also: &[
            "a_disk_that_others_fill_stops_the_run_at_its_floor",
            "a_full_disk_is_a_failure_with_a_reason",
        ],
    },
    Row {
        threat: "bytes written",
        accept: || {
            drop(accepts(
                "fio --name=a --rw=write --bs=1m --size=64g --loops=4",
            ));
            assert_eq!(run(&write("--size=8m"), 16 << 20, None), None);
        },
        refuse: || {
            refuses(
                "fio --name=a --rw=write --bs=1m --size=64g --loops=5",
                "too-much-written",
            );
            // What time ends is stopped on the way.
            let words = write("--size=1m --time_based --runtime=20");
            assert_eq!(run(&words, 4 << 20, None), Some(Stop::Written));
        },
        also: &[],
    },
    Row {
        threat: "wear",
        accept: || {
            let plan = accepts("fio --name=a --rw=write --bs=1m --size=16g");
            assert!(plan.notes.iter().all(|note| note.id() != "wears-flash"));
        },
        refuse: || {
            // Told, and from the limit on refused.
            noted("fio --name=a --rw=write --bs=1m --size=17g", "wears-flash");
            noted(&write("--time_based --runtime=300"), "wears-flash");
        },
        also: &[],
    },
    Row {
        threat: "run time",
        accept: || drop(accepts(&write("--time_based --runtime=10m"))),
        refuse: || {
            refuses(&write("--time_based --runtime=601"), "too-long");
            refuses(&write("--startdelay=11m"), "too-long");
            refuses(&write("--thinktime=1m"), "too-long");
            refuses(&write("--rate_iops=1 --size=4m"), "too-long");
        },
        also: &[],
    },
    Row {
        threat: "memory",
        accept: || {
            drop(accepts(
                "fio --name=a --rw=write --bs=1m --size=4g --iodepth=1024 --ioengine=io_uring",
            ))
        },
        refuse: || {
            refuses(
                "fio --name=a --rw=write --bs=2m --size=4g --iodepth=1024 --ioengine=io_uring",
                "memory",
            );
            refuses(
                "fio --name=a --rw=write --bs=64m --size=64m --numjobs=17",
                "memory",
            );
            refuses("dd if=/dev/zero of=x bs=2G count=1", "memory");
        },
        also: &[],
    },
    Row {
        threat: "resources",
        accept: || {
            drop(accepts(&write("--numjobs=64")));
            drop(accepts(&write("--iodepth=1024 --ioengine=io_uring")));
            drop(accepts(
                "fio --name=a --rw=write --bs=4k --size=4m --nrfiles=960",
            ));
            drop(accepts(
                "fio --name=a --rw=read --bs=4k --size=4m --nrfiles=255 --ioengine=posixaio",
            ));
            drop(accepts("fio --name=a --rw=write --bs=1g --size=1g"));
            drop(accepts(&write("--loops=1000")));
        },
        refuse: || {
            refuses(&write("--numjobs=65"), "too-many-jobs");
            refuses(&write("--iodepth=1025 --ioengine=io_uring"), "queue-depth");
            refuses(
                "fio --name=a --rw=write --bs=4k --size=4m --nrfiles=961",
                "too-many-files",
            );
            refuses(
                "fio --name=a --rw=write --bs=4k --size=64m --nrfiles=10001",
                "too-many-files",
            );
            refuses(
                "fio --name=a --rw=read --bs=4k --size=4m --nrfiles=256 --ioengine=posixaio",
                "too-many-threads",
            );
            refuses(
                &write("--iodepth=256 --ioengine=libaio --io_submit_mode=offload"),
                "too-many-threads",
            );
            refuses("fio --name=a --rw=write --bs=2g --size=4g", "block-size");
            refuses(&write("--loops=1001"), "too-many-loops");
            refuses(&write("--cpus_allowed=1"), "no-such-cpu");
        },
        also: &[],
    },
    Row {
        threat: "numbers",
        accept: || {
            let plan = accepts("fio --name=a --rw=write --bs=0x1000 --size=0x10000");
            assert_eq!(plan.file_bytes(), 65_536);
        },
        refuse: || {
            for size in ["18446744073709551615", "16e", "0x7fffffffffffffff"] {
                assert!(
                    planned(&format!("fio --name=a --rw=write --size={size}"), &target()).is_err()
                );
            }
            refuses("fio --name=a --rw=write --bs=4k --size=-1", "option-value");
            refuses(&write("--iodepth=0"), "option-value");
        },
        also: &["hostile_commands_are_refused_or_contained"],
    },
    Row {
        threat: "other files that fio writes or reads",
        accept: || {
            drop(called(
                &[
                    "--",
                    &write("--write_bw_log=x --output=/tmp/out --aux-path=/tmp"),
                ],
                0,
            ))
        },
        refuse: || {
            for option in ["write_iolog", "read_iolog", "merge_blktrace_file"] {
                refuses(&write(&format!("--{option}=x")), "option");
            }
            refuses(&write("--verify=md5 --verify_state_load=1"), "option");
        },
        also: &["results_never_go_into_files_that_exist"],
    },
    Row {
        threat: "files named in files",
        accept: || {
            let home = tempfile::tempdir().unwrap();
            let file = home.path().join("job.fio");
            fs::write(&file, "[a]\nrw=write\nsize=64k\n").unwrap();
            called(
                &[
                    file.to_str().unwrap(),
                    "--",
                    "fio --bs=8k elsewhere/job.fio",
                ],
                0,
            );
        },
        refuse: || {
            let (_, said) = called(&["--", "fio elsewhere/job.fio"], 3);
            assert!(said.contains("job.fio"), "{said}");
        },
        also: &["job_files_include_inputs_and_nothing_else"],
    },
    Row {
        threat: "the environment",
        accept: || {
            drop(called(
                &[
                    "--set",
                    "SIZE=64k",
                    "--",
                    "fio --name=a --rw=write --size=$SIZE",
                ],
                0,
            ))
        },
        refuse: || {
            let (_, said) = called(&["--", "fio --name=a --rw=write --size=$HOME"], 3);
            assert!(
                !said.contains(&std::env::var("HOME").unwrap_or("/nowhere".to_owned())),
                "{said}"
            );
        },
        also: &["variables_come_from_set_and_from_nowhere_else"],
    },
    Row {
        threat: "users, groups and priorities",
        accept: || {
            drop(accepts(&write("--nice=5 --prio=7")));
            noted(&write("--prioclass=1"), "priority-best-effort");
        },
        refuse: || {
            for option in [
                "--uid=0",
                "--gid=0",
                "--cgroup=x",
                "--ioscheduler=noop",
                "--lockmem=1g",
                "--numa_cpu_nodes=0-1",
            ] {
                refuses(&write(option), "option");
            }
        },
        also: &[],
    },
    Row {
        threat: "secrets",
        accept: || {
            let words = "AWS_SECRET_KEY=HUSHHUSH fio --name=a --rw=write --bs=4k --size=64k --description=x; curl -H token=HUSHHUSH https://me:HUSHHUSH@host/";
            for format in ["jsonl", "text", "json"] {
                let (printed, said) = called(&["--format", format, "--", words], 0);
                assert!(
                    !printed.contains("HUSHHUSH") && !said.contains("HUSHHUSH"),
                    "{printed}{said}"
                );
            }
        },
        refuse: || {
            for words in [
                write("--ioengine=http --http_s3_key=HUSHHUSH --http_pass=HUSHHUSH"),
                write("--http_s3_keyid=HUSHHUSH"),
                "fio --name=a --ioengine=rados --size=1m --rw=write --password HUSHHUSH".to_owned(),
            ] {
                let (printed, said) = called(&["--", &words], 3);
                assert!(
                    !printed.contains("HUSHHUSH") && !said.contains("HUSHHUSH"),
                    "{printed}{said}"
                );
            }
        },
        also: &[],
    },
    Row {
        threat: "terminals",
        accept: || {
            let (printed, said) = called(
                &[
                    "--",
                    "fio",
                    "--name=a\u{1b}[2J\nb\u{202e}",
                    "--rw=write",
                    "--size=64k",
                ],
                0,
            );
            assert!(printed.contains("\\u{1b}[2J\\nb\\u{202e}"), "{printed}");
            assert!(
                !printed.contains('\u{1b}')
                    && !said.contains('\u{1b}')
                    && !printed.contains('\u{202e}')
            );
        },
        refuse: || {
            let (_, said) = called(&["--", &write("--odd\u{1b}[31m=1")], 3);
            assert!(!said.contains('\u{1b}'), "{said}");
        },
        also: &["hostile_job_files_are_refused_or_contained"],
    },
    Row {
        threat: "data that is not on the disk yet",
        accept: || assert_eq!(run(&write("--size=8m"), u64::MAX, Some(u64::MAX)), None),
        refuse: || {
            let words = "fio --name=a --rw=write --bs=1m --size=64m --time_based --runtime=20";
            assert_eq!(run(words, u64::MAX, Some(1 << 20)), Some(Stop::Dirty));
        },
        also: &["a16_a_dd_makes_the_calls_of_dd"],
    },
    Row {
        threat: "an empty battery",
        accept: || {
            let (low, full) = (
                Target {
                    battery_percent: Some(19),
                    ..target()
                },
                Target {
                    battery_percent: Some(20),
                    ..target()
                },
            );
            planned("fio --name=a --rw=write --bs=1m --size=16g", &low).unwrap();
            planned("fio --name=a --rw=write --bs=1m --size=20g", &full).unwrap();
            planned(
                "fio --name=a --rw=read --bs=1m --size=1g --time_based --runtime=60",
                &low,
            )
            .unwrap();
        },
        refuse: || {
            let low = Target {
                battery_percent: Some(19),
                ..target()
            };
            refuses_for(
                "fio --name=a --rw=write --bs=1m --size=17g",
                &low,
                "battery",
            );
            refuses_for(&write("--time_based --runtime=60"), &low, "battery");
        },
        also: &[],
    },
    Row {
        threat: "an end before its time",
        accept: || drop(called(&["--", &write("--end_fsync=1")], 0)),
        refuse: || {
            // A file cannot be larger than the process may make it: a failure that leaves nothing.
            let home = tempfile::tempdir().unwrap();
            let line = "ulimit -f 64; exec \"$0\" --directory \"$1\" -- \"fio --name=a --rw=write --bs=4k --size=1m --fallocate=none\"";
            let output = Command::new("bash")
                .args(["-c", line, env!("CARGO_BIN_EXE_fio-replay")])
                .arg(home.path())
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(1));
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        },
        also: &[
            "signals_end_a_run_in_order_with_what_was_measured",
            "a_second_signal_removes_all_and_leaves_at_once",
            "after_a_kill_the_next_start_cleans_up",
            "a_clean_up_obeys_signals_and_the_next_start_goes_on",
            "a_file_that_is_cut_under_a_run_fails_it",
        ],
    },
];

#[test]
fn each_threat_has_a_case_that_is_accepted_and_one_that_is_refused() {
    for row in ROWS {
        (row.accept)();
        (row.refuse)();
        println!("{}: accepted and refused as it should be", row.threat);
    }
}

#[test]
fn the_tests_that_belong_to_a_row_are_there() {
    let files = [
        include_str!("hostile.rs"),
        include_str!("command_line.rs"),
        include_str!("interrupted.rs"),
        include_str!("limits.rs"),
        include_str!("traced.rs"),
        include_str!("../src/sandbox_tests.rs"),
    ];
    for name in ROWS.iter().flat_map(|row| row.also) {
        let defined = format!("fn {name}(");
        assert!(
            files.iter().any(|file| file.contains(&defined)),
            "no test {name}"
        );
    }
}
