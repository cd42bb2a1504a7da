//! Which fio printed a text: its version as far as it is known, and the printers that follow from it.
//!
//! ```text
//! version = "fio" ("-" | " ") number "." number ["." number] ["-" commits "-g" hash] ["-dirty"]
//! replay  = "fio-replay-" number "." number ["." number]
//! ```
//!
//! `fio-replay` prints as fio 3.33 does, whatever its own number is.
//!
//! An [`Era`] is the range of versions that a report may come from, and what is known of the options that change
//! how figures print (`kb_base`, `significant_figures`). A stated version makes the range a point; the look of the
//! text narrows it otherwise. [`Era::sizes`], [`Era::iops`] and [`Era::latency`] are the printers of that range:
//! where several are possible, the one whose texts stand for everything that any of them could mean.
//!
//! | versions | sizes and rates |
//! |---|---|
//! | to 2.16 | six characters, `K M G P E` (no `T`), `K` is 1024 unless `kb_base=1000`; digits after the point are no decimals |
//! | 2.17 to 2.19 | four characters, `KiB` and `kB`; digits after the point are no decimals |
//! | 2.20 to 3.25 | decimals that lose a carry |
//! | 3.26 on | decimals |

use crate::diagnostic::{Code, Diagnostic};
use crate::figure::fio::{Digits, FioPrinter, Kilo};

/// A fio version. Builds after a release order after it and before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The number before the first point.
    pub major: u16,
    /// The number behind it.
    pub minor: u16,
    /// The third number; 0 where there is none.
    pub patch: u16,
    /// Commits since that release, as `git describe` counts them; 1 for a modified source.
    pub commits: u32,
}

impl Version {
    /// A release.
    pub const fn release(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
            commits: 0,
        }
    }

    /// The version at the head of `text`, with the `fio` before it, and how many bytes it takes.
    ///
    /// Reads `fio-3.33`, `fio 1.59`, `fio-2.0.15`, `fio-3.36-73-gabcd`, `fio-3.33-dirty`; `None` where `text` starts otherwise.
    /// `fio-replay-0.1.0` is the fio whose forms it prints.
    pub fn read(text: &str) -> Option<(Self, usize)> {
        if let Some(own) = text.strip_prefix("fio-replay") {
            let (_, length) = Self::numbered(own)?;
            return Some((FORMS_OF_REPLAY, text.len() - own.len() + length));
        }
        let rest = text.strip_prefix("fio")?;
        let (version, length) = Self::numbered(rest)?;
        Some((version, text.len() - rest.len() + length))
    }

    /// The version behind the name of the program.
    fn numbered(text: &str) -> Option<(Self, usize)> {
        let rest = text.strip_prefix(['-', ' '])?;
        let rest = rest.strip_prefix('v').unwrap_or(rest);
        let (major, rest) = number(rest)?;
        let (minor, mut rest) = number(rest.strip_prefix('.')?)?;
        let mut version = Self::release(u16::try_from(major).ok()?, u16::try_from(minor).ok()?, 0);
        if let Some((patch, after)) = rest.strip_prefix('.').and_then(number) {
            version.patch = u16::try_from(patch).ok()?;
            rest = after;
        }
        if let Some((commits, after)) = rest.strip_prefix('-').and_then(number)
            && let Some(hash) = after.strip_prefix("-g")
        {
            let end = hash
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(hash.len());
            if end >= 4 {
                version.commits = commits;
                rest = &hash[end..];
            }
        }
        if let Some(after) = rest.strip_prefix("-dirty") {
            version.commits = version.commits.max(1);
            rest = after;
        } else if let Some((_, after)) = rest.strip_prefix("-rc").and_then(number) {
            rest = after;
        }
        // "fio-3.33x" or "fio-2.0.15.4" is something else
        let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        ends.then(|| (version, text.len() - rest.len()))
    }
}

/// The number at the head of `text`, and what follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

const FIRST: Version = Version::release(0, 0, 0);
const LAST: Version = Version {
    major: u16::MAX,
    minor: u16::MAX,
    patch: u16::MAX,
    commits: u32::MAX,
};
/// `IOPS=`, `BW=`, `KiB` beside `kB`.
const NEW_LOOK: Version = Version::release(2, 17, 0);
const DECIMALS: Version = Version::release(2, 20, 0);
const NANOSECONDS: Version = Version::release(2, 99, 0);
const SYNCS_COUNTED: Version = Version::release(3, 4, 0);
const ZONE_RESETS: Version = Version::release(3, 9, 0);
const CARRY_KEPT: Version = Version::release(3, 26, 0);
/// Whose forms `fio-replay` prints.
const FORMS_OF_REPLAY: Version = Version::release(3, 33, 0);

/// What a text shows of the fio that printed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// `runt=`, `aggrb=`: to 2.16.
    Legacy,
    /// `IOPS=`, `BW=`, group lines with `bw=`: 2.17 and later.
    Modern,
    /// Modern, and sample lines without `samples=`: 2.17 to 2.21.
    ModernMicroseconds,
    /// Modern, and something of 2.99: `(nsec)`, `samples=`, an `iops` line.
    ModernNanoseconds,
    /// Modern, and bases that contradict each other unless digits are no decimals: 2.17 to 2.19.
    ModernRemainders,
    /// `issued rwt:`: 2.17 to 3.3.
    IssuedRwt,
    /// `issued rwts:`: 3.4 and later.
    IssuedRwts,
    /// `zone resets` on a direction line: 3.9 and later.
    ZoneResets,
}

impl Look {
    /// The first and the last version that have it.
    fn versions(self) -> (Version, Version) {
        match self {
            Look::Legacy => (FIRST, before(NEW_LOOK)),
            Look::Modern => (NEW_LOOK, LAST),
            Look::ModernMicroseconds => (NEW_LOOK, before(NANOSECONDS)),
            Look::ModernNanoseconds => (NANOSECONDS, LAST),
            Look::ModernRemainders => (NEW_LOOK, before(DECIMALS)),
            Look::IssuedRwt => (NEW_LOOK, before(SYNCS_COUNTED)),
            Look::IssuedRwts => (SYNCS_COUNTED, LAST),
            Look::ZoneResets => (ZONE_RESETS, LAST),
        }
    }

    /// Whether `version` prints so.
    pub fn fits(self, version: Version) -> bool {
        let (from, to) = self.versions();
        (from..=to).contains(&version)
    }
}

/// The fio versions that a report may come from, and the options that change how it prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Era {
    from: Version,
    to: Version,
    stated: bool,
    /// `kb_base`, 1024 or 1000, where it is known; fio's default is 1024.
    pub kb_base: Option<u16>,
    /// `significant_figures`, where it is known; fio's default is 4 from 2.17 on.
    pub significant_figures: Option<u8>,
}

impl Default for Era {
    /// Nothing is known.
    fn default() -> Self {
        Self {
            from: FIRST,
            to: LAST,
            stated: false,
            kb_base: None,
            significant_figures: None,
        }
    }
}

impl Era {
    /// The era of a version that is stated.
    pub fn of(version: Version) -> Self {
        Self {
            from: version,
            to: version,
            stated: true,
            ..Self::default()
        }
    }

    /// The era narrowed by what the text looks like. A look that contradicts the version wins: the version is then another run's.
    pub fn seen(self, look: Look) -> Self {
        let (from, to) = look.versions();
        let met = (self.from.max(from), self.to.min(to));
        let contradicts = met.0 > met.1;
        Self {
            from: if contradicts { from } else { met.0 },
            to: if contradicts { to } else { met.1 },
            stated: self.stated && !contradicts,
            ..self
        }
    }

    /// The era with what is known of `kb_base` (1024 or 1000) and `significant_figures`, as the workload's options say.
    pub fn with_options(self, kb_base: Option<u16>, significant_figures: Option<u8>) -> Self {
        Self {
            kb_base,
            significant_figures,
            ..self
        }
    }

    /// Whether a version was stated, and fits the look.
    pub fn is_stated(&self) -> bool {
        self.stated
    }

    /// Whether every possible version is `version` or later.
    pub fn is_from(&self, version: Version) -> bool {
        self.from >= version
    }

    /// Whether every possible version is older than `version`.
    pub fn is_before(&self, version: Version) -> bool {
        self.to < version
    }

    /// Whether some possible version lies in `from` to `to`, the latter not included.
    pub fn may_be(&self, from: Version, to: Version) -> bool {
        self.from < to && self.to >= from
    }

    /// Whether all possible versions lie in `from` to `to`, the latter not included.
    pub fn is_within(&self, from: Version, to: Version) -> bool {
        self.from >= from && self.to < to
    }

    /// Whether it has the look of 2.17 and later.
    pub fn is_modern(&self) -> bool {
        self.is_from(NEW_LOOK)
    }

    /// Whether digits after the point were taken for decimals though they need not be: no version is stated, and 2.17 to 2.19 are not ruled out.
    pub fn may_have_remainders(&self) -> bool {
        !self.stated && self.may_be(NEW_LOOK, DECIMALS) && self.digits() != Digits::Remainder
    }

    /// The printer of bandwidths and sizes.
    pub fn sizes(&self) -> FioPrinter {
        let kilo = match (self.is_modern(), self.kb_base) {
            (true, _) => Kilo::AsWritten,
            (false, Some(1000)) => Kilo::Is1000,
            (false, Some(_)) => Kilo::Is1024,
            (false, None) => Kilo::Either,
        };
        FioPrinter {
            kilo,
            ..self.plain()
        }
    }

    /// The printer of IOPS: `k` is 1000 at all times.
    pub fn iops(&self) -> FioPrinter {
        FioPrinter {
            kilo: Kilo::Is1000,
            ..self.plain()
        }
    }

    /// The printer of the smallest and the largest latency: six characters, `k` is 1000.
    pub fn latency(&self) -> FioPrinter {
        FioPrinter {
            kilo: Kilo::Is1000,
            width: 6,
            ..self.plain()
        }
    }

    fn plain(&self) -> FioPrinter {
        let modern = self.is_modern();
        FioPrinter {
            width: match self.significant_figures {
                Some(width) if modern => width.clamp(1, 10),
                _ if modern => 4,
                _ => 6,
            },
            digits: self.digits(),
            kilo: Kilo::AsWritten,
            has_tera: modern,
        }
    }

    /// What digits after the point are worth. `CarryLost` lies within `Remainder`, so the latter stands for both.
    fn digits(&self) -> Digits {
        let proven_old = self.is_before(NANOSECONDS) && !self.is_from(DECIMALS);
        if proven_old {
            Digits::Remainder
        } else if self.is_from(CARRY_KEPT) {
            Digits::CarryKept
        } else if self.is_before(CARRY_KEPT) {
            Digits::CarryLost
        } else {
            Digits::CarryUnknown
        }
    }

    /// The note that belongs to a log whose version had to be assumed.
    pub fn assumption(&self) -> Option<Diagnostic> {
        let doubtful = self.is_modern() && matches!(self.digits(), Digits::CarryUnknown);
        (!self.stated && doubtful).then(|| {
            Diagnostic::note(
                Code::VERSION_ASSUMED,
                None,
                "no fio version is stated; figures are read as those of 2.20 or later, and a carry may be lost (before 3.26)",
            )
        })
    }
}

/// The last version before a release.
const fn before(release: Version) -> Version {
    let (major, minor) = match release.minor {
        0 => (release.major - 1, u16::MAX),
        minor => (release.major, minor - 1),
    };
    Version {
        major,
        minor,
        patch: u16::MAX,
        commits: u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn versions_are_read_in_every_form() {
        let cases = [
            ("fio-3.33", (3, 33, 0, 0), 8),
            ("fio 1.59", (1, 59, 0, 0), 8),
            ("fio-2.0.15\n", (2, 0, 15, 0), 10),
            ("fio-3.36-73-gabcd", (3, 36, 0, 73), 17),
            ("fio-3.33-dirty", (3, 33, 0, 1), 14),
            ("fio-3.36-73-gabcd-dirty;", (3, 36, 0, 73), 23),
            ("fio-3.1, and", (3, 1, 0, 0), 7),
            ("fio-replay-0.1.0;j", (3, 33, 0, 0), 16),
        ];
        for (text, (major, minor, patch, commits), length) in cases {
            let version = Version {
                commits,
                ..Version::release(major, minor, patch)
            };
            assert_eq!(Version::read(text), Some((version, length)), "{text}");
        }
        for bad in [
            "fio",
            "fio-",
            "fio-3",
            "fio-x.1",
            "fio-3.33x",
            "fio-replay",
            "fio-replay runs",
            "fio-replayed-1.0",
            "fiord 1.2",
            "fio-99999.1",
        ] {
            assert_eq!(Version::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn versions_order_as_they_appeared() {
        let rising = [
            "fio 1.59",
            "fio 1.99.12",
            "fio 2.0",
            "fio-2.0.15",
            "fio-2.1",
            "fio-2.99",
            "fio-3.9",
            "fio-3.26-1-gabcd",
            "fio-3.27",
        ];
        let versions: Vec<_> = rising.map(|text| Version::read(text).unwrap().0).into();
        assert!(versions.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn printers_follow_the_version() {
        let era = |text| Era::of(Version::read(text).unwrap().0);
        let cases = [
            ("fio 1.59", 6, Digits::Remainder, Kilo::Either, false),
            ("fio-2.16", 6, Digits::Remainder, Kilo::Either, false),
            ("fio-2.17", 4, Digits::Remainder, Kilo::AsWritten, true),
            ("fio-2.19", 4, Digits::Remainder, Kilo::AsWritten, true),
            ("fio-2.20", 4, Digits::CarryLost, Kilo::AsWritten, true),
            ("fio-3.25", 4, Digits::CarryLost, Kilo::AsWritten, true),
            ("fio-3.26", 4, Digits::CarryKept, Kilo::AsWritten, true),
            ("fio-3.42", 4, Digits::CarryKept, Kilo::AsWritten, true),
        ];
        for (text, width, digits, kilo, has_tera) in cases {
            let wanted = FioPrinter {
                width,
                digits,
                kilo,
                has_tera,
            };
            assert_eq!(era(text).sizes(), wanted, "{text}");
        }
    }

    #[test]
    fn the_look_stands_in_for_the_version() {
        let digits = |look| Era::default().seen(look).sizes().digits;
        assert_eq!(digits(Look::Legacy), Digits::Remainder);
        assert_eq!(digits(Look::Modern), Digits::CarryUnknown);
        assert_eq!(digits(Look::ModernMicroseconds), Digits::Remainder);
        assert_eq!(digits(Look::ModernNanoseconds), Digits::CarryUnknown);
        assert_eq!(digits(Look::IssuedRwt), Digits::CarryLost);
        assert_eq!(digits(Look::ZoneResets), Digits::CarryUnknown);
        assert!(Era::default().seen(Look::Modern).assumption().is_some());
        assert!(Era::default().seen(Look::Legacy).assumption().is_none());
        // a version of another run does not turn KB into kB
        let era = Era::of(Version::release(3, 33, 0)).seen(Look::Legacy);
        assert!(!era.is_stated() && !era.is_modern());
        assert!(
            Era::of(Version::release(3, 1, 0))
                .seen(Look::Modern)
                .assumption()
                .is_none()
        );
    }

    proptest! {
        #[test]
        fn any_text_does_not_panic(text in "\\PC{0,30}", tail in "fio[- ][0-9.]{0,9}[-a-z0-9]{0,9}") {
            for text in [text, tail] {
                if let Some((_, length)) = Version::read(&text) {
                    prop_assert!(text.is_char_boundary(length));
                }
            }
        }
    }
}
