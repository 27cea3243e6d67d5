//! Options for the compilers of sources, on every verb that reads some.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use warpline_llvm::worker::LoadOptions;
use warpline_llvm::{CompilerFlags, InputKind};

use crate::compile_commands;
use crate::error::Result;

/// What the compilers of sources are told.
#[derive(Args, Default)]
#[command(next_help_heading = "Compilers")]
pub struct CompilerOptions {
    /// A flag for clang. -I, -D, -U, -i..., -std=, -f..., -m..., -W..., -O... can be written as they are, and any flag
    /// behind `--`; CPPFLAGS, CFLAGS and CXXFLAGS count, too
    #[arg(long = "clang-arg", value_name = "FLAG", allow_hyphen_values = true)]
    pub clang: Vec<OsString>,
    /// The project's folder: flags of C and C++ are those of its compile_commands.json, and modules of a package in Rust
    /// are compiled by cargo
    #[arg(short = 'p', value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Leave out flags that ask for sanitizers, coverage or profiles, instead of refusing them
    #[arg(long)]
    pub strip_instrumentation: bool,
    /// For rustc: a configuration, as NAME or NAME="VALUE"
    #[arg(long, value_name = "SPEC")]
    pub cfg: Vec<OsString>,
    /// For rustc: a crate that the input uses
    #[arg(long = "extern", value_name = "NAME[=PATH]")]
    pub externs: Vec<OsString>,
    /// For rustc: a folder with crates
    #[arg(short = 'L', value_name = "[KIND=]PATH")]
    pub search: Vec<OsString>,
    /// For rustc: the edition of the input [default: 2024, or 2021 if it is not of that]
    #[arg(long, value_name = "YEAR")]
    pub edition: Option<OsString>,
    /// An argument for rustc
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub rustc_arg: Vec<OsString>,
}

impl CompilerOptions {
    /// What the compiler of an input is told.
    ///
    /// # Errors
    /// If the project's flags of the input cannot be found.
    pub fn flags(&self, input: &Path) -> Result<CompilerFlags> {
        let is_c = InputKind::of(input).is_ok_and(|kind| matches!(kind, InputKind::C | InputKind::Cpp));
        let project = match &self.project {
            Some(folder) if is_c => compile_commands::flags(folder, input)?,
            _ => Vec::new(),
        };
        let with = |flag: &str, values: &[OsString]| -> Vec<OsString> {
            values.iter().flat_map(|value| [flag.into(), value.clone()]).collect()
        };
        let mut rustc = with("--cfg", &self.cfg);
        rustc.extend(with("--extern", &self.externs));
        rustc.extend(with("-L", &self.search));
        rustc.extend(self.edition.iter().flat_map(|year| ["--edition".into(), year.clone()]));
        rustc.extend(self.rustc_arg.iter().cloned());
        Ok(CompilerFlags {
            clang: self.clang.clone(),
            project,
            package: self.is_package(),
            rustc,
            strip_instrumentation: self.strip_instrumentation,
            ..CompilerFlags::default()
        })
    }

    /// Whether the project is a package of cargo.
    pub fn is_package(&self) -> bool {
        self.project.as_ref().is_some_and(|folder| folder.join("Cargo.toml").is_file())
    }

    /// How an input is read as its compiler writes it.
    ///
    /// # Errors
    /// As [`CompilerOptions::flags`].
    pub fn as_written(&self, input: &Path) -> Result<LoadOptions> {
        Ok(LoadOptions { simplify: Some(false), ..self.load_options(input)? })
    }

    /// How an input is read.
    ///
    /// # Errors
    /// As [`CompilerOptions::flags`].
    pub fn load_options(&self, input: &Path) -> Result<LoadOptions> {
        Ok(LoadOptions { flags: self.flags(input)?, ..LoadOptions::default() })
    }
}

/// Which files that an input is made of are listed, for make and other programs that build.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct DependencyOptions {
    /// Write a rule of make with all files that the output depends on, as -MD does; `user`, as -MMD: without headers
    /// of the system
    #[arg(long, value_name = "WHICH", value_enum)]
    pub dependencies: Option<WhichFiles>,
    /// Where to write the rule, as -MF does [default: the output with the suffix .d]
    #[arg(long, value_name = "FILE")]
    pub dependency_file: Option<PathBuf>,
    /// What the rule makes, as -MT does [default: the outputs]
    #[arg(long, value_name = "TARGET")]
    pub dependency_target: Vec<String>,
}

/// Which files are dependencies.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum WhichFiles {
    /// All.
    All,
    /// Those that are no headers of the system.
    User,
}

impl From<WhichFiles> for warpline_llvm::Dependencies {
    fn from(which: WhichFiles) -> Self {
        match which {
            WhichFiles::All => Self::All,
            WhichFiles::User => Self::User,
        }
    }
}
