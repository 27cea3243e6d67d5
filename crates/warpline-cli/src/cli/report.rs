//! Options of `report`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::{CompilerOptions, Format};

/// Options of `report`.
#[derive(Args)]
#[command(after_help = "Exit code 2 if an input cannot be read; the others are reported all the same.

Examples:
  warpline report -p build                    all C and C++ sources of a project
  warpline report src                         all sources below a folder
  warpline report src/*.c -o loops.html
  warpline report kernels.rs --cpu x86-64-v3")]
pub struct ReportPageOptions {
    /// .rs, .c, .cpp, .cl, .ll, .bc or .wl, or folders with sources [default: what compile_commands.json in the folder
    /// of -p lists]
    pub inputs: Vec<PathBuf>,
    /// The page
    #[arg(short, long, value_name = "PATH", default_value = "warpline-report.html")]
    pub output: PathBuf,
    /// What to write: the page, or the same as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// The CPU that code would be made for
    #[arg(long, value_name = "NAME", default_value = "native")]
    pub cpu: String,
    /// So many inputs are looked at at once [default: as many as there are CPUs]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}
