//! What is written: fio's default content, and that of its options on buffers: zeros, a
//! pattern, new bytes each time, a share of zeros, a share of repeats.
//!
//! By default fio fills one random buffer per queue slot, once, and before each write
//! changes a few words of every 512 bytes after the offset and the time. So every block is
//! new, but a file of small blocks written at depth 1 compresses well, because its blocks
//! share all the rest. On storage that compresses or deduplicates the content is the test,
//! which is why the scheme is kept and not replaced by better random numbers.

use crate::offsets::Rng;

/// How write buffers get their content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Content {
    /// A random buffer per slot, scrambled before each write (fio's default).
    #[default]
    Scrambled,
    /// A random buffer per slot, written unchanged (`scramble_buffers=0`).
    Fixed,
    /// New random bytes for each write (`refill_buffers`).
    Refilled,
    /// Zeros (`zero_buffers`).
    Zeros,
    /// These bytes over and over (`buffer_pattern`).
    Pattern(Vec<u8>),
    /// New bytes for each write, of which some are zero and some were written before.
    Mixed {
        /// Share of zeros in each chunk, per cent (`buffer_compress_percentage`).
        compress: u8,
        /// Bytes of a chunk (`buffer_compress_chunk`).
        chunk: u32,
        /// Share of blocks that equal the block before, per cent (`dedupe_percentage`).
        dedupe: u8,
    },
}

/// Random streams of the content.
#[derive(Debug, Clone)]
pub struct Source {
    rng: Rng,
    /// Seed of the last block that was new.
    last: u64,
}

impl Source {
    /// Streams that depend on the seed only.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let last = rng.next();
        Source { rng, last }
    }
}

impl Content {
    /// Gives a slot's buffer its first content, before the clock starts.
    pub fn prepare(&self, buffer: &mut [u8], source: &mut Source) {
        match self {
            Content::Scrambled | Content::Fixed => fill(buffer, &mut source.rng),
            Content::Zeros => buffer.fill(0),
            _ => self.renew(buffer, source),
        }
    }

    /// Whether each write has bytes of its own.
    pub fn renews(&self) -> bool {
        matches!(self, Content::Refilled | Content::Mixed { .. })
    }

    /// New bytes for the next write, where each has its own; a pattern is laid anew.
    pub fn renew(&self, buffer: &mut [u8], source: &mut Source) {
        match self {
            Content::Refilled => fill(buffer, &mut source.rng),
            Content::Pattern(pattern) => repeat(buffer, pattern),
            Content::Mixed {
                compress,
                chunk,
                dedupe,
            } => {
                if source.rng.below(100) >= u64::from(*dedupe) {
                    source.last = source.rng.next();
                }
                let mut bytes = Rng::new(source.last);
                for chunk in buffer.chunks_mut((*chunk).max(1) as usize) {
                    let random = chunk.len() * (100 - usize::from(*compress).min(100)) / 100;
                    fill(&mut chunk[..random], &mut bytes);
                    chunk[random..].fill(0);
                }
            }
            _ => {}
        }
    }
}

/// Fills a buffer with a pattern, over and over.
pub fn repeat(buffer: &mut [u8], pattern: &[u8]) {
    if !pattern.is_empty() {
        for part in buffer.chunks_mut(pattern.len()) {
            part.copy_from_slice(&pattern[..part.len()]);
        }
    }
}

/// Streams that are drawn side by side, so that the compiler can use vectors: 64-bit products,
/// as [`Rng`] has them, have no vector form on most machines.
const LANES: usize = 8;

/// Fills a buffer with random bytes: xorshift (Marsaglia, 2003; shifts 13, 7, 17) in eight streams
/// whose seeds are drawn anew for each buffer.
pub fn fill(buffer: &mut [u8], rng: &mut Rng) {
    // A stream of zeros would never leave zero.
    let mut lanes: [u64; LANES] = std::array::from_fn(|_| rng.next() | 1);
    let mut rows = buffer.chunks_exact_mut(LANES * 8);
    for row in &mut rows {
        step(&mut lanes);
        for (word, lane) in row.chunks_exact_mut(8).zip(&lanes) {
            word.copy_from_slice(&lane.to_le_bytes());
        }
    }
    step(&mut lanes);
    for (part, lane) in rows.into_remainder().chunks_mut(8).zip(&lanes) {
        part.copy_from_slice(&lane.to_le_bytes()[..part.len()]);
    }
}

#[inline(always)]
fn step(lanes: &mut [u64; LANES]) {
    for lane in lanes {
        *lane ^= *lane << 13;
        *lane ^= *lane >> 7;
        *lane ^= *lane << 17;
    }
}

/// Length of the parts that are scrambled one by one, bytes.
const SECTOR: usize = 512;

/// Width of a cache line, the grid of the changed words, bytes.
const LINE: usize = 64;

/// Makes a block unlike every other: writes the offset into one of the eight cache lines
/// of each 512 bytes (the time decides which one), and the time, seconds and nanoseconds,
/// into the end of the first line. These words are mostly zero bytes; a buffer that has
/// been written many times holds about 12 % of them, as fio's do.
#[inline]
pub fn scramble(block: &mut [u8], offset: u64, stamp: u64) {
    let line = ((stamp ^ (stamp >> 7)) as usize & 7) * LINE;
    let (seconds, nanos) = (stamp / 1_000_000_000, stamp % 1_000_000_000);
    let mut offset = offset;
    for sector in block.chunks_exact_mut(SECTOR) {
        sector[line..line + 8].copy_from_slice(&offset.to_le_bytes());
        sector[LINE - 16..LINE - 8].copy_from_slice(&seconds.to_le_bytes());
        sector[LINE - 8..LINE].copy_from_slice(&nanos.to_le_bytes());
        offset += SECTOR as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn file(content: Content, block: usize, blocks: usize) -> Vec<u8> {
        let mut source = Source::new(1);
        let mut buffer = vec![0; block];
        content.prepare(&mut buffer, &mut source);
        let mut file = Vec::new();
        for number in 0..blocks {
            content.renew(&mut buffer, &mut source);
            if content == Content::Scrambled {
                let stamp = 1_000_000 + number as u64 * 7919;
                scramble(&mut buffer, (number * block) as u64, stamp);
            }
            file.extend_from_slice(&buffer);
        }
        file
    }

    fn unique_blocks(file: &[u8], block: usize) -> usize {
        file.chunks(block).collect::<HashSet<_>>().len()
    }

    #[test]
    fn scrambled_blocks_differ_though_they_share_most_bytes() {
        let file = file(Content::Scrambled, 4096, 256);
        assert_eq!(unique_blocks(&file, 4096), 256);
        assert_eq!(
            unique_blocks(&file, 512),
            256 * 8,
            "every sector is changed"
        );
        let (a, b) = (&file[..4096], &file[4096..8192]);
        let same = a.iter().zip(b).filter(|(a, b)| a == b).count();
        assert!(
            same > 3800,
            "only a few words change: {same} of 4096 bytes alike"
        );
    }

    #[test]
    fn a_much_scrambled_buffer_holds_as_many_zeros_as_fio_s() {
        // fio 3.33, 4 MiB in 4 KiB blocks at depth 1: 12 % of the file's bytes are zero.
        let file = file(Content::Scrambled, 4096, 1024);
        let zeros = file.iter().filter(|&&byte| byte == 0).count() as f64 / file.len() as f64;
        assert!((0.10..0.14).contains(&zeros), "{zeros}");
    }

    #[test]
    fn other_contents_are_what_they_say() {
        assert_eq!(unique_blocks(&file(Content::Fixed, 4096, 64), 4096), 1);
        assert_eq!(unique_blocks(&file(Content::Refilled, 4096, 64), 4096), 64);
        assert!(file(Content::Zeros, 4096, 4).iter().all(|&byte| byte == 0));
    }

    #[test]
    fn zeros_and_repeats_have_their_share() {
        let mixed = |compress, dedupe| Content::Mixed {
            compress,
            chunk: 512,
            dedupe,
        };
        let half = file(mixed(50, 0), 4096, 64);
        let zeros = half.iter().filter(|&&byte| byte == 0).count() as f64 / half.len() as f64;
        assert!((0.49..0.52).contains(&zeros), "{zeros}");
        assert_eq!(unique_blocks(&half, 4096), 64);
        // fio 3.33 at dedupe_percentage=50: 513 of 1024 blocks.
        let unique = unique_blocks(&file(mixed(0, 50), 4096, 1024), 4096);
        assert!((450..575).contains(&unique), "{unique}");
        let pattern = file(Content::Pattern(vec![0xde, 0xad, 0xbe]), 4096, 2);
        assert_eq!(pattern[..4], [0xde, 0xad, 0xbe, 0xde]);
        assert_eq!(pattern[4096], 0xde, "each block begins it anew");
    }

    #[test]
    fn random_bytes_are_even_and_do_not_repeat() {
        let mut rng = Rng::new(8);
        let mut buffer = vec![0u8; 1 << 20];
        fill(&mut buffer, &mut rng);
        let mut counts = [0u32; 256];
        buffer
            .iter()
            .for_each(|&byte| counts[usize::from(byte)] += 1);
        // Chi-square of 255 degrees: mean 255, deviation 22.6.
        let mean = 4096.0;
        let chi: f64 = counts
            .iter()
            .map(|&n| (f64::from(n) - mean).powi(2) / mean)
            .sum();
        assert!((165.0..345.0).contains(&chi), "{chi}");
        let words: HashSet<&[u8]> = buffer.chunks(8).collect();
        assert_eq!(words.len(), buffer.len() / 8);
        let ones: u32 = buffer.iter().map(|byte| byte.count_ones()).sum();
        // 2^22 of 2^23 bits, deviation 1448.
        assert!(ones.abs_diff(1 << 22) < 6000, "{ones}");
    }

    #[test]
    fn odd_lengths_are_filled_to_the_end() {
        let mut rng = Rng::new(5);
        let mut buffer = [0u8; 1003];
        fill(&mut buffer, &mut rng);
        assert!(buffer[995..].iter().any(|&byte| byte != 0));
        scramble(&mut buffer[..100], 0, 1); // shorter than a sector: left alone, no panic
    }
}
