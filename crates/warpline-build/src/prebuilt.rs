//! Code that a package brings along, by target: `FOLDER/TARGET/NAME.a`, `NAME.rs`, and `NAME.txt`, which says what it
//! was made from.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::{Built, Fnv, Project, Row};

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
    let rows = text.lines().filter_map(|line| line.strip_prefix("kernel: ")?.split_once('\t'));
    let table = rows.map(|(source, rest)| Row { source: source.into(), rest: rest.to_owned() }).collect();
    let mut files = Vec::new();
    for (hash, path) in text.lines().filter_map(|line| line.strip_prefix("file: ")?.split_once(' ')) {
        if hash_of(Path::new(path)) != hash {
            let message = format!("{} was made from another {path}", archive.display());
            return Ok(Found::No(message));
        }
        files.push(PathBuf::from(path));
    }
    let libraries = fact("libraries").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let archive = std::fs::read(&archive).map_err(|error| Error::io("cannot read", archive, &error))?;
    let wrappers =
        std::fs::read_to_string(&wrappers).map_err(|error| Error::io("cannot read", wrappers, &error))?;
    Ok(Found::Fitting(Built { wrappers, archive, libraries, table, files }))
}

fn fingerprint(project: &Project) -> String {
    format!("{:016x}", project.fingerprint)
}

/// A hash of what stands in a file, whatever ends its lines.
fn hash_of(path: &Path) -> String {
    let mut hash = Fnv::default();
    let bytes = std::fs::read(path).unwrap_or_default();
    hash.add(&bytes.into_iter().filter(|&byte| byte != b'\r').collect::<Vec<u8>>());
    format!("{:016x}", hash.0)
}

/// Keeps what was built, if that is asked for.
#[cfg(feature = "compile")]
pub(crate) fn keep(project: &Project, built: &Built) -> Result<()> {
    let Some([archive, wrappers, facts]) = paths(project).filter(|_| asked("update")) else { return Ok(()) };
    if let Some(folder) = facts.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Error::io("cannot create", folder, &error))?;
    }
    let mut text = format!(
        "Made by warpline-build {}. WARPLINE_PREBUILT=update makes it anew.\nfingerprint: {}\nlibraries: {}\n",
        env!("CARGO_PKG_VERSION"),
        fingerprint(project),
        built.libraries.join(" ")
    );
    for Row { source, rest } in &built.table {
        text += &format!("kernel: {}\t{rest}\n", source.display());
    }
    // What lies elsewhere is none of the package's.
    let here = std::env::current_dir().unwrap_or_default();
    for path in built.files.iter().filter_map(|path| path.strip_prefix(&here).ok()) {
        text += &format!("file: {} {}\n", hash_of(path), path.display());
    }
    crate::files::write(&archive, &built.archive)?;
    crate::files::write(&wrappers, built.wrappers.as_bytes())?;
    // Last, so that what is half-written has the fingerprint of what was there before.
    crate::files::write(&facts, text.as_bytes())
}
