//! Calls of vector variants that the user supplies ([`crate::vector_abi`]).

use super::Lower;
use crate::VectorizeError;
use crate::recipes::{declaration, mask_element, mask_integer};
use crate::vector_abi::{InstructionSet, Parameter, Variant};
use warpline_ir::{BinaryOp, CastOp, Inst, Op, Type, Value};

impl Lower<'_> {
    /// Calls of a vector variant that the user supplies, in pieces if that has fewer lanes.
    pub(super) fn call_of_supplied(&mut self, i: Inst, variant: &Variant) -> Result<(), VectorizeError> {
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
                part.push(self.part_of_mask(i, mask, start, variant));
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
        Ok(())
    }

    /// Makes the mask the vector of numbers that the declaration may say it is.
    fn pass_as_declared(&mut self, args: &mut [Value], symbol: &str) {
        let Some((params, _)) = declaration(self.module, symbol) else { return };
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
        let ty = mask_element(self.module, self.src, i, variant)
            .vector(variant.lanes)
            .expect("an integer is a scalar");
        self.emit(Op::Cast(CastOp::SExt), &[part], ty)
    }
}
