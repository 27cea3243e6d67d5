//! Upper halves of products of shorts by the instruction that x86 has for them.

use crate::VectorizeError;
use crate::recipes::HighProduct;
use warpline_ir::{Effects, Inst, Type};

use super::Lower;

impl Lower<'_> {
    /// The upper halves of the products of two vectors of shorts, a register at a time.
    pub(super) fn high_product(&mut self, i: Inst, product: &HighProduct) -> Result<(), VectorizeError> {
        let [x, y] = [self.vector(product.factors[0], i)?, self.vector(product.factors[1], i)?];
        let part = Type::Int(16).vector(product.together).expect("an integer is a scalar");
        let name = match (product.together * 16, product.is_signed) {
            (512, false) => "llvm.x86.avx512.pmulhu.w.512",
            (512, true) => "llvm.x86.avx512.pmulh.w.512",
            (256, false) => "llvm.x86.avx2.pmulhu.w",
            (256, true) => "llvm.x86.avx2.pmulh.w",
            (_, false) => "llvm.x86.sse2.pmulhu.w",
            (_, true) => "llvm.x86.sse2.pmulh.w",
        };
        let mut parts = Vec::new();
        for first in (0..self.width).step_by(product.together as usize) {
            let args = [x, y].map(|v| self.lanes_from(v, first, part));
            parts.push(self.call_named(name, &args, part, Effects::empty()).expect("it has a result"));
        }
        let made = self.joined(parts);
        self.define(self.src.insts[i].results[0], made);
        Ok(())
    }
}
