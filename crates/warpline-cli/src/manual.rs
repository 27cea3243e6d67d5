//! `warpline completions` and `warpline man`: what shells and manuals know of the program, made from its options.

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::Outcome;
use crate::cli::{Cli, CompletionOptions, ManOptions};
use crate::error::{Error, Result};
use crate::output;

/// Prints the completions for a shell.
///
/// # Errors
/// If they cannot be printed.
pub(crate) fn completions(options: &CompletionOptions) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "warpline", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Clean)
}

/// Writes manual pages: of the program, and of each verb `warpline-VERB.1`.
///
/// # Errors
/// If one cannot be written.
pub(crate) fn man(options: &ManOptions) -> Result<Outcome> {
    let program = Cli::command();
    let Some(folder) = &options.output else {
        output::print(&page(program)?)?;
        return Ok(Outcome::Clean);
    };
    let failed = |e: std::io::Error| Error::Output { path: folder.clone(), reason: e.to_string() };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(program, folder).map_err(failed)?;
    Ok(Outcome::Clean)
}

fn page(command: clap::Command) -> Result<String> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
