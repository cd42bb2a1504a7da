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
    if let Ok(space) = rustix::fs::statvfs(directory) {
        let bytes = |blocks: u64| Value::from(blocks.saturating_mul(space.f_frsize));
        put("space_total_bytes", Some(bytes(space.f_blocks)));
        let used = space.f_blocks.saturating_sub(space.f_bfree);
        put("space_used_bytes", Some(bytes(used)));
        put("space_free_bytes", Some(bytes(space.f_bavail)));
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
];

const CPU_KHZ: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq";

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
    if let Some(times) = throttled() {
        noise.insert("throttled".to_owned(), times.into());
    }
    if let Some(khz) = disk::read(Path::new(CPU_KHZ)) {
        noise.insert("cpu_khz".to_owned(), number_or_text(&khz));
    }
    if let Some(hottest) = temperature() {
        noise.insert("hottest_celsius".to_owned(), hottest.into());
    }
    noise
}

/// How often CPUs were slowed down because of heat since boot, where the system counts it.
fn throttled() -> Option<u64> {
    let mut sum = None;
    for cpu in fs::read_dir("/sys/devices/system/cpu").ok()? {
        let Ok(cpu) = cpu else { continue };
        let count = cpu.path().join("thermal_throttle/core_throttle_count");
        if let Some(times) = disk::read(&count).and_then(|text| text.parse::<u64>().ok()) {
            sum = Some(sum.unwrap_or(0) + times);
        }
    }
    sum
}

/// The highest temperature that any sensor of the machine or of an NVMe disk tells, degrees.
fn temperature() -> Option<f64> {
    let zones = ["/sys/class/thermal", "/sys/class/hwmon"];
    let entries = zones.iter().filter_map(|zone| fs::read_dir(zone).ok());
    let sensors = entries
        .flatten()
        .filter_map(Result::ok)
        .flat_map(|entry| ["temp", "temp1_input"].map(|name| disk::read(&entry.path().join(name))));
    sensors
        .flatten()
        .filter_map(|text| text.parse::<f64>().ok())
        .map(|thousandths| thousandths / 1000.0)
        .reduce(f64::max)
}

/// The CPUs that this process may use.
pub fn cpus() -> Option<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    let all = 0..rustix::thread::CpuSet::MAX_CPU;
    Some(
        all.filter(|&cpu| set.is_set(cpu))
            .map(|cpu| cpu as u32)
            .collect(),
    )
}

/// While it lives no file can grow beyond a size (RLIMIT_FSIZE): should a plan be wrong, its
/// writes fail.
#[derive(Debug)]
pub struct FileSizeLimit(rustix::process::Rlimit);

impl FileSizeLimit {
    /// Results go to files too, and these may have so much.
    const LEAST: u64 = 64 << 20;

    /// Limits files to `bytes`, and a little more for what the program writes itself.
    pub fn new(bytes: u64) -> Self {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let before = getrlimit(Resource::Fsize);
        let wanted = bytes.max(Self::LEAST);
        let current = Some(before.current.map_or(wanted, |limit| limit.min(wanted)));
        // It is a belt beside braces: without it the plan alone bounds the files.
        let _ = setrlimit(Resource::Fsize, Rlimit { current, ..before });
        FileSizeLimit(before)
    }
}

impl Drop for FileSizeLimit {
    fn drop(&mut self) {
        // Raising it to what it was is always permitted.
        let _ = rustix::process::setrlimit(rustix::process::Resource::Fsize, self.0);
    }
}

/// Whether the program runs with all rights.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Files that this process may have open (RLIMIT_NOFILE).
pub fn open_files() -> u64 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.unwrap_or(u64::MAX)
}

/// Charge in per cent of a battery that is being emptied; nothing on mains or without one.
pub fn battery_percent() -> Option<u8> {
    let power = power()?;
    if power.contains("mains") && !power.contains("no mains") {
        return None;
    }
    discharging(&power)
}

/// The charge in `no mains, battery 55 % (Discharging)`.
fn discharging(power: &str) -> Option<u8> {
    let (_, battery) = power.split_once("battery ")?;
    let (percent, rest) = battery.split_once(" %")?;
    rest.contains("(Discharging)")
        .then(|| percent.parse().ok())?
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
            // Those of the mount, then those of the file system: btrfs has `compress` there.
            let mut options = front.nth(2).unwrap_or_default().to_owned();
            let mut back = back.split(' ');
            let kind = back.next().unwrap_or_default().to_owned();
            for option in back.nth(1).unwrap_or_default().split(',') {
                if !options.split(',').any(|known| known == option) {
                    options = format!("{options},{option}");
                }
            }
            (kind, options)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_counts_while_it_is_emptied() {
        let charge = discharging("no mains, battery 19 % (Discharging)");
        assert_eq!(charge, Some(19));
        assert_eq!(discharging("battery 55 % (Charging)"), None);
        assert_eq!(discharging("mains"), None);
    }

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
