//! Loop-closed SSA: the form, that it shows instructions what they saw before, and that its φs are needed.

use warpline_analysis::CycleForest;
use warpline_dataflow::ssa::{close_loops, construct};
use warpline_ir::text::print_function;
use warpline_ir::verify::verify;
use warpline_ir::*;
use warpline_testkit::loop_closed::is_loop_closed;
use warpline_testkit::modules::{FunctionShape, module};
use warpline_testkit::rng::SplitMix64;
use warpline_testkit::walks::{agree, random_path, walk};

fn cycles(func: &Function) -> Vec<Vec<Block>> {
    let forest = CycleForest::compute(&func.graph().0);
    forest.cycles().map(|c| forest.nodes(c).iter().map(|&n| Block::from(n)).collect()).collect()
}

fn phis(func: &Function) -> Vec<(Block, usize)> {
    let all = func.layout.iter();
    all.flat_map(|&b| (0..func.blocks[b].phis.len()).map(move |k| (b, k))).collect()
}

/// The function with one φ replaced by its operand on one of its in-edges, as if it had not been needed.
fn without_phi(func: &Function, b: Block, k: usize, operand: usize) -> Function {
    let mut func = func.clone();
    let phi = func.blocks[b].phis[k];
    let result = func.insts[phi].results[0];
    let by = func.edges[func.blocks[b].preds[operand]].args[k];
    func.map_operands(|v| if v == result { by } else { v });
    func.retain_phis(b, |p| p != phi);
    func
}

#[test]
fn values_leave_cycles_through_phis_and_every_one_of_them_is_needed() {
    let count: u64 = std::env::var("WARPLINE_PROGRAMS").ok().and_then(|s| s.parse().ok()).unwrap_or(500);
    let first: u64 = std::env::var("WARPLINE_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let shape =
        FunctionShape { max_blocks: 12, max_insts: 6, max_vars: 4, accesses: 2, ..FunctionShape::default() };
    let (mut open, mut irreducible, mut placed) = (0, 0, 0);
    for seed in first..first + count {
        let mut rng = SplitMix64::new(seed);
        let m = module(&mut rng, &shape);
        for original in m.functions.values() {
            let mut before = original.clone();
            construct(&mut before, |_| true);
            let mut after = before.clone();
            let new = close_loops(&mut after);
            let shown =
                || format!("seed {seed}\n{}{}", print_function(&m, &before), print_function(&m, &after));
            let cycles = cycles(&before);
            if is_loop_closed(&before, &cycles).is_err() {
                open += 1;
                let forest = CycleForest::compute(&before.graph().0);
                irreducible += usize::from(forest.cycles().any(|c| !forest.is_reducible(c)));
            } else {
                assert_eq!(new, 0, "{}", shown());
            }
            placed += new;
            is_loop_closed(&after, &cycles).unwrap_or_else(|e| panic!("{e}, {}", shown()));
            verify(&m, &after).unwrap_or_else(|e| panic!("{e}, {}", shown()));
            assert_eq!(phis(&after).len(), phis(&before).len() + new, "{}", shown());
            for _ in 0..4 {
                let path = random_path(&before, &mut rng);
                let (known, blocks) = (before.insts.len(), before.blocks.len());
                let (a, b) = (walk(&before, &path, known, blocks), walk(&after, &path, known, blocks));
                assert!(agree(&a, &b, false), "path {path:?}, {}", shown());
            }
            assert_eq!(close_loops(&mut after.clone()), 0, "once is enough, {}", shown());
            for &(b, k) in phis(&after).iter().filter(|&&(b, k)| k >= before.blocks[b].phis.len()) {
                for operand in 0..after.blocks[b].preds.len() {
                    let less = without_phi(&after, b, k, operand);
                    let broken = verify(&m, &less).is_err() || is_loop_closed(&less, &cycles).is_err();
                    let same_operands = after.blocks[b].preds.iter().all(|&e| {
                        let result = after.insts[after.blocks[b].phis[k]].results[0];
                        let (x, y) = (after.edges[e].args[k], less_operand(&after, b, k, operand));
                        x == y || x == result
                    });
                    assert!(broken || !same_operands, "{b} needs no phi {k}, {}", shown());
                }
            }
        }
    }
    let floor = count as usize / 10;
    assert!(open > floor && irreducible > floor / 2 && placed > 2 * open, "{open} {irreducible} {placed}");
}

fn less_operand(func: &Function, b: Block, k: usize, operand: usize) -> Value {
    func.edges[func.blocks[b].preds[operand]].args[k]
}
