//! What was made of a kernel is kept, and made anew only when the kernel changes: its module after simplification,
//! without what is for debuggers where that is left out, the options, and the program that compiles.

use std::path::{Path, PathBuf};

use warpline_compile::package::stamp;
use warpline_llvm::Module;

use crate::error::{Error, Result};
use crate::files::{Fnv, write};
use crate::wrapper::Which;

/// What was made of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    /// The name of the function that runs it over a range.
    pub range: String,
    /// How to learn which CPU's code runs.
    pub which: Which,
    /// The names that others use.
    pub symbols: Vec<String>,
    /// The libraries of vector mathematics that it calls.
    pub libraries: Vec<String>,
    /// Performance remarks, if they were asked for.
    pub remarks: Vec<String>,
    /// The object.
    pub object: Vec<u8>,
}

/// The kernels that were made for a library before.
pub(crate) struct Cache {
    folder: PathBuf,
}

/// A hash of the module of a kernel.
pub(crate) fn of_module(module: &Module, symbol: &str) -> String {
    // Where it was made does not matter, nor the name, which has the line in it.
    let text = module.to_text();
    let matters = |line: &&str| !line.starts_with("; ModuleID") && !line.starts_with("source_filename");
    let mut lines: String = text.lines().filter(matters).flat_map(|line| [line, "\n"]).collect();
    if !symbol.is_empty() {
        lines = lines.replace(symbol, "kernel");
    }
    hash(&lines)
}

/// A hash of a text and of this program, which compiles.
pub(crate) fn hash(text: &str) -> String {
    let mut hashes = [Fnv::default(), Fnv(0x6c62_272e_07bb_0142)];
    let program = std::env::current_exe().map(|path| stamp(&path)).unwrap_or_default();
    for hash in &mut hashes {
        hash.add(env!("CARGO_PKG_VERSION").as_bytes());
        hash.add(program.as_bytes());
        hash.add(text.as_bytes());
    }
    hashes.map(|hash| format!("{:016x}", hash.0)).concat()
}

impl Cache {
    /// The kernels in a folder.
    pub(crate) fn open(folder: PathBuf) -> Result<Cache> {
        std::fs::create_dir_all(&folder).map_err(|error| Error::io("cannot create", &folder, &error))?;
        Ok(Cache { folder })
    }

    fn paths(&self, key: &str) -> [PathBuf; 2] {
        ["o", "txt"].map(|suffix| self.folder.join(format!("{key}.{suffix}")))
    }

    /// What was made for a key.
    pub(crate) fn find(&self, key: &str) -> Option<Made> {
        let [object, facts] = self.paths(key);
        let facts = std::fs::read_to_string(facts).ok()?;
        let lines: Vec<&str> = facts.lines().collect();
        let [range, which, symbols, libraries, remarks @ ..] = &lines[..] else { return None };
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        Some(Made {
            range: (*range).to_owned(),
            which: Which::parse(which)?,
            symbols: words(symbols),
            libraries: words(libraries),
            remarks: remarks.iter().map(|&line| line.to_owned()).collect(),
            object: std::fs::read(object).ok()?,
        })
    }

    /// Keeps what was made for a key.
    pub(crate) fn keep(&self, key: &str, made: &Made) -> Result<()> {
        let [object, facts] = self.paths(key);
        write(&object, &made.object)?;
        // Last, so that what is half-written is not found.
        let Made { range, which, symbols, libraries, remarks, .. } = made;
        let mut text =
            format!("{range}\n{}\n{}\n{}\n", which.words(), symbols.join(" "), libraries.join(" "));
        remarks.iter().for_each(|line| text.extend([line.as_str(), "\n"]));
        write(&facts, text.as_bytes())
    }

    /// Removes all that has none of these keys.
    pub(crate) fn forget_others(&self, keys: &[String]) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_kept = |key: &String| path.file_stem().and_then(|stem| stem.to_str()) == Some(key);
            if !keys.iter().any(is_kept) {
                remove(&path);
            }
        }
    }
}

fn remove(path: &Path) {
    // What cannot be removed does no harm.
    let _ = std::fs::remove_file(path);
}
