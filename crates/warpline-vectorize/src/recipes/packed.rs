//! How a packed store brings the elements of active lanes together.
//!
//! A store that packs in memory is slow on many CPUs (hundreds of cycles on Zen 4), and where there is none, LLVM
//! stores one element after the other behind a branch each. Elements are therefore packed in a register, and as many
//! as there are are stored under a mask of their number.

use warpline_ir::{Inst, Type};
use warpline_target::Packing;

use super::Planner;
use crate::elements::element_of;

/// How the elements of active lanes come to lie one behind the other.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Packed {
    /// By AVX-512's instruction, so many lanes at a time.
    Compressed(u32),
    /// By AVX2's permutation of words of 32 bits, so many lanes at a time.
    Permuted(u32),
    /// By what LLVM makes of it.
    Native,
    /// Each lane's element goes to a place of its own: lanes have different pointers.
    Scattered,
}

impl Planner<'_> {
    /// How a packed store is made.
    pub(super) fn packed(&self, i: Inst) -> Packed {
        let args = &self.func.insts[i].args;
        if !self.is_uniform(args[0]) {
            return Packed::Scattered;
        }
        let ty = self.func.ty(args[1]);
        let bits = element_of(ty).bits();
        let packing = self.options.machine.packing;
        let (register, sizes, packed): (u32, _, fn(u32) -> Packed) = match packing {
            Packing::Nothing => return Packed::Native,
            Packing::Permuted => (256, 32..=32, Packed::Permuted),
            Packing::Wide => (512, 32..=64, Packed::Compressed),
            Packing::Everything => (512, 8..=64, Packed::Compressed),
        };
        let is_simple = match ty {
            Type::Int(bits) => matches!(bits, 8 | 16 | 32 | 64),
            Type::Float(kind) => matches!(kind.bits(), 16 | 32 | 64),
            _ => false,
        };
        let together = register / bits;
        let fits = is_simple && sizes.contains(&bits) && self.width.is_multiple_of(together);
        if fits { packed(together) } else { Packed::Native }
    }
}
