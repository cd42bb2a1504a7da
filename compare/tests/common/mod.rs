//! Running the program in a test, and records made by hand.
#![allow(dead_code, reason = "each test file uses a part")]

use compare::cli::{self, Terminal};
use serde_json::{Value, json};

/// What a run gave.
pub struct Ran {
    pub out: String,
    pub err: String,
    pub status: u8,
}

/// Runs `fio-compare` with these arguments and this standard input.
pub fn run_with(args: &[&str], stdin: &[u8]) -> Ran {
    let args = std::iter::once("fio-compare").chain(args.iter().copied());
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = cli::run(
        args.map(Into::into),
        &mut { stdin },
        &mut out,
        &mut err,
        Terminal::default(),
    );
    Ran {
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
        status,
    }
}

/// As [`run_with`], without input.
pub fn run(args: &[&str]) -> Ran {
    run_with(args, b"")
}

/// A path below `tests/data`.
pub fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A number known exactly.
pub fn exact(value: f64) -> Value {
    json!({"value": value, "lo": value, "hi": value})
}

/// A fio record of a 4k random write with this bandwidth in MiB/s, exactly.
pub fn record(machine: &str, run: u32, mib_per_sec: f64) -> Value {
    json!({
        "v": 1,
        "source": {"name": format!("{machine}.txt"), "dialect": "fio-group", "tool": {"name": "fio", "version": "fio-3.33"}},
        "machine": {"text": machine, "by": "caption"},
        "workload": {"key": "made", "written_as": "fio-command", "jobs": [{
            "name": "w", "pattern": "randwrite", "block_bytes": 4096, "size_bytes": 1 << 30,
            "depth": 1, "jobs": 1, "engine": "psync",
        }]},
        "run": run,
        "scope": {"kind": "group", "group": 0},
        "direction": "write",
        "measurement": {"bytes_per_sec": exact(mib_per_sec * 1_048_576.0)},
        "warnings": [],
    })
}

/// Records as JSON Lines. serde_json sorts keys, so `"v"` is put first by hand.
pub fn lines(records: &[Value]) -> Vec<u8> {
    let mut out = String::new();
    for record in records {
        let mut record = record.clone();
        record.as_object_mut().unwrap().remove("v");
        out.push_str(&format!("{{\"v\":1,{}\n", &record.to_string()[1..]));
    }
    out.into_bytes()
}

/// The cells of `--format json`, as objects.
pub fn cells(args: &[&str], stdin: &[u8]) -> Vec<Value> {
    let mut all = args.to_vec();
    all.extend(["--format", "json"]);
    let ran = run_with(&all, stdin);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let whole: Value = serde_json::from_str(&ran.out).unwrap();
    whole["cells"].as_array().unwrap().clone()
}

/// The logs among the fixtures that hold something to compare.
pub fn logs() -> Vec<String> {
    let folder = format!("{}/../fixtures/logs", env!("CARGO_MANIFEST_DIR"));
    let mut logs: Vec<String> = (std::fs::read_dir(&folder).unwrap())
        .map(|entry| entry.unwrap().path().join("input.txt"))
        .map(|path| path.to_string_lossy().into_owned())
        .filter(|log| run(&[log, "-q"]).status == 0)
        .collect();
    logs.sort();
    assert!(logs.len() >= 8, "{logs:?}");
    logs
}
