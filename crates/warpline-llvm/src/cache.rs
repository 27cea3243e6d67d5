//! What is kept from one process to the next, in a folder of the user's.
//!
//! It is a shortcut and nothing else: what cannot be read, or was kept for something else, is made again.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// `$WARPLINE_CACHE`, or where the user's caches are; `None` if neither is known.
pub(crate) fn folder() -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = || given("XDG_CACHE_HOME").or_else(|| Some(given("HOME")?.join(".cache")));
    given("WARPLINE_CACHE").or_else(|| Some(usual()?.join("warpline")))
}

/// Writes a file as a whole, or not at all, in a folder that is made if it is not there.
pub(crate) fn write(file: &Path, bytes: &[u8]) {
    let Some(folder) = file.parent() else { return };
    let kept = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(bytes)?;
        new.persist(file)?;
        Ok(())
    };
    let _ = kept();
}
