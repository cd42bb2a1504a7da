//! Where the next I/O of one file goes and how large it is. Pure.
//!
//! Jobs with one block size and fio's default order need no memory: [`crate::offsets`] has
//! them. Everything else is here: drawn sizes, uneven draws, runs, gaps, zones. The rules,
//! found by running fio 3.33:
//!
//! - A block that would reach beyond the region is drawn again; if not even the smallest
//!   fits, the file is done.
//! - With a random map the map has units of the smallest block. A draw that hits a used unit
//!   takes the next free one, and a block is cut where the next used unit begins.
//! - In a run (`rw=randread:8`) and for the sequential part of `percentage_random` the map is
//!   neither asked nor marked, so blocks repeat.
//! - In a random mix of two sizes each direction counts in blocks of its own smallest size, and
//!   both mark the same map by that number. So the free number that a write finds may lie
//!   beyond the region, and then the file is done, after an amount that chance decides.
//! - A gap is added to the end of the last block. Beyond the end of the *file* it goes on at the
//!   front, before its start at the end; between the ends of region and file the file is done.
//!   The front is as far behind the region's start as that is behind the file's.

use crate::draw::{self, Law, Shapes};
use crate::offsets::{Blocks, Rng};
use crate::plan::job::{JobPlan, Order, Sizes, Spread};

/// The I/O of one file.
#[derive(Debug, Clone)]
pub struct Places {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// One size per direction; reads, or all in a random mix.
    Plain {
        first: Blocks,
        second: Option<Blocks>,
        bytes: [u32; 2],
    },
    General(Box<General>),
}

impl Places {
    /// The I/O of a job in a region of so many bytes of one of its files. `shapes` are of the
    /// job's spread.
    pub fn new(job: &JobPlan, region: u64, seed: u64, shapes: &mut Shapes<'_>) -> Self {
        if !is_plain(job) {
            return Places {
                kind: Kind::General(Box::new(General::new(job, region, seed, shapes))),
            };
        }
        let bytes = [job.sizes[0].smallest(), job.sizes[1].smallest()];
        let blocks = |bytes: u32| region / u64::from(bytes);
        let all = blocks(job.smallest_block());
        let (first, second) = match (job.pattern.random, job.order.random_map) {
            (true, true) => (Blocks::random(all, seed), None),
            (true, false) => (Blocks::repeating(all, seed), None),
            (false, _) if job.pattern.mixed() => (
                Blocks::sequential(blocks(bytes[0])),
                Some(Blocks::sequential(blocks(bytes[1]))),
            ),
            (false, _) => (Blocks::sequential(all), None),
        };
        Places {
            kind: Kind::Plain {
                first,
                second,
                bytes,
            },
        }
    }

    /// The blocks of this direction and their size, if there is one size and one order.
    pub fn blocks(&self, write: bool) -> Option<(Blocks, u32)> {
        match &self.kind {
            Kind::Plain {
                first,
                second: None,
                bytes,
            } => Some((first.clone(), bytes[usize::from(write)])),
            _ => None,
        }
    }

    /// Offset from the region's start and size of the next I/O; `None` when the file is done.
    #[inline(always)]
    pub fn next(&mut self, write: bool) -> Option<(u64, u32)> {
        match &mut self.kind {
            Kind::Plain {
                first,
                second,
                bytes,
            } => {
                let blocks = match second {
                    Some(writes) if write => writes,
                    _ => first,
                };
                let bytes = bytes[usize::from(write)];
                Some((blocks.next()? * u64::from(bytes), bytes))
            }
            Kind::General(general) => general.next(write),
        }
    }

    /// Starts over in a new random order (a `time_based` wrap).
    pub fn renew(&mut self) {
        match &mut self.kind {
            Kind::Plain { first, second, .. } => {
                first.renew();
                second.iter_mut().for_each(Blocks::renew);
            }
            Kind::General(general) => general.restart(),
        }
    }

    /// Starts the same pass again (`loops`).
    pub fn rewind(&mut self) {
        match &mut self.kind {
            Kind::Plain { first, second, .. } => {
                first.rewind();
                second.iter_mut().for_each(Blocks::rewind);
            }
            Kind::General(general) => {
                general.restart();
                general.rng = Rng::new(general.seed);
            }
        }
    }
}

fn is_plain(job: &JobPlan) -> bool {
    let one = |used: bool, sizes: &Sizes| !used || matches!(sizes, Sizes::One(_));
    let usual = Order {
        random_map: job.order.random_map,
        ..Order::default()
    };
    one(job.pattern.reads, &job.sizes[0])
        && one(job.pattern.writes, &job.sizes[1])
        && (job.order == usual
            || (!job.pattern.random
                && job.order
                    == Order {
                        percent_random: job.order.percent_random,
                        ..usual
                    }))
        && (!job.pattern.random || job.one_block().is_some())
}

#[derive(Debug, Clone)]
struct General {
    region: u64,
    /// Start of the region in the file.
    offset: u64,
    /// Size of the file.
    file: u64,
    random: bool,
    sizes: [Sizes; 2],
    /// The smallest blocks of reads and writes, which are the map's units for them.
    smallest: [u64; 2],
    /// What random offsets are multiples of.
    steps: [u64; 2],
    order: Order,
    laws: [Law; 2],
    map: Option<Map>,
    run_left: u32,
    /// Ends of the last blocks, from the zone's start.
    position: [u64; 2],
    last_start: [u64; 2],
    zone_start: u64,
    zone_moved: u64,
    rng: Rng,
    seed: u64,
}

impl General {
    fn new(job: &JobPlan, region: u64, seed: u64, shapes: &mut Shapes<'_>) -> Self {
        let order = job.order.clone();
        let unit = u64::from(job.smallest_block());
        let smallest = [0, 1].map(|way| u64::from(job.sizes[way].smallest()));
        let steps = smallest.map(|smallest| order.align.map_or(smallest, u64::from));
        let range = order
            .strided
            .map_or(region, |zones| zones.range.min(region));
        // A start so near to the end that not even the smallest block fits is no start.
        let starts =
            |unit: u64, step: u64| (range - (unit - step.min(unit)).min(range)) / step.max(1);
        // Only even draws know the direction.
        let laws = [0, 1].map(|way| {
            let (unit, step) = match order.spread {
                Spread::Even => (smallest[way], steps[way]),
                _ => (unit, order.align.map_or(unit, u64::from)),
            };
            shapes.law(starts(unit, step), seed)
        });
        let mapped = job.pattern.random
            && order.random_map
            && order.spread == Spread::Even
            && order.align.is_none();
        General {
            region,
            random: job.pattern.random,
            sizes: job.sizes.clone(),
            offset: job.offset,
            file: match job.drawn_regions.is_empty() {
                true => job.file_bytes.max(job.offset + region),
                false => job.offset + region,
            },
            smallest,
            steps,
            laws,
            map: mapped.then(|| Map::new(range / unit)),
            run_left: order.run,
            order,
            position: [0; 2],
            last_start: [0; 2],
            zone_start: 0,
            zone_moved: 0,
            rng: Rng::new(seed),
            seed,
        }
    }

    fn restart(&mut self) {
        self.position = [0; 2];
        self.last_start = [0; 2];
        self.run_left = self.order.run;
        (self.zone_start, self.zone_moved) = (0, 0);
        self.map.iter_mut().for_each(Map::clear);
    }

    fn next(&mut self, write: bool) -> Option<(u64, u32)> {
        let way = usize::from(write);
        self.enter_zone(way);
        let (start, random) = self.start(way)?;
        let zone_start = self.zone_start;
        let at = zone_start + start;
        let room = self
            .region
            .checked_sub(at)
            .filter(|&room| room >= self.smallest[way])?;
        let mut bytes = draw::size(&self.sizes[way], self.order.unaligned, &mut self.rng);
        // The smallest fits, so this ends; the bound is for shares of zero.
        for _ in 0..10_000 {
            if bytes <= room {
                break;
            }
            bytes = draw::size(&self.sizes[way], self.order.unaligned, &mut self.rng);
        }
        let mut bytes = bytes.min(room);
        if random && let Some(map) = &mut self.map {
            bytes = map.take(start, bytes, self.smallest[way]);
        }
        self.last_start[way] = start;
        self.position[way] = start + bytes;
        self.zone_moved += bytes;
        Some((at, bytes as u32))
    }

    /// Goes to the next zone when this one has had its share.
    fn enter_zone(&mut self, way: usize) {
        let Some(zones) = self.order.strided else {
            return;
        };
        if self.zone_moved >= zones.size {
            self.zone_moved = 0;
            self.zone_start += zones.range + zones.skip;
            if self.zone_start >= self.region {
                self.zone_start = 0;
            }
            self.position = [0; 2];
            self.map.iter_mut().for_each(Map::clear);
        }
        if self.position[way] >= zones.range {
            self.position[way] = 0;
        }
        if self.zone_moved.is_multiple_of(zones.range) {
            self.map.iter_mut().for_each(Map::clear);
        }
    }

    /// The start from the zone's start, and whether it was drawn.
    fn start(&mut self, way: usize) -> Option<(u64, bool)> {
        let fresh = self.order.run <= 1 || {
            self.run_left -= 1;
            self.run_left == 0
        };
        if !fresh {
            if self.order.identical {
                return Some((self.last_start[way], false));
            }
            return self
                .follow(way)
                .map(|start| (start, false))
                .or_else(|| Some((self.drawn(way)?, true)));
        }
        self.run_left = self.order.run;
        let percent = u64::from(self.order.percent_random[way]);
        if self.random && (percent >= 100 || self.rng.below(100) < percent) {
            return Some((self.drawn(way)?, true));
        }
        let followed = self.follow(way).map(|start| (start, false));
        match followed {
            None if self.random => Some((self.drawn(way)?, true)),
            followed => followed,
        }
    }

    fn drawn(&mut self, way: usize) -> Option<u64> {
        let block = self.laws[way].draw(&mut self.rng);
        let block = match &self.map {
            Some(map) => map.free_from(block)?,
            None => block,
        };
        Some(block * self.steps[way])
    }

    /// The place behind the last block, with the gap; `None` at the end of the region.
    fn follow(&self, way: usize) -> Option<u64> {
        let limit = self.region - self.zone_start;
        let (position, gap) = (self.position[way], self.order.gap);
        if gap == 0 {
            return (position < limit).then_some(position);
        }
        let front = i128::from(self.offset + self.zone_start);
        let (file, end) = (
            i128::from(self.file),
            i128::from(self.file.min(self.region)),
        );
        let mut last = front + i128::from(position);
        if last >= file {
            return None;
        }
        // Backwards begins at the end, if the region does not begin with the file.
        if position == 0 && front > 0 && gap < 0 {
            last = end;
        }
        let mut next = last - front;
        if next != 0 {
            next += i128::from(gap);
            if !(0..file).contains(&next) {
                next = if gap > 0 {
                    front
                } else {
                    end + i128::from(gap)
                };
            }
        }
        u64::try_from(next).ok().filter(|&next| next < limit)
    }
}

/// Which units of a region were touched: a bit each, and a bit for each full word.
#[derive(Debug, Clone)]
struct Map {
    units: u64,
    words: Vec<u64>,
    full: Vec<u64>,
}

impl Map {
    fn new(units: u64) -> Self {
        let words = units.div_ceil(64) as usize;
        Map {
            units,
            words: vec![0; words],
            full: vec![0; words.div_ceil(64)],
        }
    }

    fn clear(&mut self) {
        self.words.fill(0);
        self.full.fill(0);
    }

    /// The first free unit from this one on, then from the front.
    fn free_from(&self, unit: u64) -> Option<u64> {
        self.free_after(unit).or_else(|| self.free_after(0))
    }

    fn free_after(&self, unit: u64) -> Option<u64> {
        let mut word = (unit / 64) as usize;
        let mut bits = !*self.words.get(word)? & (u64::MAX << (unit % 64));
        while bits == 0 {
            word += 1;
            // Whole groups of 64 full words are passed over at once.
            let mut group = word / 64;
            let mut open = !*self.full.get(group)? & (u64::MAX << (word % 64));
            while open == 0 {
                group += 1;
                open = !*self.full.get(group)?;
            }
            word = group * 64 + open.trailing_zeros() as usize;
            bits = !*self.words.get(word)?;
        }
        let unit = word as u64 * 64 + u64::from(bits.trailing_zeros());
        (unit < self.units).then_some(unit)
    }

    /// Takes `bytes` in units of so many from a free one on, or what is free of them; gives the
    /// bytes taken.
    fn take(&mut self, start: u64, bytes: u64, unit_bytes: u64) -> u64 {
        let first = start / unit_bytes;
        let wanted = bytes.div_ceil(unit_bytes);
        let mut taken = 0;
        while taken < wanted && first + taken < self.units {
            let unit = first + taken;
            let word = (unit / 64) as usize;
            if self.words[word] >> (unit % 64) & 1 == 1 {
                break;
            }
            self.words[word] |= 1 << (unit % 64);
            if self.words[word] == u64::MAX {
                self.full[word / 64] |= 1 << (word % 64);
            }
            taken += 1;
        }
        bytes.min(taken.max(1) * unit_bytes)
    }
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
