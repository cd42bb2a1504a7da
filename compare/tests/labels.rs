//! Labels that a person corrected.

mod common;

use common::{cells, run};
use std::fs;
use std::path::PathBuf;

const POST: &str = "\
Disk A

$ dd if=/dev/zero of=a bs=1M count=100
104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s

Disk B

$ dd if=/dev/zero of=b bs=1M count=100
104857600 bytes (105 MB, 100 MiB) copied, 2 s, 52.4 MB/s
";

/// A folder with a post and labels for it.
fn folder(labels: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (post, file) = (folder.path().join("post.txt"), folder.path().join("l.toml"));
    fs::write(&post, POST).unwrap();
    fs::write(&file, labels).unwrap();
    (folder, post, file)
}

#[test]
fn corrected_labels_name_the_machines_of_logs_and_of_records() {
    let (folder, post, labels) = folder("[[result]]\nline = 4\nmachine = 'NAS'\n");
    let (post, labels) = (post.to_str().unwrap(), labels.to_str().unwrap());
    let log = fio_parse::Log::from_bytes(post, POST.as_bytes()).unwrap();
    let mut records = Vec::new();
    fio_parse::record::write_jsonl(&fio_parse::parse(&log).records, &mut records).unwrap();
    let file = folder.path().join("post.jsonl");
    fs::write(&file, &records).unwrap();
    for (inputs, stdin) in [
        (post, &b""[..]),
        (file.to_str().unwrap(), b""),
        ("-", &records[..]),
    ] {
        let found = cells(&[inputs, "--labels", labels, "-m", "bw"], stdin);
        let machines: Vec<_> = found
            .iter()
            .map(|c| c["machine"].as_str().unwrap())
            .collect();
        assert_eq!(machines, ["NAS", "Disk B"], "{inputs}");
    }
}

#[test]
fn err_labels_that_do_not_fit_give_no_table() {
    for (labels, told) in [
        (
            "[[result]]\nline = 5\nmachine = 'NAS'\n",
            "expected a result at line 5",
        ),
        ("[[result]]\nline = 4\ntext = 'other'\n", "to be \"other\""),
        (
            "[[result]]\ninput = 'x.txt'\nline = 4\n",
            "expected the input \"x.txt\"",
        ),
        ("[[result]]\nline = 4\nmashine = 'NAS'\n", "mashine"),
    ] {
        let (_folder, post, file) = folder(labels);
        let ran = run(&[post.to_str().unwrap(), "--labels", file.to_str().unwrap()]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{labels}");
        assert!(ran.err.contains(told), "{}", ran.err);
    }
}
