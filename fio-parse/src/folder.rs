//! Folders of logs: which files they hold, and many files read by all cores with their output in one order.
//!
//! ```text
//! inputs (walked as they are needed) -> workers, one file each -> finished outputs, a few ahead -> written in order
//! ```
//!
//! Names are sorted within each folder, so the same folder always gives the same output. At most `AHEAD` files for
//! each worker are held, read or finished, however large the folder is. Links are not followed.

use crate::cli::{Input, Place};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many files for each worker may be read or wait to be written.
const AHEAD: usize = 4;

/// How much of a file is looked at to tell whether it is text, in bytes.
const HEAD: usize = 8192;

/// What a walk comes to.
pub enum Found {
    /// A file to read.
    Input(Input),
    /// Something that is passed over, and why.
    Skipped(String),
    /// Something that can't be read, and why.
    Failed(String),
}

/// The files of the inputs, folders walked to their ends. Files that are no text are passed over, unless `also` takes
/// one by its first bytes.
pub fn walk(inputs: Vec<Input>, also: fn(&[u8]) -> bool) -> impl Iterator<Item = Found> + Send {
    inputs.into_iter().flat_map(move |input| {
        let folder = match &input.place {
            Place::Path(path) if path.is_dir() => Some(path.clone()),
            _ => None,
        };
        let found: Box<dyn Iterator<Item = Found> + Send> = match folder {
            None => Box::new(std::iter::once(Found::Input(input))),
            Some(folder) => Box::new(
                walkdir::WalkDir::new(folder)
                    .sort_by_file_name()
                    .into_iter()
                    .filter_map(move |entry| file(entry, input.label.as_deref(), also)),
            ),
        };
        found
    })
}

fn file(
    entry: walkdir::Result<walkdir::DirEntry>,
    label: Option<&str>,
    also: fn(&[u8]) -> bool,
) -> Option<Found> {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => return Some(Found::Failed(error.to_string())),
    };
    let kind = entry.file_type();
    let path = entry.path();
    if kind.is_dir() {
        return None;
    }
    if !kind.is_file() {
        let what = if kind.is_symlink() {
            "a link"
        } else {
            "no file"
        };
        return Some(Found::Skipped(format!(
            "{}: skipped, it is {what}",
            path.display()
        )));
    }
    Some(match head(path).map(|head| is_text(&head) || also(&head)) {
        Ok(true) => Found::Input(Input {
            label: label.map(str::to_owned),
            place: Place::Path(path.to_owned()),
        }),
        Ok(false) => Found::Skipped(format!("{}: skipped, it is no text", path.display())),
        Err(error) => Found::Failed(format!("{}: {error}", path.display())),
    })
}

/// The first bytes of a file.
fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    File::open(path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Whether a file begins as text does: without zero bytes, unless it is UTF-16.
fn is_text(head: &[u8]) -> bool {
    let zeros = |odd: usize| {
        head.iter()
            .skip(odd)
            .step_by(2)
            .filter(|&&byte| byte == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    // text of the West has a zero in each unit, nearly
    even + odd == 0 || marked || even.min(odd) == 0 && even.max(odd) * 10 >= head.len() / 2 * 9
}

/// What the workers share.
struct Shared<I, O> {
    state: Mutex<State<I, O>>,
    changed: Condvar,
}

struct State<I, O> {
    inputs: I,
    /// How many inputs were taken, and how many outputs were handed on.
    taken: usize,
    handed_on: usize,
    finished: BTreeMap<usize, O>,
    /// Workers that still run.
    workers: usize,
    stopped: bool,
}

impl<I, O> Shared<I, O> {
    fn lock(&self) -> MutexGuard<'_, State<I, O>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does `work` for each of `inputs` on all cores and hands the outputs to `take` in the order of the inputs, until
/// `take` says no.
pub fn in_order<T, O: Send>(
    inputs: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> O + Sync,
    mut take: impl FnMut(O) -> bool,
) {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let shared = Shared {
        state: Mutex::new(State {
            inputs,
            taken: 0,
            handed_on: 0,
            finished: BTreeMap::new(),
            workers,
            stopped: false,
        }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let leaving = Leaving(&shared);
                loop {
                    let mut state = shared.lock();
                    while !state.stopped && state.taken - state.handed_on >= AHEAD * workers {
                        state = shared
                            .changed
                            .wait(state)
                            .unwrap_or_else(PoisonError::into_inner);
                    }
                    if state.stopped {
                        break;
                    }
                    let Some(input) = state.inputs.next() else {
                        break;
                    };
                    let index = state.taken;
                    state.taken += 1;
                    drop(state);
                    let output = work(input);
                    shared.lock().finished.insert(index, output);
                    shared.changed.notify_all();
                }
                drop(leaving);
            });
        }
        loop {
            let mut state = shared.lock();
            let next = state.handed_on;
            let Some(output) = state.finished.remove(&next) else {
                if state.workers == 0 {
                    break;
                }
                drop(
                    shared
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner),
                );
                continue;
            };
            state.handed_on += 1;
            drop(state);
            shared.changed.notify_all();
            if !take(output) {
                shared.lock().stopped = true;
                shared.changed.notify_all();
                break;
            }
        }
    });
}

/// Says that a worker is done, also where it panicked: the others must not wait for it.
struct Leaving<'s, I, O>(&'s Shared<I, O>);

impl<I, O> Drop for Leaving<'_, I, O> {
    fn drop(&mut self) {
        self.0.lock().workers -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn outputs_come_in_order_and_few_are_held() {
        let (begun, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut seen = Vec::new();
        in_order(
            0..500usize,
            |input| {
                begun.fetch_add(1, Ordering::SeqCst);
                if input % 7 == 0 {
                    thread::sleep(Duration::from_micros(300));
                }
                input
            },
            |output| {
                let held = begun.load(Ordering::SeqCst) - seen.len();
                most.fetch_max(held, Ordering::SeqCst);
                seen.push(output);
                true
            },
        );
        assert_eq!(seen, (0..500).collect::<Vec<_>>());
        let workers = thread::available_parallelism().unwrap().get();
        assert!(most.into_inner() <= AHEAD * workers + 1);
    }

    #[test]
    fn a_no_ends_it() {
        let mut seen = 0;
        in_order(
            0..1_000_000,
            |input| input,
            |_| {
                seen += 1;
                seen < 10
            },
        );
        assert_eq!(seen, 10);
    }

    #[test]
    fn text_is_told_from_other_bytes() {
        let wide: Vec<u8> = "READ: bw=1MiB/s"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        for (bytes, text) in [
            (&b"caf\xe9"[..], true),
            (b"", true),
            (&wide, true),
            (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0", false),
            (b"some text and then\0", false),
        ] {
            assert_eq!(is_text(bytes), text, "{bytes:?}");
        }
    }
}
