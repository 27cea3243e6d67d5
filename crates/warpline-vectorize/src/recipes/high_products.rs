//! Recipes of upper halves of products of shorts.
//!
//! Fixed-point arithmetic multiplies shorts and keeps the upper half: `(x * 7282) >> 16` divides by nine. x86 has an
//! instruction for that, which LLVM finds in few forms and not at all for vectors wider than registers, so that it is
//! asked for by name.

use cranelift_entity::EntitySet;
use warpline_ir::{BinaryOp, CastOp, Function, Inst, Op, Type, Users, Value};

use super::{Input, Recipe, Rep};
use crate::options::Options;

/// The upper half of a product of two shorts.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct HighProduct {
    pub factors: [Value; 2],
    pub is_signed: bool,
    /// How many lanes the instruction takes at once.
    pub together: u32,
}

/// The instructions of a lane program that give such halves.
#[derive(Default)]
pub(crate) struct HighProducts {
    found: Vec<(Inst, HighProduct)>,
    /// Instructions that only they use.
    inside: EntitySet<Inst>,
}

impl HighProducts {
    /// Finds them for so many lanes.
    pub(super) fn find(
        input: &Input<'_>,
        options: &Options<'_>,
        reps: impl Fn(Value) -> Rep,
    ) -> HighProducts {
        let mut all = HighProducts::default();
        let registers = [512, 256, 128].map(|bits| bits.min(options.machine.register_bits) / 16);
        let fits = |lanes: &u32| options.width.is_multiple_of(*lanes);
        let Some(together) = registers.into_iter().find(fits).filter(|_| options.machine.byte_sums > 0)
        else {
            return all;
        };
        let func = input.func;
        let users = Users::of(func);
        for i in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
            let Some((factors, is_signed)) = factors_of_half(func, i) else { continue };
            if factors.iter().any(|&v| reps(v) == Rep::Varying) {
                all.found.push((i, HighProduct { factors, is_signed, together }));
                all.add_inside(func, &users, i, factors);
            }
        }
        all
    }

    /// Notes what nobody uses but the half.
    fn add_inside(&mut self, func: &Function, users: &Users, i: Inst, factors: [Value; 2]) {
        let mut work = vec![func.insts[i].args[0]];
        while let Some(v) = work.pop() {
            let own = func.def_inst(v).filter(|_| !factors.contains(&v));
            let uses = users.get(v);
            // The square of a value uses its extension twice.
            let Some(made) = own.filter(|_| uses.iter().all(|&u| u == uses[0])) else { continue };
            self.inside.insert(made);
            work.extend(&func.insts[made].args);
        }
    }

    /// The factors of the product whose half an instruction gives.
    pub(super) fn factors(&self, i: Inst) -> Option<[Value; 2]> {
        self.found.iter().find(|(at, _)| *at == i).map(|(_, product)| product.factors)
    }

    /// The halves of products with a factor.
    pub(super) fn with_factor(&self, func: &Function, factor: Value) -> Vec<Value> {
        let found = self.found.iter().filter(|(_, product)| product.factors.contains(&factor));
        found.filter_map(|&(i, _)| func.insts[i].result()).collect()
    }

    /// Whether an instruction is made where the half is that uses it.
    pub(super) fn is_inside(&self, i: Inst) -> bool {
        self.inside.contains(i)
    }

    /// The recipe of an instruction that gives such a half, or is made where that is.
    pub(super) fn recipe(&self, i: Inst) -> Option<Recipe> {
        if self.inside.contains(i) {
            return Some(Recipe::Nothing);
        }
        self.found.iter().find(|(at, _)| *at == i).map(|&(_, product)| Recipe::HighProduct(product))
    }
}

/// The shorts of whose product an instruction gives the upper half, and whether they are signed.
fn factors_of_half(func: &Function, i: Inst) -> Option<([Value; 2], bool)> {
    let made = |v: Value| func.def_inst(v).map(|i| &func.insts[i]);
    let half = &func.insts[i];
    let is_short = half.result().is_some_and(|v| func.ty(v) == Type::Int(16));
    let shifted = made(*half.args.first()?).filter(|_| is_short && half.op == Op::Cast(CastOp::Trunc))?;
    let by = shifted.args.get(1).and_then(|&by| func.as_int(by));
    let product = made(*shifted.args.first()?)
        .filter(|_| by == Some(16) && matches!(shifted.op, Op::Binary(BinaryOp::LShr | BinaryOp::AShr)))?;
    let (Op::Binary(BinaryOp::Mul), &[x, y]) = (&product.op, &product.args[..]) else { return None };
    let short = |v: Value, op: CastOp| {
        let data = made(v)?;
        (data.op == Op::Cast(op) && func.ty(data.args[0]) == Type::Int(16)).then(|| data.args[0])
    };
    (func.ty(x) == Type::Int(32)).then_some(())?;
    [(CastOp::ZExt, false), (CastOp::SExt, true)]
        .into_iter()
        .find_map(|(op, is_signed)| Some(([short(x, op)?, short(y, op)?], is_signed)))
}
