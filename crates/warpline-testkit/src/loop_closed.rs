//! Whether a function is in loop-closed form, use by use.

use warpline_ir::{Block, Function, Type, Value, ValueDef};

/// Checks that no value is used outside of any of `cycles`, given as the lists of their blocks, that contains its
/// definition. An operand of a φ is used where its edge begins. Values of types that only LLVM knows do not count,
/// nor do uses in blocks that the entry does not reach. The error names value, block and cycle.
pub fn is_loop_closed(func: &Function, cycles: &[Vec<Block>]) -> Result<(), String> {
    let mut reached = vec![func.entry()];
    let mut k = 0;
    while k < reached.len() {
        for s in func.successors(reached[k]) {
            if !reached.contains(&s) {
                reached.push(s);
            }
        }
        k += 1;
    }
    for &b in &reached {
        let mut used: Vec<Value> = Vec::new();
        for i in func.block_insts(b) {
            used.extend(&func.insts[i].args);
        }
        for &e in func.out_edges(b) {
            used.extend(&func.edges[e].args);
        }
        used.extend(func.blocks[b].mask.expand());
        for v in used {
            let ValueDef::Inst(def, _) = func.values[v].def else { continue };
            if matches!(func.values[v].ty, Type::Other(_)) {
                continue;
            }
            let home = func.insts[def].block;
            if let Some(cycle) = cycles.iter().find(|c| c.contains(&home) && !c.contains(&b)) {
                return Err(format!("{} is used in {b}, outside of its cycle {cycle:?}", func.value_name(v)));
            }
        }
    }
    Ok(())
}
