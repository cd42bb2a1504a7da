//! What `K` and what a bandwidth meant in a report of fio to 2.16.
//!
//! `KB` is 1024 bytes unless `kb_base=1000` was given, and the report does not say. To 1.25.1 all bandwidths were
//! bytes per millisecond under the label `KiB/s`. Bytes, run time and bandwidth of one line are printed with
//! different prefixes more often than not (`io=10240MB, bw=63317KB/s, runt=165607msec`), and then only one meaning
//! lets them hold together. Where several do, a figure stands for all of them.

use super::fio_pair;
use crate::era::{Era, Version};
use crate::figure::Figure;
use crate::figure::fio::{self, FioPrinter, Kilo};
use crate::interval::Possible;
use crate::unit::{Bytes, BytesPerSec, Nanos, Quantity};
use smallvec::SmallVec;

/// One meaning of the letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    /// What `K` multiplies by.
    pub kilo: Kilo,
    /// Whether bandwidths are kB/s whatever their label says.
    pub decimal_rates: bool,
}

/// The first version whose bandwidths are what their label says.
const RATES_BINARY: Version = Version::release(1, 25, 2);

/// The meanings that `era` allows and that let bytes, run time and bandwidth hold together; all that `era` allows where none does.
pub(super) fn meanings(
    era: &Era,
    io: Option<Figure<'_>>,
    rate: Option<Figure<'_>>,
    runtime: Option<Nanos>,
) -> SmallVec<[Meaning; 4]> {
    let binary = |figure: Option<Figure<'_>>| figure.is_some_and(|f| f.text.contains('i'));
    let kilos: &[Kilo] = match era.kb_base {
        _ if binary(io) && binary(rate) => &[Kilo::Is1024],
        Some(1000) => &[Kilo::Is1000],
        Some(_) => &[Kilo::Is1024],
        None => &[Kilo::Is1024, Kilo::Is1000],
    };
    let decimal: &[bool] = if !binary(rate) || era.is_from(RATES_BINARY) {
        &[false]
    } else if era.is_before(RATES_BINARY) {
        &[true]
    } else {
        &[false, true]
    };
    let all: SmallVec<[Meaning; 4]> = kilos
        .iter()
        .flat_map(|&kilo| {
            decimal.iter().map(move |&decimal_rates| Meaning {
                kilo,
                decimal_rates,
            })
        })
        .collect();
    let (Some(io), Some(rate), Some(runtime)) = (io, rate, runtime.filter(|r| r.get() > 0.0))
    else {
        return all;
    };
    if all.len() == 1 {
        return all;
    }
    let holds = |meaning: &Meaning| {
        let bytes = size(&io, std::slice::from_ref(meaning), era);
        let rate = self::rate(&rate, std::slice::from_ref(meaning), era);
        let (Some(bytes), Some(rate)) = (bytes, rate) else {
            return true;
        };
        let seconds = runtime.seconds();
        super::fio_check::agree(&bytes, &rate, |lo, hi| {
            (lo / seconds - 1024.0, hi / seconds + 1024.0)
        })
    };
    let held: SmallVec<[Meaning; 4]> = all.iter().copied().filter(holds).collect();
    if held.is_empty() { all } else { held }
}

/// Whether `K` is 1024 by one meaning and 1000 by another.
pub(super) fn base_is_open(meanings: &[Meaning]) -> bool {
    meanings.windows(2).any(|pair| pair[0].kilo != pair[1].kilo)
}

/// What a size stands for, by any of `meanings`.
pub(super) fn size(
    figure: &Figure<'_>,
    meanings: &[Meaning],
    era: &Era,
) -> Option<Possible<Bytes>> {
    any(meanings, |meaning| read(figure, meaning, era))
}

/// What a bandwidth stands for, by any of `meanings`.
pub(super) fn rate(
    figure: &Figure<'_>,
    meanings: &[Meaning],
    era: &Era,
) -> Option<Possible<BytesPerSec>> {
    any(meanings, |meaning| {
        let possible = read(figure, meaning, era)?;
        if meaning.decimal_rates {
            decimal(&possible, meaning)
        } else {
            Some(possible)
        }
    })
}

/// A bandwidth in bytes per millisecond that was printed with prefixes of `meaning`: `K` stands for 1000 bytes, `M` for 1000 `K` or 1024.
pub(super) fn decimal(
    possible: &Possible<BytesPerSec>,
    meaning: &Meaning,
) -> Option<Possible<BytesPerSec>> {
    let step = match meaning.kilo {
        Kilo::Is1000 => 1000.0,
        _ => 1024.0,
    };
    // cut to whole bytes per millisecond before it was printed
    fio_pair::mapped(possible, |lo, hi| {
        (lo * 1000.0 / step, hi * 1000.0 / step + 1000.0)
    })
}

fn read<Q: Quantity>(figure: &Figure<'_>, meaning: &Meaning, era: &Era) -> Option<Possible<Q>> {
    let printer = FioPrinter {
        kilo: meaning.kilo,
        ..era.sizes()
    };
    let possible = fio::read(figure, printer).ok()?;
    // to 1.31, where labels have an `i`, what did not fit was cut off rather than rounded
    if !figure.text.contains('i') || figure.text.contains('.') {
        return Some(possible);
    }
    fio_pair::mapped(&possible, |lo, hi| (lo, hi + (hi - lo) / 2.0 + 1.0))
}

fn any<Q: Quantity>(
    meanings: &[Meaning],
    mut read: impl FnMut(&Meaning) -> Option<Possible<Q>>,
) -> Option<Possible<Q>> {
    let mut all: Option<Possible<Q>> = None;
    for possible in meanings.iter().filter_map(&mut read) {
        all = Some(match all {
            Some(all) => all.or(possible),
            None => possible,
        });
    }
    all
}
