//! Values of unusual types: vectors, aggregates, `half`, odd and wide integers.

use warpline_ir::*;

use super::composite::random_aggregate;
use super::fill::{Avail, CLEAN, Filler};
use super::memory::{Buffer, BufferKind};
use super::{SLOTS, memory};
use crate::rng::SplitMix64;

const HALF: Type = Type::Float(FloatKind::Half);
const I128: Type = Type::Int(128);

/// The floating-point formats that few machines have. The interpreter computes with the first one only; the others
/// are carried.
pub(super) const FORMATS: [Type; 3] =
    [Type::Float(FloatKind::BFloat), Type::Float(FloatKind::X86Fp80), Type::Float(FloatKind::Fp128)];

/// 0, 1, −2, infinity and the least number, as `x86_fp80`.
pub(super) const EXTENDED: [u128; 5] =
    [0, 0x3fff_8000_0000_0000_0000, 0xc000_8000_0000_0000_0000, 0x7fff_8000_0000_0000_0000, 1];

/// 0, 1, −2, infinity and the least number, as `fp128`.
pub(super) const QUADRUPLE: [u128; 5] = [0, 0x3fff << 112, 0xc000 << 112, 0x7fff << 112, 1];

/// The unusual types that one program has: few, so that values of one type meet.
#[derive(Clone, Copy)]
pub(super) struct WideTypes {
    pub vectors: [VectorType; 2],
    /// Structures and arrays.
    pub aggregates: [Type; 2],
    /// An integer whose width is no power of two.
    odd: u32,
}

impl WideTypes {
    pub(super) fn random(rng: &mut SplitMix64, types: &mut TypeTable) -> WideTypes {
        let elems = [
            Scalar::Float(FloatKind::Float),
            Scalar::Float(FloatKind::Float),
            Scalar::Int(32),
            Scalar::Int(32),
            Scalar::Int(8),
            Scalar::Int(16),
            Scalar::Int(64),
            Scalar::Float(FloatKind::Double),
            Scalar::Float(FloatKind::Half),
        ];
        let mut vector = || VectorType {
            elem: *rng.pick(&elems),
            lanes: *rng.pick(&[2, 3, 4, 4, 8, 16]),
            scalable: false,
        };
        let vectors = [vector(), vector()];
        let aggregates = [(); 2].map(|()| random_aggregate(rng, types));
        WideTypes { vectors, aggregates, odd: *rng.pick(&[2, 3, 7, 12, 24, 33, 48, 65, 100]) }
    }
}

fn like(v: VectorType, elem: Scalar) -> Type {
    Type::Vector(VectorType { elem, ..v })
}

/// A type in the name of an intrinsic.
fn suffix(elem: Scalar) -> String {
    match elem {
        Scalar::Int(w) => format!("i{w}"),
        Scalar::Float(k) => format!("f{}", k.bits()),
        Scalar::Ptr(a) => format!("p{a}"),
    }
}

fn is_float(elem: Scalar) -> bool {
    matches!(elem, Scalar::Float(_))
}

fn width(elem: Scalar) -> u32 {
    match elem {
        Scalar::Int(w) => w,
        Scalar::Float(k) => k.bits(),
        Scalar::Ptr(_) => 64,
    }
}

impl Filler<'_> {
    pub(super) fn is_wide(&self, ty: Type) -> bool {
        matches!(ty, Type::Vector(_) | Type::Float(FloatKind::Half)) || FORMATS.contains(&ty)
    }

    pub(super) fn wide_type(&mut self) -> Type {
        let [a, b] = self.wide.vectors.map(Type::Vector);
        *self.rng.pick(&[HALF, I128, a, a, b, Type::Int(self.wide.odd)])
    }

    pub(super) fn wide_constant(&mut self, ty: Type) -> Value {
        let c = match ty {
            Type::Vector(v) if self.rng.chance(1, 8) => Constant::Zero(Type::Vector(v)),
            Type::Vector(v) => {
                Constant::vector((0..v.lanes).map(|_| self.element_constant(v.elem)).collect())
            }
            _ => self.element_constant(ty.scalar().expect("wide types are vectors and scalars")),
        };
        self.f.constant_value(c)
    }

    fn element_constant(&mut self, elem: Scalar) -> Constant {
        let half = [0u128, 0x3c00, 0xbe00, 0x4248, 0x7c00, 0x8000];
        let x = *self.rng.pick(&[0.0f32, 1.0, -2.0, 0.5]);
        match elem {
            Scalar::Float(kind) => {
                let bits = match kind {
                    FloatKind::Half => *self.rng.pick(&half),
                    FloatKind::Double => f64::from(x).to_bits().into(),
                    FloatKind::BFloat => (x.to_bits() >> 16).into(),
                    FloatKind::X86Fp80 => *self.rng.pick(&EXTENDED),
                    FloatKind::Fp128 => *self.rng.pick(&QUADRUPLE),
                    _ => x.to_bits().into(),
                };
                Constant::Float { kind, bits }
            }
            _ => Constant::int(width(elem), self.rng.below(9) as u128),
        }
    }

    fn element_index(&mut self, b: Block, v: VectorType) -> Avail {
        if self.rng.chance(2, 3) {
            let value = self.f.int_const(32, self.rng.below(v.lanes as usize) as u128);
            return Avail { value, ty: Type::Int(32), clean: true, uniform: true };
        }
        let x = self.pick(b, Type::Int(32), CLEAN);
        // The greatest power of two of elements.
        self.int(b, x, (1u128 << v.lanes.ilog2()) - 1)
    }

    /// An instruction on a format that few machines have.
    pub(super) fn format_instruction(&mut self, b: Block) {
        use BinaryOp::*;
        let [bfloat, ..] = FORMATS;
        match self.rng.below(6) {
            0 => {
                let x = self.pick(b, Type::F32, CLEAN);
                self.emit_on(b, Op::Cast(CastOp::FpTrunc), &[x], bfloat);
            }
            1 => {
                let x = self.pick(b, bfloat, CLEAN);
                self.emit_on(b, Op::Cast(CastOp::FpExt), &[x], Type::F32);
            }
            2 => {
                let (x, y) = (self.pick(b, bfloat, CLEAN), self.pick(b, bfloat, CLEAN));
                let op = *self.rng.pick(&[FAdd, FMul, FSub]);
                self.emit_on(b, Op::Binary(op), &[x, y], bfloat);
            }
            _ => {
                let ty = *self.rng.pick(&FORMATS);
                let c = self.pick(b, Type::BOOL, CLEAN);
                let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                self.emit_on(b, Op::Select, &[c, x, y], ty);
            }
        }
    }

    pub(super) fn wide_instruction(&mut self, b: Block) {
        match self.rng.below(10) {
            0 | 1 => self.wide_number(b),
            2 => self.overflow(b),
            3 => self.odd_number(b),
            _ => {
                let v = *self.rng.pick(&self.wide.vectors);
                self.vector_instruction(b, v);
            }
        }
    }

    /// `i128` and `half`.
    fn wide_number(&mut self, b: Block) {
        use BinaryOp::*;
        match self.rng.below(6) {
            0 => {
                let x = self.pick(b, Type::Int(64), CLEAN);
                let op = if self.rng.chance(1, 2) { CastOp::ZExt } else { CastOp::SExt };
                self.emit_on(b, Op::Cast(op), &[x], I128);
            }
            1 => {
                let (x, y) = (self.pick(b, I128, CLEAN), self.pick(b, I128, CLEAN));
                let op = *self.rng.pick(&[Add, Sub, Mul, Xor, Or]);
                self.emit_on(b, Op::Binary(op), &[x, y], I128);
            }
            2 => {
                let x = self.pick(b, I128, CLEAN);
                self.emit_on(b, Op::Cast(CastOp::Trunc), &[x], Type::Int(64));
            }
            3 => {
                let x = self.pick(b, Type::F32, CLEAN);
                self.emit_on(b, Op::Cast(CastOp::FpTrunc), &[x], HALF);
            }
            4 => {
                let (x, y) = (self.pick(b, HALF, CLEAN), self.pick(b, HALF, CLEAN));
                let op = *self.rng.pick(&[FAdd, FMul, FSub, FDiv]);
                self.emit_on(b, Op::Binary(op), &[x, y], HALF);
            }
            _ => {
                let x = self.pick(b, HALF, CLEAN);
                self.emit_on(b, Op::Cast(CastOp::FpExt), &[x], Type::F32);
            }
        }
    }

    /// An integer of a width that is no power of two.
    fn odd_number(&mut self, b: Block) {
        use BinaryOp::*;
        let ty = Type::Int(self.wide.odd);
        let i64s = Type::Int(64);
        match self.rng.below(5) {
            0 | 1 => {
                let x = self.pick(b, i64s, CLEAN);
                let op = match (self.wide.odd > 64, self.rng.chance(1, 2)) {
                    (false, _) => CastOp::Trunc,
                    (true, false) => CastOp::ZExt,
                    (true, true) => CastOp::SExt,
                };
                self.emit_on(b, Op::Cast(op), &[x], ty);
            }
            2 => {
                let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                let op = *self.rng.pick(&[Add, Sub, Mul, Xor, Or, And]);
                self.emit_on(b, Op::Binary(op), &[x, y], ty);
            }
            3 => {
                let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                let p = *self.rng.pick(IntPred::ALL);
                self.emit_on(b, Op::ICmp(p), &[x, y], Type::BOOL);
            }
            _ => {
                let x = self.pick(b, ty, CLEAN);
                let op = match (self.wide.odd > 64, self.rng.chance(1, 2)) {
                    (true, _) => CastOp::Trunc,
                    (false, false) => CastOp::ZExt,
                    (false, true) => CastOp::SExt,
                };
                self.emit_on(b, Op::Cast(op), &[x], i64s);
            }
        }
    }

    pub(super) fn vector_instruction(&mut self, b: Block, v: VectorType) {
        let (ty, elem) = (Type::Vector(v), Type::from(v.elem));
        match self.rng.below(16) {
            0..=2 => self.vector_arithmetic(b, v),
            3 => {
                let (x, e) = (self.pick(b, ty, CLEAN), self.pick(b, elem, CLEAN));
                let k = self.element_index(b, v);
                self.emit_on(b, Op::InsertElement, &[x, e, k], ty);
            }
            4 | 5 => {
                let x = self.pick(b, ty, CLEAN);
                let k = self.element_index(b, v);
                self.emit_on(b, Op::ExtractElement, &[x, k], elem);
            }
            6 => {
                let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                let mask = (0..v.lanes).map(|_| self.rng.below(2 * v.lanes as usize) as i32).collect();
                self.emit_on(b, Op::Shuffle(mask), &[x, y], ty);
            }
            7 => {
                let c = self.vector_condition(b, v);
                let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                self.emit_on(b, Op::Select, &[c, x, y], ty);
            }
            8 => {
                let c = self.pick(b, Type::BOOL, CLEAN);
                let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                self.emit_on(b, Op::Select, &[c, x, y], ty);
            }
            9 => {
                // The same in every element, as front ends say it.
                let x = self.pick(b, elem, CLEAN);
                let (nothing, zero) = (self.f.poison(ty), self.f.int_const(32, 0));
                let one = self.f.append_value(b, Op::InsertElement, &[nothing, x.value, zero], ty);
                let op = Op::Shuffle(vec![0; v.lanes as usize].into());
                self.emit(b, op, &[one, nothing], ty, x.clean, x.uniform);
            }
            10 => self.reduction(b, v),
            11 => self.vector_bits(b, v),
            12 | 13 => self.load_vector(b, v),
            _ => self.store_vector(b, v),
        }
    }

    fn vector_condition(&mut self, b: Block, v: VectorType) -> Avail {
        let ty = Type::Vector(v);
        let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
        let op = if is_float(v.elem) { Op::FCmp(FloatPred::Olt) } else { Op::ICmp(IntPred::Slt) };
        self.emit_on(b, op, &[x, y], like(v, Scalar::Int(1)))
    }

    fn vector_arithmetic(&mut self, b: Block, v: VectorType) {
        use BinaryOp::*;
        let ty = Type::Vector(v);
        let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
        let name = |base: &str| format!("llvm.{base}.v{}{}", v.lanes, suffix(v.elem));
        let float = is_float(v.elem);
        match self.rng.below(6) {
            0 if float => {
                let base = *self.rng.pick(&["fabs", "floor", "copysign"]);
                let args = if base == "copysign" { vec![x, y] } else { vec![x] };
                self.call(b, &name(base), &args, ty);
            }
            0 => {
                let base = *self.rng.pick(&["smax", "umin", "uadd.sat"]);
                self.call(b, &name(base), &[x, y], ty);
            }
            1 if !float => {
                // Odd and positive divisors.
                let ones = self.splat_constant(v, 1);
                let low = self.splat_constant(v, 0x3f);
                let y = self.emit_on(b, Op::Binary(And), &[y, low], ty);
                let y = self.emit_on(b, Op::Binary(Or), &[y, ones], ty);
                let op = *self.rng.pick(&[UDiv, SDiv, URem, SRem]);
                self.emit_on(b, Op::Binary(op), &[x, y], ty);
            }
            2 if float => {
                self.emit_on(b, Op::FNeg, &[x], ty);
            }
            _ if float => {
                let op = *self.rng.pick(&[FAdd, FMul, FSub]);
                self.emit_on(b, Op::Binary(op), &[x, y], ty);
            }
            _ => {
                let op = *self.rng.pick(&[Add, Sub, Mul, And, Or, Xor]);
                self.emit_on(b, Op::Binary(op), &[x, y], ty);
            }
        }
    }

    fn splat_constant(&mut self, v: VectorType, x: u128) -> Avail {
        let c = Constant::vector(vec![Constant::int(width(v.elem), x); v.lanes as usize]);
        Avail { value: self.f.constant_value(c), ty: Type::Vector(v), clean: true, uniform: true }
    }

    /// One number of all elements.
    fn reduction(&mut self, b: Block, v: VectorType) {
        let ty = Type::Vector(v);
        let elem = Type::from(v.elem);
        let x = self.pick(b, ty, CLEAN);
        let name =
            |kind: &str, elem: Scalar| format!("llvm.vector.reduce.{kind}.v{}{}", v.lanes, suffix(elem));
        if self.rng.chance(1, 3) {
            let c = self.vector_condition(b, v);
            let kind = *self.rng.pick(&["or", "and"]);
            self.call(b, &name(kind, Scalar::Int(1)), &[c], Type::BOOL);
        } else if is_float(v.elem) {
            let start = self.pick(b, elem, CLEAN);
            self.call(b, &name("fadd", v.elem), &[start, x], elem);
        } else {
            let kind = *self.rng.pick(&["add", "mul", "xor", "smin", "umax"]);
            self.call(b, &name(kind, v.elem), &[x], elem);
        }
    }

    /// A vector as other integers, and back.
    fn vector_bits(&mut self, b: Block, v: VectorType) {
        let ty = Type::Vector(v);
        let x = self.pick(b, ty, CLEAN);
        let total = width(v.elem) * v.lanes;
        let bitcast = Op::Cast(CastOp::Bitcast);
        if [32, 64, 128].contains(&total) && self.rng.chance(1, 2) {
            let bits = self.emit_on(b, bitcast.clone(), &[x], Type::Int(total));
            if self.rng.chance(1, 2) {
                self.emit_on(b, bitcast, &[bits], ty);
            }
            return;
        }
        let part = *self.rng.pick(&[8, 16, 32, 64]);
        if !total.is_multiple_of(part) || total == part {
            return;
        }
        let other = VectorType { elem: Scalar::Int(part), lanes: total / part, scalable: false };
        if other == v {
            return;
        }
        let y = self.emit_on(b, bitcast.clone(), &[x], Type::Vector(other));
        let ones = self.splat_constant(other, 1);
        let y = self.emit_on(b, Op::Binary(BinaryOp::Xor), &[y, ones], Type::Vector(other));
        self.emit_on(b, bitcast, &[y], ty);
    }

    /// Arithmetic with an overflow bit, taken apart.
    fn overflow(&mut self, b: Block) {
        let ty = Type::Int(32);
        let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
        let both = self.module.types.structure(vec![ty, Type::BOOL], false);
        let name = *self.rng.pick(&["sadd", "umul", "ssub"]);
        let pair = self.call(b, &format!("llvm.{name}.with.overflow.i32"), &[x, y], both);
        self.emit_on(b, Op::ExtractValue([0].into()), &[pair], ty);
        self.emit_on(b, Op::ExtractValue([1].into()), &[pair], Type::BOOL);
        if self.rng.chance(1, 2) {
            let z = self.pick(b, ty, CLEAN);
            let other = self.emit_on(b, Op::InsertValue([0].into()), &[pair, z], both);
            let c = self.pick(b, Type::BOOL, CLEAN);
            let chosen = self.emit_on(b, Op::Select, &[c, pair, other], both);
            self.emit_on(b, Op::ExtractValue([0].into()), &[chosen], ty);
        }
    }

    fn buffer_of(&mut self, kind: BufferKind, v: VectorType) -> Option<Buffer> {
        let elem = Type::from(v.elem);
        self.buffers.iter().copied().find(|x| x.kind == kind && x.elem == elem)
    }

    /// Some elements of a read-only buffer at once.
    fn load_vector(&mut self, b: Block, v: VectorType) {
        let Some(buffer) = self.buffer_of(BufferKind::ReadOnly, v) else { return };
        let x = self.pick(b, Type::Int(32), CLEAN);
        let index = self.int(b, x, 0xef);
        let args = [buffer.base, index.value];
        let address = self.gep(b, buffer.elem, &args);
        let access = MemAccess::plain(memory::size(buffer.elem));
        self.emit(b, Op::Load(access), &[address], Type::Vector(v), true, index.uniform);
    }

    /// Up to four elements of a buffer's slots of the own index at once, or a volatile store of them.
    fn store_vector(&mut self, b: Block, v: VectorType) {
        let Some(buffer) = self.buffer_of(BufferKind::Private, v) else { return };
        let Some(i) = self.index.filter(|_| u64::from(v.lanes) <= SLOTS) else { return };
        let slots = self.f.int_const(i.ty.int_bits().unwrap_or(64), SLOTS.into());
        let scaled = self.f.append_value(b, Op::Binary(BinaryOp::Mul), &[i.value, slots], i.ty);
        let address = self.gep(b, buffer.elem, &[buffer.base, scaled]);
        let x = self.pick(b, Type::Vector(v), CLEAN);
        let mut access = MemAccess::plain(memory::size(buffer.elem));
        access.is_volatile = self.options.effects && self.rng.chance(1, 6);
        self.f.append(b, Op::Store(access), &[x.value, address], Type::Void);
        if self.rng.chance(1, 2) {
            self.emit(b, Op::Load(MemAccess { is_volatile: false, ..access }), &[address], x.ty, true, false);
        }
    }
}
