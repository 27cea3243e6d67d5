//! What can go wrong, in words: what, where, and what to do about it.

use std::fmt;
use std::path::PathBuf;

/// A failure. `Debug` shows the same text as `Display`: it is what cargo prints of a build script that returns it.
#[non_exhaustive]
pub enum Error {
    /// A variable that cargo sets for build scripts is missing.
    NoBuildScript {
        /// The variable.
        variable: &'static str,
    },
    /// An option is wrong.
    Option {
        /// What is wrong, and what to do.
        message: String,
    },
    /// A source is wrong, or cannot be used.
    Source {
        /// The source.
        path: PathBuf,
        /// The line, from 1, where there is one.
        line: Option<u32>,
        /// What is wrong, and what to do.
        message: String,
    },
    /// Reading, compiling or vectorizing failed.
    #[cfg(feature = "compile")]
    Compile(warpline_compile::Error),
    /// A file cannot be read or written.
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        reason: String,
    },
    /// There is no code for this target, and none can be made.
    NotPrebuilt {
        /// The target.
        target: String,
        /// Why what is prebuilt cannot be used.
        why: String,
        /// Why there is no program to make it.
        program: String,
    },
    /// What the installed program says is wrong.
    Program {
        /// Its message.
        message: String,
    },
}

/// The result of a step.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Io`].
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>, error: &std::io::Error) -> Error {
        Error::Io { what, path: path.into(), reason: error.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoBuildScript { variable } => {
                write!(f, "{variable} is not set: call this from a build script, which cargo runs")
            }
            Error::Option { message } => f.write_str(message),
            Error::Source { path, line: Some(line), message } => {
                write!(f, "{}:{line}: {message}", path.display())
            }
            Error::Source { path, line: None, message } => write!(f, "{}: {message}", path.display()),
            #[cfg(feature = "compile")]
            Error::Compile(error) => error.fmt(f),
            Error::Io { what, path, reason } => write!(f, "{what} {}: {reason}", path.display()),
            Error::NotPrebuilt { target, why, program } => write!(
                f,
                "there is no code for {target} ({why}), and no program to make it: {program}; install it with \
                 `cargo install warpline-cli`, name it in $WARPLINE_WORKER, or enable the feature `compile` of \
                 warpline-build"
            ),
            Error::Program { message } => f.write_str(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

#[cfg(feature = "compile")]
impl From<warpline_compile::Error> for Error {
    fn from(error: warpline_compile::Error) -> Error {
        Error::Compile(error)
    }
}
