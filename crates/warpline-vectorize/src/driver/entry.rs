//! Entries: functions by which others call what the vectorizer has made.

use warpline_ir::{BinaryOp, CastOp, Constant, FuncId, InstFlags, IntPred, Module, Op, Type, Value};

use crate::VectorizeError;
use crate::builder::{Builder, I64};

/// Adds a function of type `void (ptr)` that calls `target` with arguments from an array of 8-byte slots, slot *k* for
/// parameter *k*: integers in the low bits, floating-point numbers by their bits, addresses. The target's result, if
/// any, is dropped.
///
/// # Errors
/// If a parameter does not fit a slot.
pub fn slots_entry(module: &mut Module, target: FuncId, name: &str) -> Result<FuncId, VectorizeError> {
    let func = &module.functions[target];
    let types: Vec<Type> = func.params.iter().map(|&p| func.ty(p)).collect();
    for (&p, &ty) in func.params.iter().zip(&types) {
        let bits = ty.scalar().map(|s| module.layout.scalar_bits(s));
        if bits.is_none_or(|b| b > 64) {
            let reason = format!("parameter {} does not fit 64 bits", func.value_name(p));
            return Err(VectorizeError::in_function(func, reason));
        }
    }
    let mut b = Builder::new(module, name);
    let slots = b.func.add_param(Type::PTR, "slots");
    let mut args = Vec::new();
    for (k, &ty) in types.iter().enumerate() {
        let k = b.int(64, k as i64);
        let slot = b.element(slots, I64, k);
        let x = b.load(slot, I64, None);
        args.push(match ty {
            Type::Float(kind) => {
                let bits = b.cast(CastOp::Trunc, x, Type::Int(kind.bits()));
                b.cast(CastOp::Bitcast, bits, ty)
            }
            Type::Ptr(_) => b.cast(CastOp::IntToPtr, x, ty),
            _ => b.cast(CastOp::Trunc, x, ty),
        });
    }
    b.call(target, &args);
    b.ret();
    Ok(b.finish())
}

/// Adds a function like `target`, whose last parameter is a mask `<W x i1>` (`i1` where W is 1), with a 64-bit
/// integer in its place: bit *k* says whether lane *k* is active; bits from W on say nothing. Without an active lane
/// nothing happens, and the result is zero: `target` itself relies on a lane.
pub fn bitmask_entry(module: &mut Module, target: FuncId, width: u32, name: &str) -> FuncId {
    let func = &module.functions[target];
    let ret = func.ret;
    let params: Vec<(Type, Box<str>)> =
        func.params.iter().map(|&p| (func.ty(p), func.values[p].name.clone())).collect();
    let mut b = Builder::new(module, name);
    b.func.ret = ret;
    let mut args: Vec<Value> = Vec::new();
    for (ty, name) in &params[..params.len().saturating_sub(1)] {
        args.push(b.func.add_param(*ty, name));
    }
    let mask = b.func.add_param(I64, "mask");
    let lanes = b.func.int_const(64, u128::from(u64::MAX >> (64 - width)));
    let asked = b.binary(BinaryOp::And, mask, lanes, InstFlags::empty());
    let zero = b.int(64, 0);
    let any = b.icmp(IntPred::Ne, asked, zero);
    let (run, nothing) = (b.block("run"), b.block("nothing"));
    b.cond_br(any, run, nothing);

    b.at = nothing;
    let none: Vec<Value> = match ret {
        Type::Void => Vec::new(),
        ty => vec![b.func.constant_value(Constant::Zero(ty))],
    };
    b.func.set_terminator(b.at, Op::Ret, &none, &[]);

    b.at = run;
    let wide = b.splat(mask, width);
    let bits = b.lanes(64, width, |l| 1 << l);
    let chosen = b.binary(BinaryOp::And, wide, bits, InstFlags::empty());
    let none = b.lanes(64, width, |_| 0);
    let mask = b.icmp(IntPred::Ne, chosen, none);
    args.push(b.mask_argument(mask, width));
    match b.call(target, &args) {
        Some(x) => b.func.set_terminator(b.at, Op::Ret, &[x], &[]),
        None => b.func.set_terminator(b.at, Op::Ret, &[], &[]),
    };
    b.finish()
}
