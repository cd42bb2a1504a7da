//! Signals, and what they do to a run: the first ends it in order, the second at once.

use std::io;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use fio_parse::cli::NOTHING;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::control::Control;
use crate::sandbox::Sandbox;
use crate::talk::say;

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
    /// The first that came.
    interrupted: Option<u8>,
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
                for signal in signals.forever() {
                    let mut state = lock(&shared);
                    let signal = u8::try_from(signal).unwrap_or_default();
                    if state.interrupted.replace(signal).is_some() {
                        // The run does not end, perhaps in a long flush: leave without it.
                        let removed = state.sandbox.as_ref().map(Sandbox::remove);
                        if let Some(Ok(Some(told))) = removed {
                            say(&told);
                        }
                        process::exit(i32::from(NOTHING));
                    }
                    if let Some(control) = &state.control {
                        control.interrupt(signal);
                    }
                }
            })?;
        Ok(Interrupts { handle, state })
    }

    /// Whether one came.
    pub fn interrupted(&self) -> bool {
        lock(&self.state).interrupted.is_some()
    }

    /// From now on a second signal removes this sandbox.
    pub fn protect(&self, sandbox: &Sandbox) {
        lock(&self.state).sandbox = Some(sandbox.clone());
    }

    /// From now on a signal stops this run; at once, if one came before.
    pub fn guard(&self, control: &Arc<Control>) {
        let mut state = lock(&self.state);
        if let Some(signal) = state.interrupted {
            control.interrupt(signal);
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
