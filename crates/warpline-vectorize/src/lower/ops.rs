//! Elementwise instructions: one vector instruction, or once on scalars.

use crate::VectorizeError;
use crate::exact::{Exact, Function};
use warpline_ir::{BinaryOp, CastOp, Constant, FloatKind, Inst, InstFlags, Op, Type, Value};

use super::{Lower, Rep};

impl Lower<'_> {
    /// Arithmetic, comparisons, conversions, aggregates.
    pub(super) fn op(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let Some(result) = data.result() else {
            return Err(self.error(i, format!("`{}` cannot be vectorized yet", data.op.name())));
        };
        match self.reps[result] {
            rep if self.is_wide_division(i) && (rep == Rep::Varying || self.is_unguarded_division(i)) => {
                self.replicate(i)?;
            }
            Rep::Uniform if self.is_unguarded_division(i) => {
                // No lane may be active here, so not even a uniform divisor may be trusted.
                let quotient = self.vector_op(i)?;
                let first = self.extract_lane(quotient, self.src.ty(result), 0);
                self.define(result, first);
            }
            Rep::Varying => {
                let new = match self.by_floats(i)? {
                    Some(new) => new,
                    None => self.vector_op(i)?,
                };
                self.define(result, new);
            }
            rep => {
                let new = self.scalar_op(i, rep)?;
                self.define(result, new);
            }
        }
        Ok(())
    }

    /// What floating-point arithmetic does for instructions that have no vectors, or slow ones.
    fn by_floats(&mut self, i: Inst) -> Result<Option<Value>, VectorizeError> {
        if let Some(function) = self.remainder_function(i) {
            return self.exact(i, function).map(Some);
        }
        if let Some(quotient) = self.divide(i)? {
            return Ok(Some(quotient));
        }
        self.long_conversion(i)
    }

    /// `fmod`, where an instruction is `frem`, for which processors and LLVM have no vectors.
    fn remainder_function(&self, i: Inst) -> Option<Exact> {
        let data = &self.src.insts[i];
        let Type::Float(kind) = self.src.ty(*data.results.first()?) else { return None };
        let known = matches!(kind, FloatKind::Float | FloatKind::Double);
        let function = Exact { function: Function::Fmod, kind };
        (data.op == Op::Binary(BinaryOp::FRem) && known && self.width > 1).then_some(function)
    }

    fn is_unguarded_division(&self, i: Inst) -> bool {
        matches!(self.src.insts[i].op, Op::Binary(op) if op.is_int_division())
            && self.mask.is_some()
            && !self.guarded.contains(i)
    }

    /// Whether a division is of integers for which processors and LLVM have no vectors.
    fn is_wide_division(&self, i: Inst) -> bool {
        let data = &self.src.insts[i];
        let bits = data.result().and_then(|v| self.src.ty(v).int_bits());
        matches!(data.op, Op::Binary(op) if op.is_int_division()) && bits.is_some_and(|b| b > 128)
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
        let mut args: Vec<Value> = data.args.iter().map(|&a| self.vector(a, i)).collect::<Result<_, _>>()?;
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
        let cond = if self.reps[data.args[0]] == Rep::Uniform {
            self.scalar(data.args[0], i)?
        } else {
            self.vector(data.args[0], i)?
        };
        let a = self.vector(data.args[1], i)?;
        let b = self.vector(data.args[2], i)?;
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
