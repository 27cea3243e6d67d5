//! `warpline ssi`: functions whose live ranges are split, and what that costs.
//!
//! All inputs are read, and all functions split, before anything is printed or written.
//!
//! * `print`: functions with split live ranges, as text;
//! * `stats`: what is added, and how long it takes, compared with Singer's SSI form.

mod print;
mod stats;

use crate::Outcome;
use crate::cli::{SsaFormat, SsiOptions};
use crate::error::{Error, Result};
use crate::forms::{self, Form};
use crate::input::Input;
use crate::output;

/// Runs the command.
///
/// # Errors
/// Whatever is wrong with inputs and options, or the function that cannot be brought into the form asked for.
pub(crate) fn ssi(options: &SsiOptions) -> Result<Outcome> {
    output::check(options.output.as_deref(), &options.inputs)?;
    check(options)?;
    let text = if options.strategy == Form::List {
        forms::list().text()
    } else {
        let inputs = Input::open_all(&options.inputs, options.function.as_deref(), &options.compilers)?;
        match options.stats {
            true => stats::report(inputs, options)?,
            false => print::print(inputs, options)?,
        }
    };
    output::deliver(options.output.as_deref(), &text)?;
    Ok(Outcome::Clean)
}

/// Refuses what does not fit together, before anything is read.
fn check(options: &SsiOptions) -> Result<()> {
    match (options.strategy, options.inputs.len(), options.format) {
        (Form::List, 0, SsaFormat::Text) => Ok(()),
        (Form::List, 0, _) => Err(Error::option("--strategy list", "it is printed as text only")),
        (Form::List, ..) => Err(Error::option("--strategy list", "it takes no input")),
        (_, 0, _) => Err(Error::option("INPUTS", "give one at least: .ll, .bc, .rs, .c, .cpp or .cl")),
        (_, _, SsaFormat::Llvm) if options.stats => {
            Err(Error::option("--format llvm", "there is no such form of --stats; use text or json"))
        }
        (_, 2.., SsaFormat::Llvm) => {
            Err(Error::option("--format llvm", "it makes one module: give one input"))
        }
        _ => Ok(()),
    }
}
