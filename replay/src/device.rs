//! A block device that the person typed with `--device`, never one that a text names; for
//! tests that only read a file will do as well.
//!
//! Before a test may write to it, it must be used by nobody: not mounted, no swap, nothing
//! stacked on it, no partitions, no signature of a file system, volume or partition table,
//! and it must be possible to claim it exclusively (O_EXCL), which the kernel refuses for a
//! device in use. The claim is held until the end. A test that only reads needs the claim
//! alone. A file is opened for reading only, and a test that writes refuses it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The name under which the plan knows it.
pub const NAME: &str = "device";

/// Where signatures stand: offset, bytes, what has them.
const SIGNATURES: &[(usize, &[u8], &str)] = &[
    (510, b"\x55\xaa", "a partition table (MBR) or boot sector"),
    (512, b"EFI PART", "a partition table (GPT)"),
    (4096, b"EFI PART", "a partition table (GPT)"),
    (1080, b"\x53\xef", "ext2, ext3 or ext4"),
    (0, b"XFSB", "XFS"),
    (0x1_0040, b"_BHRfS_M", "btrfs"),
    (0x1018, b"\xc6\x85\x73\xf6", "bcachefs or bcache"),
    (1024, b"\x10\x20\xf5\xf2", "F2FS"),
    (3, b"NTFS    ", "NTFS"),
    (3, b"EXFAT   ", "exFAT"),
    (0, b"LUKS\xba\xbe", "LUKS"),
    (512, b"LABELONE", "an LVM volume"),
    (4086, b"SWAPSPACE2", "swap"),
    (4096, b"\xfc\x4e\x2b\xa9", "a RAID member"),
    (0, b"\xfc\x4e\x2b\xa9", "a RAID member"),
    (0x8001, b"CD001", "an ISO image"),
];

/// Bytes at the front in which signatures are looked for.
const FRONT: usize = 0x1_1000;

/// A claimed device.
#[derive(Debug)]
pub struct Device {
    path: PathBuf,
    identity: Identity,
    /// Its size, bytes.
    pub bytes: u64,
    /// Holds the exclusive claim.
    _claim: File,
}

/// What tells a device or a file from every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Identity {
    /// The number of a block device.
    Device(u64),
    /// File system and inode of a file.
    File(u64, u64),
}

impl Identity {
    fn of(metadata: &fs::Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        if kind.is_block_device() {
            Some(Identity::Device(metadata.rdev()))
        } else if kind.is_file() {
            Some(Identity::File(metadata.dev(), metadata.ino()))
        } else {
            None
        }
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    let text = format!("{} is not used: {why}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

impl Device {
    /// Claims a device for tests that write to it, or only read.
    ///
    /// # Errors
    /// If it is none, or in use, or holds something.
    pub fn claim(typed: &Path, writes: bool) -> io::Result<Device> {
        // Names such as /dev/disk/by-id are links to the device.
        let path = fs::canonicalize(typed).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", typed.display()))
        })?;
        let metadata = fs::metadata(&path)?;
        let identity = Identity::of(&metadata)
            .ok_or_else(|| refused(typed, "it is neither a block device nor a file"))?;
        let claim_flags = match identity {
            Identity::Device(number) => {
                if writes {
                    unused(&path, number)?;
                }
                libc::O_EXCL
            }
            Identity::File(..) if writes => {
                let why = "it is a file, and the test would write over it; a test that writes \
                           needs a block device, or makes its own files without --device";
                return Err(refused(typed, why));
            }
            Identity::File(..) => 0,
        };
        let mut claim = OpenOptions::new()
            .read(true)
            .custom_flags(claim_flags)
            .open(&path)
            .map_err(|error| refused(typed, &format!("it cannot be claimed: {error}")))?;
        if Identity::of(&claim.metadata()?) != Some(identity) {
            return Err(refused(typed, "it was replaced meanwhile"));
        }
        let bytes = claim.seek(SeekFrom::End(0))?;
        if bytes == 0 {
            return Err(refused(typed, "it has no size"));
        }
        if writes {
            claim.seek(SeekFrom::Start(0))?;
            let mut front = Vec::with_capacity(FRONT);
            (&mut claim).take(FRONT as u64).read_to_end(&mut front)?;
            if let Some(what) = signature(&front) {
                let why =
                    format!("it holds {what}; if that is not needed, `wipefs --all` removes it");
                return Err(refused(typed, &why));
            }
        }
        Ok(Device {
            path,
            identity,
            bytes,
            _claim: claim,
        })
    }

    /// Opens it again with these flags, and checks that it is still the same.
    ///
    /// # Errors
    /// The kernel's, or if another device has its name now.
    pub fn open(&self, write: bool, flags: i32) -> io::Result<File> {
        let file = OpenOptions::new()
            .read(true)
            .write(write)
            .custom_flags(flags | libc::O_NOFOLLOW)
            .open(&self.path)?;
        if Identity::of(&file.metadata()?) != Some(self.identity) {
            return Err(refused(&self.path, "it was replaced meanwhile"));
        }
        Ok(file)
    }
}

/// What a device's front says it holds.
fn signature(front: &[u8]) -> Option<&'static str> {
    let found = SIGNATURES
        .iter()
        .find(|(offset, magic, _)| front.get(*offset..*offset + magic.len()) == Some(magic));
    found.map(|(_, _, what)| *what)
}

/// Whether nobody uses a device: mounts, swap, holders, partitions.
fn unused(path: &Path, number: u64) -> io::Result<()> {
    let numbers = format!(
        "{}:{}",
        rustix::fs::major(number),
        rustix::fs::minor(number)
    );
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    if mounts
        .lines()
        .any(|line| line.split(' ').nth(2) == Some(&numbers))
    {
        return Err(refused(path, "it is mounted"));
    }
    let source = path.to_string_lossy();
    if mounts.lines().any(|line| {
        line.split(" - ")
            .nth(1)
            .and_then(|rest| rest.split(' ').nth(1))
            == Some(&source)
    }) {
        return Err(refused(path, "it is mounted"));
    }
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    if swaps
        .lines()
        .skip(1)
        .any(|line| line.split_whitespace().next() == Some(&source))
    {
        return Err(refused(path, "it is swap"));
    }
    let entries = |directory: PathBuf| {
        fs::read_dir(directory)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
    };
    let sys = fs::canonicalize(format!("/sys/dev/block/{numbers}"))?;
    if let Some(holder) = entries(sys.join("holders")).next() {
        let why = format!("{} is stacked on it", holder.file_name().to_string_lossy());
        return Err(refused(path, &why));
    }
    if entries(sys).any(|entry| entry.path().join("partition").exists()) {
        return Err(refused(path, "it has partitions"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_block_device_is_refused() {
        for path in ["/dev/null", "/dev/zero", "/proc/self/exe", "/", "/nowhere"] {
            assert!(Device::claim(Path::new(path), true).is_err(), "{path}");
        }
        for path in ["/dev/null", "/", "/nowhere"] {
            assert!(Device::claim(Path::new(path), false).is_err(), "{path}");
        }
    }

    #[test]
    fn a_file_is_read_and_never_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, [1; 8192]).unwrap();
        let error = Device::claim(&path, true).unwrap_err().to_string();
        assert!(error.contains("would write over it"), "{error}");
        let device = Device::claim(&path, false).unwrap();
        assert_eq!(device.bytes, 8192);
        device.open(false, 0).unwrap();
        fs::rename(&path, folder.path().join("old")).unwrap();
        fs::write(&path, [2; 8192]).unwrap();
        assert!(device.open(false, 0).is_err(), "another file has its name");
    }

    #[test]
    fn signatures_are_known_where_they_stand() {
        let mut front = vec![0; FRONT];
        assert_eq!(signature(&front), None);
        assert_eq!(signature(&[]), None);
        for (offset, magic, what) in SIGNATURES {
            front[*offset..offset + magic.len()].copy_from_slice(magic);
            assert_eq!(signature(&front), Some(*what));
            front[*offset..offset + magic.len()].fill(0);
        }
    }
}
