//! Running the program.

use std::process::{Command, Output};

// Each file of tests uses some of them.
#[allow(unused_imports)]
pub use warpline_testkit::programs_run::{Place, ok, root, stderr, stdout};

/// The program with these arguments, run in the repository's root.
pub fn warpline(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program starts")
}

/// The program with these arguments, not yet started.
pub fn command(arguments: &[&str]) -> Command {
    warpline_testkit::programs_run::command(env!("CARGO_BIN_EXE_warpline"), arguments)
}

/// Whether there is a clang; where not, says that the test is skipped.
#[allow(dead_code, reason = "not all files of tests have sources for it")]
pub fn has_clang() -> bool {
    let found = warpline_llvm::has_clang();
    if !found {
        eprintln!("skipped: there is no clang");
    }
    found
}
