//! What is run in place: the scalar program and W-lane forms of one kernel, each with drivers and an entry of its
//! own, side by side in the kernel's module.

use warpline::ir::{
    BinaryOp, CastOp, Effects, FuncId, Function, MemAccess, Op, SymbolData, SymbolKind, Type,
};
use warpline::vectorize::driver::{self, Tail};
use warpline::vectorize::{Options as VectorizerOptions, Vectorized};
use warpline_compile::KernelOptions;
use warpline_compile::loops::{FoundLoop, MadeLoop, vectorize_copy};
use warpline_llvm::process_has_symbol;

use crate::error::Result;
use crate::kernel::Kernel;

/// Adds the scalar program over a range, with an entry of this name. A kernel that asks which work-item it is is a
/// copy that is brought into the module with it.
///
/// # Errors
/// If a parameter cannot be passed.
pub fn scalar(kernel: &mut Kernel, entry: &str) -> Result<()> {
    let made = over_range(kernel, kernel.func, entry)?;
    let new: Vec<FuncId> = kernel.copies().chain(made).collect();
    kernel.export(&new)
}

/// The name of the driver over a range behind an entry.
pub fn range_of(entry: &str) -> String {
    format!("{entry}_range")
}

/// A function, which is the kernel or a copy of it, over a range of indices.
fn over_range(kernel: &mut Kernel, func: FuncId, entry: &str) -> Result<Vec<FuncId>> {
    let range = kernel.scalar_range(func, &range_of(entry))?;
    let slots = driver::slots_entry(&mut kernel.imported.ir, range, entry);
    Ok(vec![range, slots.map_err(|e| kernel.refusal(&e))?])
}

/// Adds W-lane forms of a kernel, without a mask and with one, as the options say; and their driver over a range,
/// with an entry of this name, which the names of the forms begin with. What is said of the form without a mask.
///
/// # Errors
/// The reason why it cannot be vectorized.
pub fn lanes(kernel: &mut Kernel, options: &KernelOptions, entry: &str) -> Result<Vectorized> {
    let math = kernel.math_library(options);
    let bodies = kernel.imported.final_bodies(kernel.vectors.register_bits);
    let bodies = bodies.with_variants_at_hand(&kernel.imported, process_has_symbol);
    let asked = VectorizerOptions {
        linearize: options.linearize,
        boscc: options.boscc.unwrap_or(kernel.boscc),
        count_lanes: options.count_lanes.as_deref(),
        ..kernel.vectorizer(entry.to_owned() + "_lanes", kernel.width, false, &math, &bodies)
    };
    // What is run is to show what vector code does.
    (kernel.least, kernel.tail) = (0, Tail::Masked);
    let made = kernel.over_range(&asked, &range_of(entry))?;
    let slots = driver::slots_entry(&mut kernel.imported.ir, made.range, entry);
    let slots = slots.map_err(|e| kernel.refusal(&e))?;
    let new: Vec<FuncId> = made.functions().chain([slots]).collect();
    kernel.export(&new)?;
    Ok(made.made.full)
}

/// Adds a copy of a function in which loops are vectorized, with an entry of this name, to be run over a range of one.
///
/// # Errors
/// The reason why a loop cannot be vectorized.
pub fn loops(
    kernel: &mut Kernel,
    options: &KernelOptions,
    found: &[FoundLoop],
    entry: &str,
) -> Result<Vec<MadeLoop>> {
    let (copy, made) = vectorize_copy(kernel, options, found, &format!("{entry}_loops"))?;
    let drivers = over_range(kernel, copy, entry)?;
    let new: Vec<FuncId> =
        made.iter().flat_map(|l| l.made.functions()).chain([copy]).chain(drivers).collect();
    kernel.export(&new)?;
    Ok(made)
}

/// Adds a function `name(n)` that adds 1 to the first of two 64-bit numbers at an address, and `n` to the second.
///
/// # Errors
/// If LLVM does not take it.
pub fn counter(kernel: &mut Kernel, name: &str, address: u64) -> Result<()> {
    const I64: Type = Type::Int(64);
    let mut func = Function::new(name, Type::Void);
    let lanes = func.add_param(I64, "lanes");
    let block = func.add_block("");
    let one = func.int_const(64, 1);
    for (offset, step) in [(0, one), (8, lanes)] {
        let place = func.int_const(64, u128::from(address + offset));
        let place = func.append_value(block, Op::Cast(CastOp::IntToPtr), &[place], Type::PTR);
        let mem = MemAccess::plain(8);
        let old = func.append_value(block, Op::Load(mem), &[place], I64);
        let new = func.append_value(block, Op::Binary(BinaryOp::Add), &[old, step], I64);
        func.append(block, Op::Store(mem), &[new, place], Type::Void);
    }
    func.set_terminator(block, Op::Ret, &[], &[]);
    kernel.imported.ir.declare(SymbolData {
        name: name.into(),
        kind: SymbolKind::Function { params: vec![I64], ret: Type::Void, variadic: false },
        effects: Effects::UNKNOWN,
        origin: None,
    });
    let id = kernel.imported.ir.functions.push(func);
    kernel.export(&[id])
}
