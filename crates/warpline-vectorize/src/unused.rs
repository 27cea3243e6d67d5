//! What nobody uses any more, such as the comparison of a test that has been taken away.

use cranelift_entity::SecondaryMap;
use warpline_ir::{Function, Inst, Module, Op, Value};

use crate::if_conversion::is_pure;

/// Removes instructions without effects of which nobody uses the result; the values that are given are used.
pub(crate) fn remove(module: &Module, func: &mut Function, kept: &[Value]) {
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
    kept.iter().for_each(|&v| uses[v] += 1);
    for &b in &func.layout {
        for i in func.block_insts(b) {
            func.insts[i].args.iter().for_each(|&a| uses[a] += 1);
        }
        for &e in func.out_edges(b) {
            func.edges[e].args.iter().for_each(|&a| uses[a] += 1);
        }
    }
    let unused = |func: &Function, uses: &SecondaryMap<Value, u32>, i: Inst| {
        let pure = is_pure(module, func, i) && func.insts[i].op != Op::Phi;
        pure && func.insts[i].results.iter().all(|&r| uses[r] == 0)
    };
    for b in func.layout.clone().into_iter().rev() {
        let mut left = Vec::new();
        // Users stand behind what they use; what a block uses that is laid out before stays.
        for i in std::mem::take(&mut func.blocks[b].insts).into_iter().rev() {
            match unused(func, &uses, i) {
                true => func.insts[i].args.iter().for_each(|&a| uses[a] -= 1),
                false => left.push(i),
            }
        }
        left.reverse();
        func.blocks[b].insts = left;
    }
}
