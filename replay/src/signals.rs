//! Signals, and what they do to a run: the first ends it in order, the second at once.

use std::io;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use fio_parse::cli::NOTHING;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::control::{Control, Stop};
use crate::sandbox::Sandbox;

/// Removes the sandbox when a panic ends the session; the signal thread holds it too.
#[derive(Debug)]
pub struct Cleanup<'a>(pub &'a Sandbox);

impl Drop for Cleanup<'_> {
    fn drop(&mut self) {
        // Does nothing after the orderly end, which reports errors.
        let _ = self.0.remove();
    }
}

/// What a signal acts on.
#[derive(Debug, Default)]
struct State {
    /// One came.
    interrupted: bool,
    /// The run that it ends.
    control: Option<Arc<Control>>,
    /// What a second one removes.
    sandbox: Option<Sandbox>,
}

/// Signals: the first ends the run in order, the second at once.
#[derive(Debug)]
pub struct Interrupts {
    handle: signal_hook::iterator::Handle,
    state: Arc<Mutex<State>>,
}

impl Interrupts {
    /// Begins to watch.
    ///
    /// # Errors
    /// If a handler cannot be set.
    pub fn watch() -> io::Result<Self> {
        // A write beyond RLIMIT_FSIZE is to fail with EFBIG, not to kill the process: that
        // takes a handler, though nobody looks at the flag.
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
        let handle = signals.handle();
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    let mut state = lock(&shared);
                    if std::mem::replace(&mut state.interrupted, true) {
                        // The run does not end, perhaps in a long flush: leave without it.
                        if let Some(sandbox) = &state.sandbox {
                            let _ = sandbox.remove();
                        }
                        process::exit(i32::from(NOTHING));
                    }
                    if let Some(control) = &state.control {
                        control.stop(Stop::Interrupted);
                    }
                }
            })?;
        Ok(Interrupts { handle, state })
    }

    /// Whether one came.
    pub fn interrupted(&self) -> bool {
        lock(&self.state).interrupted
    }

    /// From now on a second signal removes this sandbox.
    pub fn protect(&self, sandbox: &Sandbox) {
        lock(&self.state).sandbox = Some(sandbox.clone());
    }

    /// From now on a signal stops this run; at once, if one came before.
    pub fn guard(&self, control: &Arc<Control>) {
        let mut state = lock(&self.state);
        if state.interrupted {
            control.stop(Stop::Interrupted);
        }
        state.control = Some(Arc::clone(control));
    }

    /// Ends it.
    pub fn close(&self) {
        self.handle.close();
    }
}

/// A panic elsewhere must not keep signals from being obeyed.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
