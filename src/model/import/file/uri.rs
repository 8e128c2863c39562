//! From a URI in a glTF file to its bytes, which may only come from the URI itself or from regular files in or below
//! the model's folder.
//!
//! A model may come from a stranger. So nothing is read from a URI that names a scheme, an absolute path, a folder
//! above, or a symbolic link that leads out of the folder. For a buffer this is an error. Exporters often write such URIs of
//! images, though, where the image lies beside the model: [`Files::fetch_by_name`] looks for it there.
//! Backslashes are read as slashes on every system, because some exporters write them and a file should mean the same
//! everywhere. Two cases go undetected: a hard link looks like any file of the folder, and an attacker who can replace
//! folders by links while a model is read can also write the bytes there.
//!
//! Source: glTF 2.0, 2.8 (URIs), RFC 3986 (percent-encoding), RFC 2397 (data URIs).

use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use super::container::read_regular_file;
use crate::model::import::limits::MAX_FILE_BYTES;

/// Encoders disagree about padding and the unused bits of the last digit, neither of which changes the bytes.
const LENIENT_BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The largest number of folders in which an image is looked for.
const MOST_FOLDERS: usize = 16;

/// The reason why a URI has no bytes for us.
#[derive(Debug, PartialEq)]
pub enum UriFault {
    /// The URI names something that a model must not read.
    Refused(String),
    /// The URI is allowed, but reading it failed. This is an error for buffers, and a warning for images.
    Unreadable(String),
}

/// The files that a model refers to, each read once.
#[derive(Debug)]
pub struct Files {
    /// The model's folder; `None` for a model in memory.
    folder: Option<PathBuf>,
    /// Keyed by canonical path, so that a file with many names is read once.
    read: HashMap<PathBuf, Arc<Vec<u8>>>,
    bytes_read: u64,
}

impl Files {
    /// The files in the folder of `model_path`, a file of `model_bytes` bytes.
    pub fn next_to(model_path: &Path, model_bytes: usize) -> Self {
        let folder = model_path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self { folder: Some(folder.to_owned()), ..Self::none(model_bytes) }
    }

    /// No files: only data URIs can be fetched.
    pub fn none(model_bytes: usize) -> Self {
        Self { folder: None, read: HashMap::new(), bytes_read: model_bytes as u64 }
    }

    /// Returns the size of the model file and of all files read for it so far. The limits of a model depend on it.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<_> = self.read.keys().cloned().collect();
        paths.sort();
        paths
    }

    pub fn fetch(&mut self, uri: &str) -> Result<Arc<Vec<u8>>, UriFault> {
        match uri.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("data:") => decode_data_uri(&uri[5..]).map(Arc::new),
            _ => self.read_file(uri),
        }
    }

    /// Returns the bytes of the file with the same name as the one that a refused `uri` names, from the model's folder or from
    /// one of the folders of `others`, which are other URIs of the model. Also returns its path.
    pub fn fetch_by_name<'u>(
        &mut self,
        uri: &str,
        others: impl Iterator<Item = &'u str>,
    ) -> Option<(Arc<Vec<u8>>, String)> {
        let path = uri.split(['?', '#']).next()?;
        let name = path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty())?;
        let folder_of = |uri: &str| Some(uri.rsplit_once('/')?.0.to_owned());
        let is_path = |uri: &&str| confined_path(uri).is_ok();
        let folders: BTreeSet<String> = others.filter(is_path).filter_map(folder_of).take(MOST_FOLDERS).collect();
        let beside = std::iter::once(name.to_owned()).chain(folders.iter().map(|folder| format!("{folder}/{name}")));
        beside.into_iter().find_map(|path| Some((self.read_file(&path).ok()?, path)))
    }

    fn read_file(&mut self, uri: &str) -> Result<Arc<Vec<u8>>, UriFault> {
        let relative = confined_path(uri)?;
        let Some(folder) = &self.folder else {
            return Err(UriFault::Refused(format!("{uri:?}: this model must not refer to other files")));
        };
        let unreadable = |error: std::io::Error| UriFault::Unreadable(format!("{uri:?} cannot be read: {error}"));
        let folder = folder.canonicalize().map_err(unreadable)?;
        let path = folder.join(relative).canonicalize().map_err(unreadable)?;
        if !path.starts_with(&folder) {
            return Err(UriFault::Refused(format!("{uri:?} leads out of the model's folder through a symbolic link")));
        }
        if let Some(bytes) = self.read.get(&path) {
            return Ok(Arc::clone(bytes));
        }
        let bytes_left = MAX_FILE_BYTES.saturating_sub(self.bytes_read);
        let bytes = Arc::new(read_regular_file(&path, bytes_left).map_err(unreadable)?);
        self.bytes_read = self.bytes_read.saturating_add(bytes.len() as u64);
        self.read.insert(path, Arc::clone(&bytes));
        Ok(bytes)
    }
}

/// Percent-decodes a relative reference. Refuses one whose spelling leads out of the folder.
fn confined_path(uri: &str) -> Result<PathBuf, UriFault> {
    let refused = |why: &str| Err(UriFault::Refused(format!("{uri:?} {why}")));
    if let Some((scheme, _)) = uri.split_once(':')
        && !scheme.is_empty()
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    {
        return refused("names a scheme or drive; only data URIs and relative paths are read");
    }
    let Ok(decoded) = percent_decode_str(uri).decode_utf8() else {
        return Err(UriFault::Unreadable(format!("{uri:?} is not UTF-8 once percent-decoded")));
    };
    if decoded.contains('\0') {
        return refused("contains a zero byte, which file names cannot contain");
    }
    let path = PathBuf::from(decoded.replace('\\', "/"));
    let mut depth = 0_i64;
    for component in path.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => {
                return refused("is an absolute path; only paths below the model's folder are read");
            }
        }
        if depth < 0 {
            return refused("leads out of the model's folder");
        }
    }
    Ok(path)
}

fn decode_data_uri(rest: &str) -> Result<Vec<u8>, UriFault> {
    let Some((head, body)) = rest.split_once(',') else {
        return Err(UriFault::Unreadable("a data URI without a comma".to_owned()));
    };
    let bytes: Vec<u8> = percent_decode_str(body).collect();
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return Ok(bytes);
    }
    LENIENT_BASE64
        .decode(bytes)
        .map_err(|error| UriFault::Unreadable(format!("a data URI whose base64 is malformed: {error}")))
}
