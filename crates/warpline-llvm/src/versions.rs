//! Which LLVM and which compilers are used, and their versions.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::ffi::load::Llvm;
use crate::tools::{NEUTRAL, clang, rustc};

/// A library or program that is used.
pub struct Tool {
    /// `LLVM`, `rustc` or `clang`.
    pub name: &'static str,
    /// Its version and where it is; or why it cannot be used.
    pub found: Result<(String, PathBuf), String>,
}

/// LLVM, rustc and clang, as they are used.
pub fn tools() -> [Tool; 3] {
    let llvm = match Llvm::get() {
        Ok(llvm) => Ok((llvm.version_text().to_string(), llvm.path().to_owned())),
        Err(error) => Err(error.to_string()),
    };
    let version = |path: PathBuf, first: Vec<OsString>| {
        let asked = Command::new(&path).args(first).arg("--version").current_dir(NEUTRAL).output();
        let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let first = said.ok().and_then(|text| text.lines().next().map(str::to_owned));
        first.map(|first| (first, path.clone())).ok_or_else(|| format!("not found, {}", path.display()))
    };
    let clang = clang().map_or_else(|| Err("not found".to_owned()), |(path, first)| version(path, first));
    [
        Tool { name: "LLVM", found: llvm },
        Tool { name: "rustc", found: version(rustc(), Vec::new()) },
        Tool { name: "clang", found: clang },
    ]
}
