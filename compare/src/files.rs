//! Files on the command line: which an argument stands for, and results that go to new files only.
//!
//! A person's data is never overwritten: a name that exists is refused before anything is read.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use fio_parse::cli::{Input, Place};

/// An argument as (label, name) pairs; directories become their files with `-r`, in order of name.
pub fn expand(input: &Input, recursive: bool) -> Result<Vec<(Option<String>, String)>, String> {
    let (label, name) = (input.label.clone(), input.name());
    if input.place == Place::Stdin || !Path::new(&name).is_dir() {
        return Ok(vec![(label, name)]);
    }
    if !recursive {
        return Err(format!(
            "{name}: expected a file, found a directory; -r reads the files below it"
        ));
    }
    let mut files = Vec::new();
    walk(Path::new(&name), &mut files).map_err(|e| format!("{name}: {e}"))?;
    files.sort();
    Ok(files.into_iter().map(|f| (label.clone(), f)).collect())
}

/// Regular files below a directory; hidden ones and symbolic links to directories are left out.
fn walk(directory: &Path, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), files)?;
        } else if kind.is_file() || (kind.is_symlink() && entry.path().is_file()) {
            files.push(entry.path().to_string_lossy().into_owned());
        }
    }
    Ok(())
}

/// Whether results go to a file of this name, and not to standard output.
pub fn is_file(path: &Path) -> bool {
    path != Path::new("-")
}

/// Writes a file that does not exist yet; what a person has is never overwritten.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::File::create_new(path)?.write_all(bytes)
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
