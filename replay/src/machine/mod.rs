//! Facts about the machine that bear on the figures: read without root, no serial number,
//! no host name. A fact that cannot be read is left out.

mod disk;

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
    for (name, bytes) in [
        ("memory_available_bytes", "MemAvailable"),
        ("cached_bytes", "Cached"),
        ("writeback_bytes", "Writeback"),
        ("swap_free_bytes", "SwapFree"),
    ] {
        put(name, memory(bytes).map(Value::from));
    }
    for (name, path) in FILES {
        put(
            name,
            disk::read(Path::new(path)).map(|text| number_or_text(&text)),
        );
    }
    put("virtual_machine", virtual_machine().map(Value::from));
    put("container", Some(Value::from(container())));
    put("power", power().map(Value::from));
    facts.extend(disk::facts(directory));
    facts
}

/// Facts that are a file each.
const FILES: &[(&str, &str)] = &[
    ("vm_dirty_ratio", "/proc/sys/vm/dirty_ratio"),
    (
        "vm_dirty_background_ratio",
        "/proc/sys/vm/dirty_background_ratio",
    ),
    ("vm_dirty_bytes", "/proc/sys/vm/dirty_bytes"),
    ("vm_swappiness", "/proc/sys/vm/swappiness"),
    (
        "transparent_hugepage",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ),
    ("io_uring_disabled", "/proc/sys/kernel/io_uring_disabled"),
    ("memory_limit_bytes", "/sys/fs/cgroup/memory.max"),
    (
        "cpu_governor",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    ),
    ("cpu_boost", "/sys/devices/system/cpu/cpufreq/boost"),
    (
        "cpu_khz",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
    ),
];

fn number_or_text(text: &str) -> Value {
    text.parse::<u64>()
        .map_or_else(|_| Value::from(text), Value::from)
}

/// Whether a hypervisor runs below, by the CPU's own flag.
fn virtual_machine() -> Option<bool> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let flags = text.lines().find(|line| line.starts_with("flags"))?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Whether this is a container, as far as the usual marks tell.
fn container() -> bool {
    let marks = ["/.dockerenv", "/run/.containerenv"];
    let named = fs::read_to_string("/proc/1/cgroup").unwrap_or_default();
    marks.iter().any(|mark| Path::new(mark).exists())
        || ["docker", "kubepods", "lxc", "containerd"]
            .iter()
            .any(|word| named.contains(word))
}

/// Mains or battery with its charge; nothing where no supply is reported.
fn power() -> Option<String> {
    let mut supplies = Vec::new();
    for entry in fs::read_dir("/sys/class/power_supply")
        .ok()?
        .filter_map(Result::ok)
    {
        let fact = |name: &str| disk::read(&entry.path().join(name));
        match (
            fact("type")?.as_str(),
            fact("online"),
            fact("status"),
            fact("capacity"),
        ) {
            ("Mains", Some(online), ..) => supplies.push(if online == "1" {
                "mains".to_owned()
            } else {
                "no mains".to_owned()
            }),
            ("Battery", _, Some(status), Some(capacity)) => {
                supplies.push(format!("battery {capacity} % ({status})"))
            }
            _ => {}
        }
    }
    (!supplies.is_empty()).then(|| supplies.join(", "))
}

/// Shares of the last ten seconds in which some task waited for I/O and for CPU, per cent,
/// and the time that a hypervisor took away since boot, in ticks.
pub fn noise() -> Map<String, Value> {
    let mut noise = Map::new();
    for (name, path) in [
        ("pressure_io", "/proc/pressure/io"),
        ("pressure_cpu", "/proc/pressure/cpu"),
    ] {
        let share = fs::read_to_string(path).ok().and_then(|text| {
            let (_, rest) = text.lines().next()?.split_once("avg10=")?;
            rest.split(' ').next()?.parse::<f64>().ok()
        });
        if let Some(share) = share {
            noise.insert(name.to_owned(), share.into());
        }
    }
    let steal = fs::read_to_string("/proc/stat").ok().and_then(|text| {
        text.lines()
            .next()?
            .split_whitespace()
            .nth(8)?
            .parse::<u64>()
            .ok()
    });
    if let Some(ticks) = steal {
        noise.insert("steal_ticks".to_owned(), ticks.into());
    }
    noise
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
        assert!(!text.contains("serial") && !text.contains("host_name"));
        let named = super::facts(Path::new("/"), &SystemClock::portable(), true);
        assert!(named.contains_key("host_name"), "only when asked for");
    }
}
