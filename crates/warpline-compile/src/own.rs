//! Which functions of an input are the user's own, and not a library's.

use std::path::{Component, Path, PathBuf};

use warpline_ir::Function;
use warpline_llvm::{Imported, InputKind};

/// Whose a function of an input is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// It is written in the input itself, or nobody knows where, as in modules.
    Input,
    /// It is written in another file of the user's: in C, one that the input includes, but for headers of the system.
    User,
    /// It is a library's.
    Library,
}

impl Owner {
    /// Whose a function of this input is.
    pub(crate) fn of(imported: &Imported, func: &Function, input: &Path) -> Owner {
        let kind = InputKind::of(input).ok();
        if matches!(kind, Some(InputKind::Text | InputKind::Bitcode | InputKind::Warpline)) {
            return Owner::Input;
        }
        let Some(location) = func.loc.expand() else { return Owner::Input };
        let file = Path::new(&*imported.ir.locations[location].file);
        if file.file_name() == input.file_name() {
            return Owner::Input;
        }
        // Of a crate, rustc does not say which files it has read.
        let is_own = kind != Some(InputKind::Rust)
            && (imported.own_files.iter().any(|own| named(own) == named(file)) || is_beside(file, input));
        if is_own { Owner::User } else { Owner::Library }
    }

    /// Whether a function is the user's.
    pub(crate) fn is_own(imported: &Imported, func: &Function, input: &Path) -> bool {
        Owner::of(imported, func, input) != Owner::Library
    }
}

/// A path without the parts that name nothing.
fn named(path: &Path) -> PathBuf {
    path.components().filter(|c| *c != Component::CurDir).collect()
}

/// Whether a file is in the folder of another one or below, as both are named. Flags may give files other names in
/// debug information than they have.
fn is_beside(file: &Path, input: &Path) -> bool {
    let (file, input) = (named(file), named(input));
    let folder = input.parent().unwrap_or(Path::new(""));
    let goes_up = |p: &Path| p.components().any(|c| c == Component::ParentDir);
    file.is_absolute() == input.is_absolute() && file.strip_prefix(folder).is_ok_and(|rest| !goes_up(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_the_folder_of_an_input_are_beside_it() {
        let beside = [("a.h", "a.c"), ("./x/a.h", "a.c"), ("/p/x/a.h", "/p/a.c"), ("src/a.h", "./src/a.c")];
        assert!(beside.iter().all(|(file, input)| is_beside(Path::new(file), Path::new(input))));
        let elsewhere =
            [("../a.h", "a.c"), ("/usr/include/a.h", "a.c"), ("/q/a.h", "/p/a.c"), ("lib/a.h", "src/a.c")];
        assert!(!elsewhere.iter().any(|(file, input)| is_beside(Path::new(file), Path::new(input))));
    }
}
