//! Runs of functions in which loops are vectorized: once with the arguments that are bound.
//!
//! For the drivers such a function is a kernel without an index, run over a range of one.

use warpline_compile::loops::{self, LoopOptions};

use crate::cli::RunOptions;
use crate::drive;
use crate::error::{Error, Result};
use crate::spec::Bind;

use super::data::Data;
use super::picture::Picture;
use super::{SCALAR, Subject, VECTOR, check, check_parameters};

/// How far sums of floating-point numbers in another order may be off where nothing is said, relative to the result.
pub const REGROUPED: f64 = 1e-5;

/// Reads a function with loops and makes what is run.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why a loop cannot be vectorized.
pub(super) fn prepare(
    options: &RunOptions,
    asked: &LoopOptions,
    picture: Option<&Picture>,
) -> Result<Subject> {
    if options.range.is_some() {
        let message = "is for kernels: a function with loops is run once, and its parameters say how often \
         loops go round";
        return Err(Error::option("--range", message));
    }
    let (mut kernel, found) = loops::open(asked)?;
    check_parameters(kernel.function())?;
    let binds: Vec<&Bind> =
        options.bind.iter().chain(kernel.directives.binds.iter().map(|at| &at.value)).collect();
    let data = Data::new(kernel.function(), &kernel.args, &binds, (0, 1), options.seed)?;
    check(options, &kernel, &data, picture)?;
    drive::scalar(&mut kernel, SCALAR)?;
    let made = drive::loops(&mut kernel, &asked.kernel, &found, VECTOR)?;
    let full = made[0].made.variants.full.clone();
    Ok(Subject { kernel, data, made: full, loops: made, reasons: Vec::new() })
}
