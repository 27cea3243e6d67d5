//! The vectorizer: from a scalar kernel to W lanes (paper 3).
//!
//! The stages, each a module (kernels that ask which work-item they are have become others before, by [`work_items`]):
//! 1. `conditions`: uniform parts of conditions get branches of their own; `arms`: branches whose arms access the same memory become straight code; [`coherence`]: bodies of loops are made twice, for when lanes agree; [`reducible`]: loops with several entries get one; [`normalize`]: one exit, well-shaped loops, loop-closed SSA;
//!    [`dead_ends`]: panics out of the way; [`scalarize`]: vector-typed values as their elements; [`shared_memory`]:
//!    private memory that one object can stand for;
//!    then the [uniformity analysis](warpline_uniformity) and, for indices, [`widen`]; [`words`]: which narrow elements can be loaded as parts of words;
//! 2. [`divergent_loops`]: loops that lanes leave apart become uniform loops (Sec. 5);
//! 3. [`classes`]: which blocks share a mask (Sec. 2.4, 4);
//! 4. [`safe_loads`]: what may run without an active lane; [`guards`]: branches around what must not, and [`boscc`]: around what then need not (Sec. 6);
//! 5. [`block_index`] and [`mod@linearize`]: partial linearization (Sec. 3);
//! 6. [`repair`]: masks, blends, SSA. The result is a *lane program*: its control flow is uniform, and every
//!    block says under which mask it takes effect.
#![forbid(unsafe_code)]

pub mod alignment;
mod arms;
pub mod block_index;
pub mod boscc;
pub mod callees;
pub mod classes;
mod cleanup;
pub mod coherence;
mod conditions;
mod copies;
pub mod counts;
pub mod dead_ends;
pub mod dependences;
pub mod divergent_loops;
pub mod driver;
mod error;
pub mod guards;
pub mod linearize;
pub mod loops;
pub mod lower;
pub mod normalize;
pub mod objects;
mod options;
mod pipeline;
pub mod plan;
pub mod private_memory;
pub mod reducible;
mod refused_calls;
pub mod repair;
pub mod safe_loads;
pub mod scalarize;
pub mod scaling;
pub mod shared_memory;
mod sink;
mod stage;
pub mod vector_abi;
pub mod widen;
pub mod width;
pub mod words;
pub mod work_items;

use cranelift_entity::EntitySet;

use counts::{Always, BranchCounts, Counts, Exit, LoopCounts};
use linearize::Linearization;
use plan::{Branch, Facts, Plan};
use safe_loads::SafeLoads;
use warpline_ir::{Block, Function, Inst, Module, Type};

pub use callees::{AllCallees, Callees, NoCallees};
pub use error::{ErrorKind, VectorizeError};
pub use lower::Elementary;
pub use options::{
    Boscc, Coherence, Contract, Gathers, Linearize, Masks, MathLibrary, NoMathLibrary, Options, Passing,
    Vectorized,
};
pub use pipeline::{Linearized, MAX_WIDTH, linearize_kernel, vectorize, vectorize_staged};
pub use stage::{Stage, Watch};

/// A function whose control flow is uniform and whose blocks have masks.
#[derive(Clone, Debug)]
pub struct LaneProgram {
    /// The function.
    pub func: Function,
    /// Instructions that are executed once for all lanes and are reached with an active lane only.
    pub guarded: EntitySet<Inst>,
    /// Loads that are executed once for all lanes and need no active lane.
    pub safe_loads: SafeLoads,
    /// What became of branches and loops; the masks are counted when memory accesses are lowered.
    pub counts: Counts,
    /// Blocks that every lane comes to, whatever happens.
    pub always: Always,
    /// What was linearized, and how.
    pub linearization: Linearization,
}

/// Linearizes a function in [normal form](normalize::normalize), as far and with such tests as the options say. If they ask for a
/// mask, the function gets a last parameter of type `i1`: whether the lane is active.
///
/// # Errors
/// If the control flow cannot be linearized.
fn to_lane_program(
    module: &Module,
    func: Function,
    facts: Facts,
    options: &Options<'_>,
    watch: Watch<'_>,
) -> Result<LaneProgram, VectorizeError> {
    watch(Stage::Classes);
    let branches = BranchCounts::of(&func, &facts);
    let facts = match options.linearize {
        Linearize::Partial => facts,
        Linearize::Full => everything_divergent(&func, facts),
    };
    let mut plan = Plan::new(func, facts);
    plan.entry_mask = options.masked.then(|| plan.func.add_param(Type::BOOL, "mask"));
    let exits = Exit::all(&plan);
    divergent_loops::transform_divergent_loops(&mut plan);
    split_uniform_edges(&mut plan);
    let pdom = classes::IterationPostDom::compute(&plan);
    classes::compute_classes(&mut plan, &pdom);
    check_uniform_loops(&plan)?;
    let exits = LoopCounts::exits(&plan, &exits);
    watch(Stage::Guards);
    let safe_loads = safe_loads::find(module, &plan);
    let needed = guards::classes_to_guard(&plan, &safe_loads);
    let chosen = boscc::choice::classes_to_test(&plan, module, &needed, options.boscc, options.width);
    let guards = guards::insert_guards(&mut plan, &pdom, &needed, &chosen, &safe_loads)?;
    let (lost, linearization) = repair::linearize_function(&mut plan, watch)?;
    let branches = branches.after_losing(match options.linearize {
        Linearize::Partial => lost,
        Linearize::Full => branches.uniform_kept,
    });
    let loops = LoopCounts::loops(&plan);
    let counts = Counts { branches, loops, exits, boscc: guards.counts, ..Counts::default() };
    let (always, guarded) = (plan.always, guards.instructions);
    Ok(LaneProgram { func: plan.func, guarded, safe_loads, counts, always, linearization })
}

/// The facts of full if-conversion: every branch and every loop counts as divergent.
fn everything_divergent(func: &Function, mut facts: Facts) -> Facts {
    for &b in &func.layout {
        facts.divergent_branches.insert(b);
        facts.divergent_loops.insert(b);
    }
    facts
}

/// Gives an edge of a uniform branch a block of its own if its target has other predecessors: Theorem 4.5
/// then keeps the branch, and what the edge writes is written under the mask of that block.
fn split_uniform_edges(plan: &mut Plan) {
    for b in plan.func.layout.clone() {
        if plan.branch[b] != Branch::Uniform || !plan.branches(b) {
            continue;
        }
        for e in plan.func.out_edges(b).to_vec() {
            let several = plan.func.blocks[plan.func.edges[e].to].preds.len() > 1;
            if !plan.is_back_edge(e) && (several || !plan.actions[e].is_empty()) {
                plan.split_edge(e, "edge");
            }
        }
    }
}

/// Every exit of a loop that was not transformed must take all its lanes along.
fn check_uniform_loops(plan: &Plan) -> Result<(), VectorizeError> {
    for l in plan.loops.values().filter(|l| !l.divergent) {
        for &e in &l.exits {
            let from: Block = plan.func.edges[e].from;
            let all = plan.class_of(from) == plan.class_of(l.header);
            if !all || (plan.branch[from] == Branch::Divergent && plan.branches(from)) {
                return Err(VectorizeError::at_block(
                    &plan.func,
                    l.header,
                    "lanes leave this loop apart although it was found uniform",
                )
                .internal());
            }
        }
    }
    Ok(())
}
