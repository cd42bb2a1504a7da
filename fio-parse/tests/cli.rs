//! The binary from outside: exit codes, messages, pipes, and input that no tool ever wrote.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn post(slug: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/logs")
        .join(slug)
        .join("input.txt")
        .display()
        .to_string()
}

fn run(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fio-parse"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal")
}

fn talk(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_post_gives_a_record_a_line() {
    let output = run(&[&post("laptops-fio-2021")], b"");
    assert_eq!(code(&output), 0);
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(lines.lines().count(), 6);
    assert!(lines.lines().all(|line| line.starts_with("{\"v\":1,")));
    // what is odd is said with file, line and column, on the other stream
    assert!(
        talk(&output).contains("note[carry-lost]: 62.0GB"),
        "{}",
        talk(&output)
    );
    assert!(
        talk(&output).contains("input.txt:41:82"),
        "{}",
        talk(&output)
    );
}

#[test]
fn standard_input_is_read_by_name_and_by_default() {
    let bytes = fs::read(post("disk-speeds-dd-2020")).unwrap();
    let named = run(&["-"], &bytes);
    let unnamed = run(&[], &bytes);
    assert_eq!(named.stdout, unnamed.stdout);
    assert_eq!(named.stdout.iter().filter(|&&b| b == b'\n').count(), 8);
}

#[test]
fn records_pass_through_and_take_labels() {
    let first = run(&[&post("laptops-fio-2021")], b"");
    let again = run(&["-"], &first.stdout);
    assert_eq!(again.stdout, first.stdout);
    let labelled = run(&["somewhere=-"], &first.stdout);
    let text = String::from_utf8(labelled.stdout).unwrap();
    assert!(
        text.lines()
            .all(|line| line.contains(r#""machine":{"text":"somewhere","by":"flag"}"#))
    );
}

#[test]
fn a_text_without_results_ends_with_one() {
    for text in [
        &b""[..],
        b"\n",
        b"nothing to see here\n",
        b"fio is a tool, dd another\n",
    ] {
        let output = run(&["-"], text);
        assert_eq!(code(&output), 1, "{}", talk(&output));
        assert!(output.stdout.is_empty());
        assert!(
            talk(&output).contains("no result of fio or dd found"),
            "{}",
            talk(&output)
        );
    }
}

#[test]
fn what_cannot_be_read_ends_with_two() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.txt").display().to_string();
    for (arguments, words) in [
        (vec![missing.as_str()], "No such file"),
        (vec![folder.path().to_str().unwrap()], "found a directory"),
        (vec!["--no-such-option"], "--no-such-option"),
    ] {
        let output = run(&arguments, b"");
        assert_eq!(code(&output), 2);
        assert!(talk(&output).contains(words), "{}", talk(&output));
    }
    // the rest is read all the same
    let output = run(&[&missing, &post("laptops-fio-2021")], b"");
    assert_eq!(code(&output), 2);
    assert_eq!(output.stdout.iter().filter(|&&b| b == b'\n').count(), 6);
    // a line that is no record says which
    let output = run(&["-"], b"{\"v\":1}\n");
    assert_eq!(code(&output), 2);
    assert!(
        talk(&output).contains("line 1: no record"),
        "{}",
        talk(&output)
    );
    let output = run(&["-"], b"{\"v\":7}\n");
    assert!(
        talk(&output).contains("found version 7"),
        "{}",
        talk(&output)
    );
}

#[test]
fn random_bytes_and_cut_off_logs_do_no_harm() {
    // a fixed sequence, so that a failure can be seen again
    let mut state = 88_172_645_463_325_252u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    let noise: Vec<u8> = (0..200_000).map(|_| byte()).collect();
    assert_eq!(code(&run(&["-"], &noise)), 1);

    let whole = fs::read(post("laptops-fio-2021")).unwrap();
    let full = run(&["-"], &whole).stdout;
    for cut in (0..whole.len()).step_by(97) {
        let output = run(&["-"], &whole[..cut]);
        assert!(code(&output) <= 1, "cut at {cut}: {}", talk(&output));
        // what is whole in the cut text is what it was in the full one
        let kept = output.stdout.iter().filter(|&&b| b == b'\n').count();
        let same = output
            .stdout
            .split(|&b| b == b'\n')
            .zip(full.split(|&b| b == b'\n'))
            .take_while(|(a, b)| a == b)
            .count();
        assert!(
            same + 1 >= kept,
            "cut at {cut}: {kept} records, {same} as before"
        );
    }
}

#[test]
fn one_line_of_a_hundred_megabytes_is_read_to_its_end() {
    let mut text = vec![b'x'; 100 << 20];
    text.extend_from_slice(b"\n  READ: bw=1000B/s (1000B/s), 1000B/s-1000B/s (1000B/s-1000B/s), io=1000B (1000B), run=1000-1000msec\n");
    let output = run(&["-"], &text);
    assert_eq!(code(&output), 0, "{}", talk(&output));
    assert_eq!(output.stdout.iter().filter(|&&b| b == b'\n').count(), 1);
}

#[test]
fn a_closed_pipe_is_a_normal_end() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fio-parse"))
        .args([post("laptops-fio-2021"), post("disk-speeds-dd-2020")])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn explain_shows_every_line() {
    let path = post("disk-speeds-dd-2020");
    let output = run(&["--explain", &path], b"");
    let shown = String::from_utf8(output.stdout).unwrap();
    let input = fs::read_to_string(path).unwrap();
    // what is told below results stands between the lines of the log
    let told = |line: &&str| line.trim_start().starts_with('╰');
    assert!(
        !shown.contains('\u{1b}'),
        "no colour where it goes to a pipe"
    );
    assert_eq!(
        shown.lines().filter(told).count(),
        8 + 3 + 12,
        "results, warnings, claims"
    );
    let shown: String = shown
        .lines()
        .filter(|line| !told(line))
        .map(|line| line.to_owned() + "\n")
        .collect();
    assert_eq!(shown.lines().count(), input.lines().count());
    for (shown, line) in shown.lines().zip(input.lines()) {
        let (_, text) = shown.split_once('│').unwrap();
        assert_eq!(text.strip_prefix(' ').unwrap_or(text), line.trim_end());
    }
    assert_eq!(
        shown
            .lines()
            .filter(|line| line.trim_start().starts_with("command │"))
            .count(),
        8
    );
    assert_eq!(
        shown
            .lines()
            .filter(|line| line.trim_start().starts_with("time │"))
            .count(),
        8
    );
}

#[test]
fn labels_are_printed_edited_and_given() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("labels.toml");
    let post = post("disk-speeds-dd-2020");
    let printed = String::from_utf8(run(&["--print-labels", "-q", &post], b"").stdout).unwrap();
    assert_eq!(printed.matches("[[result]]").count(), 8, "{printed}");
    let edited = printed.replace("WD 4TB USB hard drive on that MacBook Pro", "WD 4TB");
    assert_ne!(edited, printed);
    fs::write(&file, &edited).unwrap();
    let name = file.display().to_string();
    let output = run(&["-q", "--labels", &name, &post], b"");
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let records = String::from_utf8(output.stdout).unwrap();
    let second = records.lines().nth(1).unwrap();
    assert!(
        second.contains(r#""machine":{"text":"WD 4TB","by":"flag"}"#),
        "{second}"
    );

    fs::write(&file, edited.replace("line = 19", "line = 20")).unwrap();
    let output = run(&["-q", "--labels", &name, &post], b"");
    assert_eq!(code(&output), 2);
    assert!(
        talk(&output).contains("expected a result at line 20"),
        "{}",
        talk(&output)
    );
}

/// A folder with logs, a folder within, and what is no log.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("b")).unwrap();
    for (name, slug) in [
        ("a.txt", "fio-3.33-randrw"),
        ("b/z.txt", "fio-3.33-enospc"),
        ("c.txt", "laptops-fio-2021"),
    ] {
        fs::copy(post(slug), at(name)).unwrap();
    }
    fs::write(at("b/notes.md"), "nothing was measured here\n").unwrap();
    fs::write(at("disk.img"), b"\x7fELF\0\0\0\0").unwrap();
    folder
}

#[test]
fn a_folder_is_read_in_the_order_of_its_names() {
    let folder = folder();
    let root = folder.path().to_str().unwrap();
    let output = run(&["-r", root], b"");
    assert_eq!(code(&output), 0, "{}", talk(&output));
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    let names: Vec<&str> = lines
        .lines()
        .map(|line| {
            let from = line.find(root).unwrap() + root.len() + 1;
            &line[from..from + line[from..].find('"').unwrap()]
        })
        .collect();
    let wanted = [["a.txt"; 4].as_slice(), &["b/z.txt"; 2], &["c.txt"; 6]];
    assert_eq!(names, wanted.concat());
    let talk = talk(&output);
    assert!(talk.contains("disk.img: skipped, it is no text"), "{talk}");
    assert!(talk.contains("notes.md: no result of fio or dd"), "{talk}");
    // the same again, byte for byte, and with a label
    assert_eq!(run(&["-r", root], b"").stdout, output.stdout);
    let labelled = run(&["-rq", &format!("lab={root}")], b"");
    let labelled = String::from_utf8(labelled.stdout).unwrap();
    assert_eq!(labelled.matches(r#""machine":{"text":"lab""#).count(), 12);
}

#[test]
fn exit_codes_of_folders_are_those_of_files() {
    let folder = folder();
    let root = folder.path().to_str().unwrap();
    assert_eq!(code(&run(&[root], b"")), 2);
    let inner = folder.path().join("b");
    fs::remove_file(inner.join("z.txt")).unwrap();
    assert_eq!(code(&run(&["-r", inner.to_str().unwrap()], b"")), 1);
    assert_eq!(code(&run(&["-r", root, "no/such/file"], b"")), 2);
}

#[test]
fn series_gives_a_line_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job_bw.1.log");
    fs::write(&path, "500, 44040, 0, 4096\n1000, 40000, 1, 4096\nx\n").unwrap();
    let path = path.to_str().unwrap();
    let output = run(&["--series", "csv", path], b"");
    assert_eq!(code(&output), 0);
    assert_eq!(
        String::from_utf8(output.stdout.clone()).unwrap(),
        "time_ms,direction,kib_per_sec,block_bytes\n500,read,44040,4096\n1000,write,40000,4096\n"
    );
    assert!(
        talk(&output).contains("bw.1.log:3: expected a sample"),
        "{}",
        talk(&output)
    );
    // what the samples are must be known
    let output = run(&["--series", "jsonl"], b"1, 2, 0, 4096\n");
    assert_eq!(code(&output), 2);
    assert!(talk(&output).contains("--log-kind"));
    let output = run(
        &["--series", "jsonl", "--log-kind", "iops"],
        b"1, 2, 0, 4096\n",
    );
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "{\"time_ms\":1,\"direction\":\"read\",\"iops\":2,\"block_bytes\":4096}\n"
    );
    assert_eq!(
        code(&run(&["--series", "csv", "--log-kind", "bw"], b"no\n")),
        1
    );
}

#[cfg(unix)]
#[test]
fn a_device_without_end_is_refused_and_an_empty_one_is_not() {
    for device in ["/dev/zero", "/dev/urandom", "label=/dev/zero"] {
        let output = run(&[device], b"");
        assert_eq!(code(&output), 2, "{device}");
        assert!(
            talk(&output).contains("found a device"),
            "{}",
            talk(&output)
        );
    }
    assert_eq!(code(&run(&["/dev/null"], b"")), 1);
}
