//! The name of the output, with a place for the number of the frame.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A file name, split at the number of the frame.
#[derive(Debug)]
pub(super) struct Pattern {
    before: String,
    /// The number of digits, or `None` for a single file.
    digits: Option<usize>,
    after: String,
}

impl Pattern {
    /// Splits a name at `%d` or, for example, `%04d`.
    ///
    /// # Errors
    /// The name is not Unicode.
    pub fn new(out: &Path) -> Result<Self> {
        const MOST_DIGITS: usize = 9;
        let text = out.to_str().with_context(|| format!("--out {}: the name is not Unicode", out.display()))?;
        let split = text.split_once('%').and_then(|(before, rest)| {
            let (digits, after) = rest.split_once('d')?;
            let digits = if digits.is_empty() { 1 } else { digits.parse().ok().filter(|&n| n <= MOST_DIGITS)? };
            Some(Self { before: before.to_owned(), digits: Some(digits), after: after.to_owned() })
        });
        Ok(split.unwrap_or_else(|| Self { before: text.to_owned(), digits: None, after: String::new() }))
    }

    /// Returns whether each frame has its own name.
    pub fn is_numbered(&self) -> bool {
        self.digits.is_some()
    }

    /// Returns the name for a frame.
    pub fn path(&self, frame: u32) -> PathBuf {
        match self.digits {
            None => PathBuf::from(&self.before),
            Some(digits) => format!("{}{frame:0digits$}{}", self.before, self.after).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_numbered() {
        let path = |out: &str, frame| Pattern::new(Path::new(out)).unwrap().path(frame);
        assert_eq!(path("out/fox_%04d.png", 7), Path::new("out/fox_0007.png"));
        assert_eq!(path("a%d.jpg", 12), Path::new("a12.jpg"));
        assert_eq!(path("a.png", 1), Path::new("a.png"));
        // A percent sign alone stands for itself.
        assert_eq!(path("100%.png", 1), Path::new("100%.png"));
    }
}
