//! Options. Their texts are those of `--help`.
//!
//! A command line goes through these files in this order:
//! * `words`: flags of clang, which clap cannot read, become options that it can;
//! * this file: the verbs, and what all of them take;
//! * `kernel` (`vectorize`, `run`), `analysis` (`analyze`, `explain`, `constant-time`, `lint`), `ssa` (`ssa`, `ssi`),
//!   `report` and `opt`: the options of the verbs; `set_up`: those about installations and new sources;
//! * `compilers`: what rustc and clang are told, on every verb that reads sources;
//! * `modes`: options that choose one of a few words.
//!
//! Options say what is wanted and nothing of how it is done; each verb has a module of its own beside this folder.

// Brackets in texts for the terminal are no links.
#![allow(rustdoc::broken_intra_doc_links)]

mod analysis;
mod compilers;
mod kernel;
mod modes;
mod opt;
mod report;
mod set_up;
mod ssa;
mod words;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::output::color::ColorChoice;

pub use analysis::{
    AnalysisFormat, AnalyzeOptions, AssumptionOptions, ConstantTimeOptions, ExplainOptions, FindingFormat,
    Level, LintOptions, target, work_group,
};
pub use compilers::{CompilerOptions, DependencyOptions, WhichFiles};
pub use kernel::{KernelOptions, LoopChoice, RemarkOptions, ReportOptions, RunOptions, VectorizeOptions};
pub use modes::{BosccMode, CoherenceMode, Contract, LinearizeMode, RemarkMode};
pub use opt::OptOptions;
pub use report::ReportPageOptions;
pub use set_up::{CompletionOptions, DoctorOptions, InitOptions, ManFormat, ManOptions};
pub use ssa::{EntryChoice, PlacementChoice, SsaFormat, SsaOptions, SsiOptions};
pub(crate) use words::split;

/// Vectorizes programs that are written for one lane, and explains what is uniform and what diverges.
#[derive(Parser)]
#[command(
    name = "warpline",
    version,
    max_term_width = 80,
    about = "Vectorizes programs written for one lane, and explains what diverges and why",
    after_help = "Examples:
  warpline run kernel.rs                    time vector code against scalar code
  warpline doctor                           what is installed, and what is missing
  warpline vectorize kernel.c -o kernel.o   or .s, .ll, .bc
  warpline explain kernel.c --line 12       why something diverges
  warpline --version --verbose              the LLVM, rustc and clang in use
  warpline --print help                     what builds of other programs need

WARPLINE_LOG=debug logs which processes run and what decides widths.
Exit codes: 0 done, 1 finding, 2 wrong usage or input, 3 defect of warpline."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// What holds for every verb.
    #[command(flatten)]
    pub process: ProcessOptions,
}

/// Options of a process, whatever it does.
#[derive(Args)]
pub struct ProcessOptions {
    /// How much memory a process that reads an input, makes code or runs a kernel may have: bytes, or KiB, MiB,
    /// GiB; 0 for no limit
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        value_parser = memory_size,
        default_value = "4GiB",
        help_heading = "Process"
    )]
    pub memory: u64,
    /// When to color the words `error` and `warning`; NO_COLOR turns auto off
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, help_heading = "Process")]
    pub color: ColorChoice,
}

impl ProcessOptions {
    /// Settles them for this process. Once.
    pub fn apply(&self) {
        crate::output::color::set(self.color);
        warpline_llvm::child::set_memory(self.memory);
    }
}

/// The least memory with which a process can open LLVM, in bytes.
const LEAST_MEMORY: u64 = 512 << 20;

/// An amount of memory, in bytes, from what is written on the command line.
///
/// # Errors
/// If it is no size, or too small for LLVM.
pub fn memory_size(text: &str) -> Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift))).unwrap_or((text, 0));
    let bytes = number.trim().parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    match bytes {
        None => {
            Err(format!("`{text}` is no size: write bytes, or a number of KiB, MiB or GiB, such as 4GiB"))
        }
        Some(1..LEAST_MEMORY) => Err(format!("{text} are too few for LLVM; it needs 512MiB or more")),
        Some(bytes) => Ok(bytes),
    }
}

/// The verbs.
#[derive(Subcommand)]
pub enum Verb {
    /// Vectorize a kernel or loops: object file, assembly, bitcode or LLVM IR
    Vectorize(VectorizeOptions),
    /// Run a kernel or loops scalar and vectorized, compare the results, and time both
    Run(RunOptions),
    /// Print which values, branches and loops diverge, and why
    Analyze(AnalyzeOptions),
    /// Explain step by step why a value, a branch or a source line diverges, or is uniform
    Explain(ExplainOptions),
    /// Check that the timing of a function does not depend on secrets
    ConstantTime(ConstantTimeOptions),
    /// Check functions by a data-flow analysis: bounds, null pointers, taint and others
    Lint(LintOptions),
    /// Construct SSA form; count φs; find reads of uninitialized variables
    Ssa(SsaOptions),
    /// Split live ranges for a data-flow analysis (e-SSA, SSI and similar forms)
    Ssi(SsiOptions),
    /// Write one HTML page on all loops and kernels of a project: what becomes of each, and why not more
    Report(ReportPageOptions),
    /// Run single passes of the vectorizer on functions in text form
    Opt(OptOptions),
    /// Write into a source what its loops or kernels are and what a run passes
    Init(InitOptions),
    /// Say which compilers, libraries and vectors this machine has, and what is lost without the others
    Doctor(DoctorOptions),
    /// Print completions for a shell
    Completions(CompletionOptions),
    /// Print the manual page, or write those of all verbs
    Man(ManOptions),
}

impl Verb {
    /// Whether an input is named.
    pub fn has_input(&self) -> bool {
        match self {
            Verb::Analyze(AnalyzeOptions { inputs, .. })
            | Verb::Lint(LintOptions { inputs, .. })
            | Verb::Ssa(SsaOptions { inputs, .. })
            | Verb::Ssi(SsiOptions { inputs, .. }) => !inputs.is_empty(),
            Verb::Report(ReportPageOptions { inputs, compilers, .. }) => {
                !inputs.is_empty() || compilers.project.is_some()
            }
            Verb::Vectorize(_)
            | Verb::Run(_)
            | Verb::Explain(_)
            | Verb::ConstantTime(_)
            | Verb::Init(_)
            | Verb::Doctor(_)
            | Verb::Completions(_)
            | Verb::Man(_) => true,
            Verb::Opt(OptOptions { input, .. }) => input.is_some(),
        }
    }
}

/// How results are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    #[value(alias = "table")]
    Text,
    /// For programs.
    Json,
}

/// How tables are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum TableFormat {
    /// For people.
    #[default]
    #[value(alias = "table")]
    Text,
    /// For documents.
    Markdown,
    /// For programs.
    Json,
}
