//! Options of the verbs about an installation and about new sources: `doctor`, `init`, `completions`, `man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use super::{CompilerOptions, Format};

/// Options of `doctor`.
#[derive(Args)]
pub struct DoctorOptions {
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options of `init`.
#[derive(Args)]
#[command(after_help = "Examples:
  warpline init saxpy.c           shows the lines, and asks
  warpline init kernel.rs --yes   writes them")]
pub struct InitOptions {
    /// .rs, .c, .cpp or .cl
    pub input: PathBuf,
    /// Write without asking
    #[arg(short, long)]
    pub yes: bool,
    /// What the compilers of sources are told.
    #[command(flatten)]
    pub compilers: CompilerOptions,
}

/// Options of `completions`.
#[derive(Args)]
#[command(after_help = "Examples:
  warpline completions bash > ~/.local/share/bash-completion/completions/warpline
  warpline completions fish > ~/.config/fish/completions/warpline.fish")]
pub struct CompletionOptions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Options of `man`.
#[derive(Args)]
pub struct ManOptions {
    /// The folder to write a page for each verb to; with --format markdown, the file
    /// [default: the page of warpline, on standard output]
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Manual pages, or one page on all verbs for documents
    #[arg(long, value_enum, default_value_t)]
    pub format: ManFormat,
}

/// What `man` writes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum ManFormat {
    /// Manual pages.
    #[default]
    Roff,
    /// One page of Markdown.
    Markdown,
}
