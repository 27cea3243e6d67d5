//! What can go wrong in the bridge: what, where, and what to do about it.

use std::path::PathBuf;

/// Any failure of the bridge. The text of each names the input or the item concerned and, where there is one, the
/// remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No usable LLVM was found.
    #[error(
        "no usable LLVM library was found:\n{}\nset WARPLINE_LLVM to a libLLVM (.so, .dylib, .dll) of version 19 to 23, or \
         install a Rust \
         toolchain (`rustup` ships one) or a package such as `libllvm19`",
        tried.iter().map(|(path, why)| format!("  {}: {why}", path.display())).collect::<Vec<_>>().join("\n")
    )]
    NoLibrary {
        /// Every candidate with the reason it was passed over.
        tried: Vec<(PathBuf, String)>,
    },
    /// The library named by `WARPLINE_LLVM` cannot be used.
    #[error("{path} (from WARPLINE_LLVM) cannot be used: {reason}", path = path.display())]
    UnfitLibrary {
        /// The library.
        path: PathBuf,
        /// Why it is unfit.
        reason: String,
    },
    /// A file could not be read or written, or a program not started.
    #[error("{what} {path}: {reason}", path = path.display())]
    Io {
        /// The attempted action, such as `cannot read`.
        what: &'static str,
        /// The file or program.
        path: PathBuf,
        /// The operating system's words.
        reason: String,
    },
    /// The kind of an input file is not known.
    #[error("{path}: unknown kind of input; expected .rs, .c, .cpp, .cl, .ll, .bc or .wl", path = path.display())]
    UnknownKind {
        /// The input.
        path: PathBuf,
    },
    /// An input in text form is no valid module.
    #[error("{path}: {message}", path = path.display())]
    Text {
        /// The input.
        path: PathBuf,
        /// What is wrong, with its line.
        message: String,
    },
    /// A flag for a compiler is refused.
    #[error("{message}")]
    Flag {
        /// The flag, where it stands, and why.
        message: String,
    },
    /// LLVM could not read an input.
    #[error("{input}: LLVM {version} cannot read it: {message}")]
    Parse {
        /// The input's name.
        input: String,
        /// The library's version.
        version: String,
        /// LLVM's message.
        message: String,
    },
    /// Two modules could not be made one.
    #[error("{input} cannot be linked with {other}: {message}")]
    Link {
        /// The module's name.
        input: String,
        /// The other's name.
        other: String,
        /// LLVM's message.
        message: String,
    },
    /// LLVM's verifier rejected a module.
    #[error("{input}: LLVM's verifier rejects the module: {message}")]
    Verify {
        /// The module's name.
        input: String,
        /// The verifier's message.
        message: String,
    },
    /// A pass pipeline could not be parsed or run.
    #[error("the passes `{passes}` failed: {message}")]
    Passes {
        /// The pipeline.
        passes: String,
        /// LLVM's message.
        message: String,
    },
    /// The target triple is not supported by the loaded library.
    #[error("target `{triple}`: {message}")]
    Target {
        /// The triple.
        triple: String,
        /// LLVM's message.
        message: String,
    },
    /// A module states another data layout than its target has.
    #[error(
        "{input}: its data layout `{stated}` is not that of {triple}, `{target}`: state the target that it was \
         made for, or no layout"
    )]
    Layout {
        /// The module.
        input: String,
        /// The layout that it states.
        stated: String,
        /// The target.
        triple: String,
        /// The target's layout.
        target: String,
    },
    /// A module is for another target than the one asked for.
    #[error("{input}: it is for {stated}, not for {asked}: compile it for that target, or state none in it")]
    OtherTarget {
        /// The module.
        input: String,
        /// Its triple.
        stated: String,
        /// The triple asked for.
        asked: String,
    },
    /// A module for SPIR or SPIR-V that is not made one for a CPU.
    #[error("{input}: it is for {stated}, and {reason}")]
    Spir {
        /// The module.
        input: String,
        /// Its triple.
        stated: String,
        /// Why it cannot be.
        reason: &'static str,
    },
    /// The CPU's name is not known.
    #[error("unknown CPU `{cpu}` for {triple}{hint}")]
    UnknownCpu {
        /// The name given.
        cpu: String,
        /// The target.
        triple: String,
        /// A suggestion, or the empty string.
        hint: String,
    },
    /// Code generation failed.
    #[error("code generation failed: {message}")]
    Emit {
        /// LLVM's message.
        message: String,
    },
    /// Code could not be loaded into this process.
    #[error("cannot run in place: {message}")]
    Jit {
        /// LLVM's message.
        message: String,
    },
    /// A compiler rejected an input; its own messages are relayed.
    #[error("{}: {tool} rejects it:\n{}{}", input.display(), output.trim_end(), missing_flag(output))]
    FrontEnd {
        /// The compiler.
        tool: String,
        /// The source file.
        input: PathBuf,
        /// Everything the compiler printed.
        output: String,
    },
    /// The compiler that an input needs is not installed.
    #[error("{}: {tool} was not found; {remedy}", input.display())]
    MissingTool {
        /// The compiler.
        tool: String,
        /// The source file.
        input: PathBuf,
        /// What to install or to set.
        remedy: String,
    },
    /// LLVM ended the worker process.
    #[error("{input}: LLVM gave up on this input ({how}){}", if output.is_empty() { String::new() } else { format!(":\n{}", output.trim_end()) })]
    WorkerDied {
        /// The input's name.
        input: String,
        /// The signal or exit code.
        how: String,
        /// What it printed before.
        output: String,
    },
    /// The worker reported an error of its own; the message already names the input.
    #[error("{message}")]
    Worker {
        /// The text of the worker's error.
        message: String,
    },
    /// What was made of an input is not valid. There is no input for which that should happen.
    #[error(
        "internal error: {message}\nThis is a defect of warpline, and nothing was written. Please report it with \
         the input, reduced as far as it still shows this message"
    )]
    Internal {
        /// What is not valid, and of which input it was made.
        message: String,
    },
    /// A function of the IR cannot be expressed in LLVM's.
    #[error("{function}: {item} cannot be exported: {message}")]
    Export {
        /// The function.
        function: String,
        /// The instruction, with its place in the source, or the function itself.
        item: String,
        /// Why not.
        message: String,
    },
    /// There is no function of that name.
    #[error("the module has no function `{name}`{hint}")]
    NoFunction {
        /// The name.
        name: String,
        /// A suggestion, or the empty string.
        hint: String,
    },
}

/// The result of an operation of the bridge.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An [`Error::Io`] about `path`.
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>, reason: &std::io::Error) -> Self {
        Self::Io { what, path: path.into(), reason: reason.to_string() }
    }
}

/// A line on the flag that a build probably has, and the compiler was not given, or the empty string. `output` is what
/// the compiler said.
fn missing_flag(output: &str) -> &'static str {
    if output.contains("' file not found") {
        "\nhint: flags of your build, such as -I and -D, can be written beside the input; -p DIR takes them from the \
         compile_commands.json in a folder"
    } else if output.contains("in namespace 'std'") {
        "\nhint: a newer standard may have it: write -std=c++20 or -std=c++23 beside the input, as your build does"
    } else {
        ""
    }
}

/// `, did you mean …?` for the closest of `known`, or the empty string when none is close.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let limit = name.chars().count() / 3 + 1;
    known
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map_or_else(String::new, |(_, candidate)| format!("; did you mean `{candidate}`?"))
}

/// Levenshtein distance in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_known_name_is_suggested() {
        assert_eq!(did_you_mean("skylke", ["haswell", "skylake", "znver4"]), "; did you mean `skylake`?");
        assert_eq!(did_you_mean("completely-else", ["haswell"]), "");
    }
}
