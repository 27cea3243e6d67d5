//! What rustup's `rustc` said of its toolchain, kept from one process to the next.
//!
//! To be asked takes rustup a fifth of the time in which a kernel is vectorized. Its answer depends, in a folder
//! without a toolchain file, on itself, on `$RUSTUP_TOOLCHAIN` and on its settings; as long as these are what they
//! were, it is what it was. Other programs that stand for `rustc` may look at anything, so they are always asked.
//! Whatever fails here only means that rustup is asked again.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::cache;

/// The name of the file.
const NAME: &str = "sysroot";

/// The kept answer of a `rustc`, if nothing that it depends on has changed and the toolchain is there.
pub(crate) fn read(rustc: &Path) -> Option<PathBuf> {
    let kept = std::fs::read_to_string(cache::folder()?.join(NAME)).ok()?;
    let (key, sysroot) = kept.split_once('\n')?;
    let sysroot = PathBuf::from(sysroot.trim_end());
    (key == key_of(rustc)? && sysroot.join("bin/rustc").is_file()).then_some(sysroot)
}

/// Keeps an answer.
pub(crate) fn write(rustc: &Path, sysroot: &Path) {
    if let (Some(folder), Some(key), Some(sysroot)) = (cache::folder(), key_of(rustc), sysroot.to_str()) {
        cache::write(&folder.join(NAME), format!("{key}\n{sysroot}\n").as_bytes());
    }
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
