//! What the three binaries share: inputs, their sniffing, exit codes, broken pipes.
//!
//! ```text
//! INPUT = path | label "=" path | "-"
//! ```
//!
//! `label=path` gives the input's results a machine name; a file whose name holds an equals sign is meant as it
//! is. Without inputs standard input is read, unless it is a terminal: then there is nothing to read, and the
//! call is wrong.

pub mod labels;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Something was found, and nothing failed.
pub const FOUND: u8 = 0;
/// Nothing was found (`fio-parse`), a run failed (`fio-replay`), a gate tripped (`fio-compare`).
pub const NOTHING: u8 = 1;
/// The call was wrong, or an input could not be read.
pub const UNREADABLE: u8 = 2;

/// One input as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The machine name given with it.
    pub label: Option<String>,
    /// Where it is.
    pub place: Place,
}

/// Where an input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Standard input.
    Stdin,
    /// A file, or a directory where the binary takes one.
    Path(PathBuf),
}

impl Input {
    /// The name under which messages and records speak of it.
    pub fn name(&self) -> String {
        match &self.place {
            Place::Stdin => "-".to_owned(),
            Place::Path(path) => path.display().to_string(),
        }
    }

    /// One argument. `label=path` splits at the first `=`, unless the whole is the name of something that is there.
    pub fn from_argument(argument: &OsStr) -> Self {
        let place = |text: &OsStr| match text.to_str() {
            Some("-") => Place::Stdin,
            _ => Place::Path(PathBuf::from(text)),
        };
        if let Some((label, path)) = argument.to_str().and_then(|text| text.split_once('='))
            && !label.is_empty()
            && !path.is_empty()
            && !label.contains('/')
            && !Path::new(argument).exists()
        {
            return Self {
                label: Some(label.to_owned()),
                place: place(OsStr::new(path)),
            };
        }
        Self {
            label: None,
            place: place(argument),
        }
    }

    /// The input, opened for reading. Errors: as [`InputError`] says.
    pub fn open(&self) -> Result<Box<dyn Read>, InputError> {
        Ok(match &self.place {
            Place::Stdin => Box::new(io::stdin().lock()),
            Place::Path(path) => Box::new(self.file(path)?.0),
        })
    }

    /// The whole of the input. Errors: as [`InputError`] says.
    pub fn read(&self) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        let read = match &self.place {
            Place::Stdin => io::stdin().lock().read_to_end(&mut bytes),
            Place::Path(path) => {
                let (mut file, size) = self.file(path)?;
                bytes.reserve(usize::try_from(size).unwrap_or(0));
                file.read_to_end(&mut bytes)
            }
        };
        read.map_err(|error| self.fail(Problem::Io(error)))?;
        Ok(bytes)
    }

    /// The file at `path` and its size in bytes.
    fn file(&self, path: &Path) -> Result<(File, u64), InputError> {
        let file = File::open(path).map_err(|error| self.fail(Problem::Io(error)))?;
        let meta = file
            .metadata()
            .map_err(|error| self.fail(Problem::Io(error)))?;
        if meta.is_dir() {
            return Err(self.fail(Problem::Directory));
        }
        #[cfg(unix)]
        if is_device(&file, &meta) {
            return Err(self.fail(Problem::Device));
        }
        Ok((file, meta.len()))
    }

    fn fail(&self, problem: Problem) -> InputError {
        InputError {
            name: self.name(),
            problem,
        }
    }
}

/// Whether reading would take a disk's whole content, or never end (`/dev/zero`): nobody means that. A terminal and
/// `/dev/null` are read.
#[cfg(unix)]
fn is_device(file: &File, meta: &std::fs::Metadata) -> bool {
    use std::io::IsTerminal;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let kind = meta.file_type();
    let null = || std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == meta.rdev());
    kind.is_block_device() || kind.is_char_device() && !file.is_terminal() && !null()
}

/// The inputs that a call names; standard input where it names none. Errors: there is nothing to read.
pub fn inputs(arguments: &[OsString], stdin_is_terminal: bool) -> Result<Vec<Input>, NoInput> {
    if arguments.is_empty() {
        if stdin_is_terminal {
            return Err(NoInput);
        }
        return Ok(vec![Input {
            label: None,
            place: Place::Stdin,
        }]);
    }
    Ok(arguments.iter().map(|a| Input::from_argument(a)).collect())
}

/// A call without inputs on a terminal.
#[derive(Debug)]
pub struct NoInput;

impl fmt::Display for NoInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "expected a file, `label=file`, or text on standard input; found none (see --help)",
        )
    }
}

impl std::error::Error for NoInput {}

/// An input that can't be read.
#[derive(Debug)]
pub struct InputError {
    name: String,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Io(io::Error),
    Directory,
    Device,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Io(error) => write!(f, "{}: {error}", self.name),
            Problem::Directory => write!(
                f,
                "{}: expected a file, found a directory; name its files, or add -r where it is offered",
                self.name
            ),
            Problem::Device => write!(
                f,
                "{}: expected a text file, found a device; devices are never read as logs",
                self.name
            ),
        }
    }
}

impl std::error::Error for InputError {}

/// What kind of text an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Records, a JSON object a line.
    Records,
    /// Anything else: a log, a post, fio's own JSON.
    Text,
}

/// Looks at the first line that is not blank.
pub fn sniff(bytes: &[u8]) -> Content {
    let text = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    let Some(rest) = text.strip_prefix(b"{") else {
        return Content::Text;
    };
    match rest.trim_ascii_start().strip_prefix(b"\"v\"") {
        Some(rest) if rest.trim_ascii_start().starts_with(b":") => Content::Records,
        _ => Content::Text,
    }
}

/// Writes what `--explain` shows for a terminal: the margin dim, what is told below results in cyan.
pub fn write_quiet_margin(text: &str, out: &mut impl Write) -> io::Result<()> {
    const DIM: &str = "\x1b[2m";
    const CYAN: &str = "\x1b[36m";
    const PLAIN: &str = "\x1b[0m";
    for line in text.lines() {
        match line.split_once('│') {
            Some((kind, rest)) if !line.trim_start().starts_with('╰') => {
                writeln!(out, "{DIM}{kind}│{PLAIN}{rest}")?;
            }
            _ => writeln!(out, "{CYAN}{line}{PLAIN}")?,
        }
    }
    Ok(())
}

/// Ends a program that wrote to a pipe: a reader that went away early is a normal end.
pub fn end_of_output(result: io::Result<()>, code: u8, program: &str) -> ExitCode {
    match result {
        Ok(()) => ExitCode::from(code),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(FOUND),
        Err(error) => {
            // nobody is left to tell where standard error fails, too
            let _ = writeln!(io::stderr(), "{program}: standard output: {error}");
            ExitCode::from(UNREADABLE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_split_at_the_first_equals_sign() {
        let input = Input::from_argument(OsStr::new("laptop=a=b.txt"));
        assert_eq!(input.label.as_deref(), Some("laptop"));
        assert_eq!(input.name(), "a=b.txt");
        assert_eq!(Input::from_argument(OsStr::new("-")).place, Place::Stdin);
        assert_eq!(Input::from_argument(OsStr::new("x=-")).place, Place::Stdin);
        assert_eq!(Input::from_argument(OsStr::new("./a=b")).label, None);
    }

    #[test]
    fn the_margin_is_quiet() {
        let mut out = Vec::new();
        write_quiet_margin("   dd │ a │ b\n      ╰─▶ read\n", &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "\x1b[2m   dd │\x1b[0m a │ b\n\x1b[36m      ╰─▶ read\x1b[0m\n"
        );
    }

    #[test]
    fn records_are_told_from_text() {
        for (text, wanted) in [
            ("{\"v\":1,\"source\":{}}", Content::Records),
            ("\n { \"v\" : 1}", Content::Records),
            ("{\n  \"fio version\" : \"fio-3.33\"", Content::Text),
            ("{\"version\":1}", Content::Text),
            ("", Content::Text),
        ] {
            assert_eq!(sniff(text.as_bytes()), wanted, "{text}");
        }
    }
}
