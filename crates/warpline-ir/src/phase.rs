//! What holds of a function on its way to vector code.

use crate::{Block, Function, Op, Value};
use warpline_analysis::{CycleForest, DfsOrder};

/// How far a function has come.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Phase {
    /// The program for one lane, as it was given.
    #[default]
    Scalar,
    /// The program for one lane in normal form: every block is reachable, there is at most one `ret`, loops have
    /// one entry, one back edge and a preheader.
    Canonical,
    /// A program for all lanes at once: its control flow is uniform, and blocks have masks.
    Linearized,
    /// A program whose instructions work on all lanes: no block has a mask.
    Vector,
}

impl Phase {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Scalar => "scalar",
            Phase::Canonical => "canonical",
            Phase::Linearized => "linearized",
            Phase::Vector => "vector",
        }
    }

    /// The phase of this name.
    pub fn named(name: &str) -> Option<Phase> {
        let all = [Phase::Scalar, Phase::Canonical, Phase::Linearized, Phase::Vector];
        all.into_iter().find(|phase| phase.name() == name)
    }

    /// What a function lacks that is in this phase; none if nothing. What the verifier of the IR checks is not looked
    /// at again.
    pub fn violation(self, func: &Function) -> Option<String> {
        let masked = func.layout.iter().find(|&&b| func.blocks[b].mask.is_some());
        match (self, masked) {
            (Phase::Linearized, _) => None,
            (_, Some(&b)) => Some(format!("block {} has a mask", func.block_name(b))),
            (Phase::Canonical, None) => canonical(func),
            (Phase::Scalar | Phase::Vector, None) => None,
        }
    }
}

/// What a function lacks of the normal form.
fn canonical(func: &Function) -> Option<String> {
    let returns = func.layout.iter().filter(|&&b| func.insts[func.terminator(b)].op == Op::Ret).count();
    if returns > 1 {
        return Some(format!("it has {returns} returns"));
    }
    let (graph, _) = func.graph();
    let reachable = DfsOrder::compute(&graph);
    if let Some(&b) = func.layout.iter().find(|&&b| !reachable.is_reachable(b.into())) {
        return Some(format!("block {} is never reached", func.block_name(b)));
    }
    let cycles = CycleForest::compute(&graph);
    for c in cycles.cycles() {
        let header = Block::from(cycles.header(c));
        let name = func.block_name(header);
        if !cycles.is_reducible(c) {
            return Some(format!("the loop at block {name} is irreducible"));
        }
        let inside = |b: Block| cycles.contains(c, b.into());
        let (back, entering): (Vec<Block>, Vec<Block>) = func.predecessors(header).partition(|&b| inside(b));
        if back.len() != 1 {
            return Some(format!("the loop at block {name} has {} back edges", back.len()));
        }
        let preheader = matches!(entering[..], [p] if func.out_edges(p).len() == 1);
        if !preheader {
            return Some(format!("the loop at block {name} has no preheader"));
        }
    }
    not_loop_closed(func, &cycles)
}

/// A value that is used outside of the loop that it is computed in, other than by a φ that it leaves through.
fn not_loop_closed(func: &Function, cycles: &CycleForest) -> Option<String> {
    for &b in &func.layout {
        for &i in &func.blocks[b].insts {
            let outside = |v: Value| {
                let defined = func.def_block(v).and_then(|d| cycles.innermost(d.into()));
                defined.is_some_and(|c| !cycles.contains(c, b.into()))
            };
            if let Some(&v) = func.insts[i].args.iter().find(|&&v| outside(v)) {
                let (v, b) = (func.value_name(v), func.block_name(b));
                return Some(format!("{v} is used in block {b}, outside of its loop"));
            }
        }
    }
    None
}
