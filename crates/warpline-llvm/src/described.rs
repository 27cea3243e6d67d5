//! Sources as clang describes them to debuggers: the types of functions, where types are defined, and which header
//! includes which.
//!
//! Code is made from modules with lines only. So this is a compilation of its own, for those who want a header.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::frontend::{Clang, FrontEnd, Step, clang, write};
use crate::input_kind::InputKind;

/// What clang says of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// LLVM's text of the module, with what is for debuggers.
    pub text: String,
    /// The headers in the order in which clang enters them, each with the number of files around it.
    pub headers: Vec<(usize, PathBuf)>,
}

/// A language that a header may be read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C99.
    C,
    /// C++.
    Cpp,
}

/// What clang says of a source; nothing for what clang does not compile.
///
/// # Errors
/// As [`crate::compile`].
pub fn describe(path: &Path, front_end: FrontEnd<'_>) -> Result<Option<Described>> {
    let kind = InputKind::of(path)?;
    if !matches!(kind, InputKind::C | InputKind::Cpp | InputKind::OpenCl) {
        return Ok(None);
    }
    let folder = folder()?;
    let output = folder.path().join("module.ll");
    let made = Clang::new(kind, folder.path(), front_end)?.run(path, Step::Describe, &output)?;
    let headers = made.warnings.lines().filter_map(|line| {
        let (dots, path) = line.split_once(' ')?;
        let is_header = !dots.is_empty() && dots.bytes().all(|c| c == b'.');
        is_header.then(|| (dots.len(), PathBuf::from(path)))
    });
    let headers = headers.collect();
    Ok(Some(Described { text: String::from_utf8_lossy(&made.bitcode).into_owned(), headers }))
}

/// Whether clang takes this text as a file of its own in a language, with the folders that the user's flags name and
/// those given here; `defined`: with the macros that the flags define, too.
///
/// # Errors
/// [`Error::MissingTool`], [`Error::Io`].
pub fn accepts(
    path: &Path,
    front_end: FrontEnd<'_>,
    text: &str,
    language: Language,
    folders: &[&Path],
    defined: bool,
) -> Result<bool> {
    let folder = folder()?;
    let file = folder.path().join("probe");
    write(&file, text)?;
    let flags = Clang::new(InputKind::of(path)?, folder.path(), front_end)?.flags;
    let (program, own) = clang(path)?;
    let mut command = Command::new(program);
    command.args(own);
    command.args(match language {
        Language::C => ["-xc", "-std=c99"],
        Language::Cpp => ["-xc++", "-w"],
    });
    let mut words = flags.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if ["-D", "-U"].contains(&&*text) {
            let value = words.next();
            command.args(value.filter(|_| defined).into_iter().flat_map(|value| [word, value]));
        } else if defined && text.starts_with("-D") || text.starts_with("-I") {
            command.arg(word);
        } else if ["-I", "-isystem", "-iquote", "-idirafter"].contains(&&*text) {
            command.arg(word).args(words.next());
        }
    }
    command.args(folders.iter().flat_map(|folder| ["-I".as_ref(), folder.as_os_str()]));
    command.args(["-w", "-fsyntax-only", "-Qunused-arguments"]).arg(&file);
    crate::child::bind(&mut command);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(status.map_err(|error| Error::io("cannot run", "clang", &error))?.success())
}

fn folder() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(|error| Error::io("cannot write to", std::env::temp_dir(), &error))
}
