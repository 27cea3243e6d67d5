//! `compile_commands.json`: the flags by which a project compiles a source.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use warpline_llvm::flags::{in_folder, split_words};
use warpline_llvm::{InputKind, did_you_mean};

use crate::error::{Error, Result};

/// The largest file that is read, in bytes.
const MOST: u64 = 1 << 30;

/// How one source is compiled.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
}

/// The sources of a project that C or C++ compilers read, each once, in the order of the file in `folder`.
///
/// # Errors
/// If there is no such file, it cannot be read, or it has no such source.
pub(crate) fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let (path, entries) = read(folder)?;
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in &entries {
        let file = entry.directory.join(&entry.file);
        let is_c = InputKind::of(&file).is_ok_and(|kind| matches!(kind, InputKind::C | InputKind::Cpp));
        if is_c && !found.contains(&file) {
            found.push(file);
        }
    }
    match found.is_empty() {
        true => Err(wrong(folder, format!("{} has no source in C or C++", path.display()))),
        false => Ok(found),
    }
}

/// Something that is wrong with the project in a folder.
fn wrong(folder: &Path, message: String) -> Error {
    Error::option(format!("-p {}", folder.display()), message)
}

/// The file in a folder, or the file itself, and its entries.
fn read(folder: &Path) -> Result<(PathBuf, Vec<Entry>)> {
    let path = match folder.is_dir() {
        true => folder.join("compile_commands.json"),
        false => folder.to_owned(),
    };
    let wrong = |message: String| wrong(folder, message);
    let size = std::fs::metadata(&path).map_err(|e| {
        let path = path.display();
        wrong(format!("cannot read {path}: {e}; CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, and Meson and Bear do; without one, `warpline report DIR` takes all sources below a folder"))
    })?;
    if !size.is_file() || size.len() > MOST {
        return Err(wrong(format!("{} is no file that can be read", path.display())));
    }
    let text = std::fs::read(&path).map_err(|e| wrong(format!("cannot read {}: {e}", path.display())))?;
    let entries = serde_json::from_slice(&text).map_err(|e| wrong(format!("{}: {e}", path.display())))?;
    Ok((path, entries))
}

/// The flags of an input, by the file in `folder`: without the compiler and the input, with paths that hold in every
/// folder.
///
/// # Errors
/// If there is no such file, it cannot be read, or it does not have the input.
pub(crate) fn flags(folder: &Path, input: &Path) -> Result<Vec<OsString>> {
    let (path, entries) = read(folder)?;
    let wrong = |message: String| wrong(folder, message);
    let meant = real(input);
    let Some(entry) = entries.iter().find(|entry| real(&entry.directory.join(&entry.file)) == meant) else {
        let name = input.display().to_string();
        let known: Vec<String> = entries.iter().map(|entry| entry.file.display().to_string()).collect();
        let near = did_you_mean(&name, known.iter().map(String::as_str));
        return Err(wrong(format!("{} has no entry for {name}{near}", path.display())));
    };
    let words = match (&entry.arguments, &entry.command) {
        (Some(words), _) => words.iter().map(OsString::from).collect(),
        (None, Some(command)) => split_words(OsStr::new(command))
            .map_err(|reason| wrong(format!("{}: {}: {reason}", path.display(), entry.file.display())))?,
        (None, None) => Vec::new(),
    };
    Ok(in_folder(&own_flags(&words, entry), &entry.directory))
}

/// The words of a command that are flags: not the compiler, a launcher before it, or the source.
fn own_flags(words: &[OsString], entry: &Entry) -> Vec<OsString> {
    let first = words.iter().position(|word| word.to_string_lossy().starts_with('-')).unwrap_or(words.len());
    let source = real(&entry.directory.join(&entry.file));
    let mut flags: Vec<OsString> = Vec::new();
    for word in &words[first..] {
        let is_value =
            flags.last().is_some_and(|last| warpline_llvm::flags::takes_value(&last.to_string_lossy()));
        let is_input = word == "--"
            || (!word.to_string_lossy().starts_with('-') && real(&entry.directory.join(word)) == source);
        if is_value || !is_input {
            flags.push(word.clone());
        }
    }
    flags
}

/// A path by which the same file always has one name.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_those_of_the_entry_of_the_file() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("src")).unwrap();
        for name in ["src/a.c", "src/b.c"] {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let json = serde_json::json!([
            { "directory": place.path(), "file": "src/a.c", "command": "ccache cc -DA='x y' -Iinc -c src/a.c -o a.o" },
            { "directory": place.path(), "file": "src/b.c", "arguments": ["cc", "-DB", "-include", "src/b.c", "src/b.c"] },
        ]);
        std::fs::write(place.path().join("compile_commands.json"), json.to_string()).unwrap();
        let inc = format!("-I{}", place.path().join("inc").display());
        let found = flags(place.path(), &place.path().join("src/a.c")).unwrap();
        assert_eq!(found, ["-DA=x y", &inc, "-c", "-o", "a.o"].map(OsString::from));
        let found = flags(place.path(), &place.path().join("src/../src/b.c")).unwrap();
        let included: OsString = place.path().join("src/b.c").into();
        assert_eq!(found, ["-DB".into(), "-include".into(), included]);
        let error = flags(place.path(), Path::new("src/c.c")).unwrap_err().to_string();
        assert!(error.contains("did you mean `src/a.c`?"), "{error}");
        std::fs::write(place.path().join("compile_commands.json"), "[{]").unwrap();
        assert!(flags(place.path(), Path::new("src/a.c")).unwrap_err().to_string().contains("line 1"));
    }
}
