//! Proves by content hashes, in `shaders/spirv/manifest.txt`, that each checked-in `.spv` matches its current source.
//!
//! The file has one line per shader: its file name, the SHA-256 of the compiler's input (source, includes, options) and
//! the SHA-256 of its output. Comparing them needs no compiler. `build.rs` uses this module to stop a build, and
//! `tests/repository/spirv.rs` includes it to test that. `refresh.rs` writes the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::sources::ShaderSource;

/// The manifest's name inside the SPIR-V folder.
pub const MANIFEST_FILE: &str = "manifest.txt";

/// The file that sets the compiler's options. Its text is hashed with the sources, so the hash always covers the
/// options.
const COMPILER_CODE: &str = include_str!("compile.rs");

/// The problems found, by file name.
pub type Findings = BTreeMap<String, &'static str>;

/// The hashes of one shader, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub source_sha256: String,
    pub spirv_sha256: String,
}

/// The hashes of all shaders, by file name (such as `skin.comp`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    pub records: BTreeMap<String, Record>,
}

impl Record {
    /// Records that `source` compiles to `spirv`.
    pub fn new(source: &ShaderSource, spirv: &[u8]) -> Self {
        Self { source_sha256: source_sha256(source), spirv_sha256: sha256(spirv) }
    }
}

impl Manifest {
    /// Reads the manifest in `spirv_folder`. A missing file gives an empty manifest.
    pub fn read(spirv_folder: &Path) -> Result<Self, String> {
        let path = spirv_folder.join(MANIFEST_FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map_err(|cause| format!("{}:{cause}", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut records = BTreeMap::new();
        for (line_number, line) in (1..).zip(text.lines()) {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let mut words = line.split_whitespace().map(str::to_owned);
            let (Some(file_name), Some(source_sha256), Some(spirv_sha256), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                return Err(format!("{line_number}: expected a shader and two hashes, found \"{line}\""));
            };
            records.insert(file_name, Record { source_sha256, spirv_sha256 });
        }
        Ok(Self { records })
    }

    /// Lists every mismatch between `sources`, this manifest and the `.spv` files. The list is empty if all match.
    pub fn findings(&self, sources: &[ShaderSource], spirv_folder: &Path) -> Result<Findings, String> {
        let mut findings = Findings::new();
        for source in sources {
            let finding = self.finding(source, &spirv_path(spirv_folder, &source.file_name))?;
            findings.extend(finding.map(|finding| (source.file_name.clone(), finding)));
        }
        for file_name in self.records.keys().filter(|name| !sources.iter().any(|source| source.file_name == **name)) {
            findings.insert(file_name.clone(), "is in the manifest, but its source is gone");
        }
        for file_name in superfluous_spirv(sources, spirv_folder)? {
            findings.insert(format!("spirv/{file_name}"), "belongs to no shader");
        }
        Ok(findings)
    }

    fn finding(&self, source: &ShaderSource, spirv_path: &Path) -> Result<Option<&'static str>, String> {
        let Some(record) = self.records.get(&source.file_name) else { return Ok(Some("has not been compiled yet")) };
        let spirv = match fs::read(spirv_path) {
            Ok(spirv) => spirv,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Some("has no .spv")),
            Err(error) => return Err(format!("{}: {error}", spirv_path.display())),
        };
        let present = Record::new(source, &spirv);
        Ok(if present.source_sha256 != record.source_sha256 {
            Some("has changed since it was compiled (itself, an include, or the compile options)")
        } else if present.spirv_sha256 != record.spirv_sha256 {
            Some("has a .spv other than the one in the manifest")
        } else {
            None
        })
    }
}

/// Returns the path of a shader's checked-in SPIR-V.
pub fn spirv_path(spirv_folder: &Path, shader_file_name: &str) -> PathBuf {
    spirv_folder.join(format!("{shader_file_name}.spv"))
}

/// Returns the names of the `.spv` files in `spirv_folder` that belong to none of `sources`.
pub fn superfluous_spirv(sources: &[ShaderSource], spirv_folder: &Path) -> Result<Vec<String>, String> {
    let in_folder = |error: std::io::Error| format!("{}: {error}", spirv_folder.display());
    let mut superfluous = Vec::new();
    if spirv_folder.exists() {
        for entry in fs::read_dir(spirv_folder).map_err(in_folder)? {
            let file_name = entry.map_err(in_folder)?.file_name().to_string_lossy().into_owned();
            if let Some(shader) = file_name.strip_suffix(".spv")
                && !sources.iter().any(|source| source.file_name == shader)
            {
                superfluous.push(file_name);
            }
        }
    }
    superfluous.sort();
    Ok(superfluous)
}

/// Returns the message with which a plain build stops.
pub fn out_of_date_message(findings: &Findings) -> String {
    let mut message = String::from("the SPIR-V in shaders/spirv does not belong to the sources in shaders:\n");
    for (file_name, finding) in findings {
        message += &format!("    {file_name} {finding}\n");
    }
    message += "compile the shaders in every build: cargo build --features shaderc\n";
    message += "or refresh the checked-in files: THRONG_SPIRV=refresh cargo check --features shaderc";
    message
}

fn source_sha256(source: &ShaderSource) -> String {
    let mut hasher = Sha256::new();
    let options = [("", COMPILER_CODE.replace("\r\n", "\n"))];
    let options = options.iter().map(|(name, text)| (*name, text.as_str()));
    let entry = std::iter::once((source.file_name.as_str(), source.text.as_str()));
    let includes = source.includes.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    for (name, text) in options.chain(entry).chain(includes) {
        // Each text is preceded by its length, so that different lists of files never give the same bytes.
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(name);
        hasher.update(text);
    }
    hexadecimal(&hasher.finalize())
}

fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
