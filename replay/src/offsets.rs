//! Where the next I/O goes: generators of block numbers, in constant memory.
//!
//! A random pass of fio touches every block of the region exactly once (its random map).
//! Here the map is not kept: the i-th block of a pass is a keyed permutation applied to i.
//! The permutation works on the smallest power of two that holds n and is walked until it
//! lands below n (cycle walking), so it is a bijection of 0..n; at most half of the domain
//! lies outside, so the walk takes fewer than two steps on average. Another key gives
//! another permutation: `time_based` wraps re-key, `loops` repeat. This is not fio's own
//! sequence and claims no cryptographic quality, only the four properties that matter:
//! every block once, no visible pattern, same sequence in every run, streams per job.

/// A bijection of `0..n`, chosen by a key.
#[derive(Debug, Clone)]
pub struct Permutation {
    n: u64,
    mask: u64,
    shift: u32,
    multiply: [u64; 3],
    add: u64,
}

impl Permutation {
    /// The permutation of `0..n` that `key` selects. `n` must not be zero.
    pub fn new(n: u64, key: u64) -> Self {
        assert!(n > 0, "a permutation needs something to permute");
        let bits = 64 - (n - 1).max(1).leading_zeros();
        let mut rng = Rng::new(key);
        Permutation {
            n,
            mask: u64::MAX >> (64 - bits),
            // Half the width: folds the good high bits onto the weak low ones.
            shift: bits.div_ceil(2),
            // Odd factors are invertible modulo a power of two.
            multiply: [rng.next() | 1, rng.next() | 1, rng.next() | 1],
            add: rng.next(),
        }
    }

    /// Where `index` (below n) goes.
    #[inline(always)]
    pub fn apply(&self, index: u64) -> u64 {
        let mut x = index;
        loop {
            x = x.wrapping_mul(self.multiply[0]).wrapping_add(self.add) & self.mask;
            x ^= x >> self.shift;
            x = x.wrapping_mul(self.multiply[1]) & self.mask;
            x ^= x >> self.shift;
            x = x.wrapping_mul(self.multiply[2]) & self.mask;
            x ^= x >> self.shift;
            if x < self.n {
                return x;
            }
        }
    }
}

/// A small random number generator (SplitMix64): for the draws of a workload, never for
/// secrets.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// A generator whose sequence depends on `seed` only.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// The next 64 bits.
    #[inline(always)]
    #[allow(clippy::should_implement_trait)] // an iterator would need Option everywhere
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..n`; the bias is below n / 2^64.
    #[inline(always)]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

/// A stream of block numbers in `0..n`.
#[derive(Debug, Clone)]
pub enum Blocks {
    /// 0, 1, 2, … n-1.
    Sequential {
        /// Number of blocks.
        n: u64,
        /// The next one.
        next: u64,
    },
    /// Every block once, in the order of a permutation.
    Random {
        /// The order.
        order: Permutation,
        /// How many were given out.
        next: u64,
        /// Source of the keys of later passes.
        keys: Rng,
    },
    /// Independent draws without end (`norandommap`).
    Repeating {
        /// Number of blocks.
        n: u64,
        /// Source of the draws.
        draws: Rng,
        /// Where it began.
        seed: u64,
    },
}

impl Blocks {
    /// Blocks in order.
    pub fn sequential(n: u64) -> Self {
        Blocks::Sequential { n, next: 0 }
    }

    /// Blocks in random order, each once a pass.
    pub fn random(n: u64, seed: u64) -> Self {
        let mut keys = Rng::new(seed);
        Blocks::Random {
            order: Permutation::new(n, keys.next()),
            next: 0,
            keys,
        }
    }

    /// Blocks at random, with repeats.
    pub fn repeating(n: u64, seed: u64) -> Self {
        Blocks::Repeating {
            n,
            draws: Rng::new(seed),
            seed,
        }
    }

    /// How many blocks are left of the pass.
    pub fn left(&self) -> u64 {
        match self {
            Blocks::Sequential { n, next } => n - next,
            Blocks::Random { order, next, .. } => order.n - next,
            Blocks::Repeating { .. } => u64::MAX,
        }
    }

    /// The next block, or `None` at the end of the pass.
    #[inline(always)]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<u64> {
        (self.left() > 0).then(|| self.take())
    }

    /// The next block. There must be one left.
    #[inline(always)]
    pub fn take(&mut self) -> u64 {
        match self {
            Blocks::Sequential { next, .. } => {
                *next += 1;
                *next - 1
            }
            Blocks::Random { order, next, .. } => {
                *next += 1;
                order.apply(*next - 1)
            }
            Blocks::Repeating { n, draws, .. } => draws.below(*n),
        }
    }

    /// Starts the same pass again (`loops`).
    pub fn rewind(&mut self) {
        match self {
            Blocks::Sequential { next, .. } | Blocks::Random { next, .. } => *next = 0,
            Blocks::Repeating { draws, seed, .. } => *draws = Rng::new(*seed),
        }
    }

    /// Starts another pass (a `time_based` wrap): from the front, in a new random order.
    pub fn renew(&mut self) {
        match self {
            Blocks::Sequential { next, .. } => *next = 0,
            Blocks::Random { order, next, keys } => {
                *order = Permutation::new(order.n, keys.next());
                *next = 0;
            }
            Blocks::Repeating { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pass(blocks: &mut Blocks) -> Vec<u64> {
        std::iter::from_fn(|| blocks.next()).collect()
    }

    fn each_once(pass: &[u64]) -> bool {
        let mut sorted = pass.to_vec();
        sorted.sort_unstable();
        sorted.iter().copied().eq(0..pass.len() as u64)
    }

    #[test]
    fn a_pass_touches_every_block_once_at_awkward_sizes() {
        for n in [1, 2, 3, 4, 5, 255, 256, 257, 1000, 4096, 65_537, 300_007] {
            for seed in [0, 1, 0xDEAD_BEEF] {
                let pass = pass(&mut Blocks::random(n, seed));
                assert_eq!(pass.len() as u64, n);
                assert!(each_once(&pass), "n = {n}, seed = {seed}");
            }
        }
    }

    #[test]
    fn loops_repeat_and_wraps_renew() {
        let mut blocks = Blocks::random(1000, 7);
        let first = pass(&mut blocks);
        blocks.rewind();
        assert_eq!(pass(&mut blocks), first);
        blocks.renew();
        let second = pass(&mut blocks);
        assert_ne!(second, first);
        assert!(each_once(&second));
        assert_eq!(
            pass(&mut Blocks::random(1000, 7)),
            first,
            "same seed, same order"
        );
        assert_ne!(
            pass(&mut Blocks::random(1000, 8)),
            first,
            "another seed, another order"
        );
    }

    #[test]
    fn a_huge_region_starts_at_once() {
        let n = (16u64 << 40) / 4096;
        let mut blocks = Blocks::random(n, 1);
        assert!((0..1000).all(|_| blocks.next().unwrap() < n));
    }

    #[test]
    fn random_steps_have_the_length_of_random_steps() {
        // The mean distance of two uniform draws is n/3; an order with a visible pattern
        // (an LCG, a stride) is far from it.
        for n in [1u64 << 19, 300_007] {
            let pass = pass(&mut Blocks::random(n, 42));
            let steps: u64 = pass.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum();
            let mean = steps as f64 / (n - 1) as f64 / n as f64;
            assert!((mean - 1.0 / 3.0).abs() < 0.005, "n = {n}: {mean}");
            // The first tenth is spread over the whole region: chi-square over 16 parts,
            // 15 degrees of freedom, 99.9 % point 37.7.
            let tenth = &pass[..n as usize / 10];
            let mut parts = [0u64; 16];
            tenth
                .iter()
                .for_each(|&block| parts[(block * 16 / n) as usize] += 1);
            let expected = tenth.len() as f64 / 16.0;
            let chi2: f64 = parts
                .iter()
                .map(|&p| (p as f64 - expected).powi(2) / expected)
                .sum();
            assert!(chi2 < 37.7, "n = {n}: chi2 = {chi2}");
        }
    }

    #[test]
    fn draws_with_repeats_leave_a_share_of_1_over_e_untouched() {
        let n = 100_000u64;
        let mut blocks = Blocks::repeating(n, 3);
        let mut seen = vec![false; n as usize];
        (0..n).for_each(|_| seen[blocks.next().unwrap() as usize] = true);
        let unique = seen.iter().filter(|&&hit| hit).count() as f64;
        let expected = n as f64 * (1.0 - (-1.0f64).exp());
        // Standard deviation sqrt(n * (1/e) * (1 - 2/e)) = 99 here.
        assert!(
            (unique - expected).abs() < 4.0 * 99.0,
            "{unique} of {expected}"
        );
    }

    proptest! {
        #[test]
        fn any_size_and_key_is_a_bijection(n in 1u64..5000, key: u64) {
            let order = Permutation::new(n, key);
            let images: Vec<u64> = (0..n).map(|index| order.apply(index)).collect();
            prop_assert!(each_once(&images));
        }
    }
}
