//! Running the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program with these arguments, run in the repository's root.
pub fn warpline(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program starts")
}

/// The program with these arguments, not yet started.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
    command.args(arguments).current_dir(root());
    command
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Standard output as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Asserts success and returns standard output.
#[track_caller]
pub fn ok(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}\n{}", stdout(output), stderr(output));
    stdout(output)
}
