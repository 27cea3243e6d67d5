//! Runs of functions in which loops are vectorized: once with the arguments that are bound.
//!
//! For the drivers such a function is a kernel without an index, run over a range of one.

use warpline::vectorize::driver;
use warpline_compile::loops::{self, LoopOptions};

use crate::cli::RunOptions;
use crate::error::{Error, Result};
use crate::spec::Bind;

use super::data::Data;
use super::{SCALAR, Subject, VECTOR, check_parameters};

/// How far sums of floating-point numbers in another order may be off where nothing is said, relative to the result.
pub const REGROUPED: f64 = 1e-5;

/// Reads a function with loops and makes what is run.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why a loop cannot be vectorized.
pub fn prepare(options: &RunOptions, asked: &LoopOptions) -> Result<Subject> {
    if options.range.is_some() {
        let message = "is for kernels: a function with loops is run once, and its parameters say how often loops go round";
        return Err(Error::option("--range", message));
    }
    let (mut kernel, found) = loops::open(asked)?;
    check_parameters(kernel.function())?;
    let binds: Vec<&Bind> =
        options.bind.iter().chain(kernel.directives.binds.iter().map(|at| &at.value)).collect();
    let data = Data::new(kernel.function(), &kernel.args, &binds, (0, 1), options.seed)?;
    let (copy, made) = loops::vectorize_copy(&mut kernel, &asked.kernel, &found, "warpline_run_loops")?;
    let drivers = (|| {
        let ir = &mut kernel.imported.ir;
        let scalar = driver::scalar_range(ir, kernel.func, &kernel.args, "warpline_run_scalar_range")?;
        let vector = driver::scalar_range(ir, copy, &kernel.args, "warpline_run_vector_range")?;
        let scalar_entry = driver::slots_entry(ir, scalar, SCALAR)?;
        let vector_entry = driver::slots_entry(ir, vector, VECTOR)?;
        Ok([scalar, vector, scalar_entry, vector_entry])
    })();
    let drivers = drivers.map_err(|e| kernel.refusal(&e))?;
    let forms = made.iter().flat_map(|l| l.made.functions());
    let new: Vec<_> = forms.chain([copy]).chain(drivers).collect();
    kernel.export(&new)?;
    let full = made[0].made.full.clone();
    Ok(Subject { kernel, data, made: full, loops: made, reasons: Vec::new() })
}
