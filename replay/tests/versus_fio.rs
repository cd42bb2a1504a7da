//! Real fio and this program on the same command: for jobs that end by their amount of I/O,
//! I/Os, bytes, syncs and file sizes must be equal. Skipped aloud where fio is not installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What is compared. Mixes are drawn from another random stream, so only their sum counts.
#[derive(Debug, PartialEq, Eq, Default)]
struct Moved {
    reads: (u64, u64),
    writes: (u64, u64),
    syncs: u64,
    file_sizes: BTreeMap<u64, u32>,
}

impl Moved {
    fn mixed(self) -> Self {
        let sum = (self.reads.0 + self.writes.0, self.reads.1 + self.writes.1);
        Moved {
            reads: sum,
            writes: (0, 0),
            syncs: 0,
            ..self
        }
    }
}

fn sizes(directory: &Path, found: &mut BTreeMap<u64, u32>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            sizes(&entry.path(), found);
        } else {
            *found.entry(metadata.len()).or_default() += 1;
        }
    }
}

fn fio(options: &str) -> Moved {
    let home = tempfile::tempdir().unwrap();
    fio_in(
        home,
        &["--name=j"]
            .into_iter()
            .chain(options.split(' '))
            .collect::<Vec<_>>(),
    )
}

/// fio on the job file that the plan of these options corresponds to.
fn fio_on_emitted_job(options: &str) -> Moved {
    let home = tempfile::tempdir().unwrap();
    let jobs = tempfile::tempdir().unwrap();
    let job = jobs.path().join("job.fio");
    let emitted = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .arg("--emit-fio")
        .arg(&job)
        .args(["--", "fio", "--name=j"])
        .args(options.split(' '))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&emitted.stderr);
    assert!(emitted.status.success(), "{options}: {said}");
    fio_in(home, &[job.to_str().unwrap()])
}

fn fio_in(home: tempfile::TempDir, arguments: &[&str]) -> Moved {
    // fio itself has hung on odd options: that must end the test and not the day.
    let output = Command::new("timeout")
        .args(["-k", "5", "60", "fio", "--output-format=json"])
        .args(arguments)
        .current_dir(home.path())
        .output()
        .unwrap();
    let options = arguments.join(" ");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "fio {options}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let json: Value = serde_json::from_str(&text[text.find("{\n").unwrap()..]).unwrap();
    let mut moved = Moved::default();
    for job in json["jobs"].as_array().unwrap() {
        let number = |part: &str, name: &str| job[part][name].as_u64().unwrap();
        // With --group_reporting there is one entry, else one per clone.
        moved.reads.0 += number("read", "total_ios");
        moved.reads.1 += number("read", "io_bytes");
        moved.writes.0 += number("write", "total_ios");
        moved.writes.1 += number("write", "io_bytes");
        // total_ios of syncs stays 0 for fdatasync; the number of latencies is right.
        moved.syncs += job["sync"]["lat_ns"]["N"].as_u64().unwrap_or(0);
    }
    sizes(home.path(), &mut moved.file_sizes);
    moved
}

fn replay(options: &str) -> Moved {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .args(["--format", "jsonl", "--keep", "--directory"])
        .arg(home.path())
        .arg("--")
        .args(["fio", "--name=j"])
        .args(options.split(' '))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "fio-replay {options}: {said}");
    let mut moved = Moved::default();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let fidelity = &record["fidelity"];
        let issued = |name: &str| fidelity["issued"][name].as_u64().unwrap();
        // A plan that time may end promises no counts.
        if !options.contains("--runtime") && !options.contains("--timeout") {
            assert_eq!(fidelity["planned"], fidelity["issued"], "{options}");
        }
        moved.syncs = issued("syncs");
        if record["scope"]["kind"] != "group" {
            continue;
        }
        let exact = |name: &str| {
            let reading = &record["measurement"][name];
            assert_eq!(reading["lo"], reading["hi"], "{options}: {name}");
            reading["value"].as_u64().unwrap()
        };
        let (count, bytes) = match record["direction"].as_str().unwrap() {
            "read" => (issued("reads"), exact("bytes")),
            _ => (issued("writes"), exact("bytes")),
        };
        if record["direction"] == "read" {
            moved.reads = (count, bytes);
        } else {
            moved.writes = (count, bytes);
        }
    }
    sizes(home.path(), &mut moved.file_sizes);
    moved
}

/// Jobs whose figures are all determined.
const JOBS: &[&str] = &[
    "--rw=read --bs=4k --size=1m",
    "--rw=read --bs=64k --size=1m",
    "--rw=read --bs=1m --size=4m",
    "--rw=read --bs=4k --size=1000000",
    "--rw=read --bs=16k --size=100k --offset=10k",
    "--rw=read --bs=4k --size=64k --loops=3",
    "--rw=read --bs=4k --size=64k --loops=2 --io_size=300k",
    "--rw=write --bs=4k --size=1m",
    "--rw=write --bs=64k --size=1m",
    "--rw=write --bs=1m --size=4m --end_fsync=1",
    "--rw=write --bs=4k --size=1000000",
    "--rw=write --bs=1000 --size=64k",
    "--rw=write --bs=4k --size=6k",
    "--rw=write --bs=4k --size=64k --loops=3 --end_fsync=1",
    "--rw=write --bs=4k --size=64k --io_size=200k",
    "--rw=write --bs=4k --size=1m --io_size=10000",
    "--rw=write --bs=4k --size=1000000 --io_size=1500000",
    "--rw=write --bs=4k --size=1000000 --loops=2",
    "--rw=write --bs=4k --size=64k --io_size=32k --loops=2",
    "--rw=write --bs=4k --size=64k --io_size=100k --loops=2",
    "--rw=write --bs=4k --filesize=64k --size=128k",
    "--rw=write --bs=4k --filesize=128k --size=64k",
    "--rw=write --bs=4k --filesize=128k --size=64k --loops=3",
    "--rw=randread --bs=4k --filesize=128k --size=96k --loops=2",
    "--rw=write --bs=4k --filesize=128k --size=64k --io_size=96k",
    "--rw=randwrite --bs=4k --filesize=128k --size=96k --io_size=192k",
    "--rw=write --bs=4k --filesize=128k --size=96k --io_size=192k --loops=2",
    "--rw=write --bs=4k --filesize=128k --size=64k --offset=96k --loops=2",
    "--rw=write --bs=4k --filesize=128k --size=200k --nrfiles=2",
    "--rw=randread --bs=4k --filesize=128k --size=72k --nrfiles=2 --loops=2",
    "--rw=write --bs=4k --filesize=128k --offset=32k --offset_increment=16k --numjobs=3",
    "--rw=randwrite --bs=4k --filesize=128k --size=64k --verify=crc32c --verify_state_save=0",
    "--rw=randwrite --bs=4k --filesize=128k --size=64k --verify=crc32c --io_size=96k --do_verify=0 --verify_state_save=0",
    "--rw=write --bs=4k --filesize=128k --size=64k --verify=crc32c --io_size=192k --verify_state_save=0",
    "--rw=write --bs=4k --filesize=128k",
    "--rw=write --bs=16k --size=100k --offset=16k",
    "--rw=write --bs=4k --size=64k --fsync=4",
    "--rw=write --bs=4k --size=64k --fsync=5",
    "--rw=write --bs=4k --size=64k --fsync=1",
    "--rw=write --bs=4k --size=64k --fdatasync=1",
    "--rw=write --bs=4k --size=64k --fsync=4 --fdatasync=2",
    "--rw=write --bs=4k --size=64k --fsync=4 --loops=2",
    "--rw=write --bs=4k --size=64k --fsync=16 --loops=2",
    "--rw=write --bs=4k --size=64k --fsync=4 --io_size=200k",
    "--rw=write --bs=4k --size=1000000 --fsync=4",
    "--rw=write --bs=4k --size=64k --fsync_on_close=1 --loops=2",
    "--rw=write --bs=4k --size=64k --sync=1",
    "--rw=write --bs=4k --size=64k --sync=dsync",
    "--rw=write --bs=4k --size=64k --numjobs=3",
    "--rw=write --bs=4k --size=64k --numjobs=3 --group_reporting",
    "--rw=write --bs=4k --size=64k --overwrite=1",
    "--rw=write --bs=4k --size=64k --invalidate=0 --fallocate=none",
    "--rw=write --bs=4k --size=64k --io_size=4k --fallocate=keep",
    "--rw=write --bs=4k --size=64k --io_size=4k --fallocate=truncate",
    "--rw=write --bs=4k --size=64k --io_size=4k --fallocate=none",
    "--rw=write --bs=4k --size=64k --io_size=4k --fallocate=none --overwrite=1",
    "--rw=read --bs=4k --size=64k --io_size=4k --fallocate=keep",
    "--rw=write --bs=4k --size=64k --zero_buffers",
    "--rw=write --bs=4k --size=64k --refill_buffers",
    "--rw=randread --bs=4k --size=1m",
    "--rw=randread --bs=4k --size=1000000",
    "--rw=randread --bs=4k --size=256k --numjobs=2 --group_reporting",
    "--rw=randread --bs=4k --size=256k --runtime=30",
    "--rw=randwrite --bs=4k --size=1m",
    "--rw=randwrite --bs=4k --size=1000000 --loops=3",
    "--rw=randwrite --bs=4k --size=1000000 --norandommap",
    "--rw=randwrite --bs=4k --size=1000000 --norandommap --loops=2",
    "--rw=randwrite --bs=4k --size=1m --fsync=32 --end_fsync=1",
    "--rw=randwrite --bs=4k --size=1000000 --fsync=61",
    "--rw=randwrite --bs=4k --size=1m --ioengine=sync",
    "--rw=randwrite --bs=4k --size=1m --ioengine=pvsync2",
    "--rw=randwrite --bs=4k --size=1m --ioengine=io_uring --iodepth=16",
    "--rw=randread --bs=4k --size=1m --ioengine=io_uring --iodepth=16",
    "--rw=write --bs=4k --size=64k --ioengine=io_uring --iodepth=1 --fsync=4",
    "--rw=randread --bs=4k --size=1m --ioengine=libaio --iodepth=8",
    "--rw=randwrite --bs=4k --size=1m --ioengine=posixaio --iodepth=1 --end_fsync=1",
    "--rw=randread --bs=4k --size=1m --ioengine=posixaio --iodepth=8",
];

/// Jobs of all other options whose figures are determined.
const OPTION_JOBS: &[&str] = &[
    "--rw=read --bs=4k --size=4m --io_size=50%",
    "--rw=write --bs=4k --size=4m --io_size=10% --loops=2",
    "--rw=randwrite --bs=4k --filesize=1m --size=512k --io_size=50%",
    "--rw=write --bs=4k --filesize=256k --nrfiles=2 --io_size=30%",
    "--rw=read --bs=512 --size=5000 --io_size=33%",
    "--rw=write --bs=4k --size=64k --io_size=0%",
    "--rw=write --bs=4k --size=64k --offset=16k --io_size=50% --numjobs=2",
    "--rw=read --bs=4k --size=1m --nrfiles=4",
    "--rw=write --bs=4k --size=1m --nrfiles=4 --file_service_type=sequential",
    "--rw=randwrite --bs=4k --size=1m --nrfiles=4 --file_service_type=random",
    "--rw=randread --bs=4k --size=1m --nrfiles=3 --file_service_type=roundrobin:8",
    "--rw=write --bs=4k --size=1m --nrfiles=4 --openfiles=2",
    "--rw=write --bs=4k --filesize=64k --nrfiles=3",
    "--rw=write --bs=4k --size=64k --nrfiles=4 --loops=2 --end_fsync=1",
    "--rw=write --bs=4k --size=64k --nrfiles=2 --fsync=4",
    "--rw=read --bs=4k --size=2m --filename=a:b",
    "--rw=randwrite --bs=4k --size=256k --filename=a:b:c:d",
    "--rw=read --bs=4k,8k --size=1m",
    "--rw=write --bs=4k,8k --size=1m",
    "--rw=randwrite --bs=16k,8k --size=1m",
    "--rw=read:4k --bs=4k --size=64k",
    "--rw=read:8k --bs=4k --size=1000000",
    "--rw=write:-8k --bs=4k --size=64k",
    "--rw=write:4k --bs=4k --size=1m --offset=64k",
    "--rw=read:12k --bs=4k --size=1m --offset=1m",
    "--rw=read:12k --bs=4k --size=52k",
    "--rw=read:100k --bs=4k --size=1m --offset=4k",
    "--rw=write:-8k --bs=4k --size=64k --offset=16k",
    "--rw=write --bs=4k --size=1m --verify=crc32c --io_size=2m --verify_state_save=0",
    "--rw=write --bs=4k --size=1m --verify=crc32c --io_size=5m --verify_state_save=0",
    "--rw=write --bs=4k --size=1m --verify=crc32c --loops=2 --io_size=3m --verify_state_save=0",
    "--rw=randread --bs=4k --size=1m --nrfiles=2 --ioengine=posixaio --iodepth=16",
    "--rw=randread:8 --bs=4k --size=1m",
    "--rw=randwrite:4 --bs=4k --size=256k --rw_sequencer=identical",
    "--rw=randread --bs=4k --size=1m --random_distribution=zipf:1.2",
    "--rw=randwrite --bs=4k --size=1m --random_distribution=pareto:0.2",
    "--rw=randread --bs=4k --size=1m --random_distribution=normal:20",
    "--rw=randread --bs=4k --size=1m --random_distribution=zoned:60/10:30/20:10/70",
    "--rw=randwrite --bs=4k --size=1m --random_generator=lfsr",
    "--rw=randread --bs=4k --size=1m --percentage_random=50",
    "--rw=randread --bs=4k --size=1m --percentage_random=0",
    "--rw=randread --bs=4k --size=1m --blockalign=8k",
    "--rw=randwrite --bs=8k --size=1m --ba=512 --norandommap",
    "--rw=read --bs=4k --size=256k --zonemode=strided --zonesize=16k --zoneskip=16k",
    "--rw=write --bs=4k --size=256k --zonemode=strided --zonesize=32k --zonerange=16k",
    "--rw=randread --bs=4k --size=256k --zonemode=strided --zonesize=64k --zonerange=64k",
    "--rw=write --bs=4k --size=64k --filename=f --numjobs=3 --offset_increment=64k",
    "--rw=read --bs=4k --filesize=1m --size=64k --numjobs=2 --offset_increment=128k",
    "--rw=write --bs=4k --size=64k --offset=5000 --offset_align=4k",
    "--rw=write --bs=4k --size=1m --number_ios=10",
    "--rw=randread --bs=4k --size=64k --number_ios=5 --loops=2",
    "--rw=randread --bs=4k --size=1m --ioengine=libaio --iodepth=16 --iodepth_batch=8 --iodepth_batch_complete=8",
    "--rw=randread --bs=4k --size=1m --ioengine=libaio --iodepth=16 --iodepth_low=4",
    "--rw=write --bs=4k --size=64k --rate_iops=1000",
    "--rw=read --bs=4k --size=64k --rate=1m,2m",
    "--rw=write --bs=4k --size=64k --rate_iops=2000 --rate_process=poisson",
    "--rw=write --bs=4k --size=64k --thinktime=2000 --thinktime_blocks=4",
    "--rw=write --bs=4k --size=64k --thinktime=2000",
    "--rw=write --bs=4k --size=64k --startdelay=1",
    "--rw=write --bs=4k --size=64k --verify=crc32c --verify_state_save=0",
    "--rw=randwrite --bs=4k --size=64k --verify=md5 --verify_state_save=0",
    "--rw=write --bs=4k --size=64k --verify=pattern --verify_pattern=0xdeadbeef --verify_state_save=0",
    "--rw=write --bs=4k --size=64k --verify=crc32c --verify_backlog=4 --verify_state_save=0",
    "--rw=write --bs=4k --size=64k --verify=md5 --do_verify=0 --verify_state_save=0",
    "--rw=write --bs=4k --size=64k --verify=crc32c --loops=2 --verify_state_save=0",
    "--rw=write --bs=4k --size=64k --verify=crc32c --nrfiles=2 --verify_state_save=0",
    "--rw=randwrite --bs=4k --size=256k --verify=crc32c --ioengine=libaio --iodepth=8 --verify_state_save=0",
    "--rw=write --bs=4k --size=64k --verify=0",
    "--rw=write --bs=4k --size=64k --buffer_pattern=0xabcd",
    "--rw=write --bs=4k --size=64k --buffer_compress_percentage=50 --buffer_compress_chunk=512",
    "--rw=write --bs=4k --size=64k --dedupe_percentage=50",
    "--rw=write --bs=4k --size=64k --cpus_allowed=0 --nice=1 --prio=7",
    "--rw=write --bs=4k --size=64k --fadvise_hint=0",
    "--rw=read --bs=4k --size=64k --fadvise_hint=sequential",
    "--rw=write --bs=4k --size=64k --sync_file_range=write:4",
    "--rw=write --bs=4k --size=64k --sync_file_range=wait_before,write:8 --loops=2",
    "--rw=write --bs=4k --size=64k --create_on_open=1",
    "--rw=read --bs=4k --size=64k --create_fsync=0",
    "--rw=read --bs=4k --size=64k --pre_read=1",
    "--rw=write --bs=4k --size=64k --continue_on_error=none --exitall_on_error",
    "--rw=write --bs=4k --size=64k --exitall",
    "--rw=write --bs=4k --size=64k --ioengine=mmap --fsync=4",
    "--rw=randread --bs=4k --size=256k --ioengine=mmap",
    "--rw=write --bs=4k --size=64k --ioengine=mmap --end_fsync=1",
    "--rw=read --bs=4k --size=256k --ioengine=vsync",
    "--rw=write --bs=4k --size=256k --ioengine=vsync --iodepth=1",
    "--rw=randread --bs=4k --size=256k --ioengine=libaio --iodepth=4",
    "--rw=randread --bs=4k --size=1m --nrfiles=4 --ioengine=posixaio --iodepth=4",
    "--rw=write --bs=4k --size=64k --name=k --rw=read --bs=8k --size=64k --stonewall",
    "--rw=randread --bs=4k --size=1m --ioengine=io_uring --iodepth=8 --sqthread_poll=1",
    "--rw=randwrite --bs=4k --size=1m --ioengine=io_uring --iodepth=8 --force_async=1",
    "--rw=write --bs=4k --size=64k --thread --mem=mmap --randrepeat=0 --gtod_reduce=1",
    "--rw=write --bs=4k --size=64k --description=words --percentile_list=50:99",
    "--rw=randread --bs=4k --size=256k --ioengine=pvsync2 --hipri=1",
    "--rw=randread --bs=4k --size=1m --ioengine=io_uring --iodepth=8 --sqthread_poll=1 --sqthread_poll_cpu=0",
    "--rw=randread --bs=4k --size=1m --ioengine=io_uring --iodepth=8 --registerfiles=1 --fixedbufs=1 --nonvectored=1",
    "--rw=randread --bs=4k --size=1m --ioengine=libaio --iodepth=16 --iodepth_batch_complete_min=2 --iodepth_batch_complete_max=8",
    "--rw=randread --bs=4k --size=1m --ioengine=io_uring --iodepth=16 --iodepth_batch=4 --iodepth_batch_complete_max=16",
    "--rw=write --bs=4k --size=64k --create_only=1",
    "--rw=read --bs=4k --size=64k --nrfiles=3 --create_only=1",
    "--rw=write --bs=4k --size=64k --io_submit_mode=inline",
    "--rw=randrw --rwmixwrite=0 --bs=4k --size=256k",
    "--rw=read --bs=4k --size=64k --filesize=64k --allow_file_create=1 --unlink=0",
    "--rw=write --bs=4k --size=64k --create_serialize=0 --allrandrepeat=1 --randseed=7",
    "--rw=randread --bs=4k --size=64k --buffered=1",
    "--rw=write --bs=4k --size=64k --name=k --new_group --rw=read --bs=8k --size=64k",
    "--rw=write --bs=4k --size=64k --timeout=30 --io_limit=32k",
    "--rw=read --bs=4k --size=64k --filename_format=$jobname.$jobnum.$filenum",
    "--rw=write --bs=4k --size=64k --cpumask=1 --cpus_allowed_policy=shared --prioclass=2",
    "--rw=write --bs=4k --size=64k --iomem_align=4096 --softrandommap=1",
    "--rw=write --bs=4k --size=64k --verify=crc32c --verify_async=1 --verify_fatal=1 --verify_dump=0 --verify_state_save=0",
];

/// Jobs with drawn block sizes: the number of I/Os is drawn too, the bytes are determined.
const DRAWN_JOBS: &[&str] = &[
    "--rw=randwrite --bssplit=4k/70:16k/30 --size=1m",
    "--rw=randread --bsrange=4k-32k --size=1m",
    "--rw=randwrite --bssplit=4k/50:8k/,2k/100 --size=1m",
    "--rw=randread --bsrange=1k-4k --size=1m --loops=2",
    "--rw=randwrite --bssplit=4k/33:8k/33:12k/34 --size=1m --ioengine=libaio --iodepth=8",
];

/// The same on storage that takes O_DIRECT; the temporary directory may not.
const DIRECT_JOBS: &[&str] = &[
    "--rw=read --bs=64k --size=1m --direct=1",
    "--rw=randread --bs=4k --size=1m --direct=1 --ioengine=libaio --iodepth=32",
    "--rw=randwrite --bs=4k --size=1m --direct=1 --ioengine=libaio --iodepth=8 --fsync=4",
    "--rw=randread --bs=4k --size=1m --direct=1 --ioengine=io_uring --iodepth=32",
    "--rw=write --bs=128k --size=4m --direct=1 --ioengine=io_uring --iodepth=4 --end_fsync=1",
];

/// Jobs that mix reads and writes: only sums are determined.
const MIXED_JOBS: &[&str] = &[
    "--rw=rw --bs=4k --size=1m",
    "--rw=rw --bs=4k --size=1000000",
    "--rw=rw --bs=4k --size=64k --loops=2",
    "--rw=rw --bs=4k --size=64k --io_size=200k",
    "--rw=randrw --bs=4k --size=1m --rwmixread=70",
    "--rw=randrw --bs=4k --size=1000000",
    "--rw=randrw --bs=4k --size=64k --loops=3",
    "--rw=randrw --bs=8k --size=1m --numjobs=2 --group_reporting",
    "--rw=randrw --bs=4k --size=1m --ioengine=io_uring --iodepth=8",
];

fn fio_is_here() -> bool {
    let here = Command::new("fio")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !here {
        eprintln!("SKIPPED: fio is not installed, so nothing was compared with it");
    }
    here
}

/// Some engines need what a container may forbid; then fio fails as well.
fn io_uring_is_permitted() -> bool {
    let answer = replay::engine::uring::available();
    if let Err(why) = &answer {
        eprintln!("SKIPPED: io_uring jobs: {why}");
    }
    answer.is_ok()
}

fn compare(jobs: &[&str], change: fn(Moved) -> Moved) {
    if !fio_is_here() {
        return;
    }
    let uring = io_uring_is_permitted();
    let mut wrong = Vec::new();
    for job in jobs.iter().filter(|job| uring || !job.contains("io_uring")) {
        let (ours, theirs) = (change(replay(job)), change(fio(job)));
        if ours != theirs {
            wrong.push(format!("{job}\n  here {ours:?}\n  fio  {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a1_finite_jobs_do_what_fio_does() {
    compare(JOBS, |moved| moved);
}

/// Sizes are drawn, so only their rules are compared: how many, between which bounds, multiples
/// of the block, and that all of each is read.
#[test]
fn a1_ranges_of_file_sizes_have_fio_s_rules() {
    if !fio_is_here() {
        return;
    }
    for (options, limit) in [
        ("--rw=read --bs=4k --filesize=64k-128k --nrfiles=6", None),
        (
            "--rw=randread --bs=4k --filesize=64k-128k --nrfiles=6 --size=256k",
            Some(256 << 10),
        ),
        ("--rw=write --bs=8k --filesize=64k-100k --nrfiles=4", None),
    ] {
        let (ours, theirs) = (replay(options), fio(options));
        for (whose, moved) in [("here", &ours), ("fio", &theirs)] {
            let files: u32 = moved.file_sizes.values().sum();
            let bytes: u64 = moved
                .file_sizes
                .iter()
                .map(|(size, files)| size * u64::from(*files))
                .sum();
            assert_eq!(
                files,
                if options.contains("nrfiles=6") { 6 } else { 4 },
                "{whose} {options}"
            );
            let block = if options.contains("=8k") { 8192 } else { 4096 };
            let fits =
                |size: &u64| (64 << 10..=128 << 10).contains(size) && size.is_multiple_of(block);
            assert!(
                moved.file_sizes.keys().all(fits),
                "{whose} {options}: {moved:?}"
            );
            let moved = moved.reads.1 + moved.writes.1;
            assert_eq!(moved, limit.unwrap_or(bytes), "{whose} {options}");
        }
    }
}

/// What the kernel does not do for fio it does not do here, and the job fails with its error.
#[test]
fn what_fails_in_fio_fails_here() {
    if !fio_is_here() || !io_uring_is_permitted() {
        return;
    }
    for options in [
        "--rw=write --bs=4k --size=64k --ioengine=pvsync2 --nowait=1",
        "--rw=read --bs=4k --size=64k --ioengine=io_uring --direct=1 --hipri=1",
        "--rw=write --bs=4k --size=64k --ioengine=io_uring --nowait=1",
        "--rw=read --bs=4k --size=64k --ioengine=psync --hipri=1",
        "--rw=read --bs=4k --size=64k --ioengine=libaio --force_async=1",
        "--rw=read --bs=4k --size=64k --iodepth=0",
    ] {
        let (home, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let theirs = Command::new("timeout")
            .args(["-k", "5", "60", "fio", "--name=j", "--output=/dev/null"])
            .args(options.split(' '))
            .current_dir(there.path())
            .output()
            .unwrap();
        let ours = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
            .arg("--directory")
            .arg(home.path())
            .args(["--", "fio", "--name=j"])
            .args(options.split(' '))
            .output()
            .unwrap();
        let said =
            |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            ours.status.success(),
            theirs.status.success(),
            "{options}: here {}, fio {}",
            said(&ours),
            said(&theirs)
        );
        if said(&theirs).contains("error=Operation not supported") {
            assert!(
                said(&ours).contains("not supported"),
                "{options}: {}",
                said(&ours)
            );
        }
    }
}

#[test]
fn a1_every_option_does_what_it_does_in_fio() {
    compare(OPTION_JOBS, |moved| moved);
}

/// Each direction goes at its own rate, whatever share of the mix it has; one without a rate
/// goes on while the other waits.
#[test]
fn mixes_with_rates_go_as_fast_as_fio() {
    if !fio_is_here() {
        return;
    }
    for (rates, bounded) in [
        ("--rate_iops=100,50", [Some(100), Some(50)]),
        ("--rate_iops=,100 --rwmixread=70", [None, Some(100)]),
        ("--rate_iops=100 --rwmixread=70", [Some(100), Some(100)]),
        ("--rate=400k,100k --rwmixread=20", [Some(100), Some(25)]),
    ] {
        let options = format!("--rw=randrw --bs=4k --size=1m --runtime=1 --time_based {rates}");
        let right = |moved: &Moved| {
            let counts = [moved.reads.0, moved.writes.0].into_iter().zip(bounded);
            counts.into_iter().all(|(count, rate)| match rate {
                // One more or less at the ends, and some lost on a busy machine.
                Some(rate) => (rate * 9 / 10..=rate + 2).contains(&count),
                None => count > 1000,
            })
        };
        // What else runs on the machine may take more than that of one second, hardly of all.
        let mut tries = Vec::new();
        let runs = [("here", replay as fn(&str) -> Moved), ("fio", fio)];
        for (whose, run) in runs {
            tries.clear();
            let held = (0..5).any(|_| {
                tries.push(run(&options));
                tries.last().is_some_and(right)
            });
            assert!(held, "{whose} {rates}: {tries:?}");
        }
    }
}

#[test]
fn fio_on_the_emitted_job_does_what_the_plan_says() {
    if !fio_is_here() {
        return;
    }
    let mut wrong = Vec::new();
    // The machine may forbid io_uring, which stands in for libaio with direct=1 only.
    let jobs = JOBS
        .iter()
        .chain(OPTION_JOBS)
        .filter(|job| !job.contains("io_uring"));
    // fio syncs another file than the one that was written, and names files of its own.
    let jobs = jobs.filter(|job| !(job.contains("nrfiles") && job.contains("fsync")));
    // Every other one is enough, but of those where sizes and places hang together.
    let close = |job: &str| job.contains("filesize") || job.contains("offset_increment");
    let chosen = jobs
        .enumerate()
        .filter(|(number, job)| number % 2 == 0 || close(job));
    for (_, job) in chosen {
        let (ours, theirs) = (replay(job), fio_on_emitted_job(job));
        if ours != theirs {
            wrong.push(format!("{job}\n  here {ours:?}\n  fio  {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a1_drawn_block_sizes_move_as_much_as_in_fio() {
    compare(DRAWN_JOBS, |moved| Moved {
        reads: (0, moved.reads.1),
        writes: (0, moved.writes.1),
        ..moved
    });
}

#[test]
fn a1_direct_jobs_do_what_fio_does() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = replay::sandbox::Sandbox::create(home.path()).unwrap();
    match sandbox.direct_alignment().unwrap() {
        Some(512 | 4096) => compare(DIRECT_JOBS, |moved| moved),
        other => eprintln!("SKIPPED: the temporary directory has no usual O_DIRECT ({other:?})"),
    }
}

#[test]
fn a1_mixed_jobs_do_as_much_as_fio_does() {
    compare(MIXED_JOBS, Moved::mixed);
}
