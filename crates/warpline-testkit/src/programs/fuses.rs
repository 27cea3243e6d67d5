//! Counters that bound jumps to labels of tangles. They are variables: their φs are where SSA construction finds them.

use warpline_dataflow::ssa;
use warpline_ir::{BinaryOp, Block, Function, IntPred, Op, Type, Var};

use super::fill::{Avail, Filler};
use super::skeleton::Shape;

/// So often is jumped to the labels of one tangle, at most, before it is entered again.
const JUMPS: u128 = 4;

const COUNTER: Type = Type::Int(32);

impl Filler<'_> {
    /// Declares the counters.
    pub(super) fn add_counters(&mut self, shape: &Shape) {
        for _ in &shape.tangles {
            self.f.add_var(COUNTER, "jumps");
        }
    }

    /// The condition of a counted jump: the counter, which goes up, is below a bound, and something else holds.
    pub(super) fn fuse_condition(&mut self, b: Block, shape: &Shape) -> Option<Avail> {
        let fuse = shape.fuses.iter().find(|x| x.check == b)?;
        let var = Var::from_u32(fuse.counter as u32);
        let jumps = self.emit(b, Op::ReadVar(var), &[], COUNTER, true, false);
        let one = self.f.int_const(32, 1);
        let next = self.emit(b, Op::Binary(BinaryOp::Add), &[jumps.value, one], COUNTER, true, false);
        self.f.append(b, Op::WriteVar(var), &[next.value], Type::Void);
        let bound = self.f.int_const(32, self.rng.between(1, JUMPS as usize) as u128);
        let bound = Avail { value: bound, ty: COUNTER, clean: true, uniform: true };
        let p = if fuse.jumps_if_true { IntPred::Ult } else { IntPred::Uge };
        let c = self.emit_on(b, Op::ICmp(p), &[jumps, bound], Type::BOOL);
        if self.rng.chance(1, 4) {
            return Some(c);
        }
        let d = self.condition(b);
        let op = if fuse.jumps_if_true { BinaryOp::And } else { BinaryOp::Or };
        Some(self.emit_on(b, Op::Binary(op), &[c, d], Type::BOOL))
    }
}

/// Sets the counters to zero in the entry and where their tangles are entered, and makes values of them.
pub(super) fn set_counters(f: &mut Function, shape: &Shape) {
    let zero = f.int_const(32, 0);
    let vars: Vec<Var> = (0..shape.tangles.len() as u32).map(Var::from_u32).collect();
    for (&var, &from) in vars.iter().zip(&shape.tangles) {
        f.append(from, Op::WriteVar(var), &[zero], Type::Void);
        let entry = f.entry();
        let first = f.make_inst(entry, Op::WriteVar(var), &[zero], &[]);
        f.blocks[entry].insts.insert(0, first);
    }
    ssa::construct_vars(f, &vars);
    f.vars.clear();
}
