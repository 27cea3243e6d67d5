//! The compilers to use, and where they come from.
//!
//! Which they are must not depend on what lies beside an input, nor on the working folder: rustup's `rustc` takes the
//! toolchain that a `rust-toolchain.toml` there names, which may be a path to any program. So it is asked once, in a
//! folder that only the machine's owner writes to, where its toolchain is, and that toolchain's own compiler is
//! called from then on. Folders of `$PATH` that are not absolute are passed over.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::flags::split_words;
use crate::sysroot_cache;

/// The folder in which programs are asked about themselves.
pub(crate) const NEUTRAL: &str = "/";

/// A file of this name in an absolute folder of `$PATH`.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&search).filter(|folder| folder.is_absolute());
    folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
}

/// A program that a user names in a variable: by path, which becomes absolute, or by name.
fn named_in(variable: &str) -> Option<PathBuf> {
    Some(found(std::env::var_os(variable).filter(|path| !path.is_empty())?.into()))
}

/// A program by path, which becomes absolute, or by name on the path; as it is named if there is none.
fn found(path: PathBuf) -> PathBuf {
    let is_name = path.components().count() == 1 && !path.is_absolute();
    let found = if is_name { path.to_str().and_then(on_path) } else { std::path::absolute(&path).ok() };
    found.unwrap_or(path)
}

/// `$RUSTC`, or `rustc` on the path; the bare name if there is none.
pub(crate) fn rustc_as_named() -> PathBuf {
    named_in("RUSTC").or_else(|| on_path("rustc")).unwrap_or_else(|| "rustc".into())
}

/// The folder of the Rust toolchain, once it is known, or the program that does not say it and why.
static SYSROOT: OnceLock<Result<PathBuf, (PathBuf, String)>> = OnceLock::new();

/// Takes over what another process has found out. To ask rustup takes as long as much of what is done with the answer.
pub(crate) fn set_sysroot(folder: PathBuf) {
    let _ = SYSROOT.set(Ok(folder));
}

/// The folder of the Rust toolchain, or the program that does not say it and why.
pub(crate) fn sysroot() -> Result<&'static Path, (PathBuf, String)> {
    let found = SYSROOT.get_or_init(|| {
        let rustc = rustc_as_named();
        if let Some(kept) = sysroot_cache::read(&rustc) {
            log::debug!("{} has its toolchain in {}, as it said before", rustc.display(), kept.display());
            return Ok(kept);
        }
        match Command::new(&rustc).args(["--print", "sysroot"]).current_dir(NEUTRAL).output() {
            Ok(output) if output.status.success() => {
                let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end());
                sysroot_cache::write(&rustc, &folder);
                Ok(folder)
            }
            Ok(output) => {
                let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                Err((rustc, format!("`--print sysroot` failed: {words}")))
            }
            Err(error) => Err((rustc, error.to_string())),
        }
    });
    found.as_deref().map_err(Clone::clone)
}

/// The Rust compiler: that of the toolchain itself, where there is one.
pub(crate) fn rustc() -> PathBuf {
    let own = sysroot().ok().map(|folder| folder.join("bin/rustc")).filter(|path| path.is_file());
    own.unwrap_or_else(rustc_as_named)
}

/// `$CLANG`, `clang`, or `clang-23` down to `clang-16`, and what comes first among its arguments: `$CLANG` may be a
/// command, such as `ccache clang`, unless it is the path of a file.
pub(crate) fn clang() -> Option<(PathBuf, Vec<OsString>)> {
    let whole = named_in("CLANG");
    if let Some(whole) = &whole
        && !whole.is_file()
        && let Ok(words) = split_words(&std::env::var_os("CLANG").unwrap_or_default())
        && let Some((program, arguments)) = words.split_first()
    {
        return Some((found(program.into()), arguments.to_vec()));
    }
    let mut names =
        std::iter::once("clang".to_owned()).chain((16..=23).rev().map(|version| format!("clang-{version}")));
    let program = whole.or_else(|| names.find_map(|name| on_path(&name)))?;
    Some((program, Vec::new()))
}
