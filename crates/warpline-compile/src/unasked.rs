//! What is meant where neither options nor arguments say it: loops or kernels.
//!
//! Marked loops are meant before all else. An input that says nothing at all, such as any file of C or Rust, is read as
//! what it is, sequential functions: all of their loops are meant. Kernels need a word: directives, OpenCL's `kernel`,
//! or a function with cross-lane operations.

use warpline_ir::group_functions::is_gpu;
use warpline_llvm::InputKind;
use warpline_vectorize::call_graph::has_cross_lane_operations;

use crate::directives;
use crate::error::Result;
use crate::find_loops::{LoopAt, LoopOptions, find};
use crate::loops::load_for;
use crate::openmp;
use crate::options::KernelOptions;

/// The loops that are meant in an input, in functions of these names or patterns (none for all); none if kernels are.
///
/// # Errors
/// If a directive is malformed, or the input cannot be read.
pub fn loops(options: &KernelOptions, functions: &[String]) -> Result<Vec<LoopAt>> {
    if options.args.is_some() {
        return Ok(Vec::new());
    }
    Ok(match () {
        () if has_marks(options)? => vec![LoopAt::Marked],
        () if is_sequential(options, functions)? => vec![LoopAt::All],
        () => Vec::new(),
    })
}

/// Whether an input marks loops and says nothing of parameters.
///
/// # Errors
/// If a directive is malformed.
pub fn has_marks(options: &KernelOptions) -> Result<bool> {
    let by_directive = !directives::read_loops(&options.input)?.is_empty();
    let marked = by_directive || openmp::marks_loops(options);
    Ok(marked && directives::read(&options.input)?.iter().all(|group| group.args.is_none()))
}

/// Whether nothing in an input speaks of lanes, and it has a loop.
fn is_sequential(options: &KernelOptions, functions: &[String]) -> Result<bool> {
    if matches!(InputKind::of(&options.input)?, InputKind::Warpline | InputKind::OpenCl) {
        return Ok(false);
    }
    let groups = directives::read(&options.input)?;
    if groups.iter().any(|group| group.args.is_some() || group.range.is_some()) {
        return Ok(false);
    }
    let all = LoopOptions {
        functions: functions.to_vec(),
        loops: vec![LoopAt::All],
        ..LoopOptions::marked(options.clone())
    };
    let Ok(source) = load_for(&all) else { return Ok(false) };
    let imported = source.imported;
    if is_gpu(&imported.ir.triple) || !imported.bridge.module().opencl_kernels().is_empty() {
        return Ok(false);
    }
    let Ok((found, refused)) = find(&imported, &all) else { return Ok(false) };
    let has_loops = !found.is_empty() || !refused.is_empty();
    Ok(has_loops
        && !found.iter().any(|one| has_cross_lane_operations(&imported.ir, &imported.ir.functions[one.func])))
}
