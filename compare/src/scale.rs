//! Units for printing: one for each column, always named.
//!
//! Inside, every number is in a base unit (bytes, bytes/s, ns, operations/s). This module knows
//! the units a person may ask for, and picks one for times, whose range is too wide for a fixed
//! default. Binary and decimal prefixes are never mixed up: `MiB/s` is 1,048,576 bytes a second
//! and `MB/s` is 1,000,000.

/// What kind of quantity a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// Bytes per second.
    Rate,
    /// Operations per second.
    Iops,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    /// A share, 0 to 1.
    Share,
    /// A plain count.
    Count,
}

impl Dimension {
    /// The unit in which numbers are kept and written to data formats.
    pub fn base_unit(self) -> &'static str {
        match self {
            Dimension::Rate => "B/s",
            Dimension::Iops => "IOPS",
            Dimension::Time => "ns",
            Dimension::Size => "B",
            Dimension::Share => "1",
            Dimension::Count => "count",
        }
    }
}

/// A unit to print in: its name and how many base units it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// As printed in the header.
    pub name: &'static str,
    /// What it measures.
    pub dimension: Dimension,
    /// Base units in one of it.
    pub factor: f64,
}

const fn unit(name: &'static str, dimension: Dimension, factor: f64) -> Unit {
    Unit {
        name,
        dimension,
        factor,
    }
}

const KIB: f64 = 1024.0;
const MIB: f64 = KIB * 1024.0;
const GIB: f64 = MIB * 1024.0;
const TIB: f64 = GIB * 1024.0;

/// Every unit that `--unit` takes. The first of each dimension is its default.
pub const UNITS: &[Unit] = &[
    unit("MiB/s", Dimension::Rate, MIB),
    unit("B/s", Dimension::Rate, 1.0),
    unit("KiB/s", Dimension::Rate, KIB),
    unit("GiB/s", Dimension::Rate, GIB),
    unit("TiB/s", Dimension::Rate, TIB),
    unit("kB/s", Dimension::Rate, 1e3),
    unit("MB/s", Dimension::Rate, 1e6),
    unit("GB/s", Dimension::Rate, 1e9),
    unit("TB/s", Dimension::Rate, 1e12),
    unit("Mbit/s", Dimension::Rate, 1e6 / 8.0),
    unit("Gbit/s", Dimension::Rate, 1e9 / 8.0),
    unit("IOPS", Dimension::Iops, 1.0),
    unit("kIOPS", Dimension::Iops, 1e3),
    unit("MIOPS", Dimension::Iops, 1e6),
    unit("s", Dimension::Time, 1e9),
    unit("ms", Dimension::Time, 1e6),
    unit("us", Dimension::Time, 1e3),
    unit("ns", Dimension::Time, 1.0),
    unit("GiB", Dimension::Size, GIB),
    unit("B", Dimension::Size, 1.0),
    unit("KiB", Dimension::Size, KIB),
    unit("MiB", Dimension::Size, MIB),
    unit("TiB", Dimension::Size, TIB),
    unit("kB", Dimension::Size, 1e3),
    unit("MB", Dimension::Size, 1e6),
    unit("GB", Dimension::Size, 1e9),
    unit("TB", Dimension::Size, 1e12),
    unit("%", Dimension::Share, 0.01),
    unit("count", Dimension::Count, 1.0),
];

/// Looks a unit up by its exact name. `KB/s` is refused: in this field it has meant both 1000
/// and 1024 bytes, and a person who asks for it should say which.
pub fn parse(name: &str) -> Result<Unit, String> {
    if let Some(found) = UNITS.iter().find(|u| u.name == name) {
        return Ok(*found);
    }
    let alike = UNITS.iter().find(|u| u.name.eq_ignore_ascii_case(name));
    let hint = match (name, alike) {
        ("KB/s" | "kb/s" | "KB" | "kb", _) => {
            let per = if name.ends_with("/s") { "/s" } else { "" };
            format!(
                "it has meant both 1000 and 1024 bytes; say kB{per} for 1000 or KiB{per} for 1024"
            )
        }
        ("µs" | "usec", _) => "say us".to_owned(),
        (_, Some(unit)) => format!("letter case counts, as in {}", unit.name),
        (_, None) => {
            let known: Vec<&str> = UNITS.iter().map(|u| u.name).collect();
            format!("known units: {}", known.join(", "))
        }
    };
    Err(format!("expected a unit, found `{name}`; {hint}"))
}

/// The unit for a column of figures: the asked one if it fits the dimension, else the default;
/// times take the largest unit in which the smallest figure is still at least 1 (`ns` if none).
pub fn choose(dimension: Dimension, asked: &[Unit], values: impl Iterator<Item = f64>) -> Unit {
    if let Some(wanted) = asked.iter().find(|u| u.dimension == dimension) {
        return *wanted;
    }
    let mut of_dimension = UNITS.iter().filter(|u| u.dimension == dimension);
    if dimension == Dimension::Time {
        let least = values.filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            return *of_dimension
                .clone()
                .find(|u| least >= u.factor)
                .unwrap_or(&UNITS[UNITS.iter().position(|u| u.name == "ns").unwrap_or(0)]);
        }
    }
    *of_dimension.next().unwrap_or(&UNITS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_mean_what_they_say() {
        assert_eq!(parse("MiB/s").unwrap().factor, 1_048_576.0);
        assert_eq!(parse("MB/s").unwrap().factor, 1_000_000.0);
        assert_eq!(parse("kB/s").unwrap().factor, 1_000.0);
        assert_eq!(parse("KiB/s").unwrap().factor, 1_024.0);
    }

    #[test]
    fn err_the_ambiguous_unit_is_refused_with_advice() {
        let message = parse("KB/s").unwrap_err();
        assert!(message.contains("both 1000 and 1024"), "{message}");
        assert!(message.contains("KiB/s"), "{message}");
        let message = parse("mib/s").unwrap_err();
        assert!(message.ends_with("as in MiB/s"), "{message}");
    }

    #[test]
    fn rates_have_a_fixed_default_and_times_fit_the_smallest() {
        let rate = choose(Dimension::Rate, &[], [3e9].into_iter());
        assert_eq!(rate.name, "MiB/s");
        let time = choose(Dimension::Time, &[], [2.5e3, 7e6].into_iter());
        assert_eq!(time.name, "us");
        let tiny = choose(Dimension::Time, &[], [0.5].into_iter());
        assert_eq!(tiny.name, "ns");
        let none = choose(Dimension::Time, &[], [0.0].into_iter());
        assert_eq!(none.name, "s");
    }

    #[test]
    fn a_unit_of_another_dimension_is_left_alone() {
        let ms = parse("ms").unwrap();
        assert_eq!(
            choose(Dimension::Rate, &[ms], std::iter::empty()).name,
            "MiB/s"
        );
        assert_eq!(choose(Dimension::Time, &[ms], [5e9].into_iter()).name, "ms");
    }
}
