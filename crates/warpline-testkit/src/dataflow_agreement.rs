//! Sparse and dense solutions of one problem held against each other, on programs of any size.
//!
//! For clients, whose problems have no other oracle than what the program does. On small random programs both solvers
//! are judged by [`dataflow_oracles`](crate::dataflow_oracles).

use std::fmt::Debug;

use warpline_analysis::dataflow::{
    Backward, Forward, Instruction, Lattice, Program, Variable, WideningPoints, solve_backward,
    solve_backward_dense, solve_forward, solve_forward_dense_at,
};
use warpline_analysis::ssi::{Ssi, Version};
use warpline_analysis::{EdgeId, Graph};

/// The fact of a version, ⊤ if there is none.
fn fact<F: Lattice>(version: Option<Version>, facts: impl Fn(Version) -> F) -> F {
    version.map_or_else(F::top, facts)
}

fn instructions(program: &Program) -> impl Iterator<Item = Instruction> + use<> {
    (0..program.instructions() as u32).map(Instruction)
}

fn equal<F: PartialEq + Debug>(
    v: Variable,
    place: impl FnOnce() -> String,
    sparse: &F,
    dense: &F,
) -> Result<(), String> {
    match sparse == dense {
        true => Ok(()),
        false => Err(format!("v{} {}: sparse {sparse:?}, dense {dense:?}", v.0, place())),
    }
}

/// Whether the sparse and the dense solver find the same of a forward problem: which blocks and edges control
/// reaches, and what is known of every operand, result, test and φ operand there. `ssi` must split at least where the
/// problem refines facts; what [`Forward::widen`] returns must depend on the new fact alone.
///
/// # Errors
/// The first difference.
pub fn forward_agrees<P>(program: &Program, ssi: &Ssi, problem: &P) -> Result<(), String>
where
    P: Forward<Fact: Debug>,
{
    let sparse = solve_forward(program, ssi, problem);
    let dense = solve_forward_dense_at(program, problem, &WideningPoints::of(program, ssi), 0);
    let known = |version: Option<Version>| fact(version, |x| sparse.fact(x).clone());
    let graph = program.graph();
    for n in graph.nodes() {
        if sparse.is_reached(n) != dense.is_reached(n) {
            return Err(format!("{n} is reached: sparse {}", sparse.is_reached(n)));
        }
    }
    for at in instructions(program).filter(|&at| sparse.is_reached(program.block_of(at))) {
        for (slot, &v) in program.use_slots(at).zip(program.uses(at)) {
            equal(v, || format!("before {at:?}"), &known(ssi.used(slot)), &dense.before(at, v))?;
        }
        for (slot, &v) in program.definition_slots(at).zip(program.definitions(at)) {
            equal(v, || format!("behind {at:?}"), &known(Some(ssi.defined(slot))), &dense.after(at, v))?;
        }
    }
    for n in graph.nodes().filter(|&n| sparse.is_reached(n)) {
        for (slot, t) in program.test_slots(n).zip(program.tests(n)) {
            let (v, place) = (t.variable, || format!("at the end of {n}"));
            equal(v, place, &known(ssi.tested(slot)), &dense.at_exit(n, v))?;
        }
    }
    let edges = graph.edges().filter(|e| sparse.is_taken(*e) || dense.is_taken(*e));
    for e in edges.collect::<Vec<EdgeId>>() {
        if sparse.is_taken(e) != dense.is_taken(e) {
            return Err(format!("{e} is taken: sparse {}", sparse.is_taken(e)));
        }
        for (slot, p) in program.phi_slots(e).zip(program.phis(e)) {
            let (v, place) = (p.operand, || format!("on {e}"));
            equal(v, place, &known(ssi.phi_operand(slot)), &dense.on_edge(e, v))?;
        }
        for &s in ssi.sigmas_at(e) {
            let v = ssi.variable(s);
            equal(v, || format!("on {e}"), &known(Some(s)), &dense.on_edge(e, v))?;
        }
    }
    Ok(())
}

/// Whether the sparse and the dense solver find the same of a backward problem: what is known of parameters at the
/// entry and of every result, and, if the strategy splits at `uses`, of every operand.
///
/// # Errors
/// The first difference.
pub fn backward_agrees<P>(program: &Program, ssi: &Ssi, problem: &P, uses: bool) -> Result<(), String>
where
    P: Backward<Fact: Debug>,
{
    let sparse = solve_backward(program, ssi, problem);
    let dense = solve_backward_dense(program, problem);
    let known = |version: Option<Version>| fact(version, |x| sparse.fact(x).clone());
    let graph = program.graph();
    let reached = warpline_analysis::order::reachable_from(graph, [graph.entry()]);
    for &v in program.on_entry().iter().filter(|&&v| !program.is_fixed(v)) {
        let found = known(Some(Version(v.0)));
        equal(v, || "on entry".to_string(), &found, &dense.at_entry(graph.entry(), v))?;
    }
    for at in instructions(program).filter(|&at| reached.contains(program.block_of(at).index())) {
        for (slot, &v) in program.definition_slots(at).zip(program.definitions(at)) {
            equal(v, || format!("behind {at:?}"), &known(Some(ssi.defined(slot))), &dense.after(at, v))?;
        }
        let operands = program.use_slots(at).zip(program.uses(at));
        for (slot, &v) in operands.filter(|(_, v)| uses && !program.is_fixed(**v)) {
            equal(v, || format!("before {at:?}"), &known(ssi.used(slot)), &dense.before(at, v))?;
        }
    }
    for n in graph.nodes().filter(|n| reached.contains(n.index())) {
        if let Some(&e) = graph.in_edges(n).first() {
            for (slot, p) in program.phi_slots(e).zip(program.phis(e)) {
                let (v, place) = (p.result, || format!("at the entry of {n}"));
                equal(v, place, &known(Some(ssi.phi_result(slot))), &dense.at_entry(n, v))?;
            }
        }
    }
    Ok(())
}
