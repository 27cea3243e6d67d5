//! Calls.

use crate::VectorizeError;
use warpline_ir::{Constant, Effects, FloatKind, FuncId, Inst, Op, Scalar, Type, Value};
use warpline_uniformity::rules::called;
use warpline_uniformity::shape::ArgShape;

use super::memory::mangle;
use super::{Lower, Rep};
use crate::elementary::Elementary;
use crate::exact::Exact;
use crate::known_calls::{Fold, Form, instruction, is_annotation, libm_name, reduction, vector_intrinsic};

/// Conversions that saturate, and whether integers have signs.
const SATURATING: [(&str, bool); 2] = [("llvm.fptosi.sat", true), ("llvm.fptoui.sat", false)];

impl Lower<'_> {
    /// `call`
    pub(super) fn call(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let Op::Call(info) = &data.op else { return Ok(()) };
        let name: Box<str> = info.callee.map_or("".into(), |s| self.module.symbols[s].name.clone());
        if is_annotation(self.module, data) {
            return Ok(());
        }
        let lanes_meet = info.effects.contains(Effects::CONVERGENT)
            || info.callee.is_some_and(|s| self.lane_callees.contains(s));
        let vectorized = self.callee(i);
        if lanes_meet {
            return match vectorized {
                Some(callee) => self.call_of_form(i, callee),
                None => {
                    let why =
                        format!("the call of `{name}` depends on the other lanes, and its body is not known");
                    Err(self.error(i, why))
                }
            };
        }
        if name.starts_with("llvm.stacksave") || name.starts_with("llvm.stackrestore") {
            return self.stack_call(i);
        }
        if self.call_once(i, info.effects)? || self.bulk_once(i, &name)? {
            return Ok(());
        }
        if info.effects.contains(Effects::NO_RETURN) && data.results.is_empty() {
            return self.call_of_first_lane(i);
        }
        if let Some(callee) = vectorized.filter(|_| self.width > 1) {
            return self.call_of_form(i, callee);
        }
        if self.width > 1 && self.call_of_variant(i, &name)? {
            return Ok(());
        }
        if info.callee.is_none() && self.width > 1 && self.call_through_pointer(i)? {
            return Ok(());
        }
        let Some(result) = data.result() else { return self.replicate(i) };
        if let Some((base, form)) = vector_intrinsic(&name)
            && (self.src.ty(data.args[0]).scalar().is_some() || self.src.ty(result).elem().is_some())
        {
            return self.vector_intrinsic(i, base, form);
        }
        if let Some(base) = instruction(&name, self.src.ty(result)) {
            return self.vector_intrinsic(i, base, Form::Elementwise);
        }
        if let Some(kind) = name.strip_prefix("llvm.vector.reduce.")
            && let Some(fold) = reduction(kind)
        {
            return self.reduction(i, fold);
        }
        let types: Vec<Type> = data.args.iter().map(|&a| self.src.ty(a)).collect();
        if let Some(function) = Exact::of(&name, self.src.ty(result)).filter(|f| f.takes(&types)) {
            return if self.width > 1 { self.exact_call(i, function) } else { self.replicate(i) };
        }
        if let Some(libm) = libm_name(&name, self.src.ty(result))
            && (self.inline_expansion(i, &libm)? || self.vector_math(i, &libm)?)
        {
            return Ok(());
        }
        self.replicate(i)
    }

    /// An instruction that the IR does not model, for one active lane after the other. A call that asks about the
    /// lanes can be made neither so nor for all of them at once.
    pub(super) fn carried(&mut self, i: Inst) -> Result<(), VectorizeError> {
        if let Some(called) = called(self.module, self.src, i)
            && (called.effects.contains(Effects::CONVERGENT)
                || called.callee.is_some_and(|(s, _)| self.lane_callees.contains(s)))
        {
            let why = format!(
                "the call of `{}` depends on the other lanes, and passes copies of memory or carries more than \
                 arguments",
                called.name()
            );
            return Err(self.error(i, why));
        }
        self.replicate(i)
    }

    /// The function of the module that a call runs, if it can be vectorized.
    fn callee(&self, i: Inst) -> Option<FuncId> {
        let data = &self.src.insts[i];
        let Op::Call(info) = &data.op else { return None };
        let types: Vec<Type> = data.args.iter().map(|&a| self.src.ty(a)).collect();
        let ret = data.result().map_or(Type::Void, |v| self.src.ty(v));
        self.wanted.callee(self.module, info, &types, ret)
    }

    /// A call of the [W-lane form](crate::callees) of a function, under the mask of the block.
    fn call_of_form(&mut self, i: Inst, callee: FuncId) -> Result<(), VectorizeError> {
        let mask = self.mask_vector(i)?;
        let value = self.form_under(i, &self.src.insts[i].args, callee, mask)?;
        match value {
            Some(value) => self.define_lanes(i, value),
            None => Ok(()),
        }
    }

    /// Calls the form of a function for the shapes of `operands`, under a mask. The lanes' results.
    pub(super) fn form_under(
        &mut self,
        i: Inst,
        operands: &[Value],
        callee: FuncId,
        mask: Option<Value>,
    ) -> Result<Option<Value>, VectorizeError> {
        let mut shapes = Vec::with_capacity(operands.len());
        for &a in operands {
            shapes.push(match self.reps[a] {
                Rep::Uniform => ArgShape::Uniform,
                Rep::Strided(step) => ArgShape::Stride(step),
                Rep::Varying => ArgShape::Varying,
            });
        }
        let variant = self.wanted.variant(self.module, callee, shapes, mask.is_some());
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

    /// A call with uniform operands that yields the same for all lanes and does nothing else is made once.
    fn call_once(&mut self, i: Inst, effects: Effects) -> Result<bool, VectorizeError> {
        let data = &self.src.insts[i];
        let Some(result) = data.result() else { return Ok(false) };
        let uniform = data.args.iter().all(|&a| self.reps[a] == Rep::Uniform);
        let harmless = effects.speculatable() || self.guarded.contains(i) || self.mask.is_none();
        if !uniform || !harmless || self.reps[result] != Rep::Uniform {
            return Ok(false);
        }
        let args: Vec<Value> = data.args.iter().map(|&a| self.scalar(a, i)).collect::<Result<_, _>>()?;
        let new = self.out.append(self.block, data.op.clone(), &args, self.src.ty(result));
        self.out.insts[new].flags = data.flags;
        self.out.insts[new].origin = data.origin;
        self.copy_metadata(i, new);
        let value = self.out.insts[new].results[0];
        self.define(result, value);
        Ok(true)
    }

    /// The stack is saved and restored once for all lanes if [that may be](super::stack), else not at all.
    fn stack_call(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        if !self.stack.is_kept(i) {
            return if data.results.is_empty() { Ok(()) } else { self.replicate(i) };
        }
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
    /// it is in a dead end.
    fn call_of_first_lane(&mut self, i: Inst) -> Result<(), VectorizeError> {
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
    fn vector_intrinsic(&mut self, i: Inst, base: &str, form: Form) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let result = data.results[0];
        let scalars = matches!(form, Form::LastScalar | Form::LastScalarNamed);
        let last = data.args.len() - 1;
        if scalars && self.reps[data.args[last]] != Rep::Uniform {
            return self.replicate(i);
        }
        let ty = self.vector_type_of(result, i)?;
        let mut args = Vec::with_capacity(data.args.len());
        for (n, &a) in data.args.iter().enumerate() {
            args.push(if scalars && n == last { self.scalar(a, i)? } else { self.vector(a, i)? });
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
    fn reduction(&mut self, i: Inst, fold: Fold) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let result = data.results[0];
        let Some((&vector, start)) = data.args.split_last() else { return self.replicate(i) };
        let Type::Vector(elements) = self.src.ty(vector) else { return self.replicate(i) };
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
        let Some(total) = total else { return self.replicate(i) };
        self.define_vector_result(i, result, total)
    }

    fn keep_flags(&mut self, from: Inst, to: Value) {
        if let Some(inst) = self.out.def_inst(to) {
            self.out.insts[inst].flags = self.src.insts[from].flags;
            self.copy_metadata(from, inst);
        }
    }

    fn exact_call(&mut self, i: Inst, function: Exact) -> Result<(), VectorizeError> {
        let value = self.exact(i, function)?;
        self.define_vector_result(i, self.src.insts[i].results[0], value)
    }

    /// Writes a mathematics function out; false if that is not wanted.
    fn inline_expansion(&mut self, i: Inst, libm: &str) -> Result<bool, VectorizeError> {
        let wanted = |f: &Elementary| self.width > 1 && self.math.inline_expansion(*f);
        let Some(function) = Elementary::of(libm).filter(wanted) else { return Ok(false) };
        self.approximate = true;
        let value = self.elementary(i, function)?;
        self.define_vector_result(i, self.src.insts[i].results[0], value)?;
        Ok(true)
    }

    /// Calls the vector mathematics library, in pieces if its vectors are shorter; false if it has no such function.
    fn vector_math(&mut self, i: Inst, libm: &str) -> Result<bool, VectorizeError> {
        let mut whole_pieces = (2..=self.width).rev().filter(|&n| self.width.is_multiple_of(n));
        let Some((lanes, symbol)) = whole_pieces.find_map(|n| Some((n, self.math.vector_function(libm, n)?)))
        else {
            return Ok(false);
        };
        self.approximate = true;
        let data = &self.src.insts[i];
        let result = data.results[0];
        let mut args: Vec<Value> = data.args.iter().map(|&a| self.vector(a, i)).collect::<Result<_, _>>()?;
        if let Some(mask) = self.mask_vector(i)? {
            // Whatever inactive lanes hold may be a special case, for which libraries leave their fast path.
            for arg in &mut args {
                let harmless = self.harmless_argument(libm, self.out.ty(*arg));
                *arg = self.select(mask, *arg, harmless);
            }
        }
        let part_ty = self.src.ty(result).vector(lanes).expect("mathematics is done on scalars");
        let mut parts = Vec::new();
        for start in (0..self.width).step_by(lanes as usize) {
            let pieces: Vec<Value> = args.iter().map(|&a| self.piece(a, start, lanes)).collect();
            let part = self.call_named(&symbol, &pieces, part_ty, Effects::empty());
            parts.push(part.expect("a function with a result"));
        }
        let joined = self.join(parts);
        self.define_vector_result(i, result, joined)?;
        Ok(true)
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
    fn harmless_argument(&mut self, libm: &str, ty: Type) -> Value {
        let x = if libm.starts_with("atanh") { 0.5f64 } else { 1.0 };
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
