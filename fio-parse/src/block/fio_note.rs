//! What fio prints around its report: banner, progress, layout, disk statistics, errors.
//!
//! ```text
//! host      = "<" name ">"                                   a client prints it above a server's report
//! note      = [ "<" host "> " ] ( banner | starting | layout | progress | disks | failure | ended | server | remark )
//! banner    = version                                        fio-3.33 | fio 1.59
//! starting  = "Starting " number (" process" | " thread") …
//! layout    = name ": Laying out IO file" …
//! progress  = "Jobs: " number " (f=" …                       overwritten by the next one with a carriage return
//! disks     = "Disk stats (read/write):" { name ": ios=" … }
//! failure   = "fio: pid=" number ", err=" number "/" words
//! ended     = "fio: terminating on signal " number
//! server    = "hostname=" host ", " … "fio=" version …
//! remark    = "note: " words | "fio: " words | "CPU idleness:" { lines } | "..." | "client <" host ">: " words
//! ```
//!
//! The banner tells the version, a failure why a job has no report, an end that the job was not let finish. The rest
//! is known so that it is not taken for prose.

use crate::era::Version;
use crate::figure::Figure;
use crate::lex;
use crate::source::{Log, Segments};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// A note of fio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FioNote<'t> {
    /// The version, as printed.
    Version(&'t str),
    /// A server that a client talks to, and its version, as printed.
    Server {
        /// Its name.
        host: &'t str,
        /// `fio-3.33`; none where it says something else.
        version: Option<&'t str>,
    },
    /// The name of a server, above its report.
    Host(&'t str),
    /// Jobs start.
    Starting,
    /// Files are written before the test.
    Layout,
    /// Progress.
    Progress {
        /// Whether Ctrl-C was typed over it.
        interrupted: bool,
    },
    /// Counters of disks.
    Disks,
    /// A job failed.
    Failure(Figure<'t>),
    /// fio was told to end.
    Ended,
    /// Any other remark.
    Remark,
}

impl FioNote<'_> {
    /// The name that `--explain` shows.
    pub fn name(&self) -> &'static str {
        match self {
            FioNote::Version(_) => "fio version",
            FioNote::Server { .. } => "fio server",
            FioNote::Host(_) => "fio host",
            FioNote::Starting => "fio start",
            FioNote::Layout => "fio layout",
            FioNote::Progress { .. } => "fio progress",
            FioNote::Disks => "fio disks",
            FioNote::Failure(_) => "fio failure",
            FioNote::Ended => "fio ended",
            FioNote::Remark => "fio remark",
        }
    }
}

/// Reads a note where `lines` stands at one; otherwise leaves `lines` as it is.
pub fn read<'t>(log: &'t Log<'_>, lines: &mut Segments<'t>) -> Option<FioNote<'t>> {
    let mut ahead = lines.clone();
    let line = ahead.next()?;
    let text = lex::skip_margin(line.text).trim_end();
    let (text, host) = without_host(text);
    let note = match text.as_bytes().first() {
        None => FioNote::Host(host?),
        Some(b'f') if text.starts_with("fio") => from_fio(log, text)?,
        Some(b'S') if is_starting(text) => FioNote::Starting,
        Some(b'J') if is_progress(text) => FioNote::Progress { interrupted: false },
        Some(b'^') if is_progress(text) => FioNote::Progress { interrupted: true },
        Some(b'D') if text.starts_with("Disk stats (read/write)") => {
            follow(&mut ahead, |line| line.contains(": ios="));
            FioNote::Disks
        }
        Some(b'C') if text == "CPU idleness:" => {
            let words = ["system:", "percpu:", "unit work:"];
            follow(&mut ahead, |line| {
                words.iter().any(|word| line.starts_with(word))
            });
            FioNote::Remark
        }
        Some(b'n') if text.starts_with("note: both iodepth") => FioNote::Remark,
        Some(b'h') if text.starts_with("hostname=") && text.contains(", be=") => server(text),
        Some(b'.') if text == "..." => FioNote::Remark,
        Some(b'c') if text.starts_with("client <") => FioNote::Remark,
        _ if is_layout(text) => FioNote::Layout,
        _ => {
            return disk_line(text).then(|| {
                *lines = ahead;
                FioNote::Disks
            });
        }
    };
    *lines = ahead;
    Some(note)
}

/// Takes the lines below the first one as long as `is_part` knows them.
fn follow(lines: &mut Segments<'_>, is_part: impl Fn(&str) -> bool) {
    let mut ahead = lines.clone();
    while let Some(line) = ahead.next() {
        if !is_part(lex::skip_margin(line.text)) {
            return;
        }
        *lines = ahead.clone();
    }
}

/// The text behind the host that a client puts in front of what a server says, and that host.
fn without_host(text: &str) -> (&str, Option<&str>) {
    let angles = [("<", ">"), ("&lt;", "&gt;")];
    let host = angles.iter().find_map(|(open, close)| {
        let (host, rest) = text.strip_prefix(open)?.split_once(close)?;
        is_host(host).then_some((rest.trim(), Some(host)))
    });
    host.unwrap_or((text, None))
}

/// Whether a name in angles is a host's, and no tag of a page that was pasted.
fn is_host(name: &str) -> bool {
    const TAGS: [&str; 24] = [
        "b",
        "blockquote",
        "body",
        "br",
        "code",
        "details",
        "div",
        "em",
        "font",
        "h1",
        "h2",
        "h3",
        "hr",
        "html",
        "i",
        "li",
        "ol",
        "p",
        "pre",
        "span",
        "strong",
        "summary",
        "table",
        "ul",
    ];
    !name.is_empty()
        && name.len() < 256
        && !name.contains(['<', ' ', '/', '=', '"', '@', '&'])
        && !TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag))
}

/// A line that starts with `fio`.
fn from_fio<'t>(log: &Log<'_>, text: &'t str) -> Option<FioNote<'t>> {
    if let Some(words) = text.strip_prefix("fio: ") {
        if words.starts_with("pid=") && words.contains("err=") {
            return Some(FioNote::Failure(Figure {
                text,
                span: log.span_of(text),
            }));
        }
        let ended = words.starts_with("terminating on signal");
        return Some(if ended {
            FioNote::Ended
        } else {
            FioNote::Remark
        });
    }
    let (_, length) = Version::read(text)?;
    (length == text.len()).then_some(FioNote::Version(text))
}

/// `Starting 3 processes`.
fn is_starting(text: &str) -> bool {
    text.strip_prefix("Starting ").is_some_and(|rest| {
        let number = rest.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &rest[number..];
        number > 0 && (rest.starts_with(" process") || rest.starts_with(" thread"))
    })
}

/// `Jobs: 1 (f=1)…`, or what Ctrl-C left of it: `^Cbs: 1 (f=1)…`.
fn is_progress(text: &str) -> bool {
    let rest = text
        .strip_prefix("Jobs: ")
        .or_else(|| text.strip_prefix("^Cbs: "));
    rest.is_some_and(|rest| {
        let number = rest.bytes().take_while(u8::is_ascii_digit).count();
        number > 0 && rest[number..].starts_with(" (f=")
    })
}

/// The name and the version that a server states.
fn server(text: &str) -> FioNote<'_> {
    let host = text["hostname=".len()..].split(',').next().unwrap_or("");
    let version = memchr::memmem::find(text.as_bytes(), b"fio=fio").map(|at| &text[at + 4..]);
    FioNote::Server {
        host: host.trim(),
        version: version.and_then(|text| Some(&text[..Version::read(text)?.1])),
    }
}

/// `NAME: Laying out IO file (1 file / 16MiB)`; a name may hold anything.
fn is_layout(text: &str) -> bool {
    static LAYOUT: LazyLock<Finder<'static>> =
        LazyLock::new(|| Finder::new(": Laying out IO file"));
    LAYOUT.find(text.as_bytes()).is_some()
}

/// A line of disk statistics that lost its head.
fn disk_line(text: &str) -> bool {
    static COUNTERS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(": ios="));
    COUNTERS
        .find(text.as_bytes())
        .is_some_and(|at| at > 0 && text[at..].contains("in_queue="))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(text: &str) -> Vec<&'static str> {
        let log = Log::from_bytes("x", text.as_bytes()).unwrap();
        let mut lines = log.segments();
        let mut names = Vec::new();
        loop {
            if let Some(note) = read(&log, &mut lines) {
                names.push(note.name());
            } else if lines.next().is_some() {
                names.push("?");
            } else {
                return names;
            }
        }
    }

    #[test]
    fn every_kind_of_line_is_known() {
        let cases = [
            ("fio-3.33", "fio version"),
            ("fio 1.59\r\n", "fio version"),
            (
                "hostname=vm, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1",
                "fio server",
            ),
            (
                "hostname=vm, be=0, 64-bit, os=Linux, arch=x86-64, fio=2.0.15",
                "fio server",
            ),
            ("Starting 1 process", "fio start"),
            ("<vm> Starting 3 threads", "fio start"),
            ("si: Laying out IO file (1 file / 16MiB)", "fio layout"),
            (": Laying out IO file(s) (1 file(s) / 16MB)", "fio layout"),
            (
                "Jobs: 2 (f=2): [m(2)][50.0%][r=1KiB/s][eta 00m:01s]",
                "fio progress",
            ),
            ("^Cbs: 1 (f=1): [r(1)][12.5%]", "fio progress"),
            ("fio: terminating on signal 2", "fio ended"),
            (
                "fio: pid=7986, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device",
                "fio failure",
            ),
            ("fio: job startup hung? exiting.", "fio remark"),
            (
                "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1",
                "fio remark",
            ),
            (
                "  vda: ios=774/308, merge=0/0, ticks=168/48, in_queue=216, util=10.88%",
                "fio disks",
            ),
            ("<vm> ", "fio host"),
            ("&lt;vm&gt;", "fio host"),
            ("<node-1.example.org>", "fio host"),
            ("...", "fio remark"),
            ("> fio-2.0.15", "fio version"),
            ("fio-3.33 was used", "?"),
            ("fio is a tool", "?"),
            ("Starting over", "?"),
            ("Jobs: many", "?"),
            ("<b>bold</b>", "?"),
            ("<details>", "?"),
            ("<a@example.org>", "?"),
        ];
        for (text, name) in cases {
            assert_eq!(names(text), [name], "{text}");
        }
    }

    #[test]
    fn disks_take_their_lines() {
        let text = "Disk stats (read/write):\n    dm-0: ios=1/2, merge=0/0, ticks=1/2, in_queue=3, util=1.00%, aggrios=1/2\n  sda: ios=1/2, merge=0/0\n\nJobs: 1 (f=1)\rJobs: 1 (f=1)\r\n";
        assert_eq!(
            names(text),
            ["fio disks", "?", "fio progress", "fio progress"]
        );
    }

    proptest! {
        #[test]
        fn any_text_does_not_panic(text in "(\\PC|[<> \n\r^]|Jobs: 1|fio|fio: pid=|: ios=|Starting 1){0,12}") {
            names(&text);
        }
    }
}
