//! `warpline ssa`: functions in SSA form, what the form costs, and reads of what was not written.
//!
//! All inputs are read, and all functions brought into SSA form, before anything is printed or written.

mod form;
mod stats;
mod uninitialized;

use std::path::{Path, PathBuf};

use warpline::ir::FuncId;
use warpline_llvm::Imported;

use crate::Outcome;
use crate::cli::SsaOptions;
use crate::error::Result;
use crate::kernel::{find_function, load};
use crate::output;

/// A module as it was read, and the functions that are asked for.
struct Input {
    path: PathBuf,
    imported: Imported,
    functions: Vec<FuncId>,
}

impl Input {
    /// Reads an input as the compiler wrote it.
    fn open(path: &Path, function: Option<&str>) -> Result<Input> {
        let imported = load(path, Some(false), None)?;
        let functions = match function {
            Some(_) => vec![find_function(&imported, path, function)?],
            None => imported.ir.functions.keys().collect(),
        };
        Ok(Input { path: path.to_owned(), imported, functions })
    }
}

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options, or the function that cannot be brought into the form asked for.
pub fn ssa(options: &SsaOptions) -> Result<Outcome> {
    if let Some(path) = &options.output {
        output::check(path)?;
    }
    form::check(options)?;
    let open = |path: &PathBuf| Input::open(path, options.function.as_deref());
    let inputs = options.inputs.iter().map(open).collect::<Result<Vec<_>>>()?;
    let (text, outcome) = if options.stats {
        (stats::report(&inputs, options)?, Outcome::Clean)
    } else if options.uninitialized {
        uninitialized::report(&inputs, options)?
    } else {
        (form::print(inputs, options)?, Outcome::Clean)
    };
    output::deliver(options.output.as_deref(), &text)?;
    Ok(outcome)
}
