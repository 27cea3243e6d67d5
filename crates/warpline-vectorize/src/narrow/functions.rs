//! LLVM's functions on narrow integers that the pass calls: those that the module declares.

use warpline_ir::{CallInfo, Effects, Function, Module, Op, Symbol, Type};

/// The widths in bits to which arithmetic is narrowed and for which functions are declared.
const WIDTHS: [u32; 2] = [8, 16];

/// The functions of two integers of one width.
const BINARY: [&str; 8] = ["uadd.sat", "usub.sat", "sadd.sat", "ssub.sat", "umin", "umax", "smin", "smax"];

/// Declares in a module what the pass may call, if the module has a function on bytes or shorts. Functions that are
/// not declared are not called: passes cannot declare any.
pub fn declare_narrow_functions(module: &mut Module) {
    if !module.functions.values().any(has_narrow_integers) {
        return;
    }
    for bits in WIDTHS {
        let ty = Type::Int(bits);
        for name in BINARY {
            module.function_symbol(&format!("llvm.{name}.i{bits}"), &[ty; 2], ty, Effects::empty());
        }
        module.function_symbol(&format!("llvm.abs.i{bits}"), &[ty, Type::BOOL], ty, Effects::empty());
    }
}

/// The call of a function of this base name and width, if the module declares it as LLVM does.
pub(super) fn call(module: &Module, base: &str, bits: u32) -> Option<Op> {
    let callee: Symbol = module.symbol(&format!("llvm.{base}.i{bits}"))?;
    let effects = module.symbols[callee].effects;
    let call = CallInfo { callee: Some(callee), effects, variadic_fixed: None };
    effects.is_empty().then(|| Op::Call(Box::new(call)))
}

/// Whether a function computes with bytes or shorts.
pub(crate) fn has_narrow_integers(func: &Function) -> bool {
    let is_narrow = |v| matches!(func.ty(v), Type::Int(2..=16));
    let computes = |i| {
        let data = &func.insts[i];
        let is_arithmetic = matches!(data.op, Op::Cast(_) | Op::Select);
        is_arithmetic && data.args.iter().chain(&data.results).any(|&v| is_narrow(v))
    };
    func.layout.iter().any(|&b| func.blocks[b].insts.iter().any(|&i| computes(i)))
}
