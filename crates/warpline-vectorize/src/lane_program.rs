//! From a function in normal form to a lane program: the order of what partial linearization is made of (paper 3).
//!
//! 1. [`divergent_loops`]: divergent loops become uniform loops (Sec. 5);
//! 2. [`mask_classes`]: which blocks share a mask (Sec. 2.4, 4);
//! 3. [`dereferenceable_loads`]: what may run without an active lane; [`any_lane_branches`]: branches around what must
//!    not, and [`boscc`]: around what then need not (Sec. 6);
//! 4. [`block_index`](crate::block_index) and [`linearize`](mod@crate::linearize): partial linearization (Sec. 3);
//! 5. [`repair`]: masks, blends, SSA.
//!
//! Between these there is no valid program: φs and masks wait on edges. So all of them are one pass.

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::choices::{Boscc, Gathers, Linearize};
use crate::counts::{BranchCounts, Counts, Exit, LoopCounts};
use crate::dereferenceable_loads::{self, SafeLoads};
use crate::instrument::Info;
use crate::linearize::Linearization;
use crate::linearize_state::Always;
use crate::linearize_state::{Branch, Facts, LinearizeState};
use crate::options::Form;
use crate::pass::{Context, LaneFacts, Unit};
use crate::subword_loads::{self, Words};
use crate::{VectorizeError, any_lane_branches, boscc, divergent_loops, mask_classes, masked_sums, repair};
use warpline_ir::Phase;
use warpline_ir::{Block, Function, Inst, Value};
use warpline_uniformity::Uniformity;
use warpline_uniformity::shape::Shape;

/// The step of `linearize` that adds tests for speed.
pub static INSERT_BOSCC: Info = Info {
    name: "insert-boscc",
    from: Phase::Canonical,
    to: Phase::Linearized,
    is_optional: true,
    what: "tests skip code that probably has no active lane; a step of `linearize`",
};

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

/// The pass: a function in [normal form](crate::normalize) becomes a lane program, as far and with such tests as the
/// options say. Where a mask is wanted, the function gets a last parameter of type `i1`: whether the lane is active.
///
/// # Errors
/// If the control flow cannot be linearized, or if all of several lanes would do the same: for lack of shapes of the
/// parameters this is what every kernel would become.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    let (module, options) = (cx.module, cx.options);
    let uniformity = cx.uniformity(unit);
    // All lanes may do the same in a function that is called.
    if options.width > 1 && !cx.is_callee && !depends_on_lane(&unit.func, &uniformity) {
        return Err(nothing_varies(&unit.func));
    }
    let func = &unit.func;
    let mut shapes = SecondaryMap::with_default(Shape::Uniform);
    let mut known = EntitySet::with_capacity(func.values.len());
    for v in func.values.keys() {
        shapes[v] = uniformity.shape(v);
        known.insert(v);
    }
    let facts = facts_of(func, &uniformity);
    let words = match options.machine.gathers {
        Gathers::Avx2 | Gathers::Everything if options.width > 1 => {
            cx.part("find-words", || subword_loads::find(module, func, |v| facts.varying.contains(v)))
        }
        _ => Words::new(),
    };
    let branches = BranchCounts::of(func, &facts);
    let facts = match options.linearize {
        Linearize::Partial => facts,
        Linearize::Full => everything_divergent(func, facts),
    };
    let mut state = LinearizeState::new(func.clone(), facts);
    let exits = Exit::all(&state);
    let pdom = cx.part("mask-classes", || {
        divergent_loops::transform_divergent_loops(&mut state);
        split_uniform_edges(&mut state);
        let pdom = mask_classes::IterationPostDom::compute(&state);
        mask_classes::compute_classes(&mut state, &pdom);
        check_uniform_loops(&state).map(|()| pdom)
    })?;
    let exits = LoopCounts::exits(&state, &exits);
    let tests = match cx.instrument().allows(&INSERT_BOSCC, &state.func) {
        true => options.boscc,
        false => Boscc::Off,
    };
    let (safe_loads, guards) = cx.part("insert-guards", || {
        let safe_loads = dereferenceable_loads::find(module, &mut state);
        let needed = any_lane_branches::classes_to_guard(&state, &safe_loads);
        let setting = boscc::choice::Setting {
            tests,
            machine: &options.machine,
            width: options.width,
            sums: options.sums,
        };
        let chosen = boscc::choice::classes_to_test(&state, module, &needed, &setting);
        let guards = any_lane_branches::insert_guards(&mut state, &pdom, &needed, &chosen, &safe_loads)?;
        Ok::<_, VectorizeError>((safe_loads, guards))
    })?;
    let linear = cx.part("partial-linearization", || repair::linearize_graph(&state))?;
    let branches = branches.after_losing(match options.linearize {
        Linearize::Partial => linear.lost,
        Linearize::Full => branches.uniform_kept,
    });
    let loops = LoopCounts::loops(&state);
    let (coherent, boscc) = (unit.coherent, guards.counts);
    let counts = Counts { branches, loops, exits, boscc, coherent, guards: unit.guards, ..Counts::default() };
    let always = state.always.clone();
    // Nothing up to here depends on whether there is a mask.
    let mut forms: Vec<Function> = cx.part("construct-masks", || {
        let plans = std::iter::repeat_n(state, cx.forms.len()).zip(cx.forms);
        let has_instructions = options.machine.byte_sums > 0;
        plans
            .map(|(state, &form)| {
                let mut made = repair::construct_masks(state, &linear, form == Form::Masked);
                masked_sums::settle(module, &mut made, form, options.sums, has_instructions);
                made
            })
            .collect()
    });
    unit.more = forms.split_off(1);
    let canonical = std::mem::replace(&mut unit.func, forms.remove(0));
    let (guarded, linearization) = (guards.instructions, linear.linearization);
    unit.lanes = Some(LaneFacts {
        canonical,
        uniformity,
        shapes,
        known,
        words,
        guarded,
        safe_loads,
        counts,
        always,
        linearization,
    });
    Ok(true)
}

fn nothing_varies(func: &Function) -> VectorizeError {
    let params: Vec<String> = func.params.iter().map(|&p| func.value_name(p)).collect();
    let params = if params.is_empty() { "none".to_owned() } else { params.join(", ") };
    let reason = format!(
        "nothing in it depends on the lane, so all lanes would do the same; say which parameters are an index or vary \
         (`--args NAME=index` or `NAME=varying`), or ask for `warpline_lane_index` in it; its parameters are: {params}"
    );
    VectorizeError::in_function(func, reason)
}

/// Whether an instruction has an operand or a result that differs between lanes.
fn depends_on_lane(func: &Function, uniformity: &Uniformity) -> bool {
    let differs = |v: &Value| !uniformity.shape(*v).is_uniform();
    func.layout.iter().any(|&b| {
        func.block_insts(b).any(|i| func.insts[i].args.iter().chain(&func.insts[i].results).any(differs))
            || func.out_edges(b).iter().any(|&e| func.edges[e].args.iter().any(differs))
    })
}

/// What the transforms must know, from the analysis.
fn facts_of(func: &Function, uniformity: &Uniformity) -> Facts {
    let mut facts = Facts::default();
    for b in uniformity.divergent_branches() {
        facts.divergent_branches.insert(b);
    }
    for c in uniformity.left_apart() {
        facts.divergent_loops.insert(Block::from(uniformity.cycles().header(c)));
    }
    for v in func.values.keys() {
        let shape = uniformity.shape(v);
        if shape.anchored_step().is_none() {
            facts.varying.insert(v);
        }
        if !shape.is_uniform() {
            facts.divergent.insert(v);
        }
    }
    facts
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
fn split_uniform_edges(state: &mut LinearizeState) {
    for b in state.func.layout.clone() {
        if state.branch[b] != Branch::Uniform || !state.branches(b) {
            continue;
        }
        for e in state.func.out_edges(b).to_vec() {
            let several = state.func.blocks[state.func.edges[e].to].preds.len() > 1;
            if !state.is_back_edge(e) && (several || !state.actions[e].is_empty()) {
                state.split_edge(e, "edge");
            }
        }
    }
}

/// Every exit of a loop that was not transformed must take all its lanes along.
fn check_uniform_loops(state: &LinearizeState) -> Result<(), VectorizeError> {
    for l in state.loops.values().filter(|l| !l.divergent) {
        for &e in &l.exits {
            let from: Block = state.func.edges[e].from;
            let all = state.class_of(from) == state.class_of(l.header);
            if !all || (state.branch[from] == Branch::Divergent && state.branches(from)) {
                return Err(VectorizeError::at_block(
                    &state.func,
                    l.header,
                    "lanes leave this loop apart although it was found uniform",
                )
                .internal());
            }
        }
    }
    Ok(())
}
