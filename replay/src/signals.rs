//! Signals, and what they do to a run: the first ends it in order, the second at once.

use std::io;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use fio_parse::cli::NOTHING;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
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

/// Signals: the first ends the run in order, the second at once.
#[derive(Debug)]
pub struct Interrupts {
    handle: signal_hook::iterator::Handle,
    state: Arc<Mutex<(bool, Option<Arc<Control>>)>>,
}

impl Interrupts {
    /// Begins to watch.
    ///
    /// # Errors
    /// If a handler cannot be set.
    pub fn watch(sandbox: &Sandbox) -> io::Result<Self> {
        // A write beyond RLIMIT_FSIZE is to fail with EFBIG, not to kill the process: that
        // takes a handler, though nobody looks at the flag.
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let state = Arc::new(Mutex::new((false, None::<Arc<Control>>)));
        let (shared, sandbox) = (Arc::clone(&state), sandbox.clone());
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    if std::mem::replace(&mut state.0, true) {
                        // The run does not end, perhaps in a long flush: leave without it.
                        let _ = sandbox.remove();
                        process::exit(i32::from(NOTHING));
                    }
                    if let Some(control) = &state.1 {
                        control.stop(Stop::Interrupted);
                    }
                }
            })?;
        Ok(Interrupts { handle, state })
    }

    /// From now on a signal stops this run; at once, if one came before.
    pub fn guard(&self, control: &Arc<Control>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 {
            control.stop(Stop::Interrupted);
        }
        state.1 = Some(Arc::clone(control));
    }

    /// Ends it.
    pub fn close(&self) {
        self.handle.close();
    }
}
