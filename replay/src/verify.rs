//! Blocks that can be checked: what is put into them before the write, what is looked for
//! after the read. Pure.
//!
//! ```text
//! block    header digest payload                       crc32c, md5
//! header   0xacca:u16 kind:u16 length:u32 seed:u64 offset:u64 seconds:u32 nanoseconds:u32
//!          thread:u16 number:u16 crc:u32               40 bytes, little-endian
//! kind     2 (md5) | 5 (crc32c)
//! digest   CRC-32C of the payload:u32 | MD5 of the payload:[u8; 16]
//! ```
//!
//! This is the layout of the blocks that fio 3.33 leaves, so either reads what the other wrote.
//! Both of its CRC-32C are without the inversion at the end. The seed is that of fio's own random
//! numbers, which fio looks at in mixes only; it is zero here. With a pattern the block is that
//! pattern and has no header, as with fio; with null it stays as it is, and is not looked at.

use md5::{Digest, Md5};

use crate::clock::Stamp;
use crate::content::repeat;
use crate::plan::job::Check;

/// Bytes of a header without the digest.
const HEADER: usize = 40;
const MAGIC: u16 = 0xacca;

/// Who writes a block, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// Number of the job, from 1.
    pub thread: u16,
    /// How many blocks it has written before.
    pub number: u16,
    /// Time of the write, ns.
    pub stamp: Stamp,
}

/// fio's number of a check, and the bytes of its digest, where blocks have a header.
fn kind(check: &Check) -> Option<(u16, usize)> {
    match check {
        Check::Md5 => Some((2, 16)),
        Check::Crc32c => Some((5, 4)),
        Check::Pattern(_) | Check::Null => None,
    }
}

/// Bytes at the front of a block that are not its payload.
pub fn overhead(check: &Check) -> usize {
    kind(check).map_or(0, |(_, digest)| HEADER + digest)
}

fn crc32c(bytes: &[u8]) -> [u8; 4] {
    (!crc32c::crc32c(bytes)).to_le_bytes()
}

fn put_digest(check: &Check, payload: &[u8], digest: &mut [u8]) {
    match check {
        Check::Crc32c => digest.copy_from_slice(&crc32c(payload)),
        Check::Md5 => digest.copy_from_slice(&Md5::digest(payload)),
        Check::Pattern(_) | Check::Null => {}
    }
}

/// Makes a block checkable: its payload stays, its front becomes the header. `offset` is where
/// it goes. A block without room for a header stays as it is.
pub fn seal(check: &Check, block: &mut [u8], offset: u64, writer: Writer) {
    let Some((kind, digest)) = kind(check) else {
        if let Check::Pattern(pattern) = check {
            repeat(block, pattern);
        }
        return;
    };
    let length = block.len() as u32;
    let Some((front, payload)) = block.split_at_mut_checked(HEADER + digest) else {
        return;
    };
    let (header, digest) = front.split_at_mut(HEADER);
    put_digest(check, payload, digest);
    header[..2].copy_from_slice(&MAGIC.to_le_bytes());
    header[2..4].copy_from_slice(&kind.to_le_bytes());
    header[4..8].copy_from_slice(&length.to_le_bytes());
    header[8..16].fill(0);
    header[16..24].copy_from_slice(&offset.to_le_bytes());
    let (seconds, nanoseconds) = (writer.stamp / 1_000_000_000, writer.stamp % 1_000_000_000);
    header[24..28].copy_from_slice(&(seconds as u32).to_le_bytes());
    header[28..32].copy_from_slice(&(nanoseconds as u32).to_le_bytes());
    header[32..34].copy_from_slice(&writer.thread.to_le_bytes());
    header[34..36].copy_from_slice(&writer.number.to_le_bytes());
    let sum = crc32c(&header[..36]);
    header[36..].copy_from_slice(&sum);
}

/// Looks whether a block that was read from `offset` is one that was sealed for it.
///
/// # Errors
/// What is wrong, in words.
pub fn check(check: &Check, block: &[u8], offset: u64) -> Result<(), String> {
    if let Check::Pattern(pattern) = check {
        // Blocks repeat the pattern if they start with it and each byte is that of one pattern
        // before.
        let (part, length) = (pattern.len().min(block.len()), block.len());
        let repeats = block[..part] == pattern[..part] && block[part..] == block[..length - part];
        let wrong = (0..length)
            .filter(|_| !repeats)
            .find(|&at| block[at] != pattern[at % pattern.len()]);
        return match wrong {
            Some(at) => Err(format!(
                "the byte at {} is not the pattern's",
                offset + at as u64
            )),
            None => Ok(()),
        };
    }
    if *check == Check::Null {
        return Ok(());
    }
    let Some((front, payload)) = block.split_at_checked(overhead(check)) else {
        return Ok(());
    };
    let (header, found) = front.split_at(HEADER);
    if header[..2] != MAGIC.to_le_bytes() {
        return Err(format!(
            "the block at {offset} has no header: it was not written"
        ));
    }
    if header[36..] != crc32c(&header[..36]) {
        return Err(format!("the header of the block at {offset} is damaged"));
    }
    let mut length = [0; 4];
    length.copy_from_slice(&header[4..8]);
    let mut place = [0; 8];
    place.copy_from_slice(&header[16..24]);
    let (length, place) = (u32::from_le_bytes(length), u64::from_le_bytes(place));
    if (length as usize, place) != (block.len(), offset) {
        return Err(format!(
            "the block at {offset} was written as {length} bytes for offset {place}"
        ));
    }
    let mut digest = [0; 16];
    let digest = &mut digest[..found.len()];
    put_digest(check, payload, digest);
    if found != digest {
        return Err(format!(
            "the content of the block at {offset} is not what was written"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITER: Writer = Writer {
        thread: 1,
        number: 3,
        stamp: 7_000_000_009,
    };

    #[test]
    fn sealed_blocks_pass_and_changed_ones_do_not() {
        for kind in [Check::Crc32c, Check::Md5, Check::Pattern(vec![1, 2, 3])] {
            let mut block: Vec<u8> = (0..4096u32).map(|n| (n * 7) as u8).collect();
            seal(&kind, &mut block, 8192, WRITER);
            assert_eq!(check(&kind, &block, 8192), Ok(()));
            for at in 0..4096 {
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
    fn fios_own_header_is_read() {
        // The front of the first block that fio 3.33 wrote for verify=crc32c, bs=4k: magic, kind,
        // length, seed, offset, time, thread, number, and their CRC. The payload is not here, so
        // what is wrong is the content and not the header.
        let fios = [
            0xca, 0xac, 5, 0, 0, 0x10, 0, 0, 0x3c, 0x54, 0x09, 0xc5, 0x01, 0xcc, 0xa4, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaf, 0xbc, 0x8f, 0x06, 1, 0, 0, 0, 0x8f, 0x49, 0x77, 0x6e,
        ];
        let mut block = vec![0; 4096];
        block[..40].copy_from_slice(&fios);
        let wrong = check(&Check::Crc32c, &block, 0).unwrap_err();
        assert!(wrong.contains("content"), "{wrong}");
        block[12] ^= 1;
        let wrong = check(&Check::Crc32c, &block, 0).unwrap_err();
        assert!(wrong.contains("damaged"), "{wrong}");
        // The same fields make the same header, but for the seed and the CRC over it.
        let writer = Writer {
            thread: 1,
            number: 0,
            stamp: 110_083_247,
        };
        seal(&Check::Crc32c, &mut block, 0, writer);
        assert_eq!(block[..8], fios[..8]);
        assert_eq!(block[16..36], fios[16..36]);
    }

    #[test]
    fn digests_are_the_known_ones() {
        // The check values of both for "123456789".
        let mut digest = [0; 16];
        put_digest(&Check::Crc32c, b"123456789", &mut digest[..4]);
        assert_eq!(digest[..4], (!0xe306_9283u32).to_le_bytes());
        put_digest(&Check::Md5, b"123456789", &mut digest);
        assert_eq!(digest[..4], [0x25, 0xf9, 0xe7, 0x94]);
    }
}
