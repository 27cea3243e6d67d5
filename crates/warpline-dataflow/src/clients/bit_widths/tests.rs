//! Demanded bits of every operation at a few bits: changing the others changes no demanded bit of the result.

use super::*;
use crate::clients::constants::fold;
use crate::clients::numbers::{mask, signed};
use warpline_ir::{BinaryOp, CastOp, InstFlags, Op};

const BITS: u32 = 4;

/// Whether changing bits of operand `k` that are not demanded changes no demanded bit, for all numbers.
fn holds(apply: impl Fn([u128; 2]) -> Option<u128>, k: usize, demanded: u128, result: u128) -> bool {
    (0..16u128).all(|other| {
        (0..16u128).all(|v| {
            let with = |v: u128| if k == 0 { [v, other] } else { [other, v] };
            let cut = v & demanded;
            match (apply(with(v)), apply(with(cut))) {
                (Some(a), Some(b)) => a & result == b & result,
                // Poison may become anything, but nothing may become poison.
                (Some(_), None) => false,
                (None, _) => true,
            }
        })
    })
}

#[test]
fn bits_that_are_not_demanded_change_no_demanded_bit_of_the_result() {
    let ops = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::Shl,
        BinaryOp::LShr,
        BinaryOp::AShr,
        BinaryOp::UDiv,
        BinaryOp::SRem,
    ];
    let mut spared = 0;
    for op in ops {
        for constant in std::iter::once(None).chain((0..16).map(Some)) {
            for at in 0..2 {
                let module = Module::new("m");
                let mut func = Function::new("f", Type::Void);
                let x = func.add_param(Type::Int(BITS), "x");
                let y = func.add_param(Type::Int(BITS), "y");
                let block = func.add_block("entry");
                let other = constant.map_or(y, |c| func.int_const(BITS, c));
                let args = if at == 0 { [x, other] } else { [other, x] };
                let inst = func.append(block, Op::Binary(op), &args, Type::Int(BITS));
                func.set_terminator(block, Op::Ret, &[], &[]);
                let code = Code::of(&func);
                let demand = Demand::new(&module, &func, &code);
                for result in 0..16 {
                    let demanded = demand.of(inst, at, Bits(result)).0;
                    spared += (mask(BITS) & !demanded).count_ones();
                    let apply = |mut args: [u128; 2]| {
                        args[1 - at] = constant.unwrap_or(args[1 - at]);
                        fold::binary(op, InstFlags::empty(), BITS, args[0], args[1])
                    };
                    assert!(holds(apply, at, demanded, result), "{op:?} {constant:?} {at} {result:04b}");
                }
            }
        }
    }
    assert!(spared > 3000, "only {spared} bits are spared");
}

#[test]
fn bits_that_are_not_demanded_change_no_demanded_bit_of_a_conversion() {
    for (cast, to) in [(CastOp::Trunc, 2), (CastOp::ZExt, 6), (CastOp::SExt, 6)] {
        let module = Module::new("m");
        let mut func = Function::new("f", Type::Void);
        let x = func.add_param(Type::Int(BITS), "x");
        let block = func.add_block("entry");
        let inst = func.append(block, Op::Cast(cast), &[x], Type::Int(to));
        func.set_terminator(block, Op::Ret, &[], &[]);
        let code = Code::of(&func);
        let demand = Demand::new(&module, &func, &code);
        for result in 0..=mask(to) {
            let demanded = demand.of(inst, 0, Bits(result)).0;
            assert!(result == mask(to) || demanded.count_ones() <= result.count_ones() + 1);
            let apply = |[v, _]: [u128; 2]| match cast {
                CastOp::SExt => Some(signed(v, BITS) as u128 & mask(to)),
                _ => Some(v & mask(to)),
            };
            assert!(holds(apply, 0, demanded, result), "{cast:?} {result:06b}");
        }
    }
}

#[test]
fn significant_bits_hold_every_number_of_a_range() {
    for low in 0..16u128 {
        for high in low..16 {
            let range = Range::unsigned(4, low, high).expect("not empty");
            let bits = significant(&range);
            let fits = |w: u32| {
                let numbers = || low..=high;
                let unsigned = numbers().all(|v| v <= mask(w));
                let in_sign = |v: u128| w > 0 && (-(1 << w >> 1)..1i128 << w >> 1).contains(&signed(v, 4));
                unsigned || numbers().all(in_sign)
            };
            assert!(fits(bits), "{range:?} {bits}");
            assert!(bits == 0 || !fits(bits - 1), "{range:?} {bits}");
        }
    }
}

#[test]
fn a_value_needs_what_its_range_has_and_its_users_look_at() {
    let text = "global @out: i8 align 1
func @f(%x: i32, %y: i32) {
entry:
  %sum: i32 = add nsw %x, %y
  %low: i8 = trunc %sum
  store %low, @out, align 1
  %small: i32 = urem %y, 10
  %is: i1 = icmp eq %small, 3
  br %is, yes, no
yes:
  ret
no:
  ret
}
";
    let module = warpline_ir::text::parse_module(text).expect("well-formed");
    let func = module.functions.values().next().expect("a function");
    let (report, _) = analyze(&module, func, Variant::Stephenson, Solver::Sparse);
    let found: Vec<(&str, u32)> = report.values.iter().map(|v| (&*v.name, v.needed)).collect();
    assert_eq!(found, [("%x", 8), ("%sum", 8), ("%small", 4)]);
    assert_eq!((report.integers, report.declared_bits), (6, 32 * 4 + 8 + 1));
}
