//! `sync_file_range`, which neither the standard library nor rustix has.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Starts or awaits the write-back of a part of a file, as SYNC_FILE_RANGE_* bits say. It
/// makes nothing durable.
///
/// # Errors
/// The kernel's; Unsupported on systems without the call.
pub fn sync_file_range(file: &File, offset: u64, bytes: u64, flags: u32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let (offset, bytes) = (offset as libc::off64_t, bytes as libc::off64_t);
        // SAFETY: the descriptor is open for the length of the call, which takes no pointer.
        let result = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, bytes, flags) };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file.as_raw_fd(), offset, bytes, flags);
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_taken_and_a_wrong_one_is_not() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8192).unwrap();
        sync_file_range(&file, 0, 4096, 2).unwrap();
        assert!(sync_file_range(&file, 0, 4096, 0x100).is_err());
    }
}
