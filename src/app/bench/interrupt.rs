//! Ctrl-C: the first one ends the measurement after the present frame, and finished rows are reported. The second one
//! ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};

/// The exit code after the second Ctrl-C, as shells report it for a program that the signal ended.
const KILLED_BY_CTRL_C: i32 = 130;

/// Whether the user has pressed Ctrl-C.
#[derive(Debug, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts to listen. A process can do this once.
    pub(super) fn listen() -> Result<Self> {
        let interrupt = Self::default();
        let pressed = Arc::clone(&interrupt.0);
        let on_signal = move || {
            if pressed.swap(true, Ordering::Relaxed) {
                std::process::exit(KILLED_BY_CTRL_C);
            }
            eprintln!("interrupted: finished rows are reported; press Ctrl-C again to end at once");
        };
        ctrlc::set_handler(on_signal).context("cannot listen to Ctrl-C")?;
        Ok(interrupt)
    }

    /// Checks whether the measurement may go on.
    pub(super) fn check(&self) -> Result<()> {
        ensure!(!self.0.load(Ordering::Relaxed), "interrupted");
        Ok(())
    }
}
