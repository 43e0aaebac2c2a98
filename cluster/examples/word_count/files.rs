//! The files below some paths.

use std::fs::{DirEntry, read_dir};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Returns all files below the paths, sorted, each once: without hidden ones, those in folders named `target`, and links.
///
/// # Errors
///
/// If a folder cannot be read.
pub(crate) fn below(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        add(path, &mut files)?;
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn add(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if path.is_file() {
        files.push(path.to_owned());
    } else if path.is_dir() {
        let error = |error| format!("{} cannot be read: {error}", path.display());
        for entry in read_dir(path).map_err(error)? {
            let entry = entry.map_err(error)?;
            if !is_left_out(&entry) {
                add(&entry.path(), files)?;
            }
        }
    }
    Ok(()) // reading a pipe or a device might never end
}

fn is_left_out(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    name.as_encoded_bytes().starts_with(b".") || name == "target" || entry.path().is_symlink()
}

/// Returns a number of the list, which is the same on all ranks if their lists are.
pub(crate) fn digest(files: &[PathBuf]) -> u64 {
    // The hasher's keys are constants.
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    hasher.finish()
}
