//! Calls of vector variants that the user supplies ([`crate::vector_abi`]).

use super::{Lower, Rep};
use crate::VectorizeError;
use crate::vector_abi::{InstructionSet, Parameter, Variant};
use warpline_ir::{BinaryOp, CastOp, Inst, Op, Scalar, SymbolKind, Type, Value};

impl Lower<'_> {
    /// A call of a function by the best of its vector variants, in pieces if that has fewer lanes; false if none fits.
    pub(super) fn call_of_variant(&mut self, i: Inst, name: &str) -> Result<bool, VectorizeError> {
        let masked = self.mask_vector(i)?;
        let fitting = |v: &&Variant| self.variant_fits(i, v, masked.is_some());
        let callees = self.wanted.callees();
        // More lanes; parameters that need not be vectors; no mask where none is needed.
        let scalars = |v: &Variant| v.parameters.iter().filter(|p| **p != Parameter::Vector).count();
        let best =
            callees.variants(name).iter().filter(fitting).max_by_key(|v| (v.lanes, scalars(v), !v.masked));
        let Some(variant) = best.cloned() else { return Ok(false) };
        let data = &self.src.insts[i];
        let mut args = Vec::with_capacity(data.args.len());
        for (&a, parameter) in data.args.iter().zip(&variant.parameters) {
            args.push(if *parameter == Parameter::Vector { self.vector(a, i)? } else { self.scalar(a, i)? });
        }
        let mask = if variant.masked { Some(self.mask_or_true(i)?) } else { None };
        let ret = data.result().map_or(Type::Void, |v| self.src.ty(v));
        let part_type = if ret == Type::Void { ret } else { ret.vector(variant.lanes).unwrap_or(ret) };
        let effects = data.effects();
        let mut parts = Vec::new();
        for start in (0..self.width).step_by(variant.lanes as usize) {
            let mut part = Vec::with_capacity(args.len() + 1);
            for (&x, parameter) in args.iter().zip(&variant.parameters) {
                part.push(self.part_of_argument(x, *parameter, start, variant.lanes));
            }
            if let Some(mask) = mask {
                part.push(self.part_of_mask(i, mask, start, &variant));
            }
            self.pass_as_declared(&mut part, &variant.symbol);
            let types: Vec<Type> = part.iter().map(|&a| self.out.ty(a)).collect();
            let symbol = self.module.function_symbol(&variant.symbol, &types, part_type, effects);
            let op = self.call_op(symbol, effects);
            let new = self.out.append(self.block, op, &part, part_type);
            self.out.insts[new].origin = self.src.insts[i].origin;
            self.copy_metadata(i, new);
            parts.extend(self.out.insts[new].result());
        }
        while parts.len() > 1 {
            parts = parts.chunks(2).map(|pair| self.concat(pair)).collect();
        }
        match parts.first() {
            Some(&whole) => self.define_lanes(i, whole)?,
            None => debug_assert!(ret == Type::Void, "a result has parts"),
        }
        Ok(true)
    }

    /// Whether a variant computes what a call asks for, and takes every vector in one register.
    fn variant_fits(&self, i: Inst, variant: &Variant, mask_needed: bool) -> bool {
        let data = &self.src.insts[i];
        let in_register = |ty: Type| {
            let bits = ty.scalar().map_or(0, |s| self.module.layout.scalar_bits(s)) * variant.lanes;
            matches!(bits, 128 | 256 | 512) && bits <= variant.set.register_bits()
        };
        let passed = |(&a, parameter): (&Value, &Parameter)| match *parameter {
            Parameter::Vector => in_register(self.src.ty(a)),
            Parameter::Uniform => self.reps[a] == Rep::Uniform,
            Parameter::Linear(step) => {
                self.reps[a] == Rep::Strided(step) && matches!(self.src.ty(a), Type::Int(_) | Type::Ptr(_))
            }
        };
        variant.parameters.len() == data.args.len()
            && self.width.is_multiple_of(variant.lanes)
            && (variant.masked || !mask_needed)
            && data.args.iter().zip(&variant.parameters).all(passed)
            && data.result().is_none_or(|v| in_register(self.src.ty(v)))
            && self.is_declared_so(i, variant)
            && (!variant.masked
                || variant.set == InstructionSet::Avx512
                || in_register(self.mask_element(i, variant)))
    }

    /// The types of a variant's parameters and result as the module declares it, if it does.
    fn declaration(&self, symbol: &str) -> Option<(&[Type], Type)> {
        match &self.module.symbols[self.module.symbol(symbol)?].kind {
            SymbolKind::Function { params, ret, .. } => Some((params, *ret)),
            _ => None,
        }
    }

    /// Whether the module's declaration of the variant, if there is one, takes vectors in registers; without the
    /// instruction set, compilers pass them in memory. A mask may be a vector of numbers.
    fn is_declared_so(&self, i: Inst, variant: &Variant) -> bool {
        let data = &self.src.insts[i];
        let Some((params, ret)) = self.declaration(&variant.symbol) else {
            return self.module.symbol(&variant.symbol).is_none();
        };
        let of_vector = |ty: Type| ty.vector(variant.lanes);
        let expected = data.args.iter().zip(&variant.parameters).map(|(&a, parameter)| match parameter {
            Parameter::Vector => of_vector(self.src.ty(a)),
            _ => Some(self.src.ty(a)),
        });
        let mask = params.get(variant.parameters.len()).copied();
        let mask_fits = match variant.set {
            _ if !variant.masked => mask.is_none(),
            InstructionSet::Avx512 => mask == Some(mask_integer(variant)),
            _ => mask.is_some_and(|ty| {
                let bits = |s: Scalar| self.module.layout.scalar_bits(s);
                let element = self.mask_element(i, variant).scalar().map(bits);
                matches!(ty, Type::Vector(v) if v.lanes == variant.lanes && Some(bits(v.elem)) == element)
            }),
        };
        let result = data.result().map_or(Some(Type::Void), |v| of_vector(self.src.ty(v)));
        let count = variant.parameters.len() + usize::from(variant.masked);
        params.len() == count
            && expected.eq(params[..variant.parameters.len()].iter().map(|&ty| Some(ty)))
            && mask_fits
            && result == Some(ret)
    }

    /// Makes the mask the vector of numbers that the declaration may say it is.
    fn pass_as_declared(&mut self, args: &mut [Value], symbol: &str) {
        let Some((params, _)) = self.declaration(symbol) else { return };
        let (Some(&declared), Some(mask)) = (params.last(), args.last_mut()) else { return };
        if self.out.ty(*mask) != declared {
            *mask = self.emit(Op::Cast(CastOp::Bitcast), &[*mask], declared);
        }
    }

    /// Lanes `start .. start + lanes` of an argument.
    fn part_of_argument(&mut self, x: Value, parameter: Parameter, start: u32, lanes: u32) -> Value {
        match parameter {
            Parameter::Vector => self.piece(x, start, lanes),
            Parameter::Uniform => x,
            Parameter::Linear(_) if start == 0 => x,
            Parameter::Linear(step) => {
                let distance = step.wrapping_mul(i64::from(start));
                let ty = self.out.ty(x);
                let bits = match ty {
                    Type::Ptr(space) => self.module.layout.index_bits(space),
                    ty => ty.int_bits().unwrap_or(64),
                };
                let distance = self.out.int_const(bits, distance as u128 & (u128::MAX >> (128 - bits)));
                match ty {
                    Type::Ptr(_) => self.emit(Op::Gep(Type::Int(8)), &[x, distance], ty),
                    ty => self.emit(Op::Binary(BinaryOp::Add), &[x, distance], ty),
                }
            }
        }
    }

    /// The type of which masks before AVX-512 are vectors, all ones or all zeros: as wide as the result or, without
    /// one, the first vector.
    fn mask_element(&self, i: Inst, variant: &Variant) -> Type {
        let data = &self.src.insts[i];
        let vector = || data.args.iter().zip(&variant.parameters).find(|(_, p)| **p == Parameter::Vector);
        let like = data.result().or_else(|| vector().map(|(&a, _)| a)).map(|v| self.src.ty(v));
        let bits = like.and_then(|ty| ty.scalar()).map_or(32, |s| self.module.layout.scalar_bits(s));
        Type::Int(bits)
    }

    /// Lanes `start .. start + lanes` of the mask, as a variant takes it.
    fn part_of_mask(&mut self, i: Inst, mask: Value, start: u32, variant: &Variant) -> Value {
        let part = self.piece(mask, start, variant.lanes);
        if variant.set == InstructionSet::Avx512 {
            let bits = self.emit(Op::Cast(CastOp::Bitcast), &[part], Type::Int(variant.lanes));
            let wide = mask_integer(variant);
            return if self.out.ty(bits) == wide {
                bits
            } else {
                self.emit(Op::Cast(CastOp::ZExt), &[bits], wide)
            };
        }
        let ty = self.mask_element(i, variant).vector(variant.lanes).expect("an integer is a scalar");
        self.emit(Op::Cast(CastOp::SExt), &[part], ty)
    }
}

/// The integer that an AVX-512 variant takes as mask, a bit for each lane.
fn mask_integer(variant: &Variant) -> Type {
    Type::Int(if variant.lanes <= 32 { 32 } else { 64 })
}
