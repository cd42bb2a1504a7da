//! The chain of devices below a directory, as far as sysfs tells without root: partition,
//! disk, what a mapper or RAID is made of. No serial number is read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// How deep a chain is followed.
const DEEPEST: usize = 8;

/// Facts of the queue of a disk that bear on figures.
const QUEUE: &[&str] = &[
    "rotational",
    "scheduler",
    "nr_requests",
    "write_cache",
    "fua",
    "read_ahead_kb",
    "logical_block_size",
    "physical_block_size",
    "max_sectors_kb",
    "wbt_lat_usec",
];

/// Facts of the disk that holds `directory`; none where there is no local one (overlay,
/// tmpfs, network).
pub(super) fn facts(directory: &Path) -> Map<String, Value> {
    let mut facts = Map::new();
    let Some(disk) = disk(directory) else {
        return facts;
    };
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    if let Some(name) = name(&disk) {
        facts.insert("disk".to_owned(), name.into());
    }
    let mut put = |key: &str, path: PathBuf| {
        if let Some(value) = read(&path) {
            let number = value.parse::<u64>().map(Value::from);
            facts.insert(key.to_owned(), number.unwrap_or_else(|_| value.into()));
        }
    };
    put("disk_model", disk.join("device/model"));
    for name in QUEUE {
        put(&format!("disk_{name}"), disk.join("queue").join(name));
    }
    put("disk_mapper", disk.join("dm/name"));
    // The kind of mapping is what comes before the first dash: CRYPT, LVM, mpath.
    if let Some(kind) =
        read(&disk.join("dm/uuid")).and_then(|uuid| Some(uuid.split('-').next()?.to_owned()))
    {
        facts.insert("disk_mapping".to_owned(), kind.into());
    }
    for (key, path) in [
        ("link_speed", "device/device/current_link_speed"),
        ("link_width", "device/device/current_link_width"),
    ] {
        if let Some(value) = read(&disk.join(path)) {
            facts.insert(key.to_owned(), value.into());
        }
    }
    if let Some(bytes) = link_bytes_per_sec(&disk) {
        facts.insert("link_bytes_per_sec".to_owned(), bytes.into());
    }
    let below = chain(&disk);
    if !below.is_empty() {
        facts.insert("disk_on".to_owned(), below.into());
    }
    facts
}

/// What the link to the disk carries at most, bytes per second, where the system tells.
fn link_bytes_per_sec(disk: &Path) -> Option<u64> {
    let read = |path: &str| read(&disk.join(path));
    if let (Some(speed), Some(width)) = (
        read("device/device/current_link_speed"),
        read("device/device/current_link_width"),
    ) {
        return pcie(&speed, &width);
    }
    let place = disk.to_string_lossy();
    let port = |part: &str| part.strip_prefix("ata")?.parse::<u32>().ok();
    if let Some(port) = place.split('/').find_map(port) {
        let speed = format!("/sys/class/ata_link/link{port}/sata_spd");
        return sata(&self::read(Path::new(&speed))?);
    }
    let usb = disk
        .ancestors()
        .find(|place| place.join("bMaxPower").exists())?;
    usb_speed(&self::read(&usb.join("speed"))?)
}

/// `8.0 GT/s PCIe` on `4` lanes: transfers of a bit each, 8b/10b up to 5 GT/s, then 128b/130b.
fn pcie(speed: &str, width: &str) -> Option<u64> {
    let transfers: f64 = speed.split(' ').next()?.parse().ok()?;
    let lanes: f64 = width.parse().ok()?;
    let code = if transfers <= 5.0 {
        8.0 / 10.0
    } else {
        128.0 / 130.0
    };
    Some((transfers * 1e9 * code / 8.0 * lanes) as u64)
}

/// `6.0 Gbps` with 8b/10b.
fn sata(speed: &str) -> Option<u64> {
    let bits: f64 = speed.split(' ').next()?.parse().ok()?;
    Some((bits * 1e9 / 10.0) as u64)
}

/// `480`, `5000`, `10000` Mb/s: none, 8b/10b, then 128b/132b.
fn usb_speed(speed: &str) -> Option<u64> {
    let megabits: f64 = speed.parse().ok()?;
    let code = match megabits {
        ..=480.0 => 1.0,
        ..=5000.0 => 8.0 / 10.0,
        _ => 128.0 / 132.0,
    };
    Some((megabits * 1e6 * code / 8.0) as u64)
}

/// The whole disk of the directory's device: a partition's parent.
fn disk(directory: &Path) -> Option<PathBuf> {
    let device = fs::metadata(directory).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let link = format!("/sys/dev/block/{major}:{minor}");
    let path = fs::canonicalize(link).ok()?;
    if path.join("partition").exists() {
        return path.parent().map(Path::to_owned);
    }
    Some(path)
}

/// Names of the disks that this one is made of, nearest first.
fn chain(disk: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut level = vec![disk.to_owned()];
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for path in level {
            let Ok(entries) = fs::read_dir(path.join("slaves")) else {
                continue;
            };
            for entry in entries.filter_map(Result::ok) {
                names.push(entry.file_name().to_string_lossy().into_owned());
                next.extend(fs::canonicalize(entry.path()));
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    names
}

/// The trimmed text of a file, if it can be read and says something.
pub(super) fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_carry_what_their_standards_say() {
        // PCIe 3.0 x4, 2.0 x1; SATA 3; USB 2.0, 3.0, 3.1 Gen 2.
        assert_eq!(pcie("8.0 GT/s PCIe", "4"), Some(3_938_461_538));
        assert_eq!(pcie("5.0 GT/s PCIe", "1"), Some(500_000_000));
        assert_eq!(sata("6.0 Gbps"), Some(600_000_000));
        assert_eq!(sata("<unknown>"), None);
        assert_eq!(
            ["480", "5000", "10000"].map(usb_speed),
            [Some(60_000_000), Some(500_000_000), Some(1_212_121_212)]
        );
    }

    #[test]
    fn nothing_of_a_disk_is_a_serial_number() {
        let facts = facts(Path::new("/"));
        assert!(
            facts
                .keys()
                .all(|key| !key.contains("serial") && !key.contains("wwid")),
            "{facts:?}"
        );
        assert!(super::facts(Path::new("/proc")).is_empty(), "no local disk");
    }
}
