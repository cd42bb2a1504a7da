//! Files on the command line: what is read of them, and results that go to new files only.
//!
//! Folders are walked with `-r` by [`fio_parse::folder`], as `fio-parse` itself does, and files are
//! read by all cores. A person's data is never overwritten: a name that exists is refused before
//! anything is read.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use fio_parse::cli::{Content, Input, Place, sniff};
use fio_parse::folder::{Found, in_order, walk};

use crate::flat::Form;
use crate::load::{self, Source};

/// How many bytes tell what is in a file.
const HEAD: u64 = 512;

/// Something to say about the inputs.
pub enum Talk {
    /// A remark, which `--quiet` keeps back.
    Remark(String),
    /// What was odd in an input, with its place; likewise.
    Odd(String),
    /// What could not be read.
    Error(String),
}

/// Does `work` for each input, many at a time, and hands the results to `take` in order. Folders
/// become their files if `recursive`; standard input is read from `stdin`.
pub fn each<O: Send>(
    inputs: Vec<Input>,
    recursive: bool,
    stdin: &mut dyn Read,
    work: impl Fn(&load::Input<'_>) -> O + Sync,
    mut take: impl FnMut(Result<O, Talk>),
) {
    let mut piped = Vec::new();
    if inputs.iter().any(|input| input.place == Place::Stdin)
        && let Err(error) = stdin.read_to_end(&mut piped)
    {
        take(Err(Talk::Error(format!("-: {error}"))));
    }
    let read = |found: Found| match found {
        Found::Input(input) => with_content(&input, &piped, &work),
        Found::Skipped(why) => Err(Talk::Remark(why)),
        Found::Failed(why) => Err(Talk::Error(why)),
    };
    if !recursive && inputs.len() == 1 {
        // One thing to do needs no threads; a large input brings its own.
        inputs
            .into_iter()
            .for_each(|input| take(read(Found::Input(input))));
        return;
    }
    let take = |result| {
        take(result);
        true
    };
    if recursive {
        in_order(walk(inputs, is_flat), read, take);
    } else {
        in_order(inputs.into_iter().map(Found::Input), read, take);
    }
}

/// Records in a form that is no text.
fn is_flat(head: &[u8]) -> bool {
    Form::of_bytes(head).is_some()
}

fn with_content<O>(
    input: &Input,
    piped: &[u8],
    work: &impl Fn(&load::Input<'_>) -> O,
) -> Result<O, Talk> {
    let run = |source| {
        work(&load::Input {
            name: input.name(),
            label: input.label.clone(),
            source,
        })
    };
    let path = match &input.place {
        Place::Stdin => return Ok(run(Source::Bytes(piped))),
        Place::Path(path) => path,
    };
    match head(path) {
        Some((file, _, head)) if Form::of_bytes(&head) == Some(Form::Parquet) => {
            Ok(run(Source::Parquet(&file)))
        }
        // A label may name what only all records together tell.
        Some((file, length, head)) if input.label.is_none() && sniff(&head) == Content::Records => {
            Ok(run(Source::Lines(&file, length)))
        }
        _ => match input.read() {
            Ok(bytes) => Ok(run(Source::Bytes(&bytes))),
            Err(_) if path.is_dir() => Err(Talk::Error(format!(
                "{}: expected a file, found a directory; name its files, or add -r for all files in it",
                path.display()
            ))),
            Err(error) => Err(Talk::Error(error.to_string())),
        },
    }
}

/// A regular file, to be read from its start, its length, and its first bytes. None where the
/// length is not known, as of files that the system makes up.
fn head(path: &Path) -> Option<(File, u64, Vec<u8>)> {
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() == 0 {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut head = Vec::new();
    (&file).take(HEAD).read_to_end(&mut head).ok()?;
    file.rewind().ok()?;
    Some((file, meta.len(), head))
}

/// The inputs without those that are given again, be it by another path, and the names of these.
pub fn once(inputs: Vec<Input>) -> (Vec<Input>, Vec<String>) {
    let mut seen: Vec<(Option<String>, Place)> = Vec::new();
    let (mut kept, mut twice) = (Vec::new(), Vec::new());
    for input in inputs {
        let place = match &input.place {
            // What can't be found is told when it is read.
            Place::Path(path) => Place::Path(path.canonicalize().unwrap_or_else(|_| path.clone())),
            Place::Stdin => Place::Stdin,
        };
        let known = (input.label.clone(), place);
        if seen.contains(&known) {
            twice.push(input.name());
        } else {
            seen.push(known);
            kept.push(input);
        }
    }
    (kept, twice)
}

/// Which of the named inputs gave no result. Of a folder one file with results is enough.
pub struct Lost {
    /// Path as typed, and whether it is a folder.
    named: Vec<(String, bool)>,
}

impl Lost {
    /// None of them gave any yet. What is not there is told when it is read.
    pub fn new(inputs: &[Input]) -> Lost {
        let is_folder = |place: &Place| matches!(place, Place::Path(path) if path.is_dir());
        let is_there = |place: &Place| match place {
            Place::Stdin => true,
            Place::Path(path) => path.exists(),
        };
        let named = (inputs.iter())
            .filter(|input| is_there(&input.place))
            .map(|input| (input.name(), is_folder(&input.place)));
        Lost {
            named: named.collect(),
        }
    }

    /// An input or a file of one gave so many records.
    pub fn count(&mut self, name: &str, records: usize) {
        if records > 0 {
            let is_of = |(named, is_folder): &(String, bool)| match is_folder {
                true => Path::new(name).starts_with(named),
                false => name == named,
            };
            self.named.retain(|named| !is_of(named));
        }
    }

    /// Those that gave none, as typed.
    pub fn names(&self) -> Vec<&str> {
        self.named.iter().map(|(name, _)| name.as_str()).collect()
    }
}

/// Whether results go to a file of this name, and not to standard output.
pub fn is_file(path: &Path) -> bool {
    path != Path::new("-")
}

/// Writes a file that does not exist yet; what a person has is never overwritten.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::create_new(path)?.write_all(bytes)
}

/// Refuses a name that is taken, be it by a file, a device or a symbolic link to nowhere.
pub fn refuse_existing(path: &Path) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(format!(
            "{}: expected a name for a new file, found one that exists; remove it or name another",
            path.display()
        )),
        // Any other trouble shows, with its reason, when the file is made.
        Err(_) => Ok(()),
    }
}
