//! Memory with two indices: rows and columns, structures of arrays, arrays of such structures.

use warpline::ir::*;

use super::fill::{Avail, CLEAN, Filler, UNIFORM};
use super::memory::Buffer;
use super::{MAX_INDEX, ROW, SLOTS};

impl Filler<'_> {
    /// A place in a buffer that is only read, which is taken for one of several things. It has [`MAX_INDEX`] · [`SLOTS`] elements.
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
