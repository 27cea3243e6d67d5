//! What an instruction yields from what is known of its operands.

use super::fold::{self, Float};
use super::{Assumptions, Constants, Fact, Known, load};
use crate::clients::intrinsics::Intrinsic;
use warpline_ir::{
    AggregateType, BinaryOp, CastOp, FloatKind, Inst, InstData, InstFlags, IntPred, Module, Op, Type,
};

/// Whether a comparison of two constants holds; `None` if that is not known.
pub(super) fn holds(pred: IntPred, a: Known, b: Known) -> Option<bool> {
    match (a, b) {
        (Known::Int { bits, value: x }, Known::Int { value: y, .. }) => Some(fold::compare(pred, bits, x, y)),
        (Known::Null(_), Known::Null(_)) => Some(fold::compare(pred, 64, 0, 0)),
        // Different symbols may have one address; those of one symbol differ by their offsets, without a known order.
        (Known::Address { symbol, offset, .. }, Known::Address { symbol: other, offset: by, .. })
            if symbol == other =>
        {
            match pred {
                IntPred::Eq => Some(offset == by),
                IntPred::Ne => Some(offset != by),
                _ if offset == by => Some(fold::compare(pred, 64, 0, 0)),
                _ => None,
            }
        }
        _ => None,
    }
}

impl From<Option<Known>> for Fact {
    /// `None` is poison.
    fn from(known: Option<Known>) -> Fact {
        known.map_or(Fact::Nothing, Fact::Is)
    }
}

fn float(kind: FloatKind, outcome: Float) -> Fact {
    match outcome {
        Float::Is(bits) => Fact::Is(Known::Float { kind, bits }),
        Float::Poison => Fact::Nothing,
        Float::Unknown => Fact::Anything,
    }
}

fn int(bits: u32, outcome: Float) -> Fact {
    match outcome {
        Float::Is(value) => Fact::Is(Known::int(bits, value)),
        Float::Poison => Fact::Nothing,
        Float::Unknown => Fact::Anything,
    }
}

impl<A: Assumptions> Constants<'_, A> {
    /// What is known of the result of an instruction with one result.
    pub(super) fn result(&self, inst: Inst, facts: &[Fact]) -> Fact {
        let data = &self.func.insts[inst];
        let operands = facts.get(..data.args.len()).unwrap_or(&[]);
        match &data.op {
            Op::ReadVar(_) | Op::WriteVar(_) => facts.first().copied().unwrap_or(Fact::Anything),
            Op::Select => self.select(data, operands),
            Op::Freeze => match self.func.constant(data.args[0]) {
                Some(_) if operands[0] != Fact::Nothing => operands[0],
                _ => Fact::Anything,
            },
            Op::Call(_) => match self.calls.get(inst) {
                Some(f) => strict(operands, |known| self.intrinsic(f, data, known)),
                None => self.assumptions.call(inst),
            },
            Op::Binary(op) => self.binary(*op, data, operands),
            Op::Load(access) if access.is_simple() => strict(operands, |known| {
                let ty = data.result().map_or(Type::Void, |r| self.func.ty(r));
                load::constant(self.module, known[0]?, ty).map(Fact::Is)
            }),
            Op::ICmp(_) | Op::FCmp(_) | Op::Cast(_) | Op::Gep(_) | Op::FNeg | Op::ExtractValue(_) => {
                strict(operands, |known| self.pure(data, known))
            }
            _ => Fact::Anything,
        }
    }

    fn select(&self, data: &InstData, facts: &[Fact]) -> Fact {
        if !self.func.ty(data.args[0]).is_int() {
            return Fact::Anything;
        }
        match facts[0] {
            Fact::Nothing => Fact::Nothing,
            Fact::Is(c) if c.as_int() == Some(1) => facts[1],
            Fact::Is(_) => facts[2],
            Fact::Anything => {
                let mut both = facts[1];
                warpline_analysis::dataflow::Lattice::meet(&mut both, &facts[2]);
                both
            }
        }
    }

    fn binary(&self, op: BinaryOp, data: &InstData, facts: &[Fact]) -> Fact {
        let Some(result) = data.result() else { return Fact::Anything };
        let ty = self.func.ty(result);
        let known = [facts[0].known(), facts[1].known()];
        if facts.contains(&Fact::Nothing) {
            return Fact::Nothing;
        }
        match (ty, known) {
            (Type::Int(bits), [Some(Known::Int { value: a, .. }), Some(Known::Int { value: b, .. })]) => {
                fold::binary(op, data.flags, bits, a, b).map(|v| Known::int(bits, v)).into()
            }
            (Type::Float(kind), [Some(Known::Float { bits: a, .. }), Some(Known::Float { bits: b, .. })]) => {
                float(kind, fold::float_binary(op, data.flags, kind, a, b))
            }
            (Type::Int(bits), [a, b]) if bits <= 128 => {
                let one = a.or(b).and_then(Known::as_int);
                let ones = super::super::numbers::mask(bits);
                match (op, one) {
                    (BinaryOp::And | BinaryOp::Mul, Some(0)) => Fact::Is(Known::int(bits, 0)),
                    (BinaryOp::Or, Some(v)) if v == ones => Fact::Is(Known::int(bits, v)),
                    (BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem, Some(0))
                        if b.is_some() =>
                    {
                        Fact::Nothing
                    }
                    _ => Fact::Anything,
                }
            }
            _ => Fact::Anything,
        }
    }

    /// `None`: unknown, though the operands are constants.
    fn pure(&self, data: &InstData, known: &[Option<Known>]) -> Option<Fact> {
        let result = data.result()?;
        let ty = self.func.ty(result);
        let first = (*known.first()?)?;
        Some(match (&data.op, first) {
            (Op::ICmp(pred), _) => {
                let second = known[1]?;
                if let (Known::Int { bits, value: a }, Known::Int { value: b, .. }) = (first, second) {
                    let differ = (a ^ b) >> (bits - 1) & 1 != 0;
                    if data.flags.contains(InstFlags::SAMESIGN) && differ {
                        return Some(Fact::Nothing);
                    }
                }
                Fact::Is(Known::bool(holds(*pred, first, second)?))
            }
            (Op::FCmp(pred), Known::Float { kind, bits: a }) => {
                let Some(Known::Float { bits: b, .. }) = known[1] else { return None };
                int(1, fold::float_compare(*pred, data.flags, kind, a, b))
            }
            (Op::FNeg, Known::Float { kind, bits }) => float(kind, fold::float_neg(data.flags, kind, bits)),
            (Op::Cast(cast), _) => self.cast(*cast, data.flags, first, ty)?,
            (Op::Gep(source), Known::Address { symbol, offset, space }) => {
                let by = gep_offset(self.module, *source, &known[1..], space)?;
                let offset = offset.checked_add(by)?;
                Fact::Is(Known::Address { symbol, offset, space })
            }
            (Op::ExtractValue(path), Known::Overflow { bits, value, overflow }) => match path[..] {
                [0] => Fact::Is(Known::int(bits, value)),
                [1] => Fact::Is(Known::bool(overflow)),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn cast(&self, cast: CastOp, flags: InstFlags, known: Known, ty: Type) -> Option<Fact> {
        use super::super::numbers::{mask, signed, unsigned};
        Some(match (cast, known, ty) {
            (CastOp::Trunc, Known::Int { bits, value }, Type::Int(to)) => {
                let cut = value & mask(to);
                let lossy = flags.contains(InstFlags::NUW) && cut != value
                    || flags.contains(InstFlags::NSW) && signed(cut, to) != signed(value, bits);
                if lossy { Fact::Nothing } else { Fact::Is(Known::int(to, cut)) }
            }
            (CastOp::ZExt | CastOp::UiToFp, Known::Int { bits, value }, _)
                if flags.contains(InstFlags::NNEG) && value >> (bits - 1) & 1 != 0 =>
            {
                Fact::Nothing
            }
            (CastOp::ZExt, Known::Int { value, .. }, Type::Int(to @ ..=128)) => {
                Fact::Is(Known::int(to, value))
            }
            (CastOp::SExt, Known::Int { bits, value }, Type::Int(to @ ..=128)) => {
                Fact::Is(Known::int(to, unsigned(signed(value, bits), to)))
            }
            (CastOp::UiToFp | CastOp::SiToFp, Known::Int { bits, value }, Type::Float(kind)) => {
                float(kind, fold::int_to_float(kind, bits, value, cast == CastOp::SiToFp))
            }
            (CastOp::FpToUi | CastOp::FpToSi, Known::Float { kind, bits }, Type::Int(to @ ..=127)) => {
                int(to, fold::float_to_int(kind, bits, to, cast == CastOp::FpToSi))
            }
            (CastOp::FpTrunc | CastOp::FpExt, Known::Float { kind, bits }, Type::Float(to)) => {
                float(to, fold::float_to_float(flags, kind, to, bits))
            }
            (CastOp::Bitcast, Known::Int { bits, value }, Type::Float(kind)) if kind.bits() == bits => {
                Fact::Is(Known::Float { kind, bits: value })
            }
            (CastOp::Bitcast, Known::Float { kind, bits }, Type::Int(to)) if kind.bits() == to => {
                Fact::Is(Known::int(to, bits))
            }
            _ => return None,
        })
    }

    fn intrinsic(&self, f: Intrinsic, data: &InstData, known: &[Option<Known>]) -> Option<Fact> {
        let Known::Int { bits, value: a } = known[0]? else { return None };
        if let Intrinsic::Overflow(op, is_signed) = f {
            let (value, unsigned_wraps, signed_wraps) = fold::arithmetic(op, bits, a, known[1]?.as_int()?);
            let overflow = if is_signed { signed_wraps } else { unsigned_wraps };
            return Some(Fact::Is(Known::Overflow { bits, value, overflow }));
        }
        if f == Intrinsic::First {
            return Some(Fact::Is(known[0]?));
        }
        let Type::Int(to) = self.func.ty(data.result()?) else { return None };
        let mut values = [0; 3];
        for (value, known) in values.iter_mut().zip(known) {
            *value = (*known)?.as_int()?;
        }
        if f == Intrinsic::BSwap && !bits.is_multiple_of(16) {
            return None;
        }
        Some(fold::intrinsic(f, bits, to, &values).map(|v| Known::int(to, v)).into())
    }
}

/// Nothing from nothing; else what `f` says, which gets the constants among the operands.
fn strict(facts: &[Fact], f: impl Fn(&[Option<Known>]) -> Option<Fact>) -> Fact {
    if facts.contains(&Fact::Nothing) {
        return Fact::Nothing;
    }
    let known: smallvec::SmallVec<[Option<Known>; 4]> = facts.iter().map(|f| f.known()).collect();
    f(&known).unwrap_or(Fact::Anything)
}

/// By how many bytes a `getelementptr` with these indices moves an address, if they are all constants and address
/// arithmetic is done in 64 bits.
fn gep_offset(module: &Module, source: Type, indices: &[Option<Known>], space: u32) -> Option<i64> {
    if module.layout.index_bits(space) != 64 {
        return None;
    }
    let (mut ty, mut offset) = (source, 0i64);
    for (depth, index) in indices.iter().enumerate() {
        let Known::Int { bits, value } = (*index)? else { return None };
        let index = i64::try_from(super::super::numbers::signed(value, bits)).ok()?;
        let by = if depth == 0 {
            index.checked_mul(i64::try_from(module.layout.alloc_size(&module.types, ty)?).ok()?)?
        } else {
            let Type::Aggregate(aggregate) = ty else { return None };
            match module.types.get(aggregate) {
                AggregateType::Array { elem, .. } => {
                    ty = *elem;
                    index.checked_mul(i64::try_from(module.layout.alloc_size(&module.types, ty)?).ok()?)?
                }
                AggregateType::Struct { .. } => {
                    let at = usize::try_from(index).ok()?;
                    let (_, offsets) = module.layout.struct_layout(&module.types, ty)?;
                    ty = module.types.member(ty, at as u64)?;
                    i64::try_from(*offsets.get(at)?).ok()?
                }
            }
        };
        offset = offset.checked_add(by)?;
    }
    Some(offset)
}
