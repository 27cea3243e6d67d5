//! Memory with two indices: rows and columns, structures of arrays, arrays of such structures.

use warpline_ir::*;

use super::fill::{Avail, CLEAN, Filler, UNIFORM};
use super::memory::{Buffer, BufferKind};
use super::skeleton::Check;
use super::{MAX_INDEX, READ_ONLY, ROW, SLOTS};

impl Filler<'_> {
    /// A place in a buffer that is only read, which is taken for one of several things. It has [`MAX_INDEX`] ·
    /// [`SLOTS`] elements.
    pub(super) fn place_in_rows(&mut self, b: Block, buffer: &Buffer) -> (Value, bool) {
        let elem = buffer.elem;
        let row = self.module.types.array(elem, ROW);
        let rows = u128::from(MAX_INDEX * SLOTS / ROW);
        let (small, small_uniform) = self.coordinate(b, rows.min(ROW.into()));
        let Some(i) = self.index else { return (buffer.base, true) };
        // The index modulo the length of a row, which is a power of two, or what is left of it, is a coordinate too.
        let column = self.int(b, i, u128::from(ROW - 1)).value;
        match self.rng.below(6) {
            // a[j][i], a[i][j]
            0 | 1 => (self.gep(b, row, &[buffer.base, small, column]), false),
            2 => {
                let (j, _) = self.coordinate(b, rows.min(ROW.into()));
                let own = self.int(b, i, rows - 1).value;
                (self.gep(b, row, &[buffer.base, own, j]), false)
            }
            3 => {
                let (j, uniform) = self.coordinate(b, ROW.into());
                (self.gep(b, row, &[buffer.base, small, j]), uniform && small_uniform)
            }
            // Two arrays in a structure.
            4 => {
                let half = self.module.types.array(elem, MAX_INDEX * SLOTS / 2);
                let ty = self.module.types.structure(vec![half, half], false);
                let field = self.f.int_const(32, self.rng.below(2) as u128);
                let zero = self.f.int_const(64, 0);
                (self.gep(b, ty, &[buffer.base, zero, field, i.value]), false)
            }
            // Structures of two arrays of eight, in an array: a[i / 8].field[i % 8].
            _ => {
                let eight = self.module.types.array(elem, 8);
                let ty = self.module.types.structure(vec![eight, eight], false);
                let field = self.f.int_const(32, self.rng.below(2) as u128);
                let three = self.number(i.ty.int_bits().unwrap_or(64), 3);
                let high = self.emit_on(b, Op::Binary(BinaryOp::LShr), &[i, three], i.ty).value;
                let low = self.int(b, i, 7).value;
                (self.gep(b, ty, &[buffer.base, high, field, low]), false)
            }
        }
    }

    /// A place in the column of the own index, of [`SLOTS`] rows.
    pub(super) fn place_in_column(&mut self, b: Block, buffer: &Buffer, i: Avail, backwards: bool) -> Value {
        let row = self.module.types.array(buffer.elem, MAX_INDEX);
        let (at, _) = self.coordinate(b, SLOTS.into());
        let column = if backwards { self.mirrored(b, i) } else { i.value };
        self.gep(b, row, &[buffer.base, at, column])
    }

    /// Whether the index allows a read of a buffer of [`READ_ONLY`] elements.
    pub(super) fn bounds_check(&mut self, b: Block, check: &Check) -> Avail {
        let Some(i) = self.index else { return self.condition(b) };
        let bits = i.ty.int_bits().unwrap_or(64);
        let (p, x, bound) = match check.scale {
            0 => (IntPred::Ule, i, self.number(bits, check.offset)),
            _ => (IntPred::Ult, self.checked_element(b, check, i), self.number(bits, READ_ONLY.into())),
        };
        let p = match (p, check.enters_if_true) {
            (p, true) => p,
            (IntPred::Ule, _) => IntPred::Ugt,
            _ => IntPred::Uge,
        };
        self.emit_on(b, Op::ICmp(p), &[x, bound], Type::BOOL)
    }

    /// The read that was checked: out of bounds for lanes that do not come here.
    pub(super) fn checked_read(&mut self, b: Block, check: &Check) {
        let found = |x: &&Buffer| x.kind == BufferKind::ReadOnly && x.elem == Type::Int(32);
        let (Some(buffer), Some(i)) = (self.buffers.iter().find(found).copied(), self.index) else { return };
        let element = self.checked_element(b, check, i);
        let address = self.gep(b, buffer.elem, &[buffer.base, element.value]);
        self.emit(b, Op::Load(MemAccess::plain(4)), &[address], buffer.elem, true, false);
    }

    fn checked_element(&mut self, b: Block, check: &Check, i: Avail) -> Avail {
        let bits = i.ty.int_bits().unwrap_or(64);
        let offset = self.number(bits, check.offset);
        if check.scale == 0 {
            return self.emit_on(b, Op::Binary(BinaryOp::Sub), &[offset, i], i.ty);
        }
        let scale = self.number(bits, check.scale);
        let scaled =
            if check.scale == 1 { i } else { self.emit_on(b, Op::Binary(BinaryOp::Mul), &[i, scale], i.ty) };
        self.emit_on(b, Op::Binary(BinaryOp::Add), &[scaled, offset], i.ty)
    }

    /// A number below `bound`, a power of two: constant, uniform or anything; and whether it is probably uniform.
    fn coordinate(&mut self, b: Block, bound: u128) -> (Value, bool) {
        let want = match self.rng.below(4) {
            0 => return (self.f.int_const(64, self.rng.below(bound as usize) as u128), true),
            1 => CLEAN,
            _ => UNIFORM,
        };
        let ty = if self.rng.chance(2, 3) { Type::Int(32) } else { Type::Int(64) };
        let x = self.pick(b, ty, want);
        (self.int(b, x, bound - 1).value, x.uniform)
    }
}
