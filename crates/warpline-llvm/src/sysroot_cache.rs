//! What rustup's `rustc` said of its toolchain, kept from one process to the next.
//!
//! To be asked takes rustup a fifth of the time in which a kernel is vectorized. Its answer depends, in a folder
//! without a toolchain file, on itself, on `$RUSTUP_TOOLCHAIN` and on its settings; as long as these are what they
//! were, it is what it was. Other programs that stand for `rustc` may look at anything, so they are always asked.
//! Whatever fails here only means that rustup is asked again.

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The kept answer of a `rustc`, if nothing that it depends on has changed and the toolchain is there.
pub(crate) fn read(rustc: &Path) -> Option<PathBuf> {
    let kept = std::fs::read_to_string(file()?).ok()?;
    let (key, sysroot) = kept.split_once('\n')?;
    let sysroot = PathBuf::from(sysroot.trim_end());
    (key == key_of(rustc)? && sysroot.join("bin/rustc").is_file()).then_some(sysroot)
}

/// Keeps an answer.
pub(crate) fn write(rustc: &Path, sysroot: &Path) {
    let (Some(file), Some(key), Some(sysroot)) = (file(), key_of(rustc), sysroot.to_str()) else { return };
    let Some(folder) = file.parent() else { return };
    let kept = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(format!("{key}\n{sysroot}\n").as_bytes())?;
        new.persist(&file)?;
        Ok(())
    };
    let _ = kept();
}

/// `$WARPLINE_CACHE/sysroot`, or where the user's caches are.
fn file() -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = || given("XDG_CACHE_HOME").or_else(|| Some(given("HOME")?.join(".cache")));
    let folder = given("WARPLINE_CACHE").or_else(|| Some(usual()?.join("warpline")))?;
    Some(folder.join("sysroot"))
}

/// What the answer of a `rustc` depends on, in a line, if it is rustup's.
fn key_of(rustc: &Path) -> Option<String> {
    let rustup = rustc.with_file_name("rustup");
    let (own, other) = (std::fs::metadata(rustc).ok()?, std::fs::metadata(&rustup).ok()?);
    // Links to one program, or, where there can be none, copies of it.
    if own.ino() != other.ino() && own.len() != other.len() {
        return None;
    }
    let home = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".rustup")))?;
    let mut key = format!("{:?} {:?}", rustc, std::env::var_os("RUSTUP_TOOLCHAIN"));
    for data in [own, std::fs::metadata(home.join("settings.toml")).ok()?] {
        let _ = write!(key, " {} {}.{}", data.len(), data.mtime(), data.mtime_nsec());
    }
    Some(key)
}
