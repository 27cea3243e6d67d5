//! What can go wrong, in words: what, where, and what to do about it.

use std::path::PathBuf;

/// A failure: bad usage or bad input. The program prints it and ends with exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading, translating or linking failed.
    #[error(transparent)]
    Llvm(#[from] warpline_llvm::Error),
    /// A function cannot be vectorized; the text names the place.
    #[error("{0}")]
    Vectorize(String),
    /// A comment line with a directive is wrong.
    #[error("{}:{line}: {message}", path.display())]
    Directive {
        /// The input.
        path: PathBuf,
        /// The line, from 1.
        line: u32,
        /// What is wrong with it.
        message: String,
    },
    /// An option is wrong for this input.
    #[error("{option}: {message}")]
    Option {
        /// The option, as it was written.
        option: String,
        /// What is wrong with it.
        message: String,
    },
    /// Something about the input that is none of the above.
    #[error("{}: {message}", path.display())]
    Input {
        /// The input.
        path: PathBuf,
        /// What is wrong, and what to do.
        message: String,
    },
    /// An output file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        reason: String,
    },
}

/// The result of a step.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Option`].
    pub fn option(option: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Option { option: option.into(), message: message.into() }
    }

    /// An [`Error::Input`].
    pub fn input(path: impl Into<PathBuf>, message: impl Into<String>) -> Error {
        Error::Input { path: path.into(), message: message.into() }
    }
}
