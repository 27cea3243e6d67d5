//! Vector accesses with the alignment that their addresses are found to have.
//!
//! An access that a lane makes promises that lane's alignment only. What the address of the vector is a multiple of
//! follows from where it comes from: parameters, variables and private memory with an alignment, numbers that are
//! multiples of something. Nothing is said if an address is poison, and no lane makes an access then.

use warpline_ir::{Function, Inst, Module, Op, Type, Value};
use warpline_uniformity::shape::alignment::low_zeros;

pub(crate) use warpline_uniformity::shape::alignment::at_distance;

/// The binary logarithm of the greatest alignment that vectors profit from.
const MAX_ALIGN_BITS: u8 = 6;

/// Raises the alignment of vector accesses, masked ones included, to what is known of their addresses.
pub(crate) fn raise(module: &Module, func: &mut Function) {
    let zeros = low_zeros(module, func, |p| func.pointers[p].align.trailing_zeros());
    let known = |address: Value| 1u64 << zeros[address].min(MAX_ALIGN_BITS);
    for b in func.layout.clone() {
        for i in func.blocks[b].insts.clone() {
            let accessed = func.accessed(i).filter(|a| matches!(a.ty, Type::Vector(_)));
            match (&mut func.insts[i].op, accessed) {
                (Op::Load(access) | Op::Store(access), Some(a)) => {
                    access.align = access.align.max(known(a.address));
                }
                (Op::Call(_), _) => {
                    let Some(address) = masked_address(module, func, i) else { continue };
                    let known = known(func.insts[i].args[address]);
                    let stated = func.as_int(func.insts[i].args[address + 1]);
                    if stated.is_some_and(|align| align < known.into()) {
                        func.insts[i].args[address + 1] = func.int_const(32, known.into());
                    }
                }
                _ => {}
            }
        }
    }
}

/// Which operand of a masked load or store is its address; the alignment follows.
fn masked_address(module: &Module, func: &Function, i: Inst) -> Option<usize> {
    let Op::Call(call) = &func.insts[i].op else { return None };
    let name = &module.symbols[call.callee?].name;
    match () {
        () if name.starts_with("llvm.masked.load.") => Some(0),
        () if name.starts_with("llvm.masked.store.") => Some(1),
        () => None,
    }
}
