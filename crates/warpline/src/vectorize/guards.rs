//! Guards: nothing is executed with an empty mask where that could do harm (paper 3, Sec. 6; here mandatory).
//!
//! After linearization a block may be reached although no lane wants it. A uniform load there may fault, a uniform
//! division trap, a uniform branch read poison, a loop never end. So a class that contains such an operation, and is not known to
//! have an active lane, is put behind a branch on whether its mask has any lane: the first block of the
//! class is split below its φs, and the upper part branches to the lower part or, if no lane is there, to
//! the nearest post-dominator outside the class.
//!
//! Departure from the paper, whose gadget puts the test before the branch that leads to the guarded block: ours
//! tests at the block itself, so it serves blocks with several predecessors too. The lower part has the
//! upper one as its only predecessor, so Theorem 4.5 keeps its edge: it is executed only with an active lane.

use cranelift_entity::EntitySet;

use crate::ir::{Block, Effects, Inst, Op, Value};

use super::VectorizeError;
use super::classes::IterationPostDom;
use super::plan::{Branch, Class, Plan};

/// What was guarded.
pub struct Guards {
    /// The blocks that end in the new branches. Their conditions are filled in when the masks are written.
    pub blocks: Vec<Block>,
    /// The harmful uniform instructions: they are reached with an active lane only.
    pub instructions: EntitySet<Inst>,
}

/// Inserts the guards.
///
/// # Errors
/// If control cannot continue anywhere when no lane is active, which normal form excludes.
pub fn insert_guards(plan: &mut Plan, pdom: &IterationPostDom) -> Result<Guards, VectorizeError> {
    let needed = classes_to_guard(plan);
    let harmful = plan.func.layout.iter().flat_map(|&b| &plan.func.blocks[b].insts);
    let mut instructions = EntitySet::with_capacity(plan.func.insts.len());
    for &i in harmful.filter(|&&i| is_harmful_uniform(plan, i)) {
        instructions.insert(i);
    }
    let mut blocks = Vec::new();
    let leaders: Vec<(Class, Block)> = plan.leaders.iter().map(|(c, &b)| (c, b)).collect();
    let targets: Vec<(Block, Block)> = leaders
        .into_iter()
        .filter(|&(c, _)| needed.contains(c))
        .map(|(c, leader)| Ok((leader, continuation(plan, pdom, c, leader)?)))
        .collect::<Result<_, VectorizeError>>()?;
    for (leader, target) in targets {
        let lower = plan.split_below_phis(leader, "guarded");
        let unknown = plan.func.bool_const(true);
        plan.func.set_terminator(leader, Op::CondBr, &[unknown], &[lower, target]);
        plan.branch[leader] = Branch::AnyLane;
        blocks.push(leader);
    }
    Ok(Guards { blocks, instructions })
}

/// Where control goes on if no lane of a class is active.
fn continuation(
    plan: &Plan,
    pdom: &IterationPostDom,
    c: Class,
    leader: Block,
) -> Result<Block, VectorizeError> {
    std::iter::successors(pdom.parent(leader), |&b| pdom.parent(b))
        .find(|&b| plan.class_of(b) != c && plan.loop_of[b] == plan.loop_of[leader])
        .ok_or_else(|| {
            VectorizeError::at_block(&plan.func, leader, "control does not continue behind this block")
        })
}

fn classes_to_guard(plan: &Plan) -> EntitySet<Class> {
    let mut needed = EntitySet::with_capacity(plan.leaders.len());
    for &b in &plan.func.layout {
        if needs_active_lane(plan, b) {
            needed.insert(plan.class_of(b));
        }
    }
    for l in plan.loops.values() {
        needed.insert(plan.class_of(l.preheader));
    }
    // The entry's class has a lane by agreement, a divergent loop's because it goes on only if any lane does.
    for (c, &leader) in plan.leaders.iter() {
        let heads_loop = plan.loop_of[leader].expand().is_some_and(|l| plan.loops[l].header == leader);
        if c.as_u32() == 0 || heads_loop {
            needed.remove(c);
        }
    }
    needed
}

/// Whether a block must not be executed when none of its lanes is active.
fn needs_active_lane(plan: &Plan, b: Block) -> bool {
    let uniform_branch =
        plan.branch[b] == Branch::Uniform && plan.branches(b) && !plan.has_constant_branch(b);
    uniform_branch || plan.func.blocks[b].insts.iter().any(|&i| is_harmful_uniform(plan, i))
}

/// Whether an instruction is executed once for all lanes and must not be if there is none.
fn is_harmful_uniform(plan: &Plan, i: Inst) -> bool {
    let data = &plan.func.insts[i];
    let uniform = |v: &Value| !plan.facts.divergent.contains(*v);
    match data.op {
        Op::Load(_) => uniform(&data.args[0]),
        Op::Store(_) => uniform(&data.args[1]),
        Op::Binary(op) if op.is_int_division() => data.args.iter().all(uniform),
        Op::Call(_) => {
            let once = !data.effects().intersects(Effects::WRITES | Effects::UNKNOWN_RESULT);
            !data.effects().speculatable() && once && data.args.iter().all(uniform)
        }
        _ => false,
    }
}
