//! What can go wrong, in words: what, where, and what to do about it.

use std::path::PathBuf;

use warpline_ir::Module;
use warpline_vectorize::VectorizeError;

/// A failure: bad usage or bad input, with which the program ends with exit code 2, or a [defect](Error::is_internal)
/// of warpline.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading, translating or linking failed.
    #[error(transparent)]
    Llvm(#[from] warpline_llvm::Error),
    /// A function cannot be vectorized; the text names the place.
    #[error("{0}")]
    Vectorize(String),
    /// A stage of warpline did what the next one does not expect. There is no input for which that should happen.
    #[error(
        "internal error: {0}\nThis is a defect of warpline, and nothing was written. Please report it with \
         the input, reduced as far as it still shows this message"
    )]
    Internal(String),
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
    /// The error that a stage of the vectorizer reports about a function of this module.
    pub fn of_vectorizer(error: &VectorizeError, module: &Module) -> Error {
        Error::of_kind(error, error.describe(module))
    }

    /// An error of the vectorizer with a message of its own.
    pub(crate) fn of_kind(error: &VectorizeError, message: String) -> Error {
        if error.is_internal() { Error::Internal(message) } else { Error::Vectorize(message) }
    }

    /// Whether it is a defect of warpline.
    pub fn is_internal(&self) -> bool {
        matches!(self, Error::Internal(_) | Error::Llvm(warpline_llvm::Error::Internal { .. }))
    }

    /// An [`Error::Option`].
    pub fn option(option: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Option { option: option.into(), message: message.into() }
    }

    /// An [`Error::Input`].
    pub fn input(path: impl Into<PathBuf>, message: impl Into<String>) -> Error {
        Error::Input { path: path.into(), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use warpline_ir::{Function, Module, Type};

    use super::*;

    #[test]
    fn defects_are_told_from_refusals_by_their_kind() {
        let (module, func) = (Module::new("m"), Function::new("f", Type::Void));
        let refused = VectorizeError::in_function(&func, "internal: it only says so");
        assert!(!Error::of_vectorizer(&refused, &module).is_internal());
        let defect = Error::of_vectorizer(&refused.internal(), &module);
        assert!(defect.is_internal() && defect.to_string().contains("report it with the input"), "{defect}");
        let code = Error::from(warpline_llvm::Error::Internal { message: "m".into() });
        assert!(code.is_internal() && code.to_string().starts_with("internal error: m"), "{code}");
    }
}
