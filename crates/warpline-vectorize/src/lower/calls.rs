//! Calls.

use crate::VectorizeError;
use crate::callees::CalleeVariant;
use warpline_ir::{Constant, Effects, FloatKind, Inst, Op, Scalar, Type, Value};
use warpline_uniformity::shape::ArgShape;

use super::memory::mangle;
use super::{Lower, Rep};
use crate::elementary::Elementary;
use crate::exact::Exact;
use crate::known_calls::{Fold, Form};

/// Conversions that saturate, and whether integers have signs.
const SATURATING: [(&str, bool); 2] = [("llvm.fptosi.sat", true), ("llvm.fptoui.sat", false)];

impl Lower<'_> {
    /// A call of the [W-lane variant](crate::callees) of a function, under the mask of the block.
    pub(super) fn call_of_variant(&mut self, i: Inst, variant: &CalleeVariant) -> Result<(), VectorizeError> {
        let mask = self.mask_vector(i)?;
        let value = self.variant_under(i, &self.src.insts[i].args, variant, mask)?;
        match value {
            Some(value) => self.define_lanes(i, value),
            None => Ok(()),
        }
    }

    /// Calls the variant of a function, under a mask. The lanes' results.
    pub(super) fn variant_under(
        &mut self,
        i: Inst,
        operands: &[Value],
        variant: &CalleeVariant,
        mask: Option<Value>,
    ) -> Result<Option<Value>, VectorizeError> {
        let mut args = Vec::with_capacity(operands.len() + 1);
        for (&a, shape) in operands.iter().zip(&variant.args) {
            args.push(if *shape == ArgShape::Varying { self.vector(a, i)? } else { self.scalar(a, i)? });
        }
        args.extend(mask.map(|m| if self.width == 1 { self.extract_lane(m, Type::BOOL, 0) } else { m }));
        let data = &self.src.insts[i];
        let ret = match data.result() {
            Some(v) => self.vector_type_of(v, i)?,
            None => Type::Void,
        };
        let types: Vec<Type> = args.iter().map(|&a| self.out.ty(a)).collect();
        let effects = data.effects();
        let symbol = self.module.function_symbol(&variant.name, &types, ret, effects);
        let op = self.call_op(symbol, effects);
        let new = self.out.append(self.block, op, &args, ret);
        self.out.insts[new].origin = data.origin;
        self.copy_metadata(i, new);
        Ok(self.out.insts[new].result())
    }

    /// Defines the result of an instruction, given as a vector in which active lanes have theirs.
    pub(super) fn define_lanes(&mut self, i: Inst, lanes: Value) -> Result<(), VectorizeError> {
        let Some(result) = self.src.insts[i].result() else { return Ok(()) };
        let value = match self.reps[result] {
            Rep::Varying => lanes,
            Rep::Uniform => self.first_active(lanes, self.src.ty(result), i)?,
            Rep::Strided(_) => return Err(self.internal(i, "a call's result is strided")),
        };
        self.define(result, value);
        Ok(())
    }

    /// A call that is made once for all lanes.
    pub(super) fn call_once(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let result = data.results[0];
        let args: Vec<Value> = data.args.iter().map(|&a| self.scalar(a, i)).collect::<Result<_, _>>()?;
        let new = self.out.append(self.block, data.op.clone(), &args, self.src.ty(result));
        self.out.insts[new].flags = data.flags;
        self.out.insts[new].origin = data.origin;
        self.copy_metadata(i, new);
        let value = self.out.insts[new].results[0];
        self.define(result, value);
        Ok(())
    }

    /// The stack is saved or restored once for all lanes.
    pub(super) fn stack_call(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        // What is given back was saved, once, by the instruction that the operand names.
        let saved =
            data.args.first().and_then(|&a| self.src.def_inst(a)).and_then(|save| self.saved.get(&save));
        let args: Vec<Value> = saved.copied().into_iter().collect();
        let ty = data.result().map_or(Type::Void, |v| self.src.ty(v));
        let new = self.out.append(self.block, data.op.clone(), &args, ty);
        self.out.insts[new].origin = data.origin;
        self.copy_metadata(i, new);
        let Some(result) = data.result() else { return Ok(()) };
        let value = self.out.insts[new].results[0];
        self.saved.insert(i, value);
        if self.reps[result] == Rep::Uniform {
            self.define(result, value)
        } else {
            let all = self.splat(value, i)?;
            self.define(result, all)
        }
        Ok(())
    }

    /// A call that never returns is made by the first active lane alone. It is reached with an active lane only, for
    /// no path returns from there.
    pub(super) fn call_of_first_lane(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let mut args = Vec::with_capacity(data.args.len());
        let mut lane = None;
        for &a in &data.args {
            args.push(if self.reps[a] == Rep::Uniform {
                self.scalar(a, i)?
            } else {
                let index = match lane {
                    Some(index) => index,
                    None => self.first_lane(i)?,
                };
                lane = Some(index);
                let x = self.vector(a, i)?;
                let ty = self.src.ty(a);
                self.extract_at(x, ty, index)
            });
        }
        let new = self.out.append(self.block, data.op.clone(), &args, Type::Void);
        self.out.insts[new].origin = data.origin;
        self.copy_metadata(i, new);
        Ok(())
    }

    /// A call of an intrinsic on all lanes at once; of one on vectors, element by element.
    pub(super) fn vector_intrinsic(&mut self, i: Inst, base: &str, form: Form) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let result = data.results[0];
        let scalars = matches!(form, Form::LastScalar | Form::LastScalarNamed);
        let last = data.args.len() - 1;
        let ty = self.vector_type_of(result, i)?;
        let mut args = Vec::with_capacity(data.args.len());
        for (n, &a) in data.args.iter().enumerate() {
            args.push(if scalars && n == last { self.scalar(a, i)? } else { self.operand(i, n)? });
        }
        let Type::Vector(elements) = self.src.ty(data.args[0]) else {
            let new = self.named_by_types(i, base, form, &args, ty);
            return self.define_vector_result(i, result, new);
        };
        let Some(elem) = self.module.types.member(ty, 0) else {
            return Err(self.internal(i, "a vector without elements"));
        };
        let mut whole = self.out.poison(ty);
        for k in 0..elements.lanes {
            let mut parts = args.clone();
            for x in &mut parts {
                if let Some(member) = self.module.types.member(self.out.ty(*x), k.into())
                    && !matches!(self.out.ty(*x), Type::Vector(_))
                {
                    *x = self.member(*x, k, member);
                }
            }
            let part = self.named_by_types(i, base, form, &parts, elem);
            whole = self.emit(Op::InsertValue([k].into()), &[whole, part], ty);
        }
        self.define_vector_result(i, result, whole)
    }

    /// Calls the vector form of the intrinsic that `i` calls; its name ends in the types.
    fn named_by_types(&mut self, i: Inst, base: &str, form: Form, args: &[Value], ty: Type) -> Value {
        if let Some(signed) = SATURATING.iter().find(|(name, _)| *name == base).map(|(_, signed)| *signed)
            && let Some(converted) = self.saturating(signed, args[0], ty)
        {
            return converted;
        }
        let types: Vec<String> = args.iter().map(|&a| mangle(self.out.ty(a))).collect();
        let (first, last) = (&types[0], &types[types.len() - 1]);
        let name = match form {
            Form::Elementwise | Form::LastScalar => format!("{base}.{first}"),
            Form::LastScalarNamed => format!("{base}.{first}.{last}"),
            Form::Converting => format!("{base}.{}.{first}", mangle(ty)),
        };
        let new = self.call_named(&name, args, ty, Effects::empty()).expect("an intrinsic with a result");
        self.keep_flags(i, new);
        new
    }

    /// A reduction of a lane's vector: its elements one after the other, from the first on, which every order of
    /// evaluation may be that the intrinsic leaves open.
    pub(super) fn reduction(&mut self, i: Inst, fold: Fold) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let result = data.results[0];
        let Some((&vector, start)) = data.args.split_last() else { return Err(self.no_vector(i)) };
        let Type::Vector(elements) = self.src.ty(vector) else { return Err(self.no_vector(i)) };
        let x = self.vector(vector, i)?;
        let ty = self.vector_type_of(result, i)?;
        let mut total = match start.first() {
            Some(&start) => Some(self.vector(start, i)?),
            None => None,
        };
        for k in 0..elements.lanes {
            let part = self.emit(Op::ExtractValue([k].into()), &[x], ty);
            total = Some(match (total, fold) {
                (None, _) => part,
                (Some(sum), Fold::Binary(op)) => {
                    let sum = self.emit(Op::Binary(op), &[sum, part], ty);
                    self.keep_flags(i, sum);
                    sum
                }
                (Some(sum), Fold::Intrinsic(base)) => {
                    self.named_by_types(i, base, Form::Elementwise, &[sum, part], ty)
                }
            });
        }
        let Some(total) = total else { return Err(self.no_vector(i)) };
        self.define_vector_result(i, result, total)
    }

    fn no_vector(&self, i: Inst) -> VectorizeError {
        self.internal(i, "a reduction is one of a vector")
    }

    fn keep_flags(&mut self, from: Inst, to: Value) {
        if let Some(inst) = self.out.def_inst(to) {
            self.out.insts[inst].flags = self.src.insts[from].flags;
            self.copy_metadata(from, inst);
        }
    }

    /// Expands a function inline that has one right result.
    pub(super) fn exact_call(&mut self, i: Inst, function: Exact) -> Result<(), VectorizeError> {
        let value = self.exact(i, function)?;
        self.define_vector_result(i, self.src.insts[i].results[0], value)
    }

    /// Expands a mathematics function inline.
    pub(super) fn inline_expansion(&mut self, i: Inst, function: Elementary) -> Result<(), VectorizeError> {
        self.approximate = true;
        let value = self.elementary(i, function)?;
        self.define_vector_result(i, self.src.insts[i].results[0], value)
    }

    /// Calls a function of the vector mathematics library, in pieces if its vectors are shorter.
    pub(super) fn vector_math(&mut self, i: Inst, symbol: &str, lanes: u32) -> Result<(), VectorizeError> {
        self.approximate = true;
        let data = &self.src.insts[i];
        let result = data.results[0];
        let mut args: Vec<Value> = data.args.iter().map(|&a| self.vector(a, i)).collect::<Result<_, _>>()?;
        if let Some(mask) = self.mask_vector(i)? {
            // Whatever inactive lanes hold may be a special case, for which libraries leave their fast path.
            for arg in &mut args {
                let harmless = self.harmless_argument(i, self.out.ty(*arg));
                *arg = self.select(mask, *arg, harmless);
            }
        }
        let part_ty = self.src.ty(result).vector(lanes).expect("mathematics is done on scalars");
        let mut parts = Vec::new();
        for start in (0..self.width).step_by(lanes as usize) {
            let pieces: Vec<Value> = args.iter().map(|&a| self.piece(a, start, lanes)).collect();
            let part = self.call_named(symbol, &pieces, part_ty, Effects::empty());
            parts.push(part.expect("a function with a result"));
        }
        let joined = self.join(parts);
        self.define_vector_result(i, result, joined)
    }

    /// As many vectors of one length as make up all lanes, in order.
    fn join(&mut self, mut parts: Vec<Value>) -> Value {
        while parts.len() > 1 {
            if parts.len() % 2 == 1 {
                let nothing = self.out.poison(self.out.ty(parts[0]));
                parts.push(nothing);
            }
            parts = parts.chunks(2).map(|pair| self.concat(pair)).collect();
        }
        let joined = parts[0];
        match self.out.ty(joined) {
            Type::Vector(v) if v.lanes > self.width => {
                let ty = Type::from(v.elem).vector(self.width).expect("elements are scalars");
                let nothing = self.out.poison(self.out.ty(joined));
                let first: Vec<i32> = (0..self.width as i32).collect();
                self.emit(Op::Shuffle(first.into()), &[joined, nothing], ty)
            }
            _ => joined,
        }
    }

    /// A vector of numbers, 1 or 1/2, for which a mathematics function is finite.
    pub(super) fn harmless_argument(&mut self, i: Inst, ty: Type) -> Value {
        let name = match &self.src.insts[i].op {
            Op::Call(info) => info.callee.map_or("", |s| &self.module.symbols[s].name),
            _ => "",
        };
        let x = if name.contains("atanh") { 0.5f64 } else { 1.0 };
        let number = match ty.elem() {
            Some(Scalar::Float(FloatKind::Float)) => {
                Constant::Float { kind: FloatKind::Float, bits: u128::from((x as f32).to_bits()) }
            }
            _ => Constant::Float { kind: FloatKind::Double, bits: u128::from(x.to_bits()) },
        };
        self.out.constant_value(Constant::vector(vec![number; self.width as usize]))
    }

    fn define_vector_result(&mut self, i: Inst, result: Value, new: Value) -> Result<(), VectorizeError> {
        let value = match self.reps[result] {
            Rep::Varying => new,
            Rep::Uniform => self.extract_lane(new, self.src.ty(result), 0),
            Rep::Strided(_) => return Err(self.internal(i, "a call's result is strided")),
        };
        self.define(result, value);
        Ok(())
    }

    /// Elements `start .. start + lanes` of a vector.
    pub(super) fn piece(&mut self, x: Value, start: u32, lanes: u32) -> Value {
        if lanes == self.width {
            return x;
        }
        let ty = self.out.ty(x);
        let elem: Type = ty.elem().expect("a vector has elements").into();
        let poison = self.out.poison(ty);
        let mask: Vec<i32> = (start..start + lanes).map(|k| k as i32).collect();
        let piece_ty = elem.vector(lanes).expect("elements are scalars");
        self.emit(Op::Shuffle(mask.into()), &[x, poison], piece_ty)
    }

    /// Two vectors of one length after another; one vector stays as it is.
    pub(super) fn concat(&mut self, parts: &[Value]) -> Value {
        let [a, b] = parts[..] else { return parts[0] };
        let ty = self.out.ty(a);
        let Type::Vector(v) = ty else { return a };
        let mask: Vec<i32> = (0..2 * v.lanes as i32).collect();
        let whole = Type::from(v.elem).vector(2 * v.lanes).expect("elements are scalars");
        self.emit(Op::Shuffle(mask.into()), &[a, b], whole)
    }
}
