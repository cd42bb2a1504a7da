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
    let below = chain(&disk);
    if !below.is_empty() {
        facts.insert("disk_on".to_owned(), below.into());
    }
    facts
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
