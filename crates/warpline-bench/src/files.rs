//! The files that are measured, and what is shown meanwhile.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use warpline_compile::error::{Error, Result};

/// Shows on a terminal what is being done, in place of what was shown before.
pub(crate) fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        let text = warpline::printable::line(text);
        let _ = write!(std::io::stderr(), "\r\x1b[K{text}");
    }
}

/// A file's name without suffix.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The name of the line of a table that a file belongs to: its own, or, by program, what stands before the first `-`.
pub(crate) fn line_name(file: &str, by_program: bool) -> &str {
    match by_program {
        true => file.split('-').next().unwrap_or(file),
        false => file,
    }
}

/// The files that are meant: a folder stands for all inputs in it, by name.
///
/// # Errors
/// If a folder cannot be read or has no input.
pub(crate) fn expand(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let entries = std::fs::read_dir(input).map_err(|e| Error::input(input, e.to_string()))?;
        let paths = entries.flatten().map(|entry| entry.path());
        let mut found: Vec<PathBuf> =
            paths.filter(|p| p.extension().is_some_and(|e| e == "ll" || e == "bc")).collect();
        if found.is_empty() {
            return Err(Error::input(input, "there is no .ll and no .bc file in this folder"));
        }
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}
