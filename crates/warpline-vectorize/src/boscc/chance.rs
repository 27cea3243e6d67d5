//! How likely it is that a lane wants a class of blocks, and that none does.
//!
//! The chance of an edge comes from its weight, where the function has weights (a profile, `__builtin_expect`), else
//! from what its branch compares, with the numbers that LLVM uses, and from loops: lanes tend to stay. In the middle
//! of a loop that lanes leave one by one, half of those that entered are taken to be there.
//!
//! If lanes decided independently, none of W would go where one goes with chance *p* with chance (1−p)^W. They do not:
//! neighbours see similar data. So the exponent is that of ⌈√W⌉ independent groups. This is a rule of thumb. Where a
//! profile counted groups, the exponent is Wᵃ, with the *a* that gives what was counted.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;

use crate::linearize_state::{Action, Branch, Class, LinearizeState};
use warpline_ir::{Block, Edge, FloatPred, Function, GroupCount, IntPred, Op, Value};

/// The chance of what is likely, as a comparison of pointers or with zero goes (LLVM: 20 of 32).
const LIKELY: f64 = 20.0 / 32.0;
/// The chance that a lane leaves a loop at an exit.
const LEAVES: f64 = 1.0 / 8.0;
/// The share of lanes that are still in a loop that they leave one by one.
const REMAIN: f64 = 0.5;
/// No weight is taken for certainty.
const RARE: f64 = 1.0 / 4096.0;

/// What is known of the lanes of a class.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Chance {
    /// The chance that a lane is active, if control comes to the first block.
    pub(crate) lane: f64,
    /// What weights say of the only edge that leads there.
    weighed: Option<Weighed>,
}

/// What weights say of an edge that leads to a class.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Weighed {
    /// The chance that a lane is active where the edge begins.
    from: f64,
    /// The chance that such a lane takes the edge.
    takes: f64,
    /// *a*, if groups were counted.
    exponent: Option<f64>,
}

impl Chance {
    /// Certainty, of which nothing says anything.
    const CERTAIN: Chance = Chance { lane: 1.0, weighed: None };

    /// The chance that a lane takes the only edge that leads there, if weights speak of that.
    pub(crate) fn weighed(&self) -> Option<f64> {
        self.weighed.map(|weighed| weighed.takes)
    }

    /// The chance that no lane is active, if control comes only when some lane is in a class around it. `None`:
    /// control comes anyway.
    pub(crate) fn of_nobody(&self, outer: Option<&Chance>, width: u32) -> f64 {
        let outer = outer.map(|o| o.lane);
        match self.weighed {
            Some(Weighed { from, takes, exponent: Some(a) }) => {
                let none_came = of_nobody(from, outer, width);
                let none_took = (1.0 - takes).powf(f64::from(width).powf(a));
                none_came + (1.0 - none_came) * none_took
            }
            _ => of_nobody(self.lane, outer, width),
        }
    }
}

/// What is known of the lanes of each class.
pub(crate) fn of_classes(state: &LinearizeState) -> SecondaryMap<Class, Chance> {
    let mut chances: SecondaryMap<Class, Chance> = SecondaryMap::with_default(Chance::CERTAIN);
    let mut branches = Branches { state, known: HashMap::new() };
    for (c, &leader) in state.leaders.iter().skip(1) {
        let preds = &state.func.blocks[leader].preds;
        let before = |e: Edge| chances[state.class_of(state.func.edges[e].from)].lane;
        chances[c] = match state.loop_at(leader) {
            Some(l) => {
                let entered = chances[state.class_of(state.loops[l].preheader)].lane;
                Chance { lane: REMAIN * entered, weighed: None }
            }
            None => {
                let sum: f64 = preds.iter().map(|&e| before(e) * branches.of_edge(e)).sum();
                let weighed = match preds[..] {
                    [only] => branches.weighed(only, before(only)),
                    _ => None,
                };
                Chance { lane: sum.min(1.0), weighed }
            }
        };
    }
    chances
}

/// The chance that no lane is in a class in which each is with chance `inner`, if control comes there only when some
/// lane is in a class around it, in which each is with chance `outer`. `None`: control comes there anyway.
fn of_nobody(inner: f64, outer: Option<f64>, width: u32) -> f64 {
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
    /// What is known of a divergent branch.
    fn of_branch(&mut self, from: Block) -> Option<OfBranch> {
        let state = self.state;
        let func = &state.func;
        let edges = func.out_edges(from);
        if state.branch[from] != Branch::Divergent || edges.len() < 2 {
            return None;
        }
        Some(*self.known.entry(from).or_insert_with(|| OfBranch {
            weights: edges.iter().map(|&e| func.weights[e].map(f64::from)).sum(),
            leaving: edges.iter().filter(|&&e| leaves(state, e) == Some(true)).count(),
        }))
    }

    /// What weights say of an edge of a divergent branch.
    fn weighed(&mut self, e: Edge, from: f64) -> Option<Weighed> {
        let func = &self.state.func;
        let all = self.of_branch(func.edges[e].from)?;
        let takes = by_weight(func, all.weights, e)?;
        Some(Weighed { from, takes, exponent: func.groups[e].and_then(|count| exponent(takes, count)) })
    }

    /// The chance that a lane in the block that an edge leaves takes it. All lanes together take an edge of a uniform
    /// branch: then whoever comes to its target has taken it.
    fn of_edge(&mut self, e: Edge) -> f64 {
        let state = self.state;
        let func = &state.func;
        let from = func.edges[e].from;
        let edges = func.out_edges(from);
        let Some(all) = self.of_branch(from) else { return 1.0 };
        by_weight(func, all.weights, e)
            .or_else(|| by_loop(state, all.leaving, edges.len(), e))
            .or_else(|| by_comparison(func, from, edges[0] == e))
            .unwrap_or(1.0 / edges.len() as f64)
    }
}

/// The chance that no lane of a group takes an edge, by what was counted of groups of perhaps another size.
pub(crate) fn of_nobody_by(takes: f64, count: GroupCount, width: u32) -> Option<f64> {
    let takes = takes.clamp(RARE, 1.0 - RARE);
    Some((1.0 - takes).powf(f64::from(width).powf(exponent(takes, count)?)))
}

/// The *a* with which (1−p)^(Wᵃ) is the share of groups of W lanes that had none that took an edge.
fn exponent(takes: f64, count: GroupCount) -> Option<f64> {
    let GroupCount { lanes, came, took } = count;
    if lanes < 2 || came == 0 || took > came {
        return None;
    }
    let nobody = 1.0 - f64::from(took) / f64::from(came);
    let groups = nobody.ln() / (1.0 - takes).ln();
    Some((groups.ln() / f64::from(lanes).ln()).clamp(0.0, 1.0))
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
