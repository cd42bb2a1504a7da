//! Latency statistics: exact count, minimum, maximum, mean and standard deviation, and a
//! histogram whose percentiles are the ones fio prints.
//!
//! The histogram is log-linear. Values below 128 ns have a bucket each; from there every
//! power of two is cut into 64 equal buckets, up to 29 groups of 64 (the last group ends at
//! 2^34 ns, about 17 s, and takes everything above). A bucket is at most 1/64 of its lower
//! end wide, so a value lies within 1/128 (0.78 %) of its bucket's middle. The percentile p
//! of n values is the middle of the first bucket at which the running count reaches
//! p/100 * n; it may therefore exceed the maximum. This is fio's layout and rule since
//! 2.99 (nanosecond resolution); the tests hold it against the bins and percentiles of a
//! real run. Counts are 64 bits wide: a null-engine run passes 2^32 in a minute.
//!
//! What is kept is finer: each of fio's buckets is cut into [`FINER`], so that values below
//! 512 ns have a bucket each and a bucket above is at most 1/256 of its value wide. fio's
//! buckets are sums of these, and [`Histogram::bounds`] says between which values a percentile lies.
//!
//! Beside the buckets fio keeps a coarse distribution with bounds such as 250 us, which fall
//! inside buckets. Here a bucket with a bound in it also counts what lies below the bound,
//! so the coarse distribution ([`Histogram::classes`]) is exact and costs one look-up.

/// Buckets per power of two.
const PER_OCTAVE: usize = 64;
const OCTAVE_BITS: u32 = 6;
/// Groups of [`PER_OCTAVE`] buckets.
const GROUPS: usize = 29;
/// Number of fio's buckets.
pub const BUCKETS: usize = GROUPS * PER_OCTAVE;

/// Our buckets in one of fio's, above 512 ns.
pub const FINER: usize = 1 << FINER_BITS;
const FINER_BITS: u32 = 2;
const FINE_BITS: u32 = OCTAVE_BITS + FINER_BITS;
/// Our buckets: the first group of fio's that is wider than 1 ns begins at 2^7.
const FINE_BUCKETS: usize = (GROUPS - FINER_BITS as usize) << FINE_BITS;

/// The percentiles fio lists by default.
pub const DEFAULT_PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Number of fio's latency classes: 10 of nanoseconds, 10 of microseconds, 12 of milliseconds.
pub const CLASSES: usize = 32;

/// Upper bounds of the classes of one unit, as fio names them.
pub const CLASS_BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Upper bounds of all classes but the last, which has none, ns.
const BOUNDS: [u64; CLASSES - 1] = {
    let mut bounds = [0; CLASSES - 1];
    let mut index = 0;
    while index < 30 {
        let unit = [1, 1_000, 1_000_000][index / 10];
        bounds[index] = CLASS_BOUNDS[index % 10] * unit;
        index += 1;
    }
    bounds[30] = 2_000_000_000;
    bounds
};

/// Per bucket of ours: the bound that falls inside it, or [`NO_BOUND`].
const BOUND_IN: [u8; FINE_BUCKETS] = {
    let mut table = [NO_BOUND; FINE_BUCKETS];
    let mut index = 0;
    while index < BOUNDS.len() {
        let bucket = fine_bucket_of(BOUNDS[index]);
        // A bound that begins a bucket does not cut it.
        if fine_bucket_of(BOUNDS[index] - 1) == bucket {
            table[bucket] = index as u8;
        }
        index += 1;
    }
    table
};
const NO_BOUND: u8 = u8::MAX;

/// The bucket of a log-linear layout that counts `ns`, with 2^`bits` buckets per power of two.
#[inline(always)]
const fn log_linear(ns: u64, bits: u32, buckets: usize) -> usize {
    // Values below two octaves' worth are their own index, which is what the formula below
    // gives for shift 0, so only larger ones need it.
    let magnitude = 63 - (ns | 1).leading_zeros();
    if magnitude <= bits {
        return ns as usize;
    }
    let shift = magnitude - bits;
    let index = ((shift as usize) << bits) + (ns >> shift) as usize;
    if index < buckets { index } else { buckets - 1 }
}

/// fio's bucket that counts `ns`.
const fn bucket_of(ns: u64) -> usize {
    log_linear(ns, OCTAVE_BITS, BUCKETS)
}

/// Our bucket that counts `ns`.
#[inline(always)]
const fn fine_bucket_of(ns: u64) -> usize {
    log_linear(ns, FINE_BITS, FINE_BUCKETS)
}

/// The smallest value of one of our buckets, ns; of the one behind the last, its end.
const fn fine_start(index: usize) -> u64 {
    if index < 2 << FINE_BITS {
        return index as u64;
    }
    let shift = (index >> FINE_BITS) - 1;
    ((index - (shift << FINE_BITS)) as u64) << shift
}

/// The value fio prints for a bucket, ns: its middle, or the value itself below 128 ns.
pub fn bucket_value(index: usize) -> u64 {
    if index < 2 * PER_OCTAVE {
        return index as u64;
    }
    let shift = (index >> OCTAVE_BITS) as u32 - 1;
    let base = 1u64 << (shift + OCTAVE_BITS);
    let step = 1u64 << shift;
    base + (index % PER_OCTAVE) as u64 * step + step / 2
}

/// A latency histogram, in fio's bucket layout and a finer one.
#[derive(Clone)]
pub struct Histogram {
    counts: Box<[u64; FINE_BUCKETS]>,
    /// Per bound: what its bucket holds below it.
    below: [u64; CLASSES - 1],
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Histogram {
            // Zeroed by the system: pages of buckets that are never used take no memory.
            counts: vec![0; FINE_BUCKETS]
                .try_into()
                .expect("as many as were asked for"),
            below: [0; CLASSES - 1],
        }
    }

    /// Counts one latency, ns.
    #[inline(always)]
    pub fn add(&mut self, ns: u64) {
        self.add_many(ns, 1);
    }

    /// Counts `count` latencies of `ns`.
    #[inline(always)]
    pub fn add_many(&mut self, ns: u64, count: u64) {
        let bucket = fine_bucket_of(ns);
        self.counts[bucket] += count;
        let bound = BOUND_IN[bucket];
        if bound != NO_BOUND && ns < BOUNDS[bound as usize] {
            self.below[bound as usize] += count;
        }
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (bucket, count) in other.filled() {
            self.counts[bucket] += count;
        }
        for (ours, theirs) in self.below.iter_mut().zip(other.below) {
            *ours += theirs;
        }
    }

    /// fio's coarse distribution: how many latencies lie below 2 ns, 4 ns, ... 1000 ns, then
    /// the same in microseconds and milliseconds, then below 2000 ms, then above.
    pub fn classes(&self) -> [u64; CLASSES] {
        let mut classes = [0; CLASSES];
        for (bucket, count) in self.filled() {
            let bound = BOUND_IN[bucket];
            if bound == NO_BOUND {
                let value = fine_start(bucket);
                classes[BOUNDS.partition_point(|&bound| bound <= value)] += count;
            } else {
                let below = self.below[bound as usize];
                classes[bound as usize] += below;
                classes[bound as usize + 1] += count - below;
            }
        }
        classes
    }

    /// Our buckets that are not empty, with their counts.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = self.counts.iter().copied().enumerate();
        all.filter(|&(_, count)| count > 0)
    }

    /// Number of latencies counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// fio's buckets that are not empty, as (value fio prints for it in ns, count).
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut filled = self.filled().peekable();
        std::iter::from_fn(move || {
            let (bucket, mut count) = filled.next()?;
            let of_fio = |bucket: usize| bucket_of(fine_start(bucket));
            while let Some((_, more)) = filled.next_if(|next| of_fio(next.0) == of_fio(bucket)) {
                count += more;
            }
            Some((bucket_value(of_fio(bucket)), count))
        })
    }

    /// The values at `percentiles` (ascending, in per cent), ns, by fio's rule. Empty if
    /// nothing was counted.
    pub fn percentiles(&self, percentiles: &[f64]) -> Vec<u64> {
        let values = self.buckets_at(percentiles).into_iter();
        values
            .map(|bucket| bucket_value(bucket_of(fine_start(bucket))))
            .collect()
    }

    /// The least and the largest value that the latencies at `percentiles` can have, ns: their
    /// buckets are finer than fio's. The last bucket has no end. Empty if nothing was counted.
    pub fn bounds(&self, percentiles: &[f64]) -> Vec<(u64, u64)> {
        let values = self.buckets_at(percentiles).into_iter();
        values
            .map(|bucket| match bucket + 1 {
                FINE_BUCKETS => (fine_start(bucket), u64::MAX),
                next => (fine_start(bucket), fine_start(next) - 1),
            })
            .collect()
    }

    /// The buckets of ours in which `percentiles` are reached. fio's bucket is the one that holds it.
    fn buckets_at(&self, percentiles: &[f64]) -> Vec<usize> {
        let total = self.total();
        if total == 0 {
            return Vec::new();
        }
        let mut buckets = Vec::with_capacity(percentiles.len());
        let mut seen = 0;
        let mut index = 0;
        for &percentile in percentiles {
            let needed = needed_count(percentile, total);
            while index < FINE_BUCKETS - 1 && seen + self.counts[index] < needed {
                seen += self.counts[index];
                index += 1;
            }
            buckets.push(index);
        }
        buckets
    }
}

/// The smallest count that is at least `percentile / 100 * total`, and at least 1.
///
/// fio computes the product in 80-bit floats. 99.9 is not representable: the nearest double
/// lies above it, so the 99.9th percentile of 1000 values is the 1000th and not the 999th.
/// 64-bit floats round that difference away; integers keep it: a double is m * 2^-e exactly.
fn needed_count(percentile: f64, total: u64) -> u64 {
    const SCALE_BITS: u32 = 52; // a double in [1, 100] is a multiple of 2^-52
    let scaled = (percentile.clamp(0.0, 100.0) * (1u64 << SCALE_BITS) as f64) as u128;
    // 7 + 52 bits times a count: fits for any total below 2^69.
    let product = scaled * u128::from(total);
    let divisor = 100u128 << SCALE_BITS;
    (product.div_ceil(divisor) as u64).max(1)
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.bins()).finish()
    }
}

/// Exact statistics of raw latencies, ns. Sums are integers, so merging is exact and the
/// order of the values does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    count: u64,
    min: u64,
    max: u64,
    sum: u64,
    sum_of_squares: u128,
}

impl Stat {
    /// No values.
    pub const EMPTY: Stat = Stat {
        count: 0,
        min: u64::MAX,
        max: 0,
        sum: 0,
        sum_of_squares: 0,
    };

    /// Takes one latency, ns.
    #[inline(always)]
    pub fn add(&mut self, ns: u64) {
        self.count += 1;
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.sum += ns;
        self.sum_of_squares += u128::from(ns) * u128::from(ns);
    }

    /// Takes one latency so many times, ns.
    #[inline(always)]
    pub fn add_many(&mut self, ns: u64, count: u64) {
        self.count += count;
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.sum += ns * count;
        self.sum_of_squares += u128::from(ns) * u128::from(ns) * u128::from(count);
    }

    /// The same values, each longer by `by` ns: sum((x + b)^2) = sum(x^2) + 2 b sum(x) + n b^2.
    /// There must be some.
    #[inline(always)]
    pub fn longer_by(&self, by: u64) -> Stat {
        let (wide, count) = (u128::from(by), u128::from(self.count));
        Stat {
            count: self.count,
            min: self.min + by,
            max: self.max + by,
            sum: self.sum + by * self.count,
            sum_of_squares: self.sum_of_squares
                + 2 * wide * u128::from(self.sum)
                + count * wide * wide,
        }
    }

    /// Takes the values of another statistic.
    #[inline(always)]
    pub fn merge(&mut self, other: &Stat) {
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest value, ns; 0 without values.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Largest value, ns.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Sum of the values, ns.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Arithmetic mean, ns; 0 without values.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }

    /// Sample standard deviation (n - 1), ns; 0 below two values, as fio has it.
    pub fn stddev(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        // n * sum(x^2) - sum(x)^2 in integers: no cancellation. It overflows 128 bits only
        // for runs of more than 2^60 ns squared per value and 2^60 values; then floats do.
        let n = u128::from(self.count);
        let sum = u128::from(self.sum);
        let spread = match (self.sum_of_squares.checked_mul(n), sum.checked_mul(sum)) {
            (Some(squares), Some(square)) => squares.saturating_sub(square) as f64,
            _ => self.sum_of_squares as f64 * n as f64 - sum as f64 * sum as f64,
        };
        (spread.max(0.0) / (n as f64 * (n - 1) as f64)).sqrt()
    }
}

impl Default for Stat {
    fn default() -> Self {
        Stat::EMPTY
    }
}

#[cfg(test)]
#[path = "hist_tests.rs"]
mod tests;
