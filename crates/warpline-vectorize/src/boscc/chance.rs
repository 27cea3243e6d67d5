//! How likely it is that a lane wants a class of blocks, and that none does.
//!
//! The chance of an edge comes from its weight, where the function has weights (a profile, `__builtin_expect`), else
//! from what its branch compares, with the numbers that LLVM uses, and from loops: lanes tend to stay. In the middle
//! of a loop that lanes leave one by one, half of those that entered are taken to be there.
//!
//! If lanes decided independently, none of W would go where one goes with chance *p* with chance (1−p)^W. They do not:
//! neighbours see similar data. So the exponent is that of ⌈√W⌉ independent groups. This is a rule of thumb.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;

use crate::linearize_state::{Action, Branch, Class, LinearizeState};
use warpline_ir::{Block, Edge, FloatPred, Function, IntPred, Op, Value};

/// The chance of what is likely, as a comparison of pointers or with zero goes (LLVM: 20 of 32).
const LIKELY: f64 = 20.0 / 32.0;
/// The chance that a lane leaves a loop at an exit.
const LEAVES: f64 = 1.0 / 8.0;
/// The share of lanes that are still in a loop that they leave one by one.
const REMAIN: f64 = 0.5;
/// No weight is taken for certainty.
const RARE: f64 = 1.0 / 4096.0;

/// The chance that a lane is active in each class, if control comes to its first block.
pub(crate) fn of_classes(state: &LinearizeState) -> SecondaryMap<Class, f64> {
    let mut chances: SecondaryMap<Class, f64> = SecondaryMap::with_default(1.0);
    let mut branches = Branches { state, known: HashMap::new() };
    for (c, &leader) in state.leaders.iter().skip(1) {
        chances[c] = match state.loop_at(leader) {
            Some(l) => REMAIN * chances[state.class_of(state.loops[l].preheader)],
            None => {
                let preds = state.func.blocks[leader].preds.iter();
                let sum: f64 = preds
                    .map(|&e| chances[state.class_of(state.func.edges[e].from)] * branches.of_edge(e))
                    .sum();
                sum.min(1.0)
            }
        };
    }
    chances
}

/// The chance that no lane is in a class in which each is with chance `inner`, if control comes there only when some
/// lane is in a class around it, in which each is with chance `outer`. `None`: control comes there anyway.
pub(crate) fn of_nobody(inner: f64, outer: Option<f64>, width: u32) -> f64 {
    let groups = (f64::from(width).sqrt().ceil()) as i32;
    let nobody = |p: f64| (1.0 - p).max(0.0).powi(groups);
    match outer {
        None => nobody(inner),
        Some(outer) if outer <= inner => 0.0,
        Some(outer) => (nobody(inner) - nobody(outer)) / (1.0 - nobody(outer)),
    }
}

/// What is known of all edges of a branch, which may have thousands.
#[derive(Copy, Clone)]
struct OfBranch {
    /// The sum of the weights, if each edge has one.
    weights: Option<f64>,
    /// How many of them leave a loop.
    leaving: usize,
}

/// Branches of which edges were looked at.
struct Branches<'a> {
    state: &'a LinearizeState,
    known: HashMap<Block, OfBranch>,
}

impl Branches<'_> {
    /// The chance that a lane in the block that an edge leaves takes it. All lanes together take an edge of a uniform
    /// branch: then whoever comes to its target has taken it.
    fn of_edge(&mut self, e: Edge) -> f64 {
        let state = self.state;
        let func = &state.func;
        let from = func.edges[e].from;
        let edges = func.out_edges(from);
        if state.branch[from] != Branch::Divergent || edges.len() < 2 {
            return 1.0;
        }
        let all = *self.known.entry(from).or_insert_with(|| OfBranch {
            weights: edges.iter().map(|&e| func.weights[e].map(f64::from)).sum(),
            leaving: edges.iter().filter(|&&e| leaves(state, e) == Some(true)).count(),
        });
        by_weight(func, all.weights, e)
            .or_else(|| by_loop(state, all.leaving, edges.len(), e))
            .or_else(|| by_comparison(func, from, edges[0] == e))
            .unwrap_or(1.0 / edges.len() as f64)
    }
}

fn by_weight(func: &Function, sum: Option<f64>, e: Edge) -> Option<f64> {
    Some((func.weights[e].map(f64::from)? / sum?.max(1.0)).clamp(RARE, 1.0 - RARE))
}

/// Whether an edge leaves a loop, if it does that or goes on with it.
fn leaves(state: &LinearizeState, e: Edge) -> Option<bool> {
    let latch = state.func.edges[e].to;
    let live = state.live[latch].expand()?;
    Some(!state.actions[e].iter().any(|a| matches!(a, Action::Join(v) if *v == live)))
}

/// Where some edges of a branch go on with a loop and others, so many of all, leave it.
fn by_loop(state: &LinearizeState, leaving: usize, all: usize, e: Edge) -> Option<f64> {
    if leaving == 0 || leaving == all {
        return None;
    }
    let all_leaving = LEAVES.max((leaving as f64 * LEAVES).min(0.5));
    Some(match leaves(state, e) {
        Some(true) => all_leaving / leaving as f64,
        _ => (1.0 - all_leaving) / (all - leaving) as f64,
    })
}

/// What is compared: equal is less likely than not, and so are negative numbers and numbers that are not.
fn by_comparison(func: &Function, from: Block, if_true: bool) -> Option<f64> {
    let term = &func.insts[func.terminator(from)];
    if term.op != Op::CondBr {
        return None;
    }
    let cond = &func.insts[func.def_inst(term.args[0])?];
    let holds = match cond.op {
        Op::ICmp(pred) => of_integers(func, pred, cond.args[1])?,
        Op::FCmp(FloatPred::Oeq | FloatPred::Ueq) => 1.0 - LIKELY,
        Op::FCmp(FloatPred::One | FloatPred::Une) => LIKELY,
        Op::FCmp(FloatPred::Ord) => 1.0 - RARE,
        Op::FCmp(FloatPred::Uno) => RARE,
        _ => return None,
    };
    Some(if if_true { holds } else { 1.0 - holds })
}

fn of_integers(func: &Function, pred: IntPred, right: Value) -> Option<f64> {
    let zero = func.as_int(right) == Some(0);
    Some(match pred {
        IntPred::Eq => 1.0 - LIKELY,
        IntPred::Ne => LIKELY,
        IntPred::Slt | IntPred::Sle if zero => 1.0 - LIKELY,
        IntPred::Sgt | IntPred::Sge if zero => LIKELY,
        _ => return None,
    })
}
