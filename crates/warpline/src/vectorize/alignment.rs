//! What addresses are multiples of.
//!
//! A bottom-up look at the definition of a scalar of vector code, which is computed whatever lanes are active. It goes through
//! arithmetic modulo 2^N, where the number of low zeros of a result follows from those of the operands, and stops at φs.

use crate::ir::{BinaryOp, CastOp, Function, Module, Op, Type, Value};

use super::addresses;

/// How deep definitions are looked through.
const MAX_DEPTH: u32 = 8;

/// A number of low bits that are zero in a scalar integer or pointer, at most 63. Nothing is said if it is poison.
pub fn low_zeros(module: &Module, func: &Function, v: Value) -> u32 {
    Alignment { module, func }.zeros(v, MAX_DEPTH)
}

/// The alignment of what lies at a distance of so many bytes from something aligned: the greatest power of two that divides both.
pub fn at_distance(align: u64, bytes: i64) -> u64 {
    match bytes {
        0 => align,
        _ => align.min(1 << bytes.trailing_zeros()),
    }
}

struct Alignment<'a> {
    module: &'a Module,
    func: &'a Function,
}

impl Alignment<'_> {
    fn zeros(&self, v: Value, depth: u32) -> u32 {
        if let Some(c) = self.func.as_int(v) {
            return c.trailing_zeros().min(63);
        }
        let (Some(inst), Some(depth)) = (self.func.def_inst(v), depth.checked_sub(1)) else { return 0 };
        let data = &self.func.insts[inst];
        let of = |n: usize| data.args.get(n).map_or(0, |&a| self.zeros(a, depth));
        match data.op {
            Op::Binary(op) => binary(op, of(0), of(1), || self.func.as_int(data.args[1])),
            Op::Cast(CastOp::ZExt | CastOp::SExt | CastOp::Trunc | CastOp::PtrToInt | CastOp::IntToPtr) => {
                of(0)
            }
            Op::Select => of(1).min(of(2)),
            Op::Alloca { align, .. } => align.max(1).trailing_zeros(),
            Op::Gep(_) if self.func.ty(v).is_ptr() => match addresses::step(self.module, self.func, inst) {
                Some((terms, offset)) => {
                    let terms = terms.iter().map(|t| {
                        let zeros = if self.is_scalar(t.value) { self.zeros(t.value, depth) } else { 0 };
                        zeros.saturating_add(t.scale.trailing_zeros())
                    });
                    let offset = if offset == 0 { 63 } else { offset.trailing_zeros() };
                    terms.chain([offset, of(0)]).min().unwrap_or(0)
                }
                None => 0,
            },
            _ => 0,
        }
        .min(63)
    }

    fn is_scalar(&self, v: Value) -> bool {
        matches!(self.func.ty(v), Type::Int(_))
    }
}

/// The low zeros of a result, given those of the operands. `second` is the second operand if it is constant.
fn binary(op: BinaryOp, a: u32, b: u32, second: impl Fn() -> Option<u128>) -> u32 {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor => a.min(b),
        BinaryOp::And => a.max(b),
        BinaryOp::Mul => a.saturating_add(b),
        // Zeros are shifted in, whatever the amount.
        BinaryOp::Shl => a.saturating_add(second().map_or(0, |c| c.min(63) as u32)),
        BinaryOp::LShr | BinaryOp::AShr => second().map_or(0, |c| a.saturating_sub(c.min(63) as u32)),
        // `x - q·y`.
        BinaryOp::URem | BinaryOp::SRem => a.min(b),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_zeros_of_results_are_there_for_all_operands_of_five_bits() {
        let zeros = |x: u32| if x == 0 { 63 } else { x.trailing_zeros() };
        let signed = |x: u32| (x as i32) << 27 >> 27;
        let mut found = 0;
        for (a, b) in (0..32u32).flat_map(|a| (0..32u32).map(move |b| (a, b))) {
            let results = [
                (BinaryOp::Add, Some(a.wrapping_add(b))),
                (BinaryOp::Sub, Some(a.wrapping_sub(b))),
                (BinaryOp::Or, Some(a | b)),
                (BinaryOp::Xor, Some(a ^ b)),
                (BinaryOp::And, Some(a & b)),
                (BinaryOp::Mul, Some(a.wrapping_mul(b))),
                (BinaryOp::Shl, (b < 5).then(|| a << b)),
                (BinaryOp::LShr, (b < 5).then(|| a >> b)),
                (BinaryOp::AShr, (b < 5).then(|| (signed(a) >> b) as u32)),
                (BinaryOp::URem, a.checked_rem(b)),
                (BinaryOp::SRem, signed(a).checked_rem(signed(b)).map(|x| x as u32)),
            ];
            for (op, result) in results {
                let Some(result) = result.map(|x| x & 31) else { continue };
                // All that may be known of the operands, not only the most.
                for (known_a, known_b) in
                    (0..=zeros(a).min(5)).flat_map(|x| (0..=zeros(b).min(5)).map(move |y| (x, y)))
                {
                    for second in [None, Some(u128::from(b))] {
                        let claimed = binary(op, known_a, known_b, || second);
                        assert!(
                            result == 0 || claimed <= result.trailing_zeros(),
                            "{op:?} {a} {b}: {claimed}"
                        );
                        found += u32::from(claimed > 0);
                    }
                }
            }
        }
        assert!(found > 1000, "{found} claims say something");
    }
}
