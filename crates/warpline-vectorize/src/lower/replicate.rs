//! Instructions without a vector form: once per active lane, in lane order.
//!
//! An instruction that may have effects is put behind a branch on its lane's bit of the mask; one that may be
//! speculated runs for all lanes.

use crate::VectorizeError;
use warpline_ir::{Inst, Op, Type, Value};

use super::{Lower, Rep};

impl Lower<'_> {
    /// Once a lane, for all lanes or behind branches for active ones.
    pub(super) fn scalarize(&mut self, i: Inst, branch: bool) -> Result<(), VectorizeError> {
        let mask = if branch { self.mask_vector(i)? } else { None };
        let result = self.src.insts[i].result();
        let vty = match result {
            Some(v) => Some(self.vector_type_of(v, i)?),
            None => None,
        };
        let mut acc = vty.map(|ty| self.out.poison(ty));
        for k in 0..self.width {
            acc = match mask {
                None => self.one_lane(i, k, acc)?,
                Some(mask) => self.one_lane_if(i, k, mask, acc)?,
            };
        }
        if let (Some(v), Some(x)) = (result, acc) {
            let ty = self.src.ty(v);
            let x = match self.reps[v] {
                Rep::Varying => x,
                Rep::Uniform => self.first_active(x, ty, i)?,
                _ => return Err(self.internal(i, "a scalarized instruction is strided")),
            };
            self.define(v, x);
        }
        Ok(())
    }

    /// One fence is as good as one for each lane. Without an active lane it orders more than it must, and does no harm.
    pub(super) fn fence(&mut self, i: Inst) {
        let data = &self.src.insts[i];
        let new = self.out.append(self.block, data.op.clone(), &[], Type::Void);
        self.out.insts[new].origin = data.origin;
        self.copy_metadata(i, new);
    }

    /// The instruction for lane `k`; its result goes into `acc`.
    fn one_lane(&mut self, i: Inst, k: u32, acc: Option<Value>) -> Result<Option<Value>, VectorizeError> {
        let data = &self.src.insts[i];
        let args: Vec<Value> = data.args.iter().map(|&a| self.lane(a, k, i)).collect::<Result<_, _>>()?;
        let ty = data.result().map_or(Type::Void, |v| self.src.ty(v));
        let new = self.out.append(self.block, data.op.clone(), &args, ty);
        self.out.insts[new].flags = data.flags;
        self.out.insts[new].origin = data.origin;
        self.copy_metadata(i, new);
        let result = self.out.insts[new].result();
        Ok(match (acc, result) {
            (Some(acc), Some(x)) => Some(self.insert_lane(acc, x, k)),
            _ => None,
        })
    }

    /// The instruction for lane `k`, if the mask has it.
    pub(super) fn one_lane_if(
        &mut self,
        i: Inst,
        k: u32,
        mask: Value,
        acc: Option<Value>,
    ) -> Result<Option<Value>, VectorizeError> {
        let bit = self.extract_lane(mask, Type::BOOL, k);
        let before = self.block;
        let active = self.out.add_block("lane");
        let next = self.out.add_block("");
        self.out.set_terminator(before, Op::CondBr, &[bit], &[active, next]);
        self.block = active;
        let new = self.one_lane(i, k, acc)?;
        let end = self.block;
        self.out.set_terminator(end, Op::Br, &[], &[next]);
        self.block = next;
        let (Some(old), Some(new)) = (acc, new) else { return Ok(None) };
        let ty = self.out.ty(new);
        let phi = self.out.add_phi(next, ty);
        for e in self.out.blocks[next].preds.clone() {
            let value = if self.out.edges[e].from == end { new } else { old };
            self.out.set_phi_arg(e, 0, value);
        }
        Ok(Some(phi))
    }
}
