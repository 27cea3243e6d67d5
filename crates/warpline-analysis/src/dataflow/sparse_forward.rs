//! Forward propagation along versions (paper 4, Figure 10).
//!
//! The paper evaluates every instruction at first. Here an instruction waits until control is found to reach its
//! block, and an operand of a φ until control is found to take its edge, as Wegman and Zadeck do for conditional
//! constants: a client whose [edges](Forward::edge) can always be taken sees no difference.
//!
//! # Widening
//!
//! [`Forward::widen`] is called where a φ at the header of a cycle would be lowered, if the φ gets something else
//! than its own result from inside the cycle. (Headers are those of [`CycleForest`](crate::CycleForest); a cycle of
//! dependences always passes such a φ.) All operands on edges taken so far have been met before. If what `widen`
//! returns depends on the new fact alone, is monotone, and is what it returns for that again, then the widened system
//! has one greatest solution, whatever the order. Otherwise the solution depends on the order in which facts arrive;
//! it is sound all the same.
//!
//! # Narrowing
//!
//! A widened φ is below what its operands say. A *sweep* of narrowing sets the widened φs to what their operands say
//! in the last solution, holds them there, and solves all the rest again from ⊤, with what control reaches. Let *G*
//! take facts of the widened φs to what their operands then say in the greatest solution of the rest. *G* is
//! monotone, and *N ⊑ G(N)* holds of the first solution, therefore of *G(N)* and so on: each is below the greatest
//! solution of the system that is not widened, which is what soundness asks. Between two sweeps nothing goes in
//! circles, so a sweep is about one pass over the program. Going on from the last solution without starting again
//! would not raise what depends on itself through a loop.

use alloc::vec::Vec;

use super::constraints::{Constraint, Constraints, Reached};
use super::engine::{Engine, Schedule};
use super::lattice::Lattice;
use super::problem::{Forward, ForwardEdge, ForwardFacts};
use crate::graph::{EdgeId, Graph, Lists, Node};
use crate::program::{Instruction, Program};
use crate::ssi::{Ssi, Version};

/// How to solve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ForwardOptions {
    /// In which order.
    pub schedule: Schedule,
    /// How many sweeps of narrowing to make at most.
    pub narrowing: usize,
}

/// The greatest solution of a forward problem, one fact per version.
#[derive(Clone, Debug)]
pub struct SparseForward<F> {
    facts: Vec<F>,
    reached: Reached,
    steps: usize,
}

impl<F> SparseForward<F> {
    /// What is known of a version wherever it is live. O(1).
    #[inline]
    pub fn fact(&self, version: Version) -> &F {
        &self.facts[version.index()]
    }

    /// Whether control can reach the block, as far as the problem tells. O(1).
    #[inline]
    pub fn is_reached(&self, node: Node) -> bool {
        self.reached.nodes.contains(node.index())
    }

    /// Whether control can take the edge, as far as the problem tells. O(1).
    #[inline]
    pub fn is_taken(&self, edge: EdgeId) -> bool {
        self.reached.edges.contains(edge.index())
    }

    /// How many constraints were evaluated. O(1).
    pub fn steps(&self) -> usize {
        self.steps
    }
}

/// Solves a forward problem on a program whose live ranges are split where the problem takes information from.
///
/// Facts are [widened](Forward::widen) at φs at headers of [cycles](crate::CycleForest) that get something else than
/// their own result from inside the cycle, after all operands on edges taken so far have been met.
///
/// Takes time linear in program and versions, and evaluates each instruction, φ and edge once for each time that a fact
/// which it reads is lowered. Panics if `ssi` is of [another program](Ssi::check_program).
pub fn solve_forward<P: Forward>(program: &Program, ssi: &Ssi, problem: &P) -> SparseForward<P::Fact> {
    solve_forward_with(program, ssi, problem, ForwardOptions::default())
}

/// As [`solve_forward`], with at most `sweeps` sweeps of narrowing behind, each of which is linear and may solve once
/// more.
pub fn solve_forward_narrowing<P: Forward>(
    program: &Program,
    ssi: &Ssi,
    problem: &P,
    sweeps: usize,
) -> SparseForward<P::Fact> {
    solve_forward_with(program, ssi, problem, ForwardOptions { narrowing: sweeps, ..Default::default() })
}

/// As [`solve_forward`], with options; it takes as much time.
pub fn solve_forward_with<P: Forward>(
    program: &Program,
    ssi: &Ssi,
    problem: &P,
    options: ForwardOptions,
) -> SparseForward<P::Fact> {
    let constraints = Constraints::new(program, ssi, |at| {
        !program.definitions(at).is_empty() || !ssi.copies_at(at).is_empty()
    });
    let users = constraints.users(program, ssi);
    let mut solver = Solver {
        engine: Engine::new(constraints.list.len(), options.schedule),
        program,
        ssi,
        problem,
        constraints: &constraints,
        users: &users,
        facts: Vec::new(),
        reached: Reached::nothing(program.graph()),
        top: P::Fact::top(),
        refined: Vec::new(),
        held: Vec::new(),
    };
    solver.solve();
    for _ in 0..options.narrowing {
        let next = solver.widened_operands();
        if next.is_empty() || next == solver.held {
            break;
        }
        solver.held = next;
        solver.solve();
    }
    SparseForward { facts: solver.facts, reached: solver.reached, steps: solver.engine.steps() }
}

struct Solver<'a, P: Forward> {
    program: &'a Program,
    ssi: &'a Ssi,
    problem: &'a P,
    constraints: &'a Constraints,
    users: &'a Lists<u32>,
    engine: Engine,
    facts: Vec<P::Fact>,
    reached: Reached,
    top: P::Fact,
    /// What has been said of copies or σs of the constraint at hand.
    refined: Vec<Option<P::Fact>>,
    /// What widened φs are held at, in the order of the φs; empty if they are not held.
    held: Vec<P::Fact>,
}

impl<P: Forward> Solver<'_, P> {
    fn solve(&mut self) {
        self.facts.clear();
        self.facts.resize(self.ssi.versions(), self.top.clone());
        for &v in self.program.on_entry() {
            self.facts[v.index()].meet(&self.problem.on_entry(v));
        }
        self.reached = Reached::nothing(self.program.graph());
        self.reach(self.program.graph().entry());
        while let Some(constraint) = self.engine.next() {
            match self.constraints.list[constraint as usize] {
                Constraint::Phi(phi) => self.phi(phi as usize),
                Constraint::Instruction(at) => self.instruction(at),
                Constraint::Edge(edge) => self.edge(edge),
            }
        }
    }

    /// Control reaches a block: all that it does waits.
    fn reach(&mut self, node: Node) {
        if self.reached.nodes.insert(node.index()) {
            let [start, _, end] = self.constraints.blocks[node.index()];
            (start..end).for_each(|c| self.engine.enqueue(c));
        }
    }

    /// Control takes an edge: its φ operands count.
    fn take(&mut self, edge: EdgeId) {
        if !self.reached.edges.insert(edge.index()) {
            return;
        }
        let target = self.program.graph().target(edge);
        self.reach(target);
        let [start, end, _] = self.constraints.blocks[target.index()];
        (start..end).for_each(|c| self.engine.enqueue(c));
    }

    fn phi(&mut self, number: usize) {
        let phi = self.constraints.phis[number];
        if !self.reached.nodes.contains(phi.node.index()) {
            return;
        }
        let result = phi.result.index();
        if phi.widened.is_some() && !self.held.is_empty() {
            let changed = self.facts[result].meet(&self.held[number]);
            return self.changed(changed, phi.result);
        }
        let mut new = self.facts[result].clone();
        let mut changed = false;
        for &(edge, operand) in self.constraints.operands.get(number) {
            if self.reached.edges.contains(edge.index()) && operand != phi.result {
                changed |= new.meet(&self.facts[operand.index()]);
            }
        }
        if changed {
            if phi.widened.is_some() {
                let wider = self.problem.widen(phi.node, &self.facts[result], new.clone());
                new.meet(&wider);
            }
            self.facts[result] = new;
        }
        self.changed(changed, phi.result);
    }

    fn instruction(&mut self, at: Instruction) {
        let copies = self.ssi.copies_at(at);
        if !self.reached.nodes.contains(self.program.block_of(at).index()) {
            return;
        }
        self.refined.clear();
        self.refined.resize(copies.len(), None);
        let (problem, mut site) = (self.problem, AtInstruction { solver: self, at });
        problem.instruction(at, &mut site);
        self.assign(copies);
    }

    fn edge(&mut self, edge: EdgeId) {
        let source = self.program.graph().source(edge);
        if !self.reached.nodes.contains(source.index()) {
            return;
        }
        let sigmas = self.ssi.sigmas_at(edge);
        self.refined.clear();
        self.refined.resize(sigmas.len(), None);
        let (problem, mut site) = (self.problem, AtEdge { solver: self, edge, source });
        if problem.edge(edge, &mut site) {
            self.assign(sigmas);
            self.take(edge);
        }
    }

    /// Gives copies or σs what has been said of them, or else what their operands have.
    fn assign(&mut self, versions: &[Version]) {
        for (k, &version) in versions.iter().enumerate() {
            let fact = match self.refined[k].take() {
                Some(fact) => fact,
                None => match self.ssi.operands(version).next().flatten() {
                    Some(operand) => self.facts[operand.index()].clone(),
                    None => continue,
                },
            };
            self.lower(version, &fact);
        }
    }

    fn lower(&mut self, version: Version, fact: &P::Fact) {
        let changed = self.facts[version.index()].meet(fact);
        self.changed(changed, version);
    }

    #[inline]
    fn changed(&mut self, changed: bool, version: Version) {
        if changed {
            self.users.get(version.index()).iter().for_each(|&c| self.engine.enqueue(c));
        }
    }

    fn fact(&self, version: Option<Version>) -> &P::Fact {
        version.map_or(&self.top, |v| &self.facts[v.index()])
    }

    /// Notes what is said of the version among `split` that is one of the variable, if there is one.
    fn note(&mut self, split: &[Version], variable: super::Variable, fact: P::Fact) {
        let at = split.iter().position(|&v| self.ssi.variable(v) == variable);
        if let Some(slot) = at.map(|k| &mut self.refined[k]) {
            match slot {
                Some(known) => _ = known.meet(&fact),
                None => *slot = Some(fact),
            }
        }
    }

    /// By φ, what the operands of the widened ones say; empty if none is widened. Operands that are φs inside the
    /// cycle give way to their own operands, so that what a φ says of itself does not count, through however many φs
    /// it comes.
    fn widened_operands(&self) -> Vec<P::Fact> {
        let phis = &self.constraints.phis;
        if phis.iter().all(|p| p.widened.is_none()) {
            return Vec::new();
        }
        let mut phi_of = vec![NONE; self.facts.len()];
        phis.iter().enumerate().for_each(|(k, phi)| phi_of[phi.result.index()] = k as u32);
        let mut seen = vec![NONE; phis.len()];
        let mut work = Vec::new();
        let mut all = vec![self.top.clone(); phis.len()];
        for (k, phi) in phis.iter().enumerate() {
            let Some(cycle) = phi.widened else { continue };
            seen[k] = k as u32;
            work.push(k);
            while let Some(at) = work.pop() {
                let operands = self.constraints.operands.get(at).iter();
                for &(_, operand) in operands.filter(|(e, _)| self.reached.edges.contains(e.index())) {
                    match phis.get(phi_of[operand.index()] as usize) {
                        Some(inner)
                            if inner.result == phi.result
                                || inner.widened.is_none()
                                    && self.constraints.cycles.contains(cycle, inner.node) =>
                        {
                            let number = phi_of[operand.index()] as usize;
                            if core::mem::replace(&mut seen[number], k as u32) != k as u32 {
                                work.push(number);
                            }
                        }
                        _ => _ = all[k].meet(&self.facts[operand.index()]),
                    }
                }
            }
        }
        all
    }
}

const NONE: u32 = u32::MAX;

struct AtInstruction<'s, 'a, P: Forward> {
    solver: &'s mut Solver<'a, P>,
    at: Instruction,
}

impl<P: Forward> ForwardFacts<P::Fact> for AtInstruction<'_, '_, P> {
    #[inline]
    fn before(&self, operand: usize) -> &P::Fact {
        let slot = self.solver.program.use_slots(self.at).start + operand;
        self.solver.fact(self.solver.ssi.used(slot))
    }

    #[inline]
    fn define(&mut self, result: usize, fact: P::Fact) {
        let slot = self.solver.program.definition_slots(self.at).start + result;
        self.solver.lower(self.solver.ssi.defined(slot), &fact);
    }

    fn refine(&mut self, operand: usize, fact: P::Fact) {
        let variable = self.solver.program.uses(self.at)[operand];
        self.solver.note(self.solver.ssi.copies_at(self.at), variable, fact);
    }
}

struct AtEdge<'s, 'a, P: Forward> {
    solver: &'s mut Solver<'a, P>,
    edge: EdgeId,
    source: Node,
}

impl<P: Forward> ForwardEdge<P::Fact> for AtEdge<'_, '_, P> {
    #[inline]
    fn before(&self, test: usize) -> &P::Fact {
        let slot = self.solver.program.test_slots(self.source).start + test;
        self.solver.fact(self.solver.ssi.tested(slot))
    }

    fn refine(&mut self, test: usize, fact: P::Fact) {
        let variable = self.solver.program.tests(self.source)[test].variable;
        self.solver.note(self.solver.ssi.sigmas_at(self.edge), variable, fact);
    }
}
