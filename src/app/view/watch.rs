//! `--watch`: notices that files have changed.
//!
//! In: a look at the files now and then. Out: the new state of the files once a change is over, when two looks have found the
//! same. Files without a path, such as the bundled character, never change.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The time between two looks.
pub const PERIOD: Duration = Duration::from_millis(500);

/// Files that are looked at. A look finds their state, a `T`.
#[derive(Debug)]
pub struct Watched<T> {
    looked: Option<Instant>,
    /// The state at the last look.
    seen: Option<T>,
    /// The state at the first look, or after the last change.
    known: Option<T>,
}

impl<T> Default for Watched<T> {
    fn default() -> Self {
        Self { looked: None, seen: None, known: None }
    }
}

impl<T: Clone + PartialEq> Watched<T> {
    /// Looks at the files if the last look is long enough ago. Returns their state once a change is over.
    pub fn changed(&mut self, now: Instant, look: impl FnOnce() -> T) -> Option<T> {
        if self.looked.is_some_and(|looked| now.saturating_duration_since(looked) < PERIOD) {
            return None;
        }
        self.looked = Some(now);
        let state = look();
        let is_over = self.seen.as_ref() == Some(&state);
        self.seen = Some(state.clone());
        let known = self.known.get_or_insert_with(|| state.clone());
        if !is_over || *known == state {
            return None;
        }
        known.clone_from(&state);
        Some(state)
    }
}

/// The time and the length of each file, or `None` if one is missing: it may be about to be written again.
type Stamps = Option<Vec<(SystemTime, u64)>>;

#[derive(Debug, Default)]
pub struct ModelFiles {
    paths: Vec<PathBuf>,
    stamps: Watched<Stamps>,
}

impl ModelFiles {
    /// Looks at the files if the last look is long enough ago. Returns true once a change is over. Other paths are no change.
    pub fn have_changed(&mut self, paths: &[PathBuf], now: Instant) -> bool {
        if self.paths != paths {
            *self = Self { paths: paths.to_vec(), stamps: Watched::default() };
        }
        self.stamps.changed(now, || stamps(paths)).flatten().is_some()
    }
}

fn stamps(paths: &[PathBuf]) -> Stamps {
    let stamp = |path: &Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    paths.iter().map(|path| stamp(path)).collect()
}
