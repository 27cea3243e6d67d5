//! Kernels of a Rust crate: cargo compiles it once more, with its dependencies, features and flags, for warpline.
//!
//! A source in Rust that is a module of a package's library or program is no island: `use crate::…`, types of other
//! crates, `cfg`s and features mean what they mean in the crate. So cargo is run again, offline, with a target folder
//! of its own; a script stands between it and rustc (`rustc.sh`), so that of the target with the kernels comes bitcode
//! that is not optimized, and bitcode of its dependencies besides, for bodies that kernels call. The variable
//! [`NESTED`] says so to all that runs within: the attribute for kernels then makes what warpline compiles
//! (`warpline-macros/src/shim.rs`), and build scripts do not begin again.
//!
//! Who runs this from a build script holds cargo's lock on the ordinary target folder, and cargo would have to compile
//! that build script, with warpline in it, a second time. Therefore the target folder is another one, packages that
//! only the build script uses become empty crates, and in the place of the build script its running program is called.
//!
//! rustc computes the layout of types from their definitions and the target alone, and it is one rustc with one
//! `Cargo.lock`, the same features and flags (`-Zrandomize-layout` is refused), so types look the same on both sides.
//! What may differ is what a type's definition makes of the profile (`cfg(debug_assertions)`) and features that other
//! packages of a workspace enable in a dependency. Sizes and alignments are therefore compared by the crate's own
//! compiler, too, and it refuses what differs.

mod cargo;
mod kernels;
pub(crate) mod load;
mod modules;

use std::path::{Path, PathBuf};

pub use cargo::{Built, Request, STAMP, features_of_script, stamp, target_folder};
pub use kernels::{Marked, kernels};
pub use modules::Module;

use crate::error::Result;

/// The variable that says to what runs within that warpline has a crate compiled, and where its files are.
pub const NESTED: &str = "WARPLINE_NESTED";

/// What is to be compiled of a package.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Target {
    /// The package's `Cargo.toml`.
    pub manifest: PathBuf,
    /// The name of the library or program.
    pub name: String,
    /// Whether it is a program.
    pub is_bin: bool,
}

/// A source that is a module of a package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// What it belongs to.
    pub target: Target,
    /// The modules from the root of the crate to the file.
    pub modules: Vec<Module>,
}

/// What a source belongs to, if it is a module of a package.
///
/// # Errors
/// If cargo does not describe the package.
pub fn member(source: &Path) -> Result<Option<Member>> {
    let Some(manifest) = manifest_of(source) else { return Ok(None) };
    for (target, root) in cargo::targets(&manifest)? {
        let file = source.to_owned();
        // `syn` calls itself for whatever is nested.
        let search = move || modules::path_to(&root, &file);
        let found = std::thread::Builder::new().stack_size(256 << 20).spawn(search);
        if let Some(modules) = found.ok().and_then(|thread| thread.join().ok()).flatten() {
            return Ok(Some(Member { target, modules }));
        }
    }
    Ok(None)
}

/// The `Cargo.toml` of the package that a file is in.
fn manifest_of(source: &Path) -> Option<PathBuf> {
    let absolute = source.canonicalize().ok()?;
    let has_package =
        |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains("[package]"));
    absolute.ancestors().skip(1).map(|folder| folder.join("Cargo.toml")).find(has_package)
}
