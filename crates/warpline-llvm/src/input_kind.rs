//! What an input file is.

use std::path::Path;

use crate::error::{Error, Result};

/// What an input file is, by its extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputKind {
    /// `.ll`: LLVM's text.
    Text,
    /// `.bc`: LLVM's bitcode.
    Bitcode,
    /// `.rs`.
    Rust,
    /// `.c`.
    C,
    /// `.cc`, `.cpp`, `.cxx`.
    Cpp,
    /// `.cl`.
    OpenCl,
    /// `.wl`: warpline's text form.
    Warpline,
}

impl InputKind {
    /// The kind of a file.
    ///
    /// # Errors
    /// [`Error::UnknownKind`].
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("ll") => Ok(Self::Text),
            Some("bc") => Ok(Self::Bitcode),
            Some("rs") => Ok(Self::Rust),
            Some("c") => Ok(Self::C),
            Some("cc" | "cpp" | "cxx") => Ok(Self::Cpp),
            Some("cl") => Ok(Self::OpenCl),
            Some("wl") => Ok(Self::Warpline),
            _ => Err(Error::UnknownKind { path: path.to_owned() }),
        }
    }

    /// Whether a compiler has to run first.
    pub fn is_source(self) -> bool {
        !matches!(self, Self::Text | Self::Bitcode | Self::Warpline)
    }
}
