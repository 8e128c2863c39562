//! From the problems that readers find to the errors and warnings of an import.
//!
//! Every message names the file, the JSON path, the value found and the value expected:
//! `fox.glb: skins[0].inverseBindMatrices (accessors[12]): 22 matrices for 24 joints`. If it helps, it says how to fix
//! the file. The readers do not know the file's name: they return a [`Fault`], and [`super::load`] adds the name. All
//! text is shortened and made safe for a terminal here, because messages quote the file.
//!
//! A fault costs the smallest part that has it ([`Warnings::leave_out`]): a channel, an attribute, a primitive. It is an error
//! of the whole file only if nothing is left to draw or to play.

use std::fmt::{self, Display};
use std::io;

use crate::model::text::{printable, shortened};

/// The reason why a file could not be imported.
#[derive(Debug)]
pub struct ImportError {
    /// The file's name; its path if the operating system cannot read it.
    pub file: String,
    pub fault: Fault,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.fault)
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.fault.source()
    }
}

/// A problem of a file, with the value found and the value expected.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("cannot be read")]
    Read(#[from] io::Error),
    /// The file is neither GLB nor JSON, or its GLB structure is broken. The text quotes nothing of the file.
    #[error("{0}")]
    NotGltf(String),
    /// The text is not JSON. The parser's error has line and column.
    #[error("the JSON part is malformed")]
    Json(#[from] serde_json::Error),
    /// The file violates the specification, or contradicts itself. The text begins with the JSON path.
    #[error("{0}")]
    Content(String),
    /// The file is valid, but needs a feature that is not implemented, or exceeds a limit. The text begins with the JSON path.
    #[error("{0}")]
    Unsupported(String),
}

pub(super) type Result<T, E = Fault> = std::result::Result<T, E>;

impl Fault {
    /// Reports a violation at the JSON path `at`.
    pub(super) fn content(at: impl Display, problem: impl Display) -> Self {
        Self::Content(format!("{}: {}", sentence(at), sentence(problem)))
    }

    /// Reports an unsupported feature or an exceeded limit at the JSON path `at`.
    pub(super) fn unsupported(at: impl Display, problem: impl Display) -> Self {
        Self::Unsupported(format!("{}: {}", sentence(at), sentence(problem)))
    }

    pub(super) fn in_file(self, file: &str) -> ImportError {
        ImportError { file: sentence(file), fault: self }
    }
}

/// Returns an element of a list whose name in glTF is `what`. `at` is the JSON path that refers to it.
pub(super) fn look_up<'l, T>(list: &'l [T], what: &str, index: usize, at: impl Display) -> Result<&'l T> {
    let missing = || format!("{what}[{index}] does not exist; the file has {}", list.len());
    list.get(index).ok_or_else(|| Fault::content(at, missing()))
}

/// Shortens text that may quote the file, and escapes characters that could control a terminal.
fn sentence(text: impl Display) -> String {
    /// About four lines of a terminal.
    const MAX_CHARS: usize = 400;
    shortened(&printable(&text.to_string()), MAX_CHARS)
}

/// The largest number of warnings to keep. Further ones are counted, so that a hostile file cannot fill the terminal.
const MAX_WARNINGS: usize = 100;

/// The repairs and omissions of an import, each sentence once.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    sentences: Vec<String>,
    left_out_count: usize,
    /// The first fault that cost a part.
    fault: Option<Fault>,
}

impl Warnings {
    /// Adds a warning about `problem` at the JSON path `at`.
    pub fn add(&mut self, at: impl Display, problem: impl Display) {
        self.add_sentence(sentence(format_args!("{at}: {problem}")));
    }

    pub fn add_count(&mut self, at: impl Display, count: usize, problem: &str) {
        if count > 0 {
            self.add(at, format_args!("{count} {problem}"));
        }
    }

    fn add_sentence(&mut self, sentence: String) {
        match self.sentences.len() {
            _ if self.sentences.contains(&sentence) => {}
            MAX_WARNINGS => self.left_out_count += 1,
            _ => self.sentences.push(sentence),
        }
    }

    /// Returns a part of the file, or leaves it out with a warning if broken. Limits and unsupported features stay errors.
    pub fn leave_out<T>(&mut self, part: &str, read: Result<T>) -> Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Fault::Content(problem)) => {
                self.add_sentence(sentence(format_args!("{problem}; the {part} is left out")));
                self.fault.get_or_insert(Fault::Content(problem));
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Returns the first fault that cost a part, for a file of which nothing is left.
    pub fn take_fault(&mut self) -> Result<()> {
        self.fault.take().map_or(Ok(()), Err)
    }

    pub fn append(&mut self, others: Self) {
        self.fault = self.fault.take().or(others.fault);
        for sentence in others.sentences {
            self.add_sentence(sentence);
        }
        self.left_out_count += others.left_out_count;
    }

    pub fn into_sentences(mut self) -> Vec<String> {
        if self.left_out_count > 0 {
            self.sentences.push(format!("and {} more", self.left_out_count));
        }
        self.sentences
    }
}
