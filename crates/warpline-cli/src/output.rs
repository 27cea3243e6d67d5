//! Output files appear whole or not at all.

use std::io::Write as _;
use std::path::Path;

use warpline::vectorize::counts::Counts;

use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// Files that are written together.
#[derive(Default)]
pub struct Outputs {
    ready: Vec<(tempfile::NamedTempFile, std::path::PathBuf)>,
}

impl Outputs {
    /// Writes the contents beside where they are to be; nothing is visible under the path yet.
    ///
    /// # Errors
    /// If the folder is missing or cannot be written to.
    pub fn add(&mut self, path: &Path, contents: &[u8]) -> Result<()> {
        let failed =
            |reason: &std::io::Error| Error::Output { path: path.to_owned(), reason: reason.to_string() };
        let folder = folder(path);
        if !folder.is_dir() {
            let reason = format!("the folder {} does not exist; create it first", folder.display());
            return Err(Error::Output { path: path.to_owned(), reason });
        }
        let mut file =
            tempfile::Builder::new().prefix(".warpline-").tempfile_in(folder).map_err(|e| failed(&e))?;
        file.write_all(contents).and_then(|()| file.flush()).map_err(|e| failed(&e))?;
        share(&file).map_err(|e| failed(&e))?;
        self.ready.push((file, path.to_owned()));
        Ok(())
    }

    /// Gives all files their names.
    ///
    /// # Errors
    /// If one cannot be renamed; those before it have been.
    pub fn commit(self) -> Result<()> {
        for (file, path) in self.ready {
            file.persist(&path).map_err(|e| Error::Output { path, reason: e.error.to_string() })?;
        }
        Ok(())
    }
}

/// Lines for people about a kernel: why it has so many lanes, if that was left to us, and its [`counts`].
pub fn lines_on(kernel: &Kernel, counted: &Counts) -> Vec<String> {
    let chosen = kernel.chosen.as_ref().map(|choice| format!("  width auto: {choice}"));
    chosen.into_iter().chain(counts(counted)).collect()
}

/// What became of branches, loops, exits and masks (paper 3, Table 1), and how many tests were made, as lines for people.
pub fn counts(counts: &Counts) -> Vec<String> {
    let Counts { branches: b, loops: l, exits: e, masks: m, boscc: t, coherent } = counts;
    let loops = if *coherent == 1 { "loop" } else { "loops" };
    let twice = format!("  {coherent} {loops} made twice, for iterations in which lanes agree and others");
    let mut lines = vec![
        format!(
            "  branches: {} divergent, {} uniform kept, {} uniform lost; loops: {} uniform, {} divergent",
            b.divergent, b.uniform_kept, b.uniform_lost, l.uniform, l.divergent
        ),
        format!(
            "  exits of divergent loops: {} uniform, {} divergent; masks of loads and stores: {} true, {} uniform, {} varying",
            e.uniform, e.divergent, m.always, m.uniform, m.varying
        ),
        format!("  tests that skip what no lane wants: {} needed, {} for speed", t.mandatory, t.chosen),
    ];
    lines.extend((*coherent > 0).then_some(twice));
    lines
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks that a file can be made at this path, before work is done for it.
///
/// # Errors
/// If the folder is missing, or there is a folder of that name.
pub fn check(path: &Path) -> Result<()> {
    let reason = if path.is_dir() {
        "it is a folder".to_owned()
    } else if !folder(path).is_dir() {
        format!("the folder {} does not exist; create it first", folder(path).display())
    } else {
        return Ok(());
    };
    Err(Error::Output { path: path.to_owned(), reason })
}

/// Temporary files are private; outputs have the usual permissions.
fn share(file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// Writes text to a file, which appears whole or not at all, or to standard output.
///
/// # Errors
/// If the file cannot be written.
pub fn deliver(path: Option<&Path>, text: &str) -> Result<()> {
    let Some(path) = path else {
        print(text);
        return Ok(());
    };
    let mut outputs = Outputs::default();
    outputs.add(path, text.as_bytes())?;
    outputs.commit()
}

/// Pretty JSON with a line end.
pub fn json(report: &impl serde::Serialize) -> String {
    // Plain data with string keys always serialises.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

/// Prints to standard output. A reader that has gone away is no reason to complain.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_appear_on_commit_only() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let mut outputs = Outputs::default();
        outputs.add(&a, b"one").unwrap();
        assert!(!a.exists());
        outputs.add(&b, b"two").unwrap();
        outputs.commit().unwrap();
        assert_eq!(std::fs::read(&a).unwrap(), b"one");
        let mut outputs = Outputs::default();
        outputs.add(&a, b"other").unwrap();
        drop(outputs);
        assert_eq!(std::fs::read(&a).unwrap(), b"one");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let text = check(Path::new("no/such/folder/x.o")).unwrap_err().to_string();
        assert!(text.contains("no/such/folder") && text.contains("create it"), "{text}");
    }
}
