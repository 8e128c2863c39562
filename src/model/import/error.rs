//! Why a file was not imported, and what was repaired in one that was.
//!
//! Every message names the file, the place in its JSON, what was found and what was expected, and, where it helps,
//! what to do: `fox.glb: skins[0].inverseBindMatrices (accessors[12]): 22 matrices for 24 joints`. The readers of this
//! folder do not know the file's name: they return a [`Fault`], and [`super::load`] puts the name in front. What a
//! message quotes from the file is shortened and made fit for a terminal here, once for all readers.

use std::collections::HashSet;
use std::fmt::Display;
use std::io;

use crate::model::text::{printable, shortened};

/// Why a file was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The operating system refuses to hand out the file.
    #[error("{file}: cannot be read")]
    Read {
        /// As given by the caller.
        file: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Neither a GLB container nor JSON text.
    #[error("{file}: {problem}")]
    NotGltf {
        /// The file's name.
        file: String,
        /// Found and expected.
        problem: String,
    },
    /// The text is no JSON.
    #[error("{file}: the JSON part is malformed")]
    Json {
        /// The file's name.
        file: String,
        /// Line and column.
        #[source]
        source: serde_json::Error,
    },
    /// The file contradicts the specification, or itself.
    #[error("{file}: {at}: {problem}")]
    Content {
        /// The file's name.
        file: String,
        /// JSON path.
        at: String,
        /// Found and expected.
        problem: String,
    },
    /// The file is sound but needs something that is not implemented here.
    #[error("{file}: {at}: {problem}")]
    Unsupported {
        /// The file's name.
        file: String,
        /// JSON path.
        at: String,
        /// What it needs, and what to do about it.
        problem: String,
    },
}

/// An [`ImportError`] that does not know its file yet.
#[derive(Debug)]
pub(super) enum Fault {
    NotGltf { problem: String },
    Json(serde_json::Error),
    Content { at: String, problem: String },
    Unsupported { at: String, problem: String },
}

/// What every reader of this folder returns.
pub(super) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// The file breaks a rule at the JSON path `at`.
    pub fn content(at: impl Display, problem: impl Display) -> Self {
        Self::Content { at: sentence(&at.to_string()), problem: sentence(&problem.to_string()) }
    }

    /// The file needs more than there is, at the JSON path `at`.
    pub fn unsupported(at: impl Display, problem: impl Display) -> Self {
        Self::Unsupported { at: sentence(&at.to_string()), problem: sentence(&problem.to_string()) }
    }

    /// An index that points at nothing; `what` is the list's name in glTF.
    pub fn dangling(at: impl Display, what: &str, index: usize, count: usize) -> Self {
        Self::content(at, format_args!("{what}[{index}] does not exist; the file has {count}"))
    }

    /// Puts the file's name in front.
    pub fn in_file(self, file: &str) -> ImportError {
        let file = sentence(file);
        match self {
            Self::NotGltf { problem } => ImportError::NotGltf { file, problem: sentence(&problem) },
            Self::Json(source) => ImportError::Json { file, source },
            Self::Content { at, problem } => ImportError::Content { file, at, problem },
            Self::Unsupported { at, problem } => ImportError::Unsupported { file, at, problem },
        }
    }
}

/// Messages repeat what the file says, which may be long and is made by strangers.
fn sentence(text: &str) -> String {
    /// Four lines of a terminal.
    const MAX_CHARS: usize = 400;
    shortened(&printable(text), MAX_CHARS)
}

/// More warnings than this are counted rather than kept: a hostile file must not fill the terminal.
const MAX_WARNINGS: usize = 100;

/// What was repaired, ignored or left out; each sentence once.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    sentences: Vec<String>,
    seen: HashSet<String>,
    left_out_count: usize,
}

impl Warnings {
    /// Notes `problem` at the JSON path `at`.
    pub fn add(&mut self, at: impl Display, problem: impl Display) {
        self.add_sentence(sentence(&format!("{at}: {problem}")));
    }

    fn add_sentence(&mut self, sentence: String) {
        if self.seen.contains(&sentence) {
            return;
        }
        if self.sentences.len() == MAX_WARNINGS {
            self.left_out_count += 1;
            return;
        }
        self.seen.insert(sentence.clone());
        self.sentences.push(sentence);
    }

    /// Adds those that were noted elsewhere meanwhile.
    pub fn append(&mut self, others: Self) {
        for sentence in others.sentences {
            self.add_sentence(sentence);
        }
        self.left_out_count += others.left_out_count;
    }

    /// All of them, in the order in which they were met.
    pub fn into_sentences(mut self) -> Vec<String> {
        if self.left_out_count > 0 {
            self.sentences.push(format!("and {} more", self.left_out_count));
        }
        self.sentences
    }
}
