//! `--watch`: notices that files have changed.
//!
//! In: the paths of the files, and a look at their times now and then. Out: whether to load them again. Files without a
//! path, such as the bundled character, never change.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The time between two looks.
pub const PERIOD: Duration = Duration::from_millis(500);

/// The state of a file that tells whether it has changed: its time and its length.
type Stamp = Option<(SystemTime, u64)>;

/// The watched files.
#[derive(Debug, Default)]
pub struct Watch {
    files: Vec<(PathBuf, Stamp)>,
    looked: Option<Instant>,
    /// Whether a file had changed at the last look. A file that is still being written changes again.
    is_changing: bool,
}

impl Watch {
    /// Returns whether a frame should look at the files: one has changed, or a change may be over.
    pub fn needs_frame(&self, paths: &[PathBuf]) -> bool {
        let same_paths = self.files.iter().map(|(path, _)| path).eq(paths);
        self.is_changing || !same_paths || self.files.iter().any(|(path, known)| stamp(path) != *known)
    }

    /// Looks at the files if the last look is long enough ago. Returns true once a change is over: when a file differs from
    /// the last time, and has stayed the same between two looks.
    pub fn has_changed(&mut self, paths: &[PathBuf], now: Instant) -> bool {
        if self.looked.is_some_and(|looked| now.saturating_duration_since(looked) < PERIOD) {
            return false;
        }
        self.looked = Some(now);
        let files: Vec<_> = paths.iter().map(|path| (path.clone(), stamp(path))).collect();
        let same_paths = self.files.iter().map(|(path, _)| path).eq(paths);
        let differs = same_paths && self.files != files;
        let is_complete = files.iter().all(|(_, stamp)| stamp.is_some());
        self.files = files;
        let is_over = self.is_changing && !differs && is_complete && same_paths;
        self.is_changing = same_paths && !is_over && (self.is_changing || differs);
        is_over
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_once_and_when_it_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.glb");
        let paths = [path.clone()];
        std::fs::write(&path, "1").unwrap();
        let start = Instant::now();
        let mut watch = Watch::default();
        let mut look = |number: u32, paths: &[PathBuf]| watch.has_changed(paths, start + number * PERIOD);
        assert!(!look(0, &paths) && !look(1, &paths));
        std::fs::write(&path, "22").unwrap();
        assert!(!look(2, &paths), "it may still be written");
        std::fs::write(&path, "333").unwrap();
        assert!(!look(3, &paths));
        assert!(look(4, &paths));
        assert!(!look(5, &paths), "only once");
        // Removed and written again, as many programs do.
        std::fs::remove_file(&path).unwrap();
        assert!(!look(6, &paths) && !look(7, &paths));
        std::fs::write(&path, "4444").unwrap();
        assert!(!look(8, &paths) && look(9, &paths));
        // Another file is no change.
        std::fs::write(folder.path().join("other.glb"), "").unwrap();
        let other = [folder.path().join("other.glb")];
        assert!(!look(10, &other) && !look(11, &other));
    }
}
