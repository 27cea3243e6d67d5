//! Elementwise instructions: one vector instruction, or once on scalars.

use crate::VectorizeError;
use warpline_ir::{BinaryOp, CastOp, Constant, Inst, InstFlags, Op, Type, Value};

use super::{Lower, Rep};

/// Two of the registers whose parts one instruction takes.
const PAIR_BITS: u32 = 1024;

impl Lower<'_> {
    /// One vector instruction.
    pub(super) fn widen(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let new = self.vector_op(i)?;
        self.define(self.src.insts[i].results[0], new);
        Ok(())
    }

    /// Integers that fill pairs of registers, made narrower: each pair's low parts are taken at once. Of integers that
    /// are shifted before by as many bits as a part has, or several times as many, other parts are taken.
    pub(super) fn truncate(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let (mut x, result) = (data.args[0], data.results[0]);
        let bits = |v: Value| self.src.ty(v).int_bits().unwrap_or(0);
        let (from, to) = (bits(x), bits(result));
        let mut part = 0;
        if let Some((shifted, by)) = self.shifted(x).filter(|(_, by)| by.is_multiple_of(to) && *by < from) {
            (x, part) = (shifted, by / to);
        }
        let x = self.vector(x, i)?;
        let lanes = self.width / self.pairs_of(from);
        let pair_ty = Type::Int(from).vector(lanes / 2).expect("integers are scalars");
        let parts_ty = Type::Int(to).vector(lanes / 2 * (from / to)).expect("integers are scalars");
        let made_ty = Type::Int(to).vector(lanes).expect("integers are scalars");
        let places: Box<[i32]> = (0..lanes).map(|k| (k * (from / to) + part) as i32).collect();
        let mut made = Vec::new();
        for pair in 0..self.pairs_of(from) {
            let halves = [0, lanes / 2].map(|half| {
                let half = self.lanes_from(x, pair * lanes + half, pair_ty);
                self.emit(Op::Cast(CastOp::Bitcast), &[half], parts_ty)
            });
            made.push(self.emit(Op::Shuffle(places.clone()), &halves, made_ty));
        }
        let all = self.joined(made);
        self.define(result, all);
        Ok(())
    }

    /// How many pairs of registers the integers of all lanes fill.
    fn pairs_of(&self, bits: u32) -> u32 {
        (self.width * bits / PAIR_BITS).max(1)
    }

    /// What a value is that a constant shifts to the right, and how far, if it is such a shift.
    fn shifted(&self, x: Value) -> Option<(Value, u32)> {
        let i = self.src.def_inst(x)?;
        let data = &self.src.insts[i];
        let is_shift = matches!(data.op, Op::Binary(BinaryOp::LShr | BinaryOp::AShr))
            // Members that are computed alike may be shifted differently.
            && self.plan.pattern(i, 1).is_none();
        let by =
            data.args.get(1).and_then(|&by| self.src.as_int(by)).and_then(|by| u32::try_from(by).ok())?;
        (is_shift && self.reps[data.args[0]] == Rep::Varying).then_some((data.args[0], by))
    }

    /// One vector instruction, of which lane 0's result is that of all.
    pub(super) fn widen_then_first(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let result = self.src.insts[i].results[0];
        let all = self.vector_op(i)?;
        let first = self.extract_lane(all, self.src.ty(result), 0);
        self.define(result, first);
        Ok(())
    }

    /// Once, on scalars.
    pub(super) fn once(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let result = self.src.insts[i].results[0];
        let new = self.scalar_op(i, self.reps[result])?;
        self.define(result, new);
        Ok(())
    }

    /// Once, on scalars: a uniform value, or lane 0's ghost of a strided one.
    fn scalar_op(&mut self, i: Inst, rep: Rep) -> Result<Value, VectorizeError> {
        let data = &self.src.insts[i];
        let mut op = data.op.clone();
        if matches!(rep, Rep::Strided(_))
            && matches!(op, Op::Binary(BinaryOp::Or))
            && data.flags.contains(InstFlags::DISJOINT)
        {
            op = Op::Binary(BinaryOp::Add);
        }
        let ty = self.src.ty(data.results[0]);
        let args: Vec<Value> = data.args.iter().map(|&a| self.scalar(a, i)).collect::<Result<_, _>>()?;
        let new = self.out.append(self.block, op, &args, ty);
        self.out.insts[new].flags = self.ghost_flags(rep, data.flags);
        self.copy_metadata(i, new);
        Ok(self.out.insts[new].results[0])
    }

    fn vector_op(&mut self, i: Inst) -> Result<Value, VectorizeError> {
        let data = &self.src.insts[i];
        let result = data.results[0];
        match data.op {
            Op::Gep(_) => return self.vector_gep(i),
            Op::Select => return self.vector_select(i),
            Op::ExtractValue(_) | Op::InsertValue(_) => {}
            Op::ExtractElement | Op::InsertElement => return self.element(i),
            Op::Freeze => {}
            _ if self.src.ty(result).scalar().is_none()
                || data.args.iter().any(|&a| self.src.ty(a).scalar().is_none()) =>
            {
                return Err(self.error(i, "a value of this type has no vector form yet"));
            }
            _ => {}
        }
        let ty = self.vector_type_of(result, i)?;
        let mut args: Vec<Value> =
            (0..data.args.len()).map(|n| self.operand(i, n)).collect::<Result<_, _>>()?;
        if let Op::Binary(op) = data.op
            && op.is_int_division()
        {
            args[1] = self.safe_divisor(i, op, args[1])?;
        }
        let new = self.out.append(self.block, data.op.clone(), &args, ty);
        self.out.insts[new].flags = data.flags;
        self.copy_metadata(i, new);
        Ok(self.out.insts[new].results[0])
    }

    /// An element of a lane's vector is a member of the array that stands for it. The index is constant: that is how
    /// [`scalarize`](crate::scalarize) puts vectors together and takes them apart.
    fn element(&mut self, i: Inst) -> Result<Value, VectorizeError> {
        let data = &self.src.insts[i];
        let index = data.args.last().and_then(|&k| self.src.as_int(k)).and_then(|k| u32::try_from(k).ok());
        let Some(index) = index else {
            return Err(self.internal(i, "a vector that differs between lanes was not taken apart"));
        };
        let ty = self.vector_type_of(data.results[0], i)?;
        let x = self.vector(data.args[0], i)?;
        let path = [index].into();
        if data.op == Op::ExtractElement {
            return Ok(self.emit(Op::ExtractValue(path), &[x], ty));
        }
        let element = self.vector(data.args[1], i)?;
        Ok(self.emit(Op::InsertValue(path), &[x, element], ty))
    }

    /// Inactive lanes divide by one.
    pub(super) fn safe_divisor(
        &mut self,
        i: Inst,
        op: BinaryOp,
        divisor: Value,
    ) -> Result<Value, VectorizeError> {
        let divisor_src = self.src.insts[i].args[1];
        let bits = self.src.ty(divisor_src).int_bits().unwrap_or(64);
        let harmless = |c: u128| {
            let minus_one = Constant::int(bits.min(128), u128::MAX).as_int();
            c != 0 && (matches!(op, BinaryOp::UDiv | BinaryOp::URem) || Some(c) != minus_one)
        };
        if self.src.as_int(divisor_src).is_some_and(harmless) {
            return Ok(divisor);
        }
        let Some(mask) = self.mask_vector(i)? else { return Ok(divisor) };
        let one = Constant::vector(vec![Constant::int(bits, 1); self.width as usize]);
        let one = self.out.constant_value(one);
        Ok(self.select(mask, divisor, one))
    }

    fn vector_select(&mut self, i: Inst) -> Result<Value, VectorizeError> {
        let data = &self.src.insts[i];
        let cond = if self.reps[data.args[0]] == Rep::Uniform && self.plan.pattern(i, 0).is_none() {
            self.scalar(data.args[0], i)?
        } else {
            self.operand(i, 0)?
        };
        let a = self.operand(i, 1)?;
        let b = self.operand(i, 2)?;
        let new = self.select(cond, a, b);
        if let Some(inst) = self.out.def_inst(new)
            && self.out.insts[inst].op == Op::Select
        {
            self.out.insts[inst].flags = data.flags;
        }
        Ok(new)
    }

    /// Address arithmetic keeps uniform operands scalar, so that the machine can use base and index.
    fn vector_gep(&mut self, i: Inst) -> Result<Value, VectorizeError> {
        let data = &self.src.insts[i];
        let ty = self.vector_type_of(data.results[0], i)?;
        let mut args = Vec::with_capacity(data.args.len());
        let mut vector = false;
        for &a in &data.args {
            let scalar = self.reps[a] == Rep::Uniform;
            vector |= !scalar;
            args.push(if scalar { self.scalar(a, i)? } else { self.vector(a, i)? });
        }
        if !vector {
            args[0] = self.vector(data.args[0], i)?;
        }
        let new = self.out.append(self.block, data.op.clone(), &args, ty);
        self.out.insts[new].flags = data.flags;
        self.copy_metadata(i, new);
        Ok(self.out.insts[new].results[0])
    }

    /// A conversion of a vector to another element type.
    pub(super) fn cast_vector(&mut self, op: CastOp, x: Value, elem: Type) -> Value {
        let ty = elem.vector(self.width).expect("the target of a conversion is a scalar");
        self.emit(Op::Cast(op), &[x], ty)
    }
}
