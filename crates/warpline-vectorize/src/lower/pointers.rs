//! Calls through pointers: each distinct callee once.
//!
//! ```text
//! lanes left := mask
//! while any lane is left:
//!     target := pointer of the first lane left; group := lanes left with this pointer
//!     compare target with the functions whose address is taken:
//!         the form of the one it is, under the mask `group`; of none, one call for each lane of the group
//!     lanes left := lanes left without group
//! ```
//!
//! A uniform pointer needs no more than one round.

use super::{Lower, Rep};
use crate::VectorizeError;
use crate::callees::CalleeVariant;
use warpline_ir::{BinaryOp, Block, Constant, Inst, IntPred, Op, Type, Value};

/// The blocks of the loop, and the lanes that are left, with what others have got.
struct Rounds {
    head: Block,
    done: Block,
    left: Value,
    results: Option<Value>,
}

impl Lower<'_> {
    /// A call through a pointer to what may be functions of the module, whose variants are called.
    pub(super) fn call_through_pointer(
        &mut self,
        i: Inst,
        targets: &[CalleeVariant],
    ) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let Some((&pointer, operands)) = data.args.split_last() else {
            return Err(self.internal(i, "a call without a pointer"));
        };
        let ty = match data.result() {
            Some(v) => Some(self.vector_type_of(v, i)?),
            None => None,
        };
        let uniform = self.reps[pointer] == Rep::Uniform;
        let pointers = if uniform { self.scalar(pointer, i)? } else { self.vector(pointer, i)? };
        let rounds = self.begin_rounds(i, ty)?;
        let (target, group) =
            if uniform { (pointers, rounds.left) } else { self.lanes_of_callee(pointers, rounds.left, i)? };
        let result = self.call_target(i, operands, targets, (target, group), ty)?;
        self.end_rounds(&rounds, group, result);
        match rounds.results {
            Some(results) => self.define_lanes(i, results)?,
            None => debug_assert!(data.result().is_none(), "a result has a type"),
        }
        Ok(())
    }

    /// Begins the loop over the callees: all active lanes are left, and none has a result of type `ty`.
    fn begin_rounds(&mut self, i: Inst, ty: Option<Type>) -> Result<Rounds, VectorizeError> {
        let mask = self.mask_or_true(i)?;
        let [head, body, done] = ["callees", "callee", ""].map(|name| self.out.add_block(name));
        self.out.set_terminator(self.block, Op::Br, &[], &[head]);
        let mask_type = self.mask_type();
        let left = self.out.add_phi(head, mask_type);
        let results = ty.map(|ty| self.out.add_phi(head, ty));
        let entry = self.out.out_edges(self.block)[0];
        self.out.set_phi_arg(entry, 0, mask);
        if let Some(ty) = ty {
            let nothing = self.out.poison(ty);
            self.out.set_phi_arg(entry, 1, nothing);
        }
        self.block = head;
        let any = self.any_of(left);
        self.out.set_terminator(head, Op::CondBr, &[any], &[body, done]);
        self.block = body;
        Ok(Rounds { head, done, left, results })
    }

    /// The pointer of the first lane that is left, and the lanes left that have it.
    fn lanes_of_callee(
        &mut self,
        pointers: Value,
        left: Value,
        i: Inst,
    ) -> Result<(Value, Value), VectorizeError> {
        let lane = self.first_set(left);
        let ty: Type = self.out.ty(pointers).elem().expect("a vector has elements").into();
        let target = self.extract_at(pointers, ty, lane);
        let all = self.splat(target, i)?;
        let mask_type = self.mask_type();
        let same = self.emit(Op::ICmp(IntPred::Eq), &[pointers, all], mask_type);
        // Pointers of other lanes may be poison.
        let none = self.no_lane();
        Ok((target, self.select(left, same, none)))
    }

    fn no_lane(&mut self) -> Value {
        let lanes = vec![Constant::bool(false); self.width as usize];
        self.out.constant_value(Constant::vector(lanes))
    }

    /// Calls `target` for the lanes of `group`. Their results.
    fn call_target(
        &mut self,
        i: Inst,
        operands: &[Value],
        targets: &[CalleeVariant],
        (target, group): (Value, Value),
        ty: Option<Type>,
    ) -> Result<Option<Value>, VectorizeError> {
        let join = self.out.add_block("");
        let mut ends = Vec::with_capacity(targets.len() + 1);
        let Type::Ptr(space) = self.out.ty(target) else { return Err(self.internal(i, "no pointer")) };
        for variant in targets {
            let name = self.module.functions[variant.callee].name.clone();
            let Some(symbol) = self.module.symbol(&name) else {
                return Err(self.internal(i, "a function that is pointed to has no symbol"));
            };
            let address = Constant::Address { symbol, offset: 0, space, origin: None };
            let address = self.out.constant_value(address);
            let is = self.emit(Op::ICmp(IntPred::Eq), &[target, address], Type::BOOL);
            let [call, next] = ["call", ""].map(|name| self.out.add_block(name));
            self.out.set_terminator(self.block, Op::CondBr, &[is], &[call, next]);
            self.block = call;
            ends.push((self.variant_under(i, operands, variant, Some(group))?, self.block));
            self.out.set_terminator(self.block, Op::Br, &[], &[join]);
            self.block = next;
        }
        let mut result = ty.map(|ty| self.out.poison(ty));
        for k in 0..self.width {
            result = self.one_lane_if(i, k, group, result)?;
        }
        ends.push((result, self.block));
        self.out.set_terminator(self.block, Op::Br, &[], &[join]);
        self.block = join;
        let Some(ty) = ty else { return Ok(None) };
        let phi = self.out.add_phi(join, ty);
        for e in self.out.blocks[join].preds.clone() {
            let from = self.out.edges[e].from;
            let value = ends.iter().find(|(_, end)| *end == from).and_then(|(value, _)| *value);
            self.out.set_phi_arg(e, 0, value.expect("every callee of this type returns something"));
        }
        Ok(Some(phi))
    }

    /// Ends the loop: the lanes of `group` have got `result` and are no longer left.
    fn end_rounds(&mut self, rounds: &Rounds, group: Value, result: Option<Value>) {
        let results = match (result, rounds.results) {
            (Some(new), Some(old)) => Some(self.select(group, new, old)),
            _ => None,
        };
        let mask_type = self.mask_type();
        let left = self.emit(Op::Binary(BinaryOp::Xor), &[rounds.left, group], mask_type);
        self.out.set_terminator(self.block, Op::Br, &[], &[rounds.head]);
        let back = self.out.out_edges(self.block)[0];
        self.out.set_phi_arg(back, 0, left);
        if let Some(results) = results {
            self.out.set_phi_arg(back, 1, results);
        }
        self.block = rounds.done;
    }
}
