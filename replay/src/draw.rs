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
//!
//! The powers of the first two cost more than all the rest of an I/O, so a [`Shape`] keeps them
//! as a table: 1024 cells of equal probability, in each a cubic. A cell in which that would be
//! off by more than a millionth of a block and of the value has none, and there the formula is used.

use std::sync::Arc;

use crate::offsets::{Permutation, Rng};
use crate::plan::job::{Sizes, Spread};

/// Terms that are summed for the zipf law; the rest of a larger region adds little.
const MOST_TERMS: u64 = 10_000_000;
/// Even draws whose mean makes a bell.
const BELL_DRAWS: u64 = 12;

/// Cells of a table: a power of two.
const CELLS: usize = 1 << CELL_BITS;
const CELL_BITS: u32 = 10;
/// How far a table may be off: of the value, and in blocks where that is less than one.
const TOLERANCE: f64 = 1e-6;

/// How often which rank of `0..n` is drawn.
#[derive(Debug, Clone)]
pub struct Shape {
    n: u64,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Even,
    Curve(Formula, Arc<[Cell]>),
    Normal {
        width: u64,
    },
    /// Upper ends in the draw (per cent) with the blocks they stand for.
    Zoned(Vec<(u64, u64, u64)>),
}

/// A rank as a function of an even number.
#[derive(Debug, Clone, Copy)]
enum Formula {
    Zipf {
        n: f64,
        /// Shares of the first rank and of the first two.
        first: f64,
        second: f64,
        eta: f64,
        alpha: f64,
    },
    Pareto {
        last: f64,
        power: f64,
    },
}

impl Formula {
    fn zipf(theta: f64, n: u64) -> Self {
        let (zeta_two, zeta) = (zeta(2, theta), zeta(n.min(MOST_TERMS), theta));
        Formula::Zipf {
            n: n as f64,
            first: 1.0 / zeta,
            second: (1.0 + 0.5f64.powf(theta)) / zeta,
            eta: (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - zeta_two / zeta),
            alpha: 1.0 / (1.0 - theta),
        }
    }

    fn rank(&self, even: f64) -> f64 {
        match *self {
            Formula::Zipf { first, .. } if even < first => 0.0,
            Formula::Zipf { second, .. } if even < second => 1.0,
            Formula::Zipf { n, eta, alpha, .. } => {
                n * (eta * even - eta + 1.0).max(0.0).powf(alpha)
            }
            Formula::Pareto { last, power } => last * even.powf(power),
        }
    }

    fn table(&self) -> Arc<[Cell]> {
        (0..CELLS).map(|cell| Cell::new(self, cell)).collect()
    }
}

/// Coefficients of a cubic over the cell, from the constant one on; not numbers where the
/// formula is to be used.
#[derive(Debug, Clone, Copy)]
struct Cell([f64; 4]);

impl Cell {
    fn new(formula: &Formula, cell: usize) -> Self {
        let exact = |t: f64| formula.rank((cell as f64 + t) / CELLS as f64);
        // The cubic through four points in equal distances.
        let [a, b, c, d] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0].map(exact);
        let cubic = Cell([
            a,
            -5.5 * a + 9.0 * b - 4.5 * c + d,
            9.0 * a - 22.5 * b + 18.0 * c - 4.5 * d,
            -4.5 * a + 13.5 * b - 13.5 * c + 4.5 * d,
        ]);
        // In the middle between its points it is off most.
        let near = |t: f64| {
            let (found, wanted) = (cubic.at(t), exact(t));
            (found - wanted).abs() <= TOLERANCE * wanted.max(1.0)
        };
        match [1.0 / 6.0, 0.5, 5.0 / 6.0].into_iter().all(near) {
            true => cubic,
            false => Cell([f64::NAN; 4]),
        }
    }

    #[inline(always)]
    fn at(&self, t: f64) -> f64 {
        let Cell([a, b, c, d]) = self;
        a + t * (b + t * (c + t * d))
    }
}

/// The sum of 1/k^theta for k up to `terms`: the first ones one by one, the rest by Euler's
/// formula, whose first term left out is below 1e-12 of the sum.
fn zeta(terms: u64, theta: f64) -> f64 {
    const SINGLE: u64 = 1000;
    let term = |k: f64| k.powf(-theta);
    let single: f64 = (1..=terms.min(SINGLE)).map(|k| term(k as f64)).sum();
    if terms <= SINGLE {
        return single;
    }
    let (from, to) = (SINGLE as f64, terms as f64);
    let area = if theta == 1.0 {
        (to / from).ln()
    } else {
        (to.powf(1.0 - theta) - from.powf(1.0 - theta)) / (1.0 - theta)
    };
    let slopes = theta * (term(from) / from - term(to) / to) / 12.0;
    single + area + (term(to) - term(from)) / 2.0 + slopes
}

impl Shape {
    /// The shape of the law `spread` over `n` blocks, at least one.
    pub fn new(spread: &Spread, n: u64) -> Self {
        let n = n.max(1);
        let curve = |formula: Formula| Kind::Curve(formula, formula.table());
        let kind = match spread {
            Spread::Even => Kind::Even,
            Spread::Zipf(theta) => curve(Formula::zipf(*theta, n)),
            Spread::Pareto(h) => curve(Formula::Pareto {
                last: (n - 1) as f64,
                power: h.ln() / (1.0 - h).ln(),
            }),
            Spread::Normal(percent) => {
                let width = (n as f64 * percent / 100.0).ceil() as u64;
                Kind::Normal {
                    width: width.min(n / 2),
                }
            }
            Spread::Zoned(parts) => Kind::Zoned(zones(parts, n)),
        };
        Shape { n, kind }
    }
}

/// The shapes of one law over regions of several sizes, each made once.
#[derive(Debug)]
pub struct Shapes<'a> {
    spread: &'a Spread,
    known: Vec<Shape>,
}

impl<'a> Shapes<'a> {
    /// None is made yet.
    pub fn new(spread: &'a Spread) -> Self {
        Shapes {
            spread,
            known: Vec::new(),
        }
    }

    /// The law over `n` blocks, scattered by `key`.
    pub fn law(&mut self, n: u64, key: u64) -> Law {
        let known = self.known.iter().find(|shape| shape.n == n.max(1));
        let shape = known.cloned().unwrap_or_else(|| {
            let shape = Shape::new(self.spread, n);
            self.known.push(shape.clone());
            shape
        });
        Law::new(shape, key)
    }
}

/// A law over `0..n`.
#[derive(Debug, Clone)]
pub struct Law {
    shape: Shape,
    scatter: Permutation,
}

impl Law {
    /// The law of this shape, scattered by `key`.
    pub fn new(shape: Shape, key: u64) -> Self {
        let scatter = Permutation::new(shape.n, key);
        Law { shape, scatter }
    }

    /// The next block.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let n = self.shape.n;
        let rank = match &self.shape.kind {
            Kind::Even => return rng.below(n),
            Kind::Zoned(parts) => {
                let percent = rng.below(100);
                let part = parts.iter().find(|part| percent < part.0).or(parts.last());
                let &(_, from, blocks) = part.unwrap_or(&(100, 0, n));
                return from + rng.below(blocks);
            }
            Kind::Curve(formula, table) => {
                let bits = rng.next();
                let cell = &table[(bits >> (64 - CELL_BITS)) as usize];
                let rank = cell.at(unit(bits << CELL_BITS));
                if rank.is_nan() {
                    formula.rank(unit(bits)) as u64
                } else {
                    rank as u64
                }
            }
            Kind::Normal { width } => {
                let mean = bell(n, rng);
                (mean + rng.below((*width).max(1))).saturating_sub(width / 2)
            }
        };
        self.scatter.apply(rank.min(n - 1))
    }
}

/// The mean of twelve even draws from `0..n`. Each draw is half of a random word, so the sum has
/// steps of 2^-32 regions; that fio rounds each draw down before it takes the sum, by half a
/// block in the mean, is taken off at the end.
#[inline(always)]
fn bell(n: u64, rng: &mut Rng) -> u64 {
    let halves = (0..BELL_DRAWS / 2).map(|_| {
        let bits = rng.next();
        (bits >> 32) + (bits & 0xFFFF_FFFF)
    });
    let sum = (u128::from(halves.sum::<u64>()) * u128::from(n)) >> 32;
    (sum as u64).saturating_sub(BELL_DRAWS / 2) / BELL_DRAWS
}

/// An even number in 0..1 from random bits.
#[inline(always)]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
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
        let law = Law::new(Shape::new(spread, n), 7);
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
    fn a_table_draws_what_its_formula_says() {
        for (spread, n) in [
            (Spread::Zipf(1.2), 1u64 << 19),
            (Spread::Zipf(0.8), 9765),
            (Spread::Zipf(0.99), 1 << 32),
            (Spread::Zipf(3.0), 1 << 20),
            (Spread::Pareto(0.2), 1 << 19),
            (Spread::Pareto(0.9), 1000),
            (Spread::Zipf(1.1), 2),
        ] {
            let shape = Shape::new(&spread, n);
            let Kind::Curve(formula, table) = &shape.kind else {
                panic!("{spread:?} has no table");
            };
            let mut rng = Rng::new(9);
            let mut elsewhere = 0;
            for _ in 0..200_000 {
                let bits = rng.next();
                let cell = &table[(bits >> (64 - CELL_BITS)) as usize];
                let (found, wanted) = (cell.at(unit(bits << CELL_BITS)), formula.rank(unit(bits)));
                let off = (found - wanted).abs();
                assert!(
                    found.is_nan() || off <= 2.0 * TOLERANCE * wanted.max(1.0),
                    "{spread:?}: {found} for {wanted}"
                );
                elsewhere += u32::from(found.is_nan());
            }
            assert!(
                elsewhere < 4000,
                "{spread:?}: {elsewhere} draws by the formula"
            );
        }
    }

    #[test]
    fn ranks_of_a_zipf_law_are_drawn_as_often_as_gray_s_formula_says() {
        // Of rank r > 1 the share is u(r + 1) - u(r) with u(r) = 1 - (1 - (r / n)^(1 - t)) / eta,
        // and 1 / zeta and 2^-t / zeta before; zeta summed term by term.
        let (theta, n, draws) = (1.2f64, 5000u64, 1_000_000);
        let zeta: f64 = (1..=n).map(|k| (k as f64).powf(-theta)).sum();
        let half = 0.5f64.powf(theta);
        let eta = (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - (1.0 + half) / zeta);
        let until = |rank: u64| 1.0 - (1.0 - (rank as f64 / n as f64).powf(1.0 - theta)) / eta;
        let law = Law::new(Shape::new(&Spread::Zipf(theta), n), 7);
        let mut rank_of = vec![0; n as usize];
        (0..n).for_each(|rank| rank_of[law.scatter.apply(rank) as usize] = rank);
        let mut rng = Rng::new(11);
        let mut hits = vec![0u32; n as usize];
        (0..draws).for_each(|_| hits[rank_of[law.draw(&mut rng) as usize] as usize] += 1);
        let share = |rank: u64| match rank {
            0 => 1.0 / zeta,
            1 => half / zeta,
            2 => until(3) - (1.0 + half) / zeta,
            _ => until(rank + 1) - until(rank),
        };
        let (mut chi, mut classes) = (0.0, 0.0);
        for rank in 0..n {
            let wanted = share(rank) * f64::from(draws);
            chi += (f64::from(hits[rank as usize]) - wanted).powi(2) / wanted;
            classes += 1.0;
        }
        // Chi-square of k - 1 degrees has the mean k - 1 and the deviation sqrt(2 (k - 1)).
        let degrees: f64 = classes - 1.0;
        assert!(
            (chi - degrees).abs() < 4.0 * (2.0 * degrees).sqrt(),
            "{chi} of {degrees}"
        );
    }

    #[test]
    fn the_bell_has_the_mean_and_spread_of_twelve_draws() {
        // Mean (n - 1) / 2 less half a block of rounding down, variance n^2 / 144; 68.3 and 95.4 %
        // within one and two deviations, as twelve draws are close to the normal law.
        let (n, draws) = (1u64 << 20, 400_000);
        let mut rng = Rng::new(2);
        let (mut sum, mut within) = (0.0, [0u32; 2]);
        let (mean, deviation) = (n as f64 / 2.0 - 1.0, n as f64 / 12.0);
        for _ in 0..draws {
            let off = bell(n, &mut rng) as f64 - mean;
            sum += off;
            within[0] += u32::from(off.abs() < deviation);
            within[1] += u32::from(off.abs() < 2.0 * deviation);
        }
        let off = sum / f64::from(draws) / deviation;
        assert!(off.abs() < 4.0 / f64::from(draws).sqrt(), "{off}");
        let shares = within.map(|count| f64::from(count) / f64::from(draws));
        assert!((shares[0] - 0.678).abs() < 0.004, "{shares:?}");
        assert!((shares[1] - 0.955).abs() < 0.002, "{shares:?}");
    }

    #[test]
    fn sums_of_powers_are_those_of_their_terms() {
        for theta in [0.5, 0.99, 1.0, 1.2, 3.0] {
            for terms in [1, 2, 1000, 1001, 100_000] {
                let single: f64 = (1..=terms).rev().map(|k| (k as f64).powf(-theta)).sum();
                let found = zeta(terms, theta);
                assert!((found / single - 1.0).abs() < 1e-11, "{theta}, {terms}");
            }
        }
    }

    #[test]
    fn zones_get_their_share_of_the_draws() {
        let zones = Spread::Zoned(vec![(60, 10), (30, 20), (10, 70)]);
        let law = Law::new(Shape::new(&zones, 1000), 1);
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
