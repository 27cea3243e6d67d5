//! Values of unusual types: `half`, `i128`, vectors, aggregates.

use warpline::ir::*;

use super::fill::{Avail, CLEAN, Filler};
use super::memory::BufferKind;

const HALF: Type = Type::Float(FloatKind::Half);
const I128: Type = Type::Int(128);
const LANES: u32 = 4;

fn vector(elem: Scalar) -> Type {
    Type::Vector(VectorType { elem, lanes: LANES, scalable: false })
}

fn float4() -> Type {
    vector(Scalar::Float(FloatKind::Float))
}

fn int4() -> Type {
    vector(Scalar::Int(32))
}

impl Filler<'_> {
    pub(super) fn is_wide(&self, ty: Type) -> bool {
        matches!(ty, Type::Vector(_) | Type::Float(FloatKind::Half))
    }

    pub(super) fn wide_type(&mut self) -> Type {
        *self.rng.pick(&[HALF, I128, float4(), float4(), int4()])
    }

    pub(super) fn wide_constant(&mut self, ty: Type) -> Value {
        let half = [0u128, 0x3c00, 0xbe00, 0x4248, 0x7c00, 0x8000];
        let float = [0.0f32, 1.0, -2.0, 0.5];
        let c = match ty {
            Type::Vector(v) => {
                let elems = (0..v.lanes).map(|_| match v.elem {
                    Scalar::Int(w) => Constant::int(w, self.rng.below(9) as u128),
                    _ => {
                        let bits = self.rng.pick(&float).to_bits().into();
                        Constant::Float { kind: FloatKind::Float, bits }
                    }
                });
                Constant::vector(elems.collect())
            }
            _ => Constant::Float { kind: FloatKind::Half, bits: *self.rng.pick(&half) },
        };
        self.f.constant_value(c)
    }

    fn element_index(&mut self, b: Block) -> Avail {
        if self.rng.chance(2, 3) {
            let value = self.f.int_const(32, self.rng.below(LANES as usize) as u128);
            return Avail { value, ty: Type::Int(32), clean: true, uniform: true };
        }
        let x = self.pick(b, Type::Int(32), CLEAN);
        self.int(b, x, u128::from(LANES - 1))
    }

    pub(super) fn wide_instruction(&mut self, b: Block) {
        use BinaryOp::*;
        let cast = |op| Op::Cast(op);
        match self.rng.below(16) {
            0 => {
                let x = self.pick(b, Type::Int(64), CLEAN);
                let op = if self.rng.chance(1, 2) { CastOp::ZExt } else { CastOp::SExt };
                self.emit_on(b, cast(op), &[x], I128);
            }
            1 => {
                let (x, y) = (self.pick(b, I128, CLEAN), self.pick(b, I128, CLEAN));
                let op = *self.rng.pick(&[Add, Sub, Mul, Xor, Or]);
                self.emit_on(b, Op::Binary(op), &[x, y], I128);
            }
            2 => {
                let x = self.pick(b, I128, CLEAN);
                self.emit_on(b, cast(CastOp::Trunc), &[x], Type::Int(64));
            }
            3 => {
                let x = self.pick(b, Type::F32, CLEAN);
                self.emit_on(b, cast(CastOp::FpTrunc), &[x], HALF);
            }
            4 => {
                let (x, y) = (self.pick(b, HALF, CLEAN), self.pick(b, HALF, CLEAN));
                let op = *self.rng.pick(&[FAdd, FMul, FSub, FDiv]);
                self.emit_on(b, Op::Binary(op), &[x, y], HALF);
            }
            5 => {
                let x = self.pick(b, HALF, CLEAN);
                self.emit_on(b, cast(CastOp::FpExt), &[x], Type::F32);
            }
            6 | 7 => {
                let (x, y) = (self.pick(b, float4(), CLEAN), self.pick(b, float4(), CLEAN));
                let op = *self.rng.pick(&[FAdd, FMul, FSub]);
                self.emit_on(b, Op::Binary(op), &[x, y], float4());
            }
            8 => {
                let (x, y) = (self.pick(b, int4(), CLEAN), self.pick(b, int4(), CLEAN));
                let op = *self.rng.pick(&[Add, Mul, And, Xor]);
                self.emit_on(b, Op::Binary(op), &[x, y], int4());
            }
            9 => {
                let (ty, elem) = self.vector_type();
                let (v, x) = (self.pick(b, ty, CLEAN), self.pick(b, elem, CLEAN));
                let k = self.element_index(b);
                self.emit_on(b, Op::InsertElement, &[v, x, k], ty);
            }
            10 => {
                let (ty, elem) = self.vector_type();
                let v = self.pick(b, ty, CLEAN);
                let k = self.element_index(b);
                self.emit_on(b, Op::ExtractElement, &[v, k], elem);
            }
            11 => {
                let (ty, _) = self.vector_type();
                let (v, w) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                let mask = (0..LANES).map(|_| self.rng.below(2 * LANES as usize) as i32).collect();
                self.emit_on(b, Op::Shuffle(mask), &[v, w], ty);
            }
            12 => {
                let (v, w) = (self.pick(b, int4(), CLEAN), self.pick(b, int4(), CLEAN));
                let c = self.emit_on(b, Op::ICmp(IntPred::Slt), &[v, w], vector(Scalar::Int(1)));
                let (x, y) = (self.pick(b, float4(), CLEAN), self.pick(b, float4(), CLEAN));
                self.emit_on(b, Op::Select, &[c, x, y], float4());
            }
            13 => {
                let (ty, _) = self.vector_type();
                let c = self.pick(b, Type::BOOL, CLEAN);
                let (x, y) = (self.pick(b, ty, CLEAN), self.pick(b, ty, CLEAN));
                self.emit_on(b, Op::Select, &[c, x, y], ty);
            }
            14 => self.overflow(b),
            _ => self.load_vector(b),
        }
    }

    fn vector_type(&mut self) -> (Type, Type) {
        if self.rng.chance(1, 2) { (float4(), Type::F32) } else { (int4(), Type::Int(32)) }
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

    /// Four elements of a read-only buffer at once.
    fn load_vector(&mut self, b: Block) {
        let found = self
            .buffers
            .iter()
            .copied()
            .find(|x| x.kind == BufferKind::ReadOnly && (x.elem == Type::F32 || x.elem == Type::Int(32)));
        let Some(buffer) = found else { return };
        let x = self.pick(b, Type::Int(32), CLEAN);
        let index = self.int(b, x, 252);
        let args = [buffer.base, index.value];
        let address = self.f.append_value(b, Op::Gep(buffer.elem), &args, Type::PTR);
        let ty = if buffer.elem == Type::F32 { float4() } else { int4() };
        self.emit(b, Op::Load(MemAccess::plain(4)), &[address], ty, true, index.uniform);
    }
}
