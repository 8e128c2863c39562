//! Limits that a busy machine does not change: processor time, never the clock's.
//!
//! A process that works too long is ended by the limit that it was started with. One that waits forever takes next to
//! no processor time, which tells it from one that has to wait for its turn.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Makes the system end the process when its threads have taken this much processor time.
pub fn limit(command: &mut Command, seconds: u64) {
    #[cfg(unix)]
    {
        let set_limit = move || {
            let limit = libc::rlimit { rlim_cur: seconds, rlim_max: seconds };
            // SAFETY: `limit` is alive during the call.
            if unsafe { libc::setrlimit(libc::RLIMIT_CPU, &raw const limit) } == 0 {
                return Ok(());
            }
            Err(std::io::Error::last_os_error())
        };
        // SAFETY: between fork and exec the closure makes one system call and does not allocate.
        unsafe { std::os::unix::process::CommandExt::pre_exec(command, set_limit) };
    }
    #[cfg(not(unix))]
    let _ = (command, seconds);
}

/// Waits for a message that depends on child processes. Returns `None` if the channel is closed, or if the children have
/// taken next to no processor time for a minute: then they wait for something that does not happen.
///
/// Next to none, not none: a viewer that waits for a key may look at its files twice a second.
pub fn receive<T>(receiver: &Receiver<T>) -> Option<T> {
    const SECONDS: u32 = 60;
    // Half a percent of a minute. A tick is a hundredth of a second on Linux.
    const MOST_IDLE_TICKS: u64 = 30;
    let (mut ticks, mut seconds, mut used) = (ticks_of_children(), 0, 0);
    loop {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(message) => return Some(message),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                // Other systems than Linux have no numbers, so nothing counts as idle there.
                let now = ticks_of_children();
                let (Some(before), Some(after)) = (ticks, now) else { continue };
                // The sum falls when a child ends.
                (ticks, seconds, used) = (now, seconds + 1, used + before.abs_diff(after));
                if seconds == SECONDS {
                    if used < MOST_IDLE_TICKS {
                        return None;
                    }
                    (seconds, used) = (0, 0);
                }
            }
        }
    }
}

/// Returns the processor time that a process has taken, in ticks of a hundredth of a second.
#[cfg(target_os = "linux")]
pub fn ticks_of(process: u32) -> u64 {
    stat(&PathBuf::from(format!("/proc/{process}"))).map_or(0, |(_, ticks)| ticks)
}

fn stat(folder: &Path) -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    // The command's name is in parentheses and may contain anything. It is followed by the state, the parent and ten
    // others; then come the times in user mode and in the kernel.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let number = |k: usize| fields.get(k).and_then(|field| field.parse::<u64>().ok());
    Some((number(1)?, number(11)? + number(12)?))
}

fn ticks_of_children() -> Option<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir("/proc").ok()? {
        // Some entries are not processes, and a process may have ended.
        let Some((parent, ticks)) = stat(&entry.ok()?.path()) else { continue };
        if parent == u64::from(std::process::id()) {
            sum += ticks;
        }
    }
    Some(sum)
}
