//! Standard output, progress bars and files. Files are checked before the work starts, and appear only when complete.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tempfile::TempPath;

use crate::cli::WrongUsage;

/// Prints text to standard output. A reader that has gone away (`throng inspect … | head`) is no error.
pub(super) fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    ignore_closed_pipe(out.write_all(text.as_ref()).and_then(|()| out.flush()))
}

/// Prints a value as JSON, with line breaks if `pretty`. A reader that has gone away is no error.
pub(super) fn print_json(value: &impl Serialize, pretty: bool) -> Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = match pretty {
        true => serde_json::to_writer_pretty(&mut out, value),
        false => serde_json::to_writer(&mut out, value),
    };
    ignore_closed_pipe(written.map_err(std::io::Error::from).and_then(|()| writeln!(out)).and_then(|()| out.flush()))
}

fn ignore_closed_pipe(result: std::io::Result<()>) -> Result<()> {
    result
        .or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
        .context("cannot write to standard output")
}

/// Shows a progress bar on a terminal, with the remaining time, if there are at least two steps.
pub(super) fn progress_bar(steps: u64, template: &str) -> ProgressBar {
    if steps < 2 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(steps).with_style(style)
}

/// Prints text to standard error, where it does not mix with results on standard output.
pub(super) fn print_aside(text: &str) -> Result<()> {
    std::io::stderr().lock().write_all(text.as_bytes()).context("cannot write to standard error")
}

pub(super) fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the start of the message for a file that cannot be written.
pub(super) fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Writes a file through a temporary one, so that it never exists half written. `-` is standard output.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_standard_output(path) {
        return print(bytes);
    }
    let failed = || cannot_write(path);
    // A device file or a pipe (`--out /dev/stdout`) cannot be replaced.
    if is_special(path) || is_awaited(path) {
        return File::options().write(true).open(path).and_then(|mut file| file.write_all(bytes)).with_context(failed);
    }
    let (mut file, draft) = new_draft(path)?;
    file.write_all(bytes).with_context(failed)?;
    draft.persist(path).with_context(failed)
}

/// Creates a file with a temporary name in the folder of `path`. Dropping the name removes the file; `persist` renames it.
pub(super) fn new_draft(path: &Path) -> Result<(File, TempPath)> {
    // `make_in` gives the file the permissions of any new one, where `tempfile_in` would hide it from other users.
    let draft = tempfile::Builder::new().make_in(folder_of(path), |path| File::create_new(path));
    Ok(draft.with_context(|| cannot_write(path))?.into_parts())
}

/// Writes a file under the first name that is free. `name` returns the names in order, from number 0. Returns the chosen one.
pub(super) fn write_new_file(bytes: &[u8], name: impl Fn(u32) -> PathBuf) -> Result<PathBuf> {
    const MOST_NAMES: u32 = 100_000;
    let (mut file, mut draft) = new_draft(&name(0))?;
    file.write_all(bytes).with_context(|| cannot_write(&name(0)))?;
    for path in (0..MOST_NAMES).map(&name) {
        // Atomic, so that two programs never choose the same name.
        match draft.persist_noclobber(&path) {
            Ok(()) => return Ok(path),
            Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => draft = failed.path,
            Err(failed) => return Err(failed.error).with_context(|| cannot_write(&path)),
        }
    }
    bail!("{} and {MOST_NAMES} more names are taken", name(0).display())
}

pub(super) fn check_folder_of(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    let (failed, shown) = (cannot_write(path), folder.display());
    ensure!(!folder.is_file(), "{failed}: {shown} is not a folder");
    ensure!(folder.is_dir(), "{failed}: the folder {shown} does not exist; create it, or name another one");
    Ok(())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks that the output files can be written, and that no two options name the same. Each comes with its option.
pub(super) fn check_files(outputs: &[(&str, &Path)], inputs: &[(&str, &Path)]) -> Result<()> {
    let mut seen: Vec<(&str, PathBuf)> = inputs.iter().map(|&(option, path)| (option, identity(path))).collect();
    for &(option, path) in outputs {
        let own = identity(path);
        if let Some((other, _)) = seen.iter().find(|(_, seen)| *seen == own && !is_special(seen)) {
            bail!(WrongUsage(format!("{option} and {other} name the same file, {}", path.display())));
        }
        seen.push((option, own));
    }
    for (_, path) in outputs.iter().filter(|(_, path)| !is_standard_output(path)) {
        check_folder_of(path)?;
        let is_new = !path.exists();
        let probe = File::options().append(true).create(true).open(path);
        probe.with_context(|| cannot_write(path))?;
        // Nothing remains of a command that fails later.
        if is_new {
            std::fs::remove_file(path).with_context(|| cannot_write(path))?;
        }
    }
    Ok(())
}

/// Returns whether a name belongs to a device, a pipe or a folder.
pub(super) fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

/// Returns whether a file exists and is empty: another program made it, and may read it by its handle, as for thumbnails.
pub(super) fn is_awaited(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
}

/// Returns the same path for two names of one file, as far as the file system can tell.
fn identity(path: &Path) -> PathBuf {
    let in_folder = || Some(std::fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    std::fs::canonicalize(path).ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// The name of an output file, split at the number of the frame.
pub(super) struct FileName {
    before: String,
    /// The number of digits, or `None` for a single file.
    digits: Option<usize>,
    after: String,
}

impl FileName {
    /// Splits a name at `%d` or, for example, `%04d`.
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

    pub fn is_numbered(&self) -> bool {
        self.digits.is_some()
    }

    /// Numbers the names of several files, before the extension, if they are not.
    pub fn numbered(self, count: usize) -> Self {
        if count < 2 || self.is_numbered() {
            return self;
        }
        let path = Path::new(&self.before);
        let end = path.extension().map_or_else(String::new, |end| format!(".{}", end.to_string_lossy()));
        let before = format!("{}-", self.before.strip_suffix(&end).unwrap_or(&self.before));
        Self { before, digits: Some((count - 1).to_string().len()), after: end }
    }

    pub fn of_frame(&self, frame: u32) -> PathBuf {
        match self.digits {
            None => PathBuf::from(&self.before),
            Some(digits) => format!("{}{frame:0digits$}{}", self.before, self.after).into(),
        }
    }
}
