//! Files that the program writes: looked at before the work that fills them, and never there by halves.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What is said first where writing fails.
pub(super) fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Writes through a temporary file, so that nobody ever sees half a file.
///
/// # Errors
/// What the system says.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = || cannot_write(path);
    // A device file or a pipe (`--out /dev/stdout`) cannot be replaced; it is written to.
    if is_special(path) {
        return std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes))
            .with_context(failed);
    }
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // Whatever was begun is of no use; the error of writing is the one to report.
        let _ = std::fs::remove_file(&temporary);
    }
    written.with_context(failed)
}

/// Makes sure, before anything is measured, that these files can be written later and that none of them is another, or
/// one that is read. Each has the option that names it.
///
/// # Errors
/// The first that cannot be, or two options that name one file.
pub(super) fn check_files(outputs: &[(&str, &Path)], inputs: &[(&str, &Path)]) -> Result<()> {
    let mut seen: Vec<(&str, PathBuf)> = inputs.iter().map(|&(option, path)| (option, identity(path))).collect();
    for &(option, path) in outputs {
        let own = identity(path);
        if let Some((other, _)) = seen.iter().find(|(_, seen)| *seen == own && !is_special(seen)) {
            bail!("{option} and {other} name the same file, {}", path.display());
        }
        seen.push((option, own));
    }
    for (_, path) in outputs {
        let probe = std::fs::OpenOptions::new().append(true).create(true).open(path);
        probe.with_context(|| cannot_write(path))?;
    }
    Ok(())
}

fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

/// The same for two names of one file, as far as the file system tells.
fn identity(path: &Path) -> PathBuf {
    if let Ok(path) = std::fs::canonicalize(path) {
        return path;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (std::fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_named_twice() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.json"), folder.path().join("b.csv"));
        check_files(&[("--json", &a), ("--csv", &b)], &[]).unwrap();
        assert!(a.exists() && b.exists());
        let again = folder.path().join(".").join("a.json");
        let error = check_files(&[("--json", &a), ("--csv", &again)], &[]).unwrap_err().to_string();
        assert!(error.starts_with("--csv and --json name the same file, "), "{error}");
        let error = check_files(&[("--plot", &b)], &[("--compare", &b)]).unwrap_err().to_string();
        assert!(error.starts_with("--plot and --compare name the same file, "), "{error}");
        // Neither exists yet.
        let (c, d) =
            (folder.path().join("c"), folder.path().join("../").join(folder.path().file_name().unwrap()).join("c"));
        assert!(check_files(&[("--json", &c), ("--csv", &d)], &[]).is_err());
        assert!(!c.exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_found_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/such/a.json");
        let error = check_files(&[("--json", &path)], &[]).unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
    }

    #[test]
    fn files_are_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_file(&path, b"a longer text").unwrap();
        write_file(&path, b"short").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"short");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
