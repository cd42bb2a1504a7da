//! Replays fixtures, committed seeds and mutations of them through the fuzz targets, on stable Rust and always alike.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../fuzz/targets.rs"]
mod targets;

/// Mutations of each target's inputs, unless the variable `MUTATIONS` says how many; in all about ten seconds without
/// optimisation.
const MUTATIONS: usize = 1500;
/// A mutation is made of pieces of this size at most, so that many fit into the time.
const PIECE: usize = 3000;

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// The inputs of a target: its seeds, and the fixtures whose names end as given.
fn inputs(target: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    files(&root.join("../fixtures"), &mut paths);
    paths.retain(|path| {
        let name = path.to_string_lossy();
        endings.iter().any(|ending| name.ends_with(ending))
    });
    files(&root.join("fuzz/seeds").join(target), &mut paths);
    paths.sort();
    assert!(paths.len() > 3, "expected inputs for {target}");
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Knuth's 64-bit linear congruential generator: the same mutations in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Up to [`PIECE`] bytes of one input from the start of a line.
fn piece<'i>(random: &mut Random, inputs: &'i [Vec<u8>]) -> &'i [u8] {
    let input = &inputs[random.below(inputs.len())];
    let from = random.below(input.len());
    let start = input[..from]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    &input[start..input.len().min(start + 1 + random.below(PIECE))]
}

fn mutated(random: &mut Random, inputs: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = piece(random, inputs).to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        match random.below(6) {
            // splice
            0 => {
                bytes.truncate(at);
                bytes.extend_from_slice(piece(random, inputs));
            }
            1 => bytes.truncate(at),
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            // a line once more
            3 => {
                let end = bytes.len().min(at + random.below(200));
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                let sign = b"\n\r \t\0{}[]\"':;,=-/\\>|#<&$(".to_vec();
                let sign = sign[random.below(sign.len())];
                bytes.splice(at..at, vec![sign; 1 + random.below(20)]);
            }
            _ => {
                let end = bytes.len().min(at + random.below(20));
                bytes.drain(at..end);
            }
        }
    }
    bytes
}

fn replay(target: &str, endings: &[&str], run: fn(&[u8])) {
    let inputs = inputs(target, endings);
    for input in &inputs {
        run(input);
    }
    let mut random = Random(1);
    let asked = std::env::var("MUTATIONS").ok();
    let mutations = asked.and_then(|asked| asked.parse().ok());
    for _ in 0..mutations.unwrap_or(MUTATIONS) {
        let bytes = mutated(&mut random, &inputs);
        if std::panic::catch_unwind(|| run(&bytes)).is_err() {
            panic!("{target} breaks on {:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn parse() {
    replay("parse", &[".txt", ".json", ".fio"], targets::parse);
}

#[test]
fn jsonl() {
    replay("jsonl", &[".jsonl"], targets::jsonl);
}

#[test]
fn command() {
    replay("command", &["input.txt"], targets::command);
}

#[test]
fn job_file() {
    replay("job_file", &[".fio"], targets::job_file);
}
