//! Runs of functions in which loops are vectorized: once with the arguments that are bound.
//!
//! For the drivers such a function is a kernel without an index, run over a range of one.

use warpline::uniformity::report::Reason;
use warpline::vectorize::{Contract, Options as VectorizerOptions};
use warpline_compile::kernel::Kernel;
use warpline_compile::loops::{self, FoundLoop, LoopAt, LoopOptions, MadeLoop, Opened, Region};

use crate::cli::RunOptions;
use crate::drive;
use crate::error::{Error, Result};
use crate::spec::Bind;

use super::data::Data;
use super::picture::Picture;
use super::{SCALAR, Subject, VECTOR, check, check_parameters, made_up, reasons_in};

/// How far sums of floating-point numbers in another order may be off where nothing is said, relative to the result.
pub const REGROUPED: f64 = 1e-5;

/// What there is to run.
pub(super) enum Prepared {
    /// The only function with loops.
    One(Box<Subject>),
    /// There are several; their names.
    Several(Vec<String>),
}

/// Reads a function with loops and makes what is run.
///
/// # Errors
/// Whatever is wrong with input and options, or the reason why a loop cannot be vectorized.
pub(super) fn prepare(
    options: &RunOptions,
    asked: &LoopOptions,
    picture: Option<&Picture>,
    room: made_up::Room,
) -> Result<Prepared> {
    if options.range.is_some() {
        let message = "is for kernels: a function with loops is run once, and its parameters say how often \
         loops go round";
        return Err(Error::option("--range", message));
    }
    let (mut kernel, found) = match loops::open(asked)? {
        Opened::One(kernel, found) => (*kernel, found),
        Opened::Several(names) => return Ok(Prepared::Several(names)),
    };
    check_parameters(kernel.function())?;
    let binds: Vec<&Bind> =
        options.bind.iter().chain(kernel.directives.binds.iter().map(|at| &at.value)).collect();
    let func = kernel.function();
    let made_up = made_up::missing(&kernel.imported.ir, func, &func.params, &kernel.args, &binds, 1, room)?;
    let binds: Vec<&Bind> = binds.into_iter().chain(&made_up).collect();
    let data = Data::new(kernel.function(), &kernel.args, &binds, (0, 1), options.seed)?;
    check(options, &kernel, &data, picture)?;
    drive::scalar(&mut kernel, SCALAR)?;
    let made = drive::loops(&mut kernel, &asked.kernel, &found, VECTOR)?;
    let full = made[0].made.variants.full.clone();
    let marked = asked.loops.contains(&LoopAt::Marked);
    let reasons = reasons(&mut kernel, &found, &made)?;
    let note = (!made_up.is_empty()).then(|| made_up::describe(&made_up, None));
    Ok(Prepared::One(Box::new(Subject { kernel, data, note, made: full, loops: made, marked, reasons })))
}

/// Why branches within the loops that were vectorized are divergent.
fn reasons(kernel: &mut Kernel, found: &[FoundLoop], made: &[MadeLoop]) -> Result<Vec<Reason>> {
    let mut all = Vec::new();
    let made_of = |one: &FoundLoop| made.iter().find(|l| l.header == one.header);
    for (one, l) in found.iter().filter_map(|one| Some((one, made_of(one)?))) {
        let as_made =
            FoundLoop { unit_strides: !l.made.strides.is_empty(), holds: l.made.holds, ..one.clone() };
        let Region { func, args, .. } = loops::region(&mut kernel.imported, &as_made)?;
        let ir = &kernel.imported.ir;
        // Dependences have been judged.
        let asked = VectorizerOptions { contract: Contract::Racy, ..VectorizerOptions::new(2, args, "") };
        // What does not come of it is not explained.
        all.extend(reasons_in(ir, &ir.functions[func], &asked).unwrap_or_default());
    }
    Ok(all)
}
