//! Guards: nothing is executed with an empty mask where that could do harm (paper 3, Sec. 6; here mandatory).
//!
//! After linearization a block may be reached although no lane is active there. A uniform load there may fault, a
//! uniform division trap, a uniform branch read poison, a loop never end. So a class that contains such an operation,
//! and is not known to have an active lane, is put behind a branch on whether its mask has any lane. Where the first
//! block of the class has a divergent branch as its only predecessor, that is the paper's [gadget]. Elsewhere, and
//! where the other side of that branch has the gadget already, the block itself is split below its φs, and the upper
//! part branches to the lower part or, if no lane is there, to the nearest post-dominator outside the class.
//!
//! Departure from the paper, whose gadget is the only form: the second one serves blocks with several predecessors
//! too. In both, the guarded block has one predecessor, whose edge Theorem 4.5 keeps: it is executed only with an
//! active lane. Classes that [BOSCC](super::boscc) chose for speed get their tests in the same way.

use cranelift_entity::EntitySet;

use warpline_ir::{Block, Edge, Effects, GroupCount, Inst, Op, Value};

use super::VectorizeError;
use super::boscc::choice::{Chosen, Expected};
use super::boscc::gadget;
use super::counts::TestCounts;
use super::dereferenceable_loads::SafeLoads;
use super::linearize_state::{Branch, Class, LinearizeState};
use super::mask_classes::IterationPostDom;

/// What was guarded.
pub(crate) struct Guards {
    /// The harmful uniform instructions: they are reached with an active lane only.
    pub instructions: EntitySet<Inst>,
    /// How many tests there are.
    pub counts: TestCounts,
}

/// Inserts tests for the classes that need one and for those in `chosen`, which should have one for speed.
///
/// # Errors
/// If control cannot continue anywhere when no lane is active, which normal form excludes.
pub(crate) fn insert_guards(
    state: &mut LinearizeState,
    pdom: &IterationPostDom,
    needed: &EntitySet<Class>,
    chosen: &Chosen,
    safe: &SafeLoads,
) -> Result<Guards, VectorizeError> {
    let harmful = state.func.layout.iter().flat_map(|&b| &state.func.blocks[b].insts);
    let mut instructions = EntitySet::with_capacity(state.func.insts.len());
    for &i in harmful.filter(|&&i| is_harmful_uniform(state, safe, i)) {
        instructions.insert(i);
    }
    let mut counts = TestCounts::default();
    let mut at_edges: Vec<(Edge, Class)> = Vec::new();
    let mut at_blocks: Vec<(Block, Block, Class)> = Vec::new();
    let mut taken: EntitySet<Block> = EntitySet::new();
    for (c, &leader) in state.leaders.iter() {
        let must = needed.contains(c);
        if !must && !chosen.classes.contains(c) {
            continue;
        }
        let edge = gadget::edge_to(state, leader).filter(|&e| taken.insert(state.func.edges[e].from));
        match (edge, continuation(state, pdom, c, leader)) {
            (Some(e), _) => at_edges.push((e, c)),
            (None, Ok(target)) => at_blocks.push((leader, target, c)),
            (None, Err(e)) if must => return Err(e),
            (None, Err(_)) => continue,
        }
        *(if must { &mut counts.mandatory } else { &mut counts.chosen }) += 1;
    }
    // Blocks first: edges survive the splitting of blocks.
    for (leader, target, c) in at_blocks {
        guard_block(state, leader, target);
        weigh(state, leader, chosen.expected[c]);
    }
    for (e, c) in at_edges {
        let test = gadget::insert(state, e);
        weigh(state, test, chosen.expected[c]);
    }
    Ok(Guards { instructions, counts })
}

/// Notes how likely it is that a lane, and a group of lanes, takes the first edge of a test.
fn weigh(state: &mut LinearizeState, test: Block, expected: Option<Expected>) {
    const ALL: u32 = 1 << 16;
    let share = |x: f64| (x.clamp(0.0, 1.0) * f64::from(ALL)).round() as u32;
    if let (Some(Expected { lane, somebody, lanes }), &[any, none]) = (expected, state.func.out_edges(test)) {
        state.func.weights[any] = Some(share(lane));
        state.func.weights[none] = Some(ALL - share(lane));
        state.func.groups[any] = Some(GroupCount { lanes, came: ALL, took: share(somebody) });
    }
}

/// Splits a block below its φs; the lower part is executed only if a lane of its mask is active, else `target` is.
/// The condition is filled in when the masks are written.
fn guard_block(state: &mut LinearizeState, leader: Block, target: Block) {
    let lower = state.split_below_phis(leader, "guarded");
    let unknown = state.func.bool_const(true);
    state.func.set_terminator(leader, Op::CondBr, &[unknown], &[lower, target]);
    state.branch[leader] = Branch::AnyLane;
    state.guards.push(leader);
}

/// Where control goes on if no lane of a class is active.
fn continuation(
    state: &LinearizeState,
    pdom: &IterationPostDom,
    c: Class,
    leader: Block,
) -> Result<Block, VectorizeError> {
    std::iter::successors(pdom.parent(leader), |&b| pdom.parent(b))
        .find(|&b| state.class_of(b) != c && state.loop_of[b] == state.loop_of[leader])
        .ok_or_else(|| {
            VectorizeError::at_block(&state.func, leader, "control does not continue behind this block")
        })
}

/// The classes that need a test: without an active lane, something in them would do harm.
pub(crate) fn classes_to_guard(state: &LinearizeState, safe: &SafeLoads) -> EntitySet<Class> {
    let mut needed = EntitySet::with_capacity(state.leaders.len());
    for &b in &state.func.layout {
        if needs_active_lane(state, safe, b) {
            needed.insert(state.class_of(b));
        }
    }
    for l in state.loops.values() {
        needed.insert(state.class_of(l.preheader));
    }
    // The entry's class has a lane by agreement, a divergent loop's because it goes on only if any lane does.
    for (c, &leader) in state.leaders.iter() {
        if c.as_u32() == 0 || state.loop_at(leader).is_some() {
            needed.remove(c);
        }
    }
    needed
}

/// Whether a block must not be executed when none of its lanes is active.
fn needs_active_lane(state: &LinearizeState, safe: &SafeLoads, b: Block) -> bool {
    let uniform_branch =
        state.branch[b] == Branch::Uniform && state.branches(b) && !state.has_constant_branch(b);
    uniform_branch || state.func.blocks[b].insts.iter().any(|&i| is_harmful_uniform(state, safe, i))
}

/// Whether an instruction is executed once for all lanes and must not be if there is none.
fn is_harmful_uniform(state: &LinearizeState, safe: &SafeLoads, i: Inst) -> bool {
    let data = &state.func.insts[i];
    let uniform = |v: &Value| !state.facts.divergent.contains(*v);
    match data.op {
        Op::Load(_) => uniform(&data.args[0]) && safe[i].is_none(),
        Op::Store(_) => uniform(&data.args[1]),
        // Of a size that is not known without a lane.
        Op::Alloca { .. } => state.func.as_int(data.args[0]).is_none() && uniform(&data.args[0]),
        Op::Binary(op) if op.is_int_division() => data.args.iter().all(uniform),
        Op::Call(_) => {
            let once = !data.effects().intersects(Effects::WRITES | Effects::UNKNOWN_RESULT);
            !data.effects().speculatable() && once && data.args.iter().all(uniform)
        }
        _ => false,
    }
}
