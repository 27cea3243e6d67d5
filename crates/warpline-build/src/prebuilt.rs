//! Code that a package brings along, by target: `FOLDER/TARGET/NAME.a`, `NAME.rs`, and `NAME.txt`, which says what it
//! was made from.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::files::{Built, Project};

/// What was found.
pub(crate) enum Found {
    /// Code for this target, made from the same sources and options.
    Fitting(Built),
    /// None, and why.
    No(String),
}

/// What `WARPLINE_PREBUILT` asks for.
pub(crate) fn asked(word: &str) -> bool {
    std::env::var("WARPLINE_PREBUILT").is_ok_and(|value| value == word)
}

/// The files of a library: code, functions, facts.
fn paths(project: &Project) -> Option<[PathBuf; 3]> {
    let folder = project.prebuilt.as_ref()?.join(&project.target);
    Some(["a", "rs", "txt"].map(|suffix| folder.join(format!("{}.{suffix}", project.name))))
}

/// Looks for code that fits.
pub(crate) fn find(project: &Project) -> Result<Found> {
    let Some([archive, wrappers, facts]) = paths(project) else {
        return Ok(Found::No("the package keeps none".to_owned()));
    };
    // Cargo takes a file that does not exist for one that has changed, every time.
    if facts.exists() {
        println!("cargo:rerun-if-changed={}", facts.display());
    }
    if asked("update") || asked("ignore") {
        return Ok(Found::No("WARPLINE_PREBUILT says to build".to_owned()));
    }
    let text = match std::fs::read_to_string(&facts) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Found::No(format!("{} does not exist", facts.display())));
        }
        Err(error) => return Err(Error::io("cannot read", facts, &error)),
    };
    let fact = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    if fact("fingerprint") != Some(&*fingerprint(project)) {
        let message = format!("{} was made from other sources or options", archive.display());
        return Ok(Found::No(message));
    }
    let libraries = fact("libraries").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let archive = std::fs::read(&archive).map_err(|error| Error::io("cannot read", archive, &error))?;
    let wrappers =
        std::fs::read_to_string(&wrappers).map_err(|error| Error::io("cannot read", wrappers, &error))?;
    Ok(Found::Fitting(Built { wrappers, archive, libraries }))
}

fn fingerprint(project: &Project) -> String {
    format!("{:016x}", project.fingerprint)
}

/// Keeps what was built, if that is asked for.
#[cfg(feature = "compile")]
pub(crate) fn keep(project: &Project, built: &Built) -> Result<()> {
    let Some([archive, wrappers, facts]) = paths(project).filter(|_| asked("update")) else { return Ok(()) };
    if let Some(folder) = facts.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Error::io("cannot create", folder, &error))?;
    }
    let text = format!(
        "Made by warpline-build {}. WARPLINE_PREBUILT=update makes it anew.\nfingerprint: {}\nlibraries: {}\n",
        env!("CARGO_PKG_VERSION"),
        fingerprint(project),
        built.libraries.join(" ")
    );
    crate::files::write(&archive, &built.archive)?;
    crate::files::write(&wrappers, built.wrappers.as_bytes())?;
    // Last, so that what is half-written has the fingerprint of what was there before.
    crate::files::write(&facts, text.as_bytes())
}
