//! Loops that are vectorized and compute the same.

use std::path::Path;

use super::common::{ok, warpline};

/// What `run` prints of a function in C.
#[track_caller]
pub fn run(folder: &Path, text: &str, function: &str, options: &[&str]) -> String {
    let file = folder.join("text.c");
    std::fs::write(&file, text).unwrap();
    ok(&warpline(&[&["run", file.to_str().unwrap(), "--function", function], options].concat()))
}

/// Runs a function, of which the loop must be vectorized and compute the same.
#[track_caller]
pub fn is_right(folder: &Path, text: &str, function: &str, options: &[&str]) {
    let printed = run(folder, text, function, options);
    let vectorized = printed.starts_with(&format!("{function}: loop at"));
    assert!(vectorized && printed.contains("; 0 mismatches"), "{options:?}: {printed}");
}
