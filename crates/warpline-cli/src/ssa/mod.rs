//! `warpline ssa`: functions in SSA form, what the form costs, and reads of what was not written.
//!
//! All inputs are read, and all functions brought into SSA form, before anything is printed or written.
//!
//! * `form`: functions in SSA form, as text of ours or of LLVM;
//! * `stats`: how many φs each placement needs, and how long it takes;
//! * `uninitialized`: reads of variables that were never, or maybe not, written.

mod form;
mod stats;
mod uninitialized;

use crate::Outcome;
use crate::cli::SsaOptions;
use crate::error::Result;
use crate::input::Input;
use crate::output;

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options, or the function that cannot be brought into the form asked for.
pub(crate) fn ssa(options: &SsaOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &options.inputs)?;
    form::check(options)?;
    let inputs = Input::open_all(&options.inputs, options.function.as_deref(), &options.compilers)?;
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
