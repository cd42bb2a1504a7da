//! Facts about the machine that bear on the figures: read without root, no serial number,
//! no host name. A fact that cannot be read is left out.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::clock::SystemClock;

/// Facts of the machine and of the directory that was tested.
pub fn facts(directory: &Path, clock: &SystemClock, host_name: bool) -> Map<String, Value> {
    let mut facts = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            facts.insert(name.to_owned(), value);
        }
    };
    put(
        "host_name",
        read("/proc/sys/kernel/hostname")
            .filter(|_| host_name)
            .map(Value::from),
    );
    put(
        "kernel",
        read("/proc/sys/kernel/osrelease").map(Value::from),
    );
    put("cpu", cpu_model().map(Value::from));
    let cpus = std::thread::available_parallelism().ok();
    put("cpus", cpus.map(|cpus| Value::from(cpus.get())));
    put("memory_bytes", memory("MemTotal").map(Value::from));
    put("dirty_bytes", memory("Dirty").map(Value::from));
    put("clock", Some(Value::from(clock.source())));
    if let Some((kind, options)) = file_system(directory) {
        put("file_system", Some(Value::from(kind)));
        put("mount_options", Some(Value::from(options)));
    }
    facts
}

/// Memory that can be had without swapping, bytes.
pub fn available_memory() -> Option<u64> {
    memory("MemAvailable")
}

/// Data of the whole machine that waits to be written back, bytes.
pub fn dirty() -> u64 {
    memory("Dirty").unwrap_or(0)
}

/// What of it came since `before`, bytes: an upper bound of our own.
pub fn own_dirty(before: u64) -> u64 {
    dirty().saturating_sub(before)
}

fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// A line of `/proc/meminfo`, in bytes.
fn memory(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(':'))
    })?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Type and options of the file system that holds `directory`, found by device number: a
/// longest-prefix match on paths is wrong under overlays and bind mounts.
fn file_system(directory: &Path) -> Option<(String, String)> {
    use std::os::unix::fs::MetadataExt;
    let device = fs::metadata(directory).ok()?.dev();
    let wanted = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    let text = fs::read_to_string("/proc/self/mountinfo").ok()?;
    text.lines().find_map(|line| {
        // id parent major:minor root mount-point options [fields] - type source super-options
        let (front, back) = line.split_once(" - ")?;
        let mut front = front.split(' ').skip(2);
        (front.next()? == wanted).then(|| {
            let options = front.nth(2).unwrap_or_default().to_owned();
            (
                back.split(' ').next().unwrap_or_default().to_owned(),
                options,
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_facts_are_there() {
        let facts = facts(Path::new("/"), &SystemClock::portable(), false);
        for name in ["kernel", "cpus", "memory_bytes", "clock"] {
            assert!(facts.contains_key(name), "{name} in {facts:?}");
        }
        let memory = facts["memory_bytes"].as_u64().unwrap();
        assert!(available_memory().unwrap() <= memory);
        let text = serde_json::to_string(&facts).unwrap().to_lowercase();
        assert!(!text.contains("serial") && !text.contains("hostname"));
    }
}
