//! What is used of what is installed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::ffi::load::Llvm;
use crate::tools::{NEUTRAL, clang, rustc};

/// Which library and which compilers are used, and their versions, in lines.
pub fn tools() -> String {
    let llvm = match Llvm::get() {
        Ok(llvm) => format!("{}, {}", llvm.version_text(), llvm.path().display()),
        Err(error) => error.to_string(),
    };
    let version = |path: PathBuf, first: Vec<OsString>| {
        let asked = Command::new(&path).args(first).arg("--version").current_dir(NEUTRAL).output();
        let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let first = said.ok().and_then(|text| text.lines().next().map(str::to_owned));
        format!("{}, {}", first.unwrap_or_else(|| "not found".to_owned()), path.display())
    };
    let clang = clang().map_or_else(|| "not found".to_owned(), |(path, first)| version(path, first));
    format!("LLVM: {llvm}\nrustc: {}\nclang: {clang}\n", version(rustc(), Vec::new()))
}
