//! What calls do with memory, by the names of the functions.

use warpline_ir::{Constant, Function, Inst, Module, Op, Value};

/// The name of the function that an instruction calls; empty if it is not known or no call.
pub fn callee<'m>(module: &'m Module, func: &Function, inst: Inst) -> &'m str {
    let data = &func.insts[inst];
    let symbol = match &data.op {
        Op::Call(call) => call.callee,
        // The callee of an `invoke` is its last operand.
        Op::OpaqueTerm(o) if &*o.name == "invoke" => match data.args.last().and_then(|&v| func.constant(v)) {
            Some(&Constant::Address { symbol, offset: 0, .. }) => Some(symbol),
            _ => None,
        },
        _ => None,
    };
    symbol.map(|s| &*module.symbols[s].name).unwrap_or_default()
}

/// The operands that a call hands over: all but the callee, which is the last one of an indirect call and of an
/// `invoke`.
pub fn arguments(func: &Function, inst: Inst) -> &[Value] {
    let data = &func.insts[inst];
    let has_callee = match &data.op {
        Op::Call(call) => call.callee.is_none(),
        Op::OpaqueTerm(o) => &*o.name == "invoke",
        _ => false,
    };
    &data.args[..data.args.len() - usize::from(has_callee && !data.args.is_empty())]
}

/// Whether a function of this name does with pointers only what is modelled: it copies or fills memory, or says
/// something of it.
pub fn is_about_memory(name: &str) -> bool {
    ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|p| name.starts_with(p)) || is_remark(name)
}

/// Whether a function of this name does nothing at all when it runs.
pub fn is_remark(name: &str) -> bool {
    const REMARKS: &[&str] = &[
        "llvm.assume",
        "llvm.dbg.",
        "llvm.donothing",
        "llvm.experimental.noalias.scope",
        "llvm.invariant.",
        "llvm.lifetime.",
        "llvm.pseudoprobe",
        "llvm.sideeffect",
        "llvm.var.annotation",
    ];
    REMARKS.iter().any(|p| name.starts_with(p))
}
