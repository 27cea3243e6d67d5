//! Addresses of gathers and scatters, as they were [taken apart](crate::recipes).

use crate::VectorizeError;
use crate::recipes::Split;
use warpline_ir::{BinaryOp, CastOp, Constant, Inst, Op, Scalar, Type, Value};

use super::super::Lower;
use warpline_dataflow::linear::Extension;

/// Where lanes' elements are: at a scalar address and a vector of signed indices, which count so many bytes.
pub(super) struct Indexed {
    pub(super) base: Value,
    pub(super) index: Value,
    pub(super) unit: u32,
}

impl Lower<'_> {
    /// The addresses of a gather or scatter.
    pub(super) fn addresses(
        &mut self,
        address: Value,
        split: Option<&Split>,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        match split {
            Some(split) => {
                let place = self.indexed(split, at)?;
                Ok(self.pointers(&place))
            }
            None => self.vector(address, at),
        }
    }

    /// The addresses as a vector of pointers.
    pub(super) fn pointers(&mut self, place: &Indexed) -> Value {
        let ptrs = self.out.ty(place.base).vector(self.width).expect("a pointer is a scalar");
        self.emit(Op::Gep(Type::Int(8 * place.unit)), &[place.base, place.index], ptrs)
    }

    /// An address as a scalar and a vector of indices.
    pub(super) fn indexed(&mut self, split: &Split, at: Inst) -> Result<Indexed, VectorizeError> {
        let mut base = self.scalar(split.root, at)?;
        let ty = self.out.ty(base);
        for &t in &split.uniform {
            let x = self.scalar(t.value, at)?;
            let x = self.term(x, t.extension, t.scale, Type::Int(64));
            base = self.emit(Op::Gep(Type::Int(8)), &[base, x], ty);
        }
        base = self.offset_by(base, split.before);
        let index_ty = Type::Int(split.bits).vector(self.width).expect("an integer is a scalar");
        let fixed = (0..self.width).map(|k| {
            let bytes = split.step.wrapping_mul(i64::from(k)).wrapping_add(split.after);
            Constant::int(split.bits, i128::from(bytes >> split.zeros) as u128)
        });
        let mut index = match (split.step, split.after) {
            // An address can count as varying though all its terms are uniform; then it is zero for all lanes.
            (0, 0) if !split.varying.is_empty() => None,
            _ => Some(Constant::vector(fixed.collect())).map(|c| self.out.constant_value(c)),
        };
        for &t in &split.varying {
            let x = self.vector(t.value, at)?;
            let x = self.term(x, t.extension, t.scale >> split.zeros, index_ty);
            index = Some(match index {
                None => x,
                Some(sum) => self.emit(Op::Binary(BinaryOp::Add), &[x, sum], index_ty),
            });
        }
        let index = index.expect("without varying terms there is a constant one");
        Ok(Indexed { base, index, unit: 1 << split.zeros })
    }

    /// A number brought to a type and multiplied, all modulo the type's width.
    pub(super) fn term(&mut self, x: Value, extension: Extension, scale: i64, ty: Type) -> Value {
        let bits = |ty: Type| match ty.elem() {
            Some(Scalar::Int(bits)) => bits,
            _ => 64,
        };
        let (from, to) = (bits(self.out.ty(x)), bits(ty));
        let x = match from.cmp(&to) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Greater => self.emit(Op::Cast(CastOp::Trunc), &[x], ty),
            std::cmp::Ordering::Less => {
                let op = if extension == Extension::Unsigned { CastOp::ZExt } else { CastOp::SExt };
                self.emit(Op::Cast(op), &[x], ty)
            }
        };
        if scale == 1 {
            return x;
        }
        let factor = Constant::int(to, i128::from(scale) as u128);
        let factor = match ty {
            Type::Vector(v) => Constant::vector(vec![factor; v.lanes as usize]),
            _ => factor,
        };
        let factor = self.out.constant_value(factor);
        self.emit(Op::Binary(BinaryOp::Mul), &[x, factor], ty)
    }
}
