//! fio's own tools on this program's output. Skipped aloud where they are not installed.

use std::process::Command;

#[test]
fn fio_s_script_reads_the_bins_of_json_plus() {
    let home = tempfile::tempdir().unwrap();
    let json = home.path().join("run.json");
    let output = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
        .arg("--format")
        .arg(format!("json+={}", json.display()))
        .arg("--directory")
        .arg(home.path())
        .args([
            "--",
            "fio --name=a --rw=randrw --bs=4k --size=1m --numjobs=2 --fsync=8",
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let csv = home.path().join("out.csv");
    for extra in [None, Some("--validate")] {
        let tool = Command::new("fio_jsonplus_clat2csv")
            .args(extra)
            .arg(&json)
            .arg(&csv)
            .output();
        let tool = match tool {
            Ok(tool) => tool,
            Err(error) => {
                eprintln!("SKIPPED: fio_jsonplus_clat2csv: {error}");
                return;
            }
        };
        let said = String::from_utf8_lossy(&tool.stderr);
        if said.contains("ModuleNotFoundError") {
            eprintln!("SKIPPED: fio_jsonplus_clat2csv lacks a module: {said}");
            return;
        }
        assert!(tool.status.success(), "{said}");
    }
    for job in ["out_job0.csv", "out_job1.csv"] {
        let lines = std::fs::read_to_string(home.path().join(job))
            .unwrap()
            .lines()
            .count();
        assert!(lines > 5, "{job} has {lines} lines");
    }
}

#[test]
fn a2_files_are_as_large_and_reserve_as_much_as_fio_s() {
    use std::os::unix::fs::MetadataExt;
    fn files(directory: &std::path::Path, found: &mut Vec<(u64, u64)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                files(&entry.path(), found);
            } else {
                found.push((metadata.len(), metadata.blocks()));
            }
        }
    }
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIPPED: fio is not installed");
        return;
    }
    for mode in ["native", "posix", "keep", "truncate", "none"] {
        for rw in ["write", "read"] {
            let words = format!("--rw={rw} --bs=4k --size=1m --io_size=4k --fallocate={mode}");
            let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let run = Command::new("fio")
                .args(["--name=j", "--end_fsync=1", "--output=/dev/null"])
                .args(words.split(' '))
                .current_dir(theirs.path())
                .status()
                .unwrap();
            assert!(run.success());
            let run = Command::new(env!("CARGO_BIN_EXE_fio-replay"))
                .args(["--keep", "--directory"])
                .arg(ours.path())
                .args(["--", "fio", "--name=j", "--end_fsync=1"])
                .args(words.split(' '))
                .output()
                .unwrap();
            assert!(run.status.success());
            let (mut here, mut there) = (Vec::new(), Vec::new());
            files(ours.path(), &mut here);
            files(theirs.path(), &mut there);
            assert_eq!(here, there, "{words}: size and blocks");
        }
    }
}
