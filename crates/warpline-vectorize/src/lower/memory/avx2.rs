//! Gathers by AVX2's instructions.
//!
//! They take a scalar address, a vector of indices of 32 bits and masks in the topmost bits of elements. LLVM makes
//! them of its own masked gathers where it holds them for fast, and there of all that it meets. Whether they are
//! depends on the elements: eight of 32 bits at a time take less than the loads one by one with the addresses that
//! these need, four of 64 bits take twice as long as theirs. So they are asked for by name.

use warpline_ir::{CastOp, Constant, Effects, Inst, Op, Type, Value};

use super::super::Lower;
use super::gather::Indexed;

/// Bits of an element, and of an index.
const BITS: u32 = 32;

impl Lower<'_> {
    /// Loads one element for each lane by AVX2's instructions, of which each loads for so many lanes.
    pub(super) fn gather_by_avx2(
        &mut self,
        place: &Indexed,
        mask: Option<Value>,
        vty: Type,
        together: u32,
        at: Inst,
    ) -> Value {
        let ints = Type::Int(BITS).vector(self.width).expect("an integer is a scalar");
        let mask = match mask {
            Some(mask) => self.emit(Op::Cast(CastOp::SExt), &[mask], ints),
            None => {
                let all =
                    Constant::vector(vec![Constant::int(BITS, u128::from(u32::MAX)); self.width as usize]);
                self.out.constant_value(all)
            }
        };
        let name = if together == 8 { "llvm.x86.avx2.gather.d.d.256" } else { "llvm.x86.avx2.gather.d.d" };
        let part_ty = Type::Int(BITS).vector(together).expect("an integer is a scalar");
        let nothing = self.out.poison(part_ty);
        let scale = self.out.int_const(8, u128::from(place.unit));
        let effects = Effects::READS | Effects::TRAPS | Effects::ARG_MEMORY_ONLY;
        let mut parts = Vec::new();
        for first in (0..self.width).step_by(together as usize) {
            let [index, mask] = [place.index, mask].map(|x| self.lanes_from(x, first, part_ty));
            let args = [nothing, place.base, index, mask, scale];
            let part = self.call_named(name, &args, part_ty, effects).expect("a gather has a result");
            if let Some(inst) = self.out.def_inst(part) {
                self.copy_metadata(at, inst);
            }
            parts.push(part);
        }
        let all = self.joined(parts);
        let elem = vty.elem().map_or(Type::Void, Type::from);
        self.as_value(all, Type::Int(BITS), elem)
    }

    /// Some neighbouring lanes of a vector.
    pub(in crate::lower) fn lanes_from(&mut self, x: Value, first: u32, part_ty: Type) -> Value {
        let Type::Vector(part) = part_ty else { return x };
        if self.out.ty(x) == part_ty {
            return x;
        }
        let nothing = self.out.poison(self.out.ty(x));
        let places = (first..first + part.lanes).map(|k| k as i32).collect();
        self.emit(Op::Shuffle(places), &[x, nothing], part_ty)
    }
}
