//! Running a program in the repository's root, and what it says.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program with these arguments, not yet started.
pub fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
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
///
/// # Panics
/// If the exit code is not 0.
#[track_caller]
pub fn ok(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}\n{}", stdout(output), stderr(output));
    stdout(output)
}

/// A folder with a program in LLVM's text form in it, `program.ll`.
pub struct Place(tempfile::TempDir);

impl Place {
    /// A new folder with this program.
    pub fn new(program: &str) -> Place {
        let place = Place(tempfile::tempdir().expect("a folder for the test"));
        place.file("program.ll", program);
        place
    }

    /// Where a file of this name is or would be.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program's path.
    pub fn program(&self) -> String {
        self.path("program.ll").display().to_string()
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("the test's folder can be written");
        self.path(name).display().to_string()
    }
}
