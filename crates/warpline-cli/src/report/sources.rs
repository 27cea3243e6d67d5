//! The inputs of a report: files, all sources below folders, or those of a project.

use std::path::{Path, PathBuf};

use warpline_llvm::InputKind;

use crate::cli::ReportPageOptions;
use crate::compile_commands;
use crate::error::{Error, Result};

/// What cargo and others put into folders of files that can be made again.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// All inputs, in order: what is named, with the sources below folders; nothing named, the sources of the project.
///
/// # Errors
/// If there is none, a folder cannot be read, or the project is not described.
pub(super) fn all(options: &ReportPageOptions) -> Result<Vec<PathBuf>> {
    if options.inputs.is_empty() {
        let Some(folder) = &options.compilers.project else {
            let message = "name files or folders, or the folder of a compile_commands.json with -p";
            return Err(Error::option("report", message));
        };
        if options.compilers.is_package() && !folder.join("compile_commands.json").exists() {
            let mut all = Vec::new();
            below(&folder.join("src"), &mut all)?;
            return Ok(all);
        }
        return compile_commands::sources(folder);
    }
    let mut all = Vec::new();
    for input in &options.inputs {
        if !input.is_dir() {
            all.push(input.clone());
            continue;
        }
        let before = all.len();
        below(input, &mut all)?;
        if all.len() == before {
            return Err(Error::input(input, "there is no source in Rust, C, C++ or OpenCL C below it"));
        }
    }
    Ok(all)
}

/// Adds the sources below a folder, by name. Left out are what has a hidden name, folders of what was built, and folders
/// that links lead to, since these may lead back.
fn below(folder: &Path, all: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |e: std::io::Error| Error::input(folder, e.to_string());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()
        .map_err(failed)?;
    paths.sort();
    for path in paths {
        let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_hidden || path.join(CACHE_TAG).exists() {
            continue;
        }
        let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
        let is_source = || InputKind::of(&path).is_ok_and(InputKind::is_source) && path.is_file();
        if is_folder {
            below(&path, all)?;
        } else if is_source() {
            all.push(path);
        }
    }
    Ok(())
}
