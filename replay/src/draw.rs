//! Draws that are not even: hot and cold blocks, and the sizes of blocks. Pure.
//!
//! The laws are fio's `random_distribution`:
//!
//! | fio | here | formula |
//! |---|---|---|
//! | `zipf:t` | [`Spread::Zipf`] | rank r with a probability proportional to 1/r^t, by Gray's approximation (SIGMOD 1994) |
//! | `pareto:h` | [`Spread::Pareto`] | rank n * u^(ln h / ln (1-h)) for an even u |
//! | `normal:d` | [`Spread::Normal`] | mean of twelve even draws, moved by up to half of d per cent of the region |
//! | `zoned:a/s` | [`Spread::Zoned`] | a per cent of the draws within s per cent of the region |
//!
//! The ranks of the first three are scattered over the region by a permutation, as fio does
//! by a hash: which blocks are hot differs from fio, how hot they are does not.

use crate::offsets::{Permutation, Rng};
use crate::plan::job::{Sizes, Spread};

/// Terms that are summed for the zipf law; the rest of a larger region adds little.
const MOST_TERMS: u64 = 10_000_000;
/// Even draws whose mean makes a bell.
const BELL_DRAWS: u64 = 12;

/// A law over `0..n`.
#[derive(Debug, Clone)]
pub struct Law {
    n: u64,
    kind: Kind,
    scatter: Permutation,
}

#[derive(Debug, Clone)]
enum Kind {
    Even,
    Zipf {
        theta: f64,
        zeta: f64,
        eta: f64,
    },
    Pareto {
        power: f64,
    },
    Normal {
        width: u64,
    },
    /// Upper ends in the draw (per cent) with the blocks they stand for.
    Zoned(Vec<(u64, u64, u64)>),
}

impl Law {
    /// The law `spread` over `n` blocks, at least one.
    pub fn new(spread: &Spread, n: u64, key: u64) -> Self {
        let n = n.max(1);
        let kind = match spread {
            Spread::Even => Kind::Even,
            Spread::Zipf(theta) => {
                let zeta = |terms: u64| (1..=terms).map(|rank| (rank as f64).powf(-theta)).sum();
                let (zeta_two, zeta): (f64, f64) = (zeta(2), zeta(n.min(MOST_TERMS)));
                let eta = (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - zeta_two / zeta);
                Kind::Zipf {
                    theta: *theta,
                    zeta,
                    eta,
                }
            }
            Spread::Pareto(h) => Kind::Pareto {
                power: h.ln() / (1.0 - h).ln(),
            },
            Spread::Normal(percent) => {
                let width = (n as f64 * percent / 100.0).ceil() as u64;
                Kind::Normal {
                    width: width.min(n / 2),
                }
            }
            Spread::Zoned(parts) => Kind::Zoned(zones(parts, n)),
        };
        Law {
            n,
            kind,
            scatter: Permutation::new(n, key),
        }
    }

    /// The next block.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let last = self.n - 1;
        let rank = match &self.kind {
            Kind::Even => return rng.below(self.n),
            Kind::Zoned(parts) => {
                let percent = rng.below(100);
                let part = parts.iter().find(|part| percent < part.0).or(parts.last());
                let &(_, from, blocks) = part.unwrap_or(&(100, 0, self.n));
                return from + rng.below(blocks);
            }
            Kind::Zipf { theta, zeta, eta } => {
                let even = unit(rng);
                let scaled = even * zeta;
                if scaled < 1.0 {
                    0
                } else if scaled < 1.0 + 0.5f64.powf(*theta) {
                    1
                } else {
                    let base = (eta * even - eta + 1.0).max(0.0);
                    (self.n as f64 * base.powf(1.0 / (1.0 - theta))) as u64
                }
            }
            Kind::Pareto { power } => (last as f64 * unit(rng).powf(*power)) as u64,
            Kind::Normal { width } => {
                let sum: u64 = (0..BELL_DRAWS).map(|_| rng.below(self.n)).sum();
                let mean = sum / BELL_DRAWS;
                (mean + rng.below((*width).max(1))).saturating_sub(width / 2)
            }
        };
        self.scatter.apply(rank.min(last))
    }
}

/// An even number in 0..1.
fn unit(rng: &mut Rng) -> f64 {
    (rng.next() >> 11) as f64 / (1u64 << 53) as f64
}

/// Cumulated shares of the draws, with first block and number of blocks.
fn zones(parts: &[(u8, u8)], n: u64) -> Vec<(u64, u64, u64)> {
    let (mut draws, mut share) = (0, 0);
    parts
        .iter()
        .map(|&(access, size)| {
            let from = n * share / 100;
            draws += u64::from(access);
            share += u64::from(size);
            let end = (n * share / 100).min(n);
            // A zone of no block would be drawn all the same: it gets one.
            let from = from.min(n - 1);
            (draws, from, end.saturating_sub(from).max(1))
        })
        .collect()
}

/// Draws a block size, before it is known whether it fits, bytes. Ranges are drawn so that
/// the largest size takes up what would lie beyond it, as fio does.
pub fn size(sizes: &Sizes, unaligned: bool, rng: &mut Rng) -> u64 {
    match sizes {
        Sizes::One(size) => u64::from(*size),
        Sizes::Range(low, high) => {
            let (low, high) = (u64::from(*low), u64::from(*high));
            let drawn = low + rng.below(high);
            let step = if unaligned { 1 } else { low };
            (drawn - drawn % step).min(high)
        }
        Sizes::Split(parts) => {
            let percent = rng.below(100);
            let mut sum = 0;
            for &(size, share) in parts {
                sum += u64::from(share);
                if percent < sum {
                    return u64::from(size);
                }
            }
            parts.last().map_or(0, |part| u64::from(part.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often the most frequent hundredth of the blocks is drawn, per cent.
    fn top_share(spread: &Spread, n: u64) -> f64 {
        let law = Law::new(spread, n, 7);
        let mut rng = Rng::new(11);
        let mut hits = vec![0u32; n as usize];
        (0..200_000).for_each(|_| hits[law.draw(&mut rng) as usize] += 1);
        hits.sort_unstable_by(|a, b| b.cmp(a));
        let top: u32 = hits[..n as usize / 100].iter().sum();
        f64::from(top) / 2000.0
    }

    #[test]
    fn hot_blocks_are_as_hot_as_fio_s() {
        // Share of the most frequent 1 % of 9765 blocks in 204800 draws of fio 3.33, from its
        // own log of I/Os.
        for (spread, fio) in [
            (Spread::Zipf(1.2), 76.2),
            (Spread::Zipf(0.8), 30.8),
            (Spread::Pareto(0.2), 52.9),
            (Spread::Normal(20.0), 4.45),
        ] {
            let share = top_share(&spread, 9765);
            assert!(
                (share / fio - 1.0).abs() < 0.1,
                "{spread:?}: {share}, fio {fio}"
            );
        }
    }

    #[test]
    fn zones_get_their_share_of_the_draws() {
        let law = Law::new(&Spread::Zoned(vec![(60, 10), (30, 20), (10, 70)]), 1000, 1);
        let mut rng = Rng::new(5);
        let mut hits = [0u32; 3];
        for _ in 0..100_000 {
            let block = law.draw(&mut rng);
            hits[match block {
                0..100 => 0,
                100..300 => 1,
                _ => 2,
            }] += 1;
        }
        for (hits, wanted) in hits.into_iter().zip([60_000i64, 30_000, 10_000]) {
            // Standard deviation at most 155.
            assert!((i64::from(hits) - wanted).abs() < 800, "{hits} of {wanted}");
        }
    }

    #[test]
    fn sizes_are_drawn_by_their_shares_and_rounded_to_the_smallest() {
        let mut rng = Rng::new(3);
        let split = Sizes::Split(vec![(4096, 70), (16_384, 30)]);
        let small = (0..10_000)
            .filter(|_| size(&split, false, &mut rng) == 4096)
            .count();
        assert!((6_800..7_200).contains(&small), "{small}");
        let range = Sizes::Range(4096, 65_536);
        for _ in 0..10_000 {
            let size = size(&range, false, &mut rng);
            assert!(
                size.is_multiple_of(4096) && (4096..=65_536).contains(&size),
                "{size}"
            );
        }
        assert!((0..100).any(|_| !size(&range, true, &mut rng).is_multiple_of(4096)));
    }
}
