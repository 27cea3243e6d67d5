//! Which [vector variant](crate::vector_abi) that the user supplies a call is made of.

use warpline_ir::{Function, Inst, Module, Scalar, SymbolKind, Type, Value};

use super::{Planner, Rep};
use crate::vector_abi::{InstructionSet, Parameter, Variant};

impl Planner<'_> {
    /// The best of a function's vector variants for a call, to be called in pieces if that has fewer lanes.
    pub(super) fn supplied_variant(&self, i: Inst, name: &str) -> Option<Variant> {
        let masked = self.is_masked(i);
        let fitting = |v: &&Variant| self.variant_fits(i, v, masked);
        // More lanes; parameters that need not be vectors; no mask where none is needed.
        let scalars = |v: &Variant| v.parameters.iter().filter(|p| **p != Parameter::Vector).count();
        let variants = self.wanted.callees().variants(name).iter().filter(fitting);
        variants.max_by_key(|v| (v.lanes, scalars(v), !v.masked)).cloned()
    }

    /// Whether a variant computes what a call asks for, and takes every vector in one register.
    fn variant_fits(&self, i: Inst, variant: &Variant, mask_needed: bool) -> bool {
        let data = &self.func.insts[i];
        let in_register = |ty: Type| {
            let bits = ty.scalar().map_or(0, |s| self.module.layout.scalar_bits(s)) * variant.lanes;
            matches!(bits, 128 | 256 | 512) && bits <= variant.set.register_bits()
        };
        let passed = |(&a, parameter): (&Value, &Parameter)| match *parameter {
            Parameter::Vector => in_register(self.func.ty(a)),
            Parameter::Uniform => self.is_uniform(a),
            Parameter::Linear(step) => {
                self.rep(a) == Rep::Strided(step) && matches!(self.func.ty(a), Type::Int(_) | Type::Ptr(_))
            }
        };
        variant.parameters.len() == data.args.len()
            && self.width.is_multiple_of(variant.lanes)
            && (variant.masked || !mask_needed)
            && data.args.iter().zip(&variant.parameters).all(passed)
            && data.result().is_none_or(|v| in_register(self.func.ty(v)))
            && self.is_declared_so(i, variant)
            && (!variant.masked
                || variant.set == InstructionSet::Avx512
                || in_register(mask_element(self.module, self.func, i, variant)))
    }

    /// Whether the module's declaration of the variant, if there is one, takes vectors in registers; without the
    /// instruction set, compilers pass them in memory. A mask may be a vector of numbers.
    fn is_declared_so(&self, i: Inst, variant: &Variant) -> bool {
        let data = &self.func.insts[i];
        let Some((params, ret)) = declaration(self.module, &variant.symbol) else {
            return self.module.symbol(&variant.symbol).is_none();
        };
        let of_vector = |ty: Type| ty.vector(variant.lanes);
        let expected = data.args.iter().zip(&variant.parameters).map(|(&a, parameter)| match parameter {
            Parameter::Vector => of_vector(self.func.ty(a)),
            _ => Some(self.func.ty(a)),
        });
        let mask = params.get(variant.parameters.len()).copied();
        let mask_fits = match variant.set {
            _ if !variant.masked => mask.is_none(),
            InstructionSet::Avx512 => mask == Some(mask_integer(variant)),
            _ => mask.is_some_and(|ty| {
                let bits = |s: Scalar| self.module.layout.scalar_bits(s);
                let element = mask_element(self.module, self.func, i, variant).scalar().map(bits);
                matches!(ty, Type::Vector(v) if v.lanes == variant.lanes && Some(bits(v.elem)) == element)
            }),
        };
        let result = data.result().map_or(Some(Type::Void), |v| of_vector(self.func.ty(v)));
        let count = variant.parameters.len() + usize::from(variant.masked);
        params.len() == count
            && expected.eq(params[..variant.parameters.len()].iter().map(|&ty| Some(ty)))
            && mask_fits
            && result == Some(ret)
    }
}

/// The types of a variant's parameters and result as the module declares it, if it does.
pub(crate) fn declaration<'m>(module: &'m Module, symbol: &str) -> Option<(&'m [Type], Type)> {
    match &module.symbols[module.symbol(symbol)?].kind {
        SymbolKind::Function { params, ret, .. } => Some((params, *ret)),
        _ => None,
    }
}

/// The type of which masks before AVX-512 are vectors, all ones or all zeros: as wide as the result or, without
/// one, the first vector.
pub(crate) fn mask_element(module: &Module, func: &Function, i: Inst, variant: &Variant) -> Type {
    let data = &func.insts[i];
    let vector = || data.args.iter().zip(&variant.parameters).find(|(_, p)| **p == Parameter::Vector);
    let like = data.result().or_else(|| vector().map(|(&a, _)| a)).map(|v| func.ty(v));
    let bits = like.and_then(|ty| ty.scalar()).map_or(32, |s| module.layout.scalar_bits(s));
    Type::Int(bits)
}

/// The integer that an AVX-512 variant takes as mask, a bit for each lane.
pub(crate) fn mask_integer(variant: &Variant) -> Type {
    Type::Int(if variant.lanes <= 32 { 32 } else { 64 })
}
