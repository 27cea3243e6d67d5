//! Atomic operations in one lane: lanes execute them one after the other, so each is a load, an update and a store.

use super::access::{self, check_align};
use super::code::MemType;
use super::memory::Memory;
use super::scalar::{float_binary, icmp, int_binary, propagate};
use super::trap::TrapKind;
use super::value::{Cell, State};
use warpline_ir::{BinaryOp, FloatKind, InstFlags, IntPred, RmwOp};

/// An atomic access to a scalar.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub ty: MemType,
    pub align: u64,
    pub volatile: bool,
    pub update: Update,
}

/// What becomes of the value in memory.
#[derive(Copy, Clone, Debug)]
pub(super) enum Update {
    /// An operation on integers of so many bits, or on addresses.
    Int(RmwOp, u32),
    /// An operation on floating-point numbers.
    Float(RmwOp, FloatKind),
    /// It is replaced if it is the expected one.
    Compare(u32),
}

/// What an atomic access found and did.
pub(super) struct Done {
    /// The value that was in memory.
    pub old: Cell,
    /// The value that was stored, if any.
    pub new: Option<Cell>,
    /// Whether an expected value was found.
    pub equal: Cell,
}

impl Access {
    /// Executes it for a lane. `x` is the operand or what is expected, `new` what is stored then.
    pub(super) fn run(
        &self,
        memory: &mut Memory,
        (lane, address): (u32, u64),
        check_alignment: bool,
        (x, new): (Cell, Cell),
    ) -> Result<Done, TrapKind> {
        if check_alignment {
            check_align(address, self.align)?;
        }
        let mut old = [Cell::ZERO];
        access::load(memory, lane, address, &self.ty, &mut old)?;
        let old = old[0];
        let (new, equal) = match self.update {
            Update::Int(op, bits) => (Some(int_update(op, bits, old, x)?), Cell::ZERO),
            Update::Float(op, kind) => (Some(float_update(op, kind, old, x)), Cell::ZERO),
            Update::Compare(bits) => {
                let equal = icmp(IntPred::Eq, false, bits, old, x);
                let Some(found) = equal.defined() else {
                    return Err(TrapKind::UndefinedOperand(equal.state));
                };
                ((found == 1).then_some(new), equal)
            }
        };
        if let Some(new) = new {
            access::store(memory, lane, address, &self.ty, &[new])?;
        }
        Ok(Done { old, new, equal })
    }
}

fn int_update(op: RmwOp, bits: u32, old: Cell, x: Cell) -> Result<Cell, TrapKind> {
    let none = InstFlags::empty();
    let binary = |op| int_binary(op, none, bits, old, x);
    let choose = |pred| {
        let first = icmp(pred, false, bits, old, x);
        match first.state {
            State::Defined if first.bits == 1 => old,
            State::Defined => x,
            _ => first,
        }
    };
    Ok(match op {
        RmwOp::Xchg => x,
        RmwOp::Add => binary(BinaryOp::Add)?,
        RmwOp::Sub => binary(BinaryOp::Sub)?,
        RmwOp::And => binary(BinaryOp::And)?,
        RmwOp::Or => binary(BinaryOp::Or)?,
        RmwOp::Xor => binary(BinaryOp::Xor)?,
        RmwOp::Nand => {
            let all = Cell::new(super::scalar::mask(bits));
            int_binary(BinaryOp::Xor, none, bits, binary(BinaryOp::And)?, all)?
        }
        RmwOp::Max => choose(IntPred::Sgt),
        RmwOp::Min => choose(IntPred::Slt),
        RmwOp::UMax => choose(IntPred::Ugt),
        RmwOp::UMin => choose(IntPred::Ult),
        RmwOp::FAdd | RmwOp::FSub => propagate(&[old, x]).unwrap_or(Cell::POISON),
    })
}

fn float_update(op: RmwOp, kind: FloatKind, old: Cell, x: Cell) -> Cell {
    match op {
        RmwOp::FAdd => float_binary(BinaryOp::FAdd, InstFlags::empty(), kind, old, x),
        RmwOp::FSub => float_binary(BinaryOp::FSub, InstFlags::empty(), kind, old, x),
        _ => x,
    }
}
