//! Sums and products of small numbers, which do not wrap.
//!
//! `uint l = get_local_id(0); t[l + 1]` adds modulo 2³², but the number of a work-item in its group has 31 bits, so
//! nothing wraps. What is known to be small is found out here, and sums and products that are small as well say so by
//! their flags: then neighbouring lanes access neighbouring elements for certain, and nothing has to be
//! [made twice](crate::wrapping_indices).
//!
//! A flag makes poison only of what is beyond the bound of an operand, and an operand is beyond its bound only where it
//! is poison itself.

use crate::VectorizeError;
use crate::pass::{Context, Unit};
use warpline_ir::{BinaryOp, CastOp, Function, Inst, InstFlags, Op, Value};

/// So many operations of a number are looked through.
const DEPTH: u32 = 6;

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    Ok(cx.options.width > 1 && mark(&mut unit.func))
}

/// Marks sums and products that do not wrap. Whether there were some.
fn mark(func: &mut Function) -> bool {
    let mut changed = false;
    for b in func.layout.clone() {
        for i in func.blocks[b].insts.clone() {
            let flags = exact(func, i);
            changed |= !func.insts[i].flags.contains(flags);
            func.insts[i].flags |= flags;
        }
    }
    changed
}

/// The flags that an instruction may have.
fn exact(func: &Function, i: Inst) -> InstFlags {
    let none = InstFlags::empty();
    let data = &func.insts[i];
    let (Op::Binary(op @ (BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl)), Some(v)) =
        (&data.op, data.result())
    else {
        return none;
    };
    let Some(bits) = bits_of(func, v) else { return none };
    let Some(most) = result(func, *op, &data.args, DEPTH) else { return none };
    match most {
        _ if most < 1 << (bits - 1) => InstFlags::NUW | InstFlags::NSW,
        _ if most < 1 << bits => InstFlags::NUW,
        _ => none,
    }
}

/// The bits of a number that is looked at.
fn bits_of(func: &Function, v: Value) -> Option<u32> {
    func.ty(v).int_bits().filter(|&bits| bits > 1 && bits <= 64)
}

/// No value of this number is greater, taken as one without a sign.
fn most(func: &Function, v: Value, depth: u32) -> Option<u128> {
    let whole = (1u128 << bits_of(func, v)?) - 1;
    if let Some(constant) = func.as_int(v) {
        return Some(constant);
    }
    let Some(i) = func.def_inst(v).filter(|_| depth > 0) else { return Some(whole) };
    let data = &func.insts[i];
    let of = |k: usize| most(func, data.args[k], depth - 1);
    let found = match data.op {
        Op::Cast(CastOp::Trunc) if data.flags.contains(InstFlags::NUW) => {
            // Both ways of extending it again yield what it was made of.
            let own = if data.flags.contains(InstFlags::NSW) { whole >> 1 } else { whole };
            own.min(of(0).unwrap_or(own))
        }
        Op::Cast(CastOp::ZExt) => of(0)?,
        Op::Binary(BinaryOp::And) => of(0)?.min(of(1)?),
        Op::Binary(BinaryOp::UDiv) => of(0)?,
        Op::Binary(BinaryOp::URem) => of(0)?.min(of(1)?.saturating_sub(1)),
        Op::Binary(BinaryOp::LShr) => match func.as_int(data.args[1]) {
            Some(by @ 0..64) => of(0)? >> by,
            _ => of(0)?,
        },
        Op::Binary(op @ (BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl)) => {
            result(func, op, &data.args, depth - 1).unwrap_or(whole)
        }
        _ => whole,
    };
    Some(if found > whole { whole } else { found })
}

/// What an operation yields at most if it does not wrap.
fn result(func: &Function, op: BinaryOp, args: &[Value], depth: u32) -> Option<u128> {
    let x = most(func, args[0], depth)?;
    match op {
        BinaryOp::Add => x.checked_add(most(func, args[1], depth)?),
        BinaryOp::Mul => x.checked_mul(most(func, args[1], depth)?),
        BinaryOp::Shl => {
            let by = func.as_int(args[1]).filter(|&by| by < 64)?;
            Some(x << by)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use warpline_ir::text::{parse_module, print_module};

    /// The function after marking.
    fn marked(body: &str) -> String {
        let text = format!("func @f(%x: i64, %y: i32) {{\nstart:\n{body}  ret\n}}\n");
        let mut module = parse_module(&text).expect("it is read");
        let func = module.functions.keys().next().expect("there is one");
        super::mark(&mut module.functions[func]);
        print_module(&module)
    }

    #[test]
    fn sums_of_small_numbers_are_exact_and_others_are_not() {
        let text = marked(
            "  %l: i32 = trunc nuw nsw %x\n  %a: i32 = add %l, 5\n  %b: i32 = add %a, %l\n  %c: i32 = add %b, %b\n  \
             %d: i32 = add %y, 1\n  %e: i32 = and %y, 255\n  %g: i32 = mul %e, 1024\n  %h: i32 = shl %l, 1\n  \
             %k: i32 = add %l, -1\n",
        );
        for line in [
            "%a: i32 = add nuw %l, 5",
            "%b: i32 = add %a, %l",
            "%c: i32 = add %b, %b",
            "%d: i32 = add %y, 1",
            "%g: i32 = mul nuw nsw %e, 1024",
            "%h: i32 = shl nuw %l, 1",
            "%k: i32 = add %l, -1",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
