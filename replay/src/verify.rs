//! Blocks that can be checked: what is put into them before the write, what is looked for
//! after the read. Pure.
//!
//! ```text
//! block    header payload                      crc32c, md5
//! header   "fioreply" length:u32 zero:u32 offset:u64 number:u64 digest:[u8; 16]      48 bytes, little-endian
//! ```
//!
//! The digest is of the payload; a CRC-32C stands in its first four bytes. fio's own header
//! holds the same facts in another layout, so neither reads the other's blocks. With a
//! pattern the block is that pattern and has no header, as with fio.

use md5::{Digest, Md5};

use crate::content::repeat;
use crate::plan::job::Check;

/// Bytes of a header.
pub const HEADER: usize = 48;
const MAGIC: &[u8; 8] = b"fioreply";

fn digest(check: &Check, payload: &[u8]) -> [u8; 16] {
    let mut digest = [0; 16];
    match check {
        Check::Crc32c => digest[..4].copy_from_slice(&crc32c::crc32c(payload).to_le_bytes()),
        Check::Md5 => digest.copy_from_slice(&Md5::digest(payload)),
        Check::Pattern(_) => {}
    }
    digest
}

/// Makes a block checkable: its payload stays, its front becomes the header. `offset` is
/// where it goes, `number` counts the job's writes.
pub fn seal(check: &Check, block: &mut [u8], offset: u64, number: u64) {
    if let Check::Pattern(pattern) = check {
        return repeat(block, pattern);
    }
    let length = block.len() as u32;
    let (header, payload) = block.split_at_mut(HEADER.min(length as usize));
    if header.len() < HEADER {
        return;
    }
    let digest = digest(check, payload);
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&length.to_le_bytes());
    header[12..16].fill(0);
    header[16..24].copy_from_slice(&offset.to_le_bytes());
    header[24..32].copy_from_slice(&number.to_le_bytes());
    header[32..].copy_from_slice(&digest);
}

/// Looks whether a block that was read from `offset` is one that was sealed for it.
///
/// # Errors
/// What is wrong, in words.
pub fn check(check: &Check, block: &[u8], offset: u64) -> Result<(), String> {
    if let Check::Pattern(pattern) = check {
        let wrong = block
            .iter()
            .enumerate()
            .position(|(at, &byte)| byte != pattern[at % pattern.len()]);
        return match wrong {
            Some(at) => Err(format!(
                "the byte at {} is not the pattern's",
                offset + at as u64
            )),
            None => Ok(()),
        };
    }
    let Some((header, payload)) = block.split_at_checked(HEADER) else {
        return Ok(());
    };
    let number = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&header[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    if &header[..8] != MAGIC {
        return Err(format!(
            "the block at {offset} has no header: it was not written"
        ));
    }
    if (number(8), number(16)) != (block.len() as u64, offset) {
        return Err(format!(
            "the block at {offset} was written as {} bytes for offset {}",
            number(8),
            number(16)
        ));
    }
    if header[32..] != digest(check, payload) {
        return Err(format!(
            "the content of the block at {offset} is not what was written"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_blocks_pass_and_changed_ones_do_not() {
        for kind in [Check::Crc32c, Check::Md5, Check::Pattern(vec![1, 2, 3])] {
            let mut block: Vec<u8> = (0..4096u32).map(|n| (n * 7) as u8).collect();
            seal(&kind, &mut block, 8192, 3);
            assert_eq!(check(&kind, &block, 8192), Ok(()));
            for at in [0, 33, 48, 4095] {
                let mut torn = block.clone();
                torn[at] ^= 1;
                assert!(check(&kind, &torn, 8192).is_err(), "{kind:?}, byte {at}");
            }
            if !matches!(kind, Check::Pattern(_)) {
                assert!(check(&kind, &block, 4096).is_err(), "another place");
            }
        }
    }

    #[test]
    fn digests_are_the_known_ones() {
        // The check values of both for "123456789".
        assert_eq!(
            digest(&Check::Crc32c, b"123456789")[..4],
            0xe306_9283u32.to_le_bytes()
        );
        let md5 = digest(&Check::Md5, b"123456789");
        assert_eq!(md5[..4], [0x25, 0xf9, 0xe7, 0x94]);
    }
}
