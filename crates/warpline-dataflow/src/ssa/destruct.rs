//! From φ-functions back to variables.

use warpline_ir::{Block, Edge, Function, Inst, Op, Type, Value, Var};

/// Turns the φs for which `which` holds into variables, each of its own: the φ's operand on an in-edge is
/// written at the end of the block where the edge begins, and the φ becomes a read at the beginning of its
/// block. Returns the φs' results, which keep their ids, with their variables.
///
/// The writes of an edge are one parallel assignment: they write values, and no variable is read between them, so
/// φs that are each other's operands are no danger, and a variable that is written on the way to another
/// block is written again before it is read. An edge is split where that is not enough: if a parallel edge to the same
/// block has other operands, or if an operand is the result of the terminator itself or of a σ beside it.
pub fn destruct(func: &mut Function, which: impl Fn(&Function, Inst) -> bool) -> Vec<(Value, Var)> {
    let mut made = Vec::new();
    for b in func.layout.clone() {
        let chosen: Vec<bool> = func.blocks[b].phis.iter().map(|&p| which(func, p)).collect();
        if chosen.contains(&true) {
            split_where_needed(func, b, &chosen);
            block(func, b, &chosen, &mut made);
        }
    }
    made
}

fn split_where_needed(func: &mut Function, b: Block, chosen: &[bool]) {
    let preds = func.blocks[b].preds.clone();
    let operands = |func: &Function, e: Edge| -> Vec<Value> {
        let args = func.edges[e].args.iter().zip(chosen);
        args.filter(|(_, c)| **c).map(|(&a, _)| a).collect()
    };
    for e in preds {
        let from = func.edges[e].from;
        let mine = operands(func, e);
        let term = func.terminator(from);
        let is_late = |i: Inst| i == term || func.insts[i].op == Op::Sigma && func.insts[i].block == from;
        let from_terminator = mine.iter().any(|&v| func.def_inst(v).is_some_and(is_late));
        // An edge that was split no longer ends here, so of parallel edges the last keeps its place.
        let conflict = func
            .out_edges(from)
            .iter()
            .any(|&f| f != e && func.edges[f].to == b && operands(func, f) != mine);
        if from_terminator || conflict {
            func.split_edge(e, "");
        }
    }
}

fn block(func: &mut Function, b: Block, chosen: &[bool], made: &mut Vec<(Value, Var)>) {
    let mut reads = Vec::new();
    for (k, _) in chosen.iter().enumerate().filter(|c| *c.1) {
        let phi = func.blocks[b].phis[k];
        let result = func.insts[phi].results[0];
        let name = func.values[result].name.clone();
        let var = func.add_var(func.ty(result), &name);
        made.push((result, var));
        reads.push(phi);
        let mut written: Vec<Block> = Vec::new();
        for i in 0..func.blocks[b].preds.len() {
            let e = func.blocks[b].preds[i];
            let (from, value) = (func.edges[e].from, func.edges[e].args[k]);
            if !written.contains(&from) {
                written.push(from);
                func.append(from, Op::WriteVar(var), &[value], Type::Void);
            }
        }
    }
    func.retain_phis(b, |p| !reads.contains(&p));
    for (&phi, &(_, var)) in reads.iter().zip(&made[made.len() - reads.len()..]) {
        func.insts[phi].op = Op::ReadVar(var);
        func.insts[phi].flags = Default::default();
    }
    func.blocks[b].insts.splice(0..0, reads);
}
