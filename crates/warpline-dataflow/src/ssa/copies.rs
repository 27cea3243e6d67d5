//! Parallel copies.
//!
//! In SSA form a parallel copy, and a σ, only gives values new names, so [`dissolve_copies`] takes it away. Outside
//! of SSA form an assignment to several places at once must be brought into a sequence without overwriting what is
//! still to be read (the *lost copy*), and cycles need a spare place (the *swap*): [`sequentialize`].

use std::collections::HashMap;
use std::hash::Hash;

use cranelift_entity::EntitySet;

use super::Replacements;
use warpline_ir::{Edge, Function, Inst, Op, Value};

/// Removes all parallel copies and σs: their operands take the place of their results. Returns how many there were.
/// The function must be in strict form; elsewhere an operand may be computed again before the result is used.
pub fn dissolve_copies(func: &mut Function) -> usize {
    let mut replaced = Replacements::default();
    let mut copies: EntitySet<Inst> = EntitySet::new();
    let mut count = 0;
    for bi in 0..func.layout.len() {
        let b = func.layout[bi];
        for k in 0..func.blocks[b].insts.len() {
            let i = func.blocks[b].insts[k];
            let is_sigma = match func.insts[i].op {
                Op::ParallelCopy => false,
                Op::Sigma => true,
                _ => continue,
            };
            copies.insert(i);
            count += 1;
            for n in 0..func.insts[i].results.len() {
                let arg = if is_sigma { 0 } else { n };
                let (result, arg) = (func.insts[i].results[n], func.insts[i].args[arg]);
                let root = replaced.find(arg);
                // Only code that is never executed can copy values in a circle.
                let root = if root == result { func.poison(func.ty(result)) } else { root };
                replaced.set(result, root);
            }
        }
        func.blocks[b].insts.retain(|&i| !copies.contains(i));
    }
    replaced.apply(func);
    count
}

/// What the φs behind an edge do on the way along it, as a sequence of moves (to, from) between places that are named
/// by values: for those who keep each value in a place of its own. The moves belong on the edge itself; at the end of
/// its block they would overwrite what is still needed behind the block's other edges. `spare` is as in
/// [`sequentialize`].
pub fn edge_moves(func: &Function, edge: Edge, spare: impl FnMut(Value) -> Value) -> Vec<(Value, Value)> {
    let edge = &func.edges[edge];
    let phis = func.blocks[edge.to].phis.iter().map(|&p| func.insts[p].results[0]);
    sequentialize(&phis.zip(edge.args.iter().copied()).collect::<Vec<_>>(), spare)
}

/// Brings a parallel assignment into a sequence: `moves` are pairs (destination, source), destinations distinct. All
/// sources are read before any destination is written. The result, executed in order, does the same.
///
/// `spare` is asked for a place that is not in `moves`, fit for the contents of the place that it is given. It is asked
/// once for each cycle whose contents are not copied to any other place.
///
/// As in Boissinot et al. (*Revisiting out-of-SSA translation for correctness, code quality, and efficiency*, 2009)
/// a place whose contents have reached a destination is read from there, which frees it. Linear time.
pub fn sequentialize<L: Copy + Eq + Hash>(moves: &[(L, L)], mut spare: impl FnMut(L) -> L) -> Vec<(L, L)> {
    let moves: Vec<(L, L)> = moves.iter().copied().filter(|(to, from)| to != from).collect();
    let mut out = Vec::with_capacity(moves.len() + 1);
    // Per place: the move that writes it, and the moves that still have to read it.
    let mut writer: HashMap<L, usize> = HashMap::new();
    let mut readers: HashMap<L, Vec<usize>> = HashMap::new();
    for (k, &(to, from)) in moves.iter().enumerate() {
        writer.insert(to, k);
        readers.entry(from).or_default().push(k);
    }
    let mut source: Vec<L> = moves.iter().map(|m| m.1).collect();
    let mut done = vec![false; moves.len()];
    let mut ready: Vec<usize> =
        (0..moves.len()).rev().filter(|&k| !readers.contains_key(&moves[k].0)).collect();
    for start in 0..moves.len() {
        loop {
            while let Some(k) = ready.pop() {
                let (to, from) = (moves[k].0, source[k]);
                out.push((to, from));
                done[k] = true;
                let Some(&next) = writer.get(&from).filter(|&&w| !done[w]) else { continue };
                // What is still to be read from `from` is now in `to`, which is written for good.
                for r in readers.remove(&from).unwrap_or_default() {
                    source[r] = to;
                }
                ready.push(next);
            }
            if done[start] {
                break;
            }
            // Only cycles are left.
            let place = moves[start].0;
            let saved = spare(place);
            out.push((saved, place));
            for r in readers.remove(&place).unwrap_or_default() {
                source[r] = saved;
            }
            ready.push(start);
        }
    }
    out
}
