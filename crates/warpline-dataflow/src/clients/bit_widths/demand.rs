//! Which bits of a value can change what the program does.

use warpline_analysis::dataflow::{Backward, BackwardFacts, Instruction, Lattice};

use crate::Code;
use crate::clients::intrinsics::{Calls, Intrinsic};
use crate::clients::numbers::mask;
use warpline_ir::{BinaryOp, CastOp, Effects, Function, Inst, Module, Op, Type, Value};

/// A set of bits of a value: all bits stand for a value that is demanded and is no integer of at most 128 bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Bits(pub u128);

impl Bits {
    /// No bit.
    pub const NONE: Bits = Bits(0);
    /// Every bit.
    pub const ALL: Bits = Bits(u128::MAX);

    /// How many bits there are up to the highest one.
    pub fn width(self) -> u32 {
        128 - self.0.leading_zeros()
    }

    /// All bits up to the highest one.
    fn and_below(self) -> Bits {
        Bits(mask(self.width()))
    }

    /// All bits from the lowest one on.
    fn and_above(self) -> Bits {
        if self.0 == 0 { self } else { Bits(u128::MAX << self.0.trailing_zeros()) }
    }

    /// Every bit if there is one.
    fn all_if_any(self) -> Bits {
        if self.0 == 0 { Bits::NONE } else { Bits::ALL }
    }
}

impl Lattice for Bits {
    fn top() -> Bits {
        Bits::NONE
    }

    fn meet(&mut self, other: &Bits) -> bool {
        let old = self.0;
        self.0 |= other.0;
        self.0 != old
    }
}

/// Demanded bits of a function as a problem for the solvers.
pub struct Demand<'a> {
    func: &'a Function,
    code: &'a Code,
    calls: Calls,
}

impl<'a> Demand<'a> {
    /// The problem. `code` is the code of `func`.
    pub fn new(module: &Module, func: &'a Function, code: &'a Code) -> Demand<'a> {
        Demand { func, code, calls: Calls::of(module, func) }
    }

    /// Which bits of an operand are demanded if these are of the result.
    pub fn of(&self, inst: Inst, operand: usize, result: Bits) -> Bits {
        let data = &self.func.insts[inst];
        let Some(&v) = data.args.get(operand) else { return result };
        let all = |bits: Bits| self.within(v, bits);
        let is_pure =
            data.effects().difference(Effects::UNKNOWN_RESULT).is_empty() && !data.op.is_terminator();
        all(match &data.op {
            Op::WriteVar(_) => result,
            Op::Call(_) => match self.calls.get(inst) {
                Some(f) => self.of_function(f, operand, result),
                None => Bits::ALL,
            },
            _ if !is_pure => Bits::ALL,
            _ if result == Bits::NONE => Bits::NONE,
            Op::Binary(op) if self.bits(v).is_some() => self.of_binary(*op, inst, operand, result),
            Op::Select if operand > 0 => result,
            Op::Freeze | Op::Phi => result,
            Op::Cast(cast) => self.of_cast(*cast, v, result),
            _ => result.all_if_any(),
        })
    }

    /// The width of a value, if it is an integer of at most 128 bits.
    fn bits(&self, v: Value) -> Option<u32> {
        match self.func.ty(v) {
            Type::Int(bits @ ..=128) => Some(bits),
            _ => None,
        }
    }

    /// Bits that a value has.
    fn within(&self, v: Value, bits: Bits) -> Bits {
        match self.bits(v) {
            Some(width) => Bits(bits.0 & mask(width)),
            None => bits.all_if_any(),
        }
    }

    fn of_binary(&self, op: BinaryOp, inst: Inst, operand: usize, result: Bits) -> Bits {
        let args = &self.func.insts[inst].args;
        let other = self.func.as_int(args[1 - operand]);
        let width = self.bits(args[0]).unwrap_or(128);
        let by = other.and_then(|s| u32::try_from(s).ok()).filter(|&s| s < width && operand == 0);
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => result.and_below(),
            BinaryOp::And => Bits(result.0 & other.unwrap_or(u128::MAX)),
            BinaryOp::Or => Bits(result.0 & !other.unwrap_or(0)),
            BinaryOp::Xor => result,
            BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr if operand == 1 => Bits::ALL,
            BinaryOp::Shl => by.map_or(result.and_below(), |s| Bits(result.0 >> s)),
            BinaryOp::LShr => by.map_or(result.and_above(), |s| Bits(result.0 << s)),
            BinaryOp::AShr => {
                // The sign bit stands in the highest bits of the result.
                let sign = |s: u32| if result.0 >> (width - 1 - s) != 0 { 1 << (width - 1) } else { 0 };
                by.map_or(result.and_above(), |s| Bits(result.0 << s | sign(s)))
            }
            _ => Bits::ALL,
        }
    }

    fn of_cast(&self, cast: CastOp, v: Value, result: Bits) -> Bits {
        let Some(from) = self.bits(v) else { return result.all_if_any() };
        match cast {
            CastOp::Trunc | CastOp::ZExt => result,
            CastOp::SExt if result.0 >> (from - 1) != 0 => Bits(result.0 | 1 << (from - 1)),
            CastOp::SExt => result,
            _ => result.all_if_any(),
        }
    }

    fn of_function(&self, f: Intrinsic, operand: usize, result: Bits) -> Bits {
        match f {
            Intrinsic::First if operand == 0 => result,
            _ => result.all_if_any(),
        }
    }
}

impl Backward for Demand<'_> {
    type Fact = Bits;

    fn instruction(&self, at: Instruction, facts: &mut impl BackwardFacts<Bits>) {
        let inst = self.code.inst(at);
        let data = &self.func.insts[inst];
        let results = self.code.program().definitions(at).len();
        for k in 0..self.code.program().uses(at).len() {
            let result = match data.op {
                // Each operand becomes the result of its number.
                Op::ParallelCopy => *facts.result(k),
                _ => {
                    let mut all = Bits::NONE;
                    (0..results).for_each(|r| _ = all.meet(facts.result(r)));
                    all
                }
            };
            let demand = match data.op {
                Op::ParallelCopy => result,
                _ => self.of(inst, k, result),
            };
            facts.lower(k, demand);
        }
    }
}
