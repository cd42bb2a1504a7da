//! The value that was meant where one is misspelt: values of options that are words.

use fio_parse::workload::Pattern;
use fio_parse::workload::options::nearest_of;

/// Options of fio and operands of dd with the words they take, in the tools' own spelling.
const VALUES: &[(&str, &[&str])] = &[
    (
        "ioengine",
        &[
            "psync",
            "sync",
            "pvsync",
            "pvsync2",
            "vsync",
            "io_uring",
            "libaio",
            "posixaio",
            "mmap",
            "null",
            "windowsaio",
            "solarisaio",
            "splice",
            "cpuio",
            "io_uring_cmd",
            "rados",
            "rbd",
        ],
    ),
    (
        "fallocate",
        &["none", "native", "posix", "keep", "truncate"],
    ),
    ("fadvise_hint", &["none", "random", "sequential"]),
    ("rw_sequencer", &["sequential", "identical"]),
    ("file_service_type", &["roundrobin", "random", "sequential"]),
    (
        "random_distribution",
        &["random", "zipf", "pareto", "normal", "zoned"],
    ),
    ("random_generator", &["tausworthe", "lfsr", "tausworthe64"]),
    ("io_submit_mode", &["inline", "offload"]),
    ("rate_process", &["linear", "poisson"]),
    ("cpus_allowed_policy", &["shared", "split"]),
    ("sync", &["none", "sync", "dsync"]),
    ("zonemode", &["none", "strided", "zbd"]),
    ("verify", &["none", "null", "crc32c", "md5", "pattern"]),
    (
        "conv",
        &[
            "notrunc",
            "fsync",
            "fdatasync",
            "sync",
            "noerror",
            "excl",
            "nocreat",
            "sparse",
            "swab",
            "ascii",
            "ebcdic",
            "lcase",
            "ucase",
            "block",
            "unblock",
        ],
    ),
    (
        "operand",
        &[
            "if", "of", "bs", "ibs", "obs", "count", "skip", "seek", "conv", "oflag", "iflag",
            "status",
        ],
    ),
    ("oflag", FLAGS),
    ("iflag", FLAGS),
];

const FLAGS: &[&str] = &[
    "append",
    "direct",
    "directory",
    "dsync",
    "sync",
    "nocache",
    "nonblock",
    "noatime",
    "noctty",
    "nofollow",
    "fullblock",
    "count_bytes",
    "skip_bytes",
    "seek_bytes",
];

/// `; did it mean libaio?` behind a refusal of `ioengine=libaoi`; empty where the value is one of
/// the option's, or like none of them. What follows a colon is a parameter.
pub(super) fn hint(option: &str, value: &str) -> String {
    let word = value.split(':').next().unwrap_or_default().trim();
    let patterns: Vec<&str> = Pattern::ALL
        .iter()
        .map(|pattern| pattern.as_str())
        .collect();
    let words = match option {
        "rw" => &patterns[..],
        _ => VALUES
            .iter()
            .find(|(known, _)| *known == option)
            .map_or(&[][..], |(_, words)| words),
    };
    if words.contains(&word) {
        return String::new();
    }
    let nearest = nearest_of(word, words.iter().copied());
    nearest.map_or(String::new(), |nearest| format!("; did it mean {nearest}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_likened_to_the_words_of_their_option() {
        for (option, value, meant) in [
            ("rw", "wirte", "write"),
            ("rw", "raed:8", "read"),
            ("ioengine", "libaoi", "libaio"),
            ("oflag", "drect", "direct"),
            ("conv", "fdatsync", "fdatasync"),
            ("operand", "ofalg", "oflag"),
            ("operand", "cuont", "count"),
        ] {
            assert_eq!(hint(option, value), format!("; did it mean {meant}?"));
        }
        for (option, value) in [
            ("rw", "read:x"),
            ("oflag", "zzz"),
            ("bs", "4q"),
            ("conv", ""),
        ] {
            assert_eq!(hint(option, value), "", "{option}={value}");
        }
    }
}
