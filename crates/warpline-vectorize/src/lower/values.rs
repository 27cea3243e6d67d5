//! Operands: a value of the lane program as a scalar, as a vector, as one lane's scalar; masks.

use crate::VectorizeError;
use warpline_ir::{BinaryOp, CastOp, Constant, Effects, Inst, InstFlags, Op, Type, Value};

use super::{Lower, Rep};
use crate::recipes::Pattern;

/// The widest integer that has constants of its own. Distances of lanes fit it, so wider ones are extended from it.
const WIDEST: u32 = 128;
const SIGN_EXTEND: Op = Op::Cast(CastOp::SExt);

impl Lower<'_> {
    /// The scalar of a uniform or strided value. `at` is the user, for messages.
    pub(super) fn scalar(&mut self, v: Value, at: Inst) -> Result<Value, VectorizeError> {
        if let Some(c) = self.src.constant(v) {
            return Ok(self.out.constant_value(c.clone()));
        }
        self.scalars[v].expand().ok_or_else(|| {
            let name = self.src.value_name(v);
            self.internal(at, format!("{name} differs between lanes but is used as one value"))
        })
    }

    /// The vector of any value.
    pub(super) fn vector(&mut self, v: Value, at: Inst) -> Result<Value, VectorizeError> {
        if let Some(c) = self.src.constant(v) {
            let c = c.clone();
            if matches!(c, Constant::Opaque { .. }) && c.ty().scalar().is_none() {
                let whole = self.out.constant_value(c);
                return self.splat(whole, at);
            }
            return self.splat_constant(&c, at);
        }
        if let Some(x) = self.vectors[v].expand()
            && (self.reps[v] == Rep::Varying || self.vector_home[v] == Some(self.block).into())
        {
            return Ok(x);
        }
        let scalar = self.scalar(v, at)?;
        let x = match self.reps[v] {
            Rep::Strided(step) => self.strided_vector(scalar, step, at)?,
            _ => self.splat(scalar, at)?,
        };
        self.vectors[v] = x.into();
        self.vector_home[v] = self.block.into();
        Ok(x)
    }

    /// The vector of an operand. Where members of a group are computed alike, each element has its member's.
    pub(super) fn operand(&mut self, i: Inst, n: usize) -> Result<Value, VectorizeError> {
        match self.plan.pattern(i, n) {
            Some(pattern) => self.pattern(pattern, i),
            None => self.vector(self.src.insts[i].args[n], i),
        }
    }

    /// The vector of uniform values that follow each other.
    fn pattern(&mut self, pattern: &Pattern, at: Inst) -> Result<Value, VectorizeError> {
        let ty = self.vector_type_of(pattern.values[0], at)?;
        let chosen: Vec<Value> =
            (0..self.width).map(|k| pattern.values[pattern.value(k, self.width)]).collect();
        let is_number = |c: &Constant| matches!(c, Constant::Int { .. } | Constant::Float { .. });
        let constants = chosen.iter().map(|&v| self.src.constant(v).cloned().filter(is_number));
        if let Some(constants) = constants.collect::<Option<Vec<Constant>>>() {
            return Ok(self.out.constant_value(Constant::vector(constants)));
        }
        let mut all = self.out.poison(ty);
        let own = pattern.values.len().min(chosen.len());
        for (k, &v) in chosen[..own].iter().enumerate() {
            let x = self.scalar(v, at)?;
            all = self.insert_lane(all, x, k as u32);
        }
        // The members follow each other from the one that the first element is of.
        let places = (0..self.width).map(|k| (k as usize % own) as i32).collect();
        let nothing = self.out.poison(ty);
        Ok(self.emit(Op::Shuffle(places), &[all, nothing], ty))
    }

    fn splat_constant(&mut self, c: &Constant, at: Inst) -> Result<Value, VectorizeError> {
        let ty = c.ty();
        let Some(vty) = self.vector_type(ty) else {
            return Err(self.error(at, "a constant of this type has no vector form yet"));
        };
        let splat =
            match c {
                Constant::Undef(_) => Constant::Undef(vty),
                Constant::Poison(_) => Constant::Poison(vty),
                Constant::Null(_) | Constant::Zero(_) => Constant::Zero(vty),
                Constant::Composite { elems, .. } => {
                    // One vector per member.
                    let mut members = Vec::with_capacity(elems.len());
                    for e in elems {
                        let v = self.splat_constant(e, at)?;
                        let member = self.out.constant(v).cloned();
                        members.push(member.ok_or_else(|| {
                            self.error(at, "a constant of this kind has no vector form yet")
                        })?);
                    }
                    Constant::Composite { ty: vty, elems: members }
                }
                Constant::Opaque { .. } if ty.scalar().is_none() => {
                    return Err(self.error(at, "a constant of this kind has no vector form yet"));
                }
                _ => Constant::Composite { ty: vty, elems: vec![c.clone(); self.width as usize] },
            };
        Ok(self.out.constant_value(splat))
    }

    /// The same scalar in all lanes; structures and vectors member by member.
    pub(super) fn splat(&mut self, x: Value, at: Inst) -> Result<Value, VectorizeError> {
        let ty = self.out.ty(x);
        let Some(vty) = self.vector_type(ty) else {
            return Err(self.error(at, "a value of this type has no vector form yet"));
        };
        if ty.scalar().is_none() {
            let mut whole = self.out.poison(vty);
            let mut k = 0;
            while let Some(member_ty) = self.module.types.member(ty, u64::from(k)) {
                let member = self.member(x, k, member_ty);
                let member = self.splat(member, at)?;
                whole = self.emit(Op::InsertValue([k].into()), &[whole, member], vty);
                k += 1;
            }
            return Ok(whole);
        }
        Ok(self.splat_scalar(x, vty, self.width))
    }

    /// A scalar in each of so many elements of a vector of this type.
    pub(super) fn splat_scalar(&mut self, x: Value, vty: Type, elements: u32) -> Value {
        let poison = self.out.poison(vty);
        let zero = self.out.int_const(64, 0);
        let one = self.emit(Op::InsertElement, &[poison, x, zero], vty);
        self.emit(Op::Shuffle(vec![0; elements as usize].into()), &[one, poison], vty)
    }

    /// `base + k * step` in lane *k*.
    fn strided_vector(&mut self, base: Value, step: i64, at: Inst) -> Result<Value, VectorizeError> {
        match self.out.ty(base) {
            Type::Int(bits) => {
                let steps = self.steps(bits.min(WIDEST), step);
                let splat = self.splat(base, at)?;
                let ty = self.out.ty(splat);
                let steps = if bits > WIDEST { self.emit(SIGN_EXTEND, &[steps], ty) } else { steps };
                Ok(self.emit(Op::Binary(BinaryOp::Add), &[splat, steps], ty))
            }
            ty @ Type::Ptr(space) => {
                let steps = self.steps(self.module.layout.index_bits(space), step);
                let vty = ty.vector(self.width).expect("a pointer is a scalar");
                Ok(self.emit(Op::Gep(Type::Int(8)), &[base, steps], vty))
            }
            _ => Err(self.internal(at, "a strided value is neither an integer nor a pointer")),
        }
    }

    /// The constant vector of `k * step`, modulo the width.
    pub(super) fn steps(&mut self, bits: u32, step: i64) -> Value {
        let elems = (0..self.width).map(|k| {
            let x = i128::from(step).wrapping_mul(i128::from(k));
            Constant::int(bits, x as u128)
        });
        let c = Constant::vector(elems.collect());
        self.out.constant_value(c)
    }

    /// The value of one lane as a scalar.
    pub(super) fn lane(&mut self, v: Value, k: u32, at: Inst) -> Result<Value, VectorizeError> {
        match self.reps[v] {
            Rep::Uniform => self.scalar(v, at),
            Rep::Strided(step) => {
                let base = self.scalar(v, at)?;
                let offset = i128::from(step).wrapping_mul(i128::from(k)) as u128;
                let ty = self.out.ty(base);
                let (op, bits) = match ty {
                    Type::Ptr(space) => (Op::Gep(Type::Int(8)), self.module.layout.index_bits(space)),
                    _ => (Op::Binary(BinaryOp::Add), ty.int_bits().unwrap_or(64)),
                };
                let offset = self.out.int_const(bits.min(WIDEST), offset);
                let offset = if bits > WIDEST { self.emit(SIGN_EXTEND, &[offset], ty) } else { offset };
                Ok(self.emit(op, &[base, offset], ty))
            }
            Rep::Varying => {
                let x = self.vector(v, at)?;
                let ty = self.src.ty(v);
                Ok(self.extract_lane(x, ty, k))
            }
        }
    }

    /// A member of an aggregate or an element of a vector; `ty` is its type.
    pub(super) fn member(&mut self, x: Value, k: u32, ty: Type) -> Value {
        if !matches!(self.out.ty(x), Type::Vector(_)) {
            return self.emit(Op::ExtractValue([k].into()), &[x], ty);
        }
        let index = self.out.int_const(64, k.into());
        self.emit(Op::ExtractElement, &[x, index], ty)
    }

    /// An aggregate or vector with a member replaced.
    fn with_member(&mut self, whole: Value, x: Value, k: u32) -> Value {
        let ty = self.out.ty(whole);
        if !matches!(ty, Type::Vector(_)) {
            return self.emit(Op::InsertValue([k].into()), &[whole, x], ty);
        }
        let index = self.out.int_const(64, k.into());
        self.emit(Op::InsertElement, &[whole, x, index], ty)
    }

    /// One lane of a vector; structures member by member. `ty` is the type of one lane.
    pub(super) fn extract_lane(&mut self, x: Value, ty: Type, k: u32) -> Value {
        let index = self.out.int_const(64, u128::from(k));
        self.extract_at(x, ty, index)
    }

    /// The lane of a vector that a scalar says; structures member by member. `ty` is the type of one lane.
    pub(super) fn extract_at(&mut self, x: Value, ty: Type, index: Value) -> Value {
        if ty.scalar().is_some() {
            return self.emit(Op::ExtractElement, &[x, index], ty);
        }
        let vty = self.out.ty(x);
        let mut whole = self.out.poison(ty);
        let mut m = 0;
        while let (Some(member), Some(vmember)) =
            (self.module.types.member(ty, u64::from(m)), self.module.types.member(vty, u64::from(m)))
        {
            let part = self.emit(Op::ExtractValue([m].into()), &[x], vmember);
            let part = self.extract_at(part, member, index);
            whole = self.with_member(whole, part, m);
            m += 1;
        }
        whole
    }

    /// A vector with one lane replaced; structures member by member.
    pub(super) fn insert_lane(&mut self, into: Value, x: Value, k: u32) -> Value {
        let (vty, ty) = (self.out.ty(into), self.out.ty(x));
        if ty.scalar().is_some() {
            let index = self.out.int_const(64, u128::from(k));
            return self.emit(Op::InsertElement, &[into, x, index], vty);
        }
        let mut whole = into;
        let mut m = 0;
        while let (Some(member), Some(vmember)) =
            (self.module.types.member(ty, u64::from(m)), self.module.types.member(vty, u64::from(m)))
        {
            let part = self.member(x, m, member);
            let old = self.emit(Op::ExtractValue([m].into()), &[whole], vmember);
            let part = self.insert_lane(old, part, k);
            whole = self.emit(Op::InsertValue([m].into()), &[whole, part], vty);
            m += 1;
        }
        whole
    }

    // ---- masks --------------------------------------------------------------------------------------------

    /// The mask of the present block as a vector; `None` if all lanes are active.
    pub(super) fn mask_vector(&mut self, at: Inst) -> Result<Option<Value>, VectorizeError> {
        match self.mask {
            None => Ok(None),
            Some(m) if self.src.as_int(m) == Some(1) => Ok(None),
            Some(m) => {
                let x = self.vector(m, at)?;
                Ok(Some(x))
            }
        }
    }

    /// Defines an integer that is known in each lane.
    pub(super) fn define_known(&mut self, i: Inst, lanes: &[u64]) -> Result<(), VectorizeError> {
        let Some(result) = self.src.insts[i].result() else { return Ok(()) };
        let Type::Int(bits) = self.src.ty(result) else {
            return Err(self.internal(i, "what is known in each lane is an integer"));
        };
        let lanes = lanes.iter().map(|&x| Constant::int(bits, x.into())).collect();
        let known = self.out.constant_value(Constant::vector(lanes));
        self.define(result, known);
        Ok(())
    }

    /// The mask of the present block, or the all-true vector.
    pub(super) fn mask_or_true(&mut self, at: Inst) -> Result<Value, VectorizeError> {
        Ok(self.mask_vector(at)?.unwrap_or_else(|| self.all_true()))
    }

    /// The mask of all lanes.
    fn all_true(&mut self) -> Value {
        self.out.constant_value(Constant::vector(vec![Constant::bool(true); self.width as usize]))
    }

    /// The lanes that are not in a mask.
    pub(super) fn not(&mut self, mask: Value) -> Value {
        let all = self.all_true();
        self.emit(Op::Binary(BinaryOp::Xor), &[mask, all], self.out.ty(mask))
    }

    /// Whether any lane of a mask vector is set.
    pub(super) fn any_of(&mut self, mask: Value) -> Value {
        let name = format!("llvm.vector.reduce.or.v{}i1", self.width);
        self.call_named(&name, &[mask], Type::BOOL, Effects::empty()).expect("a reduction has a result")
    }

    /// A mask vector as an integer of W bits.
    pub(super) fn mask_bits(&mut self, mask: Value) -> Value {
        self.emit(Op::Cast(warpline_ir::CastOp::Bitcast), &[mask], Type::Int(self.width))
    }

    /// `select(mask, a, b)`, structures member by member.
    pub(super) fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.out.ty(a);
        if !matches!(ty, Type::Aggregate(_)) || self.out.ty(cond) == Type::BOOL {
            return self.emit(Op::Select, &[cond, a, b], ty);
        }
        let mut whole = self.out.poison(ty);
        let mut m = 0;
        while let Some(member) = self.module.types.member(ty, u64::from(m)) {
            let x = self.emit(Op::ExtractValue([m].into()), &[a], member);
            let y = self.emit(Op::ExtractValue([m].into()), &[b], member);
            let part = self.select(cond, x, y);
            whole = self.emit(Op::InsertValue([m].into()), &[whole, part], ty);
            m += 1;
        }
        whole
    }

    /// The flags that a scalar evaluation of lane 0 may keep: a strided base is the *ghost* of
    /// [`shape`](warpline_uniformity::shape), which is defined without poison-generating flags.
    pub(super) fn ghost_flags(&self, rep: Rep, flags: InstFlags) -> InstFlags {
        match rep {
            Rep::Strided(_) => InstFlags::empty(),
            _ => flags,
        }
    }
}
