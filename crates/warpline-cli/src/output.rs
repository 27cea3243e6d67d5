//! Where results go: files that appear whole or not at all, devices, and standard output.
//!
//! A regular file is replaced: the contents are written beside it, and get its name when all outputs of a command are
//! there. What is no regular file, such as a device or a FIFO, is written to and never replaced. Symbolic links are
//! followed and stay.

pub mod color;
pub(crate) mod progress;

use std::collections::BTreeSet;
use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use warpline::printable;

use crate::error::{Error, Result};

/// The name of standard output, as a path.
const STANDARD_OUTPUT: &str = "-";

/// Whether a path stands for standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == STANDARD_OUTPUT
}

/// Where an output goes, links followed.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Target {
    /// To standard output.
    Stdout,
    /// Into what is no regular file.
    Device(PathBuf),
    /// Into a file that is made anew.
    New(PathBuf),
    /// In the place of a regular file, whose permissions stay.
    Replaced(PathBuf, u32),
}

impl Target {
    /// Finds out where a path leads, and whether it can be written to.
    fn of(path: &Path) -> Result<Target> {
        let wrong = |reason: String| Error::Output { path: path.to_owned(), reason };
        if is_stdout(path) {
            return Ok(Target::Stdout);
        }
        let mut at = path.to_owned();
        // As many links as Linux follows.
        for _ in 0..40 {
            let folder = folder(&at).to_owned();
            if !folder.is_dir() {
                return Err(wrong(format!(
                    "the folder {} does not exist; create it first",
                    folder.display()
                )));
            }
            let Ok(found) = std::fs::symlink_metadata(&at) else { return Ok(Target::New(at)) };
            let kind = found.file_type();
            if kind.is_dir() || at.as_os_str().as_encoded_bytes().ends_with(b"/") {
                return Err(wrong("it is a folder".to_owned()));
            }
            // The links of `/dev/fd` lead to what is open, which need not have a name.
            let is_open_file = folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc"));
            if kind.is_symlink() && !is_open_file {
                let next = std::fs::read_link(&at).map_err(|e| wrong(e.to_string()))?;
                at = folder.join(next);
                continue;
            }
            if kind.is_socket() {
                return Err(wrong("it is a socket".to_owned()));
            }
            if !kind.is_file() {
                return Ok(Target::Device(at));
            }
            if found.mode() & 0o222 == 0 {
                return Err(wrong("it is read-only".to_owned()));
            }
            OpenOptions::new().write(true).open(&at).map_err(|e| wrong(e.to_string()))?;
            return Ok(Target::Replaced(at, found.mode() & 0o777));
        }
        Err(wrong("too many symbolic links lead there".to_owned()))
    }

    /// Whether two outputs, or an output and an input, are one thing. Devices may be written to more than once.
    fn is_same_file(&self, other: &Target) -> bool {
        match (self, other) {
            (Target::Stdout, Target::Stdout) => true,
            (Target::New(a), Target::New(b)) => {
                let real = |path: &Path| {
                    let folder = folder(path).canonicalize().unwrap_or_else(|_| folder(path).to_owned());
                    path.file_name().map(|name| folder.join(name))
                };
                real(a) == real(b)
            }
            (Target::Replaced(a, _), Target::Replaced(b, _)) => is_same_inode(a, b),
            _ => false,
        }
    }
}

/// Whether two paths lead to one file.
fn is_same_inode(a: &Path, b: &Path) -> bool {
    let number = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((number(a), number(b)), (Ok(a), Ok(b)) if a == b)
}

/// Checks that outputs can be made at these paths before work is done for them: that each can be written to, that no
/// two are one file, and that none is an input.
///
/// # Errors
/// The first that cannot be, with the reason.
pub fn check<'p>(outputs: impl IntoIterator<Item = &'p Path>, inputs: &[PathBuf]) -> Result<()> {
    let mut targets: Vec<(&Path, Target)> = Vec::new();
    for path in outputs {
        let wrong = |reason: String| Err(Error::Output { path: path.to_owned(), reason });
        let target = Target::of(path)?;
        if let Target::Replaced(file, _) = &target
            && let Some(input) = inputs.iter().find(|input| is_same_inode(file, input))
        {
            return wrong(format!("it is the input {}", input.display()));
        }
        if let Some((other, _)) = targets.iter().find(|(_, other)| other.is_same_file(&target)) {
            return wrong(format!("it is {}, another output", other.display()));
        }
        targets.push((path, target));
    }
    Ok(())
}

/// Outputs that are written together.
#[derive(Default)]
pub struct Outputs {
    files: Vec<Ready>,
    /// What is written to as it is.
    streams: Vec<(Target, PathBuf, Vec<u8>)>,
}

/// A file under another name.
struct Ready {
    file: tempfile::NamedTempFile,
    target: PathBuf,
    /// The path as it was given.
    path: PathBuf,
}

impl Outputs {
    /// Takes the contents of an output. Those of a file are written beside where it is to be; nothing is visible
    /// under the path yet.
    ///
    /// # Errors
    /// If the folder is missing, or it cannot be written to.
    pub fn add(&mut self, path: &Path, contents: &[u8]) -> Result<()> {
        let failed =
            |reason: std::io::Error| Error::Output { path: path.to_owned(), reason: reason.to_string() };
        let target = Target::of(path)?;
        let (target, mode) = match target {
            Target::New(target) => (target, None),
            Target::Replaced(target, mode) => (target, Some(mode)),
            Target::Stdout | Target::Device(_) => {
                self.streams.push((target, path.to_owned(), contents.to_vec()));
                return Ok(());
            }
        };
        // A new file has what the umask leaves of these permissions.
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(".warpline-").permissions(Permissions::from_mode(0o666));
        let mut file = builder.tempfile_in(folder(&target)).map_err(failed)?;
        file.write_all(contents).and_then(|()| file.flush()).map_err(failed)?;
        if let Some(mode) = mode {
            file.as_file().set_permissions(Permissions::from_mode(mode)).map_err(failed)?;
        }
        self.files.push(Ready { file, target, path: path.to_owned() });
        Ok(())
    }

    /// Writes to streams and gives all files their names.
    ///
    /// # Errors
    /// If something cannot be written or renamed; then there is no new file, and those that were there are what they
    /// were.
    pub fn commit(self) -> Result<()> {
        for (target, path, contents) in &self.streams {
            let failed = |e: std::io::Error| Error::Output { path: path.clone(), reason: e.to_string() };
            match target {
                Target::Stdout => write_stdout(contents)?,
                Target::Device(device) => {
                    let file = OpenOptions::new().write(true).open(device).map_err(failed)?;
                    quiet_pipe((&file).write_all(contents)).map_err(failed)?;
                }
                Target::New(_) | Target::Replaced(..) => {}
            }
        }
        let mut done: Vec<Done> = Vec::new();
        let several = self.files.len() > 1;
        for Ready { file, target, path } in self.files {
            let former = if several { Former::of(&target) } else { Former::Unknown };
            if let Err(error) = file.persist(&target) {
                done.into_iter().rev().for_each(Done::undo);
                return Err(Error::Output { path, reason: error.error.to_string() });
            }
            done.push(Done { target, former });
        }
        Ok(())
    }
}

/// What was under a name before.
enum Former {
    /// Nothing.
    Nothing,
    /// This file, which has another name, too, as long as this lives.
    File(tempfile::TempPath),
    /// It was not asked, or cannot be kept.
    Unknown,
}

impl Former {
    fn of(target: &Path) -> Former {
        if std::fs::symlink_metadata(target).is_err() {
            return Former::Nothing;
        }
        let kept = tempfile::Builder::new()
            .prefix(".warpline-")
            .make_in(folder(target), |name| std::fs::hard_link(target, name));
        kept.map_or(Former::Unknown, |kept| Former::File(kept.into_temp_path()))
    }
}

/// A file that has its name.
struct Done {
    target: PathBuf,
    former: Former,
}

impl Done {
    /// Takes the name away again. Nothing more can be done where that fails.
    fn undo(self) {
        match self.former {
            Former::Nothing => drop(std::fs::remove_file(&self.target)),
            Former::File(kept) => drop(kept.persist(&self.target)),
            Former::Unknown => {}
        }
    }
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A reader that has gone away is no reason to complain.
fn quiet_pipe(outcome: std::io::Result<()>) -> std::io::Result<()> {
    match outcome {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn write_stdout(bytes: &[u8]) -> Result<()> {
    let write = || {
        let mut out = std::io::stdout().lock();
        quiet_pipe(out.write_all(bytes).and_then(|()| out.flush()))
    };
    progress::without(write)
        .map_err(|e| Error::Output { path: "standard output".into(), reason: e.to_string() })
}

/// Writes text to a file, which appears whole or not at all, or to standard output.
///
/// # Errors
/// If it cannot be written.
pub fn deliver(path: Option<&Path>, text: &str) -> Result<()> {
    let Some(path) = path else { return print(text) };
    let mut outputs = Outputs::default();
    outputs.add(path, printable::text(text).as_bytes())?;
    outputs.commit()
}

/// The version of all reports in JSON. What reads them can rely on the members that it knows while it stays the same;
/// others may be added.
pub const SCHEMA_VERSION: u32 = 1;

/// Pretty JSON with a line end; an object begins with the version of its schema.
pub fn json(report: &impl serde::Serialize) -> String {
    // Plain data with string keys always serialises.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default() + "\n";
    if text.starts_with("{\n") {
        text.insert_str(1, &format!("\n  \"schema_version\": {SCHEMA_VERSION},"));
    }
    printable::json(&text).into_owned()
}

/// Prints to standard output what may contain text of the input.
///
/// # Errors
/// If it cannot be written. A reader that has gone away is no reason to complain.
pub fn print(text: &str) -> Result<()> {
    write_stdout(printable::text(text).as_bytes())
}

/// Prints a report about what was written: to standard output, unless that is an output.
///
/// # Errors
/// If it cannot be written.
pub fn report<'p>(outputs: impl IntoIterator<Item = &'p Path>, text: &str) -> Result<()> {
    if !outputs.into_iter().any(is_stdout) {
        return write_stdout(color::on_stdout(printable::text(text).into_owned()).as_bytes());
    }
    complain(text.trim_end());
    Ok(())
}

/// The warnings that were printed: a run that tries several data meets the same again.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Prints a line to standard error, if there is anybody to read it; warnings once.
pub fn complain(text: &str) {
    if text.starts_with("warning: ")
        && !SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned())
    {
        return;
    }
    let line = color::on_stderr(format!("{}\n", printable::text(text)));
    progress::without(|| {
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    });
}

#[cfg(test)]
mod tests;
