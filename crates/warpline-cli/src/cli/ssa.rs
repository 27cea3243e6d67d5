//! Options of `ssa` and `ssi`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::CompilerOptions;
use crate::forms::Form;

/// Options of `ssa`.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("pruning"), group = clap::ArgGroup::new("report"))]
#[command(after_help = "Examples:
  warpline ssa program.c --pruned
  warpline ssa program.ll --format llvm --strict -o program.ssa.ll
  warpline ssa program.c --uninitialized")]
pub struct SsaOptions {
    /// .rs, .c, .cpp, .cl, .ll, .bc or .wl. Sources are compiled without optimization: local variables are memory then,
    /// and are promoted where their address does not escape
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// How φs are placed
    #[arg(long, value_enum, default_value_t)]
    pub placement: PlacementChoice,
    /// Which variables count as holding a value when control enters
    #[arg(long, value_enum, default_value_t)]
    pub entry: EntryChoice,
    /// All φs where definitions meet [the default]
    #[arg(long, group = "pruning")]
    pub minimal: bool,
    /// No φs of variables that every block writes before it reads them
    #[arg(long, group = "pruning")]
    pub semi_pruned: bool,
    /// No φs where the variable is not live
    #[arg(long, group = "pruning")]
    pub pruned: bool,
    /// Add φs with an undefined operand where a definition would not dominate its uses otherwise
    #[arg(long)]
    pub strict: bool,
    /// Loop-closed SSA form: values leave loops through φs only
    #[arg(long)]
    pub loop_closed: bool,
    /// Print instead how many φs each placement needs, and its time: the sum over all functions of medians over 5 runs,
    /// dominators included
    #[arg(long, group = "report", conflicts_with_all = ["placement", "pruning", "strict", "loop_closed"])]
    pub stats: bool,
    /// With --stats: by function, too
    #[arg(long, requires = "stats")]
    pub by_function: bool,
    /// Print instead the reads of variables that were never, or maybe not, written. Exit code 1 if there are any
    #[arg(long, group = "report", conflicts_with_all = ["placement", "entry", "pruning", "strict", "loop_closed"])]
    pub uninitialized: bool,
    /// How to print; llvm: the module with its functions in SSA form, which must be strict
    #[arg(long, value_enum, default_value_t)]
    pub format: SsaFormat,
    /// Write to this file instead of standard output (`-`)
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}

/// How φs are placed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum PlacementChoice {
    /// Where definitions meet and nowhere else, fast.
    #[default]
    Precise,
    /// The same places, by Masud's and Ciccozzi's algorithm.
    ReachingDefinitions,
    /// Where definitions meet if every variable is defined on entry.
    DominanceFrontier,
}

/// How functions in SSA form are printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum SsaFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// LLVM's text.
    Llvm,
}

fn form(name: &str) -> Result<Form, String> {
    Form::from_name(name)
        .ok_or_else(|| format!("`{name}` is no strategy; there are {}", Form::names().join(", ")))
}

/// Options of `ssi`.
#[derive(Args)]
#[command(after_help = "Examples:
  warpline ssi --strategy list
  warpline ssi program.c --strategy abcd
  warpline ssi program.c --strategy abcd --stats")]
pub struct SsiOptions {
    /// .rs, .c, .cpp, .cl, .ll, .bc or .wl. Sources are compiled without optimization, and brought into pruned SSA form
    pub inputs: Vec<PathBuf>,
    /// Where live ranges are split: the name of a data-flow client or of a form; `list` prints all of them
    #[arg(long, value_name = "NAME", value_parser = form)]
    pub strategy: Form,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Print instead how many φs, σs and copies are added, and how long that takes, compared with Singer's SSI form:
    /// sums over all functions; times are medians over 5 runs. The φs of SSA form itself are not counted
    #[arg(long)]
    pub stats: bool,
    /// With --stats: by function, too
    #[arg(long, requires = "stats")]
    pub by_function: bool,
    /// How to print; llvm: the module with its functions, in which only added φs can be seen
    #[arg(long, value_enum, default_value_t)]
    pub format: SsaFormat,
    /// Write to this file instead of standard output (`-`)
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}

/// Which variables count as holding a value when control enters a function.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum EntryChoice {
    /// All, as dominance frontiers assume.
    All,
    /// Only parameters: they are stored to their variables at the beginning, so no variable holds a value before.
    #[default]
    Parameters,
}
