//! Backward propagation along versions (paper 4, Figure 10 with uses and definitions exchanged).
//!
//! A version's fact is the meet of what its uses say: instructions, σs and copies that read it, and φs on their
//! in-edges. When it is lowered, what defines the version is evaluated again. Blocks that control cannot reach say
//! nothing.

use alloc::vec::Vec;

use super::constraints::{Constraint, Constraints};
use super::engine::{Engine, Schedule};
use super::lattice::Lattice;
use super::problem::{Backward, BackwardEdge, BackwardFacts};
use crate::graph::{EdgeId, Graph, Node};
use crate::program::{Instruction, Program, Variable};
use crate::ssi::{Ssi, Version};

/// The greatest solution of a backward problem, one fact per version.
#[derive(Clone, Debug)]
pub struct SparseBackward<F> {
    facts: Vec<F>,
    steps: usize,
}

impl<F> SparseBackward<F> {
    /// What is known of a version wherever it is live. O(1).
    #[inline]
    pub fn fact(&self, version: Version) -> &F {
        &self.facts[version.index()]
    }

    /// How many constraints were evaluated. O(1).
    pub fn steps(&self) -> usize {
        self.steps
    }
}

/// Solves a backward problem on a program whose live ranges are split where the problem takes information from.
///
/// Takes time linear in program and versions, and evaluates each instruction, φ and edge once for each time that a fact
/// which it reads is lowered. Panics if `ssi` is of [another program](Ssi::check_program).
pub fn solve_backward<P: Backward>(program: &Program, ssi: &Ssi, problem: &P) -> SparseBackward<P::Fact> {
    solve_backward_with(program, ssi, problem, Schedule::default())
}

/// As [`solve_backward`], in a given order. The order decides how often facts are lowered.
pub fn solve_backward_with<P: Backward>(
    program: &Program,
    ssi: &Ssi,
    problem: &P,
    schedule: Schedule,
) -> SparseBackward<P::Fact> {
    let constraints =
        Constraints::new(program, ssi, |at| !program.uses(at).is_empty() || !ssi.copies_at(at).is_empty());
    let definitions = constraints.definitions(program, ssi);
    let count = constraints.list.len() as u32;
    let mut solver = Solver {
        engine: Engine::new(count as usize, schedule),
        program,
        ssi,
        problem,
        constraints: &constraints,
        definitions: &definitions,
        facts: vec![P::Fact::top(); ssi.versions()],
        top: P::Fact::top(),
        silenced: Vec::new(),
    };
    (0..count).for_each(|c| solver.engine.enqueue(c));
    while let Some(reversed) = solver.engine.next() {
        match constraints.list[(count - 1 - reversed) as usize] {
            Constraint::Phi(phi) => solver.phi(phi as usize),
            Constraint::Instruction(at) => solver.instruction(at),
            Constraint::Edge(edge) => solver.edge(edge),
        }
    }
    SparseBackward { facts: solver.facts, steps: solver.engine.steps() }
}

struct Solver<'a, P: Backward> {
    program: &'a Program,
    ssi: &'a Ssi,
    problem: &'a P,
    constraints: &'a Constraints,
    /// By version, the constraint that defines it.
    definitions: &'a [u32],
    /// Its constraints have the numbers of `constraints` from the end.
    engine: Engine,
    facts: Vec<P::Fact>,
    top: P::Fact,
    /// The copies or σs of the constraint at hand that are not carried over, by position.
    silenced: Vec<bool>,
}

impl<P: Backward> Solver<'_, P> {
    fn phi(&mut self, number: usize) {
        let result = self.constraints.phis[number].result;
        for &(_, operand) in self.constraints.operands.get(number) {
            self.carry(result, operand);
        }
    }

    fn instruction(&mut self, at: Instruction) {
        let copies = self.ssi.copies_at(at);
        self.silenced.clear();
        self.silenced.resize(copies.len(), false);
        let (problem, mut site) = (self.problem, AtInstruction { solver: self, at });
        problem.instruction(at, &mut site);
        self.carry_over(copies);
    }

    fn edge(&mut self, edge: EdgeId) {
        let source = self.program.graph().source(edge);
        let sigmas = self.ssi.sigmas_at(edge);
        self.silenced.clear();
        self.silenced.resize(sigmas.len(), false);
        if !self.program.tests(source).is_empty() {
            let (problem, mut site) = (self.problem, AtEdge { solver: self, edge, source });
            problem.edge(edge, &mut site);
        }
        self.carry_over(sigmas);
    }

    /// Passes facts of copies or σs on to their operands.
    fn carry_over(&mut self, versions: &[Version]) {
        for (k, &version) in versions.iter().enumerate() {
            if let Some(operand) = self.ssi.operands(version).next().flatten().filter(|_| !self.silenced[k]) {
                self.carry(version, operand);
            }
        }
    }

    fn carry(&mut self, from: Version, to: Version) {
        if let Ok([from, operand]) = self.facts.get_disjoint_mut([from.index(), to.index()]) {
            let changed = operand.meet(from);
            self.changed(changed, to);
        }
    }

    fn lower(&mut self, version: Option<Version>, fact: &P::Fact) {
        if let Some(version) = version {
            let changed = self.facts[version.index()].meet(fact);
            self.changed(changed, version);
        }
    }

    fn changed(&mut self, changed: bool, version: Version) {
        let definition = self.definitions[version.index()];
        if changed && definition != u32::MAX {
            self.engine.enqueue(self.constraints.list.len() as u32 - 1 - definition);
        }
    }

    /// The position among `split` of the version of the variable.
    fn position(&self, split: &[Version], variable: Variable) -> Option<usize> {
        split.iter().position(|&v| self.ssi.variable(v) == variable)
    }

    fn after(&self, split: &[Version], variable: Variable) -> &P::Fact {
        self.position(split, variable).map_or(&self.top, |k| &self.facts[split[k].index()])
    }

    fn silence(&mut self, split: &[Version], variable: Variable) {
        if let Some(k) = self.position(split, variable) {
            self.silenced[k] = true;
        }
    }
}

struct AtInstruction<'s, 'a, P: Backward> {
    solver: &'s mut Solver<'a, P>,
    at: Instruction,
}

impl<P: Backward> BackwardFacts<P::Fact> for AtInstruction<'_, '_, P> {
    #[inline]
    fn result(&self, result: usize) -> &P::Fact {
        let slot = self.solver.program.definition_slots(self.at).start + result;
        &self.solver.facts[self.solver.ssi.defined(slot).index()]
    }

    fn after(&self, operand: usize) -> &P::Fact {
        let variable = self.solver.program.uses(self.at)[operand];
        self.solver.after(self.solver.ssi.copies_at(self.at), variable)
    }

    #[inline]
    fn lower(&mut self, operand: usize, fact: P::Fact) {
        let slot = self.solver.program.use_slots(self.at).start + operand;
        self.solver.lower(self.solver.ssi.used(slot), &fact);
    }

    fn replace(&mut self, operand: usize, fact: P::Fact) {
        let variable = self.solver.program.uses(self.at)[operand];
        self.solver.silence(self.solver.ssi.copies_at(self.at), variable);
        self.lower(operand, fact);
    }
}

struct AtEdge<'s, 'a, P: Backward> {
    solver: &'s mut Solver<'a, P>,
    edge: EdgeId,
    source: Node,
}

impl<P: Backward> BackwardEdge<P::Fact> for AtEdge<'_, '_, P> {
    fn after(&self, test: usize) -> &P::Fact {
        let variable = self.solver.program.tests(self.source)[test].variable;
        self.solver.after(self.solver.ssi.sigmas_at(self.edge), variable)
    }

    fn replace(&mut self, test: usize, fact: P::Fact) {
        let variable = self.solver.program.tests(self.source)[test].variable;
        self.solver.silence(self.solver.ssi.sigmas_at(self.edge), variable);
        let slot = self.solver.program.test_slots(self.source).start + test;
        self.solver.lower(self.solver.ssi.tested(slot), &fact);
    }
}
